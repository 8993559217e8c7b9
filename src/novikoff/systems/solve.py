"""A point of a system of linear inequalities, or the rows that contradict each other (D1-D5).

The road: the point that was given; one projection in floats, whose point is verified as it is or
nudged; the same projection in rationals from where floats ended, which decides. A method by name
proposes a point or multipliers instead, and the same exact verification judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Vector, stacked
from novikoff.core.stops import Limits
from novikoff.data.messages import counted
from novikoff.geometry.passes import Mask, OutOfTimeError
from novikoff.proofs import exact
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_checker import Radius
from novikoff.proofs.system_statement import Arrays
from novikoff.systems.distances import signed_radius
from novikoff.systems.engine import (
    Candidate,
    Contradiction,
    Point,
    decide,
    nudged,
    relative_interior,
)
from novikoff.systems.matrices import dense
from novikoff.systems.solution import Solution, named_row
from novikoff.systems.statement import stated_arrays, vector_of
from novikoff.systems.system import System, nearest_floats, system_of

# The share of the time that a method by name may use; the rest is for the proof.
_METHOD_SHARE = 0.75
# The share of a radius within which it is known, if its ball was found.
_NARROW_SHARE = 2.0**-32
POINTS = ("any", "nearest", "interior", "chebyshev")


def solve(
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
    w0: npt.ArrayLike | None = None,
    point: str = "any",
    method: str | Callable[..., Any] = "auto",
    budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """Find a point with A w ≤ c, or the few rows that contradict each other, with proof (D1-D5).

    Parameters
    ----------
    A : array, data frame or sparse matrix of shape (n, p)
        The rows, taken exactly as the floats that they are; None if there are equalities only.
    c : array of shape (n,) or None
        Right sides; +inf is no row. None, with ``strict=True``, asks for A w > 0.
    A_eq, c_eq : optional
        Equalities A_eq w = c_eq.
    lower, upper : array of shape (p,) or number, optional
        Bounds on the variables; ±inf is none.
    strict : bool or mask of shape (n,)
        Rows with < instead of ≤.
    names : sequence of str, optional
        Names of the rows; else the index of a data frame. Its columns name the variables.
    keep : mask of shape (n,), row numbers or names, optional
        Rows that may not be blamed: the conflict is irreducible among the others.
    w0 : array of shape (p,), optional
        Where to begin; the point to which "nearest" refers, else the origin.
    point : "any", "nearest", "interior" or "chebyshev"
        Which solution: any; the one nearest to ``w0``, exactly (any, where strict rows forbid
        that); one that meets no more rows with equality than it must; the centre of a largest ball
        of solutions, or one inside where there are balls of any size.
    method : str or callable
        "auto", or a method of `novikoff.systems.methods` by name: what it proposes is verified,
        and "undecided" is the answer where that proves nothing. The nearest point is for "auto".
    budget : float, optional
        Seconds after which to return what is known.
    trace : bool
        Whether a method records what its theorem speaks of.

    Returns
    -------
    Solution
        With ``kind`` "feasible", "infeasible" or "undecided"; on Ctrl-C, what is known.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.solve([[1.0, 1.0], [-1.0, 0.0]], [4.0, -1.0], lower=0.0, point="nearest").w
    array([1., 0.])
    >>> answer = nv.solve([[1, 1], [-1, 0], [0, -1]], [1, -1, -1], names=["money", "tea", "bread"])
    >>> print(answer)
    Infeasible: money, tea and bread contradict each other, and no fewer of them do (proved).
    >>> [str(row.multiplier) for row in answer.conflict]
    ['1', '1', '1']
    """
    if point not in POINTS:
        raise ValueError(f"point must be one of {', '.join(POINTS)}, not {point!r}.")
    if not (isinstance(method, str) or callable(method)):
        raise ValueError(f"method must be a name or a function, not {method!r}.")
    if point == "nearest" and method != "auto":
        raise ValueError('point="nearest" is for method="auto": the others propose any point.')
    seconds = check_budget(budget)
    system = system_of(stated_arrays(A, c, A_eq, c_eq, lower, upper, strict, names, keep))
    start = None if w0 is None else vector_of(w0, system.p, "w0", "variable", finite=True)
    limits = Limits(seconds=seconds)
    return answer(system, limits, w0=start, point=point, method=method, trace=trace)


def answer(
    system: System,
    limits: Limits,
    *,
    w0: Vector | None = None,
    point: str = "any",
    method: str | Callable[..., Any] = "auto",
    trace: bool = False,
) -> Solution:
    """Answer a question: find, verify, and say what is known when time is up."""
    candidate = Candidate()
    ended = ""
    solution: Solution | None = None
    try:
        with np.errstate(all="ignore"):  # what overflows proves nothing, and stops nothing
            found: Point | Contradiction | None
            if method == "auto":
                found = _find(system, w0, point, limits, candidate)
            else:
                found = _propose(system, method, w0, limits, trace, candidate)
            if isinstance(found, Contradiction):
                solution = infeasible(system, *without_superfluous(system, found, limits))
            elif found is not None:
                solution = _feasible(system, found, point, limits)
            else:
                ended = f"the method ended after {counted(candidate.n_steps, 'step')}"
    except KeyboardInterrupt:
        limits.interrupted = True
    except OutOfTimeError:
        ended = "the time was up"
    except OverflowError:
        ended = "the numbers grew beyond floats"
    if solution is None:
        ended = "it was interrupted" if limits.interrupted else ended
        away = _distance(system, candidate.rows, candidate.weights)
        solution = Solution("undecided", system, candidate.w, ended=ended, no_point_within=away)
    solution.n_steps, solution.trace = candidate.n_steps, candidate.trace
    solution.seconds = limits.seconds
    return solution


def _find(
    system: System, w0: Vector | None, point: str, limits: Limits, candidate: Candidate
) -> Point | Contradiction:
    """Decide, beginning with the point that was given."""
    start = system.homogeneous([0.0] * system.p if w0 is None else w0.tolist())
    if w0 is not None and point in ("any", "nearest") and system.holds(start, limits):
        return Point(start, floats=True)
    if point == "nearest":
        moved = system if w0 is None else system.with_right(system.slack(start[:-1], limits))
        weak = replace(moved, strict=np.zeros_like(system.strict))
        found = decide(weak, limits, nearest=True, candidate=candidate)
        if isinstance(found, Contradiction):
            return found
        way = zip(start, moved.point(found.v), strict=False)
        nearest = Point(system.homogeneous(a + b for a, b in way))
        if system.holds(nearest.v, limits):
            return nearest  # else strict rows forbid it, and there is no nearest
    return decide(system, limits, candidate=candidate)


def _propose(
    system: System,
    method: str | Callable[..., Any],
    w0: Vector | None,
    limits: Limits,
    trace: bool,
    candidate: Candidate,
) -> Point | Contradiction | None:
    """Let a method propose a point and multipliers, and verify them."""
    if isinstance(method, str):
        from novikoff.systems.methods import METHODS

        if method not in METHODS:
            known = ", ".join(["auto", *METHODS])
            raise ValueError(f"method must be one of {known}, not {method!r}.")
        method = METHODS[method]
        with limits.standing_still():  # a first compilation
            method(system.passes.X[:1, :-1], -np.ones(1), limits=Limits(updates=1), trace=trace)
    own = limits.part(_METHOD_SHARE)
    stated, free = system.stated, np.flatnonzero(system.free)
    left: Any = system.passes.X[: system.e, :-1]
    right = dense(system.passes.X[: system.e, [-1]])
    if isinstance(stated, Arrays) and stated.greater and system.e == len(stated.c):
        attempt = method(left, None, w0=w0, limits=own, trace=trace)
    else:
        c = right.ravel() * float(system.unit)
        if len(free) > 0:
            left, c = stacked(left, -left[free]), np.append(c, -c[free])
        attempt = method(-left, c, w0=w0, limits=own, trace=trace)
    candidate.n_steps, candidate.w, candidate.trace = attempt.n_steps, attempt.w, attempt.trace
    limits.interrupted |= own.interrupted
    too_slow = limits.seconds is not None and attempt.n_steps == 0 and attempt.w is None
    cut_short = too_slow or own.reached() is not None
    if attempt.w is not None and np.isfinite(attempt.w).all():
        met = left[: system.e] @ attempt.w + right.ravel() * float(system.unit)
        few = np.argsort(met, kind="stable")[: system.p]
        w = nudged(system, attempt.w, few, limits)
        if w is not None:
            return Point(system.homogeneous(w.tolist()), floats=True)
    if attempt.weights is not None:
        weights = np.array(attempt.weights[: system.e])
        np.add.at(weights, free, np.abs(attempt.weights[system.e :]))
        few = np.flatnonzero(weights > 0.0)
        proved = decide(system, limits, within=system.passes.row_set(few), floats=False)
        if isinstance(proved, Contradiction):
            return proved
    if cut_short:
        raise OutOfTimeError
    return None


def without_superfluous(
    system: System, found: Contradiction, limits: Limits, within: Mask | None = None
) -> tuple[Contradiction, dict[int, list[Fraction]]]:
    """Leave out rows of a conflict that the kept rows make superfluous; a point for each other row.

    The point of a row, (w, t) of the engine, satisfies all kept rows and all blamed rows but this
    one. ``within`` are the rows that take part, where they are not all.
    """
    if not system.stated.kept:
        return found, {}
    kept = np.isin(system.numbers, sorted(system.stated.kept))
    kept = kept if within is None else kept & within
    blamed = [i for i in found.rows.tolist() if not kept[i]]
    witnesses: dict[int, list[Fraction]] = {}
    for i in list(blamed):
        if i not in blamed:
            continue
        others = system.passes.row_set(np.array([k for k in blamed if k != i], dtype=np.int64))
        try:
            without = decide(system, limits, within=kept | others, floats=False)
        except OutOfTimeError:  # the conflict stands, as one that may blame any row
            return found, {}
        if isinstance(without, Point):
            witnesses[i] = without.v
        else:
            found = without
            blamed = [k for k in found.rows.tolist() if not kept[k]]
    return found, {i: witnesses[i] for i in blamed}


def infeasible(
    system: System, found: Contradiction, witnesses: dict[int, list[Fraction]]
) -> Solution:
    """The answer that a conflict is, with its proof."""
    stated = system.stated
    conflict = system.stated_multipliers(found.rows.tolist(), found.multipliers)
    claims: dict[str, Any] = {}
    if witnesses:
        points = {int(system.numbers[i]): system.claimed(v) for i, v in witnesses.items()}
        claims["kept"] = tuple(sorted(stated.kept))
        claims["witnesses"] = tuple(
            points[k] if k in points else points[k - stated.d]  # the bounds of a fixed variable
            for k in conflict.rows
            if k not in stated.kept
        )
    elif found.weak is not None:
        claims["point"] = system.claimed(found.weak)
    pairs = zip(conflict.rows, conflict.multipliers, strict=True)
    named = tuple(named_row(stated, *pair) for pair in pairs)
    proof = _certificate(system, "infeasible", conflict=conflict, irreducible=True, **claims)
    return Solution("infeasible", system, conflict=named, proof=proof)


def _certificate(system: System, answer: str, **claims: Any) -> SystemCertificate:
    stated = system.stated
    return SystemCertificate(answer, stated.n, stated.d, stated.sha256(), **claims)


def _feasible(system: System, found: Point, point: str, limits: Limits) -> Solution:
    """The point that is wanted, exactly and in floats; what is proved stands if time is up."""
    w = system.point(found.v)
    solution = Solution("feasible", system, nearest_floats(w), w, exact_only=not found.floats)
    solution.proof = _certificate(system, "feasible", point=system.claimed(found.v))
    try:
        if point in ("interior", "chebyshev"):
            solution.point_found = False
            solution.exact_w = _inner_point(solution, point, limits)
            solution.w = nearest_floats(solution.exact_w)
            solution.exact_only = solution.point_found = True
        better = _floats(solution, point, limits) if solution.exact_only else None
        if better is not None:
            solution.w, solution.exact_only = better, False
            if point == "any":
                solution.exact_w = tuple(map(Fraction, better.tolist()))
                solution.proof = replace(solution.proof, point=(*solution.exact_w, Fraction(1)))
    except (OutOfTimeError, OverflowError):
        pass
    except KeyboardInterrupt:
        limits.interrupted = True
    return solution


def _inner_point(solution: Solution, point: str, limits: Limits) -> tuple[Fraction, ...]:
    """The centre of a largest ball if it is wanted, if there is one, and if no strict row objects.

    Else, one inside.
    """
    system = solution.system
    if point == "chebyshev":
        solution.room = signed_radius(system, limits, feasible=True)
        if isinstance(solution.room, Radius):
            if solution.room.most - solution.room.least > abs(solution.room.most) * _NARROW_SHARE:
                raise OutOfTimeError
            centre = system.point_of_claim(solution.room.point)
            if not system.strict.any() or system.holds(system.homogeneous(centre), limits):
                return centre
    solution.inside = relative_interior(system, limits)
    return system.point_of_claim(solution.inside[0])


def _floats(solution: Solution, point: str, limits: Limits) -> Vector | None:
    """Floats that satisfy every row, near the exact point, or inside if any point will do.

    On equalities the exact point alone is tried: rounding leads away from them.
    """
    system, exactly = solution.system, solution.exact_w or ()
    signs = system.signs(system.homogeneous(exactly), limits)
    found = nudged(system, solution.w, np.flatnonzero(signs[:-1] == 0), limits)
    if found is not None or point != "any" or system.free.any():
        return found
    solution.inside = relative_interior(system, limits)
    w = nearest_floats(system.point_of_claim(solution.inside[0]))
    if np.isfinite(w).all() and system.holds(system.homogeneous(w.tolist()), limits):
        return w
    return None


def _distance(system: System, rows: Indices, weights: Vector) -> float:
    """−⟨c, λ⟩/‖Σ λ_i a_i‖, rounded down: no solution is nearer to the origin, for any λ ≥ 0."""
    usable = np.isfinite(weights) & ((weights > 0.0) | system.free[rows]) & (rows != system.e)
    rows, weights = rows[usable], weights[usable]
    if len(rows) == 0:
        return 0.0
    whole, _ = system.passes.whole(rows)
    sums = exact.floats(weights).whole.dot(whole)
    right = int(sums[-1]) * system.unit
    squared = sum(int(value) ** 2 for value in sums[:-1])
    if right >= 0 or squared == 0:
        return 0.0
    return exact.square_root_down(right**2 / squared)


def check_budget(budget: float | None) -> float | None:
    """The budget, if it is one."""
    if budget is not None and not (isinstance(budget, Real) and 0.0 < budget <= 1e300):
        raise ValueError(f"budget must be a positive number of seconds, not {budget!r}.")
    return budget
