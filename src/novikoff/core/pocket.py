"""The pocket, and a descent on the number of mistakes itself (A6; Gallant 1990).

*The pocket.* Rows are drawn at random. While w gets them right its *run* grows; a mistake moves
w and ends the run. Weights whose run is longer than the pocket's are a candidate for it:
``ratchet`` replaces the pocket if they make fewer mistakes on all rows, ``run_length`` outright.

*The descent.* Along a line w + t·v row i changes sides at t_i = −s_i/q_i, with s_i = ⟨a_i, w⟩ and
q_i = ⟨a_i, v⟩. Sorting these points and adding up the costs of the rows finds the best t exactly.
Lines go along single weights, towards wrong rows, and down the slope of a smoothed count. Moves
that change no count are welcome: they lead across plateaus.

*Starts.* The averaged perceptron and logistic regressions are cheap and often good.

A mistake is a row with ⟨a_i, w⟩ ≤ 0; it costs 1, or the row's own cost.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.problem import Problem, products
from novikoff.core.rows import Indices, Rows, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.verbs import axpy, dot

Flags: TypeAlias = npt.NDArray[np.bool_]

# Entries of X read between two looks at the clock: by a product, and by the kernel.
_STRETCH, _DRAWN = 1 << 23, 1 << 22
# A pocket ends after this many draws per row without a mistake, or entries of X read to count.
_IDLE_DRAWS, _COUNTED = 50, 1 << 33
# Columns are measured on rows of about this many entries; more weights have no metric.
_MEASURED, _MAX_METRIC = 1 << 22, 1000
# Lines of each kind that are drawn at once, if their products with the rows are at most so many.
_LINES, _LINE_PRODUCTS = 5, 1 << 21
# A descent ends after this much work without a gain, in numbers read, within limits on its lines.
_IDLE_WORK, _MIN_IDLE, _MAX_IDLE = 1 << 31, 30, 1500
# Random steps away from the best weights before a descent ends.
_KICKS: Final = 8
# The reach of a smooth slope, as powers of two times the usual distance of the wrong rows.
_NEAREST, _FARTHEST = -5.0, 2.0
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
    stop: Stop = Stop.EXHAUSTED


def cost_of(s: Vector, costs: Vector | None) -> float:
    """The cost of the rows with s_i ≤ 0, correctly rounded; NaN is a mistake.

    Examples
    --------
    >>> cost_of(np.array([1.0, 0.0, -1.0]), np.array([1.0, 2.0, 4.0]))
    6.0
    """
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
    counts, idle, stop = _COUNTED // (problem.n * problem.longest) + 50, 0, None
    try:
        for picks in _draws(problem, rng, costs):
            at, before = 0, int(state[2])
            while at < len(picks) and best.errors > 0.0 and stop is None:
                at = draw(problem.rows, picks, at, w, state, size, most, nothing)
                if state[0] > state[1] and state[3] == 0:
                    counts, state[3] = counts - 1, 1
                    errors = cost_of(products(problem, w), costs)
                    if errors < best.errors or state[4] == 1:
                        state[1] = state[0]
                        best.w, best.errors = w.copy(), errors
                        best.history.append((int(state[2]), errors))
                stop = limits.reached() or (Stop.UPDATES if state[2] >= most else None)
            idle = 0 if state[2] > before else idle + len(picks)
            if best.errors == 0.0:
                stop = Stop.CLEAN
            if stop is not None or counts < 0 or idle > _IDLE_DRAWS * (problem.n + 1000):
                break
    except KeyboardInterrupt:
        limits.interrupted, stop = True, Stop.INTERRUPTED
    best.updates, best.stop = int(state[2]), stop or Stop.EXHAUSTED
    return best


def averaged_perceptron(
    problem: Problem, limits: Limits, rng: np.random.Generator, costs: Vector | None, epochs: int
) -> Vector:
    """The average of w over ``epochs``·n random draws (A9; Freund and Schapire 1999).

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> problem = pose(np.array([[-1.0], [1.0]]), np.array([-1, 1], dtype=np.int8), True)
    >>> w = averaged_perceptron(problem, Limits(), np.random.default_rng(0), None, 5)
    >>> bool((products(problem, w) > 0).all())
    True
    """
    w, total, drawn = np.zeros(problem.p), np.zeros(problem.p), 0
    state = np.array([0, 1 << 62, 0, 0, 0], dtype=np.int64)  # no run is longer
    for picks in _draws(problem, rng, costs):
        total += len(picks) * w
        draw(problem.rows, picks, 0, w, state, _step_size(problem), 1 << 62, total)
        drawn += len(picks)
        if drawn >= epochs * problem.n or limits.reached() is not None:
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
    size = min(1 << 14, max(1, _DRAWN // problem.longest))
    if costs is None:
        while True:
            yield rng.integers(problem.n, size=size)
    shares = costs / costs.max()
    shares /= shares.sum()
    while True:
        yield rng.choice(problem.n, size=size, p=shares)


def _step_size(problem: Problem) -> float:
    """One; for rows so long or short that ⟨a_i, a_j⟩ is beyond float64, about 1/R."""
    if 1e-100 < problem.radius < 1e100 or problem.radius == 0.0:
        return 1.0
    return math.ldexp(1.0, min(1000, -math.frexp(problem.radius)[1]))


class _OutOfTimeError(Exception):
    """The limit was reached within a pass over the rows."""


class SignedProducts:
    """Products with all rows a_i, in the precision of X, with a look at the clock now and then.

    They steer a search; `products` counts.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.X, self.limits, self.n = problem.X, limits, problem.n
        self.signs = problem.signs.astype(self.X.dtype)
        self.bias = float(problem.fit_intercept)
        self.stretch = problem.rows_within(_STRETCH)

    def times(self, V: Vector) -> Vector:
        """⟨a_i, v⟩ for each row v of V (k, p) and each i, as (k, n)."""
        out, rough = np.empty((len(V), self.n)), V[:, :-1].astype(self.X.dtype)
        for part in self._parts():
            out[:, part] = rough @ self.X[part].T
        out += self.bias * V[:, -1:]
        out *= self.signs
        return out

    def pull(self, U: Vector) -> Vector:
        """Σ_i u_i·a_i for each row u of U (k, n), as (k, p)."""
        out, signed = np.zeros((len(U), self.X.shape[1] + 1)), (U * self.signs)
        rough = signed.astype(self.X.dtype, copy=False)
        for part in self._parts():
            out[:, :-1] += rough[:, part] @ self.X[part]
        out[:, -1] = self.bias * signed.sum(axis=1)
        return out

    def _parts(self) -> Iterator[slice]:
        for first in range(0, self.n, self.stretch):
            if self.limits.reached() is not None:
                raise _OutOfTimeError
            yield slice(first, min(first + self.stretch, self.n))


