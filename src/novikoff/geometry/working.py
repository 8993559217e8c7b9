"""The working set of the engine: some rows (lift, a_i), as seen.

Rows of a dense matrix, or of a sparse one that has much in them, are copied into a block, an
array of two dimensions. Rows that are mostly zeros stay sparse (`Sparse`), and are read where
they are if a copy would be a good part of the data. Three verbs act on them, and the compiler
picks their code by the type, so that the engine is written once:

* ``seen(G, r)``        r as the rows must be multiplied with
* ``product(G, i, s)``  ⟨g_i, r⟩, s being what is seen of r
* ``add_to(v, G, i)``   v ← v + g_i
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload
from numpy import uint64

from novikoff.core.problem import Problem
from novikoff.core.rows import Code, Csr, Indices, Vector
from novikoff.core.wide import gathered

# Rows stay sparse if none has more than one entry in so many.
_SPARSE = 3
# Beyond these powers of two, factors times numbers near one could leave the range of float64.
_MODERATE = 400
# Side by side they are read faster: they are copied if they are at most one row in so many.
_COPIED = 16


class Sparse(NamedTuple):
    """Rows (lift, c∘a_i) by their numbers ``at``, c being factors of the columns.

    ``scratch`` has room for c∘r, which spares a product per entry.
    """

    rows: Csr
    at: Indices
    columns: Vector
    lift: float
    scratch: Vector


Working: TypeAlias = Vector | Sparse


def sparse(
    problem: Problem, at: Indices, columns: Vector, lift: float, copy: bool
) -> Sparse | None:
    """The rows of the numbers given as they are stored, or None where a block is better.

    Where they are few of all rows, they are copied side by side, if ``copy`` allows it.
    """
    rows = problem.rows
    if not isinstance(rows, Csr) or _SPARSE * problem.longest > problem.p + 1:
        return None
    if np.abs(np.frexp(columns)[1]).max() > _MODERATE:
        return None
    if copy and _COPIED * len(at) <= problem.n:
        small = gathered(rows, at)
        if isinstance(small, Csr):
            rows, at = small, np.arange(len(at))
    return Sparse(rows, at, columns, lift, np.empty(problem.p + 1))


def count(G: Working) -> int:
    """The number of rows."""
    return len(G.at) if isinstance(G, Sparse) else len(G)


def entries(G: Working) -> int:
    """The number of entries that a look at all rows reads."""
    if isinstance(G, Sparse):
        return int((G.rows.indptr[G.at + 1] - G.rows.indptr[G.at]).sum()) + len(G.at)
    return G.size


def product(G: Working, i: int, s: Vector) -> float:
    """⟨g_i, r⟩, s being what is seen of r; the terms added in whatever order is fastest."""
    return _sparse_product(G, i, s) if isinstance(G, Sparse) else _product(G, i, s)


def seen(G: Working, r: Vector) -> Vector:
    """R as rows are to be multiplied with: times the factors of the columns, the lift last."""
    return _sparse_seen(G, r) if isinstance(G, Sparse) else _seen(G, r)


def add_to(v: Vector, G: Working, i: int) -> None:
    """V ← v + g_i."""
    if isinstance(G, Sparse):
        _add_sparse(v, G, i)
    else:
        _add(v, G, i)


def _seen(G: Vector, r: Vector) -> Vector:
    return r


def _sparse_seen(G: Sparse, r: Vector) -> Vector:
    p = len(r) - 1
    for j in range(p):
        G.scratch[j] = G.columns[j] * r[j + 1]
    G.scratch[p] = G.lift * r[0]
    return G.scratch


def _product(G: Vector, i: int, s: Vector) -> float:
    total = 0.0
    for j in range(G.shape[1]):
        total += G[i, j] * s[j]
    return total


def _sparse_product(G: Sparse, i: int, s: Vector) -> float:
    # As `rows.dot`, but without views of the row, which cost a quarter more here.
    rows, k = G.rows, uint64(G.at[i])
    first, last = uint64(rows.indptr[k]), uint64(rows.indptr[k + uint64(1)])
    whole = last - (last - first) % uint64(4)
    s0 = s1 = s2 = s3 = 0.0
    for e in range(first, whole, uint64(4)):
        s0 += rows.data[e] * s[rows.indices[e]]
        s1 += rows.data[e + uint64(1)] * s[rows.indices[e + uint64(1)]]
        s2 += rows.data[e + uint64(2)] * s[rows.indices[e + uint64(2)]]
        s3 += rows.data[e + uint64(3)] * s[rows.indices[e + uint64(3)]]
    for e in range(whole, last):
        s0 += rows.data[e] * s[rows.indices[e]]
    total = (s0 + s1) + (s2 + s3) + rows.bias * s[rows.d]
    return float(rows.signs[k] * total + s[len(s) - 1])


def _add(v: Vector, G: Vector, i: int) -> None:
    for j in range(G.shape[1]):
        v[j] += G[i, j]


def _add_sparse(v: Vector, G: Sparse, i: int) -> None:
    rows, k = G.rows, uint64(G.at[i])
    sign = float(rows.signs[k])
    for e in range(uint64(rows.indptr[k]), uint64(rows.indptr[k + uint64(1)])):
        j = uint64(rows.indices[e])
        v[j + uint64(1)] += rows.data[e] * G.columns[j] * sign
    v[rows.d + 1] += rows.bias * G.columns[rows.d] * sign
    v[0] += G.lift


@overload(
    product, strict=False, jit_options={"forceinline": True, "fastmath": {"reassoc", "contract"}}
)
def _overload_product(G: types.Type, i: types.Type, s: types.Type) -> Code:
    return _sparse_product if isinstance(G, types.NamedTuple) else _product


@overload(seen, strict=False, jit_options={"forceinline": True})
def _overload_seen(G: types.Type, r: types.Type) -> Code:
    return _sparse_seen if isinstance(G, types.NamedTuple) else _seen


@overload(add_to, strict=False, jit_options={"forceinline": True})
def _overload_add_to(v: types.Type, G: types.Type, i: types.Type) -> Code:
    return _add_sparse if isinstance(G, types.NamedTuple) else _add
