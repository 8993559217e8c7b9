"""What a run writes down: counts, bounds, the lazy average."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.margins import norm_bound
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.trace import Tape, blank_tape, record

Flags: TypeAlias = npt.NDArray[np.bool_]


class Ledger(NamedTuple):
    """The books of K binary problems that are run side by side.

    Kernels write into the arrays, so that the books agree with the weights whenever a run
    is interrupted. Arrays that nobody asked for are empty.
    """

    active: Flags  # (K,) still running
    steps: Indices  # (K,) rows looked at
    updates: Indices  # (K,) times w was moved: what the theorem counts
    mistakes: Indices  # (K,) times ⟨a_i, w⟩ ≤ 0 among these
    norm: Vector  # (K,) an upper bound on ‖w‖
    weights: Vector  # (n,) a factor on the steps of each row
    counts: npt.NDArray[np.int32]  # (n, K) updates on each row: the dual variables (A8)
    lazy: Vector  # (p, K) Σ (step number)·τ·a_i, from which the average follows
    tape: Tape
    annotated: bool  # whether the average or the tape is kept
    progress: Indices  # (1,) position in the epoch, for the reader ahead
    limit: int  # updates allowed to each problem
    radius: float  # R
    rounding: float  # two sums of ⟨a_i, w⟩ differ by at most rounding·‖w‖


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
    return Ledger(
        active=np.ones(K, dtype=np.bool_),
        steps=np.zeros(K, dtype=np.int64),
        updates=np.zeros(K, dtype=np.int64),
        mistakes=np.zeros(K, dtype=np.int64),
        norm=np.array([norm_bound(w) for w in W.T]),
        weights=np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64),
        counts=np.zeros((problem.n if counts else 0, K), dtype=np.int32),
        lazy=np.zeros((p if average else 0, K)),
        tape=blank_tape() if tape is None else tape,
        annotated=average or tape is not None,
        progress=np.zeros(1, dtype=np.int64),
        limit=limit,
        radius=problem.radius,
        rounding=problem.rounding(),
    )


def tighten(ledger: Ledger, W: Vector, longest: int) -> bool:
    """Renew the bounds on ‖w‖ where that costs less than what was done since.

    False if a weight is no longer finite.
    """
    for c in range(W.shape[1]):
        grown = ledger.norm[c] / ledger.radius if ledger.radius > 0.0 else 0.0
        if grown * longest >= len(W) or not ledger.norm[c] < 1e300:
            ledger.norm[c] = norm_bound(W[:, c])
            if not np.isfinite(ledger.norm[c]) and not np.isfinite(W[:, c]).all():
                return False
    return True


@njit(cache=True, nogil=True, forceinline=True)
def weight(weights: Vector, i: int) -> float:
    """The factor on the steps of row i; a row of weight 0 is not part of the problem."""
    return weights[i] if len(weights) > 0 else 1.0


@njit(cache=True, nogil=True)
def annotate(
    ledger: Ledger, c: int, t: int, rows: Rows, i: int, m: float, step: float, w: Vector
) -> None:
    """Enter an update of problem c, at step t on row i, in the average and on the tape."""
    if len(ledger.lazy) > 0:
        _rows.axpy(t * step, rows, i, ledger.lazy[:, c])
    if len(ledger.tape.index) > 0:
        record(ledger.tape, t, i, m, step, w)
