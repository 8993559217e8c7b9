"""Regret: what an online learner loses to the best fixed rule in hindsight (A11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.model import Labels
from novikoff.geometry.margin import Interval
from novikoff.learners.inputs import MatrixLike
from novikoff.learners.pocket import Pocket


@dataclass(frozen=True)
class Regret:
    """The mistakes of an online run, and of the best fixed rule.

    Attributes
    ----------
    mistakes : int
        Rows whose label the learner did not expect, each before it saw it.
    best_errors : int
        Rows that the best fixed rule found gets wrong.
    errors_lower_bound : int
        No fixed rule gets fewer wrong: proved.
    """

    mistakes: int
    best_errors: int
    errors_lower_bound: int

    @property
    def interval(self) -> Interval:
        """Holds mistakes − (mistakes of the best fixed rule), guaranteed."""
        least, most = self.mistakes - self.best_errors, self.mistakes - self.errors_lower_bound
        return Interval(float(least), float(most))


def regret(
    X: MatrixLike, y: npt.ArrayLike, learner: Any, *, random_state: int | None = 0
) -> Regret:
    """Show the rows to an online learner in turn, and compare it with the best fixed rule.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The rows, in the order in which they are shown.
    y : array-like of shape (n,)
        The labels.
    learner : object with ``predict_one`` and ``learn_one``
        It learns from every row once; give a fresh one.
    random_state : int or None
        For the search of the best fixed rule, by `Pocket`.

    Returns
    -------
    Regret
        As the best fixed rule is known within bounds only, so is the regret.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> found = nv.regret(X, y, nv.Perceptron())
    >>> found.best_errors, found.errors_lower_bound
    (5, 5)
    >>> found.mistakes - 5 in found.interval
    True
    """
    labels = np.asarray(y)
    if isinstance(learner, type) or not hasattr(learner, "learn_one"):
        raise ValueError("learner must be an object with predict_one and learn_one.")
    n = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
    if labels.shape != (n,):
        raise ValueError(f"X has {n} rows, but y has shape {labels.shape}.")
    mistakes = 0
    for x, label in zip(_rows(X), labels.tolist(), strict=True):
        mistakes += learner.predict_one(x) != label
        learner.learn_one(x, label)
    best = Pocket(
        fit_intercept=getattr(learner, "fit_intercept", True),
        multi_class="ovr" if len(np.unique(labels)) <= 2 else "ovo",
        random_state=random_state,
    ).fit(X, labels)
    errors = int((best.predict(X) != labels).sum())
    return Regret(mistakes, errors, _least(best, labels))


def _rows(X: MatrixLike) -> Iterator[npt.NDArray[np.float64]]:
    if sp.issparse(X):
        rows = sp.csr_array(X)
        for i in range(rows.shape[0]):
            yield rows[[i]].toarray().ravel().astype(np.float64)
    else:
        yield from np.asarray(X, dtype=np.float64)


def _least(best: Pocket, labels: Labels) -> int:
    """What every rule gets wrong at least, where f(x) = 0 is the negative class.

    A contradiction must then hold a positive row; with a bias every one does. A rule for
    many classes separates each two of them where it makes no mistake.
    """
    proofs = best.certificate_
    if isinstance(proofs, list):
        return max(len(proof.contradictions) * best.fit_intercept for proof in proofs)
    positive = labels == best.classes_[1]
    return sum(bool(positive[list(claim.among or ())].any()) for claim in proofs.contradictions)
