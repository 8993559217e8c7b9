"""The bounds are their formulas, and reject impossible numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from novikoff.theory import general_bound, mistake_bound, unit_ball_bound
from novikoff.theory.bounds import (
    forgetron_bound,
    p_norm_bound,
    passive_aggressive_bound,
    second_order_bound,
)
from novikoff.theory.systems import primal_dual_bound


def test_the_bounds_by_hand() -> None:
    """[(2·0.5 + 9)·25 + 2·2·5·13]/4 = (250 + 260)/4; the general bound contains the others."""
    assert general_bound(3.0, 2.0, [3.0, 4.0], w0=[5.0, 12.0], threshold=0.5) == pytest.approx(
        127.5
    )
    assert general_bound(2.0, 0.5, [0.6, 0.8]) == pytest.approx(mistake_bound(2.0, 0.5)) == 16.0
    assert general_bound(1.0, 0.5, [0.6, 0.8]) == pytest.approx(unit_ball_bound(0.5)) == 4.0


@pytest.mark.parametrize("c", [1e-150, 7.0, 1e150])
def test_the_general_bound_does_not_depend_on_the_length_of_w_star(c: float) -> None:
    bound = general_bound(2.0, 0.5, [0.6, 0.8], w0=[1.0, 1.0], threshold=0.3)
    scaled = general_bound(2.0, 0.5 * c, [0.6 * c, 0.8 * c], w0=[1.0, 1.0], threshold=0.3)
    assert scaled == pytest.approx(bound)


def test_beyond_float64_a_bound_is_infinite() -> None:
    assert mistake_bound(1e200, 1e-200) == math.inf
    assert general_bound(1e200, 1e-200, [1.0]) == math.inf
    assert general_bound(1.0, 5e-324, [1e10]) == math.inf


def test_a_margin_above_the_radius_by_rounding_is_accepted() -> None:
    assert mistake_bound(1.0, math.nextafter(1.0, 2.0)) == 1.0
    assert general_bound(1.0, math.nextafter(1.0, 2.0), [1.0]) == 1.0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mistake_bound(2.0, 3.0), r"of 3\.0 is impossible within a radius of 2\.0"),
        (lambda: unit_ball_bound(1.5), r"margin of 1\.5 is impossible"),
        (lambda: general_bound(2.0, 1.5, [0.3, 0.4]), r"for a w_star of length 0\.5"),
        (lambda: general_bound(1.0, 0.5, [0.0, 0.0]), "w_star must not be zero"),
        (lambda: general_bound(1.0, 0.5, [1.0, math.nan]), "w_star .* its entry 1 is nan"),
        (lambda: general_bound(1.0, 0.5, [1.0], w0=[math.inf]), "w0 .* its entry 0 is inf"),
        (lambda: general_bound(1.0, 0.5, [1.0], w0=[[1.0]]), r"w0 .* of shape \(1, 1\)"),
    ],
)
def test_impossible_numbers_are_rejected(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("margin", lambda bad: mistake_bound(1.0, bad)),
        ("margin", unit_ball_bound),
        ("radius", lambda bad: mistake_bound(bad, 1.0)),
        ("radius", lambda bad: general_bound(bad, 1.0, [1.0])),
        ("margin s", lambda bad: general_bound(1.0, bad, [1.0])),
    ],
)
def test_numbers_that_must_be_positive(name: str, call: Any, bad: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be finite and positive, not {bad}"):
        call(bad)


LOSSES: list[tuple[Any, dict[str, float], list[str]]] = [
    (passive_aggressive_bound, {"radius": 1.0, "C": 1.0}, ["norm", "hinge"]),
    (p_norm_bound, {"p": 2.0, "radius": 1.0, "margin": 1.0}, ["norm", "hinge"]),
    (second_order_bound, {"margin": 1.0}, ["hinge", "quadratic", "growth"]),
    (forgetron_bound, {"budget": 100}, ["norm", "hinge"]),
]


@pytest.mark.parametrize("bad", [-1e9, math.nan, math.inf])
@pytest.mark.parametrize(
    ("bound", "given", "name"),
    [
        (bound, {**given, **dict.fromkeys(names, 1.0)}, name)
        for bound, given, names in LOSSES
        for name in names
    ],
)
def test_losses_and_lengths_are_not_negative(
    bound: Any, given: dict[str, float], name: str, bad: float
) -> None:
    with pytest.raises(ValueError, match=f"The {name} must be finite and at least"):
        bound(**{**given, name: bad})


@pytest.mark.parametrize("bad", [-1e9, math.nan, math.inf])
def test_a_threshold_is_not_negative(bad: float) -> None:
    with pytest.raises(ValueError, match="δ must be finite and not neg"):
        general_bound(1.0, 0.5, [1.0], None, bad)


@pytest.mark.parametrize("bad", [-1e9, math.nan, math.inf, 1.0, 0.5])
def test_the_factor_of_the_runs_is_above_1(bad: float) -> None:
    with pytest.raises(ValueError, match="factor must be finite and above 1"):
        primal_dual_bound(0.5, 2.0, bad)
