"""A large file in the making: written under a hidden name, and given its own when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
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
        self.hidden = self.path.with_name(f".{secrets.token_hex(6)}.part")
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

    def seal(self) -> None:
        """Sync the file and give it its name.

        Raises
        ------
        OSError
            If that cannot be done, or there is a file that must not be replaced; the message
            is a sentence.
        """
        with self.saying():
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            self._give_name()

    def discard(self) -> None:
        """Remove what is not sealed."""
        with contextlib.suppress(OSError):  # what a full disk would not take is not wanted
            self.file.close()
        self.hidden.unlink(missing_ok=True)

    @contextlib.contextmanager
    def saying(self) -> Iterator[None]:
        """Turn the system's errors about the file into sentences."""
        try:
            yield
        except OSError as error:
            if error.errno is None:  # a sentence already
                raise
            reason = _REASONS.get(error.errno, (error.strerror or str(error)).lower())
            if error.errno == errno.ENOENT:
                reason = f"the directory {self.path.parent} does not exist"
            raise OSError(f"{self.path} cannot be written: {reason}.") from None

    def _give_name(self) -> None:
        if self.force:
            os.replace(self.hidden, self.path)
        else:  # a link is made only where there is no file, even now
            try:
                os.link(self.hidden, self.path)
            except FileExistsError:
                raise OSError(f"{self.path} already exists; --force replaces it.") from None
            except OSError:  # a file system without links
                os.replace(self.hidden, self.path)
        with contextlib.suppress(OSError):  # the name itself is synced where the system can
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
