"""Any table comes back bit for bit, and any bytes are read or rejected with a DataError."""

from __future__ import annotations

import csv
import gzip
import io
import math
import struct
from typing import Literal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.data import ReadOptions, read
from novikoff.errors import DataError
from tests.data_files import arrow, npy, npz, parquet

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = (
    FINITE.map(repr)
    | st.integers(-(2**53), 2**53).map(str)
    | st.floats(-1e308, 1e308).map("{:+.3e}".format)
    | FINITE.map("{:.25g}".format)
    | st.sampled_from(["0", "-0", "1.", ".5", "+1", " 7 ", "4.9e-324", "00012"])
)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from('",;|\t\r\n '),
    min_size=1,
    max_size=8,
).map(lambda text: "§" + text)  # neither a number nor missing


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], list[str]]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1, max_size=6))
    return rows, draw(st.lists(TEXTS, min_size=len(rows), max_size=len(rows)))


def written(
    rows: list[list[str]],
    labels: list[str],
    delimiter: str,
    quote_all: bool = False,
    end: str = "\r\n",
) -> bytes:
    stream = io.StringIO(newline="")
    torn = any("\r" in label for label in labels)  # csv may forget to quote these
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        quoting=csv.QUOTE_ALL if quote_all or torn else csv.QUOTE_MINIMAL,
        lineterminator=end,
    )
    writer.writerow([*(f"c{j}" for j in range(len(rows[0]))), "y"])
    writer.writerows([*row, label] for row, label in zip(rows, labels, strict=True))
    return stream.getvalue().encode()


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@settings(max_examples=150)
def test_tables_come_back_bit_for_bit(
    table: tuple[list[list[str]], list[str]], delimiter: str, quote_all: bool, end: str, told: bool
) -> None:
    rows, labels = table
    content = written(rows, labels, delimiter, quote_all, end)
    options = (
        ReadOptions(delimiter=delimiter) if told else ReadOptions(delimiter=delimiter, header=True)
    )
    data = read(io.BytesIO(content), options)
    assert isinstance(data.X, np.ndarray)
    expected = [[float(text) for text in row] for row in rows]
    assert [[bits(v) for v in row] for row in data.X.tolist()] == [
        [bits(v) for v in row] for row in expected
    ]
    assert data.y is not None
    assert data.y.tolist() == [label.strip(" \t") for label in labels]


@given(st.integers(-(2**70), 2**70), st.integers(0, 200))
@settings(max_examples=60)
def test_an_integer_is_held_exactly_or_rejected(value: int, before: int) -> None:
    content = "a,y\n" + "1,p\n" * before + f"{value},q\n"
    try:
        data = read(io.BytesIO(content.encode()))
    except DataError as error:
        assert int(float(value)) != value
        place = f"row {before + 1} (line {before + 2}), column"
        assert place in str(error)  # noqa: PT017
        assert "subtract a constant" in str(error)  # noqa: PT017
        return
    assert isinstance(data.X, np.ndarray)
    assert int(data.X[-1, 0]) == value


TEXT = b'a,b,"c ""d"""\n1,2.5,x\n3,,"y\nz"\n-1e3,NA,x\n'
SAMPLES = {
    "csv": TEXT,
    "tsv": TEXT,
    "svmlight": b"1 1:2 5:3.5 # x\n-1 qid:3 2:1\n0 1:1\n",
    "gzip": gzip.compress(b"a,b\n1,2\n3,4\n"),
    "npy": npy(np.eye(3)),
    "npz": npz(X=np.eye(3), y=[0, 1, 0]),
    "parquet": parquet(a=[1.5, 2.0, math.pi], y=["p", "q", "p"]),
    "arrow": arrow(a=[1.5, 2.0, math.pi], t=["p", "q", "p"], y=["p", "q", "p"]),
}


def endure(content: bytes, options: ReadOptions) -> None:
    """Read or refuse; every other exception is a failure."""
    try:
        data = read(io.BytesIO(content), options, labelled=False)
    except DataError:
        return
    assert data.X.shape == (len(data.rows), len(data.names))
    assert data.y is None or len(data.y) == len(data.rows)


FORMATS = st.sampled_from(
    [None, "csv", "tsv", "svmlight", "npy", "npz", "parquet", "arrow", "jsonl"]
)
OPTIONS = st.builds(
    ReadOptions,
    format=FORMATS,
    missing=st.sampled_from(["error", "drop", "mean"]),
    one_hot=st.sampled_from([(), ("*",)]),
    header=st.sampled_from([None, True, False]),
)


@given(
    st.binary(max_size=60) | st.text(st.sampled_from('019.,;e-+:"\n\r\t #aNA?'), max_size=40),
    OPTIONS,
)
@settings(max_examples=200)
def test_any_bytes_are_read_or_rejected(content: bytes | str, options: ReadOptions) -> None:
    endure(content.encode() if isinstance(content, str) else content, options)


@given(
    st.sampled_from(sorted(SAMPLES)),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 255), st.booleans()), min_size=1, max_size=4
    ),
    st.sampled_from(["error", "drop", "mean"]),
)
@settings(max_examples=300)
def test_damaged_files_are_read_or_rejected(
    form: str,
    wounds: list[tuple[float, int, bool]],
    missing: Literal["error", "drop", "mean"],
) -> None:
    content = bytearray(SAMPLES[form])
    for where, byte, cut in wounds:
        position = int(where * (len(content) - 1)) if content else 0
        if cut and byte < 128:
            del content[position : position + byte % 8 + 1]
        elif content:
            content[position] = byte
    options = ReadOptions(format=None if form == "gzip" else form, missing=missing)
    endure(bytes(content), options)
