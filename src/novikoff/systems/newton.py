"""The largest r for which A w ≤ c − r·b has a solution, by Newton's method.

Let r* be this largest r. A step tries one r. If there is no solution for it, the multipliers λ of
the conflict prove r* ≤ ⟨c, λ⟩/⟨b, λ⟩, which is the next r. Each of these bounds is the value at a
vertex, and each is less than the one before. So the bound is r* after finitely many steps. If there
are many steps, values further and further below the bound are tried. Once a point is known, the
value halfway between its r and the bound is tried.

A bound with many digits is rounded down before it is tried. Then either the conflict at the rounded
value proves a lower bound, or the point at the rounded value is close to the optimum. In the second
case, the point that meets the rows of λ with equality is computed from it, and reaches the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.linear_algebra import solve_exactly, solve_seconds
from novikoff.geometry.passes import check_time
from novikoff.proofs import exact
from novikoff.systems.engine import Point, point_or_conflict
from novikoff.systems.system import System

# The values of r that are tried have this many significant bits.
_TRIAL_BITS = 96
# After this many steps, values of r far below the bound are tried.
_PATIENCE = 8


class Bound(NamedTuple):
    """An upper bound on r, the multipliers that prove it, and the points that were found.

    Attributes
    ----------
    r : Fraction or None
        The bound; None for infinity.
    rows, multipliers
        The homogeneous rows and λ that prove it.
    point : tuple of Fraction or None
        A point that reaches the bound.
    near, below : tuple of Fraction or None, Fraction or None
        A point that reaches the value ``below``, and this value, which is less than r.
    """

    r: Fraction | None
    rows: Indices
    multipliers: list[Fraction]
    point: tuple[Fraction, ...] | None = None
    near: tuple[Fraction, ...] | None = None
    below: Fraction | None = None

    @property
    def is_near(self) -> bool:
        """Whether ``below`` is r rounded down to few digits."""
        return self.r is not None and self.below == _with_few_bits(self.r)


def bounds(system: System, b: Sequence[Fraction], limits: Limits) -> Iterator[Bound]:
    """Yield upper bounds on r, each proved and below the one before; the last one has its point.

    There must be a solution for some r. This is so if b > 0 on all rows, except rows that have a
    common point. OverflowError is raised if numbers exceed the range of float64; then the last
    bound may have a point near it.
    """
    c = system.right()
    both = exact.numbers([*c, *b])
    whole_c, whole_b = both.whole[: system.homogenising_row], both.whole[system.homogenising_row :]
    bound = Bound(None, np.empty(0, dtype=np.int64), [])
    first: Fraction | None = None  # the first bound
    steps = 0
    while True:
        check_time(limits)
        if bound.is_near and (moved := moved_to_near(system, b, bound, limits)) is not None:
            yield bound._replace(point=moved)
            return
        aim = _next_aim(bound, first, is_patient=steps <= _PATIENCE)
        # The first step has no r: its right sides are −b.
        top, bottom = (1, 0) if aim is None else aim.as_integer_ratio()
        trial = system.with_whole(whole_c * bottom - whole_b * top, both.unit / (bottom or 1))
        decided = point_or_conflict(
            trial, limits, floats=False, start=bound.rows if len(bound.rows) else None
        )
        if isinstance(decided, Point):
            w = trial.point(decided.v)
            if aim == bound.r:
                yield bound._replace(point=w)
                return
            bound = bound._replace(near=w, below=aim)
            steps = _PATIENCE  # the next step is a Newton step
        else:
            rows, multipliers = decided.rows.tolist(), decided.multipliers
            total = sum((mu * b[i] for i, mu in zip(rows, multipliers, strict=True)), Fraction(0))
            right = sum((mu * c[i] for i, mu in zip(rows, multipliers, strict=True)), Fraction(0))
            proof = bound._replace(rows=decided.rows, multipliers=multipliers)
            if total <= 0:
                raise AssertionError("The rows contradict each other, whatever r is.")
            bound = proof._replace(r=right / total)
            first = bound.r if first is None else first
            steps += 1
        yield bound


def _next_aim(bound: Bound, first: Fraction | None, *, is_patient: bool) -> Fraction | None:
    """The next r to try: the bound in few digits, or a value far below it after many steps.

    None stands for the first step, which finds out whether there is a bound at all.
    """
    if bound.r is None or first is None or bound.is_near:
        return bound.r
    if is_patient:
        return _with_few_bits(bound.r)
    far = 2 * bound.r - first if bound.below is None else (bound.r + bound.below) / 2
    return _with_few_bits(far)


def _with_few_bits(r: Fraction) -> Fraction:
    """Round r down to a few significant bits, if it has many."""
    size = max(r.numerator.bit_length(), r.denominator.bit_length())
    if size <= 2 * _TRIAL_BITS:
        return r
    shift = _TRIAL_BITS - (r.numerator.bit_length() - r.denominator.bit_length())
    unit = Fraction(2) ** shift
    return (r * unit).__floor__() / unit


def moved_to_near(
    system: System, b: Sequence[Fraction], bound: Bound, limits: Limits
) -> tuple[Fraction, ...] | None:
    """The point nearest to ``near`` that meets the rows of λ with equality, if it is a solution."""
    rows, r = bound.rows[:-1], bound.r or Fraction(0)  # the last row depends on the others
    check_time(limits, solve_seconds(len(rows)))
    w = bound.near or ()
    whole, e = system.passes.as_integers(rows)
    M, unit = -whole[:, :-1], Fraction(2) ** e  # a_i = M·2^e
    slack = zip(system.slack(w, limits, rows), rows.tolist(), strict=True)
    short = exact.numbers([value - r * b[i] for value, i in slack])
    try:
        y = exact.numbers(solve_exactly(M @ M.T, short.whole)) if len(rows) else exact.numbers([])
    except ZeroDivisionError:
        return None
    step = short.unit * y.unit / unit
    moved = [a + int(d) * step for a, d in zip(w, y.whole @ M, strict=True)]
    slacks = [s - r * d for s, d in zip(system.slack(moved, limits), b, strict=True)]
    bad = any(
        s < 0 or (s and free) for s, free in zip(slacks, system.equalities.tolist(), strict=False)
    )
    return None if bad else tuple(moved)
