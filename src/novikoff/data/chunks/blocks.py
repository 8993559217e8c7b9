"""Files larger than memory: their rows in blocks, gone through again and again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import Coded, ahead
from novikoff.core.problem import measured
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Choices, Labels, numbers_of
from novikoff.data.chunks.batches import BatchPieces, parquet_files
from novikoff.data.chunks.cache import CachedBlocks, cache_path, open_cache, source_key
from novikoff.data.chunks.lines import state_of
from novikoff.data.chunks.pair_pieces import PairPieces
from novikoff.data.chunks.pieces import Pieces, TextPieces
from novikoff.data.chunks.survey import (
    Survey,
    again_from_zero,
    changed,
    classes_of,
    drop_notes,
    fill_cache,
)
from novikoff.data.errors import DataError
from novikoff.data.matrices import refuse_columns
from novikoff.data.recipe import Recipe
from novikoff.data.source import format_of, shown

__all__ = ["CachedBlocks", "FileBlocks", "blocks"]

_DEFAULT = Choices()
# Bytes of text in a piece, by default and at least; and of the numbers in a block of a cache.
_PIECE: Final = 1 << 24
_LEAST: Final = 1 << 20
_BLOCK: Final = 1 << 28
_SUFFIX: Final = ".blocks"


def blocks(
    path: str | os.PathLike[str],
    choices: Choices = _DEFAULT,
    *,
    max_memory: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> FileBlocks | CachedBlocks:
    r"""Open a file of labelled rows to go through it in blocks, again and again.

    `Perceptron.fit`, `Perceptron.partial_fit` and `separate` take what this returns in place
    of X and y. A first pass finds out the classes and the number of rows, and checks every
    value; of a Parquet file it reads the labels alone.

    Parameters
    ----------
    path : path
        A CSV, TSV or svmlight file, perhaps gzipped, a Parquet or Arrow file, a folder of
        Parquet files with the same columns, or a block cache.
    choices : Choices
        What is asked for, as in `read`; ``one_hot`` and ``missing="mean"`` need all rows at
        once and are refused.
    max_memory : int, optional
        Bytes that the blocks may take up, about; a block is far smaller.
    cache : path, optional
        A folder to keep the rows in as the kernels want them. It is made if need be, and used
        as long as the file's size and time of change stay the same: later passes are as
        fast as the memory.
    progress : callable, optional
        Told how many rows the first pass has read so far.

    Returns
    -------
    FileBlocks or CachedBlocks
        Iterated over, it gives pairs (X, y). It has ``classes``, ``n_rows``, ``n_features``,
        ``names``, ``label``, ``recipe``, ``notes`` and ``dropped``.

    Raises
    ------
    DataError
        If the file cannot be read, or is not what it should be.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import novikoff as nv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "rows.csv"
    ...     _ = file.write_text("size,kind\n1,small\n5,large\n2,small\n6,large\n")
    ...     rows = nv.data.blocks(file)
    ...     clf = nv.Perceptron(order="cyclic").fit(rows)
    >>> rows.n_rows, rows.classes.tolist(), clf.predict([[9.0]]).tolist()
    (4, ['large', 'small'], ['large'])
    """
    name = os.fspath(path)
    if name == "-":
        raise DataError("The standard input can be read only once: blocks need a file.")
    if name.endswith(_SUFFIX):
        refuse_columns(shown(name), choices, "a block cache")
        given = open_cache(path, resident=_resident(max_memory))
        given.max_memory = max_memory
        return given
    if os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        raise DataError(f"{shown(name)} is not a regular file: it can be read only once.")
    if cache is None:
        pieces = _pieces(name, choices, max_memory)
        return again_from_zero(lambda: _surveyed(pieces, name, choices, max_memory, progress))
    target, key = cache_path(cache, name, choices), _key(name, choices)
    found = _reusable(target, key, max_memory)
    if found is None:
        _make_folder(Path(cache))
        pieces = _pieces(name, choices, max_memory)
        most = _BLOCK if max_memory is None else min(_BLOCK, max_memory // 32)
        again_from_zero(
            lambda: fill_cache(target, lambda: _key(name, choices), pieces, most, progress)
        )
        found = open_cache(target, resident=_resident(max_memory))
    found.source, found.max_memory = shown(name), max_memory
    return found


@dataclass(frozen=True)
class FileBlocks:
    """The blocks of a file, read anew in every pass; `blocks` makes it.

    Attributes
    ----------
    source : str
        The name of the file.
    names, recipe, label, notes
        As in a `Dataset`.
    classes : array
        The labels, sorted.
    n_rows : int
        The number of rows.
    dropped : array of int64
        The rows of the file that are left out, counted from 1.
    max_memory : int or None
        The bytes that whoever works on them should keep to.
    """

    source: str
    names: Sequence[str]
    recipe: Recipe
    label: str
    notes: list[str]
    classes: Labels
    n_rows: int
    dropped: npt.NDArray[np.int64]
    max_memory: int | None
    _pieces: Pieces
    _order: npt.NDArray[np.int32]
    _path: str
    _state: object

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The number of each row in the file, counted from 1 without the header."""
        return numbers_of(self.n_rows, self.dropped)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.names) if self.recipe.family == "table" else self.recipe.width

    @property
    def sparse(self) -> bool:
        """Whether the blocks are CSR arrays."""
        return self.recipe.family == "matrix"

    def __iter__(self) -> Iterator[tuple[Floats | SparseMatrix, Labels]]:
        """Blocks of rows and their labels."""
        for block in self.coded():
            yield block.X, self.classes[block.codes]

    def coded(self) -> Iterator[Coded]:
        """The blocks with codes in place of labels.

        Raises
        ------
        DataError
            If a value is not as it should be, or the file has changed.
        """
        self._check_unchanged()
        sorted_codes = np.array_equal(self._order, np.arange(len(self._order)))
        for piece in self._pieces:
            if len(piece.codes) > 0:
                codes = piece.codes if sorted_codes else self._order[piece.codes]
                yield measured(piece.X, codes, largest_sq=piece.largest_sq)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        if _state(self._path) != self._state:
            raise changed(self.source)


