"""The hyperplane of the largest margin, as a verdict has found it (C4).

`novikoff.MaxMargin`, `novikoff fit` and the page take the hyperplane from here, so that the same
rows give the same weights, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from novikoff.core.rows import Indices, Signs, Vector
from novikoff.geometry.margin import Interval
from novikoff.proofs.certificate import GeometricMargin

if TYPE_CHECKING:
    from novikoff.geometry.verdict import Verdict


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
    >>> found = largest_margin(nv.separate([[0.0], [1.0], [3.0]], [0, 0, 1]), free_bias=True)
    >>> found.w.round(9), found.support
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
