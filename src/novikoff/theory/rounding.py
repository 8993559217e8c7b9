"""Directed rounding: bounds of theorems as floats that are not on the wrong side of the truth.

A formula is computed in rationals, from floats that are taken as exactly what they are. Square
roots and logarithms are the only numbers in it that are rounded on the way, each to the side that
makes the bound weaker. The last step rounds the rational to a float, to the same side.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.proofs import exact

# Logarithms of the C library are within one unit in the last place, 2⁻⁵² of themselves at most.
_LOG_SLIP = Fraction(1, 1 << 50)


def rational(value: float) -> Fraction:
    """A finite number, exactly what it is."""
    whole = isinstance(value, int | float | Fraction)
    return Fraction(value) if whole else Fraction(float(value))


def up(value: Fraction) -> float:
    """The smallest float that is not below the number; infinite beyond all floats."""
    return exact.rounded_up(value) + 0.0  # 0, not −0


def down(value: Fraction) -> float:
    """The largest float that is not above the number."""
    return exact.rounded_down(value)


def up_with_root(value: Fraction, square: Fraction) -> float:
    """Value + √square, rounded up.

    Examples
    --------
    >>> up_with_root(Fraction(1, 2), Fraction(9, 4)), up_with_root(Fraction(0), Fraction(2))
    (2.0, 1.4142135623730951)
    """
    root = exact.square_root_up(square)
    return up(value + Fraction(root)) if math.isfinite(root) else math.inf


def root_down(square: Fraction) -> float:
    """√square, rounded down."""
    return exact.square_root_down(square)


def log_above(value: float) -> Fraction:
    """Not less than ln value.

    Examples
    --------
    >>> log_above(1.0), float(log_above(math.e) - log_below(math.e)) < 1e-14
    (Fraction(0, 1), True)
    """
    near = Fraction(math.log(value))
    return near + abs(near) * _LOG_SLIP


def log_below(value: float) -> Fraction:
    """Not more than ln value."""
    near = Fraction(math.log(value))
    return near - abs(near) * _LOG_SLIP


def halvings(value: float) -> Fraction:
    """Not less than log₂(1/value), and equal to it for powers of two.

    Examples
    --------
    >>> halvings(0.25), float(halvings(0.3))
    (Fraction(2, 1), 1.7369655941662068)
    """
    m, e = math.frexp(value)
    return -Fraction(math.log2(m)) * (1 if m == 0.5 else 1 + _LOG_SLIP) - e


def square_norm(vector: Vector) -> Fraction:
    """‖v‖² of a vector of floats, exactly."""
    return exact.floats(np.asarray(vector, dtype=np.float64)).square_norm()
