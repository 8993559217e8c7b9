"""The recipe of a dataset: enough to read the next file in the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeVar, cast, overload

from novikoff.data.errors import DataError, quoted

_MOST_COLUMNS = 2**31 - 1
_STREAMS = {"bits", "texts", "features"}  # recipes of whole files need not have them
_MANY_NAMES = 1_000_000  # beyond it names are made when they are asked for

Scalar = TypeVar("Scalar", bound=object)


@dataclass(frozen=True)
class Column:
    """One column of the input: a number, or text that becomes one column for each value.

    Parameters
    ----------
    name : str
        Its name in the file.
    mean : float or None
        What replaces a missing number; None if nothing does.
    levels : tuple of str or None
        For text: its values, sorted. Every value has its column, none is left out.
    """

    name: str
    mean: float | None = None
    levels: tuple[str, ...] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the features that this column becomes."""
        if self.levels is None:
            return [self.name]
        return [f"{self.name}={level}" for level in self.levels]


@dataclass(frozen=True)
class NumberedNames(Sequence[str]):
    """Names x1, x2 and so on, made when they are asked for: there may be very many.

    Examples
    --------
    >>> names = NumberedNames(0, 2**31)
    >>> len(names), names[0], names[-1], "x7" in names
    (2147483648, 'x0', 'x2147483647', True)
    """

    first: int
    width: int

    def __len__(self) -> int:
        return self.width

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        numbers = range(self.first, self.first + self.width)[at]
        return f"x{numbers}" if isinstance(numbers, int) else [f"x{number}" for number in numbers]

    def __contains__(self, name: object) -> bool:
        match = re.fullmatch(r"x(0|[1-9][0-9]*)", name) if isinstance(name, str) else None
        return match is not None and 0 <= int(match[1]) - self.first < self.width


