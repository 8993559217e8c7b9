"""The predictions of a model, as CSV, for the rows of a file or a pipe as they come."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.errors import DataError, counted

if TYPE_CHECKING:
    from novikoff.data import Piece, PieceReader
    from novikoff.report.model_file import ModelRecord


@dataclass
class Predictions:
    """A line for each row of a reader, and a count of the labels that differ.

    Parameters
    ----------
    record : ModelRecord
        The model; a class for "the rest" stands for all labels that it does not know.
    reader : PieceReader
        The rows, in the columns of the model.
    scores : bool
        Whether the scores are wanted, too.

    Attributes
    ----------
    rows : int
        How many have been predicted so far.
    labelled, differing : int
        How many of them have a label that the model could give, and another than it gives.
    """

    record: ModelRecord
    reader: PieceReader
    scores: bool = False
    rows: int = 0
    labelled: int = 0
    differing: int = 0

    def pieces(self) -> Generator[str]:
        """CSV, a piece at a time; empty text now and then while a pipe is silent.

        A row whose score is 0 gets the negative class.

        Raises
        ------
        DataError
            If a row cannot be read, or its score is beyond the range of float64.
        """
        with self.reader:
            for piece in self.reader:
                yield "" if piece is None else self._lines(piece)

    def notes(self) -> list[str]:
        """What is to be said when all rows have been predicted."""
        found: list[str] = []
        if self.rows and self.labelled == self.rows:
            found.append(f"{self.differing:,} of {self.rows:,} labels differ.")
        elif self.reader.written or self._has_label_column:
            found.append(
                f"labels are missing, or none that the model could give, in "
                f"{self.rows - self.labelled:,} of {counted(self.rows, 'row')}: they are not used"
            )
        return [*found, *self.reader.notes]

    @property
    def _has_label_column(self) -> bool:
        table = (self.record.preprocessing or {}).get("family") == "table"
        return table and self.reader.label is not None

    def _lines(self, piece: Piece) -> str:
        model = self.record.model
        try:
            labels, scores = _predict(model, piece.X, self.scores)
        except ValueError:
            self._blame(piece)
            raise
        self._compare(labels, piece)
        name, rows = ("row", piece.rows.tolist()) if piece.ids is None else ("id", piece.ids)
        text = as_csv(model, labels, scores, rows, name, heading=self.rows == 0)
        self.rows += len(labels)
        return text

    def _compare(self, labels: list[object], piece: Piece) -> None:
        rest = (self.record.data or {}).get("rest")
        known = set(self.record.model.classes.tolist())
        given = [label if rest is None or label in known else rest for label in piece.labels]
        for label, code in zip(labels, piece.codes.tolist(), strict=True):
            if code >= 0:
                self.labelled += 1
                self.differing += label != given[code]

    def _blame(self, piece: Piece) -> None:
        """Name the first row whose score is beyond float64."""
        for i, number in enumerate(piece.rows.tolist()):
            try:
                _predict(self.record.model, piece.X[i : i + 1], False)
            except ValueError:
                raise DataError(
                    f"{self.reader.source}, row {number}: the score is beyond the range of float64."
                ) from None


def as_csv(
    model: LinearModel,
    labels: Sequence[object],
    scores: npt.NDArray[np.float64],
    rows: Sequence[object],
    name: str,
    *,
    heading: bool = True,
) -> str:
    """A line for each row: its name or number, its label, and its scores; a heading before."""
    classes = model.classes.tolist()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if heading:
        heads = classes[len(classes) - scores.shape[1] :] if scores.shape[1] else []
        writer.writerow([name, "prediction", *(f"score_{label}" for label in heads)])
    for row, label, values in zip(rows, labels, scores.tolist(), strict=True):
        writer.writerow([row, label, *map(repr, values)])
    return out.getvalue()


def _predict(
    model: LinearModel, X: Floats | SparseMatrix, scores: bool
) -> tuple[list[object], npt.NDArray[np.float64]]:
    """Labels, and scores with one column for each where they are wanted."""
    labels: list[object] = model.predict(X).tolist()
    found = model.decision(X) if scores else np.empty((len(labels), 0))
    return labels, found.reshape(len(labels), -1)
