"""Check matrices and data frames once, at the public interface.

`check_matrix` returns a C-ordered float32 or float64 array, or a CSR matrix with sorted and
distinct column indices. No value is guessed and no number is rounded. Numbers that float64 cannot
represent, and sparse matrices whose arrays contradict each other, are rejected with an error. NaN
and infinity are found later by `novikoff.core.problem.Rows.of`, which reads every entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats
from novikoff.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

# The row and the column of an entry as errors name them; None if errors do not name it.
Place: TypeAlias = Callable[[int, int], tuple[int | None, int | str | None]]

# Every integer up to this size is exact in float64.
MAX_EXACT = 1 << 53
# How error messages end, by the values that are no numbers.
_NUMBERS_FOR_DATES = "turn dates into numbers first, such as days since the first date"
_NUMBERS_FOR_DURATIONS = "turn durations into numbers first, such as days"
_ENCODED = "encode it first"
_CATEGORIES_FOR_TEXT = (
    'turn its values into categories first: .astype("category") in pandas, .cast(pl.Categorical) '
    "in polars"
)


class _ErrorContext(NamedTuple):
    """What errors say about an argument: its name, the places of entries, and advice on text."""

    name: str
    place: Place
    advice_on_text: str = _ENCODED

    def where(self, i: int, j: int) -> str:
        """The place of an entry, such as " in row 0, column 1"."""
        row, column = self.place(i, j)
        parts = [] if row is None else [f"row {row}"]
        parts += [] if column is None else [f"column {column}"]
        return f" in {', '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Columns:
    """The names of the columns of X, and the columns of 0 and 1 of each category column."""

    names: Sequence[Hashable]
    groups: Mapping[Hashable, range] = field(default_factory=dict)


def _row_and_column(i: int, j: int) -> tuple[int, int]:
    return i, j


def check_matrix(
    X: object,
    levels: Mapping[Hashable, Sequence[Any]] | None = None,
    *,
    name: str = "X",
    place: Place = _row_and_column,
) -> Floats | sp.csr_array:
    """Check X, and return it as a C-ordered float array or as a canonical CSR matrix.

    The values are the same. Float32 and float64 arrays, including memory maps, and canonical CSR
    matrices are not copied.

    Parameters
    ----------
    X : array, data frame, sparse matrix or nested sequence of shape (n, d)
        The numbers. Booleans and integers become float64. A column of categories (pandas, or
        Categorical and Enum of polars) becomes one column of 0 and 1 for each category that occurs.
    levels : mapping, optional
        The categories of each category column by its name, if X is a part of a larger frame.
    name : str
        What errors call X.
    place : callable
        How errors name the row and the column of an entry of an array or of nested sequences.

    Examples
    --------
    >>> check_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    >>> check_matrix([[1, "two"]])
    Traceback (most recent call last):
        ...
    novikoff.errors.DataError: X contains 'two' in row 0, column 1, which is not a number: \
