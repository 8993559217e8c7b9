"""The margin as an interval that is guaranteed to hold it (C3).

γ = max over ‖w‖ ≤ 1 of min_i ⟨a_i, w⟩. Any w bounds it from below, any λ ≥ 0 from above:

    min_i ⟨a_i, w⟩/‖w‖  ≤  γ  ≤  ‖Σ λ_i a_i‖/Σ λ_i.

Both sides are computed in floats with every rounding counted, and exactly where the bounds on
rounding would widen the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.problem import Problem, products
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.exact import Numbers
from novikoff.geometry.passes import Passes

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


@dataclass(frozen=True)
class Weighing:
    """λ ≥ 0 on some rows, and the bound ‖Σ λ_i a_i‖/Σ λ_i that it proves."""

    rows: Indices
    weights: Vector
    bound: float


def lower_bound(least: Fraction, w: Numbers) -> float:
    """least/‖w‖, rounded down, for a least product that is not below ``least``; 0 if it is < 0.

    Examples
    --------
    >>> lower_bound(Fraction(5), exact.numbers([Fraction(3), Fraction(4)]))
    1.0
    """
    return exact.square_root_down(least**2 / w.square_norm()) if least > 0 else 0.0


def weigh(passes: Passes, rows: Indices, weights: Vector, tol: float) -> Weighing:
    """What γ cannot exceed, by the weights given; exact where rounding would show."""
    total = float(weights.sum())
    slip = (len(rows) + 4) * 2.0 * _U
    with np.errstate(all="ignore"):
        z = np.zeros(passes.p)
        for part, block in passes.blocks(rows):
            z += block.spread(weights[part] @ block.A)
        size = math.sqrt(float(np.square(z).sum())) * (1.0 + (len(z) + 4) * 2.0 * _U)
    slack = slip * passes.problem.radius * total
    bound = (size + slack) / total * (1.0 + 2.0 * slip)
    if not (slack <= tol / 8.0 * size and 2.0**-400 < size < 2.0**400):  # squares are in range
        exactly = exact.floats(weights)
        mass = sum(int(value) for value in exactly.whole) * exactly.unit
        bound = exact.square_root_up(square_of_sum(passes, rows, exactly) / mass**2)
    return Weighing(rows, weights, bound)


def square_of_sum(passes: Passes, rows: Indices, weights: Numbers, columns: int = 0) -> Fraction:
    """‖Σ λ_i a_i‖², exactly, for one weight to each of the rows; of the first columns if given."""
    total, unit = np.zeros(passes.p, dtype=object), weights.unit
    for part, block in passes.blocks(rows):
        own = weights._replace(whole=weights.whole[part])
        whole, smaller = exact.combine(block.A, own)
        if smaller < unit:
            total, unit = total * int(unit / smaller), smaller
        total += block.spread(whole) * int(smaller / unit)
    used = total[:columns] if columns else total
    return exact.sum_of_squares(used, unit)


def margin_of(problem: Problem, w: Vector) -> float:
    """min_i ⟨a_i, w⟩/‖w‖ of one rule: rounded down and proved where it is positive.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[3.0], [-1.0]]), np.array([1, -1], dtype=np.int8), False)
    >>> margin_of(problem, np.array([2.0, 0.0])), margin_of(problem, np.array([-2.0, 0.0]))
    (1.0, -3.0)
    """
    least = Passes(problem).least(exact.floats(w), Limits()).least.values()
    lowest = min((value for value in least if value is not None), default=Fraction(0))
    if lowest > 0:
        return lower_bound(lowest, exact.floats(w))
    return float(products(problem, w).min(initial=0.0)) / math.hypot(*w.tolist())
