"""Decimal text to the nearest double, exactly as Python's ``float`` reads it, in a kernel.

Decimals of up to 19 digits are m·10^q with whole m < 2^64. Lemire's method (2021) multiplies m
by the first 128 bits of 5^q, which settles the 53 bits of the double but for its rarest cases;
those, longer decimals, and numbers beyond the normal range are left to the caller.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit, uint64

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]

# What a kernel says of a field that it cannot settle.
NOT_A_NUMBER: Final = -1
UNSETTLED: Final = -2

_LEAST, _MOST = -342, 308
_ONES = (1 << 64) - 1


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
            bits = bits << (128 - bits.bit_length()) if bits.bit_length() <= 128 else (
                bits >> (bits.bit_length() - 128)
            )
        table[:, q - _LEAST] = bits >> 64, bits & _ONES
    return table


@njit(cache=True, nogil=True, inline="always")
def nearest_double(m: int, q: int, powers: Words) -> tuple[int, bool]:
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
    exponent = ((217706 * q) >> 16) + 63 + int(top) - int(shift) + 1023
    if exponent <= 0 or exponent >= 2046:
        return uint64(0), False
    if low <= uint64(1) and -4 <= q <= 23 and mantissa & uint64(3) == uint64(1):
        if mantissa << (top + uint64(9)) == high:  # halfway: to the even one
            mantissa &= ~uint64(1)
    mantissa += mantissa & uint64(1)
    mantissa >>= uint64(1)
    if mantissa >= uint64(1) << uint64(53):
        mantissa = uint64(1) << uint64(52)
        exponent += 1
    mantissa &= ~(uint64(1) << uint64(52))
    return mantissa | (uint64(exponent) << uint64(52)), True


@njit(cache=True, nogil=True, inline="always")
def _times(a: int, b: int) -> tuple[int, int]:
    """The low and the high word of a product of words."""
    half, mask = uint64(32), uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & mask)
    return a * b, a1 * b1 + (middle >> half) + (other >> half)
