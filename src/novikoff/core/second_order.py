"""The second-order perceptron, which rescales the features by its own mistakes.

Let A = a·I + Σ a_i·a_iᵀ and v = Σ a_i, where both sums are over the mistakes. The model predicts by
the sign of ⟨w, x⟩ with w = A⁻¹v. On a mistake, m = ⟨a_i, w⟩ ≤ 0, it computes g = A⁻¹a_i and
s = ⟨a_i, g⟩, and updates

    w ← w + g·(1 − m)/(1 + s)        A⁻¹ ← A⁻¹ − g·gᵀ/(1 + s)

Rounding errors in A⁻¹ would grow until s < 0. The model therefore keeps S with S·Sᵀ = A⁻¹, which
loses half as many digits (Potter 1963). With f = Sᵀa_i, s = ‖f‖² and g = S·f, the update of S is

    S ← S − g·fᵀ/(1 + s + √(1 + s)).

Cesa-Bianchi, Conconi and Gentile include the current x in A when they predict. This divides the
score by 1 + s and does not change its sign. The mistake bound is
`novikoff.bounds.second_order_bound`. It follows from

    Φ = vᵀA⁻¹v ≤ Σ ⟨a_i, A⁻¹a_i⟩ ≤ Σ ln(1 + s) = ln det(A/a),

where A is the matrix after each mistake. If a row has a factor c in ``sample_weight``, a mistake on
it counts c times in A and v. Then s = c·‖f‖², and Φ ≤ Σ c²·⟨a_i, A⁻¹a_i⟩.

References
----------
Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2005). A second-order perceptron algorithm. *SIAM
Journal on Computing* 34(3), 640-668.
Potter, J. E. and Stern, R. G. (1963). Statistical filtering of space navigation measurements.
*AIAA Guidance and Control Conference*.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, SignedRows, Vector
from novikoff.core.state_model import RuleVisit, StateModel, sweeping
from novikoff.core.sweep import Counts
from novikoff.core.verbs import dot, dots


class SecondOrderModel(StateModel):
    """The model of the second-order perceptron: w and S of each rule, with the bias last."""

    w: Vector
    root: Vector
    growth: Vector  # ln det(A/a) and Σ⟨a_i, A⁻¹a_i⟩ of each rule

    shapes: ClassVar = {"w": "Kp", "root": "Kpp", "growth": "K2"}
    negated_on_swap: ClassVar = ("w",)
    allowed_settings: ClassVar = {"a": 5e-324}

    def blank_arrays(self) -> dict[str, Vector]:
        """Zero weights and A = a·I."""
        n_rules, p = self.n_rules, self.n_features + 1
        root = np.tile(np.eye(p) / float(self.settings["a"]) ** 0.5, (n_rules, 1, 1))
        return {"w": np.zeros((n_rules, p)), "root": root, "growth": np.zeros((n_rules, 2))}

    def work(self, rows: Rows) -> int:
        """About how many multiplications an update of the whole matrix S takes."""
        return self.n_rules * rows.p**2

    def check(self) -> None:
        """Raise ValueError if an entry on the diagonal of A⁻¹ is not positive."""
        super().check()
        if not self.root.any(axis=2).all():
            raise ValueError("its matrix is not positive definite")

    def rule_loop(
        self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts
    ) -> RuleVisit:
        """Return a loop over some of these rows; see `StateModel.rule_loop`."""
        return sweeping(sweep_second_order, self, rows, codes, sample_weight, counts)

    def prediction_weights(self) -> Vector:
        """The weights of each rule; their scores are not divided by 1 + s."""
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
                for l in range(len(f)):  # noqa: E741 — an entry of a row
                    row[l] -= change * f[l]
            growth[0] += np.log1p(s)
            growth[1] += c * s / (1.0 + s)
            per_row[i] += 1
            totals[1] += 1
            totals[2] += 1
