"""The perceptron's loop: order × update × stop → weights, counts, trace.

    for i in order:
        m = ⟨a_i, w⟩                      a_i = y_i·[x_i, 1]
        if m ≤ δ:  w ← w + τ·a_i

`sweep` is that loop, compiled for dense and for CSR rows. `run` repeats it, epoch after epoch
(`novikoff.core.runs`), until a cycle is clean or a limit is reached. From w = 0 with δ = 0 it
makes at most R²/γ² updates on separable data, in any order (A2, B1; Novikoff 1962).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numba import njit

from novikoff.core.counts import Counts, Recorder, Tape, blank_tape, record
from novikoff.core.greedy import climber
from novikoff.core.orders import Greedy, Order, deal
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, Run, no_mistakes
from novikoff.core.stops import Limits
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, sqnorm


@njit(cache=True, nogil=True)
def sweep(
    rows: Rows, epoch: Indices, first: int, last: int, update: Update, weights: Vector, w: Vector,
    counts: Counts, tape: Tape, most: int,
) -> None:  # fmt: skip
    """Visit rows epoch[first:last] in turn, until there have been ``most`` updates."""
    visited, updates, mistakes = counts.totals
    beyond = 0.0
    for k in range(first, last):
        i = epoch[k]
        m = dot(rows, i, w)  # ⟨a_i, w⟩
        beyond += m - m  # 0, or NaN once m is not finite
        if not m > update.threshold:  # a mistake, or too close to one
            squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
            step = tau(update, m, squared)
            if len(weights) > 0:
                step *= weights[i]
            axpy(step, rows, i, w)  # w ← w + τ·a_i
            updates += 1
            mistakes += m <= 0.0
            if len(counts.per_row) > 0:
                counts.per_row[i] += 1
            if len(counts.wrong) > 0:
                counts.wrong[i] = (1 if m < 0.0 else -1) if m <= 0.0 else 0
            if len(counts.weighted) > 0:
                axpy((visited + k - first) * step, rows, i, counts.weighted)
            if len(tape.entries) > 0:
                record(tape, visited + k - first, i, m, step, w)
            if updates >= most:
                last = k + 1
                break
    counts.totals[0] += last - first
    counts.totals[1], counts.totals[2] = updates, mistakes
    counts.beyond[0] += beyond


def run(
    problem: Problem,
    update: Update,
    order: Order,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Vector | None = None,
    weights: Vector | None = None,
    average: bool = False,
    recorder: Recorder | None = None,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Sweep until a clean cycle or a limit; Ctrl-C ends it with ``Stop.INTERRUPTED``.

    Parameters
    ----------
    problem, update, order, limits, rng
        The data and the three axes; `rng` is used by the order alone. Rows of sign 0 take no part.
    start : array of shape (p,), optional
        The weights to start from, zero by default; copied.
    weights : array of shape (n,), optional
        A factor on the steps of each row; rows of weight 0 take no part.
    average, recorder
        Whether to keep the average over all steps, and a trace.
    after_epoch : callable, optional
        Called with the run after every epoch; the run stops where it returns True.

    Raises
    ------
    ValueError
        If the weights, or a margin, leave the range of float64.
    """
    state, most = Run.begin(problem, start, average), limits.most_updates()
    tape = blank_tape() if recorder is None else recorder.tape
    if len(tape.reference) not in (0, problem.p):
        raise ValueError(f"The reference of a trace must have {problem.p} entries.")
    stride = problem.rows_within(ENTRIES_PER_CALL)
    stride = stride if recorder is None else min(stride, len(tape.entries))
    factors = np.empty(0) if weights is None else weights
    if isinstance(order, Greedy):
        climb_some = climber(problem, update, order, factors, state, tape, most)
        deck = problem.taking_part(weights)
        stride = max(1, stride // max(1, len(deck)))  # each step looks at all rows
        epochs = itertools.repeat(deck)
        return state.repeat(
            epochs, climb_some, stride, limits, recorder=recorder, after_epoch=after_epoch
        )

    def visit(epoch: Indices, first: int, last: int) -> bool:
        rows, w, counts = problem.rows, state.w, state.counts
        sweep(rows, epoch, first, last, update, factors, w, counts, tape, most)
        return False

    def is_clean(rule: int) -> bool:
        return no_mistakes(problem, state.w, update.threshold, weights)

    return state.repeat(
        deal(order, problem, weights, rng), visit, stride, limits,
        is_clean=None if order.covers else is_clean, recorder=recorder, after_epoch=after_epoch,
    )  # fmt: skip
