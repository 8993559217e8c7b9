"""The perceptron's run that the experiments of this package share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from novikoff.core import updates
from novikoff.core.orders import Order, named
from novikoff.core.problem import Problem
from novikoff.core.rows import Vector
from novikoff.core.runs import Plan, Run, compile_loop, train_rule
from novikoff.core.schemes import Binary
from novikoff.core.stops import Limits


def run_from_zero(
    problem: Problem,
    order: str | Sequence[int] | Order = "cyclic",
    *,
    max_epochs: int | None = None,
    max_updates: int | None = None,
    max_seconds: float | None = None,
    aggressive: bool = False,
    random_state: int = 0,
    trace: bool = False,
    reference: Vector | None = None,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Run the perceptron from zero weights until it classifies every row correctly.

    The run also stops when a limit is reached. If ``aggressive``, it updates on every row.
    ``reference`` is the reference w* of the trace. Ctrl-C raises KeyboardInterrupt.
    """
    rule = named(order)
    compile_loop(problem, Binary(), rule, trace=trace)  # compile before the clock starts
    update = updates.aggressive() if aggressive else updates.perceptron()
    limits = Limits(max_epochs, max_updates, max_seconds)
    plan = Plan(
        update, rule, limits, random_state, trace=trace, reference=reference,
        after_epoch=after_epoch,
    )  # fmt: skip
    run = train_rule(problem, plan)
    limits.raise_if_interrupted()
    return run
