"""Distances between a point and the rows, and the signed radius of a system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs import exact
from novikoff.proofs.system_certificate import Radius
from novikoff.systems import newton
from novikoff.systems.matrices import lengths_in_units
from novikoff.systems.system import System, split_equalities

# This absolute error is far above the error of products that underflow.
_LOST_BY_UNDERFLOW = 2.0**-1000


def signed_radius(system: System, limits: Limits, *, feasible: bool) -> Radius | Interval:
    """The signed radius of a system: proved bounds, or an interval without a proof.

    The signed radius is r* = max over w of min_i (c_i − ⟨a_i, w⟩)/‖a_i‖: the largest r for which
    the right sides c_i − r·‖a_i‖ leave a solution. Strict rows count as weak rows.

    If the system is ``feasible``, equalities hold and do not take part in the minimum. Then r* ≥ 0
    is the Chebyshev radius, the radius of the largest ball of solutions within the equalities; it
    is infinite if there are balls of any size. If the system is infeasible, an equality counts as
    two rows, and every point misses some row by a distance of at least −r* ≥ 0. It is 0 if the
    system is infeasible only because rows are strict. A row of zeros that fails, such as 0 ≤ −1,
    is missed by an infinite distance, because no point comes closer to satisfying it.

    A radius that is infinite, or whose bounds are beyond float64, has no proof. OutOfTimeError is
    raised when the limits are reached.
    """
    weak = replace(system, strict=np.zeros_like(system.strict))
    if not feasible:
        weak = split_equalities(weak, weak.equalities)
    try:
        return _largest(weak, limits, feasible=feasible)
    except OverflowError:  # an intermediate number exceeds the range of floats
        return Interval(0.0, math.inf) if feasible else Interval(-math.inf, 0.0)


def nearest_boundary(
    system: System, w: Sequence[Fraction], apart: Sequence[int], limits: Limits
) -> tuple[list[int], float]:
    """The rows whose boundary is nearest to a solution, and the distance.

    If the solution meets rows with equality, these rows and 0 are returned, otherwise one nearest
    row and its distance. Equalities and the stated rows ``apart`` do not count. If there are no
    other rows, no row and infinity are returned. Rows are numbered as in the statement. The
    distance is rounded up, and exact except for its last digits.
    """
    v = system.homogeneous(w)
    rows = np.flatnonzero(~(system.equalities[:-1] | np.isin(system.numbers[:-1], apart)))
    touched = rows[system.signs(v, limits)[rows] == 0]
    if len(touched):
        return system.numbers[touched].tolist(), 0.0
    lengths = _lengths(system)
    rows = np.array([i for i in rows.tolist() if lengths[i] > 0], dtype=np.int64)
    if len(rows) == 0:
        return [], math.inf
    nearest, away = _least_slack(system, w, rows, lengths, limits)
    return [int(system.numbers[nearest])], exact.rounded_up(away)


def largest_violation(system: System, w: Vector) -> float:
    """The largest violation: ⟨a_i, w⟩ − c_i of a row, |⟨a_i, w⟩ − c_i| of an equality, or 0.

    The violation is computed exactly, and rounded up to a float.
    """
    if not np.isfinite(w).all():
        return math.inf
    if system.homogenising_row == 0:
        return 0.0
    factors = [system.factor(i) for i in range(system.homogenising_row)]
    point = [Fraction(value) for value in w.tolist()]
    _, least = _least_slack(system, point, np.arange(system.homogenising_row), factors, Limits())
    return exact.rounded_up(max(-least, Fraction(0)))


def _least_slack(
    system: System, w: Sequence[Fraction], rows: Indices, units: Sequence[Fraction], limits: Limits
) -> tuple[int, Fraction]:
    """The row with the least slack (c_i − ⟨a_i, w⟩)/unit_i, and its exact slack.

    The slack of an equality is −|slack|. Floats with a bound on their error exclude most rows. The
    slacks of the other rows are computed exactly.
    """
    X: Any = system.passes.X[rows]
    at = exact.numbers(system.homogeneous(w)).near
    with np.errstate(all="ignore"):  # if some number is NaN, all slacks are computed exactly
        lengths = np.array([exact.nearest_float(units[i]) for i in rows.tolist()])
        lengths[~((lengths > _LOST_BY_UNDERFLOW) & (lengths < math.inf))] = math.nan
        slack, sizes = X @ at, abs(X) @ (np.abs(at) + _LOST_BY_UNDERFLOW) + _LOST_BY_UNDERFLOW
        slop = sizes * (system.p + 9) * 2.0**-51
        slack, slop = (
            np.where(system.equalities[rows], -np.abs(slack), slack) / lengths,
            slop / lengths,
        )
        close = rows[~(slack - slop > (slack + slop).min())]
    exactly = system.slack(w, limits, close)
    slacks = {
        i: (-abs(value) if system.equalities[i] else value) / units[i]
        for i, value in zip(close.tolist(), exactly, strict=True)
    }
    least = min(slacks, key=slacks.__getitem__)
    return least, slacks[least]


def _largest(system: System, limits: Limits, *, feasible: bool) -> Radius | Interval:
    """The largest r for which a solution remains if each row is made tighter by r·‖a_i‖."""
    lengths = _lengths(system)
    if not feasible and any(
        c < 0 for c, length in zip(system.right(), lengths, strict=True) if length == 0
    ):
        return Interval(-math.inf, -math.inf)
    for i in np.flatnonzero(system.equalities).tolist():
        lengths[i] = Fraction(0)
    last = newton.Bound(None, np.empty(0, dtype=np.int64), [])
    try:
        for bound in newton.bounds(system, lengths, limits):
            last = bound
            if bound.is_near:  # more digits are useless: the lengths of the rows are not more exact
                break
    except (OutOfTimeError, OverflowError):
        if last.near is None:
            raise
    if last.r is None:  # there are balls of any size, unless a strict row fails everywhere
        return Interval(math.inf, math.inf) if feasible else Interval(0.0, 0.0)
    least = last.r if last.point is not None or last.below is None else last.below
    slip = Fraction(system.p + 16, 1 << 53)  # the relative error of the rounded lengths
    lo, hi = least - abs(least) * slip, last.r + abs(last.r) * slip
    if not feasible:
        lo, hi = min(lo, Fraction(0)), min(hi, Fraction(0))
    bounds = Interval(exact.rounded_down(lo) + 0.0, exact.rounded_up(hi) + 0.0)
    if math.isinf(bounds.lo):
        return bounds
    point = (*(last.point or last.near or ()), Fraction(1))
    if math.isinf(bounds.hi) or (not feasible and bounds.hi == 0.0):
        return Radius(*bounds, point, (), ())
    claim = system.stated_multipliers(last.rows.tolist(), last.multipliers)
    return Radius(*bounds, point, claim.rows, claim.multipliers)


def _lengths(system: System) -> list[Fraction]:
    """‖a_i‖ of every row except e, with a relative error of at most (p + 8)·2⁻⁵³."""
    lengths, powers = lengths_in_units(system.passes.X[: system.homogenising_row, :-1])
    pairs = zip(lengths.tolist(), powers.tolist(), strict=True)
    return [Fraction(length) * Fraction(2) ** power for length, power in pairs]
