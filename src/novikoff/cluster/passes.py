"""Passes over rows on a cluster: tasks that look at groups of shards, merged in a tree.

A task is a pure function of a visit and of shards. Dask decides where it runs, moves what it
needs, and runs it again where a worker has died; a visit gives the same bits in any case. About
four tasks for each thread, however many shards there are, keep the scheduler's work small.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Event
from typing import Any, cast
from uuid import uuid4

import numpy as np

from novikoff.cluster.row_sets import LengthsAsSeen, RowPredicate
from novikoff.cluster.shards import ClusterError, Setting, Shard, Source, checked, versions
from novikoff.core.rows import Indices, Vector, stacked
from novikoff.core.stops import Limits
from novikoff.core.validation import Label
from novikoff.data.errors import DataError
from novikoff.geometry import exact
from novikoff.geometry.exact import Signs
from novikoff.geometry.passes import (
    ExactSigns,
    Mask,
    MostViolated,
    OutOfTimeError,
    Part,
    Passes,
    RowSet,
    V,
    Visit,
)

TASKS_PER_THREAD = 4
# Results that are merged by one task.
FAN_IN = 8
SECONDS_BETWEEN_POLLS = 0.25
# Entries of fetched rows that the coordinator keeps.
MOST_FETCHED_ENTRIES = 1 << 24
# Visits with a longer pickle are sent once, as a task's result.
MOST_EMBEDDED_BYTES = 1 << 15
SHARE_OF_MEMORY_FOR_SHARDS = 0.4


@dataclass
class ShardVisit(Visit):
    """A visit that looks at whole shards, not at parts of them under signs."""

    def look_at_shard(self, shard: Shard) -> None:
        """Take a shard into account."""
        raise NotImplementedError


@dataclass
class Survey(ShardVisit):
    """The shape, R, the labels with the first row of each; refuses NaN by row and column."""

    fit_intercept: bool
    names: Sequence[Hashable] | None = None
    radius: float = field(init=False, default=0.0)
    longest: int = field(init=False, default=1)
    d: int = field(init=False, default=-1)
    sparse: bool = field(init=False, default=False)
    labels: dict[Label, int] = field(init=False, default_factory=dict)

    def look_at_shard(self, shard: Shard) -> None:
        """Pose the problem of a shard."""
        self._take(int(shard.X.shape[1]), not isinstance(shard.X, np.ndarray))
        problem = shard.problem(self.fit_intercept, self.names)
        self.radius = max(self.radius, problem.radius)
        self.longest = max(self.longest, problem.longest)
        firsts = np.unique(shard.codes, return_index=True)[1].tolist()
        self._note({label: shard.first + k for label, k in zip(shard.labels, firsts, strict=True)})

    def merge(self, other: Survey) -> None:
        """Take the larger, and all labels."""
        if other.d >= 0:
            self._take(other.d, other.sparse)
        self.radius = max(self.radius, other.radius)
        self.longest = max(self.longest, other.longest)
        self._note(other.labels)

    def _take(self, d: int, sparse: bool) -> None:
        if self.d not in (-1, d):
            raise DataError(f"Some shards have {d} columns, others {self.d}.")
        if self.d >= 0 and self.sparse != sparse:
            raise DataError("Some chunks are sparse, others dense: make them alike.")
        self.d, self.sparse = d, sparse

    def _note(self, labels: dict[Label, int]) -> None:
        for label, first in labels.items():
            self.labels[label] = min(first, self.labels.get(label, first))


class FetchedPart(Part):
    """A few rows, which know their numbers."""

    def __init__(self, numbers: Indices, X: Any, signs: Signs, fit_intercept: bool) -> None:
        super().__init__(0, X, signs, fit_intercept)
        self._numbers = numbers

    @property
    def numbers(self) -> Indices:
        """The number of each row among all."""
        return self._numbers

    @classmethod
    def of_part(cls, part: Part, at: Indices | Mask) -> FetchedPart:
        """Some rows of a part, copied."""
        return cls(part.numbers[at], part.X[at], part.signs[at], part.fit_intercept)

    def joined(self, other: FetchedPart) -> FetchedPart:
        """The rows of both, each once, in order."""
        if len(self.signs) == 0 or len(other.signs) == 0:
            return other if len(self.signs) == 0 else self
        every = np.concatenate([self.numbers, other.numbers])
        numbers, at = np.unique(every, return_index=True)
        signs = np.concatenate([self.signs, other.signs])[at]
        return FetchedPart(numbers, stacked(self.X, other.X)[at], signs, self.fit_intercept)


@dataclass
class Carrying(Visit):
    """A visit together with the rows that its answer names, so that no second pass fetches them.

    Without a visit, it fetches the rows ``wanted``, whose numbers are sorted.
    """

    visit: Visit | None = None
    wanted: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rows: FetchedPart | None = field(init=False, default=None)

    def blank(self) -> Carrying:
        """The same question, nothing seen yet."""
        return Carrying(None if self.visit is None else self.visit.blank(), self.wanted)

    def look_at(self, part: Part) -> None:
        """Look, and keep the rows that were named."""
        if self.visit is not None:
            look_by_ranges(self.visit, part)
        low, high = np.searchsorted(self._named(), [part.first, part.first + part.n])
        self._keep(FetchedPart.of_part(part, self._named()[low:high] - part.first))

    def merge(self, other: Carrying) -> None:
        """Merge, and keep the rows that are still named."""
        if self.visit is not None and other.visit is not None:
            self.visit.merge(other.visit)
        if other.rows is not None:
            self._keep(other.rows)

    def _keep(self, rows: FetchedPart) -> None:
        known = rows if self.rows is None else self.rows.joined(rows)
        self.rows = FetchedPart.of_part(known, np.isin(known.numbers, self._named()))

    def _named(self) -> Indices:
        if isinstance(self.visit, MostViolated):
            return np.sort(self.visit.rows)
        worst = self.visit.worst if isinstance(self.visit, ExactSigns) else -1
        return np.array([worst]) if worst >= 0 else self.wanted


# The tasks.


def identity(value: Any) -> Any:
    """A value as a task's result: Dask computes it again if it is lost, unlike scattered data."""
    return value


