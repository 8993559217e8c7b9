"""A descent on the number of mistakes by exact line searches, and rules to start from.

Objective
    Minimise the cost of the rows with ⟨a_i, w⟩ ≤ 0.
Input
    The signed rows a_i, the costs of mistakes, and a rule w to start from. Least squares and
    logistic regression (`logistic`) are cheap to compute and often make few mistakes.
Output
    Rules w with fewer and fewer mistakes (`descend`).

On a line w + t·v, row i changes sides at t_i = −s_i/q_i, with s_i = ⟨a_i, w⟩ and q_i = ⟨a_i, v⟩.
`line_search` sorts these points and adds up the costs of the rows, which gives the best t. The
directions v are single coordinates, directions towards misclassified rows, and gradients of a
smoothed count of the mistakes. A step that does not change the cost is accepted, because later
steps from there may lower the cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.sparse import diags_array
from scipy.special import expit

from novikoff.core.pocket import cost_of
from novikoff.core.problem import Problem, Rows, row_blocks, sure_products
from novikoff.core.rows import Vector, as_dense
from novikoff.core.stops import Limits

if TYPE_CHECKING:
    import scipy.sparse as sp

Basis: TypeAlias = "Vector | sp.dia_array"

# The columns are measured on rows with about _MEASURED entries in all. If there are more than
# _MAX_WHITENED weights, `whitening` only scales them.
_MEASURED, _MAX_WHITENED = 1 << 22, 1000
# The number of lines of each kind that are drawn together. It is smaller if these lines have more
# than _LINE_PRODUCTS products with the rows.
_LINES, _LINE_PRODUCTS = 5, 1 << 21
# Work is the number of entries that are read. A descent ends after _IDLE_WORK without a gain, but
# not before _MIN_IDLE lines and not after _MAX_IDLE lines. Without a limit on time, it also ends
# after _ALL_WORK in all.
_IDLE_WORK, _MIN_IDLE, _MAX_IDLE, _ALL_WORK = 1 << 29, 6, 600, 1 << 34
# Costs with a smaller relative difference count as equal, because sums depend on their order.
_EQUAL: Final = 1e-12


@np.errstate(all="ignore")
def whitening(rows: Rows, rng: np.random.Generator) -> Basis:
    """Return a matrix B for which the mean of ⟨a_i, u·B⟩² is about 1 for every unit vector u.

    B·M·Bᵀ = I, nearly, where M is the mean of a_i·a_iᵀ over all rows, or some of them. With more
    than a thousand weights B only scales them. Columns of dense data are centred first.
    """
    n, d, bias = rows.n, rows.d, rows.fit_intercept
    most = max(rows.rows_within(_MEASURED), 10 * min(d, _MAX_WHITENED))
    sample = slice(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))
    Z = rows.X[sample].astype(np.float64) * (1.0 / rows.unit)
    centre = np.zeros(d)
    if isinstance(Z, np.ndarray) and bias and d <= _MAX_WHITENED:
        centre = Z.mean(axis=0)
        Z -= centre
    squares = np.asarray((Z * Z).mean(axis=0)).ravel()
    scale = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    if d > _MAX_WHITENED:
        return diags_array(np.append(1.0 / scale / rows.unit, float(bias)))
    moments, inner = np.eye(d + 1) * (1.0 + 1e-6), Z.T @ Z / Z.shape[0]
    moments[:d, :d] = as_dense(inner)
    moments[:d, :d] /= scale[:, None] * scale
    moments[d, :d] = moments[:d, d] = np.asarray(Z.mean(axis=0)).ravel() * bias / scale
    moments[range(d), range(d)] += 1e-6
    back = np.diag(np.append(1.0 / scale, float(bias)))
    back[:d, d] = -centre / scale
    back[:, :d] /= rows.unit
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

    L-BFGS starts from least squares, which is the result of 0 steps. It stops at a limit, or when
    the rule makes no mistakes.
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
    """Return the least cost of the rows with s_i + t·q_i ≤ 0 over all t, and a t with this cost.

    t is the middle of the widest interval between two breakpoints that has this cost.

    Examples
    --------
    >>> line_search(np.array([-1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.0]))
    (0.0, 1.5)
    """
    prices, rising, steep = np.ones(len(s)) if costs is None else costs, q > 0.0, np.abs(q)
    points = -s / q
    points[~((steep > 1e-14 * steep.max(initial=0.0)) & np.isfinite(points))] = np.nan
    moves = ~np.isnan(points)
    # For t below all breakpoints, rows whose product rises with t are misclassified, and rows whose
    # product falls are classified correctly.
    cost_at_left = float(prices[np.where(moves, rising, ~(s > 0.0))].sum())
    order = np.argsort(points)[: np.count_nonzero(moves)]
    if len(order) == 0:
        return cost_at_left, 0.0
    at = points[order]
    errors = cost_at_left + np.append(0.0, np.cumsum(np.where(rising, -prices, prices)[order]))
    ends = 2.0 * np.abs(at[[0, -1]]) + 1.0
    edges = np.concatenate([at[:1] - ends[0], at, at[-1:] + ends[1]])
    middles = 0.5 * edges[:-1] + 0.5 * edges[1:]
    errors[~((edges[:-1] < middles) & (middles < edges[1:]))] = np.inf
    best = max(0.0, float(errors.min()))  # rounding may leave a sum of prices below
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
    """Lower the cost of all mistakes of w, line by line; yield weights and cost at each gain.

    The descent ends when the last lines have lowered the cost by less than a thousandth. The number
    of these lines depends on the size of the data and not on the clock.
    """
    s = sure_products(problem, w)
    lowest = cost_at_last_gain = cost_of(s, costs)
    work = problem.n * (problem.longest + 50)  # the work of one line
    patience = min(_MAX_IDLE, max(_MIN_IDLE, _IDLE_WORK // work))
    n_each, idle = max(1, min(_LINES, _LINE_PRODUCTS // problem.n)), 0
    tries_left = math.inf if limits.seconds is not None else max(_MIN_IDLE, _ALL_WORK // work)
    while lowest > 0.0 and idle < patience and tries_left > 0 and limits.reached() is None:
        size = math.frexp(float(np.abs(s).max()))[1]  # only the direction counts
        w, s, cost = np.ldexp(w, -size), np.ldexp(s, -size), cost_of(s, costs)
        try:
            V = _lines(problem, s, basis, limits, rng, n_each)
            Q = _times(problem, V, limits)
        except _EnoughError:
            return
        for v, q in zip(V, Q, strict=True):
            least, t = line_search(s, q, costs)
            if least <= cost * (1.0 + _EQUAL) and t != 0.0 and math.isfinite(t):
                w, s, cost = w + t * v, s + t * q, least
        idle, tries_left = idle + len(V), tries_left - len(V)
        s = sure_products(problem, w)  # computed again, so that rounding errors do not add up
        cost = cost_of(s, costs)
        if cost < lowest:
            lowest = cost
            yield w, cost
        # A subnormal cost, multiplied, rounds to itself.
        if lowest < cost_at_last_gain and lowest <= cost_at_last_gain * (1.0 - 1e-3):
            cost_at_last_gain, idle = lowest, 0


def _lines(
    problem: Problem,
    s: Vector,
    basis: Basis,
    limits: Limits,
    rng: np.random.Generator,
    n_each: int,
) -> Vector:
    """Return coordinates, gradients of a smooth loss, and directions towards misclassified rows.

    There are ``n_each`` of each kind.
    The loss decreases from 1 to 0 near the hyperplane, within about the usual distance of the
    misclassified rows from the hyperplane.
    """
    wrong = np.flatnonzero(~(s > 0.0))
    if len(wrong) == 0:
        wrong = np.arange(len(s))
    widths = _usual_distance(s) * 2.0 ** rng.uniform(-5.0, 2.0, size=(n_each, 1))
    pulls = np.zeros((2 * n_each, len(s)))
    np.maximum(0.0, 1.0 - np.abs(s) / widths, out=pulls[:n_each])
    pulls[range(n_each, 2 * n_each), rng.choice(wrong, size=n_each)] = 1.0
    V = np.zeros((3 * n_each, problem.p))
    V[range(n_each), rng.integers(problem.p, size=n_each)] = 1.0
    V[n_each:] = _pull(problem, pulls, limits) @ basis.T @ basis
    return V


def _usual_distance(s: Vector) -> float:
    """Return the median of |s_i| over the misclassified rows, or over a sample of them."""
    wrong = np.abs(s[~(s > 0.0)])
    return float(np.median(wrong[:: max(1, len(wrong) // 1000)])) if len(wrong) > 0 else 1.0


class _EnoughError(Exception):
    """A limit was reached within a pass over the rows, or no mistake is left."""


def _times(problem: Problem, V: Vector, limits: Limits) -> Vector:
    """Return ⟨a_i, v⟩ for each row v of V (k, p) and each i, as an array (k, n)."""
    out = np.empty((len(V), problem.n))
    for part, X in _parts(problem, limits):
        out[:, part] = V[:, :-1] @ X.T
    return (out + problem.bias * V[:, -1:]) * problem.signs


def _pull(problem: Problem, U: Vector, limits: Limits) -> Vector:
    """Return Σ_i u_i·a_i for each row u of U (k, n), as an array (k, p)."""
    signed = U * problem.signs
    out = np.zeros((len(U), problem.p))
    for part, X in _parts(problem, limits):
        out[:, :-1] += signed[:, part] @ X
    out[:, -1] = problem.bias * signed.sum(axis=1)
    return out


def _parts(problem: Problem, limits: Limits) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows of X in float64; check the limits before each block."""
    for first, last in row_blocks(problem.X):
        if limits.reached() is not None:
            raise _EnoughError
        yield slice(first, last), problem.X[first:last].astype(np.float64, copy=False)
