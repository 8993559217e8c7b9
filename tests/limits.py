"""Limits for tests of answers when the time is up."""

from __future__ import annotations

from novikoff.core.stops import Limits, Stop


class Questions(Limits):
    """Limits that are reached after a number of checks, independent of the clock."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def reached(self, n_epochs: int = 0) -> Stop | None:
        self.most -= 1
        return Stop.SECONDS if self.most < 0 else super().reached(n_epochs)


def interrupted() -> Limits:
    """Limits of a run after Ctrl-C."""
    limits = Limits()
    limits.interrupt()
    return limits