encode it first.
    """
    if X is None:
        raise DataError(f"{name} is missing: a table of numbers is needed.")
    if np.ma.is_masked(X):
        raise DataError(f"{name} has masked entries: remove or impute missing values first.")
    if hasattr(X, "tocsr") and hasattr(X, "shape"):
        return _not_empty(_from_sparse(X, name), name)
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return _not_empty(_from_frame(X, levels or {}, name), name)
    dense = _plain_array(X, name)
    if dense.ndim != 2:
        raise DataError(
            f"{name} has {dense.ndim} dimension(s), but a table has two. Reshape your data: "
            f"{name}.reshape(-1, 1) if it is one column, {name}.reshape(1, -1) if it is one row."
        )
    floats = _as_floats(_not_empty(dense, name), _ErrorContext(name, place))
    return aligned(np.ascontiguousarray(floats))


def aligned(array: Any) -> Any:
    """Return the array, or a copy of it if its numbers are not aligned in memory.

    An array that was received over a network, or that begins in the middle of a buffer, may be
    misaligned, which makes loops several times slower.
    """
    return np.require(array, requirements=["ALIGNED"])


def columns_of(X: Any, d: int) -> Columns:
    """Return the names of the d columns that `check_matrix` makes of X; numbers if X has no names.

    Data frames and the design matrices of formulaic and patsy have names.

    Examples
    --------
    >>> list(columns_of([[1.0, 2.0]], 2).names)
    [0, 1]
    """
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        described = getattr(X, "model_spec", None) or getattr(X, "design_info", None)
        names: Sequence[Hashable] = [*getattr(described, "column_names", ())]
        return Columns(names if len(names) == d == len({*names}) else range(d))
    coded = [_categories(column) for column in _columns_of_frame(X)]
    columns = widened(zip(X.columns, [names and names[1] for names in coded], strict=True))
    return columns if len({*columns.names}) == d else Columns(range(d))


def widened(columns: Iterable[tuple[Hashable, Sequence[Any] | None]]) -> Columns:
    """Return the names of columns, where each category column becomes one column per category.

    Examples
    --------
    >>> widened([("age", None), ("size", ["small", "large"])]).names
    ['age', 'size=small', 'size=large']
    """
    names: list[Hashable] = []
    groups: dict[Hashable, range] = {}
    given: set[Hashable] = set()
    for name, levels in columns:
        if name in groups or (levels is not None and name in given):
            raise DataError(
                f"X has two columns named {name!r}, and one has categories: rename one of them."
            )
        given.add(name)
        if levels is not None:
            groups[name] = range(len(names), len(names) + len(levels))
        names += [name] if levels is None else [f"{name}={level}" for level in levels]
    if len({*names}) < len(names) and groups:
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"X would have two columns named {twice!r}: rename a column.")
    return Columns(names, groups)


def check_same_index(X: Any, y: Any) -> None:
    """Raise ValueError if X and y are pandas objects whose rows have different labels.

    Examples
    --------
    >>> import pandas as pd
    >>> check_same_index(pd.DataFrame({"a": [1, 2]}), pd.Series([0, 1], index=[1, 0]))
    Traceback (most recent call last):
        ...
    novikoff.errors.DataError: The index of y differs from the index of X: row 0 is 0 in X and 1 \
