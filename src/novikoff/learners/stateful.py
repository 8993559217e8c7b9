"""Learners with a loop of their own: a shell around a `StateModel`.

A learner is its parameters and `_settings`, the numbers of its formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from novikoff.core.counts import Counts
from novikoff.core.model import Model
from novikoff.core.orders import Greedy, named
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.runs import Plan
from novikoff.core.single_step import FACTOR
from novikoff.core.state_model import StateModel
from novikoff.core.stops import Limits
from novikoff.core.updates import Update, perceptron
from novikoff.learners.base import one_or_each
from novikoff.learners.inputs import (
    MatrixLike,
    OrderLike,
    RandomState,
    Rule,
    check_weights,
    seed_of,
)
from novikoff.learners.online import STRUCTURE, OnlineLearner, check_resumable, streams


@dataclass(kw_only=True, eq=False, repr=False)
class StateLearner(OnlineLearner):
    """A learner whose rules keep more than weights."""

    order: OrderLike = "permuted"
    max_epochs: int | None = 1000
    max_seconds: float | None = None
    multi_class: Literal["ovr", "ovo"] = "ovr"
    warm_start: bool = False
    random_state: RandomState = None
    verbose: int = 0

    _of_update = attrgetter(*STRUCTURE)
    _rules: ClassVar[Mapping[str, Rule]] = {
        name: OnlineLearner._rules[name]
        for name in (
            *("fit_intercept", "order", "max_epochs", "max_seconds", "multi_class"),
            *("class_weight", "warm_start", "random_state", "verbose"),
        )
    }
    _kind: type[StateModel] = field(init=False)

    def _settings(self, n_features: int) -> dict[str, Any]:
        """The numbers of the formula, by the learner's parameters."""
        raise NotImplementedError

    def _update(self) -> Update:
        return perceptron()  # a mistake is m ≤ 0

    def _blank(self, classes: npt.ArrayLike, n_features: int) -> Model:
        return self._kind(
            np.asarray(classes),
            n_features,
            bool(self.fit_intercept),
            self._settings(n_features),
            averaged=self.average == "averaged",
            multi_class=self.multi_class,
        )

    def fit(  # type: ignore[override]
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from rows until a cycle is clean or a limit is reached.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the steps; a row of weight 0 does not take part.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; the estimator then holds what it has learned. After any other exception it is
            what it was before.
        """
        with self._all_or_nothing():
            before = self._model if self.warm_start and "_held" in self.__dict__ else None
            problem, blank, codes = self._prepare(X, y)
            model = state(blank) if before is None else self._resumed(before, blank)
            weights = check_weights(sample_weight, self.class_weight, model.classes, codes)
            if weights is not None and not weights.any():
                raise ValueError("All weights are zero: no row takes part.")
            order, random_state = named(self.order), self._seed()
            if isinstance(order, Greedy):
                raise ValueError(
                    f"A {type(self).__name__} takes no maximal rule: the order must be one of "
                    "cyclic, fixed, permuted, blocks and random, a list, or such an object."
                )
            self._load(model, problem)
            limits = Limits(self.max_epochs, None, self.max_seconds)
            after = self._print_epoch if self.verbose else None
            plan = Plan(self._update(), order, limits, seed_of(random_state), after_epoch=after)
            run = model.train(problem, codes, plan, weights)
            self._conclude(model, run, random_state)
            if self.trace:
                self.trace_ = one_or_each(run.traces)
        if limits.interrupted:
            raise KeyboardInterrupt
        if not self.converged_:
            self._warn(run, problem)
        return self

    def _load(self, model: StateModel, problem: Problem) -> None:
        """Compile or load the kernels, so that clocks can start afterwards."""
        none = pose(problem.X[:0], np.ones(0, np.int8), problem.fit_intercept)
        counts, nothing = Counts.blank(0, 0, model.n_rules), np.zeros(0, np.int64)
        model.begin(none, nothing, np.ones(0), counts)(0, nothing)

    def _resumed(self, before: Model, blank: Model) -> StateModel:
        """A copy of the model of the last fit, to go on from."""
        try:
            streams(self)
        except AttributeError as error:
            raise ValueError(f"warm_start goes on as a stream does. {error}") from None
        check_resumable(before, blank)
        self._check_unchanged(before)
        return state(before).copy()

    def _room(self, n_features: int) -> int:
        function = callable(getattr(self, "kernel", None))  # it sees the columns that there are
        return n_features if function else super()._room(n_features)

    def _learn_rows(
        self, model: Model, X: Floats | SparseMatrix, codes: Indices, weights: Vector | None
    ) -> None:
        state(model).learn(X, codes, weights=weights)

    def _learn_example(
        self, model: Model, columns: Indices, values: Vector, code: int, numbers: Vector
    ) -> tuple[Vector, int]:
        self._check_unchanged(model)
        return state(model).learn_one(columns, values, code, float(numbers[FACTOR]))

    def _check_unchanged(self, model: Model) -> None:
        """Those of the formula too."""
        super()._check_unchanged(model)
        now = self._settings(max(1, model.n_features))
        own = {name: now[name] for name in now if getattr(self, name, None) is not None}
        self._compare(state(model).settings, own)


def state(model: Model) -> StateModel:
    """The model, which has a loop of its own."""
    if not isinstance(model, StateModel):
        raise TypeError(f"A {type(model).__name__} has no loop of its own.")
    return model
