"""Answers by exact brute force, in Python integers and fractions; nothing of novikoff is imported.

These oracles compute the fewest mistakes of any rule, runs of the perceptron without rounding, row
spaces, and comparisons of roots by their squares. Other oracles are in `tests.separability_oracle`
and `tests.system_oracle`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.separability_oracle import Point, contradiction, inner


def is_root(lo: float, square: Fraction, hi: float) -> bool:
    """Whether lo ≤ √square ≤ hi, without rounding."""
    return at_least(square, lo) and at_most(square, hi)


def at_least(square: Fraction, lo: float) -> bool:
    """Whether √square ≥ lo."""
    return lo <= 0.0 or (lo < math.inf and Fraction(lo) ** 2 <= square)


def at_most(square: Fraction, hi: float) -> bool:
    """Whether √square ≤ hi."""
    return hi == math.inf or (hi >= 0.0 and square <= Fraction(hi) ** 2)


def root(square: Fraction, bits: int = 120) -> tuple[Fraction, Fraction]:
    """Fractions below and above √square, with a relative difference of about 2^−bits."""
    if square == 0:
        return Fraction(0), Fraction(0)
    shift = max(0, bits + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    whole = math.isqrt((square.numerator << (2 * shift)) // square.denominator)
    return Fraction(whole, 1 << shift), Fraction(whole + 1, 1 << shift)


def largest_square(rows: Iterable[Point]) -> Fraction:
    """R² = max ‖a_i‖²."""
    return max(inner(row, row) for row in rows)


def products(rows: Iterable[Point], w: Sequence[Fraction]) -> list[Fraction]:
    """⟨a_i, w⟩ of every row."""
    return [inner(row, w) for row in rows]


def fewest_mistakes(
    rows: Sequence[Point], costs: Sequence[Fraction], weak: Sequence[bool] | None = None
) -> Fraction:
    """The least cost of rows to remove, so that some w has ⟨a_i, w⟩ > 0 on all other rows.

    On ``weak`` rows, ⟨a_i, w⟩ = 0 is also correct. If the rows that remain after a removal still
    contradict each other, they give a new contradiction, from which a row must be removed. The
    cheapest set that has a row of each known contradiction is tried next.
    """
    n = len(rows)
    masks = sorted(
        (sum((costs[i] for i in range(n) if mask >> i & 1), Fraction(0)), mask)
        for mask in range(1 << n)
    )
    met: list[int] = []
    for cost, mask in masks:
        while all(mask & other for other in met):
            left = [i for i in range(n) if not mask >> i & 1]
            found = contradiction(
                [rows[i] for i in left], None if weak is None else [weak[i] for i in left]
            )
            if found is None:
                return cost
            met.append(sum(1 << left[k] for k in found))
    raise AssertionError("Without any row there is no contradiction.")


class ExactRun(NamedTuple):
    """A run of the perceptron without rounding."""

    w: list[Point]  # w_0, w_1, … after each update
    rows: list[int]  # the row of each update
    mistakes: int  # updates with ⟨a_i, w⟩ ≤ 0
    ends: list[Point]  # of epochs, w_0 first
    clean: bool


def perceptron(
    rows: Sequence[Point],
    epochs: Iterable[Sequence[int]],
    *,
    start: Point | None = None,
    delta: Fraction = Fraction(0),
    step: Fraction = Fraction(1),
    most: int = 10**9,
) -> ExactRun:
    """Update w ← w + μ·a_i whenever ⟨a_i, w⟩ ≤ δ, until a clean epoch or ``most`` updates."""
    w = [Fraction(0)] * len(rows[0]) if start is None else list(start)
    path, acted, mistakes, ends = [w], list[int](), 0, [w]
    for epoch in epochs:
        before = len(acted)
        for i in epoch:
            m = inner(rows[i], w)
            if m <= delta:
                w = [a + step * b for a, b in zip(w, rows[i], strict=True)]
                path.append(w)
                acted.append(i)
                mistakes += m <= 0
                if len(acted) >= most:
                    return ExactRun(path, acted, mistakes, ends, False)
        ends.append(w)
        if len(acted) == before:
            return ExactRun(path, acted, mistakes, ends, True)
    return ExactRun(path, acted, mistakes, ends, False)


def reduced(rows: Sequence[Point]) -> list[Point]:
    """The reduced echelon form, without rows of zeros: a basis of the row space."""
    left, basis = [list(row) for row in rows], list[Point]()
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in left if row[j]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        pivot = [value / pivot[j] for value in pivot]
        left = [_minus(row, row[j], pivot) for row in left]
        basis = [_minus(row, row[j], pivot) for row in basis] + [pivot]
    return basis


def spans(rows: Sequence[Point], j: int) -> bool:
    """Whether e_j is in the row space, so that all ⟨a_i, w⟩ together determine the weight j."""
    return any(row[j] and sum(map(bool, row)) == 1 for row in reduced(rows))


def _minus(row: Point, factor: Fraction, other: Point) -> Point:
    return [a - factor * b for a, b in zip(row, other, strict=True)]
