"""The point of least squared violation, in floats: Σ max(0, ⟨a_i, w⟩ − c_i)² at its minimum.

The function is convex and piecewise quadratic. Each step solves the least squares of the rows that
are violated, equalities always, and a search along the line keeps the sum falling (the finite
Newton method of Mangasarian 2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import dense, scaled, time_to_factor
from novikoff.systems.system import System

_MOST_STEPS = 200


def least_squares(system: System, limits: Limits) -> Vector:
    """A w of the least Σ violation² over the rows as they are stated; the best found in time."""
    A, c = _rows(system)
    free, w = system.free[:-1], np.zeros(system.p)

    def residual(w: Vector) -> Vector:
        r = A @ w - c
        return np.where(free, r, np.maximum(r, 0.0))

    with np.errstate(all="ignore"):  # a step that overflows is not taken
        r = residual(w)
        value = float(r @ r)
        for _ in range(_MOST_STEPS):
            active = np.flatnonzero((r != 0.0) | free)
            if not time_to_factor(len(active), system.p, limits):
                break
            part = dense(A[active])
            if not np.isfinite(part).all():
                break
            step = np.linalg.lstsq(part, -r[active], rcond=None)[0]
            length, after = 1.0, residual(w + step)
            while not float(after @ after) < value * (1.0 - 1e-14) and length > 1e-12:
                length /= 2.0
                after = residual(w + length * step)
            if length <= 1e-12:
                break
            w, r, value = w + length * step, after, float(after @ after)
    return w


def largest_violation(system: System, w: Vector) -> float:
    """The largest ⟨a_i, w⟩ − c_i, or |⟨a_i, w⟩ − c_i| of an equality; 0 where there is none."""
    A, c = _rows(system)
    with np.errstate(all="ignore"):
        r = A @ w - c
    return float(np.where(system.free[:-1], np.abs(r), r).max(initial=0.0))


def _rows(system: System) -> tuple[Any, Vector]:
    """A and c of the rows as they are stated, in floats."""
    factors = np.full(system.e, -1.0)
    if system.factors is not None:
        factors = -np.array([1 / factor for factor in system.factors[:-1]], dtype=np.float64)
    A = scaled(system.passes.X[:-1], factors)
    return A[:, :-1], -dense(A[:, [-1]]).ravel() * float(system.unit)
