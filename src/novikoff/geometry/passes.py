"""Passes over all rows: the only way in which a verdict reads all rows.

A working set of a few rows is copied into memory and solved there. Everything about the other rows
comes from passes: a visit (`novikoff.geometry.visits`) looks at all rows, range by range. The
ranges depend on the data alone, threads or workers share them, and the answers are merged.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from novikoff.core.problem import Problem, unit_of
from novikoff.core.rows import Indices, Mask, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.parts import Lengths, NumberedRows, Part, RowSet
from novikoff.geometry.visits import (
    ColumnSums,
    ExactSigns,
    LeastProducts,
    MostViolated,
    V,
    in_row_order,
)
from novikoff.proofs import exact
from novikoff.proofs.exact import UNIT_ROUNDOFF, Block, Numbers

# An upper bound on the error of a product by underflow, relative to 1 + ‖w‖.
_UNDERFLOW_ERROR = 2.0**-1000

Found = TypeVar("Found")


class OutOfTimeError(Exception):
    """A limit was reached before the answer was known."""


class TooLargeError(OutOfTimeError):
    """The dense factors of the projection would need too much memory."""


def check_time(limits: Limits, seconds: float = 0.0) -> None:
    """Raise OutOfTimeError if a limit is reached, or if fewer than ``seconds`` are left."""
    seconds_left = limits.seconds_left()
    if limits.reached() is not None or (seconds_left is not None and seconds > seconds_left):
        raise OutOfTimeError


class Passes(NumberedRows):
    """All rows of a problem, wherever they are stored.

    Here p is the number of weights: d, and one more if there is a bias. The weights of a `Rows`
    always have d + 1 entries.

    `LocalPasses` has rows in memory or on disk, `novikoff.cluster.passes.DaskPasses` rows in other
    processes. `over` makes a pass over all rows; `fetch` copies a few rows. Sets of rows are masks,
    or predicates if the rows are in other processes.
    """

    n: int
    d: int
    fit_intercept: bool
    radius: float  # max ‖a_i‖, rounded up
    longest: int  # the largest number of terms in a product ⟨a_i, w⟩
    first_rows: dict[int, int]  # the first row of each sign that occurs
    remote = False  # whether rows are in other processes

    @abstractmethod
    def over(self, visit: V, limits: Limits) -> V:
        """Run a visit on all rows; OutOfTimeError if a limit is reached."""

    @abstractmethod
    def fetch(self, rows: Indices) -> Part:
        """Return copies of rows by number, as the rows 0, 1, … of a part."""

    @abstractmethod
    def all_rows(self) -> RowSet:
        """Return the set of all rows."""

    @abstractmethod
    def row_set(self, rows: Indices) -> RowSet:
        """Return the set of a few rows."""

    @abstractmethod
    def difference(self, rows: RowSet, others: RowSet) -> RowSet:
        """Return a set of rows without the rows of another set."""

    @abstractmethod
    def rows_at_zero(self, rows: RowSet, signs: ExactSigns) -> RowSet:
        """Return the rows of a set that have the sign 0, given the signs of the set."""

    @abstractmethod
    def size(self, rows: RowSet) -> int:
        """Return the number of rows in a set."""

    @abstractmethod
    def members_of(self, rows: RowSet, numbers: Indices) -> Indices:
        """Return those of a few rows that are in a set."""

    @abstractmethod
    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> Lengths:
        """Return ‖a_i‖ for every row, after scaling columns (`Part.lengths`)."""

    def without_empty_columns(self) -> tuple[Passes, Indices] | None:
        """Return the rows without empty columns, and the columns that are left.

        None unless at least half of the columns are empty.
        """
        return None

    def block(self, at: Indices) -> Block:
        """Return rows by number, signed, in float64."""
        return self.fetch(at).block()

    @property
    def unit(self) -> float:
        """A power of two near R: in this unit, products of rows stay within float64."""
        return unit_of(self.radius)

    def least_products(self, w: Numbers, limits: Limits) -> LeastProducts:
        """Return proved lower bounds on ⟨a_i, w⟩ for the rows of either sign."""
        return self.over(LeastProducts(w, self.doubt(w.near)), limits)

    def separates(self, w: Vector) -> bool:
        """Return whether ⟨a_i, w⟩ > 0 for every row, proved.

        The last entry of w is the bias, which does not count if the problem has none.
        """
        w = np.asarray(w, dtype=np.float64)[: self.p]
        if not np.isfinite(w).all():
            return False
        return self.least_products(exact.floats(w), Limits()).separates

    def first_row(self, rows: RowSet, limits: Limits) -> Indices:
        """Return the first row of a set, as an array of one number."""
        # All products with w = 0 are equal, and ties are broken by row number.
        visit = MostViolated(np.zeros(self.p), None, math.inf, 1, within=rows)
        return self.over(visit, limits).rows

    def subset(self, rows: Indices) -> LocalPasses:
        """Return copies of a few rows as a problem of their own."""
        part = self.fetch(rows)
        problem = Problem(part.X, self.fit_intercept, self.radius, self.longest, part.signs)
        return LocalPasses(problem)

    def as_integers(self, rows: Indices) -> tuple[exact.Integers, int]:
        """Return rows by number as integers N and an exponent e: the rows are N·2^e exactly."""
        return exact.integers(self.at(rows))

    def exact_sum(self, within: RowSet, limits: Limits) -> list[Fraction]:
        """Return Σ a_i over a set of rows, exactly."""
        return exact.as_fractions(self.over(ColumnSums(within), limits).sums)

    def exact_signs(self, w: Numbers, within: RowSet | None, limits: Limits) -> ExactSigns:
        """Return the exact signs of ⟨a_i, w⟩ on a set of rows, and the worst row."""
        return self.over(ExactSigns(w, self.doubt(w.near), within, not self.remote), limits)

    def doubt(self, w: Vector, radius: float | None = None) -> float:
        """Return a bound on the error of a product ⟨a_i, w⟩ in floats, in any order of summation.

        With k terms the error is at most γ_k·‖a_i‖·‖w‖, where γ_k = ku/(1 − ku) for the unit
        roundoff u (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, §3.1). Four
        times this bound also covers the rounding of the bound, of x_i − centre, and of ‖w‖.
        """
        k = self.longest + 6
        size = float(np.linalg.norm(w))
        if not 2.0**-500 < size < 2.0**500:  # its square may overflow or underflow
            size = math.sqrt(len(w)) * float(np.abs(w).max(initial=0.0))
        longest = self.radius if radius is None else radius
        return 4.0 * k * UNIT_ROUNDOFF * longest * size + _UNDERFLOW_ERROR * (1.0 + size)


class LocalPasses(Passes):
    """Rows in memory or on disk; every core looks at some of their ranges.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> problem = signed_problem(np.array([[3.0], [1.0]]), np.array([1, -1], dtype=np.int8), True)
    >>> LocalPasses(problem).least_products(exact.floats(np.array([1.0, -2.0])), Limits()).separates
    True
    """

    def __init__(self, problem: Problem) -> None:
        exact.check_arithmetic()
        self.problem, self.X, self.signs = problem, problem.X, problem.signs
        self.fit_intercept = problem.fit_intercept
        self.whole_part = Part(0, self.X, self.signs, self.fit_intercept)
        self.n, self.d = self.whole_part.n, self.whole_part.d
        self.p, self.sparse = self.whole_part.p, self.whole_part.sparse
        self.radius, self.longest = problem.radius, problem.longest
        sides = {1: self.signs > 0, -1: self.signs < 0}
        self.first_rows = {sign: int(np.argmax(on)) for sign, on in sides.items() if on.any()}

    def over(self, visit: V, limits: Limits) -> V:
        """Run a visit on all rows, on every core; OutOfTimeError if a limit is reached."""

        def look(part: Part) -> V:
            partial = visit.blank()
            partial.look_at(part)
            return partial

        answers = self._for_each_range(look, limits)
        total = next(answers)
        for partial in answers:
            total.merge(partial)
        return total

    def _for_each_range(self, function: Callable[[Part], Found], limits: Limits) -> Iterator[Found]:
        """Apply a function to each range of the rows, on every core."""

        def apply(ends: tuple[int, int]) -> Found:
            check_time(limits)
            with np.errstate(all="ignore"):  # a result that overflows proves nothing
                return function(self.whole_part.range(*ends))

        ranges = self.whole_part.ranges()
        if len(ranges) == 1:
            yield apply(ranges[0])
            return
        with ThreadPoolExecutor(min(len(ranges), cores())) as pool:
            yield from pool.map(apply, ranges)

    def fetch(self, rows: Indices) -> Part:
        """Return copies of rows by number, as the rows 0, 1, … of a part."""
        return Part(0, self.X[rows], self.signs[rows], self.fit_intercept)

    def all_rows(self) -> Mask:
        """Return a mask of all rows."""
        return np.ones(self.n, dtype=np.bool_)

    def row_set(self, rows: Indices) -> Mask:
        """Return a mask in which these rows are True."""
        marked = np.zeros(self.n, dtype=np.bool_)
        marked[rows] = True
        return marked

    def difference(self, rows: RowSet, others: RowSet) -> Mask:
        """Return a mask without the rows of another mask."""
        return np.asarray(self.whole_part.values_of(rows) & ~self.whole_part.values_of(others))

    def rows_at_zero(self, rows: RowSet, signs: ExactSigns) -> Mask:
        """Return a mask of the rows of a mask that have the sign 0."""
        return np.asarray(self.whole_part.values_of(rows) & (in_row_order(signs.signs) == 0))

    def size(self, rows: RowSet) -> int:
        """Return the number of rows in a mask."""
        return int(np.count_nonzero(self.whole_part.values_of(rows)))

    def members_of(self, rows: RowSet, numbers: Indices) -> Indices:
        """Return those of a few rows that are in a mask."""
        return numbers[self.whole_part.values_of(rows)[numbers]]

    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> Vector:
        """Return ‖a_i‖ for every row, after scaling columns."""
        lengths = self._for_each_range(lambda part: part.lengths(columns, centre), limits)
        return np.concatenate([*lengths])

    def without_empty_columns(self) -> tuple[LocalPasses, Indices] | None:
        """Drop the empty columns of sparse rows (hashed names leave many); None for dense rows."""
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
    """Whether ⟨a_i, w⟩ > 0 for every row, proved; the last entry of w is the bias.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> problem = signed_problem(np.array([[3.0], [1.0]]), np.array([1, -1], dtype=np.int8), True)
    >>> prove_signs(problem, np.array([1.0, -2.0])), prove_signs(problem, np.array([1.0, -3.0]))
    (True, False)
    """
    return LocalPasses(problem).separates(w)


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
