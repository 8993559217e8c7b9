"""scikit-learn's checks for `MaxMargin`, where their data is separable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from novikoff.geometry.verdict import Verdict
from tests.contract.checks import failed_checks

CONFIGURATIONS = [nv.MaxMargin(), nv.MaxMargin("padded", multi_class="ovo")]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_estimator(estimator: BaseEstimator) -> None:
    """A check may fail only because it fits data that no hyperplane separates."""
    for name, error in failed_checks(estimator).items():
        assert any(isinstance(cause, nv.NotSeparableError) for cause in _causes(error)), name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bias", "sideways"),
        ("fit_intercept", "yes"),
        ("tol", 0.0),
        ("tol", 1),
        ("tol", "small"),
        ("multi_class", None),
        ("max_seconds", -1.0),
    ],
)
def test_parameters_are_checked(name: str, value: object) -> None:
    model = nv.MaxMargin().set_params(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter of MaxMargin must be .*, not"):
        model.fit([[0.0], [1.0]], [0, 1])


def test_it_works_in_a_pipeline_and_a_search() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), nv.MaxMargin())
    search = GridSearchCV(
        pipeline, {"maxmargin__bias": ["free", "padded"]}, cv=3, error_score="raise"
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_a_failed_fit_leaves_the_estimator_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = nv.MaxMargin().fit(X, y == 0)
    before = model.coef_
    with pytest.raises(nv.NotSeparableError) as caught:
        model.fit(X[:, :2], y == 1)
    assert model.n_features_in_ == 4
    assert np.array_equal(model.coef_, before)
    caught.value.certificate.verify(X[:, :2], y == 1)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("bias", ["free", "padded"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_it_is_what_its_attributes_say(
    bias: Literal["free", "padded"], multi_class: Literal["ovr", "ovo"]
) -> None:
    X, y = load_wine(return_X_y=True)
    model = nv.MaxMargin(bias, multi_class=multi_class).fit(X, y)
    assert model.score(X, y) == 1.0
    assert isinstance(model.support_, list)
    assert isinstance(model.dual_coef_, list)
    assert isinstance(model.margin_, list)
    for k in range(3):
        support, dual, margin = model.support_[k], model.dual_coef_[k], model.margin_[k]
        w, b = model.coef_[k], model.intercept_[k]
        np.testing.assert_allclose(dual @ X[support], w, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(
            np.sign(dual) * (X[support] @ w + b), 1.0, rtol=1e-5
        )  # the support vectors determine the margin
        size = np.linalg.norm(w if bias == "free" else np.append(w, b))
        assert margin.lo * (1 - 1e-6) <= 1.0 / size <= margin.hi * (1 + 1e-6)
        if bias == "free":
            assert abs(dual.sum()) <= 1e-9 * np.abs(dual).max()


def test_the_widest_gap_proves_its_verdict() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) + 3.0
    w = rng.normal(size=5)
    y = np.where(X @ w > np.median(X @ w), 4, -7)
    X += 0.01 * np.sign(y)[:, None] * w
    model = nv.MaxMargin().fit(X, y)
    verdict, padded = model.verdict_, nv.separate(X, y)
    assert isinstance(verdict, Verdict)
    assert verdict.certificate is not None
    verdict.certificate.verify(X, y)
    assert model.classes_.tolist() == [-7, 4]
    assert verdict.margin.lo <= padded.margin.hi
    assert padded.margin.lo <= verdict.margin.hi
    assert verdict.geometric_margin.relative_width <= 1e-8
    assert verdict.geometric_margin.lo <= padded.geometric_margin.hi
    assert padded.geometric_margin.lo <= verdict.geometric_margin.hi


def test_no_gap_is_proved_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.where(X[:, 0] > 0.0, 1, 0)
    y[:3] ^= 1
    with pytest.raises(nv.NotSeparableError) as caught:
        nv.MaxMargin().fit(X, y)
    assert caught.value.verdict.kind == "inseparable"
    caught.value.certificate.verify(X, y)
