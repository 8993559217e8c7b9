"""A block cache as it is read: blocks of the memory map, none of them copied."""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Coded
from novikoff.core.rows import SparseMatrix
from novikoff.data.choices import Floats, Labels, numbers_of
from novikoff.data.chunks.footer import Block, Footer, padded, read_footer
from novikoff.data.errors import DataError
from novikoff.data.recipe import Recipe
from novikoff.data.source import shown

if sys.platform == "linux":
    import resource

if TYPE_CHECKING:
    import scipy.sparse as sp

# A block is let go when this many have come after it: one is in use, one waits, one is made.
_BEHIND = 3
# One page of so many is looked at to see whether a block is in place.
_SAMPLE = 64
# What is rounded up more, the wider a block is, and sparse ones may have been narrower.
_ROUNDING = 1e-6


def open_cache(path: str | os.PathLike[str], *, resident: int | None = None) -> CachedBlocks:
    """Open a block cache; nothing but its footer is read.

    Parameters
    ----------
    path : path
        The cache.
    resident : int, optional
        The bytes that may stay in memory; where the cache is larger, blocks are let go soon
        after they were used. By default all stay as long as the system has room for them.

    Raises
    ------
    DataError
        If it is not there, not a block cache, of another version, or damaged.
    """
    name = shown(os.fspath(path))
    if sys.byteorder != "little":
        raise DataError(f"{name} can only be read on a little-endian machine.")
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise DataError(f"{name} is empty.")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise DataError(f"{name} does not exist.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{name} cannot be read: {reason.lower()}.") from None
    footer, end = read_footer(memoryview(mapped), name)
    return CachedBlocks(name, mapped, footer, end, resident)


