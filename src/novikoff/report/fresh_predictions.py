"""The predictions for rows as they come, a piece of the table at a time, and what they miss."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from novikoff.core.rows import Vector
from novikoff.data.errors import DataError, counted
from novikoff.data.feeds.fresh import Fresh, FreshFeed, FreshTable, fresh_rows
from novikoff.data.feeds.fresh_opening import Lesson, open_fresh
from novikoff.learners.linear import LinearLearner
from novikoff.report.model_file import Saved
from novikoff.report.predictions import as_csv, predict_quietly
from novikoff.report.steps import Labels


@dataclass
class FreshPredictions:
    """The predictions for all rows of a feed.

    Parameters
    ----------
    model : LinearLearner
        Who predicts.
    feed : FreshFeed
        The rows.
    scores : bool
        Whether the scores are wanted, too.

    Attributes
    ----------
    rows : int
        How many have been predicted so far.
    labelled, written : int
        How many of them have a label that the model could give, and how many any label.
    differing : int
        How many labels the model does not give.
    """

    model: LinearLearner
    feed: FreshFeed
    scores: bool = False
    rows: int = 0
    labelled: int = 0
    written: int = 0
    differing: int = 0

    def pieces(self) -> Generator[str]:
        """CSV, a piece for each stretch of rows; memory is needed for one or two of them.

        Raises
        ------
        DataError
            If a row cannot be read, or its score is beyond the range of float64.
        """
        with closing(fresh_rows(self.feed)) as every:
            for fresh in every:
                yield self._piece(fresh)

    def notes(self) -> list[str]:
        """What is to be said when all rows have been predicted."""
        feed, found = self.feed, list[str]()
        column = isinstance(feed, FreshTable) and feed.layout.label is not None
        if self.labelled == self.rows:
            found.append(f"{self.differing:,} of {self.rows:,} labels differ.")
        elif self.written or column:
            found.append(
                f"labels are missing, or none that the model could give, in "
                f"{self.rows - self.labelled:,} of {counted(self.rows, 'row')}: they are not used"
            )
        found += feed.notes
        if feed.dropped:
            found.append(f"{counted(feed.dropped, 'row')} with missing values left out")
        if feed.strangers:
            found.append(str(feed.strangers))
        return found

    def _piece(self, fresh: Fresh) -> str:
        labels, found = self._predicted(fresh)
        given = labels.tolist()
        name, rows = ("row", fresh.numbers) if fresh.ids is None else ("id", fresh.ids)
        text = as_csv(self.model, labels, found, rows, name, heading=not self.rows)
        self.rows += len(given)
        self.written += fresh.written
        self.labelled += sum(label is not None for label in fresh.labels)
        self.differing += sum(map(_differ, given, fresh.labels))
        return text

    def _predicted(self, fresh: Fresh) -> tuple[Labels, Vector]:
        try:
            return predict_quietly(self.model, fresh.X, scores=self.scores)
        except ValueError:
            for row, number in enumerate(fresh.numbers):
                try:
                    predict_quietly(self.model, fresh.X[row : row + 1], scores=False)
                except ValueError:
                    raise DataError(
                        f"{self.feed.source}, row {number}: the score is beyond the range of "
                        "float64."
                    ) from None
            raise


def open_predictions(
    saved: Saved,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    scores: bool = False,
    drop: bool = False,
) -> FreshPredictions | None:
    """Make ready to predict the rows of a file; None if the model is not of names or text.

    Parameters
    ----------
    saved : Saved
        A model that was learned from a stream, with what it knows of it.
    path : path, "-" or binary file
        The rows; "-" is the standard input.
    scores : bool
        Whether the scores are wanted, too.
    drop : bool
        Whether rows with missing values are left out, rather than refused.

    Raises
    ------
    DataError
        If the rows cannot be read, or the model does not say how.
    """
    stream = (saved.data or {}).get("stream")
    if saved.preprocessing is not None or not isinstance(stream, dict):
        return None
    decided, model = stream.get("decided"), saved.model
    if not isinstance(decided, dict):
        raise DataError("The model does not say how its stream was read.")
    names = getattr(model, "feature_names_in_", None)
    listed = None if names is None else names.tolist()
    lesson = Lesson.from_json(decided, listed, model.n_features_in_)
    feed = open_fresh(path, lesson, drop=drop, classes=model.classes_.tolist())
    return FreshPredictions(model, feed, scores)


def _differ(given: object, label: object) -> bool:
    return label is not None and given != label
