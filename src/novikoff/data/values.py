"""What a field of text means: a number, a truth value, nothing, or text."""

from __future__ import annotations

import re

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
