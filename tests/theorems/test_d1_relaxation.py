"""D1: a step of relaxation never leads away from a solution.

With a shift into the interior, the number of steps is bounded as for the perceptron.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core import runs, updates
from novikoff.core.rows import Matrix, Vector, side_by_side
from novikoff.core.runs import Run, train_rule
from novikoff.core.stops import Limits
from novikoff.core.updates import Update
from novikoff.systems.methods import METHODS, Attempt
from tests.theorems.system_cases import RULES, contradictory, multipliers, point, with_ball

relaxation = METHODS["relaxation"]
LONG = Limits(updates=20_000)


def path(found: Attempt, A: Vector, w0: Vector) -> Vector:
    """Return the points before the first step and after every step."""
    assert found.trace is not None
    moves = -found.trace["step"][:, None] * A[found.trace["index"]]
    return np.vstack([w0, w0 + np.cumsum(moves, axis=0)])


def check_fejer(method: Callable[..., Attempt], order: str, eta: float, storage: Any) -> None:
    """Check the identity at every step, for three solutions z."""
    A, c, z = with_ball(3, 0.01)
    w0 = z + 3.0
    lengths = np.linalg.norm(A, axis=1)
    options: dict[str, Any] = {"w0": w0, "order": order, "eta": eta, "shift": 0.0, "trace": True}
    found = method(storage(A), c, limits=Limits(updates=300), **options)
    assert found.trace is not None
    assert found.w is not None
    W = path(found, A, w0)
    assert np.allclose(W[-1], found.w, rtol=0, atol=1e-12)
    at = found.trace["index"]
    r = ((A[at] * W[:-1]).sum(1) - c[at]) / lengths[at]
    assert np.allclose(r, found.trace["residual"] / lengths[at], rtol=1e-9, atol=1e-12)
    assert (r > -1e-12).all()
    for solution in (z, z + 0.009 * A[0] / lengths[0], z - 0.01 * A[1] / lengths[1]):
        s = (c[at] - A[at] @ solution) / lengths[at]
        squares = ((W - solution) ** 2).sum(1)
        assert (s > -1e-12).all()
        assert np.allclose(np.diff(squares), -eta * (2 - eta) * r**2 - 2 * eta * r * s, atol=1e-10)
        assert (np.diff(squares) < 1e-10).all()


@pytest.mark.parametrize("order", RULES)
@pytest.mark.parametrize("eta", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_every_step_satisfies_the_identity_of_fejer(order: str, eta: float, storage: Any) -> None:
    check_fejer(relaxation, order, eta, storage)


def alter_updates(monkeypatch: pytest.MonkeyPatch, alter: Callable[[Update], Update]) -> None:
    """Let the method learn with an altered update rule."""
    monkeypatch.setattr(updates, "Update", lambda *given, **more: alter(Update(*given, **more)))


@pytest.mark.parametrize(
    ("alter", "eta"),
    [
        pytest.param(lambda update: update._replace(eta=1.05 * update.eta), 1.5, id="longer"),
        pytest.param(lambda update: update._replace(eta=2.1), 2.0, id="beyond a reflection"),
        pytest.param(lambda update: update._replace(threshold=0.1), 2.0, id="without a mistake"),
    ],
)
def test_an_altered_step_breaks_the_identity_of_fejer(
    alter: Callable[[Update], Update], eta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_fejer(relaxation, "cyclic", eta, np.asarray)
    alter_updates(monkeypatch, alter)
    with pytest.raises(AssertionError):
        check_fejer(relaxation, "cyclic", eta, np.asarray)


def test_constants_of_the_wrong_sign_break_the_identity_of_fejer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(A: Matrix, column: Vector) -> Matrix:
        return side_by_side(A, -column)

    monkeypatch.setattr("novikoff.systems.methods.projections.side_by_side", wrong)
    with pytest.raises(AssertionError):
        check_fejer(relaxation, "cyclic", 2.0, np.asarray)


def check_shifted(
    method: Callable[..., Attempt], A: Vector, c: Vector, z: Vector, order: str, share: float
) -> None:
    """Check the bound ‖w₀ − z‖²/(δ(2ε − δ)) on steps; a ball of radius ε = 0.05 around z fits."""
    w0 = z + np.random.default_rng(len(A)).normal(size=len(z))
    found = method(A, c, w0=w0, order=order, shift=share * 0.05, limits=LONG)
    distance = float(np.linalg.norm(w0 - z))
    assert found.n_steps <= nv.theory.shifted_bound(distance, 0.05, share * 0.05)
    assert (A @ point(found) <= c).all()


SLAB = np.array([[1.0], [-1.0]]), np.array([0.05, 0.05]), np.zeros(1)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from([0.3, 1.0, 1.7]))
def test_a_shifted_run_needs_no_more_steps_than_the_bound(
    seed: int, order: str, share: float
) -> None:
    check_shifted(relaxation, *with_ball(seed, 0.05), order, share)
    check_shifted(relaxation, *SLAB, order, share)


def test_a_shift_beyond_the_ball_exceeds_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    alter_updates(monkeypatch, lambda update: update._replace(goal=2.1 * update.goal))
    with pytest.raises(AssertionError):
        check_shifted(relaxation, *SLAB, "cyclic", 1.0)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from([1e-1, 1e-3, 1e-5]))
def test_halving_the_shift_finds_a_point_of_any_interior(
    seed: int, order: str, radius: float
) -> None:
    A, c, _ = with_ball(seed, radius)
    found = relaxation(A, c, order=order, limits=LONG)
    assert (A @ point(found) <= c).all()
    assert found.multipliers is None


@pytest.mark.parametrize("order", RULES)
def test_reflection_ends_if_there_is_an_interior_and_only_then(order: str) -> None:
    A, c, _ = with_ball(1, 0.1)
    line, zero = np.array([[1.0], [-1.0]]), np.zeros(2)
    reflect = partial(relaxation, order=order, eta=2.0, shift=0.0)
    assert (A @ point(reflect(A, c, limits=LONG)) <= c).all()
    without_end = reflect(line, zero, w0=np.ones(1), limits=Limits(updates=1001))
    assert abs(point(without_end).item()) == 1.0


def check_agmon(order: str, eta: float) -> None:
    """Check the rate on a rotated orthant, where the distance is ‖(Q w)⁺‖ and μ = 1/√p."""
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    w0 = np.random.default_rng(1).normal(size=5) * 10.0
    options: dict[str, Any] = {"w0": w0, "order": order, "eta": eta, "shift": 0.0, "trace": True}
    found = relaxation(Q, np.zeros(5), limits=Limits(updates=40), **options)
    squares = (np.maximum(path(found, Q, w0) @ Q.T, 0.0) ** 2).sum(1)
    rate = nv.theory.agmon_rate(eta, 1.0 / np.sqrt(5.0))
    assert (squares[1:] <= rate * squares[:-1] + 1e-12).all()


@pytest.mark.parametrize("eta", [0.5, 1.0, 1.5])
def test_the_distance_shrinks_at_the_rate_of_agmon(eta: float) -> None:
    check_agmon("max_distance", eta)


def test_an_order_other_than_the_maximal_distance_breaks_the_rate() -> None:
    with pytest.raises(AssertionError):
        check_agmon("cyclic", 0.5)


@pytest.mark.parametrize("order", ["max_distance", "max_residual"])
def test_maximal_orders_choose_the_most_violated_inequality(order: str) -> None:
    A, c, z = with_ball(5, 0.01)
    w0 = z + 2.0
    found = relaxation(A, c, w0=w0, order=order, shift=0.0, trace=True, limits=Limits(updates=60))
    assert found.trace is not None
    lengths = np.linalg.norm(A, axis=1) if order == "max_distance" else 1.0
    violations = (path(found, A, w0)[:-1] @ A.T - c) / lengths
    assert np.array_equal(violations.argmax(axis=1), found.trace["index"])


def check_farkas(method: Callable[..., Attempt], seed: int) -> None:
    A, c = contradictory(seed, n=8, p=2)
    found = method(A, c, order="cyclic", shift=0.0, limits=Limits(epochs=3000))
    lam = multipliers(found)
    assert np.abs(lam @ A).max() < 1e-6
    assert lam @ c < 0.0


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_without_a_solution_the_steps_of_one_cycle_are_a_farkas_vector(seed: int) -> None:
    check_farkas(relaxation, seed)


def test_counting_visits_instead_of_steps_gives_no_farkas_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def visits(*given: Any, **more: Any) -> Run:
        run = train_rule(*given, **more)
        run.traces = [replace(trace, tau=np.sign(trace.tau)) for trace in run.traces]
        return run

    monkeypatch.setattr(runs, "train_rule", visits)
    with pytest.raises(AssertionError):
        check_farkas(relaxation, 0)


def test_strict_homogeneous_systems_are_solved_and_bad_options_rejected() -> None:
    A = np.array([[1.0, 0.1], [-1.0, 0.1]])
    assert (A @ point(relaxation(A)) > 0.0).all()
    with pytest.raises(ValueError, match=r"at most 2, not 2\.5"):
        relaxation(A, eta=2.5)
    with pytest.raises(ValueError, match="not -1"):
        relaxation(A, shift=-1.0)
