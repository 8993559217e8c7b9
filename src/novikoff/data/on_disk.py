"""Data larger than memory: a folder of ``.npy`` files, which NumPy can map into memory.

The folder contains ``X.npy`` (or ``data.npy``, ``indices.npy`` and ``indptr.npy``, the arrays of a
CSR matrix), ``codes.npy`` and ``classes.npy`` (the labels are ``classes[codes]``), ``rows.npy`` if
rows were left out, and ``manifest.json``: the source with its size and times, the options, and the
recipe.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.dataset import Dataset, csr
from novikoff.data.messages import printable_name, readable_errors
from novikoff.data.options import ReadOptions, parse_size
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile
from novikoff.errors import DataError

AnyArray: TypeAlias = npt.NDArray[np.generic]

_PROGRAM_BYTES: Final = 400_000_000  # the memory of the program without data
# The memory of data for each byte of a text file, and of a packed file.
_PER_TEXT_BYTE, _PER_PACKED_BYTE = 4, 20
_ON_DISK: Final = ("X", "data", "indices")  # the arrays of X that grow in a folder
_VERSION: Final = 2
# Pages may be changed in memory, never on disk: loops are then compiled for writable arrays only.
_MAP_MODE: Final = "c"


class ArrayFolder:
    """The folder of the arrays of a dataset: kept in a cache, or removed when the process ends.

    Parameters
    ----------
    cache : path or None
        The folder of the cache; None for a temporary folder.
    path, options, recipe, labelled
        The arguments of `read`. A folder of the cache is used again only if they are the same, and
        size and times of the files are.
    """

    def __init__(
        self,
        cache: str | os.PathLike[str] | None,
        path: PathOrFile,
        options: ReadOptions,
        recipe: Recipe | None,
        labelled: bool,
    ) -> None:
        self._source, self._final = path, None
        self._asked = {
            "version": _VERSION,
            "source": os.path.abspath(path) if isinstance(path, str | os.PathLike) else "data",
            "options": asdict(options),
            "recipe": None if recipe is None else recipe.to_json(),
            "labelled": labelled,
        }
        self._key = self._find_key()
        if cache is None:
            self.path = Path(tempfile.mkdtemp(prefix="novikoff-"))
        else:
            stem = Path(str(self._asked["source"])).stem or "data"
            self._final = Path(cache) / f"{stem}-{zlib.crc32(self._key.encode()):08x}"
            self.path = Path(f"{self._final}.{os.getpid()}")
        atexit.register(self.remove)

    @property
    def temporary(self) -> bool:
        """Whether the folder is removed when the process ends."""
        return self._final is None

    def load(self) -> Dataset | None:
        """Return the dataset of the cache; None if the cache does not have it."""
        if self._final is None:
            return None
        try:
            manifest = json.loads((self._final / "manifest.json").read_text(encoding="utf-8"))
            if manifest.pop("key") != self._key:
                return None
            recipe, n_rows = Recipe.from_json(manifest.pop("recipe")), manifest.pop("n_rows")
            X = load_matrix(self._final, n_rows, recipe.n_features)
            names = ("codes", "classes", "rows")
            paths = {name: self._final / f"{name}.npy" for name in names}
            found = {name: np.load(path) for name, path in paths.items() if path.exists()}
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            return None  # the folder is missing or incomplete: the files are read again
        rows = found.get("rows", np.arange(1, n_rows + 1))
        labels = found.get("codes"), found.get("classes")
        return Dataset(X, *labels, recipe, rows=rows, on_disk=True, **manifest)

    def begin(self) -> None:
        """Make the folder; it has no files then."""
        with readable_errors(str(self.path)):
            self.remove()
            self.path.mkdir(parents=True)

    def keep(self, data: Dataset) -> None:
        """Write labels and manifest; a folder of the cache gets its final name."""
        if self._find_key() != self._key:
            raise DataError(f"{data.source} has changed while it was read.")
        if self._final is None:
            return
        if data.codes is not None and data.classes is not None:
            np.save(self.path / "codes.npy", data.codes)
            np.save(self.path / "classes.npy", data.classes)
        if data.n_read != data.n_rows:
            np.save(self.path / "rows.npy", data.rows)
        names = ("n_rows", "source", "label", "notes", "ids", "n_read")
        manifest = {"key": self._key, "recipe": data.recipe.to_json()}
        manifest |= {name: getattr(data, name) for name in names}
        text = json.dumps(manifest, ensure_ascii=False)
        (self.path / "manifest.json").write_text(text, encoding="utf-8")
        with readable_errors(str(self._final)):
            shutil.rmtree(self._final, ignore_errors=True)
            os.replace(self.path, self._final)  # files that are mapped stay mapped

    def remove(self) -> None:
        """Remove the folder, unless it has its final name."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _find_key(self) -> str:
        """Return all that the arrays depend on: options, and files with size and times, as JSON."""
        return json.dumps({**self._asked, "files": _files_with_times(self._source)}, sort_keys=True)


