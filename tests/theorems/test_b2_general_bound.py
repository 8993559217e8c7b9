"""B2: updates ≤ [(2δ+R²)‖w*‖² + 2s‖w*‖‖w₀‖]/s², for every start, δ and index rule."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.theory import general_bound
from tests.cases import RULES, Planted, learn, planted
from tests.oracle import Perceptron, Vector


def assert_bounded(
    updates: int, case: Planted, *, start: Vector | None = None, delta: float = 0.0
) -> None:
    s = float((case.rows @ case.w_star).min())
    bound = general_bound(case.radius, s, case.w_star, w0=start, threshold=delta)
    assert updates <= bound * (1.0 + 1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("delta", [0.0, 0.5, 10.0])
@pytest.mark.parametrize("where", ["zero", "near", "far", "wrong"])
def test_updates_are_bounded(rule: str, delta: float, where: str) -> None:
    case = planted(3, 50, 4, gap=0.3)
    case = case._replace(w_star=5.0 * case.w_star)
    direction = np.random.default_rng(1).normal(size=5)
    direction /= np.linalg.norm(direction)
    start = {
        "zero": 0.0 * direction,
        "near": direction,
        "far": 30.0 * direction,
        "wrong": -4.0 * case.w_star,
    }[where]
    ran, _ = learn(case, rule, Perceptron(threshold=delta), Limits(epochs=50_000), start=start)
    assert ran.converged
    assert (case.rows @ ran.W[:, 0] > delta - 1e-9).all()
    assert_bounded(ran.updates, case, start=start, delta=delta)


def line(start: float, delta: float) -> tuple[Planted, int]:
    """Run on a single row, a = 1, whose updates can be counted by hand."""
    case = Planted(np.ones((1, 1)), np.ones(1, dtype=np.int8), np.array([1.0, 0.0]), False)
    ran, _ = learn(
        case,
        "cyclic",
        Perceptron(threshold=delta),
        Limits(epochs=500),
        start=np.array([start, 0.0]),
    )
    assert ran.converged
    return case, ran.updates


def test_a_bound_that_ignores_delta_is_exceeded() -> None:
    case, updates = line(0.0, 40.0)
    assert updates == 41
    assert_bounded(updates, case, delta=40.0)
    with pytest.raises(AssertionError):
        assert_bounded(updates, case)


def test_a_bound_that_ignores_the_start_is_exceeded() -> None:
    case, updates = line(-40.0, 0.0)
    assert updates == 41
    assert_bounded(updates, case, start=np.array([-40.0, 0.0]))
    with pytest.raises(AssertionError):
        assert_bounded(updates, case)


def test_a_bound_with_too_large_a_margin_is_exceeded() -> None:
    """The mutant takes a margin s that is too large by a factor of 4."""
    case = Planted(np.eye(16), np.ones(16, dtype=np.int8), np.append(np.ones(16), 0.0), False)
    ran, _ = learn(case, "permuted", Perceptron(), Limits(epochs=500))
    updates = ran.updates
    assert_bounded(updates, case)
    wrong = general_bound(case.radius, 4.0, case.w_star)
    with pytest.raises(AssertionError):
        assert updates <= wrong


def test_a_learner_that_never_reaches_delta_breaks_the_bound() -> None:
    """A learner that halves w after every update never reaches δ, and its updates do not end."""
    w, updates = np.zeros(2), 0
    case, _ = line(0.0, 5.0)
    while updates < 1000 and not case.rows[0] @ w > 5.0:
        w = (w + case.rows[0]) / 2.0
        updates += 1
    with pytest.raises(AssertionError):
        assert_bounded(updates, case, delta=5.0)
