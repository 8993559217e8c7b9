"""Tables: named columns become rows of numbers, with their labels.

A column of text goes one way to numbers: pyarrow casts it; if that fails, the first cell that is no
number is found and explained.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NoReturn, cast

import numpy as np
from pyarrow import types

from novikoff.core.rows import Floats, Indices
from novikoff.data import cells as arrow_cells
from novikoff.data.advice import (
    NUMBERS_FOR_DATES,
    TextColumn,
    has_decimal_comma,
    is_date,
    mostly_numbers,
    seen_as_number,
)
from novikoff.data.cells import Truths, encode, is_numeric, is_text, to_numpy, values_of
from novikoff.data.columns import ColumnRoles
from novikoff.data.labels import LabelForm, recode
from novikoff.data.messages import argument, counted, listed, place, quoted, repeated
from novikoff.data.missing import MissingValues
from novikoff.data.numbers import is_missing, is_number, is_truth, refuse_inexact
from novikoff.data.options import Piece, Position
from novikoff.data.reader import Reader, Request
from novikoff.data.recipe import Column, Recipe
from novikoff.errors import DataError

MAX_LABEL_CHARACTERS: Final = 10_000
_MAX_LEVELS: Final = 10_000
_ROWS_AT_ONCE: Final = 1 << 12  # copied from columns to rows, so that both stay in the cache


class TableReader(Reader):
    """Turns the columns of a table into rows, one piece after the other.

    ``names`` are those of all columns, ``roles`` say which of them are what; a ``label`` may be
    beside them. Columns are ``raw`` if they are the fields of a text file: there "1" is a number
    and "NA" is missing.
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
        if recipe is not None and recipe.columns:  # a matrix names none
            # With levels and means, which others get on the way.
            self.columns = list(recipe.columns)
        self.missing = MissingValues(request, self.label, self.columns)
        self.imputed = self.missing.imputed
        self.truths: dict[int, bool] = {}  # whether a column of text holds truth values

    def recipe(self, width: int | None = None) -> Recipe:
        """How to read other files in the same way, when all pieces have been read."""
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
        """What was decided on the way, when all pieces have been read."""
        return self.missing.notes()

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
        X, keep = self.missing.handle(X, begin.row, unlabelled)
        rows = np.arange(begin.row + 1, begin.row + n_rows + 1)
        if len(X) < n_rows:
            codes, rows = codes[keep], rows[keep]
            used = set(codes.tolist())
            codes, keys = recode(codes, [k if c in used else None for c, k in enumerate(keys)])
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

    def _labels(self, cells: Any, first_row: int) -> tuple[Indices, list[Hashable]]:
        """The code of each row's label, -1 if it is missing, and the labels by code."""
        name = self.label or ""
        if self.raw or is_text(cells.type):
            codes, texts = encode(cells, raw=self.raw)
            for code, text in enumerate(texts):
                if len(text) > MAX_LABEL_CHARACTERS:
                    row = first_row + int(np.argmax(codes == code)) + 1
                    raise DataError(
                        f"{place(self.source, row, name)} is a label of over "
                        f"{MAX_LABEL_CHARACTERS} characters."
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
        if position in self.roles.one_hot or self.columns[k].levels is not None:
            return self._categories(k, cells, first_row)
        floats = self._floats(position, cells, first_row)
        if floats is not None:
            return floats
        if self.roles.every_text and is_text(cells.type):
            text = self._first_text(position, cells)[1]
            point = self.decimal if self.raw else None
            measured = seen_as_number(text, point)
            if not (measured or mostly_numbers(encode(cells, raw=self.raw)[1], point)):
                return self._categories(k, cells, first_row)
        return self._refuse(k, columns, first_row)

    def _floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """The column as numbers, NaN where there is none; None if it holds something else."""
        if self.raw:
            known, floats = self.truths.get(position), cast(Floats | None, None)
            if known is not True:
                floats = arrow_cells.parse_numbers(cells, self.decimal)
            truths = floats is None
            if truths and known is not False:
                floats = arrow_cells.parse_truths(cells)
            if floats is None:
                return None
            if not np.isnan(floats).all():
                self.truths[position] = truths
            inexact = arrow_cells.inexact_row(cells, floats, self.decimal)
        else:
            found = arrow_cells.typed_numbers(cells)
            if found is None:
                return None
            floats, inexact = found
        if inexact is not None:
            value = arrow_cells.text_at(cells, inexact, self.decimal)
            refuse_inexact(self.source, first_row + inexact + 1, self.names[position], value)
        return floats

    def _categories(self, k: int, cells: Any, first_row: int) -> tuple[Indices, tuple[str, ...]]:
        name, known = self.columns[k].name, self.columns[k].levels
        if not is_text(cells.type) and not is_numeric(cells.type):
            self._refuse_type(name, cells.type)
        codes, found = encode(cells, raw=self.raw)
        if known is None:
            if not found:
                self._leave_out(name, "has no values at all")
            if len(found) > _MAX_LEVELS:
                many = f"has {len(found):,} different values, too many for --one-hot (at most "
                self._leave_out(name, f"{many}{_MAX_LEVELS:,})")
            known = tuple(found)
            self.columns[k] = Column(name, levels=known)
            became = counted(len(found), "column")
            self.notes.append(
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
            self.notes.append(
                "the first column has no name: it is taken for the rows' names, not a feature"
            )

    def _refuse(self, k: int, columns: Mapping[int, Any], first_row: int) -> NoReturn:
        """Say why a column is not a feature, and which others of text are none either."""
        position, recipe = self.roles.features[k], self.request.recipe
        name, cells, point = self.names[position], columns[position], self.decimal
        if not is_text(cells.type):
            self._refuse_type(name, cells.type)
        others = self._other_texts(k, columns, first_row)
        row, text = self._first_text(position, cells)
        if row is None:
            self._leave_out(name, "is text without values")
        codes, levels = encode(cells, raw=self.raw)
        guessed = self.label if self.roles.guessed else None
        decimal, n_values = point if self.raw else None, int((codes >= 0).sum())
        advice = TextColumn(name, text, levels, n_values, decimal, guessed).advice(
            streaming=self.request.stream is not None and self.request.labelled,
            trained=recipe is not None,
        )
        what = "neither true nor false" if self.truths.get(position) else "not a number"
        commas = [n for n, first in others.items() if decimal == "." and has_decimal_comma(first)]
        texts = [other for other in others if other not in commas]
        if self.roles.every_text:
            all_text = f"{argument(name)},'*'"
            advice += f"; --one-hot {all_text} takes its values for categories all the same"
        if texts and recipe is None and not is_date(text):
            them = "column" if len(texts) == 1 else "columns"
            advice += f"; text is also in {them} {listed(texts)}"
            advice += "" if self.request.stream is not None else ": --one-hot '*' takes all of text"
        if commas and recipe is None and not has_decimal_comma(text):
            advice += f"; say --decimal , if {listed(commas)} has decimal commas"
        raise DataError(
            f"{place(self.source, first_row + row + 1, name)} holds {quoted(text)}, which is "
            f"{what}; {advice}."
        )

    def _other_texts(self, k: int, columns: Mapping[int, Any], first_row: int) -> dict[str, str]:
        """The later columns that hold text too, but for dates: by name, their first text."""
        found = dict[str, str]()
        for later in range(k + 1, len(self.columns)):
            position = self.roles.features[later]
            cells, hot = columns[position], self.columns[later].levels is not None
            hot = hot or self.roles.every_text or position in self.roles.one_hot
            if hot or not is_text(cells.type):
                continue
            if self._floats(position, cells, first_row) is not None:
                continue
            first = self._first_text(position, cells)[1]
            if not is_date(first):
                found[self.names[position]] = first
        return found

    def _first_text(self, position: int, cells: Any) -> tuple[int | None, str]:
        """The first cell of a column that is neither missing nor of the column's kind."""
        truths = self.truths.get(position) is True
        for row, value in enumerate(values_of(cells)):
            text = str(value)
            good = is_truth(text) if truths else is_number(text, self.decimal)
            if value is not None and not (self.raw and (good or is_missing(text))):
                return row, text
        return None, ""

    def _refuse_type(self, name: str, kind: Any) -> NoReturn:
        advice = f"{NUMBERS_FOR_DATES}, or " if types.is_temporal(kind) else ""
        self._leave_out(name, f"is of type {kind}, not of numbers", advice)

    def _leave_out(self, name: str, what: str, advice: str = "") -> NoReturn:
        column = f"{self.source}: column {quoted(name)} {what}"
        raise DataError(f"{column}; {advice}leave it out with --drop {argument(name)}.")
