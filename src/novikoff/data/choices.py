"""What is asked of a reader, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, quoted
from novikoff.data.recipe import Recipe

if TYPE_CHECKING:
    import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Labels: TypeAlias = (
    npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.bool_] | npt.NDArray[np.str_]
)

FORMATS = ("csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight")


@dataclass(frozen=True)
class Choices:
    """What a user asks of a reader; all of it is optional.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight"}, optional
        The format; by default that of the file's name (a ``.gz`` at its end does not count),
        then that of its first bytes.
    label : str or int, optional
        The column of the labels: its name, or its number, counted from 1, or from the end if
        negative. Text of digits is a name if there is such a column, else a number. By default
        the column named label, target, y or class, else the last one.
    features : tuple of str
        Only these columns, by name or number, in this order.
    drop : tuple of str
        Columns to leave out.
    id : str, optional
        A column that names the rows; never a feature.
    one_hot : tuple of str
        Columns of text to replace by one column of 0 and 1 for each of their values; "*" stands
        for all columns of text. Every value gets its column: none is left out as a reference.
    missing : {"refuse", "drop", "mean"}
        What becomes of missing values: an error, the row is left out, or the column's mean.
    header : bool, optional
        Whether the first line names the columns; found out by default.
    delimiter : str, optional
        What stands between fields; by default found out among comma, semicolon, tab and bar.
    decimal : {".", ","}
        The decimal point.

    Examples
    --------
    >>> Choices(label="Class", one_hot=("*",)).missing
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

    @classmethod
    def of(cls, recipe: Recipe) -> Choices:
        """What would have to be asked for to read a file by a recipe, text columns apart."""
        return cls(
            label=recipe.label if recipe.family == "table" else None,
            features=tuple(column.name for column in recipe.columns),
            id=recipe.id,
            missing=recipe.missing,
            header=recipe.header,
            delimiter=recipe.delimiter,
            decimal=recipe.decimal or ".",
        )

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            known = ", ".join(FORMATS)
            raise DataError(f"The format {quoted(self.format)} is unknown; there are {known}.")
        if self.missing not in ("refuse", "drop", "mean"):
            raise DataError(
                f"Missing values can be treated by refuse, drop or mean, not {self.missing!r}."
            )
        if self.decimal not in (".", ","):
            raise DataError(f"The decimal point can be . or , but not {quoted(self.decimal)}.")
        if self.delimiter is not None:
            _check_delimiter(self.delimiter, self.decimal)


@dataclass(frozen=True)
class Dataset:
    """Rows, their labels, and how they came about.

    Attributes
    ----------
    X : C-contiguous float64 or float32 array, or CSR array
        The features.
    y : array of int64, float64, bool or str, or None
        The labels; None if there are none, which only ``labelled=False`` allows.
    names : sequence of str
        One for each column of X.
    recipe : Recipe
        How to read other files in the same way.
    source : str
        The name of the file as given; "-" for the standard input.
    label : str or None
        The name of the label's column.
    notes : list of str
        What was decided for the user, in short sentences.
    ids : list of str or None
        The names of the rows, if a column of them was chosen.
    rows : array of int64
        The number of each row in the file, counted from 1 without the header.
    imputed : pair of arrays of int64, or None
        The rows and columns of X where a mean stands for what is missing.
    n_read : int or None
        How many rows the file has, those that were left out included, where it is known.
    """

    X: npt.NDArray[np.float64] | npt.NDArray[np.float32] | sp.csr_array
    y: Labels | None
    names: Sequence[str]
    recipe: Recipe
    source: str
    label: str | None
    notes: list[str]
    ids: list[str] | None
    rows: npt.NDArray[np.int64]
    imputed: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None
    n_read: int | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows)

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


def numbers_of(n_rows: int, dropped: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers, from 1, of the rows that are left when some of a file are left out.

    Examples
    --------
    >>> numbers_of(3, np.array([2, 4])).tolist()
    [1, 3, 5]
    """
    every = np.ones(n_rows + len(dropped), dtype=np.bool_)
    every[dropped - 1] = False
    return np.flatnonzero(every) + 1


def _check_delimiter(delimiter: str, decimal: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise DataError(
            f"The delimiter must be one ASCII character and no quote, not {quoted(delimiter)}."
        )
    if delimiter == decimal:
        raise DataError(f"The delimiter and the decimal point are both {quoted(decimal)}.")
