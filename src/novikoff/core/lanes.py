"""One row against sixteen vectors of weights at once, in single precision.

``products(values, columns, first, last, bias, lines, block, bars, out)`` is for use in kernels.
A line is sixteen neighbouring float32, one for each vector; lines[block, j] has their
weights of column j, the last line their biases. Entries first, …, last − 1 of ``values`` are a
row, ``columns`` their columns; for a dense row it is None. Then out[k] is the product with
vector k, and bit k of the word that is returned is set unless out[k] < bars[block, k].

The compiler does not find out by itself that the sums can stay in registers; so the
instructions are spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from novikoff.core.rows import Floats, Unsigned

LANES: Final = 16
Singles: TypeAlias = npt.NDArray[np.float32]

_FLOAT, _WORD, _HALF = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_LINE = ir.VectorType(_FLOAT, LANES)
# Chains of additions that hide each other's latency.
_CHAINS = 2
_LOOSE = ("reassoc", "contract")


class _Array(Protocol):
    data: ir.Value
    shape: ir.Value


class _Context(Protocol):
    """What the code below asks of Numba's code generator."""

    def make_array(self, kind: types.Type) -> Callable[..., _Array]: ...


_Code: TypeAlias = Callable[[_Context, ir.IRBuilder, Signature, list[ir.Value]], ir.Value]


class _Row:
    """The entries of a row and the lines they meet, as instructions."""

    def __init__(
        self, builder: ir.IRBuilder, values: ir.Value, columns: ir.Value | None, first: ir.Value
    ) -> None:
        self.builder, self.values, self.columns, self.first = builder, values, columns, first

    def plus_term(self, total: ir.Value, j: ir.Value, lines: ir.Value) -> ir.Value:
        """Total + value_j·line(column_j)."""
        build = self.builder
        value = build.load(build.gep(self.values, [j]), align=4)
        column = build.sub(j, self.first)
        if self.columns is not None:
            column = build.load(build.gep(self.columns, [j]), align=4)
            if column.type != _WORD:
                column = build.zext(column, _WORD)
        return self.plus(total, value, build.gep(lines, [column]))

    def plus(self, total: ir.Value, value: ir.Value, line: ir.Value) -> ir.Value:
        """Total + value·line."""
        build = self.builder
        if value.type != _FLOAT:
            value = build.fptrunc(value, _FLOAT)
        nothing = ir.Constant(_LINE, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(_HALF, LANES), [0] * LANES)
        spread = build.insert_element(nothing, value, _HALF(0))
        spread = build.shuffle_vector(spread, nothing, everywhere)
        product = build.fmul(spread, build.load(line, align=4 * LANES), flags=_LOOSE)
        return build.fadd(total, product, flags=_LOOSE)

    def sum_up(
        self, totals: Sequence[ir.Value], begin: ir.Value, end: ir.Value, lines: ir.Value
    ) -> Sequence[ir.Value]:
        """Add terms begin, …, end − 1 to the totals in turn, as many to each as to the others."""
        build = self.builder
        before = build.block
        head, body = build.append_basic_block("head"), build.append_basic_block("body")
        after = build.append_basic_block("after")
        build.branch(head)
        build.position_at_end(head)
        j = build.phi(_WORD)
        j.add_incoming(begin, before)
        sums = [build.phi(_LINE) for _ in totals]
        for running, total in zip(sums, totals, strict=True):
            running.add_incoming(total, before)
        build.cbranch(build.icmp_unsigned("<", j, end), body, after)
        build.position_at_end(body)
        for k, running in enumerate(sums):
            running.add_incoming(self.plus_term(running, build.add(j, _WORD(k)), lines), body)
        j.add_incoming(build.add(j, _WORD(len(totals))), body)
        build.branch(head)
        build.position_at_end(after)
        return sums


def _typed_products(
    _: object,
    values: types.Array,
    columns: types.Array | types.NoneType,
    first: types.Integer,
    last: types.Integer,
    bias: types.Float,
    lines: types.Array,
    block: types.Integer,
    bars: types.Array,
    out: types.Array,
) -> tuple[Signature, _Code]:
    """The code of `products`; NaN sets a bit, too."""

    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        def array(k: int) -> _Array:
            return context.make_array(signature.args[k])(context, builder, args[k])

        def as_lines(k: int) -> ir.Value:
            return builder.bitcast(array(k).data, _LINE.as_pointer())

        begin, end, at = args[2], args[3], args[6]
        height = builder.extract_value(array(5).shape, 1)
        weights = builder.gep(as_lines(5), [builder.mul(at, height)])
        sparse = isinstance(signature.args[1], types.Array)
        row = _Row(builder, array(0).data, array(1).data if sparse else None, begin)
        whole = builder.sub(end, builder.urem(builder.sub(end, begin), _WORD(_CHAINS)))
        zero = ir.Constant(_LINE, [0.0] * LANES)
        biases = builder.gep(weights, [builder.sub(height, _WORD(1))])
        total = row.plus(zero, args[4], biases)
        sums = row.sum_up([total] + [zero] * (_CHAINS - 1), begin, whole, weights)
        total = sums[0]
        for other in sums[1:]:
            total = builder.fadd(total, other, flags=_LOOSE)
        (total,) = row.sum_up([total], whole, end, weights)
        builder.store(total, as_lines(8), align=4)
        limits = builder.load(builder.gep(as_lines(7), [at]), align=4)
        word = builder.bitcast(builder.fcmp_unordered(">=", total, limits), ir.IntType(LANES))
        return builder.zext(word, _WORD)

    word = types.uint64
    return word(values, columns, word, word, types.float64, lines, word, bars, out), generate


products = cast(
    Callable[
        [
            Floats,
            Unsigned | None,
            np.uint64,
            np.uint64,
            float,
            Singles,
            np.uint64,
            Singles,
            Singles,
        ],
        np.uint64,
    ],
    intrinsic(_typed_products),
)
