"""A source of bytes (file, pipe, standard input, gzip) and its format.

Bytes are handed on as they come; a pipe that is silent yields empty pieces, so that nobody who
reads it waits where he could not be told to stop.
"""

from __future__ import annotations

import io
import itertools
import mmap
import os
import re
import select
import stat
import sys
import time
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import PurePath
from typing import BinaryIO, Final, TypeAlias, TypeVar, cast

from novikoff.data.errors import DataError, readable_errors

Parsed = TypeVar("Parsed")
PathOrFile: TypeAlias = str | os.PathLike[str] | BinaryIO

CHUNK_BYTES: Final = 1 << 20  # read from a pipe at once, at most
SNIFFED_LINES: Final = 100
_MOST_SNIFFED_BYTES: Final = 1 << 25
_SILENCE_SECONDS: Final = 0.1  # after which a pipe yields an empty piece
_PAUSE_SECONDS: Final = 0.5  # after which a pipe is judged by what has come
_MOST_THREADS: Final = 4
_LINUX_SET_PIPE_SIZE: Final = 1031
_GZIP: Final = b"\x1f\x8b"

_SUFFIXES = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".ipc", ".feather"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "npy": (".npy",),
    "npz": (".npz",),
}
_BY_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
}
_FOREIGN = {
    b"%PDF": "is a PDF, not a file of data",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Office document: save it as CSV",
}
_SVMLIGHT_LINE = re.compile(
    rb"(?:[ \t]*(?:#[^\r\n]*)?[\r\n]+)*"  # blank lines and comments
    rb"[ \t]*[-+.0-9eE]+(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:[-+.0-9eE]+)+[ \t]*"
    rb"(?:#[^\r\n]*)?(?:[\r\n]|\Z)"
)
_WEB_PAGE = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSON = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.)*+"\s*:|\[\s*(?:[\[{]|[-0-9"][^\r\n]*\][ \t]*(?:[\r\n]|\Z))'
)
_SURROGATE = re.compile("[\ud800-\udfff]")  # Python's sign for bytes that are no UTF-8


