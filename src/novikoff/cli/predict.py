"""``novikoff predict``: labels or scores for the rows of a file."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.progress import shown
from novikoff.cli.screen import print_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from novikoff.data import Dataset
    from novikoff.data.choices import Labels
    from novikoff.learners.linear import LinearLearner


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
    from novikoff.data import Choices, Recipe, read
    from novikoff.report import model_file
    from novikoff.report.files import check_writable, write_file

    if out != "-":
        check_writable(Path(out), force=force)
    saved = model_file.read(model)
    if saved.preprocessing is None:
        raise ValueError(
            f"{model} does not say how its data was read: it was saved from Python without "
            "preprocessing, so load it there with novikoff.load()."
        )
    with shown() as show:
        show(f"reading {data}", None)
        choices = Choices(missing="drop" if missing else "refuse")
        recipe = Recipe.from_json(saved.preprocessing)
        dataset = read(data, choices, recipe=recipe, labelled=False)
        show("predicting", None)
        text = _table(saved.model, dataset, scores, (saved.data or {}).get("rest"))
    if out == "-":
        print_text(text)
    else:
        write_file(out, text.encode(), force=force)
    for note in dataset.notes:
        click.echo(f"novikoff: {note}", err=True)


def _table(model: LinearLearner, dataset: Dataset, scores: bool, rest: object) -> str:
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns are matched already
        labels = model.predict(dataset.X)
        found = model.decision_function(dataset.X) if scores else np.empty((len(labels), 0))
    classes = model.classes_.tolist()
    heads = [f"score_{name}" for name in (classes[1:] if found.ndim == 1 else classes)]
    found = found.reshape(len(labels), -1)
    names = dataset.rows.tolist() if dataset.ids is None else dataset.ids
    first = "row" if dataset.ids is None else "id"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([first, "prediction", *(heads if scores else [])])
    for name, label, row in zip(names, labels.tolist(), found.tolist(), strict=True):
        writer.writerow([name, label, *map(repr, row)])
    if dataset.y is not None:
        wrong = int((labels.astype(str) != _known(model, dataset.y, rest)).sum())
        click.echo(f"novikoff: {wrong:,} of {len(labels):,} labels differ.", err=True)
    return out.getvalue()


def _known(model: LinearLearner, y: Labels, rest: object) -> npt.NDArray[np.str_]:
    """The labels as the model writes them; all that it does not know as its rest, if it has one."""
    import numpy as np

    classes = model.classes_
    if classes.dtype.kind in "if" and y.dtype.kind in "if":
        same = {float(label): str(label) for label in classes.tolist()}
        labels = np.array([same.get(float(label), str(label)) for label in y.tolist()])
    else:
        labels = y.astype(str)
    if rest is None:
        return labels
    return np.where(np.isin(labels, classes.astype(str)), labels, str(rest))
