"""Output files that are whole or not there: a temporary name, synced, then renamed."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from novikoff.core.drafts import Draft, OutputError, check_writable, saying

__all__ = [
    "OutputError",
    "check_folder",
    "check_writable",
    "make_folder",
    "write_file",
    "write_files",
]


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
    with contextlib.ExitStack() as drafts:
        made = []
        for path, content in contents.items():
            draft = drafts.enter_context(Draft(path, force=force))
            with saying(path):
                draft.file.write(content)
            draft.sync()
            made.append(draft)
        with _without_interrupts():
            for draft in made:
                draft.seal()


def check_folder(folder: Path) -> None:
    """Raise OutputError if nothing can be made in a directory that is there."""
    if not folder.is_dir():
        raise OutputError(f"{folder} is not a directory: nothing can be written there.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} is a directory that may not be written to.")


def make_folder(folder: Path) -> None:
    """Make a directory and those above it, if need be."""
    with saying(folder):
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
