"""The rule with the fewest mistakes that was found, and a proved lower bound.

A mistake is a row with ⟨a_i, w⟩ ≤ 0: the row is on the wrong side of the hyperplane, or on it. The
convergence theorem counts mistakes in this way, and so does the lower bound: rows with
Σ λ_i·a_i = 0 and λ > 0 cannot all be classified correctly. `predict` assigns a row on the
hyperplane to the negative class. The two counts agree because the search leaves no row on the
hyperplane. A small change of the bias (without a bias: of w, in almost any direction) moves the
hyperplane off every row that is not zero, and misclassifies no further row. The ``textbook``
strategy does not change its weights, so that rows may lie on their hyperplane.

Without a bias a row of zeros lies on every hyperplane, and `predict` assigns it to the negative
class. If its label is positive, every rule misclassifies it. If its label is negative, no rule
does, and the search leaves the row out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.blas import one_blas_thread
from novikoff.core.class_labels import Sides
from novikoff.core.pocket import averaged_perceptron, cost_of, fill_pocket
from novikoff.core.problem import (
    Problem,
    products,
    row_blocks,
    signed_problem,
    sure_products,
)
from novikoff.core.rows import Indices, Vector, as_dense, stored_numbers
from novikoff.core.stops import Limits
from novikoff.geometry.descent import Basis, descend, line_search, logistic, whitening
from novikoff.geometry.implicit_hitting import hit_contradictions
from novikoff.geometry.packing import Packing, share_rows
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.error_bound import ErrorBound, RuleSearch
from novikoff.proofs.exact import dense_block, rounded_down
from novikoff.proofs.hitting import Branch
from novikoff.proofs.rule_boxes import MOST_ENTRIES, MOST_OPERATIONS, BoxSearch

MistakesProgress: TypeAlias = Callable[[float, float], None]

# The default limit on the updates of the pocket.
_UPDATES = 10_000
# Without a limit on time, the searches for contradictions read at most this many entries of X.
_SEARCHED = 1 << 25
# Data with more than twice as many rows as a part is searched for contradictions part by part.
# A part has _PART_ROWS rows, or _PART_ROWS_PER_WEIGHT for each weight if that is more.
_PART_ROWS, _PART_ROWS_PER_WEIGHT = 2000, 20
# The descent on larger data begins with a sample of SAMPLE_ENTRIES entries of X, or of
# SAMPLE_ROWS_PER_WEIGHT rows for each weight if that is more.
SAMPLE_ENTRIES, SAMPLE_ROWS_PER_WEIGHT = 1 << 22, 200
# Contradictions may share rows if X has at most _SHARED entries. Without a limit on time, there are
# at most _MAX_SHARED searches for contradictions that share rows, and they read at most _SHARED
# entries of X. All problems of a scheme together read at most so many entries.
_MAX_SHARED, _SHARED = 320, 1 << 20
# All rules are searched if X has at most MOST_ENTRIES entries and the rules at most _MOST_WEIGHTS
# weights. Without a limit on time, the search has at most _BOX_OPERATIONS operations, which take
# about a second. All problems of a scheme together have at most so many operations.
_MOST_WEIGHTS, _BOX_OPERATIONS = 8, 1 << 28
# Descents end after this many without success.
_FRUITLESS = 20
# A column whose largest absolute value is outside these limits is scaled by a power of two.
_USUAL_LEAST, _USUAL_MOST = 2.0**-300, 2.0**300


@dataclass(frozen=True)
class FewestMistakes:
    """A rule, the cost of its mistakes, and a proved lower bound on the cost for every rule.

    ``mistakes`` is the exact cost of the rule's mistakes. ``bound`` is an exact lower bound on the
    cost of the mistakes of any hyperplane. It is proved by a ``search`` of all rules or, if that is
    None, by ``claims``. ``history`` is a list of pairs:
    the number of updates, and the cost of the pocket's mistakes after them. Its last pair is about
    the rule itself.
    """

    w: Vector
    mistakes: Fraction
    bound: Fraction
    claims: tuple[Dependence, ...]
    shares: tuple[Fraction, ...] | None  # the factor on each claim; None if no two share a row
    search: RuleSearch | None
    branches: tuple[Branch, ...]
    history: list[tuple[int, float]]
    updates: int
    cheap: tuple[Vector, ...]  # the averaged perceptron, least squares, logistic regression
    wrong: Indices  # the rows that the rule misclassifies
    problem: Problem = field(repr=False)
    costs: Vector | None = field(repr=False)
    sides: Sides
    digest: MatrixDigest | None = None

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no hyperplane makes fewer mistakes."""
        return self.mistakes <= self.bound

    @cached_property
    def proof(self) -> ErrorBound:
        """The bound with its claims, as a certificate that anyone can check."""
        problem, digest = self.problem, self.digest or MatrixDigest.of(self.problem.X)
        return ErrorBound(
            n=problem.n,
            d=problem.p - 1,
            fit_intercept=problem.fit_intercept,
            positive=self.sides[0],
            negative=self.sides[1],
            sha256=digest.signed(problem.signs),
            bound=self.bound,
            contradictions=self.claims,
            shares=self.shares,
            search=self.search,
            branches=self.branches,
        )


