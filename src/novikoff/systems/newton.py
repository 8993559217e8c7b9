"""The largest r for which right sides c − r·b leave a solution: Newton on conflicts (D6, D8).

Where c − r·b leaves no solution, the conflict's λ proves r* ≤ ⟨c, λ⟩/⟨b, λ⟩. Each such bound is the
value of a vertex, and they fall strictly: finitely many steps end at r*. Where they are many, r is
tried further and further below the bound; once there is a point, halfway from it. A bound with many
digits is tried a little below itself: there a conflict proves a lower bound, and a point is nearly
there. The rows of λ, met with equality, lead from it to one that reaches the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.passes import check_time
from novikoff.geometry.rational import solve_seconds, solved
from novikoff.proofs import exact
from novikoff.systems.engine import Point, decide
from novikoff.systems.system import System

# Significant bits of the r that are tried first.
_BITS = 96
# Steps before r is tried far below its bound.
_PATIENCE = 8


class Bound(NamedTuple):
    """An upper bound r, None for infinity, proved by λ on rows; a point that reaches it.

    ``near`` is a point for ``below``, which is less than r: by rounding only, if ``is_near``.
    """

    r: Fraction | None
    rows: Indices
    multipliers: list[Fraction]
    point: tuple[Fraction, ...] | None = None
    near: tuple[Fraction, ...] | None = None
    below: Fraction | None = None

    @property
    def is_near(self) -> bool:
        """Whether only the digits that r has too many lie between the point and the bound."""
        return self.r is not None and self.below == _shortened(self.r)


def bounds(system: System, b: Sequence[Fraction], limits: Limits) -> Iterator[Bound]:
    """Upper bounds, each below the one before and proved, and points; the last has its point.

    Some r has to leave a solution: b > 0 on the rows but for some that have a common point.
    OverflowError where numbers grow beyond all floats; then the last bound may have a near point.
    """
    c = system.right()
    both = exact.numbers([*c, *b])
    whole_c, whole_b = both.whole[: system.e], both.whole[system.e :]
    found = Bound(None, np.empty(0, dtype=np.int64), [])
    first: Fraction | None = None  # the first bound
    steps = 0
    while True:
        check_time(limits)
        if found.is_near and (moved := _moved(system, b, found, limits)) is not None:
            yield found._replace(point=moved)
            return
        aim = _next_aim(found, first, is_patient=steps <= _PATIENCE)
        top, bottom = (1, 0) if aim is None else aim.as_integer_ratio()  # without r, b alone
        trial = system.with_whole(whole_c * bottom - whole_b * top, both.unit / (bottom or 1))
        decided = decide(trial, limits, floats=False, start=found.rows if len(found.rows) else None)
        if isinstance(decided, Point):
            w = trial.point(decided.v)
            if aim == found.r:
                yield found._replace(point=w)
                return
            found = found._replace(near=w, below=aim)
            steps = _PATIENCE  # the next step is one of Newton's
        else:
            rows, weights = decided.rows.tolist(), decided.multipliers
            total = sum((mu * b[i] for i, mu in zip(rows, weights, strict=True)), Fraction(0))
            right = sum((mu * c[i] for i, mu in zip(rows, weights, strict=True)), Fraction(0))
            proof = found._replace(rows=decided.rows, multipliers=weights)
            if total <= 0:
                raise AssertionError("The rows contradict each other, whatever r is.")
            found = proof._replace(r=right / total)
            first = found.r if first is None else first
            steps += 1
        yield found


def _next_aim(found: Bound, first: Fraction | None, *, is_patient: bool) -> Fraction | None:
    """The r to try next: the bound, in few digits; far below it where Newton's steps are many.

    None is for the first step, which asks whether there is a bound at all.
    """
    if found.r is None or first is None or found.is_near:
        return found.r
    if is_patient:
        return _shortened(found.r)
    far = 2 * found.r - first if found.below is None else (found.r + found.below) / 2
    return _shortened(far)


def _shortened(r: Fraction) -> Fraction:
    """The value r rounded down to a few digits, if it has more."""
    size = max(r.numerator.bit_length(), r.denominator.bit_length())
    if size <= 2 * _BITS:
        return r
    shift = _BITS - (r.numerator.bit_length() - r.denominator.bit_length())
    unit = Fraction(2) ** shift
    return (r * unit).__floor__() / unit


def _moved(
    system: System, b: Sequence[Fraction], found: Bound, limits: Limits
) -> tuple[Fraction, ...] | None:
    """The point nearest to the near one that meets the rows of λ with equality, if it solves."""
    rows, r = found.rows[:-1], found.r or Fraction(0)  # the last depends on the others
    check_time(limits, solve_seconds(len(rows)))
    w = found.near or ()
    whole, e = system.passes.whole(rows)
    M, unit = -whole[:, :-1], Fraction(2) ** e  # a_i = M·2^e
    slack = zip(system.slack(w, limits, rows), rows.tolist(), strict=True)
    short = exact.numbers([value - r * b[i] for value, i in slack])
    try:
        y = exact.numbers(solved(M @ M.T, short.whole)) if len(rows) else exact.numbers([])
    except ZeroDivisionError:
        return None
    step = short.unit * y.unit / unit
    moved = [a + int(d) * step for a, d in zip(w, y.whole @ M, strict=True)]
    left = [s - r * d for s, d in zip(system.slack(moved, limits), b, strict=True)]
    bad = any(s < 0 or (s and free) for s, free in zip(left, system.free.tolist(), strict=False))
    return None if bad else tuple(moved)
