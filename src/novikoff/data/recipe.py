"""The recipe of a model: which columns of a file become which features."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, Literal, cast

from novikoff.data.formats import Family
from novikoff.data.messages import quoted
from novikoff.errors import DataError

_MAX_COLUMNS: Final = 2**31 - 1
_MANY_NAMES: Final = 1_000_000  # names beyond this number are made when they are asked for


@dataclass(frozen=True)
class Column:
    """One column of a file: numbers, or text that becomes one feature for each value.

    Parameters
    ----------
    name : str
        Its name in the file.
    mean : float or None
        The number that replaces a missing value; None if there is none.
    levels : tuple of str or None
        The values of a column of text, sorted; None for a column of numbers.
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
    """The names x1, x2 and so on, made when they are asked for: there may be billions.

    >>> names = NumberedNames(0, 2**31)
    >>> len(names), names[0], names[-1]
    (2147483648, 'x0', 'x2147483647')
    """

    first: int
    width: int

    def __len__(self) -> int:
        return self.width

    def __getitem__(self, at: Any) -> Any:
        numbers = range(self.first, self.first + self.width)[at]
        return f"x{numbers}" if isinstance(numbers, int) else [f"x{number}" for number in numbers]


@dataclass(frozen=True)
class Recipe:
    """Which columns of a file become which features, and how they are read.

    Parameters
    ----------
    family : {"table", "matrix", "named"}
        Whether columns have names (CSV, Parquet, Arrow, npy) or numbers (svmlight, npz), or each
        row names its features (``label name:value …`` or JSON lines).
    columns : tuple of Column
        The columns of a table that become features, in the order of the features; empty for other
        families.
    label, id : str or None
        The columns of the labels and of the names of rows.
    missing : {"refuse", "drop", "mean"}
        How missing values were treated; columns have means only with "mean".
    width : int
        The number of columns of the file; of a matrix, without the label.
    first : int
        The number of a matrix's first column: 1, or 0 for an svmlight file that counts from 0.
    header, delimiter, decimal
        The user's options for text; None where the value was found from the first rows.
    bits : int or None
        If given, the names of features are hashed to 2^bits columns.
    features : tuple of str or None
        The names of features that got columns in the order in which they appeared.
    drop : tuple of str
        The keys of JSON lines that are not features.

    Examples
    --------
    >>> columns = (Column("age"), Column("colour", levels=("blue", "red")))
    >>> recipe = Recipe("table", columns, label="y", width=3)
    >>> recipe.names
    ['age', 'colour=blue', 'colour=red']
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    family: Family
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
    drop: tuple[str, ...] = ()

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
        first, width = (self.first, self.width) if self.bits is None else (0, 1 << self.bits)
        names = NumberedNames(first, width)
        return names if width > _MANY_NAMES else names[:]

    @property
    def groups(self) -> dict[Hashable, range]:
        """The positions of the features that each column of text became."""
        ends = accumulate(len(column.names) for column in self.columns)
        return {
            column.name: range(end - len(column.levels), end)
            for column, end in zip(self.columns, ends, strict=True)
            if column.levels is not None
        }

    def to_json(self) -> dict[str, object]:
        """Return the recipe as JSON values."""
        return cast(dict[str, object], json.loads(json.dumps(asdict(self))))

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Recipe:
        """Return the recipe that `to_json` wrote; DataError if it is not valid."""
        fields = _fields(cls, value, optional={"bits": None, "features": None, "drop": ()})
        if not isinstance(fields["columns"], tuple):
            raise DataError("The recipe has no list of columns.")
        columns = tuple(Column(**_fields(Column, column)) for column in fields["columns"])
        recipe = cls(**fields | {"columns": columns})
        for name, is_good in _checks(recipe):
            if not is_good:
                raise DataError(f"The recipe has an invalid {quoted(name)}.")
        return recipe


def _fields(
    kind: type[Recipe | Column], value: object, optional: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """Return the fields of a JSON object, lists as tuples; DataError if some are wrong."""
    fields = {**(optional or {}), **value} if isinstance(value, Mapping) else {}
    if set(fields) != set(kind.__dataclass_fields__):
        whose = "The recipe" if kind is Recipe else "A column of the recipe"
        raise DataError(f"{whose} has missing or unknown fields.")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


def _checks(recipe: Recipe) -> Iterator[tuple[str, bool]]:
    """Yield field names of a recipe and whether the field is valid, alone and with the others."""
    columns, known = recipe.columns, recipe.features or ()
    yield "columns", all(map(_is_column, columns))
    yield "family", recipe.family in ("table", "matrix", "named")
    yield "label", recipe.label is None or isinstance(recipe.label, str)
    yield "id", recipe.id is None or isinstance(recipe.id, str)
    yield "missing", recipe.missing in ("refuse", "drop", "mean")
    imputes = any(column.mean is not None for column in columns)
    yield "missing", recipe.missing == "mean" or not imputes
    yield "width", _is_whole(recipe.width, _MAX_COLUMNS)
    yield "first", _is_whole(recipe.first, 1)
    yield "header", recipe.header is None or isinstance(recipe.header, bool)
    yield "decimal", recipe.decimal in (None, ".", ",")
    mark = ";" if recipe.delimiter is None else recipe.delimiter
    yield "delimiter", isinstance(mark, str) and len(mark) == 1 and mark not in '"\r\n\0'
    yield "delimiter", mark <= "~" and mark != (recipe.decimal or ".")
    yield "bits", recipe.bits is None or _is_whole(recipe.bits, 31)
    yield "features", recipe.features is None or _are_texts(recipe.features)
    yield "drop", _are_texts(recipe.drop)
    table, names = recipe.family == "table", [column.name for column in columns]
    yield "columns", table == bool(columns) and len({*names}) == len(names)
    yield "columns", not table or len({*recipe.names}) == len(recipe.names)
    yield "columns", not {recipe.label, recipe.id} & set(names)
    yield "width", recipe.family != "matrix" or recipe.width > 0
    hashed_or_named = (recipe.bits is not None) + (recipe.features is not None)
    yield "features", hashed_or_named == (recipe.family == "named")
    yield "features", len({*known}) == len(known)


def _is_column(column: Column) -> bool:
    """Return whether a column has numbers, perhaps with a mean, or text with sorted levels."""
    mean, levels = column.mean, column.levels
    number = type(mean) is float or (type(mean) is int and abs(mean) < 2**1023)
    has_mean = mean is None or (levels is None and number and math.isfinite(mean))
    ascend = levels is None or (_are_texts(levels) and levels == tuple(sorted({*levels})) != ())
    return isinstance(column.name, str) and has_mean and ascend


def _is_whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)
