"""The trace: what happened at every update, and how the convergence proof holds in it.

Novikoff's proof is two inequalities, true after every update t from w₀ = 0 (B3):

    ⟨w*, w_t⟩ ≥ t·γ        ‖w_t‖² ≤ t·R²

and hence cos∠(w*, w_t) ≥ √t·γ/R; as a cosine is at most 1, t ≤ R²/γ².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from novikoff.core.rows import Indices, Vector

_TAPE_LENGTH = 1 << 12


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


class Tape(NamedTuple):
    """The stretch of trace that a kernel can write before `Recorder` takes it over."""

    used: Indices  # (1,)
    step: Indices
    row: Indices
    numbers: Vector  # (length, 4): margin, tau, squared norm, inner product
    reference: Vector  # w*, or empty


def blank_tape(length: int = 0, reference: Vector | None = None) -> Tape:
    """A tape for ``length`` updates; of length 0 it records nothing."""
    return Tape(
        np.zeros(1, dtype=np.int64),
        np.empty(length, dtype=np.int64),
        np.empty(length, dtype=np.int64),
        np.empty((length, 4)),
        np.empty(0) if reference is None else np.ascontiguousarray(reference, dtype=np.float64),
    )


class Recorder:
    """Gathers full tapes into one trace.

    Its arrays grow by an eighth at a time, which moves no memory where it can be mapped anew: a
    run that ends, or is interrupted, has its trace at once.

    Examples
    --------
    >>> recorder = Recorder(reference=np.array([3.0, 4.0]))
    >>> record(recorder.tape, 7, 2, -1.0, 1.0, np.array([1.0, 0.0]))
    >>> recorder.trace().cosine.tolist()
    [0.6]
    """

    def __init__(self, reference: Vector | None = None) -> None:
        self.tape = blank_tape(_TAPE_LENGTH, reference)
        self._length = 0
        self._steps: Indices = np.empty(0, dtype=np.int64)
        self._indices: Indices = np.empty(0, dtype=np.int64)
        self._numbers: Vector = np.empty((0, 4))

    def take(self) -> None:
        """Copy what is on the tape and wind it back."""
        used = int(self.tape.used[0])
        last = self._length + used
        if last > len(self._steps):
            self._resize(last + last // 8)
        self._steps[self._length : last] = self.tape.step[:used]
        self._indices[self._length : last] = self.tape.row[:used]
        self._numbers[self._length : last] = self.tape.numbers[:used]
        self._length = last
        self.tape.used[0] = 0

    def _resize(self, length: int) -> None:
        self._steps.resize(length, refcheck=False)
        self._indices.resize(length, refcheck=False)
        self._numbers.resize((length, 4), refcheck=False)

    def trace(self) -> Trace:
        """All that was recorded."""
        self.take()
        self._resize(self._length)
        numbers = self._numbers
        inner = cosine = None
        if len(self.tape.reference) > 0:
            inner = numbers[:, 3]
            lengths = np.linalg.norm(self.tape.reference) * np.sqrt(numbers[:, 2])
            cosine = np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0)
        return Trace(
            self._steps,
            self._indices,
            numbers[:, 0],
            numbers[:, 1],
            numbers[:, 2],
            inner,
            cosine,
        )


@njit(cache=True, nogil=True)
def record(tape: Tape, step: int, i: int, m: float, tau: float, w: Vector) -> None:
    """Write one update down; w is the vector after it."""
    at = tape.used[0]
    squared_norm, inner = 0.0, 0.0
    for j in range(len(w)):
        squared_norm += w[j] * w[j]
        if len(tape.reference) > 0:
            inner += w[j] * tape.reference[j]
    tape.step[at] = step
    tape.row[at] = i
    tape.numbers[at, 0] = m
    tape.numbers[at, 1] = tau
    tape.numbers[at, 2] = squared_norm
    tape.numbers[at, 3] = inner
    tape.used[0] = at + 1
