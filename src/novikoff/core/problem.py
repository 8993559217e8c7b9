"""Checked rows, and separation problems, which consist of rows with signs.

`Rows` are the rows [x_i, 1] of a matrix. All entries are checked once, when the rows are made, and
the numbers that every bound needs are computed then. A `Problem` has a sign y_i for each row, and
a_i = y_i·[x_i, 1]. The question is whether some w has ⟨a_i, w⟩ > 0 for all i. Several problems, for
instance each class against the rest, share their rows.

Products are computed by NumPy and SciPy, for one block of rows after the other. Memory-mapped data
is read from front to back, and float32 is converted one block at a time. Nothing is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from novikoff.core.rows import (
    Indices,
    Matrix,
    SignedRows,
    Signs,
    Vector,
    canonical_rows,
    frozen,
    n_stored,
    signed_rows,
    stored_numbers,
)
from novikoff.core.validation import missing_value

# The number of entries in a block of rows. A dense block fits into the cache of the processor. A
# sparse block is large enough that the call of a product costs little.
DENSE_BLOCK, CSR_BLOCK = 1 << 17, 1 << 20

_ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows [x_i, 1] of a matrix, or [x_i, 0] without an intercept; all entries are finite.

    The radius is R = max‖[x_i, 1]‖, rounded up: R is never below the true value, and infinite if
    the true value is beyond the range of float64.
    """

    X: Matrix
    fit_intercept: bool
    radius: float
    longest: int  # the largest number of terms in a product ⟨[x_i, 1], w⟩

    @staticmethod
    def of(
        X: Matrix,
        fit_intercept: bool,
        *,
        names: Sequence[Hashable] | None = None,
        first: int = 0,
    ) -> Rows:
        """Check all entries of X in one pass.

        Raises
        ------
        ValueError
            If an entry is NaN or infinite. The message names the row, counted from ``first``, and
            the column, by its name if there are ``names``.

        Examples
        --------
        >>> Rows.of(np.array([[3.0, 4.0]]), fit_intercept=False).radius >= 5.0
        True
        """
        X, bias = canonical_rows(X), 1.0 if fit_intercept else 0.0
        longest = X.shape[1]
        if not isinstance(X, np.ndarray):
            longest = int(np.diff(X.indptr).max(initial=0))
        largest_sq = largest = 0.0
        for begin, end in row_blocks(X):
            squares = _squared_norms(X, begin, end) + bias
            largest_sq = max(largest_sq, float(squares.max()))
            # Where squares overflow or underflow, look at the entries themselves.
            unclear = begin + np.flatnonzero(~((squares > 1e-280) & (squares < 1e300)))
            if len(unclear) > 0:
                sizes = np.abs(stored_numbers(X[unclear]))
                if not np.isfinite(sizes).all():
                    raise ValueError(_complaint(X, unclear, names, first))
                largest = max(largest, float(sizes.max(initial=0.0)))
        radius = math.sqrt(largest_sq)
        if not 1e-280 < largest_sq < 1e300:
            radius = math.sqrt(longest + 1) * max(largest, bias)
        if radius > 0.0:
            radius = math.nextafter(radius * (1.0 + (longest + 5) * _ULP), math.inf)
        return Rows(X, bool(fit_intercept), radius, longest + 1)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """The number of features."""
        return int(self.X.shape[1])

    @property
    def p(self) -> int:
        """The length d + 1 of a weight vector, whose last entry is the bias, or 0 if there is none.

        The p of `novikoff.geometry.passes.Passes` counts the weights: it is d without a bias.
        """
        return int(self.X.shape[1]) + 1

    def padded(self, w: Vector) -> Vector:
        """Weights of d or d + 1 entries as d + 1 entries; a missing bias is 0."""
        return np.append(w, 0.0)[: self.p]

    @property
    def bias(self) -> float:
        """The last entry of every row: 1 with an intercept, else 0."""
        return 1.0 if self.fit_intercept else 0.0

    @property
    def unit(self) -> float:
        """A power of two near R: in this unit, products of rows stay within float64."""
        return unit_of(self.radius)

    def with_signs(self, signs: Signs) -> Problem:
        """The problem of these rows with a sign for each; its radius is the same."""
        return Problem(self.X, self.fit_intercept, self.radius, self.longest, frozen(signs))

    def all_positive(self) -> Problem:
        """The problem in which the sign of every row is +1."""
        return self.with_signs(np.ones(self.n, dtype=np.int8))

    def rows_within(self, n: int) -> int:
        """The number of rows, at least 1, that have about n entries."""
        return max(1, n * self.n // (n_stored(self.X) + self.n + 1))


@dataclass(frozen=True, eq=False)
class Problem(Rows):
    """Rows with signs, a_i = y_i·[x_i, 1]; rows of sign 0 are left out of the problem."""

    signs: Signs

    @cached_property
    def arrays(self) -> SignedRows:
        """The arrays of the signed rows, as compiled loops take them."""
        return signed_rows(self.X, self.signs, self.fit_intercept)

    def part(self, rows: Indices) -> Problem:
        """The problem of some of the rows; its radius R is computed again."""
        return signed_problem(self.X[rows], self.signs[rows], self.fit_intercept)

    def active_rows(self, sample_weight: Vector | None = None) -> Indices:
        """The numbers of the rows whose sign is not 0 and whose ``sample_weight`` is positive."""
        if sample_weight is None:
            return np.flatnonzero(self.signs)
        return np.flatnonzero(self.signs * (sample_weight > 0.0))


def signed_problem(X: Matrix, signs: Signs, fit_intercept: bool) -> Problem:
    """Check the rows of X, and give each a sign.

    ValueError if an entry of X is NaN or infinite.
    """
    return Rows.of(X, fit_intercept).with_signs(signs)


def unit_of(radius: float) -> float:
    """A power of two near R; 1 if R is 0."""
    return math.ldexp(1.0, math.frexp(min(radius, 2.0**1000))[1] - 1) if radius > 0.0 else 1.0


def products(problem: Problem, w: Vector) -> Vector:
    """⟨a_i, w⟩ for all rows i."""
    weights = np.ascontiguousarray(w) if problem.fit_intercept else np.append(w[:-1], 0.0 * w[-1])
    return scores(problem.X, weights[:, None])[:, 0] * problem.signs


def sure_products(problem: Problem, w: Vector) -> Vector:
    """Return ⟨a_i, w⟩ for all rows i, with 0 for each product whose sign may be wrong by rounding.

    The rounded product is within γ_k·Σ_j |a_ij·w_j| of the exact product, with γ_k = ku/(1 − ku)
    for k terms (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1).

    Examples
    --------
    >>> X, signs = np.array([[0.9, 0.45], [3.0, 1.0]]), np.array([1, 1], dtype=np.int8)
    >>> problem = signed_problem(X, signs, False)
    >>> sure_products(problem, np.array([-1e15, 2e15 + 0.25, 0.0]))
    array([ 0.e+00, -1.e+15])
    """
    s, sizes = products(problem, w), np.abs(w)
    slip = (problem.longest + 6) * _ULP
    with np.errstate(over="ignore", invalid="ignore"):
        lengths, slip_of_all = np.abs(s), slip * problem.radius * float(sizes.sum())
        if lengths.min(initial=math.inf) > slip_of_all:  # false if a product is NaN
            return s
        near = np.flatnonzero(~(lengths > slip_of_all))
        rows = problem.X[near]
        terms = abs(rows) @ sizes[:-1] + problem.bias * sizes[-1]
        s[near[~(lengths[near] > slip * terms)]] = 0.0
    return s


def margins_of(problem: Problem, w: Vector, sample_weight: Vector | None) -> Vector:
    """Return ⟨a_i, w⟩ for the rows whose sign and ``sample_weight`` are not 0."""
    return products(problem, w)[problem.active_rows(sample_weight)]


def scores(X: Matrix, W: Vector) -> Vector:
    """Return the scores ⟨x_i, W[:-1, k]⟩ + W[-1, k] for all rows i and columns k."""
    if len(W) != X.shape[1] + 1:
        raise ValueError(f"The weights have {len(W)} entries, but the rows need {X.shape[1] + 1}.")
    coef = W[:-1, 0] if W.shape[1] == 1 else np.ascontiguousarray(W[:-1])
    with np.errstate(over="ignore", invalid="ignore"):
        small = isinstance(X, np.ndarray) and X.size <= DENSE_BLOCK
        if X.dtype == np.float64 and (small or not isinstance(X, np.ndarray)):
            return np.asarray((X @ coef).reshape(-1, W.shape[1]) + W[-1])  # X is not copied
        out: Vector = np.empty((X.shape[0], W.shape[1]))
        for begin, end in row_blocks(X):
            part = X[begin:end].astype(np.float64, copy=False) @ coef
            out[begin:end] = part.reshape(-1, W.shape[1]) + W[-1]
        return out


def norms(rows: Rows) -> Vector:
    """Return ‖[x_i, 1]‖ = ‖a_i‖ of every row in the unit of the rows, which avoids overflow."""
    out = np.empty(rows.n)
    for begin, end in row_blocks(rows.X):
        out[begin:end] = _squared_norms(rows.X, begin, end, 1.0 / rows.unit)
    return np.sqrt(out + (rows.bias / rows.unit) ** 2)


def row_blocks(X: Matrix) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, one after the other, whose products need little memory."""
    n = X.shape[0]
    if isinstance(X, np.ndarray):
        size = DENSE_BLOCK // max(1, X.shape[1])
    else:
        size = CSR_BLOCK * n // max(1, X.nnz)
    for begin in range(0, n, max(1, size)):
        yield begin, min(n, begin + max(1, size))


def _squared_norms(X: Matrix, begin: int, end: int, factor: float = 1.0) -> Vector:
    """‖factor·x_i‖² of a block of rows, in float64."""
    with np.errstate(all="ignore"):
        if isinstance(X, np.ndarray):
            part = X[begin:end].astype(np.float64, copy=False)
            part = part if factor == 1.0 else part * factor
            return np.asarray(np.einsum("ij,ij->i", part, part))
        starts = X.indptr[begin : end + 1].astype(np.int64)
        squares = np.multiply(X.data[starts[0] : starts[-1]], factor, dtype=np.float64)
        np.square(squares, out=squares)
        out, filled = np.zeros(end - begin), np.flatnonzero(np.diff(starts))
        if len(filled) > 0:
            out[filled] = np.add.reduceat(squares, starts[filled] - starts[0])
        return out


def _complaint(X: Matrix, unclear: Indices, names: Sequence[Hashable] | None, first: int) -> str:
    """Return the error message about the first NaN or infinity in the rows ``unclear``."""
    from scipy.sparse import coo_array  # imported here because finite data does not need it

    entries = coo_array(X[unclear])
    k = int(np.argmin(np.isfinite(entries.data)))
    i, column = int(unclear[entries.coords[0][k]]), int(entries.coords[1][k])
    what = "NaN" if np.isnan(entries.data[k]) else "infinity"
    return missing_value(what, first + i, column, None if names is None else names[column])
