"""What every model has: classes, a scheme of binary rules, and counts.

`novikoff.core.linear_model` keeps a column of weights for each rule. A `StateModel` keeps arrays of
its own, and has a loop of its own: the p-norm, second-order and kernel perceptrons, the Forgetron.
Such a model is its formula; how it grows, is trained, and is saved follows from the shapes of its
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, Signs, SparseMatrix, Vector
from novikoff.core.schemes import Scheme, scheme_for
from novikoff.core.voting import Votes

if TYPE_CHECKING:
    from novikoff.core.counts import Counts, Trace
    from novikoff.core.runs import Advance, Flags, Plan, Run

Labels: TypeAlias = npt.NDArray[np.generic]
Finish: TypeAlias = Callable[[], None]

TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."


class Model:
    """The rules of a scheme."""

    classes: Labels  # sorted and different
    scheme: Scheme  # which binary problems the rules belong to, how scores become a class
    sides: Signs  # (n_classes, n_rules): on which side of each rule a class stands
    fit_intercept: bool
    totals: Indices  # (3, n_rules): rows visited, updates and mistakes
    multi_class: str
    votes: list[Votes]  # for each rule, if its earlier selves vote

    @property
    def averages(self) -> bool:
        """Whether the average over all steps predicts."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        raise NotImplementedError

    @property
    def n_rules(self) -> int:
        """The number of binary rules."""
        return int(self.totals.shape[1])

    @property
    def n_updates(self) -> int:
        """Updates made, summed over the rules."""
        return int(self.totals[1].sum())

    @property
    def n_mistakes(self) -> int:
        """Updates on a row that was on the wrong side, summed over the rules."""
        return int(self.totals[2].sum())

    def decisive(self) -> Vector:
        """The weights that predict, the biases last: (n_features + 1, n_rules)."""
        raise AttributeError("The rules are not linear in the features: they have no weights.")

    def scores(self, X: Floats | SparseMatrix) -> Vector:
        """The score of every row by every rule; ValueError if one is beyond float64."""
        raise NotImplementedError

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        raise NotImplementedError

    def with_features(self, n_features: int) -> Self:
        """The same rules for more features, which count for nothing yet, or for fewer."""
        raise NotImplementedError

    def with_class(self, label: Hashable) -> Self:
        """The rules of a scheme with one more class."""
        raise NotImplementedError

    def decision(self, X: Floats | SparseMatrix) -> Vector:
        """The scores as ``decision_function`` returns them."""
        return self.scheme.decision(self.scores(X))

    def predict(self, X: Floats | SparseMatrix) -> Labels:
        """The class of each row; f(x) = 0 is the negative class (A1)."""
        return self.classes[self.scheme.choose(self.scores(X))]

    def classes_with(self, label: Hashable) -> list[str]:
        """The classes and one more; ValueError if it cannot be put in order with them."""
        labels = self.classes.tolist()
        try:
            grown: list[str] = sorted([*labels, cast(str, label)])
        except TypeError:
            grown = []
        if not grown or np.array(grown).tolist() != grown or label != label:
            raise ValueError(f"The label {label!r} cannot be put in order with {labels}.")
        return grown

    def heirs(self, grown: Model, label: Hashable) -> Iterator[tuple[int, int, int]]:
        """Which rules live on among those of ``grown``, with one more class: heir, rule, sign.

        A rule lives on where the old classes stand on its sides, or on the opposite ones.
        """
        rules = {sides.tobytes(): rule for rule, sides in enumerate(self.sides.T)}
        old = grown.sides[[known != label for known in grown.classes.tolist()]]
        for heir, sides in enumerate(old.T):
            for sign in (1, -1):
                rule = rules.get((sign * sides).tobytes())
                if rule is not None:
                    yield heir, rule, sign


