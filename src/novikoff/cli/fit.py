"""``novikoff fit``: a file in; a verdict, a model and a proof out."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from novikoff.cli.main import UNDECIDED, UNMET, Interrupted
from novikoff.cli.options import adding, fields, memory, read_data, read_options, reading
from novikoff.cli.progress import Show, print_lines, print_text, saying_that_it_compiles, shown

if TYPE_CHECKING:
    from novikoff.data import Dataset
    from novikoff.report.estimate import Estimate
    from novikoff.report.pictures import Picture, Scene
    from novikoff.report.study import Options, Study
    from novikoff.report.summary import Report

_KINDS = ["separable", "quasi-separable", "inseparable"]
_ORDERS = ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
_PLOTS = ["boundary", "margins", "mistakes", "proof"]
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".npy", ".npz",
            ".svm", ".svmlight", ".libsvm", ".data", ".dat")  # fmt: skip


_OPTIONS = adding([
    click.option("--positive", metavar="VALUE", help="The positive class; against all others, if "
                 "there are more than two."),
    click.option("--no-intercept", is_flag=True, help="Rules through the origin only."),
    click.option("--scale", type=click.Choice(["standard", "none"]), default="standard",
                 show_default=True, help="Whether the perceptron runs on features of mean 0 and "
                 "variance 1, or as they are. Its rule is mapped back and proved for the features "
                 "as given."),
    click.option("--order", type=click.Choice(_ORDERS), default="permuted", show_default=True,
                 help="In which order the perceptron looks at the rows."),
    click.option("--epochs", type=click.IntRange(1), help="Passes of the perceptron, at most. "
                 "Default: 10,000, fewer for large data."),
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
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(data: str, **values: object) -> None:
    """Decide whether a linear rule exists, with proof, and learn one.

    DATA is CSV, TSV, Parquet, Arrow, npy, npz or svmlight, text also gzipped, or a directory of
    Parquet files; - is standard input. Writes NAME.novikoff (the model) and NAME.cert.json (the
    proof), and prints a report. Where f(x) = 0, the model says the negative class, and mistakes
    are counted so.

    \b
    novikoff fit flowers.csv --label species
    novikoff fit big.parquet --require separable --format json > report.json
    novikoff fit larger-than-memory.csv --max-memory 2GB --cache /tmp/arrays
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    request = Request.of(data, values)
    request.targets.check(request.force)
    began = time.perf_counter()
    with shown() as show:
        dataset = read_data(data, read_options(values), values, show)
        found, estimate = _find(request, dataset, show)
        show("writing", None)
        report = _sum_up(request, dataset, found, estimate, time.perf_counter() - began)
        contents = _contents(request, dataset, found)
        page = _page(report, dataset, found) if request.form == "html" else None
        if page is not None and request.targets.page is not None:
            contents[request.targets.page] = page.encode()
        _save(contents, request)
    try:
        _print(report, page, request)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the model and the certificate are written.") from None
    sys.exit(_code(report, request.require))


@dataclass(frozen=True)
class Targets:
    """Where the files of a fit go; ``page`` is the report, where a terminal cannot show it."""

    model: Path
    certificate: Path
    plot: Path | None
    page: Path | None

    def check(self, force: bool) -> None:
        """Refuse files that are there or cannot be written, before any work is done."""
        from novikoff.report.files import check_folder, check_writable

        folder = self.model.parent
        for path in (self.model, self.certificate, self.page):
            if path is not None and folder.exists():
                check_writable(path, force=force)
        check_folder(folder)
        if self.plot is not None:
            check_writable(self.plot, force=force)


