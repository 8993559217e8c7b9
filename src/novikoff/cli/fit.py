"""``novikoff fit``: a file in; a verdict, a model and a proof out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from novikoff.cli.options import (
    LOCAL,
    Command,
    TableOptions,
    add_options,
    cluster_option,
    file_options,
    given_options,
    memory_options,
    names,
    positive_label,
    reject,
)
from novikoff.cli.outputs import exit_with_answer, files_are_written
from novikoff.cli.progress import (
    print_lines,
    print_text,
    showing_progress,
)
from novikoff.core.validation import Columns
from novikoff.data import Dataset
from novikoff.data.messages import did_you_mean, quoted
from novikoff.errors import MissingExtraError, OutputError
from novikoff.formats.file_names import CERTIFICATE_ENDING, MODEL_ENDING, base_name
from novikoff.formats.files import (
    check_apart,
    check_folder,
    check_writable,
    output_errors,
    write_files,
)
from novikoff.jobs.estimate import estimate_errors
from novikoff.jobs.study import study
from novikoff.jobs.study_records import Study, StudyOptions, StudyProgress
from novikoff.names import ORDERS, PLOTS
from novikoff.report.study_report import ClusterFiles, Report, report_lines

if TYPE_CHECKING:
    from novikoff.report.pictures import Subject

_VERDICTS = ["separable", "quasi-separable", "inseparable"]
# The files that a report lists.
_LISTED_FILES = ("model", "certificate", "plot", "rows")

_question_options = add_options("What is asked", [
    click.option("--positive", metavar="VALUE", help="The positive class. If there are more than "
                 "two classes, it is compared with all others."),
    click.option("--no-intercept", is_flag=True, help="Use hyperplanes through the origin only."),
    click.option("--no-verdict", is_flag=True, help="Only run the perceptron: no proof and no "
                 "certificate."),
    click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="The time for deciding and learning, without loading and compiling. A "
                 "verdict that is not proved by then is undecided."),
    click.option("--require", type=click.Choice(_VERDICTS), help="Exit with code 1 if the verdict "
                 "differs."),
])  # fmt: skip
_learning_options = add_options("Learning", [
    click.option("--model", type=click.Choice(["margin", "perceptron"]), default="margin",
                 show_default=True, help="The rule to save for separable data: the hyperplane with "
                 "the largest margin, as in an SVM, or the perceptron's rule."),
    click.option("--scale", type=click.Choice(["standard", "none"]), default="standard",
                 show_default=True, help="Run the perceptron on standardised features (mean 0, "
                 "variance 1), or on the original features. Its rule is always for the original "
                 "features, and is checked on them."),
    click.option("--order", type=click.Choice(ORDERS), default="permuted", show_default=True,
                 help="The order in which the perceptron visits the rows."),
    click.option("--epochs", type=click.IntRange(1), metavar="N", help="The largest number of "
                 "passes of the perceptron. [default: about two seconds' worth, at least 20]"),
    click.option("--average", is_flag=True, help="Predict with the average of all weights, which "
                 "often misclassifies fewer unseen rows if the data is not separable. Needs "
                 "--no-verdict."),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
                 metavar="N", help="The random seed."),
])  # fmt: skip
_unseen_options = add_options("Errors on unseen rows", [
    click.option("--holdout", type=click.FloatRange(0, 1, min_open=True, max_open=True),
                 metavar="SHARE", help="Estimate the error on unseen rows with this share of the "
                 "rows held out."),
    click.option("--cv", type=click.IntRange(2), metavar="K", help="Estimate the error on unseen "
                 "rows by K-fold cross-validation."),
])  # fmt: skip
_output_options = add_options("Report and files", [
    click.option("--format", "format_", type=click.Choice(["text", "json", "html"]), default="text",
                 show_default=True, help="Output format."),
    click.option("--verbose", "-v", is_flag=True, help="Also print the margins and the mistake "
                 "bounds on the original features, and the conflict of each class."),
    click.option("--rows", type=click.Path(), metavar="FILE", help="Write a CSV of all rows: "
                 "label, predicted label, distance from the hyperplane (negative on the wrong "
                 "side), and multiplier in the proof (support vectors have one). Sort it by "
                 "distance to find suspect labels."),
    click.option("--plot", type=click.Path(), metavar="FILE", help="Draw a picture: .svg or .png."),
    click.option("--plot-kind", type=click.Choice(PLOTS), default="boundary", show_default=True,
                 help="The subject of the picture."),
    click.option("--plane", metavar="A,B", help="The two features that the picture shows."),
    click.option("--out", type=click.Path(), default=".", metavar="DIR", help="The directory for "
                 "the model and the certificate. [default: the current directory]"),
    click.option("--no-files", is_flag=True, help="Only print the report, and write no file."),
    click.option("--force", is_flag=True, help="Also overwrite files that novikoff fit did not "
                 "write for this data."),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FitOptions(TableOptions):
    """The options of ``novikoff fit``."""

    positive: str | None
    no_intercept: bool
    scale: Literal["standard", "none"] = field(metadata=LOCAL)
    order: str = field(metadata=LOCAL)
    epochs: int | None = field(metadata=LOCAL)
    model: Literal["margin", "perceptron"]
    seed: int
    budget: float | None
    no_verdict: bool = field(metadata=LOCAL)
    average: bool = field(metadata=LOCAL)
    holdout: float | None = field(metadata=LOCAL)
    cv: int | None = field(metadata=LOCAL)
    require: str | None
    format_: Literal["text", "json", "html"]
    verbose: bool
    rows: str | None = field(metadata=LOCAL)
    plot: str | None = field(metadata=LOCAL)
    plot_kind: Subject
    plane: str | None
    out: str
    no_files: bool
    force: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        plot, needs_file = self.plot or "", "--plot" if self.plot else "--rows"
        reject(
            (
                self.cluster and self.model == "perceptron",
                "--model perceptron cannot be used with --cluster.",
            ),
            (self.holdout and self.cv, "--holdout and --cv cannot be used together."),
            (
                self.require and self.no_verdict,
                "--require needs a verdict: it cannot be used with --no-verdict.",
            ),
            (
                self.average and not self.no_verdict,
                "--average needs --no-verdict: an averaged rule may misclassify rows even if the "
                "data is separable.",
            ),
            (
                plot and not plot.lower().endswith((".svg", ".png")),
                f"--plot {plot} must end with .svg or .png.",
            ),
            (
                self.no_files and (plot or self.rows),
                f"{needs_file} writes a file: it cannot be used with --no-files.",
            ),
            (self.plane and not plot, "--plane needs --plot."),
            (self.plane and len(names(self.plane)) != 2, "--plane must name two features."),
        )
        if plot and find_spec("matplotlib") is None:
            raise MissingExtraError("--plot", "matplotlib", "plots")

    @property
    def estimates(self) -> bool:
        """Whether the error on unseen rows is estimated."""
        return self.cv is not None or self.holdout is not None

    def study_options(self, labels: Sequence[Hashable], source: str) -> StudyOptions:
        """Return these options as the record that `novikoff.jobs.study.study` takes."""
        return StudyOptions(
            fit_intercept=not self.no_intercept,
            positive=positive_label(labels, self.positive, source),
            order=self.order,
            epochs=self.epochs,
            seed=self.seed,
            budget=self.budget and self.budget / (2.0 if self.estimates else 1.0),
            verdict=not self.no_verdict,
            average=self.average,
            scale=self.scale,
            model=self.model,
        )


@_output_options
@_unseen_options
@_learning_options
@cluster_option
@memory_options
@file_options()
@_question_options
@click.command("fit", cls=Command)
@click.argument("data", type=click.Path())
def command(data: str, **values: Any) -> None:
    """Decide with proof whether a hyperplane separates the classes, and learn a rule.

    DATA is CSV, TSV, Parquet, Arrow, npy, npz, svmlight or JSON lines; text may be gzipped. It may
    also be a directory of Parquet files, or - for standard input. The command writes NAME.novikoff
    (the model) and NAME.cert.json (the certificate) and prints a report. The next fit of the same
    data replaces these files. The model predicts the negative class where f(x) = 0, and its
    mistakes are counted accordingly.

    \b
    Examples:
      novikoff fit flowers.csv --label species
      novikoff fit big.parquet --require separable --format json > report.json
      novikoff fit larger-than-memory.csv --max-memory 2GB --cache /tmp/arrays
      novikoff fit folder-of-parquet --label kind --cluster tcp://host:8786
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    asked = FitOptions(given=given_options(), **values)
    targets = _study_files(data, asked)
    began = time.perf_counter()
    with showing_progress() as show:
        if asked.cluster:
            report, picture, problem = _fit_on_cluster(data, asked, show), None, ""
        else:
            dataset = asked.read(data, asked.read_options(), show)
            report = _fit(dataset, asked, show)
            show("writing")
            picture, problem = _picture(asked, report.study, dataset, targets)
        paths = ((name, targets.get(name)) for name in _LISTED_FILES)
        named = {name: None if path is None else str(path) for name, path in paths}
        if not report.study.proofs:
            named["certificate"] = None
        if picture is None:
            named["plot"] = None
        seconds = max(0.0, time.perf_counter() - began - report.study.loading)
        report = replace(report, files=named, seconds=seconds)
        page = _page(report) if asked.format_ == "html" else ""
        _save(report, data, asked, targets, page, picture)
    with files_are_written(written=bool(targets)):
        _print_report(report, page, asked, targets.get("report"))
    if problem:
        raise ValueError(f"{problem} All other files are written.")
    about = f" ({report.question})" if len(report.study.cases) > 1 else ""
    exit_with_answer([report.kind or ""], asked.require, about=about)


