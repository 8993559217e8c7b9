"""Read rows, whatever their format: the whole of them (`read`), or as they come (`read_pieces`).

There is one road. A source is opened, its format and the roles of its columns are found from its
beginning, and it is read in pieces; `read` joins them, in memory or on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from novikoff.data.csv import CsvTable
from novikoff.data.errors import DataError, quoted
from novikoff.data.labels import LabelReader, check_classes
from novikoff.data.named import FeatureColumns, NamedRows, may_be_named
from novikoff.data.numpy_files import NumpyRows
from novikoff.data.on_disk import DiskFolder, Joined, options_key
from novikoff.data.options import Dataset, Piece, ReadOptions, parse_size
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source, shown
from novikoff.data.svmlight import SvmlightRows
from novikoff.data.tables import TypedTable
from novikoff.data.text import Reader, Request

_DEFAULT: Final = ReadOptions()
# The memory that the program takes up, and that of data per byte of its file: as text, or packed.
_PROGRAM_BYTES, _PER_TEXT_BYTE, _PER_PACKED_BYTE = 400_000_000, 4, 20


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

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the data cannot be read, or is not what it should be.

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
    on_disk = cache is not None or not _fits(path, max_memory)
    one_piece = recipe is None and (bool(options.one_hot) or options.missing == "mean")
    if on_disk and one_piece:
        option = "--one-hot" if options.one_hot else "--missing mean"
        raise DataError(
            f"{name}: {option} needs all rows in memory at once: do without --max-memory and "
            "--cache, or prepare the columns with another tool."
        )
    key = _key(path, options, recipe, labelled) if on_disk else {}
    folder = DiskFolder(cache, key) if on_disk else None
    try:
        found = None if folder is None else folder.load()
        if found is not None:
            return found
        tell(f"reading {name}")
        reader = open_reader(path, options, recipe, labelled=labelled, one_piece=one_piece)
        if folder is None:
            return join(reader, progress=tell)
        data = join(reader, folder.begin(), tell)
        if key != _key(path, options, recipe, labelled):
            raise DataError(f"{name} has changed while it was read.")
        return folder.keep(data)
    except BaseException as error:
        if folder is not None:
            folder.discard()
        if not isinstance(error, MemoryError):
            raise
        raise DataError(
            f"{name} does not fit into memory; with --max-memory it is kept on disk."
        ) from None


def join(
    reader: Reader, folder: Path | None = None, progress: Callable[[str], None] | None = None
) -> Dataset:
    """The dataset of all pieces of a reader, in memory or in a folder."""
    joined, told = Joined(folder), 0
    try:
        for piece in reader.pieces():
            if piece is None:
                continue
            joined.add(piece, reader.expected_rows(piece.end))
            if progress is not None and joined.n_read >= 2 * told:
                told = joined.n_read
                progress(f"reading {reader.source}: {told:,} rows")
    finally:
        reader.close()
    rows, codes = joined.labelled()
    if not len(rows):
        what = "has no row without missing values" if joined.n_read else "is empty: it has no rows"
        raise DataError(f"{reader.source} {what}.")
    recipe, label, y = reader.recipe(), reader.label, None
    X = joined.matrix(recipe, reader.shift())
    notes = [*reader.notes, *reader.final_notes()]
    if label is not None and codes.min() >= 0:
        y = reader.typed(list(joined.keys))[codes]
        if reader.request.recipe is None:
            advice = "; choose the label with --label" if recipe.family == "table" else ""
            check_classes(y, reader.source, label, advice)
    elif label is not None:
        notes.append(f"labels are missing in column {quoted(label)}: it is not used")
    return Dataset(
        X,
        y,
        recipe.names,
        recipe,
        reader.source,
        label,
        notes,
        joined.ids,
        rows,
        imputed=reader.imputed(),
        n_read=joined.n_read,
        on_disk=folder is not None,
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
    request = Request(source, options, recipe, labelled, one_piece, as_they_come)
    try:
        return _reader(request, files)
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
        return NamedRows(request, FeatureColumns(recipe.bits, recipe.features or (), fixed=True))
    family = "matrix" if source.format in ("svmlight", "npz") else "table"
    if recipe is not None and family != recipe.family:
        known = {"table": "a table of named columns", "matrix": "a matrix of numbered columns"}
        raise DataError(
            f"{source.name} is {known[family]}, but the model was trained on "
            f"{known[recipe.family]}."
        )
    if source.format in ("parquet", "arrow"):
        return TypedTable(request, files)
    readers: dict[str, Callable[[Request], Reader]] = {
        "svmlight": SvmlightRows,
        "npy": NumpyRows,
        "npz": NumpyRows,
    }
    return readers.get(source.format, CsvTable)(request)


class PieceReader:
    """The rows of a source for a model, some at a time.

    It is iterable once, and a context manager that gives the file back.

    Attributes
    ----------
    n_rows, dropped : int
        The rows given so far, and those left out.
    unlabelled : int
        Those of them that have no label which the model could give.
    written : int
        Those of them that have a label of whatever kind.
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
        self._reader.close()

    def __iter__(self) -> Iterator[Piece | None]:
        """The pieces; None now and then while a pipe is silent."""
        for piece in self._reader.pieces():
            if piece is not None:
                self.dropped = piece.end.dropped
                self._match(piece)
            if piece is None or len(piece):
                yield piece
        if not self.n_rows:
            what = "row without missing values" if self.dropped else "rows"
            raise DataError(f"{self.source} has no {what}.")

    def _match(self, piece: Piece) -> None:
        """Read the labels as labels of the model."""
        self.n_rows += len(piece)
        self.written += int((piece.codes >= 0).sum())
        if self._labels is not None:
            values = [self._possible(key) for key in piece.labels]
            known = {value: k for k, value in enumerate(dict.fromkeys(values)) if value is not None}
            codes = [known.get(value, -1) for value in values]
            piece.codes, piece.labels = np.array([*codes, -1], np.int64)[piece.codes], list(known)
        self.unlabelled += int((piece.codes < 0).sum())

    def _possible(self, key: Hashable) -> Hashable | None:
        try:
            return None if self._labels is None else self._labels.value(key, self.source)
        except DataError:
            return None


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

    Returns
    -------
    PieceReader

    Raises
    ------
    DataError
        If the rows cannot be read, are not of the form that was learned, or lack a column.

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
    """What the arrays on disk depend on."""
    return {
        "source": os.path.abspath(path) if isinstance(path, str | os.PathLike) else "data",
        "files": [list(file) for file in _files(path)],
        "options": options_key(options),
        "recipe": None if recipe is None else recipe.to_json(),
        "labelled": labelled,
    }
