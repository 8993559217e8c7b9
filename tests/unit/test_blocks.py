"""Rows in blocks: read, learned and decided as if they were all in memory at once."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.blocks import Blocks, CodedBlocks, ahead
from novikoff.core.orders import Cyclic, Deck
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data import Choices, DataError, read
from novikoff.data.chunks import blocks as chunked
from novikoff.data.chunks import pieces
from novikoff.data.chunks.blocks import blocks
from novikoff.geometry import blockwise
from novikoff.report.block_study import study_blocks
from novikoff.report.steps import Options
from novikoff.report.study import study

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DEFAULT = Choices()


class Given:
    """Blocks of so many rows of a matrix."""

    def __init__(
        self, X: Floats | SparseMatrix, y: npt.NDArray[np.generic], size: int, known: bool = False
    ) -> None:
        self.X, self.y, self.size = X, y, size
        self.n_rows = X.shape[0] if known else None

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.generic]]]:
        for first in range(0, self.X.shape[0], self.size):
            yield self.X[first : first + self.size], self.y[first : first + self.size]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """Pieces of 2,000 bytes, and kernels from 500 on; the memory that asks for them."""
    monkeypatch.setattr(chunked, "_LEAST", 2000)
    monkeypatch.setattr(chunked, "_BLOCK", 2000)
    monkeypatch.setattr(pieces, "_LARGE", 500)
    return 2000 * 64


LABELS = {
    "integers": ["1", "-1"],
    "late text": ["0"] * 50 + ["zero"],
    "one number": ["0", "1.0", "1"],
    "quoted": ["plain", '"a, b"', '"x ""y"""', '"two\nlines"'],
    "unicode": ["é", "ß", " ü "],
    "truth": ["true", "False"],
}


def written(folder: Path, kind: str, *, end: str = "\n", gaps: bool = False) -> Path:
    rng = np.random.default_rng(len(kind))
    labels = LABELS[kind]
    lines = ["a,b,kind"]
    for k in range(400):
        a, b = rng.normal(size=2).tolist()
        first = "" if gaps and rng.random() < 0.1 else repr(a)
        lines.append(f"{first},{b!r},{labels[k % len(labels)]}")
    path = folder / f"{kind.replace(' ', '-')}.csv"
    path.write_bytes((end.join(lines) + end * (len(kind) % 3)).encode())
    return path


def check_same(path: Path, choices: Choices, memory: int | None, cache: Path | None) -> None:
    whole = read(path, choices)
    found = blocks(path, choices, max_memory=memory, cache=cache)
    assert isinstance(found, CodedBlocks)
    for _ in range(2):  # again and again
        X, y = map(list, zip(*found, strict=True))
        assert len(X) > 1
        every = sp.vstack(X).toarray() if found.sparse else np.concatenate(X)
        wanted = whole.X if isinstance(whole.X, np.ndarray) else whole.X.toarray()
        assert X[0].dtype == whole.X.dtype
        assert np.array_equal(every.view(np.uint8), np.asarray(wanted).view(np.uint8))
        assert np.array_equal(np.concatenate(y), whole.labels)
        assert y[0].dtype.kind == whole.labels.dtype.kind
    assert found.recipe == whole.recipe
    assert found.names == whole.names
    assert np.array_equal(found.rows, whole.rows)
    assert found.label == whole.label
    assert found.classes.tolist() == np.unique(whole.labels).tolist()


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("kind", LABELS)
def test_text_is_read_as_in_memory(
    tmp_path: Path, small: int, kind: str, end: str, cached: bool
) -> None:
    path = written(tmp_path, kind, end=end)
    cache = tmp_path / "cache" if cached else None
    check_same(path, DEFAULT, small, cache)
    check_same(path, Choices(features=("b",)), small, cache)


def test_rows_with_gaps_are_dropped_and_counted(tmp_path: Path, small: int) -> None:
    path = written(tmp_path, "integers", gaps=True)
    for cache in (None, tmp_path / "cache"):
        check_same(path, Choices(missing="drop"), small, cache)
    dropped = blocks(path, Choices(missing="drop"), max_memory=small)
    assert f"{len(dropped.dropped)} rows with missing values dropped" in dropped.notes


