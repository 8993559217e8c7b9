"""Identical rows, and identical rows with opposite labels, which are the shortest contradictions.

Two rows with the same features and opposite labels have a_i + a_j = 0, so that no hyperplane
classifies both correctly. A pass computes a hash of each row. Rows with equal hashes are then
compared entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Rows
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.parts import Part
from novikoff.geometry.passes import LocalPasses, Passes
from novikoff.geometry.visits import Visit, in_row_order
from novikoff.proofs.exact import Signs

Hashes = npt.NDArray[np.uint64]


def opposite_duplicates(passes: Passes, limits: Limits) -> tuple[int, ...] | None:
    """Return the numbers of two rows with a_i = −a_j, or of one row a_i = 0; None if none exist."""
    return next(iter(all_opposite_duplicates(passes, [1] * passes.n, limits)), None)


def all_opposite_duplicates(
    passes: Passes, costs: Sequence[int | float | Fraction], limits: Limits
) -> Iterator[tuple[int, ...]]:
    """Yield as many pairs with a_i = −a_j as possible, each row once, after all rows a_i = 0.

    Among equal rows, the row with the highest cost is paired with the opposite row with the highest
    cost, and so on.
    """
    hashed = passes.over(RowHashes(), limits)
    signs = in_row_order(hashed.signs)
    for i in np.flatnonzero(signs == 0).tolist():
        yield (i,)
    for rows in _groups_of_equal_hashes(in_row_order(hashed.hashes), np.flatnonzero(signs)):
        costly_first = sorted(rows.tolist(), key=lambda i: (-costs[i], i))
        for same in _identical_rows(passes, np.array(costly_first, dtype=np.int64), signs):
            plus, minus = same[signs[same] > 0], same[signs[same] < 0]
            for i, j in zip(plus.tolist(), minus.tolist(), strict=False):
                yield (i, j) if i < j else (j, i)


def conflicting_duplicates(rows: Rows, codes: Indices) -> Iterator[Indices]:
    """Yield groups of rows that are equal entry by entry but not all of one class, in row order.

    Examples
    --------
    >>> X, codes = np.array([[1.0], [2.0], [1.0]]), np.array([0, 0, 1])
    >>> [group.tolist() for group in conflicting_duplicates(Rows.of(X, True), codes)]
    [[0, 2]]
    """
    passes = LocalPasses(rows.all_positive())
    hashes = in_row_order(passes.over(RowHashes(turn=False), Limits()).hashes)
    groups = [
        same
        for candidates in _groups_of_equal_hashes(hashes, np.arange(passes.n))
        if (codes[candidates] != codes[candidates[0]]).any()
        for same in _identical_rows(passes, candidates, passes.signs)
    ]
    for same in sorted(groups, key=lambda group: int(group[0])):
        if (codes[same] != codes[same[0]]).any():
            yield same


@dataclass
class RowHashes(Visit):
    """A visit that computes a hash of every row x_i.

    The hash depends on the numbers only, not on how they are stored. If ``turn``, the rows a_i and
    −a_i have the same hash, and ``signs`` distinguishes them. The sign of a row is the sign of its
    bias entry or, without a bias, of its first entry that is not zero. A zero row has sign 0.
    """

    turn: bool = True
    hashes: dict[int, Hashes] = field(init=False, default_factory=dict)
    signs: dict[int, Signs] = field(init=False, default_factory=dict)

    def look_at(self, part: Part) -> None:
        """Compute the hash Σ_j mix(x_ij)·odd_j modulo 2⁶⁴ of each row of this part."""
        random = np.random.default_rng(0).integers(1 << 63, size=part.X.shape[1], dtype=np.uint64)
        odd: Hashes = np.asarray(random * np.uint64(2) + np.uint64(1))
        turn = self.turn and not part.fit_intercept
        lead = np.zeros(part.n) if turn else np.ones(part.n)
        if isinstance(part.X, np.ndarray):
            if turn:
                first = np.argmax(part.X != 0.0, axis=1)
                lead = np.sign(part.X[np.arange(part.n), first]).astype(np.float64)
            hashes = (_mixed(part.X * lead[:, None]) * odd).sum(axis=1, dtype=np.uint64)
        else:
            rows = np.repeat(np.arange(part.n), np.diff(part.X.indptr))
            if turn:
                used = np.flatnonzero(part.X.data)[::-1]
                lead[rows[used]] = np.sign(part.X.data[used])  # the first of a row is set last
            hashes = np.zeros(part.n, dtype=np.uint64)
            np.add.at(hashes, rows, _mixed(part.X.data * lead[rows]) * odd[part.X.indices])
        self.hashes[part.first] = hashes
        self.signs[part.first] = (lead * part.signs).astype(np.int8)

    def merge(self, other: RowHashes) -> None:
        """Add the hashes and signs of another part."""
        self.hashes.update(other.hashes)
        self.signs.update(other.signs)


def _mixed(values: npt.NDArray[np.float64]) -> Hashes:
    """Return mixed bits of each number; 0 for both 0 and −0."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(bits ^ (bits >> np.uint64(29)))


def _groups_of_equal_hashes(hashes: Hashes, among: Indices) -> Iterator[Indices]:
    """Yield the groups of rows with equal hashes; each group is in the order of ``among``."""
    order = among[np.argsort(hashes[among], kind="stable")]
    edges = np.flatnonzero(np.diff(hashes[order])) + 1
    starts = np.append(0, edges)
    lengths = np.diff(np.append(starts, len(order)))
    for k in np.flatnonzero(lengths > 1).tolist():
        yield order[starts[k] : starts[k] + lengths[k]]


def _identical_rows(passes: Passes, rows: Indices, signs: Signs) -> Iterator[Indices]:
    """Yield groups of rows that are equal up to their sign.

    There is one group unless different rows happen to have equal hashes.
    """
    rest = rows
    while len(rest) > 1:
        first = passes.at(rest[:1])[0] * float(signs[rest[0]])
        same = np.zeros(len(rest), dtype=np.bool_)
        for places, block in passes.blocks(rest):
            turned = block.A * signs[rest[places]][:, None]
            same[places] = (block.spread(turned) == first).all(axis=1)
        yield rest[same]
        rest = rest[~same]
