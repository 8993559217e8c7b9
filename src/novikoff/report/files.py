"""Output files that are whole or not there: a hidden name, synced, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import signal
import stat
from collections.abc import Iterable, Iterator, Mapping
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
        with readable_errors(self.path):
            if self._file is None:
                self._file = open(self._hidden, "xb")  # noqa: SIM115 — closed at the end
            self._file.write(content)

    def sync(self) -> None:
        """Put the content on the disk, with the permissions of a file to be replaced."""
        if self._file is None:
            self.write(b"")
        with readable_errors(self.path):
            if self._file is not None and not self._file.closed:
                self._file.flush()
                with contextlib.suppress(OSError, AttributeError):
                    os.fchmod(self._file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
                os.fsync(self._file.fileno())
                self._file.close()

    def commit(self) -> None:
        """Sync the file and give it its name, unless there is a file not to be replaced."""
        self.sync()
        with readable_errors(self.path):
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


def check_writable(path: Path, *, force: bool) -> None:
    """Raise OutputError if the file is there and must not be replaced, or has no place.

    Nothing but a regular file is ever replaced; a link stays, and the file behind it is.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a directory, not a file that could be written.")
    if not force and os.path.lexists(path):
        raise OutputError(f"{path} already exists; --force replaces it.")
    with readable_errors(path):
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
def readable_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file into sentences."""
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
