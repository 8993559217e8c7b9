"""Rows of inequalities, as sums of matrices that float64 represents exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Matrix, Vector, side_by_side, stacked
from novikoff.geometry.cone import Cone
from novikoff.models.comparisons import Comparisons


def units(columns: Indices, width: int) -> npt.NDArray[np.float64]:
    """Return a unit vector of some width for each of the columns."""
    rows = np.zeros((len(columns), width))
    rows[np.arange(len(columns)), columns] = 1.0
    return rows


def scaled(X: Any, factors: Vector | float) -> Matrix:
    """Return the rows of X, multiplied by numbers."""
    column = np.broadcast_to(np.asarray(factors, dtype=np.float64), (X.shape[0],))
    if isinstance(X, np.ndarray):
        return np.asarray(X * column[:, None])
    import scipy.sparse as sp

    return sp.csr_array(sp.diags_array(column) @ X) if X.shape[0] else sp.csr_array(X)


def in_block(X: Matrix, rows: Indices, block: Indices, n_blocks: int) -> Any:
    """Return some rows of X, each in one of several blocks of columns; a row of block −1 is 0."""
    import scipy.sparse as sp

    p = int(X.shape[1])
    in_some = np.flatnonzero(block >= 0)
    chosen: Any = sp.csr_array(sp.csr_array(X)[rows[in_some]])
    counts = np.zeros(len(rows), dtype=np.int64)
    counts[in_some] = np.diff(chosen.indptr)
    shifts = np.repeat(block[in_some] * p, counts[in_some])
    indptr = np.append(0, np.cumsum(counts))
    shape = (len(rows), p * n_blocks)
    kind = np.int32 if max(len(shifts), *shape) < 2**31 else np.int64
    indices = chosen.indices.astype(kind) + shifts.astype(kind)
    return sp.csr_array((chosen.data, indices, indptr.astype(kind)), shape=shape)


def differences(X: Matrix, pairs: Comparisons) -> Cone:
    """Return the cone of the d with x_better·d ≥ x_worse·d and x_tied·d = x_other·d."""
    weak = [X[pairs.better], -X[pairs.worse]]
    equal = [X[pairs.tied], -X[pairs.other]]
    cone, _ = summed([weak, equal], int(X.shape[1]))
    n, m = len(pairs.better), len(pairs.tied)
    return Cone(cone.A[:n], stacked(cone.A[n : n + m], cone.E))


def summed(blocks: list[list[Matrix]], p: int) -> tuple[Cone, int]:
    """Return the rows of several blocks, each a sum of matrices, and the number of copies.

    If all sums are exact, there is one copy of the p columns. Otherwise each summand has its own
    copy of the columns, and E says that the copies are equal. The last p columns are the first
    copy.
    """
    sums = []
    for parts in blocks:
        total: Matrix | None = parts[0]
        for part in parts[1:]:
            total = None if total is None else _exact_sum(total, part)
        if total is None:
            break
        sums.append(total)
    if len(sums) == len(blocks):
        A = stacked(*sums)
        return Cone(A, A[:0]), 1
    copies = max(len(parts) for parts in blocks)
    wide = []
    for parts in blocks:
        n = parts[0].shape[0]
        empty = [np.zeros((n, p))] * (copies - len(parts))
        wide.append(side_by_side(*empty, *reversed(parts)))
    equal = np.zeros(((copies - 1) * p, copies * p))
    for c in range(copies - 1):
        rows = np.arange(p) + c * p
        equal[rows, rows] = -1.0
        equal[rows, np.arange(p) + (copies - 1) * p] = 1.0
    return Cone(stacked(*wide), equal), copies


def _exact_sum(a: Any, b: Any) -> Any:
    """Return a + b; None if a sum would be rounded, by Knuth's formula for the rounding error."""
    with np.errstate(all="ignore"):
        total = a + b
        back = total - a
        error = (a - (total - back)) + (b - back)
    exact = error == 0.0 if isinstance(error, np.ndarray) else error.data == 0.0
    return total if bool(np.all(exact)) else None
