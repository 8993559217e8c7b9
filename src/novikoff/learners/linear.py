"""What every linear learner can do once it has weights: predict, and tell what they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from joblib import effective_n_jobs
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
from novikoff.learners.online import Rules, score_dense
from novikoff.learners.voting import Votes

FLOAT64 = np.dtype(np.float64)


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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_rules" in self.__dict__

    @property
    def coef_(self) -> Vector:
        """The weights, of shape (n_rules, n_features)."""
        return self._rules.decisive()[:-1].T

    @property
    def intercept_(self) -> Vector:
        """The biases, of shape (n_rules,)."""
        intercepts: Vector = self._rules.decisive()[-1]
        return intercepts

    @property
    def n_updates_(self) -> int:
        """Updates made, summed over the binary problems."""
        return int(self._rules.tally[1].sum())

    @property
    def n_mistakes_(self) -> int:
        """Updates made on a row that was on the wrong side, y·f(x) ≤ 0."""
        return int(self._rules.tally[2].sum())

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
        rules: Rules | None = self.__dict__.get("_rules")
        if rules is None:
            return None
        if rules.plain and type(x) is np.ndarray and x.dtype is FLOAT64 and x.ndim == 1:
            score = score_dense(x, rules.w)
            if score - score == 0.0:
                return self._labels[score > 0.0]
        columns, values = self._locate(x, grow=False)
        if self._votes:
            row = np.zeros((1, self.n_features_in_))
            row[0, columns] = values
            found = self._scores_of(row)
        else:
            found = rules.score(columns, values)
        if not np.isfinite(found).all():
            raise ValueError("The score of x is beyond the range of float64.")
        return self._labels[min(int(rules.scheme.choose(found)[0]), len(self._labels) - 1)]

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        return self._scores_of(check_rows(self, X, reset=False))

    def _scores_of(self, X: Floats | SparseMatrix) -> Vector:
        threads = effective_n_jobs(self.n_jobs)
        problem = pose_unsigned(self, X, self.fit_intercept, threads)
        if self._votes:
            return np.column_stack([votes.shares(X) for votes in self._votes])
        return scores(problem, self._rules.decisive(), threads)

    def _name_classes(self, classes: Labels) -> None:
        self.classes_ = classes
        self._labels = classes.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}

    def _locate(self, x: Example, *, grow: bool) -> tuple[Indices, Vector]:
        """The columns and values of one example; a dict may bring new features."""
        if not isinstance(x, Mapping):
            return np.arange(self.n_features_in_), check_vector(self, x)
        columns, values = [], []
        vocabulary = self._features()
        for feature, value in x.items():
            column = vocabulary.get(feature)
            if column is None and grow:
                column = vocabulary[feature] = len(vocabulary)
            if not isinstance(value, (int, float, np.number, np.bool_)) or value - value != 0:
                raise ValueError(f"Feature {feature!r} is {value!r}, not a finite number.")
            if column is not None:
                columns.append(column)
                values.append(value)
        if len(vocabulary) > self.n_features_in_:
            self._rules.add_features(len(vocabulary))
            self.n_features_in_ = len(vocabulary)
            self.__dict__.pop("feature_names_in_", None)
            if all(isinstance(feature, str) for feature in vocabulary):
                self.feature_names_in_ = np.array(list(vocabulary), dtype=object)
        return np.array(columns, dtype=np.int64), np.array(values, dtype=np.float64)

    def _features(self) -> dict[Hashable, int]:
        """The column of each feature: by name, or by number where there are no names."""
        if self._vocabulary is None:
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            self._vocabulary = {name: column for column, name in enumerate(names)}
        return self._vocabulary
