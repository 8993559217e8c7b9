"""Columns: chosen by options, remembered in a `Recipe`, found again in the next file.

`assign_columns` gives the columns of a table their roles as the user asked; the recipe of the
dataset is kept with the model; `match_columns` finds its columns in another file.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, cast, overload

from novikoff.data.errors import DataError, counted, listed, quoted

if TYPE_CHECKING:
    from novikoff.data.options import ReadOptions

LABEL_NAMES: Final = ("label", "target", "y", "class")

_MOST_COLUMNS: Final = 2**31 - 1
_MANY_NAMES: Final = 1_000_000  # beyond it names are made when they are asked for
_COLUMN_NUMBER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


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
        return cast(dict[str, object], json.loads(json.dumps(asdict(self))))

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Recipe:
        """The recipe that `to_json` wrote; DataError if it is none."""
        streams = {"bits": None, "features": None}  # others need not have them
        value = {**streams, **value} if isinstance(value, Mapping) else value
        fields = _fields(value, "The recipe", cls.__dataclass_fields__)
        recipe = cls(**fields | {"columns": tuple(map(_column, fields["columns"]))})
        _check_consistent(recipe)
        return recipe


@dataclass(frozen=True)
class ColumnRoles:
    """The positions of the columns that matter.

    ``one_hot`` are the features that become one column for each value, and with ``every_text`` so
    do all columns of text. ``row_names`` is a column without a name, which must be no more than the
    names of the rows. The label is ``guessed`` if it is the last column for want of a better one.
    """

    label: int | None
    id: int | None
    features: list[int]
    one_hot: frozenset[int] = frozenset()
    every_text: bool = False
    row_names: int | None = None
    guessed: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def used(self) -> list[int]:
        """All columns that are read, in the order of the file."""
        found = {self.label, self.id, self.row_names, *self.features}
        return sorted(position for position in found if position is not None)


def assign_columns(
    source: str,
    names: Sequence[str],
    options: ReadOptions,
    *,
    labelled: bool,
    row_names: bool = False,
    hint: str = "",
) -> ColumnRoles:
    """Assign the columns of a table by a user's options; ``hint`` is advice if none remains."""

    def found(columns: Sequence[str | int | None], option: str) -> list[int]:
        return [find_column(source, names, c, option) for c in columns if c is not None]

    label, id_ = found([options.label], "--label"), found([options.id], "--id")
    drop, chosen = found(options.drop, "--drop"), found(options.features, "--features")
    one_hot = set(found([c for c in options.one_hot if c != "*"], "--one-hot"))
    roles: dict[int, str] = {}
    asked = {"--label": label, "--id": id_, "--drop": drop, "--features": chosen}
    for role, positions in asked.items():
        for position in positions:
            before = roles.setdefault(position, role)
            if before != role:
                raise DataError(
                    f"{source}: column {quoted(names[position])} is asked for both by {before} "
                    f"and by {role}."
                )
    if len(set(chosen)) < len(chosen):
        raise DataError(f"{source}: --features names a column twice.")
    nameless = row_names and 0 not in roles
    taken, notes, guessed = {*roles, 0} if nameless else set(roles), list[str](), False
    if not label:
        free = [j for j in range(len(names)) if j not in taken]
        known = [j for name in LABEL_NAMES for j in free if names[j].lower() == name]
        guessed = labelled and bool(free) and not known
        label = known[:1] or free[-1:] * guessed
        last = "last column," if guessed else "column"
        notes = [f"the label is the {last} {quoted(names[j])}" for j in label]
    if labelled and not label:
        raise DataError(f"{source} has no column left for the label.")
    features = chosen or [j for j in range(len(names)) if j not in {*taken, *label}]
    if not features:
        raise DataError(
            f"{source} has no column left for the features: of its {counted(len(names), 'column')}"
            f" none remains besides the label{hint}."
        )
    for column in sorted(one_hot - set(features)):
        raise DataError(f"{source}: --one-hot {names[column]} is not among the features.")
    return ColumnRoles(
        label[0] if label else None,
        id_[0] if id_ else None,
        features,
        frozenset(one_hot),
        "*" in options.one_hot,
        row_names=0 if nameless else None,
        guessed=guessed,
        notes=notes,
    )


def match_columns(
    source: str, names: Sequence[str], recipe: Recipe, options: ReadOptions, *, labelled: bool
) -> ColumnRoles:
    """Find the columns of a recipe in a table, by name, whatever their order."""
    positions: dict[str | None, int] = {name: j for j, name in enumerate(names)}
    absent = [column.name for column in recipe.columns if column.name not in positions]
    if absent:
        raise DataError(
            f"{source} has no column{'s' if len(absent) > 1 else ''} {listed(absent)} "
            f"({len(absent):,} of the {len(recipe.columns):,} that are needed)."
        )
    features = [positions[column.name] for column in recipe.columns]
    label, id_ = positions.get(recipe.label), positions.get(recipe.id)
    if options.label is not None:
        label = find_column(source, names, options.label, "--label")
    if label is None and labelled:
        known = f" {quoted(recipe.label)}" if recipe.label is not None else ""
        raise DataError(f"{source} has no column{known} for the label.")
    if options.id is not None:
        id_ = find_column(source, names, options.id, "--id")
    if label in features or (id_ is not None and id_ in {label, *features}):
        raise DataError(f"{source}: a column of the model is chosen as its label or id.")
    extra = [name for j, name in enumerate(names) if j not in {*features, label, id_}]
    noun, verb = counted(len(extra), "column"), "is" if len(extra) == 1 else "are"
    notes = [f"{noun} that the model does not know {verb} ignored: {listed(extra)}"]
    levels = zip(features, recipe.columns, strict=True)
    one_hot = frozenset(position for position, column in levels if column.levels is not None)
    return ColumnRoles(label, id_, features, one_hot, notes=notes if extra else [])


