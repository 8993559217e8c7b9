"""The recession cone of a likelihood: does the estimate exist, and which coefficients diverge (H1).

Objective
    Describe the maximum-likelihood estimate of a model. The log-likelihood does not decrease along
    d if and only if d is in C = {d : A d ≥ 0, E d = 0}. It is constant along d if and only if, in
    addition, A d = 0.
Input
    The weak rows A and the equalities E.
Output
    `Face` has the rows I of A that some d in C makes positive, and a d that makes all of them
    positive. `Recession` tells for each linear combination c·β of the coefficients whether its
    estimate is finite, +∞, −∞, or infinite with either sign.

Let J be the other rows of A. All answers follow from I, J and E:

* A finite estimate exists if and only if I is empty.
* c·β is finite if and only if c is in the row space of the rows J and E, because C spans the null
  space of these rows.
* Otherwise c·β is infinite. The vectors d in C that are positive on all rows of I are the relative
  interior of C. c·β is +∞ if and only if c·d > 0 for all of these d, that is, if c·d > 0 for one of
  them and c·d = 0 for none of them. To decide whether one of them has c·d = 0, the same search is
  made with c as an additional equality.

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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Matrix, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.faces import partition
from novikoff.geometry.null_space import NullSpace, SparseVector, null_space, spanning_rows
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, check_time
from novikoff.geometry.verdict_search import search_verdict
from novikoff.geometry.view import balanced_view
from novikoff.geometry.visits import Mask
from novikoff.proofs import exact

Fate: TypeAlias = Literal["finite", "+inf", "-inf", "either sign", "undecided"]

# A search for a sign counts as one step for each entry of its rows, and as _STEPS_PER_COLUMN steps
# for each of its columns. If there is no time limit, no search begins after _MAX_STEPS steps. Steps
# are counted instead of seconds, so that the answer is the same on all machines.
_STEPS_PER_COLUMN, _MAX_STEPS = 1 << 14, 1 << 29
# Rows that occur twice are removed if there are at most this many entries to compare.
_MAX_COMPARED = 1 << 22
# Dense rows are copied if they have at most this many entries.
_MAX_ENTRIES = 1 << 27
# A linear program is counted as this number of steps for each entry of its rows.
_STEPS_PER_ENTRY = 32
# Every integer up to this size is exact in float64.
_MAX_EXACT = 1 << 53


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


def find_face(cone: Cone, limits: Limits) -> Face:
    """Find the rows of A that some d of the cone makes positive.

    Examples
    --------
    >>> A, E = np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> face = find_face(Cone(A, E), Limits())
    >>> face.separated, [str(value) for value in face.direction], face.complete
    (array([False,  True]), ['1', '-1'], True)
    """
    A, E = cone.A, cone.E
    stages, unseparated = _peel(A, E)
    rows = np.flatnonzero(unseparated)
    rows = rows[_sizes(A[rows]) > 0.0]
    separated, direction, complete = ~unseparated, [Fraction(0)] * cone.p, True
    if len(rows) > 0:
        try:
            inner = _search(A[rows], E, limits)
            separated[rows[inner.separated]] = True
            direction, complete = inner.direction, inner.complete
        except OutOfTimeError:
            complete = False
    for unit, stage_rows in reversed(stages):
        direction = _add_multiple(A[stage_rows], unit, direction)
    return Face(separated, direction, complete)


def _peel(A: Matrix, E: Matrix) -> tuple[list[tuple[npt.NDArray[np.int8], Indices]], Mask]:
    """Separate rows by columns that are 0 on E and have one sign, repeatedly.

    Returns the stages, each a vector of 0, 1 and −1 and the rows that it separates, and a mask of
    the rows that are left.
    """
    n, unseparated = A.shape[0], np.ones(A.shape[0], dtype=np.bool_)
    by_column = A if isinstance(A, np.ndarray) else A.tocsc()
    blocked = sum(_counts(E)) > 0
    above, below = _counts(A)
    stages: list[tuple[npt.NDArray[np.int8], Indices]] = []
    while True:
        up, down = (above > 0) & (below == 0) & ~blocked, (below > 0) & (above == 0) & ~blocked
        chosen = np.flatnonzero(up | down)
        if len(chosen) == 0:
            return stages, unseparated
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
            row = [Fraction(abs(value)) for value in as_dense(A[[i]])[0].tolist()]
            t += largest * sum(row) / sum(row[j] for j in np.flatnonzero(unit).tolist())
    t = Fraction(1 << max(0, math.ceil(t) - 1).bit_length())
    return [value + t * int(u) for value, u in zip(direction, unit.tolist(), strict=True)]


def _search(A: Matrix, E: Matrix, limits: Limits) -> Face:
    """Decide a cone by elimination of its equalities and a search."""
    n, p = int(A.shape[0]), int(A.shape[1])
    direction = [Fraction(0)] * p
    if E.shape[0] > 0:
        vectors = _null_space(E, limits)
        if len(vectors) == 0:
            return Face(np.zeros(n, dtype=np.bool_), direction, True)
        B = exact_product(A, [*vectors.values()])
        if B is None:
            return _search_beside(A, E, p - len(vectors), limits)
        face = find_face(Cone(B, B[:0]), limits)
        for factor, vector in zip(face.direction, vectors.values(), strict=True):
            for j, value in vector.items():
                direction[j] += factor * value
        return replace(face, direction=direction)
    columns = np.setdiff1d(np.arange(p), [*_null_space(A, limits)])
    result, separated = _verdict(A[:, columns], limits)
    if result.w is not None:
        for k, value in zip(columns.tolist(), result.w, strict=False):
            direction[k] = value
    known = result.kind in ("separable", "quasi-separable", "inseparable")
    return Face(separated, direction, known)


def _verdict(B: Matrix, limits: Limits) -> tuple[Any, Mask]:
    """Search the verdict of rows without an intercept; return it and the rows it separates."""
    passes = _passes(B)
    limits = limits.apart()  # after Ctrl-C, a later question begins anew
    result = search_verdict(passes, "kind", 1e-8, limits, None)
    limits.raise_if_interrupted()
    if result.kind == "separable":
        return result, np.ones(passes.n, dtype=np.bool_)
    if result.kind == "quasi-separable" and result.separated is not None:
        return result, np.array(passes.whole_part.values_of(result.separated))
    return result, np.zeros(passes.n, dtype=np.bool_)


def _search_beside(A: Matrix, E: Matrix, rank: int, limits: Limits) -> Face:
    """Decide a cone by facial reduction, in which the multipliers of E may have any sign.

    ``rank`` is the rank of E.
    """
    basis = spanning_rows(_passes(E), np.arange(E.shape[0]), np.arange(E.shape[1]), rank)
    both = stacked(A, E[basis])
    n = int(A.shape[0])
    passes = _passes(both)
    free = np.arange(n, both.shape[0])
    among = passes.row_set(np.arange(n))
    with np.errstate(all="ignore"):
        parts = partition(balanced_view(passes, limits), among, limits, free=free)
    direction = parts.w or [Fraction(0)] * passes.p
    return Face(passes.whole_part.values_of(parts.separated)[:n], direction, True)


def _passes(rows: Matrix) -> LocalPasses:
    return LocalPasses(signed_problem(rows, np.ones(rows.shape[0], dtype=np.int8), False))


def _null_space(rows: Matrix, limits: Limits) -> NullSpace:
    return null_space(_passes(rows), np.arange(rows.shape[0]), np.arange(rows.shape[1]), limits)


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
    if any(abs(value) > _MAX_EXACT for _, _, value in entries):
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


@dataclass
class Recession:
    """The estimates of linear combinations c·β: finite, +∞, −∞, or infinite with either sign.

    Columns that depend linearly on the columns before them are aliased. As in R and Stata, their
    coefficients are 0 in the model that is described here.

    Attributes
    ----------
    rows : LocalPasses
        The weak rows and, below them, the equalities.
    n : int
        The number of weak rows.
    order : array of int
        The columns, in the order that defines which columns are before a column.
    limits : Limits
        Limits on the time of the search.
    known : Face or None
        The rows that can be separated, if the caller knows them.
    face : Face
        The rows that can be separated.
    direction : list of Fraction
        A vector of the cone that is positive on all separated rows, and 0 on aliased columns.
    n_steps : int
        The number of steps that searches for signs have taken.
    """

    rows: LocalPasses
    n: int
    order: Indices
    limits: Limits
    known: Face | None = None
    face: Face = field(init=False)
    direction: list[Fraction] = field(init=False)
    n_steps: int = field(init=False, default=0)
    _dependent: NullSpace = field(init=False, default_factory=dict)
    _ranked: bool = field(init=False, default=False)  # whether the aliased columns are known
    _answers: dict[tuple[int, ...], tuple[Fate, bool | None]] = field(
        init=False, default_factory=dict
    )

    @classmethod
    def of(cls, cone: Cone, limits: Limits) -> Recession:
        """Decide a cone of matrices in memory."""
        rows = _passes(stacked(cone.A, cone.E))
        return cls(rows, int(cone.A.shape[0]), np.arange(cone.p), limits)

    def __post_init__(self) -> None:
        """Find the aliased columns, and the rows that can be separated."""
        self.direction = [Fraction(0)] * self.rows.p
        self.face = self.known or Face(np.zeros(self.n, dtype=np.bool_), self.direction, False)
        everyone = np.arange(self.rows.n)
        with suppress(OutOfTimeError):
            self._dependent = null_space(self.rows, everyone, self.order, self.limits)
            self._ranked = True
        if self.known is None:
            self.face = self._find_face()
        self.direction = [*self.face.direction]
        for j, vector in self._dependent.items():
            factor = self.direction[j] / vector[j]
            if factor:
                for k, value in vector.items():
                    self.direction[k] -= factor * value

    def _find_face(self) -> Face:
        X, columns = self.rows.X, np.sort(self.kept)
        face = find_face(Cone(X[: self.n], X[self.n :]).only(columns), self.limits)
        direction = [Fraction(0)] * self.rows.p
        for j, value in zip(columns.tolist(), face.direction, strict=True):
            direction[j] = value
        return replace(face, direction=direction)

    def multiples_of(self, j: int) -> dict[int, int]:
        """The columns that are multiples of column j, with the signs of the factors."""
        return {
            k: 1 if vector[k] * vector[j] < 0 else -1
            for k, vector in self._dependent.items()
            if {*vector} == {j, k}
        }

    @property
    def kept(self) -> Indices:
        """The columns that are not aliased, in their order."""
        return self.order[~np.isin(self.order, [*self._dependent])]

    @property
    def aliased(self) -> list[int]:
        """The columns that depend linearly on the columns before them."""
        return sorted(self._dependent)

    @cached_property
    def held(self) -> Indices:
        """The rows J and E, whose linear combinations have a finite estimate."""
        is_held = np.ones(self.rows.n, dtype=np.bool_)
        is_held[: self.n] = ~self.face.separated
        return np.flatnonzero(is_held)

    @cached_property
    def null_space_of_held(self) -> NullSpace:
        """The null space of the rows J and E, which is the span of the cone."""
        return null_space(self.rows, self.held, self.kept, self.limits)

    @cached_property
    def _images(self) -> dict[int, SparseVector]:
        """For each column j, the entries at j of the vectors of the null space."""
        images: dict[int, SparseVector] = {}
        for k, vector in enumerate(self.null_space_of_held.values()):
            for j, value in vector.items():
                images.setdefault(j, {})[k] = value
        return images

    @cached_property
    def _quotient(self) -> _SpanCoordinates | None:
        """The separated rows as functions on the span of the cone.

        None if these are not exact in float64, or too large.
        """
        rows = np.flatnonzero(self.face.separated)
        if not self.rows.sparse and len(rows) * self.rows.p > _MAX_ENTRIES:
            return None
        R = exact_product(_signed(self.rows, rows), [*self.null_space_of_held.values()])
        z = [self.direction[j] / vector[j] for j, vector in self.null_space_of_held.items()]
        return None if R is None else _SpanCoordinates(R, z, self._images.values())

    def fate(self, c: Mapping[int, Fraction]) -> Fate:
        """Return the estimate of c·β; the entries of c at aliased columns do not count."""
        return self._decide([c])[0]

    def column(self, j: int) -> Fate:
        """Return the estimate of β_j."""
        return self._without((j,))[0]

    def responsible(self, columns: Sequence[int]) -> bool | None:
        """Whether a finite estimate exists without these columns, and without aliased columns.

        None if it is not known. False if a finite estimate exists with these columns.
        """
        return self._without(tuple(columns))[1]

    def responsible_terms(self, terms: Mapping[Hashable, Sequence[int]]) -> list[Hashable] | None:
        """The terms of a model without each of which a finite estimate exists; None if not known.

        A term is a list of columns.
        """
        if not self.face.separated.any():
            return [] if self.face.complete else None
        responsible: list[Hashable] = []
        for name, columns in terms.items():
            independent = [j for j in columns if j not in self._dependent]
            answer = self.responsible(independent) if independent else False
            if answer is None:
                return None
            if answer:
                responsible.append(name)
        return responsible

    def _without(self, columns: tuple[int, ...]) -> tuple[Fate, bool | None]:
        if columns not in self._answers:
            self._answers[columns] = self._decide([{j: Fraction(1)} for j in columns])
        return self._answers[columns]

    def _decide(self, functionals: Sequence[Mapping[int, Fraction]]) -> tuple[Fate, bool | None]:
        """Return the fate of the first functional, and whether no row is separated without them.

        The second answer is True if no d of the cone separates a row and is 0 under all of the
        functionals.
        """
        if not (self.face.complete and self._ranked):
            return "undecided", None
        if not self.face.separated.any():
            return "finite", False
        try:
            rows = [_whole(c, self._dependent) for c in functionals]
            images = [self._image(row) for row in rows]
            rows = [row for row, image in zip(rows, images, strict=True) if image]
            images = [image for image in images if image]
            if not images:
                return "finite", False
            if self._quotient is not None and _is_exact_in_float64(images):
                return self._quotient.decide(images, self)
            if not _is_exact_in_float64(rows):
                return "undecided", None
            return self._decide_beside(rows)
        except OutOfTimeError:
            return "undecided", None

    def _image(self, row: SparseVector) -> SparseVector:
        """The products of a functional with the vectors of the null space."""
        image: SparseVector = {}
        for j, factor in row.items():
            for k, value in self._images.get(j, {}).items():
                image[k] = image.get(k, 0) + factor * value
        return {k: value for k, value in image.items() if value}

    def _decide_beside(self, rows: list[SparseVector]) -> tuple[Fate, bool | None]:
        """The answers of `_decide` by a search in the original coordinates."""
        value = sum(factor * self.direction[j] for j, factor in rows[0].items())
        if value == 0 and len(rows) == 1:
            return "either sign", False
        columns = np.sort(self.kept)
        apart = np.flatnonzero(self.face.separated)
        if not self.rows.sparse and len(apart) * self.rows.p > _MAX_ENTRIES:
            return "undecided", None
        A = _signed(self.rows, apart)[:, columns]
        if not self.afford(A):
            return "undecided", None
        basis = spanning_rows(
            self.rows, self.held, self.kept, len(columns) - len(self.null_space_of_held)
        )
        equal = np.zeros((len(rows), self.rows.p))
        for k, row in enumerate(rows):
            equal[k, [*row]] = [*row.values()]
        E = stacked(_signed(self.rows, basis)[:, columns], equal[:, columns])
        return _answer(find_face(Cone(A, E), self.limits), value)

    def afford(self, A: Matrix) -> bool:
        """Count the steps of a search; return whether it may begin."""
        size = A.size if isinstance(A, np.ndarray) else A.nnz
        return self.afford_steps(int(size) + _STEPS_PER_COLUMN * int(A.shape[1]))

    def afford_steps(self, n_steps: int) -> bool:
        """Count steps; return whether they may be taken."""
        check_time(self.limits)
        if self.limits.seconds is None and self.n_steps > _MAX_STEPS:
            return False
        self.n_steps += n_steps
        return True


def _signed(passes: LocalPasses, rows: Indices) -> Matrix:
    """Signed rows with all their columns, in float64."""
    signs = passes.signs[rows].astype(np.float64)
    part: Any = passes.X[rows]
    if isinstance(part, np.ndarray):
        part = part.astype(np.float64, copy=False)
        homogeneous = np.hstack([part, np.ones((len(part), 1))]) if passes.fit_intercept else part
        return np.asarray(homogeneous * signs[:, None])
    import scipy.sparse as sp

    if passes.fit_intercept:
        part = sp.hstack([sp.csr_array(part), sp.csr_array(np.ones((len(signs), 1)))])
    return sp.csr_array(sp.diags_array(signs) @ sp.csr_array(part).astype(np.float64))


def _answer(face: Face, value: Fraction | int) -> tuple[Fate, bool | None]:
    """The answers of `Recession._decide`, given the face of the d with c·d = 0.

    ``value`` is c·d for a d that is positive on all rows.
    """
    apart = bool(face.separated.any())
    if face.separated.all():
        return "either sign", False
    if not face.complete:
        return "undecided", False if apart else None
    return "+inf" if value > 0 else "-inf", not apart


class _SpanCoordinates:
    """The separated rows R as functions on the span of the cone, and its independent components.

    Columns that share a row are in the same component. The cone of all z with R z ≥ 0 is the
    product of one cone for each component. ``z`` is a point with R z > 0, and ``images`` are
    functionals whose signs will be asked for.
    """

    def __init__(self, R: Any, z: list[Fraction], images: Iterable[SparseVector]) -> None:
        import scipy.sparse as sp
        from scipy.sparse.csgraph import connected_components

        pattern: Any = sp.csr_array(R != 0).astype(np.int32)
        n, q = pattern.shape
        # A graph of rows and columns, with an edge for each entry.
        graph: Any = sp.block_array([[None, pattern], [pattern.T, None]], format="csr")
        count, of = connected_components(graph, directed=False)
        self.of = of[n:]
        self.place = np.zeros(q, dtype=np.int64)
        self.parts: list[_Component] = []
        by_row, by_column = _grouped(of[:n], count), _grouped(self.of, count)
        for rows, columns in zip(by_row, by_column, strict=True):
            self.place[columns] = np.arange(len(columns))
            part = _distinct(R[rows][:, columns])
            self.parts.append(_Component(part, [[z[k] for k in columns.tolist()]]))
        for image in images:
            for c in {int(self.of[k]) for k in image}:
                self.parts[c].targets.append(self._restricted(image, c))

    def _restricted(self, image: SparseVector, c: int) -> SparseVector:
        """The part of a functional that is about component c, in its coordinates."""
        return {int(self.place[k]): value for k, value in image.items() if self.of[k] == c}

    def decide(self, images: list[SparseVector], work: Recession) -> tuple[Fate, bool | None]:
        """The answers of `Recession._decide` for functionals on z."""
        fates: set[Fate] = set()
        responsible: list[bool | None] = []
        for c, part in enumerate(self.parts):
            rows = [own for image in images if (own := self._restricted(image, c))]
            if not rows:
                responsible.append(False)
                continue
            fate, alone = part.decide(rows, work)
            fates.add(fate)
            responsible.append(alone)
        known = False if False in responsible else None if None in responsible else True
        if "either sign" in fates or {"+inf", "-inf"} <= fates:
            return "either sign", known if len(images) > 1 else False
        return "undecided" if "undecided" in fates else fates.pop(), known


def _grouped(labels: npt.NDArray[Any], count: int) -> list[Indices]:
    """The positions of each label."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, count)))


