"""A pass over all rows with a w that separates some of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.geometry import exact
from novikoff.geometry.exact import Numbers, Signs
from novikoff.geometry.hulls import Gap, half_gap, without_bias
from novikoff.geometry.inquiry import Finding
from novikoff.geometry.margin import exact_lower_bound, lower_bound, separates
from novikoff.geometry.selection import Part, Table, Worst


class Trial:
    """What a pass finds out about a w, and about the w of the widest gap."""

    def __init__(
        self, inner: Finding, hi: float, table: Table, goal: str, tol: float, batch: int
    ) -> None:
        values = inner.w or []
        self.goal, self.tol, self.floats = goal, tol, _are_floats(values)
        self.numbers = exact.numbers(values)
        near = [float(value) for value in values] if self.floats else self.numbers.near
        self.w = padded(np.array(near), table.d)
        self.enough = 0.0
        if goal != "kind":
            self.enough = hi * float(np.linalg.norm(self.w)) * (1.0 - self.tol / 2.0)
        self.nearest, self.narrowest = Worst(batch), Worst(batch)
        self.separates, self.lo, self.gap_lo = True, math.inf, 0.0
        self.gap: Gap | None = inner.gap
        self.least = math.inf, math.inf
        self.doubt = 0.0

    def look_at(self, part: Part) -> None:
        """Take a block into account."""
        data = part.data
        m = data.products(self.w)
        if self.separates:
            self.separates = self._separates(part, m)
        if self.separates and self.floats:
            self.lo = min(self.lo, lower_bound(data, self.w, m, self.tol))
        elif self.separates:
            self.lo = min(self.lo, exact_lower_bound(data, self.numbers))
        rows = np.flatnonzero(~(m > max(self.enough, data.doubt(self.w))))
        self.nearest.note(part, rows, m[rows])
        if self.gap is not None:
            self._look_at_gap(part, self.gap)

    def _look_at_gap(self, part: Part, gap: Gap) -> None:
        data, level = part.data, without_bias(gap.w)
        m, positive, negative = data.products_by_side(level)
        self.doubt = max(self.doubt, data.doubt(level))
        least = np.minimum(self.least, (positive, negative))  # NaN if there is one
        self.least = float(least[0]), float(least[1])
        enough = gap.margin.hi * float(np.linalg.norm(level)) * (1.0 - self.tol / 2.0)
        distances = m + part.signs * gap.w[-1]
        rows = np.flatnonzero(~(distances > enough))
        self.narrowest.note(part, rows, distances[rows])
        self.gap_lo = half_gap(level, *self.least, self.doubt)

    def _separates(self, part: Part, m: Vector) -> bool:
        if self.floats:
            return separates(part.data, self.w, m)
        return bool((signs_under(part, self.numbers) > 0).all())

    def suffices(self, found: Finding) -> bool:
        """Whether the goal is reached."""
        if found.kind != "separable":
            return False
        if self.goal == "kind":
            return True
        gap = found.geometric_margin
        wide = self.gap is not None and math.isfinite(gap.hi) and gap.relative_width > self.tol
        return not wide and found.margin.relative_width <= self.tol


def signs_under(part: Part, w: Numbers | None) -> Signs:
    """The signs of ⟨a_i, w⟩, exactly; no w is zero."""
    data = part.data
    if w is None:
        return np.zeros(data.n, dtype=np.int8)
    near = padded(w.near, data.problem.p - 1)
    m, doubt = data.products(near), data.doubt(near)
    signs = np.where(np.abs(m) > doubt, np.sign(m), 0.0).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(m) > doubt) | ~np.isfinite(m))
    for some, A in data.table.parts(doubtful):
        signs[doubtful[some]] = exact.product_signs(A, w)
    return signs


def padded(w: Vector, d: int) -> Vector:
    """Weights with a place for the bias."""
    return np.append(w, np.zeros(d + 1 - len(w)))


def _are_floats(values: list[Fraction]) -> bool:
    try:
        return all(Fraction(float(value)) == value for value in values)
    except OverflowError:
        return False
