"""Read all rows of a file, in any format, into arrays.

A source is opened; its format and the roles of its columns are found from its beginning; the reader
of the format gives pieces of rows; and `read` joins the pieces, in memory or on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from contextlib import closing
from importlib import import_module
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.dataset import Dataset, csr, take_rows
from novikoff.data.formats import FILE_FORMATS
from novikoff.data.labels import LabelArray, check_are_classes, labels_of
from novikoff.data.messages import printable_name, quoted
from novikoff.data.on_disk import (
    ArrayFolder,
    GrowingArrays,
    fits,
    load_matrix,
    parquet_files,
    room_for_data,
)
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.pairs import PairRows, is_named, may_be_pairs
from novikoff.data.reader import Reader, Request
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source
from novikoff.errors import DataError

_DEFAULT: Final = ReadOptions()
_COPIES: Final = 4  # the memory of a whole command, in copies of the arrays as they are read


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
    r"""Read the rows of a file into features and labels.

    Parameters
    ----------
    path : path, "-" or binary file
        A file, the standard input, or a folder of Parquet files. Gzip is unpacked, whatever the
        name of the file is.
    options : ReadOptions
        What the user asks for. The rest is found from the file, and noted.
    recipe : Recipe, optional
        The recipe of an earlier dataset. Its columns are found by name, or by number in svmlight
        and npz files, and its means replace missing values.
    labelled : bool
        Whether there must be labels.
    progress : callable, optional
        Called with a short text when a step begins.
    max_memory : int or str, optional
        A size such as "1GB". Data that may need more memory becomes memory-mapped arrays on disk.
    cache : path, optional
        A folder in which these arrays are kept for the next time. Without it they are in a
        temporary folder until the process ends.

    Returns
    -------
    Dataset
        Features, labels, and how they were read.

    Raises
    ------
    DataError
        If the file cannot be read, or a value cannot be used; with the row and the column.

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
    name = printable_name(os.fspath(path)) if isinstance(path, str | os.PathLike) else "the data"
    all_rows = recipe is None and options.needs_all_rows

    def make_folder() -> ArrayFolder:
        return ArrayFolder(cache, path, options, recipe, labelled)

    arrays = GrowingArrays()
    try:
        if cache is not None or not fits(path, max_memory):
            if all_rows:
                option = "--one-hot" if options.one_hot else "--missing mean"
                raise DataError(
                    f"{name}: {option} needs all rows in memory at once: do without --max-memory "
                    "and --cache, or prepare the columns with another tool."
                )
            arrays = GrowingArrays(make_folder())
            found = arrays.folder and arrays.folder.load()
            if found:
                return found
        elif max_memory is not None and not all_rows:
            # The size of a packed file does not say how large its arrays are.
            arrays = GrowingArrays(None, room_for_data(max_memory) / _COPIES, make_folder)
        tell(f"reading {name}")
        return join(open_reader(path, options, recipe, labelled=labelled), arrays, tell)
    except BaseException as error:
        if arrays.folder is not None:
            arrays.folder.remove()
        if not isinstance(error, MemoryError):
            raise
        raise DataError(
            f"{name} does not fit into memory; with --max-memory it is kept on disk."
        ) from None


def open_reader(
    path: PathOrFile,
    options: ReadOptions,
    recipe: Recipe | None,
    *,
    labelled: bool,
    as_they_come: bool = False,
) -> Reader:
    """Open a source, look at its beginning, and return the reader of its format."""
    files = parquet_files(path)
    lines = 1 if recipe is not None and not recipe.header else 2  # a header and the first row
    source = Source(
        files[0] if files else path, options.format, hasty=as_they_come, least_lines=lines
    )
    if files:
        source.name, source.files = printable_name(os.fspath(cast("str", path))), files
    stream = StreamOptions(options) if as_they_come else None
    try:
        return make_reader(Request(source, options, recipe, labelled, stream))
    except BaseException:
        source.close()
        raise


def make_reader(request: Request) -> Reader:
    """Return the reader for the format of a source, and for the recipe of a model, if any."""
    source, known = request.source, request.recipe or request.so_far
    family = FILE_FORMATS[source.format].family
    csv = source.format == "csv"
    # Text without a known name may be rows of pairs such as "spam offer:1" instead of CSV.
    if known is None:
        said = request.options.format or source.name.endswith((".csv", ".csv.gz"))
        pairs = request.stream is not None and csv and not said and is_named(source.head)
    elif request.so_far is not None:
        pairs = csv and known.family != "table"
    else:
        named = known.family == "named"
        pairs = known.family not in ("table", family) and may_be_pairs(source, named=named)
    if pairs:
        return PairRows(request)
    if known is not None and request.so_far is None and family != known.family:
        forms = {"table": "a table of named columns", "matrix": "a matrix of numbered columns"}
        if known.family == "named":
            raise DataError(
                f"{source.name} is neither JSON lines nor of the form label feature:value …, "
                "which the model was trained on."
            )
        raise DataError(
            f"{source.name} is {forms.get(family, 'rows of named values')}, but the model was "
            f"trained on {forms[known.family]}."
        )
    module, name = FILE_FORMATS[source.format].reader.split(".")
    kind = getattr(import_module(f"novikoff.data.{module}"), name)
    return cast("type[Reader]", kind)(request)


