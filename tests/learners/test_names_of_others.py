"""Parameters of scikit-learn's linear models are rejected by the names that they have here."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

import novikoff as nv


@pytest.mark.parametrize(
    ("learner", "name", "instead"),
    [
        (nv.Perceptron, "max_iter", "max_epochs or max_updates or max_seconds"),
        (nv.Perceptron, "eta0", "step_size"),
        (nv.Perceptron, "tol", "max_epochs or max_updates or max_seconds"),
        (nv.Perceptron, "early_stopping", "max_epochs or max_updates or max_seconds"),
        (nv.Pocket, "max_iter", "max_updates or max_seconds"),
        (nv.MaxMargin, "max_iter", "max_seconds"),
        (nv.Pocket, "early_stopping", "max_updates or max_seconds"),
        (nv.Pocket, "eta0", None),
    ],
)
def test_an_error_names_the_parameter_to_use(learner: Any, name: str, instead: str | None) -> None:
    with pytest.raises(TypeError) as raised:
        learner(**{name: 1})
    advice = "" if instead is None else f": use {instead}"
    assert str(raised.value) == f"{learner.__name__} has no parameter {name!r}{advice}."
    with pytest.raises(ValueError, match=str(raised.value)):  # as in a grid of parameters
        learner().set_params(**{name: 1})


@pytest.mark.parametrize(
    "learner",
    [
        nv.Perceptron(max_epochs=2),
        nv.Perceptron(max_epochs=2, scale="standard"),
        nv.PassiveAggressive(max_epochs=2),
        nv.KernelPerceptron(max_epochs=2),
        nv.Forgetron(max_epochs=2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_a_run_without_a_clean_cycle_is_told_once_on_two_lines(learner: Any, spread: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(60, 2)) * [1.0, spread], rng.integers(4, size=60)
    with pytest.warns(ConvergenceWarning, match="no clean cycle") as record:
        learner.fit(X, y)
    (told,) = record
    lines = str(told.message).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 88


def test_a_fold_without_a_class_says_which_class_it_has() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat(["a", "b"], 10)
    search = GridSearchCV(nv.Pocket(), {"max_updates": [5]}, cv=KFold(2), error_score="raise")
    with pytest.raises(ValueError, match=r"one class only, 'b'.*StratifiedKFold"):
        search.fit(X, y)


def test_other_errors_and_copies_are_as_before() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'maximum'"):
        nv.Pocket(maximum=1)
    learner = nv.Pocket(max_updates=7)
    assert clone(learner).max_updates == copy.deepcopy(learner).max_updates == 7
