"""Columns of tables as rows of numbers, with their labels; Parquet and Arrow files.

A column of text goes one way to numbers: pyarrow casts it; if that fails, the first cell that is no
number is found and explained. Missing values are refused with their place, dropped, or replaced by
means. pyarrow has no types of its own: its objects are `Any` here.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import Any, Final, NoReturn, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, argument, counted, listed, place, quoted
from novikoff.data.options import Floats, Indices, Piece, Position, used_labels
from novikoff.data.recipe import (
    Column,
    ColumnRoles,
    Recipe,
    assign_columns,
    check_unique,
    match_columns,
)
from novikoff.data.source import Source
from novikoff.data.text import Reader, Request
from novikoff.data.values import (
    BLANKS,
    MISSING,
    Labels,
    are_exact,
    has_decimal_comma,
    is_exact_text,
    is_missing,
    is_number,
    is_truth,
    number,
    number_in_dress,
    refuse_inexact,
    text_labels,
    typed_labels,
)

Truths = npt.NDArray[np.bool_]

MOST_LABEL_CHARACTERS: Final = 10_000
_MOST_LEVELS: Final = 10_000
_FEW_LEVELS: Final = 20
_ROWS_NAMED: Final = 10
_ROWS_AT_ONCE: Final = 1 << 12  # copied from columns to rows, so that both stay in the cache
_BATCH_NUMBERS: Final = 1 << 22  # in a piece of a Parquet file


@cache
def arrow(module: str = "pyarrow") -> Any:
    """The module pyarrow, or one below it, imported when it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            "Tables are read by pyarrow, which is missing: pip install pyarrow."
        ) from None


