"""How many steps the methods for systems of inequalities can take (D1, D4, D5).

Rows have unit length. γ is the margin of the homogeneous rows, max over ‖u‖ ≤ 1 of min_i ⟨h_i, u⟩;
each bound holds for any γ that is not too large, and is rounded up (`rounding`). The bound of the
perceptron and of von Neumann's algorithm is `novikoff.theory.unit_ball_bound`, 1/γ².
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff.theory.rounding import halvings, log_above, log_below, rational, up, up_with_root


def agmon_rate(eta: float, condition: float) -> float:
    """The factor on d(w, P)² of a relaxation step at maximal distance (D1; Agmon 1954).

        d(w⁺, P)² ≤ (1 − η(2 − η)·μ²)·d(w, P)²

    where the largest violation, as a distance, is at least μ·d(w, P) for all w: 1/μ is Hoffman's
    constant of the polyhedron P.

    Parameters
    ----------
    eta : float
        The relaxation η, from 0 to 2.
    condition : float
        μ, or any positive number below it; at most 1.

    Examples
    --------
    >>> agmon_rate(1.0, 0.5)
    0.75
    """
    if not 0.0 <= eta <= 2.0:
        raise ValueError(f"The relaxation η must be from 0 to 2, not {eta}.")
    _require(condition=condition)
    if condition > 1.0:
        raise ValueError(f"No violation is larger than the distance: μ ≤ 1, not {condition}.")
    return up(1 - rational(eta) * (2 - rational(eta)) * rational(condition) ** 2)


def shifted_bound(distance: float, radius: float, shift: float) -> float:
    """Bound the steps of shifted relaxation: ‖w₀ − z‖²/(δ·(2ε − δ)) (D1).

    Guarantee: if the ball of radius ε around z satisfies all rows, relaxation with η = 1 and a
    shift δ < 2ε makes at most this many steps in every order, as each lowers ‖w − z‖² by
    δ·(2ε − δ) at least. δ = ε is best: (‖w₀ − z‖/ε)², the perceptron's bound for inequalities.

    Examples
    --------
    >>> shifted_bound(distance=10.0, radius=0.5, shift=0.5)
    400.0
    """
    _require(distance=distance, radius=radius, shift=shift)
    if shift >= 2.0 * radius:
        raise ValueError(
            f"A shift of {shift} leaps over a ball of radius {radius}: it must be below twice that."
        )
    delta = rational(shift)
    return up(rational(distance) ** 2 / (delta * (2 * rational(radius) - delta)))


def smooth_bound(margin: float, n: int) -> float:
    """Bound the steps of `smooth` with entropy: 2√(2 ln n)/γ (D4; Soheili and Peña 2012).

    ``n`` is the number of homogeneous rows, e included.

    Examples
    --------
    >>> round(smooth_bound(0.01, n=200))
    651
    """
    _require(margin=margin, n=n)
    return up_with_root(Fraction(0), 8 * log_above(n) / rational(margin) ** 2)


def smooth_euclidean_bound(margin: float, norm: float) -> float:
    """Bound the steps of `smooth` with the Euclidean prox function: 2‖H‖₂/γ (D4).

    ``norm`` is ‖H‖₂, or any number above it.

    Examples
    --------
    >>> smooth_euclidean_bound(0.5, norm=3.0)
    12.0
    """
    _require(margin=margin, norm=norm)
    return up(2 * rational(norm) / rational(margin))


def primal_dual_bound(margin: float, norm: float, factor: float = math.e) -> tuple[float, float]:
    """Bound the steps of each run of `smooth_primal_dual`, and the runs (D4).

    At most 2√2·‖H‖₂/γ steps in each of at most 1 + log_Γ(1/γ) runs (Soheili and Peña 2013).

    Examples
    --------
    >>> steps, runs = primal_dual_bound(0.5, norm=2.0, factor=2.0)
    >>> round(steps, 2), round(runs, 2)
    (11.31, 2.0)
    """
    _require(margin=margin, norm=norm)
    if not 1.0 < factor < math.inf:
        raise ValueError(f"The factor must be finite and above 1, not {factor}.")
    steps = up_with_root(Fraction(0), 8 * (rational(norm) / rational(margin)) ** 2)
    return steps, up(1 + max(-log_below(margin) / log_below(factor), Fraction(0)))


def rescaling_bound(margin: float, p: int) -> float:
    """Bound the rescalings of `rescaled` in dimension p (D5; Peña and Soheili 2016).

        [(p − 1)·ln(1/γ) + ln p + ½ ln π]/ln 1.5

    Each multiplies the solutions' part of the unit sphere by more than 1.5; it begins with a cap
    of angle arcsin γ at least, and ends with half the sphere at most.

    Examples
    --------
    >>> round(rescaling_bound(1e-8, p=5))
    187
    """
    _require(margin=margin, p=p)
    volume = (p - 1) * -log_below(margin) + log_above(p) + log_above(math.pi) / 2
    return up(volume / log_below(1.5))


def doubling_bound(x: npt.ArrayLike) -> float:
    """Bound the rescalings of `projection_rescaling`: log₂(1/Π x_i) (D5; Peña and Soheili 2017).

    ``x`` is any solution of the homogeneous rows, x = H u > 0, divided by its largest entry.

    Examples
    --------
    >>> doubling_bound([1.0, 0.5, 0.25])
    3.0
    """
    entries = np.asarray(x, dtype=np.float64)
    if not (entries.ndim == 1 and (entries > 0.0).all() and (entries <= 1.0).all()):
        raise ValueError("A solution, divided by its largest entry, has entries above 0 up to 1.")
    return up(sum(map(halvings, entries.tolist()), Fraction(0)))


def _require(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"The {name} must be finite and positive, not {value}.")
