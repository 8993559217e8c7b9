"""The index rules, which decide in what order a run visits the rows.

An index rule is also called an order. It yields *epochs*, which are arrays of row numbers. If
``covers`` is true, every epoch visits every row, and an epoch without an update is a clean cycle.
`MaxDistance` and `MaxResidual` choose the worst row at every step: their epochs are all rows, and
the loop computes all margins before every step (`novikoff.core.sweep.sweep_greedy`).

>>> rng = np.random.default_rng(0)
>>> sorted(next(Permuted().epochs(Candidates(np.arange(5)), rng)).tolist())
[0, 1, 2, 3, 4]
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, norms
from novikoff.core.rows import Indices, Vector


@dataclass(frozen=True)
class Candidates:
    """The row numbers that an order chooses from.

    Parameters
    ----------
    rows : array of int
        The numbers of the rows.
    squared_norms : callable
        A function without arguments that returns ‖a_i‖² of each of these rows.
    n_all : int or None
        The number of all rows, if ``rows`` are only a part of them.

    Examples
    --------
    >>> next(Cyclic().epochs(Candidates(np.array([0, 2, 3])), np.random.default_rng(0))).tolist()
    [0, 2, 3]
    """

    rows: Indices
    squared_norms: Callable[[], Vector] = field(default=lambda: np.empty(0))
    n_all: int | None = None


@runtime_checkable
class Order(Protocol):
    """The interface of an index rule: an object with ``covers`` and ``epochs``.

    Examples
    --------
    An order of one's own, which visits the rows forwards and then backwards:

    >>> class ThereAndBack:
    ...     covers = True
    ...
    ...     def epochs(self, candidates, rng):
    ...         while True:
    ...             yield candidates.rows
    ...             yield candidates.rows[::-1]
    >>> isinstance(ThereAndBack(), Order)
    True
    """

    @property
    def covers(self) -> bool:
        """Whether every epoch visits every row."""

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield the epochs of a run, one after the other.

        Parameters
        ----------
        candidates : Candidates
            The rows to choose from.
        rng : Generator
            The random generator of the run.

        Yields
        ------
        array of int
            The numbers of the rows that the run visits in this epoch, in this order.
        """


@dataclass(frozen=True)
class Cyclic:
    """The rows in their order, again and again: I_t = t mod n.

    Examples
    --------
    >>> next(Cyclic().epochs(Candidates(np.arange(3)), np.random.default_rng(0))).tolist()
    [0, 1, 2]
    """

    covers = True

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield the candidates in their order; see `Order.epochs`."""
        return itertools.repeat(candidates.rows)


@dataclass(frozen=True)
class Fixed:
    """A random permutation of the rows that is drawn once and repeated.

    Examples
    --------
    >>> epochs = Fixed().epochs(Candidates(np.arange(9)), np.random.default_rng(0))
    >>> bool((next(epochs) == next(epochs)).all())
    True
    """

    covers = True

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield the permutation again and again; see `Order.epochs`."""
        return itertools.repeat(rng.permutation(candidates.rows))


@dataclass(frozen=True)
class Permuted:
    """A new random permutation of the rows in every epoch.

    Examples
    --------
    >>> epochs = Permuted().epochs(Candidates(np.arange(9)), np.random.default_rng(0))
    >>> bool((next(epochs) == next(epochs)).all())
    False
    """

    covers = True

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield one permutation after the other; see `Order.epochs`."""
        while True:
            yield rng.permutation(candidates.rows)


@dataclass(frozen=True)
class Blocks:
    """Blocks of neighbouring rows in random order, with the rows of each block in random order.

    The order is drawn again for every epoch. Memory is read block by block, which is several times
    faster than reading rows in a fully random order. The run learns about as well as with a full
    permutation.

    Parameters
    ----------
    size : int, default=64
        The number of rows in a block.

    Examples
    --------
    >>> epoch = next(Blocks(2).epochs(Candidates(np.arange(6)), np.random.default_rng(0)))
    >>> sorted(epoch.tolist())
    [0, 1, 2, 3, 4, 5]
    """

    size: int = 64
    covers = True

    def __post_init__(self) -> None:
        if not isinstance(self.size, Integral) or self.size < 1:
            raise ValueError(f"A block needs at least one row, not {self.size}.")

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield all rows, in shuffled blocks; see `Order.epochs`."""
        whole = len(candidates.rows) // self.size * self.size
        starts, rest = np.arange(0, whole, self.size), candidates.rows[whole:]
        while True:
            # Sorting random numbers shuffles all blocks at once, which is far faster than a loop.
            places = rng.random((len(starts), self.size)).argsort(axis=1)
            places += rng.permutation(starts)[:, None]
            shuffled = candidates.rows[places.ravel()]
            at = self.size * rng.integers(len(starts) + 1)  # where the shorter block goes
            yield np.concatenate([shuffled[:at], rng.permutation(rest), shuffled[at:]])


