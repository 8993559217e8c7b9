"""The signed, padded rows a_i = y_i·[x_i, 1], read in place and never built.

`Dense` and `Csr` are what the kernels see of the data. Three verbs act on a row, and the
compiler picks their code by the type of the storage, so that every loop is written once:

* ``dot(rows, i, w)``      ⟨a_i, w⟩
* ``axpy(c, rows, i, w)``  w ← w + c·a_i
* ``sqnorm(rows, i)``      ‖a_i‖²

The weights always have d + 1 entries, the last being the bias; without an intercept
``bias`` is 0 and that entry never moves. Sums run in float64 whatever the data's type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload
from numpy import uint64

from novikoff.core.memory import prefetch

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numba.core.decorators import _JITOptions as JitOptions

Vector: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Unsigned: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
SparseMatrix: TypeAlias = "sp.csr_array | sp.csr_matrix"


class Dense(NamedTuple):
    """Rows of a C-ordered float32 or float64 matrix."""

    X: Floats
    signs: npt.NDArray[np.int8]
    bias: float


class Csr(NamedTuple):
    """Rows of a CSR matrix; ``d`` is its number of columns.

    The indices are unsigned views of SciPy's: Numba guards signed ones against negative
    values, which doubles the time of a sparse dot product.
    """

    data: Floats
    indices: Unsigned
    indptr: Unsigned
    signs: npt.NDArray[np.int8]
    bias: float
    d: int


Rows: TypeAlias = Dense | Csr
Array = TypeVar("Array", bound=npt.NDArray[np.generic])
Code: TypeAlias = Callable[..., object]


def view(
    X: Floats | SparseMatrix,
    signs: npt.NDArray[np.int8],
    fit_intercept: bool,
    *,
    checked: bool = False,
) -> Rows:
    """See ``X`` as signed, padded rows, without copying it.

    Only a CSR matrix with unsorted or repeated indices is copied, to put them in order;
    one that was ``checked`` before is known to have none, and none out of range.

    Every array is marked read-only in the view: the data is never written, and memory
    maps, frames and plain arrays share one compiled kernel.

    Examples
    --------
    >>> import numpy as np
    >>> rows = view(np.array([[1.0, 2.0]]), np.array([-1], dtype=np.int8), True)
    >>> dot(rows, 0, np.array([3.0, 1.0, 4.0]))
    -9.0
    """
    bias = 1.0 if fit_intercept else 0.0
    if isinstance(X, np.ndarray):
        return Dense(frozen(X), frozen(signs), bias)
    if not checked:
        X = type(X)(X)  # another object with the same arrays: the check may put in others
        X.check_format(full_check=True)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
    return Csr(
        frozen(X.data),
        frozen(_unsigned(X.indices)),
        frozen(_unsigned(indptr)),
        frozen(signs),
        bias,
        int(X.shape[1]),
    )


def resigned(rows: Rows, signs: npt.NDArray[np.int8]) -> Rows:
    """The same data under other signs."""
    return rows._replace(signs=frozen(signs))


def count(rows: Rows) -> int:
    """The number of rows, n."""
    return len(rows.signs)


def width(rows: Rows) -> int:
    """The length of a weight vector, p = d + 1."""
    return (rows.X.shape[1] if isinstance(rows, Dense) else rows.d) + 1


def nbytes(rows: Rows) -> int:
    """The bytes that one pass over all rows reads."""
    if isinstance(rows, Dense):
        return int(rows.X.nbytes)
    return int(rows.data.nbytes + rows.indices.nbytes)


def dot(rows: Rows, i: int, w: Vector) -> float:
    """⟨a_i, w⟩, the terms added in whatever order is fastest."""
    return _dense_dot(rows, i, w) if isinstance(rows, Dense) else _csr_dot(rows, i, w)


def dot_in_order(rows: Rows, i: int, w: Vector) -> float:
    """⟨a_i, w⟩, the terms added from left to right, the bias last.

    This is the value by which a mistake is defined. Zeros add nothing, so that dense and
    sparse rows agree to the last bit.
    """
    if isinstance(rows, Dense):
        return _dense_dot_in_order(rows, i, w)
    return _csr_dot_in_order(rows, i, w)


def dots(rows: Rows, i: int, W: Vector, out: Vector) -> None:
    """``out[k]`` = ⟨a_i, W[:, k]⟩ for every column k, reading the row once."""
    if isinstance(rows, Dense):
        _dense_dots(rows, i, W, out)
    else:
        _csr_dots(rows, i, W, out)


def axpy(c: float, rows: Rows, i: int, w: Vector) -> None:
    """W ← w + c·a_i."""
    if isinstance(rows, Dense):
        _dense_axpy(c, rows, i, w)
    else:
        _csr_axpy(c, rows, i, w)


def sqnorm(rows: Rows, i: int) -> float:
    """‖a_i‖²."""
    return _dense_sqnorm(rows, i) if isinstance(rows, Dense) else _csr_sqnorm(rows, i)


def entries(rows: Rows, i: int) -> Floats:
    """The stored entries of x_i: all of them, or the nonzeros."""
    return _dense_entries(rows, i) if isinstance(rows, Dense) else _csr_entries(rows, i)


def touch(rows: Rows, first: int, last: int) -> float:
    """Read rows first, …, last − 1 from front to back, one number per cache line.

    Outside of kernels it does nothing.
    """
    return 0.0


def fetch(rows: Rows, i: int) -> None:
    """Ask for row i, to be read soon. Outside of kernels it does nothing."""


def _unsigned(integers: npt.NDArray[np.signedinteger]) -> Unsigned:
    if integers.dtype.itemsize == 4:
        return integers.view(np.uint32)
    return integers.view(np.uint64)


def frozen(array: Array) -> Array:
    """The array as kernels see it: C-ordered, aligned and not to be written."""
    seen = np.require(array, requirements=["C", "A"]).view(np.ndarray)
    seen.flags.writeable = False
    return cast(Array, seen)


# A signed index is guarded against negative values, row for row: hence unsigned ones.
def _dense_dot(rows: Dense, i: int, w: Vector) -> float:
    x = rows.X[uint64(i)]
    total = 0.0
    for j in range(len(x)):
        total += x[j] * w[j]
    return float(rows.signs[uint64(i)] * (total + rows.bias * w[len(x)]))


def _csr_dot(rows: Csr, i: int, w: Vector) -> float:
    # Four chains of additions hide each other's latency; vector gathers are slower.
    data = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
    columns = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
    s0 = s1 = s2 = s3 = 0.0
    whole = len(data) - len(data) % 4
    for j in range(0, whole, 4):
        s0 += data[j] * w[columns[j]]
        s1 += data[j + 1] * w[columns[j + 1]]
        s2 += data[j + 2] * w[columns[j + 2]]
        s3 += data[j + 3] * w[columns[j + 3]]
    for j in range(whole, len(data)):
        s0 += data[j] * w[columns[j]]
    return float(rows.signs[i] * ((s0 + s1) + (s2 + s3) + rows.bias * w[rows.d]))


def _dense_dot_in_order(rows: Dense, i: int, w: Vector) -> float:
    x = rows.X[uint64(i)]
    total = 0.0
    for j in range(len(x)):
        total += np.float64(x[j]) * w[j]
    return float(rows.signs[uint64(i)] * (total + rows.bias * w[len(x)]))


def _csr_dot_in_order(rows: Csr, i: int, w: Vector) -> float:
    total = 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        total += np.float64(rows.data[j]) * w[rows.indices[j]]
    return float(rows.signs[i] * (total + rows.bias * w[rows.d]))


def _dense_dots(rows: Dense, i: int, W: Vector, out: Vector) -> None:
    # Four entries at a time: out[k] is loaded and stored a quarter as often.
    x = rows.X[uint64(i)]
    for k in range(len(out)):
        out[k] = rows.bias * W[len(x), k]
    whole = len(x) - len(x) % 4
    for j in range(0, whole, 4):
        for k in range(len(out)):
            out[k] += (x[j] * W[j, k] + x[j + 1] * W[j + 1, k]) + (
                x[j + 2] * W[j + 2, k] + x[j + 3] * W[j + 3, k]
            )
    for j in range(whole, len(x)):
        for k in range(len(out)):
            out[k] += x[j] * W[j, k]
    for k in range(len(out)):
        out[k] *= rows.signs[uint64(i)]


def _csr_dots(rows: Csr, i: int, W: Vector, out: Vector) -> None:
    # No views of W here: each would be counted, up and down.
    for k in range(len(out)):
        out[k] = rows.bias * W[rows.d, k]
    first, last = rows.indptr[i], rows.indptr[i + 1]
    whole = last - (last - first) % 4
    for j in range(first, whole, 4):
        c0, c1 = rows.indices[j], rows.indices[j + 1]
        c2, c3 = rows.indices[j + 2], rows.indices[j + 3]
        x0, x1, x2, x3 = rows.data[j], rows.data[j + 1], rows.data[j + 2], rows.data[j + 3]
        for k in range(len(out)):
            out[k] += (x0 * W[c0, k] + x1 * W[c1, k]) + (x2 * W[c2, k] + x3 * W[c3, k])
    for j in range(whole, last):
        for k in range(len(out)):
            out[k] += rows.data[j] * W[rows.indices[j], k]
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


def _dense_entries(rows: Dense, i: int) -> Floats:
    x: Floats = rows.X[uint64(i)]
    return x


def _csr_entries(rows: Csr, i: int) -> Floats:
    return rows.data[rows.indptr[i] : rows.indptr[i + 1]]


# Inside a kernel the storage is known at compile time: each verb becomes one of its two
# forms. Sums may be split into vector lanes; nothing else of IEEE arithmetic is relaxed,
# and `dot_in_order` not even that.
_IN_ORDER: JitOptions = {"forceinline": True}
_LANES: JitOptions = {"forceinline": True, "fastmath": {"reassoc", "contract"}}


def _pick(rows: types.NamedTuple, dense: Code, csr: Code) -> Code:
    return dense if rows.instance_class is Dense else csr


@overload(dot, strict=False, jit_options=_LANES)
def _dot(rows: types.NamedTuple, i: types.Type, w: types.Type) -> Code:
    return _pick(rows, _dense_dot, _csr_dot)


@overload(dot_in_order, strict=False, jit_options=_IN_ORDER)
def _dot_in_order(rows: types.NamedTuple, i: types.Type, w: types.Type) -> Code:
    return _pick(rows, _dense_dot_in_order, _csr_dot_in_order)


@overload(dots, strict=False, jit_options=_LANES)
def _dots(rows: types.NamedTuple, i: types.Type, W: types.Type, out: types.Type) -> Code:
    return _pick(rows, _dense_dots, _csr_dots)


@overload(axpy, strict=False, jit_options=_IN_ORDER)
def _axpy(c: types.Type, rows: types.NamedTuple, i: types.Type, w: types.Type) -> Code:
    return _pick(rows, _dense_axpy, _csr_axpy)


@overload(sqnorm, strict=False, jit_options=_IN_ORDER)
def _sqnorm(rows: types.NamedTuple, i: types.Type) -> Code:
    return _pick(rows, _dense_sqnorm, _csr_sqnorm)


@overload(entries, strict=False, jit_options=_IN_ORDER)
def _entries(rows: types.NamedTuple, i: types.Type) -> Code:
    return _pick(rows, _dense_entries, _csr_entries)


@overload(touch, strict=False, jit_options=_LANES)
def _touch(rows: types.NamedTuple, first: types.Type, last: types.Type) -> Code:
    line, short = _entries_per_line(rows)

    def dense(rows: Dense, first: int, last: int) -> float:
        total = 0.0
        for i in range(first, last):
            for j in range(0, rows.X.shape[1], line):
                total += rows.X[i, j]
        return total

    def csr(rows: Csr, first: int, last: int) -> float:
        total = 0.0
        for j in range(rows.indptr[first], rows.indptr[last], line):
            total += rows.data[j]
        for j in range(rows.indptr[first], rows.indptr[last], short):
            total += rows.indices[j]
        return total

    return _pick(rows, dense, csr)


@overload(fetch, strict=False, jit_options=_IN_ORDER)
def _fetch(rows: types.NamedTuple, i: types.Type) -> Code:
    line, short = _entries_per_line(rows)

    def dense(rows: Dense, i: int) -> None:
        d = rows.X.shape[1]
        for j in range(i * d, i * d + d, line):
            prefetch(rows.X, j)

    def csr(rows: Csr, i: int) -> None:
        for j in range(rows.indptr[i], rows.indptr[i + 1], line):
            prefetch(rows.data, j)
        for j in range(rows.indptr[i], rows.indptr[i + 1], short):
            prefetch(rows.indices, j)

    return _pick(rows, dense, csr)


def _entries_per_line(rows: types.NamedTuple) -> tuple[int, int]:
    """How many values, and how many column indices, a cache line of 64 bytes holds."""
    values, indices = rows.types[0], rows.types[1]
    return 512 // values.dtype.bitwidth, 512 // indices.dtype.bitwidth
