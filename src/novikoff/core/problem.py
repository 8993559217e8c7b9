"""A separation problem: signed rows, checked once, with the numbers every bound needs.

All products here are NumPy's and SciPy's, taken by stretches of rows: memory-mapped data is read
from front to back, and float32 is converted a stretch at a time. No kernel is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from novikoff.core import rows as _rows
from novikoff.core.rows import Matrix, Rows, Signs, Vector
from novikoff.core.validation import missing_value

# Entries in a stretch of rows: a dense one stays in the cache, a sparse one is worth a matrix.
DENSE_BLOCK, CSR_BLOCK = 1 << 17, 1 << 20

_ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Problem:
    """The rows a_i with R = max‖a_i‖, rounded up.

    R is never below the true value, and infinite where it is beyond float64.
    """

    rows: Rows
    radius: float
    longest: int  # the largest number of terms in a product ⟨a_i, w⟩

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.rows.signs)

    @property
    def p(self) -> int:
        """The length of a weight vector."""
        rows = self.rows
        return (rows.X.shape[1] if isinstance(rows, _rows.Dense) else rows.d) + 1

    @property
    def X(self) -> Matrix:  # noqa: N802 — the letter of the theorems
        """The unsigned rows x_i."""
        return _rows.matrix(self.rows)

    @property
    def signs(self) -> Signs:
        """The sign y_i of each row; rows of sign 0 take no part."""
        return self.rows.signs

    @property
    def fit_intercept(self) -> bool:
        """Whether the last weight is a bias that moves."""
        return self.rows.bias > 0.0

    @property
    def unit(self) -> float:
        """A power of two near R: in this unit, products of rows stay within float64."""
        return unit_of(self.radius)

    def with_signs(self, signs: Signs) -> Problem:
        """The same rows under other signs; norms do not depend on them."""
        return replace(self, rows=self.rows._replace(signs=_rows.frozen(signs)))

    def part(self, rows: _rows.Indices) -> Problem:
        """Some of the rows, with an R of their own."""
        return pose(self.X[rows], self.signs[rows], self.fit_intercept)

    def active_rows(self, sample_weight: Vector | None = None) -> _rows.Indices:
        """The rows whose sign, and weight if there are weights, is not 0."""
        return np.flatnonzero(
            self.signs if sample_weight is None else self.signs * (sample_weight > 0.0)
        )

    def rows_within(self, entries: int) -> int:
        """How many rows have about this many entries, at least one."""
        size = self.rows.X.size if isinstance(self.rows, _rows.Dense) else self.rows.data.size
        return max(1, entries * self.n // (size + self.n + 1))


def pose(
    X: Matrix,
    signs: Signs,
    fit_intercept: bool,
    *,
    names: Sequence[Hashable] | None = None,
    first: int = 0,
) -> Problem:
    """Check the data in one pass and pose the problem.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite; the message names its row, counted from ``first``, and
        its column.

    Examples
    --------
    >>> pose(np.array([[3.0, 4.0]]), np.array([1], dtype=np.int8), False).radius >= 5.0
    True
    """
    rows = _rows.view(X, signs, fit_intercept)
    matrix = _rows.matrix(rows)
    longest = matrix.shape[1]
    if not isinstance(rows, _rows.Dense):
        longest = int(np.diff(rows.indptr).max(initial=0))
    largest_sq = largest = 0.0
    for begin, end in row_blocks(matrix):
        squares = _squared_norms(rows, begin, end) + rows.bias
        largest_sq = max(largest_sq, float(squares.max()))
        # Squares that overflow, or vanish, say nothing: look at the entries themselves.
        unclear = begin + np.flatnonzero(~((squares > 1e-280) & (squares < 1e300)))
        if len(unclear) > 0:
            part = matrix[unclear]
            entries = np.abs(part if isinstance(part, np.ndarray) else part.data)
            if not np.isfinite(entries).all():
                raise ValueError(_complaint(matrix, unclear, names, first))
            largest = max(largest, float(entries.max(initial=0.0)))
    radius = math.sqrt(largest_sq)
    if not 1e-280 < largest_sq < 1e300:
        radius = math.sqrt(longest + 1) * max(largest, rows.bias)
    if radius > 0.0:
        radius = math.nextafter(radius * (1.0 + (longest + 5) * _ULP), math.inf)
    return Problem(rows, radius, longest + 1)


def unit_of(radius: float) -> float:
    """A power of two near R, or 1 where that is 0."""
    return math.ldexp(1.0, math.frexp(min(radius, 2.0**1000))[1] - 1) if radius > 0.0 else 1.0


def products(problem: Problem, w: Vector) -> Vector:
    """⟨a_i, w⟩ for all rows i."""
    W = np.append(w[:-1], problem.rows.bias * w[-1])[:, None]
    return scores(problem.X, W)[:, 0] * problem.signs


def sure_products(problem: Problem, w: Vector) -> Vector:
    """⟨a_i, w⟩ for all rows i, and 0 where rounding may have decided the sign.

    The rounded product is within γ_k·Σ_j |a_ij·w_j| of the exact one, γ_k = ku/(1 − ku) for k terms
    (Higham, Accuracy and Stability of Numerical Algorithms, §3.1).

    Examples
    --------
    >>> problem = pose(np.array([[0.9, 0.45], [3.0, 1.0]]), np.array([1, 1], np.int8), False)
    >>> sure_products(problem, np.array([-1e15, 2e15 + 0.25, 0.0]))
    array([ 0.e+00, -1.e+15])
    """
    s, sizes = products(problem, w), np.abs(w)
    slip = (problem.longest + 6) * _ULP
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.flatnonzero(~(np.abs(s) > slip * problem.radius * float(sizes.sum())))
        rows = problem.X[near]
        terms = abs(rows) @ sizes[:-1] + problem.rows.bias * sizes[-1]
        s[near[~(np.abs(s[near]) > slip * terms)]] = 0.0
    return s


def margins_of(problem: Problem, w: Vector, sample_weight: Vector | None) -> Vector:
    """⟨a_i, w⟩ for the rows that take part."""
    return products(problem, w)[problem.active_rows(sample_weight)]


def scores(X: Matrix, W: Vector) -> Vector:
    """⟨x_i, W[:-1, k]⟩ + W[-1, k] for all rows i and columns k."""
    if len(W) != X.shape[1] + 1:
        raise ValueError(f"The weights have {len(W)} entries, the rows need {X.shape[1] + 1}.")
    weights = W[:-1, 0] if W.shape[1] == 1 else np.ascontiguousarray(W[:-1])
    with np.errstate(over="ignore", invalid="ignore"):
        if not isinstance(X, np.ndarray) and X.dtype == np.float64:
            return np.asarray((X @ weights).reshape(-1, W.shape[1]) + W[-1])  # nothing is copied
        out: Vector = np.empty((X.shape[0], W.shape[1]))
        for begin, end in row_blocks(X):
            part = X[begin:end].astype(np.float64, copy=False) @ weights
            out[begin:end] = part.reshape(-1, W.shape[1]) + W[-1]
        return out


def norms(problem: Problem) -> Vector:
    """‖a_i‖ of every row in the problem's unit, so that no square overflows."""
    out = np.empty(problem.n)
    for begin, end in row_blocks(problem.X):
        out[begin:end] = _squared_norms(problem.rows, begin, end, 1.0 / problem.unit)
    return np.sqrt(out + (problem.rows.bias / problem.unit) ** 2)


