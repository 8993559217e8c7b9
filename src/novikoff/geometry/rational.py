"""Non-negative least squares in exact arithmetic, which distinguishes zero from small numbers.

Objective
    Minimise ‖b − Σ μ_i a_i‖ over μ ≥ 0: project b on the cone of the rows.
Input
    The rows a_i, b, and rows to start from, usually those that `corral` found in floats.
Output
    A `Projection`: the rows with μ > 0, and w, minus the residual; w is None if b is in the cone.

The algorithm is the active-set method of `corral` over the rational numbers. If the rows that it
starts from are those of the solution, the first step confirms them. Otherwise the algorithm
continues. It ends after finitely many steps, because it is exact.

References
----------
Lawson, C. L. and Hanson, R. J. (1974). *Solving Least Squares Problems*. Prentice-Hall. Chapter 23.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.linalg import qr

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.linear_algebra import pivot_columns, solve_exactly, solve_seconds
from novikoff.geometry.parts import RowSet
from novikoff.geometry.passes import Passes, check_time
from novikoff.geometry.visits import ExactSigns
from novikoff.proofs import exact
from novikoff.proofs.exact import Integers


@dataclass(frozen=True)
class Projection:
    """The point of a cone nearest to b: Σ μ_i a_i with ``multipliers`` μ > 0 on ``rows``.

    ``w`` is minus the residual in the coordinates of the original rows. It is None if b is in the
    cone. Otherwise ⟨a_i, w⟩ ≥ 0 for all rows of the cone, and ⟨Σ a_i, w⟩ > 0. ``signs`` has the
    sign of ⟨a_i, w⟩ for each row of the cone, and 0 for all other rows.
    """

    rows: Indices
    multipliers: list[Fraction]
    w: list[Fraction] | None
    signs: ExactSigns | None = None


def project_on_cone(
    passes: Passes,
    among: RowSet,
    total: Sequence[Fraction],
    columns: Vector,
    start: Indices,
    limits: Limits,
    free: Indices | None = None,
) -> Projection:
    """Project b = −``total`` on the cone of the rows ``among``, in exact arithmetic.

    The norm is that of vectors whose columns are multiplied by the factors ``columns``, which are
    powers of two. The search starts from the rows ``start``. On the rows ``free``, which are not in
    ``among``, the multipliers may have any sign, and ⟨a_i, w⟩ = 0.
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
        signs = passes.exact_signs(normal, among, limits)
        if signs.worst < 0:
            exactly = [value * normal.unit for value in normal.whole]
            return Projection(used, mu, exactly, signs)
        used, mu = _admit(cone, used, mu, signs.worst, limits)


def exact_multipliers(
    passes: Passes, rows: Indices, target: int, limits: Limits
) -> list[Fraction] | None:
    """Return the exact λ with a_target + Σ λ_i a_i = 0 over linearly independent rows.

    Returns None if λ is not found.
    """
    A = passes.at(np.append(rows, target))
    whole, _ = exact.integers(A)
    return combination(A[:-1], whole[:-1], -whole[-1], limits)


def combination(
    rows: Vector, whole: Integers, target: Integers, limits: Limits
) -> list[Fraction] | None:
    """Return the exact λ with Σ λ_i a_i = target over linearly independent rows.

    ``whole`` are the rows as integers in some unit, and ``rows`` are floats near them in any unit.
    A pivoted factorisation in floats chooses as many columns as there are rows. An exact solve with
    these columns gives λ, and all other columns confirm it. Returns None if λ is not found.
    """
    k, p = rows.shape
    scaled = rows / np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1e-300)
    if not 0 < k <= p:
        return None
    R, order = qr(scaled, mode="r", pivoting=True, check_finite=False)
    if not np.abs(np.diag(R)).min() > 1e-10:
        return None
    columns = order[:k]
    check_time(limits, solve_seconds(k, whole[:, columns]))
    try:
        factors = solve_exactly(whole[:, columns].T, target[columns])
    except ZeroDivisionError:  # the columns chosen in floats are dependent
        return None
    multipliers = exact.numbers(factors)
    denominator = multipliers.unit.denominator
    sums = multipliers.whole.dot(whole) * multipliers.unit.numerator
    return factors if bool(np.all(sums == target * denominator)) else None


