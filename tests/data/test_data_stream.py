"""A stream gives the same rows in pieces, after pauses, and after it was stopped."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.data import (
    Piece,
    Position,
    ReadOptions,
    RowStream,
    StreamOptions,
    open_stream,
    read_pieces,
)
from novikoff.data.pairs import feature_hash
from novikoff.errors import ChangedError, DataError
from tests.cases import case_named
from tests.data_files import Dripping, open_files

Row = tuple[list[float], Hashable]
HASHED = StreamOptions(hash_bits=6)
CONTENTS = {
    "plain": b"a,b,y\n"
    + b"".join(b"%d,%d.5,%s\n" % (k, k % 7, b"pq"[k % 2 :][:1]) for k in range(50)),
    "quoted": b'a,"b",y\n' + b'1,2,"u\nv"\n3,4,"w ""x"""\n\n5,6,z\n' * 4,
    "gaps": b"a,b,y\n" + b"1,2,p\n,3,q\n4,?,p\n5,6,q\n7,8,NA\n9,9,p\n" * 2,
    "pairs": b"# rows\n1 1:2 5:3\r\n\n-1 2:1 # x\n1 7:1\n-1\n" * 3,
    "names": b"spam viagra:3 offer:1\nham hello:1 viagra:-1\n\nspam new:2 new:1\n" * 3,
    "json": b'{"y": 1, "a": 2}\n\n{"b": "c", "y": 0, "a": null}\r\n{"y": null, "d": 1}\n{"y": 1}\n'
    * 3,
}
DROP = StreamOptions(ReadOptions(missing="drop"))


def rows_of(pieces: Iterator[Piece | None]) -> list[Row]:
    """Each row, without zeros at its end, and its label."""
    found = []
    for piece in pieces:
        if piece is None:
            continue
        X = piece.X if isinstance(piece.X, np.ndarray) else piece.X.toarray()
        for code, row in zip(piece.codes, X.tolist(), strict=True):
            while row and row[-1] == 0.0:
                row.pop()
            found.append((row, piece.labels[code]))
    return found


def streamed(content: bytes, options: StreamOptions = StreamOptions(), size: int = 7) -> list[Row]:  # noqa: B008
    with open_stream(Dripping(content, size), options) as stream:
        return rows_of(stream.pieces())


