"""The recession cone of a likelihood: does the estimate exist, and which coefficients diverge (H1).

Objective
    The maximum-likelihood estimate of a model. Its log-likelihood does not decrease along d exactly
    if d is in C = {d : A d ≥ 0, E d = 0}, and is constant along d exactly if A d = 0 besides.
Input
    The weak rows A and the equalities E.
Output
    `Face`: the rows I of A that some d of C makes positive, and such a d. `Recession`: for each
    linear combination c·β of the coefficients whether its estimate is finite, +∞, −∞, or infinite
    with either sign.

With J for the other rows of A, everything follows from I, J and E:

* A finite estimate exists exactly if I is empty.
* c·β is finite exactly if c is in the row space of the rows J and E: C spans their null space.
* Else c·β is infinite. The relative interior of C consists of the d that are positive on all of I.
  c·β is +∞ exactly if c·d > 0 for all of them, that is, if c·d > 0 for one of them and c·d = 0 for
  none. Whether c·d = 0 for one of them is the same question again, with c as one more equality.

How it is decided, cheapest first:

1. *Peel.* If a column is 0 on E and has entries of one sign on the rows of A that are left, then
   the unit vector of this column, with this sign, is in the cone, and it separates the rows where
   the column is not 0. On the other rows it changes nothing, so that they remain as a question of
   their own. Repeat until no column has one sign only.
2. *Eliminate* the equalities: d = N z for a basis N of the null space of E.
3. *Search* the rows A N as `novikoff.geometry.verdict_search` does for a verdict.

Row spaces and products are exact, and the search proves what it finds. If the products A N are not
exact in float64, the equalities take part in the exact search (`novikoff.geometry.faces`) instead.

References
----------
R. T. Rockafellar, Convex Analysis, Princeton (1970), section 27. A. Albert and J. Anderson, On the
existence of maximum likelihood estimates in logistic regression models, Biometrika 71 (1984).
C. Geyer, Likelihood inference in exponential families and directions of recession, Electronic
Journal of Statistics 3 (2009).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Matrix, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.faces import partition
from novikoff.geometry.passes import LocalPasses, OutOfTimeError
from novikoff.geometry.row_space import null_space
from novikoff.geometry.verdict_search import search_verdict
from novikoff.geometry.view import balanced_view
from novikoff.geometry.visits import Mask

Fate: TypeAlias = Literal["finite", "+inf", "-inf", "either sign", "undecided"]
Whole: TypeAlias = Sequence[int]

# Each search for a sign is counted as one step for each entry of its rows and _STEPS_PER_COLUMN for
# each of its columns. If there is no time limit, no search begins after _MAX_STEPS steps. Steps are
# counted instead of seconds, so that the answer is the same on all machines.
_STEPS_PER_COLUMN, _MAX_STEPS = 1 << 14, 1 << 29
# Rows that occur twice are removed if there are at most this many entries to compare.
_MAX_COMPARED = 1 << 24
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
    """The rows of A that some d of the cone makes positive, and such a d.

    Attributes
    ----------
    separated : array of bool
        The rows with ⟨a_i, d⟩ > 0.
    direction : list of Fraction
        d, which is in the cone: all other rows of A and all rows of E have ⟨a_i, d⟩ = 0.
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
    stages, left = _peel(A, E)
    rows = np.flatnonzero(left)
    rows = rows[_sizes(A[rows]) > 0.0]
    separated, direction, complete = ~left, [Fraction(0)] * cone.p, True
    if len(rows) > 0:
        try:
            inner = _search(A[rows], E, limits)
            separated[rows[inner.separated]] = True
            direction, complete = inner.direction, inner.complete
        except OutOfTimeError:
            complete = False
    for unit, own in reversed(stages):
        direction = _raised(A[own], unit, direction)
    return Face(separated, direction, complete)


def _peel(A: Matrix, E: Matrix) -> tuple[list[tuple[npt.NDArray[np.int8], Indices]], Mask]:
    """Separate rows by columns that are 0 on E and have one sign, repeatedly.

    Returns the stages, each a vector of 0, 1 and −1 and the rows that it separates, and a mask of
    the rows that are left.
    """
    n, left = A.shape[0], np.ones(A.shape[0], dtype=np.bool_)
    by_column = A if isinstance(A, np.ndarray) else A.tocsc()
    blocked = sum(_counts(E)) > 0
    above, below = _counts(A)
    stages: list[tuple[npt.NDArray[np.int8], Indices]] = []
    while True:
        up, down = (above > 0) & (below == 0) & ~blocked, (below > 0) & (above == 0) & ~blocked
        chosen = np.flatnonzero(up | down)
        if len(chosen) == 0:
            return stages, left
        if isinstance(by_column, np.ndarray):
            hit = (by_column[:, chosen] != 0).any(axis=1)
        else:
            part = by_column[:, chosen]
            hit = np.zeros(n, dtype=np.bool_)
            hit[part.indices[part.data != 0]] = True
        rows = np.flatnonzero(hit & left)
        left[rows] = False
        stages.append((up.astype(np.int8) - down.astype(np.int8), rows))
        gone_above, gone_below = _counts(A[rows])
        above, below = above - gone_above, below - gone_below


