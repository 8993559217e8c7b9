"""Identical rows of different classes among rows that come in blocks.

A pass keeps 64 bits for each row: a hash of its entries that are not zero, and its class. Sorted,
they show which hashes more than one class has; a second pass compares the rows of these entry by
entry, so that nothing rests on a hash.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import uint64

from novikoff.core.blocks import Coded, CodedBlocks, ahead
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.core.stops import Limits
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.room import OutOfRoomError
from novikoff.geometry.selection import stacked

Hashes: TypeAlias = npt.NDArray[np.uint64]

# So many numbers are copied at a time to be hashed or compared: they stay near the core.
_AT_ONCE: Final = 1 << 16
# Bytes for a row: its mark; if its hash is a suspect; and if it is a member of a group.
_MARK, _SUSPECT, _MEMBER = 8, 24, 64


class Marks:
    """The mark of each row: a hash of its entries, with its class in the lowest bits.

    Parameters
    ----------
    n, n_classes : int
        How many rows and classes there will be.
    room : int
        The bytes that may be taken.

    Raises
    ------
    OutOfRoomError
        If the marks do not fit.
    """

    def __init__(self, n: int, n_classes: int, room: int) -> None:
        self._room = room
        _check(_MARK * n, room)
        self.bits = max(1, (n_classes - 1).bit_length())
        self._marks: Hashes = np.empty(n, dtype=np.uint64)
        self._n = 0

    def note(self, block: Coded) -> None:
        """The next rows."""
        own = self._marks[self._n : self._n + len(block.codes)]
        own[:] = hashes_of(block.X) >> self.bits << self.bits
        own |= block.codes.astype(np.uint64)
        self._n += len(own)

    def suspects(self) -> Hashes:
        """The hashes, without the bits of the class, that rows of several classes have, in order.

        It is for the end: the marks are let go.
        """
        marks, bits = self._marks[: self._n], self.bits
        self._marks = marks[:0].copy()
        marks.sort()
        found, size = [marks[:0]], 0
        for first in range(1, len(marks), _AT_ONCE):
            right = marks[first : first + _AT_ONCE]
            left = marks[first - 1 : first - 1 + len(right)]
            found.append(right[(left != right) & (left >> bits == right >> bits)] >> bits)
            size += len(found[-1])
            _check(_MARK * len(marks) + _SUSPECT * size, self._room)
        return np.unique(np.concatenate(found))


def clashes_among(blocks: CodedBlocks, marks: Marks, room: int, limits: Limits) -> list[Indices]:
    """Groups of rows that are equal entry by entry but not all of one class, in order.

    Parameters
    ----------
    blocks : CodedBlocks
        The rows that were marked.
    marks : Marks
        Their marks, which are used up.
    room : int
        The bytes that may be taken.
    limits : Limits
        How long it may go on.

    Raises
    ------
    OutOfRoomError
        If the rows in question do not fit.
    OutOfTimeError
        If a limit is reached.
    """
    suspects = marks.suspects()
    if len(suspects) == 0:
        return []
    groups, first = _Groups(suspects, marks.bits, room), 0
    for block in ahead(blocks.coded()):
        if limits.reached() is not None:
            raise OutOfTimeError
        groups.note(first, block)
        first += len(block.codes)
    return groups.clashing()


class _Groups:
    """Rows whose hash is a suspect, grouped by what they are.

    A row joins the group whose first row it equals. Groups of one hash are almost always one: the
    k-th of them has its number in ``_firsts[k]``, −1 where there is none.
    """

    def __init__(self, suspects: Hashes, bits: int, room: int) -> None:
        self._suspects, self._bits, self._room = suspects, bits, room
        self._firsts: list[Indices] = []
        self._rows = _Rows()
        self._numbers: list[Indices] = []
        self._codes: list[npt.NDArray[np.int32]] = []
        self._groups: list[Indices] = []
        self._n = 0

    def note(self, first: int, block: Coded) -> None:
        """The next rows, and the number of the first of them."""
        hashes = hashes_of(block.X) >> self._bits
        at = np.searchsorted(self._suspects, hashes)
        at[at == len(self._suspects)] = 0
        rows = np.flatnonzero(self._suspects[at] == hashes)
        self._n += len(rows)
        _check(_MEMBER * self._n + self._rows.nbytes, self._room)
        self._numbers.append(first + rows)
        self._codes.append(block.codes[rows])
        self._groups.append(self._grouped(block.X, rows, at[rows]))

    def clashing(self) -> list[Indices]:
        """The groups that are of several classes, each in order, by their first rows."""
        numbers, groups = np.concatenate(self._numbers), np.concatenate(self._groups)
        codes = np.concatenate(self._codes)
        order = np.argsort(groups, kind="stable")
        edges = np.flatnonzero(np.diff(groups[order])) + 1
        found = [
            numbers[group]
            for group in np.split(order, edges)
            if (codes[group] != codes[group[0]]).any()
        ]
        return sorted(found, key=lambda rows: int(rows[0]))

    def _grouped(self, X: Floats | SparseMatrix, rows: Indices, suspects: Indices) -> Indices:
        """The group of each row; suspects are the positions of their hashes."""
        groups, left = np.empty(len(rows), dtype=np.int64), np.arange(len(rows))
        for k in count():
            if len(left) == 0:
                break
            if k == len(self._firsts):
                self._firsts.append(np.full(len(self._suspects), -1))
            firsts = self._firsts[k]
            fresh = left[firsts[suspects[left]] < 0]
            new, at = np.unique(suspects[fresh], return_index=True)
            firsts[new] = self._rows.n + np.arange(len(new))
            if len(new) > 0:
                self._rows.add(X[rows[fresh[at]]])
                _check(_MEMBER * self._n + self._rows.nbytes, self._room)
            groups[left] = firsts[suspects[left]]
            left = left[~self._rows.equal(X, rows[left], groups[left])]
        return groups


class _Rows:
    """The first rows of groups, in a few matrices: small ones are merged as more come."""

    def __init__(self) -> None:
        self._parts: list[Floats | SparseMatrix] = []
        self.n = self.nbytes = 0

    def add(self, X: Floats | SparseMatrix) -> None:
        """Take in more rows."""
        self.n += X.shape[0]
        self.nbytes += 2 * int(X.nbytes if isinstance(X, np.ndarray) else 2 * X.data.nbytes)
        self._parts.append(X)
        while len(self._parts) > 1 and 2 * self._parts[-1].shape[0] > self._parts[-2].shape[0]:
            self._parts[-2:] = [stacked(self._parts[-2:])]

    def equal(self, X: Floats | SparseMatrix, rows: Indices, own: Indices) -> npt.NDArray[np.bool_]:
        """Whether each row of X is equal to that of the number given here."""
        same = np.empty(len(rows), dtype=np.bool_)
        first = 0
        for part in self._parts:
            last = first + part.shape[0]
            here = np.flatnonzero((own >= first) & (own < last))
            stride = max(1, _AT_ONCE // max(1, _width(X)))
            for k in range(0, len(here), stride):
                some = here[k : k + stride]
                same[some] = _are_equal(X[rows[some]], part[own[some] - first])
            first = last
        return same


def _width(X: Floats | SparseMatrix) -> int:
    """How many numbers a row takes, about."""
    return X.shape[1] if isinstance(X, np.ndarray) else len(X.data) // max(1, X.shape[0])


def _are_equal(some: Floats | SparseMatrix, others: Floats | SparseMatrix) -> npt.NDArray[np.bool_]:
    """Which rows of two matrices are equal, entry by entry."""
    if isinstance(some, np.ndarray) and isinstance(others, np.ndarray):
        return np.asarray((some == others).all(axis=1))
    differing: Any = cast(SparseMatrix, some) != cast(SparseMatrix, others)
    return np.asarray(np.diff(differing.tocsr().indptr) == 0)


def hashes_of(X: Floats | SparseMatrix) -> Hashes:
    """A hash of each row, the same for equal rows, dense or sparse, whatever their zeros' signs.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = np.array([[0.0, 2.0], [-0.0, 2.0], [2.0, 0.0]])
    >>> one, other, third = hashes_of(X)
    >>> bool(one == other), bool(one == third), bool((hashes_of(csr_array(X))[0] == one))
    (True, False, True)
    """
    n = X.shape[0]
    out = np.zeros(n, dtype=np.uint64)
    if isinstance(X, np.ndarray):
        stride = max(1, _AT_ONCE // max(1, X.shape[1]))
        for first in range(0, n, stride):
            part = X[first : first + stride]
            _hash_dense(_bits_of(part), out[first : first + stride])
        return out
    _hash_csr(X.indptr.astype(np.uint64), X.indices.astype(np.uint64), _bits_of(X.data), out)
    return out


def _bits_of(values: Floats) -> Hashes:
    """The bits of each number as float64; those of zero are all 0, whatever its sign."""
    return np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)


@njit(cache=True, nogil=True, forceinline=True)
def _mixed(bits: np.uint64, column: np.uint64) -> np.uint64:
    """The finish of splitmix64 (Steele et al. 2014)."""
    z = bits + (column + uint64(1)) * uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@njit(cache=True, nogil=True)
def _hash_dense(bits: Hashes, out: Hashes) -> None:
    for i in range(uint64(len(bits))):
        total = uint64(0)
        for j in range(uint64(bits.shape[1])):
            if bits[i, j] != uint64(0):
                total += _mixed(bits[i, j], uint64(j))
        out[i] = total


@njit(cache=True, nogil=True)
def _hash_csr(indptr: Hashes, indices: Hashes, bits: Hashes, out: Hashes) -> None:
    for i in range(uint64(len(out))):
        total = uint64(0)
        for k in range(indptr[i], indptr[i + uint64(1)]):
            if bits[k] != uint64(0):
                total += _mixed(bits[k], indices[k])
        out[i] = total


def _check(wanted: int, room: int) -> None:
    if wanted > room:
        raise OutOfRoomError(wanted)
