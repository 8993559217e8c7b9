"""A lower bound on the cost of the mistakes of every hyperplane, by contradictions.

Objective
    Maximise Σ v_C over shares v_C ≥ 0 of contradictions C, with Σ_{C∋i} v_C ≤ c_i for every row i,
    where c_i is the cost of a mistake on row i.
Input
    The signed rows a_i and the costs c_i, by default 1.
Output
    Contradictions, their shares, and the bound Σ v_C.

A contradiction is a set of rows with Σ λ_i a_i = 0 and λ > 0. By Gordan's theorem every hyperplane
misclassifies one of its rows. A row with ⟨a_i, w⟩ = 0 counts as a mistake here.

`Packing` finds contradictions without a common row. Each of them proves a separate mistake, which
costs as much as its cheapest row.

`share_rows` finds contradictions that have rows in common, each of which proves a share of a
mistake. The misclassified rows of a hyperplane include a row of every C. So they cost
Σ c_i ≥ Σ_i Σ_{C∋i} v_C ≥ Σ_C v_C. The best shares solve a linear program, whose dual variables are
prices y_i of the rows. A contradiction whose rows have prices that add up to less than 1 may raise
the bound. These contradictions are vertices of another linear program: minimise Σ y_i·λ_i over
λ ≥ 0 with Σ λ_i·a_i = 0 and Σ r_i·λ_i = 1. Random r > 0 and random additions to y lead to different
vertices.

References
----------
Parker, M. and Ryan, J. (1996). Finding the minimum weight IIS cover of an infeasible system of
linear inequalities. *Annals of Mathematics and Artificial Intelligence* 17, 107-126.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Iterate, minimise, nearest_point, start_rows
from novikoff.geometry.duplicates import all_opposite_duplicates
from novikoff.geometry.faces import prove_contradiction
from novikoff.geometry.hitting_sets import best_shares
from novikoff.geometry.passes import OutOfTimeError, Passes
from novikoff.geometry.view import View, balanced_view
from novikoff.proofs.dependence import Dependence

# The number of searches in a round, after which shares are computed again, and the number of
# successive rounds without a new contradiction after which the search ends.
_AT_ONCE, _IDLE = 8, 12
# Searches are solved together, as one linear program, if the rows have at most this many entries:
# most of the time of a small program is spent on calling the solver.
_TOGETHER = 1 << 15
# λ below _NOTHING is a rounding error. A new contradiction must have a price below
# 1 − _GAIN.
_NOTHING, _GAIN = 1e-9, 1e-6


class Packing:
    """Contradictions without a common row, found one after another.

    ``bound`` is the exact lower bound on the cost of the mistakes of any hyperplane. ``complete``
    says that the remaining rows can be separated, and ``separator`` are weights that do it. ``w``
    separates all rows, if the first search found such a w. ``candidate`` is a contradiction that
    `seek` found and that is not proved yet.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> from novikoff.geometry.passes import LocalPasses
    >>> X, signs = np.array([[0.0], [0.0], [1.0]]), np.array([1, -1, 1], dtype=np.int8)
    >>> packing = Packing(LocalPasses(signed_problem(X, signs, True)))
    >>> packing.take_duplicates(Limits())
    >>> packing.bound, packing.contradictions[0].among
    (Fraction(1, 1), (0, 1))
    """

    def __init__(self, passes: Passes, costs: Vector | None = None) -> None:
        self.passes = passes
        self.costs = np.ones(passes.n) if costs is None else costs
        self.contradictions: list[Dependence] = []
        self.bound = Fraction(0)
        self.complete = False
        self.w: Vector | None = None
        self.separator: Vector | None = None
        self._left = self.costs > 0.0
        self._view: View | None = None
        self._start = np.empty(0, dtype=np.int64)
        self.candidate: Iterate | None = None

    def take_duplicates(self, limits: Limits) -> None:
        """Add pairs of identical rows with opposite labels, most costly first, and zero rows."""
        if limits.reached() is not None:
            return
        try:
            for rows in all_opposite_duplicates(self.passes, self.costs.tolist(), limits):
                if self._left[list(rows)].all():
                    self._add(Dependence((), (), True, tuple(sorted(rows))))
        except OutOfTimeError:
            return

    def leave_out(self, rows: Sequence[int]) -> None:
        """Search only the other rows for contradictions."""
        self._left[list(rows)] = False

    def seek(self, limits: Limits) -> None:
        """Search the remaining rows for a contradiction, and keep it in ``candidate``."""
        rows_left = self._left
        if not rows_left.any():
            self.complete = True
            return
        if limits.reached() is not None:
            return
        try:
            if self._view is None:
                self._view = balanced_view(self.passes, limits)
            objective = nearest_point(self._view, within=None if rows_left.all() else rows_left)
            start = self._start[rows_left[self._start]]
            start = start if len(start) > 0 else start_rows(self._view, rows_left)
            self.candidate = minimise(objective, start, 1e-3, limits, self._separated)
        except OutOfTimeError:
            return

    def take_next(self, limits: Limits) -> bool:
        """Find one more contradiction and prove it; False if there is none or time is up."""
        if self.candidate is None:
            self.seek(limits)
        answer, self.candidate = self.candidate, None
        if self.complete or answer is None or self._view is None or limits.reached() is not None:
            return False
        try:
            with np.errstate(all="ignore"):
                claim = prove_contradiction(self._view, answer.rows, answer.multipliers, limits)
        except OutOfTimeError:
            return False
        if claim is None:
            return False
        self._start = np.setdiff1d(answer.working_set, claim.among or ())
        self._add(claim)
        return True

    def _separated(self, answer: Iterate) -> bool:
        """Whether the search has found weights that separate the remaining rows."""
        if not min(answer.last_pass.low.values()) > 0.0:
            return False
        if self._left.all() and not self.contradictions:
            if answer.last_pass.proof is None or not answer.last_pass.proof.separates:
                return False
            self.w = answer.w
        self.complete, self.separator = True, answer.w
        return True

    def _add(self, claim: Dependence) -> None:
        among = list(claim.among or ())
        self.contradictions.append(claim)
        self._left[among] = False
        self.bound += Fraction(float(self.costs[among].min()))


@dataclass(frozen=True)
class SharedRows:
    """Contradictions, their shares, and the lower bound on the cost of mistakes that they prove."""

    claims: tuple[Dependence, ...]
    shares: tuple[Fraction, ...]
    bound: Fraction


def share_rows(
    passes: Passes,
    claims: Sequence[Dependence],
    costs: Vector | None,
    searches: int,
    limits: Limits,
    rng: np.random.Generator,
) -> Iterator[SharedRows]:
    """Search for contradictions that raise the bound of the given ones; yield each better bound.

    The search ends after ``searches`` searches, at a limit, or after several rounds without a new
    contradiction.

    Examples
    --------
    The labels of five points on a line alternate. A contradiction has three rows, so that any two
    contradictions have a common row. But every hyperplane makes two mistakes.

    >>> from novikoff.core.problem import signed_problem
    >>> from novikoff.geometry.passes import LocalPasses
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> passes = LocalPasses(signed_problem(X, np.array([1, -1, 1, -1, 1], dtype=np.int8), True))
    >>> *_, shared = share_rows(passes, (), None, 100, Limits(), np.random.default_rng(0))
    >>> shared.bound
    Fraction(2, 1)
    """
    prices, claims, best = np.zeros(passes.n), list(claims), Fraction(0)
    try:
        view = balanced_view(passes, limits)
    except OutOfTimeError:
        return
    columns: Any = sp.csr_array(view.gather(np.arange(passes.n))).T
    known, idle = {claim.among for claim in claims}, 0
    while limits.reached() is None and searches > 0 and idle < _IDLE:
        if claims:
            sets = [claim.among or () for claim in claims]
            prices, shares, bound = best_shares(sets, passes.n, costs, best, limits)
            if bound > best:
                best, positive = bound, [k for k, share in enumerate(shares) if share > 0]
                yield SharedRows(
                    tuple(claims[k] for k in positive), tuple(shares[k] for k in positive), bound
                )
        before, searches = len(claims), searches - _AT_ONCE
        aims, factors = np.empty((2, _AT_ONCE, passes.n))
        for k in range(_AT_ONCE):
            aims[k] = prices + rng.uniform(0.0, 10.0 ** -rng.uniform(0.5, 3.5), size=passes.n)
            factors[k] = rng.uniform(0.01, 1.0, size=passes.n)
        for solution in _cheapest(columns, aims, factors, limits):
            rows = np.flatnonzero(solution > _NOTHING)
            multipliers = solution[rows]
            if len(rows) == 0 or prices[rows].sum() > 1.0 - _GAIN:
                continue
            try:
                with np.errstate(all="ignore"):
                    lengths = view.lengths_of(passes.fetch(rows), rows)
                    claim = prove_contradiction(view, rows, multipliers / lengths, limits)
            except OutOfTimeError:
                return
            if claim is not None and claim.among not in known:
                known.add(claim.among)
                claims.append(claim)
        idle = idle + 1 if len(claims) == before else 0


def _cheapest(columns: Any, aims: Vector, factors: Vector, limits: Limits) -> Iterator[Vector]:
    """Yield for each search the λ ≥ 0 of the least price, unless none is found.

    A search minimises ⟨aim, λ⟩ with Σ λ_i·a_i = 0, where a_i is column i of ``columns``, and with
    ⟨factor, λ⟩ = 1.
    """
    searches, n = aims.shape
    options: Any = _options(limits)
    together = searches if n * columns.shape[0] <= _TOGETHER else 1
    if together > 1:
        options = {**options, "presolve": False}  # it takes longer than the solution
    program: Any = sp.vstack([columns, sp.csr_array(np.ones((1, n)))], format="csc")
    equations: Any = sp.block_diag([program] * together, format="csc")
    ends = equations.indptr[1:] - 1  # the last entry of a column is its factor
    right = np.tile(np.append(np.zeros(columns.shape[0]), 1.0), together)
    for first in range(0, searches, together):
        part = slice(first, first + together)
        equations.data[ends] = factors[part].ravel()
        optimum = linprog(
            aims[part].ravel(), A_eq=equations, b_eq=right, method="highs-ds", options=options
        )
        if optimum.x is not None and optimum.status == 0:
            yield from optimum.x.reshape(-1, n)


def _options(limits: Limits) -> Any:
    seconds_left = limits.seconds_left()
    return {} if seconds_left is None else {"time_limit": max(seconds_left, 1e-3)}
