"""A12: each unit of a tower gets one more row right than the unit before, until all are."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.tower import better_unit
from tests.oracle import Vector


def parity(d: int) -> tuple[Vector, Any]:
    X = np.array(list(itertools.product([0.0, 1.0], repeat=d)))
    return X, X.sum(axis=1) % 2


def two_spirals() -> tuple[Vector, Any]:
    """The 194 points of Lang and Witbrock (1988)."""
    k = np.arange(97)
    radius, angle = 6.5 * (104 - k) / 104, k * np.pi / 16
    arm = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    return np.vstack([arm, -arm]), np.repeat([1, 0], 97)


def assert_one_more_right(errors: list[int]) -> None:
    assert (np.diff(errors) < 0).all()


def test_no_errors_on_what_no_line_separates() -> None:
    for data, most in [(parity(2), 2), (parity(4), 8), (two_spirals(), 80)]:
        X, y = data
        assert nv.separate(X, y).kind == "inseparable"
        clf = nv.TowerClassifier(random_state=0).fit(X, y)
        assert clf.predict(X).tolist() == y.tolist()
        assert (clf.n_errors_, clf.n_unavoidable_, clf.converged_) == (0, 0, True)
        assert_one_more_right(clf.unit_errors_[0])
        assert len(clf.unit_errors_[0]) == clf.n_units_ <= most


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 30), d=st.integers(1, 3), k=st.integers(2, 3))
def test_any_rows_and_labels(seed: int, n: int, d: int, k: int) -> None:
    """Also with identical rows of different labels, which are counted."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(n, d)), np.append(np.arange(k), rng.integers(0, k, size=n))[:n]
    clf = nv.TowerClassifier(random_state=0, max_updates=20).fit(X, y)
    least = 0  # of identical rows, all but those of the most frequent label
    for row in {tuple(row) for row in X.tolist()}:
        labels = [label for x, label in zip(X.tolist(), y.tolist(), strict=True) if tuple(x) == row]
        least += len(labels) - max(map(labels.count, labels))
    assert clf.n_errors_ == clf.n_unavoidable_ == least == (clf.predict(X) != y).sum()
    for errors in clf.unit_errors_:
        assert_one_more_right(errors)


def answers(unit: Any, points: list[list[int]], before: list[int]) -> list[int]:
    """The signs of the weighted sums, in rationals."""
    found = []
    for z, answer in zip(points, before, strict=True):
        seen = [*z, sum(x * x for x in z), answer, 1]
        net = sum(Fraction(float(w)) * x for w, x in zip(unit, seen, strict=True))
        found.append(1 if net > 0 else -1)
    return found


points = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.lists(st.integers(-4, 4), min_size=d, max_size=d),
        min_size=2,
        max_size=8,
        unique_by=tuple,
    )
)


@given(points=points, data=st.data())
def test_the_better_unit_changes_one_answer(points: list[list[int]], data: st.DataObject) -> None:
    before = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(points)))[: len(points)]
    i = data.draw(st.integers(0, len(points) - 1))
    Z = np.array([[*z, sum(x * x for x in z)] for z in points], dtype=float)
    unit, m = better_unit(Z, i, -before[i])
    assert m > 0
    changed = [*before[:i], -before[i], *before[i + 1 :]]
    assert answers(unit, points, before) == changed


def test_other_weights_do_not() -> None:
    """The mutants: another weight on the answer before, another bias, no square of the length."""
    for change in [(-2, 2.0), (-2, 0.5), (-1, 0.5), (-3, 0.0), (-3, -1.0)]:
        place, factor = change
        rng, wrong = np.random.default_rng(0), 0
        for _ in range(30):
            points = np.unique(rng.integers(-4, 5, size=(8, 2)), axis=0)
            before = rng.choice([-1, 1], size=len(points)).tolist()
            Z = np.column_stack([points, (points**2).sum(axis=1)]).astype(float)
            unit, _ = better_unit(Z, 0, -before[0])
            unit[place] *= factor
            changed = [-before[0], *before[1:]]
            wrong += answers(unit, points.tolist(), before) != changed
        assert wrong > 10


def test_limits_are_kept_and_told() -> None:
    X, y = two_spirals()
    clf = nv.TowerClassifier(max_units=3, random_state=0).fit(X, y)
    assert (clf.n_units_, clf.converged_) == (3, False)
    assert clf.n_errors_ == clf.unit_errors_[0][-1] > 0
    near = np.array([[0.0], [1e-12], [2e-12], [1.0]])  # too close for the squares of float64
    with pytest.warns(ConvergenceWarning, match="rows stay wrong: they are too close"):
        clf = nv.TowerClassifier(random_state=0).fit(near, [0, 1, 0, 1])
    assert not clf.converged_
    assert clf.n_errors_ == (clf.predict(near) != [0, 1, 0, 1]).sum() > 0


def test_the_same_bits_row_by_row_and_far_from_the_origin() -> None:
    X, y = two_spirals()
    clf = nv.TowerClassifier(random_state=0).fit(X + 1000.0, y)
    whole = clf.decision_function(X + 1000.0)
    assert [float(clf.decision_function(x[None] + 1000.0)[0]) for x in X] == whole.tolist()
    again = nv.TowerClassifier(random_state=0).fit(sp.csr_array(X + 1000.0), y)
    assert again.decision_function(X + 1000.0).tolist() == whole.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-140, 1e140):
            assert nv.TowerClassifier(random_state=0).fit(X * scale, y).converged_


def test_bad_input() -> None:
    X, y = parity(2)
    with pytest.raises(ValueError, match="entries beyond 1e\\+150: scale it down"):
        nv.TowerClassifier().fit(X * 1e200, y)
    with pytest.raises(ValueError, match="The score of row 1 is beyond the range of float64"):
        nv.TowerClassifier().fit(X * 1e-100, y).predict([[0.0, 0.0], [1e100, 0.0]])
    with pytest.raises(ValueError, match="'max_units' parameter of TowerClassifier must be"):
        nv.TowerClassifier(0).fit(X, y)
    with pytest.raises(ValueError, match="NaN in row 0, column 0"):
        nv.TowerClassifier().fit([[np.nan], [1.0]], [0, 1])


def test_float32_rows_and_rows_that_float64_cannot_tell_apart() -> None:
    X, y = two_spirals()
    assert nv.TowerClassifier(random_state=0).fit(X.astype(np.float32), y).converged_
    near = np.array([[1e6], [0.0], [1e-3], [2e-3], [3e-3], [4e-3]])
    with pytest.warns(ConvergenceWarning, match="too close to others for float64"):
        nv.TowerClassifier(random_state=0).fit(near, np.arange(6) % 2)
