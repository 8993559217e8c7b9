"""Which coefficients of a logistic regression have a finite estimate, and which diverge (C1).

Objective
    The maximum-likelihood estimate of a logistic regression of two classes.
Input
    The signed rows a_i, and their partition into the rows I and J of the verdict: some w has
    ⟨a_i, w⟩ > 0 on I and ⟨a_i, w⟩ = 0 on J, and no w that misclassifies no row has ⟨a_i, w⟩ > 0 on
    a row of J.
Output
    `Estimates`: for each coefficient whether its estimate is finite, +∞, −∞, divergent with an
    unknown sign, or undetermined.

The likelihood never decreases in the directions w of the recession cone
C = {w : ⟨a_i, w⟩ ≥ 0 for all i}. It increases without end in the direction w if some ⟨a_i, w⟩ is
positive. For the coefficient j, with the unit vector e_j, this means:

* The estimate is finite exactly if w_j = 0 for all w in C. C spans the null space of A_J, the
  matrix of the rows J. So w_j = 0 on C exactly if e_j is in the row space of A_J.
* The coefficient is undetermined if e_j is not in the row space of all rows. Then its column
  depends linearly on other columns.
* Else the estimate diverges. The relative interior of C consists of the w with ⟨a_i, w⟩ > 0 on all
  of I. The estimate is +∞ exactly if w_j > 0 for all these w: if w_j > 0 for one of them and
  w_j = 0 for none. No w of the interior has w_j = 0 exactly if fewer rows than I can be separated
  without column j. A second verdict, without column j, proves this. The certificate of the first
  verdict contains a w of the interior, which gives the sign.

Columns that depend on each other are aliased. The data determines only some combinations of their
coefficients. These have a finite estimate exactly if the rows J determine as many combinations as
all rows do.

Row spaces are computed exactly (`row_space`), without a tolerance.

References
----------
A. Albert and J. Anderson, On the existence of maximum likelihood estimates in logistic regression
models, Biometrika 71 (1984). I. Dikin, Iterative solution of problems of linear and quadratic
programming, Soviet Math. Dokl. 8 (1967).
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
# Elimination takes p³ steps. With more coefficients than this, there are no estimates.
_MAX_WEIGHTS = 500
# X is copied without the columns of the reference levels if it has at most this many entries.
_MAX_ENTRIES = 1 << 26
# To find a sign takes a verdict without the column: about one step for each entry of X, and
# _STEPS_PER_WEIGHT for each coefficient. If all signs together take more than _MAX_STEPS, they are
# left open. Steps are counted instead of seconds, so that the result is the same on all machines.
_STEPS_PER_WEIGHT, _MAX_STEPS = 1 << 14, 1 << 27
# If X has at most _MAX_TRIED entries, a w with w_j = 0 is first searched for in floats. This search
# ends when a step does not reduce |w_j| by the factor _MIN_GAIN.
_MAX_TRIED, _MIN_GAIN = 1 << 15, 0.9


class Aliased(NamedTuple):
    """Columns that depend linearly on each other, and whether their joint estimate is finite.

    The coefficient of each of these columns is undetermined, because other columns can replace it.
    The data determines some combinations of the coefficients. ``finite`` says whether all of these
    combinations have a finite estimate.
    """

    columns: tuple[Hashable, ...]
    finite: bool


class Estimates(NamedTuple):
    """The estimate of each coefficient, and the columns that are responsible for separation.

    A column is responsible if the rows without it have finite estimates. ``responsible`` is None if
    not all of these columns are known.
    """

    coefficients: Mapping[Hashable, Estimate]
    responsible: list[Hashable] | None
    aliased: list[Aliased]

    def negated(self) -> Estimates:
        """Return the estimates for exchanged classes, which have the opposite signs."""
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
    """Return the estimate of each coefficient of a logistic regression; None if it takes too long.

    Parameters
    ----------
    problem : Problem
        The rows of a problem whose verdict is known.
    columns : Columns
        The names of the columns. Each category column has a reference level, with which the other
        levels are compared, and whose column is left out. It is the level with the most rows in J;
        among several of them, it is the level with the most rows.
    w : sequence of Fraction or None
        Weights with ⟨a_i, w⟩ > 0 on the rows I; None if I is empty.
    separated : array of int
        The rows I.
    limits : Limits
        Limits on the search. Signs that are not found within the limits are left open.

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
    if columns.groups and problem.X.size > _MAX_ENTRIES:  # X would be copied
        return None
    work = _Work(problem, columns, w, separated, limits)
    try:
        work.go()
    except OutOfTimeError:
        return None
    bias = INTERCEPT
    while bias in columns.names:  # a column may have this name
        bias = f"({bias})"
    names = [*columns.names, bias]
    weights = {names[j]: work.estimates[j] for j in sorted(work.estimates)}
    aliased = [Aliased(tuple(names[j] for j in part), finite) for part, finite in work.aliased]
    return Estimates(weights, [*work.responsible] if work.complete else None, aliased)


