"""The recession cone of a likelihood: whether a finite estimate exists.

Objective
    Find out whether a model has a finite maximum-likelihood estimate. The log-likelihood does not
    decrease along d if and only if d is in C = {d : A d ≥ 0, E d = 0}. It is constant along d if
    and only if, in addition, A d = 0.
Input
    The weak rows A and the equalities E.
Output
    A `Face`: the rows I of A that some d in C makes positive, and a d that makes all of them
    positive. A finite estimate exists if and only if I is empty. `novikoff.geometry.recession`
    derives from these rows which coefficients are infinite.

The search has three steps, the cheapest first:

1. *Peel.* If a column is 0 on E and has entries of one sign on the rows of A that are left, then
   the unit vector of this column, with this sign, is in the cone, and it separates the rows where
   the column is not 0. Its products with the other rows are 0, so that these rows remain as a
   separate problem. Repeat until every column has entries of both signs.
2. *Eliminate* the equalities: d = N z for a basis N of the null space of E.
3. *Search* the rows A N as `novikoff.geometry.verdict_search` does for a verdict.

Row spaces and products are exact, and the search proves what it finds. If the products A N are not
exact in float64, the equalities take part in the exact search (`novikoff.geometry.faces`) instead.

References
----------
Rockafellar, R. T. (1970). *Convex Analysis*. Princeton University Press. Section 27.

Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in logistic
regression models. *Biometrika* 71(1), 1-10.

Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession.
*Electronic Journal of Statistics* 3, 259-289.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Mask, Matrix, as_dense, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.faces import partition
from novikoff.geometry.null_space import NullSpace, SparseVector, null_space, spanning_rows
from novikoff.geometry.passes import LocalPasses, OutOfTimeError
from novikoff.geometry.verdict_search import search_verdict
from novikoff.geometry.view import balanced_view

# Integers of this many bits are exact in float64.
_DOUBLE_BITS = 53
# Integers of more bits are divided by a power of two before they become floats.
_LARGEST_BITS = 1001


@dataclass(frozen=True, eq=False)
class Cone:
    """The cone of all d with A d ≥ 0 and E d = 0, for matrices A and E with p columns."""

    A: Matrix
    E: Matrix

    @property
    def p(self) -> int:
        """The number of columns."""
        return int(self.A.shape[1])

    def only(self, columns: Indices) -> Cone:
        """Return the cone of the vectors that are 0 on all other columns."""
        if len(columns) == self.p:
            return self
        return Cone(self.A[:, columns], self.E[:, columns])


@dataclass(frozen=True, eq=False)
class Face:
    """The rows of A that some d of the cone makes positive, and a d that makes them positive.

    Attributes
    ----------
    separated : array of bool
        The rows with ⟨a_i, d⟩ > 0.
    direction : list of Fraction
        The vector d of the cone. All other rows of A and all rows of E have ⟨a_i, d⟩ = 0.
    complete : bool
        Whether it is proved that no d of the cone makes another row positive.
    """

    separated: Mask
    direction: list[Fraction]
    complete: bool


def find_face(cone: Cone, limits: Limits, *, any_row: bool = False) -> Face:
    """Find the rows of A that some d of the cone makes positive.

    With ``any_row``, the search may end with the first of these rows.

    Examples
    --------
    >>> A, E = np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> face = find_face(Cone(A, E), Limits())
    >>> face.separated, [str(value) for value in face.direction], face.complete
    (array([False,  True]), ['1', '-1'], True)
    """
    A, E = cone.A, cone.E
    stages, unseparated = _peel(A, E)
    rows = np.flatnonzero(unseparated & (_sizes(A) > 0.0))
    separated, direction, complete = ~unseparated, [Fraction(0)] * cone.p, True
    if len(rows) > 0:
        try:
            inner = _search(A if len(rows) == A.shape[0] else A[rows], E, limits, any_row)
            separated[rows[inner.separated]] = True
            direction, complete = inner.direction, inner.complete
        except OutOfTimeError:
            complete = False
    for unit, stage_rows in reversed(stages):
        direction = _add_multiple(A[stage_rows], unit, direction)
    return Face(separated, direction, complete)


def separates_any(cone: Cone, limits: Limits) -> bool | None:
    """Whether some d of the cone makes a row of A positive; None if it is not known."""
    if _peel(cone.A, cone.E)[0]:
        return True
    face = find_face(cone, limits, any_row=True)
    return True if face.separated.any() else False if face.complete else None


def _peel(A: Matrix, E: Matrix) -> tuple[list[tuple[npt.NDArray[np.int8], Indices]], Mask]:
    """Separate rows by columns that are 0 on E and have one sign, repeatedly.

    Returns the stages, each a vector of 0, 1 and −1 and the rows that it separates, and a mask of
    the rows that are left.
    """
    n, unseparated = A.shape[0], np.ones(A.shape[0], dtype=np.bool_)
    by_column: Any = None
    blocked = sum(_counts(E)) > 0
    above, below = _counts(A)
    stages: list[tuple[npt.NDArray[np.int8], Indices]] = []
    while True:
        up, down = (above > 0) & (below == 0) & ~blocked, (below > 0) & (above == 0) & ~blocked
        chosen = np.flatnonzero(up | down)
        if len(chosen) == 0:
            return stages, unseparated
        if by_column is None:
            by_column = A if isinstance(A, np.ndarray) else A.tocsc()
        if isinstance(by_column, np.ndarray):
            hit = (by_column[:, chosen] != 0).any(axis=1)
        else:
            part = by_column[:, chosen]
            hit = np.zeros(n, dtype=np.bool_)
            hit[part.indices[part.data != 0]] = True
        rows = np.flatnonzero(hit & unseparated)
        unseparated[rows] = False
        stages.append((up.astype(np.int8) - down.astype(np.int8), rows))
        gone_above, gone_below = _counts(A[rows])
        above, below = above - gone_above, below - gone_below


def _sizes(A: Any) -> npt.NDArray[np.float64]:
    """Σ_j |a_ij| of each row."""
    with np.errstate(over="ignore"):
        return np.asarray(abs(A).sum(axis=1)).ravel()


def _counts(A: Any) -> tuple[Indices, Indices]:
    """The numbers of positive and of negative entries in each column."""
    if not isinstance(A, np.ndarray):
        above, below = A.indices[A.data > 0], A.indices[A.data < 0]
        p = int(A.shape[1])
        return np.bincount(above, minlength=p), np.bincount(below, minlength=p)
    return np.asarray((A > 0).sum(axis=0)).ravel(), np.asarray((A < 0).sum(axis=0)).ravel()


def _add_multiple(
    A: Matrix, unit: npt.NDArray[np.int8], direction: list[Fraction]
) -> list[Fraction]:
    """Return direction + t·unit, with t so large that all rows of A have a positive product.

    All rows have a positive product with ``unit``.
    """
    used = [j for j, value in enumerate(direction) if value]
    t = Fraction(1)
    if used:
        largest = max(abs(direction[j]) for j in used)
        sizes = _sizes(A[:, used])
        gains = _sizes(A[:, np.flatnonzero(unit)])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratios = sizes / gains
        # ⟨a_i, direction⟩ ≥ −largest·Σ_j |a_ij|. The factor 2 covers the rounding of floats.
        t += 2 * largest * max(map(Fraction, ratios[np.isfinite(ratios)].tolist()), default=0)
        for i in np.flatnonzero(~np.isfinite(ratios)).tolist():
            row = [Fraction(abs(value)) for value in as_dense(A[[i]], np.float64)[0].tolist()]
            t += largest * sum(row) / sum(row[j] for j in np.flatnonzero(unit).tolist())
    t = Fraction(1 << max(0, math.ceil(t) - 1).bit_length())
    return [value + t * int(u) for value, u in zip(direction, unit.tolist(), strict=True)]


def _search(A: Matrix, E: Matrix, limits: Limits, any_row: bool) -> Face:
    """Decide a cone by elimination of its equalities and a search."""
    n, p = int(A.shape[0]), int(A.shape[1])
    direction = [Fraction(0)] * p
    if E.shape[0] > 0:
        vectors = _null_space(E, limits)
        if len(vectors) == 0:
            return Face(np.zeros(n, dtype=np.bool_), direction, True)
        B = exact_product(A, [*vectors.values()])
        if B is None:
            return _search_beside(A, E, p - len(vectors), limits, any_row)
        face = find_face(Cone(B, B[:0]), limits, any_row=any_row)
        for factor, vector in zip(face.direction, vectors.values(), strict=True):
            for j, value in vector.items():
                direction[j] += factor * value
        return replace(face, direction=direction)
    columns = np.setdiff1d(np.arange(p), [*_null_space(A, limits)])
    result, separated = _verdict(A if len(columns) == p else A[:, columns], limits)
    if result.w is not None:
        for k, value in zip(columns.tolist(), result.w, strict=False):
            direction[k] = value
    known = result.kind in ("separable", "quasi-separable", "inseparable")
    return Face(separated, direction, known)


def _verdict(B: Matrix, limits: Limits) -> tuple[Any, Mask]:
    """Search the verdict of rows without an intercept; return it and the rows it separates."""
    passes = passes_of(B)
    limits = limits.apart()  # after Ctrl-C, a later question begins anew
    result = search_verdict(passes, "kind", 1e-8, limits, None)
    limits.raise_if_interrupted()
    if result.kind == "separable":
        return result, np.ones(passes.n, dtype=np.bool_)
    if result.kind == "quasi-separable" and result.separated is not None:
        return result, np.array(passes.whole_part.values_of(result.separated))
    return result, np.zeros(passes.n, dtype=np.bool_)


def _search_beside(A: Matrix, E: Matrix, rank: int, limits: Limits, any_row: bool) -> Face:
    """Decide a cone by facial reduction, in which the multipliers of E may have any sign.

    ``rank`` is the rank of E.
    """
    basis = spanning_rows(passes_of(E), np.arange(E.shape[0]), np.arange(E.shape[1]), rank)
    both = stacked(A, E[basis])
    n = int(A.shape[0])
    passes = passes_of(both)
    free = np.arange(n, both.shape[0])
    among = passes.row_set(np.arange(n))
    with np.errstate(all="ignore"):
        view = balanced_view(passes, limits)
        parts = partition(view, among, limits, free=free, one_stage=any_row)
    direction = parts.w or [Fraction(0)] * passes.p
    complete = parts.w is None or not any_row
    return Face(passes.whole_part.values_of(parts.separated)[:n], direction, complete)


def passes_of(rows: Matrix) -> LocalPasses:
    """Return the passes over the rows of a matrix, without an intercept."""
    return LocalPasses(signed_problem(rows, np.ones(rows.shape[0], dtype=np.int8), False))


def _null_space(rows: Matrix, limits: Limits) -> NullSpace:
    return null_space(passes_of(rows), np.arange(rows.shape[0]), np.arange(rows.shape[1]), limits)


def exact_product(A: Any, vectors: Sequence[SparseVector]) -> Matrix | None:
    """The matrix of all products ⟨a_i, vector_k⟩; None if float64 does not represent them exactly.

    Examples
    --------
    >>> exact_product(np.array([[0.5, 3.0]]), [{0: 2, 1: 1}, {1: 1}])
    array([[4., 3.]])
    >>> exact_product(np.array([[0.1, 0.3]]), [{0: 1, 1: 1}]) is None
    True
    """
    import scipy.sparse as sp

    entries = [(j, k, value) for k, vector in enumerate(vectors) for j, value in vector.items()]
    if any(abs(value) > 1 << _DOUBLE_BITS for _, _, value in entries):
        return None
    at = np.array([(j, k) for j, k, _ in entries], dtype=np.int64).reshape(-1, 2)
    values = np.array([float(value) for _, _, value in entries])
    shape = (int(A.shape[1]), len(vectors))
    N = sp.csc_array((values, (at[:, 0], at[:, 1])), shape=shape)
    counts = np.diff(N.indptr)
    # A product with ± a unit vector is an entry of A, up to its sign.
    summed = np.flatnonzero((counts > 1) | (np.asarray(abs(N).max(axis=0).todense()).ravel() != 1))
    if len(summed) > 0:
        columns = np.unique(N[:, summed].indices)
        part, factors = A[:, columns], N[columns][:, summed]
        data = part if isinstance(part, np.ndarray) else part.data
        mantissas, exponents = np.frexp(data[data != 0.0])
        if len(mantissas) > 0:
            whole = np.abs(mantissas * 2.0**53).astype(np.int64)
            lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
            unit = int((exponents - 53 + lowest).min())
            with np.errstate(over="ignore"):
                size = float((abs(part) @ abs(factors)).max())
            if not size <= math.ldexp(1.0, min(52 + unit, 1000)):
                return None
    if isinstance(A, np.ndarray):
        return np.ascontiguousarray(A.astype(np.float64) @ N.toarray())
    return sp.csr_array(A @ N)


def with_equalities(cone: Cone, rows: Sequence[SparseVector]) -> Cone | None:
    """Return the cone in which some integer vectors have the product 0 with d.

    If float64 cannot represent a vector, it is written as a sum of vectors, and further columns
    stand for the products with all of them but the first. None if its numbers are too far apart for
    floats.

    Examples
    --------
    >>> plain = Cone(np.eye(2), np.zeros((0, 2)))
    >>> with_equalities(plain, [{0: 1, 1: 3}]).E
    array([[1., 3.]])
    >>> with_equalities(plain, [{0: 2**60 + 1, 1: 1}]).E.tolist()
    [[1.152921504606847e+18, 1.0, 1.0], [1.0, 0.0, -1.0]]
    """
    p, parts = cone.p, [_in_floats(row) for row in rows]
    if any(part is None for part in parts):
        return None
    sums = [part for part in parts if part is not None]
    extra = sum(len(part) - 1 for part in sums)
    equal = np.zeros((sum(map(len, sums)), p + extra))
    row, column = 0, p
    for part in sums:
        first = row
        for vector in part:
            equal[row, [*vector]] = [*vector.values()]
            if row > first:
                equal[first, column], equal[row, column] = 1.0, -1.0
                column += 1
            row += 1
    A, E = (_widened(M, extra) for M in (cone.A, cone.E))
    return Cone(A, stacked(E, equal))


def _in_floats(row: SparseVector) -> list[dict[int, float]] | None:
    """Vectors of floats with the sum 2**k·row for some k, exactly; None if there are none.

    >>> _in_floats({0: 2**2000, 1: 1}) == [{0: 2.0**1000, 1: 2.0**-1000}]
    True
    >>> _in_floats({0: 2**3000, 1: 1}) is None
    True
    """
    parts: list[dict[int, float]] = []
    rest = dict(row)
    shift = max(0, max(map(int.bit_length, rest.values()), default=0) - _LARGEST_BITS)
    while rest:
        tops = {j: _leading(value) for j, value in rest.items()}
        part = {j: float(Fraction(top, 1 << shift)) for j, top in tops.items()}
        if any(Fraction(part[j]) * (1 << shift) != top for j, top in tops.items()):
            return None
        parts.append(part)
        rest = {j: value - tops[j] for j, value in rest.items() if value != tops[j]}
    return parts


def _leading(value: int) -> int:
    """The number without all but its first 53 bits.

    >>> _leading(2**60 + 1) == 2**60, _leading(-5)
    (True, -5)
    """
    shift = max(0, abs(value).bit_length() - _DOUBLE_BITS)
    whole = abs(value) >> shift << shift
    return whole if value > 0 else -whole


def _widened(M: Matrix, extra: int) -> Matrix:
    """The matrix with further columns of zeros."""
    if extra == 0:
        return M
    if isinstance(M, np.ndarray):
        return np.asarray(np.hstack([M, np.zeros((len(M), extra))]), dtype=np.float64)
    import scipy.sparse as sp

    return sp.csr_array((M.data, M.indices, M.indptr), shape=(M.shape[0], M.shape[1] + extra))
