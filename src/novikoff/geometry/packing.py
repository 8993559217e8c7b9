"""How many mistakes every rule must make, at least (C5).

Rows that contradict each other (Gordan: λ > 0 with Σ λ_i a_i = 0) cannot all be right, whatever
the hyperplane. Contradictions that share no row each cost a mistake of their own: k of them
prove that every hyperplane errs at least k times; where mistakes have costs, each costs the
least among its rows. A row with ⟨a_i, w⟩ = 0 is a mistake here: y·f ≤ 0.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.checker import Dependence
from novikoff.geometry.duplicates import all_opposite_duplicates
from novikoff.geometry.faces import contradiction
from novikoff.geometry.min_norm import (
    Answer,
    View,
    balanced_view,
    nearest_point,
    search,
    start_rows,
)
from novikoff.geometry.passes import OutOfTimeError, Passes


class Packing:
    """Contradictions without a common row, found one after another.

    ``bound`` is what the mistakes of any hyperplane cost at least, exactly. ``complete`` says that
    the remaining rows can be separated; ``w`` separates all rows, if the first search found it.
    ``candidate`` is a contradiction that `seek` has found and nobody has proved yet.

    Examples
    --------
    >>> from novikoff.core.problem import pose
    >>> from novikoff.geometry.passes import LocalPasses
    >>> X, signs = np.array([[0.0], [0.0], [1.0]]), np.array([1, -1, 1], dtype=np.int8)
    >>> packing = Packing(LocalPasses(pose(X, signs, True)))
    >>> packing.take_duplicates(Limits())
    >>> packing.bound, packing.contradictions[0].among
    (Fraction(1, 1), (0, 1))
    """

    def __init__(self, passes: Passes, costs: Vector | None = None) -> None:
        self.passes = passes
        self.costs = np.ones(passes.n) if costs is None else costs
        self.contradictions: list[Dependence] = []
        self.bound = Fraction(0)
        self.complete = False
        self.w: Vector | None = None
        self._left = self.costs > 0.0
        self._view: View | None = None
        self._start = np.empty(0, dtype=np.int64)
        self.candidate: Answer | None = None

    def take_duplicates(self, limits: Limits) -> None:
        """Pairs of identical rows with opposite labels, the dearest first, and zero rows."""
        try:
            for rows in all_opposite_duplicates(self.passes, self.costs.tolist(), limits):
                if self._left[list(rows)].all():
                    self._add(Dependence((), (), True, tuple(sorted(rows))))
        except OutOfTimeError:
            return

    def seek(self, limits: Limits) -> None:
        """Look for rows that contradict each other among those left, without a proof yet."""
        left = self._left
        if not left.any():
            self.complete = True
            return
        if limits.reached() is not None:
            return
        try:
            if self._view is None:
                self._view = balanced_view(self.passes, limits)
            question = nearest_point(self._view, within=None if left.all() else left)
            start = self._start[left[self._start]]
            start = start if len(start) > 0 else start_rows(self._view, left)
            self.candidate = search(question, start, 1e-3, limits, self._separated)
        except OutOfTimeError:
            return

    def take_next(self, limits: Limits) -> bool:
        """Find one more contradiction and prove it; False if there is none, or no time."""
        if self.candidate is None:
            self.seek(limits)
        answer, self.candidate = self.candidate, None
        if self.complete or answer is None or self._view is None or limits.reached() is not None:
            return False
        try:
            with np.errstate(all="ignore"):
                claim = contradiction(self._view, answer.rows, answer.weights, limits)
        except OutOfTimeError:
            return False
        if claim is None:
            return False
        self._start = np.setdiff1d(answer.working, claim.among or ())
        self._add(claim)
        return True

    def _separated(self, answer: Answer) -> bool:
        """Whether the search has found weights that separate what is left."""
        if not min(answer.seen.low.values()) > 0.0:
            return False
        if self._left.all() and not self.contradictions:
            if answer.seen.proof is None or not answer.seen.proof.separates:
                return False
            self.w = answer.w
        self.complete = True
        return True

    def _add(self, claim: Dependence) -> None:
        among = list(claim.among or ())
        self.contradictions.append(claim)
        self._left[among] = False
        self.bound += Fraction(float(self.costs[among].min()))
