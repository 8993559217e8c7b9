"""The meaning of a value in a file: a number, a truth value, a missing value, or a label.

Labels are integers, floats, truth values or text. Different labels never become equal. A reader
yields the different labels of a piece as *keys*: texts in a text file, otherwise plain values. The
label that a key stands for depends only on the *kind* of the labels. So `novikoff fit`, which knows
all keys, and `novikoff stream`, which sees one after the other, find the same classes. The kind is
the narrowest kind that fits all keys. A stream takes the kind from its first rows and rejects a
label of a different kind with an error.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.core.validation import MAX_EXACT
from novikoff.data.messages import quoted
from novikoff.errors import DataError

if TYPE_CHECKING:
    from novikoff.data.options import ReadOptions

# The words that pyarrow reads as a missing value, and the question mark of the UCI repository.
MISSING: Final = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
    *("1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "?"),
)
TRUE: Final = ("true", "True", "TRUE")
FALSE: Final = ("false", "False", "FALSE")
BLANKS: Final = " \t"  # stripped from both ends of a number; other Unicode spaces are not

ValueKind: TypeAlias = Literal["missing", "truth", "number", "text"]

_MISSING: Final = frozenset(MISSING)
_TRUTHS: Final = frozenset((*TRUE, *FALSE))
_NUMBER_TEXT = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)",
    re.IGNORECASE | re.ASCII,
)
_NOT_ZERO = re.compile(r"[-+]?[0.]*[1-9]", re.ASCII)


def value_kind(text: str, decimal: str = ".") -> ValueKind:
    """Return the kind of a field: a missing value, a truth value, a number, or any other text.

    Examples
    --------
    >>> [value_kind(text) for text in ("?", "NaN", " TRUE", "1e5", "inf", "1_000", "0x10")]
    ['missing', 'missing', 'truth', 'number', 'number', 'text', 'text']
    """
    bare = text.strip(BLANKS)
    if bare in _MISSING:
        return "missing"
    if bare in _TRUTHS:
        return "truth"
    return "text" if parse_number(text, decimal) is None else "number"


def is_missing_text(text: str) -> bool:
    """Return whether a field is a word for a missing value, such as "?" or "NA"."""
    return text.strip(BLANKS) in _MISSING


def is_truth(text: str) -> bool:
    """Return whether a field is true or false in lower case, upper case or title case."""
    return text.strip(BLANKS) in _TRUTHS


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Return the number in a field; None if it is not a number (1_000 and 0x10 are not)."""
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
        # A number is exact if it has at most 53 bits without its trailing zeros.
        exact = sizes // np.maximum(sizes & (~sizes + one), one) < np.uint64(1 << 53)
    elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            floats = values.astype(np.float64)
        exact = (floats == values) | ~np.isfinite(floats)
    return exact


