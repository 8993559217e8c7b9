"""The digest that identifies the data of a proof: a hash tree over fixed ranges of rows.

A leaf is the SHA-256 of the numbers, or of the signs, of a range of rows. On each level, two
neighbours are hashed together, and a node without a neighbour goes to the next level unchanged (a
Merkle tree). So several processes can hash parts of the data, and the hashes that they exchange are
short.

References
----------
Merkle, R. C. (1987). A digital signature based on a conventional encryption function. *Advances in
Cryptology: CRYPTO 1987*, 369-378. Springer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.proofs.exact import Signs

# A leaf has about _NUMBERS_PER_LEAF numbers (or signs), and at least _ROWS_PER_LEAF rows.
_NUMBERS_PER_LEAF, _ROWS_PER_LEAF = 1 << 18, 16

# Consecutive rows as a tuple of arrays. It has one matrix, or the counts, columns and values of
# sparse rows, or signs.
RowArrays: TypeAlias = tuple[npt.NDArray[Any], ...]


def rows_per_leaf(d: int) -> int:
    """Return the number of rows in a leaf, for d columns; d = 0 for signs."""
    return max(_ROWS_PER_LEAF, _NUMBERS_PER_LEAF // max(1, d))


def dense_leaf(rows: npt.NDArray[Any]) -> bytes:
    """Return the SHA-256 of rows as float64, or of their entries if more than half are zero."""
    if 2 * np.count_nonzero(rows) < rows.size:
        at, columns = np.nonzero(rows)
        counts = np.bincount(at, minlength=len(rows))
        return _hashed(b"sparse\n", (counts, "<i8"), (columns, "<i8"), (rows[at, columns], "<f8"))
    return _hashed(b"dense\n", (np.add(rows, 0.0, dtype=np.float64), "<f8"))  # −0 becomes 0


def sparse_leaf(
    counts: npt.NDArray[Any], columns: npt.NDArray[Any], values: npt.NDArray[Any], d: int
) -> bytes:
    """Return the hash of `dense_leaf` for rows of d columns that are given by their entries."""
    used, at = values != 0.0, np.repeat(np.arange(len(counts)), counts)
    if 2 * np.count_nonzero(used) >= len(counts) * d:
        block = np.zeros((len(counts), d))
        block[at, columns] = values
        return dense_leaf(block)
    counts = np.bincount(at[used], minlength=len(counts))
    return _hashed(b"sparse\n", (counts, "<i8"), (columns[used], "<i8"), (values[used], "<f8"))


def _hashed(head: bytes, *parts: tuple[npt.NDArray[Any], str]) -> bytes:
    hashed = hashlib.sha256(head)
    for array, kind in parts:
        hashed.update(np.ascontiguousarray(array, dtype=kind).data)
    return hashed.digest()


@dataclass
class HashTree:
    """A hash tree that is built from ranges of rows, in any order.

    It keeps the hashes of its largest complete subtrees, and the rows of leaves that are not
    complete. Two trees about different rows can be merged. ``d`` is the number of columns, 0 for
    signs.

    Examples
    --------
    >>> X = np.arange(600_000.0).reshape(-1, 2)
    >>> whole, first, last = HashTree(2), HashTree(2), HashTree(2)
    >>> whole.add(0, X); last.add(200_001, X[200_001:]); first.add(0, X[:200_001])
    >>> last.merge(first)
    >>> last.root(len(X)) == whole.root(len(X))
    True
    """

    d: int
    # The hashes of complete subtrees, by level and place.
    nodes: dict[tuple[int, int], bytes] = field(default_factory=dict)
    # The rows of incomplete leaves, by leaf, then by the number of the first row.
    incomplete: dict[int, dict[int, RowArrays]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stride = rows_per_leaf(self.d)  # the number of rows in a leaf

    def add(self, first: int, rows: Any) -> None:
        """Add consecutive rows of a matrix, or signs; ``first`` is the number of the first row."""
        last = first + int(rows.shape[0])
        while first < last:
            end = min(last, self.end_of_leaf(first))
            self.add_piece(first, _piece(rows[: end - first]))
            first, rows = end, rows[end - first :]

    def end_of_leaf(self, row: int) -> int:
        """The first row of the next leaf."""
        return (row // self.stride + 1) * self.stride

    def add_piece(self, first: int, piece: RowArrays) -> None:
        """Add consecutive rows that belong to one leaf."""
        leaf = first // self.stride
        pieces = self.incomplete.setdefault(leaf, {})
        pieces[first] = piece
        if sum(len(part[0]) for part in pieces.values()) == self.stride:
            self._close(leaf)

    def merge(self, other: HashTree) -> None:
        """Add the rows of another tree, none of which this tree has."""
        for (level, place), hashed in other.nodes.items():
            self._add(level, place, hashed)
        for pieces in other.incomplete.values():
            for first, piece in pieces.items():
                self.add_piece(first, piece)

    def root(self, n: int) -> bytes:
        """Return the hash of all n rows; ValueError if some rows have not been added."""
        leaves = -(-n // self.stride)
        if leaves == 0:
            return b""
        if leaves - 1 in self.incomplete:  # the last leaf may be short
            self._close(leaves - 1)

        def find(level: int, place: int) -> bytes:
            if (level, place) in self.nodes:
                return self.nodes[level, place]
            if level == 0:
                raise ValueError("some rows have not been hashed.")
            first, second = find(level - 1, 2 * place), 2 * place + 1
            return (
                first
                if second << (level - 1) >= leaves
                else _pair_hash(first, find(level - 1, second))
            )

        return find((leaves - 1).bit_length(), 0)

    def _add(self, level: int, place: int, hashed: bytes) -> None:
        while (level, place ^ 1) in self.nodes:
            other = self.nodes.pop((level, place ^ 1))
            hashed = _pair_hash(other, hashed) if place % 2 else _pair_hash(hashed, other)
            level, place = level + 1, place // 2
        self.nodes[level, place] = hashed

    def _close(self, leaf: int) -> None:
        pieces = self.incomplete.pop(leaf)
        columns = zip(*(pieces[first] for first in sorted(pieces)), strict=True)
        joined = [part[0] if len(part) == 1 else np.concatenate(part) for part in columns]
        if self.d == 0:
            self._add(0, leaf, _hashed(b"signs\n", (joined[0], "i1")))
        elif len(joined) == 3:
            self._add(0, leaf, sparse_leaf(joined[0], joined[1], joined[2], self.d))
        else:
            self._add(0, leaf, dense_leaf(joined[0]))


def _piece(rows: Any) -> RowArrays:
    if isinstance(rows, np.ndarray):
        return (rows,)
    return np.diff(rows.indptr), rows.indices, rows.data


def _pair_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"node\n" + left + right).digest()


@dataclass(frozen=True)
class MatrixDigest:
    """The digest of a matrix: the SHA-256 of its shape and of the root of its hash tree.

    Equal numbers have the same digest in dense and sparse storage, in float32 and float64.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X, signs = np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([1, -1], dtype=np.int8)
    >>> MatrixDigest.of(X).signed(signs) == MatrixDigest.of(csr_array(X)).signed(signs)
    True
    """

    n: int
    d: int
    root: str

    @classmethod
    def of(cls, X: Any) -> MatrixDigest:
        """Return the digest of a float array or of a canonical CSR matrix."""
        tree = HashTree(int(X.shape[1]))
        tree.add(0, X)
        return cls.of_tree(tree, int(X.shape[0]))

    @classmethod
    def of_tree(cls, tree: HashTree, n: int) -> MatrixDigest:
        """Return the digest of the n rows of a tree."""
        head = f"novikoff 3 {n} {tree.d}\n".encode()
        return cls(n, tree.d, hashlib.sha256(head + tree.root(n)).hexdigest())

    def signed(self, signs: Signs | HashTree) -> str:
        """Return the digest of the matrix with a sign for each row; signs may be a hash tree."""
        if not isinstance(signs, HashTree):
            tree = HashTree(0)
            tree.add(0, np.asarray(signs, dtype=np.int8))
            signs = tree
        return hashlib.sha256(f"{self.root}\n".encode() + signs.root(self.n)).hexdigest()
