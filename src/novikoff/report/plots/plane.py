"""The plane on which rows of many features are drawn, and the hyperplane's line in it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from novikoff.report.plots.rule import Rule, norm_of
from novikoff.report.plots.style import format_number

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.core.rows import Indices, Vector

Feature: TypeAlias = Hashable | int
_PADDING = 0.07
# Up to so many features their scatter matrix is built, from blocks of so many rows.
_WIDE, _BLOCK = 500, 4096


@dataclass(frozen=True, eq=False)
class View:
    """Rows as points of a plane, in which the distance f/‖w‖ is ⟨normal, p⟩ + offset.

    Attributes
    ----------
    points : array of shape (n, 2)
        The rows.
    normal, offset : array of shape (2,) and float
        The section of the hyperplane with the plane; normal is zero where there is none.
    labels : pair of str
        The names of the axes.
    held : str
        At what the other features are held, if they are.
    """

    points: Vector
    normal: Vector
    offset: float
    labels: tuple[str, str]
    held: str = ""


def view_of(rule: Rule, plane: tuple[Feature, Feature] | None, seed: int) -> View:
    """The plane of two features, or that of w and the widest spread of the rows beside it."""
    n_features = len(rule.w)
    if n_features == 1:
        if plane is not None:
            raise ValueError("There is one feature only: leave out plane.")
        return _along_a_line(rule, seed)
    if plane is None and n_features == 2:
        plane = (0, 1)
    return _beside_w(rule) if plane is None else _of_features(rule, plane)


def line_in(normal: Vector, offset: float, low: Vector, high: Vector) -> Vector | None:
    """The ends of the line ⟨normal, p⟩ + offset = 0 in a box, or None if it passes by.

    >>> line_in(np.array([1.0, 0.0]), -0.5, np.zeros(2), np.ones(2)).tolist()
    [[0.5, 0.0], [0.5, 1.0]]
    """
    size = high - low
    scaled = normal * size  # the same line in the unit square
    length = norm_of(scaled)
    if length == 0.0 or not np.isfinite(length):
        return None
    unit = scaled / length
    foot = -unit * ((float(normal @ low) + offset) / length)
    along = np.array([-unit[1], unit[0]])
    begin, end = -np.inf, np.inf
    for start, speed in zip(foot, along, strict=True):
        if speed == 0.0:
            if not 0.0 <= start <= 1.0:
                return None
            continue
        first, last = sorted(((0.0 - start) / speed, (1.0 - start) / speed))
        begin, end = max(begin, first), min(end, last)
    if not begin <= end:
        return None
    return np.asarray(low + size * (foot + np.array([[begin], [end]]) * along))


def box_around(view: View, drawn: Indices) -> tuple[tuple[Vector, Vector], bool]:
    """The corners of the picture, and whether the boundary is too far away to be in it."""
    points = view.points[drawn]
    low, high = _padded(points.min(axis=0), points.max(axis=0))
    if not view.normal.any():
        return (low, high), False
    if line_in(view.normal, view.offset, low, high) is not None:
        return (low, high), False
    size, centre = high - low, (low + high) / 2
    scaled = view.normal * size  # the nearest point of the line, the box being a square
    foot = centre - size * scaled * (view.normal @ centre + view.offset) / (scaled @ scaled)
    if np.isfinite(foot).all() and (np.abs(foot - centre) <= 2.5 * size).all():
        return _padded(np.minimum(low, foot), np.maximum(high, foot)), False
    return (low, high), True


def _padded(low: Vector, high: Vector) -> tuple[Vector, Vector]:
    size = high - low
    flat = size <= 1e-9 * np.maximum(np.abs(low), np.abs(high))
    size = np.where(flat, np.maximum(np.abs(low), 1.0), size)
    return low - _PADDING * size, high + _PADDING * size


def principal_direction(X: Vector | sp.csr_array, beside: Vector) -> Vector:
    """The unit vector orthogonal to ``beside`` along which the rows vary most.

    It is zero if they do not vary; its largest entry is positive. A sparse or wide X is only
    multiplied with vectors, so that it stays as it is.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n_features = int(X.shape[1])
    mean = mean_of(X)
    scale = max(abs(float(X.max())), abs(float(X.min())), norm_of(mean)) or 1.0
    across = beside / (norm_of(beside) or 1.0)

    square = _scatter(X, mean, scale) if isinstance(X, np.ndarray) and n_features <= _WIDE else None

    def spread(vector: Vector) -> Vector:
        flat = vector.ravel() - across * (across @ vector.ravel())
        if square is not None:
            back = square @ flat
        else:
            heights = X @ (flat / scale) - mean @ (flat / scale)
            back = (X.T @ heights - mean * heights.sum()) / scale
        return np.asarray(back - across * (across @ back))

    start = np.random.default_rng(0).normal(size=n_features)
    start -= across * (across @ start)
    rounding = 1e-14 * X.shape[0] * norm_of(start)  # of the size of all rows, scaled
    if norm_of(spread(start)) <= rounding:
        return np.zeros(n_features)
    operator = LinearOperator((n_features, n_features), matvec=spread, dtype=np.float64)
    try:
        found = eigsh(operator, k=1, which="LA", v0=start, tol=1e-10)[1][:, 0]
    except ArpackError:  # nearly equal directions: any of them will do
        found = start
        for _ in range(100):
            found = spread(found)
            found /= norm_of(found)
    found = found - across * (across @ found)
    found = found / norm_of(found)
    return np.asarray(found * np.sign(found[np.argmax(np.abs(found))]))


