"""The meaning of a field of text (number, truth, nothing) and of labels.

Labels are integers, numbers, truth values or text, and never two of them become one. A piece of
data holds the different labels as *keys*: texts where the file is text, else plain values. What the
keys stand for is decided when all of them are known, or, for a stream, by the first ones.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Final, Literal, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.validation import MOST_EXACT
from novikoff.data.errors import DataError, argument, place, quoted

Labels: TypeAlias = (
    npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.bool_] | npt.NDArray[np.str_]
)
LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "texts"]

# What Arrow takes for missing, and the question mark of the UCI repository.
MISSING: Final = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
    *("1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "?"),
)
BLANKS: Final = " \t"  # are cut off around numbers: those of ASCII, no other is at home there

_MISSING: Final = frozenset(MISSING)
_TRUTHS: Final = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)",
    re.IGNORECASE | re.ASCII,
)
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?", re.ASCII)
_THOUSANDS = re.compile(
    r"[-+]?[0-9]{1,3}(?P<mark>[ ,.'’\u00a0\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:[.,][0-9]+)?",
    re.ASCII,
)
_NOT_ZERO = re.compile(r"[-+]?[0.]*[1-9]", re.ASCII)
_DATE = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}"
    r"|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}|[0-9]{1,2}:[0-9]{2})(?![0-9])",
    re.ASCII,
)
_INTEGER_LABEL = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_DECIMAL_LABEL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,5})?", re.ASCII)
_KINDS: Final[dict[str, LabelKind]] = {
    "i": "integers", "f": "numbers", "b": "truths", "U": "texts"
}  # fmt: skip
_MOST_CLASSES: Final = 20  # of fewer classes nobody says that they are hardly classes


def is_missing(text: str) -> bool:
    """Whether a field says that there is no value, as "?" and "NA" do."""
    return text.strip(BLANKS) in _MISSING


def is_truth(text: str) -> bool:
    """Whether a field is true or false, in a usual case."""
    return text.strip(BLANKS) in _TRUTHS


def number(text: str, decimal: str = ".") -> float | None:
    """The number that a field is; None if it is none, as 1_000 and 0x10."""
    text = text.strip(BLANKS)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a field is a number; infinity and NaN are."""
    return number(text, decimal) is not None


def has_decimal_comma(text: str) -> bool:
    """Whether a field would be a number if the comma were its decimal point."""
    return _DECIMAL_COMMA.fullmatch(text.strip(BLANKS)) is not None


def is_date(text: str) -> bool:
    """Whether a field begins with a date or a time of day, as 2024-05-31 or 31.5.2024 10:15.

    Examples
    --------
    >>> [is_date(text) for text in ("2024-05-31T10:15Z", "5/31/24", "10:15:00", "1.2.34")]
    [True, True, True, False]
    """
    return _DATE.match(text.strip(BLANKS)) is not None


def number_in_dress(text: str) -> str | None:
    """What keeps a field from being a number that a reader would see in it."""
    text = text.strip(BLANKS)
    for signs, what in (("%", "a percent sign"), ("$€£¥₹", "a currency sign")):
        bare = text.strip(signs).strip()
        if bare != text and (_THOUSANDS.fullmatch(bare) or is_number(bare.replace(",", "."))):
            return what
    return "thousands separators" if _THOUSANDS.fullmatch(text) else None