@pytest.mark.parametrize("size", [None, 1, 5, 1 << 20], ids=lambda size: f"{size or 'file'}")
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_line_counts_with_or_without_its_end(
    end: bytes, size: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "two.csv"
    content = b"1,.5,y\n2,7,1" + end  # only the second row shows that the first is a header
    path.write_bytes(content)
    with open_stream(path if size is None else Dripping(content, size)) as stream:
        assert rows_of(stream.pieces()) == [([2.0, 7.0], 1)]
        assert stream.names == ["1", ".5"]


@pytest.mark.parametrize(
    ("form", "bits"),
    [*((form, None) for form in CONTENTS), ("pairs", 6), ("names", 6), ("json", 6)],
)
def test_a_stream_resumes_exactly_where_it_stopped(
    tmp_path: Path, form: str, bits: int | None
) -> None:
    content, options = CONTENTS[form], StreamOptions(ReadOptions(missing="drop"), hash_bits=bits)
    path = tmp_path / f"rows.{'csv' if content[:1] == b'a' else 'txt'}"
    path.write_bytes(content)
    with open_stream(path, options) as stream:
        expected = rows_of(stream.pieces())
        names, n_rows = stream.names, len(expected)
    for stop in range(n_rows + 1):
        with open_stream(path, options) as stream:
            before, state = list[Row](), stream.state(stream.start)
            for piece in stream.pieces():
                if piece is not None and len(before) < stop:
                    k = min(len(piece), stop - len(before))
                    before += rows_of(iter([piece]))[:k]
                    assert piece.position(k).row - piece.position(k).dropped == len(before)
                    state = stream.state(piece.position(k))
        state = json.loads(json.dumps(state))
        with open_stream(path, options, state=state) as stream:
            assert before + rows_of(stream.pieces()) == expected
            assert stream.names == names
        at = Position(*state["position"])
        with open_stream(Dripping(content[at.offset :], 9), options, state=state) as pipe:
            assert before + rows_of(pipe.pieces()) == expected


@pytest.mark.parametrize("form", ["plain", "gaps", "pairs", "names", "json"])
def test_bad_rows_can_be_skipped_wherever_they_are(form: str) -> None:
    """The bad rows are missing, and each is reported with its line and the reason."""
    lines, bad = CONTENTS[form].splitlines(keepends=True), b"\xff\xfe bad\n"
    options = StreamOptions(ReadOptions(missing="drop"), skip_bad=True)
    expected = streamed(b"".join(lines), options)
    for at, size in product(range(3, len(lines) + 1, 4), (7, 1 << 20)):
        content = b"".join([*lines[:at], bad, *lines[at:], bad])
        refused = list[tuple[int, str]]()
        found = list[Row]()
        with open_stream(Dripping(content, size), options) as stream:
            for piece in stream.pieces():
                found += rows_of(iter([piece]))
                if piece is not None and piece.rejected is not None:
                    refused.append((piece.begin.line + 1, str(piece.rejected)))
        assert found == expected
        assert [line for line, _ in refused] == [at + 1, len(lines) + 2]
        assert all("is not UTF-8" in reason for _, reason in refused)


def test_keys_that_were_dropped_stay_dropped() -> None:
    content = b'{"y": 1, "a": 2, "b": 3}\n{"y": 0, "a": 1, "b": 3}\n'
    with open_stream(io.BytesIO(content), StreamOptions(ReadOptions(drop=("b",)))) as stream:
        assert rows_of(stream.pieces()) == [([2.0], 1), ([1.0], 0)]
        state = stream.state(stream.start)
    with open_stream(io.BytesIO(content), state=state) as stream:
        assert rows_of(stream.pieces()) == [([2.0], 1), ([1.0], 0)]


@pytest.mark.parametrize("header", [b"a,y\n", b'"a",y\r\n'])
def test_a_pipe_may_repeat_the_header(header: bytes) -> None:
    with open_stream(io.BytesIO(header + b"1,p\n2,q\n")) as stream:
        (piece,) = stream.pieces()
        assert piece is not None
        state = stream.state(piece.end)
    for again in (header + b"3,p\n", b"3,p\n"):
        with case_named(again), open_stream(io.BytesIO(again), state=state) as stream:
            assert rows_of(stream.pieces()) == [([3.0], "p")]
    with open_stream(io.BytesIO(b""), state=state) as stream:
        assert rows_of(stream.pieces()) == []


CHANGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda text: text[:20], "shorter than when it was learned"),
    (lambda text: text.replace(b"24,", b"77,"), "before line 27 has changed"),
    (lambda text: b"a,b,y\n0,0,p\n" + text[6:], "has changed.$"),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES, ids=["shorter", "changed", "other"])
def test_a_different_file_is_not_resumed(
    change: Callable[[bytes], bytes], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(CONTENTS["plain"])
    with open_stream(path) as stream:
        (piece,) = stream.pieces()
        assert piece is not None
        state = stream.state(piece.position(25))
    path.write_bytes(CONTENTS["plain"] + b"7,8,p\n")  # a file may grow
    with open_stream(path, state=state) as stream:
        assert len(rows_of(stream.pieces())) == 26
    path.write_bytes(change(CONTENTS["plain"]))
    with pytest.raises(ChangedError, match=sentence):
        open_stream(path, state=state)


def many_rows(form: str, labels: Sequence[str]) -> bytes:
    """A file in a format, with these labels and a feature that counts the rows."""
    counts, stems = range(len(labels)), form.removesuffix(".gz")
    text = ""
    if stems == "csv":
        text = "a,y\n" + "".join(f"{k},{label}\n" for k, label in zip(counts, labels, strict=True))
    elif stems == "svm":
        text = "".join(f"{label} 1:{k}\n" for k, label in zip(counts, labels, strict=True))
    elif stems == "jsonl":
        rows = ({"a": k, "y": int(label)} for k, label in zip(counts, labels, strict=True))
        text = "".join(json.dumps(row) + "\n" for row in rows)
    if text:
        # The header has no time, so that the bytes depend only on the rows.
        return gzip.compress(text.encode(), mtime=0) if form.endswith(".gz") else text.encode()
    file, y = io.BytesIO(), [int(label) for label in labels]
    if form == "npy":
        np.save(file, np.column_stack([counts, y]).astype(float))
    elif form == "npz":
        np.savez(file, X=np.array([counts]).T.astype(float), y=y)
    else:
        table = pytest.importorskip("pyarrow").table({"a": [float(k) for k in counts], "y": y})
        if form == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, file)
        else:
            with pytest.importorskip("pyarrow").ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    return file.getvalue()


