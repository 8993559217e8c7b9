"""The data that a proof is about, read once for its digest and for all claims.

The numbers are copied range by range. A copy is rejected if a number is not finite. Otherwise it is
hashed, and then the claims are checked on it. So the hash and the checks use the same numbers, even
if an array changes in the meantime, as a memory-mapped file may.

No number is rounded. Integers, texts and extended floats that float64 cannot hold are rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.errors import CertificateError
from novikoff.proofs import exact
from novikoff.proofs.digest import HashTree, MatrixDigest, RowArrays
from novikoff.proofs.exact import Block, Indices, Signs, Vector

if TYPE_CHECKING:
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound

Label: TypeAlias = str | int | float | bool
# The label of one side of a question; None stands for all other labels.
SideLabel: TypeAlias = Label | None

# Every integer up to this size is exact in float64.
_MAX_EXACT_INTEGER = 1 << 53


class DataReading:
    """One reading of the rows that a proof is about; the check of a proof is a subclass.

    `read` reads rows and keeps the rows whose numbers are ``named``. After all rows have been read,
    `finish` raises CertificateError if they are not the rows of the proof; then `rows_at` returns
    the rows that were kept. Several readings may read different parts of the rows and be merged.

    If ``others`` is True, rows with labels other than the two of the proof are allowed, and have
    the sign 0.
    """

    def __init__(
        self, proof: Certificate | ErrorBound, named: Iterable[int], *, others: bool = False
    ) -> None:
        self.proof, self.d, self._others = proof, proof.d, others
        self.p = proof.d + int(proof.fit_intercept)
        self._named = np.unique(np.fromiter(named, dtype=np.int64))
        if len(self._named) > 0 and not 0 <= self._named[0] <= self._named[-1] < proof.n:
            raise CertificateError("The certificate names a row that does not exist.")
        self._kept: dict[int, tuple[Indices, Vector, int]] = {}
        self._tree, self._signs = HashTree(proof.d), HashTree(0)
        self._sides: set[int] = set()
        self._failed: tuple[int, CertificateError] | None = None

    def read(self, X: object, y: object, part: slice | None = None) -> None:
        """Read all rows, or the rows of a part; ``part`` has their numbers among all rows."""
        proof = self.proof
        frames: list[Any] = [side for side in (X, y) if hasattr(side, "iloc")]
        labels = [frame.index for frame in frames]
        if len(labels) == 2 and len({*map(len, labels)}) == 1 and not labels[0].equals(labels[1]):
            raise CertificateError(
                "The index of y differs from the index of X. Take y.loc[X.index] if rows with "
                "equal labels belong together, or y.to_numpy() if rows at equal positions do."
            )
        part = part or slice(0, proof.n)
        try:
            signs = _read_signs(y, proof.positive, proof.negative, self._others)
            read_range, n, d = open_matrix(X, proof.fit_intercept)
        except (ValueError, TypeError, OverflowError) as error:
            raise CertificateError(f"The certificate is for other data: {error}") from None
        if (part.start + n, d) != (part.stop, proof.d) or len(signs) != n:
            raise CertificateError(
                f"The certificate is for {part.stop - part.start} × {proof.d} numbers, the data "
                f"has {n} × {d} and {len(signs)} labels."
            )
        self._sides |= set(np.unique(signs).tolist())
        self._signs.add(part.start, signs)
        first = part.start
        while first < part.stop:
            last = min(part.stop, self._tree.end_of_leaf(first))
            block_rows = slice(first - part.start, last - part.start)
            try:
                piece, block = read_range(block_rows.start, block_rows.stop, signs[block_rows])
            except (ValueError, TypeError, OverflowError) as error:
                raise CertificateError(f"The certificate is for other data: {error}") from None
            self._tree.add_piece(first, piece)
            low, high = np.searchsorted(self._named, [first, last])
            for row in self._named[low:high].tolist():
                used = np.flatnonzero(block.A[row - first])
                entries = block.columns[used], block.A[row - first, used]
                self._kept[row] = *entries, int(signs[row - part.start])
            try:
                if self._failed is None:
                    self._check_rows(first, block)
            except CertificateError as error:
                self._failed = first, error
            first = last

    def _check_rows(self, first: int, block: Block) -> None:
        """Check the claims about single rows; ``block`` has the signed rows from ``first`` on."""

    def merge(self, other: Self) -> None:
        """Add the rows that another reading of the same proof has read."""
        self._kept |= other._kept
        self._sides |= other._sides
        self._tree.merge(other._tree)
        self._signs.merge(other._signs)
        failures = [failed for failed in (self._failed, other._failed) if failed is not None]
        self._failed = min(failures, key=lambda failed: failed[0], default=None)

    def finish(self) -> None:
        """Raise CertificateError if the rows are other data, or if a claim about a row fails.

        All rows must have been read. Other data is reported before anything else.
        """
        proof = self.proof
        for label, sign in ((proof.positive, 1), (proof.negative, -1)):
            if (label is not None or sign > 0) and sign not in self._sides:
                raise CertificateError(f"The certificate is for other data: no label is {label!r}.")
        if MatrixDigest.of_tree(self._tree, proof.n).signed(self._signs) != proof.sha256:
            raise CertificateError(
                "The certificate is for other data: the rows or labels differ from those it is "
                "about (another SHA-256 digest)."
            )
        if self._failed is not None:
            raise self._failed[1]

    def sign(self, row: int) -> int:
        """Return the sign of a row that was named."""
        return self._kept[row][2]

    def rows_at(self, rows: Sequence[int]) -> Block:
        """Return signed rows that were named, by their numbers."""
        entries = [self._kept[row] for row in rows]
        counts = np.array([len(part[0]) for part in entries], dtype=np.int64)
        columns = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in entries)])
        values = np.concatenate([np.empty(0), *(part[1] for part in entries)])
        ones = np.ones(len(rows), dtype=np.int8)
        return exact.sparse_block(counts, columns, values, self.p, ones, False)


# A function that copies a range of rows, and returns the arrays to hash and the signed rows.
_ReadRange: TypeAlias = Callable[[int, int, Signs], tuple[RowArrays, Block]]


def open_matrix(X: Any, padded: bool) -> tuple[_ReadRange, int, int]:
    """Return a function that reads ranges of the rows of X, and the shape of X.

    If ``padded``, the signed rows have a last column: the sign, for the bias.
    """
    exact.check_arithmetic()
    if np.ma.is_masked(X):
        raise ValueError("it is masked in places.")
    sparse = hasattr(X, "tocsr")
    table: Any = X if sparse or isinstance(X, np.ndarray) else _as_array(X)
    if len(table.shape) != 2:
        raise ValueError(f"it has {len(table.shape)} dimension(s), but a table has two.")
    n, d = int(table.shape[0]), int(table.shape[1])
    if sparse:
        return _open_sparse(table, n, d, padded), n, d

    def read(first: int, last: int, signs: Signs) -> tuple[RowArrays, Block]:
        copy = np.array(table[first:last], copy=True, subok=False)
        if copy.shape != (last - first, d):
            raise ValueError("its shape changed while it was read.")
        rows = _exact_floats(copy, first)
        for i, j in np.argwhere(~np.isfinite(rows)).tolist():
            raise _not_finite(rows[i, j], first + i, j)
        return (rows,), exact.dense_block(rows, signs, padded)

    return read, n, d


def _not_finite(value: float, row: int, column: int) -> ValueError:
    what = "NaN" if math.isnan(value) else "infinity"
    return ValueError(
        f"it has {what} in row {row}, column {column}, and certificates are about finite numbers."
    )


def _malformed_sparse(what: str) -> ValueError:
    return ValueError(f"it is a malformed sparse matrix: {what}.")


def _as_array(X: Any) -> npt.NDArray[Any]:
    """Convert a data frame, whose columns may differ in type, or nested sequences to an array.

    A column of categories becomes one column of 0 and 1 for each category that occurs.
    """
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        by_number = hasattr(X, "iloc")
        columns = []
        for j in range(X.shape[1]):
            column = X.iloc[:, j] if by_number else X[:, j]
            codes = _codes(column, by_number)
            if codes is None:
                values = np.array(column.to_numpy())[:, None]
            else:
                values = np.where(codes < 0, np.nan, codes == np.unique(codes[codes >= 0]))
            columns.append(_exact_floats(values, 0))
        return np.concatenate(columns, axis=1) if columns else np.empty(tuple(X.shape))
    table = np.asarray(X)
    large = table.dtype.kind == "f" and bool((np.abs(table) >= _MAX_EXACT_INTEGER).any())
    if not hasattr(X, "dtype") and (table.dtype.kind in "USO" or large):
        return np.array(X, dtype=object)  # the conversion to float64 would have rounded
    return table


def _codes(column: Any, pandas: bool) -> npt.NDArray[Any] | None:
    """Return the numbers of a column of categories, −1 where they are missing; else None."""
    if pandas:
        return np.array(column.cat.codes)[:, None] if hasattr(column, "cat") else None
    if not str(column.dtype).startswith(("Categorical", "Enum")):  # of polars
        return None
    coded = column.to_arrow()
    codes = coded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)[:, None]
    if not coded.type.ordered:  # as many numbers, in the order of the sorted categories
        rank = np.argsort(np.argsort(np.array(coded.dictionary.to_pylist(), dtype=object)))
        codes = np.where(codes < 0, -1, np.append(rank, -1)[codes])
    return codes


def exact_vector(values: Any) -> Vector:
    """Convert numbers to float64; ValueError if one of them would be rounded."""
    return _exact_floats(np.atleast_1d(_as_array(values)), 0)


def _exact_floats(values: npt.NDArray[Any], first: int) -> Vector:
    """Convert rows, the first of which has the number ``first``, to float64 without rounding."""
    if values.dtype.kind not in "biufO":
        raise ValueError(f"it contains {values.dtype}, not real numbers.")
    values = exact.python_integers(values) if values.dtype.kind == "O" else values
    wide = values.astype(np.float64, copy=False)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        rounded = (values > _MAX_EXACT_INTEGER) | (values < -_MAX_EXACT_INTEGER)
    else:  # a text among objects differs from every number, too
        rounded = (wide != values) & (values == values)
    if np.any(rounded):
        row = first + int(np.argwhere(rounded)[0][0])
        raise ValueError(f"row {row} has something else than a number that float64 can hold.")
    return wide


def _open_sparse(X: Any, n: int, d: int, padded: bool) -> _ReadRange:
    """Return a function that reads ranges of the rows of a SciPy matrix."""
    form = getattr(X, "format", "")
    if form == "csr":
        indptr, indices, data = np.array(X.indptr), X.indices, X.data
    else:
        if form == "csc":  # the entries are stored by columns, each with the number of its row
            ends, rows, data = (np.array(part) for part in (X.indptr, X.indices, X.data))
            _check_ends(ends, d, min(len(rows), len(data)))
            rows, data = rows[: int(ends[-1])], data[: int(ends[-1])]
            indices = np.repeat(np.arange(d), np.diff(ends).astype(np.int64))
        elif form in ("coo", "dok", "lil", "bsr", "dia"):
            entries = X if form == "coo" else X.tocoo()
            rows, indices, data = (
                np.array(part) for part in (entries.row, entries.col, entries.data)
            )
        else:
            raise ValueError(f"it is a sparse matrix of format {form!r}: convert it by tocsr().")
        if not len(rows) == len(indices) == len(data) or rows.dtype.kind not in "iu":
            raise _malformed_sparse("its rows are not integers, one for each entry")
        if len(rows) > 0 and not 0 <= int(rows.min()) <= int(rows.max()) < n:
            raise _malformed_sparse("a row is out of range")
        order = np.argsort(rows, kind="stable")
        indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
        indices, data = indices[order], data[order]
    _check_ends(indptr, n, min(len(indices), len(data)))
    if indices.dtype.kind not in "iu":
        raise _malformed_sparse("its indices are not integers")

    def read(first: int, last: int, signs: Signs) -> tuple[RowArrays, Block]:
        stretch = slice(int(indptr[first]), int(indptr[last]))
        counts = np.diff(indptr[first : last + 1]).astype(np.int64)
        columns = np.array(indices[stretch]).astype(np.int64)
        values = _exact_floats(np.array(data[stretch])[:, None], first)[:, 0]
        if not len(columns) == len(values) == int(counts.sum()):
            raise ValueError("its shape changed while it was read.")
        if len(columns) > 0 and not 0 <= int(columns.min()) <= int(columns.max()) < d:
            raise _malformed_sparse("a column is out of range")
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            row = first + int(np.searchsorted(np.cumsum(counts), k, side="right"))
            raise _not_finite(values[k], row, int(columns[k]))
        parts = _in_order(counts, columns, values)
        return parts, exact.sparse_block(*parts, d, signs, padded)

    return read


def _check_ends(indptr: npt.NDArray[Any], n: int, most: int) -> None:
    """Reject an indptr that does not rise from 0 to at most the number of entries."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != n + 1:
        raise _malformed_sparse(f"indptr is not {n} + 1 integers")
    if int(indptr[0]) != 0 or (indptr[1:] < indptr[:-1]).any():
        raise _malformed_sparse("indptr does not rise from 0")
    if int(indptr[-1]) > most:
        raise _malformed_sparse("indptr ends beyond its entries")


