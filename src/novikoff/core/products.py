"""Products of matrices on one core, as long as they are small.

A BLAS deals even small products out to all cores and waits for the slowest of them: where
another program, or another part of this one, is busy on one, a product takes ten times as long.
Large products are left to it.

Rows are turned into columns first: then a core adds up many rows side by side, and no row has an
end that does not fill its lanes.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numba import njit
from numpy import uint64

from novikoff.core.rows import Indices, Rows, Vector, axpy

Count: TypeAlias = int | uint64

# Multiplications from which on a second core is worth waiting for.
_LARGE: Final = 1 << 26
# Rows that are kept near while all lines pass over them, and while they are turned.
_NEAR: Final = 256
_TURNED: Final = 32
_ONE, _TWO, _THREE, _FOUR = uint64(1), uint64(2), uint64(3), uint64(4)


def are_small(n: int, p: int, lines: int) -> bool:
    """Whether products of n rows of p entries with so many vectors are made on one core."""
    return n * p * lines <= _LARGE


def signed_columns(rows: Rows, n: int, p: int) -> Vector:
    """The signed, padded rows a_i as the columns of a matrix.

    Examples
    --------
    >>> from novikoff.core.rows import Dense
    >>> signed_columns(Dense(np.array([[1.0, 2.0]]), np.array([-1], dtype=np.int8), 1.0), 1, 3)
    array([[-1.],
           [-2.],
           [-1.]])
    """
    C = np.empty((p, n))
    _turn(rows, C)
    return C


def slopes(C: Vector, V: Vector) -> Vector:
    """V·C: ⟨a_i, v⟩ for each row v of V and each column a_i of C, rounded however it comes.

    Examples
    --------
    >>> slopes(np.array([[-1.0], [-2.0]]), np.array([[3.0, 1.0]]))
    array([[-5.]])
    """
    if not are_small(C.shape[1], len(C), len(V)):
        return np.asarray(V @ C)
    Q = np.empty((len(V), C.shape[1]))
    fill_slopes(C, np.ascontiguousarray(V), np.arange(len(V)), Q)
    return Q


def weighted_gram(C: Vector, weights: Vector) -> Vector:
    """C·diag(weights)·Cᵀ.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 3.0], [2.0, 4.0]]), np.array([1.0, 0.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    if not are_small(C.shape[1], len(C), len(C)):
        return np.asarray((C * weights) @ C.T)
    return _small_gram(C, weights)


@njit(cache=True, nogil=True)
def _turn(rows: Rows, C: Vector) -> None:
    p, n = C.shape
    some = np.empty((_TURNED, p))
    for first in range(0, n, _TURNED):
        size = min(_TURNED, n - first)
        some[:] = 0.0
        for i in range(size):
            axpy(1.0, rows, first + i, some[i])
        for j in range(p):
            for i in range(size):
                C[j, first + i] = some[i, j]


@njit(cache=True, nogil=True)
def fill_slopes(C: Vector, V: Vector, at: Indices, Q: Vector) -> None:
    """Q[k] ← V[k]·C for the lines of the numbers given: two at a time, over rows that stay near."""
    n, lines = uint64(C.shape[1]), len(at)
    q, r = np.empty(_NEAR), np.empty(_NEAR)
    for first in range(uint64(0), n, uint64(_NEAR)):
        size = min(uint64(_NEAR), n - first)
        for line in range(0, lines, 2):
            k, other = uint64(at[line]), uint64(at[min(line + 1, lines - 1)])
            _add_columns(C, V, k, other, first, size, q, r)
            for i in range(size):
                Q[k, first + i] = q[i]
            for i in range(size):
                Q[other, first + i] = r[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_columns(
    C: Vector, V: Vector, k: Count, other: Count, first: Count, size: Count, q: Vector, r: Vector
) -> None:
    p = uint64(len(C))
    whole = p - p % _FOUR
    for i in range(size):
        q[i] = r[i] = 0.0
    for j in range(uint64(0), whole, _FOUR):
        v0, v1, v2, v3 = V[k, j], V[k, j + _ONE], V[k, j + _TWO], V[k, j + _THREE]
        u0, u1 = V[other, j], V[other, j + _ONE]
        u2, u3 = V[other, j + _TWO], V[other, j + _THREE]
        for i in range(size):
            c0, c1 = C[j, first + i], C[j + _ONE, first + i]
            c2, c3 = C[j + _TWO, first + i], C[j + _THREE, first + i]
            q[i] += (c0 * v0 + c1 * v1) + (c2 * v2 + c3 * v3)
            r[i] += (c0 * u0 + c1 * u1) + (c2 * u2 + c3 * u3)
    for j in range(whole, p):
        v0, u0 = V[k, j], V[other, j]
        for i in range(size):
            q[i] += C[j, first + i] * v0
            r[i] += C[j, first + i] * u0


@njit(cache=True, nogil=True)
def _small_gram(C: Vector, weights: Vector) -> Vector:
    """Tiles of two by four entries, over columns that stay near."""
    p, n = uint64(len(C)), uint64(C.shape[1])
    out, tile = np.zeros((p, p)), np.empty((2, 4))
    a, b = np.empty(_NEAR), np.empty(_NEAR)
    for first in range(uint64(0), n, uint64(_NEAR)):
        size = min(uint64(_NEAR), n - first)
        for j in range(uint64(0), p, _TWO):
            other = min(j + _ONE, p - _ONE)
            for i in range(size):
                a[i] = weights[first + i] * C[j, first + i]
                b[i] = weights[first + i] * C[other, first + i]
            for k in range(j, p, _FOUR):
                _fill_tile(C, a, b, k, first, size, tile)
                for m in range(min(_FOUR, p - k)):
                    out[j, k + m] += tile[0, m]
                    if other > j:
                        out[other, k + m] += tile[1, m]
    for j in range(p):
        for k in range(j):
            out[j, k] = out[k, j]
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _fill_tile(
    C: Vector, a: Vector, b: Vector, k: Count, first: Count, size: Count, tile: Vector
) -> None:
    last = uint64(len(C)) - _ONE  # what is beyond it is not asked for
    k1, k2, k3 = min(k + _ONE, last), min(k + _TWO, last), min(k + _THREE, last)
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    for i in range(size):
        c0, c1 = C[k, first + i], C[k1, first + i]
        c2, c3 = C[k2, first + i], C[k3, first + i]
        a0, a1, a2, a3 = a0 + a[i] * c0, a1 + a[i] * c1, a2 + a[i] * c2, a3 + a[i] * c3
        b0, b1, b2, b3 = b0 + b[i] * c0, b1 + b[i] * c1, b2 + b[i] * c2, b3 + b[i] * c3
    tile[0, 0], tile[0, 1], tile[0, 2], tile[0, 3] = a0, a1, a2, a3
    tile[1, 0], tile[1, 1], tile[1, 2], tile[1, 3] = b0, b1, b2, b3


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def logistic_loss(m: Vector, prices: Vector) -> float:
    """Σ c_i·log(1 + exp(−m_i))."""
    loss = 0.0
    for i in range(len(m)):
        loss += prices[i] * (math.log1p(math.exp(-abs(m[i]))) + max(0.0, -m[i]))
    return loss


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def logistic_slope(C: Vector, m: Vector, prices: Vector, pulls: Vector, bends: Vector) -> Vector:
    """The gradient of the loss in u, m = Cᵀu.

    For each row, ``pulls`` and ``bends`` become the first and second derivative in m_i.
    """
    for i in range(len(m)):
        wrong = 0.5 - 0.5 * math.tanh(0.5 * m[i])  # 1/(1 + exp(m))
        pulls[i] = -prices[i] * wrong
        bends[i] = prices[i] * wrong * (1.0 - wrong)
    slope = np.zeros(len(C))
    for j in range(len(C)):
        for i in range(len(m)):
            slope[j] += C[j, i] * pulls[i]
    return slope
