"""The deterministic rescaled perceptron (D5; Peña and Soheili 2016)."""

from __future__ import annotations

import math

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix, dense
from novikoff.systems.methods.attempt import (
    Attempt,
    TraceBuilder,
    cone,
    lengths_of,
    steps,
)

# Times p: a margin that this many rescalings have not found is below float64's precision.
_MOST_RESCALINGS = 100


def rescaled(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """Run the perceptron until a row is seen to bound all solutions; stretch along it (D5).

    Unit rows, N updates, of which x_j·N on row j, sum u: every unit solution z has
    ⟨a_j, z⟩ ≤ δ = (‖u‖/N)/x_j. Once δ ≤ 1/√(6p),

        a_i ← a_i − ½⟨a_i, a_j⟩a_j  for all i, made unit again;    B ← B·(I − ½a_j a_jᵀ)

    stretches the solutions by 2 along a_j, and their part of the sphere grows by more than 1.5.
    Guarantee: with margin γ > 0 the number of rescalings is at most
    [(p−1)·ln(1/γ) + ln p + ½ ln π]/ln 1.5 (`theory.rescaling_bound`), with at most 6pn² updates
    between two. It takes a dense copy of the rows.

    The trace has the row, the slab δ, the updates N and B after it, for each rescaling.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> found = rescaled(A)
    >>> bool((A @ found.w > 0.0).all()), found.n_steps < 200
    (True, True)
    """
    system, notes = cone(A, c, w0), TraceBuilder()
    H = dense(system.H).copy()
    n, p = H.shape
    B, u, counts = np.eye(p), np.zeros(p), np.zeros(n)
    weights, lengths, n_steps, left = counts, np.ones(n), 0, _MOST_RESCALINGS * p
    for _ in steps(limits):
        products = H @ u
        i = int(products.argmin())
        if products[i] > 0.0 or left == 0:
            break
        u += H[i]
        counts[i] += 1.0
        n_steps += 1
        j = int(counts.argmax())
        slab = float(np.linalg.norm(u)) / counts[j]
        if slab <= 1.0 / math.sqrt(6.0 * p):
            a, weights = H[j].copy(), counts / lengths
            H -= 0.5 * np.outer(H @ a, a)
            B -= 0.5 * np.outer(B @ a, a)
            shrunk = lengths_of(H)
            H /= shrunk[:, None]
            if trace:
                notes.note(row=j, slab=slab, updates=counts.sum(), B=B.copy())
            u, counts, lengths, left = np.zeros(p), np.zeros(n), lengths * shrunk, left - 1
    return system.attempt(B @ u, weights, n_steps, notes if trace else None)
