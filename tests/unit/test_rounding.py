"""Where floats do not round to nearest nothing is proved, and nothing pretended."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import novikoff as nv

LIBM = ctypes.CDLL(None)
# Downward, upward, toward zero, in the bits of the processor.
MODES = {"x86_64": (0x400, 0x800, 0xC00), "aarch64": (0x800000, 0x400000, 0xC00000)}.get(
    platform.machine(), ()
)
X, y = np.array([[0.0, 0.1], [0.3, 0.2], [0.7, 0.9]]), [0, 0, 1]


@contextmanager
def rounding(mode: int) -> Iterator[None]:
    """Let all floats of this thread round in another way, as a library might leave it."""
    before = LIBM.fegetround()
    assert LIBM.fesetround(mode) == 0
    try:
        yield
    finally:
        LIBM.fesetround(before)


@pytest.mark.parametrize("mode", MODES)
def test_no_verdict_and_no_check_without_rounding_to_nearest(mode: int) -> None:
    proof = nv.separate(X, y).certificate
    assert proof is not None
    with rounding(mode):
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.separate(X, y)
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.verify(proof, X, y)
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.solve([[1.0, 1.0]], [1.0])
    nv.verify(proof, X, y)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the bits are those of x86-64")
@pytest.mark.parametrize(("byte", "bit"), [(28, 0x40), (29, 0x80)])  # as operands, as results
def test_no_verdict_where_small_numbers_are_zero(byte: int, bit: int) -> None:
    before = ctypes.create_string_buffer(32)
    LIBM.fegetenv(before)
    changed = ctypes.create_string_buffer(before.raw, 32)
    changed[byte] = bytes([before.raw[byte] | bit])
    LIBM.fesetenv(changed)
    try:
        with pytest.raises(ArithmeticError, match="nothing can be proved"):
            nv.separate(X, y)
    finally:
        LIBM.fesetenv(before)
