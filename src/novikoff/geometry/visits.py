"""Visits: the questions that are asked about all rows, one range of rows at a time.

A `Visit` looks at one range of rows (a `Part`) after another and collects its answer. Visits that
have seen different rows are merged. No answer depends on the order of merging: sums are exact, and
minima are taken with ties broken by row number. `novikoff.geometry.passes` runs visits on threads
or on the workers of a cluster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Vector
from novikoff.geometry.parts import Lengths, Part, RowSet
from novikoff.proofs import exact
from novikoff.proofs.exact import Numbers, Signs

# The number of sparse rows whose products are computed in integers at a time.
_SPARSE_ROWS_AT_ONCE = 1 << 10


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
