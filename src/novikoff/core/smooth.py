"""Weights to start a descent from: ridge-penalised logistic regression by Newton's method.

The logistic loss is a smooth stand-in for the number of mistakes, and convex. Rows are
centred and scaled first, so that one penalty suits all columns; a strong and a weak one
often differ in the mistakes they leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.problem import Problem
from novikoff.core.products import (
    fill_slopes,
    logistic_loss,
    logistic_slope,
    signed_columns,
    slopes,
    weighted_gram,
)
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits

_PENALTIES: Final = (1.0, 1e-3)
_MOST_STEPS: Final = 12
# The largest matrices that are built, and Newton systems that are solved.
_MOST_ENTRIES: Final = 1 << 26
_MOST_COLUMNS: Final = 2000


@dataclass(frozen=True)
class Start:
    """Weights worth starting from, and a metric in which the rows are spread evenly.

    ``metric @ g`` is the direction down a slope g in coordinates in which the products of the
    rows with all directions are of about the same size; None is the coordinates as they are.
    """

    weights: list[Vector]
    metric: Vector | None


def smooth_starts(problem: Problem, prices: Vector, limits: Limits) -> Start:
    """Fit logistic regressions, one for each penalty, as far as time and memory allow."""
    n, p, bias = problem.n, problem.p, bool(problem.rows.bias)
    if n * p > _MOST_ENTRIES or p > _MOST_COLUMNS:
        return Start([], None)
    C = signed_columns(problem.rows, n, p)
    change = _standardise(C, problem.rows.signs.astype(np.float64), bias)
    if not np.isfinite(C).all() or not np.isfinite(change).all():
        return Start([], None)
    weights: list[Vector] = []
    u = np.zeros(p)
    for penalty in _PENALTIES:
        if limits.reached() is not None:
            break
        _logistic(C, prices / prices.mean(), penalty, u, limits)
        weights.append(change @ u)
    spread = weighted_gram(C, np.full(n, 1.0 / n)) + 1e-6 * np.eye(p)
    metric = change @ np.linalg.inv(spread) @ change.T
    if not bias:  # the padding is not to be moved
        metric[-1] = metric[:, -1] = 0.0
    return Start([w for w in weights if np.isfinite(w).all() and w.any()], metric)


def _standardise(C: Vector, signs: Vector, bias: bool) -> Vector:
    """Centre and scale signed rows, columns of C, in place.

    Returns M with ⟨old row, M·u⟩ = ⟨new row, u⟩.
    """
    X = C[:-1]
    X *= signs
    centre = X.mean(axis=1) if bias else np.zeros(len(X))
    X -= centre[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.sqrt(np.square(X).mean(axis=1))
    scale = np.where(scale > 0.0, scale, 1.0)
    X /= scale[:, None]
    X *= signs
    change = np.diag(np.append(1.0 / scale, 1.0))
    change[-1, :-1] = -centre / scale
    return change


def _logistic(C: Vector, prices: Vector, penalty: float, u: Vector, limits: Limits) -> None:
    """Minimise Σ c_i·log(1 + exp(−⟨a_i, u⟩)) + penalty/2·‖u‖² by damped Newton steps from u."""
    m, pulls, bends = slopes(C, u[None])[0], np.empty(C.shape[1]), np.empty(C.shape[1])
    value = float(logistic_loss(m, prices) + penalty / 2.0 * np.square(u).sum())
    for _ in range(_MOST_STEPS):
        if limits.reached() is not None:
            break
        slope = penalty * u + logistic_slope(C, m, prices, pulls, bends)
        bend = weighted_gram(C, bends)
        bend[np.diag_indices(len(u))] += penalty + 1e-9
        step = -np.asarray(np.linalg.solve(bend, slope), dtype=np.float64)
        before = value
        value = go_along(C, prices, penalty, u, m, step, value, 1e-4 * float(slope @ step))
        if before - value <= 1e-6 * before:
            break


@njit(cache=True, nogil=True)
def go_along(
    C: Vector,
    prices: Vector,
    penalty: float,
    u: Vector,
    m: Vector,
    step: Vector,
    value: float,
    wanted: float,
) -> float:
    """Move u, and m = Cᵀu, by a share of the step that lowers the loss as wanted; the new loss."""
    along, size = np.empty((1, len(m))), 1.0
    fill_slopes(C, step.reshape(1, -1), np.zeros(1, dtype=np.int64), along)
    reached, moved = np.empty(len(u)), np.empty(len(m))
    while True:
        square = 0.0
        for j in range(len(u)):
            reached[j] = u[j] + size * step[j]
            square += reached[j] * reached[j]
        for i in range(len(m)):
            moved[i] = m[i] + size * along[0, i]
        found = float(logistic_loss(moved, prices)) + penalty / 2.0 * square
        if size <= 1e-6 or found <= value + size * wanted:
            break
        size /= 2.0
    u[:] = reached
    m[:] = moved
    return found