def test_labels_of_dropped_rows_are_no_classes(tmp_path: Path, small: int) -> None:
    choices = Choices(missing="drop")
    (tmp_path / "a.csv").write_text("a,y\n" + "1,p\n2,q\n,r\n4,p\n" * 200)
    (tmp_path / "a.svm").write_text("1 1:0.5\n-1 1:0.25\nnan 1:2\n7 1:nan\n" * 200)
    table = {"a": [1.0, 2.0, None, 4.0] * 200, "y": ["p", "q", "r", "p"] * 200}
    pq.write_table(pa.table(table), tmp_path / "a.parquet", row_group_size=100)
    for cache in (None, tmp_path / "cache"):
        for name, classes in (("a.csv", ["p", "q"]), ("a.svm", [-1, 1]), ("a.parquet", ["p", "q"])):
            found = blocks(tmp_path / name, choices, max_memory=small, cache=cache)
            assert found.classes.tolist() == classes
            whole = read(tmp_path / name, choices)
            assert np.array_equal(np.concatenate([y for _, y in found]), whole.labels)
            assert np.array_equal(found.rows, whole.rows)


LONG = b"1.5,2.5,a\n2.5,1.0,b\n" * 300
STRETCHES = {
    "labels missing": LONG + b"1.25,2.5,\n" * 900 + LONG,
    "values missing": LONG + b",2.5,a\n" * 900 + LONG,
    "blank lines": LONG + b"\n" * 9000 + LONG,
    "blank lines at the end": LONG + b"\r\n" * 9000,
    "a quote in a field": b'1,2,5"\n' + LONG,
    "quotes": LONG + b'1,2,"5"""\n"1",2,"a\nb"\n' * 500 + LONG,
    "a long line": LONG + b"1,2," + b"c" * 9000 + b"\n" + LONG,
}


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("kind", STRETCHES)
def test_pieces_need_not_have_rows(tmp_path: Path, small: int, kind: str, cached: bool) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"x,z,y\n" + STRETCHES[kind])
    check_same(path, Choices(missing="drop"), small, tmp_path / "cache" if cached else None)


def test_a_piece_may_hold_the_header_alone(tmp_path: Path, small: int) -> None:
    names = ",".join(f"c{j:0300}" for j in range(6))
    path = tmp_path / "rows.csv"
    rows = "\n".join(
        ",".join([str(k % 7 + j) for j in range(5)] + ["ab"[k % 2]]) for k in range(900)
    )
    path.write_text(f"{names}\n{rows}\n")
    check_same(path, DEFAULT, small, None)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_without_a_header_have_one_width(tmp_path: Path, small: int, mark: bytes) -> None:
    path = tmp_path / "rows.csv"
    rows = b"+7,5.,+7,c\n0,-0.125,0,d\n" * 300
    path.write_bytes(mark + rows)
    check_same(path, DEFAULT, small, None)
    path.write_bytes(mark + rows + b"1e3,1,2,-0.125,c\n" * 300)
    with pytest.raises(DataError, match="line 601 has 5 fields where 4 are expected"):
        blocks(path, max_memory=small)
    path.write_bytes(mark + rows + b"1,1,1,\xff\n")
    with pytest.raises(DataError) as whole:
        read(path)
    with pytest.raises(DataError) as found:
        blocks(path, max_memory=small)
    assert str(found.value) == str(whole.value)


def test_svmlight_pieces_need_not_have_rows(tmp_path: Path, small: int) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n-1 2:1\n" * 300 + "1 1:nan\n" * 900 + "# nothing\n\n" * 900)
    check_same(path, Choices(missing="drop"), small, None)
    path.write_text("1 1:nan\n" * 900)
    with pytest.raises(DataError, match="has no row without missing values"):
        blocks(path, Choices(missing="drop"), max_memory=small)


