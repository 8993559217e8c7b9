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

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs import exact
from novikoff.proofs.system_checker import Radius
from novikoff.systems import newton
from novikoff.systems.matrices import dense, lengths_in_units, scaled, time_to_factor
from novikoff.systems.system import System, split

_MAX_STEPS = 200  # of the least squares
_MAX_POWER = 1000  # of two, by which the least squares are multiplied
# More, by far, than what numbers and products lose where they are below all floats.
_UNDERFLOW = 2.0**-1000


def signed_radius(system: System, limits: Limits, *, feasible: bool) -> Radius | Interval:
    """The signed radius as bounds with their proof, or as an interval alone.

    It is r* = max over w of min_i (c_i − ⟨a_i, w⟩)/‖a_i‖; strict rows count as weak ones. Where the
    system is ``feasible``, equalities hold and have no part in the minimum: r* ≥ 0 is the radius of
    the largest ball of solutions, within the equalities, and infinite where there are balls of any
    size. Else they count as two rows, and −r* ≥ 0 is the distance by which every point misses some
    row; it is 0 where the rows fail only because some are strict. A row of zeros that fails, such
    as 0 ≤ −1, is missed by an infinite distance, since no point comes nearer to satisfying it.

    There is no proof for an infinite radius and for bounds that floats do not reach.
    OutOfTimeError where time is up.
    """
    weak = replace(system, strict=np.zeros_like(system.strict))
    if not feasible:
        weak = split(weak, weak.free)
    try:
        return _largest(weak, limits, feasible=feasible)
    except OverflowError:  # numbers on the way are beyond all floats
        return Interval(0.0, math.inf) if feasible else Interval(-math.inf, 0.0)


def nearest_boundary(
    system: System, w: Sequence[Fraction], apart: Sequence[int], limits: Limits
) -> tuple[list[int], float]:
    """The rows that a solution meets with equality and 0, or the nearest row and its distance.

    Equalities and the rows ``apart`` do not count; no rows and infinity where there are no others.
    Rows are numbered as they are stated; the distance is exact but for its last digits.
    """
    v = system.homogeneous(w)
    rows = np.flatnonzero(~(system.free[:-1] | np.isin(system.numbers[:-1], apart)))
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
    """The largest ⟨a_i, w⟩ − c_i, or |⟨a_i, w⟩ − c_i| of an equality; 0 where there is none.

    Rows are those stated, and the number is exact but for its last digit, which is rounded up.
    """
    if not np.isfinite(w).all():
        return math.inf
    if system.e == 0:
        return 0.0
    factors = [system.factor(i) for i in range(system.e)]
    point = [Fraction(value) for value in w.tolist()]
    _, least = _least_slack(system, point, np.arange(system.e), factors, Limits())
    return exact.rounded_up(max(-least, Fraction(0)))


def _least_slack(
    system: System, w: Sequence[Fraction], rows: Indices, units: Sequence[Fraction], limits: Limits
) -> tuple[int, Fraction]:
    """The row of the least slack (c_i − ⟨a_i, w⟩)/unit_i, exactly; for an equality −|slack|.

    Floats with a bound on their error leave the rows that may be the one.
    """
    X: Any = system.passes.X[rows]
    at = exact.numbers(system.homogeneous(w)).near
    with np.errstate(all="ignore"):  # where one is NaN, all are looked at exactly
        own = np.array([exact.nearest_float(units[i]) for i in rows.tolist()])
        own[~((own > _UNDERFLOW) & (own < math.inf))] = math.nan
        slack, sizes = X @ at, abs(X) @ (np.abs(at) + _UNDERFLOW) + _UNDERFLOW
        slop = sizes * (system.p + 9) * 2.0**-51
        slack, slop = np.where(system.free[rows], -np.abs(slack), slack) / own, slop / own
        close = rows[~(slack - slop > (slack + slop).min())]
    exactly = system.slack(w, limits, close)
    found = {
        i: (-abs(value) if system.free[i] else value) / units[i]
        for i, value in zip(close.tolist(), exactly, strict=True)
    }
    least = min(found, key=found.__getitem__)
    return least, found[least]


def _largest(system: System, limits: Limits, *, feasible: bool) -> Radius | Interval:
    """The largest r for which rows that are each r‖a_i‖ tighter leave a solution."""
    lengths = _lengths(system)
    if not feasible and any(
        c < 0 for c, length in zip(system.right(), lengths, strict=True) if length == 0
    ):
        return Interval(-math.inf, -math.inf)
    for i in np.flatnonzero(system.free).tolist():
        lengths[i] = Fraction(0)
    last = newton.Bound(None, np.empty(0, dtype=np.int64), [])
    try:
        for found in newton.bounds(system, lengths, limits):
            last = found
            if found.is_near:  # lengths are not more exact
                break
    except (OutOfTimeError, OverflowError):
        if last.near is None:
            raise
    if last.r is None:  # there are balls of any size, but for a strict row that fails everywhere
        return Interval(math.inf, math.inf) if feasible else Interval(0.0, 0.0)
    least = last.r if last.point is not None or last.below is None else last.below
    slip = Fraction(system.p + 16, 1 << 53)  # of lengths that are rounded
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
    """‖a_i‖ of every row but e, nearly: within (p + 8)·2⁻⁵³ of itself."""
    lengths, powers = lengths_in_units(system.passes.X[: system.e, :-1])
    pairs = zip(lengths.tolist(), powers.tolist(), strict=True)
    return [Fraction(length) * Fraction(2) ** power for length, power in pairs]


def least_squares(system: System, limits: Limits) -> Vector:
    """A w of the least Σ violation² over the rows as they are stated; the best found in time.

    Floats find it, in units of A and c in which no square overflows. It is the origin where the
    rows are beyond floats.
    """
    free, w = system.free[:-1], np.zeros(system.p)
    with np.errstate(all="ignore"):
        A, c = _rows(system)
    peaks = [abs(part).max() if part.shape[0] else 0.0 for part in (A, c)]
    if not np.isfinite(peaks).all():
        return w
    powers = np.maximum(np.frexp(peaks)[1], -_MAX_POWER)
    A, c = A * 2.0 ** -float(powers[0]), np.ldexp(c, -powers[1])

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
            step = np.linalg.lstsq(dense(A[active]), -r[active], rcond=None)[0]
            length, after = 1.0, residual(w + step)
            while not float(after @ after) < value * (1.0 - 1e-14) and length > 1e-12:
                length /= 2.0
                after = residual(w + length * step)
            if length <= 1e-12:
                break
            w = w + length * step
            r, value = after, float(after @ after)
        return np.asarray(np.ldexp(w, powers[1] - powers[0]))


def _rows(system: System) -> tuple[Any, Vector]:
    """A and c of the rows as they are stated, in floats."""
    factors = np.full(system.e, -1.0)
    if system.factors is not None:
        factors = -np.array([exact.nearest_float(1 / factor) for factor in system.factors[:-1]])
    A = scaled(system.passes.X[:-1], factors)
    return A[:, :-1], -dense(A[:, [-1]]).ravel() * exact.nearest_float(system.unit)