@dataclass(frozen=True)
class Random:
    """Independent random draws of rows.

    An epoch consists of n draws and may miss rows. Therefore all rows are checked before a run ends
    with a clean cycle.

    Parameters
    ----------
    p : array-like of shape (n,), optional
        The probability of each row, up to a common factor. By default the probability of row i is
        proportional to ‖a_i‖², or the same for all rows if every ‖a_i‖² is 0.

    Examples
    --------
    >>> next(Random([0, 1, 0]).epochs(Candidates(np.arange(3)), np.random.default_rng(0))).tolist()
    [1, 1, 1]
    """

    p: npt.ArrayLike | None = None
    covers = False

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield n draws at a time; see `Order.epochs`."""
        n = len(candidates.rows)
        p = candidates.squared_norms() if self.p is None else np.asarray(self.p, dtype=np.float64)
        if self.p is None and not p.any():  # all rows are 0, or their squares underflow
            p = np.ones(n)
        if self.p is not None and p.shape == (candidates.n_all,):
            p = p[candidates.rows]
        if p.shape != (n,):
            raise ValueError(
                f"The order needs {n} probabilities, one per row, not an array of shape {p.shape}."
            )
        if not (np.isfinite(p).all() and (p >= 0).all() and p.sum() > 0):
            raise ValueError("Probabilities must be finite, not negative, and not all zero.")
        ladder = np.cumsum(p / p.max())
        while True:
            drawn = np.searchsorted(ladder, rng.random(n) * ladder[-1], side="right")
            yield candidates.rows[np.minimum(drawn, n - 1)]


@dataclass(frozen=True)
class Chaotic:
    """A sequence of row numbers that the caller gives.

    Every row must occur at least once in any ``window`` successive steps. This condition is checked
    while the sequence is read; ValueError is raised where it fails. An epoch consists of ``window``
    steps. When the sequence ends, the run ends after the last whole window.

    Parameters
    ----------
    sequence : iterable of int
        The row numbers.
    window : int
        The number of steps within which every row occurs.

    Examples
    --------
    >>> order = Chaotic([0, 1, 2, 1, 0, 2], window=4)
    >>> next(order.epochs(Candidates(np.arange(3)), np.random.default_rng(0))).tolist()
    [0, 1, 2, 1]
    """

    sequence: Iterable[int]
    window: int
    covers = True

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield the sequence, one window after the other; see `Order.epochs`."""
        n, window = len(candidates.rows), self.window
        if not isinstance(window, Integral) or window < n:
            raise ValueError(f"A window of {window} steps cannot visit {n} rows.")
        steps, last_seen = iter(self.sequence), [-1] * n
        for start in itertools.count(0, int(window)):
            try:
                epoch = [operator.index(i) for i in itertools.islice(steps, window)]
            except TypeError:
                raise ValueError("The order must name rows by whole numbers.") from None
            if len(epoch) < window:
                return
            for time, i in enumerate(epoch, start):
                if not 0 <= i < n:
                    raise ValueError(f"The order names row {i} of {n} rows.")
                self._check_gap(i, time - last_seen[i])
                last_seen[i] = time
            rarest = min(range(n), key=last_seen.__getitem__, default=0)
            self._check_gap(rarest, start + window - last_seen[rarest] if n > 0 else 0)
            yield candidates.rows[epoch]

    def _check_gap(self, row: int, gap: int) -> None:
        if gap > self.window:
            raise ValueError(
                f"The order leaves row {row} unvisited for more than {self.window} steps, its "
                "promised window."
            )


@dataclass(frozen=True)
class Cycle:
    """A cycle of row numbers that the caller gives, repeated.

    Every row must occur at least once in the cycle, else ValueError is raised.

    Parameters
    ----------
    rows : sequence of int
        The row numbers.

    Examples
    --------
    >>> next(Cycle([3, 1, 0, 2]).epochs(Candidates(np.arange(4)), np.random.default_rng())).tolist()
    [3, 1, 0, 2]
    """

    rows: Sequence[int] | Indices
    covers = True

    def epochs(self, candidates: Candidates, rng: np.random.Generator) -> Iterator[Indices]:
        """Yield the cycle without the rows that are not candidates; see `Order.epochs`."""
        n = len(candidates.rows) if candidates.n_all is None else candidates.n_all
        cycle = np.array(self.rows)
        if len(cycle) > 0 and (cycle.ndim != 1 or cycle.dtype.kind not in "iu"):
            raise ValueError("The order must name rows by whole numbers.")
        unknown = cycle[(cycle < 0) | (cycle >= n)]
        if len(unknown) > 0:
            raise ValueError(
                f"The order names row {unknown[0]} of {n} rows: they are 0 to {n - 1}."
            )
        missing = np.setdiff1d(np.arange(n), cycle)
        if len(missing) > 0:
            raise ValueError(
                f"The order leaves out row {missing[0]} of {n} rows: it must name every row, from "
                "0 on."
            )
        cycle = cycle.astype(np.int64)
        return itertools.repeat(cycle[np.isin(cycle, candidates.rows)])


