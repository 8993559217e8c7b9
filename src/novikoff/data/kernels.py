"""Kernels for large files of text: plain numeric CSV and svmlight, with one number parser.

A number of at most 18 digits is m·10^q with a whole m < 10^18. If m ≤ 2^53 and |q| ≤ 22, both are
doubles and one division or multiplication rounds correctly (Clinger 1990). A longer m is divided
in two steps with a bound on the error; the result counts if both ends of the error's interval
round to it. Every other number is left to Python's ``float``, so that all values are bit for bit
what ``float`` says. A text that is not plain is left to the caller as a whole.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.data.columns import ColumnRoles
from novikoff.data.numbers import is_exact_text
from novikoff.data.options import csr
from novikoff.data.pairs import MAX_INDEX, QUERY_ROW, Pairs
from novikoff.data.reader import count_lines

Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Place: TypeAlias = np.uint64  # in a text; a negative one would count from its end, which costs time

SKIPPED: Final = -1  # a field that is not read, and the field of the label
LABEL: Final = -2
_TAB, _LF, _CR, _BLANK, _QUOTE, _PLUS, _MINUS, _POINT, _ZERO, _NINE, _COLON = (
    ord(c) for c in '\t\n\r "+-.09:'
)
_POWERS = 10.0 ** np.arange(23)
_NOWHERE, _ONE, _TEN = map(np.uint64, (0, 1, 10))
_COMMENT = re.compile(rb"#[^\r\n]*")


@njit(cache=True, nogil=True, error_model="numpy")
def _number(text: Bytes, i: Place, at: int, fallback: Integers) -> tuple[Place, float]:
    """Where a number that begins at i ends, 0 if it is none, and its value.

    A number that is not decided here is noted in ``fallback``, whose first entry counts, with
    ``at``, the place of its value.
    """
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
        return _NOWHERE, 0.0
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
            return _NOWHERE, 0.0
        q += -power if falls else power
    if n > 18:
        k = first
        while text[k] == _ZERO or text[k] == _POINT:  # zeros in front do not count
            n -= text[k] == _ZERO
            k += _ONE
    value, settled = 0.0, False
    if n <= 18 and -22 <= q <= 22:
        if m <= 1 << 53:
            value, settled = m / _POWERS[-q] if q < 0 else m * _POWERS[q], True
        elif q < 0 and not whole:  # an integer that float64 may not hold is left to others
            value, settled = _divide(m, _POWERS[-q])
            settled &= value < 1 << 53
    if not settled:
        used = fallback[0, 0] + 1
        if used == len(fallback):
            return _NOWHERE, 0.0
        fallback[0, 0] = used
        fallback[used, 0], fallback[used, 1], fallback[used, 2] = at, begin, i
    return i, -value if text[begin] == _MINUS else value


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
def _parse_rows(
    text: Bytes, delimiter: int, places: Integers, X: Floats, spans: Integers, fallback: Integers
) -> int:
    """Rows of numbers, or nothing, and a label: how many, or -1 if they are not so plain."""
    i: Place = np.uint64(0)
    size, row, last = np.uint64(len(text)), 0, len(places) - 1
    while i < size:
        if text[i] == _LF:
            i += _ONE
            continue
        for field in range(last + 1):
            place = places[field]
            if place >= 0 and (text[i] == delimiter or text[i] == _LF or text[i] == _CR):
                X[row, place] = np.nan  # missing
            elif place >= 0:
                i, X[row, place] = _number(text, i, row * X.shape[1] + place, fallback)
                if i == _NOWHERE:
                    return -1
            else:
                quoted = place == LABEL and text[i] == _QUOTE
                if quoted:
                    i += _ONE
                begin, stop, key = i, _QUOTE if quoted else delimiter, 0
                while text[i] != stop and text[i] != _LF and text[i] != _CR:
                    if text[i] == _QUOTE:
                        return -1
                    key = key << 8 | text[i]
                    i += _ONE
                if place == LABEL:
                    if i == begin:
                        return -1
                    spans[row, 0], spans[row, 1], spans[row, 2] = begin, i, key
                if quoted:
                    if text[i] != _QUOTE:
                        return -1
                    i += _ONE
            if field == last and text[i] == _CR:
                i += _ONE
            if text[i] != (_LF if field == last else delimiter):
                return -1
            i += _ONE
        row += 1
    return row


@njit(cache=True, nogil=True)
def _parse_pairs(
    text: Bytes,
    labelled: bool,
    indices: npt.NDArray[np.int32],
    values: Floats,
    ends: npt.NDArray[np.int32],
    spans: Integers,
    fallback: Integers,
) -> int:
    """Rows of pairs, as plain as can be: how many, or -1 if they are not."""
    i: Place = np.uint64(0)
    size, row, pair = np.uint64(len(text)), 0, 0
    while i < size:
        before, begin, key = -1, i, 0
        if labelled:
            while text[i] > _BLANK and text[i] != _COLON:
                key = key << 8 | text[i]
                i += _ONE
            if text[i] > _BLANK:
                return -1
            spans[row, 0], spans[row, 1], spans[row, 2] = begin, i, key
        while text[i] != _LF and text[i] != _CR:
            if text[i] == _BLANK or text[i] == _TAB:
                i += _ONE
                continue
            if labelled and spans[row, 0] == spans[row, 1]:
                return -1
            start, index = i, 0
            while _ZERO <= text[i] <= _NINE:
                index = 10 * index + (text[i] - _ZERO)
                i += _ONE
            if text[i] != _COLON or i == start or i > start + _TEN:
                return -1
            i, values[pair] = _number(text, i + _ONE, pair, fallback)
            if i == _NOWHERE or text[i] > _BLANK or index <= before or index > MAX_INDEX:
                return -1
            before = indices[pair] = index
            pair += 1
        i += _ONE
        if pair > ends[row] or spans[row, 0] < spans[row, 1]:
            row += 1
            ends[row] = pair
    return row


def parse_csv(
    text: bytes, delimiter: str, roles: ColumnRoles, n_columns: int
) -> tuple[Floats, Integers, list[str]] | None:
    """The numbers of a text, the code of each row's label, and the labels; None if not plain."""
    places = np.full(n_columns, SKIPPED)
    places[roles.features] = np.arange(len(roles.features))
    if roles.label is not None:
        places[roles.label] = LABEL
    text, spans, fallback = _tables(text)
    X = np.empty((len(spans), len(roles.features)))
    content = np.frombuffer(text, np.uint8)
    n_rows = _parse_rows(content, ord(delimiter), places, X, spans, fallback)
    if n_rows < 0 or not _finish(text, X.ravel(), fallback):
        return None
    return X[:n_rows], *_labels(text, spans[:n_rows])


