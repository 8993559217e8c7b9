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

from novikoff.core.lines import IDLE, LOWEST, Desk, cheapest, desk_for, follow_lines
from novikoff.core.margins import scores
from novikoff.core.problem import Problem
from novikoff.core.products import are_small, fill_slopes, signed_columns
from novikoff.core.rows import Dense, Indices, Rows, Vector, axpy
from novikoff.core.stops import Limits

# Lines searched without improvement before giving up, for each weight and besides.
_PATIENCE: Final = 4
_LEAST_PATIENCE: Final = 100
# More lines where they are short: so many, or so many rows' worth of them.
_MOST_MORE: Final = 3000
_MORE: Final = 400_000
# How far a smooth slope reaches, as powers of two times the median distance of the wrong rows.
_NEAREST, _FARTHEST = -5.0, 2.0
# Wrong rows that tell it.
_SAMPLE: Final = 1024
# Lines of each kind drawn at once, and at most so many numbers ⟨a_i, v⟩ of them: rows are read
# once for all.
_LINES: Final = 5
_ENTRIES: Final = 1 << 21
# Rows per call of the kernel, over all lines: some ten milliseconds. Whoever comes back more often
# waits for the interpreter, which the proof of the lower bound uses meanwhile. Where time is
# short, that comes later, and the clock is looked at each time.
_PER_CALL: Final = 1 << 20


