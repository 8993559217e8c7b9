"""Several rules that share each row: it is read once and shown to all of them.

`sweep_classes` is the loop of `novikoff.core.sweep` for K problems "class c against the rest",
side by side; each runs exactly as it would alone. `learn_example` is one step of every rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.counts import Counts, averaged, blank_counts, check_range
from novikoff.core.orders import Cyclic, Sequence, deal
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Signs, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import ENTRIES_PER_CALL
from novikoff.core.updates import Update, tau
from novikoff.core.verbs import axpy, dots, sqnorm


@njit(cache=True, nogil=True)
def sweep_classes(
    rows: Rows, codes: Indices, epoch: Indices, first: int, last: int, update: Update,
    weights: Vector, W: Vector, counts: Counts, active: npt.NDArray[np.bool_], most: int,
) -> None:  # fmt: skip
    """Visit rows epoch[first:last] in turn with every active rule.

    ``rows`` have no sign of their own: row i counts as +1 for rule ``codes[i]`` and as −1 for
    all others. The weights lie [feature][class], so that an entry of a row meets neighbours.
    A rule is no longer active after ``most`` updates.
    """
    products = np.empty(W.shape[1])
    for k in range(first, last):
        i = epoch[k]
        dots(rows, i, W, products)
        if len(counts.wrong) > 0:
            for c in range(len(products)):
                if c != codes[i] and products[c] >= products[codes[i]]:
                    counts.wrong[i] = 1  # a tie is wrong too
        for c in range(len(products)):
            if not active[c]:
                continue
            sign = 1.0 if codes[i] == c else -1.0
            m = sign * products[c]
            counts.beyond[0] += m - m
            if not m > update.threshold:
                squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
                step = tau(update, m, squared)
                if len(weights) > 0:
                    step *= weights[i]
                axpy(sign * step, rows, i, W[:, c])
                if len(counts.weighted) > 0:
                    axpy(counts.totals[0, c] * sign * step, rows, i, counts.weighted[:, c])
                if len(counts.per_row) > 0:
                    counts.per_row[i, c] += 1
                counts.totals[1, c] += 1
                counts.totals[2, c] += m <= 0.0
                active[c] = counts.totals[1, c] < most
            counts.totals[0, c] += 1


@njit(cache=True, nogil=True)
def learn_example(
    columns: Indices, values: Vector, sides: Signs, W: Vector, weighted: Vector, totals: Indices,
    numbers: Vector, weight: float, bias: float,
) -> int:  # fmt: skip
    """One step of every rule on an example: how many were updated.

    −1, and nothing is done, if a number would leave float64. ``sides`` says on which side of each
    rule the example's class stands, 0 where it takes no part; ``numbers`` are those of an `Update`,
    an array as a record takes longer to hand over than the step takes.
    """
    update = Update(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    last, n_rules, updates = len(W) - 1, W.shape[1], 0
    margins, steps = np.empty(n_rules), np.zeros(n_rules)
    squared = bias
    for j in range(len(columns)):
        squared += values[j] * values[j]
    for c in range(n_rules):
        score, t = W[last, c], totals[0, c]
        for j in range(len(columns)):
            score += values[j] * W[columns[j], c]
        if not abs(score) < math.inf:
            return -1
        margins[c] = sides[c] * score
        if sides[c] != 0 and margins[c] <= update.threshold:
            steps[c] = sides[c] * weight * tau(update, margins[c], squared)
            if not abs(W[last, c] + steps[c] * bias) < math.inf:
                return -1
            if len(weighted) > 0 and not abs(weighted[last, c] + t * steps[c] * bias) < math.inf:
                return -1
            for j in range(len(columns)):
                move = steps[c] * values[j]
                if not abs(W[columns[j], c] + move) < math.inf:
                    return -1
                if len(weighted) > 0 and not abs(weighted[columns[j], c] + t * move) < math.inf:
                    return -1
    for c in range(n_rules):
        if sides[c] == 0:
            continue
        if margins[c] <= update.threshold:
            updates += 1
            for j in range(len(columns)):
                W[columns[j], c] += steps[c] * values[j]
            W[last, c] += steps[c] * bias
            if len(weighted) > 0:
                for j in range(len(columns)):
                    weighted[columns[j], c] += totals[0, c] * steps[c] * values[j]
                weighted[last, c] += totals[0, c] * steps[c] * bias
            totals[1, c] += 1
            totals[2, c] += margins[c] <= 0.0
        totals[0, c] += 1
    return updates


@dataclass
class ClassesRun:
    """What K problems side by side ended with.

    Attributes
    ----------
    W : array of shape (p, K)
        The weights; the last row holds the biases.
    counts : Counts
        Rows visited, updates and mistakes of each problem.
    epochs : array of shape (K,)
        Epochs begun.
    stops : list of Stop
        Why each problem ended.
    """

    W: Vector
    counts: Counts
    epochs: Indices
    stops: list[Stop | None]

    @property
    def updates(self) -> int:
        """Updates made, summed over the problems."""
        return int(self.counts.totals[1].sum())

    @property
    def converged(self) -> bool:
        """Whether every problem ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)

    def average(self) -> Vector:
        """The mean of W over all steps of each problem (A9)."""
        return averaged(self.W, self.counts.weighted, self.counts.totals[0])

    def end(self, which: npt.NDArray[np.bool_], reason: Stop) -> None:
        """Some problems have ended; the first reason given stands."""
        for c in np.flatnonzero(which):
            self.stops[c] = self.stops[c] or reason


