"""The voted perceptron: every rule the run went through votes (A9; Freund and Schapire 1999).

The run's weights v_0, v_1, … each survive a number of steps c_k, and the vote on x is
Σ c_k·sign⟨v_k, x⟩. They need not be stored: ⟨v_k, x⟩ grows by τ·⟨a_i, x⟩ from one to the
next, so that the distinct rows of the updates are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.trace import Trace

# Products of examples with update rows held at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Votes:
    """What one rule needs to take the vote of all its earlier selves.

    Attributes
    ----------
    start : array of shape (p,)
        v_0.
    rows : array or CSR matrix
        The distinct rows x_i of the updates.
    which : array of int
        The row of each update, by its place in ``rows``.
    tau : array of float
        τ·y_i of each update.
    survived : array of int
        c_0, c_1, …: for how many steps each rule stood.
    bias : float
        1 with an intercept, 0 without.
    """

    start: Vector
    rows: Floats | SparseMatrix
    which: Indices
    tau: Vector
    survived: Indices
    bias: float

    def shares(self, X: Floats | SparseMatrix) -> Vector:
        """(votes for + minus votes for −)/(all votes), for each row of X.

        sign(0) is a vote for the negative side. The share of a row with a score beyond the range
        of float64, whose sign nobody knows, is NaN.
        """
        out = np.empty(X.shape[0])
        block = max(1, _BLOCK // max(1, self.rows.shape[0]))
        for first in range(0, len(out), block):
            part = X[first : first + block].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                gram = _products(part, self.rows) + self.bias
                begin = np.asarray(part @ self.start[:-1]) + self.bias * self.start[-1]
            _take_votes(gram, begin, self.which, self.tau, self.survived, out[first:])
        return out / max(1, int(self.survived.sum()))


def votes_of(
    trace: Trace,
    n_steps: int,
    start: Vector,
    X: Floats | SparseMatrix,
    codes: Indices,
    sides: npt.NDArray[np.int8],
    fit_intercept: bool,
) -> Votes:
    """The votes of a traced run of ``n_steps`` steps, on rows whose class is on one of two sides.

    Parameters
    ----------
    trace, n_steps, start
        The run, and the weights that it began with.
    X, codes : arrays
        The rows, and the class of each.
    sides : array of int
        The sign of each class.
    fit_intercept : bool
        Whether there is a bias.
    """
    distinct, which = _numbered(trace.index, X.shape[0])
    survived = np.empty(len(trace) + 1, dtype=np.int64)
    survived[:-1], survived[-1] = trace.step, n_steps
    survived[1:] -= trace.step
    return Votes(
        start=start,
        rows=X[distinct].astype(np.float64, copy=False),
        which=which,
        tau=trace.tau * sides[codes[distinct]][which],
        survived=survived,
        bias=float(fit_intercept),
    )


def _numbered(index: Indices, n: int) -> tuple[Indices, Indices]:
    """The distinct ones of numbers below n, sorted, and the place of each number among them."""
    if len(index) < n // 64:  # so that many short runs do not each cost n
        return np.unique(index, return_inverse=True)
    seen = np.zeros(n, dtype=np.bool_)
    seen[index] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[index]


@njit(cache=True, nogil=True)
def _take_votes(
    gram: Vector, begin: Vector, which: Indices, tau: Vector, survived: Indices, out: Vector
) -> None:
    for i in range(len(gram)):
        score = begin[i]
        vote = survived[0] if score > 0.0 else -survived[0]
        for k in range(len(which)):
            score += tau[k] * gram[i, which[k]]
            vote += survived[k + 1] if score > 0.0 else -survived[k + 1]
        out[i] = vote if abs(score) < math.inf else math.nan  # once beyond, it never comes back


def _products(X: Floats | SparseMatrix, rows: Floats | SparseMatrix) -> Vector:
    products = X @ rows.T
    dense = products if isinstance(products, np.ndarray) else products.toarray()
    return np.asarray(dense, dtype=np.float64)
