"""A9: the Forgetron's damage, its shrinking, and its bound on noisy streams (Dekel et al. 2008)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import novikoff as nv
from novikoff.learners.online import learn_example
from tests.oracle import Vector

GAMMA = 0.5


class Round(NamedTuple):
    """A mistake: its row, the rows kept after it with the oldest first, and their weights."""

    row: int
    kept: list[int]
    beta: Vector


def noisy_stream(seed: int, n: int, noise: float) -> tuple[Vector, Vector, Vector]:
    """Two rings with flipped labels, their kernel, and the labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where((X**2).sum(axis=1) > 1.4, 1.0, -1.0) * np.where(rng.random(n) < noise, -1.0, 1.0)
    return X, y, rbf_kernel(X, gamma=GAMMA)


def reference(K: Vector, y: Vector, B: int, mutant: str = "") -> list[Round]:
    """Run the algorithm, or a mutant of it, in plain NumPy."""
    kept, beta, rounds, M, Q = list[int](), np.zeros(0), list[Round](), 0, 0.0
    share = 0.5 if mutant == "a half" else 15.0 / 32.0
    for i in range(len(y)):
        if y[i] * (beta @ K[np.array(kept), i] if kept else 0.0) > 0.0:
            continue
        M += 1
        kept, beta = [*kept, i], np.append(beta, y[i])
        if len(kept) > B:
            at = B if mutant == "the newest" else 0
            sigma, sign = abs(beta[at]), np.sign(beta[at])
            mu = sign * (beta @ K[kept, kept[at]])
            if mutant == "removed before":
                mu -= sigma
            a, b = sigma**2 - 2.0 * sigma * mu, 2.0 * sigma
            if mutant == "unshrunk":  # Ψ(σ, μ) in place of Ψ(φσ, φμ)
                a, b = 0.0, sigma**2 + 2.0 * sigma - 2.0 * sigma * mu
            c = Q - share * (M - (mutant == "the present mistake left out"))
            roots = [1.0] if a + b + c <= 0.0 else np.roots([a, b, c] if a else [b, c])
            phi = max(float(r) for r in roots if 0.0 <= r <= 1.0)
            beta = phi * beta
            Q += a * phi**2 + b * phi
            kept, beta = [k for j, k in enumerate(kept) if j != at], np.delete(beta, at)
        rounds.append(Round(i, list(kept), beta.copy()))
    return rounds


def rounds_of(X: Vector, y: Vector, B: int) -> tuple[list[Round], nv.Forgetron]:
    """Return the same record of the estimator, which learns one example at a time."""
    clf = nv.Forgetron(B, gamma=GAMMA)
    numbers = {row.tobytes(): i for i, row in enumerate(X)}
    rounds: list[Round] = []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        before = clf.n_mistakes_ if i else 0
        learn_example(clf, x, label, [-1.0, 1.0])
        if clf.n_mistakes_ > before:
            points, beta = clf.support_vectors_, clf.dual_coef_
            assert not isinstance(points, list)
            assert not isinstance(beta, list)
            rounds.append(Round(i, [numbers[row.tobytes()] for row in points], beta))
            assert clf.damage_[0] <= 15.0 / 32.0 * clf.n_mistakes_ + 1e-9
    return rounds, clf


def assert_sound(rounds: list[Round], K: Vector, y: Vector, B: int) -> float:
    """Recompute the damage Q from the rows that were kept, and return it.

    Q stays below its bound, and each shrinking factor is the largest that the bound allows.
    """
    kept, beta, Q, shrunk = list[int](), np.zeros(0), 0.0, 0.0
    U = (
        0.25 * math.sqrt((B + 1) / math.log(B + 1)) * (1.0 - 1e-12)
    )  # so that rounding does not exceed it
    for M, (i, after, weights) in enumerate(rounds, start=1):
        kept, beta = [*kept, i], np.append(beta, y[i])
        if len(kept) > B:
            assert after == kept[1:]  # the oldest goes
            phi = weights[-1] / beta[-1]
            assert 0.0 < phi <= 1.0 + 1e-12
            np.testing.assert_allclose(weights, phi * beta[1:], rtol=1e-7, atol=1e-12)
            beta = phi * beta
            lost, value = abs(beta[0]), np.sign(beta[0]) * (beta @ K[kept, kept[0]])
            Q += lost**2 + 2.0 * lost - 2.0 * lost * value
            assert Q <= 15.0 / 32.0 * M + 1e-9
            assert phi > 1.0 - 1e-9 or pytest.approx(15.0 / 32.0 * M) == Q  # the largest φ
            if math.sqrt(max(0.0, beta @ K[np.ix_(kept, kept)] @ beta)) < U:
                shrunk += math.log(1.0 / min(1.0, phi))
            if B >= 83:
                assert shrunk <= M * math.log(B + 1) / (2 * (B + 1)) + 1e-9
            kept, beta = kept[1:], beta[1:]
        assert after == kept
    return Q


