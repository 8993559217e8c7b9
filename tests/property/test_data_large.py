"""The quick road of large files says what the careful road says, to the last bit, or nothing."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novikoff.data import Choices, DataError, Dataset, read, readers
from novikoff.data.plain import LABEL, SKIPPED, parse_plain


def parsed(texts: list[str]) -> list[float] | None:
    """The texts as one column, by the kernel."""
    body = "".join(f"{text},x\n" for text in texts).encode()
    found = parse_plain(memoryview(body), ",", [0, LABEL], 1, threads=2)
    return None if found is None else found.X[:, 0].tolist()


digits = st.text("0123456789", min_size=1, max_size=25)
decimals = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}{part}{power}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.just("") | digits.map(lambda text: "." + text),
    st.just("") | st.integers(-400, 400).map(lambda q: f"e{q}") | st.just("E+07"),
)
# Doubles and the points halfway between two of them, written out: the hardest to round.
doubles = st.integers(0, 2**63 - 2**52 - 1).map(
    lambda bits: struct.unpack("<d", struct.pack("<q", bits))[0]
)
written = doubles.map(repr)
halves = st.builds(
    lambda m, e: str((2 * m + 1) * 2**e) if e >= 0 else f"{(2 * m + 1) * 5**-e}e{e}",
    st.integers(2**52, 2**53 - 1),
    st.integers(-9, 10),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(decimals | written | halves, min_size=1, max_size=30))
@example(["0", "-0", "0.0e5", ".5", "5.", "1e308", "9007199254740993", "9007199254740992.5"])
@example(["1e-320", "4.9e-324", "2.2250738585072011e-308", "1.7976931348623157e308"])
@example(["00000000000000000000000001.5", "12345678901234567890123", "8.5e-22", "1e23"])
def test_numbers_are_those_of_python(texts: list[str]) -> None:
    found = parsed(texts)
    assert found is not None
    assert struct.pack(f"{len(texts)}d", *found) == struct.pack(
        f"{len(texts)}d", *map(float, texts)
    )


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "nan", "inf", "1e", "e5", ".", "-", "+-1", "1.2.3", "0x1", "1_0", '"1"'],
)
def test_what_is_not_plain_is_left_to_others(text: str) -> None:
    assert parsed(["1", text, "2"]) is None


def test_lines_of_other_lengths_are_left_to_others() -> None:
    for body in (b"1,2,a\n1,a\n", b"1,2,a\n\n1,2,b\n", b"1,2,a,3\n1,2,b\n", b"1,2,a\r1,2,b\n"):
        for threads in (1, 2):
            found = parse_plain(memoryview(body), ",", [0, 1, LABEL], 2, threads=threads)
            assert found is None, body


@pytest.mark.parametrize("delimiter", "4+-.eE")
def test_a_delimiter_that_numbers_may_hold_is_left_to_others(
    delimiter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["a:2", "b:3"] * 60 + ["a:1:5"]
    content = "\n".join(["u:v", *rows]).replace(":", delimiter).encode()
    decimal = "," if delimiter == "." else "."
    choices = Choices(delimiter=delimiter, label="1", header=True, decimal=decimal)
    monkeypatch.setattr(readers, "LARGE", 0)
    with pytest.raises(DataError, match="line 122 has 3 fields where 2 are expected"):
        read(io.BytesIO(content), choices)
    assert parse_plain(memoryview(content), delimiter, [LABEL, 0], 1) is None


def test_columns_have_their_places() -> None:
    body = b"9,x,1,a\r\n8,y,2,b\r\n7,z,3,a"
    found = parse_plain(memoryview(body), ",", [1, SKIPPED, 0, LABEL], 2, threads=3)
    assert found is not None
    assert found.X.tolist() == [[1.0, 9.0], [2.0, 8.0], [3.0, 7.0]]
    assert [found.labels[code] for code in found.codes] == [b"a", b"b", b"a"]


cells = (
    st.floats(allow_nan=False).map(repr)
    | st.integers(-(10**20), 10**20).map(str)
    | st.sampled_from(["NA", "", "?", " 3", "true", "1e999", '"4"', "text", "1.0", "0"])
)
plain_cells = st.floats(-1e6, 1e6).map(lambda value: f"{value:.6g}")
labels = st.sampled_from(
    ["a", "b", "ü", "1", "01", "0", "-1", "1.5", "NA", "", '"q"', "true", "c d"]
) | st.sampled_from([" a", "b ", "1.0", "2.50", "2.5", "9007199254740993.0"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Tables of which some are plain and some are not."""
    width = draw(st.integers(1, 4))
    unusual = draw(st.booleans())
    cell = plain_cells | cells if unusual else plain_cells
    label = labels if unusual else st.sampled_from(["a", "b", "7"])
    rows = draw(st.lists(st.tuples(*[cell] * width, label), min_size=1, max_size=12))
    lines = [",".join(row) for row in rows]
    if draw(st.booleans()):
        lines.insert(0, ",".join([*(f"f{j}" for j in range(width)), "class"]))
    if unusual and draw(st.booleans()):
        lines.insert(
            draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "1", "1,2,3,4,5,6"]))
        )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (end.join(lines) + draw(st.sampled_from(["", end, end * 2]))).encode()


