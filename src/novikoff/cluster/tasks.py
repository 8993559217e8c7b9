"""Tasks on a cluster: visits to groups of shards, whose results are merged in a tree.

A task is a pure function of a visit and some shards. Dask decides where the task runs, moves its
data, and runs it again if a worker dies. The bits of the result are the same in every case. There
are about four tasks for each thread, so the scheduler has little to do even if there are many
shards.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from threading import Event
from typing import Any, cast
from uuid import uuid4

import numpy as np

from novikoff.cluster.shards import Setting, Shard, ShardSource, run_checked, versions
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.errors import ClusterError
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.visits import Q, RowQuestion, Visit
from novikoff.proofs import exact

TASKS_PER_THREAD = 4
# One task merges at most this many results.
FAN_IN = 8
SECONDS_BETWEEN_POLLS = 0.25
# A visit whose pickle is longer than this is sent once, as the result of a task.
MAX_EMBEDDED_BYTES = 1 << 15
# Shards stay in memory if they take at most this share of the memory of all workers.
SHARE_OF_MEMORY_FOR_SHARDS = 0.4

# A callback that gets the number of tasks of a pass, and the number of tasks that are done.
TaskProgress = Callable[[int, int], None]


@dataclass
class ShardVisit(RowQuestion):
    """A question about whole shards, whose rows have labels instead of signs."""

    @abstractmethod
    def look_at_shard(self, shard: Shard) -> None:
        """Add the rows of a shard to the visit's result."""


def identity(value: Any) -> Any:
    """Return the value, so that it is the result of a task.

    Dask computes a lost result of a task again, but it does not restore scattered data.
    """
    return value


def look_at_shards(setting: Setting | None, visit: Q, shards: Iterable[Shard]) -> Q:
    """Run a copy of a visit over whole shards, or over their rows with signs.

    Rows are read range by range, as in memory, so that a range stays in the CPU cache.
    """
    exact.check_arithmetic()
    total = visit.blank()
    with np.errstate(all="ignore"):  # a product that overflows proves nothing
        for shard in shards:
            if isinstance(total, ShardVisit):
                total.look_at_shard(shard)
                continue
            part = shard.part(cast(Setting, setting))
            for ends in part.ranges():
                partial = total.blank()
                cast(Visit, partial).look_at(part.range(*ends))
                total.merge(partial)
    return total


def merge(visits: list[RowQuestion]) -> RowQuestion:
    """Merge visits into one."""
    total = visits[0].blank()
    for visit in visits:
        total.merge(visit)
    return total


class Cluster:
    """The shards of a source on the workers of a client."""

    def __init__(self, client: Any, source: ShardSource, progress: TaskProgress) -> None:
        self.client, self.source, self.progress = client, source, progress
        threads = client.nthreads()
        workers = client.scheduler_info()["workers"].values()
        if not threads:
            raise ClusterError("The cluster has no workers: start workers and try again.")
        least = min((worker["memory_limit"] or np.inf for worker in workers), default=np.inf)
        size = 8.0 * sum(source.counts) * (source.width + 1)  # bytes
        self.keep = size <= SHARE_OF_MEMORY_FOR_SHARDS * least * len(threads)
        used = np.flatnonzero(source.counts)  # empty shards are skipped
        parts = np.array_split(used, min(len(used), TASKS_PER_THREAD * sum(threads.values())))
        self.groups: list[list[int]] = [part.tolist() for part in parts]
        self._token, self._count = uuid4().hex[:12], count()
        self._kept: dict[int, Any] = {}

    @property
    def firsts(self) -> Indices:
        """The number of the first row of each group."""
        return self.source.firsts[[group[0] for group in self.groups]]

    def shards(self, g: int) -> Any:
        """A future of the shards of a group; they stay in the workers' memory if all shards fit."""
        if not self.keep:
            key = f"read-{self._token}-{next(self._count)}"
            return self.source.submit(self.client, key, self.groups[g], False)
        if g not in self._kept:
            key = f"shards-{self._token}-{g}"
            self._kept[g] = self.source.submit(self.client, key, self.groups[g], True)
        return self._kept[g]

    def over(
        self,
        visit: Q,
        limits: Limits,
        setting: Setting | None = None,
        groups: Sequence[int] | None = None,
    ) -> Q:
        """Run a visit over the shards of all groups, or of some groups."""
        return cast(Q, self.result(self.begin(visit, setting, groups), limits))

    def begin(
        self,
        visit: RowQuestion,
        setting: Setting | None = None,
        groups: Sequence[int] | None = None,
        *,
        priority: int = 0,
    ) -> list[Any]:
        """Start a pass and return its futures; the last future is the result."""
        tag = f"{self._token}-{next(self._count)}"
        expected = versions()
        name = type(
            getattr(visit, "visit", visit)
        ).__name__.lower()  # the inner visit of a `Carrying`
        submit = partial(self.client.submit, priority=priority)
        question: Any = visit
        futures = []
        if len(pickle.dumps(visit)) > MAX_EMBEDDED_BYTES:
            question = submit(identity, visit, key=f"ask-{name}-{tag}")
            futures.append(question)
        level: list[Any] = []
        for g in range(len(self.groups)) if groups is None else groups:
            key = f"{name}-{tag}-{g}"
            level.append(
                submit(
                    run_checked,
                    expected,
                    look_at_shards,
                    setting,
                    question,
                    self.shards(g),
                    key=key,
                )
            )
        futures += level
        submit = partial(self.client.submit, priority=priority + 1)
        depth = 0
        while len(level) > 1:
            depth += 1
            level = [
                submit(
                    run_checked,
                    expected,
                    merge,
                    level[k : k + FAN_IN],
                    key=f"merge-{tag}-{depth}-{k}",
                )
                for k in range(0, len(level), FAN_IN)
            ]
            futures += level
        return futures

    def result(self, futures: list[Any], limits: Limits) -> Any:
        """Wait for the result of a pass. If it ends early, all its tasks are cancelled."""
        ended, done = Event(), False
        futures[-1].add_done_callback(lambda _: ended.set())
        try:
            with readable_dask_errors():
                waiting = True
                while waiting:
                    self.progress(len(futures), sum(future.done() for future in futures))
                    if limits.reached() is not None:
                        raise OutOfTimeError
                    waiting = not ended.wait(SECONDS_BETWEEN_POLLS)
                result = futures[-1].result()
                done = True
                return result
        finally:
            if not done:
                self.cancel(futures)

    def cancel(self, futures: list[Any]) -> None:
        """Cancel all tasks of a pass."""
        with suppress(Exception):  # the scheduler may not answer
            self.client.cancel(futures, force=True, asynchronous=False)


@contextmanager
def readable_dask_errors() -> Iterator[None]:
    """Turn the errors of Dask into a ClusterError that says what to do."""
    try:
        yield
    except CancelledError as error:
        raise ClusterError(
            f"The scheduler has ended or lost the tasks ({error}): start the cluster again and "
            "repeat the work."
        ) from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise ClusterError(
            "A task has ended several workers, probably because a shard does not fit into a "
            "worker's memory. Give the workers more memory, or split the data into smaller files "
            f"or chunks. ({error})"
        ) from None
