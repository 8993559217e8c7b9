"""The point of a hull nearest to the origin, over many rows (C4; Wolfe 1976).

Few rows carry the answer. The active set of `corral` runs on a *working set* of rows that
is held in one small block; a pass over all rows, on every core, then finds those which
would improve it, and the worst of them join. Most steps touch the small block only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from novikoff.core.rows import Csr, Dense, Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import corral as _corral
from novikoff.geometry.passes import Data
from novikoff.geometry.working import Working, count, entries, sparse

# Work per call of the kernel, in multiplications: some ten milliseconds.
_PER_CALL = 1 << 25
# Longer vectors are padded with zeros to a multiple of so many entries, which a core takes at
# once: an end that is shorter takes it as long as all the rest.
_LANES = 16
# The most entries of a corral's factors, and of a working set.
_MOST_FACTORS = 1 << 27
_MOST_WORKING = 1 << 23
# So many rows are always taken into either; fewer where room is scarce.
_LEAST, _LEAST_IN_ROOM = 64, 8
# A working set beyond the fast caches is priced by a short list in between.
_SHORT, _FAST_BYTES = 48, 1 << 20
# Columns, or rows, whose sizes differ by more than this power of two are balanced.
_BALANCED = 6
# So many prices are looked at together: they stay near the core.
_AT_ONCE = 1 << 15
# So many rows are looked at to find out.
_SAMPLE = 4096


class Ending(Enum):
    """How a search ended."""

    OPTIMAL = "no row would improve the answer"
    FITTED = "the residual is zero, but for rounding"
    STALLED = "rounding forbids further progress"
    WATCHED = "the watcher has seen enough"
    LIMITED = "a limit was reached"


@dataclass(frozen=True)
class View:
    """Rows as the engine sees them: columns times factors, divided by the rows' lengths.

    Factors change neither the kind of a problem nor the meaning of w and λ, which are
    always those of the rows themselves; they keep the engine's numbers near one.
    """

    data: Data
    columns: Vector
    lengths: Vector | None = None

    @property
    def plain(self) -> bool:
        """Whether the rows are seen as they are, but for one factor."""
        return self.lengths is None and bool((self.columns == self.columns[0]).all())

    @cached_property
    def _even(self) -> bool:
        """Whether rows and columns are alike in size.

        Else the last bits of a product may decide which way a search takes, and a block, whose
        entries are rounded once for all, has proved to lead further.
        """
        return self.plain and balanced_view(self.data).plain

    def gather(self, at: Indices, lift: float, padding: int = 0) -> Working:
        """(lift, a_i as seen) for the rows of the numbers given; in a block, and so many zeros."""
        data = self.data
        if isinstance(data.problem.rows, Csr) and self._even:
            few = sparse(data.problem, at, self.columns, lift, data.room is None)
            if few is not None:
                return few
        G = data.gather(at, self.columns, lift, padding)
        if self.lengths is not None:
            G[:, 1:] /= self.lengths[at, None]
        return G


def plain_view(data: Data) -> View:
    """The rows as they are, in a unit near their length."""
    return View(data, np.full(data.problem.p, _power(-math.frexp(data.problem.unit)[1])))


def balanced_view(data: Data) -> View:
    """The rows as they are, or balanced where columns or rows differ much in size.

    A sample of the rows tells whether to look at them all.
    """
    view = plain_view(data)
    if data.n > 2 * _SAMPLE:
        factor = float(view.columns[0])
        peaks, least, most = data.sample(data.n // _SAMPLE, factor)
        lengths = np.array([least, max(most, data.problem.radius * factor)])
        if _alike(peaks[peaks > 0.0]) and _alike(lengths):
            return view
    peaks = data.peaks
    exponents = np.frexp(peaks)[1]
    if not _alike(peaks[peaks > 0.0]):
        view = View(data, np.array([_power(-int(e)) for e in np.where(peaks > 0.0, exponents, 0)]))
    lengths = data.lengths(view.columns)
    return view if _alike(lengths) else View(data, view.columns, lengths)


def _alike(sizes: Vector) -> bool:
    return len(sizes) == 0 or bool(sizes.max() <= sizes.min() * 2.0**_BALANCED)


@dataclass(frozen=True)
class Question:
    """Minimise ‖b − Σ u_j g_j‖ over u ≥ 0, g_j = (lift, a_j as seen)."""

    view: View
    b: Vector
    lift: float
    pairs: bool = False
    within: Indices | None = None  # the rows that take part; all by default


@dataclass
class Answer:
    """Where a search is, or ended.

    Attributes
    ----------
    rows, weights
        The rows in use and λ > 0 on them, for the rows themselves.
    w
        A direction: the nearest point, or minus the residual, for the rows themselves.
    products
        ⟨a_i, w⟩ for all rows.
    least
        The least of them among the positive rows, and among the negative.
    ending
        Why the search ended, None while it goes on.
    working
        The working set.
    vertices
        The members of the corral: rows, partners or −1, and u.
    plain
        Whether the rows were seen as they are: then the answer is about their margin.
    """

    rows: Indices
    weights: Vector
    w: Vector
    products: Vector
    least: tuple[float, float]
    ending: Ending | None
    working: Indices
    vertices: tuple[Indices, Indices, Vector]
    plain: bool


Watcher = Callable[[Answer], bool]


def nearest_point(view: View, pairs: bool = False) -> Question:
    """Ask for the point nearest to 0 of the hull of the rows, or of P − Q for the two hulls."""
    b = np.zeros(view.data.problem.p + 1)
    b[0] = 1.0
    return Question(view, b, 0.5 if pairs else 1.0, pairs)


def affordable(data: Data) -> bool:
    """Whether a corral may become as large as the problem can ask for."""
    return capacity(data) >= min(data.p + 1, data.n)


def batch_of(data: Data) -> int:
    """How many rows join the working set at a time, a fifth of the most it holds."""
    return max(_least(data), min(2 * data.p, _working(data) // (5 * (data.problem.p + 1))))


def capacity(data: Data) -> int:
    """The most rows that a corral may hold.

    Where room is limited, its rows in the working set count as well as its factors.
    """
    q = data.problem.p + 1
    width, entries = q, _MOST_FACTORS
    if data.room is not None:
        width, entries = 2 * q, data.room // 8 - _working(data)
    most = (math.isqrt(width * width + 4 * entries) - width) // 2  # most·(most + width) is allowed
    return min(q, data.n, max(_least(data), most))


def room_for(data: Data, rows: int) -> int:
    """The room in which so many rows fit into a corral."""
    q = data.problem.p + 1
    factors = 8 * rows * (rows + 2 * q) + 64
    return max(160 * _LEAST_IN_ROOM * q, min(4 * factors // 3, factors + 8 * _MOST_WORKING))


def _working(data: Data) -> int:
    """The entries of a working set beside the rows of the corral."""
    return _MOST_WORKING if data.room is None else min(_MOST_WORKING, data.room // 32)


def _padding(data: Data) -> int:
    """The zeros at the end of each vector; none if they are many, room is scarce or rows sparse."""
    q = data.problem.p + 1
    padding = -q % _LANES
    wanted = data.room is None and 8 * padding <= q and isinstance(data.problem.rows, Dense)
    return padding if wanted else 0


def _least(data: Data) -> int:
    return _LEAST if data.room is None else _LEAST_IN_ROOM


def search(
    question: Question, start: Indices, tol: float, limits: Limits, watch: Watcher
) -> Answer:
    """Find the nearest point, from a working set that holds ``start``.

    It ends when ⟨g, r⟩ ≤ tol·‖r‖² for all rows, r the residual; for the nearest point z
    that is ⟨a_i, z⟩ ≥ (1 − tol)·‖z‖², so that γ is known to a relative tol.
    """
    view, b = question.view, question.b
    data = view.data
    batch = batch_of(data)
    known = np.zeros(data.n, dtype=np.bool_)  # the rows of the working set
    target = np.append(b, np.zeros(_padding(data)))
    corral = _corral.empty_corral(len(target), capacity(data))
    working = _at_most(start, batch)
    while True:
        G = view.gather(working, question.lift, _padding(data))
        sides = data.problem.rows.signs[working]
        ending = _pivot(G, sides, target, corral, tol / 8.0, question.pairs, limits)
        del G  # before the next is gathered
        answer = None  # nor is the last one kept beside the next
        answer = _answer(question, corral, working)
        if ending is Ending.LIMITED:
            answer.ending = ending
            return answer
        if watch(answer) or ending is Ending.FITTED:
            answer.ending = ending if ending is Ending.FITTED else Ending.WATCHED
            return answer
        known[working] = True
        fresh = np.sort(_improving(question, corral, answer, tol, batch))
        fresh = fresh[~known[fresh]]
        known[working] = False
        full = ending is Ending.STALLED and corral.size[0] == capacity(data) < len(b)
        if len(fresh) == 0 or full:  # then no other row can join either
            answer.ending = ending
            return answer
        working = _next_working_set(question, corral, answer, fresh, 4 * batch)


def _pivot(
    G: Working,
    sides: np.typing.NDArray[np.int8],
    b: Vector,
    corral: _corral.Corral,
    tol: float,
    pairs: bool,
    limits: Limits,
) -> Ending:
    """Run the engine on the working set, in calls short enough to be interrupted."""
    n, size = count(G), entries(G)
    most = max(1, _PER_CALL // (size + 8 * corral.Q.size))
    barred, prices = np.zeros(n, dtype=np.bool_), np.full(n, -np.inf)
    short = np.empty(_SHORT if 8 * size > _FAST_BYTES else 0, dtype=np.int64)
    anew = True
    while True:
        came_to = _corral.pivot(G, sides, b, corral, barred, prices, short, tol, pairs, most, anew)
        anew = False
        if came_to == _corral.OPTIMAL:
            return Ending.OPTIMAL
        if came_to == _corral.FITTED:
            return Ending.FITTED
        if came_to == _corral.STALLED:
            return Ending.STALLED
        if limits.reached() is not None:
            return Ending.LIMITED


def _answer(question: Question, corral: _corral.Corral, working: Indices) -> Answer:
    """The engine's state in terms of the rows themselves."""
    view = question.view
    k = corral.size[0]
    first, second, u = corral.first[:k], corral.second[:k], corral.u[:k]
    weights = np.bincount(first, u, len(working))
    weights += np.bincount(second[second >= 0], u[second >= 0], len(working))
    used = np.flatnonzero(weights)
    lengths = 1.0 if view.lengths is None else view.lengths[working[used]]
    w = -corral.residual[1 : len(question.b)] * view.columns
    products, *least = view.data.products_by_side(w)
    return Answer(
        rows=working[used],
        weights=weights[used] / lengths,
        w=w,
        products=products,
        least=(least[0], least[1]),
        ending=None,
        working=working,
        vertices=(working[first], np.where(second >= 0, working[second], -1), u.copy()),
        plain=view.plain,
    )


