"""The maximal rules: look at all margins before every step and take the worst row (A4).

The margins are a product, NumPy's; the step is one visit of the loop's kernel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from novikoff.core.counts import Recorder, Run, blank_counts, tape_for
from novikoff.core.orders import Greedy, MaxDistance
from novikoff.core.problem import Problem, norms, products
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import sweep
from novikoff.core.updates import Update


def climb(
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
    """Act on the worst row until none is a mistake or a limit is reached.

    The parameters are those of `novikoff.core.sweep.run`; an epoch is n updates here.
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    result = Run(w, blank_counts(problem.n, w.shape, average), epochs=1)
    tape = tape_for(recorder, problem.p)
    factors = np.empty(0) if weights is None else weights
    deck = np.flatnonzero(problem.signs if weights is None else problem.signs * (weights > 0.0))
    lengths = norms(problem) if isinstance(order, MaxDistance) else np.ones(problem.n)
    n, most = len(deck), limits.most_updates()
    if limits.epochs is not None:
        most = min(most, limits.epochs * n)
    result.stop = Stop.UPDATES if most <= 0 else limits.reached()
    try:
        while result.stop is None:
            before = result.updates
            violations = _violations(products(problem, w), lengths, update.threshold)[deck]
            while result.updates == before:
                k = int(np.argmin(violations))
                if violations[k] == np.inf:
                    result.stop = Stop.CLEAN
                    break
                sweep(problem.rows, deck, k, k + 1, update, factors, w, result.counts, tape, most)
                violations[k] = np.inf  # no mistake after all, where the kernel's sum says so
            problem.check_range(w)
            if recorder is not None:
                recorder.take()
            result.epochs = max(1, -(-result.updates // n))
            if result.updates >= most:
                result.stop = Stop.UPDATES if most == limits.updates else Stop.EPOCHS
            if result.updates % n == 0 and after_epoch is not None and after_epoch(result):
                result.stop = result.stop or Stop.CALLBACK
            result.stop = result.stop or limits.reached()
    except KeyboardInterrupt:
        limits.interrupted = True
        result.stop = Stop.INTERRUPTED
    finally:
        result.trace = None if recorder is None else recorder.trace()
    return result


def _violations(margins: Vector, lengths: Vector, threshold: float) -> Vector:
    """How far each row is below the threshold, the smallest being the worst; ∞ where it is not.

    A zero row, which no w satisfies, comes last.
    """
    shift = threshold if threshold < np.inf else 0.0
    with np.errstate(invalid="ignore"):
        out = np.full(len(margins), 1e308)
        np.divide(margins - shift, lengths, out=out, where=lengths > 0.0)
    out[margins > threshold] = np.inf
    return out
