"""D2, D4: inequalities at every step of perceptron, von Neumann, smooth perceptrons, Spingarn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core import updates
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.systems.methods import METHODS, Attempt, MethodTrace
from novikoff.systems.methods.smooth import Prox, ascend
from tests.theorems.mutants import changed
from tests.theorems.system_cases import (
    contradictory,
    multipliers,
    point,
    polygon,
    separable,
    with_ball,
)

perceptron, von_neumann = METHODS["perceptron"], METHODS["von_neumann"]
smooth, primal_dual = METHODS["smooth"], METHODS["smooth_primal_dual"]
spingarn = METHODS["spingarn"]
SMOOTH = import_module("novikoff.systems.methods.smooth")  # the package has a function of this name
any_seed = given(st.integers(0, 10**6))
few_examples = settings(deadline=None, max_examples=25)


def traced(method: Callable[..., Attempt], A: Vector, *more: Vector, **options: str) -> MethodTrace:
    found = method(A, *more, trace=True, limits=Limits(updates=3000), **options)
    assert found.trace is not None
    return found.trace


def check_perceptron(method: Callable[..., Attempt], seed: int) -> None:
    """Check ‖u_t‖² ≤ t and t ≤ 1/γ², which is B1 for unit rows."""
    H, _ = separable(seed, 0.05)
    seen = traced(method, H)
    t = np.arange(1, len(seen["norm"]) + 1)
    assert (seen["norm"] ** 2 <= t + 1e-9).all()
    assert len(t) <= nv.theory.unit_ball_bound(0.05)


@few_examples
@any_seed
def test_the_perceptron_keeps_its_norms_and_its_mistake_bound(seed: int) -> None:
    check_perceptron(perceptron, seed)
    A, c = contradictory(seed)
    found = perceptron(A, c, limits=Limits(updates=2000))
    assert np.abs(multipliers(found) @ A).max() < 0.5


def test_updates_without_a_mistake_break_the_bounds_of_the_perceptron(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(updates, "perceptron", partial(updates.perceptron, threshold=0.9))
    with pytest.raises(AssertionError):
        check_perceptron(perceptron, 0)


def check_von_neumann(method: Callable[..., Attempt], H: Vector) -> None:
    """Check 1/‖u⁺‖² ≥ 1/‖u‖² + 1 at every step."""
    norms = np.append(1.0, traced(method, H)["norm"])
    norms = norms[norms > 1e-7]  # rounding dominates the squares of shorter ones
    assert len(norms) > 1
    assert (np.diff(norms**-2.0) >= 1.0 - 1e-6 * norms[1:] ** -2.0).all()


@few_examples
@any_seed
def test_von_neumann_shrinks_its_norm_at_every_step(seed: int) -> None:
    H, _ = separable(seed, 0.02)
    check_von_neumann(von_neumann, H)
    assert von_neumann(H).n_steps <= nv.theory.unit_ball_bound(0.02)
    assert (H @ point(von_neumann(H)) > 0.0).all()


def test_von_neumann_keeps_its_rates_on_orthonormal_rows_and_around_the_origin() -> None:
    check_von_neumann(von_neumann, np.eye(6))
    H, depth = polygon(5)
    check_von_neumann(von_neumann, H)
    norms = traced(von_neumann, H)["norm"]
    assert (norms <= (1.0 - depth**2) ** (np.arange(1, len(norms) + 1) / 2.0) + 1e-12).all()


@pytest.mark.parametrize(
    "wrong", ["u = (1.0 - share) * u → u = u", "(square - m) / → 0.5 * (square - m) /"]
)
def test_an_altered_von_neumann_step_breaks_the_rate(wrong: str) -> None:
    with pytest.raises(AssertionError):
        check_von_neumann(changed(von_neumann, a=wrong), np.eye(6))


def check_gap(method: Callable[..., Attempt], H: Vector, prox: str) -> None:
    """Check ½‖Hᵀx‖² ≤ φ_μ(y) at every step."""
    seen = traced(method, H, prox=prox)
    assert (0.5 * seen["norm"] ** 2 <= seen["smoothed"] + 1e-12).all()
    k = np.arange(len(seen["mu"]))
    assert np.allclose(seen["mu"] * (k + 1) * (k + 2), 2.0 * seen["mu"][0])


@pytest.mark.parametrize("prox", ["entropy", "euclidean"])
@few_examples
@any_seed
def test_the_smooth_perceptron_keeps_the_excessive_gap_and_its_number_of_steps(
    prox: str, seed: int
) -> None:
    H, _ = separable(seed, 0.01)
    if prox == "entropy":
        bound = nv.theory.smooth_bound(0.01, len(H))
    else:
        bound = nv.theory.smooth_euclidean_bound(0.01, float(np.linalg.norm(H, 2)))
    check_gap(smooth, H, prox)
    found = smooth(H, prox=prox)
    assert found.n_steps < bound
    assert (H @ point(found) > 0.0).all()
    check_gap(smooth, polygon(3 + seed % 5)[0], prox)


def smoothed_too_little(times: Any, transposed: Any, centre: Vector, d: Prox, L: float) -> Any:
    return ascend(times, transposed, centre, d, 0.5 * L)


def smoothed_late(times: Any, transposed: Any, centre: Vector, d: Prox, L: float) -> Any:
    """Take the nearest point for the μ of the step before."""
    seen = list[float]()

    def nearest(products: Vector, mu: float) -> Vector:
        seen.append(mu)
        return d.nearest(products, seen[-2:][0])

    return ascend(times, transposed, centre, d._replace(nearest=nearest), L)


def centre_stays(times: Any, transposed: Any, centre: Vector, d: Prox, L: float) -> Any:
    """Hand on the x of the start."""
    return (state._replace(x=centre) for state in ascend(times, transposed, centre, d, L))


@pytest.mark.parametrize("prox", ["entropy", "euclidean"])
@pytest.mark.parametrize("wrong", [smoothed_too_little, smoothed_late])
def test_an_altered_smooth_perceptron_breaks_the_excessive_gap(
    wrong: Any, prox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    H = separable(9, 0.01, n=3, p=2)[0]
    check_gap(smooth, H, prox)
    monkeypatch.setattr(SMOOTH, "ascend", wrong)
    with pytest.raises(AssertionError):
        check_gap(smooth, H, prox)


def check_runs(method: Callable[..., Attempt], H: Vector, most: float) -> None:
    """Check the gap inside each run; each run divides the norm by Γ within its number of steps."""
    seen = traced(method, H)
    assert (0.5 * seen["norm"] ** 2 <= seen["smoothed"] + 1e-12).all()
    starts = np.flatnonzero(np.diff(seen["run"], prepend=-1))
    ends = np.append(starts[1:], len(seen["run"])) - 1
    assert (ends - starts <= most).all()
    begun = np.append(np.linalg.norm(H.mean(axis=0)), seen["norm"][ends[:-1]])
    assert (seen["norm"][ends[:-1]] <= begun[:-1] / np.e + 1e-15).all()


@few_examples
@any_seed
def test_primal_dual_runs_stay_below_their_bounds(seed: int) -> None:
    H, _ = separable(seed, 0.01)
    steps, runs = nv.theory.primal_dual_bound(0.01, float(np.linalg.norm(H, 2)))
    check_runs(primal_dual, H, steps)
    assert traced(primal_dual, H)["run"][-1] + 1 <= runs
    assert (H @ point(primal_dual(H)) > 0.0).all()


@pytest.mark.parametrize("n", range(3, 12))
def test_primal_dual_runs_converge_linearly_with_the_origin_inside(n: int) -> None:
    H, depth = polygon(n)
    H = np.vstack([H, H[:1]])  # so that the mean is not 0 at the start
    check_runs(primal_dual, H, np.sqrt(8.0) * np.e * np.linalg.norm(H, 2) / depth)
    found = primal_dual(H)
    assert np.abs(multipliers(found) @ H).max() < 1e-13
    assert found.n_steps < 5000  # the method notices that x is a contradiction


def test_a_primal_dual_centre_that_stays_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    H, _ = separable(0, 0.001)
    check_runs(primal_dual, H, np.inf)
    monkeypatch.setattr(SMOOTH, "ascend", centre_stays)
    with pytest.raises(AssertionError):
        check_runs(primal_dual, H, np.inf)


def check_spingarn(method: Callable[..., Attempt], A: Vector, c: Vector, w0: Vector) -> None:
    """Check that no step is longer than the step before."""
    change = traced(lambda A, c, **more: method(A, c, w0=w0, **more), A, c)["change"]
    assert len(change) > 3
    assert (np.diff(change) <= 1e-12).all()


def check_farkas(method: Callable[..., Attempt], seed: int) -> None:
    A, c = contradictory(seed)
    found = method(A, c, limits=Limits(updates=20_000))
    lam = multipliers(found)
    assert np.abs(lam @ A).max() < 1e-9
    assert lam @ c < 0.0


@few_examples
@any_seed
def test_the_steps_of_spingarn_never_grow_and_end_in_a_point_or_a_contradiction(seed: int) -> None:
    A, c, z = with_ball(seed, 0.05)
    check_spingarn(spingarn, A, c, z + 3.0)
    assert (A @ point(spingarn(A, c, w0=z + 3.0)) <= c + 1e-12).all()
    check_spingarn(spingarn, *contradictory(seed), z)
    check_farkas(spingarn, seed)


def test_a_mean_that_is_not_updated_breaks_spingarns_inequality() -> None:
    mutant = changed(spingarn, a="of_x - of_mean + alpha → of_x + alpha")
    with pytest.raises(AssertionError):
        check_farkas(mutant, 0)
    A, c, z = with_ball(0, 0.05)
    with pytest.raises(AssertionError):
        check_spingarn(mutant, A, c, z + 3.0)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("is_far", [False, True])
def test_every_method_finds_a_point(name: str, storage: Any, is_far: bool) -> None:
    A, c, z = with_ball(2, 0.5)
    w0 = z + 100.0 if is_far else None
    found = METHODS[name](storage(A), c, w0=w0, limits=Limits(updates=100_000))
    assert (A @ point(found) <= c + 1e-12).all()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_its_limits_and_does_not_write_to_the_rows(name: str) -> None:
    method = METHODS[name]
    A, c = contradictory(0)
    kept = A.copy()
    assert method(A, c, limits=Limits(updates=7)).n_steps <= 7
    assert method(A, c, limits=Limits(seconds=0.0)).n_steps == 0
    assert np.array_equal(A, kept)
