"""NumPy's files: npy (a matrix with a column of labels) and npz (a matrix and labels)."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Hashable, Iterator
from typing import Final, cast

import numpy as np

from novikoff.core.rows import Floats, Indices
from novikoff.data.messages import listed, quoted
from novikoff.data.reader import AnyArray, Piece, Position, Request
from novikoff.data.recipe import Recipe
from novikoff.data.roles import ColumnRoles, find_roles, numbered, reject_columns
from novikoff.data.source import Source
from novikoff.data.tables import TableReader
from novikoff.data.values import LabelForm, are_exact
from novikoff.errors import DataError

_NUMBERS_AT_ONCE: Final = 1 << 22


class NumpyTable(TableReader):
    """The reader of npy and npz files; positions count rows.

    The columns of an npy file are called x1, x2, …, and the last is the label by default. An npz
    file has arrays X and y, or one matrix and one vector with any names.
    """

    label_form: LabelForm = "array"

    def __init__(self, request: Request) -> None:
        source, recipe, y_name = request.source, request.recipe, cast("str | None", None)
        self._y: AnyArray | None = None
        if source.format == "npz":
            reject_columns(source.name, request.options, "npz files")
            self._X, self._y, y_name = _pick_arrays(source, labelled=request.labelled)
            width = self._X.shape[1]
            if recipe is not None and width != recipe.width:
                raise DataError(
                    f"{source.name} has {width:,} features; the model has {recipe.width:,}."
                )
            names, roles = numbered(width, None), ColumnRoles(None, None, list(range(width)))
        else:
            self._X = _check_matrix(_parse_npy(source.view(), source.name), source.name)
            names = numbered(self._X.shape[1], recipe)
            roles = _roles(request, names)
        super().__init__(request, names, roles, y_name)
        if roles.label is not None:
            self._y = self._X[:, roles.label]

    def pieces(self, begin: Position | None = None) -> Iterator[Piece]:
        """Return the rows after a position; by default all rows."""
        begin = begin or Position()
        step = max(1, _NUMBERS_AT_ONCE // self._X.shape[1])
        step = len(self._X) if self.request.options.missing == "mean" else step
        self.whole = begin.row == 0 and len(self._X) <= step
        for first in range(begin.row, len(self._X), step):
            rows_of_piece = slice(first, first + step)
            X, ids = self._features(self._X[rows_of_piece], first), None
            codes, keys = np.full(len(X), -1), list[Hashable]()
            if self._y is not None:
                codes, keys = self._coded(self._y[rows_of_piece], first)
            if self.roles.id is not None:
                ids = [str(value) for value in self._X[rows_of_piece, self.roles.id].tolist()]
            piece = self.from_numbers(X, codes, keys, ids, begin)
            begin = piece.end
            yield piece

    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other files in the same way."""
        if self.request.source.format == "npy" or self.request.recipe is not None:
            return super().recipe()
        missing = self.request.options.missing
        return Recipe("matrix", label=self.label, missing=missing, width=self._X.shape[1])

    def _features(self, part: AnyArray, first: int) -> Floats:
        """Return the features of the given rows as a new array."""
        columns = self.roles.features
        adjacent = slice(columns[0], columns[-1] + 1)
        part = (
            part[:, adjacent]
            if columns == list(range(adjacent.start, adjacent.stop))
            else part[:, columns]
        )
        held = are_exact(part)
        if not held.all():
            row, column = (int(k) for k in np.argwhere(~held)[0])
            name = self.names[columns[column]]
            self.reject_inexact(first + row + 1, name, str(part[row, column]))
        single = part.dtype.kind == "f" and part.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # a long double that becomes infinite is rejected later
            return cast(Floats, np.array(part, np.float32 if single else np.float64, order="C"))

    def _coded(self, labels: AnyArray, first: int) -> tuple[Indices, list[Hashable]]:
        if labels.dtype.kind == "U":
            try:
                "".join(labels.tolist()).encode()
            except UnicodeError:
                name = quoted(self.label or "")
                raise DataError(f"{self.source}: {name} holds text that is not Unicode.") from None
        return self.code_numbers(labels, np.zeros(len(labels), np.bool_), first)


def _roles(request: Request, names: list[str]) -> ColumnRoles:
    """Return the roles of the columns of an npy file."""
    name, recipe = request.source.name, request.recipe
    if request.options.one_hot:
        option = request.options.say("one_hot")
        raise DataError(f"{name} is a matrix of numbers, to which {option} does not apply.")
    if recipe is not None and any(column.levels is not None for column in recipe.columns):
        raise DataError(f"{name} is a matrix of numbers, but the model has text columns.")
    return find_roles(request, names)


def _parse_npy(view: memoryview, name: str) -> AnyArray:
    """Return the array of an npy file, without a copy; a pickle is never loaded."""
    stream = io.BytesIO(view[: 1 << 16])
    formats = np.lib.format
    try:
        old = formats.read_magic(stream) == (1, 0)
        read = formats.read_array_header_1_0 if old else formats.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except Exception:  # NumPy parses the header as Python code, which may raise any error
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


def _pick_arrays(source: Source, *, labelled: bool) -> tuple[AnyArray, AnyArray | None, str | None]:
    """Return the matrix of an npz file, the vector of labels and its name, if there is one."""
    name = source.name
    try:
        with zipfile.ZipFile(io.BytesIO(source.view())) as archive:
            contents = {info.filename: archive.read(info) for info in archive.infolist()}
    except MemoryError:
        raise
    except Exception:  # zipfile and its decoders may raise any error
        raise DataError(f"{name} is not a sound npz file: it cannot be unpacked.") from None
    members = {file.removesuffix(".npy"): content for file, content in contents.items()}
    arrays = {
        k: _parse_npy(memoryview(v), f"{name}, array {quoted(k)},") for k, v in members.items()
    }
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    vectors = [name for name, array in arrays.items() if array.ndim == 1]
    x_name = "X" if "X" in arrays else matrices[0] if len(matrices) == 1 else None
    y_name = "y" if "y" in arrays else vectors[0] if len(vectors) == 1 else None
    if x_name is None or (y_name is None and labelled):
        raise DataError(
            f"{name} needs arrays X and y, or one matrix and one vector; it has "
            f"{listed(list(arrays)) or 'none'}."
        )
    X = _check_matrix(arrays[x_name], f"{name}, array {quoted(x_name)},")
    y = None if y_name is None else arrays[y_name]
    if y is not None and y.shape != X.shape[:1]:
        raise DataError(
            f"{name} has {len(X):,} rows in {quoted(x_name)}, but {quoted(y_name or '')} is of "
            f"shape {y.shape}."
        )
    return X, y, y_name


def _check_matrix(array: AnyArray, name: str) -> AnyArray:
    """Return the array if it is a matrix of numbers; otherwise raise DataError."""
    if array.ndim != 2:
        raise DataError(f"{name} has an array of shape {array.shape}, not a matrix.")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {array.dtype}, not numbers.")
    return array
