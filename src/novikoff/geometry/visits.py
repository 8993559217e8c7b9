"""Visits: the questions that are asked about all rows, one range of rows at a time.

A `Visit` looks at one range of rows (a `Part`) after another and collects its answer. Visits that
have seen different rows are merged. No answer depends on the order of merging: sums are exact, and
minima are taken with ties broken by row number. `novikoff.geometry.passes` runs visits on threads
or on the workers of a cluster.

On dense rows the results have the same bits wherever the rows are. On sparse rows, products and R
may be rounded differently, because the rows that share a block of the matrix differ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.proofs import exact
from novikoff.proofs.exact import Block, Numbers, Signs

# The number of entries in a range of rows, about: a few megabytes.
ENTRIES_PER_RANGE = 1 << 19
# The number of sparse rows that are copied into one dense block.
SPARSE_ROWS_PER_BLOCK = 32
# The number of sparse rows whose products are computed in integers at a time.
_SPARSE_ROWS_AT_ONCE = 1 << 10

Mask: TypeAlias = npt.NDArray[np.bool_]


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


@dataclass
class RowQuestion(ABC):
    """A question about all rows; its answers about parts of the rows are merged.

    The fields of a subclass are the parameters of the question, and fields with ``init=False`` for
    the answer, which is empty at first.
    """

    def blank(self) -> Self:
        """Return the same question, with an empty answer."""
        return replace(self)

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the answer of another visit, which has seen other rows."""


@dataclass
class Visit(RowQuestion):
    """A question about signed rows."""

    @abstractmethod
    def look_at(self, part: Part) -> None:
        """Add a range of rows to the answer."""


Q = TypeVar("Q", bound=RowQuestion)
V = TypeVar("V", bound=Visit)


@dataclass
class LeastProducts(Visit):
    """A proved lower bound on ⟨a_i, w⟩ for the positive rows, and one for the negative rows.

    ``least`` has the bounds by sign, each as tight as `exact.least_product`; None if there is no
    row of this sign. ``doubt`` bounds the error of the products in floats; rows that cannot have
    the least product are skipped. If it is infinite, the error of each row is bounded by itself.
    """

    w: Numbers
    doubt: float = math.inf
    least: dict[int, Fraction | None] = field(
        init=False, default_factory=lambda: {1: None, -1: None}
    )

    def look_at(self, part: Part) -> None:
        """Bound the products of the rows that may have the least product."""
        self.look_at_near(part, part.products(self.w.near), self.doubt)

    def look_at_near(self, part: Part, products: Vector, doubt: float) -> None:
        """Bound the products, given products in floats that are off by at most ``doubt``.

        They may also be off by a constant for each sign.
        """
        for side in (1, -1):
            rows = np.flatnonzero(part.signs == side)
            if math.isfinite(doubt) and len(rows) > 0:
                m = products[rows]
                rows = rows[~(m > float(m.min()) + 2.0 * doubt)]
            for _, block in part.blocks(rows):
                self._note(side, exact.least_product(block.A, block.weights_of_columns(self.w)))

    def merge(self, other: LeastProducts) -> None:
        """Take the smaller bounds."""
        for side, value in other.least.items():
            self._note(side, value)

    def _note(self, side: int, value: Fraction | None) -> None:
        known = self.least[side]
        if value is not None and (known is None or value < known):
            self.least[side] = value

    @property
    def least_overall(self) -> Fraction:
        """The bound for all rows."""
        return min(value for value in self.least.values() if value is not None)

    @property
    def separates(self) -> bool:
        """Whether all products are positive: proved."""
        return self.least_overall > 0


