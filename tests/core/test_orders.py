"""Every index rule yields the rows that its docstring promises."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from sklearn.base import clone

import novikoff as nv
from novikoff.core import orders
from novikoff.core.orders import Blocks, Candidates, Chaotic, Cyclic, Fixed, Permuted, Random
from novikoff.core.rows import Indices
from novikoff.core.trace import Trace
from tests.cases import SEQUENCES, case_named


def deal(order: orders.Order, candidates: Candidates, count: int, seed: int = 0) -> list[Indices]:
    return list(itertools.islice(order.epochs(candidates, np.random.default_rng(seed)), count))


def candidates_of(rows: Iterable[int], norms: Iterable[float] | None = None) -> Candidates:
    numbers = np.array(list(rows))
    squared = np.ones(len(numbers)) if norms is None else np.array(list(norms), dtype=float)
    return Candidates(numbers, lambda: squared)


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_epoch_that_covers_visits_every_row_and_no_other(name: str) -> None:
    candidates = candidates_of([5, 3, 8, 100, 41, 7, 2, 11, 12, 13])
    order = SEQUENCES[name](10)
    for epoch in deal(order, candidates, 5):
        assert set(epoch) <= set(candidates.rows)
        if order.covers:
            assert set(epoch) == set(candidates.rows)
        if order.covers and not isinstance(order, Chaotic):
            assert len(epoch) == 10


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_same_seed_deals_the_same_epochs(name: str) -> None:
    candidates = candidates_of(range(30))
    first, again = (deal(SEQUENCES[name](30), candidates, 4, seed=7) for _ in range(2))
    assert [e.tolist() for e in first] == [e.tolist() for e in again]
    if name not in ("cyclic", "chaotic"):
        other = deal(SEQUENCES[name](30), candidates, 4, seed=8)
        assert [e.tolist() for e in first] != [e.tolist() for e in other]


def test_fixed_draws_once_and_permuted_anew() -> None:
    candidates = candidates_of(range(40))
    fixed = [tuple(e) for e in deal(Fixed(), candidates, 5)]
    permuted = [tuple(e) for e in deal(Permuted(), candidates, 5)]
    assert [e.tolist() for e in deal(Cyclic(), candidates, 3)] == [list(range(40))] * 3
    assert len(set(fixed)) == 1
    assert fixed[0] != tuple(range(40))
    assert len(set(permuted)) == 5


@pytest.mark.parametrize(("n", "size"), [(20, 5), (23, 5), (4, 5), (1, 1), (64, 64), (130, 64)])
def test_blocks_deals_blocks_of_neighbours(n: int, size: int) -> None:
    candidates = candidates_of(range(n))
    blocks = [set(range(k, min(k + size, n))) for k in range(0, n, size)]
    for epoch in deal(Blocks(size), candidates, 10):
        rest = epoch.tolist()
        seen = []
        while rest:
            block = next(b for b in blocks if rest[0] in b)
            assert set(rest[: len(block)]) == block
            seen.append(min(block))
            rest = rest[len(block) :]
        assert sorted(seen) == [min(b) for b in blocks]


def test_blocks_are_shuffled_without_and_within() -> None:
    epochs = np.array(deal(Blocks(10), candidates_of(range(50)), 2000))
    first_block = epochs[:, 0] // 10
    within = epochs % 10
    assert np.abs(np.bincount(first_block, minlength=5) / 2000 - 0.2).max() < 0.04
    for position in range(50):
        share = np.bincount(within[:, position], minlength=10) / 2000
        assert np.abs(share - 0.1).max() < 0.04
    # The order within one block says nothing about the order within the next.
    assert abs(np.corrcoef(within[:, 0], within[:, 10])[0, 1]) < 0.08


@pytest.mark.parametrize("given", [True, False])
def test_random_draws_with_the_right_probabilities(given: bool) -> None:
    p = np.array([1.0, 0.0, 4.0, 5.0, 10.0])
    order = Random(p) if given else Random()
    candidates = candidates_of([10, 11, 12, 13, 14], norms=p)
    drawn = np.concatenate(deal(order, candidates, 8000))
    assert len(drawn) == 40000
    share = np.bincount(drawn - 10, minlength=5) / 40000
    assert share[1] == 0.0
    assert np.abs(share - p / 20.0).max() < 4 * 0.5 / np.sqrt(40000)


def test_rows_of_zeros_are_drawn_alike() -> None:
    candidates = candidates_of(range(3), norms=np.zeros(3))
    share = np.bincount(np.concatenate(deal(Random(), candidates, 4000)), minlength=3) / 12000
    assert np.abs(share - 1 / 3).max() < 4 * 0.5 / np.sqrt(12000)


def test_random_draws_are_independent() -> None:
    drawn = np.concatenate(deal(Random([1, 1]), candidates_of([0, 1]), 20000)).astype(float)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_only_the_ratios_of_p_count(size: float) -> None:
    candidates = candidates_of(range(3))
    plain = deal(Random([1, 2, 3]), candidates, 3)
    scaled = deal(Random(np.array([1, 2, 3]) * size), candidates, 3)
    assert [e.tolist() for e in plain] == [e.tolist() for e in scaled]


def test_chaotic_deals_the_callers_sequence_in_windows() -> None:
    sequence = [0, 1, 1, 2, 0, 2, 1, 0, 2, 1, 1, 0, 2]
    epochs = deal(Chaotic(sequence, window=4), candidates_of([7, 8, 9]), 9)
    assert [e.tolist() for e in epochs] == [[7, 8, 8, 9], [7, 9, 8, 7], [9, 8, 8, 7]]


@pytest.mark.parametrize("odd", [1.5, "1", None])
def test_rows_and_sizes_are_whole_numbers(odd: object) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        deal(Chaotic(cast("list[int]", [0, odd, 2]), window=3), candidates_of(range(3)), 1)
    with pytest.raises(ValueError, match="at least one row"):
        Blocks(cast(int, odd))
    with pytest.raises(ValueError, match="cannot visit"):
        deal(Chaotic([0, 1, 2], window=cast(int, odd)), candidates_of(range(3)), 1)


def test_chaotic_allows_gaps_of_exactly_a_window() -> None:
    order = Chaotic([0, 1, 2] * 5, window=3)
    assert len(deal(order, candidates_of(range(3)), 9)) == 5


@pytest.mark.parametrize(("name", "rule"), orders.BY_NAME.items())
def test_rules_by_name(name: str, rule: type[orders.Order]) -> None:
    assert type(orders.named(name)) is rule


def test_an_order_is_its_own_name_and_others_are_rejected() -> None:
    order = Blocks(3)
    assert orders.named(order) is order
    with pytest.raises(ValueError, match="Unknown order 'Cyclic'; the orders are cyclic, fixed"):
        orders.named("Cyclic")
    with pytest.raises(ValueError, match="at least one row, not 0"):
        Blocks(0)


@pytest.mark.parametrize("thing", [3, None, Permuted, orders.MaxDistance], ids=repr)
def test_what_is_no_rule_is_rejected(thing: object) -> None:
    """The class of a rule is rejected too: only its instances are rules."""
    with pytest.raises(ValueError, match="name, a list of row numbers or an object"):
        orders.named(cast(orders.Order, thing))


@pytest.mark.parametrize(
    ("sequence", "window", "message"),
    [
        ([0, 1, 2, 0, 1, 1], 3, "row 2 unvisited for more than 3 steps"),
        # Each window visits all three rows, but row 0 is not visited for six steps in between.
        ([0, 1, 2, 1, 2, 1, 2, 0], 4, "row 0 unvisited for more than 4 steps"),
        ([0, 1, 2, 2, 1, 0, 0, 0, 1, 2], 5, "row 2 unvisited"),  # at steps 3 and 9
        ([0, 1, 2, 3], 4, "names row 3 of 3 rows"),
        ([0, 1, 2, -1], 4, "names row -1 of 3 rows"),
        ([0, 1, 2], 2, "window of 2 steps cannot visit 3 rows"),
    ],
    ids=str,
)
def test_chaotic_keeps_the_caller_to_his_promise(
    sequence: list[int], window: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        deal(Chaotic(sequence, window=window), candidates_of(range(3)), 2)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        *((p, "needs 3 probabilities, one per row") for p in ([1, 2], [[1, 2, 3]], [1, 2, 3, 4])),
        *((p, "finite, not negative, and") for p in ([1, -1, 1], [0, 0, 0], [1, np.nan, 1])),
    ],
    ids=str,
)
def test_probabilities_are_checked(p: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deal(Random(p), candidates_of(range(3)), 1)


def test_a_list_of_row_numbers_is_a_cycle() -> None:
    X, y, cycle = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1]), [3, 1, 0, 2]
    own = nv.Perceptron(order="cyclic", trace=True).fit(X[cycle], y[cycle])
    assert isinstance(own.trace_, Trace)
    for order in (cycle, tuple(cycle), np.array(cycle)):
        with case_named(type(order).__name__):
            clf = nv.Perceptron(order=order, trace=True).fit(X, y)
            assert isinstance(clf.trace_, Trace)
            assert clf.trace_.index.tolist() == np.array(cycle)[own.trace_.index].tolist()
            assert clf.coef_.tolist() == own.coef_.tolist()
    assert clone(nv.Perceptron(order=[1, 0])).order == [1, 0]
    twice = nv.Perceptron(order=[0, 3, 1, 3, 2], max_epochs=None).fit(X, y)
    assert twice.converged_


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 1, 2], "leaves out row 3 of 4 rows"),
        ([], "leaves out row 0"),
        ([0, 1, 2, 3, 4], "names row 4 of 4 rows"),
        ([0, 1, 2, -1], "names row -1 of 4 rows"),
        ([0, 1, 2, 1.5], "whole numbers"),
        (["a"], "whole numbers"),
        ([[0, 1], [2, 3]], "whole numbers"),
        ([True, False], "whole numbers"),
    ],
    ids=str,
)
def test_a_list_that_is_no_cycle_is_rejected(order: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nv.Perceptron(order=order).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])


def test_a_cycle_for_pairs_of_classes_and_in_a_file(tmp_path: Path) -> None:
    X, y = [[0.0, 1.0], [5.0, 0.0], [-5.0, -4.0]], ["a", "b", "c"]
    clf = nv.Perceptron(order=[2, 0, 1], multi_class="ovo", trace=True).fit(X, y)
    assert isinstance(clf.trace_, list)
    assert [trace.index[0] for trace in clf.trace_] == [0, 2, 2]
    nv.save(clf, tmp_path / "model.safetensors")
    assert nv.load(tmp_path / "model.safetensors").order == [2, 0, 1]
