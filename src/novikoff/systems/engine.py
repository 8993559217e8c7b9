"""One projection decides a system (D3): the engine of the verdict, aimed at the row t > 0.

Project −e on the cone of the rows [−a_i, c_i] (Lawson and Hanson 1974, ch. 23). Either it lies in
the cone, −e = Σ λ_i [−a_i, c_i]: then Σ λ_i a_i = 0 and ⟨c, λ⟩ = −1, and the rows in use, being
independent, are an irreducible conflict (Gleeson and Ryan 1990). Or minus the residual is a (w, t)
with t > 0, and w/t is the solution nearest to the origin. Strict rows are targets beside e, and
those that the residual leaves at zero are targets anew (Motzkin's transposition theorem).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.faces import combined, of_size_one, partition
from novikoff.geometry.min_norm import Question, View, balanced_view, search, start_rows
from novikoff.geometry.passes import Mask, OutOfTimeError
from novikoff.geometry.rational import project
from novikoff.systems.system import System

# Powers of two by which rows that a float point fails are asked for more slack.
_NUDGES = (4, 14, 24)


@dataclass
class Finding:
    """What is known: a solution (w, t) of the engine, or λ on rows that contradict each other.

    ``near`` is the best that floats found, before anything is proved: a point, and rows with
    weights.
    """

    point: list[Fraction] | None = None
    rows: Indices | None = None
    multipliers: list[Fraction] | None = None
    weak: list[Fraction] | None = None  # where only strict rows contradict: solves all weakly
    near: Vector | None = None
    near_rows: Indices | None = None
    near_weights: Vector | None = None
    n_steps: int = 0


def decide(
    system: System,
    limits: Limits,
    *,
    within: Mask | None = None,
    start: Indices | None = None,
    nearest: bool = False,
    floats: bool = True,
    found: Finding | None = None,
) -> Finding:
    """Find a point or a conflict among the rows ``within``; OutOfTimeError where time is up.

    With ``nearest`` the point is the one nearest to the origin, exactly; else floats that
    satisfy every row will do, if ``floats``. ``found`` is filled in on the way.
    """
    found = found or Finding()
    with np.errstate(all="ignore"):  # what overflows proves nothing, and stops nothing
        _decide(system, limits, within, start, nearest, floats, found)
    return found


def _decide(
    system: System,
    limits: Limits,
    within: Mask | None,
    start: Indices | None,
    nearest: bool,
    floats: bool,
    found: Finding,
) -> None:
    passes, e = system.passes, system.e
    every = np.ones(passes.n, dtype=np.bool_) if within is None else within.copy()
    every[e] = True
    free = np.flatnonzero(every & system.free)
    left = every & ~system.free
    targets = (system.strict & left) | passes.mask(np.array([e]))
    view = balanced_view(passes, limits)
    if nearest:
        columns = np.full(passes.p, view.columns[:-1].max(initial=1.0))
        view = View(passes, np.append(columns[:-1], view.columns[-1]), None, view.lengths)
    stages: list[tuple[list[Fraction], Mask]] = []
    while targets.any():
        only_e = bool(targets[e]) and np.count_nonzero(targets) == 1
        among = left & ~passes.mask(np.array([e])) if only_e else left
        guess = _guess(system, view, among, targets, free, start, limits, found, nearest)
        if floats and not nearest and within is None and not stages:
            point = _float_point(system, found, limits)
            if point is not None:
                found.point = point
                return
        done = project(passes, among, targets, view.columns, guess, limits, free)
        found.n_steps += 1
        if done.w is None:
            _conflict(system, view, left, targets, free, done.rows, done.multipliers, found, limits)
            if not targets[e]:
                found.weak = _joined(system, stages, left, free, limits)
            return
        left = left & (done.signs == 0)
        targets = targets & (done.signs == 0) if not only_e else targets & False
        before = every & ~system.free & ~left
        stages.append((of_size_one(done.w, view.columns), before))
    found.point = _joined(system, stages, left, free, limits)


def _joined(
    system: System,
    stages: list[tuple[list[Fraction], Mask]],
    left: Mask,
    free: Indices,
    limits: Limits,
) -> list[Fraction]:
    """One (w, t) that does what the residuals do one after the other."""
    if len(stages) == 1:
        return stages[0][0]
    return combined(system.passes, stages, left | system.passes.mask(free), limits)


def _guess(
    system: System,
    view: View,
    among: Mask,
    targets: Mask,
    free: Indices,
    start: Indices | None,
    limits: Limits,
    found: Finding,
    nearest: bool,
) -> Indices:
    """The rows that floats would use to write −Σ a_i over the targets, or come nearest to it."""
    if not among.any() and len(free) == 0:
        return np.empty(0, dtype=np.int64)
    total = view.seen_sum(np.flatnonzero(targets))
    size = float(np.abs(total).max(initial=0.0))
    if not 0.0 < size < np.inf:
        return np.empty(0, dtype=np.int64)
    question = Question(view, np.append(0.0, -total / size), 0.0, within=among, free=free)
    begin = np.empty(0, dtype=np.int64)
    if among.any():
        begin = start_rows(view, among) if start is None else start[among[start]]
    answer = search(question, begin, 1e-9, limits, lambda _: False)
    found.n_steps += len(answer.working)
    found.near_rows, found.near_weights = answer.rows, answer.weights
    t = float(answer.w[-1])
    if t > 0.0 and np.isfinite(answer.w).all():
        found.near = answer.w[:-1] / t * float(system.unit)
    return answer.rows


def _float_point(system: System, found: Finding, limits: Limits) -> list[Fraction] | None:
    """Floats near a point of the engine that satisfy every row: the point itself, or nudged."""
    if found.near is None or found.near_rows is None or not np.isfinite(found.near).all():
        return None
    point = nudged(system, found.near, found.near_rows, limits)
    return None if point is None else _homogeneous(system, point)


def _homogeneous(system: System, w: Vector) -> list[Fraction]:
    return [*(Fraction(value) for value in w.tolist()), system.unit]


def nudged(system: System, w: Vector, rows: Indices, limits: Limits) -> Vector | None:
    """Floats that satisfy every row, from some that miss a few by rounding; None if not found.

    The rows that the point meets are asked for a little slack each: one least-squares step.
    """
    if system.holds(_homogeneous(system, w), limits):
        return w
    A = system.passes.at(rows)
    unit = float(system.unit)
    if len(rows) == 0 or not unit > 0.0:
        return None
    left, right = A[:, :-1], A[:, -1] * unit
    with np.errstate(all="ignore"):
        slack = left @ w + right
        sizes = np.abs(left) @ np.abs(w) + np.abs(right)
        sizes = np.maximum(sizes, np.abs(left).max(axis=1)) * 2.0**-53
        for k in _NUDGES:
            wanted = np.where(system.free[rows], 0.0, sizes * 2.0**k) - slack
            if not np.isfinite(wanted).all():
                return None
            step = np.linalg.lstsq(left, wanted, rcond=None)[0]
            if np.isfinite(step).all() and system.holds(_homogeneous(system, w + step), limits):
                return np.asarray(w + step)
    return None


def _conflict(
    system: System,
    view: View,
    left: Mask,
    targets: Mask,
    free: Indices,
    rows: Indices,
    multipliers: list[Fraction],
    found: Finding,
    limits: Limits,
) -> None:
    """An irreducible conflict, given that −Σ a_i over the targets is in the cone: for one target.

    That is e wherever it is one: the others then need not be strict.
    """
    passes, e = system.passes, system.e
    target = e if targets[e] else int(np.flatnonzero(targets)[0])
    if np.count_nonzero(targets) > 1:
        others = left & ~passes.mask(np.array([target]))
        guess = np.setdiff1d(rows, [*free.tolist(), target])
        aimed = passes.mask(np.array([target]))
        done = project(passes, others, aimed, view.columns, guess, limits, free)
        if done.w is not None:  # it cannot be: −Σ a_i over the targets is in the cone
            raise OutOfTimeError
        rows, multipliers = done.rows, done.multipliers
    pairs = [(int(i), mu) for i, mu in zip(rows, multipliers, strict=True) if mu]
    if target != e:
        pairs.append((target, Fraction(1)))
    found.rows = np.array([i for i, _ in pairs if i != e], dtype=np.int64)
    found.multipliers = [mu for i, mu in pairs if i != e]


def interior(
    system: System, limits: Limits
) -> tuple[list[Fraction], Indices, list[Fraction], Indices, list[Fraction]]:
    """A point in the relative interior of a feasible system, and its implicit equalities.

    These are the rows J at which every solution is zero, with λ > 0 on them, and the equalities
    with theirs, of any sign: Σ λ_i a_i = 0.
    """
    passes = system.passes
    free = np.flatnonzero(system.free)
    with np.errstate(all="ignore"):
        view = balanced_view(passes, limits)
        parts = partition(view, ~system.free, limits, free=free)
    if parts.w is None:
        raise OutOfTimeError  # the system is feasible: e at least is separated
    at_zero = np.setdiff1d(np.flatnonzero(~system.free), parts.separated)
    more: dict[int, Fraction] = {}
    if parts.dependence is not None:
        claim = parts.dependence
        more = dict(zip(claim.rows, claim.multipliers, strict=True))
    weights = [1 + more.get(i, Fraction(0)) for i in at_zero.tolist()]
    equal = np.array([i for i in free.tolist() if more.get(i)], dtype=np.int64)
    return parts.w, at_zero, weights, equal, [more[i] for i in equal.tolist()]
