"""B8: the weights stay bounded on any data.

A variant of the bound, with the lengths of the rows in κ, does not hold.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.theory import watch_weights, weight_bound
from tests.oracle import Vector
from tests.theorems.test_b8_cycles import cycle_by_dictionary


def determinant(M: Any) -> Fraction:
    """Sum over all permutations: the oracle."""
    total = Fraction(0)
    for order in itertools.permutations(range(len(M))):
        flips = sum(a > b for a, b in itertools.combinations(order, 2))
        total += (-1) ** flips * math.prod(
            (M[i][j] for i, j in enumerate(order)), start=Fraction(1)
        )
    return total


def kappa_squared(A: Any, *, unit: bool) -> Fraction:
    """Return max 1/det(B·Bᵀ) over the maximal independent sets B of rows, perhaps of length 1."""
    rows = [[Fraction(float(x)) for x in row] for row in A]
    rank = int(np.linalg.matrix_rank(np.array(A, dtype=float)))
    found = Fraction(0)
    for B in itertools.combinations(rows, rank):
        gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in B] for a in B]
        scale = math.prod((gram[i][i] for i in range(rank)), start=Fraction(1)) if unit else 1
        if det := determinant(gram):
            found = max(found, Fraction(scale) / det)
    return found


def printed_bound(A: Vector) -> float:
    """Return formula (1.6) as printed, with w₀ = 0 and η̄ = 1: a bound for rows of length 1 only."""
    lengths, (_, p) = np.linalg.norm(A, axis=1), A.shape
    rank = int(np.linalg.matrix_rank(A))
    kappa = math.sqrt(kappa_squared(A, unit=False))
    short = min(1.0, lengths.min()) ** rank
    return float(2.0 * lengths.max() * (short * kappa * 2.0 ** (1.5 * p) + 1.0))


def longest_weights(A: Vector, updates: int, seed: int | None = None) -> float:
    """Return the largest ‖w‖ of a run that updates on the first violated row, or a random one."""
    w, longest, rng = np.zeros(A.shape[1]), 0.0, np.random.default_rng(seed)
    for _ in range(updates):
        bad = np.flatnonzero(~(A @ w > 0.0))
        if len(bad) == 0:
            break
        w = w + A[bad[0] if seed is None else rng.choice(bad)]
        longest = max(longest, float(np.linalg.norm(w)))
    return longest


small = st.integers(-3, 3)
matrices = st.integers(1, 3).flatmap(
    lambda p: st.lists(st.lists(small, min_size=p, max_size=p).filter(any), min_size=1, max_size=6)
)


@settings(deadline=None, max_examples=60)
@given(rows=matrices, scale=st.sampled_from([1.0, 0.1, 1000.0]))
def test_kappa_agrees_with_the_determinants_of_all_minors(
    rows: list[list[int]], scale: float
) -> None:
    A = np.array(rows) * scale
    found = weight_bound(A)
    assert found.kappa_squared == kappa_squared(A, unit=True)
    assert found.rank == np.linalg.matrix_rank(np.array(rows, dtype=float))
    assert Fraction(found.kappa) ** 2 >= found.kappa_squared


@settings(deadline=None, max_examples=60)
@given(rows=matrices, seed=st.integers(0, 10**6), scale=st.sampled_from([0.01, 1.0, 100.0]))
def test_no_run_has_weights_longer_than_the_bound(
    rows: list[list[int]], seed: int, scale: float
) -> None:
    A = np.array(rows) * scale
    assert longest_weights(A, 500, seed) <= weight_bound(A).bound


@pytest.mark.parametrize(
    ("A", "longest", "printed"),
    [
        ([[10.0, 0.0], [-10.0, 1.0]], 101.5, 36.2),
        ([[1.0, 0.0], [-1.0, 0.05], [0.0, 0.005]], 20.0, 2.08),
    ],
)
def test_weights_exceed_the_formula_with_row_lengths(
    A: list[list[float]], longest: float, printed: float
) -> None:
    """The printed formula does not grow with the data, while the weights do."""
    rows = np.array(A)
    reached = longest_weights(rows, 2000)
    assert reached >= longest * 0.999
    assert printed_bound(rows) == pytest.approx(printed, abs=0.05)
    assert printed_bound(rows) < reached <= weight_bound(rows).bound


def test_both_formulas_agree_on_unit_rows() -> None:
    A = np.array([[1.0, 0.0], [-0.6, 0.8], [0.0, -1.0]])
    assert printed_bound(A) == pytest.approx(weight_bound(A).bound)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 8), d=st.integers(1, 3))
def test_watch_weights_finds_the_period_and_stays_below_the_bound(
    seed: int, n: int, d: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, d)), np.append([0, 1], rng.integers(0, 2, size=n - 2))
    A = np.column_stack([X, np.ones(n)]) * np.where(y == 1, 1, -1)[:, None]
    path = watch_weights(X, y, max_epochs=2000)
    assert path.norms.max() <= path.bound
    if path.converged:
        assert path.verdict.kind == "separable"
        assert path.period is path.pre_period is None
    else:
        expected = cycle_by_dictionary(A.astype(int), list(range(n)), 700)
        assert (path.pre_period, path.period) == expected


def test_watch_weights_bounds_separable_runs_and_none_with_too_many_minors() -> None:
    X, y = np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 2
    path = watch_weights(X, y, max_epochs=50)
    assert path.bound == math.inf  # too many minors
    assert (path.period, path.converged) == (None, False)
    bits = list(itertools.product([0, 1], repeat=3))
    and_gate = watch_weights(bits, [all(row) for row in bits], order="max_residual")
    verdict = nv.separate(bits, [all(row) for row in bits])
    assert and_gate.bound == pytest.approx(verdict.radius**2 / verdict.margin.lo)
    assert and_gate.norms.max() <= and_gate.bound
    assert watch_weights([[0.5], [1.0]], [0, 1], order="permuted", random_state=3).converged


@pytest.mark.parametrize(
    ("A", "options", "says"),
    [
        ([[1.0, 2.0], [0.0, 0.0]], {}, "row 1 is zero"),
        ([[1.0, math.nan]], {}, "row 0, column 1 has nan"),
        (np.random.default_rng(0).normal(size=(60, 5)), {}, "20,000 sets: take fewer rows"),
        (np.arange(1.0, 20_002.0)[:, None], {}, "more than 20,000 different rows"),
        ([[1.0]], {"step_size": 0.0}, "step_size must be finite and positive"),
        ([[1.0]], {"w0": math.inf}, "w0 must be finite"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_wrong_arguments_are_rejected_with_an_error(
    A: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        weight_bound(A, **options)


def test_a_bound_beyond_float64_is_infinite() -> None:
    assert weight_bound(np.eye(800)[:3]).bound == math.inf
    wide = sp.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 0, 0, 0])), shape=(4, 10**5))
    assert watch_weights(wide, [0, 1, 0, 1], max_epochs=cast(int, np.int64(2))).bound == math.inf
