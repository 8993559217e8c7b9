"""The trace: one entry per update, however many tapes it took."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.counts import Recorder, record
from novikoff.core.orders import Cyclic
from novikoff.core.problem import pose
from novikoff.core.runs import Plan
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from tests.cases import learn, planted, planted_integers
from tests.oracle import Aggressive, Perceptron


def test_replaying_the_trace_gives_its_numbers() -> None:
    case = planted_integers(1, 50, 6)
    A, w_star = case.rows, case.w_star
    ran, trace = learn(case, "permuted", Perceptron(), Limits(6))
    assert len(trace) == ran.updates
    assert trace.inner is not None
    assert trace.cosine is not None
    w = np.zeros(7)
    for t in range(len(trace)):
        i = trace.index[t]
        assert trace.margin[t] == A[i] @ w <= 0.0
        w += trace.tau[t] * A[i]
        assert trace.squared_norm[t] == w @ w
        assert trace.inner[t] == w_star @ w
        cosine = w_star @ w / (np.linalg.norm(w) * np.linalg.norm(w_star))
        assert trace.cosine[t] == pytest.approx(cosine, rel=1e-12)


def test_a_long_trace_takes_many_tapes() -> None:
    case = planted_integers(1, 60, 6)
    plan = Plan(Aggressive().update, Cyclic(), Limits(epochs=100), trace=True)
    (trace,) = run(pose(case.X, case.signs, True), plan).traces
    assert trace.step.tolist() == list(range(6000))  # more than one tape
    assert trace.inner is None
    assert trace.cosine is None


def test_an_update_raises_its_margin_by_the_squared_norm() -> None:
    """With μ = 1 exactly by ‖a_i‖² (A13): seen when a row comes up twice in a row."""
    case = planted_integers(3, 1, 4)
    a = case.rows[0]
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=9), start=-3.0 * a)
    assert np.diff(trace.margin).tolist() == [a @ a] * 3


@pytest.mark.parametrize("rule", ["max_distance", "max_residual"])
def test_greedy_runs_are_traced_too(rule: str) -> None:
    ran, trace = learn(planted(4, 40, 5), rule, Perceptron(), Limits())
    assert trace.step.tolist() == list(range(ran.updates))
    assert trace.squared_norm[-1] == pytest.approx(float(ran.W[:, 0] @ ran.W[:, 0]), rel=1e-12)


def test_the_angle_to_a_zero_vector_is_no_division_by_zero() -> None:
    recorder = Recorder(reference=np.array([1.0, 0.0]))
    assert len(recorder.trace()) == 0
    record(recorder.tape, 0, 0, 0.0, 0.0, np.zeros(2))
    trace = recorder.trace()
    assert trace.cosine is not None
    assert trace.cosine.tolist() == [0.0]
