"""The pocket: the perceptron at random, keeping the best weights it has met (A6; Gallant 1990).

Rows are drawn at random. While w gets them right its *run* grows; a mistake moves w and ends
the run. Weights whose run is longer than the pocket's are a candidate for it:

* ``ratchet``: they replace the pocket if they make fewer mistakes on all rows. Then the
  pocket's mistakes only ever go down.
* ``run_length``: they replace it outright, and nothing but runs is counted.

A count of all mistakes looks only where the sign may have changed since the pocket was
counted, and stops as soon as it can no longer win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from novikoff.core.margins import UNDERFLOW, norm_bound, scores
from novikoff.core.memory import aligned_zeros
from novikoff.core.problem import Problem, relative_norms
from novikoff.core.rows import Indices, Rows, Vector, axpy, dot, dot_in_order
from novikoff.core.stops import Limits, Stop

# Rows drawn per call of the kernel.
_DRAWN: Final = 1 << 14
# So many draws per row without a mistake end a run.
_PATIENCE: Final = 50


@dataclass
class Pocketed:
    """What a run kept in its pocket.

    Attributes
    ----------
    w : array of shape (p,)
        The best weights.
    errors : float
        Their mistakes on all rows, weighted: ⟨a_i, w⟩ ≤ 0 is one.
    updates, mistakes : int
        How often the moving weights were changed: always on a mistake.
    history : list of (int, float)
        The pocket's errors, by the number of updates before.
    stop : Stop
        Why the run ended.
    """

    w: Vector
    errors: float
    updates: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)
    stop: Stop = Stop.UPDATES


def fill_pocket(
    problem: Problem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    strategy: str = "ratchet",
    start: Vector | None = None,
    weights: Vector | None = None,
) -> Pocketed:
    """Run the pocket algorithm until a limit, or until the pocket makes no mistakes.

    Parameters
    ----------
    problem, limits, rng
        The data, how long to run, and where randomness comes from.
    strategy : "ratchet" or "run_length"
        What it takes to enter the pocket.
    start : array of shape (p,), optional
        The weights to start from; they are the first in the pocket.
    weights : array of shape (n,), optional
        The price of a mistake on each row; rows are drawn in proportion to it.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0)).errors
    1.0
    """
    w = aligned_zeros((problem.p, 1))[:, 0]
    if start is not None:
        w[:] = start
    prices = np.ones(problem.n) if weights is None else np.asarray(weights, dtype=np.float64)
    drawn = None
    if weights is not None:
        drawn = prices / prices.max()
        drawn /= drawn.sum()
    count = _Count(problem, prices)
    best = Pocketed(w.copy(), count.anchor(w))
    best.history.append((0, best.errors))
    # The run, the pocket's run, updates, whether w is in the pocket, whether runs decide.
    state = np.array([0, 0, 0, 1, strategy == "run_length"], dtype=np.int64)
    most = limits.most_updates()
    picks = np.empty(0, dtype=np.int64)
    at = idle = seen = 0
    size = _step_size(problem)
    doubt, step = np.zeros(1), problem.rounding() * problem.radius * size
    try:
        while best.errors > 0.0:
            stop = limits.reached() or (Stop.UPDATES if state[2] >= most else None)
            if stop is not None:
                best.stop = stop
                break
            if at == len(picks):
                idle = idle + len(picks) if state[2] == seen else 0
                if idle > _PATIENCE * problem.n + _DRAWN:  # mistakes are too rare to be drawn
                    best.stop = Stop.EXHAUSTED
                    break
                picks, at, seen = _draw(rng, problem.n, drawn), 0, int(state[2])
                doubt[0] = problem.rounding() * norm_bound(w)
                if not doubt[0] < np.inf:
                    raise ValueError(
                        "The weights grew beyond the range of float64: scale the data down."
                    )
            at = draw_until_longer(problem.rows, picks, at, w, state, doubt, step, size, most)
            if state[0] > state[1] and state[3] == 0:
                # Less by more than rounding: sums of prices depend on their order.
                limit = best.errors * (1.0 - 1e-12) if strategy == "ratchet" else math.inf
                if count.below(w, limit):
                    state[1], state[3] = state[0], 1
                    best.w, best.errors = w.copy(), count.anchor(w)
                    best.history.append((int(state[2]), best.errors))
                else:  # these weights have had their chance
                    state[0] = -(1 << 62)
        else:
            best.stop = Stop.CLEAN
    except KeyboardInterrupt:
        limits.interrupted = True
        best.stop = Stop.INTERRUPTED
    best.updates = int(state[2])
    return best


def _step_size(problem: Problem) -> float:
    """One; for rows so long or short that ⟨a_i, a_j⟩ is beyond float64, about 1/R."""
    if 1e-100 < problem.radius < 1e100 or problem.radius == 0.0:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(problem.radius)[1]))


def _draw(rng: np.random.Generator, n: int, shares: Vector | None) -> Indices:
    if shares is None:
        return rng.integers(n, size=_DRAWN)
    return rng.choice(n, size=_DRAWN, p=shares)


class _Count:
    """The mistakes of weights, counted against those of an anchor.

    With w = α·w_s + v, v ⊥ w_s and α > 0, the sign of ⟨a_i, w⟩ is that of ⟨a_i, w_s⟩ wherever
    |⟨a_i, w_s⟩|/‖a_i‖ > ‖v‖/α. Rows are kept in the order of ⟨a_i, w_s⟩/‖a_i‖: those in doubt
    are neighbours, and the wrong ones come first.
    """

    def __init__(self, problem: Problem, prices: Vector) -> None:
        self.problem, self.prices = problem, prices
        lengths = relative_norms(problem) * problem.unit
        self.lengths = np.where(lengths > 0.0, lengths, 1.0)

    def anchor(self, w: Vector) -> float:
        """Count the mistakes of w on all rows, and remember the margins."""
        margins = scores(self.problem, w[:, None])[:, 0]
        self.w, self.norm = w.copy(), norm_bound(w)
        distances = margins / self.lengths
        self.order = np.argsort(distances)
        self.distances = distances[self.order]
        self.wrong = np.concatenate([[0.0], np.cumsum(self.prices[self.order])])
        return float(self.prices[~(margins > 0.0)].sum())

    def below(self, w: Vector, limit: float) -> bool:
        """Whether the mistakes of w cost less than ``limit``."""
        if limit == math.inf:
            return True
        problem = self.problem
        anchor = Anchored(self.w, self.norm, self.order, self.distances, self.wrong)
        rounding = problem.rounding()
        found = count_wrong(problem.rows, anchor, w, rounding, problem.longest, self.prices, limit)
        return bool(found < limit)


class Anchored(NamedTuple):
    """Weights, a bound on their norm, and the rows in the order of their distances from them."""

    w: Vector
    norm: float
    order: Indices
    distances: Vector
    wrong: Vector  # the price of all rows before, were they wrong


@njit(cache=True, nogil=True)
def draw_until_longer(
    rows: Rows,
    picks: Indices,
    first: int,
    w: Vector,
    state: Indices,
    doubt: Vector,
    step: float,
    size: float,
    most: int,
) -> int:
    """Learn from the rows drawn until a run is longer than the pocket's; return how far it went.

    ``doubt`` bounds how far two sums of ⟨a_i, w⟩ may be apart; an update of this size adds
    ``step`` to it.
    """
    for k in range(first, len(picks)):
        i = picks[k]
        m = dot(rows, i, w)
        if not doubt[0] + UNDERFLOW < abs(m) < np.inf:
            m = dot_in_order(rows, i, w)
        if m > 0.0:
            state[0] += 1
            if state[0] > state[1]:
                if state[3] == 0:
                    return k + 1
                if state[4] > 0:  # the pocket's own run goes on
                    state[1] = state[0]
        else:
            axpy(size, rows, i, w)
            state[0] = state[3] = 0
            state[2] += 1
            doubt[0] += step
            if state[2] >= most:
                return k + 1
    return len(picks)


@njit(cache=True, nogil=True)
def count_wrong(
    rows: Rows,
    anchor: Anchored,
    w: Vector,
    rounding: float,
    longest: int,
    prices: Vector,
    limit: float,
) -> float:
    """The price of all rows with ⟨a_i, w⟩ ≤ 0, or some number not below the limit."""
    w_s, norm_s, order, distances, wrong = anchor
    largest = square = across = inner = 0.0
    for j in range(len(w)):
        largest = max(largest, abs(w[j]))
        square += w_s[j] * w_s[j]
        inner += w[j] * w_s[j]
    norm = 0.0
    for j in range(len(w)):
        norm += (w[j] / largest) ** 2 if largest > 0.0 else 0.0
    norm = largest * math.sqrt(norm) * (1.0 + 1e-8)
    reach = math.inf  # ‖v‖/α, rounded up generously; infinite where the anchor is of no help
    alpha = inner / square if square > 0.0 else 0.0
    if alpha > 0.0 and 1e-200 < square < 1e200:
        for j in range(len(w)):
            across += (w[j] - alpha * w_s[j]) ** 2
        slip = 1e-12 * (norm / alpha + norm_s) * longest
        reach = math.sqrt(across) / alpha * (1.0 + 1e-9) + slip
    first = np.searchsorted(distances, -reach, side="left")
    last = np.searchsorted(distances, reach, side="right")
    doubt = rounding * norm
    errors: float = wrong[first]
    for k in range(first, last):
        i = order[k]
        m = dot(rows, i, w)
        if not doubt + UNDERFLOW < abs(m) < np.inf:
            m = dot_in_order(rows, i, w)
        if not m > 0.0:
            errors += prices[i]
            if errors >= limit:
                return errors
    return errors
