"""Every bound of a theorem is on the safe side of its formula, computed with 60 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nv
from novikoff.theory import bounds, systems

D = Decimal
PI = D("3.14159265358979323846264338327950288419716939937510582097494459")
getcontext().prec = 60
Draw = Callable[[], float]


def norm(values: list[float]) -> Decimal:
    return sum((D(v) * D(v) for v in values), D(0)).sqrt()


def general(draw: Draw) -> tuple[float, Decimal]:
    w, w0, delta = [draw() for _ in range(3)], [draw() for _ in range(3)], draw()
    R = 10.0 + draw()
    s = float(norm(w)) * R * draw() / 1e3
    found = bounds.general_bound(R, s, w, w0, delta)
    length = norm(w)
    top = (2 * D(delta) + D(R) ** 2) * length**2 + 2 * D(s) * length * norm(w0)
    return found, top / D(s) ** 2


def novikoff(draw: Draw) -> tuple[float, Decimal]:
    R, gamma = 10.0 + draw(), draw()
    return bounds.mistake_bound(R, gamma), (D(R) / D(gamma)) ** 2


def translated(draw: Draw) -> tuple[float, Decimal]:
    X, c = [[draw(), draw()] for _ in range(4)], [draw(), draw()]
    w, b, s = [draw(), draw()], draw(), draw() / 1e4
    longest = max(1 + sum((D(x) + D(z)) ** 2 for x, z in zip(row, c, strict=True)) for row in X)
    bias = D(b) - sum(D(u) * D(z) for u, z in zip(w, c, strict=True))
    truth = longest * (sum(D(u) ** 2 for u in w) + bias**2) / D(s) ** 2
    return bounds.translated_bound(X, w, b, s, c), truth


def passive_aggressive(draw: Draw) -> tuple[float, Decimal]:
    R, u, hinge, C = draw(), draw(), draw(), draw()
    found = bounds.passive_aggressive_bound(R, u, hinge, C)
    return found, max(D(R) ** 2, 1 / D(C)) * (D(u) ** 2 + 2 * D(C) * D(hinge))


def p_norm(draw: Draw) -> tuple[float, Decimal]:
    p, R, u, gamma, hinge = 2.0 + draw(), draw(), draw(), draw(), draw()
    half = D(R) * D(u) * (D(p) - 1).sqrt() / (2 * D(gamma))
    truth = (half + (half**2 + D(hinge) / D(gamma)).sqrt()) ** 2
    return bounds.p_norm_bound(p, R, u, gamma, hinge), truth


def second_order(draw: Draw) -> tuple[float, Decimal]:
    gamma, hinge, quadratic, growth = draw(), draw(), draw(), draw()
    truth = (D(hinge) + (D(quadratic) * D(growth)).sqrt()) / D(gamma)
    return bounds.second_order_bound(gamma, hinge, quadratic, growth), truth


def forgetron(draw: Draw) -> tuple[float, Decimal]:
    u, hinge = draw() / 10, draw()
    return bounds.forgetron_bound(u, hinge, 1000), 2 * D(u) ** 2 + 4 * D(hinge)


def agmon(draw: Draw) -> tuple[float, Decimal]:
    eta, mu = draw() / 2, draw() / 4
    return systems.agmon_rate(eta, mu), 1 - D(eta) * (2 - D(eta)) * D(mu) ** 2


def shifted(draw: Draw) -> tuple[float, Decimal]:
    far, ball = draw(), draw()
    shift = ball * 1.3
    truth = D(far) ** 2 / (D(shift) * (2 * D(ball) - D(shift)))
    return systems.shifted_bound(far, ball, shift), truth


def smooth(draw: Draw) -> tuple[float, Decimal]:
    gamma, n = draw(), 1 + int(100 * draw())
    return systems.smooth_bound(gamma, n), 2 * (2 * D(n).ln()).sqrt() / D(gamma)


def euclidean(draw: Draw) -> tuple[float, Decimal]:
    gamma, size = draw(), draw()
    return systems.smooth_euclidean_bound(gamma, size), 2 * D(size) / D(gamma)


def steps(draw: Draw) -> tuple[float, Decimal]:
    gamma, size = draw(), draw()
    return systems.primal_dual_bound(gamma, size)[0], D(8).sqrt() * D(size) / D(gamma)


def runs(draw: Draw) -> tuple[float, Decimal]:
    gamma, factor = draw() / 4, 1.0 + draw()
    truth = 1 - D(gamma).ln() / D(factor).ln()
    return systems.primal_dual_bound(gamma, 1.0, factor)[1], truth


def rescalings(draw: Draw) -> tuple[float, Decimal]:
    gamma, p = draw() / 4, 1 + int(20 * draw())
    volume = -(p - 1) * D(gamma).ln() + D(p).ln() + PI.ln() / 2
    return systems.rescaling_bound(gamma, p), volume / D("1.5").ln()


def doublings(draw: Draw) -> tuple[float, Decimal]:
    x = [draw() / 4 for _ in range(5)]
    return systems.doubling_bound(x), -sum(D(v).ln() for v in x) / D(2).ln()


def weights(draw: Draw) -> tuple[float, Decimal]:
    """Of two rows at right angles κ is 1."""
    a, b, step, w0 = draw(), draw(), draw(), [draw(), draw()]
    found = nv.theory.weight_bound([[a, 0.0], [0.0, b]], step_size=step, w0=w0).bound
    return found, 2 * max(norm(w0), D(step) * max(D(a), D(b)) * 9)


@pytest.mark.parametrize(
    "case",
    [
        general, novikoff, translated, passive_aggressive, p_norm, second_order, forgetron, agmon,
        shifted, smooth, euclidean, steps, runs, rescalings, doublings, weights,
    ],
)  # fmt: skip
def test_upper_bounds_are_rounded_up_and_hardly(
    case: Callable[[Draw], tuple[float, Decimal]],
) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        found, truth = case(lambda: float(rng.uniform(0.05, 4.0)))
        assert D(found) >= truth
        assert D(found) <= truth + max(abs(truth), D(1)) * D("1e-13")


def test_the_inequalities_of_the_proof_are_rounded_to_their_sides() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        R, gamma, mu, delta, inner, start = rng.uniform(0.05, 4.0, size=6).tolist()
        gamma, t = gamma / 100, rng.integers(0, 10**6, size=20)
        found = bounds.proof_bounds(
            t, R, gamma, step_size=mu, threshold=delta, inner=inner - 2.0, norm=start + 2.0
        )
        for k, count in enumerate(t.tolist()):
            below = D(inner - 2.0) + count * D(mu) * D(gamma)
            above = D(start + 2.0) ** 2 + count * ((D(mu) * D(R)) ** 2 + 2 * D(mu) * D(delta))
            cosine = below / above.sqrt() if below >= 0 else D(-1)
            assert 0 <= below - D(found.inner[k].item()) <= D("1e-9")
            assert 0 <= D(found.squared_norm[k].item()) - above <= above * D("1e-15")
            assert 0 <= cosine - D(found.cosine[k].item()) <= max(cosine, D(1)) * D("1e-15")


@pytest.mark.parametrize("first", range(1, 400, 50))
def test_on_orthonormal_rows_no_whole_part_is_below_the_updates(first: int) -> None:
    """On e_1, …, e_n the perceptron updates n times, and the bounds are n."""
    for n in range(first, first + 50):
        assert math.floor(bounds.general_bound(1.0, 1.0, np.ones(n))) == n
        lower = math.nextafter(1.0 / math.sqrt(n), 0.0)
        assert math.floor(bounds.unit_ball_bound(lower)) >= n


@pytest.mark.parametrize("seed", range(40))
def test_no_exact_run_makes_more_updates_than_the_general_bound_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w_star = rng.integers(-3, 4, size=3)
    rows = [row for row in rng.integers(-3, 4, size=(40, 3)).tolist() if np.dot(row, w_star) > 0]
    if not rows:
        return
    s = min(int(np.dot(row, w_star)) for row in rows)
    radius = math.nextafter(max(math.hypot(*row) for row in rows), math.inf)
    start, delta = [Fraction(int(v), 2) for v in rng.integers(-4, 5, size=3)], Fraction(seed % 3, 2)
    w, updates, clean = start[:], 0, False
    while not clean:
        clean = True
        for row in rows:
            if sum(a * b for a, b in zip(row, w, strict=True)) <= delta:
                w, updates, clean = [b + a for a, b in zip(row, w, strict=True)], updates + 1, False
    w0 = [float(value) for value in start]
    most = bounds.general_bound(radius, float(s), w_star, w0=w0, threshold=float(delta))
    assert updates <= math.floor(most)
