"""The rows within a wide turn of some weights, from which nearer ones are picked.

Let w_o be weights and O the rows with (⟨a_i, w_o⟩ − δ)/‖a_i‖ ≤ ρ_o. Write w = β·w_o + u, with
‖u‖ = τ. A row outside of O has

    (⟨a_i, w⟩ − δ)/‖a_i‖ > β·ρ_o − τ        (for δ > 0 only if β ≥ 1)

so that all rows within ρ ≤ β·ρ_o − τ of w are found in O: whoever asks for them again and
again, while w turns to and fro, need not look at all rows each time.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.margins import UNDERFLOW, norm_bound
from novikoff.core.problem import Problem
from novikoff.core.rows import Csr, Dense, Indices, Rows, Unsigned, Vector, dot, sqnorm

# Beyond this growth of w, its own surroundings are much smaller.
_GROWTH = 2.0


class Wide:
    """The rows within ``rho`` of ``w``, of a problem and for a threshold δ.

    Attributes
    ----------
    chosen : array of int
        The rows, in ascending order.
    """

    def __init__(
        self, problem: Problem, delta: float, w: Vector, rho: float, threads: int = 1
    ) -> None:
        self.problem, self.delta = problem, delta
        self.w, self.square, self.rho = w.copy(), float(w @ w), rho
        self.doubt = doubt_at(problem, w)
        # Twice the allowance of `within`: that of the weights to come is added to it.
        every = np.arange(problem.n)
        found = distances(problem.rows, every, w, delta + 8.0 * self.doubt, threads)
        self.chosen = np.flatnonzero(found <= rho)

    def covers(self, w: Vector, rho: float) -> bool:
        """Whether all rows within ρ of w are certain to be among the chosen ones."""
        beta = float(w @ self.w) / self.square
        if not (1.0 if self.delta > 0.0 else 0.5) <= beta <= _GROWTH:
            return False
        # What rounding can do to u is below 1e-15·(‖w‖ + β·‖w_o‖).
        tau = norm_bound(w - beta * self.w) + 1e-14 * (norm_bound(w) + beta * norm_bound(self.w))
        reach = (beta * self.rho) * (1.0 - 1e-12) - tau
        return doubt_at(self.problem, w) <= 1.5 * beta * self.doubt and rho <= reach

    def within(self, w: Vector, rho: float) -> Indices:
        """The rows within ρ of w, which must be covered; no other can be nearer to δ."""
        least = self.delta + 4.0 * doubt_at(self.problem, w)
        return self.chosen[distances(self.problem.rows, self.chosen, w, least) <= rho]


def doubt_at(problem: Problem, w: Vector) -> float:
    """How far two sums of ⟨a_i, w'⟩ may be apart, for all w' up to twice as long as w."""
    return 2.0 * problem.rounding() * norm_bound(w) + UNDERFLOW


def distances(rows: Rows, which: Indices, w: Vector, least: float, threads: int = 1) -> Vector:
    """(⟨a_i, w⟩ − least)/‖a_i‖ of some rows, rounded down; −∞ for rows without length.

    Examples
    --------
    >>> from novikoff.core.rows import view
    >>> rows = view(np.array([[3.0, 4.0], [0.0, 0.0]]), np.ones(2, dtype=np.int8), False)
    >>> distances(rows, np.arange(2), np.array([5.0, 0.0, 0.0]), 0.0).round(9)
    array([  3., -inf])
    """
    out = np.empty(len(which))
    if threads == 1:
        _distances(rows, which, 0, len(which), w, least, out)
        return out
    edges = np.linspace(0, len(which), threads + 1).astype(np.int64).tolist()

    def part(k: int) -> None:
        _distances(rows, which, edges[k], edges[k + 1], w, least, out)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))
    return out


def gathered(rows: Rows, chosen: Indices) -> Rows:
    """The chosen rows side by side."""
    signs = rows.signs[chosen]
    if isinstance(rows, Dense):
        return Dense(_rows.frozen(rows.X[chosen]), _rows.frozen(signs), rows.bias)
    starts = rows.indptr[:-1][chosen].astype(np.int64)
    lengths = (rows.indptr[1:][chosen] - rows.indptr[:-1][chosen]).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    edges: Unsigned = ends.astype(np.uint64)
    if rows.indptr.dtype == np.uint32:
        edges = ends.astype(np.uint32)
    at = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return Csr(
        _rows.frozen(rows.data[at]),
        _rows.frozen(rows.indices[at]),
        _rows.frozen(edges),
        _rows.frozen(signs),
        rows.bias,
        rows.d,
    )


@njit(cache=True, nogil=True)
def _distances(
    rows: Rows, which: Indices, first: int, last: int, w: Vector, least: float, out: Vector
) -> None:
    for k in range(first, last):
        i = which[k]
        length = math.sqrt(sqnorm(rows, i)) * (1.0 + 1e-12)
        found = (dot(rows, i, w) - least) / length if length > 1e-150 else -np.inf
        out[k] = found * (1.0 - 1e-12) if abs(found) < np.inf else -np.inf
