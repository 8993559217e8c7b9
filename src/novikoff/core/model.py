"""A model: the rules of a scheme, the arrays that they keep, and what they have counted.

How a model grows, is copied, goes on from a stream and is saved follows from the shapes of its
arrays. `novikoff.core.linear_model` is the perceptron's; the others have a loop of their own, and
each is its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Matrix, Signs, Vector
from novikoff.core.schemes import Scheme, scheme_for

if TYPE_CHECKING:
    from novikoff.core.counts import Counts, Trace
    from novikoff.core.orders import Order
    from novikoff.core.runs import Advance, Flags, Plan, Run
    from novikoff.core.updates import Update

Labels: TypeAlias = npt.NDArray[np.generic]
# Shows rows, by their numbers, to a rule.
Sweep: TypeAlias = Callable[[int, Indices], None]

TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."
# Multiplications between two looks at the clock: some tenths of a second.
_WORK_PER_CALL = 1 << 28


@dataclass(eq=False)
class Model:
    """The rules of a scheme; each of their arrays is an attribute, described by ``shapes``.

    An array has an axis for every letter of its shape: K, the rules; d, the features; p = d + 1,
    features and bias; a digit is that length; any other letter is a length of the model's own, the
    same wherever the letter stands. Weights of rows are factors c_i on the steps.
    """

    classes: Labels  # sorted and different
    n_features: int
    fit_intercept: bool = True  # whether the biases move
    settings: dict[str, Any] = field(default_factory=dict)  # the parameters of its formula
    averages: bool = False  # whether the average over all steps predicts
    multi_class: str = "ovr"  # the scheme for more than two classes, or "ovo"
    arrays: InitVar[Mapping[str, Vector] | None] = None  # those before anything was learned
    support: Any = None  # the points that rules share, dense or CSR, if they keep any
    totals: Indices = field(init=False)  # (3, n_rules): rows visited, updates and mistakes
    scheme: Scheme = field(init=False)  # which problems the rules belong to, how scores choose
    sides: Signs = field(init=False, repr=False)  # (n_classes, n_rules): the side of each class

    shapes: ClassVar[Mapping[str, str]] = {}
    average_only: ClassVar[tuple[str, ...]] = ()  # arrays that only an average needs
    # Arrays that are multiplied by −1 when the two sides of a rule are exchanged. The first must
    # stay finite.
    negated_on_swap: ClassVar[tuple[str, ...]] = ()
    cycles: ClassVar[bool] = False  # whether a run goes round where the first repeats (B8)
    # The least value of each setting that is a number, or the values that it may have.
    allowed_settings: ClassVar[Mapping[str, Any]] = {}

    def __post_init__(self, arrays: Mapping[str, Vector] | None) -> None:
        self.classes = np.unique(np.asarray(self.classes))
        self.fit_intercept = bool(self.fit_intercept)
        self.scheme = scheme_for(len(self.classes), self.multi_class)
        self.sides = self.scheme.sides
        self.totals = np.zeros((3, self.sides.shape[1]), dtype=np.int64)
        for name, array in (self.blank_arrays() if arrays is None else arrays).items():
            setattr(self, name, array)

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

    @classmethod
    def names(cls, *, averages: bool) -> list[str]:
        """The arrays that there are, with an average or without."""
        return [name for name in cls.shapes if averages or name not in cls.average_only]

    @property
    def state(self) -> dict[str, Vector]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self.names(averages=self.averages)}

    def blank_arrays(self) -> dict[str, Vector]:
        """The arrays before anything was learned: zeros, unless the formula has others."""
        lengths = {"K": self.n_rules, "d": self.n_features, "p": self.n_features + 1}
        return {
            name: np.zeros([lengths[letter] for letter in self.shapes[name]])
            for name in self.names(averages=self.averages)
        }

    @classmethod
    def check_settings(cls, settings: dict[str, Any]) -> None:
        """Raise ValueError unless a file's settings are those of the formula."""
        if settings.keys() != cls.allowed_settings.keys():
            raise ValueError(f"its settings are not {', '.join(cls.allowed_settings)}")
        for name, wanted in cls.allowed_settings.items():
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

    # Predicting

    def prediction_weights(self) -> Vector:
        """The weights that predict, the biases last: (n_features + 1, n_rules)."""
        raise AttributeError("The rules are not linear in the features: they have no weights.")

    def scores(self, X: Matrix) -> Vector:
        """The score of every row by every rule; ValueError if one is beyond float64."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"The rows have {X.shape[1]} features, not {self.n_features}.")
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.final_scores(X)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(f"The score of row {row} is beyond the range of float64.")
        return found

    def final_scores(self, X: Matrix) -> Vector:
        """`scores`, finite or not."""
        return self.last_scores(X)

    def last_scores(self, X: Matrix) -> Vector:
        """The scores by which the loop tells a mistake; `scores` may average."""
        return scores(X, self.prediction_weights())

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; no columns are those of a vector, from 0 on."""
        with np.errstate(over="ignore", invalid="ignore"):
            found: Vector = self.final_scores(self._row(columns, values))[0]
        return found

    def decision(self, X: Matrix) -> Vector:
        """The scores as ``decision_function`` returns them."""
        return self.scheme.decision(self.scores(X))

    def predict(self, X: Matrix) -> Labels:
        """The class of each row; f(x) = 0 is the negative class (A1)."""
        return self.classes[self.scheme.choose(self.scores(X))]

    # Learning

    def begin(self, rows: Rows, codes: Indices, sample_weight: Vector, counts: Counts) -> Sweep:
        """The loop over some of these rows.

        It counts updates, and notes in ``counts.overflow`` where it does nothing as a number would
        leave float64.
        """
        signed = [rows.with_signs(self.sides[codes, k]).arrays for k in range(self.n_rules)]

        def sweep(rule: int, epoch: Indices) -> None:
            own = (array[rule] for array in self.state.values())
            tallies = counts.totals[:, rule], counts.per_row[:, rule], counts.overflow
            self.sweep_rule(signed[rule], epoch, sample_weight, *own, *tallies)

        return sweep

    def sweep_rule(self, *arguments: Any) -> None:
        """Run the compiled loop of one rule: rows, epoch, sample_weight, its arrays and counts."""
        raise TypeError(f"A {type(self).__name__} does not learn row by row.")

    def finish(self) -> None:
        """Called when the loop has ended."""

    def work(self, rows: Rows) -> int:
        """The multiplications for one row on which every rule makes a mistake, about."""
        return self.n_rules * rows.longest

    def watched(self) -> Vector:
        """The numbers of each rule, in columns, that must stay finite; a view of the arrays."""
        found: Vector = getattr(self, self.negated_on_swap[0]).T
        return found

    def traces(self) -> list[Trace]:
        """One for each rule, where the loop keeps them."""
        return []

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile or load the kernels of a run, so that clocks can start afterwards."""
        from novikoff.core.counts import Counts

        none, nothing = Rows.of(rows.X[:0], True), np.zeros(0, np.int64)
        self.begin(none, nothing, np.ones(0), Counts.blank(0, 0, self.n_rules))(0, nothing)

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached."""
        from novikoff.core.runs import ENTRIES_PER_CALL, Run

        run = Run.begin(rows, plan, None, self.n_rules)
        run.counts.totals[:] = self.totals
        visit = self._visits(rows, codes, sample_weight, run.counts, run.active)
        run.W = self.watched()

        def margins(rule: int) -> Vector:
            sides = self.sides[codes, rule]
            own = rows.with_signs(sides).active_rows(sample_weight)
            return np.asarray((self.last_scores(rows.X)[:, rule] * sides)[own])

        stride = min(rows.rows_within(ENTRIES_PER_CALL // self.n_rules), 1 << 12)
        stride = min(stride, max(1, _WORK_PER_CALL // max(1, self.work(rows))))
        run.repeat(
            plan,
            rows.all_positive(),
            sample_weight,
            visit,
            stride,
            margins=margins,
        )
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
        """Look at each row once, in turn: a piece of a stream (A5).

        Counts and arrays go on from piece to piece, so that a stream may be cut anywhere. After an
        exception the model is what it was before. Sparse rows may have fewer columns than the
        model. ``update`` is the update rule of linear models. ``sample_weight`` has a factor on the
        steps of each row; rows whose factor is 0 are left out.
        """
        from novikoff.core.counts import Counts, check_range

        rows, before = self._check_rows(X), self.copy()
        counts = Counts.blank(rows.n, 0, self.n_rules)._replace(totals=self.totals)
        active = np.ones(self.n_rules, np.bool_)
        epoch = np.arange(rows.n) if sample_weight is None else np.flatnonzero(sample_weight)
        try:
            visit = self._visits(rows, codes.astype(np.int64), sample_weight, counts, active)
            visit(epoch, 0, len(epoch))
            check_range(self.watched(), counts)
            self.finish()
        except BaseException:
            self.__dict__ = before.__dict__
            raise
        return None

    def _check_rows(self, X: Matrix) -> Rows:
        """The rows of X, which must have as many features as the model."""
        width = X.shape[1]
        if width > self.n_features or (isinstance(X, np.ndarray) and width < self.n_features):
            raise ValueError(f"The rows have {width} features, but {self.n_features} are expected.")
        if not isinstance(X, np.ndarray):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        return Rows.of(X, self.fit_intercept)

    def _visits(
        self,
        rows: Rows,
        codes: Indices,
        sample_weight: Vector | None,
        counts: Counts,
        active: Flags,
    ) -> Advance:
        """Shows rows of an epoch to each active rule, but for those of classes not on its sides."""
        factors = np.ones(rows.n) if sample_weight is None else sample_weight
        sweep = self.begin(rows, codes, factors, counts)
        pairs = (self.sides == 0).any()

        def visit(epoch: Indices, first: int, last: int) -> bool:
            for rule in np.flatnonzero(active).tolist():
                own = epoch[first:last]
                own = own[self.sides[codes[own], rule] != 0] if pairs else own
                sweep(rule, own)
                counts.totals[0, rule] += len(own)
            return False

        return visit

    def learn_one(
        self, columns: Indices, values: Vector, code: int, numbers: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example of a class: its scores before, and how many rules it moved.

        Empty ``columns`` mean a dense vector; ``numbers`` are the update of linear models
        (`novikoff.core.updates.numbers_of`), ``factor`` is one on the step. ValueError, and nothing
        is done, if a number would leave float64.
        """
        from novikoff.core.counts import Counts

        row = self._row(columns, values)
        with np.errstate(over="ignore", invalid="ignore"):
            before: Vector = self.last_scores(row)[0]
            square = float(values.dot(values))
        if not (np.isfinite(before).all() and np.isfinite(square)):
            raise ValueError(TOO_LARGE)
        rows = Rows(row, self.fit_intercept, square**0.5, 1)
        counts, active = Counts.blank(1, 0, self.n_rules), np.ones(self.n_rules, np.bool_)
        visit = self._visits(rows, np.array([code]), np.array([factor]), counts, active)
        visit(np.zeros(1, np.int64), 0, 1)
        if counts.overflow[0] != 0.0:
            raise ValueError(TOO_LARGE)
        self.totals += counts.totals
        self.finish()
        return before, int(counts.totals[1].sum())

    def _row(self, columns: Indices, values: Vector) -> Vector:
        row = np.zeros((1, self.n_features))
        row[0, columns if len(columns) > 0 else slice(len(values))] = values
        return row

    # Copying and growing

    def copy(self) -> Self:
        """The same rules, whose arrays are their own."""
        copied = replace(self, arrays={name: array.copy() for name, array in self.state.items()})
        copied.totals = self.totals.copy()
        return copied

    def with_features(self, n_features: int) -> Self:
        """The same rules for more features, which count for nothing yet, or for fewer."""
        grown = replace(self, n_features=n_features, support=None)
        n_kept = min(self.n_features, n_features)
        kept, whole = (slice(n_kept), slice(n_kept)), (slice(None), slice(None))
        bias = slice(n_features, None), slice(self.n_features, None)
        places = {"d": [kept], "p": [kept, bias]}  # along each axis: there, and here
        for name, array in self.state.items():
            if not places.keys() & {*self.shapes[name]}:
                setattr(grown, name, array)
                continue
            for part in product(*(places.get(letter, [whole]) for letter in self.shapes[name])):
                there, here = zip(*part, strict=True)
                grown.state[name][there] = array[here]
        grown.totals = self.totals.copy()
        if isinstance(self.support, np.ndarray):
            grown.support = np.zeros((len(self.support), n_features))
            grown.support[:, :n_kept] = self.support[:, :n_kept]
        elif self.support is not None:
            import scipy.sparse as sp  # here, for those whose data is dense

            padding = sp.csr_array((self.support.shape[0], n_features - n_kept))
            grown.support = sp.csr_array(sp.hstack([self.support[:, :n_kept], padding]))
        return grown

    def with_class(self, label: Hashable) -> Self:
        """The rules of a scheme with one more class.

        Rules between old classes keep their arrays, rules of the new class have learned nothing.

        Raises
        ------
        ValueError
            If the label cannot be put in order with the others.
        """
        labels = self.classes.tolist()
        try:
            more: list[str] = sorted([*labels, cast(str, label)])
        except TypeError:
            more = []
        if not more or np.array(more).tolist() != more or label != label:
            raise ValueError(f"The label {label!r} cannot be put in order with {labels}.")
        grown = replace(self, classes=np.array(more))
        grown.support = self.support
        heirs = list(self._heirs(grown, label))
        for heir, rule, _ in heirs:
            grown.totals[:, heir] = self.totals[:, rule]
        for name, array in self.state.items():
            axis = self.shapes[name].find("K")
            if axis < 0:
                setattr(grown, name, array)
                continue
            old, new = np.moveaxis(array, axis, 0), np.moveaxis(grown.state[name], axis, 0)
            if new.shape[1:] != old.shape[1:]:  # a length of the model's own, which has grown
                new = np.zeros((grown.n_rules, *old.shape[1:]))
                setattr(grown, name, np.moveaxis(new, 0, axis))
            for heir, rule, sign in heirs:
                new[heir] = sign * old[rule] if name in self.negated_on_swap else old[rule]
        return grown

    def _heirs(self, grown: Model, label: Hashable) -> Iterator[tuple[int, int, int]]:
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
