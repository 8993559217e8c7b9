"""``novikoff fit``: a file in; a verdict, a model and a proof out."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from novikoff.cli import cluster
from novikoff.cli.main import UNDECIDED, UNMET, Interrupted
from novikoff.cli.options import adding, check, memory, names, read_data, read_options, reading
from novikoff.cli.progress import Show, print_lines, print_text, saying_that_it_compiles, shown

if TYPE_CHECKING:
    from novikoff.data import Dataset
    from novikoff.jobs.study_records import Options, Study
    from novikoff.report.summary import Report

_KINDS = ["separable", "quasi-separable", "inseparable"]
_ORDERS = ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
_LISTED = ("model", "certificate", "plot", "rows")
_PLOTS = ["boundary", "margins", "mistakes", "proof"]


_OPTIONS = adding([
    click.option("--positive", metavar="VALUE", help="The positive class; against all others, if "
                 "there are more than two."),
    click.option("--no-intercept", is_flag=True, help="Rules through the origin only."),
    click.option("--scale", type=click.Choice(["standard", "none"]), help="Whether the perceptron "
                 "runs on features of mean 0 and variance 1 (default), or as they are; its rule is "
                 "mapped back to the original features and checked there."),
    click.option("--order", type=click.Choice(_ORDERS), help="The order in which the perceptron "
                 "visits the rows. Default: permuted."),
    click.option("--epochs", type=click.IntRange(1), help="At most this many passes of the "
                 "perceptron. "
                 "Default: as many as take about two seconds, 20 at least."),
    click.option("--model", type=click.Choice(["margin", "perceptron"]), default="margin",
                 show_default=True, help="Which rule is saved where several get every row right: "
                 "the one with the largest margin, as in an SVM, which usually misclassifies fewer "
                 "unseen rows, or the perceptron's own."),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
                 help="Random seed."),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="Time for deciding and learning, loading and compiling not counted; what is "
                 "not proved by then is undecided."),
    click.option("--no-verdict", is_flag=True, help="Only run the perceptron: no proof, no "
                 "certificate."),
    click.option("--average", is_flag=True, help="With --no-verdict: the model predicts with the "
                 "average of all weights, which is often better on unseen rows where no rule is "
                 "perfect."),
    click.option("--holdout", type=click.FloatRange(0, 1, min_open=True, max_open=True),
                 metavar="SHARE", help="Estimate the error on unseen examples from a share held "
                 "out."),
    click.option("--cv", type=click.IntRange(2), metavar="K", help="Estimate the error on "
                 "unseen examples by K-fold cross-validation."),
    click.option("--require", type=click.Choice(_KINDS), help="Exit with code 1 if the "
                 "verdict differs."),
    click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--rows", type=click.Path(), metavar="FILE", help="A CSV of all rows: label, "
                 "predicted label, distance on the label's side (below 0 where it is wrong), and "
                 "share in the proof. Sort it by either to hunt for bad labels."),
    click.option("--plot", type=click.Path(), metavar="FILE", help="Draw a picture: .svg or .png."),
    click.option("--plot-kind", type=click.Choice(_PLOTS), default="boundary", show_default=True,
                 help="What the picture shows."),
    click.option("--plane", metavar="A,B", help="The two features whose plane is drawn."),
    click.option("--out", type=click.Path(), default=".", metavar="DIR", help="The folder for the "
                 "model and the certificate. Default: the current one."),
    click.option("--no-files", is_flag=True, help="Only print the report: no model, "
                 "certificate, picture or table of rows is written."),
])  # fmt: skip


@click.command("fit")
@click.argument("data", type=click.Path())
@reading
@_OPTIONS
@memory
@cluster.option
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def command(data: str, **values: object) -> None:
    """Decide whether a linear rule exists, with proof, and learn one.

    DATA is CSV, TSV, Parquet, Arrow, npy, npz, svmlight or JSON lines, text also gzipped, or a
    directory of Parquet files; - is standard input. Writes NAME.novikoff (the model) and
    NAME.cert.json (the proof), and prints a report. Where f(x) = 0, the model says the negative
    class, and mistakes are counted so.

    \b
    novikoff fit flowers.csv --label species
    novikoff fit big.parquet --require separable --format json > report.json
    novikoff fit larger-than-memory.csv --max-memory 2GB --cache /tmp/arrays
    novikoff fit folder-of-parquet --label kind --cluster tcp://host:8786
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    asked = SimpleNamespace(**values)
    _check(asked)
    targets = _targets(data, asked)
    began = time.perf_counter()
    saved = False
    try:
        with shown() as show:
            if asked.cluster:
                report, picture, missing = _fit_on_cluster(data, asked, show), None, ""
            else:
                dataset = read_data(data, read_options(asked), asked, show)
                report = _fit(dataset, asked, show)
                show("writing", None)
                picture, missing = _picture(asked, report.found, dataset, targets)
            named = {name: str(targets[name]) if name in targets else None for name in _LISTED}
            if not report.found.proofs:
                named["certificate"] = None
            if picture is None:
                named["plot"] = None
            seconds = max(0.0, time.perf_counter() - began - report.found.loading)
            report = replace(report, files=named, seconds=seconds)
            page = _page(report) if asked.form == "html" else ""
            saved = _save(report, targets, page, picture, force=asked.force)
        _print(report, page, asked.form, targets.get("report"))
    except KeyboardInterrupt:
        if not saved:
            raise
        raise Interrupted("interrupted; all files are written.") from None
    if missing:
        raise ValueError(f"{missing} All else is written.")
    sys.exit(_code(report, asked.require))


