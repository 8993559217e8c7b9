"""`nv.linear_program` on models and by texts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import novikoff as nv
from tests.cases import case_named

F = Fraction
DIET = """max: 3 tea + 2 bread
subject to
  money: tea + bread <= 4
  time: tea + 3 bread <= 6
end
"""


@pytest.fixture
def diet(tmp_path: Path) -> nv.SystemModel:
    path = tmp_path / "diet.lp"
    path.write_text(DIET.replace("max:", "maximize\n obj:"))
    return nv.read_system(path)


def test_a_model_alone_stands_for_its_own_objective(diet: nv.SystemModel) -> None:
    best = nv.linear_program(diet)
    assert (best.kind, best.exact_value, best.exact_w) == ("optimal", F(12), (F(4), F(0)))


def test_a_model_takes_another_objective(diet: nv.SystemModel) -> None:
    assert nv.linear_program("min tea + 0.5", diet).exact_value == F(1, 2)
    assert nv.linear_program([0, 1], diet, maximise=True).exact_value == F(2)


def test_constraints_of_scipy_are_a_system() -> None:
    rows = [LinearConstraint(np.array([[1.0, 1.0]]), -np.inf, [4.0]), Bounds([0, 0], [3, np.inf])]
    best = nv.linear_program([1, 2], rows, maximise=True)
    assert (best.exact_value, best.exact_w) == (F(8), (F(0), F(4)))


def test_what_does_not_go_together_is_rejected(diet: nv.SystemModel) -> None:
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (diet, {"maximise": True}, "a text and a model say min or max"),
        ("max tea", {"A": [[1.0]], "c": [1.0]}, "arrays have no objective"),
        ("max coffee", {"A": diet}, "no variable"),
        ([1, 1], {"A": diet, "lower": 0}, "lower cannot be used with a model"),
        ([1, 1, 1], {"A": diet}, "objective"),
    ]
    for objective, more, complaint in bad:
        with case_named(complaint), pytest.raises(ValueError, match=complaint):
            nv.linear_program(objective, **more)
