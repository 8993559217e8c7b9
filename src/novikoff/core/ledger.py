"""What a run writes down while it goes, and what it ends with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.margins import norm_bound
from novikoff.core.near import Near, everywhere
from novikoff.core.problem import Problem
from novikoff.core.readahead import out_of_cache
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Stop
from novikoff.core.trace import Tape, Trace, blank_tape, record

# Work per call of a kernel, in entries: some ten milliseconds between looks at the clock.
ENTRIES_PER_CALL: Final = 1 << 24

Flags: TypeAlias = npt.NDArray[np.bool_]


class Notes(NamedTuple):
    """What is entered at every update, beyond the counts. Arrays nobody asked for are empty."""

    lazy: Vector  # (K, p) Σ (step number)·τ·a_i, from which the average follows
    tape: Tape


class Ledger(NamedTuple):
    """The books of K binary problems that are run side by side.

    Kernels write into the arrays, so that the books agree with the weights whenever a run
    is interrupted. Arrays that nobody asked for are empty. Most runs keep no notes: that is
    said by the type, so that their kernels are compiled without them, in two thirds of the time.
    """

    active: Flags  # (K,) still running
    steps: Indices  # (K,) rows looked at
    updates: Indices  # (K,) times w was moved: what the theorem counts
    mistakes: Indices  # (K,) times ⟨a_i, w⟩ ≤ 0 among these
    norm: Vector  # (K,) an upper bound on ‖w‖
    weights: Vector  # (n,) a factor on the steps of each row
    counts: npt.NDArray[np.int32]  # (n, K) updates on each row: the dual variables (A8)
    notes: Notes | None
    far: bool  # whether rows come from memory, and are asked for in advance
    progress: Indices  # (1,) position in the epoch, for the reader ahead
    limit: int  # updates allowed to each problem
    radius: float  # R
    rounding: float  # two sums of ⟨a_i, w⟩ differ by at most rounding·‖w‖
    near: Near  # the rows that can be mistakes, where only those are swept

    @property
    def lazy(self) -> Vector:
        """(p, K): what the average follows from, or empty."""
        if self.notes is None:
            return np.empty((0, len(self.active)))
        return np.ascontiguousarray(self.notes.lazy.T)

    def tally(self) -> Indices:
        """(3, K): steps, updates and mistakes."""
        return np.stack([self.steps, self.updates, self.mistakes])


@dataclass
class Run:
    """What a run ended with, for K problems side by side (K = 1 unless many classes).

    Attributes
    ----------
    W : array of shape (p, K)
        The weights; the last row holds the biases.
    ledger : Ledger
        Steps, updates, mistakes, and updates per row.
    epochs : array of shape (K,)
        Epochs begun.
    stops : list of Stop
        Why each problem ended.
    trace : Trace or None
        One entry per update, if asked for.
    """

    W: Vector
    ledger: Ledger
    epochs: Indices
    stops: list[Stop | None]
    trace: Trace | None = None

    def end(self, c: int, reason: Stop) -> None:
        """Problem c has ended; the first reason given stands."""
        self.ledger.active[c] = False
        self.stops[c] = self.stops[c] or reason

    def end_all(self, reason: Stop) -> None:
        """Whatever still runs has ended."""
        for c in range(len(self.stops)):
            self.end(c, reason)

    @property
    def converged(self) -> bool:
        """Whether every problem ended with a clean cycle."""
        return all(stop is Stop.CLEAN for stop in self.stops)

    def averaged(self) -> Vector:
        """The mean of the weights over all steps (A9; Freund and Schapire 1999).

        The mean of w after steps 1, …, T is w_T − (1/T)·Σ t·τ_t·a_t over the updates, t
        counted from 0: nothing needs to be done at the steps without an update.
        """
        return self.W - self.ledger.lazy / np.maximum(self.ledger.steps, 1)


def open_ledger(
    problem: Problem,
    W: Vector,
    weights: Vector | None,
    counts: bool,
    average: bool,
    tape: Tape | None,
    limit: int,
) -> Ledger:
    """Blank books for a run that starts from the weights W."""
    p, K = W.shape
    notes = None
    if average or tape is not None:
        notes = Notes(np.zeros((K, p if average else 0)), tape or blank_tape())
    return Ledger(
        active=np.ones(K, dtype=np.bool_),
        steps=np.zeros(K, dtype=np.int64),
        updates=np.zeros(K, dtype=np.int64),
        mistakes=np.zeros(K, dtype=np.int64),
        norm=np.array([norm_bound(w) for w in W.T]),
        weights=np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64),
        counts=np.zeros((problem.n if counts else 0, K), dtype=np.int32),
        notes=notes,
        far=out_of_cache(problem.rows),
        progress=np.zeros(1, dtype=np.int64),
        limit=limit,
        radius=problem.radius,
        rounding=problem.rounding(),
        near=everywhere(),
    )


def check_range(sound: bool, ledger: Ledger, W: Vector, longest: int) -> None:
    """Raise if a sum or a weight has left the range of float64.

    On the way the bounds on ‖w‖ are renewed, where that costs less than what was done
    since.
    """
    for c in range(W.shape[1]):
        moves = float(ledger.norm[c]) / ledger.radius if ledger.radius > 0.0 else 0.0
        if moves * longest >= len(W) or not ledger.norm[c] < 1e300:
            ledger.norm[c] = norm_bound(W[:, c])
            sound = sound and bool(np.isfinite(ledger.norm[c]) or np.isfinite(W[:, c]).all())
    if not sound:
        raise ValueError(
            "The weights grew beyond the range of float64: scale the data down "
            "(for instance to unit variance) or reduce the step."
        )


@njit(cache=True, nogil=True, forceinline=True)
def weight(weights: Vector, i: int) -> float:
    """The factor on the steps of row i; a row of weight 0 is not part of the problem."""
    return weights[i] if len(weights) > 0 else 1.0


@njit(cache=True, nogil=True, forceinline=True)
def grown(norm: float, radius: float, step: float, m: float) -> float:
    """An upper bound on ‖w + τ·a‖ from one on ‖w‖, for a step τ ≥ 0 and ⟨a, w⟩ ≤ m.

    ‖w + τa‖² = ‖w‖² + 2τ⟨a, w⟩ + τ²‖a‖²: after a mistake the norm grows like √t, not like t.
    """
    reach = step * radius
    if 1e-140 < reach < 1e140 and norm < 1e140:
        return math.sqrt(norm * norm + 2.0 * step * max(m, 0.0) + reach * reach) * (1.0 + 1e-15)
    return norm + reach


@njit(cache=True, nogil=True)
def annotate(
    notes: Notes | None,
    names: Indices,
    c: int,
    t: int,
    rows: Rows,
    i: int,
    m: float,
    step: float,
    w: Vector,
) -> None:
    """Enter an update of problem c, at step t on row i, in the average and on the tape."""
    if notes is not None:
        if notes.lazy.shape[1] > 0:
            _rows.axpy(t * step, rows, i, notes.lazy[c])
        if len(notes.tape.row) > 0:
            record(notes.tape, t, names[i] if len(names) > 0 else i, m, step, w)
