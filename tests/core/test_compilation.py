"""A first compilation is announced, and nothing else is."""

import threading
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from numba import njit

from novikoff.core import compilation
from novikoff.core.compilation import announcing_compilation


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set when a compilation is announced."""
    event = threading.Event()
    monkeypatch.setattr(compilation, "announce_compilation", event.set)
    return event


def test_a_compilation_is_announced_while_it_runs(announced: threading.Event) -> None:
    loop: Any = SimpleNamespace(stats=SimpleNamespace(cache_misses=Counter()))
    with announcing_compilation(loop):
        loop.stats.cache_misses["float64"] += 1
        assert announced.wait(60)


def test_work_of_other_threads_is_no_compilation(announced: threading.Event) -> None:
    """A server computes in many threads while a loop is loaded from the cache."""
    loop: Any = SimpleNamespace(stats=SimpleNamespace(cache_misses=Counter(float64=1)))
    ended = threading.Event()

    def compute() -> None:
        sum(k * k for k in range(20_000_000))
        ended.set()

    with announcing_compilation(loop):
        threading.Thread(target=compute).start()
        assert ended.wait(600)
    assert not announced.is_set()


def test_numba_counts_a_loop_that_it_compiles_in_its_public_statistics() -> None:
    @njit
    def loop(x: float) -> float:
        return x + 1.0

    seen = []
    for value in (1.0, 2.0, 3):  # the third call is a new signature
        loop(value)
        seen.append(compilation._compiled((loop,)))
    assert seen == [1, 1, 2]