class _Work:
    """The search for the estimates of one problem, with its results so far."""

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
        self.complete = True  # whether all responsible columns are known
        self.references = self._drop_references()

    def go(self) -> None:
        """Find which estimates are finite, then the signs of the estimates that diverge."""
        few = LocalPasses(self._left_out(self.references))
        kept = self._kept(self.references)
        self._find_finite(few, kept)
        self._find_signs(few, kept)

    def _find_finite(self, few: Passes, kept: list[int]) -> None:
        """Find the finite estimates by the row spaces of all rows and of the rows J."""
        everyone = np.arange(few.n)
        known = fixed = row_space(few, everyone, self.limits)
        if len(self.separated) > 0:
            fixed = row_space(few, np.setdiff1d(everyone, self.separated), self.limits)
        self.estimates = dict.fromkeys(self.references, "reference")
        first = few.p - len(kept)  # there may be a column of zeros before the bias
        for k, j in enumerate(kept, first):
            sure, finite = known.units[k], fixed.units[k]
            self.estimates[j] = "finite" if finite else "diverges" if sure else "undetermined"
        self.aliased = [
            ([kept[k - first] for k in part], known.share(part) == fixed.share(part))
            for part in known.dependent()
        ]

    def _find_signs(self, few: Passes, kept: list[int]) -> None:
        """Find signs, by a verdict without each column that may have a sign, if it is quick."""
        # If w_j = 0 for some w of the interior, w_j has both signs, and column j is not needed.
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
            elif found.w is not None:  # this w is in the interior
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
        """Remove from ``signed`` the columns j for which a w with w_j = 0 separates all rows.

        Affine scaling (Dikin 1967) moves from a w that separates all rows towards w_j = 0, in
        floats. Each step changes the products m_i by q_i, and minimises about Σ (q_i/m_i)². A
        column is removed only after it is proved that the resulting w separates all rows.
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
                    signs = np.sign(u[first:])  # a product of two floats may underflow
                    signed -= {
                        k for k, sign in zip(kept, signs, strict=True) if self.w[k] * int(sign) <= 0
                    }

    def _hold_responsible(self, name: Hashable, found: SearchResult) -> None:
        """Note the column as responsible if the verdict without it is inseparable."""
        if found.kind == "inseparable":
            self.responsible.append(name)
        self.complete &= found.kind not in (None, "not separable")

    def _separated(self, found: SearchResult) -> int:
        """Return an upper bound on the number of rows that some w of C separates strictly."""
        n = self.problem.n
        few = {"inseparable": 0, "quasi-separable": found.n_separated, "not separable": n - 1}
        return few.get(str(found.kind), n)

    def _without(self, numbers: Sequence[int]) -> SearchResult:
        """Return the verdict of the rows without some columns."""
        found = search_verdict(
            LocalPasses(self._left_out(numbers)), "kind", 1e-8, self.limits, None
        )
        if self.limits.interrupted:
            raise KeyboardInterrupt
        return found

    def _kept(self, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of all other coefficients; the bias is the last."""
        return [j for j in range(self.p) if j not in numbers]

    def _left_out(self, numbers: Sequence[int]) -> Problem:
        """Return the problem without some columns, which may include the bias.

        If no column is left, the problem has one column of zeros.
        """
        if len(numbers) == 0:
            return self.problem
        X, kept = self.problem.X, [j for j in self._kept(numbers) if j < self.d]
        bias = self.problem.fit_intercept and self.d not in numbers
        few = X[:, kept] if kept else np.zeros((self.problem.n, 1))
        return pose(few, self.problem.signs, bias)

    def _drop_references(self) -> list[int]:
        """Choose a reference level of each category column, and make its weight in w zero.

        The columns of all levels add up to 1, which is also the column of the bias. So the weight
        of the reference level is subtracted from each level and added to the bias. Without a bias
        it is added to each level of the first category column, which has no reference level.
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
