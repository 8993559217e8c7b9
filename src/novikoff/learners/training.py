"""Run the binary problems of a scheme: side by side in one pass, or each for itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.ledger import Run
from novikoff.core.orders import Chaotic, MaxDistance, MaxResidual, Order
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder, Trace
from novikoff.core.updates import Update
from novikoff.learners.schemes import OneVsRest, Scheme, signs_of


@dataclass(frozen=True)
class Plan:
    """Everything about a training run but the data."""

    update: Update
    order: Order
    limits: Limits
    seed: int
    counts: bool = True
    average: bool = False
    trace: bool = False
    reference: Vector | None = None
    threads: int = 1
    after_epoch: Callable[[Run], bool] | None = None

    def run(
        self,
        problem: Problem,
        start: Vector | None,
        weights: Vector | None,
        codes: Indices | None = None,
        n_classes: int = 1,
        deck: Indices | None = None,
    ) -> Run:
        """Run one problem, or K of them side by side; rows of sign 0 take no part."""
        signs = problem.rows.signs
        return run(
            problem,
            self.update,
            self.order,
            self.limits,
            np.random.default_rng(self.seed),
            codes=codes,
            n_classes=n_classes,
            start=start,
            deck=deck if signs.all() else np.flatnonzero(signs),
            weights=weights,
            counts=self.counts,
            average=self.average,
            recorder=Recorder(self.reference) if self.trace else None,
            threads=self.threads,
            after_epoch=self.after_epoch,
        )


@dataclass(frozen=True)
class Training:
    """What training ended with.

    Attributes
    ----------
    W, lazy : arrays of shape (p, n_rules)
        The weights, and what their average follows from (empty if not asked for).
    tally : array of shape (3, n_rules)
        Steps, updates and mistakes.
    epochs : int
        The most epochs that any rule began.
    stops : list of Stop
        Why each rule's run ended.
    counts : CSR array of shape (n_rules, n)
        Updates on each row.
    traces : list of Trace
        One for each rule, if asked for.
    """

    W: Vector
    lazy: Vector
    tally: Indices
    epochs: int
    stops: list[Stop | None]
    counts: sp.csr_array
    traces: list[Trace]

    @property
    def converged(self) -> bool:
        """Whether every problem ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)


def train(
    problem: Problem,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    plan: Plan,
    *,
    start: Vector | None = None,
    weights: Vector | None = None,
    deck: Indices | None = None,
) -> Training:
    """Train all rules of the scheme.

    Parameters
    ----------
    problem : Problem
        The rows, all with sign +1.
    codes : array of int
        The class of each row.
    scheme, plan
        Which problems, and how to run them. Every problem draws its order from the same
        seed, so that running them together or apart is the same.
    start : array of shape (p, n_rules), optional
        The weights to start from.
    weights : array of shape (n,), optional
        A factor on the steps of each row.
    deck : array of int, optional
        0, 1, …, n − 1, for those who have it at hand and train on block after block.
    """
    greedy = isinstance(plan.order, MaxDistance | MaxResidual)
    if isinstance(scheme, OneVsRest) and not greedy and not plan.trace:
        if plan.threads < 2 or plan.after_epoch is not None or isinstance(plan.order, Chaotic):
            numbers = codes.astype(np.int64, copy=False)
            run = plan.run(problem, start, weights, numbers, scheme.n_classes, deck)
            return _training(run)
        return _train_groups(problem, codes, scheme, plan, start, weights, deck)
    sides = scheme.sides
    n_rules = sides.shape[1]
    if n_rules == 1:
        own = problem.resigned(signs_of(codes, sides, 0))
        return _training(plan.run(own, start, weights, deck=deck))
    if isinstance(plan.order, Chaotic):
        raise ValueError("A chaotic order is one sequence, and these are several separate runs.")
    alone = replace(plan, threads=1)

    def train_rule(rule: int) -> Training:
        own_start = None if start is None else start[:, [rule]]
        if (stop := plan.limits.reached()) is not None:
            return _unbegun(problem, plan, own_start, stop)
        own = problem.resigned(signs_of(codes, sides, rule))
        return _training(alone.run(own, own_start, weights, deck=deck))

    return _in_parallel(train_rule, range(n_rules), plan)


def _train_groups(
    problem: Problem,
    codes: npt.NDArray[np.integer],
    scheme: OneVsRest,
    plan: Plan,
    start: Vector | None,
    weights: Vector | None,
    deck: Indices | None,
) -> Training:
    """One-vs-rest with the classes dealt out to the threads: each streams the data once."""
    alone = replace(plan, threads=1)
    edges = np.linspace(0, scheme.n_classes, min(plan.threads, scheme.n_classes) + 1)
    edges = edges.astype(np.int64).tolist()

    def train_group(group: int) -> Training:
        first, last = edges[group], edges[group + 1]
        own_start = None if start is None else start[:, first:last]
        numbers = codes.astype(np.int64) - first
        run = alone.run(problem, own_start, weights, numbers, last - first, deck)
        return _training(run)

    return _in_parallel(train_group, range(len(edges) - 1), plan)


def _in_parallel(job: Callable[[int], Training], parts: range, plan: Plan) -> Training:
    """Join the trainings of all parts, which the threads of the plan take on."""
    with ThreadPoolExecutor(min(plan.threads, len(parts))) as pool:
        pending = [pool.submit(job, part) for part in parts]
        try:
            # Look up now and then: some libraries make Ctrl-C restart a plain wait.
            while wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in pending):
                    plan.limits.interrupted = True  # it will be raised: no need to end the rest
                    break
        except KeyboardInterrupt:
            plan.limits.interrupted = True
        try:
            return _joined([future.result() for future in pending])
        except BaseException:
            plan.limits.interrupted = True
            raise


def _training(run: Run) -> Training:
    ledger = run.ledger
    counts = sp.csr_array(ledger.counts.T) if len(ledger.counts) > 0 else _no_counts(len(run.stops))
    return Training(
        W=run.W,
        lazy=ledger.lazy,
        tally=ledger.tally(),
        epochs=int(run.epochs.max()),
        stops=run.stops,
        counts=counts,
        traces=[] if run.trace is None else [run.trace],
    )


@cache
def _no_counts(n_rules: int) -> sp.csr_array:
    return sp.csr_array(np.empty((n_rules, 0), dtype=np.int32))


def _unbegun(problem: Problem, plan: Plan, start: Vector | None, stop: Stop) -> Training:
    """One rule that a limit kept from beginning: the weights that it would have started from."""
    n, none = problem.n if plan.counts else 0, np.empty(0, dtype=np.int32)
    return Training(
        W=np.zeros((problem.p, 1)) if start is None else start,
        lazy=np.zeros((problem.p if plan.average else 0, 1)),
        tally=np.zeros((3, 1), dtype=np.int64),
        epochs=0,
        stops=[stop],
        counts=sp.csr_array((none, none, np.zeros(2, dtype=np.int32)), shape=(1, n)),
        traces=[Recorder(plan.reference).trace()] if plan.trace else [],
    )


def _joined(parts: list[Training]) -> Training:
    return Training(
        W=np.hstack([part.W for part in parts]),
        lazy=np.hstack([part.lazy for part in parts]),
        tally=np.hstack([part.tally for part in parts]),
        epochs=max(part.epochs for part in parts),
        stops=[stop for part in parts for stop in part.stops],
        counts=sp.csr_array(sp.vstack([part.counts for part in parts])),
        traces=[trace for part in parts for trace in part.traces],
    )
