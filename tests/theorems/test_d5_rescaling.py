"""D5: each rescaling widens the cone of solutions by the factor of its theorem."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.methods import METHODS, Attempt
from tests.theorems.mutants import changed
from tests.theorems.system_cases import multipliers, point, separable

rescaled, dunagan_vempala = METHODS["rescaled"], METHODS["dunagan_vempala"]
projection_rescaling = METHODS["projection_rescaling"]
any_seed = given(st.integers(0, 10**6))
few_examples = settings(deadline=None, max_examples=25)
LONG = Limits(updates=20_000)
# Without its perceptron phase, the method must rescale.
IMPATIENT = "patience = 16 * p ** 2 → patience = 1"


def extreme_rays(H: Vector) -> Vector:
    """Return the two rays that bound {z : H z ≥ 0} in the plane."""
    turned = np.column_stack([-H[:, 1], H[:, 0]])
    rays = np.vstack([turned, -turned])
    inside = rays[(rays @ H.T >= -1e-15).all(axis=1)]
    return inside[:2]


def angle(rays: Vector) -> float:
    return math.atan2(abs(np.linalg.det(rays)), float(rays[0] @ rays[1]))


def check_volume(method: Callable[..., Attempt], seed: int, margin: float) -> None:
    """Check that each rescaling in the plane multiplies the angle of the cone by more than 1.5."""
    H, z = separable(seed, margin, n=6, p=2)
    H = np.vstack([H, z])  # no solution is near this row, so that it must not be stretched
    found = method(H, trace=True, limits=LONG)
    assert found.trace is not None
    assert (H @ point(found) > 0.0).all()
    rays = extreme_rays(H)
    angles = [angle(rays), *(angle(np.linalg.solve(B, rays.T).T) for B in found.trace["B"])]
    assert len(angles) > 3
    assert (np.diff(np.log(angles)) > math.log(1.5)).all()


@few_examples
@given(st.integers(0, 10**6), st.sampled_from([1e-2, 1e-4, 1e-7]))
def test_the_cone_grows_by_half_at_every_rescaling(seed: int, margin: float) -> None:
    check_volume(rescaled, seed, margin)


@pytest.mark.parametrize(
    "mutant",
    [
        changed(rescaled, a="H -= 0.5 → H -= 0.33", b="B -= 0.5 → B -= 0.33"),
        changed(
            rescaled,
            a="H[j].copy() → H[n - 1 - counts[::-1].argmin()].copy()",
        ),
    ],
)
def test_an_altered_rescaling_widens_the_cone_too_little(mutant: Callable[..., Attempt]) -> None:
    with pytest.raises(AssertionError):
        check_volume(mutant, 0, 1e-4)


def check_slab(method: Callable[..., Attempt], seed: int, margin: float, p: int) -> None:
    """Check ⟨a_j, z⟩ ≤ δ ≤ 1/√(6p) for a unit solution z before each rescaling along a_j."""
    H, z = separable(seed, margin, n=8 * p, p=p)
    found = method(H, trace=True, limits=LONG)
    assert found.trace is not None
    assert (H @ point(found) > 0.0).all()
    rows, seen = H, found.trace
    for j, slab, B in zip(seen["row"], seen["slab"], seen["B"], strict=True):
        assert slab <= 1.0 / math.sqrt(6.0 * p)
        assert rows[j] @ z <= slab * np.linalg.norm(z) * (1.0 + 1e-6)
        rows = H @ B
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        z = np.linalg.solve(B, separable(seed, margin, n=8 * p, p=p)[1])
    assert len(seen.get("row", [])) <= nv.theory.rescaling_bound(margin, p)


@few_examples
@given(st.integers(0, 10**6), st.sampled_from([1e-2, 1e-4, 1e-8]), st.sampled_from([3, 5]))
def test_solutions_lie_in_the_slab_and_rescalings_stay_below_their_bound(
    seed: int, margin: float, p: int
) -> None:
    check_slab(rescaled, seed, margin, p)


def test_a_slab_that_is_too_thin_excludes_a_solution() -> None:
    with pytest.raises(AssertionError):
        check_slab(changed(rescaled, a="slab = float( → slab = 0.3 * float("), 1, 1e-4, 3)


def margin_of(H: Vector) -> tuple[float, Vector]:
    """Return γ and the best unit z by least squares (the LDP of Lawson and Hanson)."""
    E = np.vstack([H.T, np.ones(len(H))])
    f = np.append(np.zeros(H.shape[1]), 1.0)
    r = E @ nnls(E, f)[0] - f
    v = -r[:-1] / r[-1]
    return float(1.0 / np.linalg.norm(v)), v / np.linalg.norm(v)


def check_gamma(method: Callable[..., Attempt], seed: int, margin: float) -> None:
    """Check that γ grows if x is near to the best z, and otherwise loses almost nothing."""
    H, _ = separable(seed, margin)
    p = H.shape[1]
    sigma = 1.0 / (32.0 * p)
    found = method(
        H, trace=True, limits=LONG, seed=seed + 1
    )  # because z is drawn with the seed itself
    assert found.trace is not None
    assert (H @ point(found) > 0.0).all()
    rows, seen = H, found.trace
    for x, B in zip(seen["direction"], seen["B"], strict=True):
        (old, z), rows = margin_of(rows), H @ B
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        if old <= 1.0 / (4.0 * p):
            floor = (1.0 - sigma) / math.sqrt((1.0 + 3.0 * sigma**2) * (1.0 + old**2 / 3.0))
            factor = 1.0 + 1.0 / (3.0 * p) if z @ x >= 1.0 / math.sqrt(p) else floor
            assert margin_of(rows)[0] >= old * factor * (1.0 - 1e-6)


@few_examples
@given(st.integers(0, 10**6), st.sampled_from([1e-2, 1e-4]))
def test_dunagan_vempala_keeps_and_widens_the_margin(seed: int, margin: float) -> None:
    check_gamma(changed(dunagan_vempala, a=IMPATIENT), seed, margin)


def test_a_random_direction_breaks_the_margin_of_dunagan_and_vempala() -> None:
    mutant = changed(dunagan_vempala, a=IMPATIENT, b=">= -sigma * → >= -2.0 *")
    with pytest.raises(AssertionError):
        check_gamma(mutant, 0, 1e-2)


def check_doubling(method: Callable[..., Attempt], seed: int) -> None:
    """Check that D·x stays below 1 for a solution x, and that the product of D at least doubles."""
    rng = np.random.default_rng(seed)
    n, p = 20, 5
    solution = 10.0 ** -rng.uniform(
        0.0, 6.0, size=n
    )  # x ∈ L, with entries over six orders of magnitude
    solution /= solution.max()
    H = np.column_stack([solution, rng.normal(size=(n, p - 1))])
    lengths = np.linalg.norm(H, axis=1)
    found = method(H, trace=True, limits=LONG)
    assert found.trace is not None
    assert (H @ point(found) > 0.0).all()
    x = solution / lengths
    x /= x.max()
    seen = found.trace
    D = seen["D"][seen["side"] == 0] if seen else np.empty((0, n))
    assert (D * x <= 1.0 + 1e-9).all()
    totals = np.append(0.0, np.log2(D).sum(axis=1))
    assert (np.diff(totals) >= 1.0 - 1e-9).all()
    assert len(D) <= nv.theory.doubling_bound(x)


@few_examples
@any_seed
def test_every_projective_rescaling_doubles_the_determinant(seed: int) -> None:
    check_doubling(projection_rescaling, seed)


@pytest.mark.parametrize(
    "wrong",
    [
        "np.minimum(state.x / max(upper, 1e-300), → np.minimum(2.0 * (state.x == state.x.min()),",
        "np.minimum(state.x / max(upper, 1e-300), → np.minimum(1.0,",
    ],
)
def test_an_altered_projective_rescaling_breaks_the_doubling(wrong: str) -> None:
    with pytest.raises(AssertionError):
        check_doubling(changed(projection_rescaling, a=wrong), 0)


def test_projection_and_rescaling_needs_no_rescaling_for_a_small_margin() -> None:
    """The number of rescalings depends on δ_∞ and not on γ, which is 1e-8 here."""
    H = np.array([[1.0, 1e-8], [-1.0, 1e-8]])
    assert projection_rescaling(H, trace=True).trace == {}


def test_projection_and_rescaling_finds_positive_multipliers_of_a_triangle() -> None:
    """The rows of a triangle have multipliers > 0, which lie in L^⊥."""
    H = np.array([[1.0, 0.0], [-1.0, 1e-3], [-1.0, -1e-3]])
    lam = multipliers(projection_rescaling(H))
    assert (lam > 0.0).all()
    assert np.abs(lam @ H).max() < 1e-12
