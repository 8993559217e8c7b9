"""``novikoff predict``: labels or scores for the rows of a file."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import click

from novikoff.cli.main import Interrupted
from novikoff.cli.progress import Show, shown
from novikoff.cli.screen import print_text
from novikoff.cli.startup import importing

if TYPE_CHECKING:
    from novikoff.data import Recipe
    from novikoff.report.fresh_predictions import FreshPredictions
    from novikoff.report.model_file import Saved
    from novikoff.report.plain_predictions import PlainPredictions

_AT_ONCE: Final = 1 << 20  # characters that are printed


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--scores", is_flag=True, help="Also the score of each class; for two, its sign decides."
)
@click.option("--missing", type=click.Choice(["drop"]), help="Leave out rows with missing values.")
@click.option(
    "--out",
    "-o",
    type=click.Path(),
    default="-",
    metavar="FILE",
    help="Where the CSV goes. Default: standard output.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(
    model: str, data: str, scores: bool, missing: str | None, out: str, force: bool
) -> None:
    """Predict a label for every row of DATA (- is standard input), as CSV.

    The columns are matched by name, whatever their order. Where DATA has the label column, the
    errors are counted on standard error.

    If stream learned the model from features that have names, or from text, DATA is read and
    predicted row by row as it comes, and may be larger than memory; features that the model does
    not know are left out. So may be a CSV file of plain numbers, or svmlight, for any model.
    """  # fmt: skip
    from novikoff.report.files import check_writable

    if out != "-":
        check_writable(Path(out), force=force)
    with importing("novikoff.report.fresh_predictions"):
        from novikoff.report import model_file
        from novikoff.report.fresh_predictions import open_predictions

        saved = model_file.read(model)
    drop = missing is not None
    fresh = open_predictions(saved, data, scores=scores, drop=drop)
    if fresh is None:
        notes = _by_recipe(saved, _recipe(model, saved), data, scores, drop, out, force)
    else:
        notes = _as_they_come(fresh, data, out, force)
    for note in notes:
        click.echo(f"novikoff: {note}", err=True)


def _by_recipe(
    saved: Saved, recipe: Recipe, data: str, scores: bool, drop: bool, out: str, force: bool
) -> list[str]:
    """Predict a large file of plain numbers part by part, and any other as a whole."""
    from novikoff.data.chunks.plain_parts import NotPlainError
    from novikoff.report.plain_predictions import open_plain

    plain = open_plain(saved, recipe, data, scores=scores, drop=drop)
    if plain is not None:
        with suppress(NotPlainError):
            return _part_by_part(plain, data, out, force)
    return _at_once(saved, recipe, data, scores, drop, out, force)


def _part_by_part(plain: PlainPredictions, data: str, out: str, force: bool) -> list[str]:
    """Write lines while more are read; nothing is printed before all of them are there."""
    if out != "-":
        return _written(plain, data, out, force)
    with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as held:
        with shown() as show, closing(plain.pieces()) as pieces:
            for text in pieces:
                show(f"{data}: {plain.rows:,} rows predicted", None)
                held.write(text)
        held.seek(0)
        while (text := held.read(_AT_ONCE)) and _print(text):
            pass
    return plain.notes()


def _at_once(
    saved: Saved, recipe: Recipe, data: str, scores: bool, drop: bool, out: str, force: bool
) -> list[str]:
    """Read all rows, predict them, and write the table as a whole."""
    from novikoff.data import Choices, read
    from novikoff.report.files import write_file
    from novikoff.report.predictions import as_csv, count_differing, predict_quietly

    with shown() as show:
        show(f"reading {data}", None)
        choices = Choices(missing="drop" if drop else "refuse")
        with importing():
            dataset = read(data, choices, recipe=recipe, labelled=False)
        show("predicting", None)
        labels, found = predict_quietly(saved.model, dataset.X, scores=scores)
        rows = dataset.rows.tolist() if dataset.ids is None else dataset.ids
        text = as_csv(saved.model, labels, found, rows, "row" if dataset.ids is None else "id")
    if out == "-":
        print_text(text)
    else:
        write_file(out, text.encode(), force=force)
    if dataset.y is None:
        return dataset.notes
    wrong = count_differing(saved.model, labels, dataset.y, (saved.data or {}).get("rest"))
    return [f"{wrong:,} of {len(labels):,} labels differ.", *dataset.notes]


def _as_they_come(fresh: FreshPredictions, data: str, out: str, force: bool) -> list[str]:
    """Predict rows and write their lines while more are read."""
    return _printed(fresh, data) if out == "-" else _written(fresh, data, out, force)


def _written(
    found: FreshPredictions | PlainPredictions, data: str, out: str, force: bool
) -> list[str]:
    """Write lines as they come into a file that gets its name when it is whole."""
    from novikoff.core.drafts import Draft

    with Draft(out, force=force) as draft, shown() as show, closing(found.pieces()) as pieces:
        for text in pieces:
            show(f"{data}: {found.rows:,} rows predicted", None)
            with draft.saying():
                draft.file.write(text.encode())
        draft.seal()
    return found.notes()


def _printed(fresh: FreshPredictions, data: str) -> list[str]:
    """Print as it comes; a reader who has had enough (head -1) ends it, and nothing is noted."""
    try:
        with _beside_the_table() as show, closing(fresh.pieces()) as pieces:
            for text in pieces:
                if not _print(text):
                    return []
                show(f"{data}: {fresh.rows:,} rows predicted", None)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was printed is not the whole table.") from None
    return fresh.notes()


def _beside_the_table() -> AbstractContextManager[Show]:
    """Progress, unless the table itself comes up on the terminal."""
    return nullcontext(lambda step, interval: None) if sys.stdout.isatty() else shown()


def _print(text: str) -> bool:
    """Print at once; False if nobody reads it any more."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        print_text("")  # says what is wrong, unless it is only that
        return False
    return True


def _recipe(model: str, saved: Saved) -> Recipe:
    """How the model's data was read."""
    from novikoff.data import Recipe

    if saved.preprocessing is not None:
        return Recipe.from_json(saved.preprocessing)
    raise ValueError(
        f"{model} does not say how its data was read: it was saved from Python without "
        "preprocessing, so load it there with novikoff.load()."
    )
