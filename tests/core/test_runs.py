"""K problems that run together give the same results as single runs, on integers to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novikoff.core.model import LinearModel
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.runs import Plan, Run, train, train_rule
from novikoff.core.schemes import OneVsRest
from novikoff.core.stops import Limits, Stop
from tests.cases import SEQUENCES, csr, update_of
from tests.oracle import PA, PA1, Perceptron, Relaxation, Rule

K = 4


def blobs(seed: int, n: int = 60, d: int = 11) -> tuple[Vector, Indices]:
    """K classes that overlap a little: some runs end with a clean cycle, others do not."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(K, size=n)
    X = rng.normal(size=(n, d)) + 2.5 * rng.normal(size=(K, d))[codes]
    X *= rng.random((n, d)) < 0.8
    return np.round(4.0 * X), codes


def together(
    X: Vector, codes: Indices, order: str, update: Rule, limits: Limits, *, sparse: bool,
    fit_intercept: bool = True, **options: Any,
) -> Run:  # fmt: skip
    problem = signed_problem(csr(X) if sparse else X, np.ones(len(X), dtype=np.int8), fit_intercept)
    plan = Plan(update_of(update), SEQUENCES[order](len(X)), limits, seed=3, average=True)
    return train(problem, codes, OneVsRest(K), plan, **options)


def single_run(
    X: Vector, codes: Indices, c: int, order: str, update: Rule, limits: Limits, *, sparse: bool,
    fit_intercept: bool = True, start: Vector | None = None, **options: Any,
) -> Run:  # fmt: skip
    signs = np.where(codes == c, 1, -1).astype(np.int8)
    problem = signed_problem(csr(X) if sparse else X, signs, fit_intercept)
    plan = Plan(update_of(update), SEQUENCES[order](len(X)), limits, seed=3, average=True)
    return train_rule(problem, plan, start=None if start is None else start[:, c], **options)


def equal_runs(*data: Any, **options: Any) -> Run:
    """The run of all problems together, after a check that it equals the single runs."""
    X, codes, *how = data
    whole = together(X, codes, *how, **options)
    assert_equal(whole, [single_run(X, codes, c, *how, **options) for c in range(K)])
    return whole


def assert_equal(whole: Run, parts: list[Run]) -> None:
    joined = Run.joined(parts)
    assert whole.W.tolist() == joined.W.tolist()
    assert whole.counts.weighted.tolist() == joined.counts.weighted.tolist()
    assert whole.counts.totals.tolist() == joined.counts.totals.tolist()
    assert whole.update_counts.toarray().tolist() == joined.update_counts.toarray().tolist()
    assert whole.begun.tolist() == joined.begun.tolist()
    assert whole.stops == joined.stops


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order(sparse: bool, order: str) -> None:
    whole = equal_runs(*blobs(1), order, Perceptron(), Limits(epochs=12), sparse=sparse)
    assert len(set(whole.begun.tolist())) > 1  # some ended sooner than others
    whole = equal_runs(*blobs(2), order, Perceptron(), Limits(30, updates=17), sparse=sparse)
    assert Stop.UPDATES in whole.stops  # the limit applies to each problem
    assert whole.counts.totals[1].max() == 17


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", ["permuted", "random"])
def test_weights_and_a_start(fit_intercept: bool, sparse: bool, order: str) -> None:
    equal_runs(
        *blobs(3),
        order,
        Perceptron(threshold=0.5, step_size=0.25),
        Limits(epochs=9),
        sparse=sparse,
        fit_intercept=fit_intercept,
        start=np.round(4.0 * np.random.default_rng(0).normal(size=(12, K))),
        sample_weight=np.tile([1.0, 0.0, 0.5], 20),
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("update", [PA(), PA1(C=0.1), Relaxation(threshold=1.0)], ids=str)
def test_steps_that_are_not_exact_agree_up_to_rounding(sparse: bool, update: Rule) -> None:
    X, codes = blobs(4)
    whole = together(X, codes, "permuted", update, Limits(epochs=3), sparse=sparse)
    for c in range(K):
        part = single_run(X, codes, c, "permuted", update, Limits(epochs=3), sparse=sparse)
        np.testing.assert_allclose(whole.W[:, c], part.W[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_were_not_predicted_are_wrong(sparse: bool) -> None:
    """Before its update, a row's own class must have the single largest score."""
    X, codes = blobs(6)
    model = LinearModel(np.arange(K), X.shape[1])
    expected, W = [], np.zeros((X.shape[1] + 1, K))
    for x, code in zip(X, codes, strict=True):
        scores = np.append(x, 1.0) @ W
        rivals = [c for c in range(K) if c != code and scores[c] >= scores[code]]
        best = max(rivals, key=lambda c: scores[c], default=code)
        expected.append(-1 if rivals and scores[best] == scores[code] else best)
        for c in range(K):
            sign = 1.0 if c == code else -1.0
            if not sign * scores[c] > 0.0:
                W[:, c] += sign * np.append(x, 1.0)
    predicted = model.learn(csr(X) if sparse else X, codes, update_of(Perceptron()))
    assert 0 < (predicted != codes).sum() < len(X)
    assert predicted.tolist() == expected
    assert model.W.tolist() == W.tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_a_margin_that_is_not_a_number_is_not_clean(sparse: bool) -> None:
    X = np.array([[1e200, -1e200], [1e200, 1e200], [1.0, 2.0]])
    with pytest.raises(ValueError, match="range of float64"):
        together(X, np.array([0, 0, 1]), "cyclic", Perceptron(), Limits(epochs=9), sparse=sparse)
