"""Systems of inequalities of statistical models, from their definitions, over the rationals.

Each function returns all rows of a model, each with the observation it belongs to, as fractions;
nothing of novikoff is imported, and nothing is left out because other rows imply it. `answers` asks
an exact simplex method about them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tests.separability_oracle import decide, in_cone

Row = list[Fraction]


class System(NamedTuple):
    """Weak rows with their observations, and equalities with theirs; p unknowns."""

    weak: list[tuple[int, Row]]
    equal: list[tuple[int, Row]]


class Answers(NamedTuple):
    kind: str
    separated: set[int]
    coefficients: list[str]


def minus(a: Row, b: Row) -> Row:
    return [x - y for x, y in zip(a, b, strict=True)]


def negative(a: Row) -> Row:
    return [-x for x in a]


def whole(a: Row) -> list[int]:
    """A multiple of a row whose entries are whole."""
    factor = math.lcm(*(value.denominator for value in a))
    return [int(value * factor) for value in a]


def rank(rows: Sequence[Row]) -> int:
    left, found = [list(row) for row in rows], 0
    for j in range(len(left[0]) if left else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][j]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for i in range(found + 1, len(left)):
            factor = left[i][j] / left[found][j]
            left[i] = [a - factor * b for a, b in zip(left[i], left[found], strict=True)]
        found += 1
    return found


def aliased(rows: Sequence[Row], p: int) -> list[int]:
    """The columns that do not raise the rank of the columns before them."""
    ranks = [rank([row[:j] for row in rows]) for j in range(p + 1)]
    return [j for j in range(p) if ranks[j + 1] == ranks[j]]


def answers(system: System, p: int) -> Answers:
    """Kind, separated observations, and the fate of each coefficient."""
    every = [row for _, row in (*system.weak, *system.equal)]
    gone = aliased(every, p)
    kept = [j for j in range(p) if j not in gone]

    def few(row: Row) -> Row:
        return [row[j] for j in kept]

    weak = [few(row) for _, row in system.weak]
    equal = [few(row) for _, row in system.equal]
    both = [sign for row in equal for sign in (row, negative(row))]
    apart = set(decide([*weak, *both]).separated) if kept and (weak or both) else set()
    separated = {system.weak[i][0] for i in apart}
    if not apart:
        kind = "overlap"
    elif len(apart) == len(weak) and not equal:
        kind = "complete separation"
    else:
        kind = "quasi-complete separation"
    fates = ["aliased"] * p
    for j in kept:
        fates[j] = functional(system, p, [Fraction(int(i == j)) for i in range(p)])
    return Answers(kind, separated, fates)


def functional(system: System, p: int, c: Row) -> str:
    """What becomes of c·β, whose entries at aliased columns do not count."""
    gone = aliased([row for _, row in (*system.weak, *system.equal)], p)
    kept = [j for j in range(p) if j not in gone]
    weak = [[row[j] for j in kept] for _, row in system.weak]
    equal = [[row[j] for j in kept] for _, row in system.equal]
    rows = [*weak, *equal, *map(negative, equal)]
    few = [c[j] for j in kept]
    if not any(few):
        return "finite"
    apart = set(decide(rows).separated)
    on = [row for i, row in enumerate(rows) if i not in apart]
    if on and rank([*on, few]) == rank(on):
        return "finite"
    if in_cone(rows, [int(value) for value in few]):
        return "+inf"
    return "-inf" if in_cone(rows, [-int(value) for value in few]) else "either sign"


def binomial(X: list[Row], s: Sequence[Any], m: Sequence[Any], link: str) -> System:
    weak, equal = [], []
    for i, x in enumerate(X):
        if s[i] == 0:
            weak.append((i, negative(x)))
        elif s[i] == m[i] and link != "log":
            weak.append((i, x))
        else:
            equal.append((i, x))
    return System(weak, equal)


def has_likelihood(X: list[Row], s: Sequence[Any], m: Sequence[Any], link: str) -> bool:
    """Whether the likelihood of a binomial model is not 0 for all coefficients.

    With the log link, P = exp(x·β) is a probability, and below 1 where a failure was observed. By
    Farkas, x·β ≤ 0 on all rows implies x·β ≥ 0 on a row exactly if −x is in the cone of the rows.
    The sum of solutions that are below 0 on one row each is below 0 on all of these rows.
    """
    if link != "log":
        return True
    failing = [x for x, own, trials in zip(X, s, m, strict=True) if own < trials]
    return not any(in_cone(X, whole(negative(x))) for x in failing)


def poisson(X: list[Row], y: Sequence[Any]) -> System:
    weak = [(i, negative(x)) for i, x in enumerate(X) if y[i] == 0]
    return System(weak, [(i, x) for i, x in enumerate(X) if y[i] > 0])


def multinomial(X: list[Row], counts: Sequence[Sequence[int]], baseline: int) -> System:
    """The score of class k is x·β_k; β of the baseline is 0."""
    K = len(counts[0])
    others = [k for k in range(K) if k != baseline]

    def score(x: Row, k: int) -> Row:
        return [value if k == own else Fraction(0) for own in others for value in x]

    weak, equal = [], []
    for i, x in enumerate(X):
        shown = [k for k in range(K) if counts[i][k] > 0]
        for c, k in product(shown, range(K)):
            if k in shown and k != c:
                equal.append((i, minus(score(x, c), score(x, k))))
            elif k != c:
                weak.append((i, minus(score(x, c), score(x, k))))
    return System(weak, equal)


def cumulative(X: list[Row], y: Sequence[int], K: int) -> System:
    """P(y ≤ j) = G(θ_j − x·β) for j = 0 … K − 2."""
    weak = []
    for i, x in enumerate(X):
        if y[i] < K - 1:
            weak.append((i, [Fraction(int(j == y[i])) for j in range(K - 1)] + negative(x)))
        if y[i] > 0:
            weak.append((i, [Fraction(-int(j == y[i] - 1)) for j in range(K - 1)] + list(x)))
    return System(weak, [])


def adjacent(X: list[Row], y: Sequence[int], K: int) -> System:
    def score(x: Row, j: int) -> Row:
        return [Fraction(int(m < j)) for m in range(K - 1)] + [j * value for value in x]

    weak = [
        (i, minus(score(x, y[i]), score(x, k)))
        for i, x in enumerate(X) for k in range(K) if k != y[i]
    ]  # fmt: skip
    return System(weak, [])


def sequential(X: list[Row], y: Sequence[int], K: int) -> System:
    weak = []
    for i, x in enumerate(X):
        for m in range(min(y[i] + 1, K - 1)):
            row = [Fraction(int(j == m)) for j in range(K - 1)] + list(x)
            weak.append((i, row if m < y[i] else negative(row)))
    return System(weak, [])


def cox(
    X: list[Row],
    duration: Sequence[float],
    event: Sequence[int],
    entry: Sequence[float] | None,
    strata: Sequence[int],
    ties: str,
) -> System:
    """All pairs of an event and someone at risk at its time."""
    weak, equal = [], []
    for i, k in product(range(len(X)), repeat=2):
        if i == k or not event[i] or strata[i] != strata[k]:
            continue
        t = duration[i]
        if duration[k] < t or (entry is not None and entry[k] >= t):
            continue
        tied = event[k] and duration[k] == t
        if not tied:
            weak.append((i, minus(X[i], X[k])))
        elif ties != "exact":
            equal.append((i, minus(X[i], X[k])))
    return System(weak, equal)


def preferences(X: list[Row], groups: Sequence[int], better: Callable[[int, int], bool]) -> System:
    """All pairs of the same group of which the first is preferred to the second."""
    weak = [
        (i, minus(X[i], X[k]))
        for i, k in product(range(len(X)), repeat=2)
        if groups[i] == groups[k] and better(i, k)
    ]
    return System(weak, [])


def bradley_terry(wins: Sequence[Sequence[int]], reference: int) -> System:
    n = len(wins)
    weak = []
    for i, j in product(range(n), repeat=2):
        if wins[i][j] > 0:
            row = [Fraction(int(m == i) - int(m == j)) for m in range(n) if m != reference]
            weak.append((i, row))
    return System(weak, [])
