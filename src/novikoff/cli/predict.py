"""``novikoff predict``: labels or scores for the rows of a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import click

from novikoff.cli.exits import Interrupted
from novikoff.cli.options import flag
from novikoff.cli.progress import print_text, showing_progress

if TYPE_CHECKING:
    from novikoff.jobs.predictions import Predictions
    from novikoff.jobs.study_records import StudyProgress

_CHARACTERS_AT_ONCE: Final = 1 << 20


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option("--scores", is_flag=True, help="Also print the score of each class. For two classes "
              "there is one score, whose sign decides.")  # fmt: skip
@click.option("--differing", is_flag=True, help="Print only rows whose label differs from the "
              "prediction, with their label.")  # fmt: skip
@click.option("--missing", type=click.Choice(["drop"]), help="Drop rows with missing values. "
              "[default: they are an error]")  # fmt: skip
@click.option("--out", "-o", type=click.Path(), default="-", metavar="FILE",
              help="Write the CSV to this file. [default: standard output]")  # fmt: skip
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

    Columns are matched by name, in any order. A row with a score of 0 gets the negative class. If
    DATA has the label column, the number of wrong predictions is printed on standard error.

    DATA is read in pieces and may be larger than memory. Predictions for a pipe are printed as its
    rows arrive, predictions for a file after the last row was read.

    \b
    Examples:
      novikoff predict flowers.novikoff new-flowers.csv --out predictions.csv
      novikoff predict flowers.novikoff flowers.csv --differing
    """  # noqa: D301 — \b tells click not to wrap the line that follows
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
            f"{model} does not say how its data was read, since it was saved from Python without "
            "preprocessing. Load it in Python with novikoff.load()."
        )
    reader = read_pieces(
        data,
        ReadOptions(missing="error" if missing is None else "drop", spelling=flag),
        recipe=Recipe.from_json(record.preprocessing),
        classes=record.model.classes.tolist(),
    )
    predictions = Predictions(record, reader, scores, differing)
    if out != "-":
        with showing_progress() as show, AtomicFile(out, force=force) as file:
            _write_pieces(predictions, lambda text: file.write(text.encode()), show)
            file.commit()
    elif data != "-" and Path(data).is_file():
        _print_whole(predictions)
    elif not _print_as_they_come(predictions):
        return
    for note in predictions.notes():
        click.echo(f"novikoff: {note}", err=True)


def _write_pieces(
    predictions: Predictions, put: Callable[[str], object], show: StudyProgress
) -> bool:
    """Hand each piece of text to ``put``; return False if ``put`` returns False, and stop."""
    with closing(predictions.pieces()) as pieces:
        for text in pieces:
            if text and put(text) is False:
                return False
            show(f"{predictions.reader.source}: {predictions.rows:,} rows predicted")
    return True


def _print_whole(predictions: Predictions) -> None:
    """Print after the last row was read, so that a bad row does not leave half a table."""
    with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as held:
        with showing_progress() as show:
            _write_pieces(predictions, held.write, show)
        held.seek(0)
        while (text := held.read(_CHARACTERS_AT_ONCE)) and print_text(text):
            pass


def _print_as_they_come(predictions: Predictions) -> bool:
    """Print lines as rows arrive; return False if the reader has closed the pipe (head -1)."""
    try:
        with showing_progress(silent=sys.stdout.isatty()) as show:
            return _write_pieces(predictions, print_text, show)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the table that was printed is not complete.") from None
