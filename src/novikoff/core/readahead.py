"""A second thread that reads the rows to come into the cache.

One core cannot ask for data as fast as the memory can give it. The reader runs a little
ahead of the loop, in the loop's own order, and does nothing but read; so the loop's
trajectory is the sequential one by construction, only sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Protocol, TypeAlias, cast

from llvmlite import ir
from numba import njit, types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from novikoff.core import rows as _rows
from novikoff.core.rows import Indices, Rows

# Below this the data stays in the caches by itself.
_WORTHWHILE = 16 << 20
# How far ahead to read, in bytes: beyond what the loop's own core fetches, within the cache.
_LEAD, _REACH = 192 << 10, 448 << 10


@contextmanager
def reading_ahead(rows: Rows, epoch: Indices, progress: Indices, threads: int) -> Iterator[None]:
    """Read ahead of a loop over ``epoch`` that publishes its position in ``progress``."""
    if threads < 2 or _rows.nbytes(rows) < _WORTHWHILE:
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


class _Array(Protocol):
    data: ir.Value


class _Context(Protocol):
    """What the code below asks of Numba's code generator."""

    def make_array(self, kind: types.Type) -> Callable[..., _Array]: ...

    def get_dummy_value(self) -> ir.Value: ...


_Code: TypeAlias = Callable[[_Context, ir.IRBuilder, Signature, list[ir.Value]], ir.Value]


def _typed_load(_: object, array: types.Array) -> tuple[Signature, _Code]:
    """array[0], read atomically: the compiler may not move it out of a loop."""

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(data, "acquire", 8)

    return types.int64(array), generate


def _typed_store(_: object, array: types.Array, value: types.Integer) -> tuple[Signature, _Code]:
    """array[0] ← value, written atomically."""

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store_atomic(args[1], data, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


_load = cast(Callable[[Indices], int], intrinsic(_typed_load))
_store = cast(Callable[[Indices, int], None], intrinsic(_typed_store))


@njit(cache=True, nogil=True)
def publish(progress: Indices, position: int) -> None:
    """Tell the reader where the loop is."""
    _store(progress, position)


@njit(cache=True, nogil=True)
def _read(rows: Rows, epoch: Indices, progress: Indices, lead: int, reach: int) -> float:
    """Stay between ``lead`` and ``reach`` rows ahead of the loop."""
    total = 0.0
    at = 0
    while True:
        position = _load(progress)
        if position >= len(epoch):
            return total
        at = max(at, position + lead - lead % 64)
        if at >= position + reach or at >= len(epoch):
            continue
        group = epoch[at : at + 64]
        low, high = group.min(), group.max()
        if high - low < 64:  # neighbours: one stretch, front to back, as memory likes it
            total += _rows.touch(rows, low, high + 1)
        else:
            for i in group:
                total += _rows.touch(rows, i, i + 1)
        at += 64