FORMS = ["csv", "csv.gz", "svm", "svm.gz", "jsonl", "jsonl.gz", "npy", "npz", "parquet", "arrow"]
LABELS = ["1", "2"] * 1000


def read_some(path: Path, n_rows: int) -> dict[str, object]:
    """The state of a stream after some of its rows, as a model file keeps it."""
    with open_stream(path) as stream:
        for piece in stream.pieces():
            if piece is not None and piece.end.row >= n_rows:
                at = piece.position(n_rows - piece.begin.row)
                return cast("dict[str, object]", json.loads(json.dumps(stream.state(at))))
    raise AssertionError("there are fewer rows")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [1, 1500, 2000])
@pytest.mark.parametrize("row", [0, 700, 1499])
def test_a_label_changed_in_place_is_noticed(
    tmp_path: Path, form: str, n_rows: int, row: int
) -> None:
    """At any place before the position, although size and time of the file stay the same."""
    path = tmp_path / f"rows.{form}"
    path.write_bytes(many_rows(form, LABELS))
    status, state = path.stat(), read_some(path, n_rows)
    other = list(LABELS)
    other[row] = "1" if other[row] == "2" else "2"
    path.write_bytes(many_rows(form, other))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    growing = form.removesuffix(".gz") in ("csv", "svm", "jsonl")
    if growing and row >= n_rows:  # the row had not been read
        with open_stream(path, state=state) as stream:
            assert len(rows_of(stream.pieces())) == 2000 - n_rows
        return
    with pytest.raises(ChangedError, match="has changed"):
        open_stream(path, state=state)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_with_a_new_time_and_the_same_bytes_is_resumed(tmp_path: Path, form: str) -> None:
    path, copy = tmp_path / f"rows.{form}", tmp_path / f"copy.{form}"
    path.write_bytes(many_rows(form, LABELS))
    state = read_some(path, 1500)
    copy.write_bytes(path.read_bytes())
    os.utime(copy, (1, 1))
    with open_stream(copy, state=state) as stream:
        rows = rows_of(stream.pieces())
    assert [row for row, _ in rows] == [
        [0.0] * (form.startswith("svm")) + [float(k)] for k in range(1500, 2000)
    ]


