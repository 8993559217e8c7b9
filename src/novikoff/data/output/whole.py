"""A dataset in memory, seen as blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Coded
from novikoff.core.problem import measured
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Dataset, Labels
from novikoff.data.recipe import Recipe


class WholeBlocks:
    r"""The rows of a `Dataset` as one block.

    Examples
    --------
    >>> import io
    >>> from novikoff.data import read
    >>> rows = WholeBlocks(read(io.BytesIO(b"size,kind\n1,a\n5,b\n")))
    >>> [block.codes.tolist() for block in rows.coded()], rows.classes.tolist()
    ([[0, 1]], ['a', 'b'])
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        _, first, codes = np.unique(data.labels, return_index=True, return_inverse=True)
        self.classes: Labels = data.labels[first]
        self._codes = codes.astype(np.int32)
        self.source, self.names, self.label = data.source, data.names, data.label
        self.recipe: Recipe = data.recipe
        self.notes = data.notes
        self.n_rows, self.n_features = int(data.X.shape[0]), int(data.X.shape[1])
        self.sparse = not isinstance(data.X, np.ndarray)

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """The rows of the file that are left out, counted from 1; not those after the last."""
        kept = self._data.rows
        last = int(kept[-1]) if len(kept) > 0 else 0
        return np.setdiff1d(np.arange(1, last + 1), kept, assume_unique=True)

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        """The block and its labels."""
        yield self._data.X, self._data.labels

    def coded(self) -> Iterator[Coded]:
        """The block with codes in place of labels."""
        yield measured(self._data.X, self._codes)
