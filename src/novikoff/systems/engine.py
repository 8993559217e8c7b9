"""The projection that decides a system of inequalities.

The vector −e is projected on the cone of the homogeneous rows [−a_i, c_i]. There are two cases.

- −e lies in the cone: −e = Σ λ_i [−a_i, c_i]. Then Σ λ_i a_i = 0 and ⟨c, λ⟩ = −1, which is a Farkas
  certificate. The rows with λ_i ≠ 0 are linearly independent, so they are an irreducible infeasible
  subset (IIS).
- Otherwise minus the residual is a vector (w, t) with t > 0, and w/t is the solution nearest to the
  origin.

If rows are strict, their sum is projected together with e. The strict rows whose product with the
residual is zero are projected again, until none is left (Motzkin's transposition theorem).

The projection is first computed in floats. The same projection in rational numbers then starts from
the rows that the floats used, and decides.

References
----------
Lawson, C. L. and Hanson, R. J. (1974). *Solving Least Squares Problems*, chapter 23.
Prentice-Hall.

Gleeson, J. and Ryan, J. (1990). Identifying minimally infeasible subsystems of inequalities. *ORSA
Journal on Computing* 2(1), 61-63.

Motzkin, T. S. (1936). *Beiträge zur Theorie der linearen Ungleichungen*. Dissertation, Basel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lstsq

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Mask, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Ending, Iterate, Objective, minimise, nearest_point, start_rows
from novikoff.geometry.faces import combined, of_size_one, partition
from novikoff.geometry.parts import RowSet
from novikoff.geometry.rational import Projection, project_on_cone
from novikoff.geometry.view import View, balanced_view
from novikoff.proofs.system_certificate import Multipliers
from novikoff.systems.system import System, sorted_multipliers

# The second projection in floats measures t in this unit.
_LARGER_UNIT = 2.0**20
# Multipliers below this share of the largest are regarded as rounding errors.
_FIRM_SHARE = 1e-14
# `nudged` solves least squares with dense rows of at most this many numbers.
_MAX_DENSE = 1 << 22
# `nudged` asks for a slack of 2 to these powers, times the rounding error.
_NUDGES = (4.0, 14.0, 24.0)


class Point(NamedTuple):
    """A solution (w, t) of the homogeneous rows; ``floats`` says that w consists of floats."""

    v: list[Fraction]
    floats: bool = False


class Conflict(NamedTuple):
    """An irreducible infeasible subset (IIS) of the homogeneous rows, and its multipliers λ.

    If only strict rows contradict each other, ``weak`` is a vector (w, t) that satisfies all of
    them weakly.
    """

    rows: Indices
    multipliers: list[Fraction]
    weak: list[Fraction] | None = None


@dataclass
class Candidate:
    """The best point and the best multipliers that floats have found so far, unproved."""

    w: Vector | None = None
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    multipliers: Vector = field(default_factory=lambda: np.empty(0))
    n_steps: int = 0
    trace: Mapping[str, Any] | None = None  # the trace of a method that the user chose by name
    # Rows that a float solver says contradict each other.
    suspected: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    excluded: bool = False  # whether strict rows exclude the point that was asked for


@np.errstate(all="ignore")  # floats that overflow prove nothing; exact arithmetic decides
def point_or_conflict(
    system: System,
    limits: Limits,
    *,
    within: Mask | None = None,
    start: Indices | None = None,
    nearest: bool = False,
    floats: bool = True,
    candidate: Candidate | None = None,
) -> Point | Conflict:
    """Find a point that satisfies the rows ``within``, or a conflict among them.

    Parameters
    ----------
    system : System
        The homogeneous rows.
    limits : Limits
        OutOfTimeError is raised when they are reached.
    within : mask, optional
        The rows that must hold; by default all rows.
    start : array of int, optional
        The rows from which the projection starts.
    nearest : bool
        Whether the point must be the solution nearest to the origin, exactly.
    floats : bool
        Whether a point in floats may be returned if it satisfies every row.
    candidate : Candidate, optional
        Receives the best point and the best multipliers that have been found so far.
    """
    candidate = candidate or Candidate()
    passes, e = system.passes, system.mask_of_e
    every = np.ones(passes.n, dtype=np.bool_) if within is None else within | e
    view = balanced_view(passes, limits)
    if nearest:  # all variables must have the same unit, but t may have a different unit
        columns = np.append(np.full(system.p, view.columns[:-1].max()), view.columns[-1])
        view = View(passes, columns, None, view.lengths)
    decision = _Decision(system, limits, view, np.flatnonzero(every & system.equalities), candidate)
    floats = floats and not nearest and within is None
    if floats and system.strict.any() and len(decision.equalities) == 0:
        strict = decision.strict_point()
        if strict is not None:
            return strict
    rows_left = every & ~system.equalities
    targets = (system.strict & rows_left) | e
    stages: list[tuple[list[Fraction], RowSet]] = []
    while targets.any():
        weak = bool((targets == e).all())  # no strict rows are left besides e
        among = rows_left & ~e if weak else rows_left
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
        if done.w is None or done.signs is None:
            conflict = decision.conflict(rows_left, targets, done)
            return (
                conflict
                if targets[-1]
                else conflict._replace(weak=decision.joined(stages, rows_left))
            )
        rows_left = passes.rows_at_zero(rows_left, done.signs)
        if weak:  # e was not among the projected rows, and t > 0 holds
            rows_left = rows_left & ~e
        targets = targets & rows_left
        stages.append(
            (of_size_one(done.w, decision.view.columns), every & ~system.equalities & ~rows_left)
        )
    return Point(decision.joined(stages, rows_left))


@dataclass
class _Decision:
    """The steps of one decision, and the data that they share."""

    system: System
    limits: Limits
    view: View
    equalities: Indices
    candidate: Candidate

    def strict_point(self) -> Point | None:
        """Find (w, t) with only positive products, by the search for a separating hyperplane."""

        def positive(answer: Iterate) -> bool:
            return min(answer.last_pass.low.values()) > 0.0

        objective, start = nearest_point(self.view), start_rows(self.view)
        answer = minimise(objective, start, 1e-3, self.limits, positive)
        if not (np.isfinite(answer.w).all() and answer.w[-1] > 0.0):
            return None
        v = [Fraction(value) for value in answer.w.tolist()]
        return Point(v) if self.system.holds(v, self.limits) else None

    def project(self, among: Mask, total: list[Fraction], guess: Indices) -> Projection:
        """Project −``total`` on the cone of the rows ``among``, exactly."""
        passes, columns = self.system.passes, self.view.columns
        return project_on_cone(passes, among, total, columns, guess, self.limits, self.equalities)

    def guess(self, among: Mask, total: list[Fraction], start: Indices | None) -> Indices:
        """Project in floats; return the rows in use, and keep the point if there is a residual."""
        candidate, begin = self.candidate, np.empty(0, dtype=np.int64)
        total_in_view = self.view.sum_in_view(total)
        size = float(np.abs(total_in_view).max(initial=0.0))
        if not 0.0 < size < np.inf or not (among.any() or len(self.equalities)):
            return begin
        if among.any():
            begin = start_rows(self.view, among) if start is None else start[among[start]]
        b = np.append(0.0, -total_in_view / size)
        objective = Objective(self.view, b, 0.0, within=among, free=self.equalities)
        answer = minimise(objective, begin, 1e-9, self.limits, lambda _: False)
        candidate.n_steps += len(answer.working_set)
        candidate.rows, candidate.multipliers, candidate.w = answer.rows, answer.multipliers, None
        t = float(answer.w[-1])
        if t > 0.0 and np.isfinite(answer.w).all() and answer.ending is not Ending.FITTED:
            candidate.w = answer.w[:-1] / t * float(self.system.unit)
        return answer.rows

    def guess_again(self, among: Mask, guess: Indices) -> Indices:
        """Project in floats again, with a larger unit of t, to see whether the residual is zero.

        The length of the residual is about 1/√(1 + ‖w‖²). So a point far away may come from a
        residual that is zero except for rounding errors.
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
        self.candidate.rows, self.candidate.multipliers = (
            other.candidate.rows,
            other.candidate.multipliers,
        )
        return rows

    def fitted(self) -> Projection | None:
        """Write −e exactly as a sum of the rows whose multipliers are larger than rounding errors.

        Return None if −e is not a sum of these rows.
        """
        passes, rows = self.system.passes, self.candidate.rows
        if len(rows) == 0:
            return None
        sizes = np.abs(self.candidate.multipliers)
        if self.view.lengths is not None:
            sizes = sizes * self.view.lengths_of(passes.fetch(rows), rows)
        firm = rows[sizes > _FIRM_SHARE * sizes.max()]
        restricted = replace(self, equalities=firm[self.system.equalities[firm]])
        none = np.zeros(passes.n, dtype=np.bool_)
        total = passes.exact_sum(self.system.mask_of_e, self.limits)
        done = restricted.project(none, total, np.setdiff1d(firm, restricted.equalities))
        return done if done.w is None else None

    def conflict(self, rows_left: Mask, targets: Mask, done: Projection) -> Conflict:
        """An irreducible conflict, given that −Σ a_i over the targets lies in the cone.

        The conflict is found for one target. This target is e if e is one of them, because then the
        other rows need not be strict.
        """
        passes, e = self.system.passes, self.system.homogenising_row
        target = e if targets[e] else int(np.flatnonzero(targets)[0])
        if np.count_nonzero(targets) > 1:
            alone = passes.row_set(np.array([target]))
            guess = np.setdiff1d(done.rows, [*self.equalities.tolist(), target])
            done = self.project(rows_left & ~alone, passes.exact_sum(alone, self.limits), guess)
            if done.w is not None:
                raise AssertionError("−Σ a_i over the targets is in the cone, but no −a_i is.")
        pairs = [(int(i), mu) for i, mu in zip(done.rows, done.multipliers, strict=True) if mu]
        if target != e:
            pairs.append((target, Fraction(1)))
        rows = np.array([i for i, _ in pairs if i != e], dtype=np.int64)
        return Conflict(rows, [mu for i, mu in pairs if i != e])

    def joined(
        self, stages: list[tuple[list[Fraction], RowSet]], rows_left: Mask
    ) -> list[Fraction]:
        """Combine the residuals, in order, into one vector (w, t) that has all of their signs."""
        passes = self.system.passes
        if len(stages) == 1:
            return stages[0][0]
        return combined(passes, stages, [rows_left, passes.row_set(self.equalities)], self.limits)


