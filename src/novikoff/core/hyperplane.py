"""The hyperplane ⟨w, x⟩ + b = 0, and the distances and angles of points from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector


@dataclass(frozen=True)
class Hyperplane:
    """The points x with ⟨w, x⟩ + b = 0, for a normal w that is not zero and a bias b.

    Parameters
    ----------
    w : array-like of shape (d,)
        The normal of the hyperplane. At least one entry must not be 0.
    b : float, default=0.0
        The bias.

    See Also
    --------
    separate : Decide whether a hyperplane separates two classes.
    MaxMargin : The separating hyperplane with the largest margin.

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
        """Compute the signed distance of points from the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points, one in each row.

        Returns
        -------
        array of shape (n,)
            (⟨w, x⟩ + b)/‖w‖ for each point x.
        """
        w, points = self._aligned(X)
        return np.asarray((points @ w + self.b) / np.linalg.norm(w))

    def side(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Find the side of the hyperplane on which points lie.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points, one in each row.

        Returns
        -------
        array of shape (n,)
            1 for each point with ⟨w, x⟩ + b > 0, and −1 for each other point.
        """
        w, points = self._aligned(X)
        return np.where(points @ w + self.b > 0.0, 1, -1)

    def angle(self, X: npt.ArrayLike) -> Vector:
        """Compute the angle between the normal w and points, taken as vectors.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The vectors, one in each row.

        Returns
        -------
        array of shape (n,)
            The angle in [0, π] for each vector; NaN for a vector of zeros.
        """
        w, points = self._aligned(X)
        lengths = np.linalg.norm(w) * np.linalg.norm(points, axis=1)
        cosine = np.full(len(points), np.nan)
        np.divide(points @ w, lengths, out=cosine, where=lengths > 0.0)
        return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))

    def _aligned(self, X: npt.ArrayLike) -> tuple[Vector, Vector]:
        w = np.asarray(self.w, dtype=np.float64)
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if points.shape[1:] != w.shape:
            raise ValueError(
                f"The rows have {points.shape[1]} entries, but the normal has {len(w)}."
            )
        return w, points
