"""Bytes and words of 64 bits in kernels that read text.

A kernel that hands an array to another, even one that is inlined, mostly counts references to it,
which costs more than to read a number. So text goes by its address: ``address_of(content)`` of an
array of bytes, which its caller keeps; ``byte_at(text, i)`` and ``word_at(text, i)``, eight bytes
of which the first is the lowest, read from it. Nobody looks whether i is within the text but the
kernel itself. With NUMBA_BOUNDSCHECK=1 the address is the array, and Numba looks at every byte.

``equal_bytes(text, i, byte)`` has a bit for each of the 64 bytes from i on that are this one, the
first byte's the lowest: two or four instructions of a machine with wide registers.

``leading_zeros(word)`` and ``trailing_zeros(word)`` are 64 for zero; ``high_product(a, b)`` is the
upper half of a product, whose lower half is a·b; ``ones(word)`` counts the bits that are set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config, njit, types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Word: TypeAlias = np.uint64
Address: TypeAlias = np.uint64

_BYTE, _WORD, _WIDE = ir.IntType(8), ir.IntType(64), ir.IntType(128)
_BYTES, _ALIKE = ir.VectorType(_BYTE, 64), ir.VectorType(ir.IntType(32), 64)


class _Array(Protocol):
    data: ir.Value


class _Context(Protocol):
    """What the code below asks of Numba's code generator."""

    def make_array(self, kind: types.Type) -> Callable[..., _Array]: ...


_Code: TypeAlias = Callable[[_Context, ir.IRBuilder, Signature, list[ir.Value]], ir.Value]


def _typed_address_of(_: object, content: types.Array) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.uint64(content), generate


def _typed_byte_at(_: object, text: types.Integer, i: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        address = builder.inttoptr(builder.add(args[0], args[1]), _BYTE.as_pointer())
        return builder.zext(builder.load(address), _WORD)

    return types.uint64(types.uint64, types.uint64), generate


def _typed_word_at(_: object, text: types.Integer, i: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        address = builder.inttoptr(builder.add(args[0], args[1]), _WORD.as_pointer())
        return builder.load(address, align=1)

    return types.uint64(types.uint64, types.uint64), generate


def _typed_equal_bytes(
    _: object, text: types.Integer, i: types.Integer, byte: types.Integer
) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        address = builder.inttoptr(builder.add(args[0], args[1]), _BYTES.as_pointer())
        nothing = ir.Constant(_BYTES, ir.Undefined)
        first = builder.insert_element(nothing, builder.trunc(args[2], _BYTE), ir.IntType(32)(0))
        all_alike = builder.shuffle_vector(first, nothing, ir.Constant(_ALIKE, [0] * 64))
        equal = builder.icmp_unsigned("==", builder.load(address, align=1), all_alike)
        return builder.bitcast(equal, _WORD)

    return types.uint64(types.uint64, types.uint64, types.uint64), generate


def _typed_ones(_: object, word: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


def _typed_leading_zeros(_: object, word: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        return builder.ctlz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


def _typed_trailing_zeros(_: object, word: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


def _typed_high_product(_: object, a: types.Integer, b: types.Integer) -> tuple[Signature, _Code]:
    def generate(
        context: _Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]
    ) -> ir.Value:
        whole = builder.mul(builder.zext(args[0], _WIDE), builder.zext(args[1], _WIDE))
        return builder.trunc(builder.lshr(whole, _WIDE(64)), _WORD)

    return types.uint64(types.uint64, types.uint64), generate


@njit(nogil=True)
def _checked_byte(content: Bytes, i: Word) -> Word:
    return np.uint64(content[i])


@njit(nogil=True)
def _checked_word(content: Bytes, i: Word) -> Word:
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(content[i + np.uint64(k)]) << np.uint64(8 * k)
    return word


@njit(nogil=True)
def _checked_equal_bytes(content: Bytes, i: Word, byte: Word) -> Word:
    bits = np.uint64(0)
    for k in range(64):
        bits |= np.uint64(content[i + np.uint64(k)] == byte) << np.uint64(k)
    return bits


@njit(nogil=True)
def _itself(content: Bytes) -> Bytes:
    return content


_looked_at = bool(getattr(config, "BOUNDSCHECK", None))
address_of = cast(
    Callable[[Bytes], Address], _itself if _looked_at else intrinsic(_typed_address_of)
)
byte_at = cast(
    Callable[[Address, Word | int], Word],
    _checked_byte if _looked_at else intrinsic(_typed_byte_at),
)
word_at = cast(
    Callable[[Address, Word], Word], _checked_word if _looked_at else intrinsic(_typed_word_at)
)
equal_bytes = cast(
    Callable[[Address, Word, Word], Word],
    _checked_equal_bytes if _looked_at else intrinsic(_typed_equal_bytes),
)
ones = cast(Callable[[Word], Word], intrinsic(_typed_ones))
leading_zeros = cast(Callable[[Word], Word], intrinsic(_typed_leading_zeros))
trailing_zeros = cast(Callable[[Word], Word], intrinsic(_typed_trailing_zeros))
high_product = cast(Callable[[Word, Word], Word], intrinsic(_typed_high_product))
