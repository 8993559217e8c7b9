"""Models that keep arrays of their own, and have a loop of their own.

The p-norm, second-order and kernel perceptrons and the Forgetron are such models. Each is its
formula: how it grows, is trained, and is saved follows from the shapes of its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.model import TOO_LARGE, Labels, Model
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, Signs, SparseMatrix, Vector
from novikoff.core.schemes import Scheme, scheme_for

if TYPE_CHECKING:
    from novikoff.core.counts import Counts, Trace
    from novikoff.core.runs import Advance, Flags, Plan, Run

# Multiplications between two looks at the clock: some tenths of a second.
_WORK_PER_CALL = 1 << 28
# Shows rows, by their numbers, to a rule.
Sweep: TypeAlias = Callable[[int, Indices], None]


@dataclass(eq=False)
class StateModel(Model):
    """Rules that keep arrays, each of which has an axis for every letter of its shape.

    The letters are K, the rules; d, the features; p = d + 1, features and bias; any other letter is
    a length of the model's own. Weights of rows are factors c_i on the steps.
    """

    classes: Labels
    features: int
    fit_intercept: bool
    settings: dict[str, Any]  # the parameters of its formula
    state: dict[str, Vector] = field(default_factory=dict)
    support: Any = None  # the points that rules share, dense or CSR, if they keep any
    averaged: bool = False
    multi_class: str = "ovr"
    totals: Indices = field(init=False)
    scheme: Scheme = field(init=False)
    sides: Signs = field(init=False, repr=False)

    shapes: ClassVar[dict[str, str]]
    wanted: ClassVar[dict[str, Any]]  # of each setting, the least number or the words it may be
    cycles: ClassVar[bool] = False  # whether equal `watched` mean that a run goes round (B8)
    odd: ClassVar[tuple[str, ...]]  # arrays that change their sign with the two sides of a rule

    def __post_init__(self) -> None:
        self.classes = np.unique(np.asarray(self.classes))
        self.scheme = scheme_for(len(self.classes), self.multi_class)
        self.sides = self.scheme.sides
        self.totals = np.zeros((3, self.sides.shape[1]), dtype=np.int64)
        self.state = self.state or self.blank_state()

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        return self.features

    @property
    def averages(self) -> bool:
        """Whether the average over all steps predicts."""
        return self.averaged

    def blank_state(self) -> dict[str, Vector]:
        """The arrays before anything was learned."""
        raise NotImplementedError

    def begin(self, problem: Problem, codes: Indices, weights: Vector, counts: Counts) -> Sweep:
        """The loop over some of these rows, of sign +1.

        It counts updates, and notes in ``counts.beyond`` where it does nothing as a number would
        leave float64.
        """
        raise NotImplementedError

    def finish(self) -> None:
        """Called when the loop has ended."""

    def last_scores(self, X: Floats | SparseMatrix) -> Vector:
        """The scores by which the loop tells a mistake; `scores` may average."""
        raise NotImplementedError

    def work(self, problem: Problem) -> int:
        """The multiplications for one row on which every rule makes a mistake, about."""
        return self.n_rules * problem.longest

    def watched(self) -> Vector:
        """The numbers of each rule, in columns, that must stay finite; a view of the state."""
        raise NotImplementedError

    @classmethod
    def check_settings(cls, settings: dict[str, Any]) -> None:
        """Raise ValueError unless a file's settings are those of the formula."""
        if settings.keys() != cls.wanted.keys():
            raise ValueError(f"its settings are not {', '.join(cls.wanted)}")
        for name, wanted in cls.wanted.items():
            value = settings[name]
            if isinstance(wanted, tuple):
                fits = value in wanted
            else:
                number = isinstance(value, int | float) and not isinstance(value, bool)
                fits = number and wanted <= value < 2.0**1023
            if not fits:
                raise ValueError(f"its setting {name!r} is {str(value)[:80]!r}")

    def check(self) -> None:
        """Raise ValueError unless the arrays, as from a file, belong together."""

    def traces(self) -> list[Trace]:
        """One for each rule, where the loop keeps them."""
        return []

    def scores(self, X: Floats | SparseMatrix) -> Vector:
        """The score of every row by every rule; ValueError if one is beyond float64."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"The rows have {X.shape[1]} features, not {self.n_features}.")
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.final_scores(X)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(f"The score of row {row} is beyond the range of float64.")
        return found

    def final_scores(self, X: Floats | SparseMatrix) -> Vector:
        """`scores`, finite or not."""
        return self.last_scores(X)

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Vector = self.final_scores(self._row(columns, values))[0]
        return scores

    def train(
        self, problem: Problem, codes: Indices, plan: Plan, weights: Vector | None = None
    ) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached."""
        from novikoff.core.runs import ENTRIES_PER_CALL, Run

        run = Run.begin(problem, plan, None, self.n_rules)
        run.counts.totals[:] = self.totals
        visit = self.visits(problem, codes, weights, run.counts, run.active)
        run.W = self.watched()

        def margins(rule: int) -> Vector:
            sides = self.sides[codes, rule]
            own = problem.resigned(sides).taking_part(weights)
            return np.asarray((self.last_scores(problem.X)[:, rule] * sides)[own])

        stride = min(problem.rows_within(ENTRIES_PER_CALL // self.n_rules), 1 << 12)
        stride = min(stride, max(1, _WORK_PER_CALL // max(1, self.work(problem))))
        run.repeat(plan, problem, weights, visit, stride, margins=margins)
        self.totals, run.traces = run.counts.totals, self.traces()
        if not self.cycles:
            run.periods = [None] * self.n_rules
        self.finish()
        return run

    def visits(
        self,
        problem: Problem,
        codes: Indices,
        weights: Vector | None,
        counts: Counts,
        active: Flags,
    ) -> Advance:
        """Shows rows of an epoch to each active rule, but for those of classes not on its sides."""
        factors = np.ones(problem.n) if weights is None else weights
        sweep = self.begin(problem, codes, factors, counts)
        pairs = (self.sides == 0).any()

        def visit(epoch: Indices, first: int, last: int) -> bool:
            for rule in np.flatnonzero(active).tolist():
                own = epoch[first:last]
                own = own[self.sides[codes[own], rule] != 0] if pairs else own
                sweep(rule, own)
                counts.totals[0, rule] += len(own)
            return False

        return visit

    def learn(
        self,
        X: Floats | SparseMatrix,
        codes: npt.NDArray[np.integer],
        *,
        weights: Vector | None = None,
        first: int = 0,
    ) -> None:
        """Look at each row once, in turn; after an exception the model is what it was before."""
        from novikoff.core.counts import Counts, check_range

        problem = pose(X, np.ones(X.shape[0], np.int8), self.fit_intercept, first=first)
        before = self.copy()
        counts = Counts.blank(problem.n, 0, self.n_rules)._replace(totals=self.totals)
        active, epoch = np.ones(self.n_rules, np.bool_), problem.taking_part(weights)
        try:
            visit = self.visits(problem, codes.astype(np.int64), weights, counts, active)
            visit(epoch, 0, len(epoch))
            check_range(self.watched(), counts)
            self.finish()
        except BaseException:
            self.__dict__ = before.__dict__
            raise

    def learn_one(
        self, columns: Indices, values: Vector, code: int, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example: its scores before, and how many rules it moved.

        ValueError, and nothing is done, if a number would leave float64.
        """
        from novikoff.core.counts import Counts
        from novikoff.core.rows import view

        row = self._row(columns, values)
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Vector = self.last_scores(row)[0]
            square = float(values.dot(values))
        if not (np.isfinite(scores).all() and np.isfinite(square)):
            raise ValueError(TOO_LARGE)
        problem = Problem(view(row, np.ones(1, np.int8), self.fit_intercept), square**0.5, 1)
        counts, active = Counts.blank(1, 0, self.n_rules), np.ones(self.n_rules, np.bool_)
        visit = self.visits(problem, np.array([code]), np.array([factor]), counts, active)
        visit(np.zeros(1, np.int64), 0, 1)
        if counts.beyond[0] != 0.0:
            raise ValueError(TOO_LARGE)
        self.totals += counts.totals
        self.finish()
        return scores, int(counts.totals[1].sum())

    def copy(self) -> Self:
        """The same rules, whose arrays are their own."""
        twin = replace(self, state={name: array.copy() for name, array in self.state.items()})
        twin.totals = self.totals.copy()
        return twin

    def with_features(self, n_features: int) -> Self:
        """The same rules for more features, which count for nothing yet, or for fewer."""
        grown = self._like(self.classes, n_features)
        kept = np.arange(min(self.features, n_features))
        for name, array in self.state.items():
            places = {"d": (kept, kept), "p": ([*kept, n_features], [*kept, self.features])}
            axes = [
                places.get(letter, (np.arange(length), np.arange(length)))
                for letter, length in zip(self.shapes[name], array.shape, strict=True)
            ]
            if "d" not in self.shapes[name] and "p" not in self.shapes[name]:
                grown.state[name] = array
            else:
                there, here = (np.ix_(*ends) for ends in zip(*axes, strict=True))
                grown.state[name][there] = array[here]
        grown.totals = self.totals.copy()
        if isinstance(self.support, np.ndarray):
            grown.support = np.zeros((len(self.support), n_features))
            grown.support[:, kept] = self.support[:, kept]
        elif self.support is not None:
            import scipy.sparse as sp  # here, for those whose data is dense

            padding = sp.csr_array((self.support.shape[0], n_features - len(kept)))
            grown.support = sp.csr_array(sp.hstack([self.support[:, kept], padding]))
        return grown

    def with_class(self, label: Hashable) -> Self:
        """The rules with one more class: each rule that lives on keeps its state."""
        grown = self._like(np.array(self.classes_with(label)), self.features)
        grown.support = self.support
        for name, array in self.state.items():
            if self.shapes[name][0] != "K":
                grown.state[name] = array
            elif grown.state[name].shape[1:] != array.shape[1:]:
                grown.state[name] = np.zeros((grown.n_rules, *array.shape[1:]))
        for heir, rule, sign in self.heirs(grown, label):
            grown.totals[:, heir] = self.totals[:, rule]
            for name, array in self.state.items():
                if self.shapes[name][0] == "K":
                    factor = sign if name in self.odd else 1
                    grown.state[name][heir] = factor * array[rule]
        return grown

    def _like(self, classes: Labels, n_features: int) -> Self:
        """A blank model of the same formula."""
        return replace(self, classes=classes, features=n_features, state={}, support=None)

    def _row(self, columns: Indices, values: Vector) -> Vector:
        row = np.zeros((1, self.features))
        row[0, columns if len(columns) > 0 else slice(len(values))] = values
        return row
