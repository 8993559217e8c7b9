"""Conflicts that a float solver suggests, proved in exact arithmetic.

A vertex of the program of Gleeson and Ryan, min Σ λ_i subject to Σ λ_i a_i = 0, ⟨c, λ⟩ = −1, λ ≥ 0,
has multipliers on an irreducible infeasible subset (IIS). The exact multipliers of these rows are
the only solution of Σ λ_i a_i = 0 up to a factor. That there is no other solution shows that no
fewer of the rows contradict each other. In a large system, the rows are first reduced to those with
a dual variable in the program of the least largest violation, min t subject to ⟨a_i, w⟩ − t ≤ c_i,
t ≥ 0, in which equalities and bounds hold: the program of Gleeson and Ryan is slow there.

References
----------
Gleeson, J. and Ryan, J. (1990). Identifying minimally infeasible subsystems of inequalities. *ORSA
Journal on Computing* 2(1), 61-63.

Chinneck, J. W. (2008). *Feasibility and Infeasibility in Optimization*, chapter 6. Springer.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import TooLargeError
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, NoOptimum, suggested_optimum
from novikoff.systems.engine import Candidate, Conflict, Point, point_or_conflict
from novikoff.systems.float_program import NO_PRICE, FloatProgram, dual_variables
from novikoff.systems.system import System

# A bound costs this share of a row in the program of Gleeson and Ryan: a conflict with few rows is
# easier to read than one with few bounds.
_COST_OF_BOUND = 0.01
# A suggested conflict is tried several times: each time, rows with a multiplier below one of these
# shares of the largest are left out.
_CUTS = (1e-11, 1e-8, 1e-6)
# A suggested conflict that is not irreducible goes to the projection if it has at most this many
# rows.
_MAX_PROJECTED = 400
# A program of Gleeson and Ryan with more columns than this is reduced to the rows that determine
# the least largest violation. On 10,000 rows of transport with 20,000 variables, seconds without
# and with it: 1.1 and 0.13. The elastic program (min Σ of the violations) takes 0.2.
_MAX_COLUMNS = 2_000


def trivial_conflict(program: FloatProgram, limits: Limits) -> Conflict | None:
    """A conflict of two bounds, or of a row and the bounds of its variables, proved."""
    both = np.flatnonzero(program.lower > program.upper)
    if len(both) > 0:
        pair = np.array([program.lower_rows[both[0]], program.upper_rows[both[0]]])
        conflict = proved_conflict(program.system, pair, np.ones(2), limits)
        if conflict is not None:
            return conflict
    positive, negative = program.A.maximum(0.0), program.A.minimum(0.0)
    finite = [np.where(np.isfinite(side), side, 0.0) for side in (program.lower, program.upper)]
    unbounded = [np.isinf(side).astype(np.float64) for side in (program.lower, program.upper)]
    for sign, up, down in ((1.0, positive, negative), (-1.0, -negative, -positive)):
        # The least ⟨a, w⟩ within the bounds; with sign −1, that of −a for equalities.
        least = up @ finite[0] + down @ finite[1]
        sizes = up @ np.abs(finite[0]) - down @ np.abs(finite[1])
        open_ = (up @ unbounded[0] - down @ unbounded[1]) > 0.0
        excess = least - sign * program.c
        wrong = (excess > 1e-13 * (sizes + np.abs(program.c))) & ~open_
        wrong &= program.equal | (sign > 0.0)
        for k in np.flatnonzero(wrong)[:3].tolist():
            row = program.A[[k]]
            columns, values = row.indices, sign * row.data
            bounds = np.where(
                values > 0.0, program.lower_rows[columns], program.upper_rows[columns]
            )
            rows = np.append(bounds, program.rows[k])
            conflict = proved_conflict(
                program.system, rows, np.append(np.zeros(len(bounds)), sign), limits
            )
            if conflict is not None:
                return conflict
    return None


def suggested_conflict(
    program: FloatProgram, limits: Limits, candidate: Candidate
) -> Conflict | None:
    """The conflict that the program of Gleeson and Ryan suggests, proved."""
    if program.n_columns > _MAX_COLUMNS:
        part = _worst_part(program, limits)
        conflict = None if part is None else _conflict_of(part, limits, candidate)
        if conflict is not None:
            return conflict
    return _conflict_of(program, limits, candidate)


def _worst_part(program: FloatProgram, limits: Limits) -> FloatProgram | None:
    """The rows and bounds with a dual variable where the largest violation is least.

    If the equalities and bounds contradict each other, these are the rows.
    """
    equal, p = program.equal, program.system.p
    n_below, n_equal = int((~equal).sum()), int(equal.sum())
    within = np.zeros(program.system.passes.n, dtype=np.bool_)
    sides = (program.lower_rows, program.upper_rows)
    answer = suggested_optimum(
        np.repeat([0.0, 1.0], [p, 1]),
        limits,
        A_ub=sp.hstack([program.A[~equal], sp.csr_array(-np.ones((n_below, 1)))], format="csr"),
        b_ub=program.c[~equal],
        A_eq=sp.hstack([program.A[equal], sp.csr_array((n_equal, 1))], format="csr"),
        b_eq=program.c[equal],
        bounds=np.vstack([program.bounds, [0.0, np.inf]]),
    )
    if isinstance(answer, NoOptimum) and answer.infeasible:
        within[program.rows[equal]] = True
        for rows in sides:
            within[rows[rows >= 0]] = True
        return FloatProgram.of(program.system, within)
    if not isinstance(answer, FloatOptimum):
        return None
    prices = dual_variables(program, answer)
    within[program.rows[np.abs(prices) > NO_PRICE]] = True
    rest = program.A.T @ prices  # Σ λ_i a_i, which multipliers of bounds must cancel
    for side, rows in zip((rest, -rest), sides, strict=True):
        within[rows[(side > NO_PRICE) & (rows >= 0)]] = True
    return FloatProgram.of(program.system, within)


def _conflict_of(program: FloatProgram, limits: Limits, candidate: Candidate) -> Conflict | None:
    """The conflict that the program of Gleeson and Ryan suggests among these rows, proved."""
    system = program.system
    answer = _gleeson_ryan(program, limits)
    if answer is None:
        return None
    rows, multipliers, sizes = answer
    order = sizes.max(initial=0.0)
    tried = -1
    for cut in _CUTS:
        support = sizes > cut * order
        if int(support.sum()) == tried:
            continue
        tried = int(support.sum())
        candidate.suspected = rows[support]
        conflict = proved_conflict(system, rows[support], multipliers[support], limits)
        if conflict is not None:
            return conflict
    support = sizes > _CUTS[0] * order
    return _projected_conflict(system, rows[support], limits)


def _gleeson_ryan(program: FloatProgram, limits: Limits) -> tuple[Indices, Vector, Vector] | None:
    """Rows, their multipliers, and the multipliers of the scaled rows, in floats."""
    p = program.system.p
    upper, lower = np.flatnonzero(program.upper_rows >= 0), np.flatnonzero(program.lower_rows >= 0)
    unit: Any = sp.eye_array(p, format="csc")
    left: Any = sp.hstack([program.A.T, unit[:, upper], -unit[:, lower]], format="csc")
    right = np.concatenate([program.c, program.upper[upper], -program.lower[lower]])
    equal = np.flatnonzero(program.equal)
    both: Any = sp.vstack([left, sp.csr_array(right[None, :])], format="csc")
    costs = np.ones(both.shape[1])
    costs[len(program.rows) :] = _COST_OF_BOUND
    answer = suggested_optimum(
        np.append(costs, np.ones(len(equal))),
        limits,
        A_eq=sp.hstack([both, -both[:, equal]], format="csc"),
        b_eq=np.append(np.zeros(p), -1.0),
    )
    if not isinstance(answer, FloatOptimum):
        return None
    scaled = answer.x[: both.shape[1]].copy()
    scaled[equal] -= answer.x[both.shape[1] :]
    rows = np.concatenate([program.rows, program.upper_rows[upper], program.lower_rows[lower]])
    return rows, scaled, np.abs(scaled)


def proved_conflict(
    system: System, rows: Indices, multipliers: Vector, limits: Limits
) -> Conflict | None:
    """The irreducible conflict on exactly these rows, or on some of them; None if there is none.

    The exact λ is the only solution of Σ λ_i a_i = 0 up to a factor, or there is no answer. So the
    rows are a conflict, and irreducible, if λ has the right signs and ⟨c, λ⟩ < 0. Rows with λ_i = 0
    are left out. ``multipliers`` are λ in floats; only the largest, and its sign, matter.
    """
    rows, first = np.unique(rows, return_index=True)
    if len(rows) == 0:
        return None
    fixed = int(np.argmax(np.abs(multipliers[first])))
    sign = -1 if multipliers[first][fixed] < 0.0 else 1
    entries, last = system.sparse_rows(rows), system.p
    equations: dict[int, dict[int, int]] = {}
    right: dict[int, Fraction] = {}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            if j == last:
                continue
            if k == fixed:
                right[j] = Fraction(-sign * value)
            equation = equations.setdefault(j, {})
            if k != fixed:
                equation[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers], [right.get(j, Fraction(0)) for j in numbers], limits
    )
    if solution is None or len(solution) != len(rows) - 1:
        return None
    solution[fixed] = Fraction(sign)
    total = sum(
        (solution[k] * entry[last] for k, entry in enumerate(entries) if last in entry),
        Fraction(0),
    )
    free = system.equalities[rows]
    if total > 0 and free.all():
        solution, total = {k: -value for k, value in solution.items()}, -total
    if total >= 0 or any(value < 0 and not free[k] for k, value in solution.items()):
        return None
    used = [k for k in range(len(rows)) if solution[k] != 0]
    return Conflict(rows[used], [solution[k] / -total for k in used])


def _projected_conflict(system: System, rows: Indices, limits: Limits) -> Conflict | None:
    """A conflict among a few rows, found by projection without the variables of other rows."""
    if not 0 < len(rows) <= _MAX_PROJECTED:
        return None
    part = system.part(rows)
    try:
        found = point_or_conflict(part, limits, floats=False)
    except TooLargeError:
        return None
    if isinstance(found, Point) or found.weak is not None:
        return None
    return found._replace(rows=np.sort(rows)[found.rows])