class Source:
    """A source of bytes, unpacked if they are gzip; "-" is the standard input.

    Its format is that of its name (a ``.gz`` at the end does not count), then that of its first
    bytes, unless it is given. If ``hasty``, a pipe that pauses is judged by what has come, if that
    is ``least_lines``.

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
        self.origin = 0  # of the bytes that a pipe brings next
        self.path = os.fspath(path) if isinstance(path, str | os.PathLike) else None
        if self.path == "-":
            if sys.stdin is None:
                raise DataError("- cannot be read: the standard input is closed.")
            path, self.path = sys.stdin.buffer, None
        self._fd: int | None = None
        if self.path is not None:
            self.name = shown(self.path)
            self._fd = _opened(self.path, self.name)
        else:
            self._file = cast(BinaryIO, path)
            stdin = path is getattr(sys.stdin, "buffer", None)
            name = "-" if stdin else getattr(path, "name", None)
            self.name = shown(name) if isinstance(name, str) else "the stream"
            with suppress(OSError, AttributeError, ValueError):
                self._fd = self._file.fileno()
        mode = 0 if self._fd is None else os.fstat(self._fd).st_mode
        self.regular = self.path is not None and stat.S_ISREG(mode)
        if stat.S_ISFIFO(mode) and sys.platform == "linux" and self._fd is not None:
            import fcntl

            with suppress(OSError):  # a wide pipe is filled while we are busy
                fcntl.fcntl(self._fd, _LINUX_SET_PIPE_SIZE, CHUNK_BYTES)
        try:
            self.head, self.ended = self._beginning(least_lines if hasty else None)
            if not self.head and not may_be_empty:
                raise DataError(f"{self.name} is empty.")
            self.format = format or _format_of(self.name, self.head)
            self._refuse_foreign()
        except BaseException:
            self.close()
            raise

    @property
    def packed(self) -> bool:
        """Whether it is a plain file of gzip."""
        return self.regular and self.bytes_at(0, 2) == _GZIP

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change of a plain file."""
        if self._fd is None:
            return 0, 0
        status = os.fstat(self._fd)
        return status.st_size, status.st_mtime_ns

    def view(self) -> memoryview:
        """All bytes: a plain file is mapped, anything else read."""
        if self.regular and not self.packed and self._fd is not None:
            return memoryview(mmap.mmap(self._fd, 0, access=mmap.ACCESS_READ))
        with readable_errors(self.name):
            return memoryview(b"".join(self.flow()))

    def bytes_at(self, begin: int, end: int) -> bytes:
        """Some bytes of a plain file as they lie."""
        return b"" if self._fd is None else os.pread(self._fd, end - begin, begin)

    def flow(self, start: int = 0, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """All bytes from an offset on, ``size`` at a time; of a pipe, whatever is there.

        A plain file is gone through anew each time; a pipe goes on where it is, and yields
        nothing now and then while it is silent.
        """
        if self.regular:
            packed = self.packed
            raw = self._plain(0 if packed else start, size)
            return self._after_taken(self._gunzipped(raw, size), start) if packed else raw
        if self._flow is None:
            self._flow = self._unpacked(size)
        start, self.origin = max(0, start - self.origin), max(start, self.origin)
        return self._after_taken(self._flow, start)

    def close(self) -> None:
        """Give the file back."""
        if self.path is not None and self._fd is not None:
            os.close(self._fd)
        self._fd = None

    def _after_taken(self, flow: Iterator[bytes], start: int) -> Iterator[bytes]:
        taken, self._taken = self._taken, b""
        for piece in itertools.chain([taken] if taken else [], flow):
            yield piece[start:]
            start = max(0, start - len(piece))

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
                    piece, wait = os.read(self._fd, size), 0.0
                if not piece:
                    return
                yield piece

    def _unpacked(self, size: int) -> Iterator[bytes]:
        raw, start = self._raw(size), b""
        for piece in raw:
            start += piece
            if len(start) > 1:
                break
            yield b""
        whole = itertools.chain([start], raw)
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
        pieces, since = [b""], time.monotonic()
        size = lines = 0
        ended = True
        for piece in self.flow():
            pieces.append(piece)
            size, lines = size + len(piece), lines + piece.count(b"\n")
            enough = size >= CHUNK_BYTES and lines > 1
            enough = enough or (least_lines is not None and lines > SNIFFED_LINES)
            if piece:
                since = time.monotonic()
            elif (
                least_lines is not None
                and lines >= least_lines
                and time.monotonic() - since > _PAUSE_SECONDS
            ):
                enough = b"".join(pieces).count(b'"') % 2 == 0  # not within a quoted field
            if enough or size > _MOST_SNIFFED_BYTES:
                ended = False
                break
        head = b"".join(pieces)
        if not self.regular:
            self._taken = head
        return head, ended

    def _refuse_foreign(self) -> None:
        """Raise DataError if a file is known for something else than rows of numbers."""
        what = next((w for start, w in _FOREIGN.items() if self.head.startswith(start)), "")
        if self.head.startswith(b"PK\x03\x04"):  # npz if there is an array in it
            content = self.view() if self.regular else memoryview(self.head)
            try:
                names = zipfile.ZipFile(io.BytesIO(content)).namelist()
            except (
                Exception
            ):  # whatever zipfile makes of arbitrary bytes; the reader of npz says it
                names = [".npy"]
            if any(name.startswith("xl/") for name in names):
                what = "is an Excel workbook: save it as CSV"
            elif not any(name.endswith(".npy") for name in names):
                what = "is a zip archive: unpack it"
        elif self.format in ("csv", "tsv", "svmlight"):
            start = self.head.lstrip(b"\xef\xbb\xbf \t\r\n")
            if _WEB_PAGE.match(start):
                what = "is a web page, not a file of data"
            elif _JSON.match(start):
                what = "is JSON, which is not read: save it as CSV or Parquet"
        if what:
            raise DataError(f"{self.name} {what}.")


def parsed_ahead(
    texts: Iterator[bytes | None], parse: Callable[[bytes], Parsed]
) -> Iterator[tuple[bytes | None, Parsed | None]]:
    """Each text, and what a kernel makes of it on all cores; in order, as soon as it is there."""
    cores = min(_MOST_THREADS, os.cpu_count() or 1)
    pending: deque[tuple[bytes, Future[Parsed]]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for text in itertools.chain(texts, [b""]):
            if text:
                pending.append((text, pool.submit(parse, text)))
            while pending and (not text or len(pending) > cores or pending[0][1].done()):
                first, future = pending.popleft()
                yield first, future.result()
            if text is None:
                yield None, None


def shown(name: str) -> str:
    """A file's name as it can be printed: bytes that are no UTF-8 are replaced."""
    return _SURROGATE.sub("\ufffd", name)


def magic_format(head: bytes) -> str | None:
    """The binary format that the first bytes announce, if any."""
    return next((name for magic, name in _BY_MAGIC.items() if head.startswith(magic)), None)


def _format_of(name: str, head: bytes) -> str:
    path = PurePath(name.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    by_name = next((format for format, known in _SUFFIXES.items() if suffix in known), None)
    by_content = "svmlight" if _SVMLIGHT_LINE.match(head) else "csv"
    return by_name or magic_format(head) or by_content


def _opened(path: str, name: str) -> int:
    with readable_errors(name):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        # A named pipe is opened at once, and waited for where waiting can be ended.
        fd = os.open(path, os.O_RDONLY | (os.O_NONBLOCK if stat.S_ISFIFO(mode) else 0))
        os.set_blocking(fd, True)
        return fd
