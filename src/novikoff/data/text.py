"""Readers of pieces, and text: cut after whole records, checked to be UTF-8.

A `TextReader` cuts text as it comes, lets a kernel look ahead on all cores, and parses each text
with its position. Of a text in which a row is wrong, a stream still gets the rows before it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from novikoff.data.errors import DataError
from novikoff.data.options import Imputed, Indices, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source, magic_format, parsed_ahead
from novikoff.data.values import Labels

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
    has_ids = False
    rows: TableRows

    def __init__(self, request: Request) -> None:
        self.request, self.source = request, request.source.name
        self.notes: list[str] = []
        self.imputed: list[Imputed] = []  # rows and columns of X where a mean stands

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

    def shift(self) -> int:
        """What the indices of a sparse X are too large by."""
        return 0


class TextReader(Reader):
    """Reads text that is cut after whole records, from ``body`` on.

    Without a delimiter each line is a record, with it fields may be quoted. Once there are
    ``kernel_bytes``, a kernel looks at each text first.
    """

    def __init__(
        self, request: Request, delimiter: str | None, body: Position, kernel_bytes: int
    ) -> None:
        super().__init__(request)
        self.delimiter, self.body, source = delimiter, body, request.source
        # In a stream the learner's own kernels are loaded anyway.
        self._kernel_bytes = kernel_bytes // 4 if request.as_they_come else kernel_bytes
        self._size = source.stamp[0] if source.regular and not source.packed else 0
        self._seen = self._size if self._size >= kernel_bytes else 0

    def parse(self, text: bytes, begin: Position, found: Any = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        raise NotImplementedError

    def look(self, text: bytes) -> Any:
        """What a kernel finds in a text, in any thread; None if the text is not plain."""
        return None

    def row_ends(self, text: bytes) -> Sequence[int] | Indices:
        """Where each row of a text ends."""
        return [end for _, _, end in lines_of(text)]

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, by default all."""
        begin = begin or self.body
        for text, found in parsed_ahead(self._texts(begin.offset), self._looked):
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

    def _texts(self, offset: int) -> Iterator[bytes | None]:
        """The text from an offset on, cut after whole records; None while a pipe is silent."""
        source, come, rest = self.request.source, self.request.as_they_come, b""
        flow = source.flow(offset, PIECE_BYTES)
        filled = _filled(flow, 1 << 62 if self.request.one_piece else PIECE_BYTES)
        for chunk, last in ((chunk, False) for chunk in flow) if come else filled:
            text = rest + chunk
            end = len(text) if last else end_of_records(text, self.delimiter)
            rest = text[end:]
            self._seen += len(chunk)
            if end:
                yield text[:end]
            elif come and not chunk:
                yield None
            elif len(rest) > _LARGEST_ROW_BYTES:
                raise DataError(
                    f"{source.name} has a row of more than {_LARGEST_ROW_BYTES:,} bytes; perhaps a "
                    "quote is never closed."
                )
        if rest:
            yield rest

    def _looked(self, text: bytes) -> Any:
        plain = self._seen >= self._kernel_bytes and text.isascii() and b"\0" not in text
        return self.look(text) if plain else None

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


def lines_of(text: bytes, line_offset: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Number, content and end of each line that holds more than a comment, without it."""
    end = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=line_offset + 1):
        end += len(line)
        content = line.rstrip(b"\r\n").partition(b"#")[0]
        if content.strip(b" \t"):
            yield number, content, end


class Record(NamedTuple):
    """A record's first line, counted from 1, its fields, and the offset of its end."""

    line: int
    fields: list[bytes]
    end: int


def records(
    text: bytes, start: int, delimiter: str, source: str, *, line: int = 1
) -> Iterator[Record]:
    """Read records of fields as RFC 4180 has them, without blank lines."""
    mark = delimiter.encode()
    other = rb"[^\r\n" + re.escape(mark) + rb"]*+"
    field = re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)"(?P<rest>'
        + other
        + rb')|(?P<plain>(?!")'
        + other
        + rb"))"
        rb"(?P<end>" + re.escape(mark) + rb"|\r\n|\r|\n|\Z)"
    )
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
            match = field.match(text, position)
            if match is None:
                raise DataError(f"{source}, line {line} opens a quote that is never closed.")
            content = match["plain"]
            if match["quoted"] is not None:
                content = match["quoted"].replace(b'""', b'"') + match["rest"]
                line += count_lines(match["quoted"])
            fields.append(content)
            position, more = match.end(), match["end"] == mark
        line += 1
        yield Record(first, fields, position)


def end_of_records(text: bytes, delimiter: str | None) -> int:
    """Where the last whole record of a text ends that begins with one."""
    if delimiter is None or b'"' not in text:
        return text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1
    mark = re.escape(delimiter.encode())
    plain = rb"[^\r\n" + mark + rb"]*+"
    value = rb'(?:"(?:[^"]++|"")*+"' + plain + rb'|(?!")' + plain + rb")"
    record = value + rb"(?:" + mark + value + rb")*+(?:\r\n|\n|\r(?!\Z))"  # \r may be half an end
    match = re.compile(rb"(?:" + record + rb")*+", re.DOTALL).match(text)
    return 0 if match is None else match.end()


def record_ends(text: bytes, delimiter: str) -> Sequence[int] | Indices:
    """Where each record of a text ends; blank lines are none."""
    if b'"' in text or b"\r" in text:
        return [record.end for record in records(text, 0, delimiter, "")]
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    return ends[np.diff(ends, prepend=0) > 1]


def count_lines(text: bytes) -> int:
    """How many lines end in a text: with a newline, a return, or both."""
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


def check_text(text: bytes, source: str, begin: Position) -> None:
    """Raise DataError unless a text is UTF-8 without NUL bytes, with the position."""
    at = text.find(b"\0")
    if at < 0 and text.isascii():
        return
    if at >= 0:
        magic = magic_format(text) if not begin.offset else None
        hint = f"it looks like {magic}: try --from {magic}" if magic else "it is not a file of text"
        what, advice = "has a NUL byte", f": {hint}"
    else:
        try:
            text.decode()
            return
        except UnicodeDecodeError as error:
            at = error.start
        what = f"is not UTF-8 text: byte 0x{text[at]:02X}"
        advice = " does not belong; if it is Latin-1, convert it with iconv -f LATIN1 -t UTF-8"
    line = begin.line + count_lines(text[:at]) + 1
    raise DataError(f"{source} {what} at position {begin.offset + at + 1} (line {line}){advice}.")


def check_encoding(source: Source) -> int:
    """Where the text begins, after a byte order mark; DataError if it is not UTF-8 at all."""
    for mark, encoding in _WIDE:
        if source.head.startswith(mark):
            raise DataError(
                f"{source.name} is encoded in {encoding}, as its byte order mark at position 1 "
                f"says: convert it with iconv -f {encoding} -t UTF-8."
            )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0
