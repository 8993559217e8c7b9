"""Sparse systems of linear equations, solved exactly.

Objective
    Find x with Σ_j row_i[j]·x_j = right_i, in rational numbers.
Input
    Sparse integer rows in the order of their importance, and a value for each unknown that the
    equations leave open.
Output
    The values, or None if the equations contradict each other or leave an unknown open that must
    be determined.

The equations of a basis of a linear program are almost triangular. So an equation with one unknown
is solved at once, and an unknown in only one equation is determined last, from this equation. The
other equations, the nucleus, are often few. An elimination modulo a prime selects independent
equations among them, and a p-adic solver (python-flint) solves these.

References
----------
Dixon, J. D. (1982). Exact solution of linear equations using p-adic expansions. *Numerische
Mathematik* 40, 137-141.

Orchard-Hays, W. (1968). *Advanced Linear-Programming Computing Techniques*. McGraw-Hill. The
triangular parts of a basis.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from novikoff.core.stops import Limits
from novikoff.geometry.linear_algebra import elimination_seconds, independent_columns
from novikoff.geometry.passes import check_time

# A sparse row of integers, by column.
SparseRow: TypeAlias = "dict[int, int]"

# A prime just below 2⁶¹. A rank modulo a prime is at most the rank over the rational numbers.
_PRIME = (1 << 61) - 1
# The nucleus is stored densely; it may have at most this many entries.
_MAX_NUCLEUS = 1 << 24
# The limits are checked after this many steps of the elimination.
_STEPS_PER_CHECK = 1 << 12


def solve_sparse(
    rows: Sequence[SparseRow],
    right: Sequence[Fraction],
    limits: Limits,
    *,
    required: int | None = None,
    given: Mapping[int, Fraction] | None = None,
    preferred: Sequence[int] = (),
) -> dict[int, Fraction] | None:
    """Solve sparse equations exactly.

    Parameters
    ----------
    rows, right
        The equations. The unknowns are the columns that occur in the rows.
    limits : Limits
        OutOfTimeError is raised when they are reached.
    required : int, optional
        The number of first equations that must hold; by default all of them. The other equations
        are only used where they are independent of those before them.
    given : mapping, optional
        The values of unknowns that the equations leave open. By default no unknown may be left
        open: then a solution is unique.
    preferred : sequence of int
        Unknowns that should be determined by the equations, rather than given, in this order.

    Returns
    -------
    dict or None
        The value of each unknown.

    Examples
    --------
    >>> solve_sparse([{0: 2, 1: 1}, {0: 1, 1: -1}], [Fraction(5), Fraction(1)], Limits())
    {0: Fraction(2, 1), 1: Fraction(1, 1)}
    >>> solve_sparse([{0: 1}, {0: 1}], [Fraction(1), Fraction(2)], Limits()) is None
    True
    >>> solve_sparse([{0: 1, 1: 1}], [Fraction(1)], Limits()) is None
    True
    """
    equations = _Equations(rows, right, limits, len(rows) if required is None else required)
    return equations.solve(given, {j: k for k, j in enumerate(preferred)})


class _Equations:
    """Equations in elimination: the unknowns that are left in each, and what is known."""

    def __init__(
        self, rows: Sequence[SparseRow], right: Sequence[Fraction], limits: Limits, required: int
    ) -> None:
        self.rows = [dict(row) for row in rows]
        self.right = list(right)
        self.limits, self.required = limits, required
        self.places: dict[int, set[int]] = {}  # the equations of each unknown
        for i, row in enumerate(self.rows):
            for j in row:
                self.places.setdefault(j, set()).add(i)
        self.known: dict[int, Fraction] = {}
        self.postponed: list[tuple[int, int]] = []  # an equation, and the unknown it determines
        self.open: set[int] = set()  # unknowns in no equation that is left

    def solve(
        self, given: Mapping[int, Fraction] | None, preference: Mapping[int, int]
    ) -> dict[int, Fraction] | None:
        """Eliminate, solve the nucleus, and determine the postponed unknowns."""
        singles = [i for i, row in enumerate(self.rows) if len(row) <= 1]
        if not self._solve_singles(singles):
            return None
        self._postpone(preference)
        if not self._solve_nucleus(given, preference):
            return None
        for j in self.open:
            if given is None:
                return None
            self.known.setdefault(j, given[j])
        for i, j in reversed(self.postponed):
            row = self.rows[i]
            rest = sum((value * self.known[k] for k, value in row.items() if k != j), Fraction(0))
            self.known[j] = (self.right[i] - rest) / row[j]
        return self.known

    def _check(self, step: int) -> None:
        if step % _STEPS_PER_CHECK == 0:
            check_time(self.limits)

    def _solve_singles(self, singles: list[int]) -> bool:
        """Solve equations with one unknown, important ones first; False if one cannot hold."""
        heapq.heapify(singles)
        step = 0
        while singles:
            i = heapq.heappop(singles)
            row, step = self.rows[i], step + 1
            self._check(step)
            if len(row) == 0:
                if self.right[i] != 0 and i < self.required:
                    return False
                continue
            ((j, value),) = row.items()
            self.known[j] = solution = self.right[i] / value
            for k in self.places.pop(j):
                self.right[k] -= self.rows[k].pop(j) * solution
                if len(self.rows[k]) <= 1:
                    heapq.heappush(singles, k)
        return True

    def _postpone(self, preference: Mapping[int, int]) -> None:
        """Postpone unknowns that are in one equation only, together with this equation."""
        last = len(preference)
        queue = [(preference.get(j, last), j) for j, at in self.places.items() if len(at) == 1]
        heapq.heapify(queue)
        step = 0
        while queue:
            _, j = heapq.heappop(queue)
            step += 1
            self._check(step)
            at = self.places.get(j)
            if at is None or len(at) != 1:
                continue
            (i,) = at
            self.postponed.append((i, j))
            del self.places[j]
            for k in self.rows[i]:
                if k == j:
                    continue
                self.places[k].discard(i)
                if len(self.places[k]) == 1:
                    heapq.heappush(queue, (preference.get(k, last), k))
                elif len(self.places[k]) == 0:
                    del self.places[k]
                    self.open.add(k)

    def _solve_nucleus(
        self, given: Mapping[int, Fraction] | None, preference: Mapping[int, int]
    ) -> bool:
        """Solve the equations that are left."""
        if not self.places:
            return True
        import flint

        last = len(preference)
        columns = sorted(self.places, key=lambda j: (preference.get(j, last), j))
        numbers = sorted(set().union(*self.places.values()))
        if len(columns) * len(numbers) > _MAX_NUCLEUS:
            check_time(self.limits, math.inf)
            return False
        place = {j: k for k, j in enumerate(columns)}
        entries = []
        for i in numbers:
            line = [0] * len(columns)
            for j, value in self.rows[i].items():
                line[place[j]] = value
            entries.append(line)
        check_time(self.limits, elimination_seconds(len(numbers), len(columns)))
        M = flint.fmpz_mat(entries)
        chosen_rows = independent_columns(flint.nmod_mat(M.transpose(), _PRIME))
        dependent = sorted({*range(len(numbers))} - {*chosen_rows})
        square = [entries[k] for k in chosen_rows]
        chosen_columns = independent_columns(flint.nmod_mat(flint.fmpz_mat(square), _PRIME))
        others = sorted({*range(len(columns))} - {*chosen_columns})
        if others and given is None:
            return False
        for k in others:
            self.known[columns[k]] = (given or {})[columns[k]]
        rest = [self._rest(numbers[k]) for k in chosen_rows]
        over = math.lcm(*(value.denominator for value in rest))
        check_time(self.limits, elimination_seconds(len(chosen_rows), len(chosen_columns)))
        left = flint.fmpz_mat([[line[k] for k in chosen_columns] for line in square])
        whole = [[value.numerator * (over // value.denominator)] for value in rest]
        solution = left.solve(flint.fmpz_mat(whole))
        for place_of_value, k in enumerate(chosen_columns):
            value = solution[place_of_value, 0]
            self.known[columns[k]] = Fraction(int(value.p), int(value.q) * over)
        # Equations that depend on others modulo the prime must hold nevertheless.
        return all(self._rest(numbers[k]) == 0 for k in dependent if numbers[k] < self.required)

    def _rest(self, i: int) -> Fraction:
        """The right side of an equation, minus the terms that are known."""
        terms = (value * self.known[j] for j, value in self.rows[i].items() if j in self.known)
        return self.right[i] - sum(terms, Fraction(0))
