"""The second-order perceptron: the perceptron in the metric of its own mistakes (A9).

With A = a·I + Σ a_i·a_iᵀ over the mistakes and v = Σ a_i, it predicts by the sign of ⟨w, x⟩,
w = A⁻¹v. On a mistake, m = ⟨a_i, w⟩ ≤ 0, g = A⁻¹a_i and s = ⟨a_i, g⟩:

    w ← w + g·(1 − m)/(1 + s)        A⁻¹ ← A⁻¹ − g·gᵀ/(1 + s)

A⁻¹ itself drifts, until s < 0. Kept is S with S·Sᵀ = A⁻¹, which has half as many digits to lose
(Potter 1963): with f = Sᵀa_i, s = ‖f‖² and g = S·f, S ← S − g·fᵀ/(1 + s + √(1 + s)).

Cesa-Bianchi, Conconi and Gentile (2005) include the current x in A when they predict: that divides
the score by 1 + s and leaves its sign. The bound is `novikoff.bounds.second_order_bound`, from
Φ = vᵀA⁻¹v ≤ Σ ⟨a_i, A⁻¹a_i⟩ ≤ Σ ln(1 + s) = ln det(A/a), A being that after each mistake. A
mistake of weight c counts c-fold in A and v, with s = c·‖f‖²; then Φ ≤ Σ c²·⟨a_i, A⁻¹a_i⟩.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numba import njit

from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, SignedRows, Vector
from novikoff.core.state_model import StateModel
from novikoff.core.verbs import dot, dots


class SecondOrderModel(StateModel):
    """w and S of each rule, the bias last."""

    w: Vector
    root: Vector
    growth: Vector  # ln det(A/a) and Σ⟨a_i, A⁻¹a_i⟩ of each rule

    shapes: ClassVar = {"w": "Kp", "root": "Kpp", "growth": "K2"}
    negated_on_swap: ClassVar = ("w",)
    allowed_settings: ClassVar = {"a": 5e-324}

    def blank_arrays(self) -> dict[str, Vector]:
        """W = 0 and A = a·I."""
        n_rules, p = self.n_rules, self.n_features + 1
        root = np.tile(np.eye(p) / float(self.settings["a"]) ** 0.5, (n_rules, 1, 1))
        return {"w": np.zeros((n_rules, p)), "root": root, "growth": np.zeros((n_rules, 2))}

    def work(self, rows: Rows) -> int:
        """S changes as a whole."""
        return self.n_rules * rows.p**2

    def check(self) -> None:
        """Raise ValueError where the diagonal of A⁻¹ is not positive."""
        if not self.root.any(axis=2).all():
            raise ValueError("its matrix is not positive definite")

    def sweep_rule(self, *arguments: Any) -> None:
        """The loop over rows."""
        sweep_second_order(*arguments)

    def prediction_weights(self) -> Vector:
        """The weights of each rule; scores by them are not divided by 1 + s."""
        return self.w.T.copy()


@njit(cache=True, nogil=True)
def sweep_second_order(
    rows: SignedRows, epoch: Indices, sample_weight: Vector, w: Vector, root: Vector,
    growth: Vector, totals: Indices, per_row: Indices, overflow: Vector,
) -> None:  # fmt: skip
    """Visit rows in turn with w and S."""
    f = np.empty(len(w))
    for i in epoch:
        m = dot(rows, i, w)
        if not m > 0.0:
            dots(rows, i, root, f)  # Sᵀ·a_i
            c = sample_weight[i]
            s = c * np.dot(f, f)
            if not (-np.inf < m and s < np.inf):
                overflow[0] = np.nan
                break
            step, shrink = (1.0 - m) / (1.0 + s), 1.0 / (1.0 + s + np.sqrt(1.0 + s))
            for j in range(len(w)):
                g = c * np.dot(root[j], f)
                w[j] += step * g
                row, change = root[j], shrink * g
                for l in range(len(f)):  # noqa: E741 — the entries of a row
                    row[l] -= change * f[l]
            growth[0] += np.log1p(s)
            growth[1] += c * s / (1.0 + s)
            per_row[i] += 1
            totals[1] += 1
            totals[2] += 1
