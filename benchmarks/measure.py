"""How time is compared: by turns, as ratios.

Ours and the peer take turns (ABAB…), so that a slow spell of the machine hits both; every
turn gives one ratio, and a case reports their median and quartiles.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

Result = TypeVar("Result")
Mine = TypeVar("Mine")
Theirs = TypeVar("Theirs")

# Idle threads of BLAS go on spinning for some hundredths of a second.
_PAUSE = 0.05
_PROCESSORS = Path("/proc/stat")


@dataclass(frozen=True)
class Paired:
    """Seconds of ours and of the peer, turn by turn."""

    ours: list[float]
    peer: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as long as ours the peer took, in every turn that can be used."""
        turns = zip(self.ours, self.peer, strict=True)
        return [theirs / mine for mine, theirs in turns if mine > 0.0 and theirs > 0.0]

    @property
    def sound(self) -> bool:
        """Whether no turn was lost: a difference of times can drown in noise, below zero."""
        return len(self.ratios) == len(self.ours)

    def quartiles(self) -> tuple[float, float, float]:
        """The quartiles of the ratios: lower, median, upper; NaN if there are none.

        Examples
        --------
        >>> Paired([1.0, 1.0, 2.0], [3.0, 4.0, 10.0]).quartiles()
        (3.5, 4.0, 4.5)
        """
        low, median, high = np.quantile(self.ratios or [np.nan], [0.25, 0.5, 0.75])
        return float(low), float(median), float(high)


@dataclass(frozen=True)
class Epochs(Generic[Mine, Theirs]):
    """A comparison of fits.

    Attributes
    ----------
    marginal : Paired
        Seconds for one more epoch: what k epochs take beyond one, divided by k − 1. What a
        fit costs once, such as the check of its input, drops out.
    whole : Paired
        Seconds for the whole fit of k epochs.
    compilation : float
        Seconds by which our very first fit of one epoch exceeded the later ones.
    ours, peer : list
        What the fits returned, in each turn that of one epoch and that of k.
    """

    marginal: Paired
    whole: Paired
    compilation: float
    ours: list[Mine]
    peer: list[Theirs]


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds a call takes, and what it returns."""
    gc.collect()
    time.sleep(_PAUSE)
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def compare_epochs(
    ours: Callable[[int, int], Mine],
    peer: Callable[[int, int], Theirs],
    epochs: int,
    repeats: int,
) -> Epochs[Mine, Theirs]:
    """Run ``ours(epochs, seed)`` and ``peer(epochs, seed)`` by turns, short and long.

    The seed is the number of the turn, the same for both sides.
    """
    first, _ = timed(partial(ours, 1, 0))
    peer(1, 0)
    short, whole = Paired([], []), Paired([], [])
    mine: list[Mine] = []
    theirs: list[Theirs] = []
    for seed in range(repeats):
        for k, times in ((1, short), (epochs, whole)):
            seconds, my_result = timed(partial(ours, k, seed))
            times.ours.append(seconds)
            seconds, their_result = timed(partial(peer, k, seed))
            times.peer.append(seconds)
            mine.append(my_result)
            theirs.append(their_result)
    marginal = Paired(
        _per_epoch(short.ours, whole.ours, epochs), _per_epoch(short.peer, whole.peer, epochs)
    )
    compilation = max(0.0, first - statistics.median(short.ours))
    return Epochs(marginal, whole, compilation, mine, theirs)


def compare_calls(
    ours: Callable[[], Callable[[], Mine]],
    peer: Callable[[], Callable[[], Theirs]],
    repeats: int,
) -> tuple[Paired, Mine, Theirs]:
    """Prepare and run both by turns; only the runs are timed, and the first not at all.

    Returns the times, and what the last runs returned.
    """
    my_result, their_result = ours()(), peer()()
    times = Paired([], [])
    for _ in range(repeats):
        seconds, my_result = timed(ours())
        times.ours.append(seconds)
        seconds, their_result = timed(peer())
        times.peer.append(seconds)
    return times, my_result, their_result


@dataclass(frozen=True)
class Answers(Generic[Mine, Theirs]):
    """Times of two that answer one question, their last answers, and our compilation."""

    times: Paired
    compilation: float
    ours: Mine
    peer: Theirs
    peer_runs: int


def compare_answers(
    ours: Callable[[], Mine], peer: Callable[[], Theirs], repeats: int, patience: float
) -> Answers[Mine, Theirs]:
    """Ask both the same question by turns.

    A peer that has taken longer than ``patience`` altogether is not asked again: its last
    time stands for the turns that are left.
    """
    first, my_answer = timed(ours)
    times = Paired([], [])
    runs = 0
    for turn in range(repeats):
        seconds, my_answer = timed(ours)
        times.ours.append(seconds)
        if turn == 0 or sum(times.peer) <= patience:
            their_seconds, their_answer = timed(peer)
            runs += 1
        times.peer.append(their_seconds)
    compilation = max(0.0, first - statistics.median(times.ours))
    return Answers(times, compilation, my_answer, their_answer, runs)


def compare_closely(
    ours: Callable[[], Mine], peer: Callable[[], Theirs], turns: int
) -> Answers[Mine, Theirs]:
    """Ask the peer before and after each turn of ours, for ratios near 1.

    What drifts evens out, and so does what the second gains or loses by what the first left.
    """
    first, my_answer = timed(ours)
    times = Paired([], [])
    for _ in range(turns):
        before, _ = timed(peer)
        seconds, my_answer = timed(ours)
        after, their_answer = timed(peer)
        times.ours.append(seconds)
        times.peer.append((before + after) / 2.0)
    compilation = max(0.0, first - statistics.median(times.ours))
    return Answers(times, compilation, my_answer, their_answer, 2 * turns)


class Bystanders:
    """How much of the machine other processes use, as Linux counts it.

    Examples
    --------
    >>> Bystanders().share() >= 0.0
    True
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._others = self._seconds()

    def share(self) -> float:
        """The cores that others kept busy since the start, on average."""
        return max(0.0, self._seconds() - self._others) / (time.monotonic() - self._start + 1e-9)

    @staticmethod
    def _seconds() -> float:
        if not _PROCESSORS.exists():
            return 0.0
        user, nice, system = _PROCESSORS.read_text().split()[1:4]
        everyone = (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")
        return everyone - sum(os.times()[:4])


def _per_epoch(short: list[float], whole: list[float], epochs: int) -> list[float]:
    return [(b - a) / (epochs - 1) for a, b in zip(short, whole, strict=True)]
