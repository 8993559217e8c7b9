"""K problems side by side run exactly as each would alone, to the last bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novikoff.core.ledger import Run
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.updates import PA, PA1, Aggressive, Perceptron, Relaxation, Update
from tests.cases import SEQUENCES, csr

K = 4


def blobs(seed: int, n: int = 60, d: int = 11) -> tuple[Vector, Indices]:
    """K classes that overlap a little: some problems end clean, some do not."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(K, size=n)
    X = rng.normal(size=(n, d)) + 2.5 * rng.normal(size=(K, d))[codes]
    X *= rng.random((n, d)) < 0.8
    return X, codes


def together(
    X: Vector,
    codes: Indices,
    order: str,
    update: Update,
    limits: Limits,
    *,
    sparse: bool = False,
    start: Vector | None = None,
    weights: Vector | None = None,
    fit_intercept: bool = True,
) -> Run:
    problem = pose(csr(X) if sparse else X, np.ones(len(X), dtype=np.int8), fit_intercept)
    return run(
        problem,
        update,
        SEQUENCES[order](len(X)),
        limits,
        np.random.default_rng(3),
        codes=codes,
        n_classes=K,
        start=start,
        weights=weights,
        average=True,
    )


def alone(
    X: Vector,
    codes: Indices,
    c: int,
    order: str,
    update: Update,
    limits: Limits,
    *,
    sparse: bool = False,
    start: Vector | None = None,
    weights: Vector | None = None,
    fit_intercept: bool = True,
) -> Run:
    signs = np.where(codes == c, 1, -1).astype(np.int8)
    return run(
        pose(csr(X) if sparse else X, signs, fit_intercept),
        update,
        SEQUENCES[order](len(X)),
        limits,
        np.random.default_rng(3),
        start=None if start is None else start[:, c : c + 1],
        weights=weights,
        average=True,
    )


def assert_equal(whole: Run, parts: list[Run]) -> None:
    for c, part in enumerate(parts):
        assert whole.W[:, c].tolist() == part.W[:, 0].tolist()
        assert whole.averaged()[:, c].tolist() == part.averaged()[:, 0].tolist()
        assert whole.ledger.counts[:, c].tolist() == part.ledger.counts[:, 0].tolist()
        assert whole.ledger.updates[c] == part.ledger.updates[0]
        assert whole.ledger.mistakes[c] == part.ledger.mistakes[0]
        assert whole.ledger.steps[c] == part.ledger.steps[0]
        assert whole.epochs[c] == part.epochs[0]
        assert whole.stops[c] == part.stops[0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order(order: str, sparse: bool) -> None:
    X, codes = blobs(1)
    whole = together(X, codes, order, Perceptron(), Limits(epochs=12), sparse=sparse)
    parts = [
        alone(X, codes, c, order, Perceptron(), Limits(epochs=12), sparse=sparse) for c in range(K)
    ]
    assert_equal(whole, parts)
    assert len(set(whole.epochs.tolist())) > 1  # some ended sooner than others


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", SEQUENCES)
def test_the_limit_on_updates_is_each_problems_own(order: str, sparse: bool) -> None:
    X, codes = blobs(2)
    limit = 17
    whole = together(X, codes, order, Perceptron(), Limits(30, updates=limit), sparse=sparse)
    parts = [
        alone(X, codes, c, order, Perceptron(), Limits(30, updates=limit), sparse=sparse)
        for c in range(K)
    ]
    assert_equal(whole, parts)
    assert Stop.UPDATES in whole.stops
    assert whole.ledger.updates.max() == limit


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_and_a_start(fit_intercept: bool) -> None:
    X, codes = blobs(3)
    weights = np.tile([1.0, 0.0, 0.3], 20)
    start = np.random.default_rng(0).normal(size=(12, K))
    for sparse, order in itertools.product([False, True], ["permuted", "random"]):
        whole = together(
            X,
            codes,
            order,
            Perceptron(margin=0.5, step=0.3),
            Limits(epochs=9),
            sparse=sparse,
            start=start,
            weights=weights,
            fit_intercept=fit_intercept,
        )
        parts = [
            alone(
                X,
                codes,
                c,
                order,
                Perceptron(margin=0.5, step=0.3),
                Limits(epochs=9),
                sparse=sparse,
                start=start,
                weights=weights,
                fit_intercept=fit_intercept,
            )
            for c in range(K)
        ]
        assert_equal(whole, parts)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "update", [PA(), PA1(C=0.1), Relaxation(margin=1.0), Aggressive()], ids=str
)
def test_every_update(update: Update, sparse: bool) -> None:
    X, codes = blobs(4)
    whole = together(X, codes, "permuted", update, Limits(epochs=3), sparse=sparse)
    parts = [
        alone(X, codes, c, "permuted", update, Limits(epochs=3), sparse=sparse) for c in range(K)
    ]
    assert_equal(whole, parts)


def test_margins_within_rounding_of_zero() -> None:
    """Rows orthogonal to the start, up to rounding: every order of summation says else.

    The step is too short to move w, so that every row stays where rounding decides.
    """
    rng = np.random.default_rng(5)
    X, codes = blobs(5, n=80, d=19)
    start = rng.normal(size=(20, K))
    X[:, 18] = -(X[:, :18] @ start[:18, 0] + start[19, 0]) / start[18, 0]
    update = Perceptron(step=2.0**-80)
    for sparse in (False, True):
        limits = Limits(epochs=2)
        whole = together(X, codes, "permuted", update, limits, sparse=sparse, start=start)
        parts = [
            alone(X, codes, c, "permuted", update, limits, sparse=sparse, start=start)
            for c in range(K)
        ]
        assert_equal(whole, parts)
        assert whole.W.tolist() == start.tolist()
        assert 20 < whole.ledger.updates[0] < 140  # of 160: rounding went both ways


@pytest.mark.parametrize("sparse", [False, True])
def test_a_margin_that_is_not_a_number_is_not_clean(sparse: bool) -> None:
    X = np.array([[1e200, -1e200], [1e200, 1e200], [1.0, 2.0]])
    with pytest.raises(ValueError, match="range of float64"):
        together(X, np.array([0, 0, 1]), "cyclic", Perceptron(), Limits(epochs=9), sparse=sparse)
