"""A stream is the same however it comes: in pieces, after pauses, after a stop."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Hashable
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nv
from novikoff.data import Choices, DataError
from novikoff.data.feeds.feed import Batch, Feed, Wishes
from novikoff.data.feeds.opening import open_feed
from novikoff.data.feeds.table import TableFeed
from novikoff.data.feeds.trail import BLOCK, Trail
from novikoff.report.stream import StreamSource, stream

ANY = Wishes()
RNG = np.random.default_rng(21)


def dropwise(content: bytes, size: int) -> io.BytesIO:
    """Bytes that come in pieces."""

    class Drops(io.BytesIO):
        def read1(self, most: int | None = -1) -> bytes:
            return super().read1(size)

    return Drops(content)


def offsets(content: bytes, size: int) -> list[int]:
    """Where each row ends."""
    feed = open_feed(dropwise(content, size))
    return [b.mark(k + 1).offset for b in feed.batches(feed.start) for k in range(len(b))]


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_line_counts_with_or_without_its_end(tmp_path: Path, size: int, end: bytes) -> None:
    content = b"1,.5,y\n2,7,1" + end  # only the second row tells that the first is a header
    path = tmp_path / "two.csv"
    path.write_bytes(content)
    for feed in (open_feed(dropwise(content, size)), open_feed(path)):
        (batch,) = feed.batches(feed.start)
        assert (feed.names, batch.labels) == (["1", ".5"], [1])
        np.testing.assert_array_equal(batch.X, [[2.0, 7.0]])
        feed.release()


@given(st.data())
def test_a_trail_is_the_same_however_its_bytes_are_cut(data: st.DataObject) -> None:
    content = bytes(range(256)) * (5 * BLOCK // 256)
    size = data.draw(st.integers(0, len(content)))
    cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=6)))
    trail = Trail()
    for begin, end in zip([0, *cuts], [*cuts, size], strict=True):
        trail = trail.followed_by(content[begin:end])
    assert trail == Trail().followed_by(content[:size])
    assert trail == Trail.found(size, lambda begin, end: content[begin:end])


@pytest.mark.parametrize("place", [0, BLOCK - 1, 3 * BLOCK, 4 * BLOCK + 5])
def test_a_trail_tells_what_has_changed_at_its_ends(place: int) -> None:
    content = bytearray(5 * BLOCK - 7)
    whole = Trail().followed_by(bytes(content))
    content[place] ^= 1
    assert Trail().followed_by(bytes(content)) != whole
    del content[2 * BLOCK]
    assert Trail().followed_by(bytes(content)) != whole


@pytest.mark.parametrize(
    "content",
    [
        b"\n1 1:1\r-1 1:-1\n",
        b"1 1:2\n" * 120 + b"1 1:1\r-1 2:1\r\n\n1 3:1\n",
        b"# none\r\n1 1:1\r\n\r-1 1:-1\r\n1 1:1",
        b"a,y\n1,0\r2,1\n\n3,0\r\n4,1\n",
        b"a,y\n" + b"1,0\n" * 120 + b"1,0\r2,1\n\n3,0\n",
    ],
)
def test_rows_end_where_they_end_whatever_ends_a_line(content: bytes) -> None:
    ends = offsets(content, 10**6)
    assert ends == offsets(content, 1)
    assert all(content[end - 1 : end] in b"\r\n" for end in ends[:-1])
    assert len(set(ends)) == len(ends)


def write_later(first: bytes, then: bytes) -> tuple[io.BufferedReader, threading.Thread]:
    """A pipe that pauses."""
    reader, writer = os.pipe()

    def write() -> None:
        os.write(writer, first)
        time.sleep(1.0)
        os.write(writer, then)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    return os.fdopen(reader, "rb"), thread


def paused(first: bytes, then: bytes, wishes: Wishes) -> list[tuple[list[float], Hashable]]:
    """The rows of a pipe that pauses."""
    file, thread = write_later(first, then)
    try:
        with file:
            return rows_of(open_feed(file, wishes))
    finally:
        thread.join()


def rows_of(feed: Feed) -> list[tuple[list[float], Hashable]]:
    """Every row with its label."""
    found = []
    for batch in feed.batches(feed.start):
        found += [(row, batch.labels[batch.codes[k]]) for k, row in enumerate(dense(batch))]
    return found


def dense(batch: Batch) -> list[list[float]]:
    X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
    rows: list[list[float]] = X.tolist()
    return rows


def test_with_a_hash_a_number_is_a_number_whenever_it_comes() -> None:
    first, then = b"a,b,label\n1,2,p\n2,3,n\n", b"1,abc,p\n2,2,n\n"
    wishes = Wishes(bits=6)
    assert paused(first, then, wishes) == rows_of(open_feed(io.BytesIO(first + then), wishes))


@pytest.mark.parametrize(
    ("first", "then", "wishes", "sentence"),
    [
        (b"a,b,y\n1,2,p\n2,3,n\n", b"1,x,p\n", Wishes(Choices(one_hot=("*",))), 'holds "x"'),
        (b"u,v\nq,r\n", b"u,r\nq,r\n", Wishes(bits=6), "first 2 lines, .*--no-header"),
        (b"a,y\n1,1\n2,0\n", b"3,maybe\n", ANY, 'label "maybe"'),
    ],
)
def test_what_was_judged_too_early_is_an_error(
    first: bytes, then: bytes, wishes: Wishes, sentence: str
) -> None:
    assert rows_of(open_feed(io.BytesIO(first + then), wishes))
    with pytest.raises(DataError, match=sentence):
        paused(first, then, wishes)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"1 1:1\n-1 1:2\n1,2 1:1\n", 'line 3 has several labels, "1,2"'),
        (b"1 1:1\n-1 1:2\nnan 1:1\n", "line 3: the label.* is missing"),
        (b"1 1:1\n-1 1:2\ninf 1:1\n", "line 3: the label.* is infinite"),
        (b"spam a:1\nh\xff b:2\n", "is not UTF-8"),
    ],
)
@pytest.mark.parametrize("bits", [None, 6])
def test_a_label_is_one_label(content: bytes, sentence: str, bits: int | None) -> None:
    with pytest.raises(DataError, match=sentence):
        list(stream(io.BytesIO(content), hash_bits=bits))


def test_names_of_rows_left_out_get_no_column() -> None:
    content = b"p a:1\nn z:1 a:nan\nnan y:1\nn b:1\n"
    feed = open_feed(io.BytesIO(content), Wishes(Choices(missing="drop")))
    assert [mark for b in feed.batches(feed.start) for mark in [b.mark(2).dropped]] == [2]
    assert feed.names == ["a", "b"]


def test_many_classes_are_learned_however_the_stream_is_cut() -> None:
    labels = [f"k{k}" for k in range(30)] + [f"k{k}" for k in RNG.integers(0, 100, 200)]
    content = b"a,y\n" + "".join(f"{k},{y}\n" for k, y in enumerate(labels)).encode()
    results = []
    for every in (None, 1, 33):
        *_, last = stream(io.BytesIO(content), every=every)
        results.append(last)
    assert results[0] == results[1] == results[2]


def test_labels_that_are_measurements_are_refused_at_one_row() -> None:
    content = "a,y\n" + "".join(f"{k},{k / 7!r}\n" for k in range(1, 1200))
    for every in (None, 7):
        learner = nv.Perceptron()
        with pytest.raises(DataError, match="1,001 different labels in 1,001 rows are hardly"):
            list(stream(io.BytesIO(content.encode()), learner, every=every))
        assert len(learner.classes_) == 1000


def test_files_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,y\n" + b"1,0\n2,1\n" * 100)
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"a,y\n")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        list(stream(path))
        records = stream(path, every=1)
        next(records)
        records.close()
        with pytest.raises(DataError):
            list(stream(bad))
    assert len(os.listdir("/proc/self/fd")) == before


X, Y = RNG.normal(size=(4, 2)), [0, 1, 0, 1]
GAP, COMPLEX = X.copy(), X.astype(np.complex128)
GAP[2, 1] = np.nan


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ((X, Y), r"The source is a tuple: .*\[\(X, y\)\]"),
        (X, "The source is an array"),
        (pl.DataFrame({"a": [1.0]}), "The source is a DataFrame"),
        (7, "The source is an int, from which"),
        ([(X, Y, Y)], "Item 1 of the stream is a tuple, but must be a pair"),
        ([X[0]], "Item 1 of the stream is an array"),
        ([(X, np.array([Y]).T)], r"4 rows, but labels of shape \(4, 1\)"),
        ([(X, np.array([0.0, 1.0, np.nan, 0.0]))], "label that is NaN"),
        ([(X[0], 0), (X[1], float("nan"))], "Row 2 of the stream has the label nan"),
        ([(GAP, Y)], "Row 3 of the stream has a missing value, NaN"),
        ([(sp.csr_array(GAP), Y)], "Row 3 of the stream has a missing value, NaN"),
        ([(COMPLEX, Y)], "complex"),
        ([(COMPLEX[0], 1)], "Row 1 of the stream is an array, but must be a vector of real"),
        ([(1.5, 1)], "Row 1 of the stream is a float, but must be"),
    ],
)
def test_what_is_no_stream_is_said(source: object, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        list(stream(cast("StreamSource", source)))


@pytest.mark.parametrize("learner", [nv.Pocket(), nv.MaxMargin(), nv.Perceptron])
def test_only_a_perceptron_learns(learner: object) -> None:
    with pytest.raises(TypeError, match="must be a novikoff"):
        next(stream([(X, Y)], cast("nv.Perceptron", learner)))


@pytest.mark.parametrize("number", [0, -1, 2.5, True, 40, "8"])
def test_numbers_of_rows_and_bits_are_whole(number: object) -> None:
    with pytest.raises(ValueError, match=r"hash_bits is .*from 1 to 28"):
        next(stream([(X, Y)], hash_bits=cast("int", number)))
    if number != 40:
        with pytest.raises(ValueError, match=r"every is .*one row at least"):
            next(stream([(X, Y)], every=cast("int", number)))


def test_a_learner_that_knows_its_classes_keeps_them() -> None:
    learner = nv.Perceptron().fit(X, Y)
    assert next(stream([(X, Y)], learner, classes=[1, 0]))
    with pytest.raises(ValueError, match="the learner knows"):
        next(stream([(X, Y)], learner, classes=[0, 1, 2]))


@pytest.mark.parametrize(
    ("learner", "rows"),
    [
        (nv.Perceptron(step=1e308), [([0.9], 1), ([-1.5], 1)]),  # the bias
        (nv.Perceptron(step=1e306, average="averaged"), [([1.0], 0), ([1.0], 1)] * 300),
    ],
)
def test_weights_stay_within_float64(
    learner: nv.Perceptron, rows: list[tuple[list[float], int]]
) -> None:
    with pytest.raises(ValueError, match="beyond the range of float64"):
        list(stream(rows, learner, classes=[0, 1]))
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.intercept_).all()


def test_a_closed_standard_input_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"):
        open_feed("-")


def test_a_pipe_that_pauses_within_a_quote_is_waited_for() -> None:
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            pipe.write(b'a,n,y\n1,"x\n')
            time.sleep(1.0)  # longer than a pause that is taken for the beginning
            pipe.write(b'y",yes\n2,"z",no\n')

    thread = threading.Thread(target=write)
    thread.start()
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        feed = open_feed(pipe, Wishes(Choices(drop=("n",))))
        batches = list(feed.batches(feed.start))
    thread.join()
    rows = [cast("np.ndarray", batch.X) for batch in batches]
    assert np.vstack(rows).tolist() == [[1.0], [2.0]]
    assert [batch.labels[c] for batch in batches for c in batch.codes] == ["yes", "no"]


def test_rows_of_more_than_a_megabyte(tmp_path: Path) -> None:
    width, path = 60_000, tmp_path / "wide.csv"
    row = ",".join(["0.12345678901234567"] * width)
    header = ",".join(f"c{j}" for j in range(width))
    path.write_text(f"{header},y\n{row},p\n{row},n\n", encoding="utf-8")
    feed = open_feed(path)
    assert sum(len(batch) for batch in feed.batches(feed.start)) == 2
    assert feed.width == width


def test_a_quoted_label_over_lines_that_look_like_rows() -> None:
    """The lines in the middle of the label could be read for themselves, and must not be."""
    first = b"a,b,y\n" + b"0,1,u\n" * 150  # more than is looked at to find out what it is
    content = first + b'1,2,"x\n3,4,z\n5,6,z\nw"\n7,8,u\n'
    for size in range(1, 60):
        feed = open_feed(dropwise(content, size))
        batches = list(feed.batches(feed.start))
        rows = [row for batch in batches for row in cast("np.ndarray", batch.X).tolist()]
        assert rows == [[0.0, 1.0]] * 150 + [[1.0, 2.0], [7.0, 8.0]]
        labels = [batch.labels[c] for batch in batches for c in batch.codes]
        assert labels == ["u"] * 150 + ["x\n3,4,z\n5,6,z\nw", "u"]


def test_rows_with_labels_in_quotes_are_left_to_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def careful(*_: object, **__: object) -> None:
        raise AssertionError("read field by field")

    bare = b"x,y\n" + b"1.5,a\n-2,b c\n" * 500
    plain = rows_of(open_feed(io.BytesIO(bare)))
    monkeypatch.setattr(TableFeed, "read", careful)
    in_quotes = bare.replace(b"a", b'"a"').replace(b"b c", b'"b c"')
    assert rows_of(open_feed(io.BytesIO(in_quotes))) == plain
