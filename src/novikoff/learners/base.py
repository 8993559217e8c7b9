"""What every linear learner can do once it has weights: predict, and tell what they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import NoReturn, Self

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
    check_vector,
    pose_unsigned,
)

FLOAT64 = np.dtype(np.float64)


class LinearLearner(ClassifierMixin, BaseEstimator):
    """The predicting half of a linear classifier: a shell around a `LinearModel`."""

    n_features_in_: int
    # The model, perhaps with room for features to come, and what `learn_one` looks up.
    _held: LinearModel
    _codes: dict[Hashable, int]
    _labels: list[Hashable]
    _columns: Indices
    _vocabulary: dict[Hashable, int] | None
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
        model = self._held
        if model.n_features != self.n_features_in_:
            model = self._held = model.with_features(self.n_features_in_)
        return model

    def _take(self, model: LinearModel, names: Sequence[str] | None = None) -> None:
        """Be this model from now on, its features perhaps with names."""
        self._hold(model)
        self.n_features_in_ = model.n_features
        self.__dict__.pop("_feature_names", None)
        if names is not None:
            self._feature_names = np.array(names, dtype=object)

    def _hold(self, model: LinearModel) -> None:
        self._held, self._vocabulary = model, None
        self._columns = np.arange(model.n_features)
        self._labels = model.classes.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}

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
        found = self._scores(X)
        return self._model.scheme.decision(found)

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
        found = self._scores(X)
        return self.classes_[self._model.scheme.choose(found)]

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
            model = self._held
            columns, values = self._find(x)
            if model.sides.size == 2 and not model.averages and not model.votes:
                w = model.W[:, 0]
                score = values.dot(w[:-1] if values is x else w[columns]) + w[-1]
                if -LARGEST <= score <= LARGEST:
                    return self._labels[1 if score > 0.0 else 0]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            pass
        return self._predict_carefully(x)

    def _find(self, x: Example) -> tuple[Indices, Vector]:
        """The columns and values of a float64 vector, or of a dict, that has nothing new.

        Some exception, where it has: the careful ways have the sentences.
        """
        if isinstance(x, ndarray):
            if x.dtype is FLOAT64 and x.shape == self._columns.shape:
                return self._columns, x
        elif isinstance(x, dict) and self._vocabulary is not None:
            columns = np.fromiter(map(self._vocabulary.__getitem__, x), np.int64, len(x))
            return columns, np.fromiter(x.values(), np.float64, len(x))
        raise TypeError

    def _predict_carefully(self, x: Example) -> Hashable:
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
            self._refuse(x)
        return self._labels[min(int(self._held.scheme.choose(found)[0]), len(self._labels) - 1)]

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
        if not isinstance(x, Mapping):
            x = _by_name(x, getattr(self, "feature_names_in_", None))
        if not isinstance(x, Mapping):
            return np.arange(self.n_features_in_), check_vector(x, self.n_features_in_)
        vocabulary = self._features()
        known = {feature: value for feature, value in x.items() if feature in vocabulary}
        if len(known) < len(x) and not known and self._by_number(x):
            raise ValueError("The features have no names: they are the numbers of the columns.")
        columns = np.fromiter(map(vocabulary.__getitem__, known), np.int64, len(known))
        return columns, self._values(known)

    def _values(self, x: Mapping[Hashable, float]) -> Vector:
        """The values of a dict, all finite."""
        try:
            values = np.fromiter(x.values(), np.float64, len(x))
        except (TypeError, ValueError, OverflowError):
            self._refuse(x)
        if not np.isfinite(values).all():
            self._refuse(x)
        return values

    def _by_number(self, x: Mapping[Hashable, float]) -> bool:
        """Whether an example names its features where all that are known are numbers."""
        known = self._features()
        numbered = len(known) > 0 and all(isinstance(feature, Integral) for feature in known)
        return numbered and not any(isinstance(feature, Integral) for feature in x)

    def _refuse(self, x: Example) -> NoReturn:
        """Say why an example has no finite score."""
        if isinstance(x, Mapping):
            for feature, value in x.items():
                if not isinstance(value, Real) or not abs(value) <= LARGEST:
                    raise ValueError(f"Feature {feature!r} is {value!r}, not a finite number.")
        raise ValueError(
            "The score of x, or an update by it, is beyond the range of float64: scale x down."
        )

    def _features(self) -> dict[Hashable, int]:
        """The column of each feature: by name, or by number where there are no names."""
        if self._vocabulary is None:
            names = self.__dict__.get("_feature_names", range(self.n_features_in_))
            self._vocabulary = {name: column for column, name in enumerate(names)}
        return self._vocabulary


def _by_name(x: Example, names: npt.NDArray[np.object_] | None) -> Example:
    """A row of a frame, whose entries have the names of the features, as a dict."""
    labelled = getattr(x, "to_dict", None)
    if names is None or not callable(labelled):
        return x
    found: dict[Hashable, float] = labelled()
    return found if found.keys() == set(names) else x
