"""The model of the perceptron: linear rules that predict, and that learn from rows and streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.model import TOO_LARGE, Model
from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Matrix, Vector

if TYPE_CHECKING:
    from novikoff.core.counts import Counts
    from novikoff.core.orders import Order
    from novikoff.core.runs import Plan, Run
    from novikoff.core.updates import Update

# The largest number of rows of a stream whose scores are kept at the same time.
MAX_SCORES = 1 << 14


@dataclass(eq=False)
class LinearModel(Model):
    """The linear rules of a scheme, a column of weights for each.

    The loop is imported when the model learns: predicting does not wait for Numba.

    Examples
    --------
    >>> from novikoff.core.updates import perceptron
    >>> model = LinearModel(np.array(["down", "up"]), 1)
    >>> model.learn(np.array([[2.0], [-1.0], [3.0]]), np.array([1, 0, 1]), perceptron())
    array([-1,  0,  1])
    >>> model.predict(np.array([[5.0], [-5.0]]))
    array(['up', 'down'], dtype='<U4')
    """

    radius: float = 0.0  # at least the largest ‖a_i‖ that has changed a rule
    W: Vector = field(init=False)  # (n_features + 1, n_rules): the weights, the biases last
    # Σ t·τ·a_i over the updates, of the shape of W, if the average predicts; else (0, n_rules).
    weighted: Vector = field(init=False)

    shapes: ClassVar = {"W": "pK", "weighted": "pK"}
    average_only: ClassVar = ("weighted",)
    negated_on_swap: ClassVar = ("W", "weighted")

    def __post_init__(self, arrays: Mapping[str, Vector] | None) -> None:
        super().__post_init__(arrays)
        if not self.averages:
            self.weighted = np.zeros((0, self.n_rules))

    def check(self) -> None:
        """Raise ValueError if weights and counts, which may come from a file, disagree."""
        if (self.totals[2] > self.totals[1]).any():
            raise ValueError("it counts more mistakes than updates")
        with np.errstate(all="ignore"):
            biases = self.prediction_weights()[-1]
        if not self.fit_intercept and (biases.any() or self.W[-1].any()):
            raise ValueError("its intercept is not zero, though fit_intercept is false")

    # Predicting

    def prediction_weights(self) -> Vector:
        """The weights that predict: their average over all steps, if it is kept, or W (A9).

        The mean of w after steps 1, …, T is w_T − (1/T)·Σ t·τ_t·a_t over the updates, where t
        counts from 0: a step without an update costs nothing.
        """
        if not self.averages:
            return self.W
        averaged: Vector = self.W - self.weighted / np.maximum(self.totals[0], 1)
        if not np.isfinite(averaged).all():
            raise ValueError("The averaged weights are beyond float64: scale the data down.")
        return averaged

    def last_scores(self, X: Matrix) -> Vector:
        """⟨w, x⟩ + b by the last weights."""
        return scores(X, self.W)

    def final_scores(self, X: Matrix) -> Vector:
        """⟨w, x⟩ + b by the weights that predict."""
        return scores(X, self.prediction_weights())

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; see `Model.score_one`."""
        own = columns if len(columns) > 0 else slice(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            found: Vector = values.dot(self.W[own]) + self.W[-1]
            if self.averages:
                lag = values.dot(self.weighted[own]) + self.weighted[-1]
                found -= lag / np.maximum(self.totals[0], 1)
            return found

    # Learning

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile the loop of a run, or load it from the cache, before a clock starts."""
        from novikoff.core.training import load_loop

        load_loop(rows, self.scheme, order, trace=trace)

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows until a cycle is clean or a limit is reached.

        The run begins with the weights of the model, and its counts begin with 0. ``plan.average``
        must be ``averages`` of the model.
        """
        from novikoff.core.training import train

        start = self.W if self.W.any() else None
        run = train(rows, codes, self.scheme, plan, start=start, sample_weight=sample_weight)
        self.W, self.weighted, self.totals = run.W, run.counts.weighted, run.counts.totals
        return run

    def learn(
        self,
        X: Matrix,
        codes: npt.NDArray[np.integer],
        update: Update | None = None,
        *,
        sample_weight: Vector | None = None,
    ) -> Indices:
        """Look at each row once, in turn, as a piece of a stream; see `Model.learn`.

        Returns
        -------
        array of int
            For each row, the code of the class that the last weights predicted before they learned
            the row, even if their average predicts in the end; −1 for a tie. For a row whose factor
            is 0, the row's own class.
        """
        from novikoff.core.counts import check_range
        from novikoff.core.updates import perceptron

        rows = self._check_rows(X)
        touched: Indices | slice = slice(None)  # the weights that may change
        if not isinstance(X, np.ndarray) and 8 * X.nnz <= self.n_features:
            touched = np.append(np.unique(X.indices), self.n_features)
        before = {name: array[touched].copy() for name, array in self.state.items()}
        totals = self.totals.copy()
        rule = perceptron() if update is None else update
        try:
            predicted, counts = self._sweep(rows, codes.astype(np.int64), rule, sample_weight)
            check_range(self.W[touched], counts)
        except BaseException:
            self.totals[:] = totals
            for name, array in before.items():
                self.state[name][touched] = array
            raise
        self.radius = max(self.radius, rows.radius)
        return predicted

    def _sweep(
        self, rows: Rows, codes: Indices, update: Update, sample_weight: Vector | None
    ) -> tuple[Indices, Counts]:
        """Show each row to all rules; returns the classes predicted before, and the counts."""
        from novikoff.core.counts import Counts, trace_buffer
        from novikoff.core.runs import ENTRIES_PER_CALL
        from novikoff.core.sweep import sweep, sweep_classes

        epoch = np.arange(rows.n) if sample_weight is None else np.flatnonzero(sample_weight)
        factors = np.empty(0) if sample_weight is None else sample_weight
        unlimited, active = np.iinfo(np.int64).max, np.ones(self.n_rules, dtype=np.bool_)
        rows_per_call = min(rows.rows_within(ENTRIES_PER_CALL // self.n_rules), MAX_SCORES)
        before, predicted = np.empty((rows_per_call, self.n_rules)), codes.copy()
        none = np.empty((0, self.n_rules), dtype=np.int32)
        counts = Counts(self.totals, none, self.weighted, before, np.zeros(1))
        single = self.n_rules == 1
        problem = rows.with_signs(self.sides[codes, 0]) if single else rows.all_positive()
        for first in range(0, len(epoch), rows_per_call):
            part = epoch[first : first + rows_per_call]
            if single:
                sweep(
                    problem.arrays, part, 0, len(part), update, factors, self.W[:, 0],
                    counts.of_single_rule(), trace_buffer(), unlimited,
                )  # fmt: skip
            else:
                sweep_classes(
                    problem.arrays, codes, self.sides, part, 0, len(part), update, factors, self.W,
                    counts, active, unlimited,
                )  # fmt: skip
            predicted[part] = self.scheme.choose_or_tie(before[: len(part)])
        return predicted, counts

    def learn_one(
        self, columns: Indices, values: Vector, code: int, numbers: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example; the scores before are those of the last weights."""
        before, sides = np.empty(self.W.shape[1]), self.sides[code]
        updated = _step_all_rules()(
            columns, values, sides, self.W, self.weighted, self.totals, numbers, factor, before
        )
        if updated < 0:
            raise ValueError(TOO_LARGE)
        if updated > 0:
            with np.errstate(over="ignore"):
                length = math.sqrt(float(values.dot(values)) + self.fit_intercept)
            self.radius = max(self.radius, length * (1.0 + (len(values) + 5) * 2**-52))
        return before, updated


@cache
def _step_all_rules() -> Callable[..., int]:
    from novikoff.core.sweep import step_all_rules

    return cast("Callable[..., int]", step_all_rules)


class Evaluation(NamedTuple):
    """How the rules of a model classify rows whose classes are known."""

    predicted: Indices  # the class that the model predicts for each row
    distances: Vector  # the least y·f(x)/‖w‖ of each row over the rules
    margins: Vector  # the least y·f(x)/‖w‖ of each rule over the rows
    confusion: Indices  # rows of each class (down) by predicted class (across)


def evaluate(model: LinearModel, X: Matrix, codes: Indices) -> Evaluation:
    """Predict the classes of rows, and measure the distance of each row from the hyperplanes.

    Examples
    --------
    >>> model = LinearModel(np.array(["down", "up"]), 1)
    >>> model.W[:, 0] = 2.0, -2.0
    >>> evaluate(model, np.array([[3.0], [0.0], [2.0]]), np.array([1, 0, 0]))[1:]
    (array([ 2.,  1., -1.]), array([-1.]), array([[1, 1],
           [0, 1]]))
    """
    found = model.scores(X)
    W = model.prediction_weights()[:-1]
    n = len(model.classes)
    largest = np.abs(W).max(axis=0)
    distances, margins = np.full(len(found), np.inf), np.full(W.shape[1], np.inf)
    for k, sides in enumerate(model.sides.T):
        signs = sides[codes]
        with np.errstate(all="ignore"):  # zero weights have no hyperplane
            length = largest[k] * np.linalg.norm(W[:, k] / largest[k])
            own = np.where(signs == 0, np.inf, signs * found[:, k] / length)
        margins[k] = own.min(initial=np.inf)
        distances = np.minimum(distances, own)
    predicted = model.scheme.choose(found)
    pairs = np.bincount(codes * n + predicted, minlength=n * n)
    return Evaluation(predicted, distances, margins, pairs.reshape(n, n))
