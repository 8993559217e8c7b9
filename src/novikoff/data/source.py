"""A file as bytes: mapped into memory, unpacked, and its format found out."""

from __future__ import annotations

import gzip
import mmap
import os
import re
import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from novikoff.data.errors import DataError

_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}

_BY_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
)

_GZIP = b"\x1f\x8b"

_SVMLIGHT_LINE = re.compile(
    rb"(?:[ \t]*(?:#[^\r\n]*)?[\r\n]+)*"  # blank lines and comments
    rb"[ \t]*[-+.0-9eE]+(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:[-+.0-9eE]+)+[ \t]*"
    rb"(?:#[^\r\n]*)?(?:[\r\n]|\Z)"
)


_SURROGATE = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are no UTF-8


@dataclass(frozen=True)
class Source:
    """The bytes of a file, its name for messages, and its format."""

    name: str
    view: memoryview
    format: str


def open_source(path: str | os.PathLike[str] | BinaryIO, format: str | None) -> Source:
    """Find a file's bytes and format; plain files are mapped, not read.

    Raises
    ------
    DataError
        If there is no such file, it is empty, cannot be read, or is broken gzip.
    """
    name, view = _bytes_of(path)
    if bytes(view[:2]) == _GZIP:
        view = memoryview(_unpacked(view, name))
    if not len(view):
        raise DataError(f"{name} is empty.")
    return Source(name, view, format or _format_of(name, view))


def format_of(path: str, format: str | None) -> str:
    """The format of a file, by its name or its beginning.

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.
    """
    return format or _format_of(shown(path), _beginning(path))


@contextmanager
def saying(name: str) -> Iterator[None]:
    """Turn the system's errors about a file that is read into sentences."""
    try:
        yield
    except DataError:
        raise
    except EOFError:
        raise DataError(f"{name} is cut off: its gzip data ends too early.") from None
    except (zlib.error, gzip.BadGzipFile):
        raise DataError(f"{name} is damaged: its gzip data cannot be unpacked.") from None
    except FileNotFoundError:
        raise DataError(f"{name} does not exist.") from None
    except IsADirectoryError:
        raise DataError(f"{name} is a directory, not a file of data.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{name} cannot be read: {reason}.") from None
    except ValueError as error:
        if "null" not in str(error) and not isinstance(error, UnicodeEncodeError):
            raise
        raise DataError(f"{name} is not a possible name of a file.") from None


def shown(name: str) -> str:
    r"""A file's name as it can be printed: bytes that are no UTF-8 are replaced.

    Examples
    --------
    >>> ascii(shown("caf\udce9.csv"))
    "'caf\\ufffd.csv'"
    """
    return _SURROGATE.sub("\ufffd", name)


def magic_format(view: memoryview) -> str | None:
    """The binary format that the first bytes announce, if any."""
    start = bytes(view[:8])
    return next((name for magic, name in _BY_MAGIC if start.startswith(magic)), None)


def _format_of(name: str, view: memoryview) -> str:
    path = PurePath(name.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    by_name = _BY_SUFFIX.get(suffix) or magic_format(view)
    if by_name:
        return by_name
    return "svmlight" if _SVMLIGHT_LINE.match(view[: 1 << 20]) else "csv"


def _beginning(path: str) -> memoryview:
    """The first bytes of a file, unpacked."""
    with saying(shown(path)):
        with open(path, "rb") as file:
            start = file.read(1 << 20)
        if start[:2] == _GZIP:
            start = zlib.decompressobj(wbits=31).decompress(start, 1 << 20)
    if not start:
        raise DataError(f"{shown(path)} is empty.")
    return memoryview(start)


def _bytes_of(path: str | os.PathLike[str] | BinaryIO) -> tuple[str, memoryview]:
    if not isinstance(path, str | os.PathLike):
        name = getattr(path, "name", None)
        return _whole(path, shown(name) if isinstance(name, str) else "the stream")
    true_name = os.fspath(path)
    if true_name == "-":
        if sys.stdin is None:
            raise DataError("- cannot be read: the standard input is closed.")
        return _whole(sys.stdin.buffer, "-")
    name = shown(true_name)
    with saying(name), open(true_name, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return _whole(file, name)
        return name, memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _whole(file: BinaryIO, name: str) -> tuple[str, memoryview]:
    with saying(name):
        content = file.read()
    if not isinstance(content, bytes | bytearray | memoryview):
        raise DataError(f"{name} was opened as text: open it in binary mode.")
    return name, memoryview(content)


def _unpacked(view: memoryview, name: str) -> bytes:
    try:
        return gzip.decompress(view)
    except EOFError:
        raise DataError(f"{name} is cut off: its gzip data ends too early.") from None
    except (OSError, zlib.error, struct.error):
        raise DataError(f"{name} is damaged: its gzip data cannot be unpacked.") from None
    except MemoryError:
        raise DataError(f"{name} does not fit into memory when it is unpacked.") from None
