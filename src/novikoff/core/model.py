"""A model: the binary rules of a scheme, their arrays, and what they have counted.

How a model is copied, grows by features and classes, and is saved follows from the shapes of its
arrays. `novikoff.core.linear_model` has the model of the perceptron. `novikoff.core.state_model` is
the base of the models with a formula of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import Labels
from novikoff.core.problem import Rows, scores
from novikoff.core.rows import Indices, Matrix, Signs, Vector
from novikoff.core.schemes import Scheme, scheme_for

if TYPE_CHECKING:
    from novikoff.core.orders import Order
    from novikoff.core.runs import Plan, Run
    from novikoff.core.updates import Update

TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."


@dataclass(eq=False)
class Model:
    """The rules of a scheme. Each array is an attribute, and ``shapes`` describes its shape.

    A shape is a word with one letter for each axis: K is the number of rules, d the number of
    features, p = d + 1 the number of features and the bias. A digit is that length. Any other
    letter is a length of the model's own, which is the same wherever the letter stands.
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
    # For each setting, its least value if it is a number, else the values that it may have.
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
        """The names of the arrays, with or without those that only an average needs."""
        return [name for name in cls.shapes if averages or name not in cls.average_only]

    @property
    def state(self) -> dict[str, Vector]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self.names(averages=self.averages)}

    def blank_arrays(self) -> dict[str, Vector]:
        """The arrays of a model that has learned nothing: zeros, unless the formula differs."""
        lengths = {"K": self.n_rules, "d": self.n_features, "p": self.n_features + 1}
        return {
            name: np.zeros([lengths[letter] for letter in self.shapes[name]])
            for name in self.names(averages=self.averages)
        }

    @classmethod
    def check_settings(cls, settings: dict[str, Any]) -> None:
        """Raise ValueError if the settings of a model file do not fit the formula."""
        if settings.keys() != cls.allowed_settings.keys():
            raise ValueError(f"its settings are not {', '.join(cls.allowed_settings)}")
        for name, allowed in cls.allowed_settings.items():
            value = settings[name]
            if isinstance(allowed, tuple):
                fits = value in allowed
            else:
                number = isinstance(value, int | float) and not isinstance(value, bool)
                fits = number and allowed <= value < 2.0**1023
            if not fits:
                raise ValueError(f"its setting {name!r} is {str(value)[:80]!r}")

    def check(self) -> None:
        """Raise ValueError if the arrays, which may come from a file, contradict each other."""

    # Predicting

    def prediction_weights(self) -> Vector:
        """The weights that predict, the biases last: an array of shape (n_features + 1, n_rules).

        AttributeError if the rules are not linear in the features.
        """
        raise AttributeError("The rules are not linear in the features: they have no weights.")

    def scores(self, X: Matrix) -> Vector:
        """The score of every row by every rule; ValueError if a score is beyond float64."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"The rows have {X.shape[1]} features, not {self.n_features}.")
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.final_scores(X)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(f"The score of row {row} is beyond the range of float64.")
        return found

    def final_scores(self, X: Matrix) -> Vector:
        """The scores that predict, which may be infinite or NaN."""
        return self.last_scores(X)

    def last_scores(self, X: Matrix) -> Vector:
        """The scores by which the loop recognises a mistake; `final_scores` may be an average."""
        return scores(X, self.prediction_weights())

    def score_one(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example, given the values of some columns.

        If ``columns`` is empty, ``values`` are the values of the columns from 0 on.
        """
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

    def load(self, rows: Rows, order: Order, *, trace: bool = False) -> None:
        """Compile the loops of a run, or load them from the cache, before a clock starts."""
        raise NotImplementedError

    def train(
        self, rows: Rows, codes: Indices, plan: Plan, sample_weight: Vector | None = None
    ) -> Run:
        """Learn from rows, epoch after epoch, until a cycle is clean or a limit is reached.

        ``codes`` are the classes of the rows. ``sample_weight`` has a factor c_i on the steps of
        each row; rows whose factor is 0 are left out.
        """
        raise NotImplementedError

    def learn(
        self,
        X: Matrix,
        codes: npt.NDArray[np.integer],
        update: Update | None = None,
        *,
        sample_weight: Vector | None = None,
    ) -> Indices | None:
        """Look at each row once, in turn, as a piece of a stream (A5).

        Counts and arrays continue from piece to piece, so that a stream may be cut anywhere. After
        an exception the model is what it was before. Sparse rows may have fewer columns than the
        model. ``update`` is the update rule of linear models. ``sample_weight`` has a factor on the
        steps of each row; rows whose factor is 0 are left out.
        """
        raise NotImplementedError

    def learn_one(
        self, columns: Indices, values: Vector, code: int, numbers: Vector, factor: float = 1.0
    ) -> tuple[Vector, int]:
        """Learn one example: returns its scores before, and how many rules were updated.

        If ``columns`` is empty, ``values`` is a dense vector. ``code`` is the class, ``numbers``
        are the update rule of linear models (`novikoff.core.updates.numbers_of`), and ``factor`` is
        a factor on the step. ValueError, and nothing is learned, if a number would leave the range
        of float64.
        """
        raise NotImplementedError

    def _check_rows(self, X: Matrix) -> Rows:
        """The rows of X, which must have as many features as the model."""
        width = X.shape[1]
        if width > self.n_features or (isinstance(X, np.ndarray) and width < self.n_features):
            raise ValueError(f"The rows have {width} features, but {self.n_features} are expected.")
        if not isinstance(X, np.ndarray):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        return Rows.of(X, self.fit_intercept)

    def _row(self, columns: Indices, values: Vector) -> Vector:
        """One example as a matrix of one row."""
        row = np.zeros((1, self.n_features))
        row[0, columns if len(columns) > 0 else slice(len(values))] = values
        return row

    # Copying and growing

    def copy(self) -> Self:
        """A model with copies of all arrays."""
        copied = replace(self, arrays={name: array.copy() for name, array in self.state.items()})
        copied.totals = self.totals.copy()
        return copied

    def with_features(self, n_features: int) -> Self:
        """The rules for more features, whose weights are 0, or for fewer features."""
        grown = replace(self, n_features=n_features, support=None)
        n_kept = min(self.n_features, n_features)
        kept, whole = (slice(n_kept), slice(n_kept)), (slice(None), slice(None))
        bias = slice(n_features, None), slice(self.n_features, None)
        places = {"d": [kept], "p": [kept, bias]}  # (new, old) slices along an axis
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
            import scipy.sparse as sp  # imported here because dense data does not need it

            padding = sp.csr_array((self.support.shape[0], n_features - n_kept))
            grown.support = sp.csr_array(sp.hstack([self.support[:, :n_kept], padding]))
        return grown

    def with_class(self, label: Hashable) -> Self:
        """The rules of a scheme with one more class.

        Rules between old classes keep their arrays. Rules of the new class have learned nothing.

        Raises
        ------
        ValueError
            If the label cannot be sorted with the others.
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
            if new.shape[1:] != old.shape[1:]:  # a length of the model's own that has grown
                new = np.zeros((grown.n_rules, *old.shape[1:]))
                setattr(grown, name, np.moveaxis(new, 0, axis))
            for heir, rule, sign in heirs:
                new[heir] = sign * old[rule] if name in self.negated_on_swap else old[rule]
        return grown

    def _heirs(self, grown: Model, label: Hashable) -> Iterator[tuple[int, int, int]]:
        """The rules of ``grown`` that continue a rule: (number in ``grown``, number here, sign).

        A rule continues where the old classes are on the same sides (sign 1), or all of them on
        the opposite sides (sign −1).
        """
        rules = {sides.tobytes(): rule for rule, sides in enumerate(self.sides.T)}
        old = grown.sides[[known != label for known in grown.classes.tolist()]]
        for heir, sides in enumerate(old.T):
            for sign in (1, -1):
                rule = rules.get((sign * sides).tobytes())
                if rule is not None:
                    yield heir, rule, sign
