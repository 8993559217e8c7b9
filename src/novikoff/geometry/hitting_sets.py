"""Sets of least cost that have an element of each of several sets, with proved lower bounds.

Objective
    Minimise Σ_{i∈H} c_i over sets H that have an element of each given set (*hitting sets*).
Input
    Sets of numbers, and a cost for each number, by default 1.
Output
    A hitting set (`smallest_hitting_set`), and the proof of a lower bound on the cost of every
    hitting set: shares (`best_shares`) or a tree of cases (`prove_bound`), as defined in
    `novikoff.proofs.hitting`.

The hitting set of least cost is an integer program, and the shares are the dual of its linear
relaxation. HiGHS solves both. Its answers are suggestions: a hitting set is checked by looking at
every set, and shares are rounded to fractions and checked by `novikoff.proofs.hitting`.

References
----------
Chandrasekaran, K., Karp, R., Moreno-Centeno, E. and Vempala, S. (2011). Algorithms for implicit
hitting set problems. *Proceedings of the 22nd ACM-SIAM Symposium on Discrete Algorithms*, 614-629.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from novikoff.errors import CertificateError
from novikoff.geometry.linear_algebra import solve_exactly
from novikoff.proofs.exact import numbers
from novikoff.proofs.hitting import Branch, add_up, branching_bound

# Shares below _NOTHING are rounding errors.
_NOTHING = 1e-9
# Shares are first rounded to fractions with a denominator up to this one.
_SIMPLE = 10_000
# The equations of a vertex are solved in fractions if there are at most _MOST_EQUATIONS of them.
_MOST_EQUATIONS = 60
# A tree of cases has at most this many leaves.
MOST_LEAVES = 500


@dataclass(frozen=True)
class HittingSet:
    """A hitting set, its exact cost, and whether HiGHS says that no hitting set costs less.

    ``claimed`` is a statement of HiGHS in floating-point arithmetic, and is not proved.
    """

    elements: tuple[int, ...]
    cost: Fraction
    claimed: bool


def smallest_hitting_set(
    sets: Sequence[Sequence[int]], costs: Vector | None, limits: Limits
) -> HittingSet | None:
    """Return a hitting set of small cost; None if a set is empty, or if the time is up.

    ``costs`` has the cost of each element by its number.

    Examples
    --------
    >>> smallest_hitting_set([(0, 1), (1, 2), (1, 3)], None, Limits())
    HittingSet(elements=(1,), cost=Fraction(1, 1), claimed=True)
    """
    if not all(len(part) > 0 for part in sets):
        return None
    elements, within = _incidence(sets)
    prices = np.ones(len(elements)) if costs is None else costs[elements]
    if len(sets) == 0:
        return HittingSet((), Fraction(0), claimed=True)
    seconds_left = limits.seconds_left()
    options: Any = {} if seconds_left is None else {"time_limit": max(seconds_left, 1e-3)}
    answer = milp(
        prices / prices.max() if prices.max() > 0.0 else prices,
        integrality=np.ones(len(elements), dtype=np.int64),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(within.T, lb=1.0),
        options=options,
    )
    if answer.x is None:
        return None
    chosen = {*elements[answer.x > 0.5].tolist()}
    if not all(chosen & {*part} for part in sets):
        return None
    cost = sum((Fraction(1 if costs is None else float(costs[i])) for i in chosen), Fraction(0))
    return HittingSet(tuple(sorted(chosen)), cost, claimed=answer.status == 0)


def best_shares(
    sets: Sequence[Sequence[int]], n: int, costs: Vector | None, best: Fraction, limits: Limits
) -> tuple[Vector, list[Fraction], Fraction]:
    """Return prices y_i of the n elements, the best shares v_S, and the bound that they prove.

    The shares maximise Σ v_S with Σ_{S∋i} v_S ≤ c_i, and the prices are the dual variables. If the
    shares do not improve the bound ``best``, there are no shares and the bound is 0.

    Examples
    --------
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> prices, shares, bound = best_shares(triangle, 3, None, Fraction(0), Limits())
    >>> shares, bound
    ([Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)], Fraction(2, 1))
    """
    prices = np.zeros(n)
    if len(sets) == 0:
        return prices, [], Fraction(0)
    elements, within = _incidence(sets)
    unit = 1.0 if costs is None else float(costs.max())
    right = np.ones(len(elements)) if costs is None else costs[elements] / unit
    seconds_left = limits.seconds_left()
    options: Any = {} if seconds_left is None else {"time_limit": max(seconds_left, 1e-3)}
    optimum = linprog(-np.ones(len(sets)), within, right, method="highs-ds", options=options)
    if optimum.x is None or optimum.slack is None or optimum.status != 0:
        return prices, [], Fraction(0)
    prices[elements] = -optimum.ineqlin.marginals
    if float(optimum.x.sum()) * unit <= best:
        return prices, [], Fraction(0)
    exact_costs = {i: Fraction(1 if costs is None else float(costs[i])) for i in elements.tolist()}
    optimum.x[optimum.x < _NOTHING] = 0.0
    shares = list[Fraction]()
    for shares in _rounded(optimum.x, optimum.slack, within, [*exact_costs.values()], unit):
        try:
            return prices, shares, add_up(sets, shares, exact_costs)
        except CertificateError:  # the shares of some element exceed its cost
            continue
    return prices, shares, Fraction(0)


def prove_bound(
    sets: Sequence[Sequence[int]],
    costs: Vector | None,
    target: Fraction,
    limits: Limits,
    most: int = MOST_LEAVES,
) -> tuple[Branch, ...] | None:
    """Prove that every hitting set costs at least ``target``; None without a proof.

    The tree of cases has at most ``most`` leaves. Each node decides about an element whose price
    in the linear relaxation is near 1/2, and that is in many sets.

    Examples
    --------
    >>> pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    >>> tree = prove_bound(pairs, None, Fraction(3), Limits())
    >>> [branch.element for branch in tree]
    [0, None, None]
    """
    n = 1 + max((i for part in sets for i in part), default=-1)
    exact_costs = [Fraction(1)] * n if costs is None else [Fraction(c) for c in costs.tolist()]
    whole = all(cost.denominator == 1 for cost in exact_costs)
    tree: list[Branch] = []
    waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    leaves = 0
    while waiting:
        if limits.reached() is not None or leaves + len(waiting) > most:
            return None
        taken, excluded = waiting.pop()
        paid = sum((exact_costs[i] for i in taken), Fraction(0))
        open_sets = [k for k, part in enumerate(sets) if taken.isdisjoint(part)]
        parts = [[i for i in sets[k] if i not in excluded] for k in open_sets]
        empty = next((k for k, part in zip(open_sets, parts, strict=True) if not part), None)
        if empty is not None:
            tree.append(Branch(None, (empty,), (Fraction(0),)))
        elif paid >= target:
            tree.append(Branch(None))
        else:
            before = target - paid - 1 if whole else Fraction(0)
            prices, shares, bound = best_shares(parts, n, costs, before, limits)
            if paid + bound >= target:
                used = [j for j, share in enumerate(shares) if share > 0]
                places = tuple(open_sets[j] for j in used)
                tree.append(Branch(None, places, tuple(shares[j] for j in used)))
            else:
                fractional = np.minimum(prices, 1.0 - prices)
                if not fractional.max(initial=0.0) > 1e-6:  # an integer solution costs too little
                    return None
                uses = np.bincount(np.concatenate([np.array(part) for part in parts]), minlength=n)
                element = int(np.argmax(fractional * uses))
                tree.append(Branch(element))
                waiting += [(taken, excluded | {element}), (taken | {element}, excluded)]
                continue
        leaves += 1
    bound_of_all = branching_bound(sets, tree, exact_costs)
    return tuple(tree) if bound_of_all is None or bound_of_all >= target else None


def _rounded(
    x: Vector, slack: Vector, within: Any, costs: list[Fraction], unit: float
) -> Iterator[list[Fraction]]:
    """Yield fractions near the shares ``x``·``unit``, the better ones first.

    The shares of a vertex are often simple fractions, and always the solution of the equations of
    the elements without ``slack``. The last shares are reduced, so that no element exceeds its
    cost.
    """
    yield [Fraction(share).limit_denominator(_SIMPLE) * Fraction(unit) for share in x.tolist()]
    used, tight = np.flatnonzero(x), np.flatnonzero(slack < _NOTHING)
    if 0 < len(used) <= min(len(tight), _MOST_EQUATIONS):
        rows = within[:, used].toarray()[tight]
        chosen = tight[qr(rows.T, mode="r", pivoting=True)[1][: len(used)]]
        M = within[:, used].toarray()[chosen].astype(np.int64)
        right = numbers([costs[i] for i in chosen.tolist()])
        with suppress(ZeroDivisionError):  # the equations may be linearly dependent
            solution = solve_exactly(M, right.whole)
            shares = [Fraction(0)] * len(x)
            for k, share in zip(used.tolist(), solution, strict=True):
                shares[k] = share * right.unit
            yield shares
    yield [Fraction(share) for share in (x * (1.0 - 1e-6) * unit).tolist()]


def _incidence(sets: Sequence[Sequence[int]]) -> tuple[Indices, Any]:
    """Return all elements, and a matrix whose column k has a 1 for each element of set k."""
    ends = np.cumsum([0, *map(len, sets)])
    members = np.fromiter((i for part in sets for i in part), dtype=np.int64, count=int(ends[-1]))
    elements, places = np.unique(members, return_inverse=True)
    shape = len(elements), len(sets)
    return elements, sp.csc_array((np.ones(len(members)), places, ends), shape=shape)
