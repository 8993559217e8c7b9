"""The output of the commands: reports with headings, progress on a terminal, and Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING

from novikoff.sentences import HEADING_WIDTH, report_line

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.jobs.study_records import StudyProgress

_COLOURS = {
    "separable": "bold green",
    "quasi-separable": "bold yellow",
    "inseparable": "bold red",
    "undecided": "bold magenta",
    "overlap": "bold green",
    "complete separation": "bold red",
    "complete or quasi-complete separation": "bold red",
    "quasi-complete separation": "bold red",
    "feasible": "bold green",
    "infeasible": "bold red",
}
_PIPE_WIDTH = 88
# If standard error is not a terminal, progress is printed as lines, after and with these pauses.
SECONDS_BEFORE_LINES, SECONDS_BETWEEN_LINES = 2.0, 5.0


@contextlib.contextmanager
def showing_progress(*, silent: bool = False) -> Iterator[StudyProgress]:
    """Yield a function to call with each step, which shows the step on standard error.

    The function raises KeyboardInterrupt if Ctrl-C was pressed since the last call: the solvers
    take Ctrl-C as the end of their time and return what they have, but a command stops.
    """
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def show(step: str, interval: Interval | None = None) -> None:
        if pressed:
            raise KeyboardInterrupt
        gamma = "" if interval is None else f"  γ in [{interval.lo:.6g}, {interval.hi:.6g}]"
        draw(step + gamma)

    try:
        with handling(note), status_line(silent=silent) as draw:
            yield show
    except KeyboardInterrupt:
        if signal.SIGTERM not in pressed:
            raise
    if signal.SIGTERM in pressed:  # SIGTERM stops like Ctrl-C, with its own exit code
        sys.exit(128 + signal.SIGTERM)


@contextlib.contextmanager
def status_line(*, silent: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in one line, which changes in place on a terminal."""
    if silent:
        yield lambda text: None
        return
    if not sys.stderr.isatty():
        yield _lines_now_and_then()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
    both = sys.stdout.isatty()  # then text on standard output is printed above the line
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=both) as bar:
        task = bar.add_task("", total=None)
        yield lambda text: bar.update(task, description=escape(text))


def _lines_now_and_then() -> Callable[[str], None]:
    """Return a function that prints a text after two seconds, and then at most every five."""
    began = time.monotonic()
    due = began + SECONDS_BEFORE_LINES

    def tell(text: str) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + SECONDS_BETWEEN_LINES
            print(f"novikoff: {now - began:.0f} s: {_clean(text)}", file=sys.stderr, flush=True)

    return tell


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print the heading and the text of each line, on a terminal in colour unless NO_COLOR.

    Lines are wrapped at the width of the terminal, or of COLUMNS. In a pipe they are wrapped at
    88 columns.
    """
    if not sys.stdout.isatty():
        print_text(plain_text(lines, shutil.get_terminal_size((_PIPE_WIDTH, 0)).columns))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for heading, text in lines:
        shown = Text(_wrapped(heading, text, console.width))
        shown.stylize("dim", 0, len(heading))
        kind = next((own for own in _COLOURS if re.match(rf"{own}(?![\w-])", text)), "")
        if heading == "verdict" and kind:
            shown.stylize(_COLOURS[kind], HEADING_WIDTH, HEADING_WIDTH + len(kind))
        console.print(shown, soft_wrap=True)


def plain_text(lines: Iterable[tuple[str, str]], width: int | None = None) -> str:
    """Return the heading and the text of each line as plain text, wrapped at a width."""
    return "".join(f"{_wrapped(heading, text, width)}\n" for heading, text in lines)


def _wrapped(heading: str, text: str, width: int | None) -> str:
    return report_line(_clean(heading), _clean(text), width)


def print_text(text: str) -> bool:
    """Print a text and flush it; return False if the reader has closed the pipe (head -1)."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for text still held
        if not isinstance(error, BrokenPipeError):
            reason = (error.strerror or str(error)).lower()
            raise OSError(f"standard output cannot be written: {reason}.") from None
        return False
    return True


@contextlib.contextmanager
def handling(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a function on SIGINT and SIGTERM, unless the process was started to ignore them."""
    before = {
        number: signal.signal(number, handle)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def _clean(text: str) -> str:
    """Replace control characters, which names and labels of a file may contain."""
    return "".join(c if c.isprintable() else "�" for c in text)
