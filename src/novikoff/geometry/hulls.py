"""The margin with a free bias: half the distance of the two hulls (C4).

Over (x, y) of both signs, max over w, b of min_i y_i(⟨w, x_i⟩ + b)/‖w‖. The hulls P and Q of
the two classes are nearest at z = Σ u_k (a_i + a_j), a point of P − Q: pairs of a row of
each side, whose paddings cancel. It does not change when all rows move by a centre.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.checker import GeometricMargin
from novikoff.geometry.margin import exact_upper_bound, lower_bound
from novikoff.geometry.min_norm import View, nearest_point, search
from novikoff.geometry.passes import Least


def widest_gap(
    view: View, start: Indices, tol: float, limits: Limits
) -> tuple[GeometricMargin, Least, Indices] | None:
    """Find the hyperplane halfway between the hulls, the gap known to a relative tol.

    With the claim come the least products that w has, and the rows that the search ended with;
    None where w is not within the range of floats.
    """
    passes = view.passes
    sides = [start[passes.signs[start] == side] for side in (1, -1)]
    for k, side in enumerate((1, -1)):
        if len(sides[k]) == 0:
            sides[k] = np.flatnonzero(passes.signs == side)[:1]
    question = nearest_point(view, pairs=True)
    found = search(question, np.concatenate(sides), tol / 4.0, limits, lambda _: False)
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
    least = passes.least(exact.floats(w), limits)
    weights: dict[int, Fraction] = defaultdict(Fraction)  # a row may be in several pairs
    for i, j, u in zip(*(part.tolist() for part in found.vertices), strict=True):
        weights[i] += Fraction(u)
        weights[j] += Fraction(u)
    values = tuple(weights.values())
    hi = exact_upper_bound(passes, np.array([*weights]), values)
    lo = min(_half_gap(least), hi)
    claim = GeometricMargin(lo, hi, tuple(map(Fraction, w.tolist())), tuple(weights), values)
    return claim, least, found.working


def _half_gap(least: Least) -> float:
    """Half the gap along w, rounded down; whatever the bias, it cancels."""
    whole = sum(value for value in least.least.values() if value is not None)
    half = Fraction(whole) / 2 * (1 - Fraction(1, 1 << 34))  # the checker may see less
    return lower_bound(half, least.w.at(np.arange(len(least.w.near) - 1)))
