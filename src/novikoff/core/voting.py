"""The voted perceptron: every rule the run went through votes (A9; Freund and Schapire 1999).

The run's weights v_0, v_1, … each survive a number of steps c_k, and the vote on x is
Σ c_k·sign⟨v_k, x⟩. They need not be stored: ⟨v_k, x⟩ grows by τ·⟨a_i, x⟩ from one to the
next, so that the distinct rows of the updates are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Matrix, Vector

if TYPE_CHECKING:
    from novikoff.core.counts import Trace

SCORES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Votes:
    """What one rule needs to take the vote of all its earlier selves."""

    start: Vector  # v_0, of shape (p,)
    rows: Matrix  # the distinct rows x_i of the updates
    which: Indices  # the row of each update, by its place in ``rows``
    tau: Vector  # τ·y_i of each update
    survived: Indices  # c_0, c_1, …: for how many steps each rule stood
    bias: float  # 1 with an intercept, 0 without

    def shares(self, X: Matrix) -> Vector:
        """(votes for + minus votes for −)/(all votes), for each row of X.

        sign(0) is a vote for the negative side. The share of a row with a score beyond the range
        of float64, whose sign nobody knows, is NaN.
        """
        out = np.empty(X.shape[0])
        stretch = max(1, SCORES_AT_ONCE // max(1, self.rows.shape[0]))
        for first in range(0, len(out), stretch):
            part = X[first : first + stretch].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                products = part @ self.rows.T
                dense = products if isinstance(products, np.ndarray) else products.toarray()
                gram = np.asarray(dense, dtype=np.float64) + self.bias
                begin = np.asarray(part @ self.start[:-1]) + self.bias * self.start[-1]
                out[first : first + stretch] = self.shares_of(gram, begin)
        return out

    def shares_of(self, gram: Vector, score: Vector) -> Vector:
        """The shares on examples, given their products with the rows and with v_0."""
        return self._take(gram, score) / max(1, int(self.survived.sum()))

    def _take(self, gram: Vector, score: Vector) -> Vector:
        """The votes on examples, given their products with the rows and with v_0."""
        votes = np.where(score > 0.0, 1.0, -1.0) * self.survived[0]
        at_once = max(1, SCORES_AT_ONCE // max(1, len(gram)))
        for first in range(0, len(self.which), at_once):
            updates = slice(first, first + at_once)
            moves = gram[:, self.which[updates]] * self.tau[updates]
            moves[:, 0] += score
            scores = np.cumsum(moves, axis=1)  # ⟨v_k, x⟩ for one k after the other
            votes += np.where(scores > 0.0, 1.0, -1.0) @ self.survived[1:][updates]
            score = scores[:, -1]
        return np.where(np.isfinite(score), votes, np.nan)  # once beyond, it never comes back


def votes_of(
    trace: Trace,
    n_steps: int,
    start: Vector,
    X: Matrix,
    codes: Indices,
    sides: npt.NDArray[np.int8],
    fit_intercept: bool,
) -> Votes:
    """The votes of a traced run of ``n_steps`` steps that began with the weights ``start``.

    ``codes`` are the classes of the rows X, ``sides`` the sign of each class.
    """
    distinct, which = np.unique(trace.index, return_inverse=True)
    survived = np.diff(np.concatenate([[0], trace.step, [n_steps]]))
    return Votes(
        start=start,
        rows=X[distinct].astype(np.float64, copy=False),
        which=which,
        tau=trace.tau * sides[codes[distinct]][which],
        survived=survived,
        bias=float(fit_intercept),
    )
