"""The pocket, the descent after it, and the proof of how few mistakes there can be."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from novikoff.core import pocket, zero_one
from novikoff.core.lines import line_search
from novikoff.core.pocket import Pocketed, fill_pocket
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Vector
from novikoff.core.smooth import smooth_starts
from novikoff.core.stops import Limits, Stop
from novikoff.core.zero_one import descend
from novikoff.geometry.checker import Dependence
from novikoff.geometry.packing import Packing
from novikoff.geometry.passes import Data
from novikoff.geometry.table import SignedRows
from novikoff.learners import pocket as learner
from tests.cases import Signs, csr, planted
from tests.oracle import margins, signed
from tests.property.test_trajectories import integers, nasty, problems

LogisticRegression = import_module("sklearn.linear_model").LogisticRegression  # it has no types
STRATEGIES = ["ratchet", "run_length"]
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = [0, 1, 1, 0]


@pytest.fixture(autouse=True)
def _brief_descents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search a hundred lines in vain, not thousands: how good they are is for `golden`."""
    monkeypatch.setattr(zero_one, "_MOST_MORE", 0)


def noisy(seed: int, n: int, d: int) -> tuple[Vector, Signs]:
    """Small integers, labelled by a hyperplane, one in five wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(np.float64)
    signs = np.where(X @ rng.integers(1, 4, size=d) > 0, 1, -1)
    return X, (signs * rng.choice([1, 1, 1, 1, -1], size=n)).astype(np.int8)


def cost(A: Vector, w: Vector, prices: Vector) -> float:
    return float(prices[margins(A, w) <= 0.0].sum())


def gallant(
    A: Vector,
    most: int,
    rng: np.random.Generator,
    strategy: str,
    start: Vector | None = None,
    weights: Vector | None = None,
) -> Pocketed:
    """The pocket algorithm as it is in Gallant (1990), rows drawn as `fill_pocket` does."""

    def draws() -> Iterator[int]:
        while True:
            shares = None if weights is None else weights / weights.sum()
            yield from pocket._draw(rng, len(A), shares).tolist()

    prices = np.ones(len(A)) if weights is None else weights
    w = np.zeros(A.shape[1]) if start is None else start.copy()
    kept = Pocketed(w.copy(), cost(A, w, prices), 0, [(0, cost(A, w, prices))], Stop.CLEAN)
    length = longest = 0
    drawn = draws()
    while kept.errors > 0:
        if kept.updates >= most:
            kept.stop = Stop.UPDATES
            break
        i = next(drawn)
        if not margins(A[i : i + 1], w)[0] > 0:
            w += A[i]
            kept.updates += 1
            length = 0
            continue
        length += 1
        errors = cost(A, w, prices)
        if length > longest and (strategy == "run_length" or errors < kept.errors):
            longest = length
            kept.w, kept.errors = w.copy(), errors
            kept.history.append((kept.updates, errors))
    return kept


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(4))
def test_the_pocket_is_that_of_the_book(
    seed: int, strategy: str, started: bool, weighted: bool
) -> None:
    """Integers and halves: every sum is exact, so that both see the same."""
    X, signs = noisy(seed, 40, 3)
    rng = np.random.default_rng(seed)
    start = np.append(rng.integers(-5, 6, size=3), 1.0) if started else None
    weights = rng.choice([0.5, 1.0, 4.0], size=40) if weighted else None
    found = fill_pocket(
        pose(X, signs, True),
        Limits(updates=150),
        np.random.default_rng(seed),
        strategy=strategy,
        start=start,
        weights=weights,
    )
    A = signed(X, signs, True)
    expected = gallant(A, 150, np.random.default_rng(seed), strategy, start, weights)
    assert found.w.tolist() == expected.w.tolist()
    assert (found.errors, found.updates, found.stop) == (
        expected.errors,
        expected.updates,
        expected.stop,
    )
    # A run that goes on is the same entry of the pocket.
    assert found.history[-1] == expected.history[-1]
    assert set(found.history) == set(expected.history)


@pytest.mark.parametrize("seed", range(5))
def test_the_ratchet_only_goes_down(seed: int) -> None:
    """Weights that no float holds exactly must not make it go up by a rounding error."""
    X, signs = noisy(seed, 60, 4)
    prices = np.random.default_rng(seed).choice([0.1, 0.2, 0.3, 0.7], size=60)
    for weights in (None, prices):
        kept = fill_pocket(
            pose(X, signs, True), Limits(updates=500), np.random.default_rng(0), weights=weights
        )
        errors = [price for _, price in kept.history]
        assert len(errors) > 2
        assert all(after < before for before, after in pairwise(errors))
        assert all(after >= before for (before, _), (after, _) in pairwise(kept.history))
        own = np.ones(60) if weights is None else weights
        assert kept.errors == errors[-1] == cost(signed(X, signs, True), kept.w, own)


def test_the_longest_run_may_be_worse() -> None:
    """What tells the two strategies apart: run lengths are luck, the ratchet counts."""
    worse = 0
    for seed in range(10):
        X, signs = noisy(seed, 60, 4)
        kept = fill_pocket(
            pose(X, signs, True),
            Limits(updates=300),
            np.random.default_rng(0),
            strategy="run_length",
        )
        errors = [price for _, price in kept.history]
        worse += any(after > before for before, after in pairwise(errors))
    assert worse > 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_ends_when_there_are_no_mistakes(strategy: str) -> None:
    case = planted(1, 100, 3, gap=0.3)
    problem = pose(case.X, case.signs, True)
    kept = fill_pocket(problem, Limits(), np.random.default_rng(0), strategy=strategy)
    assert (kept.errors, kept.stop) == (0.0, Stop.CLEAN)
    assert cost(case.rows, kept.w, np.ones(100)) == 0.0
    again = fill_pocket(problem, Limits(), np.random.default_rng(0), start=kept.w)
    assert (again.updates, again.history, again.stop) == (0, [(0, 0.0)], Stop.CLEAN)
    assert again.w.tolist() == kept.w.tolist()


def test_the_start_is_the_first_in_the_pocket() -> None:
    X, signs = noisy(3, 50, 3)
    problem = pose(X, signs, True)
    good = fill_pocket(problem, Limits(updates=500), np.random.default_rng(0))
    kept = fill_pocket(problem, Limits(updates=1), np.random.default_rng(1), start=good.w)
    assert kept.errors <= good.errors
    assert kept.history[0] == (0, good.errors)


def test_rows_too_light_to_be_drawn_do_not_hang_it() -> None:
    """A mistake that is drawn once in 10¹² times is not waited for."""
    problem = pose(np.array([[1.0], [1.0], [0.0]]), np.array([1, -1, -1], dtype=np.int8), True)
    weights = np.array([1.0, 1e-12, 1.0])
    kept = fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0), weights=weights)
    assert kept.errors == 1e-12


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Ctrl-C is heard between two calls of the kernel."""
    calls = itertools.count(1)

    def heard(*arguments: object) -> int:
        if next(calls) == at:
            raise KeyboardInterrupt
        return draw(*arguments)

    draw: Callable[..., int] = pocket.draw_until_longer
    monkeypatch.setattr(pocket, "draw_until_longer", heard)