def _study_files(data: str, asked: FitOptions) -> dict[str, Path]:
    """Return the files to write, which are named after the data.

    A file that cannot be written is an error before any work is done, and so is an existing file
    that an earlier fit of the same data did not write. The HTML report is a file only if standard
    output is a terminal.
    """
    if asked.no_files:
        return {}
    name, folder = base_name(data), Path(asked.out)
    targets = {
        "model": folder / f"{name}{MODEL_ENDING}",
        "certificate": folder / f"{name}{CERTIFICATE_ENDING}",
    }
    if asked.format_ == "html" and sys.stdout.isatty():
        targets["report"] = folder / f"{name}.html"
    named = {"plot": asked.plot, "rows": asked.rows}
    targets |= {name: Path(file) for name, file in named.items() if file is not None}
    replaceable = _replaceable(data, asked, targets)
    for name, path in targets.items():
        if name in named or folder.exists():
            check_writable(path, force=True)
        if os.path.lexists(path) and path not in replaceable:
            raise OutputError(
                f"{path} already exists, and novikoff fit did not write it for this file "
                f"{data}; --force replaces it, and --out DIR writes to another directory."
            )
    check_folder(folder)
    check_apart(targets.values(), [data])
    return targets


def _replaceable(data: str, asked: FitOptions, targets: Mapping[str, Path]) -> set[Path]:
    """Return the existing files that may be replaced: those of an earlier fit of the same data.

    The model and the certificate of a fit know the place of its data. The other files do not: they
    are replaced only together with the model.
    """
    existing = {name: path for name, path in targets.items() if os.path.lexists(path)}
    if asked.force or not existing:
        return {*existing.values()}
    from novikoff.report.study_files import wrote_file  # loads Numba, which --help does without

    written = {name: path for name, path in existing.items() if wrote_file(name, path, data)}
    named = {"model", "certificate"} if "model" not in written else written.keys()
    return {path for name, path in written.items() if name in named}


