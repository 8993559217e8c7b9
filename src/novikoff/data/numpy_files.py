"""NumPy's own files: npy, a matrix with its labels in a column; npz, with an array of them."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.columns import ColumnRoles, assign_columns, match_columns, numbered
from novikoff.data.errors import DataError, listed, place, quoted
from novikoff.data.fields import are_exact, refuse_inexact
from novikoff.data.labels import array_labels
from novikoff.data.options import Floats, Indices, Labels, Piece, Position
from novikoff.data.recipe import Recipe
from novikoff.data.svmlight import refuse_columns
from novikoff.data.tables import TableRows
from novikoff.data.text import Reader, Request

Array = npt.NDArray[np.generic]

_NUMBERS_AT_ONCE: Final = 1 << 22


class NumpyRows(Reader):
    """The pieces of an npy or npz file; positions count rows.

    The columns of an npy file are called x1, x2, …, and the last is the label by default. An npz
    file has arrays X and y, or one matrix and one vector whatever their names.
    """

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        read = self._read_npz if request.source.format == "npz" else self._read_npy
        self._X, self._y, label, roles = read(request)
        recipe = request.recipe if request.source.format == "npy" else None
        names = numbered(self._X.shape[1], recipe)
        self.rows = TableRows(self, names, roles)
        self.rows.label = self.label = label

    def pieces(self, begin: Position | None = None) -> Iterator[Piece]:
        """The rows from a position on, by default all."""
        begin, roles = begin or Position(), self.rows.roles
        step = max(1, _NUMBERS_AT_ONCE // self._X.shape[1])
        step = len(self._X) if self.rows.options.missing == "mean" else step
        self.rows.whole = begin.row == 0 and len(self._X) <= step
        for first in range(begin.row, len(self._X), step):
            some = slice(first, first + step)
            X, ids = self._floats(self._X[some], first), None
            codes, keys = np.full(len(X), -1), list[Hashable]()
            if self._y is not None:
                codes, keys = self._labels(self._y[some], first)
            if roles.id is not None:
                ids = [str(value) for value in self._X[some, roles.id].tolist()]
            piece = self.rows.from_numbers(X, codes, keys, ids, begin)
            piece.locate = begin.after_rows
            piece.end = begin = piece.end._replace(offset=piece.end.row)
            yield piece

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return array_labels(keys)

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self.request.source.format == "npy" or self.request.recipe is not None:
            return self.rows.recipe()
        missing, width = self.rows.options.missing, self._X.shape[1]
        return Recipe("matrix", label=self.label, missing=missing, width=width)

    def _read_npy(self, request: Request) -> tuple[Array, Array | None, str | None, ColumnRoles]:
        source, options, recipe, labelled = request[:4]
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
        if roles.label is None:
            return array, None, None, roles
        return array, array[:, roles.label], names[roles.label], roles

    def _read_npz(self, request: Request) -> tuple[Array, Array | None, str | None, ColumnRoles]:
        source, options, recipe, labelled = request[:4]
        refuse_columns(source.name, options, "an npz file")
        if options.missing == "mean":
            raise DataError(f"{source.name}: --missing mean is for tables, not for an npz file.")
        arrays = _arrays(source.view(), source.name)
        x_name, y_name = _pick(arrays, source.name, labelled=labelled)
        X, y = arrays[x_name], None if y_name is None else arrays[y_name]
        _check_matrix(X, f"{source.name}, array {quoted(x_name)},")
        if y is not None and y.shape != (len(X),):
            raise DataError(
                f"{source.name} has {len(X):,} rows in {quoted(x_name)}, but "
                f"{quoted(y_name or '')} is of shape {y.shape}."
            )
        width = X.shape[1]
        if recipe is not None and width != recipe.width:
            raise DataError(
                f"{source.name} has {width:,} features; the model has {recipe.width:,}."
            )
        return X, y, y_name, ColumnRoles(None, None, list(range(width)))

    def _floats(self, part: Array, first: int) -> Floats:
        """The features of some rows, in new memory."""
        columns = self.rows.roles.features
        some = slice(columns[0], columns[-1] + 1)
        part = part[:, some] if columns == list(range(some.start, some.stop)) else part[:, columns]
        held = are_exact(part)
        if not held.all():
            row, column = (int(k) for k in np.argwhere(~held)[0])
            name = self.rows.names[columns[column]]
            refuse_inexact(self.source, first + row + 1, name, str(part[row, column]))
        single = part.dtype.kind == "f" and part.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # of long doubles: infinity is refused afterwards
            return cast(Floats, np.array(part, np.float32 if single else np.float64, order="C"))

    def _labels(self, values: Array, first: int) -> tuple[Indices, list[Hashable]]:
        name, missing = self.label or "", np.zeros(len(values), np.bool_)
        if values.dtype.kind == "U":
            try:
                "".join(values.tolist()).encode()
            except UnicodeError:
                raise DataError(
                    f"{self.source}: {quoted(name)} holds text that is not Unicode."
                ) from None
        if values.dtype.kind == "f":
            numbers = cast(npt.NDArray[np.floating], values)
            missing = np.isnan(numbers)
            if np.isinf(numbers).any():
                row = first + int(np.argmax(np.isinf(numbers))) + 1
                raise DataError(f"{place(self.source, row, name)}: the label is infinite.")
        found = np.full(len(values), -1)
        keys, found[~missing] = np.unique(values[~missing], return_inverse=True)
        return found, list(keys)


def _parse(view: memoryview, name: str) -> Array:
    """The array of an npy file, in place; never a pickle."""
    stream = io.BytesIO(view[: 1 << 16])
    formats = np.lib.format
    try:
        old = formats.read_magic(stream) == (1, 0)
        read = formats.read_array_header_1_0 if old else formats.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except Exception:  # the header is parsed as Python: any error may come of arbitrary bytes
        raise DataError(f"{name} is not a sound npy file: its header cannot be read.") from None
    if dtype.hasobject or dtype.kind not in "biufU":
        advice = "turn dates into numbers" if dtype.kind in "mM" else "objects are never loaded"
        raise DataError(f"{name} holds {dtype}, not numbers; {advice}.")
    body, count = view[stream.tell() :], math.prod(shape)
    if count * dtype.itemsize > len(body) or min(shape, default=0) < 0:
        raise DataError(f"{name} is cut off: it is too short for an array of shape {shape}.")
    if not count:
        raise DataError(f"{name} is empty: its array has the shape {shape}.")
    return np.frombuffer(body, dtype, count).reshape(shape, order="F" if fortran else "C")


def _arrays(view: memoryview, name: str) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(io.BytesIO(view)) as archive:
            contents = {info.filename: archive.read(info) for info in archive.infolist()}
    except MemoryError:
        raise
    except Exception:  # whatever zipfile and its decoders make of arbitrary bytes
        raise DataError(f"{name} is not a sound npz file: it cannot be unpacked.") from None
    found = {file.removesuffix(".npy"): content for file, content in contents.items()}
    return {k: _parse(memoryview(v), f"{name}, array {quoted(k)},") for k, v in found.items()}


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