def test_an_interrupted_pocket_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    X, signs = noisy(5, 50, 3)
    interrupt(monkeypatch, 30)
    limits = Limits()
    kept = fill_pocket(pose(X, signs, True), limits, np.random.default_rng(0))
    assert kept.stop is Stop.INTERRUPTED
    assert limits.interrupted
    assert kept.errors == cost(signed(X, signs, True), kept.w, np.ones(50))


@given(
    problems(st.one_of(integers, nasty)),
    st.booleans(),
    st.integers(0, 2**32),
    st.floats(-1.0, 3.0),
    st.integers(-60, 3),
)
def test_a_count_near_an_anchor_is_a_plain_count(
    case: tuple[Vector, Signs], fit_intercept: bool, seed: int, along: float, exponent: int
) -> None:
    """At w = α·w_s + v, from v = 0 to v beyond w_s, and α of any sign."""
    X, signs = case
    rng = np.random.default_rng(seed)
    problem = pose(X, signs, fit_intercept)
    A = signed(X, signs, fit_intercept)
    prices = rng.choice([0.25, 1.0, 2.0], size=len(X))
    count = pocket._Count(problem, prices)
    anchor = rng.choice([0.0, 1.0, -1.0, 0.37], size=problem.p)
    assert count.anchor(anchor) == cost(A, anchor, prices)
    w = along * anchor + 2.0**exponent * rng.choice([0.0, 1.0, -1.0, 0.7], size=problem.p)
    expected = cost(A, w, prices)
    for limit in (expected, expected + 0.25, expected + 100.0, expected / 2, 0.0):
        assert count.below(w, limit) == (expected < limit)


@given(problems(st.integers(-2, 2).map(float)), st.integers(0, 2**32))
def test_a_count_at_ties_is_a_plain_count(case: tuple[Vector, Signs], seed: int) -> None:
    """Whole numbers, as a perceptron has them: rows lie on the plane, before and after."""
    X, signs = case
    rng = np.random.default_rng(seed)
    problem = pose(X, signs, True)
    A = signed(X, signs, True)
    count = pocket._Count(problem, np.ones(len(X)))
    w = rng.integers(-3, 4, size=problem.p).astype(np.float64)
    count.anchor(w)
    for _ in range(5):
        w = w + A[rng.integers(len(A))]
        expected = cost(A, w, np.ones(len(X)))
        assert not count.below(w, expected)
        assert count.below(w, expected + 1.0)


