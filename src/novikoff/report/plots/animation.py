"""The perceptron's run as a film: one picture for each update."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.boundary import PlaneView, draw_rows, draw_sides, frame
from novikoff.report.plots.margins import Classifier, Side
from novikoff.report.plots.run import ProofDisplay, TracedRun, traced_run

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from novikoff.core.rows import SparseMatrix, Vector

_MAX_FRAMES = 200


def animate(
    estimator: Classifier,
    X: npt.ArrayLike | SparseMatrix,
    y: npt.ArrayLike,
    *,
    rule: Side | None = None,
    interval: int = 700,
    figure: Figure | None = None,
) -> FuncAnimation:
    """Show the run of a `novikoff.Perceptron` on two features, update by update.

    A picture shows the row of the update in a ring, the boundary before it (dotted) and after it
    with its half-planes and w, and a cross on each row that is a mistake now. If the rows are
    separable, the curves of the three inequalities of the proof grow below. If a run has more than
    200 updates, 200 evenly spaced updates are shown.

    Parameters
    ----------
    estimator : Perceptron
        Fitted to X and y. The run is repeated if it was fitted without a trace.
    X, y : array of shape (n, 2), array of shape (n,)
        The rows and labels of the fit.
    rule : label, or pair of labels
        The class on the positive side, as for the displays.
    interval : int
        Milliseconds for each picture.
    figure : matplotlib Figure, optional
        The figure to draw on; by default a new figure that needs no display. Use ``plt.figure()``
        to see the film in a window.

    Returns
    -------
    FuncAnimation
        A notebook plays it if it is the last value of a cell. ``.save("run.gif", writer="pillow")``
        writes a file, ``.to_jshtml()`` a player for a page.

    Examples
    --------
    >>> import novikoff as nv
    >>> from matplotlib.figure import Figure
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, y)
    >>> film = nv.plots.animate(clf, X, y, figure=Figure())
    >>> film.to_jshtml().count("image/png")  # the start, and 18 updates
    19
    """
    style.require_matplotlib()
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure

    class Player(FuncAnimation):
        """A film that a notebook shows with its buttons."""

        def _repr_html_(self) -> str:
            return str(self.to_jshtml())

    run = traced_run(estimator, X, y, rule)
    proof: ProofDisplay | None = None
    with suppress(ValueError):  # the rows are not separable, or the run did not start at zero
        proof = ProofDisplay.of_run(run)
    film = Film(run, proof, Figure() if figure is None else figure)
    return Player(
        film.figure, film.show, frames=film.times, interval=interval, cache_frame_data=False
    )


class Film:
    """The pictures of a run on one figure, one for each update."""

    def __init__(self, run: TracedRun, proof: ProofDisplay | None, figure: Figure) -> None:
        rule = run.rule
        self.trace = run.trace
        self.figure = figure
        self.problem = run.problem
        if rule.X.shape[1] != 2:
            raise ValueError(
                f"A film needs two features, not {rule.X.shape[1]}: fit to two columns of X."
            )
        self.rule, self.threshold = rule, run.threshold
        self.points = rule.points(0, 1)
        self.W = rule.flip * self.trace.weights()
        last = len(self.trace)
        self.times = np.unique(np.linspace(0, last, min(last, _MAX_FRAMES) + 1).round().astype(int))
        self.acted = np.searchsorted(rule.rows, self.trace.index)
        shown = self.acted[self.times[1:] - 1]
        self.drawn = np.union1d(style.thinned(len(rule.signs)), shown)
        self.text_size = 10.0 * style.text_scale()
        figure.clear()
        figure.set_layout_engine("none")
        scale = style.text_scale()
        figure.set_size_inches(scale * style.WIDTH_INCHES, scale * (5.4 if proof is None else 7.2))
        bottom, height = (0.25, 0.62) if proof is None else (0.43, 0.48)
        self.ax = figure.add_axes((0.1, bottom, 0.87, height))
        self.curves = [] if proof is None else _panels(figure, proof)

    def show(self, t: int) -> None:
        """Draw the picture after update t, with the size of text at which the film was made."""
        from matplotlib import rc_context

        with rc_context({"font.size": self.text_size}):
            self._draw(t)

    def _draw(self, t: int) -> None:
        from novikoff.core.problem import products

        ax, rule = self.ax, self.rule
        ax.clear()
        view = self._view(self.W[t])
        mistakes = ~(products(self.problem, rule.flip * self.W[t]) > 0.0)
        ringed = ("row of this update", self.acted[t - 1 : t] if t > 0 else self.acted[:0])
        draw_rows(ax, view, rule, mistakes, self.drawn, ringed)
        box = frame(ax, self._view(self.W[-1]), self.drawn)
        note = draw_sides(ax, view, box, None)
        before = self._view(self.W[max(0, t - 1)])
        if t > 0 and before.normal.any():
            foot = -before.offset * before.normal
            across = np.array([-before.normal[1], before.normal[0]])
            look: Any = {"color": style.GREY, "lw": 1.2, "ls": ":", "label": "boundary before"}
            ax.axline(tuple(foot), tuple(foot + across), **look)
        title = self._title(t, not mistakes.any())
        style.label_axes(ax, x=rule.feature(0), y=rule.feature(1), title=title)
        style.legend_below(ax, note if self.W[t].any() else "", columns=3)
        for line, values in self.curves:
            drawn = style.thinned(len(values))
            past = drawn[drawn < t]
            line.set_data(past + 1, values[past])
        style.enlarge_marks([ax])

    def _view(self, w: Vector) -> PlaneView:
        norm = math.hypot(w[0], w[1]) or 1.0
        labels = (self.rule.feature(0), self.rule.feature(1))
        return PlaneView(self.points, w[:2] / norm, float(w[2]) / norm, labels)

    def _title(self, t: int, clean: bool) -> str:
        """The title of a picture: the update as a formula."""
        if t == 0:
            start = f"w = {_vector(self.W[0])}" if self.W[0].any() else "w = 0: all are mistakes"
            return f"Start: {start}"
        trace, number = self.trace, style.format_number
        i, m, tau = trace.index[t - 1], number(trace.margin[t - 1]), float(trace.tau[t - 1])
        step = "a" if tau == 1.0 else f"{number(tau)}·a"
        limit = "0" if self.threshold == 0.0 else f"δ = {number(self.threshold)}"
        end = " Every row is right." if clean else ""
        return (
            f"Update {t:,} of {len(trace):,}: row {i + 1}, X[{i}], has ⟨a, w⟩ = {m} ≤ {limit}.\n"
            f"So w ← w + {step} = {_vector(self.W[t])}.{end}"
        )


def _panels(figure: Figure, proof: ProofDisplay) -> list[tuple[Line2D, Vector]]:
    """Draw the three inequalities below the rows; return the curve and the values of each."""
    curves = []
    for k, panel in enumerate(proof.panels):
        ax = figure.add_axes((0.1 + 0.31 * k, 0.075, 0.235, 0.12))
        curves.append((panel.draw(ax), panel.values))
        title = f"{panel.quantity} {panel.relation} {panel.name}"
        style.label_axes(ax, x="updates t", title=title)
        ax.tick_params(labelsize=7.5 * style.text_scale())
    return curves


def _vector(w: Vector) -> str:
    """Format weights and bias for a title."""
    *weights, bias = (style.format_number(float(value)) for value in w)
    return f"({', '.join(weights)}; b = {bias})"
