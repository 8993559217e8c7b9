"""B9: the number of updates does not grow with n at fixed R and γ."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.theory import unit_ball_bound
from tests.cases import RULES, Planted, learn
from tests.oracle import Aggressive, Perceptron
from tests.theorems.test_b5_unit_ball import in_the_unit_ball

GAP = 0.2
SIZES = [20, 200, 2000, 10_000]


def assert_independent_of_size(updates: list[int]) -> None:
    """One bound for all sizes: R = 1 and γ ≥ GAP do not depend on n."""
    assert max(updates) <= unit_ball_bound(GAP) * (1.0 + 1e-9)


def samples(gap: float = GAP) -> list[Planted]:
    return [in_the_unit_ball(11, n, 5, gap) for n in SIZES]


@pytest.mark.parametrize("rule", RULES)
def test_updates_do_not_grow_with_the_sample(rule: str) -> None:
    updates = []
    for case in samples():
        ran, _ = learn(case, rule, Perceptron(), Limits(epochs=500))
        assert ran.converged
        assert case.radius <= 1.0
        assert case.margin >= GAP * (1.0 - 1e-12)
        updates.append(ran.updates)
    assert min(updates) > 0
    assert_independent_of_size(updates)


def test_where_the_margin_shrinks_with_n_they_do_grow() -> None:
    cases = [in_the_unit_ball(11, n, 5, 1.0 / n) for n in SIZES[:3]]
    updates = [
        int(learn(case, "permuted", Perceptron(), Limits(epochs=20))[0].updates) for case in cases
    ]
    assert np.all(np.diff(updates) > 0)
    with pytest.raises(AssertionError):
        assert_independent_of_size(updates)


def test_updates_without_a_mistake_grow_with_the_sample() -> None:
    updates = [
        int(learn(case, "cyclic", Aggressive(), Limits(epochs=1))[0].updates) for case in samples()
    ]
    with pytest.raises(AssertionError):
        assert_independent_of_size(updates)
