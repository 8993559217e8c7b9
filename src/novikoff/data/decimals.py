"""Decimal text to the nearest double, exactly as Python's ``float`` reads it, in a kernel.

Decimals of up to 19 digits are m·10^q with whole m < 2^64. Lemire's method (2021) multiplies m
by the first 128 bits of 5^q, which settles the 53 bits of the double but for its rarest cases;
a longer decimal lies between two such, which mostly round alike. The rest, and numbers beyond
the normal range, are left to the caller.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int64, uint64

from novikoff.core.memory import eight_bytes

Bytes: TypeAlias = npt.NDArray[np.uint8]
Word: TypeAlias = np.uint64
Words: TypeAlias = npt.NDArray[np.uint64]

# What a kernel says of a field: its value, its bits, that it cannot settle it, or neither.
VALUE: Final = 0
BITS: Final = 1
UNSETTLED: Final = 2
NOT_A_NUMBER: Final = 3

_ONE, _EIGHT, _TEN = map(np.uint64, (1, 8, 10))
_ZEROS, _LACKING, _TOPS, _ONES_OF_8 = map(
    np.uint64,
    (0x3030303030303030, 0x7676767676767676, 0x8080808080808080, 0x0101010101010101),
)
_TENS = np.array([10**k for k in range(9)], dtype=np.uint64)
# Bytes as the kernels compare them, in unsigned arithmetic.
_ZERO, _POINT, _PLUS, _MINUS, _E = (np.uint64(ord(c)) for c in "0.+-e")
_NOTHING, _NINE, _NINETEEN, _SMALL, _SIGN = map(np.uint64, (0, 9, 19, 32, 63))
_EXACT = np.uint64(1 << 53)
_POWERS = 10.0 ** np.arange(23)

_LEAST, _MOST = -342, 308
_ONES = (1 << 64) - 1


@cache
def powers_of_five() -> Words:
    """The first 128 bits of 5^q for q = −342 … 308: high words, then low words."""
    table = np.empty((2, _MOST - _LEAST + 1), dtype=np.uint64)
    for q in range(_LEAST, _MOST + 1):
        if q < 0:
            size = (5**-q - 1).bit_length()
            shift = size + 127 if q >= -27 else 2 * size + 128
            bits = (1 << shift) // 5**-q + 1  # rounded up
            bits >>= max(0, bits.bit_length() - 128)
        else:
            bits = 5**q
            bits = (
                bits << (128 - bits.bit_length())
                if bits.bit_length() <= 128
                else (bits >> (bits.bit_length() - 128))
            )
        table[:, q - _LEAST] = bits >> 64, bits & _ONES
    return table


@njit(cache=True, nogil=True, forceinline=True)
def number(content: Bytes, i: Word, end: Word, powers: Words) -> tuple[Word, float, Word, int]:
    """Where a number ends, its value or its bits, and which of them it is, if any."""
    negative = uint64(i < end and content[i] == _MINUS)
    i += negative | uint64(i < end and content[i] == _PLUS)
    begin = i
    i, m = digits(content, i, end, _NOTHING)
    seen, q = i - begin, int64(0)
    if i < end and content[i] == _POINT:
        i += _ONE
        after = i
        i, m = digits(content, i, end, m)
        seen += i - after
        q = -int64(i - after)
    if seen == _NOTHING:
        return i, 0.0, _NOTHING, NOT_A_NUMBER
    last = i
    if i < end and content[i] | _SMALL == _E:
        i += _ONE
        fall = i < end and content[i] == _MINUS
        i += uint64(fall or (i < end and content[i] == _PLUS))
        first = i
        i, power = digits(content, i, end, _NOTHING)
        if i == first:
            return i, 0.0, _NOTHING, NOT_A_NUMBER
        if i - first > _NINE:
            return i, 0.0, _NOTHING, UNSETTLED
        q += -int64(power) if fall else int64(power)
    if seen > _NINETEEN:  # m may have overflowed
        bits, settled = _long(content, begin, last, q, powers)
        return i, 0.0, bits | (negative << _SIGN), BITS if settled else UNSETTLED
    if m < _EXACT and -22 <= q <= 22:  # both are doubles: one rounding (Clinger 1990)
        value = float(m) / _POWERS[-q] if q < 0 else float(m) * _POWERS[q]
        return i, -value if negative else value, _NOTHING, VALUE
    if m == _NOTHING:
        return i, 0.0, negative << _SIGN, BITS
    bits, settled = nearest_double(m, q, powers)
    return i, 0.0, bits | (negative << _SIGN), BITS if settled else UNSETTLED


@njit(cache=True, nogil=True, forceinline=True)
def digits(content: Bytes, i: Word, end: Word, m: Word) -> tuple[Word, Word]:
    """Read digits on, eight at a time: where they end, and m followed by them."""
    while i + _EIGHT <= end:
        x = eight_bytes(content, i) ^ _ZEROS  # digits are now 0 to 9
        others = (x + _LACKING | x) & _TOPS  # right up to the first that is none
        if others == uint64(0):
            m = m * _TENS[8] + _eight(x)
            i += _EIGHT
            continue
        below = (others & (~others + _ONE)) - _ONE
        n = ((below >> uint64(7) & _ONES_OF_8) * _ONES_OF_8) >> uint64(56)
        # Shifted twice, as a shift by 64 bits is not defined.
        return i + n, m * _TENS[n] + _eight(x << _ONE << (uint64(63) - _EIGHT * n))
    while i < end and content[i] - uint64(48) <= uint64(9):
        m = m * _TEN + (content[i] - uint64(48))
        i += _ONE
    return i, m


@njit(cache=True, nogil=True, forceinline=True)
def _eight(x: Word) -> Word:
    """The number of eight digits, the first in the lowest byte."""
    x = (x & uint64(0x0F0F0F0F0F0F0F0F)) * uint64(2561) >> uint64(8)
    x = (x & uint64(0x00FF00FF00FF00FF)) * uint64(6553601) >> uint64(16)
    return (x & uint64(0x0000FFFF0000FFFF)) * uint64(42949672960001) >> uint64(32)


@njit(cache=True, nogil=True)
def _long(content: Bytes, i: Word, end: Word, q: np.int64, powers: Words) -> tuple[Word, bool]:
    """As `nearest_double`, of many digits with a point among them: by the first 19 that count."""
    m, kept, dropped = uint64(0), 0, 0
    while i < end:
        digit = content[i] - _ZERO
        if digit <= _NINE:
            if kept == 19:
                dropped += 1
            else:
                m = m * _TEN + digit
                kept += m != _NOTHING
        i += _ONE
    if m == _NOTHING:
        return m, True
    bits, settled = nearest_double(m, q + dropped, powers)
    if dropped > 0 and settled:
        above, settled = nearest_double(m + _ONE, q + dropped, powers)
        settled = settled and above == bits
    return bits, settled


@njit(cache=True, nogil=True)
def nearest_double(m: Word, q: np.int64, powers: Words) -> tuple[Word, bool]:
    """The bits of the double nearest to m·10^q, and whether they are settled; m > 0."""
    if q < -342 or q > 308:
        return uint64(0), False
    w = uint64(m)
    shift = uint64(0)
    for step in (32, 16, 8, 4, 2, 1):  # to a leading one
        if w >> uint64(64 - step) == uint64(0):
            w <<= uint64(step)
            shift += uint64(step)
    at = q + 342
    low, high = _times(w, powers[0, at])
    if high & uint64(0x1FF) == uint64(0x1FF):
        _, more = _times(w, powers[1, at])
        low += more
        if more > low:
            high += uint64(1)
    if low == uint64(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return uint64(0), False
    top = high >> uint64(63)
    mantissa = high >> (top + uint64(9))
    exponent = ((217706 * q) >> 16) + 1086 + int64(top) - int64(shift)
    if exponent <= 0 or exponent >= 2046:
        return uint64(0), False
    halfway = low <= uint64(1) and -4 <= q <= 23 and mantissa & uint64(3) == uint64(1)
    if halfway and mantissa << (top + uint64(9)) == high:  # to the even one
        mantissa &= ~uint64(1)
    mantissa += mantissa & uint64(1)
    mantissa >>= uint64(1)
    if mantissa >= uint64(1) << uint64(53):
        mantissa = uint64(1) << uint64(52)
        exponent += 1
    mantissa &= ~(uint64(1) << uint64(52))
    return mantissa | (uint64(exponent) << uint64(52)), True


@njit(cache=True, nogil=True, forceinline=True)
def _times(a: Word, b: Word) -> tuple[Word, Word]:
    """The low and the high word of a product of words."""
    half, mask = uint64(32), uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & mask)
    return a * b, a1 * b1 + (middle >> half) + (other >> half)
