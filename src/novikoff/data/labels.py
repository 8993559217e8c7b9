"""What labels are: integers, numbers, truth values or text, never two of them as one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from novikoff.data.arrow import Cells, arrow, encode, is_numeric, is_text
from novikoff.data.choices import Labels
from novikoff.data.errors import DataError, place, quoted
from novikoff.data.values import BLANKS, is_truth

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_EXACT = 2**53
_LONGEST = 10_000


def label_values(texts: Sequence[str]) -> Labels:
    """The labels that different texts stand for.

    Integers if all are written as integers, floats if all are finite numbers, truth values
    if all are true or false, else the texts. "01" is text, since as a number it would be "1".

    Examples
    --------
    >>> label_values(["-1", "1"]), label_values(["0", "0.5"]), label_values(["01", "1"])
    (array([-1,  1]), array([0. , 0.5]), array(['01', '1'], dtype='<U2'))
    """
    stripped = [text.strip(BLANKS) for text in texts]
    if all(_INTEGER.fullmatch(text) and len(text) < 20 for text in stripped):
        integers = [int(text) for text in stripped]
        if all(-(2**63) <= integer < 2**63 for integer in integers):
            return np.array(integers, np.int64)
    elif all(_is_decimal(text) for text in stripped):
        return np.array([float(text) for text in stripped], np.float64)
    elif all(is_truth(text) for text in stripped):
        return np.array([text.lower() == "true" for text in stripped], np.bool_)
    return np.array(texts, np.str_)


def labels_of(cells: Cells, source: str, name: str, *, raw: bool) -> tuple[Labels, Missing]:
    """The labels of a column, and which of them are missing.

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
        if not texts:
            raise DataError(f"{source}, row 1: the label, column {quoted(name)}, is missing.")
        values = label_values(texts) if raw else np.array(texts, np.str_)
        return values[codes], codes < 0
    if not is_numeric(cells.type):
        raise DataError(
            f"{source}: column {quoted(name)} of type {cells.type} cannot be the label; choose "
            "another with --label."
        )
    return _typed(cells, source, name)


Missing = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def number_labels(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Labels:
    """Numbers as labels: int64 if they are whole, else float64."""
    finite = values[np.isfinite(values)]
    if (finite == np.floor(finite)).all() and (np.abs(finite) <= _EXACT).all():
        return np.where(np.isfinite(values), values, 0.0).astype(np.int64)
    return values


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
    floats = pc.fill_null(pc.cast(cells, pa.float64()), 0.0).to_numpy()
    if np.isinf(floats).any():
        row = int(np.argmax(np.isinf(floats))) + 1
        raise DataError(f"{place(source, row, name)}: the label is infinite.")
    labels: Labels = floats
    return labels, missing


def _is_decimal(text: str) -> bool:
    if not _DECIMAL.fullmatch(text):
        return False
    value = abs(float(text))
    return value < _EXACT if _INTEGER.fullmatch(text) else value < float("inf")
