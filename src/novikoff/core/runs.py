"""Train rules: run the compiled loops until a cycle is clean or a limit is reached.

`train` trains all rules of a scheme, either together in one pass over the rows or one after the
other. `train_rule` trains the rule of one problem. Both begin a `Run` and make an `EpochLoop`,
which `repeat` calls until every rule has ended. `learn_piece` shows each row of a stream once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.compilation import announcing_compilation
from novikoff.core.orders import REPEATED, Chaotic, Cyclic, Greedy, MaxDistance, Order, epochs_of
from novikoff.core.periods import Repetition
from novikoff.core.problem import Problem, Rows, margins_of, norms
from novikoff.core.rows import Indices, Mask, Signs, Vector
from novikoff.core.schemes import OneVsRest, Scheme
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import (
    Counts,
    check_range,
    sweep,
    sweep_classes,
    sweep_greedy,
    trace_buffer,
)
from novikoff.core.trace import Recorder, Trace
from novikoff.core.updates import Update, perceptron

# A compiled loop is called for about this many entries of X. Ctrl-C and the clock are noticed
# between two calls, that is, about every ten milliseconds.
ENTRIES_PER_CALL = 1 << 24
# The largest number of rows of a stream whose scores are kept at the same time.
_MAX_SCORES = 1 << 14


def train(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    plan: Plan,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
) -> Run:
    """Train all rules of a scheme on rows whose classes are ``codes``.

    Every rule draws its order from the same seed. Therefore the weights are the same whether the
    rules are trained together or one by one. ``start`` has the shape (p, n_rules).
    ``sample_weight`` has a factor for each row, as in `train_rule`.
    """
    n_rules = scheme.sides.shape[1]
    if _share_rows(scheme, plan.order, trace=plan.trace):
        run = Run.begin(rows, plan, start, n_rules)
        loop = _loop_of_classes(rows, codes, scheme.sides, plan, run, sample_weight)
        return repeat(run, plan, rows.all_positive(), sample_weight, loop)
    if n_rules > 1 and isinstance(plan.order, Chaotic):
        raise ValueError(
            "A chaotic order is one sequence, but the rules of these classes need several runs."
        )

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
    each row: an update on row i adds c_i·τ·a_i to w. Rows whose sign or factor is 0 are left out.

    Raises
    ------
    ValueError
        If a weight or a margin is beyond the range of float64.
    """
    run = Run.begin(problem, plan, start)
    repeat(run, plan, problem, sample_weight, _loop_of_rule(problem, plan, run, sample_weight))
    run.traces = [replace(trace, problem=problem, start=start) for trace in run.traces]
    return run


def learn_piece(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    update: Update,
    W: Vector,
    counts: Counts,
    sample_weight: Vector | None = None,
) -> Indices:
    """Show each row once to all rules, in turn, as a piece of a stream.

    Weights and counts change in place; ``counts`` has no updates per row and no scores. Returns the
    class that the weights predicted for each row before they learned it, or −1 for a tie. For a row
    whose factor is 0, this is the class of the row itself.
    """
    epoch = np.arange(rows.n) if sample_weight is None else np.flatnonzero(sample_weight)
    n_rules, predicted = W.shape[1], codes.astype(np.int64)
    scores = np.empty((min(len(epoch), _MAX_SCORES), n_rules))
    run, plan = Run.of(W, counts._replace(scores=scores)), Plan(update, Cyclic(), Limits())
    if n_rules == 1:
        problem = rows.with_signs(scheme.sides[codes, 0])
        loop = _loop_of_rule(problem, plan, run, sample_weight)
    else:
        loop = _loop_of_classes(rows, codes, scheme.sides, plan, run, sample_weight)
    rows_per_call = min(loop.rows_per_call, _MAX_SCORES)
    for first in range(0, len(epoch), rows_per_call):
        part = epoch[first : first + rows_per_call]
        loop.visit(part, 0, len(part))
        predicted[part] = scheme.choose_or_tie(scores[: len(part)])
    return predicted


