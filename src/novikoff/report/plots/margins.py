"""One rule f(x) = ⟨w, x⟩ + b of a classifier, the signed margins of rows, and their histogram."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.validation import check_labels, check_matrix
from novikoff.report.plots import style

if TYPE_CHECKING:
    import scipy.sparse as sp
    from matplotlib.axes import Axes

    from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector

Side: TypeAlias = Hashable | tuple[Hashable, Hashable]
LinearClassifier: TypeAlias = Any  # it has coef_ (n_rules, n_features), intercept_ and classes_
CONSTANT = "All weights are zero: the rule says the same of every row, and has no boundary."
_MIN_BINS, _MAX_BINS = 8, 60


@dataclass(frozen=True, eq=False)
class Rule:
    """One hyperplane, and the rows of its two sides, ``rows`` by number in the data.

    ``flip`` is −1 where the positive side is not that of the classifier's own weights.
    """

    X: Floats | sp.csr_array
    rows: Indices
    signs: npt.NDArray[np.int8]
    w: Vector
    b: float
    positive: str
    negative: str
    names: list[Hashable] | None
    flip: int

    @property
    def norm(self) -> float:
        """‖w‖, whatever its size; 1 for a rule without weights, so that f/‖w‖ is f."""
        return math.hypot(*self.w.tolist()) or 1.0

    @property
    def constant(self) -> bool:
        """Whether all weights are zero: the rule says the same of every row."""
        return not self.w.any()

    @property
    def margins(self) -> Vector:
        """The signed margins y·f(x)/‖w‖; mistakes have y·f(x) ≤ 0."""
        return np.asarray(self.signs * ((self.X @ self.w + self.b) / self.norm))

    def feature(self, column: int) -> str:
        """The name of a feature for a label."""
        return f"feature {column}" if self.names is None else style.clean_name(self.names[column])


def rule_of(
    classifier: LinearClassifier,
    X: npt.ArrayLike | SparseMatrix,
    y: npt.ArrayLike,
    side: Side | None = None,
) -> Rule:
    """One rule of a classifier, with the rows of its sides."""
    index, positive, negative = find_rule(classifier, side)
    classes = classifier.classes_.tolist()
    matrix, labels = check_matrix(X), check_labels(y)
    if matrix.shape[0] != len(labels):
        raise ValueError(f"X has {matrix.shape[0]} rows, but y has {len(labels)} labels.")
    # The weights speak for the later class of a pair, and for a class against the rest.
    flip = -1 if negative is not None and classes.index(positive) < classes.index(negative) else 1
    w = flip * np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))[index]
    b = flip * float(np.ravel(np.asarray(classifier.intercept_, dtype=np.float64))[index])
    if matrix.shape[1] != len(w):
        raise ValueError(f"X has {matrix.shape[1]} columns, but the rule has {len(w)} weights.")
    unknown = ~np.isin(labels, classifier.classes_)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"The label {labels.tolist()[row]!r} in row {row} is not one of the classes {classes}."
        )
    negatives = labels != positive if negative is None else labels == negative
    signs = (labels == positive).astype(np.int8) - negatives.astype(np.int8)
    rows = np.flatnonzero(signs)
    if len(rows) == 0:
        raise ValueError("There are no rows to draw: none is of a class of this rule.")
    if len(rows) < len(signs):
        matrix, signs = matrix[rows], signs[rows]
    names = getattr(classifier, "feature_names_in_", getattr(X, "columns", None))
    other = "the rest" if negative is None else style.clean_name(negative)
    listed = None if names is None else list(names)
    return Rule(matrix, rows, signs, w, b, style.clean_name(positive), other, listed, flip)


def find_rule(
    classifier: LinearClassifier, side: Side | None
) -> tuple[int, Hashable, Hashable | None]:
    """The number of a rule, its positive class, and its negative one (None: all others)."""
    classes: list[Hashable] = classifier.classes_.tolist()
    n_rules, n = len(np.atleast_2d(classifier.coef_)), len(classes)
    for label in () if side is None else side if isinstance(side, tuple) else (side,):
        if label not in classes:
            raise ValueError(f"The rule {side!r} is not one of the classes {classes}.")
    if n == 2 and n_rules == 1:
        high = 1 if side is None else classes.index(side)
        return 0, classes[high], classes[1 - high]
    if getattr(classifier, "multi_class", "ovr") == "ovo":
        pair = (classes[1], classes[0]) if side is None else side
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"A rule of one-vs-one is a pair of classes, not {side!r}.")
        low, high = sorted(map(classes.index, pair))
        return low * n - low * (low + 1) // 2 + high - low - 1, pair[0], pair[1]
    if n_rules != n:
        raise ValueError(
            f"The classifier has {n_rules} rules for {n} classes: only one rule for two "
            "classes, or one for each class against the rest, can be drawn."
        )
    index = 0 if side is None else classes.index(side)
    return index, classes[index], None


@dataclass(eq=False, repr=False)
class MarginsDisplay(style.Display):
    """A histogram of the signed margins y·f(x)/‖w‖; those of mistakes are not positive.

    Zero is an edge of the bins, and a bin holds its upper edge, so that each bin is all
    mistakes or all right. ``margin`` is a γ to mark.

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
        """Draw the margins of rows under a fitted classifier."""
        found = rule_of(estimator, X, y, rule)
        title = f"{found.positive} against {found.negative}"
        title += f"\n{CONSTANT}" if found.constant else ""
        return cls(found.margins, *_histogram(found.margins), margin, title).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        wrong = self.edges[1:] <= 0.0
        n_wrong = int((self.margins <= 0.0).sum())
        n_right = len(self.margins) - n_wrong
        for part, fill, hatch, label in (
            (~wrong, "#a9bccf", None, f"right ({n_right:,})"),
            (wrong, "white", "////", f"mistakes ({n_wrong:,})"),
        ):
            if part.any():
                left, width = self.edges[:-1][part], np.diff(self.edges)[part]
                look: Any = {"fc": fill, "hatch": hatch, "ec": style.INK, "lw": 0.6}
                ax.bar(left, self.counts[part], width, align="edge", label=label, **look)
        ax.axvline(0.0, color=style.INK, lw=1.4, label="boundary")
        if self.margin is not None:
            name = f"γ = {style.format_number(self.margin)}"
            ax.axvline(self.margin, color=style.INK, lw=1.2, ls=style.DASHES, label=name)
        style.label_axes(ax, x="signed margin y·f(x)/‖w‖", y="rows", title=self.title)
        style.format_counts(ax, "y")
        style.legend_below(ax, columns=4)


def _histogram(margins: Vector) -> tuple[Vector, Indices]:
    """Edges that are multiples of one width, and the rows in each bin (lower, upper]."""
    low, high = float(margins.min()), float(margins.max())
    spread, size = high - low, max(abs(low), abs(high))
    if spread <= 1e-9 * size:
        width = size / _MIN_BINS or 1.0
    else:
        lower, upper = np.percentile(margins, [25, 75])
        ideal = 2.0 * (upper - lower) / np.cbrt(len(margins))  # Freedman and Diaconis
        width = float(np.clip(ideal, spread / _MAX_BINS, spread / _MIN_BINS))
    places = np.ceil(margins / width).astype(np.int64) - 1
    first = int(places.min())
    counts = np.bincount(places - first).astype(np.int64)
    return width * np.arange(first, first + len(counts) + 1, dtype=np.float64), counts
