"""The result of a method, and the homogeneous rows on which most methods work."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.rows import Indices, Matrix, Vector, side_by_side, stacked
from novikoff.core.stops import Limits
from novikoff.systems.matrices import row_lengths, scaled

# The quantities of a theorem by name, with one entry for each step or each rescaling.
MethodTrace: TypeAlias = "dict[str, Vector | Indices]"

# The largest number of steps if the caller sets no limit, and a limit that is never reached.
MAX_STEPS, UNLIMITED = 100_000, 2**62
# If a convex combination of unit rows is shorter than this, it counts as zero up to rounding.
TINY = 1e-14


class Attempt(NamedTuple):
    """The point and the multipliers that a method proposes, in floats and unverified.

    Attributes
    ----------
    w : array of shape (p,) or None
        A point that may satisfy A w ≤ c, or A w > 0 if ``c=None``.
    multipliers : array of shape (n,) or None
        λ that may be a Farkas certificate: λ ≥ 0 with Σ λ_i a_i = 0 and ⟨c, λ⟩ < 0. For A w > 0, a
        λ ≠ 0 with Σ λ_i a_i = 0 (Gordan's theorem).
    n_steps : int
        The number of steps.
    trace : dict of arrays, or None
        The quantities of the method's theorem, with one entry for each step.
    """

    w: Vector | None
    multipliers: Vector | None
    n_steps: int
    trace: MethodTrace | None = None


class TraceBuilder:
    """Collects a trace, entry by entry."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def note(self, **values: Any) -> None:
        """Add one entry to each of the named columns."""
        for name, value in values.items():
            self._columns.setdefault(name, []).append(value)

    def trace(self) -> MethodTrace:
        """The columns as arrays."""
        return {name: np.array(column) for name, column in self._columns.items()}


def steps(limits: Limits | None) -> Iterator[int]:
    """Yield 0, 1, 2, … until a limit on updates, epochs or seconds is reached.

    A step counts as an update and as an epoch.
    """
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


class UnitRows(NamedTuple):
    """Unit rows h_i; a method looks for a u with ⟨h_i, u⟩ > 0 for all i.

    For A w ≤ c the rows are [−a_i, (c_i − ⟨a_i, w₀⟩)/s] and, last, e = (0, …, 0, 1), each scaled to
    length one. If u = (v, t) solves them, w₀ + s·v/t lies in the interior. For A w > 0 the rows are
    the a_i, scaled to length one.

    Attributes
    ----------
    H : matrix
        The unit rows.
    lengths : array
        The lengths of the rows before they were scaled.
    unit : float or None
        s, the unit of w; with it, all entries have a similar size. None for A w > 0.
    w0 : array or None
        The start.
    notes : TraceBuilder or None
        Collects the trace, if one was asked for.
    """

    H: Matrix
    lengths: Vector
    unit: float | None
    w0: Vector | None
    notes: TraceBuilder | None

    def note(self, **values: Any) -> None:
        """Add one entry to the trace, if there is one."""
        if self.notes is not None:
            self.notes.note(**values)

    def attempt(self, u: Vector | None, x: Vector | None, n_steps: int) -> Attempt:
        """Translate u, and multipliers x of the h_i, into a proposal for the original rows."""
        w, multipliers = u, None if x is None else x / self.lengths
        if self.unit is not None:
            w = None if u is None or not u[-1] > 0.0 else u[:-1] * (self.unit / u[-1])
            multipliers = None if multipliers is None else multipliers[:-1]
            if w is not None and self.w0 is not None:
                w = w + self.w0
        trace = None if self.notes is None else self.notes.trace()
        return Attempt(w, multipliers, n_steps, trace)


def unit_rows(A: Matrix, c: Vector | None, w0: Vector | None, trace: bool = False) -> UnitRows:
    """The homogeneous form of a system, as rows of unit length."""
    notes = TraceBuilder() if trace else None
    if c is None:
        if w0 is not None:
            raise ValueError(
                "This method cannot start from w0 for a system A w > 0: leave w0 out, or choose "
                "auto, relaxation or spingarn."
            )
        lengths = lengths_of(A)
        return UnitRows(scaled(A, 1.0 / lengths), lengths, None, None, notes)
    right = c if w0 is None else c - A @ w0
    distances = np.abs(right) / lengths_of(A)
    unit = math.ldexp(1.0, math.frexp(float(distances.max(initial=0.0)))[1])
    H = side_by_side(A, right[:, None] / -unit)  # [a, −c/s]; the sign is changed below
    lengths = lengths_of(H)
    rows = stacked(scaled(H, -1.0 / lengths), np.eye(1, H.shape[1], A.shape[1]))
    return UnitRows(rows, np.append(lengths, 1.0), unit, w0, notes)


def lengths_of(A: Matrix) -> Vector:
    """‖a_i‖ of every row; 1 for a row of zeros."""
    lengths = row_lengths(A)
    lengths[lengths == 0.0] = 1.0
    return lengths
