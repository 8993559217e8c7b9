"""Points and conflicts that a float solver suggests, proved in exact arithmetic.

HiGHS says in floats whether a sparse system has a solution. Its answer is not believed; it is used.
If the system seems feasible, a point near a vertex is proved to satisfy every row
(`suggested_points`); otherwise a conflict is suggested and proved (`suggested_conflicts`). If a
suggestion cannot be proved, there is no answer, and the projection (`engine`) decides. Before
anything else, `trivial_conflict` looks for a row that contradicts the bounds of its variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.core.rows import Mask
from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError, check_time
from novikoff.geometry.suggestion import FloatOptimum, NoOptimum
from novikoff.systems.engine import Candidate, Conflict, Point, point_or_conflict
from novikoff.systems.float_program import SHARE, FloatProgram
from novikoff.systems.suggested_conflicts import suggested_conflict, trivial_conflict
from novikoff.systems.suggested_points import float_point_near, suggested_point
from novikoff.systems.system import System

# A system with fewer variables is projected at once.
_LEAST_VARIABLES = 40
# The first vertex has this slack on each inequality, whose row has a length from 1/2 to 1. It is
# larger than the tolerance of HiGHS, 1e-7.
_SLACK = 2.0**-20


def decide(
    system: System,
    limits: Limits,
    *,
    within: Mask | None = None,
    floats: bool = True,
    candidate: Candidate | None = None,
) -> Point | Conflict:
    """Find a point or a conflict: by a suggestion where this is faster, else by projection.

    The parameters are those of `engine.point_or_conflict`. Two callers use the projection itself:
    the nearest point is what it computes, and each step of Newton's method starts it from the rows
    of the step before.
    """
    candidate = candidate or Candidate()
    if is_for_suggestions(system):
        decision = suggested_decision(system, limits, within=within, candidate=candidate)
        if decision is not None:
            return decision
    return point_or_conflict(system, limits, within=within, floats=floats, candidate=candidate)


def is_for_suggestions(system: System) -> bool:
    """Whether a suggestion is probably faster than the projection: for sparse or wide systems.

    The projection keeps a dense factor of its active rows, so that its time depends on the number
    of variables; a float solver's depends on the number of entries. Seconds measured on one core,
    suggestion and projection: 35 dense variables, 0.02 and 0.01; 2,000 × 100, dense, 0.4 and 0.05;
    3,000 × 300 with 30 entries in a row, 1.7 and 0.2; 231 × 261 with 3 entries in a row, 0.01 and
    0.06; 331 × 457 with 8, 0.02 and 0.3; 661 × 914 with 8, 0.05 and more than 10. Below 40
    variables the projection takes milliseconds.
    """
    p = system.p
    if p < _LEAST_VARIABLES:
        return False
    rows = np.flatnonzero(system.numbers[:-1] < system.stated.m)
    if len(rows) <= p // 4:
        return True
    X: Any = system.passes.X
    if isinstance(X, np.ndarray):
        entries = int(np.count_nonzero(X[rows]))
    else:
        entries = int(np.diff(X.indptr)[rows].sum())
    return entries <= len(rows) * (4 + p // 16)


def suggested_decision(
    system: System,
    limits: Limits,
    *,
    within: Mask | None = None,
    candidate: Candidate | None = None,
) -> Point | Conflict | None:
    """Find a point or a conflict by suggestions; None if no suggestion can be proved."""
    part, candidate = limits.part(SHARE), candidate or Candidate()
    try:
        with np.errstate(all="ignore"):
            program = FloatProgram.of(system, within)
            if program is None:
                return None
            conflict = trivial_conflict(program, part)
            if conflict is not None:
                return conflict
            inside = None if program.equal.any() else program.vertex(part, _SLACK)
            if isinstance(inside, FloatOptimum):
                point = float_point_near(program, inside.x, part)
                if point is not None:
                    return point
            answer = program.vertex(part)
            if isinstance(answer, NoOptimum):
                return suggested_conflict(program, part, candidate)
            if answer is not None:
                candidate.w = answer.x
                point = suggested_point(program, answer.x, part)
                return point or suggested_conflict(program, part, Candidate())
    except (OutOfTimeError, OverflowError, ZeroDivisionError):
        check_time(limits)
    return None
