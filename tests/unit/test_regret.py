"""Regret: the mistakes of an online run, minus those of the best fixed rule in hindsight."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.learners.inputs import Example
from tests.cases import csr

Labels = npt.NDArray[np.int64]


def stream(seed: int, n: int, d: int, *, grid: bool = False) -> tuple[Vector, Labels]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n, d)).astype(np.float64) if grid else rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    y[:2] = 0, 1
    return X, y


def least_errors(X: Vector, y: Labels, fit_intercept: bool) -> int:
    """The mistakes of the best rule that predicts 1 where f(x) > 0, over all there are.

    Each rule can be pushed against rows of the plane; a little off it, the rows it touches
    fall on sides that are tried one by one: by a second plane through fewer rows, and so on.
    Here, for one and two columns, a fine fan of directions with every threshold does it.
    """
    best = len(y)
    directions = [np.ones(1), -np.ones(1)]
    if X.shape[1] == 2:
        angles = [np.arctan2(*(X[j] - X[i])) for i, j in combinations(range(len(X)), 2)]
        angles += [np.arctan2(*x) for x in X if x.any()]
        turns = np.unique(np.concatenate([np.array(angles) + k * np.pi / 2 for k in range(4)]))
        turns = np.concatenate([turns, (turns[1:] + turns[:-1]) / 2])
        directions = [np.array([np.cos(t), np.sin(t)]) for t in turns]
    for u in directions:
        scores = X @ u
        cuts = np.zeros(1)
        if fit_intercept:
            order = np.sort(scores)
            cuts = np.concatenate([[order[0] - 1.0], (order[1:] + order[:-1]) / 2, [order[-1]]])
        for cut in cuts.tolist():
            best = min(best, int(((scores - cut > 0) != y).sum()))
    return best


class Parrot:
    """Expects the label it saw last."""

    def __init__(self) -> None:
        self.last: Hashable = None
        self.heard: list[tuple[list[float], Hashable]] = []

    def predict_one(self, x: Example) -> Hashable:
        return self.last

    def learn_one(self, x: Example, y: Hashable) -> object:
        self.heard.append((np.asarray(x).tolist(), y))
        self.last = y
        return self


def test_rows_are_shown_once_in_order_each_before_its_label() -> None:
    X, y = stream(0, 30, 2)
    parrot = Parrot()
    found = nv.regret(X, y, parrot)
    assert parrot.heard == [(x, label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    assert found.mistakes == 1 + np.count_nonzero(np.diff(y))


def test_the_interval_holds_the_regret() -> None:
    for grid, fit_intercept, seed in product((False, True), (True, False), range(4)):
        X, y = stream(seed, 18, 1 + seed % 2, grid=grid)
        learner = nv.Perceptron(fit_intercept=fit_intercept)
        found = nv.regret(X, y, learner)
        best = least_errors(X, y, fit_intercept)
        assert found.errors_lower_bound <= best <= found.best_errors
        assert found.mistakes - best in found.interval
        assert found.interval.lo == found.mistakes - found.best_errors
        assert found.interval.hi == found.mistakes - found.errors_lower_bound


def test_separable_streams_have_no_errors_to_compare_with() -> None:
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]] * 5)
    found = nv.regret(X, X[:, 0] > 0, nv.Perceptron())
    assert (found.best_errors, found.errors_lower_bound) == (0, 0)
    assert (found.interval.lo, found.interval.hi) == (found.mistakes, found.mistakes)


def test_a_label_at_the_origin_is_no_mistake_of_the_negative_class() -> None:
    """Without an intercept f(0) = 0 whatever w, which predicts the first class."""
    found = nv.regret([[0.0], [0.0], [1.0]] * 3, [0, 0, 1] * 3, nv.Perceptron(fit_intercept=False))
    assert found.errors_lower_bound == 0
    assert found.best_errors == 0


def test_sparse_and_dense_streams_are_the_same() -> None:
    X, y = stream(3, 40, 3, grid=True)
    dense, sparse = nv.regret(X, y, nv.Perceptron()), nv.regret(csr(X), y, nv.Perceptron())
    assert dense.mistakes == sparse.mistakes
    assert dense.best_errors == sparse.best_errors


def test_many_classes() -> None:
    """Labels at random: the bound of the worst pair stays below what any rule makes."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-2, 3, size=(40, 2)).astype(np.float64), rng.integers(3, size=40)
        found = nv.regret(X, y, nv.Perceptron())
        assert 0 <= found.errors_lower_bound <= found.best_errors
        assert found.interval.lo <= found.interval.hi
        rules = rng.normal(size=(3000, 3, 3))
        padded = np.column_stack([X, np.ones(40)])
        errors = (np.argmax(padded @ rules.transpose(0, 2, 1), axis=2) != y).sum(axis=1)
        assert found.errors_lower_bound <= errors.min()


def test_labels_must_be_as_many_as_rows() -> None:
    with pytest.raises(ValueError, match="2 rows"):
        nv.regret([[0.0], [1.0]], [0, 1, 1], Parrot())
