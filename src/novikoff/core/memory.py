"""Memory, where its speed matters: alignment, and six instructions for use in kernels.

``load(array)`` and ``store(array, value)`` read and write array[0] in one piece, where
another thread looks on; ``prefetch(array, offset)`` asks for a cache line before it is needed
and changes nothing; ``number_at(address, k, like)`` reads the k-th number of the type of an array
``like`` from an address, so that a kernel can go through as many arrays as there are without a
type of its own; ``turn(addresses, k, i, X, place)`` writes a square of such numbers, those of the
k-th address and the next ones in rows i and on, to X from X[i, place] on: as many as 32 bytes hold;
``give_way()`` lets another thread that waits for this core have it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic


def aligned_zeros(shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """A matrix of zeros that begins with a cache line, so that its rows touch fewer of them.

    >>> aligned_zeros((2, 3)).ctypes.data % 64
    0
    """
    size = 8 * shape[0] * shape[1]
    buffer = np.zeros(size + 64, dtype=np.uint8)
    offset = -buffer.ctypes.data % 64
    return buffer[offset : offset + size].view(np.float64).reshape(shape)


class _Array(Protocol):
    data: ir.Value
    strides: ir.Value


class _Context(Protocol):
    """What the code below asks of Numba's code generator."""

    def make_array(self, kind: types.Type) -> Callable[..., _Array]: ...

    def get_dummy_value(self) -> ir.Value: ...

    def get_value_type(self, kind: types.Type) -> ir.Type: ...


Words: TypeAlias = npt.NDArray[np.uint64]
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


def _typed_prefetch(
    _: object, array: types.Array, offset: types.Integer
) -> tuple[Signature, _Code]:
    """Ask for the cache line of entry ``offset``, counted from the first, of array."""

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(instruction, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _typed_number_at(
    _: object, address: types.Integer, offset: types.Integer, like: types.Array
) -> tuple[Signature, _Code]:
    """The number at an entry behind an address; there must be one."""

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        kind = context.get_value_type(signature.return_type).as_pointer()
        return builder.load(builder.gep(builder.inttoptr(args[0], kind), [args[1]]))

    return like.dtype(types.uint64, types.uint64, like), generate


def _typed_turn(
    _: object,
    addresses: types.Array,
    k: types.Integer,
    i: types.Integer,
    X: types.Array,
    place: types.Integer,
) -> tuple[Signature, _Code]:
    """Write a square of numbers, of columns k, … in rows i, …, to X from X[i, place] on."""
    side = {"float32": 8, "float64": 4}[str(X.dtype)]

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        number = context.get_value_type(signature.args[3].dtype)
        word, row = ir.IntType(64), ir.VectorType(number, side)
        size = 32 // side
        columns = context.make_array(signature.args[0])(context, builder, args[0]).data
        matrix = context.make_array(signature.args[3])(context, builder, args[3])
        rows = []
        for j in range(side):
            address = builder.load(builder.gep(columns, [builder.add(args[1], word(j))]))
            begin = builder.add(address, builder.mul(args[2], word(size)))
            rows.append(builder.load(builder.inttoptr(begin, row.as_pointer()), align=size))
        for step in [1 << s for s in range(side.bit_length() - 1)]:
            rows = _crossed(builder, rows, step)
        stride = builder.extract_value(matrix.strides, 0)
        first = builder.add(builder.ptrtoint(matrix.data, word), builder.mul(args[2], stride))
        first = builder.add(first, builder.mul(args[4], word(size)))
        for j, line in enumerate(rows):
            begin = builder.add(first, builder.mul(stride, word(j)))
            builder.store(line, builder.inttoptr(begin, row.as_pointer()), align=size)
        return context.get_dummy_value()

    unsigned = types.uint64
    return types.void(addresses, unsigned, unsigned, X, unsigned), generate


def _crossed(builder: ir.IRBuilder, rows: list[ir.Value], step: int) -> list[ir.Value]:
    """Exchange what stands off the diagonal in squares of twice the step's side."""
    side, found = len(rows), list(rows)
    lanes = ir.VectorType(ir.IntType(32), side)
    upper = [j if not j & step else side + j - step for j in range(side)]
    lower = [j + step if not j & step else side + j for j in range(side)]
    for j in range(side):
        if not j & step:
            a, b = rows[j], rows[j + step]
            found[j] = builder.shuffle_vector(a, b, ir.Constant(lanes, upper))
            found[j + step] = builder.shuffle_vector(a, b, ir.Constant(lanes, lower))
    return found


def _typed_give_way(_: object) -> tuple[Signature, _Code]:
    """Ask the system to run whatever else is ready on this core."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        kind = ir.FunctionType(ir.IntType(32), [])
        module = builder.module
        call = module.globals.get(name) or ir.Function(module, kind, name=name)
        builder.call(call, [])
        return context.get_dummy_value()

    return types.void(), generate


load = cast(Callable[[npt.NDArray[np.int64]], int], intrinsic(_typed_load))
store = cast(Callable[[npt.NDArray[np.int64], int], None], intrinsic(_typed_store))
prefetch = cast(Callable[[npt.NDArray[np.generic], int], None], intrinsic(_typed_prefetch))
number_at = cast(
    Callable[[np.uint64, np.uint64, npt.NDArray[np.floating]], float], intrinsic(_typed_number_at)
)
turn = cast(
    Callable[[Words, np.uint64, np.uint64, npt.NDArray[np.floating], np.uint64], None],
    intrinsic(_typed_turn),
)
give_way = cast(Callable[[], None], intrinsic(_typed_give_way))
