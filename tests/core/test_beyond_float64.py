"""Numbers that do not fit into float64 are rejected with an error, in input and in results."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from tests.cases import case_named

HUGE = 10**400
ROWS = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda clf: clf.fit([[0, 1], [1, 0], [2, HUGE]], [0, 1, 1]), "row 2, column 1"),
        (lambda clf: clf.fit(np.array([[0, 1], [HUGE, 1]], object), [0, 1]), "row 1, column 0"),
        (lambda clf: clf.partial_fit([[0, -HUGE]], [0], classes=[0, 1]), "row 0, column 1"),
        (lambda clf: clf.fit(ROWS, [0, 1, 1]).predict([[0, 1], [0, HUGE]]), "row 1, column 1"),
        (lambda clf: clf.fit(ROWS, [0, 1, 1]).predict_one([0, HUGE]), "x contains a number"),
        (lambda clf: clf.learn_one([0, HUGE], 1), "x contains a number"),
        (lambda clf: clf.learn_one([0.0, 1.0], 1).learn_one([0, HUGE], 1), "x contains a number"),
        (lambda clf: clf.fit(ROWS, [0, 1, 1], coef_init=[HUGE, 0]), "coef_init contains"),
        (lambda clf: clf.fit(ROWS, [0, 1, 1], sample_weight=[1, 1, HUGE]), "sample_weight cont"),
        (lambda clf: clf.set_params(class_weight={0: HUGE}).fit(ROWS, [0, 1, 1]), "Weights must"),
        (lambda clf: clf.set_params(trace=[HUGE, 1]).fit(ROWS, [0, 1, 1]), "The reference"),
        (lambda clf: clf.set_params(step_size=HUGE).fit(ROWS, [0, 1, 1]), "'step_size' parameter"),
        (lambda clf: clf.set_params(threshold=HUGE).fit(ROWS, [0, 1, 1]), "'threshold' parameter"),
    ],
)
def test_python_numbers_beyond_float64_are_rejected(
    call: Callable[[nv.Perceptron], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call(nv.Perceptron())


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_bias_beyond_float64_is_rejected_by_single_steps_too(
    average: bool, dtype: type[np.float64 | np.float32]
) -> None:
    clf = nv.Perceptron(step_size=1e308, threshold=1.5e308, average=average)
    x = np.zeros(2).astype(dtype)
    clf.learn_one(x, 0).learn_one(x, 1)
    if not average:
        clf.learn_one(x, 1)
    before = clf.intercept_
    with pytest.raises(ValueError, match="range of float64"):
        clf.learn_one(x, 1)
    np.testing.assert_array_equal(clf.intercept_, before)
    assert np.isfinite(before).all()


def test_the_sum_of_an_average_beyond_float64_is_rejected() -> None:
    clf = nv.Perceptron(average=True, step_size=2.0)
    clf.partial_fit([[1.0]], [0], classes=[0, 1])
    x, before = np.array([8e307]), clf.coef_
    for _ in range(5):
        clf.learn_one([-1e-9], 1)
    with pytest.raises(ValueError, match="range of float64"):
        clf.learn_one(x, 1)
    assert np.isfinite(clf.coef_).all()
    assert clf.coef_.shape == before.shape


@pytest.mark.parametrize(
    "setting", [{"threshold": -2.0}, {"threshold": np.nan}, {"step_size": -1.0}], ids=str
)
def test_single_steps_look_at_margin_and_step(setting: dict[str, float]) -> None:
    clf = nv.Perceptron().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    clf.set_params(**setting)
    for x in (np.array([1.0]), np.array([-1.0])):
        with case_named(x), pytest.raises(ValueError, match="parameter of Perceptron must be"):
            clf.learn_one(x, 1)


def test_complex_numbers_are_rejected_and_not_cut() -> None:
    X, y = np.eye(3), [0, 1, 1]
    with pytest.raises(ValueError, match="coef_init contains complex"):
        nv.Perceptron().fit(X, y, coef_init=1j * np.ones((1, 3)))
    with pytest.raises(ValueError, match="x contains complex"):
        nv.Perceptron().learn_one(cast(Vector, 1j * np.ones(3)), 1)
