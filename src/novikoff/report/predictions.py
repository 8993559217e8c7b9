"""The predictions of a model as a table, and how many labels they miss."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from novikoff.learners.linear import LinearLearner
from novikoff.report.steps import Labels, Matrix


def predict_quietly(
    model: LinearLearner, X: Matrix, *, scores: bool
) -> tuple[Labels, npt.NDArray[np.float64]]:
    """Labels, and scores with one column for each, for rows whose columns are matched already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the rows have no names, the model has
        labels = model.predict(X)
        found = model.decision_function(X) if scores else np.empty((len(labels), 0))
    return labels, found.reshape(len(labels), -1)


def as_csv(
    model: LinearLearner,
    labels: Labels,
    scores: npt.NDArray[np.float64],
    rows: Sequence[object],
    name: str,
    *,
    heading: bool = True,
) -> str:
    """A line for each row: its name or number, its label, and its scores; a heading before."""
    classes = model.classes_.tolist()
    heads = [f"score_{label}" for label in classes[len(classes) - scores.shape[1] :]]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if heading:
        writer.writerow([name, "prediction", *(heads if scores.shape[1] else [])])
    for row, label, values in zip(rows, labels.tolist(), scores.tolist(), strict=True):
        writer.writerow([row, label, *map(repr, values)])
    return out.getvalue()


def count_differing(model: LinearLearner, labels: Labels, y: Labels, rest: object) -> int:
    """How many labels of a file the model does not give.

    Numbers are compared as such ("1" and "1.0"); where the model has a label for the ``rest``,
    all that it does not know stand for it.
    """
    classes = model.classes_
    if classes.dtype.kind in "if" and y.dtype.kind in "if":
        same = {float(label): str(label) for label in classes.tolist()}
        known = np.array([same.get(float(label), str(label)) for label in y.tolist()])
    else:
        known = y.astype(str)
    if rest is not None:
        known = np.where(np.isin(known, classes.astype(str)), known, str(rest))
    return int((labels.astype(str) != known).sum())
