"""The rules of several classes are chosen together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.problem import products, signed_problem
from novikoff.core.rows import Vector
from novikoff.core.schemes import OneVsRest
from novikoff.core.stops import Limits
from novikoff.geometry.fewest_mistakes import fewest_mistakes
from novikoff.geometry.scheme_rules import best_together

pytestmark = pytest.mark.usefixtures("brief_descents")


def test_rules_of_many_classes_are_no_worse_together_than_cheap_ones() -> None:
    """Good rules whose scores have no common scale give way to cheap ones that have one."""
    rng = np.random.default_rng(4)
    y = rng.integers(4, size=800)
    X = rng.normal(size=(4, 8))[y] * 0.9 + rng.normal(size=(800, 8))
    found = []
    for label in range(4):
        problem = signed_problem(X, np.where(y == label, 1, -1).astype(np.int8), True)
        limits = Limits(updates=100)
        sides = label, None
        best = fewest_mistakes(problem, limits=limits, rng=rng, sides=sides, lower_bound=False)
        found.append(replace(best, w=best.w * 10.0 ** (3 * label)))

    def wrong(rules: list[Vector]) -> int:
        scores = np.column_stack([X, np.ones(800)]) @ np.column_stack(rules)
        return int((scores.argmax(axis=1) != y).sum())

    together = best_together(found, OneVsRest(4), y)
    cheap = min(wrong([rule.cheap[kind] for rule in found]) for kind in range(3))
    assert wrong([rule.w for rule in together]) == cheap < wrong([rule.w for rule in found])
    for rule in together:
        s = products(rule.problem, rule.w)
        assert rule.mistakes == (s <= 0.0).sum() == rule.history[-1][1]


@pytest.mark.parametrize("seed", [28, 285])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_rules_of_many_classes_are_no_worse_together_than_a_constant(
    multi_class: Literal["ovr", "ovo"], seed: int
) -> None:
    """Each rule is at least as good as a constant rule, but their votes need not be."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(14, 40), rng.integers(1, 3), rng.integers(4, 9)
    X, y = rng.integers(-2, 3, size=(n, d)), rng.integers(k, size=n)
    y[rng.random(n) >= rng.random()], y[:k] = k - 1, range(k)
    weights = rng.integers(1, 4, size=n).astype(np.float64)
    model: Any = nv.Pocket(multi_class=multi_class, refine=seed % 2 == 1, max_updates=20)
    model.set_params(random_state=0, lower_bound=False).fit(X, y, sample_weight=weights)
    assert weights[model.predict(X) == y].sum() >= np.bincount(y, weights).max()
