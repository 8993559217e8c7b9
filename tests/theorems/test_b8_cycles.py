"""B8: on inseparable integer data, a run in a repeated order returns to weights it had before.

‖w_t‖ stays bounded, so that integer weights take finitely many values. The weights and the position
in the order determine all later steps. The rows of one period add up to zero, which no separating
rule allows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.periods import Repetition
from novikoff.core.rows import Vector
from novikoff.core.trace import Trace

XOR_X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
XOR_Y = np.array([0, 1, 1, 0])


def fitted(X: Any, y: Any, **options: Any) -> nv.Perceptron:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return nv.Perceptron(order="cyclic", random_state=0).set_params(**options).fit(X, y)


def cycle_by_dictionary(A: np.ndarray, cycle: list[int], epochs: int) -> tuple[int, int] | None:
    """Return pre-period and period of the weights after each epoch, in Python's integers."""
    w, seen = [0] * A.shape[1], {(0,) * A.shape[1]: 0}
    for epoch in range(1, epochs):
        for i in cycle:
            a = A[i].tolist()
            if sum(x * v for x, v in zip(a, w, strict=True)) <= 0:
                w = [v + x for x, v in zip(a, w, strict=True)]
        if tuple(w) in seen:
            return seen[tuple(w)], epoch - seen[tuple(w)]
        seen[tuple(w)] = epoch
    return None


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 9), d=st.integers(1, 3))
def test_the_period_agrees_with_a_dictionary_of_all_weights(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, d)), np.append([0, 1], rng.integers(0, 2, size=n - 2))
    cycle = rng.permutation(n).tolist()
    A = np.column_stack([X, np.ones(n, dtype=int)]) * np.where(y == 1, 1, -1)[:, None]
    clf = fitted(X, y, order=cycle, max_epochs=2000)
    expected = None if clf.converged_ else cycle_by_dictionary(A, cycle, 400)
    assert clf.period_ == (expected and expected[1])
    assert (nv.separate(X, y).kind == "separable") == (expected is None)


def check_period(watch: type[Repetition], A: np.ndarray, epochs: int) -> None:
    """Watch a run in plain NumPy, and compare the period with that of the dictionary."""
    w = np.zeros(A.shape[1])
    repetition = watch(w[:, None])
    for _ in range(epochs):
        for a in A:
            w = w + a * (a @ w <= 0.0)
        repetition.compare(w[:, None], active=np.array([True]))
    expected = cycle_by_dictionary(A, list(range(len(A))), epochs)
    assert repetition.periods == [expected and expected[1]]


class OneWeightRepeats(Repetition):
    """Compares only the first weight."""

    def __init__(self, W: Vector) -> None:
        super().__init__(W[:1])

    def compare(self, W: Vector, active: Any) -> None:
        super().compare(W[:1], active)


class CountsFromTheStart(Repetition):
    """Takes the number of all epochs for the period."""

    n_epochs = 0

    def compare(self, W: Vector, active: Any) -> None:
        self.n_epochs += 1
        unknown = self.periods == [None]
        super().compare(W, active)
        if unknown and self.periods != [None]:
            self.periods = [self.n_epochs]


class AlwaysOne(Repetition):
    """Finds the repetition, but not its length."""

    def compare(self, W: Vector, active: Any) -> None:
        super().compare(W, active)
        self.periods = [period and 1 for period in self.periods]


@pytest.mark.parametrize("watch", [OneWeightRepeats, CountsFromTheStart, AlwaysOne])
def test_an_altered_search_for_the_period_is_caught(watch: type[Repetition]) -> None:
    X, signs = np.array([[0, 3], [-2, 2], [1, -3], [-1, 3], [0, -3], [2, 2]]), [-1, 1] * 3
    A = np.column_stack([X, np.ones(6, dtype=int)]) * np.array(signs)[:, None]
    check_period(Repetition, A, 200)
    with pytest.raises(AssertionError):
        check_period(watch, A, 200)


@pytest.mark.parametrize("order", ["cyclic", "fixed", [3, 1, 0, 2], "max_distance", "max_residual"])
@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_array])
def test_one_period_of_rows_adds_up_to_zero(order: Any, storage: Any) -> None:
    A = np.column_stack([XOR_X, np.ones(4)]) * np.where(XOR_Y == 1, 1, -1)[:, None]
    clf = fitted(storage(XOR_X.astype(float)), XOR_Y, order=order, trace=True)
    period, trace = clf.period_, clf.trace_
    assert isinstance(period, int)
    assert isinstance(trace, Trace)
    epochs = trace.n_steps // 4
    for length in range(1, period + 1):  # and no shorter sequence of epochs does
        part = (epochs >= 500) & (epochs < 500 + length)
        assert A[trace.index[part]].sum(axis=0).any() == (length < period)


def test_the_warning_names_the_period_and_says_that_no_hyperplane_separates() -> None:
    with pytest.warns(ConvergenceWarning, match="every epoch, so no hyperplane separates"):
        nv.Perceptron(order="cyclic").fit(XOR_X, XOR_Y)
    X = [[0, 3], [-2, 2], [1, -3], [-1, 3], [0, -3], [2, 2]]
    with pytest.warns(ConvergenceWarning, match="repeat every 5 epochs, so"):
        nv.Perceptron(order="cyclic").fit(X, [0, 1, 0, 1, 0, 1])


def test_no_period_is_reported_where_sums_may_not_be_exact() -> None:
    """Random orders, fractions, weights, other steps, sums beyond 2⁵³, and runs that converge."""
    assert fitted(XOR_X, XOR_Y, order="permuted").period_ is None
    assert fitted(XOR_X + 0.1, XOR_Y).period_ is None
    assert fitted(XOR_X, XOR_Y, step_size=0.1).period_ is None
    assert fitted(XOR_X, XOR_Y, class_weight={0: 0.3, 1: 1.0}).period_ is None
    assert fitted(XOR_X * 2.0**30, XOR_Y).period_ is None
    assert fitted(XOR_X, [0, 0, 0, 1]).period_ is None
    assert fitted(XOR_X, XOR_Y, max_updates=3).period_ is None
    assert fitted(XOR_X, XOR_Y, step_size=3.0).period_ == fitted(XOR_X, XOR_Y).period_


def test_the_warning_about_one_cycling_rule_makes_no_claim_about_all_classes() -> None:
    """The middle class is not separable from the rest, but the largest score is always right."""
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 2])
    assert ((X @ [[-1.0, 0.0, 1.0]] + [0.0, 0.5, 0.0]).argmax(axis=1) == y).all()
    with pytest.warns(ConvergenceWarning) as caught:
        nv.Perceptron(order="cyclic").fit(X, y)
    told = str(caught[0].message)
    assert "for these rules no hyperplane separates the classes" in told
    assert "no rule" not in told


def test_each_class_has_its_own_period_and_a_stream_has_none() -> None:
    X = np.array([[0], [1], [2], [3]])
    with pytest.warns(ConvergenceWarning, match="1 of 3 rules repeat every epoch"):
        clf = nv.Perceptron(order="cyclic").fit(X, ["a", "b", "b", "c"])
    assert isinstance(clf.period_, list)
    assert [period is None for period in clf.period_] == [True, False, True]
    alone = fitted(X, [0, 1, 1, 0])
    assert clf.period_[1] == alone.period_
    clf.partial_fit(X, ["a", "b", "b", "c"])
    assert not hasattr(clf, "period_")
