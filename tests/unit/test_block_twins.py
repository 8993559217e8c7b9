"""Identical rows with different labels, found in blocks as in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.core.blocks import Coded
from novikoff.core.problem import measured
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.core.stops import Limits
from novikoff.geometry import block_twins
from novikoff.geometry.block_twins import Hashes, Marks, clashes_among
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.room import OutOfRoomError
from novikoff.report.block_study import study_blocks
from novikoff.report.proving import find_clashes
from novikoff.report.steps import Options
from novikoff.report.study import study
from novikoff.report.summary import Source, summarize

AMPLE = 1 << 30


class Parts:
    """Blocks of so many rows."""

    def __init__(self, X: Floats | SparseMatrix, codes: Indices, size: int) -> None:
        self.X, self.codes, self.size = X, codes.astype(np.int32), size
        self.n_rows, self.n_features = X.shape
        self.classes = np.unique(codes)
        self.max_memory: int | None = None

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Indices]]:
        for block in self.coded():
            yield block.X, block.codes.astype(np.int64)

    def coded(self) -> Iterator[Coded]:
        for first in range(0, self.n_rows, self.size):
            part = slice(first, first + self.size)
            yield measured(self.X[part], self.codes[part])


def clashes(parts: Parts, room: int = AMPLE) -> list[list[int]]:
    marks = Marks(parts.n_rows, len(parts.classes), room)
    for block in parts.coded():
        marks.note(block)
    return [group.tolist() for group in clashes_among(parts, marks, room, Limits())]


def rows(seed: int, n: int, d: int) -> tuple[Floats, Indices]:
    """Many rows that are the same, zeros of both signs, and classes that do not care."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, d)) * rng.choice([-0.1, 0.1, 1e300], (n, d))
    return X, np.append(np.arange(3), rng.integers(0, 3, n - 3))


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_they_are_those_of_the_rows_in_memory(size: int, storage: type, d: int) -> None:
    X, codes = rows(d, 300, d)
    found = clashes(Parts(storage(X), codes, size))
    by_bytes: dict[bytes, list[int]] = {}
    for i, row in enumerate(X + 0.0):
        by_bytes.setdefault(row.tobytes(), []).append(i)
    expected = [group for group in by_bytes.values() if len(set(codes[group])) > 1]
    assert found == expected
    assert len(found) > 1


def test_single_precision_is_no_other_row() -> None:
    X, codes = rows(0, 100, 2)
    X[np.abs(X) > 1.0] = 3.0
    narrow = np.asarray(X, dtype=np.float32)
    expected = [group.tolist() for group in find_clashes(narrow, codes)]
    assert clashes(Parts(narrow, codes, 9)) == expected != []


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_rows_whose_hashes_agree_by_chance_are_told_apart(
    storage: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, codes = rows(1, 120, 3)
    expected = clashes(Parts(storage(X), codes, 11))

    def coarse(X: Floats | SparseMatrix) -> Hashes:
        return hashes(X) & np.uint64(3 << 60)

    hashes = block_twins.hashes_of
    monkeypatch.setattr(block_twins, "hashes_of", coarse)
    assert clashes(Parts(storage(X), codes, 11)) == expected != []


def test_a_hash_alone_is_no_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(8.0)[:, None]
    codes = np.arange(8) % 2
    monkeypatch.setattr(block_twins, "hashes_of", lambda X: np.zeros(len(X), dtype=np.uint64))
    assert clashes(Parts(X, codes, 3)) == []


def test_memory_and_time_are_kept() -> None:
    X, codes = rows(2, 200, 2)
    parts = Parts(X, codes, 50)
    with pytest.raises(OutOfRoomError):
        Marks(200, 3, 1000)
    for room in (1600, 1700, 3000, 12_900):  # for marks, for suspects, for members and rows
        with pytest.raises(OutOfRoomError):
            clashes(parts, room)
    marks = Marks(200, 3, AMPLE)
    for block in parts.coded():
        marks.note(block)
    with pytest.raises(OutOfTimeError):
        clashes_among(parts, marks, AMPLE, Limits(seconds=0.0))


@pytest.mark.parametrize("positive", [None, 1])
def test_a_study_lists_them(positive: int | None) -> None:
    X, codes = rows(3, 200, 2)
    X[np.abs(X) > 1.0] = 0.3
    options = Options(positive=positive, epochs=5)
    whole = study(X, codes, options)
    parts = study_blocks(Parts(X, codes, 64), options)
    assert [g.tolist() for g in parts.clashes] == [g.tolist() for g in whole.clashes] != []
    assert parts.unsought == ""


def test_a_study_says_if_it_did_not_look() -> None:
    X, codes = rows(4, 3000, 2)
    X[np.abs(X) > 1.0] = 0.3
    blocks = Parts(X, codes % 2, 500)
    blocks.max_memory = 60_000
    found = study_blocks(blocks, Options(epochs=2))
    assert found.clashes == []
    assert found.unsought.startswith("it does not fit into 60 kB of memory")
    source = Source("rows", ["a", "b"], "y", np.arange(3000))
    (note,) = [n for n in summarize(found, source).data.notes if n.startswith("identical rows")]
    assert note.startswith("identical rows with different labels not looked for: it does not fit")
