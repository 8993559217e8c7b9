"""Identical rows; with opposite labels they are the shortest contradiction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.geometry.passes import Data


def opposite_twins(data: Data) -> tuple[int, ...] | None:
    """Rows whose sum is zero: a pair a_i = −a_j, or a single a_i = 0; None if there are none."""
    return next(iter(all_opposite_twins(data, np.ones(data.n))), None)


def all_opposite_twins(data: Data, prices: Vector) -> Iterator[tuple[int, ...]]:
    """As many of them as can be formed, each row once, dear rows with dear ones.

    Rows are compared by their product with a random vector, which is the same for the same
    row to the last bit, then entry by entry.
    """
    marks = _marks(data)
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


def clashes(data: Data, codes: Indices) -> Iterator[Indices]:
    """Groups of rows that are equal entry by entry but not all of one class, in order."""
    marks = _marks(data)
    order = np.argsort(marks, kind="stable")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(marks[order])) + 1, [data.n]])
    group = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    mixed = np.unique(group[codes[order] != codes[order[edges[group]]]])
    groups = [order[edges[k] : edges[k + 1]] for k in mixed.tolist()]
    for group in sorted(groups, key=lambda rows: int(rows[0])):
        rest = group
        while len(rest) > 1:  # one round, but for rows whose marks are equal by chance
            same = _equal_to_first(data, rest)
            if (codes[rest[same]] != codes[rest[0]]).any():
                yield rest[same]
            rest = rest[~same]


def _equal_to_first(data: Data, rows: Indices) -> npt.NDArray[np.bool_]:
    first = data.table.at(rows[:1])
    stride = max(1, (1 << 20) // first.shape[1])
    parts = [rows[k : k + stride] for k in range(0, len(rows), stride)]
    return np.concatenate([(data.table.at(part) == first).all(axis=1) for part in parts])


def _marks(data: Data) -> Vector:
    """The product of each row with one random vector, the same for the same row."""
    mix = np.random.default_rng(0).standard_normal(data.problem.p)
    marks = np.empty(data.n)
    data.each(lambda first, last: _mark(data.problem.rows, first, last, mix, marks))
    return marks


@njit(cache=True, nogil=True)
def _mark(rows: Rows, first: int, last: int, mix: Vector, marks: Vector) -> None:
    for i in range(first, last):
        marks[i] = _rows.dot_in_order(rows, i, mix)
