"""CSV and its relatives: the first rows tell the delimiter, the header and the columns' types.

pyarrow parses the rows; a large file of plain numbers goes through the kernel of
`novikoff.data.kernels`, piece by piece, and whatever is not plain falls back to pyarrow. If pyarrow
stumbles, a slow scan finds the line that is wrong.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from novikoff.data.columns import (
    LABEL_NAMES,
    ColumnRoles,
    assign_columns,
    check_unique,
    match_columns,
    numbered,
)
from novikoff.data.errors import DataError, counted, quoted
from novikoff.data.fields import (
    BLANKS,
    FALSE,
    MISSING,
    TRUE,
    is_missing,
    is_number,
    is_truth,
)
from novikoff.data.options import Indices, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import CHUNK_BYTES, SNIFFED_LINES, Source, magic_format, parsed_ahead
from novikoff.data.tables import TableReader, TableRows, arrow

# A file of this size is parsed by pyarrow in the time that it takes to load a kernel.
KERNEL_BYTES: Final = 1 << 25
PIECE_BYTES: Final = 1 << 23

_ROW_NAME: Final = "row name"
_LARGEST_ROW_BYTES: Final = 1 << 26
_LARGEST_BLOCK: Final = 2**31 - 1
_NO_HEADER: Final = "no header: columns are named x1, x2, …"
_UNSURE: Final = "the first line is taken for the header (--no-header if it is a row)"
_DELIMITERS: Final = ("\t", ";", "|", ",")  # the comma last: it may be a decimal point
_PARTS_OF_NUMBERS: Final = "0123456789+-.eE \t"  # the kernel does not take them for delimiters
_WIDE = (  # the longer marks come first: one of UTF-32's begins like one of UTF-16's
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_PLAIN_LINE = re.compile(rb'([^"\r\n]*)(?:\r\n|\r|\n|\Z)')
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Record(NamedTuple):
    """A record's first line, counted from 1, its fields, and the offset of its end."""

    line: int
    fields: list[bytes]
    end: int


