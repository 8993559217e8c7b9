"""How often the rule errs on rows it has not seen: a holdout, or cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.report.scaling import Matrix
from novikoff.report.study import Labels, Options, Progress, study

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


def hold_out(
    X: Matrix,
    y: Labels,
    share: float,
    options: Options,
    progress: Progress | None = None,
    imputed: Places | None = None,
) -> Estimate:
    """Keep a share of every class back, learn from the others, and count the errors.

    Where means stand for missing values (``imputed``: rows and columns), they are taken anew
    from the rows learned from.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> hold_out(X, y, 0.25, Options()).rows
    10
    """
    y, kept = _against_rest(y, options), []
    for rows in _by_class(y, options.seed):  # at least one row of each class, and not all
        if len(rows) < 2:
            raise ValueError(
                "A class has one row only: none can be held out. Use --drop or more data."
            )
        kept.append(rows[: int(np.clip(round(share * len(rows)), 1, len(rows) - 1))])
    tests = [np.concatenate(kept)]
    return _estimate(f"holdout {share:g}", X, y, tests, options, progress, imputed)


def cross_validate(
    X: Matrix,
    y: Labels,
    folds: int,
    options: Options,
    progress: Progress | None = None,
    imputed: Places | None = None,
) -> Estimate:
    """Deal the rows of every class out to folds, and test on each what the others teach."""
    y = _against_rest(y, options)
    dealt = _by_class(y, options.seed)
    for rows in dealt:
        if len(rows) < folds:
            raise ValueError(
                f"The class {y[rows[0]].item()!r} has {len(rows)} rows: too few for {folds} folds."
            )
    deck = np.concatenate(dealt)
    tests = [deck[k::folds] for k in range(folds)]
    return _estimate(f"{folds}-fold cross-validation", X, y, tests, options, progress, imputed)


def _against_rest(y: Labels, options: Options) -> Labels:
    """With a positive class, whether each row is of it: all that counts is told apart by this."""
    return y if options.positive is None else y == np.asarray(options.positive)


def _by_class(y: Labels, seed: int) -> list[Indices]:
    """The rows of each class, shuffled."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]


def _estimate(
    method: str,
    X: Matrix,
    y: Labels,
    tests: list[Indices],
    options: Options,
    progress: Progress | None,
    imputed: Places | None,
) -> Estimate:
    errors = []
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

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    low = float(betaincinv(errors, n - errors + 1, 0.025)) if errors > 0 else 0.0
    high = float(betaincinv(errors + 1, n - errors, 0.975)) if errors < n else 1.0
    return low, high
