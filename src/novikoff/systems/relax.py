"""Relaxing an infeasible system: what must give way, with proved bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.names import RELAXATIONS
from novikoff.proofs.system_statement import Arrays, LinearSystem
from novikoff.systems.elastic import exact_least_violation, least_violation
from novikoff.systems.engine import Conflict
from novikoff.systems.fewest_rows import FewestRows
from novikoff.systems.files.builder import as_written
from novikoff.systems.relaxation import Relaxation
from novikoff.systems.relaxation_question import RelaxationQuestion, with_point
from novikoff.systems.solution import Solution, named_rows, reason
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import groups_of, row_name, row_numbers, stated_system
from novikoff.systems.suggested import decide
from novikoff.systems.system import nearest_floats, sorted_multipliers, system_of

_BEYOND_FLOATS = "the numbers grew beyond floats"


def relax(
    A: object,
    c: object = None,
    *,
    by: Literal["rows", "total", "max"] = "rows",
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    keep: object = None,
    signs: bool = False,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    strict: bool | npt.ArrayLike = False,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    budget: float | None = None,
) -> Relaxation:
    """Find what must give way in an infeasible system: fewest rows, or least violation.

    Parameters
    ----------
    A, c, A_eq, c_eq, lower, upper, strict, names, equality_names, variables
        The system, as in `solve`; A may be a model.
    by : "rows", "total" or "max"
        Whether to give up the fewest rows, to minimise the sum of all violations, or the largest
        violation. Strict rows count as weak rows, except with "rows".
    weights : array of shape (n,) or mapping, optional
        Positive numbers: the cost of giving up a row, or a factor on its violation; 1 by default.
        An array has one number for each row of A (of a model: for each row). A mapping has names,
        patterns or groups of rows, as in `solve`.
    keep : mask, row numbers, str or sequence of str, optional
        Rows that must not give way, as in `solve`.
    signs : bool
        Whether bounds at 0, such as x ≥ 0, may give way too.
    budget : float, optional
        The number of seconds after which the best answer so far is returned.

    Returns
    -------
    Relaxation
        The rows that give way, a point, and proved bounds on the least value.

    See Also
    --------
    explain : Find one conflict.

    Examples
    --------
    >>> import novikoff as nv
    >>> A, c = [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -3, 2, -5]  # x ≤ 1, x ≥ 3, y ≤ 2, y ≥ 5
    >>> fewest = nv.relax(A, c)
    >>> fewest.is_least, len(fewest.rows)
    (True, 2)
    >>> print(nv.relax(A, c, by="total"))
    Every point violates the rows by at least 5 in total — proved; the point found violates them \
by 5 in total.
    >>> print(nv.relax(A, c, by="max", keep=[0]))
    Every point violates some row by at least 2 — proved; the point found violates no row by \
more than 2.
    """
    if by not in RELAXATIONS:
        raise ValueError(f"by must be one of {', '.join(RELAXATIONS)}, not {by!r}.")
    seconds = check_budget(budget)
    stated = stated_system(
        A, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, strict=strict, names=names,
        equality_names=equality_names, variables=variables, keep=keep,
    )  # fmt: skip
    return relax_system(stated, by, Limits(seconds=seconds), weights=weights, signs=signs)


def relax_system(
    stated: LinearSystem | Arrays,
    by: Literal["rows", "total", "max"],
    limits: Limits,
    *,
    weights: npt.ArrayLike | Mapping[str, float] | None = None,
    signs: bool = False,
    solution: Solution | None = None,
) -> Relaxation:
    """Relax a system, as `relax` does, that was checked; its solution may be known."""
    system, prices = system_of(stated), _weights(stated, weights, signs)
    solution = solution or solve_system(system, limits)
    if solution.kind == "feasible":
        return Relaxation(
            by, "feasible", solution, most=Fraction(0), w=solution.w, exact_w=solution.exact_w
        )
    question = RelaxationQuestion(system, by, prices, solution, limits)
    try:
        return FewestRows(question).run() if by == "rows" else _least(question, by)
    except (OutOfTimeError, TooLargeError, OverflowError) as error:
        ended = reason(error, limits)
    except KeyboardInterrupt as error:
        limits.interrupt()
        ended = reason(error, limits)
    return question.undecided(ended)


def _weights(
    stated: LinearSystem | Arrays,
    weights: npt.ArrayLike | Mapping[str, float] | None,
    signs: bool,
) -> dict[int, Fraction]:
    """The weight of every row that may give way, by its number."""
    prices = dict.fromkeys((k for k in range(stated.n) if row_name(stated, k)), Fraction(1))
    if isinstance(weights, Mapping):
        for chosen, value in weights.items():
            price = _weight(value)
            prices |= dict.fromkeys(row_numbers(stated, chosen, "weights"), price)
    elif weights is not None:
        given = np.asarray(weights)
        n = len(stated.c) if isinstance(stated, Arrays) else stated.m
        if given.shape != (n,):
            raise ValueError(f"weights must have {n} numbers, one for each row.")
        prices |= {k: _weight(value) for k, value in enumerate(given.tolist()) if k in prices}
    return {
        k: price
        for k, price in prices.items()
        if k not in stated.kept and (signs or "signs" not in groups_of(stated, k))
    }


def _weight(value: Any) -> Fraction:
    number = as_written(value, "a weight")
    if number <= 0:
        raise ValueError(f"weights must be positive numbers, not {value!r}.")
    return number


def _least(question: RelaxationQuestion, by: Literal["total", "max"]) -> Relaxation:
    """Minimise the total or the largest violation."""
    system, limits = question.system, question.limits
    weak = replace(system, strict=np.zeros_like(system.strict))
    found = least_violation(weak, question.weights, by, limits)
    if found is None or found.least < found.most:
        better = exact_least_violation(system.stated, question.weights, by, limits)
        if better is None and found is None:
            return _kept_rows_only(question)
        found = better or found
    if found is None:
        return question.undecided(_BEYOND_FLOATS)
    rows = tuple(question.relaxed_rows(found.point))
    claim = sorted_multipliers(found.multipliers) if found.multipliers else None
    multipliers = () if claim is None else named_rows(system.stated, claim)
    proof = question.certificate(found.least, multipliers=claim)
    return Relaxation(
        by, "relaxed", question.solution, found.least, found.most, rows,
        nearest_floats(found.point), found.point, (), multipliers,
        with_point(proof, found.point, found.most),
    )  # fmt: skip


def _kept_rows_only(question: RelaxationQuestion) -> Relaxation:
    """The answer if no point was found, perhaps because the kept rows contradict each other."""
    system = question.system
    kept = [k for k in range(system.stated.n) if k not in question.weights]
    within = np.isin(system.numbers, kept) | system.mask_of_e
    decided = decide(system, question.limits, within=within, floats=False)
    if isinstance(decided, Conflict):
        return Relaxation(question.by, "infeasible", question.infeasible(decided, system))
    return question.undecided(_BEYOND_FLOATS)