class OpenQuoteError(Exception):
    """A quote is opened on a line and never closed."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(frozen=True)
class Layout:
    """What the beginning of a file tells.

    Attributes
    ----------
    delimiter, decimal : str
        As given or found out.
    names : list of str
        The columns' names; x1, x2, … without a header.
    header : bytes
        The line that names the columns; empty if there is none.
    body : Position
        Where the rows begin.
    longest : int
        The length of the longest record seen, in bytes.
    sample : list of list of str
        The first rows.
    row_names : bool
        Whether the first column has no name, as when R or pandas write row names.
    notes : list of str
        What was decided.
    """

    delimiter: str
    decimal: str
    names: list[str]
    header: bytes
    body: Position
    longest: int
    sample: list[list[str]]
    row_names: bool
    notes: list[str] = field(default_factory=list)

    @classmethod
    def sniff(cls, source: Source, options: ReadOptions, recipe: Recipe | None = None) -> Layout:
        """Find out delimiter, header and names from the first records.

        Raises
        ------
        DataError
            If there are no rows, or two columns have one name, or a column has none.
        """
        start, text = _beginning(source)
        name, notes, decimal = source.name, list[str](), options.decimal
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
        sample = _sample(name, text, start, delimiter)
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
        names, row_names = (
            _header_names(name, rows[0]) if header else (numbered(len(rows[0]), recipe), False)
        )
        ends = [start, *(record.end for record in sample)]
        body = sample[0].end if header else start
        return cls(
            delimiter,
            decimal,
            names,
            text[start:body].strip(b"\r\n") if header else b"",
            Position(body, count_lines(text[:body])),
            longest=max(b - a for a, b in pairwise(ends)),
            sample=rows[1:] if header else rows,
            row_names=row_names,
            notes=notes,
        )


class CsvTable(TableReader):
    """The pieces of delimited text.

    Parameters
    ----------
    source : Source
        The file or pipe.
    options, recipe, labelled
        As for `TableRows`.
    one_piece : bool
        Whether all rows are read at once.
    as_they_come : bool
        Whether rows are given as soon as they are there; then None stands for a silent pipe.
    layout : Layout, optional
        What is known of the text already.
    """

    def __init__(
        self,
        source: Source,
        options: ReadOptions,
        recipe: Recipe | None,
        *,
        labelled: bool,
        one_piece: bool = False,
        as_they_come: bool = False,
        layout: Layout | None = None,
    ) -> None:
        super().__init__(source, source.name)
        self._source, self._one_piece, self._as_they_come = source, one_piece, as_they_come
        self.layout = layout = layout or Layout.sniff(source, options, recipe)
        self.roles = _roles(source.name, layout, options, recipe, labelled=labelled)
        self.notes = [*layout.notes, *self.roles.notes]
        self.rows = TableRows(
            source.name,
            layout.names,
            self.roles,
            options,
            recipe,
            labelled=labelled,
            raw=True,
            decimal=layout.decimal,
            whole=one_piece,
        )
        self._plain = self._is_plain()
        size = source.stamp[0] if source.regular and not source.packed else 0
        self._seen = size if size >= KERNEL_BYTES else 0

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on; None now and then while a pipe is silent."""
        begin = begin or self.layout.body
        texts = self._texts(begin.offset)
        if not self._as_they_come:
            first, second = next(texts, b""), next(texts, None)
            self.rows.whole = second is None
            texts = chain([first] if second is None else [first, second], texts)
        for text, numbers in parsed_ahead(texts, self._parse_numbers):
            if text is None:
                yield None
                continue
            piece = self.parse(text, begin, numbers)
            begin = piece.end
            yield piece

    def _texts(self, offset: int) -> Iterator[bytes | None]:
        """The text from an offset on, cut after whole records."""
        if self._one_piece:
            yield b"".join(self._source.flow(offset, PIECE_BYTES))
            return
        come, delimiter = self._as_they_come, self.layout.delimiter
        for text in cut_text(self._source, offset, delimiter, as_they_come=come):
            self._seen += len(text or b"")
            yield text

    def parse(self, text: bytes, begin: Position, numbers: Any = None) -> Piece:
        """The rows of a text that begins at a position; ``numbers`` if the kernel found them."""
        if numbers is not None:
            X, codes, keys = numbers
            piece = self.rows.from_numbers(X, codes, keys, None, begin)
        else:
            check_text(text, self.source, begin)
            piece = self._rows_of(text, begin)
        offset, line = begin.offset + len(text), begin.line + count_lines(text)
        piece.end = piece.end._replace(offset=offset, line=line)

        def locate(read: int) -> Position:
            end = record_ends(text, self.layout.delimiter)[read - 1]
            lines = begin.line + count_lines(text[:end])
            return Position(begin.offset + end, lines, begin.row + read, begin.dropped)

        piece.locate = locate
        return piece

    def _is_plain(self) -> bool:
        """Whether the kernel may find nothing but numbers and a label, by the first rows."""
        layout, roles = self.layout, self.roles
        special = roles.id is not None or roles.row_names is not None or roles.one_hot
        if special or roles.every_text or layout.decimal != "." or len(layout.names) < 2:
            return False
        if layout.delimiter in _PARTS_OF_NUMBERS or self._one_piece:
            return False
        return all(
            len(row) == len(layout.names) and all(is_number(row[j]) for j in roles.features)
            for row in layout.sample
        )

    def _parse_numbers(self, text: bytes) -> Any:
        """What the kernel finds in a large file of plain numbers, in any thread; else None."""
        if not self._plain or self._seen < KERNEL_BYTES:
            return None
        from novikoff.data.kernels import parse_csv

        found = parse_csv(text, self.layout.delimiter, self.roles, len(self.layout.names))
        if found is None or any(is_missing(key) for key in found[2]):
            return None
        return found

    def _rows_of(self, text: bytes, begin: Position) -> Piece:
        """The rows of a text by pyarrow."""
        string, texts = arrow().string(), self.roles.texts
        types = {j: string if j in texts else self._guess(j) for j in self.roles.used}
        table = self._load(text, begin, types)
        columns = {j: table.column(str(j)) for j in types}

        def as_text(position: int) -> Any:
            return self._arrow(text, {position: string}).column(str(position))

        return self.rows.from_columns(columns, table.num_rows, begin, as_text)

    def _load(self, text: bytes, begin: Position, types: dict[int, Any]) -> Any:
        """Some columns as the types that are given, or all as text if one does not fit."""
        pa = arrow()
        if text.count(b'"') % 2:  # Arrow takes what follows an open quote for one long field
            self._check_records(text, begin)
        try:
            return self._arrow(text, types)
        except pa.ArrowInvalid:
            self._check_records(text, begin)
        try:
            return self._arrow(text, dict.fromkeys(types, pa.string()))
        except pa.ArrowInvalid as error:
            reason = str(error).splitlines()[0].rstrip(".")[:200]
            raise DataError(f"{self.source} cannot be read as a table: {reason}.") from None

    def _guess(self, column: int) -> Any:
        """The type that the first rows suggest for a feature."""
        pa = arrow()
        texts = {row[column] for row in self.layout.sample if column < len(row)}
        values = [text for text in texts if not is_missing(text)]
        if all(is_number(text, self.layout.decimal) for text in values):
            return pa.float64()
        return pa.bool_() if all(is_truth(text) for text in values) else pa.string()

    def _arrow(self, text: bytes, types: dict[int, Any]) -> Any:
        pa, csv = arrow(), arrow("pyarrow.csv")
        layout = self.layout
        names = [str(j) for j in range(len(layout.names))]
        if len(names) == 1:  # a blank line is a row then, but not at the end
            text = text.rstrip(b"\r\n")
        block = min(max(CHUNK_BYTES, 4 * layout.longest), _LARGEST_BLOCK)
        convert = csv.ConvertOptions(
            column_types={str(j): kind for j, kind in types.items()},
            include_columns=[str(j) for j in types],
            null_values=MISSING,
            true_values=TRUE,
            false_values=FALSE,
            decimal_point=layout.decimal,
        )
        parse = csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=b'"' in text,
            ignore_empty_lines=len(names) > 1,
        )
        if not text.strip(b"\r\n"):
            schema = pa.schema([(str(j), kind) for j, kind in types.items()])
            return schema.empty_table()
        while True:
            try:
                return csv.read_csv(
                    pa.BufferReader(text),
                    read_options=csv.ReadOptions(column_names=names, block_size=block),
                    parse_options=parse,
                    convert_options=convert,
                )
            except pa.ArrowInvalid as error:  # a row may be longer than a block
                if "straddl" not in str(error) or block > min(len(text), _LARGEST_BLOCK - 1):
                    raise
                block = min(8 * block, _LARGEST_BLOCK)

    def _check_records(self, text: bytes, begin: Position) -> None:
        """Find the line that breaks the table, if there is one."""
        width = len(self.layout.names)
        try:
            for record in records(text, 0, self.layout.delimiter, line=begin.line + 1):
                if len(record.fields) != width:
                    raise DataError(
                        f"{self.source}, line {record.line} has "
                        f"{counted(len(record.fields), 'field')} where {width} "
                        f"{'is' if width == 1 else 'are'} expected."
                    )
        except OpenQuoteError as quote:
            raise DataError(_open_quote(self.source, quote)) from None


