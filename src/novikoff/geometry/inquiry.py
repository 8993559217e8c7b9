"""From rows to a finding: the steps of a verdict, cheapest first (see `separability`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from novikoff.core.cores import cores
from novikoff.core.orders import Cyclic
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.updates import Perceptron
from novikoff.geometry import exact
from novikoff.geometry.certificate import Kind
from novikoff.geometry.checker import Dependence
from novikoff.geometry.faces import contradiction, one_stroke, partition, short_contradiction
from novikoff.geometry.hulls import Gap, widest_gap
from novikoff.geometry.margin import (
    Interval,
    Weighing,
    exact_lower_bound,
    lower_bound,
    separates,
    weigh,
)
from novikoff.geometry.min_norm import (
    Answer,
    Ending,
    View,
    affordable,
    balanced_view,
    batch_of,
    capacity,
    nearest_point,
    plain_view,
    room_for,
    search,
)
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.room import OutOfRoomError
from novikoff.geometry.twins import opposite_twins

# Epochs of the perceptron before geometry takes over.
_EPOCHS: Final = 3
# The same where the problem is too wide for geometry alone.
_MANY_EPOCHS: Final = 1000
# So many rows carry the perceptron's own bound at most.
_FEW: Final = 2000
# The largest square system solved outright, in entries.
_SMALL: Final = 1 << 21
# So many rows that contradict each other are looked at in exact numbers, however wide they are.
_SHORT: Final = 300
_NONE: Final = np.empty(0, dtype=np.int64)


@dataclass
class Finding:
    """What is proved so far.

    ``kind`` is that of the certificate, None while nothing is; ``w`` is exact. ``wanted`` are the
    bytes of room in which more could be proved; 0 where room was no obstacle.
    """

    margin: Interval
    kind: Kind | None = None
    w: list[Fraction] | None = None
    weighing: Weighing | None = None
    separated: Indices = field(default_factory=_NONE.copy)
    support: Indices = field(default_factory=_NONE.copy)
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    gap: Gap | None = None
    geometric_margin: Interval = field(default_factory=lambda: Interval(0.0, math.inf))
    wanted: int = 0


def inquire(
    data: Data,
    goal: str,
    tol: float,
    limits: Limits,
    progress: Callable[[Interval], None] | None,
) -> Finding:
    """Find and prove the kind of a problem, and its margins as far as the goal asks.

    The goal "kind" asks for none, "gap" for the one with a free bias, "margin" for both.
    """
    return pursued(_Inquiry(data, goal, tol, limits, progress), limits)


class Inquiry(Protocol):
    """Something on its way to a finding."""

    found: Finding

    def pursue(self) -> None:
        """Go all the way; what is found until then stands if it is cut short."""


def pursued(inquiry: Inquiry, limits: Limits) -> Finding:
    """What an inquiry finds, in the end or until its time is over."""
    try:
        with np.errstate(all="ignore"):  # what overflows proves nothing, and stops nothing
            inquiry.pursue()
    except KeyboardInterrupt:
        limits.interrupted = True
    except OutOfTimeError:
        pass
    except OutOfRoomError as error:
        inquiry.found.wanted = error.wanted
    return inquiry.found


class _Inquiry:
    def __init__(
        self,
        data: Data,
        goal: str,
        tol: float,
        limits: Limits,
        progress: Callable[[Interval], None] | None,
    ) -> None:
        self.data, self.goal, self.tol, self.limits = data, goal, tol, limits
        self.progress = progress
        one = weigh(data, np.zeros(1, dtype=np.int64), np.ones(1), tol)
        self.found = Finding(Interval(0.0, one.bound), weighing=one, support=one.rows)

    def pursue(self) -> None:
        if self._finished():
            return
        start = self._train()
        self._solve_few_rows()
        plain, view = plain_view(self.data), balanced_view(self.data)
        if self.goal == "gap" and view.plain and not self._finished():
            self._widen(plain, start)  # its hyperplane separates, if any does
            if self.found.gap is not None:
                if self.found.kind == "separable":
                    return
                start = _first(self.found.gap.rows, self.found.gap.working)
        if not self._finished() and (self.found.kind is None or view.plain):
            tol = self.tol if view.plain else 1e-6
            answer = search(nearest_point(view), start, tol, self.limits, self._watch)
            start = answer.working
            self._note_room(len(answer.vertices[0]))
            if self.found.kind is None and answer.ending is not Ending.LIMITED:
                self._refute(view, answer)
        if self.found.kind != "separable" or self._finished():
            return
        if self.goal == "margin" and not view.plain:
            answer = search(nearest_point(plain), start, self.tol, self.limits, self._watch)
            start = answer.working
            self._note_room(len(answer.vertices[0]))
        self._widen(plain, start)

    def _note_room(self, members: int) -> None:
        """Whether the corral became as large as it may, but not as it might."""
        data = self.data
        if data.room is not None and capacity(data) <= members < min(data.p + 1, data.n):
            self.found.wanted = room_for(data, min(data.p + 1, data.n, 2 * members))

    def _finished(self) -> bool:
        if self.limits.reached() is not None:
            return True
        return self.found.kind is not None and self.goal == "kind"

    def _train(self) -> Indices:
        """Run the perceptron; return rows to begin with: least margins, most mistakes."""
        data = self.data
        epochs = _EPOCHS if affordable(data) else _MANY_EPOCHS
        brief = Limits(epochs=epochs, seconds=self.limits.left())
        batch = batch_of(data)
        try:
            ended = run(
                data.problem,
                Perceptron(),
                Cyclic(),
                brief,
                np.random.default_rng(0),
                threads=cores() if data.huge else 1,
            )
        except ValueError:  # the weights left the range of float64
            return np.arange(min(batch, data.n))
        if ended.stops[0] is Stop.INTERRUPTED:
            self.limits.interrupted = True
        w = ended.W[:, 0].copy()
        counts = ended.ledger.counts[:, 0]
        erred = np.flatnonzero(counts)
        if 0 < len(erred) <= _FEW:
            self._note_upper(weigh(data, erred, counts[erred].astype(np.float64), self.tol))
        products = data.products(w)
        self._note_lower(w, products)
        least = _smallest(products, batch)
        most = erred[_smallest(-counts[erred], batch)]
        return np.union1d(least, most)

    def _solve_few_rows(self) -> None:
        """With as many columns as rows, a w with ⟨a_i, w⟩ = 1 for all rows may exist."""
        data = self.data
        if data.n > data.p or data.n * data.p > _SMALL or self.found.kind is not None:
            return
        A = data.table.at(np.arange(data.n))
        try:  # the shortest such w; whatever rounding does to it, it is checked
            found = A.T @ np.linalg.solve(A @ A.T, np.ones(data.n))
        except np.linalg.LinAlgError:
            return
        if np.isfinite(found).all():
            w = np.zeros(data.problem.p)
            w[: data.p] = found
            self._note_lower(w, data.products(w))

    def _watch(self, answer: Answer) -> bool:
        """Take what the search has found into account; True if it may stop."""
        if len(answer.rows) > 0:
            self._note_upper(weigh(self.data, answer.rows, answer.weights, self.tol))
        self._note_lower(answer.w, answer.products)
        if self.limits.reached() is not None or self.found.margin.relative_width <= self.tol:
            return True
        return self.found.kind is not None and not (self.goal == "margin" and answer.plain)

    def _note_lower(self, w: Vector, products: Vector) -> None:
        """Take w into account: if it separates, the data is separable, and γ has a bound."""
        if not (float(products.min()) > 0.0 and np.isfinite(w).all()):
            return
        if not separates(self.data, w, products):
            return
        found = self.found
        lo = min(lower_bound(self.data, w, products, self.tol), found.margin.hi)
        if found.kind is None or lo > found.margin.lo:
            found.w = [Fraction(float(value)) for value in w[: self.data.p]]
            found.margin = found.margin._replace(lo=lo)
            found.geometric_margin = found.geometric_margin._replace(lo=lo)
        if found.kind != "separable":
            found.kind, found.separated = "separable", np.arange(self.data.n)
        self._tell()

    def _note_upper(self, weighing: Weighing) -> None:
        found = self.found
        if weighing.bound < found.margin.hi:
            found.weighing = weighing
            found.support = np.sort(weighing.rows)
            found.margin = found.margin._replace(hi=weighing.bound)
            self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.found.margin)

    def _widen(self, plain: View, start: Indices) -> None:
        """The margin with a free bias."""
        signs = self.data.problem.rows.signs
        if not self.data.table.fit_intercept:
            self.found.geometric_margin = self.found.margin
        elif (signs == signs[0]).all():
            self.found.geometric_margin = Interval(math.inf, math.inf)
        else:
            gap = widest_gap(plain, start, self.tol, self.limits)
            if self.goal == "gap" and len(gap.rows) > 0:
                self._note_upper(weigh(self.data, gap.rows, gap.weights, self.tol))
                self._note_lower(gap.w, self.data.products(gap.w))
            lo = max(gap.margin.lo, self.found.geometric_margin.lo)
            self.found.geometric_margin = Interval(lo, gap.margin.hi)
            self.found.gap = gap
            if gap.margin.relative_width > self.tol:
                self._note_room(len(gap.rows))

    def _refute(self, view: View, answer: Answer) -> None:
        """Not separable, it seems: prove it, and find out which rows can be separated."""
        data, found = self.data, self.found
        twins = opposite_twins(data)
        if twins is not None:
            self._contradict(Dependence((), (), True, twins))
        claim = found.dependence = one_stroke(data, answer.rows, answer.weights)
        if claim is not None:
            self._deny("inseparable", answer.rows if twins is None else found.support)
        elif twins is None and (self._is_worth_trying() or _is_short(answer)):
            claim = contradiction(view, answer.rows, answer.weights, self.limits)
        if twins is None and claim is not None:
            self._contradict(claim)
        if found.dependence is None and self._is_worth_trying():
            self._divide(view, answer.rows)

    def _is_worth_trying(self) -> bool:
        """Whether rows may be partitioned; what does not fit into a limited room will show."""
        return self.data.room is not None or affordable(self.data)

    def _contradict(self, claim: Dependence) -> None:
        """No w separates the rows of the claim."""
        self.found.contradiction = claim
        self._deny(self.found.kind or "not separable", np.array(claim.among, dtype=np.int64))

    def _deny(self, kind: Kind, support: Indices) -> None:
        """There is no margin."""
        self.found.kind, self.found.support, self.found.weighing = kind, support, None
        self.found.margin = self.found.geometric_margin = Interval(0.0, 0.0)
        self._tell()

    def _divide(self, view: View, start: Indices) -> None:
        data, found = self.data, self.found
        parts = partition(view, np.arange(data.n), self.limits, start)
        found.w, found.separated = parts.w, parts.separated
        found.dependence = parts.dependence
        if parts.dependence is None:
            found.kind = "separable"
            lo = exact_lower_bound(data, exact.numbers(parts.w or []))
            found.margin = found.margin._replace(lo=lo)
            found.geometric_margin = found.geometric_margin._replace(lo=lo)
            return
        self._deny("quasi-separable" if len(parts.separated) > 0 else "inseparable", found.support)
        if found.contradiction is None:
            left = np.setdiff1d(np.arange(data.n), parts.separated)
            found.contradiction = short_contradiction(view, left, self.limits)
        if found.contradiction is not None:
            found.support = np.array(found.contradiction.among, dtype=np.int64)


def spread(w: list[Fraction], columns: Indices, d: int) -> list[Fraction]:
    """Weights for all columns from those for some, the bias last."""
    out = [Fraction(0)] * d
    for j, value in zip(columns.tolist(), w, strict=False):
        out[j] = value
    return out + w[len(columns) :]


def _is_short(answer: Answer) -> bool:
    """Whether so few rows seem to contradict each other that exact numbers are no burden."""
    return answer.ending is Ending.FITTED and len(answer.rows) <= _SHORT


def _first(some: Indices, all_rows: Indices) -> Indices:
    return np.concatenate([some, np.setdiff1d(all_rows, some)])


def _smallest(values: Vector | npt.NDArray[np.int32], k: int) -> Indices:
    return np.argpartition(values, k)[:k] if len(values) > k else np.arange(len(values))
