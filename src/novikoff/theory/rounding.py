"""Directed rounding: upper bounds are rounded up, and lower bounds are rounded down.

A formula is computed in rational numbers, in which floats are exact. Only square roots and
logarithms are rounded during the computation, in the direction that makes the bound weaker. The
last step rounds the rational number to a float, in the same direction.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.proofs import exact

# A bound on the relative error of logarithms. Logarithms of the C library have an error of at most
# one unit in the last place, which is at most 2⁻⁵² of their value.
_LOG_ERROR = Fraction(1, 1 << 50)


def rational(value: float) -> Fraction:
    """Convert a finite number to a rational number, without rounding."""
    whole = isinstance(value, int | float | Fraction)
    return Fraction(value) if whole else Fraction(float(value))


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below the number; infinity if it is beyond float64."""
    return exact.rounded_up(value) + 0.0  # −0 becomes 0


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above the number."""
    return exact.rounded_down(value)


def plus_root_above(value: Fraction, square: Fraction) -> float:
    """Return a float that is not below value + √square.

    Examples
    --------
    >>> plus_root_above(Fraction(1, 2), Fraction(9, 4)), plus_root_above(Fraction(0), Fraction(2))
    (2.0, 1.4142135623730951)
    """
    root = exact.square_root_up(square)
    return float_above(value + Fraction(root)) if math.isfinite(root) else math.inf


def log_above(value: float) -> Fraction:
    """Return a rational number that is not below ln value.

    Examples
    --------
    >>> log_above(1.0), float(log_above(math.e) - log_below(math.e)) < 1e-14
    (Fraction(0, 1), True)
    """
    near = Fraction(math.log(value))
    return near + abs(near) * _LOG_ERROR


def log_below(value: float) -> Fraction:
    """Return a rational number that is not above ln value."""
    near = Fraction(math.log(value))
    return near - abs(near) * _LOG_ERROR


def halvings_above(value: float) -> Fraction:
    """Return a rational number that is not below log₂(1/value), and is equal for powers of two.

    Examples
    --------
    >>> halvings_above(0.25), float(halvings_above(0.3))
    (Fraction(2, 1), 1.7369655941662068)
    """
    m, e = math.frexp(value)
    return -Fraction(math.log2(m)) * (1 if m == 0.5 else 1 + _LOG_ERROR) - e


def square_norm(vector: Vector) -> Fraction:
    """Return ‖v‖² of a vector of floats, exactly."""
    return exact.floats(np.asarray(vector, dtype=np.float64)).square_norm()
