"""Distances, sides and angles, compared with the definition of the plane."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import novikoff as nv


def test_the_foot_of_the_perpendicular_lies_on_the_plane() -> None:
    rng = np.random.default_rng(0)
    w, b, X = rng.normal(size=4), 0.7, rng.normal(size=(50, 4))
    plane = nv.Hyperplane(w, b)
    feet = X - plane.distance(X)[:, None] * w / np.linalg.norm(w)
    np.testing.assert_allclose(feet @ w + b, 0.0, atol=1e-12)
    assert (np.sign(plane.distance(X)) == plane.side(X)).all()


def test_a_point_on_the_plane_is_on_the_negative_side() -> None:
    assert nv.Hyperplane([1.0, -1.0]).side([[2.0, 2.0]]).tolist() == [-1]


def test_angles_of_a_triangle() -> None:
    plane = nv.Hyperplane([1.0, 0.0])
    points = [[1.0, 0.0], [1.0, 1.0], [0.0, 3.0], [-2.0, 0.0], [0.0, 0.0]]
    expected = [0.0, np.pi / 4, np.pi / 2, np.pi, np.nan]
    np.testing.assert_allclose(plane.angle(points), expected)


@pytest.mark.parametrize(
    ("w", "b", "message"),
    [
        ([0.0, 0.0], 0.0, "not zero"),
        ([np.nan], 0.0, "finite vector"),
        ([[1.0]], 0.0, "finite vector"),
        ([1.0], np.inf, "bias"),
    ],
    ids=str,
)
def test_a_bad_plane_is_rejected(w: npt.ArrayLike, b: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nv.Hyperplane(w, b)


def test_rows_of_another_width_are_rejected() -> None:
    with pytest.raises(ValueError, match="3 entries, but the normal has 2"):
        nv.Hyperplane([1.0, 2.0]).distance([[1.0, 2.0, 3.0]])
