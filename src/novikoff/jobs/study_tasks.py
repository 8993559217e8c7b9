"""The steps of a study: which classes it compares, and what a task does for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from novikoff.core.class_labels import Label, Labels, Sides, plain_label, side_labels
from novikoff.core.model import LinearModel
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import Scheme, scheme_for
from novikoff.core.stops import Limits
from novikoff.jobs.study_records import Case, EachRow, StudyOptions, StudyProgress

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.verdict import Verdict
    from novikoff.jobs.study_records import FoundRule


@dataclass(frozen=True)
class StudyClasses:
    """The labels of the data, the classes of the model, and which of them are compared.

    Attributes
    ----------
    data_labels : list of labels
        The labels of the data.
    labels : array
        The classes of the model, sorted: the labels of the data, or a label for all other classes
        and the positive label.
    codes : array of int
        The class of the model that each label of the data belongs to.
    cases : list of Sides
        The comparisons that are decided.
    rules : list of Sides
        The two sides of each rule of the model, by the labels of the data.
    """

    data_labels: list[Label]
    labels: Labels
    codes: Indices
    cases: list[Sides]
    rules: list[Sides]

    @classmethod
    def of(cls, values: Labels, positive: Hashable) -> StudyClasses:
        """Compare each label with the rest, or only the positive label with all others."""
        data_labels: list[Label] = [plain_label(value) for value in values.tolist()]
        if len(data_labels) < 2:
            label = data_labels[0]
            raise ValueError(f"All rows have the label {label!r}: two classes are needed.")
        chosen = None if positive is None else plain_label(positive)
        if chosen is not None and chosen not in data_labels:
            raise ValueError(f"The positive class is {chosen!r}, but no row has this label.")
        cases: list[Sides]
        if len(data_labels) == 2:
            first, second = data_labels
            cases = [(first, second) if chosen == first else (second, first)]
        else:
            cases = [(label, None) for label in (data_labels if chosen is None else [chosen])]
            if chosen is not None:
                codes = np.array([int(label == chosen) for label in data_labels])
                labels = np.array([_rest_before(chosen), str(chosen)])
                return cls(data_labels, labels, codes, cases, cases)
        scheme = scheme_for(len(data_labels), "ovr")
        rules = [side_labels(scheme, values, k) for k in range(scheme.sides.shape[1])]
        return cls(data_labels, values, np.arange(len(data_labels)), cases, rules)

    @property
    def scheme(self) -> Scheme:
        """One rule for two classes, otherwise one rule for each class."""
        return scheme_for(len(self.labels), "ovr")


@dataclass(frozen=True)
class StudyTask(ABC):
    """A study of rows that are arrays or on a cluster: the steps that depend on where they are.

    Attributes
    ----------
    classes : StudyClasses
        The classes, and which of them are compared.
    options : StudyOptions
        The options of the study.
    clock : Limits
        The time of the whole study.
    announce : callable
        Called with the name of each step.
    """

    classes: StudyClasses
    options: StudyOptions
    clock: Limits
    announce: StudyProgress

    def model(self, W: Vector) -> LinearModel:
        """Return the model with these weights."""
        model = LinearModel(self.classes.labels, len(W) - 1, self.options.fit_intercept)
        model.W = W
        return model

    @abstractmethod
    def decide(self, sides: Sides, limits: Limits, progress: Callable[[Interval], None]) -> Verdict:
        """Decide one comparison."""

    @abstractmethod
    def separated_by(self, W: Vector) -> bool:
        """Whether every rule has every original row strictly on its side: proved."""

    @abstractmethod
    def fewest_mistakes(self, cases: list[Case]) -> tuple[LinearModel, list[FoundRule], list[Case]]:
        """Find the model with the fewest mistakes; return it, its rules, and cases with bounds."""

    @abstractmethod
    def count(
        self, model: LinearModel, rows_of_run: Rows | None, *, duplicates: bool
    ) -> tuple[Indices, list[float], EachRow | None]:
        """Return the confusion matrix, the margin of each rule, and the results for each row.

        ``rows_of_run`` are the rows that the perceptron saw, None if it did not run. If
        ``duplicates``, identical rows with different labels are searched for.
        """


def _rest_before(positive: Label) -> str:
    """Return a label for all other classes, which sorts before the positive label.

    A model sorts its classes, and the second of two classes is the positive class.

    >>> _rest_before("setosa"), _rest_before("#1")
    ('(rest)', ' (rest)')
    """
    for rest in ("(rest)", " (rest)", ""):
        if rest < str(positive):
            return rest
    raise ValueError("The positive class is the empty text: give it a name.")
