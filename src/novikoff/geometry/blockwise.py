"""Rounds of a verdict on blocks: decide for a selection, look at all rows, let some join."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

import numpy as np

from novikoff.core.cores import cores
from novikoff.core.orders import Cyclic
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.updates import Perceptron
from novikoff.geometry import exact
from novikoff.geometry.checker import Dependence
from novikoff.geometry.exact import Numbers
from novikoff.geometry.faces import room_to_project
from novikoff.geometry.inquiry import Finding, inquire, pursued, spread
from novikoff.geometry.margin import Interval, Weighing, weigh
from novikoff.geometry.min_norm import room_for
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import project_point
from novikoff.geometry.room import Room
from novikoff.geometry.selection import Selection, Table, Worst, renumbered
from novikoff.geometry.table import SignedRows
from novikoff.geometry.trial import Trial, padded, signs_under

# Passes of the perceptron before the first selection, and where all else does not fit.
_EPOCHS, _MANY_EPOCHS = 3, 200
# Where a corral as wide as the rows may not fit, it goes on until its mistakes are not fewer after
# so many passes.
_PATIENCE: Final = 10
# Rows that join at a time, at least; of dense rows so many entries, of sparse ones so many rows.
_BATCH: Final = 512
_ENTRIES, _MORE_ENTRIES, _SPARSE_ROWS = 1 << 20, 1 << 22, 1 << 12
# Rows join in steps of so small a share of the room at most.
_STEPS: Final = 16


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
        self.room = Room(getattr(table.source, "max_memory", None))
        self.batch = _batch(table, self.room)
        self.wide = 32 * table.p**2 > self.room.bytes
        self.w = np.zeros((table.d + 1, 1))  # the perceptron's
        self.bounds = math.inf, math.inf  # on the margins, when rows were last let go

    def pursue(self) -> None:
        self._train()
        if self.goal != "kind" or self.found.kind is None:
            self._go_on()
        if self.found.kind is None and self.found.wanted > 0:
            self._train_on()

    def _go_on(self) -> None:
        """Round by round, until nothing is left to prove, or there is no room for it."""
        while self.limits.reached() is None:
            inner, before = self._decide(), self.selection.numbers
            self.found.wanted = self._wanted(inner.wanted)
            if inner.kind is None:
                return
            joined = self._try(inner) if inner.kind == "separable" else self._transfer(inner)
            stuck = inner.wanted > 0 and self.found.kind == "separable"
            if joined == 0 or stuck or not self._fits(inner, before):
                return

    def _fits(self, inner: Finding, before: Indices) -> bool:
        """Whether the selection has room, if need be without rows that carry nothing.

        These may go only if the bounds on the margins have come down since the last time:
        else the same rows could come and go for ever.
        """
        selection, most = self.selection, self.room.selection
        if selection.nbytes <= most:
            return True
        hi = inner.margin.hi, math.inf if inner.gap is None else inner.gap.margin.hi
        less = 1.0 - self.tol / 64.0
        lower = any(new < less * old for new, old in zip(hi, self.bounds, strict=True))
        if inner.kind == "separable" and lower:
            self.bounds = hi
            gap = inner.support[:0] if inner.gap is None else inner.gap.rows
            carrying = before[np.union1d(inner.support, gap)]
            selection.keep(np.union1d(carrying, np.setdiff1d(selection.numbers, before)))
        if selection.nbytes > most:
            self.found.wanted = 2 * self.room.bytes * selection.nbytes // most
            return False
        return True

    def _left(self) -> int:
        """The bytes that may be taken beside the selection."""
        return self.room.beside(self.selection.nbytes)

    def _wanted(self, beside: int) -> int:
        """The room in which so many bytes would be left beside the selection, 0 for none."""
        return self.room.with_more(beside - self._left()) if beside > 0 else 0

    def _train(self) -> None:
        """Run the perceptron; rows that it erred on, and those nearest to its w, are a start."""
        chance = np.random.default_rng(0)
        fewest = wrong = self.table.n + 1
        epoch, end = 0, _EPOCHS
        while epoch < end and wrong > 0:
            erred = Worst(self.batch if epoch < _EPOCHS else 0)
            wrong, epoch = self._pass(chance, erred), epoch + 1
            erred.move_to(self.selection)
            if self.wide and wrong < fewest:
                fewest, end = wrong, min(epoch + _PATIENCE, _MANY_EPOCHS)
        nearest = Worst(self.batch)
        for part in self.table.parts(self.limits):
            m = part.data.products(np.ascontiguousarray(self.w[:, 0]))
            nearest.note(part, np.arange(part.data.n), m)
        nearest.move_to(self.selection)
        if wrong == 0:
            self._note_clean()

    def _train_on(self) -> None:
        """Leave it to the perceptron."""
        chance = np.random.default_rng(0)
        for _ in range(_MANY_EPOCHS):
            if self._pass(chance, Worst(0)) == 0:
                self._note_clean()
                return

    def _pass(self, chance: np.random.Generator, erred: Worst) -> int:
        """Let the perceptron go through all rows once; on how many it was wrong."""
        wrong, limits = 0, self.limits
        for part in self.table.parts(limits):
            brief = Limits(epochs=1, seconds=limits.left())
            try:
                ended = run(
                    part.data.problem,
                    Perceptron(),
                    Cyclic(),
                    brief,
                    chance,
                    start=self.w,
                    threads=cores(),
                )
            except ValueError:  # the weights left the range of float64
                return self.table.n
            limits.interrupted |= brief.interrupted
            rows = np.flatnonzero(ended.ledger.counts[:, 0])
            erred.note(part, rows, chance.random(len(rows)))
            self.w, wrong = ended.W, wrong + len(rows)
        return wrong

    def _note_clean(self) -> None:
        """Take the perceptron's w into account; γ is bounded by the selection."""
        selection, intercept = self.selection, self.table.fit_intercept
        rows = cast("Floats | SparseMatrix", selection.matrix)
        problem = pose(rows, selection.signs, intercept)
        data = Data(problem, SignedRows(selection.matrix, selection.signs, intercept))
        n = min(data.n, self.batch)
        bound = weigh(data, np.arange(n), np.ones(n), self.tol)
        found = Finding(Interval(0.0, bound.bound), weighing=bound, support=bound.rows)
        found.w = [Fraction(float(value)) for value in self.w[: self.table.p, 0]]
        self._try(found)

    def _decide(self) -> Finding:
        """The finding on the selection, its rows numbered as in the selection."""
        selection, intercept = self.selection, self.table.fit_intercept
        small, columns = selection.compact()
        rows = cast("Floats | SparseMatrix", small)
        problem = pose(rows, selection.signs, intercept, threads=cores())
        left = self._left()
        data = Data(problem, SignedRows(small, selection.signs, intercept), left)
        if room_for(data, 1) > left:
            return Finding(Interval(0.0, math.inf), wanted=room_for(data, 1))
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
        trial = Trial(inner, found.margin.hi, self.table, self.goal, self.tol, self.batch)
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
                rows = rows[signs_under(part, within)[rows] == 0]
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
            signs = signs_under(part, w)
            rows = np.flatnonzero(signs < 0)
            wrong.note(part, rows, np.zeros(len(rows)))
            apart.append(part.first + np.flatnonzero(signs > 0))
            left = np.flatnonzero(signs == 0)
            for _, A in part.data.table.parts(left):
                more = exact.column_sums(A)
                sums = [a + b for a, b in zip(sums, more, strict=True)]
        if len(wrong.numbers) > 0:
            return wrong.move_to(self.selection)
        selection = self.selection
        chosen = SignedRows(selection.matrix, selection.signs, table.fit_intercept)
        among = np.setdiff1d(np.arange(len(selection.signs)), inner.separated)
        b = [-value for value in exact.as_fractions(sums)]
        start = np.array(claim.rows, dtype=np.int64)
        if (wanted := room_to_project(len(start), table.p)) > self._left():
            found.wanted = self._wanted(wanted)
            return 0
        nearest = project_point(chosen, among, b, np.ones(table.p), start, self.limits)
        if nearest.w is None:
            found.kind = "inseparable" if inner.w is None else "quasi-separable"
            found.w, found.separated = inner.w, np.concatenate(apart)
            numbers = tuple(selection.numbers[nearest.rows].tolist())
            found.dependence = Dependence(numbers, tuple(nearest.multipliers), True, None)
            return 0
        return self._join_off(padded(exact.numbers(nearest.w).near, table.d), w)


def _batch(table: Table, room: Room) -> int:
    """How many rows join at a time."""
    if table.sparse:
        mean = max(1, table.entries // max(1, table.n))
        most = min(_SPARSE_ROWS, room.bytes // (16 * _STEPS * mean))
        return max(64, min(max(_BATCH, 2 * table.p), most))
    entries = min(max(_ENTRIES, min(room.bytes // 128, _MORE_ENTRIES)), room.bytes // (8 * _STEPS))
    return max(8, min(max(_BATCH, 2 * table.p), entries // (table.p + 1)))


def _moved(claim: Dependence | None, numbers: Indices) -> Dependence | None:
    return None if claim is None else renumbered(claim, numbers)
