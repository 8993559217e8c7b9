"""Optima that a float solver suggests, proved in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError, check_time
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum
from novikoff.proofs import exact
from novikoff.systems.float_program import NO_PRICE, SHARE, FloatProgram, dual_variables
from novikoff.systems.suggested_points import TIGHT, vertex_near
from novikoff.systems.system import System


def proved_optimum(
    system: System, objective: Mapping[int, Fraction], limits: Limits
) -> tuple[list[Fraction], Indices, list[Fraction]] | None:
    """A point with the least value of an objective, and multipliers that prove it, or None.

    Returns
    -------
    point, rows, multipliers
        The point w, exactly, and homogeneous rows with λ for which Σ λ_i a_i = −f and
        f·w = −⟨c, λ⟩: no solution has a smaller value. None if a suggestion cannot be proved.
    """
    part, p = limits.part(SHARE), system.p
    try:
        with np.errstate(all="ignore"):
            program = FloatProgram.of(system, None)
            if program is None:
                return None
            costs = np.zeros(p)
            for j, value in objective.items():
                costs[j] = exact.nearest_float(value)
            equal = program.equal
            answer = suggested_optimum(
                costs,
                part,
                A_ub=program.A[~equal],
                b_ub=program.c[~equal],
                A_eq=program.A[equal],
                b_eq=program.c[equal],
                bounds=program.bounds,
            )
            if not isinstance(answer, FloatOptimum):
                return None
            prices = dual_variables(program, answer)
            dual = _exact_dual(program, objective, costs, prices, part)
            if dual is None:
                return None
            rows, multipliers, value = dual
            carries = np.isin(program.rows, rows)
            inside = np.clip(answer.x, program.lower, program.upper)
            for tight in TIGHT:
                w = vertex_near(program, inside, tight, part, carries)
                if w is None or sum((f * w[j] for j, f in objective.items()), -value) != 0:
                    continue
                if system.holds(system.homogeneous(w), part):
                    return w, rows, multipliers
    except (OutOfTimeError, OverflowError, ZeroDivisionError):
        check_time(limits)
    return None


def _exact_dual(
    program: FloatProgram,
    objective: Mapping[int, Fraction],
    costs: Vector,
    prices: Vector,
    limits: Limits,
) -> tuple[Indices, list[Fraction], Fraction] | None:
    """Homogeneous rows, exact λ with Σ λ_i a_i = −f, and the bound −⟨c, λ⟩; None if not found."""
    system, p = program.system, program.system.p
    rest = costs + program.A.T @ prices  # what multipliers of bounds must cancel
    nothing = NO_PRICE * max(1.0, float(np.abs(costs).max(initial=0.0)))
    at_lower = np.flatnonzero((rest > nothing) & (program.lower_rows >= 0))
    at_upper = np.flatnonzero((rest < -nothing) & (program.upper_rows >= 0))
    carries = np.flatnonzero(np.abs(prices) > nothing * 1e-3)
    rows = np.concatenate(
        [program.rows[carries], program.lower_rows[at_lower], program.upper_rows[at_upper]]
    )
    near = np.concatenate(
        [prices[carries] * program.factors[carries], rest[at_lower], -rest[at_upper]]
    )
    entries, unit = system.sparse_rows_in_unit(rows)
    equations: dict[int, dict[int, int]] = {j: {} for j in objective}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            if j != p:
                equations.setdefault(j, {})[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers],
        [objective.get(j, Fraction(0)) / unit for j in numbers],
        limits,
        given={k: Fraction(value) for k, value in enumerate(near.tolist())},
        preferred=np.argsort(-np.abs(near), kind="stable").tolist(),
    )
    if solution is None:
        return None
    free = system.equalities[rows]
    if any(value < 0 and not free[k] for k, value in solution.items()):
        return None
    used = sorted(k for k, value in solution.items() if value)
    total = sum((solution[k] * entries[k].get(p, 0) for k in used), Fraction(0))
    return rows[used], [solution[k] for k in used], -total * unit * system.unit
