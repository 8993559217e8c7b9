"""NumPy's own files: npy, a matrix with its labels in a column; npz, with an array of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.columns import ColumnRoles, assign_columns, match_columns, numbered
from novikoff.data.errors import DataError, listed, place, quoted
from novikoff.data.fields import are_exact, refuse_inexact
from novikoff.data.labels import array_labels
from novikoff.data.options import Floats, Indices, Labels, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.svmlight import refuse_columns
from novikoff.data.tables import TableRows
from novikoff.data.text import Reader, Request

Array = npt.NDArray[np.generic]

_NUMBERS_AT_ONCE: Final = 1 << 22


class NumpyRows(Reader):
    """The pieces of an npy or npz file.

    The columns of an npy file are called x1, x2, …, and the last is the label by default. An npz
    file has arrays X and y, or one matrix and one vector whatever their names.

    Raises
    ------
    DataError
        If it is no matrix of numbers, its arrays do not fit, or a number is missing or infinite.
    """

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._npz = request.source.format == "npz"
        read = self._read_npz if self._npz else self._read_npy
        self._X, self._y, names, roles = read(*request[:4])
        self.rows = TableRows(self, names, roles)
        if self._npz:
            self.rows.label = self.label = self._y_name

    def pieces(self, begin: Position | None = None) -> Iterator[Piece]:
        """The rows from a position on; positions count rows."""
        begin = begin or Position()
        step = max(1, _NUMBERS_AT_ONCE // self._X.shape[1])
        step = len(self._X) if self.rows.options.missing == "mean" else step
        self.rows.whole = begin.row == 0 and len(self._X) <= step
        for first in range(begin.row, len(self._X), step):
            X = self._floats(first, first + step)
            codes, keys = np.full(len(X), -1), list[Hashable]()
            if self._y is not None:
                codes, keys = self._labels(self._y[first : first + step], first)
            ids = None
            if self.rows.roles.id is not None:
                ids = [str(v) for v in self._X[first : first + step, self.rows.roles.id].tolist()]
            piece = self.rows.from_numbers(X, codes, keys, ids, begin)
            piece.locate = begin.after_rows
            piece.end = begin = piece.end._replace(offset=piece.end.row)
            yield piece

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return array_labels(keys)

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self._npz and self.request.recipe is None:
            missing, width = self.rows.options.missing, self._X.shape[1]
            return Recipe("matrix", label=self.label, missing=missing, width=width)
        return self.rows.recipe()

    def _read_npy(
        self, source: Source, options: ReadOptions, recipe: Recipe | None, labelled: bool
    ) -> tuple[Array, Array | None, list[str], ColumnRoles]:
        array = _parse(source.view(), source.name)
        _check_matrix(array, source.name)
        if options.one_hot:
            raise DataError(f"{source.name} is a matrix of numbers: --one-hot has nothing to do.")
        names = numbered(array.shape[1], recipe)
        if recipe is None:
            roles = assign_columns(source.name, names, options, labelled=labelled, row_names=False)
        elif any(column.levels is not None for column in recipe.columns):
            raise DataError(
                f"{source.name} is a matrix of numbers, but the model has text columns."
            )
        else:
            roles = match_columns(source.name, names, recipe, options, labelled=labelled)
        self.notes = roles.notes
        y = None if roles.label is None else array[:, roles.label]
        return array, y, names, roles

    def _read_npz(
        self, source: Source, options: ReadOptions, recipe: Recipe | None, labelled: bool
    ) -> tuple[Array, Array | None, list[str], ColumnRoles]:
        refuse_columns(source.name, options, "an npz file")
        if options.missing == "mean":
            raise DataError(f"{source.name}: --missing mean is for tables, not for an npz file.")
        arrays = _arrays(source)
        x_name, self._y_name = _pick(arrays, source.name, labelled=labelled)
        X, y = arrays[x_name], None if self._y_name is None else arrays[self._y_name]
        _check_matrix(X, f"{source.name}, array {quoted(x_name)},")
        if y is not None and y.shape != (len(X),):
            raise DataError(
                f"{source.name} has {len(X):,} rows in {quoted(x_name)}, but "
                f"{quoted(self._y_name or '')} is of shape {y.shape}."
            )
        width = X.shape[1]
        if recipe is not None and width != recipe.width:
            raise DataError(
                f"{source.name} has {width:,} features; the model has {recipe.width:,}."
            )
        names = numbered(width, None) if recipe is None else list(recipe.names)
        return X, y, names, ColumnRoles(None, None, list(range(width)))

    def _floats(self, first: int, last: int) -> Floats:
        """Some rows of the features, in new memory."""
        part, columns = self._X[first:last], self.rows.roles.features
        if columns == list(range(columns[0], columns[-1] + 1)):
            part = part[:, columns[0] : columns[-1] + 1]
        else:
            part = part[:, columns]
        held = are_exact(part)
        if not held.all():
            row, column = (int(k) for k in np.argwhere(~held)[0])
            name = self.rows.names[columns[column]]
            refuse_inexact(self.source, first + row + 1, name, str(part[row, column]))
        single = part.dtype.kind == "f" and part.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # of long doubles: infinity is refused afterwards
            return cast(Floats, np.array(part, np.float32 if single else np.float64, order="C"))

    def _labels(self, values: Array, first: int) -> tuple[Indices, list[Hashable]]:
        name = self.label or ""
        if values.dtype.kind == "U":
            try:
                "".join(values.tolist()).encode()
            except UnicodeError:
                raise DataError(
                    f"{self.source}: {quoted(name)} holds text that is not Unicode."
                ) from None
        missing = np.zeros(len(values), np.bool_)
        if values.dtype.kind == "f":
            numbers = cast(npt.NDArray[np.floating], values)
            missing = np.isnan(numbers)
            if np.isinf(numbers).any():
                row = first + int(np.argmax(np.isinf(numbers))) + 1
                raise DataError(f"{place(self.source, row, name)}: the label is infinite.")
        keys, codes = np.unique(values[~missing], return_inverse=True)
        found = np.full(len(values), -1)
        found[~missing] = codes
        return found, list(keys)


def _parse(view: memoryview, name: str) -> Array:
    """The array of an npy file, in place; never a pickle."""
    stream = io.BytesIO(view[: 1 << 16])
    try:
        version = np.lib.format.read_magic(stream)
        header = (
            np.lib.format.read_array_header_1_0(stream)
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0(stream)
        )
        shape, fortran, dtype = header
    except Exception:  # the header is parsed as Python: any error may come of arbitrary bytes
        raise DataError(f"{name} is not a sound npy file: its header cannot be read.") from None
    if dtype.hasobject or dtype.kind not in "biufU":
        when = dtype.kind in "mM"
        advice = "turn dates into numbers" if when else "Python objects are never loaded"
        raise DataError(f"{name} holds {dtype}, not numbers; {advice}.")
    body = view[stream.tell() :]
    count = 1
    for extent in shape:
        count *= extent
    if count * dtype.itemsize > len(body) or min(shape, default=0) < 0:
        raise DataError(f"{name} is cut off: it is too short for an array of shape {shape}.")
    if not count:
        raise DataError(f"{name} is empty: its array has the shape {shape}.")
    array = np.frombuffer(body, dtype, count)
    return array.reshape(shape, order="F" if fortran else "C")


def _arrays(source: Source) -> dict[str, Array]:
    contents: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.view())) as archive:
            for info in archive.infolist():
                contents[info.filename.removesuffix(".npy")] = archive.read(info)
    except (MemoryError, DataError):
        raise
    except Exception:  # whatever zipfile and its decoders make of arbitrary bytes
        raise DataError(f"{source.name} is not a sound npz file: it cannot be unpacked.") from None
    return {
        name: _parse(memoryview(content), f"{source.name}, array {quoted(name)},")
        for name, content in contents.items()
    }


def _pick(arrays: dict[str, Array], source: str, *, labelled: bool) -> tuple[str, str | None]:
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    vectors = [name for name, array in arrays.items() if array.ndim == 1]
    x_name = "X" if "X" in arrays else matrices[0] if len(matrices) == 1 else None
    y_name = "y" if "y" in arrays else vectors[0] if len(vectors) == 1 else None
    if x_name is None or (y_name is None and labelled):
        raise DataError(
            f"{source} needs arrays X and y, or one matrix and one vector; it has "
            f"{listed(list(arrays)) or 'none'}."
        )
    return x_name, y_name


def _check_matrix(array: Array, name: str) -> None:
    if array.ndim != 2:
        raise DataError(f"{name} has an array of shape {array.shape}, not a matrix.")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {array.dtype}, not numbers.")
