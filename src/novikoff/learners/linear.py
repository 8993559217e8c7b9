"""What every linear learner can do once it has weights: predict, and tell what they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import count
from numbers import Integral, Real
from typing import NoReturn

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError
from numpy import ndarray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from novikoff.core.margins import scores
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.learners.inputs import (
    Example,
    Labels,
    MatrixLike,
    check_rows,
    check_vector,
    pose_unsigned,
)
from novikoff.learners.online import Rules, score_dense, score_sparse
from novikoff.learners.threads import effective_threads
from novikoff.learners.voting import Votes

FLOAT64 = np.dtype(np.float64)
MOST = float(np.finfo(np.float64).max)
# How an example shows that it is not a vector of float64.
UNFIT = (AttributeError, TypeError, NumbaError)


class LinearLearner(ClassifierMixin, BaseEstimator):
    """The predicting half of a linear classifier; its weights are in ``_rules``."""

    fit_intercept: bool
    n_jobs: int | None
    classes_: Labels
    n_features_in_: int
    _rules: Rules
    _votes: list[Votes]
    _codes: dict[Hashable, int]
    _labels: list[Hashable]
    _vocabulary: dict[Hashable, int] | None
    _feature_names: npt.NDArray[np.object_]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_rules" in self.__dict__

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
        return self._rules.scheme.decision(found)

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
        return self.classes_[self._rules.scheme.choose(found)]

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
        try:  # the common case: a float64 vector that fits; all else is sorted out below
            rules = self._rules
            if isinstance(x, ndarray) and x.dtype is FLOAT64 and rules.plain:
                score = score_dense(x, rules.exact)
                if score > 0.0:
                    return self._labels[1]
                if score <= 0.0:
                    return self._labels[0]
        except UNFIT:
            pass
        return self._predict_carefully(x)

    def _predict_carefully(self, x: Example) -> Hashable:
        if "_rules" not in self.__dict__:
            return None
        rules = self._rules
        columns, values = self._locate(x, grow=False)
        if rules.plain:
            score = score_sparse(columns, values, rules.w)
            if score == score:
                return self._labels[score > 0.0]
            self._refuse(x)
        if self._votes:
            row = np.zeros((1, self.n_features_in_))
            row[0, columns] = values
            found = self._scores_of(row)
        else:
            found = rules.score(columns, values)
        if not np.isfinite(found).all():
            self._refuse(x)
        return self._labels[min(int(rules.scheme.choose(found)[0]), len(self._labels) - 1)]

    def _fitted(self, name: str) -> Rules:
        if "_rules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._rules

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        return self._scores_of(check_rows(self, X, reset=False))

    def _scores_of(self, X: Floats | SparseMatrix) -> Vector:
        threads = effective_threads(self.n_jobs)
        problem = pose_unsigned(self, X, self._rules.bias > 0.0, threads)
        if self._votes:
            found: Vector = np.column_stack([votes.shares(X) for votes in self._votes])
        else:
            found = scores(problem, self._rules.decisive(), threads)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise ValueError(f"The score of row {row} is beyond the range of float64.")
        return found

    def _name_classes(self, classes: Labels) -> None:
        self.classes_ = classes
        self._labels = classes.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}

    def _locate(self, x: Example, *, grow: bool) -> tuple[Indices, Vector]:
        """The columns and values of one example; a dict may bring new features."""
        if not isinstance(x, Mapping):
            x = _by_name(x, getattr(self, "feature_names_in_", None))
        if not isinstance(x, Mapping):
            return np.arange(self.n_features_in_), check_vector(self, x)
        if grow:
            return self._grow(x)
        found = self._find(x)
        if found is not None:
            return found
        vocabulary = self._features()
        known = {feature: x[feature] for feature in x if feature in vocabulary}
        if not known and self._by_number(x):
            raise ValueError("The features have no names: they are the numbers of the columns.")
        return self._locate(known, grow=False)

    def _find(self, x: Mapping[Hashable, float]) -> tuple[Indices, Vector] | None:
        """The columns and values of a dict, None if it has features that are not known."""
        try:
            values = np.fromiter(x.values(), np.float64, len(x))
            columns = np.fromiter(map(self._features().__getitem__, x), np.int64, len(x))
        except KeyError:
            return None
        except (TypeError, ValueError, OverflowError):
            self._refuse(x)
        return columns, values

    def _grow(self, x: Mapping[Hashable, float]) -> tuple[Indices, Vector]:
        """The columns and values of a dict, whose features are all known from now on."""
        vocabulary = self._features()
        try:
            values = np.fromiter(x.values(), np.float64, len(x))
        except (TypeError, ValueError, OverflowError):
            self._refuse(x)
        if not np.isfinite(values).all():
            self._refuse(x)
        vocabulary.update(zip((f for f in x if f not in vocabulary), count(len(vocabulary))))
        if len(vocabulary) > self.n_features_in_:
            self._rules.add_features(len(vocabulary))
            self.n_features_in_ = len(vocabulary)
            self.__dict__.pop("_feature_names", None)
        return np.fromiter(map(vocabulary.__getitem__, x), np.int64, len(x)), values

    def _by_number(self, x: Mapping[Hashable, float]) -> bool:
        """Whether an example names its features where all that are known are numbers."""
        known = self._features()
        numbered = len(known) > 0 and all(isinstance(feature, Integral) for feature in known)
        return numbered and not any(isinstance(feature, Integral) for feature in x)

    def _refuse(self, x: Example) -> NoReturn:
        """Say why an example has no finite score."""
        if isinstance(x, Mapping):
            for feature, value in x.items():
                if not isinstance(value, Real) or not abs(value) <= MOST:
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
