"""The pieces of a source joined into arrays: in memory, or in ``.npy`` files that are mapped.

A folder on disk holds ``X.npy`` (or ``data.npy``, ``indices.npy`` and ``indptr.npy``, the arrays of
a CSR matrix), ``y.npy``, and ``manifest.json``: the source with its size and time, the options, and
the recipe. Any NumPy can read the arrays.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, readable_errors
from novikoff.data.options import Dataset, Indices, Labels, Piece, ReadOptions
from novikoff.data.recipe import Recipe

Array = npt.NDArray[np.generic]

_VERSION: Final = 1
_MAPPED: Final = "c"  # writable in memory, so that kernels need no second version; never on disk


class GrowingArray:
    """An array that rows are added to, in memory or, in a folder, in an ``.npy`` file.

    Examples
    --------
    >>> array = GrowingArray(None, "X")
    >>> for part in ([1, 2], [3]):
    ...     array.append(np.array(part))
    >>> array.finish()
    array([1, 2, 3])
    """

    def __init__(self, folder: Path | None, name: str) -> None:
        self._path = None if folder is None else folder / f"{name}.npy"
        self._data: Array | None = None
        self._length = 0

    def append(self, part: Array, expected: int = 0) -> None:
        """Add rows; ``expected`` is how many there may be in the end."""
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(_npy_header(part, 0) if self._data is None else b"")
                file.write(np.ascontiguousarray(part).data)
            self._data = part[:0]
        elif self._data is None:
            self._data = part  # if it remains the only one, it is not copied
        else:
            needed = self._length + len(part)
            if needed > len(self._data):  # memory that is not used yet takes up none
                shape = (max(needed, expected, 2 * self._length), *part.shape[1:])
                data = np.empty(shape, part.dtype)
                data[: self._length] = self._data[: self._length]
                self._data = data
            self._data[self._length : needed] = part
        self._length += len(part)

    def finish(self) -> Array:
        """The whole array."""
        if self._data is None:
            raise ValueError("no rows were added")
        if self._path is not None:
            with self._path.open("r+b") as file:
                file.write(_npy_header(self._data, self._length))
            return cast(Array, np.load(self._path, mmap_mode=_MAPPED))
        return self._data[: self._length]


class Joined:
    """The pieces of a source, joined in memory or in a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self.sparse, self.n_read = folder, False, 0
        self._arrays: dict[str, GrowingArray] = {}
        self.keys: dict[Hashable, int] = {}
        self._codes: list[Indices] = []
        self._rows: list[Indices] = []
        self.ids: list[str] | None = None

    def add(self, piece: Piece, expected: int = 0) -> None:
        """Add a piece; ``expected`` is how many rows there may be in the end."""
        own = [self.keys.setdefault(key, len(self.keys)) for key in piece.labels]
        self._codes.append(np.array([*own, -1], np.int64)[piece.codes])
        self._rows.append(piece.rows)
        self.n_read = piece.end.row
        if piece.ids is not None:
            self.ids = [*(self.ids or []), *piece.ids]
        if isinstance(piece.X, np.ndarray):
            self._append("X", piece.X, expected)
            return
        self.sparse = True
        pairs = expected * piece.X.nnz // max(1, len(piece))
        self._append("data", piece.X.data, pairs)
        self._append("indices", piece.X.indices, pairs)
        self._append("lengths", np.diff(piece.X.indptr), expected)

    def labelled(self) -> tuple[Indices, Indices]:
        """The number of each row in the source, and the code of its label, −1 if it has none."""
        nothing = np.zeros(0, np.int64)
        return np.concatenate([nothing, *self._rows]), np.concatenate([nothing, *self._codes])

    def matrix(self, recipe: Recipe, shift: int) -> Any:
        """X; ``shift`` is what the indices of a sparse one are too large by."""
        if not self.sparse:
            return self._arrays["X"].finish()
        import scipy.sparse as sp

        data, indices, lengths = (self._arrays[k].finish() for k in ("data", "indices", "lengths"))
        indptr = np.zeros(len(lengths) + 1, np.int32 if len(data) < 2**31 else np.int64)
        np.cumsum(lengths, out=indptr[1:])
        if self._folder is not None:
            indices = np.load(self._folder / "indices.npy", mmap_mode="r+")
        if shift:
            np.subtract(indices, shift, out=indices, casting="unsafe")
        if self._folder is not None:
            np.save(self._folder / "indptr.npy", indptr)
            (self._folder / "lengths.npy").unlink()
            return _mapped(self._folder, len(lengths), recipe.n_features)
        X = sp.csr_array((data, indices, indptr), shape=(len(lengths), recipe.n_features))  # type: ignore[type-var]
        X.has_canonical_format = True  # indices ascend: nobody need look again
        return X

    def _append(self, name: str, part: Any, expected: int) -> None:
        if name not in self._arrays:
            self._arrays[name] = GrowingArray(self._folder, name)
        self._arrays[name].append(part, expected)


