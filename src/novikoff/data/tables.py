"""Tables: columns with names and types become rows of numbers with labels.

CSV, Parquet and Arrow files are read as Arrow columns, npy and npz files as matrices. Numbers and
truth values become features. With ``one_hot``, a column of text becomes one column of 0 and 1 for
each of its values. Without it, the column is rejected with advice.

pyarrow has no type hints, so its objects are `Any` here. Buffers are exchanged by DLPack, because
pyarrow's own conversions (``to_numpy``, ``pa.array``, ``pa.scalar``) would import pandas.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from novikoff.core.rows import Floats, Indices
from novikoff.core.validation import MAX_EXACT
from novikoff.data.advice import (
    NUMBERS_FOR_DATES,
    advice_on_text,
    has_decimal_comma,
    is_date,
    mostly_numbers,
    seen_as_number,
)
from novikoff.data.messages import listed, place, quoted, repeated
from novikoff.data.reader import Piece, Position, Reader, Request
from novikoff.data.recipe import Column, Recipe
from novikoff.data.roles import ColumnRoles
from novikoff.data.values import (
    LabelForm,
    are_exact,
    inexact,
    is_exact_text,
    is_missing_text,
    recode,
)
from novikoff.errors import DataError
from novikoff.sentences import counted

Truths: TypeAlias = npt.NDArray[np.bool_]

# The mask of missing entries of a matrix that has none.
_NONE_ABSENT: Final[Truths] = np.zeros((1, 1), np.bool_)
_ROWS_NAMED: Final = 10


MAX_LABEL_CHARACTERS: Final = 10_000
_MAX_LEVELS: Final = 10_000
# This many rows are copied at a time from columns to the matrix, so that both stay in the CPU
# cache.
_COPIED_ROWS: Final = 1 << 12


class TableReader(Reader):
    """The base class of the readers of tables, which turns columns into pieces of rows.

    Parameters
    ----------
    request : Request
        The source and how to read it.
    names : sequence of str
        The names of all columns.
    roles : ColumnRoles
        The columns of features, label and row names.
    label : str, optional
        The name of labels that are not a column of the table, such as the vector y of an npz file.

    Attributes
    ----------
    raw : bool
        Whether columns of text are the fields of a text file, where "NA" is a missing value.
    whole : bool
        Whether all rows of the table are in one piece.
    columns : list of Column
        The columns of features. Each becomes one column of X, or one column for each of its levels.
        They have the means of the model; without a model, and if means replace missing values, they
        have the means of this table once its piece has been read.
    """

    raw = False
    decimal = "."
    label_form: LabelForm = "typed"

    def __init__(
        self, request: Request, names: Sequence[str], roles: ColumnRoles, label: str | None = None
    ) -> None:
        super().__init__(request)
        self.names, self.roles, self.notes = names, roles, list(roles.notes)
        self.label = label if roles.label is None else names[roles.label]
        recipe = request.recipe
        self.columns = [Column(names[position]) for position in roles.features]
        if recipe is not None and recipe.columns:  # recipes of matrices have no columns
            self.columns = list(recipe.columns)  # with the levels and means of the model
        self.whole = request.all_at_once
        self._kept = self._n_dropped = 0
        self._first_dropped: list[int] = []

    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other files in the same way; call it after the last piece."""
        if self.request.recipe is not None:
            return self.request.recipe
        options = self.request.options
        recipe = Recipe(
            family="table",
            columns=tuple(self.columns),
            label=self.label,
            id=None if self.roles.id is None else self.names[self.roles.id],
            missing=options.missing,
            width=len(self.names),
            header=options.header,
            delimiter=options.delimiter,
            decimal=None if options.decimal == "." else options.decimal,
        )
        twice = repeated(recipe.names)
        if twice is not None:
            raise DataError(
                f"{self.source}: two features would be named {quoted(twice)}; rename a column."
            )
        return recipe

    def final_notes(self) -> list[str]:
        """Return how many values were replaced, and which rows were left out."""
        notes, n = list[str](), self._n_dropped
        if self.imputed:
            columns = np.concatenate([columns for _, columns in self.imputed])
            values = counted(len(columns), "missing value")
            notes.append(f"{values} replaced by {self._source_of_means(columns)}")
        if n:
            rows = self._first_dropped[:_ROWS_NAMED]
            remainder = f" and {n - len(rows):,} more" if n > len(rows) else ""
            named = f"row{'s' if n > 1 else ''} {', '.join(map(str, rows))}{remainder}"
            notes.append(f"{counted(n, 'row')} with missing values dropped ({named})")
        return notes

    def from_columns(self, columns: Mapping[int, Any], begin: Position) -> Piece:
        """Make a piece from Arrow columns, whose keys are their positions in the table."""
        n_rows = len(columns[self.roles.features[0]])
        if n_rows == 0 and self.whole:
            raise DataError(f"{self.source} has no rows.")
        roles = self.roles
        codes, keys = np.full(n_rows, -1), list[Hashable]()
        if roles.label is not None:
            try:
                codes, keys = self._code_labels(columns[roles.label], begin.row)
            except DataError:
                if self.request.labelled:
                    raise
        features = [self._feature(k, columns, begin.row) for k in range(len(roles.features))]
        X = _to_matrix(features, n_rows)
        ids = None
        if roles.id is not None:
            ids = ["" if x is None else str(x) for x in columns[roles.id].to_pylist()]
        return self.from_numbers(X, codes, keys, ids, begin)

    def from_numbers(
        self,
        X: Floats,
        codes: Indices,
        keys: Sequence[Hashable],
        ids: list[str] | None,
        begin: Position,
    ) -> Piece:
        """Make a piece from a matrix in which NaN is a missing value; its positions count rows."""
        n_rows = len(X)
        X, keep = self._treat_missing(X, codes, begin.row)
        rows = np.arange(begin.row + 1, begin.row + n_rows + 1)
        if len(X) < n_rows:
            codes, rows = codes[keep], rows[keep]
            used = set(codes.tolist())
            codes, keys = recode(codes, [k if c in used else None for c, k in enumerate(keys)])
            ids = None if ids is None else [ids[k] for k in np.flatnonzero(keep).tolist()]
        row = begin.row + n_rows
        end = Position(offset=row, row=row, dropped=begin.dropped + n_rows - len(X))
        return self.read_labels(Piece(X, codes, keys, rows, ids, begin, end))

    def _treat_missing(self, X: Floats, codes: Indices, first_row: int) -> tuple[Floats, Truths]:
        """Return the rows of X that are kept, and which rows they are; X may be changed.

        Infinity is always an error. A row without a label is left out if ``missing`` is "drop";
        otherwise it is an error. The means of a model replace missing values unless ``missing`` is
        "drop". A column of text has no mean.
        """
        policy, trained = self.request.options.missing, self.request.recipe is not None
        drop, learning = policy == "drop", policy == "mean" and not trained
        absent = self._missing_entries(X, first_row)
        unlabelled = np.zeros(len(X), np.bool_)
        if self.request.labelled and self.label is not None:
            unlabelled = codes < 0
        if unlabelled.any() and not drop:
            at = self.place(first_row + int(np.argmax(unlabelled)) + 1, self.label or "")
            raise DataError(f"{at}: the label is missing; {self.request.advice_to_drop}.")
        empty = absent.all(axis=0)
        if self.whole and not trained and empty.any():
            self._reject_column(self._owner(int(np.argmax(empty))), "has no values at all")
        if learning:
            self._learn_means(X)
        if not absent.any() and not unlabelled.any():
            self._kept += len(X)
            return X, ~unlabelled
        has_means = learning or any(column.mean is not None for column in self.columns)
        if absent.any() and has_means and not drop:
            X = self._with_means(X, absent, first_row)
            absent = _NONE_ABSENT
        incomplete = unlabelled | absent.any(axis=1)
        if absent.any() and not drop:
            self._reject_missing(absent, int(incomplete.sum()), first_row)
        dropped = np.flatnonzero(incomplete)
        self._kept += len(X) - len(dropped)
        self._n_dropped += len(dropped)
        if len(self._first_dropped) < _ROWS_NAMED:
            self._first_dropped += (dropped[:_ROWS_NAMED] + first_row + 1).tolist()
        return (X[~incomplete] if len(dropped) else X), ~incomplete

    def _missing_entries(self, X: Floats, first_row: int) -> Truths:
        """Return a mask of the missing entries of X; DataError if an entry is infinite."""
        with np.errstate(all="ignore"):
            if np.isfinite(X.sum()):  # then X has no NaN and no infinity
                return _NONE_ABSENT
            infinite = np.isinf(X)
        if infinite.any():
            what = "is infinite or beyond the range of float64"
            raise DataError(f"{self._place_of_first(infinite, first_row)} {what}.")
        return np.isnan(X)

    def _learn_means(self, X: Floats) -> None:
        """Keep the mean of each column of numbers; X has all rows of the file."""
        ends = np.cumsum([len(column.names) for column in self.columns])
        for k, mean in enumerate(_means(X)[ends - 1].tolist()):
            if self.columns[k].levels is None:
                self.columns[k] = replace(self.columns[k], mean=mean)

    def _reject_missing(self, absent: Truths, n_rows: int, first_row: int) -> NoReturn:
        """Raise DataError on the first missing value, with advice; ``n_rows`` rows have some."""
        request = self.request
        several = n_rows > 1 and self.whole
        also = f" ({n_rows:,} rows in all have missing values)" if several else ""
        advice = request.advice_to_drop
        if self.whole and request.recipe is None and not request.options.regression:
            mean = request.options.say("missing", "mean")
            advice += f", {mean} replaces missing values by the mean of the column"
        raise DataError(f"{self._place_of_first(absent, first_row)} is missing{also}; {advice}.")

    def _with_means(self, X: Floats, absent: Truths, first_row: int) -> Floats:
        """Return X with means in place of missing values."""
        column_means = [np.nan if column.mean is None else column.mean for column in self.columns]
        means = np.repeat(column_means, [len(column.names) for column in self.columns])
        unknown = absent & np.isnan(means)
        if unknown.any():
            at = self._place_of_first(unknown, first_row)
            raise DataError(
                f"{at} is missing, and the column has no mean; {self.request.advice_to_drop}."
            )
        rows, columns = np.nonzero(absent)
        self.imputed.append((self._kept + rows, columns))
        X = X if X.flags.writeable else X.copy()
        X[rows, columns] = means[columns]
        return X

    def _source_of_means(self, columns: Indices) -> str:
        """Describe what replaced the missing values of these columns of X."""
        if self.request.recipe is None:
            return "the mean of the column"
        means, each = {column.name: column.mean for column in self.columns}, list[str]()
        for column, count in zip(*np.unique(columns, return_counts=True), strict=True):
            name = self._owner(int(column))
            each.append(f"{count:,} in column {quoted(name)} by {means[name]!r}")
        return f"stored means: {', '.join(each)}"

    def _owner(self, column: int) -> str:
        """Return the name of the table's column that became a column of X."""
        ends = np.cumsum([len(own.names) for own in self.columns])
        return self.columns[int(np.searchsorted(ends, column, side="right"))].name

    def place(self, row: int, column: str) -> str:
        """Return the place of a value: file, row (counted from 1) and name of the column."""
        return place(self.source, row, column)

    def _place_of_first(self, marks: Truths, first_row: int) -> str:
        """Return the place of the first True in a matrix."""
        row, column = (int(k) for k in np.argwhere(marks)[0])
        return self.place(first_row + row + 1, self._owner(column))

    def code_numbers(
        self, labels: Any, missing: Truths, first_row: int
    ) -> tuple[Indices, list[Hashable]]:
        """Return the code of each number (-1 if it is missing), and the different labels."""
        if labels.dtype.kind == "f":
            infinite = np.isinf(labels) & ~missing
            if infinite.any():
                at = self.place(first_row + int(np.argmax(infinite)) + 1, self.label or "")
                raise DataError(f"{at}: the label is infinite.")
            missing = missing | np.isnan(labels)
        codes = np.full(len(labels), -1)
        keys, codes[~missing] = np.unique(labels[~missing], return_inverse=True)
        return codes, list(keys)

    def floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """Return a column as numbers, NaN where a value is missing; None if it is not numeric."""
        numbers = typed_numbers(cells)
        if numbers is None:
            return None
        floats, inexact = numbers
        if inexact is not None:
            value = str(cells[inexact].as_py())
            self.reject_inexact(first_row + inexact + 1, self.names[position], value)
        return floats

    def reject_inexact(self, row: int, name: str, value: str) -> NoReturn:
        """Raise DataError on a number that `is_exact_text` or `are_exact` rejects."""
        drop = f", or leave it out with {self.request.options.say('drop', (name,))}"
        raise DataError(f"{self.place(row, name)} {inexact(value, drop)}")

    def is_value(self, position: int, text: str) -> bool:
        """Return whether a text in a column of features is a number or a truth value."""
        return False

    def _code_labels(self, cells: Any, first_row: int) -> tuple[Indices, list[Hashable]]:
        """Return the code of each row's label (-1 if it is missing), and the different labels."""
        name = self.label or ""
        if is_text(cells.type):
            codes, texts = encode(cells, raw=self.raw)
            for code, text in enumerate(texts):
                if len(text) > MAX_LABEL_CHARACTERS:
                    row = first_row + int(np.argmax(codes == code)) + 1
                    raise DataError(
                        f"{self.place(row, name)} is a label of over "
                        f"{MAX_LABEL_CHARACTERS} characters."
                    )
            if not texts and self.whole:
                raise DataError(
                    f"{self.source}, row 1: the label, column {quoted(name)}, is missing."
                )
            return codes, list(texts)
        if not is_numeric(cells.type):
            raise DataError(
                f"{self.source}: column {quoted(name)} of type {cells.type} cannot be the label; "
                f"choose another with {self.request.options.say('label')}."
            )
        if types.is_decimal(cells.type):
            coded = cells.combine_chunks().dictionary_encode()
            codes, missing = to_numpy(coded.indices)
            return np.where(missing, -1, codes).astype(np.int64), coded.dictionary.to_pylist()
        labels, missing = to_numpy(cells)
        if labels.dtype == np.float16:
            labels = labels.astype(np.float32)
        elif types.is_boolean(cells.type):
            labels = labels.astype(np.bool_)
        return self.code_numbers(labels, missing, first_row)

    def _feature(self, k: int, columns: Mapping[int, Any], first_row: int) -> Any:
        """Return a column of numbers, or the codes and the levels of a column of text."""
        position = self.roles.features[k]
        cells = columns[position]
        if position in self.roles.one_hot or self.columns[k].levels is not None:
            return self._categories(k, cells, first_row)
        floats = self.floats(position, cells, first_row)
        if floats is not None:
            return floats
        if self.roles.every_text and is_text(cells.type):
            text = self._first_text(position, cells)[1]
            point = self.decimal if self.raw else None
            measured = seen_as_number(text, point, self.request.options)
            if not (measured or mostly_numbers(encode(cells, raw=self.raw)[1], point)):
                return self._categories(k, cells, first_row)
        return self._reject(k, columns, first_row)

    def _categories(self, k: int, cells: Any, first_row: int) -> tuple[Indices, tuple[str, ...]]:
        """Return the code of each row's level, and the levels, of a column for ``one_hot``."""
        name, known = self.columns[k].name, self.columns[k].levels
        if not is_text(cells.type) and not is_numeric(cells.type):
            self._reject_type(name, cells.type)
        codes, levels = encode(cells, raw=self.raw)
        if known is None:
            if not levels:
                self._reject_column(name, "has no values at all")
            if len(levels) > _MAX_LEVELS:
                option = self.request.options.say("one_hot")
                many = f"has {len(levels):,} different values, too many for {option}"
                self._reject_column(name, f"{many} (at most {_MAX_LEVELS:,})")
            known = tuple(levels)
            self.columns[k] = Column(name, levels=known)
            became = f"became {counted(len(levels), 'column')} of 0 and 1, one for each value"
            if self.request.options.regression:
                became = f"is a factor with {counted(len(levels), 'level')}"
            self.notes.append(f"column {quoted(name)} {became}")
        order = {level: code for code, level in enumerate(known)}
        for code, level in enumerate(levels):
            if level not in order:
                row = first_row + int(np.argmax(codes == code)) + 1
                raise DataError(
                    f"{self.place(row, name)} holds {quoted(level)}, a value that the "
                    "model has not seen in training; drop such rows or fit again with them."
                )
        return np.array([*(order[level] for level in levels), -1], np.int64)[codes], known

    def _reject(self, k: int, columns: Mapping[int, Any], first_row: int) -> NoReturn:
        """Raise DataError on a column of text, with advice and the names of other text columns."""
        position, recipe = self.roles.features[k], self.request.recipe
        name, cells, point = self.names[position], columns[position], self.decimal
        if not is_text(cells.type):
            self._reject_type(name, cells.type)
        others = self._other_texts(k, columns, first_row)
        row, text = self._first_text(position, cells)
        if row is None:
            self._reject_column(name, "is text without values")
        codes, levels = encode(cells, raw=self.raw)
        decimal = point if self.raw else None
        advice = advice_on_text(
            name,
            text,
            levels,
            int((codes >= 0).sum()),
            options=self.request.options,
            decimal=decimal,
            guessed_label=self.label if self.roles.guessed else None,
            streaming=self.request.stream is not None and self.request.labelled,
            trained=recipe is not None,
        )
        commas = [n for n, first in others.items() if decimal == "." and has_decimal_comma(first)]
        texts = [other for other in others if other not in commas]
        say = self.request.options.say
        if self.roles.every_text:
            advice += f"; {say('one_hot', (name, '*'))} takes its values as categories anyway"
        if texts and recipe is None and not is_date(text):
            them = "column" if len(texts) == 1 else "columns"
            advice += f"; text is also in {them} {listed(texts)}"
            if self.request.stream is None:
                advice += f": {say('one_hot', ('*',))} takes all text columns"
        if commas and recipe is None and not has_decimal_comma(text):
            advice += f"; say {say('decimal', ',')} if {listed(commas)} has decimal commas"
        raise DataError(
            f"{self.place(first_row + row + 1, name)} holds {quoted(text)}, which is "
            f"{self.expected(position)}; {advice}."
        )

    def expected(self, position: int) -> str:
        """Return the part of an error message that says what a text should have been."""
        return "not a number"

    def _other_texts(self, k: int, columns: Mapping[int, Any], first_row: int) -> dict[str, str]:
        """Return, by name, the first text of each later column that holds text other than dates."""
        texts = dict[str, str]()
        for later in range(k + 1, len(self.columns)):
            position = self.roles.features[later]
            cells, hot = columns[position], self.columns[later].levels is not None
            hot = hot or self.roles.every_text or position in self.roles.one_hot
            if hot or not is_text(cells.type):
                continue
            if self.floats(position, cells, first_row) is not None:
                continue
            first = self._first_text(position, cells)[1]
            if not is_date(first):
                texts[self.names[position]] = first
        return texts

    def _first_text(self, position: int, cells: Any) -> tuple[int | None, str]:
        """Return the row and the text of the first cell that is neither missing nor a value."""
        codes, texts = encode(cells, raw=self.raw)
        wrong = np.array([*(not self.is_value(position, text) for text in texts), False])
        rows = np.flatnonzero(wrong[codes])
        return (int(rows[0]), texts[codes[rows[0]]]) if len(rows) else (None, "")

    def _reject_type(self, name: str, kind: Any) -> NoReturn:
        advice = f"{NUMBERS_FOR_DATES}, or " if types.is_temporal(kind) else ""
        self._reject_column(name, f"is of type {kind}, not of numbers", advice)

    def _reject_column(self, name: str, what: str, advice: str = "") -> NoReturn:
        column = f"{self.source}: column {quoted(name)} {what}"
        drop = self.request.options.say("drop", (name,))
        raise DataError(f"{column}; {advice}leave it out with {drop}.")


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text, dictionary-encoded or not."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric(kind: Any) -> bool:
    """Return whether an Arrow type holds numbers or truth values."""
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def encode(cells: Any, *, raw: bool) -> tuple[Indices, list[str]]:
    """Return the code of each cell, and the different values as sorted texts.

    A missing value has the code -1. In ``raw`` text, so have words for a missing value, such as NA.
    """
    if not raw:  # a raw column is already dictionary-encoded, and uses all of its values
        if types.is_dictionary(cells.type):
            cells = pc.cast(cells, cells.type.value_type)
        cells = pc.cast(cells, pa.large_string()).combine_chunks().dictionary_encode()
    coded = cells if isinstance(cells, pa.Array) else cells.combine_chunks()
    values: list[str] = coded.dictionary.to_pylist()
    codes, missing = to_numpy(coded.indices)
    levels = sorted(value for value in values if not (raw and is_missing_text(value)))
    order = dict(zip(levels, range(len(levels)), strict=True))
    table = np.array([*(order.get(value, -1) for value in values), -1], np.int64)
    return table[np.where(missing, -1, codes)], levels


