"""The meaning of a field of text: a number, a truth value or nothing; numbers beyond float64."""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite
from typing import Final, NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.core.validation import MAX_EXACT
from novikoff.data.messages import argument, place
from novikoff.errors import DataError

# The words that pyarrow takes for a missing value, and the question mark of the UCI repository.
MISSING: Final = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
    *("1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "?"),
)
TRUE: Final = ("true", "True", "TRUE")
FALSE: Final = ("false", "False", "FALSE")
BLANKS: Final = " \t"  # stripped from both ends of a number; other Unicode spaces are not

_MISSING: Final = frozenset(MISSING)
_TRUTHS: Final = frozenset((*TRUE, *FALSE))
_NUMBER_TEXT = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)",
    re.IGNORECASE | re.ASCII,
)
_NOT_ZERO = re.compile(r"[-+]?[0.]*[1-9]", re.ASCII)


def is_missing_text(text: str) -> bool:
    """Return whether a field is a word for a missing value, such as "?" or "NA"."""
    return text.strip(BLANKS) in _MISSING


def is_truth(text: str) -> bool:
    """Return whether a field is true or false in lower case, upper case or title case."""
    return text.strip(BLANKS) in _TRUTHS


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Return the number in a field; None if it is not a number, such as 1_000 and 0x10."""
    text = text.strip(BLANKS)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    return float(text) if _NUMBER_TEXT.fullmatch(text) else None


def is_number_text(text: str, decimal: str = ".") -> bool:
    """Return whether a field is a number; infinity and NaN count as numbers."""
    return parse_number(text, decimal) is not None


def are_exact(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Return which numbers are exact as float64; numbers that become infinite count as exact."""
    exact: npt.NDArray[np.bool_] = np.ones(values.shape, np.bool_)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        sizes, one = np.abs(values.view(np.ndarray)).astype(np.uint64), np.uint64(1)
        # An exact number has no more than 53 bits without its trailing zeros.
        exact = sizes // np.maximum(sizes & (~sizes + one), one) < np.uint64(1 << 53)
    elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            floats = values.astype(np.float64)
        exact = (floats == values) | ~np.isfinite(floats)
    return exact


def is_exact_text(text: str) -> bool:
    """Return False for an integer that float64 rounds, and for a number that it rounds to zero.

    Decimals are rounded to the nearest double, as everyone expects. Integers are often keys or
    times: if two different ones became equal, a verdict on the data would be wrong. A number counts
    as an integer if its units digit is written, as in 9007199254740993.0 and 9.007199254740993e15;
    in 6.02e23 it is not. The decimal that a program writes for a double is always accepted.

    Examples
    --------
    >>> [is_exact_text(text) for text in ("9.007199254740993e15", "6.02e23", "1e-400", "0e-400")]
    [False, True, False, True]
    """
    value = float(text)
    if value == 0.0:
        return _NOT_ZERO.match(text) is None
    if abs(value) < MAX_EXACT or not isfinite(value):
        return True
    written = Decimal(text)
    exponent = written.as_tuple().exponent
    with_units = isinstance(exponent, int) and exponent <= 0
    return not with_units or written != int(written) or written == Decimal(value)


def inexact(value: str, more: str = "") -> str:
    """Return what is wrong with a number that `is_exact_text` rejects, and what to do."""
    if float(value) == 0.0:
        what, do = "float64 rounds to 0", "multiply the column by a constant"
    else:
        what, do = "float64 cannot hold exactly", "subtract a constant from the column"
    return f"holds {value[:40]}, which {what}; {do}{more}."


def refuse_inexact(source: str, row: int, name: str, value: str) -> NoReturn:
    """Raise DataError on a number that `is_exact_text` or `are_exact` rejects."""
    drop = f", or leave it out with --drop {argument(name)}"
    raise DataError(f"{place(source, row, name)} {inexact(value, drop)}")
