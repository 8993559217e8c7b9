"""The margin as an interval that is guaranteed to hold it (C3).

γ = max over ‖w‖ ≤ 1 of min_i ⟨a_i, w⟩. Any w bounds it from below, any λ ≥ 0 from above:

    min_i ⟨a_i, w⟩/‖w‖  ≤  γ  ≤  ‖Σ λ_i a_i‖/Σ λ_i.

Both sides are computed in floats with every rounding counted, and in integers where the
bounds on rounding would widen the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.geometry import exact
from novikoff.geometry.passes import Data

_U = 2.0**-53
# Up to so many rows are looked at in integers.
_FEW = 20_000


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


def separates(data: Data, w: Vector, products: Vector | None = None) -> bool:
    """Whether ⟨a_i, w⟩ > 0 for every row, proved."""
    m = data.products(w) if products is None else products
    doubtful = np.flatnonzero(~((m > data.doubt(w)) & (m < np.inf)))
    if len(doubtful) > 0 and (m[doubtful] < -data.doubt(w)).any():
        return False
    if len(doubtful) == 0:
        return True
    weights = _numbers(data, w)
    parts = data.table.parts(doubtful)
    return all((exact.product_signs(A, weights) > 0).all() for _, A in parts)


def lower_bound(data: Data, w: Vector, products: Vector, tol: float) -> float:
    """A float below min_i ⟨a_i, w⟩/‖w‖ by a share of tol at most where that is feasible."""
    doubt, low = data.doubt(w), float(products.min())
    norm = square_norm(w)
    if not (norm > 0 and math.isfinite(doubt)):
        return 0.0
    near = np.flatnonzero(~(products > low + 2.0 * doubt))
    if doubt > tol / 8.0 * low and len(near) <= _FEW:
        weights = _numbers(data, w)
        found = (exact.products(A, weights) for _, A in data.table.parts(near))
        least = min(min(whole) * unit for whole, unit in found)
        return exact.square_root_down(least**2 / norm) if least > 0 else 0.0
    bound = (low - doubt) * (1.0 - 4.0 * _U) / exact.square_root_up(norm)
    return max(0.0, math.nextafter(bound, -math.inf))


def exact_lower_bound(data: Data, w: exact.Numbers) -> float:
    """The same for an exact w: min_i ⟨a_i, w⟩/‖w‖, rounded down."""
    least: Fraction | None = None
    for _, A in data.table.blocks():
        found, bound = exact.product_bounds(A, w.near)
        near = ~(found - bound > np.min(found + bound))
        whole, unit = exact.products(A[near], w)
        low = min(whole) * unit
        least = low if least is None else min(least, low)
    norm = sum(int(value) ** 2 for value in w.whole) * w.unit**2
    return exact.square_root_down(least**2 / norm) if least is not None and least > 0 else 0.0


def weigh(data: Data, rows: Indices, weights: Vector, tol: float) -> Weighing:
    """What γ cannot exceed, by the weights given; exact where rounding would show."""
    total = float(weights.sum())
    slip = (len(rows) + 4) * 2.0 * _U
    with np.errstate(all="ignore"):
        z = np.zeros(data.p)
        for part, A in data.table.parts(rows):
            z += weights[part] @ A
        size = math.sqrt(float(np.square(z).sum())) * (1.0 + (len(z) + 4) * 2.0 * _U)
    slack = slip * data.problem.radius * total
    bound = (size + slack) / total * (1.0 + 2.0 * slip)
    if not (slack <= tol / 8.0 * size and 2.0**-400 < size < 2.0**400):  # squares are in range
        bound = _exact_bound(data, rows, weights)
    return Weighing(rows, weights, bound)


def _exact_bound(data: Data, rows: Indices, weights: Vector) -> float:
    """‖Σ λ_i a_i‖/Σ λ_i, rounded up."""
    exactly = exact.floats(weights)
    mass = sum(int(value) for value in exactly.whole) * exactly.unit
    return exact.square_root_up(square_of_sum(data, rows, exactly) / mass**2)


def square_of_sum(data: Data, rows: Indices, weights: exact.Numbers) -> Fraction:
    """‖Σ λ_i a_i‖², exactly, for one weight to each of the rows."""
    total, unit = np.zeros(data.p, dtype=object), weights.unit
    for part, A in data.table.parts(rows):
        whole, own = exact.combine(A, weights._replace(whole=weights.whole[part]))
        if own < unit:
            total, unit = total * int(unit / own), own
        total += whole * int(own / unit)
    return Fraction(sum(int(value) ** 2 for value in total)) * unit**2


def square_norm(w: Vector) -> Fraction:
    """‖w‖², exactly."""
    whole, e = exact.integers(w)
    return sum(int(value) ** 2 for value in whole) * Fraction(4) ** e


def _numbers(data: Data, w: Vector) -> exact.Numbers:
    return exact.floats(w[: data.p])
