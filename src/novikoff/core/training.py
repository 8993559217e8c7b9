"""Train rules: run the compiled loops until a cycle is clean or a limit is reached.

`train` trains all rules of a scheme, side by side in one pass over the rows or one after the other.
`train_rule` trains the rule of one problem. Both begin a `Run`, make the `Loop` that the run
repeats, and return the run.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from novikoff.core.counts import Recorder, trace_buffer
from novikoff.core.orders import Chaotic, Greedy, MaxDistance, Order
from novikoff.core.problem import Problem, Rows, margins_of, norms
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, Loop, Plan, Run
from novikoff.core.schemes import OneVsRest, Scheme
from novikoff.core.stops import Limits
from novikoff.core.sweep import sweep, sweep_classes, sweep_greedy
from novikoff.core.updates import perceptron


def train(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    plan: Plan,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
) -> Run:
    """Train all rules of a scheme on rows whose classes are ``codes`` (A7).

    Every rule draws its order from the same seed, so that training the rules together or one by
    one gives the same weights. ``start`` has the shape (p, n_rules). ``sample_weight`` has a factor
    for each row, as in `train_rule`.
    """
    n_rules = scheme.sides.shape[1]
    if _share_rows(scheme, plan.order, trace=plan.trace):
        run = Run.begin(rows, plan, start, n_rules)
        loop = _loop_of_classes(rows, codes, scheme.sides, plan, run, sample_weight)
        return run.repeat(plan, rows.all_positive(), sample_weight, loop)
    if n_rules > 1 and isinstance(plan.order, Chaotic):
        raise ValueError("A chaotic order is one sequence, and these are several separate runs.")

    def train_one(rule: int) -> Run:
        problem = rows.with_signs(scheme.sides[codes, rule])
        own_start = None if start is None else start[:, rule]
        return train_rule(problem, plan, start=own_start, sample_weight=sample_weight)

    return train_one(0) if n_rules == 1 else Run.joined(_in_parallel(train_one, n_rules, plan))


def train_rule(
    problem: Problem,
    plan: Plan,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
) -> Run:
    """Train the rule of one problem; Ctrl-C ends the run with ``Stop.INTERRUPTED``.

    The run begins with zero weights or a copy of ``start``. ``sample_weight`` has a factor c_i for
    each row: an update on row i moves w by c_i·τ·a_i. Rows whose sign or factor is 0 are left out.

    Raises
    ------
    ValueError
        If a weight or a margin is beyond the range of float64.
    """
    run = Run.begin(problem, plan, start)
    run.repeat(plan, problem, sample_weight, _loop_of_rule(problem, plan, run, sample_weight))
    run.traces = [replace(trace, problem=problem, start=start) for trace in run.traces]
    return run


def load_loop(rows: Rows, scheme: Scheme, order: Order, *, trace: bool = False) -> None:
    """Compile the loop that `train` will run, or load it from the cache, by a visit to no row.

    The first call for a type of data takes seconds. A caller with a time limit calls this function
    before its clock starts.
    """
    plan = Plan(perceptron(), order, Limits(), trace=trace)
    if _share_rows(scheme, order, trace=trace):
        codes, sides = np.zeros(rows.n, dtype=np.int64), scheme.sides
        run = Run.begin(rows, plan, None, sides.shape[1])
        loop = _loop_of_classes(rows, codes, sides, plan, run, None)
    else:
        problem = rows.all_positive()
        loop = _loop_of_rule(problem, plan, Run.begin(problem, plan, None), None)
    loop.visit(np.empty(0, dtype=np.int64), 0, 0)


def _share_rows(scheme: Scheme, order: Order, *, trace: bool) -> bool:
    """Whether each row is shown to all rules together, instead of one run for each rule."""
    return isinstance(scheme, OneVsRest) and not isinstance(order, Greedy) and not trace


def _loop_of_rule(problem: Problem, plan: Plan, run: Run, sample_weight: Vector | None) -> Loop:
    """The loop of a run of one rule."""
    arrays, update, max_updates = problem.arrays, plan.update, plan.limits.most_updates()
    w, counts = run.W[:, 0], run.counts.of_single_rule()
    recorder = Recorder(plan.reference) if plan.trace else None
    buffer = trace_buffer() if recorder is None else recorder.buffer
    factors = np.empty(0) if sample_weight is None else sample_weight
    if len(buffer.reference) not in (0, problem.p):
        raise ValueError(f"The reference of a trace must have {problem.p} entries.")
    rows_per_call = problem.rows_within(ENTRIES_PER_CALL)
    greedy = isinstance(plan.order, Greedy)
    lengths = np.empty(0)
    if greedy:
        lengths = norms(problem) if isinstance(plan.order, MaxDistance) else np.ones(problem.n)
        rows_per_call = max(1, rows_per_call // max(1, problem.n))  # a step reads all rows
    if recorder is not None:
        rows_per_call = min(rows_per_call, len(buffer.entries))

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep(arrays, epoch, first, last, update, factors, w, counts, buffer, max_updates)
        return False

    def visit_worst(epoch: Indices, first: int, last: int) -> bool:
        steps = min(last - first, max_updates - run.updates)
        found = sweep_greedy(
            arrays, epoch, lengths, steps, update, factors, w, counts, buffer
        )  # fmt: skip
        return bool(found)

    def margins(rule: int) -> Vector:
        return margins_of(problem, w, sample_weight)

    return Loop(visit_worst if greedy else visit, margins, rows_per_call, recorder)


def _loop_of_classes(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    sides: Signs,
    plan: Plan,
    run: Run,
    sample_weight: Vector | None,
) -> Loop:
    """The loop of a run of several rules that share each row."""
    arrays, codes = rows.all_positive().arrays, codes.astype(np.int64, copy=False)
    factors = np.empty(0) if sample_weight is None else sample_weight
    max_updates = plan.limits.most_updates()

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep_classes(
            arrays, codes, sides, epoch, first, last, plan.update, factors, run.W, run.counts,
            run.active, max_updates,
        )  # fmt: skip
        return False

    def margins(rule: int) -> Vector:
        return margins_of(rows.with_signs(sides[codes, rule]), run.W[:, rule], sample_weight)

    return Loop(visit, margins, rows.rows_within(ENTRIES_PER_CALL // sides.shape[1]))


def _in_parallel(job: Callable[[int], Run], n_rules: int, plan: Plan) -> list[Run]:
    """The runs of all rules, on the threads of the plan."""
    begun: list[Future[Run]] = []
    with ThreadPoolExecutor(min(plan.threads, n_rules)) as pool:
        try:
            begun.extend(pool.submit(job, rule) for rule in range(n_rules))
            # Wait with a timeout: with some libraries Ctrl-C does not end a wait without one.
            while wait(begun, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in begun):
                    plan.limits.interrupted = True  # the exception is raised below: end the others
        except KeyboardInterrupt:
            plan.limits.interrupted = True  # rules that have not begun end at once
        parts = [future.result() for future in begun]
        return parts + [job(rule) for rule in range(len(begun), n_rules)]
