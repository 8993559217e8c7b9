"""Readers of pieces, and text: cut after whole records, checked to be UTF-8.

A `TextReader` cuts text as it comes, lets a kernel look ahead on all cores, and parses each text
with its position. Of a text in which a row is wrong, a stream still gets the rows before it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np

from novikoff.data.errors import DataError
from novikoff.data.options import Imputed, Indices, Labels, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source, magic_format, parsed_ahead

if TYPE_CHECKING:
    from novikoff.data.tables import TableRows

PIECE_BYTES: Final = 1 << 21

_LARGEST_ROW_BYTES: Final = 1 << 26
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


class Request(NamedTuple):
    """A source, and the way it is to be read: what a reader is made from.

    ``one_piece`` wants all rows at once; ``as_they_come`` wants rows as soon as they are there,
    up to the first that is wrong, and None now and then while a pipe is silent.
    """

    source: Source
    options: ReadOptions
    recipe: Recipe | None = None
    labelled: bool = True
    one_piece: bool = False
    as_they_come: bool = False


class Reader:
    """A source whose beginning has been looked at; it gives pieces, and then their recipe.

    ``label`` is the name of its labels, if it has any, ``notes`` what was decided at the beginning.
    For a table, ``rows`` turns columns into rows, and answers for the reader.
    """

    label: str | None = None
    rows: TableRows

    def __init__(self, request: Request) -> None:
        self.request, self.source = request, request.source.name
        self.notes: list[str] = []

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, by default all."""
        raise NotImplementedError

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return self.rows.typed(keys)

    def recipe(self) -> Recipe:
        """How to read other files in the same way, when all pieces have been read."""
        return self.rows.recipe()

    def final_notes(self) -> list[str]:
        """What was decided on the way, when all pieces have been read."""
        return self.rows.final_notes()

    def imputed(self) -> Imputed | None:
        """The rows and columns of X where a mean stands for a missing value."""
        return self.rows.imputed()

    def shift(self) -> int:
        """What the indices of a sparse X are too large by."""
        return 0

    def expected_rows(self, end: Position) -> int:
        """How many rows there will be, by those up to a position; 0 if nobody knows."""
        return 0

    def close(self) -> None:
        """Give the file back."""
        self.request.source.close()


class TextReader(Reader):
    """Reads text that is cut after whole records, from ``body`` on.

    Without a delimiter each line is a record, with it fields may be quoted. Once there are
    ``kernel_bytes``, a kernel looks at each text first.
    """

    def __init__(
        self, request: Request, delimiter: str | None, body: Position, kernel_bytes: int = 1 << 62
    ) -> None:
        super().__init__(request)
        self.delimiter, self.body, self._kernel_bytes = delimiter, body, kernel_bytes
        source = request.source
        self._size = source.stamp[0] if source.regular and not source.packed else 0
        self._seen = self._size if self._size >= kernel_bytes else 0

    def parse(self, text: bytes, begin: Position, found: Any = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        raise NotImplementedError

    def look(self, text: bytes) -> Any:
        """What a kernel finds in a text, in any thread; None if the text is not plain."""
        return None

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, by default all."""
        begin = begin or self.body
        for text, found in parsed_ahead(self.texts(begin.offset), self._looked):
            if text is None:
                yield None
                continue
            for piece in self._up_to_error(text, begin, found):
                begin = piece.end
                yield piece

    def is_whole(self) -> bool:
        """Whether all rows will come in one piece."""
        source = self.request.source
        if self.request.as_they_come or self.request.one_piece:
            return self.request.one_piece
        size = len(source.head) if source.ended else self._size or PIECE_BYTES + self.body.offset
        return size - self.body.offset < PIECE_BYTES

    def expected_rows(self, end: Position) -> int:
        """How many rows there will be, by those up to a position; 0 if nobody knows."""
        return int(1.01 * end.row * self._size / end.offset) if end.offset else 0

    def texts(self, offset: int) -> Iterator[bytes | None]:
        """The text from an offset on, cut after whole records; None while a pipe is silent."""
        source, come, rest = self.request.source, self.request.as_they_come, b""
        flow = source.flow(offset, PIECE_BYTES)
        filled = _filled(flow, 1 << 62 if self.request.one_piece else PIECE_BYTES)
        for chunk, last in ((chunk, False) for chunk in flow) if come else filled:
            quoted = self.delimiter is not None and (b'"' in chunk or b'"' in rest)
            text, before = (rest + chunk, b"") if quoted else (chunk, rest)
            end = 0 if last else end_of_records(text, self.delimiter)
            rest = text[end:] if end else before + text
            self._seen += len(chunk)
            if end:
                yield b"".join((before, memoryview(text)[:end]))
            elif come and not chunk:
                yield None
            elif len(rest) > _LARGEST_ROW_BYTES and not last:
                raise DataError(
                    f"{source.name} has a row of more than {_LARGEST_ROW_BYTES:,} bytes; perhaps a "
                    "quote is never closed."
                )
        if rest:
            yield rest

    def finish(self, piece: Piece, text: bytes) -> Piece:
        """The piece, with its end in bytes and lines, and the means to find that of each row."""
        begin = piece.begin

        def locate(read: int) -> Position:
            end = int(self.row_ends(text)[read - 1])
            line = begin.line + count_lines(text[:end])
            return Position(begin.offset + end, line, begin.row + read, begin.dropped)

        offset, line = begin.offset + len(text), begin.line + count_lines(text)
        piece.end, piece.locate = piece.end._replace(offset=offset, line=line), locate
        return piece

    def row_ends(self, text: bytes) -> Sequence[int] | Indices:
        """Where each row of a text ends."""
        return [end for _, _, end in lines_of(text)]

    def _looked(self, text: bytes) -> Any:
        return self.look(text) if self._seen >= self._kernel_bytes else None

    def _up_to_error(self, text: bytes, begin: Position, found: Any = None) -> Iterator[Piece]:
        try:
            pieces = [self.parse(text, begin, found)]
        except DataError:
            lines = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
            middle = int(lines[len(lines) // 2 - 1]) if len(lines) > 1 else 0
            cut = end_of_records(text[:middle], self.delimiter)
            cut = cut or end_of_records(text[:-1], self.delimiter)
            if cut == 0 or not self.request.as_they_come:
                raise
            for part in (text[:cut], text[cut:]):
                for piece in self._up_to_error(part, begin):
                    begin = piece.end
                    yield piece
            return
        yield from pieces


def lines_of(text: bytes, line_offset: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Number, content and end of each line that holds more than a comment, without it."""
    end = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=line_offset + 1):
        end += len(line)
        content = line.rstrip(b"\r\n").partition(b"#")[0]
        if content.strip(b" \t"):
            yield number, content, end


def _filled(chunks: Iterator[bytes], most: int) -> Iterator[tuple[bytes, bool]]:
    """The same bytes in larger pieces, and whether each is the last."""
    parts, size = list[bytes](), 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= most:
            yield b"".join(parts), False
            parts, size = [], 0
    yield b"".join(parts), True


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