@dataclass(frozen=True)
class Greedy(Cyclic):
    """The base of the index rules that take the worst of all rows at every step.

    An epoch consists of n steps.
    """


@dataclass(frozen=True)
class MaxDistance(Greedy):
    """At every step, the row with the least ⟨a_i, w⟩/‖a_i‖: the row farthest on the wrong side.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.Perceptron(order=MaxDistance()).fit([[1.0], [2.0]], [0, 1]).converged_
    True
    """


@dataclass(frozen=True)
class MaxResidual(Greedy):
    """At every step, the row with the least ⟨a_i, w⟩: the most violated inequality.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.Perceptron(order=MaxResidual()).fit([[1.0], [2.0]], [0, 1]).converged_
    True
    """


BY_NAME: dict[str, Callable[[], Order]] = {
    "cyclic": Cyclic,
    "fixed": Fixed,
    "permuted": Permuted,
    "blocks": Blocks,
    "random": Random,
    "max_distance": MaxDistance,
    "max_residual": MaxResidual,
}


# The orders in which the weights at the end of an epoch determine all later weights.
REPEATED = (Cyclic, Fixed, Cycle, MaxDistance, MaxResidual)


def named(order: str | Sequence[int] | Indices | Order) -> Order:
    """Return the order that a parameter ``order`` stands for.

    Parameters
    ----------
    order : str, list of row numbers or order
        A name such as "cyclic", a list that becomes a `Cycle`, or an order, which is returned
        unchanged.

    Returns
    -------
    Order
        The order; ValueError if there is none.

    Examples
    --------
    >>> named("cyclic"), named([1, 0])
    (Cyclic(), Cycle(rows=[1, 0]))
    """
    if isinstance(order, str):
        if order not in BY_NAME:
            raise ValueError(f"Unknown order {order!r}; the orders are {', '.join(BY_NAME)}.")
        return BY_NAME[order]()
    if isinstance(order, list | tuple | np.ndarray):
        return Cycle(order)
    if isinstance(order, type) or not isinstance(order, Order):
        raise ValueError(
            "An order is a name, a list of row numbers or an object of novikoff.orders, not "
            f"{order!r}."
        )
    return order


def epochs_of(
    order: Order, problem: Problem, sample_weight: Vector | None, rng: np.random.Generator
) -> Iterator[Indices]:
    """Yield the epochs of an order, without the rows whose sign or ``sample_weight`` is 0."""
    rows = problem.active_rows()
    candidates = Candidates(rows, lambda: np.square(norms(problem)[rows]), problem.n)
    ours = type(order) in (Chaotic, Cycle, *BY_NAME.values())  # a subclass may do anything
    for epoch in order.epochs(candidates, rng):
        if not ours:  # check the row numbers of the caller's own order
            epoch = np.ascontiguousarray(epoch, dtype=np.int64)
            inside = epoch.size == 0 or 0 <= epoch.min() <= epoch.max() < problem.n
            if epoch.ndim != 1 or not inside:
                raise ValueError(
                    f"An epoch must be a vector of row numbers from 0 to {problem.n - 1}."
                )
        yield epoch if sample_weight is None else epoch[sample_weight[epoch] > 0.0]


def first_visits(
    order: Order, problem: Problem, rng: np.random.Generator, count: int
) -> Indices | None:
    """Return the first ``count`` rows that a run in this order visits; None if they depend on w.

    ``rng`` must be in the same state as at the beginning of the run.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> problem = signed_problem(np.zeros((3, 1)), np.array([1, -1, 1], dtype=np.int8), True)
    >>> first_visits(Cyclic(), problem, np.random.default_rng(0), 5).tolist()
    [0, 1, 2, 0, 1]
    """
    if isinstance(order, Greedy):
        return None
    visits = np.empty(0, dtype=np.int64)
    for epoch in epochs_of(order, problem, None, rng):
        if len(visits) >= count or len(epoch) == 0:
            break
        visits = np.append(visits, epoch)
    return visits[:count]
