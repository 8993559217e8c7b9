"""Data larger than memory: the same rows, in arrays on disk."""

from __future__ import annotations

import gzip
import io
import json
import mmap
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.data import ReadOptions, parse_size, read
from novikoff.data.on_disk import _PROGRAM_BYTES
from novikoff.errors import DataError
from tests.cases import case_named

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(500, 3))
Y = ["pq"[k % 2] for k in range(500)]


def written(path: Path, form: str) -> Path:
    """A file with the rows in a format."""
    if form == "svmlight":
        rows = [" ".join([str(k % 2), *(f"{j + 1}:{v!r}" for j, v in enumerate(row))])
                for k, row in enumerate(X.tolist())]  # fmt: skip
        path.write_text("\n".join(rows))
    elif form == "npz":
        np.savez(path, X=X, y=Y)
    elif form == "npy":
        np.save(path, np.column_stack([X, np.arange(500) % 2]))
    elif form == "parquet":
        pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(3)} | {"y": Y}), path)
    else:
        lines = [",".join([*map(repr, row), y]) for row, y in zip(X.tolist(), Y, strict=True)]
        text = "\n".join(["c0,c1,c2,y", *lines]).encode()
        path.write_bytes(gzip.compress(text) if form == "csv.gz" else text)
    return path


def dense(X: object) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["csv", "csv.gz", "svmlight", "npy", "npz", "parquet"])
def test_rows_are_the_same_on_disk(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / f"rows.{form}", form)
    memory = read(path)
    for how, data in {
        "first": read(path, cache=tmp_path / "cache"),
        "from the cache": read(path, cache=tmp_path / "cache"),
        "little memory": read(path, max_memory="400MB"),
    }.items():
        with case_named(how):
            assert data.on_disk
            assert dense(data.X).tobytes() == dense(memory.X).tobytes() == X.tobytes()
            part = data.X if isinstance(data.X, np.ndarray) else data.X.data
            base: object = part
            while isinstance(base, np.ndarray):
                base = base.base
            assert isinstance(base, mmap.mmap)
            assert part.flags.writeable  # loops are compiled for writable arrays
            assert data.labels.tolist() == memory.labels.tolist()
            assert (data.names, data.recipe) == (memory.names, memory.recipe)
            assert [note for note in data.notes if "with cache" not in note] == memory.notes
            assert (data.n_read, data.rows.tolist()) == (500, list(range(1, 501)))
    assert not read(path, max_memory="2GB").on_disk
    (folder,) = (tmp_path / "cache").iterdir()
    assert json.loads((folder / "manifest.json").read_text())["n_rows"] == 500
    assert form == "svmlight" or np.load(folder / "X.npy").shape == (500, 3)


def test_a_cache_is_used_until_the_file_or_the_options_change(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.csv", tmp_path / "cache"
    path.write_bytes(b"a,b,y\n1,2,0\n3,,1\n5,6,1\n")
    drop = ReadOptions(missing="drop")
    first = read(path, drop, cache=cache)
    assert (first.rows.tolist(), first.n_read) == ([1, 3], 3)
    again = read(path, drop, cache=cache)
    assert (again.rows.tolist(), again.notes) == ([1, 3], first.notes)
    assert len(os.listdir(cache)) == 1
    assert read(path, ReadOptions(features=("a",)), cache=cache).names == ["a"]
    assert len(os.listdir(cache)) == 2
    path.write_bytes(b"a,b,y\n1,2,0\n3,4,1\n5,6,1\n")
    assert read(path, drop, cache=cache).rows.tolist() == [1, 2, 3]


def test_a_file_replaced_under_the_same_size_and_time_is_read_again(tmp_path: Path) -> None:
    path, other, cache = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "cache"
    path.write_bytes(b"a,y\n1,0\n2,1\n")
    assert read(path, cache=cache).labels.tolist() == [0, 1]
    other.write_bytes(b"a,y\n1,1\n2,0\n")
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, path)
    assert read(path, cache=cache).labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "content"), [("manifest.json", b"{}"), ("X.npy", b"what"), ("codes.npy", b"")]
)
def test_a_damaged_cache_is_written_again(name: str, content: bytes, tmp_path: Path) -> None:
    path, cache = tmp_path / "a.csv", tmp_path / "cache"
    path.write_bytes(b"a,y\n1,0\n3,1\n")
    read(path, cache=cache)
    (folder,) = cache.iterdir()
    (folder / name).write_bytes(content)
    assert dense(read(path, cache=cache).X).tolist() == [[1.0], [3.0]]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.csv", tmp_path / "cache"
    path.write_bytes(b"a,y\n1,0\n3,\n")
    with pytest.raises(DataError, match="label is missing"):
        read(path, cache=cache)
    assert not cache.exists() or not os.listdir(cache)


