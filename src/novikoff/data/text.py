"""Text: checked to be UTF-8, cut after whole rows, and parsed piece by piece.

A stream still gets the rows before a row that is wrong. If it skips bad rows, it gets the rows
behind them, too.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, Protocol

import numpy as np

from novikoff.data.dataset import Piece, Position
from novikoff.data.formats import find_magic
from novikoff.data.reader import Request
from novikoff.data.source import Source
from novikoff.errors import BadRowError, DataError

PIECE_BYTES: Final = 1 << 21
_LARGEST_ROW_BYTES: Final = 1 << 26
_WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


class TextRows(Protocol):
    """A reader of rows of text."""

    request: Request

    def parse(self, text: bytes, begin: Position, found: Any = None, /) -> Piece:
        """Return the rows of a text that begins at a position.

        ``found`` is the result of looking at the text ahead of time, if the format does so.
        """

    def end_of_rows(self, text: bytes, /) -> int:
        """Return the offset behind the last whole row of a text that begins with a row, or 0."""

    def rows_of(self, text: bytes, line_offset: int = 0, /) -> Iterator[tuple[int, Any, int]]:
        """Return first line, content and end of each row of a text; lines before it count."""


def is_read_at_once(request: Request) -> bool:
    """Return whether all rows of a text are parsed in one piece."""
    source = request.source
    short = source.ended and len(source.head) < PIECE_BYTES
    return request.one_piece or (short and request.stream is None)


def cut_text(reader: TextRows, offset: int) -> Iterator[bytes | None]:
    """Return the text behind an offset, cut after whole rows; None while a pipe is silent."""
    request = reader.request
    chunks = list[bytes]()
    size = 0
    flow = request.source.flow(offset, PIECE_BYTES)
    if is_read_at_once(request):
        yield b"".join(flow)
        return
    for chunk in flow:
        chunks.append(chunk)
        size += len(chunk)
        silent = not chunk and request.stream is not None
        if size < PIECE_BYTES and not silent:
            continue
        text = b"".join(chunks)
        end = reader.end_of_rows(text)
        if not end and size > _LARGEST_ROW_BYTES:
            # If bad rows are skipped, the line that opens the quote is skipped.
            end = text.find(b"\n") + 1 if request.skip_bad else 0
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


def parse_texts(
    reader: TextRows, texts: Iterable[tuple[bytes | None, Any]], begin: Position
) -> Iterator[Piece | None]:
    """Parse texts one after the other, each with the result of looking at it ahead of time."""
    for text, found in texts:
        if text is None:
            yield None
            continue
        for piece in _parse_up_to_error(reader, text, begin, found):
            begin = piece.end
            yield piece


def _parse_up_to_error(
    reader: TextRows, text: bytes, begin: Position, found: Any = None
) -> Iterator[Piece]:
    """Return the piece of a text, or in a stream the rows before the first bad row.

    If bad rows are skipped, a bad row becomes a piece without rows that has the error, and the rows
    behind it follow. The bad row is found by bisection.
    """
    try:
        piece = reader.parse(text, begin, found)
    except DataError as error:
        if reader.request.stream is None:
            raise
        cut = _middle(reader, text)
        if not cut and not reader.request.skip_bad:
            raise BadRowError(str(error)) from None
        if not cut:
            closed = reader.end_of_rows(text.rstrip(b"\r\n") + b"\n") > 0
            # Of a quote that is never closed, only its line is skipped.
            cut = len(text) if closed else text.find(b"\n") + 1 or len(text)
            line = begin.line + count_lines(text[:cut])
            end = Position(begin.offset + cut, line, begin.row + 1, begin.dropped)
            yield Piece.refusal(error, begin, end, text[:cut])
            parts, begin = [text[cut:]], end
        else:
            parts = [text[:cut], text[cut:]]
        for part in filter(None, parts):
            for piece in _parse_up_to_error(reader, part, begin):
                begin = piece.end
                yield piece
        return

    def position(end: int, row: int) -> Position:
        line = begin.line + count_lines(text[:end])
        return Position(begin.offset + end, line, row, piece.end.dropped)

    ends = cache(lambda: [end for *_, end in reader.rows_of(text)])
    piece.text, piece.end = text, position(len(text), piece.end.row)
    piece.locate = lambda read: position(ends()[read - 1], begin.row + read)
    yield piece


def _middle(reader: TextRows, text: bytes) -> int:
    """Return where a row ends near the middle of a text; 0 if the text is a single row."""
    last = len(text.rstrip(b"\r\n"))
    at = max(text.find(mark, last // 2, last) for mark in (b"\r", b"\n"))
    first = text[: at + 2] if at > 0 else b""  # with a character behind the line's end
    return reader.end_of_rows(first) or reader.end_of_rows(text[:-1])


def end_of_lines(text: bytes) -> int:
    """Return the offset behind the last whole line of a text.

    A return at the very end of the text does not count: a newline may follow.
    """
    return text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1


def count_lines(text: bytes) -> int:
    """Return the number of line ends in a text: newlines, returns, or both together."""
    marks = np.frombuffer(text, np.uint8)
    lines = int(np.count_nonzero(marks == ord("\n")))  # several times as fast as bytes.count
    return lines + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def check_text(text: bytes, source: str, begin: Position) -> None:
    """Raise DataError with the position unless a text is UTF-8 without NUL bytes."""
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
    """Return the offset behind a byte order mark; DataError if it is one of UTF-16 or UTF-32."""
    if source.head.startswith(_WIDE_MARKS):  # that of UTF-16 LE begins that of UTF-32 LE
        raise DataError(
            f"{source.name} is encoded in UTF-16 or UTF-32, as its byte order mark at position 1 "
            "says: convert it with iconv -f UTF-16 -t UTF-8."
        )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0
