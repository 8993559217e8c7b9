"""Train the rules of a scheme: side by side in one pass, or each for itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.counts import Recorder, Trace
from novikoff.core.one_vs_rest import run_classes
from novikoff.core.orders import Chaotic, Cyclic, Greedy, MaxResidual, Order
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Run
from novikoff.core.schemes import OneVsRest, Scheme, signs_of
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
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
    after_epoch: Callable[[Run], bool] | None = None


@dataclass(frozen=True)
class Training:
    """What training ended with."""

    W: Vector  # (p, n_rules)
    weighted: Vector  # the same, from which the average follows, or (0, n_rules)
    totals: Indices  # (3, n_rules): rows visited, updates and mistakes
    epochs: int  # the most that any rule began
    stops: list[Stop | None]  # why each rule's run ended
    counts: sp.csr_array  # (n_rules, n): updates on each row
    traces: list[Trace]  # one for each rule, if asked for

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
    """Train all rules of the scheme, on rows of sign +1 whose classes are ``codes``.

    Every rule draws its order from the same seed, so that running them together or apart is the
    same. ``start`` has the shape (p, n_rules), ``weights`` are factors on the steps of each row.
    """
    if isinstance(scheme, OneVsRest) and not isinstance(plan.order, Greedy) and not plan.trace:
        ran = run_classes(
            problem, codes.astype(np.int64, copy=False), scheme.n_classes, plan.update, plan.order,
            plan.limits, np.random.default_rng(plan.seed), start=start, weights=weights,
            average=plan.average, after_epoch=plan.after_epoch,
        )  # fmt: skip
        return _training(ran)
    sides = scheme.sides
    n_rules = sides.shape[1]
    if n_rules > 1 and isinstance(plan.order, Chaotic):
        raise ValueError("A chaotic order is one sequence, and these are several separate runs.")

    def train_rule(rule: int) -> Training:
        ran = run(
            problem.resigned(signs_of(codes, sides, rule)), plan.update, plan.order, plan.limits,
            np.random.default_rng(plan.seed), start=None if start is None else start[:, rule],
            weights=weights, average=plan.average, after_epoch=plan.after_epoch,
            recorder=Recorder(plan.reference) if plan.trace else None,
        )  # fmt: skip
        return _training(ran)

    return train_rule(0) if n_rules == 1 else _in_parallel(train_rule, n_rules, plan)


def load_kernels(problem: Problem, scheme: Scheme, order: Order | None = None) -> None:
    """Compile or load the kernels that `train` will need, so that clocks can start afterwards."""
    nobody = problem.resigned(np.zeros(problem.n, dtype=np.int8))
    update, once, rng = perceptron(), Limits(epochs=1), np.random.default_rng(0)
    if isinstance(order, Greedy):
        run(nobody, update, MaxResidual(), once, rng)
    elif isinstance(scheme, OneVsRest):
        codes = np.zeros(problem.n, dtype=np.int64)
        run_classes(nobody, codes, scheme.n_classes, update, Cyclic(), once, rng)
    else:
        run(nobody, update, Cyclic(), once, rng)


def _training(ran: Run) -> Training:
    """The rules of one run."""
    counts, n_rules = ran.counts, len(ran.stops)
    W = ran.w.reshape(-1, n_rules)
    weighted = counts.weighted.reshape(len(counts.weighted), n_rules)
    per_rule = sp.csr_array(counts.per_row.reshape(-1, n_rules).T)
    traces = [] if ran.trace is None else [ran.trace]
    totals = counts.totals.reshape(3, n_rules)
    return Training(W, weighted, totals, ran.epochs, ran.stops, per_rule, traces)


def _in_parallel(job: Callable[[int], Training], n_rules: int, plan: Plan) -> Training:
    """The trainings of all rules, by the plan's threads."""
    begun: list[Future[Training]] = []
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
        parts += [job(rule) for rule in range(len(begun), n_rules)]
    return Training(
        W=np.hstack([part.W for part in parts]),
        weighted=np.hstack([part.weighted for part in parts]),
        totals=np.hstack([part.totals for part in parts]),
        epochs=max(part.epochs for part in parts),
        stops=[stop for part in parts for stop in part.stops],
        counts=sp.csr_array(sp.vstack([part.counts for part in parts])),
        traces=[trace for part in parts for trace in part.traces],
    )
