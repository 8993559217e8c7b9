"""Columns that lie apart, written into the rows of a matrix."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint64

from novikoff.core.memory import number_at

Words: TypeAlias = npt.NDArray[np.uint64]

_ROWS = np.uint64(256)  # at a time: they stay in the cache while each column is written


@njit(cache=True, nogil=True)
def interleave(
    addresses: Words, places: Words, X: npt.NDArray[np.float32] | npt.NDArray[np.float64]
) -> bool:
    """Write columns to their places in X, and say whether all of their numbers are finite.

    Each column has as many numbers as X has rows, of its type.
    """
    n, m, first, odd = uint64(len(X)), uint64(len(addresses)), uint64(0), False
    while first < n:
        last = min(first + _ROWS, n)
        for k in range(m):
            address = addresses[k]
            for i in range(first, last):
                odd |= not (abs(number_at(address, uint64(i), X)) < inf)
        for k in range(m):
            address, place = addresses[k], places[k]
            for i in range(first, last):
                X[i, place] = number_at(address, uint64(i), X)
        first = last
    return not odd
