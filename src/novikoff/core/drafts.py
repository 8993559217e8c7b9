"""A large file in the making: written under a hidden name, and given its own when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than files may be",
    errno.EACCES: "its directory may not be written to",
    errno.EROFS: "the file system is read-only",
}


class OutputError(OSError):
    """An output file cannot be written; the message is a sentence."""


def check_writable(path: Path, *, force: bool) -> None:
    """Raise OutputError if the file is there and must not be replaced, or has no place.

    Nothing but a regular file is ever replaced; a link stays, and the file behind it is.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a directory, not a file that could be written.")
    if not force and os.path.lexists(path):
        raise OutputError(f"{path} already exists; --force replaces it.")
    with saying(path):
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is not a regular file, and is not replaced by one.")
        folder = _behind(path).parent
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, "")
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "")


@contextlib.contextmanager
def saying(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file into sentences."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, (error.strerror or str(error)).lower())
        if error.errno == errno.ENOENT:
            reason = f"the directory {path.parent} does not exist"
        if error.errno == errno.ENOTDIR:
            reason = f"{path.parent} is not a directory"
        raise OutputError(f"{path} cannot be written: {reason}.") from None


def _behind(path: Path) -> Path:
    """The file itself, where the path is a link to it."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


class Draft:
    """A file that is whole or not there, however long it takes to write.

    Leaving the context before `seal` removes what was written.

    Parameters
    ----------
    path : path
        The name that the file gets.
    force : bool
        Whether a file that is there by then is replaced.

    Attributes
    ----------
    file : binary file
        Where to write and, if need be, read again.
    hidden : Path
        Its name until then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Draft(Path(folder) / "rows") as draft:
    ...         _ = draft.file.write(b"whole")
    ...         before = (Path(folder) / "rows").exists()
    ...         draft.seal()
    ...     before, (Path(folder) / "rows").read_bytes()
    (False, b'whole')
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        self.path = Path(path)
        self.force = force
        check_writable(self.path, force=force)
        self._target = _behind(self.path)
        self.hidden = self._target.with_name(f".{secrets.token_hex(6)}.part")
        with self.saying():
            self.file: BinaryIO = open(self.hidden, "x+b")  # noqa: SIM115 — closed at the end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def sync(self) -> None:
        """Put all that was written on the disk, with the permissions of a file to be replaced."""
        with self.saying():
            if not self.file.closed:
                self.file.flush()
                with contextlib.suppress(OSError, AttributeError):
                    os.fchmod(self.file.fileno(), stat.S_IMODE(self._target.stat().st_mode))
                os.fsync(self.file.fileno())
                self.file.close()

    def seal(self) -> None:
        """Sync the file and give it its name.

        Raises
        ------
        OutputError
            If that cannot be done, or there is a file that must not be replaced.
        """
        self.sync()
        with self.saying():
            self._give_name()

    def discard(self) -> None:
        """Remove what is not sealed."""
        with contextlib.suppress(OSError):  # what a full disk would not take is not wanted
            self.file.close()
        self.hidden.unlink(missing_ok=True)

    def saying(self) -> contextlib.AbstractContextManager[None]:
        """Turn the system's errors about the file into sentences."""
        return saying(self.path)

    def _give_name(self) -> None:
        if self.force:
            os.replace(self.hidden, self._target)
        else:  # a link is made only where there is no file, even now
            try:
                os.link(self.hidden, self._target)
            except FileExistsError:
                check_writable(self.path, force=False)
            except OSError:  # a file system without links
                os.replace(self.hidden, self._target)
        with contextlib.suppress(OSError):  # the name itself is synced where the system can
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
