"""Large files of plain numbers: parsed where they lie, by all cores, to the last bit.

The common case of a large CSV file is nothing but decimals and a label. A kernel reads it from
the memory map straight into the matrix. A label may be in quotes. Whatever is unusual, be it a
quote elsewhere, a missing value, text or a line of another length, ends it at once, and the
careful road begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int64, uint64

from novikoff.core.words import Address, Bytes, Word, address_of, byte_at
from novikoff.data.decimals import (
    BITS,
    UNSETTLED,
    VALUE,
    Words,
    long_decimal,
    number,
    powers_of_five,
    short_decimal,
)
from novikoff.data.marks import ROOM, find_marks
from novikoff.data.stretches import as_bytes, cores, count, each, same, stretches

Indices: TypeAlias = npt.NDArray[np.int64]

# What becomes of a column, besides its place in the matrix.
SKIPPED: Final = -1
LABEL: Final = -2

_OF_NUMBERS: Final = "0123456789+-.eE"  # as delimiters they would be read as parts of numbers
_MOST_LABELS = 256
_MOST_UNSETTLED = 1 << 16
# Bytes as the kernels compare them, in unsigned arithmetic.
NEWLINE, RETURN, QUOTE, SPACE, POINT = (np.uint64(ord(c)) for c in '\n\r" .')
NOTHING, ONE, TWO, FAR, WIDE = map(np.uint64, (0, 1, 2, 25, 128))
SOME, LONG = np.uint64(8), np.uint64(1 << 12)


@dataclass(frozen=True)
class Plain:
    """The matrix, the code of each row's label, the labels by code, and whether all is finite."""

    X: npt.NDArray[np.float64]
    codes: Indices
    labels: list[bytes]
    finite: bool


def parse_plain(
    text: memoryview, delimiter: str, places: Sequence[int], width: int, threads: int | None = None
) -> Plain | None:
    r"""Parse rows of numbers; None where something is not plain.

    Parameters
    ----------
    text : bytes
        The rows, without the header.
    delimiter : str
        Between fields.
    places : sequence of int
        For each field of a row its column in the matrix, or `SKIPPED`, or `LABEL`.
    width : int
        The number of columns of the matrix.
    threads : int, optional
        How many; by default as many as there are cores.

    Examples
    --------
    >>> found = parse_plain(memoryview(b"1,a,2.5\n-3e2,b,.1\n"), ",", [0, LABEL, 1], 2)
    >>> found.X.tolist(), found.codes.tolist(), found.labels
    ([[1.0, 2.5], [-300.0, 0.1]], [0, 1], [b'a', b'b'])
    """
    if delimiter in _OF_NUMBERS:
        return None
    content = as_bytes(text)
    end = len(content)
    while end > 0 and content[end - 1] in (NEWLINE, RETURN):
        end -= 1
    threads = threads or cores()
    spans = stretches(content, end, threads)
    powers = powers_of_five()
    mark = ord(delimiter)
    counts = each(lambda span: _count_lines(content, *span), spans, threads)
    firsts = np.cumsum([0, *counts])
    X = np.empty((int(firsts[-1]), width))
    codes = np.empty(len(X), dtype=np.int64)
    target = np.array(places, dtype=np.int64)

    def parse(k: int) -> _Part:
        part = _Part()
        part.n_rows, part.n_labels, part.n_unsettled = _parse(
            content,
            *spans[k],
            mark,
            target,
            powers,
            X[firsts[k] : firsts[k + 1]],
            X[firsts[k] : firsts[k + 1]].view(np.uint64),
            codes[firsts[k] : firsts[k + 1]],
            part.labels,
            part.unsettled,
        )
        return part

    parts = each(parse, range(len(spans)), threads)
    if any(part.n_rows != count for part, count in zip(parts, counts, strict=True)):
        return None
    finite = [part.settle(text, X[first:]) for part, first in zip(parts, firsts, strict=False)]
    return Plain(X, codes, _joined(text, parts, codes, firsts.tolist()), all(finite))


class _Part:
    """What a stretch leaves to be done."""

    def __init__(self) -> None:
        self.n_rows, self.n_labels, self.n_unsettled = np.int64(0), 0, 0
        self.labels = np.empty((_MOST_LABELS, 2), dtype=np.int64)  # begin and end of each
        self.unsettled = np.empty((_MOST_UNSETTLED, 4), dtype=np.int64)  # row, column, begin, end

    def settle(self, text: memoryview, X: npt.NDArray[np.float64]) -> bool:
        """Read what the kernel could not; whether it is finite, as all that it could."""
        finite = True
        for row, column, begin, end in self.unsettled[: self.n_unsettled].tolist():
            X[row, column] = value = float(bytes(text[begin:end]))
            finite = finite and isfinite(value)
        return finite


def _joined(text: memoryview, parts: list[_Part], codes: Indices, firsts: list[int]) -> list[bytes]:
    """The labels of all parts, in order of appearance; codes are changed to match."""
    known: dict[bytes, int] = {}
    for part, first, last in zip(parts, firsts[:-1], firsts[1:], strict=True):
        spans = part.labels[: part.n_labels].tolist()
        names = [bytes(text[begin:end]) for begin, end in spans]
        own = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
        if len(own) > 0:
            codes[first:last] = own[codes[first:last]]
    return list(known)


def _count_lines(content: Bytes, begin: int, end: int) -> int:
    """The lines that begin in a span."""
    open_end = int(end > begin and content[end - 1] != NEWLINE)
    return count(content, begin, end, ord("\n"), ord("\n")) + open_end


