"""The kernel that reads svmlight says what the careful scanner says, of whatever bytes."""

from __future__ import annotations

import io
import random
import re
import struct
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from novikoff.data import Choices, DataError, Dataset, read, svmlight
from novikoff.data.pairs import Stopped, explain, parse_pairs
from novikoff.data.scanner import Pairs, scan_pairs

datasets = pytest.importorskip("sklearn.datasets")

COUNT = 3_000

PIECES = (
    *("1", "-1", "+1", "0", "2.5", "1,2", "nan", "inf", "-Inf", "x", "qid:7", "qid:", "qid:3x"),
    *(
        "1:1",
        "2:-2.5e-3",
        "3:0.1",
        "17:1e400",
        "4:nan",
        "5:+inf",
        "0:1",
        "7:4.9e-324",
        "2147483647:1",
    ),
    *(
        "2147483648:1",
        "99999999999:1",
        "0000000009:1",
        "00000000009:1",
        "8:",
        ":8",
        "8",
        "8:8:8",
        "9:1_0",
        "9:0x1",
    ),
    *("10:.5", "10:5.", "10:.", "10:1e", "10:1e+", "11:0.12345678901234567890123", "11:infinity"),
    *("12:9007199254740993", "12:1e0000000000005", "13:-0", "cat:1", "dog:2", "cat:3", "ü:1"),
    *(" ", "\t", "  ", "# a:b", "#", "\x0b", "\x0c", "\0", "\x85", "# é", "# \0"),
)
ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n\r")
ALPHABET = b"0123456789 \t\r\n#:.+-eEinfaNdqx,\0\x0b\xff\xc3\xbc"


def sentence(text: bytes, *, labelled: bool, words: bool, bits: int | None) -> Pairs | str:
    """What the scanner says."""
    try:
        return scan_pairs("a.svm", memoryview(text), 10, labelled=labelled, words=words, bits=bits)
    except DataError as error:
        return str(error)


def check(text: bytes, *, labelled: bool, words: bool, bits: int | None, threads: int) -> bool:
    """Compare the kernel with the scanner; whether the text is of the form."""
    view, case = memoryview(text), (text, labelled, words, bits, threads)
    expected = sentence(text, labelled=labelled, words=words, bits=bits)
    found = parse_pairs(view, labelled=labelled, words=words, bits=bits, threads=threads)
    if isinstance(found, Stopped):
        with pytest.raises(DataError) as caught:
            explain("a.svm", view, 10, stopped=found, labelled=labelled, words=words, bits=bits)
        assert str(caught.value) == expected, case
        return False
    assert isinstance(expected, Pairs), (case, expected)
    for field in fields(Pairs):
        mine, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == other.dtype, (case, field.name)
            mine, other = mine.tobytes(), other.tobytes()
        assert mine == other, (case, field.name)
    return True


def written(rng: random.Random, *, sane: bool) -> bytes:
    """Lines that are nearly of the form, or are."""
    lines = []
    for _ in range(rng.randrange(6)):
        if sane:
            indices = sorted(rng.sample(range(40), rng.randrange(6)))
            pairs = [f"{k}:{number(rng)}" for k in indices]
            label = rng.choice(["1", "-1", "+1", "2.5"])
            parts = [label, *(["qid:3"] if rng.random() < 0.2 else []), *pairs]
            comment = rng.choice(["", "", "#", " # 1:2 qid:3"])
            lines.append(rng.choice([" ", " ", "\t", "  "]).join(parts) + comment)
        else:
            lines.append(" ".join(rng.choices(PIECES, k=rng.randrange(5))))
        lines.append(rng.choice(ENDS))
    if lines and rng.random() < 0.4:
        lines.pop()
    return "".join(lines).encode("utf-8" if rng.random() < 0.9 else "utf-16")


def number(rng: random.Random) -> str:
    """A number, of any size and form."""
    value: float = struct.unpack("<d", rng.randbytes(8))[0]
    long = f"{rng.randrange(10**23):023d}"[rng.randrange(6) :]  # about 19 digits: 64 bits
    at = rng.randrange(len(long))
    forms = (repr(value), f"{rng.gauss(0, 1):.16g}", f"{long[:at]}.{long[at:]}", f"{at}")
    return rng.choice(forms)


def mutated(rng: random.Random, text: bytes) -> bytes:
    """The text with a few bytes changed, put in or left out."""
    content = bytearray(text)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(content) + 1)
        piece = bytes(rng.choices(ALPHABET, k=rng.randrange(3)))
        content[at : at + rng.randrange(3)] = piece
    return bytes(content)


def fuzz(count: int, seed: int) -> int:
    """Run so many cases; how many of them were of the form."""
    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    well = 0
    for k in range(count):
        text = (
            bytes(rng.choices(ALPHABET, k=rng.randrange(40)))
            if k % 5 == 0
            else mutated(rng, written(rng, sane=k % 5 != 1))
        )
        bits = rng.choice([None, None, None, 1, 4, 18, 31])
        labelled, threads = rng.random() < 0.8, rng.choice([1, 1, 2, 3])
        words = rng.random() < 0.2
        well += check(text, labelled=labelled, words=words, bits=bits, threads=threads)
    return well


def test_mutated_files() -> None:
    assert COUNT / 5 < fuzz(COUNT, seed=0) < COUNT


bits = st.sampled_from([None, 1, 20])


@settings(max_examples=300)
@given(st.binary(max_size=60), st.booleans(), st.booleans(), bits, st.integers(1, 3))
@example(b"", True, False, None, 2)
@example(b"\r", True, False, None, 1)
@example(b"1 1:1\r", True, False, None, 1)
@example(b"1 1:1\n\r\n2 2:2\r\r3 3:3", True, False, None, 3)
@example(b"1 a:1e308 a:1e308", True, False, 20, 1)
@example(b"qid:5", False, False, None, 1)
@example(b"qid:5 1:2", False, False, None, 1)
def test_any_bytes(
    text: bytes, labelled: bool, words: bool, bits: int | None, threads: int
) -> None:
    check(text, labelled=labelled, words=words, bits=bits, threads=threads)


