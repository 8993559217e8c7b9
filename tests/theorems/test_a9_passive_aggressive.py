"""A9: the loss bounds of the passive-aggressive learners (Crammer et al. 2006)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from tests.cases import Planted, case_named, planted
from tests.oracle import Vector

Variant = Literal["PA", "PA-I", "PA-II"]
C = 0.3


class Pass:
    """The losses and mistakes of one pass of the learner, or of a mutant with another step."""

    def __init__(self, A: Vector, variant: Variant, factor: float | None = None) -> None:
        self.losses = np.zeros(len(A))
        self.mistakes = 0
        clf = nv.PassiveAggressive(variant=variant, C=C, fit_intercept=False)
        clf.partial_fit(np.zeros((1, A.shape[1])), [1], classes=[-1, 1])
        w = np.zeros(A.shape[1])
        for t, a in enumerate(A):
            w = clf.coef_[0] if factor is None else w
            self.losses[t] = max(0.0, 1.0 - a @ w)
            self.mistakes += a @ w <= 0.0
            if factor is None:
                clf.learn_one(a, 1)
            elif self.losses[t] > 0.0:
                step = self.losses[t] / (a @ a + (1.0 / (2.0 * C) if variant == "PA-II" else 0.0))
                w = w + factor * (min(C, step) if variant == "PA-I" else step) * a


def assert_bounded(ran: Pass, A: Vector, u: Vector, variant: Variant) -> None:
    """Check the theorem for one vector u that the learner is compared with."""
    R = np.linalg.norm(A, axis=1).max()
    hinge, norm = np.maximum(0.0, 1.0 - A @ u), float(np.linalg.norm(u))
    if variant == "PA":
        assert not hinge.any()
        assert (ran.losses**2).sum() <= R**2 * norm**2 * (1.0 + 1e-9)
    elif variant == "PA-I":
        bound = nv.bounds.passive_aggressive_bound(float(R), norm, float(hinge.sum()), C)
        assert ran.mistakes <= bound * (1.0 + 1e-9)
    else:
        right = (R**2 + 1.0 / (2.0 * C)) * (norm**2 + 2.0 * C * (hinge**2).sum())
        assert (ran.losses**2).sum() <= right * (1.0 + 1e-9)


def rows_of(case: Planted, variant: Variant) -> tuple[Vector, Vector]:
    """Return the signed rows, some of them flipped if the variant allows it, and u."""
    A = case.rows.copy()
    if variant != "PA":
        A[::9] *= -1.0
    return A, case.w_star / np.linalg.norm(case.w_star) / case.margin * (1.0 + 1e-9)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 6))
def test_losses_and_mistakes_stay_below_the_bounds(variant: Variant, seed: int, d: int) -> None:
    A, u = rows_of(planted(seed, 60, d, gap=0.3), variant)
    ran = Pass(A, variant)
    np.testing.assert_allclose(ran.losses, Pass(A, variant, 1.0).losses, rtol=1e-9, atol=1e-9)
    for k in (1.0, 0.5, 0.0) if variant != "PA" else (1.0,):
        with case_named(f"{k} u"):
            assert_bounded(ran, A, k * u, variant)


@pytest.mark.parametrize(("variant", "factor"), [("PA", 1e-4), ("PA-I", -1.0), ("PA-II", 1e-4)])
def test_backward_or_tiny_steps_break_the_bounds(variant: Variant, factor: float) -> None:
    A, u = rows_of(planted(3, 2000, 3, gap=0.3), "PA")
    assert_bounded(Pass(A, variant, 1.0), A, u, variant)
    with pytest.raises(AssertionError):
        assert_bounded(Pass(A, variant, factor), A, u, variant)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_rows_whose_squares_overflow_are_rejected_with_an_error(variant: Variant) -> None:
    """With a squared length of infinity the step would be 0, and nothing would be learned."""
    X, y = np.array([[1.0], [-1.0]]), [1, -1]
    clf = nv.PassiveAggressive(variant=variant, fit_intercept=False)
    with pytest.raises(ValueError, match="beyond the range of float64: scale the data down"):
        clf.fit(1e160 * X, y)
    with pytest.raises(ValueError, match="beyond the range of float64: scale x down"):
        clf.learn_one([1e160], 1)
