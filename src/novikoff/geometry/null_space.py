"""The null space of some rows, in exact arithmetic: which columns depend on those before them.

Objective
    Find a basis of the null space of some rows, as integer vectors.
Input
    The rows, which may be many. They are read in passes.
Output
    A `NullSpace`, with a vector for each column that depends linearly on the columns before it.

The rank modulo a prime never exceeds the rank over the rational numbers. So rows have full rank if
a few of them have full rank modulo one prime. Otherwise:

1. Compute a basis of the null space of a few rows modulo a prime, and guess small fractions with
   these residues.
2. Multiply the basis by all rows in a pass. If all products are 0, the few rows have the row space
   of all rows. Else rows with products other than 0 join the few rows, and step 1 is repeated, with
   larger primes.

The products are integers in a suitable unit. A product is proved to be 0 if it is 0 modulo several
primes whose product exceeds the largest possible size of the product.

References
----------
Wang, P. S. (1981). A p-adic algorithm for univariate partial fractions. *Proceedings of the ACM
Symposium on Symbolic and Algebraic Computation* (SYMSAC), 212-217.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.linear_algebra import (
    elimination_seconds,
    independent_columns,
    pivot_columns,
    solve_seconds,
)
from novikoff.geometry.parts import Part, RowSet
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, Passes, check_time
from novikoff.geometry.visits import Visit
from novikoff.proofs import exact
from novikoff.proofs.exact import Integers

# The entries other than 0 of an integer vector, by column.
SparseVector: TypeAlias = dict[int, int]
# A null space, with a vector for each column that depends linearly on the columns before it. The
# vector is 0 after this column, and 0 at all other such columns.
NullSpace: TypeAlias = dict[int, SparseVector]

# Primes have _BITS bits, so that float64 adds up _TERMS products of two residues without rounding.
_BITS, _TERMS = 21, 1 << 10
# The number of random combinations of the rows is p plus this number.
_SPARE = 8
# Elimination takes p³ steps. Rows with more columns than this have no known null space.
_MAX_COLUMNS = 4_096


def null_space(passes: LocalPasses, rows: Indices, columns: Indices, limits: Limits) -> NullSpace:
    """Return the null space of some rows and columns; OutOfTimeError if a limit is reached.

    "Before" and "after" are about the order in which ``columns`` names the columns. All other
    columns are left out.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> X = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0]])
    >>> passes = LocalPasses(signed_problem(X, np.ones(2, dtype=np.int8), False))
    >>> null_space(passes, np.arange(2), np.arange(3), Limits())
    {1: {0: -2, 1: 1}}
    >>> null_space(passes, np.arange(2), np.array([1, 0, 2]), Limits())
    {0: {1: -1, 0: 2}}
    """
    if len(rows) == 0:
        return {j: {j: 1} for j in columns.tolist()}
    empty = np.setdiff1d(columns, _used_columns(passes, rows))
    vectors: NullSpace = {j: {j: 1} for j in empty.tolist()}
    columns = columns[~np.isin(columns, empty)]
    if len(columns) > _MAX_COLUMNS:
        raise OutOfTimeError
    if len(columns) == 0:
        return vectors
    check_time(limits, elimination_seconds(len(columns) + _SPARE, len(columns)))
    chosen_rows = _some_rows(passes, rows, len(columns))
    free = _guess_by_mixtures(passes, chosen_rows, columns)
    marked = passes.row_set(rows)
    if free is not None:
        missed = passes.over(Missed(marked, [*free.values()]), limits).first if free else {}
        if not missed:
            return {**vectors, **free}
        chosen_rows = np.union1d(chosen_rows, np.array([*missed.values()], dtype=np.int64))
    for prime in _large_primes():
        check_time(limits)
        whole, _ = exact.integers(passes.at(chosen_rows)[:, columns])
        chosen_rows, whole = _independent_rows(chosen_rows, whole, prime)
        free = _residue_null_space(whole, columns, prime, limits)
        missed = passes.over(Missed(marked, [*free.values()]), limits).first if free else {}
        if not missed:
            return {**vectors, **free}
        chosen_rows = np.union1d(chosen_rows, np.array([*missed.values()], dtype=np.int64))
    raise AssertionError("There are infinitely many primes.")


def spanning_rows(passes: LocalPasses, rows: Indices, columns: Indices, rank: int) -> Indices:
    """Return linearly independent rows that span the row space of some rows, of known rank."""
    chosen_rows = _some_rows(passes, rows, len(columns))
    for prime in _large_primes():
        whole, _ = exact.integers(passes.at(chosen_rows)[:, columns])
        basis, _ = _independent_rows(chosen_rows, whole, prime)
        if len(basis) == rank:
            return basis
        chosen_rows = rows
    raise AssertionError("There are infinitely many primes.")


def _used_columns(passes: LocalPasses, rows: Indices) -> Indices:
    """The columns that may have entries other than 0 in some rows.

    For dense rows, these are all columns.
    """
    if not passes.sparse:
        return np.arange(passes.p)
    part: Any = passes.X if len(rows) == passes.n else passes.X[rows]
    used, _ = exact.used_columns(part.indices, passes.d)
    return np.append(used, passes.d) if passes.fit_intercept else used


def _some_rows(passes: Passes, rows: Indices, p: int) -> Indices:
    """A few rows that probably have the row space of all rows: a random row of each block of rows.

    Periodic orders of the rows do not matter to random rows, and sorted rows have rows of each kind
    in the blocks. Of sparse rows, each column that is not empty has an entry in some of them.
    """
    length = max(1, len(rows) // (4 * p if p < 1_000 else p + 64))
    firsts = np.arange(0, len(rows), length)
    chosen = firsts + np.random.default_rng(len(rows)).integers(length, size=len(firsts))
    sample = rows[np.minimum(chosen, len(rows) - 1)]
    if not (isinstance(passes, LocalPasses) and passes.sparse):
        return sample
    part: Any = passes.X if len(rows) == passes.n else passes.X[rows]
    # The last assignment to a column stays, which is its first entry.
    first = np.full(passes.d, -1, dtype=np.int64)
    first[part.indices[::-1]] = np.arange(len(part.indices) - 1, -1, -1)
    entries = first[first >= 0]
    return np.union1d(sample, rows[np.searchsorted(part.indptr, entries, side="right") - 1])


def _guess_by_mixtures(
    passes: LocalPasses, chosen_rows: Indices, columns: Indices
) -> NullSpace | None:
    """Guess the null space of a few rows by random combinations of them, modulo a prime.

    {} is proved: the rows have full rank. None if there is no guess.
    """
    prime = _prime(0)
    A = _residues(homogeneous(passes.whole_part, chosen_rows)[:, columns], prime)
    mixture = np.zeros((len(columns) + _SPARE, len(columns)), dtype=np.int64)
    random = np.random.default_rng(len(chosen_rows))
    for start in range(0, len(chosen_rows), _TERMS):
        terms = A[start : start + _TERMS]
        factors = random.integers(prime, size=(len(mixture), terms.shape[0]))
        mixture += (factors.astype(np.float64) @ terms).astype(np.int64) % prime
    mixture %= prime
    import flint

    matrix = flint.nmod_mat(flint.fmpz_mat(mixture.tolist()), prime)
    if matrix.rank() == len(columns):
        return {}
    reduced, rank = matrix.rref()
    table = np.array([int(value) for value in reduced.entries()], dtype=np.int64)
    table = table.reshape(mixture.shape)[:rank]
    pivots = np.array(pivot_columns(reduced, rank), dtype=np.int64)
    free = np.setdiff1d(np.arange(len(columns)), pivots)
    guessed = _guess(table[:, free], prime)
    return None if guessed is None else _vectors(guessed, pivots, free, columns)


def homogeneous(part: Part, rows: Indices) -> Any:
    """Rows of a part without their signs, [x_i, 1] or x_i, in float64; sparse if X is sparse."""
    A: Any = part.X[rows].astype(np.float64, copy=False)
    if not part.fit_intercept:
        return A
    ones = np.ones((len(rows), 1))
    if isinstance(A, np.ndarray):
        return np.hstack([A, ones])
    import scipy.sparse as sp

    return sp.csr_array(sp.hstack([sp.csr_array(A), sp.csr_array(ones)], format="csr"))


def _residue_null_space(whole: Integers, columns: Indices, prime: int, limits: Limits) -> NullSpace:
    """Return the null space of a matrix M of linearly independent rows."""
    import flint

    rank, p = whole.shape
    matrix = flint.fmpz_mat(whole.tolist())
    reduced, pivots = _reduced(whole, prime)
    free = np.setdiff1d(np.arange(p), pivots)
    if len(free) == 0:
        return {}
    guessed = _guess(reduced[:, free], prime)
    if guessed is not None:
        vectors = _vectors(guessed, pivots, free, np.arange(p))
        dense = [[vector.get(j, 0) for j in range(p)] for vector in vectors.values()]
        if not any((matrix * flint.fmpz_mat(dense).transpose()).entries()):
            return _vectors(guessed, pivots, free, columns)
    check_time(limits, (1 + len(free)) * solve_seconds(rank, whole))
    exactly, divisor, _ = matrix.rref()
    table = exactly.tolist()
    pivots = np.array(pivot_columns(exactly, rank), dtype=np.int64)
    free = np.setdiff1d(np.arange(p), pivots)
    fractions = [[(int(row[j]), int(divisor)) for row in table] for j in free.tolist()]
    return _vectors(fractions, pivots, free, columns)


def _vectors(
    fractions: list[list[tuple[int, int]]], pivots: Indices, free: Indices, columns: Indices
) -> NullSpace:
    """Return a vector of the null space for each free column, scaled to integers.

    Before scaling, it is 1 at the free column and minus the given fractions at the pivots.
    """
    vectors: NullSpace = {}
    names = columns.tolist()
    for j, column in zip(free.tolist(), fractions, strict=True):
        scale = math.lcm(*(below for above, below in column if above))
        vector = {
            names[i]: -above * (scale // below)
            for i, (above, below) in zip(pivots.tolist(), column, strict=True)
            if above
        }
        vector[names[j]] = scale
        divisor = math.gcd(*vector.values())
        vectors[names[j]] = {k: value // divisor for k, value in vector.items()}
    return vectors


def _guess(residues: npt.NDArray[Any], prime: int) -> list[list[tuple[int, int]]] | None:
    """Return small fractions with these residues, by columns; None if a residue has none."""
    solutions = []
    for column in residues.T.tolist():
        fractions = [_fraction(value, prime) for value in column]
        if None in fractions:
            return None
        solutions.append([fraction for fraction in fractions if fraction is not None])
    return solutions


def _fraction(residue: int, prime: int) -> tuple[int, int] | None:
    """Return the small fraction with this residue by Euclid's algorithm (Wang 1981), or None."""
    largest = math.isqrt(prime // 2) >> (prime.bit_length() // 10)
    r, s, a, b = prime, residue, 0, 1
    while s > largest:
        q = r // s
        r, s, a, b = s, r - q * s, b, a - q * b
    if abs(b) > largest:
        return None
    return (s, b) if b > 0 else (-s, -b)


def _reduced(whole: Integers, prime: int) -> tuple[Integers, Indices]:
    """Return the nonzero rows of the reduced echelon form modulo a prime, and their pivots."""
    import flint

    reduced, rank = flint.nmod_mat(flint.fmpz_mat(whole.tolist()), prime).rref()
    entries = [int(value) for value in reduced.entries()]
    table = np.array(entries, dtype=object).reshape(whole.shape)[:rank]
    return table, np.array(pivot_columns(reduced, rank), dtype=np.int64)


def _independent_rows(rows: Indices, whole: Integers, prime: int) -> tuple[Indices, Integers]:
    """Return rows of a matrix that are linearly independent modulo a prime, as many as possible."""
    import flint

    chosen = independent_columns(flint.nmod_mat(flint.fmpz_mat(whole.T.tolist()), prime))
    return rows[chosen], whole[chosen]


@dataclass
class Missed(Visit):
    """A visit that finds the first marked row with ⟨a_i, v⟩ ≠ 0 for each integer vector v."""

    marked: RowSet
    vectors: Sequence[SparseVector]
    first: dict[int, int] = field(init=False, default_factory=dict)

    def look_at(self, part: Part) -> None:
        """Search this part of the rows."""
        if len(self.vectors) == 0:
            return
        marked = np.flatnonzero(part.values_of(self.marked))
        used = np.unique([j for vector in self.vectors for j in vector])
        V = np.zeros((len(used), len(self.vectors)), dtype=object)
        for k, vector in enumerate(self.vectors):
            V[np.searchsorted(used, [*vector]), k] = [*vector.values()]
        stride = max(1, (1 << 20) // max(1, len(self.vectors) if part.sparse else part.p))
        for start in range(0, len(marked), stride):
            block = marked[start : start + stride]
            wrong = self._wrong(homogeneous(part, block)[:, used], V)
            for k in np.flatnonzero(wrong.any(axis=0)).tolist():
                self._note(k, part.first + int(block[np.argmax(wrong[:, k])]))

    @staticmethod
    def _wrong(A: Any, V: Any) -> npt.NDArray[np.bool_]:
        """Which products of these rows are not 0; the signs of rows do not matter."""
        wrong = np.zeros((A.shape[0], V.shape[1]), dtype=np.bool_)
        dense = isinstance(A, np.ndarray)
        entries = A if dense else A.data
        mantissas, exponents = np.frexp(entries[entries != 0.0])
        if len(exponents) == 0:
            return wrong
        whole = np.abs(mantissas * 2.0**53).astype(np.int64)
        lowest = int((exponents + np.frexp((whole & -whole).astype(np.float64))[1]).min()) - 54
        # In units of 2^lowest, products are integers of at most this many bits.
        size = max(sum(map(abs, column)) for column in V.T.tolist()).bit_length()
        bits = size + int(exponents.max()) - lowest + 1
        longest = A.shape[1] if dense else int(np.diff(A.indptr).max())
        # A product of rows with few entries is exact in one step.
        stride = _TERMS if longest > _TERMS else max(1, A.shape[1])
        for k in range(bits // (_BITS - 1) + 1):
            prime = _prime(k)
            products = np.zeros(wrong.shape)
            residues, factors = _residues(A, prime), (V % prime).astype(np.float64)
            for start in range(0, A.shape[1], stride):
                terms = slice(start, start + stride)
                products += residues[:, terms] @ factors[terms] % prime
            wrong |= products % prime != 0.0
        return wrong

    def merge(self, other: Missed) -> None:
        """Keep the first row for each vector."""
        for k, row in other.first.items():
            self._note(k, row)

    def _note(self, k: int, row: int) -> None:
        self.first[k] = min(row, self.first.get(k, row))


def _residues(A: Any, prime: int) -> Any:
    """Return the residues of floats modulo an odd prime, in which 2 has an inverse."""
    if not isinstance(A, np.ndarray):
        import scipy.sparse as sp

        return sp.csr_array((_residues(A.data, prime), A.indices, A.indptr), shape=A.shape)
    mantissas, exponents = np.frexp(A)
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.asarray(whole % prime * _powers(prime)[exponents + 1100] % prime, dtype=np.float64)


@cache
def _powers(prime: int) -> npt.NDArray[np.int64]:
    """Return a table with 2^(e − 53) modulo the prime at position e + 1100."""
    return np.array([pow(2, e - 53, prime) for e in range(-1100, 1100)], dtype=np.int64)


@cache
def _prime(k: int) -> int:
    """Return the k-th largest prime below 2²¹, counted from 0."""
    below = 1 << _BITS if k == 0 else _prime(k - 1)
    return next(_primes_below(below))


def _large_primes() -> Iterator[int]:
    """Return the primes below 2⁶¹ in descending order; the first is 2⁶¹ − 1."""
    return _primes_below(1 << 61)


def _primes_below(number: int) -> Iterator[int]:
    import flint

    return (n for n in range(number - 1, 1, -1) if flint.fmpz(n).is_prime())