def test_gzip_is_unpacked_on_the_way(tmp_path: Path, small: int) -> None:
    path = written(tmp_path, "quoted")
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    check_same(packed, DEFAULT, small, None)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"rows.csv.gz is cut off"):
        blocks(packed, max_memory=small)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("kind", ["from one", "from zero", "late zero", "gaps", "comments"])
def test_svmlight_is_read_as_in_memory(tmp_path: Path, small: int, kind: str, cached: bool) -> None:
    rng = np.random.default_rng(len(kind))
    lines = []
    for k in range(400):
        first = 0 if kind == "from zero" or (kind == "late zero" and k == 350) else 1
        columns = np.unique(rng.integers(first, 5 + k, 4))
        value = "nan" if kind == "gaps" and k % 37 == 5 else repr(rng.normal())
        pairs = " ".join(f"{j}:{value}" for j in ([0, *columns[1:]] if first == 0 else columns))
        lines.append(f"{['+1', '-1', '3.0', '1'][k % 4]} {'' if k == 7 else pairs}")
        if kind == "comments":
            lines[-1] += " # a: 0:7 é"
            lines += ["", "# nothing but a remark", " "] * (k % 5 == 0)
            lines[-1] = lines[-1].replace("1 ", "1 qid:3 ", 1) if k == 300 else lines[-1]
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines))
    missing = Choices(missing="drop" if kind == "gaps" else "refuse")
    check_same(path, missing, small, tmp_path / "cache" if cached else None)
    found = blocks(path, missing, max_memory=small)
    notes = [note for note in found.notes if "dropped" not in note]
    assert notes == [note for note in read(path, missing).notes if "dropped" not in note]
    for flaw in ("1 1:1e400", "1 3:nan 4:inf", "1 1:2 \0"):
        lines[381] = flaw
        path.write_text("\n".join(lines))
        with pytest.raises(DataError) as whole:
            read(path)
        with pytest.raises(DataError) as found_out:
            blocks(path, max_memory=small)
        if kind != "gaps":
            assert str(found_out.value) == str(whole.value)
    lines[380:382] = ["1 3:x", "1 1:1"]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"rows.svm, line 381, column 3") as broken:
        blocks(path, missing, max_memory=small, cache=tmp_path / "cache" if cached else None)
    with pytest.raises(DataError) as whole:
        read(path, missing)
    assert str(broken.value) == str(whole.value)


BAD = {
    "text": (250, "oops,1,1"),
    "a gap": (250, ",1,1"),
    "no label": (399, "1,1,"),
    "infinity": (250, "1e999,1,1"),
    "short": (250, "1,1"),
    "long": (399, "1,1,1,1"),
    "quote": (390, '"1,1,1'),
    "not UTF-8": (250, "1,1,\udcff"),
    "NUL": (250, "1,\0,1"),
}


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("flaw", BAD)
def test_errors_name_the_line_of_the_whole_file(
    tmp_path: Path, small: int, flaw: str, cached: bool
) -> None:
    path = written(tmp_path, "integers")
    at, line = BAD[flaw]
    lines = path.read_bytes().split(b"\n")
    lines[at + 1] = line.encode(errors="surrogateescape")
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError) as whole:
        read(path)
    with pytest.raises(DataError) as found:
        list(blocks(path, max_memory=small, cache=tmp_path / "cache" if cached else None))
    one, other = str(whole.value).split(";")[0], str(found.value).split(";")[0]
    assert one == other
    assert not list(tmp_path.glob("cache/*"))


@pytest.mark.parametrize(
    ("choices", "what"),
    [
        (Choices(one_hot=("*",)), "--one-hot needs all rows at once"),
        (Choices(missing="mean"), "--missing mean needs all rows at once"),
        (Choices(label="nothing"), "nothing"),
    ],
)
def test_what_needs_all_rows_is_refused(tmp_path: Path, choices: Choices, what: str) -> None:
    with pytest.raises(DataError, match=what):
        blocks(written(tmp_path, "integers"), choices)


