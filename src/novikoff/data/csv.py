"""Tables of text (CSV, TSV and similar formats), whose columns are typed by pyarrow.

Each column of features is read as numbers, or as truth values if its first rows are. pyarrow
rejects a column in which a field is neither a number nor missing. The column is then read again as
text, and its different values are judged one by one: this finds a word for a missing value with
blanks around it, or the field that is wrong. A column whose numbers may not be exact as floats is
also read again as text, because 9007199254740993 and 9007199254740992 differ only as text.

A `Layout` says which delimiter separates the fields, whether the first line is a header, and what
the columns are called. It is found from the first rows. `records` splits text into fields as
RFC 4180 describes and rejects a quote that is never closed; it is used on the first rows, and to
name the line of an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, repeat
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from pyarrow import types

from novikoff.core.rows import Floats
from novikoff.core.validation import MAX_EXACT
from novikoff.data.messages import place, quoted
from novikoff.data.options import ReadOptions
from novikoff.data.reader import (
    Piece,
    Position,
    Request,
    check_encoding,
    check_text,
    count_lines,
    cut_text,
    end_of_lines,
    parse_texts,
)
from novikoff.data.roles import LABEL_NAMES, check_unique, find_roles, numbered
from novikoff.data.source import SNIFFED_LINES
from novikoff.data.tables import TableReader, encode, is_text, to_numpy
from novikoff.data.values import (
    BLANKS,
    FALSE,
    MISSING,
    TRUE,
    LabelForm,
    ValueKind,
    is_exact_text,
    is_truth,
    parse_number,
    value_kind,
)
from novikoff.errors import DataError
from novikoff.sentences import counted

# A first column whose name in the header is empty gets this name.
_ROW_NAME: Final = "row name"
_NO_HEADER: Final = "no header: columns are named x1, x2, …"
# The delimiters that are tried, in this order. The comma is last: it may be a decimal point.
_CANDIDATES: Final = ("\t", ";", "|", ",")
_LINE_ENDS: Final = re.compile(rb"[\r\n]++")
_SVMLIGHT_ROW: Final = re.compile(r"\S+( \d+:\S+)+")


@dataclass(frozen=True)
class Layout:
    """Delimiter, decimal point, header and column names of a text file.

    ``header`` is the line that names the columns; it is empty if there is none. ``body`` is the
    position of the first row, and ``sample`` holds the fields of the first rows. ``row_names`` says
    that the first column has no name in the header, as in files written by R or pandas.
    """

    delimiter: str
    decimal: str
    names: list[str]
    header: str
    body: Position
    sample: Sequence[Sequence[str]] = ()
    row_names: bool = False
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """Return, as JSON values, the fields that are needed to continue reading the file."""
        needed = ("delimiter", "decimal", "names", "header")
        return {name: getattr(self, name) for name in needed} | {"body": list(self.body)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Layout:
        """Return the layout that `to_json` wrote; LookupError or TypeError if it is not valid."""
        return cls(**{**value, "body": Position(*value["body"])})

    @classmethod
    def sniff(cls, request: Request) -> Layout:
        """Find delimiter, header and column names in the first records of a source."""
        source, options, recipe = request.source, request.options, request.recipe
        start, text = _first_lines(request)
        name = source.name
        notes = list[str]()
        decimal = options.decimal
        delimiter, header = options.delimiter, options.header
        if recipe is not None:
            decimal = recipe.decimal if decimal == "." and recipe.decimal else decimal
            delimiter = delimiter or recipe.delimiter
            header = recipe.header if header is None else header
        if delimiter is None:
            tabs = source.format == "tsv"
            delimiter = "\t" if tabs else _find_delimiter(name, text, start, decimal)
            if delimiter not in ",\t":
                notes.append(f"fields are separated by {quoted(delimiter)}")
        sample = list[Record]()
        try:
            for record in islice(records(text, start, delimiter, name), SNIFFED_LINES):
                sample.append(record)
        except DataError:  # a quote is never closed: with skip_bad, the rows before it are used
            if not (sample and request.skip_bad):
                raise
        if not sample:
            raise DataError(f"{name} is empty: it has no rows.")
        rows = [[text.decode() for text in record.fields] for record in sample]
        if header is None:
            if recipe is not None:
                header_names = {name.strip() for name in rows[0]}
                header = {column.name for column in recipe.columns} <= header_names
            if not header:
                header = _is_above_numbers(rows, decimal)
            if not header:
                header, is_row = _may_be_header(rows, decimal), request.options.say("header", False)
                guess = f"the first line is taken for the header ({is_row} if it is a row)"
                notes.append(guess if header else _NO_HEADER)
        if header and len(rows) == 1 and source.ended:
            raise DataError(f"{name} has a header but no rows.")
        if header:
            (names, row_names), body = _header_names(name, rows[0], request.options), sample[0].end
        else:
            names, row_names, body = numbered(len(rows[0]), recipe), False, start
        return cls(
            delimiter,
            decimal,
            names,
            text[start:body].strip(b"\r\n").decode() if header else "",
            Position(body, count_lines(text[:body])),
            rows[1:] if header else rows,
            row_names,
            notes,
        )

    def hint(self, options: ReadOptions) -> str:
        """Return advice on a file that seems to have one column only."""
        lines = [row[0].strip(BLANKS) for row in self.sample if len(row) == 1]
        if not lines:
            return ""
        asked, blank = options.delimiter, options.say("delimiter", " ")
        if asked is not None:
            option = options.say("delimiter")
            return f"; no line contains the delimiter {quoted(asked)}: try without {option}"
        if all(_SVMLIGHT_ROW.fullmatch(line) for line in lines):
            svmlight = options.say("format", "svmlight")
            return f"; its lines look like svmlight, label index:value …: {svmlight}"
        if any(len(line.split()) < 2 for line in lines):
            return f"; say {options.say('delimiter')} if fields are separated by something else"
        if any("  " in line for line in lines):
            return (
                "; the fields seem to be separated by several blanks: make them single ones with "
                f"tr -s ' ', then say {blank}"
            )
        return f"; the fields seem to be separated by blanks: {blank}"


class Record(NamedTuple):
    """A record: the number of its first line (from 1), its fields, and the offset of its end."""

    line: int
    fields: list[bytes]
    end: int


def records(
    text: bytes, start: int, delimiter: str, source: str, *, line: int = 1
) -> Iterator[Record]:
    """Split text into records of fields as in RFC 4180; blank lines are skipped."""
    pattern, end = _patterns(delimiter)[0], start
    while start < len(text):
        if blank := _LINE_ENDS.match(text, start):  # all at once: a file may be mostly blank lines
            line, start = line + count_lines(blank[0]), blank.end()
            end = start
            continue
        fields, is_unfinished = list[bytes](), True
        while is_unfinished:
            match = pattern.match(text, end)
            if match is None:
                line += count_lines(text[start:end])
                raise DataError(f"{source}, line {line} opens a quote that is never closed.")
            inside, rest, plain, mark = match.groups()
            fields.append(plain if inside is None else inside.replace(b'""', b'"') + rest)
            end, is_unfinished = match.end(), mark == delimiter.encode()
        yield Record(line, fields, end)
        line, start = line + len(text[start:end].splitlines()), end


def end_of_records(text: bytes, delimiter: str) -> int:
    """Return the offset after the last whole record of a text that begins with a record."""
    if b'"' not in text:
        return end_of_lines(text)
    match = _patterns(delimiter)[1].match(text)
    return 0 if match is None else match.end()


@cache
def _patterns(delimiter: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return a pattern for one field with its end, and a pattern for all whole records."""
    mark = re.escape(delimiter.encode())
    plain = rb"([^\r\n" + mark + rb"]*+)"
    value = rb'(?:"((?:[^"]++|"")*+)"' + plain + rb'|(?!")' + plain + rb")"
    # A carriage return at the very end of a text may be the first half of a line end.
    record = value + rb"(?:" + mark + value + rb")*+(?:\r\n|\n|\r(?!\Z))"
    field = value + rb"(" + mark + rb"|\r\n|\r|\n|\Z)"
    return re.compile(field), re.compile(rb"(?:" + record + rb")*+")


