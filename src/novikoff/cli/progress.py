"""What is being done, on a terminal: the step, the time, the interval for the margin."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias

from novikoff.cli.signals import handling

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval

# The signal of a timer, where there is one.
_AGAIN = getattr(signal, "SIGALRM", None)

Show: TypeAlias = "Callable[[str, Interval | None], None]"


@contextlib.contextmanager
def shown() -> Iterator[Show]:
    """A function to call with each step; silent unless standard error is a terminal.

    It raises KeyboardInterrupt if Ctrl-C was pressed since: the solvers take that as the
    end of their time and return what they have, but here nothing more is wanted.
    """
    with _noticing_interrupts() as pressed, _bar() as draw:

        def show(step: str, interval: Interval | None) -> None:
            if pressed:
                raise KeyboardInterrupt
            gamma = "" if interval is None else f"  γ in [{interval.lo:.6g}, {interval.hi:.6g}]"
            draw(step + gamma)

        yield show


@contextlib.contextmanager
def _noticing_interrupts() -> Iterator[list[int]]:
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if number != _AGAIN:
            pressed.append(number)
        # Where an exception cannot be raised, in a destructor, Python would print it.
        sys.unraisablehook = lambda unheard: None
        if _AGAIN is not None:  # a compiler may swallow an exception: it is raised until heard
            signal.setitimer(signal.ITIMER_REAL, 1.0)
        raise KeyboardInterrupt

    again = () if _AGAIN is None else (_AGAIN,)
    with handling(note, signal.SIGINT, signal.SIGTERM, *again):
        try:
            yield pressed
        except KeyboardInterrupt:
            if signal.SIGTERM in pressed:  # stopped as by Ctrl-C, but with its own exit code
                sys.exit(128 + signal.SIGTERM)
            raise
        finally:
            if _AGAIN is not None:
                signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[str], None]]:
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda text: bar.update(task, description=escape(text))