def test_what_cannot_be_read_in_blocks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="only once"):
        blocks("-")
    with pytest.raises(DataError, match=r"nowhere.csv does not exist"):
        blocks(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="without Parquet files"):
        blocks(tmp_path)
    np.save(tmp_path / "a.npy", np.zeros((3, 3)))
    with pytest.raises(DataError, match="is npy, which is not read in blocks"):
        blocks(tmp_path / "a.npy")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="not a regular file"):
        blocks(tmp_path / "pipe.csv")
    (tmp_path / "rownames.csv").write_text(",a,kind\n1,2,x\n2,3,y\n")
    with pytest.raises(DataError, match="no name for column 1"):
        blocks(tmp_path / "rownames.csv")
    (tmp_path / "manifold.csv").write_text("a,b\n" + "\n".join(f"1,{k}" for k in range(99)))
    with pytest.raises(DataError, match="hardly a class"):
        blocks(tmp_path / "manifold.csv")


class Table(Protocol):
    schema: object

    def slice(self, offset: int, length: int) -> Table: ...


def table_of(n: int, kind: type = np.float64) -> Table:
    rng = np.random.default_rng(0)
    table: Table = pa.table(
        {
            "a": rng.normal(size=n).astype(kind),
            "b": rng.normal(size=n).astype(kind),
            "kind": rng.choice(["x", "y", "z"], n),
        }
    )
    return table


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_typed_tables_are_read_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, cached: bool
) -> None:
    monkeypatch.setattr("novikoff.data.chunks.batches._ENTRIES", 1)
    table = table_of(5000, kind)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    for name, opened in (("a.arrow", pa.ipc.new_file), ("s.arrow", pa.ipc.new_stream)):
        with pa.OSFile(str(tmp_path / name), "wb") as file, opened(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=900)
    monkeypatch.setattr(chunked, "_BLOCK", 2000)
    for name in ("a.parquet", "a.arrow", "s.arrow"):
        check_same(tmp_path / name, DEFAULT, 10**9, tmp_path / "cache" if cached else None)


def test_a_folder_of_parquet_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table = table_of(300)
    for k in range(3):
        pq.write_table(table.slice(100 * k, 100), folder / f"part-{k}.parquet")
    (folder / "_SUCCESS").touch()
    pq.write_table(table, tmp_path / "whole.parquet")
    whole = read(tmp_path / "whole.parquet")
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        found = blocks(folder, cache=cache)
        assert found.n_rows == 300
        every = np.concatenate([np.asarray(X) for X, _ in found])
        assert np.array_equal(every, np.asarray(whole.X))
    pq.write_table(table_of(10, np.float32), folder / "part-9.parquet")
    with pytest.raises(DataError, match=r"part-9.parquet: column \"a\" is of type float"):
        blocks(folder)


def test_labels_of_numbers_are_one_type_over_all_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("novikoff.data.chunks.batches._ENTRIES", 1)
    y = np.array([0.0] * 2000 + [0.5] * 2000)  # whole numbers, until they are not
    pq.write_table(pa.table({"a": np.arange(4000.0), "y": y}), tmp_path / "a.parquet")
    check_same(tmp_path / "a.parquet", DEFAULT, 10**9, None)


@pytest.mark.parametrize("max_memory", [None, 10**9])
def test_whole_labels_come_up_in_any_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_memory: int | None
) -> None:
    monkeypatch.setattr("novikoff.data.chunks.batches._ENTRIES", 1)
    classes: list[list[int | None]] = [[7, 3], [7, 3, 5], [7, 3, 5, None], [*range(9)]]
    for k, several in enumerate(classes):
        y = [value for value in several for _ in range(1500)] + [3, 7] * 800
        path = tmp_path / f"{k}.parquet"
        pq.write_table(pa.table({"a": np.arange(float(len(y))), "y": pa.array(y)}), path)
        check_same(path, Choices(missing="drop"), max_memory, None)


