"""A run: epoch after epoch, until a cycle is clean or a limit is reached.

`Run.repeat` drives every loop, of one rule or of K side by side. `novikoff.core.sweep`,
`one_vs_rest` and `greedy` give it the visits: their kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.counts import Counts, Recorder, Trace, averaged, blank_counts, check_range
from novikoff.core.problem import Problem, products
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits, Stop

# Work per call of a kernel: some ten milliseconds between two looks at Ctrl-C and the clock.
ENTRIES_PER_CALL = 1 << 24

Flags: TypeAlias = npt.NDArray[np.bool_]
# Shows rows epoch[first:last] to the rules; whether it is certain that no mistake is left.
Visit: TypeAlias = Callable[[Indices, int, int], bool]


@dataclass
class Run:
    """The weights of one rule, or of K, what was counted, and why each rule ended.

    ``visited``, ``updates`` and ``mistakes`` are summed over the rules.
    """

    w: Vector  # (p,) or (p, K), the bias last
    counts: Counts
    begun: Indices  # (K,): the epochs that each rule began
    active: Flags  # (K,): the rules that have not ended
    stops: list[Stop | None]
    trace: Trace | None = None  # if a recorder was given

    @classmethod
    def begin(
        cls, problem: Problem, start: Vector | None, average: bool, n_rules: int | None = None
    ) -> Run:
        """Nothing visited yet; from zero weights, or from a copy of ``start``."""
        shape = (problem.p,) if n_rules is None else (problem.p, n_rules)
        w = np.zeros(shape) if start is None else np.array(start, dtype=np.float64)
        K = n_rules or 1
        counts = blank_counts(problem.n, shape, average)
        return cls(w, counts, np.zeros(K, dtype=np.int64), np.ones(K, dtype=np.bool_), [None] * K)

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
    def stop(self) -> Stop | None:
        """Why the run of a single rule ended."""
        return self.stops[0]

    @property
    def converged(self) -> bool:
        """Whether every rule ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)

    def average(self) -> Vector:
        """The mean of w over all steps (A9)."""
        return averaged(self.w, self.counts.weighted, self.counts.totals[0])

    def repeat(
        self,
        epochs: Iterator[Indices],
        visit: Visit,
        stride: int,
        limits: Limits,
        *,
        is_clean: Callable[[int], bool] | None = None,
        recorder: Recorder | None = None,
        after_epoch: Callable[[Run], bool] | None = None,
    ) -> Run:
        """Visit epoch after epoch, ``stride`` rows at a time, until every rule has ended.

        A rule ends clean after an epoch without an update. Where epochs need not visit every row,
        ``is_clean`` then looks at all of them.
        """
        updates, most = self.counts.totals.reshape(3, -1)[1], limits.most_updates()
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
                    check_range(self.w, self.counts)
                    if recorder is not None:
                        recorder.take()
                    self._end(updates >= most, Stop.UPDATES)
                    self._end(self.active & clean, Stop.CLEAN)
                    if limits.reached() or not self.active.any():
                        break
                else:
                    quiet = self.active & (updates == before)
                    if is_clean is not None:
                        quiet[quiet] = [is_clean(int(rule)) for rule in np.flatnonzero(quiet)]
                    self._end(quiet, Stop.CLEAN)
                    if after_epoch is not None and after_epoch(self):
                        self._end(self.active, Stop.CALLBACK)
                self._end(self.active, limits.reached(self.epochs))
        except KeyboardInterrupt:
            limits.interrupted = True
            self._end(self.active, Stop.INTERRUPTED)
        self.trace = None if recorder is None else recorder.trace()
        return self

    def _end(self, which: Flags, reason: Stop | None) -> None:
        """These rules have ended, if there is a reason; the first reason given stands."""
        if reason is not None:
            for rule in np.flatnonzero(which):
                self.stops[rule] = self.stops[rule] or reason
                self.active[rule] = False


def no_mistakes(problem: Problem, w: Vector, threshold: float, weights: Vector | None) -> bool:
    """Whether every row that takes part has a margin above the threshold."""
    return bool((products(problem, w)[problem.taking_part(weights)] > threshold).all())
