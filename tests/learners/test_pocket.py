"""The pocket, the descent after it, and the lower bound on the number of mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import chain, combinations, islice, pairwise, product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

import novikoff as nv
from novikoff.core import pocket
from novikoff.core.pocket import (
    PocketResult,
    PocketStep,
    averaged_perceptron,
    fill_pocket,
    pocket_steps,
)
from novikoff.core.problem import products, signed_problem
from novikoff.core.rows import Vector
from novikoff.core.schemes import OneVsRest
from novikoff.core.stops import Limits, Stop
from novikoff.geometry import descent
from novikoff.geometry.descent import descend, line_search, logistic, whitening
from novikoff.geometry.fewest_mistakes import fewest_mistakes
from novikoff.geometry.packing import Packing
from novikoff.geometry.scheme_rules import best_together
from novikoff.learners.parameters import seed_of
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.exact import rounded_down
from novikoff.proofs.system_statement import Constraint
from tests.cases import CORNERS, XOR, Signs, case_named, csr, labelled, noisy, planted
from tests.learners.test_regret import fewest_errors
from tests.oracle import margins, signed
from tests.system_oracle import is_feasible

LogisticRegression = import_module("sklearn.linear_model").LogisticRegression  # it has no types
STRATEGIES = ["ratchet", "run_length"]


pytestmark = pytest.mark.usefixtures("brief_descents")


def cost(A: Vector, w: Vector, costs: Vector) -> float:
    return float(costs[margins(A, w) <= 0.0].sum())


def wrong(model: nv.Pocket, X: Vector, y: Signs) -> Vector:
    return np.asarray(y * (X @ model.coef_[0] + model.intercept_[0]) <= 0.0, dtype=np.float64)


# The pocket


def gallant(
    A: Vector,
    most: int,
    rng: np.random.Generator,
    strategy: str,
    start: Vector | None = None,
    weights: Vector | None = None,
) -> PocketResult:
    """The pocket algorithm of Gallant (1990), with rows drawn as in `fill_pocket`."""
    costs = np.ones(len(A)) if weights is None else weights
    w = np.zeros(A.shape[1]) if start is None else start.copy()
    kept = PocketResult(w.copy(), cost(A, w, costs), 0, [(0, cost(A, w, costs))])
    length = longest = 0
    drawn = list[int]()
    while kept.cost > 0 and kept.updates < most:
        if not drawn:
            size, shares = 1 << 14, None if weights is None else weights / weights.sum()
            uneven = shares is not None
            picks = (
                rng.choice(len(A), size, p=shares) if uneven else rng.integers(len(A), size=size)
            )
            drawn = picks[::-1].tolist()
        i = drawn.pop()
        if not margins(A[i : i + 1], w)[0] > 0:
            w += A[i]
            kept.updates += 1
            length = 0
            continue
        length += 1
        errors = cost(A, w, costs)
        if length > longest and (strategy == "run_length" or errors < kept.cost):
            longest = length
            kept.w, kept.cost = w.copy(), errors
            kept.history.append((kept.updates, errors))
    return kept


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_pocket_is_that_of_the_book(
    strategy: str, seed: int, started: bool, weighted: bool
) -> None:
    """With integers and halves, every sum is exact, so both make the same run."""
    X, signs = noisy(seed, 40, 3)
    rng = np.random.default_rng(seed)
    start = np.append(rng.integers(-5, 6, size=3), 1.0) if started else None
    costs = rng.choice(np.array([0.5, 1.0, 4.0]), size=40) if weighted else None
    limits, rng = Limits(updates=150), np.random.default_rng(seed)
    found = fill_pocket(
        signed_problem(X, signs, True), limits, rng, strategy=strategy, start=start, costs=costs
    )
    A = signed(X, signs, True)
    expected = gallant(A, 150, np.random.default_rng(seed), strategy, start, costs)
    assert found.w.tolist() == expected.w.tolist()
    assert (found.cost, found.updates) == (expected.cost, expected.updates)
    # A run of correct rows that continues is the same entry of the pocket.
    assert found.history[-1] == expected.history[-1]
    assert set(found.history) == set(expected.history)
    errors = [price for _, price in found.history]
    assert strategy == "run_length" or all(after < before for before, after in pairwise(errors))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_ends_when_there_are_no_mistakes(strategy: str) -> None:
    case = planted(1, 100, 3, gap=0.3)
    problem = signed_problem(case.X, case.signs, True)
    kept = fill_pocket(problem, Limits(), np.random.default_rng(0), strategy=strategy)
    assert kept.cost == 0.0
    assert cost(case.rows, kept.w, np.ones(100)) == 0.0
    again = fill_pocket(problem, Limits(), np.random.default_rng(0), start=kept.w)
    assert (again.updates, again.history) == (0, [(0, 0.0)])


def test_rows_too_light_to_be_drawn_do_not_hang_it() -> None:
    """The algorithm does not wait for a mistake that is drawn once in 10¹² draws."""
    problem = signed_problem(
        np.array([[1.0], [1.0], [0.0]]), np.array([1, -1, -1], dtype=np.int8), True
    )
    costs = np.array([1.0, 1e-12, 1.0])
    kept = fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0), costs=costs)
    assert kept.cost == 1e-12


# The pocket algorithm as published


def row_by_row(steps: Iterable[PocketStep], A: Vector, costs: Vector) -> list[PocketStep]:
    """Check that each step corrects a mistake and compares all rows; sums of integers are exact."""
    found = list(steps)
    fewest = math.inf
    for k, step in enumerate(found):
        assert step.mistakes == cost(A, step.w, costs)
        assert step.kept == (step.mistakes < fewest)
        fewest = min(fewest, step.mistakes)
        if k > 0:
            before = found[k - 1].w
            assert margins(A[step.row : step.row + 1], before)[0] <= 0.0
            assert costs[step.row] > 0.0
            assert step.w.tolist() == (before + A[step.row]).tolist()
    return found


@pytest.mark.parametrize("storage", [np.asarray, csr])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_step_is_that_of_the_textbook(
    seed: int, fit_intercept: bool, storage: Callable[[Vector], Vector]
) -> None:
    X, signs = noisy(seed, 25, 3)
    rng = np.random.default_rng(seed)
    costs = rng.choice(np.array([0.0, 0.5, 1.0, 4.0]), size=25) if seed % 2 else None
    start = np.append(rng.integers(-5, 6, size=3), float(fit_intercept)) if seed > 1 else None
    problem, A = signed_problem(storage(X), signs, fit_intercept), signed(X, signs, True)
    A[:, -1] *= fit_intercept
    steps = islice(pocket_steps(problem, rng, start=start, costs=costs), 80)
    found = row_by_row(steps, A, np.ones(25) if costs is None else costs)
    assert found[0].row == -1
    assert found[0].w.tolist() == (np.zeros(4) if start is None else start).tolist()
    assert len({step.row for step in found}) > 5


def test_the_steps_end_without_a_mistake() -> None:
    case = planted(1, 60, 3, gap=0.3)
    *_, last = pocket_steps(signed_problem(case.X, case.signs, True), np.random.default_rng(0))
    assert (last.mistakes, last.kept) == (0.0, True)
    *_, same = pocket_steps(
        signed_problem(case.X, case.signs, True), np.random.default_rng(0), start=last.w
    )
    assert (same.row, same.mistakes) == (-1, 0.0)


@pytest.mark.parametrize("lower_bound", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_textbook_returns_the_best_weights_that_its_run_met(
    seed: int, fit_intercept: bool, lower_bound: bool
) -> None:
    """The bound is proved apart from the run and does not change it; `predict` gives all counts."""
    X, y = noisy(seed, 14, 1 + seed % 2)
    y[:2] = 1, -1
    options: Any = {"fit_intercept": fit_intercept, "max_updates": 60, "random_state": seed}
    model: Any = nv.Pocket("textbook", lower_bound=lower_bound, **options).fit(X, y)
    part = X.any(axis=1) | (y > 0) | fit_intercept
    problem = signed_problem(X[part], y[part], fit_intercept)
    met = list(islice(pocket_steps(problem, np.random.default_rng(seed_of(seed))), 61))
    pocket = [step for step in met if step.kept][-1]
    assert [*model.coef_[0], *model.intercept_] == pocket.w.tolist()
    assert not np.any(pocket.w % 1.0)
    assert model.n_updates_ == model.n_mistakes_ == len(met) - 1
    assert model.history_[:, 0].tolist() == list(range(len(met)))
    pockets = np.minimum.accumulate([step.mistakes for step in met])
    assert model.history_[:, 1].tolist() == pockets.tolist()
    assert model.n_errors_ == np.count_nonzero(model.predict(X) != y) <= pockets[-1]
    least = fewest_errors(X, (y > 0).astype(np.int64), 2, fit_intercept)
    assert model.errors_lower_bound_ <= least <= model.n_errors_
    assert not model.optimal_ or model.n_errors_ == least
    nv.verify(model.certificate_, X, y)


@pytest.mark.parametrize("seed", range(8))
def test_one_update_of_the_textbook_adds_one_row_or_none(seed: int) -> None:
    X, y = noisy(3, 30, 2)
    start = np.random.default_rng(seed).normal(size=3)
    model = nv.Pocket("textbook", max_updates=1, random_state=seed)
    model.fit(X, y, coef_init=start[None, :2], intercept_init=start[2:])
    w = np.append(model.coef_[0], model.intercept_)
    allowed = [start, *(start + signed(X, y, True))]
    assert any(np.array_equal(w, one) for one in allowed)
    assert len(np.asarray(model.history_)) == 2


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_textbook_of_many_classes_has_a_run_for_each_rule(
    multi_class: Literal["ovr", "ovo"],
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, size=(30, 2)).astype(np.float64), rng.integers(3, size=30)
    weights = rng.choice([0.0, 0.5, 2.0], size=30)
    model: Any = nv.Pocket("textbook", multi_class=multi_class, max_updates=40, random_state=5)
    model.fit(X, y, sample_weight=weights)
    pairs = [(1, 0), (2, 0), (2, 1)] if multi_class == "ovo" else [(0, None), (1, None), (2, None)]
    for k, (positive, negative) in enumerate(pairs):
        part = weights > 0
        part &= True if negative is None else np.isin(y, (positive, negative))
        signs = np.where(y[part] == positive, 1, -1).astype(np.int8)
        problem = signed_problem(X[part], signs, True)
        steps = pocket_steps(problem, np.random.default_rng(seed_of(5)), costs=weights[part])
        pocket = [step for step in islice(steps, 41) if step.kept][-1]
        assert [*model.coef_[k], model.intercept_[k]] == pocket.w.tolist()
        wrong = (X[part] @ model.coef_[k] + model.intercept_[k] > 0) != (signs > 0)
        assert model.n_errors_[k] == weights[part][wrong].sum()
        assert model.errors_lower_bound_[k] <= model.n_errors_[k]
        nv.verify(model.certificate_[k], X, y, sample_weight=weights)


def test_the_textbook_continues_from_the_last_fit_and_repeats_by_its_seed() -> None:
    X, y = labelled(8, 60, 3)
    fits = [
        nv.Pocket("textbook", random_state=seed, max_updates=50).fit(X, y) for seed in (1, 1, 2)
    ]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert not np.array_equal(fits[0].coef_, fits[2].coef_)
    model: Any = nv.Pocket("textbook", warm_start=True, max_updates=20, random_state=0).fit(X, y)
    before = model.history_[-1, 1]
    model.fit(X, y)
    assert model.history_[0].tolist() == [0.0, before]


def test_the_textbook_rejects_rows_beyond_float64() -> None:
    X = np.array([[1e200], [-1e200], [1e200], [-1e200]])
    with pytest.raises(ValueError, match="scale X down"):
        nv.Pocket("textbook").fit(X, [0, 1, 1, 0])


def test_the_averaged_perceptron_is_the_average_of_all_weights() -> None:
    X, signs = noisy(2, 30, 3)
    A, rng = signed(X, signs, True), np.random.default_rng(5)
    w, total, steps = np.zeros(4), np.zeros(4), 1 << 14
    for i in rng.integers(30, size=steps).tolist():
        w = w + A[i] * (A[i] @ w <= 0.0)
        total += w
    found = averaged_perceptron(
        signed_problem(X, signs, True), Limits(), np.random.default_rng(5), None
    )
    np.testing.assert_allclose(found, total / steps, rtol=1e-9)


# The descent


def exact_cost(s: Vector, q: Vector, costs: Vector, t: Fraction) -> float:
    pairs = zip(s.tolist(), q.tolist(), strict=True)
    return float(costs[[Fraction(a) + t * Fraction(b) <= 0 for a, b in pairs]].sum())


@given(st.data(), st.integers(1, 12))
def test_a_line_search_is_exact(data: st.DataObject, n: int) -> None:
    """Compared with every interval between two breakpoints, including ties and flat rows."""

    def column(low: int, high: int) -> Vector:
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), float)

    s, q, costs = column(-5, 5), column(-3, 3), column(0, 4) / 4.0
    found, t = line_search(s, q, costs)
    breaks = sorted({-Fraction(a) / Fraction(b) for a, b in zip(s, q, strict=True) if b})
    middles = [(a + b) / 2 for a, b in pairwise(breaks)]
    ends = [breaks[0] - 1, breaks[-1] + 1] if breaks else []
    tried = [exact_cost(s, q, costs, at) for at in [Fraction(0), *middles, *ends]]
    assert found == min(tried[1:] or tried)
    assert exact_cost(s, q, costs, Fraction(t)) == found <= tried[0]  # no worse than no step


def test_the_widest_of_equal_stretches_is_taken() -> None:
    s, q = np.array([-1.0, 2.0, -10.0, 20.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert line_search(s, q) == (1.0, 15.0)
    assert line_search(s, np.zeros(4)) == (2.0, 0.0)
    huge_and_small = np.array([1.0, 2.0**-53, 2.0**-53])  # their sum minus each is below zero
    assert line_search(np.array([-3.0, -1.0, -2.0]), np.ones(3), huge_and_small)[0] == 0.0


@pytest.mark.parametrize("storage", [np.asarray, csr, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_descent_only_goes_down(fit_intercept: bool, storage: Callable[[Vector], Vector]) -> None:
    X, signs = noisy(1, 80, 3)
    problem, A = signed_problem(storage(X), signs, fit_intercept), signed(X, signs, fit_intercept)
    rng = np.random.default_rng(0)
    costs = rng.choice(np.array([0.25, 1.0, 3.5]), size=80)
    basis = whitening(problem, rng)
    w = np.append(rng.normal(size=3), rng.normal() * fit_intercept)
    before = w.copy()
    gains = list(descend(problem, w, costs, basis, Limits(), rng))
    errors = [cost(A, w, costs), *(price for _, price in gains)]
    assert len(gains) > 0
    assert all(after < before for before, after in pairwise(errors))
    assert all(cost(A, found, costs) == price for found, price in gains)
    assert fit_intercept or not any(found[-1] for found, _ in gains)
    assert w.tolist() == before.tolist()
    assert not list(descend(problem, w, costs, basis, Limits(seconds=0.0), rng))


def test_a_smooth_start_is_a_logistic_regression() -> None:
    """It equals logistic regression on whitened columns with C = 1/penalty and a penalised bias."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5] + 1000.0
    problem = signed_problem(X, np.where(y > 0, 1, -1).astype(np.int8), True)
    basis = whitening(problem, np.random.default_rng(0))
    white = np.column_stack([X, np.ones(len(X))]) @ basis.T
    np.testing.assert_allclose(white.T @ white / len(X), np.eye(6), atol=1e-2)
    w = logistic(problem, None, basis, Limits(), penalty=1.0)
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(white, y)
    np.testing.assert_allclose(X @ w[:-1] + w[-1], white @ peer.coef_[0], atol=0.05)


