"""Data larger than memory: a folder of ``.npy`` files, which any NumPy can map into memory.

It holds ``X.npy`` (or ``data.npy``, ``indices.npy`` and ``indptr.npy``, the arrays of a CSR
matrix), ``codes.npy`` and ``classes.npy`` (the labels are ``classes[codes]``), ``rows.npy`` if rows
were left out, and ``manifest.json``: the source with its size and times, the options, and the
recipe.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.dataset import Dataset, csr
from novikoff.data.messages import readable_errors
from novikoff.data.options import ReadOptions, parse_size
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, shown
from novikoff.errors import DataError

Array = npt.NDArray[np.generic]

# The memory that the program takes up, and that of data per byte of its file: as text, or packed.
_PROGRAM_BYTES, _PER_TEXT_BYTE, _PER_PACKED_BYTE = 400_000_000, 4, 20
_VERSION: Final = 2
_MAPPED: Final = "c"  # writable in memory, so that kernels need no second version; never on disk


class ArrayFolder:
    """A folder for the arrays of some data: kept in a cache, or removed with the process."""

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
        """Whether it goes with the process."""
        return self._final is None

    def load(self) -> Dataset | None:
        """The dataset, if it is there already."""
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
            return None  # it is not there, or not all of it: read anew
        rows = found.get("rows", np.arange(1, n_rows + 1))
        labels = found.get("codes"), found.get("classes")
        return Dataset(X, *labels, recipe, rows=rows, on_disk=True, **manifest)

    def begin(self) -> None:
        """Make the folder, without files."""
        with readable_errors(str(self.path)):
            self.remove()
            self.path.mkdir(parents=True)

    def keep(self, data: Dataset) -> None:
        """Write what goes with the arrays; if the folder is kept, it gets its name now."""
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
            os.replace(self.path, self._final)  # the mapped files stay what they are

    def remove(self) -> None:
        """Remove the folder, unless it has got its name."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _find_key(self) -> str:
        """All that the arrays depend on: files with size and times, and how they are read."""
        return json.dumps({**self._asked, "files": _files(self._source)}, sort_keys=True)


class GrowingArray:
    """An array that parts are added to, in memory or in an ``.npy`` file."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._length = path, 0
        self._array: Array  # the rows so far, and room for more; on disk only their form

    def append(self, part: Array) -> None:
        """Add rows; the part belongs to the array from now on."""
        begin, self._length = self._length, self._length + len(part)
        if self._path is not None:
            with self._path.open("ab") as file:
                if not file.tell():
                    _write_header(file, part, 0)
                file.write(np.ascontiguousarray(part).data)
            self._array = part[:0]
        elif not begin:
            self._array = part  # often all there is
        else:
            if self._length > len(self._array):
                self._resize(self._length + self._length // 8)
            self._array[begin : self._length] = part

    @property
    def n_bytes(self) -> int:
        """The memory that the rows so far take up."""
        on_disk = self._path is not None or not self._length
        return 0 if on_disk else self._array[: self._length].nbytes

    def move(self, path: Path) -> None:
        """Go on in a file, with the rows so far."""
        if self._length:
            part, self._path, self._length = self._array[: self._length], path, 0
            self.append(part)
        self._path = path

    def finish(self) -> Array:
        """The whole array."""
        if self._path is not None:
            with self._path.open("r+b") as file:
                _write_header(file, self._array, self._length)
            return cast(Array, np.load(self._path, mmap_mode=_MAPPED))
        if self._length < len(self._array):
            self._resize(self._length)
        return self._array

    def _resize(self, length: int) -> None:
        """Make room in place: the system moves pages, and nothing is copied."""
        if not self._array.flags.owndata:
            self._array = self._array.copy()
        self._array.resize((length, *self._array.shape[1:]), refcheck=False)


def load_matrix(folder: Path, n_rows: int, width: int) -> Any:
    """X as it lies in a folder."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy", mmap_mode=_MAPPED)
    names = ("data", "indices", "indptr")
    return csr([np.load(folder / f"{n}.npy", mmap_mode=_MAPPED) for n in names], n_rows, width)


def fits(path: PathOrFile, max_memory: int | str | None) -> bool:
    """Whether data fits into memory, as far as one can say."""
    if max_memory is None:
        return True
    needed = 0
    for file, size, *_ in _files(path):
        packed = file.lower().endswith((".gz", ".parquet", ".pq", ".npz"))
        needed += size * (_PER_PACKED_BYTE if packed else _PER_TEXT_BYTE)
    return 0 < needed <= room_for_data(max_memory)


def room_for_data(max_memory: int | str | None) -> int:
    """The memory that the program leaves for data; 0 if there is none, or no limit is given."""
    return 0 if max_memory is None else max(0, parse_size(max_memory) - _PROGRAM_BYTES)


def parquet_files(path: PathOrFile) -> list[str]:
    """The Parquet files of a folder; none if the path is no folder."""
    if not isinstance(path, str | os.PathLike) or not os.path.isdir(path):
        return []
    files = sorted(str(f) for f in Path(path).iterdir() if f.suffix in (".parquet", ".pq"))
    if not files:
        raise DataError(f"{shown(os.fspath(path))} is a directory, without Parquet files in it.")
    return files


def _files(path: PathOrFile) -> list[tuple[str, int, int, int]]:
    """The plain files of some data, with size and times.

    The time of modification can be set to any value, and tools that copy files do so. The time of
    the last change of status cannot.
    """
    if not isinstance(path, str | os.PathLike):
        return []
    try:
        names = parquet_files(path) or [os.path.abspath(os.fspath(path))]
        found = [(name, os.stat(name)) for name in names if os.path.isfile(name)]
    except (OSError, ValueError):  # the reader says what is wrong
        return []
    return [(name, at.st_size, at.st_mtime_ns, at.st_ctime_ns) for name, at in found]


def _write_header(file: BinaryIO, like: Array, length: int) -> None:
    """Write what comes before an array in an npy file; NumPy leaves room for a greater length."""
    shape = (length, *like.shape[1:])
    header = {"descr": like.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
