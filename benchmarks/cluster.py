"""The rows of the table about a cluster: two workers against the same work in this process."""

from __future__ import annotations

from functools import partial

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import novikoff as nv
from benchmarks.measure import Row, compare, timed
from novikoff.cluster.passes import Wanted
from novikoff.cluster.shards import Setting
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits

SHARDS = 16
# The name of a case, the gap between the classes, and how many labels are flipped.
_VERDICTS = (("γ ≈ 0.05", 0.35, 0), ("γ ≈ 0.004", 0.028, 0), ("3 labels flipped", 0.35, 3))


def _rows(shape: tuple[int, int], gap: float, flips: int) -> tuple[Vector, Indices]:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=shape), rng.normal(size=shape[1])
    w /= np.linalg.norm(w)
    y = (X @ w > 0.0).astype(np.int64)
    X += np.where(y > 0, gap, -gap)[:, None] * w
    y[:: len(y) // max(1, flips)][:flips] ^= 1
    return X / np.sqrt(shape[1]), y


def cluster_rows(shape: tuple[int, int], turns: int) -> list[Row]:
    """Verdicts, a perceptron to its clean epoch, and a pass of 16 tasks that do nothing."""
    rows, size = [], f"{shape[0]:,} × {shape[1]}, 2 workers"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for name, gap, flips in _VERDICTS:
            X, y = _rows(shape, gap, flips)
            chunks = -(-shape[0] // SHARDS)
            parts = da.from_array(X, chunks=(chunks, shape[1])), da.from_array(y, chunks=chunks)
            there = nv.cluster.rows(*parts, client=client)
            times, mine, local = compare(
                partial(nv.separate, there), partial(nv.separate, X, y), turns
            )
            sound = mine.certificate == local.certificate
            case = f"verdict on Dask, {name}, {size}"
            rows.append(times.row(case, "local passes", 1 / 1.5, (sound, "equal certificates")))
            if flips == 0 and gap > 0.1:
                learner = partial(nv.Perceptron, order="cyclic")
                times, many, one = compare(
                    lambda: learner().fit(there),  # noqa: B023
                    lambda: learner().fit(X, y),  # noqa: B023
                    turns,
                )
                note = f"{many.n_iter_} and {one.n_iter_} epochs"
                sound = many.converged_ and one.converged_
                case = f"perceptron on Dask, {name}, {size}"
                rows.append(times.row(case, "one machine, cyclic", 1 / 1.2, (sound, note)))
        there.cluster.groups = [[k] for k in range(SHARDS)]
        empty = partial(there.cluster.over, Wanted(np.arange(0)), Limits(), Setting(1, 0, True))
        seconds = [timed(empty)[0] for _ in range(turns + 1)][1:]
    return [*rows, Row("a pass of 16 empty tasks on Dask (s)", "", seconds, 0.1)]
