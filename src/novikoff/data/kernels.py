"""Kernels for large files of text: plain numeric CSV and svmlight, with one number parser.

A number of at most 18 digits is m·10^q with a whole m < 10^18. If m ≤ 2^53 and |q| ≤ 22, both are
doubles and one division or multiplication rounds correctly (Clinger 1990). A longer m is divided
in two steps with a bound on the error; the result counts if both ends of the error's interval
round to it. Every other number is left to Python's ``float``, so that all values are bit for bit
what ``float`` says. A text that is not plain is left to the caller as a whole.
"""

from __future__ import annotations

from math import isfinite
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.data.columns import ColumnRoles
from novikoff.data.fields import is_exact_text
from novikoff.data.svmlight import Pairs

Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.int64]
Place: TypeAlias = np.uint64  # in a text

SKIPPED: Final = -1  # a field that is not read, and the field of the label
LABEL: Final = -2
_NUMBER, _FALLBACK, _NO_NUMBER = 0, 1, 2
_TAB, _LF, _CR, _BLANK, _QUOTE, _HASH, _PLUS, _MINUS, _POINT, _ZERO, _NINE, _COLON, _Q = (
    ord(c) for c in '\t\n\r "#+-.09:q'
)
_POWERS = 10.0 ** np.arange(23)
# Places in a text are unsigned: a negative one would count from its end, which takes time to see.
_ONE, _TWO, _THREE, _TEN = map(np.uint64, (1, 2, 3, 10))
_MOST_INDEX: Final = 2**31 - 1


@njit(cache=True, nogil=True, error_model="numpy")
def parse_number(text: Bytes, i: Place) -> tuple[Place, float, int]:
    """Where a number that begins at i ends, its value, and whether it has one here."""
    begin = i
    if text[i] == _MINUS or text[i] == _PLUS:
        i += _ONE
    first, m = i, 0
    while _ZERO <= text[i] <= _NINE:
        m = 10 * m + (text[i] - _ZERO)
        i += _ONE
    n, q = np.int64(i - first), np.int64(0)
    whole = text[i] != _POINT
    if not whole:
        i += _ONE
        after = i
        while _ZERO <= text[i] <= _NINE:
            m = 10 * m + (text[i] - _ZERO)
            i += _ONE
        q = -np.int64(i - after)
        n -= q
    if n == 0:
        return i, 0.0, _NO_NUMBER
    if text[i] | 32 == 101:  # e
        whole = False
        i += _ONE
        falls = text[i] == _MINUS
        if falls or text[i] == _PLUS:
            i += _ONE
        start, power = i, 0
        while _ZERO <= text[i] <= _NINE:
            power = min(10 * power + (text[i] - _ZERO), 9999)
            i += _ONE
        if i == start:
            return i, 0.0, _NO_NUMBER
        q += -power if falls else power
    if n > 18:
        k = first
        while text[k] == _ZERO or text[k] == _POINT:  # zeros in front do not count
            n -= text[k] == _ZERO
            k += _ONE
        if n > 18:
            return i, 0.0, _FALLBACK
    if m <= 1 << 53 and -22 <= q <= 22:
        value = m / _POWERS[-q] if q < 0 else m * _POWERS[q]
    elif -22 <= q < 0:
        value, settled = _divide(m, _POWERS[-q])
        if not settled:
            return i, 0.0, _FALLBACK
    else:
        return i, 0.0, _FALLBACK
    if whole and m > 1 << 53:  # an integer that float64 may not hold
        return i, 0.0, _FALLBACK
    return i, -value if text[begin] == _MINUS else value, _NUMBER


@njit(cache=True, nogil=True, error_model="numpy")
def _divide(m: int, p: float) -> tuple[float, bool]:
    """The double nearest to m/p, for a whole m < 2^63 and an exact p, and whether it is proved.

    m = hi + lo exactly; q = hi/p rounded leaves the exact remainder hi − q·p (Dekker 1971), so
    that m/p = q + c with c known to a relative error far below 2^-50.
    """
    hi = float(m)
    lo = float(m - int(hi))
    q = hi / p
    t = 134217729.0 * q
    qh = t - (t - q)
    ql = q - qh
    t = 134217729.0 * p
    ph = t - (t - p)
    pl = p - ph
    product = q * p
    error = ((qh * ph - product) + qh * pl + ql * ph) + ql * pl
    c = (((hi - product) - error) + lo) / p
    bound = abs(c) * 2.0**-50
    value = q + (c - bound)
    return value, value == q + (c + bound)


