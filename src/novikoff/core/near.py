"""Work only where mistakes can be.

Let w_s be some weights, the *anchor*, and g_i = ⟨a_i, w_s⟩. Write w = α·w_s + v with v ⊥ w_s. As
long as ‖v‖ ≤ α·ρ, a row with (g_i − δ)/‖a_i‖ > ρ has ⟨a_i, w⟩ > δ: it cannot be a mistake, and
need not be looked at. The rows that are left, the *near* ones, are gathered in a small block
and swept in their usual order, until w has turned too far and a new anchor is cast. α and
‖v‖ follow from numbers that an update has at hand.

Every bound has an allowance for rounding, so that the mistakes are those of the plain loop,
one for one (`Problem.rounding`). Whether it pays is found out on the way. The perceptron of a
hard problem turns to and fro within bounds, while w grows: ρ follows the turns that were
seen, and new near rows are picked from the rows within a wider turn (`wide`), not from all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint64

from novikoff.core import rows as _rows
from novikoff.core.problem import Problem
from novikoff.core.readahead import out_of_cache
from novikoff.core.rows import Indices, Rows, Vector, dot, sqnorm
from novikoff.core.wide import Wide, distances, doubt_at, gathered

if TYPE_CHECKING:
    from novikoff.core.ledger import Ledger

# Epochs before the first attempt; after a vain one, so many times as many.
_FIRST_TRY, _PAUSE = 40, 1.25
# Problems smaller than this are done before it could pay, in entries.
_WORTHWHILE = 1 << 17
# What an anchor costs, in passes over the rows it is cast from; and what it and an epoch near
# it cost however few rows there are, in entries of a plain pass.
_ANCHOR, _CALLS = 1.5, 1 << 16
# The cost of an epoch, in plain ones, below which it is worth while.
_GAIN = 0.7
# So many rows tell what would pay.
_SAMPLE = 2048
# Near rows are copied if they are at most this share of the data.
_COPIED = 1 / 8
# ρ to begin with, in turns of one epoch; in the widest turn seen; after one that was too short.
_BEGIN, _ROOM, _MORE = 2.0, 1.1, 1.3
# For so many epochs it is seen how far w turns; later it has also gone elsewhere.
_FRESH = 16
# The wide turn, in narrow ones.
_WIDER = 3.0


class Near(NamedTuple):
    """The near rows of an anchor, for the loop. Empty and not ``guarding`` by default."""

    guarding: bool
    names: Indices  # the number of each row among all, or empty
    clock: Indices  # the step of each visit, or empty
    margins: Vector  # g_i
    squares: Vector  # ‖a_i‖²
    state: Vector  # ‖w‖², ⟨w, w_s⟩, ‖w_s‖², doubt in them, ρ, least α, whether broken, max ‖v‖²


def everywhere() -> Near:
    """No anchor: every row is looked at."""
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return Near(False, none, none, empty, empty, np.zeros(8))


@njit(cache=True, nogil=True)
def still_near(near: Near, i: int, step: float, m: float, doubt: float) -> bool:
    """Enter an update on row i, whose margin was m, and tell whether the anchor still holds."""
    state = near.state
    state[0] += 2.0 * step * m + step * step * near.squares[i]
    state[1] += step * near.margins[i]
    state[3] += 16.0 * step * doubt + 8e-15 * state[0]
    alpha = state[1] / state[2]
    across = max(state[0] - state[1] * alpha, 0.0) + state[3]
    state[7] = max(state[7], across)
    reach = alpha * state[4]
    holds = alpha >= state[5] and state[0] <= 4.0 * state[2] and across <= reach * reach
    if not holds:
        state[6] = 1.0
    return bool(holds)


class Anchor:
    """Near rows, cast anew whenever w has turned too far, or less far than was thought.

    ``problem``, ``w`` and δ as in the loop; ``weights`` are its factors on the steps.
    """

    def __init__(
        self,
        problem: Problem,
        delta: float,
        weights: Vector | None,
        threads: int,
        steady: bool,
    ) -> None:
        self.problem, self.delta, self.threads = problem, delta, threads
        self.steady = steady  # whether every epoch is the same
        self.entries = _rows.nbytes(problem.rows) // 8
        fits = self.entries >= _WORTHWHILE and 1e-100 < problem.radius < 1e100
        self.possible = fits and (weights is None or bool((weights > 0.0).all()))
        self.holds = False
        self.rho = 0.0  # for the next cast
        self.wide: Wide | None = None
        self.place = np.empty(0, dtype=np.int32)
        self._chosen = np.empty(0, dtype=np.int64)
        self._sample = np.empty(0, dtype=np.int64)
        self._next_try, self._epochs, self._since, self._seen = _FIRST_TRY, 0, 0.0, 0.0
        self._cost, self._paid, self._passed = 0.0, 0.0, 0.0
        self._visits: tuple[Indices, Indices] | None = None

    @property
    def due(self) -> bool:
        """Whether the epoch to come, without anchor, may be followed by a cast."""
        return self._epochs + 1 >= self._next_try

    def note_epoch(self, before: Vector, w: Vector) -> None:
        """An epoch without anchor went by, from ``before`` if it was due; cast if it should pay."""
        self._epochs += 1
        if self._epochs < self._next_try:
            return
        self.rho = _BEGIN * _turn(before, w)
        if self.rho <= 0.0 or not self.cast(w):
            self._next_try = int(self._epochs * _PAUSE) + 1

    def cast(self, w: Vector) -> bool:
        """Find the rows within ρ of w; False if they are too many to be worth while."""
        problem, rho = self.problem, self.rho
        square = float(w @ w)
        self.holds = False
        if not 1e-150 < square < 1e150:
            return False
        if self.wide is None or not self.wide.covers(w, rho):
            if self._share_within(w, rho) + self._calls > _GAIN:
                return False
            self.wide = Wide(problem, self.delta, w, _WIDER * rho, self.threads)
            self._cost += _ANCHOR
            if not self.wide.covers(w, rho):  # at the ends of float64
                return False
        self._cost += self._recast_cost
        chosen = self.wide.within(w, rho)
        self.gathered = len(chosen) <= _COPIED * problem.n
        self.rows = gathered(problem.rows, chosen) if self.gathered else problem.rows
        self.names = chosen if self.gathered else np.empty(0, dtype=np.int64)
        local = np.arange(len(chosen)) if self.gathered else chosen
        margins, squares = np.empty((2, _rows.count(self.rows)))
        _fill(self.rows, local, w, margins, squares)
        if len(self.place) == 0:
            self.place = np.full(problem.n, -1, dtype=np.int32)
        self.place[self._chosen] = -1
        self.place[chosen] = local
        self._chosen = chosen
        # With δ > 0 a shrinking α would eat into the margins: (αg − δ) < α(g − δ).
        least = 1.0 if self.delta > 0.0 else 0.5
        state = np.array([square, square, square, 1e-13 * square, rho, least, 0.0, 0.0])
        none = np.empty(0, dtype=np.int64)
        self.near = Near(True, self.names, none, margins, squares, state)
        self._counts = np.zeros((len(self.names), 1), dtype=np.int32)
        self._far = out_of_cache(self.rows)
        self.holds, self._since = True, 0.0
        self._visits = None
        return True

    def visits(self, epoch: Indices, first: int) -> tuple[Indices, Indices]:
        """Where in the epoch, from ``first`` on, a near row is visited, and as which."""
        if first == 0 and self.steady and self._visits is not None:
            return self._visits
        found = _visits(epoch, first, self.place)
        if first == 0:
            self._visits = found
        return found

    def books(self, ledger: Ledger, near: Near) -> Ledger:
        """The run's ledger, for the near rows."""
        counts, weights = ledger.counts, ledger.weights
        if self.gathered:
            counts = self._counts if len(counts) > 0 else counts
            weights = weights[self.names] if len(weights) > 0 else weights
        return ledger._replace(weights=weights, counts=counts, near=near, far=self._far)

    def settle(self, ledger: Ledger) -> None:
        """Enter the near rows' updates in the run's own ledger."""
        if self.gathered and len(ledger.counts) > 0:
            _settle(self._counts, self.names, ledger.counts)

    def note_near_epoch(self, w: Vector, share: float) -> None:
        """An epoch near the anchor went by, which looked at this share of the rows.

        If such epochs cost no less than plain ones, stop for a while. If w turned much less than
        it might have, for so long that fewer rows pay, cast a closer anchor.
        """
        self._epochs += 1
        self._since += 1.0
        self._paid = 0.8 * self._paid + share + self._calls + self._cost
        self._passed = 0.8 * self._passed + 1.0
        self._cost = 0.0
        if self._passed > 3.0 and self._paid > 0.9 * self._passed:
            self.holds, self._paid, self._passed = False, 0.0, 0.0
            self._next_try = int(self._epochs * _PAUSE) + 1
        if not self.holds:
            return
        if self._since <= _FRESH:
            self._seen = math.sqrt(self.near.state[7])
        rho = _ROOM * self._seen
        spared = (1.0 - rho / self._reach) * share * self._since
        if rho > 0.0 and rho < 0.8 * self._reach and spared > 2.0 * self._recast_cost:
            self.rho = rho
            if spared > 2.0 * _ANCHOR or (self.wide is not None and self.wide.covers(w, rho)):
                self.cast(w)

    @property
    def broken(self) -> bool:
        """Whether w has turned too far for the anchor."""
        return bool(self.near.state[6] > 0.0)

    def recast(self, w: Vector, share: float) -> None:
        """Cast anew: w turned by ρ in the epochs since the last time, and this share of one."""
        looked = len(self._chosen) / self.problem.n * (self._since + share)
        self.rho = self._reach * (_MORE if looked < 4.0 * self._recast_cost else 1.0)
        self.cast(w)

    @property
    def _reach(self) -> float:
        """The ‖v‖ up to which the anchor holds: α·ρ."""
        state = self.near.state
        return float(state[4] * max(state[1] / state[2], 0.5))

    @property
    def _calls(self) -> float:
        """What an epoch costs without a row, in plain ones."""
        return _CALLS / (self.entries + 1.0)

    @property
    def _recast_cost(self) -> float:
        """What it costs to cast from the rows within a wide turn, in plain epochs."""
        share = 1.0 if self.wide is None else len(self.wide.chosen) / self.problem.n
        return _ANCHOR * (share + self._calls)

    def _share_within(self, w: Vector, rho: float) -> float:
        """The share of the rows within ρ of w, by a sample."""
        n = self.problem.n
        if len(self._sample) == 0:
            self._sample = np.arange(0, n, max(1, n // _SAMPLE))
        least = self.delta + 4.0 * doubt_at(self.problem, w)
        return float((distances(self.problem.rows, self._sample, w, least) <= rho).mean())


def _turn(before: Vector, w: Vector) -> float:
    """‖v‖/α of w against weights an epoch ago; 0 where they are opposed or nothing moved."""
    square = float(before @ before)
    alpha = float(w @ before) / square if square > 0.0 else 0.0
    if not alpha > 0.0 or not math.isfinite(square):
        return 0.0
    return math.sqrt(float(np.square(w - alpha * before).sum())) / alpha


@njit(cache=True, nogil=True)
def _visits(epoch: Indices, first: int, place: npt.NDArray[np.int32]) -> tuple[Indices, Indices]:
    """Where the epoch, from ``first`` on, visits a row that has a place, and that place."""
    at = np.empty(len(epoch) - first + 1, dtype=np.int64)
    found = uint64(0)
    for k in range(uint64(first), uint64(len(epoch))):
        at[found] = k  # kept if its row is near; a branch would go by chance
        found += uint64(place[uint64(epoch[k])] >= 0)
    places = np.empty(found, dtype=np.int64)
    for k in range(found):
        places[k] = place[epoch[at[k]]]
    return at[:found].copy(), places


@njit(cache=True, nogil=True)
def _settle(counts: npt.NDArray[np.int32], names: Indices, whole: npt.NDArray[np.int32]) -> None:
    """Move the counts of the named rows to those of all rows."""
    for k in range(len(counts)):
        if counts[k, 0] != 0:
            whole[names[k], 0] += counts[k, 0]
            counts[k, 0] = 0


@njit(cache=True, nogil=True)
def _fill(rows: Rows, which: Indices, w: Vector, margins: Vector, squares: Vector) -> None:
    for i in which:
        margins[i] = dot(rows, i, w)
        squares[i] = max(sqnorm(rows, i), 1e-290)  # squares that vanish must not go unseen
