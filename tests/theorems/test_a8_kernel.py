"""A8: the dual run makes at most R²/γ² mistakes in the feature space of the kernel.

With the linear kernel it makes the same mistakes as the perceptron.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

import novikoff as nv
from novikoff.core.kernels import Kernel
from novikoff.theory import mistake_bound
from tests.cases import case_named, csr, planted_integers
from tests.oracle import Vector


@pytest.mark.parametrize("average", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), bias=st.booleans(), sparse=st.booleans())
def test_the_linear_kernel_makes_the_run_of_the_perceptron(
    average: bool, seed: int, d: int, bias: bool, sparse: bool
) -> None:
    case = planted_integers(seed, 50, d, fit_intercept=bias)
    X = csr(case.X) if sparse else case.X
    given = {"random_state": 0, "fit_intercept": bias, "average": average}
    dual = nv.KernelPerceptron("linear").set_params(**given, trace=True).fit(X, case.signs)
    primal = nv.Perceptron().set_params(**given, trace=True).fit(X, case.signs)
    assert dual.update_counts_.tolist() == primal.update_counts_.tolist()
    one, other = dual.trace_, primal.trace_
    assert isinstance(one, type(other))
    for name in ("index", "n_steps", "margin", "squared_norm"):
        with case_named(name):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
    np.testing.assert_allclose(
        dual.decision_function(X), primal.decision_function(X), rtol=1e-9, atol=1e-9
    )
    counts = np.asarray(dual.update_counts_)
    if not average:
        used = np.flatnonzero(counts)
        assert dual.dual_coef_[0].tolist() == (counts * case.signs)[used].tolist()
    assert dual.n_support_ == np.count_nonzero(counts)


@pytest.mark.parametrize("kind", ["binary", "several classes"])
@pytest.mark.parametrize("warm", [False, True], ids=["anew", "warm"])
def test_a_run_in_random_order_ends_with_a_check_of_all_rows(kind: str, warm: bool) -> None:
    """Epochs of random draws may miss rows, so the scores of all rows decide whether a run ends."""
    y = np.arange(40) % (2 if kind == "binary" else 3)
    corners = np.array([[-6, -6], [6, 0], [0, 8]])
    X = np.random.default_rng(1).integers(-2, 3, (40, 2)).astype(float) + corners[y]
    common = {"order": "random", "random_state": 3, "max_epochs": 200, "warm_start": warm}
    dual = nv.KernelPerceptron("linear").set_params(**common)
    primal = nv.Perceptron().set_params(**common)
    for learner in (dual, primal):
        for _ in range(1 + warm):
            learner.fit(X, y)
    assert dual.converged_
    assert dual.n_iter_ == primal.n_iter_
    assert dual.score(X, y) == 1.0


def test_named_callable_and_precomputed_kernels_make_the_same_run() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.integers(-3, 4, size=(2, 60, 3)).astype(float)
    y = np.where((X**2).sum(axis=1) > 12.0, 1, -1)

    def poly(A: Vector, B: Vector) -> Vector:
        return np.asarray(polynomial_kernel(A, B, degree=2, gamma=1.0, coef0=1.0))

    common = {"order": "cyclic", "fit_intercept": False}
    named = nv.KernelPerceptron("poly", degree=2, gamma=1.0).set_params(**common).fit(X, y)
    called = nv.KernelPerceptron(poly).set_params(**common).fit(X, y)
    given = nv.KernelPerceptron("precomputed").set_params(**common).fit(poly(X, X), y)
    small = nv.KernelPerceptron("poly", degree=2, gamma=1.0, cache_mb=1e-6).set_params(**common)
    expected = named.decision_function(Z)
    runs = {"callable": (called, Z), "precomputed": (given, poly(Z, X)), "cache": (small, Z)}
    small.fit(X, y)
    for name, (clf, rows) in runs.items():
        assert clf.update_counts_.tolist() == named.update_counts_.tolist(), name
        assert clf.decision_function(rows).tolist() == expected.tolist(), name


def rings(seed: int, n: int = 150) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 * n, 2))
    X = X[np.abs((X**2).sum(axis=1) - 1.4) > 0.4][:n]
    return X, np.where((X**2).sum(axis=1) > 1.4, 1.0, -1.0)


def assert_bounded(mistakes: int, gram: Vector, y: Vector) -> None:
    """Compare with R²/γ², where γ is the measured margin of a support vector machine."""
    machine = SVC(C=1e6, kernel="precomputed").fit(gram, y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = machine.dual_coef_[0]
    bias = machine.intercept_[0]
    length = np.sqrt(alpha @ gram @ alpha + bias**2)  # of the rule in the space of K + 1
    margin = (y * (gram @ alpha + bias)).min() / length
    assert margin > 0.0
    assert mistakes <= mistake_bound(np.sqrt(np.diagonal(gram).max() + 1.0), margin)


@pytest.mark.parametrize("seed", range(3))
def test_mistakes_are_bounded_in_the_kernels_space(seed: int) -> None:
    X, y = rings(seed)
    gram = rbf_kernel(X, gamma=0.5)
    clf = nv.KernelPerceptron("rbf", gamma=0.5, trace=True, random_state=seed).fit(X, y)
    assert clf.converged_
    assert_bounded(clf.n_mistakes_, gram, y)
    assert not isinstance(clf.trace_, list)
    t, norms = np.arange(1, len(clf.trace_) + 1), clf.trace_.squared_norm
    assert (norms <= 2.0 * t + 1e-9).all()  # ‖w_t‖² ≤ t·R², R² = K + 1 = 2
    w = np.zeros(len(X))
    w[np.flatnonzero(np.asarray(clf.update_counts_))] = clf.dual_coef_[0]
    assert norms[-1] == pytest.approx(w @ (gram + 1.0) @ w)


@pytest.mark.parametrize("mutant", ["the sign forgotten", "the past forgotten", "a right row too"])
def test_a_wrong_dual_run_breaks_the_bound(mutant: str) -> None:
    X, y = rings(0)
    gram, coef, mistakes = rbf_kernel(X, gamma=0.5), np.zeros(len(X)), 0
    for _ in range(400):
        for i in range(len(X)):
            wrong = not y[i] * ((gram[i] + 1.0) @ coef) > 0.0
            mistakes += wrong
            if wrong and mutant == "the past forgotten":
                coef = y[i] * np.eye(len(y))[i]
            elif wrong or mutant == "a right row too":
                coef[i] += 1.0 if mutant == "the sign forgotten" else y[i]
    if mutant == "a right row too":  # then the counts are not numbers of mistakes
        assert np.abs(coef).sum() > mistakes
        mistakes = int(np.abs(coef).sum())
    with pytest.raises(AssertionError):
        assert_bounded(mistakes, gram, y)


def test_several_classes_share_one_set_of_support_vectors() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(-4, 5, size=(90, 3)).astype(float), rng.integers(0, 3, size=90)
    clf = nv.KernelPerceptron("linear", order="cyclic", max_epochs=5)
    with pytest.warns(UserWarning, match="feature space"):
        clf.fit(X, y)
    for k in range(3):
        with pytest.warns(UserWarning, match="separable"):
            alone = nv.Perceptron(order="cyclic", max_epochs=5).fit(X, y == k)
        scores = clf.decision_function(X)[:, k]
        np.testing.assert_allclose(scores, alone.decision_function(X), atol=1e-9)
    assert clf.dual_coef_.shape == (3, clf.n_support_)
    np.testing.assert_allclose(
        linear_kernel(X, clf.support_vectors_) @ clf.dual_coef_.T + clf.dual_coef_.sum(axis=1),
        clf.decision_function(X),
    )


# Rows 1 apart at 1.7e9: their squares have no digit left for the distance.
FAR = 1.7e9 + np.arange(4.0)[:, None]


@pytest.mark.parametrize("storage", [np.asarray, csr])
def test_mistakes_far_from_the_origin_stay_below_the_bound(storage: Any) -> None:
    """R²/γ² is 9.1 for these four rows."""
    clf = nv.KernelPerceptron(gamma=1.0, fit_intercept=False, order="cyclic")
    assert clf.fit(storage(FAR), [0, 1, 0, 1]).n_mistakes_ <= 9


@pytest.mark.parametrize("one", [np.asarray, csr])
@pytest.mark.parametrize("other", [np.asarray, csr])
def test_distances_between_rows_are_right_far_from_the_origin(one: Any, other: Any) -> None:
    X = np.vstack([FAR - 1.7e9, FAR])
    expected = np.exp(-((X - X.T) ** 2))
    np.testing.assert_allclose(Kernel("rbf").gram(one(X), other(X)), expected, rtol=1e-12, atol=0)
