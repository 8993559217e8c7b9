"""Two identical rows with opposite labels, or a row of zeros: the shortest contradiction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.rows import Rows, Vector
from novikoff.geometry.passes import Data


def opposite_twins(data: Data) -> tuple[int, ...] | None:
    """Rows whose sum is zero: a pair a_i = −a_j, or a single a_i = 0; None if there are none."""
    return next(iter(all_opposite_twins(data, np.ones(data.n))), None)


def all_opposite_twins(data: Data, prices: Vector) -> Iterator[tuple[int, ...]]:
    """As many of them as can be formed, each row once, dear rows with dear ones.

    Rows are compared by their product with a random vector, which is the same for the same
    row to the last bit, then entry by entry.
    """
    mix = np.random.default_rng(0).standard_normal(data.problem.p)
    marks = np.empty(data.n)
    data.each(lambda first, last: _mark(data.problem.rows, first, last, mix, marks))
    sizes = np.abs(marks)
    for k in np.flatnonzero(sizes == 0.0):
        if not data.table.at(np.array([k])).any():
            yield (int(k),)
    ordered = np.sort(sizes)
    repeated = np.flatnonzero(np.isin(sizes, ordered[1:][ordered[1:] == ordered[:-1]]))
    repeated = repeated[np.lexsort((-prices[repeated], sizes[repeated]))]
    edges = np.flatnonzero(np.diff(sizes[repeated])) + 1
    for group in np.split(repeated, edges):
        plus, minus = group[marks[group] > 0.0], group[marks[group] < 0.0]
        for i, j in zip(plus.tolist(), minus.tolist(), strict=False):
            A = data.table.at(np.array([i, j]))
            if np.array_equal(A[0], -A[1]):
                yield (i, j) if i < j else (j, i)


@njit(cache=True, nogil=True)
def _mark(rows: Rows, first: int, last: int, mix: Vector, marks: Vector) -> None:
    for i in range(first, last):
        marks[i] = _rows.dot_in_order(rows, i, mix)
