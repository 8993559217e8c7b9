"""The fewest rows that must give way in an infeasible system, or those of least weight.

The fewest rows that must go are a smallest set that has a row of every conflict (a maximum feasible
subsystem is what remains). Conflicts are found one after another, each among the rows that are left
if a smallest hitting set of the conflicts found before goes. If no conflict is left, this hitting
set suffices; what proves that no smaller set does are shares of the conflicts, or a tree of cases
(`novikoff.proofs.hitting`).

References
----------
Parker, M. and Ryan, J. (1996). Finding the minimum weight IIS cover of an infeasible system of
linear inequalities. *Annals of Mathematics and Artificial Intelligence* 17, 107-126.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from novikoff.core.stops import Limits
from novikoff.geometry.hitting_sets import best_shares, prove_bound, smallest_hitting_set
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.proofs.hitting import Branch
from novikoff.systems.elastic import least_violation
from novikoff.systems.engine import Point
from novikoff.systems.relaxation import Relaxation
from novikoff.systems.relaxation_question import RelaxationQuestion, with_point
from novikoff.systems.solution import Solution, reason
from novikoff.systems.suggested import decide
from novikoff.systems.system import System, nearest_floats, split_equalities

# Weights are whole multiples of a unit, up to this many: then floats hold their sums exactly.
_MOST_UNITS = 2**31


class _Best(NamedTuple):
    """A point, the homogeneous rows that it violates, and their weight."""

    weight: Fraction
    rows: frozenset[int]
    w: list[Fraction]


class FewestRows:
    """The search for the rows of least weight, by conflicts and their hitting sets.

    Attributes
    ----------
    halves : System
        The homogeneous rows, in which each of two equal bounds is a row.
    numbers : list of int
        The number of the stated row of each homogeneous row.
    weights : list of Fraction
        The weight of each homogeneous row; 0 if it may not be given up.
    unit, costs
        All weights are whole multiples of ``unit``; these multiples are the costs.
    conflicts, sets
        The conflicts found so far, and the rows of each of them that may be given up.
    best : _Best or None
        The best point found so far.
    """

    def __init__(self, question: RelaxationQuestion) -> None:
        self.question, self.limits = question, question.limits
        self.halves = split_equalities(question.system, question.system.fixed)
        rows = range(self.halves.homogenising_row)
        self.numbers = [self.halves.stated_number(i, Fraction(1)) for i in rows]
        self.weights = [question.weights.get(number, Fraction(0)) for number in self.numbers]
        self.unit = Fraction(1, math.lcm(*(weight.denominator for weight in self.weights)))
        if max(self.weights, default=self.unit) / self.unit > _MOST_UNITS:
            raise ValueError("the weights differ too much, or have too many digits.")
        self.costs = np.array([float(weight / self.unit) for weight in self.weights])
        self.conflicts: list[Solution] = []
        self.sets: list[tuple[int, ...]] = []
        self.best: _Best | None = None
        self.ended = ""

    def run(self) -> Relaxation:
        """Search until the best point is proved to be best, or a limit is reached."""
        try:
            self.start()
            hitting = frozenset[int]()
            while (at := self.find_conflicts(hitting)) is not None:
                gone, w = at
                self.improve(gone, w)
                if gone == hitting:  # without the hitting set, no conflict is left
                    break
                suggested = smallest_hitting_set(self.sets, self.costs, self.limits)
                if suggested is None:
                    break
                hitting = frozenset(suggested.elements)
            else:
                return Relaxation("rows", "infeasible", self.conflicts[-1])
        except (OutOfTimeError, TooLargeError, OverflowError) as error:
            self.ended = reason(error, self.limits)
        except KeyboardInterrupt as error:
            self.limits.interrupt()
            self.ended = reason(error, self.limits)
        return self.answer()

    def start(self) -> None:
        """Begin with the rows that a point with the least total violation violates."""
        may_give = [i for i, number in enumerate(self.numbers) if number in self.question.weights]
        w = self.nearer(may_give, [])
        if w:
            self.improve(may_give, w)

    def find_conflicts(
        self, hitting: frozenset[int]
    ) -> tuple[frozenset[int], list[Fraction]] | None:
        """Find conflicts that share no row, among the rows that are not in a hitting set.

        Returns
        -------
        gone, w
            The hitting set and the rows of the new conflicts, and a point that satisfies all other
            rows. None if rows that may not be given up contradict each other; the last conflict has
            these rows.
        """
        gone, n = hitting, len(self.numbers)
        while True:
            within = np.ones(n + 1, dtype=np.bool_)
            within[list(gone)] = False
            decided = decide(self.halves, self.limits, within=within, floats=False)
            if isinstance(decided, Point):
                return gone, list(self.halves.point(decided.v))
            self.conflicts.append(self.question.infeasible(decided, self.halves))
            blamed = tuple(i for i in decided.rows.tolist() if i < n and self.weights[i])
            if not blamed:
                return None
            self.sets.append(blamed)
            gone |= {*blamed}

    def improve(self, rows: Iterable[int], w: list[Fraction]) -> None:
        """Keep a point that satisfies all rows but these, if it violates rows of less weight."""
        violated = _violated(self.halves, rows, w, self.limits)
        weight = self.weight(violated)
        if self.best is None or weight < self.best.weight:
            self.best = _Best(weight, violated, w)

    def prove(self) -> tuple[Fraction, tuple[Branch, ...]]:
        """Prove a lower bound on the weight: with shares of the conflicts, or a tree of cases."""
        if not self.sets:
            return Fraction(0), ()
        n, sets, costs = len(self.numbers), self.sets, self.costs
        _, shares, least = best_shares(sets, n, costs, Fraction(0), Limits())
        places = tuple(k for k, share in enumerate(shares) if share)
        tree: tuple[Branch, ...] = (Branch(None, places, tuple(shares[k] for k in places)),)
        if self.best is not None and least * self.unit < self.best.weight:
            target = self.best.weight / self.unit
            better = prove_bound(sets, costs, target, self.limits)
            least, tree = (least, tree) if better is None else (target, better)
        named = (self._in_words_of_the_statement(branch) for branch in tree)
        return least * self.unit, tuple(named) if least else ()

    def answer(self) -> Relaxation:
        """The best point with the proved bound."""
        if self.best is None and not self.sets:
            return self.question.undecided(self.ended)
        least, tree = self.prove()
        proofs = [found.proof for found in self.conflicts if found.proof is not None]
        claims = tuple(proof.conflict for proof in proofs if proof.conflict is not None)
        proof = self.question.certificate(least, conflicts=claims if tree else (), branches=tree)
        conflicts = tuple(self.conflicts)
        if self.best is None:
            return Relaxation(
                "rows", "undecided", self.question.solution, least, conflicts=conflicts,
                proof=proof, ended=self.ended,
            )  # fmt: skip
        w = self.nearer(self.best.rows, self.best.w)
        given_up = _violated(self.halves, self.best.rows, w, Limits())
        most = self.weight(given_up)
        rows = self.question.relaxed_rows(w, {self.numbers[i] for i in given_up})
        return Relaxation(
            "rows", "relaxed", self.question.solution, least, most, tuple(rows), nearest_floats(w),
            tuple(w), conflicts, proof=with_point(proof, w, most),
            ended=self.ended if least < most else "",
        )  # fmt: skip

    def weight(self, rows: Iterable[int]) -> Fraction:
        """The weight of some homogeneous rows."""
        return sum((self.weights[i] for i in rows), Fraction(0))

    def nearer(self, given_up: Iterable[int], w: list[Fraction]) -> list[Fraction]:
        """A point that violates at most these rows, by less in total than w, if one is found."""
        if self.question.system.strict.any():
            return w
        weights = {self.numbers[i]: self.weights[i] for i in given_up}
        try:
            found = least_violation(self.question.system, weights, "total", self.limits)
        except (OutOfTimeError, OverflowError):
            return w
        return w if found is None else list(found.point)

    def _in_words_of_the_statement(self, branch: Branch) -> Branch:
        """A node with the number of the stated row, and with shares of weights."""
        element = None if branch.element is None else self.numbers[branch.element]
        return Branch(element, branch.sets, tuple(share * self.unit for share in branch.shares))


def _violated(
    system: System, rows: Iterable[int], w: Sequence[Fraction], limits: Limits
) -> frozenset[int]:
    """The rows that a point violates."""
    numbers = np.array([*rows], dtype=np.int64)
    slacks = system.slack(w, limits, numbers)
    violated = set[int]()
    for i, slack in zip(numbers.tolist(), slacks, strict=True):
        wrong = slack != 0 if system.equalities[i] else slack < 0
        if wrong or (system.strict[i] and slack == 0):
            violated.add(i)
    return frozenset(violated)