@dataclass(frozen=True)
class Frame:
    """Coordinates u in which columns have mean 0 and variance 1, and a metric there.

    The weights are w_j = u_j/scale_j with the bias b = u_p − Σ centre_j·w_j. In the metric, the
    inverse of the rows' second moments, ⟨a_i, v⟩ is about as large for one direction v as for
    another; None is the identity.
    """

    centre: Vector
    scale: Vector
    metric: Vector | None

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator) -> Frame:
        """Measure the columns on some of the rows; those of sparse data are not centred."""
        n, d, bias = problem.n, problem.p - 1, problem.fit_intercept
        most = max(problem.rows_within(_MEASURED), 10 * min(d, _MAX_METRIC))
        some = slice(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))
        Z = problem.X[some].astype(np.float64) * (1.0 / problem.unit)
        centre = np.zeros(d)
        if isinstance(Z, np.ndarray) and bias:
            centre = Z.mean(axis=0)
            Z -= centre
        squares = np.asarray((Z * Z).mean(axis=0)).ravel()
        scale = np.where(squares > 0.0, np.sqrt(squares), 1.0)
        metric = None
        if d <= _MAX_METRIC:
            inner, means = Z.T @ Z / Z.shape[0], np.asarray(Z.mean(axis=0)).ravel() * bias
            moments = np.eye(d + 1)
            moments[:d, :d] = inner if isinstance(inner, np.ndarray) else inner.toarray()
            moments[:d, :d] /= scale[:, None] * scale
            moments[d, :d] = moments[:d, d] = means / scale
            metric = np.asarray(np.linalg.inv(moments + 1e-6 * np.eye(d + 1)), dtype=np.float64)
            metric[-1] *= bias
        return cls(centre * problem.unit, scale * problem.unit, metric)

    def weights(self, U: Vector) -> Vector:
        """The weights w of each row u of U."""
        W = U.copy()
        W[:, :-1] /= self.scale
        W[:, -1] -= W[:, :-1] @ self.centre
        return W

    def slopes(self, G: Vector) -> Vector:
        """The gradient in u of each gradient in w, a row of G."""
        return np.column_stack([(G[:, :-1] - G[:, -1:] * self.centre) / self.scale, G[:, -1]])

    def steepest(self, G: Vector) -> Vector:
        """The metric times each row of G."""
        return G if self.metric is None else G @ self.metric

    def downhill(self, G: Vector) -> Vector:
        """The change of w that is steepest in the metric, for each gradient in w, a row of G."""
        return self.weights(self.steepest(self.slopes(G)))


