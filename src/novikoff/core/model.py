"""Models: the binary rules of a scheme, their arrays, and the counts of their updates.

`Model` is the base class. It chooses classes, copies a model, and adds features and classes. It
needs to know only the shapes of the model's arrays. A subclass defines how rows are scored and how
the model learns. `LinearModel` is the model of the perceptron. `novikoff.core.state_model` has the
base class of all other models. `evaluate` measures a linear model on rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import Labels
from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Matrix, Signs, Vector
from novikoff.core.schemes import Scheme, scheme_for
from novikoff.errors import OutOfRangeError

if TYPE_CHECKING:
    from novikoff.core.orders import Order
    from novikoff.core.runs import Plan, Run
    from novikoff.core.updates import Update

TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."


@dataclass(eq=False)
class Model(ABC):
    """The base class of models: the rules of a scheme, with their arrays and counts.

    Each array is an attribute, and ``shapes`` describes its shape. A shape is a word with one
    character for each axis. K is the number of rules, d is the number of features, and p = d + 1 is
    the number of weights including the bias. A digit is the length itself. Any other letter is a
    length that the subclass chooses; the same letter always means the same length.
    """

    classes: Labels  # sorted and distinct
    n_features: int
    fit_intercept: bool = True  # whether the biases may change
    settings: dict[str, Any] = field(default_factory=dict)  # the parameters of the formula
    averages: bool = False  # whether the average over all steps predicts
    multi_class: str = "ovr"  # the scheme for more than two classes: "ovr" or "ovo"
    arrays: InitVar[Mapping[str, Vector] | None] = None  # the arrays to begin with
    support: Any = None  # the points that rules share, dense or CSR, if they keep any
    totals: Indices = field(init=False)  # (3, n_rules): rows visited, updates and mistakes
    scheme: Scheme = field(init=False)  # the rules, and how their scores choose a class
    sides: Signs = field(init=False, repr=False)  # (n_classes, n_rules): the side of each class

    shapes: ClassVar[Mapping[str, str]] = {}
    average_only: ClassVar[tuple[str, ...]] = ()  # arrays that only an average needs
    # Arrays that are multiplied by −1 when the two sides of a rule are exchanged. The first must
    # stay finite.
    negated_on_swap: ClassVar[tuple[str, ...]] = ()
    # A setting is a number with this least value, or one of these values.
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
        """The number of updates, summed over the rules."""
        return int(self.totals[1].sum())

    @property
    def n_mistakes(self) -> int:
        """The number of updates on misclassified rows, summed over the rules."""
        return int(self.totals[2].sum())

    @classmethod
    def names(cls, *, averages: bool) -> list[str]:
        """The names of the arrays, including the arrays for the average if ``averages``."""
        return [name for name in cls.shapes if averages or name not in cls.average_only]

    @property
    def state(self) -> dict[str, Vector]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self.names(averages=self.averages)}

    def blank_arrays(self) -> dict[str, Vector]:
        """The arrays of a model that has learned nothing; zeros, unless a subclass differs."""
        lengths = {"K": self.n_rules, "d": self.n_features, "p": self.n_features + 1}
        return {
            name: np.zeros([lengths[letter] for letter in self.shapes[name]])
            for name in self.names(averages=self.averages)
        }

    @classmethod
    def check_settings(cls, settings: dict[str, Any]) -> None:
        """Raise ValueError if the settings of a model file do not fit the formula."""
        if settings.keys() != cls.allowed_settings.keys():
            raise ValueError(f"its settings must be {', '.join(cls.allowed_settings)}")
        for name, allowed in cls.allowed_settings.items():
            value = settings[name]
            if isinstance(allowed, tuple):
                fits = value in allowed
            else:
                number = isinstance(value, int | float) and not isinstance(value, bool)
                fits = number and allowed <= value < 2.0**1023
            if not fits:
                raise ValueError(f"its setting {name!r} has the wrong value {str(value)[:80]!r}")

    def check(self) -> None:
        """Raise ValueError if the counts and arrays of a file contradict each other."""
        if (self.totals[2] > self.totals[1]).any():
            raise ValueError("it counts more mistakes than updates")

    # Predicting

    def prediction_weights(self) -> Vector:
        """Return the weights that predict, as an array of shape (n_features + 1, n_rules).

        The last row has the biases. Raises AttributeError if the rules are not linear in the
        features.
        """
        raise AttributeError("The rules are not linear in the features: they have no weights.")

    def scores(self, X: Matrix) -> Vector:
        """Return the score of every row by every rule; ValueError if it is beyond float64."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"The rows have {X.shape[1]} features, not {self.n_features}.")
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.final_scores(X)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise OutOfRangeError(f"The score of row {row} is beyond the range of float64.")
        return scores

    @abstractmethod
    def final_scores(self, X: Matrix) -> Vector:
        """The scores that predict, which may be infinite or NaN."""

    @abstractmethod
    def last_scores(self, X: Matrix) -> Vector:
        """The scores of the last weights, by which the loop recognises a mistake."""

    @abstractmethod
    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example, given the values of some columns.

        If ``columns`` is empty, ``values`` are the values of the columns from 0 on.
        """

    def decision(self, X: Matrix) -> Vector:
        """The scores as ``decision_function`` returns them."""
        return self.scheme.decision(self.scores(X))

    def predict(self, X: Matrix) -> Labels:
        """Predict the class of each row; f(x) = 0 means the negative class."""
        return self.classes[self.scheme.choose(self.scores(X))]

    # Learning

    @abstractmethod
    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile the loops of a run, or load them from the cache, before a clock starts."""

    @abstractmethod
    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached.

        ``codes`` has the class of each row. ``sample_weight`` has a factor c_i for each row, by
        which its steps are multiplied; rows whose factor is 0 are left out.
        """

    @abstractmethod
    def learn(
        self,
        X: Matrix,
        codes: npt.NDArray[np.integer],
        update: Update | None = None,
        *,
        sample_weight: Vector | None = None,
    ) -> Indices | None:
        """Look at each row once, in turn, as a piece of a stream.

        Counts and arrays continue from piece to piece, so that a stream may be cut anywhere. After
        an exception the model is what it was before. Sparse rows may have fewer columns than the
        model. ``update`` is the update rule of a linear model. ``sample_weight`` has a factor for
        each row, by which its steps are multiplied; rows whose factor is 0 are left out.
        """

    @abstractmethod
    def learn_one(
        self, columns: Indices, values: Vector, code: int, update_array: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example; return its scores before the update, and the number of updated rules.

        If ``columns`` is empty, ``values`` is a dense vector. ``code`` is the class. The update
        rule of a linear model is ``update_array`` (`novikoff.core.updates.update_as_array`). The
        step is multiplied by ``factor``. If a number would leave the range of float64, ValueError
        is raised and nothing is learned.
        """

    def _check_rows(self, X: Matrix) -> Rows:
        """The rows of X, which must have as many features as the model."""
        width = X.shape[1]
        if width > self.n_features or (isinstance(X, np.ndarray) and width < self.n_features):
            raise ValueError(f"The rows have {width} features, but {self.n_features} are expected.")
        if not isinstance(X, np.ndarray):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        return Rows.of(X, self.fit_intercept)

    # Copying and growing

    def copy(self) -> Self:
        """A model with copies of all arrays."""
        copied = replace(self, arrays={name: array.copy() for name, array in self.state.items()})
        copied.totals = self.totals.copy()
        return copied

    def with_features(self, n_features: int) -> Self:
        """Return the model for more features, with weights 0, or for fewer features."""
        grown = replace(self, n_features=n_features, support=None)
        kept = np.arange(min(self.n_features, n_features))
        # The places along an axis of features, or of weights: in the new array and in the old one.
        new_places = {"d": kept, "p": np.append(kept, n_features)}
        old_places = {"d": kept, "p": np.append(kept, self.n_features)}
        for name, array in self.state.items():
            if not new_places.keys() & {*self.shapes[name]}:
                setattr(grown, name, array)
                continue
            axes = [*zip(self.shapes[name], map(np.arange, array.shape), strict=True)]
            new = [new_places.get(letter, whole) for letter, whole in axes]
            old = [old_places.get(letter, whole) for letter, whole in axes]
            grown.state[name][np.ix_(*new)] = array[np.ix_(*old)]
        grown.totals = self.totals.copy()
        if isinstance(self.support, np.ndarray):
            grown.support = np.zeros((len(self.support), n_features))
            grown.support[:, : len(kept)] = self.support[:, : len(kept)]
        elif self.support is not None:
            import scipy.sparse as sp  # imported here because dense data does not need it

            padding = sp.csr_array((self.support.shape[0], n_features - len(kept)))
            grown.support = sp.csr_array(sp.hstack([self.support[:, : len(kept)], padding]))
        return grown

    def with_class(self, label: Hashable) -> Self:
        """Return the model with one more class.

        Rules between old classes keep their arrays. Rules of the new class have learned nothing.

        Raises
        ------
        ValueError
            If the label cannot be sorted with the others.
        """
        labels = self.classes.tolist()
        try:
            grown_labels: list[str] = sorted([*labels, cast(str, label)])
        except TypeError:
            grown_labels = []
        # Reject NaN, and mixtures of labels that NumPy would turn into text.
        if not grown_labels or np.array(grown_labels).tolist() != grown_labels or label != label:
            raise ValueError(f"The label {label!r} cannot be compared with the labels {labels}.")
        grown = replace(self, classes=np.array(grown_labels))
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
            if new.shape[1:] != old.shape[1:]:  # a length that the subclass chooses has grown
                new = np.zeros((grown.n_rules, *old.shape[1:]))
                setattr(grown, name, np.moveaxis(new, 0, axis))
            for heir, rule, sign in heirs:
                new[heir] = sign * old[rule] if name in self.negated_on_swap else old[rule]
        return grown

    def _heirs(self, grown: Model, label: Hashable) -> Iterator[tuple[int, int, int]]:
        """Yield the rules of ``grown`` that continue a rule of this model.

        Each is a triple: the number of the rule in ``grown``, its number here, and a sign. A rule
        continues another rule if both have all old classes on the same sides (sign 1) or on
        opposite sides (sign −1).
        """
        rules = {sides.tobytes(): rule for rule, sides in enumerate(self.sides.T)}
        old = grown.sides[[known != label for known in grown.classes.tolist()]]
        for heir, sides in enumerate(old.T):
            for sign in (1, -1):
                rule = rules.get((sign * sides).tobytes())
                if rule is not None:
                    yield heir, rule, sign


