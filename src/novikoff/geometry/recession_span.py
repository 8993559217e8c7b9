"""The span of a recession cone: the signs of linear functions on its relative interior.

Objective
    Tell for each linear function c·d whether it is 0, positive, negative or of either sign on the
    relative interior of C = {d : A d ≥ 0, E d = 0}.
Input
    The rows I of A that some d in C makes positive, the other rows J of A, the rows E, and a d in
    the relative interior.
Output
    An `Estimate` for each c.

The span of C is the null space of the rows J and E. Let N be a basis of it. In coordinates z, with
d = N z, the relative interior has R z > 0 for R = A_I N. Columns of R that share no row are
independent of each other, so that each connected component is a problem of its own. Linear programs
in floats suggest two kinds of proofs, and both are checked in exact arithmetic:

* A point z with R z > 0 and c·N z ≤ 0, beside one with c·N z > 0: either sign is possible.
* Multipliers λ ≥ 0 with c·N = Σ λ_i R_i: then c·d > 0 for all d in the relative interior, so that
  the estimate is +∞.

If neither proof succeeds, the search of `novikoff.geometry.cone` is made with c as an additional
equality: c·β is infinite with either sign if and only if all rows of I can still be separated.

References
----------
Rockafellar, R. T. (1970). *Convex Analysis*. Princeton University Press. Section 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Mask, Matrix, as_dense, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.cone import (
    Cone,
    exact_product,
    find_face,
    passes_of,
    separates_any,
    with_equalities,
)
from novikoff.geometry.null_space import (
    NullSpace,
    SparseVector,
    homogeneous,
    null_space,
    spanning_rows,
)
from novikoff.geometry.passes import LocalPasses, check_time
from novikoff.geometry.rational import combination
from novikoff.geometry.recession_programs import ScaledRows, SignProgram, product, scaled_rows
from novikoff.proofs import exact

# Whether the estimate of a coefficient, or of a linear combination of coefficients, is finite.
Estimate: TypeAlias = Literal[
    "finite", "+inf", "-inf", "either sign", "undecided", "aliased", "reference"
]

# A search for a sign counts as one step for each entry of its rows, and as _STEPS_PER_COLUMN steps
# for each of its columns. If there is no time limit, no search begins after _MAX_STEPS steps. Steps
# are counted instead of seconds, so that the answer is the same on all machines.
_STEPS_PER_COLUMN, _MAX_STEPS = 1 << 14, 1 << 29
# A linear program is counted as this number of steps for each entry of its rows.
_STEPS_PER_ENTRY = 32
# Rows that occur twice are removed if there are at most this many entries to compare.
_MAX_COMPARED = 1 << 22
# Dense rows are copied if they have at most this many entries.
_MAX_ENTRIES = 1 << 27


class StepBudget:
    """Limits on time, and the number of steps that searches for signs have taken."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.n_steps = limits, 0

    def allows_search(self, R: Matrix) -> bool:
        """Count the steps of a search of some rows; return whether it may begin."""
        size = R.size if isinstance(R, np.ndarray) else R.nnz
        return self.allows(int(size) + _STEPS_PER_COLUMN * int(R.shape[1]))

    def allows_program(self, R: Any) -> bool:
        """Count the steps of a linear program about some rows; return whether it may begin."""
        import scipy.sparse as sp

        return self.allows(_STEPS_PER_ENTRY * int(sp.csr_array(R).nnz))

    def allows(self, n_steps: int) -> bool:
        """Count steps; return whether they may be taken."""
        check_time(self.limits)
        if self.limits.seconds is None and self.n_steps > _MAX_STEPS:
            return False
        self.n_steps += n_steps
        return True


class Functional(NamedTuple):
    """A linear function c of the coefficients: c itself, and its values on the basis N."""

    c: SparseVector
    on_basis: SparseVector


