"""Learning one example at a time equals learning a stream of rows, and models can grow."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Hashable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import novikoff as nv
from novikoff.learners.arrays import Example
from tests.cases import case_named

Matrix = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def digits() -> tuple[Matrix, npt.NDArray[np.int64]]:
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16.0, y[:400]


def test_dicts_one_by_one_are_a_stream_of_rows(
    digits: tuple[Matrix, npt.NDArray[np.int64]],
) -> None:
    """`test_family` and `test_model` test vectors, and every scheme."""
    X, y = digits
    X, y, classes = X[y < 4], y[y < 4], np.arange(4)
    one = nv.Perceptron(average=True, multi_class="ovo", threshold=5.0)
    one.partial_fit(X[:1], y[:1], classes=classes)
    for x, label in zip(X[1:], y[1:], strict=True):
        one.learn_one(dict(enumerate(x)), label)
    rows = nv.Perceptron(average=True, multi_class="ovo", threshold=5.0)
    for part in np.array_split(np.arange(len(X)), 5):
        rows.partial_fit(X[part], y[part], classes=classes)
    np.testing.assert_allclose(one.coef_, rows.coef_, rtol=1e-9, atol=1e-12)
    assert (one.n_updates_, one.n_mistakes_) == (rows.n_updates_, rows.n_mistakes_)
    assert one.n_mistakes_ < one.n_updates_
    assert [one.predict_one(dict(enumerate(x))) for x in X] == one.predict(X).tolist()


def test_classes_are_taken_in_as_they_appear(
    digits: tuple[Matrix, npt.NDArray[np.int64]],
) -> None:
    X, y = digits
    two = y < 2
    known = nv.Perceptron().partial_fit(X[two], y[two], classes=[0, 1])
    for flip in (False, True):  # the first class may turn out to be the positive one
        with case_named(flip):
            labels = np.where(flip, 1 - y, y)
            met = nv.Perceptron()
            for x, label in zip(X[two], labels[two].tolist(), strict=True):
                met.learn_one(x, label)
            sign = -1.0 if flip else 1.0
            np.testing.assert_array_equal(met.coef_, sign * known.coef_)
            assert met.classes_.tolist() == [0, 1]
    for multi_class in ("ovr", "ovo"):
        with case_named(multi_class):
            clf = nv.Perceptron().set_params(multi_class=multi_class)
            for _ in range(8):
                for x, label in zip(X, y.tolist(), strict=True):
                    clf.learn_one(x, label)
            assert clf.classes_.tolist() == list(range(10))
            assert clf.score(X, y) > 0.95


def test_features_are_taken_in_as_they_appear() -> None:
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(200)]
    truth = dict(zip(words, rng.normal(size=200), strict=True))
    clf, dense = nv.Perceptron(), np.zeros((300, 200))
    labels = []
    for i in range(300):
        chosen = rng.choice(200, size=10, replace=False)
        x = {words[j]: float(rng.integers(1, 4)) for j in chosen}
        labels.append(sum(truth[w] * v for w, v in x.items()) > 0)
        for w, v in x.items():
            dense[i, words.index(w)] = v
        clf.learn_one(x, labels[-1])
    assert clf.n_features_in_ == 200
    seen = [words.index(name) for name in clf.feature_names_in_]
    rows = nv.Perceptron().partial_fit(dense, labels, classes=[False, True])
    np.testing.assert_allclose(clf.coef_[0], rows.coef_[0, seen])
    assert clf.n_mistakes_ == rows.n_mistakes_
    assert clf.predict_one({"never": 3.0, **x}) == clf.predict_one(x)
    assert clf.n_features_in_ == 200


def test_predicts_nothing_before_it_has_seen_anything() -> None:
    clf = nv.Perceptron()
    assert clf.predict_one([1.0, 2.0]) is None
    assert clf.learn_one([1.0, 2.0], "only").predict_one([-1.0, -2.0]) == "only"


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, 2.0, 3.0], 0, "2 features are expected"),
        ([1.0, np.nan], 0, "nan in column 1"),
        (np.array([1.0, np.inf]), 0, "inf in column 1"),
        (np.array([[1.0, 2.0]]), 0, "2 features are expected"),
        ([1.0, 2.0], 7, "not one of the classes"),
        ({0: "much"}, 0, "Feature 0 is 'much'"),
        ({0: np.inf}, 0, "Feature 0 is inf"),
    ],
)
def test_a_bad_example_is_rejected_and_changes_nothing(x: Any, y: Any, message: Any) -> None:
    clf = nv.Perceptron().partial_fit([[1.0, 2.0], [-1.0, 0.5]], [0, 1], classes=[0, 1])
    before = clf.coef_.copy()
    with pytest.raises(ValueError, match=message):
        clf.learn_one(x, y)
    np.testing.assert_array_equal(clf.coef_, before)


def test_partial_fit_rejects_what_it_cannot_know() -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    with pytest.raises(ValueError, match="classes must be passed"):
        nv.Perceptron().partial_fit(X, y)
    clf = nv.Perceptron().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="differ"):
        clf.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="label 5 in row 1"):
        clf.partial_fit(X, [0, 5])
    with pytest.raises(ValueError, match="balanced"):
        nv.Perceptron(class_weight="balanced").partial_fit(X, y, classes=[0, 1])


def test_a_copy_learns_like_the_original() -> None:
    clf = nv.Perceptron().fit([[1.0], [-1.0]], [1, 0])
    again: nv.Perceptron = pickle.loads(pickle.dumps(clf))  # noqa: S301 — our own bytes
    for how, twin in {"pickle": again, "deepcopy": copy.deepcopy(clf)}.items():
        with case_named(how):
            for _ in range(9):
                twin.learn_one(np.array([5.0]), 0)
            assert twin.predict_one(np.array([5.0])) == twin.predict([[5.0]])[0] == 0
    assert clf.predict([[5.0]])[0] == 1


def test_a_fit_is_no_longer_vouched_for_once_more_is_learned() -> None:
    clf = nv.Perceptron().fit([[1.0], [-1.0]], [1, 0])
    assert clf.learn_one(np.array([2.0]), 1).converged_  # the example was classified correctly
    clf.learn_one(np.array([2.0]), 0)
    assert not clf.converged_
    assert not hasattr(clf, "update_counts_")


def test_spare_room_for_features_is_not_a_feature() -> None:
    clf = nv.Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    clf.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, 0)
    with pytest.raises(ValueError, match="3 features are expected"):
        clf.learn_one(np.ones(6), 1)
    with pytest.raises(ValueError, match="3 features are expected"):
        clf.predict_one(np.ones(6))
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_rejected_first_example_leaves_nothing_behind() -> None:
    clf = nv.Perceptron()
    examples: list[tuple[Example, Hashable]] = [
        ([[1.0, 2.0]], 0),
        ([1.0, np.nan], 0),
        ([1.0, 2.0], (1, 2)),
        ([1.0], None),
        ([1.0], cast(Hashable, [1])),
    ]
    for x, y in examples:
        with pytest.raises(ValueError, match=r"vector|label"):
            clf.learn_one(x, y)
    assert clf.learn_one([1.0, 2.0], 0).predict_one([1.0, 2.0]) == 0
    assert clf.predict([[1.0, 2.0]]).tolist() == [0]


def test_numbers_of_columns_are_no_names() -> None:
    clf = nv.Perceptron().fit([[1.0, 2.0], [-1.0, 0.5]], [0, 1])
    with pytest.raises(ValueError, match="no names"):
        clf.predict_one({"height": 1.0})


def test_an_average_survives_pickling() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 3)), rng.choice(["a", "b"], 60)
    clf = nv.Perceptron(average=True, max_epochs=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    twin = pickle.loads(pickle.dumps(clf))  # noqa: S301 — our own bytes
    assert [twin.predict_one(x) for x in X] == clf.predict(X).tolist()


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, pytest.param(10**400, id="huge")])
def test_bad_weights_of_classes_are_rejected_by_single_steps(weight: float) -> None:
    x = np.array([1.0, 2.0])
    weights: dict[Hashable, float] = {0: weight, 1: 1.0}
    clf = nv.Perceptron(class_weight=weights).learn_one(x, 1)
    before = clf.coef_
    with pytest.raises(ValueError, match=r"weight of class 0 is .* not negative"):
        clf.learn_one(x, 0)
    np.testing.assert_array_equal(clf.coef_, before)
    assert clf.classes_.tolist() == [1]


@pytest.mark.parametrize("average", [False, True])
def test_a_class_of_weight_zero_takes_no_part_in_single_steps(
    average: bool,
) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    weights: dict[Hashable, float] = {1: 0.0}
    rows = nv.Perceptron(class_weight=weights, average=average)
    rows.partial_fit(X, y, classes=[0, 1, 2])
    one = nv.Perceptron(class_weight=weights, average=average)
    one.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        one.learn_one(x, label)
    assert (one.n_updates_, one.n_mistakes_) == (rows.n_updates_, rows.n_mistakes_)
    np.testing.assert_allclose(one.coef_, rows.coef_, rtol=1e-9)


def test_a_new_class_of_weight_zero_is_known_from_then_on() -> None:
    clf = nv.Perceptron(class_weight={"b": 0.0}).learn_one({"x": 1.0}, "a")
    assert clf.learn_one({"z": 1.0}, "b").classes_.tolist() == ["a", "b"]
    assert (clf.n_updates_, clf.n_features_in_) == (1, 2)
    with pytest.raises(ValueError, match="Feature 'z' is nan"):
        clf.learn_one({"z": np.nan}, "b")


def test_single_steps_keep_to_the_intercept_of_the_last_fit() -> None:
    clf = nv.Perceptron().learn_one([1.0], 0).set_params(fit_intercept=False)
    clf.fit([[1.0], [-1.0]], [1, 0]).learn_one([1.0], 0)
    assert clf.n_updates_ == 2
    assert clf.intercept_.tolist() == [0.0]


def test_features_that_were_never_seen_have_no_weight() -> None:
    assert nv.Perceptron().learn_one({}, "x").predict_one({"a": 1.0}) == "x"
    numbered = nv.Perceptron().learn_one({5: 1.0}, "x").learn_one({6: 1.0}, "y")
    assert numbered.predict_one({7: 1.0}) == numbered.predict_one({})


def test_a_row_of_a_frame_is_taken_by_its_names() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    clf = nv.Perceptron().fit(frame, (frame["a"] > 0).to_numpy())
    for _, row in frame.iterrows():
        assert clf.predict_one(row[["c", "a", "b"]]) == clf.predict_one(row.to_numpy())
    twin = copy.deepcopy(clf)
    for _, row in frame.iterrows():
        clf.learn_one(row[["c", "a", "b"]], False).learn_one(row.to_numpy(), True)
        twin.learn_one(row.to_numpy(), False).learn_one(row.to_numpy(), True)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)