@dataclass
class MostViolated(Visit):
    """The rows with the least ⟨a_i, w⟩, and a proof if all products are positive.

    The score of a row is its product with ``aim``, after subtraction of the ``centre`` and division
    by the length of the row, if these are given. The visit keeps the ``most`` rows with the least
    scores below the two ``levels``, for positive and for negative rows; if ``by_side``, so many of
    each sign. ``w`` are the weights for the rows themselves, equal to ``aim`` up to rounding.
    """

    aim: Vector
    w: Numbers | None
    doubt: float
    most: int
    levels: tuple[float, float] = (math.inf, math.inf)
    centre: Vector | None = None
    lengths: Lengths | None = None
    within: RowSet | None = None
    by_side: bool = False
    worst: dict[int, tuple[Indices, Vector]] = field(init=False, default_factory=dict)
    low: dict[int, float] = field(init=False, default_factory=lambda: {1: math.inf, -1: math.inf})
    proof: LeastProducts | None = field(init=False)

    def __post_init__(self) -> None:
        self.proof = None if self.w is None else LeastProducts(self.w)

    @property
    def rows(self) -> Indices:
        """The numbers of the rows that are kept."""
        return np.concatenate([rows for rows, _ in self.worst.values()])

    def look_at(self, part: Part) -> None:
        """Keep the rows with the least scores."""
        m = part.products(self.aim, self.centre)
        within = (
            np.ones(part.n, dtype=np.bool_) if self.within is None else part.values_of(self.within)
        )
        positive = part.signs > 0
        self._lower(1, m[positive & within])
        self._lower(-1, m[~positive & within])
        if self.proof is not None and self.within is None and min(self.low.values()) > -self.doubt:
            self.proof.look_at_near(part, m, self.doubt)
        else:
            self.proof = None  # some row is on the wrong side, or was not looked at
        scores = m if self.lengths is None else m / part.values_of(self.lengths)
        rows = np.flatnonzero((scores < np.where(positive, *self.levels)) & within)
        for side in (1, -1) if self.by_side else (0,):
            candidates = rows[part.signs[rows] == side] if side else rows
            violations = scores[candidates]
            if len(violations) > self.most:  # `_keep` breaks ties at the edge by row number
                candidates = candidates[
                    violations <= np.partition(violations, self.most - 1)[self.most - 1]
                ]
            self._keep(side, candidates + part.first, scores[candidates])

    def merge(self, other: MostViolated) -> None:
        """Keep the rows with the least scores of both."""
        if self.proof is not None and other.proof is not None:
            self.proof.merge(other.proof)
        else:
            self.proof = None
        for side, low in other.low.items():
            self._lower(side, np.array([low]))
        for side, rows_and_scores in other.worst.items():
            self._keep(side, *rows_and_scores)

    def _lower(self, side: int, m: Vector) -> None:
        self.low[side] = float(np.minimum(self.low[side], m.min(initial=np.inf)))  # or NaN

    def _keep(self, side: int, rows: Indices, scores: Vector) -> None:
        if side in self.worst:
            rows = np.concatenate([self.worst[side][0], rows])
            scores = np.concatenate([self.worst[side][1], scores])
        order = np.lexsort((rows, scores))[: self.most]
        self.worst[side] = rows[order], scores[order]


@dataclass
class Sizes(Visit):
    """max_i |a_ij| for every column, and the least and the largest ‖a_i‖ > 0.

    The columns are multiplied by the factors ``columns`` after subtraction of the ``centre``.
    """

    columns: Vector
    centre: Vector | None = None
    peaks: Vector = field(init=False, default_factory=lambda: np.empty(0))
    shortest: float = field(init=False, default=math.inf)
    longest: float = field(init=False, default=0.0)

    def look_at(self, part: Part) -> None:
        """Measure these rows."""
        squares, peaks = part.squares(self.columns, self.centre)
        lengths = np.sqrt(squares)
        lengths = lengths[lengths > 0.0]
        self._note(peaks, lengths.min(initial=math.inf), lengths.max(initial=0.0))

    def merge(self, other: Sizes) -> None:
        """Take the larger maxima and the more extreme lengths."""
        self._note(other.peaks, other.shortest, other.longest)

    def _note(self, peaks: Vector, shortest: float, longest: float) -> None:
        self.peaks = peaks if len(self.peaks) == 0 else np.maximum(self.peaks, peaks)
        self.shortest = float(np.minimum(self.shortest, shortest))
        self.longest = float(np.maximum(self.longest, longest))


