"""Which weights of a logistic regression run to infinity (C1; Albert and Anderson 1984).

The likelihood of a logistic regression never falls along the w with ⟨a_i, w⟩ ≥ 0 for all i,
and rises for ever if some are positive. The rows J that every such w leaves at zero decide:
the directions span the null space of A_J, so that the weight j stays finite exactly
if the unit vector e_j lies in the row space of A_J. Where e_j is not even in the row space of
all rows, columns depend on each other and the weight is not determined at all.

Row spaces are found by elimination modulo primes, not in floats: there is no tolerance.
A prime is unlucky if it divides certain minors; several are tried and the largest rank counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.exact import Block
from novikoff.geometry.passes import Mask, Part, Passes, Visit

# Random primes of 21 bits: products of 1024 pairs of residues add up without rounding in float64.
_PRIMES = (1684679, 2066473, 1947629, 1083793, 1471403, 1054189, 1178897, 2094227)
_TERMS = 1 << 10
# Mixtures of the rows beyond p.
_SPARE = 8
# Elimination takes p³ steps: beyond this many weights the question is left open.
_MOST_WEIGHTS = 1500


@dataclass(frozen=True)
class Recession:
    """What becomes of each weight, the bias last if there is one."""

    infinite: npt.NDArray[np.bool_]
    undetermined: npt.NDArray[np.bool_]  # because columns depend on each other


def recession(
    problem: Problem, separated: Indices, limits: Limits | None = None
) -> Recession | None:
    """What becomes of each weight of a logistic regression; None if there are too many.

    ``separated`` are the rows that can be strictly on their side, of a verdict.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> recession(problem, np.array([3])).infinite.tolist()
    [True, False, False]
    """
    passes = Passes(problem)
    if passes.p > _MOST_WEIGHTS:
        return None
    left, everyone = ~passes.mask(separated), np.ones(passes.n, dtype=np.bool_)
    fixed, known = (
        passes.over(RowSpace(rows, _PRIMES), limits or Limits()).unit_vectors()
        for rows in (left, everyone)
    )
    return Recession(infinite=known & ~fixed, undetermined=~known)


@dataclass
class RowSpace(Visit):
    """Random mixtures of the rows marked, modulo primes.

    p + 8 mixtures span the same row space, but for bad luck. The factors of a row depend on its
    number only, so that ranges of rows may be seen in any order.
    """

    marked: Mask
    primes: tuple[int, ...]
    mixtures: list[npt.NDArray[np.int64]] = field(init=False, default_factory=list)

    def look_at(self, part: Part) -> None:
        """Add these rows, each times its random factors."""
        shape = (part.p + _SPARE, part.p)
        self.mixtures = [np.zeros(shape, dtype=np.int64) for _ in self.primes]
        marked = np.flatnonzero(part.of(self.marked))
        for start in range(0, len(marked), _TERMS):
            some = marked[start : start + _TERMS]
            for rows, block in part.blocks(some):
                self._add(block, part.first + some[rows])

    def merge(self, other: RowSpace) -> None:
        """Add the mixtures of the other."""
        self.mixtures = self.mixtures or [np.zeros_like(mixture) for mixture in other.mixtures]
        for mixture, more, prime in zip(self.mixtures, other.mixtures, self.primes, strict=True):
            mixture += more
            mixture %= prime

    def _add(self, block: Block, numbers: Indices) -> None:
        mantissas, exponents = np.frexp(block.A)
        whole = (mantissas * 2.0**53).astype(np.int64)
        for k, (mixture, prime) in enumerate(zip(self.mixtures, self.primes, strict=True)):
            residues = whole % prime * _powers(prime)[exponents + 1100] % prime
            mix = _factors(numbers, len(mixture), k) % prime
            found = mix.astype(np.float64) @ residues.astype(np.float64)
            mixture[:, block.columns] += found.astype(np.int64) % prime
            mixture %= prime

    def unit_vectors(self) -> npt.NDArray[np.bool_]:
        """For each j whether e_j is in the row space of the rows marked."""
        pairs = zip(self.mixtures, self.primes, strict=True)
        answers = [_eliminate(mixture, prime) for mixture, prime in pairs]
        largest = max(rank for rank, _ in answers)
        spanned = [units for rank, units in answers if rank == largest]
        return np.asarray(np.logical_and.reduce(spanned), dtype=np.bool_)


def _factors(numbers: Indices, n_mixtures: int, k: int) -> npt.NDArray[np.int64]:
    """Random factors of rows by their numbers, one column each (splitmix64)."""
    seed = np.arange(n_mixtures, dtype=np.uint64)[:, None] * np.uint64(0xD1342543DE82EF95)
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + seed + np.uint64(k + 1)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(2)).astype(np.int64)


def _eliminate(M: npt.NDArray[np.int64], prime: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """The rank modulo a prime, and the unit vectors among the rows of the reduced form."""
    import flint

    reduced, rank = flint.nmod_mat(*M.shape, M.ravel().tolist(), prime).rref()
    entries = np.array([int(value) for value in reduced.entries()]).reshape(M.shape)[:rank]
    alone = entries[np.count_nonzero(entries, axis=1) == 1]
    return rank, np.asarray(alone.any(axis=0))


@cache
def _powers(prime: int) -> npt.NDArray[np.int64]:
    """2^(e − 53) modulo the prime, at e + 1100."""
    return np.array([pow(2, e - 53, prime) for e in range(-1100, 1100)], dtype=np.int64)
