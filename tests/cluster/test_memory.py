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


def peak(rows: Any, kind: str) -> int:
    """The most memory that this process allocates during a verdict."""
    tracemalloc.start()
    verdict = nv.separate(rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdict.kind == kind
    return most


@pytest.mark.parametrize("kind", ["separable", "quasi-separable"])
def test_the_coordinator_needs_no_more_for_ten_times_the_rows(kind: str, client: Client) -> None:
    """The least of several peaks counts, because Dask's own threads sometimes allocate."""
    few, many = made(kind, 20_000, client), made(kind, 200_000, client)
    nv.separate(few)  # a first call, because loading and compiling do not count
    most = 1.5 * min(peak(few, kind) for _ in range(3)) + 200_000  # a mask of all rows is larger
    assert any(peak(many, kind) < most for _ in range(3))


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
