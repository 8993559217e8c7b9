"""The signed, padded rows a_i = y_i·[x_i, 1], read in place and never built.

`Dense` and `Csr` are the two storages; `novikoff.core.verbs` has what kernels do with a row.
The weights always have p = d + 1 entries, the last being the bias; without an intercept ``bias``
is 0 and that entry never moves. Sums run in float64 whatever the type of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp

Vector: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
Signs: TypeAlias = npt.NDArray[np.int8]
Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Unsigned: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
SparseMatrix: TypeAlias = "sp.csr_array | sp.csr_matrix"
Matrix: TypeAlias = "Floats | SparseMatrix"


class Dense(NamedTuple):
    """Rows of a C-ordered float32 or float64 matrix."""

    X: Floats
    signs: Signs
    bias: float


class Csr(NamedTuple):
    """Rows of a CSR matrix; ``d`` is its number of columns.

    The indices are unsigned views of SciPy's: Numba guards signed ones against negative
    values, which doubles the time of a sparse dot product.
    """

    data: Floats
    indices: Unsigned
    indptr: Unsigned
    signs: Signs
    bias: float
    d: int


Rows: TypeAlias = Dense | Csr
Array = TypeVar("Array", bound=npt.NDArray[np.generic])


def view(X: Matrix, signs: Signs, fit_intercept: bool) -> Rows:
    """See ``X`` as signed, padded rows, without copying it.

    Only a CSR matrix with unsorted or repeated indices is copied, to put them in order. Every
    array is marked read-only in the view: the data is never written, and memory maps, frames
    and plain arrays share one compiled kernel.
    """
    bias = 1.0 if fit_intercept else 0.0
    if isinstance(X, np.ndarray):
        return Dense(frozen(X), frozen(signs), bias)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
    arrays = frozen(X.data), frozen(_unsigned(X.indices)), frozen(_unsigned(indptr))
    return Csr(*arrays, frozen(signs), bias, int(X.shape[1]))


def matrix(rows: Rows) -> Floats | sp.csr_array:
    """The matrix of the unsigned x_i, which the rows are a view of."""
    if isinstance(rows, Dense):
        return rows.X
    from scipy.sparse import csr_array  # here, for those whose data is dense

    signed = np.dtype(f"i{rows.indices.itemsize}")
    parts = rows.data, rows.indices.view(signed), rows.indptr.view(signed)
    X = csr_array(parts, shape=(len(rows.signs), rows.d))
    X.has_canonical_format = True
    return X


def stacked(*parts: Any) -> Any:
    """The rows of one matrix after those of the other; dense if all are."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack  # here, for those whose rows are dense

    return csr_array(vstack([csr_array(part) for part in parts], format="csr"))


def frozen(array: Array) -> Array:
    """The array as kernels see it: C-ordered, aligned and not to be written."""
    seen = np.require(array, requirements=["C", "A"]).view(np.ndarray)
    seen.flags.writeable = False
    return cast(Array, seen)


def _unsigned(integers: npt.NDArray[np.signedinteger]) -> Unsigned:
    return cast(Unsigned, integers.view(f"u{integers.dtype.itemsize}"))
