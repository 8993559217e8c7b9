"""The verbs on rows agree with NumPy on the signed, padded matrix, compiled or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.rows import Floats, Rows, Vector
from tests.cases import STORAGES, csr, planted, planted_integers
from tests.oracle import margins, signed


@njit(nogil=True)
def _compiled(rows: Rows, i: int, w: Vector, moved: Vector) -> tuple[float, float, float]:
    _rows.axpy(0.5, rows, i, moved)
    return _rows.dot(rows, i, w), _rows.dot_in_order(rows, i, w), _rows.sqnorm(rows, i)


@njit(nogil=True)
def _compiled_dots(rows: Rows, i: int, W: Vector, out: Vector) -> None:
    _rows.dots(rows, i, W, out)


@njit(nogil=True)
def _compiled_entries(rows: Rows, i: int) -> Floats:
    return _rows.entries(rows, i)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_verbs_on_integers_are_exact(storage: str, fit_intercept: bool, tmp_path: Path) -> None:
    case = planted_integers(1, 12, 11, fit_intercept=fit_intercept)
    rows = _rows.view(STORAGES[storage](case.X, tmp_path), case.signs, fit_intercept)
    A = case.rows
    w = np.arange(12.0) - 5.0
    W = np.column_stack([w, 2.0 * w, w[::-1]])
    for i in range(12):
        moved, moved_too = w.copy(), w.copy()
        fast, in_order, sq = _compiled(rows, i, w, moved)
        assert fast == in_order == _rows.dot(rows, i, w) == _rows.dot_in_order(rows, i, w)
        assert fast == A[i] @ w
        assert sq == _rows.sqnorm(rows, i) == A[i] @ A[i]
        _rows.axpy(0.5, rows, i, moved_too)
        assert moved.tolist() == moved_too.tolist() == (w + 0.5 * A[i]).tolist()
        out, out_too = np.empty(3), np.empty(3)
        _compiled_dots(rows, i, W, out)
        _rows.dots(rows, i, W, out_too)
        assert out.tolist() == out_too.tolist() == (A[i] @ W).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_the_sum_in_order_is_the_oracles_to_the_last_bit(storage: str, tmp_path: Path) -> None:
    case = planted(2, 20, 37)
    X = np.where(np.random.default_rng(0).random(case.X.shape) < 0.5, case.X, 0.0)
    if "f32" in storage:
        X = X.astype(np.float32).astype(np.float64)
    rows = _rows.view(STORAGES[storage](X, tmp_path), case.signs, True)
    w = np.random.default_rng(1).normal(size=38)
    expected = margins(signed(X, case.signs, True), w)
    for i in range(20):
        assert _compiled(rows, i, w, w.copy())[1] == expected[i]
        assert _rows.dot_in_order(rows, i, w) == expected[i]


def test_without_an_intercept_the_last_weight_does_not_count() -> None:
    rows = _rows.view(np.array([[1.0, 2.0]]), np.array([-1], dtype=np.int8), False)
    w = np.array([3.0, 1.0, 1e9])
    assert _rows.dot(rows, 0, w) == -5.0
    _rows.axpy(1.0, rows, 0, w)
    assert w.tolist() == [2.0, -1.0, 1e9]


@pytest.mark.parametrize("storage", STORAGES)
def test_counts_of_a_view(storage: str, tmp_path: Path) -> None:
    case = planted_integers(3, 9, 4)
    rows = _rows.view(STORAGES[storage](case.X, tmp_path), case.signs, True)
    assert _rows.count(rows) == 9
    assert _rows.width(rows) == 5
    nonzeros = np.count_nonzero(case.X)
    sizes = {"f32": 4, "csr_f32_i32": 8, "csr_f32_i64": 12, "csr_f64_i32": 12, "csr_f64_i64": 16}
    per_entry = sizes.get(storage, 8)
    assert _rows.nbytes(rows) == per_entry * (nonzeros if "csr" in storage else 36)


def test_entries_are_what_is_stored() -> None:
    X = np.array([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    signs = np.array([-1, 1], dtype=np.int8)
    for entries in (_rows.entries, _compiled_entries):
        assert entries(_rows.view(X, signs, True), 0).tolist() == [0.0, 2.0, 0.0, 4.0]
        assert entries(_rows.view(csr(X), signs, True), 0).tolist() == [2.0, 4.0]
        assert entries(_rows.view(csr(X), signs, True), 1).tolist() == []


def test_a_view_copies_nothing_and_writes_nothing() -> None:
    case = planted(4, 5, 3)
    rows = _rows.view(case.X, case.signs, True)
    assert isinstance(rows, _rows.Dense)
    assert np.shares_memory(rows.X, case.X)
    assert not rows.X.flags.writeable
    assert case.X.flags.writeable
    matrix = csr(case.X)
    sparse = _rows.view(matrix, case.signs, True)
    assert isinstance(sparse, _rows.Csr)
    assert np.shares_memory(sparse.data, matrix.data)
    assert np.shares_memory(sparse.indices, matrix.indices)


def test_index_types_of_a_csr_matrix_may_differ() -> None:
    case = planted_integers(5, 6, 4)
    matrix = csr(case.X)
    matrix.indptr = matrix.indptr.astype(np.int64)
    rows = _rows.view(matrix, case.signs, True)
    w = np.arange(5.0)
    assert [_rows.dot(rows, i, w) for i in range(6)] == (case.rows @ w).tolist()


def test_other_signs_on_the_same_rows() -> None:
    case = planted(6, 5, 3)
    for X in (case.X, csr(case.X)):
        rows = _rows.view(X, case.signs, True)
        turned = _rows.resigned(rows, -case.signs)
        w = np.arange(4.0)
        assert _rows.dot(turned, 2, w) == -_rows.dot(rows, 2, w)


def test_reading_ahead_touches_without_harm() -> None:
    case = planted(7, 50, 20)
    for X in (case.X, csr(case.X)):
        rows = _rows.view(X, case.signs, True)
        assert np.isfinite(_rows.touch(rows, 0, 50))
        assert _rows.touch(rows, 10, 10) == 0.0
