"""`nv.Pocket`: its rule, the lower bound on the number of mistakes, and their proofs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import chain, combinations, islice, product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import novikoff as nv
from novikoff.core import pocket
from novikoff.core.pocket import (
    pocket_steps,
)
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.geometry import descent
from novikoff.learners.parameters import seed_of
from novikoff.proofs.digest import MatrixDigest
from novikoff.proofs.system_statement import Constraint
from tests.cases import CORNERS, XOR, Signs, case_named, csr, labelled, noisy, planted
from tests.learners.test_regret import fewest_errors
from tests.oracle import signed
from tests.system_oracle import is_feasible

LogisticRegression = import_module("sklearn.linear_model").LogisticRegression  # it has no types
STRATEGIES = ["ratchet", "run_length"]


pytestmark = pytest.mark.usefixtures("brief_descents")


def wrong(model: nv.Pocket, X: Vector, y: Signs) -> Vector:
    return np.asarray(y * (X @ model.coef_[0] + model.intercept_[0]) <= 0.0, dtype=np.float64)


# The strategy "textbook"


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