def look(setting: Setting | None, visit: V, shards: Iterable[Shard]) -> V:
    """Let a copy of a visit look at shards, part by part."""
    exact.check_arithmetic()
    total = visit.blank()
    with np.errstate(all="ignore"):  # what overflows proves nothing
        for shard in shards:
            if isinstance(total, ShardVisit):
                total.look_at_shard(shard)
                continue
            whole = shard.part(cast(Setting, setting))
            if isinstance(total, Carrying):
                total.look_at(whole)
            else:
                look_by_ranges(total, whole)
    return total


def look_by_ranges(visit: Visit, part: Part) -> None:
    """Let a visit look at a part, range by range: as in memory, a range stays in the cache."""
    for ends in part.ranges():
        own = visit.blank()
        own.look_at(part.range(*ends))
        visit.merge(own)


def merge(visits: list[Visit]) -> Visit:
    """One visit that has seen what all have."""
    total = visits[0].blank()
    for visit in visits:
        total.merge(visit)
    return total


class Cluster:
    """The shards of a source on the workers of a client."""

    def __init__(self, client: Any, source: Source, progress: Progress) -> None:
        self.client, self.source, self.progress = client, source, progress
        threads, told = client.nthreads(), client.scheduler_info()["workers"].values()
        if not threads:
            raise ClusterError("The cluster has no workers: start some, and try again.")
        least = min((worker["memory_limit"] or np.inf for worker in told), default=np.inf)
        size = 8.0 * sum(source.counts) * (source.width + 1)  # bytes
        self.keep = size <= SHARE_OF_MEMORY_FOR_SHARDS * least * len(threads)
        used = np.flatnonzero(source.counts)  # empty shards are not looked at
        parts = np.array_split(used, min(len(used), TASKS_PER_THREAD * sum(threads.values())))
        self.groups: list[list[int]] = [part.tolist() for part in parts]
        self._token, self._count = uuid4().hex[:12], count()
        self._kept: dict[int, Any] = {}

    @property
    def firsts(self) -> Indices:
        """The first row of each group."""
        return self.source.firsts[[group[0] for group in self.groups]]

    def shards(self, g: int) -> Any:
        """A future of the shards of a group, kept in the workers' memory if all fit."""
        if not self.keep:
            key = f"read-{self._token}-{next(self._count)}"
            return self.source.submit(self.client, key, self.groups[g], False)
        if g not in self._kept:
            key = f"shards-{self._token}-{g}"
            self._kept[g] = self.source.submit(self.client, key, self.groups[g], True)
        return self._kept[g]

    def over(
        self,
        visit: V,
        limits: Limits,
        setting: Setting | None = None,
        groups: Sequence[int] | None = None,
    ) -> V:
        """Let a visit look at the shards of all groups, or of some."""
        return cast(V, self.result(self.begin(visit, setting, groups), limits))

    def begin(
        self,
        visit: Visit,
        setting: Setting | None = None,
        groups: Sequence[int] | None = None,
        *,
        chained: bool = False,
        priority: int = 0,
    ) -> list[Any]:
        """The futures of a pass, the last of which is its result.

        ``chained``, each group goes on from where the one before it ended.
        """
        client, tag, mine = self.client, f"{self._token}-{next(self._count)}", versions()
        named = visit.visit if isinstance(visit, Carrying) and visit.visit is not None else visit
        name = type(named).__name__.lower()
        asked: Any = visit
        made = []
        if len(pickle.dumps(visit)) > MOST_EMBEDDED_BYTES:
            asked = client.submit(identity, visit, key=f"ask-{name}-{tag}", priority=priority)
            made.append(asked)
        level: list[Any] = []
        for g in range(len(self.groups)) if groups is None else groups:
            key, own = f"{name}-{tag}-{g}", level[-1] if chained and level else asked
            given = checked, mine, look, setting, own, self.shards(g)
            level.append(client.submit(*given, key=key, priority=priority))
        made += level
        depth = 0
        while len(level) > 1 and not chained:
            depth += 1
            level = [
                client.submit(checked, mine, merge, level[k : k + FAN_IN],
                              key=f"merge-{tag}-{depth}-{k}", priority=priority + 1)
                for k in range(0, len(level), FAN_IN)
            ]  # fmt: skip
            made += level
        return made

    def result(self, futures: list[Any], limits: Limits) -> Any:
        """The result of a pass; whatever ends it early, no task of it is left behind."""
        ended, done = Event(), False
        futures[-1].add_done_callback(lambda _: ended.set())
        try:
            with explained():
                waiting = True
                while waiting:
                    self.progress(len(futures), sum(future.done() for future in futures))
                    if limits.reached() is not None:
                        raise OutOfTimeError
                    waiting = not ended.wait(SECONDS_BETWEEN_POLLS)
                found = futures[-1].result()
                done = True
                return found
        finally:
            if not done:
                self.cancel(futures)

    def cancel(self, futures: list[Any]) -> None:
        """Leave nothing of a pass behind."""
        with suppress(Exception):  # the scheduler may be gone
            self.client.cancel(futures, force=True, asynchronous=False)