def _distinct(part: Any) -> Any:
    if part.shape[1] == 1:
        return np.sign(as_dense(part[:1]))
    if part.shape[0] * part.shape[1] > _MAX_COMPARED:
        return part
    return np.unique(as_dense(part), axis=0)


@dataclass
class _Component:
    """A cone of all z with R z ≥ 0, and points with R z > 0.

    ``targets`` are functionals whose signs will be asked for.
    """

    R: Any
    points: list[list[Fraction]]
    targets: list[SparseVector] = field(default_factory=list)

    def decide(self, rows: list[SparseVector], work: Recession) -> tuple[Fate, bool | None]:
        """The answers of `Recession._decide` for functionals on z, of which none is 0."""
        values = [_product(rows[0], z) for z in self.points]
        alone = len(rows) == 1
        if alone and any(value * values[0] <= 0 for value in values):
            return "either sign", False
        if self.R.shape[1] == 1:
            return "+inf" if values[0] > 0 else "-inf", True
        if alone and self.targets:
            self._find_points(work)
            return self.decide(rows, work)
        if not work.afford(self.R):
            return "undecided", None
        equal = np.zeros((len(rows), self.R.shape[1]))
        for k, row in enumerate(rows):
            equal[k, [*row]] = [*row.values()]
        face = find_face(Cone(self.R, equal), work.limits)
        if face.separated.all():
            self.points.append(face.direction)
        return _answer(face, values[0])

    def _find_points(self, work: Recession) -> None:
        """Look for points z with R z > 0 at which the targets have other signs than at the first.

        A linear program in floats minimises Σ max(0, 1 + s_k·⟨c_k, z⟩) subject to R z ≥ 1, where
        s_k are the signs at the first point. That R z > 0 is then proved. This is repeated with
        the targets that have not changed their sign, and with each of them alone when no sign
        changes any more.
        """
        targets = [
            c
            for c in self.targets
            if _is_exact_in_float64([c]) and _product(c, self.points[0]) != 0
        ]
        self.targets = []
        if targets:
            with (
                suppress(ArithmeticError, ValueError, MemoryError),
                np.errstate(all="ignore"),
            ):
                self._add_points(targets, work)

    def _add_points(self, targets: list[SparseVector], work: Recession) -> None:
        import scipy.sparse as sp

        q = int(self.R.shape[1])
        scaled: Any = sp.csr_array(self.R)
        # Columns and rows of size about 1; the factors are powers of two.
        sizes = np.asarray(abs(scaled).max(axis=0).todense()).ravel()
        factors = np.ldexp(1.0, -np.frexp(sizes)[1])
        scaled = sp.csr_array(scaled @ sp.diags_array(factors))
        lengths = np.asarray(abs(scaled).max(axis=1).todense()).ravel()
        scaled = sp.csr_array(sp.diags_array(1.0 / lengths) @ scaled)
        largest = max(map(abs, self.points[0]))
        first = np.array([float(value / largest) for value in self.points[0]]) / factors
        at = [(k, j) for k, c in enumerate(targets) for j in c]
        values = [float(value) for c in targets for value in c.values()]
        T: Any = sp.csr_array((values, tuple(zip(*at, strict=True))), shape=(len(targets), q))
        T = T @ sp.diags_array(factors)
        T = sp.csr_array(sp.diags_array(np.sign(T @ first) / abs(T).max(axis=1).toarray()) @ T)
        passes, together = _passes(self.R), True
        while T.shape[0] > 0 and work.afford_steps(_STEPS_PER_ENTRY * scaled.nnz):
            # One program for all targets; then, where it turns none of them, one for each target.
            u = _turned(scaled, T if together else T[:1], work.limits)
            if u is None:
                return
            z, turned = u * factors, T @ u < 0.0
            if turned.any():
                if not passes.least_products(exact.floats(z), work.limits).separates:
                    return
                self.points.append([Fraction(value) for value in z.tolist()])
            elif together:
                together = False
                continue
            if not together:
                turned[0] = True  # the sign of this target is left to the exact search
            T = T[np.flatnonzero(~turned)]


