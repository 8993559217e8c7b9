"""The perceptron's loop: order × update × stop → weights, counts, trace.

    for i in order:
        m = ⟨a_i, w⟩                      a_i = y_i·[x_i, 1]
        if m ≤ δ:  w ← w + τ·a_i

`sweep` is that loop, compiled for dense and for CSR rows; `sweep_greedy` is that of the
maximal rules, which look at all rows and act on the worst. `run` repeats them, epoch after epoch
(`novikoff.core.runs`), until a cycle is clean or a limit is reached. From w = 0 with δ = 0 there
are at most R²/γ² updates on separable data, in any order (A2, B1; Novikoff 1962).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from novikoff.core.counts import Counts, Recorder, TraceBuffer, trace_buffer, write_update
from novikoff.core.orders import Greedy, MaxDistance
from novikoff.core.problem import Problem, margins_of, norms
from novikoff.core.rows import Indices, SignedRows, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, Plan, Run
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, sqnorm


@njit(cache=True, nogil=True)
def sweep(
    rows: SignedRows, epoch: Indices, first: int, last: int, update: Update, sample_weight: Vector,
    w: Vector, counts: Counts, buffer: TraceBuffer, most: int,
) -> None:  # fmt: skip
    """Visit rows epoch[first:last] in turn, until there have been ``most`` updates."""
    visited, updates, mistakes = counts.totals
    overflow = 0.0
    for k in range(first, last):
        i = epoch[k]
        m = dot(rows, i, w)  # ⟨a_i, w⟩
        overflow += m - m  # 0, or NaN once m is not finite
        if len(counts.scores) > 0:
            counts.scores[k - first] = rows.signs[i] * m
        if not m > update.threshold:  # a mistake, or too close to one
            squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
            step = tau(update, m, squared)
            if len(sample_weight) > 0:
                step *= sample_weight[i]
            axpy(step, rows, i, w)  # w ← w + τ·a_i
            updates += 1
            mistakes += m <= 0.0
            if len(counts.per_row) > 0:
                counts.per_row[i] += 1
            if len(counts.weighted) > 0:
                axpy((visited + k - first) * step, rows, i, counts.weighted)
            if len(buffer.entries) > 0:
                write_update(buffer, visited + k - first, i, m, step, w)
            if updates >= most:
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
    """Act on the worst candidate row, ``steps`` times; True once no row is a mistake (A4).

    The worst has the least (⟨a_i, w⟩ − δ)/‖a_i‖, or ⟨a_i, w⟩ − δ where all ``lengths`` are 1, and
    is the first among equals. A row of length 0, which no w satisfies, comes last.
    """
    shift = update.threshold if update.threshold < np.inf else 0.0
    for _ in range(steps):
        i, m, least = -1, 0.0, np.inf
        for k in candidates:
            margin = dot(rows, k, w)
            counts.overflow[0] += margin - margin
            if not margin > update.threshold:
                violation = (margin - shift) / lengths[k] if lengths[k] > 0.0 else np.inf
                if i < 0 or violation < least:
                    i, m, least = k, margin, violation
        if i < 0:
            return True
        squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
        step = tau(update, m, squared)
        if len(sample_weight) > 0:
            step *= sample_weight[i]
        axpy(step, rows, i, w)
        if len(counts.weighted) > 0:
            axpy(counts.totals[0] * step, rows, i, counts.weighted)
        if len(buffer.entries) > 0:
            write_update(buffer, counts.totals[0], i, m, step, w)
        counts.per_row[i] += 1
        counts.totals[0] += 1
        counts.totals[1] += 1
        counts.totals[2] += m <= 0.0
    return False


def run(
    problem: Problem,
    plan: Plan,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
) -> Run:
    """Sweep until a clean cycle or a limit; Ctrl-C ends it with ``Stop.INTERRUPTED``.

    The run begins with zero weights or a copy of ``start``. ``sample_weight`` has a factor c_i for
    each row: an update on row i moves w by c_i·τ·a_i. Rows whose sign or factor is 0 are left out.
    ValueError if a weight or a margin is beyond the range of float64.
    """
    state = Run.begin(problem, plan, start)
    recorder = Recorder(plan.reference)
    rows, update, most = problem.arrays, plan.update, plan.limits.most_updates()
    w, counts = state.W[:, 0], state.counts.of_single_rule()
    buffer = recorder.buffer if plan.trace else trace_buffer()
    factors = np.empty(0) if sample_weight is None else sample_weight
    stride = problem.rows_within(ENTRIES_PER_CALL)
    if len(buffer.reference) not in (0, problem.p):
        raise ValueError(f"The reference of a trace must have {problem.p} entries.")
    greedy = isinstance(plan.order, Greedy)
    lengths = np.empty(0)
    if greedy:
        lengths = norms(problem) if isinstance(plan.order, MaxDistance) else np.ones(problem.n)
        stride = max(1, stride // max(1, problem.n))  # each step looks at all rows

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep(rows, epoch, first, last, update, factors, w, counts, buffer, most)
        return False

    def visit_worst(candidates: Indices, first: int, last: int) -> bool:
        steps = min(last - first, most - state.updates)
        return bool(
            sweep_greedy(rows, candidates, lengths, steps, update, factors, w, counts, buffer)
        )

    state.repeat(
        plan, problem, sample_weight, visit_worst if greedy else visit,
        min(stride, len(buffer.entries)) if plan.trace else stride,
        margins=lambda rule: margins_of(problem, w, sample_weight),
        recorder=recorder if plan.trace else None,
    )  # fmt: skip
    state.traces = [replace(trace, problem=problem, start=start) for trace in state.traces]
    return state
