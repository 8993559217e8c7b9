"""The pocket: of all weights that the perceptron meets, keep the best (A6; Gallant 1990).

`pocket_steps` is the algorithm as textbooks print it: correct a random mistake, and compare every
new w with the pocket by the mistakes on all rows.

`fill_pocket` runs it (``textbook``), or Gallant's own form, which counts less often. Rows are drawn
at random. While w gets them right its *run* grows; a mistake moves w and ends the run. Weights
whose run is longer than the pocket's are a candidate for it: ``ratchet`` replaces the pocket if
they make fewer mistakes on all rows, ``run_length`` outright.

A mistake is a row with ⟨a_i, w⟩ ≤ 0; it costs 1, or the row's own cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from novikoff.core.problem import Problem, products, sure_products
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Limits
from novikoff.core.verbs import axpy, dot

# A pocket ends after this many draws per row without a mistake, or entries of X read to count.
_IDLE_DRAWS, _COUNTED, _MIN_COUNTS = 50, 1 << 31, 10
# The averaged perceptron sees this many entries of X, whatever the clock says.
_AVERAGED = 1 << 24
# The state of `draw`: the lengths of the run and of the pocket's run, the updates so far, whether
# w was counted or is in the pocket, and whether the pocket's own run goes on.
_RUN, _POCKET_RUN, _UPDATES, _KNOWN, _RUN_LENGTH = range(5)


@dataclass
class Pocketed:
    """The best weights of a run, the cost of their mistakes on all rows, and how it came about.

    ``history`` has the pocket's errors, by the number of updates before.
    """

    w: Vector
    errors: float
    updates: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)


def cost_of(s: Vector, costs: Vector | None) -> float:
    """The cost of the rows with s_i ≤ 0, correctly rounded; NaN is a mistake."""
    wrong = ~(s > 0.0)
    return float(np.count_nonzero(wrong)) if costs is None else math.fsum(costs[wrong].tolist())


class PocketStep(NamedTuple):
    """The weights after an update of the pocket algorithm, and what became of them."""

    row: int  # the mistake that was corrected; −1 for the weights to start from
    w: Vector  # the weights after it, the bias last
    mistakes: float  # their number on all rows, or the cost of these
    kept: bool  # whether they make fewer mistakes than the pocket's, and took their place


def pocket_steps(
    problem: Problem,
    rng: np.random.Generator,
    *,
    start: Vector | None = None,
    costs: Vector | None = None,
) -> Iterator[PocketStep]:
    """Run the pocket algorithm as it is printed, step by step (A6).

    Repeat: draw a row i at random among the mistakes of w, each as likely as it is costly; w ← w +
    a_i; if w makes fewer mistakes on all rows than the pocket, it becomes the pocket. The first
    step is that of the weights to start from, zeros by default. It ends when w makes no mistake,
    and on rows that cannot be separated never: the caller takes as many steps as are enough.

    Rows of sign 0, and those that cost nothing, take no part. Every step reads all rows once.

    Raises
    ------
    ValueError
        If a weight or a product is beyond float64.

    References
    ----------
    Gallant, S. I. (1990). Perceptron-based learning algorithms. *IEEE Transactions on Neural
    Networks* 1(2), 179-191.

    Examples
    --------
    Each step adds a signed row (x, 1) or −(x, 1), so that integers stay integers.

    >>> from itertools import islice
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> for step in islice(pocket_steps(problem, np.random.default_rng(1)), 4):
    ...     print(step.row, step.w, step.mistakes, step.kept)
    -1 [0. 0.] 4.0 True
    1 [-1.  1.] 3.0 True
    2 [-2.  0.] 2.0 True
    3 [0. 1.] 2.0 False
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    taking, row, fewest = problem.taking_part(costs), -1, math.inf
    own = None if costs is None else costs[taking]
    while True:
        s = products(problem, w)[taking]
        if not (np.isfinite(w).all() and np.isfinite(s).all()):
            raise ValueError("The pocket's weights are beyond the range of float64: scale X down.")
        mistakes = cost_of(s, own)
        kept, fewest = mistakes < fewest, min(mistakes, fewest)
        yield PocketStep(row, w.copy(), mistakes, kept)
        wrong = np.flatnonzero(~(s > 0.0))
        if len(wrong) == 0:
            return
        shares = None
        if own is not None:
            shares = own[wrong] / own[wrong].max()
            shares /= shares.sum()
        row = int(taking[rng.choice(wrong, p=shares)])
        with np.errstate(over="ignore"):
            w += signed_row(problem, row)


def signed_row(problem: Problem, i: int) -> Vector:
    """The row a_i = y_i·(x_i, 1), or y_i·(x_i, 0) without a bias, as a vector."""
    x = problem.X[[i]]
    dense = x if isinstance(x, np.ndarray) else x.toarray()
    return np.append(dense.ravel().astype(np.float64), problem.rows.bias) * problem.signs[i]