in y. Take y.loc[X.index] if rows with equal labels belong together, or y.to_numpy() if rows at \
equal positions do.
    """
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")) or len(X) != len(y):
        return
    if not X.index.equals(y.index):
        pairs = enumerate(zip(X.index.tolist(), y.index.tolist(), strict=True))
        row, (of_x, of_y) = next((k, pair) for k, pair in pairs if pair[0] != pair[1])
        raise DataError(
            f"The index of y differs from the index of X: row {row} is {of_x!r} in X and {of_y!r} "
            "in y. Take y.loc[X.index] if rows with equal labels belong together, or y.to_numpy() "
            "if rows at equal positions do."
        )


def missing_value(what: str, row: int, column: int, name: Hashable = None, *, of: str = "X") -> str:
    """Return the error message about NaN or infinity in an argument, ``of``."""
    named = "" if name is None else f" ({name!r})"
    return (
        f"Input {of} contains {what} in row {row}, column {column}{named}: "
        "remove or impute missing and infinite values first."
    )


def is_missing(label: object) -> bool:
    """Whether a value is None, NaN or another mark of a missing value."""
    try:
        return label is None or not bool(label == label)
    except (TypeError, ValueError):  # comparing pandas' NA with itself raises an error
        return True


def _not_empty(X: Any, name: str) -> Any:
    """Return X; DataError unless it has at least one row and one column."""
    n, d = X.shape
    if n == 0:
        raise DataError(f"{name} has no rows (shape=(0, {d})): there is nothing to separate.")
    if d == 0:
        raise DataError(
            f"{name} has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required."
        )
    return X


def _plain_array(X: object, name: str) -> npt.NDArray[Any]:
    """Return X as an array; nested sequences stay Python objects if NumPy may have rounded."""
    if isinstance(X, np.ndarray):
        return X
    given: Any = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(given, np.ndarray):
        return given
    try:
        values = np.asarray(given)
    except ValueError:
        raise DataError(f"{name} is not a table: its rows differ in length.") from None
    if values.dtype.kind in "USOmMc" or (may_be_rounded(values) and not hasattr(given, "dtype")):
        return np.asarray(given, dtype=object)
    return values


def may_be_rounded(values: npt.NDArray[Any]) -> bool:
    """Whether a conversion of integers to floats may have rounded them."""
    return values.dtype.kind == "f" and bool((np.abs(values) >= MAX_EXACT).any())


def _from_frame(frame: Any, levels: Mapping[Hashable, Sequence[Any]], name: str) -> Floats:
    """Return the numbers of a data frame, read by columns if the types of the columns differ."""
    columns = _columns_of_frame(frame)
    kinds = {str(column.dtype) for column in columns}
    if len(kinds) == 1 and kinds <= {"float32", "float64", "Float32", "Float64"}:
        whole = np.asarray(frame.to_numpy())
        if whole.dtype in (np.float32, np.float64):
            return np.ascontiguousarray(whole)
    parts: list[npt.NDArray[Any]] = []
    for j, column in enumerate(columns):
        coded = _categories(column, levels.get(column.name))
        if coded is not None:
            codes, categories = coded
            if (codes < 0).any():
                row = int(np.argmin(codes))
                raise DataError(missing_value("NaN", row, j, column.name, of=name))
            parts.append(codes[:, None] == np.arange(len(categories)))
            continue
        values = np.asarray(column.to_numpy())[:, None]
        named = f"{j} ({column.name!r})"
        place: Place = lambda i, _, c=named: (i, c)  # type: ignore[misc]  # noqa: E731
        parts.append(_as_floats(values, _ErrorContext(name, place, _CATEGORIES_FOR_TEXT)))
    out = np.empty((frame.shape[0], sum(part.shape[1] for part in parts)))
    return np.concatenate(parts, axis=1, out=out) if parts else out


def _columns_of_frame(frame: Any) -> list[Any]:
    """The columns of a pandas or polars data frame."""
    by_number = hasattr(frame, "iloc")
    return [frame.iloc[:, j] if by_number else frame[:, j] for j in range(frame.shape[1])]


def _categories(
    column: Any, levels: Sequence[Any] | None = None
) -> tuple[npt.NDArray[np.int64], Sequence[Any]] | None:
    """Return the code of each row, and the categories that occur; None if there are no categories.

    A missing value has the code −1. If ``levels`` are given, they are the categories.
    """
    coded = coded_categories(column)
    if coded is None:
        return None
    codes, categories = coded
    if levels is not None:
        place = {level: k for k, level in enumerate(levels)}
        return np.array([*(place.get(category, -1) for category in categories), -1])[codes], levels
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(categories) + 1)[1:])
    renumbered = np.full(len(categories) + 1, -1, dtype=np.int64)
    renumbered[used] = np.arange(len(used))
    return renumbered[codes], [categories[k] for k in used.tolist()]


def coded_categories(column: Any) -> tuple[npt.NDArray[np.int64], list[Any]] | None:
    """Return the code of each row, and all categories in order; None if there are no categories.

    A missing value has the code −1. The categories of polars' Categorical have no order; they are
    sorted.

    Examples
    --------
    >>> import polars as pl
    >>> codes, categories = coded_categories(pl.Series(["b", None, "a"], dtype=pl.Categorical))
    >>> codes.tolist(), categories
    ([1, -1, 0], ['a', 'b'])
    """
    if hasattr(column, "categories") and hasattr(column, "codes"):  # a pandas.Categorical
        return np.asarray(column.codes, dtype=np.int64), column.categories.tolist()
    if hasattr(column, "iloc"):
        if not hasattr(column, "cat"):
            return None
        return np.asarray(column.cat.codes, dtype=np.int64), column.cat.categories.tolist()
    if not str(getattr(column, "dtype", "")).startswith(("Categorical", "Enum")):
        return None
    arrow = column.to_arrow()
    codes = arrow.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    categories = arrow.dictionary.to_pylist()
    if arrow.type.ordered:
        return codes, categories
    order = sorted(range(len(categories)), key=categories.__getitem__)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    return place[codes], [categories[k] for k in order]


def _as_floats(values: npt.NDArray[Any], context: _ErrorContext) -> Floats:
    """Return the numbers as float32 or float64.

    If a number would be rounded, the error names its row and column.
    """
    if values.dtype in (np.float32, np.float64) and values.dtype.isnative:
        return values
    kind = values.dtype.kind
    if kind == "O":
        return _from_objects(values, context)
    if kind not in "biuf":
        column = context.place(0, 0)[1] if values.size > 0 else None
        where = "" if column is None else f" in column {column}"
        if kind == "c":
            raise DataError(
                f"Complex data not supported: {context.name} contains {values.dtype}{where}; put "
                "real and imaginary parts into separate columns."
            )
        what, advice = {
            "m": ("durations", _NUMBERS_FOR_DURATIONS),
            "M": ("dates", _NUMBERS_FOR_DATES),
        }.get(kind, ("text", context.advice_on_text))
        raise DataError(
            f"{context.name} contains {what} ({values.dtype}){where}, not numbers: {advice}."
        )
    wide = values.astype(np.float64)
    if kind == "f":
        rounded = (wide != values) & (values == values)
    elif values.dtype.itemsize < 8:
        return wide
    else:
        rounded = (values > MAX_EXACT) | (values < -MAX_EXACT)
    if rounded.any():
        i, j = np.argwhere(rounded)[0].tolist()
        raise _not_exact(values[i, j], context.name, context.where(i, j))
    return wide


def _from_objects(values: npt.NDArray[Any], context: _ErrorContext) -> npt.NDArray[np.float64]:
    out = np.empty(values.shape)
    for (i, j), value in np.ndenumerate(values):
        number = math.nan if value is None or is_missing(value) else value
        if isinstance(number, np.integer):  # NumPy would round the integer before the comparison
            number = int(number)
        if not isinstance(number, Real | np.bool_):
            where = f"{context.name} contains {value!r}{context.where(i, j)}"
            if isinstance(value, Collection) and not isinstance(value, str | bytes):
                raise TypeError(f"{where}: the argument must be free of strings, only numbers.")
            dated = hasattr(value, "isoformat") or hasattr(value, "to_timestamp")
            advice = context.advice_on_text if isinstance(value, str) else _ENCODED
            advice = _NUMBERS_FOR_DATES if dated else advice
            raise DataError(f"{where}, which is not a number: {advice}.")
        try:
            out[i, j] = float(number)
        except OverflowError:
            out[i, j] = math.inf
        if float(out[i, j]) != number and number == number:  # Python compares exactly
            raise _not_exact(value, context.name, context.where(i, j))
    return out


def _not_exact(value: object, name: str, where: str) -> ValueError:
    why, advice = "which float64 cannot hold exactly", ""
    if isinstance(value, int) and abs(value) >= 2**1024:
        return ValueError(f"{name} contains a number beyond the range of float64{where}.")
    if isinstance(value, int | np.integer):
        advice = ": subtract a constant from the column"
        if int(float(value)) == int(value):
            why = "beyond 2⁵³, where float64 rounds integers"
    mark = "," if where else ""
    return ValueError(f"{name} contains {value}{where}{mark} {why}{advice}.")


def _malformed(what: str, name: str) -> DataError:
    return DataError(f"{name} is a malformed sparse matrix: {what}.")


def _from_sparse(matrix: Any, name: str) -> sp.csr_array:
    """A sparse matrix in canonical CSR form; its arrays are checked before they are used."""
    if len(matrix.shape) != 2:
        raise DataError(f"{name} has {len(matrix.shape)} dimension(s), but a table has two.")
    n, d = int(matrix.shape[0]), int(matrix.shape[1])
    form = getattr(matrix, "format", "")
    if form in ("csr", "csc"):
        indptr, indices, data = matrix.indptr, matrix.indices, np.asarray(matrix.data)
        shape = (n, d) if form == "csr" else (d, n)
        stored = check_compressed(indptr, indices, data, shape, name)
        indices, data = indices[:stored], data[:stored]
        if form == "csr" and _is_canonical(indptr, indices):

            def place(k: int, _: int) -> tuple[int, int]:
                return int(np.searchsorted(indptr, k, side="right")) - 1, int(indices[k])

            floats = _as_floats(data[:, None], _ErrorContext(name, place))[:, 0]
            return _csr(aligned(floats), aligned(indices), aligned(indptr), (n, d))
        import scipy.sparse as sp

        compressed = sp.csr_array if form == "csr" else sp.csc_array
        matrix = compressed((data, indices, indptr), shape=(n, d))
    entries = matrix if form == "coo" else matrix.tocoo()
    rows, columns, data = (np.asarray(part) for part in (*entries.coords, entries.data))
    for indices, most, what in ((rows, n, "row"), (columns, d, "column")):
        if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) != len(data):
            raise _malformed("its indices are not integers", name)
        outside = (indices < 0) | (indices >= most)
        if outside.any():
            raise _malformed(f"{what} {indices[np.argmax(outside)]} is not below {most}", name)
    context = _ErrorContext(name, lambda k, _: (int(rows[k]), int(columns[k])))
    numbers = _as_floats(data[:, None], context)[:, 0]
    order = np.lexsort((columns, rows))
    sorted_entries = rows[order], columns[order], numbers[order]
    rows, columns, numbers = _without_duplicates(*sorted_entries, name)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    kind = np.int32 if max(len(numbers), d, n) < 2**31 else np.int64
    return _csr(numbers, columns.astype(kind), indptr.astype(kind), (n, d))


def check_compressed(
    indptr: object, indices: object, data: object, shape: tuple[int, int], name: str
) -> int:
    """Check that the three arrays of a CSR matrix fit together; returns the number of entries.

    Examples
    --------
    >>> check_compressed(np.array([0, 2]), np.array([0, 5]), np.ones(2), (1, 3), "X")
    Traceback (most recent call last):
        ...
    novikoff.errors.DataError: X is a malformed sparse matrix: index 5 in its row 0 is not below 3.
    """
    arrays = (indptr, indices, data)
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in arrays):
        raise _malformed("one of its three arrays is missing", name)
    starts, columns, values = (np.asarray(part) for part in arrays)
    if starts.dtype.kind not in "iu" or columns.dtype.kind not in "iu":
        raise _malformed("its indices are not integers", name)
    if len(starts) != shape[0] + 1:
        raise _malformed(f"indptr has {len(starts)} entries for {shape[0]} rows", name)
    if int(starts[0]) != 0 or (starts[1:] < starts[:-1]).any():
        raise _malformed("indptr does not rise from 0", name)
    stored = int(starts[-1])
    if stored > len(columns) or stored > len(values):
        raise _malformed("indptr ends beyond its entries", name)
    outside = (columns[:stored] < 0) | (columns[:stored] >= shape[1])
    if outside.any():
        k = int(np.argmax(outside))
        row = int(np.searchsorted(starts, k, side="right")) - 1
        raise _malformed(f"index {columns[k]} in its row {row} is not below {shape[1]}", name)
    return stored


def _is_canonical(indptr: npt.NDArray[Any], indices: npt.NDArray[Any]) -> bool:
    """Whether the column indices of every row increase."""
    if len(indices) < 2:
        return True
    rising = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rising[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    return bool(rising.all())


def _without_duplicates(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], data: Floats, name: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """Return the sorted entries, where entries of the same row and column are added up exactly."""
    fresh = np.ones(len(rows), dtype=np.bool_)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    if fresh.all():
        return rows, columns, data
    first = np.flatnonzero(fresh)
    sums = data.astype(np.float64)[first]
    counts = np.diff(np.append(first, len(data)))
    for k in np.flatnonzero(counts > 1).tolist():
        parts: Sequence[float] = data[first[k] : first[k] + counts[k]].tolist()
        try:
            sums[k] = math.fsum(parts) if all(map(math.isfinite, parts)) else math.nan
        except OverflowError:
            sums[k] = math.inf
        if not np.isnan(sums[k]) and sum(map(Fraction, parts)) != float(sums[k]):
            raise DataError(
                f"{name} has several entries in row {rows[first[k]]}, column {columns[first[k]]}, "
                "whose sum float64 cannot hold exactly: add them up first."
            )
    return rows[first], columns[first], sums  # NaN is found by `Rows.of`


def _csr(
    data: Floats, indices: npt.NDArray[Any], indptr: npt.NDArray[Any], shape: tuple[int, int]
) -> sp.csr_array:
    import scipy.sparse as sp

    matrix = sp.csr_array((data, indices, indptr), shape=shape, copy=False)
    matrix.has_canonical_format = True
    return matrix
