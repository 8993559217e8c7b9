"""What the columns of a table are: numbers, text to be spread out, or refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import (
    Cells,
    arrow,
    encode,
    is_numeric,
    is_text,
    iterate,
    parse_numbers,
    parse_truths,
)
from novikoff.data.choose import Plan
from novikoff.data.errors import DataError, argument, place, quoted
from novikoff.data.exact import check_cells
from novikoff.data.recipe import Recipe
from novikoff.data.values import has_decimal_comma, is_missing, is_number, number_in_dress

_MOST_LEVELS = 10_000
_FEW = 20


@dataclass
class Frame:
    """The columns that a reader found, by their positions in the file.

    ``raw`` columns are the fields of a text file: there "1" is a number and "NA" is missing.
    """

    source: str
    names: list[str]
    plan: Plan
    columns: dict[int, Cells]
    n_rows: int
    raw: bool
    decimal: str = "."
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Numbers:
    """A feature of numbers."""

    name: str
    cells: Cells


@dataclass(frozen=True)
class Categories:
    """A feature of text: for each row the number of its level, -1 if it is missing."""

    name: str
    codes: npt.NDArray[np.int64]
    levels: tuple[str, ...]


Feature: TypeAlias = Numbers | Categories


def features_of(frame: Frame, recipe: Recipe | None) -> list[Feature]:
    """The features of a frame, in their order.

    Raises
    ------
    DataError
        If a column is neither numbers nor text to be spread out, with the place.
    """
    plan = frame.plan
    levels: list[tuple[str, ...] | None] = [None] * len(plan.features)
    if recipe is not None:
        levels = [column.levels for column in recipe.columns]
    features: list[Feature] = []
    for position, known in zip(plan.features, levels, strict=True):
        name, cells = frame.names[position], frame.columns[position]
        if position in plan.one_hot:
            features.append(_categories(frame, name, cells, known))
            continue
        numbers = _numbers(frame, cells)
        if numbers is not None:
            check_cells(numbers, frame.source, name)
            features.append(Numbers(name, numbers))
        elif plan.every_text and is_text(cells.type):
            features.append(_categories(frame, name, cells, None))
        else:
            _refuse(frame, name, cells)
    return features


def _numbers(frame: Frame, cells: Cells) -> Cells | None:
    """The column as numbers; None if it holds something else."""
    pa, pc, types = arrow(), arrow("pyarrow.compute"), arrow("pyarrow.types")
    if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
        cells = pc.cast(cells, cells.type.value_type)
    if types.is_decimal(cells.type):  # by way of text, which Arrow rounds correctly
        cells = pc.cast(pc.cast(cells, pa.string()), pa.float64())
    if types.is_null(cells.type):
        cells = pc.cast(cells, pa.float64())
    if is_numeric(cells.type):
        return cells
    if frame.raw and is_text(cells.type):
        numbers = parse_numbers(cells, frame.decimal)
        return parse_truths(cells) if numbers is None else numbers
    return None


def _categories(frame: Frame, name: str, cells: Cells, known: tuple[str, ...] | None) -> Categories:
    if not is_text(cells.type) and not is_numeric(cells.type):
        _refuse(frame, name, cells)
    codes, found = encode(cells, raw=frame.raw)
    if known is None:
        if len(found) > _MOST_LEVELS:
            raise DataError(
                f"{frame.source}: column {quoted(name)} has {len(found):,} different values, too "
                f"many for --one-hot (at most {_MOST_LEVELS:,}); leave it out with "
                f"--drop {argument(name)}."
            )
        if not found:
            raise DataError(
                f"{frame.source}: column {quoted(name)} has no values at all; leave it out with "
                f"--drop {argument(name)}."
            )
        return Categories(name, codes, tuple(found))
    order = {level: code for code, level in enumerate(known)}
    for code, level in enumerate(found):
        if level not in order:
            row = int(np.argmax(codes == code)) + 1
            raise DataError(
                f"{place(frame.source, row, name)} holds {quoted(level)}, a value that the model "
                "has not seen in training; drop such rows or fit again with them."
            )
    return Categories(
        name, np.array([*(order[level] for level in found), -1], np.int64)[codes], known
    )


def _refuse(frame: Frame, name: str, cells: Cells) -> NoReturn:
    """Say why a column is not a feature."""
    if not is_text(cells.type):
        raise DataError(
            f"{frame.source}: column {quoted(name)} is of type {cells.type}, not of numbers; "
            f"leave it out with --drop {argument(name)}."
        )
    for row, value in enumerate(iterate(cells), start=1):
        text = "" if value is None else str(value)
        if value is None or (frame.raw and (is_missing(text) or is_number(text, frame.decimal))):
            continue
        raise DataError(
            f"{place(frame.source, row, name)} holds {quoted(text)}, which is not a number; "
            f"{_advice(frame, name, cells, text)}."
        )
    raise DataError(
        f"{frame.source}: column {quoted(name)} is text without values; leave it out with "
        f"--drop {argument(name)}."
    )


def _advice(frame: Frame, name: str, cells: Cells, text: str) -> str:
    """What to do about a column of text that holds a certain one."""
    dress = number_in_dress(text)
    if frame.raw and frame.decimal == "." and has_decimal_comma(text):
        thousands = "; if it separates thousands, take it out" if dress else ""
        return f"if the comma is its decimal point, say --decimal ,{thousands}"
    if dress:
        return f"it looks like a number with {dress}, which must be taken out"
    column = argument(name)
    codes, levels = encode(cells, raw=frame.raw)
    if len(levels) > max(_FEW, (codes >= 0).sum() / 2):
        return (
            f"as most of its values differ, say --id {column} if it names the rows, or "
            f"--drop {column}"
        )
    hint = f"use --one-hot {column} to make it columns of 0 and 1, or --drop {column}"
    plan = frame.plan
    if plan.guessed and plan.label is not None and len(levels) <= _FEW:
        last = quoted(frame.names[plan.label])
        hint = (
            f"the label was taken to be the last column, {last}; if it is {quoted(name)}, say "
            f"--label {column}, else {hint}"
        )
    return hint
