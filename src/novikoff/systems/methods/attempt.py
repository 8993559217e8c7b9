"""What a method proposes, and the cone in which most of them look for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.rows import Indices, Matrix, Vector, stacked
from novikoff.core.stops import Limits
from novikoff.systems.matrices import beside, row_lengths, scaled

# What the theorem speaks of, by name: one entry for each step, or for each rescaling.
MethodTrace: TypeAlias = "dict[str, Vector | Indices]"

MAX_STEPS, UNLIMITED = 100_000, 2**62  # where the caller sets no limit
TINY = 1e-14  # a convex combination of unit rows that is shorter is zero but for rounding


class Attempt(NamedTuple):
    """A candidate point and candidate multipliers, in floats and unverified.

    ``w`` may satisfy A w ≤ c; ``weights`` may be a Farkas vector: λ ≥ 0, one for each row, with
    Σ λ_i a_i = 0 and ⟨c, λ⟩ < 0. For A w > 0 (``c=None``) they may be a solution, and a λ ≠ 0
    with Σ λ_i a_i = 0 (Gordan).
    """

    w: Vector | None
    weights: Vector | None
    n_steps: int
    trace: MethodTrace | None = None


class TraceBuilder:
    """Gathers a trace, entry by entry."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def note(self, **values: Any) -> None:
        """Add one entry to every column."""
        for name, value in values.items():
            self._columns.setdefault(name, []).append(value)

    def trace(self) -> MethodTrace:
        """The columns as arrays."""
        return {name: np.array(column) for name, column in self._columns.items()}


def steps(limits: Limits | None) -> Iterator[int]:
    """0, 1, 2, … until a limit on updates, epochs (the same here) or seconds is reached."""
    limits = limits or Limits()
    for k in range(most_steps(limits)):
        if limits.reached(k):
            return
        yield k


def most_steps(limits: Limits) -> int:
    """The limit on updates; `MAX_STEPS` if there is no limit at all."""
    if limits.updates is None and limits.seconds is None and limits.epochs is None:
        return MAX_STEPS
    return limits.most_updates()


class Cone(NamedTuple):
    """Unit rows h_i; wanted is u with ⟨h_i, u⟩ > 0 for all i.

    For A w ≤ c they are [−a_i, (c_i − ⟨a_i, w₀⟩)/s] and, last, e = (0, …, 0, 1): where u = (v, t)
    solves them, w₀ + s·v/t lies in the interior. s is a unit of w, so that all entries have a like
    size. For A w > 0 they are the a_i.
    """

    H: Matrix
    lengths: Vector  # of the rows before they were scaled
    unit: float | None  # s; None for A w > 0
    w0: Vector | None
    notes: TraceBuilder | None

    def note(self, **values: Any) -> None:
        """Add one entry to the trace, where there is one."""
        if self.notes is not None:
            self.notes.note(**values)

    def attempt(self, u: Vector | None, x: Vector | None, n_steps: int) -> Attempt:
        """What u, and multipliers x of the h_i, stand for in the rows as they were given."""
        w, weights = u, None if x is None else x / self.lengths
        if self.unit is not None:
            w = None if u is None or not u[-1] > 0.0 else u[:-1] * (self.unit / u[-1])
            weights = None if weights is None else weights[:-1]
            if w is not None and self.w0 is not None:
                w = w + self.w0
        trace = None if self.notes is None else self.notes.trace()
        return Attempt(w, weights, n_steps, trace)


def cone(A: Matrix, c: Vector | None, w0: Vector | None, trace: bool = False) -> Cone:
    """The homogeneous form of a system, in rows of unit length."""
    notes = TraceBuilder() if trace else None
    if c is None:
        if w0 is not None:
            raise ValueError(
                "This method has no use for w0 where A w > 0 is asked: leave it out, or take "
                "auto, relaxation or spingarn."
            )
        lengths = lengths_of(A)
        return Cone(scaled(A, 1.0 / lengths), lengths, None, None, notes)
    right = c if w0 is None else c - A @ w0
    distances = np.abs(right) / lengths_of(A)
    unit = math.ldexp(1.0, math.frexp(float(distances.max(initial=0.0)))[1])
    H = beside(A, right[:, None] / -unit)  # with its sign turned around
    lengths = lengths_of(H)
    rows = stacked(scaled(H, -1.0 / lengths), np.eye(1, H.shape[1], A.shape[1]))
    return Cone(rows, np.append(lengths, 1.0), unit, w0, notes)


def lengths_of(A: Matrix) -> Vector:
    """‖a_i‖ of every row, 1 for a row of zeros."""
    lengths = row_lengths(A)
    lengths[lengths == 0.0] = 1.0
    return lengths
