"""Upper bounds on the mistakes of the perceptron and similar learners, as functions of numbers.

The letters are those of the convergence theorem: the rows are a_i = y_i·[x_i, 1],
R = max‖a_i‖, and γ is the maximum over ‖w‖ ≤ 1 of min_i ⟨a_i, w⟩. Each bound holds for every order
of the rows. It also holds for any R that is too large and any γ that is too small. If you round
these numbers, round R up and γ down. Upper bounds are rounded up once, at the end, and lower bounds
are rounded down. The number of mistakes is an integer, and is therefore also at most the whole part
of an upper bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.proofs import exact
from novikoff.theory.rounding import (
    float_above,
    float_below,
    log_above,
    plus_root_above,
    rational,
    square_norm,
)

# Rounding may make a computed margin larger than a computed radius. The square of their ratio is at
# most this number.
_ROUNDING = Fraction(1.0 + 2e-12)


def mistake_bound(radius: float, margin: float) -> float:
    """Novikoff's bound on the mistakes of the perceptron: t ≤ R²/γ².

    If ‖a_i‖ ≤ R for all rows, and ⟨a_i, w*⟩ ≥ γ > 0 for some unit vector w*, then the perceptron
    that starts from w₀ = 0 and updates on mistakes (δ = 0), with the same step size μ for all rows,
    makes at most R²/γ² mistakes in all. The order of the rows and the size of μ do not matter.

    Parameters
    ----------
    radius : float
        R, or any number above it.
    margin : float
        γ, or any positive number below it.

    Returns
    -------
    float
        R²/γ², rounded up; infinite if it is beyond float64.

    Raises
    ------
    ValueError
        If a number is not finite or not positive, or if the margin exceeds the radius.

    See Also
    --------
    novikoff.theory.summary : The bound on data, beside the mistakes of the perceptron.

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium
    on the Mathematical Theory of Automata* 12, 615-622.

    Examples
    --------
    >>> mistake_bound(radius=5.0, margin=0.5)
    100.0
    """
    require_positive(radius=radius, margin=margin)
    ratio = rational(radius) ** 2 / rational(margin) ** 2
    if ratio * _ROUNDING < 1:
        raise ValueError(
            f"A margin of {margin} is impossible within a radius of {radius}: "
            "⟨a, w⟩ is at most ‖a‖ for a unit vector w."
        )
    return float_above(max(ratio, Fraction(1)))  # without rounding, γ ≤ R


def unit_ball_bound(margin: float) -> float:
    """Novikoff's bound for data in the unit ball: t ≤ 1/γ².

    This is `mistake_bound` with R = 1. It needs ‖a_i‖ ≤ 1 and ‖w*‖ = 1, so that γ ≤ 1.

    Parameters
    ----------
    margin : float
        γ, or any positive number below it.

    Returns
    -------
    float
        1/γ², rounded up; infinite if it is beyond float64.

    Examples
    --------
    >>> unit_ball_bound(margin=0.25)
    16.0
    """
    return mistake_bound(1.0, margin)


def general_bound(
    radius: float,
    s: float,
    w_star: npt.ArrayLike,
    w0: npt.ArrayLike | None = None,
    threshold: float = 0.0,
) -> float:
    """Bound the updates of a perceptron with any start w₀ and any threshold δ.

    The bound is

        t ≤ [(2δ + R²)·‖w*‖² + 2s·‖w*‖·‖w₀‖] / s²

    It holds if ‖a_i‖ ≤ R and ⟨a_i, w*⟩ ≥ s > 0 for all rows, for the perceptron with step size μ =
    1 that starts from w₀ and updates whenever ⟨a_i, w⟩ ≤ δ. A step size μ ≠ 1 gives the same run
    with w₀/μ and δ/μ in place of w₀ and δ. With w₀ = 0, δ = 0 and ‖w*‖ = 1 this is `mistake_bound`.

    Parameters
    ----------
    radius : float
        R, or any number above it.
    s : float
        The margin of w*: min ⟨a_i, w*⟩, or any positive number below it.
    w_star : array-like
        A separating w*. The last entry is the bias, if there is one. Only the norm is used.
    w0 : array-like, optional
        The start w₀, zero by default. Only its norm is used.
    threshold : float
        The threshold δ ≥ 0.

    Returns
    -------
    float
        The bound, rounded up; infinite if it is beyond float64.

    Raises
    ------
    ValueError
        If a number is not finite, if ``radius`` or ``s`` is not positive, if ``threshold`` is
        negative, if ``w_star`` is zero, or if ``s`` exceeds R·‖w*‖.

    Notes
    -----
    The proof is Novikoff's. After t updates, ⟨w*, w_t⟩ ≥ ts + ⟨w*, w₀⟩, and
    ‖w_t‖² ≤ ‖w₀‖² + t·(R² + 2δ). The bound follows from both by the Cauchy-Schwarz inequality.

    Examples
    --------
    >>> general_bound(radius=5.0, s=1.0, w_star=[0.0, 2.0])
    100.0
    >>> general_bound(radius=5.0, s=1.0, w_star=[0.0, 2.0], w0=[3.0, 4.0], threshold=0.5)
    124.0
    """
    require_positive(**{"radius": radius, "margin s": s})
    if not (math.isfinite(threshold) and threshold >= 0.0):
        raise ValueError(f"The threshold δ must be finite and not negative, not {threshold}.")
    vector = finite_vector("w_star", w_star)
    start = Fraction(0) if w0 is None else square_norm(finite_vector("w0", w0))
    if not vector.any():
        raise ValueError("w_star must not be zero: the zero vector separates nothing.")
    return _general_bound(rational(radius) ** 2, s, square_norm(vector), start, rational(threshold))


def _general_bound(
    radius_squared: Fraction, s: float, w_squared: Fraction, start: Fraction, delta: Fraction
) -> float:
    """`general_bound`, given the squares R², ‖w*‖² and ‖w₀‖²."""
    inverse = w_squared / rational(s) ** 2  # 1/γ²
    ratio = radius_squared * inverse
    if ratio * _ROUNDING < 1:
        length, radius = (exact.square_root_up(square) for square in (w_squared, radius_squared))
        raise ValueError(
            f"A margin of {s} is impossible for a w_star of length {length:.6g} within a radius "
            f"of {radius:.6g}: ⟨a, w⟩ is at most ‖a‖·‖w‖."
        )
    return plus_root_above(max(ratio, Fraction(1)) + 2 * delta * inverse, 4 * start * inverse)


class ProofBounds(NamedTuple):
    """The three inequalities of the convergence proof for w_t, as arrays over t.

    Attributes
    ----------
    inner : array
        Lower bounds on ⟨w*, w_t⟩.
    squared_norm : array
        Upper bounds on ‖w_t‖².
    cosine : array
        Lower bounds on the cosine of the angle between w* and w_t.

    See Also
    --------
    proof_bounds : Compute the bounds.

    Examples
    --------
    >>> proof_bounds([4], radius=2.0, margin=0.5).squared_norm.tolist()
    [16.0]
    """

    inner: npt.NDArray[np.float64]
    squared_norm: npt.NDArray[np.float64]
    cosine: npt.NDArray[np.float64]


def proof_bounds(
    t: npt.ArrayLike,
    radius: float,
    margin: float,
    *,
    step_size: float = 1.0,
    threshold: float = 0.0,
    inner: float = 0.0,
    norm: float = 0.0,
) -> ProofBounds:
    """Compute both sides of the convergence proof after t updates.

        ⟨w*, w_t⟩ ≥ ⟨w*, w₀⟩ + tμγ        ‖w_t‖² ≤ ‖w₀‖² + t·(μ²R² + 2μδ)

    These two inequalities hold for every unit vector w* with ⟨a_i, w*⟩ ≥ γ on all rows. The third
    inequality is about the cosine of the angle between w* and w_t. Its bound is the first bound
    divided by the root of the second, or −1 while the first bound is negative. From w₀ = 0 with
    μ = 1 and δ = 0 the three bounds are tγ, tR² and √t·γ/R.

    Parameters
    ----------
    t : array-like of int
        Numbers of updates.
    radius, margin : float
        R, or any number above it; γ, or any number below it.
    step_size, threshold : float
        The step size μ and the threshold δ.
    inner, norm : float
        ⟨w*, w₀⟩ and ‖w₀‖.

    Returns
    -------
    ProofBounds
        Arrays of the shape of ``t``. The bounds on the inner product and on the cosine are rounded
        down, the bound on the norm is rounded up.

    Examples
    --------
    >>> bounds = proof_bounds([1, 4], radius=2.0, margin=0.5)
    >>> [part.tolist() for part in bounds]
    [[0.5, 2.0], [4.0, 16.0], [0.25, 0.5]]
    """
    count, mu = np.asarray(t), rational(step_size)
    rise = mu * rational(margin)
    growth = mu**2 * rational(radius) ** 2 + 2 * mu * rational(threshold)
    bounds = []
    for k in count.ravel().tolist():
        below = rational(inner) + rational(k) * rise
        above = rational(norm) ** 2 + rational(k) * growth
        quotient = below**2 / above if above > 0 else Fraction(0)
        cosine = -1.0 if below < 0 else exact.square_root_down(quotient)
        bounds.append((float_below(below), float_above(above), cosine))
    columns = np.array(bounds, dtype=np.float64).reshape(-1, 3).T
    return ProofBounds(*(column.reshape(count.shape) for column in columns))


def translated_bound(
    X: npt.ArrayLike, coef: npt.ArrayLike, intercept: float, s: float, shift: npt.ArrayLike
) -> float:
    """Bound the mistakes of the perceptron after all x are translated by c.

    If y_i·(⟨w*, x_i⟩ + b*) ≥ s for all rows, then w* with the bias b* − ⟨w*, c⟩ has the same margin
    s on the rows x_i + c. So the translated data is separable too, but its bound is

        t ≤ max(‖x_i + c‖² + 1)·(‖w*‖² + (b* − ⟨w*, c⟩)²)/s²

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows x_i before the translation.
    coef, intercept : array-like of shape (d,), float
        w* and b*.
    s : float
        The least y_i·(⟨w*, x_i⟩ + b*), or any positive number below it.
    shift : array-like of shape (d,)
        The translation c. Zero gives the bound without translation.

    Returns
    -------
    float
        The bound, rounded up; infinite if it is beyond float64.

    See Also
    --------
    novikoff.theory.compare_normalisations : The same question on data, with several translations.

    Examples
    --------
    >>> X, w_star = [[1.0], [-1.0]], [1.0]
    >>> [round(translated_bound(X, w_star, 0.0, 1.0, [c])) for c in (0.0, 1.0, 10.0)]
    [2, 10, 12322]
    """
    w, c = finite_vector("coef", coef), finite_vector("shift", shift)
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or len(rows) == 0 or {rows.shape[1], len(c)} != {len(w)}:
        shapes = f"{rows.shape}, {w.shape} and {c.shape}"
        raise ValueError(f"X, coef and shift must have the same number of columns, not {shapes}.")
    if not (np.isfinite(rows).all() and math.isfinite(intercept)):
        raise ValueError("X and the intercept must be finite.")
    require_positive(**{"margin s": s})
    whole, e = exact.integers(np.vstack([rows, c]))
    longest = max(sum(value * value for value in row) for row in (whole[:-1] + whole[-1]).tolist())
    pairs = zip(w.tolist(), c.tolist(), strict=True)
    bias = rational(intercept) - sum(Fraction(a) * Fraction(b) for a, b in pairs)
    w_squared = square_norm(w) + bias**2
    if w_squared == 0:
        raise ValueError("coef and intercept must not be zero: the zero vector separates nothing.")
    radius_squared = longest * Fraction(4) ** e + 1
    return _general_bound(radius_squared, s, w_squared, Fraction(0), Fraction(0))


def passive_aggressive_bound(radius: float, norm: float, hinge: float, C: float) -> float:
    """Bound the mistakes of PA-I: M ≤ max(R², 1/C)·(‖u‖² + 2C·Σℓ*).

    The bound holds for one pass over any rows, from w₀ = 0 and without weights of rows or classes,
    and for any vector u.

    Parameters
    ----------
    radius : float
        R, a number with ‖a_i‖ ≤ R for all rows.
    norm : float
        The length ‖u‖, or any number above it.
    hinge : float
        The sum of the losses ℓ*_i = max(0, 1 − ⟨a_i, u⟩) of u on the rows, or any number above it.
    C : float
        The parameter C of `PassiveAggressive`.

    Returns
    -------
    float
        The bound, rounded up; infinite if it is beyond float64.

    References
    ----------
    Crammer, K., Dekel, O., Keshet, J., Shalev-Shwartz, S. and Singer, Y. (2006). Online
    passive-aggressive algorithms. *Journal of Machine Learning Research* 7, 551-585.

    Examples
    --------
    >>> passive_aggressive_bound(radius=2.0, norm=3.0, hinge=0.0, C=1.0)
    36.0
    """
    require_positive(radius=radius, C=C)
    _require_not_negative(norm=norm, hinge=hinge)
    R, u, losses, most = map(rational, (radius, norm, hinge, C))
    return float_above(max(R**2, 1 / most) * (u**2 + 2 * most * losses))


def p_norm_bound(p: float, radius: float, norm: float, margin: float, hinge: float = 0.0) -> float:
    """Bound the mistakes of the p-norm perceptron.

    Let u be any vector, let 1/p + 1/q = 1, and let γ be any positive number. Then the number M of
    mistakes satisfies γ·M − D ≤ X·‖u‖_q·√((p − 1)·M), where D is the sum of max(0, γ − ⟨a_i, u⟩)
    over the mistakes. If D = 0, this means M ≤ (p − 1)·(X·‖u‖_q/γ)².

    Parameters
    ----------
    p : float
        The exponent, at least 2.
    radius : float
        X, a number with ‖a_i‖_p ≤ X for all rows.
    norm : float
        ‖u‖_q, or any number above it.
    margin : float
        γ.
    hinge : float
        D, or any number above it.

    Returns
    -------
    float
        The bound, rounded up; infinite if it is beyond float64.

    References
    ----------
    Grove, A. J., Littlestone, N. and Schuurmans, D. (2001). General convergence results for linear
    discriminant updates. *Machine Learning* 43(3), 173-210.

    Gentile, C. (2003). The robustness of the p-norm algorithms. *Machine Learning* 53(3), 265-299.

    Examples
    --------
    >>> p_norm_bound(2.0, radius=5.0, norm=1.0, margin=0.5)  # the perceptron's R²/γ²
    100.0
    """
    require_positive(radius=radius, margin=margin)
    if not 2.0 <= p < math.inf:
        raise ValueError(f"p must be a finite number from 2 on, not {p}.")
    _require_not_negative(norm=norm, hinge=hinge)
    gamma = rational(margin)
    square = (rational(radius) * rational(norm) / (2 * gamma)) ** 2 * (rational(p) - 1)
    losses = rational(hinge) / gamma
    # The bound is (h + √(h² + D/γ))², where ``square`` is h².
    return plus_root_above(2 * square + losses, 4 * square * (square + losses))


def second_order_bound(margin: float, hinge: float, quadratic: float, growth: float) -> float:
    """Bound the mistakes of the second-order perceptron: M ≤ (D + √(uᵀAu · G))/γ.

    The bound holds for every vector u and every γ > 0.

    Parameters
    ----------
    margin : float
        γ.
    hinge : float
        D, the sum of max(0, γ − ⟨a_i, u⟩) over the mistakes.
    quadratic : float
        uᵀAu, which is a·‖u‖² plus the sum of ⟨a_i, u⟩² over the mistakes.
    growth : float
        G, the ``potential_`` of the run, or its ``log_det_``, which is at least as large.

    Returns
    -------
    float
        The bound, rounded up; infinite if it is beyond float64.

    References
    ----------
    Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2005). A second-order perceptron algorithm. *SIAM
    Journal on Computing* 34(3), 640-668.

    Examples
    --------
    >>> second_order_bound(margin=0.5, hinge=1.0, quadratic=4.0, growth=9.0)
    14.0
    """
    require_positive(margin=margin)
    _require_not_negative(hinge=hinge, quadratic=quadratic, growth=growth)
    gamma, square = rational(margin), rational(quadratic) * rational(growth)
    return plus_root_above(rational(hinge) / gamma, square / gamma**2)


def forgetron_bound(norm: float, hinge: float, budget: int) -> float:
    """Bound the mistakes of the Forgetron: M ≤ 2‖g‖² + 4·Σℓ.

    The bound holds for a kernel with K(x, x) ≤ 1, a budget B of at least 83, and every function g
    in the feature space of the kernel with ‖g‖ ≤ ¼·√((B + 1)/ln(B + 1)).

    Parameters
    ----------
    norm : float
        The length ‖g‖.
    hinge : float
        The sum of ℓ = max(0, 1 − y·g(x)) over the mistakes, or any number above it.
    budget : int
        B, the number of support vectors that the Forgetron keeps.

    Returns
    -------
    float
        The bound, rounded up. It is infinite if g or B does not satisfy the conditions.

    References
    ----------
    Dekel, O., Shalev-Shwartz, S. and Singer, Y. (2008). The Forgetron: a kernel-based perceptron on
    a budget. *SIAM Journal on Computing* 37(5), 1342-1372.

    Examples
    --------
    >>> forgetron_bound(norm=1.0, hinge=10.0, budget=100)
    42.0
    """
    _require_not_negative(norm=norm, hinge=hinge)
    square, losses = rational(norm) ** 2, rational(hinge)
    if square > 0 and (budget < 83 or 16 * square * log_above(budget + 1) > budget + 1):
        return math.inf
    return float_above(2 * square + 4 * losses)


def require_positive(**numbers: float) -> None:
    """Raise ValueError unless all numbers, which are given by their names, are positive."""
    for name, value in numbers.items():
        if not 0.0 < value < math.inf:
            raise ValueError(f"The {name} must be finite and positive, not {value}.")


def _require_not_negative(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0.0 <= value < math.inf:
            raise ValueError(f"The {name} must be finite and at least 0, not {value}.")


def finite_vector(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Convert values to a vector; ValueError if they are not a vector or not finite."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} must be a vector, not an array of shape {vector.shape}.")
    if not np.isfinite(vector).all():
        j = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"{name} must be finite, but its entry {j} is {vector[j]}.")
    return vector
