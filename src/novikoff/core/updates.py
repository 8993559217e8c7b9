"""The update rules: when to act on a row, and how far to move along it.

Every rule acts on a row exactly when its margin m = ⟨a_i, w⟩ is at most a threshold δ, and then
moves w ← w + τ·a_i, with

    τ = μ    or    τ = min(cap, η·(goal − m)/(‖a_i‖² + slack)).

So a rule is one record of six numbers, and the loop is compiled once for all of them. A new rule
is a new function below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from novikoff.core.rows import Vector

# m < 1 and m ≤ BELOW_ONE are the same condition on floats.
BELOW_ONE = math.nextafter(1.0, 0.0)


class Update(NamedTuple):
    """An update rule; with η = 0 its step is μ, whatever the margin."""

    threshold: float  # δ
    step: float = 0.0  # μ
    eta: float = 0.0
    goal: float = 0.0
    cap: float = math.inf
    slack: float = 0.0


def perceptron(margin: float = 0.0, step: float = 1.0) -> Update:
    """τ = μ when m ≤ δ (A2; Rosenblatt 1958).

    From w₀ = 0 with δ = 0 it acts at most R²/γ² times on separable data (B1).
    """
    return Update(float(margin), float(step))


def aggressive(step: float = 1.0) -> Update:
    """τ = μ always (A10): what happens when nothing is left alone that works."""
    return Update(math.inf, float(step))


def passive_aggressive(cap: float = math.inf, slack: float = 0.0) -> Update:
    """τ = min(cap, (1 − m)/(‖a‖² + slack)) when m < 1 (A9; Crammer et al. 2006).

    PA as it is, the nearest w with m = 1; PA-I with ``cap=C``; PA-II with ``slack=1/(2C)``.
    """
    return Update(BELOW_ONE, eta=1.0, goal=1.0, cap=float(cap), slack=float(slack))


def relaxation(eta: float = 1.0, margin: float = 0.0) -> Update:
    """τ = η·(δ − m)/‖a‖² when m ≤ δ (D1; Agmon 1954; Motzkin and Schoenberg 1954).

    η = 1 projects onto the half-space ⟨a, w⟩ ≥ δ, η = 2 reflects.
    """
    return Update(float(margin), eta=float(eta), goal=float(margin))


def numbers_of(update: Update, fit_intercept: bool) -> Vector:
    """An update and whether there is a bias, as one array: Numba unboxes it faster."""
    return np.array([*update, float(fit_intercept)])


@register_jitable(forceinline=True)
def tau(update: Update, m: float, sq: float) -> float:
    """How far the rule moves along a_i, given m = ⟨a_i, w⟩ and sq = ‖a_i‖².

    Examples
    --------
    >>> tau(passive_aggressive(cap=0.5), m=-1.0, sq=2.0)
    0.5
    """
    if update.eta == 0.0:
        return update.step
    if sq == math.inf:  # said by weights that are not finite: 0 would never learn
        return math.nan
    if sq + update.slack == 0.0:  # nothing moves along a row of length 0
        return 0.0
    return min(update.cap, update.eta * (update.goal - m) / (sq + update.slack))
