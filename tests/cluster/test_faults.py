"""If workers die, hang or come late, results have the same bits, or one clear error is raised."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
import dask.array as da
from distributed import Client, LocalCluster

import novikoff as nv
from tests.cases import case_named
from tests.cluster.cases import data, write_folder
from tests.cluster.conftest import Machines, Watcher

X, Y = data("inseparable", n=400)


def folder_rows(path: Path, machines: Machines) -> nv.cluster.ClusterRows:
    folder = write_folder(path / "data", X, Y, 8)
    return nv.cluster.rows(folder, label="kind", client=machines.client)


def decided(rows: Any) -> Any:
    proof: Any = nv.separate(rows, goal="kind").certificate
    nv.verify(proof, rows)
    return proof


def learned(rows: Any) -> Any:
    with pytest.warns(UserWarning, match="max_epochs"):
        clf = nv.Perceptron(random_state=0, max_epochs=3).fit(rows)
    assert (clf.n_iter_, clf.converged_) == (3, False)
    return clf.coef_.tobytes(), clf.intercept_.tobytes(), clf.n_updates_


def counted(rows: Any) -> Any:
    clf: Any = nv.Pocket(random_state=0, max_updates=200, refine=False).fit(rows)
    return clf.coef_.tobytes(), clf.intercept_.tobytes(), clf.certificate_


def test_workers_killed_one_after_the_other(machines: Machines, tmp_path: Path) -> None:
    """Workers are killed in the survey, in pricing, in a merge, in the proof and in learning."""
    machines.start(2)
    first = machines.kill_at("survey")
    rows = folder_rows(tmp_path, machines)
    assert first.done
    for ask, *tasks in (
        (decided, "mostviolated", "merge", "digests", "check"),
        (learned, "epoch"),
        (counted, "shardsearch", "mistakecount"),
    ):
        expected = ask(rows)
        for task in tasks:
            machines.start(1)
            shot = machines.kill_at(task)
            with case_named(task):
                assert ask(rows) == expected
                assert shot.done
    assert decided(rows) == nv.separate(X, Y, goal="kind").certificate


def test_other_workers_come_and_one_without_the_package_is_an_error(
    machines: Machines, tmp_path: Path
) -> None:
    machines.start(2)
    rows = folder_rows(tmp_path, machines)
    for killed in (False, True):  # True: all earlier workers have been killed
        with case_named(killed):
            pids = [*machines.pids().values()] if killed else []
            came = threading.Thread(target=machines.start)

            def act(address: str) -> None:
                for pid in pids:  # noqa: B023
                    os.kill(pid, signal.SIGKILL)
                came.start()  # noqa: B023

            shot = machines.when("mostviolated", act)
            assert nv.separate(rows).certificate == nv.separate(X, Y).certificate
            came.join()
            assert shot.done
    machines.start(1, package=False)
    with pytest.raises(nv.cluster.ClusterError, match="cannot import novikoff"):
        folder_rows(tmp_path, machines)


@pytest.mark.parametrize("machines", ["5s"], indirect=True)
def test_a_worker_that_hangs_is_given_up(machines: Machines, tmp_path: Path) -> None:
    machines.start(2)
    rows = folder_rows(tmp_path, machines)
    shot = machines.kill_at("mostviolated", signal.SIGSTOP)
    assert nv.separate(rows).certificate == nv.separate(X, Y).certificate
    assert shot.done


def test_a_nanny_brings_its_worker_back(tmp_path: Path) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=60
        ) as cluster,
        Client(cluster) as client,
    ):
        machines = Machines(cluster, client)
        rows = folder_rows(tmp_path, machines)
        shot = machines.kill_at("mostviolated")
        assert nv.separate(rows).certificate == nv.separate(X, Y).certificate
        assert shot.done


def poison(block: Any) -> Any:
    """A chunk that kills every process that loads it."""
    if len(block):
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_shard_that_kills_its_workers_is_an_error(machines: Machines) -> None:
    machines.start(2)
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        machines.cluster.scheduler.allowed_failures = 0
        whole = da.from_array(X, chunks=(100, 3))
        bad = whole.map_blocks(poison, meta=np.empty((0, 3)))
        with pytest.raises(nv.cluster.ClusterError, match="does not fit into a worker's memory"):
            nv.cluster.rows(bad, da.from_array(Y, chunks=100), client=machines.client)


def test_a_scheduler_that_has_ended_is_an_error(tmp_path: Path) -> None:
    with (
        LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", silence_logs=60, protocol="tcp"
        ) as cluster,
        Client(cluster.scheduler_address) as client,
    ):
        rows = folder_rows(tmp_path, Machines(cluster, client))
        gone = threading.Event()

        def close(tasks: int, done: int) -> None:
            if not gone.is_set():
                gone.set()
                cluster.close()

        rows.cluster.progress = close
        with pytest.raises(nv.cluster.ClusterError, match="The scheduler has ended"):
            nv.separate(rows)


def test_ctrl_c_and_a_budget_leave_no_task_behind(machines: Machines, tmp_path: Path) -> None:
    machines.start(1)
    rows = folder_rows(tmp_path, machines)
    kept = set(machines.cluster.scheduler.tasks)

    def interrupt(tasks: int, done: int) -> None:
        raise KeyboardInterrupt

    rows.cluster.progress = interrupt
    with pytest.raises(KeyboardInterrupt) as first:
        nv.verify(nv.separate(X, Y).certificate, rows)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt) as second:
        nv.Perceptron(random_state=0).fit(rows)
    rows.cluster.progress = lambda tasks, done: None
    assert nv.separate(rows, budget=1e-9).kind == "undecided"
    tasks = machines.cluster.scheduler.tasks
    Watcher(machines.cluster.scheduler).wait(lambda: kept >= {*tasks})  # tasks may finish
    assert first.type is second.type  # the exceptions stay alive, as in a console
    assert nv.separate(rows).certificate == nv.separate(X, Y).certificate