def logistic(
    problem: Problem,
    costs: Vector | None,
    frame: Frame,
    limits: Limits,
    steps: int = 50,
    penalty: float = 1e-3,
) -> Vector:
    """Minimise Σ c_i·log(1 + exp(−⟨a_i, w⟩)) + penalty/2·‖u‖² over w = frame.weights(u).

    L-BFGS (Nocedal 1980) starts from least squares, the result of 0 steps. It stops at a limit, and
    where no mistake is left.
    """
    rows = SignedProducts(problem, limits)
    shares = np.ones(problem.n) if costs is None else costs / costs.mean()
    pairs: deque[tuple[Vector, Vector]] = deque(maxlen=10)

    def loss(u: Vector, m: Vector) -> float:
        falling = np.log1p(np.exp(-np.abs(m))) + np.maximum(0.0, -m)
        return float(shares @ falling) + 0.5 * penalty * float(u @ u)

    def gradient(u: Vector, m: Vector) -> Vector:
        pulls = shares * (0.5 * np.tanh(0.5 * m) - 0.5)
        slope: Vector = penalty * u + frame.slopes(rows.pull(pulls[None]))[0]
        return slope

    u = np.zeros(problem.p)
    try:
        u = frame.steepest(frame.slopes(rows.pull(shares[None])))[0] / problem.n
        m = rows.times(frame.weights(u[None]))[0]
        value, g = loss(u, m), gradient(u, m)
        for _ in range(steps):
            step = -_inverse_hessian(g, pairs, frame, 4.0 / problem.n)
            along = rows.times(frame.weights(step[None]))[0]
            slope, t = float(g @ step), 1.0
            while t > 1e-6 and not loss(u + t * step, m + t * along) <= value + 1e-4 * t * slope:
                t /= 2.0
            before, u, m = value, u + t * step, m + t * along
            value = loss(u, m)
            if not before - value > 1e-5 * before or m.min() > 0.0:
                break
            g, last = gradient(u, m), g
            if float((g - last) @ step) > 0.0:
                pairs.append((t * step, g - last))
    except _OutOfTimeError:
        pass
    w: Vector = frame.weights(u[None])[0]
    return w


def _inverse_hessian(
    g: Vector, pairs: deque[tuple[Vector, Vector]], frame: Frame, size: float
) -> Vector:
    """The two loops of L-BFGS, from ``size`` times the metric."""
    g, factors = g.copy(), []
    for step, change in reversed(pairs):
        factors.append(float(step @ g) / float(step @ change))
        g -= factors[-1] * change
    g = size * frame.steepest(g[None])[0]
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        g += (factor - float(change @ g) / float(step @ change)) * step
    return g


@np.errstate(all="ignore")
def line_search(s: Vector, q: Vector, costs: Vector | None = None) -> tuple[float, float]:
    """The least cost of the rows with s_i + t·q_i ≤ 0, and a t with that cost.

    It is the middle of a stretch between two breakpoints, of the widest among equals.

    Examples
    --------
    >>> line_search(np.array([-1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.0]))
    (0.0, 1.5)
    """
    prices = np.ones(len(s)) if costs is None else costs
    wrong, rising, steep = ~(s > 0.0), q > 0.0, np.abs(q)
    points = -s / q
    points[~(steep > 1e-14 * steep.max(initial=0.0))] = np.nan
    now = float(prices[wrong].sum())
    near, whole = _within_reach(points, wrong, rising, prices)
    if len(near) == 0:
        return now, 0.0
    near = near[np.argsort(points[near])]
    at, up, price = points[near], rising[near], prices[near]
    # Left of all points, rows that rise are wrong and rows that fall are right.
    errors = np.empty(len(near) + 1)
    errors[0] = now + (price * up).sum() - (price * wrong[near]).sum()
    errors[1:] = errors[0] + np.cumsum(np.where(up, -price, price))
    ends = 2.0 * np.abs(at[[0, -1]]) + 1.0 if whole else np.zeros(2)
    edges = np.concatenate([at[:1] - ends[0], at, at[-1:] + ends[1]])
    widths = np.diff(edges)
    middles = edges[:-1] + 0.5 * widths
    inside = (edges[:-1] < middles) & (middles < edges[1:])
    best = float(errors.min(where=inside, initial=np.inf))
    if best == np.inf:
        return now, 0.0
    equal = inside & (errors <= best * (1.0 + _EQUAL))
    return best, float(middles[np.argmax(np.where(equal, widths, -1.0))])