def join(
    reader: Reader,
    arrays: GrowingArrays | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Dataset:
    """Join all pieces of a reader to a dataset, in memory or in the folder of ``arrays``."""
    arrays = arrays or GrowingArrays()
    n_read = n_rows = told = 0
    keys = dict[tuple[type, Hashable], int]()  # with their types, because True equals 1
    ids = cast("list[str] | None", None)
    with closing(reader.request.source):
        for piece in reader.pieces():
            if piece is None:
                continue
            n_read = piece.end.row
            own = [keys.setdefault((type(key), key), len(keys)) for key in piece.labels]
            if len(piece):
                codes = np.array([*own, -1], np.int32)[piece.codes]
                if n_read > n_rows + len(piece):  # rows were left out: their numbers are needed
                    if n_rows and "rows" not in arrays:
                        arrays.append(rows=np.arange(1, n_rows + 1))
                    arrays.append(rows=piece.rows)
                arrays.append(codes=codes, **_arrays_of(piece.X))
            n_rows += len(piece)
            if piece.ids is not None:
                ids = ids or []
                ids += piece.ids
            if n_read >= 2 * told:
                told = n_read
                tell(f"reading {reader.source}: {told:,} rows")
    if not n_rows:
        what = "has no row without missing values" if n_read else "is empty: it has no rows"
        raise DataError(f"{reader.source} {what}.")
    found: dict[str, Any] = arrays.finish()
    recipe, label, folder = reader.recipe(), reader.label, arrays.folder
    X = found.get("X")
    if X is None:
        X = _join_sparse(found, folder, recipe.n_features, reader.shift())
    notes = [*reader.notes, *reader.final_notes()]
    codes, classes = found["codes"], None
    if label is not None and codes.min() >= 0:
        classes, order = _classes(reader, [key for _, key in keys])
        take_rows(order, codes, out=codes)
        request = reader.request
        if request.recipe is None and not request.options.regression:
            advice = "; choose the label with --label" if recipe.family == "table" else ""
            note = check_are_classes(classes, n_rows, reader.source, label, advice)
            notes += [note] if note else []
    elif label is not None:
        notes.append(f"labels are missing in column {quoted(label)}: it is not used")
    if folder is not None and folder.temporary:
        notes.append(
            "the arrays are in temporary files on disk; with --cache DIR they are kept, and the "
            "next command that reads the same data need not parse it again"
        )
    at = [np.concatenate(part) for part in zip(*reader.imputed, strict=True)]
    data = Dataset(
        X,
        None if classes is None else codes,
        classes,
        recipe,
        reader.source,
        label,
        notes,
        ids,
        found["rows"] if "rows" in found else np.arange(1, n_rows + 1),
        imputed=(at[0], at[1]) if at else None,
        n_read=n_read,
        on_disk=folder is not None,
    )
    if folder is not None:
        folder.keep(data)
    return data


def _classes(reader: Reader, keys: Sequence[Hashable]) -> tuple[LabelArray, npt.NDArray[np.int64]]:
    """Return the labels of keys, sorted and each once, and the position of each key's label."""
    labels: Any = labels_of(keys, reader.label_form)
    classes, order = np.unique(labels, return_inverse=True)
    return cast(LabelArray, classes), order


def _arrays_of(X: Any) -> dict[str, Any]:
    """Return the arrays of which rows of features consist."""
    if isinstance(X, np.ndarray):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "lengths": np.diff(X.indptr)}


def _join_sparse(found: dict[str, Any], folder: ArrayFolder | None, width: int, shift: int) -> Any:
    """Return a CSR array, whose indices are too large by ``shift``."""
    lengths, indices = found["lengths"], found["indices"]
    indptr = np.zeros(len(lengths) + 1, np.int32 if len(indices) < 2**31 else np.int64)
    np.cumsum(lengths, out=indptr[1:])
    if folder is None:
        indices -= np.int32(shift)
        return csr((found["data"], indices, indptr), len(lengths), width)
    np.save(folder.path / "indptr.npy", indptr)
    on_disk = np.load(folder.path / "indices.npy", mmap_mode="r+")
    on_disk -= np.int32(shift)
    return load_matrix(folder.path, len(lengths), width)
