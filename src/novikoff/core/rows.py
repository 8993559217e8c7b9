"""Matrices of rows, dense or CSR: types, operations with one name for both, and arrays for loops.

`as_dense`, `stored_numbers`, `n_stored`, `stacked`, `side_by_side` and `compact` take both, so that
their callers need not tell them apart.

A compiled loop sees the signed rows a_i = y_i·[x_i, 1] as a `Dense` or a `Csr`: a tuple of the
arrays of X, the signs and the bias. The rows a_i themselves are never built. `novikoff.core.verbs`
has the operations on one row.

Weights always have p = d + 1 entries, of which the last is the bias. Without an intercept ``bias``
is 0, the rows are y_i·[x_i, 0], and the last weight never changes. Sums are float64, whatever the
type of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from novikoff.proofs.exact import Indices as Indices
from novikoff.proofs.exact import Mask as Mask
from novikoff.proofs.exact import Signs as Signs
from novikoff.proofs.exact import Vector as Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Unsigned: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
SparseMatrix: TypeAlias = "sp.csr_array | sp.csr_matrix"
Matrix: TypeAlias = "Floats | SparseMatrix"
_Array = TypeVar("_Array", bound=npt.NDArray[np.generic])


# `compact` converts an array to CSR if it has at least _LARGE entries and at most the share _THIN
# of them is not 0.
_LARGE, _THIN = 1 << 16, 0.2


class Dense(NamedTuple):
    """The rows of a C-ordered float32 or float64 matrix."""

    X: Floats
    signs: Signs
    bias: float


class Csr(NamedTuple):
    """The rows of a CSR matrix with ``d`` columns.

    The indices are unsigned views of SciPy's indices, because Numba checks signed indices for
    negative values, which doubles the time of a sparse dot product.
    """

    data: Floats
    indices: Unsigned
    indptr: Unsigned
    signs: Signs
    bias: float
    d: int


SignedRows: TypeAlias = Dense | Csr


def signed_rows(X: Matrix, signs: Signs, fit_intercept: bool) -> SignedRows:
    """Return the arrays of X and the signs, as compiled loops take them; nothing is copied.

    ``X`` is a C-ordered array or a canonical CSR matrix. Every array is a read-only view. So the
    data cannot be changed, and memory maps, frames and plain arrays use the same compiled code.
    """
    bias = 1.0 if fit_intercept else 0.0
    if isinstance(X, np.ndarray):
        return Dense(frozen(X), frozen(signs), bias)
    arrays = frozen(X.data), frozen(_as_unsigned(X.indices)), frozen(_as_unsigned(X.indptr))
    return Csr(*arrays, frozen(signs), bias, int(X.shape[1]))


def canonical_rows(X: Matrix) -> Matrix:
    """A read-only view of X whose rows have sorted and distinct column indices.

    Only a CSR matrix with unsorted or repeated indices is copied.
    """
    if isinstance(X, np.ndarray):
        return frozen(X)
    from scipy.sparse import csr_array  # imported here because dense data does not need it

    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
    canonical = csr_array((frozen(X.data), frozen(X.indices), frozen(indptr)), shape=X.shape)
    canonical.has_canonical_format = True
    return canonical


def as_dense(X: Any, dtype: npt.DTypeLike | None = None) -> Any:
    """Return a matrix as a dense array, of a type if one is given; an array is not copied.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> as_dense(csr_array([[0, 2]]), np.float64)
    array([[0., 2.]])
    """
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype)


def stored_numbers(X: Any) -> Any:
    """Return the numbers that a matrix stores: the array itself, or the entries of a CSR matrix."""
    return X if isinstance(X, np.ndarray) else X.data


def n_stored(X: Matrix) -> int:
    """Return how many numbers a matrix stores."""
    return int(stored_numbers(X).size)


def side_by_side(*parts: Any) -> Any:
    """Return the columns of several matrices beside each other; dense if all are dense."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.ascontiguousarray(np.concatenate(parts, axis=1))
    from scipy.sparse import csr_array, hstack  # imported here because dense data does not need it

    return csr_array(hstack([csr_array(part) for part in parts], format="csr"))


def stacked(*parts: Any) -> Any:
    """Return the rows of several matrices below each other; dense if all matrices are dense.

    A matrix is not copied if all others are empty.
    """
    filled = [part for part in parts if part.shape[0] > 0]
    if len(filled) == 1:
        return filled[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack  # imported here because dense data does not need it

    return csr_array(vstack([csr_array(part) for part in parts], format="csr"))


def compact(X: Matrix) -> Matrix:
    """Return X as a CSR matrix if it is a large array of mostly zeros, else X itself.

    The columns of 0 and 1 of a category column are mostly zeros.
    """
    if not isinstance(X, np.ndarray) or X.size < _LARGE:
        return X
    if np.count_nonzero(X[:: max(1, len(X) // 1_000)]) > _THIN * min(X.size, 1_000 * X.shape[1]):
        return X
    from scipy.sparse import csr_array  # imported here because dense data does not need it

    return csr_array(X)


def frozen(array: _Array) -> _Array:
    """A read-only view of an array, C-ordered and aligned."""
    view = np.require(array, requirements=["C", "A"]).view(np.ndarray)
    view.flags.writeable = False
    return cast(_Array, view)


def _as_unsigned(integers: npt.NDArray[np.signedinteger]) -> Unsigned:
    return cast(Unsigned, integers.view(f"u{integers.dtype.itemsize}"))
