"""When to stop: after a clean cycle, or at a limit on epochs, updates or seconds.

There is no tolerance on a loss: a run either ends with a clean cycle or says that it did not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from numbers import Real

_UNLIMITED = 2**62  # more updates than any run makes


def check_budget(budget: object) -> float | None:
    """Return a budget as a float; ValueError if it is not a positive number of seconds or None."""
    if budget is None:
        return None
    if not (isinstance(budget, Real) and 0.0 < float(budget) <= 1e300):
        raise ValueError(f"budget must be a positive number of seconds, not {budget!r}.")
    return float(budget)


class Stop(StrEnum):
    """The reason why a run ended."""

    CLEAN = "a clean cycle"
    EPOCHS = "the limit on epochs"
    UPDATES = "the limit on updates"
    SECONDS = "the time limit"
    EXHAUSTED = "the end of the order's sequence"
    CALLBACK = "a callback's request"
    INTERRUPTED = "an interruption"


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed during a computation."""

    happened: bool = False


@dataclass
class Limits:
    """The limits of a run; None means no limit. The clock starts when the object is made.

    If several runs share one object, they share its clock, and an interruption ends all of them.
    """

    epochs: int | None = None
    updates: int | None = None
    seconds: float | None = None
    paused_seconds: float = 0.0  # the time during which the clock was paused
    _started: float = field(default_factory=time.monotonic, repr=False)
    _interruption: Interruption = field(default_factory=Interruption, repr=False)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed in a run with these limits, with parts or copies of them."""
        return self._interruption.happened

    def interrupt(self) -> None:
        """End all runs that share the interruption when they next ask for their limits."""
        self._interruption.happened = True

    def raise_if_interrupted(self) -> None:
        """Raise KeyboardInterrupt if `interrupted`: for the callers of solvers, which return."""
        if self.interrupted:
            raise KeyboardInterrupt

    def reached(self, n_epochs: int = 0) -> Stop | None:
        """The reason to stop a run after ``n_epochs`` epochs, or None."""
        if self.interrupted:
            return Stop.INTERRUPTED
        if self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            return Stop.SECONDS
        if self.epochs is not None and n_epochs >= self.epochs:
            return Stop.EPOCHS
        return None

    def seconds_left(self) -> float | None:
        """The number of seconds that are left; None if the time is not limited."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (time.monotonic() - self._started))

    def apart(self) -> Limits:
        """Return the same limits with an interruption of their own."""
        return replace(self, _interruption=Interruption())

    def part(self, share: float) -> Limits:
        """Return limits with a share of the seconds that are left; their clock starts now."""
        seconds_left = self.seconds_left()
        return replace(
            self,
            seconds=None if seconds_left is None else share * seconds_left,
            _started=time.monotonic(),
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the clock inside a ``with`` block, for instance while loops are compiled."""
        began = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self._started += took
            self.paused_seconds += took

    def most_updates(self) -> int:
        """The limit on updates as a number, which is huge if there is no limit."""
        return _UNLIMITED if self.updates is None else min(self.updates, _UNLIMITED)


@dataclass
class ReportingLimits(Limits):
    """Limits that call ``tell`` whenever they are checked, so that progress is shown."""

    tell: Callable[[], None] = lambda: None

    def reached(self, n_epochs: int = 0) -> Stop | None:
        """Call ``tell``; then as `Limits.reached`."""
        self.tell()
        return super().reached(n_epochs)
