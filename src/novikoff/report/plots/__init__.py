"""Pictures of a linear rule and of the perceptron's proof, in scikit-learn's Display style.

A display is made of plain records, a rule or the trace of a run, by ``from_estimator`` for an
estimator. It computes its numbers once; ``plot`` draws them, on axes of pyplot or of a plain
`matplotlib.figure.Figure`. matplotlib is imported when something is drawn.
All is legible in black and white: classes differ by marker, lines by dashes, mistakes by crosses
and hatching. Common parameters of ``from_estimator``:

estimator
    A classifier with ``classes_``, ``coef_`` and ``intercept_``; the rule drawn is that of these
    weights, also where the classifier predicts by votes. For a boundary or margins, one with
    ``decision_function`` will do: the boundary, over two features, is where it is zero.
X, y
    Rows (array-like or sparse) and their labels.
rule
    The class on the positive side, by default the second of two and the first of several; of a
    one-vs-one classifier a pair of classes, the positive one first.
ax
    The axes to draw on; by default those of a new figure of pyplot.

A perceptron that was not traced is run once more, exactly, where its updates are to be drawn; w*
is found where it is not given. `animate` makes a film of them.

After ``plot``, a display has its axes in ``ax_`` and their figure in ``figure_``.
"""

from novikoff.report.plots.animation import animate
from novikoff.report.plots.boundary import BoundaryDisplay
from novikoff.report.plots.export import figure_to_svg, render_figure, save_figure
from novikoff.report.plots.margins import MarginsDisplay
from novikoff.report.plots.run import MistakesDisplay, PocketDisplay, ProofDisplay
from novikoff.report.plots.style import blank_axes, figure_of

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
]