# The fewest mistakes


@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 2))
def test_mistakes_bound_and_predictions_agree(seed: int, fit_intercept: bool, d: int) -> None:
    """Compared with all hyperplanes of a fine grid; rows may be on them, repeated, or zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    X = rng.integers(-1, 2, size=(n, d)).astype(np.float64)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    y[0], y[-1] = 1, -1
    model: Any = nv.Pocket(random_state=0, max_updates=100, fit_intercept=fit_intercept).fit(X, y)
    assert model.n_errors_ == (model.predict(X) != y).sum()
    nv.verify(model.certificate_, X, y)
    A = signed(X, y, fit_intercept)
    # Without a bias, `predict` calls rows of zeros negative, so their labels decide.
    always_right = ~A.any(axis=1) & (y < 0)
    biases = np.arange(-26.25, 27.0, 0.5) if fit_intercept else [0.0]
    grid = np.array([*product(*[range(-13, 14)] * d, biases)])
    mistakes = ((A @ grid.T <= 0.0) & ~always_right[:, None]).sum(axis=0)
    assert model.errors_lower_bound_ <= mistakes.min() <= model.n_errors_
    assert model.optimal_ == (model.errors_lower_bound_ == model.n_errors_)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_what_its_attributes_say(
    strategy: Literal["ratchet", "run_length"], refine: bool, fit_intercept: bool
) -> None:
    X, y = labelled(1, 80, 3)
    model: Any = nv.Pocket(
        strategy, refine=refine, fit_intercept=fit_intercept, max_updates=500, random_state=0
    ).fit(X, y)
    assert model.coef_.shape == (1, 3)
    assert fit_intercept or not model.intercept_.any()
    assert model.n_errors_ == wrong(model, X, y).sum() == (model.predict(X) != y).sum()
    assert isinstance(model.n_errors_, int)
    assert isinstance(model.errors_lower_bound_, int)
    assert 0 < model.errors_lower_bound_ <= model.n_errors_
    assert not model.converged_
    assert model.history_[-1, 1] == model.n_errors_
    assert model.n_updates_ == model.n_mistakes_ == 500
    assert model.certificate_.bound == model.errors_lower_bound_
    nv.verify(model.certificate_, X, y)


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_no_cheap_rule_is_better(seed: int, weighted: bool, sparse: bool) -> None:
    """Constants, least squares, logistic regression, the averaged perceptron, the start."""
    rng = np.random.default_rng(seed)
    X, signs = noisy(seed, 50, 3)
    signs[:2], start = (1, -1), rng.normal(size=4)
    costs = rng.choice(np.array([0.1, 0.2, 0.7]), size=50) if weighted else None
    problem = signed_problem(csr(X) if sparse else X, signs, True)
    basis, rng = whitening(problem, rng), np.random.default_rng(seed)
    limits = Limits(updates=50)
    found = fewest_mistakes(problem, costs=costs, start=start, limits=limits, rng=rng, sides=(1, 0))
    rivals = [start, *np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0]])]
    rivals += [logistic(problem, costs, basis, Limits(), steps=steps) for steps in (0, 50)]
    rivals += [averaged_perceptron(problem, Limits(), np.random.default_rng(seed), costs)]
    exact = [Fraction(1)] * 50 if costs is None else [Fraction(c) for c in costs.tolist()]
    for w in (found.w, *rivals):
        with case_named(w):
            mistakes = np.flatnonzero(~(products(problem, w) > 0.0))
            price = sum((exact[i] for i in mistakes.tolist()), Fraction(0))
            assert price == found.mistakes if w is found.w else price >= found.mistakes
    assert found.optimal == (found.mistakes <= found.bound)
    assert rounded_down(found.bound) <= found.bound <= found.mistakes


def test_large_data_is_searched_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are counted, and progress is reported during the search."""
    module = import_module("novikoff.geometry.fewest_mistakes")
    monkeypatch.setattr(module, "SAMPLE_ENTRIES", 1000)
    monkeypatch.setattr(module, "SAMPLE_ROWS_PER_WEIGHT", 50)
    X, y = labelled(2, 3000, 3)
    told: list[tuple[float, float]] = []
    found = fewest_mistakes(
        signed_problem(X.astype(np.float32), y, True),
        limits=Limits(updates=100),
        rng=np.random.default_rng(0),
        sides=(1, -1),
        progress=lambda errors, bound: told.append((errors, bound)),
    )
    assert found.mistakes == (signed(X.astype(np.float32), y, True) @ found.w <= 0.0).sum()
    assert told[-1] == (float(found.mistakes), float(found.bound))
    assert all(a[0] >= b[0] and a[1] <= b[1] for a, b in pairwise(told))


