"""Limits for tests of what is known when time is up."""

from __future__ import annotations

from dataclasses import dataclass, field

from novikoff.core.stops import Limits, Stop


@dataclass
class _Questions(Limits):
    left_to_ask: list[int] = field(default_factory=list)  # one number, shared by parts and copies

    def reached(self, n_epochs: int = 0) -> Stop | None:
        self.left_to_ask[0] -= 1
        return Stop.SECONDS if self.left_to_ask[0] < 0 else super().reached(n_epochs)


def questions(most: int, seconds: float | None = None) -> Limits:
    """Limits that are reached after a number of questions, whatever the clock says.

    Parts and copies of the limits have this number of questions together.
    """
    return _Questions(seconds=seconds, left_to_ask=[most])


def interrupted() -> Limits:
    """Limits of a run after Ctrl-C."""
    limits = Limits()
    limits.interrupt()
    return limits