def test_a_piece_does_not_count_the_gaps_of_the_file(tmp_path: Path) -> None:
    values = np.arange(400.0)
    values[[7, 9, 300]] = np.nan
    table = pa.table({"a": values, "y": [0, 1] * 200})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"in 3 rows\); --missing drop .* mean"):
        read(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"row 8, column \"a\" is missing; --missing drop") as found:
        list(blocks(tmp_path / "a.parquet"))
    assert "mean" not in str(found.value)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_kernel_sees_what_is_not_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, odd: float
) -> None:
    monkeypatch.setattr("novikoff.data.fill._LARGE", 0)
    X = np.ones((3, 3000))
    X[1, 2345] = odd
    columns = {name: pa.array(X[j], kind) for j, name in enumerate("abc")}
    pq.write_table(pa.table({**columns, "y": [0, 1] * 1500}), tmp_path / "a.parquet")
    for opened in (read, lambda path: list(blocks(path))):
        with pytest.raises(DataError, match='row 2346, column "b"'):
            opened(tmp_path / "a.parquet")


TYPED = {
    "bool": pa.array([True, False, None] * 100),
    "int8": pa.array([3, -2, None] * 100, pa.int8()),
    "uint64": pa.array([2**64 - 1, 5, None] * 100, pa.uint64()),
    "float16": pa.array(np.array([0.5, 1.5, 2.0] * 100, np.float16)),
    "float32": pa.array([0.5, float("nan"), None] * 100, pa.float32()),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.00"), None] * 100),
    "large": pa.array(["a", "b", None] * 100, pa.large_string()),
    "view": pa.array(["a", "b", None] * 100, pa.string_view()),
    "dictionary": pa.array(["a", "b", None] * 100).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TYPED)
def test_labels_of_every_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("novikoff.data.chunks.batches._ENTRIES", 1)
    labels = pa.concat_arrays([TYPED[kind]] * 10)
    table = pa.table({"a": np.arange(3000.0), "y": labels})
    file = pa.OSFile(str(tmp_path / "a.arrow"), "wb")
    with file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    check_same(tmp_path / "a.arrow", Choices(missing="drop"), 10**9, None)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"x", b"y"]])
def test_labels_that_are_none_are_refused(tmp_path: Path, values: list[object]) -> None:
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": values}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="cannot be the label") as whole:
        read(tmp_path / "a.parquet")
    with pytest.raises(DataError) as found:
        blocks(tmp_path / "a.parquet")
    assert str(found.value) == str(whole.value)


def test_a_row_of_a_damaged_batch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("novikoff.data.chunks.batches._ENTRIES", 1)
    values = np.arange(4000.0)
    values[3210] = np.nan
    pq.write_table(pa.table({"a": values, "y": [0, 1] * 2000}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="row 3211, column") as whole:
        read(tmp_path / "a.parquet")
    with pytest.raises(DataError) as found:
        list(blocks(tmp_path / "a.parquet"))
    assert str(found.value).split(";")[0] == str(whole.value).split(";")[0]


def test_a_file_that_changes_is_noticed(tmp_path: Path, small: int) -> None:
    path = written(tmp_path, "integers")
    found = blocks(path, max_memory=small)
    with path.open("a") as file:
        file.write("1,1,1\n")
    with pytest.raises(DataError, match="has changed while it was being read"):
        list(found)


def test_a_file_that_changes_leaves_no_cache(tmp_path: Path, small: int) -> None:
    path, cache = written(tmp_path, "integers"), tmp_path / "cache"

    def change(rows: int) -> None:
        with path.open("a") as file:
            file.write("1,1,1\n")

    with pytest.raises(DataError, match="has changed while it was being read"):
        blocks(path, max_memory=small, cache=cache, progress=change)
    assert not list(cache.iterdir())


def test_a_cache_may_lie_among_the_files_it_is_of(tmp_path: Path) -> None:
    folder = tmp_path / "データ"
    folder.mkdir()
    pq.write_table(table_of(50), folder / "a.parquet")
    told: list[int] = []
    for name in (f"{folder}", f"{folder}/"):
        assert blocks(name, cache=folder, progress=told.append).n_rows == 50
    assert told == [50]
    assert len(list(folder.glob("*.blocks"))) == 1
    long = folder / f"{'長' * 80}.csv"
    long.write_text("a,y\n1,p\n2,q\n")
    assert blocks(long, cache=folder).n_rows == 2


def test_a_cache_is_used_until_its_file_changes(tmp_path: Path, small: int) -> None:
    path, cache = written(tmp_path, "integers"), tmp_path / "cache"
    read_so_far: list[int] = []
    blocks(path, max_memory=small, cache=cache, progress=read_so_far.append)
    assert read_so_far[-1] == 400
    read_so_far.clear()
    assert blocks(path, max_memory=small, cache=cache, progress=read_so_far.append).n_rows == 400
    assert read_so_far == []
    with path.open("a") as file:
        file.write("1,1,1\n")
    found = blocks(path, max_memory=small, cache=cache, progress=read_so_far.append)
    assert found.n_rows == 401
    assert read_so_far[-1] == 401
    (entry,) = cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])  # damaged: it is made anew
    assert blocks(path, max_memory=small, cache=cache).n_rows == 401


