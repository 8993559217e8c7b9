"""A descent on the number of mistakes itself (A6).

Along a line w + t·v the mistakes change only where a row changes sides, at t_i = −s_i/q_i with
s_i = ⟨a_i, w⟩ and q_i = ⟨a_i, v⟩. Sorting these points and sweeping once finds the best t there
is, exactly; beyond the point where more rows have become wrong than are wrong at w, nothing can
be better, and nothing is sorted. Lines go along single weights, towards rows that are wrong, and
down the slope of a smoothed count, in coordinates in which the rows are spread evenly. Moves
that change nothing are welcome: they lead across plateaus.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.lines import cheapest, desk_for, follow_lines
from novikoff.core.margins import scores
from novikoff.core.problem import Problem
from novikoff.core.products import dense_slopes
from novikoff.core.rows import Dense, Indices, Rows, Vector, axpy
from novikoff.core.stops import Limits

# Lines searched without improvement before giving up, for each weight and besides.
_PATIENCE: Final = 4
_LEAST_PATIENCE: Final = 100
# More lines where they are short: so many, or so many rows' worth of them.
_MOST_MORE: Final = 3000
_MORE: Final = 400_000
# How far a smooth slope reaches, as powers of two times the median distance of the wrong rows.
_WIDTHS: Final = (-5.0, 2.0)
# After so many moves the scores are computed anew, so that rounding cannot build up.
_RENEWED: Final = 50
# Lines of each kind drawn at once, and at most so many numbers ⟨a_i, v⟩ of them: rows are read
# once for all.
_LINES: Final = 5
_ENTRIES: Final = 1 << 21
# Rows per call of the kernel, over all lines: a few milliseconds.
_PER_CALL: Final = 1 << 18


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
    w, _ = _rescaled(w.copy(), w)
    s = _scores(problem, w)
    best, lowest = w.copy(), _price(s, prices)
    # What the mistakes cost, the lines without a gain, and the moves since the scores were new.
    state = np.array([lowest, 0.0, 0.0])
    patience = _LEAST_PATIENCE + _PATIENCE * problem.p + min(_MOST_MORE, _MORE // problem.n)
    lines = 3 * min(_LINES, max(1, _ENTRIES // problem.n))
    least, desk, at = cheapest(prices), desk_for(problem.n), lines
    while lowest > 0.0 and state[1] < patience and limits.reached() is None:
        if at == lines:
            V = _directions(problem, metric, s, lines, rng)
            Q, at = _slopes(problem, V), 0
        until = min(lines, at + max(1, _PER_CALL // problem.n), at + int(patience - state[1]))
        at = follow_lines(Q, V, at, until, w, s, prices, least, lowest, state, desk)
        if state[0] < lowest or state[2] >= _RENEWED:
            s, state[2] = _scores(problem, w), 0.0
            state[0] = _price(s, prices)
            if state[0] < lowest:
                best, lowest, state[1] = w.copy(), state[0], 0.0
        w, s = _rescaled(w, s)
    return best, float(lowest)


def _directions(
    problem: Problem, metric: Vector, s: Vector, lines: int, rng: np.random.Generator
) -> Vector:
    """Single weights, down a smooth slope, or towards rows that are wrong, by turns.

    The slope is that of a loss which falls from 1 to 0 within some distance of the hyperplane,
    about as far as rows are wrong.
    """
    each = lines // 3
    V = np.zeros((problem.p, lines))
    V[rng.integers(problem.p, size=each), np.arange(0, lines, 3)] = 1.0
    wrong = np.flatnonzero(~(s > 0.0))
    pulls = np.zeros((2 * each, problem.p))
    widths = np.median(np.abs(s[wrong])) * 2.0 ** rng.uniform(*_WIDTHS, size=each)
    add_near_rows(problem.rows, s, widths, pulls[:each])
    add_rows(problem.rows, wrong[rng.integers(len(wrong), size=each)], pulls[each:])
    downhill = metric @ (metric.T @ pulls.T)
    V[:, 1::3], V[:, 2::3] = downhill[:, :each], downhill[:, each:]
    return V


def _slopes(problem: Problem, V: Vector) -> Vector:
    """⟨a_i, v⟩ for each line v and each row i, rounded however it comes."""
    rows = problem.rows
    if not isinstance(rows, Dense) or rows.X.dtype != np.float64:
        return np.ascontiguousarray(scores(problem, V).T)
    return dense_slopes(rows, V)


@njit(cache=True, nogil=True)
def add_rows(rows: Rows, at: Indices, out: Vector) -> None:
    """Out[k] ← out[k] + a_i for the k-th of the rows given."""
    for k in range(len(at)):
        axpy(1.0, rows, at[k], out[k])


@njit(cache=True, nogil=True)
def add_near_rows(rows: Rows, s: Vector, widths: Vector, out: Vector) -> None:
    """Out[k] ← out[k] + Σ (1 − |s_i|/h)·a_i over the rows with |s_i| < h, h the k-th width."""
    for i in range(len(s)):
        for k in range(len(widths)):
            if abs(s[i]) < widths[k]:
                axpy(1.0 - abs(s[i]) / widths[k], rows, i, out[k])


def _scores(problem: Problem, w: Vector) -> Vector:
    return scores(problem, w[:, None])[:, 0]


def _price(s: Vector, prices: Vector) -> float:
    """What the rows that are not right cost; a score that is no number is not right."""
    return float(prices[~(s > 0.0)].sum())


def _rescaled(w: Vector, s: Vector) -> tuple[Vector, Vector]:
    """The same weights at a size near one: only their direction counts."""
    exponent = math.frexp(float(np.abs(w).max()))[1]
    if abs(exponent) < 20:
        return w, s
    return np.ldexp(w, -exponent), np.ldexp(s, -exponent)
