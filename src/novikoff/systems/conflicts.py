"""Conflicts of an infeasible system: irreducible infeasible subsets, and several of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Mask
from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.sentences import KEPT_ROWS_CONTRADICT, counted, first_few, html_table
from novikoff.systems.engine import Candidate, Conflict, Point
from novikoff.systems.solution import NamedRow, Solution, has_integers
from novikoff.systems.statement import stated_system
from novikoff.systems.suggested import decide
from novikoff.systems.system import System, split_equalities, system_of


@dataclass(frozen=True)
class Conflicts:
    """Several conflicts that share no row: at least one row of each must be given up.

    A kept row may be in several conflicts. Of each of these conflicts, at least one row that is not
    kept must be given up. If the kept rows contradict each other, the only conflict is among them.

    Attributes
    ----------
    solutions : tuple of Solution
        One infeasible solution for each conflict, with its certificate.
    complete : bool
        Whether the system is feasible without the rows of all conflicts, except kept rows.
    relaxed : bool
        Whether the model has integer variables, so that the answer is about its relaxation. The
        conflicts are conflicts of the model, too; ``complete`` is about the relaxation only.
    """

    solutions: tuple[Solution, ...]
    complete: bool
    relaxed: bool = False

    @property
    def among_kept(self) -> bool:
        """Whether kept rows contradict each other, so that giving up other rows cannot help."""
        return any(all(row.kept for row in conflict) for conflict in self)

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[tuple[NamedRow, ...]]:
        return (solution.conflict for solution in self.solutions)

    def __getitem__(self, k: int) -> tuple[NamedRow, ...]:
        return self.solutions[k].conflict

    def __str__(self) -> str:
        rest = f"{'the relaxation of ' if self.relaxed else ''}the rest"
        if not self.solutions:
            found = f"{'the relaxation' if self.relaxed else 'the system'} is feasible"
            return f"No conflict: {found}." if self.complete else "No conflict was found."
        count = counted(len(self), "conflict")
        listed = "; ".join(
            first_few([row.name for row in conflict], len(conflict)) for conflict in self
        )
        enough = f" Without these rows, {rest} is feasible." if self.complete else ""
        if self.among_kept:
            enough = f" {KEPT_ROWS_CONTRADICT.capitalize()}."
        return f"{count}{' without a common row' if len(self) > 1 else ''}: {listed}.{enough}"

    def __repr__(self) -> str:
        return f"<Conflicts: {self}>"

    def _repr_html_(self) -> str:
        """The answer as a table, for notebooks."""
        return html_table([("answer", str(self))])


def conflicts(
    A: object,
    c: object = None,
    *,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    strict: bool | npt.ArrayLike = False,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    keep: object = None,
    limit: int | None = None,
    budget: float | None = None,
) -> Conflicts:
    """Find conflicts that share no row, so that at least one row of each must be given up.

    Each conflict is an irreducible infeasible subset (IIS). The conflicts are found one after the
    other, each among the rows that are not in an earlier conflict. So their number is a lower bound
    on the number of rows that must be given up, but there may be other conflicts.

    Parameters
    ----------
    A, c, A_eq, c_eq, lower, upper, strict, names, equality_names, variables, keep, budget
        As in `solve`.
    limit : int, optional
        The largest number of conflicts to look for.

    Returns
    -------
    Conflicts
        The conflicts; iterating over them yields tuples of `NamedRow`.

    See Also
    --------
    solve : Decide the system, and find one conflict.
    relax : Find the fewest rows to give up, with a proved bound.

    Examples
    --------
    >>> import novikoff as nv
    >>> A, c = [[1, 0], [-1, 0], [0, 1], [0, -1]], [0, -1, 2, -3]
    >>> conflicts = nv.conflicts(A, c)
    >>> sorted([row.name for row in conflict] for conflict in conflicts), conflicts.complete
    ([['row 0', 'row 1'], ['row 2', 'row 3']], True)
    """
    seconds = check_budget(budget)
    whole = isinstance(limit, Integral) and not isinstance(limit, bool)
    if limit is not None and not (whole and limit >= 1):
        raise ValueError(f"limit must be a whole number from 1 on, not {limit!r}.")
    stated = stated_system(
        A, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, strict=strict, names=names,
        equality_names=equality_names, variables=variables, keep=keep,
    )  # fmt: skip
    system = system_of(stated)
    return conflicts_of(system, Limits(seconds=seconds), limit)


def conflicts_of(system: System, limits: Limits, limit: int | None = None) -> Conflicts:
    """Find conflicts as `conflicts` does, in a system that was checked."""
    halves = split_equalities(system, system.fixed)  # one of two equal bounds may be blamed alone
    relaxed = has_integers(system.stated)
    conflicts: list[Solution] = []
    rows_left = np.ones(halves.passes.n, dtype=np.bool_)
    is_kept = np.isin(halves.numbers, sorted(system.stated.kept))
    try:
        while limit is None or len(conflicts) < limit:
            candidate = Candidate()
            decided = decide(halves, limits, within=rows_left, floats=False, candidate=candidate)
            if isinstance(decided, Point):
                return Conflicts(tuple(conflicts), True, relaxed)
            smallest, witnesses = irreducible(halves, decided, limits, rows_left)
            conflict = infeasible_solution(halves, smallest, witnesses)
            conflict.system, conflict.seconds = system, limits.seconds
            conflict.n_steps = candidate.n_steps
            blamed = smallest.rows[~is_kept[smallest.rows]]
            if len(blamed) == 0:  # the kept rows contradict each other by themselves
                return Conflicts((conflict,), False, relaxed)
            conflicts.append(conflict)
            rows_left[blamed] = False
    except (OutOfTimeError, OverflowError):
        pass
    except KeyboardInterrupt:
        limits.interrupt()
    return Conflicts(tuple(conflicts), False, relaxed)


def irreducible(
    system: System, conflict: Conflict, limits: Limits, within: Mask | None = None
) -> tuple[Conflict, dict[int, list[Fraction]]]:
    """Remove the rows of a conflict that it does not need if all kept rows hold.

    Parameters
    ----------
    system : System
        The homogeneous rows.
    conflict : Conflict
        The conflict. Without kept rows it is irreducible already.
    limits : Limits
        If these limits are reached, the conflict is returned unchanged, without witnesses.
    within : mask, optional
        The rows among which the conflict was found; by default all rows.

    Returns
    -------
    conflict, witnesses
        The conflict, and for each row that is blamed a witness: a vector (w, t) that satisfies all
        kept rows and all other blamed rows.
    """
    if not system.stated.kept:
        return conflict, {}
    is_kept = np.isin(system.numbers, sorted(system.stated.kept))
    is_kept = is_kept if within is None else is_kept & within
    blamed = [i for i in conflict.rows.tolist() if not is_kept[i]]
    witnesses: dict[int, list[Fraction]] = {}
    for i in list(blamed):
        if i not in blamed:
            continue
        others = system.passes.row_set(np.array([k for k in blamed if k != i], dtype=np.int64))
        try:
            without = decide(system, limits, within=is_kept | others, floats=False)
        except OutOfTimeError:  # a conflict is known, but some of its rows may not be needed
            return conflict, {}
        if isinstance(without, Point):
            witnesses[i] = without.v
        else:
            conflict = without
            blamed = [k for k in conflict.rows.tolist() if not is_kept[k]]
    return conflict, {i: witnesses[i] for i in blamed}


def infeasible_solution(
    system: System, contradiction: Conflict, witnesses: dict[int, list[Fraction]]
) -> Solution:
    """The `Solution` of a system that has a conflict, with its certificate."""
    kept = system.stated.kept
    multipliers = dict(zip(contradiction.rows.tolist(), contradiction.multipliers, strict=True))
    conflict = system.stated_multipliers(multipliers.keys(), multipliers.values())
    claims: dict[str, Any] = {}
    if witnesses:
        points = {
            system.stated_number(i, multipliers[i]): system.certificate_vector(v)
            for i, v in witnesses.items()
        }
        claims["kept"] = tuple(sorted(kept))
        claims["witnesses"] = tuple(points[k] for k in conflict.rows if k not in kept)
    elif contradiction.weak is not None:
        claims["point"] = system.certificate_vector(contradiction.weak)
    proof = certificate_of(system, "infeasible", conflict=conflict, irreducible=True, **claims)
    return Solution("infeasible", system, proof=proof)


def certificate_of(system: System, answer: str, **claims: Any) -> SystemCertificate:
    """A certificate for the system as it was stated."""
    stated = system.stated
    return SystemCertificate(answer, stated.n, stated.d, stated.sha256(), **claims)
