"""How many mistakes the perceptron can make, before it has made one (B1, B2, B5).

The letters are those of the theorem: rows a_i = y_i·[x_i, 1], R = max‖a_i‖, and
γ = max over ‖w‖ ≤ 1 of min_i ⟨a_i, w⟩. Each bound holds for every index rule. It holds for
any R that is not too small and any γ that is not too large, so round R up and γ down. Upper bounds
are rounded up once, lower bounds down (`rounding`): the whole part of an upper bound is a bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.proofs import exact
from novikoff.theory.rounding import (
    down,
    log_above,
    rational,
    root_down,
    square_norm,
    up,
    up_with_root,
)

# A computed margin may exceed a computed radius by a factor whose square is this, and no more.
_ROUNDING = Fraction(1.0 + 2e-12)


def mistake_bound(radius: float, margin: float) -> float:
    """Bound the mistakes from w₀ = 0 with δ = 0: t ≤ R²/γ² (B1; Novikoff 1962).

    Guarantee: on data with ‖a_i‖ ≤ R and ⟨a_i, w*⟩ ≥ γ > 0 for some unit vector w*, the
    perceptron makes at most this many mistakes in all, in whatever order the rows come and
    whatever the step μ.

    Parameters
    ----------
    radius : float
        R, or any number above it.
    margin : float
        γ, or any positive number below it.

    Returns
    -------
    float
        R²/γ², rounded up; infinite where that is beyond float64.

    Raises
    ------
    ValueError
        If a number is not finite or not positive, or if the margin exceeds the radius.

    Examples
    --------
    >>> mistake_bound(radius=5.0, margin=0.5)
    100.0
    """
    _require_positive("radius", radius)
    _require_positive("margin", margin)
    ratio = rational(radius) ** 2 / rational(margin) ** 2
    if ratio * _ROUNDING < 1:
        raise ValueError(
            f"A margin of {margin} is impossible within a radius of {radius}: "
            "⟨a, w⟩ is at most ‖a‖ for a unit vector w."
        )
    return up(max(ratio, Fraction(1)))  # γ may be above R by rounding, never in truth


def unit_ball_bound(margin: float) -> float:
    """Bound the mistakes on data in the unit ball: t ≤ 1/γ² (B5).

    It is `mistake_bound` with R = 1: for ‖a_i‖ ≤ 1, ‖w*‖ = 1 and a margin of at most 1.

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
    delta: float = 0.0,
) -> float:
    """Bound the updates from any start and with any δ (B2; Thm 1.28 of the source notes).

    The bound, numbered (1.4) there, is

        t ≤ [(2δ + R²)·‖w*‖² + 2s·‖w*‖·‖w₀‖] / s²

    Guarantee: on data with ‖a_i‖ ≤ R and ⟨a_i, w*⟩ ≥ s > 0, the perceptron with step μ = 1
    that starts from w₀ and acts whenever ⟨a_i, w⟩ ≤ δ does so at most this many times. A
    step μ ≠ 1 is the same run with w₀/μ and δ/μ. With w₀ = 0, δ = 0 and ‖w*‖ = 1 it is
    `mistake_bound`.

    Parameters
    ----------
    radius : float
        R, or any number above it.
    s : float
        The margin of w*: min ⟨a_i, w*⟩, or any positive number below it.
    w_star : array-like
        A separating w*, the bias last if there is one; only its norm is used.
    w0 : array-like, optional
        The start w₀, zero by default; only its norm is used.
    delta : float
        The threshold δ ≥ 0.

    Returns
    -------
    float
        The bound, rounded up; infinite where it is beyond float64.

    Raises
    ------
    ValueError
        If a number is not finite, if ``radius`` or ``s`` is not positive, if ``delta`` is
        negative, if ``w_star`` is zero, or if ``s`` exceeds R·‖w*‖.

    Examples
    --------
    >>> general_bound(radius=5.0, s=1.0, w_star=[0.0, 2.0])
    100.0
    >>> general_bound(radius=5.0, s=1.0, w_star=[0.0, 2.0], w0=[3.0, 4.0], delta=0.5)
    124.0
    """
    _require_positive("radius", radius)
    _require_positive("margin s", s)
    if not (math.isfinite(delta) and delta >= 0.0):
        raise ValueError(f"The threshold δ must be finite and not negative, not {delta}.")
    vector = finite_vector("w_star", w_star)
    start = Fraction(0) if w0 is None else square_norm(finite_vector("w0", w0))
    if not vector.any():
        raise ValueError("w_star must not be zero: the zero vector separates nothing.")
    return _general_bound(rational(radius) ** 2, s, square_norm(vector), start, rational(delta))


