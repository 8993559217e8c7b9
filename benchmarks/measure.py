"""Time compared by turns, as ratios, and the rows of the table.

Ours and the peer take turns (ABAB…), so that a slow spell of the machine hits both. Every
turn gives one ratio; a row reports their median and quartiles.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
Mine = TypeVar("Mine")
Theirs = TypeVar("Theirs")

# Idle threads of BLAS go on spinning for some hundredths of a second.
PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class Row:
    """One comparison with a peer, or one figure with a limit.

    Attributes
    ----------
    case, peer : str
        The name of the row, and of the peer ("" for a figure without one).
    values : sequence of float
        The peer's time over ours, turn by turn, or the figure.
    target : float
        To be reached: at least for a ratio, at most for a figure.
    ours, theirs : float
        Median seconds; 0 where none were measured.
    sound : bool
        Whether both sides came to answers of the same quality: else the row does not count.
    note : str
        The evidence for that.
    """

    case: str
    peer: str
    values: Sequence[float]
    target: float
    ours: float = 0.0
    theirs: float = 0.0
    sound: bool = True
    note: str = ""

    @property
    def median(self) -> float:
        """The median of the values."""
        return float(np.median(self.values))

    @property
    def reached(self) -> bool:
        """Whether the row counts and its target is reached."""
        enough = self.median >= self.target if self.peer else self.median <= self.target
        return self.sound and enough


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds that a call takes, and its result."""
    gc.collect()
    time.sleep(PAUSE_SECONDS)
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


@dataclass
class Turns:
    """Seconds of ours and of the peer, turn by turn."""

    ours: list[float]
    theirs: list[float]

    def row(
        self,
        case: str,
        peer: str,
        target: float,
        verdict: tuple[bool, str] = (True, ""),
        per: float = 1.0,
    ) -> Row:
        """The row of these turns; times are divided by ``per``.

        Examples
        --------
        >>> Turns([1.0, 1.0, 2.0], [3.0, 4.0, 10.0]).row("dense", "them", 4.0).median
        4.0
        """
        ratios = [b / a for a, b in zip(self.ours, self.theirs, strict=True) if min(a, b) > 0.0]
        mine, their = float(np.median(self.ours)) / per, float(np.median(self.theirs)) / per
        sound = verdict[0] and len(ratios) == len(self.ours)  # no turn was lost in noise
        return Row(case, peer, ratios or [np.nan], target, mine, their, sound, verdict[1])


def compare(
    ours: Callable[[], Mine],
    theirs: Callable[[], Theirs],
    turns: int,
    patience: float = np.inf,
) -> tuple[Turns, Mine, Theirs]:
    """Run both by turns, ours once more before the clock starts; the last answers of both.

    A peer that has taken longer than ``patience`` seconds altogether is not asked again: its
    last time stands for the turns that are left.
    """
    mine = ours()
    times = Turns([], [])
    for turn in range(turns):
        seconds, mine = timed(ours)
        times.ours.append(seconds)
        if turn == 0 or sum(times.theirs) <= patience:
            seconds, their = timed(theirs)
        else:
            seconds = times.theirs[-1]
        times.theirs.append(seconds)
    return times, mine, their


def compare_epochs(
    ours: Callable[[int, int], Mine],
    theirs: Callable[[int, int], Theirs],
    epochs: int,
    turns: int,
) -> tuple[Turns, list[Mine], list[Theirs]]:
    """Run ``ours(epochs, seed)`` and ``theirs(epochs, seed)`` by turns, short and long.

    The seconds are those of one more epoch: k epochs less one, divided by k − 1. The once-only
    costs of a fit, such as the check of its input, drop out.
    """
    ours(1, 0), theirs(1, 0)
    times = Turns([], [])
    mine: list[Mine] = []
    their: list[Theirs] = []
    for seed in range(turns):
        short, _ = timed(partial(ours, 1, seed))
        their_short, _ = timed(partial(theirs, 1, seed))
        whole, my_result = timed(partial(ours, epochs, seed))
        their_whole, their_result = timed(partial(theirs, epochs, seed))
        times.ours.append((whole - short) / (epochs - 1))
        times.theirs.append((their_whole - their_short) / (epochs - 1))
        mine.append(my_result)
        their.append(their_result)
    return times, mine, their


def render(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table.

    Examples
    --------
    >>> print(render([Row("dense", "them", [3.9, 4.0, 4.1], 4.0, 0.05, 0.2)]))
    | case | peer | ours | peer's | ratio [quartiles] | aim | reached |
    |---|---|---|---|---|---|---|
    | dense | them | 50 ms | 200 ms | 4 [3.95–4.05] | ≥ 4 | yes |
    """
    heads = ["case", "peer", "ours", "peer's", "ratio [quartiles]", "aim", "reached"]
    lines = [heads, None, *map(_cells, rows)]
    return "\n".join(
        "|---" * len(heads) + "|" if line is None else f"| {' | '.join(line)} |" for line in lines
    )


def _cells(row: Row) -> list[str]:
    low, high = np.quantile(row.values, [0.25, 0.75])
    spread = f"{row.median:.3g} [{low:.3g}–{high:.3g}]"
    reached = "yes" if row.reached else "NO" if row.sound else "does not count"
    reached = "" if np.isnan(row.target) else reached
    reached += f" ({row.note})" if row.note else ""
    times = [_duration(row.ours), _duration(row.theirs)] if row.peer else ["", ""]
    aim = f"{'≥' if row.peer else '≤'} {row.target:g}"
    return [row.case, row.peer, *times, spread, aim, reached]


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