@dataclass(frozen=True, eq=False)
class ConeSpan:
    """The span of a cone, which is the null space of the rows J and E.

    Attributes
    ----------
    rows : LocalPasses
        The rows of A and, below them, those of E.
    separated : array of int
        The rows I.
    held : array of int
        The rows J and E, whose linear combinations have a finite estimate.
    columns : array of int
        The columns that are not aliased, in the order of the model.
    basis : NullSpace
        The basis N.
    """

    rows: LocalPasses
    separated: Indices
    held: Indices
    columns: Indices
    basis: NullSpace

    @classmethod
    def of(cls, rows: LocalPasses, separated: Mask, columns: Indices, limits: Limits) -> ConeSpan:
        """Compute the span; ``separated`` is a mask of the rows of A."""
        check_time(limits)
        is_held = np.ones(rows.n, dtype=np.bool_)
        is_held[: len(separated)] = ~separated
        held = np.flatnonzero(is_held)
        basis = null_space(rows, held, columns, limits)
        return cls(rows, np.flatnonzero(separated), held, columns, basis)

    @cached_property
    def independent_held(self) -> Indices:
        """Linearly independent rows of J and E that span the space of all of these rows."""
        return spanning_rows(
            self.rows, self.held, self.columns, len(self.columns) - len(self.basis)
        )

    @cached_property
    def _columns(self) -> set[int]:
        return {*self.columns.tolist()}

    @cached_property
    def _values(self) -> dict[int, SparseVector]:
        """For each column j, the entries at j of the vectors of the basis."""
        values: dict[int, SparseVector] = {}
        for k, vector in enumerate(self.basis.values()):
            for j, value in vector.items():
                values.setdefault(j, {})[k] = value
        return values

    def functional(self, c: Mapping[int, Fraction]) -> Functional:
        """Return a positive multiple of c with integer entries, and its values on the basis.

        Entries at aliased columns do not count.
        """
        row = _integers({j: v for j, v in c.items() if v and j in self._columns})
        on_basis: SparseVector = {}
        for j, factor in row.items():
            for k, value in self._values.get(j, {}).items():
                on_basis[k] = on_basis.get(k, 0) + factor * value
        return Functional(row, {k: value for k, value in on_basis.items() if value})

    def cone_where_zero(self, functionals: Sequence[Functional]) -> Cone | None:
        """The d of the cone that are 0 on J, E and some functionals; None if it is too large.

        A has the rows I. Only columns that are not aliased are left, in ascending order.
        """
        columns = np.sort(self.columns)
        A = _signed_rows(self.rows, self.separated)[:, columns]
        E = _signed_rows(self.rows, self.independent_held)[:, columns]
        position = {int(j): k for k, j in enumerate(columns.tolist())}
        rows = [{position[j]: value for j, value in f.c.items()} for f in functionals]
        return with_equalities(Cone(A, E), rows)

    def components(self, direction: Sequence[Fraction], limits: Limits) -> Components | None:
        """Return the rows I as functions of z, in components; None if they are too large.

        ``direction`` is in the relative interior of the cone.
        """
        check_time(limits)
        if not self.rows.sparse and len(self.separated) * self.rows.p > _MAX_ENTRIES:
            return None
        A = _signed_rows(self.rows, self.separated)
        z = [direction[j] / vector[j] for j, vector in self.basis.items()]
        coefficients = [Functional({j: 1}, values) for j, values in self._values.items()]
        R = exact_product(A, [*self.basis.values()])
        if R is None:
            with np.errstate(all="ignore"):
                single = _RoundedComponent.of(self, A, z, coefficients)
            return Components([single], np.zeros(len(z), dtype=np.int64))
        return Components.of_rows(R, z, coefficients)


def _signed_rows(passes: LocalPasses, rows: Indices) -> Matrix:
    """Signed rows with all their columns, in float64."""
    signs = passes.signs[rows].astype(np.float64)
    A = homogeneous(passes.whole_part, rows)
    if isinstance(A, np.ndarray):
        return np.asarray(A * signs[:, None])
    import scipy.sparse as sp

    return sp.csr_array(sp.diags_array(signs) @ A)


