"""Solving systems of linear inequalities.

`solve` first tries the point that was given. For a sparse or wide system, a float solver then
suggests a point or a conflict, which exact arithmetic proves (`suggested`). Otherwise, and if the
proof fails, `solve` projects in floats; the point that it finds is verified, or nudged until it
satisfies every row. Last, the same projection in rational numbers decides. If the user names a
method, the method proposes a point or multipliers instead, and exact arithmetic verifies the
proposal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Vector, stacked
from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.names import POINTS
from novikoff.proofs import exact
from novikoff.proofs.system_certificate import Radius
from novikoff.proofs.system_statement import Arrays
from novikoff.sentences import counted
from novikoff.systems.conflicts import certificate_of, infeasible_solution, irreducible
from novikoff.systems.distances import signed_radius
from novikoff.systems.engine import (
    Candidate,
    Conflict,
    Point,
    nudged,
    point_or_conflict,
)
from novikoff.systems.files.builder import as_written
from novikoff.systems.matrices import dense
from novikoff.systems.solution import INTERRUPTED, Solution, named_row, reason
from novikoff.systems.statement import check_vector, loosened, stated_system
from novikoff.systems.suggested import decide, is_for_suggestions
from novikoff.systems.suggested_interior import find_relative_interior
from novikoff.systems.system import System, dehomogenised, nearest_floats, system_of

# A method that the user names may take this share of the time; the rest is for the proof.
_METHOD_SHARE = 0.75
# If a ball is known, the interval of its radius has this relative width.
_NARROW_SHARE = 2.0**-32


def solve(
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
    w0: npt.ArrayLike | None = None,
    point: str = "any",
    method: str | Callable[..., Any] = "auto",
    tolerance: float = 0.0,
    budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """Find a point with A w ≤ c, or the rows that make it infeasible, with proof.

    Parameters
    ----------
    A : array, data frame or sparse matrix of shape (n, p), or a model
        The coefficients of the rows. Floats are taken as exact numbers. None if there are only
        equalities. A model of `read_system`, or one that `explain` takes, has all rows and bounds;
        then c and the other parts of a system are left out.
    c : array of shape (n,) or None
        The right sides; a row with +inf is ignored. With None and ``strict=True``, the system is
        A w > 0.
    A_eq, c_eq : optional
        Equalities A_eq w = c_eq.
    lower, upper : array of shape (p,) or number, optional
        Bounds on the variables; ±inf means no bound.
    strict : bool or mask of shape (n,)
        The rows with < instead of ≤.
    names : sequence of str, optional
        The names of the rows; by default the index of a data frame.
    equality_names : sequence of str, optional
        The names of the equalities; by default the index of a data frame.
    variables : sequence of str, optional
        The names of the variables; by default the columns of a data frame.
    keep : mask of shape (n,), row numbers, str or sequence of str, optional
        Rows that may not be blamed: the conflict is irreducible among the other rows. A text is the
        name of a row, an equality or a bound ("upper bound of x"), a pattern ("law_*"), or a group:
        "rows", "equalities", "bounds", or "signs" (bounds at 0, such as x ≥ 0).
    w0 : array of shape (p,), optional
        The point to start from, by default the origin. ``point="nearest"`` means nearest to it.
    point : "any", "nearest", "interior" or "chebyshev"
        Which solution to return. "nearest" is the exact solution nearest to ``w0``, or any solution
        if strict rows exclude the nearest. "interior" is a point that meets a row with equality
        only if every solution does. "chebyshev" is the Chebyshev centre, the centre of a largest
        ball of solutions, or a point in the interior if there are balls of any size.
    method : str or callable
        "auto", or the name of a method of `novikoff.systems.methods`. The proposal of a method is
        verified; if it proves nothing, the answer is "undecided". ``point="nearest"`` needs "auto".
    tolerance : float
        How far a point may violate each row and each bound, as solvers with tolerances allow; 0 by
        default. Such an answer is exact, but about the loosened system, and has no certificate.
    budget : float, optional
        The number of seconds after which the best answer so far is returned.
    trace : bool
        Whether a method records the quantities of its theorem.

    Returns
    -------
    Solution
        ``kind`` is "feasible", "infeasible" or "undecided". Ctrl-C returns the best answer so far.

    See Also
    --------
    conflicts : Find several conflicts that share no row.
    linear_program : Find the best value of an objective.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.solve([[1.0, 1.0], [-1.0, 0.0]], [4.0, -1.0], lower=0.0, point="nearest").w
    array([1., 0.])
    >>> answer = nv.solve([[1, 1], [-1, 0], [0, -1]], [1, -1, -1], names=["money", "tea", "bread"])
    >>> print(answer)
    Infeasible, proved: money, tea and bread contradict each other, and no fewer of them do
        (an irreducible infeasible subset, IIS).
    >>> [str(row.multiplier) for row in answer.conflict]
    ['1', '1', '1']
    """
    if point not in POINTS:
        raise ValueError(f"point must be one of {', '.join(POINTS)}, not {point!r}.")
    if not (isinstance(method, str) or callable(method)):
        raise ValueError(f"method must be a name or a function, not {method!r}.")
    if point == "nearest" and method != "auto":
        raise ValueError(
            'point="nearest" needs method="auto": the other methods propose any point.'
        )
    seconds = check_budget(budget)
    stated = stated_system(
        A, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, strict=strict, names=names,
        equality_names=equality_names, variables=variables, keep=keep,
    )  # fmt: skip
    allowed = check_tolerance(tolerance)
    if allowed:
        stated = loosened(stated, allowed)
    system = system_of(stated)
    start = None if w0 is None else check_vector(w0, system.p, "w0", "variable", finite=True)
    limits = Limits(seconds=seconds)
    return solve_system(system, limits, w0=start, point=point, method=method, trace=trace)


def check_tolerance(tolerance: object) -> Fraction:
    """The tolerance as an exact number: the decimal that Python prints; ValueError if negative."""
    try:
        allowed = as_written(tolerance, "tolerance")
    except (TypeError, ValueError):
        allowed = Fraction(-1)
    if allowed < 0:
        raise ValueError(f"tolerance must be a number that is at least 0, not {tolerance!r}.")
    return allowed


def solve_system(
    system: System,
    limits: Limits,
    *,
    w0: Vector | None = None,
    point: str = "any",
    method: str | Callable[..., Any] = "auto",
    trace: bool = False,
) -> Solution:
    """Solve a system, as `solve` does, that was checked."""
    candidate = Candidate()
    ended = ""
    solution: Solution | None = None
    try:
        with np.errstate(all="ignore"):  # floats that overflow prove nothing
            decision: Point | Conflict | None
            if method == "auto":
                decision = _find(system, w0, point, limits, candidate)
            else:
                decision = _propose(system, method, w0, limits, trace, candidate)
            if isinstance(decision, Conflict):
                solution = infeasible_solution(system, *irreducible(system, decision, limits))
            elif decision is not None:
                solution = _feasible_solution(system, decision, point, limits)
                solution.point_found &= not candidate.excluded
            else:
                ended = f"the method ended after {counted(candidate.n_steps, 'step')}"
    except KeyboardInterrupt:
        limits.interrupt()
    except (OutOfTimeError, TooLargeError, OverflowError) as error:
        ended = reason(error, limits)
    if solution is None:
        ended = INTERRUPTED if limits.interrupted else ended
        away = _least_distance(system, candidate.rows, candidate.multipliers)
        solution = Solution("undecided", system, candidate.w, ended=ended, no_point_within=away)
        numbers = system.numbers[candidate.suspected].tolist()
        solution.suspected = tuple(named_row(system.stated, number) for number in numbers)
    solution.n_steps, solution.trace = candidate.n_steps, candidate.trace
    solution.seconds = limits.seconds
    return solution


def _find(
    system: System, w0: Vector | None, point: str, limits: Limits, candidate: Candidate
) -> Point | Conflict:
    """Find a point or a conflict: the point that was given, or by `decide`."""
    start: list[Fraction] = []
    if w0 is not None or point == "nearest":
        start = system.homogeneous([0.0] * system.p if w0 is None else w0.tolist())
    if w0 is not None and point in ("any", "nearest") and system.holds(start, limits):
        return Point(start, floats=True)
    if point == "nearest":
        moved = system if w0 is None else system.with_right(system.slack(start[:-1], limits))
        weak = replace(moved, strict=np.zeros_like(system.strict))
        decision = point_or_conflict(weak, limits, nearest=True, candidate=candidate)
        if isinstance(decision, Conflict):
            return decision
        way = zip(start, moved.point(decision.v), strict=False)
        nearest = Point(system.homogeneous(a + b for a, b in way))
        if system.holds(nearest.v, limits):
            return nearest
        candidate.excluded = True  # strict rows exclude it, so that no solution is nearest
    return decide(system, limits, candidate=candidate)


def _propose(
    system: System,
    method: str | Callable[..., Any],
    w0: Vector | None,
    limits: Limits,
    trace: bool,
    candidate: Candidate,
) -> Point | Conflict | None:
    """Let a method propose a point and multipliers, and verify them; None if they prove nothing."""
    if isinstance(method, str):
        from novikoff.systems.methods import METHODS

        if method not in METHODS:
            known = ", ".join(["auto", *METHODS])
            raise ValueError(f"method must be one of {known}, not {method!r}.")
        method = METHODS[method]
        with limits.paused():  # the clock does not count compilation
            method(system.passes.X[:1, :-1], -np.ones(1), limits=Limits(updates=1), trace=trace)
    method_limits = limits.part(_METHOD_SHARE)
    stated, free = system.stated, np.flatnonzero(system.equalities)
    coefficients: Any = system.passes.X[: system.homogenising_row, :-1]
    right = dense(system.passes.X[: system.homogenising_row, [-1]])
    if isinstance(stated, Arrays) and stated.greater and system.homogenising_row == len(stated.c):
        attempt = method(coefficients, None, w0=w0, limits=method_limits, trace=trace)
    else:
        c = right.ravel() * float(system.unit)
        if len(free) > 0:
            coefficients, c = stacked(coefficients, -coefficients[free]), np.append(c, -c[free])
        attempt = method(-coefficients, c, w0=w0, limits=method_limits, trace=trace)
    candidate.n_steps, candidate.w, candidate.trace = attempt.n_steps, attempt.w, attempt.trace
    too_slow = limits.seconds is not None and attempt.n_steps == 0 and attempt.w is None
    cut_short = too_slow or method_limits.reached() is not None
    if attempt.w is not None and np.isfinite(attempt.w).all():
        met = coefficients[: system.homogenising_row] @ attempt.w + right.ravel() * float(
            system.unit
        )
        near_rows = np.argsort(met, kind="stable")[: system.p]
        w = nudged(system, attempt.w, near_rows, limits)
        if w is not None:
            return Point(system.homogeneous(w.tolist()), floats=True)
    if attempt.multipliers is not None:
        multipliers = np.array(attempt.multipliers[: system.homogenising_row])
        np.add.at(multipliers, free, np.abs(attempt.multipliers[system.homogenising_row :]))
        near_rows = np.flatnonzero(multipliers > 0.0)
        proved = point_or_conflict(
            system, limits, within=system.passes.row_set(near_rows), floats=False
        )
        if isinstance(proved, Conflict):
            return proved
    if cut_short:
        raise OutOfTimeError
    return None


def _feasible_solution(system: System, decision: Point, point: str, limits: Limits) -> Solution:
    """The solution with the point that was asked for, exactly and in floats.

    When the time is up, the point that is already proved is returned.
    """
    w = system.point(decision.v)
    solution = Solution("feasible", system, nearest_floats(w), w, needs_exact_w=not decision.floats)
    solution.proof = certificate_of(system, "feasible", point=system.certificate_vector(decision.v))
    try:
        if point in ("interior", "chebyshev"):
            solution.point_found = False
            solution.exact_w = _interior_point(solution, point, limits)
            solution.w = nearest_floats(solution.exact_w)
            solution.needs_exact_w = solution.point_found = True
        better = _float_point(solution, point, limits) if solution.needs_exact_w else None
        if better is not None:
            solution.w, solution.needs_exact_w = better, False
            if point == "any":
                solution.exact_w = tuple(map(Fraction, better.tolist()))
                solution.proof = replace(solution.proof, point=(*solution.exact_w, Fraction(1)))
    except (OutOfTimeError, OverflowError):
        pass
    except KeyboardInterrupt:
        limits.interrupt()
    return solution


def _interior_point(solution: Solution, point: str, limits: Limits) -> tuple[Fraction, ...]:
    """The Chebyshev centre, or a point of the relative interior.

    The centre is returned if it was asked for, exists and violates no strict row.
    """
    system = solution.system
    if point == "chebyshev":
        radius = solution.radius_proof = signed_radius(system, limits, feasible=True)
        if isinstance(radius, Radius):
            if radius.most - radius.least > abs(radius.most) * _NARROW_SHARE:
                raise OutOfTimeError
            centre = dehomogenised(radius.point)
            if not system.strict.any() or system.holds(system.homogeneous(centre), limits):
                return centre
    solution.interior_proof = find_relative_interior(system, limits)
    return dehomogenised(solution.interior_proof[0])


def _float_point(solution: Solution, point: str, limits: Limits) -> Vector | None:
    """Floats near the exact point that satisfy every row, or in the interior if ``point`` is "any".

    If there are equalities, only the exact point is tried: rounding another point violates them.
    """
    system, exactly = solution.system, solution.exact_w or ()
    signs = system.signs(system.homogeneous(exactly), limits)
    near = nudged(system, solution.w, np.flatnonzero(signs[:-1] == 0), limits)
    if near is not None or point != "any" or system.equalities.any():
        return near
    if is_for_suggestions(system):  # a point inside was sought before, and was not found
        return None
    solution.interior_proof = find_relative_interior(system, limits)
    w = nearest_floats(dehomogenised(solution.interior_proof[0]))
    if np.isfinite(w).all() and system.holds(system.homogeneous(w.tolist()), limits):
        return w
    return None


def _least_distance(system: System, rows: Indices, multipliers: Vector) -> float:
    """A lower bound on the distance of every solution from the origin, for any λ ≥ 0.

    The bound is −⟨c, λ⟩/‖Σ λ_i a_i‖, rounded down.
    """
    usable = (
        np.isfinite(multipliers)
        & ((multipliers > 0.0) | system.equalities[rows])
        & (rows != system.homogenising_row)
    )
    rows, multipliers = rows[usable], multipliers[usable]
    if len(rows) == 0:
        return 0.0
    whole, _ = system.passes.as_integers(rows)
    sums = exact.floats(multipliers).whole.dot(whole)
    right = int(sums[-1]) * system.unit
    squared = sum(int(value) ** 2 for value in sums[:-1])
    if right >= 0 or squared == 0:
        return 0.0
    return exact.square_root_down(right**2 / squared)
