"""Labels and names as text, and whether a reader gets back what was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from novikoff.data.choices import Choices, Labels
from novikoff.data.choose import plan_columns
from novikoff.data.errors import DataError, argument, listed, quoted
from novikoff.data.labels import label_values, written_labels
from novikoff.data.values import BLANKS, is_missing, is_number, is_truth

if TYPE_CHECKING:
    from novikoff.data.output.writers import Rows

_DELIMITERS = ",;|\t"
_OTHERS = "write Parquet, Arrow or .blocks instead"


def csv_texts(
    rows: Rows, label: str, mark: str, path: Path
) -> tuple[bytes, list[bytes], list[str]]:
    """The header, the field of each class, and what a reader must be told.

    Raises
    ------
    DataError
        If a label or a name would be read as another, or as missing.
    """
    names = [*rows.names, label]
    texts = label_texts(rows.classes)
    lost = [
        text for text in texts if is_missing(text) or text.strip(BLANKS) != text or "\0" in text
    ]
    if lost:
        raise DataError(
            f"{path}: the label {quoted(lost[0])} of {rows.source} would not be read from text as "
            f"it is; {_OTHERS}."
        )
    lost = [name for name in names if name.strip() != name or "\0" in name]
    if lost:
        raise DataError(
            f"{path}: the name {quoted(lost[0])} of a column of {rows.source} would not be read "
            f"from text as it is; rename it, or {_OTHERS}."
        )
    notes = label_notes(names, path)
    back = label_values(texts)
    if back.dtype.kind != rows.classes.dtype.kind:
        notes.append(f"the labels {listed(texts)} are text, but are read from text as numbers")
    elif (back != rows.classes).any():
        at = int(np.argmax(back != rows.classes))
        raise DataError(
            f"{path}: the label {quoted(texts[at])} of {rows.source} would be read from text as "
            f"{quoted(str(back[at]))}; {_OTHERS}."
        )
    if all(is_number(name) or is_truth(name) or is_missing(name) for name in rows.names):
        notes.append("the names look like values: read it with --header")
    header = mark.join(field(name, mark) for name in names) + "\n"
    return header.encode(), [field(text, mark).encode() for text in texts], notes


def svmlight_texts(rows: Rows, path: Path) -> tuple[list[bytes], list[str]]:
    """The number of each class.

    Raises
    ------
    DataError
        If a label is no number.
    """
    classes = rows.classes.astype(np.int64) if rows.classes.dtype.kind == "b" else rows.classes
    texts = label_texts(classes)
    odd = [text for text in texts if not is_number(text) or text.strip("0123456789.eE+-")]
    if odd:
        raise DataError(
            f"{path}: svmlight holds labels that are numbers, and the label {quoted(odd[0])} of "
            f"{rows.source} is none; write CSV, Parquet, Arrow or .blocks, or number the labels "
            "first."
        )
    back = written_labels(texts)
    same = back.dtype.kind == classes.dtype.kind or {back.dtype.kind, classes.dtype.kind} == {*"if"}
    if not same or (back != classes).any():
        raise DataError(
            f"{path}: the labels {listed(texts)} of {rows.source} would be read from svmlight as "
            f"{listed(label_texts(back))}; {_OTHERS}."
        )
    return [text.encode() for text in texts], []


def label_texts(classes: Labels) -> list[str]:
    """Each label as it is written: whole numbers with all their digits, as readers want them.

    >>> label_texts(np.array([1.0, 2.0**60])), label_texts(np.array([False, True]))
    (['1.0', '1152921504606846976.0'], ['false', 'true'])
    """
    if classes.dtype.kind == "f":
        return [f"{label:.1f}" for label in classes.tolist()]
    if classes.dtype.kind == "b":
        return ["true" if label else "false" for label in classes.tolist()]
    return [str(label) for label in classes.tolist()]


def label_notes(names: Sequence[str], path: Path) -> list[str]:
    """How to find the label, the last column, where a reader would take another."""
    plan = plan_columns(str(path), names, Choices(), labelled=True, row_names=False)
    if plan.label == len(names) - 1:
        return []
    return [f"read it with --label {argument(names[-1])}"]


def field(text: str, mark: str) -> str:
    """A field of delimited text, in quotes where it needs them (RFC 4180).

    Between commas it needs them also for what a reader might take for the delimiter.

    >>> print(field("plain", ","), field('5" or so', ","), field("a;b", ","))
    plain "5"" or so" "a;b"
    """
    marks = _DELIMITERS if mark == "," else mark
    if not any(c in text for c in (*marks, '"', "\r", "\n")):
        return text
    return '"' + text.replace('"', '""') + '"'
