"""Read rows, whatever their format: the whole of them (`read`), or as they come (`read_pieces`).

There is one road. A source is opened, its format and the roles of its columns are found from its
beginning, and it is read in pieces; `read` joins them, in memory or on disk. A new format is a
`Reader` of its own, named in `_reader`.

On disk, a folder holds ``X.npy`` (or ``data.npy``, ``indices.npy`` and ``indptr.npy``, the arrays
of a CSR matrix), ``y.npy``, and ``manifest.json``: the source with its size and time, the options,
and the recipe. Any NumPy can read the arrays.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.csv import CsvTable
from novikoff.data.errors import DataError, quoted, readable_errors
from novikoff.data.numpy_files import NumpyRows
from novikoff.data.options import Dataset, Indices, Piece, ReadOptions, parse_size
from novikoff.data.pairs import FeatureColumns, PairRows, may_be_named
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source, shown
from novikoff.data.tables import TypedTable
from novikoff.data.text import Reader, Request
from novikoff.data.values import LabelReader, Labels, check_classes

Array = npt.NDArray[np.generic]

_DEFAULT: Final = ReadOptions()
# The memory that the program takes up, and that of data per byte of its file: as text, or packed.
_PROGRAM_BYTES, _PER_TEXT_BYTE, _PER_PACKED_BYTE = 400_000_000, 4, 20
_VERSION: Final = 1
_ON_DISK: Final = ("X", "data", "indices")
_MAPPED: Final = "c"  # writable in memory, so that kernels need no second version; never on disk


def read(
    path: PathOrFile,
    options: ReadOptions = _DEFAULT,
    *,
    recipe: Recipe | None = None,
    labelled: bool = True,
    progress: Callable[[str], None] | None = None,
    max_memory: int | str | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Dataset:
    r"""Read rows into features and labels; what cannot be used is refused in a sentence.

    Parameters
    ----------
    path : path, "-" or binary file
        A file, the standard input, or a folder of Parquet files. Gzip is unpacked, whatever the
        name.
    options : ReadOptions
        What is asked for; the rest is found out and noted.
    recipe : Recipe, optional
        That of an earlier dataset: columns are matched with it by name, or by number in
        svmlight and npz files, and missing values are replaced by its means if it has them.
    labelled : bool
        Whether there must be labels.
    progress : callable, optional
        Told in a few words what begins.
    max_memory : int or str, optional
        A size, such as "1GB": data that may need more becomes arrays on disk, mapped into memory.
    cache : path, optional
        A folder where such arrays are kept for the next time. Without it they lie in a temporary
        folder until the process ends.

    Examples
    --------
    >>> import io
    >>> data = read(io.BytesIO(b"age,height,class\n31,1.7,a\n25,1.8,b\n"))
    >>> data.X, data.y, data.names
    (array([[31. ,  1.7],
           [25. ,  1.8]]), array(['a', 'b'], dtype='<U1'), ['age', 'height'])
    >>> data.notes
    ['the label is the column "class"']
    """
    tell = progress or (lambda _: None)
    name = shown(os.fspath(path)) if isinstance(path, str | os.PathLike) else "the data"
    one_piece = recipe is None and (bool(options.one_hot) or options.missing == "mean")
    folder = None
    try:
        if cache is not None or not _fits(path, max_memory):
            if one_piece:
                option = "--one-hot" if options.one_hot else "--missing mean"
                raise DataError(
                    f"{name}: {option} needs all rows in memory at once: do without --max-memory "
                    "and --cache, or prepare the columns with another tool."
                )
            folder = DiskFolder(cache, lambda: _key(path, options, recipe, labelled))
            found = folder.load()
            if found is not None:
                return found
        tell(f"reading {name}")
        reader = open_reader(path, options, recipe, labelled=labelled, one_piece=one_piece)
        data = join(reader, None if folder is None else folder.begin(), tell)
        return data if folder is None else folder.keep(data)
    except BaseException as error:
        if folder is not None:
            shutil.rmtree(folder.path, ignore_errors=True)
        if not isinstance(error, MemoryError):
            raise
        raise DataError(
            f"{name} does not fit into memory; with --max-memory it is kept on disk."
        ) from None


def read_pieces(
    path: PathOrFile,
    options: ReadOptions = _DEFAULT,
    *,
    recipe: Recipe,
    classes: Sequence[Hashable] | None = None,
) -> PieceReader:
    r"""Read rows for a model, some at a time, as they come; there need not be labels.

    Parameters
    ----------
    path, options
        As for `read`.
    recipe : Recipe
        How the rows were read that the model was learned from.
    classes : sequence, optional
        The labels of the model: those of the rows are read as labels of their kind.

    Examples
    --------
    >>> import io
    >>> recipe = read(io.BytesIO(b"a,b,y\n1,2,0\n3,4,1\n")).recipe
    >>> rows = read_pieces(io.BytesIO(b"y,b,a\n1,8,9\n?,6,7\n"), recipe=recipe, classes=[0, 1])
    >>> for piece in rows:
    ...     print(piece.X.tolist(), piece.rows, piece.codes, piece.labels)
    [[9.0, 8.0], [7.0, 6.0]] [1 2] [ 0 -1] [1]
    """
    return PieceReader(
        open_reader(path, options, recipe, labelled=False, as_they_come=True), classes
    )


def open_reader(
    path: PathOrFile,
    options: ReadOptions,
    recipe: Recipe | None,
    *,
    labelled: bool,
    one_piece: bool = False,
    as_they_come: bool = False,
) -> Reader:
    """Look at the beginning of a source, and make ready to read its rows."""
    files = _parquet_files(path)
    lines = 1 if recipe is not None and not recipe.header else 2  # with the first row
    source = Source(
        files[0] if files else path, options.format, hasty=as_they_come, least_lines=lines
    )
    if files:
        source.name = shown(os.fspath(path))  # type: ignore[arg-type]
    try:
        return _reader(Request(source, options, recipe, labelled, one_piece, as_they_come), files)
    except BaseException:
        source.close()
        raise


def _reader(request: Request, files: Sequence[str]) -> Reader:
    source, recipe = request.source, request.recipe
    if recipe is not None and recipe.family == "named":
        if not may_be_named(source):
            raise DataError(
                f"{source.name} is not of the form label feature:value …, as the rows were from "
                "which the model was learned."
            )
        return PairRows(request, FeatureColumns(recipe.bits, recipe.features or (), fixed=True))
    family = "matrix" if source.format in ("svmlight", "npz") else "table"
    if recipe is not None and family != recipe.family:
        known = {"table": "a table of named columns", "matrix": "a matrix of numbered columns"}
        raise DataError(
            f"{source.name} is {known[family]}, but the model was trained on "
            f"{known[recipe.family]}."
        )
    if source.format in ("parquet", "arrow"):
        return TypedTable(request, files)
    if source.format in ("npy", "npz"):
        return NumpyRows(request)
    return PairRows(request) if source.format == "svmlight" else CsvTable(request)


class PieceReader:
    """The rows of a source for a model, some at a time.

    It is iterable once, and a context manager that gives the file back. ``n_rows`` rows were given
    so far, and ``dropped`` left out; ``unlabelled`` have no label which the model could give,
    ``written`` have a label of whatever kind.
    """

    def __init__(self, reader: Reader, classes: Sequence[Hashable] | None) -> None:
        self._reader = reader
        self._labels = None if classes is None else LabelReader.of(classes)
        self.source = reader.source
        self.n_rows = self.dropped = self.unlabelled = self.written = 0

    @property
    def label(self) -> str | None:
        """The name of the label's column, if there is one."""
        return self._reader.label

    @property
    def notes(self) -> list[str]:
        """What was decided; complete after the last piece."""
        return [*self._reader.notes, *self._reader.final_notes()]

    def __enter__(self) -> PieceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._reader.request.source.close()

    def __iter__(self) -> Iterator[Piece | None]:
        """The pieces; None now and then while a pipe is silent."""
        for piece in self._reader.pieces():
            if piece is not None:
                self.n_rows, self.dropped = self.n_rows + len(piece), piece.end.dropped
                self.written += int((piece.codes >= 0).sum())
                if self._labels is not None:
                    piece.read_labels(self._labels.value)
                self.unlabelled += int((piece.codes < 0).sum())
            if piece is None or len(piece):
                yield piece
        if not self.n_rows:
            what = "row without missing values" if self.dropped else "rows"
            raise DataError(f"{self.source} has no {what}.")


