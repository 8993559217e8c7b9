"""Pictures of a linear rule and of the perceptron's proof, in scikit-learn's Display style.

Each display computes its numbers once, in ``from_estimator``; ``plot`` draws them, on axes of
pyplot or of a plain `matplotlib.figure.Figure`. matplotlib is imported when something is drawn.
All is legible in black and white: classes differ by marker, lines by dashes, mistakes by crosses
and hatching.
"""

from novikoff.report.plots.boundary import BoundaryDisplay
from novikoff.report.plots.export import figure_to_svg, render_figure, save_figure
from novikoff.report.plots.margins import MarginsDisplay
from novikoff.report.plots.mistakes import MistakesDisplay
from novikoff.report.plots.proof import ProofDisplay
from novikoff.report.plots.style import blank_axes, figure_of

__all__ = [
    "BoundaryDisplay",
    "MarginsDisplay",
    "MistakesDisplay",
    "ProofDisplay",
    "blank_axes",
    "figure_of",
    "figure_to_svg",
    "render_figure",
    "save_figure",
]
