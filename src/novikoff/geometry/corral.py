"""Non-negative least squares by an active set: the engine of the verdict.

Wanted: u ≥ 0 that minimises ‖b − Σ u_j g_j‖ over given vectors g_j, the rows of G.

Two questions are asked of it. With g_j = (1, a_j) and b = (1, 0, …, 0) the residual is,
up to scale, (‖z‖², −z), where z is the point of the convex hull of the a_j nearest to the
origin: this is Wolfe's algorithm for it. With g_j = (0, a_j) and b = (0, −Σ a_i) it asks
whether −Σ a_i lies in the cone of the rows (Stiemke).

The vectors in use, the *corral*, are linearly independent and kept as Q·R with orthonormal
Q; b is projected on them without ever squaring their condition number.

References: P. Wolfe, Finding the nearest point in a polytope, Math. Programming 11 (1976);
C. Lawson and R. Hanson, Solving Least Squares Problems (1974), chapter 23.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.rows import Indices, Vector
from novikoff.geometry.working import Working, add_to, product, seen

# What `pivot` came to.
OPTIMAL: Final = 0  # no vector makes an acute angle with the residual
FITTED: Final = 1  # the residual is zero but for rounding
PAUSED: Final = 2  # the number of pivots allowed is used up
STALLED: Final = 3  # rounding forbids further progress

_ZERO: Final = 4e-15
_INDEPENDENT: Final = 1e-13


class Corral(NamedTuple):
    """The vectors in use, as numbers of rows of G, and their factors.

    A member is the row ``first`` of G, or the sum of rows ``first`` and ``second`` where
    ``second`` is not negative: a vertex of the difference of two hulls.
    """

    first: Indices
    second: Indices
    u: Vector  # the coefficients, positive
    trial: Vector  # the coefficients without the constraint
    Q: Vector  # (capacity, q): orthonormal rows
    R: Vector  # (capacity, capacity): member c is Σ_r R[r, c]·Q[r]
    c: Vector  # Q·b
    residual: Vector  # b − Σ u_j g_j
    size: Indices  # (1,): how many


def empty_corral(q: int, most: int) -> Corral:
    """A corral for at most ``most`` vectors of q entries."""
    most += 1
    return Corral(
        first=np.empty(most, dtype=np.int64),
        second=np.empty(most, dtype=np.int64),
        u=np.zeros(most),
        trial=np.zeros(most),
        Q=np.empty((most, q)),
        R=np.empty((most, most)),
        c=np.zeros(most),
        residual=np.zeros(q),
        size=np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def pivot(
    G: Working,
    sides: npt.NDArray[np.int8],
    b: Vector,
    corral: Corral,
    barred: npt.NDArray[np.bool_],
    prices: Vector,
    short: Indices,
    tol: float,
    pairs: bool,
    most: int,
    anew: bool,
) -> int:
    """Let vectors join and leave the corral until no row of G would improve the fit.

    That is: until ⟨g, r⟩ ≤ tol·‖r‖² for all g, r the residual. With ``pairs`` the vectors
    are the sums of a row of side +1 and one of side −1. Rows that rounding keeps from
    improving the fit are ``barred`` for a while. Where ``short`` has room, the best few rows
    are noted there, and all looked at again only when none of them helps. With ``anew`` the
    members are factored first: G has changed, or rounding may have built up.
    """
    if anew:
        _begin(G, b, corral)
    scale = math.sqrt(_sq(b))
    trial, r = corral.trial, corral.residual
    best, n_barred, n_short = math.inf, 0, 0
    if not anew:  # what was barred before this call still is
        best = _sq(r)
        for i in range(len(barred)):
            n_barred += barred[i]
    for _ in range(most):
        rr = _sq(r)
        if math.sqrt(rr) <= _ZERO * scale:
            return FITTED
        if rr < best:
            best = rr
            n_barred = 0
            for i in range(len(barred)):
                barred[i] = False
        i, j, price = _most_acute(G, sides, r, barred, prices, short, n_short, pairs)
        if n_short > 0 and price <= tol * rr:  # the short list is used up: look at all again
            n_short = 0
            i, j, price = _most_acute(G, sides, r, barred, prices, short, n_short, pairs)
        if n_short == 0 and len(short) > 0:
            n_short = _shortlist(sides, prices, short, i, j, price) if i >= 0 else 0
        if i < 0 or price <= tol * rr:
            return OPTIMAL if n_barred == 0 else STALLED
        k = corral.size[0]
        if k + 1 == len(corral.u):  # it is full: nobody can join
            return STALLED
        improved = _join(G, b, corral, i, j)
        if improved:
            corral.u[k] = 0.0
            _back_substitute(corral)
            improved = trial[k] > 0.0  # but for rounding it is
            if improved:
                _settle(corral)
                _refresh_residual(b, corral)
                improved = _sq(r) < best
            else:
                _leave(corral, k)
        if not improved:
            n_barred += 1
            barred[i] = True
            if j >= 0:
                barred[j] = True
    if _sq(r) < best:
        for i in range(len(barred)):
            barred[i] = False
    return PAUSED


@njit(cache=True, nogil=True)
def _begin(G: Working, b: Vector, corral: Corral) -> None:
    """Factor the members anew; those that depend on earlier ones, or get u ≤ 0, leave."""
    members = corral.size[0]
    corral.size[0] = 0
    for k in range(members):
        corral.u[corral.size[0]] = corral.u[k]
        _join(G, b, corral, corral.first[k], corral.second[k])
    while corral.size[0] > 0:
        _back_substitute(corral)
        worst = 0
        for m in range(corral.size[0]):
            if corral.trial[m] < corral.trial[worst]:
                worst = m
        if corral.trial[worst] > 0.0:
            _accept(corral)
            break
        _leave(corral, worst)
    _refresh_residual(b, corral)


@njit(cache=True, nogil=True)
def _settle(corral: Corral) -> None:
    """Move u towards the unconstrained solution; whoever would turn negative leaves."""
    trial = corral.trial
    while True:
        k = corral.size[0]
        step, out = 1.0, -1
        for m in range(k):
            if trial[m] <= 0.0:
                reach = corral.u[m] / (corral.u[m] - trial[m]) if corral.u[m] > 0.0 else 0.0
                if reach < step or out < 0:
                    step, out = reach, m
        if out < 0:
            _accept(corral)
            return
        for m in range(k):
            corral.u[m] = max(corral.u[m] + step * (trial[m] - corral.u[m]), 0.0)
        corral.u[out] = 0.0
        _leave(corral, out)
        _back_substitute(corral)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _most_acute(
    G: Working,
    sides: npt.NDArray[np.int8],
    r: Vector,
    barred: npt.NDArray[np.bool_],
    prices: Vector,
    short: Indices,
    n_short: int,
    pairs: bool,
) -> tuple[int, int, float]:
    """The vector with the largest ⟨g, r⟩, and that value; among the short list if there is one."""
    plus, minus = -1, -1
    most, other = -math.inf, -math.inf
    s = seen(G, r)
    for k in range(n_short if n_short > 0 else len(barred)):
        i = short[k] if n_short > 0 else k
        if barred[i]:
            continue
        price = product(G, i, s)
        prices[i] = price
        if not pairs or sides[i] > 0:
            if price > most:
                most, plus = price, i
        elif price > other:
            other, minus = price, i
    if not pairs:
        return plus, -1, most
    if plus < 0 or minus < 0:
        return -1, -1, -math.inf
    return plus, minus, most + other


@njit(cache=True, nogil=True)
def _shortlist(
    sides: npt.NDArray[np.int8], prices: Vector, short: Indices, i: int, j: int, price: float
) -> int:
    """Note rows about half as good as the best, as many as there is room for."""
    n_short = 0
    share = 0.5 * price if j < 0 else 0.25 * price
    for k in range(len(prices)):
        best = prices[i] if j < 0 or sides[k] > 0 else prices[j]
        if prices[k] > best - share and n_short < len(short):
            short[n_short] = k
            n_short += 1
    return n_short


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _join(G: Working, b: Vector, corral: Corral, i: int, j: int) -> bool:
    """Append g_i (+ g_j) to the factors, unless it depends on the members."""
    k = corral.size[0]
    Q, R = corral.Q, corral.R
    q = Q.shape[1]
    v = Q[k]
    for e in range(q):
        v[e] = 0.0
    add_to(v, G, i)
    if j >= 0:
        add_to(v, G, j)
    before = math.sqrt(_sq(v))
    for m in range(k):
        R[m, k] = 0.0
    for _ in range(2):  # twice is enough for orthogonality to the last bits
        for m in range(k):
            s = 0.0
            for e in range(q):
                s += Q[m, e] * v[e]
            for e in range(q):
                v[e] -= s * Q[m, e]
            R[m, k] += s
    after = math.sqrt(_sq(v))
    if not after > _INDEPENDENT * before:
        return False
    s = 0.0
    for e in range(q):
        v[e] /= after
        s += v[e] * b[e]
    R[k, k] = after
    corral.c[k] = s
    corral.first[k], corral.second[k] = i, j
    corral.size[0] = k + 1
    return True


@njit(cache=True, nogil=True)
def _leave(corral: Corral, out: int) -> None:
    """Take a member out; rotations restore the triangle."""
    Q, R, c = corral.Q, corral.R, corral.c
    k = corral.size[0]
    for m in range(out, k - 1):
        for e in range(m + 2):
            R[e, m] = R[e, m + 1]
        corral.u[m] = corral.u[m + 1]
        corral.first[m] = corral.first[m + 1]
        corral.second[m] = corral.second[m + 1]
    for m in range(out, k - 1):
        length = math.sqrt(R[m, m] * R[m, m] + R[m + 1, m] * R[m + 1, m])
        cos, sin = R[m, m] / length, R[m + 1, m] / length
        for e in range(m, k - 1):
            upper, lower = R[m, e], R[m + 1, e]
            R[m, e] = cos * upper + sin * lower
            R[m + 1, e] = cos * lower - sin * upper
        for e in range(Q.shape[1]):
            upper, lower = Q[m, e], Q[m + 1, e]
            Q[m, e] = cos * upper + sin * lower
            Q[m + 1, e] = cos * lower - sin * upper
        upper, lower = c[m], c[m + 1]
        c[m] = cos * upper + sin * lower
        c[m + 1] = cos * lower - sin * upper
    corral.size[0] = k - 1


@njit(cache=True, nogil=True)
def _accept(corral: Corral) -> None:
    for m in range(corral.size[0]):
        corral.u[m] = corral.trial[m]


@njit(cache=True, nogil=True)
def _back_substitute(corral: Corral) -> None:
    """Solve R·trial = Q·b."""
    R, trial, k = corral.R, corral.trial, corral.size[0]
    for m in range(k):
        trial[m] = corral.c[m]
    for m in range(k - 1, -1, -1):
        s = trial[m]
        for e in range(m + 1, k):
            s -= R[m, e] * trial[e]
        trial[m] = s / R[m, m]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _refresh_residual(b: Vector, corral: Corral) -> None:
    """R = b − QᵀQb, cleaned once more of what is left along Q."""
    Q, r = corral.Q, corral.residual
    q = len(r)
    for e in range(q):
        r[e] = b[e]
    for turn in range(2):
        for m in range(corral.size[0]):
            s = corral.c[m]
            if turn > 0:
                s = 0.0
                for e in range(q):
                    s += Q[m, e] * r[e]
            for e in range(q):
                r[e] -= s * Q[m, e]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sq(v: Vector) -> float:
    s = 0.0
    for e in range(len(v)):
        s += v[e] * v[e]
    return s