@dataclass(frozen=True)
class Request:
    """The options of a fit, in types."""

    data: str
    values: dict[str, object]
    targets: Targets
    form: str
    force: bool
    require: str | None

    @classmethod
    def of(cls, data: str, values: dict[str, object]) -> Request:
        """The request; options that contradict each other are refused."""
        if values["holdout"] is not None and values["cv"] is not None:
            raise click.UsageError("--holdout and --cv exclude each other.")
        if values["require"] is not None and values["no_verdict"]:
            raise click.UsageError("--require needs a verdict: it excludes --no-verdict.")
        if values["average"] and not values["no_verdict"]:
            raise click.UsageError(
                "--average may err where the verdict says that no rule has to: it needs "
                "--no-verdict."
            )
        plot = None if values["plot"] is None else Path(str(values["plot"]))
        if plot is not None and plot.suffix.lower() not in (".svg", ".png"):
            raise click.BadParameter(f"{plot} is neither .svg nor .png.", param_hint="--plot")
        if values["plane"] is not None and plot is None:
            raise click.UsageError("--plane is about a picture: it needs --plot.")
        if plot is not None and find_spec("matplotlib") is None:
            raise click.UsageError("--plot needs matplotlib: pip install matplotlib.")
        if values["plane"] is not None and len(fields(str(values["plane"]))) != 2:
            raise click.BadParameter("two features are needed.", param_hint="--plane")
        folder, stem, form = Path(str(values["out"])), _stem(data), str(values["form"])
        page = folder / f"{stem}.html" if form == "html" and sys.stdout.isatty() else None
        targets = Targets(folder / f"{stem}.novikoff", folder / f"{stem}.cert.json", plot, page)
        require = None if values["require"] is None else str(values["require"])
        return cls(data, values, targets, form, bool(values["force"]), require)

    @property
    def picture(self) -> Picture:
        """The picture that is asked for."""
        from novikoff.report.pictures import CAPTIONS, Picture

        plane = None if self.values["plane"] is None else fields(str(self.values["plane"]))
        subject = next(kind for kind in CAPTIONS if kind == self.values["plot_kind"])
        suffix = ".svg" if self.targets.plot is None else self.targets.plot.suffix.lower()
        return Picture(subject, suffix, None if plane is None else (plane[0], plane[1]))

    def options(self, data: Dataset) -> Options:
        """How the study is made."""
        from novikoff.report.study import Options

        values = self.values
        return Options(
            fit_intercept=not values["no_intercept"],
            positive=_positive(data, values["positive"]),
            order=str(values["order"]),
            epochs=cast("int | None", values["epochs"]),
            seed=cast("int", values["seed"]),
            budget=cast("float | None", values["budget"]),
            verdict=not values["no_verdict"],
            average=bool(values["average"]),
            scale=cast("Literal['standard', 'none']", values["scale"]),
        )


def _find(request: Request, data: Dataset, show: Show) -> tuple[Study, Estimate | None]:
    from novikoff.report.study import study

    options, y = request.options(data), data.labels
    folds, share = request.values["cv"], request.values["holdout"]
    if data.on_disk and (folds or share):
        raise ValueError(
            f"{data.source} is larger than memory: --{'cv' if folds else 'holdout'} needs all rows "
            "in memory."
        )
    if options.budget is not None and (folds or share):  # half of it for the estimate
        options = replace(options, budget=options.budget / 2.0)
    try:
        found = study(data.X, y, options, show, names=data.names, loading=saying_that_it_compiles)
        if folds is None and share is None:
            return found, None
        from novikoff.report.estimate import cross_validate, hold_out

        if isinstance(folds, int):
            return found, cross_validate(data.X, y, folds, options, show, data.imputed)
        return found, hold_out(data.X, y, cast("float", share), options, show, data.imputed)
    except ValueError as error:
        raise ValueError(f"{data.source}: {error}") from None


def _sum_up(
    request: Request, data: Dataset, found: Study, estimate: Estimate | None, seconds: float
) -> Report:
    from novikoff.report.summary import Files, Source, summarize

    targets = request.targets
    source = Source(
        name=data.source,
        names=data.names,
        label=data.label,
        rows=data.rows,
        ids=data.ids,
        notes=data.notes,
        sparse=data.sparse,
    )
    files = Files(
        str(targets.model),
        str(targets.certificate) if found.proofs else None,
        None if targets.plot is None else str(targets.plot),
    )
    seconds = max(0.0, seconds - found.loading)
    return summarize(found, source, estimate=estimate, files=files, seconds=seconds)


