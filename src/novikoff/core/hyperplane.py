"""The hyperplane ⟨w, x⟩ + b = 0, and the distances and angles of points from it (A13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector


@dataclass(frozen=True)
class Hyperplane:
    """The points x with ⟨w, x⟩ + b = 0, for a normal w that is not zero and a bias b.

    See Also
    --------
    separate : Finds a separating hyperplane.
    MaxMargin : The hyperplane with the largest margin.

    Examples
    --------
    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> plane.distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    >>> plane.side([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [1, -1]
    >>> plane.angle([[6.0, 8.0], [-4.0, 3.0]]).round(6).tolist()
    [0.0, 1.570796]
    """

    w: npt.ArrayLike
    b: float = 0.0

    def __post_init__(self) -> None:
        w = np.asarray(self.w, dtype=np.float64)
        if w.ndim != 1 or not np.isfinite(w).all() or not w.any():
            raise ValueError("The normal of a hyperplane must be a finite vector, not zero.")
        if not np.isfinite(self.b):
            raise ValueError("The bias of a hyperplane must be finite.")

    def distance(self, X: npt.ArrayLike) -> Vector:
        """The signed distance (⟨w, x⟩ + b)/‖w‖ of each row."""
        w, points = self._aligned(X)
        return np.asarray((points @ w + self.b) / np.linalg.norm(w))

    def side(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """+1 for rows in the half-space ⟨w, x⟩ + b > 0, −1 for the others."""
        w, points = self._aligned(X)
        return np.where(points @ w + self.b > 0.0, 1, -1)

    def angle(self, X: npt.ArrayLike) -> Vector:
        """The angle between w and each row, in [0, π]; NaN for a zero row."""
        w, points = self._aligned(X)
        lengths = np.linalg.norm(w) * np.linalg.norm(points, axis=1)
        cosine = np.full(len(points), np.nan)
        np.divide(points @ w, lengths, out=cosine, where=lengths > 0.0)
        return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))

    def _aligned(self, X: npt.ArrayLike) -> tuple[Vector, Vector]:
        w = np.asarray(self.w, dtype=np.float64)
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if points.shape[1:] != w.shape:
            raise ValueError(f"The rows have {points.shape[1]} entries, the normal {len(w)}.")
        return w, points