def _in_order(counts: Indices, columns: Indices, values: Vector) -> tuple[Indices, Indices, Vector]:
    """Sort the entries of each row by column, and add up entries of one place exactly."""
    row = np.repeat(np.arange(len(counts)), counts)
    if ((np.diff(columns) > 0) | (np.diff(row) > 0)).all():
        return counts, columns, values
    order = np.lexsort((columns, row))
    row, columns, values = row[order], columns[order], values[order]
    first = np.flatnonzero(np.append(True, (np.diff(columns) != 0) | (np.diff(row) != 0)))
    sums = values[first]
    ends = np.append(first[1:], len(row))
    for k in np.flatnonzero(ends - first > 1).tolist():
        parts = values[first[k] : ends[k]].tolist()
        sums[k] = math.fsum(parts)
        if not math.isfinite(sums[k]) or sum(map(Fraction, parts)) != Fraction(float(sums[k])):
            raise ValueError("entries of one place have a sum that float64 cannot hold.")
    return np.bincount(row[first], minlength=len(counts)), columns[first], sums


def _read_signs(y: Any, positive: SideLabel, negative: SideLabel, others: bool) -> Signs:
    """Return +1 for the label ``positive`` and −1 for ``negative``, or for all others if None.

    Other labels raise ValueError, or have the sign 0 if ``others`` are allowed.
    """
    if y is None or np.ma.is_masked(y):
        raise ValueError("labels are missing.")
    given = y.to_numpy() if hasattr(y, "to_numpy") else y
    labels = np.array(given)
    large = labels.dtype.kind == "f" and bool((np.abs(labels) >= _MAX_EXACT_INTEGER).any())
    if not hasattr(given, "dtype") and (labels.dtype.kind in "US" or large):
        labels = np.array(given, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind in "Vc":
        raise ValueError(f"its labels have shape {labels.shape}: one per row is needed.")
    if labels.dtype.kind in "mM":
        if np.isnat(labels).any():
            raise ValueError("a label is missing.")
        labels = labels.astype(str)
    places: dict[Any, int] = {}
    place = [places.setdefault(label, len(places)) for label in labels.tolist()]
    signs = np.full(len(places), -1, dtype=np.int8)
    for label, k in places.items():
        if label is None or label != label:
            raise ValueError("a label is missing.")
        plain = label if isinstance(label, str | int | float | bool) else str(label)
        if plain == positive:
            signs[k] = 1
        elif negative is not None and plain != negative:
            if not others:
                raise ValueError(
                    f"it has the label {label!r} besides {positive!r} and {negative!r}."
                )
            signs[k] = 0
    return np.asarray(signs[np.array(place, dtype=np.int64)])
