"""Passes over all rows, on every core, and the rows themselves where few are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.cores import cores
from novikoff.core.margins import UNDERFLOW, norm_bound
from novikoff.core.problem import Problem
from novikoff.core.rows import Csr, Dense, Indices, Rows, Vector
from novikoff.geometry.table import SignedRows

Result = TypeVar("Result")

# Below this many entries a second thread costs more than it gives.
_WORTHWHILE = 1 << 20
# From this many bytes on, one thread for something else is worth its start.
_WORTH_A_THREAD = 1 << 20


@contextmanager
def doing_beside(data: Data, work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do some work on another core meanwhile, or at the end where there is little to do."""
    if _rows.nbytes(data.problem.rows) < _WORTH_A_THREAD:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


@dataclass
class Data:
    """The rows of a problem, for kernels and for the checker's arithmetic.

    ``room`` are the bytes that a search among them may take; None is what is usual.
    """

    problem: Problem
    table: SignedRows
    room: int | None = None
    _pools: list[ThreadPoolExecutor] = field(default_factory=list)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.problem.n

    @property
    def large(self) -> bool:
        """Whether a second thread is worth its while."""
        return _rows.nbytes(self.problem.rows) // 8 > _WORTHWHILE

    @property
    def huge(self) -> bool:
        """Whether a core cannot keep the data near."""
        return _rows.nbytes(self.problem.rows) > 1 << 26

    @property
    def p(self) -> int:
        """The number of weights, the bias among them where there is one."""
        return self.problem.p - 1 + int(self.table.fit_intercept)

    @cached_property
    def peaks(self) -> Vector:
        """max_i |a_ij| for every column, the bias last."""
        rows = self.problem.rows

        def look(first: int, last: int) -> Vector:
            if isinstance(rows, Dense):
                return _peaks_dense(rows, first, last)
            return _peaks_csr(rows, first, last)

        return np.asarray(np.max(self.each(look), axis=0))

    def products(self, w: Vector) -> Vector:
        """⟨a_i, w⟩ for all rows, within `doubt`."""
        return self.products_by_side(w)[0]

    def products_by_side(self, w: Vector) -> tuple[Vector, float, float]:
        """The same with the least of the positive rows, and of the negative.

        It is infinite for a side without rows; both are NaN if a product is.
        """
        out = np.empty(self.n)
        found = self.each(lambda first, last: _fill(self.problem.rows, first, last, w, out))
        negative, positive = np.min(found, axis=0).tolist()
        return out, positive, negative

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

    def sample(self, step: int, factor: float) -> tuple[Vector, float, float]:
        """Of every so-manieth row times a factor: the peaks, the least and the largest norm.

        Rows of zeros have no part in the least.
        """
        rows, peaks = self.problem.rows, np.zeros(self.problem.p)
        if isinstance(rows, Dense):
            return peaks, *_sample_dense(rows, step, factor, peaks)
        return peaks, *_sample_csr(rows, step, factor, peaks)

    def gather(self, at: Indices, columns: Vector, lift: float, padding: int = 0) -> Vector:
        """(lift, a_i) for the rows of the numbers given, columns multiplied by their factors.

        So many zeros follow as ``padding`` says.
        """
        out = np.zeros((len(at), self.problem.p + 1 + padding))
        _gather(self.problem.rows, at, columns, np.zeros(self.problem.p), lift, out)
        return out

    def close(self) -> None:
        """Let the threads go."""
        for pool in self._pools:
            pool.shutdown()

    def each(self, work: Callable[[int, int], Vector | None]) -> list[Vector]:
        """Do the work for all rows, a stretch on each core; return what it returns."""
        parts = cores() if self.large else 1
        if parts == 1:
            done = [work(0, self.n)]
        else:
            edges = np.linspace(0, self.n, parts + 1).astype(np.int64).tolist()
            if not self._pools:
                self._pools.append(ThreadPoolExecutor(parts))
            done = list(self._pools[0].map(work, edges[:-1], edges[1:]))
        return [part for part in done if part is not None]


@njit(cache=True, nogil=True)
def _fill(rows: Rows, first: int, last: int, w: Vector, out: Vector) -> Vector:
    """Products with a stretch of the rows; the least of the negative, and of the positive."""
    least = np.full(2, np.inf)
    holds = True
    for i in range(first, last):
        m = _rows.dot(rows, i, w)
        out[i] = m
        holds &= m == m
        side = np.uint8(rows.signs[i] > 0)  # looked up: no core foresees a branch on signs
        if m < least[side]:
            least[side] = m
    if not holds:
        least[:] = np.nan
    return least


@njit(cache=True, nogil=True)
def _gather(
    rows: Rows, at: Indices, columns: Vector, row: Vector, lift: float, out: Vector
) -> None:
    for k in range(len(at)):
        for j in range(len(row)):
            row[j] = 0.0
        _rows.axpy(1.0, rows, at[k], row)
        out[k, 0] = lift
        for j in range(len(row)):
            out[k, j + 1] = row[j] * columns[j]


@njit(cache=True, nogil=True)
def _peaks_dense(rows: Dense, first: int, last: int) -> Vector:
    d = rows.X.shape[1]
    out = np.full(d + 1, rows.bias)
    out[:d] = 0.0
    for i in range(first, last):
        for j in range(d):
            out[j] = max(out[j], abs(np.float64(rows.X[i, j])))
    return out


@njit(cache=True, nogil=True)
def _peaks_csr(rows: Csr, first: int, last: int) -> Vector:
    out = np.full(rows.d + 1, rows.bias)
    out[: rows.d] = 0.0
    for k in range(rows.indptr[first], rows.indptr[last]):
        j = rows.indices[k]
        out[j] = max(out[j], abs(np.float64(rows.data[k])))
    return out


@njit(cache=True, nogil=True)
def _sample_dense(rows: Dense, step: int, factor: float, peaks: Vector) -> tuple[float, float]:
    d = rows.X.shape[1]
    peaks[d] = rows.bias * factor
    least, most = np.inf, 0.0
    for i in range(0, len(rows.X), step):
        total = float(peaks[d]) ** 2
        for j in range(d):
            size = abs(float(rows.X[i, j]) * factor)
            total += size * size
            peaks[j] = max(peaks[j], size)
        if total > 0.0:
            least = total if total < least else least
            most = total if total > most else most
    return np.sqrt(least), np.sqrt(most)


@njit(cache=True, nogil=True)
def _sample_csr(rows: Csr, step: int, factor: float, peaks: Vector) -> tuple[float, float]:
    peaks[rows.d] = rows.bias * factor
    least, most = np.inf, 0.0
    for i in range(0, len(rows.indptr) - 1, step):
        total = float(peaks[rows.d]) ** 2
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            size = abs(float(rows.data[k]) * factor)
            total += size * size
            j = rows.indices[k]
            peaks[j] = max(peaks[j], size)
        if total > 0.0:
            least = total if total < least else least
            most = total if total > most else most
    return np.sqrt(least), np.sqrt(most)


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
