"""Condition measures of small systems of inequalities: Hoffman's constant and Goffin's measure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.geometry.margin import Interval
from novikoff.geometry.separability import separate
from novikoff.proofs import exact
from novikoff.theory.few_rows import Direction, dense_rows, directions, rank_and_products

# At most this many sets of rows are examined.
_MAX_ROW_SETS = 50_000
# Square roots of integers are computed to this many binary digits after the point.
_DIGITS = 128
# A row that is divided by its length differs from a unit vector by less than this.
_UNIT_ERROR = 2.0**-50


class HoffmanConstant(NamedTuple):
    """The largest ratio between the distance of a point from the solutions and its violation.

    Attributes
    ----------
    constant : float
        Hoffman's constant H, rounded up.
    condition : float
        μ = 1/H, rounded down. It is at most 1.
    rows : tuple of int
        Rows for which the constant is attained. If c makes the other rows hold everywhere, some
        point violates these rows by exactly μ times its distance from the solutions.

    Examples
    --------
    >>> round(hoffman_constant([[1.0, 0.0], [0.0, 1.0]]).constant, 12)
    1.414213562373
    """

    constant: float
    condition: float
    rows: tuple[int, ...]


def hoffman_constant(A: npt.ArrayLike) -> HoffmanConstant:
    """Compute Hoffman's constant of the systems A w ≤ c, for few rows.

    Hoffman proved that there is a number H, which depends on A and not on c, such that every point
    w is at most H times as far from the set P of all solutions as its largest violation:

        d(w, P) ≤ H · max_i (⟨a_i, w⟩ − c_i)⁺/‖a_i‖

    for every c for which P is not empty. The function computes the smallest such H. Its inverse μ
    is the condition number in the rate of the relaxation method (`agmon_rate`). With the unit rows
    u_i = a_i/‖a_i‖, μ is the least distance of the origin to the convex hull of a linearly
    independent set J of rows:

        μ = min_J d(0, conv{u_i : i ∈ J})

    The function examines every linearly independent set of rows in exact arithmetic. Therefore it
    takes only small systems. Rows of zeros are left out, because they never are violated in a
    system that has a solution.

    Parameters
    ----------
    A : array-like of shape (n, p)
        The rows a_i. There may be at most 50,000 sets of at most r of them, where r is the rank.

    Returns
    -------
    HoffmanConstant
        H, μ, and rows for which they are attained.

    See Also
    --------
    agmon_rate : The rate of convergence that μ implies.
    goffin_measure : The margin of the rows, if A w > 0 has a solution.

    References
    ----------
    Hoffman, A. J. (1952). On approximate solutions of systems of linear inequalities. *Journal of
    Research of the National Bureau of Standards* 49(4), 263-265.

    Peña, J., Vera, J. C. and Zuluaga, L. F. (2021). New characterizations of Hoffman constants for
    systems of linear constraints. *Mathematical Programming* 187, 79-109.

    Examples
    --------
    A thin wedge has a large constant: a point above its tip violates both rows by little.

    >>> from novikoff.theory import agmon_rate
    >>> wedge = hoffman_constant([[0.1, 1.0], [0.1, -1.0]])
    >>> round(wedge.constant, 3), wedge.rows
    (10.05, (0, 1))
    >>> round(agmon_rate(1.0, wedge.condition), 4)
    0.9901
    """
    first_rows = directions(dense_rows(A))
    if not first_rows:
        raise ValueError("A has no row that is not zero: every point solves such a system.")
    numbers = [*first_rows.values()]
    best, attained = Fraction(0), tuple[int, ...]()
    for subset, square in _inverse_squares([*first_rows]):
        if square > best:
            best, attained = square, subset
    return HoffmanConstant(
        exact.square_root_up(best),
        exact.square_root_down(1 / best),
        tuple(sorted(numbers[i] for i in attained)),
    )


def _inverse_squares(rows: list[Direction]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield sets of linearly independent rows, and 1/d² for the distance d of 0 to their hull.

    With the Gram matrix G of the unit rows, the point of their affine hull nearest to 0 has weights
    G⁻¹1/(1ᵀG⁻¹1) and d² = 1/(1ᵀG⁻¹1). It belongs to the convex hull if no weight is negative;
    otherwise, the point of the convex hull that is nearest to 0 is found with a smaller set. The
    lengths of the rows are enclosed between rational numbers, and 1/d² is rounded up.
    """
    import flint

    rank, gram = rank_and_products(rows)
    sets = sum(math.comb(len(rows), k) for k in range(1, rank + 1))
    if sets > _MAX_ROW_SETS:
        raise ValueError(
            f"Hoffman's constant of {len(rows)} rows of rank {rank} needs {sets:,} sets of rows, "
            f"but at most {_MAX_ROW_SETS:,} are examined: take fewer rows."
        )
    below = [math.isqrt(int(gram[i, i]) << 2 * _DIGITS) for i in range(len(rows))]
    # ‖a_i‖ lies between below[i] and above[i], in units of 2^−128.
    above = [root + (root * root != int(gram[i, i]) << 2 * _DIGITS) for i, root in enumerate(below)]
    for k in range(1, rank + 1):
        for subset in combinations(range(len(rows)), k):
            matrix = flint.fmpz_mat([[int(gram[i, j]) for j in subset] for i in subset])
            if matrix.det() == 0:
                continue
            numerators, denominator = matrix.inv().numer_denom()  # the denominator is positive
            inverse = [[int(value) for value in line] for line in numerators.tolist()]
            lo, hi = [below[i] for i in subset], [above[i] for i in subset]
            weights = (
                sum(b * (h if b > 0 else g) for b, g, h in zip(line, lo, hi, strict=True))
                for line in inverse
            )
            if any(weight < 0 for weight in weights):  # an upper bound on it is negative
                continue
            total = sum(
                b * (hi[i] * hi[j] if b > 0 else lo[i] * lo[j])
                for i, line in enumerate(inverse)
                for j, b in enumerate(line)
            )
            yield subset, Fraction(total, int(denominator) << 2 * _DIGITS)


