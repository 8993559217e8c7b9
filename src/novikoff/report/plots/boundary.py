"""The decision boundary among the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.plane import Feature, View, box_around, line_in, view_of
from novikoff.report.plots.rule import LinearClassifier, Rule, Side, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from novikoff.core.rows import Indices, SparseMatrix, Vector


@dataclass(eq=False)
class BoundaryDisplay:
    """The boundary f(x) = 0, the rows of both classes, the nearest rows and the mistakes.

    Two features are the two axes. One feature is an axis, and the rows are spread at random
    beside it. More features are seen in the plane of w and the widest spread of the rows
    orthogonal to it: there the boundary is a vertical line, and every row has its true
    distance from it. A ``plane`` of two features shows the section of the hyperplane where
    all other features are at their means.

    Make one with `from_estimator`; ``plot`` draws it again elsewhere.

    Attributes
    ----------
    points : array of shape (n, 2)
        Where the rows are drawn.
    rows : array of int
        The numbers of these rows in the data.
    signs : array of ±1
        The side on which each should be.
    distances : array
        The signed distance f(x)/‖w‖ of each; NaN if w = 0.
    mistakes : array of bool
        Where y·f(x) ≤ 0.
    support : array of int
        Which points carry the margin: ``support_`` of `novikoff.MaxMargin`, or the nearest.
        None if there are mistakes.
    margin : float or None
        The smallest y·f(x)/‖w‖, if all rows are right.
    line : array of shape (2, 2), or None
        The ends of the boundary in the picture.
    margin_lines : list of arrays of shape (2, 2)
        The same for the lines at ± margin.
    drawn : array of int
        Which points are drawn: a sample, if there are many.
    labels : pair of str
        The names of the axes.
    sides : pair of str
        The names of the positive and the negative side.
    title, note : str
        What is said above and below.
    ax_, figure_
        What it was drawn on.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.MaxMargin().fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(clf, X, y, ax=blank_axes()[0])
    >>> display.support.tolist(), round(display.margin, 6)
    ([1, 2, 3], 0.353553)
    """

    points: Vector
    rows: Indices
    signs: npt.NDArray[np.int8]
    distances: Vector
    mistakes: npt.NDArray[np.bool_]
    support: Indices
    margin: float | None
    line: Vector | None
    margin_lines: list[Vector]
    box: tuple[Vector, Vector]
    drawn: Indices
    labels: tuple[str, str]
    sides: tuple[str, str]
    title: str
    note: str
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
        plane: tuple[Feature, Feature] | None = None,
        max_points: int = 5000,
        random_state: int = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the boundary of a fitted classifier among rows.

        Parameters
        ----------
        estimator : classifier
            With ``coef_``, ``intercept_`` and ``classes_``; the rule drawn is that of these
            weights, also where the classifier predicts by votes.
        X : array-like or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        rule : label, or pair of labels for one-vs-one
            The class on the positive side; by default the second of two, the first of several.
        plane : pair of features, by name or number
            The axes; see above for the default.
        max_points : int
            With more rows than this, a random sample of those that are right is drawn.
        random_state : int
            The seed of the sample and of the jitter.
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        BoundaryDisplay
        """
        found = rule_of(estimator, X, y, rule)
        view = view_of(found, plane, random_state)
        drawn = _sample(found, max_points, random_state)
        box, missing = box_around(view, drawn)
        clean = found.norm > 0.0 and not found.mistakes.any()
        margin = float((found.signs * found.distances).min()) if clean else None
        levels = [] if margin is None else [-margin, margin]
        lines = [line_in(view.normal, view.offset - level, *box) for level in levels]
        display = cls(
            points=view.points,
            rows=found.rows,
            signs=found.signs,
            distances=found.distances,
            mistakes=found.mistakes,
            support=found.support,
            margin=margin,
            line=line_in(view.normal, view.offset, *box),
            margin_lines=[line for line in lines if line is not None],
            box=box,
            drawn=drawn,
            labels=view.labels,
            sides=(found.positive, found.negative),
            title=_title(found, view),
            note=style.joined([_no_line(found, view, missing), _drawn_note(found, drawn)]),
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        BoundaryDisplay
            This one, with ``ax_`` and ``figure_``.
        """
        style.require_matplotlib()
        ax = style.pyplot_axes(4.8)[0] if ax is None else ax
        self._plot_points(ax)
        if self.line is not None:
            ax.plot(*self.line.T, color=style.INK, lw=1.4, zorder=5, label="boundary f(x) = 0")
        label = f"margin ± {style.format_number(self.margin or 0.0)}"
        for ends in self.margin_lines:
            ax.plot(*ends.T, color=style.GREY, lw=1.1, ls=(0, (5, 3)), zorder=2.5, label=label)
            label = "_"
        low, high = self.box
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        style.scale_ticks(ax, "x", "y")
        if self.labels[1].startswith("jitter"):
            ax.set_yticks([])
        style.label_axes(ax, x=self.labels[0], y=self.labels[1], title=self.title)
        style.legend_below(ax, self.note)
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self

    def _plot_points(self, ax: Axes) -> None:
        points, signs = self.points[self.drawn], self.signs[self.drawn]
        size = float(np.interp(len(points), [100, 3000], [6.0, 3.2]))
        faint = float(np.interp(len(points), [300, 3000], [1.0, 0.6]))
        looks = (
            (1, "o", style.POSITIVE, "white", 0.1 * size - 0.2),
            (-1, "^", "none", style.NEGATIVE, 0.1 * size + 0.4),
        )
        for (sign, marker, fill, edge, line), name in zip(looks, self.sides, strict=True):
            total = style.count_of(int((self.signs == sign).sum()), "row")
            ax.plot(
                *points[signs == sign].T,
                ls="none",
                marker=marker,
                mfc=fill,
                mec=edge,
                mew=line,
                ms=size,
                alpha=faint,
                label=f"{name} ({total})",
            )
        wrong = self.drawn[self.mistakes[self.drawn]]
        if len(wrong) > 0:
            crowd = float(np.interp(len(wrong), [10, 400], [0.0, 1.0]))
            ax.plot(
                *self.points[wrong].T,
                ls="none",
                marker="x",
                ms=size + 4.0 - 3.0 * crowd,
                mew=1.2 - 0.6 * crowd,
                alpha=1.0 - 0.5 * crowd,
                color=style.INK,
                zorder=4,
                label=f"mistakes ({int(self.mistakes.sum()):,})",
            )
        near = np.intersect1d(self.support, self.drawn)
        if len(near) > 0:
            ax.plot(
                *self.points[near].T,
                ls="none",
                marker="o",
                ms=size + 6,
                mew=1.1,
                mfc="none",
                mec=style.INK,
                zorder=4,
                label=f"nearest rows ({len(self.support):,})",
            )


def _sample(rule: Rule, limit: int, seed: int) -> Indices:
    """All rows, or mistakes and support with a sample of the others, in the order of rows."""
    n = len(rule.rows)
    if limit < 4:
        raise ValueError(f"max_points must be at least 4, not {limit}.")
    if n <= limit:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    wrong = _some(rng, np.flatnonzero(rule.mistakes), limit // 2)
    chosen = np.union1d(wrong, _some(rng, rule.support, limit // 4))
    others = np.setdiff1d(np.flatnonzero(~rule.mistakes), chosen)
    return np.union1d(chosen, _some(rng, others, limit - len(chosen)))


def _some(rng: np.random.Generator, rows: Indices, most: int) -> Indices:
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)


def _drawn_note(rule: Rule, drawn: Indices) -> str:
    n, wrong = len(rule.rows), int(rule.mistakes.sum())
    if len(drawn) == n:
        return ""
    seen = int(rule.mistakes[drawn].sum())
    share = f"Drawn: {len(drawn) - seen:,} of the {n - wrong:,} rows that are right, at random"
    if seen < wrong:
        return f"{share}, and {seen:,} of the {wrong:,} mistakes."
    return f"{share}, and all {style.count_of(wrong, 'mistake')}." if wrong else f"{share}."


def _no_line(rule: Rule, view: View, far: bool) -> str:
    if rule.norm == 0.0:
        return "All weights are zero: there is no boundary."
    if not view.normal.any():
        return "The boundary does not cross this plane: neither feature has a weight."
    return "The boundary is far outside of this picture." if far else ""


def _title(rule: Rule, view: View) -> str:
    title = f"{rule.positive} against {rule.negative}"
    return f"{title};\n{view.held}" if view.held else title
