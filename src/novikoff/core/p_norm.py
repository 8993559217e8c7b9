"""The p-norm perceptron: it adds rows to θ, and predicts by a power of θ.

    θ ← θ + a_i on a mistake ⟨a_i, w⟩ ≤ 0,    w = ∇½‖θ‖_p²:  w_j = sign(θ_j)·|θ_j|^(p−1)/‖θ‖_p^(p−2)

With p = 2 this is the perceptron. With p = 2·ln d the mistake bound is small if a few features
decide the label (`novikoff.bounds.p_norm_bound`). If row i has a factor c_i in ``sample_weight``,
the run equals the run on the rows c_i·a_i.

References
----------
Grove, A. J., Littlestone, N. and Schuurmans, D. (2001). General convergence results for linear
discriminant updates. *Machine Learning* 43(3), 173-210.
Gentile, C. (2003). The robustness of the p-norm algorithms. *Machine Learning* 53(3), 265-299.
"""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar

import numpy as np
from numba import njit

from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, SignedRows, Vector
from novikoff.core.state_model import RuleVisit, StateModel, sweeping
from novikoff.core.sweep import Counts
from novikoff.core.verbs import axpy, dot, entries


class PNormModel(StateModel):
    """The model of the p-norm perceptron: the vector θ of each rule, with the bias last."""

    theta: Vector

    shapes: ClassVar = {"theta": "Kp"}
    negated_on_swap: ClassVar = ("theta",)
    cycles: ClassVar = True  # θ determines all later θ
    allowed_settings: ClassVar = {"p": 2.0}

    def rule_loop(
        self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts
    ) -> RuleVisit:
        """Return a loop over some of these rows; see `StateModel.rule_loop`."""
        return sweeping(
            partial(sweep_p_norm, float(self.settings["p"])),
            self,
            rows,
            codes,
            sample_weight,
            counts,
        )

    def prediction_weights(self) -> Vector:
        """The weights w = ∇½‖θ‖_p² of each rule."""
        theta, p = self.theta.T, float(self.settings["p"])
        largest = np.abs(theta).max(axis=0)
        scaled = theta / np.where(largest > 0.0, largest, 1.0)
        lengths = (np.abs(scaled) ** p).sum(axis=0) ** (1.0 / p)
        w = np.sign(scaled) * np.abs(scaled) ** (p - 1.0)
        return np.asarray(w * largest / np.maximum(lengths, 1.0) ** (p - 2.0))


@njit(cache=True, nogil=True)
def sweep_p_norm(
    p: float, rows: SignedRows, epoch: Indices, sample_weight: Vector, theta: Vector,
    totals: Indices, per_row: Indices, overflow: Vector,
) -> None:  # fmt: skip
    """Visit rows in turn with w_j = sign(θ_j)·|θ_j/unit|^(p−1); the scale of w does not matter.

    The unit is the power of two above all |θ_j|. Then no power overflows, p = 2 causes no rounding,
    and w depends on θ alone, so that a stream may be cut anywhere.
    """
    unit, w = unit_above(theta), np.empty(len(theta))
    for j in range(len(w)):
        w[j] = power(theta[j] / unit, p - 1.0)
    for i in epoch:
        m = dot(rows, i, w)
        if not abs(m) < np.inf:
            overflow[0] = np.nan
            break
        if not m > 0.0:
            axpy(sample_weight[i], rows, i, theta)
            before, unit = unit, unit_above(theta)
            if unit == before:
                columns, _ = entries(rows, i)
                for j in columns:
                    w[j] = power(theta[j] / unit, p - 1.0)
                w[-1] = power(theta[-1] / unit, p - 1.0)
            else:
                for j in range(len(w)):
                    w[j] = power(theta[j] / unit, p - 1.0)
            per_row[i] += 1
            totals[1] += 1
            totals[2] += 1


@njit(cache=True, nogil=True)
def unit_above(theta: Vector) -> float:
    """The power of two above all |θ_j|."""
    largest = 0.0
    for t in theta:
        largest = max(largest, abs(t))
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1023))


@njit(cache=True, nogil=True)
def power(t: float, exponent: float) -> float:
    """sign(t)·|t|^exponent."""
    return math.copysign(abs(t) ** exponent, t)
