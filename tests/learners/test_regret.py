"""Regret: the mistakes of an online run, minus those of the best fixed rule in hindsight."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.learners.arrays import Example
from novikoff.proofs.system_statement import Constraint
from tests.cases import case_named, csr
from tests.system_oracle import is_feasible

Labels = npt.NDArray[np.int64]


pytestmark = pytest.mark.usefixtures("brief_descents")


def stream(seed: int, n: int, d: int, *, grid: bool = False) -> tuple[Vector, Labels]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n, d)).astype(np.float64) if grid else rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    y[:2] = 0, 1
    return X, y


def fewest_errors(X: Vector, y: Labels, n_classes: int, fit_intercept: bool) -> int:
    """The exact number of mistakes of the best rule that `nv.regret` compares with.

    Sets of rows are left out, the smallest first, until the Parma Polyhedra Library finds weights
    that classify all others correctly. Of several classes, the largest score wins, and of equal
    scores the first class. Two classes have one score, and f(x) = 0 is the first class.
    """
    n, d = X.shape
    n_scores = 1 if n_classes == 2 else n_classes

    def wins(i: int, winner: int, loser: int) -> Constraint:
        """The winner's score minus the loser's is > 0, or >= 0 if the winner comes first."""
        terms: dict[int, Fraction] = {}
        values = [*X[i].tolist(), 1.0] if fit_intercept else X[i].tolist()
        signed = [(winner, 1), (loser, -1)]
        if n_classes == 2:
            signed = [(0, 1 if winner == 1 else -1)]
        for score, sign in signed:
            for j, value in enumerate(values):
                if value != 0.0:
                    terms[score * (d + 1) + j] = sign * Fraction(value)
        return Constraint(f"row {i}", terms, ">=" if winner < loser else ">", Fraction(0))

    rows = [
        [wins(i, label, other) for other in range(n_classes) if other != label]
        for i, label in enumerate(y.tolist())
    ]
    for n_errors in range(n):
        for left_out in combinations(range(n), n_errors):
            kept = [row for i, part in enumerate(rows) if i not in left_out for row in part]
            if is_feasible(kept, n_scores * (d + 1)):
                return n_errors
    return n


def noisy(seed: int) -> tuple[Vector, Labels, int, bool]:
    """At most nine rows of two or three classes: grids, duplicates, alternating labels."""
    rng = np.random.default_rng(seed)
    n_classes, d, fit_intercept = 2 + seed % 2, 1 + seed // 2 % 2, bool(seed // 4 % 2)
    n = int(rng.integers(5, 10 if n_classes == 2 else 8))
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    if seed % 3 == 0:
        X = np.round(rng.normal(size=(n, d)), 1)
    y = rng.integers(n_classes, size=n)
    if seed % 5 == 0:
        y = np.arange(n) % n_classes
        X = np.arange(n, dtype=np.float64)[:, None] - n // 2 if d == 1 else X
    y[:n_classes] = range(n_classes)
    return X, y, n_classes, fit_intercept


class Parrot:
    """A learner that predicts the label that it saw last."""

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


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_the_interval_holds_the_regret(first: int) -> None:
    for seed in range(first, first + 20):
        X, y, n_classes, fit_intercept = noisy(seed)
        found = nv.regret(X, y, nv.Perceptron(fit_intercept=fit_intercept))
        best = fewest_errors(X, y, n_classes, fit_intercept)
        assert found.errors_lower_bound <= best <= found.best_errors, seed
        assert found.mistakes - best in found.interval, seed
        assert found.interval.lo == found.mistakes - found.best_errors
        assert found.interval.hi == found.mistakes - found.errors_lower_bound


@pytest.mark.parametrize("seed", [0, 2, 5, 6, 20, 21, 25, 60])
def test_the_curve_holds_the_regret_after_each_row(seed: int) -> None:
    X, y, n_classes, fit_intercept = noisy(seed)
    found = nv.regret(X, y, nv.Perceptron(fit_intercept=fit_intercept))
    again = nv.Perceptron(fit_intercept=fit_intercept)
    mistakes = 0
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        mistakes += again.predict_one(x) != label
        again.learn_one(x, label)
        best = fewest_errors(X[: t + 1], y[: t + 1], n_classes, fit_intercept)
        assert found.learner_mistakes[t] == mistakes
        assert found.least_mistakes[t] <= best <= found.rule_mistakes[0, t], t
        least, most = found.curve[t]
        assert least <= mistakes - best <= most, t
    assert found.best_rule == 0


def test_it_prints_in_one_line() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 50, [0, 1, 1, 0] * 50
    found = nv.regret(X, y, nv.Perceptron(), [lambda x: 1])
    lost = found.mistakes - 100
    made = f"{found.mistakes} mistakes of the learner"
    assert repr(found) == f"Regret({lost} after 200 rows: {made})"
    least, most = (int(end) for end in nv.regret(X, y, nv.Perceptron()).interval)
    between = str(least) if least == most else f"{least} to {most}"
    assert repr(nv.regret(X, y, nv.Perceptron())) == f"Regret({between} after 200 rows: {made})"


def test_contradictions_that_share_rows_are_not_mistakes_each() -> None:
    """Five points on a line, labels alternating: five contradictions with shares of 1/3."""
    X, y = [[0.0], [1.0], [2.0], [-1.0], [-2.0]], [0, 1, 0, 1, 0]
    found = nv.regret(X, y, nv.Perceptron())
    pocket = nv.Pocket(random_state=0).fit(X, y)
    assert (found.best_errors, found.errors_lower_bound) == (2, 2)
    assert (pocket.n_errors_, pocket.errors_lower_bound_) == (2, 2)


def test_real_data_has_an_interval_that_is_not_empty() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = nv.regret(X[:, :5], y, nv.Perceptron())
    assert 10 < found.errors_lower_bound < found.best_errors < 40
    assert (found.curve[:, 0] <= found.curve[:, 1]).all()


# Against rules that were given


def test_given_rules_make_the_regret_exact() -> None:
    X, y = stream(1, 40, 2)
    names = np.array(["no", "yes"])[y]
    fitted = nv.Perceptron(max_epochs=3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        fitted.fit(X, names)
    rules: list[Any] = [
        lambda x: "yes" if x[0] > 0 else "no",
        fitted,
        ([1.0, 0.0], 0.5),
        (np.array([[-1.0, 2.0]]), np.zeros(1)),
        lambda _: "perhaps",
    ]
    found = nv.regret(X, names, Parrot(), rules)
    told = [
        np.where(X[:, 0] > 0, "yes", "no"),
        fitted.predict(X),
        np.where(X[:, 0] + 0.5 > 0, "yes", "no"),
        np.where(X @ [-1.0, 2.0] > 0, "yes", "no"),
        np.full(40, "perhaps"),
    ]
    expected = np.array([np.cumsum(one != names) for one in told])
    parrot = np.cumsum(np.append(True, names[1:] != names[:-1]))
    assert found.rule_mistakes.tolist() == expected.tolist()
    assert found.learner_mistakes.tolist() == parrot.tolist()
    assert found.least_mistakes.tolist() == expected.min(axis=0).tolist()
    assert found.curve.tolist() == [[one, one] for one in parrot - expected.min(axis=0)]
    assert found.best_rule == int(expected[:, -1].argmin())
    assert found.best_errors == found.errors_lower_bound == expected[:, -1].min()
    assert found.interval.lo == found.interval.hi == found.mistakes - found.best_errors


def test_given_rules_of_several_classes_and_sparse_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, size=(30, 2)).astype(np.float64), rng.integers(3, size=30)
    coef, intercept = rng.normal(size=(3, 2)), rng.normal(size=3)
    expected = np.cumsum((X @ coef.T + intercept).argmax(axis=1) != y)
    for rows in (X, csr(X)):
        with case_named(type(rows).__name__):
            found = nv.regret(rows, y, Parrot(), [(coef, intercept)])
            assert found.rule_mistakes[0].tolist() == expected.tolist()
    assert nv.regret(X, np.ones(30), Parrot(), [lambda _: 1.0]).interval.lo == 1.0


@pytest.mark.parametrize("form", [np.asarray, csr])
def test_weights_predict_without_rounding(form: Any) -> None:
    """In floats 2 + 1e-323 is 2 and 1e200·1e-200·1e-200 is 0, and the first class would win."""
    rows = np.array([[1e-323, 0.0], [1e-200, 0.0], [0.0, 3.0], [0.0, -3.0]])
    X, y = form(rows), np.array([1, 1, 1, 0])
    three = (np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([2.0, 2.0, 0.0]))
    assert nv.regret(X, np.array([1, 1, 2, 0]), Parrot(), [three]).best_errors == 1
    assert nv.regret(X, y, Parrot(), [([1e-200, 1.0], 0.0)]).best_errors == 0
    assert nv.regret(X, y * 0, Parrot(), [([1e-200, 1.0], 0.0)]).best_errors == 0


def test_sums_of_rules_beyond_floats_are_left_out() -> None:
    """The sums were infinite or NaN, and the class of a NaN counted as a prediction."""
    X = np.array([[-2e-323], [3e-323], [-1e-323], [0.0], [-3e-323]])
    found = nv.regret(X, [1, 0, 2, 2, 1], Parrot())
    assert found.best_errors >= found.errors_lower_bound == 0


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ([], "one rule or more"),
        (lambda _: 1, "one rule or more"),
        ([7], "Rule 0 of rules: it is not a function"),
        ([([1.0, 2.0], 0.0), ([1.0], 0.0)], r"Rule 1 of rules: coef has shape \(1,\)"),
        ([([1.0, np.nan], 0.0)], "Rule 0 of rules: its weights are not finite"),
    ],
)
def test_rules_that_are_none_are_rejected(rules: Any, complaint: str) -> None:
    learner = Parrot()
    with pytest.raises(ValueError, match=complaint):
        nv.regret([[0.0, 1.0], [1.0, 0.0]], [0, 1], learner, rules)
    assert learner.heard == []


def test_separable_streams_have_no_errors_to_compare_with() -> None:
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]] * 5)
    found = nv.regret(X, X[:, 0] > 0, nv.Perceptron())
    assert (found.best_errors, found.errors_lower_bound) == (0, 0)
    assert (found.interval.lo, found.interval.hi) == (found.mistakes, found.mistakes)


def test_a_label_at_the_origin_is_no_mistake_of_the_negative_class() -> None:
    """Without an intercept, f(0) = 0 for every w, which predicts the first class."""
    found = nv.regret([[0.0], [0.0], [1.0]] * 3, [0, 0, 1] * 3, nv.Perceptron(fit_intercept=False))
    assert found.errors_lower_bound == 0
    assert found.best_errors == 0


def test_sparse_and_dense_streams_are_the_same() -> None:
    X, y = stream(3, 40, 3, grid=True)
    dense, sparse = nv.regret(X, y, nv.Perceptron()), nv.regret(csr(X), y, nv.Perceptron())
    assert dense.mistakes == sparse.mistakes
    assert dense.best_errors == sparse.best_errors


@pytest.mark.parametrize("seed", range(3))
def test_many_classes(seed: int) -> None:
    """With random labels, the bound of the worst pair stays below the mistakes of any rule."""
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
