"""An oracle that decides separability exactly, with Python integers.

Rows are a_i. Either −Σ a_i = Σ μ_i a_i with μ ≥ 0, and then λ = 1 + μ is positive on every
row; or some w (Farkas) has all ⟨a_i, w⟩ ≥ 0 and one of them positive. Those with a positive
product are separated, the others are asked again. The simplex method with Bland's rule
answers each question; how it came to w and λ does not matter, because `decide` checks them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

Row = list[int]
Point = list[Fraction]


class Truth(NamedTuple):
    kind: str
    separated: list[int]


def signed_rows(X: npt.ArrayLike, signs: Iterable[int], fit_intercept: bool) -> list[Point]:
    """The rows a_i = y_i·[x_i, 1] as they are, without rounding."""
    table = np.asarray(X).tolist()
    ones = [Fraction(1)] * fit_intercept
    return [
        [sign * value for value in [*map(Fraction, x), *ones]]
        for x, sign in zip(table, signs, strict=True)
    ]


def decide(rows: Sequence[Point]) -> Truth:
    """Find the kind and the rows I that can be separated."""
    A = [_whole(row) for row in rows]
    n, p = len(A), len(A[0])
    w = [0] * p
    left = list(range(n))
    weights = [Fraction(0)] * n
    while left:
        mu, normal = _cone([A[i] for i in left], [-sum(A[i][j] for i in left) for j in range(p)])
        if normal is None:
            for i, (top, bottom) in zip(left, mu, strict=True):
                weights[i] = Fraction(bottom + top, bottom)
            break
        # A product that is not zero is 1 at least: this factor lets no sign change.
        factor = 1 + max(abs(_dot(a, normal)) for a in A)
        w = [factor * old + new for old, new in zip(w, normal, strict=True)]
        left = [i for i in left if _dot(A[i], normal) == 0]
    sides = [_dot(a, w) for a in A]
    assert min(sides) >= 0
    assert min(weights) >= 0
    assert all((side > 0) != (weight > 0) for side, weight in zip(sides, weights, strict=True))
    assert not any(sum(c * a[j] for c, a in zip(weights, A, strict=True)) for j in range(p))
    separated = [i for i in range(n) if sides[i] > 0]
    kind = {n: "separable", 0: "inseparable"}.get(len(separated), "quasi-separable")
    return Truth(kind, separated)


def in_cone(rows: Sequence[Point], b: Row) -> bool:
    """Whether b = Σ μ_i a_i with μ ≥ 0; else some w has all ⟨a_i, w⟩ ≥ 0 > ⟨b, w⟩."""
    return _cone([_whole(row) for row in rows], b)[1] is None


def contradiction(rows: Sequence[Point], weak: Sequence[bool] | None = None) -> list[int] | None:
    """Rows that no w has right, ⟨a_i, w⟩ > 0 or, on weak rows, ≥ 0; None if some w has all right.

    By Farkas, either such a w exists, or Σ λ_i a_i = 0 with λ ≥ 0 that sum to 1 on strict rows.
    """
    strict = [Fraction(1 - bool(weak and weak[i])) for i in range(len(rows))]
    if not any(strict):
        return None
    A = [_whole([*row, one]) for row, one in zip(rows, strict, strict=True)]
    lam, normal = _cone(A, [*[0] * len(rows[0]), 1])
    return None if normal is not None else [i for i, (top, _) in enumerate(lam) if top]


def squared_distance(points: Sequence[Point]) -> Fraction:
    """The square of the distance of the hull of the points from the origin: γ² of rows a_i.

    z is the nearest point exactly if it is in the hull and ⟨z, a⟩ ≥ ⟨z, z⟩ for all a. The
    points that make it up are guessed in floats; if the guess fails, all subsets are tried.
    """
    floats = np.array([[float(value) for value in point] for point in points])
    unit = max(float(np.abs(floats).max()), 1e-300)
    G = np.column_stack([np.ones(len(floats)), floats / unit])
    guess = np.flatnonzero(nnls(G.T, np.eye(G.shape[1])[0])[0] > 0.0).tolist()
    sizes = range(1, len(points[0]) + 2)
    subsets = chain.from_iterable(combinations(range(len(points)), k) for k in sizes)
    answers = (_nearest(points, subset) for subset in chain([guess], subsets))
    return next(answer for answer in answers if answer is not None)


def _nearest(points: Sequence[Point], subset: Sequence[int]) -> Fraction | None:
    """The answer, if the nearest point of the hull is a combination of just these."""
    used = [points[i] for i in subset]
    gram = [[*[inner(a, b) for b in used], Fraction(-1)] for a in used]
    gram.append([*[Fraction(1)] * len(used), Fraction(0)])
    found = solve(gram, [Fraction(0)] * len(used) + [Fraction(1)])
    if found is None or min(found[:-1]) < 0:
        return None
    z = [inner(found[:-1], column) for column in zip(*used, strict=True)]
    square = inner(z, z)
    return square if all(inner(z, a) >= square for a in points) else None


def inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """⟨a, b⟩."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def solve(M: Sequence[Point], b: Sequence[Fraction]) -> Point | None:
    """The solution of Mx = b by elimination, None where M is singular."""
    rows = [[*row, value] for row, value in zip(M, b, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def _cone(A: list[Row], b: Row) -> tuple[list[tuple[int, int]], Row | None]:
    """Fractions μ ≥ 0 with Σ μ_i a_i = b; or w with all ⟨a_i, w⟩ ≥ 0 > ⟨b, w⟩.

    Phase one of the simplex method. The tableau is kept in integers: it is ``unit`` times
    the usual one, and every division is exact (Edmonds 1967, Bareiss 1968).
    """
    n, p = len(A), len(b)
    flip = [-1 if value < 0 else 1 for value in b]
    table = [
        [flip[j] * a[j] for a in A] + [int(j == k) for k in range(p)] + [flip[j] * b[j]]
        for j in range(p)
    ]
    cost = [-sum(row[k] for row in table) * (k < n or k == n + p) for k in range(n + p + 1)]
    basis = list(range(n, n + p))
    unit = 1
    while (enter := next((k for k in range(n) if cost[k] < 0), None)) is not None:
        able = [j for j in range(p) if table[j][enter] > 0]
        leave = min(able, key=lambda j: (Fraction(table[j][-1], table[j][enter]), basis[j]))
        row, pivot = table[leave], table[leave][enter]
        table = [
            other if other is row else _eliminate(other, row, enter, pivot, unit) for other in table
        ]
        cost = _eliminate(cost, row, enter, pivot, unit)
        basis[leave], unit = enter, pivot
    if cost[-1] == 0:
        at = {k: table[j][-1] for j, k in enumerate(basis)}
        return [(at.get(i, 0), unit) for i in range(n)], None
    return [], [sign * (value - unit) for sign, value in zip(flip, cost[n : n + p], strict=True)]


def _eliminate(other: Row, row: Row, k: int, pivot: int, unit: int) -> Row:
    factor = other[k]
    return [(a * pivot - factor * b) // unit for a, b in zip(other, row, strict=True)]


def _whole(row: Point) -> Row:
    """A positive multiple of a row whose entries are integers."""
    scale = math.lcm(*(value.denominator for value in row))
    whole = [int(value * scale) for value in row]
    common = math.gcd(*whole) or 1
    return [value // common for value in whole]


def _dot(a: Row, b: Row) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))
