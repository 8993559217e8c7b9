"""The way data is asked for (`ReadOptions`) and the forms it comes in (`Dataset`, `Piece`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.rows import Floats, Indices
from novikoff.data.formats import FORMATS
from novikoff.data.labels import Labels
from novikoff.data.messages import quoted
from novikoff.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from novikoff.data.recipe import Recipe

Imputed: TypeAlias = tuple[Indices, Indices]

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[0-9]{1,2})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class ReadOptions:
    """The way a file is to be read; every field is optional.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "jsonl"}, optional
        The format; by default that of the file's name (a ``.gz`` at its end does not count),
        then that of its first bytes.
    label : str or int, optional
        The column of the labels: its name, or its number, counted from 1, or from the end if
        negative. Text of digits is a name if there is such a column, else a number. By default
        the column named label, target, y or class, else the last one.
    features, drop : tuple of str
        Only these columns, by name or number, in this order; columns to leave out.
    id : str, optional
        A column that names the rows; never a feature.
    one_hot : tuple of str
        Columns of text to replace by one column of 0 and 1 for each of their values; "*" stands
        for all columns of text. Every value gets its column: none is left out as a reference.
    missing : {"refuse", "drop", "mean"}
        What becomes of missing values: an error, the row is left out, or the column's mean.
    header, delimiter : bool, and str, optional
        Whether the first line names the columns, and what stands between fields: comma, semicolon,
        tab or bar. Both are found out by default.
    decimal : {".", ","}
        The decimal point.

    Examples
    --------
    >>> ReadOptions(label="Class", one_hot=("*",)).missing
    'refuse'
    """

    format: str | None = None
    label: str | int | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    one_hot: tuple[str, ...] = ()
    missing: Literal["refuse", "drop", "mean"] = "refuse"
    header: bool | None = None
    delimiter: str | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        mark = "," if self.delimiter is None else self.delimiter
        if self.format is not None and self.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise DataError(f"The format {quoted(self.format)} is unknown; there are {known}.")
        if self.missing not in ("refuse", "drop", "mean"):
            raise DataError(
                f"Missing values can be treated by refuse, drop or mean, not {self.missing!r}."
            )
        if self.decimal not in (".", ","):
            raise DataError(f"The decimal point can be . or , but not {quoted(self.decimal)}.")
        if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
            raise DataError(
                f"The delimiter must be one ASCII character and no quote, not {quoted(mark)}."
            )
        if self.delimiter == self.decimal:
            raise DataError(f"The delimiter and the decimal point are both {quoted(mark)}.")


@dataclass(frozen=True)
class StreamOptions:
    """The way an unending source is to be read: as any file, and more.

    With ``hash_bits``, the names of features are hashed to 2^bits columns. With ``names``, the
    features of ``label feature:value …`` rows are names even if they look like numbers, and with
    ``text_labels`` so are labels text. With ``skip_bad``, a row of text that cannot be used is left
    out: it comes as a piece of no rows that says why.
    """

    reading: ReadOptions = ReadOptions()
    hash_bits: int | None = None
    names: bool = False
    text_labels: bool = False
    skip_bad: bool = False


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


def parse_size(size: int | str) -> int:
    """The number of bytes that a size such as 500MB, 2GB, 1.5GiB or 1e9 stands for.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1KiB"), parse_size(700)
    (2000000000, 1024, 700)
    """
    match = _SIZE.fullmatch(str(size).strip())
    if match is None:
        raise DataError(f"{quoted(str(size))} is not a size such as 500MB or 2GB.")
    power = " kmgt".index(match[2].lower() or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)
