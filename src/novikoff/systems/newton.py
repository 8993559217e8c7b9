"""The largest r for which right sides c − r·b leave a solution: Newton on conflicts (D6, D8).

Where c − r·b leaves no solution, the conflict's λ proves r ≤ ⟨c, λ⟩/⟨b, λ⟩, and that is the next r.
Each is the value of a vertex and they fall strictly: finitely many steps end at a feasible r.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.systems.engine import Point, decide
from novikoff.systems.system import System


class Bound(NamedTuple):
    """An upper bound r, None for infinity, proved by λ on rows; a point that reaches it."""

    r: Fraction | None
    rows: Indices
    multipliers: list[Fraction]
    point: tuple[Fraction, ...] | None
    contradicted: bool = False  # at any r: ⟨b, λ⟩ is not positive


def bounds(system: System, b: Sequence[Fraction], limits: Limits) -> Iterator[Bound]:
    """Upper bounds, each below the one before and proved; the last with its point."""
    c = system.right()
    found = Bound(None, np.empty(0, dtype=np.int64), [], None)
    while found.point is None and not found.contradicted:
        r = found.r
        aim = [-d if r is None else e - r * d for e, d in zip(c, b, strict=True)]
        trial = system.with_right(aim)
        start = found.rows if len(found.rows) else None
        decided = decide(trial, limits, floats=False, start=start)
        if isinstance(decided, Point):
            found = found._replace(point=trial.point(decided.v))
        else:
            rows, weights = decided.rows.tolist(), decided.multipliers
            total = sum((mu * b[i] for i, mu in zip(rows, weights, strict=True)), Fraction(0))
            right = sum((mu * c[i] for i, mu in zip(rows, weights, strict=True)), Fraction(0))
            r = right / total if total > 0 else None
            found = Bound(r, decided.rows, weights, None, not total > 0)
        yield found