@pytest.mark.parametrize("gap", [0.3, 1e-3, 1e-7])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, csr])
def test_separable_data_ends_without_errors(
    storage: Callable[[Vector], Any], gap: float, fit_intercept: bool
) -> None:
    case = planted(2, 200, 4, gap=gap, fit_intercept=fit_intercept)
    X = storage(case.X)
    model: Any = nv.Pocket(fit_intercept=fit_intercept).fit(X, case.signs)
    assert (model.n_errors_, model.errors_lower_bound_) == (0, 0)
    assert model.optimal_ is True
    assert model.converged_
    assert (model.predict(X) == case.signs).all()
    model.certificate_.verify(X, case.signs)


def test_weights_are_costs() -> None:
    X, y = labelled(3, 80, 3)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 5.0], size=80)
    model: Any = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights)
    assert model.n_errors_ == pytest.approx(weights @ wrong(model, X, y), rel=1e-12)
    model.certificate_.verify(X, y, weights)
    assert 0 < model.errors_lower_bound_ <= model.certificate_.bound
    assert math.nextafter(model.errors_lower_bound_, math.inf) > model.certificate_.bound
    # If every row costs eight times as much, only the costs change.
    dear = nv.Pocket(random_state=0).fit(X, y, sample_weight=weights * 8.0)
    assert np.array_equal(dear.coef_, model.coef_)
    # If one class is expensive enough, it is never misclassified where that is possible.
    heavy = nv.Pocket(random_state=0, class_weight={1: 1000.0, -1: 1.0}).fit(X, y)
    assert not wrong(heavy, X, y)[y == 1].any()
    # Rows of weight 0 are ignored.
    part = weights > 0
    alone = nv.Pocket(random_state=0).fit(X[part], y[part], sample_weight=weights[part])
    assert np.array_equal(alone.coef_, model.coef_)
    # Class weights act as sample weights.
    factors = [80 / (2 * (y == label).sum()) for label in (-1, 1)]
    by_class = nv.Pocket(random_state=0, class_weight="balanced").fit(X, y, sample_weight=weights)
    by_row = nv.Pocket(random_state=0).fit(
        X, y, sample_weight=weights * np.where(y > 0, factors[1], factors[0])
    )
    assert np.array_equal(by_class.coef_, by_row.coef_)


