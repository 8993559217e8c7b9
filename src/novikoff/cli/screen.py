"""Lines with headings, in colour where there is a terminal that wants it (NO_COLOR)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

_COLOURS = {
    "separable": "bold green",
    "quasi-separable": "bold yellow",
    "inseparable": "bold red",
    "undecided": "bold magenta",
}
_WIDTH = 11


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print heading and text of each line; long ones go on under their text on a terminal."""
    if not sys.stdout.isatty():
        plain = (f"{_clean(heading):{_WIDTH}}{_clean(text)}".rstrip() for heading, text in lines)
        print_text("".join(f"{line}\n" for line in plain))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=_WIDTH - 1, no_wrap=True)
    grid.add_column(overflow="fold")
    for heading, text in lines:
        shown = Text(_clean(text))
        first = text.split(" ", 1)[0]
        if heading == "verdict" and first in _COLOURS:
            shown.stylize(_COLOURS[first], 0, len(first))
        grid.add_row(Text(heading, style="dim"), shown)
    Console(highlight=False).print(grid)


def print_text(text: str) -> None:
    """Print at once, as it is; a reader who has had enough (head -1) is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still held
        if not isinstance(error, BrokenPipeError):
            reason = (error.strerror or str(error)).lower()
            raise OSError(f"standard output cannot be written: {reason}.") from None


def _clean(text: str) -> str:
    """Without control characters, which names and labels of a file may hold."""
    return "".join(c if c.isprintable() else "�" for c in text)
