"""How far the rows are on their side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.rule import LinearClassifier, Side, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import Indices, SparseMatrix, Vector

_FEWEST_BINS, _MOST_BINS = 8, 60


@dataclass(eq=False)
class MarginsDisplay:
    """A histogram of the signed margins y·f(x)/‖w‖; those of mistakes are not positive.

    Zero is an edge of the bins, and a bin holds its upper edge, so that each bin is all
    mistakes or all right.

    Attributes
    ----------
    margins : array
        y·f(x)/‖w‖ of each row.
    edges : array of shape (k + 1,)
        The edges of the bins.
    counts : array of shape (k,)
        Rows in each bin.
    margin : float or None
        The γ that is marked.
    title : str
        What is said above.
    ax_, figure_
        What it was drawn on.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0.0], [1.0], [3.0]], [0, 0, 1]
    >>> clf = nv.MaxMargin().fit(X, y)
    >>> display = MarginsDisplay.from_estimator(clf, X, y, ax=blank_axes()[0])
    >>> display.margins.round(6).tolist()
    [2.0, 1.0, 1.0]
    """

    margins: Vector
    edges: Vector
    counts: Indices
    margin: float | None
    title: str
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: LinearClassifier,
        X: npt.ArrayLike | SparseMatrix,
        y: npt.ArrayLike,
        *,
        rule: Side | None = None,
        margin: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the margins of rows under a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            With ``coef_``, ``intercept_`` and ``classes_``.
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        rule : label, or pair of labels for one-vs-one
            The class on the positive side; by default the second of two, the first of several.
        margin : float, optional
            A margin γ to mark.
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        MarginsDisplay

        Raises
        ------
        ValueError
            If all weights are zero.
        """
        found = rule_of(estimator, X, y, rule)
        if found.norm == 0.0:
            raise ValueError(
                "All weights are zero: there is no hyperplane to measure distances from."
            )
        margins = found.signs * found.distances
        edges, counts = _histogram(margins)
        title = f"{found.positive} against {found.negative}"
        return cls(margins, edges, counts, margin, title).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        MarginsDisplay
            This one, with ``ax_`` and ``figure_``.
        """
        style.require_matplotlib()
        ax = style.pyplot_axes(4.4)[0] if ax is None else ax
        left, width = self.edges[:-1], np.diff(self.edges)
        wrong = self.edges[1:] <= 0.0
        n_wrong = int((self.margins <= 0.0).sum())
        for part, fill, hatch, label in (
            (~wrong, "#a9bccf", None, f"right ({len(self.margins) - n_wrong:,})"),
            (wrong, "white", "////", f"mistakes ({n_wrong:,})"),
        ):
            if part.any():
                ax.bar(
                    left[part],
                    self.counts[part],
                    width[part],
                    align="edge",
                    fc=fill,
                    hatch=hatch,
                    ec=style.INK,
                    lw=0.6,
                    label=label,
                )
        ax.axvline(0.0, color=style.INK, lw=1.4, label="boundary")
        if self.margin is not None:
            name = f"γ = {style.format_number(self.margin)}"
            ax.axvline(self.margin, color=style.INK, lw=1.2, ls=(0, (5, 3)), label=name)
        style.label_axes(ax, x="signed margin y·f(x)/‖w‖", y="rows", title=self.title)
        style.scale_ticks(ax, "x")
        style.number_ticks(ax, "y")
        style.legend_below(ax, columns=4)
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self


def _histogram(margins: Vector) -> tuple[Vector, Indices]:
    """Edges that are multiples of one width, and the rows in each bin (lower, upper]."""
    low, high = float(margins.min()), float(margins.max())
    spread = high - low
    if spread <= 1e-9 * max(abs(low), abs(high)) or spread == 0.0:
        width = max(abs(low), abs(high)) / _FEWEST_BINS or 1.0
    else:
        lower, upper = np.percentile(margins, [25, 75])
        ideal = 2.0 * (upper - lower) / np.cbrt(len(margins))  # Freedman and Diaconis
        width = float(np.clip(ideal, spread / _MOST_BINS, spread / _FEWEST_BINS))
    places = np.ceil(margins / width).astype(np.int64) - 1
    first = int(places.min())
    counts = np.bincount(places - first).astype(np.int64)
    edges = width * np.arange(first, first + len(counts) + 1, dtype=np.float64)
    return edges, counts
