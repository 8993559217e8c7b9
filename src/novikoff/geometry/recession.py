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
  interior of C. c·β is +∞ if and only if c·d > 0 for all of these d, which
  `novikoff.geometry.recession_span` decides.

References
----------
Rockafellar, R. T. (1970). *Convex Analysis*. Princeton University Press. Sections 8 and 27.

Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession.
*Electronic Journal of Statistics* 3, 259-289.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from novikoff.core.rows import Indices, stacked
from novikoff.core.stops import Limits
from novikoff.geometry.cone import Cone, Face, find_face, passes_of
from novikoff.geometry.null_space import NullSpace, null_space
from novikoff.geometry.passes import LocalPasses, OutOfTimeError
from novikoff.geometry.recession_span import Components, ConeSpan, Estimate, StepBudget


def recession_of_cone(cone: Cone, limits: Limits) -> Recession:
    """Find the recession of a cone of matrices in memory.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> recession = recession_of_cone(Cone(A, A[:0]), Limits())
    >>> recession.coefficient(0), recession.coefficient(1)
    ('+inf', 'finite')
    """
    rows = passes_of(stacked(cone.A, cone.E))
    order = np.arange(cone.p)
    dependent = _dependent_columns(rows, order, limits)
    kept = np.setdiff1d(order, [*(dependent or {})])
    n, X = int(cone.A.shape[0]), rows.X
    whole = Cone(X, X[:0]) if n == rows.n else Cone(X[:n], X[n:])
    face = find_face(whole.only(kept), limits)
    direction = [Fraction(0)] * cone.p
    for j, value in zip(kept.tolist(), face.direction, strict=True):
        direction[j] = value
    return Recession(rows, order, replace(face, direction=direction), dependent, StepBudget(limits))


def recession_of_face(rows: LocalPasses, order: Indices, face: Face, limits: Limits) -> Recession:
    """Return the recession of rows without equalities, whose separated rows are known.

    ``order`` has the columns in the order that defines which columns are aliased.
    """
    dependent = _dependent_columns(rows, order, limits)
    direction = [*face.direction]
    for j, vector in (dependent or {}).items():
        factor = direction[j] / vector[j]
        if factor:
            for k, value in vector.items():
                direction[k] -= factor * value
    return Recession(rows, order, replace(face, direction=direction), dependent, StepBudget(limits))


def _dependent_columns(rows: LocalPasses, order: Indices, limits: Limits) -> NullSpace | None:
    """The columns that depend on the columns before them; None if a limit is reached."""
    try:
        return null_space(rows, np.arange(rows.n), order, limits)
    except OutOfTimeError:
        return None


@dataclass(eq=False)
class Recession:
    """The estimates of linear combinations c·β: finite, +∞, −∞, or infinite with either sign.

    Columns that depend linearly on the columns before them are aliased. As in R and Stata, their
    coefficients are 0 in the model that is described here.

    Attributes
    ----------
    rows : LocalPasses
        The weak rows and, below them, the equalities.
    order : array of int
        The columns, in the order that defines which columns are before a column.
    face : Face
        The weak rows that can be separated. Its direction is 0 on aliased columns.
    dependent : NullSpace or None
        For each aliased column, how it depends on the columns before it; None if it is not known.
    budget : StepBudget
        Limits on the searches for signs, which are made when an answer is asked for.
    """

    rows: LocalPasses
    order: Indices
    face: Face
    dependent: NullSpace | None
    budget: StepBudget
    _coefficients: dict[int, Estimate] = field(default_factory=dict)
    _responsible: dict[tuple[int, ...], bool | None] = field(default_factory=dict)

    @property
    def aliased(self) -> list[int]:
        """The columns that depend linearly on the columns before them, as far as they are known."""
        return sorted(self.dependent or {})

    @property
    def kept(self) -> Indices:
        """The columns that are not aliased, in their order."""
        return self.order[~np.isin(self.order, self.aliased)]

    def multiples_of(self, j: int) -> dict[int, int]:
        """The columns that are multiples of column j, with the signs of the factors."""
        return {
            k: 1 if vector[k] * vector[j] < 0 else -1
            for k, vector in (self.dependent or {}).items()
            if {*vector} == {j, k}
        }

    @cached_property
    def span(self) -> ConeSpan:
        """The span of the cone; OutOfTimeError if a limit is reached."""
        return ConeSpan.of(self.rows, self.face.separated, self.kept, self.budget.limits)

    @cached_property
    def _components(self) -> Components | None:
        return self.span.components(self.face.direction, self.budget.limits)

    @property
    def _is_known(self) -> bool:
        """Whether all separated rows and all aliased columns are known."""
        return self.face.complete and self.dependent is not None

    def estimate(self, c: Mapping[int, Fraction]) -> Estimate:
        """Return the estimate of c·β; the entries of c at aliased columns do not count."""
        if not self._is_known:
            return "undecided"
        if not self.face.separated.any():
            return "finite"
        try:
            functional = self.span.functional(c)
            if not functional.on_basis:
                return "finite"
            if self._components is None:
                return "undecided"
            return self._components.estimate(functional, self.budget)
        except OutOfTimeError:
            return "undecided"

    def coefficient(self, j: int) -> Estimate:
        """Return the estimate of β_j."""
        if j not in self._coefficients:
            self._coefficients[j] = self.estimate({j: Fraction(1)})
        return self._coefficients[j]

    def is_responsible(self, columns: Sequence[int]) -> bool | None:
        """Whether removing these columns makes a finite estimate exist; None if it is not known.

        The columns are removed together with the aliased columns. False if a finite estimate exists
        with these columns.
        """
        key = tuple(columns)
        if key not in self._responsible:
            try:
                self._responsible[key] = self._search_responsible(columns)
            except OutOfTimeError:
                self._responsible[key] = None
        return self._responsible[key]

    def _search_responsible(self, columns: Sequence[int]) -> bool | None:
        if not self._is_known:
            return None
        if not self.face.separated.any():
            return False
        if len(columns) == 1 and self._coefficients.get(columns[0]) in ("finite", "either sign"):
            return False
        functionals = [self.span.functional({j: Fraction(1)}) for j in columns]
        functionals = [functional for functional in functionals if functional.on_basis]
        if not functionals:
            return False
        if self._components is None:
            return None
        separated = self._components.separate_where_zero(functionals, self.budget)
        return None if separated is None else not separated

    def responsible_terms(self, terms: Mapping[Hashable, Sequence[int]]) -> list[Hashable] | None:
        """Return the terms whose removal makes a finite estimate exist; None if not known.

        Each term is a list of columns, and is removed alone.
        """
        if not self.face.separated.any():
            return [] if self.face.complete else None
        aliased = {*self.aliased}
        responsible: list[Hashable] = []
        for name, columns in terms.items():
            independent = [j for j in columns if j not in aliased]
            answer = self.is_responsible(independent) if independent else False
            if answer is None:
                return None
            if answer:
                responsible.append(name)
        return responsible
