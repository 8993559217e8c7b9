"""The operations of compiled loops on a row a_i.

* ``dot(rows, i, w)``        ⟨a_i, w⟩
* ``dots(rows, i, W, out)``  ⟨a_i, W[:, k]⟩ for every column k, reading the row once
* ``axpy(c, rows, i, w)``    w ← w + c·a_i
* ``sqnorm(rows, i)``        ‖a_i‖²
* ``entries(rows, i)``       the columns of the stored entries of x_i, and their values

The compiler chooses the code by the type of the storage, so that every loop is written once. To use
vector instructions, the compiler may add the terms of a sum in a different order; all else is IEEE
arithmetic. If sums are exact, as for integers, dense and sparse rows give the same result.
Otherwise the results may differ by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload
from numpy import uint64

from novikoff.core.rows import Csr, Dense, Floats, Indices, SignedRows, Unsigned, Vector

Code: TypeAlias = Callable[..., object]

IN_ORDER: Final[Any] = {"forceinline": True}
IN_LANES: Final[Any] = {"forceinline": True, "fastmath": {"reassoc", "contract"}}


def dot(rows: SignedRows, i: int, w: Vector) -> float:
    """⟨a_i, w⟩.

    Examples
    --------
    >>> dot(Dense(np.array([[1.0, 2.0]]), np.array([-1]), 1.0), 0, np.array([3.0, 1.0, 4.0]))
    -9.0
    """
    return _dense_dot(rows, i, w) if isinstance(rows, Dense) else _csr_dot(rows, i, w)


def dots(rows: SignedRows, i: int, W: Vector, out: Vector) -> None:
    """``out[k]`` = ⟨a_i, W[:, k]⟩ for every column k."""
    if isinstance(rows, Dense):
        _dense_dots(rows, i, W, out)
    else:
        _csr_dots(rows, i, W, out)


def axpy(c: float, rows: SignedRows, i: int, w: Vector) -> None:
    """Add c·a_i to w."""
    if isinstance(rows, Dense):
        _dense_axpy(c, rows, i, w)
    else:
        _csr_axpy(c, rows, i, w)


def sqnorm(rows: SignedRows, i: int) -> float:
    """‖a_i‖²."""
    return _dense_sqnorm(rows, i) if isinstance(rows, Dense) else _csr_sqnorm(rows, i)


def entries(rows: SignedRows, i: int) -> tuple[Indices | Unsigned, Floats]:
    """The columns of the stored entries of x_i, and their values, without sign and bias."""
    return _dense_entries(rows, i) if isinstance(rows, Dense) else _csr_entries(rows, i)


# Indices are unsigned, because Numba checks a signed index for negative values at every row.
def _dense_dot(rows: Dense, i: int, w: Vector) -> float:
    x = rows.X[uint64(i)]
    total = 0.0
    for j in range(len(x)):
        total += x[j] * w[j]
    return float(rows.signs[uint64(i)] * (total + rows.bias * w[len(x)]))


def _csr_dot(rows: Csr, i: int, w: Vector) -> float:
    total = 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        total += rows.data[j] * w[rows.indices[j]]
    return float(rows.signs[i] * (total + rows.bias * w[rows.d]))


def _dense_dots(rows: Dense, i: int, W: Vector, out: Vector) -> None:
    x = rows.X[uint64(i)]
    for k in range(len(out)):
        out[k] = rows.bias * W[len(x), k]
    for j in range(len(x)):
        for k in range(len(out)):
            out[k] += x[j] * W[j, k]
    for k in range(len(out)):
        out[k] *= rows.signs[uint64(i)]


def _csr_dots(rows: Csr, i: int, W: Vector, out: Vector) -> None:
    for k in range(len(out)):
        out[k] = rows.bias * W[rows.d, k]
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        column, x = rows.indices[j], rows.data[j]
        for k in range(len(out)):
            out[k] += x * W[column, k]
    for k in range(len(out)):
        out[k] *= rows.signs[i]


def _dense_axpy(c: float, rows: Dense, i: int, w: Vector) -> None:
    x = rows.X[uint64(i)]
    signed = c * rows.signs[uint64(i)]
    for j in range(len(x)):
        w[j] += signed * x[j]
    w[len(x)] += signed * rows.bias


def _csr_axpy(c: float, rows: Csr, i: int, w: Vector) -> None:
    signed = c * rows.signs[i]
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        w[rows.indices[j]] += signed * rows.data[j]
    w[rows.d] += signed * rows.bias


def _dense_sqnorm(rows: Dense, i: int) -> float:
    x = rows.X[uint64(i)]
    total = rows.bias
    for j in range(len(x)):
        total += np.float64(x[j]) * np.float64(x[j])
    return total


def _csr_sqnorm(rows: Csr, i: int) -> float:
    total = rows.bias
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        total += np.float64(rows.data[j]) * np.float64(rows.data[j])
    return total


def _dense_entries(rows: Dense, i: int) -> tuple[Indices, Floats]:
    return np.arange(rows.X.shape[1]), rows.X[uint64(i)]


def _csr_entries(rows: Csr, i: int) -> tuple[Unsigned, Floats]:
    first, last = rows.indptr[i], rows.indptr[i + 1]
    return rows.indices[first:last], rows.data[first:last]


def _pick(rows: types.NamedTuple, dense: Code, csr: Code) -> Code:
    return dense if rows.instance_class is Dense else csr


@overload(dot, strict=False, jit_options=IN_LANES)
def _dot(rows: types.NamedTuple, i: types.Type, w: types.Type) -> Code:
    return _pick(rows, _dense_dot, _csr_dot)


@overload(dots, strict=False, jit_options=IN_LANES)
def _dots(rows: types.NamedTuple, i: types.Type, W: types.Type, out: types.Type) -> Code:
    return _pick(rows, _dense_dots, _csr_dots)


@overload(axpy, strict=False, jit_options=IN_ORDER)
def _axpy(c: types.Type, rows: types.NamedTuple, i: types.Type, w: types.Type) -> Code:
    return _pick(rows, _dense_axpy, _csr_axpy)


@overload(sqnorm, strict=False, jit_options=IN_LANES)
def _sqnorm(rows: types.NamedTuple, i: types.Type) -> Code:
    return _pick(rows, _dense_sqnorm, _csr_sqnorm)


@overload(entries, strict=False, jit_options=IN_ORDER)
def _entries(rows: types.NamedTuple, i: types.Type) -> Code:
    return _pick(rows, _dense_entries, _csr_entries)
