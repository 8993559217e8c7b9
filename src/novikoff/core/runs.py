"""Train rules: run the compiled loops until a cycle is clean or a limit is reached.

`train` trains all rules of a scheme, either together in one pass over the rows or one after the
other. `train_rule` trains the rule of one problem. Both begin a `Run` and make the `EpochLoop` that
the run repeats (`Run.repeat`). `Repetition` notices that the weights repeat, which proves that the
run never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.compilation import announcing_compilation
from novikoff.core.orders import REPEATED, Chaotic, Greedy, MaxDistance, Order, epochs_of
from novikoff.core.problem import Problem, Rows, margins_of, norms, row_blocks
from novikoff.core.rows import Indices, Signs, Vector, stored_numbers
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
from novikoff.core.validation import MAX_EXACT

# A compiled loop is called for about this many entries of X. Ctrl-C and the clock are noticed
# between two calls, that is, about every ten milliseconds.
ENTRIES_PER_CALL = 1 << 24

Flags: TypeAlias = npt.NDArray[np.bool_]


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
        return run.repeat(plan, rows.all_positive(), sample_weight, loop)
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
    run.repeat(plan, problem, sample_weight, _loop_of_rule(problem, plan, run, sample_weight))
    run.traces = [replace(trace, problem=problem, start=start) for trace in run.traces]
    return run


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

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep(arrays, epoch, first, last, update, factors, w, counts, buffer, max_updates)
        return False

    def visit_worst(epoch: Indices, first: int, last: int) -> bool:
        steps = min(last - first, max_updates - run.updates)
        updated = sweep_greedy(
            arrays, epoch, lengths, steps, update, factors, w, counts, buffer
        )  # fmt: skip
        return bool(updated)

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

    def visit(epoch: Indices, first: int, last: int) -> bool:
        sweep_classes(
            arrays, codes, sides, epoch, first, last, plan.update, factors, run.W, run.counts,
            run.active, max_updates,
        )  # fmt: skip
        return False

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
        ``visit(epoch, first, last)`` shows the rows epoch[first:last] to all active rules. It
        returns True if it is certain that no rule needs another update.
    margins : callable
        ``margins(rule)`` returns ⟨a_i, w⟩ for all rows of a rule's problem.
    rows_per_call : int
        The largest number of rows in one visit.
    recorder : Recorder, optional
        Where the visits record their updates.
    """

    visit: Callable[[Indices, int, int], bool]
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
    active: Flags  # (K,): the rules that have not ended
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
        counts = Counts.blank(rows.n, rows.p if plan.average else 0, n_rules)
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

    def repeat(
        self, plan: Plan, problem: Problem, sample_weight: Vector | None, loop: EpochLoop
    ) -> Run:
        """Visit epoch after epoch until every rule has ended; Ctrl-C ends the run.

        A rule ends with a clean cycle after an epoch without an update. If an epoch may miss rows,
        the margins of all rows of the rule's problem are checked first.
        """
        limits, updates = plan.limits, self.counts.totals[1]
        epochs = epochs_of(plan.order, problem, sample_weight, np.random.default_rng(plan.seed))
        repeats = sample_weight is None and type(plan.order) in REPEATED
        repetition = Repetition(self.W) if repeats else None
        self._end(self.active, Stop.UPDATES if limits.most_updates() <= 0 else limits.reached())
        try:
            while self.active.any():
                epoch = next(epochs, None)
                if epoch is None:
                    self._end(self.active, Stop.EXHAUSTED)
                    break
                before = updates.copy()
                self.begun += self.active
                if self._visit(epoch, plan, loop):
                    self._end(self._clean(before, plan, loop), Stop.CLEAN)
                    if repetition is not None:
                        repetition.compare(self.W, self.active)
                    if plan.after_epoch is not None and plan.after_epoch(self):
                        self._end(self.active, Stop.CALLBACK)
                self._end(self.active, limits.reached(self.epochs))
        except KeyboardInterrupt:
            limits.interrupt()
            self._end(self.active, Stop.INTERRUPTED)
        self.traces = [] if loop.recorder is None else [loop.recorder.trace()]
        self.periods = [None] * len(self.stops)
        if repetition is not None:
            self.periods = repetition.proved(problem, plan.update, int(updates.max()))
        self.update_counts = sp.csr_array(self.counts.per_row.T)
        self.counts = self.counts._replace(per_row=self.counts.per_row[:0])
        return self

    def _visit(self, epoch: Indices, plan: Plan, loop: EpochLoop) -> bool:
        """Visit the rows of an epoch; False if the run ended before the last row."""
        for first in range(0, max(1, len(epoch)), loop.rows_per_call):
            clean = loop.visit(epoch, first, min(first + loop.rows_per_call, len(epoch)))
            check_range(self.W, self.counts)
            if loop.recorder is not None:
                loop.recorder.take()
            self._end(self.counts.totals[1] >= plan.limits.most_updates(), Stop.UPDATES)
            self._end(self.active & clean, Stop.CLEAN)
            if plan.limits.reached() or not self.active.any():
                return False
        return True

    def _clean(self, before: Indices, plan: Plan, loop: EpochLoop) -> Flags:
        """The active rules for which the epoch that began after ``before`` updates was clean."""
        quiet = self.active & (self.counts.totals[1] == before)
        if not plan.order.covers:
            for rule in np.flatnonzero(quiet).tolist():
                quiet[rule] = (loop.margins(rule) > plan.update.threshold).all()
        return np.asarray(quiet)

    def _end(self, which: Flags, reason: Stop | None) -> None:
        """End the rules ``which`` if there is a reason; a rule keeps its first reason."""
        if reason is not None:
            for rule in np.flatnonzero(which):
                self.stops[rule] = self.stops[rule] or reason
                self.active[rule] = False


