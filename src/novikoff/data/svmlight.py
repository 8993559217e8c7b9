"""svmlight: one line for each row, a label and the features that are not zero.

``label [qid:n] index:value index:value … [# comment]``; indices ascend, from 0 or from 1.
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.choices import Choices, Dataset, Labels
from novikoff.data.errors import DataError
from novikoff.data.labels import Typing, written_labels
from novikoff.data.matrices import refuse_columns
from novikoff.data.recipe import Recipe
from novikoff.data.scanner import Indices, Pairs, Row, begins_bare, find_row, fitting, scan_pairs
from novikoff.data.source import Source, open_source
from novikoff.data.text import check_text

if TYPE_CHECKING:
    import scipy.sparse as sp

# From this many bytes on, a file is worth a kernel.
LARGE = 1 << 20


@dataclass(frozen=True)
class Found:
    """What an svmlight file turned out to be.

    Attributes
    ----------
    first : {0, 1}
        The index of the first feature: 0 if it occurs anywhere, else 1.
    n_rows, n_features : int
        The shape of the matrix.
    has_qid : bool
        Whether there are query ids, which are ignored.
    notes : tuple of str
        The same in words.
    """

    first: int
    n_rows: int
    n_features: int
    has_qid: bool
    notes: tuple[str, ...]


class Svmlight(NamedTuple):
    """The rows of an svmlight file as a CSR array, their labels, and what was found out."""

    X: sp.csr_array
    y: Labels
    found: Found


def read_svmlight(
    path: str | os.PathLike[str] | BinaryIO, *, threads: int | None = None
) -> Svmlight:
    r"""Read an svmlight (libsvm) file into a CSR array and its labels, on all cores.

    Every value is the double nearest to its decimal, as Python's ``float`` has it. Labels are
    integers where they are whole numbers, else text, so that no two become one. Lines may end
    in any way and bear comments; query ids are ignored; gzip is unpacked.

    Parameters
    ----------
    path : path, "-" or binary file
        Where the data is; "-" is the standard input.
    threads : int, optional
        How many; by default as many as there are cores.

    Returns
    -------
    Svmlight
        The triple X, y, found: a matrix of float64 with indices of int32 wherever they fit, the
        labels, and what was detected.

    Raises
    ------
    DataError
        If the file cannot be read, a line is not of the form, or a value is not finite.

    Examples
    --------
    >>> import io
    >>> X, y, found = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2 # one\n-1 2:1e-3\n"))
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1, -1])
    >>> found.first, found.n_features, found.notes
    (1, 3, ('indices count from 1',))
    """
    source = open_source(path, "svmlight")
    try:
        file = parsed(source, labelled=True, threads=threads)
        first, width = _indices(file, None)
        X, y, _ = matrix_of(file, Choices(), first, width)
    except MemoryError:
        raise DataError(f"{source.name} does not fit into memory.") from None
    notes = tuple(notes_on(file, first))
    return Svmlight(X, y, Found(first, X.shape[0], width, file.pairs.queries > 0, notes))


def read_rows(
    source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool
) -> Dataset:
    """Read rows of labels and non-zero features into a dataset with a CSR array.

    Raises
    ------
    DataError
        If a line is not of the form, or its indices do not ascend, with the line.
    """
    refuse_columns(source.name, choices, "an svmlight file")
    file = parsed(source, labelled=labelled)
    first, width = _indices(file, recipe)
    notes = notes_on(file, first if recipe is None else None)
    if choices.missing == "mean":
        raise DataError(f"{source.name}: --missing mean is for tables, not for an svmlight file.")
    X, y, rows = matrix_of(file, choices, first, width)
    if not len(rows):
        raise DataError(f"{source.name} has no row without missing values.")
    if len(rows) < file.pairs.n_rows:
        notes.append(f"{file.pairs.n_rows - len(rows):,} rows with missing values dropped")
    label = "label" if file.labelled else None
    if recipe is None:
        recipe = Recipe("matrix", label=label, missing=choices.missing, width=width, first=first)
    labels = y if file.labelled else None
    return Dataset(X, labels, recipe.names, recipe, source.name, label, notes, None, rows)


class File(NamedTuple):
    """A file that was parsed; the text begins after a byte order mark."""

    name: str
    text: memoryview
    labelled: bool
    pairs: Pairs

    def row(self, row: int) -> Row:
        """A row, with its line."""
        return find_row(self.text, row, labelled=self.labelled)


def parsed(source: Source, *, labelled: bool, threads: int | None = None) -> File:
    """The rows of a file: small ones are read line by line, as are those that need explaining."""
    marked = bytes(source.view[:3]) == codecs.BOM_UTF8
    text = source.view[3:] if marked else source.view
    labelled = labelled or not begins_bare(text)
    if len(text) < LARGE:
        check_text(source)
        found = scan_pairs(source.name, text, labelled=labelled)
    else:
        from novikoff.data.pairs import Stopped, explain, parse_pairs

        answer = parse_pairs(text, labelled=labelled, threads=threads)
        if isinstance(answer, Stopped):
            check_text(source)
            explain(source.name, text, stopped=answer, labelled=labelled)
        if not answer.plain:
            check_text(source)
        found = answer
    return File(source.name, text, labelled, found)


def _indices(file: File, recipe: Recipe | None) -> tuple[int, int]:
    """The index of the first feature, and how many there are."""
    name, pairs = file.name, file.pairs
    if not pairs.n_rows:
        raise DataError(f"{name} is empty: it has no rows.")
    if recipe is None:
        first = 0 if pairs.lowest == 0 else 1
        width = pairs.highest + 1 - first if pairs.highest >= 0 else 0
        if width < 1:
            raise DataError(f"{name} has no features: all of its rows are empty.")
        return first, width
    if pairs.lowest == 0 and recipe.first == 1:
        row = _row_of(pairs, int(np.argmax(pairs.indices == 0)))
        raise DataError(
            f"{name}, line {file.row(row).line} has the index 0, but the model counts indices "
            "from 1."
        )
    return recipe.first, recipe.width


def notes_on(file: File, first: int | None) -> list[str]:
    """What was decided."""
    notes = ["query ids (qid) are ignored"] if file.pairs.queries else []
    return notes if first is None else [*notes, f"indices count from {first}"]


def matrix_of(
    file: File, choices: Choices, first: int, width: int, typed: Typing = written_labels
) -> tuple[sp.csr_array, Labels, npt.NDArray[np.int64]]:
    """The features, the labels, and the numbers of the rows that stay, counted from 1."""
    import scipy.sparse as sp

    pairs = file.pairs
    keep = _check_finite(file, choices) if pairs.odd_row >= 0 else None
    values, indices, pointers = pairs.values, pairs.indices, pairs.indptr
    if first > 0:
        indices -= first  # in place: fresh memory is slow
    if pairs.highest - first >= width:
        values, indices, pointers = _within(file, values, indices, width)
    X = sp.csr_array((values, indices, pointers), shape=(pairs.n_rows, width))
    X.has_canonical_format = True  # indices ascend: nobody need look again
    y = typed([text.decode() for text in pairs.labels] or ["0"])[pairs.codes]
    rows = np.arange(1, pairs.n_rows + 1)
    if keep is None or keep.all():
        return X, y, rows
    return X[keep], y[keep], rows[keep]


def _check_finite(file: File, choices: Choices) -> npt.NDArray[np.bool_]:
    """Which rows stay; infinity is refused, and NaN unless such rows are dropped."""
    name, pairs, values = file.name, file.pairs, file.pairs.values
    labels = np.array([float(text) for text in pairs.labels] or [0.0])[pairs.codes]
    bad_rows = np.isinf(labels) if choices.missing == "drop" else ~np.isfinite(labels)
    if bad_rows.any():
        row = int(np.argmax(bad_rows))
        raise DataError(f"{name}, line {file.row(row).line} has the label {labels[row]}.")
    bad = np.isinf(values) if choices.missing == "drop" else ~np.isfinite(values)
    if bad.any():
        at = int(np.argmax(bad))
        row = _row_of(pairs, at)
        what = "infinite or beyond the range of float64" if np.isinf(values[at]) else "missing"
        raise DataError(
            f"{name}, row {row + 1} (line {file.row(row).line}), column "
            f'"{pairs.indices[at]}" is {what}.'
        )
    keep: npt.NDArray[np.bool_] = np.isfinite(labels)
    for at in np.flatnonzero(np.isnan(values)).tolist():
        keep[_row_of(pairs, at)] = False
    return keep


def _within(
    file: File, values: npt.NDArray[np.float64], indices: Indices, width: int
) -> tuple[npt.NDArray[np.float64], Indices, Indices]:
    """Leave out columns beyond the model's, which must be empty."""
    beyond = indices >= width
    filled = beyond & (values != 0.0)
    if filled.any():
        row = _row_of(file.pairs, int(np.argmax(filled)))
        raise DataError(
            f"{file.name}, line {file.row(row).line} has more features than the model's {width:,}."
        )
    pointers = file.pairs.indptr
    kept = np.concatenate([[0], np.cumsum(~beyond)])
    return values[~beyond], indices[~beyond], fitting(kept[pointers], len(indices))


def _row_of(pairs: Pairs, at: int) -> int:
    return int(np.searchsorted(pairs.indptr, at, side="right")) - 1
