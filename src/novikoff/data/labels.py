"""Labels: integers, numbers, truth values or text, and never two of them as one.

A piece of data holds the different labels as *keys*: texts where the file is text, else plain
values. What the keys stand for is decided when all of them are known, or, for a stream, by the
first ones.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, quoted
from novikoff.data.fields import BLANKS, is_number, is_truth
from novikoff.data.options import Labels

LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "texts"]

MOST_LABEL_CHARACTERS: Final = 10_000

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,5})?", re.ASCII)
_MOST_CLASSES: Final = 20  # of fewer classes nobody says that they are hardly classes
_KINDS: Final[dict[str, LabelKind]] = {"i": "integers", "f": "numbers", "b": "truths", "U": "texts"}


def label_values(texts: Sequence[str]) -> Labels:
    """The labels that different texts stand for, without the blanks around them.

    Integers if all are written as integers, floats if all are whole numbers that a float
    holds, truth values if all are true or false, else the texts. "01" is text, since as a
    number it would be "1"; fractions are text, since they are no classes as numbers.

    Examples
    --------
    >>> label_values(["-1", " 1"]), label_values(["1.0", "2.0"]), label_values(["01", "1"])
    (array([-1,  1]), array([1., 2.]), array(['01', '1'], dtype='<U2'))
    >>> label_values(["0.5", "1"]).tolist()
    ['0.5', '1']
    """
    stripped = [text.strip(BLANKS) for text in texts]
    if all(_INTEGER.fullmatch(text) and len(text) < 20 for text in stripped):
        integers = [int(text) for text in stripped]
        if all(-(2**63) <= integer < 2**63 for integer in integers):
            return np.array(integers, np.int64)
    elif all(_DECIMAL.fullmatch(text) for text in stripped):
        return _decimal_labels([Decimal(text) for text in stripped], stripped)
    elif all(is_truth(text) for text in stripped):
        return np.array([text.lower() == "true" for text in stripped], np.bool_)
    return np.array(stripped, np.str_)


def svmlight_labels(texts: Sequence[str]) -> Labels:
    """The labels that numbers stand for, however they are written, unless two became one.

    Examples
    --------
    >>> svmlight_labels(["+1", "-1.0"]), svmlight_labels(["0.5", "50e-2"])
    (array([ 1, -1]), array(['0.5', '0.5'], dtype='<U3'))
    """
    try:
        numbers = [Decimal(text) for text in texts]
        if not all(number.is_finite() for number in numbers):
            return np.array(texts, np.str_)
    except InvalidOperation:  # an exponent beyond all bounds
        return np.array(texts, np.str_)
    if all(number == number.to_integral_value() for number in numbers):
        if all(abs(number) < 2**63 for number in numbers):
            return np.array([int(number) for number in numbers], np.int64)
        return np.array([_written(number) for number in numbers], np.str_)
    floats = np.array([float(number) for number in numbers])
    if len(set(numbers)) > len(set(floats.tolist())):
        return np.array(texts, np.str_)
    return whole_labels(floats)


def typed_labels(keys: Sequence[Hashable]) -> Labels:
    """The labels that values of one type stand for, as a typed column holds them.

    Examples
    --------
    >>> typed_labels([Decimal("1.50"), Decimal("2")]), typed_labels([2.0, 1.0])
    (array(['1.5', '2'], dtype='<U3'), array([2., 1.]))
    """
    first = keys[0]
    if isinstance(first, Decimal):
        numbers = [key for key in keys if isinstance(key, Decimal)]
        return _decimal_labels(numbers, [_written(number) for number in numbers])
    values = np.array(keys)
    if values.dtype.kind == "f":
        return whole_labels(values)
    if values.dtype.kind in "iuO" and not isinstance(first, str):  # NumPy has no room above 2⁶⁴
        if all(-(2**63) <= int(key) < 2**63 for key in keys):  # type: ignore[call-overload]
            return values.astype(np.int64)
        return np.array([str(key) for key in keys], np.str_)
    return values.astype(np.bool_) if values.dtype.kind == "b" else values.astype(np.str_)


def array_labels(keys: Sequence[Hashable]) -> Labels:
    """The same for NumPy's arrays, where whole numbers are often floats.

    Examples
    --------
    >>> array_labels([1.0, -1.0]), array_labels([0.5, 1.0])
    (array([ 1, -1]), array(['0.5', '1.0'], dtype='<U3'))
    """
    labels = typed_labels(keys)
    if labels.dtype.kind == "f" and (np.abs(labels.astype(np.float64)) <= 2**53).all():
        return labels.astype(np.int64)
    return labels


def whole_labels(values: npt.NDArray[np.floating]) -> Labels:
    """Numbers as labels: float64 if they are whole, text if they are not."""
    with np.errstate(over="ignore"):
        doubles = values.astype(np.float64)
    if (values == np.floor(values)).all() and (doubles == values).all():
        return doubles
    return np.array([str(value) for value in values], np.str_)


def check_classes(y: Labels, source: str, name: str, advice: str) -> None:
    """Raise DataError if labels are as manifold as measurements are."""
    n_classes = len(np.unique(y))
    if n_classes > max(_MOST_CLASSES, len(y) / 2):
        raise DataError(
            f"{source}: column {quoted(name)} has {n_classes:,} different values in {len(y):,} "
            f"rows: it is hardly a class{advice}."
        )


class LabelReader:
    """Keys as labels of one kind, settled by the first of them, or by a model's classes.

    Parameters
    ----------
    kind : {"integers", "numbers", "truths", "texts"}
        What labels are.
    written : bool
        Whether numbers may be written in any way, as +1 or 1.0, as svmlight does.

    Examples
    --------
    >>> reader = LabelReader.settled(["1", "-1"])
    >>> reader.kind, reader.value("7", "-, row 12")
    ('integers', 7)
    >>> reader.value("seven", "-, row 13")
    Traceback (most recent call last):
        ...
    novikoff.data.errors.DataError: -, row 13 has the label "seven", but labels were whole ...
    """

    def __init__(self, kind: LabelKind, *, written: bool = False) -> None:
        self.kind: LabelKind = kind
        self._written = written
        self._known: dict[Hashable, Hashable] = {}

    @classmethod
    def settled(cls, keys: Sequence[Hashable], *, written: bool = False) -> LabelReader:
        """Decide by the first labels."""
        texts = [str(key) for key in keys]
        if not texts:
            return cls("texts", written=written)
        numeric = written and all(map(is_number, texts))
        values = svmlight_labels(texts) if numeric else label_values(texts)
        return cls(_KINDS[values.dtype.kind], written=written)

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelReader:
        """The reader for the labels of a model."""
        kinds: dict[type, LabelKind] = {bool: "truths", int: "integers", float: "numbers"}
        found = {kinds.get(type(label), "texts") for label in classes}
        kind: LabelKind = found.pop() if len(found) == 1 else "texts"
        return cls(kind, written=True)

    def value(self, key: Hashable, where: str) -> Hashable:
        """The label that a key stands for; DataError if it is of another kind."""
        if key not in self._known:
            self._known[key] = self._read(str(key), where)
        return self._known[key]

    def _read(self, text: str, where: str) -> Hashable:
        if self.kind == "texts":
            return text.strip(BLANKS)
        written = self._written and is_number(text)
        value = (svmlight_labels([text]) if written else label_values([text])).tolist()[0]
        if self.kind == "numbers" and type(value) is int and float(value) == value:
            value = float(value)
        wanted = {"integers": int, "numbers": float, "truths": bool}[self.kind]
        if type(value) is not wanted:
            said = {"integers": "whole numbers", "numbers": "all numbers"}
            raise DataError(
                f"{where} has the label {quoted(text)}, but labels were "
                f"{said.get(self.kind, 'true or false,')} so far; --text-labels takes all of them "
                "as text."
            )
        return value


def _decimal_labels(numbers: Sequence[Decimal], texts: Sequence[str]) -> Labels:
    """Numbers as floats, or as texts; of several texts for one number, the shortest."""
    if all(number == number.to_integral_value() and _is_float(number) for number in numbers):
        return np.array([float(number) for number in numbers], np.float64)
    shortest: dict[Decimal, str] = {}
    pairs = sorted(zip(texts, numbers, strict=True), key=lambda pair: (len(pair[0]), pair[0]))
    for text, number in pairs:
        shortest.setdefault(number, text)
    return np.array([shortest[number] for number in numbers], np.str_)


def _is_float(number: Decimal) -> bool:
    value = float(number)
    return abs(value) < float("inf") and Decimal(value) == number


def _written(number: Decimal) -> str:
    """A decimal without an exponent and without the zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
