"""The perceptron with random rescaling (D5; Dunagan and Vempala 2008)."""

from __future__ import annotations

import math

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import Matrix, dense
from novikoff.systems.methods.attempt import (
    TINY,
    Attempt,
    TraceBuilder,
    cone,
    lengths_of,
    steps,
)

_LARGEST = 2.0**100  # of the entries of B: a margin that needs more is lost in rounding


def dunagan_vempala(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    seed: int = 0,
) -> Attempt:
    """Turn a random x until no row is far behind it; stretch along x; try the perceptron (D5).

    Unit rows in dimension p, σ = 1/(32p). In each round

    1. the perceptron makes at most 16p² updates; that is enough once γ ≥ 1/(4p);
    2. x begins at random on the unit sphere, and x ← x − ⟨a_i, x⟩a_i while some
       ⟨a_i, x⟩ < −σ‖x‖, at most (ln p)/σ² times; else it begins anew. ⟨x, z⟩ never falls for a
       solution z, so that an x much shorter than 1/√p began badly, too;
    3. a_i ← a_i + ⟨a_i, x⟩x for unit x, made unit again;    B ← B·(I + x xᵀ).

    Guarantee: if ⟨x, z⟩ ≥ 1/√p for the best z, which has constant probability, and γ ≤ 1/(4p),
    γ grows by the factor 1 + 1/(3p) at least; in any case it loses a factor of about 1 − 1/(32p)
    at most. So there are O(p·ln(1/γ)) rounds with high probability. It takes a dense copy of the
    rows and finds no multipliers.

    The trace has direction x and B after each rescaling.

    Parameters and result are those of `relaxation`.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> bool((A @ dunagan_vempala(A).w > 0.0).all())
    True
    """
    system, notes, rng = cone(A, c, w0), TraceBuilder(), np.random.default_rng(seed)
    H = dense(system.H).copy()
    p = H.shape[1]
    patience = 16 * p**2
    sigma, B, x, n_steps = 1.0 / (32.0 * p), np.eye(p), np.zeros(p), 0
    perceptron, left = True, patience
    for _ in steps(limits):
        products = H @ x
        i = int(products.argmin())
        length = float(np.linalg.norm(x))
        if products[i] > TINY * length or np.abs(B).max() > _LARGEST:
            break
        if not perceptron and length > 0.0 and products[i] >= -sigma * length:
            x = x / length
            H += np.outer(H @ x, x)
            B += np.outer(B @ x, x)
            H /= lengths_of(H)[:, None]
            if trace:
                notes.note(direction=x, B=B.copy())
            perceptron, x, left = True, np.zeros(p), patience
        elif left == 0 or (not perceptron and length**2 < 0.5 / p):
            perceptron, x = False, rng.standard_normal((p,))
            x = x / float(np.linalg.norm(x))
            left = max(1, math.ceil(math.log(p) / sigma**2))
        else:
            x = x + H[i] if perceptron else x - products[i] * H[i]
            n_steps, left = n_steps + 1, left - 1
    return system.attempt(B @ x, None, n_steps, notes if trace else None)
