"""Which weights of a logistic regression run to infinity (C1; Albert and Anderson 1984).

The likelihood of a logistic regression never falls along the w with ⟨a_i, w⟩ ≥ 0 for all i,
and rises for ever if some are positive. The rows J that every such w leaves at zero decide:
the directions span the null space of A_J, so that the weight j stays finite exactly
if the unit vector e_j lies in the row space of A_J. Where e_j is not even in the row space of
all rows, columns depend on each other and the weight is not determined at all.

Row spaces are found by elimination modulo primes, not in floats: there is no tolerance.
A prime is unlucky if it divides certain minors; several are drawn and the largest rank counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Vector
from novikoff.geometry.exact import Signs
from novikoff.geometry.table import Matrix, SignedRows

# Primes so small that products of 1024 pairs of residues add up without rounding in float64.
_BITS, _PRIMES, _SPARE = 21, 8, 8
_TERMS = 1 << 10
# Elimination takes p³ steps: beyond this many weights the question is left open.
_MOST_WEIGHTS = 1500


@dataclass(frozen=True)
class Recession:
    """What becomes of each weight, the bias last if there is one.

    Attributes
    ----------
    infinite : array of bool
        The weights that run to infinity.
    undetermined : array of bool
        Those that the data does not determine, because columns depend on each other.
    """

    infinite: npt.NDArray[np.bool_]
    undetermined: npt.NDArray[np.bool_]


class Rows(Protocol):
    """The signed rows of a problem, some at a time, with the number of the first."""

    def blocks(self) -> Iterator[tuple[int, Vector]]:
        """The rows."""


def recession(
    matrix: Matrix, signs: Signs, fit_intercept: bool, separated: Indices
) -> Recession | None:
    """What becomes of each weight of a logistic regression; None if there are too many.

    Parameters
    ----------
    matrix, signs, fit_intercept
        The problem.
    separated : array of int
        The rows that can be strictly on their side, of a verdict.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    >>> signs = np.array([-1, 1, -1, 1], dtype=np.int8)
    >>> recession(X, signs, True, np.array([3])).infinite.tolist()
    [True, False, False]
    """
    n, d = matrix.shape
    rows = SignedRows(matrix, signs, fit_intercept)
    return recession_of(rows, n, d + int(fit_intercept), separated)


def recession_of(rows: Rows, n: int, p: int, separated: Indices) -> Recession | None:
    """The same for n rows of p entries, which come some at a time."""
    if p > _MOST_WEIGHTS:
        return None
    apart = np.zeros(n, dtype=np.bool_)
    apart[separated] = True
    rng = np.random.default_rng(0)
    primes = _draw_primes(rng)
    fixed = _columns_spanned(rows, ~apart, p, primes, rng)
    known = _columns_spanned(rows, np.ones_like(apart), p, primes, rng)
    return Recession(infinite=known & ~fixed, undetermined=~known)


def _columns_spanned(
    table: Rows,
    part: npt.NDArray[np.bool_],
    p: int,
    primes: list[int],
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """For each j whether e_j is in the row space of the rows of a part."""
    mixtures = [np.zeros((p + _SPARE, p), dtype=np.int64) for _ in primes]
    for first, block in table.blocks():
        chosen = block[part[first : first + len(block)]]
        for start in range(0, len(chosen), _TERMS):
            rows = chosen[start : start + _TERMS]
            mantissas, exponents = np.frexp(rows)
            whole = (mantissas * 2.0**53).astype(np.int64)
            for mixture, prime in zip(mixtures, primes, strict=True):
                residues = whole % prime * _powers(prime)[exponents + 1100] % prime
                mix = rng.integers(prime, size=(len(mixture), len(rows))).astype(np.float64)
                mixture += (mix @ residues.astype(np.float64)).astype(np.int64) % prime
                mixture %= prime
    answers = [_eliminate(mixture, prime) for mixture, prime in zip(mixtures, primes, strict=True)]
    largest = max(rank for rank, _ in answers)
    spanned = [units for rank, units in answers if rank == largest]
    return np.asarray(np.logical_and.reduce(spanned), dtype=np.bool_)


def _eliminate(M: npt.NDArray[np.int64], prime: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """The rank modulo a prime, and the unit vectors among the rows of the reduced form."""
    rank, pivots = 0, []
    for j in range(M.shape[1]):
        below = np.flatnonzero(M[rank:, j])
        if len(below) == 0:
            continue
        pivot = rank + int(below[0])
        M[[rank, pivot]] = M[[pivot, rank]]
        M[rank] = M[rank] * pow(int(M[rank, j]), -1, prime) % prime
        factors = M[:, j].copy()
        factors[rank] = 0
        M[:, j:] = (M[:, j:] - factors[:, None] * M[rank, j:]) % prime
        pivots.append(j)
        rank += 1
        if rank == len(M):
            break
    units = np.zeros(M.shape[1], dtype=np.bool_)
    lone = np.count_nonzero(M[:rank], axis=1) == 1
    units[np.array(pivots, dtype=np.int64)[lone]] = True
    return rank, units


@cache
def _powers(prime: int) -> npt.NDArray[np.int64]:
    """2^(e − 53) modulo the prime, at e + 1100."""
    return np.array([pow(2, e - 53, prime) for e in range(-1100, 1100)], dtype=np.int64)


def _draw_primes(rng: np.random.Generator) -> list[int]:
    found: list[int] = []
    while len(found) < _PRIMES:
        candidate = int(rng.integers(1 << (_BITS - 1), 1 << _BITS)) | 1
        if candidate not in found and _is_prime(candidate):
            found.append(candidate)
    return found


def _is_prime(number: int) -> bool:
    divisors = np.arange(3, int(number**0.5) + 1, 2)
    return bool((number % divisors != 0).all())
