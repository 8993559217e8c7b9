"""Large files of numbers: the quick road of delimited text, where nothing is unusual."""

from __future__ import annotations

from novikoff.data.choices import Choices, Dataset
from novikoff.data.choose import Plan
from novikoff.data.delimited import plan_text
from novikoff.data.errors import DataError
from novikoff.data.features import Frame
from novikoff.data.labels import Typing, label_values
from novikoff.data.look import Look
from novikoff.data.recipe import Column, Recipe
from novikoff.data.source import Source
from novikoff.data.table import finish
from novikoff.data.text import check_text
from novikoff.data.values import is_missing, is_number

_HEAD = 1 << 20
_LONGEST_LABEL = 1000


def read_large(
    source: Source,
    choices: Choices,
    recipe: Recipe | None,
    *,
    labelled: bool,
    typed: Typing = label_values,
) -> Dataset | None:
    """Read a large file of numbers and a label; None if it is not as plain as that.

    What is wrong with a file is not said here but by the careful road, which then reads it.
    """
    try:
        facts = check_text(_head(source))
        look, plan = plan_text(source, facts, choices, recipe, labelled=labelled)
    except (DataError, UnicodeDecodeError):
        return None
    if not _is_plain(look, plan):
        return None
    from novikoff.data.plain import LABEL, SKIPPED, parse_plain

    places = [SKIPPED] * len(look.names)
    for column, position in enumerate(plan.features):
        places[position] = column
    if plan.label is not None:
        places[plan.label] = LABEL
    text = source.view[look.body :]
    found = parse_plain(text, look.delimiter, places, len(plan.features))
    texts = None if found is None else _texts(found.labels)
    if found is None or texts is None:
        return None
    y = None
    if plan.label is not None:
        y = typed(texts)[found.codes]
    frame = Frame(
        source=source.name,
        names=look.names,
        plan=plan,
        columns={},
        n_rows=len(found.X),
        raw=True,
        notes=[*look.notes, *plan.notes],
    )
    columns = tuple(Column(look.names[position]) for position in plan.features)
    return finish(frame, choices, recipe, found.X, columns, y, finite=found.finite)


def _head(source: Source) -> Source:
    """The beginning of a file, up to the end of a line."""
    cut = bytes(source.view[:_HEAD]).rfind(b"\n") + 1
    return Source(source.name, source.view[: cut or _HEAD], source.format)


def _is_plain(look: Look, plan: Plan) -> bool:
    """Whether the columns that matter are numbers, but for the label, as far as one can see."""
    special = plan.id is not None or plan.row_names is not None or plan.one_hot or plan.every_text
    if special or look.decimal != "." or len(look.names) < 2 or not plan.features:
        return False
    return all(
        len(row) == len(look.names) and all(is_number(row[j]) for j in plan.features)
        for row in look.sample
    )


def _texts(labels: list[bytes]) -> list[str] | None:
    """The labels as text; None if one is missing or very long."""
    try:
        texts = [label.decode() for label in labels]
    except UnicodeDecodeError:
        return None
    odd = any(is_missing(text) or len(text) > _LONGEST_LABEL for text in texts)
    return None if odd else texts
