"""The estimates of a logistic regression, compared with exact linear programs (C1).

The oracle decides by an exact simplex method over the rationals (`tests.models.oracle`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry.logistic import logistic_estimates
from novikoff.geometry.null_space import null_space
from novikoff.geometry.passes import LocalPasses
from tests.cases import csr
from tests.claims.verdicts import estimates
from tests.models.oracle import rank
from tests.separability_oracle import signed_rows

Numbers = npt.NDArray[np.float64]


def oracle(X: Numbers, y: Indices, fit_intercept: bool) -> tuple[dict[Any, str], list[Any]]:
    """The estimates of the coefficients, and the responsible columns."""
    rows = signed_rows(X, y.tolist(), fit_intercept)
    names: list[Any] = [*range(X.shape[1])]
    return estimates(rows, names, fit_intercept, {name: [name] for name in names})


def by_the_sign_of_w(verdict: nv.Verdict) -> dict[Any, str]:
    """A mutant that takes the sign of one hyperplane for the sign of all."""
    assert verdict.coef is not None
    weights: dict[Any, Any] = {**dict(enumerate(verdict.coef)), "(intercept)": verdict.intercept}
    return {name: "+inf" if w > 0 else "-inf" for name, w in weights.items()}


def by_dependence_alone(verdict: nv.Verdict) -> dict[Any, str]:
    """A mutant that calls no estimate finite if one is infinite."""
    assert verdict.logistic is not None
    apart = verdict.kind != "inseparable"
    return {
        name: "either sign" if apart and fate == "finite" else str(fate)
        for name, fate in verdict.logistic.items()
    }


@st.composite
def tables(draw: st.DrawFn) -> tuple[Numbers, Indices, bool]:
    n, d = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    y = np.where(rng.integers(0, 2, n) == 0, -1, 1)
    mode = draw(st.sampled_from(["any", "one-sided", "separable", "constant"]))
    if mode == "one-sided":
        X[:, 0] = np.abs(X[:, 0])
        y[X[:, 0] > 0] = 1
    elif mode != "any":
        if mode == "constant":
            X[:, 0] = 1.0
        y = np.where(X @ rng.integers(-2, 3, d) + rng.integers(-1, 2) > 0, 1, -1)
    return X, np.where(y == y.max(), 1, -1), draw(st.booleans())


@given(tables())
@settings(max_examples=200, deadline=None)
def test_it_agrees_with_exact_linear_programs(case: tuple[Numbers, Indices, bool]) -> None:
    X, y, fit_intercept = case
    verdict = nv.separate(X, y, fit_intercept=fit_intercept)
    assert (verdict.logistic, verdict.responsible_columns) == oracle(X, y, fit_intercept)


@given(tables(), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_it_is_the_answer_of_detect_separation(
    case: tuple[Numbers, Indices, bool], n_levels: int, seed: int
) -> None:
    X, y, fit_intercept = case
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for name in ("first", "second")[: 1 + seed % 2]:
        frame.insert(0, name, pd.Categorical(rng.integers(0, n_levels, len(y))))
    verdict = nv.separate(frame, y, fit_intercept=fit_intercept)
    found = nv.detect_separation(frame, y, fit_intercept=fit_intercept, reference={"y": y.min()})
    assert verdict.logistic is not None
    assert verdict.responsible_columns is not None
    if len({*y.tolist()}) == 2:
        assert dict(verdict.logistic) == dict(found.coefficients)
    assert {*verdict.responsible_columns} == {*(found.responsible_columns or [])}


def test_a_constant_column_is_responsible_like_any_other_without_an_intercept() -> None:
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.array([-1, -1, 1, 1])
    assert oracle(X, y, False)[1] == [0, 1]
    assert nv.separate(X, y, fit_intercept=False).responsible_columns == [0, 1]
    assert nv.detect_separation(X, y, fit_intercept=False).responsible_columns == [0, 1]


EITHER = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0], [3.0, 3.0]]), np.array([-1, -1, 1, 1])
QUASI = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]]), np.array([-1, 1, -1, 1])


@pytest.mark.parametrize(
    ("mutant", "case"), [(by_the_sign_of_w, EITHER), (by_dependence_alone, QUASI)]
)
def test_the_oracle_tells_wrong_answers(
    mutant: Callable[[nv.Verdict], dict[Any, str]], case: tuple[Numbers, Indices]
) -> None:
    verdict = nv.separate(*case)
    truth, _ = oracle(*case, True)
    assert verdict.logistic == truth
    assert mutant(verdict) != truth


def test_dependent_columns_are_not_called_infinite() -> None:
    """x1 = x0 adds no information; only x2 separates."""
    x = np.array([0.0, 1.0, 0.0, 1.0, 2.0])
    X = np.column_stack([x, x, [0.0, 0.0, 0.0, 0.0, 1.0]])
    verdict = nv.separate(X, [-1, 1, 1, -1, 1])
    assert verdict.kind == "quasi-separable"
    assert verdict.logistic == {
        0: "finite", 1: "aliased", 2: "+inf", "(intercept)": "finite"
    }  # fmt: skip


@pytest.mark.parametrize(("factor", "aliased"), [(2.0, 1), (3.0, 0)])
def test_floats_of_any_size_are_exact(factor: float, aliased: int) -> None:
    """A third column that equals the sum of two only up to rounding is not in their span."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(40) * 1e-200, rng.standard_normal(40) * 1e150
    ones = np.ones(40, dtype=np.int8)
    problem = signed_problem(np.column_stack([a, factor * a, b]), ones, True)
    found = logistic_estimates(problem, Columns(range(3)), None, np.arange(0), Limits())
    assert list(found.coefficients.values()).count("aliased") == aliased


