"""Output files that are whole or not there: a temporary name, synced, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path


class OutputError(OSError):
    """An output file cannot be written; the message is a sentence."""


def write_file(path: str | os.PathLike[str], content: bytes, *, force: bool = True) -> None:
    """Write a file at once: a crash or a full disk leaves the old file, or none.

    Parameters
    ----------
    path : path
        Where to write.
    content : bytes
        All of it.
    force : bool
        Whether a file that is already there is replaced.

    Raises
    ------
    OutputError
        If the file is there and ``force`` is False, or it cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "out.txt"
    ...     write_file(path, b"whole")
    ...     path.read_bytes(), len(list(path.parent.iterdir()))
    (b'whole', 1)
    """
    write_files({Path(path): content}, force=force)


def write_files(contents: Mapping[Path, bytes], *, force: bool) -> None:
    """Write several files, all of them before any gets its name.

    A full disk or a crash is thus known before a file that was there is replaced.
    """
    drafts: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            check_writable(path, force=force)
            drafts[path] = path.with_name(f".{secrets.token_hex(6)}.part")
            with _saying(path):
                _write_synced(drafts[path], content)
        with _without_interrupts():
            for path, draft in drafts.items():
                with _saying(path):
                    _give_name(draft, path, force=force)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def check_writable(path: Path, *, force: bool) -> None:
    """Raise OutputError if the file is there and must not be replaced, or has no place."""
    if path.is_dir():
        raise OutputError(f"{path} is a directory, not a file that could be written.")
    if not force and os.path.lexists(path):
        raise OutputError(f"{path} already exists; --force replaces it.")
    folder = path.parent
    with _saying(path):
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, "")
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def check_folder(folder: Path) -> None:
    """Raise OutputError if nothing can be made in a directory that is there."""
    if not folder.is_dir():
        raise OutputError(f"{folder} is not a directory: nothing can be written there.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} is a directory that may not be written to.")


def make_folder(folder: Path) -> None:
    """Make a directory and those above it, if need be."""
    with _saying(folder):
        folder.mkdir(parents=True, exist_ok=True)


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


def _write_synced(draft: Path, content: bytes) -> None:
    with open(draft, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _give_name(draft: Path, path: Path, *, force: bool) -> None:
    if not force:  # a link is made only where there is no file, even now
        try:
            os.link(draft, path)
        except FileExistsError:
            check_writable(path, force=False)
        except OSError:  # a file system without links
            os.replace(draft, path)
    else:
        os.replace(draft, path)
    with contextlib.suppress(OSError):  # the name itself is synced where the system can
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def _saying(path: Path) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = {
            errno.ENOSPC: "the disk is full",
            errno.EDQUOT: "the disk quota is used up",
            errno.EACCES: "its directory may not be written to",
            errno.EROFS: "the file system is read-only",
            errno.ENOENT: f"the directory {path.parent} does not exist",
            errno.ENOTDIR: f"{path.parent} is not a directory",
        }.get(error.errno or 0, error.strerror or str(error))
        raise OutputError(f"{path} cannot be written: {reason}.") from None
