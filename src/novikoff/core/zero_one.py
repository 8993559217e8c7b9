"""A descent on the number of mistakes itself (A6).

Along a line w + t·v the mistakes change only where a row changes sides, at t_i = −s_i/q_i with
s_i = ⟨a_i, w⟩ and q_i = ⟨a_i, v⟩. Sorting these points and sweeping once finds the best t there
is, exactly. Lines go along single weights, towards rows that are wrong, and at random, in
coordinates in which the rows are spread evenly. Moves that change nothing are welcome: they
lead across plateaus.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.margins import scores
from novikoff.core.problem import Problem
from novikoff.core.rows import Rows, Vector, axpy
from novikoff.core.stops import Limits

# Lines searched without improvement before giving up, for each weight and besides.
_PATIENCE: Final = 4
_LEAST_PATIENCE: Final = 100
# More lines where they are short: so many, or so many rows' worth of them.
_MOST_MORE: Final = 3000
_MORE: Final = 400_000
# After so many moves the scores are computed anew, so that rounding cannot build up.
_RENEWED: Final = 50


def descend(
    problem: Problem,
    w: Vector,
    metric: Vector,
    prices: Vector,
    limits: Limits,
    rng: np.random.Generator,
) -> tuple[Vector, float]:
    """Lower the price of all mistakes of w, line by line, until no line helps.

    Parameters
    ----------
    problem, w
        The data and the weights to start from.
    metric : array of shape (p, p)
        Columns that span even coordinates: directions are metric @ (something isotropic).
    prices : array of shape (n,)
        The price of a mistake on each row.
    limits, rng
        How long it may take, and where randomness comes from.

    Returns
    -------
    w, errors
        The weights and what their mistakes cost; never more than at the start.
    """
    best, s = w.copy(), _scores(problem, w)
    errors = float(prices[s <= 0.0].sum())
    lowest = errors
    w = w.copy()
    patience = _LEAST_PATIENCE + _PATIENCE * problem.p + min(_MOST_MORE, _MORE // problem.n)
    idle = moves = 0
    while lowest > 0.0 and idle < patience and limits.reached() is None:
        v = _direction(problem, metric, s, moves + idle, rng)
        q = _scores(problem, v)
        found, t = line_search(s, q, prices)
        idle += 1
        if found > errors or t == 0.0 or not np.isfinite(t):
            continue
        w = w + t * v
        moves += 1
        s = _scores(problem, w) if moves % _RENEWED == 0 else s + t * q
        errors = float(prices[s <= 0.0].sum())
        if errors < lowest:
            s = _scores(problem, w)
            errors = float(prices[s <= 0.0].sum())
            if errors < lowest:
                best, lowest, idle = w.copy(), errors, 0
        w, s = _rescaled(w, s)
    return best, lowest


def line_search(s: Vector, q: Vector, prices: Vector) -> tuple[float, float]:
    """The least price of the rows with s_i + t·q_i ≤ 0 over all t, and a t that attains it.

    Among equally good stretches of t the middle of the widest is taken.

    Examples
    --------
    >>> line_search(np.array([-1.0, 2.0]), np.array([1.0, -1.0]), np.ones(2))
    (0.0, 1.5)
    """
    moving = np.abs(q) > 1e-14 * float(np.abs(q).max(initial=0.0))
    fixed = float(prices[~moving & (s <= 0.0)].sum())
    slopes = q[moving]
    if len(slopes) == 0:
        return fixed, 0.0
    crossings = -s[moving] / slopes
    order = np.argsort(crossings)
    return _sweep_line(crossings[order], slopes[order], prices[moving][order], fixed)


@njit(cache=True, nogil=True)
def _sweep_line(
    crossings: Vector, slopes: Vector, prices: Vector, errors: float
) -> tuple[float, float]:
    n = len(crossings)
    for k in range(n):  # far to the left, rows that rise are wrong
        if slopes[k] > 0.0:
            errors += prices[k]
    best, at, widest = math.inf, 0.0, -1.0
    for k in range(n + 1):
        lo = crossings[k - 1] if k > 0 else crossings[0] - 2.0 * abs(crossings[0]) - 1.0
        hi = crossings[k] if k < n else crossings[n - 1] + 2.0 * abs(crossings[n - 1]) + 1.0
        middle = lo + 0.5 * (hi - lo)
        if lo < middle < hi and (errors < best or (errors == best and hi - lo > widest)):
            best, at, widest = errors, middle, hi - lo
        if k < n:
            errors += prices[k] if slopes[k] < 0.0 else -prices[k]
    return best, at


def _direction(
    problem: Problem, metric: Vector, s: Vector, turn: int, rng: np.random.Generator
) -> Vector:
    """A single weight, something random, or towards a row that is wrong, in turn."""
    if turn % 3 == 0:
        v = np.zeros(problem.p)
        v[rng.integers(problem.p)] = 1.0
        return v
    if turn % 3 == 1:
        return metric @ rng.standard_normal(metric.shape[1])
    wrong = np.flatnonzero(s <= 0.0)
    towards = np.zeros(problem.p)
    axpy_row(problem.rows, int(wrong[rng.integers(len(wrong))]), towards)
    return metric @ (metric.T @ towards)


@njit(cache=True, nogil=True)
def axpy_row(rows: Rows, i: int, out: Vector) -> None:
    """Out ← out + a_i."""
    axpy(1.0, rows, i, out)


def _scores(problem: Problem, w: Vector) -> Vector:
    return scores(problem, w[:, None])[:, 0]


def _rescaled(w: Vector, s: Vector) -> tuple[Vector, Vector]:
    """The same weights at a size near one: only their direction counts."""
    exponent = math.frexp(float(np.abs(w).max()))[1]
    if abs(exponent) < 100:
        return w, s
    return np.ldexp(w, -exponent), np.ldexp(s, -exponent)
