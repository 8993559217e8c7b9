"""A compiled loop for long svmlight text.

A number of at most 18 digits is m·10^q with a whole m < 10^18. If m ≤ 2^53 and |q| ≤ 22, both are
doubles, and one division or multiplication rounds correctly (Clinger 1990). A longer m is divided
in two steps with a bound on the error; the result is used if both ends of the error's interval
round to it. Every other number is left to Python's ``float``, so that all values are bit for bit
the values of ``float``. Text that the loop does not accept is left to the caller as a whole.

References
----------
Clinger, W. D. (1990). How to read floating point numbers accurately. PLDI, 92-101.
Dekker, T. J. (1971). A floating-point technique for extending the available precision.
Numerische Mathematik 18, 224-242.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.rows import Indices
from novikoff.data.pairs import MAX_INDEX, QUERY_ROW, Pairs
from novikoff.data.reader import count_lines, csr
from novikoff.data.values import is_exact_text

Bytes: TypeAlias = npt.NDArray[np.uint8]
Doubles: TypeAlias = npt.NDArray[np.float64]
# An offset in a text. With a signed integer, every access would check for a negative index.
Offset: TypeAlias = np.uint64

_TAB, _LF, _CR, _BLANK, _PLUS, _MINUS, _PERIOD, _ZERO, _NINE, _COLON = map(ord, "\t\n\r +-.09:")
_POWERS = 10.0 ** np.arange(23)
_NOWHERE, _ONE, _TEN = map(np.uint64, (0, 1, 10))
_COMMENT = re.compile(rb"#[^\r\n]*")


@njit(cache=True, nogil=True, error_model="numpy")
def _parse_number(text: Bytes, i: Offset, at: int, fallback: Indices) -> tuple[Offset, float]:
    """Return the end of the number that begins at i, or 0 if there is none, and its value.

    A number that this function cannot round is added to ``fallback``, with the index ``at`` of its
    value. The first entry of ``fallback`` counts these numbers.
    """
    begin = i
    if text[i] == _MINUS or text[i] == _PLUS:
        i += _ONE
    first, m = i, 0
    while _ZERO <= text[i] <= _NINE:
        m = 10 * m + (text[i] - _ZERO)
        i += _ONE
    n, q = np.int64(i - first), np.int64(0)
    whole = text[i] != _PERIOD
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
        while text[k] == _ZERO or text[k] == _PERIOD:  # leading zeros are not digits of m
            n -= text[k] == _ZERO
            k += _ONE
    value, is_decided = 0.0, False
    if n <= 18 and -22 <= q <= 22:
        if m <= 1 << 53:
            value, is_decided = m / _POWERS[-q] if q < 0 else m * _POWERS[q], True
        elif q < 0 and not whole:  # integers are left to the fallback: they may not be exact
            value, is_decided = _divide(m, _POWERS[-q])
            is_decided &= value < 1 << 53
    if not is_decided:
        used = fallback[0, 0] + 1
        if used == len(fallback):
            return _NOWHERE, 0.0
        fallback[0, 0] = used
        fallback[used, 0], fallback[used, 1], fallback[used, 2] = at, begin, i
    return i, -value if text[begin] == _MINUS else value


@njit(cache=True, nogil=True, error_model="numpy")
def _divide(m: int, p: float) -> tuple[float, bool]:
    """Return the double nearest to m/p, and whether it is proved to be the nearest.

    m < 2^63 is whole and p is exact. m = hi + lo exactly; the rounded quotient q = hi/p has the
    exact remainder hi − q·p (Dekker 1971), so that m/p = q + c, where the relative error of c is
    far below 2^-50.
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
def _parse_pairs(
    text: Bytes,
    labelled: bool,
    indices: npt.NDArray[np.int32],
    values: Doubles,
    ends: npt.NDArray[np.int32],
    spans: Indices,
    fallback: Indices,
) -> int:
    """Parse rows of pairs; return their number, or -1 if the text is not plain svmlight."""
    i: Offset = np.uint64(0)
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
            i, values[pair] = _parse_number(text, i + _ONE, pair, fallback)
            if i == _NOWHERE or text[i] > _BLANK or index <= before or index > MAX_INDEX:
                return -1
            before = indices[pair] = index
            pair += 1
        i += _ONE
        if pair > ends[row] or spans[row, 0] < spans[row, 1]:
            row += 1
            ends[row] = pair
    return row


def parse_pairs(text: bytes, *, labelled: bool) -> Pairs | None:
    """Return the rows of svmlight text; None if the compiled loop does not accept it."""
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if labelled and b"q" in text:
        text = QUERY_ROW.sub(rb"\1", text)
    text, spans, fallback = _buffers(text)
    n_pairs = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _COLON))
    indices, values = np.empty(n_pairs, np.int32), np.empty(n_pairs)
    indptr = np.zeros(len(spans) + 1, np.int32)
    content = np.frombuffer(text, np.uint8)
    n_rows = _parse_pairs(content, labelled, indices, values, indptr, spans, fallback)
    if n_rows < 0 or not _finish(text, values, fallback):
        return None
    parts = values[: indptr[n_rows]], indices[: indptr[n_rows]], indptr[: n_rows + 1]
    X = csr(parts, n_rows, int(parts[1].max(initial=-1)) + 1)
    return X, *_code_labels(text, spans[:n_rows])


def _buffers(text: bytes) -> tuple[bytes, Indices, Indices]:
    """Return the text with a final newline, and buffers for labels and for the fallback numbers.

    A label is stored as its begin, its end, and its last eight characters as a number.
    """
    text = text if text.endswith(b"\n") else text + b"\n"
    fallback = np.zeros((1024 + len(text) // 512, 3), np.int64)
    return text, np.zeros((count_lines(text) + 1, 3), np.int64), fallback


def _finish(text: bytes, values: Doubles, fallback: Indices) -> bool:
    """Compute the fallback numbers by `float`; False if a number is not exact or not finite."""
    for at, begin, end in fallback[1 : fallback[0, 0] + 1].tolist():
        written = text[begin:end].decode()
        values[at] = float(written)
        if not is_exact_text(written) or not isfinite(values[at]):
            return False
    return True


def _code_labels(text: bytes, spans: Indices) -> tuple[Indices, list[str]]:
    """Return the code of each row's label, -1 if it has none, and the labels."""
    lengths, keys = spans[:, 1] - spans[:, 0], spans[:, 2]
    if not lengths.any():
        return np.full(len(spans), -1), []
    if lengths.max() > 8:  # the last eight characters do not identify a longer label
        known: dict[bytes, int] = {}
        places = spans[:, :2].tolist()
        keys = np.array([known.setdefault(text[i:j], len(known)) for i, j in places])
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    return codes, [text[i:j].decode() for i, j in spans[first, :2].tolist()]
