"""Columns that lie apart, written into the rows of a matrix."""

from __future__ import annotations

from math import inf

import numpy as np
from numba import njit
from numpy import float64, uint64

from novikoff.core.memory import Words, number_at, turn
from novikoff.core.rows import Floats, Vector

_ONE, _TWO, _THREE, _FOUR = map(np.uint64, (1, 2, 3, 4))
_ROWS = np.uint64(64)  # so many stay in the cache while their columns are read and written


@njit(cache=True, nogil=True)
def interleave(addresses: Words, places: Words, X: Floats) -> float:
    """Write columns to their places in X; the answer is their largest sum of squares in a row.

    It is infinite where one is, or where a number is not finite. Each column has as many numbers
    as X has rows, of its type; places ascend.
    """
    n, first, most, sums = uint64(len(X)), uint64(0), 0.0, np.empty(_ROWS)
    while first < n:
        last = min(first + _ROWS, n)
        most = max(most, _largest_square(addresses, X, first, last, sums))
        _write(addresses, places, X, first, last)
        first = last
    return most


@njit(cache=True, nogil=True, fastmath={"contract"})
def _largest_square(
    addresses: Words, X: Floats, first: np.uint64, last: np.uint64, sums: Vector
) -> float:
    """The largest sum of squares in some rows of columns, four of which are taken at once."""
    k, m, size = uint64(0), uint64(len(addresses)), last - first
    sums[:] = 0.0
    while k + _THREE < m:
        a, b = addresses[k], addresses[k + _ONE]
        c, d = addresses[k + _TWO], addresses[k + _THREE]
        for r in range(size):
            i = first + uint64(r)
            p, q = float64(number_at(a, i, X)), float64(number_at(b, i, X))
            s, t = float64(number_at(c, i, X)), float64(number_at(d, i, X))
            sums[uint64(r)] += (p * p + q * q) + (s * s + t * t)
        k += _FOUR
    while k < m:
        a = addresses[k]
        for r in range(size):
            p = float64(number_at(a, first + uint64(r), X))
            sums[uint64(r)] += p * p
        k += _ONE
    most, odd = 0.0, False
    for sq in sums:
        most, odd = max(most, sq), odd | (not sq < inf)
    return inf if odd else most


@njit(cache=True, nogil=True)
def _write(addresses: Words, places: Words, X: Floats, first: np.uint64, last: np.uint64) -> None:
    """Write some rows. Where places follow each other, squares of numbers are turned in registers.

    The last of these squares is turned once more in part.
    """
    done, m, side = uint64(0), uint64(len(addresses)), uint64(32 // X.itemsize)
    while done < m:
        i, end = first, min(done + side, m)
        begin = end - min(side, end)
        if end - begin == side and places[end - _ONE] - places[begin] == side - _ONE:
            while i + side <= last:
                turn(addresses, begin, i, X, places[begin])
                i += side
        for k in range(done, end):
            address, place = addresses[k], places[k]
            for r in range(i, last):
                X[r, place] = number_at(address, uint64(r), X)
        done = end