class Components:
    """The rows I as functions on the span of the cone, in independent components.

    The cone of all z with R z ≥ 0 is the product of one cone for each component. ``component_of``
    has the component of each coordinate.
    """

    def __init__(self, components: list[_Component], component_of: Indices) -> None:
        self.components, self.component_of = components, component_of

    @classmethod
    def of_rows(cls, R: Any, z: list[Fraction], functionals: Iterable[Functional]) -> Components:
        """Split R into components: columns that share a row are in the same component.

        ``z`` is a point with R z > 0, and ``functionals`` are those whose signs will be asked for.
        """
        import scipy.sparse as sp
        from scipy.sparse.csgraph import connected_components

        pattern: Any = sp.csr_array(R != 0).astype(np.int32)
        n = pattern.shape[0]
        # A graph of rows and columns, with an edge for each entry.
        graph: Any = sp.block_array([[None, pattern], [pattern.T, None]], format="csr")
        count, labels = connected_components(graph, directed=False)
        components: list[_Component] = []
        by_row, by_column = _grouped(labels[:n], count), _grouped(labels[n:], count)
        for rows, columns in zip(by_row, by_column, strict=True):
            part = _distinct(R[rows][:, columns])
            positions = dict(zip(columns.tolist(), range(len(columns)), strict=True))
            components.append(_ExactComponent(part, [[z[k] for k in positions]], positions))
        found = cls(components, labels[n:].astype(np.int64))
        for functional in functionals:
            for k in found.touched([functional]):
                found.components[k].add_target(functional)
        return found

    def touched(self, functionals: Iterable[Functional]) -> list[int]:
        """The components on which some of the functionals are not 0."""
        return sorted({int(self.component_of[k]) for f in functionals for k in f.on_basis})

    def estimate(self, functional: Functional, budget: StepBudget) -> Estimate:
        """The estimate of a functional that is not 0 on the span."""
        parts = self.touched([functional])
        estimates = {self.components[k].estimate(functional, budget) for k in parts}
        if "either sign" in estimates or {"+inf", "-inf"} <= estimates:
            return "either sign"
        return "undecided" if "undecided" in estimates else estimates.pop()

    def separate_where_zero(self, functionals: list[Functional], budget: StepBudget) -> bool | None:
        """Whether some d on which all functionals are 0 separates a row; None if unknown."""
        touched = self.touched(functionals)
        if len(touched) < len(self.components):
            return True
        answers = []
        for k in touched:
            on_component = [f for f in functionals if k in self.touched([f])]
            answers.append(self.components[k].separates_where_zero(on_component, budget))
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
        self._targets: dict[_Key, Functional] = {}  # whose signs will be asked for
        self._signed: set[_Key] = set()  # the targets whose sign is that at all points: proved

    @abstractmethod
    def restricted(self, functional: Functional) -> dict[int, Fraction]:
        """The part of a functional that is about this component, in its coordinates."""

    @abstractmethod
    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether R z > 0, proved."""

    @abstractmethod
    def has_multipliers(self, rows: Indices, functional: Functional, limits: Limits) -> bool:
        """Whether ± the functional is a combination of rows with factors ≥ 0, proved."""

    @abstractmethod
    def cone_where_zero(self, functionals: list[Functional]) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""

    def add_target(self, functional: Functional) -> None:
        """Ask for the sign of a functional when that of another functional is asked for."""
        self._targets[_key(self.restricted(functional))] = functional

    def estimate(self, functional: Functional, budget: StepBudget) -> Estimate:
        """The estimate of a functional that is not 0 on this component."""
        c = self.restricted(functional)
        key = _key(c)
        if self.R.shape[1] > 1 and not self._has_both_signs(c) and key not in self._signed:
            self._targets[key] = functional
            self._search_signs_of_targets(budget)
        if self._has_both_signs(c):
            return "either sign"
        value = product(c, self.points[0])
        if self.R.shape[1] == 1 or key in self._signed:
            return "+inf" if value > 0 else "-inf"
        if not budget.allows_search(self.R):
            return "undecided"
        cone = self.cone_where_zero([functional])
        if cone is None:
            return "undecided"
        face = find_face(cone, budget.limits)
        if face.separated.all():
            return "either sign"
        if not face.complete:
            return "undecided"
        self._signed.add(key)
        return "+inf" if value > 0 else "-inf"

    def separates_where_zero(
        self, functionals: list[Functional], budget: StepBudget
    ) -> bool | None:
        """Whether some z on which all functionals are 0 separates a row; None if unknown."""
        if self.R.shape[1] == 1:
            return False
        if len(functionals) == 1 and self._has_both_signs(self.restricted(functionals[0])):
            return True
        if not budget.allows_search(self.R):
            return None
        cone = self.cone_where_zero(functionals)
        return None if cone is None else separates_any(cone, budget.limits)

    def _has_both_signs(self, c: dict[int, Fraction]) -> bool:
        """Whether a functional is 0 at a known point, or has both signs at known points."""
        values = [product(c, z) for z in self.points]
        return any(value * values[0] <= 0 for value in values)

    def _terms_have_one_sign(self, c: dict[int, Fraction]) -> bool:
        """Whether the terms of a functional have one sign, because R has rows of one entry."""
        known = self._signs_of_coordinates
        signs = {known.get(j, 0) * (1 if value > 0 else -1) for j, value in c.items()}
        return signs in ({1}, {-1})

    @cached_property
    def _signs_of_coordinates(self) -> dict[int, int]:
        """The signs of coordinates of all z with R z > 0 that follow from rows of one entry."""
        import scipy.sparse as sp

        R: Any = sp.csr_array(self.R)
        R.eliminate_zeros()
        single = R.indptr[:-1][np.diff(R.indptr) == 1]
        signs = np.sign(R.data[single]).astype(np.int64).tolist()
        return dict(zip(R.indices[single].tolist(), signs, strict=True))

    def _search_signs_of_targets(self, budget: StepBudget) -> None:
        """Look for points at which the targets have other signs, or prove that there are none.

        A linear program in floats (`SignProgram`) suggests a point at which many targets have
        another sign than at the first point. That R z > 0 is then proved. This is repeated with
        the targets that have not changed their sign, and with each of them alone when no sign
        changes any more. The multipliers of the last program suggest a proof that the sign cannot
        change. Targets without a proof are left to the exact search.
        """
        targets: list[Functional] = []
        for key, functional in self._targets.items():
            c = self.restricted(functional)
            if self._has_both_signs(c):
                continue
            if self._terms_have_one_sign(c):
                self._signed.add(key)
            else:
                targets.append(functional)
        self._targets = {}
        if targets:
            with (
                suppress(ArithmeticError, ValueError, MemoryError, np.linalg.LinAlgError),
                np.errstate(all="ignore"),
            ):
                self._solve_programs(targets, budget)

    def _solve_programs(self, targets: list[Functional], budget: StepBudget) -> None:
        program = None
        waiting, together = np.arange(len(targets)), True
        while len(waiting) > 0 and budget.allows_program(self.R):
            if program is None:
                restricted = [self.restricted(functional) for functional in targets]
                program = SignProgram(self._scaled, self.points[0], restricted)
            # One program for all targets; if it changes no sign, one program for each target.
            answer = program.solve(waiting if together else waiting[:1], budget.limits)
            if answer is None:
                return
            changed = answer.changed[waiting]
            if changed.any():
                if not self.separates(answer.z, budget.limits):
                    return
                self.points.append(answer.z)
            elif together:
                together = False
                continue
            else:
                functional = targets[int(waiting[0])]
                if self.has_multipliers(answer.rows, functional, budget.limits):
                    self._signed.add(_key(self.restricted(functional)))
            if not together:
                changed[0] = True  # without a proof, this target is left to the exact search
            waiting = waiting[~changed]

    @cached_property
    def _scaled(self) -> ScaledRows:
        return scaled_rows(self.R)


class _ExactComponent(_Component):
    """A component whose rows are exact in float64.

    ``positions`` has the coordinates of the span that belong to this component, and the column of R
    for each of them.
    """

    def __init__(self, R: Any, points: list[list[Fraction]], positions: Mapping[int, int]) -> None:
        super().__init__(R, points)
        self.positions = positions

    def restricted(self, functional: Functional) -> dict[int, Fraction]:
        """The part of a functional that is about this component, in its coordinates."""
        return {
            self.positions[k]: Fraction(value)
            for k, value in functional.on_basis.items()
            if k in self.positions
        }

    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether R z > 0, proved."""
        return passes_of(self.R).least_products(exact.numbers(z), limits).separates

    def has_multipliers(self, rows: Indices, functional: Functional, limits: Limits) -> bool:
        """Whether ± the functional is a combination of rows with factors ≥ 0, proved."""
        chosen = as_dense(self.R[rows], np.float64)
        return _is_conic(chosen, len(rows), self.restricted(functional), limits)

    def cone_where_zero(self, functionals: list[Functional]) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""
        rows = [_integers(self.restricted(functional)) for functional in functionals]
        return with_equalities(Cone(self.R, self.R[:0]), rows)