class Repetition:
    """Brent's algorithm (1980): find the period of the weights of K rules at the ends of epochs.

    On any data ‖w_t‖ stays bounded, so that integer weights take finitely many values. If
    every epoch visits the rows in the same order, the weights at the end of an epoch determine all
    later weights. So if the weights repeat once, they repeat forever, and the run never ends. In
    that case the updates of one period add up to zero: Σ k_i·a_i = 0, with k_i > 0 for each row i
    that caused an update in the period. Therefore no w has ⟨a_i, w⟩ > 0 on all of these rows.

    The weights at the end of each epoch are compared with weights that were saved before. They are
    saved at the start and after epochs 1, 3, 7, 15, … When the weights equal the saved weights for
    the first time, the number of epochs since these were saved is the smallest period. ``periods``
    has the period of each rule, or None.

    References
    ----------
    Brent, R. P. (1980). An improved Monte Carlo factorization algorithm. *BIT* 20(2), 176-184.

    Examples
    --------
    >>> watch = Repetition(np.zeros((1, 1)))
    >>> for w in (1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0):
    ...     watch.compare(np.array([[w]]), active=np.array([True]))
    >>> watch.periods
    [3]
    """

    def __init__(self, W: Vector) -> None:
        self.periods: list[int | None] = [None] * W.shape[1]
        self._start = self._saved = W.copy()
        self._since, self._power = 0, 1

    def compare(self, W: Vector, active: Flags) -> None:
        """Compare the weights of the active rules at the end of an epoch with the saved weights."""
        self._since += 1
        for rule in np.flatnonzero((self._saved == W).all(axis=0) & active).tolist():
            self.periods[rule] = self.periods[rule] or self._since
        if self._since == self._power:
            self._saved, self._since, self._power = W.copy(), 0, 2 * self._power

    def proved(self, rows: Rows, update: Update, updates: int) -> list[int | None]:
        """Return the periods that are proved; None for each rule where no period is proved.

        A period is proved if all numbers of the run were integers below 2⁵³, because sums of such
        integers are exact.
        """
        largest = 1.0
        whole = update.eta == 0.0 and update.step_size % 1.0 == 0.0
        whole = whole and bool((self._start % 1.0 == 0.0).all())
        for begin, end in row_blocks(rows.X) if whole and any(self.periods) else ():
            numbers = stored_numbers(rows.X[begin:end])
            whole = whole and bool((numbers % 1.0 == 0.0).all())
            largest = max(largest, float(np.abs(numbers).max(initial=0.0)))
        reach = float(np.abs(self._start).max()) + updates * update.step_size * largest
        exact = whole and reach * largest * rows.longest < MAX_EXACT
        return self.periods if exact else [None] * len(self.periods)
