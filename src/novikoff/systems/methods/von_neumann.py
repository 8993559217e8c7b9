"""Von Neumann's algorithm of 1948 (D4; Dantzig 1992)."""

from __future__ import annotations

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix, dense
from novikoff.systems.methods.attempt import TINY, Attempt, TraceBuilder, cone, steps


def von_neumann(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Walk a convex combination u = Σ x_i h_i of the rows towards the origin (D4).

        j = argmin ⟨h_i, u⟩:    u ← the point nearest to 0 on the segment from u to h_j

    Guarantee: while ⟨h_j, u⟩ ≤ 0, 1/‖u⁺‖² ≥ 1/‖u‖² + 1 for the unit rows of `Cone`. Hence
    ‖u_k‖ ≤ 1/√(k+1), and with margin γ > 0 there are at most 1/γ² steps
    (`theory.unit_ball_bound`). If the origin lies at depth ρ inside the hull,
    ‖u_k‖ ≤ (1 − ρ²)^(k/2), and x tends to a λ with Σ λ_i h_i = 0 (Epelman and Freund 2000).

    The trace has index j, margin ⟨h_j, u⟩ before and norm ‖u‖ after each step.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> von_neumann(np.array([[1.0, 0.0], [-0.6, 0.8]])).w.round(3).tolist()
    [0.2, 0.4]
    """
    system, notes = cone(A, c, w0), TraceBuilder()
    H = system.H
    x = np.zeros(H.shape[0])
    x[0] = 1.0
    u, square, n_steps = dense(H[[0]])[0], 1.0, 0
    for _ in steps(limits):
        products = H @ u
        j = int(products.argmin())
        m = float(products[j])
        if m > 0.0 or square <= TINY**2:
            break
        share = (square - m) / (square - 2.0 * m + 1.0)
        x *= 1.0 - share
        x[j] += share
        u = (1.0 - share) * u + share * dense(H[[j]])[0]
        square = float(u @ u)
        n_steps += 1
        if trace:
            notes.note(index=j, margin=m, norm=square**0.5)
    return system.attempt(u, x, n_steps, notes if trace else None)
