"""The pocket algorithm, in the form of Gallant and as textbooks print it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice, pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.pocket import (
    PocketResult,
    PocketStep,
    averaged_perceptron,
    fill_pocket,
    pocket_steps,
)
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.stops import Limits
from tests.cases import csr, noisy, planted
from tests.oracle import cost, margins, signed

STRATEGIES = ["ratchet", "run_length"]


def gallant(
    A: Vector,
    most: int,
    rng: np.random.Generator,
    strategy: str,
    start: Vector | None = None,
    weights: Vector | None = None,
) -> PocketResult:
    """The pocket algorithm of Gallant (1990), with rows drawn as in `fill_pocket`."""
    costs = np.ones(len(A)) if weights is None else weights
    w = np.zeros(A.shape[1]) if start is None else start.copy()
    kept = PocketResult(w.copy(), cost(A, w, costs), 0, [(0, cost(A, w, costs))])
    length = longest = 0
    shares = None if weights is None else weights / weights.sum()
    while kept.cost > 0 and kept.updates < most:
        i = int(rng.integers(len(A)) if shares is None else rng.choice(len(A), p=shares))
        if not margins(A[i : i + 1], w)[0] > 0:
            w += A[i]
            kept.updates += 1
            length = 0
            continue
        length += 1
        errors = cost(A, w, costs)
        if length > longest and (strategy == "run_length" or errors < kept.cost):
            longest = length
            kept.w, kept.cost = w.copy(), errors
            kept.history.append((kept.updates, errors))
    return kept


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_pocket_is_that_of_the_book(
    strategy: str, seed: int, started: bool, weighted: bool
) -> None:
    """With integers and halves, every sum is exact, so both make the same run."""
    X, signs = noisy(seed, 40, 3)
    rng = np.random.default_rng(seed)
    start = np.append(rng.integers(-5, 6, size=3), 1.0) if started else None
    costs = rng.choice(np.array([0.5, 1.0, 4.0]), size=40) if weighted else None
    limits, rng = Limits(updates=150), np.random.default_rng(seed)
    found = fill_pocket(
        signed_problem(X, signs, True), limits, rng, strategy=strategy, start=start, costs=costs
    )
    A = signed(X, signs, True)
    expected = gallant(A, 150, np.random.default_rng(seed), strategy, start, costs)
    assert found.w.tolist() == expected.w.tolist()
    assert (found.cost, found.updates) == (expected.cost, expected.updates)
    # A run of correct rows that continues is the same entry of the pocket.
    assert found.history[-1] == expected.history[-1]
    assert set(found.history) == set(expected.history)
    errors = [price for _, price in found.history]
    assert strategy == "run_length" or all(after < before for before, after in pairwise(errors))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_ends_when_there_are_no_mistakes(strategy: str) -> None:
    case = planted(1, 100, 3, gap=0.3)
    problem = signed_problem(case.X, case.signs, True)
    kept = fill_pocket(problem, Limits(), np.random.default_rng(0), strategy=strategy)
    assert kept.cost == 0.0
    assert cost(case.rows, kept.w, np.ones(100)) == 0.0
    again = fill_pocket(problem, Limits(), np.random.default_rng(0), start=kept.w)
    assert (again.updates, again.history) == (0, [(0, 0.0)])


def test_rows_too_light_to_be_drawn_do_not_hang_it() -> None:
    """The algorithm does not wait for a mistake that is drawn once in 10¹² draws."""
    problem = signed_problem(
        np.array([[1.0], [1.0], [0.0]]), np.array([1, -1, -1], dtype=np.int8), True
    )
    costs = np.array([1.0, 1e-12, 1.0])
    kept = fill_pocket(problem, Limits(updates=1000), np.random.default_rng(0), costs=costs)
    assert kept.cost == 1e-12


def row_by_row(steps: Iterable[PocketStep], A: Vector, costs: Vector) -> list[PocketStep]:
    """Check that each step corrects a mistake and compares all rows; sums of integers are exact."""
    found = list(steps)
    fewest = math.inf
    for k, step in enumerate(found):
        assert step.mistakes == cost(A, step.w, costs)
        assert step.kept == (step.mistakes < fewest)
        fewest = min(fewest, step.mistakes)
        if k > 0:
            before = found[k - 1].w
            assert margins(A[step.row : step.row + 1], before)[0] <= 0.0
            assert costs[step.row] > 0.0
            assert step.w.tolist() == (before + A[step.row]).tolist()
    return found


@pytest.mark.parametrize("storage", [np.asarray, csr])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_step_is_that_of_the_textbook(
    seed: int, fit_intercept: bool, storage: Callable[[Vector], Vector]
) -> None:
    X, signs = noisy(seed, 25, 3)
    rng = np.random.default_rng(seed)
    costs = rng.choice(np.array([0.0, 0.5, 1.0, 4.0]), size=25) if seed % 2 else None
    start = np.append(rng.integers(-5, 6, size=3), float(fit_intercept)) if seed > 1 else None
    problem, A = signed_problem(storage(X), signs, fit_intercept), signed(X, signs, True)
    A[:, -1] *= fit_intercept
    steps = islice(pocket_steps(problem, rng, start=start, costs=costs), 80)
    found = row_by_row(steps, A, np.ones(25) if costs is None else costs)
    assert found[0].row == -1
    assert found[0].w.tolist() == (np.zeros(4) if start is None else start).tolist()
    assert len({step.row for step in found}) > 5


def test_the_steps_end_without_a_mistake() -> None:
    case = planted(1, 60, 3, gap=0.3)
    *_, last = pocket_steps(signed_problem(case.X, case.signs, True), np.random.default_rng(0))
    assert (last.mistakes, last.kept) == (0.0, True)
    *_, same = pocket_steps(
        signed_problem(case.X, case.signs, True), np.random.default_rng(0), start=last.w
    )
    assert (same.row, same.mistakes) == (-1, 0.0)


class Recorded:
    """Draws rows at random and remembers them."""

    def __init__(self, seed: int) -> None:
        self.rng, self.drawn = np.random.default_rng(seed), list[int]()

    def integers(self, n: int, *, size: int) -> Indices:
        picks = self.rng.integers(n, size=size)
        self.drawn += picks.tolist()
        return picks


def test_the_averaged_perceptron_is_the_average_of_all_weights() -> None:
    X, signs = noisy(2, 30, 3)
    A, rng = signed(X, signs, True), Recorded(5)
    found = averaged_perceptron(signed_problem(X, signs, True), Limits(), cast(Any, rng), None)
    w, total = np.zeros(4), np.zeros(4)
    for i in rng.drawn:
        w = w + A[i] * (A[i] @ w <= 0.0)
        total += w
    assert len(rng.drawn) >= 3 * 30
    np.testing.assert_allclose(found, total / len(rng.drawn), rtol=1e-9)
