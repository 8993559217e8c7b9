"""Files in every format, as bytes; a slow pipe; and the rows that were read from them."""

from __future__ import annotations

import io
import os
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from novikoff.data import Dataset


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def npz(**arrays: object) -> bytes:
    return archive(**{f"{name}.npy": npy(array) for name, array in arrays.items()})


def archive(**files: bytes) -> bytes:
    """A zip archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return stream.getvalue()


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def arrow(**columns: object) -> bytes:
    """An Arrow file of one table."""
    stream, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


class Dripping(io.BytesIO):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, text: bytes, size: int) -> None:
        super().__init__(text)
        self._size = size

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self._size)


def dense(data: Dataset) -> npt.NDArray[np.floating]:
    """The features of a file, which must be a contiguous array."""
    assert isinstance(data.X, np.ndarray)
    assert data.X.flags.c_contiguous
    assert data.X.flags.aligned
    return data.X


def sparse(data: Dataset) -> list[list[float]]:
    """The features of a file, which must be a CSR array."""
    X: Any = data.X
    assert not isinstance(X, np.ndarray)
    assert X.indices.dtype == np.int32
    rows: list[list[float]] = X.toarray().tolist()
    return rows


def open_files(folder: Path) -> list[str]:
    """The files in a folder that this process holds open."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # it was that of the listing itself
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [path for path in found if path.startswith(str(folder))]
