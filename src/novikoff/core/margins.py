"""⟨a_i, w⟩, on the right side of a threshold however it is summed.

Floating-point sums depend on their order, and the fast orders differ between dense rows,
sparse rows and many classes at once. Here the sum from left to right has the last word:
a fast sum is believed only where it is farther from the threshold than any two sums can
be from each other.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numba import njit

from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Vector, dot, dot_in_order, dots

# Products that underflow may each add a smallest number to the difference of two sums.
UNDERFLOW: Final = 1e-300
# Products below this are computed sooner than a thread is started.
_WORTHWHILE: Final = 1 << 20


@njit(cache=True, nogil=True)
def margin(rows: Rows, i: int, w: Vector, delta: float, doubt: float) -> float:
    """⟨a_i, w⟩, above δ exactly when the sum from left to right is.

    ``doubt`` bounds how far two ways to sum may be apart, `Problem.rounding`·‖w‖.
    """
    m = dot(rows, i, w)
    if not doubt + UNDERFLOW < abs(m - delta) < np.inf:
        m = dot_in_order(rows, i, w)
    return m


@njit(cache=True, nogil=True)
def first_mistake(
    rows: Rows, deck: Indices, w: Vector, delta: float, doubt: float, weights: Vector
) -> int:
    """The first row of the deck that has weight and ⟨a_i, w⟩ ≤ δ, or −1."""
    for i in deck:
        if len(weights) > 0 and weights[i] == 0.0:
            continue
        if not margin(rows, i, w, delta, doubt) > delta:
            return int(i)
    return -1


def norm_bound(w: Vector) -> float:
    """An upper bound on ‖w‖, safe from underflow; infinite if ‖w‖ is beyond float64.

    Examples
    --------
    >>> norm_bound(np.array([3e-200, 4e-200])) >= 5e-200
    True
    """
    largest = float(np.abs(w).max())
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    # Not np.linalg.norm: it would wake BLAS threads, which then spin beside the loop.
    bound = largest * math.sqrt(np.square(w / largest).sum()) * (1.0 + 1e-9)
    return math.nextafter(bound, math.inf)


@njit(cache=True, nogil=True)
def quick_norm_bound(w: Vector) -> float:
    """The same for kernels."""
    largest = 0.0
    for j in range(len(w)):
        largest = max(largest, abs(w[j]))
    if not 0.0 < largest < math.inf:
        return largest
    total = 0.0
    for j in range(len(w)):
        total += (w[j] / largest) ** 2
    return largest * math.sqrt(total) * (1.0 + 2e-9)


def scores(problem: Problem, W: Vector, threads: int = 1) -> Vector:
    """⟨a_i, W[:, k]⟩ for all rows i and columns k; their signs are those the learner sees.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[1.0, 2.0]]), np.array([1], dtype=np.int8), True)
    >>> scores(problem, np.array([[3.0], [1.0], [4.0]]))
    array([[9.]])
    """
    if len(W) != problem.p:
        raise ValueError(f"The weights have {len(W)} entries, the rows need {problem.p}.")
    out = np.empty((problem.n, W.shape[1]))
    doubts = np.array([problem.rounding() * norm_bound(w) for w in W.T])
    W = np.ascontiguousarray(W)
    if problem.n * problem.p * W.shape[1] < _WORTHWHILE:
        threads = 1
    edges = np.linspace(0, problem.n, threads + 1).astype(np.int64).tolist()

    def fill(k: int) -> None:
        if W.shape[1] == 1:  # a vector of its own: a column of W would not be read in lanes
            w, margins = W.ravel(), out.reshape(-1)
            fill_margins(problem.rows, edges[k], edges[k + 1], w, doubts[0], margins)
        else:
            _fill_scores(problem.rows, edges[k], edges[k + 1], W, doubts, out)

    if threads == 1:
        fill(0)
        return out
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(threads)))
    return out


@njit(cache=True, nogil=True)
def fill_margins(rows: Rows, first: int, last: int, w: Vector, doubt: float, out: Vector) -> None:
    """`margin` over zero for the rows first, …, last − 1."""
    for i in range(first, last):  # `margin`, written out: a call would count references
        m = dot(rows, i, w)
        if not doubt + UNDERFLOW < abs(m) < np.inf:
            m = dot_in_order(rows, i, w)
        out[i] = m


@njit(cache=True, nogil=True)
def _fill_scores(rows: Rows, first: int, last: int, W: Vector, doubts: Vector, out: Vector) -> None:
    for i in range(first, last):
        dots(rows, i, W, out[i])
        for c in range(W.shape[1]):
            if not doubts[c] + UNDERFLOW < abs(out[i, c]) < np.inf:
                out[i, c] = dot_in_order(rows, i, W[:, c])
