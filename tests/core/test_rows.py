"""The verbs on rows agree with NumPy on the signed, padded matrix, compiled or not."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core import verbs
from novikoff.core.problem import Rows
from novikoff.core.rows import Matrix, SignedRows, Signs, Vector
from tests.cases import STORAGES, csr, planted, planted_integers


def arrays(X: Matrix, signs: Signs, fit_intercept: bool) -> SignedRows:
    return Rows.of(X, fit_intercept).with_signs(signs).arrays


def _interpreted(
    rows: SignedRows, i: int, w: Vector, moved: Vector, W: Vector, out: Vector
) -> tuple[float, float]:
    verbs.axpy(0.5, rows, i, moved)
    verbs.dots(rows, i, W, out)
    return verbs.dot(rows, i, w), verbs.sqnorm(rows, i)


_compiled = njit(nogil=True)(_interpreted)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_verbs_on_integers_are_exact(fit_intercept: bool, storage: str, tmp_path: Path) -> None:
    """The tests of the loop compile and compare the other storages."""
    case = planted_integers(1, 12, 11, fit_intercept=fit_intercept)
    rows = arrays(STORAGES[storage](case.X, tmp_path), case.signs, fit_intercept)
    A, w = case.rows, np.arange(12.0) - 5.0
    W = np.column_stack([w, 2.0 * w, w[::-1]])
    ways = [_interpreted, _compiled] if storage in ("f64", "csr_f64_i32") else [_interpreted]
    for i, verbs_on in product(range(12), ways):
        moved, out = w.copy(), np.empty(3)
        assert verbs_on(rows, i, w, moved, W, out) == (A[i] @ w, A[i] @ A[i])
        assert moved.tolist() == (w + 0.5 * A[i]).tolist()
        assert out.tolist() == (A[i] @ W).tolist()


def test_nothing_is_copied_and_nothing_is_written() -> None:
    case = planted(4, 5, 3)
    rows = arrays(case.X, case.signs, True)
    assert isinstance(rows, _rows.Dense)
    assert np.shares_memory(rows.X, case.X)
    assert not rows.X.flags.writeable
    assert case.X.flags.writeable
    matrix = csr(case.X)
    sparse = arrays(matrix, case.signs, True)
    assert isinstance(sparse, _rows.Csr)
    assert np.shares_memory(sparse.data, matrix.data)
    assert np.shares_memory(sparse.indices, matrix.indices)


def test_repeated_and_unsorted_entries_are_put_in_order_in_a_copy() -> None:
    data, columns = np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1])
    matrix = sp.csr_array((data, columns, np.array([0, 3])), shape=(1, 2))
    rows = arrays(matrix, np.array([1], dtype=np.int8), False)
    assert verbs.dot(rows, 0, np.array([10.0, 1.0, 0.0])) == 25.0
    assert matrix.data.tolist() == [1.0, 2.0, 4.0]


def test_index_types_of_a_csr_matrix_may_differ() -> None:
    case = planted_integers(5, 6, 4)
    matrix = csr(case.X)
    matrix.indptr = matrix.indptr.astype(np.int64)
    rows = arrays(matrix, case.signs, True)
    w = np.arange(5.0)
    assert [verbs.dot(rows, i, w) for i in range(6)] == (case.rows @ w).tolist()
