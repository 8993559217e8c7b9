"""Errors name the place of a bad number, and the radius is never below the true radius."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from novikoff.core import problem as problem_module
from novikoff.core.problem import Rows, norms, products, scores, signed_problem
from novikoff.core.rows import Vector
from tests.cases import STORAGES, case_named, csr, planted, planted_integers


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
        signed_problem(matrix, ones(9), fit_intercept)
    with pytest.raises(ValueError, match=f"{word}.* row 6, column 2 .'c'.:"):
        Rows.of(matrix, fit_intercept, names=list("abcd"))


def exact_squared_radius(X: Vector, fit_intercept: bool) -> Fraction:
    return max(sum((Fraction(float(x)) ** 2 for x in row), Fraction(fit_intercept)) for row in X)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(
    "size", [1.0, 1e-3, 1e150, 1e154, 1e200, 1e300, 1e-140, 1e-200, 1e-310, 5e-324]
)
def test_the_radius_is_rounded_up(fit_intercept: bool, storage: str, size: float) -> None:
    X = planted(2, 30, 7).X * size
    problem = signed_problem(X if storage == "dense" else csr(X), ones(30), fit_intercept)
    truth = exact_squared_radius(X, fit_intercept)
    assert Fraction(problem.radius) ** 2 >= truth
    assert Fraction(problem.radius) ** 2 <= 9 * truth + Fraction(5e-324) ** 2 * 100


def test_radii_at_the_edges_of_float64() -> None:
    X = np.array([[1e-200, 1e-200], [3.0, 4.0], [0.0, 0.0]])
    assert 5.0 <= signed_problem(X, ones(3), False).radius <= 5.0 * (1 + 1e-14)
    X[0] = [3e200, 4e200]
    assert signed_problem(X, ones(3), False).radius >= 5e200
    assert signed_problem(np.full((1, 9), 1.7e308), ones(1), False).radius == np.inf
    assert signed_problem(np.zeros((3, 2)), ones(3), False).radius == 0.0
    assert 1.0 <= signed_problem(np.zeros((3, 2)), ones(3), True).radius <= 1.0 + 1e-14
    narrow = np.full((1, 2), 1e30, dtype=np.float32)  # the squares overflow in float32
    radius = signed_problem(narrow, ones(1), False).radius
    assert Fraction(radius) ** 2 >= 2 * Fraction(float(narrow[0, 0])) ** 2
    with pytest.raises(ValueError, match="row 0, column 2"):
        signed_problem(np.array([[1.0, 1e200, np.nan]]), ones(1), True)


def test_the_longest_product() -> None:
    X = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]])
    assert signed_problem(X, ones(2), True).longest >= 4
    assert 3 <= signed_problem(csr(X), ones(2), True).longest <= 4


def test_sizes_and_other_signs() -> None:
    case = planted_integers(3, 8, 3)
    problem = signed_problem(case.X, case.signs, True)
    assert (problem.n, problem.p) == (8, 4)
    turned = problem.with_signs(-case.signs)
    assert turned.radius == problem.radius
    w = np.arange(4.0)
    assert products(turned, w).tolist() == (-products(problem, w)).tolist()
    assert products(problem, w).tolist() == (case.rows @ w).tolist()


@pytest.mark.parametrize("size", [2.0**-560, 1.0, 2.0**520])
def test_norms(size: float) -> None:
    case = planted_integers(4, 20, 6, fit_intercept=False)
    expected = np.sqrt((case.rows**2).sum(axis=1)).tolist()
    for X in (case.X * size, csr(case.X * size)):
        with case_named(type(X).__name__):
            problem = signed_problem(X, case.signs, False)
            assert (norms(problem) * (problem.unit / size)).tolist() == expected


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_and_scores_by_stretches_of_rows(
    storage: str, fit_intercept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = planted_integers(5, 30, 12, fit_intercept=fit_intercept)
    X = STORAGES[storage](case.X, tmp_path)
    W = np.round(5.0 * np.random.default_rng(0).normal(size=(13, 3)))
    for size in (1, 50, 1 << 17):
        with case_named(size):
            monkeypatch.setattr(problem_module, "DENSE_BLOCK", size)
            monkeypatch.setattr(problem_module, "CSR_BLOCK", size)
            problem = signed_problem(X, case.signs, fit_intercept)
            assert products(problem, W[:, 0]).tolist() == (case.rows @ W[:, 0]).tolist()
            assert scores(X, W).tolist() == (case.X @ W[:-1] + W[-1]).tolist()
            assert (
                norms(problem).tolist()
                == norms(signed_problem(case.X, case.signs, fit_intercept)).tolist()
            )
            assert problem.radius == pytest.approx(case.radius, rel=1e-13)


def test_empty_rows_of_a_sparse_matrix() -> None:
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    problem = signed_problem(csr(X), ones(6), False)
    assert (norms(problem) * problem.unit).tolist() == [0.0, 5.0, 0.0, 0.0, 1.0, 0.0]


def test_no_numba_where_data_is_only_looked_at() -> None:
    """Verdicts, certificates and predictions compile nothing, and do not wait for Numba."""
    code = (
        "import sys, numpy as np\n"
        "from novikoff.core.problem import products, signed_problem\n"
        "from novikoff.core.model import LinearModel\n"
        "from novikoff.core import orders, schemes, stops, hyperplane\n"
        "X = np.eye(3)\n"
        "products(signed_problem(X, np.ones(3, dtype=np.int8), True), np.ones(4))\n"
        "LinearModel(np.array(['a', 'b']), 3).predict(X)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