def _first_lines(request: Request) -> tuple[int, bytes]:
    """Return the offset where the text begins, and the whole lines of the source's head.

    If bad rows are skipped, lines that are not UTF-8 text are left out.
    """
    source = request.source
    start, text = check_encoding(source), source.head
    if not source.ended:
        marks = np.frombuffer(text, np.uint8)
        # Cut after a newline that is outside quotes; this does not depend on the delimiter.
        outside = (np.cumsum(marks == ord('"')) % 2 == 0) & (marks == ord("\n"))
        end = int(np.flatnonzero(outside)[-1]) + 1 if outside.any() else end_of_lines(text)
        text = text[: end or None]
    first, *others = text.splitlines(keepends=True)
    if request.skip_bad:
        good = [line for line in others if line.decode(errors="ignore").encode() == line]
        text = first + b"".join(line for line in good if b"\0" not in line)
    check_text(text, request, Position())
    return start, text


def _find_delimiter(source: str, text: bytes, start: int, decimal: str) -> str:
    """Return the first delimiter that gives all first records the same number of fields.

    If no delimiter does, return the one with which most records have the same number of fields.
    """
    best, most = ",", 0
    for delimiter in _CANDIDATES:
        if delimiter == decimal:
            continue
        try:
            sample = list(islice(records(text, start, delimiter, source), 20))
        except DataError:  # with this delimiter, a quote is never closed
            continue
        widths = Counter(len(record.fields) for record in sample).most_common()
        if widths and widths[0][0] > 1:
            if len(widths) == 1:
                return delimiter
            if widths[0][1] > most:
                best, most = delimiter, widths[0][1]
    return best