def three_classes(seed: int, n: int = 120) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).round(1), np.append(rng.integers(0, 3, n - 3), [0, 1, 2])


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [3, 50, 1000])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cyclic_fit_makes_the_same_mistakes(storage: type, size: int, n_classes: int) -> None:
    X, y = three_classes(size)
    X, y = storage(X), np.minimum(y, n_classes - 1)
    for limits in ({"max_epochs": 7}, {"max_epochs": 7, "margin": 0.5}):
        whole = nv.Perceptron(order="cyclic", **limits).fit(X, y)
        parts = nv.Perceptron(order="cyclic", **limits).fit(Given(X, y, size))
        assert parts.n_mistakes_ == whole.n_mistakes_
        assert parts.n_updates_ == whole.n_updates_
        assert parts.n_iter_ == whole.n_iter_
        assert parts.converged_ is whole.converged_
        assert np.array_equal(parts.coef_, whole.coef_)
        assert np.array_equal(parts.intercept_, whole.intercept_)


def test_updates_are_limited_across_blocks() -> None:
    X, y = three_classes(0)
    y = np.minimum(y, 1)
    with pytest.warns(ConvergenceWarning, match="the limit on updates"):
        whole = nv.Perceptron(order="cyclic", max_updates=37).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="the limit on updates"):
        parts = nv.Perceptron(order="cyclic", max_updates=37).fit(Given(X, y, 10))
    assert parts.n_updates_ == whole.n_updates_ == 37
    assert np.array_equal(parts.coef_, whole.coef_)


