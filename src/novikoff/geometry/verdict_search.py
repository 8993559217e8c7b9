"""From rows to a finding: the steps of a verdict, cheapest first (see `separability`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.certificate import Kind
from novikoff.geometry.checker import Dependence
from novikoff.geometry.corral import Ending
from novikoff.geometry.duplicates import opposite_duplicates
from novikoff.geometry.faces import contradiction, partition, short_contradiction, simplex_proof
from novikoff.geometry.hulls import Gap, widest_gap
from novikoff.geometry.margin import Interval, Weighing, lower_bound, weigh
from novikoff.geometry.min_norm import (
    Answer,
    View,
    affordable,
    balanced_view,
    descend,
    gap_view,
    nearest_point,
    plain_view,
    search,
    start_rows,
)
from novikoff.geometry.passes import Least, OutOfTimeError, Passes, Sizes

Progress = Callable[[Interval], None]

# The largest square system solved outright, in entries.
_SMALL: Final = 1 << 21
# Rows that contradict each other and are looked at in exact numbers, however wide they are.
_SHORT: Final = 300
_NONE: Final = np.empty(0, dtype=np.int64)


@dataclass
class Finding:
    """What is proved so far.

    ``kind`` is that of the certificate, None while nothing is; ``w`` is exact. ``gap`` is the
    widest between the classes that was found, with a free bias.
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


def find(
    passes: Passes, goal: str, tol: float, limits: Limits, progress: Progress | None
) -> Finding:
    """Find and prove the kind of a problem, and its margins as far as the goal asks.

    The goal "kind" asks for none, "gap" for the one with a free bias, "margin" for both. Where a
    limit is reached, what is proved until then stands.
    """
    work = _Search(passes, goal, tol, limits, progress)
    try:
        with np.errstate(all="ignore"):  # what overflows proves nothing, and stops nothing
            work.go()
    except KeyboardInterrupt:
        limits.interrupted = True
    except OutOfTimeError:
        pass
    return work.found