def _fit(data: Dataset, asked: FitOptions, show: StudyProgress) -> Report:
    """Study the rows of a file, and estimate the error on unseen rows if that is asked for."""
    estimate = None
    if data.on_disk and asked.estimates:
        raise ValueError(
            f"{data.source} is larger than memory: --{'cv' if asked.cv else 'holdout'} needs all "
            "rows in memory."
        )
    for name in names(asked.plane):
        if name not in data.names:
            hint = did_you_mean(name, data.names)
            raise ValueError(f"{data.source} has no feature {quoted(name)} (--plane); {hint}")
    labels = data.coded_labels
    if len(labels.classes) == 1 and data.label is not None:
        raise ValueError(
            f"{data.source}: every row has the label {labels.classes.tolist()[0]!r} in column "
            f"{quoted(data.label)}: two classes are needed; --label names another column."
        )
    options = asked.study_options(labels.classes.tolist(), data.source)
    try:
        columns = Columns(data.names, data.recipe.groups)
        result = study(data.X, labels, options, show, columns=columns)
        if asked.estimates:
            estimate = estimate_errors(
                data.X,
                labels,
                options,
                holdout=asked.holdout,
                folds=asked.cv,
                progress=show,
                imputed=data.imputed,
            )
    except ValueError as error:
        raise ValueError(f"{data.source}: {error}") from None
    return Report(result, data, estimate)


