"""What every linear learner can do once it has weights: predict, and tell what they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Self

import numpy as np
import numpy.typing as npt
from numpy import ndarray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from novikoff.core.linear_model import LinearModel
from novikoff.core.rows import Indices, Vector
from novikoff.learners.inputs import (
    LARGEST,
    Example,
    Labels,
    MatrixLike,
    check_rows,
    check_values,
    check_vector,
    pose_unsigned,
)

FLOAT64 = np.dtype(np.float64)
NO_COLUMNS = np.empty(0, dtype=np.int64)
TOO_LARGE = "The score of x, or an update by it, is beyond the range of float64: scale x down."


class LinearLearner(ClassifierMixin, BaseEstimator):
    """The predicting half of a linear classifier: a shell around a `LinearModel`."""

    n_features_in_: int
    _held: LinearModel  # perhaps with room for features to come
    _plain: bool  # whether it is one rule, which predicts as it is
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
    def _model(self) -> LinearModel:
        """The model, with as many features as there are."""
        if self._held.n_features != self.n_features_in_:
            self._hold(self._held.with_features(self.n_features_in_), self._vocabulary)
        return self._held

    def _take(self, model: LinearModel, names: Sequence[str] | None = None) -> None:
        """Be this model from now on, its features perhaps with names."""
        self._hold(model)
        self.n_features_in_ = model.n_features
        self.__dict__.pop("_feature_names", None)
        if names is not None:
            self._feature_names = np.array(names, dtype=object)

    def _hold(self, model: LinearModel, vocabulary: dict[Hashable, int] | None = None) -> None:
        self._held, self._vocabulary = model, vocabulary
        self._labels = model.classes.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}
        self._plain = model.sides.size == 2 and not model.averages and not model.votes

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Be what it was before, if an exception comes."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _become(self, attempt: Self) -> None:
        """Be the copy, on which everything went well."""
        self.__dict__.clear()
        self.__dict__.update(attempt.__dict__)

    @property
    def classes_(self) -> Labels:
        """The labels."""
        return self._fitted("classes_").classes

    @property
    def coef_(self) -> Vector:
        """The weights, of shape (n_rules, n_features)."""
        return self._fitted("coef_").decisive()[:-1].T.copy()

    @property
    def intercept_(self) -> Vector:
        """The biases, of shape (n_rules,)."""
        biases: Vector = self._fitted("intercept_").decisive()[-1].copy()
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
            For two classes, positive for ``classes_[1]``. For one-vs-one, votes. With
            ``average="voted"``, shares of the votes of all rules the run went through.
        """
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
            Labels out of ``classes_``.
        """
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
        try:  # the common case: nothing about it is new; all else is sorted out below
            if self._plain:
                w, (columns, values) = self._held.W[:, 0], self._find(x)
                weights = w[columns] if len(columns) > 0 else w[: len(values)]
                score = values.dot(weights) + w[-1]
                if -LARGEST <= score <= LARGEST:
                    return self._labels[1 if score > 0.0 else 0]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            pass
        if "_held" not in self.__dict__:
            return None
        columns, values = self._locate(x)
        if self._held.votes:
            row = np.zeros((1, self.n_features_in_))
            row[0, columns] = values
            found = self._held.scores(row)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._held.score_one(columns, values)
        if not np.isfinite(found).all():
            raise ValueError(TOO_LARGE)
        return self._labels[min(int(self._held.scheme.choose(found)[0]), len(self._labels) - 1)]

    def _find(self, x: Example) -> tuple[Indices, Vector]:
        """The columns and values of a float64 vector, or of a dict, that has nothing new.

        No columns are those of a vector. Some exception, where there is something new: `_locate`
        and `StreamLearner` have the sentences.
        """
        if isinstance(x, ndarray):
            if x.dtype is FLOAT64 and x.shape == (self.n_features_in_,):
                return NO_COLUMNS, x
        elif isinstance(x, dict) and self._vocabulary is not None and x:
            columns = np.fromiter(map(self._vocabulary.__getitem__, x), np.int64, len(x))
            return columns, np.fromiter(x.values(), np.float64, len(x))
        raise TypeError

    def _fitted(self, name: str) -> LinearModel:
        if "_held" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._model

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        try:
            return self._model.scores(rows)
        except ValueError:
            pose_unsigned(self, rows, True)  # names NaN or infinity, if that is why
            raise

    def _locate(self, x: Example) -> tuple[Indices, Vector]:
        """The columns and values of one example, without features that are not known."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None and hasattr(x, "to_dict"):  # a row of a frame, taken by its names
            named: Mapping[Hashable, float] = x.to_dict()
            x = named if named.keys() == set(names) else x
        if not isinstance(x, Mapping):
            return np.arange(self.n_features_in_), check_vector(x, self.n_features_in_)
        known = self._features()
        found = {feature: value for feature, value in x.items() if feature in known}
        numbered = len(known) > 0 and all(isinstance(feature, Integral) for feature in known)
        if x and not found and numbered and not any(isinstance(f, Integral) for f in x):
            raise ValueError("The features have no names: they are the numbers of the columns.")
        columns = np.fromiter(map(known.__getitem__, found), np.int64, len(found))
        return columns, check_values(found)

    def _features(self) -> dict[Hashable, int]:
        """The column of each feature: by name, or by number where there are no names."""
        if self._vocabulary is None:
            names = self.__dict__.get("_feature_names", range(self.n_features_in_))
            self._vocabulary = {name: column for column, name in enumerate(names)}
        return self._vocabulary
