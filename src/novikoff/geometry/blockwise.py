"""Rounds of a verdict on blocks: decide for a selection, look at all rows, let some join."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

import numpy as np

from novikoff.core.orders import Cyclic
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.updates import Perceptron
from novikoff.geometry import exact
from novikoff.geometry.checker import Dependence
from novikoff.geometry.exact import Numbers, Signs
from novikoff.geometry.hulls import Gap, half_gap, least_by_side, without_bias
from novikoff.geometry.inquiry import Finding, inquire, pursued, spread
from novikoff.geometry.margin import (
    Interval,
    Weighing,
    exact_lower_bound,
    lower_bound,
    separates,
    weigh,
)
from novikoff.geometry.passes import Data, cores
from novikoff.geometry.rational import project_point
from novikoff.geometry.selection import Part, Selection, Table, Worst, renumbered
from novikoff.geometry.table import SignedRows, used_columns

# Passes of the perceptron before the first selection, and where it must do all by itself.
_EPOCHS, _MANY_EPOCHS = 3, 200
# Rows that join at a time, at least; of dense rows so many entries, of sparse ones so many rows.
_BATCH: Final = 512
_ENTRIES, _SPARSE_ROWS = 1 << 20, 1 << 12
# The bytes of a selection; where memory is limited, also of geometry, a share of it.
_MOST_BYTES: Final = 1 << 28
_SHARE: Final = 4


def inquire_blocks(
    table: Table,
    goal: str,
    tol: float,
    limits: Limits,
    progress: Callable[[Interval], None] | None,
) -> Finding:
    """Find and prove the kind of a problem in blocks, and its margins as far as the goal asks.

    What it finds is what `inquire` would, rows being numbered through all blocks.
    """
    return pursued(_Rounds(table, goal, tol, limits, progress), limits)


class _Rounds:
    def __init__(
        self,
        table: Table,
        goal: str,
        tol: float,
        limits: Limits,
        progress: Callable[[Interval], None] | None,
    ) -> None:
        self.table, self.goal, self.tol, self.limits = table, goal, tol, limits
        self.progress = progress
        self.selection = Selection()
        self.found = Finding(Interval(0.0, math.inf))
        most = _SPARSE_ROWS if table.sparse else _ENTRIES // (table.p + 1)
        self.batch = max(64, min(max(_BATCH, 2 * table.p), most))
        memory = getattr(table.source, "max_memory", None)
        self.narrow = memory is None or 16 * table.p**2 <= memory // _SHARE

    def pursue(self) -> None:
        w = self._train()
        if w is not None:
            self._note_clean(w)
        joined = int(self.narrow and (self.goal != "kind" or w is None))
        while joined > 0 and self.limits.reached() is None:
            found = self._decide()
            if found.kind is None:
                return
            joined = self._try(found) if found.kind == "separable" else self._transfer(found)
            if self.selection.nbytes > _MOST_BYTES:
                return

    def _train(self) -> Vector | None:
        """Run the perceptron; rows that it erred on, and those nearest to its w, are a start.

        The w of a clean pass is returned.
        """
        table, limits = self.table, self.limits
        w = np.zeros((table.d + 1, 1))
        chance = np.random.default_rng(0)
        erred, clean = Worst(self.batch), False
        for _ in range(_EPOCHS if self.narrow else _MANY_EPOCHS):
            erred.move_to(self.selection)
            erred, clean = Worst(self.batch), True
            for part in table.parts(limits):
                brief = Limits(epochs=1, seconds=limits.left())
                try:
                    ended = run(
                        part.data.problem,
                        Perceptron(),
                        Cyclic(),
                        brief,
                        chance,
                        start=w,
                        threads=cores(),
                    )
                except ValueError:  # the weights left the range of float64
                    break
                limits.interrupted |= brief.interrupted
                rows = np.flatnonzero(ended.ledger.counts[:, 0])
                erred.note(part, rows, chance.random(len(rows)))
                w, clean = ended.W, clean and len(rows) == 0
            if clean:
                break
        nearest = Worst(self.batch)
        for part in table.parts(limits):
            m = part.data.products(np.ascontiguousarray(w[:, 0]))
            nearest.note(part, np.arange(part.data.n), m)
        erred.move_to(self.selection)
        nearest.move_to(self.selection)
        return np.ascontiguousarray(w[:, 0]) if clean else None

    def _note_clean(self, w: Vector) -> None:
        """Take a w into account that has made no mistake; γ is bounded by the selection."""
        selection, intercept = self.selection, self.table.fit_intercept
        rows = cast("Floats | SparseMatrix", selection.matrix)
        problem = pose(rows, selection.signs, intercept)
        data = Data(problem, SignedRows(selection.matrix, selection.signs, intercept))
        n = min(data.n, self.batch)
        bound = weigh(data, np.arange(n), np.ones(n), self.tol)
        found = Finding(Interval(0.0, bound.bound), weighing=bound, support=bound.rows)
        found.w = [Fraction(float(value)) for value in w[: self.table.p]]
        self._try(found)

    def _decide(self) -> Finding:
        """The finding on the selection, its rows numbered as in the selection."""
        selection, intercept = self.selection, self.table.fit_intercept
        small, columns = used_columns(selection.matrix)
        rows = cast("Floats | SparseMatrix", small)
        problem = pose(rows, selection.signs, intercept, threads=cores())
        data = Data(problem, SignedRows(small, selection.signs, intercept))
        try:
            found = inquire(data, self.goal, self.tol / 4.0, self.limits, None)
        finally:
            data.close()
        if columns is not None:
            if found.w is not None:
                found.w = spread(found.w, columns, self.table.d)
            if found.gap is not None:
                wide = np.zeros(self.table.d + 1)
                wide[columns], wide[-1] = found.gap.w[:-1], found.gap.w[-1]
                found.gap = replace(found.gap, w=wide)
        return found

    def _try(self, inner: Finding) -> int:
        """Try the w that separates the selection on all rows; how many rows join."""
        found = self.found
        self._note_upper(inner)
        trial = _Trial(self, inner)
        for part in self.table.parts(self.limits):
            trial.look_at(part)
        if trial.separates and (found.kind is None or trial.lo > found.margin.lo):
            found.kind, found.w = "separable", inner.w
            found.margin = Interval(min(trial.lo, found.margin.hi), found.margin.hi)
        gap = inner.gap
        if found.kind == "separable":
            found.separated = np.arange(self.table.n)
            found.geometric_margin = Interval(
                max(found.geometric_margin.lo, found.margin.lo, trial.gap_lo),
                found.geometric_margin.hi if gap is None else gap.margin.hi,
            )
            if not self.table.fit_intercept:
                found.geometric_margin = found.margin
            elif self.table.one_sided:
                found.geometric_margin = Interval(math.inf, math.inf)
        if gap is not None:
            numbers = self.selection.numbers[gap.rows]
            found.gap = replace(gap, margin=found.geometric_margin, rows=numbers)
        self._tell()
        if trial.suffices(found):
            return 0
        return trial.nearest.move_to(self.selection) + trial.narrowest.move_to(self.selection)

    def _note_upper(self, inner: Finding) -> None:
        found = self.found
        if inner.weighing is not None and inner.margin.hi < found.margin.hi:
            rows = self.selection.numbers[inner.weighing.rows]
            found.weighing = Weighing(rows, inner.weighing.weights, inner.weighing.bound)
            found.support = np.sort(rows)
            found.margin = Interval(min(found.margin.lo, inner.margin.hi), inner.margin.hi)

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.found.margin)

    def _transfer(self, inner: Finding) -> int:
        """No w separates the selection, hence none all rows; how many rows join for the kind."""
        found, numbers = self.found, self.selection.numbers
        found.margin = found.geometric_margin = Interval(0.0, 0.0)
        found.kind, found.weighing = "not separable", None
        found.w, found.separated = None, numbers[:0]
        found.contradiction = _moved(inner.contradiction, numbers)
        found.support = numbers[inner.support]
        self._tell()
        claim = inner.dependence
        if claim is None:
            return 0
        if claim.among is None:
            return self._balance(inner, claim)
        if len(claim.rows) == int(self.table.used.sum()):  # they span everything
            found.kind, found.dependence = "inseparable", renumbered(claim, numbers)
            return 0
        return self._add_columns()

    def _add_columns(self) -> int:
        """Let rows join that have entries where the selection has none."""
        unseen = self.table.used.copy()
        unseen[: self.table.d] &= ~self.selection.used
        w = np.zeros(self.table.d + 1)
        w[: self.table.p] = np.random.default_rng(0).normal(size=self.table.p) * unseen
        return self._join_off(w)

    def _join_off(self, w: Vector, within: Numbers | None = None) -> int:
        """Let the rows join whose product with w is furthest from zero."""
        worst = Worst(self.batch)
        for part in self.table.parts(self.limits):
            m = part.data.products(w)
            rows = np.flatnonzero(m)
            if within is not None:
                rows = rows[_signs(part, within)[rows] == 0]
            worst.note(part, rows, -np.abs(m[rows]))
        return worst.move_to(self.selection)

    def _balance(self, inner: Finding, claim: Dependence) -> int:
        """Whether w is ≥ 0 everywhere, and the rows at zero balance."""
        found, table = self.found, self.table
        w = None if inner.w is None else exact.numbers(inner.w)
        wrong = Worst(self.batch)
        apart: list[Indices] = []
        sums = [0] * table.p
        for part in table.parts(self.limits):
            signs = _signs(part, w)
            rows = np.flatnonzero(signs < 0)
            wrong.note(part, rows, np.zeros(len(rows)))
            apart.append(part.first + np.flatnonzero(signs > 0))
            left = np.flatnonzero(signs == 0)
            for first in range(0, len(left), 4096):
                more = exact.column_sums(part.data.table.at(left[first : first + 4096]))
                sums = [a + b for a, b in zip(sums, more, strict=True)]
        if len(wrong.numbers) > 0:
            return wrong.move_to(self.selection)
        selection = self.selection
        chosen = SignedRows(selection.matrix, selection.signs, table.fit_intercept)
        among = np.setdiff1d(np.arange(len(selection.signs)), inner.separated)
        b = [-value for value in exact.as_fractions(sums)]
        start = np.array(claim.rows, dtype=np.int64)
        nearest = project_point(chosen, among, b, np.ones(table.p), start, self.limits)
        if nearest.w is None:
            found.kind = "inseparable" if inner.w is None else "quasi-separable"
            found.w, found.separated = inner.w, np.concatenate(apart)
            numbers = tuple(selection.numbers[nearest.rows].tolist())
            found.dependence = Dependence(numbers, tuple(nearest.multipliers), True, None)
            return 0
        return self._join_off(_padded(exact.numbers(nearest.w).near, table.d), w)


class _Trial:
    """What a pass finds out about a w, and about the w of the widest gap."""

    def __init__(self, rounds: _Rounds, inner: Finding) -> None:
        found = rounds.found
        values = inner.w or []
        self.goal, self.tol, self.floats = rounds.goal, rounds.tol, _are_floats(values)
        self.numbers = exact.numbers(values)
        near = [float(value) for value in values] if self.floats else self.numbers.near
        self.w = _padded(np.array(near), rounds.table.d)
        self.enough = 0.0
        if rounds.goal != "kind":
            self.enough = found.margin.hi * float(np.linalg.norm(self.w)) * (1.0 - self.tol / 2.0)
        self.nearest, self.narrowest = Worst(rounds.batch), Worst(rounds.batch)
        self.separates, self.lo, self.gap_lo = True, math.inf, 0.0
        self.gap: Gap | None = inner.gap
        self.least = math.inf, math.inf
        self.doubt = 0.0

    def look_at(self, part: Part) -> None:
        """Take a block into account."""
        data = part.data
        m = data.products(self.w)
        if self.separates:
            self.separates = self._separates(part, m)
        if self.separates and self.floats:
            self.lo = min(self.lo, lower_bound(data, self.w, m, self.tol))
        elif self.separates:
            self.lo = min(self.lo, exact_lower_bound(data, self.numbers))
        rows = np.flatnonzero(~(m > max(self.enough, data.doubt(self.w))))
        self.nearest.note(part, rows, m[rows])
        if self.gap is not None:
            self._look_at_gap(part, self.gap)

    def _look_at_gap(self, part: Part, gap: Gap) -> None:
        data, level = part.data, without_bias(gap.w)
        m = data.products(level)
        self.doubt = max(self.doubt, data.doubt(level))
        positive, negative = least_by_side(m, part.signs)
        self.least = min(self.least[0], positive), min(self.least[1], negative)
        enough = gap.margin.hi * float(np.linalg.norm(level)) * (1.0 - self.tol / 2.0)
        distances = m + part.signs * gap.w[-1]
        rows = np.flatnonzero(~(distances > enough))
        self.narrowest.note(part, rows, distances[rows])
        self.gap_lo = half_gap(level, *self.least, self.doubt)

    def _separates(self, part: Part, m: Vector) -> bool:
        if self.floats:
            return separates(part.data, self.w, m)
        return bool((_signs(part, self.numbers) > 0).all())

    def suffices(self, found: Finding) -> bool:
        """Whether the goal is reached."""
        if found.kind != "separable":
            return False
        if self.goal == "kind":
            return True
        gap = found.geometric_margin
        wide = self.gap is not None and math.isfinite(gap.hi) and gap.relative_width > self.tol
        return not wide and found.margin.relative_width <= self.tol


def _signs(part: Part, w: Numbers | None) -> Signs:
    """The signs of ⟨a_i, w⟩, exactly; no w is zero."""
    data = part.data
    if w is None:
        return np.zeros(data.n, dtype=np.int8)
    near = _padded(w.near, data.problem.p - 1)
    m, doubt = data.products(near), data.doubt(near)
    signs = np.where(np.abs(m) > doubt, np.sign(m), 0.0).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(m) > doubt) | ~np.isfinite(m))
    for first in range(0, len(doubtful), 4096):
        some = doubtful[first : first + 4096]
        signs[some] = exact.product_signs(data.table.at(some), w)
    return signs


def _padded(w: Vector, d: int) -> Vector:
    """Weights with a place for the bias."""
    return np.append(w, np.zeros(d + 1 - len(w)))


def _are_floats(values: list[Fraction]) -> bool:
    try:
        return all(Fraction(float(value)) == value for value in values)
    except OverflowError:
        return False


def _moved(claim: Dependence | None, numbers: Indices) -> Dependence | None:
    return None if claim is None else renumbered(claim, numbers)
