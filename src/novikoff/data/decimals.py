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

from novikoff.core.words import (
    Address,
    Bytes,
    Word,
    byte_at,
    high_product,
    leading_zeros,
    trailing_zeros,
    word_at,
)

Words: TypeAlias = npt.NDArray[np.uint64]

# What a kernel says of a field: its value, its bits, that it cannot settle it, or neither.
VALUE: Final = 0
BITS: Final = 1
UNSETTLED: Final = 2
NOT_A_NUMBER: Final = 3

_ONE, _EIGHT, _TEN = map(np.uint64, (1, 8, 10))
_ZEROS, _LACKING, _TOPS = map(
    np.uint64, (0x3030303030303030, 0x7676767676767676, 0x8080808080808080)
)
_TENS = np.array([10**k for k in range(9)], dtype=np.uint64)
# Bytes as the kernels compare them, in unsigned arithmetic.
_ZERO, _POINT, _PLUS, _MINUS, _E = (np.uint64(ord(c)) for c in "0.+-e")
_NOTHING, _THREE, _NINE, _NINETEEN, _SMALL, _SIGN = map(np.uint64, (0, 3, 9, 19, 32, 63))
_EXACT = np.uint64(1 << 53)
_POWERS = 10.0 ** np.arange(23)
# The last k bytes of a word, after none and before all of it for words that lie elsewhere; and
# what a number of k digits after its point is divided by.
_MASKS = [0] * 16 + [(1 << 64) - (1 << 64 - 8 * k) for k in range(9)] + [(1 << 64) - 1] * 16
_LAST, _AMONG = np.array(_MASKS[16:25], dtype=np.uint64), np.array(_MASKS, dtype=np.uint64)
_SIGNED = np.concatenate([_POWERS[:9], -_POWERS[:9]])

_LEAST, _MOST = -342, 308
_LOW_WORDS = np.uint64(8 * (_MOST - _LEAST + 1))
_ONES = (1 << 64) - 1


@cache
def powers_of_five() -> Bytes:
    """The first 128 bits of 5^q for q = −342 … 308: high words, then low words, in bytes."""
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
    return table.reshape(-1).view(np.uint8)


@njit(cache=True, nogil=True, forceinline=True)
def number(text: Address, i: Word, end: Word, powers: Address) -> tuple[Word, float, Word, int]:
    """Where a number ends, its value or its bits, and which of them it is, if any."""
    negative = uint64(i < end and byte_at(text, i) == _MINUS)
    i += negative | uint64(i < end and byte_at(text, i) == _PLUS)
    begin = i
    if i + _TEN <= end and byte_at(text, i + _ONE) == _POINT and byte_at(text, i) - _ZERO <= _NINE:
        m = byte_at(text, i) - _ZERO  # one digit before the point: nothing to count
        i += _ONE
    else:
        i, m = digits(text, i, end, _NOTHING)
    seen, q = i - begin, int64(0)
    if i < end and byte_at(text, i) == _POINT:
        i += _ONE
        after = i
        i, m = digits(text, i, end, m)
        seen += i - after
        q = -int64(i - after)
    if seen == _NOTHING:
        return i, 0.0, _NOTHING, NOT_A_NUMBER
    last = i
    if i < end and byte_at(text, i) | _SMALL == _E:
        i += _ONE
        fall = i < end and byte_at(text, i) == _MINUS
        i += uint64(fall or (i < end and byte_at(text, i) == _PLUS))
        first = i
        i, power = digits(text, i, end, _NOTHING)
        if i == first:
            return i, 0.0, _NOTHING, NOT_A_NUMBER
        if i - first > _NINE:
            return i, 0.0, _NOTHING, UNSETTLED
        q += -int64(power) if fall else int64(power)
    if seen > _NINETEEN:  # m may have overflowed
        bits, settled = _long(text, begin, last, q, powers)
        return i, 0.0, bits | (negative << _SIGN), BITS if settled else UNSETTLED
    if m < _EXACT and -22 <= q <= 22:  # both are doubles: one rounding (Clinger 1990)
        whole = float(int64(m))  # for which there is an instruction
        value = whole / _POWERS[uint64(-q)] if q < 0 else whole * _POWERS[uint64(q)]
        return i, -value if negative else value, _NOTHING, VALUE
    if m == _NOTHING:
        return i, 0.0, negative << _SIGN, BITS
    bits, settled = nearest_double(m, q, powers)
    return i, 0.0, bits | (negative << _SIGN), BITS if settled else UNSETTLED


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def short_decimal(
    text: Address, begin: Word, point: Word, end: Word, has_point: Word
) -> tuple[float, bool]:
    """The value of a sign and at most eight digits, and whether that is what stands there.

    Who knows where a number ends, and where its point is (at the end, if it has none), reads it
    at once: a word that ends where it does, and one that ends a byte before and so brings the
    digits before the point up to those after it. At least nine bytes of text go before its end.
    """
    negative = uint64(byte_at(text, begin) == _MINUS)
    after = end - point - has_point
    seen = after + (point - begin - negative)
    if seen - _ONE >= _EIGHT:
        return 0.0, False
    late, all_of_it = _LAST[after], _LAST[seen]
    x = word_at(text, end - _EIGHT) & late
    x |= word_at(text, end - _EIGHT - has_point) & (all_of_it ^ late)
    x ^= _ZEROS & all_of_it
    if (x + _LACKING | x) & _TOPS != _NOTHING:
        return 0.0, False
    return float(int64(_eight(x))) / _SIGNED[after + _NINE * negative], True


