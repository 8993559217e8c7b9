"""A linear classifier as a plain record: it predicts, and it goes on learning from a stream."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.model import TOO_LARGE as TOO_LARGE
from novikoff.core.model import Labels as Labels
from novikoff.core.model import Model
from novikoff.core.problem import Problem, pose, scores
from novikoff.core.rows import Floats, Indices, Signs, SparseMatrix, Vector
from novikoff.core.schemes import Scheme, scheme_for
from novikoff.core.voting import Votes

if TYPE_CHECKING:
    from novikoff.core.counts import Counts
    from novikoff.core.runs import Run
    from novikoff.core.updates import Update

# Rows of a piece whose scores are kept at once.
MAX_SCORES = 1 << 14


@dataclass(eq=False)
class LinearModel(Model):
    """The rules of a scheme, one column of weights for each.

    Examples
    --------
    >>> from novikoff.core.updates import perceptron
    >>> model = LinearModel.blank(["down", "up"], 1)
    >>> model.learn(np.array([[2.0], [-1.0], [3.0]]), np.array([1, 0, 1]), perceptron())
    array([-1,  0,  1])
    >>> model.predict(np.array([[5.0], [-5.0]]))
    array(['up', 'down'], dtype='<U4')
    """

    classes: Labels  # sorted and different
    scheme: Scheme  # which binary problems the rules belong to, how scores become a class
    W: Vector  # (n_features + 1, n_rules): the weights, the biases last
    fit_intercept: bool  # whether the biases move
    weighted: Vector  # the same, Σ t·τ·a_i, if the average over all steps predicts; else (0, …)
    totals: Indices  # (3, n_rules): rows visited, updates and mistakes
    votes: list[Votes] = field(default_factory=list)  # for each rule, if its earlier selves vote
    multi_class: str = "ovr"  # the scheme for more than two classes, or "ovo"
    radius: float = 0.0  # the largest ‖a_i‖ that has moved a rule, or a larger one, rounded up
    sides: Signs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.sides = self.scheme.sides

    @classmethod
    def blank(
        cls,
        classes: npt.ArrayLike,
        n_features: int,
        *,
        fit_intercept: bool = True,
        average: bool = False,
        multi_class: str = "ovr",
    ) -> LinearModel:
        """Zero weights for these classes."""
        labels = np.unique(np.asarray(classes))
        scheme = scheme_for(len(labels), multi_class)
        p, n_rules = n_features + 1, scheme.sides.shape[1]
        W, weighted = np.zeros((p, n_rules)), np.zeros((p if average else 0, n_rules))
        totals = np.zeros((3, n_rules), dtype=np.int64)
        return cls(labels, scheme, W, bool(fit_intercept), weighted, totals, [], multi_class)

    @classmethod
    def trained(
        cls, run: Run, classes: Labels, fit_intercept: bool, multi_class: str = "ovr"
    ) -> LinearModel:
        """The rules that a run ended with."""
        scheme = scheme_for(len(classes), multi_class)
        parts = run.counts.weighted, run.counts.totals
        return cls(classes, scheme, run.W, fit_intercept, *parts, [], multi_class)

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        return len(self.W) - 1

    @property
    def averages(self) -> bool:
        """Whether the average over all steps predicts."""
        return len(self.weighted) > 0

    def decisive(self) -> Vector:
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

    def scores(self, X: Floats | SparseMatrix) -> Vector:
        """The score of every row by every rule; of voters, their shares of the votes.

        Raises
        ------
        ValueError
            If a score is beyond the range of float64.
        """
        if self.votes:
            found: Vector = np.column_stack([votes.shares(X) for votes in self.votes])
        else:
            found = scores(X, self.decisive())
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(f"The score of row {row} is beyond the range of float64.")
        return found

    def learn(
        self,
        X: Floats | SparseMatrix,
        codes: npt.NDArray[np.integer],
        update: Update,
        *,
        weights: Vector | None = None,
        first: int = 0,
    ) -> Indices:
        """Look at each row once, in turn: a piece of a stream (A5).

        Counts, averages and weights go on from piece to piece, so that a stream may be cut
        anywhere. After an exception the model is what it was before. Sparse rows may have fewer
        columns than the model; ``weights`` are factors on the steps, and rows of weight 0 take no
        part; ``first`` is the number of the first row, for messages.

        Returns
        -------
        array of int
            The code of the class that w predicted before it learned a row, even where the average
            will predict; −1 for a tie. Rows of weight 0 are right.
        """
        from novikoff.core.counts import check_range  # here, for those who only predict

        width = X.shape[1]
        touched: Indices | slice = slice(None)  # the weights that these rows can change
        if width > self.n_features or (isinstance(X, np.ndarray) and width < self.n_features):
            raise ValueError(f"The rows have {width} features, but {self.n_features} are expected.")
        if not isinstance(X, np.ndarray):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
            if 8 * X.nnz <= self.n_features:
                touched = np.append(np.unique(X.indices), self.n_features)
        problem = pose(X, np.ones(X.shape[0], dtype=np.int8), self.fit_intercept, first=first)
        codes = codes.astype(np.int64, copy=False)
        parts = (self.W, self.weighted) if self.averages else (self.W,)
        before, totals = [part[touched].copy() for part in parts], self.totals.copy()
        try:
            predicted, counts = self._sweep(
                problem, codes.astype(np.int64, copy=False), update, weights
            )
            check_range(self.W[touched], counts)
        except BaseException:
            self.totals[:] = totals
            for part, kept in zip(parts, before, strict=True):
                part[touched] = kept
            raise
        self.votes, self.radius = [], max(self.radius, problem.radius)
        return predicted

    def _sweep(
        self, problem: Problem, codes: Indices, update: Update, weights: Vector | None
    ) -> tuple[Indices, Counts]:
        from novikoff.core.counts import Counts, blank_tape
        from novikoff.core.runs import ENTRIES_PER_CALL
        from novikoff.core.sweep import sweep
        from novikoff.core.training import sweep_classes

        epoch = np.arange(problem.n) if weights is None else np.flatnonzero(weights)
        factors = np.empty(0) if weights is None else weights
        unlimited, active = np.iinfo(np.int64).max, np.ones(self.n_rules, dtype=np.bool_)
        stride = min(problem.rows_within(ENTRIES_PER_CALL // self.n_rules), MAX_SCORES)
        scores, predicted = np.empty((stride, self.n_rules)), codes.copy()
        none = np.empty((0, self.n_rules), dtype=np.int32)
        counts = Counts(self.totals, none, self.weighted, scores, np.zeros(1))
        signed = problem.resigned(self.sides[codes, 0]).rows
        for first in range(0, len(epoch), stride):
            part = epoch[first : first + stride]
            if self.n_rules == 1:
                own, w = counts.of_single_rule(), self.W[:, 0]
                sweep(
                    signed, part, 0, len(part), update, factors, w, own, blank_tape(), unlimited
                )  # fmt: skip
            else:
                sweep_classes(
                    problem.rows, codes, self.sides, part, 0, len(part), update, factors, self.W,
                    counts, active, unlimited,
                )  # fmt: skip
            predicted[part] = self.scheme.choose_alone(scores[: len(part)])
        return predicted, counts

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        own = columns if len(columns) > 0 else slice(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Vector = values.dot(self.W[own]) + self.W[-1]
            if self.averages:
                lag = values.dot(self.weighted[own]) + self.weighted[-1]
                scores -= lag / np.maximum(self.totals[0], 1)
            return scores

    def with_features(self, n_features: int) -> LinearModel:
        """The same rules for more features, whose weights are 0, or for fewer."""

        def resized(weights: Vector) -> Vector:
            kept = weights[:-1][:n_features]
            blank = np.zeros((n_features - len(kept), self.n_rules))
            return np.vstack([kept, blank, weights[-1:]])

        weighted = resized(self.weighted) if self.averages else self.weighted
        return replace(self, W=resized(self.W), weighted=weighted, totals=self.totals.copy())

    def with_class(self, label: Hashable) -> LinearModel:
        """The rules of a scheme with one more class.

        Rules between old classes keep their weights, rules of the new class start from 0.

        Raises
        ------
        ValueError
            If the label cannot be put in order with the others.
        """
        grown = self.classes_with(label)
        model = LinearModel.blank(
            grown, self.n_features, fit_intercept=self.fit_intercept, average=self.averages,
            multi_class=self.multi_class,
        )  # fmt: skip
        model.radius = self.radius
        for heir, rule, sign in self.heirs(model, label):
            model.W[:, heir] = sign * self.W[:, rule]
            model.weighted[:, heir] = sign * self.weighted[:, rule]
            model.totals[:, heir] = self.totals[:, rule]
        return model


class Judged(NamedTuple):
    """What the rules of a model make of rows whose classes are known."""

    predicted: Indices  # the class that each row is given
    distances: Vector  # y·f(x)/‖w‖ of each row, for the rule that it is worst at
    margins: Vector  # the least of them for each rule
    confusion: Indices  # rows of each class (down) that are given to each class (across)


def judge(model: LinearModel, X: Floats | SparseMatrix, codes: Indices) -> Judged:
    """Let the rules of a model choose the classes of rows, and measure how far each row is.

    Examples
    --------
    >>> model = LinearModel.blank(["down", "up"], 1)
    >>> model.W[:, 0] = 2.0, -2.0
    >>> judge(model, np.array([[3.0], [0.0], [2.0]]), np.array([1, 0, 0]))[1:]
    (array([ 2.,  1., -1.]), array([-1.]), array([[1, 1],
           [0, 1]]))
    """
    found, W, n = model.scores(X), model.decisive()[:-1], len(model.classes)
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
    return Judged(predicted, distances, margins, pairs.reshape(n, n))
