"""A block cache: what goes in comes out, and what is damaged does not."""

from __future__ import annotations

import mmap
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from novikoff.core.blocks import CodedBlocks, ahead
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data import Choices, DataError
from novikoff.data.choices import Labels
from novikoff.data.chunks import cached
from novikoff.data.chunks.cache import CachedBlocks, CacheWriter, cache_path, open_cache, source_key
from novikoff.data.recipe import Column, Recipe

NAMES = ["a", "b", "c"]
TABLE = Recipe("table", tuple(Column(name) for name in NAMES), label="kind", width=4)
MATRIX = Recipe("matrix", label="label", width=3)
INTEGERS: Labels = np.array([-1, 4], dtype=np.int64)
Blocks = list[Floats] | list[SparseMatrix]


def dense_blocks(dtype: str = "float64") -> list[Floats]:
    rng = np.random.default_rng(0)
    found: list[Floats] = []
    for n in (5, 1, 7):
        X = rng.standard_normal((n, 3))
        X[0, 0] = -0.0
        found.append(X.astype(np.float32) if dtype == "float32" else X)
    return found


def sparse_blocks(dtype: str = "float64", index: str = "int32") -> list[SparseMatrix]:
    found: list[SparseMatrix] = []
    for X in dense_blocks(dtype):
        rows = sp.csr_array(np.where(X > 0.0, X, 0.0))
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
        found.append(rows)
    return found


def codes_of(n: int) -> npt.NDArray[np.int32]:
    return (np.arange(n) % 2).astype(np.int32)


def write(
    path: Path,
    blocks: Blocks,
    classes: Labels = INTEGERS,
    order: npt.NDArray[np.int64] | None = None,
    dropped: list[int] | None = None,
    key: dict[str, object] | None = None,
) -> None:
    recipe = TABLE if isinstance(blocks[0], np.ndarray) else MATRIX
    with CacheWriter(path) as writer:
        for X in blocks:
            writer.add(X, codes_of(X.shape[0]))
        writer.finish(
            classes=classes,
            names=recipe.names,
            recipe=recipe,
            label="kind",
            notes=["as found"],
            source_key=key,
            order=order,
            dropped=dropped,
        )


def as_dense(X: Floats | SparseMatrix) -> Floats:
    return X if isinstance(X, np.ndarray) else X.toarray()


def bits(X: Floats | SparseMatrix) -> bytes:
    return as_dense(X).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_blocks_come_back_to_the_bit(dtype: str, tmp_path: Path) -> None:
    blocks = dense_blocks(dtype)
    write(tmp_path / "c.blocks", blocks, dropped=[3, 9])
    cache = open_cache(tmp_path / "c.blocks")
    assert isinstance(cache, CodedBlocks)
    assert (cache.n_rows, cache.n_features, cache.sparse) == (13, 3, False)
    assert cache.dtype == np.dtype(dtype)
    assert (cache.names, cache.label, cache.recipe, cache.notes) == (
        NAMES, "kind", TABLE, ["as found"],
    )  # fmt: skip
    assert cache.dropped.tolist() == [3, 9]
    for _ in range(2):
        for (X, y), given in zip(cache, blocks, strict=True):
            assert X.dtype == dtype
            assert bits(X) == bits(given)
            assert y.tolist() == INTEGERS[codes_of(len(given))].tolist()


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sparse_blocks_come_back_as_they_are(index: str, tmp_path: Path) -> None:
    blocks = sparse_blocks(index=index)
    write(tmp_path / "c.blocks", blocks)
    cache = open_cache(tmp_path / "c.blocks")
    assert cache.sparse
    for (X, _), given in zip(cache, blocks, strict=True):
        assert isinstance(X, sp.csr_array)
        assert X.shape == (given.shape[0], 3)
        assert X.indices.dtype == X.indptr.dtype == index
        assert X.has_canonical_format
        assert (X.indices == given.indices).all()
        assert X.data.tobytes() == given.data.tobytes()
        X.check_format(full_check=True)


