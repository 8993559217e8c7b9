"""``--cluster``: fit and verify on the workers of a Dask cluster, which read the rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from novikoff.cli.options import TableOptions, reject
from novikoff.errors import ClusterError, MissingExtraError

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.data import Recipe
    from novikoff.geometry.margin import Interval
    from novikoff.jobs.study_records import StudyProgress


@contextmanager
def _connected(where: str, show: StudyProgress) -> Iterator[Any]:
    """Connect to a cluster, or start one, and yield its client."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("--cluster", "Dask", "dask") from None
    kind, _, number = where.partition(":")
    show(f"connecting to {where}")
    if kind == "local":
        valid = number.isdigit() and 0 < int(number) <= 1024
        reject((not valid, "--cluster local:N needs a number N from 1 to 1024."))
        with (
            LocalCluster(
                n_workers=int(number), threads_per_worker=1, host="127.0.0.1",
                dashboard_address="127.0.0.1:0", silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            yield client
        return
    try:
        at = {"scheduler_file": where} if where.endswith(".json") else {"address": where}
        client = Client(**at, timeout="10s")
    except (OSError, ValueError) as error:
        hint = f"; local:{where} starts workers on this machine" if where.isdigit() else ""
        raise ClusterError(f"There is no scheduler at {where}: {error}{hint}") from None
    with client:
        yield client


@contextmanager
def opened_rows(
    data: str, asked: TableOptions, show: StudyProgress, recipe: Recipe | None = None
) -> Iterator[tuple[ClusterRows, StudyProgress]]:
    """Yield the rows of a directory on a cluster, and a function to call with each step.

    The last step is shown beside the progress of each pass over the rows.
    """
    from novikoff.cluster.rows import open_rows
    from novikoff.cluster.shards import folder_files

    folder_files(data)  # raises an error before workers are started for nothing
    with _connected(asked.cluster or "", show) as client:
        watch = _PassProgress(show)
        watch.show_step(f"surveying {data}; dashboard {getattr(client, 'dashboard_link', '')}")
        opened = open_rows(data, asked.read_options(), client, recipe=recipe, progress=watch)
        watch.n_rows = opened.n
        yield opened, watch.show_step


class _PassProgress:
    """Show the current step with the progress of its pass: tasks done, and rows per second."""

    def __init__(self, show: StudyProgress) -> None:
        self.show, self.began, self.last, self.n_rows = show, time.monotonic(), 0, 0
        self.step: str = ""
        self.interval: Interval | None = None

    def show_step(self, step: str, interval: Interval | None = None) -> None:
        """Show this step and this interval from now on."""
        self.step, self.interval = step, interval
        self.show(step, interval)

    def __call__(self, tasks: int, done: int) -> None:
        if done < self.last or done == 0:
            self.began = time.monotonic()
        self.last = done
        what = f"{self.step}: a pass over the rows, {done} of {tasks} tasks done"
        if self.n_rows and done:
            seconds = max(1e-3, time.monotonic() - self.began)
            what += f", {self.n_rows * done / tasks / seconds:,.0f} rows per second"
        self.show(what, self.interval)
