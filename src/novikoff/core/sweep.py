"""The perceptron's loop, compiled.

    for i in order:
        m = ⟨a_i, w⟩                      a_i = y_i·[x_i, 1]
        if m ≤ δ:  w ← w + τ·a_i

`sweep` is this loop for one rule, compiled once for dense and once for CSR rows. From w = 0 with
δ = 0 it makes at most R²/γ² updates on separable data, in any order (Novikoff 1962).

`sweep_greedy` is the loop of the maximal index rules. These compute the margins of all rows before
every step, and update on the worst row. `sweep_classes` is the loop for several rules that share
each row. `step_all_rules` is one step of all rules on a single example. `novikoff.core.runs` calls
these loops, epoch after epoch, until a cycle is clean or a limit is reached. All loops write
`Counts`. `novikoff.core.trace` collects the updates that they write to a `TraceBuffer`.

References
----------
Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium on
the Mathematical Theory of Automata* 12, 615-622.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import register_jitable

from novikoff.core.rows import Indices, SignedRows, Signs, Vector
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, dots, sqnorm
from novikoff.errors import OutOfRangeError


class Counts(NamedTuple):
    """The counts of compiled loops for K rules. An array that is not needed has no rows."""

    totals: Indices  # (3, K): rows visited, updates, mistakes (updates with m ≤ 0)
    per_row: npt.NDArray[np.int32]  # (n, K): the updates on each row, which are dual variables
    weighted: Vector  # (p, K): Σ t·τ·a_i over the updates, which gives the mean of w
    scores: Vector  # (rows of one call, K): ⟨x, w⟩ + b of each row before its update
    overflow: Vector  # (1,): 0, or NaN if a margin was not finite

    @classmethod
    def blank(cls, n: int, p: int, n_rules: int) -> Counts:
        """Counts of zero for n rows; p is 0 if no average is kept."""
        totals, per_row = np.zeros((3, n_rules), np.int64), np.zeros((n, n_rules), np.int32)
        return cls(totals, per_row, np.zeros((p, n_rules)), np.empty((0, n_rules)), np.zeros(1))

    def of_single_rule(self) -> Counts:
        """Views of the arrays for a single rule, without the axis of the rules."""
        columns = self.totals[:, 0], self.per_row[:, 0], self.weighted[:, 0], self.scores[:, 0]
        return Counts(*columns, self.overflow)


class TraceBuffer(NamedTuple):
    """The part of a trace that a compiled loop writes before `Recorder` copies it."""

    used: Indices  # (1,): the number of entries in use
    entries: Vector  # (length, 6): n_steps, row, margin, tau, squared norm, inner product
    reference: Vector  # w*, or empty


def trace_buffer(length: int = 0, reference: Vector | None = None) -> TraceBuffer:
    """A buffer for ``length`` updates; a buffer of length 0 records nothing."""
    w_star = np.empty(0) if reference is None else np.array(reference, dtype=np.float64)
    return TraceBuffer(np.zeros(1, dtype=np.int64), np.empty((length, 6)), w_star)


@njit(cache=True, nogil=True)
def sweep(
    rows: SignedRows, epoch: Indices, first: int, last: int, update: Update, sample_weight: Vector,
    w: Vector, counts: Counts, buffer: TraceBuffer, max_updates: int,
) -> None:  # fmt: skip
    """Visit the rows epoch[first:last] in turn; stop after ``max_updates`` updates in all."""
    visited, updates, mistakes = counts.totals
    overflow = 0.0
    for k in range(first, last):
        i = epoch[k]
        m = dot(rows, i, w)  # ⟨a_i, w⟩
        overflow += m - m  # 0, or NaN if m is not finite
        if len(counts.scores) > 0:
            counts.scores[k - first] = rows.signs[i] * m
        if not m > update.threshold:  # a mistake, or too close to one
            step = step_length(update, rows, i, m, sample_weight)
            axpy(step, rows, i, w)  # w ← w + τ·a_i
            updates += 1
            mistakes += m <= 0.0
            if len(counts.per_row) > 0:
                counts.per_row[i] += 1
            if len(counts.weighted) > 0:
                axpy((visited + k - first) * step, rows, i, counts.weighted)
            if len(buffer.entries) > 0:
                write_update(buffer, visited + k - first, i, m, step, w)
            if updates >= max_updates:
                last = k + 1
                break
    counts.totals[0] += last - first
    counts.totals[1], counts.totals[2] = updates, mistakes
    counts.overflow[0] += overflow


@njit(cache=True, nogil=True)
def sweep_greedy(
    rows: SignedRows, candidates: Indices, lengths: Vector, steps: int, update: Update,
    sample_weight: Vector, w: Vector, counts: Counts, buffer: TraceBuffer,
) -> bool:  # fmt: skip
    """Update ``steps`` times on the worst candidate row; True if no row needs an update.

    The worst row has the least (⟨a_i, w⟩ − δ)/length, where ``lengths`` has ‖a_i‖ for the rule
    `MaxDistance` and 1 for `MaxResidual`. If several rows are equally bad, the first is chosen. A
    row of length 0, which no w classifies correctly, comes last.
    """
    shift = update.threshold if update.threshold < np.inf else 0.0
    overflow, clean = 0.0, False
    for _ in range(steps):
        i, m, least = -1, 0.0, np.inf
        for k in candidates:
            margin = dot(rows, k, w)
            overflow += margin - margin  # 0, or NaN if the margin is not finite
            if not margin > update.threshold:
                violation = (margin - shift) / lengths[k] if lengths[k] > 0.0 else np.inf
                if i < 0 or violation < least:
                    i, m, least = k, margin, violation
        clean = i < 0
        if clean:
            break
        step = step_length(update, rows, i, m, sample_weight)
        axpy(step, rows, i, w)
        if len(counts.weighted) > 0:
            axpy(counts.totals[0] * step, rows, i, counts.weighted)
        if len(buffer.entries) > 0:
            write_update(buffer, counts.totals[0], i, m, step, w)
        counts.per_row[i] += 1
        counts.totals[0] += 1
        counts.totals[1] += 1
        counts.totals[2] += m <= 0.0
    counts.overflow[0] += overflow
    return clean


@njit(cache=True, nogil=True)
def sweep_classes(
    rows: SignedRows, codes: Indices, sides: Signs, epoch: Indices, first: int, last: int,
    update: Update, sample_weight: Vector, W: Vector, counts: Counts,
    active: npt.NDArray[np.bool_], max_updates: int,
) -> None:  # fmt: skip
    """Show the rows epoch[first:last] in turn to every active rule; each row is read once.

    All signs of ``rows`` are +1. The sign of row i for rule c is ``sides[codes[i], c]``, which is 0
    if the row does not belong to the rule's problem. The axes of W are feature and rule, so that an
    entry of a row is multiplied by weights that are neighbours in memory. A rule becomes inactive
    after ``max_updates`` updates. Each rule runs exactly as it would run alone.
    """
    products = np.empty(W.shape[1])
    overflow = 0.0
    for k in range(first, last):
        i = epoch[k]
        dots(rows, i, W, products)
        for c in range(len(products) if len(counts.scores) > 0 else 0):
            counts.scores[k - first, c] = products[c]
        for c in range(len(products)):
            sign = float(sides[codes[i], c])
            if sign == 0.0 or not active[c]:
                continue
            m = sign * products[c]
            overflow += m - m  # 0, or NaN if m is not finite
            if not m > update.threshold:
                step = step_length(update, rows, i, m, sample_weight)
                axpy(sign * step, rows, i, W[:, c])
                if len(counts.weighted) > 0:
                    axpy(counts.totals[0, c] * sign * step, rows, i, counts.weighted[:, c])
                if len(counts.per_row) > 0:
                    counts.per_row[i, c] += 1
                counts.totals[1, c] += 1
                counts.totals[2, c] += m <= 0.0
                active[c] = counts.totals[1, c] < max_updates
            counts.totals[0, c] += 1
    counts.overflow[0] += overflow


@register_jitable(forceinline=True)
def step_length(update: Update, rows: SignedRows, i: int, m: float, sample_weight: Vector) -> float:
    """Return τ for row i with the margin m, times the row's factor if there are factors."""
    squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
    step = tau(update, m, squared)
    return step * sample_weight[i] if len(sample_weight) > 0 else step


