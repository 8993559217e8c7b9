"""Small systems whose geometry is known."""

from __future__ import annotations

import numpy as np

from novikoff.core.rows import Vector
from novikoff.systems.methods import Attempt

RULES = ["cyclic", "fixed", "permuted", "blocks", "random", "max_distance", "max_residual"]


def with_ball(seed: int, radius: float, n: int = 30, p: int = 4) -> tuple[Vector, Vector, Vector]:
    """Return A, c and z such that the largest ball around z inside A w ≤ c has this radius."""
    rng = np.random.default_rng(seed)
    A, z = rng.normal(size=(n, p)) * rng.uniform(0.3, 3.0, size=(n, 1)), rng.normal(size=p)
    slack = radius * np.where(np.arange(n) < p + 1, 1.0, rng.uniform(1.0, 5.0, size=n))
    return A, A @ z + slack * np.linalg.norm(A, axis=1), z


def contradictory(seed: int, n: int = 30, p: int = 4) -> tuple[Vector, Vector]:
    """Return A w ≤ c that no w satisfies: a sum of its first rows, with λ > 0, reads 0 ≤ −1."""
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(n, p)), rng.normal(size=n)
    lam = rng.uniform(0.5, 2.0, size=p)
    A[p], c[p] = -lam @ A[:p], -lam @ c[:p] - 1.0
    return A, c


def separable(seed: int, margin: float, n: int = 30, p: int = 4) -> tuple[Vector, Vector]:
    """Return unit rows h_i and a unit z with ⟨h_i, z⟩ ≥ γ, where many are close to γ."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=p)
    z /= np.linalg.norm(z)
    across = rng.normal(size=(n, p))
    across -= np.outer(across @ z, z)
    across /= np.linalg.norm(across, axis=1)[:, None]
    m = margin * rng.uniform(1.0, 3.0, size=n)
    return m[:, None] * z + np.sqrt(1.0 - m**2)[:, None] * across, z


def polygon(n: int) -> tuple[Vector, float]:
    """Return rows around the circle, and the depth of the origin in their hull."""
    angles = 2.0 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)]), float(np.cos(np.pi / n))


def point(found: Attempt) -> Vector:
    """Return the point of a method, and fail if it found no point."""
    assert found.w is not None
    return found.w


def multipliers(found: Attempt) -> Vector:
    """Return the multipliers of a method, with sum 1, and fail if it found none."""
    assert found.multipliers is not None
    assert (found.multipliers >= 0.0).all()
    return np.asarray(found.multipliers / found.multipliers.sum())