class CachedBlocks:
    """The blocks of a cache; `open_cache` makes it.

    Every block is checked when it is first given out: its bytes against their checksums, its
    structure and its numbers against what the cache says of them.

    Attributes
    ----------
    n_rows, n_features : int
        How many there are.
    classes : array of int64, float64, bool or str
        The labels, sorted.
    names, recipe, label, notes
        As in a `Dataset`.
    source : str
        The name of the cache, as given.
    key : dict or None
        What `source_key` said of the file that it was made from.
    dropped : array of int64
        The rows of that file that are left out, counted from 1.
    sparse : bool
        Whether the blocks are CSR arrays.
    dtype : dtype
        Of the numbers: float32 or float64.
    max_memory : int or None
        The bytes that whoever works on them should keep to.
    """

    def __init__(
        self, name: str, mapped: mmap.mmap, footer: Footer, end: int, resident: int | None
    ) -> None:
        self.source = self._name = name
        self.n_rows = sum(block.n for block in footer.blocks)
        self.n_features = footer.width
        self.classes: Labels = footer.classes
        self.recipe: Recipe = footer.recipe
        self.max_memory: int | None = None
        self.label = footer.label
        self.notes = footer.notes
        self.key: Mapping[str, object] | None = footer.key
        self.sparse = footer.kind == "csr"
        self.dtype = footer.dtype
        self._footer = footer
        self._mapped = mapped
        self._view = memoryview(mapped)
        self._bytes = np.frombuffer(mapped, dtype=np.uint8)
        self._facts: dict[int, tuple[float, int]] = {}  # of the blocks that are checked
        self._lets_go = resident is not None and resident < len(mapped)
        self.dropped = self._read_dropped(end)

    @property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return self.recipe.names if self._footer.names is None else self._footer.names

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The number of each row in the source, counted from 1 without the header."""
        return numbers_of(self.n_rows, self.dropped)

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._footer.blocks)

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        """Blocks of rows and their labels."""
        for X, codes, _, _ in self.coded():
            yield X, self.classes[codes]

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels; the next one is asked for with each.

        Raises
        ------
        DataError
            If a block is damaged.
        """
        given = 0
        try:
            for k, block in enumerate(self._footer.blocks):
                given = k + 1
                yield self._coded(k, block)
                if self._lets_go and k >= _BEHIND:
                    self._advise(k - _BEHIND, mmap.MADV_DONTNEED)
        finally:
            if self._lets_go:
                for k in range(max(0, given - _BEHIND - 1), given):
                    self._advise(k, mmap.MADV_DONTNEED)

    def _coded(self, k: int, block: Block) -> Coded:
        if k + 1 < self.n_blocks:
            self._advise(k + 1, mmap.MADV_WILLNEED)
        self._touch(block)
        X, codes = self._rows(block)
        if k not in self._facts:
            self._facts[k] = self._check(k, X, codes)
        if not isinstance(X, np.ndarray):
            X.has_canonical_format = True
        return Coded(X, codes, *self._facts[k])

    def _rows(self, block: Block) -> tuple[Floats | sp.csr_array, npt.NDArray[np.int32]]:
        """The arrays of a block, where they lie."""
        at, parts = block.offset, []
        for length in block.lengths(self.dtype.itemsize):
            parts.append(self._bytes[at : at + length])
            at += padded(length)
        codes = parts[-1].view(np.int32)
        values: Floats = parts[-2].view(self.dtype)
        if not self.sparse:
            return values.reshape(block.n, self.n_features), codes
        import scipy.sparse as sp

        # The constructor would look at every index each time: the arrays are put in place.
        X = sp.csr_array((block.n, self.n_features), dtype=self.dtype)
        X.indptr = parts[0].view(block.index_type)
        X.indices = parts[1].view(block.index_type)
        X.data = values
        return X, codes

    def _check(
        self, k: int, X: Floats | sp.csr_array, codes: npt.NDArray[np.int32]
    ) -> tuple[float, int]:
        """Compare a block with its checksums and what is said of it; its radius and length."""
        from novikoff.core.problem import measured

        block = self._footer.blocks[k]
        *rows, last = map(padded, block.lengths(self.dtype.itemsize))
        middle = block.offset + sum(rows)
        for begin, end, digest in (
            (block.offset, middle, block.rows),
            (middle, middle + last, block.codes),
        ):
            if hashlib.sha256(self._view[begin:end]).hexdigest() != digest:
                raise self._damaged(k, "its bytes do not have their checksum")
        if codes.min() < 0 or codes.max() >= len(self.classes):
            raise self._damaged(k, "it has a label that the cache does not name")
        if not isinstance(X, np.ndarray) and X.indptr[-1] != block.entries:
            raise self._damaged(k, "its rows do not have as many entries as it says")
        try:
            found = measured(X, codes)
        except ValueError as error:
            raise self._damaged(k, str(error).rstrip(".").lower()) from None
        if not isinstance(X, np.ndarray) and not X.has_canonical_format:
            raise self._damaged(k, "the indices of a row do not ascend")
        alike = math.isclose(block.radius, found.radius, rel_tol=_ROUNDING)
        if not alike or block.longest != found.longest:
            raise self._damaged(k, "its rows are not as long as it says")
        return found.radius, found.longest

    def _read_dropped(self, end: int) -> npt.NDArray[np.int64]:
        length = 8 * self._footer.dropped
        begin = end - padded(length)
        if hashlib.sha256(self._view[begin:end]).hexdigest() != self._footer.dropped_sha256:
            raise DataError(
                f"{self._name} is damaged: its list of dropped rows does not have its checksum; "
                "delete it, and make it again from its source."
            )
        return self._bytes[begin : begin + length].view(np.int64)

    def _damaged(self, k: int, reason: str) -> DataError:
        return DataError(
            f"{self._name} is damaged in block {k + 1} of {self.n_blocks}: {reason}; delete it, "
            "and make it again from its source."
        )

    def _touch(self, block: Block) -> None:
        """Have the pages of a block in place before its reader stumbles over each of them.

        In a second pass most often all are: then a few tell, and the memory is left to others.
        """
        pages = self._bytes[block.offset : block.offset + block.size(self.dtype.itemsize)]
        before = _faults()
        pages[:: _SAMPLE * mmap.PAGESIZE].max()
        if before is None or _faults() != before:
            pages[:: mmap.PAGESIZE].max()

    def _advise(self, k: int, advice: int) -> None:
        """Tell the system about the pages of a block; the last one may belong to the next."""
        block = self._footer.blocks[k]
        begin = block.offset // mmap.PAGESIZE * mmap.PAGESIZE
        end = block.offset + block.size(self.dtype.itemsize)
        end = end // mmap.PAGESIZE * mmap.PAGESIZE
        if end > begin:
            self._mapped.madvise(advice, begin, end - begin)


def _faults() -> int | None:
    """How often this thread found a page that was not in place; None if the system won't say."""
    if sys.platform != "linux":
        return None
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_minflt + usage.ru_majflt
