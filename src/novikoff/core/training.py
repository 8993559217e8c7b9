"""Train the rules of a scheme: side by side in one pass, or each for itself.

`sweep_classes` is the loop of `novikoff.core.sweep` for K rules that share each row: it is read
once and shown to all of them. Each runs exactly as it would alone. `step_of_every_rule` is one
turn of it, for a stream that comes one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.counts import Counts
from novikoff.core.orders import Chaotic, Cyclic, Greedy, MaxResidual, Order
from novikoff.core.problem import Rows, margins_of
from novikoff.core.rows import Indices, SignedRows, Signs, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, Plan, Run
from novikoff.core.schemes import OneVsRest, Scheme
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.updates import Update, perceptron, tau
from novikoff.core.verbs import axpy, dots, sqnorm


@njit(cache=True, nogil=True)
def sweep_classes(
    rows: SignedRows, codes: Indices, sides: Signs, epoch: Indices, first: int, last: int,
    update: Update, sample_weight: Vector, W: Vector, counts: Counts, active: npt.NDArray[np.bool_],
    most: int,
) -> None:  # fmt: skip
    """Visit rows epoch[first:last] in turn with every active rule.

    ``rows`` have no sign of their own: ``sides[codes[i], c]`` is that of row i for rule c, 0 where
    it takes no part. The weights lie [feature][rule], so that an entry of a row meets neighbours.
    A rule is no longer active after ``most`` updates.
    """
    products = np.empty(W.shape[1])
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
            counts.overflow[0] += m - m
            if not m > update.threshold:
                squared = sqnorm(rows, i) if update.eta > 0.0 else 0.0
                step = tau(update, m, squared)
                if len(sample_weight) > 0:
                    step *= sample_weight[i]
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
def step_of_every_rule(
    columns: Indices, values: Vector, sides: Signs, W: Vector, weighted: Vector, totals: Indices,
    numbers: Vector, factor: float, scores: Vector,
) -> int:  # fmt: skip
    """One step of every rule on one example (A5): how many were updated.

    The scores before are written to ``scores``. −1, and nothing is done, if a number would leave
    float64.
    """
    update = Update(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    bias, last = numbers[6], len(W) - 1
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
        overflow += scores[c] - scores[c]  # 0, or NaN once a number is not finite
        m = sides[c] * scores[c]
        if sides[c] != 0 and m <= update.threshold:
            steps[c] = sides[c] * factor * tau(update, m, squared)
    for writing in (False, True):  # once to see whether all numbers stay within float64
        for c in range(len(sides)):
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
        if overflow != 0.0:
            return -1
    for c in range(len(sides)):
        m = sides[c] * scores[c]
        acts = sides[c] != 0 and m <= update.threshold
        updates += acts
        totals[0, c] += sides[c] != 0
        totals[1, c] += acts
        totals[2, c] += acts and m <= 0.0
    return updates


def train(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    plan: Plan,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
) -> Run:
    """Train all rules of the scheme on rows whose classes are ``codes`` (A7).

    Every rule draws its order from the same seed, so that running them together or apart is the
    same. ``start`` has the shape (p, n_rules); ``sample_weight`` has a factor on the steps of each
    row.
    """
    n_rules = scheme.sides.shape[1]
    if _share_rows(scheme, plan.order, trace=plan.trace):
        return _run_together(rows, codes, scheme.sides, plan, start, sample_weight)
    if n_rules > 1 and isinstance(plan.order, Chaotic):
        raise ValueError("A chaotic order is one sequence, and these are several separate runs.")

    def run_rule(rule: int) -> Run:
        own = rows.with_signs(scheme.sides[codes, rule])
        return run(
            own, plan, start=None if start is None else start[:, rule], sample_weight=sample_weight
        )

    return run_rule(0) if n_rules == 1 else Run.joined(_in_parallel(run_rule, n_rules, plan))


def load_kernels(
    rows: Rows, scheme: Scheme, order: Order | None = None, *, trace: bool = False
) -> None:
    """Compile or load the kernels that `train` will need, so that clocks can start afterwards."""
    stand_in = MaxResidual() if isinstance(order, Greedy) else Cyclic()
    plan, no_row = Plan(perceptron(), stand_in, Limits(epochs=1)), np.zeros(rows.n)
    if _share_rows(scheme, stand_in, trace=trace):
        train(rows, np.zeros(rows.n, dtype=np.int64), scheme, plan, sample_weight=no_row)
    else:
        run(rows.all_positive(), plan, sample_weight=no_row)


def _share_rows(scheme: Scheme, order: Order, *, trace: bool) -> bool:
    """Whether all rules are shown each row together: `sweep_classes`, not one `run` for each."""
    return isinstance(scheme, OneVsRest) and not isinstance(order, Greedy) and not trace


def _run_together(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    sides: Signs,
    plan: Plan,
    start: Vector | None,
    sample_weight: Vector | None,
) -> Run:
    """`novikoff.core.sweep.run` for all rules at once; one that ends is left out from then on."""
    n_rules = sides.shape[1]
    problem = rows.all_positive()
    state, most = Run.begin(rows, plan, start, n_rules), plan.limits.most_updates()
    factors, codes = (
        np.empty(0) if sample_weight is None else sample_weight,
        codes.astype(np.int64, copy=False),
    )

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep_classes(
            problem.arrays, codes, sides, epoch, first, last, plan.update, factors, state.W,
            state.counts, state.active, most,
        )  # fmt: skip
        return False

    stride = rows.rows_within(ENTRIES_PER_CALL // n_rules)

    def margins(rule: int) -> Vector:
        return margins_of(rows.with_signs(sides[codes, rule]), state.W[:, rule], sample_weight)

    return state.repeat(plan, problem, sample_weight, visit, stride, margins=margins)


def _in_parallel(job: Callable[[int], Run], n_rules: int, plan: Plan) -> list[Run]:
    """The runs of all rules, by the plan's threads."""
    begun: list[Future[Run]] = []
    with ThreadPoolExecutor(min(plan.threads, n_rules)) as pool:
        try:
            begun.extend(pool.submit(job, rule) for rule in range(n_rules))
            # Look up now and then: some libraries make Ctrl-C restart a plain wait.
            while wait(begun, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in begun):
                    plan.limits.interrupted = True  # it will be raised: the rest need not go on
        except KeyboardInterrupt:
            plan.limits.interrupted = True  # rules that have not begun end at once
        parts = [future.result() for future in begun]
        return parts + [job(rule) for rule in range(len(begun), n_rules)]
