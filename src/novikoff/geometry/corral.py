"""Non-negative least squares by an active set: the engine of the verdict.

Wanted: u ≥ 0 that minimises ‖b − Σ u_j g_j‖ over given vectors g_j, the rows of G.

Two questions are asked of it. With g_j = (1, a_j) and b = (1, 0, …, 0) the residual is,
up to scale, (‖z‖², −z), where z is the point of the convex hull of the a_j nearest to the
origin: this is Wolfe's algorithm for it. With g_j = (0, a_j) and b = (0, −Σ a_i) it asks
whether −Σ a_i lies in the cone of the rows (Stiemke).

The vectors in use, the *corral*, are linearly independent and kept as Q·R with orthonormal Q,
which rotations update as they join and leave; b is projected on them without ever squaring their
condition number.

References: P. Wolfe, Finding the nearest point in a polytope, Math. Programming 11 (1976);
C. Lawson and R. Hanson, Solving Least Squares Problems (1974), chapter 23.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, qr_delete
from scipy.linalg.lapack import dtrtrs

from novikoff.core.blas import one_blas_thread
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import check_time

if TYPE_CHECKING:
    import scipy.sparse as sp

# A residual below this share of b is zero, but for rounding.
_ZERO_SHARE: Final = 4e-15
# A vector depends on the members if less than this share of it is new.
_NEW_SHARE: Final = 1e-13
# Products of more entries are shared by BLAS among cores, which may be busy.
_ONE_CORE_ENTRIES: Final = 1 << 15
# Vectors join together if at least this share of each is new; this many between looks at the clock.
_CLEARLY_NEW_SHARE: Final = 1e-4
_MEMBERS_PER_LOOK: Final = 256
# How often all rows of weight ≤ 0 leave together, each time with factors from scratch.
_MAX_ROUNDS: Final = 8
# Members for which there is room at once.
_MIN_CAPACITY: Final = 32
# Pivots between two looks at the clock.
_PIVOTS_PER_LOOK: Final = 16


# A row of the working set and −1, or two rows whose sum is meant.
Member: TypeAlias = tuple[int, int]


class Ending(Enum):
    """How a search ended."""

    OPTIMAL = "no row would improve the answer"
    FITTED = "the residual is zero, but for rounding"
    STALLED = "rounding forbids further progress"
    WATCHED = "the watcher has seen enough"
    LIMITED = "a limit was reached"


class WorkingSet:
    """Vectors to choose from: the rows of G, or the sums of one row of each side."""

    def __init__(self, G: Vector | sp.csr_array, sides: npt.NDArray[np.int8] | None) -> None:
        self.G, self.pairs = G, sides is not None
        if sides is not None:
            self.positive, self.negative = np.flatnonzero(sides > 0), np.flatnonzero(sides < 0)

    def vector(self, i: int, j: int = -1) -> Vector:
        """g_i, or g_i + g_j."""
        if isinstance(self.G, np.ndarray):
            return np.array(self.G[i]) if j < 0 else np.asarray(self.G[i] + self.G[j])
        v = np.zeros(self.G.shape[1])
        for k in (i, j):
            if k >= 0:
                stretch = slice(int(self.G.indptr[k]), int(self.G.indptr[k + 1]))
                v[self.G.indices[stretch]] += self.G.data[stretch]
        return v

    def vertices(self, weights: Vector) -> list[Member]:
        """The rows of positive weight, or so many pairs of them, fewer by one, that have it.

        Pairs go through the rows of both sides as weights add up (the north-west corner rule).
        """
        used = weights > 0.0
        if not self.pairs:
            return [(i, -1) for i in np.flatnonzero(used).tolist()]
        sides = [side[used[side]].tolist() for side in (self.positive, self.negative)]
        if not (sides[0] and sides[1]):
            return []
        ends = [np.cumsum(weights[side]) / weights[side].sum() for side in sides]
        i = j = 0
        pairs = [(sides[0][i], sides[1][j])]
        while i + j < len(sides[0]) + len(sides[1]) - 2:
            stays = j < len(sides[1]) - 1 and (i == len(sides[0]) - 1 or ends[0][i] > ends[1][j])
            i, j = (i, j + 1) if stays else (i + 1, j)
            pairs.append((sides[0][i], sides[1][j]))
        return pairs

    def most_acute(self, r: Vector, barred: npt.NDArray[np.bool_]) -> tuple[int, int, float]:
        """The vector with the largest ⟨g, r⟩, and that value; −∞ where there is none."""
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
    """The vectors in use and their factors.

    A member (i, j) is the row i of the working set, or the sum of rows i and j where j is not
    negative: a vertex of the difference of two hulls. ``u`` are the coefficients, positive;
    ``most`` is how many there may be. Of the members to begin with, those with u ≤ 0 leave, but
    for the first ``free``: these never leave, and their coefficients may have any sign. Where no
    members are given, all rows of the working set begin, and rows without weight leave together.
    Vectors and b may be given by their coordinates in a ``frame`` of orthonormal columns.
    OutOfTimeError where a limit is reached before the first members have joined.
    """

    def __init__(
        self,
        b: Vector,
        most: int,
        working: WorkingSet,
        members: Sequence[Member] | None = (),
        free: int = 0,
        frame: Vector | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.b, self.most, self.working, self._frame = b, min(most, len(b)), working, frame
        self._Q = np.empty((len(b), self.most), order="F")  # room for all: the first are in use
        self._R: Vector
        self.members: list[Member]
        self.free: int
        self.u: Vector
        if members is None:
            self._begin_with_all(limits or Limits())
        else:
            self._begin(members, free, limits or Limits())
        while len(self.u) > self.free and not self.u[self.free :].min() > 0.0:
            self._leave(self.free + int(np.argmin(self.u[self.free :])))
            self.u = self._unconstrained()
        self._refresh()

    def _begin_with_all(self, limits: Limits) -> None:
        """Begin with all rows; those of weight ≤ 0 leave, all at once, a few times over.

        The weights of pairs need not be positive where those of their rows are: then the same
        weights are given to other pairs.
        """
        weights, before = np.ones(self.working.G.shape[0]), -1
        for _ in range(_MAX_ROUNDS):
            self._begin(self.working.vertices(weights), 0, limits)
            rows = int(np.count_nonzero(weights))
            if self.u.min(initial=1.0) > 0.0 or rows == before:
                return
            weights, before = np.maximum(self.row_multipliers(), 0.0), rows

    def _begin(self, members: Sequence[Member], free: int, limits: Limits) -> None:
        """Begin with members, but for those that depend on others before them."""
        self.members, self.free, self.u = [], 0, np.empty(0)
        self._R = np.eye(min(_MIN_CAPACITY, self.most), order="F")  # ones beyond the members
        for first in range(0, len(members), _MEMBERS_PER_LOOK):
            check_time(limits)
            some = members[first : first + _MEMBERS_PER_LOOK]
            if self._join_together(some):
                self.free += max(0, min(free - first, len(some)))
                continue
            for k, (i, j) in enumerate(some, first):
                if k % _PIVOTS_PER_LOOK == 0:
                    check_time(limits)
                self.free += self._join(i, j) and k < free
        self.u = self._unconstrained()

    def row_multipliers(self) -> Vector:
        """The sum of u over the members that a row is part of, for each row."""
        first, second = np.array(self.members, dtype=np.int64).reshape(-1, 2).T
        paired = second >= 0
        rows, u = np.append(first, second[paired]), np.append(self.u, self.u[paired])
        return np.bincount(rows, u, minlength=self.working.G.shape[0]).astype(np.float64)

    def admit(self, i: int, j: int) -> bool:
        """Let a vector join and others leave, if that brings Σ u_j g_j nearer to b."""
        if not self._join(i, j):
            return False
        trial = self._unconstrained()
        if not trial[-1] > 0.0:  # but for rounding it is
            self._leave(len(self.members) - 1)
            return False
        before = float(self.residual @ self.residual)
        first = self.free
        while not trial[first:].min(initial=1.0) > 0.0:  # on the way, some would turn negative
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
        """Append a vector to the factors, unless it depends on the members."""
        k = len(self.members)
        g = self.working.vector(i, j)
        v, c = g, np.zeros(k)
        for _ in range(2):  # twice is enough for orthogonality to the last bits
            more = inner_products(self._basis, v)
            v, c = v - _combination(more, self._basis), c + more
        before, after = math.sqrt(float(g @ g)), math.sqrt(float(v @ v))
        if not after > _NEW_SHARE * before:
            return False
        self._make_room(k + 1)
        self._Q[:, k] = v / after
        self._R[:k, k], self._R[k, k] = c, after
        self.members.append((i, j))
        self.u = np.append(self.u, 0.0)
        return True

    def _join_together(self, some: Sequence[Member]) -> bool:
        """Append several vectors to the factors, unless one of them may depend on others."""
        k, last = len(self.members), len(self.members) + len(some)
        if last > self.most:
            return False
        V = np.array([self.working.vector(i, j) for i, j in some]).T
        sizes, C = np.sqrt(np.square(V).sum(axis=0)), np.zeros((k, len(some)))
        with one_blas_thread():
            for _ in range(2):
                more = self._basis @ V
                V, C = V - self._basis.T @ more, C + more
            Q, R = qr(V, mode="economic", overwrite_a=True, check_finite=False)
        if not (np.abs(np.diag(R)) > _CLEARLY_NEW_SHARE * sizes).all():
            return False
        self._make_room(last)
        self._Q[:, k:last] = Q
        self._R[:k, k:last], self._R[k:last, k:last] = C, R
        self.members += some
        self.u = np.append(self.u, np.zeros(len(some)))
        return True

    def _make_room(self, members: int) -> None:
        """Let R have room for this many members."""
        k = len(self._R)
        if members > k:
            larger = np.eye(min(max(2 * k, members), self.most), order="F")
            larger[:k, :k] = self._R
            self._R = larger

    def _leave(self, out: int) -> None:
        """Take a member out."""
        k = len(self.members)
        if k > 1:
            triangle = np.asfortranarray(self._R[:k, :k])
            Q, R = qr_delete(
                self._Q[:, :k], triangle, out, which="col", overwrite_qr=True, check_finite=False
            )
            if not np.may_share_memory(Q, self._Q):  # else it is in its place
                self._Q[:, : k - 1] = Q[:, : k - 1]
            self._R[: k - 1, : k - 1] = R[: k - 1, : k - 1]
        self._R[:k, k - 1] = 0.0
        self._R[k - 1, k - 1] = 1.0
        del self.members[out]
        self.u = np.delete(self.u, out)

    @property
    def full_residual(self) -> Vector:
        """The residual outside the frame."""
        return self.residual if self._frame is None else self._frame @ self.residual

    @property
    def _basis(self) -> Vector:
        """The orthonormal vectors, one to a row."""
        return self._Q[:, : len(self.members)].T

    def _unconstrained(self) -> Vector:
        """The u that minimises ‖b − Σ u_j g_j‖, whatever its signs."""
        k, right = len(self.members), np.zeros((len(self._R), 1))
        right[:k, 0] = inner_products(self._basis, self.b)
        solution, failed = dtrtrs(self._R, right)
        return np.asarray(solution)[:k, 0] if failed == 0 else np.full(k, -1.0)

    def _refresh(self) -> None:
        """The residual b − QQᵀb, cleaned once more of what is left along Q."""
        r = self.b - _combination(inner_products(self._basis, self.b), self._basis)
        self.residual = r - _combination(inner_products(self._basis, r), self._basis)


def inner_products(G: Vector | sp.csr_array, r: Vector) -> Vector:
    """⟨g, r⟩ for every row of G, on this core: large products of BLAS wait for all the others."""
    if isinstance(G, np.ndarray) and G.size > _ONE_CORE_ENTRIES:
        return np.asarray(np.vecdot(G, r))
    return np.asarray(G @ r)


def _combination(c: Vector, G: Vector) -> Vector:
    """Σ c_i g_i, likewise."""
    return np.asarray(np.einsum("i,ij->j", c, G) if G.size > _ONE_CORE_ENTRIES else c @ G)


def pivot(corral: Corral, tol: float, limits: Limits) -> Ending:
    """Let vectors join and leave the corral until none of the working set would improve the fit.

    That is: until ⟨g, r⟩ ≤ tol·‖r‖² for all g, r the residual. Rows that rounding keeps from
    improving the fit are barred until it improves.
    """
    working = corral.working
    zero = _ZERO_SHARE * math.sqrt(float(corral.b @ corral.b))
    best, barred = math.inf, np.zeros(working.G.shape[0], dtype=np.bool_)
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
        i, j, price = working.most_acute(corral.residual, barred)
        if not price > tol * square:
            return Ending.STALLED if barred.any() else Ending.OPTIMAL
        if len(corral.members) >= corral.most:  # it is full: nobody can join
            return Ending.STALLED
        joined = corral.admit(i, j)
        if not (joined and float(corral.residual @ corral.residual) < best):
            barred[[i, j] if j >= 0 else i] = True
    return Ending.LIMITED