@njit(cache=True, nogil=True)
def step_all_rules(
    columns: Indices, values: Vector, sides: Signs, W: Vector, weighted: Vector, totals: Indices,
    update_array: Vector, factor: float, scores: Vector,
) -> int:  # fmt: skip
    """Let every rule make one step on one example; return how many rules were updated.

    The scores before the step are written to ``scores``. If a number would leave the range of
    float64, the function returns −1 and changes nothing else. ``update_array`` is the result of
    `updates.update_as_array`.
    """
    a = update_array  # its length is not part of its type, so that it cannot be unpacked by *
    update, bias, last = Update(a[0], a[1], a[2], a[3], a[4], a[5]), a[6], len(W) - 1
    steps = np.zeros(len(sides))
    squared = bias
    overflow = 0.0
    updates = 0
    for x in values:
        squared += x * x
    for c in range(len(sides)):
        scores[c] = bias * W[last, c]
        for j in range(len(values)):
            scores[c] += values[j] * W[columns[j] if len(columns) > 0 else j, c]
        overflow += scores[c] - scores[c]  # 0, or NaN if the score is not finite
        m = sides[c] * scores[c]
        if sides[c] != 0 and m <= update.threshold:
            steps[c] = sides[c] * factor * tau(update, m, squared)
    overflow += add_steps(columns, values, bias, steps, W, weighted, totals, False)
    if overflow != 0.0:
        return -1
    add_steps(columns, values, bias, steps, W, weighted, totals, True)
    for c in range(len(sides)):
        m = sides[c] * scores[c]
        acts = sides[c] != 0 and m <= update.threshold
        updates += acts
        totals[0, c] += sides[c] != 0
        totals[1, c] += acts
        totals[2, c] += acts and m <= 0.0
    return updates


