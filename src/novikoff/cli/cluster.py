"""``--cluster``: fit and verify where the rows are, on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import check, names
from novikoff.cli.progress import Show, print_lines, print_text

if TYPE_CHECKING:
    from novikoff.cluster import Rows
    from novikoff.cluster.pocket import CountedRule
    from novikoff.core.linear_model import LinearModel
    from novikoff.core.rows import Indices
    from novikoff.data import Recipe
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.separability import Verdict

# Epochs of the perceptron without --epochs, where it is a candidate for the fewest mistakes.
_EPOCHS = 20
# Options that a cluster does not know.
_UNKNOWN = (
    *("holdout", "cv", "plot", "rows", "no_verdict", "average", "max_memory", "cache"),
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
        given = "--" + name.strip("_").replace("_", "-")
        check((getattr(asked, name, None), f"{given} is not known with --cluster."))
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
    data: str, asked: SimpleNamespace, client: Any, show: Show, recipe: Recipe | None = None
) -> Rows:
    """The rows of a directory, with a line of progress for every pass."""
    from novikoff.cluster import rows

    link = getattr(client, "dashboard_link", "")
    show(f"surveying {data}; dashboard {link}", None)
    return rows(
        data, label=asked.label, client=client, one_hot=names(asked.one_hot),
        drop=names(asked.drop), recipe=recipe, progress=_PassProgress(show),
    )  # fmt: skip


class _PassProgress:
    """Shows each pass: how much is done, how fast, and the interval for the margin."""

    def __init__(self, show: Show) -> None:
        self.show, self.began, self.last = show, time.monotonic(), 0
        self.interval: Interval | None = None

    def __call__(self, tasks: int, done: int) -> None:
        if done < self.last or done == 0:
            self.began = time.monotonic()
        self.last = done
        seconds = max(1e-3, time.monotonic() - self.began)
        what = f"a pass over the rows: {done} of {tasks} tasks done"
        self.show(f"{what}, {done / seconds:.0f} a second", self.interval)


def fit(data: str, asked: SimpleNamespace, targets: Mapping[str, Path], show: Show) -> str:
    """Decide, learn, write and print; the worst kind of all verdicts."""
    from novikoff.cluster.shards import folder_files
    from novikoff.report.summary import SEVERITY

    began = time.perf_counter()
    folder_files(data)  # before workers are started for nothing
    with connected(asked.cluster, show) as client:
        rows = open_rows(data, asked, client, show)
        labels = rows.labels
        if len(labels) < 2:
            raise ValueError(f"{data}: all rows have the label {labels[0]!r}: two are needed.")
        positive = [label for label in labels if str(label) == asked.positive]
        check(
            (asked.positive and not positive, f"--positive: no row has the label {asked.positive}.")
        )
        asked_for = positive or ([None] if len(labels) == 2 else labels)
        verdicts = [_verdict(rows, label, asked) for label in asked_for]
        rest_of = positive[0] if positive and len(labels) > 2 else None
        model, found = _model(rows, verdicts, asked, rest_of)
    written = _save(data, asked, targets, rows, verdicts, model, found)
    _print(data, asked, rows, verdicts, found, written, time.perf_counter() - began)
    return max((verdict.kind for verdict in verdicts), key=SEVERITY.index)


def _verdict(rows: Rows, positive: Any, asked: SimpleNamespace) -> Verdict:
    watched: Any = rows.cluster.progress

    def hear(interval: Interval) -> None:
        watched.interval = interval

    return rows.separate(
        positive=positive, fit_intercept=not asked.no_intercept, budget=asked.budget, progress=hear
    )


def _model(
    rows: Rows, verdicts: list[Verdict], asked: SimpleNamespace, rest_of: Any
) -> tuple[LinearModel, list[CountedRule]]:
    """The hyperplanes of the verdicts where all are separable, else those of fewest mistakes."""
    import numpy as np

    from novikoff.core.linear_model import LinearModel
    from novikoff.core.orders import named
    from novikoff.core.runs import Plan
    from novikoff.core.schemes import labels_of
    from novikoff.core.stops import Limits
    from novikoff.core.updates import perceptron
    from novikoff.report.study import REST

    labels = rows.labels if rest_of is None else [REST, str(rest_of)]
    if rest_of is not None and not labels[1] > REST:
        raise ValueError(f"The label {rest_of!r} cannot be told from {REST!r}: rename it.")
    model = LinearModel.blank(labels, rows.d, fit_intercept=not asked.no_intercept)
    if all(verdict.kind == "separable" for verdict in verdicts):
        for rule, verdict in enumerate(verdicts):
            w = np.append(verdict.coef, verdict.intercept)  # type: ignore[arg-type]
            turned = verdict.certificate is not None and len(labels) == 2
            first = turned and verdict.certificate.positive == labels[0]  # type: ignore[union-attr]
            model.W[:, rule] = -w if first else w
        return model, []
    limits = Limits(asked.epochs or _EPOCHS, seconds=asked.budget)
    plan = Plan(perceptron(), named(asked.order), limits, asked.seed)
    sides = [labels_of(model.scheme, model.classes, rule) for rule in range(model.n_rules)]
    sides = sides if rest_of is None else [(rest_of, None)]
    found = rows.fewest_mistakes(plan, sides, not asked.no_intercept)
    model.W[:] = np.column_stack([rule.w for rule in found])
    model.totals[1:] = [rule.updates for rule in found]
    return model, found


def _save(
    data: str, asked: SimpleNamespace, targets: Mapping[str, Path], rows: Rows,
    verdicts: list[Verdict], model: LinearModel, found: list[CountedRule],
) -> list[tuple[str, str]]:  # fmt: skip
    """Write the model and the certificate; what there is now."""
    from dataclasses import replace

    import numpy as np

    from novikoff.core.schemes import labels_of
    from novikoff.report import certificate_file, model_file
    from novikoff.report.files import write_files

    proofs: list[Certificate | ErrorBound]
    proofs = [verdict.certificate for verdict in verdicts if verdict.certificate is not None]
    proofs += [rule.proof for rule in found if rule.bound > 0]
    recipe = None if rows.source.recipe is None else rows.source.recipe.to_json()
    origin: dict[str, object] = {
        "source": data, "rows": rows.n, "features": rows.d,
        "sha256": proofs[0].sha256 if proofs else "", "rule": "cluster", "rest": None,
    }  # fmt: skip
    name, fitted = "Perceptron", model_file.run_state(0, converged=True)
    arrays: dict[str, Any] = {}
    if found:
        sides = [labels_of(model.scheme, model.classes, rule) for rule in range(model.n_rules)]
        named = [  # by the labels of the model
            replace(rule.proof, positive=positive, negative=negative)
            for rule, (positive, negative) in zip(found, sides, strict=True)
        ]
        errors, history = [rule.errors for rule in found], [np.array(r.history) for r in found]
        name, (fitted, arrays) = "Pocket", model_file.pocket_state(errors, named, history)
    record = model_file.ModelRecord(
        name, model, list(rows.names), {"fit_intercept": not asked.no_intercept}, fitted, arrays,
        preprocessing=recipe, data=origin,
        certificate={"proofs": certificate_file.as_json(proofs)} if proofs else None,
    )  # fmt: skip
    contents: dict[Path, Any] = {targets["model"]: model_file.dump(record)}
    if proofs:
        text = certificate_file.dump(proofs, origin, recipe)
        contents[targets["certificate"]] = text.encode()
    targets["model"].parent.mkdir(parents=True, exist_ok=True)
    write_files(contents, force=asked.force)
    return [(name, str(path)) for name, path in targets.items() if path in contents]


def _print(
    data: str, asked: SimpleNamespace, rows: Rows, verdicts: list[Verdict],
    found: list[CountedRule], written: list[tuple[str, str]], seconds: float,
) -> None:  # fmt: skip
    import json

    from novikoff.data.errors import counted
    from novikoff.geometry import verdict_text

    if asked.form == "json":
        body = [
            {"kind": v.kind, "margin": list(v.margin), "radius": v.radius,
             "mistake_bound": v.mistake_bound, "separated": v.n_separated,
             "support": v.support.tolist()}
            for v in verdicts
        ]  # fmt: skip
        for told, rule in zip(body, found, strict=False):
            told |= {"errors": rule.errors, "errors_lower_bound": int(rule.bound)}
        print_text(json.dumps({"rows": rows.n, "verdicts": body, "seconds": seconds}) + "\n")
        return
    size = f"{counted(rows.n, 'row')} in {counted(rows.n_shards, 'file')}"
    size += f" · {counted(rows.d, 'feature')}"
    lines = [("data", f"{data} · {size} · {_labels(rows, asked)}")]
    for k, verdict in enumerate(verdicts):
        if len(verdicts) > 1 and verdict.certificate is not None:
            lines.append(("class", f"{verdict.certificate.positive} against the rest"))
        lines += verdict_text.lines(verdict, _counted_from_1)
        if found:
            lines.append(("mistakes", _mistakes(found[k], rows.n)))
    files = dict(written)
    model = files.pop("model", "not written")
    model += "".join(f"   {name}  {path}" for name, path in files.items())
    print_lines([*lines, ("model", model), ("time", f"{seconds:.1f} s")])


def _counted_from_1(rows: Indices) -> str:
    from novikoff.geometry.verdict_text import SHOWN, some

    numbers = some([str(row + 1) for row in rows[:SHOWN].tolist()], len(rows))
    return f"{numbers} (counted from 1, one file after the other)"


def _labels(rows: Rows, asked: SimpleNamespace) -> str:
    """The column of the labels, and the classes with their signs."""
    from novikoff.report.study import REST

    recipe, labels = rows.source.recipe, rows.labels
    said = f"label {recipe.label}" if recipe is not None and recipe.label else "label"
    if len(labels) > 2 and not asked.positive:
        return f"{said}: {len(labels)} classes"
    plus = asked.positive or str(labels[1])
    others = [str(label) for label in labels if str(label) != plus]
    return f"{said}: {plus} (+)  {others[0] if len(others) == 1 else REST} (−)"


def _mistakes(rule: CountedRule, n: int) -> str:
    text = f"{rule.errors:,} of {n:,} rows ({rule.errors / n:.1%})"
    if rule.errors and rule.optimal:
        return f"{text}; proved: no hyperplane makes fewer"
    return f"{text}; proved: every hyperplane makes at least {int(rule.bound):,}"


def verify(
    data: str, asked: SimpleNamespace, proofs: Sequence[Certificate | ErrorBound],
    recipe: Recipe | None, show: Show,
) -> Rows:  # fmt: skip
    """Check certificates where the rows are."""
    with connected(asked.cluster, show) as client:
        rows = open_rows(data, asked, client, show, recipe)
        for proof in proofs:
            rows.verify(proof)
    return rows
