"""Hitting sets and their lower bounds are compared with all subsets of the elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.errors import CertificateError
from novikoff.geometry.hitting_sets import best_shares, prove_bound, smallest_hitting_set
from novikoff.proofs.hitting import Branch, branching_bound

Tree = tuple[Branch, ...]
PRICES = {
    "ones": None,
    "integers": np.array([1.0, 2.0, 5.0, 3.0] * 3),
    "fractions": np.array([0.1, 0.7, 1.3, 0.3] * 3),
}


def random_sets(seed: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 10))
    return [
        tuple(sorted(rng.choice(n, size=int(rng.integers(1, 4)), replace=False).tolist()))
        for _ in range(int(rng.integers(1, 14)))
    ]


def least(sets: Sequence[Sequence[int]], costs: Sequence[Fraction]) -> Fraction:
    """The least cost of all subsets that hit every set."""
    elements = sorted({i for part in sets for i in part})
    return min(
        sum((costs[i] for i in chosen), Fraction(0))
        for size in range(len(elements) + 1)
        for chosen in combinations(elements, size)
        if all(not {*chosen}.isdisjoint(part) for part in sets)
    )


def exactly(costs: Vector | None) -> list[Fraction]:
    return [Fraction(1)] * 12 if costs is None else [Fraction(c) for c in costs.tolist()]


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_set_and_its_proof_agree_with_all_subsets(seed: int, prices: str) -> None:
    sets, costs = random_sets(seed), PRICES[prices]
    optimum = least(sets, exactly(costs))
    found = smallest_hitting_set(sets, costs, Limits())
    assert found is not None
    assert found.claimed
    assert found.cost == optimum
    _, _, bound = best_shares(sets, 12, costs, Fraction(0), Limits())
    assert bound <= optimum
    tree = prove_bound(sets, costs, optimum, Limits())
    assert tree is not None
    assert branching_bound(sets, tree, exactly(costs)) == optimum
    assert prove_bound(sets, costs, optimum + Fraction(1, 1000), Limits()) is None


PAIRS = [*combinations(range(5), 2)]  # a hitting set has four elements, but the shares prove three
FORGERIES: dict[str, Callable[[Tree], Tree]] = {
    "a leaf is left out": lambda tree: tree[:-1],
    "a leaf twice": lambda tree: (*tree, tree[-1]),
    "only a leaf": lambda tree: tree[-1:],
    "no branches": lambda tree: (),
    "shares raised": lambda tree: (
        *tree[:-1], replace(tree[-1], shares=tuple(2 * v for v in tree[-1].shares)),
    ),
    "shares below 0": lambda tree: (
        *tree[:-1], replace(tree[-1], shares=tuple(-v for v in tree[-1].shares)),
    ),
    "a set twice": lambda tree: (*tree[:-1], replace(tree[-1], sets=(tree[-1].sets[0],) * 2)),
    "a set beyond all": lambda tree: (*tree[:-1], replace(tree[-1], sets=(99,))),
    "a set before all": lambda tree: (*tree[:-1], replace(tree[-1], sets=(-1,))),
    "an element twice": lambda tree: (tree[0], *tree),
    "a case called impossible": lambda tree: (
        *tree[:-1], Branch(None, (next(k for k, p in enumerate(PAIRS) if 0 not in p),), ()),
    ),
    "a hit set counted": lambda tree: (
        Branch(0), Branch(None, (0,), (Fraction(9),)), *tree[2:],
    ),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_trees_are_rejected(forgery: str) -> None:
    tree = prove_bound(PAIRS, None, Fraction(4), Limits())
    assert tree is not None
    assert len(tree) > 1
    forged = FORGERIES[forgery](tree)
    try:
        bound = branching_bound(PAIRS, forged, exactly(None))
    except CertificateError:
        return
    assert bound is not None
    assert bound < 4


def test_the_size_of_a_tree_is_limited() -> None:
    assert prove_bound(PAIRS, None, Fraction(4), Limits(), most=1) is None
    assert smallest_hitting_set([(0, 1), ()], None, Limits()) is None