def to_numpy(cells: Any) -> tuple[Any, Truths]:
    """Return the numbers of a column, and a mask of missing values; truth values become 0 and 1."""
    cells = cells if isinstance(cells, pa.Array) else cells.combine_chunks()
    if not len(cells):
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    if types.is_boolean(cells.type):
        cells = pc.cast(cells, pa.uint8())
    missing = np.zeros(len(cells), np.bool_)
    if cells.null_count:
        missing = np.from_dlpack(pc.cast(pc.is_null(cells), pa.uint8())).astype(np.bool_)
    buffers = [None, cells.buffers()[1]]
    plain = pa.Array.from_buffers(cells.type, len(cells), buffers, offset=cells.offset)
    return np.from_dlpack(plain), missing


def typed_numbers(cells: Any) -> tuple[Floats, int | None] | None:
    """Return a column as floats, NaN for missing values; None if its type is not numeric.

    Numbers of single precision keep their type. The second result is the first row whose number is
    not exact as a float, or None if there is no such row.
    """
    if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
        cells = pc.cast(cells, cells.type.value_type)
    plain = cells
    if types.is_decimal(cells.type):  # converted by way of text, which Arrow rounds correctly
        plain = pc.cast(pc.cast(cells, pa.string()), pa.float64())
    elif types.is_null(cells.type):
        plain = pc.cast(cells, pa.float64())
    if not is_numeric(plain.type):
        return None
    values, missing = to_numpy(plain)
    single = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    floats = cast(Floats, values.astype(np.float32 if single else np.float64))
    floats[missing] = np.nan
    inexact = np.flatnonzero(~(are_exact(values) | missing)).tolist()
    if types.is_decimal(cells.type):
        large = np.flatnonzero(np.abs(floats) >= MAX_EXACT).tolist()
        inexact = [row for row in large if not is_exact_text(str(cells[row].as_py()))]
    return floats, next(iter(inexact), None)


def _to_matrix(features: Sequence[Any], n_rows: int) -> Floats:
    """Join features into a C-ordered matrix; missing values become NaN."""
    columns, width, single = list[tuple[int, Any]](), 0, True
    for feature in features:
        columns.append((width, feature))
        levels = feature[1] if isinstance(feature, tuple) else None
        width += 1 if levels is None else len(levels)
        single = single and levels is None and feature.dtype == np.float32
    X = cast(Floats, np.empty((n_rows, width), np.float32 if single else np.float64))
    for first in range(0, n_rows, _COPIED_ROWS):
        rows = slice(first, first + _COPIED_ROWS)
        for j, feature in columns:
            if isinstance(feature, tuple):
                codes, levels = feature[0][rows, None], np.arange(len(feature[1]))
                X[rows, j : j + len(levels)] = np.where(codes < 0, np.nan, codes == levels)
            else:
                X[rows, j] = feature[rows]
    return X


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """Return the mean of each column, ignoring NaN; the sum does not overflow."""
    count = (~np.isnan(X)).sum(axis=0)
    means = np.nansum(X / np.maximum(count, 1.0), axis=0)
    return np.where(count == 0, np.nan, means)
