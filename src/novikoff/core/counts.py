"""What kernels count, the average of the weights, and the trace.

Novikoff's proof is two inequalities, true after every update t from w₀ = 0 (B3):

    ⟨w*, w_t⟩ ≥ t·γ        ‖w_t‖² ≤ t·R²

and hence cos∠(w*, w_t) ≥ √t·γ/R; as a cosine is at most 1, t ≤ R²/γ². A `Trace` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.rows import Indices, Vector

if TYPE_CHECKING:
    from novikoff.core.problem import Problem

TAPE_LENGTH = 1 << 12  # updates


class Counts(NamedTuple):
    """What kernels count, of one rule or of K; arrays that nobody asked for are empty."""

    totals: Indices  # (3,) or (3, K): rows visited, updates, mistakes (updates with m ≤ 0)
    per_row: npt.NDArray[np.int32]  # (n,) or (n, K): updates on each row, the dual variables (A8)
    weighted: Vector  # (p,) or (p, K): Σ t·τ·a_i, from which the mean of all w follows (A9)
    wrong: npt.NDArray[np.uint8]  # (n,): rows that were not predicted right before their update
    beyond: Vector  # (1,): 0, or NaN once a margin has left float64


def blank_counts(n: int, shape: tuple[int, ...], average: bool) -> Counts:
    """Nothing counted yet, for a run over n rows with weights of that shape."""
    return Counts(
        np.zeros((3, *shape[1:]), dtype=np.int64),
        np.zeros((n, *shape[1:]), dtype=np.int32),
        np.zeros((shape[0] if average else 0, *shape[1:])),
        np.zeros(0, dtype=np.uint8),
        np.zeros(1),
    )


def check_range(w: Vector, counts: Counts) -> None:
    """Raise ValueError if a weight, or a margin on the way, has left float64."""
    if counts.beyond[0] != 0.0 or not np.isfinite(w).all():
        raise ValueError(
            "The weights grew beyond the range of float64: scale the data down "
            "(for instance to unit variance) or reduce the step."
        )


def averaged(w: Vector, weighted: Vector, visited: npt.ArrayLike) -> Vector:
    """The mean of the weights over all steps (A9; Freund and Schapire 1999).

    The mean of w after steps 1, …, T is w_T − (1/T)·Σ t·τ_t·a_t over the updates, t counted
    from 0: nothing needs to be done at the steps without an update.

    Examples
    --------
    >>> averaged(np.array([4.0]), np.array([6.0]), 3)  # of 1, 1 and 4: 3 was added at t = 2
    array([2.])
    """
    return np.asarray(w - weighted / np.maximum(visited, 1))


@dataclass(frozen=True)
class Trace:
    """Arrays with one entry per update.

    Attributes
    ----------
    step : array of int
        How many rows had been looked at before this one.
    index : array of int
        The row i that was acted on.
    margin : array of float
        ⟨a_i, w⟩ before the update.
    tau : array of float
        The multiple of a_i that was added to w.
    squared_norm : array of float
        ‖w‖² after the update.
    inner : array of float or None
        ⟨w*, w⟩ after the update, given a reference w*.
    cosine : array of float or None
        The cosine of the angle between w* and w after the update, given w*.
    """

    step: Indices
    index: Indices
    margin: Vector
    tau: Vector
    squared_norm: Vector
    inner: Vector | None = None
    cosine: Vector | None = None

    def __len__(self) -> int:
        return len(self.index)

    def weights(self, problem: Problem, start: Vector | None = None) -> Vector:
        """w_0, w_1, … of the run over these rows, of shape (updates + 1, p), bit for bit.

        Examples
        --------
        >>> from novikoff.core.problem import pose
        >>> problem = pose(np.array([[2.0], [3.0]]), np.array([1, -1], dtype=np.int8), True)
        >>> one, two = np.array([0, 1]), np.array([1.0, 1.0])
        >>> Trace(one, one, two, two, two).weights(problem).tolist()
        [[0.0, 0.0], [2.0, 1.0], [-1.0, 0.0]]
        """
        rows = problem.X[self.index]
        padded = np.zeros((len(self) + 1, problem.p))
        padded[1:, :-1] = rows if isinstance(rows, np.ndarray) else rows.toarray()
        padded[1:, -1] = problem.rows.bias
        padded[1:] *= (self.tau * problem.signs[self.index])[:, None]
        if start is not None:
            padded[0] = start
        return np.cumsum(padded, axis=0)  # one after the other, as the loop adds them

    def averages(self, weights: Vector) -> Vector:
        """The mean of w over all rows looked at until each update, its own included (A9).

        ``weights`` are those of `weights`; the first mean, before any update, is w_0.
        """
        if len(self) == 0:
            return weights.copy()
        stood = np.diff(self.step, prepend=0)  # how many rows each w was shown, but the last
        before = np.cumsum(stood[:, None] * weights[:-1], axis=0)
        return np.vstack([weights[:1], (before + weights[1:]) / (self.step + 1)[:, None]])

    def margin_ceilings(self) -> Vector:
        """‖w_t‖/Σ τ after each update: γ is at most that, if the run began at w₀ = 0 (B3, C3).

        Then w_t = Σ λ_i a_i with λ_i ≥ 0, and ⟨w_t, w*⟩ ≥ Σ λ_i·γ for every unit vector w*.
        """
        return np.asarray(np.sqrt(self.squared_norm) / np.cumsum(self.tau))


class Tape(NamedTuple):
    """The stretch of trace that a kernel can write before `Recorder` takes it over."""

    used: Indices  # (1,)
    entries: Vector  # (length, 6): step, row, margin, tau, squared norm, inner product
    reference: Vector  # w*, or empty


def blank_tape(length: int = 0, reference: Vector | None = None) -> Tape:
    """A tape for ``length`` updates; of length 0 it records nothing."""
    w_star = np.empty(0) if reference is None else np.array(reference, dtype=np.float64)
    return Tape(np.zeros(1, dtype=np.int64), np.empty((length, 6)), w_star)


@njit(cache=True, nogil=True)
def record(tape: Tape, step: int, i: int, m: float, tau: float, w: Vector) -> None:
    """Write one update down; w is the vector after it."""
    squared_norm, inner = 0.0, 0.0
    for j in range(len(w)):
        squared_norm += w[j] * w[j]
    for j in range(len(tape.reference)):
        inner += w[j] * tape.reference[j]
    entry = tape.entries[tape.used[0]]
    entry[0], entry[1], entry[2], entry[3] = step, i, m, tau
    entry[4], entry[5] = squared_norm, inner
    tape.used[0] += 1


class Recorder:
    """Gathers full tapes into one trace.

    Examples
    --------
    >>> recorder = Recorder(reference=np.array([3.0, 4.0]))
    >>> record(recorder.tape, 7, 2, -1.0, 1.0, np.array([1.0, 0.0]))
    >>> recorder.trace().cosine.tolist()
    [0.6]
    """

    def __init__(self, reference: Vector | None = None) -> None:
        self.tape = blank_tape(TAPE_LENGTH, reference)
        self._taken = [np.empty((0, 6))]

    def take(self) -> None:
        """Copy what is on the tape and wind it back."""
        self._taken.append(self.tape.entries[: self.tape.used[0]].copy())
        self.tape.used[0] = 0

    def trace(self) -> Trace:
        """All that was recorded."""
        self.take()
        columns = np.ascontiguousarray(np.concatenate(self._taken).T)
        (step, index), (margin, tau, squared_norm, inner) = (
            columns[:2].astype(np.int64),
            columns[2:],
        )
        if len(self.tape.reference) == 0:
            return Trace(step, index, margin, tau, squared_norm)
        lengths = np.linalg.norm(self.tape.reference) * np.sqrt(squared_norm)
        cosine = np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0)
        return Trace(step, index, margin, tau, squared_norm, inner, cosine)
