"""A9: the mistake bounds of the second-order perceptron, by its potential and its determinant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from tests.cases import csr, planted, planted_integers
from tests.oracle import Vector


class Ran:
    """One pass, or a mutant of it, in plain NumPy, which solves a system with A for each row."""

    def __init__(self, A: Vector, a: float, mutant: str = "", c: Any = 1.0) -> None:
        p, c = A.shape[1], np.broadcast_to(c, len(A))
        M, v = a * np.eye(p), np.zeros(p)
        mistaken, self.potential = [], 0.0
        self.sound = True  # whether every mistake raised Φ by at most ⟨a, A⁻¹a⟩
        for t, row in enumerate(A):
            now = np.outer(row, row)
            wrong = not row @ np.linalg.solve(M + now, v) > 0.0
            now = now if mutant == "A without weights" else c[t] * now
            if wrong:
                mistaken.append(t)
                before, v = float(v @ np.linalg.solve(M, v)), v + c[t] * row
                gain = float(c[t] ** 2 * row @ np.linalg.solve(M + now, row))
                after = float(v @ np.linalg.solve(M + now, v))
                self.sound &= after - before <= gain + 1e-9 * (before + gain)
                self.potential += gain
            if wrong or mutant == "always":
                M = M + (0.0 if mutant == "every other mistake" and t % 2 else 1.0) * now
        self.mistaken, self.M = np.array(mistaken, dtype=int), M
        self.log_det = float(np.linalg.slogdet(M / a)[1])
        self.phi = float(v @ np.linalg.solve(M, v))


def assert_bounded(ran: Ran, A: Vector, a: float, u: Vector) -> None:
    """Check the inequalities of the potential, and the bound for two margins."""
    rows = A[ran.mistaken]
    quadratic = a * float(u @ u) + float(((rows @ u) ** 2).sum())
    assert ran.sound
    assert ran.phi <= ran.potential * (1.0 + 1e-9)
    assert ran.potential <= ran.log_det * (1.0 + 1e-9)
    for margin in (float((A @ u).min()), 1.0):
        hinge = float(np.maximum(0.0, margin - rows @ u).sum())
        for growth in (ran.potential, ran.log_det):
            bound = nv.bounds.second_order_bound(margin, hinge, quadratic, growth)
            assert len(rows) <= bound * (1.0 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), a=st.sampled_from([0.1, 1.0, 30.0]), sparse=st.booleans())
def test_mistakes_potential_and_determinant_satisfy_the_bound(
    seed: int, a: float, sparse: bool
) -> None:
    case = planted(seed, 120, 4, gap=0.2)
    clf = nv.SecondOrderPerceptron(a=a, order="cyclic", max_epochs=1)
    with np.errstate(all="raise"):
        clf.partial_fit(csr(case.X) if sparse else case.X, case.signs, classes=[-1, 1])
    ran = Ran(case.rows, a)
    assert clf.n_mistakes_ == len(ran.mistaken)
    np.testing.assert_allclose([clf.log_det_[0], clf.potential_[0]], [ran.log_det, ran.potential])
    assert_bounded(ran, case.rows, a, case.w_star)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), a=st.sampled_from([0.1, 1.0, 30.0]))
def test_weighted_mistakes_are_bounded_by_the_potential(seed: int, a: float) -> None:
    """The sum of c over the mistakes is at most (D + √(uᵀAu·G))/γ.

    The mutant is a matrix A without the weights c.
    """
    case, margin = planted(seed, 120, 4, gap=0.2), 1.0
    c = np.random.default_rng(seed).choice([0.25, 1.0, 7.0], size=120)
    clf = nv.SecondOrderPerceptron(a, order="cyclic", max_epochs=1)
    clf.partial_fit(case.X, case.signs, classes=[-1, 1], sample_weight=c)
    ran, mutant = (Ran(case.rows, a, m, c) for m in ("", "A without weights"))
    assert clf.n_mistakes_ == len(ran.mistaken)
    np.testing.assert_allclose([clf.log_det_[0], clf.potential_[0]], [ran.log_det, ran.potential])
    assert ran.phi <= ran.potential * (1.0 + 1e-9)
    assert not np.isclose(mutant.log_det, clf.log_det_[0])
    rows, own, u = case.rows[ran.mistaken], c[ran.mistaken], case.w_star
    quadratic = a * float(u @ u) + float(own @ (rows @ u) ** 2)
    hinge = float(own @ np.maximum(0.0, margin - rows @ u))
    bound = nv.bounds.second_order_bound(margin, hinge, quadratic, float(clf.potential_[0]))
    assert own.sum() <= bound * (1.0 + 1e-9)


def skewed(n: int = 3000, d: int = 20) -> tuple[Vector, Vector]:
    """Return rows whose label depends on their last and smallest direction alone."""
    A = np.random.default_rng(0).normal(size=(n, d)) * np.append(np.full(d - 1, 5.0), 1.0)
    A = A[np.abs(A[:, -1]) > 0.2]
    return A * np.sign(A[:, -1:]), np.append(np.zeros(d - 1), 1.0)


def test_it_makes_fewer_mistakes_than_the_perceptron_on_a_skewed_spectrum() -> None:
    A, u = skewed()
    kinds = nv.Perceptron, nv.SecondOrderPerceptron
    first, second = (
        kind(fit_intercept=False).partial_fit(A, np.ones(len(A)), classes=[-1, 1]).n_mistakes_
        for kind in kinds
    )
    ran = Ran(A, 1.0)
    assert second == len(ran.mistaken) < first / 5
    assert_bounded(ran, A, 1.0, u)


@pytest.mark.parametrize("mutant", ["always", "every other mistake"])
def test_a_matrix_of_other_rows_than_the_mistakes_breaks_the_proof(mutant: str) -> None:
    """Φ ≤ Σ⟨a, A⁻¹a⟩ ≤ ln det holds only if A grows with each mistake, and at no other row."""
    A, u = skewed()
    assert_bounded(Ran(A, 1.0), A, 1.0, u)
    with pytest.raises(AssertionError):
        assert_bounded(Ran(A, 1.0, mutant), A, 1.0, u)


def test_weights_are_right_after_thousands_of_updates_on_dense_and_sparse_rows() -> None:
    """After thousands of rank-one updates, w still agrees with a direct solution of A w = v."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 30)) * np.geomspace(100.0, 0.1, 30)
    y = np.where(
        rng.random(6000) < 0.4, 1, -1
    )  # random labels, so that about half of the rows are mistakes
    full = nv.SecondOrderPerceptron(order="cyclic").partial_fit(X, y, classes=[-1, 1])
    ran = Ran(np.column_stack([X, np.ones(6000)]) * y[:, None], 1.0)
    assert full.n_mistakes_ == len(ran.mistaken) > 2000
    rows = np.column_stack([X, np.ones(6000)])[ran.mistaken]
    w = np.linalg.solve(np.eye(31) + rows.T @ rows, rows.T @ y[ran.mistaken])
    np.testing.assert_allclose(np.append(full.coef_[0], full.intercept_), w, rtol=1e-6, atol=1e-9)
    case = planted_integers(3, 80, 4)
    clf: Any = nv.SecondOrderPerceptron(random_state=0)
    dense = clf.fit(case.X, case.signs).update_counts_.tolist()
    assert clf.fit(csr(case.X), case.signs).update_counts_.tolist() == dense
    np.testing.assert_allclose(
        clf.decision_function(csr(case.X)), clf.decision_function(case.X), rtol=1e-12
    )


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12])
def test_the_bound_holds_with_one_very_large_direction(size: float) -> None:
    """A rank-one update of A⁻¹ itself would make s = ⟨a, A⁻¹a⟩ negative from 1e8 on."""
    rng = np.random.default_rng(1)
    X = np.column_stack([size * (1.0 + 0.01 * rng.normal(size=20)), rng.normal(size=20)])
    clf = nv.SecondOrderPerceptron(order="cyclic").fit(X, X[:, 1] > 0)
    quadratic = 1.0 + float(clf.update_counts_ @ X[:, 1] ** 2)
    growth = float(clf.potential_[0])
    assert clf.converged_
    assert clf.n_mistakes_ <= nv.bounds.second_order_bound(
        float(np.abs(X[:, 1]).min()), 0.0, quadratic, growth
    )
