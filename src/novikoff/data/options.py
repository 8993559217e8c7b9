"""The options of a user for reading files and streams, and how messages call them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from novikoff.data.messages import option_in_python, quoted
from novikoff.data.source import FILE_FORMATS
from novikoff.errors import DataError

if TYPE_CHECKING:
    from novikoff.data.recipe import Recipe


# A function of the name of an option, and of the value that is advised, or None.
Spelling: TypeAlias = Callable[[str, object], str]

_SIZE_TEXT: Final = re.compile(
    r"([0-9]+(?:\.[0-9]*)?(?:e[0-9]{1,2})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE
)


@dataclass(frozen=True)
class ReadOptions:
    """The options for reading a file; every field is optional.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "jsonl"}, optional
        The format. By default it is found from the end of the file's name, before ``.gz``, or else
        from the first bytes.
    label : str or int, optional
        The column of the labels: its name, or its number. Numbers count from 1, negative numbers
        from the end. A text of digits is a name if a column has this name, otherwise a number. By
        default, the column named label, target, y or class, or else the last column.
    features, drop : tuple of str
        The columns that become features, by name or number, in this order; and the columns to
        leave out.
    id : str, optional
        A column that names the rows; never a feature.
    one_hot : tuple of str
        Columns of text, each of which is replaced by one column of 0 and 1 for each of its values;
        "*" stands for all columns of text. No value is left out as a reference level.
    missing : {"error", "drop", "mean"}
        How missing values are treated: "error" raises an error, "drop" leaves out their rows, and
        "mean" replaces them by the mean of the column.
    regression : bool
        Whether the rows are for a regression. Then the label is the outcome, which may be any
        number, and ``label`` must name its column. Columns of text become factors, as with
        ``one_hot="*"``.
    header, delimiter : bool, and str, optional
        Whether the first line names the columns, and the character between fields. By default
        both are found from the first rows; the delimiters that are tried are comma, semicolon,
        tab and bar.
    decimal : {".", ","}
        The decimal point.
    spelling : callable
        How errors and notes write an option: a function of its name and, if one is advised, its
        value. By default options are written as arguments in Python; a command writes its flags.
    aliases : mapping
        The names that the user knows for these options, where they differ, such as
        ``{"label": "outcome"}``.
    column_aliases : mapping
        The option that asked for a column among ``features``, by the name of the column, if it is
        another one than ``features``.

    Examples
    --------
    >>> ReadOptions(label="Class", one_hot=("*",)).missing
    'error'
    """

    format: str | None = None
    label: str | int | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    one_hot: tuple[str, ...] = ()
    missing: Literal["error", "drop", "mean"] = "error"
    header: bool | None = None
    delimiter: str | None = None
    decimal: str = "."
    regression: bool = False
    spelling: Spelling = field(default=option_in_python, compare=False)
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False)
    column_aliases: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        mark = "," if self.delimiter is None else self.delimiter
        if self.format is not None and self.format not in FILE_FORMATS:
            known = ", ".join(FILE_FORMATS)
            raise DataError(f"The format {quoted(self.format)} is unknown; there are {known}.")
        if self.missing not in ("error", "drop", "mean"):
            raise DataError(
                f"Missing values can be treated by error, drop or mean, not {self.missing!r}."
            )
        if self.decimal not in (".", ","):
            raise DataError(f"The decimal point can be . or , but not {quoted(self.decimal)}.")
        if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
            raise DataError(
                f"The delimiter must be one ASCII character and no quote, not {quoted(mark)}."
            )
        if self.delimiter == self.decimal:
            raise DataError(f"The delimiter and the decimal point are both {quoted(mark)}.")

    def to_json(self) -> dict[str, object]:
        """Return the options that affect what is read, as JSON values."""
        return {key.name: getattr(self, key.name) for key in fields(self) if key.compare}

    def say(self, option: str, value: object = None) -> str:
        """Return how errors and notes write an option, with a value if they advise one.

        Examples
        --------
        >>> options = ReadOptions(aliases={"label": "outcome"})
        >>> options.say("label", "died"), options.say("missing", "drop"), options.say("cache")
        ("outcome='died'", "missing='drop'", 'cache')
        """
        return self.spelling(self.aliases.get(option, option), value)

    def say_asked(self, option: str, column: str | int) -> str:
        """Return how errors write the option that asked for a column.

        Examples
        --------
        >>> options = ReadOptions(features=("n", "x"), column_aliases={"n": "trials"})
        >>> options.say_asked("features", "n"), options.say_asked("features", "x")
        ('trials', 'features')
        """
        if option == "features" and column in self.column_aliases:
            return self.spelling(self.column_aliases[str(column)], None)
        return self.say(option)

    def needs_all_rows(self, recipe: Recipe | None) -> bool:
        """Return whether all rows are needed at once, to find the values of text columns, or means.

        The recipe of a model already has the values and means.
        """
        needs = bool(self.one_hot) or self.missing == "mean" or self.regression
        return needs and recipe is None


@dataclass(frozen=True)
class StreamOptions:
    """The options for reading a stream of rows; every field is optional.

    Parameters
    ----------
    reading : ReadOptions
        The options that also apply to files.
    hash_bits : int, optional
        Hash the names of features to 2^bits columns.
    names : bool
        Read the features of ``label feature:value …`` rows as names, even if they are numbers.
    text_labels : bool
        Read labels as text, even if they are numbers.
    skip_bad : bool
        Leave out rows of text that cannot be used. Each becomes a piece without rows, which has
        the error.
    """

    reading: ReadOptions = ReadOptions()
    hash_bits: int | None = None
    names: bool = False
    text_labels: bool = False
    skip_bad: bool = False


def parse_size(size: int | str) -> int:
    """Return the number of bytes that a size such as 500MB, 2GB, 1.5GiB or 1e9 stands for.

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
