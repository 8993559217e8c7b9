"""The point of a hull nearest to the origin, over many rows (C4; Wolfe 1976).

Few rows carry the answer. `search` repeats three steps:

1. Minimise the objective over a *working set* of rows, in memory, by the active set of `corral`.
2. Let a pass over all rows find the most violated: the least ⟨a_i, z⟩ for the point z found.
3. If there are none, z is the nearest point of the whole hull. Else they join the working set.

What it has found after each pass is an `Iterate`, which a watcher takes into account.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import qr

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Corral, Ending, Member, WorkingSet, inner_products, pivot
from novikoff.geometry.passes import OutOfTimeError, Passes
from novikoff.geometry.view import MAX_DENSE_ENTRIES, View, sample_size
from novikoff.geometry.visits import Mask, MostViolated, RowSet
from novikoff.proofs import exact

# The most entries of a corral's factors.
_MAX_FACTOR_ENTRIES = 1 << 27
# The most entries of rows, no more than there are columns, that are all looked at from the start.
_MAX_ENTRIES_AT_ONCE = 1 << 24
# Working sets of more entries are rotated into the space of their rows where that is small.
_MIN_ROTATED_ENTRIES = 1 << 20
# Rows that a corral may always hold, and that may always join a working set at a time.
_MIN_ROWS = 64


@dataclass(frozen=True)
class Objective:
    """Minimise ‖b − Σ u_j g_j‖ over u ≥ 0, g_j = (lift, a_j as seen); u is free on some rows."""

    view: View
    b: Vector
    lift: float
    pairs: bool = False
    within: RowSet | None = None  # the rows that take part; all by default
    free: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass
class Iterate:
    """Where a search is, or ended; rows, λ and w are those of the rows themselves."""

    rows: Indices
    multipliers: Vector  # λ > 0 on the rows
    w: Vector  # a direction: the nearest point, or minus the residual
    seen: MostViolated  # what a pass with w found, and the proof that w separates
    ending: Ending | None  # None while it goes on
    working: Indices
    vertices: tuple[Indices, Indices, Vector]  # the corral: rows, partners or −1, and u
    plain: bool  # whether the rows were seen as they are: then it is about their margin


Watcher = Callable[[Iterate], bool]


def nearest_point(view: View, pairs: bool = False, within: RowSet | None = None) -> Objective:
    """Ask for the point nearest to 0 of the hull of the rows, or of P − Q for the two hulls."""
    b = np.zeros(view.passes.p + 1)
    b[0] = 1.0
    return Objective(view, b, 0.5 if pairs else 1.0, pairs, within)


def minimise(
    objective: Objective, start: Indices, tol: float, limits: Limits, watch: Watcher
) -> Iterate:
    """Find the nearest point, from a working set that holds ``start``.

    It ends when ⟨g, r⟩ ≤ tol·‖r‖² for all rows, r the residual; for the nearest point z
    that is ⟨a_i, z⟩ ≥ (1 − tol)·‖z‖², so that γ is known to a relative tol.
    """
    passes = objective.view.passes
    batch, most = batch_of(passes), capacity(passes)
    working = np.union1d(start, objective.free)
    answer: Iterate | None = None
    while True:
        try:
            corral = _corral(objective, working, most, answer, limits)
            ending = pivot(corral, tol / 8.0, limits)
            answer = _answer(objective, corral, working, batch, tol, limits)
        except OutOfTimeError:
            if answer is None:
                raise
            ending = Ending.LIMITED
        answer.ending = ending
        if ending is Ending.LIMITED:
            return answer
        enough = watch(answer)
        if ending is Ending.FITTED:
            return answer
        if enough:
            answer.ending = Ending.WATCHED
            return answer
        violated = np.setdiff1d(answer.seen.rows, working)
        full = ending is Ending.STALLED and len(corral.members) == most < len(objective.b)
        if len(violated) == 0 or full:
            return answer
        working = _next_working_set(objective, corral, answer, violated, 4 * batch)


def _corral(
    objective: Objective, working: Indices, most: int, before: Iterate | None, limits: Limits
) -> Corral:
    """The engine on the working set: with the members that it had, or in the beginning with all.

    More rows than columns depend on each other; then none begins but those that are free.
    """
    b = objective.b
    vectors = objective.view.gather(working, objective.lift)
    frame = None
    # Few rows span little.
    if len(b) > 2 * len(working) and len(b) * len(working) > _MIN_ROTATED_ENTRIES:
        rows = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
        with one_blas_thread():
            frame, R = qr(np.vstack([rows, b]).T, mode="economic", overwrite_a=True)
        vectors, b = np.ascontiguousarray(R[:, :-1].T), R[:, -1].copy()
    free = objective.free
    members: list[Member] = [(i, -1) for i in np.searchsorted(working, free).tolist()]
    if before is not None:
        first, second, _ = before.vertices
        bound = ~np.isin(first, free)
        partners = np.where(second >= 0, np.searchsorted(working, second), -1)[bound].tolist()
        members += zip(np.searchsorted(working, first[bound]).tolist(), partners, strict=True)
    few = len(free) == 0 and len(working) <= min(most, objective.view.passes.p)
    begin = None if before is None and few else members
    sides = objective.view.passes.fetch(working).signs if objective.pairs else None
    return Corral(b, most, WorkingSet(vectors, sides), begin, len(free), frame, limits)


def _answer(
    objective: Objective, corral: Corral, working: Indices, batch: int, tol: float, limits: Limits
) -> Iterate:
    """What the corral says, in terms of all rows."""
    view = objective.view
    first, second = np.array(corral.members, dtype=np.int64).reshape(-1, 2).T
    weights = corral.row_multipliers()
    used = np.flatnonzero(weights)
    rows = working[used]
    lengths = 1.0 if view.lengths is None else view.lengths_of(view.passes.fetch(rows), rows)
    v = -corral.full_residual[1:]
    aim, w = view.aim(v), view.weights(v)
    visit = MostViolated(
        aim=aim,
        w=exact.floats(w) if np.isfinite(w).all() else None,
        doubt=view.passes.doubt(aim, view.radius),
        most=batch,
        levels=_levels(objective, corral, working, tol),
        centre=view.centre,
        lengths=view.lengths,
        within=objective.within,
        by_side=objective.pairs,
    )
    return Iterate(
        rows=rows,
        multipliers=weights[used] / lengths,
        w=w,
        seen=view.passes.over(visit, limits),
        ending=None,
        working=working,
        vertices=(working[first], np.where(second >= 0, working[second], -1), corral.u),
        plain=view.plain,
    )


def _levels(
    objective: Objective, corral: Corral, working: Indices, tol: float
) -> tuple[float, float]:
    """Rows below these levels would improve the answer: ⟨g, r⟩ > tol/4·‖r‖²."""
    r = corral.full_residual
    level = objective.lift * float(r[0]) - tol / 4.0 * float(r @ r)
    if not objective.pairs:
        return level, level
    levels = [level, level]  # each hull has its own, that of its members
    for k, members in enumerate(zip(*corral.members, strict=True)):
        prices = inner_products(objective.view.gather(working[list(members)], objective.lift), r)
        levels[k] -= float(prices.max())
    return levels[0], levels[1]


def _next_working_set(
    objective: Objective, corral: Corral, answer: Iterate, violated: Indices, most: int
) -> Indices:
    """The members, as many of the others as there is room for, and the rows that are violated."""
    members = np.union1d(answer.rows, objective.free)
    others = np.setdiff1d(answer.working, members)
    if len(others) > most:
        prices = inner_products(objective.view.gather(others), corral.full_residual[1:])
        others = others[np.lexsort((others, -prices))[:most]]
    return np.sort(np.concatenate([members, others, violated]))


def start_rows(view: View, within: Mask | None = None) -> Indices:
    """Rows to begin with: all, if there are few; else of a sample, those least along its mean."""
    passes = view.passes
    rows = np.arange(passes.n) if within is None else np.flatnonzero(within)
    if len(rows) <= passes.p and len(rows) * passes.p <= _MAX_ENTRIES_AT_ONCE:
        return rows
    rows = rows[:: max(1, len(rows) // sample_size(passes))]
    G = view.gather(rows)
    mean = np.asarray(G.mean(axis=0)).ravel()
    order = np.lexsort((rows, inner_products(G, mean)))[: batch_of(passes)]
    return np.sort(rows[order])


def affordable(passes: Passes) -> bool:
    """Whether a corral may become as large as the problem can ask for."""
    return capacity(passes) >= min(passes.p + 1, passes.n)


def batch_of(passes: Passes) -> int:
    """How many rows join the working set at a time, a fifth of the most it holds."""
    return max(_MIN_ROWS, min(2 * passes.p, MAX_DENSE_ENTRIES // (5 * (passes.p + 1))))


def capacity(passes: Passes) -> int:
    """The most rows that a corral may hold: most·(most + q) entries are allowed."""
    q = passes.p + 1
    most = (math.isqrt(q * q + 4 * _MAX_FACTOR_ENTRIES) - q) // 2
    return min(q, passes.n, max(_MIN_ROWS, most))
