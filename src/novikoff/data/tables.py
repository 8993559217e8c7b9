"""Columns of Arrow tables as rows of numbers, with their labels; Parquet and Arrow files.

pyarrow has no types of its own: its objects are `Any` here.
"""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Any, Final, NoReturn, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.columns import ColumnRoles, assign_columns, check_unique, match_columns
from novikoff.data.errors import DataError, argument, counted, listed, place, quoted
from novikoff.data.fields import (
    MISSING,
    are_exact,
    has_decimal_comma,
    is_exact_text,
    is_missing,
    is_number,
    is_truth,
    number,
    number_in_dress,
    refuse_inexact,
)
from novikoff.data.labels import MOST_LABEL_CHARACTERS, label_values, typed_labels
from novikoff.data.missing import MissingValues
from novikoff.data.options import Floats, Imputed, Indices, Labels, Piece, Position, used_labels
from novikoff.data.recipe import Column, Recipe
from novikoff.data.source import Source
from novikoff.data.text import Reader, Request

_MOST_LEVELS: Final = 10_000
_FEW_LEVELS: Final = 20
_ROWS_AT_ONCE: Final = 1 << 12  # copied from columns to rows, so that both stay in the cache
_BATCH_NUMBERS: Final = 1 << 22  # in a piece of a Parquet file
_PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")


