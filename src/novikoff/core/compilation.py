"""A message about the compilation of loops, which takes a few seconds in the first run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache

# Loading loops that are compiled already takes less processor time than this.
_SECONDS_TO_LOAD = 0.6


@contextlib.contextmanager
def announcing_compilation() -> Iterator[None]:
    """Announce once in a process that loops are compiled, if loading takes that long.

    The message is on standard error, which notebooks show below the cell. The processor time of
    this process counts, not the time on the wall: a busy machine must not look like a first run.
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
