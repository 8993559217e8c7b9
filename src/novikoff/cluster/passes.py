"""The verdict's passes over rows on a cluster, which store nothing for each row in one process.

No process can hold a mask of all rows. A set of rows is therefore a predicate, which a task
evaluates on the rows of its part. The shard keeps the result (`memo`) for the next pass. If an
answer names rows, which are few, they are returned with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from novikoff.cluster.shards import Memo, Setting, Shard
from novikoff.cluster.tasks import Cluster, ShardVisit
from novikoff.core.class_labels import Label
from novikoff.core.rows import Indices, Mask, Vector, stacked
from novikoff.core.stops import Limits
from novikoff.errors import DataError
from novikoff.geometry.parts import Part, PerRow, RowSet
from novikoff.geometry.passes import Passes
from novikoff.geometry.visits import ExactSigns, MostViolated, V, Visit
from novikoff.proofs import exact
from novikoff.proofs.exact import Numbers, Signs

# This process keeps fetched rows of at most this many entries.
MAX_FETCHED_ENTRIES = 1 << 24
# A shard keeps at most this many results about its rows.
MAX_REMEMBERED = 16


class DaskPasses(Passes):
    """The rows of a cluster with the signs of a setting.

    ``limits`` applies to fetching rows; each pass has its own limits.
    """

    remote = True

    def __init__(self, cluster: Cluster, setting: Setting, survey: Survey, limits: Limits) -> None:
        self.cluster = cluster
        self.setting = setting
        self.n = sum(cluster.source.counts)
        self.limits = limits
        self.d, self.sparse, self.fit_intercept = survey.d, survey.sparse, setting.fit_intercept
        self.radius, self.longest = survey.radius, survey.longest
        self.p = self.d + int(self.fit_intercept)
        self.first_rows = {}
        for label, first in survey.labels.items():
            side = 1 if label == setting.positive else -1
            self.first_rows[side] = min(first, self.first_rows.get(side, first))
        self._known: FetchedPart | None = None  # the rows that this process has fetched

    def over(self, visit: V, limits: Limits) -> V:
        """Run a visit over all rows; raise OutOfTimeError if a limit is reached."""
        if not isinstance(visit, MostViolated | ExactSigns):
            return self.cluster.over(visit, limits, self.setting)
        visited = self.cluster.over(Carrying(visit), limits, self.setting)
        if self._known is not None and visited.rows is not None:
            self._known = self._known.joined(visited.rows)
        return cast(V, visited.visit)

    def fetch(self, rows: Indices) -> FetchedPart:
        """The rows with these numbers, from this process if it has them, else from the workers."""
        # The first fetch has no limit: every answer needs rows, even "there was no time".
        limits = Limits() if self._known is None else self.limits
        known = self._known
        if known is not None and known.n * self.p >= MAX_FETCHED_ENTRIES:
            known = None  # free the memory of known rows
        wanted = np.unique(rows) if known is None else np.setdiff1d(rows, known.numbers)
        if known is None or len(wanted) > 0:
            groups = np.unique(np.searchsorted(self.cluster.firsts, wanted, side="right") - 1)
            visit = Carrying(Wanted(wanted))
            fetched = self.cluster.over(visit, limits, self.setting, groups.tolist() or [0]).rows
            known = fetched if known is None or fetched is None else known.joined(fetched)
        self._known = known = cast(FetchedPart, known)
        at = np.searchsorted(known.numbers, rows)
        return FetchedPart(rows, known.X[at], known.signs[at], self.fit_intercept)

    def all_rows(self) -> RowSet:
        """The set of all rows."""
        return RowPredicate(self.n)

    def row_set(self, rows: Indices) -> RowSet:
        """The set of a few rows."""
        return RowPredicate(len(rows), only=tuple(rows.tolist()))

    def difference(self, rows: RowSet, others: RowSet) -> RowSet:
        """A set of rows without the rows of one of its subsets."""
        return cast(RowPredicate, rows).less(cast(RowPredicate, others))

    def rows_at_zero(self, rows: RowSet, signs: ExactSigns) -> RowSet:
        """The rows of a set that have the sign 0."""
        before = cast(RowPredicate, rows)
        return replace(before, size=signs.zero, faces=(*before.faces, (signs.w, signs.doubt)))

    def size(self, rows: RowSet) -> int:
        """The number of rows of a set."""
        return cast(RowPredicate, rows).size

    def members_of(self, rows: RowSet, numbers: Indices) -> Indices:
        """The rows of ``numbers`` that are in a set."""
        return numbers[self.fetch(numbers).values_of(rows)] if len(numbers) > 0 else numbers

    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> LengthsAsSeen:
        """‖a_i‖ for every row, computed when a task needs it."""
        return LengthsAsSeen(columns, centre)


@dataclass
class Survey(ShardVisit):
    """A visit that finds the shape, R, and the labels with the first row of each label.

    NaN and infinity are rejected with an error that names row and column.
    """

    fit_intercept: bool
    names: Sequence[Hashable] | None = None
    radius: float = field(init=False, default=0.0)
    longest: int = field(init=False, default=1)
    d: int = field(init=False, default=-1)
    sparse: bool = field(init=False, default=False)
    labels: dict[Label, int] = field(init=False, default_factory=dict)

    def look_at_shard(self, shard: Shard) -> None:
        """Check the rows of a shard and add its numbers to the survey."""
        self._take(int(shard.X.shape[1]), not isinstance(shard.X, np.ndarray))
        rows = shard.rows(self.fit_intercept, self.names)
        self.radius = max(self.radius, rows.radius)
        self.longest = max(self.longest, rows.longest)
        firsts = np.unique(shard.codes, return_index=True)[1].tolist()
        self._note({label: shard.first + k for label, k in zip(shard.labels, firsts, strict=True)})

    def merge(self, other: Survey) -> None:
        """Keep the larger numbers and the labels of both."""
        if other.d >= 0:
            self._take(other.d, other.sparse)
        self.radius = max(self.radius, other.radius)
        self.longest = max(self.longest, other.longest)
        self._note(other.labels)

    def _take(self, d: int, sparse: bool) -> None:
        if self.d not in (-1, d):
            raise DataError(f"Some shards have {d} columns, others have {self.d}.")
        if self.d >= 0 and self.sparse != sparse:
            raise DataError("Some chunks are sparse, others are dense: convert them to one format.")
        self.d, self.sparse = d, sparse

    def _note(self, labels: dict[Label, int]) -> None:
        for label, first in labels.items():
            self.labels[label] = min(first, self.labels.get(label, first))


class FetchedPart(Part):
    """A part that consists of a few rows, with their numbers in the data."""

    def __init__(self, numbers: Indices, X: Any, signs: Signs, fit_intercept: bool) -> None:
        super().__init__(0, X, signs, fit_intercept)
        self._numbers = numbers

    @property
    def numbers(self) -> Indices:
        """The number of each row in the data."""
        return self._numbers

    @classmethod
    def of_part(cls, part: Part, at: Indices | Mask) -> FetchedPart:
        """A copy of some rows of a part."""
        return cls(part.numbers[at], part.X[at], part.signs[at], part.fit_intercept)

    def joined(self, other: FetchedPart) -> FetchedPart:
        """The rows of both parts in order, each row once."""
        if len(self.signs) == 0 or len(other.signs) == 0:
            return other if len(self.signs) == 0 else self
        every = np.concatenate([self.numbers, other.numbers])
        numbers, at = np.unique(every, return_index=True)
        signs = np.concatenate([self.signs, other.signs])[at]
        return FetchedPart(numbers, stacked(self.X, other.X)[at], signs, self.fit_intercept)


@dataclass
class Wanted(Visit):
    """The sorted numbers of rows to fetch."""

    rows: Indices

    def look_at(self, part: Part) -> None:
        """Do nothing: `Carrying` copies the rows."""

    def merge(self, other: Wanted) -> None:
        """Do nothing."""


@dataclass
class Carrying(Visit):
    """A visit together with the rows that its answer names, so that no second pass fetches them."""

    visit: MostViolated | ExactSigns | Wanted
    rows: FetchedPart | None = field(init=False, default=None)

    def blank(self) -> Carrying:
        """A copy that has seen no rows."""
        return Carrying(self.visit.blank())

    def look_at(self, part: Part) -> None:
        """Run the visit and keep the rows that it names."""
        self.visit.look_at(part)
        first, last = np.searchsorted(self._named(), [part.first, part.first + part.n])
        self._keep(FetchedPart.of_part(part, self._named()[first:last] - part.first))

    def merge(self, other: Carrying) -> None:
        """Merge the visits and keep the rows that the result names."""
        self.visit.merge(other.visit)  # type: ignore[arg-type]  # both visits have the same type
        if other.rows is not None:
            self._keep(other.rows)

    def _keep(self, rows: FetchedPart) -> None:
        known = rows if self.rows is None else self.rows.joined(rows)
        self.rows = FetchedPart.of_part(known, np.isin(known.numbers, self._named()))

    def _named(self) -> Indices:
        if isinstance(self.visit, ExactSigns):
            worst = self.visit.worst
            return np.array([worst] if worst >= 0 else [], dtype=np.int64)
        return np.sort(self.visit.rows)


@dataclass(frozen=True)
class RowPredicate(PerRow):
    """A set of ``size`` rows: the rows with ⟨a_i, w⟩ = 0 for every w of ``faces``.

    If ``others`` is True, it is the complement of these rows. ``only`` restricts the set to rows
    with given numbers, and ``without`` excludes rows by their numbers. The number that is stored
    with each w bounds the error of a product with w.
    """

    size: int
    faces: tuple[tuple[Numbers, float], ...] = ()
    others: bool = False
    only: tuple[int, ...] | None = None
    without: tuple[int, ...] = ()

    def less(self, rows: RowPredicate) -> RowPredicate:
        """The set without a subset, which is a few rows or the rows on more faces."""
        size = self.size - rows.size
        if rows.only is not None:
            return replace(self, size=size, without=(*self.without, *rows.only))
        # The search calls this only for the set of all rows.
        return replace(rows, size=size, others=True)

    def values_on(self, part: Part) -> Mask:
        """A mask of the rows of a part that are in the set."""
        inside = np.ones(part.n, dtype=np.bool_)
        for w, doubt in self.faces:
            inside = inside & _at_zero(part, w, doubt)
        inside = ~inside if self.others else inside
        if self.only is not None:
            inside = inside & np.isin(part.numbers, self.only)
        return inside & ~np.isin(part.numbers, self.without) if self.without else inside


def _at_zero(part: Part, w: Numbers, doubt: float) -> Mask:
    """A mask of the rows with ⟨a_i, w⟩ = 0, decided exactly."""

    def find() -> Mask:
        at_zero = ~(np.abs(part.products(w.near)) > doubt)
        at = np.flatnonzero(at_zero)
        for part_of_block, block in part.blocks(at):
            at_zero[at[part_of_block]] = (
                exact.product_signs(block.A, block.weights_of_columns(w)) == 0
            )
        return at_zero

    return remembered(part, tuple(w.whole.tolist()), find)


@dataclass(frozen=True)
class LengthsAsSeen(PerRow):
    """The lengths ‖a_i‖, computed by `Part.lengths`."""

    columns: Vector
    centre: Vector | None

    def values_on(self, part: Part) -> Vector:
        """The lengths of the rows of a part."""
        key = self.columns.tobytes(), None if self.centre is None else self.centre.tobytes()
        return remembered(part, key, lambda: part.lengths(self.columns, self.centre))


def remembered(part: Part, key: object, find: Callable[[], Any]) -> npt.NDArray[Any]:
    """A result about a part of a shard: from its memo, or computed now."""
    memo: Memo = getattr(part, "memo", {})
    if key not in memo and len(memo) >= MAX_REMEMBERED:
        memo.clear()
    known, place = memo.setdefault(key, {}), (part.first, part.n)
    if place not in known:
        known[place] = find()
    return known[place]
