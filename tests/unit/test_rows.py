"""The verbs on rows agree with NumPy on the signed, padded matrix, compiled or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core import verbs
from novikoff.core.rows import Rows, Vector
from tests.cases import STORAGES, csr, planted, planted_integers


@njit(nogil=True)
def _compiled(rows: Rows, i: int, w: Vector, moved: Vector) -> tuple[float, float]:
    verbs.axpy(0.5, rows, i, moved)
    return verbs.dot(rows, i, w), verbs.sqnorm(rows, i)


@njit(nogil=True)
def _compiled_dots(rows: Rows, i: int, W: Vector, out: Vector) -> None:
    verbs.dots(rows, i, W, out)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_verbs_on_integers_are_exact(storage: str, fit_intercept: bool, tmp_path: Path) -> None:
    case = planted_integers(1, 12, 11, fit_intercept=fit_intercept)
    rows = _rows.view(STORAGES[storage](case.X, tmp_path), case.signs, fit_intercept)
    A = case.rows
    w = np.arange(12.0) - 5.0
    W = np.column_stack([w, 2.0 * w, w[::-1]])
    for i in range(12):
        moved, in_python = w.copy(), w.copy()
        m, sq = _compiled(rows, i, w, moved)
        assert m == verbs.dot(rows, i, w) == A[i] @ w
        assert sq == verbs.sqnorm(rows, i) == A[i] @ A[i]
        verbs.axpy(0.5, rows, i, in_python)
        expected = (w + 0.5 * A[i]).tolist()
        assert moved.tolist() == in_python.tolist() == expected
        out, out_too = np.empty(3), np.empty(3)
        _compiled_dots(rows, i, W, out)
        verbs.dots(rows, i, W, out_too)
        assert out.tolist() == out_too.tolist() == (A[i] @ W).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_a_view_has_the_matrix_it_was_made_of(storage: str, tmp_path: Path) -> None:
    case = planted_integers(3, 9, 4)
    rows = _rows.view(STORAGES[storage](case.X, tmp_path), case.signs, True)
    X = _rows.matrix(rows)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    assert dense.tolist() == case.X.tolist()


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


def test_repeated_and_unsorted_entries_are_put_in_order_in_a_copy() -> None:
    data, columns = np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1])
    matrix = sp.csr_array((data, columns, np.array([0, 3])), shape=(1, 2))
    rows = _rows.view(matrix, np.array([1], dtype=np.int8), False)
    assert verbs.dot(rows, 0, np.array([10.0, 1.0, 0.0])) == 25.0
    assert matrix.data.tolist() == [1.0, 2.0, 4.0]


def test_index_types_of_a_csr_matrix_may_differ() -> None:
    case = planted_integers(5, 6, 4)
    matrix = csr(case.X)
    matrix.indptr = matrix.indptr.astype(np.int64)
    rows = _rows.view(matrix, case.signs, True)
    w = np.arange(5.0)
    assert [verbs.dot(rows, i, w) for i in range(6)] == (case.rows @ w).tolist()
