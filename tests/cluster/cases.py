"""Small data of every kind, and a client that runs tasks at once, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from novikoff.cluster.rows import ClusterRows
from novikoff.cluster.shards import ShardSource, take_chunk
from novikoff.core.rows import Vector

Labels = np.ndarray[Any, np.dtype[Any]]


def data(kind: str, n: int = 600, seed: int = 0) -> tuple[Vector, Labels]:
    """Rows of a kind; columns differ in size, so that the verdict balances them, in "uneven"."""
    rng = np.random.default_rng(seed)
    X: Vector = np.round(4.0 * rng.normal(size=(n, 3)))
    w = np.array([1.0, -2.0, 0.5])
    y = np.where(X @ w > 0.25, "up", "down")
    if kind == "inseparable":
        y[[1, n // 2]] = np.where(y[[1, n // 2]] == "up", "down", "up")
    elif kind == "quasi-separable":
        X[:, 0] = np.abs(X[:, 0])
        y = np.where(X[:, 0] > 0, "up", rng.choice(["up", "down"], size=n))
    elif kind == "uneven":
        X = X * np.array([1e5, 1.0, 1e-4])
    elif kind == "one class":
        y[:] = "up"
    return X, y


KINDS = ("separable", "inseparable", "quasi-separable", "uneven", "one class")


def write_folder(folder: Path, X: Vector, y: Labels, n_files: int) -> Path:
    """A folder of Parquet files, one of them empty."""
    folder.mkdir(exist_ok=True)
    ends = np.linspace(0, len(X), n_files + 1).astype(int)
    for k in range(n_files):
        some = slice(ends[k], ends[k + 1])
        columns = {f"x{j}": X[some, j] for j in range(X.shape[1])}
        pq.write_table(pa.table({**columns, "kind": y[some]}), folder / f"{k:03}.parquet")
    empty = pa.table({f"x{j}": X[:0, j] for j in range(X.shape[1])} | {"kind": y[:0]})
    pq.write_table(empty, folder / "zzz.parquet")
    return folder


class Done:
    """A future whose result is known."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self) -> Any:
        """The value."""
        return self.value

    def done(self) -> bool:
        """Return True, because the result is known."""
        return True

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        """Call at once."""
        call(self)


class AtOnce:
    """A client without a cluster: what is submitted is done before it returns."""

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads

    def nthreads(self) -> dict[str, int]:
        """The threads of its only worker."""
        return {"here": self.threads}

    def scheduler_info(self) -> Any:
        """A worker with plenty of memory."""
        return {"workers": {"here": {"memory_limit": 0}}}

    def submit(self, task: Callable[..., Any], *given: Any, key: str, priority: int = 0) -> Done:
        """Run a task."""
        return Done(task(*(_known(value) for value in given)))

    def cancel(self, futures: Sequence[Any], **how: Any) -> None:
        """Do nothing, because every task is done."""


def _known(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_known(part) for part in value)
    return value.value if isinstance(value, Done) else value


def local_rows(
    X: Any, y: Labels, edges: Sequence[int], threads: int = 2, mix: Any = "mistakes"
) -> ClusterRows:
    """Rows in shards that end at these edges, without Dask."""
    ends = [0, *edges, len(y)]
    blocks: list[tuple[Any, ...]] = [(Done(X[a:b]), Done(y[a:b])) for a, b in pairwise(ends)]
    counts = [b - a for a, b in pairwise(ends)]
    source = ShardSource(partial(take_chunk, {}), blocks, counts, int(X.shape[1]))
    return ClusterRows(AtOnce(threads), source, mix, lambda tasks, done: None)


def sparse(X: Vector) -> Any:
    """The same as a CSR matrix."""
    return sp.csr_array(X)