def _prices(
    question: Question, corral: _corral.Corral, answer: Answer, at: Indices | slice
) -> Vector:
    """⟨g, r⟩ for the rows of the numbers given, r the residual."""
    m, lengths = answer.products[at], question.view.lengths
    level = question.lift * float(corral.residual[0])
    return level - (m if lengths is None else m / lengths[at])


def _improving(
    question: Question, corral: _corral.Corral, answer: Answer, tol: float, batch: int
) -> Indices:
    """The rows that would improve the answer most."""
    least = tol / 4.0 * float(np.square(corral.residual).sum())
    levels = np.zeros(3)  # by sign + 1
    if question.pairs:  # each hull has its own level, that of its members
        for side, members in zip((2, 0), answer.vertices[:2], strict=True):
            found = _prices(question, corral, answer, members[members >= 0])
            levels[side] = found.max(initial=-np.inf)
    signs, within = question.view.data.problem.rows.signs, question.within
    n = len(signs) if within is None else len(within)
    better, gains = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for first in range(0, n, _AT_ONCE):  # no list of all prices is made
        part = slice(first, first + _AT_ONCE)
        at = part if within is None else within[part]
        gain = _prices(question, corral, answer, at)
        if question.pairs:
            gain -= levels.take(signs[at] + 1)
        good = np.flatnonzero(gain > least)
        better.append(good + first if within is None else within[good + first])
        gains.append(gain[good])
    rows, by = np.concatenate(better), np.concatenate(gains)
    return rows[np.argpartition(-by, batch)[:batch]] if len(rows) > batch else rows


def _next_working_set(
    question: Question, corral: _corral.Corral, answer: Answer, fresh: Indices, most: int
) -> Indices:
    """The members first, then the best of the old, then the new; the corral is renumbered."""
    k, working = corral.size[0], answer.working
    used = np.zeros(len(working), dtype=np.bool_)
    for part in (corral.first, corral.second):
        used[part[:k][part[:k] >= 0]] = True
    members, others = np.flatnonzero(used), np.sort(working[~used])
    if len(others) > most:
        prices = _prices(question, corral, answer, others)
        others = others[np.argpartition(-prices, most)[:most]]
    for part in (corral.first, corral.second):
        kept = part[:k] >= 0
        part[:k][kept] = np.searchsorted(members, part[:k][kept])
    return np.concatenate([working[members], others, fresh])


def _at_most(start: Indices, batch: int) -> Indices:
    return np.asarray(start[: 4 * batch], dtype=np.int64)


def _power(e: int) -> float:
    return math.ldexp(1.0, max(-1000, min(1000, e)))
