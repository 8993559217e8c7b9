"""``novikoff fit``: a file in; a verdict, a model and a proof out."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from novikoff.cli.main import UNDECIDED, UNMET, Interrupted
from novikoff.cli.options import choices, open_blocks, reading, sparing
from novikoff.cli.progress import Show, shown
from novikoff.cli.request import Request
from novikoff.cli.screen import print_lines, print_text
from novikoff.cli.startup import importing

if TYPE_CHECKING:
    from novikoff.data import CachedBlocks, Dataset, FileBlocks
    from novikoff.report.estimate import Estimate
    from novikoff.report.study import Study
    from novikoff.report.summary import Report

Data: TypeAlias = "Dataset | FileBlocks | CachedBlocks"

_KINDS = ["separable", "quasi-separable", "inseparable"]
_ORDERS = ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
_NEEDED = ("novikoff.report.study", "novikoff.report.model_file", "novikoff.report.summary")
_NEEDED_TO_PROVE = ("novikoff.report.proving", "novikoff.report.proof_file")
_PLOTS = ["boundary", "margins", "mistakes", "proof"]


@click.command("fit")
@click.argument("data", type=click.Path())
@reading
@click.option(
    "--positive",
    metavar="VALUE",
    help="The positive class; against all others, if there are more than two.",
)
@click.option("--no-intercept", is_flag=True, help="Rules through the origin only.")
@click.option(
    "--order",
    type=click.Choice(_ORDERS),
    default="permuted",
    show_default=True,
    help="In which order the perceptron looks at the rows.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1),
    help="Passes of the perceptron, at most. Default: 1000, fewer for very large data.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Where randomness comes from.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Time for deciding and learning; what is not proved by then is undecided.",
)
@click.option(
    "--no-verdict", is_flag=True, help="Only run the perceptron: no proof, no certificate."
)
@click.option(
    "--average",
    is_flag=True,
    help="With --no-verdict: the model predicts with the average of all weights, which is often "
    "better on unseen rows where no rule is perfect.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Estimate the error on unseen examples from a share held out.",
)
@click.option(
    "--cv", type=click.IntRange(2), metavar="K", help="The same, by K-fold cross-validation."
)
@click.option("--require", type=click.Choice(_KINDS), help="Exit with 1 if the verdict is another.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="Of the report on standard output.",
)
@click.option("--plot", type=click.Path(), metavar="FILE", help="Draw a picture: .svg or .png.")
@click.option(
    "--plot-kind",
    type=click.Choice(_PLOTS),
    default="boundary",
    show_default=True,
    help="What the picture shows.",
)
@click.option("--plane", metavar="A,B", help="The two features whose plane is drawn.")
@click.option(
    "--out",
    type=click.Path(),
    default=".",
    metavar="DIR",
    help="Where the model and the certificate go. Default: here.",
)
@sparing
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(data: str, **values: object) -> None:
    """Decide whether a linear rule exists, with proof, and learn one.

    DATA is CSV, TSV, Parquet, Arrow, npy, npz or svmlight, text also gzipped, a directory of
    Parquet files, or a block cache; - is standard input. Writes NAME.novikoff (the model) and
    NAME.cert.json (the proof), and prints a report.

    \b
    novikoff fit flowers.csv --label species
    novikoff fit big.parquet --require separable --format json > report.json
    novikoff fit larger-than-memory.csv --max-memory 2GB --cache /tmp/blocks
    """  # noqa: D301 — click takes the backspace for a sign not to wrap what follows
    request = Request.of(data, values)
    request.targets.check(request.force)
    began = time.perf_counter()
    with shown() as show:
        rows = _begin(request, show)
        found, estimate = _find(request, rows, show)
        show("writing", None)
        contents = _contents(request, rows, found)
        report = _sum_up(request, rows, found, estimate, began)
        page = _page(report, rows, found) if request.form == "html" else None
        if page is not None and request.targets.page is not None:
            contents[request.targets.page] = page.encode()
        _save(contents, request)
    try:
        _print(report, page, request)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the model and the certificate are written.") from None
    sys.exit(_code(report, request.require))


def _begin(request: Request, show: Show) -> Data:
    """Import what is needed and read the data, at the same time if that is worth it."""
    needed = _NEEDED if request.values["no_verdict"] else (*_NEEDED, *_NEEDED_TO_PROVE)
    if request.in_blocks:  # a cache may be written, which must come to its end
        with importing(*needed):
            pass
        return _read(request, show)
    if request.is_large:
        with importing():
            _wake_kernels()
    with importing(*needed, beside=request.is_large):
        return _read(request, show)


def _wake_kernels() -> None:
    """Call a kernel: before its first, Numba takes long, and much longer beside other imports."""
    from novikoff.data.stretches import as_bytes, count_lines

    count_lines(as_bytes(memoryview(b"\n")), 1)


def _read(request: Request, show: Show) -> Data:
    from novikoff.data import read

    show(f"reading {request.data}", None)
    asked = choices(request.values)
    if request.in_blocks:
        return open_blocks(request.data, asked, request.values, show)
    return read(request.data, asked)


def _find(request: Request, data: Data, show: Show) -> tuple[Study, Estimate | None]:
    from novikoff.data import DataError, Dataset

    if isinstance(data, Dataset):
        return _find_in_memory(request, data, show)
    from novikoff.report.block_study import study_blocks

    try:
        return study_blocks(data, request.options(data), show, _names(data)), None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise ValueError(f"{data.source}: {error}") from None


def _find_in_memory(
    request: Request, dataset: Dataset, show: Show
) -> tuple[Study, Estimate | None]:
    from novikoff.report.study import study

    options, y = request.options(dataset), dataset.labels
    folds, share = request.values["cv"], request.values["holdout"]
    if options.budget is not None and (folds or share):  # half of it for the estimate
        options = replace(options, budget=options.budget / 2.0)
    try:
        found = study(dataset.X, y, options, show, _names(dataset))
        if folds is None and share is None:
            return found, None
        from novikoff.report.estimate import cross_validate, hold_out

        if isinstance(folds, int):
            return found, cross_validate(dataset.X, y, folds, options, show, dataset.imputed)
        if isinstance(share, float):
            return found, hold_out(dataset.X, y, share, options, show, dataset.imputed)
    except ValueError as error:
        raise ValueError(f"{dataset.source}: {error}") from None
    return found, None


def _names(data: Data) -> Sequence[str] | None:
    """The names of the features, for the model: numbers say as much where there are very many."""
    from novikoff.data.recipe import NumberedNames

    return None if isinstance(data.names, NumberedNames) else data.names


def _sum_up(
    request: Request, data: Data, found: Study, estimate: Estimate | None, began: float
) -> Report:
    from novikoff.data import Dataset
    from novikoff.report.summary import Files, Source, summarize

    targets = request.targets
    in_memory = isinstance(data, Dataset)
    source = Source(
        name=data.source,
        names=data.names,
        label=data.label,
        rows=data.rows,
        ids=data.ids if isinstance(data, Dataset) else None,
        notes=data.notes if in_memory else [*data.notes, "read in blocks"],
        sparse=data.sparse,
    )
    files = Files(
        str(targets.model),
        str(targets.certificate) if found.proofs else None,
        None if targets.plot is None else str(targets.plot),
    )
    seconds = time.perf_counter() - began
    return summarize(found, source, estimate=estimate, files=files, seconds=seconds)


def _contents(request: Request, data: Data, found: Study) -> dict[Path, bytes]:
    """The model, the certificate and the picture."""
    from novikoff.data import Dataset
    from novikoff.report import model_file
    from novikoff.report.steps import REST

    targets, recipe = request.targets, data.recipe.to_json()
    labels = data.labels if isinstance(data, Dataset) else data.classes
    origin: dict[str, object] = {
        "source": data.source,
        "rows": data.n_rows,
        "features": len(data.names),
        "sha256": found.sha256,
        "rule": found.rule,
        "rest": REST if REST in found.classes and REST not in labels else None,
    }
    certificate, proofs = None, ""
    if found.proofs:
        from novikoff.report import proof_file

        certificate = {"proofs": proof_file.plain(found.proofs)}
        proofs = proof_file.dump(found.proofs, origin, recipe)
    model = model_file.dump(found.model, preprocessing=recipe, data=origin, certificate=certificate)
    contents = {targets.model: model}
    if found.proofs:
        contents[targets.certificate] = proofs.encode()
    if targets.plot is not None and isinstance(data, Dataset):
        from novikoff.report import pictures

        contents[targets.plot] = pictures.draw(found, data.X, request.picture)
    return contents


def _save(contents: dict[Path, bytes], request: Request) -> None:
    from novikoff.report.files import make_folder, write_files

    make_folder(request.targets.model.parent)
    write_files(contents, force=request.force)


def _page(report: Report, data: Data, found: Study) -> str:
    from novikoff.data import Dataset
    from novikoff.report.html import page
    from novikoff.report.pictures import draw_all

    return page(report, draw_all(found, data.X) if isinstance(data, Dataset) else {})


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
    if report.verdict is not None and report.verdict.kind == "undecided":
        return UNDECIDED
    kind = None if report.verdict is None else report.verdict.kind
    if require in (None, kind):
        return 0
    click.echo(f"novikoff: the verdict is {kind}, not {require}.", err=True)
    return UNMET
