"""Files that are no text as a stream: Parquet and Arrow by their batches, arrays as a whole."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from novikoff.data.chunks.batches import BatchPieces
from novikoff.data.chunks.lines import state_of
from novikoff.data.chunks.pieces import Piece
from novikoff.data.feeds.feed import Batch, Mark, Wishes
from novikoff.data.feeds.pipe import Pipe
from novikoff.data.feeds.trail import ChangedError, Trail
from novikoff.data.readers import read
from novikoff.data.recipe import Recipe


class BinaryFeed:
    """The rows of a Parquet, Arrow, npy or npz file; marks count rows.

    Such a file is written as a whole: its trail is that of all its bytes, wherever the mark is,
    and one that has been written anew, even with more rows, is another.

    Raises
    ------
    DataError
        If the file is damaged, or is not labelled rows of numbers.
    """

    def __init__(self, path: str, pipe: Pipe, form: str, wishes: Wishes) -> None:
        self.source, self.regular = pipe.name, pipe.regular
        self._form, self._wishes = form, wishes
        self._over = False
        self.dropped = 0
        self._path, self._opened = path, state_of(path)
        self._trail = Trail.found(os.path.getsize(path), pipe.range)
        pipe.release()
        self._recipe: Recipe
        if form in ("parquet", "arrow"):
            self._pieces: BatchPieces | None = BatchPieces([path], form, wishes.choices)
            self._recipe, self.notes = self._pieces.recipe(), self._pieces.notes
        else:
            self._pieces = None
            self._data = read(path, wishes.choices)
            self._recipe, self.notes = self._data.recipe, self._data.notes
        self.width = len(self._recipe.names)

    @property
    def steady(self) -> bool:
        """Whether the file has not changed since it was opened."""
        return self.regular and os.path.exists(self._path) and state_of(self._path) == self._opened

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns."""
        return self._recipe.names if self._recipe.family == "table" else None

    @property
    def start(self) -> Mark:
        """The first row."""
        return Mark(trail=self._trail)

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on."""
        mark = self.start
        for piece, labels in self._all():
            if self._over:
                return
            kept = np.setdiff1d(np.arange(piece.n_read), piece.dropped)
            left_out = kept - np.arange(len(kept))
            first = int(np.searchsorted(kept + mark.offset, at.offset))
            codes = piece.codes.astype(np.int64)[first:]
            if len(codes):
                yield Batch(
                    piece.X[first:],
                    codes,
                    labels,
                    mark if first == 0 else at,
                    b"",
                    kept[first:] + 1 - (0 if first == 0 else at.offset - mark.offset),
                    left_out[first:] - (0 if first == 0 else at.dropped - mark.dropped),
                )
            self.dropped = mark.dropped + len(piece.dropped)
            mark = Mark(mark.offset + piece.n_read, 0, self.dropped, self._trail)

    def passage(self, begin: int, end: int) -> bytes | None:
        """Nothing: there is no text."""
        return None

    def preprocessing(self, width: int) -> dict[str, object] | None:
        """The recipe."""
        return self._recipe.to_json()

    def to_json(self) -> dict[str, object]:
        """What was decided."""
        return {"form": "binary", "format": self._form}

    def go_on(self, at: Mark, *, replay: bool) -> None:
        """Make sure that the file is the one that was learned."""
        if at.trail != self._trail:
            raise ChangedError(
                f"{self.source} is not the file that was learned: it has changed. --force begins "
                "anew."
            )

    def close(self) -> None:
        """Stop reading."""
        self._over = True

    def release(self) -> None:
        """Nothing: the file is held no longer than it is read."""

    def _all(self) -> Iterator[tuple[Piece, Sequence[Hashable]]]:
        if self._pieces is None:
            classes, codes = np.unique(self._data.labels, return_inverse=True)
            n_read = int(self._data.rows[-1])
            kept = np.zeros(n_read, np.bool_)
            kept[self._data.rows - 1] = True
            dropped = np.flatnonzero(~kept)
            yield Piece(self._data.X, codes.astype(np.int32), n_read, dropped), self._said(classes)
            return
        labels: Sequence[Hashable] = ()
        for piece in self._pieces:
            labels = labels or self._said(self._pieces.labels())
            yield piece, labels

    def _said(self, classes: np.ndarray) -> list[Hashable]:
        values: list[Hashable] = classes.tolist()
        return [str(value) for value in values] if self._wishes.text_labels else values
