"""The roles of the columns of a table: label, names of the rows, features."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from novikoff.data.messages import all_quoted, did_you_mean, listed, quoted, repeated
from novikoff.data.options import ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.errors import DataError
from novikoff.sentences import counted, first_few

if TYPE_CHECKING:
    from novikoff.data.reader import Request

# The usual names of a column of labels, and of a column that numbers the rows.
LABEL_NAMES: Final = ("label", "target", "y", "class")
ROW_NUMBER_NAMES: Final = ("id", "index", "row", "row_id", "rowid", "row number")
_COLUMN_NUMBER: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)


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
            find_column(source, names, column, options.say_asked(option, column))
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
            name_it = f"name the outcome with {options.say('label')}"
            lacks = f"{source}: {name_it}; the columns are {all_names}."
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
            notes.append(f"{what}: say {options.say('id', names[j])} if it only names the rows")
    absent = sorted(one_hot - set(features))
    if absent:
        name, option = names[absent[0]], options.say("one_hot")
        raise DataError(f"{source}: column {quoted(name)} ({option}) is not among the features.")
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
    source, asked_by = request.source.name, request.options.say_asked
    options: dict[int, str] = {}
    for option, columns in by_option.items():
        for position in columns:
            before = options.setdefault(position, option)
            if before != option:
                name = names[position]
                raise DataError(
                    f"{source}: column {quoted(name)} is asked for both by "
                    f"{asked_by(before, name)} and by {asked_by(option, name)}."
                )
    chosen = by_option["features"]
    if len(set(chosen)) < len(chosen):
        name = quoted(names[next(j for j in chosen if chosen.count(j) > 1)])
        raise DataError(f"{source}: column {name} is named twice among the features.")
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
        label = find_column(source, names, options.label, options.say("label"))
    if label is None and labelled:
        known = f" {quoted(recipe.label)}" if recipe.label is not None else ""
        raise DataError(f"{source} has no column{known} for the label.")
    if options.id is not None:
        id_ = find_column(source, names, options.id, options.say("id"))
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
            raise DataError(f"{source}: {options.say(option)} does not apply to {what}.")
    if options.missing == "mean":
        mean = options.say("missing", "mean")
        raise DataError(f"{source}: {mean} applies to tables, not to {what}.")


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
