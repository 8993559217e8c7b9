"""Files that are no text as a stream: Parquet and Arrow by their batches, arrays as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from novikoff.data.batches import BatchPieces
from novikoff.data.feed import Batch, Mark, Wishes
from novikoff.data.pieces import Piece
from novikoff.data.pipe import Pipe
from novikoff.data.readers import read
from novikoff.data.recipe import Recipe

_HEAD = 1 << 16


class BinaryFeed:
    """The rows of a Parquet, Arrow, npy or npz file; marks count rows.

    Raises
    ------
    DataError
        If the file is damaged, or is not labelled rows of numbers.
    """

    def __init__(self, path: str, pipe: Pipe, form: str, wishes: Wishes) -> None:
        self.source, self.regular = pipe.name, pipe.regular
        self._path, self._form, self._wishes = path, form, wishes
        self._over = False
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
    def names(self) -> Sequence[str] | None:
        """The names of the columns."""
        return self._recipe.names if self._recipe.family == "table" else None

    @property
    def start(self) -> Mark:
        """The first row."""
        return Mark()

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on."""
        mark = Mark()
        for piece, labels in self._all():
            if self._over:
                return
            kept = np.setdiff1d(np.arange(piece.n_read), piece.dropped)
            left_out = kept - np.arange(len(kept))
            first = int(np.searchsorted(kept + mark.offset, at.offset))
            codes = piece.codes.astype(np.int64)[first:]
            place = Mark(mark.offset, 0, mark.dropped)
            yield Batch(
                piece.X[first:],
                codes,
                labels,
                place if first == 0 else at,
                b"",
                kept[first:] + 1 - (0 if first == 0 else at.offset - mark.offset),
                left_out[first:] - (0 if first == 0 else at.dropped - mark.dropped),
            )
            dropped = mark.dropped + len(piece.dropped)
            mark = Mark(mark.offset + piece.n_read, 0, dropped)

    def preprocessing(self, width: int) -> dict[str, object] | None:
        """The recipe."""
        return self._recipe.to_json()

    def to_json(self) -> dict[str, object]:
        """What was decided."""
        return {"form": "binary", "format": self._form}

    def digest(self, offset: int) -> str | None:
        """The SHA-256 of the beginning of the file."""
        with open(self._path, "rb") as file:
            return hashlib.sha256(file.read(_HEAD)).hexdigest()

    def skip(self, size: int) -> None:
        """Nothing: no binary file is a pipe."""

    def close(self) -> None:
        """Stop reading."""
        self._over = True

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
