"""Parquet and Arrow files: tables whose columns know their types."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from novikoff.data.arrow import Schema, Table, arrow
from novikoff.data.choices import Choices
from novikoff.data.choose import Plan, match_columns, plan_columns
from novikoff.data.errors import DataError, listed
from novikoff.data.features import Frame
from novikoff.data.look import check_unique
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source

_INDEX = re.compile(r"__index_level_[0-9]+__")


def read_parquet(
    source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool
) -> Frame:
    """Read the columns that matter of a Parquet file.

    Raises
    ------
    DataError
        If it is damaged, or a column is not there.
    """
    pa = arrow()
    try:
        file = arrow("pyarrow.parquet").ParquetFile(pa.BufferReader(pa.py_buffer(source.view)))
        schema: Schema = file.schema_arrow
        names = list(schema.names)
    except Exception as error:  # whatever Arrow makes of arbitrary bytes
        raise damaged(source.name, "Parquet", error) from None
    plan, notes = plan_schema(source.name, schema, choices, recipe, labelled=labelled)
    try:
        table: Table = file.read(columns=[names[j] for j in plan.used])
        return _frame(source, names, plan, notes, table)
    except DataError:
        raise
    except Exception as error:
        raise damaged(source.name, "Parquet", error) from None


def read_arrow(source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool) -> Frame:
    """Read the columns that matter of an Arrow IPC file or stream.

    Raises
    ------
    DataError
        If it is damaged, or a column is not there.
    """
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    try:
        buffer = pa.BufferReader(pa.py_buffer(source.view))
        is_file = bytes(source.view[:6]) == b"ARROW1"
        reader = ipc.open_file(buffer) if is_file else ipc.open_stream(buffer)
        table = reader.read_all()
        table.validate(full=True)  # offsets that lead astray would crash us later
        schema: Schema = table.schema
        names = list(schema.names)
    except Exception as error:
        raise damaged(source.name, "Arrow", error) from None
    plan, notes = plan_schema(source.name, schema, choices, recipe, labelled=labelled)
    return _frame(source, names, plan, notes, table)


def plan_schema(
    source: str,
    schema: Schema,
    choices: Choices,
    recipe: Recipe | None,
    *,
    labelled: bool,
) -> tuple[Plan, list[str]]:
    """Which columns of a typed table are to be read, and what was decided on the way."""
    names = list(schema.names)
    if "" in names:
        raise DataError(f"{source} has no name for column {names.index('') + 1}.")
    check_unique(source, names)
    if recipe is not None:
        plan = match_columns(source, names, recipe, choices, labelled=labelled)
        return plan, plan.notes
    asked = {*choices.features, *choices.drop, choices.id, choices.label, *choices.one_hot}
    rows = _index_names(schema)
    index = [n for n in names if (n in rows or _INDEX.fullmatch(n)) and n not in asked]
    notes = [f"the index of a pandas frame, {listed(index)}, is not a feature"] if index else []
    positions = [j for j, name in enumerate(names) if name not in index]
    if not index:
        plan = plan_columns(source, names, choices, labelled=labelled, row_names=False)
        return plan, plan.notes
    inner = [names[j] for j in positions]
    plan = plan_columns(source, inner, choices, labelled=labelled, row_names=False)
    moved = replace(
        plan,
        label=None if plan.label is None else positions[plan.label],
        id=None if plan.id is None else positions[plan.id],
        features=[positions[j] for j in plan.features],
        one_hot=frozenset(positions[j] for j in plan.one_hot),
    )
    return moved, notes + plan.notes


def _index_names(schema: Schema) -> set[str]:
    """The columns that pandas wrote as the index of a frame, by what it says of itself."""
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return {name for name in said["index_columns"] if isinstance(name, str)}
    except (ValueError, TypeError, KeyError, RecursionError):  # it may say anything, or nothing
        return set()


def _frame(source: Source, names: list[str], plan: Plan, notes: list[str], table: Table) -> Frame:
    columns = {j: table.column(names[j]) for j in plan.used}
    return Frame(source.name, names, plan, columns, table.num_rows, raw=False, notes=notes)


def damaged(source: str, format: str, error: Exception) -> DataError:
    """The sentence on a file that Arrow cannot read."""
    lines = str(error).splitlines() or [type(error).__name__]
    reason = lines[0].strip().rstrip(".")[:200]
    return DataError(f"{source} is not a sound {format} file: {reason}.")
