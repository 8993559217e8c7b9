"""``novikoff predict``: labels or scores for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.progress import shown
from novikoff.cli.screen import print_text
from novikoff.cli.startup import importing

if TYPE_CHECKING:
    from novikoff.data import Recipe
    from novikoff.report.model_file import Saved


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
    """  # fmt: skip
    from novikoff.report.files import check_writable, write_file

    if out != "-":
        check_writable(Path(out), force=force)
    with shown() as show:
        with importing("novikoff.report.predictions"):
            from novikoff.data import Choices, read
            from novikoff.report import model_file
            from novikoff.report.predictions import as_csv, count_differing, predict_quietly

            saved = model_file.read(model)
            recipe = _recipe(model, saved)
            show(f"reading {data}", None)
            choices = Choices(missing="drop" if missing else "refuse")
            dataset = read(data, choices, recipe=recipe, labelled=False)
        show("predicting", None)
        labels, found = predict_quietly(saved.model, dataset.X, scores=scores)
        rows = dataset.rows.tolist() if dataset.ids is None else dataset.ids
        text = as_csv(saved.model, labels, found, rows, "row" if dataset.ids is None else "id")
    if out == "-":
        print_text(text)
    else:
        write_file(out, text.encode(), force=force)
    if dataset.y is not None:
        rest = (saved.data or {}).get("rest")
        wrong = count_differing(saved.model, labels, dataset.y, rest)
        click.echo(f"novikoff: {wrong:,} of {len(labels):,} labels differ.", err=True)
    for note in dataset.notes:
        click.echo(f"novikoff: {note}", err=True)


def _recipe(model: str, saved: Saved) -> Recipe:
    """How the model's data was read."""
    from novikoff.data import Recipe

    if saved.preprocessing is not None:
        return Recipe.from_json(saved.preprocessing)
    if "stream" in (saved.data or {}):
        raise ValueError(
            f"{model} was learned from a stream whose features have names, or were hashed: "
            "predict reads tables of numbers and svmlight; in Python novikoff.load() gives the "
            "model, and its predict_one() takes kept names as a dict."
        )
    raise ValueError(
        f"{model} does not say how its data was read: it was saved from Python without "
        "preprocessing, so load it there with novikoff.load()."
    )