def goffin_measure(A: npt.ArrayLike) -> Interval:
    """Compute Goffin's measure of the system A w > 0: the margin of its rows at unit length.

    The measure is

        ρ = max_{‖u‖ ≤ 1} min_i ⟨a_i, u⟩/‖a_i‖

    It is positive if and only if A w > 0 has a solution, and it is then the radius of the largest
    ball in the cone of solutions whose centre has length 1. The bounds on the steps of the
    perceptron, of von Neumann's algorithm and of the smooth and rescaled perceptrons for A w > 0
    contain ρ as their γ: `unit_ball_bound`, `smooth_bound`, `smooth_euclidean_bound`,
    `primal_dual_bound`, `rescaling_bound`.

    Parameters
    ----------
    A : array-like of shape (n, p)
        The rows a_i. The measure of a system with a row of zeros is 0.

    Returns
    -------
    Interval
        A guaranteed interval that contains ρ. It is [0, 0] if A w > 0 has no solution.

    See Also
    --------
    hoffman_constant : The condition number of A w ≤ c for every c.

    References
    ----------
    Goffin, J. L. (1980). The relaxation method for solving systems of linear inequalities.
    *Mathematics of Operations Research* 5(3), 388-414.

    Examples
    --------
    >>> rho = goffin_measure([[10.0, 0.0], [0.0, 0.1]])
    >>> rho.lo <= 0.5**0.5 <= rho.hi, rho.relative_width < 1e-7
    (True, True)
    >>> goffin_measure([[1.0, 0.0], [-1.0, 0.0]])
    Interval(lo=0.0, hi=0.0)
    """
    rows = dense_rows(A)
    same = np.ones(len(rows), dtype=np.int8)
    kind = separate(rows, same, fit_intercept=False, goal="kind").kind
    if kind in ("quasi-separable", "inseparable"):
        return Interval(0.0, 0.0)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)
    units = scaled / np.maximum(_row_lengths(scaled), 1.0)
    margin = separate(units, same, fit_intercept=False).margin
    # ρ changes by no more than the rows. It is at most 1.
    return Interval(max(0.0, margin.lo - _UNIT_ERROR), min(1.0, margin.hi + _UNIT_ERROR))


def _row_lengths(rows: Vector) -> Vector:
    return np.array([[math.hypot(*row)] for row in rows.tolist()])
