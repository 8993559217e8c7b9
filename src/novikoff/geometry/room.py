"""The memory that a verdict on blocks may take, and what more of it would do.

Of the memory that is allowed, the program takes its part and the blocks a quarter; the rest is
room for geometry. Rows that are selected and the engine's factors share it: a corral of k rows
of q entries takes k·(k + q) numbers, k being the rows that carry the answer, q at most. Nothing
that is p × p is ever set up in advance: what is too large shows when it is.
"""

from __future__ import annotations

import os
from typing import Final

# What the program itself takes up, libraries included.
_PROGRAM: Final = 1 << 28
# Where neither the user nor the system says how much there is.
_USUAL: Final = 1 << 32


class OutOfRoomError(Exception):
    """Something does not fit into the room there is; ``wanted`` is room in which it would."""

    def __init__(self, wanted: int) -> None:
        super().__init__(f"room for {wanted:,} bytes is wanted")
        self.wanted = wanted


class Room:
    """The bytes that a verdict may take beside the blocks themselves.

    Attributes
    ----------
    bytes : int
        All of them.
    selection : int
        The most that selected rows may take: twice that while they are put in order.
    """

    def __init__(self, max_memory: int | None) -> None:
        memory = _system_memory() // 4 if max_memory is None else max_memory
        self.bytes = max(3 * memory // 8, 3 * memory // 4 - _PROGRAM)
        self.selection = 3 * self.bytes // 8

    def beside(self, selected: int) -> int:
        """What is left for a corral, its working set and what proves a claim."""
        return 7 * self.bytes // 8 - selected

    def with_more(self, missing: int) -> int:
        """The room in which so many bytes more would be left."""
        return self.bytes + 8 * max(missing, 0) // 7


def memory_for(wanted: int) -> int:
    """The least memory that leaves so much room.

    Examples
    --------
    >>> Room(memory_for(10**9)).bytes >= 10**9 > Room(memory_for(10**9) - 8).bytes
    True
    """
    return min(-(-8 * wanted // 3), -(-4 * (wanted + _PROGRAM) // 3))


def explained(wanted: int, max_memory: int | None) -> str:
    """Why a verdict went no further, in a sentence.

    Examples
    --------
    >>> explained(10**9, 700_000_000)
    'it does not fit into 700 MB of memory; 1.7 GB would take it further'
    """
    if max_memory is None:
        return "it does not fit into a quarter of the memory; max_memory can allow it more"
    more = max(memory_for(wanted), max_memory + 1)
    return (
        f"it does not fit into {_size(max_memory)} of memory; {_size(more)} would take it further"
    )


def _size(count: int) -> str:
    """Bytes in two digits or three, rounded up."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            tenths = -(-10 * count // unit)
            return f"{tenths / 10:g} {name}" if tenths < 100 else f"{-(-tenths // 10)} {name}"
    return f"{count} bytes"


def _system_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return _USUAL
