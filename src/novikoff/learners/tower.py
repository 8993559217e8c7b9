"""A tower of threshold units that grows until the training rows are right (A12)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from novikoff.core.rows import Vector
from novikoff.core.schemes import scheme_for
from novikoff.core.stops import Limits
from novikoff.core.tower import LARGEST, Tower, grow_tower
from novikoff.learners.inputs import (
    COUNT,
    COUNT_OR_NONE,
    RANDOM_STATE,
    Labels,
    MatrixLike,
    Rule,
    check_classes,
    check_parameters,
    check_rows,
    pose_unsigned,
    seed_of,
)


class TowerClassifier(ClassifierMixin, BaseEstimator):
    """A network of threshold units that has every training row right, whatever the rows are.

    Each unit sees the features, the square of their length and the answer of the unit before, and
    is trained by the pocket algorithm (Gallant 1990). It starts from weights that get one more row
    right than the unit before, so that the tower ends. Identical rows with different labels cannot
    all be right: these are counted. It learns training rows by heart; for new rows, choose
    ``max_units`` by cross-validation, or another learner.

    Parameters
    ----------
    max_units : int, optional
        The most units of a tower; by default as many as it takes.
    max_updates : int
        The updates of the pocket for each unit. More of them make fewer units.
    random_state : int, RandomState or None
        The source of randomness.

    Attributes
    ----------
    classes_ : array
        The labels. More than two have a tower each, against the rest.
    towers_ : list of Tower
        The units; ``towers_[k].errors`` are the distinct rows wrong after each.
    n_units_ : int
        The units of all towers.
    n_errors_ : int
        The training rows that `predict` gets wrong.
    n_unavoidable_ : int
        How many any classifier gets wrong: of identical rows, all but those of the most frequent
        label.
    converged_ : bool
        Whether the two are equal.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 1, 1, 0, 1]
    >>> clf = nv.TowerClassifier(random_state=0).fit(X[:4], y[:4])  # XOR
    >>> clf.predict(X[:4]).tolist(), clf.n_units_
    ([0, 1, 1, 0], 2)
    >>> clf.fit(X, y).n_errors_, clf.n_unavoidable_
    (1, 1)
    """

    classes_: Labels
    towers_: list[Tower]
    n_features_in_: int
    n_units_: int
    n_errors_: int
    n_unavoidable_: int
    converged_: bool

    _rules: ClassVar[Mapping[str, Rule]] = {
        "max_units": COUNT_OR_NONE,
        "max_updates": COUNT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        max_units: int | None = None,
        *,
        max_updates: int = 1000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_units = max_units
        self.max_updates = max_updates
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: npt.ArrayLike) -> Self:
        """Grow a tower for each class against the rest, or one for two classes.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features), array-like of shape (n_samples,)
            The rows, dense, and their labels.

        Returns
        -------
        self
            After an exception it is what it was before.
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y)
        except BaseException:
            self.__dict__ = before
            raise

    def _fit(self, X: MatrixLike, y: npt.ArrayLike) -> Self:
        check_parameters(self, self._rules)
        matrix, self.classes_, codes = check_classes(self, X, y)
        rows = self._dense(matrix)
        distinct, group = np.unique(rows + 0.0, axis=0, return_inverse=True)
        counts = np.zeros((len(distinct), len(self.classes_)), dtype=np.int64)
        np.add.at(counts, (group.ravel(), codes), 1)
        rng = np.random.default_rng(seed_of(self.random_state))
        self.towers_ = [
            grow_tower(
                distinct,
                sides[counts.argmax(axis=1)],
                rng=rng,
                limits=Limits(updates=self.max_updates),
                max_units=self.max_units,
            )
            for sides in scheme_for(len(self.classes_), "ovr").sides.T
        ]
        self.n_units_ = sum(len(tower.units) for tower in self.towers_)
        self.n_errors_ = int(np.count_nonzero(self.predict(X) != self.classes_[codes]))
        self.n_unavoidable_ = int(len(rows) - counts.max(axis=1).sum())
        self.converged_ = self.n_errors_ == self.n_unavoidable_
        if not self.converged_ and self.max_units is None:
            warnings.warn(
                f"{self.n_errors_ - self.n_unavoidable_} rows stay wrong: they are too close to "
                "others for float64, next to the distances of all. Leave out far rows, or scale.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def decision_function(self, X: MatrixLike) -> Vector:
        """The weighted sums of the last units, of shape (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        """
        scores, scheme = self._scores(X), scheme_for(len(self.classes_), "ovr")
        return scheme.decision(scores)

    def predict(self, X: MatrixLike) -> Labels:
        """The class of each row: by the sign of two, or with the largest weighted sum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        """
        scores, scheme = self._scores(X), scheme_for(len(self.classes_), "ovr")
        return self.classes_[scheme.choose(scores)]

    def _scores(self, X: MatrixLike) -> Vector:
        check_is_fitted(self)
        rows = self._dense(check_rows(self, X, reset=False))
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.column_stack([tower.scores(rows) for tower in self.towers_])
        far = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if len(far) > 0:
            raise ValueError(f"Row {far[0]} is too far from the training rows for float64.")
        return scores

    def _dense(self, matrix: object) -> Vector:
        """The rows in float64, finite and within the range of their squares."""
        if not isinstance(matrix, np.ndarray):
            raise TypeError("X is sparse, but a tower takes dense rows: use X.toarray().")
        pose_unsigned(self, matrix, True)  # names NaN and infinity
        if np.abs(matrix).max(initial=0.0) > LARGEST:
            raise ValueError(f"X has entries beyond {LARGEST:g}: scale it down.")
        return matrix.astype(np.float64, copy=False)
