"""Bytes as they come: from a file, a pipe or the standard input, gzipped or not, without end.

What is there is handed on at once. Nothing here waits where it could not be told to stop.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from threading import Event, Thread
from typing import BinaryIO, Final, Generic, TypeVar

from novikoff.data.errors import DataError
from novikoff.data.source import shown

Item = TypeVar("Item")

PIECE: Final = 1 << 20  # bytes handed on at once, at most

_GZIP = b"\x1f\x8b"
_PATIENCE = 0.1  # seconds between looks at whether it is over
_WIDEN = 1031  # Linux: the size of a pipe


class Pipe:
    """A source of bytes that may have no end.

    Parameters
    ----------
    path : path, "-" or binary file
        Where the bytes are; "-" is the standard input. Gzip is unpacked, whatever the name.

    Attributes
    ----------
    name : str
        For messages.
    regular : bool
        Whether it is a plain file, which can be read again.

    Raises
    ------
    DataError
        If it cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        self._over = Event()
        self._file: BinaryIO | None = None
        self._fd: int | None = None
        self._own = False
        self._flow: Iterator[bytes] | None = None
        if not isinstance(path, str | os.PathLike):
            name = getattr(path, "name", None)
            self.name = shown(name) if isinstance(name, str) else "the stream"
            self._file = path
        elif os.fspath(path) == "-":
            if sys.stdin is None:
                raise DataError("- cannot be read: the standard input is closed.")
            self.name, self._file = "-", sys.stdin.buffer
        else:
            self.name = shown(os.fspath(path))
            self._fd, self._own = _opened(os.fspath(path), self.name), True
        if self._fd is None and self._file is not None:
            with contextlib.suppress(OSError, AttributeError, ValueError):
                self._fd = self._file.fileno()
        mode = 0 if self._fd is None else os.fstat(self._fd).st_mode
        self.regular = self._own and stat.S_ISREG(mode)
        self._opened = self._state()
        if stat.S_ISFIFO(mode) and sys.platform == "linux" and self._fd is not None:
            import fcntl

            with contextlib.suppress(OSError):  # a wide pipe is filled while we are busy
                fcntl.fcntl(self._fd, _WIDEN, PIECE)

    def pieces(self, start: int = 0) -> Iterator[bytes]:
        """All bytes from an offset on, unpacked; nothing from time to time while a pipe is silent.

        A plain file is gone through anew each time, a pipe goes on where it is.

        Raises
        ------
        DataError
            If it cannot be read, is shorter than ``start``, or is broken gzip.
        """
        if not self.regular or self._fd is None:
            if self._flow is None:
                self._flow = self._unpacked()
            return self._flow
        packed = self.packed
        os.lseek(self._fd, 0 if packed else start, os.SEEK_SET)
        if not packed and os.fstat(self._fd).st_size < start:
            raise DataError(self._short())
        return _skipped(self._unpacked(), start, self._short()) if packed else self._raw()

    @property
    def steady(self) -> bool:
        """Whether it is a plain file that has not changed since it was opened."""
        return self.regular and self._fd is not None and self._state() == self._opened

    def _state(self) -> tuple[int, int] | None:
        """By what a change shows."""
        if self._fd is None:
            return None
        status = os.fstat(self._fd)
        return status.st_size, status.st_mtime_ns

    @property
    def packed(self) -> bool:
        """Whether it is a plain file of gzip."""
        return self.regular and self._fd is not None and os.pread(self._fd, 2, 0) == _GZIP

    def range(self, begin: int, end: int) -> bytes:
        """Some bytes of a plain file as they lie, whoever reads it meanwhile.

        Raises
        ------
        DataError
            If it is shorter.
        """
        found = b"" if self._fd is None else os.pread(self._fd, end - begin, begin)
        if len(found) < end - begin:
            raise DataError(self._short())
        return found

    def _short(self) -> str:
        return f"{self.name} is shorter than what was learned of it."

    def close(self) -> None:
        """End `pieces`, from whatever thread it runs in."""
        self._over.set()

    def release(self) -> None:
        """Give the file back, when nothing reads it any more."""
        if self._own and self._fd is not None:
            os.close(self._fd)
            self._fd, self._own = None, False

    def _raw(self) -> Iterator[bytes]:
        try:
            while not self._over.is_set():
                piece = self._piece()
                if piece == b"":
                    return
                yield piece or b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DataError(f"{self.name} cannot be read: {reason}.") from None

    def _piece(self) -> bytes | None:
        """What is there; nothing at the end, None if it is not yet clear."""
        if self._fd is None:
            file = self._file
            read = getattr(file, "read1", getattr(file, "read", None))
            found = b"" if read is None else read(PIECE)
            if not isinstance(found, bytes):
                raise DataError(f"{self.name} was opened as text: open it in binary mode.")
            return found
        if not select.select([self._fd], [], [], _PATIENCE)[0]:
            return None
        parts = [os.read(self._fd, PIECE)]
        size = len(parts[0])
        while parts[-1] and size < PIECE and select.select([self._fd], [], [], 0.0)[0]:
            parts.append(os.read(self._fd, PIECE - size))
            size += len(parts[-1])
        return b"".join(parts)

    def _unpacked(self) -> Iterator[bytes]:
        raw = self._raw()
        head = b""
        for piece in raw:
            head += piece
            if len(head) > 1:
                break
            yield b""
        if head[:2] == _GZIP:
            yield from self._gunzipped(head, raw)
            return
        yield head
        yield from raw

    def _gunzipped(self, head: bytes, raw: Iterator[bytes]) -> Iterator[bytes]:
        unpacker, piece = zlib.decompressobj(31), head
        while True:
            try:
                yield unpacker.decompress(piece, PIECE)
            except zlib.error:
                raise DataError(
                    f"{self.name} is damaged: its gzip data cannot be unpacked."
                ) from None
            piece = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if not piece:
                more = next(raw, None)
                if more is None:
                    break
                piece = more
            if unpacker.eof and piece:  # another member follows
                unpacker = zlib.decompressobj(31)
        if not unpacker.eof and not self._over.is_set():
            raise DataError(f"{self.name} is cut off: its gzip data ends too early.")


