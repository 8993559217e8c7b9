"""How far from a boundary: the largest ball inside, and the least violation where there is none.

One signed number is for every system (D8): r* = max over w of min_i (c_i − ⟨a_i, w⟩)/‖a_i‖, the
largest r for which c_i − r·‖a_i‖ leaves a solution. In floats, the point of the least squared
violation Σ max(0, ⟨a_i, w⟩ − c_i)², a convex and piecewise quadratic function: each step solves the
least squares of the rows that are violated, equalities always, and a search along the line keeps
the sum falling (the finite Newton method of Mangasarian 2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.system_checker import Radius
from novikoff.systems import newton
from novikoff.systems.matrices import dense, row_lengths, scaled, time_to_factor
from novikoff.systems.system import System, split

# Lengths are floats: r in their terms is within this share of r in terms of the true lengths.
_SLIP = Fraction(1, 1 << 48)
_MAX_STEPS = 200  # of the least squares


def signed_radius(system: System, limits: Limits) -> Radius | Interval:
    """The radius as bounds with their proof, or as an interval alone where it is infinite.

    Equalities hold where it is not negative; else they count as two rows. OutOfTimeError where
    time is up.
    """
    weak = replace(system, strict=np.zeros_like(system.strict))
    try:
        found = _largest(weak, limits)
        if system.free.any() and not (found.most if isinstance(found, Radius) else found.hi) >= 0.0:
            found = _largest(split(weak, weak.free), limits)
    except OverflowError:  # it is beyond all floats
        return Interval(-math.inf, math.inf)
    return found


def nearest_boundary(
    system: System, w: Sequence[Fraction], apart: Sequence[int], limits: Limits
) -> tuple[list[int], float]:
    """The rows that a solution meets with equality and 0, or the nearest row and its distance.

    Equalities and the rows ``apart`` do not count; no rows and infinity where there are no others.
    Rows are numbered as they are stated; the distance is in floats.
    """
    v = system.homogeneous(w)
    rows = np.flatnonzero(~(system.free[:-1] | np.isin(system.numbers[:-1], apart)))
    touched = rows[system.signs(v, limits)[rows] == 0]
    if len(touched):
        return system.numbers[touched].tolist(), 0.0
    lengths = _lengths(system)[rows]
    rows, lengths = rows[lengths > 0.0], lengths[lengths > 0.0]
    if len(rows) == 0:
        return [], math.inf
    at = exact.numbers(v)
    away = (system.passes.X[rows] @ at.near) / lengths
    least = exact.rounded_up(Fraction(float(away.min())) * at.scale)
    least = max(least, math.ulp(0.0))  # no slack is zero, whatever rounding says
    return [int(system.numbers[rows[away.argmin()]])], least


def _largest(system: System, limits: Limits) -> Radius | Interval:
    """The largest r for which rows that are each r‖a_i‖ tighter have a solution."""
    lengths = _lengths(system)
    lengths[system.free[:-1]] = 0.0
    last = newton.Bound(None, np.empty(0, dtype=np.int64), [])
    try:
        for found in newton.bounds(system, [Fraction(value) for value in lengths.tolist()], limits):
            last = found
            if found.is_near:  # lengths are not more exact
                break
    except (OutOfTimeError, OverflowError):
        if last.near is None:
            raise
    if last.contradicted:  # equalities, or a row 0 ≤ c < 0: at any distance
        return Interval(-math.inf, -math.inf)
    if last.r is None:
        return Interval(math.inf, math.inf)
    least = last.r if last.point is not None or last.below is None else last.below
    point = (*(last.point or last.near or ()), Fraction(1))
    claim = system.stated_multipliers(last.rows.tolist(), last.multipliers)
    bounds = _rounded(least, up=False), _rounded(last.r, up=True)
    return Radius(*bounds, point, claim.rows, claim.multipliers)


def _lengths(system: System) -> Vector:
    """‖a_i‖ of every row but e, nearly."""
    return row_lengths(system.passes.X[: system.e, :-1])


def _rounded(r: Fraction, up: bool) -> float:
    """A float on the safe side of r, for all lengths that floats may stand for."""
    slip = abs(r) * _SLIP
    return exact.rounded_up(r + slip) if up else exact.rounded_down(r - slip)


def least_squares(system: System, limits: Limits) -> Vector:
    """A w of the least Σ violation² over the rows as they are stated; the best found in time."""
    A, c = _rows(system)
    free, w = system.free[:-1], np.zeros(system.p)

    def residual(w: Vector) -> Vector:
        r = A @ w - c
        return np.where(free, r, np.maximum(r, 0.0))

    with np.errstate(all="ignore"):  # a step that overflows is not taken
        r = residual(w)
        value = float(r @ r)
        for _ in range(_MAX_STEPS):
            active = np.flatnonzero((r != 0.0) | free)
            if not time_to_factor(len(active), system.p, limits):
                break
            part = dense(A[active])
            if not np.isfinite(part).all():
                break
            step = np.linalg.lstsq(part, -r[active], rcond=None)[0]
            length, after = 1.0, residual(w + step)
            while not float(after @ after) < value * (1.0 - 1e-14) and length > 1e-12:
                length /= 2.0
                after = residual(w + length * step)
            if length <= 1e-12:
                break
            w = w + length * step
            r, value = after, float(after @ after)
    return w


def largest_violation(system: System, w: Vector) -> float:
    """The largest ⟨a_i, w⟩ − c_i, or |⟨a_i, w⟩ − c_i| of an equality; 0 where there is none."""
    A, c = _rows(system)
    with np.errstate(all="ignore"):
        r = A @ w - c
    return float(np.where(system.free[:-1], np.abs(r), r).max(initial=0.0))


def _rows(system: System) -> tuple[Any, Vector]:
    """A and c of the rows as they are stated, in floats."""
    factors = np.full(system.e, -1.0)
    if system.factors is not None:
        factors = -np.array([1 / factor for factor in system.factors[:-1]], dtype=np.float64)
    A = scaled(system.passes.X[:-1], factors)
    return A[:, :-1], -dense(A[:, [-1]]).ravel() * float(system.unit)