@cache
def arrow(module: str = "pyarrow") -> Any:
    """The module pyarrow, or one below it, imported when it is needed.

    Raises
    ------
    DataError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            "Tables are read by pyarrow, which is missing: pip install pyarrow."
        ) from None


class TableRows:
    """Turns the columns of a table into rows, one piece after the other, on behalf of a reader.

    ``names`` are those of all columns, ``roles`` say which of them are what. Columns are ``raw`` if
    they are the fields of a text file: there "1" is a number and "NA" is missing.
    """

    def __init__(
        self,
        reader: Reader,
        names: Sequence[str],
        roles: ColumnRoles,
        *,
        raw: bool = False,
        decimal: str = ".",
    ) -> None:
        self.source, self.options, self._known = reader.source, *reader.request[1:3]
        self.labelled, self.whole = reader.request[3:5]
        self.names, self.roles, self.raw, self.decimal = names, roles, raw, decimal
        self.label = reader.label = None if roles.label is None else names[roles.label]
        self.notes: list[str] = []
        self.missing: MissingValues | None = None
        self._levels: list[tuple[str, ...] | None] = [None] * len(roles.features)
        if self._known is not None and self._known.columns:  # a matrix has none
            self._levels = [column.levels for column in self._known.columns]
        self._truths: dict[int, bool] = {}  # whether a column of text holds truth values

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return label_values([str(key) for key in keys]) if self.raw else typed_labels(keys)

    def imputed(self) -> Imputed | None:
        """The rows and columns of X where a mean stands for a missing value."""
        if self.missing is None or not self.missing.imputed:
            return None
        rows, columns = zip(*self.missing.imputed, strict=True)
        return np.concatenate(rows), np.concatenate(columns)

    def from_columns(self, columns: Mapping[int, Any], n_rows: int, begin: Position) -> Piece:
        """A piece from its columns, by their positions.

        Raises
        ------
        DataError
            If a feature is not a number, a value is missing or infinite, or a level is unknown.
        """
        if n_rows == 0 and self.whole:
            raise DataError(f"{self.source} has no rows.")
        if self.roles.row_names is not None:
            self._check_row_names(columns[self.roles.row_names], begin.row)
        codes, keys = self._labels(columns, n_rows, begin.row)
        features = [
            self._feature(k, columns[position], begin.row)
            for k, position in enumerate(self.roles.features)
        ]
        X = self._matrix(features, n_rows)
        ids = None if self.roles.id is None else _texts_of(columns[self.roles.id])
        return self.from_numbers(X, codes, keys, ids, begin)

    def from_numbers(
        self,
        X: Floats,
        codes: Indices,
        keys: Sequence[Hashable],
        ids: list[str] | None,
        begin: Position,
    ) -> Piece:
        """A piece from a matrix, where NaN is a missing value."""
        if self.missing is None:
            self.missing = self._policy()
        unlabelled = codes < 0 if self.labelled and self.label is not None else None
        n_rows, dropped = len(X), self.missing.dropped
        X, keep = self.missing.apply(X, begin.row, unlabelled)
        rows = np.arange(begin.row + 1, begin.row + n_rows + 1)
        if keep is not None:
            (codes, keys), rows = used_labels(codes[keep], keys), rows[keep]
            ids = None if ids is None else [ids[k] for k in np.flatnonzero(keep).tolist()]
        dropped = begin.dropped + self.missing.dropped - dropped
        end = begin._replace(row=begin.row + n_rows, dropped=dropped)
        return Piece(X, codes, keys, rows, ids, begin, end)

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self._known is not None:
            return self._known
        columns, at = list[Column](), 0
        means = None if self.missing is None else self.missing.means
        for position, levels in zip(self.roles.features, self._levels, strict=True):
            mean = None if means is None or levels is not None else float(means[at])
            columns.append(Column(self.names[position], mean, levels))
            at += len(columns[-1].names)
        options = self.options
        recipe = Recipe(
            family="table",
            columns=tuple(columns),
            label=self.label,
            id=None if self.roles.id is None else self.names[self.roles.id],
            missing=options.missing,
            width=len(self.names),
            header=options.header,
            delimiter=options.delimiter,
            decimal=None if options.decimal == "." else options.decimal,
        )
        names = list(recipe.names)
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DataError(
                f"{self.source}: two features would be named {quoted(twice)}; rename a column."
            )
        return recipe

    def final_notes(self) -> list[str]:
        """What was decided on the way."""
        return [*self.notes, *([] if self.missing is None else self.missing.notes())]

    def _policy(self) -> MissingValues:
        recipe, names = self._known, [self.names[j] for j in self.roles.features]
        widths = [1 if levels is None else len(levels) for levels in self._levels]
        textual = [levels is not None for levels in self._levels]
        means = None
        if recipe is not None and any(column.mean is not None for column in recipe.columns):
            found = [np.nan if c.mean is None else c.mean for c in recipe.columns]
            means = np.repeat(np.array(found), widths)
        return MissingValues(
            self.source,
            self.label or "",
            self.options.missing,
            np.repeat(np.array(names, object), widths).tolist(),
            np.repeat(np.array(textual, np.bool_), widths),
            means,
            trained=recipe is not None,
            whole=self.whole,
        )

    def _labels(
        self, columns: Mapping[int, Any], n_rows: int, first_row: int
    ) -> tuple[Indices, list[Hashable]]:
        """The code of each row's label, -1 if it is missing, and the labels by code."""
        if self.roles.label is None:
            return np.full(n_rows, -1), []
        try:
            return self._label_keys(columns[self.roles.label], first_row)
        except DataError:
            if self.labelled:
                raise
            return np.full(n_rows, -1), []

    def _label_keys(self, cells: Any, first_row: int) -> tuple[Indices, list[Hashable]]:
        name = self.label or ""
        if self.raw or is_text(cells.type):
            codes, texts = encode(cells, raw=self.raw)
            long = [k for k, text in enumerate(texts) if len(text) > MOST_LABEL_CHARACTERS]
            if long:
                row = first_row + int(np.argmax(codes == long[0])) + 1
                raise DataError(
                    f"{place(self.source, row, name)} is a label of over {MOST_LABEL_CHARACTERS} "
                    "characters."
                )
            if not texts and self.whole:
                raise DataError(
                    f"{self.source}, row 1: the label, column {quoted(name)}, is missing."
                )
            return codes, list(texts)
        if not is_numeric(cells.type):
            raise DataError(
                f"{self.source}: column {quoted(name)} of type {cells.type} cannot be the label; "
                "choose another with --label."
            )
        if arrow("pyarrow.types").is_decimal(cells.type):
            coded = cells.combine_chunks().dictionary_encode()
            codes, missing = numbers_of(coded.indices)
            return np.where(missing, -1, codes).astype(np.int64), coded.dictionary.to_pylist()
        values, missing = numbers_of(cells)
        if values.dtype.kind == "f":
            values = values.astype(np.float32) if values.dtype.itemsize < 4 else values
            if np.isinf(values[~missing]).any():
                row = first_row + int(np.argmax(np.isinf(values) & ~missing)) + 1
                raise DataError(f"{place(self.source, row, name)}: the label is infinite.")
            missing |= np.isnan(values)
        codes = np.full(len(values), -1)
        keys, codes[~missing] = np.unique(values[~missing], return_inverse=True)
        if arrow("pyarrow.types").is_boolean(cells.type):
            keys = keys.astype(np.bool_)
        return codes, list(keys) if keys.dtype == np.float32 else keys.tolist()

    def _feature(self, k: int, cells: Any, first_row: int) -> Any:
        """A column of numbers, or for a column of text the code of each row's level."""
        position = self.roles.features[k]
        if position in self.roles.one_hot or self._levels[k] is not None:
            return self._categories(k, cells, first_row)
        numbers = self._numbers(position, cells)
        if numbers is not None:
            self._check_exact(numbers, cells, position, first_row)
            return numbers
        if self.roles.every_text and is_text(cells.type):
            return self._categories(k, cells, first_row)
        return self._refuse(position, cells, first_row)

    def _numbers(self, position: int, cells: Any) -> Any:
        """The column as numbers; None if it holds something else."""
        pa, pc, types = arrow(), arrow("pyarrow.compute"), arrow("pyarrow.types")
        if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
            cells = pc.cast(cells, cells.type.value_type)
        if types.is_decimal(cells.type):  # by way of text, which Arrow rounds correctly
            return pc.cast(pc.cast(cells, pa.string()), pa.float64())
        if types.is_null(cells.type):
            return pc.cast(cells, pa.float64())
        if not self.raw:
            return cells if is_numeric(cells.type) else None
        known = self._truths.get(position)
        found = None if known is True else parse_numbers(cells, self.decimal)
        truths = found is None
        if truths and known is not False:
            found = parse_truths(cells)
        if found is not None and found.null_count < len(found):
            self._truths[position] = truths
        return found

    def _categories(self, k: int, cells: Any, first_row: int) -> tuple[Indices, tuple[str, ...]]:
        name = self.names[self.roles.features[k]]
        if not is_text(cells.type) and not is_numeric(cells.type):
            self._refuse(self.roles.features[k], cells, first_row)
        codes, found = encode(cells, raw=self.raw)
        known = self._levels[k]
        if known is None:
            reason = None
            if len(found) > _MOST_LEVELS:
                reason = f"{len(found):,} different values, too many for --one-hot (at most "
                reason += f"{_MOST_LEVELS:,})"
            elif not found:
                reason = "no values at all"
            if reason is not None:
                raise DataError(
                    f"{self.source}: column {quoted(name)} has {reason}; leave it out with "
                    f"--drop {argument(name)}."
                )
            self._levels[k] = tuple(found)
            self.notes.append(
                f"column {quoted(name)} became {counted(len(found), 'column')} of 0 and 1, one for "
                "each value"
            )
            return codes, tuple(found)
        order = {level: code for code, level in enumerate(known)}
        for code, level in enumerate(found):
            if level not in order:
                row = first_row + int(np.argmax(codes == code)) + 1
                raise DataError(
                    f"{place(self.source, row, name)} holds {quoted(level)}, a value that the "
                    "model has not seen in training; drop such rows or fit again with them."
                )
        return np.array([*(order[level] for level in found), -1], np.int64)[codes], known

    def _matrix(self, features: Sequence[Any], n_rows: int) -> Floats:
        """The features as one C-ordered matrix; missing values become NaN."""
        widths = [len(f[1]) if isinstance(f, tuple) else 1 for f in features]
        single = not any(isinstance(f, tuple) or not _is_single(f.type) for f in features)
        width = sum(widths)
        try:
            kind = np.dtype(np.float32 if single else np.float64)
            X = cast(Floats, np.empty((n_rows, width), kind))
        except (MemoryError, ValueError):
            size = n_rows * width * 8 / 2**30
            raise DataError(
                f"{self.source} needs {size:,.0f} GiB as a matrix, too much memory."
            ) from None
        starts = np.cumsum([0, *widths]).tolist()
        arrays = [
            (j, to_floats(feature, single=single))
            for j, feature in zip(starts, features, strict=False)
            if not isinstance(feature, tuple)
        ]
        for first in range(0, n_rows, _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            for j, values in arrays:
                X[rows, j] = values[rows]
        for j, feature in zip(starts, features, strict=False):
            if isinstance(feature, tuple):
                codes, levels = feature
                block = X[:, j : j + len(levels)]
                block[:] = 0.0
                known = np.flatnonzero(codes >= 0)
                block[known, codes[known]] = 1.0
                block[codes < 0] = np.nan
        return X

    def _check_exact(self, numbers: Any, cells: Any, position: int, first_row: int) -> None:
        """Raise DataError if a column has an integer that float64 cannot hold."""
        pa, wrong, name = arrow(), [], self.names[position]
        if numbers.type in (pa.int64(), pa.uint64()):
            values, missing = numbers_of(numbers)
            held = are_exact(values) | missing
            wrong = [] if held.all() else [int(np.argmin(held))]
        elif self.raw:
            sizes = np.abs(to_floats(numbers, single=False))
            far = np.flatnonzero((sizes >= 1 << 53) & (sizes < np.inf)).tolist()
            wrong = [row for row in far if not is_exact_text(cells[row].as_py().strip(" \t"))]
        if wrong:
            value = str(cells[wrong[0]].as_py()).strip(" \t")
            refuse_inexact(self.source, first_row + wrong[0] + 1, name, value)

    def _check_row_names(self, cells: Any, first_row: int) -> None:
        """A column without a name must be text, or count the rows."""
        numbers = parse_numbers(cells, self.decimal) if self.raw else None
        if numbers is not None:
            counts = to_floats(numbers, single=False)
            steps = np.arange(first_row, first_row + len(counts), dtype=np.float64)
            if not (np.array_equal(counts, steps) or np.array_equal(counts, steps + 1.0)):
                raise DataError(
                    f"{self.source} has no name for column 1 in its header, and it does not just "
                    "number the rows; give it a name, or leave it out with --drop 1."
                )
        if not first_row:
            self.notes.append(
                "the first column has no name: it is taken for the rows' names, not a feature"
            )

    def _refuse(self, position: int, cells: Any, first_row: int) -> NoReturn:
        """Say why a column is not a feature."""
        name = self.names[position]
        if not is_text(cells.type):
            raise DataError(
                f"{self.source}: column {quoted(name)} is of type {cells.type}, not of numbers; "
                f"{_type_advice(cells.type)}leave it out with --drop {argument(name)}."
            )
        truths = self._truths.get(position) is True
        for row, value in enumerate(_values_of(cells), start=first_row + 1):
            text = "" if value is None else str(value)
            if value is None or (self.raw and is_missing(text)):
                continue
            if self.raw and (is_truth(text) if truths else is_number(text, self.decimal)):
                continue
            what = "neither true nor false" if truths else "not a number"
            raise DataError(
                f"{place(self.source, row, name)} holds {quoted(text)}, which is {what}; "
                f"{self._advice(name, cells, text)}."
            )
        raise DataError(
            f"{self.source}: column {quoted(name)} is text without values; leave it out with "
            f"--drop {argument(name)}."
        )

    def _advice(self, name: str, cells: Any, text: str) -> str:
        """What to do about a column of text that holds a certain one."""
        dress = number_in_dress(text)
        if self.raw and self.decimal == "." and has_decimal_comma(text):
            thousands = "; if it separates thousands, take it out" if dress else ""
            return f"if the comma is its decimal point, say --decimal ,{thousands}"
        if dress:
            return f"it looks like a number with {dress}, which must be taken out"
        column = argument(name)
        if self._known is not None:
            return "the model has learned numbers there"
        codes, levels = encode(cells, raw=self.raw)
        if len(levels) > max(_FEW_LEVELS, (codes >= 0).sum() / 2):
            return (
                f"as most of its values differ, say --id {column} if it names the rows, or "
                f"--drop {column}"
            )
        hint = f"use --one-hot {column} to make it columns of 0 and 1, or --drop {column}"
        roles = self.roles
        if roles.guessed and roles.label is not None and len(levels) <= _FEW_LEVELS:
            last = quoted(self.names[roles.label])
            hint = (
                f"the label was taken to be the last column, {last}; if it is {quoted(name)}, say "
                f"--label {column}, else {hint}"
            )
        return hint


class TypedTable(Reader):
    """The pieces of a Parquet file, a folder of them, or an Arrow file; positions count rows."""

    def __init__(self, request: Request, files: Sequence[str] = ()) -> None:
        super().__init__(request)
        self._files: list[Source | str] = list(files) or [request.source]
        self._parquet = request.source.format == "parquet"
        schema = self._schema(self._files[0])
        roles, self.notes = _schema_roles(request, schema)
        self._names, self._used = list(schema.names), roles.used
        self.rows = TableRows(self, self._names, roles)

    def pieces(self, begin: Position | None = None) -> Iterator[Piece]:
        """The rows from a position on, by default all."""
        tables, row = self._tables(), 0
        if begin is None:
            head = list(islice(tables, 2))
            self.rows.whole, tables = len(head) == 1, chain(head, tables)
        begin = begin or Position()
        for table in tables:
            first, row = row, row + table.num_rows
            if row <= begin.row and not self.rows.whole:
                continue
            table = table.slice(max(0, begin.row - first))
            columns = {j: table.column(self._names[j]) for j in self._used}
            piece = self.rows.from_columns(columns, table.num_rows, begin)
            piece.locate = begin.after_rows
            piece.end = piece.end._replace(offset=row)
            begin = piece.end
            yield piece

    def _tables(self) -> Iterator[Any]:
        pa, names = arrow(), [self._names[j] for j in self._used]
        if not self.request.one_piece:
            for file in self._files:
                yield from (pa.Table.from_batches([b]) for b in self._batches(file, names))
            return
        with _readable(self.source, self._parquet):
            schema = pa.schema([self._schema(self._files[0]).field(name) for name in names])
            batches = [batch for file in self._files for batch in self._batches(file, names)]
            yield pa.Table.from_batches(batches, schema=schema)

    def _schema(self, file: Source | str) -> Any:
        with _readable(self.source, self._parquet):
            opened = self._opened(file)
            schema = opened.schema_arrow if self._parquet else opened.schema
            list(schema.names)  # names that are no UTF-8 fail here
            return schema

    def _batches(self, file: Source | str, names: Sequence[str]) -> Iterator[Any]:
        rows = max(1, _BATCH_NUMBERS // max(1, len(names)))
        with _readable(self.source, self._parquet):
            opened = self._opened(file)
            if self._parquet:
                absent = set(names) - set(opened.schema_arrow.names)
                if absent:
                    raise DataError(f"{file} has no column {listed(sorted(absent))}.")
                yield from opened.iter_batches(batch_size=rows, columns=list(names))
                return
            batches = opened
            if hasattr(opened, "get_batch"):
                batches = (opened.get_batch(k) for k in range(opened.num_record_batches))
            for batch in batches:
                batch.validate(full=True)  # offsets that lead astray would crash us later
                yield batch.select(list(names))

    def _opened(self, file: Source | str) -> Any:
        pa = arrow()
        content = file if isinstance(file, str) else pa.BufferReader(pa.py_buffer(file.view()))
        if self._parquet:
            return arrow("pyarrow.parquet").ParquetFile(content)
        ipc = arrow("pyarrow.ipc")
        is_file = isinstance(file, Source) and file.head.startswith(b"ARROW1")
        return ipc.open_file(content) if is_file else ipc.open_stream(content)


def encode(cells: Any, *, raw: bool) -> tuple[Indices, list[str]]:
    """A column of any simple type as codes of its different values, which are texts, sorted.

    A missing value has the code -1. In ``raw`` text those that only say so, as NA, are missing.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    if arrow("pyarrow.types").is_dictionary(cells.type):
        cells = pc.cast(cells, cells.type.value_type)
    # In one chunk: each would have a dictionary of its own.
    coded = pc.cast(cells, pa.large_string()).combine_chunks().dictionary_encode()
    values: list[str] = coded.dictionary.to_pylist()
    codes, missing = numbers_of(coded.indices)
    kept = sorted(value for value in values if not (raw and is_missing(value)))
    order = {value: code for code, value in enumerate(kept)}
    table = np.array([*(order.get(value, -1) for value in values), -1], np.int64)
    return table[np.where(missing, -1, codes)], kept


def numbers_of(cells: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
    """The numbers of a column, and which are missing; truth values become 0 and 1.

    ``to_numpy`` would import pandas, for which there is no need.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    chunks = [cells] if isinstance(cells, pa.Array) else cells.chunks
    values, missing = list[Any](), [np.zeros(0, np.bool_)]
    for chunk in chunks:
        if arrow("pyarrow.types").is_boolean(chunk.type):
            chunk = pc.cast(chunk, pa.uint8())
        buffers = [None, chunk.buffers()[1] or pa.py_buffer(b"")]
        plain = pa.Array.from_buffers(chunk.type, len(chunk), buffers, offset=chunk.offset)
        values.append(np.from_dlpack(plain) if len(chunk) else np.zeros(0, np.uint8))
        gaps = pc.cast(pc.is_null(chunk), pa.uint8())
        missing.append(np.from_dlpack(gaps).astype(np.bool_) if len(chunk) else missing[0])
    found = values[0] if len(values) == 1 else np.concatenate(values or [np.zeros(0)])
    return found, np.concatenate(missing)


def parse_numbers(cells: Any, decimal: str) -> Any:
    """A column of raw text as float64, missing values as nulls; None if some is no number."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    texts = _without_missing(cells)
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        return pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:  # one by one: there may be a number that Arrow does not know as such
        values = [math.nan if text is None else number(str(text)) for text in _values_of(texts)]
        if None in values:
            return None
        buffer = pa.py_buffer(np.array(values, np.float64))
        return pa.chunked_array([pa.Array.from_buffers(pa.float64(), len(values), [None, buffer])])


def parse_truths(cells: Any) -> Any:
    """A column of raw text as 0 and 1; None if some value is neither true nor false."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    small = pc.utf8_lower(_without_missing(cells))
    truths = pc.is_in(small, value_set=_strings(["true"]))
    known = pc.or_(truths, pc.is_in(small, value_set=_strings(["false"])))
    if not pc.all(pc.or_(known, pc.is_null(small))).as_py():
        return None
    return pc.if_else(pc.is_null(small), _nulls(small, pa.float64()), pc.cast(truths, pa.float64()))


def is_text(kind: Any) -> bool:
    """Whether a type is text, also if it is in a dictionary."""
    types = arrow("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric(kind: Any) -> bool:
    """Whether a type is a number or a truth value."""
    types = arrow("pyarrow.types")
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
    )


def to_floats(cells: Any, *, single: bool) -> Floats:
    """A column of numbers or truth values as floats, with NaN where they are missing."""
    values, missing = numbers_of(cells)
    floats = values.astype(np.float32 if single else np.float64, copy=False)
    return cast(Floats, np.where(missing, floats.dtype.type(np.nan), floats))


def _schema_roles(request: Request, schema: Any) -> tuple[ColumnRoles, list[str]]:
    """The roles of a typed table's columns, and what was decided on the way."""
    names, source, options = list(schema.names), request.source.name, request.options
    if "" in names:
        raise DataError(f"{source} has no name for column {names.index('') + 1}.")
    check_unique(source, names)
    if request.recipe is not None:
        roles = match_columns(source, names, request.recipe, options, labelled=request.labelled)
        return roles, roles.notes
    asked = {*options.features, *options.drop, options.id, options.label, *options.one_hot}
    said = _pandas_index(schema)
    index = [n for n in names if (n in said or _PANDAS_INDEX.fullmatch(n)) and n not in asked]
    notes = [f"the index of a pandas frame, {listed(index)}, is not a feature"] if index else []
    at = [j for j, name in enumerate(names) if name not in index]
    inner = [names[j] for j in at]
    roles = assign_columns(source, inner, options, labelled=request.labelled, row_names=False)
    moved = replace(
        roles,
        label=None if roles.label is None else at[roles.label],
        id=None if roles.id is None else at[roles.id],
        features=[at[j] for j in roles.features],
        one_hot=frozenset(at[j] for j in roles.one_hot),
    )
    return moved, notes + roles.notes


def _pandas_index(schema: Any) -> set[str]:
    """The columns that pandas wrote as the index of a frame, by what it says of itself."""
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return {name for name in said["index_columns"] if isinstance(name, str)}
    except (ValueError, TypeError, KeyError, RecursionError):  # it may say anything, or nothing
        return set()


@contextmanager
def _readable(source: str, parquet: bool) -> Iterator[None]:
    """Say in a sentence that Arrow cannot read a file."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:  # whatever Arrow makes of arbitrary bytes
        lines = str(error).splitlines() or [type(error).__name__]
        reason = lines[0].strip().rstrip(".")[:200]
        format = "Parquet" if parquet else "Arrow"
        raise DataError(f"{source} is not a sound {format} file: {reason}.") from None


def _without_missing(cells: Any) -> Any:
    pc = arrow("pyarrow.compute")
    texts = pc.utf8_trim(cells, characters=" \t")
    missing = pc.is_in(texts, value_set=_strings(MISSING))
    return pc.if_else(missing, _nulls(texts, texts.type), texts)


def _strings(texts: Sequence[str]) -> Any:
    """An array of texts; pa.array would import pandas."""
    pa, parts = arrow(), [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.string(), len(parts), buffers)


def _nulls(like: Any, kind: Any) -> Any:
    """As many missing values as there are in a column."""
    return arrow().chunked_array([arrow().nulls(len(like), kind)])


def _values_of(cells: Any) -> Iterator[object]:
    """The values of a column, one chunk in memory at a time."""
    for chunk in cells.chunks:
        yield from chunk.to_pylist()


def _texts_of(cells: Any) -> list[str]:
    return ["" if value is None else str(value) for value in _values_of(cells)]


def _is_single(kind: Any) -> bool:
    types = arrow("pyarrow.types")
    return bool(types.is_float32(kind) or types.is_float16(kind))


def _type_advice(kind: Any) -> str:
    """What to do about a column of dates or times."""
    if arrow("pyarrow.types").is_temporal(kind):
        return "turn it into a number, such as days since a date, or "
    return ""
