"""Passes over all rows: the only way in which the verdict sees them.

A few rows are copied into memory and solved there; all others are seen by a `Visit`, which looks
at one range of rows after another. The ranges are fixed by the data, threads share them, and the
results are merged. No result depends on the order of merging: sums are exact, minima are taken
with ties broken by row number. So a cluster gives the bits of one core on dense rows; of sparse
rows, products and R may be rounded otherwise where other rows share a block.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, unit_of
from novikoff.core.rows import Indices, Matrix, Vector
from novikoff.core.stops import Limits
from novikoff.proofs import exact
from novikoff.proofs.exact import Block, Numbers, Signs

# Entries that one range of rows has, about: a few megabytes.
ENTRIES_PER_RANGE = 1 << 19
# Rows of a sparse matrix that are copied into one dense block.
SPARSE_ROWS_PER_BLOCK = 32
_ULP = 2.0**-52
_UNDERFLOW = 2.0**-1000

Mask = npt.NDArray[np.bool_]


class OutOfTimeError(Exception):
    """A limit was reached before the answer was known."""


def check_time(limits: Limits, seconds: float = 0.0) -> None:
    """Give up where time is over, or something would take longer than there is time for."""
    left = limits.left()
    if limits.reached() is not None or (left is not None and seconds > left):
        raise OutOfTimeError


@dataclass
class Visit:
    """A question to all rows; the fields of the answer begin empty, and are not given."""

    def blank(self) -> Self:
        """The same question, nothing seen yet."""
        return replace(self)

    def look_at(self, part: Part) -> None:
        """Take a range of rows into account."""
        raise NotImplementedError

    def merge(self, other: Self) -> None:
        """Take into account what another visit has seen, of other rows."""
        raise NotImplementedError


V = TypeVar("V", bound=Visit)


class PerRow:
    """A value of every row, computed for the rows of a part when it is asked for.

    Where rows are remote, it replaces an array with a value for each row.
    """

    def of(self, part: Part) -> npt.NDArray[Any]:
        """The values of the rows of a part."""
        raise NotImplementedError


RowSet: TypeAlias = Mask | PerRow
Lengths: TypeAlias = Vector | PerRow


class _ByNumber:
    """Rows that can be asked for by number."""

    p: int
    sparse: bool

    def block(self, at: Indices) -> Block:
        """Rows by number, signed, in float64."""
        raise NotImplementedError

    def blocks(self, at: Indices) -> Iterator[tuple[slice, Block]]:
        """The same some at a time, few where rows are sparse, and which of them these are."""
        stride = SPARSE_ROWS_PER_BLOCK if self.sparse else max(1, ENTRIES_PER_RANGE // self.p)
        for k in range(0, len(at), stride):
            some = slice(k, min(k + stride, len(at)))
            yield some, self.block(at[some])

    def at(self, rows: Indices) -> Vector:
        """Rows by number, as a dense array of p columns."""
        block = self.block(np.asarray(rows, dtype=np.int64))
        return block.A if len(block.columns) == self.p else block.spread(block.A)


class Part(_ByNumber):
    """The rows first, first + 1, … of a problem: x_i as stored, and their signs."""

    def __init__(self, first: int, X: Matrix, signs: Signs, fit_intercept: bool) -> None:
        self.first, self.X, self.signs, self.fit_intercept = first, X, signs, fit_intercept
        self.n, self.d = len(signs), int(X.shape[1])
        self.p = self.d + int(fit_intercept)  # the number of weights
        self.sparse = not isinstance(X, np.ndarray)

    @property
    def numbers(self) -> Indices:
        """The number of each row among all."""
        return np.arange(self.first, self.first + self.n)

    def of(self, values: npt.NDArray[Any] | PerRow) -> npt.NDArray[Any]:
        """The values of these rows, of values for all."""
        if isinstance(values, PerRow):
            return values.of(self)
        return values[self.first : self.first + self.n]

    def range(self, first: int, last: int) -> Part:
        """Some of the rows, by their place in this part, without a copy."""
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
        """Ranges of rows of a few megabytes, fixed by the data."""
        stride = max(1, ENTRIES_PER_RANGE * self.n // max(1, self.X.size + self.n))
        return [(first, min(first + stride, self.n)) for first in range(0, self.n, stride)]

    def products(self, w: Vector, centre: Vector | None = None) -> Vector:
        """⟨a_i, w⟩ for every row, in floats; of x_i − centre where one is given."""
        if isinstance(self.X, np.ndarray):
            X = self.X.astype(np.float64, copy=False) if centre is None else self.X - centre
            found = np.vecdot(X, w[: self.d])  # each row by itself: no other changes a bit of it
        else:
            found = self.X @ w[: self.d]
        if self.fit_intercept:
            found = found + w[self.d]
        return np.asarray(found * self.signs)

    def squares(self, columns: Vector, centre: Vector | None) -> tuple[Vector, Vector]:
        """‖a_i‖² of every row and max_i |a_ij| of every column, the columns times factors."""
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
        """‖a_i‖ of every row, the columns times factors; 1 for rows of zeros."""
        found = np.sqrt(self.squares(columns, centre)[0])
        return np.where(found > 0.0, found, 1.0)

    def block(self, at: Indices | None = None) -> Block:
        """Rows by their place in this part, signed, in float64; all by default."""
        X, signs = (self.X, self.signs) if at is None else (self.X[at], self.signs[at])
        if isinstance(X, np.ndarray):
            return exact.dense_block(X, signs, self.fit_intercept)
        entries = np.diff(X.indptr), X.indices, X.data
        return exact.sparse_block(*entries, self.d, signs, self.fit_intercept)


class Passes(_ByNumber):
    """All rows of a problem, wherever they are: `LocalPasses` has them in memory or on disk.

    A pass is a visit that looks at all rows; a few rows can be fetched by number. Sets of rows
    are masks, or predicates where rows are remote.
    """

    n: int
    d: int
    fit_intercept: bool
    radius: float  # max‖a_i‖, rounded up
    longest: int  # the largest number of terms in a product ⟨a_i, w⟩
    first_rows: dict[int, int]  # the first row of each sign that there is
    remote = False  # whether rows are in other processes

    def over(self, visit: V, limits: Limits) -> V:
        """Let a visit look at all rows; OutOfTimeError if a limit is reached."""
        raise NotImplementedError

    def fetch(self, rows: Indices) -> Part:
        """Rows by number, as the rows 0, 1, … of a part."""
        raise NotImplementedError

    def all_rows(self) -> RowSet:
        """The set of all rows."""
        raise NotImplementedError

    def row_set(self, rows: Indices) -> RowSet:
        """The set of a few rows."""
        raise NotImplementedError

    def difference(self, rows: RowSet, others: RowSet) -> RowSet:
        """A set without the rows of another."""
        raise NotImplementedError

    def rows_at_zero(self, rows: RowSet, seen: ExactSigns) -> RowSet:
        """Those rows of a set that have the sign 0, given that all of the set were looked at."""
        raise NotImplementedError

    def size(self, rows: RowSet) -> int:
        """The number of rows of a set."""
        raise NotImplementedError

    def members_of(self, rows: RowSet, few: Indices) -> Indices:
        """Those of a few rows that are in a set."""
        raise NotImplementedError

    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> Lengths:
        """‖a_i‖ for every row as `Part.lengths` has it."""
        raise NotImplementedError

    def without_empty_columns(self) -> tuple[Passes, Indices] | None:
        """Rows without their empty columns, and the columns left; None unless most are empty."""
        return None

    def block(self, at: Indices) -> Block:
        """Rows by number, signed, in float64."""
        return self.fetch(at).block()

    @property
    def unit(self) -> float:
        """A power of two near R: in this unit, products of rows stay within float64."""
        return unit_of(self.radius)

    def least(self, w: Numbers, limits: Limits) -> Least:
        """The least ⟨a_i, w⟩ of either side, proved."""
        return self.over(Least(w, self.doubt(w.near)), limits)

    def first(self, rows: RowSet, limits: Limits) -> Indices:
        """The first row of a set: all products with w = 0 are equal, and ties go by row number."""
        visit = MostViolated(np.zeros(self.p), None, math.inf, 1, within=rows)
        return self.over(visit, limits).rows

    def subset(self, rows: Indices) -> LocalPasses:
        """A few rows as a problem of their own, copied."""
        few = self.fetch(rows)
        own = Problem(few.X, self.fit_intercept, self.radius, self.longest, few.signs)
        return LocalPasses(own)

    def whole(self, rows: Indices) -> tuple[exact.Integers, int]:
        """Rows by number as integers N and an exponent e, N·2^e exactly."""
        return exact.integers(self.at(rows))

    def exact_sum(self, within: RowSet, limits: Limits) -> list[Fraction]:
        """Σ a_i over some rows."""
        return exact.as_fractions(self.over(ColumnSums(within), limits).sums)

    def exact_signs(self, w: Numbers, within: RowSet | None, limits: Limits) -> ExactSigns:
        """The signs of ⟨a_i, w⟩ of some rows, and the row that is most on the wrong side."""
        return self.over(ExactSigns(w, self.doubt(w.near), within, not self.remote), limits)

    def doubt(self, w: Vector, radius: float | None = None) -> float:
        """How far a product with w may be from the truth, in whatever order it is summed.

        Each is within γ_k·‖a_i‖‖w‖, γ_k = ku/(1 − ku) for k terms (Higham, Accuracy and Stability
        of Numerical Algorithms, §3.1); four times that covers the rounding of this bound, of
        x_i − centre, and of the bound on the norm.
        """
        k = self.longest + 6
        size = float(np.linalg.norm(w))
        if not 2.0**-500 < size < 2.0**500:  # its square may not be a float
            size = math.sqrt(len(w)) * float(np.abs(w).max(initial=0.0))
        return 2.0 * k * _ULP * (self.radius if radius is None else radius) * size + (
            _UNDERFLOW * (1.0 + size)
        )


class LocalPasses(Passes):
    """Rows in memory or on disk, seen range by range on every core.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[3.0], [1.0]]), np.array([1, -1], dtype=np.int8), True)
    >>> LocalPasses(problem).least(exact.floats(np.array([1.0, -2.0])), Limits()).separates
    True
    """

    def __init__(self, problem: Problem) -> None:
        exact.check_arithmetic()
        self.problem, self.X, self.signs = problem, problem.X, problem.signs
        self.fit_intercept = problem.fit_intercept
        self.all = Part(0, self.X, self.signs, self.fit_intercept)
        self.n, self.d, self.p, self.sparse = self.all.n, self.all.d, self.all.p, self.all.sparse
        self.radius, self.longest = problem.radius, problem.longest
        signs = {1: self.signs > 0, -1: self.signs < 0}
        self.first_rows = {side: int(np.argmax(own)) for side, own in signs.items() if own.any()}

    def over(self, visit: V, limits: Limits) -> V:
        """Let a visit look at all rows, on every core; OutOfTimeError if a limit is reached."""
        total = visit.blank()

        def look(ends: tuple[int, int]) -> V:
            check_time(limits)
            own = visit.blank()
            with np.errstate(all="ignore"):  # what overflows proves nothing
                own.look_at(self.all.range(*ends))
            return own

        ranges = self.all.ranges()
        if len(ranges) == 1:
            return look(ranges[0])
        with ThreadPoolExecutor(min(len(ranges), cores())) as pool:
            for own in pool.map(look, ranges):
                total.merge(own)
        return total

    def fetch(self, rows: Indices) -> Part:
        """Rows by number, as the rows 0, 1, … of a part."""
        return Part(0, self.X[rows], self.signs[rows], self.fit_intercept)

    def all_rows(self) -> Mask:
        """A mask of all rows."""
        return np.ones(self.n, dtype=np.bool_)

    def row_set(self, rows: Indices) -> Mask:
        """A mask of all rows in which these are marked."""
        marked = np.zeros(self.n, dtype=np.bool_)
        marked[rows] = True
        return marked

    def difference(self, rows: RowSet, others: RowSet) -> Mask:
        """A mask without the rows of another."""
        return np.asarray(self.all.of(rows) & ~self.all.of(others))

    def rows_at_zero(self, rows: RowSet, seen: ExactSigns) -> Mask:
        """Those rows of a mask that have the sign 0."""
        return np.asarray(self.all.of(rows) & (in_row_order(seen.signs) == 0))

    def size(self, rows: RowSet) -> int:
        """The number of rows of a mask."""
        return int(np.count_nonzero(self.all.of(rows)))

    def members_of(self, rows: RowSet, few: Indices) -> Indices:
        """Those of a few rows that are in a mask."""
        return few[self.all.of(rows)[few]]

    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> Vector:
        """‖a_i‖ for every row."""
        return in_row_order(self.over(RowLengths(columns, centre), limits).lengths)

    def without_empty_columns(self) -> tuple[LocalPasses, Indices] | None:
        """The same of sparse rows, as where names are hashed; dense ones are left as they are."""
        if isinstance(self.X, np.ndarray):
            return None
        from scipy.sparse import csr_array

        used, places = exact.used_columns(self.X.indices, self.d)
        used = used if len(used) > 0 else np.zeros(1, dtype=np.int64)
        if 2 * len(used) >= self.d:
            return None
        renumbered = self.X.data, places.astype(self.X.indices.dtype), self.X.indptr
        small = csr_array(renumbered, shape=(self.n, len(used)))
        small.has_canonical_format = True
        return LocalPasses(replace(self.problem, X=small)), used


def prove_signs(problem: Problem, w: Vector) -> bool:
    """Whether ⟨a_i, w⟩ > 0 for every row, proved; w has the bias last.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[3.0], [1.0]]), np.array([1, -1], dtype=np.int8), True)
    >>> prove_signs(problem, np.array([1.0, -2.0])), prove_signs(problem, np.array([1.0, -3.0]))
    (True, False)
    """
    passes = LocalPasses(problem)
    w = np.asarray(w, dtype=np.float64)[: passes.p]
    if not np.isfinite(w).all():
        return False
    return passes.least(exact.floats(w), Limits()).separates


@dataclass
class Least(Visit):
    """The least ⟨a_i, w⟩ among the positive rows and among the negative, as in `least_product`.

    It is None where there is no such row. ``doubt`` bounds the error of a product with the floats
    near w; where it is infinite, every row is looked at in its own bounds.
    """

    w: Numbers
    doubt: float = math.inf
    least: dict[int, Fraction | None] = field(
        init=False, default_factory=lambda: {1: None, -1: None}
    )

    def look_at(self, part: Part) -> None:
        """Take the rows into account that may have the least product."""
        self.look_at_near(part, part.products(self.w.near), self.doubt)

    def look_at_near(self, part: Part, products: Vector, doubt: float) -> None:
        """The same with products that are all within a doubt, up to a constant for each side."""
        for side in (1, -1):
            rows = np.flatnonzero(part.signs == side)
            if math.isfinite(doubt) and len(rows) > 0:
                m = products[rows]
                rows = rows[~(m > float(m.min()) + 2.0 * doubt)]
            for _, block in part.blocks(rows):
                self._note(side, exact.least_product(block.A, block.of(self.w)))

    def merge(self, other: Least) -> None:
        """Take the lesser of both."""
        for side, value in other.least.items():
            self._note(side, value)

    def _note(self, side: int, value: Fraction | None) -> None:
        known = self.least[side]
        if value is not None and (known is None or value < known):
            self.least[side] = value

    @property
    def all(self) -> Fraction:
        """The lesser of both sides."""
        return min(value for value in self.least.values() if value is not None)

    @property
    def separates(self) -> bool:
        """Whether all products are positive."""
        return self.all > 0


@dataclass
class MostViolated(Visit):
    """The rows of the least ⟨a_i, w⟩, and what w proves if all are positive.

    Scores are products with ``aim``, of rows less the ``centre``, divided by the rows' ``lengths``
    where given. The ``most`` least below the ``levels`` of the positive and the negative rows are
    kept; of each sign where ``by_side``. ``w`` is for the rows themselves: equal but for rounding.
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
    proof: Least | None = field(init=False)

    def __post_init__(self) -> None:
        self.proof = None if self.w is None else Least(self.w)

    @property
    def rows(self) -> Indices:
        """The rows that are kept."""
        return np.concatenate([rows for rows, _ in self.worst.values()])

    def look_at(self, part: Part) -> None:
        """Keep the worst of these rows."""
        m = part.products(self.aim, self.centre)
        within = np.ones(part.n, dtype=np.bool_) if self.within is None else part.of(self.within)
        positive = part.signs > 0
        self._lower(1, m[positive & within])
        self._lower(-1, m[~positive & within])
        if self.proof is not None and self.within is None and min(self.low.values()) > -self.doubt:
            self.proof.look_at_near(part, m, self.doubt)
        else:
            self.proof = None  # some row is on the wrong side, or not looked at
        scores = m if self.lengths is None else m / part.of(self.lengths)
        rows = np.flatnonzero((scores < np.where(positive, *self.levels)) & within)
        for side in (1, -1) if self.by_side else (0,):
            here = rows[part.signs[rows] == side] if side else rows
            own = scores[here]
            if len(own) > self.most:  # ties at the edge are decided below, by row number
                here = here[own <= np.partition(own, self.most - 1)[self.most - 1]]
            self._keep(side, here + part.first, scores[here])

    def merge(self, other: MostViolated) -> None:
        """Keep the worst of both."""
        if self.proof is not None and other.proof is not None:
            self.proof.merge(other.proof)
        else:
            self.proof = None
        for side, low in other.low.items():
            self._lower(side, np.array([low]))
        for side, kept in other.worst.items():
            self._keep(side, *kept)

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
    """max_i |a_ij| for every column, and the extremes of ‖a_i‖ > 0; columns times ``columns``."""

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
        """Take the larger, and the extremes."""
        self._note(other.peaks, other.shortest, other.longest)

    def _note(self, peaks: Vector, shortest: float, longest: float) -> None:
        self.peaks = peaks if len(self.peaks) == 0 else np.maximum(self.peaks, peaks)
        self.shortest = float(np.minimum(self.shortest, shortest))
        self.longest = float(np.maximum(self.longest, longest))


