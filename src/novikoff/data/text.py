"""Text as bytes: that it is UTF-8, and its records of fields, one after the other."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from novikoff.data.errors import DataError
from novikoff.data.source import Source, magic_format

_CHUNK = 1 << 22

_WIDE = (  # the longer marks come first: one of UTF-32's begins like one of UTF-16's
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)

_PLAIN_LINE = re.compile(rb'([^"\r\n]*)(?:\r\n|\r|\n|\Z)')
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Facts:
    """Where the text begins, after a byte order mark, and how many quotes it has."""

    start: int
    quotes: int


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


def check_text(source: Source) -> Facts:
    """Look at every byte once, whether this is UTF-8 without NUL bytes.

    Raises
    ------
    DataError
        If it is not, with the position.
    """
    view = source.view
    for mark, encoding in _WIDE:
        if bytes(view[: len(mark)]) == mark:
            raise DataError(
                f"{source.name} is encoded in {encoding}, as its byte order mark at position 1 "
                f"says: convert it with iconv -f {encoding} -t UTF-8."
            )
    start = len(codecs.BOM_UTF8) if bytes(view[:3]) == codecs.BOM_UTF8 else 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    quotes = pending = 0
    for offset in range(start, max(len(view), 1), _CHUNK):
        chunk = bytes(view[offset : offset + _CHUNK])
        if b"\0" in chunk:
            _refuse_nul(source, offset + chunk.index(b"\0"))
        if b'"' in chunk:
            quotes += chunk.count(b'"')
        if pending or not chunk.isascii():
            try:
                decoder.decode(chunk, final=offset + _CHUNK >= len(view))
            except UnicodeDecodeError as error:
                _refuse_bytes(source, offset - pending + error.start)
            pending = len(decoder.getstate()[0])
    return Facts(start, quotes)


def records(
    view: memoryview, start: int, delimiter: str, *, line: int = 1, blank: bool = False
) -> Iterator[Record]:
    r"""Read records of fields as RFC 4180 has them; blank lines only if ``blank``.

    Raises
    ------
    OpenQuoteError
        If a quote is not closed by the end.

    Examples
    --------
    >>> for record in records(memoryview(b'a,"b, c"\n\n1,2'), 0, ","):
    ...     print(record)
    Record(line=1, fields=[b'a', b'b, c'], end=9)
    Record(line=3, fields=[b'1', b'2'], end=13)
    """
    mark = delimiter.encode()
    field = _field_pattern(mark)
    position, size = start, len(view)
    while position < size:
        match = _PLAIN_LINE.match(view, position)
        if match:  # no quotes: nothing is quicker than split
            text, position = match[1], match.end()
            if text or blank:
                yield Record(line, text.split(mark), position)
            line += 1
            continue
        fields, first, more = [], line, True
        while more:
            match = field.match(view, position)
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


def _field_pattern(mark: bytes) -> re.Pattern[bytes]:
    other = rb"[^\r\n" + re.escape(mark) + rb"]*+"
    return re.compile(
        rb'(?:"(?P<quoted>(?:[^"]++|"")*+)"(?P<rest>' + other + rb")|(?P<plain>" + other + rb"))"
        rb"(?P<end>" + re.escape(mark) + rb"|\r\n|\r|\n|\Z)"
    )


def _refuse_nul(source: Source, position: int) -> NoReturn:
    from novikoff.data.chunks.footer import MAGIC

    if bytes(source.view[: len(MAGIC)]) == MAGIC:
        raise DataError(
            f"{source.name} is a block cache, which fit, verify and convert read; here, take the "
            "file that it was made of."
        )
    magic = magic_format(source.view)
    hint = f"it looks like {magic}: try --from {magic}" if magic else "it is not a file of text"
    raise DataError(
        f"{source.name} has a NUL byte at position {position + 1} "
        f"(line {line_at(source.view, position)}): {hint}."
    )


def _refuse_bytes(source: Source, position: int) -> NoReturn:
    raise DataError(
        f"{source.name} is not UTF-8 text: byte 0x{source.view[position]:02X} at position "
        f"{position + 1} (line {line_at(source.view, position)}) does not belong; if it is "
        "Latin-1, convert it with iconv -f LATIN1 -t UTF-8."
    )


def line_at(view: memoryview, position: int) -> int:
    """The line, counted from 1, that a byte stands on."""
    return len(_LINE_END.findall(view[:position])) + 1
