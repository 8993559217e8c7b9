"""The largest margin: intervals that are guaranteed to contain it, and its hyperplane.

Objective
    The margin γ is the maximum of min_i ⟨a_i, w⟩ over all w with ‖w‖ ≤ 1.
Input
    The signed rows a_i, weights w and multipliers λ ≥ 0.
Output
    An interval that contains γ. Every w gives a lower bound and every λ gives an upper bound:

        min_i ⟨a_i, w⟩/‖w‖  ≤  γ  ≤  ‖Σ λ_i a_i‖/Σ λ_i.

If the bias does not count in ‖w‖, the margin is half the distance between the convex hulls P and Q
of the two classes (`widest_gap`). This distance is the norm of the point of P − Q that is nearest
to the origin. That point is z = Σ u_k (a_i + a_j), a sum over pairs of a positive and a negative
row. In each pair the entries of the bias cancel.

`largest_margin` returns the hyperplane of the largest margin that a verdict has found.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from novikoff.core.problem import Problem, products
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import minimise, nearest_point
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.geometry.view import View
from novikoff.geometry.visits import LeastProducts
from novikoff.proofs import exact
from novikoff.proofs.certificate import GeometricMargin
from novikoff.proofs.exact import Numbers

if TYPE_CHECKING:
    from novikoff.geometry.verdict import Verdict

_U = 2.0**-53


class Interval(NamedTuple):
    """The interval from ``lo`` to ``hi``, both ends included.

    Attributes
    ----------
    lo : float
        The lower end.
    hi : float
        The upper end, which may be infinite.

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
        """(hi − lo)/hi, or 0 if both ends are 0."""
        return (self.hi - self.lo) / self.hi if self.hi > 0.0 else 0.0


def lower_bound(least: Fraction, w: Numbers) -> float:
    """Return the lower bound least/‖w‖ on γ, rounded down; 0 if ``least`` is negative.

    ``least`` is a lower bound on all products ⟨a_i, w⟩.

    Examples
    --------
    >>> lower_bound(Fraction(5), exact.numbers([Fraction(3), Fraction(4)]))
    1.0
    """
    return exact.square_root_down(least**2 / w.square_norm()) if least > 0 else 0.0


def upper_bound(
    passes: Passes, rows: Indices, multipliers: Sequence[Fraction], tol: float
) -> float:
    """Return the upper bound ‖Σ λ_i a_i‖/Σ λ_i on γ, rounded up; λ are the multipliers.

    The bound is computed in floats with a bound on their error. If this error exceeds an eighth of
    ``tol``, the bound is computed exactly. The float nearest to λ_i has a relative error of 2⁻⁵³,
    and a sum of k terms has at most k − 1 times this error.
    """
    near = np.array([exact.nearest_float(value) for value in multipliers])
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
        return _exact_upper_bound(passes, rows, multipliers)
    return bound


def _exact_upper_bound(passes: Passes, rows: Indices, multipliers: Sequence[Fraction]) -> float:
    """Return the bound of `upper_bound` in exact arithmetic; only the result is rounded up."""
    exactly = exact.numbers(multipliers)
    total, unit = np.zeros(passes.p, dtype=object), exactly.unit
    for part, block in passes.blocks(rows):
        whole, smaller = exact.combine(block.A, exactly._replace(whole=exactly.whole[part]))
        if smaller < unit:
            total, unit = total * int(unit / smaller), smaller
        total += block.spread(whole) * int(smaller / unit)
    return exact.square_root_up(exact.sum_of_squares(total, unit) / sum(multipliers) ** 2)


def widest_gap(view: View, start: Indices, tol: float, limits: Limits) -> GeometricMargin | None:
    """Find the hyperplane halfway between the convex hulls of the two classes.

    Half the gap between the hulls is the geometric margin. It is known to a relative ``tol`` unless
    a limit is reached. Returns None if w is outside the range of floats.
    """
    passes = view.passes
    signs = passes.fetch(start).signs
    sides = [start[signs == side] for side in (1, -1)]
    for k, side in enumerate((1, -1)):
        if len(sides[k]) == 0:
            sides[k] = np.array([passes.first_rows[side]])
    objective = nearest_point(view, pairs=True)
    nearest = minimise(objective, np.concatenate(sides), tol / 4.0, limits, lambda _: False)
    low, normal = nearest.last_pass.low, nearest.w[:-1]
    # The bias for the rows minus the centre, moved to the middle of the gap.
    middle = float(nearest.last_pass.aim[-1]) + (low[-1] - low[1]) / 2.0
    finite = np.isfinite(normal).all() and math.isfinite(middle)
    if not (finite and normal.any() and len(nearest.rows) > 0):
        return None
    bias = Fraction(middle)
    if view.centre is not None:
        pairs = zip(normal.tolist(), view.centre.tolist(), strict=True)
        bias -= sum(Fraction(a) * Fraction(b) for a, b in pairs)
    w = np.append(normal, float(bias))
    least = passes.least_products(exact.floats(w), limits)
    by_row: dict[int, Fraction] = defaultdict(Fraction)  # a row may occur in several pairs
    for i, j, u in zip(*(part.tolist() for part in nearest.vertices), strict=True):
        by_row[i] += Fraction(u)
        by_row[j] += Fraction(u)
    multipliers = tuple(by_row.values())
    hi = upper_bound(passes, np.array([*by_row]), multipliers, tol)
    lo = min(_half_gap(least), hi)
    return GeometricMargin(lo, hi, tuple(map(Fraction, w.tolist())), tuple(by_row), multipliers)