def are_exact(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Which numbers float64 holds exactly; infinity and what becomes infinite count as held."""
    exact: npt.NDArray[np.bool_] = np.ones(values.shape, np.bool_)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        sizes, one = np.abs(values.view(np.ndarray)).astype(np.uint64), np.uint64(1)
        # Without its trailing zeros, a number that is held has no more than 53 bits.
        exact = sizes // np.maximum(sizes & (~sizes + one), one) < np.uint64(1 << 53)
    elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            floats = values.astype(np.float64)
        exact = (floats == values) | ~np.isfinite(floats)
    return exact


def is_exact_text(text: str) -> bool:
    """Whether a number is no integer that float64 does not hold, and does not become zero.

    Decimals are rounded to the nearest double, as everyone expects of them. Integers are often
    keys or times: if two of them became one, a verdict on the data would be wrong. A number is an
    integer if its units digit is written, as in 9007199254740993.0 and 9.007199254740993e15; in
    6.02e23 it is not. What programs write of a double is never refused.

    Examples
    --------
    >>> [is_exact_text(text) for text in ("9.007199254740993e15", "6.02e23", "1e-400", "0e-400")]
    [False, True, False, True]
    """
    value = float(text)
    if value == 0.0:
        return _NOT_ZERO.match(text) is None
    if abs(value) < MOST_EXACT or not isfinite(value):
        return True
    written = Decimal(text)
    exponent = written.as_tuple().exponent
    with_units = isinstance(exponent, int) and exponent <= 0
    return not with_units or written != int(written) or written == Decimal(value)


def inexact(value: str, more: str = "") -> str:
    """What is wrong with such a number, and what to do."""
    if float(value) == 0.0:
        what, do = "float64 rounds to 0", "multiply the column by a constant"
    else:
        what, do = "float64 cannot hold exactly", "subtract a constant from the column"
    return f"holds {value[:40]}, which {what}; {do}{more}."


def refuse_inexact(source: str, row: int, name: str, value: str) -> NoReturn:
    """Raise DataError on a number that float64 cannot hold."""
    drop = f", or leave it out with --drop {argument(name)}"
    raise DataError(f"{place(source, row, name)} {inexact(value, drop)}")


def text_labels(keys: Sequence[Hashable]) -> Labels:
    """The labels that different texts stand for, without the blanks around them.

    Integers if all are written as integers, floats if all are whole numbers that a float
    holds, truth values if all are true or false, else the texts. "01" is text, since as a
    number it would be "1"; fractions are text, since they are no classes as numbers.
    """
    texts = [str(key).strip(BLANKS) for key in keys]
    if all(map(_INTEGER_LABEL.fullmatch, texts)):
        if all(-(2**63) <= int(text) < 2**63 for text in texts):
            return np.array([int(text) for text in texts], np.int64)
    elif all(map(_DECIMAL_LABEL.fullmatch, texts)):
        return _decimal_labels([Decimal(text) for text in texts], texts)
    elif all(map(is_truth, texts)):
        return np.array([text.lower() == "true" for text in texts], np.bool_)
    return np.array(texts, np.str_)


def written_labels(keys: Sequence[Hashable]) -> Labels:
    """The labels that numbers stand for, however they are written, unless two became one."""
    texts = [str(key) for key in keys]
    try:
        if not all(map(is_number, texts)):
            return np.array(texts, np.str_)
        numbers = [Decimal(text) for text in texts]
    except InvalidOperation:  # an exponent beyond all bounds
        return np.array(texts, np.str_)
    whole = all(number == number.to_integral_value() for number in numbers)
    if whole and all(abs(number) < 2**63 for number in numbers):
        return np.array([int(number) for number in numbers], np.int64)
    floats = [str(float(number)) for number in numbers]
    apart = len(set(numbers)) == len(set(floats)) and not whole
    return np.array(floats if apart else _shortest(numbers, texts), np.str_)


def typed_labels(keys: Sequence[Hashable]) -> Labels:
    """The labels that values of one type stand for, as a typed column holds them."""
    if isinstance(keys[0], Decimal):
        numbers = [key for key in keys if isinstance(key, Decimal)]
        return _decimal_labels(numbers, [_plain(number) for number in numbers])
    values = np.array(keys)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            floats = values.astype(np.float64)
        if (floats == np.floor(floats)).all() and (floats == values).all():
            return floats
    elif values.dtype.kind == "b":
        return values.astype(np.bool_)
    elif values.dtype.kind in "iuO" and all(-(2**63) <= int(key) < 2**63 for key in values):
        return values.astype(np.int64)
    return np.array([str(key) for key in keys], np.str_)


def array_labels(keys: Sequence[Hashable]) -> Labels:
    """The same for NumPy's arrays, where whole numbers are often floats."""
    labels = typed_labels(keys)
    if labels.dtype.kind == "f" and (np.abs(labels.astype(np.float64)) <= 2**53).all():
        return labels.astype(np.int64)
    return labels


def check_classes(y: Labels, source: str, name: str, advice: str) -> None:
    """Raise DataError if labels are as manifold as measurements are."""
    n_classes = len(np.unique(y))
    if n_classes > max(_MOST_CLASSES, len(y) / 2):
        raise DataError(
            f"{source}: column {quoted(name)} has {n_classes:,} different values in {len(y):,} "
            f"rows: it is hardly a class{advice}."
        )


def seems_continuous(y: Labels) -> bool:
    """Whether labels look like a measurement: many numbers, not all whole, or hardly repeated."""
    try:
        found = np.unique(y).astype(np.float64)  # a text file's numbers with a point are text here
    except ValueError:
        return False
    if len(found) > 20:
        return len(found) > len(y) / 5 or bool((found % 1 != 0).any())
    return len(found) >= 5 and len(found) > len(y) / 2


class LabelReader:
    """Keys as labels of one kind, settled by the first of them, or by a model's classes.

    With ``written``, numbers may be written in any way, as +1 or 1.0, as in svmlight files.
    """

    def __init__(self, kind: LabelKind, *, written: bool = False) -> None:
        self.kind: LabelKind = kind
        self._written = written
        self._known: dict[Hashable, Hashable] = {}

    @classmethod
    def settled(
        cls, keys: Sequence[Hashable], *, as_text: bool = False, written: bool = False
    ) -> LabelReader:
        """Decide by the first labels, unless all labels are text."""
        if as_text:
            return cls("texts")
        texts = [str(key) for key in keys] or ["text"]
        numeric = written and all(map(is_number, texts))
        labels = written_labels(texts) if numeric else text_labels(texts)
        return cls(_KINDS[labels.dtype.kind], written=written)

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelReader:
        """The reader for the labels of a model."""
        return cls(_KINDS[np.array(classes).dtype.kind], written=True)

    def value(self, key: Hashable) -> Hashable | None:
        """The label that a key stands for; None if it is of another kind."""
        if key not in self._known:
            self._known[key] = self._read(str(key))
        return self._known[key]

    def refuse(self, key: Hashable, where: str) -> NoReturn:
        """Raise DataError on a label of another kind."""
        said = {"integers": "whole numbers", "numbers": "all numbers", "truths": "true or false,"}
        raise DataError(
            f"{where} has the label {quoted(str(key))}, but labels were {said[self.kind]} so far; "
            "--text-labels takes all of them as text."
        )

    def _read(self, text: str) -> Hashable | None:
        if self.kind == "texts":
            return text.strip(BLANKS)
        written = self._written and is_number(text)
        value = (written_labels([text]) if written else text_labels([text])).tolist()[0]
        if self.kind == "numbers" and type(value) is int and float(value) == value:
            value = float(value)
        wanted = {"integers": int, "numbers": float, "truths": bool}[self.kind]
        return value if type(value) is wanted else None


def _decimal_labels(numbers: Sequence[Decimal], texts: Sequence[str]) -> Labels:
    """Numbers as floats if all are whole and held exactly, else as texts."""
    if all(n == n.to_integral_value() and Decimal(float(n)) == n for n in numbers):
        return np.array([float(number) for number in numbers], np.float64)
    return np.array(_shortest(numbers, texts), np.str_)


def _shortest(numbers: Sequence[Decimal], texts: Sequence[str]) -> list[str]:
    """One text for each number: the shortest, if there are several."""
    found: dict[Decimal, str] = {}
    for text, number in sorted(zip(texts, numbers, strict=True), key=lambda p: (len(p[0]), p[0])):
        found.setdefault(number, text)
    return [found[number] for number in numbers]


def _plain(number: Decimal) -> str:
    """A decimal without an exponent and without the zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