def find_column(source: str, names: Sequence[str], column: str | int, option: str) -> int:
    """The position of a column given by name or by number, from 1 or from the end."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        if not _COLUMN_NUMBER.fullmatch(column):
            near = difflib.get_close_matches(column, names[:1000], n=1)
            hint = f"did you mean {quoted(near[0])}?" if near else f"there are {listed(names)}."
            raise DataError(f"{source} has no column {quoted(column)} ({option}); {hint}")
    number = int(column)
    if not 1 <= abs(number) <= len(names):
        raise DataError(
            f"{source} has no column number {number} ({option}); its "
            f"{counted(len(names), 'column')} are counted from 1, or from -1 at the end."
        )
    return number - 1 if number > 0 else len(names) + number


def refuse_columns(source: str, options: ReadOptions, what: str) -> None:
    """Raise DataError if columns are chosen where they have no names, or means asked for."""
    for option in ("label", "features", "drop", "id", "one_hot"):
        if getattr(options, option) not in (None, ()):
            name = option.replace("_", "-")
            raise DataError(f"{source} is {what}, where --{name} has nothing to choose from.")
    if options.missing == "mean":
        raise DataError(f"{source}: --missing mean is for tables, not for {what}.")


def check_unique(source: str, names: Sequence[str]) -> None:
    """Raise DataError if two columns have one name."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if seen.setdefault(name, number) != number:
            raise DataError(
                f"{source} has two columns named {quoted(name)}, the columns {seen[name]} and "
                f"{number}; rename one of them."
            )


def numbered(width: int, recipe: Recipe | None) -> list[str]:
    """Names x1, x2 and so on for columns that have none.

    If the model's label is such a column and the file has just one column less, that is the
    one that is not there.
    """
    names = [f"x{number}" for number in range(1, width + 2)]
    short = recipe is not None and recipe.width - 1 == width and recipe.label in names
    names.remove(str(recipe.label) if short and recipe is not None else names[-1])
    return names


def _is_whole(most: int, value: object) -> bool:
    return type(value) is int and 0 <= value <= most


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_finite(value: object) -> bool:
    number = type(value) is float or (type(value) is int and abs(value) < 2**1023)
    return number and math.isfinite(cast(float, value))


# Which values of a field are good, if it is there, and what they are called.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "family": (lambda v: v in ("table", "matrix", "named"), '"table", "matrix" or "named"'),
    "columns": (lambda v: isinstance(v, list), "a list"),
    "label": (lambda v: isinstance(v, str), "text"),
    "id": (lambda v: isinstance(v, str), "text"),
    "missing": (lambda v: v in ("refuse", "drop", "mean"), "one of refuse, drop and mean"),
    "width": (lambda v: _is_whole(_MOST_COLUMNS, v), f"an integer from 0 to {_MOST_COLUMNS}"),
    "first": (lambda v: _is_whole(1, v), "an integer from 0 to 1"),
    "header": (lambda v: isinstance(v, bool), "true or false"),
    "delimiter": (lambda v: isinstance(v, str) and len(v) == 1, "one character"),
    "decimal": (lambda v: v in (".", ","), "a point or a comma"),
    "bits": (lambda v: _is_whole(31, v), "an integer from 0 to 31"),
    "features": (_are_texts, "texts"),
    "name": (lambda v: isinstance(v, str), "text"),
    "mean": (_is_finite, "a finite number"),
    "levels": (
        lambda v: _are_texts(v) and v and all(a < b for a, b in pairwise(v)),
        "texts in their order",
    ),
}
_NEEDED: Final = ("family", "columns", "missing", "width", "first", "name")


def _fields(value: object, whose: str, names: Iterable[str]) -> dict[str, Any]:
    """The fields of a JSON object: all of them, each of its type, and no others."""
    if not isinstance(value, Mapping):
        raise DataError(f"{whose} is not a JSON object.")
    for name in sorted(map(str, set(value) ^ set(names))):
        problem = "lacks the" if name in names else "has the unknown"
        raise DataError(f"{whose} {problem} field {quoted(name)}.")
    for name, found in value.items():
        good, what = _RULES[name]
        if not (good(found) if found is not None else name not in _NEEDED):
            raise DataError(f"{whose} has a {quoted(name)} that is not {what}.")
    return {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}


def _column(value: object) -> Column:
    column = Column(**_fields(value, "A column of the recipe", ("name", "mean", "levels")))
    if column.mean is not None and column.levels is not None:
        raise DataError(f"The recipe's column {quoted(column.name)} has both a mean and levels.")
    return column


def _check_consistent(recipe: Recipe) -> None:
    names, features = [column.name for column in recipe.columns], recipe.features or ()
    table, mark = recipe.family == "table", recipe.delimiter or ";"
    hashed_or_named = (recipe.bits is not None) + (recipe.features is not None)
    flaws = {
        "its delimiter cannot stand between fields": mark in '"\r\n\0'
        or mark > "~"
        or mark == (recipe.decimal or "."),
        "it has columns or a width that its family does not have": table != bool(names)
        or (recipe.family == "matrix" and not recipe.width),
        "features are either hashed or named, and in rows of names alone": hashed_or_named
        != (recipe.family == "named"),
        "it names a column or a feature twice": len(set(features)) < len(features)
        or (table and len({*names}) < len(names))
        or (table and len({*recipe.names}) < len(recipe.names)),
        "it has its label or id among the features": {recipe.label, recipe.id} & set(names),
    }
    for flaw, found in flaws.items():
        if found:
            raise DataError(f"The recipe makes no sense: {flaw}.")
