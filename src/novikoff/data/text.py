"""Text in pieces: whole lines as they come, checked to be UTF-8, and the records of CSV.

`text_pieces` drives every reader of text: it cuts, lets a kernel look ahead on all cores, and hands
each text with its position to the reader.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from novikoff.data.errors import DataError
from novikoff.data.options import Indices, Piece, Position
from novikoff.data.source import Source, magic_format, parsed_ahead

PIECE_BYTES: Final = 1 << 23

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


def text_pieces(
    texts: Iterator[bytes | None],
    begin: Position,
    parse: Callable[[bytes, Position, Any], Piece],
    kernel: Callable[[bytes], Any],
    delimiter: str | None,
    *,
    halve: bool,
) -> Iterator[Piece | None]:
    """The pieces of texts that begin at a position; None stands for a silent pipe.

    Parameters
    ----------
    texts : iterator
        Whole records, or None.
    begin : Position
        Where they begin.
    parse : callable
        Makes a piece of a text, its position, and what the kernel found.
    kernel : callable
        What can be done ahead, without the GIL; it may find nothing.
    delimiter : str, optional
        That of the records.
    halve : bool
        Whether, of a text in which a row is wrong, the rows before it are given.
    """

    def parsed(text: bytes, begin: Position, found: Any = None) -> Iterator[Piece]:
        try:
            pieces = [parse(text, begin, found)]
        except DataError:
            lines = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
            middle = int(lines[len(lines) // 2 - 1]) if len(lines) > 1 else 0
            end = end_of_records(text[:middle], delimiter) or end_of_records(text[:-1], delimiter)
            if end == 0 or not halve:
                raise
            for part in (text[:end], text[end:]):
                for piece in parsed(part, begin):
                    begin = piece.end
                    yield piece
            return
        yield from pieces

    for text, found in parsed_ahead(texts, kernel):
        if text is None:
            yield None
            continue
        for piece in parsed(text, begin, found):
            begin = piece.end
            yield piece


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