def assert_bounded(rounds: list[Round], K: Vector, y: Vector, B: int) -> None:
    """Check M ≤ 2‖g‖² + 4·Σℓ for functions g of several lengths up to U."""
    U = (
        0.25 * math.sqrt((B + 1) / math.log(B + 1)) * (1.0 - 1e-12)
    )  # so that rounding does not exceed it
    wrong = [round_.row for round_ in rounds]
    coef = y / math.sqrt(y @ K @ y)  # the sum of all signed rows, scaled to length 1
    for k in np.linspace(0.0, U, 6):
        losses = np.maximum(0.0, 1.0 - y[wrong] * (k * (K[wrong] @ coef)))
        bound = nv.bounds.forgetron_bound(float(k), float(losses.sum()), B)
        assert len(rounds) <= bound < math.inf


@pytest.mark.parametrize(("B", "noise"), [(5, 0.1), (83, 0.2), (100, 0.05)])
def test_the_estimator_follows_the_algorithm_and_keeps_its_mistake_bound(
    B: int, noise: float
) -> None:
    X, y, K = noisy_stream(B, 1000, noise)
    rounds, clf = rounds_of(X, y, B)
    assert [r.row for r in rounds] == [r.row for r in reference(K, y, B)]
    assert len(rounds) == clf.n_mistakes_ > B
    assert clf.damage_[0] == pytest.approx(assert_sound(rounds, K, y, B))
    if B >= 83:
        assert_bounded(rounds, K, y, B)


MUTANTS = [
    "a half",
    "the present mistake left out",
    "unshrunk",
    "removed before",
    "the newest",
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_an_altered_algorithm_breaks_the_bound_on_the_damage(mutant: str) -> None:
    _, y, K = noisy_stream(1, 3000, 0.2)
    assert_sound(reference(K, y, 20), K, y, 20)
    with pytest.raises(AssertionError):
        assert_sound(reference(K, y, 20, mutant), K, y, 20)


def test_a_learner_that_learns_nothing_breaks_the_bound() -> None:
    _, y, K = noisy_stream(2, 3000, 0.0)
    always = [Round(i, [], np.zeros(0)) for i in range(len(y))]
    coef = y / math.sqrt(y @ K @ y)
    separated = y * (K @ coef) > 1.0 / 1.16  # rows on which the longest g has a margin of 1
    with pytest.raises(AssertionError):
        assert_bounded([r for r in always if separated[r.row]], K, y, 100)
    assert nv.bounds.forgetron_bound(1.0, 0.0, 82) == math.inf


def test_memory_is_constant_however_long_the_stream() -> None:
    X, y, _ = noisy_stream(3, 2000, 0.3)
    clf = nv.Forgetron(50, gamma=GAMMA)
    sizes = set()
    for _ in range(5):
        clf.partial_fit(X, y, classes=[-1, 1])
        sizes.add(sum(array.nbytes for array in clf.model_.state.values()))
        assert clf.n_support_.tolist() == [50]
    assert len(sizes) == 1


def test_shrinking_continues_when_the_scale_of_the_weights_underflows() -> None:
    """With a budget of one row the common factor of the weights underflows again and again."""
    X, y, K = noisy_stream(4, 4000, 0.5)
    clf = nv.Forgetron(1, gamma=GAMMA).partial_fit(X, y, classes=[-1, 1])
    rounds = reference(K, y, 1)
    assert clf.n_mistakes_ == len(rounds)
    assert clf.dual_coef_ == pytest.approx(rounds[-1].beta)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_other_than_rbf_are_normalised(kernel: str) -> None:
    X, y, _ = noisy_stream(5, 400, 0.1)
    clf = nv.Forgetron(10, kernel=kernel).partial_fit(X, y, classes=[-1, 1])
    scaled = nv.Forgetron(10, kernel=kernel).partial_fit(8.0 * X, y, classes=[-1, 1])
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    assert np.abs(clf.decision_function(X)).max() <= np.abs(clf.dual_coef_).sum() + 1e-12
    if kernel == "linear":
        K = (X / norms) @ (X / norms).T
        assert clf.n_mistakes_ == scaled.n_mistakes_ == len(reference(K, y, 10))
