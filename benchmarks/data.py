"""The data of the benchmarks: planted, noisy, seeded.

A share of the labels is flipped, so that no perceptron ends with a clean cycle and every
fit does all the epochs it is asked for. Values are drawn in float32 and widened where
float64 is asked for: both types then hold the same numbers and admit the same mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int64]
Matrix: TypeAlias = "Floats | sp.csr_array"
Kind = TypeVar("Kind", bound=Matrix, covariant=True)

NOISE = 0.05  # the share of flipped labels; test labels are true
MARGIN = 0.1  # dense rows keep this distance from the planted plane
UNCLEAR = 0.3  # the share of sparse rows, nearest to a change of label, that is left out
TELLING = 0.05  # the share of words that speak for a class
SEED = 1962


@dataclass(frozen=True)
class Split(Generic[Kind]):
    """Rows to learn from, with noise in the labels, and rows to test on, without."""

    X: Kind
    y: Labels
    X_test: Kind
    y_test: Labels


@lru_cache(maxsize=2)
def dense(n: int, d: int, dtype: str = "float64") -> Split[Floats]:
    """Gaussian rows, two classes apart by a margin; kept for the next case.

    Examples
    --------
    >>> dense(100, 5).X.dtype, dense(100, 5, "float32").X.dtype
    (dtype('float64'), dtype('float32'))
    """
    if dtype == "float64":
        narrow = dense(n, d, "float32")
        return Split(
            np.asarray(narrow.X, dtype=np.float64),
            narrow.y,
            np.asarray(narrow.X_test, dtype=np.float64),
            narrow.y_test,
        )
    rng = np.random.default_rng(SEED)
    n_test = _test_rows(n)
    X = rng.standard_normal((n + n_test, d), dtype=np.float32)
    w = rng.standard_normal(d, dtype=np.float32)
    w /= np.linalg.norm(w)
    y = (w @ X.T > 0).astype(np.int64)
    for first in range(0, len(X), 10_000):  # in pieces: no second copy of X
        piece = slice(first, first + 10_000)
        X[piece] += np.outer((2 * y[piece] - 1) * np.float32(MARGIN), w)
    return Split(X[:n], with_noise(y[:n], 2, rng), X[n:], y[n:])


@lru_cache(maxsize=2)
def sparse(
    n: int, d: int, nonzeros: int, n_classes: int = 2, dtype: str = "float64"
) -> Split[sp.csr_array]:
    """tf-idf rows of texts whose words follow Zipf's law; kept for the next case.

    A text is drawn word by word, a word with probability ∝ 1/rank, ranks spread over the
    columns at random; its length is such that a row has about ``nonzeros`` entries. Some
    words each speak for one class, and the class with the most weight is the label.

    Examples
    --------
    >>> split = sparse(500, 400, 20)
    >>> round(split.X.nnz / 500)
    20
    """
    rng = np.random.default_rng(SEED)
    n_test = _test_rows(n)
    X = _texts(int((n + n_test) / (1 - UNCLEAR)) + 2, d, nonzeros, rng)
    weights = rng.exponential(size=d) * (rng.random(d) < TELLING)
    planted = np.zeros((d, n_classes))
    planted[np.arange(d), rng.integers(n_classes, size=d)] = weights
    scores = X @ planted
    top = np.partition(scores, -2, axis=1)
    clear = top[:, -1] - top[:, -2]
    kept = np.flatnonzero(clear >= np.quantile(clear, UNCLEAR))[: n + n_test]
    X, y = sp.csr_array(X[kept]), scores[kept].argmax(axis=1)
    X.data = X.data.astype(dtype)
    return Split(X[:n], with_noise(y[:n], n_classes, rng), X[n:], y[n:])


def with_noise(y: Labels, n_classes: int, rng: np.random.Generator) -> Labels:
    """The labels, a share of them moved to another class.

    Examples
    --------
    >>> y = np.zeros(10_000, dtype=np.int64)
    >>> int(with_noise(y, 2, np.random.default_rng(0)).sum())
    503
    """
    moved = rng.random(len(y)) < NOISE
    return np.where(moved, (y + rng.integers(1, n_classes, len(y))) % n_classes, y)


def _test_rows(n: int) -> int:
    return max(100, n // 20)


def _texts(n: int, d: int, nonzeros: int, rng: np.random.Generator) -> sp.csr_array:
    p = 1.0 / np.arange(1, d + 1)
    p /= p.sum()
    length = nonzeros
    while (1.0 - (1.0 - p) ** length).sum() < nonzeros:  # distinct words expected in a text
        length += 1
    ranks = np.searchsorted(np.cumsum(p), rng.random((n, length)) * (1.0 - 1e-12))
    words = np.sort(rng.permutation(d).astype(np.int32)[ranks], axis=1)
    first = np.ones(words.shape, dtype=np.bool_)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    starts = np.flatnonzero(first)
    columns = words.ravel()[starts]
    frequency = np.diff(starts, append=words.size)
    rarity = np.log((1.0 + n) / (1.0 + np.bincount(columns, minlength=d))) + 1.0
    values = (1.0 + np.log(frequency)) * rarity[columns]
    per_row = first.sum(axis=1)
    indptr = np.concatenate(([0], np.cumsum(per_row))).astype(np.int32)
    values /= np.repeat(np.sqrt(np.add.reduceat(values**2, indptr[:-1])), per_row)
    return sp.csr_array((values.astype(np.float32), columns, indptr), shape=(n, d))
