"""Kernels for large files of text: plain numeric CSV and svmlight, with one number parser.

A number of at most 18 digits is m·10^q with a whole m < 10^18. If m ≤ 2^53 and |q| ≤ 22, both are
doubles and one division or multiplication rounds correctly (Clinger 1990). A longer m is divided
in two steps with a bound on the error; the result counts if both ends of the error's interval
round to it. Every other number is left to Python's ``float``, so that all values are bit for bit
what ``float`` says. A text that is not plain is left to the caller as a whole.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.data.columns import ColumnRoles
from novikoff.data.fields import is_exact_text
from novikoff.data.svmlight import Pairs

Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.int64]

SKIPPED: Final = -1  # a field that is not read, and the field of the label
LABEL: Final = -2
_DONE, _NOT_PLAIN, _TOO_MANY_LABELS = 0, 1, 2
_NUMBER, _FALLBACK, _NO_NUMBER = 0, 1, 2
_TAB, _LF, _CR, _BLANK, _QUOTE, _HASH, _PLUS, _MINUS, _POINT, _ZERO, _COLON, _Q = (
    ord(c) for c in '\t\n\r "#+-.0:q'
)
_POWERS = 10.0 ** np.arange(23)
_MOST_INDEX: Final = 2**31 - 1


@njit(cache=True, nogil=True, error_model="numpy")
def parse_number(text: Bytes, i: int) -> tuple[int, float, int]:
    """Where a number that begins at i ends, its value, and whether it has one here."""
    begin = i
    if text[i] == _MINUS or text[i] == _PLUS:
        i += 1
    first, m = i, 0
    while _ZERO <= text[i] <= 57:
        m = 10 * m + (text[i] - _ZERO)
        i += 1
    n, q = i - first, 0
    whole = text[i] != _POINT
    if not whole:
        i += 1
        after = i
        while _ZERO <= text[i] <= 57:
            m = 10 * m + (text[i] - _ZERO)
            i += 1
        q = after - i
        n -= q
    if n == 0:
        return i, 0.0, _NO_NUMBER
    if text[i] | 32 == 101:  # e
        whole = False
        i += 1
        falls = text[i] == _MINUS
        if falls or text[i] == _PLUS:
            i += 1
        start, power = i, 0
        while _ZERO <= text[i] <= 57:
            power = min(10 * power + (text[i] - _ZERO), 9999)
            i += 1
        if i == start:
            return i, 0.0, _NO_NUMBER
        q += -power if falls else power
    if n > 18:
        k = first
        while text[k] == _ZERO or text[k] == _POINT:  # zeros in front do not count
            n -= text[k] == _ZERO
            k += 1
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
    text: Bytes, begin: int, end: int, spans: Integers, slots: Integers, n_labels: int
) -> int:
    """The code of a label, by a table of hashes; that of a new one is n_labels."""
    h = 0
    for k in range(begin, end):
        h = 31 * h + text[k]
    slot = h & (len(slots) - 1)
    while slots[slot] >= 0:
        code = slots[slot]
        at, size = spans[code, 0], spans[code, 1] - spans[code, 0]
        if size == end - begin:
            k = 0
            while k < size and text[at + k] == text[begin + k]:
                k += 1
            if k == size:
                return code
        slot = (slot + 1) & (len(slots) - 1)
    if n_labels < len(spans):
        slots[slot] = n_labels
        spans[n_labels, 0], spans[n_labels, 1] = begin, end
    return n_labels


@njit(cache=True, nogil=True)
def _field_end(text: Bytes, i: int, delimiter: int) -> int:
    """Where a field of text ends; −1 if it holds a quote, or is not ASCII."""
    while text[i] != delimiter and text[i] != _LF and text[i] != _CR:
        if text[i] == _QUOTE or text[i] == 0 or text[i] > 127:
            return -1
        i += 1
    return i


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
) -> tuple[int, int, int, int]:
    """Rows of numbers and a label: a status, and how many rows, labels and numbers for `float`."""
    i, row, n_labels, n_fallback = 0, 0, 0, 0
    last = len(places) - 1
    while i < len(text):
        if text[i] == _LF:
            i += 1
            continue
        for field in range(last + 1):
            place, begin = places[field], i
            if place >= 0:
                i, X[row, place], status = parse_number(text, i)
                if status == _NO_NUMBER or (status == _FALLBACK and n_fallback == len(fallback)):
                    return _NOT_PLAIN, row, n_labels, n_fallback
                if status == _FALLBACK:
                    fallback[n_fallback, 0], fallback[n_fallback, 1] = row, place
                    fallback[n_fallback, 2], fallback[n_fallback, 3] = begin, i
                    n_fallback += 1
            else:
                in_quotes = place == LABEL and text[i] == _QUOTE
                i = _field_end(text, i + in_quotes, _QUOTE if in_quotes else delimiter)
                if i < 0 or (in_quotes and text[i] != _QUOTE):
                    return _NOT_PLAIN, row, n_labels, n_fallback
                if place == LABEL:
                    code = _label_code(text, begin + in_quotes, i, spans, slots, n_labels)
                    if code == len(spans):
                        return _TOO_MANY_LABELS, row, n_labels, n_fallback
                    codes[row] = code
                    n_labels = max(n_labels, code + 1)
                i += in_quotes
            if field == last and text[i] == _CR:
                i += 1
            if text[i] != (_LF if field == last else delimiter):
                return _NOT_PLAIN, row, n_labels, n_fallback
            i += 1
        row += 1
    return _DONE, row, n_labels, n_fallback


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
) -> tuple[int, int, int, int, int, int]:
    """Rows of pairs: a status, and how many rows, pairs, labels, numbers for `float` and qids."""
    i, row, pair, n_labels, n_fallback, queries = 0, 0, 0, 0, 0, 0
    while i < len(text):
        while text[i] == _BLANK or text[i] == _TAB:
            i += 1
        if text[i] == _LF or text[i] == _CR:
            i += 1
            continue
        before, begin = -1, i
        if labelled and text[i] != _HASH:
            while text[i] > _BLANK and text[i] != _COLON and text[i] != _HASH:
                i += 1
            code = _label_code(text, begin, i, spans, slots, n_labels)
            if text[i] == _COLON or i == begin:
                return _NOT_PLAIN, row, pair, n_labels, n_fallback, queries
            if code == len(spans):
                return _TOO_MANY_LABELS, row, pair, n_labels, n_fallback, queries
            codes[row] = code
            n_labels = max(n_labels, code + 1)
        filled, first = text[begin] != _HASH, True
        while True:
            while text[i] == _BLANK or text[i] == _TAB:
                i += 1
            if text[i] == _HASH:
                while text[i] != _LF and text[i] != _CR:
                    if text[i] == 0 or text[i] > 127:
                        return _NOT_PLAIN, row, pair, n_labels, n_fallback, queries
                    i += 1
            if text[i] == _LF or text[i] == _CR:
                break
            query = first and text[i] == _Q and text[i + 1] == 105 and text[i + 2] == 100
            begin = i = i + 3 if query else i
            index = 0
            while _ZERO <= text[i] <= 57:
                index = 10 * index + (text[i] - _ZERO)
                i += 1
            if text[i] != _COLON or (i == begin) != query or i > begin + 10:
                return _NOT_PLAIN, row, pair, n_labels, n_fallback, queries
            begin = i = i + 1
            first = False
            if query:
                while _ZERO <= text[i] <= 57:
                    i += 1
                queries += 1
            else:
                i, values[pair], status = parse_number(text, i)
                crowded = status == _FALLBACK and n_fallback == len(fallback)
                if status == _NO_NUMBER or index <= before or index > _MOST_INDEX or crowded:
                    return _NOT_PLAIN, row, pair, n_labels, n_fallback, queries
                if status == _FALLBACK:
                    fallback[n_fallback, 0], fallback[n_fallback, 2] = pair, begin
                    fallback[n_fallback, 3] = i
                    n_fallback += 1
                before = indices[pair] = index
                pair += 1
            if i == begin or (text[i] > _BLANK and text[i] != _HASH):
                return _NOT_PLAIN, row, pair, n_labels, n_fallback, queries
        if filled:
            ends[row] = pair
            row += 1
    return _DONE, row, pair, n_labels, n_fallback, queries


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
    places = np.full(n_columns, SKIPPED, np.int64)
    places[roles.features] = np.arange(len(roles.features))
    if roles.label is not None:
        places[roles.label] = LABEL
    if not text.endswith(b"\n"):
        text += b"\n"
    content, n_lines = np.frombuffer(text, np.uint8), text.count(b"\n")
    X = np.empty((n_lines, len(roles.features)))
    codes = np.full(n_lines, -1)
    fallback = np.empty((1024 + len(text) // 1024, 4), np.int64)
    most_labels = 256
    while True:
        spans = np.empty((most_labels, 2), np.int64)
        slots = np.full(4 * most_labels, -1)
        status, n_rows, n_labels, n_fallback = _parse_rows(
            content, ord(delimiter), places, X, codes, spans, slots, fallback
        )
        if status != _TOO_MANY_LABELS:
            break
        most_labels *= 64
    if status != _DONE:
        return None
    for row, column, begin, end in fallback[:n_fallback].tolist():
        written = text[begin:end].decode()
        if not is_exact_text(written):
            return None
        X[row, column] = float(written)
    labels = [text[begin:end].decode() for begin, end in spans[:n_labels].tolist()]
    return X[:n_rows], codes[:n_rows], labels


def parse_pairs(text: bytes, *, labelled: bool) -> Pairs | None:
    r"""The rows of svmlight text; None if it is not plain.

    Examples
    --------
    >>> found = parse_pairs(b"+1 3:0.5 # one\n\n-1 1:2 7:1e3", labelled=True)
    >>> found.indptr.tolist(), found.indices.tolist(), found.values.tolist(), found.labels
    ([0, 1, 3], [3, 1, 7], [0.5, 2.0, 1000.0], [b'+1', b'-1'])
    """
    if not text.endswith(b"\n"):
        text += b"\n"
    content, n_pairs = np.frombuffer(text, np.uint8), text.count(b":")
    n_lines = text.count(b"\n") + text.count(b"\r")
    indices, values = np.empty(n_pairs, np.int32), np.empty(n_pairs)
    indptr, codes = np.zeros(n_lines + 1, np.int64), np.full(n_lines, -1)
    fallback = np.empty((1024 + len(text) // 1024, 4), np.int64)
    most_labels = 256
    while True:
        spans = np.empty((most_labels, 2), np.int64)
        slots = np.full(4 * most_labels, -1)
        status, n_rows, n_pairs, n_labels, n_fallback, queries = _parse_pairs(
            content, labelled, indices, values, indptr[1:], codes, spans, slots, fallback
        )
        if status != _TOO_MANY_LABELS:
            break
        most_labels *= 64
    if status != _DONE:
        return None
    for pair, _, begin, end in fallback[:n_fallback].tolist():
        written = text[begin:end].decode()
        if not is_exact_text(written):
            return None
        values[pair] = float(written)
    labels = [text[begin:end] for begin, end in spans[:n_labels].tolist()]
    return Pairs(
        indptr[: n_rows + 1], indices[:n_pairs], values[:n_pairs], codes[:n_rows], labels, queries
    )
