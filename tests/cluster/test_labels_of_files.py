"""A folder of files has the same classes on a cluster as in memory."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import novikoff as nv
from novikoff.cluster.rows import ClusterRows
from novikoff.cluster.shards import folder_source
from novikoff.data import ReadOptions, read
from tests.cluster.cases import AtOnce

WHOLE, OTHERS = [1.0, 2.0, 1.0, 2.0], [1.5, 2.0, 1.5, 2.0]
FILES: dict[str, list[pa.Array]] = {
    "floats, whole in one file": [pa.array(WHOLE), pa.array(OTHERS)],
    "floats, none the same": [pa.array(WHOLE), pa.array([1.5] * 4)],
    "integers and floats": [pa.array([1, 2, 1, 2]), pa.array(OTHERS)],
    "integers and whole floats": [pa.array([1, 2, 1, 2]), pa.array(WHOLE)],
    "decimals": [
        pa.array([Decimal(value) for value in values], pa.decimal128(5, 2))
        for values in (WHOLE, OTHERS)
    ],
    "texts": [pa.array(["1", "2"] * 2), pa.array(["1.5", "2.0"] * 2)],
    "integers and texts": [pa.array([1, 2] * 2), pa.array(["2", "x"] * 2)],
    "truth values and integers": [pa.array([True, False] * 2), pa.array([1, 2] * 2)],
    "integers and a dictionary of texts": [
        pa.array([1, 2] * 2),
        pa.array(["2", "x"] * 2).dictionary_encode(),
    ],
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("turned", [False, True])
def test_classes_are_those_of_memory(case: str, turned: bool, tmp_path: Path) -> None:
    """A label 2.0 was once "2" in a file that also has 1.5, but 2.0 in a file of whole numbers."""
    for k, labels in enumerate(FILES[case][:: -1 if turned else 1]):
        x = np.arange(4.0) * (k + 1)
        pq.write_table(pa.table({"x": x, "kind": labels}), tmp_path / f"{k}.parquet")
    client: Any = AtOnce()
    source = folder_source(client, str(tmp_path), ReadOptions(label="kind"), None)
    rows = ClusterRows(client, source, "mistakes", lambda tasks, done: None)
    data = read(tmp_path, ReadOptions(label="kind"))
    assert rows.labels == np.unique(data.labels).tolist()
    for positive in rows.labels:
        certificate = nv.separate(rows, positive=positive).certificate
        assert certificate is not None
        nv.verify(certificate, data.X, data.labels)
