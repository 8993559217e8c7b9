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

Row spaces are found by elimination modulo primes, not in floats: there is no tolerance. Full rank
modulo one prime proves full rank. Where rows span less, the largest rank modulo eight primes
counts: it is too small only if every one of them divides certain minors.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry import exact
from novikoff.geometry.exact import Block
from novikoff.geometry.passes import LocalPasses, OutOfTimeError, Part, Passes, RowSet, Visit
from novikoff.geometry.verdict_search import Finding, find

Fate: TypeAlias = Literal["finite", "+inf", "-inf", "diverges", "undetermined", "reference"]

INTERCEPT = "(intercept)"
# Random primes of 21 bits: products of 1024 pairs of residues add up without rounding in float64.
_PRIMES = (1684679, 2066473, 1947629, 1083793, 1471403, 1054189, 1178897, 2094227)
_TERMS = 1 << 10
# Mixtures of the rows beyond p.
_SPARE = 8
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


class Fates(NamedTuple):
    """What becomes of each weight, and which columns, left out, leave finite estimates."""

    weights: Mapping[Hashable, Fate]
    responsible: list[Hashable] | None  # None if that is not known


def fates(
    problem: Problem,
    columns: Columns,
    w: Sequence[Fraction] | None,
    separated: Indices,
    limits: Limits,
) -> Fates | None:
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
    >>> fates(problem, Columns(["a", "b"]), w, np.array([3]), Limits()).weights
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
    weights = {names[j]: work.fates[j] for j in sorted(work.fates)}
    return Fates(weights, [*work.responsible] if work.complete else None)


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
        self.fates: dict[int, Fate] = {}
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
        known = fixed = _unit_vectors(few, everyone, self.limits)
        if len(self.separated) > 0:
            fixed = _unit_vectors(few, np.setdiff1d(everyone, self.separated), self.limits)
        self.fates = dict.fromkeys(self.references, "reference")
        own = slice(-len(kept), None)  # a column of zeros may stand before the bias
        for j, sure, finite in zip(kept, known[own], fixed[own], strict=True):
            self.fates[j] = "finite" if finite else "diverges" if sure else "undetermined"

    def _find_signs(self, few: Passes, kept: list[int]) -> None:
        """By a verdict without each column that may have a sign, if that does not take long."""
        # Where some w of the interior has w_j = 0, all signs occur, and column j is not needed.
        signed = {j for j in kept if self.w[j] != 0 and self.fates[j] == "diverges"}
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
                self.fates[j] = "+inf" if self.w[j] > 0 else "-inf"
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
                if passes.least(exact.floats(u), self.limits).separates:
                    signed -= {kept[k] for k in np.flatnonzero(u[first:] * w[first:] <= 0.0)}

    def _hold_responsible(self, name: Hashable, found: Finding) -> None:
        if found.kind == "inseparable":
            self.responsible.append(name)
        self.complete &= found.kind not in (None, "not separable")

    def _separated(self, found: Finding) -> int:
        """How many rows can be strictly on their side, at most."""
        n = self.problem.n
        few = {"inseparable": 0, "quasi-separable": found.n_separated, "not separable": n - 1}
        return few.get(str(found.kind), n)

    def _without(self, numbers: Sequence[int]) -> Finding:
        """What is proved of the rows without some columns."""
        found = find(LocalPasses(self._left_out(numbers)), "kind", 1e-8, self.limits, None)
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


def _unit_vectors(passes: Passes, rows: Indices, limits: Limits) -> npt.NDArray[np.bool_]:
    """For each j whether e_j is in the row space of some rows."""
    few = rows[:: max(1, len(rows) // (4 * passes.p))]
    for some in (few, rows):
        quick = passes.over(RowSpace(passes.some(some), _PRIMES[:1]), limits)
        if quick.is_full():
            return np.ones(passes.p, dtype=np.bool_)
    return passes.over(RowSpace(passes.some(rows), _PRIMES), limits).unit_vectors()


@dataclass
class RowSpace(Visit):
    """Random mixtures of the rows marked, modulo primes.

    p + 8 mixtures span the same row space, but for bad luck. The factors of a row depend on its
    number only, so that ranges of rows may be seen in any order.
    """

    marked: RowSet
    primes: tuple[int, ...]
    mixtures: list[npt.NDArray[np.int64]] = field(init=False, default_factory=list)

    def look_at(self, part: Part) -> None:
        """Add these rows, each times its random factors."""
        shape = (part.p + _SPARE, part.p)
        self.mixtures = [np.zeros(shape, dtype=np.int64) for _ in self.primes]
        marked = np.flatnonzero(part.of(self.marked))
        for start in range(0, len(marked), _TERMS):
            some = marked[start : start + _TERMS]
            for rows, block in part.blocks(some):
                self._add(block, part.first + some[rows])

    def merge(self, other: RowSpace) -> None:
        """Add the mixtures of the other."""
        self.mixtures = self.mixtures or [np.zeros_like(mixture) for mixture in other.mixtures]
        for mixture, more, prime in zip(self.mixtures, other.mixtures, self.primes, strict=True):
            mixture += more
            mixture %= prime

    def _add(self, block: Block, numbers: Indices) -> None:
        mantissas, exponents = np.frexp(block.A)
        whole = (mantissas * 2.0**53).astype(np.int64)
        for k, (mixture, prime) in enumerate(zip(self.mixtures, self.primes, strict=True)):
            residues = whole % prime * _powers(prime)[exponents + 1100] % prime
            mix = _factors(numbers, len(mixture), k) % prime
            found = mix.astype(np.float64) @ residues.astype(np.float64)
            mixture[:, block.columns] += found.astype(np.int64) % prime
            mixture %= prime

    def is_full(self) -> bool:
        """Whether the rows marked span everything; if so, that is proved."""
        mixture, prime = self.mixtures[0], self.primes[0]
        return bool(_modulo(mixture, prime).rank() == mixture.shape[1])

    def unit_vectors(self) -> npt.NDArray[np.bool_]:
        """For each j whether e_j is in the row space of the rows marked."""
        pairs = zip(self.mixtures, self.primes, strict=True)
        answers = [_eliminate(mixture, prime) for mixture, prime in pairs]
        largest = max(rank for rank, _ in answers)
        spanned = [units for rank, units in answers if rank == largest]
        return np.asarray(np.logical_and.reduce(spanned), dtype=np.bool_)


def _factors(numbers: Indices, n_mixtures: int, k: int) -> npt.NDArray[np.int64]:
    """Random factors of rows by their numbers, one column each (splitmix64)."""
    seed = np.arange(n_mixtures, dtype=np.uint64)[:, None] * np.uint64(0xD1342543DE82EF95)
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + seed + np.uint64(k + 1)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(2)).astype(np.int64)


def _modulo(M: npt.NDArray[np.int64], prime: int) -> Any:
    import flint

    return flint.nmod_mat(*M.shape, M.ravel().tolist(), prime)


def _eliminate(M: npt.NDArray[np.int64], prime: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """The rank modulo a prime, and the unit vectors among the rows of the reduced form."""
    reduced, rank = _modulo(M, prime).rref()
    entries = np.array([int(value) for value in reduced.entries()]).reshape(M.shape)[:rank]
    alone = entries[np.count_nonzero(entries, axis=1) == 1]
    return rank, np.asarray(alone.any(axis=0))


@cache
def _powers(prime: int) -> npt.NDArray[np.int64]:
    """2^(e − 53) modulo the prime, at e + 1100."""
    return np.array([pow(2, e - 53, prime) for e in range(-1100, 1100)], dtype=np.int64)
