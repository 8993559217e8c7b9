"""The base class of all models but the perceptron's: p-norm, second order, kernel and Forgetron.

A subclass defines how one rule visits rows (`StateModel.rule_loop`, often by `sweeping`). The base
class then provides several classes, warm starts, streams and single examples.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.model import TOO_LARGE, Model
from novikoff.core.orders import Order
from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Mask, Matrix, Vector
from novikoff.core.runs import ENTRIES_PER_CALL, EpochLoop, Plan, Run, repeat
from novikoff.core.sweep import Counts, check_range
from novikoff.core.trace import Trace
from novikoff.core.updates import Update

# A function visit(rule, epoch) that shows the rows with the numbers ``epoch`` to a rule.
RuleVisit: TypeAlias = Callable[[int, Indices], None]

# The clock is read after about this many multiplications, that is, every few tenths of a second.
_WORK_PER_CALL = 1 << 28


class StateModel(Model):
    """A model whose rules have their own kind of update, which its subclass defines.

    ``sample_weight`` has a factor c_i for each row, by which its steps are multiplied.
    """

    # Whether the first of the arrays ``negated_on_swap`` determines all later updates. If it does,
    # and it is the same after two epochs in the same order, the run repeats forever.
    cycles: ClassVar[bool] = False

    # Predicting

    def final_scores(self, X: Matrix) -> Vector:
        """The scores that predict, which are the scores of the last rules."""
        return self.last_scores(X)

    def last_scores(self, X: Matrix) -> Vector:
        """The scores of the last weights, by which the loop recognises a mistake."""
        return scores(X, self.prediction_weights())

    def scores_in_run(self, X: Matrix) -> Vector:
        """The scores of all rows of the present run by its last weights, before `finish`."""
        return self.last_scores(X)

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; see `Model.score_one`."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Vector = self.final_scores(self._row(columns, values))[0]
        return scores

    def _row(self, columns: Indices, values: Vector) -> Vector:
        """One example as a matrix of one row."""
        row = np.zeros((1, self.n_features))
        row[0, columns if len(columns) > 0 else slice(len(values))] = values
        return row

    # Learning

    @abstractmethod
    def rule_loop(
        self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts
    ) -> RuleVisit:
        """Return a loop over some of these rows, whose classes are ``codes``.

        The loop counts its updates in ``counts``. If a number would leave the range of float64, the
        loop sets ``counts.overflow`` to NaN and makes no update.
        """

    def finish(self) -> None:
        """Store the result of a loop in the model, after the loop has ended."""

    def work(self, rows: Rows) -> int:
        """About how many multiplications a row takes if every rule makes a mistake on it."""
        return self.n_rules * rows.longest

    def watched(self) -> Vector:
        """A view of the numbers that must stay finite, with one column for each rule."""
        weights: Vector = getattr(self, self.negated_on_swap[0]).T
        return weights

    def traces(self) -> list[Trace]:
        """The trace of each rule, if the loop records traces."""
        return []

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile the loop of a run, or load it from the cache, by a visit to no row."""
        nothing, counts = np.zeros(0, np.int64), Counts.blank(0, 0, self.n_rules)
        self.rule_loop(Rows.of(rows.X[:0], True), nothing, np.ones(0), counts)(0, nothing)

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached.

        Arrays and counts continue from those of the model.
        """
        run = Run.begin(rows, plan, None, self.n_rules)
        run.counts.totals[:] = self.totals
        visit = self._visit_all(rows, codes, sample_weight, run.counts, run.active)
        run.W = self.watched()

        def margins(rule: int) -> Vector:
            sides = self.sides[codes, rule]
            active = rows.with_signs(sides).active_rows(sample_weight)
            return np.asarray((self.scores_in_run(rows.X)[:, rule] * sides)[active])

        rows_per_call = min(
            rows.rows_within(ENTRIES_PER_CALL // self.n_rules),
            1 << 12,
            max(1, _WORK_PER_CALL // max(1, self.work(rows))),
        )
        loop = EpochLoop(visit, margins, rows_per_call)
        repeat(run, plan, rows.all_positive(), sample_weight, loop)
        self.totals, run.traces = run.counts.totals, self.traces()
        if not self.cycles:
            run.periods = [None] * self.n_rules
        self.finish()
        return run

    def learn(
        self,
        X: Matrix,
        codes: npt.NDArray[np.integer],
        update: Update | None = None,
        *,
        sample_weight: Vector | None = None,
    ) -> Indices | None:
        """Look at each row once, in turn, as a piece of a stream; see `Model.learn`."""
        rows, before = self._check_rows(X), self.copy()
        counts = Counts.blank(rows.n, 0, self.n_rules)._replace(totals=self.totals)
        active = np.ones(self.n_rules, np.bool_)
        epoch = np.arange(rows.n) if sample_weight is None else np.flatnonzero(sample_weight)
        try:
            visit = self._visit_all(rows, codes.astype(np.int64), sample_weight, counts, active)
            visit(epoch, 0, len(epoch))
            check_range(self.watched(), counts)
            self.finish()
        except BaseException:
            self.__dict__ = before.__dict__
            raise
        return None

    def learn_one(
        self, columns: Indices, values: Vector, code: int, update_array: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example; see `Model.learn_one`."""
        row = self._row(columns, values)
        with np.errstate(over="ignore", invalid="ignore"):
            before: Vector = self.last_scores(row)[0]
            square = float(values.dot(values))
        if not (np.isfinite(before).all() and np.isfinite(square)):
            raise ValueError(TOO_LARGE)
        rows = Rows(row, self.fit_intercept, square**0.5, 1)
        counts, active = Counts.blank(1, 0, self.n_rules), np.ones(self.n_rules, np.bool_)
        visit = self._visit_all(rows, np.array([code]), np.array([factor]), counts, active)
        visit(np.zeros(1, np.int64), 0, 1)
        if counts.overflow[0] != 0.0:
            raise ValueError(TOO_LARGE)
        self.totals += counts.totals
        self.finish()
        return before, int(counts.totals[1].sum())

    def _visit_all(
        self,
        rows: Rows,
        codes: Indices,
        sample_weight: Vector | None,
        counts: Counts,
        active: Mask,
    ) -> Callable[[Indices, int, int], None]:
        """Return the `EpochLoop.visit` of a run, which shows rows to the active rules.

        A row is shown to a rule only if the row belongs to the problem of the rule.
        """
        factors = np.ones(rows.n) if sample_weight is None else sample_weight
        visit_rule = self.rule_loop(rows, codes, factors, counts)
        some_left_out = (self.sides == 0).any()

        def visit(epoch: Indices, first: int, last: int) -> None:
            for rule in np.flatnonzero(active).tolist():
                visited = epoch[first:last]
                if some_left_out:
                    visited = visited[self.sides[codes[visited], rule] != 0]
                visit_rule(rule, visited)
                counts.totals[0, rule] += len(visited)

        return visit


def sweeping(
    sweep: Callable[..., None],
    model: StateModel,
    rows: Rows,
    codes: Indices,
    sample_weight: Vector,
    counts: Counts,
) -> RuleVisit:
    """Return the loop of a model (`StateModel.rule_loop`) by the compiled loop of one rule.

    The arguments of the compiled loop are the signed rows, the epoch, ``sample_weight``, the arrays
    of the rule in the order of ``shapes``, and its counts: totals, updates per row and overflow.
    """
    signed = [rows.with_signs(model.sides[codes, k]).arrays for k in range(model.n_rules)]

    def visit(rule: int, epoch: Indices) -> None:
        arrays = (array[rule] for array in model.state.values())
        own_counts = counts.totals[:, rule], counts.per_row[:, rule], counts.overflow
        sweep(signed[rule], epoch, sample_weight, *arrays, *own_counts)

    return visit
