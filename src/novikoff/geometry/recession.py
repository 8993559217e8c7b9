"""Which linear combinations of the coefficients have a finite estimate, and the signs of others.

Objective
    Tell for each linear combination c·β whether its maximum-likelihood estimate is finite, +∞, −∞,
    or infinite with either sign.
Input
    The cone C = {d : A d ≥ 0, E d = 0} of a model (`novikoff.geometry.cone`).
Output
    A `Recession`.

Let I be the rows of A that some d in C makes positive, and J the other rows of A. All answers
follow from I, J and E:

* A finite estimate exists if and only if I is empty.
* c·β is finite if and only if c is in the row space of the rows J and E, because C spans the null
  space of these rows.
* Otherwise c·β is infinite. The vectors d in C that are positive on all rows of I are the relative
  interior of C. c·β is +∞ if and only if c·d > 0 for all of these d.

The answers are found in coordinates z of the span of C: d = N z for a basis N of the null space of
J and E. Columns of R = A_I N that share no row are independent of each other, so that each
connected component is a problem of its own. Linear programs in floats suggest two kinds of proofs,
and both are checked in exact arithmetic:

* A point z with R z > 0 and c·N z ≤ 0, beside one with c·N z > 0: either sign is possible.
* Multipliers λ ≥ 0 with c·N = Σ λ_i R_i: then c·d > 0 for all d in the relative interior, so that
  the estimate is +∞.

If neither proof succeeds, the search of `novikoff.geometry.cone` is made with c as an additional
equality: c·β is infinite with either sign if and only if all rows of I can still be separated.

References
----------
Rockafellar, R. T. (1970). *Convex Analysis*. Princeton University Press. Sections 8 and 27.

Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession.
*Electronic Journal of Statistics* 3, 259-289.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Matrix, as_dense, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.cone import (
    Cone,
    Face,
    exact_product,
    find_face,
    passes_of,
    separates_any,
)
from novikoff.geometry.null_space import (
    NullSpace,
    SparseVector,
    homogeneous,
    null_space,
    spanning_rows,
)
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, check_time
from novikoff.geometry.rational import combination
from novikoff.geometry.suggestion import Optimum, suggested_optimum
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
# The methods of SciPy that solve these programs in turns, and the seconds of the first attempt.
_METHODS, _FIRST_SECONDS = ("highs-ipm", "highs-ds"), 16.0
# Multipliers of a linear program below this share of the largest are treated as rounding errors.
_FIRM = 1e-9
# Integers of this many bits are exact in float64.
_BITS = 53


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
    _fates: dict[int, Fate] = field(init=False, default_factory=dict)
    _causes: dict[tuple[int, ...], bool | None] = field(init=False, default_factory=dict)

    @classmethod
    def of(cls, cone: Cone, limits: Limits) -> Recession:
        """Decide a cone of matrices in memory."""
        rows = passes_of(stacked(cone.A, cone.E))
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
        check_time(self.limits)
        return null_space(self.rows, self.held, self.kept, self.limits)

    @cached_property
    def held_basis(self) -> Indices:
        """Linearly independent rows of J and E that span the space of all of these rows."""
        rank = len(self.kept) - len(self.null_space_of_held)
        return spanning_rows(self.rows, self.held, self.kept, rank)

    @cached_property
    def _images(self) -> dict[int, SparseVector]:
        """For each column j, the entries at j of the vectors of the null space."""
        images: dict[int, SparseVector] = {}
        for k, vector in enumerate(self.null_space_of_held.values()):
            for j, value in vector.items():
                images.setdefault(j, {})[k] = value
        return images

    @cached_property
    def _span(self) -> _Span | None:
        """The separated rows as functions on the span of the cone; None if they are too large."""
        check_time(self.limits)
        rows = np.flatnonzero(self.face.separated)
        if not self.rows.sparse and len(rows) * self.rows.p > _MAX_ENTRIES:
            return None
        A = signed_rows(self.rows, rows)
        z = [self.direction[j] / vector[j] for j, vector in self.null_space_of_held.items()]
        functionals = [_Functional({j: 1}, image) for j, image in self._images.items()]
        R = exact_product(A, [*self.null_space_of_held.values()])
        if R is None:
            with np.errstate(all="ignore"):
                whole = _RoundedComponent.of(self, A, z, functionals)
            return _Span([whole], np.zeros(len(z), dtype=np.int64))
        return _Span.of_independent_components(R, z, functionals)

    def fate(self, c: Mapping[int, Fraction]) -> Fate:
        """Return the estimate of c·β; the entries of c at aliased columns do not count."""
        if not (self.face.complete and self._ranked):
            return "undecided"
        if not self.face.separated.any():
            return "finite"
        try:
            functional = self._functional(c)
            if not functional.image:
                return "finite"
            return "undecided" if self._span is None else self._span.fate(functional, self)
        except OutOfTimeError:
            return "undecided"

    def column(self, j: int) -> Fate:
        """Return the estimate of β_j."""
        if j not in self._fates:
            self._fates[j] = self.fate({j: Fraction(1)})
        return self._fates[j]

    def responsible(self, columns: Sequence[int]) -> bool | None:
        """Whether a finite estimate exists without these columns, and without aliased columns.

        None if it is not known. False if a finite estimate exists with these columns.
        """
        key = tuple(columns)
        if key not in self._causes:
            self._causes[key] = self._is_responsible(columns)
        return self._causes[key]

    def _is_responsible(self, columns: Sequence[int]) -> bool | None:
        if not (self.face.complete and self._ranked):
            return None
        if not self.face.separated.any():
            return False
        if len(columns) == 1 and self._fates.get(columns[0]) in ("finite", "either sign"):
            return False
        try:
            functionals = [self._functional({j: Fraction(1)}) for j in columns]
            functionals = [c for c in functionals if c.image]
            if not functionals:
                return False
            left = None if self._span is None else self._span.leaves_some(functionals, self)
            return None if left is None else not left
        except OutOfTimeError:
            return None

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

    def _functional(self, c: Mapping[int, Fraction]) -> _Functional:
        """A positive multiple of c with integer entries, and its values on the null space."""
        scale = math.lcm(*(value.denominator for value in c.values()))
        row = {j: int(v * scale) for j, v in c.items() if v and j not in self._dependent}
        image: SparseVector = {}
        for j, factor in row.items():
            for k, value in self._images.get(j, {}).items():
                image[k] = image.get(k, 0) + factor * value
        return _Functional(row, {k: value for k, value in image.items() if value})

    def cone_where_zero(self, rows: Sequence[SparseVector]) -> Cone | None:
        """The d of the cone that are 0 on the held rows and on some functionals; None if too large.

        A has the separated rows. Only columns that are not aliased are left, in ascending order.
        """
        columns = np.sort(self.kept)
        A = signed_rows(self.rows, np.flatnonzero(self.face.separated))[:, columns]
        place = {int(j): k for k, j in enumerate(columns.tolist())}
        renumbered = [{place[j]: value for j, value in row.items()} for row in rows]
        E = signed_rows(self.rows, self.held_basis)[:, columns]
        return with_equalities(Cone(A, E), renumbered)

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


def signed_rows(passes: LocalPasses, rows: Indices) -> Matrix:
    """Signed rows with all their columns, in float64."""
    signs = passes.signs[rows].astype(np.float64)
    A = homogeneous(passes.whole_part, rows)
    if isinstance(A, np.ndarray):
        return np.asarray(A * signs[:, None])
    import scipy.sparse as sp

    return sp.csr_array(sp.diags_array(signs) @ A)


def with_equalities(cone: Cone, rows: Sequence[SparseVector]) -> Cone | None:
    """Return the cone in which some integer vectors have the product 0 with d.

    If float64 cannot represent a vector, it is written as a sum of vectors, and further columns
    stand for the products with all of them but the first. None if a number is too large.

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
    at, column = 0, p
    for part in sums:
        first = at
        for vector in part:
            equal[at, [*vector]] = [*vector.values()]
            if at > first:
                equal[first, column], equal[at, column] = 1.0, -1.0
                column += 1
            at += 1
    A, E = (_widened(M, extra) for M in (cone.A, cone.E))
    return Cone(A, stacked(E, equal))