@announcing_compilation(sweep, sweep_greedy, sweep_classes)
def compile_loop(rows: Rows, scheme: Scheme, order: Order, *, trace: bool = False) -> None:
    """Compile the loop that `train` will run, or load it from the cache, by a call with no rows.

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


def repeat(
    run: Run, plan: Plan, problem: Problem, sample_weight: Vector | None, loop: EpochLoop
) -> Run:
    """Visit epoch after epoch until every rule has ended; Ctrl-C ends the run.

    A rule ends with a clean cycle after an epoch without an update. If an epoch may miss rows,
    the margins of all rows of the rule's problem are checked first.
    """
    limits, updates = plan.limits, run.counts.totals[1]
    epochs = epochs_of(plan.order, problem, sample_weight, np.random.default_rng(plan.seed))
    repeats = sample_weight is None and type(plan.order) in REPEATED
    repetition = Repetition(run.W) if repeats else None
    run.end(run.active, Stop.UPDATES if limits.most_updates() <= 0 else limits.reached())
    try:
        while run.active.any():
            epoch = next(epochs, None)
            if epoch is None:
                run.end(run.active, Stop.EXHAUSTED)
                break
            before = updates.copy()
            run.begun += run.active
            if _visit(run, epoch, plan, loop):
                run.end(_clean(run, before, plan, loop), Stop.CLEAN)
                if repetition is not None:
                    repetition.compare(run.W, run.active)
                if plan.after_epoch is not None and plan.after_epoch(run):
                    run.end(run.active, Stop.CALLBACK)
            run.end(run.active, limits.reached(run.epochs))
    except KeyboardInterrupt:
        limits.interrupt()
        run.end(run.active, Stop.INTERRUPTED)
    run.traces = [] if loop.recorder is None else [loop.recorder.trace()]
    run.periods = [None] * len(run.stops)
    if repetition is not None:
        run.periods = repetition.proved(problem, plan.update, int(updates.max()))
    run.update_counts = sp.csr_array(run.counts.per_row.T)
    run.counts = run.counts._replace(per_row=run.counts.per_row[:0])
    return run


def _visit(run: Run, epoch: Indices, plan: Plan, loop: EpochLoop) -> bool:
    """Visit the rows of an epoch; False if the run ended before the last row."""
    for first in range(0, max(1, len(epoch)), loop.rows_per_call):
        loop.visit(epoch, first, min(first + loop.rows_per_call, len(epoch)))
        check_range(run.W, run.counts)
        if loop.recorder is not None:
            loop.recorder.take()
        run.end(run.counts.totals[1] >= plan.limits.most_updates(), Stop.UPDATES)
        if plan.limits.reached() or not run.active.any():
            return False
    return True


def _clean(run: Run, before: Indices, plan: Plan, loop: EpochLoop) -> Mask:
    """The active rules for which the epoch that began after ``before`` updates was clean."""
    quiet = run.active & (run.counts.totals[1] == before)
    if not plan.order.covers:
        for rule in np.flatnonzero(quiet).tolist():
            quiet[rule] = (loop.margins(rule) > plan.update.threshold).all()
    return np.asarray(quiet)


def _share_rows(scheme: Scheme, order: Order, *, trace: bool) -> bool:
    """Whether each row is shown to all rules together, instead of one run for each rule."""
    return isinstance(scheme, OneVsRest) and not isinstance(order, Greedy) and not trace


def _loop_of_rule(
    problem: Problem, plan: Plan, run: Run, sample_weight: Vector | None
) -> EpochLoop:
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

    def visit(epoch: Indices, first: int, last: int) -> None:
        sweep(arrays, epoch, first, last, update, factors, w, counts, buffer, max_updates)

    def visit_worst(epoch: Indices, first: int, last: int) -> None:
        steps = min(last - first, max_updates - run.updates)
        if sweep_greedy(arrays, epoch, lengths, steps, update, factors, w, counts, buffer):
            run.end(run.active, Stop.CLEAN)

    def margins(rule: int) -> Vector:
        return margins_of(problem, w, sample_weight)

    return EpochLoop(visit_worst if greedy else visit, margins, rows_per_call, recorder)


def _loop_of_classes(
    rows: Rows,
    codes: npt.NDArray[np.integer],
    sides: Signs,
    plan: Plan,
    run: Run,
    sample_weight: Vector | None,
) -> EpochLoop:
    """The loop of a run of several rules that share each row."""
    arrays, codes = rows.all_positive().arrays, codes.astype(np.int64, copy=False)
    factors = np.empty(0) if sample_weight is None else sample_weight
    max_updates = plan.limits.most_updates()

    def visit(epoch: Indices, first: int, last: int) -> None:
        sweep_classes(
            arrays, codes, sides, epoch, first, last, plan.update, factors, run.W, run.counts,
            run.active, max_updates,
        )  # fmt: skip

    def margins(rule: int) -> Vector:
        return margins_of(rows.with_signs(sides[codes, rule]), run.W[:, rule], sample_weight)

    return EpochLoop(visit, margins, rows.rows_within(ENTRIES_PER_CALL // sides.shape[1]))


def _in_parallel(job: Callable[[int], Run], n_rules: int, plan: Plan) -> list[Run]:
    """The runs of all rules, on the threads of the plan."""
    begun: list[Future[Run]] = []
    with ThreadPoolExecutor(min(plan.threads, n_rules)) as pool:
        try:
            begun.extend(pool.submit(job, rule) for rule in range(n_rules))
            # Wait with a timeout: with some libraries Ctrl-C does not end a wait without one.
            while wait(begun, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in begun):
                    plan.limits.interrupt()  # end the other runs before raising
        except KeyboardInterrupt:
            plan.limits.interrupt()  # rules that have not begun end at once
        parts = [future.result() for future in begun]
        return parts + [job(rule) for rule in range(len(begun), n_rules)]


@dataclass(frozen=True)
class Plan:
    """Everything about a run except the data."""

    update: Update
    order: Order
    limits: Limits
    seed: int = 0  # the seed of the order
    average: bool = False  # whether to keep the average of the weights over all steps
    trace: bool = False  # whether to record every update
    reference: Vector | None = None  # the reference w* of the trace
    threads: int = 1  # the number of rules that are trained at the same time
    after_epoch: Callable[[Run], bool] | None = None  # the run stops when it returns True


@dataclass(frozen=True)
class EpochLoop:
    """The part of a run that is repeated.

    Attributes
    ----------
    visit : callable
        ``visit(epoch, first, last)`` shows the rows epoch[first:last] to all active rules.
    margins : callable
        ``margins(rule)`` returns ⟨a_i, w⟩ for all rows of a rule's problem.
    rows_per_call : int
        The largest number of rows in one visit.
    recorder : Recorder, optional
        Where the visits record their updates.
    """

    visit: Callable[[Indices, int, int], None]
    margins: Callable[[int], Vector]
    rows_per_call: int
    recorder: Recorder | None = None


@dataclass
class Run:
    """The weights of K rules, the counts of their run, and the reason why each rule ended.

    ``visited``, ``updates`` and ``mistakes`` are summed over the rules.
    """

    W: Vector  # (p, K), the biases last
    counts: Counts
    begun: Indices  # (K,): the number of epochs that each rule began
    active: Mask  # (K,): the rules that have not ended
    stops: list[Stop | None]
    traces: list[Trace] = field(default_factory=list)  # one for each rule, if the plan asks for it
    # (K): the number of epochs after which the weights repeat, or None if that is not proved.
    periods: list[int | None] = field(default_factory=list)
    # (K, n): the number of updates on each row, when the run has ended.
    update_counts: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))

    @classmethod
    def begin(cls, rows: Rows, plan: Plan, start: Vector | None, n_rules: int = 1) -> Run:
        """A run that has visited no row, from zero weights or from a copy of ``start``."""
        W = np.zeros((rows.p, n_rules))
        if start is not None:
            W[:] = start.reshape(W.shape)
        return cls.of(W, Counts.blank(rows.n, rows.p if plan.average else 0, n_rules))

    @classmethod
    def of(cls, W: Vector, counts: Counts) -> Run:
        """A run of rules that have begun no epoch, which changes the given arrays."""
        n_rules = W.shape[1]
        begun, active = np.zeros(n_rules, dtype=np.int64), np.ones(n_rules, dtype=np.bool_)
        return cls(W, counts, begun, active, [None] * n_rules)

    @classmethod
    def joined(cls, parts: list[Run]) -> Run:
        """One run of the rules of several runs, in the same order."""
        return cls(
            W=np.hstack([part.W for part in parts]),
            counts=Counts(*map(np.hstack, zip(*(part.counts for part in parts), strict=True))),
            begun=np.hstack([part.begun for part in parts]),
            active=np.hstack([part.active for part in parts]),
            stops=[stop for part in parts for stop in part.stops],
            traces=[trace for part in parts for trace in part.traces],
            periods=[period for part in parts for period in part.periods],
            update_counts=sp.csr_array(sp.vstack([part.update_counts for part in parts])),
        )

    @property
    def visited(self) -> int:
        """The number of rows that were looked at."""
        return int(self.counts.totals[0].sum())

    @property
    def updates(self) -> int:
        """The number of updates of w, which the mistake bound is about."""
        return int(self.counts.totals[1].sum())

    @property
    def mistakes(self) -> int:
        """The number of updates on misclassified rows, m ≤ 0."""
        return int(self.counts.totals[2].sum())

    @property
    def epochs(self) -> int:
        """The largest number of epochs that a rule began."""
        return int(self.begun.max())

    @property
    def converged(self) -> bool:
        """Whether every rule ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)

    def end(self, which: Mask, reason: Stop | None) -> None:
        """End the rules ``which`` if there is a reason; a rule keeps its first reason."""
        if reason is not None:
            for rule in np.flatnonzero(which):
                self.stops[rule] = self.stops[rule] or reason
                self.active[rule] = False