def test_wide_designs_have_an_answer() -> None:
    """Each of 600 rows has its own column, and determines the coefficient of this column."""
    verdict = nv.separate(np.eye(600), np.arange(600) % 2, goal="kind", fit_intercept=False)
    assert {*(verdict.logistic or {}).values()} == {"+inf", "-inf"}
    assert verdict.responsible_columns == []


@given(tables(), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_the_units_of_columns_do_not_matter(case: tuple[Numbers, Indices, bool], seed: int) -> None:
    """Columns times powers of two have the same estimates, however large or small."""
    X, y, fit_intercept = case
    scales = 2.0 ** np.random.default_rng(seed).choice([-900, -540, 0, 540, 900], X.shape[1])
    verdict = nv.separate(X * scales, y, fit_intercept=fit_intercept)
    wanted, guilty = oracle(X, y, fit_intercept)
    if verdict.logistic is not None:
        assert verdict.logistic == wanted
        assert verdict.responsible_columns == guilty


def test_a_sign_is_not_lost_where_a_product_of_weights_underflows() -> None:
    X, y = np.array([[0, -2], [2e300, 2], [-1e300, 0]]), np.array([1, 1, -1])
    verdict = nv.separate(X, y)
    assert (verdict.logistic, verdict.responsible_columns) == oracle(X, y, True)
    assert verdict.responsible_columns == [0]


# Determinants of data may be divisible by any of these primes near 2²¹, so no fixed primes suffice.
PRIMES = (1684679, 2066473, 1947629, 1083793, 1471403, 1054189, 1178897, 2094227, 2097143, 2097133)


@pytest.mark.parametrize("primes", [PRIMES[:8], PRIMES[-2:], PRIMES[::-1]])
def test_no_prime_misleads(primes: tuple[int, ...]) -> None:
    D = np.diag([float(p * q) for p, q in zip(primes[::2], primes[1::2], strict=True)])
    verdict = nv.separate(np.vstack([D, D]), [0] * len(D) + [1] * len(D), fit_intercept=False)
    assert set((verdict.logistic or {}).values()) == {"finite"}


def test_a_large_prime_does_not_mislead_either() -> None:
    """2⁶¹ − 1 is 1 in units of two columns, and the third is their exact sum but for one row."""
    q = 2**61 - 1
    halves = float(2**60), float(2**60 - 2**7), float(2**7 - 1)
    assert sum(map(int, halves)) == q
    X = np.array([[1.0, 0, 0], [0, 1, 0], [*halves[:2], 0], [halves[0], -halves[1], halves[2]]])
    A = np.vstack([X, np.diag([1.0, 1.0, halves[2]])])
    verdict = nv.separate(np.vstack([A, A]), [0] * len(A) + [1] * len(A), fit_intercept=False)
    assert set((verdict.logistic or {}).values()) == {"finite"}


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_null_spaces_are_exact(seed: int) -> None:
    """Dependent columns and their vectors against elimination over the rationals."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    X = rng.integers(-2, 3, size=(n, p)) * rng.choice([1.0, 0.1, 1e-200, 3e200], size=p)
    for j in range(1, p):
        if rng.random() < 0.3:
            X[:, j] = X[:, j - 1] * 2.0**3
    if rng.random() < 0.2:
        X[:, int(rng.integers(p))] = 0.0
    bias = bool(rng.random() < 0.5)
    matrix = csr(X) if rng.random() < 0.5 else X
    passes = LocalPasses(signed_problem(matrix, np.ones(n, dtype=np.int8), bias))
    rows = np.flatnonzero(rng.random(n) < 0.8)
    columns = rng.permutation(p + bias)[: max(1, int(rng.integers(p + bias + 1)))]
    A = np.hstack([X, np.ones((n, 1))])[rows]
    found = null_space(passes, rows, columns, Limits())
    exact = [[Fraction(value) for value in row] for row in A]
    before: list[int] = []
    for j in columns.tolist():
        few = [[row[k] for k in before] for row in exact]
        more = [[row[k] for k in (*before, j)] for row in exact]
        assert (j in found) == (rank(more) == rank(few))
        before.append(j)
    free = {*found}
    for j, vector in found.items():
        assert free & {*vector} == {j}
        assert all(sum(row[k] * value for k, value in vector.items()) == 0 for row in exact)
        assert {*vector} <= {*columns.tolist()[: columns.tolist().index(j) + 1]}
