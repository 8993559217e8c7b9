"""One row against sixteen vectors of weights at once, in single precision.

``products(values, columns, first, last, bias, lines, start, bars, out)`` sums, for sixteen
vectors side by side, bias·line_p + Σ value_j·line(column_j) over entries first, …, last − 1,
where a line is sixteen neighbouring float32. The sums go to ``out``; returned is a word whose
bit k is set unless out[k] < bars[k] is certain: NaN sets it. Lines are counted from ``start``,
and the last of them, ``start`` + p, is the bias. Without ``columns`` (None) entry j meets line
j − first.

The compiler keeps the sums in registers, which it does not find out by itself; hence the
code is spelled out here.
"""

from __future__ import annotations

from collections.abc import Callable
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
        """total + value_j·line(column_j)."""
        build = self.builder
        value = build.load(build.gep(self.values, [j]))
        column = build.sub(j, self.first)
        if self.columns is not None:
            column = build.load(build.gep(self.columns, [j]))
            if column.type != _WORD:
                column = build.zext(column, _WORD)
        return self.plus(total, value, build.gep(lines, [column]))

    def plus(self, total: ir.Value, value: ir.Value, line: ir.Value) -> ir.Value:
        """total + value·line."""
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
        self, totals: list[ir.Value], begin: ir.Value, end: ir.Value, lines: ir.Value
    ) -> list[ir.Value]:
        """Add terms begin, …, end − 1 to the totals in turn; their number must divide evenly."""
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
    start: types.Integer,
    p: types.Integer,
    bars: types.Array,
    out: types.Array,
) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        def address(k: int) -> ir.Value:
            return context.make_array(signature.args[k])(context, builder, args[k]).data

        def as_lines(k: int) -> ir.Value:
            return builder.bitcast(address(k), _LINE.as_pointer())

        begin, end, block = args[2], args[3], builder.gep(as_lines(5), [args[6]])
        sparse = isinstance(signature.args[1], types.Array)
        row = _Row(builder, address(0), address(1) if sparse else None, begin)
        whole = builder.sub(end, builder.urem(builder.sub(end, begin), _WORD(_CHAINS)))
        zero = ir.Constant(_LINE, [0.0] * LANES)
        bias_line = builder.gep(block, [builder.sub(args[7], _WORD(1))])
        total = row.plus(zero, args[4], bias_line)
        sums = row.sum_up([total] + [zero] * (_CHAINS - 1), begin, whole, block)
        total = sums[0]
        for other in sums[1:]:
            total = builder.fadd(total, other, flags=_LOOSE)
        (total,) = row.sum_up([total], whole, end, block)
        builder.store(total, as_lines(9), align=4)
        open_ = builder.fcmp_unordered(">=", total, builder.load(as_lines(8), align=4))
        return builder.zext(builder.bitcast(open_, ir.IntType(LANES)), _WORD)

    word = types.uint64
    return word(values, columns, word, word, types.float64, lines, word, word, bars, out), generate


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
            np.uint64,
            Singles,
            Singles,
        ],
        np.uint64,
    ],
    intrinsic(_typed_products),
)
