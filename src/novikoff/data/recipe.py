"""How the columns of a file become features.

`ReadOptions` holds the options of a user. A `Recipe` holds what a model needs to know about the
file that it was trained on. `find_roles` finds the columns of either in a given table.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from novikoff.data.messages import (
    all_quoted,
    argument,
    did_you_mean,
    listed,
    quoted,
    repeated,
)
from novikoff.data.source import FILE_FORMATS, ColumnFamily
from novikoff.errors import DataError
from novikoff.sentences import counted, first_few

if TYPE_CHECKING:
    from novikoff.data.reader import Request

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
    flags : mapping
        How errors and notes call these options where a command has other names for them, such as
        ``{"label": "--outcome"}``.
    column_flags : mapping
        The option that asked for a column among ``features``, by the name of the column, if it is
        another one than ``--features``.

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
    flags: Mapping[str, str] = field(default_factory=dict, compare=False)
    column_flags: Mapping[str, str] = field(default_factory=dict, compare=False)

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

    def flag(self, option: str, column: str | int | None = None) -> str:
        """Return how errors call an option, and the option that asked for a column.

        Examples
        --------
        >>> options = ReadOptions(flags={"label": "--outcome"}, column_flags={"n": "--trials"})
        >>> options.flag("label"), options.flag("features", "n"), options.flag("one_hot")
        ('--outcome', '--trials', '--one-hot')
        """
        if option == "features" and column in self.column_flags:
            return self.column_flags[str(column)]
        return self.flags.get(option, f"--{option.replace('_', '-')}")

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


_WIDEST: Final = 2**31 - 1
_MANY_NAMES: Final = 1_000_000  # more names than this are not stored, but made when needed


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
        fields = _fields(cls, value, optional={"bits": None, "features": None, "drop": ()})
        if fields["missing"] == "refuse":  # older files call it so
            fields["missing"] = "error"
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
    """Return the fields of a JSON object, with lists as tuples; DataError if fields are wrong."""
    fields = {**(optional or {}), **value} if isinstance(value, Mapping) else {}
    if set(fields) != set(kind.__dataclass_fields__):
        whose = "The recipe" if kind is Recipe else "A column of the recipe"
        raise DataError(f"{whose} has missing or unknown fields.")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


def _checks(recipe: Recipe) -> Iterator[tuple[str, bool]]:
    """Yield the name of each field of a recipe, and whether the field is valid."""
    columns, known = recipe.columns, recipe.features or ()
    yield "columns", all(map(_is_column, columns))
    yield "family", recipe.family in ("table", "matrix", "named")
    yield "label", recipe.label is None or isinstance(recipe.label, str)
    yield "id", recipe.id is None or isinstance(recipe.id, str)
    yield "missing", recipe.missing in ("error", "drop", "mean")
    imputes = any(column.mean is not None for column in columns)
    yield "missing", recipe.missing == "mean" or not imputes
    yield "width", _is_whole(recipe.width, _WIDEST)
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
    """Return whether a column is valid: numbers, with or without a mean, or text with levels."""
    mean, levels = column.mean, column.levels
    number = type(mean) is float or (type(mean) is int and abs(mean) < 2**1023)
    has_mean = mean is None or (levels is None and number and math.isfinite(mean))
    ascend = levels is None or (_are_texts(levels) and levels == tuple(sorted({*levels})) != ())
    return isinstance(column.name, str) and has_mean and ascend


def _is_whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


LABEL_NAMES: Final = ("label", "target", "y", "class")
ROW_NUMBER_NAMES: Final = ("id", "index", "row", "row_id", "rowid", "row number")

_COLUMN_NUMBER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of the columns of a file, by their positions.

    Attributes
    ----------
    label, id : int or None
        The column of the labels, and the column that names the rows.
    features : list of int
        The columns that become features, in this order.
    one_hot : frozenset of int
        The features that become one column of 0 and 1 for each of their values.
    every_text : bool
        Whether all columns of text are treated as ``one_hot``.
    row_names : int or None
        A column without a name, which must be text or number the rows.
    guessed : bool
        Whether the label is the last column because no column has a usual name of labels.
    notes : list of str
        What the reader decided for the user, in short sentences.
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
        others = {self.label, self.id, self.row_names} - {None}
        return sorted({*self.features, *cast(set[int], others)})


def find_roles(
    request: Request, names: Sequence[str], *, row_names: bool = False, hint: str = ""
) -> ColumnRoles:
    """Return the roles of a table's columns, from the recipe of a model or from the user's options.

    ``hint`` is added to the error message if no column can be a feature.
    """
    if request.recipe is not None:
        return _match(request, names, request.recipe)
    source, options, labelled = request.source.name, request.options, request.labelled

    def positions(columns: Sequence[str | int | None], option: str) -> list[int]:
        return [
            find_column(source, names, column, options.flag(option, column))
            for column in columns
            if column is not None
        ]

    label = positions([options.label], "label")
    id_ = positions([options.id], "id")
    drop = positions(options.drop, "drop")
    chosen = positions(options.features, "features")
    one_hot = set(positions([c for c in options.one_hot if c != "*"], "one_hot"))
    by_option = {"label": label, "id": id_, "drop": drop, "features": chosen}
    taken = _check_distinct(by_option, names, request)
    nameless = row_names and 0 not in taken
    taken |= {0} if nameless else set()
    notes, guessed = list[str](), False
    if not label and not options.regression:
        free = [j for j in range(len(names)) if j not in taken]
        known = [j for name in LABEL_NAMES for j in free if names[j].lower() == name]
        guessed = labelled and bool(free) and not known
        label = known[:1] or free[-1:] * guessed
        last = "last column," if guessed else "column"
        notes = [f"the label is the {last} {quoted(names[j])}" for j in label]
    if labelled and not label:
        lacks = f"{source} has no column left for the label."
        if options.regression:
            all_names = first_few([quoted(name) for name in names], len(names))
            lacks = f"{source}: name the outcome with --outcome; the columns are {all_names}."
        raise DataError(lacks)
    features = chosen or [j for j in range(len(names)) if j not in {*taken, *label}]
    if not features:
        raise DataError(
            f"{source} has no column left for the features: of its {counted(len(names), 'column')}"
            f" none remains besides the label{hint}."
        )
    for j in features if labelled and not chosen else ():
        if names[j].lower() in ROW_NUMBER_NAMES:
            what = f"the column {quoted(names[j])} is used as a feature"
            notes.append(
                f"{what}: say {options.flag('id')} {argument(names[j])} if it only names the rows"
            )
    for column in sorted(one_hot - set(features)):
        flag = options.flag("one_hot")
        raise DataError(f"{source}: {flag} {names[column]} is not among the features.")
    return ColumnRoles(
        next(iter(label), None),
        next(iter(id_), None),
        features,
        frozenset(one_hot),
        "*" in options.one_hot or options.regression,
        row_names=0 if nameless else None,
        guessed=guessed,
        notes=notes,
    )


def _check_distinct(
    by_option: Mapping[str, Sequence[int]], names: Sequence[str], request: Request
) -> set[int]:
    """Return all columns that options name; DataError if two options name the same column."""
    source, flag = request.source.name, request.options.flag
    options: dict[int, str] = {}
    for option, columns in by_option.items():
        for position in columns:
            before = options.setdefault(position, option)
            if before != option:
                name = names[position]
                raise DataError(
                    f"{source}: column {quoted(name)} is asked for both by {flag(before, name)} "
                    f"and by {flag(option, name)}."
                )
    chosen = by_option["features"]
    if len(set(chosen)) < len(chosen):
        raise DataError(f"{source}: {flag('features')} names a column twice.")
    return set(options)


def _match(request: Request, names: Sequence[str], recipe: Recipe) -> ColumnRoles:
    """Return the roles that a recipe gives, by the names of the columns, in any order."""
    source, options, labelled = request.source.name, request.options, request.labelled
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
        label = find_column(source, names, options.label, options.flag("label"))
    if label is None and labelled:
        known = f" {quoted(recipe.label)}" if recipe.label is not None else ""
        raise DataError(f"{source} has no column{known} for the label.")
    if options.id is not None:
        id_ = find_column(source, names, options.id, options.flag("id"))
    if label in features or (id_ is not None and id_ in {label, *features}):
        raise DataError(f"{source}: a column of the model is chosen as its label or id.")
    extra = [name for j, name in enumerate(names) if j not in {*features, label, id_}]
    notes = list[str]()
    if extra:
        noun, verb = counted(len(extra), "column"), "is" if len(extra) == 1 else "are"
        notes.append(f"{noun} {verb} ignored: {all_quoted(extra)}")
    if id_ is not None and labelled:
        notes.append(f"the column {quoted(names[id_])} names the rows: it is not a feature")
    return ColumnRoles(label, id_, features, notes=notes)


def find_column(source: str, names: Sequence[str], column: str | int, option: str) -> int:
    """Return the position of a column that is given by name or by number.

    Numbers count from 1, negative numbers from the end.
    """
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        if not _COLUMN_NUMBER.fullmatch(column):
            hint = did_you_mean(column, names)
            raise DataError(f"{source} has no column {quoted(column)} ({option}); {hint}")
    number = int(column)
    if not 1 <= abs(number) <= len(names):
        raise DataError(
            f"{source} has no column number {number} ({option}); its "
            f"{counted(len(names), 'column')} are counted from 1, or from -1 at the end."
        )
    return number - 1 if number > 0 else len(names) + number


def reject_columns(
    source: str, options: ReadOptions, what: str, allowed: Sequence[str] = ()
) -> None:
    """Raise DataError if options name columns but the columns of the file have no names."""
    for option in sorted({"label", "features", "drop", "id", "one_hot"}.difference(allowed)):
        if getattr(options, option) not in (None, ()):
            raise DataError(f"{source}: {options.flag(option)} does not apply to {what}.")
    if options.missing == "mean":
        raise DataError(f"{source}: --missing mean applies to tables, not to {what}.")


def check_unique(source: str, names: Sequence[str]) -> None:
    """Raise DataError if two columns have the same name."""
    twice = repeated(names)
    if twice is not None:
        first, second, *_ = (number for number, name in enumerate(names, 1) if name == twice)
        raise DataError(
            f"{source} has two columns named {quoted(twice)}, the columns {first} and {second}; "
            "rename one of them."
        )


def numbered(width: int, recipe: Recipe | None) -> list[str]:
    """Return names x1, x2 and so on for columns without names.

    If the file has one column less than the recipe, and the label of the recipe is a name of this
    form, the file has no label, and the name of the label is left out.
    """
    names = [f"x{number}" for number in range(1, width + 2)]
    short = recipe is not None and recipe.width - 1 == width and recipe.label in names
    names.remove(str(recipe.label) if short and recipe is not None else names[-1])
    return names