@pytest.mark.parametrize("order", ["permuted", "fixed", "blocks", "random"])
def test_other_orders_are_clean_at_the_end(order: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X = X[np.abs(X[:, 0]) > 0.2]
    y = X[:, 0] > 0.0
    clf = nv.Perceptron(order=order, random_state=0).fit(Given(X, y, 40))
    again = nv.Perceptron(order=order, random_state=0).fit(Given(X, y, 40))
    assert clf.converged_
    assert clf.score(X, y) == 1.0
    assert np.array_equal(clf.coef_, again.coef_)


class InPlace:
    """An order of one's own that shuffles the very numbers it is given."""

    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
        while True:
            rng.shuffle(deck.rows)
            yield deck.rows


class Heir(InPlace, Cyclic):
    """The same, made from one that deals the numbers as they are."""


@pytest.mark.parametrize("order", [InPlace(), Heir()])
def test_an_order_may_shuffle_what_it_is_given(order: InPlace) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    X, y = X[np.abs(X[:, 0]) > 0.5], (X[np.abs(X[:, 0]) > 0.5, 0] > 0.0).astype(int)
    found = nv.Perceptron(order=order).fit(Given(X, y, 100))
    assert found.score(X, y) == 1.0


def test_row_numbers_of_an_heir_are_not_trusted() -> None:
    class Beyond(Cyclic):
        def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
            yield np.array([0, len(deck.rows)])

    X, y = three_classes(1)
    with pytest.raises(ValueError, match="An epoch must be a vector of row numbers"):
        nv.Perceptron(order=Beyond()).fit(X, y)


def test_partial_fit_goes_through_all_blocks() -> None:
    X, y = three_classes(1)
    whole = nv.Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    parts = nv.Perceptron().partial_fit(Given(X, y, 11))
    assert np.array_equal(parts.coef_, whole.coef_)
    whole.partial_fit(X[:50], y[:50])
    parts.partial_fit(Given(X[:50], y[:50], 7))
    assert np.array_equal(parts.coef_, whole.coef_)
    assert parts.n_mistakes_ == whole.n_mistakes_
    assert parts.n_iter_ == whole.n_iter_ == 2
    with pytest.raises(ValueError, match=r"classes=.* differ from those of the first call"):
        parts.partial_fit(Given(X, y, 11), classes=[0, 1])
    with pytest.raises(ValueError, match="is not one of the classes"):
        parts.partial_fit(Given(X, y + 1, 11))
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(Given(X[:, :2], y, 11))


def test_what_blocks_cannot_do_is_said() -> None:
    X, y = three_classes(2)
    rows = Given(X, y, 10)
    for options, what in (
        ({"average": "voted"}, "voted perceptron keeps the rows"),
        ({"trace": True}, "trace cannot be given along with blocks"),
        ({"warm_start": True}, "warm_start cannot be given"),
        ({"class_weight": "balanced"}, "class_weight cannot be given"),
        ({"order": "max_distance"}, "MaxDistance needs all rows at once"),
    ):
        with pytest.raises(ValueError, match=what):
            nv.Perceptron(**options).fit(rows)
    with pytest.raises(ValueError, match="y cannot be given along with blocks"):
        nv.Perceptron().fit(rows, y)
    with pytest.raises(ValueError, match="y cannot be given along with blocks"):
        nv.separate(rows, y)
    with pytest.raises(ValueError, match="one class only"):
        nv.Perceptron().fit(Given(X, np.zeros(len(y)), 10))
    with pytest.raises(ValueError, match="no rows"):
        nv.Perceptron().fit(Given(X[:0], y[:0], 10))
    with pytest.raises(ValueError, match="no rows"):
        nv.separate(Given(X[:0], y[:0], 10))
    bad = X.copy()
    bad[70, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 70, column 1"):
        nv.Perceptron().fit(Given(bad, y, 10))
    with pytest.raises(ValueError, match="NaN in row 70, column 1"):
        nv.separate_classes(Given(bad, y, 10))
    with pytest.raises(ValueError, match="y is missing"):
        nv.separate(X)


class Gappy(Given):
    """Blocks, some of which are empty."""

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.generic]]]:
        for X, y in super().__iter__():
            yield X[:0], y[:0]
            yield X, y
        yield X[:0], y[:0]


def test_blocks_may_be_empty() -> None:
    X, y = three_classes(6)
    y = np.minimum(y, 1)
    whole = nv.Perceptron().partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(nv.Perceptron().partial_fit(Gappy(X, y, 13)).coef_, whole.coef_)
    assert nv.separate(Gappy(X, y, 13)).kind == nv.separate(X, y).kind


class Fickle(Given):
    """Blocks that are others in each pass, or none after the first."""

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.generic]]]:
        self.X = self.X * 1.5 if self.n_rows else self.X
        given = list(super().__iter__())
        self.X = self.X if self.n_rows else self.X[:0]
        return iter(given)


@pytest.mark.parametrize("known", [False, True])
def test_blocks_that_differ_from_pass_to_pass_are_noticed(known: bool) -> None:
    X, y = three_classes(7)
    with pytest.raises(ValueError, match="differ from pass to pass"):
        nv.separate(Fickle(X, np.minimum(y, 1), 13, known))


