"""The main job: decide separability, learn, or find the rule with the fewest mistakes.

1. Decide each class against the rest (or one of two classes against the other), with proof.
2. If all verdicts are "separable", the perceptron runs on standardised features, to show the
   convergence theorem. Its rule is mapped back to the original features, and the signs of all rows
   are proved there. The model is the hyperplane of the largest margin, which usually misclassifies
   fewer unseen rows. It is the perceptron's rule if that is asked for, the run is clean, and the
   rule is right on the original features.
3. Otherwise the pocket algorithm finds a rule with few mistakes, and a lower bound on the mistakes
   of every rule is proved.

The rows are arrays (`study_arrays`), which are checked, coded and hashed once, or they are on a
cluster (`study_cluster`).
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from novikoff.core.class_labels import plain_label
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.jobs.perceptron_run import run_perceptron
from novikoff.jobs.study_arrays import ArrayTask
from novikoff.jobs.study_cluster import ClusterTask
from novikoff.jobs.study_records import Case, Loading, Options, Study, StudyProgress
from novikoff.proofs.remote import RemoteRows

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.jobs.study_records import FoundRule

Task: TypeAlias = ArrayTask | ClusterTask

_DEFAULT_OPTIONS = Options()


def study(
    X: object,
    y: object = None,
    options: Options = _DEFAULT_OPTIONS,
    progress: StudyProgress | None = None,
    *,
    columns: Columns | None = None,
    loading: Loading = contextlib.nullcontext,
) -> Study:
    """Decide separability, learn a rule, and count its mistakes.

    Parameters
    ----------
    X, y
        The rows, an array or a CSR matrix that may be memory-mapped, and their labels of two
        classes or more, which may be `CodedLabels`. Or rows of a cluster, which contain their
        labels.
    options : Options
        What is asked.
    progress : callable, optional
        Called with the name of each step, and with the interval that contains the margin.
    columns : Columns, optional
        The names of the columns of X.
    loading : callable, optional
        Makes a context in which loops are compiled or loaded, for instance to tell the user.

    Examples
    --------
    >>> found = study(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))
    >>> found.kinds, found.rule, found.errors, found.cases[0].least_errors
    (['inseparable'], 'fewest mistakes', 1, 1)
    """
    tell = progress or (lambda step, interval: None)
    how = options, Limits(seconds=options.budget), tell, loading
    task: Task
    if isinstance(X, RemoteRows):
        task = ClusterTask.of(cast("ClusterRows", X), *how)
    else:
        task = ArrayTask.of(X, y, columns, *how)

    cases = _decide(task) if options.verdict else []
    kinds = {case.verdict.kind for case in cases}
    separable, imperfect = kinds == {"separable"}, bool(kinds & {"quasi-separable", "inseparable"})
    by_margin = separable and options.model == "margin"

    fit = run = None
    if isinstance(task, ArrayTask) and not imperfect and (options.proofs or not by_margin):
        fit, run = run_perceptron(task, decided=bool(cases))
        if options.scale == "standard" and options.proofs:
            cases = [task.with_scaled(fit.rows, case) for case in cases]

    pocket: list[FoundRule] = []
    perfect = run is not None and run.clean and run.returned
    if fit is not None and not by_margin and (not cases or perfect):
        rule, model = "average" if options.average else "perceptron", fit.model
    elif separable:
        rule, model = "largest margin", task.model(_largest_margins(task, cases))
    else:
        rule, (model, pocket, cases) = "fewest mistakes", task.fewest_mistakes(cases)

    tell("writing the report", None)
    seen = None if fit is None else fit.rows
    confusion, margins, each_row = task.count(model, seen, duplicates=imperfect)
    return Study(
        options=options,
        labels=task.classes.given,
        classes=[plain_label(value) for value in task.classes.labels.tolist()],
        cases=cases,
        run=run,
        rule=rule,
        model=model,
        pocket=pocket,
        confusion=confusion,
        margins=margins,
        each_row=each_row,
        sha256=task.fingerprint(cases) if options.proofs else "",
        loading=task.clock.paused_seconds,
    )


def _decide(task: Task) -> list[Case]:
    """Decide each comparison that is asked for."""
    asked = task.classes.cases
    phase = task.clock.part(0.6)
    cases = []
    for k, sides in enumerate(asked):
        step = f"verdict for {sides[0]}" if len(asked) > 1 else "verdict"
        task.tell(step, None)
        limits = phase.part(1.0 / (len(asked) - k))
        verdict = task.decide(sides, limits, partial(task.tell, step))
        cases.append(Case(*sides, verdict))
    return cases


def _largest_margins(task: Task, cases: list[Case]) -> Vector:
    """The weights of the hyperplanes of the largest margin, with a free bias if it is known.

    If a hyperplane, rounded to floats, does not separate the rows, these are the hyperplanes of the
    verdicts, whose signs are proved.
    """
    from novikoff.geometry.largest_margin import largest_margin, separator

    rules = []
    for case in cases:
        found = largest_margin(case.verdict, free_bias=True)
        found = found or largest_margin(case.verdict, free_bias=False)
        rules.append(case.for_model(separator(case.verdict) if found is None else found.w))
    W = np.column_stack(rules)
    if np.isfinite(W).all() and task.separated_by(W):
        return W
    return np.column_stack([case.for_model(separator(case.verdict)) for case in cases])
