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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry import exact
from novikoff.geometry.checker import Dependence
from novikoff.geometry.min_norm import Question, View, capacity, room_for, search
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import OutOfTimeError, balance, project
from novikoff.geometry.room import OutOfRoomError

# How many multiples of an exact w are rounded, to find one that separates in floats.
_TRIES = 64
# Weights below this share of the largest are taken for rounding.
_FIRM = 1e-9
# Bytes per entry of a square system that is solved with proof, and of rows in exact numbers.
_SOLVE, _EXACT = 40, 300


@dataclass(frozen=True)
class Partition:
    """I = ``separated`` and J, the rest, with what proves them; w is None where I is empty."""

    separated: Indices
    w: list[Fraction] | None
    dependence: Dependence | None


def contradiction(view: View, rows: Indices, weights: Vector, limits: Limits) -> Dependence | None:
    """Prove that no w separates these rows: some λ ≥ 0, not all 0, has Σ λ_i a_i = 0 (Gordan).

    Rows whose weight is nothing but rounding take no part; the fewer, the better.
    """
    firm = weights > _FIRM * weights.max()
    used = np.flatnonzero(view.data.table.at(rows[firm]).any(axis=0))
    claim = _in_simplex(view.data, rows[firm], weights[firm], used)
    if claim is None:
        claim = _in_balance(view.data, rows[firm], weights[firm], limits)
    if claim is not None:
        return claim
    found = partition(view, np.unique(rows), limits)
    if found.dependence is None:
        return None
    among = np.setdiff1d(rows, found.separated)
    return replace(found.dependence, among=tuple(among.tolist()))


def one_stroke(data: Data, rows: Indices, weights: Vector) -> Dependence | None:
    """Prove by a verified solve that p + 1 rows have the origin inside their simplex.

    λ is scaled to 1 on the row of the largest weight; the others are a basis, and λ = 1 + μ
    on them. Columns of zeros do not count.
    """
    used = np.arange(data.p)
    if len(rows) != data.p + 1:
        used = np.flatnonzero(data.peaks[: data.p])
    return _in_simplex(data, rows, weights, used)


def _in_simplex(data: Data, rows: Indices, weights: Vector, used: Indices) -> Dependence | None:
    """Prove that the origin is inside the simplex of rows, one more than columns that count."""
    if len(rows) != len(used) + 1:
        return None
    _check_room(data, _SOLVE * len(rows) ** 2)
    A = data.table.at(rows)
    A = A if len(used) == data.p else A[:, used]
    last = int(np.argmax(weights))
    basis = np.delete(rows, last)
    sums = exact.as_fractions([-total for total in exact.column_sums(A)])
    A = np.delete(A, last, axis=0)
    found = exact.enclose(A.T, sums)
    if found is None:
        return None
    mu, radius = found
    # The checker asks for 1e-6.
    if not ((mu - radius > -1.0) & (radius <= 1e-7 * (1.0 + np.abs(mu)))).all():
        return None
    multipliers = tuple(Fraction(float(value)) for value in mu)
    return Dependence(tuple(basis.tolist()), multipliers, False, tuple(rows.tolist()))


def _in_balance(data: Data, rows: Indices, weights: Vector, limits: Limits) -> Dependence | None:
    """Prove, exactly, that rows with dependent columns have the origin inside their simplex."""
    if len(rows) < 2:
        return None
    _check_room(data, room_to_project(len(rows), data.p))
    last = int(np.argmax(weights))
    basis = np.delete(rows, last)
    factors = balance(data.table, basis, int(rows[last]), limits)
    if factors is None or not all(value > 0 for value in factors):
        return None
    multipliers = tuple(value - 1 for value in factors)
    return Dependence(tuple(basis.tolist()), multipliers, True, tuple(rows.tolist()))


def short_contradiction(view: View, rows: Indices, limits: Limits) -> Dependence | None:
    """A contradiction among the rows J of a partition: −a_j = Σ μ_i a_i for the first of them."""
    target, others = rows[:1], rows[1:]
    guess = _guess(view, others, target, others[:0], limits)
    _check_room(view.data, room_to_project(len(guess), view.data.p))
    columns = view.columns[: view.data.p]
    found = project(view.data.table, others, target, columns, guess, limits)
    if found.w is not None:
        return None
    multipliers = tuple(mu - 1 for mu in found.multipliers)
    among = np.sort(np.append(found.rows, target))
    return Dependence(tuple(found.rows.tolist()), multipliers, True, tuple(among.tolist()))