def nudged(system: System, w: Vector | None, rows: Indices, limits: Limits) -> Vector | None:
    """Move a point that violates rows by rounding only, so that it satisfies every row.

    The point rounded to twelve digits is tried first, because it is easier to read, then the point
    itself. Then one least-squares step asks for a little slack on each of the ``rows``, which the
    point meets with equality. The result is None if no such point is found.
    """
    if w is None or not np.isfinite(w).all():
        return None
    for near in (np.array([float(f"{value:.12g}") for value in w.tolist()]), w):
        if system.holds(system.homogeneous(near.tolist()), limits):
            return near
    if len(rows) == 0 or system.equalities.any():  # equalities have no slack
        return None
    if len(rows) * system.p > _MAX_DENSE:
        return None
    A = system.passes.at(rows)
    coefficients, right_side = A[:, :-1], A[:, -1] * float(system.unit)
    sizes = np.abs(coefficients) @ np.abs(w) + np.abs(right_side)
    sizes = np.maximum(sizes, np.abs(coefficients).max(axis=1)) * 2.0**-53
    wanted = np.outer(sizes, 2.0 ** np.array(_NUDGES)) - (coefficients @ w + right_side)[:, None]
    if not np.isfinite(wanted).all():
        return None
    with one_blas_thread():
        steps = lstsq(coefficients, wanted, lapack_driver="gelsy", check_finite=False)[0]
    for near in w + steps.T:
        if np.isfinite(near).all() and system.holds(system.homogeneous(near.tolist()), limits):
            return np.asarray(near)
    return None


