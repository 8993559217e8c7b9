"""Parts: consecutive rows of a problem with their signs, wherever they are stored.

On dense rows the results have the same bits wherever the rows are. On sparse rows, products and R
may be rounded differently, because the rows that share a block of the matrix differ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Mask, Matrix, Signs, Vector
from novikoff.proofs import exact
from novikoff.proofs.exact import Block

# The number of entries in a range of rows, about: a few megabytes.
ENTRIES_PER_RANGE = 1 << 19
# The number of sparse rows that are copied into one dense block.
SPARSE_ROWS_PER_BLOCK = 32


class PerRow(ABC):
    """A value of every row that is computed for the rows of a part when it is needed.

    It replaces an array with one value for each row if the rows are in other processes.
    """

    @abstractmethod
    def values_on(self, part: Part) -> npt.NDArray[Any]:
        """Return the values of the rows of a part."""


# A set of rows, and the lengths of all rows.
RowSet: TypeAlias = Mask | PerRow
Lengths: TypeAlias = Vector | PerRow


class NumberedRows(ABC):
    """Rows with p columns that can be fetched by number."""

    p: int
    sparse: bool

    @abstractmethod
    def block(self, at: Indices) -> Block:
        """Return rows by number, signed, in float64."""

    def blocks(self, at: Indices) -> Iterator[tuple[slice, Block]]:
        """Yield blocks of rows, each with the range of ``at`` that it contains.

        The blocks of sparse rows are small, because each becomes a dense array.
        """
        stride = SPARSE_ROWS_PER_BLOCK if self.sparse else max(1, ENTRIES_PER_RANGE // self.p)
        for k in range(0, len(at), stride):
            places = slice(k, min(k + stride, len(at)))
            yield places, self.block(at[places])

    def at(self, rows: Indices) -> Vector:
        """Return rows by number, signed, as a dense array of p columns."""
        block = self.block(np.asarray(rows, dtype=np.int64))
        return block.A if len(block.columns) == self.p else block.spread(block.A)


class Part(NumberedRows):
    """Consecutive rows of a problem as they are stored, and their signs.

    ``first`` is the number of the first row among all rows.
    """

    def __init__(self, first: int, X: Matrix, signs: Signs, fit_intercept: bool) -> None:
        self.first, self.X, self.signs, self.fit_intercept = first, X, signs, fit_intercept
        self.n, self.d = len(signs), int(X.shape[1])
        self.p = self.d + int(fit_intercept)  # the number of weights
        self.sparse = not isinstance(X, np.ndarray)

    @property
    def numbers(self) -> Indices:
        """The number of each row among all rows."""
        return np.arange(self.first, self.first + self.n)

    def values_of(self, values: npt.NDArray[Any] | PerRow) -> npt.NDArray[Any]:
        """Return the values of these rows, given values for all rows."""
        if isinstance(values, PerRow):
            return values.values_on(self)
        return values[self.first : self.first + self.n]

    def sums_of_sparse_rows(self, rows: Indices) -> list[int]:
        """Return the exact sum of signed rows of a sparse matrix, as `exact.column_sums` does."""
        signs = self.signs[rows].astype(np.float64)
        chosen: Any = self.X
        chosen = chosen[rows]
        factors = np.repeat(signs, np.diff(chosen.indptr))
        sums = exact.sums_by_column(chosen.indices, chosen.data * factors, self.d)
        if self.fit_intercept:
            sums += exact.column_sums(signs[:, None])
        return sums

    def range(self, first: int, last: int) -> Part:
        """Return the rows from ``first`` to ``last`` of this part, without a copy."""
        X: Matrix
        if isinstance(self.X, np.ndarray):
            X = self.X[first:last]
        else:
            import scipy.sparse as sp

            ends = self.X.indptr[first : last + 1]
            stretch = slice(int(ends[0]), int(ends[-1]))
            entries = self.X.data[stretch], self.X.indices[stretch], ends - ends[0]
            X = sp.csr_array(entries, shape=(last - first, self.d), copy=False)
        return Part(self.first + first, X, self.signs[first:last], self.fit_intercept)

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges of rows of a few megabytes, which depend on the data alone."""
        stride = max(1, ENTRIES_PER_RANGE * self.n // max(1, self.X.size + self.n))
        return [(first, min(first + stride, self.n)) for first in range(0, self.n, stride)]

    def products(self, w: Vector, centre: Vector | None = None) -> Vector:
        """Return ⟨a_i, w⟩ for every row, in floats; of x_i − centre if a centre is given."""
        if isinstance(self.X, np.ndarray):
            X = self.X.astype(np.float64, copy=False) if centre is None else self.X - centre
            products = np.vecdot(X, w[: self.d])  # no row changes a bit of the product of another
        else:
            products = self.X @ w[: self.d]
        if self.fit_intercept:
            products = products + w[self.d]
        return np.asarray(products * self.signs)

    def squares(self, columns: Vector, centre: Vector | None) -> tuple[Vector, Vector]:
        """Return ‖a_i‖² for every row and max_i |a_ij| for every column, after scaling columns."""
        d, padding = self.d, columns[self.d :]
        if isinstance(self.X, np.ndarray):
            S = (self.X if centre is None else self.X - centre) * columns[:d]
            squares = np.einsum("ij,ij->i", S, S)
            peaks = np.maximum(S.max(axis=0, initial=0.0), -S.min(axis=0, initial=0.0))
        else:
            values = self.X.data * columns[self.X.indices]
            row = np.repeat(np.arange(self.n), np.diff(self.X.indptr))
            squares = np.bincount(row, values * values, minlength=self.n)
            peaks = np.zeros(d)
            np.maximum.at(peaks, self.X.indices, np.abs(values))
        return squares + float((padding * padding).sum()), np.append(peaks, padding)

    def lengths(self, columns: Vector, centre: Vector | None) -> Vector:
        """Return ‖a_i‖ for every row after scaling columns; 1 for rows of zeros."""
        lengths = np.sqrt(self.squares(columns, centre)[0])
        return np.where(lengths > 0.0, lengths, 1.0)

    def block(self, at: Indices | None = None) -> Block:
        """Return rows by their place in this part, signed, in float64; all rows by default."""
        X, signs = (self.X, self.signs) if at is None else (self.X[at], self.signs[at])
        if isinstance(X, np.ndarray):
            return exact.dense_block(X, signs, self.fit_intercept)
        entries = np.diff(X.indptr), X.indices, X.data
        return exact.sparse_block(*entries, self.d, signs, self.fit_intercept)