def test_temporary_arrays_are_removed_at_the_end(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "csv")
    code = f"import novikoff.data as d; print(d.read({str(path)!r}, max_memory='400MB').X.shape)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "(500, 3)"
    assert os.listdir(tmp_path) == ["rows.csv"]


@pytest.mark.parametrize("options", [ReadOptions(one_hot=("*",)), ReadOptions(missing="mean")])
def test_options_that_need_all_rows_are_rejected(options: ReadOptions, tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "csv")
    with pytest.raises(DataError, match="needs all rows in memory"):
        read(path, options, cache=tmp_path / "cache")


def test_a_folder_of_parquet_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    with pytest.raises(DataError, match="without Parquet files"):
        read(folder)
    for k in range(3):
        pq.write_table(
            pa.table({"a": [1.0 + k, 2.0 + k], "y": ["p", "q"]}), folder / f"{k}.parquet"
        )
    for cache in (None, tmp_path / "cache"):
        with case_named(cache):
            data = read(folder, cache=cache)
            assert dense(data.X)[:, 0].tolist() == [1, 2, 2, 3, 3, 4]
            assert data.labels.tolist() == ["p", "q"] * 3
    hot = read(folder, ReadOptions(label="a", one_hot=("y",)))
    assert dense(hot.X).tolist() == [[1, 0], [0, 1]] * 3
    pq.write_table(pa.table({"b": [1.0], "y": ["p"]}), folder / "9.parquet")
    with pytest.raises(DataError, match='no column "a"'):
        read(folder)


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("1.5GiB", 3 << 29), ("1e9", 10**9), ("7k", 7000)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_a_size_that_is_none() -> None:
    with pytest.raises(DataError, match="not a size"):
        parse_size("1GB of it")


def test_a_pipe_may_be_larger_than_memory() -> None:
    data = read(io.BytesIO(b"a,y\n1,0\n2,1\n"), max_memory="1GB")
    assert data.on_disk
    assert dense(data.X).tolist() == [[1.0], [2.0]]


def test_ignored_columns_of_later_files_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["p", "q"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"b": [9.0], "a": [3.0], "y": ["p"]}), tmp_path / "1.parquet")
    assert 'columns of later files are ignored: "b"' in read(tmp_path).notes


@pytest.mark.parametrize("form", ["csv", "svmlight", "jsonl"])
def test_a_packed_file_that_unpacks_to_much_goes_to_disk(tmp_path: Path, form: str) -> None:
    """The packed file would fit into memory, but its content does not."""
    line = {"csv": b"%d,1\n%d,0\n", "svmlight": b"1 1:%d\n0 1:%d\n",
            "jsonl": b'{"a": %d, "y": 1}\n{"a": %d, "y": 0}\n'}[form]  # fmt: skip
    path, options = tmp_path / "rows.gz", ReadOptions(format=form)
    path.write_bytes(gzip.compress(b"".join(line % (k % 10, k % 7) for k in range(20_000))))
    memory = read(path, options)
    with patch("novikoff.data.reader.PIECE_BYTES", 1 << 16):
        disk = read(path, options, max_memory=_PROGRAM_BYTES + 1_500_000)
    assert (memory.on_disk, disk.on_disk) == (False, True)
    assert np.array_equal(dense(memory.X), dense(disk.X))
    assert np.array_equal(memory.labels, disk.labels)
    assert np.array_equal(memory.rows, disk.rows)
