"""The row space of some rows, in exact arithmetic.

Objective
    Find the rank of some rows, the unit vectors in their row space, and the columns that depend
    linearly on each other.
Input
    The rows, which may be many. They are read in passes.
Output
    A `Space`.

The rank modulo a prime never exceeds the rank over the rational numbers. So rows have full rank if
they have full rank modulo one prime. Otherwise:

1. Choose a few rows that are linearly independent modulo a prime.
2. Compute a basis of their null space over the rational numbers.
3. Multiply the basis by all rows in a pass. If all products are 0, the few rows have the row space
   of all rows. Else rows with products other than 0 join the few rows, and step 1 is repeated.

The products are integers in a suitable unit. A product is proved to be 0 if it is 0 modulo several
primes whose product exceeds the largest possible size of the product.

References
----------
P. Wang, A p-adic algorithm for univariate partial fractions, Proc. SYMSAC (1981).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.passes import Passes, check_time
from novikoff.geometry.rational import solve_seconds
from novikoff.geometry.visits import Part, RowSet, Visit
from novikoff.proofs.exact import Block, Integers

# Primes have _BITS bits, so that float64 adds up _TERMS products of two residues without rounding.
_BITS, _TERMS = 21, 1 << 10
# The number of random combinations of the rows is p plus this number.
_SPARE = 8
# The largest numerator and denominator guessed from a residue modulo a prime of 61 bits.
_MAX_GUESSED = 1 << 24


@dataclass(frozen=True)
class Space:
    """The row space of some rows with p columns; everything in it is proved.

    Attributes
    ----------
    units : array of bool of shape (p,)
        Whether the unit vector e_j is in the space, for each j.
    null : list of integer vectors, or None
        A basis of the null space, one vector for each column that depends on those before it.
    rows : array of int of shape (r, p), or None
        All rows, if they are linearly independent; then ``null`` may be None.
    basis : array of int
        The numbers of rows that are a basis of the space; empty if the space has all vectors.
    """

    units: npt.NDArray[np.bool_]
    null: list[list[int]] | None = None
    rows: Integers | None = None
    basis: Indices = field(default_factory=lambda: np.arange(0))

    def dependent(self) -> list[list[int]]:
        """Return classes of columns that depend linearly on each other, without columns of zeros.

        If the null space is not known, all these columns are in one class.
        """
        if self.null is None:
            whole: Any = self.rows
            rest = np.flatnonzero(~self.units & (whole != 0).any(axis=0)).tolist()
            return [rest] if rest else []
        classes: list[set[int]] = []
        for vector in self.null:
            own = {j for j, value in enumerate(vector) if value}
            joined = [part for part in classes if part & own]
            classes = [part for part in classes if not part & own]
            classes.append(own.union(*joined))
        return [sorted(part) for part in sorted(classes, key=min) if len(part) > 1]

    def share(self, columns: Sequence[int]) -> int:
        """Return by how much the rank decreases without these columns.

        It is the number of independent combinations of their coefficients that the rows determine.
        """
        if self.null is not None:
            return len(columns) - _rank([[vector[j] for j in columns] for vector in self.null])
        whole: Any = self.rows
        others = np.delete(whole, columns, axis=1)
        return len(whole) - _rank(others.tolist())


def row_space(passes: Passes, rows: Indices, limits: Limits) -> Space:
    """Return the row space of some rows; OutOfTimeError if a limit is reached."""
    p = passes.p
    if len(rows) == 0:
        return Space(np.zeros(p, dtype=np.bool_), _identity(p))
    few = rows[:: max(1, len(rows) // (4 * p))]
    for some in (few, rows):
        if passes.over(RowSpace(passes.row_set(some), _prime(0)), limits).is_full():
            return Space(np.ones(p, dtype=np.bool_), [])
    marked = passes.row_set(rows)
    for prime in _large_primes():
        check_time(limits)
        whole, _ = passes.whole(few)
        independent = _pivots(whole.T, prime)
        whole = whole[independent]
        if len(whole) == len(rows):
            units = _independent_units(whole, prime)
            if units is not None:
                return Space(units, rows=whole, basis=few[independent])
        null = _null_space(whole, prime, limits)
        missed = passes.over(Missed(marked, null), limits).first
        if not missed:
            units = np.array([not any(column) for column in zip(*null, strict=True)])
            full = np.ones(p, dtype=np.bool_)
            return Space(units if null else full, null, basis=few[independent])
        few = np.union1d(few[independent], np.array([*missed.values()], dtype=np.int64))
    raise AssertionError("There are infinitely many primes.")


def null_space(passes: Passes, rows: Indices, limits: Limits) -> tuple[list[list[int]], Indices]:
    """Return a basis of the null space of some rows, and a basis of their row space.

    The null space is spanned by integer vectors, one for each column that depends linearly on the
    columns before it; the vector is 0 after this column, and 0 at all other such columns. The row
    space is spanned by rows, of which the numbers are returned; if the null space is {0}, these may
    be no rows. OutOfTimeError if a limit is reached.
    """
    space = row_space(passes, rows, limits)
    if space.null is not None:
        return space.null, space.basis
    whole: Any = space.rows
    return _null_space(whole, next(_large_primes()), limits), space.basis


def _independent_units(whole: Integers, prime: int) -> npt.NDArray[np.bool_] | None:
    """Return which e_j are in the space of linearly independent rows; None if the prime fails.

    The rows are linearly independent modulo the prime too. An e_j that is not in the space modulo
    the prime is not in the space. The other e_j are in the space if the rank without their columns
    is smaller by their number. Else another prime is needed.
    """
    reduced, _ = _reduced(whole, prime)
    alone = reduced[np.count_nonzero(reduced, axis=1) == 1]
    units = np.asarray((alone != 0).any(axis=0))
    rest = _rank(whole[:, ~units].tolist()) if not units.all() else 0
    return units if rest == len(whole) - np.count_nonzero(units) else None


def _null_space(whole: Integers, prime: int, limits: Limits) -> list[list[int]]:
    """Return a basis of the vectors v with Mv = 0, for a matrix M of linearly independent rows."""
    import flint

    rank, p = whole.shape
    if rank == 0:
        return _identity(p)
    matrix = flint.fmpz_mat(whole.tolist())
    reduced, pivots = _reduced(whole, prime)
    free = np.setdiff1d(np.arange(p), pivots)
    if len(free) == 0:
        return []
    guessed = _guess(reduced[:, free], prime)
    if guessed is not None:
        vectors = _vectors(guessed, pivots, free, p)
        products = matrix * flint.fmpz_mat(vectors).transpose()
        if not any(products.entries()):
            return vectors
    check_time(limits, (1 + len(free)) * solve_seconds(rank, whole))
    exactly, divisor, _ = matrix.rref()
    table = exactly.tolist()
    pivots = np.array([next(j for j in range(p) if row[j] != 0) for row in table])
    free = np.setdiff1d(np.arange(p), pivots)
    columns = [[(int(row[j]), int(divisor)) for row in table] for j in free.tolist()]
    return _vectors(columns, pivots, free, p)


def _identity(p: int) -> list[list[int]]:
    return [[int(i == j) for j in range(p)] for i in range(p)]


def _vectors(
    columns: list[list[tuple[int, int]]], pivots: Indices, free: Indices, p: int
) -> list[list[int]]:
    """Return a vector of the null space for each free column, scaled to integers.

    Before scaling, it is 1 at the free column and minus the given fractions at the pivots.
    """
    found = []
    for j, column in zip(free.tolist(), columns, strict=True):
        scale = math.lcm(*(below for _, below in column))
        vector = [0] * p
        vector[j] = scale
        for i, (above, below) in zip(pivots.tolist(), column, strict=True):
            vector[i] = -above * (scale // below)
        divisor = math.gcd(*vector)
        found.append([value // divisor for value in vector])
    return found


def _guess(residues: Integers, prime: int) -> list[list[tuple[int, int]]] | None:
    """Return small fractions with these residues, by columns; None if a residue has none."""
    found = []
    for column in residues.T.tolist():
        fractions = [_fraction(value, prime) for value in column]
        if None in fractions:
            return None
        found.append([fraction for fraction in fractions if fraction is not None])
    return found


def _fraction(residue: int, prime: int) -> tuple[int, int] | None:
    """Return the small fraction with this residue by Euclid's algorithm (Wang 1981), or None."""
    r, s, a, b = prime, residue, 0, 1
    while s > _MAX_GUESSED:
        q = r // s
        r, s, a, b = s, r - q * s, b, a - q * b
    if abs(b) > _MAX_GUESSED:
        return None
    return (s, b) if b > 0 else (-s, -b)


