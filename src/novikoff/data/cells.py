"""The cells of Arrow columns as NumPy arrays, or as codes of their different texts.

pyarrow has no types of its own: its objects are `Any` here. Its own ways to NumPy, as
``to_numpy``, ``pa.array`` and ``pa.scalar``, would import pandas, for which there is no need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from novikoff.core.rows import Floats, Indices
from novikoff.core.validation import MAX_EXACT
from novikoff.data.numbers import (
    BLANKS,
    MISSING,
    are_exact,
    is_exact_text,
    is_missing,
    number,
)

Truths = npt.NDArray[np.bool_]


def is_text(kind: Any) -> bool:
    """Whether a type is text, also if it is in a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric(kind: Any) -> bool:
    """Whether a type is a number or a truth value."""
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)


def values_of(cells: Any) -> Iterator[object]:
    """The values of a column, one chunk in memory at a time."""
    for chunk in cells.chunks:
        yield from chunk.to_pylist()


def encode(cells: Any, *, raw: bool) -> tuple[Indices, list[str]]:
    """A column of any simple type as codes of its different values, which are texts, sorted.

    A missing value has the code -1. In ``raw`` text those that only say so, as NA, are missing.
    """
    if types.is_dictionary(cells.type):
        cells = pc.cast(cells, cells.type.value_type)
    # In one chunk: each would have a dictionary of its own.
    coded = pc.cast(cells, pa.large_string()).combine_chunks().dictionary_encode()
    values: list[str] = coded.dictionary.to_pylist()
    codes, missing = to_numpy(coded.indices)
    kept = sorted(value for value in values if not (raw and is_missing(value)))
    order = {value: code for code, value in enumerate(kept)}
    table = np.array([*(order.get(value, -1) for value in values), -1], np.int64)
    return table[np.where(missing, -1, codes)], kept


def to_numpy(cells: Any) -> tuple[Any, Truths]:
    """The numbers of a column, and which are missing; truth values become 0 and 1."""
    cells = cells if isinstance(cells, pa.Array) else cells.combine_chunks()
    if not len(cells):
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    if types.is_boolean(cells.type):
        cells = pc.cast(cells, pa.uint8())
    missing = np.from_dlpack(pc.cast(pc.is_null(cells), pa.uint8())).astype(np.bool_)
    buffers = [None, cells.buffers()[1]]
    plain = pa.Array.from_buffers(cells.type, len(cells), buffers, offset=cells.offset)
    return np.from_dlpack(plain), missing


def parse_numbers(cells: Any, decimal: str) -> npt.NDArray[np.float64] | None:
    """A column of raw text as floats, NaN for missing values; None if some is no number."""
    try:  # most columns have numbers only
        if decimal == ".":
            return _floats(pc.utf8_trim(cells, characters=BLANKS))
    except pa.ArrowInvalid:
        pass
    texts = _without_missing(cells)
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        return _floats(texts)
    except pa.ArrowInvalid:  # one by one: there may be a number that Arrow does not know as such
        values = [np.nan if text is None else number(str(text)) for text in values_of(texts)]
        return None if None in values else np.array(values, np.float64)


def _floats(texts: Any) -> npt.NDArray[np.float64]:
    return cast(npt.NDArray[np.float64], _with_gaps(*to_numpy(pc.cast(texts, pa.float64()))))


def _with_gaps(values: Any, missing: Truths) -> Floats:
    """Numbers as floats, of single precision if they have no more, with NaN for missing ones."""
    single = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    floats = values.astype(np.float32 if single else np.float64)
    floats[missing] = np.nan
    return cast(Floats, floats)


def parse_truths(cells: Any) -> npt.NDArray[np.float64] | None:
    """A column of raw text as 0 and 1; None if some value is neither true nor false."""
    small = pc.utf8_lower(_without_missing(cells))
    (truths, missing), (falses, _) = (to_numpy(_is_any(small, [w])) for w in ("true", "false"))
    return np.where(missing, np.nan, truths) if (missing | truths | falses).all() else None


def typed_numbers(cells: Any) -> tuple[Floats, int | None] | None:
    """A typed column as floats, and the first row that these do not hold; None if it has others."""
    if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
        cells = pc.cast(cells, cells.type.value_type)
    plain = cells
    if types.is_decimal(cells.type):  # by way of text, which Arrow rounds correctly
        plain = pc.cast(pc.cast(cells, pa.string()), pa.float64())
    elif types.is_null(cells.type):
        plain = pc.cast(cells, pa.float64())
    if not is_numeric(plain.type):
        return None
    values, missing = to_numpy(plain)
    floats = _with_gaps(values, missing)
    if types.is_decimal(cells.type):
        return floats, inexact_row(cells, floats)
    return floats, next(iter(np.flatnonzero(~(are_exact(values) | missing)).tolist()), None)


def inexact_row(cells: Any, floats: Floats, decimal: str = ".") -> int | None:
    """The first row that holds an integer that its float does not, or a number that became zero."""
    for row in np.flatnonzero(np.abs(floats) >= MAX_EXACT).tolist():
        if not is_exact_text(text_at(cells, row, decimal)):
            return int(row)
    if is_text(cells.type):
        lengths, _ = to_numpy(pc.binary_length(cells))
        zeros = (floats == 0.0) & (lengths >= len("1e-324"))  # none that became zero is shorter
        if zeros.any():
            found, _ = to_numpy(pc.match_substring_regex(cells, r"\A[ \t]*[-+]?[0.,]*[1-9]"))
            return next(iter(np.flatnonzero(zeros & (found > 0)).tolist()), None)
    return None


def text_at(cells: Any, row: int, decimal: str = ".") -> str:
    """A cell as text, with a decimal point."""
    return str(cells[row].as_py()).strip(BLANKS).replace(decimal, ".")


def _without_missing(cells: Any) -> Any:
    """A column of raw text, without blanks around it, and null where it says that it is missing."""
    texts = pc.utf8_trim(cells, characters=BLANKS)
    return pc.if_else(_is_any(texts, MISSING), pa.nulls(1, texts.type)[0], texts)


def _is_any(texts: Any, words: Sequence[str]) -> Any:
    """Which texts are among some words."""
    pattern = "|".join(re.escape(word) for word in words)
    return pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")
