"""The layout of a text file: its delimiter, its header, and the names of its columns.

A `Layout` is found from the first rows. `records` splits text into fields as RFC 4180 describes and
rejects a quote that is never closed; it is used on the first rows, and to name the line of an
error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from novikoff.data.messages import quoted
from novikoff.data.options import ReadOptions
from novikoff.data.reader import (
    Position,
    Request,
    check_encoding,
    check_text,
    count_lines,
    end_of_lines,
)
from novikoff.data.roles import LABEL_NAMES, check_unique, numbered
from novikoff.data.source import SNIFFED_LINES
from novikoff.data.values import (
    BLANKS,
    ValueKind,
    value_kind,
)
from novikoff.errors import DataError

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
        and kinds_of_column(others, j, decimal) in ({"number"}, {"truth"})
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


def kinds_of_column(rows: Sequence[Sequence[str]], column: int, decimal: str) -> set[ValueKind]:
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