def join(
    reader: Reader, folder: Path | None = None, progress: Callable[[str], None] | None = None
) -> Dataset:
    """The dataset of all pieces of a reader, in memory or in a folder."""
    arrays, told, n_read = dict[str, GrowingArray](), 0, 0
    keys, ids = dict[Hashable, int](), list[str]()
    try:
        for piece in reader.pieces():
            if piece is None:
                continue
            n_read = piece.end.row
            own = [keys.setdefault(key, len(keys)) for key in piece.labels]
            codes = np.array([*own, -1], np.int64)[piece.codes]
            X, parts = piece.X, dict[str, Array](codes=codes, rows=piece.rows)
            if isinstance(X, np.ndarray):
                parts["X"] = X
            else:
                parts.update(data=X.data, indices=X.indices, lengths=np.diff(X.indptr))
            for name, part in parts.items() if len(piece) else ():
                path = None if folder is None or name not in _ON_DISK else folder / f"{name}.npy"
                arrays.setdefault(name, GrowingArray(path)).append(part)
            ids += piece.ids or []
            if progress is not None and n_read >= 2 * told:
                told = n_read
                progress(f"reading {reader.source}: {told:,} rows")
    finally:
        reader.request.source.close()
    if not arrays:
        what = "has no row without missing values" if n_read else "is empty: it has no rows"
        raise DataError(f"{reader.source} {what}.")
    found = {name: array.finish() for name, array in arrays.items()}
    codes, rows = (cast(Indices, found[name]) for name in ("codes", "rows"))
    recipe, label, y = reader.recipe(), reader.label, None
    matrix: Any = found.get("X")
    if matrix is None:
        matrix = _sparse(found, folder, recipe.n_features, reader.shift())
    notes = [*reader.notes, *reader.final_notes()]
    if label is not None and codes.min() >= 0:
        y = reader.typed(list(keys))[codes]
        if reader.request.recipe is None:
            advice = "; choose the label with --label" if recipe.family == "table" else ""
            check_classes(y, reader.source, label, advice)
    elif label is not None:
        notes.append(f"labels are missing in column {quoted(label)}: it is not used")
    at = [np.concatenate(part) for part in zip(*reader.imputed, strict=True)]
    return Dataset(
        matrix,
        y,
        recipe.names,
        recipe,
        reader.source,
        label,
        notes,
        ids if reader.has_ids else None,
        rows,
        imputed=(at[0], at[1]) if at else None,
        n_read=n_read,
        on_disk=folder is not None,
    )


