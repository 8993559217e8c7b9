"""Formats other than CSV: svmlight, npy, npz, Parquet, Arrow."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novikoff.data import ReadOptions, read
from novikoff.errors import DataError
from tests.data_files import Dripping, arrow, dense, npy, npz, parquet


def saved(write: Callable[[io.BytesIO], object]) -> io.BytesIO:
    stream = io.BytesIO()
    write(stream)
    return io.BytesIO(stream.getvalue())


@pytest.mark.parametrize(
    "content",
    [
        npy([[1.0, 0.0], [2.0, 1.0]]),
        npz(X=[[1.0], [2.0]], y=[0, 1]),
        parquet(a=[1.0, 2.0], y=[0, 1]),
        arrow(a=[1.0, 2.0], y=[0, 1]),
    ],
    ids=["npy", "npz", "parquet", "arrow"],
)
def test_binary_files_may_come_from_a_pipe(content: bytes) -> None:
    data = read(Dripping(content, 100))
    assert (dense(data).tolist(), data.labels.tolist()) == ([[1.0], [2.0]], [0, 1])


class TestNumpy:
    A = np.array([[1.5, 2.0, 0.0], [3.0, 4.0, 1.0]])

    @pytest.mark.parametrize("order", [np.asfortranarray, np.ascontiguousarray])
    @pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "<i4", "|b1", "|u1"])
    def test_npy(self, kind: str, order: Callable[..., Any]) -> None:
        A = order(self.A.astype(kind))
        data = read(saved(lambda file: np.save(file, A)))
        assert dense(data).tolist() == A[:, :2].astype(float).tolist()
        assert dense(data).dtype == (np.float32 if kind in ("<f4", "<f2") else np.float64)
        assert data.labels.tolist() == A[:, 2].tolist()
        assert data.labels.dtype.kind == ("b" if kind == "|b1" else "i")
        assert data.label == "x3"

    def test_columns_are_chosen_by_number(self, tmp_path: Path) -> None:
        path = tmp_path / "data.npy"
        np.save(path, self.A)
        data = read(path, ReadOptions(label=1, features=("3", "2")))
        assert dense(data).tolist() == [[0, 2], [1, 4]]
        assert data.names == ["x3", "x2"]
        assert data.y is not None
        assert data.y.tolist() == ["1.5", "3"]
        np.save(path, self.A[:, 1:])  # a file without the label
        again = read(path, recipe=data.recipe, labelled=False)
        assert dense(again).tolist() == [[0, 2], [1, 4]]
        assert again.y is None

    def test_missing(self) -> None:
        A = np.array([[1.0, np.nan, 0.0], [3.0, 4.0, 1.0]])
        data = read(saved(lambda file: np.save(file, A)), ReadOptions(missing="mean"))
        assert dense(data).tolist() == [[1, 4], [3, 4]]
        again = read(saved(lambda file: np.save(file, A)), recipe=data.recipe)
        assert dense(again).tolist() == [[1, 4], [3, 4]]
        dropped = read(saved(lambda file: np.save(file, A)), ReadOptions(missing="drop"))
        assert dropped.rows.tolist() == [2]

    @pytest.mark.parametrize("names", [("X", "y"), ("data", "target")])
    def test_npz(self, names: tuple[str, str]) -> None:
        arrays = dict(zip(names, (self.A, np.array(["a", "b"])), strict=True))
        data = read(saved(lambda file: np.savez_compressed(file, **arrays)))  # type: ignore[arg-type]
        assert dense(data).tolist() == self.A.tolist()
        assert data.labels.tolist() == ["a", "b"]
        assert data.names == ["x1", "x2", "x3"]

    def test_npz_for_a_model(self) -> None:
        recipe = read(io.BytesIO(npz(X=self.A, y=[1, 2]))).recipe
        gap = np.where(self.A == 4.0, np.nan, self.A)
        with pytest.raises(DataError, match='row 2, column "x2" is missing'):
            read(io.BytesIO(npz(X=gap, y=[1, 2])), recipe=recipe)
        with pytest.raises(DataError, match="has 2 features; the model has 3"):
            read(io.BytesIO(npz(X=self.A[:, :2], y=[1, 2])), recipe=recipe)


def typed() -> tuple[dict[str, object], list[list[float]]]:
    columns = {
        "i": pa.array([1, 2, 3], pa.int8()),
        "u": pa.array([1, 2, 2**63], pa.uint64()),
        "f": pa.array([0.5, 1.5, 2.5], pa.float32()),
        "d": pa.array([Decimal("1.25"), Decimal("2.50"), Decimal("3.75")]),
        "b": pa.array([True, False, True]),
        "t": pa.array(["x", "y", "x"]).dictionary_encode(),
        "label": pa.array(["no", "yes", "no"]).dictionary_encode(),
    }
    rows = [[1, 1, 0.5, 1.25, 1, 1, 0], [2, 2, 1.5, 2.5, 0, 0, 1], [3, 2.0**63, 2.5, 3.75, 1, 1, 0]]
    return columns, rows


class TestTyped:
    @pytest.mark.parametrize("form", ["parquet", "file", "stream", "stream.gz"])
    def test_types(self, form: str, tmp_path: Path) -> None:
        columns, rows = typed()
        table = pa.table(columns)
        path = tmp_path / "data"
        if form == "parquet":
            pq.write_table(table, path, row_group_size=2)
        else:
            new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
            with new(str(path), table.schema) as writer:
                writer.write_table(table, max_chunksize=2)
            if form.endswith("gz"):
                path.write_bytes(gzip.compress(path.read_bytes()))
        data = read(path, ReadOptions(one_hot=("*",)))
        assert dense(data).tolist() == rows
        assert data.names == ["i", "u", "f", "d", "b", "t=x", "t=y"]
        assert data.y is not None
        assert data.y.tolist() == ["no", "yes", "no"]

    def test_single_precision_stays(self, tmp_path: Path) -> None:
        table = pa.table({"a": pa.array([0.1, None], pa.float32()), "y": [0, 1]})
        pq.write_table(table, tmp_path / "data.pq")
        data = read(tmp_path / "data.pq", ReadOptions(missing="drop"))
        assert dense(data).dtype == np.float32
        assert dense(data).tolist() == [[float(np.float32(0.1))]]

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            ([0, 1], [0, 1]),
            ([2.0, 1.0], [2.0, 1.0]),
            ([True, False], [True, False]),
            (["1", "2"], ["1", "2"]),
            (pa.array(np.array([0.5, 2.0], np.float16)), ["0.5", "2"]),
            ([Decimal(10**30), Decimal(10**30 + 1)], [str(10**30), str(10**30 + 1)]),
        ],
        ids=str,
    )
    def test_labels_keep_their_type(self, labels: object, expected: list[object]) -> None:
        found = read(io.BytesIO(arrow(a=[1, 2], y=labels))).labels.tolist()
        assert (found, type(found[0])) == (expected, type(expected[0]))

    def test_decimals_are_rounded_correctly(self, tmp_path: Path) -> None:
        texts = ["123456789012345678.1234567", "0.1000000", "-9007199254740993.0000001"]
        table = pa.table({"a": [Decimal(text) for text in texts], "y": [0, 1, 0]})
        pq.write_table(table, tmp_path / "data.parquet")
        data = read(tmp_path / "data.parquet")
        assert dense(data)[:, 0].tolist() == [float(text) for text in texts]

    @pytest.mark.parametrize(
        "said", [b'{"index_columns": ["who", {"kind": "range"}]}', b"[1]", b"what", b"{}"]
    )
    def test_a_named_index_is_no_feature(self, said: bytes, tmp_path: Path) -> None:
        table = pa.table({"a": [1, 2], "b": ["x", "y"], "who": [5, 6]})
        table = table.append_column("__index_level_0__", pa.array(["p", "q"]))
        path = tmp_path / "data.parquet"
        pq.write_table(table.replace_schema_metadata({b"pandas": said}), path)
        named = b"who" in said
        data = read(path, ReadOptions(label="b"))
        assert data.names == (["a"] if named else ["a", "who"])
        assert any("index of a pandas frame" in note for note in data.notes)
        assert read(path, ReadOptions(label="who", drop=("b",))).labels.tolist() == [5, 6]
        assert read(path, ReadOptions(label="b", id="who")).ids == ["5", "6"]
        assert read(path, ReadOptions(label="b", features=("who",))).names == ["who"]

    def test_a_model_of_a_csv_reads_parquet(self, tmp_path: Path) -> None:
        recipe = read(io.BytesIO(b"zip,a,y\n7,1,0\n8,2,1\n"), ReadOptions(one_hot=("zip",))).recipe
        pq.write_table(pa.table({"a": [5], "zip": [8]}), tmp_path / "data.parquet")
        data = read(tmp_path / "data.parquet", recipe=recipe, labelled=False)
        assert dense(data).tolist() == [[0, 1, 5]]
