"""The perceptron's loop: order × update × stop → weights, counts, trace.

Read `sweep` first: it is the algorithm. `run` deals it epoch after epoch, until a cycle is
clean or a limit is reached. What makes the loop fast never changes what it does:

* A mistake is decided by ⟨a_i, w⟩ *summed from left to right*. The loop sums in vector
  lanes, and looks again, in order, wherever the two could disagree (`margin`). So dense and
  sparse data, one problem and many side by side make the same mistakes, bit for bit.
* A second thread, where allowed, only reads rows ahead into the cache (`readahead`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy import uint64

from novikoff.core import rows as _rows
from novikoff.core.greedy import climb_until
from novikoff.core.ledger import (
    ENTRIES_PER_CALL,
    Ledger,
    Run,
    annotate,
    check_range,
    grown,
    open_ledger,
    weight,
)
from novikoff.core.margins import UNDERFLOW, first_mistake
from novikoff.core.memory import aligned_zeros
from novikoff.core.near import Anchor, still_near
from novikoff.core.one_vs_rest import Codes, sweep_classes, sweep_screened
from novikoff.core.orders import Cyclic, Deck, Fixed, Greedy, Order, check_epoch
from novikoff.core.problem import Problem, relative_norms
from novikoff.core.readahead import AHEAD, publish, reading_ahead
from novikoff.core.rows import (
    Indices,
    Rows,
    Vector,
    axpy,
    dot,
    dot_in_order,
    fetch,
    sqnorm,
)
from novikoff.core.screen import in_range, screen_of
from novikoff.core.stops import Limits, Stop
from novikoff.core.trace import Recorder
from novikoff.core.updates import Update, reads_margin, tau, threshold


@njit(cache=True, nogil=True)
def sweep(
    rows: Rows, epoch: Indices, first: int, last: int, update: Update, w: Vector, ledger: Ledger
) -> int:
    """Look at rows epoch[first:last] in turn and act on mistakes; return how far it went.

    That is −1 if a sum overflows, and short of ``last`` at a limit on updates, or where rows
    that were left out as safe may be mistakes by now (`near`).

    Wanted: w with ⟨a_i, w⟩ > δ for all i, where δ = threshold(update).
    Guarantee: with the perceptron's update from w₀ = 0 and δ = 0, at most R²/γ² updates in
    all on separable data, in whatever order (A2, B1; Novikoff 1962).
    """
    delta, near = threshold(update), ledger.near
    exact = reads_margin(update) or ledger.notes is not None or near.guarding
    doubt = ledger.rounding * ledger.norm[0] + UNDERFLOW
    t = ledger.steps[0]
    for k in range(first, last):
        if k % 64 == 0:
            publish(ledger.progress, k)
        if ledger.far and k + AHEAD < last:
            fetch(rows, epoch[k + AHEAD])
        i = epoch[uint64(k)]
        if len(near.clock) > 0:
            t = near.clock[k]
        if weight(ledger.weights, i) == 0.0:
            continue
        m = dot(rows, i, w)  # ⟨a_i, w⟩
        if not doubt < m - delta < np.inf:  # perhaps a mistake
            close = not doubt < abs(m - delta) < np.inf
            if close or exact or abs(m) <= doubt:
                m = dot_in_order(rows, i, w)
                if not abs(m) < np.inf:
                    return -1
            if m <= delta:  # a mistake
                squared = sqnorm(rows, i) if reads_margin(update) else 0.0
                step = tau(update, m, squared) * weight(ledger.weights, i)
                axpy(step, rows, i, w)  # w ← w + τ a_i
                ledger.updates[0] += 1
                ledger.mistakes[0] += m <= 0.0
                ledger.norm[0] = grown(ledger.norm[0], ledger.radius, step, m + doubt)
                doubt = ledger.rounding * ledger.norm[0] + UNDERFLOW
                if len(ledger.counts) > 0:
                    ledger.counts[i, 0] += 1
                if ledger.notes is not None:
                    annotate(ledger.notes, ledger.near.names, 0, t, rows, i, m, step, w)
                spent = ledger.updates[0] >= ledger.limit
                if spent or (near.guarding and not still_near(near, i, step, m, doubt)):
                    ledger.steps[0] = t + 1
                    return k + 1
        t += 1
    ledger.steps[0] = t
    return last


def run(
    problem: Problem,
    update: Update,
    order: Order,
    limits: Limits,
    rng: np.random.Generator,
    *,
    codes: Codes | None = None,
    n_classes: int = 1,
    start: Vector | None = None,
    deck: Indices | None = None,
    weights: Vector | None = None,
    counts: bool = True,
    average: bool = False,
    recorder: Recorder | None = None,
    threads: int = 1,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Sweep until a clean cycle or a limit.

    Parameters
    ----------
    problem, update, order, limits, rng
        The data and the three axes; `rng` is used by the order alone.
    codes, n_classes
        The class of each row, to run one-vs-rest; the rows' own signs must then be +1.
    start : array of shape (p, K), optional
        The weights to start from, zero by default; copied.
    deck : array of int, optional
        The rows that take part; all by default.
    weights : array of shape (n,), optional
        A factor on the steps of each row; rows of weight 0 do not take part.
    counts, average, recorder
        Whether to keep the updates per row, the lazy average, a trace.
    threads : int
        With 2 or more, rows are read ahead.
    after_epoch : callable, optional
        Called with the run after every epoch; the run stops where it returns True.

    Raises
    ------
    ValueError
        If the weights or a margin overflow float64.

    Notes
    -----
    On Ctrl-C the run ends with ``Stop.INTERRUPTED`` within milliseconds and its books in
    order; the caller decides what to raise.
    """
    if codes is not None and (recorder is not None or isinstance(order, Greedy)):
        raise ValueError("Traces and maximal rules take one binary problem at a time.")
    if recorder is not None and len(recorder.tape.reference) not in (0, problem.p):
        raise ValueError(f"The reference of a trace must have {problem.p} entries.")
    if isinstance(order, Greedy):
        return climb_until(
            problem,
            update,
            order,
            limits,
            start=start,
            deck=deck,
            weights=weights,
            average=average,
            recorder=recorder,
            after_epoch=after_epoch,
        )
    K = n_classes
    tape = None if recorder is None else recorder.tape
    W = aligned_zeros((problem.p, K))
    if start is not None:
        W[:] = start
    ledger = open_ledger(problem, W, weights, counts, average, tape, limits.most_updates())
    state = Run(W, ledger, np.zeros(K, dtype=np.int64), [None] * K)
    rows = np.arange(problem.n) if deck is None else deck
    shares = partial(_squared_norms_of, problem, rows)
    if ledger.limit <= 0:
        state.end_all(Stop.UPDATES)
        return state
    steady = type(order) in (Cyclic, Fixed)
    task = _Task(problem, update, codes, state, limits, recorder, threads, steady)
    try:
        for dealt in order.epochs(Deck(rows, shares, problem.n), rng):
            epoch = check_epoch(order, dealt, problem.n)
            before = ledger.updates.copy()
            state.epochs[ledger.active] += 1
            if not task.sweep_epoch(epoch):
                break
            for c in np.flatnonzero(ledger.active & (ledger.updates == before)):
                if order.covers or _is_clean(problem, rows, update, codes, state, int(c)):
                    state.end(int(c), Stop.CLEAN)
            if after_epoch is not None and after_epoch(state):
                state.end_all(Stop.CALLBACK)
            if not ledger.active.any() or limits.reached(int(state.epochs.max())):
                break
        state.end_all(limits.reached(int(state.epochs.max())) or Stop.EXHAUSTED)
    except KeyboardInterrupt:
        limits.interrupted = True
        state.end_all(Stop.INTERRUPTED)
    if recorder is not None:
        state.trace = recorder.trace()
    return state


