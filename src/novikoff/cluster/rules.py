"""Sets of rows told by rules: no process has a mask of them all.

Any part of the rows can apply a rule. What it has found out is kept with the shard (`memo`), so
that the next pass need not find it out again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.geometry import exact
from novikoff.geometry.exact import Numbers
from novikoff.geometry.passes import Mask, Part, PerRow


@dataclass(frozen=True)
class Rule(PerRow):
    """A set of so many rows."""

    size: int


@dataclass(frozen=True)
class Every(Rule):
    """All rows."""

    def of(self, part: Part) -> Mask:
        """All of them."""
        return np.ones(part.n, dtype=np.bool_)


@dataclass(frozen=True)
class Some(Rule):
    """A few rows by number."""

    rows: tuple[int, ...]

    def of(self, part: Part) -> Mask:
        """Those that are among them."""
        return np.isin(part.numbers, self.rows)


@dataclass(frozen=True)
class Less(Rule):
    """The rows of a set that are not in another."""

    rows: Rule
    others: Rule

    def of(self, part: Part) -> Mask:
        """Those in the first only."""
        return self.rows.of(part) & ~self.others.of(part)


@dataclass(frozen=True)
class AtZero(Rule):
    """The rows of a set with ⟨a_i, w⟩ = 0, exactly; ``doubt`` bounds the error of a product."""

    rows: Rule
    w: Numbers
    doubt: float

    @property
    def key(self) -> object:
        """What tells it from others."""
        before = self.rows.key if isinstance(self.rows, AtZero) else None
        return before, tuple(self.w.whole.tolist())

    def of(self, part: Part) -> Mask:
        """Those at zero."""

        def find() -> Mask:
            inside = self.rows.of(part)
            doubtful = inside & ~(np.abs(part.products(self.w.near)) > self.doubt)
            at = np.flatnonzero(doubtful)
            for some, block in part.blocks(at):
                signs = exact.product_signs(block.A, block.of(self.w))
                doubtful[at[some]] = signs == 0
            return doubtful

        return remembered(part, self.key, find)


@dataclass(frozen=True)
class LengthsAsSeen(PerRow):
    """‖a_i‖ as `Part.lengths` has it."""

    columns: Vector
    centre: Vector | None

    def of(self, part: Part) -> Vector:
        """The lengths of these rows."""
        key = self.columns.tobytes(), None if self.centre is None else self.centre.tobytes()
        return remembered(part, key, lambda: part.lengths(self.columns, self.centre))


def remembered(part: Part, key: object, find: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """What was found out about a part of a shard before, or is now."""
    memo: dict[object, npt.NDArray[Any]] | None = getattr(part, "memo", None)
    if memo is None:
        return find()
    whole = key, part.first, part.n
    found = memo.get(whole)
    if found is None:
        found = memo[whole] = find()
    return found