def test_an_optimum_is_not_a_matter_of_rounding() -> None:
    """Mistakes cost 0.1 + 0.2 + 0.3; the bound is the sum of three slightly smaller costs."""
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    weights = np.array([0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    model: Any = nv.Pocket(random_state=0).fit(X, [0, 1] * 3, sample_weight=weights)
    assert model.optimal_ is True
    assert model.n_errors_ == float(Fraction(0.1) + Fraction(0.2) + Fraction(0.3))
    assert model.errors_lower_bound_ <= Fraction(0.1) + Fraction(0.2) + Fraction(0.3)


@pytest.mark.parametrize("refine", [True, False])
def test_it_starts_from_any_linear_model_and_from_the_last_fit(refine: bool) -> None:
    X, y = labelled(6, 100, 4)
    peer = LogisticRegression(C=100.0).fit(X, y)
    before = int((peer.predict(X) != y).sum())
    model: Any = nv.Pocket(refine=refine, warm_start=True, max_updates=1, random_state=0)
    model.fit(X, y, coef_init=peer.coef_, intercept_init=peer.intercept_)
    for _ in range(3):
        assert model.history_[0].tolist() == [0, before]
        assert model.n_errors_ <= before
        before = model.n_errors_
        model.fit(X, y)
    with pytest.raises(ValueError, match="number of features and of classes of the last fit"):
        model.fit(X[:, :2], y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes(multi_class: Literal["ovr", "ovo"]) -> None:
    X, y = load_iris(return_X_y=True)
    model: Any = nv.Pocket(multi_class=multi_class, random_state=0, max_updates=500).fit(X, y)
    assert model.coef_.shape == (3, 4)
    pairs = [(1, 0), (2, 0), (2, 1)] if multi_class == "ovo" else [(0, None), (1, None), (2, None)]
    for k, (positive, negative) in enumerate(pairs):
        part = np.ones(150, dtype=bool) if negative is None else np.isin(y, (positive, negative))
        signs = np.where(y[part] == positive, 1, -1)
        scores = signs * (X[part] @ model.coef_[k] + model.intercept_[k])
        assert model.n_errors_[k] == (scores <= 0.0).sum() >= model.errors_lower_bound_[k]
        model.certificate_[k].verify(X, y)
    assert model.n_errors_[0] == 0  # setosa
    assert not model.converged_
    assert model.score(X, y) > (0.6 if multi_class == "ovr" else 0.97)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_no_time_is_spent_where_none_is_left(
    multi_class: Literal["ovr", "ovo"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rule gets an averaged perceptron even without time, and no expensive step."""
    rng = np.random.default_rng(4)
    y = rng.integers(4, size=800)
    X = rng.normal(size=(4, 8))[y] + rng.normal(size=(800, 8))
    search = import_module("novikoff.geometry.fewest_mistakes")
    packing = import_module("novikoff.geometry.packing")
    made = list[str]()

    def watch(module: Any, name: str) -> None:
        job = getattr(module, name)

        def noted(*given: Any, **words: Any) -> Any:
            made.append(name)
            return job(*given, **words)

        monkeypatch.setattr(module, name, noted)

    for name in ("logistic", "fill_pocket", "descend"):
        watch(search, name)
    watch(packing, "balanced_view")
    rules = import_module("novikoff.geometry.scheme_rules")
    watch(rules, "whitening")
    watch(rules, "sure_products")
    watch(packing, "all_opposite_duplicates")
    watch(search, "sure_products")
    watch(MatrixDigest, "of")
    model = nv.Pocket(multi_class=multi_class, max_seconds=1e-9, random_state=0).fit(X, y)
    each = 6 if multi_class == "ovo" else 4
    assert made == ["of", *["sure_products"] * each]  # X is hashed once; one for each rule
    assert model.score(X, y) > 0.6
    nv.Pocket(multi_class=multi_class, max_updates=100, random_state=0).fit(X, y)
    assert made.count("whitening") == 1  # for all rules
    dear = {"logistic", "fill_pocket", "descend", "balanced_view", "whitening"}
    assert {*made} == dear | {"of", "sure_products", "all_opposite_duplicates"}


def test_time_that_was_given_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the rule is proved to be the best, descents continue from rules near it."""
    X, signs = noisy(5, 80, 3)
    limits, descents = Limits(updates=100, seconds=1e6), list[int]()

    def some(*given: Any) -> Any:
        descents.append(1)
        if len(descents) == 4:
            limits.interrupt()
        return descend(*given)

    monkeypatch.setattr("novikoff.geometry.fewest_mistakes.descend", some)
    options: Any = {"lower_bound": False, "limits": limits, "sides": (1, -1)}
    found = fewest_mistakes(signed_problem(X, signs, True), rng=np.random.default_rng(0), **options)
    assert len(descents) == 4
    assert found.mistakes == (products(found.problem, found.w) <= 0.0).sum()


def test_lower_bounds_of_disjoint_parts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the labels of many rows is wrong: the bound grows with the rows.

    After a contradiction in a sample, all rows need not be searched for a rule without mistakes.
    """
    X, y = labelled(3, 6000, 2)
    y = np.where(X[:, 0] > 0, 1, -1) * np.where(np.arange(len(y)) % 10 == 0, -1, 1)
    sizes, seek = list[int](), Packing.seek

    def noted(self: Packing, limits: Limits) -> None:
        sizes.append(self.passes.n)
        seek(self, limits)

    monkeypatch.setattr(Packing, "seek", noted)
    model: Any = nv.Pocket(random_state=0, max_updates=100).fit(X, y)
    assert 0 < max(sizes) < 6000
    assert 300 <= model.errors_lower_bound_ <= model.n_errors_ <= 600
    model.certificate_.verify(X, y)


def test_rules_of_many_classes_are_no_worse_together_than_cheap_ones() -> None:
    """Good rules whose scores have no common scale give way to cheap ones that have one."""
    rng = np.random.default_rng(4)
    y = rng.integers(4, size=800)
    X = rng.normal(size=(4, 8))[y] * 0.9 + rng.normal(size=(800, 8))
    found = []
    for label in range(4):
        problem = signed_problem(X, np.where(y == label, 1, -1).astype(np.int8), True)
        limits = Limits(updates=100)
        sides = label, None
        best = fewest_mistakes(problem, limits=limits, rng=rng, sides=sides, lower_bound=False)
        found.append(replace(best, w=best.w * 10.0 ** (3 * label)))

    def wrong(rules: list[Vector]) -> int:
        scores = np.column_stack([X, np.ones(800)]) @ np.column_stack(rules)
        return int((scores.argmax(axis=1) != y).sum())

    together = best_together(found, OneVsRest(4), y)
    cheap = min(wrong([rule.cheap[kind] for rule in found]) for kind in range(3))
    assert wrong([rule.w for rule in together]) == cheap < wrong([rule.w for rule in found])
    for rule in together:
        s = products(rule.problem, rule.w)
        assert rule.mistakes == (s <= 0.0).sum() == rule.history[-1][1]


@pytest.mark.parametrize("seed", [28, 285])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_rules_of_many_classes_are_no_worse_together_than_a_constant(
    multi_class: Literal["ovr", "ovo"], seed: int
) -> None:
    """Each rule is at least as good as a constant rule, but their votes need not be."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(14, 40), rng.integers(1, 3), rng.integers(4, 9)
    X, y = rng.integers(-2, 3, size=(n, d)), rng.integers(k, size=n)
    y[rng.random(n) >= rng.random()], y[:k] = k - 1, range(k)
    weights = rng.integers(1, 4, size=n).astype(np.float64)
    model: Any = nv.Pocket(multi_class=multi_class, refine=seed % 2 == 1, max_updates=20)
    model.set_params(random_state=0, lower_bound=False).fit(X, y, sample_weight=weights)
    assert weights[model.predict(X) == y].sum() >= np.bincount(y, weights).max()


def test_a_seed_makes_a_fit() -> None:
    X, y = labelled(8, 120, 5)
    fits = [nv.Pocket(random_state=seed, max_updates=200).fit(X, y) for seed in (1, 1, 2)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert np.array_equal(np.asarray(fits[0].history_), np.asarray(fits[1].history_))
    assert not np.array_equal(fits[0].coef_, fits[2].coef_)
    unproved: Any = nv.Pocket(lower_bound=False, random_state=1, max_updates=200).fit(X, y)
    assert len(unproved.certificate_.contradictions) <= 1
    assert unproved.optimal_ is False
    unproved.certificate_.verify(X, y)


@pytest.mark.parametrize("seconds", [0.3, 1e-9])
def test_a_time_limit_ends_a_long_search(seconds: float) -> None:
    """Without a limit, 10⁹ updates would take minutes; with no time, the rule is still fair."""
    X, y = labelled(10, 2000, 5)
    model: Any = nv.Pocket(max_updates=10**9, max_seconds=seconds, random_state=0).fit(X, y)
    assert model.n_updates_ < 10**9
    assert model.n_errors_ == wrong(model, X, y).sum()
    assert model.n_errors_ <= 0.6 * min((y > 0).sum(), (y < 0).sum())  # the constant rules'
    model.certificate_.verify(X, y)


@pytest.mark.parametrize("refine", [True, False], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e160, 1e300, 1e-170, 1e-300], ids=str)
def test_mistakes_are_counted_right_at_the_ends_of_float64(scale: Any, refine: Any) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-3, 4, size=(12, 3)) * scale, rng.integers(0, 2, 12)
        y[:2] = 0, 1
        model: Any = nv.Pocket(random_state=seed, max_updates=2000, refine=refine).fit(X, y)
        w, b = model.coef_[0].tolist(), Fraction(model.intercept_.tolist()[0])
        mistakes = 0
        for x, sign in zip(X.tolist(), (2 * y - 1).tolist(), strict=True):
            score = sum((Fraction(v) * Fraction(c) for v, c in zip(x, w, strict=True)), b)
            mistakes += sign * score <= 0
        assert model.n_errors_ == mistakes == (model.predict(X) != y).sum()
        assert model.errors_lower_bound_ <= mistakes


def test_an_interrupted_fit_keeps_the_rule_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the descent, and before."""
    X, y = labelled(12, 100, 3)
    for module, name in ((descent, "line_search"), (pocket, "learn_picks")):
        with case_named(name):
            calls, inner = iter(range(20)), getattr(module, name)

            def heard(*arguments: object) -> object:
                if next(calls, None) is None:  # noqa: B023
                    raise KeyboardInterrupt
                return inner(*arguments)  # noqa: B023

            if hasattr(inner, "stats"):  # a compiled loop, whose compilations are counted
                heard.stats = inner.stats  # type: ignore[attr-defined]
            model: Any = nv.Pocket(random_state=0)
            with monkeypatch.context() as patch:
                patch.setattr(module, name, heard)
                with pytest.raises(KeyboardInterrupt):
                    model.fit(X, y)
            assert model.n_errors_ == wrong(model, X, y).sum()


def least_cost(
    X: Vector, signs: Signs, costs: list[Fraction], fit_intercept: bool, zero_is_negative: bool
) -> Fraction:
    """The least cost of the mistakes of any hyperplane, by trying all sets of misclassified rows.

    A row on the hyperplane counts as a mistake or as negative; without a bias, a row of zeros
    counts as negative.
    """
    rows = []
    for i, x in enumerate(X.tolist()):
        values = [*x, 1.0] if fit_intercept else x
        terms = {j: int(signs[i]) * Fraction(value) for j, value in enumerate(values) if value}
        weak = signs[i] < 0 and (zero_is_negative or not terms)
        rows.append(Constraint(f"row {i}", terms, ">=" if weak else ">", Fraction(0)))
    taking = [i for i, price in enumerate(costs) if price > 0]
    every = chain.from_iterable(combinations(taking, k) for k in range(len(taking) + 1))
    for wrong in sorted(every, key=lambda some: sum((costs[i] for i in some), Fraction(0))):
        if is_feasible([rows[i] for i in taking if i not in wrong], X.shape[1] + 1):
            return sum((costs[i] for i in wrong), Fraction(0))
    raise AssertionError


def awkward(seed: int) -> tuple[np.random.Generator, Vector, Any, Any, Any]:
    """Few rows of two or three classes; sometimes with aliased columns, equal rows, weights."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(3, 8)), int(rng.choice([2, 2, 3]))
    X = rng.integers(-2, 3, size=(n, int(rng.integers(1, 4)))).astype(np.float64)
    X = np.column_stack([X, 2.0 * X[:, 0]]) if seed % 3 == 0 else X
    X = X[rng.integers(n, size=n)] if seed % 4 == 0 else X
    X[rng.integers(n)] *= seed % 5 != 0
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = range(n_classes)
    weights = [None, None, rng.choice([0.0, 0.1, 0.7, 3.0], size=n), rng.integers(1, 4, size=n)]
    by_class = {label: float(rng.choice([0.3, 1.0, 2.0])) for label in range(n_classes)}
    return rng, X, y, weights[seed % 4], [None, "balanced", by_class][seed // 4 % 3]


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_bounds_and_optima_are_true(first: int) -> None:
    for seed in range(first, first + 20):
        rng, X, y, weights, class_weight = awkward(seed)
        strategy: Any = ["ratchet", "run_length", "textbook"][seed % 3]
        model: Any = nv.Pocket(strategy, refine=bool(rng.integers(2)), random_state=0)
        model.set_params(fit_intercept=bool(rng.integers(2)), class_weight=class_weight)
        model.set_params(multi_class=["ovr", "ovo"][seed // 2 % 2], max_updates=60)
        costs = np.ones(len(y)) if weights is None else weights.astype(np.float64)
        factors = np.ones(3) if class_weight is None else np.zeros(3)
        if class_weight == "balanced":
            factors = len(y) / (len(np.unique(y)) * np.bincount(y, minlength=3).clip(1))
        elif class_weight is not None:
            factors[list(class_weight)] = list(class_weight.values())
        costs = costs * factors[y]
        if not costs.any():
            continue
        model.fit(X, y, sample_weight=weights)
        f, several = model.model_.scores(X), model.model_.n_rules > 1
        told = model.n_errors_, model.errors_lower_bound_, model.certificate_, model.optimal_
        for rule, signs in enumerate(model.model_.sides[y].T):
            errors, bound, proof, optimal = (part[rule] if several else part for part in told)
            taking = signs != 0
            exact = [Fraction(price) for price in costs[taking].tolist()]
            score, own = f[taking, rule], signs[taking]
            touches = strategy == "textbook" or (score[X[taking].any(axis=1)] == 0.0).any()
            least = least_cost(X[taking], own, exact, model.fit_intercept, bool(touches))
            wrong = np.flatnonzero((score > 0.0) != (own > 0))
            price = sum((exact[i] for i in wrong.tolist()), Fraction(0))
            assert errors == float(price), seed
            assert bound <= proof.bound <= least <= price, seed
            assert not optimal or price == least, seed
            counts = weights is None and class_weight is None
            nv.verify(proof, X, y, sample_weight=None if counts else costs)


BAD: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "one class": ({}, {"y": [1, 1, 1, 1]}),
    "NaN": ({}, {"X": CORNERS * math.nan}),
    "4": ({}, {"y": [0, 1]}),
    "continuous": ({}, {"y": [0.5, 1.5, 0.25, 0.75]}),
    "[Nn]egative": ({}, {"sample_weight": [1, 1, -1, 1]}),
    "zero": ({}, {"sample_weight": [0, 0, 0, 0]}),
    "finite": ({}, {"sample_weight": [1, math.inf, 1, 1]}),
    "Weights must": ({}, {"sample_weight": [1e308] * 4}),
    "shape": ({}, {"sample_weight": [1, 1]}),
    "coef_init": ({}, {"coef_init": [1.0, 2.0, 3.0]}),
    "strategy": ({"strategy": "hope"}, {}),
    "max_updates": ({"max_updates": 0}, {}),
    "max_seconds": ({"max_seconds": 0}, {}),
    "multi_class": ({"multi_class": "all"}, {}),
}


@pytest.mark.parametrize("message", BAD, ids=str)
def test_bad_input_is_rejected(message: Any) -> None:
    options, given = BAD[message]
    model: Any = nv.Pocket().set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": CORNERS, "y": XOR, **given})


def test_extreme_data() -> None:
    """Rows of zeros, a single column, large and small numbers, large weights."""
    twins = nv.Pocket(random_state=0).fit(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1])
    assert (twins.n_errors_, twins.errors_lower_bound_, twins.optimal_) == (2, 2, True)
    origin = nv.Pocket(fit_intercept=False).fit([[0.0], [1.0], [-1.0]], [1, 1, 0])
    assert (origin.n_errors_, origin.errors_lower_bound_) == (1, 1)
    for scale in (1e-150, 1e150):
        with case_named(scale):
            scaled = nv.Pocket(random_state=0, fit_intercept=False).fit(
                (CORNERS - 0.5) * scale, XOR
            )
            assert (scaled.n_errors_, scaled.errors_lower_bound_) == (2, 2)  # two pairs of twins
    dear = nv.Pocket(random_state=0).fit(CORNERS, XOR, sample_weight=[1e290] * 4)
    assert (dear.n_errors_, dear.optimal_) == (1e290, True)


def test_rows_that_cost_nothing_leave_nothing_to_learn() -> None:
    """The only row with a weight is a negative row of zeros, which is correct without a bias."""
    clf = nv.Pocket(fit_intercept=False, random_state=0)
    clf.fit([[1.0], [2.0], [0.0]], [1, 0, 0], sample_weight=[0, 0, 1.0])
    assert (clf.n_errors_, clf.errors_lower_bound_, clf.optimal_) == (0, 0, True)


def test_costs_too_small_to_be_lowered_by_a_thousandth_end_a_descent() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = signed_problem(X, np.array([1, -1, 1, -1], dtype=np.int8), True)
    rng, lines = np.random.default_rng(0), 0

    class Looks(Limits):
        def reached(self, n_epochs: int = 0) -> Stop | None:
            nonlocal lines
            lines += 1
            return Stop.CALLBACK if lines > 20_000 else None

    w, costs = np.array([0.0, 1.0]), np.full(4, 5e-324)
    list(descend(problem, w, costs, whitening(problem, rng), Looks(), rng))
    assert lines < 20_000


@pytest.mark.parametrize("storage", [np.asarray, csr])
def test_a_row_too_short_for_its_square_is_not_a_row_of_zeros(
    storage: Callable[[Vector], Vector],
) -> None:
    """Both rows are on one side of 0 and have different labels, so every rule makes a mistake."""
    X = storage(np.array([[1e-90], [1e90], [0.0]]))
    clf = nv.Pocket(fit_intercept=False, random_state=0).fit(X, [0, 1, 0])
    assert clf.n_errors_ == 1
    assert not clf.converged_
    assert np.count_nonzero(clf.predict(X) != [0, 1, 0]) == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strategy", ["ratchet", "run_length", "textbook"])
def test_rounding_separates_nothing(strategy: Any, seed: int) -> None:
    """Multiples of one row with both labels: rounding of large weights could give any signs."""
    X = np.outer([-0.9, -0.6, -0.3, 0.7], [1.0, 0.5])
    clf = nv.Pocket(strategy, fit_intercept=False, max_updates=100, random_state=seed)
    clf.fit(X, [0, 1, 1, 0])
    assert clf.n_errors_ == 1  # on either side of the origin, at least one row is misclassified
    assert clf.errors_lower_bound_ == (0 if strategy == "textbook" else 1)


@pytest.mark.parametrize(
    ("y", "cells"),
    [
        ([0, 1, 1, 0], ["1 against 0", "1", "no hyperplane misclassifies fewer, proved"]),
        (["a", "b", "c", "b"], ["&#x27;a&#x27; against the rest", "0", "misclassifies fewer"]),
    ],
)
def test_a_notebook_shows_the_diagram_and_after_fit_the_mistakes(
    y: list[int] | list[str], cells: list[str]
) -> None:
    pocket = nv.Pocket(random_state=0)
    before = pocket._repr_mimebundle_()
    assert "sk-" in before["text/html"]
    assert "no hyperplane" not in before["text/html"]
    after = pocket.fit([[0, 0], [0, 1], [1, 0], [1, 1]], y)._repr_mimebundle_()
    assert after["text/plain"] == before["text/plain"]
    table = after["text/html"].rpartition("<table>")[2]
    assert [cell for cell in cells if cell not in table] == []
    assert table.count("<tr>") == 1 + len(np.atleast_1d(pocket.n_errors_))