@dataclass(frozen=True)
class Recipe:
    """Which columns of a file become which features.

    Parameters
    ----------
    family : {"table", "matrix", "named"}
        Whether columns are known by name (CSV, Parquet, Arrow, npy) or number (svmlight, npz), or
        rows are lines of ``label name:value …``.
    columns : tuple of Column
        The input columns of a table, in the order of the features; empty for a matrix.
    label, id : str or None
        The columns of the labels and of the rows' names.
    missing : {"refuse", "drop", "mean"}
        How missing values were treated.
    width : int
        How many columns the file has, for a matrix without the label.
    first : int
        The number of a matrix's first column: 1, or 0 for an svmlight file that counts from 0.
    header, delimiter, decimal
        What was chosen for reading text; None where it was found out.
    bits : int or None
        The features of a stream are hashed to 2^bits columns.
    texts : tuple of str
        Columns of a stream's table whose values are features of their own, ``column=value``.
    features : tuple of str or None
        The names of features that were numbered as they came.

    Examples
    --------
    >>> columns = (Column("age"), Column("colour", levels=("blue", "red")))
    >>> recipe = Recipe("table", columns, label="y", width=3)
    >>> recipe.names
    ['age', 'colour=blue', 'colour=red']
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    family: Literal["table", "matrix", "named"]
    columns: tuple[Column, ...] = ()
    label: str | None = None
    id: str | None = None
    missing: Literal["refuse", "drop", "mean"] = "refuse"
    width: int = 0
    first: int = 1
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    bits: int | None = None
    texts: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None

    @property
    def spread(self) -> bool:
        """Whether cells become features by what they say, so that rows are sparse."""
        return self.bits is not None or self.features is not None

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.names)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        if self.features is not None:
            return list(self.features)
        if self.family == "matrix" or self.bits is not None:
            width = self.width if self.bits is None else 1 << self.bits
            names = NumberedNames(self.first if self.bits is None else 0, width)
            return names if width > _MANY_NAMES else names[:]
        return [name for column in self.columns for name in column.names]

    def to_json(self) -> dict[str, object]:
        """The recipe as JSON values."""
        return {
            "family": self.family,
            "columns": [_column_to_json(column) for column in self.columns],
            "label": self.label,
            "id": self.id,
            "missing": self.missing,
            "width": self.width,
            "first": self.first,
            "header": self.header,
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "bits": self.bits,
            "texts": list(self.texts),
            "features": None if self.features is None else list(self.features),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Recipe:
        """The recipe that `to_json` wrote.

        Raises
        ------
        DataError
            If a field is not there, unknown, or not of its type.
        """
        fields = _fields(value, "The recipe", set(cls.__dataclass_fields__), _STREAMS)
        family = fields["family"]
        if family not in ("table", "matrix", "named"):
            raise DataError('The recipe\'s family is not "table", "matrix" or "named".')
        missing = fields["missing"]
        if missing not in ("refuse", "drop", "mean"):
            raise DataError('The recipe\'s "missing" is not one of refuse, drop and mean.')
        columns = fields["columns"]
        if not isinstance(columns, list):
            raise DataError("The recipe's columns are not a list.")
        recipe = cls(
            family=family,
            columns=tuple(_column_from_json(column) for column in columns),
            label=_optional(fields, "label", str),
            id=_optional(fields, "id", str),
            missing=missing,
            width=_integer(fields, "width", _MOST_COLUMNS),
            first=_integer(fields, "first", 1),
            header=_optional(fields, "header", bool),
            delimiter=_character(fields, "delimiter"),
            decimal=_character(fields, "decimal"),
            bits=None if fields.get("bits") is None else _integer(fields, "bits", 31),
            texts=_texts(fields.get("texts", []), "texts"),
            features=(
                None if fields.get("features") is None else _texts(fields["features"], "features")
            ),
        )
        _check_consistent(recipe)
        return recipe


def _check_consistent(recipe: Recipe) -> None:
    if recipe.decimal not in (None, ".", ","):
        raise DataError('The recipe\'s "decimal" is neither a point nor a comma.')
    if recipe.delimiter is not None and (recipe.delimiter in '"\r\n\0' or recipe.delimiter > "~"):
        raise DataError('The recipe\'s "delimiter" cannot stand between fields.')
    if recipe.delimiter is not None and recipe.delimiter == (recipe.decimal or "."):
        raise DataError("The recipe's delimiter is its decimal point.")
    if recipe.features is not None and (
        recipe.bits is not None or len(set(recipe.features)) < len(recipe.features)
    ):
        raise DataError("The recipe's features are hashed, or named twice.")
    if recipe.family != "table":
        if recipe.columns or recipe.texts:
            raise DataError("The recipe names columns, but it is not that of a table.")
        if recipe.family == "matrix" and (not recipe.width or recipe.spread):
            raise DataError("The recipe of a matrix has no columns, or names them.")
        if recipe.family == "named" and not recipe.spread:
            raise DataError("The recipe has neither names of features nor hashes them.")
        return
    names = [column.name for column in recipe.columns]
    if not names:
        raise DataError("The recipe of a table has no columns.")
    if len(set(names)) < len(names) or len(set(recipe.names)) < len(recipe.names):
        raise DataError("The recipe names a column twice.")
    if not set(recipe.texts) <= set(names):
        raise DataError("The recipe has columns of text that are not among its columns.")
    if {recipe.label, recipe.id} & set(names):
        raise DataError("The recipe has its label or id among the features.")


def _column_to_json(column: Column) -> dict[str, object]:
    levels = None if column.levels is None else list(column.levels)
    return {"name": column.name, "mean": column.mean, "levels": levels}


def _column_from_json(value: object) -> Column:
    fields = _fields(value, "A column of the recipe", {"name", "mean", "levels"})
    name, mean, levels = fields["name"], fields["mean"], fields["levels"]
    if not isinstance(name, str):
        raise DataError("A column of the recipe has a name that is not text.")
    if mean is not None:
        if isinstance(mean, bool) or not isinstance(mean, int | float):
            raise DataError(f"The mean of the recipe's column {quoted(name)} is not a number.")
        mean = float(mean) if abs(mean) < 2**1024 else math.inf
        if not math.isfinite(mean):
            raise DataError(f"The mean of the recipe's column {quoted(name)} is not finite.")
    if levels is None:
        return Column(name, mean)
    if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
        raise DataError(f"The levels of the recipe's column {quoted(name)} are not texts.")
    texts = cast(list[str], levels)
    if not texts or any(a >= b for a, b in pairwise(texts)):
        raise DataError(f"The levels of the recipe's column {quoted(name)} are not sorted.")
    if mean is not None:
        raise DataError(f"The recipe's column {quoted(name)} has both levels and a mean.")
    return Column(name, None, tuple(texts))


def _fields(
    value: object, whose: str, names: set[str], optional: AbstractSet[str] = frozenset()
) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise DataError(f"{whose} is not a JSON object.")
    if set(value) | optional != names:
        odd = sorted(str(name) for name in (set(value) | optional) ^ names)[0]
        problem = "lacks" if odd in names else "has the unknown"
        raise DataError(f"{whose} {problem} field {quoted(odd)}.")
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DataError(f"The recipe's {quoted(name)} are not texts.")
    return tuple(cast(list[str], value))


def _optional(fields: Mapping[str, object], name: str, kind: type[Scalar]) -> Scalar | None:
    value = fields[name]
    if value is None or isinstance(value, kind):
        return value
    raise DataError(f"The recipe's {quoted(name)} is not a {kind.__name__}.")


def _character(fields: Mapping[str, object], name: str) -> str | None:
    value = _optional(fields, name, str)
    if value is not None and len(value) != 1:
        raise DataError(f"The recipe's {quoted(name)} is not one character.")
    return value


def _integer(fields: Mapping[str, object], name: str, most: int) -> int:
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise DataError(f"The recipe's {quoted(name)} is not an integer from 0 to {most}.")
    return value
