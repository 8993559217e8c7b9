"""B5: with ‖x‖ ≤ 1 and ‖w*‖ = 1, mistakes ≤ 1/γ²."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.theory import unit_ball_bound
from tests.cases import RULES, Planted, learn
from tests.oracle import Perceptron
from tests.theorems.mutants import against_the_sign, mistakes_of


def assert_bounded(mistakes: int, case: Planted) -> None:
    assert mistakes <= unit_ball_bound(case.margin) * (1.0 + 1e-12)


def in_the_unit_ball(seed: int, n: int, d: int, gap: float) -> Planted:
    """Uniform points of the ball, those nearer than ``gap`` to the plane left out."""
    rng = np.random.default_rng(seed)
    w_star = rng.normal(size=d)
    w_star /= np.linalg.norm(w_star)
    X = np.empty((0, d))
    while len(X) < n:
        more = rng.normal(size=(4 * n, d))
        more *= rng.random((4 * n, 1)) ** (1 / d) / np.linalg.norm(more, axis=1, keepdims=True)
        X = np.vstack([X, more[np.abs(more @ w_star) >= gap]])
    X = np.ascontiguousarray(X[:n])
    signs = np.where(X @ w_star > 0, 1, -1).astype(np.int8)
    return Planted(X, signs, np.append(w_star, 0.0), False)


@pytest.mark.parametrize("rule", RULES)
def test_mistakes_in_the_unit_ball_are_bounded(rule: str) -> None:
    for seed, (d, gap) in enumerate([(2, 0.05), (2, 0.4), (6, 0.2)]):
        case = in_the_unit_ball(seed, 80, d, gap)
        assert case.radius <= 1.0
        ran, _ = learn(case, rule, Perceptron(), Limits(epochs=20_000))
        assert ran.converged
        assert_bounded(ran.mistakes, case)


def scaled_basis(size: float) -> Planted:
    n = 25
    w_star = np.append(np.full(n, n**-0.5), 0.0)
    return Planted(size * np.eye(n), np.ones(n, dtype=np.int8), w_star, False)


@pytest.mark.parametrize("rule", RULES)
def test_the_bound_is_met(rule: str) -> None:
    case = scaled_basis(1.0)
    ran, _ = learn(case, rule, Perceptron(), Limits(epochs=2000))
    assert ran.mistakes == 25
    assert_bounded(25, case)


def test_outside_the_unit_ball_it_does_not_hold() -> None:
    case = scaled_basis(3.0)
    ran, _ = learn(case, "cyclic", Perceptron(), Limits(epochs=100))
    with pytest.raises(AssertionError):
        assert_bounded(ran.mistakes, case)


def test_a_longer_w_star_does_not_count() -> None:
    """⟨a, 2w*⟩ is no margin: the length of w* must be divided out."""
    case = scaled_basis(1.0)
    doubled = float((case.rows @ (2.0 * case.w_star)).min())
    with pytest.raises(AssertionError):
        assert unit_ball_bound(doubled) >= 25


def test_a_move_against_the_sign_breaks_the_bound() -> None:
    case = in_the_unit_ball(1, 80, 3, 0.2)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes_of(against_the_sign, case.rows, [range(80)] * 20), case)
