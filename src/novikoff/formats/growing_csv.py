"""A CSV file that grows with a stream and loses no row in a crash."""

from __future__ import annotations

import csv
import io
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from novikoff.errors import ChangedError, OutputExistsError
from novikoff.formats.files import check_writable, output_errors

_CHUNK_BYTES = 1 << 20


class GrowingCsv:
    """A CSV file to which rows are appended; a crash neither loses nor repeats rows.

    The model that a stream saves contains the `state` of the file: its size and checksum. When the
    stream is resumed, everything after this size is cut off, because the rows after the saved model
    are learned again.

    Parameters
    ----------
    path : Path
        The file.
    heading : sequence of str
        The names of the columns.
    saved : object
        The `state` to resume from, as it was read from a model file; None for a new stream. A
        missing file is started afresh from the current position. A file whose contents changed is
        rejected.
    force : bool
        Whether a new stream may replace an existing file.
    again : bool
        Whether a new stream may replace an existing file that begins with the same heading. A
        stream that ended before its first save has left such a file.
    """

    def __init__(
        self, path: Path, heading: Sequence[str], saved: object, *, force: bool, again: bool
    ) -> None:
        check_writable(path, force=True)
        self.path, self._size, self._checksum = path, 0, 0
        with output_errors(path):
            if path.exists() and saved is not None:
                self._file = open(path, "r+b")  # noqa: SIM115 — open as long as the stream
                self._cut(saved)
                return
            if path.exists() and not force:
                head = _csv_bytes([heading])
                with open(path, "rb") as file:
                    replaced = again and file.read(len(head)) == head
                if not replaced:
                    raise OutputExistsError(path)
            self._file = open(path, "wb+")  # noqa: SIM115 — open as long as the stream
        self.append([heading])

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Append rows; None becomes an empty field."""
        text = _csv_bytes(rows)
        with output_errors(self.path):
            self._file.write(text)
            self._file.flush()
        self._pass_over(text)

    def state(self) -> list[int]:
        """Sync the file to the disk; return its size and its checksum."""
        with output_errors(self.path):
            os.fsync(self._file.fileno())
        return [self._size, self._checksum]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut(self, saved: object) -> None:
        """Cut the file to the saved size; ChangedError if its contents changed before that size."""
        size = saved[0] if isinstance(saved, list) and saved and type(saved[0]) is int else 0
        while chunk := self._file.read(max(0, min(_CHUNK_BYTES, size - self._size))):
            self._pass_over(chunk)
        if [self._size, self._checksum] != saved:
            self._file.close()
            raise ChangedError(
                f"{self.path} has changed since the model was saved: give the file of this stream, "
                "or a new name."
            )
        self._file.truncate(size)

    def _pass_over(self, text: bytes) -> None:
        self._size, self._checksum = self._size + len(text), zlib.crc32(text, self._checksum)


def _csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
