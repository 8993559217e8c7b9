"""Read all rows of a file, in any format, into arrays.

`read` opens a source and finds its format and the roles of its columns from its beginning. The
reader of the format yields pieces of rows, and `read` joins the pieces, in memory or on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import CodedLabels, check_labels
from novikoff.core.rows import Floats, Indices
from novikoff.data.messages import printable_name, quoted
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.pairs import PairRows, is_named, may_be_pairs
from novikoff.data.reader import AnyArray, Imputed, Reader, Request, csr
from novikoff.data.recipe import Recipe
from novikoff.data.source import FILE_FORMATS, ColumnFamily, PathOrFile, Source, parquet_files
from novikoff.data.values import LabelArray, check_are_classes, labels_of
from novikoff.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.data.on_disk import ArrayFolder

_DEFAULT: Final = ReadOptions()
# This many codes are decoded at a time, because NumPy copies them as 64-bit integers.
_DECODED_ROWS: Final = 1 << 20


@dataclass(frozen=True)
class Dataset:
    """The rows of a file, their labels, and how they were read.

    Attributes
    ----------
    X : array or CSR array
        The features; an array is C-contiguous.
    codes, classes : array of int32 and array, or None
        ``classes`` are the different labels, sorted: integers, floats, truth values or text.
        ``codes`` has the position in ``classes`` of the label of each row. Both are None if there
        are no labels, which only ``labelled=False`` allows.
    y : array or None
        The label of each row, ``classes[codes]``.
    names, label : sequence of str, and str or None
        The name of each column of X, and the name of the label's column.
    recipe : Recipe
        How to read other files in the same way.
    source : str
        The name of the file; "-" for the standard input.
    notes : list of str
        The decisions that the reader made for the user, in short sentences.
    rows, ids : array of int64, and list of str or None
        The number of each row in the file, counted from 1 without the header, and the names of the
        rows, if a column has names.
    imputed : pair of arrays of int64, or None
        The rows and columns of X where a mean replaces a missing value.
    n_read : int or None
        The number of rows in the file, including rows that were left out.
    on_disk : bool
        Whether X is in memory-mapped files.
    """

    X: Floats | sp.csr_array
    codes: npt.NDArray[np.int32] | None
    classes: LabelArray | None
    recipe: Recipe
    source: str
    label: str | None
    notes: list[str]
    ids: list[str] | None
    rows: Indices
    imputed: Imputed | None = None
    n_read: int | None = None
    on_disk: bool = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    @property
    def names(self) -> Sequence[str]:
        """The name of each column of X."""
        return self.recipe.names

    @property
    def sparse(self) -> bool:
        """Whether X is a CSR array."""
        return not isinstance(self.X, np.ndarray)

    @cached_property
    def y(self) -> LabelArray | None:
        """The label of each row; None if there are no labels."""
        if self.codes is None or self.classes is None:
            return None
        y = np.empty(len(self.codes), self.classes.dtype)
        take_rows(self.classes, self.codes, y)
        return cast(LabelArray, y)

    @property
    def labels(self) -> LabelArray:
        """The label of each row; DataError if there are no labels."""
        if self.y is None:
            raise DataError(f"{self.source} has no label column.")
        return self.y

    @property
    def coded_labels(self) -> CodedLabels:
        """The classes and codes, as `novikoff.jobs.study` needs them; DataError without labels."""
        if self.codes is None or self.classes is None:
            raise DataError(f"{self.source} has no label column.")
        try:
            return CodedLabels(check_labels(self.classes), cast("Any", self.codes))
        except DataError as error:
            raise DataError(f"{self.source}: {error}") from None


def take_rows(
    values: npt.NDArray[Any], codes: npt.NDArray[np.int32], out: npt.NDArray[Any]
) -> None:
    """Set ``out`` to ``values[codes]``, part by part; ``out`` may be ``codes`` itself."""
    for first in range(0, len(codes), _DECODED_ROWS):
        rows_of_block = slice(first, first + _DECODED_ROWS)
        out[rows_of_block] = values[codes[rows_of_block]]


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
        A file, the standard input, or a folder of Parquet files. Gzip is unpacked, whatever name
        the file has.
    options : ReadOptions
        The user's options. Everything else is found from the file, and noted.
    recipe : Recipe, optional
        The recipe of an earlier dataset. The columns of the recipe are found by name, or by number
        in svmlight and npz files, and its means replace missing values.
    labelled : bool
        Whether rows must have labels.
    progress : callable, optional
        Called with a short text when a step begins.
    max_memory : int or str, optional
        A size such as "1GB". Data that may need more memory becomes memory-mapped arrays on disk.
    cache : path, optional
        A folder that keeps these arrays, so that the next call need not parse the file. Without it,
        they are in a temporary folder until the process ends.

    Returns
    -------
    Dataset
        Features, labels, and how they were read.

    Raises
    ------
    DataError
        If the file cannot be read, or a value cannot be used. The message names row and column.

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
    name = printable_name(path)
    arrays = JoinedArrays()
    try:
        if max_memory is not None or cache is not None:
            from novikoff.data.on_disk import FolderArrays

            arrays = FolderArrays(path, options, recipe, labelled, max_memory, cache)
            stored = arrays.folder and arrays.folder.load()
            if stored:
                return stored
        tell(f"reading {name}")
        return join(open_reader(path, options, recipe, labelled=labelled), arrays, tell)
    except BaseException as error:
        if arrays.folder is not None:
            arrays.folder.remove()
        if not isinstance(error, MemoryError):
            raise
        limit = options.say("max_memory")
        raise DataError(
            f"{name} does not fit into memory; with {limit} it is kept on disk."
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
        files[0] if files else path, options.format, sniff_early=as_they_come, least_lines=lines
    )
    if files:
        source.name, source.files = printable_name(path), files
    stream = StreamOptions(options) if as_they_come else None
    try:
        return make_reader(Request(source, options, recipe, labelled, stream))
    except BaseException:
        source.close()
        raise


def make_reader(request: Request) -> Reader:
    """Return the reader for the format of a source, and for the recipe of a model, if any."""
    source, known = request.source, request.recipe or request.resumed_recipe
    family = FILE_FORMATS[source.format].family
    csv = source.format == "csv"
    # Text without a known name may be rows of pairs such as "spam offer:1" instead of CSV.
    if known is None:
        is_stated = request.options.format or source.name.endswith((".csv", ".csv.gz"))
        pairs = request.stream is not None and csv and not is_stated and is_named(source.head)
    elif request.resumed_recipe is not None:
        pairs = csv and known.family != "table"
    else:
        named = known.family == "named"
        pairs = known.family not in ("table", family) and may_be_pairs(source, named=named)
    if pairs:
        return PairRows(request)
    if known is not None and request.resumed_recipe is None and family != known.family:
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
    arrays: JoinedArrays | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Dataset:
    """Join all pieces of a reader into a dataset, in memory or in the folder of ``arrays``."""
    arrays = arrays or JoinedArrays()
    n_read = n_rows = announced = 0
    keys = dict[tuple[type, Hashable], int]()  # includes the types, because True equals 1
    ids = cast("list[str] | None", None)
    with closing(reader.request.source):
        for piece in reader.pieces():
            if piece is None:
                continue
            n_read, n_before = piece.end.row, n_rows
            n_rows += len(piece.rows)
            numbers = [keys.setdefault((type(key), key), len(keys)) for key in piece.labels]
            if n_rows > n_before:
                if n_read > n_rows:  # rows were left out, so the other rows need their numbers
                    if n_before and "rows" not in arrays.lengths:
                        arrays.append(rows=np.arange(1, n_before + 1))
                    arrays.append(rows=piece.rows)
                arrays.append(codes=np.array([*numbers, -1], np.int32)[piece.codes])
                arrays.append_matrix(piece.X)
            if piece.ids is not None:
                ids = [*(ids or []), *piece.ids]
            if n_read >= 2 * announced:
                announced = n_read
                tell(f"reading {reader.source}: {announced:,} rows")
    if not n_rows:
        what = "has no row without missing values" if n_read else "is empty: it has no rows"
        raise DataError(f"{reader.source} {what}.")
    joined: dict[str, Any] = arrays.finish()
    recipe, label, folder = reader.recipe(), reader.label, arrays.folder
    if "X" not in joined:
        joined["X"] = _join_sparse(joined, folder, recipe.n_features, reader.first_column())
    codes = joined["codes"]
    classes, label_notes = _sort_classes(reader, [key for _, key in keys], codes, recipe.family)
    notes = [*reader.notes, *reader.final_notes(), *label_notes]
    if folder is not None and folder.temporary:
        cache = reader.request.options.say("cache")
        notes.append(
            f"the arrays are in temporary files on disk; with {cache} they are kept, and need not "
            "be parsed again when the same data is read"
        )
    at = [np.concatenate(part) for part in zip(*reader.imputed, strict=True)]
    data = Dataset(
        joined["X"],
        None if classes is None else codes,
        classes,
        recipe,
        reader.source,
        label,
        notes,
        ids,
        joined["rows"] if "rows" in joined else np.arange(1, n_rows + 1),
        imputed=(at[0], at[1]) if at else None,
        n_read=n_read,
        on_disk=folder is not None,
    )
    if folder is not None:
        folder.keep(data)
    return data


def _sort_classes(
    reader: Reader, keys: Sequence[Hashable], codes: npt.NDArray[np.int32], family: ColumnFamily
) -> tuple[LabelArray | None, list[str]]:
    """Return the sorted classes that keys stand for, and notes; ``codes`` becomes their codes.

    The classes are None if there are no labels, or if some rows have none.
    """
    label, request = reader.label, reader.request
    if label is None:
        return None, []
    if codes.min() < 0:
        return None, [f"labels are missing in column {quoted(label)}: it is not used"]
    labels: Any = labels_of(keys, reader.label_form)
    classes, order = np.unique(labels, return_inverse=True)
    take_rows(order, codes, out=codes)
    if request.recipe is not None or request.options.regression:
        return classes, []
    advice = f"; choose the label with {request.options.say('label')}" if family == "table" else ""
    note = check_are_classes(classes, len(codes), reader.source, label, advice)
    return classes, [note] if note else []


class JoinedArrays:
    """Arrays by name that grow in memory by appending parts.

    Attributes
    ----------
    lengths : dict
        The number of rows of each array so far.
    folder : ArrayFolder or None
        Used by `novikoff.data.on_disk.FolderArrays`: the folder in which arrays grow instead.
    """

    folder: ArrayFolder | None = None

    def __init__(self) -> None:
        self.lengths = dict[str, int]()
        self._arrays = dict[str, AnyArray]()  # hold the rows so far, and space for more

    def append(self, **parts: AnyArray) -> None:
        """Append each part to the array of its name; the caller must not change it afterwards."""
        for name, part in parts.items():
            begin = self.lengths.get(name, 0)
            end = self.lengths[name] = begin + len(part)
            if not begin:
                self._arrays[name] = part  # not copied: it is often the only part
                continue
            if end > len(self._arrays[name]):
                self._resize(name, end + end // 8)
            self._arrays[name][begin:end] = part

    def append_matrix(self, X: Floats | sp.csr_array) -> None:
        """Append the rows of a matrix: to ``X``, or to the parts of a CSR array."""
        if isinstance(X, np.ndarray):
            self.append(X=X)
        else:
            self.append(data=X.data, indices=X.indices, lengths=np.diff(X.indptr))

    def finish(self) -> dict[str, AnyArray]:
        """Return the whole arrays."""
        for name, array in self._arrays.items():
            if len(array) > self.lengths[name]:
                self._resize(name, self.lengths[name])
        return self._arrays

    def _resize(self, name: str, length: int) -> None:
        """Change the length in place, so that the system moves pages instead of copying them."""
        array = self._arrays[name]
        if not array.flags.owndata:
            array = self._arrays[name] = array.copy()
        array.resize((length, *array.shape[1:]), refcheck=False)


def _join_sparse(
    joined: dict[str, AnyArray], folder: ArrayFolder | None, width: int, first_column: int
) -> Any:
    """Return the CSR array of these parts, after its indices are reduced by ``first_column``."""
    lengths, indices = joined["lengths"], joined["indices"]
    indptr = np.zeros(len(lengths) + 1, np.int32 if len(indices) < 2**31 else np.int64)
    np.cumsum(lengths, out=indptr[1:])
    if folder is not None:
        return folder.finish_sparse(indptr, first_column, width)
    np.subtract(indices, np.int32(first_column), out=indices)
    return csr((joined["data"], indices, indptr), len(lengths), width)
