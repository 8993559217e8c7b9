"""Weights that run to infinity, against linear programs over the cone of directions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog

import novikoff as nv
from novikoff.core.problem import pose
from novikoff.geometry.recession import recession


def unbounded(A: npt.NDArray[np.float64]) -> list[bool]:
    """For each weight whether some w with A w ≥ 0 has it different from 0 (HiGHS)."""
    found = []
    for j in range(A.shape[1]):
        best = 0.0
        for sign in (1.0, -1.0):
            c = np.zeros(A.shape[1])
            c[j] = -sign
            result = linprog(c, A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
            best = max(best, abs(result.fun or 0.0))
        found.append(best > 1e-4)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_it_agrees_with_linear_programs_on_small_integers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 14)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[:, 0] = np.abs(X[:, 0])
    y = np.where(X[:, 0] > 0, 1, rng.choice([-1, 1], size=n)).astype(np.int8)
    y[:2] = 1, -1
    verdict = nv.separate(X, y)
    A = np.column_stack([X, np.ones(n)]) * y[:, None].astype(np.float64)
    fate = recession(pose(X, y, True), verdict.separated_rows)
    assert fate is not None
    full = np.linalg.matrix_rank(A) == d + 1
    assert full == (not fate.undetermined.any())
    if full:
        assert fate.infinite.tolist() == unbounded(A)


def test_dependent_columns_are_not_called_infinite() -> None:
    """x1 = x0 carries no information of its own; only x2 is separated."""
    x = np.array([0.0, 1.0, 0.0, 1.0, 2.0])
    X = np.column_stack([x, x, [0.0, 0.0, 0.0, 0.0, 1.0]])
    y = np.array([-1, 1, 1, -1, 1], dtype=np.int8)
    verdict = nv.separate(X, y)
    assert verdict.kind == "quasi-separable"
    fate = recession(pose(X, y, True), verdict.separated_rows)
    assert fate is not None
    assert fate.undetermined.tolist() == [True, True, False, False]
    assert fate.infinite.tolist() == [False, False, True, False]


def test_floats_of_any_size_are_exact() -> None:
    """A third column that is the sum of two up to rounding is not in their span."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(40) * 1e-200, rng.standard_normal(40) * 1e150
    ones = np.ones(40, dtype=np.int8)
    exact = recession(pose(np.column_stack([a, 2.0 * a, b]), ones, True), np.arange(0))
    rounded = recession(pose(np.column_stack([a, 3.0 * a, b]), ones, True), np.arange(0))
    assert exact is not None
    assert rounded is not None
    assert exact.undetermined.tolist() == [True, True, False, False]
    assert not rounded.undetermined.any()


def test_too_many_weights_are_left_open() -> None:
    X = np.eye(1600)
    signs = np.ones(1600, dtype=np.int8)
    assert recession(pose(X, signs, True), np.arange(0)) is None
