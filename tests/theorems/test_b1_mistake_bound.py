"""B1: from w₀ = 0 with δ = 0, mistakes ≤ R²/γ², for every index rule and every step."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.theory import mistake_bound
from tests.cases import RULES, Planted, learn, planted
from tests.oracle import Aggressive, Perceptron, Vector
from tests.theorems.mutants import Move, against_the_sign, forgets_the_sign, mistakes_of


def assert_bounded(mistakes: int, radius: float, margin: float) -> None:
    assert mistakes <= mistake_bound(radius, margin) * (1.0 + 1e-12)


def basis(n: int, *, short: int = 0) -> Planted:
    """Return the rows e_1, …, e_n, on which the bound is reached: R = 1, γ = 1/√n, n mistakes.

    The ``short`` rows that follow are γ·w*. They lie at the margin, and are never a mistake.
    """
    w_star = np.append(np.full(n, n**-0.5), 0.0)
    X = np.vstack([np.eye(n), np.tile(w_star[:n] * n**-0.5, (short, 1))])
    return Planted(X, np.ones(n + short, dtype=np.int8), w_star, False)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("seed", "n", "d", "gap"), [(0, 30, 2, 0.3), (1, 100, 5, 0.1), (2, 40, 30, 0.5)]
)
def test_mistakes_are_bounded(
    rule: str, fit_intercept: bool, seed: int, n: int, d: int, gap: float
) -> None:
    case = planted(seed, n, d, gap=gap, fit_intercept=fit_intercept)
    ran, _ = learn(case, rule, Perceptron(), Limits(epochs=20_000), seed=seed)
    assert ran.converged
    assert ran.mistakes == ran.updates > 0
    assert_bounded(ran.mistakes, case.radius, case.margin)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [1, 4, 16, 64])
def test_the_bound_is_reached_on_orthonormal_rows(rule: str, n: int) -> None:
    """On e_1, …, e_n every order makes exactly R²/γ² = n mistakes, so that no bound is smaller."""
    case = basis(n)
    ran, _ = learn(case, rule, Perceptron(), Limits(epochs=5000))
    assert ran.converged
    assert ran.mistakes == n
    assert_bounded(n, case.radius, case.margin)
    with pytest.raises(AssertionError):
        assert_bounded(n + 1, case.radius, case.margin)


@pytest.mark.parametrize("move", [against_the_sign, forgets_the_sign])
def test_a_wrong_move_breaks_the_bound(move: Move) -> None:
    case = planted(1, 60, 4, gap=0.3)
    mistakes = mistakes_of(move, case.rows, [range(60)] * 100)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes, case.radius, case.margin)


def test_updates_without_a_mistake_break_the_bound() -> None:
    case = planted(1, 60, 4, gap=0.3)
    ran, _ = learn(case, "cyclic", Aggressive(), Limits(epochs=100))
    with pytest.raises(AssertionError):
        assert_bounded(ran.updates, case.radius, case.margin)


def mean_norm(A: Vector) -> float:
    return float(np.linalg.norm(A, axis=1).mean())


def test_the_mean_norm_in_place_of_the_radius_breaks_the_bound() -> None:
    case = basis(25, short=200)
    ran, _ = learn(case, "cyclic", Perceptron(), Limits(epochs=100))
    mistakes = ran.mistakes
    assert_bounded(mistakes, case.radius, case.margin)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes, mean_norm(case.rows), case.margin)
