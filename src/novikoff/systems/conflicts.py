"""Conflicts that share no row: at least one row of each must go (C5 for systems)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError
from novikoff.systems.engine import Candidate, Point, decide
from novikoff.systems.solution import NamedRow, Solution
from novikoff.systems.solve import check_budget, infeasible, without_superfluous
from novikoff.systems.statement import stated_arrays
from novikoff.systems.system import System, split, system_of


@dataclass(frozen=True)
class Conflicts:
    """Conflicts without a common row: at least one row of each must go.

    Kept rows may be in several conflicts: then at least one other row of each must go. Where the
    kept rows contradict each other, the only conflict is one of theirs. ``complete`` says that the
    system without the rows of all conflicts is feasible, even if the kept rows stay.
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
    seconds = check_budget(budget)
    whole = isinstance(limit, Integral) and not isinstance(limit, bool)
    if limit is not None and not (whole and limit >= 1):
        raise ValueError(f"limit must be a whole number from 1 on, not {limit!r}.")
    system = system_of(stated_arrays(A, c, A_eq, c_eq, lower, upper, strict, names, keep))
    return conflicts_of(system, Limits(seconds=seconds), limit)


def conflicts_of(system: System, limits: Limits, limit: int | None = None) -> Conflicts:
    """The same for a system that has been checked."""
    halves = split(system, system.fixed)  # one of two bounds may go alone
    found: list[Solution] = []
    left = np.ones(halves.passes.n, dtype=np.bool_)
    kept = np.isin(halves.numbers, sorted(system.stated.kept))
    try:
        while limit is None or len(found) < limit:
            candidate = Candidate()
            decided = decide(halves, limits, within=left, floats=False, candidate=candidate)
            if isinstance(decided, Point):
                return Conflicts(tuple(found), True)
            few, witnesses = without_superfluous(halves, decided, limits, left)
            conflict = infeasible(halves, few, witnesses)
            conflict.system, conflict.seconds = system, limits.seconds
            conflict.n_steps = candidate.n_steps
            blamed = few.rows[~kept[few.rows]]
            if len(blamed) == 0:  # the kept rows contradict each other, whatever else goes
                return Conflicts((conflict,), False)
            found.append(conflict)
            left[blamed] = False
    except (OutOfTimeError, OverflowError):
        pass
    except KeyboardInterrupt:
        limits.interrupted = True
    return Conflicts(tuple(found), False)
