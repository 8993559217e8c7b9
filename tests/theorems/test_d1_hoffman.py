"""D1, D4: Hoffman's constant and Goffin's measure of small systems, and the rates that use them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from novikoff.theory import agmon_rate, goffin_measure, hoffman_constant
from tests.oracle import Vector


def projected(w: Vector, A: Vector, c: Vector) -> Vector:
    """The nearest point of {A w ≤ c}: the oracle tries every set of active rows."""
    best: Any = w if (A @ w <= c + 1e-12).all() else None
    for k in range(1, A.shape[1] + 1):
        for active in combinations(range(len(A)), k):
            B = A[list(active)]
            if np.linalg.matrix_rank(B) < k:
                continue
            z = w - B.T @ np.linalg.solve(B @ B.T, B @ w - c[list(active)])
            feasible = (A @ z <= c + 1e-9).all()
            if feasible and (best is None or np.linalg.norm(z - w) < np.linalg.norm(best - w)):
                best = z
    assert best is not None
    return np.asarray(best)


def assert_bounds_the_distance(constant: float, A: Vector, seed: int) -> None:
    """For many c with solutions, and many w, compare the distance with the largest violation."""
    rng = np.random.default_rng(seed)
    lengths = np.linalg.norm(A, axis=1)
    for _ in range(40):
        slack = np.where(rng.random(len(A)) < 0.5, 0.0, rng.random(len(A)) * 3)
        c = A @ rng.normal(size=A.shape[1]) + slack  # so that some point satisfies all rows
        w = rng.normal(scale=4.0, size=(A.shape[1],))
        distance = np.linalg.norm(w - projected(w, A, c))
        violation = np.maximum((A @ w - c) / lengths, 0.0).max()
        assert distance <= constant * violation + 1e-7


def attained(A: Vector, rows: tuple[int, ...]) -> float:
    """The largest ratio of distance and violation for a system in which only ``rows`` matter."""
    B = A[list(rows)] / np.linalg.norm(A[list(rows)], axis=1)[:, None]
    weights = np.linalg.solve(B @ B.T, np.ones(len(rows)))
    assert (weights > -1e-9).all()
    point = B.T @ weights / weights.sum()  # the point of the hull nearest to 0
    far = projected(point, B, np.zeros(len(rows)))
    return float(np.linalg.norm(point - far) / (B @ point).max())


@pytest.mark.parametrize("seed", range(25))
def test_hoffmans_constant_bounds_the_distance_and_is_attained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    A = rng.integers(-4, 5, (n, p)) * rng.choice([1.0, 0.25])
    A = A[A.any(axis=1)]
    if len(A) == 0:
        A = np.ones((1, p))
    found = hoffman_constant(A)
    assert_bounds_the_distance(found.constant, A, seed)
    assert attained(A, found.rows) == pytest.approx(found.constant, rel=1e-9)
    assert found.condition == pytest.approx(1 / found.constant)
    assert found.condition <= 1 <= found.constant


@pytest.mark.parametrize("factor", [0.99, 0.7])
def test_a_smaller_constant_is_seen(factor: float) -> None:
    """As if a set of rows had been left out."""
    A = np.array([[0.1, 1.0], [0.1, -1.0]])
    found = hoffman_constant(A)
    assert attained(A, found.rows) > factor * found.constant
    w, c = np.array([1.0, 0.0]), np.zeros(2)
    distance = np.linalg.norm(w - projected(w, A, c))
    violation = (A @ w / np.linalg.norm(A, axis=1)).max()
    assert distance == pytest.approx(found.constant * violation)
    with pytest.raises(AssertionError):
        assert distance <= factor * found.constant * violation


@pytest.mark.parametrize(
    ("A", "constant", "rows"),
    [
        ([[3.0, 4.0]], 1.0, (0,)),
        ([[2.0], [-5.0]], 1.0, (0,)),  # opposite rows are dependent
        (np.eye(4), 2.0, (0, 1, 2, 3)),
        ([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]], 1.0, (0,)),  # zeros and multiples do not matter
        ([[1e-200, 0.0], [0.0, 1e200]], 2**0.5, (0, 1)),
    ],
)
def test_known_constants(A: Any, constant: float, rows: tuple[int, ...]) -> None:
    found = hoffman_constant(A)
    assert found.constant == pytest.approx(constant, rel=1e-15)
    assert found.constant >= constant
    assert found.rows == rows


@pytest.mark.parametrize("seed", range(6))
def test_the_relaxation_method_is_at_least_as_fast_as_the_constant_says(seed: int) -> None:
    """Agmon's rate at every step, with μ computed and not guessed."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 2))
    c = A @ rng.normal(size=2)  # one point satisfies all rows, some with equality
    rate = agmon_rate(1.0, hoffman_constant(A).condition)
    assert rate < 1
    w, units = 5 * rng.normal(size=2), np.linalg.norm(A, axis=1)
    before = np.linalg.norm(w - projected(w, A, c)) ** 2
    for _ in range(12):
        i = int(np.argmax((A @ w - c) / units))
        w = w - max(0.0, A[i] @ w - c[i]) / units[i] ** 2 * A[i]
        after = np.linalg.norm(w - projected(w, A, c)) ** 2
        assert after <= rate * before + 1e-12
        before = after


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[0.0, 0.0]], "no row that is not zero"),
        ([[np.inf, 0.0]], "finite"),
        (np.random.default_rng(0).normal(size=(60, 6)), "take fewer rows"),
    ],
)
def test_systems_without_an_answer_are_rejected(A: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hoffman_constant(A)


@pytest.mark.parametrize("seed", range(8))
def test_goffins_measure_is_the_margin_of_the_unit_rows(seed: int) -> None:
    """In the plane, the best direction is a unit row or halves the angle between two of them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 2)) + np.array([2.5, 0.0])
    units = A / np.linalg.norm(A, axis=1)[:, None]
    sums = [units[i] + units[j] for i in range(4) for j in range(4)]
    best = max((units @ (u / np.linalg.norm(u))).min() for u in sums)
    found = goffin_measure(A * 10.0 ** rng.integers(-3, 4, (4, 1)))
    assert found.lo - 1e-9 <= max(best, 0.0) <= found.hi + 1e-9
    assert (best > 0) == (found.lo > 0)


@pytest.mark.parametrize("A", [[[1.0, 0.0], [-1.0, 0.0]], [[1.0], [0.0]], [[1.0], [-1.0]]])
def test_goffins_measure_of_a_system_without_solutions_is_zero(A: Any) -> None:
    assert goffin_measure(A) == (0.0, 0.0)
