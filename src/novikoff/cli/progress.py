"""What is being done, on a terminal: the step, the time, the interval for the margin."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval

Show: TypeAlias = "Callable[[str, Interval | None], None]"


@contextlib.contextmanager
def shown(wanted: bool = True) -> Iterator[Show]:
    """A function to call with each step; silent unless standard error is a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda step, interval: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(step: str, interval: Interval | None) -> None:
            gamma = "" if interval is None else f"  γ in [{interval.lo:.6g}, {interval.hi:.6g}]"
            bar.update(task, description=_plain(step + gamma))

        yield show


def _plain(text: str) -> str:
    """Without rich's markup: labels may hold brackets."""
    from rich.markup import escape

    return escape(text)