def cut_text(
    source: Source, offset: int, delimiter: str | None, *, as_they_come: bool
) -> Iterator[bytes | None]:
    """Text from an offset on, cut after whole records.

    Without a delimiter a record is a line; else a line that is not within quotes. Text is given
    as it comes, with None now and then while a pipe is silent, or in pieces of one size.
    """
    rest = b""
    flow = source.flow(offset, PIECE_BYTES)
    for chunk in flow if as_they_come else _filled(flow):
        if not chunk:
            if as_they_come:
                yield None
            continue
        text = rest + chunk
        end = end_of_records(text, delimiter)
        rest = text[end:]
        if end:
            yield text[:end]
        elif len(rest) > _LARGEST_ROW_BYTES:
            raise DataError(
                f"{source.name} has a row of more than {_LARGEST_ROW_BYTES:,} bytes; perhaps a "
                "quote is never closed."
            )
    if rest:
        yield rest


def _filled(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in larger pieces."""
    parts, size = list[bytes](), 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= PIECE_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def end_of_records(text: bytes, delimiter: str | None) -> int:
    r"""Where the last whole record of a text ends that begins with one.

    Examples
    --------
    >>> end_of_records(b'1,2\n3,"4\n5"\n6,"7\n', ","), end_of_records(b"1,2\r3", ",")
    (12, 4)
    """
    if delimiter is not None and b'"' in text:
        match = _all_records(delimiter).match(text)
        return 0 if match is None else match.end()
    return text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1


def record_ends(text: bytes, delimiter: str | None) -> Sequence[int] | Indices:
    r"""Where each record of a text ends; blank lines are none.

    Examples
    --------
    >>> record_ends(b"1,2\n\n3,4", ",").tolist()
    [4, 8]
    """
    if delimiter is not None and (b'"' in text or b"\r" in text):
        return [record.end for record in records(text, 0, delimiter)]
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    return ends[np.diff(ends, prepend=0) > 1]


def records(text: bytes, start: int, delimiter: str, *, line: int = 1) -> Iterator[Record]:
    r"""Read records of fields as RFC 4180 has them, without blank lines.

    Raises
    ------
    OpenQuoteError
        If a quote is not closed by the end.

    Examples
    --------
    >>> for record in records(b'a,"b, c"\n\n1,2', 0, ","):
    ...     print(record)
    Record(line=1, fields=[b'a', b'b, c'], end=9)
    Record(line=3, fields=[b'1', b'2'], end=13)
    """
    mark = delimiter.encode()
    pattern = _field(mark)
    position, size = start, len(text)
    while position < size:
        match = _PLAIN_LINE.match(text, position)
        if match:  # no quotes: nothing is quicker than split
            content, position = match[1], match.end()
            if content:
                yield Record(line, content.split(mark), position)
            line += 1
            continue
        fields, first, more = [], line, True
        while more:
            match = pattern.match(text, position)
            if match is None or (match["quoted"] is None and match["plain"][:1] == b'"'):
                raise OpenQuoteError(line)
            content = match["plain"]
            if match["quoted"] is not None:
                content = match["quoted"].replace(b'""', b'"') + match["rest"]
                line += len(_LINE_END.findall(match["quoted"]))
            fields.append(content)
            position, more = match.end(), match["end"] == mark
        line += 1
        yield Record(first, fields, position)


def count_lines(text: bytes) -> int:
    r"""How many lines end in a text: with a newline, a return, or both.

    Examples
    --------
    >>> count_lines(b"a\r\nb\rc\nd")
    3
    """
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


def check_text(text: bytes, source: str, begin: Position) -> None:
    """Raise DataError unless a text is UTF-8 without NUL bytes, with the position."""
    if b"\0" in text:
        _refuse_nul(text, text.index(b"\0"), source, begin)
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        at = begin.offset + error.start + 1
        line = begin.line + count_lines(text[: error.start]) + 1
        raise DataError(
            f"{source} is not UTF-8 text: byte 0x{text[error.start]:02X} at position {at} "
            f"(line {line}) does not belong; if it is Latin-1, convert it with "
            "iconv -f LATIN1 -t UTF-8."
        ) from None


def check_encoding(source: Source) -> int:
    """Where the text begins, after a byte order mark; DataError if it is not UTF-8 at all."""
    for mark, encoding in _WIDE:
        if source.head.startswith(mark):
            raise DataError(
                f"{source.name} is encoded in {encoding}, as its byte order mark at position 1 "
                f"says: convert it with iconv -f {encoding} -t UTF-8."
            )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0


def _beginning(source: Source) -> tuple[int, bytes]:
    """Where the text begins, and its whole lines as far as they are looked at."""
    start, text = check_encoding(source), source.head
    if not source.ended:
        end = end_of_records(text, None)
        if b'"' in text:  # up to a newline that is not within quotes, whatever the delimiter is
            marks = np.frombuffer(text, np.uint8)
            outside = (np.cumsum(marks == ord('"')) % 2 == 0) & (marks == ord("\n"))
            end = int(np.flatnonzero(outside)[-1]) + 1 if outside.any() else end
        text = text[: end or None]
    check_text(text, source.name, Position())
    return start, text


def _roles(
    source: str,
    layout: Layout,
    options: ReadOptions,
    recipe: Recipe | None,
    *,
    labelled: bool,
) -> ColumnRoles:
    if recipe is not None:
        return match_columns(source, layout.names, recipe, options, labelled=labelled)
    return assign_columns(
        source,
        layout.names,
        options,
        labelled=labelled,
        row_names=layout.row_names,
        hint=_hint(layout) if options.delimiter is None else "",
    )


def _hint(layout: Layout) -> str:
    """Advice on a file that seems to have one column only."""
    lines = [row[0].strip(BLANKS) for row in layout.sample if len(row) == 1]
    if len(layout.names) > 1 or not lines:
        return ""
    if any(len(line.split()) < 2 for line in lines):
        return "; say --delimiter if fields are separated by something else"
    if any("  " in line for line in lines):
        return (
            "; the fields seem to be separated by several blanks: make them single ones with "
            "tr -s ' ', then say --delimiter ' '"
        )
    return "; the fields seem to be separated by blanks: --delimiter ' '"


def _sample(
    source: str, text: bytes, start: int, delimiter: str, size: int = SNIFFED_LINES
) -> list[Record]:
    try:
        return list(islice(records(text, start, delimiter), size))
    except OpenQuoteError as quote:
        raise DataError(_open_quote(source, quote)) from None


def _open_quote(source: str, quote: OpenQuoteError) -> str:
    return f"{source}, line {quote.line} opens a quote that is never closed."


def _find_delimiter(source: str, text: bytes, start: int, decimal: str) -> str:
    """The first delimiter that splits all of the first records alike, else the most frequent."""
    widths = {}
    for delimiter in _DELIMITERS:
        if delimiter != decimal:
            try:
                sample = _sample(source, text, start, delimiter, 20)
            except DataError:  # a quote that this delimiter leaves open
                continue
            widths[delimiter] = Counter(len(record.fields) for record in sample)
    for delimiter, counts in widths.items():
        if len(counts) == 1 and min(counts) > 1:
            return delimiter
    frequent = {delimiter: counts.most_common(1) for delimiter, counts in widths.items()}
    best = max(
        frequent,
        key=lambda d: (frequent[d][0][0] > 1, frequent[d][0][1]) if frequent[d] else (),
        default=",",
    )
    return best if frequent.get(best) and frequent[best][0][0] > 1 else ","


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


def _field(mark: bytes) -> re.Pattern[bytes]:
    other = rb"[^\r\n" + re.escape(mark) + rb"]*+"
    return re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)"(?P<rest>' + other + rb")|(?P<plain>" + other + rb"))"
        rb"(?P<end>" + re.escape(mark) + rb"|\r\n|\r|\n|\Z)"
    )


def _all_records(delimiter: str) -> re.Pattern[bytes]:
    """Whole records, as many as there are; a return at the very end may be half of a line end."""
    mark = re.escape(delimiter.encode())
    plain = rb"[^\r\n" + mark + rb"]*+"
    value = rb'(?:"(?:[^"]++|"")*+"' + plain + rb'|(?!")' + plain + rb")"
    return re.compile(
        rb"(?:" + value + rb"(?:" + mark + value + rb")*+(?:\r\n|\n|\r(?!\Z)))*+", re.DOTALL
    )


def _refuse_nul(text: bytes, at: int, source: str, begin: Position) -> NoReturn:
    magic = magic_format(text) if not begin.offset else None
    hint = f"it looks like {magic}: try --from {magic}" if magic else "it is not a file of text"
    raise DataError(
        f"{source} has a NUL byte at position {begin.offset + at + 1} "
        f"(line {begin.line + count_lines(text[:at]) + 1}): {hint}."
    )
