"""Upper bounds on the steps of the methods for systems of linear inequalities.

The rows have unit length. γ is the margin of the homogeneous rows: the maximum over ‖u‖ ≤ 1 of
min_i ⟨h_i, u⟩. Each bound also holds for any γ that is too small, and is rounded up. The bound of
the perceptron and of von Neumann's algorithm is `novikoff.theory.unit_ball_bound`, 1/γ².
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff.theory.bounds import require_positive
from novikoff.theory.rounding import (
    float_above,
    halvings_above,
    log_above,
    log_below,
    plus_root_above,
    rational,
)


def agmon_rate(eta: float, condition: float) -> float:
    """The rate of convergence of the relaxation method that projects on the farthest row.

    Let d(w, P) be the distance of w to the polyhedron P of solutions. Each step satisfies

        d(w⁺, P)² ≤ (1 − η(2 − η)·μ²)·d(w, P)²

    where μ is a number such that the largest violation at w, as a distance, is at least μ·d(w, P)
    for all w. The number 1/μ is Hoffman's constant of P.

    Parameters
    ----------
    eta : float
        The relaxation parameter η, from 0 to 2.
    condition : float
        The number μ, or any positive number below it. It is at most 1. `hoffman_constant` computes
        it for small systems.

    Returns
    -------
    float
        The factor 1 − η(2 − η)·μ², rounded up.

    References
    ----------
    Agmon, S. (1954). The relaxation method for linear inequalities. *Canadian Journal of
    Mathematics* 6, 382-392.

    Hoffman, A. J. (1952). On approximate solutions of systems of linear inequalities. *Journal of
    Research of the National Bureau of Standards* 49(4), 263-265.

    Examples
    --------
    >>> agmon_rate(1.0, 0.5)
    0.75
    """
    if not 0.0 <= eta <= 2.0:
        raise ValueError(f"The relaxation η must be from 0 to 2, not {eta}.")
    require_positive(condition=condition)
    if condition > 1.0:
        raise ValueError(
            f"condition must be at most 1, not {condition}: no violation exceeds the distance."
        )
    return float_above(1 - rational(eta) * (2 - rational(eta)) * rational(condition) ** 2)


def shifted_bound(distance: float, radius: float, shift: float) -> float:
    """Bound the steps of the relaxation method with a shift: ‖w₀ − z‖²/(δ·(2ε − δ)).

    Let all points of the ball of radius ε around z satisfy all rows. With η = 1 and a shift
    δ < 2ε, every step lowers ‖w − z‖² by at least δ·(2ε − δ), in every order of the rows. The bound
    is smallest for δ = ε. It is then (‖w₀ − z‖/ε)², the perceptron's bound for inequalities.

    Parameters
    ----------
    distance : float
        ‖w₀ − z‖, or any number above it.
    radius : float
        The radius ε.
    shift : float
        The shift δ.

    Returns
    -------
    float
        The bound, rounded up.

    References
    ----------
    Motzkin, T. S. and Schoenberg, I. J. (1954). The relaxation method for linear inequalities.
    *Canadian Journal of Mathematics* 6, 393-404.

    Examples
    --------
    >>> shifted_bound(distance=10.0, radius=0.5, shift=0.5)
    400.0
    """
    require_positive(distance=distance, radius=radius, shift=shift)
    if shift >= 2.0 * radius:
        raise ValueError(
            f"A shift of {shift} is too large for a ball of radius {radius}: it must be below "
            "twice the radius."
        )
    delta = rational(shift)
    return float_above(rational(distance) ** 2 / (delta * (2 * rational(radius) - delta)))


def smooth_bound(margin: float, n: int) -> float:
    """Bound the steps of the smooth perceptron with the entropy prox function: 2√(2 ln n)/γ.

    Parameters
    ----------
    margin : float
        γ, the maximum over ‖u‖ ≤ 1 of min_i ⟨h_i, u⟩ for the homogeneous rows h_i at unit length
        (`goffin_measure`), or any positive number below it.
    n : int
        The number of homogeneous rows, including the row t > 0.

    Returns
    -------
    float
        The bound, rounded up.

    References
    ----------
    Soheili, N. and Peña, J. (2012). A smooth perceptron algorithm. *SIAM Journal on Optimization*
    22(2), 728-737.

    Examples
    --------
    >>> round(smooth_bound(0.01, n=200))
    651
    """
    require_positive(margin=margin, n=n)
    return plus_root_above(Fraction(0), 8 * log_above(n) / rational(margin) ** 2)


def smooth_euclidean_bound(margin: float, norm: float) -> float:
    """Bound the steps of the smooth perceptron with the Euclidean prox function: 2‖H‖₂/γ.

    Parameters
    ----------
    margin : float
        γ, as in `smooth_bound`.
    norm : float
        The spectral norm ‖H‖₂ of the homogeneous rows, or any number above it.

    Returns
    -------
    float
        The bound, rounded up.

    References
    ----------
    Soheili, N. and Peña, J. (2012). A smooth perceptron algorithm. *SIAM Journal on Optimization*
    22(2), 728-737.

    Examples
    --------
    >>> smooth_euclidean_bound(0.5, norm=3.0)
    12.0
    """
    require_positive(margin=margin, norm=norm)
    return float_above(2 * rational(norm) / rational(margin))


def primal_dual_bound(margin: float, norm: float, factor: float = math.e) -> tuple[float, float]:
    """Bound the runs of the primal-dual smooth perceptron, and the steps of each run.

    There are at most 1 + log_Γ(1/γ) runs, and each run has at most 2√2·‖H‖₂/γ steps.

    Parameters
    ----------
    margin : float
        γ, as in `smooth_bound`.
    norm : float
        ‖H‖₂, or any number above it.
    factor : float
        The factor Γ by which each run lowers ‖Hᵀx‖.

    Returns
    -------
    steps, runs : float
        The two bounds, rounded up.

    References
    ----------
    Soheili, N. and Peña, J. (2013). A primal-dual smooth perceptron-von Neumann algorithm. In
    *Discrete Geometry and Optimization*, Fields Institute Communications 69, 303-320.

    Examples
    --------
    >>> steps, runs = primal_dual_bound(0.5, norm=2.0, factor=2.0)
    >>> round(steps, 2), round(runs, 2)
    (11.31, 2.0)
    """
    require_positive(margin=margin, norm=norm)
    if not 1.0 < factor < math.inf:
        raise ValueError(f"factor must be finite and above 1, not {factor}.")
    steps = plus_root_above(Fraction(0), 8 * (rational(norm) / rational(margin)) ** 2)
    return steps, float_above(1 + max(-log_below(margin) / log_below(factor), Fraction(0)))


def rescaling_bound(margin: float, p: int) -> float:
    """Bound the rescalings of the rescaled perceptron in dimension p.

    The bound is

        [(p − 1)·ln(1/γ) + ln p + ½ ln π]/ln 1.5

    The unit vectors that solve the system are a part of the unit sphere. Each rescaling multiplies
    the share of this part by more than 1.5. In the beginning, this part contains a cap of angle
    arcsin γ. In the end, it is at most half the sphere.

    Parameters
    ----------
    margin : float
        γ, as in `smooth_bound`.
    p : int
        The dimension of the homogeneous rows.

    Returns
    -------
    float
        The bound, rounded up.

    References
    ----------
    Peña, J. and Soheili, N. (2016). A deterministic rescaled perceptron algorithm. *Mathematical
    Programming* 155, 497-510.

    Examples
    --------
    >>> round(rescaling_bound(1e-8, p=5))
    187
    """
    require_positive(margin=margin, p=p)
    volume = (p - 1) * -log_below(margin) + log_above(p) + log_above(math.pi) / 2
    return float_above(volume / log_below(1.5))


def doubling_bound(x: npt.ArrayLike) -> float:
    """Bound the rescalings of the projection and rescaling algorithm: log₂(1/Π x_i).

    Parameters
    ----------
    x : array-like of shape (n,)
        Any solution x = H u > 0 of the homogeneous rows, divided by its largest entry.

    Returns
    -------
    float
        The bound, rounded up.

    References
    ----------
    Peña, J. and Soheili, N. (2017). Solving conic systems via projection and rescaling.
    *Mathematical Programming* 166, 87-111.

    Examples
    --------
    >>> doubling_bound([1.0, 0.5, 0.25])
    3.0
    """
    entries = np.asarray(x, dtype=np.float64)
    if not (entries.ndim == 1 and (entries > 0.0).all() and (entries <= 1.0).all()):
        raise ValueError("The entries of x must be above 0 and at most 1: divide x by its largest.")
    return float_above(sum(map(halvings_above, entries.tolist()), Fraction(0)))
