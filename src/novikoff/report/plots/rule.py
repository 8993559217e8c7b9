"""From a fitted classifier and rows to one rule f(x) = ⟨w, x⟩ + b, and where the rows lie."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.report.plots.style import clean_name

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.core.rows import Indices, SparseMatrix, Vector

Side: TypeAlias = Hashable | tuple[Hashable, Hashable]
# Rows whose distances differ by this factor are equally near.
_EQUALLY_NEAR = 1.0 + 1e-6


class LinearClassifier(Protocol):
    """What is needed of a classifier: a hyperplane for each of its rules."""

    @property
    def coef_(self) -> Vector:
        """The weights, of shape (n_rules, n_features)."""

    @property
    def intercept_(self) -> Vector:
        """The biases, of shape (n_rules,)."""

    @property
    def classes_(self) -> npt.NDArray[np.generic]:
        """The labels, in order."""


@dataclass(frozen=True, eq=False)
class Rule:
    """One hyperplane and the rows that it is about.

    Attributes
    ----------
    X : array or CSR array of shape (n, n_features)
        The rows that take part.
    rows : array of int
        Their numbers in the data.
    signs : array of ±1
        The side on which each should be.
    w, b : array and float
        The weights and the bias.
    scores : array
        f(x) of each row.
    support : array of int
        Which of these rows carry the margin; none if a row is wrong or w = 0.
    positive, negative : str
        The names of the two sides.
    names : list
        The names of the features as they are, or None where they have none.
    """

    X: Vector | sp.csr_array
    rows: Indices
    signs: npt.NDArray[np.int8]
    w: Vector
    b: float
    scores: Vector
    support: Indices
    positive: str
    negative: str
    names: list[Hashable] | None

    @property
    def norm(self) -> float:
        """‖w‖, whatever its size."""
        return norm_of(self.w)

    @property
    def distances(self) -> Vector:
        """The signed distances f(x)/‖w‖ from the hyperplane; NaN if w = 0."""
        if self.norm == 0.0:
            return np.full(len(self.scores), np.nan)
        return np.asarray(self.scores / self.norm)

    @property
    def mistakes(self) -> npt.NDArray[np.bool_]:
        """Where y·f(x) ≤ 0."""
        return np.asarray(self.signs * self.scores <= 0.0)

    def feature(self, column: int) -> str:
        """The name of a feature for a label."""
        return f"feature {column}" if self.names is None else clean_name(self.names[column])


def norm_of(w: Vector) -> float:
    """‖w‖ without overflow or underflow on the way."""
    size = float(np.abs(w).max(initial=0.0))
    return size * float(np.linalg.norm(w / size)) if size > 0.0 else 0.0


def rule_of(
    estimator: LinearClassifier,
    X: npt.ArrayLike | SparseMatrix,
    y: npt.ArrayLike,
    side: Side | None = None,
) -> Rule:
    """One rule of a fitted classifier and where the rows lie about it.

    Parameters
    ----------
    estimator : classifier
        With ``coef_``, ``intercept_`` and ``classes_``.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows.
    y : array-like of shape (n,)
        Their labels.
    side : label, or pair of labels for one-vs-one
        The class on the positive side; by default the second of two, the first of several.
    """
    index, sides, positive, negative, flip = _choose(estimator, side)
    codes = _codes(np.asarray(y), estimator.classes_)
    matrix = _matrix(X)
    if matrix.shape[0] != len(codes):
        raise ValueError(f"X has {matrix.shape[0]} rows, but y has {len(codes)} labels.")
    w = np.asarray(estimator.coef_, dtype=np.float64)[index] * flip
    b = float(np.asarray(estimator.intercept_, dtype=np.float64).reshape(-1)[index]) * flip
    if matrix.shape[1] != len(w):
        raise ValueError(f"X has {matrix.shape[1]} columns, but the rule has {len(w)} weights.")
    scores = _scores(estimator, X, matrix, index, w, b, flip)
    signs = (sides[codes] * flip).astype(np.int8)
    rows = np.flatnonzero(signs)
    if len(rows) == 0:
        raise ValueError("There are no rows to draw: none is of a class of this rule.")
    if len(rows) < len(signs):
        matrix, signs, scores = matrix[rows], signs[rows], scores[rows]
    support = _support(estimator, index, rows, signs * scores / (norm_of(w) or np.nan))
    names = getattr(estimator, "feature_names_in_", getattr(X, "columns", None))
    listed = None if names is None else list(names)
    return Rule(matrix, rows, signs, w, b, scores, support, positive, negative, listed)


def rule_number(estimator: LinearClassifier, side: Side | None) -> int:
    """The place of a rule among those of the classifier."""
    return _choose(estimator, side)[0]


def _choose(
    estimator: LinearClassifier, side: Side | None
) -> tuple[int, npt.NDArray[np.int8], str, str, int]:
    """The rule's place, the side of each class, the names of both sides, and −1 to swap them."""
    labels = cast(list[Hashable], estimator.classes_.tolist())
    n_rules = len(np.atleast_2d(estimator.coef_))
    if len(labels) == 2 and n_rules == 1:
        place = 1 if side is None else _place(labels, side)
        sides = np.array([-1, 1], dtype=np.int8)
        return 0, sides, clean_name(labels[place]), clean_name(labels[1 - place]), 2 * place - 1
    if getattr(estimator, "multi_class", "ovr") == "ovo":
        return _choose_pair(labels, side)
    if n_rules != len(labels):
        raise ValueError(
            f"The classifier has {n_rules} rules for {len(labels)} classes: only one rule for "
            "two classes, or one for each class against the rest, can be drawn."
        )
    place = 0 if side is None else _place(labels, side)
    sides = np.where(np.arange(len(labels)) == place, 1, -1).astype(np.int8)
    return place, sides, clean_name(labels[place]), "the rest", 1


