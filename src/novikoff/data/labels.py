"""Labels: integers, numbers, truth values or text, and never two of them become one.

A piece of data has the different labels of its rows as *keys*: texts where the file is text, else
plain values. What a key stands for depends on the *kind* of the labels and on nothing else, so that
`novikoff fit`, which knows all keys, and `novikoff stream`, which sees one after the other, have
the same classes. The kind is the narrowest that all keys are of. A stream takes it from its first
rows and rejects a label of another kind with an error.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.data.messages import quoted
from novikoff.data.numbers import BLANKS, is_number, is_truth
from novikoff.errors import DataError

LabelArray: TypeAlias = (
    npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.bool_] | npt.NDArray[np.str_]
)

# Integers, floats that are whole, true or false, one text for each number, any text; of several
# kinds the first is taken. A key that is added never makes the kind of others narrower.
LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "decimals", "texts"]

# How a format has its labels: as text, where "01" is none of the ways to write 1, as numbers
# written in any way (+1, 1.0), as typed values, or as those of an array, where 1 is often 1.0.
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
# A number of so many digits, or with more zeros before the first one, is written with an exponent.
_MOST_DIGITS, _MOST_ZEROS = 100, 6
_FEW_CLASSES: Final = 20  # of no more than these nobody says that they are hardly classes


def labels_of(keys: Sequence[Hashable], form: LabelForm) -> LabelArray:
    """The labels that different keys of one type stand for.

    Whole numbers are integers if they are written so, or if the form does not care, else floats,
    if these hold them. Other numbers are text, since they are no classes as numbers: one text for
    each number. True and false are truth values; all else is text, without the blanks around it.

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
    """The first kind that all keys are of."""
    return next(kind for kind in KINDS if all(kind in meaning for meaning in meanings))


def _meanings(key: Any, form: LabelForm) -> dict[LabelKind, Hashable]:
    """The label that a key stands for, for each kind that it may be of."""
    if isinstance(key, bool | np.bool_):
        return {"texts": str(key), "truths": bool(key)}
    if isinstance(key, str):
        if form in ("typed", "array"):
            return {"texts": str(key)}  # a column of text is text
        return _meanings_of_text(key.strip(BLANKS), form)
    number = key if isinstance(key, Decimal) else Decimal(str(key))
    found: dict[LabelKind, Hashable] = {"texts": str(key), "decimals": _decimal_text(number)}
    if number == number.to_integral_value():
        integer = isinstance(key, int | np.integer)
        free = integer or form in ("free", "array")
        found |= _of_whole(Decimal(int(key)), integer=integer, free=free)
    return found


def _meanings_of_text(text: str, form: LabelForm) -> dict[LabelKind, Hashable]:
    """The label that a text stands for, for each kind that it may be of."""
    found: dict[LabelKind, Hashable] = {"texts": text}
    if is_truth(text):
        found["truths"] = text.lower() == "true"
    if not (_DECIMAL.fullmatch(text) if form == "text" else is_number(text)):
        return found
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return found
    if not number.is_finite():
        return found
    found["decimals"] = _decimal_text(number)
    if number == number.to_integral_value():
        integer = _INTEGER.fullmatch(text) is not None
        found |= _of_whole(number, integer=integer, free=integer or form == "free")
    return found


def _of_whole(number: Decimal, *, integer: bool, free: bool) -> dict[LabelKind, Hashable]:
    """A whole number as a float, and if it is ``free`` as an integer, as far as these hold it.

    What is an ``integer`` as it stands is no float if it is beyond 64 bits: it may be a name in
    digits.
    """
    found: dict[LabelKind, Hashable] = {}
    small = -(2**63) <= number < 2**63
    if small and free:
        found["integers"] = int(number)
    if (small or not integer) and Decimal(float(number)) == number:
        found["numbers"] = float(number) + 0.0  # never -0.0
    return found


def _decimal_text(number: Decimal) -> str:
    """The one text of a number, however it is written: 0.5 for 0.50 and 5e-1, 1 for 1.0.

    >>> [_decimal_text(Decimal(text)) for text in ("-0.0", "2.50", "1e3", "1e-7", "1e300")]
    ['0', '2.5', '1000', '1e-7', '1e+300']
    """
    sign, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    short = written.rstrip("0")
    if not short:
        return "0"
    exponent = cast(int, exponent) + len(written) - len(short)
    power = exponent + len(short) - 1  # of the first digit
    if -_MOST_ZEROS <= power < _MOST_DIGITS:
        return f"{Decimal((sign, tuple(map(int, short)), exponent)):f}"
    point = "." if len(short) > 1 else ""
    return f"{'-' * sign}{short[0]}{point}{short[1:]}e{power:+d}"


class LabelReader:
    """Keys as labels of one kind, each as it comes."""

    def __init__(self, kind: LabelKind, form: LabelForm = "text") -> None:
        self.kind: LabelKind = kind
        self._form: LabelForm = form
        self._known: dict[Hashable, Hashable] = {}
        self._classes: dict[str, str] = {}  # the classes of a model, by the text of their number

    @classmethod
    def by_first(cls, keys: Sequence[Hashable], form: LabelForm = "text") -> LabelReader:
        """The reader for labels of the kind that the first ones have."""
        return cls(_narrowest([_meanings(key, form) for key in keys]), form)

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelReader:
        """The reader for the labels of a model, which may be written in any way.

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
        """The label that a key stands for; None if it is of another kind."""
        if key not in self._known:
            found = _meanings(key, self._form)
            label = found.get(self.kind)
            if self._classes and "decimals" in found:
                label = self._classes.get(cast(str, found["decimals"]), label)
            self._known[key] = label
        return self._known[key]

    def refuse(self, key: Hashable, where: str) -> NoReturn:
        """Raise DataError on a label of another kind."""
        said = {"integers": "whole numbers", "truths": "true or false,"}.get(self.kind, "numbers")
        raise DataError(
            f"{where} has the label {quoted(str(key))}, but labels were all {said} so far; "
            "--text-labels takes all of them as text."
        )


def recode(codes: Indices, values: Sequence[Hashable | None]) -> tuple[Indices, list[Hashable]]:
    """The code of each row whose key has a value, and the values; None has the code -1."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    places = {value: code for code, value in enumerate(known)}
    return np.array([*(places.get(value, -1) for value in values), -1], np.int64)[codes], known


def check_are_classes(
    found: LabelArray, n_rows: int, source: str, name: str, advice: str
) -> str | None:
    """Raise DataError if nearly every row has another label; return a note on likely measurements.

    Labels look like measurements if they are many numbers that are not all whole, or of which few
    are repeated. ``found`` are the different labels.
    """
    if len(found) > max(_FEW_CLASSES, n_rows / 2):
        raise DataError(
            f"{source}: column {quoted(name)} has {len(found):,} different values in {n_rows:,} "
            f"rows: it is hardly a class{advice}."
        )
    try:
        numbers = found.astype(np.float64)  # a text file's numbers with a point are text here
    except ValueError:
        return None
    if len(found) > _FEW_CLASSES:
        continuous = len(found) > n_rows / 5 or bool((numbers % 1 != 0).any())
    else:
        continuous = len(found) >= 5 and len(found) > n_rows / 2
    if not continuous:
        return None
    return (
        f"the label {quoted(name)} has {len(found):,} different numbers, and each is taken for a "
        "class: if it is a measurement, compare it with a threshold first"
    )
