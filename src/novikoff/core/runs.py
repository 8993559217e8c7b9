"""A run: epoch after epoch, until a cycle is clean or a limit is reached.

`Run.repeat` drives every loop, of one rule or of K side by side. `novikoff.core.sweep` and
`training` give it the visits: their kernels.
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

# Work per call of a kernel: some ten milliseconds between two looks at Ctrl-C and the clock.
ENTRIES_PER_CALL = 1 << 24
_EXACT = 2.0**53  # integers up to here, and their sums, are exact in float64

Flags: TypeAlias = npt.NDArray[np.bool_]
# Shows rows epoch[first:last] to the rules, or takes as many greedy steps; True once it is certain
# that no mistake is left.
Advance: TypeAlias = Callable[[Indices, int, int], bool]


@dataclass(frozen=True)
class Plan:
    """Everything about a run but the data."""

    update: Update
    order: Order
    limits: Limits
    seed: int = 0  # of the order
    average: bool = False  # whether to keep the average over all steps
    trace: bool = False
    reference: Vector | None = None  # w* of the trace
    threads: int = 1  # for rules that are trained each for itself
    after_epoch: Callable[[Run], bool] | None = None  # the run stops where it returns True


@dataclass
class Run:
    """The weights of K rules, what was counted, and why each rule ended.

    ``visited``, ``updates`` and ``mistakes`` are summed over the rules.
    """

    W: Vector  # (p, K), the biases last
    counts: Counts
    begun: Indices  # (K,): the epochs that each rule began
    active: Flags  # (K,): the rules that have not ended
    stops: list[Stop | None]
    traces: list[Trace] = field(default_factory=list)  # one for each rule, if asked for
    # (K): the epochs after which the weights repeat for ever, where that is proved (B8).
    periods: list[int | None] = field(default_factory=list)
    # (K, n): the updates on each row, once the run has ended.
    update_counts: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))

    @classmethod
    def begin(cls, rows: Rows, plan: Plan, start: Vector | None, n_rules: int = 1) -> Run:
        """Nothing visited yet; from zero weights, or from a copy of ``start``."""
        W = np.zeros((rows.p, n_rules))
        if start is not None:
            W[:] = start.reshape(W.shape)
        counts = Counts.blank(rows.n, rows.p if plan.average else 0, n_rules)
        begun, active = np.zeros(n_rules, dtype=np.int64), np.ones(n_rules, dtype=np.bool_)
        return cls(W, counts, begun, active, [None] * n_rules)

    @classmethod
    def joined(cls, parts: list[Run]) -> Run:
        """The rules of several runs, one after the other."""
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
        """Rows looked at."""
        return int(self.counts.totals[0].sum())

    @property
    def updates(self) -> int:
        """Times that w was moved: what the theorem counts."""
        return int(self.counts.totals[1].sum())

    @property
    def mistakes(self) -> int:
        """Updates on a row that was on the wrong side, m ≤ 0."""
        return int(self.counts.totals[2].sum())

    @property
    def epochs(self) -> int:
        """The most epochs that any rule began."""
        return int(self.begun.max())

    @property
    def converged(self) -> bool:
        """Whether every rule ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)

    def repeat(
        self,
        plan: Plan,
        problem: Problem,
        sample_weight: Vector | None,
        visit: Advance,
        stride: int,
        *,
        margins: Callable[[int], Vector],
        recorder: Recorder | None = None,
    ) -> Run:
        """Visit epoch after epoch, ``stride`` rows at a time, until every rule has ended.

        A rule ends clean after an epoch without an update. Where epochs need not visit every row,
        the ``margins`` of all rows that take part in it are then looked at. Ctrl-C ends the run.
        """
        limits, updates, most = plan.limits, self.counts.totals[1], plan.limits.most_updates()
        epochs = epochs_of(plan.order, problem, sample_weight, np.random.default_rng(plan.seed))
        repeated = sample_weight is None and type(plan.order) in REPEATED
        repetition = Repetition(self.W) if repeated else None
        self._end(self.active, Stop.UPDATES if most <= 0 else limits.reached())
        try:
            while self.active.any():
                epoch = next(epochs, None)
                if epoch is None:
                    self._end(self.active, Stop.EXHAUSTED)
                    break
                before = updates.copy()
                self.begun += self.active
                for first in range(0, max(1, len(epoch)), stride):
                    clean = visit(epoch, first, min(first + stride, len(epoch)))
                    check_range(self.W, self.counts)
                    if recorder is not None:
                        recorder.take()
                    self._end(updates >= most, Stop.UPDATES)
                    self._end(self.active & clean, Stop.CLEAN)
                    if limits.reached() or not self.active.any():
                        break
                else:
                    quiet = self.active & (updates == before)
                    for rule in [] if plan.order.covers else np.flatnonzero(quiet).tolist():
                        quiet[rule] = (margins(rule) > plan.update.threshold).all()
                    self._end(quiet, Stop.CLEAN)
                    if repetition is not None:
                        repetition.look(self.W, self.active)
                    if plan.after_epoch is not None and plan.after_epoch(self):
                        self._end(self.active, Stop.CALLBACK)
                self._end(self.active, limits.reached(self.epochs))
        except KeyboardInterrupt:
            limits.interrupted = True
            self._end(self.active, Stop.INTERRUPTED)
        self.traces = [] if recorder is None else [recorder.trace()]
        self.periods = [None] * len(self.stops)
        if repetition is not None:
            self.periods = repetition.proved(problem, plan.update, int(updates.max()))
        self.update_counts = sp.csr_array(self.counts.per_row.T)
        self.counts = self.counts._replace(per_row=self.counts.per_row[:0])
        return self

    def _end(self, which: Flags, reason: Stop | None) -> None:
        """These rules have ended, if there is a reason; the first reason given stands."""
        if reason is not None:
            for rule in np.flatnonzero(which):
                self.stops[rule] = self.stops[rule] or reason
                self.active[rule] = False