def _reduced(whole: Integers, prime: int) -> tuple[Integers, Indices]:
    """Return the nonzero rows of the reduced echelon form modulo a prime, and their pivots."""
    import flint

    reduced, rank = flint.nmod_mat(flint.fmpz_mat(whole.tolist()), prime).rref()
    entries = [int(value) for value in reduced.entries()]
    table = np.array(entries, dtype=object).reshape(whole.shape)[:rank]
    return table, np.argmax(table != 0, axis=1).astype(np.int64) if rank else np.arange(0)


def _pivots(whole: Integers, prime: int) -> Indices:
    """Return a largest set of columns that are linearly independent modulo a prime."""
    return _reduced(whole, prime)[1]


def _rank(rows: list[list[int]]) -> int:
    """Return the exact rank."""
    import flint

    if len(rows) == 0 or len(rows[0]) == 0:
        return 0
    matrix = flint.fmpz_mat(rows)
    matrix = matrix if len(rows) >= len(rows[0]) else matrix.transpose()
    quick = flint.nmod_mat(matrix, next(_large_primes())).rank()
    return int(quick if quick == min(len(rows), len(rows[0])) else matrix.rank())


@dataclass
class RowSpace(Visit):
    """A visit that adds up random combinations of the marked rows, modulo a prime.

    There are p + 8 combinations. With high probability they span the row space of the marked rows.
    The random factors of a row depend only on the number of the row, so that ranges of rows may be
    visited in any order.
    """

    marked: RowSet
    prime: int
    mixture: npt.NDArray[np.int64] = field(
        init=False, default_factory=lambda: np.zeros((0, 0), int)
    )

    def look_at(self, part: Part) -> None:
        """Add the marked rows of this part, each multiplied by its random factors."""
        self.mixture = np.zeros((part.p + _SPARE, part.p), dtype=np.int64)
        marked = np.flatnonzero(part.of(self.marked))
        for start in range(0, len(marked), _TERMS):
            some = marked[start : start + _TERMS]
            for rows, block in part.blocks(some):
                self._add(block, part.first + some[rows])

    def merge(self, other: RowSpace) -> None:
        """Add the combinations of another part of the rows."""
        if self.mixture.size == 0:
            self.mixture = np.zeros_like(other.mixture)
        self.mixture += other.mixture
        self.mixture %= self.prime

    def _add(self, block: Block, numbers: Indices) -> None:
        mix = _factors(numbers, len(self.mixture)) % self.prime
        found = mix.astype(np.float64) @ _residues(block.A, self.prime)
        self.mixture[:, block.columns] += found.astype(np.int64) % self.prime
        self.mixture %= self.prime

    def is_full(self) -> bool:
        """Whether the marked rows have full rank; True is proved, False is not."""
        import flint

        entries = self.mixture.ravel().tolist()
        rank = flint.nmod_mat(*self.mixture.shape, entries, self.prime).rank()
        return bool(rank == self.mixture.shape[1])


