"""The kernel perceptron: the run of the perceptron with ⟨·, ·⟩ replaced by a kernel K.

The weights are w = Σ k_i·y_i·Φ(x_i) with integer counts k_i, and f(x) = Σ k_i·y_i·K(x_i, x). The
loop keeps the scores of all rows. A row that is classified correctly therefore costs nothing, and a
mistake on row i adds y_i·K(x_i, ·) to all scores. If row i has a factor c_i in ``sample_weight``, a
mistake on it counts c_i times, as in a run on the rows c_i·Φ(x_i).

From w = 0 there are at most R²/γ² mistakes, where R² = max K(x_i, x_i) and γ is the margin in the
feature space of the kernel: Novikoff's proof uses inner products only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from novikoff.core.blas import one_blas_thread
from novikoff.core.kernels import KERNEL_NAMES, KERNEL_SETTINGS, Kernel, KernelRows
from novikoff.core.model import TOO_LARGE
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, Vector, as_dense, stacked
from novikoff.core.state_model import RuleVisit, StateModel
from novikoff.core.sweep import Counts
from novikoff.core.trace import Trace

LOOK = 64  # the number of rows that are searched at once for the next mistake


class KernelModel(StateModel):
    """The support points, which are the rows with updates, and their coefficients y_i·k_i."""

    coef: Vector  # Σ c·y over the updates, for each rule and point
    weighted: Vector  # Σ n_steps·c·y, for the average
    rows: Vector  # the row numbers of the points, if the kernel is precomputed

    shapes: ClassVar = {"coef": "KS", "weighted": "KS", "rows": "R"}
    negated_on_swap: ClassVar = ("coef", "weighted")
    allowed_settings: ClassVar = {
        **KERNEL_SETTINGS,
        "kernel": (*KERNEL_NAMES, "precomputed"),
        "cache_bytes": 0.0,
    }

    def blank_arrays(self) -> dict[str, Vector]:
        """No support points."""
        self.support = np.zeros((0, self.n_features))
        counts = np.zeros((self.n_rules, 0))
        return {"coef": counts, "weighted": counts.copy(), "rows": np.zeros(0)}

    @property
    def kernel(self) -> Kernel:
        """The kernel, with 1 added for an intercept."""
        parameters = {name: self.settings[name] for name in ("gamma", "degree", "coef0")}
        return Kernel(self.settings["kernel"], **parameters, bias=float(self.fit_intercept))

    @property
    def precomputed(self) -> bool:
        """Whether the features are the kernel values with the rows of the fit."""
        return bool(self.settings["kernel"] == "precomputed")

    def work(self, rows: Rows) -> int:
        """About how many multiplications a row of the kernel matrix and all scores take."""
        return rows.n * (rows.longest + self.n_rules)

    def watched(self) -> Vector:
        """The coefficients of the current run."""
        return self._counts.T

    def rule_loop(
        self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts
    ) -> RuleVisit:
        """The loop over these rows, which keeps the scores of all rows."""
        kernels = KernelRows(self.kernel, rows.X, self.settings["cache_bytes"])
        scores = np.ascontiguousarray(self.last_scores(rows.X).T)
        signs = np.ascontiguousarray(self.sides[codes].T.astype(np.float64))
        sums, late = np.zeros((2, *scores.shape))  # Σ c·y, and Σ n_steps·c·y for the average
        self._rows, self._scores, self._counts, self._late = rows.X, scores, sums, late
        self._acts: list[list[tuple[int, int, float, float, float]]] = [[] for _ in scores]

        def sweep(rule: int, epoch: Indices) -> None:
            f, y, acts = scores[rule], signs[rule], self._acts[rule]
            at, look = 0, LOOK
            while at < len(epoch):
                ahead = epoch[at : at + look]
                wrong = np.flatnonzero(f[ahead] * y[ahead] <= 0.0)
                if len(wrong) == 0:
                    at, look = at + len(ahead), 2 * look
                    continue
                i, at, look = int(ahead[wrong[0]]), at + int(wrong[0]) + 1, LOOK
                row, m, c = kernels[i], float(f[i] * y[i]), float(sample_weight[i])
                n_steps = int(counts.totals[0, rule]) + at - 1
                acts.append((n_steps, i, m, c, row[i]))
                f += c * y[i] * row
                sums[rule, i] += c * y[i]
                late[rule, i] += n_steps * c * y[i]
                counts.per_row[i, rule] += 1
                counts.totals[1:, rule] += 1
            if not np.isfinite(f).all():
                counts.overflow[0] = np.nan

        return sweep

    def scores_in_run(self, X: Matrix) -> Vector:
        """The scores that the loop keeps: the new support points are not stored before `finish`."""
        return self._scores.T

    def finish(self) -> None:
        """Append the rows with updates to the support points."""
        used = np.flatnonzero(self._counts.any(axis=0))
        self._append(self._rows[used], self._counts[:, used], self._late[:, used])
        if self.precomputed:
            self.rows = used.astype(np.float64)
        del self._rows, self._scores, self._counts, self._late, self._acts

    def learn_one(
        self, columns: Indices, values: Vector, code: int, update_array: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example; see `Model.learn_one`."""
        row = self._row(columns, values)
        scores: Vector = self.last_scores(row)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            square = values.dot(values)
        if not np.isfinite(scores).all() or not np.isfinite(square):
            raise ValueError(TOO_LARGE)
        self.kernel.diagonal(row)  # raises ValueError if K(x, x) is not finite
        sides = self.sides[code]
        moved = np.where(sides * scores <= 0.0, factor * sides, 0.0)
        if moved.any():
            self._append(row, moved[:, None], (self.totals[0] * moved)[:, None])
        self.totals[0] += sides != 0
        self.totals[1:] += moved != 0.0
        return scores, int(np.count_nonzero(moved))

    def last_scores(self, X: Matrix) -> Vector:
        """Compute the scores Σ coef·K(x_i, x)."""
        return self._combine(X, self.coef)

    def dual_coef(self) -> Vector:
        """Return the coefficients that predict, as an array of shape (n_rules, n_support)."""
        late = self.weighted / np.maximum(self.totals[0], 1)[:, None]
        return self.coef - late if self.averages else self.coef.copy()

    def final_scores(self, X: Matrix) -> Vector:
        """Compute the scores Σ dual_coef·K(x_i, x), by the last coefficients or their average."""
        return self._combine(X, self.dual_coef())

    def traces(self) -> list[Trace]:
        """The trace of the last run for each rule, with ‖w‖² in the feature space of the kernel."""
        traces = []
        begun = (self.coef * self.last_scores(self.support).T).sum(axis=1)  # ‖w₀‖²
        for acts, start in zip(self._acts, begun, strict=True):
            n_steps, index, margin, c, square = np.array(acts, dtype=np.float64).reshape(-1, 5).T
            norms = start + np.cumsum(2.0 * c * margin + c * c * square)  # ‖w + cΦ‖² − ‖w‖²
            traces.append(Trace(n_steps.astype(np.int64), index.astype(np.int64), margin, c, norms))
        return traces

    def check(self) -> None:
        """Raise ValueError if the arrays, which may come from a file, contradict each other."""
        super().check()
        rows, width = self.rows, self.coef.shape[1]
        if not ((rows >= 0) & (rows < self.n_features) & (rows % 1.0 == 0.0)).all():
            raise ValueError("its support has row numbers that do not exist")
        points = 0 if self.support is None else self.support.shape[0]
        if (len(rows) if self.precomputed else points) != width or self.support is None:
            raise ValueError("its coefficients do not fit its support")

    def _append(self, rows: Matrix, coef: Vector, weighted: Vector) -> None:
        """Append support points."""
        if not self.precomputed and self.support.shape[0] == 0:
            self.support = rows.astype(np.float64)
        elif not self.precomputed:
            self.support = stacked(self.support, rows.astype(np.float64))
        self.coef = np.hstack([self.coef, coef])
        self.weighted = np.hstack([self.weighted, weighted])

    def _combine(self, X: Matrix, coef: Vector) -> Vector:
        out = np.zeros((X.shape[0], self.n_rules))
        for begin, end, gram in self._blocks(X):
            with one_blas_thread():
                out[begin:end] = gram @ coef.T
        return out

    def _blocks(self, X: Matrix) -> Iterator[tuple[int, int, Vector]]:
        if not self.precomputed:
            yield from self.kernel.blocks(X, self.support)
        elif len(self.rows) > 0:
            gram = as_dense(X[:, self.rows.astype(np.int64)], np.float64)
            yield 0, X.shape[0], gram + self.kernel.bias
