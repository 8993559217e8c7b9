"""A message about the compilation of loops, which takes a few seconds in the first run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache

# Loading loops from the cache takes less processor time than this number of seconds.
_SECONDS_TO_LOAD = 0.6


@contextlib.contextmanager
def announcing_compilation() -> Iterator[None]:
    """Print a message, once in a process, if loops have to be compiled inside a ``with`` block.

    The message goes to standard error, which notebooks show below the cell. Compilation is
    recognised by the processor time of this process. The elapsed time would mistake a busy machine
    for a first run.
    """
    done, began = threading.Event(), time.process_time()

    def watch() -> None:
        while not done.wait(0.05):
            if time.process_time() - began > _SECONDS_TO_LOAD:
                _announce_compilation()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()  # inside the try, since a signal may arrive here
        yield
    finally:
        done.set()
        if watcher.is_alive():
            watcher.join()


@cache
def _announce_compilation() -> None:
    print("novikoff: compiling for the first time, about 3 s", file=sys.stderr, flush=True)
