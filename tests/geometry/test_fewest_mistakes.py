"""The search for the rule with the fewest mistakes."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.pocket import (
    averaged_perceptron,
)
from novikoff.core.problem import products, signed_problem
from novikoff.core.stops import Limits
from novikoff.geometry.descent import descend, logistic, whitening
from novikoff.geometry.fewest_mistakes import fewest_mistakes
from novikoff.proofs.exact import rounded_down
from tests.cases import case_named, csr, labelled, noisy
from tests.oracle import signed

pytestmark = pytest.mark.usefixtures("brief_descents")


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_no_cheap_rule_is_better(seed: int, weighted: bool, sparse: bool) -> None:
    """Constants, least squares, logistic regression, the averaged perceptron, the start."""
    rng = np.random.default_rng(seed)
    X, signs = noisy(seed, 50, 3)
    signs[:2], start = (1, -1), rng.normal(size=4)
    costs = rng.choice(np.array([0.1, 0.2, 0.7]), size=50) if weighted else None
    problem = signed_problem(csr(X) if sparse else X, signs, True)
    basis, rng = whitening(problem, rng), np.random.default_rng(seed)
    limits = Limits(updates=50)
    found = fewest_mistakes(problem, costs=costs, start=start, limits=limits, rng=rng, sides=(1, 0))
    rivals = [start, *np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0]])]
    rivals += [logistic(problem, costs, basis, Limits(), steps=steps) for steps in (0, 50)]
    rivals += [averaged_perceptron(problem, Limits(), np.random.default_rng(seed), costs)]
    exact = [Fraction(1)] * 50 if costs is None else [Fraction(c) for c in costs.tolist()]
    for w in (found.w, *rivals):
        with case_named(w):
            mistakes = np.flatnonzero(~(products(problem, w) > 0.0))
            price = sum((exact[i] for i in mistakes.tolist()), Fraction(0))
            assert price == found.mistakes if w is found.w else price >= found.mistakes
    assert found.optimal == (found.mistakes <= found.bound)
    assert rounded_down(found.bound) <= found.bound <= found.mistakes


def test_large_data_is_searched_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are counted, and progress is reported during the search."""
    module = import_module("novikoff.geometry.fewest_mistakes")
    monkeypatch.setattr(module, "SAMPLE_ENTRIES", 1000)
    monkeypatch.setattr(module, "SAMPLE_ROWS_PER_WEIGHT", 50)
    X, y = labelled(2, 3000, 3)
    told: list[tuple[float, float]] = []
    found = fewest_mistakes(
        signed_problem(X.astype(np.float32), y, True),
        limits=Limits(updates=100),
        rng=np.random.default_rng(0),
        sides=(1, -1),
        progress=lambda errors, bound: told.append((errors, bound)),
    )
    assert found.mistakes == (signed(X.astype(np.float32), y, True) @ found.w <= 0.0).sum()
    assert told[-1] == (float(found.mistakes), float(found.bound))
    assert all(a[0] >= b[0] and a[1] <= b[1] for a, b in pairwise(told))


def test_time_that_was_given_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the rule is proved to be the best, descents continue from rules near it."""
    X, signs = noisy(5, 80, 3)
    limits, descents = Limits(updates=100, seconds=1e6), list[int]()

    def some(*given: Any) -> Any:
        descents.append(1)
        if len(descents) == 4:
            limits.interrupt()
        return descend(*given)

    monkeypatch.setattr("novikoff.geometry.fewest_mistakes.descend", some)
    options: Any = {"lower_bound": False, "limits": limits, "sides": (1, -1)}
    found = fewest_mistakes(signed_problem(X, signs, True), rng=np.random.default_rng(0), **options)
    assert len(descents) == 4
    assert found.mistakes == (products(found.problem, found.w) <= 0.0).sum()
