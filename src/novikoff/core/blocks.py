"""Rows that come in blocks: more of them than memory holds, gone through again and again."""

from __future__ import annotations

import queue
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from threading import Event, Thread
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, SparseMatrix

Item = TypeVar("Item")
Handed = TypeVar("Handed")

# Seconds between looks at whether the other side is still there.
_PATIENCE = 0.1


@runtime_checkable
class Blocks(Protocol):
    """Labelled rows in blocks, from the beginning each time they are iterated over.

    Whatever has these two is taken wherever blocks are: a list of (X, y) pairs in a class of
    three lines will do.

    Examples
    --------
    >>> class Halves:
    ...     n_rows = 4
    ...     def __iter__(self):
    ...         yield np.array([[0.0], [1.0]]), np.array([0, 0])
    ...         yield np.array([[2.0], [3.0]]), np.array([1, 1])
    >>> isinstance(Halves(), Blocks), isinstance(np.zeros((2, 2)), Blocks)
    (True, False)
    """

    @property
    def n_rows(self) -> int | None:
        """The number of rows, None where it is not known."""

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.generic]]]:
        """Blocks of rows and their labels."""


class Coded(NamedTuple):
    """A block that was checked before: its labels are numbers of classes.

    ``radius`` and ``longest`` are those of a `Problem` without a bias.
    """

    X: Floats | SparseMatrix
    codes: npt.NDArray[np.int32]
    radius: float  # max‖x_i‖, rounded up
    longest: int  # the most terms of a product, one for a bias among them


@runtime_checkable
class CodedBlocks(Blocks, Protocol):
    """Blocks that know their classes, and can say which rows belong to which."""

    @property
    def classes(self) -> npt.NDArray[np.generic]:
        """The labels, sorted."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels."""


def ahead(items: Iterable[Item]) -> Generator[Item, None, None]:
    """The same items; a thread makes the next one while the current one is in use.

    An error comes up where its item would have. Leaving the loop ends the thread.

    Examples
    --------
    >>> list(ahead([1, 2, 3]))
    [1, 2, 3]
    """
    handed: queue.Queue[tuple[Item] | None] = queue.Queue(maxsize=1)
    over, failure = Event(), list[BaseException]()

    def hand(item: tuple[Item] | None) -> None:
        while not over.is_set():
            with suppress(queue.Full):
                handed.put(item, timeout=_PATIENCE)
                return

    def make() -> None:
        try:
            for item in items:
                hand((item,))
                if over.is_set():
                    return
        except BaseException as error:  # it is raised again, in the loop
            failure.append(error)
        finally:
            hand(None)

    maker = Thread(target=make, daemon=True)
    maker.start()
    try:
        while (item := _wait_for(handed)) is not None:
            yield item[0]
    finally:
        over.set()
        maker.join()
    if failure:
        raise failure[0]


def _wait_for(handed: queue.Queue[Handed]) -> Handed:
    """The next in a queue, looking up now and then: a plain wait may not hear Ctrl-C."""
    while True:
        try:
            return handed.get(timeout=_PATIENCE)
        except queue.Empty:
            continue
