"""B3: at every update t, ⟨w*,w_t⟩ ≥ tγ, ‖w_t‖² ≤ tR², cos∠(w*,w_t) ≥ √t·γ/R."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.stops import Limits
from novikoff.core.trace import Trace
from tests.cases import RULES, Planted, learn, planted
from tests.oracle import Aggressive, Perceptron, Vector, oracle
from tests.theorems.mutants import Move, against_the_sign, forgets_the_past, path_of

_SLACK = 1e-11  # relative, for sums of a few thousand terms


def assert_proof_holds(
    inner: Vector, squared_norm: Vector, case: Planted, *, step: float = 1.0
) -> None:
    """Check the three inequalities, for a w* of length 1, after every update."""
    t = np.arange(1, len(inner) + 1)
    R, gamma = case.radius, case.margin
    assert (inner >= step * t * gamma * (1.0 - _SLACK)).all()
    assert (squared_norm <= step**2 * t * R**2 * (1.0 + _SLACK)).all()
    assert (inner / np.sqrt(squared_norm) >= np.sqrt(t) * gamma / R * (1.0 - _SLACK)).all()
    assert (inner <= np.sqrt(squared_norm) * (1.0 + _SLACK)).all()  # Cauchy–Schwarz


def numbers(trace: Trace) -> tuple[Vector, Vector]:
    assert trace.inner is not None
    assert trace.cosine is not None
    np.testing.assert_allclose(trace.cosine, trace.inner / np.sqrt(trace.squared_norm), rtol=1e-12)
    return trace.inner, trace.squared_norm


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("seed", "gap"), [(0, 0.05), (1, 0.2), (5, 0.01)])
@pytest.mark.parametrize("step", [1.0, 0.3])
@pytest.mark.parametrize(
    "limits", [Limits(epochs=5000), Limits(updates=6)], ids=["to the end", "six updates"]
)
def test_the_three_inequalities_hold_at_every_update(
    limits: Limits, rule: str, seed: int, gap: float, step: float
) -> None:
    """They hold for a run that has converged, and for one that was cut short."""
    case = planted(seed, 80, 5, gap=gap)
    _, trace = learn(case, rule, Perceptron(step_size=step), limits)
    assert len(trace) > 5
    assert_proof_holds(*numbers(trace), case, step=step)


def test_the_trace_agrees_with_the_weights_of_the_oracle() -> None:
    """The numbers of the trace are those of the weights that the oracle computes."""
    case = planted(6, 80, 5, gap=0.1)
    ran, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=5000))
    inner, squared_norm = numbers(trace)
    expected = oracle(case.rows, [range(80)] * int(ran.epochs), Perceptron())
    w = np.cumsum([act.tau * case.rows[act.row] for act in expected.acts], axis=0)
    np.testing.assert_allclose(inner, w @ case.w_star, rtol=1e-10)
    np.testing.assert_allclose(squared_norm, (w * w).sum(axis=1), rtol=1e-10)


def test_updates_without_a_mistake_break_the_second_inequality() -> None:
    case = planted(1, 80, 5, gap=0.2)
    _, trace = learn(case, "cyclic", Aggressive(), Limits(epochs=2))
    inner, squared_norm = numbers(trace)
    t = np.arange(1, len(inner) + 1)
    assert (inner >= t * case.margin * (1.0 - _SLACK)).all()  # the first still holds
    with pytest.raises(AssertionError):
        assert_proof_holds(inner, squared_norm, case)


@pytest.mark.parametrize("move", [against_the_sign, forgets_the_past])
def test_a_wrong_move_breaks_the_first_inequality(move: Move) -> None:
    case = planted(1, 80, 5, gap=0.2)
    w = path_of(move, case.rows, [range(80)] * 3)
    with pytest.raises(AssertionError):
        assert_proof_holds(w @ case.w_star, (w * w).sum(axis=1), case)


def test_weights_recorded_before_the_update_break_the_inequalities() -> None:
    """⟨w*, w_{t−1}⟩ ≥ tγ need not hold, because w_{t−1} is one update late."""
    case = planted(1, 80, 5, gap=0.2)
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=500))
    inner, squared_norm = numbers(trace)
    late = np.append(1e-300, inner[:-1]), np.append(1e-300, squared_norm[:-1])
    with pytest.raises(AssertionError):
        assert_proof_holds(*late, case)
