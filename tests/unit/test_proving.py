"""The proof of the lower bound beside the search, and contradictions of dependent columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import novikoff as nv
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Vector
from novikoff.core.smooth import Start, smooth_starts
from novikoff.core.stops import Limits
from novikoff.geometry import faces
from novikoff.geometry.checker import check_contradiction
from novikoff.geometry.error_bound import ErrorBound
from novikoff.geometry.min_norm import View, plain_view
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import OutOfTimeError, balance
from novikoff.geometry.table import SignedRows
from novikoff.learners import pocket as learner
from tests.cases import Signs


def noisy(seed: int) -> tuple[Vector, Signs]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    return X, np.where(X[:, 0] + rng.normal(size=120) > 0.0, 1, -1).astype(np.int8)


@pytest.mark.parametrize("seed", range(3))
def test_beside_or_afterwards_is_the_same(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    X, y = noisy(seed)
    monkeypatch.setattr(learner, "cores", lambda: 2)
    beside = nv.Pocket(random_state=0, max_updates=100).fit(X, y)
    patient = nv.Pocket(random_state=0, max_updates=100, max_seconds=1e6).fit(X, y)
    monkeypatch.setattr(learner, "cores", lambda: 1)
    after = nv.Pocket(random_state=0, max_updates=100).fit(X, y)
    assert beside.certificate_ == after.certificate_ == patient.certificate_
    assert beside.n_errors_ == after.n_errors_ == patient.n_errors_
    assert beside.coef_.tolist() == after.coef_.tolist() == patient.coef_.tolist()
    assert isinstance(beside.errors_lower_bound_, int)
    assert beside.errors_lower_bound_ > 1
    assert isinstance(beside.certificate_, ErrorBound)
    nv.verify(beside.certificate_, X, y)


def test_the_descent_has_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(0)
    shares: list[float] = []

    def look(problem: Problem, prices: Vector, limits: Limits) -> Start:
        shares.append(limits.seconds or 0.0)
        return smooth_starts(problem, prices, limits)

    monkeypatch.setattr(learner, "smooth_starts", look)
    nv.Pocket(random_state=0, max_updates=100, max_seconds=1000.0).fit(X, y)
    assert 400.0 < shares[0] <= 500.0


class SearchError(Exception):
    """Something that goes wrong in the search."""


def test_a_failed_search_ends_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the fit would wait for all contradictions before it could say so."""
    X, y = noisy(0)
    seen: list[bool] = []

    def prove(task: learner._Task, packing: object) -> None:
        while not task.limits.interrupted:
            pass
        seen.append(True)

    def fail(task: learner._Task) -> None:
        raise SearchError

    monkeypatch.setattr(learner, "cores", lambda: 2)
    monkeypatch.setattr(learner._Task, "_prove", prove)
    monkeypatch.setattr(learner._Task, "_search", fail)
    with pytest.raises(SearchError):
        nv.Pocket(random_state=0).fit(X, y)
    assert seen == [True]


def doubled() -> tuple[View, Vector]:
    """Three rows around the origin, with a column twice and a column of ones for the signs."""
    A = np.array([[1.0, 0.25, 0.25], [-0.5, 1.0, 1.0], [-0.3, -0.7, -0.7]])
    signs = np.ones(3, dtype=np.int8)
    data = Data(pose(A, signs, False), SignedRows(A, signs, False))
    return plain_view(data), A


def test_dependent_columns_need_no_facial_reduction(monkeypatch: pytest.MonkeyPatch) -> None:
    view, A = doubled()
    weights = np.linalg.svd(A.T)[2][-1]
    weights = weights / weights[0]
    assert (weights > 0.0).all()
    monkeypatch.setattr(faces, "partition", lambda *_: pytest.fail("not needed"))
    claim = faces.contradiction(view, np.arange(3), weights, Limits())
    assert claim is not None
    assert claim.exact
    assert claim.among == (0, 1, 2)
    check_contradiction(claim, view.data.table)


def test_a_balance_is_exact() -> None:
    view, A = doubled()
    factors = balance(view.data.table, np.array([0, 1]), 2, Limits())
    assert factors is not None
    for column in A.T.tolist():
        total = sum(f * Fraction(x) for f, x in zip(factors, column, strict=False))
        assert total + Fraction(column[2]) == 0


def test_no_balance_where_columns_disagree_or_rows_depend() -> None:
    A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [2.0, 0.0, 2.0]])
    signs = np.ones(4, dtype=np.int8)
    table = SignedRows(A, signs, False)
    assert balance(table, np.array([0, 1]), 2, Limits()) is None
    assert balance(table, np.array([0, 3]), 2, Limits()) is None


def test_a_balance_has_no_time() -> None:
    view, _ = doubled()
    with pytest.raises(OutOfTimeError):
        balance(view.data.table, np.array([0, 1]), 2, Limits(seconds=0.0))


def test_a_negative_balance_contradicts_nothing() -> None:
    """a_0 = 2·a_1 balances with λ < 0: these rows can be separated."""
    A = np.array([[2.0, 2.0], [1.0, 1.0]])
    signs = np.ones(2, dtype=np.int8)
    data = Data(pose(A, signs, False), SignedRows(A, signs, False))
    assert faces.contradiction(plain_view(data), np.arange(2), np.ones(2), Limits()) is None


def test_the_bound_on_real_rows_verifies() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    doubled = np.column_stack([X[:, :4], X[:, 0]])  # a column twice
    model = nv.Pocket(random_state=0, max_updates=100).fit(doubled, y)
    assert isinstance(model.errors_lower_bound_, int)
    assert isinstance(model.n_errors_, int)
    assert isinstance(model.certificate_, ErrorBound)
    assert 5 < model.errors_lower_bound_ <= model.n_errors_
    assert model.n_errors_ == (model.predict(doubled) != y).sum()
    nv.verify(model.certificate_, doubled, y)


def test_the_hyperplanes_of_the_stages_are_combined_within_the_time() -> None:
    """Rows far apart in size need a tiny ε, which is looked for step by step."""
    rows = np.array([[1.0, -(2.0**300)], [0.0, 1.0]])
    signs = np.ones(2, dtype=np.int8)
    data = Data(pose(rows, signs, False), SignedRows(rows, signs, False))
    stages = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    parts = [np.array([0]), np.array([1])]
    found = faces._combined(data, stages, parts, np.arange(0), Limits())
    assert found is not None
    first, second = found
    assert first > second * 2**300 > 0
    with pytest.raises(OutOfTimeError):
        faces._combined(data, stages, parts, np.arange(0), Limits(interrupted=True))
