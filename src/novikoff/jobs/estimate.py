"""How often the rule errs on rows it has not seen: a holdout, or cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.model import Labels
from novikoff.core.rows import Indices, Matrix
from novikoff.jobs.study import study
from novikoff.jobs.study_records import Options, StudyProgress

# Rows and columns.
Places: TypeAlias = tuple[Indices, Indices]


@dataclass(frozen=True)
class Estimate:
    """Errors on unseen rows, with a 95 % interval for the rate (Clopper and Pearson 1934).

    The interval is exact for one holdout; with several folds it is a guide, as the folds
    share their training rows.
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
    y: Labels,
    options: Options,
    *,
    holdout: float | None = None,
    folds: int | None = None,
    progress: StudyProgress | None = None,
    imputed: Places | None = None,
) -> Estimate:
    """Learn from some rows of every class, and count the errors on the others.

    Kept back is a share of the rows (``holdout``); or each of several ``folds`` in turn. Where
    means stand for missing values (``imputed``: rows and columns), they are taken anew from the
    rows learned from.

    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> estimate_errors(X, y, Options(), holdout=0.25).rows
    10
    """
    if options.positive is not None:  # all that counts is whether a row is of this class
        y = y == np.asarray(options.positive)
    rng, errors = np.random.default_rng(options.seed), []
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    smallest = min(classes, key=len)
    if folds is not None:
        if len(smallest) < folds:
            label = y[smallest[0]].item()
            raise ValueError(
                f"The class {label!r} has {len(smallest)} rows: too few for {folds} folds."
            )
        method = f"{folds}-fold cross-validation"
        tests = [np.concatenate(classes)[k::folds] for k in range(folds)]
    else:
        if len(smallest) < 2:
            raise ValueError(
                "A class has one row only: none can be held out. Use --drop or more data."
            )
        method, share = f"holdout {holdout:g}", holdout or 0.0
        sizes = [int(np.clip(round(share * len(rows)), 1, len(rows) - 1)) for rows in classes]
        tests = [np.concatenate([rows[:n] for rows, n in zip(classes, sizes, strict=True)])]
    budget = None if options.budget is None else options.budget / len(tests)
    plain = replace(options, positive=None, proofs=False, budget=budget)
    for k, test in enumerate(tests):
        if progress is not None:
            progress(f"{method}, {k + 1} of {len(tests)}", None)
        taught = ~np.isin(np.arange(len(y)), test)
        seen = X if imputed is None else _imputed_anew(X, imputed, taught)
        model = study(seen[taught], y[taught], plain).model
        errors.append(int((model.predict(seen[~taught]) != y[~taught]).sum()))
    n, wrong = sum(map(len, tests)), sum(errors)
    return Estimate(method, n, wrong, wrong / n, *clopper_pearson(wrong, n), errors)


def _imputed_anew(X: Matrix, imputed: Places, taught: npt.NDArray[np.bool_]) -> Matrix:
    """X with the means of the rows learned from, in place of those of all rows."""
    rows, columns = imputed
    filled = np.array(X, dtype=np.float64)
    for j in np.unique(columns):
        gaps = rows[columns == j]
        known = taught.copy()
        known[gaps] = False
        filled[gaps, j] = filled[known, j].mean() if known.any() else 0.0
    return filled


def clopper_pearson(errors: int, n: int) -> tuple[float, float]:
    """The exact 95 % interval for a rate.

    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    low = float(betaincinv(errors, n - errors + 1, 0.025)) if errors > 0 else 0.0
    high = float(betaincinv(errors + 1, n - errors, 0.975)) if errors < n else 1.0
    return low, high
