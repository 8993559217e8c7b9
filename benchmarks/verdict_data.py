"""The data of the verdict's benchmarks: a planted hyperplane, a margin, some flipped labels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import SEED, Labels
from benchmarks.peers import Vector

_MUSHROOM = Path(__file__).parent.parent.parent / "shared" / "data" / "mushroom.svm"
_PIECE = 10_000


@lru_cache(maxsize=1)
def unit_rows(n: int, p: int, margin: float) -> tuple[Vector, Labels]:
    """Rows of length 1 on the two sides of a plane through the origin; the last set is kept.

    Gaussian rows are scaled to length 1 and labelled ±1 by the side of a random plane they
    are on. Rows nearer to it than the margin are thrown away and drawn anew, so that those
    kept are spread evenly over what is left of the sphere, and their margin is a little
    more than asked for.

    Examples
    --------
    >>> X, y = unit_rows(1_000, 3, 0.05)
    >>> bool(np.allclose(np.linalg.norm(X, axis=1), 1.0)), sorted(set(y.tolist()))
    (True, [-1, 1])
    """
    rng = np.random.default_rng(SEED)
    w = rng.standard_normal(p)
    w /= np.linalg.norm(w)
    X = np.empty((n, p))
    y = np.empty(n, dtype=np.int64)
    filled = 0
    while filled < n:
        piece = rng.standard_normal((_PIECE, p))
        piece /= np.linalg.norm(piece, axis=1)[:, None]
        side = piece @ w
        kept = np.flatnonzero(np.abs(side) >= margin)[: n - filled]
        stretch = slice(filled, filled + len(kept))
        X[stretch], y[stretch] = piece[kept], np.where(side[kept] > 0.0, 1, -1)
        filled += len(kept)
    return X, y


def flipped(y: Labels, k: int) -> Labels:
    """The labels, k of them, chosen at random, with the other sign.

    Examples
    --------
    >>> int((flipped(np.ones(100, dtype=np.int64), 7) < 0).sum())
    7
    """
    out = y.copy()
    out[np.random.default_rng(SEED).choice(len(y), k, replace=False)] *= -1
    return out


def mushroom() -> tuple[sp.csr_array, Labels]:
    """The mushrooms of ``../shared/data``; where they are not, a set of that shape.

    That is 6,513 × 126 of zeros and ones, 22 ones per row: an attribute of 22 has its own
    columns, and each row one of them. The planted labels leave no row near the plane.

    Examples
    --------
    >>> mushroom()[0].shape
    (6513, 126)
    """
    if not _MUSHROOM.exists():
        return _synthetic_mushroom()
    fields = [line.split() for line in _MUSHROOM.read_text().splitlines()]
    entries = [pair.partition(":") for line in fields for pair in line[1:]]
    starts = np.cumsum([0, *(len(line) - 1 for line in fields)])
    columns = np.array([int(column) - 1 for column, _, _ in entries])
    values = np.array([float(value) for _, _, value in entries])
    X = sp.csr_array((values, columns, starts), shape=(len(fields), int(columns.max()) + 1))
    return X, np.array([int(line[0]) for line in fields])


def _synthetic_mushroom() -> tuple[sp.csr_array, Labels]:
    rng = np.random.default_rng(SEED)
    n, d, attributes = 6_513, 126, 22
    edges = np.linspace(0, d, attributes + 1).astype(np.int64)
    columns = rng.integers(edges[:-1], edges[1:], size=(2 * n, attributes))
    score = rng.standard_normal(d)[columns].sum(axis=1)
    score -= np.median(score)
    kept = np.sort(np.argsort(-np.abs(score))[:n])
    starts = np.arange(n + 1) * attributes
    X = sp.csr_array((np.ones(n * attributes), columns[kept].ravel(), starts), shape=(n, d))
    return X, (score[kept] > 0.0).astype(np.int64)
