"""Tables whose cells are text or numbers, hashed to columns as they are read, by a kernel.

A number stands in the column of its field's name, text in the column of ``name=text``, with the
value 1. What a cell means is as `novikoff.data.values` has it. Whatever is unusual, be it a
missing value, a quote within a quote or a line of another length, ends it at once, and the
careful road begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int32, int64, uint64

from novikoff.core.words import Address, Bytes, Word, address_of, byte_at
from novikoff.data.decimals import BITS, UNSETTLED, VALUE, Words, number, powers_of_five
from novikoff.data.pairs_kernel import BASIS, PRIME, find_label, is_blank
from novikoff.data.plain import LABEL, SKIPPED, Indices
from novikoff.data.scanner import feature_hash
from novikoff.data.stretches import as_bytes, count
from novikoff.data.values import FALSE, MISSING, TRUE

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["LABEL", "SKIPPED", "Cells", "Field", "parse_cells"]

_MOST_LABELS: Final = 1 << 12
_NEWLINE, _RETURN, _QUOTE, _SPACE, _TAB, _PLUS, _MINUS = (np.uint64(ord(c)) for c in '\n\r" \t+-')
_NOTHING, _ONE, _EIGHT, _SMALL, _WIDE = map(np.uint64, (0, 1, 8, 32, 128))
# What a word of at most eight bytes may mean.
_OTHER, _MISSING, _TRUE, _FALSE, _ENDLESS = range(5)


class Field(NamedTuple):
    """A field that is a feature: its name, and whether it is text even if it looks otherwise."""

    name: str
    text: bool


class Cells(NamedTuple):
    """The features of all rows, the code of each row's label, and the labels by code."""

    X: sp.csr_array
    codes: npt.NDArray[np.int32]
    labels: list[bytes]


def parse_cells(
    text: memoryview, delimiter: str, places: Sequence[int], fields: Sequence[Field], bits: int
) -> Cells | None:
    r"""Parse rows of cells; None where something is unusual.

    Parameters
    ----------
    text : bytes
        The rows, without the header.
    delimiter : str
        Between fields.
    places : sequence of int
        For each field of a row which feature it is, or `SKIPPED`, or `LABEL`.
    fields : sequence of Field
        The features.
    bits : int
        Names are hashed to 2^bits columns, by `novikoff.data.scanner.feature_hash`.

    Examples
    --------
    >>> text = memoryview(b'31,Rome,y\n40,"Den Haag",n\n')
    >>> fields = [Field("age", False), Field("city", False)]
    >>> found = parse_cells(text, ",", [0, 1, LABEL], fields, 8)
    >>> found.X.data.tolist(), found.codes.tolist(), found.labels
    ([31.0, 1.0, 40.0, 1.0], [0, 1], [b'y', b'n'])
    >>> names = (b"age", b"city=Rome", b"age", b"city=Den Haag")
    >>> found.X.indices.tolist() == [feature_hash(name, 8) for name in names]
    True
    """
    import scipy.sparse as sp

    content = as_bytes(text)
    end = len(content)
    while end > 0 and content[end - 1] in (_NEWLINE, _RETURN):
        end -= 1
    if len(places) == 1 and bytes(text[end:]) not in (b"", b"\n", b"\r\n"):
        return None  # a blank line is a row here, whose one cell is missing
    n_rows = count(content, 0, end, ord("\n"), ord("\n")) + 1 if end > 0 else 0
    width = len(fields)
    columns, values = np.empty((n_rows, width), np.int32), np.empty((n_rows, width))
    codes, labels = np.zeros(n_rows, np.int32), np.empty((_MOST_LABELS, 2), np.int64)
    rows, n_labels, wide = _parse(
        content,
        end,
        ord(delimiter),
        np.array(places, np.int64),
        np.array([field.text for field in fields], np.bool_),
        np.array([feature_hash(field.name.encode(), bits) for field in fields], np.int32),
        np.array([_state(f"{field.name}=".encode()) for field in fields], np.uint64),
        bits,
        powers_of_five(),
        *_words(),
        columns,
        values,
        values.view(np.uint64),
        codes,
        labels,
        np.full(4 * _MOST_LABELS, -1, np.int32),
    )
    if rows < n_rows or (wide and not _is_utf8(text)):
        return None
    pointers = width * np.arange(n_rows + 1)
    shape = (n_rows, 1 << bits)
    X = sp.csr_array((values.ravel(), columns.ravel(), pointers), shape=shape)
    return Cells(X, codes, [bytes(text[a:b]) for a, b in labels[:n_labels].tolist()])


