"""The fewest mistakes by implicit hitting sets: contradictions, found as they are needed.

Objective
    Minimise Σ_{i∈H} c_i over sets H of rows that have a row of each contradiction.
Input
    The signed rows a_i, the costs c_i, by default 1, and some contradictions.
Output
    Rules, and a proof of a lower bound on the cost of every rule.

The misclassified rows of a rule have a row of each contradiction, and if a set of rows has a row of
each, the other rows are separable. So the fewest mistakes are the smallest hitting set of all
contradictions. There are too many contradictions to list. The search takes a smallest hitting set
of those that are known. If the other rows are separable, this set is the optimum, and the rule that
separates them is the best one. Otherwise some of the other rows contradict each other, and the
contradictions among them are added.

References
----------
Chandrasekaran, K., Karp, R., Moreno-Centeno, E. and Vempala, S. (2011). Algorithms for implicit
hitting set problems. *Proceedings of the 22nd ACM-SIAM Symposium on Discrete Algorithms*, 614-629.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.hitting_sets import best_shares, prove_bound, smallest_hitting_set
from novikoff.geometry.packing import Packing
from novikoff.geometry.passes import Passes
from novikoff.proofs.dependence import Dependence
from novikoff.proofs.hitting import Branch

# A bound is proved by a tree of cases if shares prove at least the bound minus this number.
_GAP = 3


@dataclass(frozen=True)
class HitBound:
    """A lower bound on the cost of mistakes, and its proof: contradictions, shares, and cases."""

    claims: tuple[Dependence, ...]
    shares: tuple[Fraction, ...]
    branches: tuple[Branch, ...]
    bound: Fraction


def hit_contradictions(
    passes: Passes,
    claims: Sequence[Dependence],
    costs: Vector | None,
    best: Fraction,
    improve: Callable[[Vector], Fraction],
    limits: Limits,
) -> Iterator[HitBound]:
    """Look for better rules and contradictions; yield the bounds that are proved at the end.

    Parameters
    ----------
    passes, claims, costs
        The rows, some contradictions among them, and the cost of a mistake on each row.
    best
        The cost of the best rule that is known.
    improve
        A function that is called with the weights of each rule that is found, and that returns the
        cost of the best rule.
    limits
        The limit on time.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.core.problem import signed_problem
    >>> from novikoff.geometry.passes import LocalPasses
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> passes = LocalPasses(signed_problem(X, np.array([1, -1, 1, -1, 1], dtype=np.int8), True))
    >>> *_, hit = hit_contradictions(
    ...     passes, (), None, Fraction(2), lambda w: Fraction(2), Limits()
    ... )
    >>> hit.bound
    Fraction(2, 1)
    """
    claims = list(claims)
    searching = limits.part(0.6)
    least = Fraction(0)  # HiGHS says that no hitting set of the known contradictions costs less
    while searching.reached() is None:
        sets = [claim.among or () for claim in claims]
        hitting = smallest_hitting_set(sets, costs, searching)
        if hitting is None:
            break
        if hitting.claimed:
            least = max(least, hitting.cost)
        if least >= best:
            break
        packing = Packing(passes, costs)
        packing.leave_out(hitting.elements)
        while packing.take_next(searching):
            pass
        if packing.separator is not None:
            best = improve(packing.separator)
        if not packing.contradictions:
            break
        claims += packing.contradictions
    yield from _bounds(claims, passes.n, costs, min(least, best), limits)


def _bounds(
    claims: Sequence[Dependence],
    n: int,
    costs: Vector | None,
    target: Fraction,
    limits: Limits,
) -> Iterator[HitBound]:
    """Yield the bound by shares, and a larger one, up to ``target``, by a tree of cases."""
    sets = [claim.among or () for claim in claims]
    _, shares, by_shares = best_shares(sets, n, costs, Fraction(0), limits)
    if not shares:
        return
    used = [k for k, share in enumerate(shares) if share > 0]
    yield _of(claims, shares, (), used, by_shares)
    if target > by_shares + _GAP:
        target = by_shares + _GAP
    while target > by_shares and limits.reached() is None:
        branches = prove_bound(sets, costs, target, limits.part(0.5))
        if branches is not None:
            used = sorted({*used, *(k for branch in branches for k in branch.sets)})
            yield _of(claims, shares, branches, used, target)
            return
        target = Fraction(ceil(target) - 1)


def _of(
    claims: Sequence[Dependence],
    shares: Sequence[Fraction],
    branches: Sequence[Branch],
    used: Sequence[int],
    bound: Fraction,
) -> HitBound:
    """The bound with the contradictions that its proof uses."""
    places = {k: place for place, k in enumerate(used)}
    tree = tuple(replace(branch, sets=tuple(places[k] for k in branch.sets)) for branch in branches)
    chosen = tuple(claims[k] for k in used), tuple(shares[k] for k in used)
    return HitBound(*chosen, tree, bound)