def row_blocks(X: Matrix) -> Iterator[tuple[int, int]]:
    """Ranges of rows, one after the other, of which products take little memory."""
    n = X.shape[0]
    if isinstance(X, np.ndarray):
        size = DENSE_BLOCK // max(1, X.shape[1])
    else:
        size = CSR_BLOCK * n // max(1, X.nnz)
    for begin in range(0, n, max(1, size)):
        yield begin, min(n, begin + max(1, size))


def _squared_norms(rows: Rows, begin: int, end: int, factor: float = 1.0) -> Vector:
    """‖factor·x_i‖² of a stretch of rows, in float64."""
    with np.errstate(all="ignore"):
        if isinstance(rows, _rows.Dense):
            part = rows.X[begin:end].astype(np.float64, copy=False)
            part = part if factor == 1.0 else part * factor
            return np.asarray(np.einsum("ij,ij->i", part, part))
        starts = rows.indptr[begin : end + 1].astype(np.int64)
        squares = np.multiply(rows.data[starts[0] : starts[-1]], factor, dtype=np.float64)
        np.square(squares, out=squares)
        out, filled = np.zeros(end - begin), np.flatnonzero(np.diff(starts))
        if len(filled) > 0:
            out[filled] = np.add.reduceat(squares, starts[filled] - starts[0])
        return out


def _complaint(
    X: Matrix, unclear: _rows.Indices, names: Sequence[Hashable] | None, first: int
) -> str:
    from scipy.sparse import coo_array  # here, for those whose data is finite

    entries = coo_array(X[unclear])
    k = int(np.argmin(np.isfinite(entries.data)))
    i, column = int(unclear[entries.coords[0][k]]), int(entries.coords[1][k])
    what = "NaN" if np.isnan(entries.data[k]) else "infinity"
    return missing_value(what, first + i, column, None if names is None else names[column])