def _in_floats(row: SparseVector) -> list[dict[int, float]] | None:
    """Vectors of floats whose sum is the integer vector, exactly; None if a number overflows."""
    parts: list[dict[int, float]] = []
    rest = dict(row)
    while rest:
        tops = {j: _leading(value) for j, value in rest.items()}
        try:
            parts.append({j: float(top) for j, top in tops.items()})
        except OverflowError:
            return None
        rest = {j: value - tops[j] for j, value in rest.items() if value != tops[j]}
    return parts


def _leading(value: int) -> int:
    """The number without all but its first 53 bits.

    >>> _leading(2**60 + 1) == 2**60, _leading(-5)
    (True, -5)
    """
    shift = max(0, abs(value).bit_length() - _BITS)
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


class _Functional(NamedTuple):
    """A linear combination c of the coefficients: c itself, and its values on the null space."""

    row: SparseVector
    image: SparseVector


class _Span:
    """The separated rows as functions on the span of the cone, in independent components.

    The cone of all z with R z ≥ 0 is the product of one cone for each component. ``component_of``
    has the component of each coordinate.
    """

    def __init__(self, components: list[_Component], component_of: Indices) -> None:
        self.components, self.component_of = components, component_of

    @classmethod
    def of_independent_components(
        cls, R: Any, z: list[Fraction], functionals: Iterable[_Functional]
    ) -> _Span:
        """Split R into components: columns that share a row are in the same component.

        ``z`` is a point with R z > 0, and ``functionals`` are those whose signs will be asked for.
        """
        import scipy.sparse as sp
        from scipy.sparse.csgraph import connected_components

        pattern: Any = sp.csr_array(R != 0).astype(np.int32)
        n = pattern.shape[0]
        # A graph of rows and columns, with an edge for each entry.
        graph: Any = sp.block_array([[None, pattern], [pattern.T, None]], format="csr")
        count, of = connected_components(graph, directed=False)
        components: list[_Component] = []
        by_row, by_column = _grouped(of[:n], count), _grouped(of[n:], count)
        for rows, columns in zip(by_row, by_column, strict=True):
            part = _distinct(R[rows][:, columns])
            names = dict(zip(columns.tolist(), range(len(columns)), strict=True))
            components.append(_ExactComponent(part, [[z[k] for k in names]], names))
        span = cls(components, of[n:].astype(np.int64))
        for c in functionals:
            for k in span.touched([c]):
                span.components[k].add_target(c)
        return span

    def touched(self, functionals: Iterable[_Functional]) -> list[int]:
        """The components on which some of the functionals are not 0."""
        return sorted({int(self.component_of[k]) for c in functionals for k in c.image})

    def fate(self, c: _Functional, work: Recession) -> Fate:
        """The estimate of a functional that is not 0."""
        fates = {self.components[k].fate(c, work) for k in self.touched([c])}
        if "either sign" in fates or {"+inf", "-inf"} <= fates:
            return "either sign"
        return "undecided" if "undecided" in fates else fates.pop()

    def leaves_some(self, functionals: list[_Functional], work: Recession) -> bool | None:
        """Whether a row is separated by some d on which all functionals are 0; None if unknown."""
        touched = self.touched(functionals)
        if len(touched) < len(self.components):
            return True
        answers = []
        for k in touched:
            part = self.components[k]
            own = [c for c in functionals if k in self.touched([c])]
            answers.append(part.leaves_some(own, work))
            if answers[-1]:
                return True
        return None if None in answers else False


