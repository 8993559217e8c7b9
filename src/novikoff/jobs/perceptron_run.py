"""The perceptron's run in a study, from zero weights.

Without a limit on its epochs, the run takes about two seconds. The amount of work is counted, not
timed, so that the same data and seed give the same bits.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from novikoff.core.linear_model import LinearModel
from novikoff.core.stops import Limits
from novikoff.jobs.study_records import Options, PerceptronRun

if TYPE_CHECKING:
    from novikoff.core.fitting import Fit
    from novikoff.core.orders import Order
    from novikoff.jobs.study_arrays import ArrayTask

# The work of a run without --epochs, about two seconds on a common machine, and how much of it each
# epoch, each row of an epoch and each entry of such a row takes.
WORK, WORK_OF_EPOCH, WORK_OF_ROW, WORK_OF_ENTRY = 1_200_000_000, 20_000, 50, 3
MIN_EPOCHS = 20


def run_perceptron(task: ArrayTask, *, decided: bool) -> tuple[Fit[LinearModel], PerceptronRun]:
    """Run the perceptron on the rows of a study; its rule is mapped to the original features.

    If the verdict is ``decided``, it is proved that the rule of a clean run classifies every row
    correctly on the original features, and ``returned`` is False if it does not.
    """
    options, clock = task.options, task.clock
    task.tell("loading", None)
    with clock.paused():
        from novikoff.core import orders, updates
        from novikoff.core.fitting import fit_model
        from novikoff.core.runs import Plan
        from novikoff.geometry.passes import cores

    began, stopped = time.perf_counter(), clock.paused_seconds
    rows, order = task.rows, orders.named(options.order)
    model = LinearModel(
        task.classes.labels, rows.p - 1, options.fit_intercept, averages=options.average
    )
    with clock.paused(), task.loading():
        model.load(rows, order)
    task.tell("perceptron", None)  # the compiler swallows Ctrl-C; it is noticed here
    limits = affordable_limits(options, order, rows.n, task.size * model.n_rules)
    limits.seconds = clock.part(0.5).seconds
    plan = Plan(
        update=updates.perceptron(),
        order=order,
        limits=limits,
        seed=options.seed,
        average=options.average,
        threads=cores(),
    )
    standardised = options.scale == "standard"
    fit = fit_model(model, rows, task.codes, plan, standardised=standardised)
    seconds = time.perf_counter() - began - (clock.paused_seconds - stopped)
    returned = fit.clean and (not decided or task.separated_by(fit.model.W))
    return fit, PerceptronRun(
        clean=fit.run.converged,
        mistakes=fit.model.n_mistakes,
        epochs=fit.run.epochs,
        seconds=seconds,
        scale=options.scale,
        max_epochs=limits.epochs,
        max_updates=limits.updates,
        returned=returned or not fit.run.converged,
        period=next(filter(None, fit.run.periods), None),
    )


def affordable_limits(options: Options, order: Order, n: int, entries: int) -> Limits:
    """The epochs that were asked for, or the epochs that take about two seconds.

    An order that looks at all rows before each update has a limit on updates too.
    """
    from novikoff.core.orders import Greedy

    if options.epochs is not None:
        return Limits(epochs=options.epochs)
    cycle = n * WORK_OF_ROW + entries * WORK_OF_ENTRY
    updates = WORK // cycle + MIN_EPOCHS if isinstance(order, Greedy) else None
    return Limits(max(MIN_EPOCHS, WORK // (WORK_OF_EPOCH + cycle)), updates)