@njit(cache=True, nogil=True)
def _label_code(
    text: Bytes, begin: Place, end: Place, spans: Integers, slots: Integers, counts: Integers
) -> int:
    """The code of a label, by a table of hashes; spans and counts[1] grow with a new one."""
    h = 0
    for k in range(begin, end):
        h = 31 * h + text[k]
    slot = (h ^ h >> 16) & (len(slots) - 1)
    while slots[slot] >= 0:
        code = int(slots[slot])
        at, size = spans[code, 0], spans[code, 1] - spans[code, 0]
        if size == end - begin:
            k = 0
            while k < size and text[at + k] == text[begin + k]:
                k += 1
            if k == size:
                return code
        slot = (slot + 1) & (len(slots) - 1)
    code = int(counts[1])
    slots[slot] = code
    spans[code, 0], spans[code, 1] = begin, end
    counts[1] += 1
    return code


@njit(cache=True, nogil=True)
def _note(status: int, at: int, i: Place, end: Place, fallback: Integers, counts: Integers) -> bool:
    """Leave a number to `float`; False if it is none, or there are too many."""
    if status == _NO_NUMBER or counts[2] == len(fallback):
        return False
    fallback[counts[2], 0], fallback[counts[2], 1], fallback[counts[2], 2] = at, i, end
    counts[2] += 1
    return True


@njit(cache=True, nogil=True)
def _parse_rows(
    text: Bytes,
    delimiter: int,
    places: Integers,
    X: npt.NDArray[np.float64],
    codes: Integers,
    spans: Integers,
    slots: Integers,
    fallback: Integers,
    counts: Integers,
) -> bool:
    """Rows of numbers and a label, as plain as can be; counts are rows, labels and fallbacks."""
    i: Place = np.uint64(0)
    size, row, last = np.uint64(len(text)), 0, len(places) - 1
    while i < size:
        if text[i] == _LF:
            i += _ONE
            continue
        for field in range(last + 1):
            place = places[field]
            if place >= 0:
                begin, at = i, row * X.shape[1] + place
                i, X[row, place], status = parse_number(text, i)
                if status != _NUMBER and not _note(status, at, begin, i, fallback, counts):
                    return False
            else:
                quoted = place == LABEL and text[i] == _QUOTE
                if quoted:
                    i += _ONE
                begin, stop = i, _QUOTE if quoted else delimiter
                while text[i] != stop and text[i] != _LF and text[i] != _CR:
                    if text[i] == _QUOTE or text[i] == 0 or text[i] > 127:
                        return False
                    i += _ONE
                if quoted and text[i] != _QUOTE:
                    return False
                if place == LABEL:
                    codes[row] = _label_code(text, begin, i, spans, slots, counts)
                if quoted:
                    i += _ONE
            if field == last and text[i] == _CR:
                i += _ONE
            if text[i] != (_LF if field == last else delimiter):
                return False
            i += _ONE
        row += 1
    counts[0] = row
    return True


@njit(cache=True, nogil=True)
def _parse_pairs(
    text: Bytes,
    labelled: bool,
    indices: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    ends: Integers,
    codes: Integers,
    spans: Integers,
    slots: Integers,
    fallback: Integers,
    counts: Integers,
) -> bool:
    """Rows of pairs, as plain as can be; counts are rows, labels, fallbacks, pairs and qids."""
    i: Place = np.uint64(0)
    size, row, pair = np.uint64(len(text)), 0, 0
    while i < size:
        while text[i] == _BLANK or text[i] == _TAB:
            i += _ONE
        if text[i] == _LF or text[i] == _CR:
            i += _ONE
            continue
        before, begin, filled, first = -1, i, text[i] != _HASH, True
        if labelled and filled:
            while text[i] > _BLANK and text[i] != _COLON and text[i] != _HASH:
                i += _ONE
            if text[i] == _COLON or i == begin:
                return False
            codes[row] = _label_code(text, begin, i, spans, slots, counts)
        while True:
            while text[i] == _BLANK or text[i] == _TAB:
                i += _ONE
            if text[i] == _HASH:
                while text[i] != _LF and text[i] != _CR:
                    if text[i] == 0 or text[i] > 127:
                        return False
                    i += _ONE
            if text[i] == _LF or text[i] == _CR:
                break
            query = first and text[i] == _Q and text[i + _ONE] == 105 and text[i + _TWO] == 100
            begin = i = i + _THREE if query else i
            index = 0
            while _ZERO <= text[i] <= _NINE:
                index = 10 * index + (text[i] - _ZERO)
                i += _ONE
            if text[i] != _COLON or (i == begin) != query or i > begin + _TEN:
                return False
            begin = i = i + _ONE
            first = False
            if query:
                while _ZERO <= text[i] <= _NINE:
                    i += _ONE
                counts[4] += 1
            else:
                i, values[pair], status = parse_number(text, i)
                if status != _NUMBER and not _note(status, pair, begin, i, fallback, counts):
                    return False
                if index <= before or index > _MOST_INDEX:
                    return False
                before = indices[pair] = index
                pair += 1
            if i == begin or (text[i] > _BLANK and text[i] != _HASH):
                return False
        if filled:
            ends[row] = pair
            row += 1
    counts[0], counts[3] = row, pair
    return True


