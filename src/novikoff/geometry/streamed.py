"""Rows in blocks as the checker of certificates sees them: gone through, never all in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from novikoff.geometry.exact import Signs, Vector
from novikoff.geometry.table import Digest, Label, SignedRows, as_matrix, signs_of


class StreamedRows(SignedRows):
    """The rows a_i of blocks, those of some numbers kept.

    Making it is a first pass, which counts the rows and computes their digest.

    Parameters
    ----------
    blocks : iterable of pairs (X, y)
        Iterated over as often as need be.
    sides : pair of labels
        The positive one and the negative, or None for all others.
    shape : pair of int
        The rows and columns that there should be; others are refused.
    fit_intercept : bool
        Whether rows are padded with 1.
    kept : sequence of int
        The numbers of the rows that `at` will be asked for.

    Raises
    ------
    ValueError
        If a label is of neither side, or a block is of another width.
    """

    def __init__(
        self,
        blocks: Iterable[tuple[object, object]],
        sides: tuple[Label, Label],
        shape: tuple[int, int],
        fit_intercept: bool,
        kept: Sequence[int],
    ) -> None:
        self._blocks, self._sides, self._d = blocks, sides, shape[1]
        self.fit_intercept = fit_intercept
        self._numbers = np.unique(np.array(kept, dtype=np.int64))
        found: list[Vector] = []
        every: list[Signs] = []
        digest, self.n = Digest(*shape), 0
        for part in self._parts():
            digest.add(part.matrix)
            every.append(part.signs)
            n = len(part.signs)
            own = self._numbers[(self._numbers >= self.n) & (self._numbers < self.n + n)]
            if len(own) > 0:
                found.append(part.at(own - self.n))
            self.n += n
        self._kept = np.concatenate(found) if found else np.empty((0, self._d))
        self.signs = np.concatenate(every) if every else np.empty(0, dtype=np.int8)
        self.sha256 = digest.hexdigest(self.signs)

    def at(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Vector:
        """The rows of the numbers given, which must be among those kept."""
        wanted = np.array(rows, dtype=np.int64)
        if ((wanted < 0) | (wanted >= self.n)).any() or not np.isin(wanted, self._numbers).all():
            raise ValueError(f"There is no row {wanted.tolist()[:1]} among {self.n}.")
        kept: Vector = self._kept[np.searchsorted(self._numbers, wanted)]
        return kept

    def blocks(self) -> Iterator[tuple[int, Vector]]:
        """All rows, some at a time, with the number of the first."""
        first = 0
        for part in self._parts():
            for begin, A in part.blocks():
                yield first + begin, A
            first += len(part.signs)

    def _parts(self) -> Iterator[SignedRows]:
        for X, y in self._blocks:
            matrix = as_matrix(X)
            if matrix.shape[1] != self._d:
                raise ValueError(f"it has {matrix.shape[1]} columns, not {self._d}.")
            yield SignedRows(matrix, signs_of(y, *self._sides), self.fit_intercept)
