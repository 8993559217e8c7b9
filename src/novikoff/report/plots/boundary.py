"""The decision boundary among the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.margins import CONSTANT, Classifier, Rule, Side, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from novikoff.core.rows import Indices, Matrix, SparseMatrix, Vector

_POWER_ITERATIONS = 100
_EQUALLY_NEAR = 1.0 + 1e-6  # rows within this ratio of the smallest distance are support vectors
_GRID = 240  # grid points on each axis, if f is not linear
_SHAPES = 1.4, 1.9  # least and largest width by height, if both axes have equal scales

Box: TypeAlias = "tuple[Vector, Vector]"  # the lower left corner and the upper right


class PlaneView(NamedTuple):
    """Rows as points of a plane, in which f/‖w‖ is ⟨normal, p⟩ + offset, or ``curved``."""

    points: Vector
    normal: Vector
    offset: float
    labels: tuple[str, str]
    held: str = ""  # the values of the other features, if they are held at their means
    constant: bool = False  # whether all weights are zero
    curved: Callable[[Vector], Vector] | None = None  # f of points, where it is not linear

    def over(self, box: Box) -> tuple[Vector, Vector, Vector]:
        """The two axes of a grid over a box, and f on the grid; a linear f needs four points."""
        (left, bottom), (right, top) = box
        size = 2 if self.curved is None else _GRID
        x, y = np.linspace(left, right, size), np.linspace(bottom, top, size)
        if self.curved is None:
            return x, y, self.normal[0] * x + self.normal[1] * y[:, None] + self.offset
        across, up = np.meshgrid(x, y)
        f = self.curved(np.column_stack([across.ravel(), up.ravel()]))
        return x, y, f.reshape(size, size)


@dataclass(eq=False, repr=False)
class BoundaryDisplay(style.Display):
    """The boundary f(x) = 0 between its half-planes, the rows, the nearest and the mistakes.

    Two features are the two axes. One feature is an axis, and the rows are spread at random
    beside it. More features are seen in the plane of w and the widest spread of the rows
    orthogonal to it: there the boundary is a vertical line, and every row has its true distance
    from it. If both axes have equal scales, an arrow shows the direction of w, at a right angle to
    the boundary. A ``plane`` of two features, by name or number, shows the section of the
    hyperplane where all other features are at their means. A rule whose weights are all zero has no
    boundary: the rows are drawn, and a note says so. For a classifier that is not linear, such as
    `novikoff.KernelPerceptron`, the zero set of its ``decision_function`` over two features is
    computed on a grid and drawn.

    ``rows`` are the numbers of the rows in the data, and ``signs`` their correct sides ±1.
    ``distances`` are f(x)/‖w‖, or f(x) if the rule is not linear. ``mistakes`` marks rows with
    y·f(x) ≤ 0. If there are no mistakes, ``margin`` is the smallest distance of a linear rule, and
    ``support`` are the rows at this distance. If there are more than ``max_points`` rows, only
    mistakes, support and a random sample are ``drawn``.

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

    rule: Rule
    plane: tuple[Hashable, Hashable] | None = None
    max_points: int = 2000
    random_state: int = 0

    def __post_init__(self) -> None:
        rule, rng = self.rule, np.random.default_rng(self.random_state)
        margins = rule.margins
        self.rows, self.signs, self.distances = rule.rows, rule.signs, rule.signs * margins
        self.mistakes = margins <= 0.0
        self.margin = float(margins.min()) if rule.w.any() and not self.mistakes.any() else None
        self.support = np.flatnonzero(margins <= (self.margin or -np.inf) * _EQUALLY_NEAR)
        self.drawn = _drawn_rows(self.mistakes, self.support, self.max_points, rng)
        self.view = _view(rule, self.plane, self.drawn, rng)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: npt.ArrayLike | SparseMatrix,
        y: npt.ArrayLike,
        *,
        rule: Side | None = None,
        plane: tuple[Hashable, Hashable] | None = None,
        max_points: int = 2000,
        random_state: int = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the boundary of a fitted classifier among rows."""
        return cls(rule_of(estimator, X, y, rule), plane, max_points, random_state).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        nearest = (f"nearest rows ({len(self.support):,})", self.support)
        draw_rows(ax, self.view, self.rule, self.mistakes, self.drawn, nearest)
        box = frame(ax, self.view, self.drawn)
        note = draw_sides(ax, self.view, box, self.margin)
        if len(self.drawn) < len(self.rows):
            drawn, all_ = int(self.mistakes[self.drawn].sum()), int(self.mistakes.sum())
            note += f" Drawn: {len(self.drawn):,} of {len(self.rows):,} rows, at random"
            note += f", with {drawn:,} of {all_:,} mistakes." if all_ else "."
        if self.view.labels[1].startswith("jitter"):
            ax.set_yticks([])
        x, y = self.view.labels
        style.label_axes(ax, x=x, y=y, title=self.rule.title + self.view.held)
        style.legend_below(ax, note.strip())


def draw_rows(
    ax: Axes,
    view: PlaneView,
    rule: Rule,
    mistakes: npt.NDArray[np.bool_],
    drawn: Indices,
    ringed: tuple[str, Indices],
) -> None:
    """Draw the rows of both sides, a cross on each mistake, and rings around ``ringed`` rows."""

    def marks(rows: Indices, label: str, **look: Any) -> None:
        if len(rows) > 0:
            ax.plot(*view.points[rows].T, ls="none", label=label, **look)

    size = float(np.interp(len(drawn), [100, 3000], [6.0, 3.2]))
    faint = float(np.interp(len(drawn), [300, 3000], [1.0, 0.6]))
    looks = (
        (1, {"marker": "o", "mfc": style.POSITIVE, "mec": "white", "mew": 0.1 * size - 0.2}),
        (-1, {"marker": "s", "mfc": "none", "mec": style.NEGATIVE, "mew": 0.1 * size + 0.4}),
    )
    for (sign, look), name in zip(looks, rule.sides, strict=True):
        label = f"{name} ({int((rule.signs == sign).sum()):,})"
        marks(drawn[rule.signs[drawn] == sign], label, ms=size, alpha=faint, **look)
    wrong = drawn[mistakes[drawn]]
    crowd = float(np.interp(len(wrong), [10, 400], [0.0, 1.0]))
    cross = {"marker": "x", "ms": size + 4.0 - 3.0 * crowd, "mew": 1.2 - 0.6 * crowd}
    label = f"mistakes ({int(mistakes.sum()):,})"
    marks(wrong, label, alpha=1.0 - 0.5 * crowd, color=style.INK, zorder=4, **cross)
    ring = {"marker": "o", "ms": size + 6, "mew": 1.1, "mfc": "none", "mec": style.INK}
    name, rows = ringed
    marks(np.intersect1d(rows, drawn), name, zorder=4, **ring)


def draw_sides(ax: Axes, view: PlaneView, box: Box, margin: float | None) -> str:
    """Draw half-planes, boundary, w and the lines at ± margin; return why there is no boundary."""
    if view.curved is None and not view.normal.any():
        if view.offset != 0.0:
            one = style.POSITIVE_SIDE if view.offset > 0.0 else style.NEGATIVE_SIDE
            ax.axhspan(box[0][1], box[1][1], color=one, lw=0, zorder=0)
        if view.constant:
            return CONSTANT
        return "The boundary does not cross this plane: neither feature has a weight."
    x, y, f = view.over(box)
    reach = float(np.abs(f).max()) or 1.0
    f = f / reach
    colors = [style.NEGATIVE_SIDE, style.POSITIVE_SIDE]
    ax.contourf(x, y, f, [-2.0, 0.0, 2.0], colors=colors, zorder=0)
    lines: list[tuple[float, str, float, Any, str]] = [
        (0.0, style.INK, 1.4, "-", "boundary f(x) = 0")
    ]
    if margin is not None:
        name = f"margin ± {style.format_number(margin)}"
        lines.append((margin, style.GREY, 1.1, style.DASHES, name))
        lines.append((-margin, style.GREY, 1.1, style.DASHES, "_"))
    for level, color, width, dashes, label in lines:
        if f.min() < level / reach < f.max():
            look: Any = {"colors": color, "linewidths": width, "linestyles": [dashes]}
            ax.contour(x, y, f, [level / reach], zorder=2.5, **look)
            ax.plot([], [], color=color, lw=width, ls=dashes, label=label)
    if not f.min() < 0.0 < f.max():
        return "The boundary is outside of this picture."
    # With unequal scales, w would not look orthogonal to the boundary.
    if view.curved is None and ax.get_aspect() == 1.0:
        _draw_arrow(ax, view, box)
    return ""


def _draw_arrow(ax: Axes, view: PlaneView, box: Box) -> None:
    """Draw the direction of w, from the point of the boundary that is nearest to the centre."""
    low, high = box
    unit, centre = view.normal / math.hypot(*view.normal), (low + high) / 2
    f = (view.normal @ centre + view.offset) / math.hypot(*view.normal)
    foot = centre - f * unit
    tip = foot + 0.16 * float((high - low).min()) * unit
    look: Any = {"arrowstyle": "-|>", "color": style.INK, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (tip[0], tip[1]), (foot[0], foot[1]), arrowprops=look, zorder=5)
    halo: Any = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7}
    x, y = tip + 0.05 * float((high - low).min()) * unit
    ax.text(x, y, "w", ha="center", va="center", bbox=halo, zorder=5, clip_on=True)


def frame(ax: Axes, view: PlaneView, drawn: Indices) -> Box:
    """Set the limits, with equal scales if the rows allow it; return the corners."""
    low, high = _box(view, drawn)
    size = high - low
    if not view.labels[1].startswith("jitter") and 0.25 <= size[0] / size[1] <= 5.0:
        ratio = float(np.clip(size[0] / size[1], *_SHAPES))
        wanted = np.maximum(size, size[::-1] * [ratio, 1.0 / ratio])
        low, high = low - (wanted - size) / 2, high + (wanted - size) / 2
        ax.set_aspect("equal")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    return low, high


def _drawn_rows(
    mistakes: npt.NDArray[np.bool_], support: Indices, limit: int, rng: np.random.Generator
) -> Indices:
    """All rows, or mistakes, support and a sample of the others, in increasing order."""

    def some(rows: Indices, most: int) -> Indices:
        return rows if len(rows) <= most else rng.choice(rows, most, replace=False)

    if limit < 4:
        raise ValueError(f"max_points must be at least 4, not {limit}.")
    if len(mistakes) <= limit:
        return np.arange(len(mistakes))
    chosen = np.union1d(some(np.flatnonzero(mistakes), limit // 2), some(support, limit // 4))
    others = np.setdiff1d(np.flatnonzero(~mistakes), chosen)
    return np.union1d(chosen, some(others, limit - len(chosen)))


def _view(
    rule: Rule,
    plane: tuple[Hashable, Hashable] | None,
    drawn: Indices,
    rng: np.random.Generator,
) -> PlaneView:
    if rule.score is not None:
        if rule.X.shape[1] != 2 or plane is not None:
            raise ValueError(
                "A rule that is not linear is drawn over its two features: fit it to two columns "
                "of X, and leave out plane."
            )
        labels = (rule.feature(0), rule.feature(1))
        return PlaneView(rule.points(0, 1), np.zeros(2), 0.0, labels, curved=rule.score)
    if len(rule.w) == 1:
        if plane is not None:
            raise ValueError("There is one feature only: leave out plane.")
        jitter = rule.signs * rng.uniform(0.15, 1.0, len(rule.signs))
        points, normal = np.column_stack([rule.points(0), jitter]), np.append(np.sign(rule.w), 0.0)
        labels = (rule.feature(0), "jitter within each class (no meaning)")
        return PlaneView(points, normal, rule.b / rule.norm, labels, constant=rule.constant)
    mean = np.asarray(rule.X.mean(axis=0), dtype=np.float64).ravel()
    if plane is not None or len(rule.w) == 2:
        return _section(rule, (0, 1) if plane is None else plane, mean)
    v = principal_direction(rule.X[drawn], rule.w)
    if rule.constant:
        across = principal_direction(rule.X[drawn], v)
        points = np.column_stack([rule.X @ u - mean @ u for u in (v, across)])
        labels = ("first principal direction", "second")
        return PlaneView(points, np.zeros(2), rule.b, labels, constant=True)
    points = np.column_stack([rule.signs * rule.margins, rule.X @ v - mean @ v])
    labels = ("signed distance to the hyperplane", "first principal direction orthogonal to w")
    return PlaneView(points, np.array([1.0, 0.0]), 0.0, labels)


def _section(rule: Rule, plane: tuple[Hashable, Hashable], mean: Vector) -> PlaneView:
    """The plane of two features, the others held at their means."""
    pair = isinstance(plane, tuple | list) and len(plane) == 2
    i, j = [_column_number(rule, feature) for feature in plane] if pair else (0, 0)
    if i == j:
        raise ValueError(f"A plane is a pair of different features, not {plane!r}.")
    others = np.delete(np.arange(len(rule.w)), [i, j])
    held = f"; the other {len(others):,} features held at their means"
    if len(others) <= 2:
        values = [f"{rule.feature(k)} = {style.format_number(mean[k])}" for k in others.tolist()]
        held = "".join(f"; {value} (its mean)" for value in values)
    offset = (rule.b + float(rule.w[others] @ mean[others])) / rule.norm
    labels = (rule.feature(i), rule.feature(j))
    normal = rule.w[[i, j]] / rule.norm
    return PlaneView(rule.points(i, j), normal, offset, labels, held, rule.constant)


def _column_number(rule: Rule, feature: Hashable) -> int:
    if rule.names is not None and feature in rule.names:
        return rule.names.index(feature)
    last = rule.X.shape[1] - 1
    if isinstance(feature, int | np.integer) and 0 <= feature <= last:
        return int(feature)
    known = "" if rule.names is None else "it is none of the names, and "
    raise ValueError(f"The feature {feature!r} is not known: {known}the numbers are 0 to {last}.")


def principal_direction(X: Matrix, beside: Vector) -> Vector:
    """Approximate the unit vector orthogonal to ``beside`` along which the rows vary most.

    Power iteration: X, dense or sparse, is only multiplied with vectors. The result is zero
    if the rows do not vary. Its largest entry is positive.
    """
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    scale = max(abs(float(X.max())), abs(float(X.min()))) or 1.0
    across = beside / (math.hypot(*beside.tolist()) or 1.0)
    v: Vector = np.random.default_rng(0).normal(size=int(X.shape[1]))
    for _ in range(_POWER_ITERATIONS):
        v = (v - across * (across @ v)) / scale
        heights = X @ v - mean @ v
        v = (X.T @ heights - mean * heights.sum()) / scale
        v -= across * (across @ v)
        length = math.hypot(*v.tolist())
        if length <= 1e-14 * X.shape[0]:  # rounding of rows that are at most 1, scaled
            return np.zeros_like(v)
        v /= length
    return np.asarray(v * np.sign(v[np.argmax(np.abs(v))]))


def _box(view: PlaneView, drawn: Indices) -> Box:
    """The corners of a picture of the drawn rows, and of the boundary if it is not too far."""
    points = view.points[drawn]
    low, high = _padded(points.min(axis=0), points.max(axis=0))
    size, centre = high - low, (low + high) / 2
    scaled = view.normal * size  # the same line, the box being a square
    f = float(view.normal @ centre + view.offset)
    if not scaled.any() or abs(f) <= np.abs(scaled).sum() / 2:
        return low, high
    foot = centre - size * scaled * f / (scaled @ scaled)  # the nearest point of the line
    if np.isfinite(foot).all() and (np.abs(foot - centre) <= 2.5 * size).all():
        return _padded(np.minimum(low, foot), np.maximum(high, foot))
    return low, high


def _padded(low: Vector, high: Vector) -> Box:
    size, largest = high - low, np.maximum(np.abs(low), np.abs(high))
    size = np.where(size <= 1e-9 * largest, np.maximum(largest, 1.0), size)
    return low - 0.07 * size, high + 0.07 * size
