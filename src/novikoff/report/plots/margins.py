"""One rule f of a classifier, the signed margins of rows, and their histogram."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import check_labels
from novikoff.core.validation import check_matrix
from novikoff.report.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from novikoff.core.rows import Indices, Matrix, SparseMatrix, Vector


Side: TypeAlias = Hashable | tuple[Hashable, Hashable]
Classifier: TypeAlias = Any  # has classes_, and either coef_ and intercept_ or decision_function
CONSTANT = "All weights are zero: the rule says the same of every row, and has no boundary."
_MIN_BINS, _MAX_BINS = 8, 60


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule f(x) = ⟨w, x⟩ + b, and the rows of its two sides, ``rows`` by number in the data."""

    X: Matrix
    rows: Indices
    signs: npt.NDArray[np.int8]  # the sign of each row: +1 on the positive side
    w: Vector  # zeros where f is not linear
    b: float
    positive: Hashable
    negative: Hashable | None  # None: all other classes
    names: Sequence[Hashable] | None = None  # the names of the features
    flip: int = 1  # −1 if the classifier's scores are positive on the negative side
    score: Callable[[Any], Vector] | None = None  # f of rows, where it is not linear
    remark: str = ""  # why this rule was chosen from several

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the positive side and of the negative."""
        return side_names(self.positive, self.negative)

    @property
    def title(self) -> str:
        """The two classes that the rule separates."""
        return " against ".join(self.sides) + self.remark

    @property
    def norm(self) -> float:
        """‖w‖, without overflow; 1 if all weights are zero, so that f/‖w‖ is f."""
        return math.hypot(*self.w.tolist()) or 1.0

    @property
    def constant(self) -> bool:
        """Whether all weights are zero, so that the rule predicts one class for every row."""
        return self.score is None and not self.w.any()

    @property
    def margins(self) -> Vector:
        """The signed margins y·f(x)/‖w‖; mistakes have y·f(x) ≤ 0."""
        f = self.X @ self.w + self.b if self.score is None else self.score(self.X)
        return np.asarray(self.signs * (f / self.norm))

    def feature(self, column: int) -> str:
        """The name of a feature for a label."""
        return f"feature {column}" if self.names is None else style.clean_name(self.names[column])

    def points(self, *columns: int) -> Vector:
        """Return the given columns of all rows as a dense matrix."""
        part: Any = self.X[:, list(columns)]
        return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), np.float64)


def rule_of(
    classifier: Classifier,
    X: npt.ArrayLike | SparseMatrix,
    y: npt.ArrayLike,
    side: Side | None = None,
) -> Rule:
    """Return one rule of a classifier, linear if it has ``coef_``, with the rows of its sides."""
    index, flip, positive, negative = find_rule(classifier, side)
    matrix, labels = check_matrix(X), check_labels(y)
    if matrix.shape[0] != len(labels):
        raise ValueError(f"X has {matrix.shape[0]} rows, but y has {len(labels)} labels.")
    unknown = ~np.isin(labels, classifier.classes_)
    if unknown.any():
        row, classes = int(np.argmax(unknown)), classifier.classes_.tolist()
        raise ValueError(
            f"The label {labels.tolist()[row]!r} in row {row} is not one of the classes {classes}."
        )
    negatives = labels != positive if negative is None else labels == negative
    signs = (labels == positive).astype(np.int8) - negatives.astype(np.int8)
    rows = np.flatnonzero(signs)
    if len(rows) == 0:
        raise ValueError("There are no rows to draw: none is of a class of this rule.")
    w = np.zeros(matrix.shape[1])
    b = 0.0
    score = None
    if _is_linear(classifier):
        w = flip * np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))[index]
        b = flip * float(np.ravel(np.asarray(classifier.intercept_, dtype=np.float64))[index])
        if matrix.shape[1] != len(w):
            raise ValueError(f"X has {matrix.shape[1]} columns, but the rule has {len(w)} weights.")
    else:
        score = _scores(classifier, index, flip)
    names = getattr(classifier, "feature_names_in_", getattr(X, "columns", None))
    if len(rows) < len(signs):
        matrix, signs = matrix[rows], signs[rows]
    listed = None if names is None else list(names)
    return Rule(matrix, rows, signs, w, b, positive, negative, listed, flip, score)


def find_rule(
    classifier: Classifier, side: Side | None
) -> tuple[int, int, Hashable, Hashable | None]:
    """A rule's number, ±1, its positive class and its negative one (None: all others).

    The sign is −1 if positive scores of the classifier mean the negative class. Of two classes,
    positive scores mean the later one.
    """
    from novikoff.core.schemes import OneVsRest, scheme_for

    classes: list[Hashable] = classifier.classes_.tolist()
    scheme = scheme_for(len(classes), getattr(classifier, "multi_class", "ovr"))
    n_rules = scheme.sides.shape[1]
    given = len(np.atleast_2d(classifier.coef_)) if _is_linear(classifier) else n_rules
    if given != n_rules:
        raise ValueError(
            f"The classifier has {given} rules for {len(classes)} classes: only one rule for two "
            "classes, or one for each class against the rest, can be drawn."
        )
    for label in () if side is None else side if isinstance(side, tuple) else (side,):
        if label not in classes:
            raise ValueError(f"The rule {side!r} is not one of the classes {classes}.")
    rules: dict[Side, tuple[int, int, Hashable, Hashable | None]] = {}  # by name
    for rule, stands in enumerate(scheme.sides.T.tolist()):
        high = classes[stands.index(1)]
        if isinstance(scheme, OneVsRest):
            rules[high] = rule, 1, high, None
            continue
        low = classes[stands.index(-1)]
        rules[high, low], rules[low, high] = (rule, 1, high, low), (rule, -1, low, high)
        if n_rules == 1:
            rules[high], rules[low] = rules[high, low], rules[low, high]
    if side is None:
        return next(iter(rules.values()))
    if side not in rules:
        name = "one-vs-rest is a class" if high in rules else "one-vs-one is a pair of classes"
        raise ValueError(f"A rule of {name}, not {side!r}.")
    return rules[side]


def side_names(positive: Hashable, negative: Hashable | None) -> tuple[str, str]:
    """The classes of a rule's sides, for a picture."""
    other = "the rest" if negative is None else style.clean_name(negative)
    return style.clean_name(positive), other


