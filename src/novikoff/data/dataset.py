"""Rows: in pieces as a reader gives them (`Piece`), and all of them (`Dataset`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.rows import Floats, Indices
from novikoff.data.labels import Labels
from novikoff.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.data.recipe import Recipe

Imputed: TypeAlias = tuple[Indices, Indices]  # rows and columns of X


class Position(NamedTuple):
    """A place between two rows.

    ``offset`` counts bytes (rows, in binary files), ``line`` the lines before it, ``row`` the rows
    before it, ``dropped`` those of them that were left out.
    """

    offset: int = 0
    line: int = 0
    row: int = 0
    dropped: int = 0


@dataclass
class Piece:
    """Consecutive rows of a source.

    The features of row k are ``X[k]``, its label is ``labels[codes[k]]``, where a code of -1 means
    that it has none, its number in the source ``rows[k]``, counted from 1 (rows left out are
    counted), and its name ``ids[k]``, if a column has names. Of a file of text, ``text`` is what
    the rows were read from, and ``locate`` finds the position after a number of rows, those left
    out included. A piece without rows may stand for a row that was ``refused``.
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
        """No rows, in place of one that cannot be used."""
        none = np.empty(0, np.int64)
        return cls(np.empty((0, 0)), none, [], none, None, begin, end, refused=error, text=text)

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, k: int) -> Position:
        """The position after the first k rows."""
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
    """Rows, their labels, and how they came about.

    Attributes
    ----------
    X, y : arrays
        The features, C-contiguous floats or CSR, and the labels, integers, floats, truth values or
        text; y is None if there are none, which only ``labelled=False`` allows.
    names, label : sequence of str, and str or None
        The name of each column of X, and that of the label's column.
    recipe : Recipe
        How to read other files in the same way.
    source : str
        The name of the file as given; "-" for the standard input.
    notes : list of str
        What was decided for the user, in short sentences.
    rows, ids : array of int64, and list of str or None
        The number of each row in the file, counted from 1 without the header, and the names of the
        rows, if a column of them was chosen.
    imputed : pair of arrays of int64, or None
        The rows and columns of X where a mean stands for what is missing.
    n_read : int or None
        The number of rows in the file, those that were left out included.
    on_disk : bool
        Whether X lies in memory-mapped files.
    """

    X: Floats | sp.csr_array
    y: Labels | None
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

    @property
    def labels(self) -> Labels:
        """y, where there must be one."""
        if self.y is None:
            raise DataError(f"{self.source} has no label column.")
        return self.y


def csr(parts: Sequence[Any], n_rows: int, width: int) -> Any:
    """A CSR array of data, indices that ascend, and indptr."""
    import scipy.sparse as sp

    X = sp.csr_array(tuple(parts), shape=(n_rows, width))
    X.has_canonical_format = True  # nobody need look again
    return X
