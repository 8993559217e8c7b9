"""Rows as text: CSV and svmlight, each number as the shortest decimal that is that number.

Float32 is written by its exact value, as what a reader of float64 gets back. Several pieces of
rows are rendered at once, each by one call of a kernel, and come out in their order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint64

from novikoff.core.blocks import Coded
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.output.decimal_text import LONGEST, Bytes, Words, powers_of_ten, put_number

if TYPE_CHECKING:
    import scipy.sparse as sp

Offsets: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.int32]
Render: TypeAlias = "Callable[[Floats | sp.csr_array, Codes], memoryview]"

ENTRIES: Final = 1 << 18  # numbers of a piece
_INDEX: Final = 12  # the most characters of an index with its blank and its colon
_ONE, _TEN = uint64(1), uint64(10)
_BLANK, _COLON, _NEWLINE, _ZERO = (np.uint8(ord(c)) for c in " :\n0")


class Texts(NamedTuple):
    """Texts one after the other, and where each begins and the last ends."""

    content: Bytes
    offsets: Offsets


def texts_of(values: Iterable[bytes]) -> Texts:
    """Put texts one after the other."""
    values = list(values)
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(values), dtype=np.uint8), offsets)


def delimited(labels: Texts, delimiter: str) -> Render:
    r"""How rows become lines of fields, the label last.

    Examples
    --------
    >>> render = delimited(texts_of([b"no", b"yes"]), ",")
    >>> bytes(render(np.array([[1.0, 0.5], [2.0, 1e20]]), np.array([1, 0], dtype=np.int32)))
    b'1,0.5,yes\n2,1e20,no\n'
    """

    def render(X: Floats | sp.csr_array, codes: Codes) -> memoryview:
        bits = _bits(filled(X))
        out = np.empty(LONGEST * bits.size + _room(labels, len(codes)), dtype=np.uint8)
        used = _join_fields(bits, *labels, codes, powers_of_ten(), ord(delimiter), out)
        return out[:used].data

    return render


class Pairs:
    r"""How rows become svmlight: the label, then the number and value of each entry.

    Of dense rows, zeros are left out, but not −0.

    Parameters
    ----------
    labels : Texts
        By code.
    first : {0, 1}
        The number of the first column.

    Attributes
    ----------
    lowest, highest : int
        The smallest and the largest number of a column so far.

    Examples
    --------
    >>> render = Pairs(texts_of([b"-1", b"1"]), 1)
    >>> bytes(render(np.array([[0.0, 0.5], [-0.0, 0.0]]), np.array([1, 0], dtype=np.int32)))
    b'1 2:0.5\n-1 1:-0\n'
    >>> render.lowest, render.highest
    (1, 2)
    """

    def __init__(self, labels: Texts, first: int) -> None:
        self._labels, self._first = labels, first
        self._lowest: list[int] = [2**31]  # threads may append to lists
        self._highest: list[int] = [-1]

    def __call__(self, X: Floats | sp.csr_array, codes: Codes) -> memoryview:
        """The lines of some rows."""
        if isinstance(X, np.ndarray):
            stored = X.view(np.uint32 if X.dtype == np.float32 else np.uint64) != 0
            values, indices = X[stored], np.nonzero(stored)[1] + self._first
            counts = stored.sum(axis=1)
        else:
            values, indices = X.data, X.indices.astype(np.int64) + self._first
            counts = np.diff(X.indptr).astype(np.int64)
        if len(indices) > 0:
            self._lowest.append(int(indices.min()))
            self._highest.append(int(indices.max()))
        room = (LONGEST + _INDEX) * len(values) + _room(self._labels, len(codes))
        out, powers = np.empty(room, dtype=np.uint8), powers_of_ten()
        used = _join_pairs(_bits(values), *self._labels, codes, counts, indices, powers, out)
        return out[:used].data

    @property
    def lowest(self) -> int:
        """The smallest number of a column so far."""
        return min(self._lowest)

    @property
    def highest(self) -> int:
        """The largest number of a column so far."""
        return max(self._highest)


def rendered(
    blocks: Iterable[Coded], render: Render, width: int, *, dense: bool
) -> Iterator[tuple[int, memoryview]]:
    """The number of rows and the text of each piece, several of them in the making."""
    threads = len(os.sched_getaffinity(0))
    waiting: deque[tuple[int, Future[memoryview]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for X, codes in pieces(blocks, width, dense=dense):
            waiting.append((len(codes), pool.submit(render, X, codes)))
            if len(waiting) > 2 * threads:
                n, text = waiting.popleft()
                yield n, text.result()
        for n, text in waiting:
            yield n, text.result()


def pieces(
    blocks: Iterable[Coded], width: int, *, dense: bool
) -> Iterator[tuple[Floats | sp.csr_array, Codes]]:
    """Blocks in smaller pieces of that width, of about `ENTRIES` numbers.

    ``dense`` tells whether zeros that are not stored count as numbers.
    """
    for X, codes, _, _ in blocks:
        per_row = width if dense or isinstance(X, np.ndarray) else X.nnz // len(codes)
        step = max(1, ENTRIES // max(1, per_row))
        whole = X if isinstance(X, np.ndarray) else _widened(X, width)
        for begin in range(0, len(codes), step):
            yield whole[begin : begin + step], codes[begin : begin + step]


def filled(X: Floats | sp.csr_array) -> Floats:
    """The rows with their zeros; −0 stays −0, which adding to zeros would not do.

    >>> import scipy.sparse as sp
    >>> filled(sp.csr_array(([-0.0], [1], [0, 1]), shape=(1, 2)))
    array([[ 0., -0.]])
    """
    if isinstance(X, np.ndarray):
        return X
    dense: Floats = np.zeros(X.shape, dtype=X.dtype)
    dense[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices] = X.data
    return dense


def _widened(X: SparseMatrix, width: int) -> sp.csr_array:
    """The same rows with columns behind the last."""
    import scipy.sparse as sp

    wide = sp.csr_array((X.shape[0], width), dtype=X.dtype)
    wide.indptr, wide.indices, wide.data = X.indptr, X.indices, X.data
    return wide


def _room(labels: Texts, n: int) -> int:
    return n * (int(np.diff(labels.offsets).max()) + 2)


def _bits(values: Floats) -> Words:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


@njit(cache=True, nogil=True)
def _join_fields(
    bits: Words,
    labels: Bytes,
    bounds: Offsets,
    codes: Codes,
    powers: Words,
    mark: int,
    out: Bytes,
) -> int:
    """Write the numbers of each row, then its label, between marks; the bytes that it takes."""
    at, width = uint64(0), uint64(bits.shape[1])
    for i in range(len(codes)):
        j = uint64(0)
        while j < width:
            at = put_number(bits[uint64(i), j], powers, out, at)
            out[at] = mark
            at += _ONE
            j += _ONE
        at = _put_label(labels, bounds, codes[i], out, at)
        out[at] = _NEWLINE
        at += _ONE
    return int(at)


@njit(cache=True, nogil=True)
def _join_pairs(
    bits: Words,
    labels: Bytes,
    bounds: Offsets,
    codes: Codes,
    counts: Offsets,
    indices: Offsets,
    powers: Words,
    out: Bytes,
) -> int:
    """Write the label of each row, then its pairs; the bytes that it takes."""
    at, k = uint64(0), uint64(0)
    for i in range(len(codes)):
        at = _put_label(labels, bounds, codes[i], out, at)
        for _ in range(counts[i]):
            out[at] = _BLANK
            at = _put_index(uint64(indices[k]), out, at + _ONE)
            out[at] = _COLON
            at = put_number(bits[k], powers, out, at + _ONE)
            k += _ONE
        out[at] = _NEWLINE
        at += _ONE
    return int(at)


@njit(cache=True, nogil=True, forceinline=True)
def _put_label(labels: Bytes, bounds: Offsets, code: int, out: Bytes, at: np.uint64) -> np.uint64:
    begin, end = uint64(bounds[uint64(code)]), uint64(bounds[uint64(code) + _ONE])
    while begin < end:
        out[at] = labels[begin]
        at += _ONE
        begin += _ONE
    return at


@njit(cache=True, nogil=True, forceinline=True)
def _put_index(index: np.uint64, out: Bytes, at: np.uint64) -> np.uint64:
    size, power = _ONE, _TEN
    while power <= index:
        power *= _TEN
        size += _ONE
    end = at + size
    place = end
    for _ in range(size):
        place -= _ONE
        out[place] = np.uint8(index % _TEN) + _ZERO
        index //= _TEN
    return end
