"""The least price of mistakes along a line, exactly.

Along w + t·v row i changes sides at t_i = −s_i/q_i, with s_i = ⟨a_i, w⟩ and q_i = ⟨a_i, v⟩. On
the way to either side no more can be gained than the wrong rows that turn right there: once
the right rows that turn wrong cost more, nothing beyond can be as good as to stay. How far that
is, a sample of the rows tells; it is believed only after counting. The few points left are put
into buckets, which leaves little to sort.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from novikoff.core.margins import fill_margins, quick_norm_bound
from novikoff.core.rows import Indices, Rows, Vector

# How far to look is guessed by so many rows, and a few more for safety.
_SAMPLE: Final = 256
_SPARE: Final = 8.0
# Fewer points are sorted by insertion as they are, and so many may share a bucket.
_FEW: Final = 16
_CROWD: Final = 24
# Prices that differ by less are equal: sums depend on their order.
_EQUAL: Final = 1e-12
# What the state of a descent holds: what the mistakes cost, the lines without a gain, the moves
# since the scores were new, and the least that mistakes have cost.
COST, IDLE, MOVES, LOWEST = 0, 1, 2, 3
# After so many moves the scores are computed anew.
_RENEWED: Final = 50
# Weights beyond these sizes are due to be scaled.
_SMALL, _LARGE = 2.0**-20, 2.0**20


class Desk(NamedTuple):
    """Where a descent is, and room to work in."""

    w: Vector
    s: Vector  # ⟨a_i, w⟩
    best: Vector  # the weights whose mistakes cost least
    prices: Vector
    least: float  # the cheapest price
    rounding: float  # of the problem
    points: Vector
    kept: Indices
    crossings: Vector
    changes: Vector
    sorted_crossings: Vector
    sorted_changes: Vector
    sample: Vector
    counts: Indices


def desk_for(w: Vector, s: Vector, prices: Vector, least: float, rounding: float) -> Desk:
    """A desk for lines from weights with these scores; they will be moved."""
    n = len(s)
    return Desk(
        w=w,
        s=s,
        best=w.copy(),
        prices=prices,
        least=least,
        rounding=rounding,
        points=np.empty(n),
        kept=np.empty(n + 1, dtype=np.int64),
        crossings=np.empty(n),
        changes=np.empty(n),
        sorted_crossings=np.empty(n),
        sorted_changes=np.empty(n),
        sample=np.empty(_SAMPLE + 1),
        counts=np.empty(n + 2, dtype=np.int64),
    )


def line_search(s: Vector, q: Vector, prices: Vector) -> tuple[float, float]:
    """The least price of the rows with s_i + t·q_i ≤ 0 over all t, and a t that attains it.

    Among equally good stretches of t the middle of the widest is taken.

    Examples
    --------
    >>> line_search(np.array([-1.0, 2.0]), np.array([1.0, -1.0]), np.ones(2))
    (0.0, 1.5)
    """
    desk = desk_for(np.empty(0), s, prices, cheapest(prices), 0.0)
    found, t = best_on_line(s, q, prices, desk.least, desk)
    return float(found), float(t)


def cheapest(prices: Vector) -> float:
    """The least price that is not zero; infinite if there is none."""
    return float(prices[prices > 0.0].min(initial=math.inf))


@njit(cache=True, nogil=True)
def follow_lines(
    rows: Rows, Q: Vector, V: Vector, state: Vector, patience: float, desk: Desk
) -> None:
    """Go to the best point of each line, a row of V, in turn; Q has its products with the rows.

    The scores are computed anew where a gain is to be believed, and now and then, so that rounding
    cannot build up. It ends early without mistakes, and without a gain for too long.
    """
    w, s, prices = desk.w, desk.s, desk.prices
    for k in range(len(V)):
        if state[LOWEST] == 0.0 or state[IDLE] >= patience:
            break
        q = Q[k]
        found, t = best_on_line(s, q, prices, desk.least, desk)
        state[IDLE] += 1.0
        if found > state[COST] * (1.0 + _EQUAL) or t == 0.0 or not abs(t) < math.inf:
            continue
        largest = 0.0
        for j in range(len(w)):
            w[j] += t * V[k, j]
            largest = max(largest, abs(w[j]))
        state[COST] = _move(s, q, t, prices)
        state[MOVES] += 1.0
        sized = _SMALL <= largest < _LARGE
        if state[COST] >= state[LOWEST] * (1.0 - _EQUAL) and sized and state[MOVES] < _RENEWED:
            continue
        if not sized:  # only the direction of w counts
            _rescale(w, largest)
        _renew(rows, state, desk)


@njit(cache=True, nogil=True)
def _rescale(w: Vector, largest: float) -> None:
    exponent = math.frexp(largest)[1]
    for j in range(len(w)):
        w[j] = math.ldexp(w[j], -exponent)


@njit(cache=True, nogil=True)
def _renew(rows: Rows, state: Vector, desk: Desk) -> None:
    """Compute the scores anew, and what the mistakes cost; remember the weights if it is less."""
    w, s = desk.w, desk.s
    fill_margins(rows, 0, len(s), w, desk.rounding * quick_norm_bound(w), s)
    state[COST], state[MOVES] = 0.0, 0.0
    for i in range(len(s)):
        state[COST] += 0.0 if s[i] > 0.0 else desk.prices[i]
    if state[COST] < state[LOWEST] * (1.0 - _EQUAL):
        desk.best[:] = w
        state[LOWEST], state[IDLE] = state[COST], 0.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _move(s: Vector, q: Vector, t: float, prices: Vector) -> float:
    """S ← s + t·q, and the price of all that is not right there."""
    errors = 0.0
    for i in range(len(s)):
        s[i] += t * q[i]
        errors += 0.0 if s[i] > 0.0 else prices[i]
    return errors


@njit(cache=True, nogil=True, error_model="numpy")
def best_on_line(
    s: Vector, q: Vector, prices: Vector, least: float, desk: Desk
) -> tuple[float, float]:
    """As `line_search`; ``least`` is the cheapest price."""
    n, points, kept = len(s), desk.points, desk.kept
    now, gain_right, gain_left = _find_points(s, q, prices, 1e-14 * _steepest(q), points)
    most_right, most_left = gain_right * (1.0 + _EQUAL) / least, gain_left * (1.0 + _EQUAL) / least
    last = _reach(points, s, q, 1.0, most_right, desk.sample)
    first = -_reach(points, s, q, -1.0, most_left, desk.sample)
    while True:
        size = 0
        for i in range(n):  # without branches, which could not be foreseen
            kept[size] = i
            size += int((first <= points[i]) & (points[i] <= last))
        errors, broken_right, broken_left = now, 0, 0
        for k in range(size):
            i = kept[k]
            right, rising = s[i] > 0.0, q[i] > 0.0
            desk.crossings[k] = points[i]
            desk.changes[k] = -prices[i] if rising else prices[i]
            errors += (int(rising) - int(not right)) * prices[i]
            costs = right & (prices[i] > 0.0)
            broken_right += int(costs & (not rising))
            broken_left += int(costs & rising)
        if last < math.inf and not broken_right > most_right:
            last = math.inf
        elif first > -math.inf and not broken_left > most_left:
            first = -math.inf
        else:
            break
    if size == 0:
        return now, 0.0
    ends = int(first == -math.inf) + 2 * int(last == math.inf)
    crossings, changes = _in_order(desk, size)
    return _sweep_line(crossings[:size], changes[:size], errors, ends)


@njit(cache=True, nogil=True, forceinline=True)
def _steepest(q: Vector) -> float:
    a = b = c = d = 0.0  # four chains, none of which waits for another
    whole = len(q) - len(q) % 4
    for i in range(0, whole, 4):
        a, b = max(a, abs(q[i])), max(b, abs(q[i + 1]))
        c, d = max(c, abs(q[i + 2])), max(d, abs(q[i + 3]))
    for i in range(whole, len(q)):
        a = max(a, abs(q[i]))
    return max(max(a, b), max(c, d))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def _find_points(
    s: Vector, q: Vector, prices: Vector, flat: float, points: Vector
) -> tuple[float, float, float]:
    """Find where rows change sides; the price now, and what can be gained to either side."""
    now = gain_right = gain_left = 0.0
    for i in range(len(s)):
        moving = abs(q[i]) > flat
        points[i] = -s[i] / q[i] if moving else math.nan
        price = 0.0 if s[i] > 0.0 else prices[i]
        now += price
        gain_right += price if moving & (q[i] > 0.0) else 0.0
        gain_left += price if moving & (q[i] < 0.0) else 0.0
    return now, gain_right, gain_left


@njit(cache=True, nogil=True)
def _reach(points: Vector, s: Vector, q: Vector, side: float, most: float, sample: Vector) -> float:
    """How far to look to find more than so many right rows turn wrong, at a guess."""
    n, size = len(points), min(_SAMPLE, len(points) // 2)
    if not 1.5 * most + _SPARE < 0.35 * n or size < _FEW:
        return math.inf
    found = 0
    for k in range(size):
        i = k * n // size
        sample[found] = side * points[i]
        found += int((s[i] > 0.0) & (side * q[i] < 0.0) & (sample[found] < math.inf))
    at = int((1.2 * most + _SPARE) * size / n) + 3
    if at >= found:
        return math.inf
    seen = sample[:found]
    seen.sort()
    guess: float = seen[at]
    return guess


@njit(cache=True, nogil=True, error_model="numpy")
def _in_order(desk: Desk, size: int) -> tuple[Vector, Vector]:
    """The crossings in order, and their changes: in buckets first, then by insertion."""
    crossings, changes = desk.crossings, desk.changes
    if size <= _FEW:
        _insert(crossings, changes, size)
        return crossings, changes
    low, high = crossings[0], crossings[0]
    for k in range(size):
        low, high = min(low, crossings[k]), max(high, crossings[k])
    counts, scale = desk.counts, (size - 1) / (high - low)
    if not 0.0 < scale < math.inf:
        return _sorted(crossings, changes, size)
    for b in range(size + 1):
        counts[b] = 0
    for k in range(size):
        counts[int((crossings[k] - low) * scale) + 1] += 1
    crowd = 0
    for b in range(size):
        crowd = max(crowd, counts[b + 1])
        counts[b + 1] += counts[b]
    if crowd > _CROWD:
        return _sorted(crossings, changes, size)
    for k in range(size):
        b = int((crossings[k] - low) * scale)
        desk.sorted_crossings[counts[b]] = crossings[k]
        desk.sorted_changes[counts[b]] = changes[k]
        counts[b] += 1
    _insert(desk.sorted_crossings, desk.sorted_changes, size)
    return desk.sorted_crossings, desk.sorted_changes


@njit(cache=True, nogil=True)
def _sorted(crossings: Vector, changes: Vector, size: int) -> tuple[Vector, Vector]:
    order = np.argsort(crossings[:size])
    return crossings[:size][order], changes[:size][order]


@njit(cache=True, nogil=True)
def _insert(crossings: Vector, changes: Vector, size: int) -> None:
    for k in range(1, size):
        t, change, at = crossings[k], changes[k], k
        while at > 0 and crossings[at - 1] > t:
            crossings[at], changes[at] = crossings[at - 1], changes[at - 1]
            at -= 1
        crossings[at], changes[at] = t, change


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
