"""Exact linear algebra by python-flint: solutions, independent columns, and how long they take.

An elimination cannot be interrupted. Callers compare the estimates of its time with the time that
is left (`novikoff.geometry.passes.check_time`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.proofs.exact import Integers


def solve_exactly(M: Integers, b: Integers, weighted: Integers | None = None) -> list[Fraction]:
    """Return the exact solution x of Mx = b, or of WMx = Wb with W = ``weighted``.

    ZeroDivisionError if the matrix is singular.

    Examples
    --------
    >>> [str(value) for value in solve_exactly(np.array([[2, 1], [1, -1]]), np.array([5, 0]))]
    ['5/3', '5/3']
    """
    import flint

    matrix, right_side = flint.fmpz_mat(M.tolist()), flint.fmpz_mat([[int(value)] for value in b])
    if weighted is not None:
        W = flint.fmpz_mat(weighted.tolist())
        matrix, right_side = W * matrix, W * right_side
    solution = matrix.solve(right_side)
    return [Fraction(int(solution[i, 0].p), int(solution[i, 0].q)) for i in range(solution.nrows())]


def pivot_columns(echelon: Any, rank: int) -> list[int]:
    """Return the columns of the pivots of a matrix in echelon form.

    They are the first columns that are linearly independent.
    """
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def independent_columns(matrix: Any) -> list[int]:
    """Return the first columns of a matrix modulo a prime that are linearly independent.

    Examples
    --------
    >>> import flint
    >>> independent_columns(flint.nmod_mat(2, 3, [1, 2, 0, 2, 4, 1], 101))
    [0, 2]
    """
    return pivot_columns(*matrix.rref())


def elimination_seconds(n: int, p: int) -> float:
    """Return an estimate of the seconds of an elimination modulo a prime, rather too small."""
    return 1e-10 * n * p * min(n, p)


def solve_seconds(n: int, whole: Integers | None = None) -> float:
    """Return an estimate of the seconds of an exact solve with n rows, rather too small."""
    bits = 32
    if whole is not None:
        bits = max(bits, *(int(value).bit_length() for value in np.abs(whole).max(axis=1)))
    return 3.0 * math.pow(n / 300.0, 3.5) * math.pow(bits / 85.0, 1.5)
