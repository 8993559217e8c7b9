"""The point of a convex hull or cone nearest to a given point: the engine of the verdict.

Objective
    Minimise ‖b − Σ u_j·g_j‖ over u ≥ 0, for vectors g_j that are made from the rows a_j.
Input
    Two objectives are used. With g_j = (1, a_j) and b = (1, 0, …, 0), the residual is a multiple of
    (‖z‖², −z), where z is the point of the convex hull of the rows nearest to the origin. If z is
    not 0, it separates all rows with the largest margin. If z is 0, u is a contradiction (Gordan).
    With g_j = (0, a_j) and b = (0, −Σ a_i), the solution shows whether −Σ a_i is in the cone of the
    rows (Stiemke).
Output
    An `Iterate` after each pass over all rows: the multipliers λ on a few rows, the direction w,
    and the proof if w separates all rows.

Only a few rows have λ > 0. `minimise` repeats three steps:

1. Minimise the objective over a *working set* of rows, in memory (`pivot`).
2. Find the most violated rows in a pass over all rows, which are the rows with the least ⟨a_i, z⟩.
3. If no row is violated, the solution is optimal for all rows. Otherwise add the most violated rows
   to the working set.

Step 1 is non-negative least squares by an active set, which for the first objective is Wolfe's
algorithm. The vectors with u_j > 0, the *corral*, are linearly independent. They are kept as Q·R
with orthonormal Q, and rotations update Q and R when a vector joins or leaves. In this way b is
projected on the vectors without squaring their condition number.

References
----------
Wolfe, P. (1976). Finding the nearest point in a polytope. *Mathematical Programming* 11, 128-149.

Lawson, C. L. and Hanson, R. J. (1974). *Solving Least Squares Problems*. Prentice-Hall. Chapter 23.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, qr_delete
from scipy.linalg.lapack import dtrtrs

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Indices, Mask, Vector, as_dense
from novikoff.core.stops import Limits
from novikoff.geometry.parts import RowSet
from novikoff.geometry.passes import OutOfTimeError, Passes, TooLargeError, check_time
from novikoff.geometry.view import MAX_DENSE_ENTRIES, View, sample_size
from novikoff.geometry.visits import MostViolated
from novikoff.proofs import exact

if TYPE_CHECKING:
    import scipy.sparse as sp

# A residual shorter than this share of ‖b‖ is treated as zero.
_ZERO_SHARE: Final = 4e-15
# A vector depends on the members if less than this share of it is orthogonal to them.
_NEW_SHARE: Final = 1e-13
# Products of more entries than this are split, because BLAS would share them among several cores,
# which may be busy.
_ONE_CORE_ENTRIES: Final = 1 << 15
# Vectors join together if at least this share of each is orthogonal to the members.
_CLEARLY_NEW_SHARE: Final = 1e-4
# The clock is read after this many vectors have joined.
_MEMBERS_PER_LOOK: Final = 256
# At most this many times, all rows with multiplier ≤ 0 leave together and new factors are computed.
_MAX_ROUNDS: Final = 8
# The number of members for which memory is reserved at first.
_MIN_CAPACITY: Final = 32
# The clock is read after this many pivots.
_PIVOTS_PER_LOOK: Final = 16
# The largest number of entries in the factors of a corral.
_MAX_FACTOR_ENTRIES: Final = 1 << 27
# If there are no more rows than columns, the first working set has all rows, up to this many
# entries.
_MAX_ENTRIES_AT_ONCE: Final = 1 << 24
# A larger working set with few rows is rotated into the space that its rows span.
_MIN_ROTATED_ENTRIES: Final = 1 << 20
# A corral may always have this many rows, and this many rows may always join a working set.
_MIN_ROWS: Final = 64


class Ending(Enum):
    """The reason why a search ended."""

    OPTIMAL = "no row would improve the solution"
    FITTED = "the residual is zero up to rounding"
    STALLED = "rounding forbids further progress"
    WATCHED = "the watcher stopped the search"
    LIMITED = "a limit was reached"


@dataclass(frozen=True)
class Objective:
    """The objective ‖b − Σ u_j·g_j‖ with g_j = (lift, a_j), the rows a_j as in a `View`.

    If ``pairs``, the vectors are the sums g_i + g_j of a positive and a negative row, which are the
    vertices of the difference of two convex hulls. ``within`` is the set of rows that may be used;
    by default these are all rows. On the rows ``free``, u may have any sign.
    """

    view: View
    b: Vector
    lift: float
    pairs: bool = False
    within: RowSet | None = None
    free: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass
class Iterate:
    """The state of a search after a pass over all rows, in terms of the original rows."""

    rows: Indices
    multipliers: Vector  # λ > 0 on the rows
    w: Vector  # the direction: the nearest point, or minus the residual
    last_pass: MostViolated  # the most violated rows, or the proof that w separates all rows
    ending: Ending | None  # None while the search continues
    working_set: Indices  # the rows that were copied into memory
    vertices: tuple[Indices, Indices, Vector]  # the corral: rows, their partners or −1, and u
    is_unscaled: bool  # whether the rows are not scaled, so that the margin is that of the rows


# A function that is called with each iterate, and returns whether to stop.
Watcher: TypeAlias = Callable[[Iterate], bool]


def nearest_point(view: View, pairs: bool = False, within: RowSet | None = None) -> Objective:
    """Return the objective whose solution is the point of the convex hull nearest to the origin.

    If ``pairs``, it is the point of P − Q for the convex hulls P and Q of the two classes.
    """
    b = np.zeros(view.passes.p + 1)
    b[0] = 1.0
    return Objective(view, b, 0.5 if pairs else 1.0, pairs, within)


def minimise(
    objective: Objective, start: Indices, tol: float, limits: Limits, watch: Watcher
) -> Iterate:
    """Minimise an objective over all rows; the first working set contains ``start``.

    The search ends when ⟨g_i, r⟩ ≤ tol·‖r‖² for all rows, where r is the residual. For the nearest
    point z this means ⟨a_i, z⟩ ≥ (1 − tol)·‖z‖², so that γ is known with a relative error of tol.
    OutOfTimeError is raised if a limit is reached before the first iterate.
    """
    passes = objective.view.passes
    batch, max_members = batch_of(passes), capacity(passes)
    working = np.union1d(start, objective.free)
    iterate: Iterate | None = None
    while True:
        try:
            corral = _make_corral(objective, working, max_members, iterate, limits)
            ending = pivot(corral, tol / 8.0, limits)
            iterate = _after_pass(objective, corral, working, batch, tol, limits)
        except OutOfTimeError:
            if iterate is None:
                raise
            ending = Ending.LIMITED
        iterate.ending = ending
        if ending is Ending.LIMITED:
            return iterate
        enough = watch(iterate)
        if ending is Ending.FITTED:
            return iterate
        if enough:
            iterate.ending = Ending.WATCHED
            return iterate
        violated = np.setdiff1d(iterate.last_pass.rows, working)
        full = ending is Ending.STALLED and len(corral.members) == max_members < len(objective.b)
        if len(violated) == 0 or full:
            return iterate
        working = _next_working_set(objective, corral, iterate, violated, 4 * batch)


def _make_corral(
    objective: Objective,
    working: Indices,
    max_members: int,
    before: Iterate | None,
    limits: Limits,
) -> Corral:
    """Make the corral of a working set, with the members of the iterate before.

    The first corral has all rows of the working set, or the free rows only if the rows are more
    than the columns and thus linearly dependent.
    """
    b = objective.b
    vectors = objective.view.gather(working, objective.lift)
    frame = None
    # Few rows span a small space, in which the vectors have short coordinates.
    if len(b) > 2 * len(working) and len(b) * len(working) > _MIN_ROTATED_ENTRIES:
        rows = as_dense(vectors)
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
    fits_whole = len(free) == 0 and len(working) <= min(max_members, objective.view.passes.p)
    begin = None if before is None and fits_whole else members
    sides = objective.view.passes.fetch(working).signs if objective.pairs else None
    return Corral(b, max_members, WorkingSet(vectors, sides), begin, len(free), frame, limits)


def _after_pass(
    objective: Objective, corral: Corral, working: Indices, batch: int, tol: float, limits: Limits
) -> Iterate:
    """The solution on the working set in terms of the original rows, after a pass over all rows."""
    view = objective.view
    first, second = np.array(corral.members, dtype=np.int64).reshape(-1, 2).T
    multipliers = corral.row_multipliers()
    used = np.flatnonzero(multipliers)
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
        multipliers=multipliers[used] / lengths,
        w=w,
        last_pass=view.passes.over(visit, limits),
        ending=None,
        working_set=working,
        vertices=(working[first], np.where(second >= 0, working[second], -1), corral.u),
        is_unscaled=view.is_unscaled,
    )


def _levels(
    objective: Objective, corral: Corral, working: Indices, tol: float
) -> tuple[float, float]:
    """The levels below which a row would improve the solution: ⟨g, r⟩ > tol/4·‖r‖²."""
    r = corral.full_residual
    level = objective.lift * float(r[0]) - tol / 4.0 * float(r @ r)
    if not objective.pairs:
        return level, level
    levels = [level, level]  # each hull has its own level, that of its members
    for k, members in enumerate(zip(*corral.members, strict=True)):
        prices = inner_products(objective.view.gather(working[list(members)], objective.lift), r)
        levels[k] -= float(prices.max())
    return levels[0], levels[1]


def _next_working_set(
    objective: Objective, corral: Corral, iterate: Iterate, violated: Indices, most: int
) -> Indices:
    """The members, the violated rows, and up to ``most`` other rows of the working set."""
    members = np.union1d(iterate.rows, objective.free)
    others = np.setdiff1d(iterate.working_set, members)
    if len(others) > most:
        prices = inner_products(objective.view.gather(others), corral.full_residual[1:])
        others = others[np.lexsort((others, -prices))[:most]]
    return np.sort(np.concatenate([members, others, violated]))


def start_rows(view: View, within: Mask | None = None) -> Indices:
    """Return the first working set: all rows if they are few, else some rows of a sample.

    From the sample, the rows are taken that have the least product with the mean of the sample.
    """
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
    """Whether a corral may become as large as the problem can require."""
    return capacity(passes) >= min(passes.p + 1, passes.n)


def batch_of(passes: Passes) -> int:
    """Return how many rows join a working set at a time: a fifth of the most that it contains."""
    return max(_MIN_ROWS, min(2 * passes.p, MAX_DENSE_ENTRIES // (5 * (passes.p + 1))))


def capacity(passes: Passes) -> int:
    """Return the largest number of rows in a corral: most·(most + q) entries are allowed."""
    q = passes.p + 1
    most = (math.isqrt(q * q + 4 * _MAX_FACTOR_ENTRIES) - q) // 2
    return min(q, passes.n, max(_MIN_ROWS, most))


# The corral: least squares on the working set, in memory.

# A row of the working set and −1, or two rows whose vectors are added.
Member: TypeAlias = tuple[int, int]


class WorkingSet:
    """The vectors of a working set: the rows of G, or the sums of a row of each side."""

    def __init__(self, G: Vector | sp.csr_array, sides: npt.NDArray[np.int8] | None) -> None:
        self.G, self.pairs = G, sides is not None
        if sides is not None:
            self.positive, self.negative = np.flatnonzero(sides > 0), np.flatnonzero(sides < 0)

    def vector(self, i: int, j: int = -1) -> Vector:
        """Return g_i, or g_i + g_j if j is not negative."""
        if isinstance(self.G, np.ndarray):
            return np.array(self.G[i]) if j < 0 else np.asarray(self.G[i] + self.G[j])
        v = np.zeros(self.G.shape[1])
        for k in (i, j):
            if k >= 0:
                stretch = slice(int(self.G.indptr[k]), int(self.G.indptr[k + 1]))
                v[self.G.indices[stretch]] += self.G.data[stretch]
        return v

    def vertices(self, multipliers: Vector) -> list[Member]:
        """Return the rows with positive multipliers, or pairs of rows that have these multipliers.

        There is one pair fewer than rows. The north-west corner rule chooses the pairs.
        """
        used = multipliers > 0.0
        if not self.pairs:
            return [(i, -1) for i in np.flatnonzero(used).tolist()]
        sides = [side[used[side]].tolist() for side in (self.positive, self.negative)]
        if not (sides[0] and sides[1]):
            return []
        ends = [np.cumsum(multipliers[side]) / multipliers[side].sum() for side in sides]
        i = j = 0
        pairs = [(sides[0][i], sides[1][j])]
        while i + j < len(sides[0]) + len(sides[1]) - 2:
            stays = j < len(sides[1]) - 1 and (i == len(sides[0]) - 1 or ends[0][i] > ends[1][j])
            i, j = (i, j + 1) if stays else (i + 1, j)
            pairs.append((sides[0][i], sides[1][j]))
        return pairs

    def most_acute(self, r: Vector, barred: npt.NDArray[np.bool_]) -> tuple[int, int, float]:
        """Return the vector with the largest ⟨g, r⟩, and this product; −∞ if there is none."""
        prices = inner_products(self.G, r)
        prices[barred] = -np.inf
        if not self.pairs:
            i = int(np.argmax(prices))
            return i, -1, float(prices[i])
        if len(self.positive) == 0 or len(self.negative) == 0:
            return -1, -1, -math.inf
        i = int(self.positive[np.argmax(prices[self.positive])])
        j = int(self.negative[np.argmax(prices[self.negative])])
        return i, j, float(prices[i] + prices[j])


class Corral:
    """The vectors with u_j > 0, the members, and their factors Q·R.

    A member (i, j) is row i of the working set if j is negative. Otherwise it is the sum of the
    rows i and j, which is a vertex of the difference of two hulls. There are at most
    ``max_members`` members. Initial members with u ≤ 0 leave. The first ``n_free`` members never
    leave, and their u may have any sign. If ``members`` is None, all rows of the working set join
    first, and then all rows with multiplier ≤ 0 leave together. If the vectors and b are given by
    their coordinates in a basis, ``frame`` has this orthonormal basis as columns. OutOfTimeError is
    raised if a limit is reached before the first members have joined, and TooLargeError if more
    independent free vectors would have to join than ``max_members``.
    """

    def __init__(
        self,
        b: Vector,
        max_members: int,
        vectors: WorkingSet,
        members: Sequence[Member] | None = (),
        n_free: int = 0,
        frame: Vector | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.b, self.max_members = b, min(max_members, len(b))
        self.vectors, self._frame = vectors, frame
        self._Q = np.empty((len(b), self.max_members), order="F")  # the first columns are in use
        self._R: Vector
        self.members: list[Member]
        self.n_free: int
        self.u: Vector
        if members is None:
            self._begin_with_all(limits or Limits())
        else:
            self._begin(members, n_free, limits or Limits())
        while len(self.u) > self.n_free and not self.u[self.n_free :].min() > 0.0:
            self._leave(self.n_free + int(np.argmin(self.u[self.n_free :])))
            self.u = self._unconstrained()
        self._refresh()

    def _begin_with_all(self, limits: Limits) -> None:
        """Let all rows join; then all rows with multiplier ≤ 0 leave together, a few times.

        The u of a pair may be negative although the multipliers of its rows are positive. Then
        other pairs with the same multipliers of rows are tried.
        """
        multipliers, before = np.ones(self.vectors.G.shape[0]), -1
        for _ in range(_MAX_ROUNDS):
            self._begin(self.vectors.vertices(multipliers), 0, limits)
            rows = int(np.count_nonzero(multipliers))
            if self.u.min(initial=1.0) > 0.0 or rows == before:
                return
            multipliers, before = np.maximum(self.row_multipliers(), 0.0), rows

    def _begin(self, members: Sequence[Member], n_free: int, limits: Limits) -> None:
        """Let members join, except for those that depend on the members before them."""
        self.members, self.n_free, self.u = [], 0, np.empty(0)
        # Beyond the members, R is the unit matrix.
        self._R = np.eye(min(_MIN_CAPACITY, self.max_members), order="F")
        for first in range(0, len(members), _MEMBERS_PER_LOOK):
            check_time(limits)
            members_of_block = members[first : first + _MEMBERS_PER_LOOK]
            if self._join_together(members_of_block):
                self.n_free += max(0, min(n_free - first, len(members_of_block)))
                continue
            for k, (i, j) in enumerate(members_of_block, first):
                if k % _PIVOTS_PER_LOOK == 0:
                    check_time(limits)
                if k < n_free and self.max_members == len(self.members) < len(self.b):
                    raise TooLargeError
                self.n_free += self._join(i, j) and k < n_free
        self.u = self._unconstrained()

    def row_multipliers(self) -> Vector:
        """Return the sum of u over the members that contain a row, for each row."""
        first, second = np.array(self.members, dtype=np.int64).reshape(-1, 2).T
        paired = second >= 0
        rows, u = np.append(first, second[paired]), np.append(self.u, self.u[paired])
        return np.bincount(rows, u, minlength=self.vectors.G.shape[0]).astype(np.float64)

    def admit(self, i: int, j: int) -> bool:
        """Let a vector join and others leave; return whether Σ u_j·g_j came nearer to b."""
        if not self._join(i, j):
            return False
        trial = self._unconstrained()
        if not trial[-1] > 0.0:  # it is positive up to rounding
            self._leave(len(self.members) - 1)
            return False
        before = float(self.residual @ self.residual)
        first = self.n_free
        while not trial[first:].min(initial=1.0) > 0.0:  # stop where the first u becomes 0
            blocked = first + np.flatnonzero(trial[first:] <= 0.0)
            u = self.u[blocked]
            reach = np.where(u > 0.0, u / (u - trial[blocked]), 0.0)
            k = int(np.argmin(reach))
            self.u = self.u + float(reach[k]) * (trial - self.u)
            self.u[first:] = np.maximum(self.u[first:], 0.0)
            self._leave(int(blocked[k]))
            trial = self._unconstrained()
        self.u = trial
        self._refresh()
        return float(self.residual @ self.residual) < before

    def _join(self, i: int, j: int) -> bool:
        """Append a vector to the factors, unless it depends on the members or they are full."""
        k = len(self.members)
        if k == self.max_members:
            return False
        g = self.vectors.vector(i, j)
        v, c = g, np.zeros(k)
        for _ in range(2):  # twice is enough: Gram-Schmidt with reorthogonalisation
            correction = inner_products(self._basis, v)
            v, c = v - _combination(correction, self._basis), c + correction
        before, after = math.sqrt(float(g @ g)), math.sqrt(float(v @ v))
        if not after > _NEW_SHARE * before:
            return False
        self._enlarge(k + 1)
        self._Q[:, k] = v / after
        self._R[:k, k], self._R[k, k] = c, after
        self.members.append((i, j))
        self.u = np.append(self.u, 0.0)
        return True

    def _join_together(self, joining: Sequence[Member]) -> bool:
        """Append several vectors to the factors, unless one of them may depend on others."""
        k, last = len(self.members), len(self.members) + len(joining)
        if last > self.max_members:
            return False
        V = np.array([self.vectors.vector(i, j) for i, j in joining]).T
        sizes, C = np.sqrt(np.square(V).sum(axis=0)), np.zeros((k, len(joining)))
        with one_blas_thread():
            for _ in range(2):
                correction = self._basis @ V
                V, C = V - self._basis.T @ correction, C + correction
            Q, R = qr(V, mode="economic", overwrite_a=True, check_finite=False)
        if not (np.abs(np.diag(R)) > _CLEARLY_NEW_SHARE * sizes).all():
            return False
        self._enlarge(last)
        self._Q[:, k:last] = Q
        self._R[:k, k:last], self._R[k:last, k:last] = C, R
        self.members += joining
        self.u = np.append(self.u, np.zeros(len(joining)))
        return True

    def _enlarge(self, members: int) -> None:
        """Enlarge R for this many members."""
        k = len(self._R)
        if members > k:
            larger = np.eye(min(max(2 * k, members), self.max_members), order="F")
            larger[:k, :k] = self._R
            self._R = larger

    def _leave(self, out: int) -> None:
        """Remove a member."""
        k = len(self.members)
        if k > 1:
            triangle = np.asfortranarray(self._R[:k, :k])
            Q, R = qr_delete(
                self._Q[:, :k], triangle, out, which="col", overwrite_qr=True, check_finite=False
            )
            if not np.may_share_memory(Q, self._Q):  # otherwise it was updated in place
                self._Q[:, : k - 1] = Q[:, : k - 1]
            self._R[: k - 1, : k - 1] = R[: k - 1, : k - 1]
        self._R[:k, k - 1] = 0.0
        self._R[k - 1, k - 1] = 1.0
        del self.members[out]
        self.u = np.delete(self.u, out)

    @property
    def full_residual(self) -> Vector:
        """The residual in the coordinates of the rows."""
        return self.residual if self._frame is None else self._frame @ self.residual

    @property
    def _basis(self) -> Vector:
        """The orthonormal vectors, as rows."""
        return self._Q[:, : len(self.members)].T

    def _unconstrained(self) -> Vector:
        """The u that minimises ‖b − Σ u_j·g_j‖ without the constraint u ≥ 0."""
        k, right = len(self.members), np.zeros((len(self._R), 1))
        right[:k, 0] = inner_products(self._basis, self.b)
        solution, failed = dtrtrs(self._R, right)
        return np.asarray(solution)[:k, 0] if failed == 0 else np.full(k, -1.0)

    def _refresh(self) -> None:
        """Compute the residual b − QQᵀb, projected twice for accuracy."""
        r = self.b - _combination(inner_products(self._basis, self.b), self._basis)
        self.residual = r - _combination(inner_products(self._basis, r), self._basis)


def inner_products(G: Vector | sp.csr_array, r: Vector) -> Vector:
    """Return ⟨g, r⟩ for every row of G, on one core: BLAS would wait for all cores."""
    if isinstance(G, np.ndarray) and G.size > _ONE_CORE_ENTRIES:
        return np.asarray(np.vecdot(G, r))
    return np.asarray(G @ r)


def _combination(c: Vector, G: Vector) -> Vector:
    """Return Σ c_i·g_i, on one core."""
    return np.asarray(np.einsum("i,ij->j", c, G) if G.size > _ONE_CORE_ENTRIES else c @ G)


def pivot(corral: Corral, tol: float, limits: Limits) -> Ending:
    """Let vectors join and leave until no vector of the working set would improve the solution.

    The condition is ⟨g, r⟩ ≤ tol·‖r‖² for all vectors g and the residual r. If rounding prevents a
    vector from improving the solution, the vector is not tried again until the solution improves.
    """
    vectors = corral.vectors
    zero = _ZERO_SHARE * math.sqrt(float(corral.b @ corral.b))
    best, barred = math.inf, np.zeros(vectors.G.shape[0], dtype=np.bool_)
    if len(barred) == 0:
        return Ending.OPTIMAL
    for turn in count():
        square = float(corral.residual @ corral.residual)
        if math.sqrt(square) <= zero:
            return Ending.FITTED
        if turn % _PIVOTS_PER_LOOK == 0 and limits.reached() is not None:
            break
        if square < best:
            best = square
            barred[:] = False
        i, j, price = vectors.most_acute(corral.residual, barred)
        if not price > tol * square:
            return Ending.STALLED if barred.any() else Ending.OPTIMAL
        if len(corral.members) >= corral.max_members:  # no vector can join
            return Ending.STALLED
        joined = corral.admit(i, j)
        if not (joined and float(corral.residual @ corral.residual) < best):
            barred[[i, j] if j >= 0 else i] = True
    return Ending.LIMITED