def _within_reach(
    points: Vector, wrong: Flags, rising: Flags, prices: Vector
) -> tuple[Indices, bool]:
    """The rows whose breakpoints matter, and whether these are all breakpoints.

    To either side no more can be gained than the wrong rows that turn right there. Once the right
    rows that turn wrong cost more, no point beyond is as good as t = 0. A sample of the rows tells
    how far that is; it is believed only after counting.
    """
    share = (2.5 * np.count_nonzero(wrong) + 30.0) / max(1, len(points))
    if len(points) >= 1000 and share < 0.5:
        distances = np.abs(points)
        sample = distances[:: len(points) // 500]
        k = int(share * len(sample)) + 2
        near = np.flatnonzero(distances <= np.partition(sample, k)[k])
        up, broken = rising[near], prices[near] * ~wrong[near]
        upwards, gain = rising[wrong], prices[wrong]
        if broken @ ~up > gain @ upwards and broken @ up > gain @ ~upwards:
            return near, False
    return np.flatnonzero(np.isfinite(points)), True


def descend(
    problem: Problem,
    w: Vector,
    costs: Vector | None,
    frame: Frame,
    limits: Limits,
    rng: np.random.Generator,
) -> Iterator[tuple[Vector, float]]:
    """Lower the cost of all mistakes of w, line by line; give weights and cost at each gain.

    It ends when lines no longer help: when the last of them have lowered the cost by less than a
    thousandth. Their number depends on the size of the data, never on the clock.
    """
    rows = SignedProducts(problem, limits)
    w = best = _sized(w, frame)
    s = products(problem, w)
    now = lowest = mark = cost_of(s, costs)
    patience = min(_MAX_IDLE, max(_MIN_IDLE, _IDLE_WORK // (problem.n * (problem.longest + 50))))
    each = max(1, min(_LINES, _LINE_PRODUCTS // problem.n))
    idle = since_kick = 0
    while lowest > 0.0 and idle < patience and limits.reached() is None:
        try:
            if since_kick > patience // _KICKS:
                w, since_kick = best + _kick(rows, products(problem, best), frame, rng), 0
                s = products(problem, w)
                now = cost_of(s, costs)
            V = _lines(rows, s, frame, rng, each)
            Q = rows.times(V)
        except _OutOfTimeError:
            return
        for v, q in zip(V, Q, strict=True):
            found, t = line_search(s, q, costs)
            if found <= now * (1.0 + _EQUAL) and t != 0.0 and math.isfinite(t):
                w, s, now = w + t * v, s + t * q, found
        idle, since_kick = idle + len(V), since_kick + len(V)
        w = _sized(w, frame)
        s = products(problem, w)  # so that rounding cannot build up
        now = cost_of(s, costs)
        if now < lowest:
            best, lowest, since_kick = w, now, 0
            yield w, now
        if lowest <= mark * (1.0 - 1e-3):
            mark, idle = lowest, 0


@np.errstate(all="ignore")
def _lines(
    rows: SignedProducts, s: Vector, frame: Frame, rng: np.random.Generator, each: int
) -> Vector:
    """Single weights, directions down a smooth slope, and directions towards wrong rows.

    The slope is that of a loss which falls from 1 to 0 within a distance of the hyperplane that is
    about the distance of the wrong rows.
    """
    wrong, p = np.flatnonzero(~(s > 0.0)), len(frame.scale) + 1
    if len(wrong) == 0:
        wrong = np.arange(len(s))
    widths = _usual_distance(s) * 2.0 ** rng.uniform(_NEAREST, _FARTHEST, size=(each, 1))
    pulls = np.zeros((2 * each, len(s)))
    np.maximum(0.0, 1.0 - np.abs(s) / widths, out=pulls[:each])
    pulls[np.arange(each, 2 * each), rng.choice(wrong, size=each)] = 1.0
    downhill, axes = frame.downhill(rows.pull(pulls)), rng.integers(p, size=each)
    V = np.zeros((each, 3, p))
    V[np.arange(each), 0, axes] = 1.0 / np.append(frame.scale, 1.0)[axes]
    V[:, 1], V[:, 2] = downhill[:each], downhill[each:]
    return V.reshape(3 * each, p)


def _kick(rows: SignedProducts, s: Vector, frame: Frame, rng: np.random.Generator) -> Vector:
    """A step in a random direction; scores move by about a third of the wrong rows' distance."""
    v = frame.downhill(rows.pull(rng.normal(size=(1, len(s)))))
    moves = float(np.sqrt(np.square(rows.times(v)).mean()))
    return np.asarray(v[0] * (0.3 * _usual_distance(s) / moves if moves > 0.0 else 0.0))


def _usual_distance(s: Vector) -> float:
    """The median of |s_i| over the wrong rows, or over some of them."""
    wrong = np.abs(s[~(s > 0.0)])
    return float(np.median(wrong[:: max(1, len(wrong) // 1000)])) if len(wrong) > 0 else 1.0


def _sized(w: Vector, frame: Frame) -> Vector:
    """The same weights at a size near one, in units of the columns: only their direction counts."""
    largest = max(float(np.abs(w[:-1] * frame.scale).max(initial=0.0)), abs(float(w[-1])))
    exponent = math.frexp(largest)[1]
    return np.ldexp(w, -exponent) if abs(exponent) > 20 else w
