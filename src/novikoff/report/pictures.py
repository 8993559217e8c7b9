"""The pictures of a report, drawn without a display and without scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import Floats, SparseMatrix
    from novikoff.report.plots.margins import Side
    from novikoff.report.study import EachRow, Study

Subject: TypeAlias = Literal["boundary", "margins", "mistakes", "proof"]

CAPTIONS: dict[Subject, str] = {
    "boundary": "The rule among the rows.",
    "margins": "How far each row is on its side; mistakes are below zero.",
    "mistakes": "The perceptron's mistakes as it visits row after row.",
    "proof": "The proof as it happens: three inequalities that hold after every update.",
}
MAX_TRACED_UPDATES = 100_000


def draw(
    found: Study,
    X: Floats | SparseMatrix,
    names: Sequence[str] | None,
    subject: Subject,
    *,
    plane: Sequence[str] | None = None,
) -> Figure:
    """One picture of a study of the rows of X; ``plane`` is for a boundary.

    ValueError if there is nothing of the kind to show.
    """
    from novikoff.report import plots

    axes = plots.blank_axes(3 if subject == "proof" else 1)
    if subject in ("mistakes", "proof"):
        _draw_run(found, subject, axes)
        return plots.figure_of(axes[0])
    model, W = found.model, found.model.decisive()
    classifier = SimpleNamespace(  # the model as displays want it
        coef_=W[:-1].T,
        intercept_=W[-1],
        classes_=model.classes,
        multi_class=model.multi_class,
        feature_names_in_=names,
    )
    y, rule = model.classes[_each_row(found).codes], _hardest_rule(found)
    if subject == "margins":
        plots.MarginsDisplay.from_estimator(classifier, X, y, rule=rule, ax=axes[0])
    else:
        pair = None if plane is None else (plane[0], plane[1])
        plots.BoundaryDisplay.from_estimator(classifier, X, y, rule=rule, plane=pair, ax=axes[0])
    return plots.figure_of(axes[0])


def draw_all(
    found: Study, X: Floats | SparseMatrix, names: Sequence[str] | None
) -> dict[Subject, str]:
    """Every picture that there is something to show for, as SVG elements."""
    from novikoff.report.plots import figure_to_svg

    drawn: dict[Subject, str] = {}
    for subject, caption in CAPTIONS.items() if find_spec("matplotlib") else ():
        try:
            figure = draw(found, X, names, subject)
        except ValueError:  # no run where no rule is perfect, no margins where w = 0
            continue
        drawn[subject] = figure_to_svg(figure, prefix=subject, label=caption)
    return drawn


def _hardest_rule(found: Study) -> Side | None:
    """Of several rules, that of the class, or of the pair of classes, with the most errors."""
    classes = found.model.classes.tolist()
    if len(classes) == 2:
        return None
    wrong = found.confusion - np.diag(np.diag(found.confusion))
    wrong = wrong + wrong.T
    if found.model.multi_class == "ovr":
        return classes[int(np.argmax(wrong.sum(axis=1)))]
    low, high = divmod(int(np.argmax(np.triu(wrong, 1))), len(classes))
    return (classes[high], classes[low]) if low < high else None


def _draw_run(found: Study, subject: Subject, axes: list[Axes]) -> None:
    """The perceptron once more, with a trace."""
    from novikoff.core.orders import named
    from novikoff.core.runs import Plan
    from novikoff.core.stops import Limits
    from novikoff.core.sweep import run
    from novikoff.core.updates import perceptron
    from novikoff.report import plots
    from novikoff.report.study import separator

    if len(found.classes) != 2:
        raise ValueError(f"The picture '{subject}' needs two classes, or --positive.")
    w_star = margin = None
    for case in found.cases:  # there is one at most
        verdict = case.scaled or case.verdict
        if verdict.kind == "separable":
            w_star, margin = separator(case, verdict), verdict.margin.lo
    if subject == "proof" and w_star is None:
        raise ValueError("The picture 'proof' needs separable data and a verdict.")
    order, limits = named(found.options.order), Limits(updates=MAX_TRACED_UPDATES)
    seed = found.options.seed
    plan = Plan(perceptron(), order, limits, seed, trace=True, reference=w_star)
    problem = _each_row(found).problem
    (trace,), radius = run(problem, plan).traces, problem.radius
    traced = SimpleNamespace(trace_=trace, trace=w_star)
    if subject == "proof":
        plots.ProofDisplay.from_estimator(traced, margin=margin, radius=radius, ax=axes)
    else:
        plots.MistakesDisplay.from_estimator(traced, margin=margin, radius=radius, ax=axes[0])


def _each_row(found: Study) -> EachRow:
    if found.each_row is None:
        raise ValueError("Rows of a cluster are not drawn.")
    return found.each_row
