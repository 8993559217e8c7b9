"""Advice on a column of text where numbers are expected: what the text is, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from novikoff.data.messages import quoted
from novikoff.data.values import BLANKS, is_number_text

if TYPE_CHECKING:
    from novikoff.data.options import ReadOptions

NUMBERS_FOR_DATES: Final = "turn it into a number, such as days since a date"

_FEW_LEVELS: Final = 20
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?", re.ASCII)
_THOUSANDS = re.compile(
    r"[-+]?[0-9]{1,3}(?P<mark>[ ,.'’\u00a0\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:[.,][0-9]+)?",
    re.ASCII,
)
_DATE = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}"
    r"|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}|[0-9]{1,2}:[0-9]{2})(?![0-9])",
    re.ASCII,
)


def advice_on_text(
    column: str,
    text: str,
    levels: Sequence[str],
    n_values: int,
    *,
    options: ReadOptions,
    decimal: str | None,
    guessed_label: str | None,
    streaming: bool,
    trained: bool,
) -> str:
    """Return what the user can do about a column of text where numbers are expected.

    Parameters
    ----------
    column, text : str
        The name of the column, and its first value that is not a number.
    levels, n_values : sequence of str, and int
        The different values of the column, and the number of rows in which it has a value.
    options : ReadOptions
        The options of the reader, which say how messages write them.
    decimal : str or None
        The decimal point of a text file; None for a typed column, in which no text is a number.
    guessed_label : str or None
        The last column, if it was taken for the label because no column has a usual name.
    streaming, trained : bool
        Whether a model learns from the rows as a stream, and whether a trained model predicts them.
    """
    drop, one_hot = options.say("drop", (column,)), options.say("one_hot", (column,))
    n_levels = len(levels)
    measure = seen_as_number(text, decimal, options)
    if measure:
        return f"{measure}, or say {drop}" if is_date(text) else measure
    if streaming:
        pairs = f"rows such as label {column}={text[:20]}:1, or as JSON lines"
        return f"in a stream, write text as features, in {pairs}, or say {drop}"
    if trained:
        return "the model was trained on numbers in this column"
    if mostly_numbers(levels, decimal):
        return f"most values of the column are numbers: correct this value, or say {drop}"
    if n_levels > max(_FEW_LEVELS, n_values / 2):
        id_ = options.say("id", column)
        return f"most of its values differ: say {id_} if it names the rows, or {drop}"
    make_columns = f"use {one_hot} to make it columns of 0 and 1, or {drop}"
    if guessed_label is None or n_levels > _FEW_LEVELS:
        return make_columns
    taken = f"the label was taken to be the last column, {quoted(guessed_label)}"
    label = options.say("label", column)
    return f"{taken}; if it is {quoted(column)}, say {label}, else {make_columns}"


def seen_as_number(text: str, decimal: str | None, options: ReadOptions) -> str:
    """Return what to do about a text that looks like a number or a date; otherwise ""."""
    decoration = number_decoration(text)
    if decimal == "." and has_decimal_comma(text):
        thousands = "; if it separates thousands, remove it" if decoration else ""
        comma = options.say("decimal", ",")
        return f"say {comma} if the comma is its decimal point{thousands}"
    if decoration:
        return f"it looks like a number with {decoration}: remove them from the column"
    return f"it looks like a date or time: {NUMBERS_FOR_DATES}" if is_date(text) else ""


def mostly_numbers(levels: Sequence[str], decimal: str | None) -> bool:
    """Return whether more than half of the different values of a column are numbers."""
    numbers = [decimal is not None and is_number_text(level, decimal) for level in levels]
    return 2 * sum(numbers) > len(numbers)


def has_decimal_comma(text: str) -> bool:
    """Return whether a field is a number if the comma is its decimal point."""
    return _DECIMAL_COMMA.fullmatch(text.strip(BLANKS)) is not None


def is_date(text: str) -> bool:
    """Return whether a field begins with a date or a time, such as 2024-05-31 or 31.5.2024 10:15.

    Examples
    --------
    >>> [is_date(text) for text in ("2024-05-31T10:15Z", "5/31/24", "10:15:00", "1.2.34")]
    [True, True, True, False]
    """
    return _DATE.match(text.strip(BLANKS)) is not None


def number_decoration(text: str) -> str | None:
    """Return what decorates a number in a text, such as "percent signs"; None if nothing does."""
    text = text.strip(BLANKS)
    for signs, what in (("%", "percent signs"), ("$€£¥₹", "currency signs")):
        bare = text.strip(signs).strip()
        if bare != text and (_THOUSANDS.fullmatch(bare) or is_number_text(bare.replace(",", "."))):
            return what
    return "thousands separators" if _THOUSANDS.fullmatch(text) else None
