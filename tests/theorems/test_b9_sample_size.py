"""B9: the number of mistakes does not grow with the number of rows, at fixed R and γ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from novikoff.theory import SampleSizes, compare_sample_sizes
from novikoff.theory import sample_sizes as module
from tests.cases import RULES, SEQUENCES, case_named


def assert_bounded(compared: SampleSizes, margin: float) -> None:
    """Check R ≤ 1, the margin γ and the bound 1/γ² without rounding."""
    gamma = Fraction(margin)
    assert compared.bound * gamma**2 <= 1 + Fraction(1, 2**40)
    for x, sign in zip(compared.X[:2000].tolist(), compared.y.tolist(), strict=False):
        assert sum(Fraction(value) ** 2 for value in x) <= 1
        assert sign * Fraction(x[0]) >= gamma
    assert (compared.mistakes <= compared.bound).all()


@pytest.mark.parametrize(("margin", "d"), [(0.05, 10), (0.1, 2), (0.5, 1), (1.0, 4), (0.02, 30)])
def test_mistakes_stay_below_one_bound_for_all_sizes(margin: float, d: int) -> None:
    compared = compare_sample_sizes([1, 30, 1000, 20_000], margin=margin, d=d)
    assert compared.X.shape == (20_000, d)
    assert_bounded(compared, margin)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in SEQUENCES])
def test_in_every_order(rule: str) -> None:
    compared = compare_sample_sizes([20, 200, 2000], margin=0.1, d=5, order=rule, random_state=3)
    assert_bounded(compared, 0.1)


def test_counts_are_those_of_a_plain_loop_and_samples_are_nested() -> None:
    compared = compare_sample_sizes([200, 50], margin=0.1, d=6)
    smaller = compare_sample_sizes([50], margin=0.1, d=6)
    assert (compared.X[:50] == smaller.X).all()
    assert compared.mistakes[1] == smaller.mistakes[0]
    for n, expected in zip([200, 50], compared.mistakes, strict=True):
        with case_named(n):
            w, mistakes, clean = np.zeros(6), 0, 0
            while clean < n:
                for x, sign in zip(compared.X[:n], compared.y[:n], strict=True):
                    clean += 1
                    if sign * (x @ w) <= 0:
                        w, clean, mistakes = w + sign * x, 0, mistakes + 1
            assert mistakes == expected


def test_the_mistakes_of_one_row_more_than_the_last_hardly_grow_but_epochs_get_longer() -> None:
    compared = compare_sample_sizes([1000, 100_000], margin=0.05)
    assert compared.mistakes[1] < 2 * compared.mistakes[0]  # for a hundred times as many rows


def test_a_margin_that_shrinks_with_n_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that ignore γ may come as near to the hyperplane as they like."""

    def without_margin(n: int, d: int, margin: float, seed: int) -> Any:
        X = np.random.default_rng(seed).uniform(-0.3, 0.3, size=(n, d))
        return X, np.where(X[:, 0] > 0, 1, -1).astype(np.int8)

    monkeypatch.setattr(module, "_rows_with_margin", without_margin)
    compared = compare_sample_sizes([2000], margin=0.3, d=8)
    with pytest.raises(AssertionError):
        assert (compared.mistakes <= compared.bound).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": [10, 0]}, "above 0, not 0"),
        ({"sizes": []}, "sizes must not be empty"),
        ({"margin": 0.0}, "above 0 and at most 1, not 0.0"),
        ({"margin": float("nan")}, "above 0 and at most 1, not nan"),
        ({"d": 0}, "The dimension d must be"),
        ({"sizes": [10**9]}, "more than 100,000,000 numbers"),
    ],
)
def test_wrong_arguments_are_rejected_with_an_error(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_sample_sizes(**given)