class GrowingArray:
    """An array that grows by appending rows, in memory or in an ``.npy`` file."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._length = path, 0
        # The rows so far and space for more; if they are on disk, an array without rows.
        self._array: AnyArray

    def append(self, part: AnyArray) -> None:
        """Append rows; the caller must not change the part afterwards."""
        begin, self._length = self._length, self._length + len(part)
        if self._path is not None:
            with self._path.open("ab") as file:
                if not file.tell():
                    _write_header(file, part, 0)
                file.write(np.ascontiguousarray(part).data)
            self._array = part[:0]
        elif not begin:
            self._array = part  # often the only part
        else:
            if self._length > len(self._array):
                self._resize(self._length + self._length // 8)
            self._array[begin : self._length] = part

    @property
    def n_bytes(self) -> int:
        """The memory of the rows so far."""
        on_disk = self._path is not None or not self._length
        return 0 if on_disk else self._array[: self._length].nbytes

    def move(self, path: Path) -> None:
        """Move the rows so far to a file, to which later rows are appended."""
        if self._length:
            part, self._path, self._length = self._array[: self._length], path, 0
            self.append(part)
        self._path = path

    def finish(self) -> AnyArray:
        """Return the whole array."""
        if self._path is not None:
            with self._path.open("r+b") as file:
                _write_header(file, self._array, self._length)
            return cast(AnyArray, np.load(self._path, mmap_mode=_MAP_MODE))
        if self._length < len(self._array):
            self._resize(self._length)
        return self._array

    def _resize(self, length: int) -> None:
        """Change the length in place: the system moves pages instead of copying them."""
        if not self._array.flags.owndata:
            self._array = self._array.copy()
        self._array.resize((length, *self._array.shape[1:]), refcheck=False)


class GrowingArrays:
    """Arrays by name that grow by appending parts.

    Parameters
    ----------
    folder : ArrayFolder, optional
        The folder in which X grows; by default it grows in memory. Labels and row numbers are
        always in memory.
    limit : float
        If the arrays in memory need more bytes, X moves to the folder that ``make_folder`` returns.
    make_folder : callable, optional
        Returns a new folder.
    """

    def __init__(
        self,
        folder: ArrayFolder | None = None,
        limit: float = math.inf,
        make_folder: Callable[[], ArrayFolder] | None = None,
    ) -> None:
        self.folder, self._limit, self._make_folder = folder, limit, make_folder
        self._arrays: dict[str, GrowingArray] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def append(self, **parts: AnyArray) -> None:
        """Append a part to each of some arrays."""
        if self.folder is not None and not self._arrays:
            self.folder.begin()
        for name, part in parts.items():
            if name not in self._arrays:
                self._arrays[name] = GrowingArray(self._path(name))
            self._arrays[name].append(part)
        size = sum(array.n_bytes for array in self._arrays.values())
        if self.folder is None and self._make_folder is not None and size > self._limit:
            self.folder = self._make_folder()
            self.folder.begin()
            for name, array in self._arrays.items():
                path = self._path(name)
                if path is not None:
                    array.move(path)

    def finish(self) -> dict[str, AnyArray]:
        """Return the whole arrays."""
        found = {name: array.finish() for name, array in self._arrays.items()}
        self._arrays.clear()
        return found

    def _path(self, name: str) -> Path | None:
        on_disk = self.folder is not None and name in _ON_DISK
        return self.folder.path / f"{name}.npy" if self.folder and on_disk else None


def load_matrix(folder: Path, n_rows: int, width: int) -> Any:
    """Return X of a folder, mapped into memory."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy", mmap_mode=_MAP_MODE)
    names = ("data", "indices", "indptr")
    return csr([np.load(folder / f"{n}.npy", mmap_mode=_MAP_MODE) for n in names], n_rows, width)


def fits(path: PathOrFile, max_memory: int | str | None) -> bool:
    """Return whether data probably fits into memory, by the size of its files."""
    if max_memory is None:
        return True
    needed = 0
    for file, size, *_ in _files_with_times(path):
        packed = file.lower().endswith((".gz", ".parquet", ".pq", ".npz"))
        needed += size * (_PER_PACKED_BYTE if packed else _PER_TEXT_BYTE)
    return 0 < needed <= room_for_data(max_memory)


def room_for_data(max_memory: int | str | None) -> int:
    """Return the memory for data: the limit without the memory of the program, or 0."""
    return 0 if max_memory is None else max(0, parse_size(max_memory) - _PROGRAM_BYTES)


def parquet_files(path: PathOrFile) -> list[str]:
    """Return the Parquet files of a folder; an empty list if the path is not a folder."""
    if not isinstance(path, str | os.PathLike) or not os.path.isdir(path):
        return []
    files = sorted(str(f) for f in Path(path).iterdir() if f.suffix in (".parquet", ".pq"))
    if not files:
        name = printable_name(os.fspath(path))
        raise DataError(f"{name} is a directory without Parquet files.")
    return files


def _files_with_times(path: PathOrFile) -> list[tuple[str, int, int, int]]:
    """Return the files of a path with their size, time of modification and time of change.

    Tools that copy files set the time of modification. The time of change cannot be set.
    """
    if not isinstance(path, str | os.PathLike):
        return []
    try:
        names = parquet_files(path) or [os.path.abspath(os.fspath(path))]
        found = [(name, os.stat(name)) for name in names if os.path.isfile(name)]
    except (OSError, ValueError):  # the reader reports the error
        return []
    return [(name, at.st_size, at.st_mtime_ns, at.st_ctime_ns) for name, at in found]


def _write_header(file: BinaryIO, like: AnyArray, length: int) -> None:
    """Write the header of an npy file; NumPy pads it, so that a greater length fits later."""
    shape = (length, *like.shape[1:])
    header = {"descr": like.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
