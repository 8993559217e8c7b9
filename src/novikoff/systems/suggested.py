"""Points and conflicts that a float solver suggests, proved in exact arithmetic.

HiGHS says in floats whether a sparse system has a solution. Its answer is not believed; it is used:

- *Feasible*: without equalities, a vertex of slightly tighter rows usually satisfies every row,
  also when its coordinates are rounded. Otherwise a vertex of HiGHS meets some rows with equality.
  These equations are solved in rational numbers, and the point is returned if it satisfies every
  row, exactly. If the point does not, a point with as much slack as possible on all inequalities is
  tried in the same way.
- *Infeasible*: a vertex of the program of Gleeson and Ryan, min Σ λ_i subject to Σ λ_i a_i = 0,
  ⟨c, λ⟩ = −1, λ ≥ 0, has multipliers on an irreducible infeasible subset (IIS). The exact
  multipliers of these rows are the only solution of Σ λ_i a_i = 0 up to a factor. That there is no
  other solution shows that no fewer of the rows contradict each other. In a large system, the rows
  are first reduced to those with a dual variable in the elastic program, min Σ s_i subject to
  ⟨a_i, w⟩ − s_i ≤ c_i, s ≥ 0, because the program of Gleeson and Ryan is slow there.

If a suggestion cannot be proved, there is no answer, and the projection (`engine`) decides. Before
anything else, `trivial_conflict` looks for a row that contradicts the bounds of its variables.

References
----------
Gleeson, J. and Ryan, J. (1990). Identifying minimally infeasible subsystems of inequalities. *ORSA
Journal on Computing* 2(1), 61-63.

Chinneck, J. W. (2008). *Feasibility and Infeasibility in Optimization*, chapter 6 (elastic
programs). Springer.

Freund, R. M., Roundy, R. and Todd, M. J. (1985). Identifying the set of always-active constraints
in a system of linear inequalities by a single linear program. *Sloan Working Paper* 1674-85.

Applegate, D. L., Cook, W., Dash, S. and Espinoza, D. G. (2007). Exact solutions to linear
programming problems. *Operations Research Letters* 35(6), 693-699.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Indices, Mask, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError, TooLargeError, check_time
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, NoOptimum, suggested_optimum
from novikoff.proofs import exact
from novikoff.proofs.system_certificate import Multipliers
from novikoff.systems.engine import (
    Candidate,
    Conflict,
    Point,
    interior_claim,
    point_or_conflict,
    relative_interior,
)
from novikoff.systems.system import System

# A system with fewer variables is projected at once.
_LEAST_VARIABLES = 40
# A bound costs this share of a row in the program of Gleeson and Ryan: a conflict with few rows is
# easier to read than one with few bounds.
_COST_OF_BOUND = 0.01
# A suggested conflict is tried several times: each time, rows with a multiplier below one of these
# shares of the largest are left out.
_CUTS = (1e-11, 1e-8, 1e-6)
# A row whose slack is at most one of these, relative to its terms, is met with equality.
_TIGHT = (1e-9, 1e-6)
# A suggested conflict that is not irreducible goes to the projection if it has at most this many
# rows.
_MAX_PROJECTED = 400
# A vertex is sought without costs for this many seconds.
_PATIENCE = 3.0
# The first vertex has this slack on each inequality, whose row has a length from 1/2 to 1. It is
# larger than the tolerance of HiGHS, 1e-7.
_SLACK = 2.0**-20
# A program of Gleeson and Ryan with more columns than this is reduced by the elastic program. On
# 10,000 rows of transport with 20,000 variables, seconds without and with it: 1.1 and 0.2.
_MAX_COLUMNS = 2_000
# Dual variables of the elastic program, which are at most 1, are regarded as 0 below this value.
_NO_PRICE = 1e-9
# Suggestions take at most this share of the time that is left; the rest is for the projection.
_SHARE = 0.7


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
    part, candidate = limits.part(_SHARE), candidate or Candidate()
    try:
        with np.errstate(all="ignore"):
            program = _Program.of(system, within)
            if program is None:
                return None
            conflict = trivial_conflict(program, part)
            if conflict is not None:
                return conflict
            inside = None if program.equal.any() else program.vertex(part, _SLACK)
            if isinstance(inside, FloatOptimum):
                point = _float_point_near(program, inside.x, part)
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


@dataclass(frozen=True, eq=False)
class _Program:
    """The rows ``within`` of a system in floats, with the bounds of its variables apart.

    Attributes
    ----------
    system, within
        The system, and the set of rows, or None for all rows.
    rows : array of int
        The homogeneous rows that are not bounds.
    A, c : CSR matrix, array
        These rows as A w ≤ c, each multiplied by its power of two in ``factors``.
    equal : mask
        The equalities among them.
    lower, upper : array of shape (p,)
        The bounds; infinite where there is none.
    lower_rows, upper_rows : array of int of shape (p,)
        The homogeneous rows of the bounds, or −1.
    """

    system: System
    within: Mask | None
    rows: Indices
    A: Any
    c: Vector
    factors: Vector
    equal: Mask
    lower: Vector
    upper: Vector
    lower_rows: Indices
    upper_rows: Indices

    @classmethod
    def of(cls, system: System, within: Mask | None) -> _Program | None:
        """The program of the rows; None if floats cannot hold its numbers."""
        p, e = system.p, system.homogenising_row
        is_used = np.ones(e, dtype=np.bool_) if within is None else within[:e].copy()
        is_bound = system.numbers[:e] >= system.stated.m
        X: Any = sp.csr_array(system.passes.X)
        c = X[:, [p]].toarray().ravel()[:e] * float(system.unit)
        rows, bounds = np.flatnonzero(is_used & ~is_bound), np.flatnonzero(is_used & is_bound)
        A: Any = -X[rows][:, :p]
        sizes = np.maximum(np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel()), 0.0)
        if not (np.isfinite(sizes).all() and np.isfinite(c).all()):
            return None
        factors = np.ldexp(1.0, -np.frexp(np.where(sizes > 0.0, sizes, 1.0))[1])
        lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
        lower_rows, upper_rows = np.full(p, -1), np.full(p, -1)
        variables = (system.numbers[bounds] - system.stated.m) % p
        coefficients = -np.asarray(X[bounds].tocsr()[:, :p].sum(axis=1)).ravel()
        values = c[bounds] / coefficients
        above = (coefficients > 0.0) | system.equalities[bounds]
        below = (coefficients < 0.0) | system.equalities[bounds]
        upper[variables[above]], upper_rows[variables[above]] = values[above], bounds[above]
        lower[variables[below]], lower_rows[variables[below]] = values[below], bounds[below]
        scaled: Any = sp.csr_array(sp.diags_array(factors) @ A)
        equal = system.equalities[rows]
        return cls(
            system, within, rows, scaled, c[rows] * factors, factors, equal,
            lower, upper, lower_rows, upper_rows,
        )  # fmt: skip

    @property
    def n_columns(self) -> int:
        """The number of rows and bounds, which are columns of the program of Gleeson and Ryan."""
        n_bounds = int((self.lower_rows >= 0).sum() + (self.upper_rows >= 0).sum())
        return len(self.rows) + int(self.equal.sum()) + n_bounds

    @cached_property
    def bounds(self) -> Vector:
        """The bounds as SciPy takes them."""
        return np.column_stack([self.lower, self.upper])

    def vertex(self, limits: Limits, slack: float = 0.0) -> FloatOptimum | NoOptimum | None:
        """A vertex of the system, in floats, with some slack on each inequality except bounds.

        Without costs, the dual simplex method may take very long, because all its steps tie. Then
        random costs are used, for which no variable moves towards infinity.
        """
        rows: dict[str, Any] = {
            "A_ub": self.A[~self.equal],
            "b_ub": self.c[~self.equal] - slack,
            "A_eq": self.A[self.equal],
            "b_eq": self.c[self.equal],
            "bounds": self.bounds,
        }
        zeros = np.zeros(self.system.p)
        answer = suggested_optimum(zeros, limits, most_seconds=_PATIENCE, **rows)
        if answer is not None or limits.reached() is not None:
            return answer
        away = np.where(np.isfinite(self.upper), -1.0, 0.0)
        signs = np.where(np.isfinite(self.lower), 1.0, away)
        costs = signs * np.random.default_rng(0).random(len(signs))
        return suggested_optimum(costs, limits, **rows)


def trivial_conflict(program: _Program, limits: Limits) -> Conflict | None:
    """A conflict of two bounds, or of a row and the bounds of its variables, proved."""
    both = np.flatnonzero(program.lower > program.upper)
    if len(both) > 0:
        pair = np.array([program.lower_rows[both[0]], program.upper_rows[both[0]]])
        conflict = proved_conflict(program.system, pair, np.ones(2), limits)
        if conflict is not None:
            return conflict
    positive, negative = program.A.maximum(0.0), program.A.minimum(0.0)
    finite = [np.where(np.isfinite(side), side, 0.0) for side in (program.lower, program.upper)]
    unbounded = [np.isinf(side).astype(np.float64) for side in (program.lower, program.upper)]
    for sign, up, down in ((1.0, positive, negative), (-1.0, -negative, -positive)):
        # The least ⟨a, w⟩ within the bounds; with sign −1, that of −a for equalities.
        least = up @ finite[0] + down @ finite[1]
        sizes = up @ np.abs(finite[0]) - down @ np.abs(finite[1])
        open_ = (up @ unbounded[0] - down @ unbounded[1]) > 0.0
        excess = least - sign * program.c
        wrong = (excess > 1e-13 * (sizes + np.abs(program.c))) & ~open_
        wrong &= program.equal | (sign > 0.0)
        for k in np.flatnonzero(wrong)[:3].tolist():
            row = program.A[[k]]
            columns, values = row.indices, sign * row.data
            bounds = np.where(
                values > 0.0, program.lower_rows[columns], program.upper_rows[columns]
            )
            rows = np.append(bounds, program.rows[k])
            conflict = proved_conflict(
                program.system, rows, np.append(np.zeros(len(bounds)), sign), limits
            )
            if conflict is not None:
                return conflict
    return None


def suggested_point(program: _Program, x: Vector, limits: Limits) -> Point | None:
    """A solution near a vertex in floats, or one with much slack, proved; None if none is found.

    Floats are preferred: without equalities, the point with much slack often satisfies every row
    in floats. Otherwise the rows that the point meets with equality are solved exactly.
    """
    point = _float_point_near(program, x, limits)
    if point is not None:
        return point
    inner: Vector | None = None
    if not program.equal.any():
        inner = _inner_vertex(program, limits)
        point = None if inner is None else _float_point_near(program, inner, limits)
    point = point or _exact_point_near(program, x, limits)
    if point is not None:
        return point
    inner = _inner_vertex(program, limits) if inner is None else inner
    return None if inner is None else _exact_point_near(program, inner, limits)


def suggested_conflict(program: _Program, limits: Limits, candidate: Candidate) -> Conflict | None:
    """The conflict that the program of Gleeson and Ryan suggests, proved."""
    if program.n_columns > _MAX_COLUMNS:
        part = _elastic_part(program, limits)
        conflict = None if part is None else _conflict_of(part, limits, candidate)
        if conflict is not None:
            return conflict
    return _conflict_of(program, limits, candidate)


def _elastic_part(program: _Program, limits: Limits) -> _Program | None:
    """The rows and bounds with a dual variable in the elastic program."""
    equal, p = program.equal, program.system.p
    n = len(program.rows)
    unit: Any = sp.eye_array(n, format="csr")
    A: Any = sp.hstack([program.A, -unit, unit[:, np.flatnonzero(equal)]], format="csr")
    n_slacks = A.shape[1] - p
    answer = suggested_optimum(
        np.repeat([0.0, 1.0], [p, n_slacks]),
        limits,
        A_ub=A[~equal],
        b_ub=program.c[~equal],
        A_eq=A[equal],
        b_eq=program.c[equal],
        bounds=np.vstack([program.bounds, np.tile([0.0, np.inf], (n_slacks, 1))]),
    )
    if not isinstance(answer, FloatOptimum):
        return None
    prices = _prices(program, answer)
    system = program.system
    within = np.zeros(system.passes.n, dtype=np.bool_)
    within[program.rows[np.abs(prices) > _NO_PRICE]] = True
    rest = program.A.T @ prices  # Σ λ_i a_i, which multipliers of bounds must cancel
    for side, rows in ((rest, program.lower_rows), (-rest, program.upper_rows)):
        within[rows[(side > _NO_PRICE) & (rows >= 0)]] = True
    return _Program.of(system, within)


def _conflict_of(program: _Program, limits: Limits, candidate: Candidate) -> Conflict | None:
    """The conflict that the program of Gleeson and Ryan suggests among these rows, proved."""
    system = program.system
    answer = _gleeson_ryan(program, limits)
    if answer is None:
        return None
    rows, multipliers, sizes = answer
    order = sizes.max(initial=0.0)
    tried = -1
    for cut in _CUTS:
        support = sizes > cut * order
        if int(support.sum()) == tried:
            continue
        tried = int(support.sum())
        candidate.suspected = rows[support]
        conflict = proved_conflict(system, rows[support], multipliers[support], limits)
        if conflict is not None:
            return conflict
    support = sizes > _CUTS[0] * order
    return _projected_conflict(system, rows[support], limits)


def _gleeson_ryan(program: _Program, limits: Limits) -> tuple[Indices, Vector, Vector] | None:
    """Rows, their multipliers, and the multipliers of the scaled rows, in floats."""
    p = program.system.p
    upper, lower = np.flatnonzero(program.upper_rows >= 0), np.flatnonzero(program.lower_rows >= 0)
    unit: Any = sp.eye_array(p, format="csc")
    left: Any = sp.hstack([program.A.T, unit[:, upper], -unit[:, lower]], format="csc")
    right = np.concatenate([program.c, program.upper[upper], -program.lower[lower]])
    equal = np.flatnonzero(program.equal)
    both: Any = sp.vstack([left, sp.csr_array(right[None, :])], format="csc")
    costs = np.ones(both.shape[1])
    costs[len(program.rows) :] = _COST_OF_BOUND
    answer = suggested_optimum(
        np.append(costs, np.ones(len(equal))),
        limits,
        A_eq=sp.hstack([both, -both[:, equal]], format="csc"),
        b_eq=np.append(np.zeros(p), -1.0),
    )
    if not isinstance(answer, FloatOptimum):
        return None
    scaled = answer.x[: both.shape[1]].copy()
    scaled[equal] -= answer.x[both.shape[1] :]
    rows = np.concatenate([program.rows, program.upper_rows[upper], program.lower_rows[lower]])
    return rows, scaled, np.abs(scaled)


def proved_conflict(
    system: System, rows: Indices, multipliers: Vector, limits: Limits
) -> Conflict | None:
    """The irreducible conflict on exactly these rows, or on some of them; None if there is none.

    The exact λ is the only solution of Σ λ_i a_i = 0 up to a factor, or there is no answer. So the
    rows are a conflict, and irreducible, if λ has the right signs and ⟨c, λ⟩ < 0. Rows with λ_i = 0
    are left out. ``multipliers`` are λ in floats; only the largest, and its sign, matter.
    """
    rows, first = np.unique(rows, return_index=True)
    if len(rows) == 0:
        return None
    fixed = int(np.argmax(np.abs(multipliers[first])))
    sign = -1 if multipliers[first][fixed] < 0.0 else 1
    entries, last = system.sparse_rows(rows), system.p
    equations: dict[int, dict[int, int]] = {}
    right: dict[int, Fraction] = {}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            if j == last:
                continue
            if k == fixed:
                right[j] = Fraction(-sign * value)
            equation = equations.setdefault(j, {})
            if k != fixed:
                equation[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers], [right.get(j, Fraction(0)) for j in numbers], limits
    )
    if solution is None or len(solution) != len(rows) - 1:
        return None
    solution[fixed] = Fraction(sign)
    total = sum(
        (solution[k] * entry[last] for k, entry in enumerate(entries) if last in entry),
        Fraction(0),
    )
    free = system.equalities[rows]
    if total > 0 and free.all():
        solution, total = {k: -value for k, value in solution.items()}, -total
    if total >= 0 or any(value < 0 and not free[k] for k, value in solution.items()):
        return None
    used = [k for k in range(len(rows)) if solution[k] != 0]
    return Conflict(rows[used], [solution[k] / -total for k in used])


def _projected_conflict(system: System, rows: Indices, limits: Limits) -> Conflict | None:
    """A conflict among a few rows, found by projection without the variables of other rows."""
    if not 0 < len(rows) <= _MAX_PROJECTED:
        return None
    part = system.part(rows)
    try:
        found = point_or_conflict(part, limits, floats=False)
    except TooLargeError:
        return None
    if isinstance(found, Point) or found.weak is not None:
        return None
    return found._replace(rows=np.sort(rows)[found.rows])


def proved_optimum(
    system: System, objective: Mapping[int, Fraction], limits: Limits
) -> tuple[list[Fraction], Indices, list[Fraction]] | None:
    """A point with the least value of an objective, and multipliers that prove it, or None.

    Returns
    -------
    point, rows, multipliers
        The point w, exactly, and homogeneous rows with λ for which Σ λ_i a_i = −f and
        f·w = −⟨c, λ⟩: no solution has a smaller value. None if a suggestion cannot be proved.
    """
    part, p = limits.part(_SHARE), system.p
    try:
        with np.errstate(all="ignore"):
            program = _Program.of(system, None)
            if program is None:
                return None
            costs = np.zeros(p)
            for j, value in objective.items():
                costs[j] = exact.nearest_float(value)
            equal = program.equal
            answer = suggested_optimum(
                costs,
                part,
                A_ub=program.A[~equal],
                b_ub=program.c[~equal],
                A_eq=program.A[equal],
                b_eq=program.c[equal],
                bounds=program.bounds,
            )
            if not isinstance(answer, FloatOptimum):
                return None
            prices = _prices(program, answer)
            dual = _exact_dual(program, objective, costs, prices, part)
            if dual is None:
                return None
            rows, multipliers, value = dual
            carries = np.isin(program.rows, rows)
            inside = np.clip(answer.x, program.lower, program.upper)
            for tight in _TIGHT:
                w = _solved(program, inside, tight, part, carries)
                if w is None or sum((f * w[j] for j, f in objective.items()), -value) != 0:
                    continue
                if system.holds(system.homogeneous(w), part):
                    return w, rows, multipliers
    except (OutOfTimeError, OverflowError, ZeroDivisionError):
        check_time(limits)
    return None


def _prices(program: _Program, answer: FloatOptimum) -> Vector:
    """The dual variables of the scaled rows of a program, in their order."""
    prices = np.zeros(len(program.rows))
    n_below = int((~program.equal).sum())
    prices[~program.equal], prices[program.equal] = np.split(answer.prices, [n_below])
    return prices


def _exact_dual(
    program: _Program,
    objective: Mapping[int, Fraction],
    costs: Vector,
    prices: Vector,
    limits: Limits,
) -> tuple[Indices, list[Fraction], Fraction] | None:
    """Homogeneous rows, exact λ with Σ λ_i a_i = −f, and the bound −⟨c, λ⟩; None if not found."""
    system, p = program.system, program.system.p
    rest = costs + program.A.T @ prices  # what multipliers of bounds must cancel
    nothing = _NO_PRICE * max(1.0, float(np.abs(costs).max(initial=0.0)))
    at_lower = np.flatnonzero((rest > nothing) & (program.lower_rows >= 0))
    at_upper = np.flatnonzero((rest < -nothing) & (program.upper_rows >= 0))
    carries = np.flatnonzero(np.abs(prices) > nothing * 1e-3)
    rows = np.concatenate(
        [program.rows[carries], program.lower_rows[at_lower], program.upper_rows[at_upper]]
    )
    near = np.concatenate(
        [prices[carries] * program.factors[carries], rest[at_lower], -rest[at_upper]]
    )
    entries, unit = system.sparse_rows_in_unit(rows)
    equations: dict[int, dict[int, int]] = {j: {} for j in objective}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            if j != p:
                equations.setdefault(j, {})[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers],
        [objective.get(j, Fraction(0)) / unit for j in numbers],
        limits,
        given={k: Fraction(value) for k, value in enumerate(near.tolist())},
        preferred=np.argsort(-np.abs(near), kind="stable").tolist(),
    )
    if solution is None:
        return None
    free = system.equalities[rows]
    if any(value < 0 and not free[k] for k, value in solution.items()):
        return None
    used = sorted(k for k, value in solution.items() if value)
    total = sum((solution[k] * entries[k].get(p, 0) for k in used), Fraction(0))
    return rows[used], [solution[k] for k in used], -total * unit * system.unit


def find_relative_interior(
    system: System, limits: Limits
) -> tuple[tuple[Fraction, ...], Multipliers]:
    """A point in the relative interior and the implicit equalities, as in `relative_interior`.

    It is suggested where this is faster, as in `decide`.
    """
    if is_for_suggestions(system):
        found = suggested_interior(system, limits)
        if found is not None:
            return interior_claim(system, *found)
    return relative_interior(system, limits)


def suggested_interior(
    system: System, limits: Limits
) -> tuple[list[Fraction], dict[int, Fraction]] | None:
    """A vector (w, t) in the relative interior, and λ on the implicit equalities, or None.

    HiGHS maximises Σ s_i subject to ⟨a_i, w⟩ + s_i ≤ c_i·t, 0 ≤ s ≤ 1, t ≥ 1 (Freund, Roundy and
    Todd, 1985). Rows with s_i = 0 are probably implicit equalities; their dual variables, made
    exact, prove it: λ > 0 on these rows, Σ λ_i a_i = 0 and ⟨c, λ⟩ = 0. The other rows hold
    strictly at the point, exactly.
    """
    part = limits.part(_SHARE)
    try:
        with np.errstate(all="ignore"):
            program = _Program.of(system, None)
            return None if program is None else _proved_interior(program, part)
    except (OutOfTimeError, OverflowError, ZeroDivisionError):
        check_time(limits)
    return None


def _proved_interior(
    program: _Program, limits: Limits
) -> tuple[list[Fraction], dict[int, Fraction]] | None:
    system, p, e = program.system, program.system.p, program.system.homogenising_row
    is_free = program.lower < program.upper
    lower = np.flatnonzero((program.lower_rows >= 0) & is_free)
    upper = np.flatnonzero((program.upper_rows >= 0) & is_free)
    fixed = np.flatnonzero((program.lower_rows >= 0) & ~is_free)
    unit: Any = sp.eye_array(p, format="csr")
    more, equal = ~program.equal, program.equal
    A: Any = sp.vstack([program.A[more], unit[upper], -unit[lower]], format="csr")
    c = np.concatenate([program.c[more], program.upper[upper], -program.lower[lower]])
    B: Any = sp.vstack([program.A[equal], unit[fixed]], format="csr")
    b = np.concatenate([program.c[equal], program.upper[fixed]])
    n, m = A.shape[0], B.shape[0]
    bounds = np.tile([0.0, 1.0], (p + 1 + n, 1))
    bounds[:p], bounds[p] = [-np.inf, np.inf], [1.0, np.inf]
    answer = suggested_optimum(
        np.repeat([0.0, -1.0], [p + 1, n]),
        limits,
        A_ub=sp.hstack([A, sp.csr_array(-c[:, None]), sp.eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        A_eq=sp.hstack([B, sp.csr_array(-b[:, None]), sp.csr_array((m, n))], format="csr"),
        b_eq=np.zeros(m),
        bounds=bounds,
    )
    if not isinstance(answer, FloatOptimum):
        return None
    rows = np.concatenate(
        [program.rows[more], program.upper_rows[upper], program.lower_rows[lower]]
    )
    implicit = answer.x[p + 1 :] < 0.5
    x = answer.x[:p] / answer.x[p]
    held = np.concatenate([program.rows[equal], program.upper_rows[fixed], rows[implicit]])
    order = np.argsort(held, kind="stable")
    held = held[order]
    factors = np.concatenate([program.factors[more], np.ones(len(upper) + len(lower))])
    near = np.concatenate([answer.prices[n:], answer.prices[:n][implicit]])
    near *= np.concatenate([program.factors[equal], np.ones(len(fixed)), factors[implicit]])
    near = near[order]
    w = _meeting(program, held, x, limits)
    if w is None:
        return None
    v = system.homogeneous(w)
    signs = system.signs(v, limits)
    strictly = np.ones(e + 1, dtype=np.bool_)
    strictly[held] = False
    if signs[held].any() or not (signs[strictly] > 0).all():
        return None
    entries, _ = system.sparse_rows_in_unit(held)
    equations: dict[int, dict[int, int]] = {}
    for k, entry in enumerate(entries):
        for j, value in entry.items():
            equations.setdefault(j, {})[k] = value
    numbers = sorted(equations)
    solution = solve_sparse(
        [equations[j] for j in numbers],
        [Fraction(0)] * len(numbers),
        limits,
        given={k: Fraction(float(f"{value:.6g}")) for k, value in enumerate(near.tolist())},
        preferred=np.argsort(-np.abs(near), kind="stable").tolist(),
    )
    if solution is None:
        return None
    multipliers = {int(held[k]): value for k, value in solution.items() if value}
    needed = set(rows[implicit].tolist())
    if any(multipliers.get(i, Fraction(0)) <= 0 for i in needed):
        return None
    return v, multipliers


def _meeting(program: _Program, held: Indices, x: Vector, limits: Limits) -> list[Fraction] | None:
    """The exact point near x that meets all these rows with equality."""
    system, p = program.system, program.system.p
    rows, right = [], []
    for entry in system.sparse_rows(held):
        right.append(Fraction(entry.pop(p, 0)) * system.unit)
        rows.append({j: -value for j, value in entry.items()})
    short = _short(x)
    given = {j: Fraction(value) for j, value in enumerate(short.tolist())}
    solution = solve_sparse(rows, right, limits, given=given)
    if solution is None:
        return None
    return [solution.get(j, given[j]) for j in range(p)]


def _float_point_near(program: _Program, x: Vector, limits: Limits) -> Point | None:
    """A point in floats, rounded to twelve digits or as it is, if it is a solution: proved."""
    inside = np.clip(x, program.lower, program.upper)
    if not np.isfinite(inside).all():
        return None
    for w in (_short(inside, 6), _short(inside), inside):
        v = program.system.homogeneous(w.tolist())
        if program.system.holds(v, limits, program.within):
            return Point(v, floats=True)
    return None


def _exact_point_near(program: _Program, x: Vector, limits: Limits) -> Point | None:
    """The solution that meets the rows with little slack at x with equality, proved, or None."""
    inside = np.clip(x, program.lower, program.upper)
    if not np.isfinite(inside).all():
        return None
    for tight in _TIGHT:
        check_time(limits)
        w = _solved(program, inside, tight, limits)
        if w is None:
            continue
        v = program.system.homogeneous(w)
        if program.system.holds(v, limits, program.within):
            return Point(v, floats=_are_floats(w))
    return None


def _short(w: Vector, digits: int = 12) -> Vector:
    """Round to some digits."""
    return np.array([float(f"{value:.{digits}g}") for value in w.tolist()])


def _solved(
    program: _Program, x: Vector, tight: float, limits: Limits, first: Mask | None = None
) -> list[Fraction] | None:
    """The point that meets the rows with little slack at x with equality, in rational numbers.

    The rows ``first`` are met before others, after the equalities.
    """
    system, p = program.system, program.system.p
    room = np.minimum(x - program.lower, program.upper - x)
    at_bound = room <= tight * np.maximum(1.0, np.abs(x))
    fixed = np.flatnonzero(at_bound)
    nearest = np.where(
        x - program.lower <= program.upper - x, program.lower_rows, program.upper_rows
    )
    known: dict[int, Fraction] = {}
    for j, entry in zip(fixed.tolist(), system.sparse_rows(nearest[fixed]), strict=True):
        known[j] = Fraction(-entry.get(p, 0), entry[j]) * system.unit
    slack = program.c - program.A @ x
    sizes = np.abs(program.c) + abs(program.A) @ np.abs(x)
    second = np.zeros_like(program.equal) if first is None else first
    order = np.lexsort((np.abs(slack), ~second, ~program.equal))
    is_tight = program.equal | second | (slack <= tight * np.maximum(sizes, 1e-3))
    order = order[is_tight[order]]
    n_equal = int(program.equal.sum())
    rows: list[dict[int, int]] = []
    right: list[Fraction] = []
    for entry in system.sparse_rows(program.rows[order]):
        total = Fraction(entry.pop(p, 0)) * system.unit
        total += sum((value * known[j] for j, value in entry.items() if j in known), Fraction(0))
        rows.append({j: -value for j, value in entry.items() if j not in known})
        right.append(total)
    short = _short(x)
    preferred = [j for j in np.argsort(-room, kind="stable").tolist() if j not in known]
    given = {j: Fraction(short[j]) for j in preferred}
    solution = solve_sparse(rows, right, limits, required=n_equal, given=given, preferred=preferred)
    if solution is None:
        return None
    known |= solution
    return [known[j] if j in known else given[j] for j in range(p)]


def _inner_vertex(program: _Program, limits: Limits) -> Vector | None:
    """A point with as much slack as possible on all inequalities, in floats."""
    more, equal, p = ~program.equal, program.equal, program.system.p
    lengths = np.sqrt(np.asarray(program.A.multiply(program.A).sum(axis=1)).ravel())
    unit: Any = sp.eye_array(p, format="csr")
    free = program.lower < program.upper
    upper = np.flatnonzero(np.isfinite(program.upper) & free)
    lower = np.flatnonzero(np.isfinite(program.lower) & free)
    A: Any = sp.vstack([program.A[more], unit[upper], -unit[lower]], format="csr")
    b = np.concatenate([program.c[more], program.upper[upper], -program.lower[lower]])
    common = np.concatenate([lengths[more], np.ones(len(upper) + len(lower))])
    n_equal = int(equal.sum())
    answer = suggested_optimum(
        np.append(np.zeros(p), -1.0),
        limits,
        A_ub=sp.hstack([A, sp.csr_array(common[:, None])], format="csr"),
        b_ub=b,
        A_eq=sp.hstack([program.A[equal], sp.csr_array((n_equal, 1))], format="csr"),
        b_eq=program.c[equal],
        bounds=[*program.bounds.tolist(), (0.0, 1.0)],
    )
    return answer.x[:p] if isinstance(answer, FloatOptimum) else None


def _are_floats(w: list[Fraction]) -> bool:
    return all(
        value.denominator & (value.denominator - 1) == 0
        and abs(value.numerator).bit_length() <= 53
        and value.denominator.bit_length() <= 1000
        for value in w
    )