def _check(asked: SimpleNamespace) -> None:
    """Refuse options that contradict each other."""
    plot, plane = asked.plot, asked.plane
    if asked.cluster:
        cluster.check_options(asked)
    check(
        (asked.holdout and asked.cv, "--holdout and --cv exclude each other."),
        (
            asked.require and asked.no_verdict,
            "--require needs a verdict: it excludes --no-verdict.",
        ),
        (
            asked.average and not asked.no_verdict,
            "--average may err where the verdict says that no rule has to: it needs --no-verdict.",
        ),
        (
            plot and not plot.lower().endswith((".svg", ".png")),
            f"--plot {plot} is neither .svg nor .png.",
        ),
        (
            asked.no_files and (plot or asked.rows),
            f"--{'plot' if plot else 'rows'} is a file: it excludes --no-files.",
        ),
        (plane and not plot, "--plane is about a picture: it needs --plot."),
        (plane and len(names(plane)) != 2, "--plane: two features are needed."),
        (
            plot and find_spec("matplotlib") is None,
            "--plot needs matplotlib: pip install matplotlib.",
        ),
    )


def _targets(data: str, asked: SimpleNamespace) -> dict[str, Path]:
    """The files that will be written, named after the data.

    Those that are there or cannot be written are refused before any work is done. The report is a
    file where a terminal cannot show it.
    """
    from novikoff.formats.file_names import CERTIFICATE_ENDING, MODEL_ENDING, base_name
    from novikoff.formats.files import check_apart, check_folder, check_writable

    if asked.no_files:
        return {}
    name, folder = base_name(data), Path(asked.out)
    targets = {
        "model": folder / f"{name}{MODEL_ENDING}",
        "certificate": folder / f"{name}{CERTIFICATE_ENDING}",
    }
    if asked.form == "html" and sys.stdout.isatty():
        targets["report"] = folder / f"{name}.html"
    for path in targets.values() if folder.exists() else ():
        check_writable(path, force=asked.force)
    check_folder(folder)
    for name in ("plot", "rows"):
        if getattr(asked, name) is not None:
            targets[name] = Path(getattr(asked, name))
            check_writable(targets[name], force=asked.force)
    check_apart(targets.values(), [data])
    return targets


def _options(asked: SimpleNamespace, labels: Sequence[Hashable], source: str) -> Options:
    from novikoff.jobs.study_records import Options

    estimated = asked.cv or asked.holdout
    return Options(
        fit_intercept=not asked.no_intercept,
        positive=positive_label(labels, asked.positive, source),
        order=asked.order or "permuted",
        epochs=asked.epochs,
        seed=asked.seed,
        budget=asked.budget and asked.budget / (2.0 if estimated else 1.0),
        verdict=not asked.no_verdict,
        average=asked.average,
        scale=asked.scale or "standard",
        model=asked.model,
    )


