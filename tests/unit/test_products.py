"""Products on one core equal those of a BLAS, and so do the pulls of the descent."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.core import products
from novikoff.core.products import (
    fill_slopes,
    logistic_loss,
    logistic_slope,
    signed_columns,
    slopes,
    weighted_gram,
)
from novikoff.core.rows import Vector, view
from novikoff.core.smooth import go_along
from novikoff.core.zero_one import add_near_rows, add_rows, draw_lines
from tests.oracle import signed

LARGE = [pytest.param(0, id="large"), pytest.param(1 << 40, id="small")]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (31, 2), (33, 7)])
def test_columns_are_the_signed_rows(fit_intercept: bool, sparse: bool, n: int, d: int) -> None:
    rng = np.random.default_rng(n)
    X, signs = rng.normal(size=(n, d)), rng.choice([-1, 1], size=n).astype(np.int8)
    rows = view(sp.csr_array(X) if sparse else X, signs, fit_intercept)
    assert signed_columns(rows, n, d + 1).tolist() == signed(X, signs, fit_intercept).T.tolist()


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize(("n", "p", "lines"), [(1, 1, 1), (130, 7, 5), (600, 4, 15), (67, 10, 2)])
def test_slopes_are_products(
    monkeypatch: pytest.MonkeyPatch, large: int, n: int, p: int, lines: int
) -> None:
    monkeypatch.setattr(products, "_LARGE", large)
    rng = np.random.default_rng(n)
    C, V = rng.normal(size=(p, n)), rng.normal(size=(lines, p))
    np.testing.assert_allclose(slopes(C, V), V @ C, rtol=1e-12, atol=1e-12)


def test_slopes_of_some_lines_leave_the_others_alone() -> None:
    rng = np.random.default_rng(0)
    C, V, Q = rng.normal(size=(3, 20)), rng.normal(size=(6, 3)), np.full((6, 20), 7.0)
    fill_slopes(C, V, np.array([1, 2, 4]), Q)
    np.testing.assert_allclose(Q[[1, 2, 4]], (V @ C)[[1, 2, 4]], rtol=1e-12, atol=1e-12)
    assert (Q[[0, 3, 5]] == 7.0).all()


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 5), (43, 6), (600, 3), (9, 8)])
def test_a_gram_matrix(monkeypatch: pytest.MonkeyPatch, large: int, n: int, p: int) -> None:
    monkeypatch.setattr(products, "_LARGE", large)
    rng = np.random.default_rng(p)
    C, weights = rng.normal(size=(p, n)), rng.random(n)
    expected = C @ np.diag(weights) @ C.T
    found = weighted_gram(C, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert found.tolist() == found.T.tolist() or large == 0


def test_the_slope_is_the_derivative_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    C, u, prices = rng.normal(size=(4, 30)), rng.normal(size=4), rng.random(30)

    def loss(u: Vector) -> float:
        return float(logistic_loss(u @ C, prices))

    def slope_at(u: Vector) -> tuple[Vector, Vector]:
        pulls, bends = np.empty(30), np.empty(30)
        return logistic_slope(C, u @ C, prices, pulls, bends), bends

    assert loss(u) == pytest.approx(float(prices @ np.logaddexp(0.0, -u @ C)), rel=1e-12)
    slope, bends = slope_at(u)
    for j, step in enumerate(1e-5 * np.eye(4)):
        assert slope[j] == pytest.approx((loss(u + step) - loss(u - step)) / 2e-5, rel=1e-6)
        change = slope_at(u + step)[0] - slope_at(u - step)[0]
        np.testing.assert_allclose(change / 2e-5, weighted_gram(C, bends)[j], rtol=1e-6)


@pytest.mark.parametrize(("stretch", "share"), [(1.0, 1.0), (64.0, 1.0 / 64.0)])
def test_a_step_too_long_is_shortened(stretch: float, share: float) -> None:
    """On one row and its mirror image the loss is even; its least is at zero."""
    C, u, prices = np.array([[1.0, -1.0]]), np.array([3.0]), np.ones(2)
    m, step = u @ C, np.array([-3.0 * stretch])
    before = float(logistic_loss(m, prices))
    after = go_along(C, prices, 0.0, u, m, step, before, -1e-4)
    assert u.tolist() == [3.0 - 3.0 * stretch * share]
    assert m.tolist() == [u[0], -u[0]]
    assert after == float(logistic_loss(m, prices)) < before


def test_a_loss_beyond_the_range_of_exp() -> None:
    assert logistic_loss(np.array([1e4, -1e4]), np.ones(2)) == 1e4


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


@pytest.mark.parametrize("metric", [np.empty((0, 3)), np.diag([1.0, 2.0, 4.0])])
def test_lines_are_axes_slopes_and_wrong_rows_by_turns(metric: Vector) -> None:
    rng = np.random.default_rng(2)
    X, signs = rng.normal(size=(40, 2)), rng.choice([-1, 1], size=40).astype(np.int8)
    rows, A, s = view(X, signs, True), signed(X, signs, True), rng.normal(size=40)
    draws, V = np.array([[0.0, 0.999], [5.0 / 7.0, 1.0 - 1e-16], [0.0, 0.999]]), np.zeros((6, 3))
    axes = draw_lines(rows, s, metric, draws, V)
    wrong = np.flatnonzero(s <= 0.0)
    reach = float(np.median(-s[wrong]))
    turned = metric if len(metric) > 0 else np.eye(3)
    assert axes.tolist() == [0, 2]
    assert V[::3].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    for k, width in enumerate((reach, 4.0 * reach)):
        slope = np.maximum(0.0, 1.0 - np.abs(s) / width) @ A
        np.testing.assert_allclose(V[3 * k + 1], turned @ slope, rtol=1e-9, atol=1e-9)
    assert V[2::3].tolist() == (A[wrong[[0, -1]]] @ turned).tolist()