def _scatter(X: Vector, mean: Vector, scale: float) -> Vector:
    """Σ (x − mean)(x − mean)ᵀ, a block of rows at a time."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), _BLOCK):
        block = (X[start : start + _BLOCK] - mean) / scale
        total += block.T @ block
    return total


def mean_of(X: Vector | sp.csr_array) -> Vector:
    """The mean row."""
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def _along_a_line(rule: Rule, seed: int) -> View:
    """One feature: classes above each other, rows spread at random within them."""
    x = _column(rule.X, 0)
    jitter = rule.signs * np.random.default_rng(seed).uniform(0.15, 1.0, len(x))
    normal = np.array([float(np.sign(rule.w[0])), 0.0])
    offset = rule.b / rule.norm if rule.norm > 0.0 else 0.0
    labels = (rule.feature(0), "jitter within each class (no meaning)")
    return View(np.column_stack([x, jitter]), normal, offset, labels)


def _beside_w(rule: Rule) -> View:
    """The signed distance, against the widest spread of the rows within the hyperplane."""
    mean = mean_of(rule.X)
    if rule.norm == 0.0:
        first = principal_direction(rule.X, np.zeros_like(rule.w))
        second = principal_direction(rule.X, first)
        points = np.column_stack([rule.X @ v - mean @ v for v in (first, second)])
        labels = ("first principal direction", "second principal direction")
        return View(points, np.zeros(2), 0.0, labels)
    v = principal_direction(rule.X, rule.w)
    points = np.column_stack([rule.distances, rule.X @ v - mean @ v])
    labels = ("signed distance to the hyperplane", "first principal direction orthogonal to w")
    return View(points, np.array([1.0, 0.0]), 0.0, labels)


def _of_features(rule: Rule, plane: tuple[Feature, Feature]) -> View:
    if not isinstance(plane, tuple | list) or len(plane) != 2:
        raise ValueError(f"A plane is a pair of features, by name or number, not {plane!r}.")
    i, j = (_column_number(rule, feature) for feature in plane)
    if i == j:
        raise ValueError(f"The two features of a plane must differ; both are {plane[0]!r}.")
    points = np.column_stack([_column(rule.X, i), _column(rule.X, j)])
    mean = mean_of(rule.X)
    others = np.delete(np.arange(len(rule.w)), [i, j])
    norm = rule.norm or 1.0
    normal = rule.w[[i, j]] / norm
    offset = (rule.b + float(rule.w[others] @ mean[others])) / norm
    return View(
        points, normal, offset, (rule.feature(i), rule.feature(j)), _held(rule, others, mean)
    )


def _held(rule: Rule, others: Indices, mean: Vector) -> str:
    if len(others) == 0:
        return ""
    if len(others) <= 2:
        values = " and ".join(f"{rule.feature(k)} = {format_number(mean[k])}" for k in others)
        return f"held at {'its mean' if len(others) == 1 else 'their means'}: {values}"
    return f"the other {len(others):,} features held at their means"


def _column_number(rule: Rule, feature: Feature) -> int:
    if rule.names is not None and feature in rule.names:
        return rule.names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if 0 <= feature < len(rule.w):
            return int(feature)
        raise ValueError(f"There is no feature {feature}: they are 0 to {len(rule.w) - 1}.")
    known = "they have no names, only numbers" if rule.names is None else "it is none of the names"
    raise ValueError(f"The feature {feature!r} is not known: {known}.")


def _column(X: Vector | sp.csr_array, j: int) -> Vector:
    chosen = X[:, [j]]
    return np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray()).ravel()
