"""Errors about data: one sentence that names the file and the place."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_PLAIN_NAME = re.compile(r"[\w.+-]+")


class DataError(ValueError):
    """Data cannot be used as it is; the message is one sentence that says where and why.

    Examples
    --------
    >>> str(DataError('data.csv, row 3, column "age" is empty.'))
    'data.csv, row 3, column "age" is empty.'
    """

    def __init__(self, message: str) -> None:
        super().__init__(_on_one_line(message))


class ChangedError(DataError):
    """The part of a source that was learned is not what it was."""


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
    return name if _PLAIN_NAME.fullmatch(name) else f'"{name}"'


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


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Turn the system's errors about a file into sentences that name it."""
    try:
        yield
    except DataError:
        raise
    except EOFError:
        raise DataError(f"{name} is cut off: its gzip data ends too early.") from None
    except (zlib.error, gzip.BadGzipFile, struct.error):
        raise DataError(f"{name} is damaged: its gzip data cannot be unpacked.") from None
    except FileNotFoundError:
        raise DataError(f"{name} does not exist.") from None
    except IsADirectoryError:
        raise DataError(f"{name} is a directory, not a file of data.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{name} cannot be read: {reason}.") from None
    except MemoryError:
        raise DataError(f"{name} does not fit into memory.") from None
    except ValueError as error:
        if "null" not in str(error) and not isinstance(error, UnicodeEncodeError):
            raise
        raise DataError(f"{name} is not a possible name of a file.") from None


def _on_one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
