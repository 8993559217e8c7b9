"""Relative interiors and implicit equalities that a float solver suggests, proved.

References
----------
Freund, R. M., Roundy, R. and Todd, M. J. (1985). Identifying the set of always-active constraints
in a system of linear inequalities by a single linear program. *Sloan Working Paper* 1674-85.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError, check_time
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum
from novikoff.proofs.system_certificate import Multipliers
from novikoff.systems.engine import interior_claim, relative_interior
from novikoff.systems.float_program import SHARE, FloatProgram
from novikoff.systems.suggested import is_for_suggestions
from novikoff.systems.suggested_points import rounded
from novikoff.systems.system import System


def find_relative_interior(
    system: System, limits: Limits
) -> tuple[tuple[Fraction, ...], Multipliers]:
    """A point in the relative interior and the implicit equalities, as in `relative_interior`.

    It is suggested where this is faster, as in `decide`.
    """
    if is_for_suggestions(system):
        found = suggested_interior(system, limits)
        if found is not None:
            return interior_claim(system, *found)
    return relative_interior(system, limits)


def suggested_interior(
    system: System, limits: Limits
) -> tuple[list[Fraction], dict[int, Fraction]] | None:
    """A vector (w, t) in the relative interior, and λ on the implicit equalities, or None.

    HiGHS maximises Σ s_i subject to ⟨a_i, w⟩ + s_i ≤ c_i·t, 0 ≤ s ≤ 1, t ≥ 1 (Freund, Roundy and
    Todd, 1985). Rows with s_i = 0 are probably implicit equalities; their dual variables, made
    exact, prove it: λ > 0 on these rows, Σ λ_i a_i = 0 and ⟨c, λ⟩ = 0. The other rows hold
    strictly at the point, exactly.
    """
    part = limits.part(SHARE)
    try:
        with np.errstate(all="ignore"):
            program = FloatProgram.of(system, None)
            return None if program is None else _proved_interior(program, part)
    except (OutOfTimeError, OverflowError, ZeroDivisionError):
        check_time(limits)
    return None


def _proved_interior(
    program: FloatProgram, limits: Limits
) -> tuple[list[Fraction], dict[int, Fraction]] | None:
    system, p, e = program.system, program.system.p, program.system.homogenising_row
    is_free = program.lower < program.upper
    lower = np.flatnonzero((program.lower_rows >= 0) & is_free)
    upper = np.flatnonzero((program.upper_rows >= 0) & is_free)
    fixed = np.flatnonzero((program.lower_rows >= 0) & ~is_free)
    unit: Any = sp.eye_array(p, format="csr")
    more, equal = ~program.equal, program.equal
    A: Any = sp.vstack([program.A[more], unit[upper], -unit[lower]], format="csr")
    c = np.concatenate([program.c[more], program.upper[upper], -program.lower[lower]])
    B: Any = sp.vstack([program.A[equal], unit[fixed]], format="csr")
    b = np.concatenate([program.c[equal], program.upper[fixed]])
    n, m = A.shape[0], B.shape[0]
    bounds = np.tile([0.0, 1.0], (p + 1 + n, 1))
    bounds[:p], bounds[p] = [-np.inf, np.inf], [1.0, np.inf]
    answer = suggested_optimum(
        np.repeat([0.0, -1.0], [p + 1, n]),
        limits,
        A_ub=sp.hstack([A, sp.csr_array(-c[:, None]), sp.eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        A_eq=sp.hstack([B, sp.csr_array(-b[:, None]), sp.csr_array((m, n))], format="csr"),
        b_eq=np.zeros(m),
        bounds=bounds,
    )
    if not isinstance(answer, FloatOptimum):
        return None
    rows = np.concatenate(
        [program.rows[more], program.upper_rows[upper], program.lower_rows[lower]]
    )
    implicit = answer.x[p + 1 :] < 0.5
    x = answer.x[:p] / answer.x[p]
    held = np.concatenate([program.rows[equal], program.upper_rows[fixed], rows[implicit]])
    order = np.argsort(held, kind="stable")
    held = held[order]
    factors = np.concatenate([program.factors[more], np.ones(len(upper) + len(lower))])
    near = np.concatenate([answer.prices[n:], answer.prices[:n][implicit]])
    near *= np.concatenate([program.factors[equal], np.ones(len(fixed)), factors[implicit]])
    near = near[order]
    w = _meeting(program, held, x, limits)
    if w is None:
        return None
    v = system.homogeneous(w)
    signs = system.signs(v, limits)
    strictly = np.ones(e + 1, dtype=np.bool_)
    strictly[held] = False
    if signs[held].any() or not (signs[strictly] > 0).all():
        return None
    entries, _ = system.sparse_rows_in_unit(held)
    equations: dict[int, dict[int, int]] = {}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            equations.setdefault(j, {})[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers],
        [Fraction(0)] * len(numbers),
        limits,
        given={k: Fraction(float(f"{value:.6g}")) for k, value in enumerate(near.tolist())},
        preferred=np.argsort(-np.abs(near), kind="stable").tolist(),
    )
    if solution is None:
        return None
    multipliers = {int(held[k]): value for k, value in solution.items() if value}
    needed = set(rows[implicit].tolist())
    if any(multipliers.get(i, Fraction(0)) <= 0 for i in needed):
        return None
    return v, multipliers


def _meeting(
    program: FloatProgram, held: Indices, x: Vector, limits: Limits
) -> list[Fraction] | None:
    """The exact point near x that meets all these rows with equality."""
    system, p = program.system, program.system.p
    rows, right = [], []
    for entry in system.sparse_rows(held):
        right.append(Fraction(entry.pop(p, 0)) * system.unit)
        rows.append({j: -value for j, value in entry.items()})
    short = rounded(x)
    given = {j: Fraction(value) for j, value in enumerate(short.tolist())}
    solution = solve_sparse(rows, right, limits, given=given)
    if solution is None:
        return None
    return [solution.get(j, given[j]) for j in range(p)]
