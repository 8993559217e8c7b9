"""Which weights of a logistic regression run to infinity (C1; Albert and Anderson 1984).

The likelihood of a logistic regression never falls along the w of the recession cone
C = {w : ⟨a_i, w⟩ ≥ 0 for all i}, and rises for ever if some products are positive. Let I be the
rows that some w of C has strictly on their side, and J the others. Then, for the weight j:

* It stays finite exactly if w_j = 0 on all of C. C spans the null space of A_J, so that this
  holds exactly if the unit vector e_j lies in the row space of A_J.
* Where e_j is not even in the row space of all rows, columns depend on each other, and the
  weight is not determined at all.
* Else it has no finite estimate. The w that have all rows of I strictly on their side are the
  relative interior of C. They have w_j > 0, all of them, exactly if one of them has and none has
  w_j = 0: if without column j fewer rows than I are separated. That is another verdict, proved
  like any other, and one w of the interior is in the certificate of the first.

* Columns that depend on each other are aliased: only the sum of their contributions, as far as the
  rows tell it apart, has an estimate. It is finite exactly if the rows of J tell as much of it.

Row spaces are exact (`row_space`): there is no tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, Passes
from novikoff.geometry.row_space import row_space
from novikoff.geometry.verdict_search import SearchResult, search_verdict
from novikoff.proofs import exact

Estimate: TypeAlias = Literal["finite", "+inf", "-inf", "diverges", "undetermined", "reference"]

INTERCEPT = "(intercept)"
# Elimination takes p³ steps: beyond this many weights the question is left open.
_MAX_WEIGHTS = 500
# X is copied, without the reference levels, up to this many entries.
_MAX_ENTRIES = 1 << 26
# A sign takes a verdict without its column: about one step for each entry of X, and this many for
# each weight. Beyond _MAX_STEPS in all, signs are left open; steps do not depend on the machine.
_STEPS_PER_WEIGHT, _MAX_STEPS = 1 << 14, 1 << 27
# Up to this many entries, a w with w_j = 0 is first looked for in floats, while a step makes w_j
# smaller by this factor.
_MAX_TRIED, _MIN_GAIN = 1 << 15, 0.9


class Aliased(NamedTuple):
    """Columns that depend on each other, and whether what the data tells of them is finite.

    The weight of each alone is not determined: another can take its place. What they contribute
    together is, up to that, and has a finite estimate or none.
    """

    columns: tuple[Hashable, ...]
    finite: bool


class Estimates(NamedTuple):
    """What becomes of each weight, and which columns, left out, leave finite estimates."""

    coefficients: Mapping[Hashable, Estimate]
    responsible: list[Hashable] | None  # None if that is not known
    aliased: list[Aliased]

    def negated(self) -> Estimates:
        """The same for the other class: signs change."""
        signs: dict[Estimate, Estimate] = {"+inf": "-inf", "-inf": "+inf"}
        return self._replace(
            coefficients={j: signs.get(known, known) for j, known in self.coefficients.items()}
        )


def logistic_estimates(
    problem: Problem,
    columns: Columns,
    w: Sequence[Fraction] | None,
    separated: Indices,
    limits: Limits,
) -> Estimates | None:
    """What becomes of each weight of a logistic regression; None if that takes too long.

    Parameters
    ----------
    problem : Problem
        The rows, of a verdict that is not undecided.
    columns : Columns
        Their names. A category column takes part without a reference level, with which the others
        are compared: the one with the most rows in J, and of these the one with the most rows.
    w : sequence of Fraction or None
        Weights that have the rows I strictly on their side; None if there are none.
    separated : array of int
        The rows I.
    limits : Limits
        When to leave signs open, which takes a verdict for each column.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    >>> problem = pose(X, np.array([-1, 1, -1, 1], dtype=np.int8), True)
    >>> w = [Fraction(1), Fraction(0), Fraction(0)]
    >>> logistic_estimates(problem, Columns(["a", "b"]), w, np.array([3]), Limits()).coefficients
    {'a': '+inf', 'b': 'finite', '(intercept)': 'finite'}
    """
    if problem.X.shape[1] >= _MAX_WEIGHTS:
        return None
    if columns.groups and problem.X.size > _MAX_ENTRIES:  # it is copied without the references
        return None
    work = _Work(problem, columns, w, separated, limits)
    try:
        work.go()
    except OutOfTimeError:
        return None
    bias = INTERCEPT
    while bias in columns.names:  # a column may be called so
        bias = f"({bias})"
    names = [*columns.names, bias]
    weights = {names[j]: work.estimates[j] for j in sorted(work.estimates)}
    aliased = [Aliased(tuple(names[j] for j in part), finite) for part, finite in work.aliased]
    return Estimates(weights, [*work.responsible] if work.complete else None, aliased)


class _Work:
    def __init__(
        self,
        problem: Problem,
        columns: Columns,
        w: Sequence[Fraction] | None,
        separated: Indices,
        limits: Limits,
    ) -> None:
        self.problem, self.columns = problem, columns
        self.separated, self.limits = separated, limits
        self.d = problem.X.shape[1]
        self.p = self.d + problem.fit_intercept
        self.w = [Fraction(0)] * self.p if w is None else [*w]
        self.estimates: dict[int, Estimate] = {}
        self.aliased: list[tuple[list[int], bool]] = []
        self.responsible: list[Hashable] = []
        self.complete = True  # whether these are all
        self.references = self._drop_references()

    def go(self) -> None:
        """Find which weights are finite, then the signs of the others."""
        few = LocalPasses(self._left_out(self.references))
        kept = self._kept(self.references)
        self._find_finite(few, kept)
        self._find_signs(few, kept)

    def _find_finite(self, few: Passes, kept: list[int]) -> None:
        """By ranks: of all rows, and of those that stay on the hyperplane."""
        everyone = np.arange(few.n)
        known = fixed = row_space(few, everyone, self.limits)
        if len(self.separated) > 0:
            fixed = row_space(few, np.setdiff1d(everyone, self.separated), self.limits)
        self.estimates = dict.fromkeys(self.references, "reference")
        first = few.p - len(kept)  # a column of zeros may stand before the bias
        for k, j in enumerate(kept, first):
            sure, finite = known.units[k], fixed.units[k]
            self.estimates[j] = "finite" if finite else "diverges" if sure else "undetermined"
        self.aliased = [
            ([kept[k - first] for k in part], known.share(part) == fixed.share(part))
            for part in known.dependent()
        ]

    def _find_signs(self, few: Passes, kept: list[int]) -> None:
        """By a verdict without each column that may have a sign, if that does not take long."""
        # Where some w of the interior has w_j = 0, all signs occur, and column j is not needed.
        signed = {j for j in kept if self.w[j] != 0 and self.estimates[j] == "diverges"}
        groups = {
            name: part for name, part in self.columns.groups.items() if any(self.w[j] for j in part)
        }
        steps = self.problem.X.size + _STEPS_PER_WEIGHT * self.p
        if steps * (len(signed) + len(groups)) > _MAX_STEPS:
            self.complete = False
            return
        grouped = {j for part in self.columns.groups.values() for j in part}
        if len(self.separated) == few.n and few.n * few.p <= _MAX_TRIED:
            with (
                suppress(np.linalg.LinAlgError, OutOfTimeError, OverflowError),
                np.errstate(all="ignore"),
            ):
                self._try_zeros(few, kept, signed)
        while signed and self.limits.reached() is None:
            j = min(signed)
            found = self._without([j, *self.references])
            if self._separated(found) < len(self.separated):
                self.estimates[j] = "+inf" if self.w[j] > 0 else "-inf"
            elif found.w is not None:  # it is of the interior
                others = self._kept([j, *self.references])
                values = dict(zip(others, found.w[-len(others) :], strict=False))
                signed -= {k for k in signed if values.get(k, 0) * self.w[k] <= 0}
            if j < self.d and j not in grouped:
                self._hold_responsible(self.columns.names[j], found)
            signed.discard(j)
        self.complete &= not signed
        for name, part in groups.items():
            self._hold_responsible(name, self._without(part))

    def _try_zeros(self, passes: Passes, kept: list[int], signed: set[int]) -> None:
        """Strike out columns j for which a w with w_j = 0 separates all rows.

        Affine scaling (Dikin 1967) leads from one w towards w_j = 0 in floats, shortest where the
        products m_i are measured by Σ (q_i/m_i)². What it ends with is proved.
        """
        A, first = passes.at(np.arange(passes.n)), passes.p - len(kept)
        w = np.zeros(passes.p)
        w[first:] = [float(self.w[k]) for k in kept]
        for j in sorted(signed):
            at, u, before = first + kept.index(j), w, math.inf
            while j in signed:
                m = A @ u
                size = np.linalg.norm(m) / math.sqrt(passes.n)
                u, m = u / size, m / size
                if not abs(u[at]) < _MIN_GAIN * before:
                    break
                before = abs(u[at])
                move = np.linalg.solve((A.T * (1.0 + m**-2.0)) @ A, np.eye(1, passes.p, at)[0])
                move *= -u[at] / move[at]
                reach = np.max(A @ -move / m)
                if not reach < 1.0:
                    u = u + 0.9 / reach * move
                    continue
                u = u + move
                u[at] = 0.0
                if passes.least_products(exact.floats(u), self.limits).separates:
                    signs = np.sign(u[first:])  # a product of two weights may underflow
                    signed -= {
                        k for k, sign in zip(kept, signs, strict=True) if self.w[k] * int(sign) <= 0
                    }

    def _hold_responsible(self, name: Hashable, found: SearchResult) -> None:
        if found.kind == "inseparable":
            self.responsible.append(name)
        self.complete &= found.kind not in (None, "not separable")

    def _separated(self, found: SearchResult) -> int:
        """How many rows can be strictly on their side, at most."""
        n = self.problem.n
        few = {"inseparable": 0, "quasi-separable": found.n_separated, "not separable": n - 1}
        return few.get(str(found.kind), n)

    def _without(self, numbers: Sequence[int]) -> SearchResult:
        """What is proved of the rows without some columns."""
        found = search_verdict(
            LocalPasses(self._left_out(numbers)), "kind", 1e-8, self.limits, None
        )
        if self.limits.interrupted:
            raise KeyboardInterrupt
        return found

    def _kept(self, numbers: Sequence[int]) -> list[int]:
        """The weights but for some; that of the bias is the last."""
        return [j for j in range(self.p) if j not in numbers]

    def _left_out(self, numbers: Sequence[int]) -> Problem:
        """The problem without some columns, the bias among them; zeros, if none is left."""
        if len(numbers) == 0:
            return self.problem
        X, kept = self.problem.X, [j for j in self._kept(numbers) if j < self.d]
        bias = self.problem.fit_intercept and self.d not in numbers
        few = X[:, kept] if kept else np.zeros((self.problem.n, 1))
        return pose(few, self.problem.signs, bias)

    def _drop_references(self) -> list[int]:
        """Choose a reference level of each category column, and give w in terms of the others.

        The levels of a category column add up to 1, as the bias does: what is taken from each of
        them is given to the bias or, without one, to each level of the first category column.
        """
        groups, anchors = [*self.columns.groups.values()], [self.d]
        if not self.problem.fit_intercept:
            anchors, groups = [*groups[0]] if groups else [], groups[1:]
        chosen = []
        left = np.ones(self.problem.n, dtype=np.bool_)
        left[self.separated] = False
        for part in groups:
            X = self.problem.X[:, list(part)]
            counts = [(int(X[left, k].sum()), int(X[:, k].sum())) for k in range(len(part))]
            reference = part[counts.index(max(counts))]
            chosen.append(reference)
            taken = self.w[reference]
            for j in part:
                self.w[j] -= taken
            for j in anchors:
                self.w[j] += taken
        return chosen