def descend(
    problem: Problem,
    w: Vector,
    metric: Vector | None,
    prices: Vector,
    limits: Limits,
    rng: np.random.Generator,
) -> tuple[Vector, float]:
    """Lower the price of all mistakes of w, line by line, until no line helps.

    Parameters
    ----------
    problem, w
        The data and the weights to start from.
    metric : array of shape (p, p) or None
        Turns a slope into the direction down it; None leaves it as it is.
    prices : array of shape (n,)
        The price of a mistake on each row.
    limits, rng
        How long it may take, and where randomness comes from.

    Returns
    -------
    w, errors
        The weights and what their mistakes cost; never more than at the start.
    """
    n, p = problem.n, problem.p
    w = _rescaled(w)
    s = scores(problem, w[:, None])[:, 0]
    lowest = _price(s, prices)
    state = np.array([lowest, 0.0, 0.0, lowest])
    desk = desk_for(w, s, prices, cheapest(prices), problem.rounding())
    patience = _LEAST_PATIENCE + _PATIENCE * p + min(_MOST_MORE, _MORE // n)
    each = min(_LINES, max(1, _ENTRIES // n))
    batches = 1 if limits.left() is not None else max(1, _PER_CALL // (3 * each * n))
    columns, turned = np.empty((0, n)), np.empty((0, p)) if metric is None else metric
    if isinstance(problem.rows, Dense) and are_small(n, p, 3 * each):
        columns = signed_columns(problem.rows, n, p)
    while state[LOWEST] > 0.0 and state[IDLE] < patience and limits.reached() is None:
        draws = rng.random((batches if len(columns) > 0 else 1, 3, each))
        if len(columns) > 0:
            search_lines(problem.rows, columns, turned, draws, state, patience, desk)
            continue
        V = np.zeros((3 * each, p))
        draw_lines(problem.rows, desk.s, turned, draws[0], V)
        follow_lines(problem.rows, _slopes(problem, V), V, state, patience, desk)
    return desk.best, _price(scores(problem, desk.best[:, None])[:, 0], prices)


@njit(cache=True, nogil=True)
def search_lines(
    rows: Rows,
    columns: Vector,
    metric: Vector,
    draws: Vector,
    state: Vector,
    patience: float,
    desk: Desk,
) -> None:
    """Draw lines and follow them, as many times as there are draws, or until no line helps."""
    each, n = draws.shape[2], columns.shape[1]
    V, Q = np.empty((3 * each, len(columns))), np.empty((3 * each, n))
    sloping = np.empty(2 * each, dtype=np.int64)
    for k in range(each):
        sloping[2 * k], sloping[2 * k + 1] = 3 * k + 1, 3 * k + 2
    for turn in range(len(draws)):
        if state[LOWEST] == 0.0 or state[IDLE] >= patience:
            break
        axes = draw_lines(rows, desk.s, metric, draws[turn], V)
        for k in range(each):
            for i in range(n):
                Q[3 * k, i] = columns[axes[k], i]
        fill_slopes(columns, V, sloping, Q)
        follow_lines(rows, Q, V, state, patience, desk)


@njit(cache=True, nogil=True)
def draw_lines(rows: Rows, s: Vector, metric: Vector, draws: Vector, V: Vector) -> Indices:
    """Single weights, down a smooth slope, or towards rows that are wrong, by turns.

    The slope is that of a loss which falls from 1 to 0 within some distance of the hyperplane,
    about as far as rows are wrong. ``draws`` are from [0, 1). Lines become the rows of V; the
    numbers of the single weights are returned. Loops are written out: what NumPy has for them
    takes Numba far longer to compile.
    """
    each, p = draws.shape[1], V.shape[1]
    wrong = _wrong_rows(s)
    reach = _usual_distance(s, wrong)
    axes, picked = np.empty(each, dtype=np.int64), np.empty(each, dtype=np.int64)
    widths, pulls = np.empty(each), np.zeros((2 * each, p))
    for k in range(each):
        axes[k], picked[k] = int(draws[0, k] * p), wrong[int(draws[2, k] * len(wrong))]
        widths[k] = reach * 2.0 ** (_NEAREST + (_FARTHEST - _NEAREST) * draws[1, k])
    add_near_rows(rows, s, widths, pulls[:each])
    add_rows(rows, picked, pulls[each:])
    downhill = pulls
    if len(metric) > 0:
        downhill = np.empty((2 * each, p))
        fill_slopes(metric, pulls, np.arange(2 * each), downhill)
    for k in range(each):
        for j in range(p):
            V[3 * k, j] = 1.0 if j == axes[k] else 0.0
            V[3 * k + 1, j], V[3 * k + 2, j] = downhill[k, j], downhill[each + k, j]
    return axes


@njit(cache=True, nogil=True)
def _wrong_rows(s: Vector) -> Indices:
    wrong, size = np.empty(len(s), dtype=np.int64), 0
    for i in range(len(s)):
        wrong[size] = i
        size += int(not s[i] > 0.0)
    return wrong[:size]


@njit(cache=True, nogil=True)
def _usual_distance(s: Vector, wrong: Indices) -> float:
    """The median of |s_i| over the wrong rows; of very many, over some."""
    size = min(len(wrong), _SAMPLE)
    sample = np.empty(size)
    for k in range(size):
        sample[k] = abs(s[wrong[k * len(wrong) // size]])
    sample.sort()
    return 0.5 * float(sample[(size - 1) // 2] + sample[size // 2])


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


def _slopes(problem: Problem, V: Vector) -> Vector:
    """⟨a_i, v⟩ for each line v and each row i of many, rounded however it comes."""
    rows = problem.rows
    if not isinstance(rows, Dense) or rows.X.dtype != np.float64:
        return np.ascontiguousarray(scores(problem, V.T).T)
    Q: Vector = V[:, :-1] @ rows.X.T
    Q += rows.bias * V[:, -1:]
    Q *= rows.signs
    return Q


def _price(s: Vector, prices: Vector) -> float:
    """What the rows that are not right cost; a score that is no number is not right."""
    return float(prices[~(s > 0.0)].sum())


def _rescaled(w: Vector) -> Vector:
    """The same weights at a size near one: only their direction counts."""
    exponent = math.frexp(float(np.abs(w).max()))[1]
    return w.copy() if abs(exponent) < 20 else np.ldexp(w, -exponent)