def test_rows_are_views_that_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path / "c.blocks", dense_blocks())
    for block in open_cache(tmp_path / "c.blocks").coded():
        assert isinstance(block.X, np.ndarray)
        assert block.X.base is not None
        assert block.X.ctypes.data % 64 == 0
        assert not block.X.flags.writeable
        assert not block.codes.flags.writeable
        assert block.codes.dtype == np.int32


def test_radius_and_length_are_those_of_the_rows(tmp_path: Path) -> None:
    write(tmp_path / "c.blocks", dense_blocks())
    for block, X in zip(open_cache(tmp_path / "c.blocks").coded(), dense_blocks(), strict=True):
        assert block.radius >= np.linalg.norm(X, axis=1).max()
        assert block.radius <= np.linalg.norm(X, axis=1).max() * (1 + 1e-14)
        assert block.longest == 4


def test_codes_get_their_final_numbers(tmp_path: Path) -> None:
    classes = np.array(["a", "b", "é"])
    write(tmp_path / "c.blocks", dense_blocks(), classes, order=np.array([2, 0]))
    cache = open_cache(tmp_path / "c.blocks")
    assert [y.tolist() for _, y in cache][1:2] == [[classes[2]]]
    assert next(cache.coded()).codes.tolist() == [2, 0, 2, 0, 2]
    write(tmp_path / "d.blocks", dense_blocks(), classes[:1], order=np.array([0, 0]))
    assert {label for _, y in open_cache(tmp_path / "d.blocks") for label in y.tolist()} == {"a"}


@pytest.mark.parametrize(
    "classes",
    [
        np.array([-(2**63), 2**63 - 1]),
        np.array([-1.0, 1e308]),
        np.array([False, True]),
        np.array(["", 'é"\n\0x']),
    ],
)
def test_classes_keep_type_and_value(classes: Labels, tmp_path: Path) -> None:
    write(tmp_path / "c.blocks", dense_blocks(), classes)
    found = open_cache(tmp_path / "c.blocks").classes
    assert found.dtype == classes.dtype
    assert found.tolist() == classes.tolist()


def test_the_widest_sparse_block_counts(tmp_path: Path) -> None:
    narrow, wide = sp.csr_array(np.eye(2, 2)), sp.csr_array(np.eye(2, 3))
    blocks: list[SparseMatrix] = [narrow, wide]
    write(tmp_path / "c.blocks", blocks)
    assert [X.shape for X, _ in open_cache(tmp_path / "c.blocks")] == [(2, 3), (2, 3)]


