"""The data as the checker sees it: one digest, however the rows come and are stored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.core.rows import Vector
from novikoff.geometry.table import Digest, as_matrix, digest

# What one block of rows with 64 columns holds.
BLOCK = (1 << 18) // 64


def rows(n: int, share: float) -> Vector:
    """Rows with 64 columns, a share of them not zero."""
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 64)) * (rng.random((n, 64)) < share)


def in_pieces(X: Vector, *cuts: int) -> str:
    seal = Digest(*X.shape)
    for part in np.split(X, cuts):
        seal.add(part)
    return seal.hexdigest(np.ones(len(X), dtype=np.int8))


@pytest.mark.parametrize("share", [0.1, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1])
def test_the_digest_is_the_same_however_rows_come(n: int, share: float) -> None:
    X = rows(n, share)
    expected = in_pieces(X, n // 3, n // 2)
    assert digest(X, np.ones(n, dtype=np.int8)) == expected
    assert digest(as_matrix(sp.csr_array(X)), np.ones(n, dtype=np.int8)) == expected


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_zeros_have_no_sign_and_need_no_place(share: float) -> None:
    X = rows(BLOCK + 7, share)
    signs = np.ones(len(X), dtype=np.int8)
    expected = digest(X, signs)
    assert digest(np.where(X == 0.0, -0.0, X), signs) == expected
    stored = sp.csr_array(X)
    stored.data[::5] = 0.0
    assert digest(as_matrix(stored), signs) == digest(stored.toarray(), signs) != expected


def test_the_digest_is_about_numbers_not_their_type() -> None:
    X = rows(BLOCK + 7, 0.9).astype(np.float32)
    signs = np.ones(len(X), dtype=np.int8)
    assert digest(X, signs) == digest(X.astype(np.float64), signs)
    assert digest(as_matrix(sp.csr_array(X)), signs) == digest(X, signs)
    assert digest(X[::-1].copy(), signs) != digest(X, signs)
