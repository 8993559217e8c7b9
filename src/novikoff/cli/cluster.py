"""``--cluster``: fit and verify where the rows are, on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import OPTION_NAMES, check, names
from novikoff.cli.progress import Show, print_lines, print_text

if TYPE_CHECKING:
    from novikoff.cluster import Rows
    from novikoff.data import Recipe
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.margin import Interval
    from novikoff.report.cluster_study import ClusterStudy

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
        check((given, f"--{flag} is not known with --cluster."))
    check((asked.header is False, "--no-header is not known with --cluster."))
    for name, flag, value in (("form", "format", "html"), ("model", "model", "perceptron")):
        chosen = getattr(asked, name, None) == value
        check((chosen, f"--{flag} {value} is not known with --cluster."))


@contextmanager
def connected(where: str, show: Show) -> Iterator[Any]:
    """A client of the cluster."""
    from novikoff.cluster import ClusterError

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


def open_rows(
    data: str, asked: SimpleNamespace, client: Any, show: Show, watch: _PassProgress,
    recipe: Recipe | None = None,
) -> Rows:  # fmt: skip
    """The rows of a directory, whose passes are watched."""
    from novikoff.cluster import rows

    link = getattr(client, "dashboard_link", "")
    show(f"surveying {data}; dashboard {link}", None)
    return rows(
        data, label=asked.label, client=client, one_hot=names(asked.one_hot),
        drop=names(asked.drop), recipe=recipe, progress=watch,
    )  # fmt: skip


class _PassProgress:
    """Shows each pass: how much is done, rows a second, and the interval for the margin."""

    def __init__(self, show: Show) -> None:
        self.show, self.began, self.last, self.n_rows = show, time.monotonic(), 0, 0
        self.interval: Interval | None = None

    def __call__(self, tasks: int, done: int) -> None:
        if done < self.last or done == 0:
            self.began = time.monotonic()
        self.last = done
        what = f"a pass over the rows: {done} of {tasks} tasks done"
        if self.n_rows and done:
            seconds = max(1e-3, time.monotonic() - self.began)
            what += f", {self.n_rows * done / tasks / seconds:,.0f} rows a second"
        self.show(what, self.interval)

    def hear(self, interval: Interval) -> None:
        """Show this interval from now on."""
        self.interval = interval


def fit(data: str, asked: SimpleNamespace, targets: Mapping[str, Path], show: Show) -> str:
    """Decide, learn, write and print; the worst kind of all verdicts."""
    from novikoff.cluster.shards import folder_files
    from novikoff.report.cluster_study import study_rows
    from novikoff.report.study import Options

    began = time.perf_counter()
    folder_files(data)  # before workers are started for nothing
    with connected(asked.cluster, show) as client:
        watch = _PassProgress(show)
        rows = open_rows(data, asked, client, show, watch)
        watch.n_rows = rows.n
        positive = [label for label in rows.labels if str(label) == asked.positive]
        check(
            (asked.positive and not positive, f"--positive: no row has the label {asked.positive}.")
        )
        options = Options(
            fit_intercept=not asked.no_intercept,
            positive=positive[0] if positive else None,
            seed=asked.seed,
            budget=asked.budget,
        )
        found = study_rows(rows, options, watch.hear)
    files, seconds = _save(data, found, targets, asked.force), time.perf_counter() - began
    if asked.form == "json":
        print_text(found.to_json(seconds))
    else:
        print_lines([*found.lines(data, files), ("time", f"{seconds:.1f} s")])
    return found.kind


def _save(
    data: str, found: ClusterStudy, targets: Mapping[str, Path], force: bool
) -> dict[str, str]:
    """Write the model and the certificate; the files by their names."""
    from dataclasses import replace

    from novikoff.report import certificate_file, model_file
    from novikoff.report.files import write_files
    from novikoff.report.study import REST

    rows, proofs = found.rows, found.proofs
    recipe = None if rows.source.recipe is None else rows.source.recipe.to_json()
    origin: dict[str, object] = {
        "source": data, "rows": rows.n, "features": rows.d,
        "sha256": proofs[0].sha256 if proofs else "", "rule": "cluster",
        "rest": REST if REST in found.model.classes.tolist() else None,
    }  # fmt: skip
    known = {"proofs": certificate_file.as_json(proofs)} if proofs else None
    record = replace(found.record(), preprocessing=recipe, data=origin, certificate=known)
    contents: dict[Path, Any] = {targets["model"]: model_file.dump(record)}
    if proofs:
        text = certificate_file.dump(proofs, origin, recipe)
        contents[targets["certificate"]] = text.encode()
    targets["model"].parent.mkdir(parents=True, exist_ok=True)
    write_files(contents, force=force)
    return {name: str(path) for name, path in targets.items() if path in contents}


def verify(
    data: str, asked: SimpleNamespace, proofs: Sequence[Certificate | ErrorBound],
    recipe: Recipe | None, show: Show,
) -> Rows:  # fmt: skip
    """Check certificates where the rows are."""
    with connected(asked.cluster, show) as client:
        rows = open_rows(data, asked, client, show, _PassProgress(show), recipe)
        for proof in proofs:
            rows.verify(proof)
    return rows
