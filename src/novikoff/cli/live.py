"""How a stream is shown while it runs: lines, JSON lines, or a live view on a terminal."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from novikoff.cli.progress import print_text

if TYPE_CHECKING:
    from rich.table import Table

    from novikoff.report.stream import Progress

_BARS = "▁▂▃▄▅▆▇█"
_WIDTHS = (15, 13, 10, 10, 14)
_TITLES = ("rows", "mistakes", "error", "recent", "margin ≤")
_SECONDS_BETWEEN_REFRESHES = 0.125


class View(Protocol):
    """A way to show a stream."""

    def milestone(self, progress: Progress) -> None:
        """Show a row count at which a line is due."""

    def refresh(self, look: Callable[[], Progress]) -> None:
        """Show the present, also while no rows come; calling ``look`` costs something."""


@contextlib.contextmanager
def viewed(form: str, *, quiet: bool, source: str) -> Iterator[View]:
    """JSON lines, lines, or a live view if standard output is a terminal."""
    if form == "json":
        yield _Json(quiet)
    elif quiet:
        yield _Silent()
    elif not sys.stdout.isatty():
        yield _Lines()
    else:
        with _live(source) as view:
            yield view


def share(part: float) -> str:
    """A share in percent.

    >>> share(0.0213), share(1.0)
    ('2.13%', '100.00%')
    """
    return f"{100.0 * part:.2f}%"


def bound(progress: Progress) -> str:
    """The bound on the margin, as far as there is one."""
    return "–" if progress.margin_bound is None else f"{progress.margin_bound:.4g}"


def as_json(progress: Progress) -> dict[str, object]:
    """A record for JSON, which has no infinity."""
    return {
        name: value if math.isfinite(value or 0.0) else None
        for name, value in asdict(progress).items()
    }


class _Silent:
    def milestone(self, progress: Progress) -> None:
        pass

    def refresh(self, look: Callable[[], Progress]) -> None:
        pass


class _Json(_Silent):
    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def milestone(self, progress: Progress) -> None:
        if not self._quiet:
            print_text(json.dumps({"event": "progress", **as_json(progress)}) + "\n")


class _Lines(_Silent):
    def __init__(self) -> None:
        self._begun = False

    def milestone(self, progress: Progress) -> None:
        if not self._begun:
            self._begun = True
            print_text(_line(_TITLES))
        print_text(_line(_fields(progress)))


class _Live(_Silent):
    """A few numbers that change in place, and the recent error as a curve."""

    def __init__(self, show: Callable[[Table], None], source: str) -> None:
        self._show, self._source = show, source
        self._curve: deque[float] = deque(maxlen=48)
        self._speed: deque[tuple[float, int]] = deque(maxlen=24)
        self._last = 0.0

    def refresh(self, look: Callable[[], Progress]) -> None:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_REFRESHES:
            return
        self._last = now
        progress = look()
        self._curve.append(progress.recent_error)
        self._speed.append((now, progress.rows))
        self._show(self._table(progress))

    def _table(self, progress: Progress) -> Table:
        from rich.table import Table
        from rich.text import Text

        (then, before), (now, rows) = self._speed[0], self._speed[-1]
        rate = (rows - before) / (now - then) if now > then else 0.0
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(style="dim", overflow="ellipsis", no_wrap=True)
        for heading, number, remark in (
            ("rows", f"{progress.rows:,}", f"{rate:,.0f} per second, from {self._source}"),
            ("mistakes", f"{progress.mistakes:,}", f"{progress.updates:,} updates"),
            ("error", share(progress.error), "of all rows"),
            ("recent", share(progress.recent_error), _curve(self._curve)),
            ("margin ≤", bound(progress), f"‖w‖ = {progress.norm:.4g}"),
        ):
            table.add_row(heading, number, Text(remark))
        return table


@contextlib.contextmanager
def _live(source: str) -> Iterator[View]:
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield _Live(lambda table: live.update(table, refresh=True), source)


def _fields(progress: Progress) -> tuple[str, ...]:
    return (
        f"{progress.rows:,}",
        f"{progress.mistakes:,}",
        share(progress.error),
        share(progress.recent_error),
        bound(progress),
    )


def _line(fields: tuple[str, ...]) -> str:
    columns = zip(fields, _WIDTHS, strict=True)
    return "".join(f"{text:>{width}}" for text, width in columns) + "\n"


def _curve(values: deque[float]) -> str:
    """Values from 0 up as a line of bars.

    >>> _curve(deque([0.0, 0.5, 1.0]))
    '▁▅█'
    """
    top = max(values) or 1.0
    return "".join(_BARS[min(7, int(8.0 * value / top))] for value in values)
