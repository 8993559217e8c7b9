"""If floats do not round to nearest, no claim is made and no certificate is checked."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import novikoff as nv

LIBM = ctypes.CDLL(None)
# Bits of the processor, by their byte in the floating-point environment: rounding upward, downward
# and toward zero; and treating subnormal results and operands as zero.
MODES = {
    "x86_64": ((29, 0x40), (29, 0x20), (29, 0x60), (29, 0x80), (28, 0x40)),
    "aarch64": ((2, 0x40), (2, 0x80), (2, 0xC0), (3, 0x01)),
}.get(platform.machine(), ())
X, y = np.array([[0.0, 0.1], [0.3, 0.2], [0.7, 0.9]]), [0, 0, 1]


@contextmanager
def arithmetic(byte: int, bits: int) -> Iterator[None]:
    """Set the floating-point mode of this thread, as a library might leave it."""
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
