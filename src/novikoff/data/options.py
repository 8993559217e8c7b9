"""What a user asks for when data is read: options of files, options of streams, and sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from novikoff.data.formats import FILE_FORMATS
from novikoff.data.messages import quoted
from novikoff.errors import DataError

_SIZE_TEXT: Final = re.compile(
    r"([0-9]+(?:\.[0-9]*)?(?:e[0-9]{1,2})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE
)


@dataclass(frozen=True)
class ReadOptions:
    """How a file is to be read; every field is optional.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "jsonl"}, optional
        The format. By default it is found from the file's name (without a ``.gz`` at its end),
        or else from the first bytes.
    label : str or int, optional
        The column of the labels: its name, or its number, counted from 1, or from the end if
        negative. Text of digits is a name if a column has this name, otherwise a number. By
        default the column named label, target, y or class, or else the last column.
    features, drop : tuple of str
        The columns that become features, by name or number, in this order; and the columns to
        leave out.
    id : str, optional
        A column that names the rows; never a feature.
    one_hot : tuple of str
        Columns of text to replace by one column of 0 and 1 for each of their values; "*" stands
        for all columns of text. Every value gets a column: no value is left out as a reference.
    missing : {"refuse", "drop", "mean"}
        How missing values are treated: they are an error, their rows are left out, or the mean
        of the column replaces them.
    regression : bool
        Whether the rows are those of a regression. Then the label is the outcome: it may be any
        number, and no column is taken for it unless ``label`` names it. Columns of text become
        factors, as with ``one_hot="*"``.
    header, delimiter : bool, and str, optional
        Whether the first line names the columns, and the character between fields. By default
        both are found from the first rows; the delimiters that are tried are comma, semicolon,
        tab and bar.
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
    regression: bool = False

    def __post_init__(self) -> None:
        mark = "," if self.delimiter is None else self.delimiter
        if self.format is not None and self.format not in FILE_FORMATS:
            known = ", ".join(FILE_FORMATS)
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

    @property
    def needs_all_rows(self) -> bool:
        """Whether all rows are needed at once: to find the values of text, or means."""
        return bool(self.one_hot) or self.missing == "mean" or self.regression


@dataclass(frozen=True)
class StreamOptions:
    """How a stream of rows is to be read; every field is optional.

    Parameters
    ----------
    reading : ReadOptions
        The options that files have, too.
    hash_bits : int, optional
        Hash the names of features to 2^bits columns.
    names : bool
        Read the features of ``label feature:value …`` rows as names, even if they are numbers.
    text_labels : bool
        Read labels as text, even if they are numbers.
    skip_bad : bool
        Leave out a row of text that cannot be used. It becomes a piece without rows that has the
        error.
    """

    reading: ReadOptions = ReadOptions()
    hash_bits: int | None = None
    names: bool = False
    text_labels: bool = False
    skip_bad: bool = False


def parse_size(size: int | str) -> int:
    """Return the number of bytes of a size such as 500MB, 2GB, 1.5GiB or 1e9.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1KiB"), parse_size(700)
    (2000000000, 1024, 700)
    """
    match = _SIZE_TEXT.fullmatch(str(size).strip())
    if match is None:
        raise DataError(f"{quoted(str(size))} is not a size such as 500MB or 2GB.")
    power = " kmgt".index(match[2].lower() or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)
