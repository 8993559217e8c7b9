"""Prediction and the attributes of a fitted model, common to all learners."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from numbers import Integral
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from novikoff.core.linear_model import LinearModel
from novikoff.core.model import TOO_LARGE, Labels, Model
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Vector
from novikoff.learners.inputs import (
    LARGEST,
    Allowed,
    Example,
    MatrixLike,
    check_classes,
    check_example,
    check_parameters,
    check_rows,
    finite_rows,
    values_of,
    vector_of,
)

FLOAT64 = np.dtype(np.float64)
NO_COLUMNS = np.empty(0, dtype=np.int64)
_Found = TypeVar("_Found")


class LinearLearner(ClassifierMixin, BaseEstimator):
    """The predicting half of a classifier that is linear, in features or in a kernel's space."""

    fit_intercept: bool
    multi_class: Literal["ovr", "ovo"]
    n_features_in_: int
    _allowed: ClassVar[Mapping[str, Allowed]]
    _held: Model  # perhaps with room for features to come
    _labels: list[Hashable]
    _codes: dict[Hashable, int]
    _vocabulary: dict[Hashable, int] | None  # the column of each feature, once it was asked for
    _feature_names: npt.NDArray[np.object_]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_held" in self.__dict__

    @property
    def _model(self) -> Model:
        """The model, with as many features as there are."""
        if self._held.n_features != self.n_features_in_:
            self._hold(self._held.with_features(self.n_features_in_), self._vocabulary)
        return self._held

    def _take(self, model: Model, names: Sequence[str] | None = None) -> None:
        """Hold another model, with the names of its features if they have any."""
        self._hold(model)
        self.n_features_in_ = model.n_features
        self.__dict__.pop("_feature_names", None)
        if names is not None:
            self._feature_names = np.array(names, dtype=object)

    def _hold(self, model: Model, vocabulary: dict[Hashable, int] | None = None) -> None:
        self._held, self._vocabulary = model, vocabulary
        self._labels = model.classes.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}

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
        """Check everything; the rows, a blank model, and the class of each row."""
        check_parameters(self, self._allowed)
        rows, classes, codes = check_classes(self, X, y)
        return (
            finite_rows(self, rows, self.fit_intercept),
            self._blank(classes, rows.shape[1]),
            codes,
        )

    def _kind(self) -> type[Model]:
        """The model that it fits."""
        return LinearModel

    def _settings(self, n_features: int) -> dict[str, Any]:
        """The numbers of the model's formula, by the learner's parameters."""
        return {}

    def _blank(self, classes: npt.ArrayLike, n_features: int) -> Model:
        """A model of these classes that has learned nothing."""
        return self._kind()(
            np.asarray(classes),
            n_features,
            self.fit_intercept,
            self._settings(n_features),
            averages=bool(getattr(self, "average", False)),
            multi_class=self.multi_class,
        )

    @property
    def classes_(self) -> Labels:
        """The labels."""
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
        """The names of the features, where all are strings."""
        names: npt.NDArray[np.object_] | None = self.__dict__.get("_feature_names")
        if names is None and self.__dict__.get("_vocabulary"):
            vocabulary = self._features()
            if all(isinstance(feature, str) for feature in vocabulary):
                names = self._feature_names = np.array(list(vocabulary), dtype=object)
        if names is None:
            raise AttributeError("The features have no names.")
        return names

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[np.object_]) -> None:
        self._feature_names = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self.__dict__.pop("_feature_names", None)

    def decision_function(self, X: MatrixLike) -> Vector:
        """The scores f(x), whose sign, or the largest of which, is the predicted class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            For two classes, positive for ``classes_[1]``. For one-vs-one, votes.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, self.decision_function)
        scores = self._scores(X)
        return self._held.scheme.decision(scores)

    def predict(self, X: MatrixLike) -> Labels:
        """The class of each row; f(x) = 0 is the negative class (A1).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            Labels out of ``classes_``; of a Dask collection, a Dask array that is computed later.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, self.predict)
        scores = self._scores(X)
        return self._held.classes[self._held.scheme.choose(scores)]

    def predict_one(self, x: Example) -> Hashable:
        """The class of one example (A5).

        Parameters
        ----------
        x : vector, or dict of feature → value
            Features of a dict that were never seen have no weight.

        Returns
        -------
        label
            None while no class is known.
        """
        if "_held" not in self.__dict__:
            return None
        model, (columns, values) = self._held, self._locate(x)
        if (
            len(self._labels) <= 2 and isinstance(model, LinearModel) and not model.averages
        ):  # in half the time
            w = model.W[:, 0]
            score = values.dot(w[columns] if len(columns) > 0 else w[: len(values)]) + w[-1]
            if -LARGEST <= score <= LARGEST:
                return self._labels[min(int(score > 0.0), len(self._labels) - 1)]
        scores = model.score_one(columns, values)
        if not np.isfinite(scores).all():
            check_example(x)
            raise ValueError(TOO_LARGE)
        return self._labels[int(model.scheme.choose(scores[None, :])[0])]

    def _lazily(self, X: Any, method: Callable[[Any], Any]) -> Any:
        """What a method says of each chunk of a Dask collection, as a Dask array."""
        check_is_fitted(self)
        one = method(np.zeros((1, self.n_features_in_)))  # what a row's answer looks like
        if not hasattr(X, "rechunk"):  # a frame
            return X.map_partitions(method, meta=one[:0])
        X = X.rechunk({1: -1})
        if one.ndim == 1:
            return X.map_blocks(method, meta=one[:0], drop_axis=1)
        return X.map_blocks(method, meta=one[:0], chunks=(X.chunks[0], one.shape[1:]))

    def _fitted(self, name: str) -> Model:
        if "_held" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._model

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        try:
            return self._model.scores(rows)
        except ValueError:
            finite_rows(self, rows, True)  # names NaN or infinity, if that is why
            raise

    def _locate(self, x: Example, new: dict[Hashable, int] | None = None) -> tuple[Indices, Vector]:
        """The columns and values of one example; a score tells if they are not finite.

        No columns are those of a vector, from 0 on. Features of a dict that are not known get their
        columns in ``new``, or are left out.
        """
        if isinstance(x, np.ndarray) and x.dtype is FLOAT64 and x.shape == (self.n_features_in_,):
            return NO_COLUMNS, x  # the common case
        if hasattr(x, "to_dict"):  # a row of a frame, taken by its names
            named = x.to_dict()
            x = named if named.keys() == set(getattr(self, "feature_names_in_", ())) else x
        if not isinstance(x, Mapping):
            vector = vector_of(x)
            if vector.shape != (self.n_features_in_,):
                raise ValueError(
                    f"x has shape {vector.shape}, but {self.n_features_in_} features are expected."
                )
            return NO_COLUMNS, vector
        known = self._features()
        with suppress(KeyError):  # the common case
            return np.fromiter(map(known.__getitem__, x), np.int64, len(x)), values_of(x)
        unknown = [feature for feature in x if feature not in known]
        if new is not None:
            new.update(zip(unknown, count(len(known))))
            columns = [known[feature] if feature in known else new[feature] for feature in x]
            return np.array(columns, dtype=np.int64), values_of(x)
        numbered = len(known) > 0 and all(isinstance(feature, Integral) for feature in known)
        if numbered and not any(isinstance(feature, Integral) for feature in x):
            raise ValueError("The features have no names: they are the numbers of the columns.")
        return self._locate({feature: value for feature, value in x.items() if feature in known})

    def _features(self) -> dict[Hashable, int]:
        """The column of each feature: by name, or by number where there are no names."""
        if self._vocabulary is None:
            names = self.__dict__.get("_feature_names", range(self.n_features_in_))
            self._vocabulary = {name: column for column, name in enumerate(names)}
        return self._vocabulary


def linear(model: Model) -> LinearModel:
    """The model, which is one of weights."""
    return cast(LinearModel, model)


def one_or_each(found: list[_Found]) -> _Found | list[_Found]:
    """One for each rule, or the only one."""
    return found[0] if len(found) == 1 else found
