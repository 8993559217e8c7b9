"""The data as the checker of certificates sees it: NumPy and nothing of the solver."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterator, Sequence
from numbers import Real
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.geometry.exact import Signs, Vector

Label: TypeAlias = str | int | float | bool | None
Labels: TypeAlias = npt.NDArray[Any]

# Up to so many classes are found by comparing all labels with one of each.
_SEVERAL = 32
# So many numbers are copied at a time to be hashed: they stay near the core.
_AT_ONCE = 1 << 15


class Sparse(Protocol):
    """What is needed of a CSR matrix."""

    shape: tuple[int, int]
    indptr: npt.NDArray[np.integer[Any]]
    indices: npt.NDArray[np.integer[Any]]
    data: npt.NDArray[Any]


Matrix: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64] | Sparse


def as_matrix(X: object) -> Matrix:
    """X as a C-ordered or CSR matrix of floats with the same values; copied only if need be.

    Raises
    ------
    ValueError
        If X is not a table of numbers that float64 can hold.
    """
    if np.ma.is_masked(X):
        raise ValueError("X is masked in places: remove or impute what is missing first.")
    if hasattr(X, "tocsr"):
        return _from_sparse(X)
    dense = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    if dense.ndim != 2:
        raise ValueError(f"X has {dense.ndim} dimension(s), but a table has two.")
    if dense.dtype.kind == "O" or (not isinstance(X, np.ndarray) and _is_large(dense)):
        dense = _by_columns(X) if hasattr(X, "to_numpy") else _from_objects(X)
    _check_numbers(dense)
    wide = dense if dense.dtype in (np.float32, np.float64) else dense.astype(np.float64)
    return np.ascontiguousarray(wide)


def used_columns(matrix: Matrix) -> tuple[Matrix, npt.NDArray[np.int64] | None]:
    """A sparse matrix without its empty columns, if they are most, and the others' numbers."""
    if isinstance(matrix, np.ndarray) or matrix.shape[1] <= 4 * len(matrix.data):
        return matrix, None
    used = np.unique(matrix.indices).astype(np.int64)
    small: Any = matrix
    return cast(Sparse, small[:, used]), used


def signs_of(y: object, positive: Label, negative: Label) -> Signs:
    """+1 where the label is ``positive``, −1 where it is ``negative``, or any other if None.

    Raises
    ------
    ValueError
        If y is not one label per row, or has another label.

    Examples
    --------
    >>> signs_of(["up", "down"], "up", "down").tolist()
    [1, -1]
    """
    labels = labels_of(y)
    signs = np.full(len(labels), -1, dtype=np.int8)
    for label in distinct(labels):
        plain = plain_label(label)
        if plain == positive:
            signs[_equal(labels, label)] = 1
        elif negative is not None and plain != negative:
            raise ValueError(f"it has the label {label!r} besides {positive!r} and {negative!r}.")
    return signs


def labels_of(y: object) -> Labels:
    """One label per row.

    Raises
    ------
    ValueError
        If y is not one label per row, or one is missing.
    """
    if np.ma.is_masked(y):
        raise ValueError("y is masked in places: remove these rows first.")
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.dtype.kind in "US" and not isinstance(y, np.ndarray):
        labels = np.asarray(y, dtype=object)  # numbers among strings stay numbers
    if labels.dtype.kind in "mM":
        if np.isnat(labels).any():
            raise ValueError(f"y has no label in row {int(np.argmax(np.isnat(labels)))}.")
        labels = labels.astype(str)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}, but one label per row is needed.")
    if labels.dtype.kind == "V":
        raise ValueError("y has structured labels: one value per row is needed.")
    missing = (
        np.array([_is_missing(label) for label in labels.tolist()], dtype=np.bool_)
        if (labels.dtype == object)
        else labels != labels
    )
    if missing.any():
        raise ValueError(f"y has no label in row {int(np.argmax(missing))}.")
    return labels


