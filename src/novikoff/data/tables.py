"""Tables: named columns become rows of numbers, with their labels.

A column of text goes one way to numbers: pyarrow casts it; if that fails, the first cell that is no
number is found and explained.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NoReturn, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from novikoff.core.validation import MOST_EXACT
from novikoff.data import cells as arrow_cells
from novikoff.data import values
from novikoff.data.cells import Truths, encode, is_numeric, is_text, to_numpy, values_of
from novikoff.data.columns import ColumnRoles
from novikoff.data.errors import DataError, argument, counted, listed, place, quoted, repeated
from novikoff.data.missing import MissingValues
from novikoff.data.options import Floats, Indices, Piece, Position, used_labels
from novikoff.data.reader import Reader, Request
from novikoff.data.recipe import Column, Recipe
from novikoff.data.values import BLANKS

MOST_LABEL_CHARACTERS: Final = 10_000
_MOST_LEVELS: Final = 10_000
_FEW_LEVELS: Final = 20
_NUMBERS_FOR_DATES: Final = "turn it into a number, such as days since a date"
_ROWS_AT_ONCE: Final = 1 << 12  # copied from columns to rows, so that both stay in the cache


class TableReader(Reader):
    """Turns the columns of a table into rows, one piece after the other.

    ``names`` are those of all columns, ``roles`` say which of them are what; a ``label`` may be
    beside them. Columns are ``raw`` if they are the fields of a text file: there "1" is a number
    and "NA" is missing.
    """

    raw = False
    decimal = "."
    typed = staticmethod(values.typed_labels)

    def __init__(
        self, request: Request, names: Sequence[str], roles: ColumnRoles, label: str | None = None
    ) -> None:
        super().__init__(request)
        self.names, self.roles, self.notes = names, roles, list(roles.notes)
        self.label = label if roles.label is None else names[roles.label]
        self.missing = MissingValues(request, self.label, self._owner)
        self.imputed = self.missing.imputed
        self._levels: list[tuple[str, ...] | None] = [None] * len(roles.features)
        if request.recipe is not None and request.recipe.columns:  # a matrix names none
            self._levels = [column.levels for column in request.recipe.columns]
            means = [column.mean for column in request.recipe.columns]
            if any(mean is not None for mean in means):
                self.missing.means = np.repeat(np.array(means, np.float64), self._widths())
        self.truths: dict[int, bool] = {}  # whether a column of text holds truth values
        self._notes: list[str] = []

    def recipe(self, width: int | None = None) -> Recipe:
        """How to read other files in the same way, when all pieces have been read."""
        if self.request.recipe is not None:
            return self.request.recipe
        columns, starts = list[Column](), np.cumsum([0, *self._widths()])
        means = self.missing.means
        for position, levels, at in zip(self.roles.features, self._levels, starts, strict=False):
            mean = None if means is None or levels is not None else float(means[at])
            columns.append(Column(self.names[position], mean, levels))
        options = self.request.options
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
        twice = repeated(recipe.names)
        if twice is not None:
            raise DataError(
                f"{self.source}: two features would be named {quoted(twice)}; rename a column."
            )
        return recipe

    def final_notes(self) -> list[str]:
        """What was decided on the way, when all pieces have been read."""
        return [*self._notes, *self.missing.notes()]

    def from_columns(self, columns: Mapping[int, Any], n_rows: int, begin: Position) -> Piece:
        """A piece from its columns, by their positions."""
        if n_rows == 0 and self.missing.whole:
            raise DataError(f"{self.source} has no rows.")
        roles = self.roles
        if roles.row_names is not None:
            self._check_row_names(columns[roles.row_names], begin.row)
        codes, keys = np.full(n_rows, -1), list[Hashable]()
        if roles.label is not None:
            try:
                codes, keys = self._labels(columns[roles.label], begin.row)
            except DataError:
                if self.request.labelled:
                    raise
        features = [self._feature(k, columns, begin.row) for k in range(len(roles.features))]
        X = self._matrix(features, n_rows)
        ids = None
        if roles.id is not None:
            ids = ["" if x is None else str(x) for x in values_of(columns[roles.id])]
        return self.from_numbers(X, codes, keys, ids, begin)

    def from_numbers(
        self,
        X: Floats,
        codes: Indices,
        keys: Sequence[Hashable],
        ids: list[str] | None,
        begin: Position,
    ) -> Piece:
        """A piece from a matrix, where NaN is a missing value; its end counts rows."""
        n_rows, needed = len(X), self.request.labelled and self.label is not None
        unlabelled = codes < 0 if needed else np.zeros(n_rows, np.bool_)
        textual = np.repeat([levels is not None for levels in self._levels], self._widths())
        X, keep = self.missing.handle(X, begin.row, unlabelled, textual)
        rows = np.arange(begin.row + 1, begin.row + n_rows + 1)
        if len(X) < n_rows:
            (codes, keys), rows = used_labels(codes[keep], keys), rows[keep]
            ids = None if ids is None else [ids[k] for k in np.flatnonzero(keep).tolist()]
        row = begin.row + n_rows
        end = Position(offset=row, row=row, dropped=begin.dropped + n_rows - len(X))
        return self.read_labels(Piece(X, codes, keys, rows, ids, begin, end))

    def number_labels(
        self, labels: Any, missing: Truths, first_row: int
    ) -> tuple[Indices, list[Hashable]]:
        """The code of each label of an array, -1 if it is missing, and the labels by code."""
        if labels.dtype.kind == "f":
            infinite = np.isinf(labels) & ~missing
            if infinite.any():
                at = place(self.source, first_row + int(np.argmax(infinite)) + 1, self.label or "")
                raise DataError(f"{at}: the label is infinite.")
            missing = missing | np.isnan(labels)
        codes = np.full(len(labels), -1)
        keys, codes[~missing] = np.unique(labels[~missing], return_inverse=True)
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
            if not texts and self.missing.whole:
                raise DataError(
                    f"{self.source}, row 1: the label, column {quoted(name)}, is missing."
                )
            return codes, list(texts)
        if not is_numeric(cells.type):
            raise DataError(
                f"{self.source}: column {quoted(name)} of type {cells.type} cannot be the label; "
                "choose another with --label."
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
        return self.number_labels(labels, missing, first_row)

    def _feature(self, k: int, columns: Mapping[int, Any], first_row: int) -> Any:
        """A column of numbers, or for a column of text the code of each row's level."""
        position = self.roles.features[k]
        cells = columns[position]
        if position in self.roles.one_hot or self._levels[k] is not None:
            return self._categories(k, cells, first_row)
        floats = self._floats(position, cells, first_row)
        if floats is not None:
            return floats
        every_text = self.roles.every_text and is_text(cells.type)
        if every_text and not self._is_measured(position, cells):
            return self._categories(k, cells, first_row)
        text_in = [
            (self.names[j], str(columns[j][0].as_py()))
            for j, levels in zip(self.roles.features[k + 1 :], self._levels[k + 1 :], strict=True)
            if is_text(columns[j].type)
            and not every_text
            and j not in self.roles.one_hot
            and levels is None
            and self._floats(j, columns[j], first_row) is None
            and not values.is_date(str(columns[j][0].as_py()))
        ]
        return self._refuse(position, cells, first_row, text_in)

    def _floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """The column as numbers, NaN where there is none; None if it holds something else."""
        if self.raw:
            known, found = self.truths.get(position), None
            if known is not True:
                found = arrow_cells.parse_numbers(cells, self.decimal)
            truths = found is None
            if truths and known is not False:
                found = arrow_cells.parse_truths(cells)
            if found is None:
                return None
            if not np.isnan(found).all():
                self.truths[position] = truths
            floats: Floats = found
            far = np.flatnonzero(np.abs(floats) >= MOST_EXACT).tolist()
            texts = {row: cells[row].as_py().strip(BLANKS) for row in far}
            exact = values.is_exact_text
            wrong = [row for row in far if not exact(texts[row].replace(self.decimal, "."))]
            wrong = wrong or np.flatnonzero(arrow_cells.became_zero(cells, floats)).tolist()
        else:
            plain = _plain_numbers(cells)
            if plain is None:
                return None
            numbers, missing = to_numpy(plain)
            wrong = np.flatnonzero(~(values.are_exact(numbers) | missing)).tolist()
            if types.is_decimal(cells.type):
                far = np.flatnonzero(np.abs(numbers) >= MOST_EXACT).tolist()
                wrong = [row for row in far if not values.is_exact_text(str(cells[row].as_py()))]
            floats = arrow_cells.with_gaps(numbers, missing)
        if wrong:
            value = str(cells[wrong[0]].as_py()).strip(BLANKS)
            row, name = first_row + wrong[0] + 1, self.names[position]
            value = value.replace(self.decimal, ".") if self.raw else value
            values.refuse_inexact(self.source, row, name, value)
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
        kind = np.dtype(np.float32 if single else np.float64)
        X = cast(Floats, np.empty((n_rows, sum(widths)), kind))
        columns = list(zip(np.cumsum([0, *widths]).tolist(), features, strict=False))
        for first in range(0, n_rows, _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            for j, feature in columns:
                if isinstance(feature, tuple):
                    codes, levels = feature[0][rows, None], np.arange(len(feature[1]))
                    X[rows, j : j + len(levels)] = np.where(codes < 0, np.nan, codes == levels)
                else:
                    X[rows, j] = feature[rows]
        return X

    def _check_row_names(self, cells: Any, first_row: int) -> None:
        """A column without a name must be text, or count the rows."""
        counts = arrow_cells.parse_numbers(cells, self.decimal)
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

    def _refuse(
        self, position: int, cells: Any, first_row: int, text_in: Sequence[tuple[str, str]] = ()
    ) -> NoReturn:
        """Say why a column is not a feature, and which others of text are none either.

        ``text_in`` are the names of those, each with its first value.
        """
        name = self.names[position]
        point = self.raw and self.decimal == "."
        commas = [other for other, text in text_in if point and values.has_decimal_comma(text)]
        others = [other for other, _ in text_in if other not in commas]
        if not is_text(cells.type):
            dated = types.is_temporal(cells.type)
            advice = f"{_NUMBERS_FOR_DATES}, or " if dated else ""
            self._leave_out(name, f"is of type {cells.type}, not of numbers", advice)
        row, text = self._first_text(position, cells)
        if row is None:
            self._leave_out(name, "is text without values")
        what = "neither true nor false" if self.truths.get(position) else "not a number"
        more = ""
        if self.roles.every_text:
            more = f"; --one-hot {argument(name)},'*' takes its values for categories all the same"
        if others and self.request.recipe is None and not values.is_date(text):
            them = "column" if len(others) == 1 else "columns"
            more = f"; text is also in {them} {listed(others)}"
            more += "" if self.request.as_they_come else ": --one-hot '*' takes all of text"
        if commas and self.request.recipe is None and not values.has_decimal_comma(text):
            more += f"; if {listed(commas)} has decimal commas, say --decimal ,"
        raise DataError(
            f"{place(self.source, first_row + row + 1, name)} holds {quoted(text)}, which is "
            f"{what}; {self._advice(name, cells, text)}{more}."
        )

    def _first_text(self, position: int, cells: Any) -> tuple[int | None, str]:
        """The first cell of a column that is neither missing nor of the column's kind."""
        truths = self.truths.get(position) is True
        for row, value in enumerate(values_of(cells)):
            text = str(value)
            good = values.is_truth(text) if truths else values.is_number(text, self.decimal)
            if value is not None and not (self.raw and (good or values.is_missing(text))):
                return row, text
        return None, ""

    def _leave_out(self, name: str, what: str, advice: str = "") -> NoReturn:
        column = f"{self.source}: column {quoted(name)} {what}"
        raise DataError(f"{column}; {advice}leave it out with --drop {argument(name)}.")

    def _advice(self, name: str, cells: Any, text: str) -> str:
        """What to do about a column of text that holds a certain one."""
        column, measure = argument(name), self._measure(text)
        if measure:
            return measure + (f", or say --drop {column}" if values.is_date(text) else "")
        if self.request.as_they_come and self.request.labelled:
            rows = f"rows such as label {name}={text[:20]}:1, or as JSON lines"
            return f"in a stream, write text as features, in {rows}, or say --drop {column}"
        if self.request.recipe is not None:
            return "the model has learned numbers there"
        codes, levels = encode(cells, raw=self.raw)
        if self._mostly_numbers(levels):
            return f"most of the column are numbers: correct that value, or say --drop {column}"
        if len(levels) > max(_FEW_LEVELS, (codes >= 0).sum() / 2):
            named = f"as most of its values differ, say --id {column} if it names the rows"
            return f"{named}, or --drop {column}"
        hint = f"use --one-hot {column} to make it columns of 0 and 1, or --drop {column}"
        if self.roles.guessed and len(levels) <= _FEW_LEVELS:
            taken = f"the label was taken to be the last column, {quoted(self.label or '')}"
            hint = f"{taken}; if it is {quoted(name)}, say --label {column}, else {hint}"
        return hint

    def _is_measured(self, position: int, cells: Any) -> bool:
        """Whether a column of text holds dates or numbers of some kind rather than categories."""
        text = self._first_text(position, cells)[1]
        return bool(self._measure(text)) or self._mostly_numbers(encode(cells, raw=self.raw)[1])

    def _measure(self, text: str) -> str:
        """What to do about a text that stands for a number or a date; empty if it does not."""
        dress = values.number_in_dress(text)
        if self.raw and self.decimal == "." and values.has_decimal_comma(text):
            thousands = "; if it separates thousands, take it out" if dress else ""
            return f"if the comma is its decimal point, say --decimal ,{thousands}"
        if dress:
            return f"it looks like a number with {dress}, which must be taken out"
        return f"it looks like a date or time: {_NUMBERS_FOR_DATES}" * values.is_date(text)

    def _mostly_numbers(self, levels: Sequence[object]) -> bool:
        good = [self.raw and values.is_number(str(level), self.decimal) for level in levels]
        return 2 * sum(good) > len(good)


def _plain_numbers(cells: Any) -> Any:
    """A typed column as one of numbers or truth values; None if it is neither."""
    if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
        cells = pc.cast(cells, cells.type.value_type)
    if types.is_decimal(cells.type):  # by way of text, which Arrow rounds correctly
        cells = pc.cast(cells, pa.string())
        cells = pc.cast(cells, pa.float64())
    if types.is_null(cells.type):
        cells = pc.cast(cells, pa.float64())
    return cells if is_numeric(cells.type) else None
