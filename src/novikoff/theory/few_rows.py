"""Exact quantities of a few rows: their directions, their rank and their products."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.validation import check_matrix
from novikoff.proofs import exact

Direction = tuple[int, ...]


def dense_rows(A: npt.ArrayLike) -> Vector:
    """Return a matrix as an array of float64; ValueError if it is sparse or not finite."""
    rows = check_matrix(A)
    if not isinstance(rows, np.ndarray):
        raise ValueError("A must be a dense matrix.")
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(f"A must be finite, but row {i}, column {j} has {rows[i, j]}.")
    return rows.astype(np.float64, copy=False)


def directions(rows: Vector) -> dict[Direction, int]:
    """Return the shortest integer vector in the direction of each row, with its first row.

    Rows of zeros have no direction.

    Examples
    --------
    >>> directions(np.array([[0.5, -1.0], [0.0, 0.0], [1.0, -2.0], [-1.0, 2.0]]))
    {(1, -2): 0, (-1, 2): 3}
    """
    first: dict[Direction, int] = {}
    for i, row in enumerate(rows):
        whole = [int(value) for value in exact.integers(row[None])[0][0]]
        if divisor := math.gcd(*whole):
            first.setdefault(tuple(value // divisor for value in whole), i)
    return first


def lines(rows: Iterable[Direction]) -> list[Direction]:
    """Return the directions without opposite directions, in ascending order.

    Examples
    --------
    >>> lines([(1, -2), (-1, 2), (0, 1)])
    [(0, 1), (1, -2)]
    """
    return sorted({max(row, tuple(-value for value in row)) for row in rows})


def rank_and_products(vectors: list[Direction]) -> tuple[int, Any]:
    """Return the rank of some vectors, and the matrix of all of their products.

    Examples
    --------
    >>> rank, products = rank_and_products([(0, 1), (1, -2), (1, 0)])
    >>> rank, products.tolist()
    (2, [[1, -2, 0], [-2, 5, 1], [0, 1, 1]])
    """
    import flint

    whole = np.array(vectors, dtype=object)
    return flint.fmpz_mat(whole.tolist()).rank(), whole @ whole.T
