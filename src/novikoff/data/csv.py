"""Tables of text (CSV, TSV and similar formats), whose columns are typed by pyarrow.

Each column of features is read as numbers, or as truth values if its first rows are. pyarrow
rejects a column in which a field is neither a number nor missing. The column is then read again as
text, and its different values are judged one by one: this finds a word for a missing value with
blanks around it, or the field that is wrong. A column whose numbers may not be exact as floats is
also read again as text, because 9007199254740993 and 9007199254740992 differ only as text.

The `layout` of the file says which delimiter separates the fields, and what the columns are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, repeat
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from pyarrow import types

from novikoff.core.rows import Floats
from novikoff.core.validation import MAX_EXACT
from novikoff.data.layout import Layout, Record, end_of_records, kinds_of_column, records
from novikoff.data.messages import place
from novikoff.data.reader import (
    Piece,
    Position,
    Request,
    check_text,
    cut_text,
    parse_texts,
)
from novikoff.data.roles import find_roles
from novikoff.data.tables import TableReader, encode, is_text, to_numpy
from novikoff.data.values import (
    BLANKS,
    FALSE,
    MISSING,
    TRUE,
    LabelForm,
    is_exact_text,
    is_truth,
    parse_number,
    value_kind,
)
from novikoff.errors import DataError
from novikoff.sentences import counted

# Columns are read with these types. pyarrow stores text as a code for each row and a list of the
# different texts.
_FLOAT_TYPE: Final = pa.float64()
_TRUTH_TYPE: Final = pa.bool_()
_CODED_TEXT: Final = pa.dictionary(pa.int32(), pa.string())
# pyarrow compares a field with these words before it strips blanks. A blank after the comma, as in
# ", ?", is usual. Words with other blanks around them are found when the column is read as text.
_NULLS: Final = [*MISSING, *(f" {word}" for word in MISSING)]
# Finds the column in pyarrow's error about a field that does not have the type of its column.
_BAD_COLUMN: Final = re.compile(r"In CSV column #([0-9]+)")
_NO_ROWS: Final = re.compile(rb"[\r\n]*+")
# pyarrow parses at most this many bytes at once.
_MAX_BLOCK_BYTES: Final = 2**31 - 1
# A number that is not 0 but rounds to 0 has an exponent of three digits or very many zeros.
_SMALL_EXPONENT: Final = re.compile(rb"[eE]-0*[1-9][0-9][0-9]")
_MANY_ZEROS: Final = b"0" * 300


class CsvTable(TableReader):
    """The reader of delimited text, which pyarrow parses.

    ``truths`` has an entry for each column of features that has had a value so far: True if its
    values are truth values, False if they are numbers. The kind of a column never changes.
    """

    raw = True
    label_form: LabelForm = "text"

    def __init__(self, request: Request) -> None:
        source, state = request.source, request.state
        if request.stream is not None and request.stream.hash_bits is not None:
            raise DataError(
                f"{source.name} is a table, to which {request.options.say('hash_bits')} does not "
                "apply; write text as features, in rows such as label colour=red:1 size:2.5, or as "
                "JSON lines."
            )
        if state is None:
            layout = Layout.sniff(request)
        else:
            layout = Layout.from_json(state["layout"])
            request = replace(request, recipe=request.resumed_recipe)
            again = layout.header and source.head.startswith(layout.header.encode())
            if again and not source.regular:  # a resumed pipe may repeat the header
                source.origin -= source.head.find(b"\n") + 1
        self.layout, self.decimal, self.start = layout, layout.decimal, layout.body
        hint = "" if len(layout.names) > 1 else layout.hint(request.options)
        roles = find_roles(request, layout.names, row_names=layout.row_names, hint=hint)
        super().__init__(request, layout.names, roles)
        self.notes = [*layout.notes, *self.notes]
        self.truths: dict[int, bool] = dict((state or {}).get("truths") or [])
        self._types = self._first_types()
        self._parsed = b"", self.start  # the text of which columns are made, and its position

    def state(self) -> dict[str, object]:
        """Return as JSON values the layout, and which columns have truth values."""
        return {"layout": self.layout.to_json(), "truths": sorted(self.truths.items())}

    def first_labels(self) -> list[str]:
        """Return the labels of the first rows, without rows that cannot be learned."""
        at, width = self.roles.label or 0, len(self.names)
        return [
            row[at]
            for row in self.layout.sample
            if len(row) == width
            and value_kind(row[at]) != "missing"
            and all(
                value_kind(row[j], self.decimal) in ("number", "truth") for j in self.roles.features
            )
        ]

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """Yield the rows after a position, by default all rows; None while a pipe is silent."""
        begin = begin or self.start
        return parse_texts(self, zip(cut_text(self, begin.offset), repeat(None)), begin)

    def parse(self, text: bytes, begin: Position, _: object = None) -> Piece:
        """Return the rows of a text that begins at a position."""
        check_text(text, self.request, begin)
        # pyarrow would take all text after an open quote for one field. Most text has no quotes.
        if b'"' in text and text.count(b'"') % 2:
            self._check_records(text, begin)
        columns = self._read(text, begin)
        if self.roles.row_names is not None:
            self._check_row_names(columns[self.roles.row_names], begin.row)
        self._parsed = text, begin
        try:
            return self.from_columns(columns, begin)
        finally:
            self._parsed = b"", begin

    def place(self, row: int, column: str) -> str:
        """Return the place of a value, with the line of its row in the text."""
        if len(self.names) == 1:  # then a blank line is a row
            return super().place(row, column)
        text, begin = self._parsed
        rows = self.rows_of(text, begin.line)
        record = next(islice(rows, row - begin.row - 1, None), None)
        return place(self.source, row, column, record and record.line)

    def end_of_rows(self, text: bytes) -> int:
        """Return the offset after the last whole row of a text; line ends in quotes end no row."""
        return end_of_records(text, self.layout.delimiter)

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[Record]:
        """Yield the first line, the fields and the end of each row."""
        return records(text, 0, self.layout.delimiter, self.source, line=line_offset + 1)

    def floats(self, position: int, cells: Any, first_row: int) -> Floats | None:
        """Return a column as numbers, NaN where a value is missing; None if it is text."""
        if is_text(cells.type):
            return self._numbers_of_text(position, cells, first_row)
        values, missing = to_numpy(cells)
        floats = np.where(missing, np.nan, values)
        if position not in self.truths and not missing.all():
            self.truths[position] = bool(types.is_boolean(cells.type))
        return floats

    def is_value(self, position: int, text: str) -> bool:
        """Return whether a text is a truth value or number, whichever the column holds."""
        kind = "truth" if self.truths.get(position) else "number"
        return value_kind(text, self.decimal) == kind

    def expected(self, position: int) -> str:
        """Return the part of an error message that says what a text should have been."""
        return "neither true nor false" if self.truths.get(position) else "not a number"

    def _first_types(self) -> dict[int, Any]:
        """Return the type of each column as its first rows suggest; it is tried first."""
        types, roles = dict.fromkeys(self.roles.used, _CODED_TEXT), self.roles
        for position, column in zip(roles.features, self.columns, strict=True):
            if position in roles.one_hot or column.levels is not None:
                continue
            kinds = kinds_of_column(self.layout.sample, position, self.decimal)
            if self.truths.get(position) or kinds == {"truth"}:
                types[position] = _TRUTH_TYPE
            elif kinds <= {"number"}:
                types[position] = _FLOAT_TYPE
        return types

    def _read(self, text: bytes, begin: Position) -> dict[int, Any]:
        """Return the columns of a text: numbers and truth values with their types, others as text.

        A column that pyarrow rejects, or whose numbers may not be exact, is read again as text. A
        column whose numbers may not be exact is also read as text in all later pieces.
        """
        types_ = dict(self._types)
        while True:
            try:
                columns = self._by_arrow(text, types_)
            except pa.ArrowInvalid as error:
                bad = _BAD_COLUMN.search(str(error))
                again = {int(bad[1])} if bad else set[int]()
                if not again or types_.get(min(again)) == _CODED_TEXT:
                    self._check_records(text, begin)
                    reason = str(error).splitlines()[0].rstrip(".")[:200]
                    message = f"{self.source} cannot be read as a table: {reason}."
                    raise DataError(message) from None
            else:
                again = set()
                for j, type_ in types_.items():
                    if type_ == _FLOAT_TYPE and _needs_text(columns[j], text):
                        again.add(j)
                if not again:
                    return columns
                self._types |= dict.fromkeys(again, _CODED_TEXT)
            types_ |= dict.fromkeys(again, _CODED_TEXT)

    def _by_arrow(self, text: bytes, types_: dict[int, Any]) -> dict[int, Any]:
        """Return the columns of a text; pa.ArrowInvalid if a field has the wrong type."""
        names = list(map(str, range(len(self.names))))
        wanted = {names[j]: type_ for j, type_ in types_.items()}
        if len(names) == 1:  # with one column, a blank line is a row, except at the end
            text = text.rstrip(b"\r\n")
        if _NO_ROWS.fullmatch(text):
            table = pa.schema(list(wanted.items())).empty_table()
        else:
            table = pa_csv.read_csv(
                pa.BufferReader(text),
                # One block holds all rows, because a row may be long. Threads slow down short
                # texts.
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
        return dict(zip(types_, table.columns, strict=True))

    def _numbers_of_text(self, position: int, cells: Any, first_row: int) -> Floats | None:
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
            self.reject_inexact(first_row + row + 1, self.names[position], written)
        return floats[codes]

    def _with_point(self, text: str) -> str:
        """Return a number without the blanks around it, and with a decimal point."""
        return text.strip(BLANKS).replace(self.decimal, ".")

    def _check_row_names(self, cells: Any, first_row: int) -> None:
        """Raise DataError unless a column without a name holds text or the numbers of the rows."""
        codes, texts = encode(cells, raw=True)
        values = [parse_number(text, self.decimal) for text in texts]
        if None not in values:
            counts = np.array([*values, np.nan], np.float64)[codes]
            steps = np.arange(first_row, first_row + len(counts), dtype=np.float64)
            if not (np.array_equal(counts, steps) or np.array_equal(counts, steps + 1.0)):
                drop = self.request.options.say("drop", (1,))
                raise DataError(
                    f"{self.source} has no name for column 1 in its header, and it does not just "
                    f"number the rows; give it a name, or leave it out with {drop}."
                )
        if not first_row:
            self.notes.append(
                "the first column has no name: it is taken for names of rows and is not a feature"
            )

    def _check_records(self, text: bytes, begin: Position) -> None:
        """Raise DataError on the first row with a wrong number of fields or an open quote."""
        width = len(self.names)
        rows = self.rows_of(text, begin.line)
        for row, (line, fields, _) in enumerate(rows, begin.row + 1):
            if len(fields) != width:
                raise DataError(
                    f"{self.source}, row {row} (line {line}) has {counted(len(fields), 'field')} "
                    f"where {width} {'is' if width == 1 else 'are'} expected."
                )


def _needs_text(cells: Any, text: bytes) -> bool:
    """Return whether a column of numbers must be read as text to judge its numbers.

    It must be if a number is 2**53 or more, because it may be a rounded integer; if a number is
    infinite or NaN, because pyarrow also reads "nan(1)" as NaN; and if a number is 0 and the text
    has numbers that are so small that they are rounded to 0.
    """
    values, missing = to_numpy(cells)
    if missing.any():
        values = values[~missing]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())  # both are NaN if some value is NaN
    if not (low > -MAX_EXACT and high < MAX_EXACT):
        return True
    if not low <= 0.0 <= high or values.all():
        return False
    exponents = b"e-" in text or b"E-" in text
    return bool(exponents and _SMALL_EXPONENT.search(text)) or _MANY_ZEROS in text