class _Cone:
    """Exact least squares on a few rows at a time."""

    def __init__(self, passes: Passes, squares: list[Fraction], b: list[Fraction]) -> None:
        self.passes, self.squares, self.b = passes, squares, b
        self.n_free = 0  # this many first rows have multipliers of any sign

    def solve(self, used: Indices, limits: Limits) -> list[Fraction]:
        """Return the μ that minimises ‖b − Σ μ_i a_i‖ over linearly independent rows.

        μ may have any sign.
        """
        if len(used) == 0:
            return []
        check_time(limits, solve_seconds(len(used)))
        whole, e = self.passes.as_integers(used)
        check_time(limits, solve_seconds(len(used), whole))
        b = exact.numbers(self.b)
        weighted = None
        if len(used) != whole.shape[1]:  # else the rows are a basis, and the residual is 0
            weighted = whole * exact.numbers(self.squares).whole
        scale = b.unit / Fraction(2) ** e
        return [value * scale for value in solve_exactly(whole.T, b.whole, weighted)]

    def residual(self, used: Indices, mu: list[Fraction]) -> list[Fraction]:
        """Return the residual b − Σ μ_i a_i."""
        if len(used) == 0:
            return self.b
        (whole, e), multipliers = self.passes.as_integers(used), exact.numbers(mu)
        sums, unit = multipliers.whole.dot(whole), multipliers.unit * Fraction(2) ** e
        return [b - value * unit for b, value in zip(self.b, sums, strict=True)]

    def independent(self, used: Indices, limits: Limits) -> Indices:
        """Return rows that are linearly independent and span the space of the given rows."""
        import flint

        if len(used) == 0:
            return used
        check_time(limits, solve_seconds(len(used)))
        whole, _ = self.passes.as_integers(used)
        check_time(limits, solve_seconds(len(used), whole))
        reduced, _, rank = flint.fmpz_mat(whole.T.tolist()).rref()
        return used if rank == len(used) else used[pivot_columns(reduced, rank)]


def _feasible_start(
    cone: _Cone, free: Indices, start: Indices, limits: Limits
) -> tuple[Indices, list[Fraction]]:
    """Return the free rows and some rows on which the unconstrained solution μ is positive."""
    used = np.concatenate([free, np.setdiff1d(np.asarray(start, dtype=np.int64), free)])
    cone.n_free = len(free)
    while True:
        check_time(limits)
        try:
            mu = cone.solve(used, limits)
        except ZeroDivisionError:  # the rows are linearly dependent
            cone.n_free = len(cone.independent(free, limits)) if cone.n_free else 0
            used = cone.independent(used, limits)
            mu = cone.solve(used, limits)
        positive = np.array([value > 0 for value in mu], dtype=np.bool_)
        positive[: cone.n_free] = True
        stay = np.flatnonzero(positive)
        if all(value >= 0 for value in mu[cone.n_free :]):  # rows with μ = 0 are left out
            return used[stay], [mu[k] for k in stay.tolist()]
        used = used[stay]


def _admit(
    cone: _Cone, used: Indices, mu: Sequence[Fraction], new: int, limits: Limits
) -> tuple[Indices, list[Fraction]]:
    """Let a row join; rows whose multiplier would become negative leave."""
    used = np.append(used, new)
    now = [*mu, Fraction(0)]
    while True:
        check_time(limits)
        wanted = cone.solve(used, limits)
        blocked = [k for k, value in enumerate(wanted) if value <= 0 and k >= cone.n_free]
        if not blocked:
            return used, wanted
        step = min(now[k] / (now[k] - wanted[k]) for k in blocked)
        now = [a + step * (b - a) for a, b in zip(now, wanted, strict=True)]
        stay = [k for k, value in enumerate(now) if k < cone.n_free or value > 0 or wanted[k] > 0]
        used, now = used[stay], [now[k] for k in stay]