class _RoundedComponent(_Component):
    """The whole span, where float64 does not represent R: proofs use the rows A instead.

    ``basis`` has the vectors of the basis N, divided by powers of two that make them about 1.
    """

    def __init__(
        self,
        R: Any,
        points: list[list[Fraction]],
        span: ConeSpan,
        basis: list[dict[int, Fraction]],
        A: Any,
    ) -> None:
        super().__init__(R, points)
        self.span, self.basis, self.A = span, basis, A

    @classmethod
    def of(
        cls, span: ConeSpan, A: Any, z: list[Fraction], functionals: Iterable[Functional]
    ) -> _RoundedComponent:
        """Return the rows A as functions on the span; ``z`` is a point with A N z > 0."""
        import scipy.sparse as sp

        vectors = [*span.basis.values()]
        scales = [1 << max(map(abs, vector.values())).bit_length() for vector in vectors]
        basis = [
            {j: Fraction(value, scale) for j, value in vector.items()}
            for vector, scale in zip(vectors, scales, strict=True)
        ]
        positions = [(j, k) for k, vector in enumerate(basis) for j in vector]
        values = [float(value) for vector in basis for value in vector.values()]
        shape = (A.shape[1], len(z))
        N: Any = sp.csc_array((values, tuple(zip(*positions, strict=True))), shape=shape)
        R = A @ N.toarray() if isinstance(A, np.ndarray) else A @ N
        first = [value * scale for value, scale in zip(z, scales, strict=True)]
        component = cls(R, [first], span, basis, A)
        for functional in functionals:
            component.add_target(functional)
        return component

    def restricted(self, functional: Functional) -> dict[int, Fraction]:
        """The values of a functional on the basis."""
        terms = functional.c.items()
        values = (
            sum((factor * vector[j] for j, factor in terms if j in vector), Fraction(0))
            for vector in self.basis
        )
        return {k: value for k, value in enumerate(values) if value}

    def separates(self, z: list[Fraction], limits: Limits) -> bool:
        """Whether A N z > 0, proved."""
        d = [Fraction(0)] * int(self.A.shape[1])
        for factor, vector in zip(z, self.basis, strict=True):
            for j, value in vector.items():
                d[j] += factor * value
        return passes_of(self.A).least_products(exact.numbers(d), limits).separates

    def has_multipliers(self, rows: Indices, functional: Functional, limits: Limits) -> bool:
        """Whether ± the functional is a combination of rows with factors ≥ 0, proved.

        The combination may also have any multiples of the rows J and E, which are 0 on the span.
        """
        columns = self.span.columns
        held = _signed_rows(self.span.rows, self.span.independent_held)
        chosen = as_dense(stacked(self.A[rows], held), np.float64)[:, columns]
        position = {int(j): k for k, j in enumerate(columns.tolist())}
        c = {position[j]: Fraction(value) for j, value in functional.c.items()}
        return _is_conic(chosen, len(rows), c, limits)

    @cached_property
    def _signs_of_coordinates(self) -> dict[int, int]:
        """No signs, because R is rounded."""
        return {}

    def cone_where_zero(self, functionals: list[Functional]) -> Cone | None:
        """The cone on which some functionals are 0; None if it is too large."""
        return self.span.cone_where_zero(functionals)


# A functional in the coordinates of a component, as a key of mappings.
_Key: TypeAlias = tuple[tuple[int, Fraction], ...]


def _key(c: dict[int, Fraction]) -> _Key:
    return tuple(sorted(c.items()))


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