@dataclass
class RowLengths(Visit):
    """‖a_i‖ for every row, as `Part.lengths` has it."""

    columns: Vector
    centre: Vector | None = None
    lengths: dict[int, Vector] = field(init=False, default_factory=dict)

    def look_at(self, part: Part) -> None:
        """Measure these rows."""
        self.lengths[part.first] = part.lengths(self.columns, self.centre)

    def merge(self, other: RowLengths) -> None:
        """Take all rows."""
        self.lengths.update(other.lengths)


@dataclass
class ExactSigns(Visit):
    """The signs of ⟨a_i, w⟩ for an exact w, and the row that is most on the wrong side.

    Rows that are not ``within`` have the sign 0. The most negative ⟨a_i, w⟩/max|a_ij| counts, of
    equals the first; ``worst`` is −1 where there is none. ``positive`` and ``zero`` count rows
    that are ``within``. Signs are kept only where that is asked for.
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
        """Find the signs of these rows."""
        m = part.products(self.w.near)
        doubtful = ~(np.abs(m) > self.doubt)
        signs = np.where(doubtful, 0.0, np.sign(m)).astype(np.int8)
        within = np.ones(part.n, dtype=np.bool_) if self.within is None else part.of(self.within)
        signs[~within] = 0
        doubtful &= within
        unsure = np.flatnonzero(doubtful)
        for rows, block in part.blocks(unsure):
            signs[unsure[rows]] = exact.product_signs(block.A, block.of(self.w))
        if self.keep:
            self.signs[part.first] = signs
        self.positive += int(np.count_nonzero(signs > 0))
        self.zero += int(np.count_nonzero((signs == 0) & within))
        wrong = np.flatnonzero(signs < 0)
        for rows, block in part.blocks(wrong):
            sizes = np.abs(block.A).max(axis=1, initial=0.0)
            found = np.minimum(m[wrong[rows]], 0.0) / np.maximum(sizes, 1e-300)
            k = int(np.argmin(found))
            self._note(part.first + int(wrong[rows][k]), float(found[k]))

    def merge(self, other: ExactSigns) -> None:
        """Join the signs, and take the worse row."""
        self.signs.update(other.signs)
        self.positive, self.zero = self.positive + other.positive, self.zero + other.zero
        if other.worst >= 0:
            self._note(other.worst, other.least)

    def _note(self, row: int, value: float) -> None:
        if self.worst < 0 or (value, row) < (self.least, self.worst):
            self.worst, self.least = row, value


@dataclass
class ColumnSums(Visit):
    """Σ a_i over the rows ``within``, exactly, in units of `exact.column_sums`."""

    within: RowSet
    sums: Any = field(init=False, default=0)

    def look_at(self, part: Part) -> None:
        """Add these rows."""
        self.sums = self.sums + np.zeros(part.p, dtype=object)
        for _, block in part.blocks(np.flatnonzero(part.of(self.within))):
            self.sums += block.spread(np.array(exact.column_sums(block.A), dtype=object))

    def merge(self, other: ColumnSums) -> None:
        """Add what the other has seen."""
        self.sums = self.sums + other.sums


Values = TypeVar("Values", bound=np.generic)


def in_row_order(pieces: dict[int, npt.NDArray[Values]]) -> npt.NDArray[Values]:
    """Arrays by the number of their first row, one after the other."""
    return np.concatenate([pieces[first] for first in sorted(pieces)])


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
