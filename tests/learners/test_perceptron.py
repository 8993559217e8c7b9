"""The guarantees of the estimator beyond scikit-learn's contract."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.trace import Trace
from novikoff.learners.arrays import MatrixLike
from novikoff.learners.parameters import OrderLike
from tests.cases import case_named

Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def separable(n: int, d: int, seed: int) -> tuple[Matrix, Labels]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = X @ rng.normal(size=d) + 0.3
    far = np.abs(f) > 0.3
    return X[far], (f[far] > 0).astype(np.int64)


def quietly_fitted(clf: nv.Perceptron, X: MatrixLike, y: npt.ArrayLike) -> nv.Perceptron:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clf.fit(X, y)


@pytest.mark.parametrize("order", [*nv.orders.BY_NAME, nv.orders.Blocks(7)], ids=str)
def test_a_clean_cycle_means_that_every_row_is_right(order: OrderLike) -> None:
    X, y = separable(300, 6, 0)
    clf = nv.Perceptron(order=order, random_state=0).fit(X, y)
    assert clf.converged_
    assert clf.score(X, y) == 1.0
    assert (np.where(y == 1, 1, -1) * clf.decision_function(X) > 0).all()


@pytest.mark.parametrize("order", ["permuted", "max_distance"], ids=str)
def test_the_weights_are_the_counted_rows(order: Any) -> None:
    X, y = separable(200, 5, 2)
    clf = nv.Perceptron(order=order, step_size=0.5, random_state=3).fit(X, y)
    A = np.column_stack([X, np.ones(len(X))]) * np.where(y == 1, 1, -1)[:, None]
    w = 0.5 * clf.update_counts_ @ A
    np.testing.assert_allclose(np.append(clf.coef_[0], clf.intercept_), w, atol=1e-9)
    assert clf.update_counts_.sum() == clf.n_updates_ == clf.n_mistakes_


@pytest.mark.parametrize("threshold", [0.0, 2.0], ids=str)
def test_counts_updates_and_mistakes_apart(threshold: Any) -> None:
    X, y = separable(200, 4, 3)
    clf = nv.Perceptron(order="cyclic", threshold=threshold, trace=True).fit(X, y)
    assert isinstance(clf.trace_, Trace)
    assert clf.n_updates_ == len(clf.trace_)
    assert clf.n_mistakes_ == (clf.trace_.margin <= 0).sum()
    assert (clf.n_mistakes_ < clf.n_updates_) == (threshold > 0)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_dense_and_sparse_agree_to_the_bit(multi_class: Literal["ovr", "ovo"]) -> None:
    X, y = load_digits(return_X_y=True)
    make = nv.Perceptron(multi_class=multi_class, max_epochs=5, random_state=0)
    dense = quietly_fitted(make, X, y)
    coef, updates = dense.coef_, dense.n_updates_
    scores = dense.decision_function(X)
    sparse = quietly_fitted(make, sp.csr_matrix(X), y)
    np.testing.assert_array_equal(sparse.coef_, coef)
    assert sparse.n_updates_ == updates
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(X)), scores, rtol=1e-12)


def test_one_vs_one_trains_every_pair_alone() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    clf = nv.Perceptron(multi_class="ovo", order="cyclic").fit(X, y)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert clf.coef_.shape == (3, X.shape[1])
    for rule, (first, second) in enumerate(pairs):
        with case_named((first, second)):
            members = (y == first) | (y == second)
            alone = nv.Perceptron(order="cyclic").fit(X[members], y[members])
            np.testing.assert_array_equal(clf.coef_[rule], alone.coef_[0])
            assert isinstance(clf.update_counts_, sp.csr_array)
            counts = clf.update_counts_.toarray()[rule]
            np.testing.assert_array_equal(counts[members], alone.update_counts_)
            assert not counts[~members].any()


def test_the_average_is_over_the_weights_after_every_step() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    y = (rng.random(60) < 0.5).astype(np.int64)
    w, mean = np.zeros(4), np.zeros(4)
    for _ in range(3):
        for x, sign in zip(np.column_stack([X, np.ones(60)]), 2 * y - 1, strict=True):
            if sign * (x @ w) <= 0:
                w = w + sign * x
            mean += w
    clf = quietly_fitted(nv.Perceptron(average=True, order="cyclic", max_epochs=3), X, y)
    np.testing.assert_allclose(clf.coef_[0], mean[:3] / 180, rtol=1e-12)
    np.testing.assert_allclose(clf.intercept_, mean[3:] / 180, rtol=1e-12)


def test_starting_weights() -> None:
    X, y = separable(200, 4, 5)
    solution = nv.Perceptron().fit(X, y)
    again = nv.Perceptron().fit(X, y, coef_init=solution.coef_, intercept_init=solution.intercept_)
    assert again.n_updates_ == 0
    np.testing.assert_array_equal(again.coef_, solution.coef_)
    warm = nv.Perceptron(warm_start=True).fit(X, y)
    assert warm.n_updates_ > 0
    assert warm.fit(X, y).n_updates_ == 0
    with pytest.raises(ValueError, match="warm_start"):
        warm.fit(X, np.where(y == 1, 5, 6))


def test_weights_scale_steps_and_zero_takes_no_part() -> None:
    X, y = separable(100, 3, 6)
    flipped = y.copy()
    flipped[:10] = 1 - flipped[:10]
    weight = np.where(np.arange(len(y)) < 10, 0.0, 1.0)
    clf = nv.Perceptron(order="cyclic").fit(X, flipped, sample_weight=weight)
    alone = nv.Perceptron(order="cyclic").fit(X[10:], y[10:])
    np.testing.assert_array_equal(clf.coef_, alone.coef_)
    doubled = nv.Perceptron(order="cyclic", class_weight={0: 2.0, 1: 2.0}).fit(X, y)
    np.testing.assert_array_equal(
        doubled.coef_, 2.0 * nv.Perceptron(order="cyclic").fit(X, y).coef_
    )


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_threads_change_nothing(multi_class: Literal["ovr", "ovo"]) -> None:
    X, y = load_digits(return_X_y=True)
    one = nv.Perceptron(multi_class=multi_class, max_epochs=3, random_state=0)
    two = clone(one).set_params(n_jobs=2)
    quietly_fitted(one, X, y)
    quietly_fitted(two, X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_says_when_no_cycle_was_clean() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    with pytest.warns(
        ConvergenceWarning, match=r"limit on epochs \(max_epochs\)\.\n.* or use novikoff\.Pocket"
    ):
        clf = nv.Perceptron(max_epochs=10).fit(X, y)
    assert not clf.converged_
    assert clf.n_iter_ == 10
    with pytest.warns(ConvergenceWarning, match="limit on updates"):
        assert nv.Perceptron(max_updates=7).fit(X, y).n_updates_ == 7
    with pytest.warns(ConvergenceWarning, match="time limit"):
        nv.Perceptron(max_epochs=None, max_seconds=0.05).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="end of the order's sequence"):
        nv.Perceptron(order=nv.orders.Chaotic([0, 1, 2, 3] * 3, window=4)).fit(X, y)


@pytest.mark.parametrize("scale", [None, "standard"])
def test_converged_means_that_every_score_exceeds_the_threshold(
    scale: Literal["standard"] | None,
) -> None:
    """The loop adds 0.49 + 0.16 + 0.01 − 0.36 to a sum above 0.3, and `predict` to 0.3 itself."""
    X, y = np.array([[0.7, -0.4, -0.1], [-0.9, -0.6, -0.5]]), np.array([0, 1])
    clf = nv.Perceptron(order="cyclic", threshold=0.3, step_size=0.1, max_epochs=100, scale=scale)
    quietly_fitted(clf, X, y)
    margins = clf.decision_function(X) * np.where(y, 1, -1)
    assert clf.converged_ == bool((margins > 0.3).all())
    if scale is None:
        with pytest.warns(ConvergenceWarning, match="not beyond the threshold"):
            clone(clf).fit(X, y)


def test_the_trace_takes_a_reference() -> None:
    X, y = separable(100, 3, 7)
    w_star = nv.Perceptron().fit(X, y)
    reference = np.append(w_star.coef_[0], w_star.intercept_[0])
    clf = nv.Perceptron(order="cyclic", trace=reference).fit(X, y)
    final = np.append(clf.coef_[0], clf.intercept_[0])
    trace = clf.trace_
    assert isinstance(trace, Trace)
    assert trace.inner is not None
    assert trace.inner[-1] == pytest.approx(final @ reference)
    assert trace.squared_norm[-1] == pytest.approx(final @ final)
    with pytest.raises(ValueError, match="reference"):
        nv.Perceptron(trace=[1.0]).fit(X, y)
    several = nv.Perceptron(trace=True, max_epochs=2)
    assert len(quietly_fitted(several, *load_iris(return_X_y=True)).trace_) == 3


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.inf], [0.0, 1.0]], [0, 1], "infinity in row 0, column 1"),
        (sp.csr_array([[0.0, 1.0], [0.0, np.nan]]), [0, 1], "NaN in row 1, column 1"),
        (np.empty((0, 2)), [], "no rows"),
        (np.empty((2, 0)), [0, 1], "0 feature"),
        ([[1e308, 1e308], [-1e308, 1e308]], [0, 1], "range of float64"),
    ],
)
def test_bad_input_is_rejected_with_an_error(X: MatrixLike, y: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nv.Perceptron().fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", "sideways"),
        ("order", nv.orders.Cyclic),
        ("threshold", -1.0),
        ("threshold", np.inf),
        ("step_size", 0.0),
        ("step_size", "1"),
        ("average", 1),
        ("average", "voted"),
        ("max_epochs", 0),
        ("max_updates", 1.5),
        ("max_seconds", 0),
        ("multi_class", "all"),
        ("class_weight", [1, 2]),
        ("warm_start", 1),
        ("trace", 3),
        ("random_state", -1),
        ("n_jobs", 0),
        ("verbose", -1),
    ],
)
def test_parameters_are_checked(name: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Perceptron must be .*, not"):
        nv.Perceptron().set_params(**{name: value}).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0, -1.0], "egative"), ([0.0, 0.0], "zero"), ([1.0], "shape")],
    ids=str,
)
def test_bad_weights_are_rejected(weight: list[float], message: str) -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    clf = nv.Perceptron()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y, sample_weight=weight)


def test_bad_starts_are_rejected() -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    clf = nv.Perceptron()
    with pytest.raises(ValueError, match="coef_init must be finite"):
        clf.fit(X, y, coef_init=[[np.nan]])
    with pytest.raises(ValueError, match=r"coef_init has shape \(1, 3\)"):
        clf.fit(X, y, coef_init=[[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="intercept_init must be zero"):
        nv.Perceptron(fit_intercept=False).fit(X, y, intercept_init=[1.0])
    with pytest.raises(ValueError, match="features"):
        clf.fit(X, y).predict([[1.0, 2.0]])


def test_prediction_keeps_to_the_intercept_it_was_fitted_with() -> None:
    X, y = separable(100, 2, 9)
    clf = nv.Perceptron(warm_start=True).fit(X + 3.0, y)
    assert clf.set_params(fit_intercept=False).score(X + 3.0, y) == 1.0
    with pytest.raises(ValueError, match="intercept of zero"):
        clf.fit(X + 3.0, y)


def test_orders_that_name_rows_and_separate_problems() -> None:
    X, y = load_iris(return_X_y=True)
    given = nv.Perceptron(order=nv.orders.Random(np.ones(150)), max_epochs=3, multi_class="ovo")
    quietly_fitted(given, X, y)
    chaotic = nv.Perceptron(order=nv.orders.Chaotic(range(150), 150), multi_class="ovo")
    with pytest.raises(ValueError, match="need several runs"):
        chaotic.fit(X, y)
    one, two = (
        nv.Perceptron(order=nv.orders.Chaotic([*range(150)] * 8, 150), n_jobs=jobs)
        for jobs in (1, 2)
    )
    quietly_fitted(one, X, y)
    quietly_fitted(two, X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


class Lawless:
    """An order that yields row numbers that do not exist."""

    covers = True

    def epochs(
        self, candidates: nv.orders.Candidates, rng: np.random.Generator
    ) -> Iterator[Labels]:
        yield np.array([10**10])


def test_indices_are_checked_before_they_are_followed() -> None:
    X, y = separable(20, 3, 10)
    with pytest.raises(ValueError, match="row numbers from 0 to"):
        nv.Perceptron(order=Lawless()).fit(X, y)
    wild = sp.csr_array((np.ones(2), [0, 10**9], [0, 1, 2]), shape=(2, 3))
    with pytest.raises(ValueError, match="ind"):
        nv.Perceptron().fit(wild, [0, 1])


def test_votes_of_pairs_and_scores_agree_on_large_data() -> None:
    X, y = load_iris(return_X_y=True)
    clf = quietly_fitted(nv.Perceptron(multi_class="ovo", max_epochs=3), X * 1e12, y)
    chosen = clf.decision_function(X * 1e12).argmax(axis=1)
    np.testing.assert_array_equal(chosen, clf.predict(X * 1e12))


def test_a_warm_start_needs_the_rules_of_the_last_fit() -> None:
    X, _ = separable(90, 3, 1)
    y = np.arange(len(X)) % 3
    clf = quietly_fitted(nv.Perceptron(warm_start=True, max_updates=9), X, y)
    before = clf.coef_
    clf.set_params(multi_class="ovo")
    with pytest.raises(ValueError, match="needs the same multi_class as the last fit"):
        clf.fit(X, y)
    np.testing.assert_array_equal(clf.coef_, before)
    quietly_fitted(clf.set_params(warm_start=False), X, y)
    quietly_fitted(clf.set_params(warm_start=True), X, y)
