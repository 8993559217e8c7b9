"""The maximal rules take the worst row, as the oracle does, despite their caches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novikoff.core.orders import MaxDistance
from novikoff.core.problem import signed_problem
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits, Stop
from tests.cases import (
    Planted,
    assert_same_run,
    average,
    case_named,
    csr,
    learn,
    planted,
    planted_integers,
    update_of,
)
from tests.oracle import PA, Perceptron, Relaxation, Rule, oracle

RULES = ["max_distance", "max_residual"]


def climbed(case: Planted, rule: str, update: Rule, *, sparse: bool = False, **options: Any) -> Run:
    limits = options.pop("limits", Limits())
    return learn(case, rule, update, limits, X=csr(case.X) if sparse else None, **options)[0]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_integers_with_ties(fit_intercept: bool, sparse: bool, rule: str) -> None:
    """Sums are exact, so ties are exact, and the first of the tied rows is taken."""
    case = planted_integers(1, 60, 7, fit_intercept=fit_intercept)
    expected = oracle(case.rows, rule, Perceptron())
    assert len(expected.acts) > 5
    assert_same_run(climbed(case, rule, Perceptron(), sparse=sparse), expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_real_numbers(sparse: bool, rule: str) -> None:
    case = planted(2, 80, 9, gap=0.05)
    expected = oracle(case.rows, rule, Perceptron())
    assert len(expected.acts) > 10
    assert_same_run(climbed(case, rule, Perceptron(), sparse=sparse), expected, exact=False)


@pytest.mark.parametrize("update", [PA(), Relaxation(eta=1.5, threshold=1.0)], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_updates_whose_step_depends_on_the_margin(update: Rule, rule: str) -> None:
    case = planted(3, 40, 5, gap=0.3)
    expected = oracle(case.rows, rule, update, max_updates=30)
    ran = climbed(case, rule, update, limits=Limits(updates=30))
    assert ran.traces[0].index.tolist() == [act.row for act in expected.acts]
    np.testing.assert_allclose(ran.W[:, 0], expected.w, rtol=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_a_threshold_a_step_weights_and_a_start(rule: str) -> None:
    case = planted_integers(7, 60, 5)
    options: dict[str, Any] = {
        "sample_weight": np.tile([1.0, 0.0, 0.5], 20),
        "start": np.array([3.0, -2.0, 1.0, 0.0, 5.0, -1.0]),
    }
    for update in (Perceptron(), Perceptron(threshold=6.0, step_size=0.5)):
        with case_named(update):
            ran = climbed(case, rule, update, average=True, **options)
            expected = oracle(case.rows, rule, update, **options)
            assert len(expected.acts) > 3
            assert_same_run(ran, expected)
            np.testing.assert_allclose(average(ran), expected.mean, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("limit", [1, 4])
@pytest.mark.parametrize("rule", RULES)
def test_the_limit_on_updates_is_exact(limit: int, rule: str) -> None:
    case = planted_integers(9, 60, 7)
    ran = climbed(case, rule, Perceptron(), limits=Limits(updates=limit))
    assert ran.stops == [Stop.UPDATES]
    assert_same_run(ran, oracle(case.rows, rule, Perceptron(), max_updates=limit))


def contradiction(n: int) -> Planted:
    """With random labels, no run ends with a clean cycle."""
    rng = np.random.default_rng(10)
    signs = rng.choice([-1, 1], size=n).astype(np.int8)
    return Planted(rng.normal(size=(n, 3)), signs, np.zeros(4), True)


@pytest.mark.parametrize("rule", RULES)
def test_an_epoch_is_n_updates(rule: str) -> None:
    ran = climbed(contradiction(20), rule, Perceptron(), limits=Limits(epochs=3))
    assert ran.stops == [Stop.EPOCHS]
    assert ran.updates == 60


def test_a_zero_row_comes_last_by_distance() -> None:
    """No w satisfies a zero row: all other rows come first, and no cycle is ever clean."""
    case = planted_integers(11, 20, 3, fit_intercept=False)
    X = np.vstack([np.zeros(3), case.X])
    signs = np.append(np.int8(1), case.signs)
    problem = signed_problem(X, signs, False)
    ran = train_rule(problem, Plan(update_of(Perceptron()), MaxDistance(), Limits(updates=200)))
    assert ran.stops == [Stop.UPDATES]
    assert (signs[1:] * (X[1:] @ ran.W[:, 0][:3]) > 0).all()


@pytest.mark.parametrize("size", [2.0**-560, 2.0**520])
def test_distances_do_not_depend_on_the_scale(size: float) -> None:
    """The rule is the same if ‖a‖² is beyond float64 but ‖a‖ is not."""
    case = planted_integers(12, 40, 5, fit_intercept=False)
    expected = oracle(case.rows, "max_distance", Perceptron(step_size=1.0))
    scaled = case._replace(X=case.X * size)
    ran = climbed(scaled, "max_distance", Perceptron(step_size=size**-1))
    assert ran.traces[0].index.tolist() == [act.row for act in expected.acts]
