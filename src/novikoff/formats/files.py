"""Output files that are complete or absent.

A file is written under a hidden name, synced to the disk, and then renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import signal
import stat
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, Self, TypeAlias

from novikoff.errors import OutputError, OutputExistsError

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, hidden files are neither locked nor cleaned up
    fcntl = None  # type: ignore[assignment]

Content: TypeAlias = bytes | Iterable[bytes]

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be",
    errno.EACCES: "its directory may not be written to",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "the directory {folder} does not exist",
    errno.ENOTDIR: "{folder} is not a directory",
}

ALL_WRITTEN: Final = "interrupted; all files are written."
_LEFTOVER: Final = re.compile(r"\.novikoff-[0-9a-f]{12}\.part")


def write_file(path: str | os.PathLike[str], content: bytes, *, force: bool = True) -> None:
    """Write a complete file: a crash or a full disk leaves the old file, or no file.

    Raises
    ------
    OutputError
        If the file cannot be written, or if it exists and ``force`` is False.
    """
    write_files({Path(path): content}, force=force)


def write_files(
    contents: Mapping[Path, Content | None], *, force: bool, replaceable: Collection[Path] = ()
) -> None:
    """Write the files of one run. The content None removes the file of an earlier run.

    Existing files are replaced if ``force`` is True or if they are in ``replaceable``; any other
    existing file is an OutputError. A content is either bytes or an iterable of pieces. All
    contents are on the disk before any file gets its final name, so that a full disk changes
    nothing. Then all old files except the first are removed, the first file is replaced, and the
    other files get their names. If the process is killed at any moment, and no other process writes
    the same files at the same time, then

    - every file under a final name is complete;
    - files of two runs never exist together under these names;
    - the first file exists if it existed before.

    A kill while files get their names can leave files other than the first missing. Ctrl-C and
    SIGTERM are delayed until all files have their names.
    """
    given = {path: content for path, content in contents.items() if content is not None}
    with contextlib.ExitStack() as stack:
        may_replace = {path: force or path in replaceable for path in contents}
        for path in contents:
            check_writable(path, force=may_replace[path])
        files = [stack.enter_context(AtomicFile(path, force=may_replace[path])) for path in given]
        for file, content in zip(files, given.values(), strict=True):
            for part in [content] if isinstance(content, bytes) else content:
                file.write(part)
            file.sync()
        with _holding_signals():
            first = next(iter(given), None)
            for path in contents:
                if path != first and may_replace[path]:
                    _remove(path)
            try:
                for file in files:
                    file.commit()
            except BaseException:
                for file in files:
                    file.withdraw()
                raise
            stack.close()


class AtomicFile:
    """A file that is complete or absent, however long it takes to write.

    Leaving the context before `commit` removes the part that was written. An existing file is
    replaced only with ``force``. Nothing is on the disk before the first `write`, which takes place
    inside the context, so that an interrupt never leaves a hidden file behind. A process that is
    killed does leave its hidden file. A hidden file is locked while its process lives, and the next
    file that is written to the same directory removes hidden files that are not locked.

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
        self._hidden = self._target.with_name(f".novikoff-{secrets.token_hex(6)}.part")
        self._file: BinaryIO | None = None
        self._synced = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if self._file is not None:
                with contextlib.suppress(OSError):  # closing writes the rest, which may not fit
                    self._file.close()
        finally:
            self._hidden.unlink(missing_ok=True)

    def write(self, content: bytes) -> None:
        """Add to the file."""
        with output_errors(self.path):
            if self._file is None:
                self._file = self._open()
            self._file.write(content)

    def sync(self) -> None:
        """Write the content to the disk, with the permissions of the file that it replaces."""
        if self._file is None:
            self.write(b"")
        with output_errors(self.path):
            if self._file is not None and not self._synced:
                self._file.flush()
                with contextlib.suppress(OSError, AttributeError):
                    os.fchmod(self._file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
                os.fsync(self._file.fileno())
                self._synced = True
                if fcntl is None:  # Windows cannot rename an open file
                    self._file.close()

    def commit(self) -> None:
        """Sync the file and rename it to its final name.

        OutputError if the file exists and ``force`` is False. Ctrl-C and SIGTERM are delayed until
        the file has its name.
        """
        self.sync()
        with _holding_signals(), output_errors(self.path):
            if self.force:
                os.replace(self._hidden, self._target)
            else:
                self._link()
            _sync_folder(self._target.parent)

    def withdraw(self) -> None:
        """Remove a new file that `commit` has named; a replaced file is not restored."""
        with contextlib.suppress(OSError):
            if os.path.samefile(self._hidden, self._target):  # a link that `commit` has made
                self._target.unlink()

    def _open(self) -> BinaryIO:
        """Create the hidden file and lock it; other processes may remove unlocked ones."""
        if fcntl is not None:
            _remove_leftovers(self._target.parent)
        while True:
            file = open(self._hidden, "xb")  # noqa: SIM115 — closed at the end
            with contextlib.suppress(OSError, AttributeError):  # some file systems have no locks
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            if self._hidden.exists():
                return file
            file.close()  # another process removed the file before it was locked

    def _link(self) -> None:
        """Name the file by a hard link, which fails if a file of this name exists by then."""
        while True:
            try:
                os.link(self._hidden, self._target)
            except FileExistsError:
                check_writable(self.path, force=False)  # raises unless the file was removed since
            except OSError:  # the file system has no hard links
                os.replace(self._hidden, self._target)
                return
            else:
                return


def check_writable(path: Path, *, force: bool) -> None:
    """Raise OutputError if a file of this name cannot be written, or exists and must be kept.

    Only regular files are replaced. A symbolic link stays, and the file that it points to is
    replaced.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a directory, not a file that could be written.")
    if not force and os.path.lexists(path):
        raise OutputExistsError(path)
    with output_errors(path):
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is not a regular file, and is not replaced by one.")
        folder = _behind_link(path).parent
        if not folder.is_dir():
            raise OSError(errno.ENOTDIR if folder.exists() else errno.ENOENT, "")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


def check_apart(outputs: Iterable[Path], inputs: Iterable[str]) -> None:
    """Raise OutputError if two outputs are the same file, or if an output is also an input."""
    read = {os.path.realpath(path) for path in inputs if path != "-"}
    written = set[str]()
    for path in outputs:
        place = os.path.realpath(path)
        if place in read:
            raise OutputError(f"{path} is an input file, and is not replaced by an output.")
        if place in written:
            raise OutputError(f"{path} is the name of two outputs: give one of them another name.")
        written.add(place)


def check_folder(folder: Path) -> None:
    """Raise OutputError if a directory cannot be written to, or cannot be created."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError(f"{folder} is not a directory: nothing can be written there.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} is a directory that may not be written to.")


