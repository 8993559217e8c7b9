"""The second-order perceptron: the perceptron in the metric of its own mistakes (A9).

With A = a·I + Σ a_i·a_iᵀ over the mistakes and v = Σ a_i, it predicts by the sign of ⟨w, x⟩,
w = A⁻¹v. On a mistake, m = ⟨a_i, w⟩ ≤ 0, g = A⁻¹a_i and s = ⟨a_i, g⟩:

    w ← w + g·(1 − m)/(1 + s)        A⁻¹ ← A⁻¹ − g·gᵀ/(1 + s)

A⁻¹ itself drifts, until s < 0. Kept is S with S·Sᵀ = A⁻¹, which has half as many digits to lose
(Potter 1963): with f = Sᵀa_i, s = ‖f‖² and g = S·f, S ← S − g·fᵀ/(1 + s + √(1 + s)).

Cesa-Bianchi, Conconi and Gentile (2005) include the current x in A when they predict: that divides
the score by 1 + s and leaves its sign. For the diagonal of A it does not, and without x the bound
is lost: its score is Σ_j v_j·x_j/(A_jj + x_j²). The bound is `novikoff.bounds.second_order_bound`,
from Φ = vᵀA⁻¹v ≤ Σ ⟨a_i, A⁻¹a_i⟩ ≤ Σ ln(1 + s) = ln det(A/a), A being that after each mistake. A
mistake of weight c counts c-fold in A and v, with s = c·‖f‖²; then Φ ≤ Σ c²·⟨a_i, A⁻¹a_i⟩.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numba import njit

from novikoff.core.model import Model
from novikoff.core.problem import Problem, stretches
from novikoff.core.rows import Indices, Matrix, Rows, Vector
from novikoff.core.verbs import axpy, dot, dots, entries

NOT_POSITIVE = "its matrix is not positive definite"


class SecondOrderModel(Model):
    """w and S of each rule, the bias last."""

    w: Vector
    root: Vector
    growth: Vector  # ln det(A/a) and Σ⟨a_i, A⁻¹a_i⟩ of each rule

    shapes: ClassVar = {"w": "Kp", "root": "Kpp", "growth": "K2"}
    signed: ClassVar = ("w",)
    wanted: ClassVar = {"a": 5e-324, "matrix": ("full",)}

    def blank_arrays(self) -> dict[str, Vector]:
        """W = 0 and A = a·I."""
        n_rules, p = self.n_rules, self.n_features + 1
        root = np.tile(np.eye(p) / float(self.settings["a"]) ** 0.5, (n_rules, 1, 1))
        return {"w": np.zeros((n_rules, p)), "root": root, "growth": np.zeros((n_rules, 2))}

    def work(self, problem: Problem) -> int:
        """S changes as a whole."""
        return self.n_rules * problem.p**2

    def check(self) -> None:
        """Raise ValueError where the diagonal of A⁻¹ is not positive."""
        if not self.root.any(axis=2).all():
            raise ValueError(NOT_POSITIVE)

    def sweep_rule(self, *arguments: Any) -> None:
        """The loop over rows."""
        sweep_full(*arguments)

    def decisive(self) -> Vector:
        """The weights of each rule; scores by them are not divided by 1 + s."""
        return self.w.T.copy()


class DiagonalModel(Model):
    """v and the diagonal of A of each rule, the bias last."""

    v: Vector
    A: Vector
    growth: Vector  # as in `SecondOrderModel`

    shapes: ClassVar = {"v": "Kp", "A": "Kp", "growth": "K2"}
    signed: ClassVar = ("v",)
    wanted: ClassVar = {"a": 5e-324, "matrix": ("diagonal",)}

    def blank_arrays(self) -> dict[str, Vector]:
        """Zeros as v, and a everywhere as A."""
        shape = self.n_rules, self.n_features + 1
        A = np.full(shape, float(self.settings["a"]))
        return {"v": np.zeros(shape), "A": A, "growth": np.zeros((self.n_rules, 2))}

    def check(self) -> None:
        """Raise ValueError where the diagonal of A is not positive."""
        if not (self.A > 0.0).all():
            raise ValueError(NOT_POSITIVE)

    def sweep_rule(self, *arguments: Any) -> None:
        """The loop over rows."""
        sweep_diagonal(*arguments)

    def decisive(self) -> Vector:
        """No weights: the score is not linear."""
        raise AttributeError(
            "The score of matrix='diagonal' is not linear in x, as x itself is included: it has "
            "no weights."
        )

    def last_scores(self, X: Matrix) -> Vector:
        """Σ_j v_j·x_j/(A_jj + x_j²), x with the bias."""
        v, A, bias = self.v, self.A, float(self.fit_intercept)
        out: Vector = np.empty((X.shape[0], self.n_rules))
        for k in range(self.n_rules):
            for begin, end in stretches(X):
                part = X[begin:end].astype(np.float64)
                if isinstance(part, np.ndarray):
                    part /= A[k, :-1] + part * part
                else:
                    part.data /= A[k, part.indices] + part.data**2
                out[begin:end, k] = part @ v[k, :-1]
            out[:, k] += bias * v[k, -1] / (A[k, -1] + bias)
        return out


@njit(cache=True, nogil=True)
def sweep_full(
    rows: Rows, epoch: Indices, weights: Vector, w: Vector, root: Vector, growth: Vector,
    totals: Indices, per_row: Indices, beyond: Vector,
) -> None:  # fmt: skip
    """Visit rows in turn with w and S."""
    f = np.empty(len(w))
    for i in epoch:
        m = dot(rows, i, w)
        if not m > 0.0:
            dots(rows, i, root, f)  # Sᵀ·a_i
            c = weights[i]
            s = c * np.dot(f, f)
            if not (-np.inf < m and s < np.inf):
                beyond[0] = np.nan
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


@njit(cache=True, nogil=True)
def sweep_diagonal(
    rows: Rows, epoch: Indices, weights: Vector, v: Vector, A: Vector, growth: Vector,
    totals: Indices, per_row: Indices, beyond: Vector,
) -> None:  # fmt: skip
    """Visit rows in turn with v and the diagonal of A."""
    end = len(v) - 1
    for i in epoch:
        columns, values = entries(rows, i)
        m = rows.bias * v[end] / (A[end] + rows.bias)
        for j in range(len(columns)):
            x = np.float64(values[j])  # as in the update: the square of a float32 may overflow
            m += x * v[columns[j]] / (A[columns[j]] + x * x)
        m *= rows.signs[i]
        if not abs(m) < np.inf:
            beyond[0] = np.nan
            break
        if not m > 0.0:
            c = weights[i]
            axpy(c, rows, i, v)
            growth[0] += np.log1p(c * rows.bias / A[end])
            A[end] += c * rows.bias
            growth[1] += c * c * rows.bias / A[end]
            for j in range(len(columns)):
                square = c * np.float64(values[j]) * np.float64(values[j])
                growth[0] += np.log1p(square / A[columns[j]])
                A[columns[j]] += square
                growth[1] += c * square / A[columns[j]]
            per_row[i] += 1
            totals[1] += 1
            totals[2] += 1
