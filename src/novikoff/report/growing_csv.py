"""A CSV file that grows with a run, and goes on with it exactly."""

from __future__ import annotations

import csv
import io
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from novikoff.report.files import OutputError, check_writable, readable_errors

_CHUNK_BYTES = 1 << 20


class GrowingCsv:
    """A CSV file to which rows are added, so that no crash loses any or writes it twice.

    ``state`` is kept with the model that the run saves. A run that goes on from there cuts off what
    was written later and writes it again. A file that is gone begins anew.

    Parameters
    ----------
    path, heading : Path and sequence of str
        Where it is, and its first line.
    saved : object
        What `state` gave; None for a new file.
    force : bool
        Whether a file that is there is replaced by a new one.
    again : bool
        Whether a file with the same heading is replaced too: a run that ended before its first
        save has left it.
    """

    def __init__(
        self,
        path: Path,
        heading: Sequence[str],
        saved: object = None,
        *,
        force: bool = False,
        again: bool = False,
    ) -> None:
        check_writable(path, force=True)
        self.path, self._size, self._checksum = path, 0, 0
        self._file: BinaryIO
        with readable_errors(path):
            there = path.exists()
            if there and saved is not None:
                self._go_on(saved)
                return
            if there and not force:
                head = _csv([heading])
                with open(path, "rb") as file:
                    replaced = again and file.read(len(head)) == head
                if not replaced:
                    raise OutputError(f"{path} already exists; --force replaces it.")
            self._file = open(path, "wb")  # noqa: SIM115 — open as long as the run
        self.append([heading])

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Add rows; None is an empty field."""
        text = _csv(rows)
        with readable_errors(self.path):
            self._file.write(text)
            self._file.flush()
        self._size, self._checksum = self._size + len(text), zlib.crc32(text, self._checksum)

    def state(self) -> list[int]:
        """Size and checksum, once all rows are on the disk."""
        with readable_errors(self.path):
            os.fsync(self._file.fileno())
        return [self._size, self._checksum]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _go_on(self, saved: object) -> None:
        """Cut off what is behind the saved size, if all before it is as it was."""
        self._file = open(self.path, "r+b")  # noqa: SIM115 — open as long as the run
        wanted = -1
        if isinstance(saved, list) and len(saved) == 2 and type(saved[0]) is int:
            wanted = saved[0]
        while chunk := self._file.read(max(0, min(_CHUNK_BYTES, wanted - self._size))):
            self._size, self._checksum = self._size + len(chunk), zlib.crc32(chunk, self._checksum)
        if [self._size, self._checksum] != saved:
            self._file.close()
            raise OutputError(
                f"{self.path} is not as it was when the model was saved: give the file of this "
                "stream, a new name, or begin anew with --force."
            )
        self._file.truncate(wanted)


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
