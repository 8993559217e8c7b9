"""Where the marks of a text are: what separates its fields, sixty-four bytes at a time.

Who reads a number byte by byte knows only at its end where the next one begins. With all marks
at hand the numbers are independent of each other, and a machine reads several at once.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint32

from novikoff.core.words import Address, Word, equal_bytes, ones, trailing_zeros

Marks: TypeAlias = npt.NDArray[np.uint32]

_STRETCH, _BLOCK = np.uint64(1 << 13), np.uint64(64)
_NOTHING, _ONE, _EIGHT = map(np.uint64, (0, 1, 8))
ROOM: Final = (1 << 13) + 64


@njit(cache=True, nogil=True)
def find_marks(text: Address, i: Word, end: Word, a: Word, b: Word, c: Word, found: Marks) -> Word:
    """How many of three bytes there are from i on, and in ``found`` how far from i they are.

    It looks at whole blocks within the text, as many as the room for them allows: there may be
    none, and the last marks before the end are mostly left to the caller.
    """
    n, at, most = _NOTHING, _NOTHING, min(_STRETCH, end - i)
    while at + _BLOCK <= most:
        here = i + at
        marks = equal_bytes(text, here, a) | equal_bytes(text, here, b) | equal_bytes(text, here, c)
        many, k = ones(marks), _NOTHING
        while k < many:  # eight at a time: their number alone would be guessed wrong too often
            for j in range(_EIGHT):
                found[n + k + j] = uint32(at + trailing_zeros(marks))
                marks &= marks - _ONE
            k += _EIGHT
        n += many
        at += _BLOCK
    return n