@contextlib.contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn an OSError about a file into an OutputError whose message says what is wrong."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, (error.strerror or str(error)).lower())
        reason = reason.format(folder=path.parent)
        raise OutputError(f"{path} cannot be written: {reason}.") from None


def _behind_link(path: Path) -> Path:
    """The file that a symbolic link points to; the path itself if it is not a link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _remove(path: Path) -> None:
    """Remove a file of an earlier run, so that it never exists together with files of the next."""
    target = _behind_link(path)
    with output_errors(path):
        if target.exists():
            target.unlink()
            _sync_folder(target.parent)


def _remove_leftovers(folder: Path) -> None:
    """Remove the hidden files of killed processes, which no process has locked."""
    try:
        leftovers = [part for part in folder.iterdir() if _LEFTOVER.fullmatch(part.name)]
    except OSError:  # the directory is writable but cannot be listed
        return
    for part in leftovers:
        with contextlib.suppress(OSError):  # locked, already removed, or owned by a different user
            if not part.is_file():
                continue
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Sync the names in a directory to the disk, if the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _holding_signals() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the context, then raise them.

    Python handles signals only in the main thread. In other threads, the context does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    done = False
    numbers = (signal.SIGINT, signal.SIGTERM)
    # The handler is None if it was not set by Python; such a handler cannot be restored.
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) is not None}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: held.append(number))
        yield
        done = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for waiting in held:
            try:
                signal.raise_signal(waiting)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(ALL_WRITTEN if done else "") from None
