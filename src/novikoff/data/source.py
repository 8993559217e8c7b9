"""Sources of bytes: a file, a pipe or the standard input, with its format.

Gzip is unpacked. A silent pipe yields b"" at intervals, so that its reader can check for signals.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import re
import select
import stat
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias, cast

from novikoff.data.messages import printable_name, readable_errors
from novikoff.errors import DataError
from novikoff.names import DATA_FORMATS

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PathOrFile: TypeAlias = str | os.PathLike[str] | BinaryIO

CHUNK_BYTES: Final = 1 << 20  # at most this many bytes are read from a pipe at once
SNIFFED_LINES: Final = 100  # format and layout of a text are found from this many first lines
_MAX_SNIFFED_BYTES: Final = 1 << 25
_SILENCE_SECONDS: Final = 0.1  # a pipe that is silent for this long yields b""
# With `sniff_early`, the format of a pipe is found when the pipe has been silent for the first
# time, or after the second time even if rows keep arriving.
_PAUSE_SECONDS: Final = 0.5
_MAX_SNIFF_SECONDS: Final = 2.0
_GZIP: Final = b"\x1f\x8b"


class Source:
    """A source of bytes.

    Parameters
    ----------
    path : path, "-" or binary file
        The file; "-" is the standard input.
    format : str, optional
        The format; by default it is found from the name and the first bytes.
    sniff_early : bool
        Whether the format of a pipe that pauses is found from the lines that have arrived, if these
        are at least ``least_lines``.
    may_be_empty : bool
        Whether a source without bytes is allowed.

    Attributes
    ----------
    name : str
        The name, as it can be printed.
    head : bytes
        The first lines, from which the format is found.
    ended : bool
        Whether ``head`` is all of the source.
    regular : bool
        Whether it is a regular file, which can be read again.
    packed : bool
        Whether it is a regular file in gzip format.
    files : sequence of str
        All files, if the path is a folder of Parquet files; this source is the first of them.

    Raises
    ------
    DataError
        If the source cannot be opened, is empty, or is not data (a PDF or a web page, for example).
    """

    files: Sequence[str] = ()

    def __init__(
        self,
        path: PathOrFile,
        format: str | None = None,
        *,
        sniff_early: bool = False,
        least_lines: int = 2,
        may_be_empty: bool = False,
    ) -> None:
        self._file: BinaryIO | None = None
        self._flow: Iterator[bytes] | None = None
        self._taken = b""  # the head of a pipe, until `flow` yields it
        self._all: memoryview | None = None
        self._fd: int | None = None
        self.origin = 0  # the offset of the next byte of a pipe
        self._owned = isinstance(path, str | os.PathLike) and os.fspath(path) != "-"
        if isinstance(path, str | os.PathLike) and self._owned:
            self.name = printable_name(path)
            self._fd = _opened(os.fspath(path), self.name)
        else:
            if sys.stdin is None and isinstance(path, str | os.PathLike):
                raise DataError("- cannot be read: the standard input is closed.")
            stdin: Any = getattr(sys.stdin, "buffer", None)
            file = stdin if isinstance(path, str | os.PathLike) else path
            name = "-" if file is stdin else getattr(file, "name", None)
            self.name = printable_name(name) if isinstance(name, str) else "the stream"
            self._file = file
            if fcntl is not None:  # Windows cannot wait for a pipe, so that it is only read there
                with suppress(OSError, AttributeError, ValueError):
                    self._fd = file.fileno()
        mode = 0 if self._fd is None else os.fstat(self._fd).st_mode
        self.regular = self._owned and stat.S_ISREG(mode)
        if self._fd is not None and stat.S_ISFIFO(mode):
            with suppress(OSError, AttributeError):  # a larger buffer, if the system has it
                fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        self.packed = self.regular and _read_at(cast(int, self._fd), 2, 0) == _GZIP
        try:
            self.head, self.ended = self._beginning(least_lines if sniff_early else None)
            if not self.head and not may_be_empty:
                raise DataError(f"{self.name} is empty.")
            self.format = format or find_format(self.name, self.head)
            whole = self.view if self.regular else lambda: memoryview(self.head)
            reject_foreign(self.name, self.format, self.head, whole)
        except BaseException:
            self.close()
            raise

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of modification of a regular file."""
        if self._fd is None:
            return 0, 0
        status = os.fstat(self._fd)
        return status.st_size, status.st_mtime_ns

    def view(self) -> memoryview:
        """Return all bytes: a regular file is mapped into memory, other sources are read once."""
        if self.regular and not self.packed and self._fd is not None:
            return memoryview(mmap.mmap(self._fd, 0, access=mmap.ACCESS_READ))
        if self._all is None:
            with readable_errors(self.name):
                self._all = memoryview(b"".join(self.flow()))
        return self._all

    def flow(self, start: int = 0, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Yield all bytes after an offset.

        Every call reads a regular file again from the offset, ``size`` bytes at a time. A pipe
        continues from where it is: it yields the bytes that have arrived, or b"" while it is
        silent.
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
        """Close the file."""
        if self._owned and self._fd is not None:
            os.close(self._fd)
        self._fd = None

    def _plain(self, offset: int, size: int) -> Iterator[bytes]:
        with readable_errors(self.name):
            while self._fd is not None and (piece := _read_at(self._fd, size, offset)):
                offset += len(piece)
                yield piece

    def _raw(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a pipe as they arrive, and b"" while it is silent."""
        wait = 0.0  # after a chunk, b"" follows at once if no more bytes have arrived
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
                if self._fd is None:  # without a file descriptor, silence cannot be detected
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
                    next_piece = next(raw, None)
                    if next_piece is None:
                        break
                    piece = next_piece
                if unpacker.eof and piece:  # another gzip member follows
                    unpacker = zlib.decompressobj(31)
            if not unpacker.eof:
                raise EOFError

    def _beginning(self, least_lines: int | None) -> tuple[bytes, bool]:
        """Return the first lines of the source, and whether they are all of it.

        ``least_lines`` is given if the format of a pipe is to be found early.
        """
        head, ended, begun, last = b"", True, math.inf, math.inf
        for piece in self.flow():
            head += piece
            lines, now = head.count(b"\n"), time.monotonic()
            enough = len(head) >= CHUNK_BYTES and lines > 1
            enough = enough or (least_lines is not None and lines > SNIFFED_LINES)
            if piece:
                begun, last = min(begun, now), now
            waited = now - last > _PAUSE_SECONDS or now - begun > _MAX_SNIFF_SECONDS
            if least_lines is not None and waited:
                in_quotes = head.count(b'"') % 2 == 1
                enough = enough or (lines >= least_lines and not in_quotes)
            if enough or len(head) > _MAX_SNIFFED_BYTES:
                ended = False
                break
        if not self.regular:
            self._taken = head
        return head, ended


def _skipped(flow: Iterator[bytes], start: int) -> Iterator[bytes]:
    """Yield the bytes after an offset."""
    for piece in flow:
        yield piece[start:]
        start = max(0, start - len(piece))


def _opened(path: str, name: str) -> int:
    with readable_errors(name):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        # Opening a named pipe must not wait for its writer. Reading waits, and can be interrupted.
        if not stat.S_ISFIFO(mode):
            return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # a flag of Windows
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(fd, True)
        return fd


def _read_at(fd: int, size: int, offset: int) -> bytes:
    """Read at an offset of a regular file."""
    if hasattr(os, "pread"):
        return os.pread(fd, size, offset)
    os.lseek(fd, offset, os.SEEK_SET)  # Windows
    return os.read(fd, size)


# Columns have names (table) or numbers (matrix), or each row names its features.
ColumnFamily: TypeAlias = Literal["table", "matrix", "named"]


class FileFormat(NamedTuple):
    """A format: module and class of its reader, family, and first bytes.

    A text format has no first bytes (``magics``).
    """

    reader: str
    family: ColumnFamily
    magics: tuple[bytes, ...] = ()


# A new format is a line here, a line in `novikoff.names`, and a `novikoff.data.reader.Reader`.
FILE_FORMATS = {
    "csv": FileFormat("csv.CsvTable", "table"),
    "tsv": FileFormat("csv.CsvTable", "table"),
    "parquet": FileFormat("arrow_files.ArrowTable", "table", (b"PAR1",)),
    "arrow": FileFormat("arrow_files.ArrowTable", "table", (b"ARROW1", b"\xff\xff\xff\xff")),
    "npy": FileFormat("numpy_files.NumpyTable", "table", (b"\x93NUMPY",)),
    "npz": FileFormat("numpy_files.NumpyTable", "matrix", (b"PK\x03\x04",)),
    "svmlight": FileFormat("pairs.PairRows", "matrix"),
    "jsonl": FileFormat("json_lines.JsonRows", "named"),
}

_BY_SUFFIX = {suffix: name for name, suffixes in DATA_FORMATS.items() for suffix in suffixes}
_FOREIGN = {
    b"%PDF": "is a PDF, not a file of data",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Office document: save it as CSV",
}
_SVMLIGHT_LINE = re.compile(
    rb"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+"  # blank lines and comments, without backtracking
    rb"[ \t]*+[-+.0-9eE]++(?:[ \t]++qid:\d++)?(?:[ \t]++\d++:[-+.0-9eE]++)++[ \t]*+"
    rb"(?:#[^\r\n]*+)?(?:[\r\n]|\Z)"
)
_JSON_LINE = re.compile(rb'[ \t\r\n]*\{[ \t]*"[^\r\n]*\}[ \t]*(?:[\r\n]|\Z)')
_WEB_PAGE = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSON = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.)*+"\s*:|\[\s*(?:[\[{]|[-0-9"][^\r\n]*\][ \t]*(?:[\r\n]|\Z))'
)


def find_format(name: str, head: bytes) -> str:
    """Return the format of a file by its name, before .gz, or else by its first bytes."""
    path = PurePath(name.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    by_content = "svmlight" if _SVMLIGHT_LINE.match(head) else "csv"
    if suffix != ".json" and _JSON_LINE.match(head):  # a .json file usually holds a single value
        by_content = "jsonl"
    return _BY_SUFFIX.get(suffix) or find_magic(head) or by_content


def find_magic(head: bytes) -> str | None:
    """Return the binary format whose files begin with these bytes, or None."""
    return next(
        (name for name, known in FILE_FORMATS.items() if head.startswith(known.magics)), None
    )


def reject_foreign(name: str, format: str, head: bytes, view: Callable[[], memoryview]) -> None:
    """Raise DataError if a file is recognised as a document or archive, not data."""
    what = ""
    for start, kind in _FOREIGN.items():
        what = kind if head.startswith(start) else what
    if head.startswith(b"PK\x03\x04"):  # an npz file is a zip archive that contains an array
        try:
            names = zipfile.ZipFile(io.BytesIO(view())).namelist()
        except Exception:  # zipfile may raise any error; the reader of npz files reports it
            names = [".npy"]
        if any(name.startswith("xl/") for name in names):
            what = "is an Excel workbook: save it as CSV"
        elif not any(name.endswith(".npy") for name in names):
            what = "is a zip archive: unpack it"
    elif not FILE_FORMATS[format].magics:
        begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if _WEB_PAGE.match(begin):
            what = "is a web page, not a file of data"
        elif _JSON.match(begin) and format != "jsonl":
            what = "is JSON, of which only JSON lines are read (format jsonl, one object a line); "
            what += "jq -c '.[]' converts a list of objects to JSON lines"
    if what:
        raise DataError(f"{name} {what}.")


def parquet_files(path: PathOrFile) -> list[str]:
    """Return the Parquet files of a folder; an empty list if the path is not a folder."""
    if not isinstance(path, str | os.PathLike) or not os.path.isdir(path):
        return []
    files = sorted(str(f) for f in Path(path).iterdir() if f.suffix in (".parquet", ".pq"))
    if not files:
        name = printable_name(path)
        raise DataError(f"{name} is a directory without Parquet files.")
    return files
