"""From rows to a finding: the steps of a verdict, cheapest first (see `separability`).

1. Weights that cost little, where rows are few or too many: if they separate, that is the kind.
2. The point z of the hull nearest to the origin (`min_norm`). If z is not 0, it separates, and
   its length is the margin γ; with a free bias, the nearest points of the two hulls say the same.
3. If z = 0, the origin is a combination of rows with λ ≥ 0: a contradiction, which is proved.
4. Which rows can be separated even so (`faces`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Ending
from novikoff.geometry.duplicates import opposite_duplicates
from novikoff.geometry.faces import contradiction, partition, short_contradiction, simplex_proof
from novikoff.geometry.margin import Interval, lower_bound, upper_bound, widest_gap
from novikoff.geometry.min_norm import Iterate, affordable, minimise, nearest_point, start_rows
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, Passes, check_time
from novikoff.geometry.view import View, balanced_view, gap_view, plain_view
from novikoff.geometry.visits import LeastProducts, RowSet, Sizes
from novikoff.proofs import exact
from novikoff.proofs.certificate import GeometricMargin, Kind, Margin
from novikoff.proofs.dependence import Dependence

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

IntervalProgress = Callable[[Interval], None]

# The most entries of rows for which a system is solved outright.
_MAX_SOLVED_ENTRIES: Final = 1 << 24
# Remote rows that are compared with each other.
_MAX_COMPARED_ROWS: Final = 1 << 16
# Rows that contradict each other and are looked at in exact numbers, however wide they are.
_MAX_EXACT_ROWS: Final = 300


@dataclass
class SearchResult:
    """What is proved so far: the claims of a certificate, and the rows that w separates.

    ``kind`` is None while neither w nor a contradiction is known; the margin bounds γ even then.
    """

    margin: Margin
    kind: Kind | None = None
    w: tuple[Fraction, ...] | None = None
    geometric_margin: GeometricMargin | None = None
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    separated: RowSet | None = None  # None: none, or all if it is separable
    n_separated: int = 0

    def spread(self, columns: Indices, d: int) -> SearchResult:
        """The same of rows with d columns, of which these were looked at, and all others are 0."""

        def widened(w: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
            wide = [Fraction(0)] * d + list(w[len(columns) :])
            for column, value in zip(columns.tolist(), w, strict=False):
                wide[column] = value
            return tuple(wide)

        gap = self.geometric_margin
        return replace(
            self,
            w=self.w and widened(self.w),
            geometric_margin=gap and replace(gap, w=widened(gap.w)),
        )


def search_verdict(
    passes: Passes, goal: str, tol: float, limits: Limits, progress: IntervalProgress | None
) -> SearchResult:
    """Find and prove the kind of a problem, and its margins as far as the goal asks.

    The goal "kind" asks for no margin, the goal "margin" for both margins: with the bias as a
    weight, and with a free bias. If a limit is reached, everything that is proved by then counts.
    """
    narrow = passes.without_empty_columns()
    if narrow is not None:  # w is 0 on the other columns
        return search_verdict(narrow[0], goal, tol, limits, progress).spread(narrow[1], passes.d)
    work = _Search(passes, goal, tol, limits, progress)
    try:
        # What overflows proves nothing, and stops nothing.
        with np.errstate(all="ignore"), one_blas_thread():
            work.go()
    except KeyboardInterrupt:
        limits.interrupted = True
    except OutOfTimeError:
        pass
    return work.found


@dataclass
class _Search:
    """What is asked for, and what is found so far."""

    passes: Passes
    goal: str
    tol: float
    limits: Limits
    progress: IntervalProgress | None
    found: SearchResult = field(init=False)

    def __post_init__(self) -> None:
        one = (Fraction(1),)  # λ on the first row alone
        hi = upper_bound(self.passes, np.zeros(1, dtype=np.int64), one, self.tol)
        self.found = SearchResult(Margin(0.0, hi, (0,), one))

    def go(self) -> None:
        """Go all the way; what is found until then stands if it is cut short."""
        passes, found, goal = self.passes, self.found, self.goal
        self._try_cheap_weights()
        if found.kind is not None and goal == "kind":
            return
        view = balanced_view(passes, self.limits)
        start = start_rows(view)
        if found.kind is None and passes.n <= passes.p and self._deny_duplicates():
            if affordable(passes):
                self._divide(view, start)
            return
        # The point of the hull nearest to the origin: either it separates, or the origin itself
        # lies in the hull. Balanced rows tell the kind, rows as they are the margin too.
        if found.kind is None or view.plain:
            tol = self.tol if view.plain else 1e-6
            answer = minimise(nearest_point(view), start, tol, self.limits, self._watch)
            start = answer.working
            if found.kind is None and answer.ending is not Ending.LIMITED:
                self._refute(view, answer)
        if found.kind != "separable" or goal == "kind":
            return
        if not view.plain:
            objective = nearest_point(plain_view(passes))
            start = minimise(objective, start, self.tol, self.limits, self._watch).working
        self._widen(gap_view(passes, self.limits), start)

    def _try_cheap_weights(self) -> None:
        """Weights that cost little: where rows are few, or too many for the engine."""
        passes = self.passes
        w = None
        if passes.n <= passes.p and passes.n * passes.p <= _MAX_SOLVED_ENTRIES:
            w = _weights_of_few_rows(passes)
        self._try(w)
        if self.found.kind is None and not affordable(passes) and isinstance(passes, LocalPasses):
            self._try(_hinge_weights(passes, self.limits))

    def _try(self, w: Vector | None) -> None:
        """Whether some weights separate all rows."""
        if w is not None and np.isfinite(w).all():
            self._take_weights(w, self.passes.least_products(exact.floats(w), self.limits))

    def _watch(self, answer: Iterate) -> bool:
        """Take what the search has found into account; True if it may stop."""
        if len(answer.rows) > 0:
            weights = tuple(map(Fraction, answer.multipliers.tolist()))
            self._take_multipliers(answer.rows, weights)
        self._take_weights(answer.w, answer.seen.proof)
        if self._interval().relative_width <= self.tol:
            return True
        return self.found.kind is not None and not (self.goal == "margin" and answer.plain)

    # What is proved is taken into the finding; a better bound replaces the one before.

    def _take_weights(self, w: Vector, least: LeastProducts | None) -> None:
        """If w separates all rows, the data is separable, and γ has a lower bound."""
        if least is None or not least.separates:
            return
        found = self.found
        lo = min(lower_bound(least.all, least.w), found.margin.hi)
        if found.kind is None or lo > found.margin.lo:
            found.kind, found.w = "separable", tuple(map(Fraction, w.tolist()))
            found.margin = replace(found.margin, lo=lo)
            self._tell()

    def _take_multipliers(self, rows: Indices, weights: tuple[Fraction, ...]) -> None:
        """Any λ ≥ 0 gives an upper bound on γ."""
        hi = upper_bound(self.passes, rows, weights, self.tol)
        if hi < self.found.margin.hi:
            self.found.margin = Margin(self.found.margin.lo, hi, tuple(rows.tolist()), weights)
            self._tell()

    def _interval(self) -> Interval:
        return Interval(self.found.margin.lo, self.found.margin.hi)

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self._interval())

    def _widen(self, view: View, start: Indices) -> None:
        """Find the margin with a free bias, if there are two classes."""
        if self.passes.fit_intercept and len(self.passes.first_rows) == 2:
            self.found.geometric_margin = widest_gap(view, start, self.tol, self.limits)

    # Not separable, it seems.

    def _refute(self, view: View, answer: Iterate) -> None:
        """Prove that no w separates all rows, and find out which rows can be separated."""
        passes, found = self.passes, self.found
        denied = passes.n > passes.p and self._deny_duplicates()
        found.dependence = self._prove_simplex(answer)
        if found.dependence is not None:
            self._deny("inseparable", found.contradiction or found.dependence)
            return
        if not denied and (affordable(passes) or _is_short(answer)):
            claim = contradiction(view, answer.rows, answer.multipliers, self.limits)
            if claim is not None:
                self._deny("not separable", claim)
        if affordable(passes):
            self._divide(view, answer.rows)

    def _deny_duplicates(self) -> bool:
        """Whether two equal rows have opposite signs: no w separates them.

        Remote rows are compared where they are few: hashes of all would have to come here.
        """
        if self.passes.remote and self.passes.n > max(self.passes.p, _MAX_COMPARED_ROWS):
            return False
        pair = opposite_duplicates(self.passes, self.limits)
        if pair is not None:
            self._deny("not separable", Dependence((), (), True, pair))
        return pair is not None

    def _prove_simplex(self, answer: Iterate) -> Dependence | None:
        """Whether the rows of the answer have the origin inside their simplex, and span all."""
        passes = self.passes
        used = np.arange(passes.p)
        if len(answer.rows) != passes.p + 1:
            if not 0 < len(answer.rows) <= passes.p:
                return None
            peaks = passes.over(Sizes(np.ones(passes.p)), self.limits).peaks
            used = np.flatnonzero(peaks)
        return simplex_proof(passes, answer.rows, answer.multipliers, used)

    def _deny(self, kind: Kind, claim: Dependence | None) -> None:
        """No w separates the rows of the claim, and there is no margin."""
        self.found.kind, self.found.contradiction = kind, claim
        self.found.margin, self.found.geometric_margin = Margin(0.0, 0.0, (), ()), None
        self._tell()

    def _divide(self, view: View, start: Indices) -> None:
        """Which rows can be separated, in exact numbers."""
        passes, found = self.passes, self.found
        parts = partition(view, passes.all_rows(), self.limits, start)
        found.w = None if parts.w is None else tuple(parts.w)
        found.separated, found.n_separated = parts.separated, passes.size(parts.separated)
        found.dependence = parts.dependence
        if parts.dependence is None:  # all of them: floats could not tell
            w = exact.numbers(parts.w or [])
            found.kind = "separable"
            lo = lower_bound(passes.least_products(w, self.limits).all, w)
            found.margin = replace(found.margin, lo=lo)
            return
        self._deny("quasi-separable" if found.w else "inseparable", found.contradiction)
        if found.contradiction is None:
            rows = np.array(parts.dependence.rows, dtype=np.int64)
            found.contradiction = short_contradiction(view, parts.left, rows, self.limits)


def _weights_of_few_rows(passes: Passes) -> Vector | None:
    """The shortest w with ⟨a_i, w⟩ = 1 for all rows, but for rounding; None if there is none."""
    A = passes.at(np.arange(passes.n))
    try:
        return np.asarray(A.T @ np.linalg.solve(A @ A.T, np.ones(passes.n)))
    except np.linalg.LinAlgError:
        return None


def _hinge_weights(passes: LocalPasses, limits: Limits) -> Vector:
    """The w for which L-BFGS finds the least Σ max(0, 1 − ⟨a_i, w⟩)².

    It may stop below 1: then no row is on the wrong side, but for rounding.
    """
    from scipy.optimize import minimize

    X, signs = passes.X, passes.signs / passes.unit
    padding = 1.0 if passes.fit_intercept else 0.0

    def loss(w: Vector) -> tuple[float, Vector]:
        check_time(limits)
        short = np.maximum(1.0 - (X @ w[:-1] + padding * w[-1]) * signs, 0.0)
        pull = -2.0 * short * signs
        return float(short @ short), np.append(X.T @ pull, padding * float(pull.sum()))

    def stop(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun < 1.0:
            raise StopIteration

    found = minimize(loss, np.zeros(passes.d + 1), jac=True, method="L-BFGS-B", callback=stop)
    return np.asarray(found.x[: passes.p])


def _is_short(answer: Iterate) -> bool:
    """Whether the rows that seem to contradict each other are few enough for exact numbers."""
    return answer.ending is Ending.FITTED and len(answer.rows) <= _MAX_EXACT_ROWS
