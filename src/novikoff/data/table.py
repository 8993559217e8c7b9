"""A table as a dataset: labels, features, and what is to be remembered of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import Cells, arrow, iterate, parse_numbers
from novikoff.data.choices import Choices, Dataset, Floats, Labels
from novikoff.data.errors import DataError, counted, quoted
from novikoff.data.features import Categories, Feature, Frame, Numbers, features_of
from novikoff.data.fill import fill, to_floats
from novikoff.data.labels import Typing, label_values, labels_of
from novikoff.data.recipe import Column, Recipe
from novikoff.data.settle import Columns, settle


def assemble(
    frame: Frame,
    choices: Choices,
    recipe: Recipe | None,
    *,
    labelled: bool = True,
    typed: Typing = label_values,
    partial: bool = False,
) -> Dataset:
    """Turn a frame into a dataset; where labels need not be, they are all there or none.

    A piece of a file, ``partial``, may end without rows.

    Raises
    ------
    DataError
        If a feature is not a number, a value is missing or infinite, or a level is unknown.
    """
    plan, name = frame.plan, frame.source
    notes = [*frame.notes]
    if frame.n_rows == 0:
        raise DataError(f"{name} has no rows.")
    if plan.row_names is not None:
        _check_row_names(frame, notes)
    y: Labels | None = None
    unlabelled: npt.NDArray[np.bool_] | None = None
    label = None if plan.label is None else frame.names[plan.label]
    if plan.label is not None and label is not None:
        try:
            cells = frame.columns[plan.label]
            y, unlabelled = labels_of(
                cells, name, label, raw=frame.raw, typed=typed, partial=partial
            )
        except DataError:
            if labelled:
                raise
        if not labelled and (unlabelled is None or unlabelled.any()):
            y = unlabelled = None
            notes.append(f"labels are missing in column {quoted(label)}: it is not used")
    features = features_of(frame, recipe)
    for feature in features:
        if isinstance(feature, Categories) and recipe is None:
            levels = counted(len(feature.levels), "column")
            notes.append(
                f"column {quoted(feature.name)} became {levels} of 0 and 1, one for each value"
            )
    columns = tuple(_column(feature) for feature in features)
    X, largest_sq = fill(features, frame.n_rows, name)
    return finish(
        frame,
        choices,
        recipe,
        X,
        columns,
        y,
        unlabelled,
        notes,
        partial=partial,
        finite=largest_sq < inf,
    )


def finish(
    frame: Frame,
    choices: Choices,
    recipe: Recipe | None,
    X: Floats,
    columns: tuple[Column, ...],
    y: Labels | None,
    unlabelled: npt.NDArray[np.bool_] | None = None,
    notes: Sequence[str] | None = None,
    *,
    partial: bool = False,
    finite: bool = False,
) -> Dataset:
    """Settle what is missing in a matrix, which may be changed, and remember how it was read."""
    plan, name = frame.plan, frame.source
    notes = [*(frame.notes if notes is None else notes)]
    label = None if plan.label is None else frame.names[plan.label]
    owners = [column.name for column in columns for _ in column.names]
    textual = np.array([column.levels is not None for column in columns for _ in column.names])
    settled = settle(
        X,
        Columns(owners, textual),
        name,
        choices.missing,
        means=_stored_means(recipe),
        unlabelled=unlabelled,
        label=label or "",
        trained=recipe is not None,
        partial=partial,
        finite=finite,
    )
    rows = np.arange(1, frame.n_rows + 1, dtype=np.int64)
    ids = None if plan.id is None else _ids(frame.columns[plan.id])
    if settled.keep is not None:
        y = None if y is None else y[settled.keep]
        rows = rows[settled.keep]
        ids = None if ids is None else [ids[row - 1] for row in rows.tolist()]
    if recipe is None:
        recipe = Recipe(
            family="table",
            columns=_with_means(columns, settled.means),
            label=label,
            id=None if plan.id is None else frame.names[plan.id],
            missing=choices.missing,
            width=len(frame.names),
            header=choices.header,
            delimiter=choices.delimiter,
            decimal=None if choices.decimal == "." else choices.decimal,
        )
    names = recipe.names
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise DataError(f"{name}: two features would be named {quoted(twice)}; rename a column.")
    notes += settled.notes
    return Dataset(
        settled.X,
        y,
        names,
        recipe,
        name,
        label,
        notes,
        ids,
        rows,
        imputed=settled.imputed,
        n_read=frame.n_rows,
    )


def _check_row_names(frame: Frame, notes: list[str]) -> None:
    """A column without a name must be text, or count the rows."""
    cells = frame.columns[frame.plan.row_names or 0]
    numbers = parse_numbers(cells, frame.decimal) if frame.raw else None
    if numbers is not None:
        counts = np.concatenate([to_floats(chunk, arrow().float64()) for chunk in numbers.chunks])
        steps = np.arange(len(counts), dtype=np.float64)
        if not (np.array_equal(counts, steps) or np.array_equal(counts, steps + 1.0)):
            raise DataError(
                f"{frame.source} has no name for column 1 in its header, and it does not just "
                "number the rows; give it a name, or leave it out with --drop 1."
            )
    notes.append("the first column has no name: it is taken for the rows' names, not a feature")


def _column(feature: Feature) -> Column:
    if isinstance(feature, Numbers):
        return Column(feature.name)
    return Column(feature.name, None, feature.levels)


def _with_means(
    columns: tuple[Column, ...], means: npt.NDArray[np.float64] | None
) -> tuple[Column, ...]:
    if means is None:
        return columns
    found, start = [], 0
    for column in columns:
        mean = float(means[start]) if column.levels is None else None
        found.append(Column(column.name, mean, column.levels))
        start += len(column.names)
    return tuple(found)


def _stored_means(recipe: Recipe | None) -> npt.NDArray[np.float64] | None:
    if recipe is None or all(column.mean is None for column in recipe.columns):
        return None
    return np.array(
        [
            np.nan if column.mean is None else column.mean
            for column in recipe.columns
            for _ in column.names
        ]
    )


def _ids(cells: Cells) -> list[str]:
    return ["" if value is None else str(value) for value in iterate(cells)]
