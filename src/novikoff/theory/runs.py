"""The perceptron's run from zero weights, as the theorems speak of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.core.orders import Order
    from novikoff.core.problem import Problem
    from novikoff.core.runs import Run


def run_perceptron(
    problem: Problem,
    order: str | Sequence[int] | Order = "cyclic",
    *,
    max_epochs: int,
    aggressive: bool = False,
    max_seconds: float | None = None,
    random_state: int = 0,
    trace: bool = False,
    after_epoch: Callable[[Run], bool] | None = None,
) -> Run:
    """Run until all rows are right or a limit is reached; ``aggressive``: act on every row (A10).

    KeyboardInterrupt on Ctrl-C.
    """
    from novikoff.core import updates
    from novikoff.core.orders import named
    from novikoff.core.runs import Plan
    from novikoff.core.schemes import Binary
    from novikoff.core.stops import Limits
    from novikoff.core.sweep import run
    from novikoff.core.training import load_kernels

    rule = named(order)
    load_kernels(problem, Binary(), rule, trace=trace)  # the clock does not count it
    update = updates.aggressive() if aggressive else updates.perceptron()
    limits = Limits(epochs=max_epochs, seconds=max_seconds)
    plan = Plan(update, rule, limits, random_state, trace=trace, after_epoch=after_epoch)
    ran = run(problem, plan)
    if limits.interrupted:
        raise KeyboardInterrupt
    return ran
