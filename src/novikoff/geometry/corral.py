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
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr_delete
from scipy.linalg.lapack import dtrtrs

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits

if TYPE_CHECKING:
    import scipy.sparse as sp

# A residual below this share of b is zero, but for rounding.
_ZERO: Final = 4e-15
# A vector depends on the members if less than this share of it is new.
_INDEPENDENT: Final = 1e-13
# Products of more entries are shared by BLAS among cores, which may be busy.
_ONE_CORE: Final = 1 << 15
# Members for which there is room at once.
_FEW_MEMBERS: Final = 32
# After so many leaves for each member that there may be, the factors are made anew.
_LEAVES_PER_MEMBER: Final = 4
# Pivots between two looks at the clock.
_PIVOTS_PER_LOOK: Final = 16


class Ending(Enum):
    """How a search ended."""

    OPTIMAL = "no row would improve the answer"
    FITTED = "the residual is zero, but for rounding"
    STALLED = "rounding forbids further progress"
    WATCHED = "the watcher has seen enough"
    LIMITED = "a limit was reached"


class WorkingSet:
    """Vectors to choose from: the rows of G, dense or sparse, and their signs."""

    def __init__(self, G: Vector | sp.csr_array, sides: npt.NDArray[np.int8]) -> None:
        self.G = G
        self.n = G.shape[0]
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


class Corral:
    """The vectors in use and their factors.

    A member is the row ``first`` of the working set, or the sum of rows ``first`` and ``second``
    where ``second`` is not negative: a vertex of the difference of two hulls. ``u`` are the
    coefficients, positive; ``most`` is how many there may be.
    """

    def __init__(self, b: Vector, most: int) -> None:
        self.b, self.most = b, min(most, len(b))
        self.first: list[int] = []
        self.second: list[int] = []
        self.u = np.empty(0)
        self._Q = np.empty((len(b), self.most), order="F")  # room for all: the first are in use
        self._R = np.eye(min(_FEW_MEMBERS, self.most), order="F")  # ones where nobody is yet
        self.residual = b.copy()
        self._left = 0  # how many have left

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.first)

    def begin(self, working: WorkingSet) -> None:
        """Factor the members anew if many have left since, as rounding builds up.

        Those that depend on earlier ones, or get u ≤ 0, leave.
        """
        if self._left <= _LEAVES_PER_MEMBER * self.most:
            return
        members = list(zip(self.first, self.second, strict=True))
        self.first, self.second, self.u, self._left = [], [], np.empty(0), 0
        self._R = np.eye(len(self._R), order="F")
        for i, j in members:
            self._join(working.vector(i, j), i, j)
        while self.size > 0:
            trial = self._unconstrained()
            worst = int(np.argmin(trial))
            if trial[worst] > 0.0:
                self.u = trial
                break
            self._leave(worst)
        self._refresh()

    def admit(self, g: Vector, i: int, j: int) -> bool:
        """Let a vector join and others leave, if that brings Σ u_j g_j nearer to b."""
        if not self._join(g, i, j):
            return False
        trial = self._unconstrained()
        if not trial[-1] > 0.0:  # but for rounding it is
            self._leave(self.size - 1)
            return False
        before = float(self.residual @ self.residual)
        while not trial.min() > 0.0:  # on the way to the new solution, some would turn negative
            blocked = np.flatnonzero(trial <= 0.0)
            u = self.u[blocked]
            reach = np.where(u > 0.0, u / (u - trial[blocked]), 0.0)
            k = int(np.argmin(reach))
            self.u = np.maximum(self.u + float(reach[k]) * (trial - self.u), 0.0)
            self._leave(int(blocked[k]))
            trial = self._unconstrained()
        self.u = trial
        self._refresh()
        return float(self.residual @ self.residual) < before

    def _join(self, g: Vector, i: int, j: int) -> bool:
        """Append a vector to the factors, unless it depends on the members."""
        k = self.size
        if k >= self.most:
            return False
        v, c = g, np.zeros(k)
        for _ in range(2):  # twice is enough for orthogonality to the last bits
            more = products(self._basis, v)
            v, c = v - _combination(more, self._basis), c + more
        before, after = math.sqrt(float(g @ g)), math.sqrt(float(v @ v))
        if not after > _INDEPENDENT * before:
            return False
        if k == len(self._R):
            larger = np.eye(min(2 * k, self.most), order="F")
            larger[:k, :k] = self._R
            self._R = larger
        self._Q[:, k] = v / after
        self._R[:k, k], self._R[k, k] = c, after
        self.first.append(i)
        self.second.append(j)
        self.u = np.append(self.u, 0.0)
        return True

    def _leave(self, out: int) -> None:
        """Take a member out."""
        k = self.size
        self._left += 1
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
        del self.first[out], self.second[out]
        self.u = np.delete(self.u, out)

    @property
    def _basis(self) -> Vector:
        """The orthonormal vectors, one to a row."""
        return self._Q[:, : self.size].T

    def _unconstrained(self) -> Vector:
        """The u that minimises ‖b − Σ u_j g_j‖, whatever its signs."""
        right = np.zeros(len(self._R))
        right[: self.size] = products(self._basis, self.b)
        solution, failed = dtrtrs(self._R, right)
        return np.asarray(solution)[: self.size] if failed == 0 else np.full(self.size, -1.0)

    def _refresh(self) -> None:
        """R = b − QQᵀb, cleaned once more of what is left along Q."""
        r = self.b - _combination(products(self._basis, self.b), self._basis)
        self.residual = r - _combination(products(self._basis, r), self._basis)


