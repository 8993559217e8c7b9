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
# Bits of the processor, by their byte in the floating-point environment: upward, downward, toward
# zero; and small numbers that are zero, as results and as operands.
MODES = {
    "x86_64": ((29, 0x40), (29, 0x20), (29, 0x60), (29, 0x80), (28, 0x40)),
    "aarch64": ((2, 0x40), (2, 0x80), (2, 0xC0), (3, 0x01)),
}.get(platform.machine(), ())
X, y = np.array([[0.0, 0.1], [0.3, 0.2], [0.7, 0.9]]), [0, 0, 1]


@contextmanager
def arithmetic(byte: int, bits: int) -> Iterator[None]:
    """Let floats of this thread be as a library might leave them."""
    before = ctypes.create_string_buffer(64)
    LIBM.fegetenv(before)
    changed = ctypes.create_string_buffer(before.raw)
    changed[byte] = bytes([before.raw[byte] | bits])
    assert LIBM.fesetenv(changed) == 0
    try:
        yield
    finally:
        LIBM.fesetenv(before)


@pytest.mark.parametrize(("byte", "bits"), MODES)
def test_no_verdict_and_no_check_without_rounding_to_nearest(byte: int, bits: int) -> None:
    proof = nv.separate(X, y).certificate
    assert proof is not None
    with arithmetic(byte, bits):
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.separate(X, y)
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.verify(proof, X, y)
        with pytest.raises(ArithmeticError, match="not rounded to nearest"):
            nv.solve([[1.0, 1.0]], [1.0])
    nv.verify(proof, X, y)