def is_exact_text(text: str) -> bool:
    """Return False for an integer that float64 rounds, and for a number that it rounds to zero.

    Decimals are rounded to the nearest double, as usual. Integers are often keys or times. If two
    different integers became equal, a verdict on the data would be wrong. A number counts as an
    integer if its units digit is written: it is in 9007199254740993.0 and 9.007199254740993e15, but
    not in 6.02e23. The decimal that a program writes for a double is always accepted.

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


def inexact(value: str, reason: str = "") -> str:
    """Describe what is wrong with a number that `is_exact_text` rejects, and what to do."""
    if float(value) == 0.0:
        what, do = "float64 rounds to 0", "multiply the column by a constant"
    else:
        what, do = "float64 cannot hold exactly", "subtract a constant from the column"
    return f"holds {value[:40]}, which {what}; {do}{reason}."


LabelArray: TypeAlias = (
    npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.bool_] | npt.NDArray[np.str_]
)

# The kinds of labels: integers, whole floats, truth values, numbers as text (one text for each
# number), and any text. If several kinds fit, the first is used. More keys never make the kind
# narrower.
LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "decimals", "texts"]

# How a format writes labels. In "text", 01 is not the number 1. In "free", a number may be written
# as +1 or 1.0. Labels are typed values in "typed", and values of an array in "array", where 1 is
# often stored as 1.0.
LabelForm: TypeAlias = Literal["text", "free", "typed", "array"]

KINDS: Final[tuple[LabelKind, ...]] = get_args(LabelKind)

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,5})?", re.ASCII)
_DTYPES: Final = {
    "integers": np.int64, "numbers": np.float64, "truths": np.bool_, "decimals": np.str_,
    "texts": np.str_,
}  # fmt: skip
_OF_DTYPE: Final[dict[str, LabelKind]] = {
    "i": "integers", "f": "numbers", "b": "truths", "U": "texts"
}  # fmt: skip
# The text of a number has an exponent if it would need more digits than this, or more zeros after
# the decimal point.
_MOST_DIGITS, _MOST_ZEROS = 100, 6
_FEW_CLASSES: Final = 20  # this many different labels, or fewer, are never rejected


def labels_of(keys: Sequence[Hashable], form: LabelForm) -> LabelArray:
    """Return the labels that different keys of one type stand for.

    Whole numbers become integers if they are written as integers or the form is "free". Otherwise
    they become floats if these are exact. If some number is not whole, all numbers become text, and
    the text does not depend on how the number is written. True and false become truth values. Other
    labels are text without the blanks around it.

    Examples
    --------
    >>> labels_of(["1", "2"], "text").tolist(), labels_of(["1.0", "2"], "text").tolist()
    ([1, 2], [1.0, 2.0])
    >>> labels_of(["+1", "1.0", "-1"], "free").tolist(), labels_of(["01", "1"], "text").tolist()
    ([1, 1, -1], ['01', '1'])
    >>> labels_of(["0.50", "5e-1", "1.0"], "text").tolist()
    ['0.5', '0.5', '1']
    """
    meanings = [_meanings(key, form) for key in keys]
    kind = _narrowest(meanings)
    return cast(LabelArray, np.array([meaning[kind] for meaning in meanings], _DTYPES[kind]))


def _narrowest(meanings: Sequence[Mapping[LabelKind, Hashable]]) -> LabelKind:
    """Return the first kind that fits all keys."""
    common = set(KINDS).intersection(*meanings)
    return min(common, key=KINDS.index)


def _meanings(key: Any, form: LabelForm) -> dict[LabelKind, Hashable]:
    """Return, for each kind that fits a key, the label that the key stands for.

    A number that is written as an integer of more than 64 bits is not a float, because it may be
    a name that consists of digits.
    """
    if isinstance(key, bool | np.bool_):
        return {"texts": str(key), "truths": bool(key)}
    typed = form in ("typed", "array")
    if isinstance(key, str) and typed:
        return {"texts": str(key)}  # a column of text is text
    text = str(key).strip(BLANKS)
    meanings: dict[LabelKind, Hashable] = {"texts": text}
    if isinstance(key, str):
        if is_truth(text):
            meanings["truths"] = text.lower() == "true"
        if not (_DECIMAL.fullmatch(text) if form == "text" else is_number_text(text)):
            return meanings
        integer = _INTEGER.fullmatch(text) is not None
    else:
        integer = isinstance(key, int | np.integer)
    try:
        number = Decimal(text)
    except InvalidOperation:  # the exponent is too large
        return meanings
    if not number.is_finite():
        return meanings
    meanings["decimals"] = _decimal_text(number)
    if number != number.to_integral_value():
        return meanings
    if not isinstance(key, str):
        number = Decimal(int(key))  # a float32 may have more digits than its text shows
    small = -(2**63) <= number < 2**63
    if small and (integer or form in ("free", "array")):
        meanings["integers"] = int(number)
    if (small or not integer) and Decimal(float(number)) == number:
        meanings["numbers"] = float(number) + 0.0  # -0.0 becomes 0.0
    return meanings


def _decimal_text(number: Decimal) -> str:
    """Return one text for a number, however it is written: 0.5 for 0.50 and 5e-1, 1 for 1.0.

    >>> [_decimal_text(Decimal(text)) for text in ("-0.0", "2.50", "1e3", "1e-7", "1e300")]
    ['0', '2.5', '1000', '1e-7', '1e+300']
    """
    sign, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    short = written.rstrip("0")
    if not short:
        return "0"
    exponent = cast(int, exponent) + len(written) - len(short)
    power = exponent + len(short) - 1  # the power of ten of the first digit
    if -_MOST_ZEROS <= power < _MOST_DIGITS:
        return f"{Decimal((sign, tuple(map(int, short)), exponent)):f}"
    point = "." if len(short) > 1 else ""
    return f"{'-' * sign}{short[0]}{point}{short[1:]}e{power:+d}"


class LabelReader:
    """Turns keys, one after the other, into labels of one kind."""

    def __init__(self, kind: LabelKind, form: LabelForm = "text") -> None:
        self.kind: LabelKind = kind
        self._form: LabelForm = form
        self._known: dict[Hashable, Hashable] = {}
        # If all classes of a model are numbers as text: the class for the text of each number.
        self._classes: dict[str, str] = {}

    @classmethod
    def by_first(cls, keys: Sequence[Hashable], form: LabelForm = "text") -> LabelReader:
        """Return a reader of labels that have the kind of the first labels."""
        return cls(_narrowest([_meanings(key, form) for key in keys]), form)

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelReader:
        """Return a reader of the labels of a model; numbers may be written in any way.

        Examples
        --------
        >>> LabelReader.of(["0.5", "1.0"]).value("1"), LabelReader.of(["01", "1"]).value("01")
        ('1.0', '01')
        """
        reader = cls(_OF_DTYPE[np.array(classes).dtype.kind], "free")
        if reader.kind == "texts":
            reader._known = {text: text for text in classes}
            texts = [(_meanings(text, "text").get("decimals"), text) for text in classes]
            by_number = {cast(str, number): cast(str, text) for number, text in texts}
            if len(by_number) == len(classes) and None not in by_number:
                reader._classes = by_number
        return reader

    def value(self, key: Hashable) -> Hashable | None:
        """Return the label that a key stands for; None if its kind differs."""
        if key not in self._known:
            meanings = _meanings(key, self._form)
            label = meanings.get(self.kind)
            if self._classes and "decimals" in meanings:
                label = self._classes.get(cast(str, meanings["decimals"]), label)
            self._known[key] = label
        return self._known[key]

    def reject(self, key: Hashable, where: str, options: ReadOptions) -> NoReturn:
        """Raise DataError on a label whose kind differs."""
        kinds = {"integers": "whole numbers", "truths": "true or false"}.get(self.kind, "numbers")
        raise DataError(
            f"{where} has the label {quoted(str(key))}, but all labels so far were {kinds}; "
            f"{options.say('text_labels', True)} reads all labels as text."
        )


def recode(codes: Indices, values: Sequence[Hashable | None]) -> tuple[Indices, list[Hashable]]:
    """Replace each key by its value; return the new codes and the different values.

    A row whose key has the value None gets the code -1.
    """
    known = list(dict.fromkeys(value for value in values if value is not None))
    places = {value: code for code, value in enumerate(known)}
    return np.array([*(places.get(value, -1) for value in values), -1], np.int64)[codes], known


def check_are_classes(
    labels: LabelArray, n_rows: int, source: str, name: str, advice: str
) -> str | None:
    """Raise DataError if nearly every row has a different label; return a note on measurements.

    The note is for labels that look like measurements: many numbers that are not all whole, or few
    of which are repeated. ``labels`` has the different labels.
    """
    if len(labels) > max(_FEW_CLASSES, n_rows / 2):
        raise DataError(
            f"{source}: column {quoted(name)} has {len(labels):,} different values in {n_rows:,} "
            f"rows: it is hardly a class{advice}."
        )
    try:
        numbers = labels.astype(np.float64)  # numbers that are not whole are text
    except ValueError:
        return None
    if len(labels) > _FEW_CLASSES:
        continuous = len(labels) > n_rows / 5 or bool((numbers % 1 != 0).any())
    else:
        continuous = len(labels) >= 5 and len(labels) > n_rows / 2
    if not continuous:
        return None
    return (
        f"the label {quoted(name)} has {len(labels):,} different numbers, and each of them is a "
        "class: if it is a measurement, compare it with a threshold first"
    )
