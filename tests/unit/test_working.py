"""The working set: sparse rows are those of a block, wherever they are read."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

import novikoff as nv
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Csr, Vector
from novikoff.geometry import min_norm, working
from novikoff.geometry.corral import empty_corral
from novikoff.geometry.min_norm import View
from novikoff.geometry.passes import Data
from novikoff.geometry.table import SignedRows, as_matrix
from novikoff.geometry.working import Sparse, Working, add_to, count, entries, product, seen
from tests.cases import Signs


def some_rows(n: int, d: int, per_row: int, seed: int = 0) -> tuple[sp.csr_array, Signs]:
    """Sparse rows of one entry to ``per_row``, and signs that a hyperplane gave them."""
    rng = np.random.default_rng(seed)
    at = np.repeat(np.arange(n), per_row), rng.integers(0, d, n * per_row)
    X = sp.csr_array((rng.normal(size=n * per_row), at), shape=(n, d))
    X.sum_duplicates()
    signs = np.where(np.asarray(X @ rng.normal(size=d)) > 0.0, 1, -1).astype(np.int8)
    return X, signs


def posed(X: sp.csr_array, signs: Signs, bias: bool = True, room: int | None = None) -> Data:
    return Data(pose(X, signs, bias), SignedRows(as_matrix(X), signs, bias), room)


@njit(nogil=True)
def products_and_sum(G: Working, r: Vector, out: Vector, total: Vector) -> None:
    s = seen(G, r)
    for i in range(len(out)):
        out[i] = product(G, i, s)
        add_to(total, G, i)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_chosen", [5, 90])  # copied side by side, and read where they are
def test_sparse_rows_are_those_of_a_block(bias: bool, n_chosen: int) -> None:
    X, signs = some_rows(100, 30, 4)
    data = posed(X, signs, bias)
    rng = np.random.default_rng(1)
    columns = np.full(31, 0.25)
    chosen = rng.permutation(100)[:n_chosen]
    G = View(data, columns).gather(chosen, 0.5)
    assert isinstance(G, Sparse)
    assert np.shares_memory(G.rows.data, X.data) == (n_chosen == 90)
    A = np.hstack([X.toarray(), np.full((100, 1), float(bias))]) * signs[:, None] * columns
    block = np.hstack([np.full((n_chosen, 1), 0.5), A[chosen]])
    r, found, total = rng.normal(size=32), np.empty(n_chosen), np.zeros(32)
    products_and_sum(G, r, found, total)
    np.testing.assert_allclose(found, block @ r, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(total, block.sum(axis=0), rtol=1e-12, atol=1e-13)
    assert count(G) == n_chosen
    assert entries(G) == np.diff(X.indptr)[chosen].sum() + n_chosen


def gathered_by(problem: Problem, columns: Vector, copy: bool = True) -> Sparse | None:
    return working.sparse(problem, np.arange(3), columns, 1.0, copy)


def test_rows_with_much_in_them_are_a_block() -> None:
    X, signs = some_rows(100, 12, 4)  # five numbers of fourteen with the bias: above a third
    assert posed(X, signs).problem.longest == 5
    assert gathered_by(posed(X, signs).problem, np.ones(13)) is None
    assert isinstance(posed(X, signs).problem.rows, Csr)
    X, signs = some_rows(100, 13, 4)
    assert gathered_by(posed(X, signs).problem, np.ones(14)) is not None


def test_dense_rows_are_a_block() -> None:
    X, signs = some_rows(100, 30, 4)
    assert gathered_by(pose(X.toarray(), signs, True), np.ones(31)) is None


def test_factors_that_could_leave_the_range_of_floats_are_for_a_block() -> None:
    problem = posed(*some_rows(100, 30, 4)).problem
    columns = np.ones(31)
    for far in (2.0**500, 2.0**-500):
        columns[7] = far
        assert gathered_by(problem, columns) is None


def test_rows_divided_by_their_lengths_are_a_block() -> None:
    X, signs = some_rows(100, 30, 4)
    G = View(posed(X, signs), np.ones(31), np.full(100, 3.0)).gather(np.arange(3), 1.0)
    assert isinstance(G, np.ndarray)
    np.testing.assert_array_equal(G[:, 1:31], X[:3].toarray() * signs[:3, None] / 3.0)


def test_rows_of_uneven_columns_are_a_block() -> None:
    X, signs = some_rows(100, 30, 4)
    columns = np.ones(31)
    columns[4] = 2.0**-9
    assert isinstance(View(posed(X, signs), columns).gather(np.arange(3), 1.0), np.ndarray)


def test_where_room_is_limited_nothing_is_copied() -> None:
    X, signs = some_rows(100, 30, 4)
    G = View(posed(X, signs, room=1 << 20), np.ones(31)).gather(np.arange(3), 1.0)
    assert isinstance(G, Sparse)
    assert np.shares_memory(G.rows.data, X.data)


@pytest.mark.parametrize("n", [400, 12_000])  # read where they are, and copied
@pytest.mark.parametrize("flipped", [0, 3])
def test_the_verdict_on_sparse_rows_is_that_on_dense_ones(n: int, flipped: int) -> None:
    X, y = some_rows(n, 24, 4)
    y[:flipped] *= -1
    found, dense = nv.separate(X, y), nv.separate(X.toarray(), y)
    assert found.kind == dense.kind == ("inseparable" if flipped else "separable")
    assert found.margin.lo <= dense.margin.hi
    assert dense.margin.lo <= found.margin.hi
    assert found.geometric_margin.lo <= dense.geometric_margin.hi
    assert dense.geometric_margin.lo <= found.geometric_margin.hi
    assert found.margin.relative_width <= 1e-8
    assert found.geometric_margin.relative_width <= 1e-8
    assert found.certificate is not None
    found.certificate.verify(X, y)


@pytest.mark.parametrize("dense", [True, False])
def test_the_least_products_of_each_side(dense: bool) -> None:
    X, signs = some_rows(100, 30, 4)
    rows = X.toarray() if dense else X
    data = Data(pose(rows, signs, True), SignedRows(as_matrix(rows), signs, True))
    w = np.random.default_rng(2).normal(size=31)
    m, positive, negative = data.products_by_side(w)
    np.testing.assert_allclose(m, signs * (X @ w[:30] + w[30]), rtol=1e-12, atol=1e-13)
    assert (positive, negative) == (m[signs > 0].min(), m[signs < 0].min())
    one_sided = Data(data.problem.resigned(np.ones(100, dtype=np.int8)), data.table)
    assert one_sided.products_by_side(w)[2] == math.inf
    w[3] = math.nan
    assert all(math.isnan(least) for least in data.products_by_side(w)[1:])


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("some", [True, False])
def test_rows_above_the_level_of_their_side_would_improve(
    pairs: bool, scaled: bool, some: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(min_norm, "_AT_ONCE", 7)  # many stretches, the last one shorter
    X, signs = some_rows(100, 30, 4)
    rng = np.random.default_rng(3)
    lengths = 1.0 + rng.random(100) if scaled else np.ones(100)
    view = View(posed(X, signs), np.ones(31), lengths if scaled else None)
    within = np.flatnonzero(rng.random(100) < 0.5) if some else None
    question = replace(min_norm.nearest_point(view, pairs), within=within)
    members = np.array([np.flatnonzero(signs > 0)[4], np.flatnonzero(signs < 0)[2]])
    corral = empty_corral(32, 5)
    corral.first[0], corral.second[0], corral.u[0], corral.size[0] = 0, 1, 1.0, 1
    corral.residual[:] = rng.normal(size=32) / 8.0
    answer = min_norm._answer(question, corral, members)
    prices = question.lift * corral.residual[0] - answer.products / lengths
    levels = np.where(signs > 0, *prices[members]) if pairs else np.zeros(100)
    gains = prices - levels
    allowed = np.arange(100) if within is None else within
    better = allowed[gains[allowed] > 0.1 / 4.0 * np.square(corral.residual).sum()]
    found = min_norm._improving(question, corral, answer, 0.1, 100)
    assert sorted(found) == better.tolist()
    assert 4 < len(better) < len(allowed)
    best = min_norm._improving(question, corral, answer, 0.1, 4)
    assert set(best) == set(better[np.argsort(-gains[better])[:4]])


def test_rows_of_very_different_sizes_are_a_block_in_every_view() -> None:
    X, signs = some_rows(100, 30, 4)
    X.data[:] = np.sign(X.data)
    even = posed(X, signs)
    assert isinstance(min_norm.plain_view(even).gather(np.arange(9), 1.0), Sparse)
    X.data[X.indptr[40] : X.indptr[60]] *= 1e6
    uneven = posed(X, signs)
    for view in (min_norm.plain_view(uneven), min_norm.balanced_view(uneven)):
        assert isinstance(view.gather(np.arange(9), 1.0), np.ndarray)