def _sizes(A: Any) -> npt.NDArray[np.float64]:
    """Σ_j |a_ij| of each row."""
    return np.asarray(abs(A).sum(axis=1)).ravel()


def _counts(A: Any) -> tuple[Indices, Indices]:
    """The numbers of positive and of negative entries in each column."""
    return np.asarray((A > 0).sum(axis=0)).ravel(), np.asarray((A < 0).sum(axis=0)).ravel()


def _raised(A: Matrix, unit: npt.NDArray[np.int8], direction: list[Fraction]) -> list[Fraction]:
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
    nothing = Face(np.zeros(n, dtype=np.bool_), [Fraction(0)] * p, True)
    if E.shape[0] > 0:
        vectors, basis = _null_basis(E, p, limits)
        if len(vectors) == 0:
            return nothing
        B = exact_product(A, vectors)
        if B is None:
            return _search_beside(A, E[basis], limits)
        found = find_face(Cone(B, B[:0]), limits)
        return replace(found, direction=_combined(vectors, found.direction))
    kept = independent_columns(A, limits)
    result, separated = _verdict(A[:, kept], limits)
    direction = [Fraction(0)] * p
    if result.w is not None:
        for k, value in zip(kept.tolist(), result.w, strict=False):
            direction[k] = value
    known = result.kind in ("separable", "quasi-separable", "inseparable")
    return Face(separated, direction, known)


def _verdict(B: Matrix, limits: Limits) -> tuple[Any, Mask]:
    """Search the verdict of rows without an intercept; return it and the rows it separates."""
    passes = LocalPasses(pose(B, np.ones(B.shape[0], dtype=np.int8), False))
    found = search_verdict(passes, "kind", 1e-8, limits, None)
    if limits.interrupted:
        raise KeyboardInterrupt
    if found.kind == "separable":
        return found, np.ones(passes.n, dtype=np.bool_)
    if found.kind == "quasi-separable" and found.separated is not None:
        return found, np.array(passes.all.of(found.separated))
    return found, np.zeros(passes.n, dtype=np.bool_)


def _search_beside(A: Matrix, E: Matrix, limits: Limits) -> Face:
    """Decide a cone by facial reduction, in which the multipliers of E may have any sign."""
    both = stacked(A, E)
    n = int(A.shape[0])
    passes = LocalPasses(pose(both, np.ones(both.shape[0], dtype=np.int8), False))
    free = np.arange(n, both.shape[0])
    among = passes.row_set(np.arange(n))
    with np.errstate(all="ignore"):
        found = partition(balanced_view(passes, limits), among, limits, free=free)
    direction = found.w or [Fraction(0)] * passes.p
    return Face(passes.all.of(found.separated)[:n], direction, True)


def _null_basis(E: Matrix, p: int, limits: Limits) -> tuple[list[list[int]], Indices]:
    """Return a basis of the null space of E, and rows of E that are a basis of its row space."""
    if E.shape[0] == 0:
        return [[int(i == j) for j in range(p)] for i in range(p)], np.arange(0)
    passes = LocalPasses(pose(E, np.ones(E.shape[0], dtype=np.int8), False))
    return null_space(passes, np.arange(E.shape[0]), limits)


def independent_columns(B: Matrix, limits: Limits) -> Indices:
    """The columns that do not depend linearly on the columns before them."""
    vectors, _ = _null_basis(B, int(B.shape[1]), limits)
    # The vector of a dependent column is 0 after this column.
    dependent = [max(j for j, value in enumerate(vector) if value) for vector in vectors]
    return np.setdiff1d(np.arange(B.shape[1]), dependent)


def _combined(vectors: Sequence[Whole], z: Sequence[Fraction]) -> list[Fraction]:
    """Σ z_k·vector_k."""
    total = [Fraction(0)] * len(vectors[0])
    for vector, factor in zip(vectors, z, strict=True):
        if factor:
            for j, value in enumerate(vector):
                if value:
                    total[j] += factor * value
    return total