def _general_bound(
    radius_squared: Fraction, s: float, w_squared: Fraction, start: Fraction, delta: Fraction
) -> float:
    """`general_bound` of the squares R², ‖w*‖² and ‖w₀‖²."""
    inverse = w_squared / rational(s) ** 2  # 1/γ²
    ratio = radius_squared * inverse
    if ratio * _ROUNDING < 1:
        length, radius = (exact.square_root_up(square) for square in (w_squared, radius_squared))
        raise ValueError(
            f"A margin of {s} is impossible for a w_star of length {length:.6g} within a radius "
            f"of {radius:.6g}: ⟨a, w⟩ is at most ‖a‖·‖w‖."
        )
    return up_with_root(max(ratio, Fraction(1)) + 2 * delta * inverse, 4 * start * inverse)


class ProofBounds(NamedTuple):
    """What the proof says of w_t, for every t: arrays."""

    inner: npt.NDArray[np.float64]  # ⟨w*, w_t⟩ is at least this
    squared_norm: npt.NDArray[np.float64]  # ‖w_t‖² is at most this
    cosine: npt.NDArray[np.float64]  # and so the cosine of their angle at least this


def proof_bounds(
    t: npt.ArrayLike,
    radius: float,
    margin: float,
    *,
    step: float = 1.0,
    delta: float = 0.0,
    inner: float = 0.0,
    norm: float = 0.0,
) -> ProofBounds:
    """The three inequalities of the proof after t updates (B3, B2).

        ⟨w*, w_t⟩ ≥ ⟨w*, w₀⟩ + tμγ        ‖w_t‖² ≤ ‖w₀‖² + t·(μ²R² + 2μδ)

    for a unit vector w* with ⟨a_i, w*⟩ ≥ γ; the third is their quotient, or −1 while the first
    bound is negative. From w₀ = 0 with μ = 1 and δ = 0 they are tγ, tR² and √t·γ/R. The first and
    the third are rounded down, the second up.

    Parameters
    ----------
    t : array-like of int
        Numbers of updates.
    radius, margin : float
        R, or more; γ, or less.
    step, delta : float
        μ and δ.
    inner, norm : float
        ⟨w*, w₀⟩ and ‖w₀‖.

    Examples
    --------
    >>> bounds = proof_bounds([1, 4], radius=2.0, margin=0.5)
    >>> [part.tolist() for part in bounds]
    [[0.5, 2.0], [4.0, 16.0], [0.25, 0.5]]
    """
    count, mu = np.asarray(t), rational(step)
    rise = mu * rational(margin)
    growth = mu**2 * rational(radius) ** 2 + 2 * mu * rational(delta)
    found = []
    for k in count.ravel().tolist():
        below = rational(inner) + rational(k) * rise
        above = rational(norm) ** 2 + rational(k) * growth
        quotient = below**2 / above if above > 0 else Fraction(0)
        cosine = -1.0 if below < 0 else root_down(quotient)
        found.append((down(below), up(above), cosine))
    columns = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return ProofBounds(*(column.reshape(count.shape) for column in columns))


