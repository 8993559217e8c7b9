"""Spingarn's primal-dual projection: partial inverses (D4; Spingarn 1985, 1987)."""

from __future__ import annotations

import math

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix, scaled
from novikoff.systems.methods.attempt import (
    TINY,
    Attempt,
    TraceBuilder,
    lengths_of,
    steps,
)


def spingarn(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Project on all half-spaces at once, each from its own x + y_i, and take the mean (D4).

        r_i = max(0, ⟨a_i, x − ȳ⟩ + α_i − c_i),    α ← r,    ȳ ← (1/n)·Σ r_i·a_i,    x ← x − ȳ

    with y_i = α_i·a_i − ȳ, for unit rows a_i: Douglas and Rachford's splitting in the product
    space. Guarantee: no step of the points (x + y_i) is longer than the step before. If there is a
    solution, x converges to one; if the interior is not empty, some x is a solution after finitely
    many steps, though no bound on their number is known. If there is no solution, α/Σα tends to a
    Farkas vector.

    The trace has residual max(⟨a_i, x⟩ − c_i) before each step, its length change, and balance
    ‖Σ α_i a_i‖/Σα and right ⟨c, α⟩/Σα after it.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> spingarn(np.array([[1.0], [-1.0]]), np.array([1.0, -2.0])).weights.round(2).tolist()
    [0.5, 0.5]
    """
    lengths, notes = lengths_of(A), TraceBuilder()
    if c is None:  # a solution of A w > 0, made longer, is at least 1 away from every hyperplane
        A, c = scaled(A, -1.0 / lengths), np.full(A.shape[0], -1.0)
    else:
        A, c = scaled(A, 1.0 / lengths), c / lengths
    n, p = A.shape
    x, mean, alpha, n_steps = np.zeros(p) if w0 is None else w0, np.zeros(p), np.zeros(n), 0
    for _ in steps(limits):
        of_x, of_mean = (A @ np.column_stack([x, mean])).T
        if (of_x <= c).all():
            break
        r = np.maximum(0.0, of_x - of_mean + alpha - c)
        before, mean = mean, A.T @ r / n
        x = x - mean
        total, right = float(r.sum()), float(c @ r)
        balance = n * math.sqrt(mean @ mean)
        if trace:
            change = n * (mean @ mean) + (r - alpha) @ (r - alpha)
            change -= n * (mean - before) @ (mean - before)
            notes.note(change=math.sqrt(max(0.0, change)), residual=float((of_x - c).max()))
            notes.note(balance=balance / total, right=right / total)
        alpha = r
        n_steps += 1
        if balance <= TINY * total and right < -TINY * total:
            break
    weights = alpha / lengths
    shares = weights / weights.sum() if alpha.any() else None
    return Attempt(x, shares, n_steps, notes.trace() if trace else None)