def relative_interior(system: System, limits: Limits) -> tuple[tuple[Fraction, ...], Multipliers]:
    """A point (w, t) in the relative interior of a feasible system, and its implicit equalities.

    The implicit equalities are the stated rows that every solution meets with equality. The
    multipliers are λ > 0 on these rows and λ of any sign on the equalities, with Σ λ_i a_i = 0.
    """
    passes = system.passes
    free = np.flatnonzero(system.equalities)
    with np.errstate(all="ignore"):
        view = balanced_view(passes, limits)
        parts = partition(view, ~system.equalities, limits, free=free)
    if parts.w is None:
        raise AssertionError("The system is feasible, but e is not separated.")
    extra: dict[int, Fraction] = {}
    if parts.dependence is not None:
        extra = dict(zip(parts.dependence.rows, parts.dependence.multipliers, strict=True))
    at_zero = passes.members_of(parts.rows_left, np.arange(passes.n)).tolist()
    multipliers = {i: 1 + extra.get(i, Fraction(0)) for i in at_zero}
    multipliers |= {i: extra[i] for i in free.tolist() if extra.get(i)}
    return interior_claim(system, parts.w, multipliers)


def interior_claim(
    system: System, v: list[Fraction], multipliers: Mapping[int, Fraction]
) -> tuple[tuple[Fraction, ...], Multipliers]:
    """The claim of a certificate about the relative interior, given (w, t) and λ on rows."""
    stated = system.stated_multipliers(multipliers.keys(), multipliers.values())
    claim = dict(zip(stated.rows, stated.multipliers, strict=True))
    for i in np.flatnonzero(system.fixed).tolist():
        for sign in (Fraction(1), Fraction(-1)):  # both bounds hold with equality
            number = system.stated_number(i, sign)
            claim[number] = claim.get(number, Fraction(0)) + 1
    return system.certificate_vector(v), sorted_multipliers(claim)