def test_several_classes_are_decided_in_blocks() -> None:
    X, y = three_classes(3)
    X[y == 2] += 9.0
    whole = nv.separate_classes(X, y)
    parts = nv.separate_classes(Given(X, y, 30))
    assert {k: v.kind for k, v in parts.items()} == {k: v.kind for k, v in whole.items()}
    for verdict in parts.values():
        assert verdict.certificate is not None
        verdict.certificate.verify(X, y)


@pytest.mark.parametrize("begin", [[0], [0, 1], [0, 1, 2], [2, 3]])
def test_rows_outside_the_selection_are_heard(
    monkeypatch: pytest.MonkeyPatch, begin: list[int]
) -> None:
    # Rows 0 to 2 are quasi-separable, by w = (1, 0); row 3 is on the wrong side of it.
    X, y = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, -0.5]]), np.array([1, 0, 1, 0])

    def select(rounds: blockwise._Rounds) -> None:
        signs = np.where(y[begin] == 1, 1, -1).astype(np.int8)
        rounds.selection.join(np.array(begin), X[begin], signs)

    monkeypatch.setattr(blockwise._Rounds, "_train", select)
    verdict = nv.separate(Given(X, y, 2), fit_intercept=False)
    assert verdict.kind == nv.separate(X, y, fit_intercept=False).kind == "inseparable"
    assert verdict.certificate is not None
    nv.verify(verdict.certificate, X, y)
    with pytest.raises(nv.CertificateError, match="it has 1 columns, not 2"):
        nv.verify(verdict.certificate, Given(X[:, :1], y, 2))


def test_names_of_the_protocol() -> None:
    X, y = three_classes(4)
    assert isinstance(Given(X, y, 10), Blocks)
    assert not isinstance(Given(X, y, 10), CodedBlocks)
    assert not isinstance(X, Blocks)
    assert not isinstance([(X, y)], Blocks)


def test_the_next_item_is_made_meanwhile() -> None:
    made: list[int] = []
    wanted = threading.Event()

    def items() -> Iterator[int]:
        for k in range(5):
            made.append(k)
            if k == 1:
                wanted.set()
            yield k

    rows = ahead(items())
    assert next(rows) == 0
    assert wanted.wait(10.0)  # it is made although nobody has asked for it
    assert list(rows) == [1, 2, 3, 4]
    assert made == list(range(5))


def test_an_error_comes_up_where_its_item_would_have() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    rows = ahead(items())
    assert next(rows) == 1
    with pytest.raises(OSError, match="gone"):
        next(rows)


def test_leaving_early_ends_the_thread() -> None:
    before = threading.active_count()
    rows = ahead(iter(range(10**9)))
    assert next(rows) == 0
    rows.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("positive", [None, 1])
@pytest.mark.parametrize("apart", [True, False])
def test_a_study_of_blocks_is_that_of_the_rows(
    tmp_path: Path, small: int, positive: int | None, apart: bool
) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2)).round(2)
    y = np.where(X[:, 0] > 0.1, 1, 0) if apart else rng.integers(0, 3, 300)
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([X, y]), "%.17g", ",", header="a,b,y", comments="")
    options = Options(positive=positive, order="cyclic", epochs=30)
    rows = read(path)
    whole = study(rows.X, rows.labels, options)
    told: list[str] = []
    parts = study_blocks(blocks(path, max_memory=small), options, lambda step, _: told.append(step))
    assert any(step.endswith(": pass 2, 100%") for step in told)
    assert parts.kinds == whole.kinds
    assert parts.sha256 == whole.sha256
    assert parts.classes == whole.classes
    assert parts.counts.tolist() == whole.counts.tolist()
    assert parts.rule == whole.rule
    if apart:
        assert parts.errors == whole.errors == 0
        assert parts.run is not None
        assert whole.run is not None
        assert parts.run.mistakes == whole.run.mistakes
    else:
        assert [case.least_errors for case in parts.cases] == [
            case.least_errors for case in whole.cases
        ]
        assert [case.errors for case in parts.cases] == [case.errors for case in whole.cases]
        assert parts.errors == whole.errors
    for proof in parts.proofs:
        nv.verify(proof, rows.X, rows.labels)