@njit(cache=True, nogil=True)
def _parse(
    content: Bytes,
    begin: int,
    end: int,
    mark: int,
    places: Indices,
    powers: Bytes,
    X: npt.NDArray[np.float64],
    words: Words,
    codes: Indices,
    labels: Indices,
    unsettled: Indices,
) -> tuple[np.int64, int, int]:
    """Parse a span; the number of rows, different labels and unsettled numbers.

    It stops at the first row that is not plain. Decimals of up to eight digits, and then of up to
    nineteen, have loops of their own between marks that are found for many fields at once; all
    else is read byte by byte. Positions are unsigned: signed ones would be looked at each time,
    whether they count from the end.
    """
    text, table = address_of(content), address_of(powers)
    i, stop, sign = uint64(begin), uint64(end), uint64(mark)
    row, n_labels, n_unsettled = NOTHING, 0, 0
    marks, base, k, n = np.empty(ROOM, dtype=np.uint32), i, NOTHING, NOTHING
    fields, final = uint64(len(places)), uint64(len(places) - 1)
    pause, good, rest = ONE, NOTHING, FAR
    while i < stop:
        field = NOTHING
        while field < fields:
            if rest == NOTHING:
                if k + TWO > n:
                    base, k, n = i, NOTHING, find_marks(text, i, stop, sign, NEWLINE, POINT, marks)
                first, known = field, True
                while known and field < final and k + TWO <= n and places[field] >= 0:
                    at, after = base + uint64(marks[k]), k + ONE
                    if byte_at(text, at) == POINT:
                        point, at, after = at, base + uint64(marks[after]), after + ONE
                        value, known = short_decimal(text, i, point, at, ONE)
                    else:
                        value, known = short_decimal(text, i, at, at, NOTHING)
                    known = known and byte_at(text, at) == sign
                    if known:
                        X[row, uint64(places[field])] = value
                        i, k, field = at + ONE, after, field + ONE
                longer = not known
                while longer and field < final and k + TWO <= n and places[field] >= 0:
                    at, after, has_point = base + uint64(marks[k]), k + ONE, NOTHING
                    point = at
                    if byte_at(text, at) == POINT:
                        at, after, has_point = base + uint64(marks[after]), after + ONE, ONE
                    bits, longer = long_decimal(text, i, point, at, has_point, table)
                    longer = longer and byte_at(text, at) == sign
                    if longer:
                        words[row, uint64(places[field])] = bits
                        i, k, field = at + ONE, after, field + ONE
                good += field - first
                if field > first:
                    continue
                if not known:  # where few are of this kind, it is not worth the trouble
                    pause = ONE if good >= SOME else min(pause + pause, LONG)
                    rest, good = pause, NOTHING
            else:
                rest -= ONE
            place, start = places[field], i
            if place >= 0:
                i, value, bits, state = number(text, start, stop, table)
                if state == VALUE:
                    X[row, uint64(place)] = value
                elif state == BITS:
                    words[row, uint64(place)] = bits
                elif state == UNSETTLED and n_unsettled < len(unsettled):
                    unsettled[n_unsettled, 0], unsettled[n_unsettled, 1] = row, place
                    unsettled[n_unsettled, 2], unsettled[n_unsettled, 3] = start, i
                    n_unsettled += 1
                else:
                    return int64(row), n_labels, n_unsettled
            else:
                if start < stop and byte_at(text, start) == QUOTE:
                    start, last, i = _in_quotes(text, start, stop, place == LABEL)
                else:
                    i = last = _field_end(text, i, stop, sign, place == LABEL)
                if place == LABEL:
                    code = _code_of(text, start, last, labels, n_labels)
                    if code == len(labels):
                        return int64(row), n_labels, n_unsettled
                    if code == n_labels:
                        labels[code, 0], labels[code, 1] = start, last
                        n_labels += 1
                    codes[row] = code
            if field < final:
                if i >= stop or byte_at(text, i) != sign:
                    return int64(row), n_labels, n_unsettled
                i += ONE
            field += ONE
            while k < n and base + uint64(marks[k]) < i:
                k += ONE
        if i < stop and byte_at(text, i) == RETURN:
            i += ONE
        if i < stop:
            if byte_at(text, i) != NEWLINE:
                return int64(row), n_labels, n_unsettled
            i += ONE
        while k < n and base + uint64(marks[k]) < i:
            k += ONE
        row += ONE
    return int64(row), n_labels, n_unsettled


@njit(cache=True, nogil=True, forceinline=True)
def _code_of(text: Address, begin: Word, end: Word, labels: Indices, n_labels: int) -> int:
    """The code of a label, which is the next one if it is new."""
    code = 0
    while code < n_labels and not same(text, labels[code, 0], labels[code, 1], begin, end):
        code += 1
    return code


@njit(cache=True, nogil=True, forceinline=True)
def _field_end(text: Address, i: Word, end: Word, sign: Word, label: bool) -> Word:
    """Where a field of text ends; where it is not plain, at what is not."""
    while i < end and byte_at(text, i) != sign and byte_at(text, i) != NEWLINE:
        c = byte_at(text, i)
        if c == QUOTE or c < SPACE or (c >= WIDE and not label):
            break
        i += ONE
    return i


@njit(cache=True, nogil=True, forceinline=True)
def _in_quotes(text: Address, i: Word, end: Word, label: bool) -> tuple[Word, Word, Word]:
    """Begin and end of what is in quotes, and where it goes on; where not plain, at the quote."""
    at = i + ONE
    while at < end and byte_at(text, at) != QUOTE:
        c = byte_at(text, at)
        if c < SPACE or (c >= WIDE and not label):
            return i, i, i
        at += ONE
    if at >= end:
        return i, i, i
    return i + ONE, at, at + ONE
