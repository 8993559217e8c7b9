"""Train the rules of a scheme: side by side in one pass, or each for itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.counts import Recorder, Run, Trace, blank_counts, blank_tape
from novikoff.core.greedy import climb
from novikoff.core.one_vs_rest import ClassesRun, run_classes, sweep_classes
from novikoff.core.orders import Chaotic, Greedy, Order
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import OneVsRest, Scheme, signs_of
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run, sweep
from novikoff.core.updates import Update, perceptron


@dataclass(frozen=True)
class Plan:
    """Everything about a training run but the data."""

    update: Update
    order: Order
    limits: Limits
    seed: int
    average: bool = False
    trace: bool = False
    reference: Vector | None = None
    threads: int = 1  # for rules that are trained each for itself
    after_epoch: Callable[[Run | ClassesRun], bool] | None = None


@dataclass(frozen=True)
class Training:
    """What training ended with.

    Attributes
    ----------
    W, weighted : arrays of shape (p, n_rules)
        The weights, and what their average follows from (empty if not asked for).
    totals : array of shape (3, n_rules)
        Rows visited, updates and mistakes.
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
    weighted: Vector
    totals: Indices
    epochs: int
    stops: list[Stop | None]
    counts: sp.csr_array
    traces: list[Trace]

    @property
    def converged(self) -> bool:
        """Whether every rule ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)


def train(
    problem: Problem,
    codes: npt.NDArray[np.integer],
    scheme: Scheme,
    plan: Plan,
    *,
    start: Vector | None = None,
    weights: Vector | None = None,
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
    """
    if isinstance(scheme, OneVsRest) and not isinstance(plan.order, Greedy) and not plan.trace:
        ran = run_classes(
            problem, codes.astype(np.int64, copy=False), scheme.n_classes, plan.update, plan.order,
            plan.limits, np.random.default_rng(plan.seed), start=start, weights=weights,
            average=plan.average, after_epoch=plan.after_epoch,
        )  # fmt: skip
        per_row = sp.csr_array(ran.counts.per_row.T)
        parts = ran.W, ran.counts.weighted, ran.counts.totals
        return Training(*parts, int(ran.epochs.max()), ran.stops, per_row, [])
    sides = scheme.sides
    n_rules = sides.shape[1]
    if n_rules > 1 and isinstance(plan.order, Chaotic):
        raise ValueError("A chaotic order is one sequence, and these are several separate runs.")

    def train_rule(rule: int) -> Training:
        own_start = None if start is None else start[:, rule]
        ran = run(
            problem.resigned(signs_of(codes, sides, rule)), plan.update, plan.order, plan.limits,
            np.random.default_rng(plan.seed), start=own_start, weights=weights,
            average=plan.average, recorder=Recorder(plan.reference) if plan.trace else None,
            after_epoch=plan.after_epoch,
        )  # fmt: skip
        per_row = sp.csr_array(ran.counts.per_row[None, :])
        parts = ran.w[:, None], ran.counts.weighted[:, None], ran.counts.totals[:, None]
        traces = [] if ran.trace is None else [ran.trace]
        return Training(*parts, ran.epochs, [ran.stop], per_row, traces)

    if n_rules == 1:
        return train_rule(0)
    return _in_parallel(train_rule, range(n_rules), plan)


def load_kernels(problem: Problem, scheme: Scheme, order: Order | None = None) -> None:
    """Compile or load the kernels that `train` will need, so that clocks can start afterwards."""
    none, update = np.empty(0, dtype=np.int64), perceptron()
    if isinstance(order, Greedy):
        w = np.zeros(1)
        counts = blank_counts(0, w.shape, False)
        climb(problem.rows, none, w, 0, update, np.empty(0), w, counts, blank_tape())
    elif isinstance(scheme, OneVsRest):
        W = np.zeros((1, scheme.n_classes))
        active = np.ones(scheme.n_classes, dtype=np.bool_)
        counts = blank_counts(0, W.shape, False)
        sweep_classes(problem.rows, none, none, 0, 0, update, np.empty(0), W, counts, active, 0)
    else:
        w = np.zeros(1)
        counts = blank_counts(0, w.shape, False)
        sweep(problem.rows, none, 0, 0, update, np.empty(0), w, counts, blank_tape(), 0)


def _in_parallel(job: Callable[[int], Training], rules: range, plan: Plan) -> Training:
    """Join the trainings of all rules, which the threads of the plan take on."""
    begun: dict[int, Future[Training]] = {}
    with ThreadPoolExecutor(min(plan.threads, len(rules))) as pool:
        try:
            for rule in rules:
                begun[rule] = pool.submit(job, rule)
            # Look up now and then: some libraries make Ctrl-C restart a plain wait.
            while wait(begun.values(), timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in begun.values()):
                    plan.limits.interrupted = True  # it will be raised: the rest need not go on
        except KeyboardInterrupt:
            plan.limits.interrupted = True  # rules that have not begun end at once
        return _joined([begun[rule].result() if rule in begun else job(rule) for rule in rules])


def _joined(parts: list[Training]) -> Training:
    return Training(
        W=np.hstack([part.W for part in parts]),
        weighted=np.hstack([part.weighted for part in parts]),
        totals=np.hstack([part.totals for part in parts]),
        epochs=max(part.epochs for part in parts),
        stops=[stop for part in parts for stop in part.stops],
        counts=sp.csr_array(sp.vstack([part.counts for part in parts])),
        traces=[trace for part in parts for trace in part.traces],
    )
