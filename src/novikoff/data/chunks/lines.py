"""A file of text in spans of whole lines, read again and again with bounded memory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Final

from novikoff.data.errors import DataError
from novikoff.data.source import saying, shown

# Before the lines of a span there is room for a header.
_ROOM: Final = 1 << 20
# A line longer than this is not waited for.
_LONGEST: Final = 1 << 28
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True)
class Span:
    """Whole lines of a file.

    Attributes
    ----------
    text : memoryview
        The lines, valid until the next span is asked for.
    lines, offset : int
        How many lines and bytes of the file come before.
    """

    text: memoryview
    lines: int
    offset: int


class Spans:
    r"""The spans of a file, from the beginning each time.

    Parameters
    ----------
    path : str
        The file; gzip is unpacked on the way.
    size : int
        The bytes of a span, about.

    Attributes
    ----------
    delimiter : bytes or None
        With it, lines are records of fields between delimiters: a line's end in a field that
        begins with a quote is none.
    head : bytes
        What is put before every span that begins at the offset ``body`` or after it.
    skip : int
        Bytes at the beginning that are no text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.txt"
    ...     _ = path.write_bytes(b"first\nsecond\nthird")
    ...     [(bytes(span.text), span.lines) for span in Spans(str(path), 8)]
    [(b'first\n', 0), (b'second\n', 1), (b'third', 2)]
    """

    def __init__(self, path: str, size: int) -> None:
        self.path, self.size, self.name = path, size, shown(path)
        self.delimiter: bytes | None = None
        self.head, self.body, self.skip = b"", 0, 0

    def __iter__(self) -> Iterator[Span]:
        with saying(self.name), open(self.path, "rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as file:
                    yield from self._spans(file)
            else:
                yield from self._spans(raw)

    def _spans(self, file: BufferedReader | gzip.GzipFile) -> Iterator[Span]:
        buffer = bytearray(_ROOM + self.size)
        filled, lines, offset, over = _ROOM, 0, len(file.read(self.skip)), False
        while not over:
            while filled < len(buffer) and not over:
                got = file.readinto(memoryview(buffer)[filled:])
                filled += got
                over = not got
            end = filled if over else self._cut(buffer, filled)
            if end < 0:  # a line is longer than the buffer
                if len(buffer) > _LONGEST:
                    or_quote = ", or opens a quote that is never closed" if self.delimiter else ""
                    raise DataError(
                        f"{self.name}, line {lines + 1} does not end within "
                        f"{_LONGEST:,} bytes{or_quote}."
                    )
                buffer = buffer + bytes(len(buffer))
                continue
            if end > _ROOM:
                head = self.head if offset >= self.body else b""
                buffer[_ROOM - len(head) : _ROOM] = head
                text = memoryview(buffer)[_ROOM - len(head) : end].toreadonly()
                yield Span(text, lines, offset)
            lines += _count_lines(buffer, _ROOM, end)
            offset += end - _ROOM
            rest = filled - end
            buffer[_ROOM : _ROOM + rest] = buffer[end:filled]
            filled = _ROOM + rest

    def _cut(self, buffer: bytearray, filled: int) -> int:
        """Where the last whole line ends, −1 if none does."""
        if self.delimiter is not None and buffer.find(b'"', _ROOM, filled) >= 0:
            from novikoff.data.stretches import as_bytes, last_record

            text = as_bytes(memoryview(buffer)[_ROOM:filled].toreadonly())
            end = last_record(text, self.delimiter[0])
            return _ROOM + end if end > 0 else -1
        end = buffer.rfind(b"\n", _ROOM, filled) + 1
        alone = buffer.rfind(b"\r", max(end, _ROOM), filled - 1) + 1  # the last may be half a \r\n
        return max(end, alone) or -1

    def refuse_room(self, head: bytes) -> None:
        """Raise DataError if a header is too long to be put before each span."""
        if len(head) > _ROOM:
            raise DataError(f"{self.name} has a header of over {_ROOM:,} bytes.")


def _count_lines(buffer: bytearray, begin: int, end: int) -> int:
    lines = buffer.count(b"\n", begin, end)
    if buffer.find(b"\r", begin, end) >= 0:
        lines += buffer.count(b"\r", begin, end) - buffer.count(b"\r\n", begin, end)
    return lines


def state_of(path: str) -> tuple[int, int]:
    """The size and the time of the last change of a file, by which a change shows."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
