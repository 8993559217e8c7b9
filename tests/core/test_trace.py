"""The trace has one entry for each update, however many buffers it fills."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import novikoff as nv
from novikoff.core.orders import Cyclic
from novikoff.core.problem import signed_problem
from novikoff.core.runs import Plan, train_rule
from novikoff.core.stops import Limits
from novikoff.core.sweep import write_update
from novikoff.core.trace import Recorder, Trace
from tests.cases import case_named, learn, planted, planted_integers, update_of
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


def test_a_long_trace_fills_many_buffers() -> None:
    case = planted_integers(1, 60, 6)
    plan = Plan(update_of(Aggressive()), Cyclic(), Limits(epochs=100), trace=True)
    (trace,) = train_rule(signed_problem(case.X, case.signs, True), plan).traces
    assert trace.n_steps.tolist() == list(range(6000))  # more than one trace buffer
    assert trace.inner is None
    assert trace.cosine is None


def test_an_update_raises_its_margin_by_the_squared_norm() -> None:
    """With μ = 1, by exactly ‖a_i‖² (A13), as two consecutive visits of one row show."""
    case = planted_integers(3, 1, 4)
    a = case.rows[0]
    _, trace = learn(case, "cyclic", Perceptron(), Limits(epochs=9), start=-3.0 * a)
    assert np.diff(trace.margin).tolist() == [a @ a] * 3


@pytest.mark.parametrize("rule", ["max_distance", "max_residual"])
def test_greedy_runs_are_traced_too(rule: str) -> None:
    ran, trace = learn(planted(4, 40, 5), rule, Perceptron(), Limits())
    assert trace.n_steps.tolist() == list(range(ran.updates))
    assert trace.squared_norm[-1] == pytest.approx(float(ran.W[:, 0] @ ran.W[:, 0]), rel=1e-12)


def test_the_angle_to_a_zero_vector_is_no_division_by_zero() -> None:
    recorder = Recorder(reference=np.array([1.0, 0.0]))
    assert len(recorder.trace()) == 0
    write_update(recorder.buffer, 0, 0, 0.0, 0.0, np.zeros(2))
    trace = recorder.trace()
    assert trace.cosine is not None
    assert trace.cosine.tolist() == [0.0]


@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_weights_and_their_average_after_each_update(storage: Any, fit_intercept: bool) -> None:
    case = planted(2, 40, 3, fit_intercept=fit_intercept)
    X = storage(case.X)
    clf = nv.Perceptron(trace=True, random_state=1, fit_intercept=fit_intercept)
    trace = clf.fit(X, case.signs).trace_
    assert isinstance(trace, Trace)
    assert trace.weights(0).tolist() == trace.average(0).tolist() == [0.0] * 4
    assert trace.weights(len(trace)).tolist() == [*clf.coef_[0], *clf.intercept_]
    assert (trace.weights(-1) == trace.weights(len(trace))).all()
    for t in (1, 2, len(trace) - 1):
        with case_named(t):
            part = nv.Perceptron(random_state=1, fit_intercept=fit_intercept, max_updates=t)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                part.fit(X, case.signs)
                mean = clone(part).set_params(average=True).fit(X, case.signs)
            assert trace.weights(t).tolist() == [*part.coef_[0], *part.intercept_]
            assert np.allclose(trace.average(t), [*mean.coef_[0], *mean.intercept_])
    assert (trace.weights()[[0, 2]] == [trace.weights(0), trace.weights(2)]).all()
    assert (trace.average()[[0, 2]] == [trace.average(0), trace.average(2)]).all()
    with pytest.raises(IndexError, match=f"made {len(trace)} updates"):
        trace.weights(len(trace) + 1)


def test_the_weights_of_a_trace_do_not_change_with_the_data() -> None:
    X, y = np.array([[1.0, 2.0], [-1.0, 1.0], [0.0, -3.0]]), [1, 0, 0]
    trace = nv.Perceptron(trace=True, order="cyclic").fit(X, y).trace_
    assert isinstance(trace, Trace)
    before = trace.weights()
    X *= 7.0
    assert (trace.weights() == before).all()
    started = nv.Perceptron(trace=True, order="cyclic").fit(X, y, coef_init=[5.0, 6.0]).trace_
    assert isinstance(started, Trace)
    assert started.weights(0).tolist() == [5.0, 6.0, 0.0]
    with pytest.raises(ValueError, match="rows"):
        Recorder().trace().weights(0)


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_each_rule_of_several_has_its_own_trace(scheme: Literal["ovr", "ovo"]) -> None:
    X, y = np.array([[0.0, 1.0], [5.0, 0.0], [-5.0, -4.0]]), ["a", "b", "c"]
    clf = nv.Perceptron(trace=True, multi_class=scheme, random_state=0).fit(X, y)
    assert isinstance(clf.trace_, list)
    for trace, w, b in zip(clf.trace_, clf.coef_, clf.intercept_, strict=True):
        assert trace.weights(-1).tolist() == [*w, b]


@pytest.mark.parametrize("n", range(2, 22))
def test_no_margin_is_above_the_ceiling(n: int) -> None:
    """γ of ±e₁, …, ±e_n is 1/√n, and ‖w‖/t reaches it; rounded to nearest, it would be below."""
    clf = nv.Perceptron(order="cyclic", fit_intercept=False, trace=True)
    clf.fit(np.vstack([np.eye(n), -np.eye(n)]), [1] * n + [0] * n)
    assert isinstance(clf.trace_, Trace)
    ceiling = Fraction(float(clf.trace_.margin_ceilings().min()))
    assert 1 <= ceiling**2 * n <= 1 + Fraction(1, 10**12)
