"""The memory and messages of the coordinator do not grow with the number of rows."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask.array as da
from distributed import Client

import novikoff as nv
from novikoff.cluster.mixing import Epoch
from novikoff.core.orders import Permuted
from novikoff.core.runs import Plan
from novikoff.core.schemes import scheme_for
from novikoff.core.stops import Limits
from novikoff.core.updates import perceptron
from tests.cases import case_named
from tests.cluster.cases import data, local_rows


def made(kind: str, n: int, client: Client) -> Any:
    """Rows that the workers generate; this process never holds them."""
    index = da.arange(n, chunks=n // 8)

    def block(rows: Any, part: int) -> Any:
        found = data(kind, n=len(rows), seed=int(rows[0])) if len(rows) else data(kind, n=1)
        return found[part]

    X = index.map_blocks(
        block, 0, new_axis=1, chunks=(index.chunks[0], (3,)), meta=np.empty((0, 3))
    )
    y = index.map_blocks(block, 1, meta=np.empty(0, dtype="U4"))
    return nv.cluster.rows(X, y, client=client)


@pytest.mark.parametrize("kind", ["separable", "quasi-separable"])
def test_the_coordinator_needs_no_more_for_ten_times_the_rows(kind: str, client: Client) -> None:
    peaks = []
    for n in (20_000, 200_000):
        with case_named(n):
            rows = made(kind, n, client)
            nv.separate(rows)  # a first call, because loading and compiling do not count
            measured = []
            for _ in range(3):  # the minimum counts, because Dask's own threads sometimes allocate
                tracemalloc.start()
                verdict = nv.separate(rows)
                measured.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
                assert verdict.kind == kind
            peaks.append(min(measured))
    assert peaks[1] < 1.5 * peaks[0] + 200_000  # a mask of all rows would be 200,000 bytes


def test_an_epoch_sends_and_returns_its_weights() -> None:
    """Each task gets 8·p bytes and returns at most 8·p for each shard, plus names and counts."""
    d = 20_000
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, d)), np.repeat(["down", "up"], 12)
    rows = local_rows(X, y, [6, 12, 18], threads=1)
    plan = Plan(perceptron(), Permuted(), Limits())
    start = np.zeros((d + 1, 1))
    epoch = Epoch(plan, scheme_for(2, "ovr"), ("down", "up"), True, "mistakes", start)
    there = len(pickle.dumps(epoch))
    back = sum(
        len(pickle.dumps(rows.cluster.over(epoch, Limits(), groups=[g])))
        for g in range(len(rows.cluster.groups))
    )
    assert there < 8 * d + 4096
    assert back < 2 * 8 * d * rows.n_shards + 4096 * len(rows.cluster.groups)