@pytest.mark.parametrize("resident", [0, 1 << 20, None])
def test_letting_go_changes_nothing(resident: int | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    blocks: list[Floats] = [rng.standard_normal((4000, 3)) for _ in range(9)]
    write(tmp_path / "c.blocks", blocks)
    cache = open_cache(tmp_path / "c.blocks", resident=resident)
    for _ in range(2):
        found = list(ahead(cache.coded()))
        assert [bits(block.X) for block in found] == [bits(X) for X in blocks]
    for _ in cache.coded():  # who leaves early does no harm
        break


def test_blocks_must_match(tmp_path: Path) -> None:
    X, codes = np.ones((2, 3)), codes_of(2)
    with CacheWriter(tmp_path / "c.blocks") as writer:
        writer.add(X, codes)
        writer.add(np.empty((0, 3)), codes[:0])
        others: list[tuple[Floats | SparseMatrix, str]] = [
            (X.astype(np.float32), "one type"),
            (sp.csr_array(X), "one storage"),
            (np.ones((2, 4)), "4 columns, but the first has 3"),
            (np.ones((3, 3)), "as many codes"),
            (np.full((2, 3), np.nan), "NaN"),
            (sp.csr_array(np.eye(2, dtype=np.int64)), "float32 or float64"),
        ]
        for other, message in others:
            with pytest.raises(ValueError, match=message):
                writer.add(other, codes)
    with CacheWriter(tmp_path / "d.blocks") as writer, pytest.raises(ValueError, match="ascend"):
        writer.add(sp.csr_array((np.ones(2), [1, 0], [0, 2]), shape=(1, 2)), codes[:1])
    with CacheWriter(tmp_path / "e.blocks") as writer, pytest.raises(ValueError, match="one row"):
        writer.finish(classes=INTEGERS, names=NAMES, recipe=TABLE, label=None)
    assert os.listdir(tmp_path) == []


def test_what_is_said_must_match(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of the 1 classes"):
        write(tmp_path / "c.blocks", dense_blocks(), INTEGERS[:1])
    with pytest.raises(ValueError, match="sorted"):
        write(tmp_path / "c.blocks", dense_blocks(), INTEGERS[::-1])
    assert os.listdir(tmp_path) == []


def test_an_error_leaves_nothing_and_keeps_the_old(tmp_path: Path) -> None:
    path = tmp_path / "c.blocks"
    path.write_bytes(b"old")

    def fail() -> None:
        with CacheWriter(path) as writer:
            writer.add(np.ones((2, 3)), codes_of(2))
            assert len(os.listdir(tmp_path)) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["c.blocks"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        open_cache(tmp_path / "none.blocks")
    with pytest.raises(DataError, match="is a directory"):
        open_cache(tmp_path)


def test_the_key_tells_when_a_source_has_changed(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text("a,y\n1,0\n")
    choices = Choices(drop=("b",))
    key = source_key(source, choices)
    write(tmp_path / "c.blocks", dense_blocks(), key=key)
    assert open_cache(tmp_path / "c.blocks").key == source_key(source, choices)
    assert key != source_key(source, replace(choices, drop=()))
    os.utime(source, ns=(0, 1))
    assert key != source_key(source, choices)
    source.write_text("a,y\n1,0\n2,0\n")
    os.utime(source, ns=(0, 1))
    assert key["size"] != source_key(source, choices)["size"]
    with pytest.raises(DataError, match="cannot be read"):
        source_key(tmp_path / "none", choices)


def test_caches_of_different_sources_lie_apart(tmp_path: Path) -> None:
    one = cache_path(tmp_path, "a/rows.csv", Choices())
    assert one == cache_path(tmp_path, os.path.abspath("a/rows.csv"), Choices())
    assert one.parent == tmp_path
    others = [
        cache_path(tmp_path, "b/rows.csv", Choices()),
        cache_path(tmp_path, "a/rows.csv", Choices(missing="drop")),
        cache_path(tmp_path, "a/rows.csv", Choices(features=("a",))),
    ]
    assert len({one, *others}) == 4


def test_a_cache_is_of_its_own_type(tmp_path: Path) -> None:
    write(tmp_path / "c.blocks", dense_blocks())
    assert isinstance(open_cache(str(tmp_path / "c.blocks")), CachedBlocks)
    (tmp_path / "text.csv").write_text("a,b\n" * 100)
    with pytest.raises(DataError, match="not a block cache"):
        open_cache(tmp_path / "text.csv")


@pytest.mark.skipif(cached._faults() is None, reason="the system does not count a thread's faults")
def test_every_page_is_in_place_after_a_touch(tmp_path: Path) -> None:
    X = np.random.default_rng(5).normal(size=(4 * 64 * mmap.PAGESIZE // 8, 1))
    with CacheWriter(tmp_path / "one.blocks") as writer:
        writer.add(X, np.zeros(len(X), dtype=np.int32))
        recipe = Recipe("table", (Column("size"),), label="kind", width=2)
        writer.finish(classes=np.array(["a"]), names=["size"], recipe=recipe, label="kind")
    found = open_cache(tmp_path / "one.blocks")
    (block,) = found._footer.blocks
    pages = found._bytes[block.offset : block.offset + X.nbytes : mmap.PAGESIZE]
    for _ in range(2):  # as it was opened, and after it was let go
        found._touch(block)
        before = cached._faults()
        pages.max()
        assert cached._faults() == before
        found._advise(0, mmap.MADV_DONTNEED)
