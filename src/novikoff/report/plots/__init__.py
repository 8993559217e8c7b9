"""Pictures of a linear rule and of the perceptron's proof, in scikit-learn's Display style.

A display is made from a plain record, either a rule or the trace of a run; ``from_estimator`` makes
this record from an estimator. The display computes its numbers once, and ``plot`` draws them on
axes of pyplot or of a plain `matplotlib.figure.Figure`. matplotlib is imported when something is
drawn. All pictures are legible in black and white: classes differ by marker, lines by dashes, and
mistakes by crosses and hatching. Their colours and marks are those of the lab. `slides` enlarges
them for a projector. Common parameters of ``from_estimator``:

estimator
    A classifier with ``classes_``, ``coef_`` and ``intercept_``. The picture shows the rule with
    these weights, even if the classifier predicts by votes. For a boundary or margins, a classifier
    with ``decision_function`` is enough: over two features, the boundary is its zero set.
X, y
    Rows (array-like or sparse) and their labels.
rule
    The class on the positive side. The default is the second of two classes and the first of
    several. For a one-vs-one classifier, a pair of classes, the positive class first.
ax
    The axes to draw on; by default the axes of a new figure of pyplot.

If a picture shows updates and the perceptron was fitted without a trace, the run is repeated
exactly. If w* is not given, the rule with the largest margin is used. `animate` makes a film of the
updates.

After ``plot``, a display has its axes in ``ax_`` and their figure in ``figure_``.
"""

from novikoff.report.plots.animation import animate
from novikoff.report.plots.boundary import BoundaryDisplay
from novikoff.report.plots.export import figure_to_svg, render_figure, save_figure
from novikoff.report.plots.margins import MarginsDisplay
from novikoff.report.plots.run import MistakesDisplay, PocketDisplay, ProofDisplay
from novikoff.report.plots.style import blank_axes, figure_of, slides

__all__ = [
    "BoundaryDisplay",
    "MarginsDisplay",
    "MistakesDisplay",
    "PocketDisplay",
    "ProofDisplay",
    "animate",
    "blank_axes",
    "figure_of",
    "figure_to_svg",
    "render_figure",
    "save_figure",
    "slides",
]
