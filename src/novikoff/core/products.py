"""Products of matrices on one core, as long as they are small.

A BLAS deals even small products out to all cores and waits for the slowest of them: where
another program, or another part of this one, is busy on one, a product takes ten times as long.
Products of a few rows at a time stay below its threshold. Large ones are left to it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from novikoff.core.rows import Vector

# Multiplications that a BLAS does on one core, and from where on more of them are worth it.
_ALONE: Final = 1 << 18
_LARGE: Final = 1 << 26


def times_transposed(V: Vector, X: Vector) -> Vector:
    """V·Xᵀ for a few rows V.

    Examples
    --------
    >>> times_transposed(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[11., 17.]])
    """
    out = np.empty((len(V), len(X)))
    step = _rows_at_once(len(X), X.shape[1] * len(V))
    for first in range(0, len(X), step):
        np.matmul(V, X[first : first + step].T, out=out[:, first : first + step])
    return out


def weighted_gram(A: Vector, weights: Vector) -> Vector:
    """Aᵀ·diag(weights)·A.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    p = A.shape[1]
    out = np.zeros((p, p))
    step = _rows_at_once(len(A), p * p)
    for first in range(0, len(A), step):
        part = A[first : first + step]
        out += part.T @ (part * weights[first : first + step, None])
    return out


def _rows_at_once(n: int, per_row: int) -> int:
    whole = n * per_row > _LARGE or per_row > _ALONE
    return max(1, n if whole else _ALONE // max(1, per_row))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def times(A: Vector, u: Vector) -> Vector:
    """A·u."""
    out = np.empty(len(A))
    for i in range(len(A)):
        total = 0.0
        for j in range(len(u)):
            total += A[i, j] * u[j]
        out[i] = total
    return out


@njit(cache=True, nogil=True, fastmath={"contract"})
def transposed_times(A: Vector, c: Vector) -> Vector:
    """Aᵀ·c."""
    out = np.zeros(A.shape[1])
    for i in range(len(A)):
        for j in range(len(out)):
            out[j] += c[i] * A[i, j]
    return out
