"""Doubles to the shortest decimal that is read as the same double, in a kernel.

Giulietti's Schubfach (2020): of the decimals between a double and its neighbours, one with the
fewest digits, and of those the nearest. Three products with 128 bits of a power of ten settle it;
no case is left over.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int64, uint64

Bytes: TypeAlias = npt.NDArray[np.uint8]
Word: TypeAlias = np.uint64
Words: TypeAlias = npt.NDArray[np.uint64]

LONGEST: Final = 25  # characters of a number, with room for what stands behind it

_LEAST, _MOST = -292, 324
_NOTHING, _ONE, _TWO, _FOUR, _TEN, _FORTY, _HUNDRED = map(np.uint64, (0, 1, 2, 4, 10, 40, 100))
_HALF, _MASK, _HIDDEN = map(np.uint64, (32, 0xFFFFFFFF, 1 << 52))
_MANY = np.uint64(10**8)
_POINT, _MINUS, _E, _ZERO = (np.uint8(ord(c)) for c in ".-e0")
_PAIRS = np.frombuffer("".join(f"{k:02}" for k in range(100)).encode(), dtype=np.uint8)
_TENS = np.array([10**k for k in range(20)], dtype=np.uint64)


@cache
def powers_of_ten() -> Words:
    """The first 128 bits of 10^k, rounded up, for k = −292 … 324: high words, then low words."""
    table = np.empty((2, _MOST - _LEAST + 1), dtype=np.uint64)
    for k in range(_LEAST, _MOST + 1):
        shift = 127 - ((k * 1741647) >> 19)  # 10^k·2^shift has 128 bits
        above, below = 10 ** max(k, 0) << max(shift, 0), 10 ** max(-k, 0) << max(-shift, 0)
        bits = -(-above // below)
        table[:, k - _LEAST] = bits >> 64, bits & ((1 << 64) - 1)
    return table


@njit(cache=True, nogil=True)
def put_number(bits: Word, powers: Words, out: Bytes, at: Word) -> Word:
    """Write the double of these bits, which is finite; where it ends."""
    if bits >> uint64(63) != _NOTHING:
        out[at] = _MINUS
        at += _ONE
        bits &= ~(_ONE << uint64(63))
    if bits == _NOTHING:
        out[at] = _ZERO
        return at + _ONE
    m, k = _shortest(bits, powers)
    if k != 0:
        while m % _MANY == _NOTHING:
            m //= _MANY
            k += 8
        while m % _TEN == _NOTHING:
            m //= _TEN
            k += 1
    n = _ONE
    while n < uint64(18) and _TENS[n] <= m:
        n += _ONE
    point = int64(n) + k  # digits before the point
    if k >= 0 and point <= 17:
        at = _put_digits(m, n, out, at)
        for _ in range(k):
            out[at] = _ZERO
            at += _ONE
        return at
    if 0 < point <= 17:
        after = int64(n) - point
        whole = m // _TENS[after]
        at = _put_digits(whole, uint64(point), out, at)
        out[at] = _POINT
        return _put_digits(m - whole * _TENS[after], uint64(after), out, at + _ONE)
    if point <= 0 and int64(n) - point < 19:  # readers like no more than 19 digits
        out[at] = _ZERO
        out[at + _ONE] = _POINT
        at += _TWO
        for _ in range(-point):
            out[at] = _ZERO
            at += _ONE
        return _put_digits(m, n, out, at)
    return _put_scientific(m, n, point - 1, out, at)


@njit(cache=True, nogil=True, forceinline=True)
def _put_scientific(m: Word, n: Word, power: np.int64, out: Bytes, at: Word) -> Word:
    """One digit, the point, the others, and the power of ten."""
    lead = m // _TENS[n - _ONE]
    out[at] = np.uint8(lead) + _ZERO
    at += _ONE
    if n > _ONE:
        out[at] = _POINT
        at = _put_digits(m - lead * _TENS[n - _ONE], n - _ONE, out, at + _ONE)
    out[at] = _E
    at += _ONE
    if power < 0:
        out[at] = _MINUS
        at += _ONE
    size = uint64(abs(power))
    return _put_digits(size, _ONE + uint64(size >= _TEN) + uint64(size >= _HUNDRED), out, at)


@njit(cache=True, nogil=True, forceinline=True)
def _put_digits(m: Word, n: Word, out: Bytes, at: Word) -> Word:
    """Write the last n digits of m, two at a time from the end."""
    end = at + n
    place = end
    while place > at + _ONE:
        rest = m // _HUNDRED
        pair = (m - rest * _HUNDRED) * _TWO
        place -= _TWO
        out[place] = _PAIRS[pair]
        out[place + _ONE] = _PAIRS[pair + _ONE]
        m = rest
    if place > at:
        out[at] = np.uint8(m % _TEN) + _ZERO
    return end


@njit(cache=True, nogil=True)
def _shortest(bits: Word, powers: Words) -> tuple[Word, np.int64]:
    """The whole m and the k whose m·10^k is read as the positive double of these bits."""
    fraction, exponent = bits & (_HIDDEN - _ONE), int64(bits >> uint64(52))
    c, q = fraction, int64(-1074)
    if exponent != 0:
        c, q = fraction | _HIDDEN, exponent - 1075
        if -53 < q <= 0 and c & ((_ONE << uint64(-q)) - _ONE) == _NOTHING:
            return c >> uint64(-q), int64(0)  # a whole number
    odd = c & _ONE
    closer = uint64(fraction == _NOTHING and exponent > 1)  # the neighbour below is
    k = (q * 1262611 - (524031 if closer else 0)) >> 22
    h = uint64(q + ((-k * 1741647) >> 19) + 1)
    high, low = powers[0, -k + 292], powers[1, -k + 292]
    middle = _FOUR * c
    lower = _to_odd(high, low, (middle - _TWO + closer) << h) + odd
    value = _to_odd(high, low, middle << h)
    upper = _to_odd(high, low, (middle + _TWO) << h) - odd
    s = value // _FOUR
    if s >= _TEN:
        tens = s // _TEN
        below, above = lower <= _FORTY * tens, _FORTY * tens + _FORTY <= upper
        if below != above:
            return tens + uint64(above), k + 1
    below, above = lower <= _FOUR * s, _FOUR * s + _FOUR <= upper
    if below != above:
        return s + uint64(above), k
    half = _FOUR * s + _TWO
    return s + uint64(value > half or (value == half and s & _ONE == _ONE)), k


@njit(cache=True, nogil=True, forceinline=True)
def _to_odd(high: Word, low: Word, c: Word) -> Word:
    """The first 64 bits of a product with 128, the last of them 1 if others follow."""
    _, carry = _times(low, c)
    y0, y1 = _times(high, c)
    y0 += carry
    y1 += uint64(y0 < carry)
    return y1 | uint64(y0 > _ONE)


@njit(cache=True, nogil=True, forceinline=True)
def _times(a: Word, b: Word) -> tuple[Word, Word]:
    """The low and the high word of a product of words."""
    a0, a1, b0, b1 = a & _MASK, a >> _HALF, b & _MASK, b >> _HALF
    middle = a1 * b0 + (a0 * b0 >> _HALF)
    other = a0 * b1 + (middle & _MASK)
    return a * b, a1 * b1 + (middle >> _HALF) + (other >> _HALF)
