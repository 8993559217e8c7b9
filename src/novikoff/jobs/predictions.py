"""The predictions of a model, as CSV, for the rows of a file or a pipe as they come."""

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
    """A line for each row of a reader.

    A class for "the rest" stands for all labels that the model does not know.
    """

    record: ModelRecord
    reader: RowStream
    scores: bool = False  # whether they are wanted
    only_differing: bool = False  # rows whose label is another than predicted, with that label
    rows: int = 0  # predicted so far
    labelled: int = 0  # of them, those with a label that the model could give
    differing: int = 0  # of those, the ones with another label than it gives

    def pieces(self) -> Generator[str]:
        """CSV, a piece at a time; empty text now and then while a pipe is silent.

        A row whose score is 0 gets the negative class. DataError if a row cannot be read, or its
        score is beyond the range of float64.
        """
        with self.reader:
            for piece in self.reader.pieces():
                yield "" if piece is None else self._lines(piece)
        if self.only_differing and self.labelled == 0:
            raise DataError(
                f"{self.reader.source} has no label that the model could give: none can differ."
            )

    def notes(self) -> list[str]:
        """What is to be said when all rows have been predicted."""
        found: list[str] = []
        table = (self.record.preprocessing or {}).get("family") == "table"
        if self.rows and self.labelled == self.rows:
            found.append(f"{self.differing:,} of {self.rows:,} labels differ from the predictions.")
        elif self.reader.n_labelled or (table and self.reader.label is not None):
            if self.labelled:
                found.append(
                    f"{self.differing:,} of {self.labelled:,} labels differ from the predictions."
                )
            found.append(
                f"labels are missing, or none that the model could give, in "
                f"{self.rows - self.labelled:,} of {counted(self.rows, 'row')}: these rows are not "
                "compared"
            )
        return [*found, *self.reader.notes]

    def _lines(self, piece: Piece) -> str:
        """The lines of some rows, after a heading if they are the first."""
        model, out = self.record.model, io.StringIO()
        try:
            labels: list[object] = model.predict(piece.X).tolist()
        except ValueError:
            self._refuse(piece)
            raise
        scores = model.decision(piece.X) if self.scores else np.empty((len(labels), 0))
        scores = scores.reshape(len(labels), -1)
        given = self._compare(labels, piece)
        name, rows = ("row", piece.rows.tolist()) if piece.ids is None else ("id", piece.ids)
        writer = csv.writer(out, lineterminator="\n")
        if self.rows == 0:
            classes = model.classes.tolist()[len(model.classes) - scores.shape[1] :]
            heading = [name, "label", "prediction"] if self.only_differing else [name, "prediction"]
            writer.writerow([*heading, *(f"score_{label}" for label in classes)])
        for row, was, label, values in zip(rows, given, labels, scores.tolist(), strict=True):
            if not self.only_differing:
                writer.writerow([row, label, *map(repr, values)])
            elif was not in (None, label):
                writer.writerow([row, was, label, *map(repr, values)])
        self.rows += len(labels)
        return out.getvalue()

    def _compare(self, labels: list[object], piece: Piece) -> list[object]:
        """Count what differs; the label of each row as it was given, or None."""
        rest = (self.record.data or {}).get("rest")
        known = set(self.record.model.classes.tolist())
        given = [label if rest is None or label in known else rest for label in piece.labels]
        for label, code in zip(labels, piece.codes.tolist(), strict=True):
            if code >= 0:
                self.labelled += 1
                self.differing += label != given[code]
        return [None if code < 0 else given[code] for code in piece.codes.tolist()]

    def _refuse(self, piece: Piece) -> None:
        """Raise an error that names the first row whose score is beyond float64."""
        for i, number in enumerate(piece.rows.tolist()):
            try:
                self.record.model.predict(piece.X[i : i + 1])
            except ValueError:
                where = f"{self.reader.source}, row {number}"
                raise DataError(f"{where}: the score is beyond the range of float64.") from None
