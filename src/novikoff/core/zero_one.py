"""A descent on the number of mistakes itself (A6).

Along a line w + t·v the mistakes change only where a row changes sides, at t_i = −s_i/q_i with
s_i = ⟨a_i, w⟩ and q_i = ⟨a_i, v⟩. Sorting these points and sweeping once finds the best t there
is, exactly; beyond the point where more rows have become wrong than are wrong at w, nothing can
be better, and nothing is sorted. Lines go along single weights, towards rows that are wrong, and
at random, in coordinates in which the rows are spread evenly. Moves that change nothing are
welcome: they lead across plateaus.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.margins import scores
from novikoff.core.problem import Problem
from novikoff.core.rows import Dense, Indices, Rows, Vector, axpy
from novikoff.core.stops import Limits

# Lines searched without improvement before giving up, for each weight and besides.
_PATIENCE: Final = 4
_LEAST_PATIENCE: Final = 100
# More lines where they are short: so many, or so many rows' worth of them.
_MOST_MORE: Final = 3000
_MORE: Final = 400_000
# After so many moves the scores are computed anew, so that rounding cannot build up.
_RENEWED: Final = 50
# Lines drawn at once, and at most so many numbers ⟨a_i, v⟩ of them: rows are read once for all.
_LINES: Final = 8
_ENTRIES: Final = 1 << 22
# How far to look along a line is guessed by so many rows, and a few more for safety.
_SAMPLE: Final = 128
_SPARE: Final = 8.0


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
    w, _ = _rescaled(w, w)
    s = _scores(problem, w)
    best, errors = w, _price(s, prices)
    lowest = errors
    patience = _LEAST_PATIENCE + _PATIENCE * problem.p + min(_MOST_MORE, _MORE // problem.n)
    lines = min(_LINES, max(1, _ENTRIES // problem.n))
    turn = idle = moves = 0
    while lowest > 0.0 and idle < patience and limits.reached() is None:
        if turn % lines == 0:
            V = _directions(problem, metric, s, np.arange(turn, turn + lines), rng)
            Q = _slopes(problem, V)
        v, q = V[:, turn % lines], Q[turn % lines]
        turn += 1
        found, t = line_search(s, q, prices)
        idle += 1
        if found > errors or t == 0.0 or not np.isfinite(t):
            continue
        w = w + t * v
        moves += 1
        s = _scores(problem, w) if moves % _RENEWED == 0 else s + t * q
        errors = _price(s, prices)
        if errors < lowest:
            s = _scores(problem, w)
            errors = _price(s, prices)
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
    crossings, changes, errors, ends = _crossings(s, q, prices)
    if len(crossings) == 0:
        return float(errors), 0.0
    order = np.argsort(crossings)
    return _sweep_line(crossings[order], changes[order], errors, ends)


@njit(cache=True, nogil=True)
def _crossings(s: Vector, q: Vector, prices: Vector) -> tuple[Vector, Vector, float, int]:
    """Where rows change sides, as far as it matters, and by what the price changes there.

    And the price left of them all, and which ends are open: 1 for the left, 2 for the right one.
    """
    n = len(s)
    steepest, now, least = 0.0, 0.0, math.inf
    for i in range(n):
        steepest = max(steepest, abs(q[i]))
        now += prices[i] * (not s[i] > 0.0)
        least = min(least, prices[i] if prices[i] > 0.0 else math.inf)
    flat = 1e-14 * steepest
    points, falling, rising = np.empty(n), np.empty(n), np.empty(n)
    n_falling = n_rising = 0
    for i in range(n):  # without branches, which could not be foreseen
        points[i] = -s[i] / q[i] if abs(q[i]) > flat else math.inf
        falling[n_falling], rising[n_rising] = points[i], -points[i]
        costs = (s[i] > 0.0) & (prices[i] > 0.0) & (abs(q[i]) > flat)
        n_falling += int(costs & (q[i] < 0.0))
        n_rising += int(costs & (q[i] > 0.0))
    # So many right rows, become wrong, cost more than all that are wrong now.
    most = now / least if least < math.inf else math.inf
    last, first = _beyond(falling[:n_falling], most), -_beyond(rising[:n_rising], most)
    changes, errors, kept = falling, 0.0, 0  # what falls is used no more
    for i in range(n):
        t, moves = points[i], abs(q[i]) > flat
        points[kept], changes[kept] = t, prices[i] if q[i] < 0.0 else -prices[i]
        kept += int(moves & (first <= t) & (t <= last))
        left = (q[i] > 0.0) == (t >= first)  # wrong where the sweep begins
        errors += prices[i] * (left if moves else not s[i] > 0.0)
    return (
        points[:kept],
        changes[:kept],
        errors,
        int(first == -math.inf) + 2 * int(last == math.inf),
    )


@njit(cache=True, nogil=True)
def _beyond(points: Vector, most: float) -> float:
    """A number that more than so many points do not exceed, but not many more; or infinity."""
    size = min(len(points), _SAMPLE)
    if not 1.5 * most + _SPARE < 0.7 * len(points):
        return math.inf
    sample = np.empty(size)
    for k in range(size):
        sample[k] = points[k * len(points) // size]
    sample.sort()
    guess = sample[int((1.2 * most + _SPARE) * size / len(points)) + 3]
    within = 0
    for k in range(len(points)):
        within += int(points[k] <= guess)
    return guess if within > most else math.inf


@njit(cache=True, nogil=True)
def _sweep_line(
    crossings: Vector, changes: Vector, errors: float, ends: int
) -> tuple[float, float]:
    n = len(crossings)
    best, at, widest = math.inf, 0.0, -1.0
    for k in range(n + 1):
        if (k == 0 and ends & 1 == 0) or (k == n and ends & 2 == 0):
            lo = hi = 0.0  # too many rows are wrong beyond
        else:
            lo = crossings[k - 1] if k > 0 else crossings[0] - 2.0 * abs(crossings[0]) - 1.0
            hi = crossings[k] if k < n else crossings[n - 1] + 2.0 * abs(crossings[n - 1]) + 1.0
        middle = lo + 0.5 * (hi - lo)
        if lo < middle < hi and (errors < best or (errors == best and hi - lo > widest)):
            best, at, widest = errors, middle, hi - lo
        if k < n:
            errors += changes[k]
    return best, at


def _directions(
    problem: Problem, metric: Vector, s: Vector, turns: Indices, rng: np.random.Generator
) -> Vector:
    """Single weights, something random, or towards rows that are wrong, by turns."""
    kinds = turns % 3
    single, free, towards = (np.flatnonzero(kinds == kind) for kind in range(3))
    V = np.zeros((problem.p, len(turns)))
    V[rng.integers(problem.p, size=len(single)), single] = 1.0
    V[:, free] = metric @ rng.standard_normal((metric.shape[1], len(free)))
    wrong = np.flatnonzero(~(s > 0.0))
    pulls = np.zeros((len(towards), problem.p))
    for pull, i in zip(pulls, rng.integers(len(wrong), size=len(towards)), strict=True):
        axpy_row(problem.rows, int(wrong[i]), pull)
    V[:, towards] = metric @ (metric.T @ pulls.T)
    return V


def _slopes(problem: Problem, V: Vector) -> Vector:
    """⟨a_i, v⟩ for each line v and each row i, rounded however it comes."""
    rows = problem.rows
    if not isinstance(rows, Dense) or rows.X.dtype != np.float64:
        return np.ascontiguousarray(scores(problem, V).T)
    Q: Vector = V[:-1].T @ rows.X.T
    Q += rows.bias * V[-1][:, None]
    Q *= rows.signs
    return Q


@njit(cache=True, nogil=True)
def axpy_row(rows: Rows, i: int, out: Vector) -> None:
    """Out ← out + a_i."""
    axpy(1.0, rows, i, out)


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
