"""B5, B9: with ‖x‖ ≤ 1 and ‖w*‖ = 1, mistakes ≤ 1/γ² for any number of rows."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.theory import unit_ball_bound
from tests.cases import RULES, Planted, learn
from tests.oracle import Aggressive, Perceptron
from tests.theorems.mutants import against_the_sign, mistakes_of


def assert_bounded(mistakes: int, case: Planted) -> None:
    assert mistakes <= unit_ball_bound(case.margin) * (1.0 + 1e-12)


def in_the_unit_ball(seed: int, n: int, d: int, gap: float) -> Planted:
    """Return uniform points of the ball at a distance of at least ``gap`` from the plane."""
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
@pytest.mark.parametrize(("seed", "d", "gap"), [(0, 2, 0.05), (1, 2, 0.4), (2, 6, 0.2)])
def test_mistakes_in_the_unit_ball_are_bounded(rule: str, seed: int, d: int, gap: float) -> None:
    case = in_the_unit_ball(seed, 80, d, gap)
    assert case.radius <= 1.0
    ran, _ = learn(case, rule, Perceptron(), Limits(epochs=20_000))
    assert ran.converged
    assert_bounded(ran.mistakes, case)


def scaled_basis(size: float) -> Planted:
    n = 25
    w_star = np.append(np.full(n, n**-0.5), 0.0)
    return Planted(size * np.eye(n), np.ones(n, dtype=np.int8), w_star, False)


def test_rows_outside_the_unit_ball_break_the_bound() -> None:
    case = scaled_basis(3.0)
    ran, _ = learn(case, "cyclic", Perceptron(), Limits(epochs=100))
    with pytest.raises(AssertionError):
        assert_bounded(ran.mistakes, case)


def test_the_margin_of_a_w_star_of_length_2_breaks_the_bound() -> None:
    """⟨a, 2w*⟩ is not a margin, because w* is divided by its length first."""
    case = scaled_basis(1.0)
    doubled = float((case.rows @ (2.0 * case.w_star)).min())
    with pytest.raises(AssertionError):
        assert unit_ball_bound(doubled) >= 25


def test_a_move_against_the_sign_breaks_the_bound() -> None:
    case = in_the_unit_ball(1, 80, 3, 0.2)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes_of(against_the_sign, case.rows, [range(80)] * 20), case)


GAP = 0.2
SIZES = [20, 200, 2000, 10_000]


def assert_independent_of_size(updates: list[int]) -> None:
    """Check one bound for all sizes, because R = 1 and γ ≥ GAP do not depend on n."""
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


def test_updates_grow_where_the_margin_shrinks_with_the_sample() -> None:
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
