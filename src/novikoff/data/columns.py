"""The roles of a table's columns: label, id, features, or none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from novikoff.data.errors import DataError, counted, listed, quoted
from novikoff.data.options import ReadOptions
from novikoff.data.recipe import Recipe

LABEL_NAMES = ("label", "target", "y", "class")

_NUMBER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


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
    def texts(self) -> set[int]:
        """The columns that are read as text, whatever is in them."""
        found = {self.label, self.id, self.row_names, *self.one_hot}
        return {position for position in found if position is not None}

    @property
    def used(self) -> list[int]:
        """All columns that are read, in the order of the file."""
        return sorted({*self.features, *self.texts})


def assign_columns(
    source: str,
    names: Sequence[str],
    options: ReadOptions,
    *,
    labelled: bool,
    row_names: bool,
    hint: str = "",
) -> ColumnRoles:
    """Assign the columns of a table by a user's options; ``hint`` is advice if no column remains.

    Raises
    ------
    DataError
        If a chosen column is not there, or a column is chosen for two things.
    """
    notes: list[str] = []
    drop = [find_column(source, names, column, "--drop") for column in options.drop]
    chosen = [find_column(source, names, column, "--features") for column in options.features]
    id_ = None if options.id is None else find_column(source, names, options.id, "--id")
    every_text = "*" in options.one_hot
    one_hot = {
        find_column(source, names, column, "--one-hot")
        for column in options.one_hot
        if column != "*"
    }
    taken = {*drop, *chosen} | ({id_} if id_ is not None else set())
    nameless = {0} - taken if row_names else set()
    guessed = False
    if options.label is not None:
        label: int | None = find_column(source, names, options.label, "--label")
        nameless -= {label} if label is not None else set()
    else:
        label, guessed = _default_label(names, taken | nameless, notes, labelled=labelled)
    if labelled and label is None:
        raise DataError(f"{source} has no column left for the label.")
    _check_roles(source, names, label, id_, drop, chosen)
    out = {*drop, *nameless, label, id_}
    features = [j for j in chosen if j not in out] or [
        j for j in range(len(names)) if j not in out and not chosen
    ]
    if not features:
        raise DataError(
            f"{source} has no column left for the features: of its {counted(len(names), 'column')}"
            f" none remains besides the label{hint}."
        )
    for column in sorted(one_hot - set(features)):
        raise DataError(f"{source}: --one-hot {names[column]} is not among the features.")
    return ColumnRoles(
        label,
        id_,
        features,
        frozenset(one_hot),
        every_text,
        row_names=0 if nameless else None,
        guessed=guessed,
        notes=notes,
    )


def match_columns(
    source: str, names: Sequence[str], recipe: Recipe, options: ReadOptions, *, labelled: bool
) -> ColumnRoles:
    """Find the columns of a recipe in a table, by name, whatever their order.

    Raises
    ------
    DataError
        If some are not there.
    """
    positions = {name: j for j, name in enumerate(names)}
    absent = [column.name for column in recipe.columns if column.name not in positions]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        raise DataError(
            f"{source} has no {noun} {listed(absent)} "
            f"({len(absent):,} of the {len(recipe.columns):,} that are needed)."
        )
    features = [positions[column.name] for column in recipe.columns]
    label = positions.get(recipe.label) if recipe.label is not None else None
    if options.label is not None:
        label = find_column(source, names, options.label, "--label")
    if label is None and labelled:
        known = f" {quoted(recipe.label)}" if recipe.label is not None else ""
        raise DataError(f"{source} has no column{known} for the label.")
    id_ = positions.get(recipe.id) if recipe.id is not None else None
    if options.id is not None:
        id_ = find_column(source, names, options.id, "--id")
    if label in features or (id_ is not None and id_ in {label, *features}):
        raise DataError(f"{source}: a column of the model is chosen as its label or id.")
    known_positions = {*features, label, id_}
    extra = [name for j, name in enumerate(names) if j not in known_positions]
    notes = []
    if extra:
        plural = "s" if len(extra) > 1 else ""
        notes.append(
            f"{len(extra):,} column{plural} that the model does not know "
            f"{'are' if plural else 'is'} ignored: {listed(extra)}"
        )
    one_hot = frozenset(
        position
        for position, column in zip(features, recipe.columns, strict=True)
        if column.levels is not None
    )
    return ColumnRoles(label, id_, features, one_hot, notes=notes)


def find_column(source: str, names: Sequence[str], column: str | int, option: str) -> int:
    """The position of a column given by name or by number, from 1 or from the end.

    Examples
    --------
    >>> [find_column("data.csv", ["a", "b", "7"], column, "--drop") for column in ("b", -1, "7")]
    [1, 2, 2]

    Raises
    ------
    DataError
        If there is no such column.
    """
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        if not _NUMBER.fullmatch(column):
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


def check_unique(source: str, names: Sequence[str]) -> None:
    """Raise DataError if two columns have one name."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(
                f"{source} has two columns named {quoted(name)}, the columns {seen[name]} and "
                f"{number}; rename one of them."
            )
        seen[name] = number


def numbered(width: int, recipe: Recipe | None) -> list[str]:
    """Names x1, x2 and so on for columns that have none.

    If the model's label is such a column and the file has just one column less, that is the
    one that is not there.
    """
    names = [f"x{number}" for number in range(1, width + 1)]
    if recipe is not None and recipe.label is not None and width == recipe.width - 1:
        longer = [*names, f"x{width + 1}"]
        if recipe.label in longer:
            longer.remove(recipe.label)
            return longer
    return names


def _default_label(
    names: Sequence[str], taken: Iterable[int], notes: list[str], *, labelled: bool
) -> tuple[int | None, bool]:
    """The label's column, and whether it is a guess."""
    free = [j for j in range(len(names)) if j not in set(taken)]
    by_name: dict[str, int] = {}
    for j in free:
        by_name.setdefault(names[j].lower(), j)
    for name in LABEL_NAMES:
        if name in by_name:
            notes.append(f"the label is the column {quoted(names[by_name[name]])}")
            return by_name[name], False
    if not free or not labelled:
        return None, False
    notes.append(f"the label is the last column, {quoted(names[free[-1]])}")
    return free[-1], True


def _check_roles(
    source: str,
    names: Sequence[str],
    label: int | None,
    id_: int | None,
    drop: Sequence[int],
    chosen: Sequence[int],
) -> None:
    roles = [("--label", [label]), ("--id", [id_]), ("--drop", drop), ("--features", chosen)]
    seen: dict[int, str] = {}
    for role, positions in roles:
        for position in positions:
            if position is None:
                continue
            before = seen.setdefault(position, role)
            if before != role:
                raise DataError(
                    f"{source}: column {quoted(names[position])} is asked for both by {before} "
                    f"and by {role}."
                )
    if len(set(chosen)) < len(chosen):
        raise DataError(f"{source}: --features names a column twice.")