def _is_above_numbers(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Return whether the first line has a text above a column of numbers or of truth values."""
    first, *others = rows
    return any(
        value_kind(text, decimal) == "text"
        and _kinds_of_column(others, j, decimal) in ({"number"}, {"truth"})
        for j, text in enumerate(first)
    )


def _may_be_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Return whether the first line may name columns that are not numbers.

    A line with a missing value counts as a row, and so does a line whose fields appear again below.
    """
    first, *others = rows
    kinds = [value_kind(text, decimal) for text in first]
    named = [j for j, kind in enumerate(kinds) if kind == "text"]
    # Only the first name may be missing: R and pandas omit it above the names of the rows.
    nameless = not first[0].strip()
    if not named or "missing" in (kinds[1:] if nameless else kinds):
        return False
    if {"number", "truth"} & {*kinds}:
        return any(text.strip().lower() in LABEL_NAMES for text in first)
    names = {(j, first[j].strip()) for j in named}
    return not any((j, text.strip()) in names for row in others for j, text in enumerate(row))


def _kinds_of_column(rows: Sequence[Sequence[str]], column: int, decimal: str) -> set[ValueKind]:
    """Return the kinds of a column's values in the given rows; missing values are ignored."""
    kinds = {value_kind(row[column], decimal) for row in rows if column < len(row)}
    return kinds - {"missing"}


def _header_names(
    source: str, fields: Sequence[str], options: ReadOptions
) -> tuple[list[str], bool]:
    """Return the column names of a header, and whether the first column has row names."""
    names = [name.strip() for name in fields]
    row_names = len(names) > 1 and not names[0] and _ROW_NAME not in names
    if row_names:
        names[0] = _ROW_NAME
    if "" in names:
        number = names.index("") + 1
        raise DataError(
            f"{source} has no name for column {number} in its header, line 1; give it one, or say "
            f"{options.say('header', False)} if the first line is a row."
        )
    check_unique(source, names)
    return names, row_names


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
        found = next(islice(self.rows_of(text, begin.line), row - begin.row - 1, None), None)
        return place(self.source, row, column, found and found.line)

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
            kinds = _kinds_of_column(self.layout.sample, position, self.decimal)
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
