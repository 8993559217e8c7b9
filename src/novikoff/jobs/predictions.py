"""The predictions of a model for the rows of a file or a pipe, as lines of CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from novikoff.errors import DataError
from novikoff.sentences import counted

if TYPE_CHECKING:
    from novikoff.data import Piece, RowStream
    from novikoff.formats.model_record import ModelRecord


@dataclass
class Predictions:
    """Predictions for the rows of a reader, with a line of CSV for each row.

    If the model has a class for "the rest", this class stands for all labels that the model does
    not know.

    Attributes
    ----------
    record, reader
        The model and the rows.
    scores : bool
        Whether the lines include the scores.
    only_differing : bool
        Whether only the rows whose label differs from the prediction get a line, with the label.
    rows, labelled, differing : int
        The rows that have been predicted; of these, the rows with a label that the model can
        predict; and of these, the rows whose label differs from the prediction.
    """

    record: ModelRecord
    reader: RowStream
    scores: bool = False
    only_differing: bool = False
    rows: int = 0
    labelled: int = 0
    differing: int = 0

    def pieces(self) -> Generator[str]:
        """Yield CSV, a piece at a time, and empty text at intervals while a pipe is silent.

        A row whose score is 0 gets the negative class. DataError is raised if a row cannot be read,
        or if its score exceeds the range of float64.
        """
        with self.reader:
            for piece in self.reader.pieces():
                yield "" if piece is None else self._lines(piece)
        if self.only_differing and self.labelled == 0:
            raise DataError(
                f"{self.reader.source} has no label that the model could give: none can differ."
            )

    def notes(self) -> list[str]:
        """Return notes about the labels, once all rows have been predicted."""
        notes: list[str] = []
        table = (self.record.preprocessing or {}).get("family") == "table"
        if self.rows and self.labelled == self.rows:
            notes.append(f"{self.differing:,} of {self.rows:,} labels differ from the predictions.")
        elif self.reader.n_labelled or (table and self.reader.label is not None):
            if self.labelled:
                notes.append(
                    f"{self.differing:,} of {self.labelled:,} labels differ from the predictions."
                )
            notes.append(
                f"labels are missing, or none that the model could give, in "
                f"{self.rows - self.labelled:,} of {counted(self.rows, 'row')}: these rows are not "
                "compared"
            )
        return [*notes, *self.reader.notes]

    def _lines(self, piece: Piece) -> str:
        """Return the lines of some rows, with a heading before the first row."""
        model, out = self.record.model, io.StringIO()
        try:
            labels: list[object] = model.predict(piece.X).tolist()
        except ValueError:
            self._reject(piece)
            raise
        scores = model.decision(piece.X) if self.scores else np.empty((len(labels), 0))
        scores = scores.reshape(len(labels), -1)
        known = self._compare(labels, piece)
        name, rows = ("row", piece.rows.tolist()) if piece.ids is None else ("id", piece.ids)
        writer = csv.writer(out, lineterminator="\n")
        if self.rows == 0:
            classes = model.classes.tolist()[len(model.classes) - scores.shape[1] :]
            heading = [name, "label", "prediction"] if self.only_differing else [name, "prediction"]
            writer.writerow([*heading, *(f"score_{label}" for label in classes)])
        for row, was, label, values in zip(rows, known, labels, scores.tolist(), strict=True):
            if not self.only_differing:
                writer.writerow([row, label, *map(repr, values)])
            elif was not in (None, label):
                writer.writerow([row, was, label, *map(repr, values)])
        self.rows += len(labels)
        return out.getvalue()

    def _compare(self, labels: list[object], piece: Piece) -> list[object]:
        """Count the labels that differ; return the label of each row, or None."""
        rest = (self.record.data or {}).get("rest")
        known = set(self.record.model.classes.tolist())
        merged = [label if rest is None or label in known else rest for label in piece.labels]
        for label, code in zip(labels, piece.codes.tolist(), strict=True):
            if code >= 0:
                self.labelled += 1
                self.differing += label != merged[code]
        return [None if code < 0 else merged[code] for code in piece.codes.tolist()]

    def _reject(self, piece: Piece) -> None:
        """Raise an error that names the first row whose score exceeds the range of float64."""
        for i, number in enumerate(piece.rows.tolist()):
            try:
                self.record.model.predict(piece.X[i : i + 1])
            except ValueError:
                where = f"{self.reader.source}, row {number}"
                raise DataError(f"{where}: the score is beyond the range of float64.") from None
