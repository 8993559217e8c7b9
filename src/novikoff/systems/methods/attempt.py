"""What a method proposes, and the cone in which most of them look for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.rows import Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits

# Float64 matrices, dense or CSR: only products with them and their transposes are taken.
Matrix: TypeAlias = "Vector | SparseMatrix"
# What the theorem speaks of, by name: one entry for each step, or for each rescaling.
Trace: TypeAlias = "dict[str, Vector | Indices]"

MOST_STEPS, UNLIMITED = 100_000, 2**62  # where the caller sets no limit
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
    trace: Trace | None = None


class TraceBuilder:
    """Gathers a trace, entry by entry."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def note(self, **values: Any) -> None:
        """Add one entry to every column."""
        for name, value in values.items():
            self._columns.setdefault(name, []).append(value)

    def trace(self) -> Trace:
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
    """The limit on updates; `MOST_STEPS` if there is no limit at all."""
    if limits.updates is None and limits.seconds is None and limits.epochs is None:
        return MOST_STEPS
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

    def point(self, u: Vector) -> Vector | None:
        """The w that u stands for, if there is one."""
        if self.unit is None:
            return u
        if not u[-1] > 0.0:
            return None
        w: Vector = u[:-1] * (self.unit / u[-1])
        return w if self.w0 is None else w + self.w0

    def weights(self, x: Vector) -> Vector:
        """The multipliers of the rows as they were given."""
        return (x / self.lengths)[: len(x) - (self.unit is not None)]

    def attempt(
        self, u: Vector | None, x: Vector | None, n_steps: int, notes: TraceBuilder | None = None
    ) -> Attempt:
        """What u and x stand for."""
        return Attempt(
            None if u is None else self.point(u),
            None if x is None else self.weights(x),
            n_steps,
            None if notes is None else notes.trace(),
        )


def cone(A: Matrix, c: Vector | None, w0: Vector | None) -> Cone:
    """The homogeneous form of a system, in rows of unit length."""
    if c is None:
        if w0 is not None:
            raise ValueError(
                "This method has no use for w0 where A w > 0 is asked: leave it out, or take "
                "auto, relaxation or spingarn."
            )
        lengths = row_lengths(A)
        return Cone(scaled(A, 1.0 / lengths), lengths, None, None)
    right = c if w0 is None else c - A @ w0
    distances = np.abs(right) / row_lengths(A)
    unit = math.ldexp(1.0, math.frexp(float(distances.max(initial=0.0)))[1])
    H = bordered(A, right / -unit)  # with its sign turned around
    lengths = row_lengths(H)
    return Cone(_with_last_row(scaled(H, -1.0 / lengths)), np.append(lengths, 1.0), unit, w0)


def row_lengths(A: Matrix) -> Vector:
    """‖a_i‖ of every row, 1 for a row of zeros."""
    squares = np.einsum("ij,ij->i", A, A) if isinstance(A, np.ndarray) else A.multiply(A).sum(1)
    lengths = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
    lengths[lengths == 0.0] = 1.0
    return lengths


def scaled(A: Matrix, factors: Vector) -> Matrix:
    """The rows, each times its factor."""
    if isinstance(A, np.ndarray):
        return A * factors[:, None]
    from scipy.sparse import csr_array, diags_array  # here, for those whose rows are dense

    return csr_array(diags_array(factors) @ csr_array(A))


def bordered(A: Matrix, last: Vector) -> Matrix:
    """[A, last]: the matrix with one more column."""
    if isinstance(A, np.ndarray):
        return np.column_stack([A, last])
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(A), csr_array(last[:, None])]))


def row(A: Matrix, i: int) -> Vector:
    """One row as a vector."""
    return np.array(A[i]) if isinstance(A, np.ndarray) else A[[i]].toarray()[0]


def dense(A: Matrix) -> Vector:
    """A copy that a method may write to."""
    return np.array(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)


def _with_last_row(H: Matrix) -> Matrix:
    """The matrix with one more row: e."""
    e = np.zeros((1, H.shape[1]))
    e[0, -1] = 1.0
    if isinstance(H, np.ndarray):
        return np.vstack([H, e])
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([csr_array(H), csr_array(e)]))
