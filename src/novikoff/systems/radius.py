"""One signed number for every system (D8): the largest ball inside, or the least violation.

r* = max over w of min_i (c_i − ⟨a_i, w⟩)/‖a_i‖, the largest r for which c_i − r·‖a_i‖ leaves a
solution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.system_checker import Radius
from novikoff.systems import newton
from novikoff.systems.matrices import row_lengths
from novikoff.systems.system import System, split

# Lengths are floats: r in their terms is within this share of r in terms of the true lengths.
_SLIP = Fraction(1, 1 << 48)


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