class _Task:
    """Epochs of one run, whole or near an anchor, in calls short enough to be interrupted."""

    def __init__(
        self,
        problem: Problem,
        update: Update,
        codes: Codes | None,
        state: Run,
        limits: Limits,
        recorder: Recorder | None,
        threads: int,
        steady: bool,
    ) -> None:
        self.problem, self.update, self.codes, self.state = problem, update, codes, state
        self.limits, self.recorder, self.threads = limits, recorder, threads
        self.anchor: Anchor | None = None
        if codes is None:
            weights = state.ledger.weights if len(state.ledger.weights) > 0 else None
            self.anchor = Anchor(problem, threshold(update), weights, threads, steady)
        entries = _rows.nbytes(problem.rows) // 8 // max(1, problem.n) + 1
        self.stride = max(1, ENTRIES_PER_CALL // (entries * state.W.shape[1]))
        if recorder is not None:
            self.stride = min(self.stride, len(recorder.tape.row))
        self.screen = None if codes is None else screen_of(problem, state.W, threshold(update))

    def sweep_epoch(self, epoch: Indices) -> bool:
        """Sweep one epoch; False if it was not finished."""
        if self.anchor is None or not self.anchor.possible:
            return self._sweep(self.problem.rows, epoch, self.state.ledger) == len(epoch)
        if self.anchor.holds:
            return self._sweep_near(self.anchor, epoch)
        w = self.state.W[:, 0]
        before = w.copy() if self.anchor.due else w
        finished = self._sweep(self.problem.rows, epoch, self.state.ledger) == len(epoch)
        if finished:
            self.anchor.note_epoch(before, w)
        return finished

    def _sweep_near(self, anchor: Anchor, epoch: Indices) -> bool:
        """The same epoch, but looking only at rows that can be mistakes."""
        ledger, n = self.state.ledger, len(epoch)
        began = int(ledger.steps[0])
        done = looked = 0
        while done < n:
            if not anchor.holds:  # w has turned too far, and no anchor would pay here
                finished = self._sweep(self.problem.rows, epoch[done:], ledger) == n - done
                looked += n - done
                if not finished:
                    return False
                break
            at, visits = anchor.visits(epoch, done)
            near = anchor.near._replace(clock=began + at)
            try:
                reached = self._sweep(anchor.rows, visits, anchor.books(ledger, near))
            finally:
                anchor.settle(ledger)
            looked += reached
            if reached == len(visits) and not anchor.broken:
                done = n
                ledger.steps[0] = began + n
            elif not ledger.active.any() or self.limits.reached() is not None:
                return False
            else:
                done = int(at[reached - 1]) + 1
                anchor.recast(self.state.W[:, 0], done / n)
        anchor.note_near_epoch(self.state.W[:, 0], looked / n)
        return True

    def _sweep(self, rows: Rows, epoch: Indices, ledger: Ledger) -> int:
        """Sweep rows in turn; return how far it went: less than all at a limit or beyond reach."""
        W, recorder, near = self.state.W, self.recorder, ledger.near
        with reading_ahead(rows, epoch, ledger.progress, self.threads):
            for first in range(0, len(epoch), self.stride):
                last = min(first + self.stride, len(epoch))
                if self.codes is None:
                    reached = sweep(rows, epoch, first, last, self.update, W[:, 0], ledger)
                    sound = reached >= 0
                else:
                    sound = self._sweep_classes(self.codes, epoch, first, last)
                    reached = last
                if recorder is not None:
                    recorder.take()
                if not sound or not near.guarding or ledger.norm[0] ** 2 > 1.5 * near.state[0]:
                    check_range(sound, ledger, W, self.problem.longest)
                for c in np.flatnonzero(ledger.updates >= ledger.limit):
                    self.state.end(int(c), Stop.UPDATES)
                if not ledger.active.any() or self.limits.reached() is not None:
                    return min(reached, len(epoch) - 1)
                if reached < last or near.state[6] > 0.0:
                    return reached
        return len(epoch)

    def _sweep_classes(self, codes: Codes, epoch: Indices, first: int, last: int) -> bool:
        rows, W, ledger = self.problem.rows, self.state.W, self.state.ledger
        if self.screen is not None and not in_range(ledger):
            self.screen = None  # from now on: it would not follow what the plain loop does
        if self.screen is None:
            return sweep_classes(rows, codes, epoch, first, last, self.update, W, ledger)
        return sweep_screened(rows, codes, epoch, first, last, self.update, W, self.screen, ledger)


def _is_clean(
    problem: Problem,
    deck: Indices,
    update: Update,
    codes: Codes | None,
    state: Run,
    c: int,
) -> bool:
    """Whether problem c has no mistake left, for orders that may have missed one."""
    rows = problem.rows
    if codes is not None:
        rows = _rows.resigned(rows, np.where(codes == c, 1, -1).astype(np.int8))
    w = np.ascontiguousarray(state.W[:, c])
    doubt = state.ledger.rounding * state.ledger.norm[c]
    return first_mistake(rows, deck, w, threshold(update), doubt, state.ledger.weights) < 0


def _squared_norms_of(problem: Problem, deck: Indices) -> Vector:
    return np.square(relative_norms(problem)[deck])
