"""The index rules: which row comes next (A4; Rem 1.38 of the source notes).

A rule that can be known ahead of the run is a `Sequence`: it deals out *epochs*, arrays of
row numbers. Where an epoch is certain to visit every row (``covers``), an epoch without a
mistake is a clean cycle. The two maximal rules look at all margins before every step; they
are `Greedy`, and `novikoff.core.greedy` runs them.

>>> rng = np.random.default_rng(0)
>>> sorted(next(Permuted().epochs(Deck(np.arange(5)), rng)).tolist())
[0, 1, 2, 3, 4]
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, norms
from novikoff.core.rows import Indices, Vector


@dataclass(frozen=True)
class Deck:
    """The rows an order may deal, and ‖a_i‖² of each for the rules that ask for it."""

    rows: Indices
    squared_norms: Callable[[], Vector] = field(default=lambda: np.empty(0))
    n_all: int | None = None  # how many rows there are in all, if the deck is a part


@runtime_checkable
class Sequence(Protocol):
    """An index rule that does not look at the weights."""

    @property
    def covers(self) -> bool:
        """Whether every epoch visits every row."""

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal epoch after epoch."""


@dataclass(frozen=True)
class Cyclic:
    """I_t = t mod n: the rows as they stand, again and again."""

    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal the deck as it is."""
        return itertools.repeat(deck.rows)


@dataclass(frozen=True)
class Fixed:
    """A random cycle, drawn once and kept."""

    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal the one cycle."""
        return itertools.repeat(rng.permutation(deck.rows))


@dataclass(frozen=True)
class Permuted:
    """A fresh random permutation in every epoch."""

    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal a permutation after the other."""
        while True:
            yield rng.permutation(deck.rows)


@dataclass(frozen=True)
class Blocks:
    """Blocks of neighbouring rows in random order, random order inside each.

    Drawn anew in every epoch. Memory is read in long stretches, which is several times
    faster than row by row, and close to a full permutation in what it learns.
    """

    size: int = 64
    covers = True

    def __post_init__(self) -> None:
        if not isinstance(self.size, Integral) or self.size < 1:
            raise ValueError(f"A block needs at least one row, not {self.size}.")

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal shuffled blocks."""
        whole = len(deck.rows) // self.size * self.size
        starts, rest = np.arange(0, whole, self.size), deck.rows[whole:]
        while True:
            # Sorting random numbers shuffles every block, far faster than a permutation of each.
            places = rng.random((len(starts), self.size)).argsort(axis=1)
            places += rng.permutation(starts)[:, None]
            shuffled = deck.rows[places.ravel()]
            at = self.size * rng.integers(len(starts) + 1)  # the place of the shorter block
            yield np.concatenate([shuffled[:at], rng.permutation(rest), shuffled[at:]])


