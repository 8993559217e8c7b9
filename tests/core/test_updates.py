"""The formulas of the update rules, compared with numbers computed by hand."""

from __future__ import annotations

import math

import pytest
from numba import njit

from novikoff.core.updates import (
    Update,
    aggressive,
    passive_aggressive,
    perceptron,
    relaxation,
    tau,
)

JUST_BELOW_ONE = 0.9999999999999999
PA, PA1, PA2 = (
    passive_aggressive(),
    passive_aggressive(cap=0.25),
    passive_aggressive(slack=0.5 / 0.125),
)


@njit(nogil=True)
def _compiled(update: Update, m: float, sq: float) -> float:
    return tau(update, m, sq)


BY_HAND: list[tuple[Update, float, float, float, float]] = [
    # rule, m, ‖a‖², threshold, τ
    (perceptron(), -3.0, 4.0, 0.0, 1.0),
    (perceptron(threshold=2.0, step_size=0.25), 1.0, 4.0, 2.0, 0.25),
    (aggressive(), 7.0, 4.0, math.inf, 1.0),
    (aggressive(step_size=3.0), -7.0, 4.0, math.inf, 3.0),
    (PA, -3.0, 8.0, JUST_BELOW_ONE, 0.5),
    (PA, 0.5, 4.0, JUST_BELOW_ONE, 0.125),
    (PA1, -3.0, 8.0, JUST_BELOW_ONE, 0.25),
    (passive_aggressive(cap=2.0), -3.0, 8.0, JUST_BELOW_ONE, 0.5),
    (PA2, -3.0, 4.0, JUST_BELOW_ONE, 0.5),
    (passive_aggressive(slack=1.0), 0.0, 1.0, JUST_BELOW_ONE, 0.5),
    (relaxation(), -6.0, 4.0, 0.0, 1.5),
    (relaxation(eta=2.0, threshold=1.0), -1.0, 8.0, 1.0, 0.5),
]


@pytest.mark.parametrize(("update", "m", "sq", "delta", "step"), BY_HAND)
def test_formulas(update: Update, m: float, sq: float, delta: float, step: float) -> None:
    assert (update.threshold, tau(update, m, sq)) == (delta, step)
    assert _compiled(update, m, sq) == step


@pytest.mark.parametrize("update", [PA, PA1, relaxation(threshold=1.0)])
def test_no_step_along_a_row_of_length_zero(update: Update) -> None:
    assert tau(update, 0.0, 0.0) == 0.0
    assert _compiled(update, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(("m", "sq"), [(-3.0, 8.0), (0.25, 0.5)])
def test_passive_aggressive_lands_on_a_margin_of_one(m: float, sq: float) -> None:
    """w + τ·a has margin m + τ‖a‖² = 1; relaxation projects, and with η = 2 it reflects."""
    assert m + tau(PA, m, sq) * sq == 1.0
    assert m + tau(relaxation(eta=1.0, threshold=2.0), m, sq) * sq == 2.0
    assert m + tau(relaxation(eta=2.0, threshold=2.0), m, sq) * sq == 2.0 + (2.0 - m)


def test_passive_aggressive_acts_below_one_and_not_at_one() -> None:
    assert math.nextafter(PA.threshold, 2.0) == 1.0


def test_every_rule_shares_one_compilation() -> None:
    """A second rule needs no compilation, because all rules are records of one type."""
    for update, m, sq, *_ in BY_HAND:
        _compiled(update, m, sq)
    assert len(_compiled.signatures) == 1
