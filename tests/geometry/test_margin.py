"""The interval of the largest margin."""

from __future__ import annotations

import math

import pytest

import novikoff as nv
from novikoff.core.orders import Cyclic
from novikoff.core.problem import signed_problem
from novikoff.core.runs import Plan, train_rule
from novikoff.core.stops import Limits
from novikoff.core.updates import perceptron
from tests.cases import planted
from tests.geometry.test_separate import proved


def test_margins_by_hand() -> None:
    """Two points at ±3 on a line: γ is 3 without a bias, and the gap has width 6."""
    X, y = [[3.0], [-3.0]], ["up", "down"]
    verdict = nv.separate(X, y)
    assert 3.0 in verdict.margin
    assert 3.0 in verdict.geometric_margin
    assert verdict.radius >= math.sqrt(10.0)
    assert verdict.mistake_bound == 1
    shifted = nv.separate([[13.0], [7.0]], y)
    assert 3.0 in shifted.geometric_margin
    assert shifted.margin.hi < 1.0
    assert shifted.margin.relative_width <= 1e-8
    without = nv.separate(X, y, fit_intercept=False)
    assert 3.0 in without.margin
    assert without.margin == without.geometric_margin


def test_the_bound_holds_for_the_perceptron() -> None:
    case = planted(5, 300, 6, gap=0.2)
    verdict = nv.separate(case.X, case.signs)
    assert verdict.margin.hi >= case.margin
    assert verdict.mistake_bound is not None
    problem = signed_problem(case.X, case.signs, True)
    done = train_rule(problem, Plan(perceptron(), Cyclic(), Limits(epochs=10_000)))
    assert done.mistakes <= verdict.mistake_bound


@pytest.mark.parametrize("tol", [0.5, 1e-2, 1e-5, 1e-8])
def test_the_interval_is_as_narrow_as_asked(tol: float) -> None:
    case = planted(8, 300, 8, gap=0.1)
    verdict = proved(case.X, case.signs, nv.separate(case.X, case.signs, tol=tol))
    assert verdict.margin.relative_width <= tol
    best = nv.separate(case.X, case.signs, tol=1e-10).margin
    assert verdict.margin.lo <= best.hi
    assert best.lo <= verdict.margin.hi