def _grouped(labels: npt.NDArray[Any], count: int) -> list[Indices]:
    """The positions of each label."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, count)))


def _distinct(part: Any) -> Any:
    """The rows of a matrix without repetitions; if there is one column, its sign."""
    if part.shape[1] == 1:
        return np.sign(as_dense(part[:1], np.float64))
    if part.shape[0] * part.shape[1] > _MAX_COMPARED:
        return part
    return np.unique(as_dense(part, np.float64), axis=0)


class _Component(ABC):
    """A cone of all z with R z ≥ 0, and points with R z > 0.

    Attributes
    ----------
    R : matrix
        The rows; rounded, if float64 does not represent them.
    points : list
        Points with R z > 0, each a list of Fractions.
    """

    def __init__(self, R: Any, points: list[list[Fraction]]) -> None:
        self.R, self.points = R, points
        self._targets: dict[_Key, _Functional] = {}  # whose signs will be asked for
        self._signed: set[_Key] = set()  # the targets whose sign is that at all points: proved

    @abstractmethod
    def restricted(self, c: _Functional) -> dict[int, Fraction]:
        """The part of a functional that is about this component, in its coordinates."""

    @abstractmethod
    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether R z > 0, proved."""

    @abstractmethod
    def has_multipliers(self, rows: Indices, c: _Functional, work: Recession) -> bool:
        """Whether c or −c is a combination of these rows with factors ≥ 0, proved."""

    @abstractmethod
    def where_zero(self, functionals: list[_Functional], work: Recession) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""

    def add_target(self, c: _Functional) -> None:
        """Ask for the sign of a functional when that of another functional is asked for."""
        self._targets[_key(self.restricted(c))] = c

    def fate(self, c: _Functional, work: Recession) -> Fate:
        """The estimate of a functional that is not 0 on this component."""
        restricted = self.restricted(c)
        key = _key(restricted)
        if self.R.shape[1] > 1 and not self._has_both_signs(restricted) and key not in self._signed:
            self._targets[key] = c
            self._settle_targets(work)
        if self._has_both_signs(restricted):
            return "either sign"
        value = _product(restricted, self.points[0])
        if self.R.shape[1] == 1 or key in self._signed:
            return "+inf" if value > 0 else "-inf"
        if not work.afford(self.R):
            return "undecided"
        cone = self.where_zero([c], work)
        if cone is None:
            return "undecided"
        face = find_face(cone, work.limits)
        if face.separated.all():
            return "either sign"
        if not face.complete:
            return "undecided"
        self._signed.add(key)
        return "+inf" if value > 0 else "-inf"

    def leaves_some(self, functionals: list[_Functional], work: Recession) -> bool | None:
        """Whether a row is separated by some z on which all functionals are 0; None if unknown."""
        if self.R.shape[1] == 1:
            return False
        if len(functionals) == 1 and self._has_both_signs(self.restricted(functionals[0])):
            return True
        if not work.afford(self.R):
            return None
        cone = self.where_zero(functionals, work)
        return None if cone is None else separates_any(cone, work.limits)

    def _is_signed(self, key: _Key) -> bool:
        """Whether the terms of a functional have one sign, because R has rows of one entry."""
        known = self._signs_of_coordinates
        signs = {known.get(j, 0) * (1 if value > 0 else -1) for j, value in key}
        signed = signs in ({1}, {-1})
        if signed:
            self._signed.add(key)
        return signed

    @cached_property
    def _signs_of_coordinates(self) -> dict[int, int]:
        """The signs of coordinates of all z with R z > 0 that follow from rows of one entry."""
        import scipy.sparse as sp

        R: Any = sp.csr_array(self.R)
        R.eliminate_zeros()
        single = R.indptr[:-1][np.diff(R.indptr) == 1]
        signs = np.sign(R.data[single]).astype(np.int64).tolist()
        return dict(zip(R.indices[single].tolist(), signs, strict=True))

    def _has_both_signs(self, c: dict[int, Fraction]) -> bool:
        """Whether a functional is 0 at a known point, or has both signs at known points."""
        values = [_product(c, z) for z in self.points]
        return any(value * values[0] <= 0 for value in values)

    def _settle_targets(self, work: Recession) -> None:
        """Look for points at which the targets have other signs, or prove that there are none.

        A linear program in floats minimises Σ max(0, 1 + s_k·⟨c_k, z⟩) subject to R z ≥ 1, where
        s_k are the signs at the first point. That R z > 0 is then proved. This is repeated with
        the targets that have not changed their sign, and with each of them alone when no sign
        changes any more. The multipliers of such a program suggest a proof that the sign cannot
        change. Targets without a proof are left to the exact search.
        """
        targets = [
            c
            for key, c in self._targets.items()
            if not self._has_both_signs(self.restricted(c)) and not self._is_signed(key)
        ]
        self._targets = {}
        if targets:
            with (
                suppress(ArithmeticError, ValueError, MemoryError, np.linalg.LinAlgError),
                np.errstate(all="ignore"),
            ):
                self._settle(targets, work)

    def _settle(self, targets: list[_Functional], work: Recession) -> None:
        import scipy.sparse as sp

        program, n_steps = None, _STEPS_PER_ENTRY * int(sp.csr_array(self.R).nnz)
        waiting, together = np.arange(len(targets)), True
        while len(waiting) > 0 and work.afford_steps(n_steps):
            if program is None:
                images = [self.restricted(c) for c in targets]
                program = _Program(*self._scaled, self.points[0], images)
            # One program for all targets; then, where it turns none of them, one for each target.
            solution = program.solve(waiting if together else waiting[:1], work.limits)
            if solution is None:
                return
            turned = solution.turned[waiting]
            if turned.any():
                if not self.separates(solution.z, work.limits):
                    return
                self.points.append(solution.z)
            elif together:
                together = False
                continue
            else:
                c = targets[int(waiting[0])]
                if self.has_multipliers(solution.rows, c, work):
                    self._signed.add(_key(self.restricted(c)))
            if not together:
                turned[0] = True  # without a proof, this target is left to the exact search
            waiting = waiting[~turned]

    @cached_property
    def _scaled(self) -> tuple[Any, npt.NDArray[np.float64]]:
        """R with columns and rows scaled to about 1, and the factors of the columns.

        These factors are powers of two.
        """
        import scipy.sparse as sp

        scaled: Any = sp.csr_array(self.R)
        sizes = np.asarray(abs(scaled).max(axis=0).todense()).ravel()
        factors = np.ldexp(1.0, -np.frexp(sizes)[1])
        scaled = sp.csr_array(scaled @ sp.diags_array(factors))
        lengths = np.asarray(abs(scaled).max(axis=1).todense()).ravel()
        return sp.csr_array(sp.diags_array(1.0 / lengths) @ scaled), factors


