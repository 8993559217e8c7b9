"""Text: checked to be UTF-8, cut after whole records, and parsed piece by piece.

A kernel looks ahead at long text on all cores. Of a text in which a row is wrong, a stream still
gets the rows before it, and if it skips bad rows, those behind it.
"""

from __future__ import annotations

import codecs
import os
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from novikoff.data.errors import BadRowError, DataError
from novikoff.data.formats import find_magic
from novikoff.data.options import Piece, Position
from novikoff.data.source import Source

if TYPE_CHECKING:
    from novikoff.data.reader import Reader, Request

PIECE_BYTES: Final = 1 << 21

_LARGEST_ROW_BYTES: Final = 1 << 26
_MOST_THREADS: Final = 4
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # and UTF-32 LE
_PLAIN_LINE = re.compile(rb'([^"\r\n]*)(?:\r\n|\r|\n|\Z)')


def text_pieces(reader: Reader, begin: Position) -> Iterator[Piece | None]:
    """The rows from a position on; None now and then while a pipe is silent."""
    for text, found in _looked_at(reader, _texts(reader, begin.offset)):
        if text is None:
            yield None
            continue
        for piece in _up_to_error(reader, text, begin, found):
            begin = piece.end
            yield piece


def is_whole(request: Request) -> bool:
    """Whether all rows of a text come in one piece."""
    source = request.source
    short = source.ended and len(source.head) < PIECE_BYTES
    return request.one_piece or (short and not request.as_they_come)


def _texts(reader: Reader, offset: int) -> Iterator[bytes | None]:
    """The text from an offset on, cut after whole records."""
    request, chunks, size = reader.request, list[bytes](), 0
    flow = request.source.flow(offset, PIECE_BYTES)
    if is_whole(request):
        yield b"".join(flow)
        return
    for chunk in flow:
        chunks.append(chunk)
        size += len(chunk)
        silent = not chunk and request.as_they_come
        if size < PIECE_BYTES and not silent:
            continue
        text = b"".join(chunks)
        end = end_of_records(text, reader.delimiter)
        if not end and size > _LARGEST_ROW_BYTES:
            end = text.find(b"\n") + 1 if request.skip_bad else 0  # the line that opens the quote
            if not end:
                raise DataError(
                    f"{request.source.name} has a row of more than {_LARGEST_ROW_BYTES:,} bytes; "
                    "perhaps a quote is never closed."
                )
        if end:
            yield text[:end]
        elif silent:
            yield None
        chunks, size = [text[end:]], size - end
    if size:
        yield b"".join(chunks)


def _looked_at(reader: Reader, texts: Iterator[bytes | None]) -> Iterator[tuple[bytes | None, Any]]:
    """Each text, and what the kernel finds in it on all cores; in order, as soon as it is there."""
    source, cores = reader.request.source, min(_MOST_THREADS, os.cpu_count() or 1)
    size, seen = source.stamp[0] if source.regular else 0, 0
    pending: deque[tuple[bytes, Future[Any] | None]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for text in chain(texts, [b""]):
            if text:
                seen += len(text)
                large = max(size, seen) >= reader.kernel_bytes
                plain = large and text.isascii() and b"\0" not in text
                pending.append((text, pool.submit(reader.look, text) if plain else None))
            while pending:
                first, future = pending[0]
                if text and len(pending) <= cores and future is not None and not future.done():
                    break
                pending.popleft()
                yield first, None if future is None else future.result()
            if text is None:
                yield None, None


def _up_to_error(
    reader: Reader, text: bytes, begin: Position, found: Any = None
) -> Iterator[Piece]:
    """The piece of a text; of a stream's text that is wrong, the rows before the error.

    If bad rows are skipped, also the row that is wrong, as a piece that says why, and those behind.
    """
    try:
        piece = reader.parse(text, begin, found)
    except DataError as error:
        if not reader.request.as_they_come:
            raise
        cut = _middle(text, reader.delimiter)
        if not cut and not reader.request.skip_bad:
            raise BadRowError(str(error)) from None
        if not cut:
            closed = end_of_records(text.rstrip(b"\r\n") + b"\n", reader.delimiter) > 0
            cut = len(text) if closed else text.find(b"\n") + 1 or len(text)  # the quote's line
            line = begin.line + count_lines(text[:cut])
            end = Position(begin.offset + cut, line, begin.row + 1, begin.dropped)
            yield Piece.refusal(error, begin, end)
            parts, begin = [text[cut:]], end
        else:
            parts = [text[:cut], text[cut:]]
        for part in filter(None, parts):
            for piece in _up_to_error(reader, part, begin):
                begin = piece.end
                yield piece
        return

    def position(end: int, row: int) -> Position:
        line = begin.line + count_lines(text[:end])
        return Position(begin.offset + end, line, row, piece.end.dropped)

    row_ends = cache(reader.row_ends)
    piece.end = position(len(text), piece.end.row)
    piece.locate = lambda read: position(row_ends(text)[read - 1], begin.row + read)
    yield piece


def _middle(text: bytes, delimiter: str | None) -> int:
    """Where a record ends about the middle of a text; 0 if there is but one record."""
    last = len(text.rstrip(b"\r\n"))
    at = max(text.find(mark, last // 2, last) for mark in (b"\r", b"\n"))
    first = text[: at + 2] if at > 0 else b""  # with a character behind the line's end
    return end_of_records(first, delimiter) or end_of_records(text[:-1], delimiter)


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
    mark = re.escape(delimiter.encode())
    other = rb"[^\r\n" + mark + rb"]*+"
    quoted = rb'"(?P<quoted>(?:[^"]++|"")*+)"(?P<rest>' + other + rb")"
    plain = rb'(?P<plain>(?!")' + other + rb")"
    field = re.compile(rb"(?:%b|%b)(?P<end>%b|\r\n|\r|\n|\Z)" % (quoted, plain, mark))
    while start < len(text):
        match, lines = _PLAIN_LINE.match(text, start), 1
        if match:  # no quotes: nothing is quicker than split
            fields, end = match[1].split(delimiter.encode()), match.end()
        else:
            fields, end, more = [], start, True
            while more:
                match = field.match(text, end)
                if match is None:
                    line += count_lines(text[start:end])
                    raise DataError(f"{source}, line {line} opens a quote that is never closed.")
                content, more = match["plain"], match["end"] == delimiter.encode()
                if content is None:
                    content = match["quoted"].replace(b'""', b'"') + match["rest"]
                fields.append(content)
                end = match.end()
            lines = count_lines(text[start:end])
        if text[start:end].strip(b"\r\n"):
            yield Record(line, fields, end)
        line, start = line + lines, end


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


def count_lines(text: bytes) -> int:
    """How many lines end in a text: with a newline, a return, or both."""
    marks = np.frombuffer(text, np.uint8)
    lines = int(np.count_nonzero(marks == ord("\n")))  # several times quicker than bytes.count
    return lines + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def is_utf8(line: bytes) -> bool:
    """Whether a line is UTF-8 without NUL bytes."""
    try:
        check_text(line, "", Position())
    except DataError:
        return False
    return True


def check_text(text: bytes, source: str, begin: Position) -> None:
    """Raise DataError unless a text is UTF-8 without NUL bytes, with the position."""
    at = text.find(b"\0")
    if at < 0 and text.isascii():
        return
    if at >= 0:
        magic = find_magic(text) if not begin.offset else None
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
    if source.head.startswith(_WIDE):
        raise DataError(
            f"{source.name} is encoded in UTF-16 or UTF-32, as its byte order mark at position 1 "
            "says: convert it with iconv -f UTF-16 -t UTF-8."
        )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0
