"""Parameters of scikit-learn's linear models are rejected by the names that they have here."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from sklearn.base import clone

import novikoff as nv


@pytest.mark.parametrize(
    ("learner", "name", "instead"),
    [
        (nv.Perceptron, "max_iter", "max_epochs or max_updates"),
        (nv.Perceptron, "eta0", "step_size"),
        (nv.Perceptron, "tol", "max_epochs or max_updates"),
        (nv.Perceptron, "early_stopping", "max_epochs or max_updates or max_seconds"),
        (nv.Pocket, "max_iter", "max_updates"),
        (nv.Pocket, "early_stopping", "max_updates or max_seconds"),
        (nv.Pocket, "eta0", None),
    ],
)
def test_an_error_names_the_parameter_to_use(learner: Any, name: str, instead: str | None) -> None:
    with pytest.raises(TypeError) as raised:
        learner(**{name: 1})
    advice = "" if instead is None else f": use {instead}"
    assert str(raised.value) == f"{learner.__name__} has no parameter {name!r}{advice}."


def test_other_errors_and_copies_are_as_before() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'maximum'"):
        nv.Pocket(maximum=1)
    learner = nv.Pocket(max_updates=7)
    assert clone(learner).max_updates == copy.deepcopy(learner).max_updates == 7