def _is_utf8(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _state(name: bytes) -> int:
    """The hash of a name before it is folded; that of what follows goes on from it."""
    h = int(BASIS)
    for byte in name:
        h = (h ^ byte) * int(PRIME) & (1 << 64) - 1
    return h


@cache
def _words() -> tuple[Words, npt.NDArray[np.int64]]:
    """Words with a meaning, packed as `_packed` does, and their meanings."""
    meanings = {word: _MISSING for word in MISSING if word}
    meanings |= dict.fromkeys(TRUE, _TRUE) | dict.fromkeys(FALSE, _FALSE)
    packed = [int.from_bytes(word.encode(), "little") for word in meanings]
    return np.array(packed, np.uint64), np.array(list(meanings.values()), np.int64)


_INF, _INFINITY, _NAN = (
    np.uint64(int.from_bytes(word, "little")) for word in (b"inf", b"infinity", b"nan")
)


@njit(cache=True, nogil=True)
def _parse(
    content: Bytes,
    end: int,
    mark: int,
    places: Indices,
    always: npt.NDArray[np.bool_],
    own: npt.NDArray[np.int32],
    states: Words,
    bits: int,
    powers: Bytes,
    words: Words,
    meanings: Indices,
    columns: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    patterns: Words,
    codes: npt.NDArray[np.int32],
    labels: Indices,
    table: npt.NDArray[np.int32],
) -> tuple[int, int, bool]:
    """Parse lines up to one that is unusual: how many, how many labels, and whether all is ASCII.

    ``own`` are the columns of the features' names and ``states`` the hashes of ``name=``.
    """
    text, scale = address_of(content), address_of(powers)
    i, stop, fold, comma = uint64(0), uint64(end), uint64(bits), uint64(mark)
    mask = (_ONE << fold) - _ONE
    row, n_labels, seen = 0, 0, _NOTHING
    while i < stop:
        for field in range(len(places)):
            begin = i
            if i < stop and byte_at(text, i) == _QUOTE:
                i += _ONE
                begin = i
                while i < stop and byte_at(text, i) != _QUOTE:
                    if _is_odd(byte_at(text, i)):
                        return row, n_labels, bool(seen >= _WIDE)
                    seen |= byte_at(text, i)
                    i += _ONE
                last = i
                i += _ONE
                if last >= stop:
                    return row, n_labels, bool(seen >= _WIDE)
            else:
                while i < stop and byte_at(text, i) != comma:
                    c = byte_at(text, i)
                    if (c == _NEWLINE) | (c == _RETURN):
                        break
                    if c == _QUOTE or _is_odd(c):
                        return row, n_labels, bool(seen >= _WIDE)
                    seen |= c
                    i += _ONE
                last = i
            place = places[field]
            if place == LABEL:
                h = BASIS
                for k in range(begin, last):
                    h = (h ^ byte_at(text, k)) * PRIME
                code = find_label(text, begin, last, h, labels, table, n_labels)
                if code == n_labels:
                    if n_labels == len(labels):
                        return row, n_labels, bool(seen >= _WIDE)
                    labels[code, 0], labels[code, 1] = int64(begin), int64(last)
                    n_labels += 1
                codes[row] = int32(code)
            elif place >= 0:
                while begin < last and is_blank(byte_at(text, begin)):
                    begin += _ONE
                while begin < last and is_blank(byte_at(text, last - _ONE)):
                    last -= _ONE
                free = not always[place]
                at, value, word, state = number(text, begin, last, scale)
                if free and at == last and ((state == VALUE) | (state == BITS)):
                    columns[row, place] = own[place]
                    if state == VALUE:
                        values[row, place] = value
                    else:
                        patterns[row, place] = word
                else:
                    meaning = _meaning(text, begin, last, words, meanings)
                    unsettled = free and at == last and state == UNSETTLED
                    if meaning == _MISSING or (free and meaning == _ENDLESS) or unsettled:
                        return row, n_labels, bool(seen >= _WIDE)
                    if free and ((meaning == _TRUE) | (meaning == _FALSE)):
                        columns[row, place] = own[place]
                        values[row, place] = 1.0 if meaning == _TRUE else 0.0
                    else:
                        h = states[place]
                        for k in range(begin, last):
                            h = (h ^ byte_at(text, k)) * PRIME
                        columns[row, place] = int32((h >> fold ^ h) & mask)
                        values[row, place] = 1.0
            if field < len(places) - 1:
                if i >= stop or byte_at(text, i) != comma:
                    return row, n_labels, bool(seen >= _WIDE)
                i += _ONE
        if i < stop and byte_at(text, i) == _RETURN:
            i += _ONE
        if i < stop:
            if byte_at(text, i) != _NEWLINE:
                return row, n_labels, bool(seen >= _WIDE)
            i += _ONE
        row += 1
    return row, n_labels, bool(seen >= _WIDE)


@njit(cache=True, nogil=True, forceinline=True)
def _is_odd(c: Word) -> bool:
    """Whether a byte is not at home in a cell: control characters, ends of lines."""
    return bool(c < _SPACE and c != _TAB)


@njit(cache=True, nogil=True)
def _meaning(text: Address, begin: Word, end: Word, words: Words, meanings: Indices) -> int:
    """What a cell means that is no number: nothing, a truth value, what is not finite, or text."""
    if begin == end:
        return _MISSING
    if end - begin <= _EIGHT:
        word = _packed(text, begin, end, _NOTHING)
        for k in range(len(words)):
            if words[k] == word:
                return int(meanings[k])
    signed = uint64(byte_at(text, begin) == _PLUS or byte_at(text, begin) == _MINUS)
    if end - begin - signed <= _EIGHT:
        word = _packed(text, begin + signed, end, _SMALL)
        if (word == _INF) | (word == _INFINITY) | (word == _NAN):
            return _ENDLESS
    return _OTHER


@njit(cache=True, nogil=True, forceinline=True)
def _packed(text: Address, begin: Word, end: Word, small: Word) -> Word:
    """Up to eight bytes as a number; with ``small`` set, letters lose their case."""
    word, shift = _NOTHING, _NOTHING
    for k in range(begin, end):
        word |= uint64(byte_at(text, k) | small) << shift
        shift += _EIGHT
    return word