class Repetition:
    """Watches the weights of K rules at the ends of epochs, by Brent's algorithm (1980).

    A run that comes back to its weights goes round for ever (B8; Thm 1.35 of the source notes). On
    any data ‖w_t‖ stays bounded, so that integer weights take finitely many values. Where every
    epoch visits the rows in the same order, the weights at its end decide all that follows: once
    they repeat, the run cycles. The rows acted on within a period then add up to zero with positive
    factors, Σ k_i·a_i = 0, and no w has ⟨a_i, w⟩ > 0 for all of them.

    The weights are compared with those at the last power of two of epochs: the first time that
    they are equal, the distance is the smallest period. ``periods`` has it for each rule, or None.

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
        """Compare the weights at the end of an epoch with those kept, of rules that go on."""
        self._since += 1
        for rule in np.flatnonzero((self._saved == W).all(axis=0) & active).tolist():
            self.periods[rule] = self.periods[rule] or self._since
        if self._since == self._power:
            self._saved, self._since, self._power = W.copy(), 0, 2 * self._power

    def proved(self, rows: Rows, update: Update, updates: int) -> list[int | None]:
        """The periods, if every sum of the run was one of integers below 2⁵³."""
        largest = 1.0
        whole = update.eta == 0.0 and update.step % 1.0 == 0.0
        whole = whole and bool((self._start % 1.0 == 0.0).all())
        for begin, end in row_blocks(rows.X) if whole and any(self.periods) else ():
            part = rows.X[begin:end]
            entries = part if isinstance(part, np.ndarray) else part.data
            whole = whole and bool((entries % 1.0 == 0.0).all())
            largest = max(largest, float(np.abs(entries).max(initial=0.0)))
        reach = float(np.abs(self._start).max()) + updates * update.step * largest
        exact = whole and reach * largest * rows.longest < _EXACT
        return self.periods if exact else [None] * len(self.periods)