def _turned(R: Any, T: Any, limits: Limits) -> npt.NDArray[np.float64] | None:
    """The u that minimises Σ max(0, 1 + T u) subject to R u ≥ 1, in floats; None if not found."""
    import scipy.sparse as sp
    from scipy.optimize import linprog

    (k, q), left = T.shape, limits.seconds_left()
    A: Any = sp.block_array([[-R, None], [T, -sp.eye_array(k)]], format="csr")
    bounds: Any = [(None, None)] * q + [(0.0, None)] * k
    found = linprog(
        np.append(np.zeros(q), np.ones(k)),
        A_ub=A,
        b_ub=np.full(A.shape[0], -1.0),
        bounds=bounds,
        method="highs-ipm",
        options={"time_limit": math.inf if left is None else left},
    )
    return None if found.x is None else np.asarray(found.x[:q])


def _product(row: SparseVector, z: Sequence[Fraction]) -> Fraction:
    return sum((factor * z[k] for k, factor in row.items()), Fraction(0))


def _whole(c: Mapping[int, Fraction], gone: Mapping[int, object]) -> SparseVector:
    """A positive multiple of c with integer entries, without some of its columns."""
    scale = math.lcm(*(value.denominator for value in c.values()))
    return {j: int(value * scale) for j, value in c.items() if value and j not in gone}


def _is_exact_in_float64(rows: Iterable[SparseVector]) -> bool:
    """Whether float64 represents all entries exactly."""
    return all(_is_float(value) for row in rows for value in row.values())


def _is_float(value: int) -> bool:
    try:
        return abs(value) <= _MAX_EXACT or float(value) == value
    except OverflowError:
        return False


def as_dense(A: Any) -> npt.NDArray[np.float64]:
    """The matrix as a dense array."""
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)
