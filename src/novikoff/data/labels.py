"""Labels: integers, numbers, truth values or text, and never two of them become one.

A piece of data has the different labels of its rows as *keys*: texts where the file is text, else
plain values. `labels_of` says what keys stand for when all of them are known, a `LabelReader` when
their kind is that of the first ones, or by the classes of a model.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.data.errors import DataError, quoted
from novikoff.data.numbers import BLANKS, is_number, is_truth

Labels: TypeAlias = (
    npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.bool_] | npt.NDArray[np.str_]
)
LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "texts"]

# How a format has its labels: as text, where "01" is none of the ways to write 1, as numbers
# written in any way (+1, 1.0), as typed values, or as those of an array, where 1 is often 1.0.
LabelForm: TypeAlias = Literal["text", "free", "typed", "array"]

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,5})?", re.ASCII)
_KINDS: Final[dict[str, LabelKind]] = {
    "i": "integers", "f": "numbers", "b": "truths", "U": "texts"
}  # fmt: skip
_TYPES: Final = {"integers": int, "numbers": float, "truths": bool, "texts": str}
_FEW_CLASSES: Final = 20  # of no more than these nobody says that they are hardly classes


def labels_of(keys: Sequence[Hashable], form: LabelForm) -> Labels:
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
    """
    if form in ("typed", "array"):
        return _typed(keys, whole="if" if form == "array" else "f")
    texts = [str(key).strip(BLANKS) for key in keys]
    if form == "free" and all(map(is_number, texts)):
        try:
            numbers = [Decimal(text) for text in texts]
        except InvalidOperation:  # an exponent beyond all bounds
            return np.array(texts, np.str_)
        floats = [str(float(number)) for number in numbers]
        apart = len(set(numbers)) == len(set(floats)) and not all(map(_is_whole, numbers))
        return _numeric(numbers, floats if apart else texts, whole="i")
    if all(map(_INTEGER.fullmatch, texts)):
        return _numeric([Decimal(text) for text in texts], texts, whole="i")
    if all(map(_DECIMAL.fullmatch, texts)):
        return _numeric([Decimal(text) for text in texts], texts, whole="f")
    if all(map(is_truth, texts)):
        return np.array([text.lower() == "true" for text in texts], np.bool_)
    return np.array(texts, np.str_)


def _typed(keys: Sequence[Any], whole: str) -> Labels:
    """The labels that typed values stand for."""
    first = keys[0]
    if isinstance(first, str):
        return np.array(keys, np.str_)
    if isinstance(first, bool | np.bool_):
        return np.array(keys, np.bool_)
    if isinstance(first, Decimal):
        return _numeric(keys, [_without_zeros(key) for key in keys], whole)
    whole = "i" if isinstance(first, int | np.integer) else whole
    texts = [str(key) for key in keys]
    exact = [Decimal(int(key)) if key % 1 == 0 else Decimal(str(key)) for key in keys]
    return _numeric(exact, texts, whole)


def _numeric(numbers: Sequence[Decimal], texts: Sequence[str], whole: str) -> Labels:
    """Whole numbers as integers or floats, as far as ``whole`` has these letters; else texts."""
    if all(map(_is_whole, numbers)):
        if "i" in whole and all(-(2**63) <= number < 2**63 for number in numbers):
            return np.array([int(number) for number in numbers], np.int64)
        if "f" in whole and all(Decimal(float(number)) == number for number in numbers):
            return np.array([float(number) for number in numbers], np.float64)
    shortest: dict[Decimal, str] = {}
    for text, number in sorted(zip(texts, numbers, strict=True), key=lambda p: (len(p[0]), p[0])):
        shortest.setdefault(number, text)
    return np.array([shortest[number] for number in numbers], np.str_)


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


def _without_zeros(number: Decimal) -> str:
    """A decimal without an exponent and without the zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class LabelReader:
    """Keys as labels of one kind, each as it comes; typed ones as their text."""

    def __init__(self, kind: LabelKind, form: LabelForm = "text") -> None:
        self.kind: LabelKind = kind
        self._form: LabelForm = "free" if form == "free" else "text"
        self._known: dict[Hashable, Hashable] = {}
        self._numbers: dict[Decimal, str] = {}  # classes that are numbers, though as text

    @classmethod
    def by_first(cls, keys: Sequence[Hashable], form: LabelForm = "text") -> LabelReader:
        """The reader for labels of the kind that the first ones have."""
        labels = labels_of([str(key) for key in keys] or ["text"], form)
        return cls(_KINDS[labels.dtype.kind], form)

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelReader:
        """The reader for the labels of a model.

        Numbers that are not whole are text there, one for each number: here they may be written
        in any way, too.

        Examples
        --------
        >>> LabelReader.of(["0.5", "1.0"]).value("1"), LabelReader.of(["01", "1"]).value("01")
        ('1.0', '01')
        """
        reader = cls(_KINDS[np.array(classes).dtype.kind], "free")
        texts = [text for text in classes if isinstance(text, str) and _DECIMAL.fullmatch(text)]
        numbers = {Decimal(text): text for text in texts}
        if len(numbers) == len(classes) and not all(map(_is_whole, numbers)):
            reader._numbers = numbers
        return reader

    def value(self, key: Hashable) -> Hashable | None:
        """The label that a key stands for; None if it is of another kind."""
        if key not in self._known:
            text = str(key).strip(BLANKS)
            found = text if self.kind == "texts" else labels_of([text], self._form).tolist()[0]
            if self._numbers and is_number(text):
                with suppress(InvalidOperation):
                    found = self._numbers.get(Decimal(text), text)
            if self.kind == "numbers" and type(found) is int and float(found) == found:
                found = float(found)
            self._known[key] = found if type(found) is _TYPES[self.kind] else None
        return self._known[key]

    def refuse(self, key: Hashable, where: str) -> NoReturn:
        """Raise DataError on a label of another kind."""
        said = {"integers": "whole numbers", "numbers": "all numbers", "truths": "true or false,"}
        raise DataError(
            f"{where} has the label {quoted(str(key))}, but labels were {said[self.kind]} so far; "
            "--text-labels takes all of them as text."
        )


def recode(codes: Indices, values: Sequence[Hashable | None]) -> tuple[Indices, list[Hashable]]:
    """The code of each row whose key has a value, and the values; None has the code -1."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    places = {value: code for code, value in enumerate(known)}
    return np.array([*(places.get(value, -1) for value in values), -1], np.int64)[codes], known


def check_classes(y: Labels, source: str, name: str, advice: str) -> str | None:
    """Raise DataError if labels are as manifold as measurements; the note if they look like them.

    They look so if they are many numbers, not all whole, or hardly repeated.
    """
    found, n_rows = np.unique(y), len(y)
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
