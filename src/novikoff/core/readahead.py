"""A second thread that reads the rows to come into the cache.

One core cannot ask for data as fast as the memory can give it. The reader runs a little
ahead of the loop, in the loop's own order, and does nothing but read; so the loop's
trajectory is the sequential one by construction, only sooner.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.memory import give_way, load, store
from novikoff.core.rows import Indices, Rows

# Below this the data stays in the caches by itself.
_WORTHWHILE = 16 << 20
# How many rows before its turn the loop asks for a row.
AHEAD: Final = 16
# How far ahead to read, in bytes: beyond what the loop's own core fetches, within the cache.
_LEAD, _REACH = 128 << 10, 320 << 10
# How many vain looks at where the loop is come between two moments to let others run.
_PATIENCE: Final = 256


@contextmanager
def reading_ahead(rows: Rows, epoch: Indices, progress: Indices, threads: int) -> Iterator[None]:
    """Read ahead of a loop over ``epoch`` that publishes its position in ``progress``."""
    if threads < 2 or not out_of_cache(rows):
        yield
        return
    per_row = max(1, _rows.nbytes(rows) // _rows.count(rows))
    publish(progress, 0)
    reader = Thread(
        target=_read,
        args=(rows, epoch, progress, _LEAD // per_row + 64, _REACH // per_row + 128),
        daemon=True,
    )
    reader.start()
    try:
        yield
    finally:
        publish(progress, len(epoch))
        reader.join()


def out_of_cache(rows: Rows) -> bool:
    """Whether rows have to be fetched from memory in every epoch."""
    return _rows.nbytes(rows) >= _WORTHWHILE


@njit(cache=True, nogil=True)
def publish(progress: Indices, position: int) -> None:
    """Tell the reader where the loop is."""
    store(progress, position)


@njit(cache=True, nogil=True)
def _read(rows: Rows, epoch: Indices, progress: Indices, lead: int, reach: int) -> float:
    """Stay between ``lead`` and ``reach`` rows ahead of the loop."""
    total = 0.0
    at = idle = 0
    while True:
        position = load(progress)
        if position >= len(epoch):
            return total
        at = max(at, position + lead - lead % 64)
        if at >= position + reach or at >= len(epoch):
            idle += 1
            if idle % _PATIENCE == 0:  # the loop may be waiting for this very core
                give_way()
            continue
        end = min(at + 64, len(epoch))
        low = high = epoch[at]
        for k in range(at, end):
            low, high = min(low, epoch[k]), max(high, epoch[k])
        if high - low < 64:  # neighbours: one stretch, front to back, as memory likes it
            total += _rows.touch(rows, low, high + 1)
        else:
            for k in range(at, end):
                total += _rows.touch(rows, epoch[k], epoch[k] + 1)
        at = end
