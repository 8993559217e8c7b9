"""Dask and local passes give the same results, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client

import novikoff as nv
from tests.cases import case_named
from tests.cluster.cases import KINDS, data, sparse, write_folder


def as_arrays(X: Any, y: Any, size: int) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size + 3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_is_that_of_memory_bit_for_bit(
    kind: str, client: Client, tmp_path: Path
) -> None:
    X, y = data(kind)
    local = nv.separate(X, y)
    arrays = nv.cluster.rows(*as_arrays(X, y, 170), client=client)
    folder = nv.cluster.rows(write_folder(tmp_path / "data", X, y, 5), label="kind", client=client)
    assert local.certificate is not None
    for kept, rows in {"arrays": arrays, "files": folder}.items():
        with case_named(kept):
            verdict = nv.separate(rows)
            assert verdict.certificate == local.certificate
            assert verdict.kind == local.kind
            assert verdict.margin == local.margin
            assert verdict.geometric_margin == local.geometric_margin
            assert verdict.n_separated == len(local.separated_rows)
            assert len(verdict.separated_rows) == 0
            if local.certificate.w is not None:
                told = rows.separated(local.certificate).compute()
                assert np.flatnonzero(told).tolist() == local.separated_rows.tolist()
            nv.verify(local.certificate, rows)


def test_sparse_chunks(client: Client) -> None:
    X, y = data("inseparable")
    whole, labels = as_arrays(X, y, 100)
    rows = nv.cluster.rows(whole.map_blocks(sparse), labels, client=client)
    verdict = nv.separate(rows)
    assert verdict.certificate == nv.separate(sparse(X), y).certificate


def test_more_shards_than_rows_and_empty_partitions(client: Client) -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    frame = pd.DataFrame({"x": X[:, 0], "y": y})
    parts = [frame[:1], frame[:0], frame[1:2], frame[2:], frame[:0]]
    rows = nv.cluster.rows(dd.concat([dd.from_pandas(p, npartitions=1) for p in parts]),
                           label="y", client=client)  # fmt: skip
    assert nv.separate(rows).certificate == nv.separate(X, y).certificate
    with pytest.raises(ValueError, match="no rows"):
        nv.cluster.rows(*as_arrays(X[:0], y[:0], 2), client=client)


def test_unknown_chunk_sizes_are_counted(client: Client) -> None:
    X, y = data("separable")
    whole, labels = da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)
    some = whole[:, 0] > -3.0
    rows = nv.cluster.rows(whole[some], labels[some], client=client)
    kept = X[:, 0] > -3.0
    assert nv.separate(rows).certificate == nv.separate(X[kept], y[kept]).certificate


def test_a_frame_with_text_and_categories(client: Client) -> None:
    X, y = data("inseparable", n=200)
    colours = pd.Categorical(np.array(["red", "green", "blue"])[(X[:, 0] % 3).astype(int)])
    frame = pd.DataFrame({"a": X[:, 1], "colour": colours, "kind": y})
    rows = nv.cluster.rows(dd.from_pandas(frame, npartitions=4), label="kind", client=client)
    assert list(rows.names) == ["a", "colour=blue", "colour=green", "colour=red"]
    local = nv.separate(frame[["a", "colour"]], frame["kind"])
    assert nv.separate(rows).certificate == local.certificate


def test_categories_keep_their_order_and_are_not_missing(client: Client) -> None:
    sizes = pd.Categorical(["low", "high", "mid", "low"], ["none", "low", "mid", "high"])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "size": sizes, "kind": ["x", "x", "y", "y"]})
    parts = dd.from_pandas(frame, npartitions=2)
    rows = nv.cluster.rows(parts, label="kind", client=client)
    assert list(rows.names) == ["a", "size=low", "size=mid", "size=high"]
    local = nv.separate(frame[["a", "size"]], frame["kind"])
    assert nv.separate(rows).certificate == local.certificate
    unknown = parts.assign(size=parts["size"].cat.as_unknown())
    assert nv.cluster.rows(unknown, label="kind", client=client).names == rows.names
    frame.loc[3, "size"] = None
    with pytest.raises(ValueError, match=r"first row is 2.*NaN in row 1, column 1 \('size'\)"):
        nv.cluster.rows(dd.from_pandas(frame, npartitions=2), label="kind", client=client)
    twice = parts.assign(**{"size=low": 1.0})
    with pytest.raises(ValueError, match="two columns named 'size=low'"):
        nv.cluster.rows(twice, label="kind", client=client)


def test_columns_of_text_in_files(client: Client, tmp_path: Path) -> None:
    colours = [["red", "red", "blue"], ["green", "blue", "red"]]
    sizes, new = [[1.0, 2.5, -0.0], [0.0, 1.0, 3.0]], [[True, False, False], [True, True, False]]
    kinds = [["a", "b", "b"], ["a", "b", "a"]]
    for k in range(2):
        table = pa.table({"colour": colours[k], "size": sizes[k], "new": new[k], "kind": kinds[k]})
        pq.write_table(table, tmp_path / f"{k}.parquet")
    for one_hot in (["colour"], ["*", "size"], ["colour", "new"]):
        with case_named(one_hot):
            asked: Any = {"label": "kind", "one_hot": one_hot}
            rows = nv.cluster.rows(tmp_path, client=client, **asked)
            local = nv.data.read(tmp_path, nv.data.ReadOptions(**asked))
            assert list(rows.names) == list(local.names)
            assert nv.separate(rows).certificate == nv.separate(local.X, local.labels).certificate
    with pytest.raises(ValueError, match="one_hot"):
        nv.cluster.rows(tmp_path, label="kind", client=client)


@pytest.mark.parametrize("mix", ["mistakes", "uniform"])
def test_the_perceptron_has_the_bits_of_its_shards(
    mix: Any, client: Client, tmp_path: Path
) -> None:
    X, y = data("separable")
    folder = write_folder(tmp_path / "data", X, y, 4)
    clf = nv.Perceptron(random_state=0)
    files = clf.fit(nv.cluster.rows(folder, label="kind", client=client, mix=mix))
    weights, updates = files.coef_.tobytes(), float(files.mixed_updates_[0])
    assert files.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    arrays = clf.fit(nv.cluster.rows(*as_arrays(X, y, 150), client=client, mix=mix))
    assert arrays.coef_.tobytes() == weights
    assert float(arrays.mixed_updates_[0]) == updates
    assert arrays.converged_
    bound = nv.separate(X, y).mistake_bound
    assert bound is not None
    assert updates <= bound


def test_predictions_are_lazy(client: Client) -> None:
    X, y = data("separable")
    clf = nv.Perceptron(random_state=0).fit(X, y)
    whole, _ = as_arrays(X, y, 100)
    answers: list[tuple[Any, Any]] = [
        (clf.predict(whole.rechunk((100, 2))), clf.predict(X)),
        (clf.decision_function(whole), clf.decision_function(X)),
        (clf.predict(dd.from_pandas(pd.DataFrame(X), npartitions=3)), clf.predict(X)),
    ]
    for answer, expected in answers:
        assert hasattr(answer, "dask")
        assert (answer.compute() == expected).all()


def test_numbers_that_are_missing_are_named(client: Client, tmp_path: Path) -> None:
    X, y = data("separable")
    X[333, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in row 333, column 1"):
        nv.separate(nv.cluster.rows(*as_arrays(X, y, 100), client=client))
    folder = write_folder(tmp_path / "data", X, y, 3)
    with pytest.raises(ValueError, match=r"001\.parquet.*row 134.*x1"):
        nv.separate(nv.cluster.rows(folder, label="kind", client=client))


def test_files_that_change_or_vanish_are_rejected(client: Client, tmp_path: Path) -> None:
    X, y = data("separable")
    folder = write_folder(tmp_path / "data", X, y, 3)
    rows = nv.cluster.rows(folder, label="kind", client=client)
    rows.cluster.keep = False  # as if the rows did not fit into the workers' memory
    assert nv.separate(rows).kind == "separable"
    write_folder(tmp_path / "data", X + 1.0, y, 3)
    with pytest.raises(ValueError, match=r"\.parquet has changed while it was in use"):
        nv.separate(rows)
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(nv.cluster.ClusterError, match=r"cannot read .*share"):
        nv.separate(rows)


def test_bad_questions(client: Client, tmp_path: Path) -> None:
    X, y = data("separable", n=50)
    with pytest.raises(TypeError, match="a folder of Parquet files, Dask arrays"):
        nv.cluster.rows(X, y, client=client)
    with pytest.raises(ValueError, match="without Parquet files"):
        nv.cluster.rows(tmp_path, client=client)
    with pytest.raises(ValueError, match="50 rows, but y has 49"):
        nv.cluster.rows(da.from_array(X), da.from_array(y[1:]), client=client)
    with pytest.raises(ValueError, match="mix must be"):
        nv.cluster.rows(*as_arrays(X, y, 20), client=client, mix="sum")  # type: ignore[arg-type]


def test_versions_that_differ_are_rejected(client: Client) -> None:
    def pretend(version: str) -> None:
        from novikoff.cluster import shards

        vars(shards)["__version__"] = version

    arrays = as_arrays(*data("separable", n=50), 20)
    rows = nv.cluster.rows(*arrays, client=client)
    asked: dict[str, Callable[[], object]] = {
        "at the start": lambda: nv.cluster.rows(*arrays, client=client),
        "by a worker that joins later": lambda: nv.separate(rows),
    }
    client.run(pretend, "0.0.1")
    try:
        for moment, ask in asked.items():
            with (
                case_named(moment),
                pytest.raises(nv.cluster.ClusterError, match=r"novikoff 0\.0\.1.*same versions"),
            ):
                ask()
    finally:
        client.run(pretend, nv.__version__)
