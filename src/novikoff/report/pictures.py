"""The pictures of a study, drawn without a display."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from novikoff.learners.perceptron import Perceptron
from novikoff.report.proving import weights_of
from novikoff.report.steps import Matrix
from novikoff.report.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from novikoff.report.plots.rule import Side

Subject: TypeAlias = Literal["boundary", "margins", "mistakes", "proof"]

CAPTIONS: dict[Subject, str] = {
    "boundary": "The rule among the rows.",
    "margins": "How far each row is on its side; mistakes are below zero.",
    "mistakes": "The perceptron's mistakes as it looks at row after row.",
    "proof": "The proof as it happens: three inequalities that hold after every update.",
}
# A traced run keeps some numbers for each update; a picture needs no more than this.
_MOST_UPDATES = 20_000


@dataclass(frozen=True)
class Picture:
    """What to draw, and how: ``plane`` names two features, ``suffix`` is .svg or .png."""

    subject: Subject = "boundary"
    suffix: str = ".svg"
    plane: tuple[str, str] | None = None


def draw(found: Study, X: Matrix, picture: Picture) -> bytes:
    """One picture as a file.

    Raises
    ------
    ValueError
        If the study has nothing of the kind to show.
    """
    from novikoff.report.plots import render_figure

    return render_figure(_figure(found, X, picture), picture.suffix)


def draw_all(found: Study, X: Matrix) -> dict[Subject, str]:
    """Every picture that the study has something to show for, as SVG elements."""
    from novikoff.report.plots import figure_to_svg

    drawn: dict[Subject, str] = {}
    if find_spec("matplotlib") is None:
        return drawn
    for subject, caption in CAPTIONS.items():
        try:
            figure = _figure(found, X, Picture(subject))
        except ValueError:  # no trace where no rule is perfect, no margins where w = 0
            continue
        drawn[subject] = figure_to_svg(figure, prefix=subject, label=caption)
    return drawn


def _figure(found: Study, X: Matrix, picture: Picture) -> Figure:
    from novikoff.report import plots

    model, y = found.model, found.y
    axes = plots.blank_axes()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows of X have no names, the model has
        if picture.subject == "boundary":
            plots.BoundaryDisplay.from_estimator(
                model, X, y, rule=_hardest(found), plane=picture.plane, ax=axes
            )
        elif picture.subject == "margins":
            plots.MarginsDisplay.from_estimator(model, X, y, rule=_hardest(found), ax=axes)
        else:
            _draw_run(found, X, picture.subject, axes)
    return plots.figure_of(axes)


def _hardest(found: Study) -> Side | None:
    """Of several rules, that of the class, or of the pair of classes, with the most errors."""
    labels, wrong = found.model.classes_.tolist(), found.confusion.copy()
    if len(labels) == 2:
        return None
    np.fill_diagonal(wrong, 0)
    if found.model.get_params()["multi_class"] == "ovo":
        both = np.triu(wrong + wrong.T, 1)
        low, high = divmod(int(np.argmax(both)), len(labels)) if both.any() else (0, 1)
        return labels[high], labels[low]
    errors = [case.errors or 0 for case in found.cases] or wrong.sum(axis=1).tolist()
    return cast("Side", labels[int(np.argmax(errors))])


def _draw_run(found: Study, X: Matrix, subject: Subject, axes: object) -> None:
    """The perceptron once more, with a trace."""
    from matplotlib.axes import Axes

    from novikoff.report import plots

    assert isinstance(axes, Axes)  # noqa: S101
    if len(found.classes) != 2:
        raise ValueError(f"The picture '{subject}' needs two classes, or --positive.")
    case = found.cases[0] if found.cases else None
    separable = case is not None and case.verdict.kind == "separable"
    if subject == "proof" and not separable:
        raise ValueError("The picture 'proof' needs separable data and a verdict.")
    reference, margin, radius = None, None, None
    if case is not None and separable:
        verdict = case.verdict
        margin, radius = verdict.margin.lo, verdict.radius
        reference = weights_of(case)[: X.shape[1] + found.options.fit_intercept]
    options = found.options
    run = Perceptron(
        fit_intercept=options.fit_intercept,
        order=options.order,
        random_state=options.seed,
        max_updates=_MOST_UPDATES,
        trace=True if reference is None else reference,
    )
    run.fit(X, found.y)
    if subject == "mistakes":
        plots.MistakesDisplay.from_estimator(run, margin=margin, radius=radius, ax=axes)
    else:
        plots.ProofDisplay.from_estimator(
            run, X, found.y, reference=reference, margin=margin, radius=radius, ax=axes
        )
