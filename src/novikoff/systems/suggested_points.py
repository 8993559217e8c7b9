"""Points that a float solver suggests, proved in exact arithmetic.

Without equalities, a vertex of slightly tighter rows usually satisfies every row, also when its
coordinates are rounded. Otherwise a vertex of HiGHS meets some rows with equality. These equations
are solved in rational numbers, and the point is returned if it satisfies every row, exactly. If the
point does not, a point with as much slack as possible on all inequalities is tried in the same way.

References
----------
Applegate, D. L., Cook, W., Dash, S. and Espinoza, D. G. (2007). Exact solutions to linear
programming problems. *Operations Research Letters* 35(6), 693-699.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Mask, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import check_time
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum
from novikoff.systems.engine import Point
from novikoff.systems.float_program import FloatProgram

# A row whose slack is at most one of these, relative to its terms, is met with equality.
TIGHT = (1e-9, 1e-6)


def suggested_point(program: FloatProgram, x: Vector, limits: Limits) -> Point | None:
    """A solution near a vertex in floats, or one with much slack, proved; None if none is found.

    Floats are preferred: without equalities, the point with much slack often satisfies every row
    in floats. Otherwise the rows that the point meets with equality are solved exactly.
    """
    point = float_point_near(program, x, limits)
    if point is not None:
        return point
    inner: Vector | None = None
    if not program.equal.any():
        inner = _inner_vertex(program, limits)
        point = None if inner is None else float_point_near(program, inner, limits)
    point = point or _exact_point_near(program, x, limits)
    if point is not None:
        return point
    inner = _inner_vertex(program, limits) if inner is None else inner
    return None if inner is None else _exact_point_near(program, inner, limits)


def float_point_near(program: FloatProgram, x: Vector, limits: Limits) -> Point | None:
    """A point in floats, rounded to twelve digits or as it is, if it is a solution: proved."""
    inside = np.clip(x, program.lower, program.upper)
    if not np.isfinite(inside).all():
        return None
    for w in (rounded(inside, 6), rounded(inside), inside):
        v = program.system.homogeneous(w.tolist())
        if program.system.holds(v, limits, program.within):
            return Point(v, floats=True)
    return None


def _exact_point_near(program: FloatProgram, x: Vector, limits: Limits) -> Point | None:
    """The solution that meets the rows with little slack at x with equality, proved, or None."""
    inside = np.clip(x, program.lower, program.upper)
    if not np.isfinite(inside).all():
        return None
    for tight in TIGHT:
        check_time(limits)
        w = vertex_near(program, inside, tight, limits)
        if w is None:
            continue
        v = program.system.homogeneous(w)
        if program.system.holds(v, limits, program.within):
            return Point(v, floats=_are_floats(w))
    return None


def vertex_near(
    program: FloatProgram, x: Vector, tight: float, limits: Limits, first: Mask | None = None
) -> list[Fraction] | None:
    """The point that meets the rows with little slack at x with equality, in rational numbers.

    The rows ``first`` are met before others, after the equalities.
    """
    system, p = program.system, program.system.p
    room = np.minimum(x - program.lower, program.upper - x)
    at_bound = room <= tight * np.maximum(1.0, np.abs(x))
    fixed = np.flatnonzero(at_bound)
    nearest = np.where(
        x - program.lower <= program.upper - x, program.lower_rows, program.upper_rows
    )
    known: dict[int, Fraction] = {}
    for j, entry in zip(fixed.tolist(), system.sparse_rows(nearest[fixed]), strict=True):
        known[j] = Fraction(-entry.get(p, 0), entry[j]) * system.unit
    slack = program.c - program.A @ x
    sizes = np.abs(program.c) + abs(program.A) @ np.abs(x)
    second = np.zeros_like(program.equal) if first is None else first
    order = np.lexsort((np.abs(slack), ~second, ~program.equal))
    is_tight = program.equal | second | (slack <= tight * np.maximum(sizes, 1e-3))
    order = order[is_tight[order]]
    n_equal = int(program.equal.sum())
    rows: list[dict[int, int]] = []
    right: list[Fraction] = []
    for entry in system.sparse_rows(program.rows[order]):
        total = Fraction(entry.pop(p, 0)) * system.unit
        total += sum((value * known[j] for j, value in entry.items() if j in known), Fraction(0))
        rows.append({j: -value for j, value in entry.items() if j not in known})
        right.append(total)
    short = rounded(x)
    preferred = [j for j in np.argsort(-room, kind="stable").tolist() if j not in known]
    given = {j: Fraction(short[j]) for j in preferred}
    solution = solve_sparse(rows, right, limits, required=n_equal, given=given, preferred=preferred)
    if solution is None:
        return None
    known |= solution
    return [known[j] if j in known else given[j] for j in range(p)]


def rounded(w: Vector, digits: int = 12) -> Vector:
    """Round to some digits."""
    return np.array([float(f"{value:.{digits}g}") for value in w.tolist()])


def _inner_vertex(program: FloatProgram, limits: Limits) -> Vector | None:
    """A point with as much slack as possible on all inequalities, in floats."""
    more, equal, p = ~program.equal, program.equal, program.system.p
    lengths = np.sqrt(np.asarray(program.A.multiply(program.A).sum(axis=1)).ravel())
    unit: Any = sp.eye_array(p, format="csr")
    free = program.lower < program.upper
    upper = np.flatnonzero(np.isfinite(program.upper) & free)
    lower = np.flatnonzero(np.isfinite(program.lower) & free)
    A: Any = sp.vstack([program.A[more], unit[upper], -unit[lower]], format="csr")
    b = np.concatenate([program.c[more], program.upper[upper], -program.lower[lower]])
    common = np.concatenate([lengths[more], np.ones(len(upper) + len(lower))])
    n_equal = int(equal.sum())
    answer = suggested_optimum(
        np.append(np.zeros(p), -1.0),
        limits,
        A_ub=sp.hstack([A, sp.csr_array(common[:, None])], format="csr"),
        b_ub=b,
        A_eq=sp.hstack([program.A[equal], sp.csr_array((n_equal, 1))], format="csr"),
        b_eq=program.c[equal],
        bounds=[*program.bounds.tolist(), (0.0, 1.0)],
    )
    return answer.x[:p] if isinstance(answer, FloatOptimum) else None


def _are_floats(w: list[Fraction]) -> bool:
    return all(
        value.denominator & (value.denominator - 1) == 0
        and abs(value.numerator).bit_length() <= 53
        and value.denominator.bit_length() <= 1000
        for value in w
    )