@given(st.integers(0, 2**32), st.integers(2, 30), st.sampled_from([0.1, 1 / 3, 1.7, 1e9]))
def test_a_count_within_rounding_of_the_plane(seed: int, d: int, along: float) -> None:
    """Rows orthogonal to w_s but for rounding, and weights parallel to it but for rounding."""
    rng = np.random.default_rng(seed)
    anchor = np.append(rng.normal(size=d), 0.0)
    X = rng.normal(size=(60, d))
    X[:, -1] = -(X[:, :-1] @ anchor[: d - 1]) / anchor[d - 1]
    signs = rng.choice([-1, 1], size=60).astype(np.int8)
    count = pocket._Count(pose(X, signs, False), np.ones(60))
    count.anchor(anchor)
    w = along * anchor
    expected = cost(signed(X, signs, False), w, np.ones(60))
    assert not count.below(w, expected)
    assert count.below(w, expected + 1.0)


# The descent on the mistakes themselves


def exact_cost(s: Vector, q: Vector, prices: Vector, t: Fraction) -> float:
    wrong = [
        Fraction(a) + t * Fraction(b) <= 0 for a, b in zip(s.tolist(), q.tolist(), strict=True)
    ]
    return float(prices[wrong].sum())


@given(st.data(), st.integers(1, 12))
def test_a_line_search_is_exact(data: st.DataObject, n: int) -> None:
    """Against every stretch between two breakpoints; ties and flat rows included."""

    def column(low: int, high: int) -> Vector:
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), float)

    s, q = column(-5, 5), column(-3, 3)
    prices = column(0, 4) / 4.0
    found, t = line_search(s, q, prices)
    breaks = sorted({-Fraction(a) / Fraction(b) for a, b in zip(s, q, strict=True) if b})
    middles = [(a + b) / 2 for a, b in pairwise(breaks)]
    ends = [breaks[0] - 1, breaks[-1] + 1] if breaks else []
    tried = [exact_cost(s, q, prices, at) for at in [Fraction(0), *middles, *ends]]
    best = min(tried[1:] or tried)
    assert found == best
    assert exact_cost(s, q, prices, Fraction(t)) == found
    assert found <= exact_cost(s, q, prices, Fraction(0))  # no worse than not to move


