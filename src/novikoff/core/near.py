"""Work only where mistakes can be.

Let w_s be some weights, the *anchor*, and g_i = ⟨a_i, w_s⟩. Write w = α·w_s + v with v ⊥ w_s. As
long as ‖v‖ ≤ α·ρ, a row with (g_i − δ)/‖a_i‖ > ρ has ⟨a_i, w⟩ > δ: it cannot be a mistake, and
need not be looked at. The rows that are left, the *near* ones, are gathered in a small block
and swept in their usual order, until w has turned too far and a new anchor is cast. α and
‖v‖ follow from numbers that an update has at hand.

Every bound has an allowance for rounding, so that the mistakes are those of the plain loop,
one for one (`Problem.rounding`). Whether it pays is found out on the way: an anchor costs a
pass or two, and is cast only where many passes over few rows should follow.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.margins import UNDERFLOW, norm_bound
from novikoff.core.problem import Problem
from novikoff.core.readahead import out_of_cache
from novikoff.core.rows import Csr, Dense, Indices, Rows, Unsigned, Vector, dot, sqnorm

if TYPE_CHECKING:
    from novikoff.core.ledger import Ledger

# Epochs before the first attempt; after a vain one, so many times as many.
_FIRST_TRY, _PAUSE = 40, 1.25
# Problems smaller than this are done before it could pay, in entries.
_WORTHWHILE = 1 << 17
# What an anchor costs, and what an epoch costs however few rows are near, in epochs.
_ANCHOR, _OVERHEAD = 2.0, 0.05
# The cost of an epoch, in plain ones, below which it is worth while.
_GAIN = 0.7
# So many rows tell what would pay.
_SAMPLE = 2048
# Near rows are copied if they are at most this share of the data.
_COPIED = 1 / 8


class Near(NamedTuple):
    """The near rows of an anchor, for the loop. Empty and not ``guarding`` by default."""

    guarding: bool
    names: Indices  # the number of each row among all, or empty
    clock: Indices  # the step of each visit, or empty
    margins: Vector  # g_i
    squares: Vector  # ‖a_i‖²
    state: Vector  # ‖w‖², ⟨w, w_s⟩, ‖w_s‖², doubt in the former, ρ, least α, whether broken


def everywhere() -> Near:
    """No anchor: every row is looked at."""
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return Near(False, none, none, empty, empty, np.zeros(7))


@njit(cache=True, nogil=True)
def still_near(near: Near, i: int, step: float, m: float, doubt: float) -> bool:
    """Enter an update on row i, whose margin was m, and tell whether the anchor still holds."""
    state = near.state
    state[0] += 2.0 * step * m + step * step * near.squares[i]
    state[1] += step * near.margins[i]
    state[3] += 16.0 * step * doubt + 8e-15 * state[0]
    alpha = state[1] / state[2]
    across = max(state[0] - state[1] * alpha, 0.0) + state[3]
    reach = alpha * state[4]
    holds = alpha >= state[5] and state[0] <= 4.0 * state[2] and across <= reach * reach
    if not holds:
        state[6] = 1.0
    return bool(holds)


class Anchor:
    """Near rows, cast anew whenever w has turned too far.

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
        entries = _rows.nbytes(problem.rows) // 8
        fits = entries >= _WORTHWHILE and 1e-100 < problem.radius < 1e100
        self.possible = fits and (weights is None or bool((weights > 0.0).all()))
        self.holds = False
        self._sample: Rows | None = None
        # In E epochs w turns by about swing + drift·√E, as ρ: to and fro, and away.
        self.swing = self.drift = 0.0
        self._next_try, self._epochs, self._since = _FIRST_TRY, 0, 0.0
        self._looked, self._passed = 0.0, 0.0
        self._visits: tuple[Indices, Indices] | None = None

    def note_epoch(self, before: Vector, w: Vector) -> None:
        """An epoch without anchor went by; cast one if it should pay."""
        self._epochs += 1
        if not self.possible or self._epochs < self._next_try:
            return
        self.drift = _turn(before, w)
        if self.drift <= 0.0 or not self.cast(w):
            self._next_try = int(self._epochs * _PAUSE) + 1

    def cast(self, w: Vector) -> bool:
        """Find the rows near w, for the turn that pays best; False if none does."""
        problem = self.problem
        size = norm_bound(w)
        square = float(w @ w)
        doubt = 2.0 * problem.rounding() * size + UNDERFLOW
        self.holds = False
        if not 1e-150 < square < 1e150:
            return False
        least_margin = self.delta + 4.0 * doubt
        if self._sample is None:  # it tells which turn would pay
            step = max(1, problem.n // _SAMPLE)
            self._sample = _gathered(problem.rows, np.arange(0, problem.n, step))
        distances = np.empty(len(self._sample.signs))
        _distances(self._sample, 0, len(distances), w, least_margin, distances)
        rho = _best_turn(np.sort(distances), self.swing, self.drift)
        if rho <= 0.0:
            return False
        distances = np.empty(problem.n)
        self._measure(w, least_margin, distances)
        chosen = np.flatnonzero(distances <= rho)
        self.gathered = len(chosen) <= _COPIED * problem.n
        self.rows = _gathered(problem.rows, chosen) if self.gathered else problem.rows
        self.names = chosen if self.gathered else np.empty(0, dtype=np.int64)
        margins = np.empty(_rows.count(self.rows))
        squares = np.empty_like(margins)
        _fill(self.rows, w, margins, squares)
        self.place = np.full(problem.n, -1, dtype=np.int32)
        self.place[chosen] = np.arange(len(chosen)) if self.gathered else chosen
        # With δ > 0 a shrinking α would eat into the margins: (αg − δ) < α(g − δ).
        least = 1.0 if self.delta > 0.0 else 0.5
        state = np.array([square, square, square, 1e-13 * square, rho, least, 0.0])
        none = np.empty(0, dtype=np.int64)
        self.near = Near(True, self.names, none, margins, squares, state)
        self.holds, self._since = True, 0.0
        self._visits = None
        return True

    def visits(self, epoch: Indices, first: int) -> tuple[Indices, Indices]:
        """Where in the epoch, from ``first`` on, a near row is visited, and as which."""
        if first == 0 and self.steady and self._visits is not None:
            return self._visits
        places = self.place[epoch[first:]]
        at = np.flatnonzero(places >= 0)
        found = at + first, places[at].astype(np.int64)
        if first == 0:
            self._visits = found
        return found

    def books(self, ledger: Ledger, near: Near) -> Ledger:
        """The run's ledger, for the near rows."""
        self._counts = ledger.counts
        weights = ledger.weights
        if self.gathered:
            self._counts = np.zeros((len(self.names) if len(ledger.counts) > 0 else 0, 1), np.int32)
            weights = weights[self.names] if len(weights) > 0 else weights
        return ledger._replace(
            weights=weights, counts=self._counts, near=near, far=out_of_cache(self.rows)
        )

    def settle(self, ledger: Ledger) -> None:
        """Enter the near rows' updates in the run's own ledger."""
        if self.gathered and len(ledger.counts) > 0:
            ledger.counts[self.names] += self._counts

    def give_up_if_vain(self, share: float, passes: float) -> None:
        """Note what an epoch has cost; if it is not less than a plain one, stop for a while."""
        self._epochs += 1
        self._since += 1.0
        self._looked = 0.8 * self._looked + share + _OVERHEAD + _ANCHOR * passes
        self._passed = 0.8 * self._passed + 1.0
        if self._passed > 3.0 and self._looked > 0.9 * self._passed:
            self.holds, self._looked, self._passed = False, 0.0, 0.0
            self._next_try = int(self._epochs * _PAUSE) + 1

    @property
    def broken(self) -> bool:
        """Whether w has turned too far for the anchor."""
        return bool(self.near.state[6] > 0.0)

    def recast(self, w: Vector, share: float) -> None:
        """Cast anew: w turned by ρ in the epochs since the last time, and this share of one."""
        rho, epochs = float(self.near.state[4]), self._since + share
        if epochs < 1.0:
            self.swing = rho
        else:
            self.drift = max(rho - self.swing, 0.5 * rho) / math.sqrt(epochs)
            self.swing *= 0.9
        self.cast(w)

    def _measure(self, w: Vector, least: float, out: Vector) -> None:
        edges = np.linspace(0, len(out), self.threads + 1).astype(np.int64).tolist()

        def part(k: int) -> None:
            _distances(self.problem.rows, edges[k], edges[k + 1], w, least, out)

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(part, range(self.threads)))


