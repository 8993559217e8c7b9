"""A run ends with a clean cycle, or says why it did not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from novikoff.core.orders import Chaotic, Cyclic, MaxDistance, Order, Permuted, Random
from novikoff.core.problem import Problem, signed_problem
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits, Stop
from tests.cases import SEQUENCES, class_name, planted, planted_integers, update_of
from tests.oracle import Perceptron, Vector, margins


def contradiction() -> Problem:
    X = np.array([[1.0, 2.0], [1.0, 2.0], [0.5, -1.0]])
    return signed_problem(X, np.array([1, -1, 1], dtype=np.int8), True)


def go(
    problem: Problem,
    order: Order,
    limits: Limits,
    start: Vector | None = None,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    plan = Plan(update_of(Perceptron()), order, limits, after_epoch=after_epoch)
    return train_rule(problem, plan, start=start)


@pytest.mark.parametrize("order", SEQUENCES)
def test_a_clean_end_is_clean(order: str) -> None:
    case = planted(1, 60, 4)
    ran = go(signed_problem(case.X, case.signs, True), SEQUENCES[order](60), Limits(epochs=5000))
    assert ran.stops == [Stop.CLEAN]
    assert ran.converged
    assert (margins(case.rows, ran.W[:, 0]) > 0).all()


def test_a_lucky_epoch_of_random_draws_is_not_a_clean_cycle() -> None:
    """Row 0 is almost always drawn; row 1 is misclassified, and almost never drawn."""
    X = np.array([[1.0], [-1.0]])
    problem = signed_problem(X, np.array([1, 1], dtype=np.int8), False)
    ran = go(problem, Random([1.0, 1e-12]), Limits(epochs=50))
    assert ran.stops == [Stop.EPOCHS]


@pytest.mark.parametrize("order", [Cyclic(), Permuted(), Random(), MaxDistance()], ids=class_name)
def test_inseparable_data_never_ends_clean(order: Order) -> None:
    ran = go(contradiction(), order, Limits(epochs=7))
    assert ran.stops == [Stop.EPOCHS]
    assert not ran.converged
    assert (ran.epochs, ran.visited) == (7, 21)


@pytest.mark.parametrize("order", [Cyclic(), Random(), MaxDistance()], ids=class_name)
def test_the_time_limit(order: Order) -> None:
    """With a limit of no time, the run stops when it first checks the clock."""
    ran = go(contradiction(), order, Limits(seconds=0.0))
    assert ran.stops == [Stop.SECONDS]
    ran = go(contradiction(), order, Limits(seconds=0.01))
    assert ran.stops == [Stop.SECONDS]


@pytest.mark.parametrize("order", [Cyclic(), MaxDistance()], ids=class_name)
def test_a_run_can_be_interrupted(order: Order) -> None:
    limits = Limits(updates=10_000)

    def interrupt(state: Run) -> bool:
        raise KeyboardInterrupt

    ran = go(contradiction(), order, limits, after_epoch=interrupt)
    assert ran.stops == [Stop.INTERRUPTED]
    assert limits.interrupted
    assert ran.update_counts.toarray()[0].sum() == ran.updates > 0
    assert go(contradiction(), order, limits).updates == 0  # runs share the interruption


def test_parts_and_copies_of_limits_share_their_interruption() -> None:
    whole = Limits(seconds=1e6)
    part, copy = whole.part(0.5), replace(whole, updates=3)
    others = [whole, part.part(0.5), copy]
    for limits in others:
        limits.raise_if_interrupted()
    part.interrupt()
    assert [limits.reached() for limits in others] == [Stop.INTERRUPTED] * 3
    with pytest.raises(KeyboardInterrupt):
        whole.raise_if_interrupted()
    assert Limits().reached() is None


@pytest.mark.parametrize("order", [Cyclic(), MaxDistance()], ids=class_name)
def test_a_callback_is_called_after_every_epoch_and_can_end_a_run(order: Order) -> None:
    seen: list[tuple[int, int]] = []

    def watch(state: Run) -> bool:
        seen.append((state.epochs, state.visited))
        return len(seen) == 3

    ran = go(contradiction(), order, Limits(), after_epoch=watch)
    assert ran.stops == [Stop.CALLBACK]
    assert seen == [(1, 3), (2, 6), (3, 9)]


def test_a_callback_does_not_hide_a_clean_cycle() -> None:
    case = planted_integers(2, 10, 3)
    problem = signed_problem(case.X, case.signs, True)
    ran = go(problem, Cyclic(), Limits(), start=case.w_star, after_epoch=lambda _: True)
    assert ran.stops == [Stop.CLEAN]


def test_a_sequence_that_ends_ends_the_run() -> None:
    ran = go(contradiction(), Chaotic([0, 1, 2] * 4, window=3), Limits())
    assert ran.stops == [Stop.EXHAUSTED]
    assert ran.visited == 12


def test_the_first_limit_reached_is_the_reason() -> None:
    assert Limits(epochs=3).reached(2) is None
    assert Limits(epochs=3).reached(3) is Stop.EPOCHS
    assert Limits(epochs=3, seconds=0.0).reached(3) is Stop.SECONDS
    assert Limits().reached(10**9) is None
    assert Limits(updates=5).most_updates() == 5
    assert Limits().most_updates() > 10**18
