"""The recipe of a model: how the columns of the file that it was trained on became features."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Literal, cast

from novikoff.data.messages import quoted
from novikoff.data.source import ColumnFamily
from novikoff.errors import DataError, InvalidJsonError
from novikoff.proofs.strict_json import take_fields

_WIDEST: Final = 2**31 - 1
_MANY_NAMES: Final = 1_000_000  # more names than this are not stored, but made when needed


@dataclass(frozen=True)
class Column:
    """A column of a file: numbers, or text that becomes one feature for each of its values.

    Parameters
    ----------
    name : str
        Its name in the file.
    mean : float or None
        The number that replaces a missing value; None if no number does.
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
    """The names x1, x2 and so on, made when they are needed, because there may be billions.

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
    """The columns of a file that become features, and how they are read.

    Parameters
    ----------
    family : {"table", "matrix", "named"}
        "table": columns have names (CSV, Parquet, Arrow, npy). "matrix": columns have numbers
        (svmlight, npz). "named": each row names its features (``label name:value …``, JSON lines).
    columns : tuple of Column
        The columns of a table that become features, in the order of the features; empty for other
        families.
    label, id : str or None
        The column of the labels, and the column that names the rows.
    missing : {"error", "drop", "mean"}
        How missing values were treated; columns have means only with "mean".
    width : int
        The number of columns of the file; in a matrix, the label does not count.
    first : int
        The number of the first column of a matrix: 1, or 0 for svmlight files that count from 0.
    header, delimiter, decimal
        The user's options for text; None where the value was found from the first rows.
    bits : int or None
        If given, the names of features are hashed to 2^bits columns.
    features : tuple of str or None
        The names of features, if they got columns in the order in which they appeared.
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

    family: ColumnFamily
    columns: tuple[Column, ...] = ()
    label: str | None = None
    id: str | None = None
    missing: Literal["error", "drop", "mean"] = "error"
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
        """For each column of text, the positions of the features that it became."""
        groups, end = dict[Hashable, range](), 0
        for column in self.columns:
            begin, end = end, end + len(column.names)
            if column.levels is not None:
                groups[column.name] = range(begin, end)
        return groups

    def to_json(self) -> dict[str, object]:
        """Return the recipe as JSON values."""
        return cast(dict[str, object], json.loads(json.dumps(asdict(self))))

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Recipe:
        """Return the recipe that `to_json` wrote; DataError if it is not valid."""
        try:
            fields = take_fields(value, "the recipe", **_RECIPE_FIELDS)
            columns = [
                Column(
                    **_with_tuples(take_fields(column, "a column of the recipe", **_COLUMN_FIELDS))
                )
                for column in fields["columns"]
            ]
        except InvalidJsonError as error:
            raise DataError(f"The columns of the file are not described: {error}.") from None
        recipe = cls(**_with_tuples(fields | {"columns": columns}))
        invalid = next((name for name, is_good in _checks(recipe) if not is_good), None)
        if invalid is not None:
            raise DataError(f"The recipe has an invalid {quoted(invalid)}.")
        return recipe


# The kinds of the fields of a recipe, and of a column, as JSON values.
_RECIPE_FIELDS: Final[dict[str, str | tuple[str, ...]]] = {
    "family": ("table", "matrix", "named"),
    "columns": "list",
    "label": "text or null",
    "id": "text or null",
    "missing": ("error", "drop", "mean"),
    "width": "count",
    "first": "count",
    "header": "flag or null",
    "delimiter": "text or null",
    "decimal": "text or null",
    "bits": "count or null",
    "features": "texts or null",
    "drop": "texts",
}
_COLUMN_FIELDS: Final = {"name": "text", "mean": "number or null", "levels": "texts or null"}


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with lists as tuples."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


def _checks(recipe: Recipe) -> Iterator[tuple[str, bool]]:
    """Yield the name of each field whose values are restricted, and whether the field is valid."""
    columns, known = recipe.columns, recipe.features or ()
    levels = [column.levels for column in columns if column.levels is not None]
    yield "columns", all(list(texts) == sorted({*texts}) != [] for texts in levels)
    yield "columns", all(column.mean is None or column.levels is None for column in columns)
    imputes = any(column.mean is not None for column in columns)
    yield "missing", recipe.missing == "mean" or not imputes
    yield "width", recipe.width <= _WIDEST
    yield "first", recipe.first <= 1
    yield "decimal", recipe.decimal in (None, ".", ",")
    mark = ";" if recipe.delimiter is None else recipe.delimiter
    yield "delimiter", len(mark) == 1 and mark not in '"\r\n\0' and mark <= "~"
    yield "delimiter", mark != (recipe.decimal or ".")
    yield "bits", recipe.bits is None or recipe.bits <= 31
    table, names = recipe.family == "table", [column.name for column in columns]
    yield "columns", table == bool(columns) and len({*names}) == len(names)
    yield "columns", not table or len({*recipe.names}) == len(recipe.names)
    yield "columns", not {recipe.label, recipe.id} & set(names)
    yield "width", recipe.family != "matrix" or recipe.width > 0
    hashed_or_named = (recipe.bits is not None) + (recipe.features is not None)
    yield "features", hashed_or_named == (recipe.family == "named")
    yield "features", len({*known}) == len(known)
