"""The smooth perceptron, and its primal-dual form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from novikoff.core.rows import Matrix, Vector
from novikoff.core.stops import Limits
from novikoff.systems.methods.attempt import TINY, Attempt, steps, unit_rows


def smooth(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    prox: Literal["entropy", "euclidean"] = "entropy",
) -> Attempt:
    """The smooth perceptron: maximise a minimum over the rows, smoothed less at each step.

        φ_μ(y) = −½‖y‖² + min over x ∈ Δ of ⟨Hy, x⟩ + μ·d(x)

    H has the unit rows of `UnitRows`, and Δ is the simplex. The prox function d is the entropy
    Σ x_i ln x_i + ln n with L = 1, or ½‖x − x̄‖² with L = ‖H‖₂². Nesterov's excessive gap condition
    holds at every step:

        ½‖Hᵀx_k‖² ≤ φ_{μ_k}(y_k),    μ_k = 4L/((k+1)(k+2))

    Guarantee: if the margin is γ > 0, there are fewer than 2√(2 ln n)/γ steps (entropy) or 2‖H‖₂/γ
    steps (Euclidean): `theory.smooth_bound`, `theory.smooth_euclidean_bound`. At any time
    γ ≤ ‖Hᵀx_k‖; if γ ≤ 0, x tends to a λ with Σ λ_i h_i = 0.

    The other parameters and the result are those of `relaxation_method`. The trace has norm ‖Hᵀx‖,
    smoothed φ_μ(y), mu and least min ⟨h_i, y⟩, before each step and at the end.

    Parameters
    ----------
    prox : "entropy" or "euclidean"
        The prox function d.

    References
    ----------
    Soheili, N. and Peña, J. (2012). A smooth perceptron algorithm. *SIAM Journal on Optimization*
    22(2), 728-737.

    Nesterov, Y. (2005). Excessive gap technique in nonsmooth convex minimization. *SIAM Journal on
    Optimization* 16(1), 235-249.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [-0.6, 0.8]])
    >>> bool((A @ smooth(A).w > 0.0).all())
    True
    """
    if prox not in ("entropy", "euclidean"):
        raise ValueError(f"The prox function is 'entropy' or 'euclidean', not {prox!r}.")
    system = unit_rows(A, c, w0, trace)
    H, steps_left = system.H, steps(limits)
    centre = np.full(H.shape[0], 1.0 / H.shape[0])
    d, L = (ENTROPY, 1.0) if prox == "entropy" else (euclidean(centre), _squared_norm(H))
    for state in ascend(lambda y: H @ y, lambda x: H.T @ x, centre, d, L):
        if trace:
            system.note(**state.seen(d))
        if state.decided or next(steps_left, None) is None:
            break
    return system.attempt(state.y, state.x, state.k)


def smooth_primal_dual(
    A: Matrix,
    c: Vector | None = None,
    *,
    w0: Vector | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    factor: float = math.e,
) -> Attempt:
    """The primal-dual smooth perceptron: runs of `smooth`; each starts where the last ended.

    The Euclidean `smooth` runs from x̂ until ‖Hᵀx‖ ≤ ‖Hᵀx̂‖/Γ; the next run starts from x̂ = x.

    Guarantee: if the margin is γ > 0, each run has at most 2√2·‖H‖₂/γ steps, and there are at most
    1 + log_Γ(1/γ) runs (`theory.primal_dual_bound`). If the origin lies at depth ρ > 0 inside the
    convex hull of the rows, each run has at most 2√2·Γ‖H‖₂/ρ steps, so that ‖Hᵀx‖ falls to 0 at a
    linear rate and x tends to a λ > 0 with Σ λ_i h_i = 0. Both follow from the excessive gap
    condition of `smooth`, which holds inside each run.

    The other parameters and the result are those of `relaxation_method`. The trace has the number
    of the run, and norm, smoothed, mu and least of `smooth`, before each step.

    Parameters
    ----------
    factor : float
        Γ, above 1.

    References
    ----------
    Soheili, N. and Peña, J. (2013). A primal-dual smooth perceptron-von Neumann algorithm. In
    *Discrete Geometry and Optimization*, Fields Institute Communications 69, 303-320.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]])
    >>> attempt = smooth_primal_dual(A)
    >>> bool(np.abs(attempt.multipliers @ A).max() < 1e-12)
    True
    """
    if not factor > 1.0:
        raise ValueError(f"The factor Γ must be above 1, not {factor}.")
    system = unit_rows(A, c, w0, trace)
    H, steps_left = system.H, steps(limits)
    L = _squared_norm(H)
    x = np.full(H.shape[0], 1.0 / H.shape[0])
    n_steps, over = 0, False
    for run in itertools.count():
        d, aim = euclidean(x), float(np.linalg.norm(H.T @ x)) / factor
        for state in ascend(lambda y: H @ y, lambda x: H.T @ x, x, d, L):
            if trace:
                system.note(run=run, **state.seen(d))
            over = state.decided or next(steps_left, None) is None
            if over or state.norm <= aim:
                break
        x, n_steps = state.x, n_steps + state.k
        if over:
            break
    return system.attempt(state.y, x, n_steps)


class Prox(NamedTuple):
    """A prox function d on the simplex, and x_μ(y), the minimiser of ⟨Hy, x⟩ + μ·d(x)."""

    value: Callable[[Vector], float]
    nearest: Callable[[Vector, float], Vector]


class State(NamedTuple):
    """The iterates after k steps."""

    k: int
    x: Vector
    y: Vector
    v: Vector  # Hᵀx
    products: Vector  # Hy
    near: Vector  # x_μ(y)
    mu: float

    @property
    def least(self) -> float:
        """The least ⟨h_i, y⟩; if it is positive, y is a solution."""
        return float(self.products.min())

    @property
    def norm(self) -> float:
        """‖Hᵀx‖; if it is 0, x proves that there is no solution."""
        return math.sqrt(self.v @ self.v)

    @property
    def decided(self) -> bool:
        """Whether y is a solution, or x proves that there is none, except for rounding."""
        return self.least > 0.0 or self.norm <= TINY

    def seen(self, d: Prox) -> dict[str, float]:
        """The quantities of the excessive gap condition."""
        smoothed = float(self.products @ self.near) + self.mu * d.value(self.near)
        smoothed -= 0.5 * float(self.y @ self.y)
        return {"norm": self.norm, "smoothed": smoothed, "mu": self.mu, "least": self.least}


def ascend(
    times: Callable[[Vector], Vector],
    transposed: Callable[[Vector], Vector],
    centre: Vector,
    d: Prox,
    L: float,
) -> Iterator[State]:
    """Yield the iterates of the smooth perceptron from a centre of the simplex, without end.

    Each step takes one product y → Hy and one product x → Hᵀx.
    """
    y, mu = transposed(centre), 2.0 * L
    products = times(y)
    near = x = d.nearest(products, mu)
    g = v = transposed(near)
    for k in itertools.count():
        yield State(k, x, y, v, products, near, mu)
        theta = 2.0 / (k + 3.0)
        y = (1.0 - theta) * y + theta * ((1.0 - theta) * v + theta * g)
        mu *= 1.0 - theta
        products = times(y)
        near = d.nearest(products, mu)
        g = transposed(near)
        x = (1.0 - theta) * x + theta * near
        v = (1.0 - theta) * v + theta * g


def _softmax(products: Vector, mu: float) -> Vector:
    x = np.exp((products.min() - products) / mu)
    return np.asarray(x / x.sum())


def _entropy(x: Vector) -> float:
    return float(x @ np.log(x, out=np.zeros_like(x), where=x > 0.0)) + math.log(len(x))


ENTROPY = Prox(_entropy, _softmax)


def euclidean(centre: Vector) -> Prox:
    """The prox function ½‖x − x̄‖²."""
    return Prox(
        lambda x: 0.5 * float((x - centre) @ (x - centre)),
        lambda products, mu: _on_simplex(centre - products / mu),
    )


def _on_simplex(z: Vector) -> Vector:
    """The point of the simplex nearest to z: (z − τ)⁺, where τ is such that the sum is 1.

    Examples
    --------
    >>> _on_simplex(np.array([0.5, 1.0, -2.0])).tolist()
    [0.25, 0.75, 0.0]
    """
    falling = np.sort(z)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(z) + 1)
    return np.asarray(np.maximum(z - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def _squared_norm(H: Matrix) -> float:
    """‖H‖₂², rounded up; for CSR, the bound ‖H‖₁·‖H‖_∞ instead, which needs no second matrix."""
    if isinstance(H, np.ndarray):
        return float(np.linalg.eigvalsh(H.T @ H)[-1]) * (1.0 + 1e-12)
    sizes: Any = abs(H)
    return float(sizes.sum(axis=0).max() * sizes.sum(axis=1).max())