def translated_bound(
    X: npt.ArrayLike, coef: npt.ArrayLike, intercept: float, s: float, shift: npt.ArrayLike
) -> float:
    """Bound the mistakes after a translation of all x by c (B6; Ex 1.29 of the source notes).

    If y_i·(⟨w*, x_i⟩ + b*) ≥ s, then the same s is reached on the rows x_i + c by w* with the
    bias b* − ⟨w*, c⟩. So separability stays, while the bound becomes

        t ≤ max(‖x_i + c‖² + 1)·(‖w*‖² + (b* − ⟨w*, c⟩)²)/s²

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows x_i before the translation.
    coef, intercept : array-like of shape (d,), float
        w* and b*.
    s : float
        min y_i·(⟨w*, x_i⟩ + b*), or any positive number below it.
    shift : array-like of shape (d,)
        c; zero gives the bound without translation.

    Returns
    -------
    float
        The bound, rounded up; infinite where it is beyond float64.

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
        raise ValueError(f"X, coef and shift must have as many columns, not the shapes {shapes}.")
    if not (np.isfinite(rows).all() and math.isfinite(intercept)):
        raise ValueError("X and the intercept must be finite.")
    _require_positive("margin s", s)
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
    """Bound the mistakes of PA-I: M ≤ max(R², 1/C)·(‖u‖² + 2C·Σℓ*) (A9; Crammer et al. 2006).

    Guarantee: for one pass over any rows with ‖a_i‖ ≤ R from w₀ = 0, and any u, whose losses on
    them are ℓ*_i = max(0, 1 − ⟨a_i, u⟩) with the sum ``hinge``.

    Examples
    --------
    >>> passive_aggressive_bound(radius=2.0, norm=3.0, hinge=0.0, C=1.0)
    36.0
    """
    _require_positive("radius", radius)
    _require_positive("C", C)
    _require_not_negative(norm=norm, hinge=hinge)
    R, u, losses, most = map(rational, (radius, norm, hinge, C))
    return up(max(R**2, 1 / most) * (u**2 + 2 * most * losses))


def p_norm_bound(p: float, radius: float, norm: float, margin: float, hinge: float = 0.0) -> float:
    """Bound the mistakes of the p-norm perceptron (A9; Grove et al. 2001, Gentile 2003).

    Guarantee: for any rows with ‖a_i‖_p ≤ X (``radius``), any u with ‖u‖_q = ``norm``, where
    1/p + 1/q = 1, and any γ: γ·M − D ≤ X·‖u‖_q·√((p − 1)·M), where D is the sum of
    max(0, γ − ⟨a_i, u⟩) over the mistakes (``hinge``). Without losses M ≤ (p − 1)·(X·‖u‖_q/γ)².

    Examples
    --------
    >>> p_norm_bound(2.0, radius=5.0, norm=1.0, margin=0.5)  # the perceptron's R²/γ²
    100.0
    """
    _require_positive("radius", radius)
    _require_positive("margin", margin)
    if not 2.0 <= p < math.inf:
        raise ValueError(f"p must be a finite number from 2 on, not {p}.")
    _require_not_negative(norm=norm, hinge=hinge)
    gamma = rational(margin)
    square = (rational(radius) * rational(norm) / (2 * gamma)) ** 2 * (rational(p) - 1)
    losses = rational(hinge) / gamma
    # (h + √(h² + D/γ))², where h² is the square above
    return up_with_root(2 * square + losses, 4 * square * (square + losses))


def second_order_bound(margin: float, hinge: float, quadratic: float, growth: float) -> float:
    """Bound the mistakes of the second-order perceptron (A9; Cesa-Bianchi et al. 2005).

    Guarantee: M ≤ (D + √(uᵀAu · G))/γ for every u and γ > 0, where D is the sum of
    max(0, γ − ⟨a_i, u⟩) over the mistakes (``hinge``), uᵀAu = a·‖u‖² + Σ⟨a_i, u⟩² over them
    (``quadratic``), and G (``growth``) is the ``log_det_`` of the run, or the smaller
    ``potential_``.

    Examples
    --------
    >>> second_order_bound(margin=0.5, hinge=1.0, quadratic=4.0, growth=9.0)
    14.0
    """
    _require_positive("margin", margin)
    _require_not_negative(hinge=hinge, quadratic=quadratic, growth=growth)
    gamma, square = rational(margin), rational(quadratic) * rational(growth)
    return up_with_root(rational(hinge) / gamma, square / gamma**2)


def forgetron_bound(norm: float, hinge: float, budget: int) -> float:
    """Bound the mistakes of the Forgetron: M ≤ 2‖g‖² + 4·Σℓ (A9; Dekel et al. 2008).

    Guarantee: for a kernel with K(x, x) ≤ 1, a budget B of at least 83 and every g in its space
    with ‖g‖ ≤ ¼·√((B + 1)/ln(B + 1)); ``hinge`` is the sum of ℓ = max(0, 1 − y·g(x)) over the
    mistakes. Infinite where g or B is outside of that.

    Examples
    --------
    >>> forgetron_bound(norm=1.0, hinge=10.0, budget=100)
    42.0
    """
    _require_not_negative(norm=norm, hinge=hinge)
    square, losses = rational(norm) ** 2, rational(hinge)
    if square > 0 and (budget < 83 or 16 * square * log_above(budget + 1) > budget + 1):
        return math.inf
    return up(2 * square + 4 * losses)


def _require_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0.0):
        raise ValueError(f"The {name} must be finite and positive, not {value}.")


def _require_not_negative(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0.0 <= value < math.inf:
            raise ValueError(f"The {name} must be finite and at least 0, not {value}.")


def finite_vector(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The values as a vector; ValueError if they are none, or not finite."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} must be a vector, not an array of shape {vector.shape}.")
    if not np.isfinite(vector).all():
        j = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"{name} must be finite, but its entry {j} is {vector[j]}.")
    return vector