def parse_pairs(text: bytes, *, labelled: bool) -> Pairs | None:
    """The rows of svmlight text; None if it is not plain."""
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if labelled and b"q" in text:
        text = QUERY_ROW.sub(rb"\1", text)
    text, spans, fallback = _tables(text)
    n_pairs = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _COLON))
    indices, values = np.empty(n_pairs, np.int32), np.empty(n_pairs)
    indptr = np.zeros(len(spans) + 1, np.int32)
    content = np.frombuffer(text, np.uint8)
    n_rows = _parse_pairs(content, labelled, indices, values, indptr, spans, fallback)
    if n_rows < 0 or not _finish(text, values, fallback):
        return None
    parts = values[: indptr[n_rows]], indices[: indptr[n_rows]], indptr[: n_rows + 1]
    X = csr(parts, n_rows, int(parts[1].max(initial=-1)) + 1)
    return X, *_labels(text, spans[:n_rows])


def _tables(text: bytes) -> tuple[bytes, Integers, Integers]:
    """A text that ends with a line, and tables for the places of labels, and of numbers to do.

    The place of a label is where it begins and ends, and its last eight characters as a number.
    """
    text = text if text.endswith(b"\n") else text + b"\n"
    fallback = np.zeros((1024 + len(text) // 512, 3), np.int64)
    return text, np.zeros((count_lines(text) + 1, 3), np.int64), fallback


def _finish(text: bytes, values: Floats, fallback: Integers) -> bool:
    """Put in the numbers that are left to `float`; False if float64 does not hold one of them."""
    for at, begin, end in fallback[1 : fallback[0, 0] + 1].tolist():
        written = text[begin:end].decode()
        values[at] = float(written)
        if not is_exact_text(written) or not isfinite(values[at]):
            return False
    return True


def _labels(text: bytes, spans: Integers) -> tuple[Integers, list[str]]:
    """The code of each row's label, -1 if it has none, and the labels."""
    lengths, keys = spans[:, 1] - spans[:, 0], spans[:, 2]
    if not lengths.any():
        return np.full(len(spans), -1), []
    if lengths.max() > 8:  # the last eight characters do not tell labels apart
        known: dict[bytes, int] = {}
        places = spans[:, :2].tolist()
        keys = np.array([known.setdefault(text[i:j], len(known)) for i, j in places])
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    return codes, [text[i:j].decode() for i, j in spans[first, :2].tolist()]
