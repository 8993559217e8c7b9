"""The learners that are compared, behind one signature each.

A batch learner is a function ``fit(epochs, seed)``; what it needs to be the peer's fair
counterpart (no tolerance, no penalty, no early stop) is set here and nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import sklearn.linear_model

import novikoff
from benchmarks.data import Floats, Labels, Matrix

CORES = 2
LEAD = 10  # examples of a stream that are learned before the clock starts
Vector: TypeAlias = npt.NDArray[np.float64]
Example = TypeVar("Example", contravariant=True)


class Linear(Protocol):
    """A fitted linear classifier."""

    @property
    def coef_(self) -> Vector:
        """The weights."""

    @property
    def intercept_(self) -> Vector:
        """The biases."""

    def predict(self, X: Matrix) -> npt.NDArray[np.generic]:
        """The class of every row."""


Fit: TypeAlias = Callable[[int, int], Linear]


def ours(X: Matrix, y: Labels, order: str) -> Fit:
    """`novikoff.Perceptron` with its reader on the second core."""

    def fit(epochs: int, seed: int) -> Linear:
        model = novikoff.Perceptron(
            order=order,
            fit_intercept=_with_intercept(X),
            max_epochs=epochs,
            random_state=seed,
            n_jobs=CORES,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it did not converge, and cannot
            model.fit(X, y)
        if model.converged_ or model.n_iter_ != epochs:
            raise RuntimeError("The data was separated: this would not measure full epochs.")
        return model

    return fit


def scikit_learn(X: Matrix, y: Labels, shuffle: bool, n_jobs: int = 1) -> Fit:
    """scikit-learn's Perceptron, without its tolerance; its jobs matter for many classes."""

    def fit(epochs: int, seed: int) -> Linear:
        model = sklearn.linear_model.Perceptron(
            shuffle=shuffle,
            fit_intercept=_with_intercept(X),
            tol=None,
            max_iter=epochs,
            random_state=seed,
            n_jobs=n_jobs,
        )
        return model.fit(X, y)

    return fit


def read_once(X: Floats) -> Callable[[int, int], None]:
    """One product ``X @ w`` per epoch: X goes through both cores once, by BLAS."""
    w = np.ones(X.shape[1], dtype=X.dtype)

    def read(epochs: int, seed: int) -> None:
        for _ in range(epochs):
            X @ w

    return read


def _with_intercept(X: Matrix) -> bool:
    # On sparse data scikit-learn shrinks the steps of the intercept a hundredfold, and
    # would make other mistakes.
    return isinstance(X, np.ndarray)


class Online(Protocol[Example]):
    """A learner that takes one example at a time."""

    def predict_one(self, x: Example) -> object:
        """The class of one example."""

    def learn_one(self, x: Example, y: bool) -> object:
        """See one example with its class."""


class OneRow:
    """scikit-learn's way with one example: a matrix of one row."""

    def __init__(self) -> None:
        self._model = sklearn.linear_model.Perceptron()

    def predict_one(self, x: Vector) -> object:
        """The class of a row, of shape (1, d)."""
        return self._model.predict(x)[0]

    def learn_one(self, x: Vector, y: bool) -> None:
        """See a row, of shape (1, d)."""
        self._model.partial_fit(x, [y], classes=[False, True])


def stream(
    start: Callable[[], Online[Example]], xs: Sequence[Example], ys: Sequence[bool]
) -> Callable[[], Callable[[], int]]:
    """Predict, learn, predict, learn: the mistakes on a stream.

    A new learner sees the first examples beforehand, as not all can predict without, and
    before both classes have come up some know only one.
    """

    def prepare() -> Callable[[], int]:
        model = start()
        for x, y in zip(xs[:LEAD], ys[:LEAD], strict=True):
            model.learn_one(x, y)

        def go_through() -> int:
            mistakes = 0
            for x, y in zip(xs[LEAD:], ys[LEAD:], strict=True):
                mistakes += bool(model.predict_one(x) != y)
                model.learn_one(x, y)
            return mistakes

        return go_through

    return prepare
