"""Answers of a different exact solver, the Parma Polyhedra Library, to the same questions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from fractions import Fraction
from math import inf, isqrt, lcm

import ppl

from novikoff.proofs.system_statement import Constraint, LinearSystem

# The library leaves the rounding mode of the processor at upward. 0 stands for to nearest.
ctypes.CDLL(None).fesetround(0)


def rows_of(model: LinearSystem, leave_out: frozenset[int] = frozenset()) -> list[Constraint]:
    """All rows and bounds of a model, without the given rows."""
    found = [model.row(k) for k in range(model.n) if k not in leave_out]
    return [row for row in found if row is not None]


def polyhedron(rows: Iterable[Constraint], d: int) -> ppl.NNC_Polyhedron:
    """The set of all solutions."""
    found = ppl.NNC_Polyhedron(d, "universe")
    for row in rows:
        left, right = _whole(row.terms, row.right)
        found.add_constraint(
            {
                "<=": lambda a, b: a <= b,
                ">=": lambda a, b: a >= b,
                "=": lambda a, b: a == b,
                "<": lambda a, b: a < b,
                ">": lambda a, b: a > b,
            }[row.relation](left, right)
        )
    return found


def is_feasible(rows: Iterable[Constraint], d: int) -> bool:
    return not polyhedron(rows, d).is_empty()


def is_always_met(solutions: ppl.NNC_Polyhedron, row: Constraint) -> bool:
    """Whether a row holds with equality in every solution."""
    left, right = _whole(row.terms, row.right)
    return bool(solutions.relation_with(left == right).implies(ppl.Poly_Con_Relation.is_included()))


def least_value(solutions: ppl.NNC_Polyhedron, f: dict[int, Fraction]) -> Fraction | None:
    """The least f·w over the solutions, None if there is none."""
    left, over = _whole(f, Fraction(0), scale=True)
    found = solutions.minimize(left)
    if not found["bounded"]:
        return None
    return Fraction(int(found["inf_n"]), int(found["inf_d"])) / over


def signed_radius(model: LinearSystem, *, feasible: bool) -> Fraction | float:
    """The signed radius, a linear program in (w, r), with lengths to 2⁻²⁰⁰ of themselves."""
    d, rows = model.d, list[Constraint]()
    fixed = {j for j in range(d) if model.lower[j] is not None and model.lower[j] == model.upper[j]}
    for number in range(model.n):
        row = model.row(number)
        if row is None:
            continue
        is_held = row.relation == "=" or (number >= model.m and (number - model.m) % d in fixed)
        length = _length(row)
        if is_held and feasible:
            rows.append(row._replace(relation="="))
            continue
        if row.relation in ("<=", "<", "="):
            rows.append(Constraint("", {**row.terms, d: length}, "<=", row.right))
        if row.relation in (">=", ">", "="):
            rows.append(Constraint("", {**row.terms, d: -length}, ">=", row.right))
    if not feasible:
        rows.append(Constraint("", {d: Fraction(1)}, "<=", Fraction(0)))
    points = polyhedron(rows, d + 1)
    if points.is_empty():
        return -inf
    least = least_value(points, {d: Fraction(-1)})
    return inf if least is None else -least


def _length(row: Constraint) -> Fraction:
    squared = sum((value * value for value in row.terms.values()), Fraction(0))
    top, bottom = squared.numerator, squared.denominator
    return Fraction(isqrt(top * bottom << 400), bottom << 200)


def _whole(terms: dict[int, Fraction], right: Fraction, scale: bool = False):  # type: ignore[no-untyped-def]
    over = lcm(right.denominator, *(value.denominator for value in terms.values()))
    left = ppl.Linear_Expression({j: int(value * over) for j, value in terms.items()}, 0)
    return left, over if scale else int(right * over)


def is_satisfiable(rows: Iterable[Constraint]) -> bool:
    """Whether rows that are not strict have a common point, by the simplex method."""
    rows = list(rows)
    used = sorted({j for row in rows for j in row.terms})
    place = {j: k for k, j in enumerate(used)}
    system = ppl.Constraint_System()
    for row in rows:
        left, right = _whole({place[j]: value for j, value in row.terms.items()}, row.right)
        system.insert(
            left == right
            if row.relation == "="
            else left <= right
            if row.sign > 0
            else left >= right
        )
    return bool(ppl.MIP_Problem(len(used), system, ppl.Linear_Expression(0)).is_satisfiable())
