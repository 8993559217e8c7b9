"""Read the rows of a file, whatever its format.

There is one road. A source is opened, its format and the roles of its columns are found from its
beginning, a `Reader` reads it in pieces, and `read` joins them, in memory or on disk.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable
from importlib import import_module
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.dataset import Dataset, csr, take_rows
from novikoff.data.formats import FORMATS
from novikoff.data.labels import check_are_classes, labels_of
from novikoff.data.messages import quoted
from novikoff.data.on_disk import (
    Array,
    ArrayFolder,
    GrowingArray,
    fits,
    load_matrix,
    parquet_files,
    room_for_data,
)
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.pairs import PairRows, is_named, may_be_pairs
from novikoff.data.reader import Reader, Request
from novikoff.data.recipe import Recipe
from novikoff.data.source import PathOrFile, Source, shown
from novikoff.errors import DataError

_DEFAULT: Final = ReadOptions()
_ON_DISK: Final = ("X", "data", "indices")
_COPIES: Final = 4  # of the arrays as they are read, when all that is made of them is counted


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
    one_piece = recipe is None and options.needs_all_rows
    folder = None
    try:
        if cache is not None or not fits(path, max_memory):
            if one_piece:
                option = "--one-hot" if options.one_hot else "--missing mean"
                raise DataError(
                    f"{name}: {option} needs all rows in memory at once: do without --max-memory "
                    "and --cache, or prepare the columns with another tool."
                )
            folder = ArrayFolder(cache, path, options, recipe, labelled)
            found = folder.load()
            if found is not None:
                return found
        tell(f"reading {name}")
        reader = open_reader(path, options, recipe, labelled=labelled)

        def spill() -> ArrayFolder:
            nonlocal folder
            folder = ArrayFolder(None, path, options, recipe, labelled)
            folder.begin()
            return folder

        limited = max_memory is not None and not one_piece
        room = room_for_data(max_memory) if limited and folder is None else math.inf
        return join(reader, folder, tell, room, spill)
    except BaseException as error:
        if folder is not None:
            folder.remove()
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
    """Look at the beginning of a source, and make ready to read its rows."""
    files = parquet_files(path)
    lines = 1 if recipe is not None and not recipe.header else 2  # with the first row
    source = Source(
        files[0] if files else path, options.format, hasty=as_they_come, least_lines=lines
    )
    if files:
        source.name = shown(os.fspath(cast("str", path)))
    stream = StreamOptions(options) if as_they_come else None
    try:
        return make_reader(Request(source, options, recipe, labelled, files, stream))
    except BaseException:
        source.close()
        raise


def make_reader(request: Request) -> Reader:
    """The reader for the format of a source, and for the rows that were learned from, if any."""
    source, known = request.source, request.recipe or request.so_far
    family = FORMATS[source.format].family
    csv = source.format == "csv"
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
                f"{source.name} is neither JSON lines nor of the form label feature:value …, as "
                "the rows were from which the model was learned."
            )
        raise DataError(
            f"{source.name} is {forms.get(family, 'rows of named values')}, but the model was "
            f"trained on {forms[known.family]}."
        )
    module, name = FORMATS[source.format].reader.split(".")
    kind = getattr(import_module(f"novikoff.data.{module}"), name)
    return cast("type[Reader]", kind)(request)


def join(
    reader: Reader,
    folder: ArrayFolder | None,
    tell: Callable[[str], None],
    room: float = math.inf,
    spill: Callable[[], ArrayFolder] | None = None,
) -> Dataset:
    """The dataset of all pieces of a reader, in memory or in a folder.

    What turns out to take up more than ``room`` bytes goes on in the folder that ``spill`` makes:
    the size of a packed file does not tell.
    """
    arrays = dict[str, GrowingArray]()
    told = 0
    n_read = n_rows = 0
    keys = dict[tuple[type, Hashable], int]()  # by type too: True is not the label 1
    ids = cast("list[str] | None", None)
    if folder is not None:
        folder.begin()
    try:
        for piece in reader.pieces():
            if piece is None:
                continue
            before, n_read = n_rows, piece.end.row
            n_rows += len(piece)
            own = [keys.setdefault((type(key), key), len(keys)) for key in piece.labels]
            X = piece.X
            parts = dict[str, Array](codes=np.array([*own, -1], np.int32)[piece.codes])
            if n_read > n_rows:  # rows were left out: their numbers no longer just count them
                parts["rows"] = piece.rows
                if "rows" not in arrays and before:
                    arrays["rows"] = GrowingArray(None)
                    arrays["rows"].append(np.arange(1, before + 1))
            if isinstance(X, np.ndarray):
                parts["X"] = X
            else:
                parts.update(data=X.data, indices=X.indices, lengths=np.diff(X.indptr))
            for name, part in parts.items() if len(piece) else ():
                path = folder.path / f"{name}.npy" if folder and name in _ON_DISK else None
                arrays.setdefault(name, GrowingArray(path)).append(part)
            held = sum(array.n_bytes for array in arrays.values())
            if folder is None and spill is not None and held > room / _COPIES:
                folder = spill()
                for name in {*arrays} & {*_ON_DISK}:
                    arrays[name].move(folder.path / f"{name}.npy")
            if piece.ids is not None:
                ids = ids or []
                ids += piece.ids
            if n_read >= 2 * told:
                told = n_read
                tell(f"reading {reader.source}: {told:,} rows")
    finally:
        reader.request.source.close()
    if not arrays:
        what = "has no row without missing values" if n_read else "is empty: it has no rows"
        raise DataError(f"{reader.source} {what}.")
    found: dict[str, Any] = {name: array.finish() for name, array in arrays.items()}
    codes: npt.NDArray[np.int32] = found.pop("codes")
    arrays.clear()
    recipe = reader.recipe()
    label = reader.label
    classes = None
    matrix = found.get("X")
    if matrix is None:
        matrix = _sparse(found, folder, recipe.n_features, reader.shift())
    notes = [*reader.notes, *reader.final_notes()]
    if label is not None and codes.min() >= 0:
        meant: Any = labels_of([key for _, key in keys], reader.label_form)
        classes, order = np.unique(meant, return_inverse=True)  # two keys may mean one label
        take_rows(order, codes, out=codes)
        if reader.request.recipe is None:
            advice = "; choose the label with --label" if recipe.family == "table" else ""
            note = check_are_classes(classes, n_rows, reader.source, label, advice)
            notes += [note] if note else []
    elif label is not None:
        notes.append(f"labels are missing in column {quoted(label)}: it is not used")
    if folder is not None and folder.temporary:
        notes.append(
            "the rows lie in arrays on disk that go when this command ends; with --cache DIR they "
            "are kept, and the next command that reads the same data need not parse it again"
        )
    at = [np.concatenate(part) for part in zip(*reader.imputed, strict=True)]
    data = Dataset(
        matrix,
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


def _sparse(found: dict[str, Any], folder: ArrayFolder | None, width: int, shift: int) -> Any:
    """A CSR array; ``shift`` is what its indices are too large by."""
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
