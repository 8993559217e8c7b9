"""Bad numbers are named where they stand; the radius is never below the true one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from novikoff.core.margins import norm_bound, scores
from novikoff.core.problem import pose, relative_norms
from novikoff.core.rows import Vector
from tests.cases import csr, planted, planted_integers
from tests.oracle import margins, signed


def ones(n: int) -> npt.NDArray[np.int8]:
    return np.ones(n, dtype=np.int8)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_message_names_row_and_column(
    value: float, word: str, storage: str, fit_intercept: bool
) -> None:
    X = planted(1, 9, 4).X
    X[6, 2] = value
    X[8, 1] = value
    matrix = X if storage == "dense" else csr(X)
    with pytest.raises(ValueError, match=f"{word}.* row 6, column 2:"):
        pose(matrix, ones(9), fit_intercept)
    with pytest.raises(ValueError, match=f"{word}.* row 6, column 2 .'c'.:"):
        pose(matrix, ones(9), fit_intercept, names=list("abcd"), threads=3)


def test_a_bad_number_behind_a_huge_one_is_found() -> None:
    X = np.array([[1.0, 1e200, np.nan]])
    with pytest.raises(ValueError, match="row 0, column 2"):
        pose(X, ones(1), True)


def exact_squared_radius(X: Vector, fit_intercept: bool) -> Fraction:
    return max(sum((Fraction(float(x)) ** 2 for x in row), Fraction(fit_intercept)) for row in X)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(
    "size", [1.0, 1e-3, 1e150, 1e154, 1e200, 1e300, 1e-140, 1e-200, 1e-310, 5e-324]
)
def test_the_radius_is_rounded_up(size: float, storage: str, fit_intercept: bool) -> None:
    X = planted(2, 30, 7).X * size
    problem = pose(X if storage == "dense" else csr(X), ones(30), fit_intercept, threads=2)
    truth = exact_squared_radius(X, fit_intercept)
    assert Fraction(problem.radius) ** 2 >= truth
    assert Fraction(problem.radius) ** 2 <= 9 * truth + Fraction(5e-324) ** 2 * 100


def test_rows_of_very_different_size() -> None:
    X = np.array([[1e-200, 1e-200], [3.0, 4.0], [0.0, 0.0]])
    assert 5.0 <= pose(X, ones(3), False).radius <= 5.0 * (1 + 1e-14)
    X[0] = [3e200, 4e200]
    assert pose(X, ones(3), False).radius >= 5e200


def test_the_radius_may_be_infinite_but_not_wrong() -> None:
    X = np.full((1, 9), 1.7e308)
    assert pose(X, ones(1), False).radius == np.inf


def test_zero_rows() -> None:
    assert pose(np.zeros((3, 2)), ones(3), False).radius == 0.0
    assert 1.0 <= pose(np.zeros((3, 2)), ones(3), True).radius <= 1.0 + 1e-14


def test_float32_squares_do_not_overflow() -> None:
    X = np.full((1, 2), 1e30, dtype=np.float32)
    assert Fraction(pose(X, ones(1), False).radius) ** 2 >= 2 * Fraction(float(X[0, 0])) ** 2


def test_the_longest_product() -> None:
    X = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]])
    assert pose(X, ones(2), True).longest >= 4
    assert 3 <= pose(csr(X), ones(2), True).longest <= 4


def test_sizes_and_other_signs() -> None:
    case = planted_integers(3, 8, 3)
    problem = pose(case.X, case.signs, True)
    assert (problem.n, problem.p) == (8, 4)
    turned = problem.resigned(-case.signs)
    assert turned.radius == problem.radius
    w = np.arange(4.0)[:, None]
    assert scores(turned, w).tolist() == (-scores(problem, w)).tolist()


@pytest.mark.parametrize("size", [2.0**-560, 1.0, 2.0**520])
def test_relative_norms(size: float) -> None:
    case = planted_integers(4, 20, 6, fit_intercept=False)
    expected = np.sqrt((case.rows**2).sum(axis=1)).tolist()
    for X in (case.X * size, csr(case.X * size)):
        problem = pose(X, case.signs, False)
        assert (relative_norms(problem) * (problem.unit / size)).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_the_rounding_bound_covers_every_order_of_summation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1, 200)) * 10.0 ** rng.integers(-6, 6, size=200)
    w = rng.normal(size=201)
    w[200] = -(X[0] @ w[:200])  # cancels: the worst case for relative error
    doubt = pose(X, ones(1), True).rounding() * norm_bound(w)
    sums = []
    for _ in range(50):
        terms = rng.permutation(np.append(X[0], 1.0) * w)
        sums += [float(np.add.accumulate(terms)[-1]), float(terms.sum())]
    assert max(sums) > min(sums)
    assert max(sums) - min(sums) <= doubt


@pytest.mark.parametrize("size", [1.0, 1e200, 1e-200, 5e-324, 1e308])
def test_the_norm_bound_is_an_upper_bound(size: float) -> None:
    w = np.array([1.0, -1.0, 0.5]) * size
    bound = norm_bound(w)
    truth = sum(Fraction(float(x)) ** 2 for x in w)
    assert bound == np.inf or Fraction(bound) ** 2 >= truth


def test_the_norm_bound_of_zero() -> None:
    assert norm_bound(np.zeros(3)) == 0.0


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_scores(storage: str, classes: int, threads: int) -> None:
    case = planted(5, 30, 12)
    problem = pose(case.X if storage == "dense" else csr(case.X), case.signs, True)
    W = np.random.default_rng(0).normal(size=(13, classes))
    found = scores(problem, W, threads)
    np.testing.assert_allclose(found, case.rows @ W, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("classes", [1, 2])
def test_a_score_has_the_sign_of_the_sum_in_order(classes: int) -> None:
    """Where the true value is 0 up to rounding, every lane order gives another sign."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 33))
    W = rng.normal(size=(34, classes))
    X[:, 32] = -(X[:, :32] @ W[:32, 0] + W[33, 0]) / W[32, 0]
    expected = margins(signed(X, ones(200), True), W[:, 0])
    assert {-1.0, 1.0} <= set(np.sign(expected))
    for matrix in (X, csr(X)):
        found = scores(pose(matrix, ones(200), True), W)[:, 0]
        assert np.sign(found).tolist() == np.sign(expected).tolist()