def parse_csv(
    text: bytes, delimiter: str, roles: ColumnRoles, n_columns: int
) -> tuple[npt.NDArray[np.float64], Integers, list[str]] | None:
    r"""The numbers of a text, the code of each row's label, and the labels; None if not plain.

    Examples
    --------
    >>> roles = ColumnRoles(label=1, id=None, features=[0, 2])
    >>> X, codes, labels = parse_csv(b"1,a,2.5\n-3e2,b,.1\n", ",", roles, 3)
    >>> X.tolist(), codes.tolist(), labels
    ([[1.0, 2.5], [-300.0, 0.1]], [0, 1], ['a', 'b'])
    """
    places = np.full(n_columns, SKIPPED)
    places[roles.features] = np.arange(len(roles.features))
    if roles.label is not None:
        places[roles.label] = LABEL
    text, content, n_lines, (codes, spans, slots, fallback, counts) = _prepared(text)
    X = np.empty((n_lines, len(roles.features)))
    tables = codes, spans, slots, fallback, counts
    if not _parse_rows(content, ord(delimiter), places, X, *tables):
        return None
    if not _fall_back(text, X.ravel(), fallback[: counts[2]]):
        return None
    labels = [text[begin:end].decode() for begin, end in spans[: counts[1]].tolist()]
    return X[: counts[0]], codes[: counts[0]], labels


def parse_pairs(text: bytes, *, labelled: bool) -> Pairs | None:
    r"""The rows of svmlight text; None if it is not plain.

    Examples
    --------
    >>> found = parse_pairs(b"+1 3:0.5 # one\n\n-1 1:2 7:1e3", labelled=True)
    >>> found.indptr.tolist(), found.indices.tolist(), found.values.tolist(), found.labels
    ([0, 1, 3], [3, 1, 7], [0.5, 2.0, 1000.0], [b'+1', b'-1'])
    """
    text, content, n_lines, (codes, spans, slots, fallback, counts) = _prepared(text)
    n_pairs = text.count(b":")
    indices, values = np.empty(n_pairs, np.int32), np.empty(n_pairs)
    indptr = np.zeros(n_lines + 1, np.int64)
    tables = codes, spans, slots, fallback, counts
    if not _parse_pairs(content, labelled, indices, values, indptr[1:], *tables):
        return None
    if not _fall_back(text, values, fallback[: counts[2]]):
        return None
    labels = [text[begin:end] for begin, end in spans[: counts[1]].tolist()]
    rows, pairs = int(counts[0]), int(counts[3])
    return Pairs(
        indptr[: rows + 1], indices[:pairs], values[:pairs], codes[:rows], labels, int(counts[4])
    )


def _prepared(text: bytes) -> tuple[bytes, Bytes, int, tuple[Integers, ...]]:
    """A text that ends with its last line, its bytes and lines, and empty tables for a kernel."""
    text = text if text.endswith(b"\n") else text + b"\n"
    n_lines = text.count(b"\n") + text.count(b"\r")
    slots = np.full(1 << (2 * n_lines).bit_length(), -1)
    spans, fallback = (
        np.empty((n_lines, 2), np.int64),
        np.empty((1024 + len(text) // 512, 3), np.int64),
    )
    tables = np.full(n_lines, -1), spans, slots, fallback, np.zeros(5, np.int64)
    return text, np.frombuffer(text, np.uint8), n_lines, tables


def _fall_back(text: bytes, values: npt.NDArray[np.float64], spans: Integers) -> bool:
    """Read by `float` what a kernel has left; False if float64 does not hold it."""
    for at, begin, end in spans.tolist():
        written = text[begin:end].decode()
        values[at] = value = float(written)
        if not is_exact_text(written) or not isfinite(value):
            return False
    return True
