"""The update rules: when to act on a row, and how far to move along it.

Every rule acts on a row exactly when its margin m = ⟨a_i, w⟩ is at most a threshold, and
then moves w ← w + τ·a_i. So a rule is two formulas: ``threshold(update)`` and
``tau(update, m, sq)``, with sq = ‖a_i‖². The loop that calls them is `novikoff.core.sweep`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from numba import types
from numba.extending import overload

# m < 1 and m ≤ JUST_BELOW_ONE are the same condition on floats.
JUST_BELOW_ONE: Final = math.nextafter(1.0, 0.0)


class Perceptron(NamedTuple):
    """τ = μ when m ≤ δ (A2; Rosenblatt 1958).

    From w₀ = 0 with δ = 0 it acts at most R²/γ² times on separable data (B1).
    """

    margin: float = 0.0
    step: float = 1.0


class Aggressive(NamedTuple):
    """τ = μ always (A10): what happens when nothing is left alone that works."""

    step: float = 1.0


class PA(NamedTuple):
    """τ = (1 − m)/‖a‖² when m < 1 (A9; Crammer et al. 2006): the nearest w with m = 1."""


class PA1(NamedTuple):
    """τ = min(C, (1 − m)/‖a‖²) when m < 1 (A9): PA with steps of at most C."""

    C: float = 1.0


class PA2(NamedTuple):
    """τ = (1 − m)/(‖a‖² + 1/(2C)) when m < 1 (A9): PA with a squared slack."""

    C: float = 1.0


class Relaxation(NamedTuple):
    """τ = η·(δ − m)/‖a‖² when m ≤ δ (D1; Agmon 1954; Motzkin and Schoenberg 1954).

    η = 1 projects onto the half-space ⟨a, w⟩ ≥ δ, η = 2 reflects.
    """

    eta: float = 1.0
    margin: float = 0.0


Update: TypeAlias = Perceptron | Aggressive | PA | PA1 | PA2 | Relaxation


def threshold(update: Update) -> float:
    """The largest margin at which the rule acts."""
    return _THRESHOLD[type(update)](update)


def tau(update: Update, m: float, sq: float) -> float:
    """How far the rule moves along a_i, given m = ⟨a_i, w⟩ and sq = ‖a_i‖².

    Examples
    --------
    >>> tau(PA1(C=0.5), m=-1.0, sq=2.0)
    0.5
    """
    return _TAU[type(update)](update, m, sq)


def reads_margin(update: Update) -> bool:
    """Whether the step depends on the value of m, not only on its side of the threshold."""
    return type(update) not in _BLIND


def _perceptron_threshold(update: Perceptron) -> float:
    return update.margin


def _perceptron_tau(update: Perceptron, m: float, sq: float) -> float:
    return update.step


def _aggressive_threshold(update: Aggressive) -> float:
    return math.inf


def _aggressive_tau(update: Aggressive, m: float, sq: float) -> float:
    return update.step


def _pa_threshold(update: PA | PA1 | PA2) -> float:
    return JUST_BELOW_ONE


def _pa_tau(update: PA, m: float, sq: float) -> float:
    return (1.0 - m) / sq if sq > 0.0 else 0.0


def _pa1_tau(update: PA1, m: float, sq: float) -> float:
    return min(update.C, (1.0 - m) / sq) if sq > 0.0 else 0.0


def _pa2_tau(update: PA2, m: float, sq: float) -> float:
    return (1.0 - m) / (sq + 0.5 / update.C)


def _relaxation_threshold(update: Relaxation) -> float:
    return update.margin


def _relaxation_tau(update: Relaxation, m: float, sq: float) -> float:
    return update.eta * (update.margin - m) / sq if sq > 0.0 else 0.0


_THRESHOLD: dict[type, Callable[..., float]] = {
    Perceptron: _perceptron_threshold,
    Aggressive: _aggressive_threshold,
    PA: _pa_threshold,
    PA1: _pa_threshold,
    PA2: _pa_threshold,
    Relaxation: _relaxation_threshold,
}
_TAU: dict[type, Callable[..., float]] = {
    Perceptron: _perceptron_tau,
    Aggressive: _aggressive_tau,
    PA: _pa_tau,
    PA1: _pa1_tau,
    PA2: _pa2_tau,
    Relaxation: _relaxation_tau,
}
_BLIND = (Perceptron, Aggressive)


# Inside a kernel the rule is known at compile time, and its two formulas are inlined.
@overload(threshold, strict=False, jit_options={"forceinline": True})
def _threshold(update: types.NamedTuple) -> Callable[..., float]:
    return _THRESHOLD[update.instance_class]


@overload(tau, strict=False, jit_options={"forceinline": True})
def _tau(update: types.NamedTuple, m: types.Type, sq: types.Type) -> Callable[..., float]:
    return _TAU[update.instance_class]


@overload(reads_margin, strict=False, jit_options={"forceinline": True})
def _reads_margin(update: types.NamedTuple) -> Callable[..., bool]:
    return _no if update.instance_class in _BLIND else _yes


def _yes(update: Update) -> bool:
    return True


def _no(update: Update) -> bool:
    return False
