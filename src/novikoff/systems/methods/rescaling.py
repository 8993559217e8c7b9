"""Methods that rescale the rows until the margin is wide."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from novikoff.core.rows import Matrix, Vector
from novikoff.core.stops import Limits
from novikoff.systems.matrices import dense, time_to_factor
from novikoff.systems.methods.attempt import TINY, Attempt, lengths_of, steps, unit_rows
from novikoff.systems.methods.smooth import ascend, euclidean

# The method stops after p times this many rescalings, because a margin that needs more is below the
# precision of float64.
_MAX_RESCALINGS = 100
# The method stops when an entry of B is larger than this, because the margin is then below rounding
# errors.
_LARGEST_B = 2.0**100
# Entries of D that are larger than this belong to rows that are zero in every solution, as far as
# floats can tell.
_LARGEST_D = 1e10


def rescaled(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """The rescaled perceptron: stretch the space along a row that limits all solutions.

    Let the rows have unit length, and let N updates, x_j·N of them on row j, have the sum u. Then
    every unit solution z has ⟨a_j, z⟩ ≤ δ = (‖u‖/N)/x_j. Once δ ≤ 1/√(6p), the rescaling

        a_i ← a_i − ½⟨a_i, a_j⟩a_j  for all i, made unit again;    B ← B·(I − ½a_j a_jᵀ)

    stretches the solutions by 2 along a_j, and their share of the unit sphere grows by a factor of
    more than 1.5.

    Guarantee: if the margin is γ > 0, the number of rescalings is at most [(p−1)·ln(1/γ) + ln p + ½
    ln π]/ln 1.5 (`theory.rescaling_bound`), and there are at most 6pn² updates between two
    rescalings. The method makes a dense copy of the rows.

    The parameters and the result are those of `relaxation_method`. The trace has, for each
    rescaling, the row, the slab δ, the updates N, and B after it.

    References
    ----------
    Peña, J. and Soheili, N. (2016). A deterministic rescaled perceptron algorithm. *Mathematical
    Programming* 155, 497-510.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> attempt = rescaled(A)
    >>> bool((A @ attempt.w > 0.0).all()), attempt.n_steps < 200
    (True, True)
    """
    system = unit_rows(A, c, w0, trace)
    H = dense(system.H).copy()
    n, p = H.shape
    B, lengths = np.eye(p), np.ones(n)
    u, counts = np.zeros(p), np.zeros(n)  # the updates since the last rescaling
    multipliers = counts
    n_steps = 0
    rescalings_left = _MAX_RESCALINGS * p
    for _ in steps(limits):
        products = H @ u
        i = int(products.argmin())
        if products[i] > 0.0 or rescalings_left == 0:
            break
        u += H[i]
        counts[i] += 1.0
        n_steps += 1
        j = int(counts.argmax())
        slab = float(np.linalg.norm(u)) / counts[j]
        if slab <= 1.0 / math.sqrt(6.0 * p):
            a, multipliers = H[j].copy(), counts / lengths
            H -= 0.5 * np.outer(H @ a, a)
            B -= 0.5 * np.outer(B @ a, a)
            shrunk = lengths_of(H)
            H /= shrunk[:, None]
            if trace:
                system.note(row=j, slab=slab, updates=counts.sum(), B=B.copy())
            lengths = lengths * shrunk
            u, counts = np.zeros(p), np.zeros(n)
            rescalings_left -= 1
    return system.attempt(B @ u, multipliers, n_steps)


def dunagan_vempala(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    seed: int = 0,
) -> Attempt:
    """Dunagan and Vempala's algorithm: stretch the space along a random direction, improved.

    Let the rows have unit length in dimension p, and let σ = 1/(32p). Each round has three parts.

    1. The perceptron makes at most 16p² updates. That is enough once γ ≥ 1/(4p).
    2. x starts at random on the unit sphere, and x ← x − ⟨a_i, x⟩a_i while some ⟨a_i, x⟩ < −σ‖x‖,
       at most (ln p)/σ² times; after that it starts again. ⟨x, z⟩ never falls for a solution z, so
       that an x much shorter than 1/√p had a bad start, and starts again too.
    3. a_i ← a_i + ⟨a_i, x⟩x for unit x, made unit again;    B ← B·(I + x xᵀ).

    Guarantee: if ⟨x, z⟩ ≥ 1/√p for the best z, which has constant probability, and γ ≤ 1/(4p), then
    γ grows by a factor of at least 1 + 1/(3p). Otherwise it is multiplied by at least about 1 −
    1/(32p). So there are O(p·ln(1/γ)) rounds with high probability. The method makes a dense copy
    of the rows, and finds no multipliers.

    The parameters and the result are those of `relaxation_method`. The trace has the direction x
    and B after each rescaling.

    References
    ----------
    Dunagan, J. and Vempala, S. (2008). A simple polynomial-time rescaling algorithm for solving
    linear programs. *Mathematical Programming* 114(1), 101-114.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> bool((A @ dunagan_vempala(A).w > 0.0).all())
    True
    """
    system = unit_rows(A, c, w0, trace)
    rng = np.random.default_rng(seed)
    H = dense(system.H).copy()
    p = H.shape[1]
    patience = 16 * p**2
    sigma = 1.0 / (32.0 * p)
    B, x, n_steps = np.eye(p), np.zeros(p), 0
    is_perceptron, steps_left = True, patience  # the phase, and the steps left in it
    for _ in steps(limits):
        products = H @ x
        i = int(products.argmin())
        length = float(np.linalg.norm(x))
        if products[i] > TINY * length or np.abs(B).max() > _LARGEST_B:
            break
        if not is_perceptron and length > 0.0 and products[i] >= -sigma * length:
            x = x / length
            H += np.outer(H @ x, x)
            B += np.outer(B @ x, x)
            H /= lengths_of(H)[:, None]
            if trace:
                system.note(direction=x, B=B.copy())
            is_perceptron, steps_left = True, patience
            x = np.zeros(p)
        elif steps_left == 0 or (not is_perceptron and length**2 < 0.5 / p):
            is_perceptron, steps_left = False, max(1, math.ceil(math.log(p) / sigma**2))
            x = rng.standard_normal((p,))
            x = x / float(np.linalg.norm(x))
        else:
            x = x + H[i] if is_perceptron else x - products[i] * H[i]
            n_steps += 1
            steps_left -= 1
    return system.attempt(B @ x, None, n_steps)


def projection_rescaling(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
) -> Attempt:
    """The projection and rescaling algorithm: find x > 0 in a subspace or its complement.

    The subspace is L = range(H), its complement L^⊥. P projects on D·L, where the diagonal matrix D
    starts as the identity. The smooth perceptron with P in place of H ends in one of two ways. It
    finds a y > 0 in D·L, which is a solution H w = y/D (in L^⊥, multipliers λ = y/D). Or it finds a
    z in the simplex with ‖(Pz)⁺‖₁ ≤ ½‖z‖_∞. Since z_i·x_i ≤ ⟨Pz, x⟩ ≤ ‖(Pz)⁺‖₁ for all x in D·L
    with 0 ≤ x ≤ 1, these x still satisfy 0 ≤ x ≤ 1 after the rescaling

        D_i ← D_i·max(1, z_i/‖(Pz)⁺‖₁).

    Guarantee: each rescaling at least doubles Π D_i, so there are at most log₂(1/δ) of them, where
    δ is the maximum of Π x_i over the x ∈ L with 0 ≤ x ≤ 1 (`theory.doubling_bound`), whatever γ
    is. If neither side has a solution, the large entries of the two D are the rows J and I of the
    Goldman–Tucker partition. The method factors a dense copy of the rows for each rescaling.

    The parameters and the result are those of `relaxation_method`. The trace has the side (0 for L,
    1 for L^⊥) and its D after each rescaling.

    References
    ----------
    Peña, J. and Soheili, N. (2017). Solving conic systems via projection and rescaling.
    *Mathematical Programming* 166, 87-111.

    Examples
    --------
    >>> A = np.array([[1.0, 1e-6], [-1.0, 1e-6]])
    >>> bool((A @ projection_rescaling(A).w > 0.0).all())
    True
    """
    limits = limits or Limits()
    system = unit_rows(A, c, w0, trace)
    steps_left = steps(limits)
    n, p = system.H.shape
    if not time_to_factor(n, p, limits):
        return Attempt(None, None, 0)
    H, centre = dense(system.H), np.full(n, 1.0 / n)
    D = np.ones((2, n))  # the diagonals for L and for L^⊥
    near = np.zeros((2, n))  # candidates in L and in L^⊥
    n_steps = 0
    side = 1
    is_solved = False
    while (
        not is_solved
        and D.max(axis=1).min() <= _LARGEST_D
        and time_to_factor(2 * n, p, limits)  # a factorisation here, and another at the end
    ):
        side = 1 - side if D[1 - side].max() <= _LARGEST_D else side
        project = _projector(H * D[0][:, None] if side == 0 else H / D[1][:, None], side)
        for state in ascend(lambda y: y, project, centre, euclidean(centre), 1.0):
            upper = float(np.maximum(state.v, 0.0).sum())
            is_solved, over = state.least > 0.0, next(steps_left, None) is None
            if is_solved or over or upper <= 0.5 * float(state.x.max()):
                break
        n_steps += state.k
        near[1 - side] = D[side] * (state.x - state.v)
        if is_solved:
            near[side] = state.y / D[side]
        if over:
            break
        if not is_solved:
            D[side] *= np.maximum(1.0, np.minimum(state.x / max(upper, 1e-300), 2.0 * _LARGEST_D))
            if trace:
                system.note(side=side, D=D[side].copy())
    w = np.linalg.lstsq(H, near[0])[0] if time_to_factor(n, p, limits) else None
    return system.attempt(w, np.maximum(near[1], 0.0), n_steps)


def _projector(H: Vector, side: int) -> Callable[[Vector], Vector]:
    """The projection P on range(H), or I − P."""
    U, sizes, _ = np.linalg.svd(H, full_matrices=False)
    Q = U[:, sizes > 1e-12 * sizes[0]]
    return (lambda z: Q @ (Q.T @ z)) if side == 0 else (lambda z: z - Q @ (Q.T @ z))
