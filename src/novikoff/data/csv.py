"""CSV and its relatives: tables of text, whose columns are read by pyarrow with their types.

Each column of features is read as numbers, or as truth values if its first rows are. pyarrow
rejects a column in which a field is neither a number nor missing. The column is then read again as
text, and its different values are judged one by one: this finds a word for a missing value with
blanks around it, or the field that is wrong. A column whose numbers may not be exact as floats is
read again as text, too, because only the text tells 9007199254740993 from 9007199254740992.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from pyarrow import types

from novikoff.core.rows import Floats
from novikoff.core.validation import MAX_EXACT
from novikoff.data.columns import find_roles
from novikoff.data.dataset import Piece, Position
from novikoff.data.labels import LabelForm
from novikoff.data.layout import Layout, Record, end_of_records, records
from novikoff.data.numbers import (
    BLANKS,
    FALSE,
    MISSING,
    TRUE,
    is_exact_text,
    is_missing_text,
    is_number_text,
    is_truth,
    parse_number,
    refuse_inexact,
)
from novikoff.data.reader import Request
from novikoff.data.tables import TableReader, encode, is_text, to_numpy
from novikoff.data.text import check_text, cut_text, is_read_at_once, parse_texts
from novikoff.errors import DataError
from novikoff.sentences import counted

# The types with which columns are read. Text is coded by pyarrow: a code for each row, and the
# different texts.
_FLOAT_TYPE: Final = pa.float64()
_TRUTH_TYPE: Final = pa.bool_()
_CODED_TEXT: Final = pa.dictionary(pa.int32(), pa.string())
# pyarrow compares a field with these words before it cuts off blanks. ", ?" is a usual way to write
# a missing value; with other blanks around it, it is found when the column is read as text.
_NULLS: Final = [*MISSING, *(f" {word}" for word in MISSING)]
# The column in pyarrow's error about a field that is not of the type of its column.
_BAD_COLUMN: Final = re.compile(r"In CSV column #([0-9]+)")
_NO_ROWS: Final = re.compile(rb"[\r\n]*+")
_MAX_BLOCK_BYTES: Final = 2**31 - 1  # the largest block that pyarrow parses at once
# A number that is not 0 but rounds to 0 has an exponent of three digits or very many zeros.
_SMALL_EXPONENT: Final = re.compile(rb"[eE]-0*[1-9][0-9][0-9]")
_MANY_ZEROS: Final = b"0" * 300


class CsvTable(TableReader):
    """The pieces of delimited text, parsed by pyarrow.

    ``truths`` says of each column of features that had a value so far whether its values are true
    and false; otherwise they are numbers. A column never changes from one to the other.
    """

    raw = True
    label_form: LabelForm = "text"

    def __init__(self, request: Request) -> None:
        source, state = request.source, request.state
        if request.stream is not None and request.stream.hash_bits is not None:
            raise DataError(
                f"{source.name} is a table, to which --hash does not apply; write text as "
                "features, in rows such as label colour=red:1 size:2.5, or as JSON lines."
            )
        if state is None:
            layout = Layout.sniff(request)
        else:
            layout = Layout.from_json(state["layout"])
            request = replace(request, recipe=request.so_far)
            again = layout.header and source.head.startswith(layout.header.encode())
            if again and not source.regular:  # a pipe may give the header again
                source.origin -= source.head.find(b"\n") + 1
        self.layout, self.decimal, self.start = layout, layout.decimal, layout.body
        hint = layout.hint(request.options.delimiter)
        roles = find_roles(request, layout.names, row_names=layout.row_names, hint=hint)
        super().__init__(request, layout.names, roles)
        self.notes = [*layout.notes, *self.notes]
        self.missing.whole = is_read_at_once(request)
        self.truths: dict[int, bool] = dict((state or {}).get("truths") or [])
        self._kinds = {j: self._first_kind(j) for j in roles.used}

    def state(self) -> dict[str, object]:
        """Return the layout, and which columns have truth values, as JSON values."""
        return {"layout": self.layout.to_json(), "truths": sorted(self.truths.items())}

    def first_labels(self) -> list[str]:
        """Return the labels of those first rows that can be learned."""
        at, width = self.roles.label or 0, len(self.names)
        return [
            row[at]
            for row in self.layout.sample
            if len(row) == width
            and not is_missing_text(row[at])
            and all(self._is_number_or_truth(row[j]) for j in self.roles.features)
        ]

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """Return the rows behind a position, by default all; None while a pipe is silent."""
        begin = begin or self.start
        return parse_texts(self, ((text, None) for text in cut_text(self, begin.offset)), begin)

    def parse(self, text: bytes, begin: Position, _: object = None) -> Piece:
        """Return the rows of a text that begins at a position."""
        check_text(text, self.source, begin)
        # pyarrow would take all text behind an open quote for one field. Most text has no quotes.
        if b'"' in text and text.count(b'"') % 2:
            self._check_records(text, begin)
        table = self._read(text, begin)
        columns = {j: table.column(str(j)) for j in self.roles.used}
        if self.roles.row_names is not None:
            self._check_row_names(columns[self.roles.row_names], begin.row)
        return self.from_columns(columns, table.num_rows, begin)

    def end_of_rows(self, text: bytes) -> int:
        """Return the offset behind the last whole row of a text, which is not within quotes."""
        return end_of_records(text, self.layout.delimiter)

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[Record]:
        """Return first line, fields and end of each row."""
        return records(text, 0, self.layout.delimiter, self.source, line=line_offset + 1)

    def floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """Return a column as numbers, NaN where a value is missing; None if it is text."""
        if is_text(cells.type):
            return self._judge(position, cells, first_row)
        values, missing = to_numpy(cells)
        floats = np.where(missing, np.nan, values)
        if position not in self.truths and not missing.all():
            self.truths[position] = bool(types.is_boolean(cells.type))
        return floats

    def is_value(self, position: int, text: str) -> bool:
        """Return whether a text is of the kind of a column's values: a number, or true or false."""
        return is_truth(text) if self.truths.get(position) else is_number_text(text, self.decimal)

    def expected(self, position: int) -> str:
        """Return what a text in a column of features is not."""
        return "neither true nor false" if self.truths.get(position) else "not a number"

    def _first_kind(self, position: int) -> Any:
        """Return the type with which a column is read first, as its first rows suggest."""
        roles = self.roles
        levels = [f for f, c in zip(roles.features, self.columns, strict=True) if c.levels]
        if position not in roles.features or position in roles.one_hot or position in levels:
            return _CODED_TEXT
        texts = [row[position] for row in self.layout.sample if position < len(row)]
        values = [text for text in texts if not is_missing_text(text)]
        if self.truths.get(position) or (values and all(map(is_truth, values))):
            return _TRUTH_TYPE
        if all(is_number_text(text, self.decimal) for text in values):
            return _FLOAT_TYPE
        return _CODED_TEXT

    def _read(self, text: bytes, begin: Position) -> Any:
        """Return the columns of a text: numbers and truth values with their types, others as text.

        A column that pyarrow rejects, or whose numbers are doubtful, is read again as text. A
        doubtful column is read as text from then on, in later pieces, too.
        """
        kinds = dict(self._kinds)
        while True:
            try:
                table = self._by_arrow(text, kinds)
            except pa.ArrowInvalid as error:
                bad = _BAD_COLUMN.search(str(error))
                again = {int(bad[1])} if bad else set[int]()
                if not again or kinds.get(min(again)) == _CODED_TEXT:
                    self._check_records(text, begin)
                    reason = str(error).splitlines()[0].rstrip(".")[:200]
                    message = f"{self.source} cannot be read as a table: {reason}."
                    raise DataError(message) from None
            else:
                numeric = [j for j, kind in kinds.items() if kind == _FLOAT_TYPE]
                again = {j for j in numeric if _is_doubtful(table.column(str(j)), text)}
                if not again:
                    return table
                self._kinds |= dict.fromkeys(again, _CODED_TEXT)
            kinds |= dict.fromkeys(again, _CODED_TEXT)

    def _by_arrow(self, text: bytes, kinds: dict[int, Any]) -> Any:
        """Return the columns of a text by pyarrow; pa.ArrowInvalid if a field is not of a kind."""
        names = [str(j) for j in range(len(self.names))]
        wanted = {str(j): kind for j, kind in kinds.items()}
        if len(names) == 1:  # a blank line is a row then, but not at the end
            text = text.rstrip(b"\r\n")
        if _NO_ROWS.fullmatch(text):
            return pa.schema(list(wanted.items())).empty_table()
        return pa_csv.read_csv(
            pa.BufferReader(text),
            # One block for all, because a row may be long. For a short text threads cost more.
            read_options=pa_csv.ReadOptions(
                use_threads=len(text) > 1 << 16,
                column_names=names,
                block_size=min(len(text) + 1, _MAX_BLOCK_BYTES),
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=b'"' in text,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=wanted,
                include_columns=list(wanted),
                decimal_point=self.decimal,
                null_values=_NULLS,
                true_values=list(TRUE),
                false_values=list(FALSE),
            ),
        )

    def _judge(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """Return a column of text as numbers, or as truth values; None if it holds other text."""
        codes, texts = encode(cells, raw=True)
        known, values = self.truths.get(position), list[float | None]()
        if known is not True:
            values = [parse_number(text, self.decimal) for text in texts]
        truths = known is True or None in values
        if truths and known is not False:
            words = [text.strip(BLANKS) for text in texts]
            values = [float(word in TRUE) if is_truth(word) else None for word in words]
        if None in values:
            return None
        floats = np.array([*values, np.nan], np.float64)
        if not np.isnan(floats).all():
            self.truths[position] = truths
        rounded = np.zeros(len(floats), np.bool_)
        for code in np.flatnonzero((floats == 0.0) | (np.abs(floats) >= MAX_EXACT)).tolist():
            rounded[code] = not (truths or is_exact_text(self._with_point(texts[code])))
        if rounded.any():
            row = int(np.argmax(rounded[codes]))
            written = self._with_point(texts[codes[row]])
            refuse_inexact(self.source, first_row + row + 1, self.names[position], written)
        return floats[codes]

    def _with_point(self, text: str) -> str:
        """Return a number without the blanks around it, and with a decimal point."""
        return text.strip(BLANKS).replace(self.decimal, ".")

    def _check_row_names(self, cells: Any, first_row: int) -> None:
        """Raise DataError unless a column without a name is text or numbers the rows."""
        codes, texts = encode(cells, raw=True)
        values = [parse_number(text, self.decimal) for text in texts]
        if None not in values:
            counts = np.array([*values, np.nan], np.float64)[codes]
            steps = np.arange(first_row, first_row + len(counts), dtype=np.float64)
            if not (np.array_equal(counts, steps) or np.array_equal(counts, steps + 1.0)):
                raise DataError(
                    f"{self.source} has no name for column 1 in its header, and it does not just "
                    "number the rows; give it a name, or leave it out with --drop 1."
                )
        if not first_row:
            self.notes.append(
                "the first column has no name: it is taken for names of rows and is not a feature"
            )

    def _check_records(self, text: bytes, begin: Position) -> None:
        """Raise DataError on the first line with a wrong number of fields or an open quote."""
        width = len(self.names)
        for line, fields, _ in self.rows_of(text, begin.line):
            if len(fields) != width:
                raise DataError(
                    f"{self.source}, line {line} has {counted(len(fields), 'field')} where {width} "
                    f"{'is' if width == 1 else 'are'} expected."
                )

    def _is_number_or_truth(self, text: str) -> bool:
        return not is_missing_text(text) and (is_number_text(text, self.decimal) or is_truth(text))


def _is_doubtful(cells: Any, text: bytes) -> bool:
    """Return whether a column of numbers must be read as text to judge its numbers.

    This is so if a number is 2**53 or more, which may be a rounded integer; if it is infinite or
    NaN, which pyarrow also reads from "nan(1)"; and if it is 0, in a text that has numbers so small
    that they are rounded to 0.
    """
    values, missing = to_numpy(cells)
    if missing.any():
        values = values[~missing]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())  # NaN if some value is NaN
    if not (low > -MAX_EXACT and high < MAX_EXACT):
        return True
    if not low <= 0.0 <= high or values.all():
        return False
    exponents = b"e-" in text or b"E-" in text
    return bool(exponents and _SMALL_EXPONENT.search(text)) or _MANY_ZEROS in text
