"""The maximal rules: look at all margins before every step and take the worst row (A4).

    i = argmin of (⟨a_i, w⟩ − δ)/‖a_i‖, or of ⟨a_i, w⟩ − δ
    w ← w + τ·a_i

A step costs a pass over the rows, and there is no clean cycle to wait for: the run is clean as
soon as the worst row is no mistake.
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
from novikoff.core.orders import Greedy, MaxDistance
from novikoff.core.problem import Problem, norms
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dot, sqnorm

# Entries read between two looks at Ctrl-C and the clock: some ten milliseconds.
_ENTRIES_PER_CALL = 1 << 24


@njit(cache=True, nogil=True)
def climb(
    rows: Rows, deck: Indices, lengths: Vector, steps: int, update: Update, weights: Vector,
    w: Vector, counts: Counts, tape: Tape,
) -> bool:  # fmt: skip
    """Act on the worst row of the deck, ``steps`` times; False once no row is a mistake.

    Among equals the first row is the worst. A row of length 0, which no w satisfies, comes last.
    """
    shift = update.threshold if update.threshold < np.inf else 0.0
    for _ in range(steps):
        i, m, least = -1, 0.0, np.inf
        for k in deck:
            margin = dot(rows, k, w)
            counts.beyond[0] += margin - margin
            if not margin > update.threshold:
                violation = (margin - shift) / lengths[k] if lengths[k] > 0.0 else np.inf
                if i < 0 or violation < least:
                    i, m, least = k, margin, violation
        if i < 0:
            return False
        squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
        step = tau(update, m, squared)
        if len(weights) > 0:
            step *= weights[i]
        axpy(step, rows, i, w)
        if len(counts.weighted) > 0:
            axpy(counts.totals[0] * step, rows, i, counts.weighted)
        if len(tape.places) > 0:
            record(tape, counts.totals[0], i, m, step, w)
        counts.per_row[i] += 1
        counts.totals[0] += 1
        counts.totals[1] += 1
        counts.totals[2] += m <= 0.0
    return True


def run_greedy(
    problem: Problem,
    update: Update,
    order: Greedy,
    limits: Limits,
    start: Vector | None,
    weights: Vector | None,
    average: bool,
    recorder: Recorder | None,
    after_epoch: Callable[[Run], bool] | None,
) -> Run:
    """Climb until no row is a mistake or a limit is reached.

    The parameters are those of `novikoff.core.sweep.run`; an epoch is n updates here.
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    counts = blank_counts(problem.n, w.shape, average)
    result = Run(w, counts, epochs=1)
    tape = tape_for(recorder, problem.p)
    factors = np.empty(0) if weights is None else weights
    deck = np.flatnonzero(problem.signs if weights is None else problem.signs * (weights > 0.0))
    lengths = norms(problem) if isinstance(order, MaxDistance) else np.ones(problem.n)
    n, most = len(deck), limits.most_updates()
    if limits.epochs is not None:
        most = min(most, limits.epochs * n)
    burst = max(1, problem.rows_within(_ENTRIES_PER_CALL) // n)
    burst = burst if recorder is None else min(burst, len(tape.places))
    result.stop = Stop.UPDATES if most <= 0 else limits.reached()
    try:
        while result.stop is None:
            steps = min(burst, most - result.updates, n - result.updates % n)
            wrong = climb(
                problem.rows, deck, lengths, steps, update, factors, w, counts, tape
            )  # fmt: skip
            check_range(w, counts)
            if recorder is not None:
                recorder.take()
            result.epochs = max(1, -(-result.updates // n))
            if not wrong:
                result.stop = Stop.CLEAN
            elif result.updates >= most:
                result.stop = Stop.UPDATES if most == limits.updates else Stop.EPOCHS
            if (
                wrong
                and result.updates % n == 0
                and after_epoch is not None
                and after_epoch(result)
            ):
                result.stop = result.stop or Stop.CALLBACK
            result.stop = result.stop or limits.reached()
    except KeyboardInterrupt:
        limits.interrupted = True
        result.stop = Stop.INTERRUPTED
    finally:
        result.trace = None if recorder is None else recorder.trace()
    return result
