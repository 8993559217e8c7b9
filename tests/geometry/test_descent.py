"""The descent to fewer mistakes: its line search, and the rules from which it starts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits, Stop
from novikoff.geometry.descent import descend, line_search, logistic, whitening
from tests.cases import csr, noisy
from tests.oracle import cost, signed

LogisticRegression = import_module("sklearn.linear_model").LogisticRegression  # it has no types


def exact_cost(s: Vector, q: Vector, costs: Vector, t: Fraction) -> float:
    pairs = zip(s.tolist(), q.tolist(), strict=True)
    return float(costs[[Fraction(a) + t * Fraction(b) <= 0 for a, b in pairs]].sum())


@given(st.data(), st.integers(1, 12))
def test_a_line_search_is_exact(data: st.DataObject, n: int) -> None:
    """Compared with every interval between two breakpoints, including ties and flat rows."""

    def column(low: int, high: int) -> Vector:
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), float)

    s, q, costs = column(-5, 5), column(-3, 3), column(0, 4) / 4.0
    found, t = line_search(s, q, costs)
    breaks = sorted({-Fraction(a) / Fraction(b) for a, b in zip(s, q, strict=True) if b})
    middles = [(a + b) / 2 for a, b in pairwise(breaks)]
    ends = [breaks[0] - 1, breaks[-1] + 1] if breaks else []
    tried = [exact_cost(s, q, costs, at) for at in [Fraction(0), *middles, *ends]]
    assert found == min(tried[1:] or tried)
    assert exact_cost(s, q, costs, Fraction(t)) == found <= tried[0]  # no worse than no step


def test_the_widest_of_equal_stretches_is_taken() -> None:
    s, q = np.array([-1.0, 2.0, -10.0, 20.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert line_search(s, q) == (1.0, 15.0)
    assert line_search(s, np.zeros(4)) == (2.0, 0.0)
    huge_and_small = np.array([1.0, 2.0**-53, 2.0**-53])  # their sum minus each is below zero
    assert line_search(np.array([-3.0, -1.0, -2.0]), np.ones(3), huge_and_small)[0] == 0.0


@pytest.mark.parametrize("storage", [np.asarray, csr, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_descent_only_goes_down(fit_intercept: bool, storage: Callable[[Vector], Vector]) -> None:
    X, signs = noisy(1, 80, 3)
    problem, A = signed_problem(storage(X), signs, fit_intercept), signed(X, signs, fit_intercept)
    rng = np.random.default_rng(0)
    costs = rng.choice(np.array([0.25, 1.0, 3.5]), size=80)
    basis = whitening(problem, rng)
    w = np.append(rng.normal(size=3), rng.normal() * fit_intercept)
    before = w.copy()
    gains = list(descend(problem, w, costs, basis, Limits(), rng))
    errors = [cost(A, w, costs), *(price for _, price in gains)]
    assert len(gains) > 0
    assert all(after < before for before, after in pairwise(errors))
    assert all(cost(A, found, costs) == price for found, price in gains)
    assert fit_intercept or not any(found[-1] for found, _ in gains)
    assert w.tolist() == before.tolist()
    assert not list(descend(problem, w, costs, basis, Limits(seconds=0.0), rng))


def test_a_smooth_start_is_a_logistic_regression() -> None:
    """It equals logistic regression on whitened columns with C = 1/penalty and a penalised bias."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5] + 1000.0
    problem = signed_problem(X, np.where(y > 0, 1, -1).astype(np.int8), True)
    basis = whitening(problem, np.random.default_rng(0))
    white = np.column_stack([X, np.ones(len(X))]) @ basis.T
    np.testing.assert_allclose(white.T @ white / len(X), np.eye(6), atol=1e-2)
    w = logistic(problem, None, basis, Limits(), penalty=1.0)
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(white, y)
    np.testing.assert_allclose(X @ w[:-1] + w[-1], white @ peer.coef_[0], atol=0.05)


def test_costs_too_small_to_be_lowered_by_a_thousandth_end_a_descent() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = signed_problem(X, np.array([1, -1, 1, -1], dtype=np.int8), True)
    rng, lines = np.random.default_rng(0), 0

    class Looks(Limits):
        def reached(self, n_epochs: int = 0) -> Stop | None:
            nonlocal lines
            lines += 1
            return Stop.CALLBACK if lines > 20_000 else None

    w, costs = np.array([0.0, 1.0]), np.full(4, 5e-324)
    list(descend(problem, w, costs, whitening(problem, rng), Looks(), rng))
    assert lines < 20_000