def _is_linear(classifier: Classifier) -> bool:
    """Whether its rules are the rows of ``coef_``."""
    return hasattr(classifier, "coef_") and not _is_svc_of_several(classifier)


def _is_svc_of_several(classifier: Classifier) -> bool:
    """Whether this is an SVC of several classes, whose rules are of pairs of classes."""
    return hasattr(classifier, "decision_function_shape") and len(classifier.classes_) > 2


def _scores(classifier: Classifier, index: int, flip: int) -> Callable[[Any], Vector]:
    """The f of a rule that is not linear, by ``decision_function``."""
    if not hasattr(classifier, "decision_function"):
        name = type(classifier).__name__
        raise ValueError(f"A {name} has neither coef_ nor decision_function: no f to draw.")
    pairs = getattr(classifier, "multi_class", "ovr") == "ovo" and len(classifier.classes_) > 2
    if pairs or _is_svc_of_several(classifier):
        raise ValueError(
            "The scores of one-vs-one are votes, and f(x) = 0 is no boundary of theirs: fit to two "
            "classes, or one class against the rest."
        )

    def score(X: Any) -> Vector:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            scores = np.asarray(classifier.decision_function(X), dtype=np.float64)
        return flip * (scores if scores.ndim == 1 else scores[:, index])

    return score


@dataclass(eq=False, repr=False)
class MarginsDisplay(style.Display):
    """A histogram of the signed margins y·f(x)/‖w‖; those of mistakes are not positive.

    Zero is an edge of the bins, and each bin contains its upper edge, so that no bin has both
    mistakes and correct rows. ``margin`` is a γ to mark.

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

    rule: Rule
    margin: float | None = None

    def __post_init__(self) -> None:
        self.margins = self.rule.margins
        self.edges, self.counts = _histogram(self.margins)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: npt.ArrayLike | SparseMatrix,
        y: npt.ArrayLike,
        *,
        rule: Side | None = None,
        margin: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the margins of rows under a fitted classifier."""
        return cls(rule_of(estimator, X, y, rule), margin).plot(ax)

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
                left_edges, width = self.edges[:-1][part], np.diff(self.edges)[part]
                look: Any = {"fc": fill, "hatch": hatch, "ec": style.INK, "lw": 0.6}
                ax.bar(left_edges, self.counts[part], width, align="edge", label=label, **look)
        ax.axvline(0.0, color=style.INK, lw=1.4, label="boundary")
        if self.margin is not None:
            name = f"γ = {style.format_number(self.margin)}"
            ax.axvline(self.margin, color=style.INK, lw=1.2, ls=style.DASHES, label=name)
        label = "signed margin y·f(x)" + ("/‖w‖" if self.rule.score is None else "")
        title = self.rule.title + (f"\n{CONSTANT}" if self.rule.constant else "")
        style.label_axes(ax, x=label, y="rows", title=title)
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