def fewest_mistakes(
    problem: Problem,
    *,
    costs: Vector | None = None,
    start: Vector | None = None,
    strategy: str = "ratchet",
    refine: bool = True,
    lower_bound: bool = True,
    limits: Limits | None = None,
    work: float = 1.0,
    rng: np.random.Generator,
    sides: Sides,
    digest: MatrixDigest | None = None,
    basis: Callable[[], Basis] | None = None,
    progress: MistakesProgress | None = None,
) -> FewestMistakes:
    """Find a rule with few mistakes, and prove a lower bound on the mistakes of every rule.

    The strategy ``textbook`` returns the result of the pocket algorithm as textbooks print it. The
    other strategies return a rule that is at least as good as the constant rules, ``start``, the
    pocket and, with ``refine``, least squares, logistic regression and the averaged perceptron.
    With ``refine``, a descent on the number of mistakes starts from the best of these rules. The
    search also looks for a rule without mistakes: before the pocket if the cheap rules misclassify
    at most 1 % of the rows, else after the descent.

    Parameters
    ----------
    problem, costs
        A problem with two classes, and the cost of a mistake on each row. Rows of sign 0 and rows
        of cost 0 are left out.
    start, strategy, refine, lower_bound
        Weights to start from, and the options of `novikoff.Pocket`.
    limits
        Limits on the updates of the pocket (10,000 by default) and on the time of the whole
        search. Without a limit on time, the search for a rule stops when it hardly improves the
        rule, and the search for contradictions stops after it has read about 2²⁵ entries of X. The
        search for contradictions that share rows solves at most 320 linear programs, which read at
        most 2²⁰ entries of X; a small limit on updates makes it shorter.
    work : float
        The part of this work on contradictions that share rows that the search may do, if time is
        not limited. Several problems with the same X divide the work.
    rng, sides
        The random generator, and the labels of the two sides (None stands for all other labels).
    digest, basis
        The digest of X, and a function that returns the `whitening` of X. Several problems with the
        same X share them.
    progress
        A function that is called with the mistakes of the best rule and with the bound, whenever
        one of the two improves.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> problem = signed_problem(X, np.array([-1, 1, 1, -1], dtype=np.int8), True)
    >>> best = fewest_mistakes(problem, rng=np.random.default_rng(0), sides=(1, 0))
    >>> best.mistakes, best.bound, best.optimal
    (Fraction(1, 1), Fraction(1, 1), True)
    """
    limits = Limits() if limits is None else limits
    part, printed = rows_at_a_cost(problem, costs), strategy == "textbook"
    inner, inner_costs = problem_of(problem, costs, part)
    even, powers = (inner, None) if printed else _evened(inner)
    if powers is not None:
        start, basis = None if start is None else _ldexp(start, -powers), None
    search = _Search(inner, even, powers, inner_costs, start, limits, work, rng, basis, progress)
    try:
        with one_blas_thread(), np.errstate(all="ignore"):
            if printed:
                search.run_as_printed(lower_bound)
            else:
                search.run(strategy, refine, lower_bound)
    except KeyboardInterrupt:
        limits.interrupt()
    w, s = search.result()
    wrong = ~(s > 0.0)
    mistakes, history = exact_cost(wrong, inner_costs), search.history
    return FewestMistakes(
        w=w,
        mistakes=mistakes,
        bound=search.bound,
        claims=tuple(renumbered(claim, part) for claim in search.claims),
        shares=search.shares,
        search=search.found_by_boxes,
        branches=search.branches,
        history=history if printed else [*history, (search.updates, float(mistakes))],
        updates=search.updates,
        cheap=tuple(_ldexp(rule, powers) for rule in search.cheap),
        wrong=part[wrong],
        problem=problem,
        costs=costs,
        sides=sides,
        digest=digest,
    )