def run_classes(
    problem: Problem,
    codes: Indices,
    n_classes: int,
    update: Update,
    order: Sequence,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Vector | None = None,
    weights: Vector | None = None,
    average: bool = False,
    after_epoch: Callable[[ClassesRun], bool] | None = None,
) -> ClassesRun:
    """`novikoff.core.sweep.run` for K problems, "class c against the rest" (A7).

    The rows' own signs must be +1, ``codes`` has the class of each; ``start`` has the shape
    (p, K). A problem that ends, clean or at its limit on updates, is left out from then on.
    """
    W = np.zeros((problem.p, n_classes)) if start is None else np.array(start, dtype=np.float64)
    counts = blank_counts(problem.n, W.shape, average)
    result = ClassesRun(W, counts, np.zeros(n_classes, dtype=np.int64), [None] * n_classes)
    factors = np.empty(0) if weights is None else weights
    most = limits.most_updates()
    over = Stop.UPDATES if most <= 0 else limits.reached()
    active = np.full(n_classes, over is None)
    stride = problem.rows_within(ENTRIES_PER_CALL // n_classes)
    try:
        for epoch in () if over else deal(order, problem, weights, rng):
            before = counts.totals[1].copy()
            result.epochs[active] += 1
            for first in range(0, len(epoch), stride):
                last = min(first + stride, len(epoch))
                sweep_classes(
                    problem.rows, codes, epoch, first, last, update, factors, W, counts, active,
                    most,
                )  # fmt: skip
                check_range(W, counts)
                result.end(counts.totals[1] >= most, Stop.UPDATES)
                if not active.any() or limits.reached() is not None:
                    break
            else:
                quiet = active & (counts.totals[1] == before)
                if quiet.any() and not order.covers:
                    quiet = _clean(problem, codes, update, quiet, W, weights, limits)
                result.end(quiet, Stop.CLEAN)
                active &= ~quiet
                if after_epoch is not None and after_epoch(result):
                    result.end(active, Stop.CALLBACK)
            reached = limits.reached(int(result.epochs.max()))
            if reached is not None:
                result.end(active, reached)
            if all(result.stops):
                break
        result.end(active if over is None else ~active, over or Stop.EXHAUSTED)
    except KeyboardInterrupt:
        limits.interrupted = True
        result.end(active, Stop.INTERRUPTED)
    return result


def _clean(
    problem: Problem,
    codes: Indices,
    update: Update,
    quiet: npt.NDArray[np.bool_],
    W: Vector,
    weights: Vector | None,
    limits: Limits,
) -> npt.NDArray[np.bool_]:
    """Which of these problems have no mistake left: one cycle over all rows, on a copy."""
    one, rng = Limits(epochs=1, updates=1), np.random.default_rng(0)
    found = run_classes(
        problem, codes, W.shape[1], update, Cyclic(), one, rng, start=W, weights=weights
    )
    limits.interrupted |= one.interrupted
    clean: npt.NDArray[np.bool_] = np.array([stop is Stop.CLEAN for stop in found.stops])
    return quiet & clean