def _turn(before: Vector, w: Vector) -> float:
    """‖v‖/α of w against weights an epoch ago; 0 where they are opposed or nothing moved."""
    square = float(before @ before)
    alpha = float(w @ before) / square if square > 0.0 else 0.0
    if not alpha > 0.0 or not math.isfinite(square):
        return 0.0
    return math.sqrt(float(np.square(w - alpha * before).sum())) / alpha


def _best_turn(sample: Vector, swing: float, drift: float) -> float:
    """The ρ with the least cost of an epoch, or 0 if that is not well below a plain one."""
    steps = 2.0 ** np.arange(-1, 7)
    turns = swing + drift * steps
    shares = np.searchsorted(sample, turns, side="right") / len(sample)
    costs = shares + _OVERHEAD + _ANCHOR / np.square(steps)
    best = int(np.argmin(costs))
    return float(turns[best]) if costs[best] < _GAIN else 0.0


def _gathered(rows: Rows, chosen: Indices) -> Rows:
    """The chosen rows side by side."""
    signs = rows.signs[chosen]
    if isinstance(rows, Dense):
        return Dense(_rows.frozen(rows.X[chosen]), _rows.frozen(signs), rows.bias)
    starts = rows.indptr[:-1][chosen].astype(np.int64)
    lengths = (rows.indptr[1:][chosen] - rows.indptr[:-1][chosen]).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    edges: Unsigned = ends.astype(np.uint64)
    if rows.indptr.dtype == np.uint32:
        edges = ends.astype(np.uint32)
    at = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return Csr(
        _rows.frozen(rows.data[at]),
        _rows.frozen(rows.indices[at]),
        _rows.frozen(edges),
        _rows.frozen(signs),
        rows.bias,
        rows.d,
    )


@njit(cache=True, nogil=True)
def _distances(rows: Rows, first: int, last: int, w: Vector, least: float, out: Vector) -> None:
    """(⟨a_i, w⟩ − least)/‖a_i‖, rounded down a little; −∞ for rows without length."""
    for i in range(first, last):
        length = math.sqrt(sqnorm(rows, i)) * (1.0 + 1e-12)
        found = (dot(rows, i, w) - least) / length if length > 1e-150 else -np.inf
        out[i] = found * (1.0 - 1e-12) if abs(found) < np.inf else -np.inf


@njit(cache=True, nogil=True)
def _fill(rows: Rows, w: Vector, margins: Vector, squares: Vector) -> None:
    for i in range(len(margins)):
        margins[i] = dot(rows, i, w)
        squares[i] = max(sqnorm(rows, i), 1e-290)  # squares that vanish must not go unseen
