"""The point with the least sum of squared violations, in floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.proofs import exact
from novikoff.systems.matrices import dense, scaled, time_to_factor
from novikoff.systems.system import System

_MAX_NEWTON_STEPS = 200
# Rows are multiplied by at most 2 to this power before squares are computed.
_MAX_POWER = 1000


def least_squares(system: System, limits: Limits) -> Vector:
    """Find a w with the least sum of squared violations, Σ max(0, ⟨a_i, w⟩ − c_i)², in floats.

    The rows are those of the statement; an equality is violated on both sides. The sum is a convex
    and piecewise quadratic function. Each step solves the least-squares problem of the violated
    rows and all equalities, and a line search makes sure that the sum falls (the finite Newton
    method). A and c are scaled so that no square overflows.

    Returns
    -------
    array of shape (p,)
        The best point that was found in time; the origin if rows exceed the range of float64.

    References
    ----------
    Mangasarian, O. L. (2002). A finite Newton method for classification. *Optimization Methods and
    Software* 17(5), 913-929.
    """
    free, w = system.equalities[:-1], np.zeros(system.p)
    with np.errstate(all="ignore"):
        A, c = _stated_rows(system)
    peaks = [abs(part).max() if part.shape[0] else 0.0 for part in (A, c)]
    if not np.isfinite(peaks).all():
        return w
    powers = np.maximum(np.frexp(peaks)[1], -_MAX_POWER)
    A, c = A * 2.0 ** -float(powers[0]), np.ldexp(c, -powers[1])

    def residual(w: Vector) -> Vector:
        r = A @ w - c
        return np.where(free, r, np.maximum(r, 0.0))

    with np.errstate(all="ignore"):  # a step that overflows is rejected below
        r = residual(w)
        value = float(r @ r)
        for _ in range(_MAX_NEWTON_STEPS):
            active = np.flatnonzero((r != 0.0) | free)
            if not time_to_factor(len(active), system.p, limits):
                break
            step = np.linalg.lstsq(dense(A[active]), -r[active], rcond=None)[0]
            length, after = 1.0, residual(w + step)
            while not float(after @ after) < value * (1.0 - 1e-14) and length > 1e-12:
                length /= 2.0
                after = residual(w + length * step)
            if length <= 1e-12:
                break
            w = w + length * step
            r, value = after, float(after @ after)
        return np.asarray(np.ldexp(w, powers[1] - powers[0]))


def _stated_rows(system: System) -> tuple[Any, Vector]:
    """A and c of the stated rows, in floats."""
    factors = np.full(system.homogenising_row, -1.0)
    if system.factors is not None:
        factors = -np.array([exact.nearest_float(1 / factor) for factor in system.factors[:-1]])
    A = scaled(system.passes.X[:-1], factors)
    return A[:, :-1], -dense(A[:, [-1]]).ravel() * exact.nearest_float(system.unit)
