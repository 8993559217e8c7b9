"""``novikoff lab``: the convergence proof as an interactive page."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from novikoff.cli.options import flag, positive_label, reject
from novikoff.errors import MissingExtraError


@dataclass(frozen=True, kw_only=True)
class LabOptions:
    """The options of ``novikoff lab``."""

    data: str | None
    across: str | None
    up: str | None
    label: str | None
    positive: str | None
    port: int
    no_open: bool
    target: str | None
    force: bool

    def __post_init__(self) -> None:
        options_of_data = self.across or self.up or self.label or self.positive
        reject(
            (self.data is None and options_of_data, "--x, --y, --label and --positive need DATA."),
            ((self.across is None) != (self.up is None), "--x and --y must be given together."),
        )

    @property
    def features(self) -> tuple[str, ...]:
        """The features to draw, if they are given."""
        return () if self.across is None or self.up is None else (self.across, self.up)


@click.command("lab")
@click.argument("data", type=click.Path(), required=False)
@click.option("--x", "across", metavar="NAME", help="The feature on the horizontal axis. "
              "[default: the first feature]")  # fmt: skip
@click.option("--y", "up", metavar="NAME", help="The feature on the vertical axis. "
              "[default: the second feature]")  # fmt: skip
@click.option("--label", metavar="NAME", help="The label column. [default: as in fit]")
@click.option("--positive", metavar="VALUE", help="The class to draw as +. If there are more than "
              "two classes, all others are drawn as −.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="The port of the server. [default: a free port]")  # fmt: skip
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--export", "target", type=click.Path(dir_okay=False), metavar="FILE.html",
              help="Write an offline page with the recorded run; start no server.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE.html if it exists.")
def command(data: str | None, **values: Any) -> None:
    """Open a page that shows the run of the perceptron and its convergence proof step by step.

    Points can be added, dragged, relabelled and deleted, and the library answers every change.
    DATA may have at most 300 rows; two of its features are drawn. Ctrl-C stops the server.

    \b
    Examples:
      novikoff lab
      novikoff lab flowers.csv --x length --y width --positive setosa
      novikoff lab flowers.csv --export lesson.html
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    asked = LabOptions(data=data, **values)
    points = None if data is None else _points(data, asked)
    if asked.target is not None:
        _export(asked.target, points, asked.force)
        return
    try:
        from novikoff.page.server import serve
    except ModuleNotFoundError as missing:
        raise MissingExtraError("The lab", str(missing.name), "lab") from None

    def opened(address: str) -> None:
        click.echo(f"novikoff lab: {address}  (Ctrl-C stops it)")
        if not asked.no_open:
            click.launch(address)

    serve(asked.port, points, opened)


def _export(target: str, points: dict[str, Any] | None, force: bool) -> None:
    from novikoff.formats.files import write_file
    from novikoff.page.export import offline_page

    question = None if points is None else points["question"]
    write_file(target, offline_page(question).encode("utf-8"), force=force)
    click.echo(f"{target}: written; any browser shows it, without a network")


def _points(data: str, asked: LabOptions) -> dict[str, Any]:
    """Turn two features of a file into a question of the page."""
    from novikoff.core.class_labels import distinct_labels
    from novikoff.data import ReadOptions, read
    from novikoff.page.question import MAX_NAME, MAX_POINTS, Question, plus_of, points_of

    features = asked.features
    columns = dict(zip(features, ("x", "y"), strict=False))
    options = ReadOptions(
        label=asked.label, features=features, spelling=flag, column_aliases=columns
    )
    dataset = read(data, options)
    kinds = distinct_labels(dataset.labels)
    reject(
        (len(dataset.names) < 2, f"{data} has one feature, but the page draws two."),
        (
            dataset.n_rows > MAX_POINTS,
            f"{data} has {dataset.n_rows:,} rows, but the page takes at most {MAX_POINTS}: take "
            f"fewer, or draw all with novikoff fit {shlex.quote(data)} --plot all.svg.",
        ),
        (
            len(kinds) > 2 and asked.positive is None,
            f"{data} has {len(kinds)} classes, but the page takes two. "
            f"--positive {shlex.quote(str(kinds[0]))} draws this class against all others; "
            f"the classes are {', '.join(map(str, kinds[:10]))}.",
        ),
    )
    names = features or tuple(dataset.names[:2])
    plus = plus_of(kinds) if asked.positive is None else positive_label(kinds, asked.positive, data)
    if len(dataset.names) > 2:  # a user who compares the page with `fit` must know this
        click.echo(
            f"novikoff: the page shows {names[0]} and {names[1]}, two of {len(dataset.names):,} "
            "features, and its answers are about these two alone; --x and --y choose others.",
            err=True,
        )
    X = dataset.X[:, [list(dataset.names).index(name) for name in names]]
    question = {
        "points": points_of(X, dataset.labels, plus),
        "names": [name[:MAX_NAME] for name in names],
    }
    Question.from_json(question)
    return {
        "title": f"{Path(data).name}: {names[0]} across, {names[1]} upwards; + is {plus}",
        "question": question,
    }
