"""The pictures of a report, drawn without a display and without scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import Matrix
    from novikoff.jobs.study_records import EachRow, Study
    from novikoff.report.plots.margins import Rule

Subject: TypeAlias = Literal["boundary", "margins", "mistakes", "proof"]

CAPTIONS: dict[Subject, str] = {
    "boundary": "The rule among the rows.",
    "margins": "How far each row is on its side; mistakes are below zero.",
    "mistakes": "The perceptron's mistakes as it visits row after row.",
    "proof": "The proof as it happens: three inequalities that hold after every update.",
}
MAX_TRACED_UPDATES = 100_000


def draw_study(
    study: Study,
    X: Matrix,
    names: Sequence[str] | None,
    subject: Subject,
    *,
    plane: Sequence[str] | None = None,
) -> Figure:
    """Draw one picture of a study of the rows of X; ``plane`` applies to a boundary.

    Raises ValueError if the study has nothing to show in this picture.
    """
    from novikoff.report import plots

    axes = plots.blank_axes(3 if subject == "proof" else 1)
    if subject in ("mistakes", "proof"):
        _draw_run(study, subject, axes)
    elif subject == "margins":
        plots.MarginsDisplay(_hardest_rule(study, X, names)).plot(axes)
    else:
        pair = None if plane is None else (plane[0], plane[1])
        plots.BoundaryDisplay(_hardest_rule(study, X, names), pair).plot(axes)
    return plots.figure_of(axes[0])


def draw_all(study: Study, X: Matrix, names: Sequence[str] | None) -> dict[Subject, str]:
    """Draw every picture for which the study has data; return SVG elements."""
    from novikoff.report.plots import figure_to_svg

    drawn: dict[Subject, str] = {}
    for subject, caption in CAPTIONS.items() if find_spec("matplotlib") else ():
        try:
            figure = draw_study(study, X, names, subject)
        except ValueError:  # no run where no rule is perfect, no margins where w = 0
            continue
        drawn[subject] = figure_to_svg(figure, prefix=subject, label=caption)
    return drawn


def _hardest_rule(study: Study, X: Matrix, names: Sequence[str] | None) -> Rule:
    """The rule with the most mistakes, or with the smallest margin if no rule makes mistakes."""
    from novikoff.core.class_labels import side_labels
    from novikoff.core.validation import check_matrix
    from novikoff.report.plots.margins import Rule

    model, W, matrix = study.model, study.model.prediction_weights(), check_matrix(X)
    signs = model.sides[_each_row(study).codes]  # (n, n_rules); 0 where a class has no side
    mistakes = (signs * model.scores(matrix) <= 0.0).sum(axis=0, where=signs != 0)
    index, remark = int(np.lexsort((study.margins, -mistakes))[0]), ""
    if model.n_rules > 1:
        why = "most mistakes" if mistakes[index] else "smallest margin"
        remark = f", the hardest of {model.n_rules} rules ({why})"
    rows = np.flatnonzero(signs[:, index])
    part = matrix if len(rows) == len(signs) else matrix[rows]
    w, b, sides = (
        W[:-1, index],
        float(W[-1, index]),
        side_labels(model.scheme, model.classes, index),
    )
    return Rule(part, rows, signs[rows, index], w, b, *sides, names, remark=remark)


def _draw_run(study: Study, subject: Subject, axes: list[Axes]) -> None:
    """Run the perceptron again, with a trace, and draw its mistakes or the proof."""
    from novikoff.geometry.margin import separator
    from novikoff.report import plots
    from novikoff.theory.run import run_from_zero

    if len(study.classes) != 2:
        raise ValueError(f"The picture '{subject}' needs two classes, or --positive.")
    w_star = margin = None
    for case in study.cases:  # at most one
        verdict = case.scaled or case.verdict
        if verdict.kind == "separable" and verdict.margin.lo > 0.0:
            w_star, margin = case.for_model(separator(verdict)), verdict.margin.lo
    if subject == "proof" and w_star is None:
        raise ValueError("The picture 'proof' needs separable data and a verdict.")
    each, options = _each_row(study), study.options
    problem = each.rows.with_signs(study.model.sides[each.codes, 0])
    run = run_from_zero(
        problem, options.order, random_state=options.seed, trace=True, reference=w_star,
        max_updates=MAX_TRACED_UPDATES,
    )  # fmt: skip
    trace = run.traces[0]
    if subject == "mistakes":
        plots.MistakesDisplay(trace, margin, problem.radius).plot(axes)
    elif w_star is not None and margin is not None and trace.inner is not None:
        inner = trace.inner / math.hypot(*w_star)
        plots.ProofDisplay(trace, inner, margin, problem.radius).plot(axes)


def _each_row(study: Study) -> EachRow:
    if study.each_row is None:
        raise ValueError("Rows of a cluster are not drawn.")
    return study.each_row