@njit(cache=True, nogil=True, forceinline=True)
def long_decimal(
    text: Address, begin: Word, point: Word, end: Word, has_point: Word, powers: Address
) -> tuple[Word, bool]:
    """As `short_decimal`, of 9 to 19 digits: the bits. At least 25 bytes of text go before."""
    negative = uint64(byte_at(text, begin) == _MINUS)
    after = end - point - has_point
    seen = after + (point - begin - negative)
    if seen - _NINE > _TEN:
        return _NOTHING, False
    m, others = _NOTHING, _NOTHING
    for k in range(_THREE):
        place, to = _EIGHT * k, end - _EIGHT * (_THREE - k)
        late, all_of_it = _AMONG[after + place], _AMONG[seen + place]
        x = (word_at(text, to) & late) | (word_at(text, to - has_point) & (all_of_it ^ late))
        x ^= _ZEROS & all_of_it
        others |= x + _LACKING | x
        m = m * _TENS[8] + _eight(x)
    if others & _TOPS != _NOTHING or m == _NOTHING:
        return _NOTHING, False
    bits, settled = nearest_double(m, -int64(after), powers)
    return bits | (negative << _SIGN), settled


@njit(cache=True, nogil=True, forceinline=True)
def digits(text: Address, i: Word, end: Word, m: Word) -> tuple[Word, Word]:
    """Read digits on, eight at a time: where they end, and m followed by them."""
    while i + _EIGHT <= end:
        x = word_at(text, i) ^ _ZEROS  # digits are now 0 to 9
        others = (x + _LACKING | x) & _TOPS  # right up to the first that is none
        if others == uint64(0):
            m = m * _TENS[8] + _eight(x)
            i += _EIGHT
            continue
        n = trailing_zeros(others) >> uint64(3)
        # Shifted twice, as a shift by 64 bits is not defined.
        return i + n, m * _TENS[n] + _eight(x << _ONE << (uint64(63) - _EIGHT * n))
    while i < end and byte_at(text, i) - uint64(48) <= uint64(9):
        m = m * _TEN + (byte_at(text, i) - uint64(48))
        i += _ONE
    return i, m


@njit(cache=True, nogil=True, forceinline=True)
def _eight(x: Word) -> Word:
    """The number of eight digits, the first in the lowest byte."""
    x = (x & uint64(0x0F0F0F0F0F0F0F0F)) * uint64(2561) >> uint64(8)
    x = (x & uint64(0x00FF00FF00FF00FF)) * uint64(6553601) >> uint64(16)
    return (x & uint64(0x0000FFFF0000FFFF)) * uint64(42949672960001) >> uint64(32)


@njit(cache=True, nogil=True)
def _long(text: Address, i: Word, end: Word, q: np.int64, powers: Address) -> tuple[Word, bool]:
    """As `nearest_double`, of many digits with a point among them: by the first 19 that count."""
    m, kept, dropped = uint64(0), 0, 0
    while i < end:
        digit = byte_at(text, i) - _ZERO
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
def nearest_double(m: Word, q: np.int64, powers: Address) -> tuple[Word, bool]:
    """The bits of the double nearest to m·10^q, and whether they are settled; m > 0."""
    if q < _LEAST or q > _MOST:
        return uint64(0), False
    shift = leading_zeros(m)
    w = uint64(m) << shift
    at = _EIGHT * uint64(q - _LEAST)
    five = word_at(powers, at)
    low, high = w * five, high_product(w, five)
    if high & uint64(0x1FF) == uint64(0x1FF):
        more = high_product(w, word_at(powers, at + _LOW_WORDS))
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
