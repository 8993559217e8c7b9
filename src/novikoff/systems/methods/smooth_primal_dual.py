"""The primal-dual smooth perceptron and von Neumann algorithm, iterated (D4).

Soheili and Peña 2013: a solution, or multipliers at a linear rate.
"""

from __future__ import annotations

import math

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix
from novikoff.systems.methods.attempt import TINY, Attempt, TraceBuilder, cone, steps
from novikoff.systems.methods.smooth import ascend, euclidean, squared_norm


def smooth_primal_dual(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    factor: float = math.e,
) -> Attempt:
    """Run the Euclidean `smooth` from x̂ until ‖Hᵀx‖ ≤ ‖Hᵀx̂‖/Γ; go on from x̂ = x (D4).

    Guarantee: with margin γ > 0, each run has at most 2√2·‖H‖₂/γ steps, and there are at most
    1 + log_Γ(1/γ) runs (`theory.primal_dual_bound`). If the origin lies at depth ρ > 0 inside the
    hull of the rows, each run has at most 2√2·Γ‖H‖₂/ρ steps, so that ‖Hᵀx‖ falls to 0 at a linear
    rate and x tends to a λ > 0 with Σ λ_i h_i = 0. Both follow from the excessive gap of
    `smooth`, which holds inside each run.

    The trace has the run, and norm, smoothed, mu and least of `smooth`, before each step.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]])
    >>> found = smooth_primal_dual(A)
    >>> bool(np.abs(found.weights @ A).max() < 1e-12)
    True
    """
    if not factor > 1.0:
        raise ValueError(f"The factor Γ must be above 1, not {factor}.")
    system, notes = cone(A, c, w0), TraceBuilder()
    H, counter, done, run, n_steps = system.H, steps(limits), False, 0, 0
    L, x = squared_norm(H), np.full(H.shape[0], 1.0 / H.shape[0])
    while not done:
        d, aim = euclidean(x), float(np.linalg.norm(H.T @ x)) / factor
        for state in ascend(lambda y: H @ y, lambda x: H.T @ x, x, d, L):
            if trace:
                notes.note(run=run, **state.seen(d))
            done = state.least > 0.0 or state.norm <= TINY or next(counter, None) is None
            if done or state.norm <= aim:
                break
        x, run, n_steps = state.x, run + 1, n_steps + state.k
    return system.attempt(state.y, x, n_steps, notes if trace else None)
