"""How bad data is refused: one sentence that names the file and the place."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[\w.+-]+")


class DataError(ValueError):
    """Data cannot be used as it is; the message is one sentence that says where and why.

    Examples
    --------
    >>> str(DataError('data.csv, row 3, column "age" is empty.'))
    'data.csv, row 3, column "age" is empty.'
    """

    def __init__(self, message: str) -> None:
        super().__init__(_on_one_line(message))


def quoted(value: str, limit: int = 40) -> str:
    """A value as it stands in a message: in quotes, and cut if it is long.

    Examples
    --------
    >>> print(quoted("red"), quoted("x" * 50, limit=5))
    "red" "xxxxx…"
    """
    return f'"{value[:limit]}…"' if len(value) > limit else f'"{value}"'


def listed(values: Sequence[str], limit: int = 5) -> str:
    """Several values in quotes, and how many more there are.

    Examples
    --------
    >>> print(listed(["a", "b", "c"], limit=2))
    "a", "b" and 1 more
    """
    text = ", ".join(quoted(value) for value in values[:limit])
    return text if len(values) <= limit else f"{text} and {len(values) - limit} more"


def argument(name: str) -> str:
    """A column's name as it is typed after an option, in quotes if it needs them.

    Examples
    --------
    >>> print(argument("age"), argument("smokes?"))
    age "smokes?"
    """
    return name if _PLAIN.fullmatch(name) else f'"{name}"'


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural unless there is one.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def place(source: str, row: int, column: str) -> str:
    """Where a value stands: file, row counted from 1, column by name.

    Examples
    --------
    >>> print(place("data.csv", 17, "age"))
    data.csv, row 17, column "age"
    """
    return f"{source}, row {row}, column {quoted(column)}"


def _on_one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