@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([0.0, 40.0]))
def test_a_line_search_on_reals(seed: int, n: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    s, q = rng.normal(size=n), rng.normal(size=n)
    s *= 2.0 ** (spread * rng.normal(size=n))
    found, t = line_search(s, q, np.ones(n))
    breaks = np.sort(-s / q)
    middles = np.concatenate([[breaks[0] - 1], (breaks[1:] + breaks[:-1]) / 2, [breaks[-1] + 1]])
    best = min(exact_cost(s, q, np.ones(n), Fraction(at)) for at in middles.tolist())
    assert exact_cost(s, q, np.ones(n), Fraction(t)) == found <= best


@settings(max_examples=300)
@given(
    st.integers(0, 2**32),
    st.integers(100, 3000),
    st.floats(-0.5, 3.0),
    st.sampled_from(["even", "few", "many"]),
)
def test_a_line_search_is_exact_where_it_looks_near_by_only(
    seed: int, n: int, shift: float, kind: str
) -> None:
    """Against all breakpoints, sorted and summed; s in no order, and ordered by the breakpoints."""
    rng = np.random.default_rng(seed)
    s, q = rng.normal(size=n) + shift, rng.normal(size=n)
    if seed % 2:
        order = np.argsort(-s / q)
        s, q = s[order], q[order]
    prices = {
        "even": np.ones(n),
        "few": (rng.random(n) < 0.2).astype(np.float64),
        "many": rng.integers(1, 5, n) / 4.0,
    }[kind]
    found, t = line_search(s, q, prices)
    order = np.argsort(-s / q)
    changes = np.where(q < 0.0, prices, -prices)[order]
    best = float((prices[q > 0.0].sum() + np.concatenate([[0.0], np.cumsum(changes)])).min())
    assert found == best
    assert float(prices[s + t * q <= 0.0].sum()) == found


@given(st.integers(0, 2**32), st.integers(2, 300), st.booleans())
def test_a_line_search_looks_as_far_as_it_must(seed: int, wrong: int, mirrored: bool) -> None:
    """One mistake less lies behind as many new ones as can be made up for, less one."""
    rng = np.random.default_rng(seed)
    before, after = rng.uniform(0.1, 0.9, wrong - 1), rng.uniform(2.0, 5.0, 2000)
    s = np.concatenate([np.full(wrong, -1.0), before, after])
    q = np.concatenate([np.ones(wrong), -np.ones(len(before) + len(after))])
    order = rng.permutation(len(s))
    s, q = s[order], q[order] * (-1.0 if mirrored else 1.0)
    found, t = line_search(s, q, np.ones(len(s)))
    assert found == wrong - 1
    assert 1.0 < (-t if mirrored else t) < 2.1


def test_the_widest_of_equal_stretches_is_taken() -> None:
    s, q = np.array([-1.0, 2.0, -10.0, 20.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert line_search(s, q, np.ones(4)) == (1.0, 15.0)
    assert line_search(s, np.zeros(4), np.ones(4)) == (2.0, 0.0)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_a_descent_never_ends_worse_than_it_began(seed: int, fit_intercept: bool) -> None:
    X, signs = noisy(seed, 80, 3)
    problem = pose(X, signs, fit_intercept)
    A = signed(X, signs, fit_intercept)
    rng = np.random.default_rng(seed)
    prices = rng.choice([0.1, 1.0, 3.3], size=80)
    start = smooth_starts(problem, prices, Limits())
    better = 0
    for _ in range(2):
        w = np.append(rng.normal(size=3), rng.normal() * fit_intercept)
        before = w.copy()
        found, errors = descend(problem, w, start.metric, prices, Limits(), rng)
        assert w.tolist() == before.tolist()
        assert errors == cost(A, found, prices) <= cost(A, w, prices)
        assert fit_intercept or found[-1] == 0.0
        better += errors < cost(A, w, prices)
    assert better > 0
    stopped, errors = descend(problem, w, start.metric, prices, Limits(seconds=0.0), rng)
    assert (stopped.tolist(), errors) == (w.tolist(), cost(A, w, prices))


def test_smooth_starts_are_logistic_regressions() -> None:
    """On columns of unit variance and zero mean, C = 1/penalty; the bias is penalised too."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :5]
    signs = np.where(y > 0, 1, -1).astype(np.int8)
    problem = pose(X * 100.0 + 7.0, signs, True)
    found = smooth_starts(problem, np.ones(len(X)), Limits())
    padded = np.column_stack([X, np.ones(len(X))])
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(padded, y)
    scores = (X * 100.0 + 7.0) @ found.weights[0][:-1] + found.weights[0][-1]
    np.testing.assert_allclose(scores, padded @ peer.coef_[0], atol=0.05)
    A, metric = signed(X * 100.0 + 7.0, signs, True), found.metric
    assert metric is not None
    even = A @ np.linalg.cholesky(metric)
    np.testing.assert_allclose(even.T @ even / len(A), np.eye(6), atol=1e-3)  # an even spread


# nv.Pocket


def labelled(seed: int, n: int, d: int) -> tuple[Vector, Signs]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1).astype(np.int8)


def wrong(model: nv.Pocket, X: Vector, y: Signs) -> Vector:
    return np.asarray(y * (X @ model.coef_[0] + model.intercept_[0]) <= 0.0, dtype=np.float64)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_what_its_attributes_say(
    strategy: Literal["ratchet", "run_length"], refine: bool, fit_intercept: bool
) -> None:
    X, y = labelled(1, 80, 3)
    model = nv.Pocket(
        strategy, refine=refine, fit_intercept=fit_intercept, max_updates=500, random_state=0
    ).fit(X, y)
    assert model.coef_.shape == (1, 3)
    assert fit_intercept or not model.intercept_.any()
    assert isinstance(model.n_errors_, int)
    assert model.n_errors_ == wrong(model, X, y).sum() == (model.predict(X) != y).sum()
    assert isinstance(model.errors_lower_bound_, int)
    assert 0 < model.errors_lower_bound_ <= model.n_errors_
    assert model.optimal_ == (model.errors_lower_bound_ == model.n_errors_)
    assert not model.converged_
    assert isinstance(model.history_, np.ndarray)
    assert model.history_.shape == (len(model.history_), 2)
    assert model.history_[-1, 1] == model.n_errors_
    assert model.n_updates_ == model.n_mistakes_ == 500
    assert isinstance(model.certificate_, nv.ErrorBound)
    assert model.certificate_.bound == model.errors_lower_bound_
    nv.verify(model.certificate_, X, y)


def test_the_descent_is_worth_its_while() -> None:
    gained = 0.0
    for seed in range(2):
        X, y = labelled(seed, 100, 4)
        rough = nv.Pocket(refine=False, random_state=0, max_updates=300).fit(X, y)
        fine = nv.Pocket(random_state=0, max_updates=300).fit(X, y)
        assert isinstance(rough.n_errors_, int)
        assert isinstance(fine.n_errors_, int)
        gained += rough.n_errors_ - fine.n_errors_
    assert gained > 0


@pytest.mark.parametrize("gap", [0.3, 1e-3, 1e-7])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_separable_data_ends_without_errors(gap: float, fit_intercept: bool) -> None:
    case = planted(2, 200, 4, gap=gap, fit_intercept=fit_intercept)
    for X in (case.X, csr(case.X)):
        model = nv.Pocket(fit_intercept=fit_intercept).fit(X, case.signs)
        assert (model.n_errors_, model.errors_lower_bound_) == (0, 0)
        assert model.optimal_ is True
        assert model.converged_
        assert (model.predict(X) == case.signs).all()
        assert isinstance(model.certificate_, nv.ErrorBound)
        model.certificate_.verify(X, case.signs)


def test_weights_are_prices() -> None:
    X, y = labelled(3, 80, 3)
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.3, 1.0, 5.0], size=80)
    model = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights)
    assert model.n_errors_ == pytest.approx(weights @ wrong(model, X, y), rel=1e-12)
    assert isinstance(model.certificate_, nv.ErrorBound)
    model.certificate_.verify(X, y, weights)
    assert isinstance(model.errors_lower_bound_, float)
    assert model.errors_lower_bound_ == float(model.certificate_.bound) > 0
    assert isinstance(model.n_errors_, float)
    assert model.errors_lower_bound_ <= model.n_errors_
    # Every row eight times as dear, and nothing else changes.
    dear = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights * 8.0)
    assert np.array_equal(dear.coef_, model.coef_)
    # One class so dear that it is never wrong where that can be.
    heavy = nv.Pocket(random_state=0, class_weight={1: 1000.0, -1: 1.0}).fit(X, y)
    assert not wrong(heavy, X, y)[y == 1].any()


def test_class_weights_are_sample_weights() -> None:
    X, y = labelled(4, 90, 3)
    own = np.random.default_rng(1).choice([0.5, 2.0], size=90)
    factors = [90 / (2 * (y == label).sum()) for label in (-1, 1)]
    by_class = nv.Pocket(random_state=0, class_weight="balanced").fit(X, y, sample_weight=own)
    weights = own * np.where(y > 0, factors[1], factors[0])
    by_row = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights)
    assert by_class.n_errors_ == by_row.n_errors_
    assert np.array_equal(by_class.coef_, by_row.coef_)


def test_rows_without_weight_are_not_there() -> None:
    X, y = labelled(5, 60, 2)
    weights = np.ones(60)
    weights[::3] = 0.0
    part = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights)
    alone = nv.Pocket(random_state=0).fit(X[weights > 0], y[weights > 0], sample_weight=np.ones(40))
    assert np.array_equal(part.coef_, alone.coef_)
    assert part.n_errors_ == alone.n_errors_
    assert isinstance(part.certificate_, nv.ErrorBound)
    part.certificate_.verify(X, y, weights)


@pytest.mark.parametrize("refine", [True, False])
def test_it_starts_from_any_linear_model(refine: bool) -> None:
    X, y = labelled(6, 100, 4)
    peer = LogisticRegression(C=100.0).fit(X, y)
    before = int((peer.predict(X) != y).sum())
    model = nv.Pocket(refine=refine, max_updates=1, random_state=0)
    model.fit(X, y, coef_init=peer.coef_, intercept_init=peer.intercept_)
    assert isinstance(model.n_errors_, int)
    assert isinstance(model.history_, np.ndarray)
    assert model.history_[0].tolist() == [0, before]
    assert model.n_errors_ <= before


def test_a_warm_start_goes_on_from_the_last_fit() -> None:
    X, y = labelled(7, 100, 3)
    model = nv.Pocket(warm_start=True, refine=False, max_updates=50, random_state=0).fit(X, y)
    errors = model.n_errors_
    assert isinstance(errors, int)
    for _ in range(5):
        model.fit(X, y)
        assert isinstance(model.n_errors_, int)
        assert isinstance(model.history_, np.ndarray)
        assert model.history_[0, 1] == errors >= model.n_errors_
        errors = model.n_errors_
    with pytest.raises(ValueError, match="shape of the last fit"):
        model.fit(X[:, :2], y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes(multi_class: Literal["ovr", "ovo"]) -> None:
    X, y = load_iris(return_X_y=True)
    model = nv.Pocket(multi_class=multi_class, random_state=0, max_updates=500).fit(X, y)
    assert model.coef_.shape == (3, 4)
    for name in ("n_errors_", "errors_lower_bound_", "optimal_", "certificate_", "history_"):
        assert len(getattr(model, name)) == 3
    assert isinstance(model.n_errors_, list)
    assert isinstance(model.errors_lower_bound_, list)
    assert isinstance(model.certificate_, list)
    pairs = [(1, 0), (2, 0), (2, 1)] if multi_class == "ovo" else [(0, None), (1, None), (2, None)]
    for k, (positive, negative) in enumerate(pairs):
        part = np.ones(150, dtype=bool) if negative is None else np.isin(y, (positive, negative))
        signs = np.where(y[part] == positive, 1, -1)
        scores = signs * (X[part] @ model.coef_[k] + model.intercept_[k])
        assert model.n_errors_[k] == (scores <= 0.0).sum() >= model.errors_lower_bound_[k]
        model.certificate_[k].verify(X[part], y[part])
    assert model.n_errors_[0] == 0  # setosa
    assert not model.converged_
    assert model.score(X, y) > (0.6 if multi_class == "ovr" else 0.97)


def test_a_seed_makes_a_fit() -> None:
    X, y = labelled(8, 120, 5)
    fits = [nv.Pocket(random_state=seed, max_updates=200).fit(X, y) for seed in (1, 1, 2)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert np.array_equal(np.asarray(fits[0].history_), np.asarray(fits[1].history_))
    assert fits[0].n_errors_ == fits[1].n_errors_
    assert not np.array_equal(fits[0].coef_, fits[2].coef_)


def test_sparse_and_dense_rows_give_the_same_rule() -> None:
    X, y = labelled(9, 120, 5)
    X[np.abs(X) < 0.4] = 0.0
    dense = nv.Pocket(random_state=0, max_updates=300).fit(X, y)
    sparse = nv.Pocket(random_state=0, max_updates=300).fit(csr(X), y)
    assert dense.n_errors_ == sparse.n_errors_
    assert isinstance(sparse.certificate_, nv.ErrorBound)
    nv.verify(sparse.certificate_, X, y)


def test_a_time_limit_ends_a_long_search() -> None:
    """Without it, 10⁹ updates would take minutes; with it, a third of a second."""
    X, y = labelled(10, 2000, 5)
    nv.Pocket(max_updates=1).fit(X, y)  # compiles
    model = nv.Pocket(max_updates=10**9, max_seconds=0.3, random_state=0).fit(X, y)
    assert model.n_updates_ < 10**9
    assert model.n_errors_ == wrong(model, X, y).sum()
    nothing = nv.Pocket(max_seconds=1e-9).fit(X, y)
    assert nothing.n_errors_ == wrong(nothing, X, y).sum()
    assert isinstance(nothing.certificate_, nv.ErrorBound)
    nothing.certificate_.verify(X, y)


def test_without_a_lower_bound() -> None:
    X, y = labelled(11, 60, 3)
    model = nv.Pocket(lower_bound=False, random_state=0).fit(X, y)
    assert isinstance(model.certificate_, nv.ErrorBound)
    assert len(model.certificate_.contradictions) <= 1
    assert model.optimal_ is False
    model.certificate_.verify(X, y)


@pytest.mark.parametrize("scale", [1.0, 1e160, 1e300, 1e-170, 1e-300])
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_mistakes_are_counted_right_at_the_ends_of_float64(
    scale: float, refine: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(12, 3)) * scale, rng.integers(0, 2, 12)
    y[:2] = 0, 1
    model = nv.Pocket(random_state=seed, max_updates=2000, refine=refine).fit(X, y)
    w, b = [Fraction(v) for v in model.coef_[0].tolist()], Fraction(model.intercept_.tolist()[0])
    exact = [sum(Fraction(v) * c for v, c in zip(x, w, strict=True)) + b for x in X.tolist()]
    signs = (2 * y - 1).tolist()
    wrong = sum(sign * score <= 0 for sign, score in zip(signs, exact, strict=True))
    assert model.n_errors_ == wrong
    assert model.errors_lower_bound_ <= wrong
    model.predict(X)  # no score is beyond float64


def test_an_interrupted_fit_keeps_the_rule_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(12, 100, 3)
    interrupt(monkeypatch, 20)
    model = nv.Pocket(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_errors_ == wrong(model, X, y).sum()


def test_an_interrupted_fit_does_not_go_on_to_the_descent(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Stop | None] = []

    def look(problem: Problem, w: Vector, *rest: object) -> tuple[Vector, float]:
        seen.extend(limits.reached() for limits in rest if isinstance(limits, Limits))
        return w, 0.0

    monkeypatch.setattr(learner, "descend", look)
    X, y = labelled(12, 100, 3)
    interrupt(monkeypatch, 20)
    with pytest.raises(KeyboardInterrupt):
        nv.Pocket(random_state=0).fit(X, y)
    assert seen == [Stop.INTERRUPTED]


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "one class": (lambda: nv.Pocket().fit(CORNERS, [1, 1, 1, 1]), "one class"),
    "NaN": (lambda: nv.Pocket().fit(CORNERS * math.nan, XOR), "NaN"),
    "lengths": (lambda: nv.Pocket().fit(CORNERS, [0, 1]), "inconsistent"),
    "targets": (lambda: nv.Pocket().fit(CORNERS, [0.5, 1.5, 0.25, 0.75]), "continuous"),
    "negative weight": (lambda: weigh([1, 1, -1, 1]), "[Nn]egative"),
    "no weight": (lambda: weigh([0, 0, 0, 0]), "zero"),
    "infinite weight": (lambda: weigh([1, math.inf, 1, 1]), "inf"),
    "weights": (lambda: weigh([1, 1]), "shape"),
    "coef": (lambda: nv.Pocket().fit(CORNERS, XOR, [1.0, 2.0, 3.0]), "coef_init"),
    "intercept": (
        lambda: nv.Pocket(fit_intercept=False).fit(CORNERS, XOR, intercept_init=1.0),
        "intercept_init",
    ),
    "strategy": (lambda: configure(strategy="hope"), "strategy"),
    "updates": (lambda: configure(max_updates=0), "max_updates"),
    "seconds": (lambda: configure(max_seconds=0), "max_seconds"),
    "classes": (lambda: configure(multi_class="all"), "multi_class"),
}


def weigh(weights: list[float]) -> object:
    return nv.Pocket().fit(CORNERS, XOR, sample_weight=weights)


def configure(**options: object) -> object:
    return nv.Pocket().set_params(**options).fit(CORNERS, XOR)


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    fit, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        fit()


def test_weights_that_cannot_be_added_are_refused_or_added() -> None:
    """Either is fine, a warning of NumPy's or an error about probabilities is not."""
    with pytest.raises(ValueError, match="Weights beyond"):
        nv.Pocket().fit(CORNERS, XOR, sample_weight=[1e308] * 4)
    model = nv.Pocket(random_state=0).fit(CORNERS, XOR, sample_weight=[1e290] * 4)
    assert (model.n_errors_, model.optimal_) == (1e290, True)


def test_extreme_data() -> None:
    """Rows of zeros, a single column, large and small numbers."""
    twins = nv.Pocket(random_state=0).fit(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1])
    assert (twins.n_errors_, twins.errors_lower_bound_, twins.optimal_) == (2, 2, True)
    origin = nv.Pocket(fit_intercept=False).fit([[0.0], [1.0], [-1.0]], [1, 1, 0])
    assert (origin.n_errors_, origin.errors_lower_bound_) == (1, 1)
    for scale in (1e-150, 1e150):
        scaled = nv.Pocket(random_state=0, fit_intercept=False).fit((CORNERS - 0.5) * scale, XOR)
        assert (scaled.n_errors_, scaled.errors_lower_bound_) == (2, 2)  # two pairs of twins


# The proof


def proof_of(X: Vector, y: list[int], weights: Vector | None = None) -> nv.ErrorBound:
    found = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights).certificate_
    assert isinstance(found, nv.ErrorBound)
    return found


FOUR = np.vstack([CORNERS, CORNERS + 10.0 * CORNERS.mean(), 3.0 * CORNERS - 1.0, CORNERS])


def test_a_proof_survives_its_text() -> None:
    X, y = labelled(13, 60, 3)
    for proof in (proof_of(X, y.tolist()), proof_of(FOUR, XOR * 4)):
        text = proof.to_json()
        again = nv.ErrorBound.from_json(text)
        assert again == proof
        assert again.to_json() == text
    nv.verify(nv.ErrorBound.from_json(proof_of(FOUR, XOR * 4).to_json()), FOUR, XOR * 4)


def test_an_altered_text_is_refused() -> None:
    text = proof_of(CORNERS, XOR).to_json()
    body = json.loads(text)
    body["n"] = 5
    for altered in (json.dumps(body), text.replace("lower bound", "upper bound"), "{}", "[]", "x"):
        with pytest.raises(nv.CertificateError):
            nv.ErrorBound.from_json(altered)
    separable = nv.separate([[1.0], [2.0]], [0, 1]).certificate
    assert separable is not None
    with pytest.raises(nv.CertificateError, match="kind"):
        nv.ErrorBound.from_json(separable.to_json())
    with pytest.raises(nv.CertificateError):
        nv.Certificate.from_json(text)


def first(proof: nv.ErrorBound, claim: Dependence) -> nv.ErrorBound:
    return replace(proof, contradictions=(claim, *proof.contradictions[1:]))


def moved(proof: nv.ErrorBound) -> nv.ErrorBound:
    """The first contradiction is said to be among other rows."""
    claim = proof.contradictions[0]
    used = {i for each in proof.contradictions for i in each.among or ()}
    free = next(i for i in range(proof.n) if i not in used)
    among = (*(claim.among or ())[1:], free)
    return first(proof, replace(claim, among=tuple(sorted(among)), rows=(), multipliers=()))


MUTANTS: dict[str, Callable[[nv.ErrorBound], nv.ErrorBound]] = {
    "bound raised": lambda p: replace(p, bound=p.bound + 1),
    "bound raised a little": lambda p: replace(p, bound=p.bound + Fraction(1, 10**20)),
    "one left out": lambda p: replace(p, contradictions=p.contradictions[1:]),
    "one twice": lambda p: replace(
        p, contradictions=(*p.contradictions, p.contradictions[0]), bound=p.bound + 1
    ),
    "one twice for another": lambda p: first(p, p.contradictions[1]),
    "other rows": moved,
    "no rows": lambda p: first(p, replace(p.contradictions[0], among=(), rows=(), multipliers=())),
    "rows not named": lambda p: first(p, replace(p.contradictions[0], among=None)),
    "a row twice": lambda p: first(
        p, replace(p.contradictions[0], among=(p.contradictions[0].among or ()) * 2)
    ),
    "a weight more": lambda p: first(
        p,
        Dependence(
            (p.contradictions[0].among or ())[:1],
            (Fraction(1, 2),),
            True,
            p.contradictions[0].among,
        ),
    ),
    "weights of zero": lambda p: first(
        p,
        Dependence(
            p.contradictions[0].among or (),
            (Fraction(-1),) * len(p.contradictions[0].among or ()),
            True,
            p.contradictions[0].among,
        ),
    ),
    "classes exchanged": lambda p: replace(p, positive=p.negative, negative=p.positive),
    "rows more": lambda p: replace(p, n=p.n + 1),
    "columns more": lambda p: replace(p, d=p.d + 1),
    "other digest": lambda p: replace(p, sha256="0" * 64),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_rejected(mutant: str) -> None:
    X, y = labelled(14, 60, 2)
    proof = proof_of(X, y.tolist())
    assert len(proof.contradictions) >= 3
    altered = MUTANTS[mutant](proof)
    with pytest.raises(nv.CertificateError):
        altered.verify(X, y)
    with pytest.raises(nv.CertificateError):
        nv.verify(nv.ErrorBound.from_json(altered.to_json()), X, y)


def test_altered_multipliers_are_rejected() -> None:
    """Each multiplier of each contradiction, by a relative 10⁻³."""
    X, y = labelled(15, 50, 3)
    proof = proof_of(X, y.tolist())
    proof.verify(X, y)
    altered = 0
    for k, claim in enumerate(proof.contradictions):
        for j, mu in enumerate(claim.multipliers):
            changed = (
                *claim.multipliers[:j],
                mu + (1 + abs(mu)) / 1000,
                *claim.multipliers[j + 1 :],
            )
            claims = list(proof.contradictions)
            claims[k] = replace(claim, multipliers=changed)
            with pytest.raises(nv.CertificateError):
                replace(proof, contradictions=tuple(claims)).verify(X, y)
            altered += 1
    assert altered > 5


def test_other_data_is_rejected() -> None:
    proof = proof_of(FOUR, XOR * 4)
    proof.verify(FOUR, XOR * 4)
    nudged = FOUR.copy()
    nudged[3, 1] = math.nextafter(nudged[3, 1], 2.0)
    for X, y in ((nudged, XOR * 4), (FOUR, XOR * 3 + [1, 1, 1, 0]), (FOUR[:-1], (XOR * 4)[:-1])):
        with pytest.raises(nv.CertificateError):
            nv.verify(proof, X, y)


def test_other_weights_are_rejected() -> None:
    """The bound is proved for the prices given, and for larger ones."""
    weights = np.tile([2.0, 3.0, 2.0, 4.0], 4)
    proof = proof_of(FOUR, XOR * 4, weights)
    assert proof.bound >= 2 * len(proof.contradictions) > 0
    proof.verify(FOUR, XOR * 4, weights)
    proof.verify(FOUR, XOR * 4, weights + 1.0)
    with pytest.raises(nv.CertificateError, match="prove mistakes of"):
        proof.verify(FOUR, XOR * 4)
    with pytest.raises(nv.CertificateError, match="prove mistakes of"):
        proof.verify(FOUR, XOR * 4, weights * (1.0 - 2.0**-50))
    for bad in (weights[:-1], -weights, weights * math.nan, np.zeros(16)):
        with pytest.raises(nv.CertificateError):
            proof.verify(FOUR, XOR * 4, bad)


def test_a_packing_adds_up_the_cheapest_row_of_each() -> None:
    X, signs = noisy(1, 40, 2)
    prices = np.random.default_rng(0).choice([1.0, 2.0, 5.0], size=40)
    data = Data(pose(X, signs, True), SignedRows(X, signs, True))
    try:
        packing = Packing(data, prices)
        packing.take_twins()
        twins = len(packing.contradictions)
        while packing.take_next(Limits()):
            pass
    finally:
        data.close()
    rows = [claim.among or () for claim in packing.contradictions]
    assert 0 < twins < len(rows)
    assert packing.complete
    assert packing.bound == sum(prices[list(among)].min() for among in rows)
    assert len(set().union(*rows)) == sum(map(len, rows))


def brute_force(problem: Problem) -> Iterator[float]:
    """The mistakes of many hyperplanes."""
    rng = np.random.default_rng(0)
    A = signed(np.asarray(problem.rows[0]), problem.rows.signs, bool(problem.rows.bias))
    for _ in range(2000):
        yield cost(A, rng.normal(size=problem.p), np.ones(len(A)))


@pytest.mark.parametrize("seed", range(5))
def test_no_hyperplane_is_below_the_bound(seed: int) -> None:
    X, signs = noisy(seed, 30, 2)
    proof = proof_of(X, signs.tolist())
    assert proof.bound <= min(brute_force(pose(X, signs, True)))
