"""Parts of error messages: values in quotes, counts, lists, names and places."""

from __future__ import annotations

import difflib
import gzip
import os
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from novikoff.errors import DataError

_PLAIN_NAME = re.compile(r"[\w.+-]+")
_FILES = 1_000  # so many files of a folder are compared with the name of a missing file
_SURROGATE = re.compile("[\ud800-\udfff]")  # Python uses these for bytes that are not UTF-8


def quoted(value: str) -> str:
    """Return a value in quotes; a long value is shortened."""
    return f'"{value[:40]}…"' if len(value) > 40 else f'"{value}"'


def all_quoted(values: Sequence[str]) -> str:
    """Return all values in quotes, separated by commas."""
    return ", ".join(map(quoted, values))


def listed(values: Sequence[str]) -> str:
    """Return the first five values in quotes, and how many more there are."""
    text = ", ".join(quoted(value) for value in values[:5])
    return text if len(values) <= 5 else f"{text} and {len(values) - 5} more"


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: a similar name, or a list of names."""
    folded = {known.casefold(): known for known in reversed(names[:1000])}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {quoted(folded[near[0]])}?" if near else f"there are {listed(names)}."


def argument(name: str) -> str:
    """Return a column's name as a user types it after an option, in quotes if it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else f'"{name}"'


def option_in_python(option: str, value: object = None) -> str:
    """Return how a call in Python writes an option: its name, with its value if there is one.

    >>> option_in_python("label"), option_in_python("drop", ("shoe size",))
    ('label', "drop=('shoe size',)")
    """
    return option if value is None else f"{option}={value!r}"


def repeated(values: Sequence[str]) -> str | None:
    """Return the first value that appears more than once, or None."""
    if len(set(values)) == len(values):
        return None
    return next(value for value, count in Counter(values).items() if count > 1)


def place(source: str, row: int, column: str, line: int | None = None) -> str:
    """Return the place of a value: file, row (counted from 1), line of a text, name of the column.

    >>> place("iris.csv", 3, "sepal", line=4)
    'iris.csv, row 3 (line 4), column "sepal"'
    """
    at = "" if line is None else f" (line {line})"
    return f"{source}, row {row}{at}, column {quoted(column)}"


def printable_name(path: object) -> str:
    """Return a file's name with bytes that are not UTF-8 replaced; "the data" for an open file."""
    if not isinstance(path, str | os.PathLike):
        return "the data"
    return _SURROGATE.sub("\ufffd", os.fspath(path))


def _similar_file(name: str) -> str:
    """The end of a message about a missing file: a similar name in the same folder, if any."""
    folder, base = os.path.split(name)
    try:
        with os.scandir(folder or ".") as entries:
            files = [entry.name for entry in islice(entries, _FILES) if entry.name.isprintable()]
    except (OSError, ValueError):
        return ""
    stems = {file.partition(".")[0]: file for file in files}  # endings would make all names alike
    near = difflib.get_close_matches(base.partition(".")[0], stems, n=1, cutoff=0.75)
    return f"; did you mean {quoted(stems[near[0]])}?" if near else ""


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Turn the errors of the operating system and of gzip into a DataError that names the file."""
    try:
        yield
    except DataError:
        raise
    except EOFError:
        what = "is cut off: its gzip data ends too early"
    except (zlib.error, gzip.BadGzipFile, struct.error):
        what = "is damaged: its gzip data cannot be unpacked"
    except FileNotFoundError:
        what = f"does not exist{_similar_file(name)}"
    except IsADirectoryError:
        what = "is a directory, not a file of data"
    except OSError as error:
        what = f"cannot be read: {(error.strerror or str(error)).lower()}"
    except MemoryError:
        what = "does not fit into memory"
    except ValueError as error:
        if "null" not in str(error) and not isinstance(error, UnicodeEncodeError):
            raise
        what = "is not a possible name of a file"
    else:
        return
    raise DataError(f"{name} {what}" if what.endswith("?") else f"{name} {what}.")
