"""The update rules: when to update on a row, and how far to move along it.

Every update rule acts on a row exactly when the margin m = ⟨a_i, w⟩ is at most a threshold δ. It
then sets w ← w + τ·a_i, with

    τ = μ    or    τ = min(cap, η·(goal − m)/(‖a_i‖² + slack)).

An update rule is therefore a record of six numbers, and the loop is compiled once for all update
rules. A new update rule is a new function below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from novikoff.core.rows import Vector

# The largest float below 1. For floats, m < 1 and m ≤ BELOW_ONE are the same condition.
BELOW_ONE = math.nextafter(1.0, 0.0)


class Update(NamedTuple):
    """An update rule. If η = 0, the step size is μ and does not depend on the margin."""

    threshold: float  # δ
    step_size: float = 0.0  # μ
    eta: float = 0.0  # η
    goal: float = 0.0
    cap: float = math.inf
    slack: float = 0.0


def perceptron(threshold: float = 0.0, step_size: float = 1.0) -> Update:
    """The update rule of the perceptron: τ = μ if m ≤ δ (Rosenblatt 1958).

    From w₀ = 0 with δ = 0 it makes at most R²/γ² updates on separable data.
    """
    return Update(float(threshold), float(step_size))


def aggressive(step_size: float = 1.0) -> Update:
    """The update rule of the aggressive perceptron: τ = μ on every row, mistaken or not."""
    return Update(math.inf, float(step_size))


def passive_aggressive(cap: float = math.inf, slack: float = 0.0) -> Update:
    """The passive-aggressive update rule (Crammer et al. 2006).

    τ = min(cap, (1 − m)/(‖a‖² + slack)) if m < 1. By default this is PA, which moves w to the
    nearest point with m = 1. ``cap=C`` gives PA-I and ``slack=1/(2C)`` gives PA-II.
    """
    return Update(BELOW_ONE, eta=1.0, goal=1.0, cap=float(cap), slack=float(slack))


def relaxation(eta: float = 1.0, threshold: float = 0.0) -> Update:
    """The update rule of the relaxation method (Agmon 1954; Motzkin and Schoenberg 1954).

    τ = η·(δ − m)/‖a‖² if m ≤ δ. With η = 1 the update projects w onto the half-space ⟨a, w⟩ ≥ δ.
    With η = 2 it reflects w at the boundary of the half-space.
    """
    return Update(float(threshold), eta=float(eta), goal=float(threshold))


def update_as_array(update: Update, fit_intercept: bool) -> Vector:
    """Return an update rule, and whether there is a bias, as an array, which Numba reads faster."""
    return np.array([*update, float(fit_intercept)])


@register_jitable(forceinline=True)
def tau(update: Update, m: float, sq: float) -> float:
    """Return τ, the multiple of a_i that is added to w, given m = ⟨a_i, w⟩ and sq = ‖a_i‖².

    Examples
    --------
    >>> tau(passive_aggressive(cap=0.5), m=-1.0, sq=2.0)
    0.5
    """
    if update.eta == 0.0:
        return update.step_size
    if sq == math.inf:  # NaN makes check_range report the overflow; a step of 0 would hide it
        return math.nan
    if sq + update.slack == 0.0:  # a row of length 0 does not change w
        return 0.0
    return min(update.cap, update.eta * (update.goal - m) / (sq + update.slack))
