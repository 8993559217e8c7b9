"""``novikoff predict``: labels or scores for the rows of a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import click

from novikoff.cli.main import Interrupted
from novikoff.cli.progress import print_text, shown

if TYPE_CHECKING:
    from novikoff.cli.progress import Show
    from novikoff.jobs.predictions import Predictions

_CHARACTERS_AT_ONCE: Final = 1 << 20


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--scores", is_flag=True, help="Also the score of each class; for two, its sign decides."
)
@click.option("--differing", is_flag=True, help="Only the rows whose label differs from the "
              "prediction, and that label.")  # fmt: skip
@click.option("--missing", type=click.Choice(["drop"]), help="Leave out rows with missing values.")
@click.option("--out", "-o", type=click.Path(), default="-", metavar="FILE",
              help="Where the CSV goes. Default: standard output.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(
    model: str,
    data: str,
    scores: bool,
    differing: bool,
    missing: str | None,
    out: str,
    force: bool,
) -> None:
    """Predict a label for every row of DATA (- is standard input), as CSV.

    The columns are matched by name, whatever their order. A row whose score is 0 gets the negative
    class. Where DATA has the label column, the errors are counted on standard error.

    DATA is read by pieces, and may be larger than memory. The predictions for a pipe are printed
    as its rows come; those for a file when all of them are there.
    """
    from novikoff.data import ReadOptions, Recipe, read_pieces
    from novikoff.formats import model_file
    from novikoff.formats.files import AtomicFile, check_apart, check_writable
    from novikoff.jobs.predictions import Predictions

    if out != "-":
        check_writable(Path(out), force=force)
        check_apart([Path(out)], [model, data])
    record = model_file.read_record(model)
    if record.preprocessing is None:
        raise ValueError(
            f"{model} does not say how its data was read: it was saved from Python without "
            "preprocessing, so load it there with novikoff.load()."
        )
    reader = read_pieces(
        data,
        ReadOptions(missing="refuse" if missing is None else "drop"),
        recipe=Recipe.from_json(record.preprocessing),
        classes=record.model.classes.tolist(),
    )
    found = Predictions(record, reader, scores, differing)
    if out != "-":
        with shown() as show, AtomicFile(out, force=force) as file:
            _each(found, lambda text: file.write(text.encode()), show)
            file.commit()
    elif data != "-" and Path(data).is_file():
        _print_whole(found)
    elif not _print_as_they_come(found):
        return
    for note in found.notes():
        click.echo(f"novikoff: {note}", err=True)


def _each(found: Predictions, put: Callable[[str], object], show: Show) -> bool:
    """Hand on the lines as they come; False if ``put`` said so, as it takes no more."""
    with closing(found.pieces()) as pieces:
        for text in pieces:
            if text and put(text) is False:
                return False
            show(f"{found.reader.source}: {found.rows:,} rows predicted", None)
    return True


def _print_whole(found: Predictions) -> None:
    """Print when all lines are there: a bad row at the end leaves no half a table."""
    with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as held:
        with shown() as show:
            _each(found, held.write, show)
        held.seek(0)
        while (text := held.read(_CHARACTERS_AT_ONCE)) and print_text(text):
            pass


def _print_as_they_come(found: Predictions) -> bool:
    """Print lines at once; False if nobody reads them any more (head -1)."""
    try:
        with shown(silent=sys.stdout.isatty()) as show:
            return _each(found, print_text, show)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was printed is not the whole table.") from None