class GrowingArray:
    """An array that parts are added to, in memory or in an ``.npy`` file."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._parts, self._length = path, list[Array](), 0

    def append(self, part: Array) -> None:
        """Add rows."""
        self._length += len(part)
        if self._path is None:
            self._parts.append(part)
            return
        with self._path.open("ab") as file:
            file.write(b"" if file.tell() else _npy_header(part, 0))
            file.write(np.ascontiguousarray(part).data)
        self._parts = [part[:0]]

    def finish(self) -> Array:
        """The whole array; each part is given back as soon as it is copied."""
        like = self._parts[-1]
        if self._path is not None:
            with self._path.open("r+b") as file:
                file.write(_npy_header(like, self._length))
            return cast(Array, np.load(self._path, mmap_mode=_MAPPED))
        if len(self._parts) == 1:
            return like
        whole, end = np.empty((self._length, *like.shape[1:]), like.dtype), self._length
        while self._parts:
            part = self._parts.pop()
            whole[end - len(part) : end] = part
            end -= len(part)
        return whole


class DiskFolder:
    """A folder of arrays on disk: kept in a cache, or removed at the end of the process.

    ``key`` says what the arrays depend on: source, size, time, options.
    """

    def __init__(
        self, cache: str | os.PathLike[str] | None, key: Callable[[], dict[str, object]]
    ) -> None:
        self._find_key, self._key, self._final = key, key(), None
        if cache is None:
            self.path = Path(tempfile.mkdtemp(prefix="novikoff-"))
        else:
            code = zlib.crc32(json.dumps(self._key, sort_keys=True).encode())
            stem = Path(str(self._key["source"])).stem or "data"
            self._final = Path(cache) / f"{stem}-{code:08x}"
            self.path = Path(f"{self._final}.{os.getpid()}")
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)

    def load(self) -> Dataset | None:
        """The dataset, if it is there already."""
        if self._final is None:
            return None
        try:
            manifest = json.loads((self._final / "manifest.json").read_text(encoding="utf-8"))
            if manifest.pop("key") != self._key:
                return None
            recipe, n_rows = Recipe.from_json(manifest.pop("recipe")), manifest.pop("n_rows")
            X = _mapped(self._final, n_rows, recipe.n_features)
            found = {p.stem: np.load(p) for p in self._final.glob("*.npy") if p.stem in "y rows"}
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            return None  # it is not there, or not all of it: read anew
        y, rows = cast("Labels | None", found.get("y")), found.get("rows")
        rows = np.arange(1, n_rows + 1) if rows is None else rows
        return Dataset(X, y, recipe.names, recipe, rows=rows, on_disk=True, **manifest)

    def begin(self) -> Path:
        """An empty folder to write to."""
        with readable_errors(str(self.path)):
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True)
        return self.path

    def keep(self, data: Dataset) -> Dataset:
        """Write what goes with the arrays; if the folder is kept, it gets its name now."""
        if self._find_key() != self._key:
            raise DataError(f"{data.source} has changed while it was read.")
        if self._final is None:
            return data
        if data.y is not None:
            np.save(self.path / "y.npy", data.y)
        if data.n_read != data.n_rows:
            np.save(self.path / "rows.npy", data.rows)
        plain = {name: getattr(data, name) for name in ("n_rows", "source", "label", "notes")}
        more = {"recipe": data.recipe.to_json(), "ids": data.ids, "n_read": data.n_read}
        text = json.dumps({"key": self._key, **plain, **more}, ensure_ascii=False)
        (self.path / "manifest.json").write_text(text, encoding="utf-8")
        with readable_errors(str(self._final)):
            shutil.rmtree(self._final, ignore_errors=True)
            os.replace(self.path, self._final)
        found = self.load()
        if found is None:
            raise DataError(f"{self._final} has changed while it was written.")
        return found


def _mapped(folder: Path, n_rows: int, width: int) -> Any:
    """X as it lies in a folder."""
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy", mmap_mode=_MAPPED)
    names = ("data", "indices", "indptr")
    return _csr([np.load(folder / f"{n}.npy", mmap_mode=_MAPPED) for n in names], n_rows, width)


def _sparse(found: dict[str, Any], folder: Path | None, width: int, shift: int) -> Any:
    """A CSR array; ``shift`` is what its indices are too large by."""
    lengths, indices = found["lengths"], found["indices"]
    indptr = np.zeros(len(lengths) + 1, np.int32 if len(indices) < 2**31 else np.int64)
    np.cumsum(lengths, out=indptr[1:])
    if folder is None:
        indices -= np.int32(shift)
        return _csr((found["data"], indices, indptr), len(lengths), width)
    np.save(folder / "indptr.npy", indptr)
    on_disk = np.load(folder / "indices.npy", mmap_mode="r+")
    on_disk -= np.int32(shift)
    return _mapped(folder, len(lengths), width)


def _csr(parts: Sequence[Any], n_rows: int, width: int) -> Any:
    import scipy.sparse as sp

    X = sp.csr_array(tuple(parts), shape=(n_rows, width))
    X.has_canonical_format = True  # indices ascend: nobody need look again
    return X


def _npy_header(like: Array, length: int) -> bytes:
    """The 128 bytes before an array of some length in an npy file of version 1."""
    shape = (length, *like.shape[1:])
    fields = {"descr": like.dtype.str, "fortran_order": False, "shape": shape}
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + f"{fields!s:117}\n".encode()


def _parquet_files(path: PathOrFile) -> list[str]:
    """The Parquet files of a folder; none if the path is no folder."""
    if not isinstance(path, str | os.PathLike) or not os.path.isdir(path):
        return []
    files = sorted(str(f) for f in Path(path).iterdir() if f.suffix in (".parquet", ".pq"))
    if not files:
        raise DataError(f"{shown(os.fspath(path))} is a directory, without Parquet files in it.")
    return files


def _fits(path: PathOrFile, max_memory: int | str | None) -> bool:
    """Whether data fits into memory, as far as one can say."""
    if max_memory is None:
        return True
    needed, most = _PROGRAM_BYTES, parse_size(max_memory)
    for file, size, _ in _files(path):
        packed = file.lower().endswith((".gz", ".parquet", ".pq", ".npz"))
        needed += size * (_PER_PACKED_BYTE if packed else _PER_TEXT_BYTE)
    return needed > _PROGRAM_BYTES and needed <= most


def _files(path: PathOrFile) -> list[tuple[str, int, int]]:
    """The plain files of some data, with size and time."""
    if not isinstance(path, str | os.PathLike):
        return []
    try:
        names = _parquet_files(path) or [os.path.abspath(os.fspath(path))]
        found = [(name, os.stat(name)) for name in names if os.path.isfile(name)]
    except (OSError, ValueError):  # the reader says what is wrong
        return []
    return [(name, status.st_size, status.st_mtime_ns) for name, status in found]


def _key(
    path: PathOrFile, options: ReadOptions, recipe: Recipe | None, labelled: bool
) -> dict[str, object]:
    """What the arrays on disk depend on, as JSON values."""
    key = {
        "version": _VERSION,
        "source": os.path.abspath(path) if isinstance(path, str | os.PathLike) else "data",
        "files": _files(path),
        "options": asdict(options),
        "recipe": None if recipe is None else recipe.to_json(),
        "labelled": labelled,
    }
    return cast(dict[str, object], json.loads(json.dumps(key)))
