"""Products on one core equal those of a BLAS, and so do the pulls of the descent."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core import products
from novikoff.core.products import dense_slopes, logistic_loss, logistic_slope, weighted_gram
from novikoff.core.rows import Dense, view
from novikoff.core.zero_one import add_near_rows, add_rows
from tests.oracle import signed

LARGE = [pytest.param(0, id="large"), pytest.param(1 << 40, id="small")]


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d", "lines"), [(1, 1, 1), (130, 7, 5), (67, 3, 15)])
def test_slopes_are_those_of_the_signed_rows(
    monkeypatch: pytest.MonkeyPatch, large: int, fit_intercept: bool, n: int, d: int, lines: int
) -> None:
    monkeypatch.setattr(products, "_LARGE", large)
    rng = np.random.default_rng(n)
    X, signs = rng.normal(size=(n, d)), rng.choice([-1, 1], size=n).astype(np.int8)
    V = rng.normal(size=(d + 1, lines))
    rows = view(X, signs, fit_intercept)
    assert isinstance(rows, Dense)
    A = signed(X, signs, fit_intercept)
    np.testing.assert_allclose(dense_slopes(rows, V), (A @ V).T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 5), (43, 6)])
def test_a_gram_matrix(monkeypatch: pytest.MonkeyPatch, large: int, n: int, p: int) -> None:
    monkeypatch.setattr(products, "_LARGE", large)
    rng = np.random.default_rng(p)
    A, weights = rng.normal(size=(n, p)), rng.random(n)
    expected = A.T @ np.diag(weights) @ A
    np.testing.assert_allclose(weighted_gram(A, weights), expected, rtol=1e-12, atol=1e-12)


def test_the_slope_is_the_derivative_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    A, u, prices = rng.normal(size=(30, 4)), rng.normal(size=4), rng.random(30)
    direct = float(prices @ np.logaddexp(0.0, -A @ u))
    assert logistic_loss(A, u, prices) == pytest.approx(direct, rel=1e-12)
    bends = np.empty(30)
    slope = logistic_slope(A, u, prices, bends)
    for j, step in enumerate(1e-5 * np.eye(4)):
        ahead, behind = logistic_loss(A, u + step, prices), logistic_loss(A, u - step, prices)
        assert slope[j] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)
        change = logistic_slope(A, u + step, prices, np.empty(30)) - logistic_slope(
            A, u - step, prices, np.empty(30)
        )
        np.testing.assert_allclose(change / 2e-5, weighted_gram(A, bends)[j], rtol=1e-6)


def test_a_loss_beyond_the_range_of_exp() -> None:
    A, prices = np.array([[1e4], [-1e4]]), np.ones(2)
    assert logistic_loss(A, np.ones(1), prices) == 1e4


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_pulls_are_sums_of_rows(fit_intercept: bool) -> None:
    rng = np.random.default_rng(1)
    X, signs = rng.normal(size=(50, 3)), rng.choice([-1, 1], size=50).astype(np.int8)
    rows, A = view(X, signs, fit_intercept), signed(X, signs, fit_intercept)
    s, widths = rng.normal(size=50), np.array([0.0, 0.3, 10.0])
    near, picked = np.zeros((3, 4)), np.zeros((2, 4))
    add_near_rows(rows, s, widths, near)
    add_rows(rows, np.array([4, 4]), picked)
    assert not near[0].any()
    for k in (1, 2):
        shares = np.maximum(0.0, 1.0 - np.abs(s) / widths[k])
        np.testing.assert_allclose(near[k], shares @ A, rtol=1e-12, atol=1e-12)
    assert picked.tolist() == [A[4].tolist()] * 2