class _ExactComponent(_Component):
    """A component whose rows are exact in float64.

    ``names`` has the coordinates of the span, and the place of each in this component.
    """

    def __init__(self, R: Any, points: list[list[Fraction]], names: Mapping[int, int]) -> None:
        super().__init__(R, points)
        self.names = names

    def restricted(self, c: _Functional) -> dict[int, Fraction]:
        """The part of a functional that is about this component, in its coordinates."""
        return {self.names[k]: Fraction(v) for k, v in c.image.items() if k in self.names}

    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether R z > 0, proved."""
        return passes_of(self.R).least_products(exact.numbers(z), limits).separates

    def has_multipliers(self, rows: Indices, c: _Functional, work: Recession) -> bool:
        """Whether c or −c is a combination of these rows with factors ≥ 0, proved."""
        return _is_conic(
            as_dense(self.R[rows], np.float64), len(rows), self.restricted(c), work.limits
        )

    def where_zero(self, functionals: list[_Functional], work: Recession) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""
        rows = [_integers(self.restricted(c)) for c in functionals]
        return with_equalities(Cone(self.R, self.R[:0]), rows)


class _RoundedComponent(_Component):
    """The whole span, where float64 does not represent the rows: proofs use the original rows.

    ``basis`` has vectors of the null space, times powers of two that make them about 1.
    """

    def __init__(
        self, R: Any, points: list[list[Fraction]], basis: list[dict[int, Fraction]], A: Any
    ) -> None:
        super().__init__(R, points)
        self.basis, self.A = basis, A

    @classmethod
    def of(
        cls, work: Recession, A: Any, z: list[Fraction], functionals: Iterable[_Functional]
    ) -> _RoundedComponent:
        """The span of a cone: the rows A as functions on it, and a point with A N z > 0."""
        import scipy.sparse as sp

        vectors = [*work.null_space_of_held.values()]
        scales = [1 << max(map(abs, own.values())).bit_length() for own in vectors]
        basis = [
            {j: Fraction(value, scale) for j, value in own.items()}
            for own, scale in zip(vectors, scales, strict=True)
        ]
        at = [(j, k) for k, own in enumerate(basis) for j in own]
        values = [float(value) for own in basis for value in own.values()]
        N: Any = sp.csc_array((values, tuple(zip(*at, strict=True))), shape=(A.shape[1], len(z)))
        R = A @ N.toarray() if isinstance(A, np.ndarray) else A @ N
        first = [value * scale for value, scale in zip(z, scales, strict=True)]
        part = cls(R, [first], basis, A)
        for c in functionals:
            part.add_target(c)
        return part

    def restricted(self, c: _Functional) -> dict[int, Fraction]:
        """The values of a functional on the basis."""
        values = (
            sum((factor * own[j] for j, factor in c.row.items() if j in own), Fraction(0))
            for own in self.basis
        )
        return {k: value for k, value in enumerate(values) if value}

    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether A N z > 0, proved."""
        d = [Fraction(0)] * int(self.A.shape[1])
        for factor, own in zip(z, self.basis, strict=True):
            for j, value in own.items():
                d[j] += factor * value
        return passes_of(self.A).least_products(exact.numbers(d), limits).separates

    def has_multipliers(self, rows: Indices, c: _Functional, work: Recession) -> bool:
        """Whether c or −c is a combination of these rows with factors ≥ 0, proved.

        The combination may also have any multiples of the held rows, which are 0 on the span.
        """
        held = signed_rows(work.rows, work.held_basis)
        both = as_dense(stacked(self.A[rows], held), np.float64)[:, work.kept]
        place = {int(j): k for k, j in enumerate(work.kept.tolist())}
        renumbered = {place[j]: Fraction(value) for j, value in c.row.items()}
        return _is_conic(both, len(rows), renumbered, work.limits)

    @cached_property
    def _signs_of_coordinates(self) -> dict[int, int]:
        """None, because R is rounded."""
        return {}

    def where_zero(self, functionals: list[_Functional], work: Recession) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""
        return work.cone_where_zero([c.row for c in functionals])