def distinct(labels: Labels) -> list[Hashable]:
    """The different labels, in order where they have one, else in order of their text."""
    found: list[Hashable] = []
    rest = labels
    while len(rest) > 0 and len(found) < _SEVERAL and labels.dtype != object:
        found.append(rest[0])
        rest = rest[rest != rest[0]]
    found.extend(dict.fromkeys(rest.tolist()))
    values = [label.item() if isinstance(label, np.generic) else label for label in found]
    if len({plain_label(value) for value in values}) < len(values):
        raise ValueError(f"y has different labels that look the same: {values[:10]!r}.")
    try:
        return [*sorted(cast("list[str]", values))]
    except TypeError:
        return sorted(values, key=str)


def _equal(labels: Labels, label: Hashable) -> npt.NDArray[np.bool_]:
    if labels.dtype == object:  # NumPy would strip what it takes for padding of strings
        return np.array([other == label for other in labels.tolist()], dtype=np.bool_)
    return np.asarray(labels == label)


def _is_missing(label: object) -> bool:
    try:
        return label is None or not bool(label == label)
    except (TypeError, ValueError):  # pandas' NA is not even unequal to itself
        return True


def plain_label(label: Hashable) -> str | int | float | bool:
    """A label as JSON can hold it."""
    if isinstance(label, np.generic):
        label = label.item()
    return label if isinstance(label, str | int | float | bool) else str(label)


