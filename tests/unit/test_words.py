"""Words and bytes in kernels, against Python's own integers."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from novikoff.core.words import (
    Bytes,
    Word,
    address_of,
    byte_at,
    equal_bytes,
    high_product,
    leading_zeros,
    ones,
    trailing_zeros,
    word_at,
)
from novikoff.data.stretches import as_bytes, count, count_lines

rng = np.random.default_rng(5)
SHORT = [int(word) >> shift for word in rng.integers(0, 2**63, 30) for shift in range(0, 63, 7)]
WORDS = [0, 1, 2, 2**63, 2**64 - 1, *SHORT]

BEYOND = """
import numpy as np
from numba import njit
from novikoff.core.words import address_of, byte_at, equal_bytes, word_at

@njit(nogil=True)
def beyond(content, i):
    return byte_at(address_of(content), i), word_at(address_of(content), i)

@njit(nogil=True)
def far_beyond(content, i):
    return equal_bytes(address_of(content), i, np.uint64(9))

text = np.arange(16, dtype=np.uint8)
assert beyond(text, np.uint64(8)) == (8, 0x0F0E0D0C0B0A0908)
assert far_beyond(np.arange(70, dtype=np.uint8), np.uint64(6)) == 8
for look, last in ((beyond, 8), (far_beyond, 6)):
    try:
        look(np.arange(last + 8 if look is beyond else 70, dtype=np.uint8), np.uint64(last + 1))
    except IndexError:
        print("seen")
"""


@njit(nogil=True)
def zeros(word: Word) -> tuple[Word, Word]:
    return leading_zeros(word), trailing_zeros(word)


@njit(nogil=True)
def set_bits(word: Word) -> Word:
    return ones(word)


@njit(nogil=True)
def equal(content: Bytes, i: Word, byte: Word) -> Word:
    return equal_bytes(address_of(content), i, byte)


@njit(nogil=True)
def upper(a: Word, b: Word) -> Word:
    return high_product(a, b)


@njit(nogil=True)
def look(content: Bytes, i: Word) -> tuple[Word, Word]:
    text = address_of(content)
    return byte_at(text, i), word_at(text, i)


@pytest.mark.parametrize("word", WORDS[:60])
def test_zeros_are_counted_at_both_ends(word: int) -> None:
    trailing = (word & -word).bit_length() - 1 if word else 64
    found = [int(count) for count in zeros(np.uint64(word))]
    assert found == [64 - word.bit_length(), trailing]


@pytest.mark.parametrize("word", WORDS[:60])
def test_bits_are_counted(word: int) -> None:
    assert int(set_bits(np.uint64(word))) == word.bit_count()


def test_equal_bytes_of_sixty_four() -> None:
    raw = bytes(rng.integers(0, 4, 100, dtype=np.uint8)) + b"\xff\x80"
    for i in range(len(raw) - 63):
        for byte in (0, 3, 0x80, 0xFF):
            expected = sum(1 << k for k in range(64) if raw[i + k] == byte)
            assert int(equal(as_bytes(memoryview(raw)), np.uint64(i), np.uint64(byte))) == expected


def test_the_upper_half_of_a_product() -> None:
    for a, b in zip(WORDS, reversed(WORDS), strict=True):
        assert int(upper(np.uint64(a), np.uint64(b))) == a * b >> 64


def test_bytes_and_words_at_any_place() -> None:
    raw = bytes(rng.integers(0, 256, 40, dtype=np.uint8))
    for i in range(33):
        byte, word = look(as_bytes(memoryview(raw)), np.uint64(i))
        assert (int(byte), int(word)) == (raw[i], int.from_bytes(raw[i : i + 8], "little"))


def test_with_bounds_checking_every_byte_is_looked_at() -> None:
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [sys.executable, "-c", BEYOND],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "seen\nseen\n"


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 255, 256, 257, 1000])
def test_bytes_are_counted_where_all_of_them_count_and_where_some_do(size: int) -> None:
    for raw in (b":" * size, bytes(rng.integers(0, 256, size, dtype=np.uint8))):
        for begin in (0, 1, 100):
            expected = sum(58 <= c <= 70 for c in raw[begin:])
            assert count(as_bytes(memoryview(raw)), begin, size, 58, 70) == expected


@pytest.mark.parametrize("ends", [b"\n", b"\r", b"\r\n", b"\n\r", b"\n\n", b"\r\r\n"])
def test_lines_are_counted_whatever_ends_them(ends: bytes) -> None:
    raw = (b"ab" + ends) * 200
    assert count_lines(as_bytes(memoryview(raw)), len(raw)) == len(raw.splitlines())
