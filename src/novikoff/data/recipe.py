"""The recipe of a dataset: enough to read the next file in the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, overload

from novikoff.data.errors import DataError, quoted

_MOST_COLUMNS = 2**31 - 1
_MANY_NAMES = 1_000_000  # beyond it names are made when they are asked for


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
        return [self.name] if self.levels is None else [f"{self.name}={x}" for x in self.levels]


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
        The input columns of a table, in the order of the features; empty for others.
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
    features: tuple[str, ...] | None = None

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.names)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        if self.features is not None:
            return list(self.features)
        if self.family == "table":
            return [name for column in self.columns for name in column.names]
        hashed = self.bits is not None
        names = NumberedNames(*((0, 1 << (self.bits or 0)) if hashed else (self.first, self.width)))
        return names if len(names) > _MANY_NAMES else names[:]

    def to_json(self) -> dict[str, object]:
        """The recipe as JSON values."""

        def plain(value: object) -> object:
            if isinstance(value, dict):
                return {key: plain(item) for key, item in value.items()}
            return [plain(item) for item in value] if isinstance(value, tuple | list) else value

        return {key: plain(value) for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Recipe:
        """The recipe that `to_json` wrote.

        Raises
        ------
        DataError
            If a field is not there, unknown, or not of its type.
        """
        streams = {"bits": None, "features": None}  # others need not have them
        fields = _fields(value, "The recipe", set(cls.__dataclass_fields__), streams)
        for name, (good, what) in _RULES.items():
            if not good(fields[name]):
                raise DataError(f"The recipe's {quoted(name)} is not {what}.")
        recipe = cls(
            **{
                **fields,
                "columns": tuple(map(_column, fields["columns"])),
                "features": None if fields["features"] is None else tuple(fields["features"]),
            }
        )
        _check_consistent(recipe)
        return recipe


def _is_whole(most: int, value: object) -> bool:
    return type(value) is int and 0 <= value <= most


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


# Which values of a field are good, and what they are called.
_RULES: dict[str, tuple[Any, str]] = {
    "family": (lambda v: v in ("table", "matrix", "named"), '"table", "matrix" or "named"'),
    "columns": (lambda v: isinstance(v, list), "a list"),
    "label": (_is_text, "text"),
    "id": (_is_text, "text"),
    "missing": (lambda v: v in ("refuse", "drop", "mean"), "one of refuse, drop and mean"),
    "width": (lambda v: _is_whole(_MOST_COLUMNS, v), f"an integer from 0 to {_MOST_COLUMNS}"),
    "first": (lambda v: _is_whole(1, v), "an integer from 0 to 1"),
    "header": (lambda v: v is None or isinstance(v, bool), "true or false"),
    "delimiter": (lambda v: _is_text(v) and len(v or " ") == 1, "one character"),
    "decimal": (lambda v: v in (None, ".", ","), "a point or a comma"),
    "bits": (lambda v: v is None or _is_whole(31, v), "an integer from 0 to 31"),
    "features": (lambda v: v is None or _are_texts(v), "texts"),
}


def _check_consistent(recipe: Recipe) -> None:
    names = [column.name for column in recipe.columns]
    table, mark = recipe.family == "table", recipe.delimiter
    flaws = {
        "its delimiter cannot stand between fields": mark is not None
        and (mark in '"\r\n\0' or mark > "~" or mark == (recipe.decimal or ".")),
        "it names a feature twice": len(set(recipe.features or ())) < len(recipe.features or ()),
        "it names columns, but is not that of a table": not table and names,
        "it is that of a matrix without columns": recipe.family == "matrix" and not recipe.width,
        "features are either hashed or named, and in rows of names alone": (
            (recipe.bits is not None) + (recipe.features is not None) != (recipe.family == "named")
        ),
        "it has no columns": table and not names,
        "it names a column twice": len(set(names)) < len(names)
        or (table and len(set(recipe.names)) < len(recipe.names)),
        "it has its label or id among the features": {recipe.label, recipe.id} & set(names),
    }
    for flaw, found in flaws.items():
        if found:
            raise DataError(f"The recipe makes no sense: {flaw}.")


def _column(value: object) -> Column:
    fields = _fields(value, "A column of the recipe", {"name", "mean", "levels"}, {})
    name, mean, levels = fields["name"], fields["mean"], fields["levels"]
    if not isinstance(name, str):
        raise DataError("A column of the recipe has a name that is not text.")
    whose = f"of the recipe's column {quoted(name)}"
    if mean is not None:
        if isinstance(mean, bool) or not isinstance(mean, int | float):
            raise DataError(f"The mean {whose} is not a number.")
        mean = float(mean) if abs(mean) < 2**1024 else math.inf
        if not math.isfinite(mean) or levels is not None:
            raise DataError(f"The mean {whose} is not finite, or there are levels.")
    if levels is None:
        return Column(name, mean)
    if not _are_texts(levels) or not levels or any(a >= b for a, b in pairwise(levels)):
        raise DataError(f"The levels {whose} are not texts in their order.")
    return Column(name, None, tuple(levels))


def _fields(
    value: object, whose: str, names: set[str], defaults: Mapping[str, object]
) -> dict[str, Any]:
    """The fields of a JSON object, all of which must be there, and no others."""
    if not isinstance(value, Mapping):
        raise DataError(f"{whose} is not a JSON object.")
    found = {**defaults, **value}
    if set(found) != names:
        odd = sorted(str(name) for name in set(found) ^ names)[0]
        problem = "lacks" if odd in names else "has the unknown"
        raise DataError(f"{whose} {problem} field {quoted(odd)}.")
    return found
