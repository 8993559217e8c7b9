"""The margin with a free bias: half the distance of the two hulls (C4).

Over (x, y) of both signs, max over w, b of min_i y_i(⟨w, x_i⟩ + b)/‖w‖. The hulls P and Q of
the two classes are nearest at z = Σ u_k (a_i + a_j), a point of P − Q: pairs of a row of
each side, whose paddings cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.margin import Interval, square_norm, square_of_sum
from novikoff.geometry.min_norm import Answer, View, nearest_point, search
from novikoff.geometry.passes import Data


@dataclass(frozen=True)
class Gap:
    """The widest gap between two hulls that was found, and bounds on the widest there is.

    Attributes
    ----------
    w : array of shape (p,)
        The hyperplane halfway between the hulls, the bias last.
    margin : Interval
        Bounds on half the distance of the hulls.
    rows, weights : arrays
        The rows that carry the gap, and λ on them, which sums to 1 on each side.
    working : array of int
        The rows that the search looked at in the end.
    """

    w: Vector
    margin: Interval
    rows: Indices
    weights: Vector
    working: Indices


def widest_gap(view: View, start: Indices, tol: float, limits: Limits) -> Gap:
    """Find the hyperplane of the largest margin, to a relative tol."""
    data = view.data
    signs = data.problem.rows.signs
    sides = [start[signs[start] > 0], start[signs[start] < 0]]
    for k, side in enumerate((1, -1)):
        if len(sides[k]) == 0:
            sides[k] = np.flatnonzero(signs == side)[:1]
    best = [Interval(0.0, math.inf)]

    def enough(answer: Answer) -> bool:
        lo, hi = _rough_lower(answer), _rough_upper(data, answer)
        best[0] = Interval(max(lo, best[0].lo), min(hi, best[0].hi))
        return best[0].relative_width <= tol / 2.0

    found = search(
        nearest_point(view, pairs=True), np.concatenate(sides), tol / 4.0, limits, enough
    )
    w = without_bias(found.w)
    positive, negative = found.least
    # Whatever the bias of found.w is, it cancels in the sum of both.
    lo = half_gap(w, positive, negative, data.doubt(found.w))
    hi = _upper(data, found)
    w[-1] = found.w[-1] + (negative - positive) / 2.0
    total = float(found.vertices[2].sum())
    return Gap(w, Interval(min(lo, hi), hi), found.rows, found.weights / total, found.working)


def without_bias(w: Vector) -> Vector:
    """The same weights with a bias of zero."""
    return np.append(w[:-1], 0.0)


def half_gap(w: Vector, positive: float, negative: float, doubt: float) -> float:
    """Half the gap that w leaves between the classes, rounded down.

    It follows from the least product on each side, each of them within a doubt.
    """
    norm = square_norm(w)
    if norm == 0 or not math.isfinite(positive + negative):
        return 0.0
    gap = (positive + negative - 2.0 * doubt) / 2.0 * (1.0 - 2.0**-50)
    return max(0.0, math.nextafter(gap / exact.square_root_up(norm), -math.inf))


def _rough_lower(answer: Answer) -> float:
    """Half the gap in floats: good enough to decide when to stop."""
    size = float(np.linalg.norm(answer.w[:-1]))
    if not size > 0.0:
        return 0.0
    return max(0.0, sum(answer.least)) / size / 2.0


def _rough_upper(data: Data, answer: Answer) -> float:
    """‖z‖/2 in floats: good enough to decide when to stop."""
    first, second, u = answer.vertices
    if len(u) == 0:
        return math.inf
    z = np.zeros(data.p)
    for rows in (first, second):
        for part, A in data.table.parts(rows):
            z += u[part] @ A
    return float(np.linalg.norm(z)) / float(u.sum()) / 2.0


def _upper(data: Data, answer: Answer) -> float:
    """‖z‖/2 with weights that balance exactly, rounded up."""
    first, second, u = answer.vertices
    if len(u) == 0:
        return math.inf
    weights = exact.floats(u)
    rows = np.unique(np.concatenate([first, second]))
    of_row = dict.fromkeys(rows.tolist(), 0)  # a row may be in several pairs
    for i, j, value in zip(first.tolist(), second.tolist(), weights.whole.tolist(), strict=True):
        of_row[i] += value
        of_row[j] += value
    by_row = weights._replace(whole=np.array(list(of_row.values()), dtype=object))
    squared = square_of_sum(data, rows, by_row)
    mass = sum(of_row.values()) * weights.unit
    return exact.square_root_up(squared / mass**2)
