"""The pocket algorithm: run the perceptron and keep its best weights (Gallant 1990).

`pocket_steps` is the algorithm as textbooks print it: it corrects a random mistake, then compares
the new w with the pocket by the number of mistakes on all rows.

`fill_pocket` runs this algorithm (``textbook``) or Gallant's own form, which counts mistakes less
often. It draws rows at random. While w classifies the drawn rows correctly, its *run* grows; a
mistake changes w and ends the run. When the run of w becomes longer than the run of the pocket's
weights, ``run_length`` puts w into the pocket, and ``ratchet`` does so only if w makes fewer
mistakes on all rows.

A mistake is a row with ⟨a_i, w⟩ ≤ 0. It costs 1, or the row's own cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from novikoff.core.compilation import announcing_compilation
from novikoff.core.problem import Problem, Rows, products, sure_products
from novikoff.core.rows import Indices, SignedRows, Vector, as_dense
from novikoff.core.stops import Limits
from novikoff.core.verbs import axpy, dot
from novikoff.errors import OutOfRangeError

# `fill_pocket` stops after this many draws for each row without a mistake.
_IDLE_DRAWS = 50
# Counting the mistakes of a rule reads all of X. `fill_pocket` stops after about _COUNTED entries
# were read for this purpose, but not before mistakes were counted _MIN_COUNTS times.
_COUNTED, _MIN_COUNTS = 1 << 31, 10
# The averaged perceptron reads at least this many entries of X, even if the time is up.
_AVERAGED = 1 << 24


@dataclass
class PocketResult:
    """The best weights of a run of the pocket algorithm, and the cost of their mistakes.

    ``history`` is a list of pairs: the number of updates so far, and the cost of the mistakes of
    the weights that were in the pocket at that time.
    """

    w: Vector
    cost: float
    updates: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)


class PickState(NamedTuple):
    """The state of `learn_picks`: arrays of one number, which the compiled loop changes."""

    run: Indices  # the length of the run of w
    pocket_run: Indices  # the length of the run of the pocket
    n_updates: Indices
    is_known: Indices  # 1 if w is in the pocket or its mistakes were counted
    by_run_length: Indices  # 1 for the strategy "run_length"

    @classmethod
    def begin(
        cls, *, pocket_run: int = 0, is_known: bool = True, by_run_length: bool = False
    ) -> PickState:
        """Return the state before the first pick."""
        numbers = 0, pocket_run, 0, is_known, by_run_length
        return cls(*(np.array([number], dtype=np.int64) for number in numbers))


def cost_of(s: Vector, costs: Vector | None) -> float:
    """Return the cost of the rows with s_i ≤ 0, correctly rounded; a NaN counts as a mistake."""
    wrong = ~(s > 0.0)
    return float(np.count_nonzero(wrong)) if costs is None else math.fsum(costs[wrong].tolist())


class PocketStep(NamedTuple):
    """The weights after an update of the pocket algorithm, and whether they enter the pocket."""

    row: int  # the row whose mistake was corrected; −1 for the initial weights
    w: Vector  # the weights after the update, the bias last
    mistakes: float  # the number of rows that w misclassifies, or the sum of their costs
    kept: bool  # whether w makes fewer mistakes than the pocket and therefore replaces it


def pocket_steps(
    problem: Problem,
    rng: np.random.Generator,
    *,
    start: Vector | None = None,
    costs: Vector | None = None,
) -> Iterator[PocketStep]:
    """Run the pocket algorithm as textbooks print it, step by step.

    Each step draws a row i at random among the rows that w misclassifies, with a probability
    proportional to its cost, and sets w ← w + a_i. If w makes fewer mistakes on all rows than the
    pocket, w becomes the pocket. The first step yields the initial weights, which are zeros by
    default. The iteration ends when w makes no mistake. On rows that are not separable it never
    ends, and the caller decides how many steps to take.

    Rows of sign 0 and rows of cost 0 take no part. Every step reads all rows once.

    Raises
    ------
    ValueError
        If a weight or a product is beyond the range of float64.

    References
    ----------
    Gallant, S. I. (1990). Perceptron-based learning algorithms. *IEEE Transactions on Neural
    Networks* 1(2), 179-191.

    Examples
    --------
    Each step adds a signed row (x, 1) or −(x, 1), so that weights on rows of integers are integers.

    >>> from itertools import islice
    >>> from novikoff.core.problem import signed_problem
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = signed_problem(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> for step in islice(pocket_steps(problem, np.random.default_rng(1)), 4):
    ...     print(step.row, step.w, step.mistakes, step.kept)
    -1 [0. 0.] 4.0 True
    1 [-1.  1.] 3.0 True
    2 [-2.  0.] 2.0 True
    3 [0. 1.] 2.0 False
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    active, row, fewest = problem.active_rows(costs), -1, math.inf
    active_costs = None if costs is None else costs[active]
    while True:
        s = products(problem, w)[active]
        if not (np.isfinite(w).all() and np.isfinite(s).all()):
            raise OutOfRangeError(
                "The pocket's weights are beyond the range of float64: scale X down."
            )
        mistakes = cost_of(s, active_costs)
        is_kept, fewest = mistakes < fewest, min(mistakes, fewest)
        yield PocketStep(row, w.copy(), mistakes, is_kept)
        wrong = np.flatnonzero(~(s > 0.0))
        if len(wrong) == 0:
            return
        shares = None
        if active_costs is not None:
            shares = active_costs[wrong] / active_costs[wrong].max()
            shares /= shares.sum()
        row = int(active[rng.choice(wrong, p=shares)])
        with np.errstate(over="ignore"):
            w += signed_row(problem, row)


def signed_row(problem: Problem, i: int) -> Vector:
    """Return the row a_i = y_i·(x_i, 1), or y_i·(x_i, 0) without a bias, as a vector."""
    x = as_dense(problem.X[[i]], np.float64).ravel()
    return np.append(x, problem.bias) * problem.signs[i]


def fill_pocket(
    problem: Problem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    strategy: str = "ratchet",
    start: Vector | None = None,
    costs: Vector | None = None,
) -> PocketResult:
    """Run the pocket algorithm until a limit, or until the pocket makes no mistakes.

    The pocket begins with the weights ``start``. Rows are drawn with probabilities proportional to
    their costs. The history of the strategy ``textbook`` has an entry for each update.

    Examples
    --------
    >>> from novikoff.core.problem import signed_problem
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = signed_problem(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0)).cost
    1.0
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    best = PocketResult(w.copy(), cost_of(sure_products(problem, w), costs))
    if strategy == "textbook":
        _fill_as_printed(best, pocket_steps(problem, rng, start=start, costs=costs), limits)
        return best
    best.history.append((0, best.cost))
    ratchet = strategy != "run_length"
    state = PickState.begin(by_run_length=not ratchet)
    max_updates, step_size, no_sum = limits.most_updates(), _step_size(problem), np.empty(0)
    counts_left, idle = _COUNTED // (problem.n * problem.longest) + _MIN_COUNTS, 0

    def goes_on() -> bool:
        return best.cost > 0.0 and state.n_updates[0] < max_updates and limits.reached() is None

    try:
        for picks in _draws(problem, rng, costs):
            at, before = 0, int(state.n_updates[0])
            while at < len(picks) and goes_on():
                at = learn_picks(
                    problem.arrays, picks, at, w, state, step_size, max_updates, no_sum
                )
                if state.run[0] > state.pocket_run[0] and state.is_known[0] == 0:
                    counts_left, state.is_known[0] = counts_left - 1, 1
                    # Doubtful signs count as mistakes, so the sure count is never smaller.
                    if ratchet and cost_of(products(problem, w), costs) >= best.cost:
                        continue
                    cost = cost_of(sure_products(problem, w), costs)
                    if cost < best.cost or not ratchet:
                        state.pocket_run[0] = state.run[0]
                        best.w, best.cost = w.copy(), cost
                        best.history.append((int(state.n_updates[0]), cost))
            idle = 0 if state.n_updates[0] > before else idle + len(picks)
            if not goes_on() or counts_left < 0 or idle > _IDLE_DRAWS * (problem.n + 1000):
                break
    except KeyboardInterrupt:
        limits.interrupt()
    best.updates = int(state.n_updates[0])
    return best


def _fill_as_printed(best: PocketResult, steps: Iterator[PocketStep], limits: Limits) -> None:
    """Take steps until a limit, or until the steps end."""
    try:
        for updates, step in enumerate(steps):
            best.updates = updates
            if step.kept:
                best.w, best.cost = step.w, step.mistakes
            best.history.append((updates, best.cost))
            if updates >= limits.most_updates() or limits.reached() is not None:
                return
    except KeyboardInterrupt:
        limits.interrupt()


def averaged_perceptron(
    problem: Problem, limits: Limits, rng: np.random.Generator, costs: Vector | None
) -> Vector:
    """Return the average of w over 3·n random draws (Freund and Schapire 1999).

    A limit on time may end the draws early, but not before n draws were made or, on large data,
    2²⁴ entries of X were read.
    """
    w, total, drawn = np.zeros(problem.p), np.zeros(problem.p), 0
    least = min(problem.n, _AVERAGED // problem.longest)
    state = PickState.begin(pocket_run=1 << 62, is_known=False)  # no run becomes longer than this
    for picks in _draws(problem, rng, costs):
        total += len(picks) * w
        learn_picks(problem.arrays, picks, 0, w, state, _step_size(problem), 1 << 62, total)
        drawn += len(picks)
        if drawn >= 3 * problem.n or (drawn >= least and limits.reached() is not None):
            break
    return total / drawn


def compile_pocket_loop(rows: Rows) -> None:
    """Compile the loop for this storage, or load it from the cache, before a clock starts."""
    nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
    with announcing_compilation(learn_picks):
        learn_picks(
            rows.all_positive().arrays, none, 0, nothing, PickState.begin(), 1.0, 0, nothing
        )


@njit(cache=True, nogil=True)
def learn_picks(
    rows: SignedRows,
    picks: Indices,
    first: int,
    w: Vector,
    state: PickState,
    step_size: float,
    max_updates: int,
    total: Vector,
) -> int:
    """Learn from the rows picks[first:] until the run of w is longer than the pocket's run.

    If ``total`` is not empty, the sum of w over the picks is added to it: each update counts once
    for every pick after it. Returns the number of picks that are done.
    """
    for k in range(first, len(picks)):
        i = picks[k]
        if dot(rows, i, w) > 0.0:
            state.run[0] += 1
            if state.run[0] > state.pocket_run[0]:
                if state.is_known[0] == 0:
                    return k + 1
                if state.by_run_length[0] == 1:
                    state.pocket_run[0] = state.run[0]
        else:
            axpy(step_size, rows, i, w)
            if len(total) > 0:
                axpy(step_size * (len(picks) - k), rows, i, total)
            state.run[0] = state.is_known[0] = 0
            state.n_updates[0] += 1
            if state.n_updates[0] >= max_updates:
                return k + 1
    return len(picks)


def _draws(problem: Problem, rng: np.random.Generator, costs: Vector | None) -> Iterator[Indices]:
    """Yield batches of random rows, drawn with probabilities proportional to their costs."""
    size = min(1 << 14, max(1, (1 << 22) // problem.longest))
    shares = None if costs is None else costs / costs.max()
    while True:
        if shares is None:
            yield rng.integers(problem.n, size=size)
        else:
            yield rng.choice(problem.n, size=size, p=shares / shares.sum())


def _step_size(problem: Problem) -> float:
    """Return the step size: 1, or about 1/R if a product ⟨a_i, a_j⟩ would leave float64."""
    if 1e-100 < problem.radius < 1e100 or problem.radius == 0.0:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(problem.radius)[1]))
