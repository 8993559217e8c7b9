"""Verdicts on blocks against those on the same rows in memory, and their proofs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.geometry import blockwise

CASES = 25


class Given:
    n_rows = None

    def __init__(self, X: Floats | SparseMatrix, y: npt.NDArray[np.int64], size: int) -> None:
        self.X, self.y, self.size = X, y, size

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.int64]]]:
        for first in range(0, self.X.shape[0], self.size):
            yield self.X[first : first + self.size], self.y[first : first + self.size]


def drawn(
    rng: np.random.Generator, kind: str
) -> tuple[Floats | SparseMatrix, npt.NDArray[np.int64]]:
    n, d = int(rng.integers(2, 250)), int(rng.integers(1, 7))
    grid = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    chance = rng.integers(0, 2, n)
    if kind == "apart":
        X = rng.normal(size=(n, d))
        y = (X @ rng.normal(size=d) > 0.1).astype(np.int64)
    elif kind == "apart on a grid":
        X = grid
        y = (X @ rng.integers(-1, 2, d) > 0).astype(np.int64)
    elif kind == "touching":
        X = grid if rng.random() < 0.5 else np.column_stack([grid[:, 0], rng.normal(size=(n, d))])
        y = np.where(X[:, 0] > 0.0, 1, np.where(X[:, 0] < 0.0, 0, chance))
    elif kind == "mixed":
        X, y = grid, chance
    else:
        X, y = np.exp(8.0 * rng.normal(size=(n, d))), chance
    if rng.random() < 0.3:  # columns of zeros, and one that depends on another
        X = np.hstack([X, np.zeros((n, 2)), 2.0 * X[:, :1]])
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    return (sp.csr_array(X) if rng.random() < 0.3 else X), y


@pytest.mark.parametrize("kind", ["apart", "apart on a grid", "touching", "mixed", "wild"])
@pytest.mark.parametrize("batch", [2, 64])
def test_verdicts_are_those_of_the_rows_in_memory(
    monkeypatch: pytest.MonkeyPatch, kind: str, batch: int
) -> None:
    monkeypatch.setattr(blockwise, "_BATCH", batch)
    rng = np.random.default_rng(batch)
    for _ in range(CASES):
        X, y = drawn(rng, kind)
        fit_intercept = bool(rng.random() < 0.7)
        whole = nv.separate(X, y, fit_intercept=fit_intercept)
        rows = Given(X, y, int(rng.integers(1, 90)))
        parts = nv.separate(rows, fit_intercept=fit_intercept)
        assert parts.kind == whole.kind
        assert np.array_equal(parts.separated_rows, whole.separated_rows)
        assert parts.certificate is not None
        assert whole.certificate is not None
        nv.verify(parts.certificate, X, y)
        nv.verify(whole.certificate, rows)
        nv.verify(parts.certificate, Given(X, y, 1000))
        with pytest.raises(nv.CertificateError, match="other data"):
            nv.verify(whole.certificate, Given(X, 1 - y, rows.size))
        with pytest.raises(nv.CertificateError, match="the data has"):
            nv.verify(whole.certificate, Given(X[1:], y[1:], rows.size))
        for one, other in (
            (parts.margin, whole.margin),
            (parts.geometric_margin, whole.geometric_margin),
        ):
            assert one.lo <= other.hi
            assert other.lo <= one.hi
            if other.relative_width <= 1e-8:
                assert one.relative_width <= 1e-8
