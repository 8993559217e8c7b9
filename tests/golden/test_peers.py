"""The perceptrons of other libraries make the same updates on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Hashable

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as ScikitPerceptron

import novikoff as nv


@pytest.mark.parametrize("epochs", [1, 7])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_scikit_learn_in_the_order_of_the_rows(epochs: int, fit_intercept: bool) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    theirs = ScikitPerceptron(fit_intercept=fit_intercept, max_iter=epochs, shuffle=False, tol=None)
    ours = nv.Perceptron(fit_intercept=fit_intercept, max_epochs=epochs, order="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(X, y)
        ours.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)


def test_scikit_learn_one_vs_rest_on_sparse_rows() -> None:
    X, y = load_digits(return_X_y=True)
    theirs = ScikitPerceptron(fit_intercept=False, max_iter=4, shuffle=False, tol=None)
    ours = nv.Perceptron(fit_intercept=False, max_epochs=4, order="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(sp.csr_array(X), y)
        ours.fit(sp.csr_array(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_river_one_example_at_a_time() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    y = X @ rng.normal(size=8) > 0.2
    river = pytest.importorskip("river.linear_model", reason="river is in the extra dev alone")
    theirs, ours = river.Perceptron(), nv.Perceptron()
    ours.partial_fit(X[:1], y[:1], classes=[False, True])
    first: dict[Hashable, float] = dict(enumerate(X[0].tolist()))
    theirs.learn_one(first, bool(y[0]))
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        features: dict[Hashable, float] = dict(enumerate(x.tolist()))
        assert ours.predict_one(x) == theirs.predict_one(features)
        ours.learn_one(x, label)
        theirs.learn_one(features, label)
    weights = [theirs.weights[j] for j in range(8)]
    np.testing.assert_allclose(ours.coef_[0], weights, rtol=1e-9)