@dataclass
class ExactSigns(Visit):
    """The exact signs of ⟨a_i, w⟩, and the row that is furthest on the wrong side.

    Rows that are not ``within`` a set have the sign 0. ``worst`` is the row with the most negative
    ⟨a_i, w⟩/max_j |a_ij|, the first of equals, or −1 if no product is negative. ``positive`` and
    ``zero`` count the rows of the set with these signs. ``signs`` are collected if ``keep``.
    """

    w: Numbers
    doubt: float
    within: RowSet | None = None
    keep: bool = True
    positive: int = field(init=False, default=0)
    zero: int = field(init=False, default=0)
    signs: dict[int, Signs] = field(init=False, default_factory=dict)
    worst: int = field(init=False, default=-1)
    least: float = field(init=False, default=math.inf)

    def look_at(self, part: Part) -> None:
        """Find the signs of these rows: in floats, then exactly where rounding may matter."""
        m = part.products(self.w.near)
        doubtful = ~(np.abs(m) > self.doubt)
        signs = np.where(doubtful, 0.0, np.sign(m)).astype(np.int8)
        within = (
            np.ones(part.n, dtype=np.bool_) if self.within is None else part.values_of(self.within)
        )
        signs[~within] = 0
        doubtful &= within
        unsure = np.flatnonzero(doubtful)
        if part.sparse and not part.fit_intercept:
            for k in range(0, len(unsure), _SPARSE_ROWS_AT_ONCE):
                rows_now = unsure[k : k + _SPARSE_ROWS_AT_ONCE]
                X: Any = part.X[rows_now]
                exactly = exact.sparse_product_signs(np.diff(X.indptr), X.indices, X.data, self.w)
                signs[rows_now] = exactly * part.signs[rows_now]
        else:
            for rows, block in part.blocks(unsure):
                signs[unsure[rows]] = exact.product_signs(block.A, block.weights_of_columns(self.w))
        if self.keep:
            self.signs[part.first] = signs
        self.positive += int(np.count_nonzero(signs > 0))
        self.zero += int(np.count_nonzero((signs == 0) & within))
        wrong = np.flatnonzero(signs < 0)
        for rows, block in part.blocks(wrong):
            sizes = np.abs(block.A).max(axis=1, initial=0.0)
            depths = np.minimum(m[wrong[rows]], 0.0) / np.maximum(sizes, 1e-300)
            k = int(np.argmin(depths))
            self._note(part.first + int(wrong[rows][k]), float(depths[k]))

    def merge(self, other: ExactSigns) -> None:
        """Collect the signs, and take the worse row."""
        self.signs.update(other.signs)
        self.positive, self.zero = self.positive + other.positive, self.zero + other.zero
        if other.worst >= 0:
            self._note(other.worst, other.least)

    def _note(self, row: int, value: float) -> None:
        if self.worst < 0 or (value, row) < (self.least, self.worst):
            self.worst, self.least = row, value


@dataclass
class ColumnSums(Visit):
    """The exact sum Σ a_i over a set of rows, in units of `exact.column_sums`."""

    within: RowSet
    sums: Any = field(init=False, default=0)

    def look_at(self, part: Part) -> None:
        """Add these rows."""
        self.sums = self.sums + np.zeros(part.p, dtype=object)
        within = np.flatnonzero(part.values_of(self.within))
        if part.sparse:
            self.sums += np.array(part.sums_of_sparse_rows(within), dtype=object)
            return
        for _, block in part.blocks(within):
            self.sums += block.spread(np.array(exact.column_sums(block.A), dtype=object))

    def merge(self, other: ColumnSums) -> None:
        """Add the sums."""
        self.sums = self.sums + other.sums


Values = TypeVar("Values", bound=np.generic)


def in_row_order(pieces: dict[int, npt.NDArray[Values]]) -> npt.NDArray[Values]:
    """Concatenate arrays that are given by the number of their first row."""
    return np.concatenate([pieces[first] for first in sorted(pieces)])