class SignedRows:
    """The rows a_i = y_i·[x_i, 1] by number, as float64."""

    def __init__(self, matrix: Matrix, signs: Signs, fit_intercept: bool) -> None:
        self.matrix, self.signs, self.fit_intercept = matrix, signs, fit_intercept

    def at(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Vector:
        """The rows of the numbers given."""
        n, d = self.matrix.shape
        at = np.array(rows, dtype=np.int64)
        if ((at < 0) | (at >= n)).any():
            raise ValueError(f"There is no row {at[(at < 0) | (at >= n)][0]} among {n}.")
        A = np.zeros((len(at), d + int(self.fit_intercept)))
        A[:, d:] = 1.0
        if isinstance(self.matrix, np.ndarray):
            A[:, :d] = self.matrix[at]
        else:
            first, counts = (indptr := self.matrix.indptr)[at], indptr[at + 1] - indptr[at]
            row = np.repeat(np.arange(len(at)), counts)
            entry = np.arange(len(row)) + np.repeat(first - np.cumsum(counts) + counts, counts)
            A[row, self.matrix.indices[entry]] = self.matrix.data[entry]
        A *= self.signs[at].astype(np.float64)[:, None]  # no buffers to convert them in
        return A

    def parts(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[slice, Vector]]:
        """The rows of the numbers given, some at a time, and which of them these are."""
        most = 4096 if isinstance(self.matrix, np.ndarray) else 16  # of zeros, mostly
        stride = min(most, max(1, (1 << 21) // max(1, self.matrix.shape[1])))
        for first in range(0, len(rows), stride):
            part = slice(first, min(first + stride, len(rows)))
            yield part, self.at(rows[part])

    def blocks(self) -> Iterator[tuple[int, Vector]]:
        """All rows, some at a time, with the number of the first."""
        n, d = self.matrix.shape
        stride = max(1, (1 << 19) // max(1, d))
        for first in range(0, n, stride):
            yield first, self.at(np.arange(first, min(first + stride, n)))


def digest(matrix: Matrix, signs: Signs) -> str:
    """SHA-256 of the numbers and signs, the same however they are stored.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X, signs = np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([1, -1], dtype=np.int8)
    >>> digest(X, signs) == digest(csr_array(X), signs)
    True
    """
    seal = Digest(*matrix.shape)
    seal.add(matrix, last=True)
    return seal.hexdigest(signs)


class Digest:
    """The digest of rows that come a few at a time.

    They are hashed in blocks of their own: a block as float64 where half of it or more is not
    zero, else as counts, columns and values of what is not zero.
    """

    def __init__(self, n: int, d: int) -> None:
        self._d, self._stride = d, max(1, (1 << 18) // max(1, d))
        self._hashed = hashlib.sha256(f"novikoff {n} {d}\n".encode())
        self._counts = np.empty(0, dtype=np.int64)  # of rows that wait for more
        self._columns, self._values = np.empty(0, dtype=np.int64), np.empty(0)

    def add(self, matrix: Matrix, *, last: bool = False) -> None:
        """The next rows; if they are the last, none need wait for more."""
        n = matrix.shape[0]
        first = min(n, (self._stride - len(self._counts)) % self._stride)
        if first > 0:
            self._wait(matrix, 0, first)
        for begin in range(first, n, self._stride):
            end = min(begin + self._stride, n)
            if end - begin < self._stride and not last:
                self._wait(matrix, begin, n)
            elif isinstance(matrix, np.ndarray):
                self._hash_dense(matrix[begin:end])
            else:
                self._hash_sparse(matrix, begin, end)

    def hexdigest(self, signs: Signs) -> str:
        """The digest, once all rows are there."""
        if len(self._counts) > 0:
            self._hash_waiting()
        self._hashed.update(np.ascontiguousarray(signs).data)
        return self._hashed.hexdigest()

    def _wait(self, matrix: Matrix, first: int, last: int) -> None:
        """Keep a few rows until there are enough for a block."""
        counts, columns, values = _nonzeros(matrix, first, last)
        self._counts = np.concatenate([self._counts, counts])
        self._columns = np.concatenate([self._columns, columns])
        self._values = np.concatenate([self._values, values])
        if len(self._counts) == self._stride:
            self._hash_waiting()

    def _hash_waiting(self) -> None:
        self._hash_entries(self._counts, self._columns, self._values)
        self._counts, self._columns = self._counts[:0], self._columns[:0]
        self._values = self._values[:0]

    def _hash_dense(self, rows: npt.NDArray[Any]) -> None:
        if 2 * np.count_nonzero(rows) < rows.size:
            self._hash_entries(*_nonzeros(rows, 0, len(rows)))
            return
        self._hashed.update(b"dense")
        if rows.dtype == np.float64 and not _has_negative_zeros(rows):
            self._hashed.update(np.ascontiguousarray(rows).data)
            return
        stride = max(1, _AT_ONCE // max(1, self._d))
        for first in range(0, len(rows), stride):
            part = np.add(rows[first : first + stride], 0.0, dtype=np.float64)  # no negative zeros
            self._hashed.update(part.data)

    def _hash_sparse(self, matrix: Sparse, first: int, last: int) -> None:
        """Rows of a sparse matrix; in place, a stretch at a time, where no entry is a zero."""
        stretch = slice(int(matrix.indptr[first]), int(matrix.indptr[last]))
        columns, values = matrix.indices[stretch], matrix.data[stretch]
        if 2 * len(values) >= (last - first) * self._d or not values.all():
            self._hash_entries(*_nonzeros(matrix, first, last))
            return
        self._hashed.update(b"sparse")
        counts = np.diff(matrix.indptr[first : last + 1])
        for part, kind in ((counts, np.int64), (columns, np.int64), (values, np.float64)):
            for begin in range(0, len(part), _AT_ONCE):
                piece = np.ascontiguousarray(part[begin : begin + _AT_ONCE], dtype=kind)
                self._hashed.update(piece.data)

    def _hash_entries(
        self, counts: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], values: Vector
    ) -> None:
        if 2 * len(values) >= len(counts) * self._d:
            block = np.zeros((len(counts), self._d))
            block[np.repeat(np.arange(len(counts)), counts), columns] = values
            self._hashed.update(b"dense")
            self._hashed.update(block.data)
            return
        self._hashed.update(b"sparse")
        for part in (counts, columns, values):
            self._hashed.update(np.ascontiguousarray(part).data)


def _has_negative_zeros(rows: npt.NDArray[np.float64]) -> bool:
    return bool((np.ascontiguousarray(rows).view(np.int64) == np.iinfo(np.int64).min).any())


def _nonzeros(
    matrix: Matrix, first: int, last: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Vector]:
    """How many entries of each row are not zero, their columns and values."""
    if isinstance(matrix, np.ndarray):
        block = matrix[first:last].astype(np.float64)
        at, columns = np.nonzero(block)
        values = block[at, columns]
    else:
        columns, values = _entries(matrix, first, last)
        lengths = np.diff(matrix.indptr[first : last + 1])
        at = np.repeat(np.arange(last - first), lengths)[values != 0.0]
        columns, values = columns[values != 0.0], values[values != 0.0]
    counts = np.bincount(at, minlength=last - first).astype(np.int64)
    return counts, columns.astype(np.int64), values


def _entries(matrix: Sparse, first: int, last: int) -> tuple[npt.NDArray[np.int64], Vector]:
    stretch = slice(int(matrix.indptr[first]), int(matrix.indptr[last]))
    columns = np.asarray(matrix.indices[stretch], dtype=np.int64)
    return columns, np.asarray(matrix.data[stretch], dtype=np.float64)


def _from_sparse(matrix: Any) -> Sparse:
    if len(matrix.shape) != 2:
        raise ValueError(f"X has {len(matrix.shape)} dimension(s), but a table has two.")
    sparse = matrix.tocsr()
    _check_numbers(sparse.data)
    if sparse.dtype not in (np.float32, np.float64):
        sparse = sparse.astype(np.float64)
    if not sparse.has_canonical_format:
        sparse = sparse.copy()
        sparse.sum_duplicates()
    return cast(Sparse, sparse)


def _by_columns(frame: Any) -> Vector:
    """A frame whose columns differ in type, each read as what it is."""
    columns = (
        [frame.iloc[:, j] for j in range(frame.shape[1])]
        if hasattr(frame, "iloc")
        else frame.get_columns()
    )
    out = np.empty(frame.shape)
    for j, column in enumerate(columns):
        values = np.asarray(column.to_numpy())
        if values.dtype == object:
            values = _from_objects(values[:, None], j)[:, 0]
        _check_numbers(values)
        out[:, j] = values
    return out


def _is_large(values: npt.NDArray[Any]) -> bool:
    """Whether a conversion may have rounded integers."""
    return values.dtype.kind == "f" and bool((np.abs(values) >= 2.0**53).any())


def _check_numbers(values: npt.NDArray[Any]) -> None:
    """Refuse what float64 cannot hold."""
    if values.dtype.kind in "iu":
        exact = max(-int(values.min(initial=0)), int(values.max(initial=0))) <= 1 << 53
    elif values.dtype.kind == "f":
        exact = values.dtype.itemsize <= 8 or np.array_equal(
            values.astype(np.float64), values, equal_nan=True
        )
    else:
        exact = values.dtype.kind == "b"
        if not exact:
            raise ValueError(f"X contains {values.dtype}, not real numbers: encode it first.")
    if not exact:
        raise ValueError("X contains numbers that float64 cannot hold, such as above 2**53.")


def _from_objects(table: Any, column: int = 0) -> Vector:
    values = np.asarray(table, dtype=object)
    out = np.empty(values.shape)
    for at, value in np.ndenumerate(values):
        number = math.nan if value is None else value
        if not isinstance(number, Real | np.bool_):
            raise ValueError(
                f"X contains {value!r} in row {at[0]}, column {column + at[1]}: encode it first."
            )
        try:
            out[at] = rounded = float(number)
        except OverflowError:
            rounded = math.inf
        if rounded != number and number == number:  # exact, as Python compares
            raise ValueError(f"X contains {value!r}, which float64 cannot hold.")
    return out
