"""The perceptron's loop: order × update × stop → weights, counts, trace.

    for i in order:
        m = ⟨a_i, w⟩                      a_i = y_i·[x_i, 1]
        if m ≤ δ:  w ← w + τ·a_i

`sweep` is that loop, compiled for dense and for CSR rows. `run` repeats it, epoch after epoch,
until a cycle is clean or a limit is reached. From w = 0 with δ = 0 it makes at most R²/γ²
updates on separable data, in any order (A2, B1; Novikoff 1962).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from novikoff.core.counts import (
    Counts,
    Recorder,
    Run,
    Tape,
    blank_counts,
    check_range,
    record,
    tape_for,
)
from novikoff.core.greedy import run_greedy
from novikoff.core.orders import Cyclic, Greedy, Order, deal
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, sqnorm

# Work per call of a kernel: some ten milliseconds between two looks at Ctrl-C and the clock.
ENTRIES_PER_CALL = 1 << 24


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
                counts.wrong[i] = m <= 0.0
            if len(counts.weighted) > 0:
                axpy((visited + k - first) * step, rows, i, counts.weighted)
            if len(tape.places) > 0:
                record(tape, visited + k - first, i, m, step, w)
            if updates >= most:
                last = k + 1
                break
    counts.totals[:] = visited + last - first, updates, mistakes
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
    if isinstance(order, Greedy):
        options = start, weights, average, recorder, after_epoch
        return run_greedy(problem, update, order, limits, *options)
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    rows, counts = problem.rows, blank_counts(problem.n, w.shape, average)
    result = Run(w, counts)
    tape = tape_for(recorder, problem.p)
    factors = np.empty(0) if weights is None else weights
    most = limits.most_updates()
    stride = problem.rows_within(ENTRIES_PER_CALL)
    stride = stride if recorder is None else min(stride, len(tape.places))
    result.stop = Stop.UPDATES if most <= 0 else limits.reached()
    try:
        for epoch in () if result.stop else deal(order, problem, weights, rng):
            before = result.updates
            result.epochs += 1
            for first in range(0, len(epoch), stride):
                last = min(first + stride, len(epoch))
                sweep(rows, epoch, first, last, update, factors, w, counts, tape, most)
                check_range(w, counts)
                if recorder is not None:
                    recorder.take()
                result.stop = Stop.UPDATES if result.updates >= most else limits.reached()
                if result.stop is not None:
                    return result
            clean = result.updates == before
            if clean and not order.covers:  # perhaps a mistake was not visited: look at all rows
                one = Limits(epochs=1, updates=1)
                clean = run(problem, update, Cyclic(), one, rng, start=w, weights=weights).converged
                limits.interrupted |= one.interrupted
            if after_epoch is not None and after_epoch(result):
                result.stop = Stop.CALLBACK
            result.stop = Stop.CLEAN if clean else result.stop or limits.reached(result.epochs)
            if result.stop is not None:
                return result
        result.stop = result.stop or Stop.EXHAUSTED  # the order has no further epoch
    except KeyboardInterrupt:
        limits.interrupted = True
        result.stop = Stop.INTERRUPTED
    finally:
        result.trace = None if recorder is None else recorder.trace()
    return result
