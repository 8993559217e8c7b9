"""The partition of the rows into rows that can be separated and rows that cannot.

Objective
    Find w and λ ≥ 0 with ⟨a_i, w⟩ ≥ 0 on all rows, Σ λ_i a_i = 0, and for every row either
    ⟨a_i, w⟩ > 0 (the rows I) or λ_i > 0 (the rows J). For every set of rows, such a w and such a λ
    exist.
Input
    The signed rows a_i.
Output
    A `Partition` with I, J, w and λ; or a `Dependence`: a contradiction among some rows.

There are two methods:

* *A simplex* (`simplex_proof`). Let p + 1 rows have Σ λ_i a_i = 0 with λ > 0, and let p of them be
  linearly independent. Then every w with ⟨a_i, w⟩ ≥ 0 on these rows is orthogonal to all of them,
  so that w = 0. Therefore all rows are in J. One verified linear solve proves this. (Every vector
  is a non-negative combination of these p + 1 rows, in particular the vector −Σ a_i. Therefore a
  λ > 0 on all rows exists, as in Stiemke's theorem.)
* *Facial reduction* (`partition`). Project −Σ a_i on the cone of the rows. If −Σ a_i is in the
  cone, all rows are in J. Otherwise let w be minus the residual. Then ⟨a_i, w⟩ > 0 on some rows and
  ⟨a_i, w⟩ = 0 on the others. Repeat with the rows where the product is 0. The arithmetic is exact,
  because the method must decide whether a number is exactly 0.

References
----------
Gordan, P. (1873). Über die Auflösung linearer Gleichungen mit reellen Coefficienten. *Mathematische
Annalen* 6, 23-28.

Stiemke, E. (1915). Über positive Lösungen homogener linearer Gleichungen. *Mathematische Annalen*
76, 340-342.

Borwein, J. M. and Wolkowicz, H. (1981). Facial reduction for a cone-convex programming problem.
*Journal of the Australian Mathematical Society A* 30(3), 369-380.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector, as_dense
from novikoff.core.stops import Limits
from novikoff.geometry.corral import Objective, minimise, start_rows
from novikoff.geometry.parts import RowSet
from novikoff.geometry.passes import LocalPasses, Passes, check_time
from novikoff.geometry.rational import exact_multipliers, project_on_cone
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum
from novikoff.geometry.view import View
from novikoff.proofs import exact
from novikoff.proofs.dependence import Dependence

# To find floats with the same signs as an exact w, up to this many multiples of w are rounded.
_TRIES = 64
# A linear program suggests rows for an exact projection only if there are at least this many.
_MANY = 48
# Multipliers below this share of the largest multiplier are treated as rounding errors.
_FIRM_SHARE = 1e-9


@dataclass(frozen=True)
class Partition:
    """The rows I, called ``separated``, and the rows J, called ``rows_left``, with their proof.

    ``w`` has ⟨a_i, w⟩ > 0 on I and ⟨a_i, w⟩ = 0 on J, and is None if I is empty. ``dependence`` has
    λ > 0 on J, and is None if J is empty.
    """

    separated: RowSet
    rows_left: RowSet
    w: list[Fraction] | None
    dependence: Dependence | None


def partition(
    view: View,
    among: RowSet,
    limits: Limits,
    start: Indices | None = None,
    free: Indices | None = None,
    *,
    one_stage: bool = False,
) -> Partition:
    """Find I and J of the rows ``among`` by facial reduction, in exact arithmetic.

    Each projection starts from the rows ``start``. On the rows ``free``, which are not in
    ``among``, λ may have any sign and ⟨a_i, w⟩ = 0. With ``one_stage``, the search ends with the
    first w, so that I may lack some rows but is not empty.
    """
    passes, rows_left = view.passes, among
    stages: list[tuple[list[Fraction], RowSet]] = []  # each w, and all rows separated so far
    claim = None
    while passes.size(rows_left) > 0 and claim is None:
        total = passes.exact_sum(rows_left, limits)
        guess = guess_rows(view, rows_left, total, limits, start, free)
        if free is None and isinstance(rows_left, np.ndarray):
            guess = vertex_rows(view, np.flatnonzero(rows_left), total, guess, limits)
        nearest = project_on_cone(passes, rows_left, total, view.columns, guess, limits, free)
        if nearest.w is None or nearest.signs is None:
            claim = Dependence(tuple(nearest.rows.tolist()), tuple(nearest.multipliers), True, None)
        else:
            rows_left = passes.rows_at_zero(rows_left, nearest.signs)
            stages.append(
                (of_size_one(nearest.w, view.columns), passes.difference(among, rows_left))
            )
            if one_stage:
                return Partition(stages[0][1], rows_left, stages[0][0], None)
    zeros = [rows_left] if free is None else [rows_left, passes.row_set(free)]
    w = combined(passes, stages, zeros, limits) if stages else None
    return Partition(passes.difference(among, rows_left), rows_left, w, claim)


def guess_rows(
    view: View,
    rows_left: RowSet,
    sum_: Sequence[Fraction],
    limits: Limits,
    start: Indices | None = None,
    free: Indices | None = None,
) -> Indices:
    """Return the rows with μ > 0 in the projection of −Σ a_i on the cone, computed in floats.

    ``sum_`` is Σ a_i. The exact projection starts from these rows.
    """
    if view.passes.size(rows_left) == 0:
        return np.empty(0, dtype=np.int64)
    total = view.sum_in_view(sum_)
    size = float(np.abs(total).max(initial=0.0))
    if not 0.0 < size < np.inf:
        return np.empty(0, dtype=np.int64)
    objective = Objective(view, np.append(0.0, -total / size), 0.0, within=rows_left)
    if free is not None:
        objective = replace(objective, free=free)
    begin = np.empty(0, dtype=np.int64)
    if start is not None:
        begin = view.passes.members_of(rows_left, start)
    elif isinstance(rows_left, np.ndarray):
        begin = start_rows(view, rows_left)
    return minimise(objective, begin, 1e-9, limits, lambda _: False).rows


def vertex_rows(
    view: View, candidates: Indices, sum_: Sequence[Fraction], guess: Indices, limits: Limits
) -> Indices:
    """Return rows for the exact projection to start from: ``guess``, or those of a vertex.

    If the rows ``guess`` are linearly dependent, or negative multipliers are needed on them, then
    the exact projection would drop most of them and would admit others one by one. With many rows,
    a linear program suggests better ones: it finds μ ≥ 0 that minimises ‖Σ μ_i a_i − b‖₁ for
    b = −Σ a_i, over the rows ``candidates``. At a vertex the rows with μ > 0 are independent. The
    arithmetic is that of floats: the rows are only a suggestion.
    """
    total = view.sum_in_view(sum_)
    size = float(np.abs(total).max(initial=0.0))
    if len(guess) < _MANY or not 0.0 < size < np.inf or not isinstance(view.passes, LocalPasses):
        return guess
    with np.errstate(all="ignore"):
        guessed = as_dense(view.gather(guess))
        if not np.isfinite(guessed).all():
            return guess
        try:
            mu, _, rank, _ = np.linalg.lstsq(guessed.T, -total / size, rcond=None)
        except np.linalg.LinAlgError:
            return guess
    if rank == len(guess) and np.count_nonzero(mu <= 0.0) <= len(guess) // 8:
        return guess
    import scipy.sparse as sp

    rows = sp.csr_array(view.gather(candidates))
    n, p = rows.shape
    slack = sp.eye_array(p)
    answer = suggested_optimum(
        np.append(np.zeros(n), np.ones(2 * p)),
        limits,
        A_eq=sp.hstack([rows.T, slack, -slack], format="csc"),
        b_eq=-total / size,
    )
    return candidates[answer.x[:n] > 0.0] if isinstance(answer, FloatOptimum) else guess


def combined(
    passes: Passes,
    stages: list[tuple[list[Fraction], RowSet]],
    zeros: Sequence[RowSet],
    limits: Limits,
) -> list[Fraction]:
    """Combine the w of all stages: w_1 + ε·w_2 + ε²·w_3 + …, with ε > 0 small.

    ε is so small that every row that some stage separates stays separated. The products with the
    rows ``zeros`` stay 0.
    """
    w, separated = stages[0]
    for direction, separated in stages[1:]:
        epsilon, shift, lost = Fraction(1 << 20), 0, True
        while lost:
            check_time(limits)
            shift += 4  # ε becomes smaller ever faster, because some rows need hundreds of bits
            epsilon /= 1 << shift
            sum_ = [a + epsilon * b for a, b in zip(w, direction, strict=True)]
            visit = passes.exact_signs(exact.numbers(sum_), separated, limits)
            lost = visit.positive < passes.size(separated)
        w = sum_
    return _shorter_weights(passes, w, separated, zeros, limits)


def of_size_one(w: list[Fraction], columns: Vector) -> list[Fraction]:
    """Return w times a power of two, so that its largest entry in the view is about one."""
    sizes = [abs(value) / Fraction(float(c)) for value, c in zip(w, columns, strict=False)]
    largest = max(sizes)
    e = largest.numerator.bit_length() - largest.denominator.bit_length()
    return [value / Fraction(2) ** e for value in w]


def _shorter_weights(
    passes: Passes,
    w: list[Fraction],
    separated: RowSet,
    zeros: Sequence[RowSet],
    limits: Limits,
) -> list[Fraction]:
    """Return floats near a multiple of w if they give every product the right sign, else w."""
    near = exact.numbers(w)
    zeros = [rows for rows in zeros if passes.size(rows) > 0]
    for turn in range(_TRIES):
        stretch = 1 + Fraction(turn, _TRIES)  # the multiples of w round differently
        floats = [
            Fraction(float(value))
            for value in exact.numbers([stretch * int(value) for value in near.whole]).near
        ]
        short = exact.numbers(floats)
        visit = passes.exact_signs(short, separated, limits)
        if (
            any(floats)
            and visit.positive == passes.size(separated)
            and all(passes.exact_signs(short, z, limits).zero == passes.size(z) for z in zeros)
        ):
            return floats
        if zeros:  # rounded weights hardly ever have products that are exactly 0
            break
    return w


def prove_contradiction(
    view: View, rows: Indices, multipliers: Vector, limits: Limits
) -> Dependence | None:
    """Prove that no w separates these rows: Σ λ_i a_i = 0 for a λ ≥ 0 that is not 0 (Gordan).

    The ``multipliers`` are approximate λ. Rows whose λ is not larger than rounding errors are left
    out, because a contradiction among fewer rows is easier to prove and to read. Returns None if
    there is no proof.
    """
    passes = view.passes
    if len(rows) == 0:
        return None
    firm = multipliers > _FIRM_SHARE * multipliers.max()
    block = passes.block(rows[firm])
    used = np.flatnonzero(block.spread(np.abs(block.A).max(axis=0)))
    claim = simplex_proof(passes, rows[firm], multipliers[firm], used)
    if claim is None:
        claim = _exact_simplex_proof(passes, rows[firm], multipliers[firm], limits)
    if claim is not None:
        return claim
    subset = passes.subset(rows)
    parts = partition(view.restricted_to(subset, rows), subset.all_rows(), limits)
    if parts.dependence is None:
        return None
    among = rows[subset.members_of(parts.rows_left, np.arange(subset.n))]
    named = rows[list(parts.dependence.rows)]
    return replace(parts.dependence, rows=tuple(named.tolist()), among=tuple(among.tolist()))


def simplex_proof(
    passes: Passes, rows: Indices, multipliers: Vector, used: Indices
) -> Dependence | None:
    """Prove by a verified linear solve that the origin is inside the simplex of p + 1 rows.

    λ is 1 on the row with the largest multiplier. The other rows are a basis, on which λ = 1 + μ.
    ``used`` are the p columns that are not all zero. Returns None if there is no proof.
    """
    if len(rows) != len(used) + 1:
        return None
    A = passes.at(rows)
    A = A if len(used) == passes.p else A[:, used]
    last = int(np.argmax(multipliers))
    basis = np.delete(rows, last)
    sums = exact.as_fractions([-total for total in exact.column_sums(A)])
    enclosure = exact.enclose(np.delete(A, last, axis=0).T, sums)
    if enclosure is None:
        return None
    mu, radius = enclosure
    # The checker accepts multipliers with a relative error of 1e-6.
    if not ((mu - radius > -1.0) & (radius <= 1e-7 * (1.0 + np.abs(mu)))).all():
        return None
    approximate = tuple(Fraction(float(value)) for value in mu)
    return Dependence(tuple(basis.tolist()), approximate, False, tuple(rows.tolist()))


def _exact_simplex_proof(
    passes: Passes, rows: Indices, multipliers: Vector, limits: Limits
) -> Dependence | None:
    """Prove what `simplex_proof` proves, in exact arithmetic; None if there is no proof."""
    if len(rows) < 2:
        return None
    last = int(np.argmax(multipliers))
    basis = np.delete(rows, last)
    factors = exact_multipliers(passes, basis, int(rows[last]), limits)
    if factors is None or not all(value > 0 for value in factors):
        return None
    less_one = tuple(value - 1 for value in factors)
    return Dependence(tuple(basis.tolist()), less_one, True, tuple(rows.tolist()))


def short_contradiction(
    view: View, rows_left: RowSet, start: Indices, limits: Limits
) -> Dependence | None:
    """Return a contradiction among few rows of J: −a_j = Σ μ_i a_i for the first row j of J.

    ``rows_left`` is J. The search starts from the rows ``start``. Returns None if there is none.
    """
    passes = view.passes
    target = passes.first_row(rows_left, limits)
    others = passes.difference(rows_left, passes.row_set(target))
    total = passes.exact_sum(passes.row_set(target), limits)
    guess = guess_rows(view, others, total, limits, start)
    nearest = project_on_cone(passes, others, total, view.columns, guess, limits)
    if nearest.w is not None:
        return None
    multipliers = tuple(mu - 1 for mu in nearest.multipliers)
    among = np.sort(np.append(nearest.rows, target))
    return Dependence(tuple(nearest.rows.tolist()), multipliers, True, tuple(among.tolist()))
