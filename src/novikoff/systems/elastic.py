"""The least violation of a system, in total or at most, between proved bounds.

Objective
    Minimise Σ u_i·v_i, or max u_i·v_i, over all points w that satisfy the kept rows, where v_i is
    the violation max(0, ⟨a_i, w⟩ − c_i) of row i, or |⟨a_i, w⟩ − c_i| of an equality.
Input
    The homogeneous rows of a system, and a weight u_i > 0 of each row that may be violated.
Output
    A point with its exact value, and multipliers λ that prove a lower bound. If the bound equals
    the value at the point, it is the least violation.

If Σ λ_i a_i = 0, then Σ λ_i·(⟨a_i, w⟩ − c_i) = −⟨c, λ⟩ for every point w. With λ_i ≤ u_i on the
rows that may be violated, the total violation is at least −⟨c, λ⟩; with Σ λ_i/u_i ≤ 1 over these
rows, so is the largest violation. HiGHS suggests w and λ, an optimal vertex in floating-point
arithmetic. The rows that w meets, and the equations of λ, are then solved in rational numbers.

References
----------
Chinneck, J. W. (2008). *Feasibility and Infeasibility in Optimization*, chapter 6 (elastic
programs). Springer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import check_time
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum
from novikoff.proofs import exact
from novikoff.proofs.system_statement import LinearSystem, Statement
from novikoff.systems.linear_program import optimise
from novikoff.systems.matrices import dense, scaled
from novikoff.systems.system import System, split_equalities

# Multipliers and slacks below this share of the largest are regarded as rounding errors.
_NOTHING = 1e-9
# Numbers are first rounded to fractions with a denominator up to this one.
_SIMPLE = 1000


@dataclass(frozen=True)
class LeastViolation:
    """Bounds on the least violation, with the point and the multipliers that prove them.

    Attributes
    ----------
    least, most : Fraction
        The least violation is between these numbers. ``most`` is the violation at ``point``.
    point : tuple of Fraction
        A point that satisfies all kept rows.
    multipliers : dict of int to Fraction
        λ by the number of the stated row, of any sign on equalities. Empty if ``least`` is 0.
    """

    least: Fraction
    most: Fraction
    point: tuple[Fraction, ...]
    multipliers: dict[int, Fraction]


def least_violation(
    system: System, weights: dict[int, Fraction], by: Literal["total", "max"], limits: Limits
) -> LeastViolation | None:
    """Bounds on the least violation; None if no point that satisfies the kept rows was found.

    Parameters
    ----------
    system : System
        The homogeneous rows. Strict rows count as weak rows.
    weights : dict of int to Fraction
        The weight of each stated row that may be violated; all other rows are kept.
    by : "total" or "max"
        Whether to minimise the weighted sum, or the largest weighted violation.
    limits : Limits
        OutOfTimeError is raised when they are reached.
    """
    numbers = system.numbers.tolist()
    may_give = np.array([number in weights for number in numbers])
    # Each side of an equality that may be violated, and each of two equal bounds, is a row.
    system = split_equalities(system, (system.equalities & may_give) | system.fixed)
    problem = _Elastic(system, weights, by)
    suggested = problem.suggestion(limits)
    if suggested is None:
        return None
    best: tuple[Fraction, tuple[Fraction, ...]] | None = None
    bound, proof = Fraction(0), dict[int, Fraction]()
    for w in problem.points(suggested[0], limits):
        value = problem.value(w, limits)
        if value is not None and (best is None or value < best[0]):
            best = value, tuple(w)
    for multipliers in problem.multipliers(suggested[1], limits):
        proved = problem.bound(multipliers)
        if proved is not None and proved[0] > bound:
            bound, proof = proved
        if best is not None and bound == best[0]:
            break
    return None if best is None else LeastViolation(bound, *best, proof)


def exact_least_violation(
    stated: Statement, weights: dict[int, Fraction], by: Literal["total", "max"], limits: Limits
) -> LeastViolation | None:
    """The least violation by an exact linear program with a variable for each violation."""
    p = stated.d
    rows, names = [], [*map(str, stated.variables)]
    of_row: list[tuple[int, int]] = []  # the stated row of each row, and the sign of its λ
    terms: dict[int, Fraction] = {} if by == "total" else {p: Fraction(1)}
    n_extra = 0 if by == "total" else 1
    for number in range(stated.n):
        row = stated.row(number)
        if row is None:
            continue
        weak = row._replace(relation={"<": "<=", ">": ">="}.get(row.relation, row.relation))  # type: ignore[arg-type]
        if number not in weights:
            rows.append(weak)
            of_row.append((number, 1))
            continue
        for relation in ("<=", ">=") if row.relation == "=" else (weak.relation,):
            sign = 1 if relation == ">=" else -1
            if by == "total":
                extra, share = p + n_extra, Fraction(1)
                terms[extra] = weights[number]
                n_extra += 1
            else:
                extra, share = p, 1 / weights[number]
            rows.append(weak._replace(terms={**row.terms, extra: sign * share}, relation=relation))
            of_row.append((number, -1 if row.relation == "=" and relation == ">=" else 1))
    names += [f"violation {k}" for k in range(n_extra)]
    lower = (None,) * p + (Fraction(0),) * n_extra
    program = LinearSystem(tuple(names), tuple(rows), lower, (None,) * len(names), terms)
    best = optimise(program, limits)
    if best.kind != "optimal" or best.exact_value is None or best.exact_w is None:
        return None
    multipliers = dict[int, Fraction]()
    for dual in best.dual:
        if dual.kind in ("row", "eq"):  # the others are the bounds v ≥ 0 of violations
            number, sign = of_row[dual.index]
            value = multipliers.get(number, Fraction(0)) + sign * dual.multiplier
            multipliers[number] = value
    used = {number: value for number, value in multipliers.items() if value}
    return LeastViolation(best.exact_value, best.exact_value, best.exact_w[:p], used)


class _Elastic:
    """The rows in floats and exactly, all written with ≤ or =, and their weights."""

    def __init__(self, system: System, weights: dict[int, Fraction], by: str) -> None:
        self.system, self.by, m = system, by, system.homogenising_row
        self.sizes = [abs(system.factor(i)) for i in range(m)]
        self.numbers = [_stated_number(system, i) for i in range(m)]
        self.weights = [weights.get(number) for number in self.numbers]
        factors = -np.array([exact.nearest_float(1 / size) for size in self.sizes])
        with np.errstate(all="ignore"):
            rows = scaled(system.passes.X[:-1], factors)
            self.A = rows[:, :-1]
            self.c = -dense(rows[:, [-1]]).ravel() * exact.nearest_float(system.unit)
        self.free = system.equalities[:m]
        self.u = np.array([exact.nearest_float(u or Fraction(0)) for u in self.weights])

    def suggestion(self, limits: Limits) -> tuple[Vector, Vector] | None:
        """The point and the multipliers of HiGHS, or None."""
        import scipy.sparse as sp

        m, p = len(self.c), self.system.p
        may_give = np.flatnonzero(self.u > 0.0)
        if self.by == "total":
            places = may_give, np.arange(len(may_give))
            extra: Any = sp.csr_array((-np.ones(len(may_give)), places), shape=(m, len(may_give)))
            costs = np.concatenate([np.zeros(p), self.u[may_give]])
        else:
            share = np.divide(-1.0, self.u, out=np.zeros(m), where=self.u > 0.0)
            extra = sp.csr_array(share[:, None])
            costs = np.concatenate([np.zeros(p), [1.0]])
        table: Any = sp.csr_array(sp.hstack([sp.csr_array(self.A), extra]))
        if not np.isfinite(table.data).all() or not np.isfinite(self.c).all():
            return None
        below, equal = np.flatnonzero(~self.free), np.flatnonzero(self.free)
        answer = suggested_optimum(
            costs,
            limits,
            A_ub=table[below],
            b_ub=self.c[below],
            A_eq=table[equal] if len(equal) > 0 else None,
            b_eq=self.c[equal] if len(equal) > 0 else None,
            bounds=[(None, None)] * p + [(0, None)] * (len(costs) - p),
        )
        check_time(limits)
        if not isinstance(answer, FloatOptimum):
            return None
        multipliers = np.zeros(m)
        multipliers[below], multipliers[equal] = np.split(answer.prices, [len(below)])
        return answer.x[: p + (self.by == "max")], multipliers

    def points(self, x: Vector, limits: Limits) -> Iterator[list[Fraction]]:
        """Points near the suggested point, the simplest first, then the exact vertex."""
        p = self.system.p
        yield [Fraction(value).limit_denominator(_SIMPLE) for value in x[:p].tolist()]
        yield [Fraction(value) for value in x[:p].tolist()]
        t = float(x[p]) if self.by == "max" else 0.0
        share = np.divide(t, self.u, out=np.zeros(len(self.u)), where=self.u > 0.0)
        with np.errstate(all="ignore"):
            slack = self.c + (share if self.by == "max" else 0.0) - self.A @ x[:p]
            sizes = 1.0 + np.abs(self.c) + abs(self.A) @ np.abs(x[:p])
        tight = np.flatnonzero(np.abs(slack) <= _NOTHING * sizes)
        if len(tight) == 0:
            return
        left, right = self._exact_rows(tight.tolist())
        if self.by == "max":
            for row, i in zip(left, tight.tolist(), strict=True):
                weight = self.weights[i]
                if weight is not None:
                    row[p] = -1 / weight
        moved = _solution_near(left, right, dict(enumerate(x.tolist())), limits, required=0)
        if moved is not None:
            yield [moved.get(j, Fraction(value)) for j, value in enumerate(x[:p].tolist())]

    def value(self, w: Sequence[Fraction], limits: Limits) -> Fraction | None:
        """The exact value at a point; None if it violates a kept row."""
        violations = _violations(self.system, w, limits)
        if any(v > 0 for v, u in zip(violations, self.weights, strict=True) if u is None):
            return None
        values = [v * u for v, u in zip(violations, self.weights, strict=True) if u is not None]
        return sum(values, Fraction(0)) if self.by == "total" else max(values, default=Fraction(0))

    def multipliers(self, near: Vector, limits: Limits) -> Iterator[dict[int, Fraction]]:
        """Multipliers near the suggested ones: the simplest first, then the exact vertex."""
        firm = np.abs(near) > _NOTHING * np.abs(near).max(initial=0.0)
        support = np.flatnonzero(firm).tolist()
        if not support:
            return
        yield {i: Fraction(float(near[i])).limit_denominator(_SIMPLE) for i in support}
        at_cap = [
            i for i in support if self.by == "total" and self.u[i] > 0.0
            and abs(near[i]) >= self.u[i] * (1.0 - _NOTHING)
        ]  # fmt: skip
        rows = dict(zip(support, self._exact_rows(support)[0], strict=True))
        for fixed in (at_cap, []) if at_cap else ([],):
            known = {i: self.weights[i] or Fraction(0) for i in fixed}
            others = [i for i in support if i not in known]
            if not others:
                continue
            columns: dict[int, dict[int, Fraction]] = {}
            sums: dict[int, Fraction] = {}
            for i, row in rows.items():
                for j, value in row.items():
                    column = columns.setdefault(j, {})
                    if i in known:
                        sums[j] = sums.get(j, Fraction(0)) - known[i] * value
                    else:
                        column[i] = value
            if self.by == "max":
                weights = {i: self.weights[i] for i in others}
                columns[-1] = {i: 1 / u for i, u in weights.items() if u is not None}
                sums[-1] = Fraction(1)
            solved = _solution_near(
                [*columns.values()],
                [sums.get(j, Fraction(0)) for j in columns],
                {i: float(near[i]) for i in others},
                limits,
            )
            if solved is not None:
                yield known | solved

    def bound(
        self, multipliers: dict[int, Fraction]
    ) -> tuple[Fraction, dict[int, Fraction]] | None:
        """The bound that multipliers prove, and the multipliers of stated rows; None if none."""
        multipliers = {i: value for i, value in multipliers.items() if value}
        if any(value < 0 and not self.free[i] for i, value in multipliers.items()):
            return None
        rows = [*multipliers]
        left, right = self._exact_rows(rows)
        sums = dict[int, Fraction]()
        for row, multiplier in zip(left, multipliers.values(), strict=True):
            for j, value in row.items():
                sums[j] = sums.get(j, Fraction(0)) + value * multiplier
        if any(sums.values()):
            return None
        total = -sum(
            (c * value for c, value in zip(right, multipliers.values(), strict=True)), Fraction(0)
        )
        loads = [abs(multipliers[i]) / u for i in rows if (u := self.weights[i]) is not None]
        load = max(loads, default=Fraction(0))
        if self.by == "max":
            load = sum(loads, Fraction(0))
        if total <= 0 or load == 0:
            return None
        stated = dict[int, Fraction]()
        for i, value in multipliers.items():
            is_turned = self.system.factor(i) < 0 and self.numbers[i] < self.system.stated.m
            sign = -1 if is_turned else 1
            before = stated.get(self.numbers[i], Fraction(0))
            stated[self.numbers[i]] = before + sign * value / load
        return total / load, {number: value for number, value in stated.items() if value}

    def _exact_rows(self, rows: Sequence[int]) -> tuple[list[dict[int, Fraction]], list[Fraction]]:
        """The rows a_i, by column, and right sides c_i, in the units of the statement."""
        entries, unit = self.system.sparse_rows_in_unit(np.array(rows, dtype=np.int64))
        right = list[Fraction]()
        left = list[dict[int, Fraction]]()
        for i, entry in zip(rows, entries, strict=True):
            size = unit / self.sizes[i]
            right.append(entry.pop(self.system.p, 0) * size * self.system.unit)
            left.append({j: -value * size for j, value in entry.items()})
        return left, right


def violations_at(
    system: System, w: Sequence[Fraction], limits: Limits
) -> Iterator[tuple[int, Fraction]]:
    """Yield the number of every stated row that a point violates, and the exact violation."""
    split = split_equalities(system, system.fixed)
    for i, value in enumerate(_violations(split, w, limits)):
        if value > 0:
            yield _stated_number(split, i), value


def _violations(system: System, w: Sequence[Fraction], limits: Limits) -> list[Fraction]:
    """The exact violation of every row except e, in the unit of the stated row."""
    slacks = zip(system.slack(w, limits), system.equalities.tolist(), strict=False)
    return [
        (abs(slack) if equal else max(-slack, Fraction(0))) / abs(system.factor(i))
        for i, (slack, equal) in enumerate(slacks)
    ]


def _stated_number(system: System, i: int) -> int:
    """The number of the stated row; of a fixed variable's halves, that of the right bound."""
    sign = -1 if system.factor(i) < 0 else 1
    number = int(system.numbers[i])
    is_lower = number >= system.stated.m and sign < 0
    return number + system.p if is_lower else number


def _solution_near(
    left: Sequence[dict[int, Fraction]],
    right: Sequence[Fraction],
    near: dict[int, float],
    limits: Limits,
    required: int | None = None,
) -> dict[int, Fraction] | None:
    """A solution of sparse equations near a point in floats, exactly; None if none is found.

    Equations after the first ``required`` ones hold only where they are independent of others.
    """
    rows, sides = [], []
    for row, side in zip(left, right, strict=True):
        over = math.lcm(*(value.denominator for value in row.values()))
        rows.append({j: int(value * over) for j, value in row.items()})
        sides.append(side * over)
    return solve_sparse(
        rows,
        sides,
        limits,
        required=required,
        given={j: Fraction(value) for j, value in near.items()},
        preferred=sorted(near, key=lambda j: -abs(near[j])),
    )
