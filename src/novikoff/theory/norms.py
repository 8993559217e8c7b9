"""ℓ_p norms, their dual norms, and margins that are measured in them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import check_labels, distinct_labels, plain_label, signs_of
from novikoff.core.problem import products, signed_problem
from novikoff.core.rows import Vector, as_dense
from novikoff.core.validation import check_matrix
from novikoff.theory.bounds import finite_vector


def dual_exponent(p: float) -> float:
    """Compute the dual exponent q of p, with 1/p + 1/q = 1.

    The norm ‖w‖_p is (Σ|w_j|^p)^(1/p), and ‖w‖_∞ is max|w_j|. The dual norm of ℓ_p is ℓ_q: Hölder's
    inequality says ⟨w, z⟩ ≤ ‖w‖_p·‖z‖_q, with equality for some z ≠ 0 (`dual_vector`).

    Parameters
    ----------
    p : float
        The exponent, from 1 to infinity.

    Returns
    -------
    float
        The exponent q.

    Examples
    --------
    >>> [dual_exponent(p) for p in (1, 1.5, 2, 4, math.inf)]
    [inf, 3.0, 2.0, 1.3333333333333333, 1.0]
    """
    if not p >= 1.0:
        raise ValueError(f"The exponent p must be at least 1, not {p}: below, ℓ_p is no norm.")
    return math.inf if p == 1.0 else 1.0 if p == math.inf else p / (p - 1.0)


def lp_norm(w: npt.ArrayLike, p: float) -> float:
    """Compute the norm ‖w‖_p, without overflow or underflow of intermediate results.

    Parameters
    ----------
    w : array-like of shape (d,)
        The vector.
    p : float
        The exponent, from 1 to infinity.

    Returns
    -------
    float
        The norm, rounded to nearest.

    Examples
    --------
    >>> [lp_norm([3.0, -4.0], p) for p in (1, 2, math.inf)]
    [7.0, 5.0, 4.0]
    """
    dual_exponent(p)
    sizes = np.abs(finite_vector("w", w))
    largest = float(sizes.max())
    if p == math.inf or largest == 0.0:
        return largest
    return largest * float(((sizes / largest) ** p).sum() ** (1.0 / p))


def dual_vector(w: npt.ArrayLike, p: float) -> Vector:
    """Compute the vector z for which Hölder's inequality is an equality.

    The vector has ‖z‖_q = 1 and ⟨w, z⟩ = ‖w‖_p. Its entries are
    ``z_j = sign(w_j)·(|w_j|/‖w‖_p)^(p−1)``. For p = ∞ it is ±e_j, where j is the first entry of w
    with the largest absolute value.

    Parameters
    ----------
    w : array-like of shape (d,)
        The vector w, which must not be zero.
    p : float
        The exponent, from 1 to infinity.

    Returns
    -------
    array of shape (d,)
        The vector z, in floats rounded to nearest.

    Examples
    --------
    >>> dual_vector([3.0, -4.0], 2).tolist()
    [0.6, -0.8]
    """
    vector = finite_vector("w", w)
    if not vector.any():
        raise ValueError("w must not be zero: every z has ⟨w, z⟩ = 0.")
    vector = vector / np.abs(vector).max()  # multiples of w have the same z
    if p == math.inf:
        z, j = np.zeros(len(vector)), int(np.argmax(np.abs(vector)))
        z[j] = np.sign(vector[j])
        return z
    return np.asarray(np.sign(vector) * (np.abs(vector) / lp_norm(vector, p)) ** (p - 1.0))


class PNormMargin(NamedTuple):
    """The margin of a rule in ℓ_p, and the size of the rows.

    Attributes
    ----------
    margin : float
        γ = min_i ⟨a_i, w⟩/‖w‖_q. It is not positive if w misclassifies a row or if a row lies on
        the hyperplane.
    radius : float
        X_p = max_i ‖a_i‖_p. For p ≥ 2 the p-norm perceptron makes at most (p − 1)·(X_p/γ)²
        mistakes: `novikoff.bounds.p_norm_bound`.
    q : float
        The dual exponent.

    Examples
    --------
    >>> p_norm_margin([[2.0], [-2.0]], [1, 0], [1.0]).margin
    2.0
    """

    margin: float
    radius: float
    q: float


def p_norm_margin(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    coef: npt.ArrayLike,
    intercept: float | None = None,
    *,
    p: float = 2.0,
) -> PNormMargin:
    """Compute the margin of a given rule, with rows measured in ℓ_p and the rule in ℓ_q.

    Without an intercept, the margin is the least distance of a row to the hyperplane, measured in
    ℓ_p. With an intercept, the same holds for the rows [x, 1]. A rule with few nonzero weights is
    short in ℓ_1, and rows are short in ℓ_∞. Therefore the p-norm perceptron with a large p is good
    for rules with few nonzero weights, and with p = 2 for rules with many.

    Parameters
    ----------
    X, y : array-like of shape (n, d), array-like of shape (n,)
        The rows, and their labels of two classes; the larger label is the positive class.
    coef, intercept : array-like of shape (d,), float or None
        The weights and the bias of the rule. None is a rule without a bias.
    p : float
        The exponent, from 1 to infinity.

    Returns
    -------
    PNormMargin
        The margin, the size of the rows and the dual exponent. They are floats, rounded to nearest:
        for a bound, take a margin that is a little smaller and a radius that is a little larger.

    References
    ----------
    Gentile, C. (2003). The robustness of the p-norm algorithms. *Machine Learning* 53(3), 265-299.

    Examples
    --------
    >>> X, y = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [1, 1, 0, 0]
    >>> p_norm_margin(X, y, [1, 0, 0], p=math.inf)
    PNormMargin(margin=1.0, radius=1.0, q=1.0)
    """
    q, matrix, labels = dual_exponent(p), check_matrix(X), check_labels(y)
    kinds = distinct_labels(labels)
    if len(kinds) != 2:
        raise ValueError(f"y has {len(kinds)} kinds of labels, but a margin needs two classes.")
    if len(labels) != matrix.shape[0]:
        raise ValueError(f"X has {matrix.shape[0]} rows, but y has {len(labels)} labels.")
    problem = signed_problem(
        matrix,
        signs_of(labels, plain_label(kinds[1]), plain_label(kinds[0])),
        intercept is not None,
    )
    w = np.append(finite_vector("coef", coef), 0.0 if intercept is None else intercept)
    if len(w) != problem.p:
        raise ValueError(f"coef has {len(w) - 1} entries, but X has {problem.d} columns.")
    if not w.any() or not np.isfinite(w).all():
        raise ValueError("The rule must be finite and not zero.")
    margin = float(products(problem, w).min()) / lp_norm(w, q)
    radius = max(_row_norm(problem.X[i], p, problem.bias) for i in range(problem.n))
    return PNormMargin(margin, radius, q)


def _row_norm(row: object, p: float, bias: float) -> float:
    return lp_norm(np.append(as_dense(row).ravel(), bias), p)