def outcome(content: bytes, choices: Choices) -> Dataset | str:
    try:
        return read(io.BytesIO(content), choices)
    except DataError as error:
        return str(error)


@settings(deadline=None, max_examples=300)
@given(files(), st.sampled_from(["refuse", "drop", "mean"]))
def test_both_roads_agree(content: bytes, missing: str) -> None:
    choices = Choices(
        missing="drop" if missing == "drop" else "mean" if missing == "mean" else "refuse"
    )
    before = readers.LARGE
    try:
        readers.LARGE = 1 << 62
        careful = outcome(content, choices)
        readers.LARGE = 0
        quick = outcome(content, choices)
    finally:
        readers.LARGE = before
    if isinstance(careful, str) or isinstance(quick, str):
        assert careful == quick
        return
    assert np.asarray(careful.X).tobytes() == np.asarray(quick.X).tobytes()
    assert careful.y is not None
    assert quick.y is not None
    assert careful.y.dtype == quick.y.dtype
    assert np.array_equal(careful.y, quick.y)
    assert (careful.names, careful.recipe, careful.notes) == (
        quick.names,
        quick.recipe,
        quick.notes,
    )
    assert np.array_equal(careful.rows, quick.rows)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200) | st.text('0123456789.,-+eE\n\r" x').map(str.encode))
def test_no_bytes_break_the_kernel(content: bytes) -> None:
    for threads in (1, 3):
        found = parse_plain(memoryview(content), ",", [0, SKIPPED, LABEL], 1, threads=threads)
        if found is not None:
            lines = content.replace(b"\r\n", b"\n").split(b"\n")
            while lines and not lines[-1].strip(b"\r"):
                lines.pop()
            assert len(found.X) == len(lines)


def test_a_large_file_takes_the_quick_road(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from novikoff.data import delimited

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the careful road was taken")

    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 12))
    path = tmp_path / "large.csv"
    rows = [",".join(map(repr, row)) + f",{'ab'[k % 2]}" for k, row in enumerate(X.tolist())]
    path.write_text("\n".join([",".join([*(f"f{j}" for j in range(12)), "class"]), *rows]))
    assert path.stat().st_size >= readers.LARGE
    monkeypatch.setattr(delimited, "read_delimited", never)
    found = read(path)
    assert np.array_equal(np.asarray(found.X), X)
    assert found.labels.tolist() == ["a", "b"] * 10_000


def test_infinity_is_refused_on_the_quick_road_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "LARGE", 0)
    rows = ["0.5,1.25,a", "-2,3e-320,b"] * 40
    content = "\n".join(["u,v,class", *rows, "1,1e999,a", "1,2,b"]).encode()
    with pytest.raises(DataError, match='row 81, column "v" is infinite'):
        read(io.BytesIO(content))
    assert read(io.BytesIO(content.replace(b"1e999", b"1e299"))).X.shape == (82, 2)
