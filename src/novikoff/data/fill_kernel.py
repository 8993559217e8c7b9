"""Columns that lie apart, written into the rows of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic
from numpy import uint64

from novikoff.core.memory import number_at

Words: TypeAlias = npt.NDArray[np.uint64]
Matrix: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

_ONE, _ROWS = (
    np.uint64(1),
    np.uint64(256),
)  # at a time: they stay in the cache while each column is written
_SIDE: dict[str, int] = {"float32": 8, "float64": 4}  # numbers in a register of 32 bytes


class _Array(Protocol):
    data: ir.Value
    strides: ir.Value


class _Context(Protocol):
    """What the code below asks of Numba's code generator."""

    def make_array(self, kind: types.Type) -> Callable[..., _Array]: ...

    def get_dummy_value(self) -> ir.Value: ...

    def get_value_type(self, kind: types.Type) -> ir.Type: ...


_Code: TypeAlias = Callable[[_Context, ir.IRBuilder, Signature, list[ir.Value]], ir.Value]


def _typed_turn(
    _: object,
    addresses: types.Array,
    k: types.Integer,
    i: types.Integer,
    X: types.Array,
    place: types.Integer,
) -> tuple[Signature, _Code]:
    """Write a square of numbers, of columns k, … in rows i, …, to X from X[i, place] on."""
    side = _SIDE[str(X.dtype)]

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


_turn = cast(
    Callable[[Words, np.uint64, np.uint64, Matrix, np.uint64], None], intrinsic(_typed_turn)
)


@njit(cache=True, nogil=True)
def interleave(addresses: Words, places: Words, X: Matrix) -> bool:
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
                    _turn(addresses, begin, i, X, places[begin])
                    i += side
            for k in range(done, end):
                address, place = addresses[k], places[k]
                for r in range(i, last):
                    X[r, place] = number_at(address, uint64(r), X)
            done = end
        first = last
    return not odd
