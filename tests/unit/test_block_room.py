"""Wide rows in blocks: the verdict of memory, in as little memory as it really takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.geometry.room import Room, explained, memory_for
from novikoff.geometry.selection import Selection

Labels = npt.NDArray[np.int64]
Rows: TypeAlias = "tuple[Floats | SparseMatrix, Labels]"


class Scarce:
    """Blocks of so many rows, and the memory that there is for the verdict on them."""

    def __init__(self, rows: Rows, size: int, max_memory: int) -> None:
        self.X, self.y = rows
        self.size, self.max_memory = size, max_memory
        self.n_rows = self.X.shape[0]

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        for first in range(0, self.n_rows, self.size):
            yield self.X[first : first + self.size], self.y[first : first + self.size]


def dense(n: int, p: int, noise: float, flipped: int = 0) -> Rows:
    rng = np.random.default_rng(n + p)
    X = noise * rng.normal(size=(n, p))
    y = rng.integers(0, 2, n)
    X[:, 0] = (2 * y - 1) * (1.0 + rng.random(n))
    y[:flipped] ^= 1
    return X, y


def of_low_rank(quasi: bool) -> Rows:
    """Rows of 300 columns and a rank of 9 that contradict each other; with quasi all but one."""
    rng = np.random.default_rng(0)
    X = (rng.integers(-3, 4, (400, 8)) @ rng.integers(-3, 4, (8, 300))).astype(np.float64)
    y = rng.integers(0, 2, 400)
    X[:, 7] = 0.0
    if quasi:
        X[11, 7] = 1.0
    return X, y


def sparse(n: int, p: int, flipped: int = 0) -> Rows:
    rng = np.random.default_rng(p)
    columns = np.minimum((p * rng.random((n, 6)) ** 4).astype(np.int64), p - 1)
    at = np.repeat(np.arange(n), 6), columns.ravel()
    X = sp.csr_array((np.ones(6 * n), at), shape=(n, p))
    X.sum_duplicates()
    y = np.where(np.asarray(X @ rng.normal(size=p)) > 0.0, 1, 0)
    y[:flipped] ^= 1
    return X, y


def twins(rows: Rows) -> Rows:
    X, y = rows
    at = np.append(np.arange(len(y)), 0)
    return X[at], np.append(y, 1 - y[0])


# Rows, bytes of memory and the kind. Sixteen numbers for each entry of a square of the width,
# p · p, would not fit; nor are they needed.
CASES: dict[str, tuple[Rows, int, str]] = {
    "a wide margin": (dense(600, 300, 0.05), 5_000_000, "separable"),
    "a narrow margin": (dense(150, 300, 1.0, 5), 5_000_000, "separable"),
    "fewer rows than columns": (dense(40, 300, 1.0), 3_000_000, "separable"),
    "contradictions": (of_low_rank(quasi=False), 4_500_000, "inseparable"),
    "one row apart": (of_low_rank(quasi=True), 4_500_000, "quasi-separable"),
    "sparse": (sparse(300, 4000), 24_000_000, "separable"),
    "sparse and flipped": (sparse(300, 4000, 3), 24_000_000, "separable"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_is_that_of_memory(case: str) -> None:
    rows, memory, kind = CASES[case]
    assert 64 * rows[0].shape[1] ** 2 > memory
    whole = nv.separate(*rows)
    parts = nv.separate(Scarce(rows, 37, memory))
    assert parts.kind == whole.kind == kind
    assert parts.obstacle is None
    assert parts.margin.lo <= whole.margin.hi
    assert whole.margin.lo <= parts.margin.hi
    assert parts.geometric_margin.lo <= whole.geometric_margin.hi
    assert whole.geometric_margin.lo <= parts.geometric_margin.hi
    assert parts.margin.relative_width <= 1e-8
    assert parts.certificate is not None
    parts.certificate.verify(*rows)


def test_a_contradiction_among_wide_rows_is_proved() -> None:
    rows = twins(sparse(200, 4000))
    parts = nv.separate(Scarce(rows, 37, 6_000_000))
    assert parts.kind == "undecided"
    assert parts.obstacle is not None
    assert parts.certificate is not None
    assert parts.certificate.kind == "not separable"
    parts.certificate.verify(*rows)
    assert nv.separate(Scarce(rows, 37, 24_000_000)).kind == "quasi-separable"


def test_what_does_not_fit_is_said_and_never_guessed() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 60)), rng.integers(0, 2, 900)
    parts = nv.separate(Scarce(rows, 37, 100_000))
    assert parts.kind == "undecided"
    assert parts.obstacle is not None
    assert parts.obstacle.startswith("it does not fit into 100 kB of memory; ")
    parts = nv.separate(Scarce(rows, 37, 1_000_000))
    assert parts.kind == "inseparable"
    assert parts.obstacle is None


def test_a_margin_that_does_not_fit_has_bounds() -> None:
    rows = dense(300, 120, 0.1)
    whole, parts = nv.separate(*rows), nv.separate(Scarce(rows, 37, 150_000))
    assert parts.kind == "separable"
    assert parts.obstacle is not None
    assert parts.margin.lo <= whole.margin.hi
    assert whole.margin.lo <= parts.margin.hi < np.inf
    assert parts.certificate is not None
    parts.certificate.verify(*rows)


def test_rows_that_carry_nothing_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = dense(3000, 40, 0.3)
    let_go: list[int] = []
    keep = Selection.keep

    def watched(selection: Selection, numbers: npt.NDArray[np.int64]) -> None:
        before = len(selection.numbers)
        keep(selection, numbers)
        let_go.append(before - len(selection.numbers))

    monkeypatch.setattr(Selection, "keep", watched)
    monkeypatch.setattr(Room, "beside", lambda room, selected: 10**9)
    verdict = nv.separate(Scarce(rows, 37, 100_000))
    assert verdict.margin.relative_width <= 1e-8
    assert any(let_go)


def test_more_memory_is_more_room() -> None:
    for wanted in (1000, 10**6, 10**8, 10**10):
        assert Room(memory_for(wanted)).bytes >= wanted
        assert Room(memory_for(wanted) - 8).bytes < wanted
    assert Room(None).bytes > 10**6
    assert "a quarter of the memory" in explained(10**9, None)


def test_a_clean_pass_that_proves_nothing_is_not_the_end() -> None:
    X = np.array([[1.0, 1.0, 1.0, 1.0], [1e16, 1.5, -1e16, -1.75], [-1.0, -1.0, -1.0, -1.0]])
    y = np.array([1, 1, 0])  # in floats the perceptron's first w has all rows on their side
    found = nv.separate(Scarce((X, y), 2, 10**9), goal="kind", fit_intercept=False)
    assert found.kind == nv.separate(X, y, goal="kind", fit_intercept=False).kind == "separable"


def test_an_undecided_verdict_says_why() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.integers(-3, 4, size=(6000, 6)), np.zeros((6000, 1))])
    X[5250, -1] = 1e-20  # by itself it makes one row of all separable
    y = rng.integers(0, 2, 6000)
    found = nv.separate(Scarce((X, y), 500, 10**8), goal="kind")
    assert found.kind in ("quasi-separable", "undecided")
    assert (found.obstacle is None) == (found.kind == "quasi-separable")
