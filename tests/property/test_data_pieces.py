"""Any file gives the same rows in pieces, on disk, from a pipe and with the compiled loop.

Each input is read in several ways. Either all give the same rows, or all reject it with an error.
``make fuzz`` runs many more inputs.
"""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novikoff.data import Dataset, ReadOptions, StreamOptions, open_stream, read
from novikoff.data.compiled_pairs import parse_pairs
from novikoff.data.values import is_exact_text
from novikoff.errors import DataError
from tests.data_files import Dripping

NUMBERS = (
    *("0", "1", "-1", "2.5", "-0.125", "1e3", "+7", ".5", "5.", "1e-5", "0.1", "1e-320"),
    *("0.49671415301123267", "-3.0000000000000004", "123456789012345678.25", "9007199254740994"),
)
ODD = (
    *("", "NA", "nan", "inf", "1e999", "x", '"1"', '"', " 3 ", "1,2", "0x1", "1_0", "é", "\0"),
    *("1e", "True", "9007199254740993", "123456789012345678901"),
)
LABELS = (("0", "1"), ("1", "-1"), ("a", "b", "c"), ("true", "false"), ("1.5", "2"), ("é", '"x y"'))
ENDS = ("\n", "\n", "\n", "\r\n", "\r")
ALPHABET = b'0123456789,,;\t\n\n\r"".+-eENaif x#:\0\xff\xc3\xa9'


class Case(NamedTuple):
    """A file and how it is read."""

    text: bytes
    form: Literal["csv", "svmlight"]
    missing: Literal["error", "drop"]
    size: int  # bytes of a piece

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(format=self.form, missing=self.missing)


class Rows(NamedTuple):
    """The content of a file."""

    X: bytes
    shape: tuple[int, int]
    labels: list[object]
    rows: list[int]


def drawn(rng: random.Random) -> Case:
    """A table or an svmlight file, intact or damaged, or random bytes."""
    form: Literal["csv", "svmlight"] = "csv" if rng.random() < 0.65 else "svmlight"
    text = table(rng) if form == "csv" else pairs(rng)
    kind = rng.random()
    if kind < 0.1:
        text = bytes(rng.choices(ALPHABET, k=rng.randrange(60)))
    elif kind < 0.5:
        content = bytearray(text)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(content) + 1)
            content[at : at + rng.randrange(3)] = bytes(rng.choices(ALPHABET, k=rng.randrange(3)))
        text = bytes(content)
    missing: Literal["error", "drop"] = "drop" if rng.random() < 0.3 else "error"
    return Case(text, form, missing, rng.choice([1, 7, 20, 50, 200]))


def table(rng: random.Random) -> bytes:
    """A table with a label and numbers, sometimes with other values."""
    width, delimiter, end = rng.randrange(1, 4), rng.choice(",,,;\t"), rng.choice(ENDS)
    labels, odd = rng.choice(LABELS), rng.choice([0.0, 0.0, 0.02, 0.2])
    rows = [[f"c{j}" for j in range(width)] + ["y"]] if rng.random() < 0.8 else []
    for _ in range(rng.randrange(12)):
        cells = [rng.choice(ODD if rng.random() < odd else NUMBERS) for _ in range(width)]
        rows.append([*cells, rng.choice(labels)])
    return (end.join(map(delimiter.join, rows)) + end * rng.randrange(3)).encode()


def pairs(rng: random.Random) -> bytes:
    """Rows of label and index:value."""
    first, rows, odd = rng.randrange(2), [], rng.choice([0.0, 0.0, 0.1])
    for _ in range(rng.randrange(12)):
        columns = sorted(rng.sample(range(first, 20), rng.randrange(4)))
        cells = [f"{k}:{rng.choice(ODD if rng.random() < odd else NUMBERS)}" for k in columns]
        query = ["qid:3"] if rng.random() < 0.1 else []
        rows.append(" ".join([rng.choice(["1", "-1"]), *query, *cells, rng.choice(["", "# é"])]))
    end = rng.choice(ENDS)
    return (end.join(rows) + end * rng.randrange(3)).encode()


@contextmanager
def pieces_of(size: int) -> Iterator[None]:
    """Read pieces of a few bytes; the compiled loop reads the pieces of svmlight files."""
    with (
        patch("novikoff.data.reader.PIECE_BYTES", size),
        patch("novikoff.data.pairs.COMPILED_BYTES", 0),
    ):
        yield


def rows_of(data: Dataset) -> Rows:
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    return Rows(X.tobytes(), X.shape, data.labels.tolist(), data.rows.tolist())


def outcome(how: Callable[[], Dataset]) -> Rows | str:
    try:
        return rows_of(how())
    except DataError as error:
        return str(error)


def check_pieces(case: Case, folder: Path) -> bool:
    """Read a file at once, in pieces and on disk; return whether it was read."""
    path = folder / "data.txt"
    path.write_bytes(case.text)
    whole = outcome(lambda: read(path, case.options))
    with pieces_of(case.size):
        cut = outcome(lambda: read(path, case.options))
        on_disk = outcome(lambda: read(path, case.options, cache=folder / "cache"))
        again = outcome(lambda: read(path, case.options, cache=folder / "cache"))
    for other in (cut, on_disk, again):
        if isinstance(whole, str) or isinstance(other, str):
            assert str(whole).endswith((".", "?")), case
            assert isinstance(whole, str), (case, whole, other)
            assert isinstance(other, str), (case, whole, other)
        else:
            assert whole == other, case
    return isinstance(whole, Rows)


