"""The search for a verdict: the steps from signed rows to proved claims, cheapest first.

1. If the rows are very few or very many, try weights that are cheap to compute. If they separate
   all rows, the data is separable.
2. Find the point z of the convex hull of the rows nearest to the origin (`corral`). If z is not 0,
   it separates all rows, and its length is the margin γ. For the margin with a free bias, find the
   nearest points of the convex hulls of the two classes.
3. If z = 0, the origin is a combination of rows with λ ≥ 0. Prove this contradiction.
4. Find the rows that can be separated nevertheless (`faces`).

Every step counts only if it ends with a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import (
    Ending,
    Iterate,
    affordable,
    minimise,
    nearest_point,
    start_rows,
)
from novikoff.geometry.duplicates import opposite_duplicates
from novikoff.geometry.faces import (
    partition,
    prove_contradiction,
    short_contradiction,
    simplex_proof,
)
from novikoff.geometry.margin import Interval, lower_bound, upper_bound, widest_gap
from novikoff.geometry.parts import RowSet
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, Passes, check_time
from novikoff.geometry.view import View, balanced_view, gap_view, plain_view
from novikoff.geometry.visits import LeastProducts, Sizes
from novikoff.proofs import exact
from novikoff.proofs.certificate import GeometricMargin, Kind, Margin
from novikoff.proofs.dependence import Dependence

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

# A function that is called with the interval for the margin.
IntervalProgress: TypeAlias = Callable[[Interval], None]
Goal: TypeAlias = Literal["margin", "kind"]

# Up to this many entries, cheap weights come from a system of linear equations.
_MAX_SOLVED_ENTRIES: Final = 1 << 24
# Up to this many rows in other processes are compared with each other.
_MAX_COMPARED_ROWS: Final = 1 << 16
# Up to this many contradicting rows are proved in exact arithmetic, however many columns they have.
_MAX_EXACT_ROWS: Final = 300


@dataclass
class SearchResult:
    """The claims that a search has proved, and the rows that w separates.

    ``kind`` is None while neither weights nor a contradiction are known. ``margin`` bounds γ even
    then.
    """

    margin: Margin
    kind: Kind | None = None
    w: tuple[Fraction, ...] | None = None
    geometric_margin: GeometricMargin | None = None
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    separated: RowSet | None = None  # None for no row, or for all rows if the data is separable
    n_separated: int = 0

    def spread(self, columns: Indices, d: int) -> SearchResult:
        """Return the claims about rows of d columns, given claims about rows of some ``columns``.

        All other columns are zero.
        """

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
    passes: Passes, goal: Goal, tol: float, limits: Limits, progress: IntervalProgress | None
) -> SearchResult:
    """Find and prove the kind of a problem and, if the goal is "margin", its margins.

    The goal "kind" asks for no margin, the goal "margin" for both margins: with the bias as a
    weight, and with a free bias. If a limit is reached, everything that is proved by then counts.
    """
    narrow = passes.without_empty_columns()
    if narrow is not None:  # w is 0 on the other columns
        return search_verdict(narrow[0], goal, tol, limits, progress).spread(narrow[1], passes.d)
    work = _VerdictSearch(passes, goal, tol, limits, progress)
    try:
        # A result that overflows proves nothing, and needs no warning.
        with np.errstate(all="ignore"), one_blas_thread():
            work.run()
    except KeyboardInterrupt:
        limits.interrupt()
    except OutOfTimeError:
        pass
    return work.result


@dataclass
class _VerdictSearch:
    """A search: the question, and the claims that are proved so far."""

    passes: Passes
    goal: Goal
    tol: float
    limits: Limits
    progress: IntervalProgress | None
    result: SearchResult = field(init=False)

    def __post_init__(self) -> None:
        one = (Fraction(1),)  # λ on the first row alone
        hi = upper_bound(self.passes, np.zeros(1, dtype=np.int64), one, self.tol)
        self.result = SearchResult(Margin(0.0, hi, (0,), one))

    def run(self) -> None:
        """Take all steps. If one is interrupted, ``result`` has the claims proved by then."""
        passes, result, goal = self.passes, self.result, self.goal
        self._try_cheap_weights()
        if result.kind is not None and goal == "kind":
            return
        view = balanced_view(passes, self.limits)
        start = start_rows(view)
        if result.kind is None and passes.n <= passes.p and self._refute_by_duplicates():
            if affordable(passes):
                self._find_separated_rows(view, start)
            return
        # The point of the hull nearest to the origin separates all rows, or is the origin itself.
        # Balanced rows are sufficient for the kind; the margin needs the original rows.
        if result.kind is None or view.is_unscaled:
            tol = self.tol if view.is_unscaled else 1e-6
            iterate = minimise(nearest_point(view), start, tol, self.limits, self._keep_iterate)
            start = iterate.working_set
            if result.kind is None and iterate.ending is not Ending.LIMITED:
                self._refute(view, iterate)
        if result.kind != "separable" or goal == "kind":
            return
        if not view.is_unscaled:
            objective = nearest_point(plain_view(passes))
            iterate = minimise(objective, start, self.tol, self.limits, self._keep_iterate)
            start = iterate.working_set
        if passes.fit_intercept and len(passes.first_rows) == 2:  # a free bias, and two classes
            view = gap_view(passes, self.limits)
            result.geometric_margin = widest_gap(view, start, self.tol, self.limits)

    def _try_cheap_weights(self) -> None:
        """Try weights that are cheap to compute, if the rows are few, or too many for a corral."""
        passes = self.passes
        if passes.n <= passes.p and passes.n * passes.p <= _MAX_SOLVED_ENTRIES:
            self._try(_weights_of_few_rows(passes))
        if self.result.kind is None and not affordable(passes) and isinstance(passes, LocalPasses):
            self._try(_hinge_weights(passes, self.limits))

    def _try(self, w: Vector | None) -> None:
        """Prove that weights separate all rows, if they do."""
        if w is not None and np.isfinite(w).all():
            self._take_weights(w, self.passes.least_products(exact.floats(w), self.limits))

    def _keep_iterate(self, iterate: Iterate) -> bool:
        """Keep what an iterate proves; return whether the search may stop."""
        if len(iterate.rows) > 0:
            multipliers = tuple(map(Fraction, iterate.multipliers.tolist()))
            self._take_multipliers(iterate.rows, multipliers)
        self._take_weights(iterate.w, iterate.last_pass.proof)
        if self._interval().relative_width <= self.tol:
            return True
        return self.result.kind is not None and not (self.goal == "margin" and iterate.is_unscaled)

    # Proved claims are kept; a better bound replaces the bound before.

    def _take_weights(self, w: Vector, least: LeastProducts | None) -> None:
        """If w separates all rows, keep it: the data is separable, and γ has a lower bound."""
        if least is None or not least.separates:
            return
        result = self.result
        lo = min(lower_bound(least.least_overall, least.w), result.margin.hi)
        if result.kind is None or lo > result.margin.lo:
            result.kind, result.w = "separable", tuple(map(Fraction, w.tolist()))
            result.margin = replace(result.margin, lo=lo)
            self._report_progress()

    def _take_multipliers(self, rows: Indices, multipliers: tuple[Fraction, ...]) -> None:
        """Keep λ ≥ 0 if it improves the upper bound on γ."""
        hi = upper_bound(self.passes, rows, multipliers, self.tol)
        if hi < self.result.margin.hi:
            self.result.margin = Margin(
                self.result.margin.lo, hi, tuple(rows.tolist()), multipliers
            )
            self._report_progress()

    def _interval(self) -> Interval:
        return Interval(self.result.margin.lo, self.result.margin.hi)

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self._interval())

    # The data is probably not separable.

    def _refute(self, view: View, iterate: Iterate) -> None:
        """Prove that no w separates all rows, and find the rows that can be separated."""
        passes, result = self.passes, self.result
        denied = passes.n > passes.p and self._refute_by_duplicates()
        result.dependence = self._prove_simplex(iterate)
        if result.dependence is not None:
            self._keep_contradiction("inseparable", result.contradiction or result.dependence)
            return
        if not denied and (affordable(passes) or _is_short(iterate)):
            claim = prove_contradiction(view, iterate.rows, iterate.multipliers, self.limits)
            if claim is not None:
                self._keep_contradiction("not separable", claim)
        if affordable(passes):
            self._find_separated_rows(view, iterate.rows)

    def _refute_by_duplicates(self) -> bool:
        """Prove a contradiction by two equal rows with opposite signs; return whether they exist.

        Rows in other processes are compared only if they are few: the hashes of all rows would have
        to be sent to this process.
        """
        if self.passes.remote and self.passes.n > max(self.passes.p, _MAX_COMPARED_ROWS):
            return False
        pair = opposite_duplicates(self.passes, self.limits)
        if pair is not None:
            self._keep_contradiction("not separable", Dependence((), (), True, pair))
        return pair is not None

    def _prove_simplex(self, iterate: Iterate) -> Dependence | None:
        """Prove that the rows of an iterate are a simplex with the origin in its interior."""
        passes = self.passes
        used = np.arange(passes.p)
        if len(iterate.rows) != passes.p + 1:
            if not 0 < len(iterate.rows) <= passes.p:
                return None
            peaks = passes.over(Sizes(np.ones(passes.p)), self.limits).peaks
            used = np.flatnonzero(peaks)
        return simplex_proof(passes, iterate.rows, iterate.multipliers, used)

    def _keep_contradiction(self, kind: Kind, claim: Dependence | None) -> None:
        """Keep a contradiction: no w separates its rows, and there is no margin."""
        self.result.kind, self.result.contradiction = kind, claim
        self.result.margin, self.result.geometric_margin = Margin(0.0, 0.0, (), ()), None
        self._report_progress()

    def _find_separated_rows(self, view: View, start: Indices) -> None:
        """Find the rows that can be separated, in exact arithmetic."""
        passes, result = self.passes, self.result
        parts = partition(view, passes.all_rows(), self.limits, start)
        result.w = None if parts.w is None else tuple(parts.w)
        result.separated, result.n_separated = parts.separated, passes.size(parts.separated)
        result.dependence = parts.dependence
        if parts.dependence is None:  # all rows are separated, which floats could not prove
            w = exact.numbers(parts.w or [])
            result.kind = "separable"
            lo = lower_bound(passes.least_products(w, self.limits).least_overall, w)
            result.margin = replace(result.margin, lo=lo)
            return
        self._keep_contradiction(
            "quasi-separable" if result.w else "inseparable", result.contradiction
        )
        if result.contradiction is None:
            rows = np.array(parts.dependence.rows, dtype=np.int64)
            result.contradiction = short_contradiction(view, parts.rows_left, rows, self.limits)


def _weights_of_few_rows(passes: Passes) -> Vector | None:
    """The shortest w with ⟨a_i, w⟩ = 1 for all rows, up to rounding; None if there is none."""
    A = passes.at(np.arange(passes.n))
    try:
        return np.asarray(A.T @ np.linalg.solve(A @ A.T, np.ones(passes.n)))
    except np.linalg.LinAlgError:
        return None


def _hinge_weights(passes: LocalPasses, limits: Limits) -> Vector:
    """The w that minimises the squared hinge loss Σ max(0, 1 − ⟨a_i, w⟩)², by L-BFGS.

    The search may stop as soon as the loss is below 1: then no row is on the wrong side.
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

    optimum = minimize(loss, np.zeros(passes.d + 1), jac=True, method="L-BFGS-B", callback=stop)
    return np.asarray(optimum.x[: passes.p])


def _is_short(iterate: Iterate) -> bool:
    """Whether the rows of a probable contradiction are few enough for exact arithmetic."""
    return iterate.ending is Ending.FITTED and len(iterate.rows) <= _MAX_EXACT_ROWS
