"""Floats that satisfy every row, where the exact point has none beside it.

The rows that every solution meets with equality are M w = d in whole numbers, and the Hermite
normal form of M gives all w whose numbers are whole times a power of two. Among these, a basis that
is short across the thin directions of the solutions (Lenstra, Lenstra and Lovász 1982) turns
rounding at the centre into a point of the system, if it is not too thin (Babai 1986).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.exact import Integers
from novikoff.geometry.system_checker import Radius
from novikoff.systems.radius import signed_radius
from novikoff.systems.system import System

# Lattices of more variables are not reduced.
MOST_VARIABLES = 40
# Rows that measure how thin the solutions are, for each variable.
_MEASURES = 4
# Vectors of which both neighbours are tried, 2 to this power of points in all.
_MOST_BRANCHES = 8
# Bits of a float64, and of the weights of a lattice.
_BITS, _WEIGHT_BITS = 53, 30


def floats_inside(system: System, inside: Sequence[Fraction], limits: Limits) -> Vector | None:
    """Floats that satisfy every row, given a point of the relative interior; None if not found.

    None proves nothing: to find such floats is an integer program.
    """
    w = nearest_floats(inside)
    if _holds(system, w, limits):
        return w
    if system.p > MOST_VARIABLES:
        return None
    signs = system.signs(system.homogeneous(inside), limits)
    met = signs == 0
    relative = replace(system, free=met, strict=np.zeros_like(met))
    room = signed_radius(relative, limits)
    centre = system.point_of_claim(room.point) if isinstance(room, Radius) else tuple(inside)
    w = nearest_floats(centre)
    if not np.isfinite(w).all() or _holds(system, w, limits):
        return w if np.isfinite(w).all() else None
    scale = np.where(w == 0.0, 0, np.frexp(w)[1])  # w = u·2^scale
    target = [value / Fraction(2) ** int(e) for value, e in zip(centre, scale, strict=True)]
    lattice = _lattice(system, np.flatnonzero(met), scale)
    if lattice is None:
        return None
    origin, basis = lattice
    basis, mu = _reduced(system, basis, scale, centre, np.flatnonzero(signs[:-1] > 0))
    if not np.isfinite(mu).all():
        return None
    away = _coordinates(basis, [a - b for a, b in zip(target, origin, strict=True)])
    for k in range(_BITS + 1):  # the fewer digits, the better
        ways = 2 if k == _BITS and len(basis) <= _MOST_BRANCHES else 1
        for steps in _near_points([value * (1 << k) for value in away], mu, ways):
            moves = np.array(steps, dtype=object) @ basis
            u = [a + Fraction(int(b), 1 << k) for a, b in zip(origin, moves, strict=True)]
            exactly = [value * Fraction(2) ** int(e) for value, e in zip(u, scale, strict=True)]
            w = nearest_floats(exactly)
            if [*map(Fraction, w[np.isfinite(w)])] == exactly and _holds(system, w, limits):
                return w
    return None


def _near_points(x: list[Fraction], mu: Vector, ways: int) -> Iterator[list[int]]:
    """Whole numbers near x, rounded from the last to the first, each to one or both sides."""
    if not x:
        yield []
        return
    *others, last = x
    for y in sorted((math.floor(last), math.ceil(last)), key=lambda y: abs(last - y))[:ways]:
        more = float(last - y)
        moved = [t + Fraction(float(mu[i, len(others)]) * more) for i, t in enumerate(others)]
        for first in _near_points(moved, mu, ways):
            yield [*first, y]


def nearest_floats(w: Sequence[Fraction]) -> Vector:
    """A point in floats, infinite where it is beyond them."""
    return np.array([_near(value) for value in w])


def _near(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _holds(system: System, w: Vector, limits: Limits) -> bool:
    return bool(np.isfinite(w).all()) and system.holds(system.homogeneous(w.tolist()), limits)


def _lattice(
    system: System, rows: Indices, scale: Indices
) -> tuple[list[Fraction], Integers] | None:
    """A u and whole vectors whose multiples by powers of two lead to all others with M u = d.

    None where no u whose denominators are powers of two satisfies these rows.
    """
    import flint

    if len(rows) == 0:
        return [Fraction(0)] * system.p, np.eye(system.p, dtype=np.int64).astype(object)
    whole, _ = system.passes.whole(rows)
    least = int(scale.min())
    M = whole[:, :-1] * np.array([1 << int(e) - least for e in scale], dtype=object)
    right = [-int(c) * system.unit / Fraction(2) ** least for c in whole[:, -1]]
    reduced, turned = flint.fmpz_mat(M.T.tolist()).hnf(transform=True)
    H, T = (np.array(each.tolist(), dtype=object) for each in (reduced, turned))
    z: list[Fraction] = []
    for row in H:
        used = np.flatnonzero(row)
        if len(used) == 0:
            break
        at = int(used[0])
        known = sum((int(H[k, at]) * value for k, value in enumerate(z)), Fraction(0))
        z.append((right[at] - known) / int(row[at]))
    if any(value.denominator & (value.denominator - 1) for value in z):
        return None
    r = len(z)
    origin = [sum((int(T[k, j]) * z[k] for k in range(r)), Fraction(0)) for j in range(system.p)]
    return origin, _as_integers(T[r:])


def _reduced(
    system: System, basis: Integers, scale: Indices, centre: Sequence[Fraction], rows: Indices
) -> tuple[Integers, Vector]:
    """The same lattice by vectors that are short in units of the slack of the tightest rows.

    Also the coefficients of Gram and Schmidt: how far one step along b_j goes along b_i, i < j.
    """
    import flint

    if len(basis) == 0:
        return basis, np.empty((0, 0))
    A = np.ldexp(system.passes.at(rows)[:, :-1], scale)
    whole, e = system.passes.whole(rows)
    at = exact.numbers(system.homogeneous(centre))
    unit = at.unit * Fraction(2) ** e
    slack = np.maximum(nearest_floats([int(value) * unit for value in whole.dot(at.whole)]), 1e-300)
    away = slack / np.maximum(np.abs(A).max(axis=1, initial=0.0), 1e-300)
    few = np.argsort(away, kind="stable")[: _MEASURES * system.p]
    weights = np.nan_to_num(np.clip(A[few] / slack[few, None], -1e100, 1e100)).tolist()
    one = [[1.0 if j == k else 0.0 for j in range(system.p)] for k in range(system.p)]
    G = [[round(Fraction(x) * (1 << _WEIGHT_BITS)) for x in row] for row in [*weights, *one]]
    seen, T = flint.fmpz_mat((basis @ np.array(G, dtype=object).T).tolist()).lll(transform=True)
    R = np.linalg.qr(np.array(seen.tolist(), dtype=np.float64).T, mode="r")
    return _as_integers(np.array(T.tolist(), dtype=object) @ basis), R / np.diag(R)[:, None]


def _coordinates(basis: Integers, away: Sequence[Fraction]) -> list[Fraction]:
    """The x with Σ x_k b_k = ``away``, which is a combination of them."""
    import flint

    if len(basis) == 0:
        return []
    right = exact.numbers(away)
    left = flint.fmpz_mat((basis @ basis.T).tolist())
    found = left.solve(flint.fmpz_mat([[int(value)] for value in basis @ right.whole]))
    return [
        Fraction(int(found[k, 0].p), int(found[k, 0].q)) * right.unit for k in range(len(basis))
    ]


def _as_integers(values: Any) -> Integers:
    found = np.empty(values.shape, dtype=object)
    for at, value in np.ndenumerate(values):
        found[at] = int(value)
    return found
