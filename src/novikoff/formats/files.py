"""Output files: whole or not there (a hidden name, synced, then renamed), or lists that grow."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import secrets
import signal
import stat
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Self, TypeAlias

from novikoff.errors import OutputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows: parts are not locked, and leftovers not removed
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

_CHUNK_BYTES = 1 << 20
_WRITTEN: Final = "interrupted; all files are written."
_LEFTOVER: Final = re.compile(r"\.novikoff-[0-9a-f]{12}\.part")
# Of files of data.
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".npy", ".npz",
            ".svm", ".svmlight", ".libsvm", ".jsonl", ".ndjson", ".data", ".dat")  # fmt: skip


def write_file(path: str | os.PathLike[str], content: bytes, *, force: bool = True) -> None:
    """Write a file at once: a crash or a full disk leaves the old file, or none.

    OutputError, if it cannot be written, or is there and ``force`` is False.
    """
    write_files({Path(path): content}, force=force)


def write_files(contents: Mapping[Path, Content | None], *, force: bool) -> None:
    """Write the files of one run, at once or by pieces; None removes a file of an earlier run.

    All contents are on the disk before any file gets its name, so that a full disk changes nothing.
    Then the old files are removed, except the first one, the first one is replaced, and the others
    get their names. What is promised, whenever the process is killed, as long as no other process
    writes the same files at the same time:

    - a file under its name is whole;
    - files of two runs never stand together under these names;
    - the first file is there if it was there before.

    A kill while files get their names can leave some of the others missing. Ctrl-C and SIGTERM wait
    until all of them have their names.
    """
    given = {path: content for path, content in contents.items() if content is not None}
    with contextlib.ExitStack() as stack:
        for path in contents:
            check_writable(path, force=force)
        files = [stack.enter_context(AtomicFile(path, force=force)) for path in given]
        for file, content in zip(files, given.values(), strict=True):
            for part in [content] if isinstance(content, bytes) else content:
                file.write(part)
            file.sync()
        with _holding_signals():
            first = next(iter(given), None)
            for path in contents if force else ():
                if path != first:
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
    """A file that is whole or not there, however long it takes to write.

    Leaving the context before `commit` removes the part that was written. A file that is there
    by then is replaced with ``force`` only. Nothing is on the disk before the first `write`, which
    stands inside the context: an interrupt, whenever it comes, leaves nothing behind. A process
    that is killed leaves a hidden part. It is locked as long as its process lives, and the next
    file that is written to the same directory removes the parts that are not.

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
                with contextlib.suppress(OSError):  # a full disk may refuse the rest
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
        """Put the content on the disk, with the permissions of a file to be replaced."""
        if self._file is None:
            self.write(b"")
        with output_errors(self.path):
            if self._file is not None and not self._synced:
                self._file.flush()
                with contextlib.suppress(OSError, AttributeError):
                    os.fchmod(self._file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
                os.fsync(self._file.fileno())
                self._synced = True
                if fcntl is None:  # Windows renames no file that is open
                    self._file.close()

    def commit(self) -> None:
        """Sync the file and give it its name, unless there is a file not to be replaced.

        Ctrl-C and SIGTERM wait until it has its name.
        """
        self.sync()
        with _holding_signals(), output_errors(self.path):
            if self.force:
                os.replace(self._hidden, self._target)
            else:
                self._link()
            _sync_folder(self._target.parent)

    def withdraw(self) -> None:
        """Take the name of a new file away again; a file that was replaced does not come back."""
        with contextlib.suppress(OSError):
            if os.path.samefile(self._hidden, self._target):  # a link that `commit` has made
                self._target.unlink()

    def _open(self) -> BinaryIO:
        """Make the hidden part, and lock it: whoever finds it unlocked may remove it."""
        if fcntl is not None:
            _remove_leftovers(self._target.parent)
        while True:
            file = open(self._hidden, "xb")  # noqa: SIM115 — closed at the end
            with contextlib.suppress(OSError, AttributeError):  # not every system has locks
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            if self._hidden.exists():
                return file
            file.close()  # another process has found it before it was locked

    def _link(self) -> None:
        """Give the name by a link, which is made only where there is no file, even now."""
        while True:
            try:
                os.link(self._hidden, self._target)
            except FileExistsError:
                check_writable(self.path, force=False)  # raises, unless the file is gone again
            except OSError:  # a file system without links
                os.replace(self._hidden, self._target)
                return
            else:
                return


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
                "stream, a new name, or start afresh with --force."
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


def check_apart(outputs: Iterable[Path], inputs: Iterable[str]) -> None:
    """Raise OutputError if two outputs are one file, or an output is one of the inputs."""
    read = {os.path.realpath(path) for path in inputs if path != "-"}
    written = set[str]()
    for path in outputs:
        place = os.path.realpath(path)
        if place in read:
            raise OutputError(f"{path} is a file to read, and is not replaced by an output.")
        if place in written:
            raise OutputError(f"{path} is the name of two outputs: give one of them another.")
        written.add(place)


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


def _remove(path: Path) -> None:
    """Remove a file of an earlier run, so that it does not stand beside those of the next."""
    target = _behind_link(path)
    with output_errors(path):
        if target.exists():
            target.unlink()
            _sync_folder(target.parent)


def _remove_leftovers(folder: Path) -> None:
    """Remove hidden parts of processes that were killed: those that no process has locked."""
    try:
        found = [part for part in folder.iterdir() if _LEFTOVER.fullmatch(part.name)]
    except OSError:  # a directory that may be written to, but not listed
        return
    for part in found:
        with contextlib.suppress(OSError):  # locked, gone, or not ours to remove
            if not part.is_file():
                continue
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Put the names in a directory on the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _holding_signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait, whichever thread gets them, and raise them at the end.

    Python handles signals in the main thread only; there they are noted instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    done = False
    numbers = (signal.SIGINT, signal.SIGTERM)
    # A handler that was not set in Python is None; it cannot be set again.
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
                raise KeyboardInterrupt(_WRITTEN if done else "") from None


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
