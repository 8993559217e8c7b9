"""When to stop: after a clean cycle, or at a limit on epochs, updates or seconds (A2).

There is no tolerance on a loss: a run either ends with a clean cycle or says it did not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum

_UNLIMITED = 2**62


class Stop(StrEnum):
    """Why a run ended."""

    CLEAN = "a clean cycle"
    EPOCHS = "the limit on epochs"
    UPDATES = "the limit on updates"
    SECONDS = "the time limit"
    EXHAUSTED = "the end of the order's sequence"
    CALLBACK = "a callback's request"
    INTERRUPTED = "an interruption"


@dataclass
class Limits:
    """How long a run may go on; None is no limit. The clock starts at construction.

    One object may govern several runs at once: they share the clock and the interruption.
    """

    epochs: int | None = None
    updates: int | None = None
    seconds: float | None = None
    interrupted: bool = False
    stopped: float = 0.0  # seconds that did not count
    _started: float = field(default_factory=time.monotonic, repr=False)

    def reached(self, n_epochs: int = 0) -> Stop | None:
        """The limit on a whole run that has been reached, if any."""
        if self.interrupted:
            return Stop.INTERRUPTED
        if self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            return Stop.SECONDS
        if self.epochs is not None and n_epochs >= self.epochs:
            return Stop.EPOCHS
        return None

    def left(self) -> float | None:
        """The seconds that are left, None if there is no limit on them."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (time.monotonic() - self._started))

    def part(self, share: float) -> Limits:
        """The same limits, but a share of the seconds that are left; its clock starts now."""
        left = self.left()
        return replace(
            self, seconds=None if left is None else share * left, _started=time.monotonic()
        )

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """What is done meanwhile takes no time: a first compilation."""
        began = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self._started, self.stopped = self._started + took, self.stopped + took

    def most_updates(self) -> int:
        """The limit on updates, as a kernel counts them."""
        return _UNLIMITED if self.updates is None else min(self.updates, _UNLIMITED)