@pytest.mark.parametrize("form", ["csv", "csv.gz", "svm", "svm.gz", "jsonl", "jsonl.gz"])
def test_text_may_grow_and_must_not_shrink(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"rows.{form}"
    path.write_bytes(many_rows(form, LABELS))
    state = read_some(path, 2000)
    path.write_bytes(many_rows(form, [*LABELS, "1", "2", "1"]))
    with open_stream(path, state=state) as stream:
        assert len(rows_of(stream.pieces())) == 3
    path.write_bytes(many_rows(form, LABELS[:1999]))
    with pytest.raises(ChangedError, match="is shorter than when it was learned"):
        open_stream(path, state=state)


def test_the_header_is_part_of_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,y\n1,2,p\n3,4,q\n")
    state = read_some(path, 2)
    path.write_bytes(b"b,a,y\n1,2,p\n3,4,q\n")
    with pytest.raises(ChangedError, match="has changed"):
        open_stream(path, state=state)


def test_the_second_pass_knows_all_rows_of_the_first(tmp_path: Path) -> None:
    """The first pass has also learned the rows after the position."""
    path = tmp_path / "rows.csv"
    path.write_bytes(many_rows("csv", LABELS))
    with open_stream(path) as stream:
        assert len(rows_of(stream.pieces())) == 2000
        (piece,) = stream.pieces(stream.start)
        assert piece is not None
        state = stream.state(piece.position(10))
    with open_stream(path, state=state) as stream:
        assert len(rows_of(stream.pieces())) == 1990
        assert stream.state(piece.position(10))["read"] == state["read"]
    path.write_bytes(many_rows("csv", [*LABELS[:1000], "3", *LABELS[1001:]]))
    with pytest.raises(ChangedError, match="has changed"):
        open_stream(path, state=state)


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_a_binary_file_that_changes_while_it_is_read_has_no_state(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"rows.{form}"
    path.write_bytes(many_rows(form, LABELS))
    with open_stream(path) as stream:
        piece = next(stream.pieces())
        assert piece is not None
        with path.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"0")
        os.utime(path, (1, 1))
        with pytest.raises(ChangedError, match="has changed while it was read"):
            stream.state(piece.position(10))


def test_a_file_does_not_continue_the_rows_of_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(CONTENTS["plain"])
    with open_stream(io.BytesIO(CONTENTS["plain"])) as stream:
        (piece,) = stream.pieces()
        assert piece is not None
        state = stream.state(piece.position(25))
    for content in (CONTENTS["plain"], b"a,b,y\n"):
        with case_named(content):
            path.write_bytes(content)
            with pytest.raises(ChangedError, match="came from a pipe: whether"):
                open_stream(path, state=state)


def test_a_line_that_was_not_all_there_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,y\n1,p\n2,q\n3,p")
    with open_stream(path) as stream:
        *_, piece = stream.pieces()
        assert piece is not None
        state = stream.state(piece.end)
    path.write_bytes(b"a,y\n1,p\n2,q\n3,pq\n")
    with pytest.raises(ChangedError, match="line 4 was the last line and had no line end"):
        open_stream(path, state=state)
    path.write_bytes(b"a,y\n1,p\n2,q\n3,p\n4,q\n")
    with open_stream(path, state=state) as stream:
        assert rows_of(stream.pieces()) == [([4.0], "q")]


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_binary_files_are_streams_too(tmp_path: Path, form: str) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / f"rows.{form}"
    if form == "parquet":
        pq.write_table(pa.table({"a": [1.5, None, 3.0], "y": [7, 8, 7]}), path)
    else:
        np.savez(path, X=[[1.5], [np.nan], [3.0]], y=["p", "q", "p"])
    with open_stream(path, DROP) as stream:
        (piece,) = stream.pieces()
        assert piece is not None
        state = stream.state(piece.position(1))
        assert piece.position(1) == Position(1, 0, 1, 0)
        assert piece.position(2) == Position(3, 0, 3, 1)
    with open_stream(path, DROP, state=state) as stream:
        assert rows_of(stream.pieces()) == [([3.0], 7 if form == "parquet" else "p")]
    with open_stream(path, StreamOptions(DROP.reading, text_labels=True)) as stream:
        assert rows_of(stream.pieces())[1] == ([3.0], "7" if form == "parquet" else "p")
    with pytest.raises(DataError, match="cannot be read from a pipe"):
        open_stream(io.BytesIO(path.read_bytes()))


def test_rows_come_as_soon_as_they_are_there() -> None:
    reader, writer = os.pipe()
    taken = threading.Semaphore(0)

    def write() -> None:
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            pipe.write(b"a,y\n0,p\n1,q\n")
            for k in range(2, 6):
                taken.acquire()  # each row is written when the one before has been seen
                pipe.write(b"%d,p\n" % k)

    thread = threading.Thread(target=write)
    thread.start()
    found = []
    with os.fdopen(reader, "rb", buffering=0) as pipe, open_stream(pipe) as stream:
        for piece in stream.pieces():
            found += rows_of(iter([piece]))
            if piece is not None:
                taken.release()
    thread.join()
    assert [row for row, _ in found] == [[], [1.0], [2.0], [3.0], [4.0], [5.0]]


def test_a_pipe_that_pauses_within_a_quote_is_waited_for() -> None:
    reader, writer = os.pipe()
    silent = threading.Event()

    def write() -> None:
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            pipe.write(b'a,n,y\n1,"x\n')
            silent.wait(1.0)  # longer than the pause after which the format is found
            pipe.write(b'y",yes\n2,"z",no\n')

    thread = threading.Thread(target=write)
    thread.start()
    options = StreamOptions(ReadOptions(drop=("n",)))
    with os.fdopen(reader, "rb", buffering=0) as pipe, open_stream(pipe, options) as stream:
        assert rows_of(stream.pieces()) == [([1.0], "yes"), ([2.0], "no")]
    thread.join()


# A stream, the error, and the number of rows before it.
BAD_ROWS = [
    (b"1 1:1\n-1 1:2\n1,2 1:1\n", "line 3.*several labels", 2),
    (b"1 1:1\n-1 1:2\nnan 1:1\n", "line 3 has the label nan", 2),
    (b"1 1:1\n-1 1:2\ninf 1:1\n", "line 3 has the label inf", 2),
    (b"1 1:1\n-1 1:2\n-1 2:2 1:1\n1 1:1\n", "indices must ascend", 2),
    (b"spam a:1\nham b\n", "not of the form feature:value", 1),
    (b"spam a:1\nnan b:1\n", "line 2 has the label nan", 1),
    (b"spam a:1\nham b:1e999\n", "is infinite", 1),
    (b"spam a:1\nham b:9007199254740993\n", "float64 cannot hold exactly", 1),
    (b"a,y\n" + b"1,1\n2,0\n" * 60 + b"3,maybe\n4,1\n", 'row 121 has the label "maybe"', 120),
    (b"a,y\n1,1\n2,0\nx,1\n", r'row 3 \(line 4\), column "a" holds "x", which is not a number', 2),
    (b"a,y\n" + b"1,1\n" * 120 + b"x,1\n2,0\n", r'row 121 \(line 122\), column "a" holds "x"', 120),
    (b"a,y\n1,1\n2,0\n3\n", r"row 3 \(line 4\) has 1 field where 2 are expected", 2),
    (b"a,y\n1,1\n2,0\n,1\n", r'row 3 \(line 4\), column "a" is missing; missing=.drop.', 2),
    (b"a,y\n1,1\n2,0\n3,\xff\n", "not UTF-8 text.*line 4", 0),
    (b"a,y\n1,1\n2,0\n1e999,1\n", r'row 3 \(line 4\), column "a" is infinite', 2),
    (b",a,y\n5,2,3\n2,3,4\n", "no name for column 1", 0),
]


@pytest.mark.parametrize(("content", "sentence", "n_rows"), BAD_ROWS, ids=lambda x: str(x)[:40])
def test_rows_before_a_bad_one_are_given(content: bytes, sentence: str, n_rows: int) -> None:
    found, flaw = list[Row](), ""
    try:
        with open_stream(io.BytesIO(content)) as stream:
            for piece in stream.pieces():
                found += rows_of(iter([piece]))
    except DataError as error:
        flaw = str(error)
    assert re.search(sentence, flaw), flaw
    assert len(found) == n_rows


class TestNames:
    def test_each_new_name_gets_the_next_column(self) -> None:
        with open_stream(Dripping(CONTENTS["names"], 3)) as stream:
            rows = rows_of(stream.pieces())
            assert stream.names == ["viagra", "offer", "hello", "new"]
        assert rows[:3] == [
            ([3.0, 1.0], "spam"),
            ([-1.0, 0.0, 1.0], "ham"),
            ([0, 0, 0, 3.0], "spam"),
        ]

    def test_names_of_rows_left_out_get_no_column(self) -> None:
        content = b"p a:1\nn z:1 a:nan\nnan y:1\nn b:1\n"
        with open_stream(io.BytesIO(content), DROP) as stream:
            (piece,) = stream.pieces()
            assert piece is not None
            assert piece.position(2).dropped == 2
            assert stream.names == ["a", "b"]

    @pytest.mark.parametrize("bits", [1, 16, 31])
    @pytest.mark.parametrize(
        ("name", "h"), [(b"", 0xCBF29CE484222325), (b"foobar", 0x85944171F73967E8)]
    )
    def test_the_hash_is_that_of_its_authors(self, name: bytes, h: int, bits: int) -> None:
        """Test vectors of Fowler, Noll and Vo, folded by hand."""
        assert feature_hash(name, bits) == (h >> bits ^ h) % 2**bits

    def test_names_are_hashed_and_added_up(self) -> None:
        ((row, label),) = streamed(b"spam free:1 money:2.5 free:3\n", StreamOptions(hash_bits=4))
        expected = [0.0] * 16
        for name, value in ((b"free", 4.0), (b"money", 2.5)):
            expected[feature_hash(name, 4)] += value
        assert (row + [0.0] * (16 - len(row)), label) == (expected, "spam")

    def test_numbers_may_be_names(self) -> None:
        with open_stream(io.BytesIO(b"1 7:1 3:2\n"), StreamOptions(names=True)) as stream:
            assert rows_of(stream.pieces()) == [([1.0, 2.0], 1)]
            assert stream.names == ["7", "3"]


class TestPrediction:
    """Rows for a model: the model determines the features, and labels may be missing."""

    @staticmethod
    def learned(content: bytes, options: StreamOptions = StreamOptions()) -> RowStream:  # noqa: B008
        stream = open_stream(io.BytesIO(content), options)
        rows_of(stream.pieces())
        return stream

    def test_unknown_names_are_left_out_and_counted(self) -> None:
        recipe = self.learned(CONTENTS["names"]).recipe(4)
        content = b"money:1 viagra:2\nspam offer:1\neggs new:1\n"
        reader = read_pieces(io.BytesIO(content), recipe=recipe, classes=["ham", "spam"])
        (piece,) = reader.pieces()
        assert piece is not None
        assert sp.csr_array(piece.X).toarray().tolist() == [
            [2, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, 0, 1],
        ]
        assert [piece.labels[c] if c >= 0 else None for c in piece.codes] == [None, "spam", "eggs"]
        assert reader.notes == ['1 feature that the model does not know is left out: "money"']

    def test_labels_are_read_as_those_of_the_model(self) -> None:
        recipe = self.learned(b"a,y\n1,0\n2,1\n").recipe(1)
        content = b"y,a\n1.0,5\n1,6\nmaybe,7\n,8\n2,9\n"
        reader = read_pieces(Dripping(content, 4), recipe=recipe, classes=[0, 1])
        labels = list[object]()
        for piece in reader.pieces():
            if piece is not None:
                labels += [piece.labels[c] if c >= 0 else None for c in piece.codes]
        assert labels == [1, 1, None, None, 2]
        assert (reader.label, reader.n_labelled) == ("y", 4)

    def test_svmlight_beyond_the_model_is_rejected(self) -> None:
        recipe = self.learned(b"1 0:1 3:1\n-1 2:1\n").recipe(4)
        reader = read_pieces(io.BytesIO(b"1 3:5\n-1 0:1 9:0\n"), recipe=recipe, classes=[-1, 1])
        (piece,) = reader.pieces()
        assert piece is not None
        assert sp.csr_array(piece.X).toarray().tolist() == [[0, 0, 0, 5], [1, 0, 0, 0]]
        with pytest.raises(DataError, match="line 1 has more features than the model's 4"):
            list(read_pieces(io.BytesIO(b"1 4:5\n"), recipe=recipe).pieces())

    @pytest.mark.parametrize(
        ("rows", "codes"),
        [(b"spam 1:2 3:1\nham 2:1\n", [0, 1]), (b"1:2 3:1\n2:1\n", [-1, -1])],
        ids=["labelled", "unlabelled"],
    )
    def test_numbered_features_may_have_labels_of_text(self, rows: bytes, codes: list[int]) -> None:
        recipe = self.learned(b"spam 1:2 3:1\nham 2:1\n").recipe(4)
        reader = read_pieces(io.BytesIO(rows), recipe=recipe, classes=["ham", "spam"])
        (piece,) = reader.pieces()
        assert piece is not None
        assert sp.csr_array(piece.X).toarray().tolist() == [[0, 2, 0, 1], [0, 0, 1, 0]]
        assert piece.codes.tolist() == codes

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"a,b\n1,2\n", "nor of the form label feature:value"),
            (b"", "is empty"),
            (b"# nothing\n", "has no rows"),
            (b"spam viagra:nan\n", "is missing"),
        ],
    )
    def test_rows_of_another_form(self, content: bytes, sentence: str) -> None:
        recipe = self.learned(CONTENTS["names"]).recipe(4)
        with pytest.raises(DataError, match=sentence):
            list(read_pieces(io.BytesIO(content), recipe=recipe).pieces())


