"""Rows: in pieces as a reader gives them (`Piece`), and all of them (`Dataset`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import CodedLabels, check_labels
from novikoff.core.rows import Floats, Indices
from novikoff.data.labels import LabelArray
from novikoff.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.data.recipe import Recipe

Imputed: TypeAlias = tuple[Indices, Indices]  # rows and columns of X

# Codes taken at a time: NumPy makes a copy of them as 64-bit integers.
_DECODED_ROWS: Final = 1 << 20


class Position(NamedTuple):
    """A position between two rows of a source.

    ``offset`` counts the bytes before it (the rows, in binary files), ``line`` the lines, ``row``
    the rows, and ``dropped`` those of the rows that were left out.
    """

    offset: int = 0
    line: int = 0
    row: int = 0
    dropped: int = 0


@dataclass
class Piece:
    """Consecutive rows of a source.

    Attributes
    ----------
    X : array or CSR array
        The features.
    codes, labels : array of int64, and sequence
        The label of row k is ``labels[codes[k]]``; a code of -1 means that the row has no label.
    rows : array of int64
        The number of each row in the source, counted from 1. Rows that were left out are counted.
    ids : list of str or None
        The names of the rows, if a column has names.
    begin, end : Position
        The positions before the first row and behind the last.
    locate : callable or None
        In text, finds the position behind the first k rows, including rows that were left out.
    refused : DataError or None
        The error of a bad row that was skipped; this piece stands for it and has no rows.
    text : bytes
        The text from which the rows were read.
    """

    X: Floats | sp.csr_array
    codes: Indices
    labels: Sequence[Hashable]
    rows: Indices
    ids: list[str] | None
    begin: Position
    end: Position
    locate: Callable[[int], Position] | None = None
    refused: DataError | None = None
    text: bytes = b""

    @classmethod
    def refusal(cls, error: DataError, begin: Position, end: Position, text: bytes) -> Piece:
        """Return a piece without rows that stands for a bad row."""
        none = np.empty(0, np.int64)
        return cls(np.empty((0, 0)), none, [], none, None, begin, end, refused=error, text=text)

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, k: int) -> Position:
        """Return the position behind the first k rows."""
        if k == len(self):
            return self.end
        read = int(self.rows[k - 1]) - self.begin.row if k else 0
        row, found = self.begin.row + read, self.begin
        if read and self.locate is None:
            found = Position(offset=row, row=row)
        elif read and self.locate is not None:
            found = self.locate(read)
        return found._replace(dropped=self.begin.dropped + read - k)


@dataclass(frozen=True)
class Dataset:
    """The rows of a file, their labels, and how they were read.

    Attributes
    ----------
    X : array or CSR array
        The features; an array is C-contiguous.
    codes, classes : array of int32 and array, or None
        The different labels, sorted, and for each row the position of its label among them. Labels
        are integers, floats, truth values or text. Both are None if there are no labels, which only
        ``labelled=False`` allows.
    y : array or None
        The label of each row, ``classes[codes]``.
    names, label : sequence of str, and str or None
        The name of each column of X, and the name of the label's column.
    recipe : Recipe
        How to read other files in the same way.
    source : str
        The name of the file; "-" for the standard input.
    notes : list of str
        What was decided for the user, in short sentences.
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
        """The classes and codes, which `novikoff.jobs.study` takes; DataError without labels."""
        if self.codes is None or self.classes is None:
            raise DataError(f"{self.source} has no label column.")
        try:
            return CodedLabels(check_labels(self.classes), cast("Any", self.codes))
        except DataError as error:
            raise DataError(f"{self.source}: {error}") from None


def take_rows(
    values: npt.NDArray[Any], codes: npt.NDArray[np.int32], out: npt.NDArray[Any]
) -> None:
    """Set ``out`` to ``values[codes]``, some rows at a time; ``out`` may be ``codes`` itself."""
    for first in range(0, len(codes), _DECODED_ROWS):
        some = slice(first, first + _DECODED_ROWS)
        out[some] = values[codes[some]]


def csr(parts: Sequence[Any], n_rows: int, width: int) -> Any:
    """Return a CSR array of data, ascending indices, and indptr."""
    import scipy.sparse as sp

    X = sp.csr_array(tuple(parts), shape=(n_rows, width))
    X.has_canonical_format = True  # SciPy need not check it
    return X