def streamed(case: Case, size: int) -> tuple[list[object], str]:
    """The rows of a stream that comes in pieces of a size, with the ends of all rows."""
    found, flaw = list[object](), ""
    try:
        with open_stream(Dripping(case.text, size), StreamOptions(case.options)) as stream:
            for piece in stream.pieces():
                if piece is None:
                    continue
                X = piece.X if isinstance(piece.X, np.ndarray) else piece.X.toarray()
                for k, row in enumerate(X.tolist()):
                    while row and row[-1] == 0.0:  # the width of sparse rows grows
                        row.pop()
                    label = piece.labels[piece.codes[k]]
                    found.append((row, label, int(piece.rows[k]), piece.position(k + 1)))
    except DataError as error:
        flaw = str(error)
    return found, flaw


def check_stream(case: Case) -> bool:
    """A stream does not depend on how its bytes are cut, up to the first bad row."""
    found, flaw = streamed(case, 1 << 20)
    other, other_flaw = streamed(case, case.size)
    with pieces_of(1 << 20):
        compiled, compiled_flaw = streamed(case, 3 * case.size)
    assert found == other == compiled, case
    assert bool(flaw) == bool(other_flaw) == bool(compiled_flaw), case
    return not flaw


def fuzz(count: int, seed: int, folder: Path) -> int:
    """Run this many inputs; return how many of them were read."""
    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    read_ones = 0
    for _ in range(count):
        case = drawn(rng)
        read_ones += check_pieces(case, folder)
        check_stream(case)
    return read_ones


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_file_says_one_thing(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    fuzz(1, seed, tmp_path_factory.mktemp("fuzz"))


digits = st.text("0123456789", min_size=1, max_size=25)
decimals = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}{part}{power}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.just("") | digits.map(lambda text: "." + text),
    st.just("") | st.integers(-400, 400).map(lambda q: f"e{q}") | st.just("E+07"),
)
# Doubles, and the points halfway between two doubles, written in full: the hardest to round.
doubles = st.integers(0, 2**63 - 2**52 - 1).map(
    lambda bits: repr(struct.unpack("<d", struct.pack("<q", bits))[0])
)
halves = st.builds(
    lambda m, k, off, tail: f"{(2 * m + 1) * 5**k + off}{tail}e{-k - len(tail)}",
    st.integers(2**52, 2**53 - 1),
    st.integers(0, 60),
    st.sampled_from([0, 0, -1]),
    st.sampled_from(["", "0", "1", "0000000001", "99999999"]),
)
long = st.builds(
    lambda m, at: f"{m[:at]}.{m[at:]}",
    st.text("0123456789", min_size=15, max_size=20),
    digits.map(len),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(decimals | doubles | halves | long, min_size=1, max_size=30))
@example(["0", "-0", "0.0e5", ".5", "5.", "1e308", "9007199254740992", "9007199254740992.5"])
@example(["1e-320", "4.9e-324", "2.2250738585072011e-308", "1.7976931348623157e308"])
@example(["00000000000000000000000001.5", "8.5e-22", "1e23", "1e18446744073709551617"])
@example(["0.00012345678901234567", "1e0000000000000000000000003", "-0.0000000000000000000000"])
def test_numbers_are_read_as_python_does(texts: list[str]) -> None:
    """pyarrow reads CSV, with a decimal point or comma; the compiled loop reads svmlight."""
    texts = [text for text in texts if is_exact_text(text) and abs(float(text)) < np.inf]
    expected = struct.pack(f"{len(texts)}d", *map(float, texts))
    for decimal in ".,":
        rows = "".join(f"{text.replace('.', decimal)};x\n" for text in ["1", *texts]).encode()
        data = read(io.BytesIO(b"a;y\n" + rows), ReadOptions(decimal=decimal))
        assert np.asarray(data.X).tobytes()[8:] == expected
    pairs = parse_pairs("".join(f"1 1:{text}\n" for text in texts).encode(), labelled=True)
    assert pairs is not None
    assert pairs[0].data.tobytes() == expected


@pytest.mark.parametrize(
    "text",
    [
        *(" 1", "nan", "inf", "1e", "e5", ".", "-", "+-1", "1.2.3", "0x1", "1_0", '"1"'),
        "9007199254740993",
    ],
)
def test_the_compiled_loop_leaves_to_others_what_is_not_plain(text: str) -> None:
    assert parse_pairs(f"1 1:2\n1 1:{text}\n".encode(), labelled=True) is None


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(max_codepoint=127)) | st.text('0123456789.,-+eE\n\r" x:#q'))
def test_no_ascii_breaks_the_compiled_loop(text: str) -> None:
    parse_pairs(text.encode(), labelled=True)
    parse_pairs(text.encode(), labelled=False)


@pytest.mark.parametrize(
    ("form", "count"), [("{}2345678", 10), ("{}12345678", 10), ("{}.5", 20_000)]
)
def test_labels_stay_apart(form: str, count: int) -> None:
    labels = [form.format(k) for k in range(count)]
    pairs = parse_pairs("".join(f"{y} 1:1\n" for y in labels).encode(), labelled=True)
    assert pairs is not None
    assert [pairs[2][code] for code in pairs[1]] == labels
