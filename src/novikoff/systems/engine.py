"""One projection decides a system (D3): the engine of the verdict, aimed at the row t > 0.

Project −e on the cone of the rows [−a_i, c_i] (Lawson and Hanson 1974, ch. 23). Either it lies in
the cone, −e = Σ λ_i [−a_i, c_i]: then Σ λ_i a_i = 0 and ⟨c, λ⟩ = −1, and the rows in use, being
independent, are an irreducible conflict (Gleeson and Ryan 1990). Or minus the residual is a (w, t)
with t > 0, and w/t is the solution nearest to the origin. Strict rows are targets beside e, and
those that the residual leaves at zero are targets anew (Motzkin's transposition theorem).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Ending
from novikoff.geometry.faces import combined, of_size_one, partition
from novikoff.geometry.min_norm import Iterate, Objective, minimise, nearest_point, start_rows
from novikoff.geometry.passes import Mask, RowSet
from novikoff.geometry.rational import Projection, project
from novikoff.geometry.view import View, balanced_view
from novikoff.proofs.system_checker import Multipliers
from novikoff.systems.system import System

# The unit of t in which the engine looks again.
_LARGER_UNIT = 2.0**20
# Weights below this share of the largest are taken for rounding.
_FIRM_SHARE = 1e-14
# Powers of two by which rows that a float point fails are asked for more slack.
_NUDGES = (4.0, 14.0, 24.0)


class Point(NamedTuple):
    """A solution (w, t) of the engine; ``floats`` says that w is one of floats as it is."""

    v: list[Fraction]
    floats: bool = False


class Contradiction(NamedTuple):
    """Rows that contradict each other, no fewer of them do, and their λ."""

    rows: Indices
    multipliers: list[Fraction]
    weak: list[Fraction] | None = None  # where only strict rows contradict: solves all weakly


@dataclass
class Candidate:
    """The best that floats found, before anything is proved: a point, and rows with weights."""

    w: Vector | None = None
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: Vector = field(default_factory=lambda: np.empty(0))
    n_steps: int = 0
    trace: Mapping[str, Any] | None = None  # of a method


@np.errstate(all="ignore")  # what overflows proves nothing, and stops nothing
def decide(
    system: System,
    limits: Limits,
    *,
    within: Mask | None = None,
    start: Indices | None = None,
    nearest: bool = False,
    floats: bool = True,
    candidate: Candidate | None = None,
) -> Point | Contradiction:
    """Find a point or a conflict among the rows ``within``; OutOfTimeError where time is up.

    With ``nearest`` the point is the one nearest to the origin, exactly; else floats that
    satisfy every row will do, if ``floats``. ``candidate`` is kept on the way.
    """
    candidate = candidate or Candidate()
    passes, e = system.passes, system.mask_of_e
    every = np.ones(passes.n, dtype=np.bool_) if within is None else within | e
    view = balanced_view(passes, limits)
    if nearest:  # all variables in one unit, and t in its own
        columns = np.append(np.full(system.p, view.columns[:-1].max()), view.columns[-1])
        view = View(passes, columns, None, view.lengths)
    decision = _Decision(system, limits, view, np.flatnonzero(every & system.free), candidate)
    floats = floats and not nearest and within is None
    if floats and system.strict.any() and len(decision.free) == 0:
        strict = decision.strict_point()
        if strict is not None:
            return strict
    left = every & ~system.free
    targets = (system.strict & left) | e
    stages: list[tuple[list[Fraction], RowSet]] = []
    while targets.any():
        weak = bool((targets == e).all())  # only t > 0 is asked for
        among = left & ~e if weak else left
        total = passes.exact_sum(targets, limits)
        guess = decision.guess(among, total, start)
        done = None
        if weak:
            w = nudged(system, candidate.w, candidate.rows, limits) if floats else None
            if w is not None:
                return Point(system.homogeneous(w.tolist()), floats=True)
            if not nearest and candidate.w is not None:
                guess = decision.guess_again(among, guess)
            if candidate.w is None:
                done = decision.fitted()
        done = done or decision.project(among, total, guess)
        candidate.n_steps += 1
        if done.w is None or done.seen is None:
            found = decision.conflict(left, targets, done)
            return found if targets[-1] else found._replace(weak=decision.joined(stages, left))
        left = passes.rows_at_zero(left, done.seen)
        if weak:  # e took no part, and t > 0
            left = left & ~e
        targets = targets & left
        stages.append((of_size_one(done.w, decision.view.columns), every & ~system.free & ~left))
    return Point(decision.joined(stages, left))


@dataclass
class _Decision:
    """The steps of one decision, and what they share."""

    system: System
    limits: Limits
    view: View
    free: Indices  # equalities
    candidate: Candidate

    def strict_point(self) -> Point | None:
        """Find (w, t) with all products positive, as the verdict does; None where that fails."""

        def positive(answer: Iterate) -> bool:
            return min(answer.seen.low.values()) > 0.0

        objective, start = nearest_point(self.view), start_rows(self.view)
        answer = minimise(objective, start, 1e-3, self.limits, positive)
        if not (np.isfinite(answer.w).all() and answer.w[-1] > 0.0):
            return None
        v = [Fraction(value) for value in answer.w.tolist()]
        return Point(v) if self.system.holds(v, self.limits) else None

    def project(self, among: Mask, total: list[Fraction], guess: Indices) -> Projection:
        """Project −``total`` on the cone of the rows ``among``, exactly."""
        passes, columns = self.system.passes, self.view.columns
        return project(passes, among, total, columns, guess, self.limits, self.free)

    def guess(self, among: Mask, total: list[Fraction], start: Indices | None) -> Indices:
        """The rows that floats would use, and what they say: a point, unless the residual is 0."""
        candidate, begin = self.candidate, np.empty(0, dtype=np.int64)
        seen = self.view.seen_sum(total)
        size = float(np.abs(seen).max(initial=0.0))
        if not 0.0 < size < np.inf or not (among.any() or len(self.free)):
            return begin
        if among.any():
            begin = start_rows(self.view, among) if start is None else start[among[start]]
        b = np.append(0.0, -seen / size)
        objective = Objective(self.view, b, 0.0, within=among, free=self.free)
        answer = minimise(objective, begin, 1e-9, self.limits, lambda _: False)
        candidate.n_steps += len(answer.working)
        candidate.rows, candidate.weights, candidate.w = answer.rows, answer.multipliers, None
        t = float(answer.w[-1])
        if t > 0.0 and np.isfinite(answer.w).all() and answer.ending is not Ending.FITTED:
            candidate.w = answer.w[:-1] / t * float(self.system.unit)
        return answer.rows

    def guess_again(self, among: Mask, guess: Indices) -> Indices:
        """Look in a larger unit of t whether the residual is zero after all.

        It has about the length 1/√(1 + ‖w‖²), so that a point far away may be nothing but rounding.
        """
        passes, columns = self.system.passes, self.view.columns.copy()
        columns[-1] *= _LARGER_UNIT
        lengths = None
        if self.view.lengths is not None:
            lengths = passes.lengths(columns, None, self.limits)
        larger = View(passes, columns, None, lengths)
        other = replace(self, view=larger, candidate=Candidate())
        rows = other.guess(among, passes.exact_sum(self.system.mask_of_e, self.limits), guess)
        if other.candidate.w is not None:
            return guess
        self.view, self.candidate.w = larger, None
        self.candidate.rows, self.candidate.weights = other.candidate.rows, other.candidate.weights
        return rows

    def fitted(self) -> Projection | None:
        """−e as a sum of the rows alone that floats give more than rounding, if it is one."""
        passes, rows = self.system.passes, self.candidate.rows
        if len(rows) == 0:
            return None
        sizes = np.abs(self.candidate.weights)
        if self.view.lengths is not None:
            sizes = sizes * self.view.lengths_of(passes.fetch(rows), rows)
        firm = rows[sizes > _FIRM_SHARE * sizes.max()]
        few = replace(self, free=firm[self.system.free[firm]])
        none = np.zeros(passes.n, dtype=np.bool_)
        total = passes.exact_sum(self.system.mask_of_e, self.limits)
        done = few.project(none, total, np.setdiff1d(firm, few.free))
        return done if done.w is None else None

    def conflict(self, left: Mask, targets: Mask, done: Projection) -> Contradiction:
        """An irreducible conflict, given that −Σ a_i over the targets is in the cone: for one.

        That is e wherever it is one: the others then need not be strict.
        """
        passes, e = self.system.passes, self.system.e
        target = e if targets[e] else int(np.flatnonzero(targets)[0])
        if np.count_nonzero(targets) > 1:
            alone = passes.row_set(np.array([target]))
            guess = np.setdiff1d(done.rows, [*self.free.tolist(), target])
            done = self.project(left & ~alone, passes.exact_sum(alone, self.limits), guess)
            if done.w is not None:
                raise AssertionError("−Σ a_i over the targets is in the cone, −a_i of one is not.")
        pairs = [(int(i), mu) for i, mu in zip(done.rows, done.multipliers, strict=True) if mu]
        if target != e:
            pairs.append((target, Fraction(1)))
        rows = np.array([i for i, _ in pairs if i != e], dtype=np.int64)
        return Contradiction(rows, [mu for i, mu in pairs if i != e])

    def joined(self, stages: list[tuple[list[Fraction], RowSet]], left: Mask) -> list[Fraction]:
        """One (w, t) that does what the residuals do one after the other."""
        passes = self.system.passes
        if len(stages) == 1:
            return stages[0][0]
        return combined(passes, stages, [left, passes.row_set(self.free)], self.limits)


def nudged(system: System, w: Vector | None, rows: Indices, limits: Limits) -> Vector | None:
    """Floats that satisfy every row, from some that miss a few by rounding; None if not found.

    Twelve digits of it are tried first, for they are read more easily. The rows that the point
    meets are asked for a little slack each: one least-squares step.
    """
    if w is None or not np.isfinite(w).all():
        return None
    for near in (np.array([float(f"{value:.12g}") for value in w.tolist()]), w):
        if system.holds(system.homogeneous(near.tolist()), limits):
            return near
    if len(rows) == 0 or system.free.any():  # equalities leave floats no room
        return None
    A = system.passes.at(rows)
    left, right = A[:, :-1], A[:, -1] * float(system.unit)
    sizes = np.abs(left) @ np.abs(w) + np.abs(right)
    sizes = np.maximum(sizes, np.abs(left).max(axis=1)) * 2.0**-53
    wanted = np.outer(sizes, 2.0 ** np.array(_NUDGES)) - (left @ w + right)[:, None]
    if not np.isfinite(wanted).all():
        return None
    with one_blas_thread():
        steps = lstsq(left, wanted, lapack_driver="gelsy", check_finite=False)[0]
    for near in w + steps.T:
        if np.isfinite(near).all() and system.holds(system.homogeneous(near.tolist()), limits):
            return np.asarray(near)
    return None


def relative_interior(system: System, limits: Limits) -> tuple[tuple[Fraction, ...], Multipliers]:
    """A point (w, t) in the relative interior of a feasible system, and its implicit equalities.

    These are the rows, as they are stated, at which every solution is zero, with λ > 0 on them,
    and the equalities with theirs, of any sign: Σ λ_i a_i = 0.
    """
    passes = system.passes
    free = np.flatnonzero(system.free)
    with np.errstate(all="ignore"):
        view = balanced_view(passes, limits)
        parts = partition(view, ~system.free, limits, free=free)
    if parts.w is None:
        raise AssertionError("The system is feasible, but not even e is separated.")
    more: dict[int, Fraction] = {}
    if parts.dependence is not None:
        more = dict(zip(parts.dependence.rows, parts.dependence.multipliers, strict=True))
    at_zero = passes.members_of(parts.left, np.arange(passes.n)).tolist()
    weights = {i: 1 + more.get(i, Fraction(0)) for i in at_zero}
    weights |= {i: more[i] for i in free.tolist() if more.get(i)}
    found = system.stated_multipliers(weights.keys(), weights.values())
    claim = dict(zip(found.rows, found.multipliers, strict=True))
    for number in system.numbers[system.fixed].tolist():
        for side in (number, number + system.p):  # both bounds hold with equality
            claim[side] = claim.get(side, Fraction(0)) + 1
    order = sorted(claim)
    claimed = Multipliers(tuple(order), tuple(claim[number] for number in order))
    return system.claimed(parts.w), claimed
