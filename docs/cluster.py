"""Write the tables of docs/cluster.md: measured times on one machine, and a simulation of many."""

from __future__ import annotations

import heapq
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

import novikoff as nv
from novikoff.cluster.passes import Wanted
from novikoff.cluster.shards import Setting, Shard
from novikoff.cluster.tasks import FAN_IN, TASKS_PER_THREAD, look, merge
from novikoff.core.class_labels import code_labels
from novikoff.core.stops import Limits
from novikoff.geometry.visits import MostViolated
from novikoff.proofs import exact

PAGE = Path(__file__).with_suffix(".md")
N, D, SHARDS, TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000, 50, 16, 3
SETTING = Setting(1, 0, True)


def data(gap: float, flips: int = 0) -> tuple[Any, Any]:
    """Random rows of two classes with a gap between them."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(N, D)), rng.normal(size=D)
    w /= np.linalg.norm(w)
    y = (X @ w > 0).astype(int)
    X += np.where(y, gap, -gap)[:, None] * w
    y[:: N // max(1, flips)][:flips] ^= 1
    return X / np.sqrt(D), y


def write(folder: Path, X: Any, y: Any) -> None:
    """Write the rows into one Parquet file for each shard."""
    for k in range(SHARDS):
        some = slice(k * N // SHARDS, (k + 1) * N // SHARDS)
        table = pa.table({f"x{j}": X[some, j] for j in range(D)} | {"y": y[some]})
        pq.write_table(table, folder / f"{k:02}.parquet", compression="none")


def best(call: Any) -> tuple[float, Any]:
    """The least time of a few turns, and the last answer."""
    found, times = None, []
    for _ in range(TURNS):
        began = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - began)
    return min(times), found


def measured(client: Any, folder: Path) -> list[str]:
    """Times of verdicts and a perceptron in memory and on two workers."""
    lines = ["| case | one machine | Dask | ratio |", "|---|--:|--:|--:|"]
    for name, gap, flips in (
        ("verdict, γ ≈ 0.05", 0.35, 0),
        ("verdict, γ ≈ 0.004", 0.028, 0),
        ("verdict, 3 labels flipped", 0.35, 3),
    ):
        X, y = data(gap, flips)
        write(folder, X, y)
        rows = nv.cluster.rows(folder, label="y", client=client)
        here, local = best(lambda: nv.separate(X, y))  # noqa: B023
        there, verdict = best(lambda: nv.separate(rows))  # noqa: B023
        if verdict.certificate != local.certificate:
            raise ValueError("The certificates differ.")
        lines.append(f"| {name} | {here:.1f} s | {there:.1f} s | {there / here:.2f} |")
        if not flips and gap > 0.1:
            one, many = nv.Perceptron(order="cyclic"), nv.Perceptron(order="cyclic")
            here, _ = best(lambda: one.fit(X, y))  # noqa: B023
            there, _ = best(lambda: many.fit(rows))  # noqa: B023
            epochs = f"{one.n_iter_} and {many.n_iter_} epochs"
            name = f"perceptron to a clean epoch, {epochs}"
            lines.append(f"| {name} | {here:.2f} s | {there:.2f} s | {there / here:.2f} |")
    rows.cluster.groups = [[k] for k in range(SHARDS)]
    rows.cluster._kept.clear()
    nothing = Wanted(np.arange(0))
    rows.cluster.over(nothing, Limits(), SETTING)
    empty, _ = best(lambda: rows.cluster.over(nothing, Limits(), SETTING))
    lines.append(f"| a pass of {SHARDS} tasks that do nothing | – | {1000 * empty:.0f} ms | |")
    return lines


def costs(client: Any) -> tuple[float, float, float]:
    """The seconds for one byte of a pass, one task of the scheduler, and one merge."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(100_000, D)), rng.normal(size=D + 1)
    shard = Shard(0, 0, X, code_labels(np.arange(len(X)) % 2))
    visit = MostViolated(w, exact.floats(w), 1e-9, 2 * D)
    seconds, seen = best(lambda: look(SETTING, visit, [shard]))
    together, _ = best(lambda: merge([seen] * FAN_IN))
    tasks, _ = best(lambda: client.gather(client.map(float, range(500), pure=False)))
    return seconds / X.nbytes, tasks / 500, together / FAN_IN


def simulate(n_bytes: float, workers: int, per: tuple[float, float, float], link: float) -> float:
    """The seconds of a simulated pass: the scheduler sends tasks, and a tree merges results."""
    byte, task, together = per
    tasks = TASKS_PER_THREAD * workers
    free, ends = [0.0] * workers, []
    for k in range(tasks):
        began = max(task * k, heapq.heappop(free))
        ends.append(began + byte * n_bytes / tasks)
        heapq.heappush(free, ends[-1])
    level = sorted(ends)
    while len(level) > 1:
        parts = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
        level = [max(part) + task + len(part) * (together + link) for part in parts]
    return level[-1]


def simulated(per: tuple[float, float, float]) -> list[str]:
    """Simulated times of passes over many more rows."""
    lines = ["| rows of 50 numbers | bytes | workers | one pass | a verdict of 15 passes |"]
    lines.append("|--:|--:|--:|--:|--:|")
    link = 1e-3 + 2 * D * D * 8 / 1.25e9  # a message of 2d rows over 10 Gbit/s
    for n, workers in ((1e8, 8), (1e9, 40), (1e10, 200), (1e11, 1000)):
        n_bytes = n * D * 8
        seconds = simulate(n_bytes, workers, per, link)
        size = f"{n_bytes / 1e12:,.2f} TB"
        power = f"10{'⁸⁹'[int(n > 1e8)]}" if n < 1e10 else {1e10: "10¹⁰", 1e11: "10¹¹"}[n]
        lines.append(
            f"| {power} | {size} | {workers:,} | {seconds:.1f} s | {15 * seconds / 60:.1f} min |"
        )
    return lines


def main() -> None:
    """Measure and simulate, and write both tables into the page."""
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        table = measured(client, Path(name))
        per = costs(client)
    text = PAGE.read_text(encoding="utf-8")
    for begin, end, lines in (
        ("<!-- measured -->\n", "\n<!-- end of measured -->", table),
        ("<!-- simulated -->\n", "\n<!-- end of simulated -->", simulated(per)),
    ):
        first, last = text.index(begin) + len(begin), text.index(end)
        text = text[:first] + "\n".join(lines) + text[last:]
    load = os.getloadavg()[0]
    print(f"a byte {per[0]:.3g} s, a task {per[1]:.3g} s, a merge {per[2]:.3g} s; load {load:.1f}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
