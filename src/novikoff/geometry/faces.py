"""Which rows can be separated at all: the partition into I and J, proved (C1, C2).

For every set of rows there are w and λ ≥ 0 with ⟨a_i, w⟩ ≥ 0, Σ λ_i a_i = 0, and either
⟨a_i, w⟩ > 0 (rows I) or λ_i > 0 (rows J). Two ways lead to them:

* *One stroke.* If p + 1 rows have 0 inside their simplex, Σ λ_i a_i = 0 with λ > 0 and p of
  them independent, every w with ⟨a_i, w⟩ ≥ 0 is orthogonal to them all, hence zero: all rows
  are J. One verified solve proves it. (Such rows span everything positively, −Σ a_i among
  it, from which Stiemke's λ > 0 on all rows follows.)
* *Facial reduction.* Project −Σ a_i on the cone of the rows. Where it lies in the cone, the
  rows are J. Else the residual w separates some of them, weakly the others; those at zero
  are projected anew. Here zero matters, and arithmetic is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Objective, minimise, start_rows
from novikoff.geometry.passes import Passes, check_time
from novikoff.geometry.rational import balance, project
from novikoff.geometry.view import View
from novikoff.geometry.visits import RowSet
from novikoff.proofs import exact
from novikoff.proofs.dependence import Dependence

# How many multiples of an exact w are rounded, to find one that separates in floats.
_TRIES = 64
# Weights below this share of the largest are taken for rounding.
_FIRM = 1e-9


@dataclass(frozen=True)
class Partition:
    """I = ``separated`` and J = ``left``, with what proves them; w is None where I is empty."""

    separated: RowSet
    left: RowSet
    w: list[Fraction] | None
    dependence: Dependence | None


def partition(
    view: View,
    among: RowSet,
    limits: Limits,
    start: Indices | None = None,
    free: Indices | None = None,
) -> Partition:
    """Find I and J of the rows ``among`` by facial reduction, exactly.

    ``start`` are rows to begin the first projection with. On the rows ``free``, not among the
    others, λ may have any sign and ⟨a_i, w⟩ = 0.
    """
    passes, left = view.passes, among
    stages: list[tuple[list[Fraction], RowSet]] = []  # w, and all rows separated until then
    claim = None
    while passes.size(left) > 0 and claim is None:
        total = passes.exact_sum(left, limits)
        guess = guess_rows(view, left, total, limits, start, free)
        found = project(passes, left, total, view.columns, guess, limits, free)
        if found.w is None or found.seen is None:
            claim = Dependence(tuple(found.rows.tolist()), tuple(found.multipliers), True, None)
        else:
            left = passes.rows_at_zero(left, found.seen)
            stages.append((of_size_one(found.w, view.columns), passes.difference(among, left)))
    zeros = [left] if free is None else [left, passes.row_set(free)]
    w = combined(passes, stages, zeros, limits) if stages else None
    return Partition(passes.difference(among, left), left, w, claim)


def guess_rows(
    view: View,
    left: RowSet,
    sum_: Sequence[Fraction],
    limits: Limits,
    start: Indices | None = None,
    free: Indices | None = None,
) -> Indices:
    """The rows that floats would use to write −Σ a_i, for a given sum, or come nearest to it."""
    if view.passes.size(left) == 0:
        return np.empty(0, dtype=np.int64)
    total = view.seen_sum(sum_)
    size = float(np.abs(total).max(initial=0.0))
    if not 0.0 < size < np.inf:
        return np.empty(0, dtype=np.int64)
    objective = Objective(view, np.append(0.0, -total / size), 0.0, within=left)
    if free is not None:
        objective = replace(objective, free=free)
    begin = np.empty(0, dtype=np.int64)
    if start is not None:
        begin = view.passes.members_of(left, start)
    elif isinstance(left, np.ndarray):
        begin = start_rows(view, left)
    return minimise(objective, begin, 1e-9, limits, lambda _: False).rows


def combined(
    passes: Passes,
    stages: list[tuple[list[Fraction], RowSet]],
    zeros: Sequence[RowSet],
    limits: Limits,
) -> list[Fraction]:
    """W = w_1 + ε·w_2 + ε²·w_3 + …, ε so small that no sign is lost; rows ``zeros`` stay at 0."""
    w, separated = stages[0]
    for more, separated in stages[1:]:
        epsilon, shift, lost = Fraction(1 << 20), 0, True
        while lost:
            check_time(limits)
            shift += 4  # longer and longer steps: some rows need an ε of hundreds of bits
            epsilon /= 1 << shift
            sum_ = [a + epsilon * b for a, b in zip(w, more, strict=True)]
            seen = passes.exact_signs(exact.numbers(sum_), separated, limits)
            lost = seen.positive < passes.size(separated)
        w = sum_
    return _shortened(passes, w, separated, zeros, limits)


def of_size_one(w: list[Fraction], columns: Vector) -> list[Fraction]:
    """W times the power of two that makes its largest entry, as seen, about one."""
    seen = [abs(value) / Fraction(float(c)) for value, c in zip(w, columns, strict=False)]
    largest = max(seen)
    e = largest.numerator.bit_length() - largest.denominator.bit_length()
    return [value / Fraction(2) ** e for value in w]


def _shortened(
    passes: Passes,
    w: list[Fraction],
    separated: RowSet,
    zeros: Sequence[RowSet],
    limits: Limits,
) -> list[Fraction]:
    """Floats near a multiple of w, where they do as well."""
    near = exact.numbers(w)
    zeros = [rows for rows in zeros if passes.size(rows) > 0]
    for turn in range(_TRIES):
        stretch = 1 + Fraction(turn, _TRIES)  # each multiple of w is rounded in its own way
        floats = [
            Fraction(float(value))
            for value in exact.numbers([stretch * int(value) for value in near.whole]).near
        ]
        short = exact.numbers(floats)
        seen = passes.exact_signs(short, separated, limits)
        if (
            any(floats)
            and seen.positive == passes.size(separated)
            and all(passes.exact_signs(short, z, limits).zero == passes.size(z) for z in zeros)
        ):
            return floats
        if zeros:  # on a face no rounding is left to chance
            break
    return w


def contradiction(view: View, rows: Indices, weights: Vector, limits: Limits) -> Dependence | None:
    """Prove that no w separates these rows: some λ ≥ 0, not all 0, has Σ λ_i a_i = 0 (Gordan).

    Rows whose weight is nothing but rounding take no part; the fewer, the better.
    """
    passes = view.passes
    if len(rows) == 0:
        return None
    firm = weights > _FIRM * weights.max()
    block = passes.block(rows[firm])
    used = np.flatnonzero(block.spread(np.abs(block.A).max(axis=0)))
    claim = simplex_proof(passes, rows[firm], weights[firm], used)
    if claim is None:
        claim = _in_balance(passes, rows[firm], weights[firm], limits)
    if claim is not None:
        return claim
    few = passes.subset(rows)
    found = partition(view.of(few, rows), few.all_rows(), limits)
    if found.dependence is None:
        return None
    among = rows[few.members_of(found.left, np.arange(few.n))]
    named = rows[list(found.dependence.rows)]
    return replace(found.dependence, rows=tuple(named.tolist()), among=tuple(among.tolist()))


def simplex_proof(
    passes: Passes, rows: Indices, weights: Vector, used: Indices
) -> Dependence | None:
    """Prove by a verified solve that the origin is inside the simplex of p + 1 rows.

    λ is scaled to 1 on the row of the largest weight; the others are a basis, and λ = 1 + μ
    on them. Columns of zeros do not count: ``used`` are the p others.
    """
    if len(rows) != len(used) + 1:
        return None
    A = passes.at(rows)
    A = A if len(used) == passes.p else A[:, used]
    last = int(np.argmax(weights))
    basis = np.delete(rows, last)
    sums = exact.as_fractions([-total for total in exact.column_sums(A)])
    found = exact.enclose(np.delete(A, last, axis=0).T, sums)
    if found is None:
        return None
    mu, radius = found
    # The checker asks for 1e-6.
    if not ((mu - radius > -1.0) & (radius <= 1e-7 * (1.0 + np.abs(mu)))).all():
        return None
    multipliers = tuple(Fraction(float(value)) for value in mu)
    return Dependence(tuple(basis.tolist()), multipliers, False, tuple(rows.tolist()))


def _in_balance(
    passes: Passes, rows: Indices, weights: Vector, limits: Limits
) -> Dependence | None:
    """Prove, exactly, that rows with dependent columns have the origin inside their simplex."""
    if len(rows) < 2:
        return None
    last = int(np.argmax(weights))
    basis = np.delete(rows, last)
    factors = balance(passes, basis, int(rows[last]), limits)
    if factors is None or not all(value > 0 for value in factors):
        return None
    multipliers = tuple(value - 1 for value in factors)
    return Dependence(tuple(basis.tolist()), multipliers, True, tuple(rows.tolist()))


def short_contradiction(
    view: View, left: RowSet, start: Indices, limits: Limits
) -> Dependence | None:
    """A contradiction among the rows J of a partition: −a_j = Σ μ_i a_i for the first of them.

    The search starts from rows of J.
    """
    passes = view.passes
    target = passes.first_row(left, limits)
    others = passes.difference(left, passes.row_set(target))
    total = passes.exact_sum(passes.row_set(target), limits)
    guess = guess_rows(view, others, total, limits, start)
    found = project(passes, others, total, view.columns, guess, limits)
    if found.w is not None:
        return None
    multipliers = tuple(mu - 1 for mu in found.multipliers)
    among = np.sort(np.append(found.rows, target))
    return Dependence(tuple(found.rows.tolist()), multipliers, True, tuple(among.tolist()))
