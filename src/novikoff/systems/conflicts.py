"""Conflicts that share no row: at least one row of each must go (C5 for systems)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
import numpy.typing as npt

from novikoff.core.stops import Limits
from novikoff.systems.solution import NamedRow, NamedSystem, Solution
from novikoff.systems.solve import answer, check_options
from novikoff.systems.statement import ask_arrays
from novikoff.systems.system import split


@dataclass(frozen=True)
class Conflicts:
    """Conflicts without a common row: at least one row of each must go.

    ``complete`` says that the rows without them are feasible; kept rows may be in several.
    """

    solutions: tuple[Solution, ...]
    complete: bool

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[tuple[NamedRow, ...]]:
        return (solution.conflict for solution in self.solutions)

    def __getitem__(self, k: int) -> tuple[NamedRow, ...]:
        return self.solutions[k].conflict


def conflicts(
    A: object,
    c: object,
    *,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    strict: bool | npt.ArrayLike = False,
    names: Sequence[str] | None = None,
    keep: object = None,
    limit: int | None = None,
    budget: float | None = None,
) -> Conflicts:
    """Find conflicts that share no row: at least so many rows must go (C5 for systems).

    Parameters
    ----------
    A, c, A_eq, c_eq, lower, upper, strict, names, keep, budget
        As in `solve`.
    limit : int, optional
        The most conflicts to look for.

    Examples
    --------
    >>> import novikoff as nv
    >>> A, c = [[1, 0], [-1, 0], [0, 1], [0, -1]], [0, -1, 2, -3]
    >>> found = nv.conflicts(A, c)
    >>> sorted([row.name for row in conflict] for conflict in found), found.complete
    ([['row 0', 'row 1'], ['row 2', 'row 3']], True)
    """
    seconds = check_options("any", "auto", budget)
    asked = ask_arrays(A, c, A_eq, c_eq, lower, upper, strict, names, keep, seconds)
    return conflicts_of(asked, Limits(seconds=seconds), limit)


def conflicts_of(asked: NamedSystem, limits: Limits, limit: int | None = None) -> Conflicts:
    """The same for a system that has been checked."""
    whole = isinstance(limit, Integral) and not isinstance(limit, bool)
    if limit is not None and not (whole and limit >= 1):
        raise ValueError(f"limit must be a whole number from 1 on, not {limit!r}.")
    fixed = asked.system.free & (asked.system.numbers >= asked.system.first_bound)
    system, found = split(asked.system, fixed), list[Solution]()  # one of two bounds may go alone
    left = np.ones(system.passes.n, dtype=np.bool_)
    while limit is None or len(found) < limit:
        answered = answer(replace(asked, system=system), limits, within=left)
        if answered.kind != "infeasible":
            return Conflicts(tuple(found), answered.kind == "feasible")
        found.append(replace(answered, asked=asked))
        blamed = [row for row in answered.rows if int(system.numbers[row]) not in asked.kept]
        if not blamed:  # the kept rows contradict each other
            break
        left[blamed] = False
    return Conflicts(tuple(found), False)