def _skipped(pieces: Iterator[bytes], start: int, short: str) -> Iterator[bytes]:
    """Pieces without their first bytes; if there are not so many, that is said."""
    for piece in pieces:
        yield piece[start:]
        start = max(0, start - len(piece))
    if start:
        raise DataError(short)


class Ahead(Generic[Item]):
    """Items that a thread makes while the last ones are in use; `take` never waits for long.

    Examples
    --------
    >>> ahead = Ahead(iter([1, 2]))
    >>> [item for item in ahead if item is not None]
    [1, 2]
    """

    def __init__(self, items: Iterable[Item], depth: int = 32) -> None:
        self._handed: queue.Queue[Item] = queue.Queue(maxsize=depth)
        self._over, self._done = Event(), Event()
        self._failure: list[BaseException] = []
        self._maker = Thread(target=self._make, args=(items,), daemon=True)
        self._maker.start()

    def __iter__(self) -> Iterator[Item | None]:
        """The items; None from time to time while there is none. Errors come where they arise."""
        while True:
            try:
                yield self._handed.get(timeout=0.0 if self._done.is_set() else _PATIENCE)
            except queue.Empty:
                if not (self._done.is_set() and self._handed.empty()):
                    yield None
                    continue
                if self._failure:
                    raise self._failure[0] from None
                return

    def close(self) -> None:
        """End the thread, as soon as the item it is at is made."""
        self._over.set()
        self._maker.join()

    def _make(self, items: Iterable[Item]) -> None:
        try:
            for item in items:
                while not self._over.is_set():
                    try:
                        self._handed.put(item, timeout=_PATIENCE)
                        break
                    except queue.Full:
                        continue
                if self._over.is_set():
                    return
        except BaseException as error:  # it is raised again by the one who takes
            self._failure.append(error)
        finally:
            self._done.set()


def _opened(path: str, name: str) -> int:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{name} is a directory, not a file of data.")
        # A named pipe is opened at once, and waited for where it can be told to stop.
        fd = os.open(path, os.O_RDONLY | (os.O_NONBLOCK if stat.S_ISFIFO(mode) else 0))
        os.set_blocking(fd, True)
        return fd
    except FileNotFoundError:
        raise DataError(f"{name} does not exist.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{name} cannot be read: {reason}.") from None
    except ValueError as error:  # a NUL in the name
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} is not a possible name of a file.") from None
