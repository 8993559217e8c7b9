"""The rule with the fewest mistakes that was found, and a proof of how few there can be (A6, C5).

A mistake is a row with ⟨a_i, w⟩ ≤ 0: on the wrong side of the hyperplane, or on it. The convergence
theorem counts so, and so does the bound: rows with Σ λ_i·a_i = 0, λ > 0, cannot all be right.
`predict` gives a row on the hyperplane to the negative class. The two agree, for no row is left on
the hyperplane found: a small change of the bias, or without a bias of w in almost any direction,
takes off every row but those of zeros, and no right row becomes wrong by that. The weights of the
``textbook`` strategy are not changed, and may have rows on their hyperplane.

Without a bias a row of zeros lies on every hyperplane, and `predict` calls it negative: a mistake
of every rule if its label is positive; else of none, and it takes no part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.blas import one_blas_thread
from novikoff.core.linear_model import LinearModel
from novikoff.core.pocket import averaged_perceptron, cost_of, fill_pocket
from novikoff.core.problem import (
    Problem,
    pose,
    products,
    scores,
    stretches,
    sure_products,
)
from novikoff.core.rows import Indices, Vector, view
from novikoff.core.schemes import Scheme, sides_of
from novikoff.core.stops import Limits
from novikoff.core.validation import Label
from novikoff.geometry.checker import Dependence
from novikoff.geometry.descent import Basis, descend, line_search, logistic, whitening
from novikoff.geometry.digest import MatrixDigest
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.exact import rounded_down
from novikoff.geometry.packing import Packing, share_rows
from novikoff.geometry.passes import LocalPasses, Passes

MistakesProgress: TypeAlias = Callable[[float, float], None]

_BEYOND_FLOATS = (
    "The scores of some rows are beyond the range of float64: scale the columns, for instance by "
    "sklearn.preprocessing.StandardScaler."
)

# Without limits: updates of the pocket, and entries of the rows in which contradictions are
# searched for, each search counted anew.
_UPDATES, _SEARCHED = 10_000, 1 << 25
# Of larger data (more than twice as many rows), contradictions are searched for in parts of
# _PART_ROWS rows, and a descent begins on a sample of _SAMPLE_ENTRIES; or of more, by the weights.
_PART_ROWS, _PART_ROWS_PER_WEIGHT = 2000, 20
_SAMPLE_ENTRIES, _SAMPLE_ROWS_PER_WEIGHT = 1 << 22, 200
# Searches for contradictions with common rows, and entries of the rows in which they are made.
_MAX_SHARED, _SHARED = 320, 1 << 20
# A column whose largest number is outside these limits is scaled by a power of two.
_SMALL, _LARGE = 2.0**-300, 2.0**300


@dataclass(frozen=True)
class FewestMistakes:
    """A rule, its mistakes, and a proved lower bound on those of every rule.

    ``errors`` is the cost of the rule's mistakes, ``bound`` the least that those of any hyperplane
    cost, both exact; ``claims`` prove it. ``history`` has the pocket's mistakes, by the number of
    updates before, and at its end the rule's.
    """

    w: Vector
    errors: Fraction
    bound: Fraction
    claims: tuple[Dependence, ...]
    shares: tuple[Fraction, ...] | None  # of the claims, where they have common rows
    history: list[tuple[int, float]]
    updates: int
    cheap: tuple[Vector, ...]  # the averaged perceptron, least squares, logistic regression
    problem: Problem = field(repr=False)
    costs: Vector | None = field(repr=False)
    sides: tuple[Label, Label | None]
    digest: MatrixDigest | None = None

    @property
    def optimal(self) -> bool:
        """Whether no hyperplane is better, by proof."""
        return self.errors <= self.bound

    @cached_property
    def proof(self) -> ErrorBound:
        """The bound and its claims, for a stranger to check."""
        problem, digest = self.problem, self.digest or MatrixDigest.of(self.problem.X)
        data = problem.n, problem.p - 1, problem.fit_intercept, *self.sides
        return ErrorBound(self.bound, self.claims, *data, digest.signed(problem.signs), self.shares)


def fewest_mistakes(
    problem: Problem,
    *,
    costs: Vector | None = None,
    start: Vector | None = None,
    strategy: str = "ratchet",
    refine: bool = True,
    lower_bound: bool = True,
    limits: Limits | None = None,
    rng: np.random.Generator,
    sides: tuple[Label, Label | None],
    digest: MatrixDigest | None = None,
    basis: Callable[[], Basis] | None = None,
    progress: MistakesProgress | None = None,
) -> FewestMistakes:
    """Find a rule with few mistakes and prove how few there can be.

    With the strategy ``textbook`` the result is what the pocket algorithm returns as it is printed.
    Otherwise it is never worse than the constant rules, ``start``, the pocket and, with ``refine``,
    least squares, logistic regression and the averaged perceptron; then a descent on the mistakes
    themselves starts from the best of them. A rule without mistakes is looked for in any case:
    before the pocket where the cheap rules err on at most 1 % of the rows, else after the descent.

    Parameters
    ----------
    problem, costs
        Two classes; rows of sign 0, and those whose mistakes cost nothing, take no part.
    start, strategy, refine, lower_bound
        Weights to start from, and the options of `novikoff.Pocket`.
    limits
        On the updates of the pocket (10,000 by default) and the seconds of everything. Without a
        limit on seconds the search ends when it hardly gains, and after about 2²⁵ numbers in
        which contradictions were searched for; after fewer, where there are few updates.
    rng, sides, digest, basis
        The source of randomness, the labels of the two sides (None for the rest); the digest of X
        and its `whitening`, when asked for, where several problems share them.
    progress
        Is told the mistakes of the best rule and the bound, whenever one of them improves.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> problem = pose(X, np.array([-1, 1, 1, -1], dtype=np.int8), True)
    >>> found = fewest_mistakes(problem, rng=np.random.default_rng(0), sides=(1, 0))
    >>> found.errors, found.bound, found.optimal
    (Fraction(1, 1), Fraction(1, 1), True)
    """
    limits = Limits() if limits is None else limits
    part, printed = _taking_part(problem, costs), strategy == "textbook"
    inner, own = _subset(problem, costs, part)
    even, powers = (inner, None) if printed else _evened(inner)
    if powers is not None:
        start, basis = None if start is None else _ldexp(start, -powers), None
    search = _Search(inner, even, powers, own, start, limits, rng, basis, progress)
    try:
        with one_blas_thread(), np.errstate(all="ignore"):
            if printed:
                search.run_as_printed(lower_bound)
            else:
                search.run(strategy, refine, lower_bound)
    except KeyboardInterrupt:
        limits.interrupted = True
    w, s = search.result()
    errors, history = exact_cost(~(s > 0.0), own), search.history
    return FewestMistakes(
        w=w,
        errors=errors,
        bound=search.bound,
        claims=tuple(renamed(claim, part) for claim in search.claims),
        shares=search.shares,
        history=history if printed else [*history, (search.updates, float(errors))],
        updates=search.updates,
        cheap=tuple(_ldexp(rule, powers) for rule in search.cheap),
        problem=problem,
        costs=costs,
        sides=sides,
        digest=digest,
    )


@dataclass(frozen=True)
class FoundRules:
    """The rules of a scheme with few mistakes: those best together, and each the best by itself.

    ``errors`` and ``bound`` of the rules in ``together`` count as `predict` does, where a row on
    the hyperplane is of the negative class.
    """

    model: LinearModel
    together: list[FewestMistakes]
    alone: list[FewestMistakes]


def find_rules(
    problem: Problem,
    codes: Indices,
    model: LinearModel,
    *,
    costs: Vector | None = None,
    start: Vector | None = None,
    strategy: str = "ratchet",
    refine: bool = True,
    lower_bound: bool = True,
    limits: Limits,
    seed: int,
    digest: MatrixDigest | None = None,
    basis: Callable[[], Basis] | None = None,
    begin: Callable[[int], MistakesProgress | None] | None = None,
) -> FoundRules:
    """Find a rule with few mistakes for each binary problem of a scheme.

    Parameters
    ----------
    problem, codes
        The rows without signs, and the class of each.
    model : LinearModel
        Without weights; they are filled in. Its scheme says which classes each rule tells apart.
    costs, strategy, refine, lower_bound, digest
        As in `fewest_mistakes`.
    start : array of shape (p, n_rules), optional
        Weights to start from.
    limits, seed
        The limits on all rules together, and the seed of each rule.
    basis : callable, optional
        The `whitening` of the problem, where several schemes share it.
    begin : callable, optional
        Is told the number of each rule before its search, and returns its ``progress``.

    Raises
    ------
    ValueError
        If the scores of some rows are beyond float64.
    """
    own = cache(lambda: whitening(problem, np.random.default_rng(seed))) if basis is None else basis
    digest = digest or MatrixDigest.of(problem.X)
    alone = []
    for rule, sides in enumerate(model.sides.T):
        rest = limits.part(1.0 / (model.n_rules - rule))
        best = fewest_mistakes(
            problem.resigned(sides[codes]),
            costs=costs,
            start=None if start is None else start[:, rule],
            strategy=strategy,
            refine=refine,
            lower_bound=lower_bound,
            limits=rest,
            rng=np.random.default_rng(seed),
            sides=sides_of(model.scheme, model.classes, rule),
            digest=digest,
            basis=own if costs is None else None,  # rows without cost take no part
            progress=None if begin is None else begin(rule),
        )
        alone.append(best)
        limits.interrupted |= rest.interrupted
    printed = strategy == "textbook"
    together = alone if printed else best_together(alone, model.scheme, codes)
    model.W[:] = np.column_stack([rule.w for rule in together])
    model.totals[1:] = [rule.updates for rule in together]
    try:
        scored = model.scores(problem.X)
    except ValueError:
        raise ValueError(_BEYOND_FLOATS) from None
    pairs = zip(together, scored.T, strict=True)
    together = [_as_predicted(rule, score, printed=printed) for rule, score in pairs]
    return FoundRules(model, together, alone)


def _as_predicted(best: FewestMistakes, score: Vector, *, printed: bool) -> FewestMistakes:
    """The rule with the mistakes of `predict`, and the bound on them.

    In a proof, and in the search, a row on the hyperplane is a mistake. For rules that may have
    such rows, the proof is reduced to what holds where they are negative, as for `predict`. Where
    rounding would give a rule fewer mistakes than any hyperplane makes, the rows whose sign
    rounding decides are mistakes.
    """
    signs, costs, proof = best.problem.signs, best.costs, best.proof
    errors = exact_cost((signs != 0) & ((score > 0.0) != (signs > 0)), costs)
    if printed or errors != best.errors:
        own = None if costs is None else [Fraction(value) for value in costs.tolist()]
        proof = proof.with_zero_negative({*np.flatnonzero(signs > 0).tolist()}, own)
    if errors < proof.bound:
        errors = max(best.errors, proof.bound)
    history = best.history if printed else [*best.history[:-1], (best.updates, float(errors))]
    claims, shares = proof.contradictions, proof.shares
    return replace(
        best, errors=errors, bound=proof.bound, claims=claims, shares=shares, history=history
    )


@dataclass
class _Search:
    """The best rule so far, and the contradictions so far."""

    given: Problem  # the rows that contradict each other
    problem: Problem  # the same, with columns of usual size, among which a rule is searched for
    powers: Indices | None  # by which powers of two the columns differ, if they do
    costs: Vector | None
    start: Vector | None
    limits: Limits
    rng: np.random.Generator
    basis: Callable[[], Basis] | None
    progress: MistakesProgress | None
    w: Vector = field(init=False)
    s: Vector | None = None  # the products of w with the rows, if they are known
    errors: float = math.inf
    bound: Fraction = Fraction(0)
    claims: list[Dependence] = field(default_factory=list)
    shares: tuple[Fraction, ...] | None = None
    history: list[tuple[int, float]] = field(default_factory=list)
    updates: int = 0
    cheap: list[Vector] = field(default_factory=list)
    proved: bool = False  # whether w has every row right, by exact arithmetic

    def __post_init__(self) -> None:
        self.w = np.zeros(self.problem.p)  # whenever Ctrl-C comes, there is a rule

    def run(self, strategy: str, refine: bool, lower_bound: bool) -> None:
        """Cheap rules, the pocket, the descent, the proof.

        A rule without mistakes is looked for early where cheap rules make few.
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
        early = self.errors <= 0.01 * (n if costs is None else costs.sum())
        if early:
            self._separate(packing)
        if self.errors > self.bound and self.limits.reached() is None:
            self._fill_pocket(strategy, self.limits.part(0.2 if refine or lower_bound else 1.0))
            if basis is not None:
                self._descend(basis, self.limits.part(0.5 if lower_bound else 0.9))
        if not early:
            self._separate(packing)
        if packing.w is None:
            self._leave_hyperplane()
        if lower_bound:
            self._prove(packing)
        if basis is not None:
            self._search_on(basis)

    def run_as_printed(self, lower_bound: bool) -> None:
        """The pocket algorithm alone, and then the proof, which leaves its weights as they are."""
        if self.start is not None:
            self.w = self.start.copy()
        if self.problem.n == 0:  # no mistake costs anything
            self.errors, self.history = 0.0, [(0, 0.0)]
            return
        self._fill_pocket("textbook", self.limits.part(0.5 if lower_bound else 1.0))
        if lower_bound:
            packing = Packing(LocalPasses(self.given), self.costs)
            packing.take_duplicates(self.limits.part(0.25))
            self._add(packing.contradictions, packing.bound)
            self._prove(packing)

    def result(self) -> tuple[Vector, Vector]:
        """The best rule for the rows as they were given, and its products with them.

        Products that vanish in float64, though neither w nor the row is zero, are made larger.
        """
        w, s = self.w, self.products()
        if self.powers is not None:
            w = _ldexp(w, self.powers)
            s = (products if self.proved else sure_products)(self.given, w)
        if not s.all():
            larger = _enlarged(w, self.given.radius)
            t = (products if self.proved else sure_products)(self.given, larger)
            if np.isfinite(t).all() and cost_of(t, self.costs) < cost_of(s, self.costs):
                return larger, t
        return w, s

    def _smooth_rules(self) -> Basis | None:
        """The averaged perceptron; while there is time, least squares and logistic regression."""
        problem, costs, rng, limits = self.problem, self.costs, self.rng, self.limits
        self._consider_cheap(averaged_perceptron(problem, limits.part(0.2), rng, costs))
        if limits.reached() is not None:
            return None
        basis = whitening(problem, rng) if self.basis is None else self.basis()
        for steps in (0, 50):  # no steps are least squares
            if limits.reached() is None:
                self._consider_cheap(logistic(problem, costs, basis, limits.part(0.5), steps))
        return basis

    def _separate(self, packing: Packing) -> None:
        """Look for a rule without mistakes, which is proved right, and whose margin is large.

        In vain, if rows contradict each other; of large data, some of them often do.
        """
        n, size = self.problem.n, self._part_size()
        if not self.claims and n > 2 * size and self.limits.reached() is None:
            rows = np.sort(self.rng.choice(n, size=size, replace=False))
            some, costs = _subset(self.given, self.costs, rows)
            self._pack(Packing(LocalPasses(some), costs), rows, 1, self.limits.part(0.25))
        if not self.claims:
            packing.seek(self.limits.part(0.5))
        if packing.w is not None:  # the signs of all products are proved
            w = np.append(packing.w, 0.0)[: self.problem.p]
            w = w if self.powers is None else _ldexp(w, -self.powers)
            s = products(self.problem, w)
            self.errors, self.proved = math.inf, True
            self._keep(w, cost_of(s, self.costs), s)

    def _fill_pocket(self, strategy: str, limits: Limits) -> None:
        limits.updates = limits.updates or _UPDATES
        kept = fill_pocket(
            self.problem, limits, self.rng, strategy=strategy, start=self.start, costs=self.costs
        )
        self.limits.interrupted |= limits.interrupted
        self.history, self.updates = kept.history, kept.updates
        self._keep(kept.w, kept.errors)

    def _descend(self, basis: Basis, limits: Limits) -> None:
        """From the best rule, of large data first on a sample of the rows."""
        problem, costs, rng = self.problem, self.costs, self.rng
        most = max(problem.rows_within(_SAMPLE_ENTRIES), _SAMPLE_ROWS_PER_WEIGHT * problem.p)
        if problem.n > 2 * most:
            rows = np.sort(rng.choice(problem.n, size=most, replace=False))
            some, own = _subset(problem, costs, rows)
            gains = descend(some, self.w, own, basis, limits.part(0.5), rng)
            for w, _ in list(gains)[-1:]:
                self._consider(w)
        for w, errors in descend(problem, self.w, costs, basis, limits, rng):
            self._keep(w, errors)

    def _search_on(self, basis: Basis) -> None:
        """While there is time that was given, descend from rules near the best."""
        limits, problem, rng = self.limits, self.problem, self.rng
        while limits.seconds is not None and self.errors > self.bound and limits.reached() is None:
            aside = rng.normal(size=problem.p) @ basis
            size = np.abs(self.products()).mean() / np.abs(products(problem, aside)).mean()
            start = self.w + aside * size * 10.0 ** -rng.uniform(0.0, 2.0)
            if not np.isfinite(start).all():
                return
            for w, errors in descend(problem, start, self.costs, basis, limits, rng):
                self._keep(w, errors)
            self._leave_hyperplane()

    def _leave_hyperplane(self) -> None:
        """Move where no row lies on the hyperplane, to the middle of an interval."""
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
            if np.isfinite(w).all() and cost_of(s, self.costs) <= self.errors:
                self.w, self.errors, self.s = w, cost_of(s, self.costs), s
                if s.all():
                    break

    def _prove(self, packing: Packing) -> None:
        """Find contradictions; those within disjoint parts of the rows add up.

        Large data is searched part by part, after the candidate that `_separate` has found. A part
        without a contradiction is searched again together with the next one.
        """
        if self.limits.reached() is not None:
            return
        problem, everything, size = self.given, np.arange(self.given.n), self._part_size()
        searches = 1 << 62
        if self.limits.seconds is None:
            searches = max(2, _SEARCHED // (min(size, problem.n) * problem.p))
        if problem.n <= 2 * size:
            self._pack(packing, everything, searches, self.limits)
            self._share(packing.passes)
            return
        if packing.candidate is not None:
            self._pack(packing, everything, 1, self.limits)
        free = np.ones(problem.n, dtype=np.bool_)
        free[[row for claim in self.claims for row in claim.among or ()]] = False
        left = self.rng.permutation(np.flatnonzero(free))
        rows = left[:0]
        for part in np.array_split(left, max(1, len(left) // size)):
            if searches <= 0 or self.errors <= self.bound or self.limits.reached() is not None:
                break
            rows = np.sort(np.append(rows, part))
            some, costs = _subset(problem, self.costs, rows)
            found = self._pack(Packing(LocalPasses(some), costs), rows, searches, self.limits)
            searches -= max(found, 1)
            if found > 0:
                rows = left[:0]

    def _part_size(self) -> int:
        """The rows of a part of large data."""
        return max(_PART_ROWS, _PART_ROWS_PER_WEIGHT * self.problem.p)

    def _pack(self, packing: Packing, names: Indices, most: int, limits: Limits) -> int:
        """Take contradictions among the rows of these names, and say how many were found."""
        found, before = 0, packing.bound
        while found < most and self.errors > self.bound and packing.take_next(limits):
            self._add([renamed(packing.contradictions[-1], names)], packing.bound - before)
            found, before = found + 1, packing.bound
        return found

    def _share(self, passes: Passes) -> None:
        """Let contradictions of small data have common rows: often that proves more."""
        size = passes.n * passes.p
        if self.errors <= self.bound or size > _SHARED or passes.n == 0:
            return
        searches = 1 << 62
        if self.limits.seconds is None:  # few updates ask for little work
            share = min(1.0, (self.limits.updates or _UPDATES) / _UPDATES)
            searches = min(math.ceil(share * _MAX_SHARED), _SHARED // size)
        for found in share_rows(passes, self.claims, self.costs, searches, self.limits, self.rng):
            if found.bound > self.bound:
                self.claims, self.shares, self.bound = [*found.claims], found.shares, found.bound
                self._tell()
            if self.errors <= self.bound:
                return

    def _add(self, claims: list[Dependence], cost: Fraction) -> None:
        self.claims += claims
        self.bound += cost
        self._tell()

    def products(self) -> Vector:
        """⟨a_i, w⟩ for the best rule so far; a pass over many rows, unless they are known."""
        if self.s is None:
            self.s = sure_products(self.problem, self.w)
        return self.s

    def _consider_cheap(self, w: Vector) -> None:
        self.cheap.append(w)
        self._consider(w)

    def _consider(self, w: Vector) -> None:
        s = sure_products(self.problem, w)
        self._keep(w, cost_of(s, self.costs), s)

    def _keep(self, w: Vector, errors: float, s: Vector | None = None) -> None:
        if errors < self.errors and np.isfinite(w).all():
            self.w, self.errors, self.s = w.copy(), errors, s
            self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.errors, rounded_down(self.bound))


def best_together(
    found: list[FewestMistakes], scheme: Scheme, codes: Indices
) -> list[FewestMistakes]:
    """The rules of a scheme that together choose the right class most often.

    Those found are each the best for their classes, but their scores have no common scale. Averaged
    perceptrons, least squares, logistic regressions, or the rules that choose the most frequent
    class take their place, if they make fewer mistakes together.
    """
    if len(found) == 1:
        return found
    X, costs = found[0].problem.X, found[0].costs
    kinds = range(min(len(rule.cheap) for rule in found))
    variants = [[rule.w for rule in found]]
    variants += [[rule.cheap[kind] for rule in found] for kind in kinds]
    if found[0].problem.fit_intercept:
        constant = np.append(np.zeros(X.shape[1]), 1.0)
        sides = scheme.sides[np.bincount(codes, costs).argmax()]  # 0: a pair of other classes
        pairs = zip(found, sides, strict=True)
        variants.append([side * constant if side else rule.w for rule, side in pairs])
    wrong = []
    for rules in variants:
        with one_blas_thread():
            chosen = scheme.choose(scores(X, np.column_stack(rules)))
        wrong.append(cost_of(np.where(chosen == codes, 1.0, -1.0), costs))
    best = int(np.argmin(wrong))
    if best == 0:
        return found
    together = []
    for rule, w in zip(found, variants[best], strict=True):
        inner, own = _subset(rule.problem, costs, _taking_part(rule.problem, costs))
        errors = exact_cost(~(sure_products(inner, w) > 0.0), own)
        history = [*rule.history[:-1], (rule.updates, float(errors))]
        together.append(replace(rule, w=w, errors=errors, history=history))
    return together


def _taking_part(problem: Problem, costs: Vector | None) -> Indices:
    """The rows whose mistakes cost something, without those of zeros that are always right."""
    taking = problem.signs != 0
    if costs is not None:
        taking &= costs > 0.0
    if not problem.fit_intercept:
        # By entries: the square of a length may be too small for float64.
        entries: Any = problem.X != 0.0
        taking &= (problem.signs > 0) | (np.asarray(entries.sum(axis=1)).ravel() > 0)
    return np.flatnonzero(taking)


def _subset(problem: Problem, costs: Vector | None, rows: Indices) -> tuple[Problem, Vector | None]:
    if len(rows) == problem.n:
        return problem, costs
    X, signs = problem.X[rows], problem.signs[rows]
    some = replace(problem, rows=view(X, signs, problem.fit_intercept))  # checked, and within R
    return some, None if costs is None else costs[rows]


def exact_cost(wrong: npt.NDArray[np.bool_], costs: Vector | None) -> Fraction:
    """The cost of the rows that are wrong, without rounding."""
    if costs is None:
        return Fraction(int(np.count_nonzero(wrong)))
    values, counts = np.unique(costs[wrong], return_counts=True)
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return sum((Fraction(value) * count for value, count in pairs), Fraction(0))


def _evened(problem: Problem) -> tuple[Problem, Indices | None]:
    """The rows with columns near 1 in size, by exact powers of two, if some are far from it.

    Weights for these rows are those for the rows as they are, by the same powers. None: the
    columns are of usual size, or so uneven within that numbers would vanish.
    """
    X = problem.X
    largest = np.zeros(problem.p - 1)
    for first, last in stretches(X):
        some: Any = X[first:last]
        part = abs(some).max(axis=0)
        part = part if isinstance(part, np.ndarray) else part.toarray().ravel()
        largest = np.maximum(largest, part)
    usual = (largest > _SMALL) & (largest < _LARGE)
    if (usual | (largest == 0.0)).all():
        return problem, None
    powers = np.append(np.where(usual, 0, -np.frexp(largest)[1]), 0).astype(np.int64)
    even: Any
    if isinstance(X, np.ndarray):
        even = np.ldexp(X, powers[:-1])
    else:
        even = X.copy()
        even.data = np.ldexp(X.data, powers[X.indices])
    if np.count_nonzero(even if isinstance(even, np.ndarray) else even.data) < np.count_nonzero(
        X if isinstance(X, np.ndarray) else X.data
    ):
        return problem, None
    return pose(even, problem.signs, problem.fit_intercept), powers


def _ldexp(w: Vector, powers: Indices | None) -> Vector:
    """The weights times powers of two, and all by one more, so that none leaves float64."""
    if powers is None or not w.any():
        return w
    sizes = (np.frexp(w)[1] + powers)[w != 0.0]
    return np.ldexp(w, powers + int(min(1000 - sizes.max(), max(0, -960 - sizes.min()))))


def _enlarged(w: Vector, radius: float) -> Vector:
    """The weights times a power of two: as large as products within float64 allow."""
    highest = math.frexp(float(np.abs(w).max()))[1] + math.frexp(min(max(radius, 1.0), 1e308))[1]
    return np.ldexp(w, max(0, 1000 - highest))


def renamed(claim: Dependence, names: Indices) -> Dependence:
    """The contradiction in terms of the numbers of all rows."""
    rows, among = names[list(claim.rows)], names[list(claim.among or ())]
    return replace(claim, rows=tuple(rows.tolist()), among=tuple(among.tolist()))
