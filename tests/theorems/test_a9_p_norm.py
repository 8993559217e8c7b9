"""A9: the p-norm perceptron makes at most (p − 1)·(X·‖u‖_q/γ)² mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from tests.cases import csr, planted, planted_integers
from tests.oracle import Vector, signed

Link = Callable[[Vector, float], Vector]


def gradient(theta: Vector, p: float) -> Vector:
    """∇½‖θ‖_p², the power as the definition has it."""
    length = (np.abs(theta) ** p).sum() ** (1.0 / p)
    w = np.sign(theta) * np.abs(theta) ** (p - 1.0)
    return np.asarray(w / length ** (p - 2.0) if length > 0.0 else w)


def mistakes_of(link: Link, A: Vector, p: float) -> int:
    """One pass in plain NumPy, with any link from θ to w."""
    theta, mistakes = np.zeros(A.shape[1]), 0
    for a in A:
        if not a @ link(theta, p) > 0.0:
            theta = theta + a
            mistakes += 1
    return mistakes


def assert_bounded(mistakes: int, A: Vector, u: Vector, p: float) -> None:
    """Hold the theorem against a separating u."""
    X = float((np.abs(A) ** p).sum(axis=1).max() ** (1.0 / p))
    q = p / (p - 1.0)
    norm = float((np.abs(u) ** q).sum() ** (1.0 / q))
    assert mistakes <= nv.bounds.p_norm_bound(p, X, norm, float((A @ u).min())) * (1.0 + 1e-9)


def sparse_target(n: int, d: int, seed: int = 0) -> tuple[Vector, Vector]:
    """Rows of ±1 whose label three features decide, signed, and the target."""
    rng = np.random.default_rng(seed)
    X, u = rng.choice([-1.0, 1.0], size=(n, d)), np.zeros(d)
    u[:3] = 1.0
    return signed(X, np.sign(X @ u), fit_intercept=False)[:, :-1], u


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), p=st.sampled_from([2.0, 2.5, 4.0, 11.0]))
def test_mistakes_agree_with_the_definition_and_stay_below_the_bound(seed: int, p: float) -> None:
    case = planted(seed, 120, 4, gap=0.3)
    clf = nv.PNormPerceptron(p=p).partial_fit(case.X, case.signs, classes=[-1, 1])
    assert_bounded(clf.n_mistakes_, case.rows, case.w_star, p)
    assert clf.n_mistakes_ == mistakes_of(gradient, case.rows, p)
    theta, u = clf.model_.state["theta"][0], case.w_star
    np.testing.assert_allclose(np.append(clf.coef_[0], clf.intercept_), gradient(theta, p))
    losses = float(
        np.maximum(0.0, 5.0 - case.rows @ u).sum()
    )  # a margin γ that only a few rows reach
    X = float((np.abs(case.rows) ** p).sum(axis=1).max() ** (1.0 / p))
    norm = float((np.abs(u) ** (p / (p - 1.0))).sum() ** ((p - 1.0) / p))
    assert clf.n_mistakes_ <= nv.bounds.p_norm_bound(p, X, norm, 5.0, losses)


def test_a_sparse_target_is_learned_with_few_mistakes() -> None:
    A, u = sparse_target(3000, 200)
    p = 2.0 * math.log(200)
    many, few = (mistakes_of(gradient, A, power) for power in (2.0, p))
    clf = nv.PNormPerceptron(p=p, fit_intercept=False)
    clf.partial_fit(A, np.ones(len(A)), classes=[-1, 1])
    assert clf.n_mistakes_ == few
    assert_bounded(few, A, u, p)
    assert few < many / 4


@pytest.mark.parametrize(
    "mutant",
    [
        lambda theta, p: theta,  # the weights of the perceptron, measured in another norm
        lambda theta, p: np.abs(theta) ** (p - 1.0),  # the sign forgotten
        lambda theta, p: -gradient(theta, p),
    ],
    ids=["another norm", "the sign forgotten", "negated"],
)
def test_a_wrong_link_function_breaks_the_bound(mutant: Callable[[Vector, float], Vector]) -> None:
    A, u = sparse_target(6000, 1000)
    p = 2.0 * math.log(1000)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes_of(mutant, A, p), A, u, p)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 5), sparse=st.booleans())
def test_with_p_2_the_run_is_that_of_the_perceptron(seed: int, d: int, sparse: bool) -> None:
    case = planted_integers(seed, 60, d)
    X = csr(case.X) if sparse else case.X
    one = nv.PNormPerceptron(random_state=0).fit(X, case.signs)
    other = nv.Perceptron(random_state=0).fit(X, case.signs)
    counts = [np.asarray(clf.update_counts_).tolist() for clf in (one, other)]
    assert counts[0] == counts[1]
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)


def test_scaling_the_data_by_a_large_power_of_two_does_not_change_the_run() -> None:
    case = planted(5, 200, 3, gap=0.2, fit_intercept=False)
    clf = nv.PNormPerceptron(p=20.0, fit_intercept=False, order="cyclic")
    assert len({clf.fit(case.X * 2.0**k, case.signs).n_mistakes_ for k in (-150, 0, 150)}) == 1
    assert clf.converged_


@pytest.mark.parametrize("size", [50, 7, 1])
def test_a_stream_in_pieces_gives_the_same_weights_as_in_one_call(size: int) -> None:
    """Inexact sums of many ties: the weights have the same bits however the stream is cut."""
    rng = np.random.default_rng(5)
    X, y = rng.choice([-1.0, 0.0, 1.0], size=(300, 6)), rng.integers(0, 2, 300)
    whole = nv.PNormPerceptron(2.5).partial_fit(X, y, classes=[0, 1])
    clf = nv.PNormPerceptron(2.5)
    for begin in range(0, 300, size):
        part = slice(begin, begin + size)
        clf.partial_fit(X[part], y[part], classes=[0, 1])
    assert clf.n_mistakes_ == whole.n_mistakes_
    assert clf.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_a_very_large_p_converges_for_rows_of_any_length(size: float) -> None:
    A, _ = sparse_target(200, 20)
    clf = nv.PNormPerceptron(500, fit_intercept=False, order="cyclic").fit(
        size * np.vstack([A, -A]), np.repeat([1, 0], 200)
    )
    assert clf.converged_
    assert (clf.predict(size * A) == 1).all()
