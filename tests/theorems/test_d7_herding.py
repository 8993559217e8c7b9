"""D7: the error of herding is at most E/√T, and at most max(E, E²/2ρ)/T inside the hull."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.theory import Herding
from tests.oracle import Vector

SLACK = 1.0 + 1e-9


def rbf(X: Any, Y: Any) -> Any:
    return np.exp(-((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


def cross(d: int, scale: float = 1.0) -> Vector:
    """Return ±e_j; the largest ball around the centre of their hull has radius 1/√d."""
    return scale * np.vstack([np.eye(d), -np.eye(d)])


def cube(d: int) -> Vector:
    """Return the corners of a cube; the largest ball around its centre has radius 1."""
    return np.array(list(itertools.product([-1.0, 1.0], repeat=d)))


def simplex(d: int) -> Vector:
    """Return e_1, …, e_d; in their plane the largest ball in the hull has radius 1/√(d(d−1))."""
    return np.eye(d)


SHAPES = {
    "cross 2": (cross(2), 1 / math.sqrt(2)),
    "cross 4": (cross(4, 3.0), 3 / math.sqrt(4)),
    "cube 3": (cube(3), 1.0),
    "simplex 3": (simplex(3), 1 / math.sqrt(6)),
    "simplex 5": (simplex(5), 1 / math.sqrt(20)),
    "segment": (np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]]), 5.0 * math.sqrt(2) / 3),
}


def assert_bounded(errors: Vector, radius: float, ball: float) -> None:
    T = np.arange(1, len(errors) + 1)
    assert (errors <= radius / np.sqrt(T) * SLACK).all()
    assert (errors <= max(radius, radius**2 / (2 * ball)) / T * SLACK).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_errors_stay_below_both_bounds_for_a_ball_of_known_size(shape: str, seed: int) -> None:
    points, ball = SHAPES[shape]
    moved = points + np.random.default_rng(seed).normal(size=points.shape[1])
    herded = nv.herd(moved, n_samples=500)
    assert herded.ball == pytest.approx(ball)
    longest = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
    assert herded.radius == pytest.approx(longest)
    assert_bounded(herded.errors, herded.radius, ball)
    assert herded.fast_bound is not None


def chosen_otherwise(points: Vector, how: str, T: int) -> Vector:
    """Return the errors of mutants, which choose points in other ways."""
    rng, rows, w, errors = np.random.default_rng(0), points - points.mean(axis=0), 0.0, []
    for t in range(T):
        scores = rows @ np.broadcast_to(w, rows.shape[1:])
        s = {"at random": rng.integers(len(rows)), "least": np.argmin(scores)}.get(how)
        s = np.argmax(np.abs(scores)) if s is None else s
        w = w - rows[s]
        errors.append(np.linalg.norm(w) / (t + 1))
    return np.array(errors)


@pytest.mark.parametrize("how", ["at random", "least", "largest size"])
def test_choosing_other_points_breaks_the_bounds(how: str) -> None:
    points, ball = SHAPES["simplex 5"]
    radius = float(np.linalg.norm(points - 0.2, axis=1).max())
    with pytest.raises(AssertionError):
        assert_bounded(chosen_otherwise(points, how, 500), radius, ball)


def test_a_ball_too_large_breaks_the_fast_bound() -> None:
    """The mutant takes the distance to the farthest corner instead of the nearest facet."""
    points = np.random.default_rng(340)
    shape = points.integers(3, 9), points.integers(2, 5)
    herded = nv.herd(points.integers(-5, 6, size=shape).astype(float), n_samples=600)
    assert herded.ball is not None
    assert_bounded(herded.errors, herded.radius, herded.ball)
    with pytest.raises(AssertionError):
        assert_bounded(herded.errors, herded.radius, herded.radius)


def mean_errors(points: Vector, target: Vector, herded: Herding) -> Vector:
    """Compute ‖φ̄ − mean of the chosen points‖ from the points themselves."""
    means = np.cumsum(points[herded.indices], axis=0)
    T = np.arange(1, len(means) + 1)
    return np.asarray(np.linalg.norm(target - means / T[:, None], axis=1))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 12), d=st.integers(1, 4))
def test_errors_of_random_points_stay_below_the_bounds(seed: int, m: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-4, 5, size=(m, d)).astype(float)
    herded = nv.herd(points, n_samples=60)
    np.testing.assert_allclose(
        herded.errors, mean_errors(points, points.mean(axis=0), herded), atol=1e-12
    )
    assert herded.bound is not None
    assert (herded.errors <= herded.bound * SLACK + 1e-12).all()
    if herded.fast_bound is not None:
        assert (herded.errors <= herded.fast_bound * SLACK + 1e-12).all()
    # The ball lies inside the hull: in every direction some point is at least ρ away.
    rows, u = points - points.mean(axis=0), rng.normal(size=(d, 200))
    if np.linalg.matrix_rank(rows) == d and herded.ball is not None:
        reach = (rows @ u).max(axis=0) / np.linalg.norm(u, axis=0)
        assert (reach >= herded.ball * (1 - 1e-9)).all()


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_a_target_is_in_the_hull_or_has_a_separator(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, target = np.split(rng.integers(-3, 4, size=(7, 2)).astype(float), [6])
    target = target[0]
    herded = nv.herd(points, target, n_samples=300)
    verdict = herded.verdict
    assert verdict is not None
    assert verdict.certificate is not None
    verdict.certificate.verify(np.vstack([points, target]), [0] * 6 + [1])
    np.testing.assert_allclose(herded.errors, mean_errors(points, target, herded), atol=1e-12)
    if verdict.kind == "separable":
        assert (herded.bound, herded.ball, herded.fast_bound) == (None, None, None)
        assert verdict.coef is not None
        assert verdict.intercept is not None
        f = np.vstack([points, target]) @ verdict.coef + verdict.intercept
        assert f[-1] > 0 > f[:-1].max()
        # The errors do not tend to 0, because the target is at least this far from the hull.
        assert herded.errors[-1] >= f[-1] / np.linalg.norm(verdict.coef) * (1 - 1e-9)
    else:
        assert herded.bound is not None
        assert (herded.errors <= herded.bound * SLACK).all()


def kernel_oracle(K: Vector, T: int) -> list[int]:
    """Return the argmax of Chen, Welling and Smola, written from their formula."""
    chosen: list[int] = []
    for t in range(T):
        gap = K.mean(axis=1) - K[:, chosen].sum(axis=1) / (t + 1)
        chosen.append(int(np.argmax(gap)))
    return chosen


def kernel_error(K: Vector, chosen: Any) -> float:
    """Return the distance between the means of all rows and of the chosen rows."""
    squared = K.mean() - 2 * K[chosen].mean() + K[np.ix_(chosen, chosen)].mean()
    return math.sqrt(squared)


def test_kernel_herding_follows_the_formula_and_keeps_its_bound() -> None:
    X = np.random.default_rng(1).normal(size=(80, 2))
    K, herded = rbf(X, X), nv.herd(X, n_samples=60, kernel=rbf)
    assert herded.indices.tolist() == kernel_oracle(K, 60)
    lengths = np.array([1, 7, 60])
    expected = [kernel_error(K, herded.indices[:T]) for T in lengths]
    np.testing.assert_allclose(herded.errors[lengths - 1], expected, atol=1e-9)
    assert herded.bound is not None
    assert (herded.errors <= herded.bound * SLACK).all()
    thrown = np.random.default_rng(0).integers(80, size=60)
    assert herded.errors[-1] < kernel_error(K, thrown) / 3


def test_kernel_herding_chooses_the_points_that_goodpoints_chooses() -> None:
    herding = pytest.importorskip(
        "goodpoints.herding", reason="goodpoints, a package that must be compiled, is not installed"
    )
    X = np.random.default_rng(2).normal(size=(256, 3))
    peer = herding.herding(X, 2, lambda y, Z: rbf(y, Z)[0])
    assert nv.herd(X, n_samples=64, kernel=rbf).indices.tolist() == peer.tolist()


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-540, 2.0**540, 2.0**1020])
@pytest.mark.parametrize("target", [None, np.array([0.25, 0.125])], ids=["mean", "given"])
def test_scaling_the_points_by_a_power_of_two_changes_no_choice(
    scale: float, target: Vector | None
) -> None:
    points = cross(2, 0.5) + 0.125
    one = nv.herd(points, target)
    other = nv.herd(points * scale, None if target is None else target * scale)
    assert other.indices.tolist() == one.indices.tolist()
    assert (other.errors == one.errors * scale).all()
    assert one.bound is not None
    assert other.bound is not None
    assert (other.bound == one.bound * scale).all()
    assert other.ball == pytest.approx((one.ball or 0.0) * scale)


TWO, UPPER = [[1.0], [2.0]], np.triu(np.ones((4, 4)))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: nv.herd([[1.0, math.nan]]), "NaN in row 0, column 1"),
        (lambda: nv.herd([[1.0]], None, 0), "n_samples must be a whole number above 0, not 0"),
        (lambda: nv.herd([[1.0, 2.0]], [1.0]), "target must be 2 finite numbers"),
        (lambda: nv.herd([[1.0]], [1.0], 5, rbf), "With a kernel the target is the mean"),
        (lambda: nv.herd(TWO, kernel=lambda X, Y: np.ones(3)), r"shape \(3,\), not \(2, 2\)"),
        (lambda: nv.herd([[1.0]], kernel=lambda X, Y: X * np.inf), "inf for the rows 0 and 0"),
        (lambda: nv.herd(cross(2), kernel="rbf"), "a function of two matrices, .* not 'rbf'"),  # type: ignore[arg-type]
        (
            lambda: nv.herd(cross(2), kernel=lambda X, Y: UPPER[: len(X), : len(Y)]),
            r"is 1\.0 for the rows 0 and 1, but 0\.0 the other way",
        ),
    ],
)
def test_wrong_arguments_are_rejected_with_an_error(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_a_kernel_that_is_not_positive_semidefinite_has_no_bound() -> None:
    with pytest.warns(UserWarning, match=r"not positive semidefinite.* no bound holds"):
        assert nv.herd(cross(2), kernel=lambda X, Y: -rbf(X, Y)).bound is None


@pytest.mark.parametrize(
    "points",
    [
        [[1e-323], [5e-324], [0.0]],
        [[1e-310], [3e-310], [8e-310]],
        [[2.5e-323, 0.0], [0.0, 5e-324], [5e-324, 5e-324]],
    ],
)
def test_an_error_is_0_only_where_the_mean_is_the_target(points: list[list[float]]) -> None:
    """Compared with fractions: no error that underflows is 0, and no bound is below an error."""
    herded = nv.herd(points, n_samples=12)
    exactly = [[Fraction(value) for value in row] for row in points]
    target = [sum(column) / len(points) for column in zip(*exactly, strict=True)]
    assert herded.bound is not None
    total = [Fraction(0)] * len(target)
    for t, s in enumerate(herded.indices.tolist(), 1):
        total = [a + b for a, b in zip(total, exactly[s], strict=True)]
        missed = sum((a / t - b) ** 2 for a, b in zip(total, target, strict=True))
        if (
            missed > Fraction(5e-324) ** 2 / 10**20
        ):  # otherwise only the rounding of the mean differs
            assert herded.errors[t - 1] > 0.0
        assert herded.bound[t - 1] >= herded.errors[t - 1] > 0.0 or herded.errors[t - 1] == 0.0


def test_numbers_that_have_no_common_unit_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"range from 1e-20 to 1e\+308.* scale the columns"):
        nv.herd([[1e308, 1e-20], [1e308, 3e-20], [1e308, 7e-20]])
    with pytest.raises(ValueError, match=r"1e-310 at most.* multiply the kernel"):
        nv.herd(cross(2), kernel=lambda X, Y: 1e-310 * rbf(X, Y))


def test_a_small_kernel_has_small_errors_that_are_not_0() -> None:
    one = nv.herd(cross(2), n_samples=30, kernel=rbf)
    small = nv.herd(cross(2), n_samples=30, kernel=lambda X, Y: 2.0**-880 * rbf(X, Y))
    assert small.indices.tolist() == one.indices.tolist()
    assert (small.errors == one.errors * 2.0**-440).all()
