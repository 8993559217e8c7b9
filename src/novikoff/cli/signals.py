"""Signals, heard by someone else for a while."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def handling(handle: Callable[[int, FrameType | None], None], *numbers: int) -> Iterator[None]:
    """Let a function hear some signals, but for those that whoever started us had ignored."""
    before = {
        number: signal.signal(number, handle)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)
