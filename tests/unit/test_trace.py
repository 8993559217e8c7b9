"""The trace: one entry per update, however many tapes it took."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.counts import Recorder, Trace, record
from novikoff.core.orders import Cyclic, MaxResidual, Permuted
from novikoff.core.problem import pose
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from tests.cases import planted, planted_integers
from tests.oracle import Aggressive, Perceptron, Rule


def trace_of(recorder: Recorder, update: Rule, *, n: int = 50, epochs: int = 6) -> Trace:
    case = planted_integers(1, n, 6)
    problem = pose(case.X, case.signs, True)
    ran = run(
        problem,
        update.update,
        Permuted(),
        Limits(epochs),
        np.random.default_rng(2),
        recorder=recorder,
    )
    assert ran.trace is not None
    assert len(ran.trace) == ran.updates
    return ran.trace


def test_replaying_the_trace_gives_its_numbers() -> None:
    case = planted_integers(1, 50, 6)
    A, w_star = case.rows, case.w_star
    trace = trace_of(Recorder(w_star), Perceptron())
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


def test_an_update_raises_its_margin_by_the_squared_norm() -> None:
    """With μ = 1 exactly by ‖a_i‖² (A13): seen when a row comes up twice in a row."""
    case = planted_integers(3, 1, 4)
    A = case.rows
    far = -3.0 * A[0]
    ran = run(
        pose(case.X, case.signs, True),
        Perceptron().update,
        Cyclic(),
        Limits(epochs=9),
        np.random.default_rng(0),
        start=far,
        recorder=Recorder(),
    )
    assert ran.trace is not None
    assert np.diff(ran.trace.margin).tolist() == [A[0] @ A[0]] * 3


def test_steps_count_the_rows_looked_at() -> None:
    trace = trace_of(Recorder(), Aggressive(), n=7, epochs=3)
    assert trace.step.tolist() == list(range(21))


def test_without_a_reference_there_is_no_angle() -> None:
    trace = trace_of(Recorder(), Perceptron())
    assert trace.inner is None
    assert trace.cosine is None


@pytest.mark.parametrize("length", [1, 3, 10])
def test_short_tapes_lose_nothing(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace_of(Recorder(), Aggressive())
    monkeypatch.setattr("novikoff.core.counts.TAPE_LENGTH", length)
    cut = trace_of(Recorder(), Aggressive())
    assert len(cut) == 300
    assert cut.index.tolist() == whole.index.tolist()
    assert cut.step.tolist() == whole.step.tolist()
    assert cut.margin.tolist() == whole.margin.tolist()
    assert cut.squared_norm.tolist() == whole.squared_norm.tolist()


def test_a_long_trace_takes_many_tapes() -> None:
    trace = trace_of(Recorder(), Aggressive(), n=60, epochs=100)
    assert len(trace) == 6000  # more than one tape of the usual length
    assert trace.step.tolist() == list(range(6000))


def test_an_empty_trace() -> None:
    trace = Recorder(reference=np.ones(3)).trace()
    assert len(trace) == 0
    assert trace.cosine is not None
    assert trace.cosine.tolist() == []


def test_the_angle_to_a_zero_vector_is_no_division_by_zero() -> None:
    recorder = Recorder(reference=np.array([1.0, 0.0]))
    record(recorder.tape, 0, 0, 0.0, 0.0, np.zeros(2))
    trace = recorder.trace()
    assert trace.cosine is not None
    assert trace.cosine.tolist() == [0.0]


def test_greedy_runs_are_traced_too() -> None:
    case = planted(4, 40, 5)
    ran = run(
        pose(case.X, case.signs, True),
        Perceptron().update,
        MaxResidual(),
        Limits(),
        np.random.default_rng(0),
        recorder=Recorder(case.w_star),
    )
    assert ran.trace is not None
    assert len(ran.trace) == ran.updates > 0
    assert ran.trace.step.tolist() == list(range(len(ran.trace)))
    assert ran.trace.squared_norm[-1] == pytest.approx(float(ran.w @ ran.w), rel=1e-12)
