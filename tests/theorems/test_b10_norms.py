"""B10: ℓ_p norms, their duals, Hölder, and the margin of a rule in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nv
from novikoff.theory import (
    compare_normalisations,
    dual_exponent,
    dual_vector,
    lp_norm,
    p_norm_margin,
)
from tests.oracle import Vector
from tests.theorems.test_a9_p_norm import gradient, mistakes_of

numbers = st.integers(-9, 9).map(float)
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6)
exponents = st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0, 7.5, math.inf])


@given(pairs=pairs, p=exponents)
def test_norms_agree_with_numpy_and_satisfy_hoelder(pairs: Any, p: float) -> None:
    w, z = np.array(pairs).T
    q = dual_exponent(p)
    assert 1 / p + 1 / q == pytest.approx(1.0)
    assert lp_norm(w, p) == pytest.approx(np.linalg.norm(w, p))
    assert w @ z <= lp_norm(w, p) * lp_norm(z, q) * (1 + 1e-12)
    assert lp_norm(w + z, p) <= (lp_norm(w, p) + lp_norm(z, p)) * (1 + 1e-12)
    if w.any():
        tight = dual_vector(w, p)
        assert lp_norm(tight, q) == pytest.approx(1.0)
        assert w @ tight == pytest.approx(lp_norm(w, p))


@given(pairs=pairs, p=exponents, r=exponents)
def test_norms_of_two_exponents_satisfy_their_inequalities(pairs: Any, p: float, r: float) -> None:
    w, (small, large) = np.array(pairs)[:, 0], sorted([p, r])
    factor = len(w) ** (1 / small - 1 / large)
    assert lp_norm(w, large) <= lp_norm(w, small) * (1 + 1e-12)
    assert lp_norm(w, small) <= factor * lp_norm(w, large) * (1 + 1e-12)
    assert lp_norm(w, 1e6) == pytest.approx(lp_norm(w, math.inf), rel=1e-5)
    assert lp_norm(1e200 * w, p) == pytest.approx(1e200 * lp_norm(w, p))


def test_hoelder_fails_with_p_in_place_of_its_dual_exponent() -> None:
    """The mutant uses p where the inequality needs q."""
    w = np.array([1.0, 1.0, 1.0])
    assert w @ w > lp_norm(w, 4.0) * lp_norm(w, 4.0)
    assert w @ w <= lp_norm(w, 4.0) * lp_norm(w, dual_exponent(4.0)) * (1 + 1e-12)


@pytest.mark.parametrize("p", [2.0, 3.0, 6.0])
def test_the_margin_bounds_the_p_norm_perceptron(p: float) -> None:
    X = np.random.default_rng(5).choice([-1.0, 1.0], size=(300, 30))
    y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    A = X * np.where(y, 1, -1)[:, None]
    found = p_norm_margin(X, y, [1, 1, 1] + [0] * 27, p=p)
    assert found.margin == pytest.approx(1.0 / 3.0 ** (1.0 / found.q))
    assert found.radius == pytest.approx(30.0 ** (1.0 / p))
    bound = nv.bounds.p_norm_bound(p, found.radius, 1.0, found.margin)
    assert 0 < mistakes_of(gradient, A, p) <= bound
    clf = nv.PNormPerceptron(p, order="cyclic", fit_intercept=False).fit(X, y)
    assert clf.n_mistakes_ <= bound


def test_the_margin_includes_the_bias_and_is_negative_for_a_wrong_rule() -> None:
    X, y = [[0.0, 1.0], [2.0, 0.0]], ["a", "b"]
    with_bias = p_norm_margin(X, y, [1.0, 0.0], -1.0, p=math.inf)
    assert with_bias.margin == pytest.approx(0.5)  # 1/‖(1, 0, −1)‖₁
    assert (with_bias.radius, with_bias.q) == (2.0, 1.0)
    assert p_norm_margin(X, y, [-1.0, 0.0]).margin < 0.0


TWO = [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: p_norm_margin([[1.0]], [0], [1.0]), "1 kinds of labels"),
        (lambda: p_norm_margin(TWO, [0, 1], [0.0]), "must be finite and not zero"),
        (lambda: p_norm_margin([[1.0], [math.nan]], [0, 1], [1.0]), "NaN in row 1, column 0"),
        (lambda: p_norm_margin(TWO, [0, 1], [1.0, 2.0]), "has 2 entries, but X has 1 columns"),
        (lambda: p_norm_margin(TWO, [0, 1], [math.nan]), "coef must be finite, but its entry 0"),
        (lambda: lp_norm([1.0], 0.5), r"p must be at least 1, not 0\.5: below, ℓ_p is no norm"),
        (lambda: dual_vector([0.0, 0.0], 2.0), "every z has"),
        (
            lambda: compare_normalisations(TWO, [0, 1], factors=[-1.0]),
            "finite and positive, not -1",
        ),
        (lambda: compare_normalisations(TWO, [0, 1], shift=[1.0, 2.0]), "must be 1 finite numbers"),
    ],
)
def test_wrong_arguments_are_rejected_with_an_error(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_the_dual_vector_of_large_numbers_does_not_overflow() -> None:
    np.testing.assert_allclose(dual_vector([1.7e308, 1.7e308], 3), 2 ** (-2 / 3))


def table(X: Any, y: Any, **options: Any) -> dict[str, Any]:
    return {row.name: row for row in compare_normalisations(X, y, **options).rows}


def two_groups() -> tuple[Vector, Any]:
    """Return 40 rows with a gap of 1 between the classes, and their labels."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    right = X[:, 0] > 0.3
    return X + np.where(right[:, None], 0.5, -0.5) * [1.0, 0.0], right


