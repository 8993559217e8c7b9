"""A source of bytes: a file, a pipe or the standard input, unpacked if it is gzip.

Bytes are handed on as they come; a pipe that is silent yields empty pieces, so that nobody who
reads it waits where he could not be told to stop.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import re
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, BinaryIO, Final, TypeAlias

from novikoff.data.formats import find_format, refuse_foreign
from novikoff.data.messages import readable_errors
from novikoff.errors import DataError

PathOrFile: TypeAlias = str | os.PathLike[str] | BinaryIO

CHUNK_BYTES: Final = 1 << 20  # read from a pipe at once, at most
SNIFFED_LINES: Final = 100
_MAX_SNIFFED_BYTES: Final = 1 << 25
_SILENCE_SECONDS: Final = 0.1  # after which a pipe yields an empty piece
_PAUSE_SECONDS: Final = 0.5  # after which a pipe is judged by what has come
_MAX_SECONDS: Final = 2.0  # after which one is that brings a row now and then
_GZIP: Final = b"\x1f\x8b"
_SURROGATE = re.compile("[\ud800-\udfff]")  # Python's sign for bytes that are no UTF-8


class Source:
    """A source of bytes; "-" is the standard input.

    Its format is found out unless it is given. If ``hasty``, a pipe that pauses is judged by what
    has come, if that is ``least_lines``.

    A ``regular`` file can be read again. ``head`` is the beginning, as far as it is needed to find
    out what it is, and if that is all, the source has ``ended``. DataError says that it cannot be
    opened, is empty, or is known for something else than rows of numbers.
    """

    def __init__(
        self,
        path: PathOrFile,
        format: str | None = None,
        *,
        hasty: bool = False,
        least_lines: int = 2,
        may_be_empty: bool = False,
    ) -> None:
        self._file: BinaryIO | None = None
        self._flow: Iterator[bytes] | None = None
        self._taken = b""  # of a pipe, to look at it
        self._fd: int | None = None
        self.origin = 0  # of the bytes that a pipe brings next
        self._owned = isinstance(path, str | os.PathLike) and os.fspath(path) != "-"
        if isinstance(path, str | os.PathLike) and self._owned:
            self.name = shown(os.fspath(path))
            self._fd = _opened(os.fspath(path), self.name)
        else:
            if sys.stdin is None and isinstance(path, str | os.PathLike):
                raise DataError("- cannot be read: the standard input is closed.")
            stdin: Any = getattr(sys.stdin, "buffer", None)
            file = stdin if isinstance(path, str | os.PathLike) else path
            name = "-" if file is stdin else getattr(file, "name", None)
            self.name = shown(name) if isinstance(name, str) else "the stream"
            self._file = file
            with suppress(OSError, AttributeError, ValueError):
                self._fd = file.fileno()
        mode = 0 if self._fd is None else os.fstat(self._fd).st_mode
        self.regular = self._owned and stat.S_ISREG(mode)
        if self._fd is not None and stat.S_ISFIFO(mode):
            with suppress(OSError, AttributeError):  # a wider pipe, where there is such a thing
                fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        self.packed = self.regular and self.bytes_at(0, 2) == _GZIP
        try:
            self.head, self.ended = self._beginning(least_lines if hasty else None)
            if not self.head and not may_be_empty:
                raise DataError(f"{self.name} is empty.")
            self.format = format or find_format(self.name, self.head)
            whole = self.view if self.regular else lambda: memoryview(self.head)
            refuse_foreign(self.name, self.format, self.head, whole)
        except BaseException:
            self.close()
            raise

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change of a regular file."""
        if self._fd is None:
            return 0, 0
        status = os.fstat(self._fd)
        return status.st_size, status.st_mtime_ns

    def view(self) -> memoryview:
        """All bytes: a regular file is mapped, anything else read."""
        if self.regular and not self.packed and self._fd is not None:
            return memoryview(mmap.mmap(self._fd, 0, access=mmap.ACCESS_READ))
        with readable_errors(self.name):
            return memoryview(b"".join(self.flow()))

    def bytes_at(self, begin: int, end: int) -> bytes:
        """Some bytes of a regular file as they lie."""
        return b"" if self._fd is None else os.pread(self._fd, end - begin, begin)

    def flow(self, start: int = 0, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """All bytes from an offset on, ``size`` at a time; of a pipe, whatever is there.

        A regular file is gone through anew each time; a pipe goes on where it is, and yields
        nothing now and then while it is silent.
        """
        if self.regular:
            raw = self._plain(0 if self.packed else start, size)
            return _skipped(self._gunzipped(raw, size), start) if self.packed else raw
        if self._flow is None:
            self._flow = self._unpacked(size)
        taken, self._taken = self._taken, b""
        start, self.origin = max(0, start - self.origin), max(start, self.origin)
        return _skipped(chain([taken], self._flow), start)

    def close(self) -> None:
        """Give the file back."""
        if self._owned and self._fd is not None:
            os.close(self._fd)
        self._fd = None

    def _plain(self, offset: int, size: int) -> Iterator[bytes]:
        with readable_errors(self.name):
            while self._fd is not None and (piece := os.pread(self._fd, size, offset)):
                offset += len(piece)
                yield piece

    def _raw(self, size: int) -> Iterator[bytes]:
        """What a pipe brings; nothing now and then while it is silent."""
        wait = 0.0  # after a piece an empty one comes at once, if there is no more yet
        with readable_errors(self.name):
            while True:
                if self._fd is None:
                    read = getattr(self._file, "read1", getattr(self._file, "read", None))
                    piece = b"" if read is None else read(size)
                    if not isinstance(piece, bytes):
                        raise DataError(f"{self.name} was opened as text: open it in binary mode.")
                elif not select.select([self._fd], [], [], wait)[0]:
                    yield b""
                    wait = _SILENCE_SECONDS
                    continue
                else:
                    piece, wait = os.read(self._fd, CHUNK_BYTES), 0.0
                if not piece:
                    return
                yield piece
                if self._fd is None:  # there is no telling whether it is silent now
                    yield b""

    def _unpacked(self, size: int) -> Iterator[bytes]:
        raw, start = self._raw(size), b""
        for piece in raw:
            start += piece
            if len(start) > 1:
                break
            yield b""
        whole = chain([start], raw)
        yield from self._gunzipped(whole, size) if start[:2] == _GZIP else whole

    def _gunzipped(self, raw: Iterator[bytes], size: int) -> Iterator[bytes]:
        unpacker, piece = zlib.decompressobj(31), next(raw, b"")
        with readable_errors(self.name):
            while True:
                yield unpacker.decompress(piece, size)
                piece = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
                if not piece:
                    more = next(raw, None)
                    if more is None:
                        break
                    piece = more
                if unpacker.eof and piece:  # another member follows
                    unpacker = zlib.decompressobj(31)
            if not unpacker.eof:
                raise EOFError

    def _beginning(self, least_lines: int | None) -> tuple[bytes, bool]:
        """The first lines and whether that is all, or what has come of a pipe that pauses."""
        head, ended, begun, last = b"", True, math.inf, math.inf
        for piece in self.flow():
            head += piece
            lines, now = head.count(b"\n"), time.monotonic()
            enough = len(head) >= CHUNK_BYTES and lines > 1
            enough = enough or (least_lines is not None and lines > SNIFFED_LINES)
            if piece:
                begun, last = min(begun, now), now
            waited = now - last > _PAUSE_SECONDS or now - begun > _MAX_SECONDS
            if least_lines is not None and waited:
                in_quotes = head.count(b'"') % 2 == 1
                enough = enough or (lines >= least_lines and not in_quotes)
            if enough or len(head) > _MAX_SNIFFED_BYTES:
                ended = False
                break
        if not self.regular:
            self._taken = head
        return head, ended


def shown(name: str) -> str:
    """A file's name as it can be printed: bytes that are no UTF-8 are replaced."""
    return _SURROGATE.sub("\ufffd", name)


def _skipped(flow: Iterator[bytes], start: int) -> Iterator[bytes]:
    """The bytes from an offset on."""
    for piece in flow:
        yield piece[start:]
        start = max(0, start - len(piece))


def _opened(path: str, name: str) -> int:
    with readable_errors(name):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        # A named pipe is opened at once, and waited for where waiting can be ended.
        fd = os.open(path, os.O_RDONLY | (os.O_NONBLOCK if stat.S_ISFIFO(mode) else 0))
        os.set_blocking(fd, True)
        return fd
