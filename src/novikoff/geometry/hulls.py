"""The margin with a free bias: half the distance of the two hulls (C4).

Over (x, y) of both signs, max over w, b of min_i y_i(⟨w, x_i⟩ + b)/‖w‖. The hulls P and Q of
the two classes are nearest at z = Σ u_k (a_i + a_j), a point of P − Q: pairs of a row of
each side, whose paddings cancel. It does not change when all rows move by a centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.margin import Interval, lower_bound, square_of_sum
from novikoff.geometry.min_norm import Answer, View, nearest_point, search
from novikoff.geometry.passes import Least, Passes


@dataclass(frozen=True)
class Gap:
    """The widest gap between two hulls that was found, and bounds on the widest there is."""

    w: Vector  # the hyperplane halfway between the hulls, the bias last
    margin: Interval  # bounds on half their distance: below by w, above by the weights
    rows: Indices
    weights: list[Fraction]  # λ on the rows, of the same sum on each side
    working: Indices  # the rows that the search looked at in the end
    proof: Least | None  # what w proves of all rows; None if it is not finite


def widest_gap(view: View, start: Indices, tol: float, limits: Limits) -> Gap:
    """Find the hyperplane of the largest margin, to a relative tol."""
    passes = view.passes
    sides = [start[passes.signs[start] == side] for side in (1, -1)]
    for k, side in enumerate((1, -1)):
        if len(sides[k]) == 0:
            sides[k] = np.flatnonzero(passes.signs == side)[:1]
    best = [Interval(0.0, math.inf)]

    def enough(answer: Answer) -> bool:
        lo, hi = _rough_lower(answer), _rough_upper(view, answer)
        best[0] = Interval(max(lo, best[0].lo), min(hi, best[0].hi))
        return best[0].relative_width <= tol / 2.0

    question = nearest_point(view, pairs=True)
    found = search(question, np.concatenate(sides), tol / 4.0, limits, enough)
    hi, weights = _upper(passes, found)
    w = found.w.copy()
    positive, negative = found.seen.low[1], found.seen.low[-1]
    w[-1] = _moved_bias(w, float(found.seen.aim[-1]) + (negative - positive) / 2.0, view.centre)
    proof, lo = None, 0.0
    if np.isfinite(w).all() and w[:-1].any():
        proof = passes.least(exact.floats(w), limits)
        lo = half_gap(proof)
    return Gap(w, Interval(min(lo, hi), hi), found.rows, weights, found.working, proof)


def half_gap(proof: Least) -> float:
    """Half the gap along the weights of a proof, rounded down; whatever the bias, it cancels."""
    least = [value for value in proof.least.values() if value is not None]
    whole = sum(least, Fraction(0)) / 2 * (1 - Fraction(1, 1 << 40))  # the checker may see less
    return lower_bound(whole, proof.w.at(np.arange(len(proof.w.near) - 1)))


def _moved_bias(w: Vector, bias: float, centre: Vector | None) -> float:
    """The bias for the rows themselves of one for rows less the centre, rounded once."""
    if centre is None or not np.isfinite(w).all() or not math.isfinite(bias):
        return bias
    moved = Fraction(bias)
    for a, b in zip(w[:-1].tolist(), centre.tolist(), strict=True):
        moved -= Fraction(a) * Fraction(b)
    return float(moved)


def _rough_lower(answer: Answer) -> float:
    """Half the gap in floats: good enough to decide when to stop."""
    size = float(np.linalg.norm(answer.w[:-1]))
    if not size > 0.0:
        return 0.0
    return max(0.0, sum(answer.seen.low.values())) / size / 2.0


def _rough_upper(view: View, answer: Answer) -> float:
    """‖z‖/2 in floats: good enough to decide when to stop."""
    first, second, u = answer.vertices
    if len(u) == 0:
        return math.inf
    z = np.zeros(view.passes.p)
    for rows in (first, second):
        z += np.asarray(view.gather(rows).T @ u).ravel()
    return float(np.linalg.norm(z)) / float(view.columns[0]) / float(u.sum()) / 2.0


def _upper(passes: Passes, answer: Answer) -> tuple[float, list[Fraction]]:
    """‖z‖/2 with weights that balance exactly, rounded up; and the weights of the answer's rows."""
    first, second, u = answer.vertices
    if len(u) == 0:
        return math.inf, []
    weights = exact.floats(u)
    of_row = dict.fromkeys(answer.rows.tolist(), 0)  # a row may be in several pairs
    for i, j, value in zip(first.tolist(), second.tolist(), weights.whole.tolist(), strict=True):
        of_row[i] += value
        of_row[j] += value
    by_row = weights._replace(whole=np.array(list(of_row.values()), dtype=object))
    squared = square_of_sum(passes, answer.rows, by_row)
    mass = sum(of_row.values()) * weights.unit
    hi = exact.square_root_up(squared / mass**2)
    return hi, [value * weights.unit for value in of_row.values()]
