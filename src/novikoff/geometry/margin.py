"""Margins as intervals that are guaranteed to hold them (C3, C4).

γ = max over ‖w‖ ≤ 1 of min_i ⟨a_i, w⟩. Any w bounds it from below, any λ ≥ 0 from above:

    min_i ⟨a_i, w⟩/‖w‖  ≤  γ  ≤  ‖Σ λ_i a_i‖/Σ λ_i.

With a free bias it is half the distance of the hulls P and Q of the two classes. They are nearest
at z = Σ u_k (a_i + a_j), a point of P − Q: pairs of a row of each side, whose paddings cancel.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.problem import Problem, products
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import minimise, nearest_point
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.geometry.view import View
from novikoff.geometry.visits import LeastProducts
from novikoff.proofs import exact
from novikoff.proofs.certificate import GeometricMargin
from novikoff.proofs.exact import Numbers

_U = 2.0**-53


class Interval(NamedTuple):
    """Numbers from ``lo`` to ``hi``.

    Examples
    --------
    >>> 0.5 in Interval(0.0, 1.0), Interval(0.9, 1.0).relative_width
    (True, 0.09999999999999998)
    """

    lo: float
    hi: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float | int) and self.lo <= value <= self.hi

    @property
    def relative_width(self) -> float:
        """(hi − lo)/hi, or 0 where both are 0."""
        return (self.hi - self.lo) / self.hi if self.hi > 0.0 else 0.0


def lower_bound(least: Fraction, w: Numbers) -> float:
    """least/‖w‖, rounded down, for a least product that is not below ``least``; 0 if it is < 0.

    Examples
    --------
    >>> lower_bound(Fraction(5), exact.numbers([Fraction(3), Fraction(4)]))
    1.0
    """
    return exact.square_root_down(least**2 / w.square_norm()) if least > 0 else 0.0


def upper_bound(passes: Passes, rows: Indices, weights: Sequence[Fraction], tol: float) -> float:
    """‖Σ λ_i a_i‖/Σ λ_i, rounded up; in exact numbers where rounding would show.

    Floats near λ are off by 2⁻⁵³ of themselves, and sums of k terms by k − 1 times that.
    """
    near = np.array([exact.nearest_float(value) for value in weights])
    total = float(near.sum())
    slip = (len(rows) + 4) * 2.0 * _U
    with np.errstate(all="ignore"):
        z = np.zeros(passes.p)
        for part, block in passes.blocks(rows):
            z += block.spread(near[part] @ block.A)
        size = math.sqrt(float(np.square(z).sum())) * (1.0 + (len(z) + 4) * 2.0 * _U)
    slack = slip * passes.radius * total
    bound = (size + slack) / total * (1.0 + 2.0 * slip)
    if not (slack <= tol / 8.0 * size and 2.0**-400 < size < 2.0**400):  # squares are in range
        return _exact_upper_bound(passes, rows, weights)
    return bound


def _exact_upper_bound(passes: Passes, rows: Indices, weights: Sequence[Fraction]) -> float:
    """The same without any rounding but the last."""
    multipliers = exact.numbers(weights)
    total, unit = np.zeros(passes.p, dtype=object), multipliers.unit
    for part, block in passes.blocks(rows):
        whole, smaller = exact.combine(block.A, multipliers._replace(whole=multipliers.whole[part]))
        if smaller < unit:
            total, unit = total * int(unit / smaller), smaller
        total += block.spread(whole) * int(smaller / unit)
    return exact.square_root_up(exact.sum_of_squares(total, unit) / sum(weights) ** 2)


def widest_gap(view: View, start: Indices, tol: float, limits: Limits) -> GeometricMargin | None:
    """Find the hyperplane halfway between the hulls, the gap known to a relative tol.

    None if w is not within the range of floats.
    """
    passes = view.passes
    signs = passes.fetch(start).signs
    sides = [start[signs == side] for side in (1, -1)]
    for k, side in enumerate((1, -1)):
        if len(sides[k]) == 0:
            sides[k] = np.array([passes.first_rows[side]])
    objective = nearest_point(view, pairs=True)
    found = minimise(objective, np.concatenate(sides), tol / 4.0, limits, lambda _: False)
    low, normal = found.seen.low, found.w[:-1]
    middle = float(found.seen.aim[-1]) + (low[-1] - low[1]) / 2.0  # for rows less the centre
    finite = np.isfinite(normal).all() and math.isfinite(middle)
    if not (finite and normal.any() and len(found.rows) > 0):
        return None
    bias = Fraction(middle)
    if view.centre is not None:
        pairs = zip(normal.tolist(), view.centre.tolist(), strict=True)
        bias -= sum(Fraction(a) * Fraction(b) for a, b in pairs)
    w = np.append(normal, float(bias))
    least = passes.least_products(exact.floats(w), limits)
    weights: dict[int, Fraction] = defaultdict(Fraction)  # a row may be in several pairs
    for i, j, u in zip(*(part.tolist() for part in found.vertices), strict=True):
        weights[i] += Fraction(u)
        weights[j] += Fraction(u)
    values = tuple(weights.values())
    hi = upper_bound(passes, np.array([*weights]), values, tol)
    lo = min(_half_gap(least), hi)
    return GeometricMargin(lo, hi, tuple(map(Fraction, w.tolist())), tuple(weights), values)


def _half_gap(least: LeastProducts) -> float:
    """Half the gap along w, rounded down; whatever the bias, it cancels."""
    whole = sum(value for value in least.least.values() if value is not None)
    half = Fraction(whole) / 2 * (1 - Fraction(1, 1 << 34))  # the checker may see less
    return lower_bound(half, least.w.at(np.arange(len(least.w.near) - 1)))


def margin_of(problem: Problem, w: Vector) -> float:
    """min_i ⟨a_i, w⟩/‖w‖ of one rule: rounded down and proved where it is positive.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[3.0], [-1.0]]), np.array([1, -1], dtype=np.int8), False)
    >>> [round(margin_of(problem, np.array([w, 0.0])), 9) for w in (2.0, -2.0)]
    [1.0, -3.0]
    """
    least = LocalPasses(problem).least_products(exact.floats(w), Limits()).least.values()
    lowest = min((value for value in least if value is not None), default=Fraction(0))
    if lowest > 0:
        return lower_bound(lowest, exact.floats(w))
    return float(products(problem, w).min(initial=0.0)) / math.hypot(*w.tolist())
