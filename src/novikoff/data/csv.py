"""CSV and its relatives: the first rows tell the delimiter, the header and the columns' types.

pyarrow parses the rows; a large file of plain numbers goes through the kernel of
`novikoff.data.kernels`, piece by piece, and whatever is not plain falls back to pyarrow. If pyarrow
stumbles, a slow scan finds the line that is wrong.
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
import pyarrow as pa
import pyarrow.csv as pa_csv

from novikoff.data.columns import LABEL_NAMES, check_unique, find_roles, numbered
from novikoff.data.labels import LabelForm
from novikoff.data.messages import counted, quoted
from novikoff.data.numbers import BLANKS, is_missing, is_number, is_truth
from novikoff.data.options import Piece, Position
from novikoff.data.reader import Request, check_encoding, check_text, count_lines, end_of_lines
from novikoff.data.source import SNIFFED_LINES, Source
from novikoff.data.tables import TableReader
from novikoff.errors import DataError

# A file of this size is parsed by pyarrow in the time that it takes to load a kernel.
KERNEL_BYTES: Final = 1 << 24

_ROW_NAME: Final = "row name"
_NO_HEADER: Final = "no header: columns are named x1, x2, …"
_UNSURE: Final = "the first line is taken for the header (--no-header if it is a row)"
_DELIMITERS: Final = ("\t", ";", "|", ",")  # the comma last: it may be a decimal point
_LINE_ENDS: Final = re.compile(rb"[\r\n]++")
_PAIRS: Final = re.compile(r"\S+( \d+:\S+)+")
_PARTS_OF_NUMBERS: Final = "0123456789+-.eE \t"  # the kernel does not take them for delimiters


@dataclass(frozen=True)
class Layout:
    """What the beginning of a file tells.

    ``header`` is the line that names the columns, empty if there is none; ``body`` is where the
    rows begin, ``sample`` the first of them. With ``row_names`` the first column has no name, as
    when R or pandas write row names.
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
        """What is needed to read on, as JSON values."""
        needed = ("delimiter", "decimal", "names", "header")
        return {name: getattr(self, name) for name in needed} | {"body": list(self.body)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Layout:
        """The layout that `to_json` wrote; LookupError or TypeError if it is none."""
        return cls(**{**value, "body": Position(*value["body"])})

    @classmethod
    def sniff(cls, request: Request) -> Layout:
        """Find out delimiter, header and names from the first records."""
        source, options, recipe = request[:3]
        start, text = _beginning(source, skip_bad=request.skip_bad)
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
        except DataError:  # a quote is left open: the rows before it tell, if bad ones are skipped
            if not (sample and request.skip_bad):
                raise
        if not sample:
            raise DataError(f"{name} is empty: it has no rows.")
        rows = [[text.decode() for text in record.fields] for record in sample]
        if header is None:
            found = {name.strip() for name in rows[0]}
            header = recipe is not None and {column.name for column in recipe.columns} <= found
            if not header:
                header, note = _has_header(rows, decimal)
                notes += [note] if note else []
        if header and len(rows) == 1 and source.ended:
            raise DataError(f"{name} has a header but no rows.")
        names, row_names = numbered(len(rows[0]), recipe), False
        if header:
            names, row_names = _header_names(name, rows[0])
        body = sample[0].end if header else start
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


class CsvTable(TableReader):
    """The pieces of delimited text, by pyarrow or the kernel for plain numbers."""

    raw = True
    label_form: LabelForm = "text"

    def __init__(self, request: Request) -> None:
        source, state = request.source, request.state
        if request.stream is not None and request.stream.hash_bits is not None:
            raise DataError(
                f"{source.name} is a table, where --hash has nothing to do; write text as "
                "features, in rows such as label colour=red:1 size:2.5, or as JSON lines."
            )
        if state is None:
            layout = Layout.sniff(request)
        else:
            layout = Layout.from_json(state["layout"])
            request = request._replace(recipe=request.so_far)
            again = layout.header and source.head.startswith(layout.header.encode())
            if again and not source.regular:  # a pipe may bring the header again
                source.origin -= source.head.find(b"\n") + 1
        self.layout, self.decimal, self.start = layout, layout.decimal, layout.body
        self.kernel_bytes = KERNEL_BYTES
        hint = _hint(layout, request.options.delimiter)
        roles = find_roles(request, layout.names, row_names=layout.row_names, hint=hint)
        super().__init__(request, layout.names, roles)
        self.notes = [*layout.notes, *self.notes]
        self.missing.whole = request.whole
        self.truths = dict((state or {}).get("truths") or [])
        text = bool(roles.one_hot) or any(column.levels is not None for column in self.columns)
        special = roles.id is not None or roles.row_names is not None or text
        odd = layout.decimal != "." or layout.delimiter in _PARTS_OF_NUMBERS
        self._plain = not (special or odd or request.one_piece or len(layout.names) < 2)

    def state(self) -> dict[str, object]:
        """The layout, and which columns have truth values."""
        return {"layout": self.layout.to_json(), "truths": sorted(self.truths.items())}

    def first_labels(self) -> list[str]:
        """The labels of the first rows that can be learned: they are whole, and have numbers."""
        at, width = self.roles.label or 0, len(self.names)
        return [
            row[at]
            for row in self.layout.sample
            if len(row) == width
            and not is_missing(row[at])
            and all(self._is_value(row[j]) for j in self.roles.features)
        ]

    def _is_value(self, text: str) -> bool:
        """Whether a field is a number that is not missing, or a truth value."""
        return not is_missing(text) and (is_number(text, self.decimal) or is_truth(text))

    def parse(self, text: bytes, begin: Position, found: Any = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        if found is not None and not any(self.truths.values()):
            X, codes, keys = found
            for column, position in enumerate(self.roles.features):
                if position not in self.truths and not np.isnan(X[:, column]).all():
                    self.truths[position] = False
            return self.from_numbers(X, codes, keys, None, begin)
        check_text(text, self.source, begin)
        return self._by_arrow(text, begin)

    def scan(self, text: bytes) -> Any:
        """What the kernel finds in plain numbers, in any thread; else None."""
        if not self._plain:
            return None
        from novikoff.data.kernels import parse_csv

        found = parse_csv(text, self.layout.delimiter, self.roles, len(self.names))
        return None if found is None or any(map(is_missing, found[2])) else found

    def end_of_rows(self, text: bytes) -> int:
        """Where the last whole row of a text ends: not within quotes."""
        return end_of_records(text, self.layout.delimiter)

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[Record]:
        """First line, fields and end of each row."""
        return records(text, 0, self.layout.delimiter, self.source, line=line_offset + 1)

    def _by_arrow(self, text: bytes, begin: Position) -> Piece:
        """The rows of a text by pyarrow: all columns as text, judged by all of their values."""
        if text.count(b'"') % 2:  # Arrow takes what follows an open quote for one long field
            self._check_records(text, begin)
        try:
            table = self._arrow(text)
        except pa.ArrowInvalid as error:
            self._check_records(text, begin)
            reason = str(error).splitlines()[0].rstrip(".")[:200]
            raise DataError(f"{self.source} cannot be read as a table: {reason}.") from None
        cells = {j: table.column(str(j)) for j in self.roles.used}
        return self.from_columns(cells, table.num_rows, begin)

    def _arrow(self, text: bytes) -> Any:
        names, used = [str(j) for j in range(len(self.names))], [str(j) for j in self.roles.used]
        if len(names) == 1:  # a blank line is a row then, but not at the end
            text = text.rstrip(b"\r\n")
        if not text.strip(b"\r\n"):
            return pa.schema([(name, pa.string()) for name in used]).empty_table()
        return pa_csv.read_csv(
            pa.BufferReader(text),
            # All in one block: a row may be long. Threads cost more than a short text.
            read_options=pa_csv.ReadOptions(
                use_threads=len(text) > 1 << 16, column_names=names, block_size=len(text) + 1
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=b'"' in text,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(used, pa.string()), include_columns=used
            ),
        )

    def _check_records(self, text: bytes, begin: Position) -> None:
        """Find the line that breaks the table, if there is one."""
        width = len(self.names)
        for line, fields, _ in self.rows_of(text, begin.line):
            if len(fields) != width:
                raise DataError(
                    f"{self.source}, line {line} has {counted(len(fields), 'field')} where {width} "
                    f"{'is' if width == 1 else 'are'} expected."
                )


def _beginning(source: Source, *, skip_bad: bool) -> tuple[int, bytes]:
    """Where the text begins, and its whole lines as far as they are looked at, or are text."""
    start, text = check_encoding(source), source.head
    if not source.ended:
        marks = np.frombuffer(text, np.uint8)
        # Up to a newline that is not within quotes, whatever the delimiter is.
        outside = (np.cumsum(marks == ord('"')) % 2 == 0) & (marks == ord("\n"))
        end = int(np.flatnonzero(outside)[-1]) + 1 if outside.any() else end_of_lines(text)
        text = text[: end or None]
    first, *others = text.splitlines(keepends=True)
    if skip_bad:
        good = [line for line in others if line.decode(errors="ignore").encode() == line]
        text = first + b"".join(line for line in good if b"\0" not in line)
    check_text(text, source.name, Position())
    return start, text


def _hint(layout: Layout, asked: str | None) -> str:
    """Advice on a file that seems to have one column only."""
    lines = [row[0].strip(BLANKS) for row in layout.sample if len(row) == 1]
    if len(layout.names) > 1 or not lines:
        return ""
    if asked is not None:
        return f"; no line has the delimiter {quoted(asked)}: without --delimiter it is found out"
    if all(_PAIRS.fullmatch(line) for line in lines):
        return "; its lines look like svmlight, label index:value …: --from svmlight"
    if any(len(line.split()) < 2 for line in lines):
        return "; say --delimiter if fields are separated by something else"
    if any("  " in line for line in lines):
        return (
            "; the fields seem to be separated by several blanks: make them single ones with "
            "tr -s ' ', then say --delimiter ' '"
        )
    return "; the fields seem to be separated by blanks: --delimiter ' '"


def _find_delimiter(source: str, text: bytes, start: int, decimal: str) -> str:
    """The first delimiter that splits all of the first records alike, else the most frequent."""
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        if delimiter == decimal:
            continue
        try:
            sample = list(islice(records(text, start, delimiter, source), 20))
        except DataError:  # a quote that this delimiter leaves open
            continue
        widths = Counter(len(record.fields) for record in sample).most_common()
        if widths and widths[0][0] > 1:
            if len(widths) == 1:
                return delimiter
            if widths[0][1] > most:
                best, most = delimiter, widths[0][1]
    return best


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> tuple[bool, str | None]:
    """Whether the first line names the columns, and the note on that decision.

    Text over a column of numbers is evidence. Without it, a line that has a missing value is
    a row, and so is one whose fields appear again below.
    """
    first, *others = rows
    values = [is_number(text, decimal) or is_truth(text) for text in first]
    gaps = [is_missing(text) for text in first]
    named = [j for j, text in enumerate(first) if not (values[j] or gaps[j])]
    if any(_values_below(others, j, decimal) for j in named):
        return True, None
    # Only the first name may be left out, as R and pandas do above the names of the rows.
    header = bool(named) and not any(gaps[1:]) and not (gaps[0] and first[0].strip())
    if header and any(values):
        header = any(text.strip().lower() in LABEL_NAMES for text in first)
    elif header:
        names = {(j, first[j].strip()) for j in named}
        header = not any((j, text.strip()) in names for row in others for j, text in enumerate(row))
    return header, _UNSURE if header else _NO_HEADER


def _values_below(rows: Sequence[Sequence[str]], column: int, decimal: str) -> bool:
    """Whether all values of a column are numbers, or all are true or false."""
    texts = [row[column] for row in rows if column < len(row) and not is_missing(row[column])]
    numbers = all(is_number(text, decimal) for text in texts)
    return bool(texts) and (numbers or all(is_truth(text) for text in texts))


def _header_names(source: str, fields: Sequence[str]) -> tuple[list[str], bool]:
    names = [name.strip() for name in fields]
    row_names = len(names) > 1 and not names[0] and _ROW_NAME not in names
    if row_names:
        names[0] = _ROW_NAME
    if "" in names:
        number = names.index("") + 1
        raise DataError(
            f"{source} has no name for column {number} in its header, line 1; give it one, or "
            "say --no-header if the first line is a row."
        )
    check_unique(source, names)
    return names, row_names


class Record(NamedTuple):
    """A record's first line, counted from 1, its fields, and the offset of its end."""

    line: int
    fields: list[bytes]
    end: int


def records(
    text: bytes, start: int, delimiter: str, source: str, *, line: int = 1
) -> Iterator[Record]:
    """Read records of fields as RFC 4180 has them, without blank lines."""
    pattern, end = _patterns(delimiter)[0], start
    while start < len(text):
        if blank := _LINE_ENDS.match(text, start):  # many at once: they may be most of a file
            line, start = line + count_lines(blank[0]), blank.end()
            end = start
            continue
        fields, more = list[bytes](), True
        while more:
            match = pattern.match(text, end)
            if match is None:
                line += count_lines(text[start:end])
                raise DataError(f"{source}, line {line} opens a quote that is never closed.")
            inside, rest, plain, mark = match.groups()
            fields.append(plain if inside is None else inside.replace(b'""', b'"') + rest)
            end, more = match.end(), mark == delimiter.encode()
        yield Record(line, fields, end)
        line, start = line + len(text[start:end].splitlines()), end


def end_of_records(text: bytes, delimiter: str) -> int:
    """Where the last whole record of a text ends that begins with one."""
    if b'"' not in text:
        return end_of_lines(text)
    match = _patterns(delimiter)[1].match(text)
    return 0 if match is None else match.end()


@cache
def _patterns(delimiter: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """A field, in quotes or plain, with its end; and all whole records."""
    mark = re.escape(delimiter.encode())
    plain = rb"([^\r\n" + mark + rb"]*+)"
    value = rb'(?:"((?:[^"]++|"")*+)"' + plain + rb'|(?!")' + plain + rb")"
    record = value + rb"(?:" + mark + value + rb")*+(?:\r\n|\n|\r(?!\Z))"  # \r may be half an end
    field = value + rb"(" + mark + rb"|\r\n|\r|\n|\Z)"
    return re.compile(field), re.compile(rb"(?:" + record + rb")*+")
