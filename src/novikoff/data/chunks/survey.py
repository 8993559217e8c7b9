"""The first pass over a file in pieces: what it holds, and its rows into a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import ahead
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Labels
from novikoff.data.chunks.cache import CacheWriter
from novikoff.data.chunks.pair_pieces import CountsFromZeroError
from novikoff.data.chunks.pieces import Piece, Pieces
from novikoff.data.errors import DataError, counted
from novikoff.data.labels import check_count

Made = TypeVar("Made")


def again_from_zero(make: Callable[[], Made]) -> Made:
    """Make a first pass, and another if svmlight's indices turn out to count from 0."""
    try:
        return make()
    except CountsFromZeroError:
        return make()


def changed(name: str) -> DataError:
    """The sentence on a file that is not what it was."""
    return DataError(f"{name} has changed while it was being read.")


class Survey:
    """What a pass over all pieces finds out."""

    def __init__(self) -> None:
        self.n_read = self.n_rows = 0
        self.used: set[int] = set()  # numbers of labels that a row has which stays
        self._dropped: list[npt.NDArray[np.int64]] = []

    def note(self, piece: Piece) -> None:
        """Take a piece into account."""
        if len(piece.dropped) > 0:
            self._dropped.append(piece.dropped + self.n_read + 1)
        self.n_read += piece.n_read
        self.n_rows += len(piece.codes)
        self.used.update(np.flatnonzero(np.bincount(piece.codes)).tolist())

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """The rows of the file that are left out, counted from 1."""
        return np.concatenate([np.empty(0, np.int64), *self._dropped])

    def check(self, name: str) -> None:
        """Raise DataError if no row is left."""
        if self.n_rows == 0:
            what = "no row without missing values" if self.n_read else "no rows"
            raise DataError(f"{name} has {what}.")


def classes_of(pieces: Pieces, survey: Survey) -> tuple[Labels, npt.NDArray[np.int32]]:
    """The labels, sorted, and the code of each number that a label was given.

    What a label is follows from all of them; a class is one that a row has which stays.
    """
    values = pieces.labels()
    used = np.array(sorted(survey.used or range(len(values))), dtype=np.int64)
    check_count(len(used), survey.n_rows, pieces.name, pieces.label)
    classes, order = np.unique(values[used], return_inverse=True)
    codes = np.zeros(len(values), dtype=np.int32)
    codes[used] = order
    return cast(Labels, classes), codes


def fill_cache(
    target: Path,
    key_now: Callable[[], dict[str, object]],
    pieces: Pieces,
    most: int,
    progress: Callable[[int], None] | None,
) -> None:
    """Go through all pieces, and write blocks of about so many bytes."""
    key, survey = key_now(), Survey()
    with CacheWriter(target) as writer:
        waiting: list[Piece] = []
        size = 0
        for piece in ahead(pieces):
            survey.note(piece)
            waiting.append(piece)
            size += _nbytes(piece.X)
            if size >= most:
                _add(writer, waiting)
                waiting, size = [], 0
            if progress is not None:
                progress(survey.n_read)
        _add(writer, waiting)
        survey.check(pieces.name)
        classes, order = classes_of(pieces, survey)
        recipe = pieces.recipe()
        if key_now() != key:
            raise changed(pieces.name)
        writer.finish(
            classes=classes,
            names=recipe.names,
            recipe=recipe,
            label=pieces.label,
            notes=[*pieces.notes, *drop_notes(survey.dropped)],
            source_key=key,
            order=order,
            dropped=survey.dropped,
        )


def _add(writer: CacheWriter, pieces: Sequence[Piece]) -> None:
    """Several pieces as one block."""
    pieces = [piece for piece in pieces if len(piece.codes) > 0]
    if not pieces:
        return
    codes = np.concatenate([piece.codes for piece in pieces])
    if isinstance(pieces[0].X, np.ndarray):
        dense = [cast("npt.NDArray[np.float64]", piece.X) for piece in pieces]
        writer.add(np.concatenate(dense), codes)
        return
    import scipy.sparse as sp

    sparse = [cast("sp.csr_array", piece.X) for piece in pieces]
    width = max(X.shape[1] for X in sparse)
    wide = [sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width)) for X in sparse]
    writer.add(sp.vstack(wide, format="csr"), codes)


def _nbytes(X: Floats | SparseMatrix) -> int:
    if isinstance(X, np.ndarray):
        return X.nbytes
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def drop_notes(dropped: npt.NDArray[np.int64]) -> list[str]:
    """What to say of rows that are left out."""
    if len(dropped) == 0:
        return []
    return [f"{counted(len(dropped), 'row')} with missing values dropped"]
