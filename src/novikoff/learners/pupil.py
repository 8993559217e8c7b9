"""What a perceptron knows while it learns from a stream: its rules and its classes.

It is lent to an estimator when one is needed. By itself it needs no scikit-learn, whose import
takes longer than many a stream.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from novikoff.learners.online import Rules, class_factor
from novikoff.learners.schemes import scheme_for

if TYPE_CHECKING:
    from novikoff.learners.streaming import StreamLearner


class Memory(NamedTuple):
    """What a pupil knew at some time, but for weights and features."""

    known: Rules | None
    labels: list[Hashable]
    codes: dict[Hashable, int]
    open: bool


@dataclass
class Pupil:
    """The rules of a perceptron, and what decides how they change.

    Parameters
    ----------
    margin, step, fit_intercept, multi_class, class_weight
        As of `novikoff.Perceptron`.
    average : bool
        Whether the average over all steps is kept.

    Attributes
    ----------
    labels : list of labels
        The classes known, sorted; ``codes`` has their positions.
    open : bool
        Whether new classes are taken in.
    known : Rules or None
        The rules, None before the first row.

    Examples
    --------
    >>> pupil = Pupil()
    >>> pupil.begin(["b"], 2)
    >>> pupil.meet("a")
    >>> pupil.labels, pupil.rules.shape
    (['a', 'b'], (1, 2))
    """

    margin: float = 0.0
    step: float = 1.0
    fit_intercept: bool = True
    average: bool = False
    multi_class: str = "ovr"
    class_weight: Mapping[Hashable, float] | None = None
    labels: list[Hashable] = field(default_factory=list)
    codes: dict[Hashable, int] = field(default_factory=dict)
    open: bool = True
    known: Rules | None = None

    @classmethod
    def of(cls, learner: StreamLearner) -> Pupil:
        """What an estimator knows; the rules are its own, not a copy.

        Raises
        ------
        ValueError
            If it cannot learn from a stream.
        """
        learner._validate_params()
        weights = learner.class_weight
        if learner.average == "voted":
            raise ValueError(
                "The voted perceptron keeps the rows of all its updates and does not learn from a "
                "stream: use average='averaged'."
            )
        if isinstance(weights, str):
            raise ValueError(
                "class_weight='balanced' needs all rows at once: pass the weights as a dict."
            )
        pupil = cls(
            float(learner.margin),
            float(learner.step),
            bool(learner.fit_intercept),
            learner.average == "averaged",
            learner.multi_class,
            weights,
        )
        if "_rules" in learner.__dict__:
            pupil.known, pupil.open = learner._rules, learner._open
            pupil.multi_class = getattr(learner, "_multi_class", learner.multi_class)
            pupil._name(list(learner._labels))
        return pupil

    def lend(self, learner: StreamLearner) -> None:
        """Give an estimator all that is known; the rules stay the same object."""
        rules = self.rules
        if "_rules" not in learner.__dict__:
            learner._begin(np.array(self.labels), rules.n_features)
            learner._open, learner._multi_class = self.open, self.multi_class
        if learner._labels != self.labels:
            learner._name_classes(np.array(self.labels))
        if learner.n_features_in_ != rules.n_features:
            learner.n_features_in_ = rules.n_features
            learner._vocabulary = None
            learner.__dict__.pop("_feature_names", None)
        learner._rules = rules
        learner._streamed()

    @property
    def rules(self) -> Rules:
        """The rules, where there must be some."""
        if self.known is None:
            raise ValueError("No row has been learned yet.")
        return self.known

    @property
    def steps(self) -> list[float]:
        """The size of an update for each class."""
        return [self.step * class_factor(self.class_weight, label) for label in self.labels]

    def remember(self) -> Memory:
        """What is known now, but for weights and features."""
        return Memory(self.known, self.labels, self.codes, self.open)

    def forget(self, before: Memory, n_features: int) -> None:
        """Know of no other classes than before, and of so many features.

        What is forgotten must not have been learned from: its weights are zero.
        """
        self.known, self.labels, self.codes, self.open = before
        if self.known is not None and self.known.n_features > n_features:
            self.known.add_features(n_features)

    def begin(self, labels: Sequence[Hashable], n_features: int) -> None:
        """Zero weights for these classes, unless there are rules already."""
        if self.known is None:
            self._name(np.unique(np.array(labels)).tolist())
            scheme = scheme_for(len(self.labels), self.multi_class)
            self.known = Rules(scheme, n_features, self.average, self.fit_intercept)

    def meet(self, label: Hashable) -> None:
        """Take in a class that was not seen before.

        Raises
        ------
        ValueError
            If it cannot be sorted among the others.
        """
        try:
            labels: list[Hashable] = [*sorted(cast("list[str]", [*self.labels, label]))]
        except TypeError:
            labels = []
        if not labels or np.array(labels).tolist() != labels:
            raise ValueError(f"The label {label!r} cannot be put in order with {self.labels}.")
        scheme = scheme_for(len(labels), self.multi_class)
        self.known = self.rules.with_class(labels.index(label), scheme)
        self._name(labels)

    def _name(self, labels: list[Hashable]) -> None:
        self.labels = labels
        self.codes = {label: code for code, label in enumerate(labels)}
