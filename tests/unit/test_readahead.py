"""A second thread only reads: the run is the same with it and without."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from novikoff.core import readahead
from novikoff.core.ledger import Run
from novikoff.core.problem import pose
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder
from novikoff.core.updates import Perceptron
from tests.cases import SEQUENCES, csr, planted, planted_integers


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", SEQUENCES)
def test_two_threads_make_the_same_run(
    order: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readahead, "_WORTHWHILE", 0)
    monkeypatch.setattr(readahead, "_LEAD", 0)
    case = planted(1, 700, 8)
    problem = pose(csr(case.X) if sparse else case.X, case.signs, True, threads=2)

    def go(threads: int) -> Run:
        return run(
            problem,
            Perceptron(),
            SEQUENCES[order](700),
            Limits(epochs=5),
            np.random.default_rng(4),
            average=True,
            recorder=Recorder(),
            threads=threads,
        )

    one, two = go(1), go(2)
    assert one.trace is not None
    assert two.trace is not None
    assert one.trace.index.tolist() == two.trace.index.tolist()
    assert one.W.tolist() == two.W.tolist()
    assert one.averaged().tolist() == two.averaged().tolist()
    assert one.stops == two.stops


def test_the_reader_reads_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readahead, "_WORTHWHILE", 0)
    case = planted_integers(2, 300, 5)
    problem = pose(case.X, case.signs, True)
    progress = np.zeros(1, dtype=np.int64)
    before = threading.active_count()
    with readahead.reading_ahead(problem.rows, np.arange(300), progress, 2):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert progress[0] == 300


def test_an_error_in_the_loop_ends_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readahead, "_WORTHWHILE", 0)
    case = planted_integers(2, 300, 5)
    problem = pose(case.X, case.signs, True)
    before = threading.active_count()
    with (
        pytest.raises(KeyError),
        readahead.reading_ahead(problem.rows, np.arange(300), np.zeros(1, dtype=np.int64), 2),
    ):
        raise KeyError
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2])
def test_small_data_is_not_read_ahead(threads: int) -> None:
    case = planted_integers(2, 300, 5)
    problem = pose(case.X, case.signs, True)
    before = threading.active_count()
    with readahead.reading_ahead(
        problem.rows, np.arange(300), np.zeros(1, dtype=np.int64), threads
    ):
        assert threading.active_count() == before


def test_two_threads_and_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readahead, "_WORTHWHILE", 0)
    case = planted_integers(3, 300, 5)
    problem = pose(case.X, case.signs, True)
    rng = np.random.default_rng(0)
    ran = run(problem, Perceptron(), SEQUENCES["blocks"](300), Limits(updates=3), rng, threads=2)
    assert ran.stops == [Stop.UPDATES]
    assert ran.ledger.updates[0] == 3


def test_a_reader_with_nothing_to_do_gives_way_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readahead, "_WORTHWHILE", 0)
    case = planted_integers(3, 300, 5)
    problem = pose(case.X, case.signs, True)
    progress = np.zeros(1, dtype=np.int64)
    before = threading.active_count()
    with readahead.reading_ahead(problem.rows, np.arange(300), progress, 2):
        time.sleep(0.02)  # thousands of vain looks
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
