"""Errors about data: one sentence that names the file and the place."""

from __future__ import annotations

import difflib
import gzip
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from novikoff.errors import DataError

_PLAIN_NAME = re.compile(r"[\w.+-]+")


def quoted(value: str) -> str:
    """A value as it stands in a message: in quotes, and cut if it is long."""
    return f'"{value[:40]}…"' if len(value) > 40 else f'"{value}"'


def every(values: Sequence[str]) -> str:
    """All of some values, in quotes."""
    return ", ".join(map(quoted, values))


def listed(values: Sequence[str]) -> str:
    """Several values in quotes, and how many more there are."""
    text = ", ".join(quoted(value) for value in values[:5])
    return text if len(values) <= 5 else f"{text} and {len(values) - 5} more"


def meant(name: str, names: Sequence[str]) -> str:
    """The name that was meant, or those there are: the end of a message about an unknown one."""
    folded = {known.casefold(): known for known in reversed(names[:1000])}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {quoted(folded[near[0]])}?" if near else f"there are {listed(names)}."


def argument(name: str) -> str:
    """A column's name as it is typed after an option, in quotes if it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else f'"{name}"'


def repeated(values: Sequence[str]) -> str | None:
    """The first of some values that there is more than once, if any."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


def place(source: str, row: int, column: str) -> str:
    """Where a value stands: file, row counted from 1, column by name."""
    return f"{source}, row {row}, column {quoted(column)}"


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Turn the system's errors about a file into sentences that name it."""
    try:
        yield
    except DataError:
        raise
    except EOFError:
        what = "is cut off: its gzip data ends too early"
    except (zlib.error, gzip.BadGzipFile, struct.error):
        what = "is damaged: its gzip data cannot be unpacked"
    except FileNotFoundError:
        what = "does not exist"
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
    raise DataError(f"{name} {what}.")
