"""Columns that lie apart, written into the rows of a matrix."""

from __future__ import annotations

from math import inf

import numpy as np
from numba import njit
from numpy import uint64

from novikoff.core.memory import Words, number_at, turn
from novikoff.core.rows import Floats

_ONE, _ROWS = np.uint64(1), np.uint64(256)  # so many stay in the cache while columns are written


@njit(cache=True, nogil=True)
def interleave(addresses: Words, places: Words, X: Floats) -> bool:
    """Write columns to their places in X, and say whether all of their numbers are finite.

    Each column has as many numbers as X has rows, of its type; places ascend. Where they follow
    each other, squares of numbers are turned in registers, the last of them once more in part.
    """
    n, m, first, odd = uint64(len(X)), uint64(len(addresses)), uint64(0), False
    side = uint64(32 // X.itemsize)
    while first < n:
        last = min(first + _ROWS, n)
        for column in addresses:
            for r in range(first, last):
                odd |= not (abs(number_at(column, uint64(r), X)) < inf)
        done = uint64(0)
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
        first = last
    return not odd