@pytest.mark.parametrize(
    ("options", "content", "sentence"),
    [
        (StreamOptions(ReadOptions(missing="mean")), b"a,y\n1,2\n", "which a stream does not have"),
        (StreamOptions(ReadOptions(drop=("a",))), b"1 1:2\n", "drop does not apply to svmlight"),
        (StreamOptions(), b"", "is empty"),
        (HASHED, b"a,y\n1,2\n", "to which hash_bits does not apply"),
        (StreamOptions(ReadOptions(one_hot=("a",))), b"a,y\nu,2\n", "write text as features"),
        (StreamOptions(), b"a,y\n", "header but no rows"),
    ],
)
def test_streams_that_are_rejected(options: StreamOptions, content: bytes, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        open_stream(io.BytesIO(content), options)


@pytest.mark.parametrize(
    "state", [{}, {"form": "NamedRows"}, {"position": [0, 0, 0, 0], "form": "CsvTable"}], ids=str
)
def test_an_invalid_state(state: dict[str, object]) -> None:
    with pytest.raises(DataError, match="does not say how its stream was read"):
        open_stream(io.BytesIO(b"a,y\n1,2\n"), state={"format": "csv", **state})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_bad_row_among_thousands_is_found(end: str) -> None:
    rows = ["a,y", *["1,0", "2,1"] * 3000, "x,1", *["1,0"] * 3000, ""]
    content = io.BytesIO(end.join(rows).encode())
    with open_stream(content, StreamOptions(skip_bad=True)) as stream:
        pieces = [piece for piece in stream.pieces() if piece is not None]
    assert sum(map(len, pieces)) == 9000
    assert [piece.end.row for piece in pieces if piece.rejected] == [6001]


def test_gzip_comes_in_pieces_too(tmp_path: Path) -> None:
    content = gzip.compress(CONTENTS["plain"][:300]) + gzip.compress(CONTENTS["plain"][300:])
    (tmp_path / "rows.csv.gz").write_bytes(content)
    expected = streamed(CONTENTS["plain"])
    assert streamed(content, size=5) == expected
    with open_stream(tmp_path / "rows.csv.gz") as stream:
        piece = next(piece for piece in stream.pieces() if piece is not None)
        state = stream.state(piece.position(20))
    with open_stream(tmp_path / "rows.csv.gz", state=state) as stream:
        assert rows_of(stream.pieces()) == expected[20:]
    with pytest.raises(DataError, match="gzip data ends too early"):
        streamed(content[:-9])


def test_files_are_given_back(tmp_path: Path) -> None:
    path, bad = tmp_path / "rows.csv", tmp_path / "bad.csv"
    path.write_bytes(CONTENTS["plain"])
    bad.write_bytes(b"a,y\n")
    for _ in range(5):
        with open_stream(path) as stream:
            next(stream.pieces())
        with pytest.raises(DataError):
            open_stream(bad)
        assert open_files(tmp_path) == []


def test_a_closed_standard_input_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"):
        open_stream("-")


LARGE = 2**53 + 1


@pytest.mark.parametrize(
    "content",
    [
        f"a,y\n1,{LARGE}\n2,0\n",
        f"{LARGE} 1:1\n0 1:2\n",
        f'{{"y": {LARGE}, "a": 1}}\n{{"y": 0, "a": 2}}\n',
    ],
    ids=["csv", "svmlight", "jsonl"],
)
def test_integer_labels_that_are_not_exact_as_floats_are_rejected(content: str) -> None:
    with (
        open_stream(io.BytesIO(content.encode())) as stream,
        pytest.raises(DataError, match=rf"row 1 has the label {LARGE}"),
    ):
        list(stream.pieces())
    with open_stream(io.BytesIO(content.encode()), StreamOptions(text_labels=True)) as stream:
        assert rows_of(stream.pieces())[0][1] == str(LARGE)