@dataclass(eq=False)
class LinearModel(Model):
    """The linear rules of a scheme, with one column of weights for each rule.

    The loop is imported when the model learns, so that predicting does not wait for Numba.

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
    # Σ t·τ·a_i over the updates, in the shape of W; without an average the shape is (0, n_rules).
    weighted: Vector = field(init=False)

    shapes: ClassVar = {"W": "pK", "weighted": "pK"}
    average_only: ClassVar = ("weighted",)
    negated_on_swap: ClassVar = ("W", "weighted")

    def __post_init__(self, arrays: Mapping[str, Vector] | None) -> None:
        super().__post_init__(arrays)
        if not self.averages:
            self.weighted = np.zeros((0, self.n_rules))

    def check(self) -> None:
        """Raise ValueError if the weights contradict the counts or ``fit_intercept``."""
        super().check()
        with np.errstate(all="ignore"):
            biases = self.prediction_weights()[-1]
        if not self.fit_intercept and (biases.any() or self.W[-1].any()):
            raise ValueError("its intercept is not zero, though fit_intercept is false")

    # Predicting

    def prediction_weights(self) -> Vector:
        """Return the weights that predict: the average over all steps if it is kept, else W.

        The mean of w after the steps 1, …, T is w_T − (1/T)·Σ t·τ_t·a_t, where the sum is over the
        updates and t counts from 0. A step without an update therefore takes no time.
        """
        if not self.averages:
            return self.W
        averaged: Vector = self.W - self.weighted / np.maximum(self.totals[0], 1)
        if not np.isfinite(averaged).all():
            raise ValueError("The averaged weights are beyond float64: scale the data down.")
        return averaged

    def last_scores(self, X: Matrix) -> Vector:
        """Compute the scores ⟨w, x⟩ + b by the last weights."""
        return scores(X, self.W)

    def final_scores(self, X: Matrix) -> Vector:
        """Compute the scores ⟨w, x⟩ + b by the weights that predict."""
        return scores(X, self.prediction_weights())

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example; see `Model.score_one`."""
        present = columns if len(columns) > 0 else slice(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Vector = values.dot(self.W[present]) + self.W[-1]
            if self.averages:
                lag = values.dot(self.weighted[present]) + self.weighted[-1]
                scores -= lag / np.maximum(self.totals[0], 1)
            return scores

    # Learning

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile the loop of a run, or load it from the cache, before a clock starts."""
        from novikoff.core.runs import compile_loop

        compile_loop(rows, self.scheme, order, trace=trace)

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows until a cycle is clean or a limit is reached.

        The run begins with the weights of the model, and its counts begin with 0. ``plan.average``
        must be equal to ``averages`` of the model.
        """
        from novikoff.core.runs import train

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
            the row, or −1 for a tie. The average is not used, even if it predicts in the end. For a
            row whose factor is 0, the code is the class of the row itself.
        """
        from novikoff.core.runs import learn_piece
        from novikoff.core.sweep import Counts, check_range
        from novikoff.core.updates import perceptron

        rows = self._check_rows(X)
        touched: Indices | slice = slice(None)  # the weights that may change
        if not isinstance(X, np.ndarray) and 8 * X.nnz <= self.n_features:
            touched = np.append(np.unique(X.indices), self.n_features)
        before = {name: array[touched].copy() for name, array in self.state.items()}
        totals = self.totals.copy()
        counts = Counts.blank(0, 0, self.n_rules)
        counts = counts._replace(totals=self.totals, weighted=self.weighted)
        rule = perceptron() if update is None else update
        try:
            predicted = learn_piece(rows, codes, self.scheme, rule, self.W, counts, sample_weight)
            check_range(self.W[touched], counts)
        except BaseException:
            self.totals[:] = totals
            for name, array in before.items():
                self.state[name][touched] = array
            raise
        self.radius = max(self.radius, rows.radius)
        return predicted

    def learn_one(
        self, columns: Indices, values: Vector, code: int, update_array: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example; the scores before are those of the last weights."""
        before, sides = np.empty(self.W.shape[1]), self.sides[code]
        updated = _step_all_rules()(
            columns, values, sides, self.W, self.weighted, self.totals, update_array, factor, before
        )
        if updated < 0:
            raise OutOfRangeError(TOO_LARGE)
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
    """The classification of rows whose classes are known, by the rules of a model."""

    predicted: Indices  # the class that the model predicts for each row
    distances: Vector  # for each row, the least y·f(x)/‖w‖ over the rules
    margins: Vector  # for each rule, the least y·f(x)/‖w‖ over the rows
    confusion: Indices  # the number of rows for each class (down) and predicted class (across)


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
    scores = model.scores(X)
    W = model.prediction_weights()[:-1]
    n = len(model.classes)
    largest = np.abs(W).max(axis=0)
    distances, margins = np.full(len(scores), np.inf), np.full(W.shape[1], np.inf)
    for k, sides in enumerate(model.sides.T):
        signs = sides[codes]
        with np.errstate(all="ignore"):  # zero weights have no hyperplane
            length = largest[k] * np.linalg.norm(W[:, k] / largest[k])
            rule_distances = np.where(signs == 0, np.inf, signs * scores[:, k] / length)
        margins[k] = rule_distances.min(initial=np.inf)
        distances = np.minimum(distances, rule_distances)
    predicted = model.scheme.choose(scores)
    pairs = np.bincount(codes * n + predicted, minlength=n * n)
    return Evaluation(predicted, distances, margins, pairs.reshape(n, n))
