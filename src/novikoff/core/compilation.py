"""A message about the compilation of loops, which takes a few seconds in the first run."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any


@contextlib.contextmanager
def announcing_compilation(*loops: Callable[..., object]) -> Iterator[None]:
    """Print a message, once in a process, if Numba compiles a loop inside a ``with`` block.

    The message goes to standard error, which notebooks show below the cell, while the loop is being
    compiled. Numba counts a loop that is missing in its cache before it compiles the loop.
    """
    done, before = threading.Event(), _compiled(loops)

    def watch() -> None:
        while not done.wait(0.05):
            if _compiled(loops) > before:
                announce_compilation()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()  # inside the try, since a signal may arrive here
        yield
    finally:
        done.set()
        if watcher.is_alive():
            watcher.join()


def _compiled(loops: tuple[Any, ...]) -> int:
    """The number of times that Numba did not find a loop in its cache."""
    return sum(sum(dict(loop.stats.cache_misses).values()) for loop in loops)


@cache
def announce_compilation() -> None:
    """Print the message once in a process."""
    message = "novikoff: compiling for the first time, which takes a few seconds"
    print(message, file=sys.stderr, flush=True)
