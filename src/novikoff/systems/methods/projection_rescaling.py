"""Projection and rescaling (D5; Peña and Soheili 2017, 2019)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix, dense, time_to_factor
from novikoff.systems.methods.attempt import Attempt, TraceBuilder, cone, steps
from novikoff.systems.methods.smooth import ascend, euclidean

_LARGEST = 1e10  # of the entries of D: the others are zero in every solution, as far as floats see


def projection_rescaling(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Look for x > 0 in L = range(H) and in L^⊥, and double what must be small (D5).

    P projects on D·L, D a diagonal that begins with 1. `smooth` with P in place of H ends with a
    y > 0 in D·L, which is a solution H w = y/D (in L^⊥, multipliers λ = y/D); or with a z in the
    simplex such that ‖(Pz)⁺‖₁ ≤ ½‖z‖_∞. As z_i·x_i ≤ ⟨Pz, x⟩ ≤ ‖(Pz)⁺‖₁ for all x in D·L with
    0 ≤ x ≤ 1, these x stay within 0 ≤ x ≤ 1 if

        D_i ← D_i·max(1, z_i/‖(Pz)⁺‖₁).

    Guarantee: each rescaling doubles Π D_i at least, so there are at most log₂(1/δ) of them, where
    δ = max Π x_i over the x ∈ L with 0 ≤ x ≤ 1 (`theory.doubling_bound`), whatever γ is. Where
    neither side has a solution, the large entries of the two D are the rows J and I of the
    Goldman–Tucker partition. It factors a dense copy of the rows for each rescaling.

    The trace has the side (0 for L, 1 for L^⊥) and its D after each rescaling.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> bool((A @ projection_rescaling(A).w > 0.0).all())
    True
    """
    limits = limits or Limits()
    system, notes, counter = cone(A, c, w0), TraceBuilder(), steps(limits)
    n, p = system.H.shape
    if not time_to_factor(n, p, limits):
        return Attempt(None, None, 0)
    H, n_steps, side, found = dense(system.H), 0, 1, False
    centre, D = np.full(n, 1.0 / n), np.ones((2, n))
    near = np.zeros((2, n))  # candidates in L and in L^⊥
    while (
        not found
        and D.max(axis=1).min() <= _LARGEST
        and time_to_factor(2 * n, p, limits)  # here, and at the end
    ):
        side = 1 - side if D[1 - side].max() <= _LARGEST else side
        project = _projector(H * D[0][:, None] if side == 0 else H / D[1][:, None], side)
        for state in ascend(lambda y: y, project, centre, euclidean(centre), 1.0):
            upper = float(np.maximum(state.v, 0.0).sum())
            found, over = state.least > 0.0, next(counter, None) is None
            if found or over or upper <= 0.5 * float(state.x.max()):
                break
        n_steps += state.k
        near[1 - side] = D[side] * (state.x - state.v)
        if found:
            near[side] = state.y / D[side]
        if over:
            break
        if not found:
            D[side] *= np.maximum(1.0, np.minimum(state.x / max(upper, 1e-300), 2.0 * _LARGEST))
            if trace:
                notes.note(side=side, D=D[side].copy())
    w = np.linalg.lstsq(H, near[0])[0] if time_to_factor(n, p, limits) else None
    return system.attempt(w, np.maximum(near[1], 0.0), n_steps, notes if trace else None)


def _projector(H: Vector, side: int) -> Callable[[Vector], Vector]:
    """P on range(H), or I − P."""
    U, sizes, _ = np.linalg.svd(H, full_matrices=False)
    Q = U[:, sizes > 1e-12 * sizes[0]]
    return (lambda z: Q @ (Q.T @ z)) if side == 0 else (lambda z: z - Q @ (Q.T @ z))
