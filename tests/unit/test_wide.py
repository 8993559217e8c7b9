"""Rows within a turn of some weights: none may be missed when they are picked from a part."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.wide import Wide, distances, doubt_at, gathered
from tests.cases import csr, planted


def posed(seed: int, exponent: int = 0, sparse: bool = False) -> Problem:
    """Rows of many lengths, close to a plane and far from it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)) * 2.0 ** rng.integers(-6, 6, size=(200, 1))
    X[::50] = 0.0
    signs = np.where(X[:, 0] + 0.3 * X[:, 1] < 0.0, -1, 1).astype(np.int8)
    X = X * 2.0**exponent
    return pose(csr(X) if sparse else X, signs, False)


def within(problem: Problem, delta: float, w: Vector, rho: float) -> Indices:
    """The rows within ρ of w, with all rows looked at."""
    least = delta + 4.0 * doubt_at(problem, w)
    return np.flatnonzero(distances(problem.rows, np.arange(problem.n), w, least) <= rho)


@pytest.mark.parametrize("sparse", [False, True])
@given(
    seed=st.integers(0, 2**32),
    exponent=st.sampled_from([-250, -40, 0, 40, 200]),
    angle=st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 0.5]),
    growth=st.sampled_from([0.5, 0.9, 1.0, 1.0 + 1e-12, 1.1, 1.9, 3.0]),
    share=st.floats(0.0, 1.2),
    delta=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_what_is_covered_holds_every_row_that_is_near(
    sparse: bool,
    seed: int,
    exponent: int,
    angle: float,
    growth: float,
    share: float,
    delta: float,
) -> None:
    problem = posed(seed, exponent, sparse)
    rng = np.random.default_rng(seed)
    before = np.append(np.array([1.0, 0.3, 0.0, 0.0]) + 0.1 * rng.normal(size=4), 0.0)
    w = growth * before + angle * np.append(rng.normal(size=4), 0.0)
    delta *= 2.0**exponent
    wide = Wide(problem, delta, before, 0.7)
    rho = share * growth * wide.rho
    if wide.covers(w, rho):
        assert wide.within(w, rho).tolist() == within(problem, delta, w, rho).tolist()


def test_covers_up_to_the_turn_that_is_left() -> None:
    problem = posed(3)
    before = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    wide = Wide(problem, 0.0, before, 0.75)
    aside = before + np.array([0.0, 0.25, 0.0, 0.0, 0.0])
    assert wide.covers(aside, 0.499)
    assert not wide.covers(aside, 0.501)
    assert not wide.covers(-before, 0.1)
    assert not wide.covers(0.4 * before, 0.01)
    assert not wide.covers(3.0 * before, 0.01)


def test_with_a_threshold_shrinking_weights_are_not_covered() -> None:
    """⟨a, βw⟩ − δ falls faster than β·(⟨a, w⟩ − δ) for β < 1."""
    wide = Wide(posed(4), 0.1, np.array([1.0, 0.0, 0.0, 0.0, 0.0]), 0.5)
    assert wide.covers(1.01 * wide.w, 0.1)
    assert not wide.covers(0.99 * wide.w, 0.1)


def test_rows_left_out_are_as_far_away_as_they_should_be_exactly() -> None:
    """Every row outside, in rationals: (⟨a_i, w⟩ − δ)² > ρ²·‖a_i‖² for all covered w."""
    case = planted(5, 400, 3, gap=1e-3)
    problem = pose(case.X, case.signs, True)
    rng = np.random.default_rng(0)
    before = 3.0 * rng.normal(size=4)
    wide = Wide(problem, 0.0, before, 0.3)
    outside = np.setdiff1d(np.arange(problem.n), wide.chosen)
    assert len(outside) > 0
    tested = 0
    for size in (1e-12, 1e-6, 1e-2, 0.2):
        w = before + size * rng.normal(size=4)
        beta = float(w @ before) / wide.square
        rho = beta * wide.rho - float(np.linalg.norm(w - beta * before)) - 1e-8
        tested += wide.covers(w, rho)
        for i in outside:
            row = [Fraction(float(x)) for x in [*case.X[i], 1.0]]
            m = int(case.signs[i]) * sum(
                a * Fraction(float(b)) for a, b in zip(row, w, strict=True)
            )
            assert m > 0
            assert m * m > Fraction(rho) ** 2 * sum(a * a for a in row)
    assert tested == 4


def test_threads_change_nothing() -> None:
    problem = posed(6)
    w = np.array([1.0, 0.5, -0.25, 0.0, 0.0])
    one = distances(problem.rows, np.arange(problem.n), w, 0.0)
    assert distances(problem.rows, np.arange(problem.n), w, 0.0, 3).tobytes() == one.tobytes()
    assert (
        Wide(problem, 0.0, w, 0.5, 2).chosen.tolist() == Wide(problem, 0.0, w, 0.5).chosen.tolist()
    )
    assert np.isneginf(one[::50]).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_gathered_rows_are_the_rows(sparse: bool) -> None:
    problem = posed(7, sparse=sparse)
    w = np.array([1.0, 0.5, -0.25, 2.0, 0.0])
    chosen = np.array([3, 7, 50, 199])
    found = distances(gathered(problem.rows, chosen), np.arange(4), w, 0.0)
    assert found.tobytes() == distances(problem.rows, chosen, w, 0.0).tobytes()
