"""B1, a second proof: with v = (R²/γ)·w*, every mistake lowers ‖w − v‖² by R² or more.

It starts at ‖v‖² = R⁴/γ² and is never negative, so there are at most R²/γ² mistakes.
"""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from tests.cases import RULES, Planted, learn, planted
from tests.oracle import Aggressive, Perceptron, Vector
from tests.theorems.mutants import Move, against_the_sign, forgets_the_past, path_of

_SLACK = 1e-9  # relative to R⁴/γ²


def falls(path: Vector, target: Vector) -> Vector:
    """By how much each update lowers the squared distance to a target; the path begins at w₀."""
    return np.asarray(-np.diff(((path - target) ** 2).sum(axis=1)))


def far_target(case: Planted, step: float = 1.0) -> Vector:
    w_star = case.w_star / np.linalg.norm(case.w_star)
    return np.asarray(step * case.radius**2 / case.margin * w_star)


def assert_second_proof_holds(path: Vector, case: Planted, step: float = 1.0) -> None:
    v = far_target(case, step)
    start = float(v @ v)
    assert start == pytest.approx((step * case.radius**2 / case.margin) ** 2)
    fallen = falls(path, v)
    assert (fallen >= (step * case.radius) ** 2 - _SLACK * start).all()
    left = start - np.cumsum(fallen)
    t = np.arange(1, len(fallen) + 1)
    assert (left <= start - t * (step * case.radius) ** 2 + _SLACK * start).all()
    assert (left >= -_SLACK * start).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("seed", "gap", "step"), [(0, 0.05, 1.0), (1, 0.2, 0.3), (5, 0.1, 1.0)])
def test_every_mistake_brings_w_closer_to_the_far_point(
    rule: str, seed: int, gap: float, step: float
) -> None:
    case = planted(seed, 80, 5, gap=gap)
    _, trace = learn(case, rule, Perceptron(step_size=step), Limits(epochs=5000))
    assert len(trace) > 5
    assert_second_proof_holds(trace.weights(), case, step)


def test_on_orthonormal_rows_every_mistake_lowers_it_by_exactly_the_squared_radius() -> None:
    """So no theorem promises more, and after R²/γ² mistakes nothing is left."""
    n = 9
    w_star = np.append(np.full(n, n**-0.5), 0.0)
    case = Planted(np.eye(n), np.ones(n, dtype=np.int8), w_star, False)
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=50))
    fallen = falls(trace.weights(), far_target(case))
    np.testing.assert_allclose(fallen, np.ones(n))
    assert fallen.sum() == pytest.approx(far_target(case) @ far_target(case)) == n


@pytest.mark.parametrize("seed", range(4))
def test_w_star_itself_is_no_such_point(seed: int) -> None:
    """That every mistake brings w closer to w* itself, as is often said, is false."""
    case = planted(seed, 80, 5, gap=0.1)
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=5000))
    assert (falls(trace.weights(), case.w_star / np.linalg.norm(case.w_star)) < 0).any()


def test_nor_does_every_mistake_make_the_angle_smaller() -> None:
    case = planted(1, 80, 5, gap=0.1)
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=5000))
    assert trace.cosine is not None
    assert (np.diff(trace.cosine) < 0).any()


@pytest.mark.parametrize("move", [against_the_sign, forgets_the_past])
def test_a_wrong_move_breaks_the_second_proof(move: Move) -> None:
    case = planted(1, 80, 5, gap=0.2)
    path = path_of(move, case.rows, [range(80)] * 3)
    with pytest.raises(AssertionError):
        assert_second_proof_holds(np.vstack([np.zeros(path.shape[1]), path]), case)


def test_updates_without_a_mistake_break_the_second_proof() -> None:
    case = planted(1, 80, 5, gap=0.2)
    _, trace = learn(case, "cyclic", Aggressive(), Limits(epochs=3))
    with pytest.raises(AssertionError):
        assert_second_proof_holds(trace.weights(), case)


def test_a_nearer_point_breaks_the_second_proof() -> None:
    """The factor R²/γ of v is needed: at half of it, mistakes need not lower the distance."""
    case = planted(1, 80, 5, gap=0.05)
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=5000))
    fallen = falls(trace.weights(), far_target(case) / 2)
    assert (fallen < case.radius**2).any()
