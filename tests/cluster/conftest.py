"""Clusters of the tests: two workers for all of them, and some that may be killed."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
from distributed import Client, LocalCluster, Worker
from distributed.diagnostics.plugin import SchedulerPlugin


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Two workers of one thread each, with processes of their own."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


class Watcher(SchedulerPlugin):
    """Waits until the scheduler is in a state: it looks after each change."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler, self.changed = scheduler, threading.Event()
        scheduler.add_plugin(self, name=f"watcher-{id(self)}")

    def add_worker(self, *args: Any, **kwargs: Any) -> None:
        """A worker has come."""
        self.changed.set()

    def transition(self, *args: Any, **kwargs: Any) -> None:
        """A task comes into another state; the scheduler forgets it after this call."""
        self.scheduler.loop.add_callback(self.changed.set)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Return when the condition is true."""
        while not condition():
            assert self.changed.wait(120)
            self.changed.clear()


class Killer(SchedulerPlugin):
    """Calls a function once, when a task with this name is given to a worker, before it runs."""

    def __init__(self, name: str, act: Callable[[str], None]) -> None:
        self.name, self.act, self.done = name, act, False
        self.scheduler: Any = None

    def transition(self, key: str, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """A task has come into another state."""
        if finish == "processing" and not self.done and str(key).startswith(self.name):
            self.done = True
            self.act(self.scheduler.tasks[key].processing_on.address)


def work(address: str, name: str, package: bool) -> None:
    """Be a worker, perhaps one on which this package cannot be imported."""
    if not package:
        sys.modules["novikoff"] = None  # type: ignore[assignment]

    async def run() -> None:
        options = {"nthreads": 1, "name": name, "dashboard": False, "memory_limit": "2GB"}
        async with Worker(address, **options) as worker:
            await worker.finished()

    asyncio.run(run())


class Machines:
    """A scheduler in this process, and workers without nannies that can be sent signals."""

    def __init__(self, cluster: LocalCluster, client: Client) -> None:
        self.cluster, self.client = cluster, client
        self.processes: list[Any] = []
        # Workers are forked from a process that has imported all they need: they start at once.
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["distributed", "novikoff.cluster", __name__])

    def start(self, n: int = 1, *, package: bool = True) -> None:
        """Start workers, and wait for them."""
        names = {f"worker-{len(self.processes) + k}" for k in range(n)}
        watcher = Watcher(self.cluster.scheduler)
        for name in sorted(names):
            given = self.cluster.scheduler_address, name, package
            self.processes.append(self.context.Process(target=work, args=given, daemon=True))
            self.processes[-1].start()
        workers = self.cluster.scheduler.workers
        watcher.wait(lambda: names <= {worker.name for worker in workers.copy().values()})

    def pids(self) -> dict[str, int]:
        """The process of each worker, by its address."""
        return dict(self.client.run(os.getpid, on_error="ignore"))

    def when(self, task: str, act: Callable[[str], None]) -> Killer:
        """Call a function on the worker that gets a task with this name, as soon as it does."""
        killer = Killer(task, act)
        killer.scheduler = self.cluster.scheduler
        self.cluster.scheduler.add_plugin(killer, name=f"killer-{id(killer)}")
        return killer

    def kill_at(self, task: str, how: int = signal.SIGKILL) -> Killer:
        """Kill the worker that is given a task of a name."""
        pids = self.pids()
        return self.when(task, lambda address: os.kill(pids[address], how))

    def close(self) -> None:
        """End all workers."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
            process.join()


@pytest.fixture
def machines(request: pytest.FixtureRequest) -> Iterator[Machines]:
    """A scheduler without workers; a parameter says after how long it drops silent workers."""
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": getattr(request, "param", "5m")}),
        LocalCluster(
            n_workers=0, processes=False, dashboard_address=":0", silence_logs=60, protocol="tcp"
        ) as cluster,
        Client(cluster) as client,
    ):
        own = Machines(cluster, client)
        try:
            yield own
        finally:
            own.close()