def _half_gap(least: LeastProducts) -> float:
    """Return half the gap in the direction w, rounded down; the bias cancels."""
    whole = sum(value for value in least.least.values() if value is not None)
    # The checker rounds differently, and its lower bound may be a little smaller.
    half = Fraction(whole) / 2 * (1 - Fraction(1, 1 << 34))
    return lower_bound(half, least.w.at(np.arange(len(least.w.near) - 1)))


def margin_of(problem: Problem, w: Vector) -> float:
    """Return the margin min_i ⟨a_i, w⟩/‖w‖ of one rule.

    A positive margin is rounded down and proved; other margins are computed in floats.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> problem = signed_problem(np.array([[3.0], [-1.0]]), np.array([1, -1], dtype=np.int8), False)
    >>> [round(margin_of(problem, np.array([w, 0.0])), 9) for w in (2.0, -2.0)]
    [1.0, -3.0]
    """
    least = LocalPasses(problem).least_products(exact.floats(w), Limits()).least.values()
    lowest = min((value for value in least if value is not None), default=Fraction(0))
    if lowest > 0:
        return lower_bound(lowest, exact.floats(w))
    return float(products(problem, w).min(initial=0.0)) / math.hypot(*w.tolist())


@dataclass(frozen=True, eq=False)
class LargestMargin:
    """A separating hyperplane of the largest margin, and the support vectors that prove it.

    Attributes
    ----------
    w : array of shape (d + 1,)
        The weights and, as the last entry, the bias. The scores of the support vectors are ±1. The
        weights may be infinite where float64 cannot hold them.
    margin : Interval
        An interval that contains the largest margin: proved.
    support : array of int
        The row numbers of the support vectors, sorted.
    multipliers : array
        The dual variable λ of each support vector, divided by the sum of all λ.
    """

    w: Vector
    margin: Interval
    support: Indices
    multipliers: Vector

    def dual_coef(self, signs: Signs) -> Vector:
        """α with Σ αᵢ·xᵢ = w, without the bias; ``signs`` are the signs of the support vectors."""
        # With z the nearest point of the hull, w = z/‖z‖²; with z the difference of the nearest
        # points of two hulls, w = 2z/‖z‖², and the margin is ‖z‖/2.
        with np.errstate(all="ignore"):
            return np.asarray(signs * self.multipliers / self.margin.hi / self.margin.hi)


def largest_margin(verdict: Verdict, *, free_bias: bool) -> LargestMargin | None:
    """Return the hyperplane of the largest margin that a verdict on separable rows has found.

    Parameters
    ----------
    verdict : Verdict
        A verdict with a certificate, found with the goal "margin".
    free_bias : bool
        Whether the margin is the distance of the nearest row from the hyperplane, as in a support
        vector machine. Otherwise the bias counts as a weight, as in the mistake bound.

    Returns
    -------
    LargestMargin or None
        None if the verdict does not know this margin.

    Examples
    --------
    >>> import novikoff as nv
    >>> widest = largest_margin(nv.separate([[0.0], [1.0], [3.0]], [0, 0, 1]), free_bias=True)
    >>> widest.w.round(9), widest.support
    (array([ 1., -2.]), array([1, 2]))
    """
    proof = verdict.certificate
    if proof is None or verdict.kind != "separable" or verdict.coef is None:
        return None
    claim = proof.geometric_margin if free_bias else proof.margin
    if claim is None:
        return None
    if isinstance(claim, GeometricMargin):
        w = np.array([float(value) for value in claim.w])
    else:
        w = separator(verdict)
    rows, whole = np.array(claim.rows, dtype=np.int64), sum(claim.multipliers)
    multipliers = np.array([float(value / whole) for value in claim.multipliers])
    order = np.argsort(rows)
    return LargestMargin(
        w=canonical(w, claim.hi, free_bias=free_bias),
        margin=Interval(claim.lo, claim.hi),
        support=rows[order],
        multipliers=multipliers[order],
    )


def separator(verdict: Verdict) -> Vector:
    """Return the weights and the bias of a verdict's hyperplane, scaled by a power of two.

    The largest absolute value is between ½ and 1. A power of two rounds nothing, so that the proved
    signs of the rows stay proved.

    Examples
    --------
    >>> import novikoff as nv
    >>> w = separator(nv.separate([[0.0], [4.0]], [0, 1]))
    >>> bool(0.5 <= abs(w).max() < 1.0)
    True
    """
    if verdict.coef is None or verdict.intercept is None:
        raise ValueError("The verdict has no hyperplane, and so no weights.")
    w = np.append(verdict.coef, verdict.intercept)
    return np.ldexp(w, -int(np.frexp(np.abs(w).max())[1]))


def canonical(w: Vector, margin: float, *, free_bias: bool) -> Vector:
    """Return w/(‖w‖·margin): rows at the distance ``margin`` have the scores ±1, as in an SVM.

    The norm includes the bias unless the bias is free.

    Examples
    --------
    >>> canonical(np.array([3.0, 4.0, 10.0]), 0.5, free_bias=True)
    array([1.2, 1.6, 4. ])
    """
    measured = w[:-1] if free_bias else w
    size = float(np.abs(measured).max())  # dividing by it first keeps the squares within float64
    with np.errstate(all="ignore"):
        return w / (size * float(np.linalg.norm(measured / size))) / margin