@dataclass
class Missed(Visit):
    """A visit that finds the first marked row with ⟨a_i, v⟩ ≠ 0 for each integer vector v."""

    marked: RowSet
    vectors: list[list[int]]
    first: dict[int, int] = field(init=False, default_factory=dict)

    def look_at(self, part: Part) -> None:
        """Search this part of the rows."""
        if len(self.vectors) == 0:
            return
        marked = np.flatnonzero(part.of(self.marked))
        size = max(sum(map(abs, vector)) for vector in self.vectors).bit_length()
        V = np.array(self.vectors, dtype=object).T
        residues = cache(lambda prime: (V % prime).astype(np.float64))
        for rows, block in part.blocks(marked):
            _, exponents = np.frexp(block.A[block.A != 0.0])
            if len(exponents) == 0:
                continue
            # In units of 2^(least exponent − 53), products are integers of at most this many bits.
            bits = size + int(exponents.max()) - int(exponents.min()) + 53
            wrong = np.zeros((len(block.A), len(self.vectors)), dtype=np.bool_)
            for k in range(bits // (_BITS - 1) + 1):
                prime = _prime(k)
                products = _residues(block.A, prime) @ residues(prime)[block.columns]
                wrong |= products % prime != 0.0
            for k in np.flatnonzero(wrong.any(axis=0)).tolist():
                self._note(k, part.first + int(marked[rows][np.argmax(wrong[:, k])]))

    def merge(self, other: Missed) -> None:
        """Keep the first row for each vector."""
        for k, row in other.first.items():
            self._note(k, row)

    def _note(self, k: int, row: int) -> None:
        self.first[k] = min(row, self.first.get(k, row))


def _residues(A: npt.NDArray[np.float64], prime: int) -> npt.NDArray[np.float64]:
    """Return the residues of floats modulo an odd prime, in which 2 has an inverse."""
    mantissas, exponents = np.frexp(A)
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.asarray(whole % prime * _powers(prime)[exponents + 1100] % prime, dtype=np.float64)


def _factors(numbers: Indices, n_mixtures: int) -> npt.NDArray[np.int64]:
    """Return random factors (splitmix64), with one column for each row number."""
    seed = np.arange(n_mixtures, dtype=np.uint64)[:, None] * np.uint64(0xD1342543DE82EF95)
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + seed + np.uint64(1)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(2)).astype(np.int64)


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