def partition(
    view: View, among: Indices, limits: Limits, start: Indices | None = None
) -> Partition:
    """Find I and J of the rows ``among`` by facial reduction, exactly.

    ``start`` are rows to begin the first projection with.

    Raises
    ------
    OutOfTimeError, OutOfRoomError
        If a limit is reached first, or exact numbers do not fit.
    """
    data = view.data
    left = among
    columns = view.columns[: data.p]
    stages: list[list[Fraction]] = []
    separated: list[Indices] = []
    while len(left) > 0:
        guess = _guess(view, left, left, left[:0] if start is None else start, limits)
        _check_room(data, room_to_project(len(guess), data.p))
        found = project(data.table, left, left, columns, guess, limits)
        if found.w is None:
            claim = Dependence(tuple(found.rows.tolist()), tuple(found.multipliers), True, None)
            return Partition(
                _joined(separated), _combined(data, stages, separated, left, limits), claim
            )
        stages.append(_of_size_one(found.w, view.columns))
        separated.append(left[found.signs > 0])
        left = left[found.signs == 0]
    return Partition(_joined(separated), _combined(data, stages, separated, left, limits), None)


def _guess(view: View, left: Indices, targets: Indices, start: Indices, limits: Limits) -> Indices:
    """The rows that floats would use to write −Σ a_i over the targets, or come nearest to it."""
    data = view.data
    total = np.zeros(data.problem.p)
    stride = min(4096, max(1, (1 << 21) // data.problem.p))
    for first in range(0, len(targets), stride):
        total += data.gather(targets[first : first + stride], view.columns, 0.0)[:, 1:].sum(axis=0)
    size = float(np.abs(total).max(initial=0.0))
    if size == 0.0:
        return left[:0]
    question = Question(view, np.append(0.0, -total / size), 0.0, within=left)
    found = search(question, np.intersect1d(start, left), 1e-9, limits, lambda _: False)
    members, most = len(found.vertices[0]), min(data.p, len(left))
    if data.room is not None and capacity(data) <= members < most:  # it would have gone on
        raise OutOfRoomError(room_for(data, min(2 * members, most)))
    return found.rows


def room_to_project(rows: int, p: int) -> int:
    """The room in which so many rows of p entries can be exact numbers."""
    return _EXACT * rows * p


def _check_room(data: Data, wanted: int) -> None:
    if data.room is not None and wanted > data.room:
        raise OutOfRoomError(wanted)


def _combined(
    data: Data,
    stages: list[list[Fraction]],
    separated: list[Indices],
    left: Indices,
    limits: Limits,
) -> list[Fraction] | None:
    """W = w_1 + ε·w_2 + ε²·w_3 + …, ε so small that no sign is lost."""
    if not stages:
        return None
    w = stages[0]
    for k, more in enumerate(stages[1:], 1):
        wanted = _joined(separated[: k + 1])
        epsilon, shift = Fraction(1 << 20), 0
        while True:
            if limits.reached() is not None:
                raise OutOfTimeError
            shift += 4  # longer and longer steps: some rows need an ε of hundreds of bits
            epsilon /= 1 << shift
            sum_ = [a + epsilon * b for a, b in zip(w, more, strict=True)]
            if _positive(data, wanted, exact.numbers(sum_)):
                w = sum_
                break
    return _shortened(data, w, _joined(separated), left)


def _of_size_one(w: list[Fraction], columns: Vector) -> list[Fraction]:
    """W times the power of two that makes its largest entry, as seen, about one."""
    seen = [abs(value) / Fraction(float(c)) for value, c in zip(w, columns, strict=False)]
    largest = max(seen)
    e = largest.numerator.bit_length() - largest.denominator.bit_length()
    return [value / Fraction(2) ** e for value in w]


def _shortened(data: Data, w: list[Fraction], separated: Indices, left: Indices) -> list[Fraction]:
    """Floats near a multiple of w, where they do as well."""
    near = exact.numbers(w)
    for turn in range(_TRIES):
        stretch = 1 + Fraction(turn, _TRIES)  # each multiple of w is rounded in its own way
        floats = [
            Fraction(float(value))
            for value in exact.numbers([stretch * int(value) for value in near.whole]).near
        ]
        short = exact.numbers(floats)
        if any(floats) and _positive(data, separated, short) and _zero(data, left, short):
            return floats
        if len(left) > 0:  # on a face no rounding is left to chance
            break
    return w


def _positive(data: Data, rows: Indices, w: exact.Numbers) -> bool:
    return all((exact.product_signs(A, w) > 0).all() for A in _blocks(data, rows))


def _zero(data: Data, rows: Indices, w: exact.Numbers) -> bool:
    return all((exact.product_signs(A, w) == 0).all() for A in _blocks(data, rows))


def _blocks(data: Data, rows: Indices) -> Iterator[Vector]:
    for _, A in data.table.parts(rows):
        yield A


def _joined(parts: list[Indices]) -> Indices:
    return np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)
