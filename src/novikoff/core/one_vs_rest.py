"""Several rules that share each row: it is read once and shown to all of them.

`sweep_classes` is the loop of `novikoff.core.sweep` for K problems "class c against the rest",
side by side; each runs exactly as it would alone. `learn_example` is one step of every rule.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import register_jitable

from novikoff.core.counts import Counts
from novikoff.core.orders import Sequence, deal
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Signs, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, Run, no_mistakes
from novikoff.core.stops import Limits
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
            own, rival = codes[i], -1
            for c in range(len(products)):
                ahead = rival < 0 or products[c] > products[rival]
                if c != own and products[c] >= products[own] and ahead:
                    rival = c
            if rival >= 0:  # a tie is wrong too
                counts.wrong[i] = 1 + rival if products[rival] > products[own] else -1
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
    numbers: Vector,
) -> int:  # fmt: skip
    """One step of every rule on an example: how many were updated.

    −1, and nothing is done, if a number would leave float64. No ``columns`` are those of a vector,
    0, 1, …; ``sides`` says on which side of each rule the example's class stands, 0 where it takes
    no part; ``numbers`` is `numbers_of` the update, its factor and the bias, an array as a record
    takes longer to hand over than the step takes.
    """
    update = Update(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    factor, bias, last = numbers[6], numbers[7], len(W) - 1
    margins, steps = np.empty(len(sides)), np.zeros(len(sides))
    squared, beyond, updates = bias, 0.0, 0
    for x in values:
        squared += x * x
    for c in range(len(sides)):
        score, t = bias * W[last, c], totals[0, c]
        for j in range(len(values)):
            score += values[j] * W[columns[j] if len(columns) > 0 else j, c]
        margins[c] = sides[c] * score
        beyond += score - score  # 0, or NaN once a number is not finite
        if sides[c] != 0 and margins[c] <= update.threshold:
            steps[c] = sides[c] * factor * tau(update, margins[c], squared)
            for j in range(len(values) + 1):
                at, x = _entry(columns, values, last, bias, j)
                moved = W[at, c] + steps[c] * x
                beyond += moved - moved
                if len(weighted) > 0:
                    moved = weighted[at, c] + t * steps[c] * x
                    beyond += moved - moved
    if beyond != 0.0:
        return -1
    for c in range(len(sides)):
        if sides[c] == 0:
            continue
        if margins[c] <= update.threshold:
            for j in range(len(values) + 1):
                at, x = _entry(columns, values, last, bias, j)
                W[at, c] += steps[c] * x
                if len(weighted) > 0:
                    weighted[at, c] += totals[0, c] * steps[c] * x
            updates += 1
            totals[1, c] += 1
            totals[2, c] += margins[c] <= 0.0
        totals[0, c] += 1
    return updates


@register_jitable(forceinline=True)
def _entry(columns: Indices, values: Vector, last: int, bias: float, j: int) -> tuple[int, float]:
    """The column and the value of one entry of an example, the bias being the last."""
    if j == len(values):
        return last, bias
    return columns[j] if len(columns) > 0 else j, values[j]


def numbers_of(update: Update, factor: float, fit_intercept: bool) -> Vector:
    """What `learn_example` must know besides the example and the rules."""
    return np.array([*update, factor, float(fit_intercept)])


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
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """`novikoff.core.sweep.run` for K problems, "class c against the rest" (A7).

    The rows' own signs must be +1, ``codes`` has the class of each; ``start`` has the shape
    (p, K). A problem that ends, clean or at its limit on updates, is left out from then on.
    """
    state, most = Run.begin(problem, start, average, n_classes), limits.most_updates()
    factors = np.empty(0) if weights is None else weights

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep_classes(
            problem.rows, codes, epoch, first, last, update, factors, state.w, state.counts,
            state.active, most,
        )  # fmt: skip
        return False

    def is_clean(rule: int) -> bool:
        own = problem.resigned(np.where(codes == rule, 1, -1).astype(np.int8))
        return no_mistakes(own, state.w[:, rule], update.threshold, weights)

    stride = problem.rows_within(ENTRIES_PER_CALL // n_classes)
    return state.repeat(
        deal(order, problem, weights, rng), visit, stride, limits,
        is_clean=None if order.covers else is_clean, after_epoch=after_epoch,
    )  # fmt: skip