@contextmanager
def explained() -> Iterator[None]:
    """Say in a sentence what Dask could not do."""
    try:
        yield
    except CancelledError as error:
        raise ClusterError(
            f"The scheduler is gone, or has forgotten the work ({error}): start the cluster "
            "again, and fit again."
        ) from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise ClusterError(
            "A task has ended several workers: a shard probably does not fit into a worker's "
            f"memory. Give workers more, or cut the data into smaller files or chunks. ({error})"
        ) from None


# Hears how many tasks a pass has, and how many are done.
Progress = Callable[[int, int], None]


class DaskPasses(Passes):
    """The rows of a cluster under the signs of a question.

    The limits are for rows that are fetched; passes have their own.
    """

    remote = True

    def __init__(self, cluster: Cluster, setting: Setting, survey: Survey, limits: Limits) -> None:
        self.cluster, self.setting, self.n = cluster, setting, sum(cluster.source.counts)
        self.limits = limits
        self.d, self.sparse, self.fit_intercept = survey.d, survey.sparse, setting.fit_intercept
        self.radius, self.longest = survey.radius, survey.longest
        self.p, self.first_rows = self.d + int(self.fit_intercept), {}
        for label, first in survey.labels.items():
            side = 1 if label == setting.positive else -1
            self.first_rows[side] = min(first, self.first_rows.get(side, first))
        self._known: FetchedPart | None = None  # rows that were fetched

    def over(self, visit: V, limits: Limits) -> V:
        """Let a visit look at all rows; OutOfTimeError if a limit is reached."""
        if not isinstance(visit, MostViolated | ExactSigns):
            return self.cluster.over(visit, limits, self.setting)
        found = self.cluster.over(Carrying(visit), limits, self.setting)
        if self._known is not None and found.rows is not None:
            room = self._known.n * self.p < MOST_FETCHED_ENTRIES
            self._known = self._known.joined(found.rows) if room else found.rows
        return cast(V, found.visit)

    def fetch(self, rows: Indices) -> FetchedPart:
        """Rows by number, from here where they are known, else from the workers."""
        known = self._known
        wanted = np.unique(rows) if known is None else np.setdiff1d(rows, known.numbers)
        if known is None or len(wanted) > 0:
            if known is not None and known.n * self.p >= MOST_FETCHED_ENTRIES:
                wanted, known = np.unique(rows), None  # others make room
            groups = np.unique(np.searchsorted(self.cluster.firsts, wanted, side="right") - 1)
            some = groups.tolist() or [0]
            # The first rows are needed for any answer, even that there was no time.
            limits = Limits() if self._known is None else self.limits
            found = self.cluster.over(Carrying(None, wanted), limits, self.setting, some).rows
            known = found if known is None else known.joined(cast(FetchedPart, found))
            self._known = known
        known = cast(FetchedPart, known)
        at = np.searchsorted(known.numbers, rows)
        return FetchedPart(rows, known.X[at], known.signs[at], self.fit_intercept)

    def every(self) -> RowSet:
        """The set of all rows."""
        return RowPredicate(self.n)

    def some(self, rows: Indices) -> RowSet:
        """The set of a few rows."""
        return RowPredicate(len(rows), only=tuple(rows.tolist()))

    def less(self, rows: RowSet, others: RowSet) -> RowSet:
        """A set without the rows of another, all of which it has."""
        return cast(RowPredicate, rows).less(cast(RowPredicate, others))

    def at_zero(self, rows: RowSet, seen: ExactSigns) -> RowSet:
        """Those rows of a set that have the sign 0."""
        before = cast(RowPredicate, rows)
        return replace(before, size=seen.zero, faces=(*before.faces, (seen.w, seen.doubt)))

    def size(self, rows: RowSet) -> int:
        """The number of rows of a set."""
        return cast(RowPredicate, rows).size

    def within(self, rows: RowSet, few: Indices) -> Indices:
        """Those of a few rows that are in a set."""
        return few[self.fetch(few).of(rows)] if len(few) > 0 else few

    def lengths(self, columns: Vector, centre: Vector | None, limits: Limits) -> LengthsAsSeen:
        """‖a_i‖ for every row, worked out where it is needed."""
        return LengthsAsSeen(columns, centre)
