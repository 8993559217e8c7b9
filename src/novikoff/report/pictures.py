"""The pictures of a report, drawn without a display and without scikit-learn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from novikoff.core.linear_model import LinearModel
    from novikoff.core.problem import Problem
    from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
    from novikoff.report.plots.margins import Side

Subject: TypeAlias = Literal["boundary", "margins", "mistakes", "proof"]

CAPTIONS: dict[Subject, str] = {
    "boundary": "The rule among the rows.",
    "margins": "How far each row is on its side; mistakes are below zero.",
    "mistakes": "The perceptron's mistakes as it visits row after row.",
    "proof": "The proof as it happens: three inequalities that hold after every update.",
}
MAX_TRACED_UPDATES = 100_000


@dataclass(frozen=True)
class Picture:
    """A subject, two features as the ``plane`` of a boundary, and .svg or .png as ``suffix``."""

    subject: Subject = "boundary"
    suffix: str = ".svg"
    plane: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Scene:
    """All that pictures are drawn from: rows, labels, the model, and of two classes the run.

    ``hardest`` is the rule to draw, of several (`hardest_rule`). ``problem`` holds the rows that
    the perceptron ran on, standardised if they were. If it is separable, ``reference`` is a w*
    with ⟨a_i, w*⟩ ≥ margin·‖w*‖ > 0 for all its rows. ``order`` and ``seed`` are those of the
    perceptron: its run is repeated with a trace.
    """

    X: Floats | SparseMatrix
    y: npt.NDArray[np.generic]
    model: LinearModel
    names: Sequence[str] | None = None
    hardest: Side | None = None
    problem: Problem | None = None
    reference: Vector | None = None
    margin: float | None = None
    order: str = "permuted"
    seed: int = 0


def draw(scene: Scene, picture: Picture) -> bytes:
    """One picture as a file; ValueError if there is nothing of the kind to show."""
    from novikoff.report.plots import render_figure

    return render_figure(_figure(scene, picture), picture.suffix)


def draw_all(scene: Scene) -> dict[Subject, str]:
    """Every picture that there is something to show for, as SVG elements."""
    from novikoff.report.plots import figure_to_svg

    drawn: dict[Subject, str] = {}
    for subject, caption in CAPTIONS.items() if find_spec("matplotlib") else ():
        try:
            figure = _figure(scene, Picture(subject))
        except ValueError:  # no run where no rule is perfect, no margins where w = 0
            continue
        drawn[subject] = figure_to_svg(figure, prefix=subject, label=caption)
    return drawn


def hardest_rule(classes: Sequence[Hashable], multi_class: str, confusion: Indices) -> Side | None:
    """Of several rules, that of the class, or of the pair of classes, with the most errors.

    >>> hardest_rule(["a", "b", "c"], "ovr", np.array([[9, 0, 0], [0, 9, 1], [2, 1, 9]]))
    'c'
    """
    if len(classes) == 2:
        return None
    wrong = confusion - np.diag(np.diag(confusion))
    if multi_class == "ovo":
        low, high = divmod(int(np.argmax(np.triu(wrong + wrong.T, 1))), len(classes))
        return (classes[high], classes[low]) if low < high else None
    return classes[int(np.argmax(wrong.sum(axis=1) + wrong.sum(axis=0)))]


def _figure(scene: Scene, picture: Picture) -> Figure:
    from novikoff.report import plots

    if picture.subject in ("mistakes", "proof"):
        run, margin, radius = _traced_run(scene, picture.subject)
        axes = plots.blank_axes(1 if picture.subject == "mistakes" else 3)
        if picture.subject == "mistakes":
            plots.MistakesDisplay.from_estimator(run, margin=margin, radius=radius, ax=axes[0])
        else:
            plots.ProofDisplay.from_estimator(run, margin=margin, radius=radius, ax=axes)
    else:
        axes, rule = plots.blank_axes(), scene.hardest
        model, X, y = _classifier(scene), scene.X, scene.y
        if picture.subject == "margins":
            plots.MarginsDisplay.from_estimator(model, X, y, rule=rule, ax=axes[0])
        else:
            plane = picture.plane
            plots.BoundaryDisplay.from_estimator(model, X, y, rule=rule, plane=plane, ax=axes[0])
    return plots.figure_of(axes[0])


def _classifier(scene: Scene) -> Any:
    """The model as displays want it."""
    W = scene.model.decisive()
    names = {} if scene.names is None else {"feature_names_in_": list(scene.names)}
    return SimpleNamespace(
        coef_=W[:-1].T,
        intercept_=W[-1],
        classes_=np.asarray(scene.model.classes),
        multi_class=scene.model.multi_class,
        **names,
    )


def _traced_run(scene: Scene, subject: Subject) -> tuple[Any, float | None, float]:
    """The perceptron once more, with a trace; γ and R."""
    from novikoff.core.counts import Recorder
    from novikoff.core.orders import named
    from novikoff.core.stops import Limits
    from novikoff.core.sweep import run
    from novikoff.core.updates import perceptron

    problem, reference = scene.problem, scene.reference
    if problem is None:
        raise ValueError(f"The picture '{subject}' needs two classes, or --positive.")
    if subject == "proof" and reference is None:
        raise ValueError("The picture 'proof' needs separable data and a verdict.")
    limits, rng = Limits(updates=MAX_TRACED_UPDATES), np.random.default_rng(scene.seed)
    order, recorder = named(scene.order), Recorder(reference)
    trace = run(problem, perceptron(), order, limits, rng, recorder=recorder).trace
    margin = None if reference is None else scene.margin
    return SimpleNamespace(trace_=trace, trace=reference), margin, problem.radius
