"""The trace of a run, with which its convergence proof can be checked.

Novikoff's proof consists of two inequalities, which hold after every update t from w₀ = 0:

    ⟨w*, w_t⟩ ≥ t·γ        ‖w_t‖² ≤ t·R²

They imply cos∠(w*, w_t) ≥ √t·γ/R. A cosine is at most 1, and so t ≤ R²/γ². A `Trace` records both
sides of the inequalities, and a `Recorder` collects it while the loop runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from novikoff.core.rows import Indices, Vector, as_dense
from novikoff.core.sweep import trace_buffer

if TYPE_CHECKING:
    from novikoff.core.problem import Problem

TRACE_BUFFER_LENGTH = 1 << 12  # the number of updates in a trace buffer


@dataclass(frozen=True)
class Trace:
    """The record of a run: arrays with one entry per update.

    Attributes
    ----------
    n_steps : array of int
        The number of rows that the run had visited before this update.
    index : array of int
        The row i on which w was updated.
    margin : array of float
        ⟨a_i, w⟩ before the update.
    tau : array of float
        The multiple of a_i that was added to w.
    squared_norm : array of float
        ‖w‖² after the update.
    inner : array of float or None
        ⟨w*, w⟩ after the update, if there is a reference w*.
    cosine : array of float or None
        The cosine of the angle between w* and w after the update, if there is a w*.
    problem : Problem or None
        The rows of the run; after `detached`, only the rows with updates.
    start : array of float or None
        The initial weights w_0; None if they are zero.

    Examples
    --------
    >>> import novikoff as nv
    >>> clf = nv.Perceptron(order="cyclic", trace=True).fit([[2], [3]], ["yes", "no"])
    >>> clf.trace_.weights(2).tolist(), clf.trace_.average(2).tolist()  # the bias last
    ([-1.0, 0.0], [0.5, 0.5])
    """

    n_steps: Indices
    index: Indices
    margin: Vector
    tau: Vector
    squared_norm: Vector
    inner: Vector | None = None
    cosine: Vector | None = None
    problem: Problem | None = field(default=None, repr=False)
    start: Vector | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.index)

    def weights(self, t: int | None = None) -> Vector:
        """Return the weights w_t after t updates, the bias last, bit for bit as in the run.

        Parameters
        ----------
        t : int, optional
            The number of updates. A negative t counts from the end. By default all weights w_0,
            w_1, … are returned.

        Returns
        -------
        array of shape (p,) or (n_updates + 1, p)
            The weights, or all weights as the rows of a matrix.
        """
        if self.problem is None:
            raise ValueError(
                "This trace has no rows from which weights can be computed: see Trace.problem."
            )
        last = len(self) if t is None else self._place(t)
        acted, places = np.unique(self.index, return_inverse=True)
        at = (places if len(acted) == self.problem.n else self.index)[:last]
        path = np.zeros((last + 1, self.problem.p))
        path[1:, :-1] = as_dense(self.problem.X[at])
        path[1:, -1] = self.problem.bias
        path[1:] *= (self.tau[:last] * self.problem.signs[at])[:, None]
        if self.start is not None:
            path[0] = self.start
        np.cumsum(path, axis=0, out=path)  # adds the terms in the order of the loop
        return path if t is None else path[last]

    def average(self, t: int | None = None) -> Vector:
        """Return the mean of w over all rows that were visited up to update t.

        Parameters
        ----------
        t : int, optional
            The number of updates. By default the means for all t are returned.

        Returns
        -------
        array of shape (p,) or (n_updates + 1, p)
            The mean, or all means as the rows of a matrix, whose first row is w_0.
        """
        path = self.weights()
        n_visited = np.diff(self.n_steps, prepend=0)[:, None]  # with each w
        means = np.cumsum(n_visited * path[:-1], axis=0) + path[1:]
        means = np.vstack([path[:1], means / (self.n_steps + 1)[:, None]])
        return means if t is None else means[self._place(t)]

    def detached(self) -> Trace:
        """Return the trace with a copy of the rows that have updates, independent of the data."""
        if self.problem is None:
            return self
        return replace(self, problem=self.problem.part(np.unique(self.index)))

    def _place(self, t: int) -> int:
        if not -len(self) - 1 <= t <= len(self):
            raise IndexError(f"The run made {len(self)} updates: there is no w after update {t}.")
        return t % (len(self) + 1)

    def margin_ceilings(self) -> Vector:
        """Return ‖w_t‖/Σ τ after each update, upper bounds on γ if the run began at 0.

        If w₀ = 0, then w_t = Σ λ_i·a_i with λ_i ≥ 0 and Σ λ_i = Σ τ. The unit vector w* of the
        margin γ has ⟨a_i, w*⟩ ≥ γ for all i. Therefore ‖w_t‖ ≥ ⟨w_t, w*⟩ ≥ γ·Σ τ. The result is
        rounded up. Each update rounds w by at most 3u·‖w‖ for the unit roundoff u, and the length
        of w and the sum of τ are rounded once for each entry.
        """
        if self.problem is None:
            raise ValueError(
                "This trace has no rows, which are needed to bound the rounding of w: see "
                "Trace.problem."
            )
        u, p, t = 2.0**-52, self.problem.p, np.arange(1, len(self) + 1)
        with np.errstate(over="ignore"):
            length = np.sqrt(self.squared_norm) * (1.0 + (p + 4) * u) + math.sqrt(p) * 2.0**-537
            reach = length + 4.0 * u * np.cumsum(length) + t * p * 2.0**-1074
            return np.asarray(reach / np.cumsum(self.tau) * (1.0 + (t + 16) * u))


class Recorder:
    """Collect the contents of a trace buffer into one trace.

    Examples
    --------
    >>> from novikoff.core.sweep import write_update
    >>> recorder = Recorder(reference=np.array([3.0, 4.0]))
    >>> write_update(recorder.buffer, 7, 2, -1.0, 1.0, np.array([1.0, 0.0]))
    >>> recorder.trace().cosine.tolist()
    [0.6]
    """

    def __init__(self, reference: Vector | None = None) -> None:
        self.buffer = trace_buffer(TRACE_BUFFER_LENGTH, reference)
        self._taken = [np.empty((0, 6))]

    def take(self) -> None:
        """Copy the updates in the buffer, and empty the buffer."""
        self._taken.append(self.buffer.entries[: self.buffer.used[0]].copy())
        self.buffer.used[0] = 0

    def trace(self) -> Trace:
        """The trace of all updates recorded so far."""
        self.take()
        columns = np.ascontiguousarray(np.concatenate(self._taken).T)
        n_steps, index = columns[:2].astype(np.int64)
        margin, tau, squared_norm, inner = columns[2:]
        if len(self.buffer.reference) == 0:
            return Trace(n_steps, index, margin, tau, squared_norm)
        lengths = np.linalg.norm(self.buffer.reference) * np.sqrt(squared_norm)
        cosine = np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0)
        return Trace(n_steps, index, margin, tau, squared_norm, inner, cosine)