def test_scaling_and_translation_change_mistakes_and_bound_as_the_theorem_says() -> None:
    """Separable data stays separable, and centred data has the smallest bound."""
    X, y = two_groups()
    found = table(X, y)
    assert {row.verdict.kind for row in found.values()} == {"separable"}
    assert found["moved"].mistakes is None  # the run does not end within 1,000 epochs
    for row in found.values():
        assert row.mistakes is None or 0 < row.mistakes <= row.verdict.mistake_bound
    assert found["moved"].verdict.mistake_bound > 10 * found["centred"].verdict.mistake_bound
    longest = np.linalg.norm(np.column_stack([X - X.mean(axis=0), np.ones(40)]), axis=1).max()
    assert found["centred"].verdict.radius == pytest.approx(longest)
    given, tenth, ten = (found[name].verdict for name in ("original", "× 0.1", "× 10"))
    # The 1 of [x, 1] is not scaled, so that γ/R changes with the scale of x.
    assert tenth.margin.lo / tenth.radius < 0.9 * given.margin.lo / given.radius
    assert ten.radius > given.radius > tenth.radius


@pytest.mark.parametrize("name", ["× 0.1", "× 10"])
def test_without_a_bias_scaling_changes_neither_mistakes_nor_bound(name: str) -> None:
    X, y = two_groups()
    plain = table(X - X.mean(axis=0), y, fit_intercept=False)
    assert plain["original"].verdict.kind == "separable"
    assert plain[name].mistakes == plain["original"].mistakes
    assert plain[name].verdict.mistake_bound == plain["original"].verdict.mistake_bound


def test_without_a_bias_a_translation_may_destroy_separability() -> None:
    X, y = [[1.0], [2.0], [-1.0]], [1, 1, 0]
    found = table(X, y, fit_intercept=False, shift=[5.0])
    assert found["original"].verdict.kind == "separable"
    assert found["moved"].verdict.kind == "inseparable"
    assert table(X, y, shift=[5.0])["moved"].verdict.kind == "separable"
    tiny = table([[1e-320], [-1e-320]], [1, 0], fit_intercept=False)["unit ball"]
    assert tiny.verdict.radius == pytest.approx(1.0)