class DiskFolder:
    """A folder of arrays on disk: kept in a cache, or removed at the end of the process.

    Parameters
    ----------
    cache : path, optional
        Where it is kept. Without it, it is a temporary one.
    key : mapping
        What the arrays depend on: source, size, time, options.
    """

    def __init__(self, cache: str | os.PathLike[str] | None, key: Mapping[str, object]) -> None:
        self._key = {"version": _VERSION, **key}
        self._final: Path | None = None
        if cache is None:
            self.path = Path(tempfile.mkdtemp(prefix="novikoff-"))
        else:
            code = zlib.crc32(json.dumps(self._key, sort_keys=True).encode())
            self._final = Path(cache) / f"{Path(str(key['source'])).stem or 'data'}-{code:08x}"
            self.path = Path(f"{self._final}.{os.getpid()}")
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)

    def load(self) -> Dataset | None:
        """The dataset, if it is there already."""
        if self._final is None:
            return None
        try:
            manifest = json.loads((self._final / "manifest.json").read_text(encoding="utf-8"))
            if manifest.pop("key") != json.loads(json.dumps(self._key)):
                return None
            recipe = Recipe.from_json(manifest.pop("recipe"))
            n_rows = manifest.pop("n_rows")
            X = _mapped(self._final, n_rows, recipe.n_features)
            y_path, rows_path = self._final / "y.npy", self._final / "rows.npy"
            y = cast("Labels | None", np.load(y_path) if y_path.exists() else None)
            rows = np.load(rows_path) if rows_path.exists() else np.arange(1, n_rows + 1)
        except (
            OSError,
            EOFError,
            ValueError,
            KeyError,
            TypeError,
        ):  # not there, or not all there: read anew
            return None
        return Dataset(X, y, recipe.names, recipe, rows=rows, on_disk=True, **manifest)

    def begin(self) -> Path:
        """An empty folder to write to."""
        with readable_errors(str(self.path)):
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True)
        return self.path

    def discard(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.path, ignore_errors=True)

    def keep(self, data: Dataset) -> Dataset:
        """Write what goes with the arrays; if the folder is kept, it gets its name now."""
        if self._final is None:
            return data
        if data.y is not None:
            np.save(self.path / "y.npy", data.y)
        if data.n_read != data.n_rows:
            np.save(self.path / "rows.npy", data.rows)
        manifest = {
            "key": self._key,
            "recipe": data.recipe.to_json(),
            "n_rows": data.n_rows,
            "source": data.source,
            "label": data.label,
            "notes": data.notes,
            "ids": data.ids,
            "n_read": data.n_read,
        }
        text = json.dumps(manifest, ensure_ascii=False)
        (self.path / "manifest.json").write_text(text, encoding="utf-8")
        with readable_errors(str(self._final)):
            shutil.rmtree(self._final, ignore_errors=True)
            os.replace(self.path, self._final)
        found = self.load()
        if found is None:
            raise DataError(f"{self._final} has changed while it was written.")
        return found


def options_key(options: ReadOptions) -> dict[str, object]:
    """Options as JSON values."""
    return cast(dict[str, object], json.loads(json.dumps(asdict(options))))


def _mapped(folder: Path, n_rows: int, width: int) -> Any:
    """X as it lies in a folder."""
    dense = folder / "X.npy"
    if dense.exists():
        return np.load(dense, mmap_mode=_MAPPED)
    import scipy.sparse as sp

    parts = [
        np.load(folder / f"{name}.npy", mmap_mode=_MAPPED) for name in ("data", "indices", "indptr")
    ]
    X = sp.csr_array(tuple(parts), shape=(n_rows, width))
    X.has_canonical_format = True
    return X


def _npy_header(like: Array, length: int) -> bytes:
    """The 128 bytes before an array of some length in an npy file of version 1."""
    shape = (length, *like.shape[1:])
    fields = {"descr": like.dtype.str, "fortran_order": False, "shape": shape}
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + f"{fields!s:117}\n".encode()
