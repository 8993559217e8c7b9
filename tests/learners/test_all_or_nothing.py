"""A call that fails leaves the estimator unchanged; Ctrl-C keeps what has been learned."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.exceptions import NotFittedError

import novikoff as nv
from novikoff.core import model, runs
from novikoff.core.orders import Candidates
from novikoff.core.rows import Indices
from novikoff.learners.arrays import Example

Matrix = npt.NDArray[np.float64]
Call = Callable[[nv.Perceptron], object]

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0.0).astype(np.int64)
HOLE = np.where(np.arange(180).reshape(60, 3) == 100, np.nan, X)


class StopsAt:
    """A cyclic order that raises Ctrl-C before an epoch, and counts the runs that have begun."""

    covers = True

    def __init__(self, epoch: int) -> None:
        self.epoch, self.runs = epoch, 0

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        self.runs += 1
        for _ in range(self.epoch):
            yield candidates.rows
        raise KeyboardInterrupt


def interrupt(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


def state(clf: nv.Perceptron) -> bytes:
    """All attributes of an estimator except its parameters."""
    params = clf.get_params()
    known = {name: value for name, value in vars(clf).items() if name not in params}
    return pickle.dumps(sorted(copy.deepcopy(known).items()))


@pytest.mark.parametrize(
    "fail",
    [
        lambda clf: clf.partial_fit(HOLE, Y, classes=[0, 1]),
        lambda clf: clf.partial_fit(X, Y, classes=[0, 1], sample_weight=-np.ones(60)),
        lambda clf: clf.set_params(class_weight="balanced").partial_fit(X, Y, classes=[0, 1]),
        lambda clf: clf.fit(HOLE, Y),
        lambda clf: clf.learn_one({"a": np.nan}, "spam"),
        lambda clf: clf.set_params(class_weight={"spam": -1.0}).learn_one({"a": 1.0}, "spam"),
    ],
    ids=[
        "NaN",
        "negative weights",
        "balanced",
        "NaN in fit",
        "NaN in an example",
        "negative class weight",
    ],
)
def test_a_failed_first_call_leaves_nothing_behind(fail: Call) -> None:
    clf = nv.Perceptron()
    with pytest.raises(ValueError, match=r"NaN|[Nn]egative|balanced|not a finite|Weights"):
        fail(clf)
    assert set(vars(clf)) == set(clf.get_params())
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.set_params(class_weight=None).partial_fit(X[:, :2], Y + 5, classes=[5, 6])
    assert clf.coef_.shape == (1, 2)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    "fail",
    [
        lambda clf: clf.partial_fit(HOLE, Y),
        lambda clf: clf.fit(np.ones((60, 7)) * np.inf, Y),
        lambda clf: clf.learn_one({"a": 1.0, 0: np.inf}, 1),
        lambda clf: clf.learn_one({"a": 1e308, 0: 1e308}, 0),
        lambda clf: clf.learn_one({"a": 1.0}, 2),
    ],
    ids=["NaN", "infinity in fit", "infinity in an example", "beyond float64", "unknown label"],
)
def test_a_failed_later_call_changes_nothing(fail: Call, average: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = nv.Perceptron(average=average, max_epochs=2, trace=True).fit(X, Y)
    clf.predict_one({0: 1.0})  # from now on, columns are known by their numbers
    before = state(clf)
    clf.set_params(step_size=1e10)
    with pytest.raises(ValueError, match=r"NaN|infin|finite|range|not one of"):
        fail(clf)
    clf.set_params(step_size=1.0)
    assert state(clf) == before


def test_a_rejected_example_brings_neither_class_nor_feature() -> None:
    clf = nv.Perceptron(step_size=10.0).learn_one({"a": 1.0}, "x").learn_one({"b": 1.0}, "y")
    bad: list[tuple[Example, Hashable]] = [
        ({"a": 1e308, "e": 1.0}, "w"),
        ({"c": 1.0}, 3),
        ({"c": 1.0, "d": np.inf}, "y"),
        ({"a": 1.0, "d": 10**400}, "z"),
    ]
    row: Example = {"a": 1.0, "b": 2.0}
    before, predicted = state(clf), clf.predict_one(row)
    for x, y in bad:
        with pytest.raises(ValueError, match=r"range|cannot be compared|not a finite"):
            clf.learn_one(x, y)
        assert state(clf) == before
    assert clf.classes_.tolist() == ["x", "y"]
    assert clf.predict_one(row) == predicted
    assert clf.learn_one({"c": 1.0}, "z").feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "call",
    [
        lambda clf: clf.fit(np.ones((60, 7)), Y),
        lambda clf: clf.partial_fit(X, Y, classes=[0, 1]),
    ],
    ids=["fit", "partial_fit"],
)
def test_ctrl_c_before_the_training_changes_nothing(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    clf = nv.Perceptron().fit(X, Y)
    monkeypatch.setattr(runs, "train", interrupt)
    monkeypatch.setattr(model.Model, "_check_rows", interrupt)
    before = state(clf)
    with pytest.raises(KeyboardInterrupt):
        call(clf)
    assert state(clf) == before
    fresh = nv.Perceptron()
    with pytest.raises(KeyboardInterrupt):
        call(fresh)
    assert set(vars(fresh)) == set(fresh.get_params())


def test_ctrl_c_in_training_leaves_what_was_learned() -> None:
    labels = np.random.default_rng(1).integers(0, 2, 60)
    clf = nv.Perceptron(order=StopsAt(2))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, labels)
    with pytest.warns(match="no clean cycle"):
        twin = nv.Perceptron(order="cyclic", max_epochs=2).fit(X, labels)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)
    assert (clf.n_updates_, clf.n_iter_, clf.converged_) == (twin.n_updates_, 2, False)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("trace", [False, True], ids=str)
def test_rules_that_ctrl_c_finds_unbegun_are_not_run(trace: Any, average: bool) -> None:
    labels = np.arange(60) % 20
    order = StopsAt(1)
    clf = nv.Perceptron(order=order, multi_class="ovo", average=average, trace=trace)
    start = np.random.default_rng(2).normal(size=(190, 3))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, labels, coef_init=start)
    assert order.runs == 1
    np.testing.assert_array_equal(clf.coef_[1:], start[1:])
    assert clf.update_counts_.shape == (190, 60)
    assert clf.update_counts_.sum() == clf.n_updates_
    assert clf.predict(X).shape == (60,)
    if trace:
        assert isinstance(clf.trace_, list)
        assert [len(rule) for rule in clf.trace_[1:]] == [0] * 189


def test_rules_are_not_begun_when_the_time_is_over() -> None:
    order = StopsAt(1)
    clf = nv.Perceptron(order=order, multi_class="ovo", max_seconds=1e-9)
    with pytest.warns(match="the time limit"):
        clf.fit(X, np.arange(60) % 5)
    assert (order.runs, clf.n_updates_) == (0, 0)