def _fit(data: Dataset, asked: SimpleNamespace, show: Show) -> Report:
    """Study the rows of a file; estimate the errors on unseen rows, if that is asked for."""
    from novikoff.core.validation import Columns
    from novikoff.data.messages import did_you_mean, quoted
    from novikoff.jobs.study import study
    from novikoff.report.summary import Report

    estimated, estimate = asked.cv or asked.holdout, None
    if data.on_disk and estimated:
        raise ValueError(
            f"{data.source} is larger than memory: --{'cv' if asked.cv else 'holdout'} needs all "
            "rows in memory."
        )
    for name in names(asked.plane):
        if name not in data.names:
            hint = did_you_mean(name, data.names)
            raise ValueError(f"{data.source} has no feature {quoted(name)} (--plane); {hint}")
    labels = data.coded_labels
    options = _options(asked, labels.classes.tolist(), data.source)
    try:
        columns = Columns(data.names, data.recipe.groups)
        found = study(
            data.X, labels, options, show, columns=columns, loading=saying_that_it_compiles
        )
        if estimated:
            from novikoff.jobs.estimate import estimate_errors

            how = {"holdout": asked.holdout, "folds": asked.cv}
            estimate = estimate_errors(
                data.X, labels, options, **how, progress=show, imputed=data.imputed
            )
    except ValueError as error:
        raise ValueError(f"{data.source}: {error}") from None
    return Report(found, data, estimate)


def _fit_on_cluster(data: str, asked: SimpleNamespace, show: Show) -> Report:
    """Study the rows of a directory where they are."""
    from novikoff.jobs.study import study
    from novikoff.report.summary import FilesOfCluster, Report

    with cluster.opened(data, asked, show) as (rows, hear):
        found = study(rows, None, _options(asked, rows.labels, data), hear)
        return Report(found, FilesOfCluster.of(data, rows))


def positive_label(labels: Sequence[Hashable], text: str | None, source: str) -> Hashable:
    """The one of the labels that the text stands for."""
    if text is None:
        return None
    from novikoff.core.class_labels import plain_label

    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return plain_label(label)
    some = ", ".join(map(str, labels[:10])) + (", …" if len(labels) > 10 else "")
    raise click.BadParameter(
        f"no row of {source} has the label {text}; there are {some}.", param_hint="--positive"
    )


def _page(report: Report) -> str:
    from novikoff.data import Dataset
    from novikoff.report.html import page
    from novikoff.report.pictures import draw_all

    data = report.data
    if not isinstance(data, Dataset) or data.on_disk:
        return page(report, None)
    return page(report, draw_all(report.found, data.X, data.names))


def _picture(
    asked: SimpleNamespace, found: Study, data: Dataset, targets: dict[str, Path]
) -> tuple[bytes | None, str]:
    """The picture that was asked for; or why there is none, which is no reason to lose the rest."""
    if "plot" not in targets:
        return None, ""
    from novikoff.report.pictures import draw
    from novikoff.report.plots import render_figure

    try:
        plane = names(asked.plane) or None
        figure = draw(found, data.X, data.names, asked.plot_kind, plane=plane)
    except ValueError as error:
        return None, str(error)
    return render_figure(figure, targets["plot"].suffix), ""


def _save(
    report: Report, targets: Mapping[str, Path], page: str, picture: bytes | None, *, force: bool
) -> bool:
    """Write the model, the certificate, the rows, the picture and the page; True if there are any.

    Where this fit has no certificate or picture, that of an earlier fit is removed, with ``force``:
    it would stand beside a model to which it does not belong. `write_files` says what is promised.
    """
    from novikoff.formats.files import output_errors, write_files
    from novikoff.report.outputs import contents

    if not targets:
        return False
    made = {**contents(report), "plot": picture, "report": page.encode()}
    folder = targets["model"].parent
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_files({path: made.get(name) for name, path in targets.items()}, force=force)
    return True


def _print(report: Report, page: str, form: str, saved: Path | None) -> None:
    from novikoff.report.text import lines

    if form == "json":
        print_text(report.to_json())
    elif page and saved is None:
        print_text(page)
    else:
        print_lines([*lines(report), *([] if saved is None else [("report", str(saved))])])


def _code(report: Report, require: str | None) -> int:
    kind = report.kind
    if kind == "undecided":
        return UNDECIDED
    if require in (None, kind):
        return 0
    several = f" ({report.question})" if len(report.found.cases) > 1 else ""
    click.echo(f"novikoff: the verdict is {kind}, not {require}{several}.", err=True)
    return UNMET
