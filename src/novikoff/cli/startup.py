"""What a command imports before it can begin, and what it can do without.

scikit-learn and pyarrow import pandas where it is installed, and scikit-learn scipy.stats and
others, for functions that no command calls; that takes longer than all the rest. So pandas is not
to be found while they are imported, and the others are there in name only until something of
them is asked for (`novikoff.cli.rare`).
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import Thread, current_thread, main_thread
from types import FrameType, ModuleType
from typing import Final

from novikoff.cli.kernels import load_lightly
from novikoff.cli.later import putting_off
from novikoff.cli.rare import RARE
from novikoff.cli.signals import handling

_TIDY: Final = "\r\x1b[2K\x1b[?25h"  # an empty line, and the cursor back


@contextlib.contextmanager
def importing(*names: str, beside: bool = False) -> Iterator[None]:
    """Import modules that need scikit-learn: before what is done meanwhile, or beside it.

    What is done meanwhile may import as well, and does without the same as they.

    Nothing is written meanwhile: a signal ends the process at once. An exception in the middle
    of an import could leave a lock behind for which the other threads wait for ever.
    """
    with _leaving_on_signals(), _hidden("pandas"), putting_off(RARE):
        with _collecting_later():
            load_lightly()
        if not beside:
            _import(names)
            yield
            return
        thread = Thread(target=_try_to_import, args=(names,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            thread.join()


def _import(names: Iterable[str]) -> None:
    with _collecting_later():
        for name in names:
            import_module(name)


def _try_to_import(names: Iterable[str]) -> None:
    with contextlib.suppress(Exception):  # whoever needs them imports them, and says it
        _import(names)


@contextlib.contextmanager
def _collecting_later() -> Iterator[None]:
    """Look for no garbage meanwhile, nor at once in what was imported: that stays."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # now all that there is counts as old
        if was:
            gc.enable()


@contextlib.contextmanager
def _leaving_on_signals() -> Iterator[None]:
    def leave(number: int, frame: FrameType | None) -> None:
        tidy = _TIDY if sys.stderr.isatty() else ""
        said = "novikoff: interrupted; nothing was written.\n" if number == signal.SIGINT else ""
        with contextlib.suppress(OSError):
            os.write(2, (tidy + said).encode())
        os._exit(128 + number)

    if current_thread() is not main_thread():
        yield
        return
    with handling(leave, signal.SIGINT, signal.SIGTERM):
        yield


@contextlib.contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Let a module seem not to be installed, unless it has been imported."""
    finder = _Hidden(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Hidden(MetaPathFinder):
    """Does not let others look for a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is hidden", name=fullname)
        return None
