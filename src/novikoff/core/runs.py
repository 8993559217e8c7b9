"""A run: epoch after epoch, until a cycle is clean or a limit is reached.

`Run.repeat` repeats the `Loop` of a model, for one rule or for several rules side by side.
`Repetition` notices that a run goes round in a cycle, which is proof that it never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.counts import Counts, Recorder, Trace, check_range
from novikoff.core.orders import REPEATED, Order, epochs_of
from novikoff.core.problem import Problem, Rows, row_blocks
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.updates import Update

# A compiled loop is called for about this many entries of X: Ctrl-C and the clock are noticed
# between two calls, after some ten milliseconds.
ENTRIES_PER_CALL = 1 << 24
_EXACT = 2.0**53  # sums of integers up to this size are exact in float64

Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Plan:
    """Everything about a run except the data."""

    update: Update
    order: Order
    limits: Limits
    seed: int = 0  # of the order
    average: bool = False  # whether to keep the average of the weights over all steps
    trace: bool = False  # whether to record every update
    reference: Vector | None = None  # the w* of the trace
    threads: int = 1  # the number of rules that are trained at the same time
    after_epoch: Callable[[Run], bool] | None = None  # the run stops when it returns True


@dataclass(frozen=True)
class Loop:
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
    # (K): the number of epochs after which the weights repeat, where a cycle is proved (B8).
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

    def repeat(self, plan: Plan, problem: Problem, sample_weight: Vector | None, loop: Loop) -> Run:
        """Visit epoch after epoch until every rule has ended; Ctrl-C ends the run.

        A rule ends clean after an epoch without an update. If the order does not visit every row in
        each epoch, the margins of all rows of the rule's problem are then checked.
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
                        repetition.look(self.W, self.active)
                    if plan.after_epoch is not None and plan.after_epoch(self):
                        self._end(self.active, Stop.CALLBACK)
                self._end(self.active, limits.reached(self.epochs))
        except KeyboardInterrupt:
            limits.interrupted = True
            self._end(self.active, Stop.INTERRUPTED)
        self.traces = [] if loop.recorder is None else [loop.recorder.trace()]
        self.periods = [None] * len(self.stops)
        if repetition is not None:
            self.periods = repetition.proved(problem, plan.update, int(updates.max()))
        self.update_counts = sp.csr_array(self.counts.per_row.T)
        self.counts = self.counts._replace(per_row=self.counts.per_row[:0])
        return self

    def _visit(self, epoch: Indices, plan: Plan, loop: Loop) -> bool:
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

    def _clean(self, before: Indices, plan: Plan, loop: Loop) -> Flags:
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

    On any data ‖w_t‖ stays bounded (B8), so that weights that are integers take finitely many
    values. If every epoch visits the rows in the same order, the weights at the end of an epoch
    determine all later weights: when they repeat, the run goes round in a cycle and never ends. The
    rows that are acted on within a period then add up to zero with positive multipliers,
    Σ k_i·a_i = 0, and so no w has ⟨a_i, w⟩ > 0 for all of them.

    The weights are compared with the weights after the last power of two of epochs. When they are
    equal for the first time, the number of epochs between is the smallest period. ``periods`` has
    it for each rule, or None.

    References
    ----------
    Brent, R. P. (1980). An improved Monte Carlo factorization algorithm. *BIT* 20(2), 176-184.

    Examples
    --------
    >>> watch = Repetition(np.zeros((1, 1)))
    >>> for w in (1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0):
    ...     watch.look(np.array([[w]]), active=np.array([True]))
    >>> watch.periods
    [3]
    """

    def __init__(self, W: Vector) -> None:
        self.periods: list[int | None] = [None] * W.shape[1]
        self._start = self._saved = W.copy()
        self._since, self._power = 0, 1

    def look(self, W: Vector, active: Flags) -> None:
        """Compare the weights of the active rules at the end of an epoch with the saved weights."""
        self._since += 1
        for rule in np.flatnonzero((self._saved == W).all(axis=0) & active).tolist():
            self.periods[rule] = self.periods[rule] or self._since
        if self._since == self._power:
            self._saved, self._since, self._power = W.copy(), 0, 2 * self._power

    def proved(self, rows: Rows, update: Update, updates: int) -> list[int | None]:
        """The periods, if all numbers of the run were integers below 2⁵³; else None for each."""
        largest = 1.0
        whole = update.eta == 0.0 and update.step_size % 1.0 == 0.0
        whole = whole and bool((self._start % 1.0 == 0.0).all())
        for begin, end in row_blocks(rows.X) if whole and any(self.periods) else ():
            part = rows.X[begin:end]
            entries = part if isinstance(part, np.ndarray) else part.data
            whole = whole and bool((entries % 1.0 == 0.0).all())
            largest = max(largest, float(np.abs(entries).max(initial=0.0)))
        reach = float(np.abs(self._start).max()) + updates * update.step_size * largest
        exact = whole and reach * largest * rows.longest < _EXACT
        return self.periods if exact else [None] * len(self.periods)
