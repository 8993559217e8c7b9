"""``novikoff fit``: a file in; a verdict, a model and a proof out."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable, Iterable, Mapping
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
    from novikoff.report.estimate import Estimate
    from novikoff.report.study import Study
    from novikoff.report.summary import Report

_KINDS = ["separable", "quasi-separable", "inseparable"]
_ORDERS = ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
_LISTED = ["model", "certificate", "plot", "rows"]
_PLOTS = ["boundary", "margins", "mistakes", "proof"]
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".npy", ".npz",
            ".svm", ".svmlight", ".libsvm", ".jsonl", ".ndjson", ".data", ".dat")  # fmt: skip


_OPTIONS = adding([
    click.option("--positive", metavar="VALUE", help="The positive class; against all others, if "
                 "there are more than two."),
    click.option("--no-intercept", is_flag=True, help="Rules through the origin only."),
    click.option("--scale", type=click.Choice(["standard", "none"]), help="Whether the perceptron "
                 "runs on features of mean 0 and variance 1 (default), or as they are. Its rule is "
                 "mapped back and proved for the features as given."),
    click.option("--order", type=click.Choice(_ORDERS), help="In which order the perceptron looks "
                 "at the rows. Default: permuted."),
    click.option("--epochs", type=click.IntRange(1), help="Passes of the perceptron, at most. "
                 "Default: as many as take about two seconds, 20 at least."),
    click.option("--model", type=click.Choice(["margin", "perceptron"]), default="margin",
                 show_default=True, help="Which rule is saved where several get every row right: "
                 "that of the largest margin, as an SVM's, which mostly errs less on unseen rows; "
                 "or the perceptron's own."),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
                 help="Where randomness comes from."),
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
    click.option("--cv", type=click.IntRange(2), metavar="K", help="The same, by K-fold "
                 "cross-validation."),
    click.option("--require", type=click.Choice(_KINDS), help="Exit with 1 if the verdict is "
                 "another."),
    click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text",
                 show_default=True, help="Of the report on standard output."),
    click.option("--rows", type=click.Path(), metavar="FILE", help="A CSV of all rows: label, "
                 "predicted label, distance on the label's side (below 0 where it is wrong), and "
                 "share in the proof. Sort it by either to hunt for bad labels."),
    click.option("--plot", type=click.Path(), metavar="FILE", help="Draw a picture: .svg or .png."),
    click.option("--plot-kind", type=click.Choice(_PLOTS), default="boundary", show_default=True,
                 help="What the picture shows."),
    click.option("--plane", metavar="A,B", help="The two features whose plane is drawn."),
    click.option("--out", type=click.Path(), default=".", metavar="DIR", help="Where the model and "
                 "the certificate go. Default: here."),
])  # fmt: skip


@click.command("fit")
@click.argument("data", type=click.Path())
@reading
@_OPTIONS
@memory
@cluster.option
@click.option("--force", is_flag=True, help="Replace files that are there.")
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
    if asked.cluster:
        cluster.check_options(asked)
        with shown() as show:
            kind = cluster.fit(data, asked, targets, show)
        sys.exit(_code(kind, asked.require))
    with shown() as show:
        dataset = read_data(data, read_options(asked), asked, show)
        found, estimate = _find(asked, dataset, show)
        show("writing", None)
        picture, missing = _picture(asked, found, dataset, targets)
        report = _report(dataset, found, estimate, targets, time.perf_counter() - began)
        page = _page(report) if asked.form == "html" else ""
        _save(asked, report, targets, page, picture)
    try:
        _print(report, page, asked.form, targets.get("report"))
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the model and the certificate are written.") from None
    if missing:
        raise ValueError(f"{missing} All else is written.")
    sys.exit(_code(report.kind, asked.require))


def _check(asked: SimpleNamespace) -> None:
    """Refuse options that contradict each other."""
    plot, plane = asked.plot, asked.plane
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
    from novikoff.report.files import check_folder, check_writable

    name, folder = "data" if data == "-" else Path(data).name, Path(asked.out)
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    targets = {
        "model": folder / f"{name}.novikoff",
        "certificate": folder / f"{name}.cert.json",
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
    return targets


def _find(asked: SimpleNamespace, data: Dataset, show: Show) -> tuple[Study, Estimate | None]:
    from novikoff.core.validation import Columns
    from novikoff.report.study import Options, study

    estimated = asked.cv or asked.holdout
    if data.on_disk and estimated:
        raise ValueError(
            f"{data.source} is larger than memory: --{'cv' if asked.cv else 'holdout'} needs all "
            "rows in memory."
        )
    options = Options(
        fit_intercept=not asked.no_intercept,
        positive=positive_label(data, asked.positive),
        order=asked.order or "permuted",
        epochs=asked.epochs,
        seed=asked.seed,
        budget=asked.budget and asked.budget / (2.0 if estimated else 1.0),
        verdict=not asked.no_verdict,
        average=asked.average,
        scale=asked.scale or "standard",
        model=asked.model,
    )
    X, y = data.X, data.labels
    try:
        columns = Columns(data.names, data.recipe.groups)
        found = study(X, y, options, show, columns=columns, loading=saying_that_it_compiles)
        if not estimated:
            return found, None
        from novikoff.report.estimate import estimate_errors

        how = {"holdout": asked.holdout, "folds": asked.cv}
        found_errors = estimate_errors(X, y, options, **how, progress=show, imputed=data.imputed)
        return found, found_errors
    except ValueError as error:
        raise ValueError(f"{data.source}: {error}") from None


def positive_label(data: Dataset, text: str | None) -> Hashable:
    """The label that the text stands for."""
    if text is None:
        return None
    import numpy as np

    from novikoff.core.validation import plain_label

    labels = np.unique(data.labels).tolist()
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return plain_label(label)
    some = ", ".join(map(str, labels[:10])) + (", …" if len(labels) > 10 else "")
    raise click.BadParameter(
        f"no row of {data.source} has the label {text}; there are {some}.", param_hint="--positive"
    )


def _report(
    data: Dataset,
    found: Study,
    estimate: Estimate | None,
    targets: Mapping[str, Path],
    seconds: float,
) -> Report:
    from novikoff.report.summary import Report

    files = {name: str(targets[name]) if name in targets else None for name in _LISTED}
    files["certificate"] = files["certificate"] if found.proofs else None
    return Report(found, data, estimate, files, max(0.0, seconds - found.loading))


def _page(report: Report) -> str:
    from novikoff.report.html import page
    from novikoff.report.pictures import draw_all

    data = report.data
    return page(report, {} if data.on_disk else draw_all(report.found, data.X, data.names))


def _picture(
    asked: SimpleNamespace, found: Study, data: Dataset, targets: dict[str, Path]
) -> tuple[bytes, str]:
    """The picture that was asked for; or why there is none, which is no reason to lose the rest."""
    if "plot" not in targets:
        return b"", ""
    from novikoff.report.pictures import draw
    from novikoff.report.plots import render_figure

    try:
        plane = names(asked.plane) or None
        figure = draw(found, data.X, data.names, asked.plot_kind, plane=plane)
    except ValueError as error:
        del targets["plot"]
        return b"", str(error)
    return render_figure(figure, targets["plot"].suffix), ""


def _save(
    asked: SimpleNamespace,
    report: Report,
    targets: Mapping[str, Path],
    page: str,
    picture: bytes,
) -> None:
    """Write the model, the certificate, the picture and the page: all of them, or none."""
    from novikoff.data.recipe import NumberedNames
    from novikoff.report import certificate_file, model_file
    from novikoff.report.files import readable_errors, write_files
    from novikoff.report.study import REST, record_of

    found, data = report.found, report.data
    recipe, proofs = data.recipe.to_json(), found.proofs
    origin: dict[str, object] = {
        "source": data.source,
        "rows": data.n_rows,
        "features": len(data.names),
        "sha256": found.sha256,
        "rule": found.rule,
        "rest": REST if found.options.positive is not None and REST in found.classes else None,
    }
    numbered = isinstance(data.names, NumberedNames)  # very many names that say no more
    record = replace(
        record_of(found, None if numbered else list(data.names)),
        preprocessing=recipe,
        data=origin,
        certificate={"proofs": certificate_file.as_json(proofs)} if proofs else None,
    )
    contents: dict[Path, bytes | Iterable[bytes]] = {targets["model"]: model_file.dump(record)}
    if proofs:
        text = certificate_file.dump(proofs, origin, recipe)
        contents[targets["certificate"]] = text.encode()
    if "plot" in targets:
        contents[targets["plot"]] = picture
    if "rows" in targets:
        from novikoff.report.row_table import row_table

        contents[targets["rows"]] = row_table(report)
    if "report" in targets:
        contents[targets["report"]] = page.encode()
    folder = targets["model"].parent
    with readable_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_files(contents, force=asked.force)


def _print(report: Report, page: str, form: str, saved: Path | None) -> None:
    from novikoff.report.text import lines

    if form == "json":
        print_text(report.to_json())
    elif page and saved is None:
        print_text(page)
    else:
        print_lines([*lines(report), *([] if saved is None else [("report", str(saved))])])


def _code(kind: str | None, require: str | None) -> int:
    if kind == "undecided":
        return UNDECIDED
    if require in (None, kind):
        return 0
    click.echo(f"novikoff: the verdict is {kind}, not {require}.", err=True)
    return UNMET
