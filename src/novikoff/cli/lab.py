"""``novikoff lab``: the convergence proof as a page, with the library behind every drag."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from novikoff.cli.options import check


@click.command("lab")
@click.argument("data", type=click.Path(), required=False)
@click.option("--x", "across", metavar="NAME", help="The column of DATA to draw across. "
              "Default: the first feature.")  # fmt: skip
@click.option("--y", "up", metavar="NAME", help="The column to draw upwards. Default: the second.")
@click.option("--label", metavar="NAME", help="The column of the two labels. Default: as in fit.")
@click.option("--positive", metavar="VALUE", help="The class to draw as +; against all others, if "
              "there are more than two.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="The port to serve on. Default: a free one.")  # fmt: skip
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--export", "target", type=click.Path(dir_okay=False), metavar="FILE.html",
              help="Write one offline page with the recorded run, and serve nothing.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE.html if it exists.")
def command(data: str | None, **values: Any) -> None:
    """Open a page on which the perceptron runs, and its proof with it.

    Points can be added, dragged, flipped and deleted; every change is answered by the library.
    DATA has at most 300 rows; two of its columns are drawn. Ctrl-C ends it.
    """
    asked = SimpleNamespace(**values)
    given = asked.across or asked.up or asked.label or asked.positive
    check((data is None and given is not None, "--x, --y, --label and --positive need DATA."))
    own = None if data is None else _points(data, asked)
    if asked.target is not None:
        _write(asked.target, own, asked.force)
        return
    try:
        from novikoff.page.server import serve
    except ModuleNotFoundError as missing:
        raise click.UsageError(
            f"The lab needs {missing.name}: pip install 'novikoff[lab]'."
        ) from None

    def opened(address: str) -> None:
        click.echo(f"novikoff lab: {address}  (Ctrl-C ends it)")
        if not asked.no_open:
            click.launch(address)

    serve(asked.port, own, opened)


def _write(target: str, own: dict[str, Any] | None, force: bool) -> None:
    from novikoff.formats.files import write_file
    from novikoff.page.export import offline_page
    from novikoff.page.presets import presets

    question = presets()["two_clouds"]["question"] if own is None else own["question"]
    write_file(target, offline_page(question).encode("utf-8"), force=force)
    click.echo(f"{target}: written; open it in any browser, no network is needed")


def _points(data: str, asked: SimpleNamespace) -> dict[str, Any]:
    """Two columns of a file as a question of the page."""
    from novikoff.cli.fit import positive_label
    from novikoff.core.class_labels import distinct_labels
    from novikoff.data import ReadOptions, read
    from novikoff.errors import DataError
    from novikoff.page.question import MAX_NAME, MAX_POINTS, Question, plus_of, points_of

    features = tuple(name for name in (asked.across, asked.up) if name is not None)
    check((len(features) == 1, "--x and --y: give both, or neither."))
    try:
        found = read(data, ReadOptions(label=asked.label, features=features))
    except DataError as error:
        raise DataError(str(error).replace("--features", "--x, --y")) from None
    kinds = distinct_labels(found.labels)
    check(
        (len(found.names) < 2, f"{data} has one feature; the page draws two."),
        (
            found.n_rows > MAX_POINTS,
            f"{data} has {found.n_rows:,} rows; the page takes at most {MAX_POINTS}: give it "
            f"fewer, or draw all with novikoff fit {shlex.quote(data)} --plot all.svg.",
        ),
        (
            len(kinds) > 2 and asked.positive is None,
            f"{data} has {len(kinds)} classes; the page takes two. "
            f"--positive {shlex.quote(str(kinds[0]))} draws this class against all others; "
            f"there are {', '.join(map(str, kinds[:10]))}.",
        ),
    )
    names = features or tuple(found.names[:2])
    plus = plus_of(kinds) if asked.positive is None else positive_label(kinds, asked.positive, data)
    if len(found.names) > 2:  # a user who compares the page with `fit` must know this
        click.echo(
            f"novikoff: the page shows {names[0]} and {names[1]}, two of {len(found.names):,} "
            "features, and answers for these two alone; --x and --y choose others.",
            err=True,
        )
    X = found.X[:, [list(found.names).index(name) for name in names]]
    question = {
        "points": points_of(X, found.labels, plus),
        "names": [name[:MAX_NAME] for name in names],
    }
    Question.from_json(question)
    return {
        "title": f"{Path(data).name}: {names[0]} across, {names[1]} upwards; + is {plus}",
        "question": question,
    }