@dataclass(frozen=True)
class Random:
    """Independent draws, I_t = i with probability p_i ∝ ‖a_i‖², or with the given p.

    An epoch is n draws and need not visit every row, so the end is found by a check of
    all rows.
    """

    p: npt.ArrayLike | None = None
    covers = False

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal n draws at a time."""
        n = len(deck.rows)
        p = deck.squared_norms() if self.p is None else np.asarray(self.p, dtype=np.float64)
        if self.p is not None and p.shape == (deck.n_all,):
            p = p[deck.rows]
        if p.shape != (n,):
            raise ValueError(f"The order needs one probability per row: {n}, not {p.size}.")
        if not (np.isfinite(p).all() and (p >= 0).all() and p.sum() > 0):
            raise ValueError("Probabilities must be finite, not negative, and not all zero.")
        ladder = np.cumsum(p / p.max())
        while True:
            drawn = np.searchsorted(ladder, rng.random(n) * ladder[-1], side="right")
            yield deck.rows[np.minimum(drawn, n - 1)]


@dataclass(frozen=True)
class Chaotic:
    """The caller's own sequence of row numbers, every row at least once in ``window`` steps.

    The promise is checked while the sequence is read; an epoch is ``window`` steps. A
    sequence that ends, ends the run after its last whole window.
    """

    sequence: Iterable[int]
    window: int
    covers = True

    def epochs(self, deck: Deck, rng: np.random.Generator) -> Iterator[Indices]:
        """Deal the sequence, window by window."""
        n, window = len(deck.rows), self.window
        if not isinstance(window, Integral) or window < n:
            raise ValueError(f"A window of {window} steps cannot visit {n} rows.")
        steps, every, last_seen = iter(self.sequence), np.arange(n), np.full(n, -1)
        for start in itertools.count(0, int(window)):
            try:
                visits = map(operator.index, itertools.islice(steps, window))
                epoch = np.fromiter(visits, dtype=np.int64)
            except (TypeError, OverflowError):
                raise ValueError("The order must name rows by whole numbers.") from None
            if len(epoch) < window:
                return
            outside = (epoch < 0) | (epoch >= n)
            if outside.any():
                raise ValueError(f"The order names row {epoch[outside][0]} of {n} rows.")
            # The visits of each row in turn, from its last one before this window to the end.
            times = start + np.arange(window)
            visited = np.concatenate([every, epoch, every])
            when = np.concatenate([last_seen, times, np.full(n, start + window)])
            by_row = np.lexsort((when, visited))
            late = np.diff(when[by_row]) > window
            if late.any():
                raise ValueError(
                    f"The order leaves row {visited[by_row][np.argmax(late)]} unvisited for more "
                    f"than {window} steps, its promised window."
                )
            last_seen[epoch] = times
            yield deck.rows[epoch]


@dataclass(frozen=True)
class MaxDistance:
    """The row farthest on the wrong side: ⟨a_i, w⟩/‖a_i‖ smallest."""


@dataclass(frozen=True)
class MaxResidual:
    """The row most violated: ⟨a_i, w⟩ smallest."""


Greedy: TypeAlias = MaxDistance | MaxResidual
Order: TypeAlias = Sequence | Greedy

BY_NAME: dict[str, Callable[[], Order]] = {
    "cyclic": Cyclic,
    "fixed": Fixed,
    "permuted": Permuted,
    "blocks": Blocks,
    "random": Random,
    "max_distance": MaxDistance,
    "max_residual": MaxResidual,
}


def named(order: str | Order) -> Order:
    """The rule of that name; a rule is returned as it is.

    Examples
    --------
    >>> named("blocks")
    Blocks(size=64)
    """
    if isinstance(order, str):
        if order not in BY_NAME:
            raise ValueError(f"Unknown order {order!r}; there are {', '.join(BY_NAME)}.")
        return BY_NAME[order]()
    if isinstance(order, type) or not isinstance(order, Sequence | MaxDistance | MaxResidual):
        raise ValueError(f"An order is a name or an object of novikoff.orders, not {order!r}.")
    return order


def deal(
    order: Sequence, problem: Problem, weights: Vector | None, rng: np.random.Generator
) -> Iterator[Indices]:
    """Epoch after epoch, without the rows whose sign or weight is 0."""
    rows = problem.taking_part()
    deck = Deck(rows, lambda: np.square(norms(problem)[rows]), problem.n)
    ours = type(order) in (Cyclic, Fixed, Permuted, Blocks, Random, Chaotic)  # no heir of theirs
    for epoch in order.epochs(deck, rng):
        if not ours:  # row numbers of a foreign order are not trusted
            epoch = np.ascontiguousarray(epoch, dtype=np.int64)
            inside = epoch.size == 0 or 0 <= epoch.min() <= epoch.max() < problem.n
            if epoch.ndim != 1 or not inside:
                raise ValueError(
                    f"An epoch must be a vector of row numbers from 0 to {problem.n - 1}."
                )
        yield epoch if weights is None else epoch[weights[epoch] > 0.0]


def first_visits(
    order: Order, problem: Problem, rng: np.random.Generator, count: int
) -> Indices | None:
    """The first ``count`` rows that a run in this order looks at; None if w decides them.

    ``rng`` is to be in the state in which the run found it.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.zeros((3, 1)), np.array([1, -1, 1], dtype=np.int8), True)
    >>> first_visits(Cyclic(), problem, np.random.default_rng(0), 5).tolist()
    [0, 1, 2, 0, 1]
    """
    if isinstance(order, Greedy):
        return None
    visits = np.empty(0, dtype=np.int64)
    for epoch in deal(order, problem, None, rng):
        if len(visits) >= count or len(epoch) == 0:
            break
        visits = np.append(visits, epoch)
    return visits[:count]