def _choose_pair(
    labels: list[Hashable], side: Side | None
) -> tuple[int, npt.NDArray[np.int8], str, str, int]:
    pair = (labels[1], labels[0]) if side is None else side
    if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"A rule of one-vs-one is a pair of classes, not {side!r}.")
    positive, negative = _place(labels, pair[0]), _place(labels, pair[1])
    low, high = sorted((positive, negative))
    n = len(labels)
    sides = np.zeros(n, dtype=np.int8)
    sides[low], sides[high] = -1, 1
    index = low * n - low * (low + 1) // 2 + high - low - 1
    flip = 1 if positive == high else -1
    return index, sides, clean_name(labels[positive]), clean_name(labels[negative]), flip


def _place(labels: list[Hashable], label: Hashable) -> int:
    if label not in labels:
        raise ValueError(f"The rule {label!r} is not one of the classes {labels}.")
    return labels.index(label)


def _codes(y: npt.NDArray[np.generic], classes: npt.NDArray[np.generic]) -> Indices:
    if y.ndim != 1:
        raise ValueError(f"y has {y.ndim} dimensions, but one label per row is needed.")
    codes = np.full(len(y), -1, dtype=np.int64)
    for code, label in enumerate(classes):
        codes[y == label] = code
    if (codes < 0).any():
        row = int(np.argmin(codes))
        raise ValueError(
            f"The label {y.tolist()[row]!r} in row {row} is not one of the classes "
            f"{classes.tolist()}."
        )
    return codes


def _matrix(X: npt.ArrayLike | SparseMatrix) -> Vector | sp.csr_array:
    if hasattr(X, "tocsr"):
        import scipy.sparse as sp

        return sp.csr_array(cast("SparseMatrix", X)).astype(np.float64, copy=False)
    dense = np.asarray(X, dtype=np.float64)
    if dense.ndim != 2:
        raise ValueError(f"X has {dense.ndim} dimension(s), but a table has two.")
    return dense


def _scores(
    estimator: LinearClassifier,
    X: npt.ArrayLike | SparseMatrix,
    matrix: Vector | sp.csr_array,
    index: int,
    w: Vector,
    b: float,
    flip: int,
) -> Vector:
    """The classifier's own scores, to the last bit, where they are those of this rule."""
    decide = getattr(estimator, "decision_function", None)
    votes = getattr(estimator, "average", False) == "voted"
    pairs = getattr(estimator, "multi_class", "ovr") == "ovo" and len(estimator.classes_) > 2
    if decide is None or votes or pairs:
        return np.asarray(matrix @ w + b)
    found = np.asarray(decide(X), dtype=np.float64)
    return flip * (found if found.ndim == 1 else found[:, index])


def _support(estimator: LinearClassifier, index: int, rows: Indices, margins: Vector) -> Indices:
    """The rows that a maximal margin names, if they are nearest; else all that are nearest."""
    if not margins.min(initial=np.inf) > 0.0:
        return np.empty(0, dtype=np.int64)
    nearest = np.flatnonzero(margins <= margins.min() * _EQUALLY_NEAR)
    named = getattr(estimator, "support_", None)
    if named is None or not hasattr(estimator, "margin_"):
        return nearest
    wanted = named[index] if isinstance(named, list) else named
    found = np.flatnonzero(np.isin(rows, wanted))
    return found if len(found) == len(wanted) and np.isin(found, nearest).all() else nearest
