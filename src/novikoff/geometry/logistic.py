"""Which coefficients of a logistic regression have a finite estimate, given a verdict.

The verdict has the rows that can be separated, and weights that separate them. All else follows
from these rows by `novikoff.geometry.recession`, which serves all models.

References
----------
Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in logistic
regression models. *Biometrika* 71(1), 1-10.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, compact
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry.cone import Face
from novikoff.geometry.passes import LocalPasses
from novikoff.geometry.recession import recession_of_face
from novikoff.geometry.recession_span import Estimate

INTERCEPT = "(intercept)"
_OPPOSITE: dict[Estimate, Estimate] = {"+inf": "-inf", "-inf": "+inf"}


class Estimates(NamedTuple):
    """The estimate of each coefficient, and the columns that are responsible for separation.

    A column is responsible if the estimates are finite after it is removed. ``responsible`` is None
    if it was not determined for all columns.
    """

    coefficients: Mapping[Hashable, Estimate]
    responsible: list[Hashable] | None

    def negated(self) -> Estimates:
        """Return the estimates for exchanged classes, which have the opposite signs."""
        return self._replace(
            coefficients={j: _OPPOSITE.get(known, known) for j, known in self.coefficients.items()}
        )


def logistic_estimates(
    problem: Problem,
    columns: Columns,
    w: Sequence[Fraction] | None,
    separated: Indices,
    limits: Limits,
) -> Estimates:
    """Return the estimate of each coefficient of a logistic regression.

    Parameters
    ----------
    problem : Problem
        The rows of a problem whose verdict is known.
    columns : Columns
        The names of the columns. The first level of each category column is the reference level,
        to which the other levels are compared. If there is no intercept, the first category column
        has no reference level. If there is an intercept, the first constant column is treated as
        the intercept.
    w : sequence of Fraction or None
        Weights with ⟨a_i, w⟩ > 0 on the separated rows; None if there are none.
    separated : array of int
        The rows that can be separated.
    limits : Limits
        Limits on the search. Estimates that are not found within the limits are "undecided".

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    >>> problem = signed_problem(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> w = [Fraction(1), Fraction(0), Fraction(0)]
    >>> logistic_estimates(problem, Columns(["a", "b"]), w, np.array([3]), Limits()).coefficients
    {'a': '+inf', 'b': 'finite', '(intercept)': 'finite'}
    """
    if columns.groups:  # category columns have mostly zeros
        problem = replace(problem, X=compact(problem.X))
    rows = LocalPasses(problem)
    d, references = rows.d, _references(columns, problem.fit_intercept)
    first = [d] if problem.fit_intercept else []
    others = [j for j in range(d) if j not in references]
    mask = np.zeros(rows.n, dtype=np.bool_)
    mask[separated] = True
    direction = [Fraction(0)] * rows.p if w is None else [*w[: rows.p]]
    order = np.array([*first, *others, *references], dtype=np.int64)
    face = Face(mask, direction, complete=True)
    recession = recession_of_face(rows, order, face, limits)
    aliased = {*recession.aliased}
    factors = recession.multiples_of(d) if problem.fit_intercept else {}
    grouped = {j for columns_of_group in columns.groups.values() for j in columns_of_group}
    constant = next((j for j in factors if j not in grouped), None)

    def estimate(j: int) -> Estimate:
        if j in references:
            return "reference"
        if j == constant:
            of_intercept = recession.coefficient(d)
            return of_intercept if factors[j] > 0 else _OPPOSITE.get(of_intercept, of_intercept)
        return "aliased" if j in aliased else recession.coefficient(j)

    names = dict(zip(range(d), columns.names, strict=True))
    estimates = {name: estimate(j) for j, name in names.items()}
    if problem.fit_intercept and constant is None:
        name = INTERCEPT
        while name in estimates:  # a column may have this name
            name = f"({name})"
        estimates[name] = recession.coefficient(d)
    terms: dict[Hashable, list[int]] = {}
    owner = {j: name for name, columns_of_group in columns.groups.items() for j in columns_of_group}
    for j in range(d):
        if j != constant:
            terms.setdefault(owner.get(j, names[j]), []).append(j)
    return Estimates(estimates, recession.responsible_terms(terms))


def _references(columns: Columns, fit_intercept: bool) -> list[int]:
    """The reference level of each category column."""

    def levels() -> Iterator[int]:
        for place, columns_of_factor in enumerate(columns.groups.values()):
            if fit_intercept or place > 0:
                yield columns_of_factor[0]

    return [*levels()]
