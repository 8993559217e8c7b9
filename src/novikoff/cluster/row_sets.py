"""Sets of rows given by a predicate, where no process can hold a mask of all rows.

A task applies the predicate to the rows of its part, and keeps the result with the shard (`memo`)
for the next pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.cluster.shards import Memo
from novikoff.core.rows import Vector
from novikoff.geometry import exact
from novikoff.geometry.exact import Numbers
from novikoff.geometry.passes import Mask, Part, PerRow

# Findings about the rows of a shard that are kept.
MOST_REMEMBERED = 16


@dataclass(frozen=True)
class RowPredicate(PerRow):
    """A set of ``size`` rows: those with ⟨a_i, w⟩ = 0 for every w of ``faces``, or the others.

    Of these the rows ``only`` by number, if any are given, but not the rows ``without``. The
    number after a w bounds the error of a product with it.
    """

    size: int
    faces: tuple[tuple[Numbers, float], ...] = ()
    others: bool = False
    only: tuple[int, ...] | None = None
    without: tuple[int, ...] = ()

    def less(self, rows: RowPredicate) -> RowPredicate:
        """The same without some of its rows: a few, or those on more faces."""
        size = self.size - rows.size
        if rows.only is not None:
            return replace(self, size=size, without=(*self.without, *rows.only))
        return replace(rows, size=size, others=True)  # of all rows, as the search asks for

    def of(self, part: Part) -> Mask:
        """Those of a part that are in it."""
        inside = np.ones(part.n, dtype=np.bool_)
        for w, doubt in self.faces:
            inside = inside & _at_zero(part, w, doubt)
        inside = ~inside if self.others else inside
        if self.only is not None:
            inside = inside & np.isin(part.numbers, self.only)
        return inside & ~np.isin(part.numbers, self.without) if self.without else inside


def _at_zero(part: Part, w: Numbers, doubt: float) -> Mask:
    """The rows with ⟨a_i, w⟩ = 0, exactly."""

    def find() -> Mask:
        found = ~(np.abs(part.products(w.near)) > doubt)
        at = np.flatnonzero(found)
        for some, block in part.blocks(at):
            found[at[some]] = exact.product_signs(block.A, block.of(w)) == 0
        return found

    return remembered(part, tuple(w.whole.tolist()), find)


@dataclass(frozen=True)
class LengthsAsSeen(PerRow):
    """‖a_i‖ as `Part.lengths` has it."""

    columns: Vector
    centre: Vector | None

    def of(self, part: Part) -> Vector:
        """The lengths of these rows."""
        key = self.columns.tobytes(), None if self.centre is None else self.centre.tobytes()
        return remembered(part, key, lambda: part.lengths(self.columns, self.centre))


def remembered(part: Part, key: object, find: Callable[[], Any]) -> npt.NDArray[Any]:
    """What was found out about a part of a shard before, or is now."""
    memo: Memo = getattr(part, "memo", {})
    if key not in memo and len(memo) >= MOST_REMEMBERED:
        memo.clear()
    known, place = memo.setdefault(key, {}), (part.first, part.n)
    if place not in known:
        known[place] = find()
    return known[place]
