"""Estimates of the error of a rule on unseen rows, by a holdout or by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import CodedLabels, Labels, check_labels, code_labels, plain_label
from novikoff.core.rows import Indices, Matrix
from novikoff.jobs.study import study
from novikoff.jobs.study_records import StudyOptions, StudyProgress

# The rows and the columns of some entries of X.
Entries: TypeAlias = tuple[Indices, Indices]


@dataclass(frozen=True)
class ErrorEstimate:
    """The errors on unseen rows, with a 95 % interval for the rate (Clopper and Pearson 1934).

    The interval is exact for one holdout. For several folds it is only a guide, because the folds
    share their training rows.

    Attributes
    ----------
    method : str
        "holdout 0.25" or "5-fold cross-validation".
    rows, errors : int
        The number of unseen rows, and how many of them were misclassified.
    rate, low, high : float
        The rate of errors and its interval.
    folds : list of int
        The errors in each fold.
    """

    method: str
    rows: int
    errors: int
    rate: float
    low: float
    high: float
    folds: list[int]


def estimate_errors(
    X: Matrix,
    y: Labels | CodedLabels,
    options: StudyOptions,
    *,
    holdout: float | None = None,
    folds: int | None = None,
    progress: StudyProgress | None = None,
    imputed: Entries | None = None,
) -> ErrorEstimate:
    """Learn from some rows of every class, and count the errors on the other rows.

    Parameters
    ----------
    X, y
        The rows and their labels, which may be `CodedLabels`.
    options : StudyOptions
        How the rule is learned, as in `novikoff.jobs.study.study`.
    holdout : float, optional
        The share of the rows of each class that is held out.
    folds : int, optional
        The number of folds. Each fold is held out once.
    progress : callable, optional
        Called with the name of each step.
    imputed : pair of arrays, optional
        The rows and columns of X where a mean replaces a missing value. The means are computed
        again from the training rows.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> estimate_errors(X, y, StudyOptions(), holdout=0.25).rows
    10
    """
    coded = y if isinstance(y, CodedLabels) else code_labels(check_labels(y))
    labels, codes = [plain_label(label) for label in coded.classes.tolist()], coded.codes
    if options.positive is not None:  # a prediction is right if it is right about this class
        codes = codes == labels.index(plain_label(options.positive))
        labels = [False, True]
    rng, errors = np.random.default_rng(options.seed), []
    by_class = [rng.permutation(np.flatnonzero(codes == k)) for k in range(len(labels))]
    smallest = min(by_class, key=len)
    if folds is not None:
        if len(smallest) < folds:
            label = labels[int(codes[smallest[0]])]
            raise ValueError(
                f"The class {label!r} has {len(smallest)} rows: too few for {folds} folds."
            )
        method = f"{folds}-fold cross-validation"
        tests = [np.concatenate(by_class)[k::folds] for k in range(folds)]
    else:
        if len(smallest) < 2:
            raise ValueError(
                "A class has one row only, and none can be held out: add rows of this class."
            )
        method, share = f"holdout {holdout:g}", holdout or 0.0
        sizes = [int(np.clip(round(share * len(rows)), 1, len(rows) - 1)) for rows in by_class]
        tests = [np.concatenate([rows[:n] for rows, n in zip(by_class, sizes, strict=True)])]
    budget = None if options.budget is None else options.budget / len(tests)
    plain = replace(options, positive=None, proofs=False, budget=budget)
    classes = np.arange(len(labels))
    for k, test in enumerate(tests):
        if progress is not None:
            progress(f"{method}, {k + 1} of {len(tests)}")
        in_training = ~np.isin(np.arange(len(codes)), test)
        completed = X if imputed is None else with_means(X, imputed, in_training)
        known = CodedLabels(classes, codes[in_training].astype(np.intp))
        model = study(completed[in_training], known, plain).model
        errors.append(int((model.predict(completed[~in_training]) != codes[~in_training]).sum()))
    n, wrong = sum(map(len, tests)), sum(errors)
    return ErrorEstimate(method, n, wrong, wrong / n, *clopper_pearson(wrong, n), errors)


def with_means(X: Matrix, imputed: Entries, in_training: npt.NDArray[np.bool_]) -> Matrix:
    """X, in which the means of the training rows replace the means of all rows."""
    rows, columns = imputed
    filled = np.array(X, dtype=np.float64)
    for j in np.unique(columns):
        gaps = rows[columns == j]
        known = in_training.copy()
        known[gaps] = False
        filled[gaps, j] = filled[known, j].mean() if known.any() else 0.0
    return filled


def clopper_pearson(errors: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval for a rate, if ``errors`` errors were observed in n trials.

    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    low = float(betaincinv(errors, n - errors + 1, 0.025)) if errors > 0 else 0.0
    high = float(betaincinv(errors + 1, n - errors, 0.975)) if errors < n else 1.0
    return low, high