def fill_pocket(
    problem: Problem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    strategy: str = "ratchet",
    start: Vector | None = None,
    costs: Vector | None = None,
) -> Pocketed:
    """Run the pocket algorithm until a limit, or until the pocket makes no mistakes (A6).

    The weights ``start`` are the first in the pocket. Rows are drawn in proportion to their costs.
    The history of the ``textbook`` strategy has an entry for each update.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0)).errors
    1.0
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    best = Pocketed(w.copy(), cost_of(sure_products(problem, w), costs))
    if strategy == "textbook":
        _fill_as_printed(best, pocket_steps(problem, rng, start=start, costs=costs), limits)
        return best
    best.history.append((0, best.errors))
    state = np.array([0, 0, 0, 1, strategy == "run_length"], dtype=np.int64)
    most, size, nothing = limits.most_updates(), _step_size(problem), np.empty(0)
    counts, idle = _COUNTED // (problem.n * problem.longest) + _MIN_COUNTS, 0

    def goes_on() -> bool:
        return best.errors > 0.0 and state[_UPDATES] < most and limits.reached() is None

    try:
        for picks in _draws(problem, rng, costs):
            at, before = 0, int(state[_UPDATES])
            while at < len(picks) and goes_on():
                at = draw(problem.rows, picks, at, w, state, size, most, nothing)
                if state[_RUN] > state[_POCKET_RUN] and state[_KNOWN] == 0:
                    counts, state[_KNOWN] = counts - 1, 1
                    errors = cost_of(sure_products(problem, w), costs)
                    if errors < best.errors or state[_RUN_LENGTH] == 1:
                        state[_POCKET_RUN] = state[_RUN]
                        best.w, best.errors = w.copy(), errors
                        best.history.append((int(state[_UPDATES]), errors))
            idle = 0 if state[_UPDATES] > before else idle + len(picks)
            if not goes_on() or counts < 0 or idle > _IDLE_DRAWS * (problem.n + 1000):
                break
    except KeyboardInterrupt:
        limits.interrupted = True
    best.updates = int(state[_UPDATES])
    return best


def _fill_as_printed(best: Pocketed, steps: Iterator[PocketStep], limits: Limits) -> None:
    """Take steps until a limit, or until there is none."""
    try:
        for updates, step in enumerate(steps):
            best.updates = updates
            if step.kept:
                best.w, best.errors = step.w, step.mistakes
            best.history.append((updates, best.errors))
            if updates >= limits.most_updates() or limits.reached() is not None:
                return
    except KeyboardInterrupt:
        limits.interrupted = True


def averaged_perceptron(
    problem: Problem, limits: Limits, rng: np.random.Generator, costs: Vector | None
) -> Vector:
    """The average of w over 3·n random draws (A9; Freund and Schapire 1999).

    A limit on time may cut them short, but not below n draws, nor 2²⁴ entries of large data.
    """
    w, total, drawn = np.zeros(problem.p), np.zeros(problem.p), 0
    least = min(problem.n, _AVERAGED // problem.longest)
    state = np.array([0, 1 << 62, 0, 0, 0], dtype=np.int64)  # no run is longer
    for picks in _draws(problem, rng, costs):
        total += len(picks) * w
        draw(problem.rows, picks, 0, w, state, _step_size(problem), 1 << 62, total)
        drawn += len(picks)
        if drawn >= 3 * problem.n or (drawn >= least and limits.reached() is not None):
            break
    return total / drawn


def load_kernel(problem: Problem) -> None:
    """Compile or load the kernel for this storage, before a clock starts."""
    nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
    draw(problem.rows, none, 0, nothing, none, 1.0, 0, nothing)


@njit(cache=True, nogil=True)
def draw(
    rows: Rows,
    picks: Indices,
    first: int,
    w: Vector,
    state: Indices,
    size: float,
    most: int,
    total: Vector,
) -> int:
    """Learn from the rows picks[first:] until a run is longer than the pocket's.

    ``total``, if not empty, gains every update as often as draws follow it. Returns the number of
    picks that are done.
    """
    for k in range(first, len(picks)):
        i = picks[k]
        if dot(rows, i, w) > 0.0:
            state[_RUN] += 1
            if state[_RUN] > state[_POCKET_RUN]:
                if state[_KNOWN] == 0:
                    return k + 1
                if state[_RUN_LENGTH] == 1:
                    state[_POCKET_RUN] = state[_RUN]
        else:
            axpy(size, rows, i, w)
            if len(total) > 0:
                axpy(size * (len(picks) - k), rows, i, total)
            state[_RUN] = state[_KNOWN] = 0
            state[_UPDATES] += 1
            if state[_UPDATES] >= most:
                return k + 1
    return len(picks)


def _draws(problem: Problem, rng: np.random.Generator, costs: Vector | None) -> Iterator[Indices]:
    """Rows at random, in proportion to their costs, some at a time."""
    size = min(1 << 14, max(1, (1 << 22) // problem.longest))
    shares = None if costs is None else costs / costs.max()
    while True:
        if shares is None:
            yield rng.integers(problem.n, size=size)
        else:
            yield rng.choice(problem.n, size=size, p=shares / shares.sum())


def _step_size(problem: Problem) -> float:
    """One; for rows so long or short that ⟨a_i, a_j⟩ is beyond float64, about 1/R."""
    if 1e-100 < problem.radius < 1e100 or problem.radius == 0.0:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(problem.radius)[1]))
