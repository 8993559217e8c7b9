"""The marks of a text, and the short decimals between them, against Python's own."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numba import njit

from novikoff.core.words import Bytes, Word, address_of
from novikoff.data.marks import ROOM, Marks, find_marks
from novikoff.data.plain import LABEL, SKIPPED, parse_plain
from novikoff.data.stretches import as_bytes

COMMA, NEWLINE, POINT = (np.uint64(ord(c)) for c in ",\n.")


@njit(nogil=True)
def found_by_kernel(content: Bytes, i: Word, end: Word, marks: Marks) -> Word:
    return find_marks(address_of(content), i, end, COMMA, NEWLINE, POINT, marks)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 128, 300, 8191, 8192, 8256, 20_000])
@pytest.mark.parametrize("alphabet", [b"0123456789,\n.", b",", b"..,\n", b"0123456789-e"])
def test_marks_are_those_of_whole_blocks(size: int, alphabet: bytes) -> None:
    rng = np.random.default_rng(size)
    content = rng.choice(np.frombuffer(alphabet, np.uint8), size + 7)
    marks = np.empty(ROOM, dtype=np.uint32)
    n = found_by_kernel(
        as_bytes(memoryview(content.tobytes())), np.uint64(5), np.uint64(size + 5), marks
    )
    seen = min(size, 8192) // 64 * 64
    expected = [k for k, c in enumerate(content[5 : 5 + seen].tolist()) if c in b",\n."]
    assert marks[: int(n)].tolist() == expected


def decimal(rng: np.random.Generator, most: int) -> str:
    """A number with up to so many digits before its point, and after it."""
    digits = "".join(map(str, rng.integers(0, 10, 2 * most)))
    whole, part = digits[: rng.integers(0, most + 1)], digits[most:][: rng.integers(0, most + 1)]
    text = str(rng.choice(["", "-", "+"], p=[0.5, 0.4, 0.1])) + whole
    if part or not whole or rng.random() < 0.1:
        text += "." + (part or ("" if whole else "0"))
    return text + (str(rng.choice(["e5", "E-7", "e+300"])) if rng.random() < 0.02 else "")


def table(seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    most, width = int(rng.choice([1, 4, 5, 9, 12])), int(rng.integers(1, 30))
    return [[decimal(rng, most) for _ in range(width)] for _ in range(rng.integers(1, 200))]


def parse(rows: list[list[str]], end: str = "\n") -> bytes | None:
    """The bits of all numbers; the label stands first in every second table."""
    width, first = len(rows[0]), len(rows) % 2 == 0
    lines = [",".join(["a", *row] if first else [*row, "a.b"]) for row in rows]
    places = [LABEL, *range(width)] if first else [*range(width), LABEL]
    found = parse_plain(memoryview((end.join(lines) + end).encode()), ",", places, width, threads=2)
    return None if found is None else found.X.tobytes()


@pytest.mark.parametrize("seed", range(60))
def test_numbers_between_marks_are_those_of_python(seed: int) -> None:
    rows = table(seed)
    values = [float(text) for row in rows for text in row]
    assert parse(rows, "\r\n" if seed % 5 == 0 else "\n") == struct.pack(f"{len(values)}d", *values)


BAD = ["", ".", "-", "-.", "--1", "+-1", "1-", "1/2", "1:2", "1 ", "1.2.3", "..1", "1.a", "x", "1e"]


@pytest.mark.parametrize("bad", [*BAD, "1\x00", "1\xe4", "0x10", "12345678a", "1234567.\x80"])
def test_a_cell_that_is_no_number_is_found_wherever_it_stands(bad: str) -> None:
    rng = np.random.default_rng(len(bad))
    for seed in range(10):
        rows = table(seed)
        rows[rng.integers(len(rows))][rng.integers(len(rows[0]))] = bad
        assert parse(rows) is None, seed


@pytest.mark.parametrize("text", ["7", "1.25", "-3.14159265358979", "1234567890123"])
def test_rows_that_lack_a_field_are_found_even_if_the_next_has_one_more(text: str) -> None:
    for n in (100, 101):
        rows = [[text] * 6 for _ in range(n)]
        rows[57], rows[58] = [text] * 5, [text] * 7
        assert parse(rows) is None
    assert parse([[text] * 6] * 100) is not None


@pytest.mark.parametrize("text", ["1.25", "-3.14159265358979"])
def test_a_second_point_does_not_make_up_for_a_field_that_lacks(text: str) -> None:
    for n in (100, 101):
        rows = [[text] * 6 for _ in range(n)]
        rows[57] = [text, text, f"{text}.25", text, text]
        assert parse(rows) is None


@pytest.mark.parametrize("bad", ["1.2345678901.5", "1234567890.1.", "123456789a", "1.23456789-"])
def test_long_cells_that_are_no_numbers_are_found(bad: str) -> None:
    rows = [["2.7182818284590"] * 5 for _ in range(60)]
    rows[40][2] = bad
    assert parse(rows) is None


def test_labels_in_quotes_are_plain() -> None:
    text = memoryview(b'"x, y",1.5,"a"\n"z",2,b\r\nz,3,a\n"",4,"a, b"')
    found = parse_plain(text, ",", [SKIPPED, 0, LABEL], 1)
    assert found is not None
    assert found.X.ravel().tolist() == [1.5, 2.0, 3.0, 4.0]
    assert found.codes.tolist() == [0, 1, 0, 2]
    assert found.labels == [b"a", b"b", b"a, b"]


@pytest.mark.parametrize(
    "rows", ['1,"a""b"', '1,"a"b', '1,a"b"', '1,"a\n2,b"', '1,"a', '1,"', '"1",a', '1,"a\tb"']
)
@pytest.mark.parametrize("threads", [1, 2])
def test_other_quotes_are_not_plain(rows: str, threads: int) -> None:
    text = memoryview(f"0,a\n{rows}\n0,a\n".encode())
    assert parse_plain(text, ",", [0, LABEL], 1, threads=threads) is None
