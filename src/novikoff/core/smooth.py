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
from novikoff.core.products import logistic_loss, logistic_slope, weighted_gram
from novikoff.core.rows import Rows, Vector, axpy
from novikoff.core.stops import Limits

_PENALTIES: Final = (1.0, 1e-3)
_MOST_STEPS: Final = 12
# The largest matrices that are built, and Newton systems that are solved.
_MOST_ENTRIES: Final = 1 << 26
_MOST_COLUMNS: Final = 2000


@dataclass(frozen=True)
class Start:
    """Weights worth starting from, and directions in which the rows are spread evenly.

    ``metric @ x`` for isotropic x gives directions whose products with the rows are of
    about the same size.
    """

    weights: list[Vector]
    metric: Vector


def smooth_starts(problem: Problem, prices: Vector, limits: Limits) -> Start:
    """Fit logistic regressions, one for each penalty, as far as time and memory allow."""
    p, bias = problem.p, bool(problem.rows.bias)
    if problem.n * p > _MOST_ENTRIES or p > _MOST_COLUMNS:
        return Start([], _plain_metric(p, bias))
    A = np.zeros((problem.n, p))
    fill_rows(problem.rows, A)
    change = _standardise(A, problem.rows.signs.astype(np.float64), bias)
    if not np.isfinite(A).all() or not np.isfinite(change).all():
        return Start([], _plain_metric(p, bias))
    weights: list[Vector] = []
    u = np.zeros(p)
    for penalty in _PENALTIES:
        if limits.reached() is not None:
            break
        u = _logistic(A, prices / prices.mean(), penalty, u, limits)
        weights.append(change @ u)
    spread = weighted_gram(A, np.full(len(A), 1.0 / len(A))) + 1e-6 * np.eye(p)
    metric = change @ np.linalg.cholesky(np.linalg.inv(spread))
    if not bias:  # the padding is not to be moved
        metric[-1] = 0.0
    return Start([w for w in weights if np.isfinite(w).all() and w.any()], metric)


def _plain_metric(p: int, bias: bool) -> Vector:
    metric = np.eye(p) if p <= _MOST_COLUMNS else np.ones((p, 1))
    metric[-1] *= bias
    return metric


def _standardise(A: Vector, signs: Vector, bias: bool) -> Vector:
    """Centre and scale signed rows in place; return M with ⟨old row, M·u⟩ = ⟨new row, u⟩."""
    p = A.shape[1]
    X = A[:, :-1]
    X *= signs[:, None]
    centre = X.mean(axis=0) if bias else np.zeros(p - 1)
    X -= centre
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.sqrt(np.square(X).mean(axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    X /= scale
    X *= signs[:, None]
    change = np.diag(np.append(1.0 / scale, 1.0))
    change[-1, :-1] = -centre / scale
    return change


def _logistic(A: Vector, prices: Vector, penalty: float, u: Vector, limits: Limits) -> Vector:
    """Minimise Σ c_i·log(1 + exp(−⟨a_i, u⟩)) + penalty/2·‖u‖² by damped Newton steps."""

    def loss(u: Vector) -> float:
        return float(logistic_loss(A, u, prices) + penalty / 2.0 * np.square(u).sum())

    value, bends = loss(u), np.empty(len(A))
    for _ in range(_MOST_STEPS):
        if limits.reached() is not None:
            break
        slope = penalty * u + logistic_slope(A, u, prices, bends)
        bend = weighted_gram(A, bends)
        bend[np.diag_indices(len(u))] += penalty + 1e-9
        step = -np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-6 and loss(u + size * step) > value + 1e-4 * size * float(slope @ step):
            size /= 2.0
        u = u + size * step
        before, value = value, loss(u)
        if before - value <= 1e-6 * before:
            break
    return u


@njit(cache=True, nogil=True)
def fill_rows(rows: Rows, out: Vector) -> None:
    """Write the signed, padded rows into a matrix of zeros."""
    for i in range(len(out)):
        axpy(1.0, rows, i, out[i])
