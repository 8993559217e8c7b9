"""Two identical rows with opposite labels, or a row of zeros: the shortest contradiction."""

from __future__ import annotations

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.rows import Rows, Vector
from novikoff.geometry.passes import Data


def opposite_twins(data: Data) -> tuple[int, ...] | None:
    """Rows whose sum is zero: a pair a_i = −a_j, or a single a_i = 0; None if there are none.

    Rows are compared by their product with a random vector, which is the same for the same
    row to the last bit, then entry by entry.
    """
    mix = np.random.default_rng(0).standard_normal(data.problem.p)
    marks = np.empty(data.n)
    data.each(lambda first, last: _mark(data.problem.rows, first, last, mix, marks))
    for k in np.flatnonzero(marks == 0.0):
        if not data.table.at(np.array([k])).any():
            return (int(k),)
    sizes = np.sort(np.abs(marks))
    repeated = np.flatnonzero(np.isin(np.abs(marks), sizes[1:][sizes[1:] == sizes[:-1]]))
    order = repeated[np.argsort(np.abs(marks[repeated]), kind="stable")]
    sizes, signs = np.abs(marks[order]), np.sign(marks[order])
    for k in np.flatnonzero((sizes[1:] == sizes[:-1]) & (signs[1:] != signs[:-1])):
        i, j = sorted((int(order[k]), int(order[k + 1])))
        A = data.table.at(np.array([i, j]))
        if np.array_equal(A[0], -A[1]):
            return i, j
    return None


@njit(cache=True, nogil=True)
def _mark(rows: Rows, first: int, last: int, mix: Vector, marks: Vector) -> None:
    for i in range(first, last):
        marks[i] = _rows.dot_in_order(rows, i, mix)