def exact_product(A: Any, vectors: Sequence[Whole]) -> Matrix | None:
    """The matrix of all products ⟨a_i, vector_k⟩; None if float64 does not represent them exactly.

    Examples
    --------
    >>> exact_product(np.array([[0.5, 3.0]]), [[2, 1], [0, 1]])
    array([[4., 3.]])
    >>> exact_product(np.array([[0.1, 0.3]]), [[1, 1]]) is None
    True
    """
    import scipy.sparse as sp

    entries = [
        (j, k, value) for k, vector in enumerate(vectors) for j, value in enumerate(vector) if value
    ]
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
    """What becomes of linear combinations c·β of the coefficients.

    Columns that depend linearly on the columns before them are aliased. Their coefficients are 0 in
    the model that is described here, as in R and Stata.

    Attributes
    ----------
    cone : Cone
        All rows and columns.
    limits : Limits
        Limits on the time of the search.
    n_steps : int
        The steps that searches for signs have taken.
    """

    cone: Cone
    limits: Limits
    n_steps: int = field(init=False, default=0)
    kept: Indices = field(init=False)
    face: Face = field(init=False)
    _known: dict[tuple[int, ...], tuple[Fate, bool | None]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """Find the aliased columns, and the rows that can be separated."""
        self.kept = np.arange(self.cone.p)
        try:
            self.kept = independent_columns(stacked(self.cone.A, self.cone.E), self.limits)
            few = self.cone.only(self.kept)
            self.face = find_face(few, self.limits)
        except OutOfTimeError:
            nothing = np.zeros(self.cone.A.shape[0], dtype=np.bool_)
            self.face = Face(nothing, [Fraction(0)] * len(self.kept), False)

    @property
    def aliased(self) -> list[int]:
        """The columns that depend linearly on the columns before them."""
        return np.setdiff1d(np.arange(self.cone.p), self.kept).tolist()

    @cached_property
    def _held(self) -> tuple[list[list[int]], Matrix]:
        """A basis of the null space of the rows J and E, and rows that span their row space."""
        few = self.cone.only(self.kept)
        rows = stacked(few.A[np.flatnonzero(~self.face.separated)], few.E)
        vectors, basis = _null_basis(rows, few.p, self.limits)
        return vectors, rows[basis]

    @cached_property
    def _quotient(self) -> _Quotient | None:
        """The separated rows as functions on the span of the cone; None if they are not exact."""
        vectors, _ = self._held
        A = self.cone.only(self.kept).A[np.flatnonzero(self.face.separated)]
        R = exact_product(A, vectors)
        return None if R is None else _Quotient(R, self._z(self.face.direction))

    def _z(self, direction: Sequence[Fraction]) -> list[Fraction]:
        """The coordinates of a vector of the span of the cone in the basis of the null space."""
        vectors, _ = self._held
        last = [max(j for j, value in enumerate(vector) if value) for vector in vectors]
        return [direction[j] / vector[j] for j, vector in zip(last, vectors, strict=True)]

    def fate(self, c: Sequence[Fraction]) -> Fate:
        """What becomes of c·β; the entries of c at aliased columns do not count."""
        return self._decide([c])[0]

    def column(self, j: int) -> Fate:
        """What becomes of β_j."""
        return self._without((j,))[0]

    def responsible(self, columns: Sequence[int]) -> bool | None:
        """Whether a finite estimate exists without these columns, and without aliased columns.

        None if it is not known. False if a finite estimate exists with these columns.
        """
        return self._without(tuple(columns))[1]

    def _without(self, columns: tuple[int, ...]) -> tuple[Fate, bool | None]:
        if columns not in self._known:
            units = [[Fraction(int(i == j)) for i in range(self.cone.p)] for j in columns]
            self._known[columns] = self._decide(units)
        return self._known[columns]

    def _decide(self, functionals: Sequence[Sequence[Fraction]]) -> tuple[Fate, bool | None]:
        """Return the fate of the first functional, and whether rows are separated without them.

        The second answer is True if no d of the cone separates a row and is 0 under all of the
        functionals.
        """
        if not self.face.complete:
            return "undecided", None
        if not self.face.separated.any():
            return "finite", False
        try:
            vectors, basis = self._held
            kept = self.kept.tolist()
            rows = [_whole([c[j] for j in kept]) for c in functionals]
            images = [
                [sum(a * b for a, b in zip(row, vector, strict=True)) for vector in vectors]
                for row in rows
            ]
            rows = [row for row, image in zip(rows, images, strict=True) if any(image)]
            images = [image for image in images if any(image)]
            if not images:
                return "finite", False
            if self._quotient is not None and _fits(images):
                return self._quotient.decide(images, self)
            if not _fits(rows):
                return "undecided", None
            return self._decide_beside(rows, basis)
        except OutOfTimeError:
            return "undecided", None

    def _decide_beside(self, rows: list[list[int]], basis: Matrix) -> tuple[Fate, bool | None]:
        """The answers of `_decide` by a search in the original coordinates."""
        few = self.cone.only(self.kept)
        A = few.A[np.flatnonzero(self.face.separated)]
        value = sum(a * b for a, b in zip(rows[0], self.face.direction, strict=True))
        if value == 0 and len(rows) == 1:
            return "either sign", False
        if not self.afford(A):
            return "undecided", None
        equal = stacked(basis, np.array(rows, dtype=np.float64))
        found = find_face(Cone(A, equal), self.limits)
        return _answer(found, value)

    def afford(self, A: Matrix) -> bool:
        """Count the steps of a search; return whether it may begin."""
        if self.limits.seconds is None and self.n_steps > _MAX_STEPS:
            return False
        size = A.size if isinstance(A, np.ndarray) else A.nnz
        self.n_steps += int(size) + _STEPS_PER_COLUMN * int(A.shape[1])
        return True


def _answer(found: Face, value: Fraction | int) -> tuple[Fate, bool | None]:
    """The answers of `Recession._decide`, given the face of the d with c·d = 0.

    ``value`` is c·d for a d that is positive on all rows.
    """
    apart = bool(found.separated.any())
    if found.separated.all():
        return "either sign", False
    if not found.complete:
        return "undecided", False if apart else None
    return "+inf" if value > 0 else "-inf", not apart


class _Quotient:
    """The separated rows R as functions on the span of the cone, and its independent components.

    The cone of all z with R z ≥ 0 is the product of one cone for each component: columns that
    share a row are in one component. ``z`` is a point with R z > 0.
    """

    def __init__(self, R: Any, z: list[Fraction]) -> None:
        import scipy.sparse as sp
        from scipy.sparse.csgraph import connected_components

        self.z = z
        pattern = sp.csr_array(R != 0).astype(np.int32)
        count, self.component = connected_components(pattern.T @ pattern, directed=False)
        first = self.component[pattern.indices[pattern.indptr[:-1]]]  # no row is zero
        self.columns = [np.flatnonzero(self.component == c) for c in range(count)]
        self.rows = [self._distinct(R, np.flatnonzero(first == c), c) for c in range(count)]
        self.points: list[list[list[Fraction]]] = [
            [[z[k] for k in columns.tolist()]] for columns in self.columns
        ]

    def _distinct(self, R: Any, rows: Indices, c: int) -> Any:
        part = R[rows][:, self.columns[c]]
        if part.shape[0] * part.shape[1] > _MAX_COMPARED:
            return part
        if part.shape[1] == 1:
            return np.sign(as_dense(part)[:1])
        return part if not isinstance(part, np.ndarray) else np.unique(part, axis=0)

    def decide(self, images: list[list[int]], work: Recession) -> tuple[Fate, bool | None]:
        """The answers of `Recession._decide` for functionals on z."""
        fates: set[Fate] = set()
        responsible: list[bool | None] = []
        for c, columns in enumerate(self.columns):
            rows = [[image[k] for k in columns.tolist()] for image in images]
            rows = [row for row in rows if any(row)]
            if not rows:
                responsible.append(False)
                continue
            fate, alone = self._decide_component(c, rows, work)
            fates.add(fate)
            responsible.append(alone)
        known = False if False in responsible else None if None in responsible else True
        if "either sign" in fates or {"+inf", "-inf"} <= fates:
            return "either sign", known if len(images) > 1 else False
        return "undecided" if "undecided" in fates else fates.pop(), known

    def _decide_component(
        self, c: int, rows: list[list[int]], work: Recession
    ) -> tuple[Fate, bool | None]:
        R, points = self.rows[c], self.points[c]
        values = [sum(a * b for a, b in zip(rows[0], z, strict=True)) for z in points]
        if len(rows) == 1 and any(value * values[0] <= 0 for value in values):
            return "either sign", False
        if R.shape[1] == 1:
            return "+inf" if values[0] > 0 else "-inf", True
        if not work.afford(R):
            return "undecided", None
        found = find_face(Cone(R, np.array(rows, dtype=np.float64)), work.limits)
        if found.separated.all():
            points.append(found.direction)
        return _answer(found, values[0])


def _whole(c: Sequence[Fraction]) -> list[int]:
    """A positive multiple of c with integer entries."""
    scale = math.lcm(*(Fraction(value).denominator for value in c))
    return [int(value * scale) for value in c]


def _fits(rows: Sequence[Whole]) -> bool:
    """Whether float64 represents all entries exactly."""
    return all(abs(value) <= _MAX_EXACT for row in rows for value in row)


def as_dense(A: Any) -> npt.NDArray[np.float64]:
    """The matrix as a dense array."""
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)
