"""Schemes for several classes: one-vs-rest and one-vs-one.

A scheme defines the binary rules, the side of each rule on which each class is, and how the scores
of the rules determine a class. A score of 0 is on the negative side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from novikoff.core.problem import Problem, Rows
from novikoff.core.rows import Indices, Signs, Vector


@dataclass(frozen=True)
class Binary:
    """One rule for two classes; the second class is the positive class."""

    n_classes: int = 2

    @property
    def sides(self) -> Signs:
        """An array of shape (n_classes, n_rules) of +1 and −1."""
        return np.array([[-1], [1]], dtype=np.int8)[: self.n_classes]

    def side_classes(self, rule: int) -> tuple[int, int | None]:
        """The codes of the positive and of the negative class of a rule."""
        return 1, 0

    def decision(self, scores: Vector) -> Vector:
        """The scores that ``decision_function`` returns."""
        return scores[:, 0]

    def choose(self, scores: Vector) -> Indices:
        """The code of the chosen class for each row."""
        return np.minimum(scores[:, 0] > 0.0, self.n_classes - 1).astype(np.int64)

    def choose_or_tie(self, scores: Vector) -> Indices:
        """The codes of the chosen classes, with −1 for f(x) = 0, which is a mistake in training."""
        side = np.where(scores[:, 0] > 0.0, 1, np.where(scores[:, 0] < 0.0, 0, -1))
        return np.where(side < self.n_classes, side, -1)


@dataclass(frozen=True)
class OneVsRest:
    """One rule for each class against the rest.

    The class with the largest score wins. If several scores are equal, the first class wins.

    Examples
    --------
    >>> OneVsRest(3).choose(np.array([[-1.0, 2.0, 2.0]]))
    array([1])
    """

    n_classes: int

    @property
    def sides(self) -> Signs:
        """An array of shape (n_classes, n_rules): +1 for the rule's class, −1 for all others."""
        return (2 * np.eye(self.n_classes, dtype=np.int8) - 1).astype(np.int8)

    def side_classes(self, rule: int) -> tuple[int, int | None]:
        """The code of the positive class of a rule, and None for the rest."""
        return rule, None

    def decision(self, scores: Vector) -> Vector:
        """The scores that ``decision_function`` returns."""
        return scores

    def choose(self, scores: Vector) -> Indices:
        """The code of the chosen class for each row."""
        best: Indices = np.argmax(scores, axis=1)
        return best

    def choose_or_tie(self, scores: Vector) -> Indices:
        """The codes of the chosen classes, with −1 for a tie, which is a mistake in training."""
        best = scores.max(axis=1, keepdims=True)
        tied = np.count_nonzero(scores == best, axis=1) > 1
        return np.where(tied, -1, self.choose(scores))


@dataclass(frozen=True)
class OneVsOne:
    """One rule for each pair of classes; the second class of the pair is the positive class.

    Each rule votes for one of its classes. The class with the most votes wins. If several classes
    have the most votes, the class with the largest sum of scores wins. If the sums are equal too,
    the first class wins.

    Examples
    --------
    >>> OneVsOne(3).choose(np.array([[1.0, 1.0, -1.0]]))
    array([1])
    """

    n_classes: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The classes of each rule."""
        return list(combinations(range(self.n_classes), 2))

    @property
    def sides(self) -> Signs:
        """An array of shape (n_classes, n_rules): −1 and +1 for the pair, 0 for other classes."""
        table = np.zeros((self.n_classes, len(self.pairs)), dtype=np.int8)
        for rule, (first, second) in enumerate(self.pairs):
            table[first, rule], table[second, rule] = -1, 1
        return table

    def side_classes(self, rule: int) -> tuple[int, int | None]:
        """The codes of the positive and of the negative class of a rule."""
        negative, positive = self.pairs[rule]
        return positive, negative

    def decision(self, scores: Vector) -> Vector:
        """The votes, plus the sums of scores scaled into [−1/3, 1/3] to break ties."""
        votes, sums = self._count(scores)
        largest = np.abs(sums).max(axis=1, keepdims=True)
        scaled = np.zeros_like(sums)
        np.divide(sums, 3.0 * largest, out=scaled, where=largest > 0.0)
        return votes + scaled

    def choose(self, scores: Vector) -> Indices:
        """The code of the chosen class for each row."""
        votes, sums = self._count(scores)
        sums[votes < votes.max(axis=1, keepdims=True)] = -np.inf
        best: Indices = np.argmax(sums, axis=1)
        return best

    def choose_or_tie(self, scores: Vector) -> Indices:
        """The codes of the chosen classes; there are no ties."""
        return self.choose(scores)

    def _count(self, scores: Vector) -> tuple[Vector, Vector]:
        """The votes for each class, and the sum of the scores in favour of the class."""
        first, second = np.array(self.pairs).T
        shape = len(scores), self.n_classes
        places = self.n_classes * np.arange(len(scores))[:, None]

        def totals(classes: Indices, terms: Vector | None = None) -> Vector:
            flat = None if terms is None else terms.ravel()
            counts = np.bincount((places + classes).ravel(), flat, minlength=shape[0] * shape[1])
            return counts.reshape(shape).astype(np.float64, copy=False)

        votes = totals(np.where(scores > 0.0, second, first))
        return votes, totals(second, scores) - totals(first, scores)


Scheme: TypeAlias = Binary | OneVsRest | OneVsOne


def problems_of(scheme: Scheme, rows: Rows, codes: Indices) -> Iterator[tuple[Indices, Problem]]:
    """Yield for each rule the numbers of its rows, and the problem of these rows."""
    for sides in scheme.sides.T:
        part = np.flatnonzero(sides[codes])
        rule_rows = rows if len(part) == rows.n else Rows.of(rows.X[part], rows.fit_intercept)
        yield part, rule_rows.with_signs(sides[codes[part]])


def scheme_for(n_classes: int, multi_class: str) -> Scheme:
    """Return the scheme of a name, "ovr" or "ovo"; up to two classes need only one rule.

    Examples
    --------
    >>> scheme_for(2, "ovo")
    Binary(n_classes=2)
    """
    if n_classes <= 2:
        return Binary(n_classes)
    return OneVsOne(n_classes) if multi_class == "ovo" else OneVsRest(n_classes)
