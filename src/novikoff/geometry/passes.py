"""Passes over all rows, on every core, and the rows themselves where few are needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.margins import UNDERFLOW, norm_bound
from novikoff.core.problem import Problem
from novikoff.core.rows import Csr, Dense, Indices, Rows, Vector
from novikoff.geometry.table import SignedRows

# Below this many entries a second thread costs more than it gives.
_WORTHWHILE = 1 << 16


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Data:
    """The rows of a problem, for kernels and for the checker's arithmetic."""

    problem: Problem
    table: SignedRows
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(cores()))

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.problem.n

    @property
    def p(self) -> int:
        """The number of weights, the bias among them where there is one."""
        return self.problem.p - 1 + int(self.table.fit_intercept)

    @cached_property
    def survey(self) -> Vector:
        """Σ_i a_ij in two parts, Σ_i |a_ij| and max_i |a_ij| for every column, the bias last.

        The second part of the sum is what the first has lost to rounding (Neumaier 1974).
        """
        rows = self.problem.rows

        def look(first: int, last: int) -> Vector:
            if isinstance(rows, Dense):
                return _survey_dense(rows, first, last)
            return _survey_csr(rows, first, last)

        parts = np.stack(self.each(look))
        return np.vstack([_joined(parts[:, :2]), parts[:, 2].sum(axis=0), parts[:, 3].max(axis=0)])

    def products(self, w: Vector) -> Vector:
        """⟨a_i, w⟩ for all rows, within `doubt`."""
        out = np.empty(self.n)
        self.each(lambda first, last: _fill(self.problem.rows, first, last, w, out))
        return out

    def doubt(self, w: Vector) -> float:
        """How far a product with w may be from the truth."""
        return self.problem.rounding() * norm_bound(w) + UNDERFLOW

    def lengths(self, columns: Vector) -> Vector:
        """The norms of the rows, each column multiplied by its factor; 1 for a zero row."""
        rows, out = self.problem.rows, np.empty(self.n)

        def fill(first: int, last: int) -> None:
            if isinstance(rows, Dense):
                _lengths_dense(rows, first, last, columns, out)
            else:
                _lengths_csr(rows, first, last, columns, out)

        self.each(fill)
        out[out == 0.0] = 1.0
        return out

    def gather(self, at: Indices, columns: Vector) -> Vector:
        """The rows of the numbers given, each column multiplied by its factor."""
        out = np.zeros((len(at), self.problem.p))
        _gather(self.problem.rows, at, out)
        out *= columns
        return out

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown()

    def each(self, work: Callable[[int, int], Vector | None]) -> list[Vector]:
        """Do the work for all rows, a stretch on each core; return what it returns."""
        parts = cores() if _rows.nbytes(self.problem.rows) // 8 > _WORTHWHILE else 1
        edges = np.linspace(0, self.n, parts + 1).astype(np.int64).tolist()
        if parts == 1:
            done = [work(0, self.n)]
        else:
            done = list(self._pool.map(work, edges[:-1], edges[1:]))
        return [part for part in done if part is not None]


@njit(cache=True, nogil=True)
def _fill(rows: Rows, first: int, last: int, w: Vector, out: Vector) -> None:
    for i in range(first, last):
        out[i] = _rows.dot(rows, i, w)


@njit(cache=True, nogil=True)
def _gather(rows: Rows, at: Indices, out: Vector) -> None:
    for k in range(len(at)):
        _rows.axpy(1.0, rows, at[k], out[k])


def _joined(parts: Vector) -> Vector:
    """The sums of all stretches, in two parts each."""
    total = np.zeros(parts.shape[1:])
    for part in parts:
        for j in range(total.shape[1]):
            _enter(part[0, j], total, j)
        total[1] += part[1]
    return total


@njit(cache=True, nogil=True, forceinline=True)
def _enter(a: float, out: Vector, j: int) -> None:
    """Add a to the sum in out[0, j], and what is rounded off to out[1, j] (Knuth)."""
    before = out[0, j]
    total = before + a
    added = total - before
    out[0, j] = total
    out[1, j] += (before - (total - added)) + (a - added)


@njit(cache=True, nogil=True)
def _survey_dense(rows: Dense, first: int, last: int) -> Vector:
    d = rows.X.shape[1]
    out = np.zeros((4, d + 1))
    for i in range(first, last):
        sign = np.float64(rows.signs[i])
        for j in range(d):
            a = sign * rows.X[i, j]
            _enter(a, out, j)
            out[2, j] += abs(a)
            out[3, j] = max(out[3, j], abs(a))
        out[0, d] += sign * rows.bias
    out[2, d] = rows.bias * (last - first)
    out[3, d] = rows.bias
    return out


@njit(cache=True, nogil=True)
def _survey_csr(rows: Csr, first: int, last: int) -> Vector:
    out = np.zeros((4, rows.d + 1))
    for i in range(first, last):
        sign = np.float64(rows.signs[i])
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            a, j = sign * rows.data[k], rows.indices[k]
            _enter(a, out, j)
            out[2, j] += abs(a)
            out[3, j] = max(out[3, j], abs(a))
        out[0, rows.d] += sign * rows.bias
    out[2, rows.d] = rows.bias * (last - first)
    out[3, rows.d] = rows.bias
    return out


@njit(cache=True, nogil=True)
def _lengths_dense(rows: Dense, first: int, last: int, columns: Vector, out: Vector) -> None:
    d = rows.X.shape[1]
    for i in range(first, last):
        total = (rows.bias * columns[d]) ** 2
        for j in range(d):
            total += (np.float64(rows.X[i, j]) * columns[j]) ** 2
        out[i] = np.sqrt(total)


@njit(cache=True, nogil=True)
def _lengths_csr(rows: Csr, first: int, last: int, columns: Vector, out: Vector) -> None:
    for i in range(first, last):
        total = (rows.bias * columns[rows.d]) ** 2
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += (np.float64(rows.data[k]) * columns[rows.indices[k]]) ** 2
        out[i] = np.sqrt(total)