class TableRows:
    """Turns the columns of a table into rows, one piece after the other, on behalf of a reader.

    ``names`` are those of all columns, ``roles`` say which of them are what. Columns are ``raw`` if
    they are the fields of a text file: there "1" is a number and "NA" is missing. If all rows come
    in one piece, it is the ``whole``.
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
        self._imputed, reader.has_ids = reader.imputed, roles.id is not None
        self._notes: list[str] = []
        self._levels: list[tuple[str, ...] | None] = [None] * len(roles.features)
        self._means: npt.NDArray[np.float64] | None = None
        if self._known is not None and self._known.columns:  # a matrix names none
            self._levels = [column.levels for column in self._known.columns]
            means = [column.mean for column in self._known.columns]
            if any(mean is not None for mean in means):
                self._means = np.repeat(np.array(means, np.float64), self._widths())
        self._truths: dict[int, bool] = {}  # whether a column of text holds truth values
        self._kept = self._n_dropped = 0
        self._first_dropped: list[int] = []

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return text_labels([str(key) for key in keys]) if self.raw else typed_labels(keys)

    def from_columns(self, columns: Mapping[int, Any], n_rows: int, begin: Position) -> Piece:
        """A piece from its columns, by their positions."""
        if n_rows == 0 and self.whole:
            raise DataError(f"{self.source} has no rows.")
        roles = self.roles
        if roles.row_names is not None:
            self._check_row_names(columns[roles.row_names], begin.row)
        codes, keys = np.full(n_rows, -1), list[Hashable]()
        if roles.label is not None:
            try:
                codes, keys = self._labels(columns[roles.label], begin.row)
            except DataError:
                if self.labelled:
                    raise
        features = [self._feature(k, columns[j], begin.row) for k, j in enumerate(roles.features)]
        X = self._matrix(features, n_rows)
        ids = None
        if roles.id is not None:
            ids = ["" if x is None else str(x) for x in _values_of(columns[roles.id])]
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
        needed = self.labelled and self.label is not None
        unlabelled = codes < 0 if needed else np.zeros(len(X), np.bool_)
        n_rows = len(X)
        X, keep = self._without_gaps(X, begin.row, unlabelled)
        rows = np.arange(begin.row + 1, begin.row + n_rows + 1)
        if keep is not None:
            (codes, keys), rows = used_labels(codes[keep], keys), rows[keep]
            ids = None if ids is None else [ids[k] for k in np.flatnonzero(keep).tolist()]
        dropped = begin.dropped + n_rows - len(X)
        end = begin._replace(row=begin.row + n_rows, dropped=dropped)
        return Piece(X, codes, keys, rows, ids, begin, end)

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self._known is not None:
            return self._known
        columns, starts = list[Column](), np.cumsum([0, *self._widths()])
        for position, levels, at in zip(self.roles.features, self._levels, starts, strict=False):
            mean = None if self._means is None or levels is not None else float(self._means[at])
            columns.append(Column(self.names[position], mean, levels))
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
        seen = set[str]()
        for name in recipe.names:
            if name in seen:
                raise DataError(
                    f"{self.source}: two features would be named {quoted(name)}; rename a column."
                )
            seen.add(name)
        return recipe

    def final_notes(self) -> list[str]:
        """What was decided on the way."""
        notes, n = list(self._notes), self._n_dropped
        replaced = sum(len(rows) for rows, _ in self._imputed)
        if replaced:
            notes.append(f"{counted(replaced, 'missing value')} replaced by the mean of the column")
        if n:
            rows = self._first_dropped[:_ROWS_NAMED]
            more = f" and {n - len(rows):,} more" if n > len(rows) else ""
            named = f"row{'s' if n > 1 else ''} {', '.join(map(str, rows))}{more}"
            notes.append(f"{counted(n, 'row')} with missing values dropped ({named})")
        return notes

    def number_labels(
        self, values: Any, missing: Truths, first_row: int
    ) -> tuple[Indices, list[Hashable]]:
        """The code of each label of an array, -1 if it is missing, and the labels by code."""
        if values.dtype.kind == "f":
            infinite = np.isinf(values) & ~missing
            if infinite.any():
                at = place(self.source, first_row + int(np.argmax(infinite)) + 1, self.label or "")
                raise DataError(f"{at}: the label is infinite.")
            missing = missing | np.isnan(values)
        codes = np.full(len(values), -1)
        keys, codes[~missing] = np.unique(values[~missing], return_inverse=True)
        return codes, list(keys)

    def _widths(self) -> list[int]:
        return [1 if levels is None else len(levels) for levels in self._levels]

    def _owner(self, column: int) -> str:
        """The name of the column of the file that a column of X comes from."""
        k = int(np.searchsorted(np.cumsum(self._widths()), column, side="right"))
        return self.names[self.roles.features[k]]

    def _labels(self, cells: Any, first_row: int) -> tuple[Indices, list[Hashable]]:
        """The code of each row's label, -1 if it is missing, and the labels by code."""
        name = self.label or ""
        if self.raw or is_text(cells.type):
            codes, texts = encode(cells, raw=self.raw)
            for code, text in enumerate(texts):
                if len(text) > MOST_LABEL_CHARACTERS:
                    row = first_row + int(np.argmax(codes == code)) + 1
                    raise DataError(
                        f"{place(self.source, row, name)} is a label of over "
                        f"{MOST_LABEL_CHARACTERS} characters."
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
            codes, missing = to_numpy(coded.indices)
            return np.where(missing, -1, codes).astype(np.int64), coded.dictionary.to_pylist()
        values, missing = to_numpy(cells)
        if values.dtype == np.float16:
            values = values.astype(np.float32)
        elif arrow("pyarrow.types").is_boolean(cells.type):
            values = values.astype(np.bool_)
        return self.number_labels(values, missing, first_row)

    def _feature(self, k: int, cells: Any, first_row: int) -> Any:
        """A column of numbers, or for a column of text the code of each row's level."""
        position = self.roles.features[k]
        if position in self.roles.one_hot or self._levels[k] is not None:
            return self._categories(k, cells, first_row)
        floats = self._floats(position, cells, first_row)
        if floats is not None:
            return floats
        if self.roles.every_text and is_text(cells.type):
            return self._categories(k, cells, first_row)
        return self._refuse(position, cells, first_row)

    def _floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """The column as numbers, NaN where there is none; None if it holds something else."""
        pa, pc, types = arrow(), arrow("pyarrow.compute"), arrow("pyarrow.types")
        if not self.raw:
            if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
                cells = pc.cast(cells, cells.type.value_type)
            if types.is_decimal(cells.type):  # by way of text, which Arrow rounds correctly
                cells = pc.cast(pc.cast(cells, pa.string()), pa.float64())
            if types.is_null(cells.type):
                cells = pc.cast(cells, pa.float64())
            if not is_numeric(cells.type):
                return None
            values, missing = to_numpy(cells)
            wrong = np.flatnonzero(~(are_exact(values) | missing)).tolist()
            floats = _with_gaps(values, missing)
        else:
            known = self._truths.get(position)
            found = None if known is True else parse_numbers(cells, self.decimal)
            truths = found is None
            if truths and known is not False:
                found = parse_truths(cells)
            if found is None:
                return None
            floats = found
            if not np.isnan(floats).all():
                self._truths[position] = truths
            far = np.flatnonzero((np.abs(floats) >= 1 << 53) & np.isfinite(floats)).tolist()
            wrong = [row for row in far if not is_exact_text(cells[row].as_py().strip(BLANKS))]
        if wrong:
            value = str(cells[wrong[0]].as_py()).strip(BLANKS)
            refuse_inexact(self.source, first_row + wrong[0] + 1, self.names[position], value)
        return floats

    def _categories(self, k: int, cells: Any, first_row: int) -> tuple[Indices, tuple[str, ...]]:
        name = self.names[self.roles.features[k]]
        if not is_text(cells.type) and not is_numeric(cells.type):
            self._refuse(self.roles.features[k], cells, first_row)
        codes, found = encode(cells, raw=self.raw)
        known = self._levels[k]
        if known is None:
            if not found:
                self._leave_out(name, "has no values at all")
            if len(found) > _MOST_LEVELS:
                many = f"has {len(found):,} different values, too many for --one-hot (at most "
                self._leave_out(name, f"{many}{_MOST_LEVELS:,})")
            self._levels[k] = known = tuple(found)
            became = counted(len(found), "column")
            self._notes.append(
                f"column {quoted(name)} became {became} of 0 and 1, one for each value"
            )
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
        single = all(not isinstance(f, tuple) and f.dtype == np.float32 for f in features)
        try:
            kind = np.dtype(np.float32 if single else np.float64)
            X = cast(Floats, np.empty((n_rows, sum(widths)), kind))
        except (MemoryError, ValueError):
            size = n_rows * sum(widths) * 8 / 2**30
            raise DataError(
                f"{self.source} needs {size:,.0f} GiB as a matrix, too much memory."
            ) from None
        columns = list(zip(np.cumsum([0, *widths]).tolist(), features, strict=False))
        for first in range(0, n_rows, _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            for j, feature in columns:
                if isinstance(feature, tuple):
                    codes, levels = feature[0][rows, None], np.arange(len(feature[1]))
                    block = np.where(codes < 0, np.nan, codes == levels)
                    X[rows, j : j + len(levels)] = block
                else:
                    X[rows, j] = feature[rows]
        return X

    def _without_gaps(
        self, X: Floats, first_row: int, unlabelled: Truths
    ) -> tuple[Floats, Truths | None]:
        """The rows of X that are left, and which those are (None if all); X may be changed.

        Infinity is always refused; rows without a label are dropped if the policy says so, else
        refused. The means of an earlier fit are used unless rows are to be dropped.
        """
        drop, trained, absent = self.options.missing == "drop", self._known is not None, None
        with np.errstate(all="ignore"):
            if not np.isfinite(X.sum()):  # no NaN and no infinity makes a finite sum
                infinite, absent = np.isinf(X), np.isnan(X)
                if infinite.any():
                    what = "is infinite or beyond the range of float64"
                    raise DataError(f"{self._first(infinite, first_row)} {what}.")
        if unlabelled.any() and not drop:
            at = place(self.source, first_row + int(np.argmax(unlabelled)) + 1, self.label or "")
            raise DataError(f"{at}: the label is missing; --missing drop leaves out such rows.")
        if absent is not None and self.whole and not trained and absent.all(axis=0).any():
            self._leave_out(self._owner(int(np.argmax(absent.all(axis=0)))), "has no values at all")
        if self.options.missing == "mean" and not trained and self._means is None:
            self._means = self._column_means(X)
        if absent is not None and self._means is not None and not drop:
            X, absent = self._with_means(X, absent, first_row), None
        gappy = unlabelled if absent is None else unlabelled | absent.any(axis=1)
        self._kept += len(X) - int(gappy.sum())
        if not gappy.any():
            return X, None
        if absent is not None and not drop:
            n_rows = int(gappy.sum())
            also = f" (as are values in {n_rows:,} rows)" if n_rows > 1 and self.whole else ""
            mean = ", --missing mean puts in the mean of the column"
            raise DataError(
                f"{self._first(absent, first_row)} is missing{also}; --missing drop leaves out "
                f"such rows{mean if self.whole and not trained else ''}."
            )
        if gappy.all() and self.whole:
            raise DataError(f"{self.source} has no row without missing values.")
        self._n_dropped += int(gappy.sum())
        if len(self._first_dropped) <= _ROWS_NAMED:
            self._first_dropped += (np.flatnonzero(gappy) + first_row + 1).tolist()
        return X[~gappy], ~gappy

    def _first(self, marks: Truths, first_row: int) -> str:
        """The place of the first mark in a matrix."""
        row, column = (int(k) for k in np.argwhere(marks)[0])
        return place(self.source, first_row + row + 1, self._owner(column))

    def _column_means(self, X: Floats) -> npt.NDArray[np.float64]:
        """The mean of each column without its NaN, without overflow; NaN for what was text."""
        count = (~np.isnan(X)).sum(axis=0)
        means = np.nansum(X / np.maximum(count, 1.0), axis=0)
        textual = np.repeat([levels is not None for levels in self._levels], self._widths())
        return np.where(textual | (count == 0), np.nan, means)

    def _with_means(self, X: Floats, absent: Truths, first_row: int) -> Floats:
        means = cast(npt.NDArray[np.float64], self._means)
        unknown = absent & np.isnan(means)
        if unknown.any():
            raise DataError(
                f"{self._first(unknown, first_row)} is missing, and there is no mean for it; "
                "--missing drop leaves out such rows."
            )
        rows, columns = np.nonzero(absent)
        self._imputed.append((self._kept + rows, columns))
        X = X if X.flags.writeable else X.copy()
        X[rows, columns] = means[columns]
        return X

    def _check_row_names(self, cells: Any, first_row: int) -> None:
        """A column without a name must be text, or count the rows."""
        counts = parse_numbers(cells, self.decimal) if self.raw else None
        if counts is not None:
            steps = np.arange(first_row, first_row + len(counts), dtype=np.float64)
            if not (np.array_equal(counts, steps) or np.array_equal(counts, steps + 1.0)):
                raise DataError(
                    f"{self.source} has no name for column 1 in its header, and it does not just "
                    "number the rows; give it a name, or leave it out with --drop 1."
                )
        if not first_row:
            self._notes.append(
                "the first column has no name: it is taken for the rows' names, not a feature"
            )

    def _refuse(self, position: int, cells: Any, first_row: int) -> NoReturn:
        """Say why a column is not a feature."""
        name = self.names[position]
        if not is_text(cells.type):
            dated = arrow("pyarrow.types").is_temporal(cells.type)
            advice = "turn it into a number, such as days since a date, or " if dated else ""
            self._leave_out(name, f"is of type {cells.type}, not of numbers", advice)
        truths = self._truths.get(position) is True
        what = "neither true nor false" if truths else "not a number"
        for row, value in enumerate(_values_of(cells), start=first_row + 1):
            text = str(value)
            good = is_truth(text) if truths else is_number(text, self.decimal)
            if value is None or (self.raw and (good or is_missing(text))):
                continue
            raise DataError(
                f"{place(self.source, row, name)} holds {quoted(text)}, which is {what}; "
                f"{self._advice(name, cells, text)}."
            )
        self._leave_out(name, "is text without values")

    def _leave_out(self, name: str, what: str, advice: str = "") -> NoReturn:
        column = f"{self.source}: column {quoted(name)} {what}"
        raise DataError(f"{column}; {advice}leave it out with --drop {argument(name)}.")

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
            named = f"as most of its values differ, say --id {column} if it names the rows"
            return f"{named}, or --drop {column}"
        hint = f"use --one-hot {column} to make it columns of 0 and 1, or --drop {column}"
        if self.roles.guessed and len(levels) <= _FEW_LEVELS:
            taken = f"the label was taken to be the last column, {quoted(self.label or '')}"
            hint = f"{taken}; if it is {quoted(name)}, say --label {column}, else {hint}"
        return hint


class TypedTable(Reader):
    """The pieces of a Parquet file, a folder of them, or an Arrow file; positions count rows."""

    def __init__(self, request: Request, files: Sequence[str] = ()) -> None:
        super().__init__(request)
        self._files: list[Source | str] = list(files) or [request.source]
        self._parquet = request.source.format == "parquet"
        with _readable(self.source, self._parquet):
            opened = self._opened(self._files[0])
            self._schema = opened.schema_arrow if self._parquet else opened.schema
            names = list(self._schema.names)  # names that are no UTF-8 fail here
        self._names, roles = self._roles(names)
        self._used = roles.used
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
            piece.end = begin = piece.end._replace(offset=row)
            yield piece

    def _roles(self, names: list[str]) -> tuple[list[str], ColumnRoles]:
        """The names of the columns, without those of a pandas frame's index, and their roles."""
        options, recipe, labelled = self.request[1:4]
        if "" in names:
            raise DataError(f"{self.source} has no name for column {names.index('') + 1}.")
        check_unique(self.source, names)
        if recipe is not None:
            roles = match_columns(self.source, names, recipe, options, labelled=labelled)
        else:
            asked = {*options.features, *options.drop, options.id, options.label, *options.one_hot}
            said = _pandas_index(self._schema)
            index = [n for n in names if n in said or n.startswith("__index_level_")]
            index = [name for name in index if name not in asked]
            if index:
                self.notes = [f"the index of a pandas frame, {listed(index)}, is not a feature"]
            names = [name for name in names if name not in index]
            roles = assign_columns(self.source, names, options, labelled=labelled)
        self.notes += roles.notes
        return names, roles

    def _tables(self) -> Iterator[Any]:
        pa, names = arrow(), [self._names[j] for j in self._used]
        batches = (batch for file in self._files for batch in self._batches(file, names))
        if not self.request.one_piece:
            yield from (pa.Table.from_batches([batch]) for batch in batches)
            return
        with _readable(self.source, self._parquet):
            schema = pa.schema([self._schema.field(name) for name in names])
            yield pa.Table.from_batches(list(batches), schema=schema)

    def _batches(self, file: Source | str, names: list[str]) -> Iterator[Any]:
        with _readable(self.source, self._parquet):
            opened = self._opened(file)
            if self._parquet:
                absent = set(names) - set(opened.schema_arrow.names)
                if absent:
                    raise DataError(f"{file} has no column {listed(sorted(absent))}.")
                rows = max(1, _BATCH_NUMBERS // max(1, len(names)))
                yield from opened.iter_batches(batch_size=rows, columns=names)
                return
            batches = opened
            if hasattr(opened, "get_batch"):
                batches = (opened.get_batch(k) for k in range(opened.num_record_batches))
            for batch in batches:
                batch.validate(full=True)  # offsets that lead astray would crash us later
                yield batch.select(names)

    def _opened(self, file: Source | str) -> Any:
        pa, ipc = arrow(), arrow("pyarrow.ipc")
        content = file if isinstance(file, str) else pa.BufferReader(pa.py_buffer(file.view()))
        if self._parquet:
            return arrow("pyarrow.parquet").ParquetFile(content)
        whole = self.request.source.head.startswith(b"ARROW1")
        return ipc.open_file(content) if whole else ipc.open_stream(content)


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
    codes, missing = to_numpy(coded.indices)
    kept = sorted(value for value in values if not (raw and is_missing(value)))
    order = {value: code for code, value in enumerate(kept)}
    table = np.array([*(order.get(value, -1) for value in values), -1], np.int64)
    return table[np.where(missing, -1, codes)], kept


def to_numpy(cells: Any) -> tuple[Any, Truths]:
    """The numbers of a column, and which are missing; truth values become 0 and 1.

    Arrow's own ``to_numpy`` would import pandas, for which there is no need.
    """
    pa, pc = arrow(), arrow("pyarrow.compute")
    cells = cells if isinstance(cells, pa.Array) else cells.combine_chunks()
    if not len(cells):
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    if arrow("pyarrow.types").is_boolean(cells.type):
        cells = pc.cast(cells, pa.uint8())
    missing = np.from_dlpack(pc.cast(pc.is_null(cells), pa.uint8())).astype(np.bool_)
    buffers = [None, cells.buffers()[1]]
    plain = pa.Array.from_buffers(cells.type, len(cells), buffers, offset=cells.offset)
    return np.from_dlpack(plain), missing


def parse_numbers(cells: Any, decimal: str) -> npt.NDArray[np.float64] | None:
    """A column of raw text as floats, NaN for missing values; None if some is no number."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    texts = _without_missing(cells)
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        return cast(npt.NDArray[np.float64], _with_gaps(*to_numpy(pc.cast(texts, pa.float64()))))
    except pa.ArrowInvalid:  # one by one: there may be a number that Arrow does not know as such
        values = [np.nan if text is None else number(str(text)) for text in _values_of(texts)]
        return None if None in values else np.array(values, np.float64)


def parse_truths(cells: Any) -> npt.NDArray[np.float64] | None:
    """A column of raw text as 0 and 1; None if some value is neither true nor false."""
    small = arrow("pyarrow.compute").utf8_lower(_without_missing(cells))
    missing = to_numpy(small.is_null())[0] > 0
    truths, falses = (to_numpy(_is_in(small, [word]))[0] for word in ("true", "false"))
    return np.where(missing, np.nan, truths) if (missing | truths | falses).all() else None


def is_text(kind: Any) -> bool:
    """Whether a type is text, also if it is in a dictionary."""
    types = arrow("pyarrow.types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric(kind: Any) -> bool:
    """Whether a type is a number or a truth value."""
    types = arrow("pyarrow.types")
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def _with_gaps(values: Any, missing: Truths) -> Floats:
    """Numbers as floats, of single precision if they have no more, with NaN for missing ones."""
    single = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    floats = values.astype(np.float32 if single else np.float64)
    floats[missing] = np.nan
    return cast(Floats, floats)


def _pandas_index(schema: Any) -> set[object]:
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
        reason = (str(error) or type(error).__name__).splitlines()[0].strip().rstrip(".")[:200]
        format = "Parquet" if parquet else "Arrow"
        raise DataError(f"{source} is not a sound {format} file: {reason}.") from None


def _without_missing(cells: Any) -> Any:
    """A column of raw text, without blanks around it, and null where it says that it is missing."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    texts = pc.utf8_trim(cells, characters=BLANKS)
    nulls = pa.chunked_array([pa.nulls(len(texts), texts.type)])
    return pc.if_else(_is_in(texts, MISSING), nulls, texts)


def _is_in(texts: Any, words: Sequence[str]) -> Any:
    """Which texts are among some words, without pa.array or pa.scalar, which import pandas."""
    pa, parts = arrow(), [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    known = pa.Array.from_buffers(pa.string(), len(parts), buffers)
    return arrow("pyarrow.compute").is_in(texts, value_set=known)


def _values_of(cells: Any) -> Iterator[object]:
    """The values of a column, one chunk in memory at a time."""
    for chunk in cells.chunks:
        yield from chunk.to_pylist()
