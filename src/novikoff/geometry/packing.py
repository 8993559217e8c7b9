"""How many mistakes every rule must make, at least (C5).

Rows that contradict each other (Gordan: λ > 0 with Σ λ_i a_i = 0) cannot all be right, whatever
the hyperplane. Contradictions that share no row each cost a mistake of their own: k of them
prove that every hyperplane errs at least k times; where mistakes have prices, each costs the
least price among its rows.
"""

from __future__ import annotations

import numpy as np

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.checker import Dependence
from novikoff.geometry.faces import contradiction
from novikoff.geometry.margin import separates
from novikoff.geometry.min_norm import (
    Answer,
    Question,
    balanced_view,
    nearest_point,
    search,
)
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.twins import all_opposite_twins


class Packing:
    """Contradictions without a common row, found one after another.

    Attributes
    ----------
    contradictions : list of Dependence
        What was found so far.
    bound : float
        What the mistakes of any hyperplane cost at least.
    complete : bool
        Whether the remaining rows can be separated, so that no contradiction is left.
    w : array or None
        Weights that separate all rows, if the first search found them.
    """

    def __init__(self, data: Data, prices: Vector) -> None:
        self.data, self.prices = data, prices
        self.contradictions: list[Dependence] = []
        self.bound = 0.0
        self.complete = False
        self.w: Vector | None = None
        self._left = prices > 0.0
        self._view = balanced_view(data)
        self._start = np.empty(0, dtype=np.int64)
        self._found: Answer | None = None

    def take_twins(self) -> None:
        """Pairs of identical rows with opposite labels, the dearest first, and zero rows."""
        for rows in all_opposite_twins(self.data, self.prices):
            if self._left[list(rows)].all():
                self._add(Dependence((), (), True, tuple(sorted(rows))))

    def seek(self, limits: Limits) -> None:
        """Look for rows that contradict each other among those left, without a proof yet."""
        left = np.flatnonzero(self._left)
        if len(left) == 0:
            self.complete = True
            return
        question = nearest_point(self._view)
        question = Question(question.view, question.b, question.lift, within=left)
        self._found = search(question, self._seed(left), 1e-3, limits, self._separated)

    def take_next(self, limits: Limits) -> bool:
        """Find one more contradiction and prove it; False if there is none, or no time."""
        if self._found is None:
            self.seek(limits)
        answer, self._found = self._found, None
        if self.complete or answer is None or limits.reached() is not None:
            return False
        try:
            claim = contradiction(self._view, answer.rows, answer.weights, limits)
        except OutOfTimeError:
            return False
        if claim is None:
            return False
        self._start = np.setdiff1d(answer.working, claim.among or ())
        self._add(claim)
        return True

    def _seed(self, left: Indices) -> Indices:
        start = self._start[self._left[self._start]]
        if len(start) > 0:
            return start
        return left[:: max(1, len(left) // 256)]

    def _separated(self, answer: Answer) -> bool:
        """Whether the search has found weights that separate what is left."""
        if not (answer.products[self._left] > 0.0).all():
            return False
        if self._left.all() and not self.contradictions:
            if not separates(self.data, answer.w, answer.products):
                return False
            self.w = answer.w
        self.complete = True
        return True

    def _add(self, claim: Dependence) -> None:
        among = list(claim.among or ())
        self.contradictions.append(claim)
        self._left[among] = False
        self.bound += float(self.prices[among].min())
