"""A linear classifier as a plain record: it predicts, and it goes on learning from a stream."""

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

MAX_SCORES = 1 << 14  # rows of a piece whose scores are kept at once


@dataclass(eq=False)
class LinearModel(Model):
    """The rules of a scheme, one column of weights for each.

    Examples
    --------
    >>> from novikoff.core.updates import perceptron
    >>> model = LinearModel(np.array(["down", "up"]), 1)
    >>> model.learn(np.array([[2.0], [-1.0], [3.0]]), np.array([1, 0, 1]), perceptron())
    array([-1,  0,  1])
    >>> model.predict(np.array([[5.0], [-5.0]]))
    array(['up', 'down'], dtype='<U4')
    """

    radius: float = 0.0  # the largest ‖a_i‖ that has moved a rule, or a larger one, rounded up
    W: Vector = field(init=False)  # (n_features + 1, n_rules): the weights, the biases last
    # The same, Σ t·τ·a_i, if the average over all steps predicts; else (0, n_rules).
    weighted: Vector = field(init=False)

    shapes: ClassVar = {"W": "pK", "weighted": "pK"}
    average_only: ClassVar = ("weighted",)
    negated_on_swap: ClassVar = ("W", "weighted")

    def __post_init__(self, arrays: Mapping[str, Vector] | None) -> None:
        super().__post_init__(arrays)
        if not self.averages:
            self.weighted = np.zeros((0, self.n_rules))

    def prediction_weights(self) -> Vector:
        """The weights that predict: their average over all steps, where it is kept, or W (A9).

        The mean of w after steps 1, …, T is w_T − (1/T)·Σ t·τ_t·a_t over the updates, t counted
        from 0: nothing needs to be done at the steps without an update.
        """
        if not self.averages:
            return self.W
        averaged: Vector = self.W - self.weighted / np.maximum(self.totals[0], 1)
        if not np.isfinite(averaged).all():
            raise ValueError("The averaged weights are beyond float64: scale the data down.")
        return averaged

    def check(self) -> None:
        """Raise ValueError unless weights and counts, as from a file, belong together."""
        if (self.totals[2] > self.totals[1]).any():
            raise ValueError("it counts more mistakes than updates")
        with np.errstate(all="ignore"):
            biases = self.prediction_weights()[-1]
        if not self.fit_intercept and (biases.any() or self.W[-1].any()):
            raise ValueError("its intercept is not zero, though fit_intercept is false")

    def last_scores(self, X: Matrix) -> Vector:
        """⟨w, x⟩ + b."""
        return scores(X, self.W)

    def final_scores(self, X: Matrix) -> Vector:
        """By the weights that predict."""
        return scores(X, self.prediction_weights())

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        own = columns if len(columns) > 0 else slice(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            found: Vector = values.dot(self.W[own]) + self.W[-1]
            if self.averages:
                lag = values.dot(self.weighted[own]) + self.weighted[-1]
                found -= lag / np.maximum(self.totals[0], 1)
            return found

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile or load the kernels of a run, so that clocks can start afterwards."""
        from novikoff.core.training import load_kernels  # here, for those who only predict

        load_kernels(rows, self.scheme, order, trace=trace)

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows until a cycle is clean or a limit is reached: from W on, counts from 0.

        The plan says whether an average is kept, as the model does.
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
        """Look at each row once, in turn: a piece of a stream, as for every `Model`.

        Returns
        -------
        array of int
            The code of the class that w predicted before it learned a row, even where the average
            will predict; −1 for a tie. Rows of weight 0 are right.
        """
        from novikoff.core.counts import check_range
        from novikoff.core.updates import perceptron

        rows = self._check_rows(X)
        touched: Indices | slice = slice(None)
        if not isinstance(X, np.ndarray) and 8 * X.nnz <= self.n_features:
            touched = np.append(np.unique(X.indices), self.n_features)  # no others can change
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
        """Show each row to all rules: what w predicted before, and the counts."""
        from novikoff.core.counts import Counts, trace_buffer
        from novikoff.core.runs import ENTRIES_PER_CALL
        from novikoff.core.sweep import sweep
        from novikoff.core.training import sweep_classes

        epoch = np.arange(rows.n) if sample_weight is None else np.flatnonzero(sample_weight)
        factors = np.empty(0) if sample_weight is None else sample_weight
        unlimited, active = np.iinfo(np.int64).max, np.ones(self.n_rules, dtype=np.bool_)
        stride = min(rows.rows_within(ENTRIES_PER_CALL // self.n_rules), MAX_SCORES)
        before, predicted = np.empty((stride, self.n_rules)), codes.copy()
        none = np.empty((0, self.n_rules), dtype=np.int32)
        counts = Counts(self.totals, none, self.weighted, before, np.zeros(1))
        signed = rows.with_signs(self.sides[codes, 0]).arrays
        unsigned = rows.all_positive().arrays
        for first in range(0, len(epoch), stride):
            part = epoch[first : first + stride]
            if self.n_rules == 1:
                own, w = counts.of_single_rule(), self.W[:, 0]
                sweep(
                    signed, part, 0, len(part), update, factors, w, own, trace_buffer(), unlimited
                )
            else:
                sweep_classes(
                    unsigned, codes, self.sides, part, 0, len(part), update, factors, self.W,
                    counts, active, unlimited,
                )  # fmt: skip
            predicted[part] = self.scheme.choose_alone(before[: len(part)])
        return predicted, counts

    def learn_one(
        self, columns: Indices, values: Vector, code: int, numbers: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example of a class: its scores by W before, and how many rules it moved."""
        before, sides = np.empty(self.W.shape[1]), self.sides[code]
        moved = _single_step()(
            columns, values, sides, self.W, self.weighted, self.totals, numbers, factor, before
        )
        if moved < 0:
            raise ValueError(TOO_LARGE)
        if moved > 0:
            with np.errstate(over="ignore"):
                length = math.sqrt(float(values.dot(values)) + self.fit_intercept)
            self.radius = max(self.radius, length * (1.0 + (len(values) + 5) * 2**-52))
        return before, moved


@cache
def _single_step() -> Callable[..., int]:
    from novikoff.core.training import step_of_every_rule  # here, for those who only predict

    return cast("Callable[..., int]", step_of_every_rule)


class Evaluation(NamedTuple):
    """What the rules of a model make of rows whose classes are known."""

    predicted: Indices  # the class that each row is given
    distances: Vector  # y·f(x)/‖w‖ of each row, for the rule that it is worst at
    margins: Vector  # the least of them for each rule
    confusion: Indices  # rows of each class (down) that are given to each class (across)


def evaluate(model: LinearModel, X: Matrix, codes: Indices) -> Evaluation:
    """Let the rules of a model choose the classes of rows, and measure how far each row is.

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
        with np.errstate(all="ignore"):  # a rule without weights has no hyperplane
            length = largest[k] * np.linalg.norm(W[:, k] / largest[k])
            own = np.where(signs == 0, np.inf, signs * found[:, k] / length)
        margins[k] = own.min(initial=np.inf)
        distances = np.minimum(distances, own)
    predicted = model.scheme.choose(found)
    pairs = np.bincount(codes * n + predicted, minlength=n * n)
    return Evaluation(predicted, distances, margins, pairs.reshape(n, n))
