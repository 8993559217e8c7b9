"""A tower of threshold units that grows until the training rows are right (A12)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from novikoff.core.tower import LARGEST, TowerModel, grow_towers
from novikoff.learners.base import LinearLearner
from novikoff.learners.inputs import (
    COUNT,
    COUNT_OR_NONE,
    RANDOM_STATE,
    Allowed,
    MatrixLike,
    RandomState,
    check_classes,
    check_parameters,
    pose_unsigned,
    seed_of,
)


@dataclass(eq=False, repr=False)
class TowerClassifier(LinearLearner):
    """A network of threshold units that has every training row right.

    That holds for any rows that float64 can tell apart, next to the distances of all: a warning
    says where it cannot.

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
    n_units_ : int
        The units of all towers.
    unit_errors_ : list of lists of int
        For each tower, the distinct rows that were wrong after each of its units.
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

    max_units: int | None = None
    _: KW_ONLY
    max_updates: int = 1000
    random_state: RandomState = None

    n_units_: int = field(init=False)
    unit_errors_: list[list[int]] = field(init=False)
    n_errors_: int = field(init=False)
    n_unavoidable_: int = field(init=False)
    converged_: bool = field(init=False)

    _allowed: ClassVar[Mapping[str, Allowed]] = {
        "max_units": COUNT_OR_NONE,
        "max_updates": COUNT,
        "random_state": RANDOM_STATE,
    }

    def fit(self, X: MatrixLike, y: npt.ArrayLike) -> Self:
        """Grow a tower for each class against the rest, or one for two classes.

        Parameters
        ----------
        X, y : array-like or sparse matrix of shape (n_samples, n_features), array-like
            The rows, of which dense copies are made, and their labels.

        Returns
        -------
        self
            After an exception it is what it was before.
        """
        with self._all_or_nothing():
            check_parameters(self, self._allowed)
            rows, classes, codes = check_classes(self, X, y)
            dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
            pose_unsigned(self, dense, True)  # names NaN and infinity
            if float(np.abs(dense).max()) > LARGEST:
                raise ValueError(f"X has entries beyond {LARGEST:g}: scale it down.")
            distinct, group = np.unique(dense + 0.0, axis=0, return_inverse=True)
            counts = np.zeros((len(distinct), len(classes)), dtype=np.int64)
            np.add.at(counts, (group.ravel(), codes), 1)
            model = grow_towers(
                distinct.astype(np.float64),
                counts.argmax(axis=1),
                classes,
                rng=np.random.default_rng(seed_of(self.random_state)),
                max_updates=self.max_updates,
                max_units=self.max_units,
            )
            wrong = int(np.count_nonzero(model.predict(dense) != classes[codes]))
            self._describe(model, wrong, int(len(dense) - counts.max(axis=1).sum()))
        if not self.converged_ and self.max_units is None:
            warnings.warn(
                f"{self.n_errors_ - self.n_unavoidable_} rows stay wrong: they are too close to "
                "others for float64, next to the distances of all. Leave out far rows, or scale.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _describe(self, model: TowerModel, n_errors: int, n_unavoidable: int) -> None:
        """Be this model, which errs so often."""
        self._hold(model)
        self.unit_errors_ = model.errors_by_rule()
        self.n_units_ = len(model.units)
        self.n_errors_, self.n_unavoidable_ = n_errors, n_unavoidable
        self.converged_ = n_errors == n_unavoidable
