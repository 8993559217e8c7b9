"""Output files: whole or not there (a hidden name, synced, then renamed), or lists that grow."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import secrets
import signal
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Self

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be",
    errno.EACCES: "its directory may not be written to",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "the directory {folder} does not exist",
    errno.ENOTDIR: "{folder} is not a directory",
}

_CHUNK_BYTES = 1 << 20
# Of files of data.
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".npy", ".npz",
            ".svm", ".svmlight", ".libsvm", ".jsonl", ".ndjson", ".data", ".dat")  # fmt: skip


class OutputError(OSError):
    """An output file cannot be written; the message is a sentence."""


def write_file(path: str | os.PathLike[str], content: bytes, *, force: bool = True) -> None:
    """Write a file at once: a crash or a full disk leaves the old file, or none.

    OutputError, if it cannot be written, or is there and ``force`` is False.
    """
    write_files({Path(path): content}, force=force)


def write_files(contents: Mapping[Path, bytes | Iterable[bytes]], *, force: bool) -> None:
    """Write several files, at once or by pieces, all of them before any gets its name.

    A full disk or a crash is thus known before a file that was there is replaced.
    """
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(AtomicFile(path, force=force)) for path in contents]
        for file, content in zip(files, contents.values(), strict=True):
            for part in [content] if isinstance(content, bytes) else content:
                file.write(part)
            file.sync()
        with _without_interrupts():
            for file in files:
                file.commit()


class AtomicFile:
    """A file that is whole or not there, however long it takes to write.

    Leaving the context before `commit` removes the part that was written. A file that is there
    by then is replaced with ``force`` only. Nothing is on the disk before the first `write`, which
    stands inside the context: an interrupt, whenever it comes, leaves nothing behind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AtomicFile(Path(folder) / "rows") as file:
    ...         file.write(b"whole")
    ...         before = (Path(folder) / "rows").exists()
    ...         file.commit()
    ...     before, (Path(folder) / "rows").read_bytes()
    (False, b'whole')
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        self.path, self.force = Path(path), force
        check_writable(self.path, force=force)
        self._target = _behind_link(self.path)
        self._hidden = self._target.with_name(f".{secrets.token_hex(6)}.part")
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if self._file is not None:
                with contextlib.suppress(OSError):  # a full disk may refuse the rest
                    self._file.close()
        finally:
            self._hidden.unlink(missing_ok=True)

    def write(self, content: bytes) -> None:
        """Add to the file."""
        with output_errors(self.path):
            if self._file is None:
                self._file = open(self._hidden, "xb")  # noqa: SIM115 — closed at the end
            self._file.write(content)

    def sync(self) -> None:
        """Put the content on the disk, with the permissions of a file to be replaced."""
        if self._file is None:
            self.write(b"")
        with output_errors(self.path):
            if self._file is not None and not self._file.closed:
                self._file.flush()
                with contextlib.suppress(OSError, AttributeError):
                    os.fchmod(self._file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
                os.fsync(self._file.fileno())
                self._file.close()

    def commit(self) -> None:
        """Sync the file and give it its name, unless there is a file not to be replaced."""
        self.sync()
        with output_errors(self.path):
            if self.force:
                os.replace(self._hidden, self._target)
            else:
                self._link()
        with contextlib.suppress(OSError):  # the name itself is synced where the system can
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _link(self) -> None:
        """Give the name by a link, which is made only where there is no file, even now."""
        try:
            os.link(self._hidden, self._target)
        except FileExistsError:
            check_writable(self.path, force=False)
        except OSError:  # a file system without links
            os.replace(self._hidden, self._target)


class GrowingCsv:
    """A CSV file to which rows are added, so that no crash loses any or writes it twice.

    ``state`` is kept with the model that the run saves. A run that goes on from there, as ``saved``
    says, cuts off what was written later and writes it again. A file that is gone begins anew. One
    that is there is replaced by a new one if ``force`` says so, or if it has the same heading and
    ``again`` is true: a run that ended before its first save has left it.
    """

    def __init__(
        self, path: Path, heading: Sequence[str], saved: object, *, force: bool, again: bool
    ) -> None:
        check_writable(path, force=True)
        self.path, self._size, self._checksum = path, 0, 0
        with output_errors(path):
            if path.exists() and saved is not None:
                self._file = open(path, "r+b")  # noqa: SIM115 — open as long as the run
                self._cut(saved)
                return
            if path.exists() and not force:
                head = _csv([heading])
                with open(path, "rb") as file:
                    replaced = again and file.read(len(head)) == head
                if not replaced:
                    raise OutputError(f"{path} already exists; --force replaces it.")
            self._file = open(path, "wb+")  # noqa: SIM115 — open as long as the run
        self.append([heading])

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Add rows; None is an empty field."""
        text = _csv(rows)
        with output_errors(self.path):
            self._file.write(text)
            self._file.flush()
        self._pass_over(text)

    def state(self) -> list[int]:
        """Size and checksum, once all rows are on the disk."""
        with output_errors(self.path):
            os.fsync(self._file.fileno())
        return [self._size, self._checksum]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _cut(self, saved: object) -> None:
        """Cut off what is behind the saved size, if all before it is as it was."""
        size = saved[0] if isinstance(saved, list) and saved and type(saved[0]) is int else 0
        while chunk := self._file.read(max(0, min(_CHUNK_BYTES, size - self._size))):
            self._pass_over(chunk)
        if [self._size, self._checksum] != saved:
            self._file.close()
            raise OutputError(
                f"{self.path} is not as it was when the model was saved: give the file of this "
                "stream, a new name, or begin anew with --force."
            )
        self._file.truncate(size)

    def _pass_over(self, text: bytes) -> None:
        self._size, self._checksum = self._size + len(text), zlib.crc32(text, self._checksum)


def check_writable(path: Path, *, force: bool) -> None:
    """Raise OutputError if the file is there and must not be replaced, or has no place.

    Nothing but a regular file is ever replaced; a link stays, and the file behind it is.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a directory, not a file that could be written.")
    if not force and os.path.lexists(path):
        raise OutputError(f"{path} already exists; --force replaces it.")
    with output_errors(path):
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is not a regular file, and is not replaced by one.")
        folder = _behind_link(path).parent
        if not folder.is_dir():
            raise OSError(errno.ENOTDIR if folder.exists() else errno.ENOENT, "")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def check_folder(folder: Path) -> None:
    """Raise OutputError if nothing can be made in a directory, or where it is to be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError(f"{folder} is not a directory: nothing can be written there.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} is a directory that may not be written to.")


def base_name(source: str) -> str:
    """The name of the files of a study of this source, without an ending.

    >>> base_name("data/clicks.csv.gz"), base_name("-"), base_name(".csv")
    ('clicks', 'data', '.csv')
    """
    name = "data" if source == "-" else Path(source).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name


@contextlib.contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file into an OutputError, a sentence."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, (error.strerror or str(error)).lower())
        reason = reason.format(folder=path.parent)
        raise OutputError(f"{path} cannot be written: {reason}.") from None


def _behind_link(path: Path) -> Path:
    """The file itself, where the path is a link to it."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while several files get their names."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