@register_jitable
def add_steps(
    columns: Indices, values: Vector, bias: float, steps: Vector, W: Vector, weighted: Vector,
    totals: Indices, writing: bool,
) -> float:  # fmt: skip
    """Add a multiple of one example to the weights of each rule, or only try it.

    Nothing changes unless ``writing``. Returns 0, or NaN if a new number is not finite.
    """
    overflow, last = 0.0, len(W) - 1
    for c in range(len(steps)):
        for j in range(len(values) + 1 if steps[c] != 0.0 else 0):
            at = columns[j] if j < len(columns) else j
            at, x = (last, bias) if j == len(values) else (at, values[j])
            moved, t = W[at, c] + steps[c] * x, totals[0, c]
            late = weighted[at, c] + t * steps[c] * x if len(weighted) > 0 else 0.0
            overflow += (moved - moved) + (late - late)
            if writing:
                W[at, c] = moved
                if len(weighted) > 0:
                    weighted[at, c] = late
    return overflow


@njit(cache=True, nogil=True)
def write_update(
    buffer: TraceBuffer, n_steps: int, i: int, m: float, tau: float, w: Vector
) -> None:
    """Append an update to the buffer; w are the weights after the update."""
    squared_norm, inner = 0.0, 0.0
    for j in range(len(w)):
        squared_norm += w[j] * w[j]
    for j in range(len(buffer.reference)):
        inner += w[j] * buffer.reference[j]
    entry = buffer.entries[buffer.used[0]]
    entry[0], entry[1], entry[2], entry[3] = n_steps, i, m, tau
    entry[4], entry[5] = squared_norm, inner
    buffer.used[0] += 1


def check_range(w: Vector, counts: Counts) -> None:
    """Raise OutOfRangeError if a weight or a margin of the run is not finite."""
    if counts.overflow[0] != 0.0 or not np.isfinite(w).all():
        raise OutOfRangeError(
            "The weights grew beyond the range of float64: scale the data down "
            "(for instance to unit variance) or reduce step_size."
        )
