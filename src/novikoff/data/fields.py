"""The meaning of a field of text: a number, a truth value, a missing value, or text."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, argument, place

# What Arrow takes for missing, and the question mark of the UCI repository.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
    *("1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "?"),
)

TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")

# The blanks that are cut off around numbers: those of ASCII, since no other is at home there.
BLANKS = " \t"

_MISSING = frozenset(MISSING)
_TRUTHS = frozenset(TRUE + FALSE)
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)",
    re.IGNORECASE | re.ASCII,
)
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?", re.ASCII)

_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_ONE = np.uint64(1)
_SIGNS = (("%", "a percent sign"), ("$€£¥₹", "a currency sign"))
_THOUSANDS = re.compile(
    r"[-+]?[0-9]{1,3}(?P<mark>[ ,.'’\u00a0\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:[.,][0-9]+)?",
    re.ASCII,
)


def is_missing(text: str) -> bool:
    """Whether a field says that there is no value.

    Examples
    --------
    >>> is_missing(" ?"), is_missing("NA"), is_missing("0")
    (True, True, False)
    """
    return text.strip(BLANKS) in _MISSING


def is_truth(text: str) -> bool:
    """Whether a field is true or false, in a usual case.

    Examples
    --------
    >>> is_truth("True"), is_truth("1")
    (True, False)
    """
    return text.strip(BLANKS) in _TRUTHS


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a field is a number; infinity and NaN are, 1_000 and 0x10 are not.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number("1,5"), is_number("1,5", decimal=",")
    (True, False, True)
    """
    return number(text, decimal) is not None


def number(text: str, decimal: str = ".") -> float | None:
    """The number that a field is; None if it is none.

    Examples
    --------
    >>> number(" 2.5"), number("red")
    (2.5, None)
    """
    text = text.strip(BLANKS)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def has_decimal_comma(text: str) -> bool:
    """Whether a field would be a number if the comma were its decimal point.

    Examples
    --------
    >>> has_decimal_comma("3,14")
    True
    """
    return _DECIMAL_COMMA.fullmatch(text.strip(BLANKS)) is not None


def number_in_dress(text: str) -> str | None:
    """What keeps a field from being a number that a reader would see in it.

    Examples
    --------
    >>> number_in_dress("12%"), number_in_dress("$1,200.50"), number_in_dress("1 200 000")
    ('a percent sign', 'a currency sign', 'thousands separators')
    >>> number_in_dress("red")
    """
    text = text.strip(BLANKS)
    for signs, what in _SIGNS:
        bare = text.strip(signs).strip()
        if bare != text and (_THOUSANDS.fullmatch(bare) or is_number(bare.replace(",", "."))):
            return what
    return "thousands separators" if _THOUSANDS.fullmatch(text) else None


def are_exact(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Which numbers float64 holds exactly; infinity and what becomes infinite count as held.

    Examples
    --------
    >>> are_exact(np.array([2**53, 2**53 + 1, 2**62, -(2**63)])).tolist()
    [True, False, True, True]
    """
    if values.dtype.kind in "iu":
        if values.dtype.itemsize < 8:
            return np.ones(values.shape, np.bool_)
        sizes = values.astype(np.uint64)  # modulo 2⁶⁴
        if values.dtype.kind == "i":
            sizes = np.where(values.astype(np.int64) < 0, ~sizes + _ONE, sizes)
        # Without its trailing zeros, a number that is held has no more than 53 bits.
        lowest = np.maximum(sizes & (~sizes + _ONE), _ONE)
        held: npt.NDArray[np.bool_] = sizes // lowest < np.uint64(1 << 53)
        return held
    if values.dtype.kind != "f" or values.dtype.itemsize <= 8:
        return np.ones(values.shape, np.bool_)
    with np.errstate(over="ignore"):
        floats = values.astype(np.float64)
    same: npt.NDArray[np.bool_] = (floats == values) | ~np.isfinite(floats)
    return same


def is_exact_text(text: str) -> bool:
    """Whether a text is no integer, or one that float64 holds exactly.

    Decimals are rounded to the nearest double, as everyone expects of them. Integers are often
    keys or times: if two of them became one, a verdict on the data would be wrong.

    Examples
    --------
    >>> [is_exact_text(text) for text in ("9007199254740993", "9007199254740992", "9e15", "0.1")]
    [False, True, True, True]
    """
    if len(text) < 16 or not _INTEGER.fullmatch(text):
        return True
    value = float(text)
    return value in (float("inf"), float("-inf")) or (len(text) < 4000 and int(value) == int(text))


def refuse_inexact(source: str, row: int, name: str, value: str) -> NoReturn:
    """Raise DataError on a number that float64 cannot hold."""
    raise DataError(
        f"{place(source, row, name)} holds {value[:40]}, which float64 cannot hold exactly; "
        f"subtract a constant from the column, or leave it out with --drop {argument(name)}."
    )