@dataclass(eq=False)
class StateModel(Model):
    """Rules that keep arrays, each of which has an axis for every letter of its shape.

    The letters are K, the rules; d, the features; p = d + 1, features and bias; any other letter is
    a length of the model's own. One class against the rest, for more than two.
    """

    classes: Labels
    features: int
    fit_intercept: bool
    settings: dict[str, Any]  # the parameters of its formula
    state: dict[str, Vector] = field(default_factory=dict)
    support: Floats | SparseMatrix | None = None  # the points that rules share, if they keep any
    totals: Indices = field(init=False)
    votes: list[Votes] = field(default_factory=list)
    scheme: Scheme = field(init=False)
    sides: Signs = field(init=False, repr=False)
    averaged: bool = False
    multi_class: str = "ovr"

    shapes: ClassVar[dict[str, str]]
    wanted: ClassVar[dict[str, Any]]  # of each setting, the least number or the words it may be
    cycles: ClassVar[bool] = False  # whether equal `watched` mean that a run goes round (B8)
    odd: ClassVar[tuple[str, ...]]  # arrays that change their sign with the two sides of a rule

    def __post_init__(self) -> None:
        self.classes = np.unique(np.asarray(self.classes))
        self.scheme = scheme_for(len(self.classes), "ovr")
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

    def begin(
        self, problem: Problem, codes: Indices, counts: Counts, active: Flags
    ) -> tuple[Advance, Finish]:
        """The loop over these rows, of sign +1, and what follows when it has ended.

        It leaves rules alone that are not active, counts, and notes in ``counts.beyond`` where it
        does nothing as a number would leave float64.
        """
        raise NotImplementedError

    def last_scores(self, X: Floats | SparseMatrix) -> Vector:
        """The scores by which the loop tells a mistake; `scores` may average."""
        raise NotImplementedError

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

    def train(self, problem: Problem, codes: Indices, plan: Plan) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached."""
        from novikoff.core.runs import ENTRIES_PER_CALL, Run

        run = Run.begin(problem, plan, None, self.n_rules)
        visit, finish = self.begin(problem, codes, run.counts, run.active)
        run.W = self.watched()

        def margins(rule: int) -> Vector:
            return np.asarray(self.last_scores(problem.X)[:, rule] * self.sides[codes, rule])

        stride = min(problem.rows_within(ENTRIES_PER_CALL // self.n_rules), 1 << 12)
        run.repeat(plan, problem, None, visit, stride, margins=margins)
        self.totals, run.traces = run.counts.totals, self.traces()
        if not self.cycles:
            run.periods = [None] * self.n_rules
        finish()
        return run

    def learn(
        self, X: Floats | SparseMatrix, codes: npt.NDArray[np.integer], *, first: int = 0
    ) -> None:
        """Look at each row once, in turn; after an exception the model is what it was before."""
        from novikoff.core.counts import Counts, check_range

        problem = pose(X, np.ones(X.shape[0], np.int8), self.fit_intercept, first=first)
        before = {name: array.copy() for name, array in self.state.items()}, self.totals.copy()
        counts = Counts.blank(problem.n, 0, self.n_rules)._replace(totals=self.totals)
        try:
            visit, finish = self.begin(
                problem, codes.astype(np.int64), counts, np.ones(self.n_rules, np.bool_)
            )
            visit(np.arange(problem.n), 0, problem.n)
            check_range(self.watched(), counts)
            finish()
        except BaseException:
            self.state, self.totals = before
            raise

    def learn_one(self, columns: Indices, values: Vector, code: int) -> tuple[Vector, int]:
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
        counts = Counts.blank(1, 0, self.n_rules)
        visit, finish = self.begin(
            problem, np.array([code]), counts, np.ones(self.n_rules, np.bool_)
        )
        visit(np.zeros(1, np.int64), 0, 1)
        if counts.beyond[0] != 0.0:
            raise ValueError(TOO_LARGE)
        self.totals += counts.totals
        finish()
        return scores, int(counts.totals[1].sum())

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
        return replace(self, classes=classes, features=n_features, state={}, support=None, votes=[])

    def _row(self, columns: Indices, values: Vector) -> Vector:
        row = np.zeros((1, self.features))
        row[0, columns if len(columns) > 0 else slice(len(values))] = values
        return row
