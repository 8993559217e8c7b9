"""Non-negative least squares without rounding: who is zero, and who is only small.

The same active set as `corral`, over the rationals (Lawson and Hanson 1974). It starts
from the rows that the float engine ended with, so that as a rule one step confirms them;
being exact it ends after finitely many in any case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.linalg import qr

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.passes import Passes, check_time
from novikoff.geometry.visits import ExactSigns, RowSet
from novikoff.proofs import exact
from novikoff.proofs.exact import Integers


@dataclass(frozen=True)
class Projection:
    """The point of a cone nearest to b: Σ μ_i a_i, μ > 0 on ``rows``.

    ``w`` is minus the residual, for the rows themselves, or None where b lies in the cone.
    Otherwise ⟨a_i, w⟩ ≥ 0 for all rows of the cone and ⟨Σ a_i, w⟩ > 0; ``seen`` are the signs
    of ⟨a_i, w⟩, 0 for other rows.
    """

    rows: Indices
    multipliers: list[Fraction]
    w: list[Fraction] | None
    seen: ExactSigns | None = None


def project(
    passes: Passes,
    among: RowSet,
    total: Sequence[Fraction],
    columns: Vector,
    start: Indices,
    limits: Limits,
    free: Indices | None = None,
) -> Projection:
    """Project b = −``total`` on the cone of the rows ``among``, exactly.

    The inner product is that of the rows with each column multiplied by its factor, a
    power of two. ``start`` are rows to begin with. ``free`` are rows, not ``among`` the others,
    that join with multipliers of any sign, zero too; ⟨a_i, w⟩ = 0 for them.
    """
    b = [-value for value in total]
    squares = [Fraction(float(value)) ** 2 for value in columns]
    cone = _Cone(passes, squares, b)
    none = np.empty(0, dtype=np.int64)
    used, mu = _feasible_start(cone, none if free is None else free, start, limits)
    while True:
        w = cone.residual(used, mu)
        if not any(w):
            return Projection(used, mu, None)
        normal = exact.numbers([-value * square for value, square in zip(w, squares, strict=True)])
        seen = passes.exact_signs(normal, among, limits)
        if seen.worst < 0:
            exactly = [value * normal.unit for value in normal.whole]
            return Projection(used, mu, exactly, seen)
        used, mu = _admit(cone, used, mu, seen.worst, limits)


def balance(passes: Passes, rows: Indices, target: int, limits: Limits) -> list[Fraction] | None:
    """Λ with a_target + Σ λ_i a_i = 0 over independent rows, exactly; None where it is not found.

    Floats choose as many columns as there are rows, one solve gives λ, all columns confirm it.
    """
    A = passes.at(np.append(rows, target))
    scaled = A[:-1] / np.maximum(np.abs(A[:-1]).max(axis=0), 1e-300)
    R, order = qr(scaled, mode="r", pivoting=True, check_finite=False)
    if len(rows) > A.shape[1] or not np.abs(np.diag(R)).min() > 1e-10:
        return None
    whole, _ = exact.integers(A)
    columns = order[: len(rows)]
    check_time(limits, solve_seconds(len(whole), whole[:, columns]))
    try:
        factors = solved(whole[:-1, columns].T, -whole[-1, columns])
    except ZeroDivisionError:  # floats were wrong
        return None
    sums, _ = exact.combine(A, exact.numbers([*factors, Fraction(1)]))
    return None if any(sums) else factors


def solved(M: Integers, b: Integers, weighted: Integers | None = None) -> list[Fraction]:
    """X with Mx = b, or with WMx = Wb; ZeroDivisionError if that is singular."""
    import flint

    left, right = flint.fmpz_mat(M.tolist()), flint.fmpz_mat([[int(value)] for value in b])
    if weighted is not None:
        W = flint.fmpz_mat(weighted.tolist())
        left, right = W * left, W * right
    found = left.solve(right)
    return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(found.nrows())]


class _Cone:
    """Least squares on a few rows at a time."""

    def __init__(self, passes: Passes, squares: list[Fraction], b: list[Fraction]) -> None:
        self.passes, self.squares, self.b = passes, squares, b
        self.free = 0  # the first members, whose multipliers may have any sign

    def solve(self, used: Indices, limits: Limits) -> list[Fraction]:
        """The μ that minimises ‖b − Σ μ_i a_i‖, unconstrained, on independent rows."""
        if len(used) == 0:
            return []
        check_time(limits, solve_seconds(len(used)))
        whole, e = self.passes.whole(used)
        check_time(limits, solve_seconds(len(used), whole))
        b = exact.numbers(self.b)
        weighted = None
        if len(used) != whole.shape[1]:  # else they are a basis, and b is met
            weighted = whole * exact.numbers(self.squares).whole
        scale = b.unit / Fraction(2) ** e
        return [value * scale for value in solved(whole.T, b.whole, weighted)]

    def residual(self, used: Indices, mu: list[Fraction]) -> list[Fraction]:
        """What is left of b: b − Σ μ_i a_i."""
        if len(used) == 0:
            return self.b
        (whole, e), multipliers = self.passes.whole(used), exact.numbers(mu)
        sums, unit = multipliers.whole.dot(whole), multipliers.unit * Fraction(2) ** e
        return [b - value * unit for b, value in zip(self.b, sums, strict=True)]

    def independent(self, used: Indices, limits: Limits) -> Indices:
        """The rows without those that depend on others."""
        import flint

        if len(used) == 0:
            return used
        check_time(limits, solve_seconds(len(used)))
        whole, _ = self.passes.whole(used)
        check_time(limits, solve_seconds(len(used), whole))
        reduced, _, rank = flint.fmpz_mat(whole.T.tolist()).rref()
        if rank == len(used):
            return used
        entries = np.array(reduced.tolist(), dtype=object)[:rank] != 0
        return np.asarray(used[np.argmax(entries, axis=1)])


def _feasible_start(
    cone: _Cone, free: Indices, start: Indices, limits: Limits
) -> tuple[Indices, list[Fraction]]:
    """The free rows, and others on which the unconstrained solution is positive."""
    used = np.concatenate([free, np.setdiff1d(np.asarray(start, dtype=np.int64), free)])
    cone.free = len(free)
    while True:
        check_time(limits)
        try:
            mu = cone.solve(used, limits)
        except ZeroDivisionError:  # some depend on others
            cone.free = len(cone.independent(free, limits)) if cone.free else 0
            used = cone.independent(used, limits)
            mu = cone.solve(used, limits)
        positive = np.array([value > 0 for value in mu], dtype=np.bool_)
        positive[: cone.free] = True
        stay = np.flatnonzero(positive)
        if all(value >= 0 for value in mu[cone.free :]):  # those at zero were of no use
            return used[stay], [mu[k] for k in stay.tolist()]
        used = used[stay]


def _admit(
    cone: _Cone, used: Indices, mu: Sequence[Fraction], new: int, limits: Limits
) -> tuple[Indices, list[Fraction]]:
    """Let a row join; on the way to the new solution, rows that would turn negative leave."""
    used = np.append(used, new)
    now = [*mu, Fraction(0)]
    while True:
        check_time(limits)
        wanted = cone.solve(used, limits)
        blocked = [k for k, value in enumerate(wanted) if value <= 0 and k >= cone.free]
        if not blocked:
            return used, wanted
        step = min(now[k] / (now[k] - wanted[k]) for k in blocked)
        now = [a + step * (b - a) for a, b in zip(now, wanted, strict=True)]
        stay = [k for k, value in enumerate(now) if k < cone.free or value > 0 or wanted[k] > 0]
        used, now = used[stay], [now[k] for k in stay]


def solve_seconds(n: int, whole: Integers | None = None) -> float:
    """About how long a solve with n rows takes, at least: it cannot be interrupted."""
    bits = 32
    if whole is not None:
        bits = max(bits, *(int(value).bit_length() for value in np.abs(whole).max(axis=1)))
    return 3.0 * math.pow(n / 300.0, 3.5) * math.pow(bits / 85.0, 1.5)