def products(G: Vector | sp.csr_array, r: Vector) -> Vector:
    """⟨g, r⟩ for every row of G, on this core: large products of BLAS wait for all the others."""
    if isinstance(G, np.ndarray) and G.size > _ONE_CORE:
        return np.asarray(np.vecdot(G, r))
    return np.asarray(G @ r)


def _combination(c: Vector, G: Vector) -> Vector:
    """Σ c_i g_i, likewise."""
    return np.asarray(np.einsum("i,ij->j", c, G) if G.size > _ONE_CORE else c @ G)


def pivot(working: WorkingSet, corral: Corral, tol: float, pairs: bool, limits: Limits) -> Ending:
    """Let vectors join and leave the corral until no row of the working set would improve the fit.

    That is: until ⟨g, r⟩ ≤ tol·‖r‖² for all g, r the residual. With ``pairs`` the vectors
    are the sums of a row of side +1 and one of side −1. Rows that rounding keeps from
    improving the fit are barred until it improves.
    """
    corral.begin(working)
    zero = _ZERO * math.sqrt(float(corral.b @ corral.b))
    best, barred = math.inf, np.zeros(working.n, dtype=np.bool_)
    for turn in count():
        r = corral.residual
        square = float(r @ r)
        if math.sqrt(square) <= zero:
            return Ending.FITTED
        if turn % _PIVOTS_PER_LOOK == 0 and limits.reached() is not None:
            break
        if square < best:
            best = square
            barred[:] = False
        i, j, price = _most_acute(working, r, pairs, barred)
        if not price > tol * square:
            return Ending.STALLED if barred.any() else Ending.OPTIMAL
        if corral.size >= corral.most:  # it is full: nobody can join
            return Ending.STALLED
        joined = corral.admit(working.vector(i, j), i, j)
        if not (joined and float(corral.residual @ corral.residual) < best):
            barred[[i, j] if j >= 0 else i] = True
    return Ending.LIMITED


def _most_acute(
    working: WorkingSet, r: Vector, pairs: bool, barred: npt.NDArray[np.bool_]
) -> tuple[int, int, float]:
    """The vector with the largest ⟨g, r⟩, and that value; −∞ where there is none."""
    prices = products(working.G, r)
    prices[barred] = -np.inf
    if not pairs:
        i = int(np.argmax(prices))
        return i, -1, float(prices[i])
    if len(working.positive) == 0 or len(working.negative) == 0:
        return -1, -1, -math.inf
    i = int(working.positive[np.argmax(prices[working.positive])])
    j = int(working.negative[np.argmax(prices[working.negative])])
    return i, j, float(prices[i] + prices[j])
