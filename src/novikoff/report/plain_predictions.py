"""The predictions for a large file, part by part: the same table as for the file as a whole."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from novikoff.core.blocks import ahead
from novikoff.core.margins import UNDERFLOW, norm_bound, scores
from novikoff.core.problem import Problem
from novikoff.core.rows import Vector
from novikoff.data.choices import Choices, Dataset
from novikoff.data.chunks.plain_parts import NotPlainError, PlainParts
from novikoff.data.recipe import Recipe
from novikoff.learners.inputs import pose_unsigned
from novikoff.learners.linear import LinearLearner
from novikoff.learners.threads import effective_threads
from novikoff.report.model_file import Saved
from novikoff.report.predictions import as_csv, count_differing
from novikoff.report.steps import Labels


@dataclass
class PlainPredictions:
    """The predictions for all rows of a large file.

    A score near zero is summed again in order, and what is near follows from the longest row of
    all. Only at the end is that known: if a score is near by then which was not when it was
    summed, the file is to be read as a whole after all.

    Parameters
    ----------
    model : LinearLearner
        Who predicts.
    parts : PlainParts
        The rows.
    scores : bool
        Whether the scores are wanted, too.
    rest : object
        The label that stands for all that the model does not know, if it has one.

    Attributes
    ----------
    rows : int
        How many have been predicted so far.
    """

    model: LinearLearner
    parts: PlainParts
    scores: bool = False
    rest: object = None
    rows: int = 0
    _differing: int = 0
    _kind: str | None = field(default=None, init=False)  # of the labels, "" if there are none
    _widest: Problem | None = field(default=None, init=False)
    _least: Vector | None = field(default=None, init=False)  # of the scores that are not near zero

    def pieces(self) -> Generator[str]:
        """CSV, a piece for each part of the file.

        Raises
        ------
        NotPlainError
            If the file is to be read as a whole after all; nothing of the table counts then.
        """
        with closing(ahead(self.parts)) as every:
            for data in every:
                yield self._piece(data)
        self._check_scores()

    def notes(self) -> list[str]:
        """What is to be said when all rows have been predicted."""
        found = list(self.parts.notes or [])
        if not self._kind:
            return found
        return [f"{self._differing:,} of {self.rows:,} labels differ.", *found]

    def _piece(self, data: Dataset) -> str:
        labels, found = self._predicted(data)
        kind = "" if data.y is None else data.y.dtype.kind
        if self._kind not in (None, kind):  # what they are as a whole is not known here
            raise NotPlainError
        self._kind = kind
        if data.y is not None:
            self._differing += count_differing(self.model, labels, data.y, self.rest)
        numbers = (data.rows + self.rows).tolist()
        text = as_csv(self.model, labels, found, numbers, "row", heading=not self.rows)
        self.rows += len(numbers)
        return text

    def _predicted(self, data: Dataset) -> tuple[Labels, Vector]:
        model, rules = self.model, self.model._rules
        threads = effective_threads(model.n_jobs)
        problem = pose_unsigned(model, data.X, rules.bias > 0.0, threads)
        W = rules.decisive()
        found = scores(problem, W, threads)
        if not np.isfinite(found).all():
            raise NotPlainError
        self._note_scores(problem, found)
        labels = model.classes_[rules.scheme.choose(found)]
        shown = rules.scheme.decision(found) if self.scores else np.empty((len(found), 0))
        return labels, shown.reshape(len(labels), -1)

    def _note_scores(self, problem: Problem, found: Vector) -> None:
        sizes = np.abs(found)
        sizes[sizes <= _doubts(problem, self.model)] = np.inf
        least = sizes.min(axis=0)
        self._least = least if self._least is None else np.minimum(self._least, least)
        widest = self._widest or problem
        self._widest = replace(
            problem,
            radius=max(problem.radius, widest.radius),
            longest=max(problem.longest, widest.longest),
        )

    def _check_scores(self) -> None:
        if self._widest is None or self._least is None:
            raise NotPlainError
        if not (self._least > 2.0 * _doubts(self._widest, self.model)).all():
            raise NotPlainError


def _doubts(problem: Problem, model: LinearLearner) -> Vector:
    """Up to which size the score of each rule is summed again."""
    W = model._rules.decisive()
    return np.array([problem.rounding() * norm_bound(w) + UNDERFLOW for w in W.T])


def open_plain(
    saved: Saved, recipe: Recipe, data: str, *, scores: bool, drop: bool
) -> PlainPredictions | None:
    """Make ready to predict the rows of a large file; None if it is to be read as a whole."""
    if saved.model._votes:
        return None
    try:
        parts = PlainParts(data, Choices(missing="drop" if drop else "refuse"), recipe)
    except NotPlainError:
        return None
    return PlainPredictions(saved.model, parts, scores, (saved.data or {}).get("rest"))
