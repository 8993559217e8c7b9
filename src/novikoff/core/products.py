"""Products of matrices on one core, as long as they are small.

A BLAS deals even small products out to all cores and waits for the slowest of them: where
another program, or another part of this one, is busy on one, a product takes ten times as long.
Large products are left to it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.rows import Dense, Vector

# Multiplications from which on a second core is worth waiting for.
_LARGE: Final = 1 << 26
# Rows that are kept near while all lines pass over them.
_NEAR: Final = 64


def dense_slopes(rows: Dense, V: Vector) -> Vector:
    """⟨a_i, v⟩ for each column v of V and each row i, of float64, rounded however it comes.

    Examples
    --------
    >>> rows = Dense(np.array([[1.0, 2.0]]), np.array([-1], dtype=np.int8), 1.0)
    >>> dense_slopes(rows, np.array([[3.0], [1.0], [4.0]]))
    array([[-9.]])
    """
    if rows.X.size * V.shape[1] > _LARGE:
        Q: Vector = V[:-1].T @ rows.X.T
        Q += rows.bias * V[-1][:, None]
        Q *= rows.signs
        return Q
    Q = np.empty((V.shape[1], len(rows.X)))
    _fill_slopes(rows, np.ascontiguousarray(V.T), Q)
    return Q


def weighted_gram(A: Vector, weights: Vector) -> Vector:
    """Aᵀ·diag(weights)·A.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    if A.size * A.shape[1] > _LARGE:
        whole: Vector = A.T @ (A * weights[:, None])
        return whole
    return _small_gram(A, weights)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _fill_slopes(rows: Dense, V: Vector, Q: Vector) -> None:
    X, signs = rows.X, rows.signs
    n, d = X.shape
    for first in range(0, n, _NEAR):
        last = min(n, first + _NEAR)
        whole = last - (last - first) % 4
        for k in range(len(V)):
            shift = rows.bias * V[k, d]
            for i in range(first, whole, 4):
                s0 = s1 = s2 = s3 = shift
                for j in range(d):
                    v = V[k, j]
                    s0 += X[i, j] * v
                    s1 += X[i + 1, j] * v
                    s2 += X[i + 2, j] * v
                    s3 += X[i + 3, j] * v
                Q[k, i], Q[k, i + 1] = s0 * signs[i], s1 * signs[i + 1]
                Q[k, i + 2], Q[k, i + 3] = s2 * signs[i + 2], s3 * signs[i + 3]
            for i in range(whole, last):
                s0 = shift
                for j in range(d):
                    s0 += X[i, j] * V[k, j]
                Q[k, i] = s0 * signs[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _small_gram(A: Vector, weights: Vector) -> Vector:
    n, p = A.shape
    out = np.zeros((p, p))
    whole = n - n % 4
    for i in range(0, whole, 4):
        for j in range(p):
            c0, c1 = weights[i] * A[i, j], weights[i + 1] * A[i + 1, j]
            c2, c3 = weights[i + 2] * A[i + 2, j], weights[i + 3] * A[i + 3, j]
            for k in range(j, p):
                out[j, k] += (c0 * A[i, k] + c1 * A[i + 1, k]) + (
                    c2 * A[i + 2, k] + c3 * A[i + 3, k]
                )
    for i in range(whole, n):
        for j in range(p):
            for k in range(j, p):
                out[j, k] += weights[i] * A[i, j] * A[i, k]
    for j in range(p):
        for k in range(j):
            out[j, k] = out[k, j]
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def logistic_loss(A: Vector, u: Vector, prices: Vector) -> float:
    """Σ c_i·log(1 + exp(−⟨a_i, u⟩))."""
    loss = 0.0
    for i in range(len(A)):
        m = 0.0
        for j in range(len(u)):
            m += A[i, j] * u[j]
        loss += prices[i] * (math.log1p(math.exp(-abs(m))) + max(0.0, -m))
    return loss


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def logistic_slope(A: Vector, u: Vector, prices: Vector, bends: Vector) -> Vector:
    """The gradient of the loss, and for each row its second derivative in ⟨a_i, u⟩."""
    slope = np.zeros(len(u))
    for i in range(len(A)):
        m = 0.0
        for j in range(len(u)):
            m += A[i, j] * u[j]
        wrong = 0.5 - 0.5 * math.tanh(0.5 * m)  # 1/(1 + exp(m))
        bends[i] = prices[i] * wrong * (1.0 - wrong)
        for j in range(len(u)):
            slope[j] -= prices[i] * wrong * A[i, j]
    return slope
