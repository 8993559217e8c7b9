"""Floats that satisfy every row, where the exact point has none beside it.

The rows that every solution meets with equality are M w = d in whole numbers, and the Hermite
normal form of M gives all w whose numbers are whole times a power of two. In a short basis of them
(Lenstra, Lenstra and Lovász 1982) the centre of the solutions is rounded to more and more digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.rational import solved
from novikoff.proofs import exact
from novikoff.proofs.exact import Integers
from novikoff.proofs.system_checker import Radius
from novikoff.systems.distances import signed_radius
from novikoff.systems.system import System

# Lattices of more variables are not reduced.
MAX_VARIABLES = 40
_BITS = 53  # of a float64


def floats_inside(system: System, inside: Sequence[Fraction], limits: Limits) -> Vector | None:
    """Floats that satisfy every row, given a point of the relative interior; None if not found.

    None proves nothing: to find such floats is an integer program.
    """
    w = nearest_floats(inside)
    if _holds(system, w, limits):
        return w
    if system.p > MAX_VARIABLES:
        return None
    met = system.signs(system.homogeneous(inside), limits) == 0
    bound = replace(system, free=met, strict=np.zeros_like(met))
    room = signed_radius(bound, limits, feasible=True)
    centre = system.point_of_claim(room.point) if isinstance(room, Radius) else tuple(inside)
    w = nearest_floats(centre)
    units = [Fraction(2) ** int(e) for e in np.frexp(np.where(np.isfinite(w), w, 0.0))[1]]
    lattice = _lattice(system, np.flatnonzero(met), units)
    if lattice is None:
        return None
    origin, basis = lattice
    target = zip(centre, units, origin, strict=True)
    away = _coordinates(basis, [value / unit - start for value, unit, start in target])
    for k in range(_BITS + 1):  # the fewer digits, the better
        steps = np.array([round(value * (1 << k)) for value in away], dtype=object)
        moves = zip(origin, steps @ basis, units, strict=True)
        exactly = [(start + Fraction(int(move), 1 << k)) * unit for start, move, unit in moves]
        w = nearest_floats(exactly)
        if [*map(Fraction, w[np.isfinite(w)])] == exactly and _holds(system, w, limits):
            return w
    return None


def nearest_floats(w: Sequence[Fraction]) -> Vector:
    """A point in floats, infinite where it is beyond them."""
    return np.array([exact.nearest_float(value) for value in w])


def _holds(system: System, w: Vector, limits: Limits) -> bool:
    return bool(np.isfinite(w).all()) and system.holds(system.homogeneous(w.tolist()), limits)


def _lattice(
    system: System, rows: Indices, units: Sequence[Fraction]
) -> tuple[list[Fraction], Integers] | None:
    """A u and whole vectors whose multiples by powers of two lead to all others with M w = d.

    Coordinates are in ``units`` of their own. None where no u whose denominators are powers of two
    satisfies these rows.
    """
    import flint

    p, least = system.p, min(units)
    whole, _ = system.passes.whole(rows)
    M = whole[:, :-1] * np.array([int(unit / least) for unit in units], dtype=object)
    right = [-int(c) * system.unit / least for c in whole[:, -1]]
    reduced, turned = flint.fmpz_mat(p, len(rows), M.T.ravel().tolist()).hnf(transform=True)
    z: list[Fraction] = []  # the first coordinates in the rows of ``turned``; others are free
    for row in reduced.tolist():
        at = next((k for k, value in enumerate(row) if value), None)
        if at is None:
            break
        known = sum((int(reduced[k, at]) * value for k, value in enumerate(z)), Fraction(0))
        z.append((right[at] - known) / int(row[at]))
    if any(value.denominator & (value.denominator - 1) for value in z):
        return None
    T = turned.tolist()
    origin = [sum((int(T[k][j]) * each for k, each in enumerate(z)), Fraction(0)) for j in range(p)]
    short = flint.fmpz_mat(T[len(z) :]).lll().tolist() if len(z) < p else []
    basis = [[int(value) for value in row] for row in short]
    return origin, np.array(basis, dtype=object).reshape(-1, p)


def _coordinates(basis: Integers, away: Sequence[Fraction]) -> list[Fraction]:
    """The x with Σ x_k b_k = ``away``, which is a combination of them."""
    right = exact.numbers(away)
    found = solved(basis @ basis.T, basis @ right.whole) if len(basis) else []
    return [value * right.unit for value in found]