class _Search:
    def __init__(
        self, passes: Passes, goal: str, tol: float, limits: Limits, progress: Progress | None
    ) -> None:
        self.passes, self.goal, self.tol, self.limits = passes, goal, tol, limits
        self.progress = progress
        one = weigh(passes, np.zeros(1, dtype=np.int64), np.ones(1), tol)
        self.found = Finding(Interval(0.0, one.bound), weighing=one, support=one.rows)

    def go(self) -> None:
        """Go all the way; what is found until then stands if it is cut short."""
        if self._finished():
            return
        passes = self.passes
        self._solve_few_rows()
        if self.found.kind is None and not affordable(passes):
            w = descend(passes, self.limits)
            if w is not None:
                self._try(w)
        if self._finished():
            return
        plain, view = plain_view(passes), balanced_view(passes, self.limits)
        start = start_rows(view)
        if self.goal == "gap" and view.plain:
            self._widen(plain, start)  # its hyperplane separates, if any does
            gap = self.found.gap
            if gap is not None:
                if self.found.kind == "separable":
                    return
                start = np.concatenate([gap.rows, np.setdiff1d(gap.working, gap.rows)])
        if not self._finished() and (self.found.kind is None or view.plain):
            tol = self.tol if view.plain else 1e-6
            answer = search(nearest_point(view), start, tol, self.limits, self._watch)
            start = answer.working
            if self.found.kind is None and answer.ending is not Ending.LIMITED:
                self._refute(view, answer)
        if self.found.kind != "separable" or self._finished():
            return
        if self.goal == "margin" and not view.plain:
            answer = search(nearest_point(plain), start, self.tol, self.limits, self._watch)
            start = answer.working
        self._widen(gap_view(passes, self.limits), start)

    def _finished(self) -> bool:
        if self.limits.reached() is not None:
            return True
        return self.found.kind is not None and self.goal == "kind"

    def _solve_few_rows(self) -> None:
        """With as many columns as rows, a w with ⟨a_i, w⟩ = 1 for all rows may exist."""
        passes = self.passes
        if passes.n > passes.p or passes.n * passes.p > _SMALL:
            return
        A = passes.at(np.arange(passes.n))
        try:  # the shortest such w; whatever rounding does to it, it is checked
            w = A.T @ np.linalg.solve(A @ A.T, np.ones(passes.n))
        except np.linalg.LinAlgError:
            return
        self._try(w)

    def _try(self, w: Vector) -> None:
        """Whether some weights separate all rows."""
        if np.isfinite(w).all():
            self._note_lower(w, self.passes.least(exact.floats(w), self.limits))

    def _watch(self, answer: Answer) -> bool:
        """Take what the search has found into account; True if it may stop."""
        if len(answer.rows) > 0:
            self._note_upper(weigh(self.passes, answer.rows, answer.weights, self.tol))
        self._note_lower(answer.w, answer.seen.proof)
        if self.limits.reached() is not None or self.found.margin.relative_width <= self.tol:
            return True
        return self.found.kind is not None and not (self.goal == "margin" and answer.plain)

    def _note_lower(self, w: Vector, proof: Least | None) -> None:
        """Take w into account: if it separates, the data is separable, and γ has a bound."""
        if proof is None or not proof.separates:
            return
        found = self.found
        lo = min(lower_bound(proof.all, proof.w), found.margin.hi)
        if found.kind is None or lo > found.margin.lo:
            found.w = [Fraction(value) for value in w.tolist()]
            found.margin = found.margin._replace(lo=lo)
            found.geometric_margin = found.geometric_margin._replace(lo=lo)
        if found.kind != "separable":
            found.kind, found.separated = "separable", np.arange(self.passes.n)
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

    def _widen(self, view: View, start: Indices) -> None:
        """The margin with a free bias."""
        passes, found = self.passes, self.found
        if not passes.fit_intercept:
            found.geometric_margin = found.margin
        elif (passes.signs == passes.signs[0]).all():
            found.geometric_margin = Interval(math.inf, math.inf)
        else:
            gap = widest_gap(view, start, self.tol, self.limits)
            if self.goal == "gap" and len(gap.rows) > 0:
                weights = np.array([float(value) for value in gap.weights])
                self._note_upper(weigh(passes, gap.rows, weights, self.tol))
                self._note_lower(gap.w, gap.proof)
            lo = min(max(gap.margin.lo, found.geometric_margin.lo), gap.margin.hi)
            found.geometric_margin, found.gap = Interval(lo, gap.margin.hi), gap

    def _refute(self, view: View, answer: Answer) -> None:
        """Not separable, it seems: prove it, and find out which rows can be separated."""
        passes, found = self.passes, self.found
        pair = opposite_duplicates(passes, self.limits)
        if pair is not None:
            self._contradict(Dependence((), (), True, pair))
        claim = found.dependence = self._prove_simplex(answer)
        if claim is not None:
            self._deny("inseparable", answer.rows if pair is None else found.support)
        elif pair is None and (affordable(passes) or _is_short(answer)):
            claim = contradiction(view, answer.rows, answer.weights, self.limits)
        if pair is None and claim is not None:
            self._contradict(claim)
        if found.dependence is None and affordable(passes):
            self._divide(view, answer.rows)

    def _prove_simplex(self, answer: Answer) -> Dependence | None:
        """Whether the rows of the answer have the origin inside their simplex, and span all."""
        passes = self.passes
        used = np.arange(passes.p)
        if len(answer.rows) != passes.p + 1:
            if not 0 < len(answer.rows) <= passes.p:
                return None
            peaks = passes.over(Sizes(np.ones(passes.p)), self.limits).peaks
            used = np.flatnonzero(peaks)
        return simplex_proof(passes, answer.rows, answer.weights, used)

    def _contradict(self, claim: Dependence) -> None:
        """No w separates the rows of the claim."""
        self.found.contradiction = claim
        self._deny(self.found.kind or "not separable", np.array(claim.among, dtype=np.int64))

    def _deny(self, kind: Kind, support: Indices) -> None:
        """There is no margin."""
        self.found.kind, self.found.support, self.found.weighing = kind, support, None
        self.found.margin = self.found.geometric_margin = Interval(0.0, 0.0)
        self.found.gap = None
        self._tell()

    def _divide(self, view: View, start: Indices) -> None:
        passes, found = self.passes, self.found
        everything = np.ones(passes.n, dtype=np.bool_)
        parts = partition(view, everything, self.limits, start)
        found.w, found.separated = parts.w, parts.separated
        found.dependence = parts.dependence
        if parts.dependence is None:
            found.kind = "separable"
            w = exact.numbers(parts.w or [])
            lo = lower_bound(passes.least(w, self.limits).all, w)
            found.margin = found.margin._replace(lo=lo)
            found.geometric_margin = found.geometric_margin._replace(lo=lo)
            return
        self._deny("quasi-separable" if len(parts.separated) > 0 else "inseparable", found.support)
        if found.contradiction is None:
            left = everything & ~passes.mask(parts.separated)
            found.contradiction = short_contradiction(view, left, self.limits)
        if found.contradiction is not None:
            found.support = np.array(found.contradiction.among, dtype=np.int64)


def _is_short(answer: Answer) -> bool:
    """Whether so few rows seem to contradict each other that exact numbers are no burden."""
    return answer.ending is Ending.FITTED and len(answer.rows) <= _SHORT