_Key: TypeAlias = tuple[tuple[int, Fraction], ...]


def _key(c: dict[int, Fraction]) -> _Key:
    return tuple(sorted(c.items()))


class _Solution(NamedTuple):
    """What a linear program suggests: a point, the targets with another sign, and rows."""

    z: list[Fraction]
    turned: npt.NDArray[np.bool_]
    rows: Indices


class _Program:
    """Linear programs about R and some functionals, scaled so that their numbers are about 1."""

    def __init__(
        self,
        R: Any,
        factors: npt.NDArray[np.float64],
        first: list[Fraction],
        targets: Sequence[Mapping[int, Fraction]],
    ) -> None:
        import scipy.sparse as sp

        self.R, self.factors = R, factors
        at = [(k, j) for k, c in enumerate(targets) for j in c]
        # Only the direction of a functional matters.
        values = [float(v / max(map(abs, c.values()))) for c in targets for v in c.values()]
        shape = (len(targets), R.shape[1])
        T: Any = sp.csr_array((values, tuple(zip(*at, strict=True))), shape=shape)
        T = T @ sp.diags_array(self.factors)
        signs = [1.0 if _product(c, first) > 0 else -1.0 for c in targets]
        self.T: Any = sp.csr_array(
            sp.diags_array(np.array(signs) / abs(T).max(axis=1).toarray().ravel()) @ T
        )

    def solve(self, chosen: Indices, limits: Limits) -> _Solution | None:
        """Minimise Σ max(0, 1 + T u) over chosen targets, with R u ≥ 1; None if it fails."""
        import scipy.sparse as sp

        T = self.T[chosen]
        (k, q), n = T.shape, self.R.shape[0]
        A: Any = sp.block_array([[-self.R, None], [T, -sp.eye_array(k)]], format="csr")
        bounds: Any = [(None, None)] * q + [(0.0, None)] * k
        costs, right = np.append(np.zeros(q), np.ones(k)), np.full(n + k, -1.0)
        answer = suggested_optimum(
            costs, limits, A_ub=A, b_ub=right, bounds=bounds,
            first_seconds=_FIRST_SECONDS, methods=_METHODS,
        )  # fmt: skip
        if not isinstance(answer, Optimum):
            return None
        u, multipliers = answer.x[:q], np.abs(answer.prices[:n])
        rows = np.flatnonzero(multipliers > _FIRM * multipliers.max(initial=0.0))
        z = [Fraction(value) for value in (u * self.factors).tolist()]
        return _Solution(z, self.T @ u < 0.0, rows)


def _is_conic(
    rows: npt.NDArray[np.float64], n: int, c: Mapping[int, Fraction], limits: Limits
) -> bool:
    """Whether c or −c is a combination of the rows, the first n with factors ≥ 0: proved."""
    target = np.zeros(rows.shape[1], dtype=object)
    for j, value in _integers(c).items():
        target[j] = value
    factors = combination(rows, exact.integers(rows)[0], target, limits)
    if factors is None:
        return False
    weak = factors[:n]
    return all(value >= 0 for value in weak) or all(value <= 0 for value in weak)


def _integers(c: Mapping[int, Fraction]) -> SparseVector:
    """A positive multiple of a vector with integer entries."""
    scale = math.lcm(*(value.denominator for value in c.values()))
    return {j: int(value * scale) for j, value in c.items()}


def _product(row: Mapping[int, Fraction | int], z: Sequence[Fraction]) -> Fraction:
    return sum((factor * z[k] for k, factor in row.items()), Fraction(0))
