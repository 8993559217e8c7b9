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
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np

from novikoff.data.messages import printable_name, readable_errors
from novikoff.data.options import ReadOptions, parse_size
from novikoff.data.reader import AnyArray, csr
from novikoff.data.reading import Dataset, JoinedArrays
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, parquet_files
from novikoff.errors import DataError

# The program needs this much memory without data.
_PROGRAM_BYTES: Final = 400_000_000
# The data in memory takes this many bytes for each byte of a text file, and of a packed file.
_PER_TEXT_BYTE, _PER_PACKED_BYTE = 4, 20
_ON_DISK: Final = ("X", "data", "indices")  # these arrays of X grow in the folder
_VERSION: Final = 1
# A whole command needs as much memory as this many copies of the arrays that are read.
_COPIES: Final = 4
# The arrays can be changed in memory, but never on disk. Because they are writable, compiled loops
# need no second signature for read-only arrays.
_MAP_MODE: Final = "c"


class ArrayFolder:
    """A folder with the arrays of a dataset: kept in a cache, or removed when the process ends.

    Parameters
    ----------
    cache : path or None
        The folder of the cache; None for a temporary folder.
    path, options, recipe, labelled
        The arguments of `read`. A folder of the cache is used again only if these arguments, and
        the sizes and times of the files, are unchanged.
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
            "options": options.to_json(),
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
        """Return the dataset from the cache; None if the cache does not have it."""
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
            arrays = {name: np.load(path) for name, path in paths.items() if path.exists()}
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            return None  # the folder is missing or incomplete: the files are read again
        rows = arrays.get("rows", np.arange(1, n_rows + 1))
        labels = arrays.get("codes"), arrays.get("classes")
        return Dataset(X, *labels, recipe, rows=rows, on_disk=True, **manifest)

    def begin(self) -> None:
        """Make the folder, without files."""
        with readable_errors(str(self.path)):
            self.remove()
            self.path.mkdir(parents=True)

    def finish_sparse(self, indptr: AnyArray, first_column: int, width: int) -> Any:
        """Subtract ``first_column`` from the indices on disk, and return the CSR array."""
        np.save(self.path / "indptr.npy", indptr)
        indices = np.load(self.path / "indices.npy", mmap_mode="r+")
        indices -= np.int32(first_column)
        return load_matrix(self.path, len(indptr) - 1, width)

    def keep(self, data: Dataset) -> None:
        """Write the labels and the manifest; a folder of the cache then gets its final name."""
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
        """Return as JSON what the arrays depend on: the options, and the files' sizes and times."""
        return json.dumps({**self._asked, "files": _files_with_times(self._source)}, sort_keys=True)


class FolderArrays(JoinedArrays):
    """Arrays by name that grow by appending parts; the arrays of X may grow in a folder on disk.

    The arrays of X grow on disk from the beginning if there is a cache, or if the sizes of the
    files suggest that the data may not fit into memory. Otherwise they move to a folder when they
    become too large, because the size of a packed file does not say how large its arrays are.
    Labels and row numbers are always in memory.

    Parameters
    ----------
    path, options, recipe, labelled, max_memory, cache
        The arguments of `read`.
    """

    def __init__(
        self,
        path: PathOrFile,
        options: ReadOptions,
        recipe: Recipe | None,
        labelled: bool,
        max_memory: int | str | None,
        cache: str | os.PathLike[str] | None,
    ) -> None:
        super().__init__()
        self._make_folder = partial(ArrayFolder, cache, path, options, recipe, labelled)
        self._parts = dict[str, AnyArray]()  # for each array on disk, an array without rows
        self._limit = math.inf
        all_rows = options.needs_all_rows(recipe)
        if cache is None and fits(path, max_memory):
            if not all_rows:
                self._limit = _room_for_data(max_memory) / _COPIES
            return
        if all_rows:
            say = options.say
            option = say("one_hot") if options.one_hot else say("missing", "mean")
            raise DataError(
                f"{printable_name(path)}: {option} needs all rows in memory at once: do without "
                f"{say('max_memory')} and {say('cache')}, or prepare the columns with another tool."
            )
        self.folder = self._make_folder()

    def append(self, **parts: AnyArray) -> None:
        """Append each part to the array of its name; the caller must not change it afterwards."""
        if self.folder is not None and not self.lengths:
            self.folder.begin()
        for name, part in parts.items():
            if self.folder is not None and name in _ON_DISK:
                self._write(self.folder, name, part)
            else:
                super().append(**{name: part})
        if self.folder is not None or self._limit == math.inf:
            return
        size = sum(array[: self.lengths[name]].nbytes for name, array in self._arrays.items())
        if size > self._limit:
            self.folder = self._make_folder()
            self.folder.begin()
            for name in set(_ON_DISK) & set(self._arrays):
                self._write(self.folder, name, self._arrays.pop(name)[: self.lengths.pop(name)])

    def finish(self) -> dict[str, AnyArray]:
        """Return the whole arrays; those on disk are mapped into memory."""
        arrays = super().finish()
        for name, part in self._parts.items():
            path = cast(ArrayFolder, self.folder).path / f"{name}.npy"
            with path.open("r+b") as file:
                _write_header(file, part, self.lengths[name])
            arrays[name] = np.load(path, mmap_mode=_MAP_MODE)
        return arrays

    def _write(self, folder: ArrayFolder, name: str, part: AnyArray) -> None:
        """Append rows to the file of an array."""
        self.lengths[name] = self.lengths.get(name, 0) + len(part)
        self._parts[name] = part[:0]
        with (folder.path / f"{name}.npy").open("ab") as file:
            if not file.tell():
                _write_header(file, part, 0)
            file.write(np.ascontiguousarray(part).data)


def load_matrix(folder: Path, n_rows: int, width: int) -> Any:
    """Return X of a folder, mapped into memory."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy", mmap_mode=_MAP_MODE)
    names = ("data", "indices", "indptr")
    return csr([np.load(folder / f"{n}.npy", mmap_mode=_MAP_MODE) for n in names], n_rows, width)


def fits(path: PathOrFile, max_memory: int | str | None) -> bool:
    """Return whether data probably fits into memory, judging by the sizes of its files."""
    if max_memory is None:
        return True
    needed = 0
    for file, size, *_ in _files_with_times(path):
        packed = file.lower().endswith((".gz", ".parquet", ".pq", ".npz"))
        needed += size * (_PER_PACKED_BYTE if packed else _PER_TEXT_BYTE)
    return 0 < needed <= _room_for_data(max_memory)


def _room_for_data(max_memory: int | str | None) -> int:
    """Return the memory for data: the limit minus the memory of the program, but at least 0."""
    return 0 if max_memory is None else max(0, parse_size(max_memory) - _PROGRAM_BYTES)


def _files_with_times(path: PathOrFile) -> list[tuple[str, int, int, int]]:
    """Return the files of a path with their size, time of modification and time of change.

    Tools that copy files set the time of modification. The time of change cannot be set.
    """
    if not isinstance(path, str | os.PathLike):
        return []
    try:
        names = parquet_files(path) or [os.path.abspath(os.fspath(path))]
        files = [(name, os.stat(name)) for name in names if os.path.isfile(name)]
    except (OSError, ValueError):  # the reader reports the error
        return []
    return [(name, at.st_size, at.st_mtime_ns, at.st_ctime_ns) for name, at in files]


def _write_header(file: BinaryIO, like: AnyArray, length: int) -> None:
    """Write the header of an npy file; NumPy pads it, so that a larger length still fits later."""
    shape = (length, *like.shape[1:])
    header = {"descr": like.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
