"""What labels are: integers, numbers, truth values or text, never two of them as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import Cells, Type, arrow, encode, is_numeric, is_text
from novikoff.data.choices import Labels
from novikoff.data.errors import DataError, place, quoted
from novikoff.data.exact import are_exact
from novikoff.data.values import BLANKS, is_truth

Missing: TypeAlias = npt.NDArray[np.bool_]
# What different texts stand for, as labels.
Typing: TypeAlias = Callable[[Sequence[str]], Labels]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,5})?", re.ASCII)
_EXACT = 2**53
_LONGEST = 10_000
_MOST_CLASSES = 20
_BLOCK = 1 << 16
_NIL = Decimal(0)


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
        return _decimals([Decimal(text) for text in stripped], stripped)
    elif all(is_truth(text) for text in stripped):
        return np.array([text.lower() == "true" for text in stripped], np.bool_)
    return np.array(stripped, np.str_)


def labels_of(
    cells: Cells,
    source: str,
    name: str,
    *,
    raw: bool,
    typed: Typing = label_values,
    partial: bool = False,
) -> tuple[Labels, Missing]:
    """The labels of a column, and which of them are missing; ``typed`` is for raw text.

    In a piece of a file, ``partial``, all may be.

    Raises
    ------
    DataError
        If it holds something else, or infinity.
    """
    if raw or is_text(cells.type):
        codes, texts = encode(cells, raw=raw)
        long = [code for code, text in enumerate(texts) if len(text) > _LONGEST]
        if long:
            row = int(np.argmax(codes == long[0])) + 1
            raise DataError(f"{place(source, row, name)} is a label of over {_LONGEST} characters.")
        if not texts and partial:
            return np.zeros(len(codes), np.int64), codes < 0
        if not texts:
            raise DataError(f"{source}, row 1: the label, column {quoted(name)}, is missing.")
        values = typed(texts) if raw else np.array(texts, np.str_)
        return values[codes], codes < 0
    if not is_numeric(cells.type):
        raise not_a_label(source, name, cells.type)
    return _typed(cells, source, name)


def not_a_label(source: str, name: str, kind: Type) -> DataError:
    """The sentence on a column whose type is not that of labels."""
    return DataError(
        f"{source}: column {quoted(name)} of type {kind} cannot be the label; choose another with "
        "--label."
    )


def number_labels(values: npt.NDArray[np.floating]) -> Labels:
    """Numbers as labels: int64 if they are whole, text if they are not.

    Examples
    --------
    >>> number_labels(np.array([1.0, -1.0])), number_labels(np.array([0.5, 1.0]))
    (array([ 1, -1]), array(['0.5', '1.0'], dtype='<U3'))
    """
    labels = whole_labels(values)
    if labels.dtype.kind == "f" and (np.abs(labels.astype(np.float64)) <= _EXACT).all():
        return labels.astype(np.int64)
    return labels


def whole_labels(values: npt.NDArray[np.floating]) -> Labels:
    """Numbers as labels: float64 if they are whole, text if they are not; NaN becomes 0."""
    finite = np.where(np.isfinite(values), values, values.dtype.type(0))
    if (finite == np.floor(finite)).all() and are_exact(finite).all():
        return finite.astype(np.float64)
    different, codes = np.unique(finite, return_inverse=True)
    return np.array([str(value) for value in different], np.str_)[codes]


def check_classes(y: Labels, source: str, name: str, advice: str) -> None:
    """Raise DataError if labels are as manifold as measurements are."""
    most = max(_MOST_CLASSES, len(y) / 2)
    seen: set[object] = set()
    for start in range(0, len(y), _BLOCK):
        seen.update(y[start : start + _BLOCK].tolist())
        if len(seen) + max(0, len(y) - start - _BLOCK) <= most:
            return
    check_count(len(seen), len(y), source, name, advice)


def check_count(
    n_classes: int,
    n_rows: int,
    source: str,
    name: str,
    advice: str = "; choose the label with --label",
) -> None:
    """Raise DataError if there are as many classes as there are measurements."""
    if n_classes > max(_MOST_CLASSES, n_rows / 2):
        raise DataError(
            f"{source}: column {quoted(name)} has {n_classes:,} different values in {n_rows:,} "
            f"rows: it is hardly a class{advice}."
        )


def written_labels(texts: Sequence[str]) -> Labels:
    """Numbers as labels that are written somehow: as `number_labels`, unless two became one.

    Examples
    --------
    >>> written_labels(["+1", "-1.0"]), written_labels(["0.5", "50e-2", "nan"])
    (array([ 1, -1]), array(['0.5', '0.5', '0.0'], dtype='<U3'))
    """
    try:
        numbers = [Decimal(text) if text.lower().lstrip("+-") != "nan" else _NIL for text in texts]
    except InvalidOperation:  # an exponent beyond all bounds
        return np.array(texts, np.str_)
    if all(number == number.to_integral_value() for number in numbers):
        if all(abs(number) < 2**63 for number in numbers):
            return np.array([int(number) for number in numbers], np.int64)
        return np.array([_written(number) for number in numbers], np.str_)
    floats = np.array([float(number) for number in numbers])
    if len(set(numbers)) > len(set(floats.tolist())):
        return np.array(texts, np.str_)
    return number_labels(floats)


def _decimals(numbers: Sequence[Decimal], texts: Sequence[str]) -> Labels:
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


def _typed(cells: Cells, source: str, name: str) -> tuple[Labels, Missing]:
    pa, pc, types = arrow(), arrow("pyarrow.compute"), arrow("pyarrow.types")
    missing: Missing = pc.is_null(cells, nan_is_null=True).to_numpy()
    if types.is_boolean(cells.type):
        truths: Labels = pc.fill_null(cells, False).to_numpy()
        return truths, missing
    if types.is_integer(cells.type):
        try:
            integers: Labels = pc.fill_null(pc.cast(cells, pa.int64()), 0).to_numpy()
        except pa.ArrowInvalid:  # above 2⁶³
            codes, texts = encode(cells, raw=False)
            return np.array(texts, np.str_)[codes], missing
        return integers, missing
    if types.is_decimal(cells.type):
        codes, texts = encode(cells, raw=False)
        if not texts:
            return np.zeros(len(missing)), missing
        numbers = [Decimal(text) for text in texts]
        return _decimals(numbers, [_written(number) for number in numbers])[codes], missing
    if types.is_float16(cells.type):
        cells = pc.cast(cells, pa.float32())
    floats = pc.fill_null(cells, 0.0).to_numpy()
    if np.isinf(floats).any():
        row = int(np.argmax(np.isinf(floats))) + 1
        raise DataError(f"{place(source, row, name)}: the label is infinite.")
    return whole_labels(floats), missing


def _written(number: Decimal) -> str:
    """A decimal without an exponent and without the zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