def _fit_on_cluster(data: str, asked: FitOptions, show: StudyProgress) -> Report:
    """Study the rows of a directory on the workers of a cluster."""
    from novikoff.cli.cluster import opened_rows  # loads Dask only if --cluster asks for it

    with opened_rows(data, asked, show) as (rows, show_step):
        result = study(rows, None, asked.study_options(rows.labels, data), show_step)
        return Report(result, ClusterFiles.of(data, rows))


def _page(report: Report) -> str:
    from novikoff.report.html import html_report  # these load matplotlib
    from novikoff.report.pictures import draw_all

    data = report.data
    if not isinstance(data, Dataset) or data.on_disk:
        return html_report(report, None)
    return html_report(report, draw_all(report.study, data.X, data.names))


def _picture(
    asked: FitOptions, result: Study, data: Dataset, targets: dict[str, Path]
) -> tuple[bytes | None, str]:
    """Return the picture that is asked for, or the reason why it cannot be drawn."""
    if "plot" not in targets:
        return None, ""
    from novikoff.report.pictures import draw_study  # these load matplotlib
    from novikoff.report.plots import render_figure

    try:
        plane = names(asked.plane) or None
        figure = draw_study(result, data.X, data.names, asked.plot_kind, plane=plane)
    except ValueError as error:
        return None, str(error)
    return render_figure(figure, targets["plot"].suffix), ""


def _save(
    report: Report,
    data: str,
    asked: FitOptions,
    targets: Mapping[str, Path],
    page: str,
    picture: bytes | None,
) -> None:
    """Write the model, the certificate, the rows, the picture and the page.

    If this fit has no certificate or no picture, the one of an earlier fit is removed, since it
    does not belong to the new model.
    """
    from novikoff.report.study_files import file_contents  # loads Numba, which --help does without

    if not targets:
        return
    folder = targets["model"].parent
    by_name = {**file_contents(report, folder), "plot": picture, "report": page.encode()}
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    contents = {path: by_name.get(name) for name, path in targets.items()}
    replaceable = _replaceable(data, asked, targets)
    write_files(contents, force=asked.force, replaceable=replaceable)


def _print_report(report: Report, page: str, asked: FitOptions, saved: Path | None) -> None:
    if asked.format_ == "json":
        print_text(report.to_json())
    elif page and saved is None:
        print_text(page)
    else:
        page_line = [] if saved is None else [("report", str(saved))]
        print_lines([*report_lines(report, verbose=asked.verbose), *page_line])
