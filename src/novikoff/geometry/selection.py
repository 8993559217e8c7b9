"""The verdict on rows that come in blocks, from a selection of them that grows.

Some rows decide; the others need only be looked at. For a selection S that fits into memory:

* If no w separates S, none separates all rows: the contradiction is theirs.
* If w separates S, a pass tells whether it separates all rows. The margin of S bounds γ from
  above, that of w over all rows from below. Rows that w gets wrong, or brings too near, join.
* If S falls into separated rows I and others J, a pass tells whether w is ≥ 0 everywhere, and
  whether the rows that it leaves at zero balance, Σ (1 + μ_i) a_i = 0 with μ on J. Rows that are
  in the way join.

Every round proves the verdict, or adds rows that the last one lacked; so it ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Blocks, Coded, CodedBlocks, ahead
from novikoff.core.problem import measured, pose_again
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.checker import Dependence
from novikoff.geometry.exact import Signs
from novikoff.geometry.passes import Data
from novikoff.geometry.rational import OutOfTimeError
from novikoff.geometry.table import (
    Digest,
    Matrix,
    SignedRows,
    as_matrix,
    distinct,
    labels_of,
)


class GivenBlocks:
    """Blocks of a user's own, their labels coded; a first pass counts and checks them.

    Raises
    ------
    ValueError
        If there are no rows, blocks differ in width, or a number or a label is missing.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.max_memory: int | None = getattr(blocks, "max_memory", None)
        self.n_rows, self.n_features = 0, -1
        known: dict[Hashable, None] = {}
        for X, y in ahead(blocks):
            n, d = as_matrix(X).shape
            if n == 0:
                continue
            labels = labels_of(y)
            if self.n_features not in (-1, d):
                raise ValueError(f"A block has {d} columns, but the first has {self.n_features}.")
            if len(labels) != n:
                raise ValueError(f"A block has {n} rows, but {len(labels)} labels.")
            self.n_rows, self.n_features = self.n_rows + n, d
            known.update(dict.fromkeys(distinct(labels)))
        if self.n_rows == 0 or self.n_features == 0:
            raise ValueError("The blocks have no rows or no columns: there is nothing to separate.")
        self._labels = distinct(np.array(list(known), dtype=object))
        self.classes = np.array(self._labels)

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, npt.NDArray[np.generic]]]:
        return iter(self._blocks)

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels."""
        codes, first = {label: code for code, label in enumerate(self._labels)}, 0
        for X, y in self._blocks:
            labels = labels_of(y).tolist()
            if not labels:
                continue
            if not set(labels) <= codes.keys():
                raise ValueError("The labels of the blocks are not those of the first pass.")
            rows = cast("Floats | SparseMatrix", as_matrix(X))
            found = np.array([codes[label] for label in labels], dtype=np.int32)
            yield measured(rows, found, first=first)
            first += len(labels)


@dataclass(frozen=True)
class Part:
    """A block as a problem: the number of its first row, its data, and its rows as given."""

    first: int
    data: Data
    X: Floats | SparseMatrix
    signs: Signs


class Table:
    """All rows under the signs of one question, block by block."""

    def __init__(self, source: CodedBlocks, signs: Signs, fit_intercept: bool) -> None:
        self.source, self.fit_intercept = source, fit_intercept
        self._signs = signs  # of each class
        self.n, self.radius = 0, 0.0
        self.used = np.zeros(source.n_features + int(fit_intercept), dtype=np.bool_)
        self.sha256 = ""
        self.one_sided = self.sparse = False
        self.entries = 0  # that are stored

    @property
    def d(self) -> int:
        """The number of columns."""
        return self.source.n_features

    @property
    def p(self) -> int:
        """The number of weights, the bias among them where there is one."""
        return self.d + int(self.fit_intercept)

    def parts(self, limits: Limits) -> Iterator[Part]:
        """The blocks in turn.

        Raises
        ------
        OutOfTimeError
            If a limit is reached.
        """
        first = 0
        for block in ahead(self.source.coded()):
            if limits.reached() is not None:
                raise OutOfTimeError
            signs = self._signs[block.codes]
            data = self._data(block, signs)
            try:
                yield Part(first, data, block.X, signs)
            finally:
                data.close()
            first += len(signs)

    def blocks(self) -> Iterator[tuple[int, Vector]]:
        """All rows, some at a time, with the number of the first."""
        for part in self.parts(Limits()):
            for first, A in part.data.table.blocks():
                yield part.first + first, A

    def survey(self, limits: Limits) -> None:
        """The numbers that every bound needs, and the digest, in a pass of their own.

        Raises
        ------
        ValueError
            If the rows are not those of the pass before, as far as that shows.
        OutOfTimeError
            If a limit is reached.
        """
        before, self.n, self.radius, self.entries = self.sha256, 0, 0.0, 0
        n_rows = self.source.n_rows or sum(len(block.codes) for block in self.source.coded())
        digest, signs = Digest(n_rows, self.d), list[Signs]()
        for part in self.parts(limits):
            self.radius = max(self.radius, part.data.problem.radius)
            self.sparse = not isinstance(part.X, np.ndarray)
            self.entries += part.X.size if isinstance(part.X, np.ndarray) else len(part.X.data)
            peaks = part.data.peaks[: self.p]
            self.used |= peaks > 0.0
            digest.add(part.data.table.matrix)
            signs.append(part.signs)
            self.n += part.data.n
        every = np.concatenate([np.empty(0, dtype=np.int8), *signs])
        self.sha256 = digest.hexdigest(every)
        if self.n != n_rows or before not in ("", self.sha256):
            raise ValueError("The blocks differ from pass to pass: they must begin anew each time.")
        self.one_sided = bool((every == every[0]).all())

    def _data(self, block: Coded, signs: Signs) -> Data:
        problem = pose_again(block, signs, self.fit_intercept)
        return Data(problem, SignedRows(cast(Matrix, block.X), signs, self.fit_intercept))


class Selection:
    """Some rows of a table, by number and in order, with their signs."""

    def __init__(self) -> None:
        self.numbers = np.empty(0, dtype=np.int64)
        self.signs = np.empty(0, dtype=np.int8)
        self.X: Floats | SparseMatrix | None = None

    def join(self, numbers: Indices, X: Floats | SparseMatrix, signs: Signs) -> int:
        """Take in rows; how many of them are new."""
        fresh = np.flatnonzero(~np.isin(numbers, self.numbers))
        if len(fresh) == 0:
            return 0
        every = np.concatenate([self.numbers, numbers[fresh]])
        order = np.argsort(every, kind="stable")
        self.X = _merged(self.X, X[fresh], order)
        self.numbers = every[order]
        self.signs = np.concatenate([self.signs, signs[fresh]])[order]
        return len(fresh)

    def keep(self, numbers: Indices) -> None:
        """Let all rows go but those of the numbers given."""
        kept = np.flatnonzero(np.isin(self.numbers, numbers))
        self.numbers, self.signs = self.numbers[kept], self.signs[kept]
        self.X = None if self.X is None else self.X[kept]

    def compact(self) -> tuple[Matrix, Indices | None]:
        """The rows, which must be some, and the columns they are of; None where that is all.

        Columns of zeros are left out of sparse rows, if that is worth the while.
        """
        matrix = self.matrix
        if isinstance(matrix, np.ndarray):
            return matrix, None
        columns = np.flatnonzero(self.used)
        if 4 * len(columns) > 3 * matrix.shape[1]:
            return matrix, None
        columns = columns if len(columns) > 0 else np.zeros(1, dtype=np.int64)
        return cast(Matrix, cast(SparseMatrix, matrix)[:, columns]), columns

    @property
    def matrix(self) -> Matrix:
        """The rows, of which there must be some."""
        if self.X is None:
            raise ValueError("There are no rows to separate.")
        return cast(Matrix, self.X)

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """Which columns have an entry that is not zero."""
        if isinstance(self.X, np.ndarray):
            return np.asarray((self.X != 0.0).any(axis=0))
        entries = cast(SparseMatrix, self.X)
        used = np.zeros(entries.shape[1], dtype=np.bool_)
        used[entries.indices[entries.data != 0.0]] = True
        return used

    @property
    def nbytes(self) -> int:
        """The memory that it takes up."""
        if self.X is None:
            return 0
        return int(self.X.nbytes if isinstance(self.X, np.ndarray) else self.X.data.nbytes * 2)


class Worst:
    """The rows of the least scores that a pass comes across, with their entries."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.scores = np.empty(0)
        self.numbers = np.empty(0, dtype=np.int64)
        self.signs = np.empty(0, dtype=np.int8)
        self.X: Floats | SparseMatrix | None = None

    def note(self, part: Part, rows: Indices, scores: Vector) -> None:
        """Look at rows of a part and their scores."""
        if len(rows) > self.most:
            keep = np.argpartition(scores, self.most)[: self.most]
            rows, scores = rows[keep], scores[keep]
        if len(rows) == 0:
            return
        X = part.X[rows]
        every = np.concatenate([self.scores, scores])
        self.X = X if self.X is None else stacked([self.X, X])
        self.numbers = np.concatenate([self.numbers, part.first + rows])
        self.signs = np.concatenate([self.signs, part.signs[rows]])
        self.scores = every
        if len(every) > self.most:
            keep = np.sort(np.argpartition(every, self.most)[: self.most])
            self.scores, self.numbers = every[keep], self.numbers[keep]
            self.signs, self.X = self.signs[keep], self.X[keep]

    def move_to(self, selection: Selection) -> int:
        """Let the rows join a selection; how many of them are new."""
        return 0 if self.X is None else selection.join(self.numbers, self.X, self.signs)


def renumbered(claim: Dependence, numbers: Indices) -> Dependence:
    """A claim about a selection as one about all rows, whose numbers are given."""
    among = None if claim.among is None else tuple(numbers[list(claim.among)].tolist())
    return replace(claim, rows=tuple(numbers[list(claim.rows)].tolist()), among=among)


def _merged(
    old: Floats | SparseMatrix | None, new: Floats | SparseMatrix, order: Indices
) -> Floats | SparseMatrix:
    """Both, one after the other, in another order."""
    if old is None:
        return new[order]
    if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray):
        return stacked([old, new])[order]
    merged = np.empty((len(order), old.shape[1]), dtype=np.result_type(old, new))
    merged[order < len(old)] = old
    merged[order >= len(old)] = new[order[order >= len(old)] - len(old)]
    return merged


def stacked(parts: list[Floats | SparseMatrix]) -> Floats | SparseMatrix:
    """Matrices of one kind, one below the other."""
    if isinstance(parts[0], np.ndarray):
        dense: Floats = np.concatenate(cast("list[npt.NDArray[np.float64]]", parts))
        return dense
    import scipy.sparse as sp

    return sp.csr_array(sp.vstack(cast("list[SparseMatrix]", parts), format="csr"))
