"""The fewest possible mistakes, by mixed-integer programs and by exhaustive search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import novikoff as nv
from novikoff.core.rows import Vector
from tests.cases import Signs
from tests.oracle import signed

# Two hundred cases take two minutes, half of it in HiGHS, so the suite runs one in five.
CASES = 200
IN_SUITE = range(0, CASES, 5)
# Weights up to this size make a margin of 1 out of gaps down to a hundredth of its inverse.
LONGEST = 1e4


def case(seed: int) -> tuple[Vector, Signs]:
    """At most 60 rows and 4 columns, of four kinds; two decimals, so that no gap is tiny."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 61)), int(rng.integers(1, 5))
    kind = seed // 5 % 4 if seed % 5 == 0 else seed % 4
    X = np.round(rng.normal(size=(n, p)), 2)
    if kind == 2:  # duplicates
        X = X[rng.integers(max(2, n // 2), size=n)]
    if kind == 3:  # a grid
        X = rng.integers(-2, 3, size=(n, p)).astype(np.float64)
    if kind == 0:
        n = min(n, 30)  # random labels are the hardest for the program
        X = X[:n]
        return X, two_classes(rng.choice([-1, 1], size=n))
    y = np.where(X @ rng.normal(size=p) + 0.3 * rng.normal(size=n) > 0.2, 1, -1)
    return X, two_classes(y * rng.choice([1] * 9 + [-1], size=n))


def two_classes(y: npt.NDArray[np.int64]) -> Signs:
    y[0] = -y[-1]
    return y.astype(np.int8)


def fewest(A: Vector) -> int:
    """Min Σ z_i with ⟨a_i, w⟩ ≥ 1 − M_i·z_i, where M_i is large enough for every possible ⟨a_i, w⟩.

    A z_i within the solver's 1e-6 of zero leaves more than half of the margin of 1.
    """
    n, p = A.shape
    M = 1.0 + LONGEST * np.abs(A).sum(axis=1)
    assert M.max() < 5e5
    box = np.append(np.full(p, LONGEST), np.ones(n))
    program = milp(
        np.append(np.zeros(p), np.ones(n)),
        constraints=LinearConstraint(np.hstack([A, np.diag(M)]), lb=1.0),
        integrality=np.append(np.zeros(p), np.ones(n)),
        bounds=Bounds(np.append(-box[:p], np.zeros(n)), box),
        options={"mip_rel_gap": 0.0},
    )
    assert program.status == 0, program.message
    # The weights of the program make this many mistakes.
    assert (A @ program.x[:p] <= 0.0).sum() <= program.fun + 0.5
    return int(program.fun + 0.5)


def separable(A: Vector) -> bool:
    if len(A) == 0:
        return True
    ones = -np.ones(len(A))
    program = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=ones, bounds=(None, None))
    return bool(program.status == 0)


def fewest_by_leaving_out(A: Vector, most: int) -> int:
    """The size of the smallest set of rows without which the others can be separated."""
    for k in range(most + 1):
        for left_out in combinations(range(len(A)), k):
            if separable(np.delete(A, left_out, axis=0)):
                return k
    return most + 1


def fewest_by_planes(A: Vector) -> int:
    """Rows in general position: the best plane can be moved until it touches p − 1 of them.

    A small move then puts each of these rows on either side, so their labels do not matter.
    """
    n, p = A.shape
    best = int(n)
    for touching in combinations(range(n), p - 1):
        w = np.linalg.svd(A[list(touching)])[2][-1]
        sides = A @ w
        sides[list(touching)] = 0.0
        best = int(min(best, (sides < 0).sum(), (sides > 0).sum()))
    return best


def check(seeds: range) -> list[int]:
    """The seeds for which the rule that was found is not the best rule."""
    missed = []
    for seed in seeds:
        X, y = case(seed)
        model = nv.Pocket(random_state=0).fit(X, y)
        optimum = fewest(signed(X, y, True))
        assert isinstance(model.n_errors_, int)
        assert isinstance(model.errors_lower_bound_, int)
        assert model.errors_lower_bound_ <= optimum <= model.n_errors_, seed
        assert model.optimal_
        assert isinstance(model.certificate_, nv.ErrorBound)
        nv.verify(model.certificate_, X, y)
        if model.n_errors_ > optimum:
            missed.append(seed)
    return missed


def test_the_fewest_mistakes_are_found() -> None:
    """Ten seconds long, because each program needs its own branch and bound."""
    missed = check(IN_SUITE)
    assert missed == []


@pytest.mark.parametrize("seed", range(6))
def test_the_program_is_right_in_general_position(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(15, 1 + seed % 3)), 3)
    A = signed(X, rng.choice([-1, 1], size=15), True)
    assert fewest(A) == fewest_by_planes(A)


@pytest.mark.parametrize("seed", range(4))
def test_the_program_is_right_on_grids(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(10, 2)).astype(np.float64)
    A = signed(X, rng.choice([-1, 1], size=10), True)
    optimum = fewest(A)
    assert fewest_by_leaving_out(A, optimum) == optimum
    model = nv.Pocket(random_state=0).fit(X, A[:, -1])
    assert model.n_errors_ == optimum
