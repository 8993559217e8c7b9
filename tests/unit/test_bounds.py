"""The bounds are their formulas, and refuse what cannot be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from novikoff.theory import general_bound, mistake_bound, unit_ball_bound
from novikoff.theory.bounds import (
    forgetron_bound,
    p_norm_bound,
    passive_aggressive_bound,
    second_order_bound,
)
from novikoff.theory.systems import primal_dual_bound


def test_the_mistake_bound_by_hand() -> None:
    assert mistake_bound(3.0, 0.5) == 36.0
    assert mistake_bound(1.0, 1.0) == 1.0
    assert unit_ball_bound(0.1) == pytest.approx(100.0)


def test_the_general_bound_by_hand() -> None:
    """[(2·0.5 + 9)·25 + 2·2·5·13]/4 = (250 + 260)/4."""
    assert general_bound(3.0, 2.0, [3.0, 4.0], w0=[5.0, 12.0], delta=0.5) == pytest.approx(127.5)


def test_the_general_bound_contains_the_others() -> None:
    w_star = np.array([0.6, 0.8])
    assert general_bound(2.0, 0.5, w_star) == pytest.approx(mistake_bound(2.0, 0.5))
    assert general_bound(1.0, 0.5, w_star) == pytest.approx(unit_ball_bound(0.5))


def test_the_general_bound_does_not_depend_on_the_length_of_w_star() -> None:
    bound = general_bound(2.0, 0.5, [0.6, 0.8], w0=[1.0, 1.0], delta=0.3)
    for c in (1e-150, 7.0, 1e150):
        scaled = general_bound(2.0, 0.5 * c, [0.6 * c, 0.8 * c], w0=[1.0, 1.0], delta=0.3)
        assert scaled == pytest.approx(bound)


def test_bounds_grow_with_delta_and_with_the_start() -> None:
    plain = general_bound(2.0, 0.5, [1.0])
    assert general_bound(2.0, 0.5, [1.0], delta=0.1) > plain
    assert general_bound(2.0, 0.5, [1.0], w0=[0.1]) > plain


def test_beyond_float64_a_bound_is_infinite() -> None:
    assert mistake_bound(1e200, 1e-200) == math.inf
    assert general_bound(1e200, 1e-200, [1.0]) == math.inf
    assert general_bound(1.0, 5e-324, [1e10]) == math.inf


def test_a_margin_above_the_radius_by_rounding_is_not_refused() -> None:
    assert mistake_bound(1.0, math.nextafter(1.0, 2.0)) == 1.0
    assert general_bound(1.0, math.nextafter(1.0, 2.0), [1.0]) == 1.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_radius_and_margin_must_be_positive_numbers(bad: float) -> None:
    with pytest.raises(ValueError, match=f"margin must be finite and positive, not {bad}"):
        mistake_bound(1.0, bad)
    with pytest.raises(ValueError, match="margin must be finite and positive"):
        unit_ball_bound(bad)
    with pytest.raises(ValueError, match="radius must be finite and positive"):
        mistake_bound(bad, 1.0)
    with pytest.raises(ValueError, match="radius must be finite and positive"):
        general_bound(bad, 1.0, [1.0])
    with pytest.raises(ValueError, match="margin s must be finite and positive"):
        general_bound(1.0, bad, [1.0])


@pytest.mark.parametrize("bad", [-1e9, math.nan, math.inf])
def test_norms_and_losses_must_not_be_negative(bad: float) -> None:
    cases: list[tuple[Any, dict[str, float], list[str]]] = [
        (passive_aggressive_bound, {"radius": 1.0, "C": 1.0}, ["norm", "hinge"]),
        (p_norm_bound, {"p": 2.0, "radius": 1.0, "margin": 1.0}, ["norm", "hinge"]),
        (second_order_bound, {"margin": 1.0}, ["hinge", "quadratic", "growth"]),
        (forgetron_bound, {"budget": 100}, ["norm", "hinge"]),
    ]
    for bound, given, names in cases:
        for name in names:
            others = dict.fromkeys(names, 1.0)
            with pytest.raises(ValueError, match=f"The {name} must be finite and at least 0"):
                bound(**given, **{**others, name: bad})
    for factor in (1.0, 0.5, bad):
        with pytest.raises(ValueError, match="The factor must be finite and above 1"):
            primal_dual_bound(0.5, 2.0, factor)


def test_a_margin_above_the_radius_is_impossible() -> None:
    with pytest.raises(ValueError, match=r"margin of 3\.0 is impossible within a radius of 2\.0"):
        mistake_bound(2.0, 3.0)
    with pytest.raises(ValueError, match=r"margin of 1\.5 is impossible"):
        unit_ball_bound(1.5)
    with pytest.raises(ValueError, match=r"impossible for a w_star of length 0\.5"):
        general_bound(2.0, 1.5, [0.3, 0.4])


@pytest.mark.parametrize("delta", [-0.1, math.nan, math.inf])
def test_delta_must_not_be_negative(delta: float) -> None:
    with pytest.raises(ValueError, match="δ must be finite and not negative"):
        general_bound(1.0, 0.5, [1.0], delta=delta)


def test_vectors_must_be_finite_vectors() -> None:
    with pytest.raises(ValueError, match="w_star must not be zero"):
        general_bound(1.0, 0.5, [0.0, 0.0])
    with pytest.raises(ValueError, match="w_star must be finite, but its entry 1 is nan"):
        general_bound(1.0, 0.5, [1.0, math.nan])
    with pytest.raises(ValueError, match="w0 must be finite, but its entry 0 is inf"):
        general_bound(1.0, 0.5, [1.0], w0=[math.inf])
    with pytest.raises(ValueError, match=r"w0 must be a vector, not an array of shape \(1, 2\)"):
        general_bound(1.0, 0.5, [1.0], w0=[[1.0, 2.0]])