def _pieces(path: str, choices: Choices, max_memory: int | None) -> Pieces:
    size = _PIECE if max_memory is None else min(_PIECE, max(_LEAST, max_memory // 64))
    if os.path.isdir(path):
        return BatchPieces(parquet_files(path), "parquet", choices, spare=max_memory is not None)
    form = format_of(path, choices.format)
    if form in ("parquet", "arrow"):
        return BatchPieces([path], form, choices, spare=max_memory is not None)
    if form == "svmlight":
        return PairPieces(path, choices, size)
    if form in ("csv", "tsv"):
        return TextPieces(path, form, choices, size)
    raise DataError(
        f"{shown(path)} is {form}, which is not read in blocks; CSV, svmlight, Parquet and Arrow "
        "are."
    )


def _surveyed(
    pieces: Pieces,
    path: str,
    choices: Choices,
    max_memory: int | None,
    progress: Callable[[int], None] | None,
) -> FileBlocks:
    state, survey = _state(path), Survey()
    known = pieces.n_rows if isinstance(pieces, BatchPieces) else None
    if known and choices.missing == "refuse":  # the labels are all that is not known yet
        survey.n_rows = survey.n_read = known
    else:
        for piece in ahead(pieces):
            survey.note(piece)
            if progress is not None:
                progress(survey.n_read)
    survey.check(pieces.name)
    classes, order = classes_of(pieces, survey)
    recipe = pieces.recipe()
    return FileBlocks(
        source=shown(path),
        names=recipe.names,
        recipe=recipe,
        label=pieces.label,
        notes=[*pieces.notes, *drop_notes(survey.dropped)],
        classes=classes,
        n_rows=survey.n_rows,
        dropped=survey.dropped,
        max_memory=max_memory,
        _pieces=pieces,
        _order=order,
        _path=path,
        _state=state,
    )


def _reusable(target: Path, key: dict[str, object], max_memory: int | None) -> CachedBlocks | None:
    """The cache that is there, if it belongs to the file as it is."""
    if not target.exists():
        return None
    try:
        found = open_cache(target, resident=_resident(max_memory))
    except DataError:  # damaged or of another version: it is made anew
        return None
    return found if found.key == key else None


def _key(path: str, choices: Choices) -> dict[str, object]:
    key = source_key(path, choices)
    if os.path.isdir(path):  # what counts are its files, not what else comes and goes there
        files = [[file, *state_of(file)] for file in parquet_files(path)]
        key = {**key, "size": len(files), "modified": 0, "files": files}
    return key


def _state(path: str) -> object:
    """By what a change of the file shows."""
    if os.path.isdir(path):
        return [(file, state_of(file)) for file in parquet_files(path)]
    return state_of(path)


def _resident(max_memory: int | None) -> int | None:
    return None if max_memory is None else max_memory // 4


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"The cache {folder} cannot be made: {reason}.") from None