@dataclass
class _Search:
    """A search with its results so far: the best rule, and the contradictions."""

    given: Problem  # the original rows, in which contradictions are searched for
    problem: Problem  # the rows with scaled columns, for which a rule is searched for
    powers: Indices | None  # the exponents of two that scale the columns; None if none is scaled
    costs: Vector | None
    start: Vector | None
    limits: Limits
    work: float
    rng: np.random.Generator
    basis: Callable[[], Basis] | None
    progress: MistakesProgress | None
    w: Vector = field(init=False)
    s: Vector | None = None  # the products of w with the rows, if they are known
    cost: float = math.inf
    bound: Fraction = Fraction(0)
    claims: list[Dependence] = field(default_factory=list)
    shares: tuple[Fraction, ...] | None = None
    found_by_boxes: RuleSearch | None = None
    branches: tuple[Branch, ...] = ()
    history: list[tuple[int, float]] = field(default_factory=list)
    updates: int = 0
    cheap: list[Vector] = field(default_factory=list)
    proved: bool = False  # whether exact arithmetic proves that w classifies every row correctly

    def __post_init__(self) -> None:
        self.w = np.zeros(self.problem.p)  # so that a rule exists if Ctrl-C is pressed at once

    def run(self, strategy: str, refine: bool, lower_bound: bool) -> None:
        """Try cheap rules, fill the pocket, descend, then prove a lower bound.

        The search for a rule without mistakes comes first if the cheap rules make few mistakes.
        """
        problem, costs, n = self.problem, self.costs, self.problem.n
        for bias in (0.0, 1.0, -1.0) if problem.fit_intercept else (0.0,):
            constant = np.append(np.zeros(problem.p - 1), bias)
            self._keep(constant, cost_of(bias * problem.signs.astype(np.float64), costs))
        if n == 0:  # no mistake costs anything
            return
        if self.start is not None:
            self._consider(self.start)
        basis = self._smooth_rules() if refine else None
        packing = Packing(LocalPasses(self.given), costs)
        packing.take_duplicates(self.limits.part(0.25))
        self._add(packing.contradictions, packing.bound)
        early = self.cost <= 0.01 * (n if costs is None else costs.sum())
        if early:
            self._separate(packing)
        if self.cost > self.bound and self.limits.reached() is None:
            self._fill_pocket(strategy, self.limits.part(0.2 if refine or lower_bound else 1.0))
            if basis is not None:
                self._descend(basis, self.limits.part(0.5 if lower_bound else 0.9))
        if not early:
            self._separate(packing)
        if packing.w is None:
            self._leave_hyperplane()
        if lower_bound:
            self._prove(packing, basis)
        if basis is not None:
            self._search_on(basis)

    def run_as_printed(self, lower_bound: bool) -> None:
        """Run the pocket algorithm, then prove a lower bound; the weights are not changed."""
        if self.start is not None:
            self.w = self.start.copy()
        if self.problem.n == 0:  # no mistake costs anything
            self.cost, self.history = 0.0, [(0, 0.0)]
            return
        self._fill_pocket("textbook", self.limits.part(0.5 if lower_bound else 1.0))
        if lower_bound:
            packing = Packing(LocalPasses(self.given), self.costs)
            packing.take_duplicates(self.limits.part(0.25))
            self._add(packing.contradictions, packing.bound)
            self._prove(packing, None)

    def result(self) -> tuple[Vector, Vector]:
        """Return the best rule for the original rows, and its products with these rows.

        If products underflow to 0, the weights are enlarged.
        """
        w, s = self.w, self.products()
        multiply = products if self.proved else sure_products
        if self.powers is not None:
            w = _ldexp(w, self.powers)
            s = multiply(self.given, w)
        if not s.all():
            larger = _enlarged(w, self.given.radius)
            t = multiply(self.given, larger)
            if np.isfinite(t).all() and cost_of(t, self.costs) < cost_of(s, self.costs):
                return larger, t
        return w, s

    def _smooth_rules(self) -> Basis | None:
        """Try the averaged perceptron and, if time is left, least squares and logistic regression.

        Returns the basis of the descent, or None if the time is up.
        """
        problem, costs, rng, limits = self.problem, self.costs, self.rng, self.limits
        self._consider_cheap(averaged_perceptron(problem, limits.part(0.2), rng, costs))
        if limits.reached() is not None:
            return None
        basis = whitening(problem, rng) if self.basis is None else self.basis()
        for steps in (0, 50):  # logistic regression with 0 steps is least squares
            if limits.reached() is None:
                self._consider_cheap(logistic(problem, costs, basis, limits.part(0.5), steps))
        return basis

    def _separate(self, packing: Packing) -> None:
        """Look for a rule with a large margin that provably makes no mistakes.

        The search is skipped once a contradiction is known, as no such rule exists then. In large
        data, a sample of the rows often contains a contradiction.
        """
        n, size = self.problem.n, self._part_size()
        if not self.claims and n > 2 * size and self.limits.reached() is None:
            rows = np.sort(self.rng.choice(n, size=size, replace=False))
            subproblem, costs = problem_of(self.given, self.costs, rows)
            self._pack(Packing(LocalPasses(subproblem), costs), rows, 1, self.limits.part(0.25))
        if not self.claims:
            packing.seek(self.limits.part(0.5))
        if packing.w is not None:  # the signs of all products are proved
            w = np.append(packing.w, 0.0)[: self.problem.p]
            w = w if self.powers is None else _ldexp(w, -self.powers)
            s = products(self.problem, w)
            self.cost, self.proved = math.inf, True
            self._keep(w, cost_of(s, self.costs), s)

    def _fill_pocket(self, strategy: str, limits: Limits) -> None:
        limits = replace(limits, updates=limits.updates or _UPDATES)
        pocket = fill_pocket(
            self.problem, limits, self.rng, strategy=strategy, start=self.start, costs=self.costs
        )
        self.history, self.updates = pocket.history, pocket.updates
        self._keep(pocket.w, pocket.cost)

    def _descend(self, basis: Basis, limits: Limits) -> None:
        """Descend from the best rule; for large data, first on a sample of the rows."""
        problem, costs, rng = self.problem, self.costs, self.rng
        most = max(problem.rows_within(SAMPLE_ENTRIES), SAMPLE_ROWS_PER_WEIGHT * problem.p)
        if problem.n > 2 * most:
            rows = np.sort(rng.choice(problem.n, size=most, replace=False))
            subproblem, some_costs = problem_of(problem, costs, rows)
            gains = descend(subproblem, self.w, some_costs, basis, limits.part(0.5), rng)
            for w, _ in list(gains)[-1:]:
                self._consider(w)
        for w, cost in descend(problem, self.w, costs, basis, limits, rng):
            self._keep(w, cost)

    def _search_on(self, basis: Basis) -> None:
        """Descend from random rules near the best rule until the limit on time, if there is one."""
        limits, problem, rng = self.limits, self.problem, self.rng
        while limits.seconds is not None and self.cost > self.bound and limits.reached() is None:
            aside = rng.normal(size=problem.p) @ basis
            size = np.abs(self.products()).mean() / np.abs(products(problem, aside)).mean()
            start = self.w + aside * size * 10.0 ** -rng.uniform(0.0, 2.0)
            if not np.isfinite(start).all():
                return
            for w, cost in descend(problem, start, self.costs, basis, limits, rng):
                self._keep(w, cost)
            self._leave_hyperplane()

    def _leave_hyperplane(self) -> None:
        """Move the hyperplane off all rows, without making more mistakes."""
        problem = self.problem
        if self.limits.reached() is not None and self.products().all():
            return
        for _ in range(5):
            v = np.append(self.rng.normal(size=problem.p - 1) / problem.unit, 0.0)
            if problem.fit_intercept:
                v = np.append(np.zeros(problem.p - 1), 1.0)
            t = line_search(self.products(), products(problem, v), self.costs)[1]
            w = self.w + t * v
            s = sure_products(problem, w)
            if np.isfinite(w).all() and cost_of(s, self.costs) <= self.cost:
                self.w, self.cost, self.s = w, cost_of(s, self.costs), s
                if s.all():
                    break

    def _prove(self, packing: Packing, basis: Basis | None) -> None:
        """Prove a lower bound by contradictions; bounds of disjoint parts of the rows add up.

        With few weights, all rules are searched. This often finds the best rule and proves it.
        Large data is searched part by part, after the candidate that `_separate` found. A part
        without a contradiction is searched again together with the next part.
        """
        if self.limits.reached() is not None:
            return
        problem, everything, size = self.given, np.arange(self.given.n), self._part_size()
        searches = 1 << 62
        if self.limits.seconds is None:
            searches = max(2, _SEARCHED // (min(size, problem.n) * problem.p))
        if problem.n <= 2 * size:
            self._pack(packing, everything, searches, self.limits)
            if basis is not None:
                self._search_boxes(basis)
            self._share(packing.passes, self.limits.part(0.5))
            if basis is not None:
                self._hit(packing.passes)
            return
        if packing.candidate is not None:
            self._pack(packing, everything, 1, self.limits)
        free = np.ones(problem.n, dtype=np.bool_)
        free[[row for claim in self.claims for row in claim.among or ()]] = False
        unclaimed = self.rng.permutation(np.flatnonzero(free))
        rows = unclaimed[:0]
        for part in np.array_split(unclaimed, max(1, len(unclaimed) // size)):
            if searches <= 0 or self.cost <= self.bound or self.limits.reached() is not None:
                break
            rows = np.sort(np.append(rows, part))
            subproblem, costs = problem_of(problem, self.costs, rows)
            n_packed = self._pack(
                Packing(LocalPasses(subproblem), costs), rows, searches, self.limits
            )
            searches -= max(n_packed, 1)
            if n_packed > 0:
                rows = unclaimed[:0]

    def _search_boxes(self, basis: Basis) -> None:
        """Search all rules: find the best rule, and prove that no rule is better.

        Nothing is proved if the search needs too many operations.
        """
        given, limits = self.given, self.limits.part(0.5)
        if (
            self.cost <= self.bound
            or given.p > _MOST_WEIGHTS
            or given.n * given.p > MOST_ENTRIES
            or limits.reached() is not None
        ):
            return
        X: Any = given.X
        X = X if isinstance(X, np.ndarray) else X.toarray()
        costs = None if self.costs is None else [Fraction(cost) for cost in self.costs.tolist()]
        search = BoxSearch(
            dense_block(X, given.signs, given.fit_intercept).A,
            costs,
            most=MOST_OPERATIONS if limits.seconds is not None else self._box_operations(),
            stop=lambda: limits.reached() is not None,
        )
        fruitless, before = 0, self.cost

        def improve(w: Vector) -> Fraction:
            nonlocal fruitless
            least = self.cost
            if fruitless < _FRUITLESS:
                w = np.append(w, 0.0)[: self.problem.p]
                self._consider(w if self.powers is None else _ldexp(w, -self.powers))
                for better, cost in descend(
                    self.problem, self.w, self.costs, basis, limits, self.rng
                ):
                    self._keep(better, cost)
            fruitless = 0 if self.cost < least else fruitless + 1
            return exact_cost(~(self.products() > 0.0), self.costs)

        bound = search.prove(exact_cost(~(self.products() > 0.0), self.costs), improve)
        if self.bound < bound < exact_cost(~(self.products() > 0.0), self.costs):
            # Floats did not resolve all boxes. A check, which begins with this bound, may do so in
            # another order, so that it is tried here.
            bound = search.prove(bound)
        if bound > self.bound:
            self.bound = bound
            self.found_by_boxes = RuleSearch(search.operations, weighted=self.costs is not None)
            self._tell()
        if self.cost < before:
            self._leave_hyperplane()

    def _box_operations(self) -> int:
        """The largest number of operations of a search of all rules without a limit on time."""
        share = min(1.0, (self.limits.updates or _UPDATES) / _UPDATES)
        return int(self.work * share * _BOX_OPERATIONS)

    def _part_size(self) -> int:
        """The number of rows in a part of large data."""
        return max(_PART_ROWS, _PART_ROWS_PER_WEIGHT * self.problem.p)

    def _pack(self, packing: Packing, names: Indices, most: int, limits: Limits) -> int:
        """Add up to ``most`` contradictions of a part of the rows; returns how many were found.

        ``names`` has the number of each row of the part among all rows.
        """
        n_packed, before = 0, packing.bound
        while n_packed < most and self.cost > self.bound and packing.take_next(limits):
            self._add([renumbered(packing.contradictions[-1], names)], packing.bound - before)
            n_packed, before = n_packed + 1, packing.bound
        return n_packed

    def _share(self, passes: Passes, limits: Limits) -> None:
        """Improve the bound on small data by contradictions that share rows."""
        size = passes.n * passes.p
        if self.cost <= self.bound or size > _SHARED or passes.n == 0:
            return
        searches = 1 << 62
        if self.limits.seconds is None:  # a low limit on updates also means little work here
            share = min(1.0, (self.limits.updates or _UPDATES) / _UPDATES)
            searches = min(math.ceil(share * _MAX_SHARED), int(self.work * _SHARED) // size)
        for shared in share_rows(passes, self.claims, self.costs, searches, limits, self.rng):
            if shared.bound > self.bound:
                self.claims, self.shares, self.bound = [*shared.claims], shared.shares, shared.bound
                self.found_by_boxes = None
                self._tell()
            if self.cost <= self.bound:
                return

    def _hit(self, passes: Passes) -> None:
        """Improve rule and bound on small data by smallest sets that hit all contradictions.

        The integer programs may take long, so that this is done only with a limit on time.
        """
        size = passes.n * passes.p
        limits, before = self.limits.part(0.7), self.cost
        if limits.seconds is None or self.cost <= self.bound or size > _SHARED:
            return

        def improve(w: Vector) -> Fraction:
            w = np.append(w, 0.0)[: self.problem.p]
            self._consider(w if self.powers is None else _ldexp(w, -self.powers))
            return exact_cost(~(self.products() > 0.0), self.costs)

        best = exact_cost(~(self.products() > 0.0), self.costs)
        for found in hit_contradictions(passes, self.claims, self.costs, best, improve, limits):
            if found.bound > self.bound:
                self.claims, self.shares, self.bound = [*found.claims], found.shares, found.bound
                self.branches, self.found_by_boxes = found.branches, None
                self._tell()
        if self.cost < before:
            self._leave_hyperplane()

    def _add(self, claims: list[Dependence], cost: Fraction) -> None:
        self.claims += claims
        self.bound += cost
        self._tell()

    def products(self) -> Vector:
        """⟨a_i, w⟩ of the best rule so far, computed once for each rule."""
        if self.s is None:
            self.s = sure_products(self.problem, self.w)
        return self.s

    def _consider_cheap(self, w: Vector) -> None:
        self.cheap.append(w)
        self._consider(w)

    def _consider(self, w: Vector) -> None:
        s = sure_products(self.problem, w)
        self._keep(w, cost_of(s, self.costs), s)

    def _keep(self, w: Vector, cost: float, s: Vector | None = None) -> None:
        if cost < self.cost and np.isfinite(w).all():
            self.w, self.cost, self.s = w.copy(), cost, s
            self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.cost, rounded_down(self.bound))


def rows_at_a_cost(problem: Problem, costs: Vector | None) -> Indices:
    """The rows that some rule may misclassify at a cost.

    Without a bias, every rule classifies a negative row of zeros correctly.
    """
    taking = problem.active_rows(costs)
    if problem.fit_intercept:
        return taking
    entries: Any = problem.X != 0.0  # the squared length of a row may underflow
    nonzero = np.asarray(entries.sum(axis=1)).ravel() > 0
    return taking[(problem.signs[taking] > 0) | nonzero[taking]]


def problem_of(
    problem: Problem, costs: Vector | None, rows: Indices
) -> tuple[Problem, Vector | None]:
    """The problem and the costs of some of the rows."""
    if len(rows) == problem.n:
        return problem, costs
    # The rows were checked before, and R is an upper bound for a part of them too.
    subproblem = replace(problem, X=problem.X[rows], signs=problem.signs[rows])
    return subproblem, None if costs is None else costs[rows]


def exact_cost(wrong: npt.NDArray[np.bool_], costs: Vector | None) -> Fraction:
    """The cost of the misclassified rows, without rounding."""
    if costs is None:
        return Fraction(int(np.count_nonzero(wrong)))
    values, counts = np.unique(costs[wrong], return_counts=True)
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return sum((Fraction(value) * count for value, count in pairs), Fraction(0))


def _evened(problem: Problem) -> tuple[Problem, Indices | None]:
    """The problem with very large or very small columns scaled by powers of two, and the exponents.

    Scaling by powers of two is exact. Weights for the scaled rows become weights for the given rows
    by `_ldexp` with the same exponents. The exponents are None, and the problem is unchanged, if no
    column needs scaling, or if entries of a column would underflow.
    """
    X = problem.X
    largest = np.zeros(problem.p - 1)
    for first, last in row_blocks(X):
        block: Any = X[first:last]
        largest = np.maximum(largest, as_dense(abs(block).max(axis=0)).ravel())
    usual = (largest > _USUAL_LEAST) & (largest < _USUAL_MOST)
    if (usual | (largest == 0.0)).all():
        return problem, None
    powers = np.append(np.where(usual, 0, -np.frexp(largest)[1]), 0).astype(np.int64)
    even: Any
    if isinstance(X, np.ndarray):
        even = np.ldexp(X, powers[:-1])
    else:
        even = X.copy()
        even.data = np.ldexp(X.data, powers[X.indices])
    if np.count_nonzero(stored_numbers(even)) < np.count_nonzero(stored_numbers(X)):
        return problem, None
    return signed_problem(even, problem.signs, problem.fit_intercept), powers


def _ldexp(w: Vector, powers: Indices | None) -> Vector:
    """The weights times powers of two, and a common power of two that keeps them in float64."""
    if powers is None or not w.any():
        return w
    sizes = (np.frexp(w)[1] + powers)[w != 0.0]
    return np.ldexp(w, powers + int(min(1000 - sizes.max(), max(0, -960 - sizes.min()))))


def _enlarged(w: Vector, radius: float) -> Vector:
    """The weights times a power of two, as large as the range of their products allows."""
    highest = math.frexp(float(np.abs(w).max()))[1] + math.frexp(min(max(radius, 1.0), 1e308))[1]
    return np.ldexp(w, max(0, 1000 - highest))


def renumbered(claim: Dependence, names: Indices) -> Dependence:
    """The contradiction among some rows, with the numbers that these rows have among all rows."""
    rows, among = names[list(claim.rows)], names[list(claim.among or ())]
    return replace(claim, rows=tuple(rows.tolist()), among=tuple(among.tolist()))
