"""The pocket, and a descent on the number of mistakes itself (A6; Gallant 1990).

*The pocket.* Rows are drawn at random. While w gets them right its *run* grows; a mistake moves
w and ends the run. Weights whose run is longer than the pocket's are a candidate for it:
``ratchet`` replaces the pocket if they make fewer mistakes on all rows, ``run_length`` outright.

*Cheap rules.* The averaged perceptron, least squares and logistic regression are often good.

*The descent.* Along a line w + t·v row i changes sides at t_i = −s_i/q_i, with s_i = ⟨a_i, w⟩ and
q_i = ⟨a_i, v⟩. Sorting these points and adding up the costs of the rows finds the best t exactly.
Lines go along single coordinates, towards wrong rows, and down the slope of a smoothed count.
Moves that change no count are welcome: they lead across plateaus.

A mistake is a row with ⟨a_i, w⟩ ≤ 0; it costs 1, or the row's own cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numba import njit
from scipy.optimize import fmin_l_bfgs_b
from scipy.sparse import diags_array
from scipy.special import expit

from novikoff.core.problem import Problem, products, stretches
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Limits
from novikoff.core.verbs import axpy, dot

if TYPE_CHECKING:
    import scipy.sparse as sp

Basis: TypeAlias = "Vector | sp.dia_array"

# A pocket ends after this many draws per row without a mistake, or entries of X read to count.
_IDLE_DRAWS, _COUNTED, _MIN_COUNTS = 50, 1 << 31, 10
# The averaged perceptron sees this many entries of X, whatever the clock says.
_AVERAGED = 1 << 24
# Columns are measured on rows of about this many entries; more weights are only scaled.
_MEASURED, _MAX_WHITENED = 1 << 22, 1000
# Lines of each kind drawn at once; fewer, where they have more products with the rows than this.
_LINES, _LINE_PRODUCTS = 5, 1 << 21
# A descent ends after this much work without a gain, in numbers read, within limits on its lines;
# and where nobody set a time limit, after this much work in all.
_IDLE_WORK, _MIN_IDLE, _MAX_IDLE, _ALL_WORK = 1 << 29, 6, 600, 1 << 34
# Costs that differ by less than this share are equal: sums depend on their order.
_EQUAL: Final = 1e-12


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

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0)).errors
    1.0
    """
    w = np.zeros(problem.p) if start is None else np.array(start, dtype=np.float64)
    best = Pocketed(w.copy(), cost_of(products(problem, w), costs))
    best.history.append((0, best.errors))
    state = np.array([0, 0, 0, 1, strategy == "run_length"], dtype=np.int64)  # as in `draw`
    most, size, nothing = limits.most_updates(), _step_size(problem), np.empty(0)
    counts, idle = _COUNTED // (problem.n * problem.longest) + _MIN_COUNTS, 0

    def goes_on() -> bool:
        return best.errors > 0.0 and state[2] < most and limits.reached() is None

    try:
        for picks in _draws(problem, rng, costs):
            at, before = 0, int(state[2])
            while at < len(picks) and goes_on():
                at = draw(problem.rows, picks, at, w, state, size, most, nothing)
                if state[0] > state[1] and state[3] == 0:
                    counts, state[3] = counts - 1, 1
                    errors = cost_of(products(problem, w), costs)
                    if errors < best.errors or state[4] == 1:
                        state[1] = state[0]
                        best.w, best.errors = w.copy(), errors
                        best.history.append((int(state[2]), errors))
            idle = 0 if state[2] > before else idle + len(picks)
            if not goes_on() or counts < 0 or idle > _IDLE_DRAWS * (problem.n + 1000):
                break
    except KeyboardInterrupt:
        limits.interrupted = True
    best.updates = int(state[2])
    return best


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

    ``state`` is the run, the pocket's run, the updates, whether w was counted or is in the pocket,
    and whether the pocket's own run goes on. ``total``, if not empty, gains every update as often
    as draws follow it. Returns the number of picks that are done.
    """
    for k in range(first, len(picks)):
        i = picks[k]
        if dot(rows, i, w) > 0.0:
            state[0] += 1
            if state[0] > state[1]:
                if state[3] == 0:
                    return k + 1
                if state[4] == 1:
                    state[1] = state[0]
        else:
            axpy(size, rows, i, w)
            if len(total) > 0:
                axpy(size * (len(picks) - k), rows, i, total)
            state[0] = state[3] = 0
            state[2] += 1
            if state[2] >= most:
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


class _EnoughError(Exception):
    """A limit was reached within a pass over the rows, or no mistake is left."""


def _times(problem: Problem, V: Vector, limits: Limits) -> Vector:
    """⟨a_i, v⟩ for each row v of V (k, p) and each i, as (k, n)."""
    out = np.empty((len(V), problem.n))
    for part, X in _parts(problem, limits):
        out[:, part] = V[:, :-1] @ X.T
    return (out + problem.rows.bias * V[:, -1:]) * problem.signs


def _pull(problem: Problem, U: Vector, limits: Limits) -> Vector:
    """Σ_i u_i·a_i for each row u of U (k, n), as (k, p)."""
    signed = U * problem.signs
    out = np.zeros((len(U), problem.p))
    for part, X in _parts(problem, limits):
        out[:, :-1] += signed[:, part] @ X
    out[:, -1] = problem.rows.bias * signed.sum(axis=1)
    return out


def _parts(problem: Problem, limits: Limits) -> Iterator[tuple[slice, Any]]:
    """Stretches of X in float64, with a look at the clock before each."""
    for first, last in stretches(problem.X):
        if limits.reached() is not None:
            raise _EnoughError
        yield slice(first, last), problem.X[first:last].astype(np.float64, copy=False)


@np.errstate(all="ignore")
def whitening(problem: Problem, rng: np.random.Generator) -> Basis:
    """A matrix B for which ⟨a_i, u·B⟩ is on average as large for one unit vector u as another.

    B·M·Bᵀ = I, nearly, where M is the mean of a_i·a_iᵀ over all rows, or some of them. With more
    than a thousand weights B only scales them. Columns of dense data are centred first.
    """
    n, d, bias = problem.n, problem.p - 1, problem.fit_intercept
    most = max(problem.rows_within(_MEASURED), 10 * min(d, _MAX_WHITENED))
    some = slice(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))
    Z = problem.X[some].astype(np.float64) * (1.0 / problem.unit)
    centre = np.zeros(d)
    if isinstance(Z, np.ndarray) and bias and d <= _MAX_WHITENED:
        centre = Z.mean(axis=0)
        Z -= centre
    squares = np.asarray((Z * Z).mean(axis=0)).ravel()
    scale = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    if d > _MAX_WHITENED:
        return diags_array(np.append(1.0 / scale / problem.unit, float(bias)))
    moments, inner = np.eye(d + 1) * (1.0 + 1e-6), Z.T @ Z / Z.shape[0]
    moments[:d, :d] = inner if isinstance(inner, np.ndarray) else inner.toarray()
    moments[:d, :d] /= scale[:, None] * scale
    moments[d, :d] = moments[:d, d] = np.asarray(Z.mean(axis=0)).ravel() * bias / scale
    moments[range(d), range(d)] += 1e-6
    back = np.diag(np.append(1.0 / scale, float(bias)))
    back[:d, d] = -centre / scale
    back[:, :d] /= problem.unit
    return np.asarray(np.linalg.solve(np.linalg.cholesky(moments), back))


def logistic(
    problem: Problem,
    costs: Vector | None,
    basis: Basis,
    limits: Limits,
    steps: int = 50,
    penalty: float = 1e-3,
) -> Vector:
    """Minimise Σ c_i·log(1 + exp(−⟨a_i, w⟩)) + penalty/2·‖u‖² over w = u·B.

    L-BFGS starts from least squares, the result of 0 steps. It stops at a limit, and where no
    mistake is left.
    """
    shares = np.ones(problem.n) if costs is None else costs / costs.mean()
    u = np.zeros(problem.p)

    def keep(v: Vector) -> None:
        nonlocal u
        u = v.copy()

    def loss(v: Vector) -> tuple[float, Vector]:
        m = _times(problem, v[None] @ basis, limits)[0]
        if m.min() > 0.0:
            keep(v)
            raise _EnoughError
        value = shares @ np.logaddexp(0.0, -m) + 0.5 * penalty * (v @ v)
        pulls = _pull(problem, (shares * expit(-m))[None], limits)
        return float(value), penalty * v - (pulls @ basis.T)[0]

    with suppress(_EnoughError):
        keep((_pull(problem, shares[None], limits) @ basis.T)[0] / problem.n)
        if steps > 0:
            fmin_l_bfgs_b(loss, u, factr=4e10, maxiter=steps, callback=keep)
    return (u[None] @ basis)[0]


@np.errstate(all="ignore")
def line_search(s: Vector, q: Vector, costs: Vector | None = None) -> tuple[float, float]:
    """The least cost of the rows with s_i + t·q_i ≤ 0, and a t with that cost.

    It is the middle of a stretch between two breakpoints, of the widest among equals.

    Examples
    --------
    >>> line_search(np.array([-1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.0]))
    (0.0, 1.5)
    """
    prices, rising, steep = np.ones(len(s)) if costs is None else costs, q > 0.0, np.abs(q)
    points = -s / q
    points[~((steep > 1e-14 * steep.max(initial=0.0)) & np.isfinite(points))] = np.nan
    moves = ~np.isnan(points)
    # Left of all points, rows that rise are wrong and rows that fall are right.
    left = float(prices[np.where(moves, rising, ~(s > 0.0))].sum())
    order = np.argsort(points)[: np.count_nonzero(moves)]
    if len(order) == 0:
        return left, 0.0
    at = points[order]
    errors = left + np.append(0.0, np.cumsum(np.where(rising, -prices, prices)[order]))
    ends = 2.0 * np.abs(at[[0, -1]]) + 1.0
    edges = np.concatenate([at[:1] - ends[0], at, at[-1:] + ends[1]])
    middles = 0.5 * edges[:-1] + 0.5 * edges[1:]
    errors[~((edges[:-1] < middles) & (middles < edges[1:]))] = np.inf
    best = float(errors.min())
    equal = np.flatnonzero(errors <= best * (1.0 + _EQUAL))
    return best, float(middles[equal[np.argmax(edges[equal + 1] - edges[equal])]])


@np.errstate(all="ignore")
def descend(
    problem: Problem,
    w: Vector,
    costs: Vector | None,
    basis: Basis,
    limits: Limits,
    rng: np.random.Generator,
) -> Iterator[tuple[Vector, float]]:
    """Lower the cost of all mistakes of w, line by line; give weights and cost at each gain.

    It ends when lines no longer help: when the last of them have lowered the cost by less than a
    thousandth. Their number depends on the size of the data, never on the clock.
    """
    s = products(problem, w)
    lowest = mark = cost_of(s, costs)
    work = problem.n * (problem.longest + 50)  # of a line
    patience = min(_MAX_IDLE, max(_MIN_IDLE, _IDLE_WORK // work))
    each, idle = max(1, min(_LINES, _LINE_PRODUCTS // problem.n)), 0
    left = math.inf if limits.seconds is not None else max(_MIN_IDLE, _ALL_WORK // work)
    while lowest > 0.0 and idle < patience and left > 0 and limits.reached() is None:
        size = math.frexp(float(np.abs(s).max()))[1]  # only the direction counts
        w, s, now = np.ldexp(w, -size), np.ldexp(s, -size), cost_of(s, costs)
        try:
            V = _lines(problem, s, basis, limits, rng, each)
            Q = _times(problem, V, limits)
        except _EnoughError:
            return
        for v, q in zip(V, Q, strict=True):
            found, t = line_search(s, q, costs)
            if found <= now * (1.0 + _EQUAL) and t != 0.0 and math.isfinite(t):
                w, s, now = w + t * v, s + t * q, found
        idle, left = idle + len(V), left - len(V)
        s = products(problem, w)  # anew, so that rounding cannot build up
        now = cost_of(s, costs)
        if now < lowest:
            lowest = now
            yield w, now
        if lowest <= mark * (1.0 - 1e-3):
            mark, idle = lowest, 0


def _lines(
    problem: Problem,
    s: Vector,
    basis: Basis,
    limits: Limits,
    rng: np.random.Generator,
    each: int,
) -> Vector:
    """Coordinates, directions down a smooth slope, and directions towards wrong rows.

    The slope is that of a loss which falls from 1 to 0 within a distance of the hyperplane that is
    about the distance of the wrong rows.
    """
    wrong = np.flatnonzero(~(s > 0.0))
    if len(wrong) == 0:
        wrong = np.arange(len(s))
    widths = _usual_distance(s) * 2.0 ** rng.uniform(-5.0, 2.0, size=(each, 1))
    pulls = np.zeros((2 * each, len(s)))
    np.maximum(0.0, 1.0 - np.abs(s) / widths, out=pulls[:each])
    pulls[range(each, 2 * each), rng.choice(wrong, size=each)] = 1.0
    V = np.zeros((3 * each, problem.p))
    V[range(each), rng.integers(problem.p, size=each)] = 1.0
    V[each:] = _pull(problem, pulls, limits) @ basis.T @ basis
    return V


def _usual_distance(s: Vector) -> float:
    """The median of |s_i| over the wrong rows, or over some of them."""
    wrong = np.abs(s[~(s > 0.0)])
    return float(np.median(wrong[:: max(1, len(wrong) // 1000)])) if len(wrong) > 0 else 1.0
