"""One signed number for every system (D8): the largest ball inside, or the least violation.

r* = max over w of min_i (c_i − ⟨a_i, w⟩)/‖a_i‖, by Newton on conflicts: where c_i − r·‖a_i‖ leaves
no solution, the conflict's λ proves r* ≤ ⟨c, λ⟩/Σ λ_i‖a_i‖ < r, and that is the next r. Each is
the value of a vertex and they fall strictly, so that finitely many steps end at a feasible r.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.system_checker import Radius
from novikoff.systems.engine import decide
from novikoff.systems.solution import stated_multipliers
from novikoff.systems.system import System, split

# Lengths are floats: r in their terms is within this share of r in terms of the true lengths.
_SLIP = Fraction(1, 1 << 48)


def signed_radius(system: System, limits: Limits) -> Radius | Interval:
    """R* as bounds with their proof, or as an interval alone where it is infinite or time is up.

    Equalities hold where it is not negative; else they count as two rows.
    """
    try:
        found = _newton(replace(system, strict=np.zeros_like(system.strict)), limits)
        if system.free.any() and not (found.most if isinstance(found, Radius) else found.hi) >= 0.0:
            found = _newton(split(system), limits)
    except (OutOfTimeError, OverflowError):  # or it is beyond all floats
        return Interval(-math.inf, math.inf)
    return found


def _newton(system: System, limits: Limits) -> Radius | Interval:
    """The largest r for which rows that are each r‖a_i‖ tighter have a solution."""
    lengths = _lengths(system)
    lengths[system.free[:-1]] = 0.0
    n, right = [Fraction(value) for value in lengths.tolist()], system.right()
    r: Fraction | None = None
    rows, weights = np.empty(0, dtype=np.int64), list[Fraction]()
    while True:
        aim = [-b if r is None else c - r * b for c, b in zip(right, n, strict=True)]
        trial = system.with_right(aim)
        found = decide(trial, limits, floats=False, start=rows if len(rows) else None)
        if found.rows is None or found.multipliers is None:
            break
        rows, weights = found.rows, found.multipliers
        total = _sum(mu * n[i] for i, mu in zip(rows.tolist(), weights, strict=True))
        if not total > 0:  # equalities, or a row 0 ≤ c < 0: contradictory at any distance
            return Interval(-math.inf, -math.inf)
        r = _sum(mu * right[i] for i, mu in zip(rows.tolist(), weights, strict=True)) / total
    if r is None or found.point is None:
        return Interval(math.inf, math.inf)
    point = (*trial.point(found.point), Fraction(1))
    numbers, multipliers = stated_multipliers(system, rows.tolist(), weights)
    return Radius(_rounded(r, up=False), _rounded(r, up=True), point, numbers, multipliers)


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


def _lengths(system: System) -> Vector:
    """‖a_i‖ of every row but e, nearly."""
    A = system.passes.X[: system.e, :-1]
    A = A if isinstance(A, np.ndarray) else A.toarray()
    peaks = np.maximum(np.abs(A).max(axis=1, initial=0.0), 1e-300)
    return np.asarray(np.linalg.norm(A / peaks[:, None], axis=1) * peaks)


def _rounded(r: Fraction, up: bool) -> float:
    """A float on the safe side of r, for all lengths that floats may stand for."""
    value = r + abs(r) * (_SLIP if up else -_SLIP)
    near = float(value)
    if (Fraction(near) < value) if up else (Fraction(near) > value):
        near = math.nextafter(near, math.inf if up else -math.inf)
    return near