reals = st.floats().map(repr) | st.floats(-10, 10).map("{:.16g}".format)
decimals = st.builds(
    lambda digits, at, power: f"{digits[:at]}.{digits[at:]}{power}",
    st.text("0123456789", min_size=1, max_size=40),
    st.integers(0, 40),
    st.sampled_from(["", "e-5", "E+3", "e300", "e-330"]),
)
# Points halfway between two doubles, and their neighbours: too long for 64 bits.
halves = st.builds(
    lambda m, k, off, tail: f"{(2 * m + 1) * 5**k + off}{tail}e{-k - len(tail)}",
    st.integers(2**52, 2**53 - 1),
    st.integers(0, 60),
    st.sampled_from([0, 0, -1]),
    st.sampled_from(["", "0", "1", "0000000001", "99999999"]),
)


@settings(max_examples=300)
@given(st.lists(reals | decimals | halves, min_size=1, max_size=30), st.integers(1, 3))
@example(["9999999999999999999", "99999999999999999999", "9.9999999999999999999"], 1)
@example(["1e18446744073709551617", "1e-18446744073709551617", "0e99999999999999999999"], 1)
@example(["NaN", "nan", "naN", "Nan", "-nan", "Inf", "inf", "+Inf", "-inf"], 1)
@example(["18446744073709551615", "18446744073709551616", "999999999999999999999999"], 1)
@example(["0.00012345678901234567", "1e0000000000000000000000003", "-0.0000000000000000000000"], 1)
def test_values_are_those_of_python(texts: Sequence[str], threads: int) -> None:
    lines = "".join(f"1 1:{text}\n" for text in texts)
    found = parse_pairs(memoryview(lines.encode()), threads=threads)
    assert isinstance(found, Pairs)
    assert found.values.tobytes() == struct.pack(f"{len(texts)}d", *map(float, texts))


rows = st.tuples(
    st.sampled_from(["1", "-1", "+1", "0", "2.5", "1e3"]),
    st.sampled_from(["", " qid:17"]),
    st.dictionaries(st.integers(0, 50), st.floats(allow_nan=False), max_size=5),
    st.sampled_from(["", " ", "\t", "# 1:2", " # qid:3"]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n# 1:5\r\n", "\n \t\n"]),
)


@settings(max_examples=200)
@given(st.lists(rows, min_size=1, max_size=20), st.booleans(), st.integers(1, 4))
def test_matrices_come_back(
    drawn: list[tuple[str, str, dict[int, float], str, str]], cut: bool, threads: int
) -> None:
    text, indptr, indices, values = "", [0], list[int](), list[float]()
    for label, query, row, comment, end in drawn:
        pairs = sorted(row.items())
        text += label + query + "".join(f" {k}:{value!r}" for k, value in pairs) + comment + end
        indices += [k for k, _ in pairs]
        values += [value for _, value in pairs]
        indptr.append(len(indices))
    content = (text.rstrip() if cut else text).encode()
    found = parse_pairs(memoryview(content), threads=threads)
    assert isinstance(found, Pairs)
    assert found.values.tobytes() == np.array(values, np.float64).tobytes()
    assert (found.indptr.tolist(), found.indices.tolist()) == (indptr, indices)
    labels = [found.labels[code].decode() for code in found.codes]
    assert labels == [label for label, *_ in drawn]
    assert found.queries == sum(query != "" for _, query, *_ in drawn)
    assert found.n_lines == len(content.splitlines())
    peers = datasets.load_svmlight_file(
        io.BytesIO(b"\n".join(content.splitlines())), zero_based=True
    )
    assert peers[0].data.tobytes() == found.values.tobytes()
    assert peers[0].indices.tolist() == indices
    assert peers[1].tolist() == [float(label) for label in labels]


def outcome(text: bytes, choices: Choices, *, labelled: bool) -> Dataset | str:
    try:
        return read(io.BytesIO(text), choices, labelled=labelled)
    except DataError as error:
        return str(error)


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from(["refuse", "drop"]), st.booleans())
def test_both_roads_agree(seed: int, missing: str, labelled: bool) -> None:
    rng = random.Random(seed)  # noqa: S311
    text = written(rng, sane=rng.random() < 0.7)
    if rng.random() < 0.5:
        text = mutated(rng, text)
    assume(not re.search(rb"[0-9]{6,}:", text))  # so many columns have too many names
    choices = Choices(format="svmlight", missing="drop" if missing == "drop" else "refuse")
    careful = outcome(text, choices, labelled=labelled)
    before = svmlight.LARGE
    try:
        svmlight.LARGE = 0
        quick = outcome(text, choices, labelled=labelled)
    finally:
        svmlight.LARGE = before
    if isinstance(careful, str) or isinstance(quick, str):
        assert careful == quick
        return
    for name in ("data", "indices", "indptr"):
        mine, other = getattr(quick.X, name), getattr(careful.X, name)
        assert mine.dtype == other.dtype
        assert mine.tobytes() == other.tobytes()
    assert quick.X.shape == careful.X.shape
    assert (quick.y is None) == (careful.y is None)
    if quick.y is not None and careful.y is not None:
        assert quick.y.dtype == careful.y.dtype
        assert np.array_equal(quick.y, careful.y)
    assert (quick.names, quick.recipe, quick.notes) == (
        careful.names,
        careful.recipe,
        careful.notes,
    )
    assert np.array_equal(quick.rows, careful.rows)
