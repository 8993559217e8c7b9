"""The base class of the estimators: prediction, and the attributes of a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from novikoff.core.class_labels import Labels
from novikoff.core.model import TOO_LARGE, LinearModel, Model
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector
from novikoff.errors import OutOfRangeError
from novikoff.learners.arrays import (
    Example,
    MatrixLike,
    check_example,
    check_rows,
    check_rows_and_labels,
    example_values,
    example_vector,
    finite_rows,
)
from novikoff.learners.parameters import LARGEST, Allowed

FLOAT64 = np.dtype(np.float64)
NO_COLUMNS = np.empty(0, dtype=np.int64)
_Found = TypeVar("_Found")
# Parameters of scikit-learn's linear models that have another name here, or none.
_OTHER_NAMES = {
    "max_iter": ("max_epochs", "max_updates", "max_seconds"),
    "eta0": ("step_size",),
    "tol": ("max_epochs", "max_updates", "max_seconds"),
    "early_stopping": ("max_epochs", "max_updates", "max_seconds"),
}


@dataclass(eq=False)
class Learned:
    """What a learner has learned, and what it remembers for the next example."""

    model: Model  # may have columns in reserve for new features
    grows: bool = False  # whether `learn_one` may add new classes
    # The parameters that were checked last, and the update rule that follows from them.
    checked: tuple[object, Vector] | None = None
    columns: dict[Hashable, int] | None = None  # the column of each feature, when first needed
    labels: list[Hashable] = field(init=False)  # the classes, as Python objects
    codes: dict[Hashable, int] = field(init=False)

    def __post_init__(self) -> None:
        self.labels = self.model.classes.tolist()
        self.codes = {label: code for code, label in enumerate(self.labels)}


class LinearLearner(ClassifierMixin, BaseEstimator):
    """A classifier whose rules are linear in the features, or in the feature space of a kernel.

    This class has the methods that predict. Its subclasses have ``fit``, which makes a model and
    stores it as `Learned`.
    """

    fit_intercept: bool
    multi_class: Literal["ovr", "ovo"]
    n_features_in_: int
    _allowed: ClassVar[Mapping[str, Allowed]]  # the condition on each parameter
    _model_class: ClassVar[type[Model]] = LinearModel
    _learned: Learned | None = None
    _names: list[Hashable] | None = None  # the names of the features, if they have names

    if not TYPE_CHECKING:  # type checkers read the parameters of the subclasses

        def __new__(cls, *_: object, **parameters: object) -> LinearLearner:
            """Reject parameters of scikit-learn's linear models, and name those to use instead."""
            cls._reject_other_names(parameters, TypeError)
            return super().__new__(cls)

        def set_params(self, **parameters: object) -> Self:
            """Set parameters, as scikit-learn does, and reject the same names."""
            self._reject_other_names(parameters, ValueError)
            return super().set_params(**parameters)

    @classmethod
    def _reject_other_names(cls, names: Iterable[str], error: type[Exception]) -> None:
        for name in names:
            if name in _OTHER_NAMES and name not in cls._allowed:
                known = [other for other in _OTHER_NAMES[name] if other in cls._allowed]
                advice = f": use {' or '.join(known)}" if known else ""
                raise error(f"{cls.__name__} has no parameter {name!r}{advice}.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned is not None

    @property
    def model_(self) -> Model:
        """The fitted `novikoff.core.model.Model`: classes, arrays and counts of all rules."""
        return self._fitted("model_")

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Restore all attributes if an exception is raised."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _prepare(self, X: MatrixLike, y: npt.ArrayLike | None) -> tuple[Rows, Model, Indices]:
        """Check parameters, rows and labels; return rows, a blank model, and class codes."""
        check_parameters(self)
        self._names = None
        matrix, labels = check_rows_and_labels(self, X, y, reset=True)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y contains one class only, {classes.tolist()[0]!r}: two classes are needed. If "
                "this is a fold of a cross-validation, shuffle the rows or use StratifiedKFold."
            )
        rows = finite_rows(self, matrix, self.fit_intercept)
        return rows, self._blank(classes, rows.d), codes

    def _settings(self, n_features: int) -> dict[str, Any]:
        """The settings of the model, from the parameters of the learner."""
        return {}

    def _blank(self, classes: npt.ArrayLike, n_features: int) -> Model:
        """A model of these classes before it has learned anything."""
        return self._model_class(
            np.asarray(classes),
            n_features,
            self.fit_intercept,
            self._settings(n_features),
            averages=bool(getattr(self, "average", False)),
            multi_class=self.multi_class,
        )

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        return self._fitted("classes_").classes

    @property
    def coef_(self) -> Vector:
        """The weights, of shape (n_rules, n_features)."""
        return self._fitted("coef_").prediction_weights()[:-1].T.copy()

    @property
    def intercept_(self) -> Vector:
        """The biases, of shape (n_rules,)."""
        biases: Vector = self._fitted("intercept_").prediction_weights()[-1].copy()
        return biases

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of the features, if all of them are strings."""
        if not self._names or not all(isinstance(name, str) for name in self._names):
            raise AttributeError("The features have no names.")
        return np.array(self._names, dtype=object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[np.object_]) -> None:
        self._names = list(names)

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self._names = None

    def decision_function(self, X: MatrixLike) -> Vector:
        """Compute the scores f(x) of rows.

        With two classes, the sign of the score determines the class. With several classes, the
        class with the largest score is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            For two classes, a positive score means ``classes_[1]``. For one-vs-one, a score is the
            number of votes of the class, plus a fraction that decides between equal votes.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, self.decision_function)
        scores = self._scores(X)
        return self.model_.scheme.decision(scores)

    def predict(self, X: MatrixLike) -> Labels:
        """Predict the class of each row; f(x) = 0 means the negative class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            Labels from ``classes_``. If X is a Dask collection, the result is a Dask array, which
            is computed later.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, self.predict)
        scores = self._scores(X)
        return self.model_.classes[self.model_.scheme.choose(scores)]

    def predict_one(self, x: Example) -> Hashable:
        """Predict the class of one example.

        Parameters
        ----------
        x : vector, or dict of feature → value
            The example. Features of a dict that the learner does not know are ignored.

        Returns
        -------
        label
            A label from ``classes_``, or None before any example was learned.
        """
        if self._learned is None:
            return None
        model, labels = self._learned.model, self._learned.labels
        columns, values = self._locate(self._learned, x)
        if len(labels) <= 2 and isinstance(model, LinearModel) and not model.averages:
            w = model.W[:, 0]  # equals the general case below, in half the time
            score = values.dot(w[columns] if len(columns) > 0 else w[: len(values)]) + w[-1]
            if -LARGEST <= score <= LARGEST:
                return labels[min(int(score > 0.0), len(labels) - 1)]
        scores = model.score_one(columns, values)
        if not np.isfinite(scores).all():
            check_example(x)
            raise OutOfRangeError(TOO_LARGE)
        return labels[int(model.scheme.choose(scores[None, :])[0])]

    def _lazily(self, X: Any, method: Callable[[Any], Any]) -> Any:
        """Apply a method to each chunk of a Dask collection; return a Dask array."""
        check_is_fitted(self)
        one = method(np.zeros((1, self.n_features_in_)))  # for the type and shape of an answer
        if not hasattr(X, "rechunk"):  # a data frame
            return X.map_partitions(method, meta=one[:0])
        X = X.rechunk({1: -1})
        if one.ndim == 1:
            return X.map_blocks(method, meta=one[:0], drop_axis=1)
        return X.map_blocks(method, meta=one[:0], chunks=(X.chunks[0], one.shape[1:]))

    def _fitted(self, name: str) -> Model:
        """The model; AttributeError about the attribute ``name`` if nothing is fitted."""
        learned = self._learned
        if learned is None:
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        if learned.model.n_features != self.n_features_in_:
            learned = replace(learned, model=learned.model.with_features(self.n_features_in_))
            self._learned = learned
        return learned.model

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        try:
            return self.model_.scores(rows)
        except ValueError:
            finite_rows(self, rows, True)  # raises an error with row and column if X is not finite
            raise

    def _locate(
        self, learned: Learned, x: Example, new: dict[Hashable, int] | None = None
    ) -> tuple[Indices, Vector]:
        """Return the columns and the values of one example; values may be infinite or NaN.

        A vector has all columns; an empty array of columns stands for all columns. Unknown features
        of a dict get new columns, which are added to ``new``. Without ``new`` they are ignored.
        """
        if isinstance(x, np.ndarray) and x.dtype is FLOAT64 and x.shape == (self.n_features_in_,):
            return NO_COLUMNS, x  # the common case
        if hasattr(x, "to_dict"):  # a row of a data frame, whose features have names
            named = x.to_dict()
            x = named if named.keys() == set(getattr(self, "feature_names_in_", ())) else x
        if not isinstance(x, Mapping):
            vector = example_vector(x)
            if vector.shape != (self.n_features_in_,):
                raise ValueError(
                    f"x has shape {vector.shape}, but {self.n_features_in_} features are expected."
                )
            return NO_COLUMNS, vector
        if learned.columns is None:
            names = range(self.n_features_in_) if self._names is None else self._names
            learned.columns = {name: column for column, name in enumerate(names)}
        known = learned.columns
        with suppress(KeyError):  # the common case
            return np.fromiter(map(known.__getitem__, x), np.int64, len(x)), example_values(x)
        unknown = [feature for feature in x if feature not in known]
        if new is not None:
            new.update(zip(unknown, count(len(known))))
            columns = [known[feature] if feature in known else new[feature] for feature in x]
            return np.array(columns, dtype=np.int64), example_values(x)
        numbered = len(known) > 0 and all(isinstance(feature, Integral) for feature in known)
        if numbered and not any(isinstance(feature, Integral) for feature in x):
            raise ValueError("The features have no names: use column numbers as keys of the dict.")
        return self._locate(learned, {name: value for name, value in x.items() if name in known})


def check_parameters(learner: LinearLearner) -> None:
    """Raise ValueError if a parameter of a learner does not meet its condition."""
    for name, allowed in learner._allowed.items():
        value = getattr(learner, name)
        if not allowed.holds(value):
            kind = type(learner).__name__
            raise ValueError(
                f"The {name!r} parameter of {kind} must be {allowed.words}, not {value!r}."
            )


def store_model(
    learner: LinearLearner,
    model: Model,
    names: Sequence[Hashable] | None = None,
    *,
    grows: bool = False,
) -> None:
    """Store a model in a learner as its fitted model.

    ``names`` are the names of the features, if they have names. If all names are strings, they
    become ``feature_names_in_``. Other names are the keys of dicts that were learned. If the model
    ``grows``, `OnlineLearner.learn_one` may add new classes.
    """
    learner._learned = Learned(model, grows)
    learner.n_features_in_ = model.n_features
    learner._names = None if names is None else list(names)


def names_of(learner: LinearLearner) -> list[Hashable] | None:
    """Return the names of the features of a fitted learner; None if features have numbers only."""
    names = learner._names
    return None if names is None or names == list(range(len(names))) else list(names)


def linear(model: Model) -> LinearModel:
    """Return the model as a `LinearModel`, which it must be."""
    return cast(LinearModel, model)


def one_or_each(results: list[_Found]) -> _Found | list[_Found]:
    """Return a list with one entry for each rule; the entry itself if there is only one rule."""
    return results[0] if len(results) == 1 else results