def _contents(request: Request, data: Dataset, found: Study) -> dict[Path, bytes]:
    """The model, the certificate and the picture."""
    from novikoff.report import model_file
    from novikoff.report.study import REST, record_of

    targets, recipe = request.targets, data.recipe.to_json()
    positive = found.options.positive is not None and REST in found.classes
    origin: dict[str, object] = {
        "source": data.source,
        "rows": data.n_rows,
        "features": len(data.names),
        "sha256": found.sha256,
        "rule": found.rule,
        "rest": REST if positive else None,
    }
    certificate: dict[str, object] | None = None
    text = ""
    if found.proofs:
        from novikoff.report import certificate_file

        certificate = {"proofs": certificate_file.as_json(found.proofs)}
        text = certificate_file.dump(found.proofs, origin, recipe)
    record = replace(
        record_of(found, _names(data)), preprocessing=recipe, data=origin, certificate=certificate
    )
    contents = {targets.model: model_file.dump(record)}
    if text:
        contents[targets.certificate] = text.encode()
    if targets.plot is not None:
        from novikoff.report import pictures

        contents[targets.plot] = pictures.draw(_scene(data, found), request.picture)
    return contents


def _names(data: Dataset) -> list[object] | None:
    """The names of the features, for the model: numbers say as much where there are very many."""
    from novikoff.data.recipe import NumberedNames

    return None if isinstance(data.names, NumberedNames) else list(data.names)


def _scene(data: Dataset, found: Study) -> Scene:
    from novikoff.report.pictures import Scene, hardest_rule
    from novikoff.report.study import reference_of

    model, reference = found.model, reference_of(found)
    return Scene(
        X=data.X,
        y=model.classes[found.codes],
        model=model,
        names=data.names,
        hardest=hardest_rule(model.classes.tolist(), model.multi_class, found.confusion),
        problem=found.problem if len(found.classes) == 2 else None,
        reference=None if reference is None else reference[0],
        margin=None if reference is None else reference[1],
        order=found.options.order,
        seed=found.options.seed,
    )


def _page(report: Report, data: Dataset, found: Study) -> str:
    from novikoff.report.html import page
    from novikoff.report.pictures import draw_all

    return page(report, {} if data.on_disk else draw_all(_scene(data, found)))


def _save(contents: dict[Path, bytes], request: Request) -> None:
    from novikoff.report.files import make_folder, write_files

    make_folder(request.targets.model.parent)
    write_files(contents, force=request.force)


def _print(report: Report, page: str | None, request: Request) -> None:
    from novikoff.report.text import lines

    if request.targets.page is not None:
        print_lines([*lines(report), ("report", str(request.targets.page))])
    elif page is not None:
        print_text(page)
    elif request.form == "json":
        print_text(report.to_json())
    else:
        print_lines(lines(report))


def _code(report: Report, require: str | None) -> int:
    kind = None if report.verdict is None else report.verdict.kind
    if kind == "undecided":
        return UNDECIDED
    if require in (None, kind):
        return 0
    click.echo(f"novikoff: the verdict is {kind}, not {require}.", err=True)
    return UNMET


def _stem(data: str) -> str:
    """The name of the data without its endings."""
    name = "data" if data == "-" else Path(data).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def _positive(data: Dataset, text: object) -> Hashable:
    """The label that the text stands for."""
    if text is None:
        return None
    import numpy as np

    from novikoff.core.validation import plain_label

    labels = np.unique(data.labels).tolist()
    for label in labels:
        if str(label) == text or (
            isinstance(label, bool) and str(label).lower() == str(text).lower()
        ):
            return plain_label(label)
    some = ", ".join(map(str, labels[:10])) + (", …" if len(labels) > 10 else "")
    raise click.BadParameter(
        f"no row of {data.source} has the label {text!s}; there are {some}.",
        param_hint="--positive",
    )
