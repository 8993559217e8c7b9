"""``--cluster``: fit and verify where the rows are, on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import OPTION_NAMES, check, names
from novikoff.cli.progress import Show

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.data import Recipe
    from novikoff.geometry.margin import Interval

# Options that a cluster does not know.
_UNKNOWN = (
    *("scale", "order", "epochs", "no_verdict", "average"),  # no perceptron is run
    *("holdout", "cv", "plot", "rows", "max_memory", "cache"),
    *("features", "missing", "id_", "header", "delimiter", "decimal", "source_format"),
)
option = click.option(
    "--cluster", metavar="WHERE", help="Work on a Dask cluster: local:N for N workers on this "
    "machine, the address of a scheduler (tcp://host:8786), or its file (scheduler.json). DATA is "
    "a directory of Parquet files that every worker can read. Needs novikoff[dask].",
)  # fmt: skip


def check_options(asked: SimpleNamespace) -> None:
    """Refuse what a cluster does not do."""
    for name in _UNKNOWN:
        given, flag = getattr(asked, name, None), OPTION_NAMES.get(name, name).replace("_", "-")
        check((given, f"--{flag} cannot be used with --cluster."))
    check((asked.header is False, "--no-header cannot be used with --cluster."))
    own_rule = getattr(asked, "model", None) == "perceptron"
    check((own_rule, "--model perceptron cannot be used with --cluster."))


@contextmanager
def _connected(where: str, show: Show) -> Iterator[Any]:
    """A client of the cluster."""
    from novikoff.errors import ClusterError

    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install 'novikoff[dask]'.") from None
    kind, _, number = where.partition(":")
    show(f"connecting to {where}", None)
    if kind == "local":
        check(
            (
                not number.isdigit() or not 0 < int(number) <= 1024,
                "--cluster local:N needs a number N.",
            )
        )
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
        hint = f"; for workers on this machine say local:{where}" if where.isdigit() else ""
        raise ClusterError(f"There is no scheduler at {where}: {error}{hint}") from None
    with client:
        yield client


@contextmanager
def opened(
    data: str, asked: SimpleNamespace, show: Show, recipe: Recipe | None = None
) -> Iterator[tuple[ClusterRows, Show]]:
    """The rows of a directory while the cluster is there, and a function to call with each step.

    What it is told last is shown beside the progress of each pass.
    """
    from novikoff.cluster import rows
    from novikoff.cluster.shards import folder_files

    folder_files(data)  # before workers are started for nothing
    with _connected(asked.cluster, show) as client:
        watch = _PassProgress(show)
        watch.hear(f"surveying {data}; dashboard {getattr(client, 'dashboard_link', '')}", None)
        found = rows(
            data,
            label=asked.label,
            client=client,
            one_hot=names(asked.one_hot),
            drop=names(asked.drop),
            recipe=recipe,
            progress=watch,
        )
        watch.n_rows = found.n
        yield found, watch.hear


class _PassProgress:
    """Shows the step, and each pass of it: how much is done, and rows a second."""

    def __init__(self, show: Show) -> None:
        self.show, self.began, self.last, self.n_rows = show, time.monotonic(), 0, 0
        self.step: str = ""
        self.interval: Interval | None = None

    def hear(self, step: str, interval: Interval | None) -> None:
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
            what += f", {self.n_rows * done / tasks / seconds:,.0f} rows a second"
        self.show(what, self.interval)
