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
