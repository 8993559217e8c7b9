"""The reader of a format: it looks at the beginning of a source, then gives pieces of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from novikoff.core.validation import MAX_EXACT
from novikoff.data.dataset import Imputed, Piece, Position
from novikoff.data.labels import LabelForm, LabelReader, recode
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.errors import DataError


@dataclass(frozen=True)
class Request:
    """A source and the way it is to be read: the argument of every reader.

    Parameters
    ----------
    source : Source
        The file or pipe.
    options : ReadOptions
        What the user asked for.
    recipe : Recipe, optional
        The recipe of a model: its columns are wanted.
    labelled : bool
        Whether rows must have labels.
    stream : StreamOptions, optional
        Given if rows are wanted as soon as they arrive, up to the first bad row.
    state : mapping, optional
        The state of an earlier stream, which is continued.
    """

    source: Source
    options: ReadOptions
    recipe: Recipe | None = None
    labelled: bool = True
    stream: StreamOptions | None = None
    state: Mapping[str, Any] | None = None

    @cached_property
    def so_far(self) -> Recipe | None:
        """The recipe of the rows that an earlier stream has read."""
        return None if self.state is None else Recipe.from_json(self.state["recipe"])

    @property
    def skip_bad(self) -> bool:
        """Whether a bad row becomes a piece without rows, and reading continues behind it."""
        return self.stream is not None and self.stream.skip_bad

    @property
    def one_piece(self) -> bool:
        """Whether all rows are needed at once: to find the values of text, or means."""
        return self.recipe is None and self.options.needs_all_rows


class Reader:
    """A source whose beginning has been looked at. It gives pieces of rows, then their recipe.

    Attributes
    ----------
    label : str or None
        The name of the labels, if there are labels.
    labels : LabelReader or None
        The kind of labels in a stream, or in rows for a model.
    label_form : LabelForm
        How the format writes labels.
    start : Position
        Where the first row begins.
    notes : list of str
        What was decided from the beginning of the source.
    imputed : list of pairs of arrays
        Rows and columns of X where a mean replaces a missing value.
    n_labelled : int
        The number of rows so far that had a label.
    """

    label: str | None = None
    labels: LabelReader | None = None
    label_form: LabelForm = "text"
    start = Position()

    def __init__(self, request: Request) -> None:
        self.request, self.source = request, request.source.name
        self.notes: list[str] = []
        self.imputed: list[Imputed] = []
        self.n_labelled = 0

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """Return the rows behind a position, by default all; None while a pipe is silent."""
        raise NotImplementedError

    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other files in the same way; call it after the last piece.

        A stream with numbered columns passes the ``width`` of its model; columns count from 0.
        """
        raise NotImplementedError

    def final_notes(self) -> list[str]:
        """Return what was decided while reading; call it after the last piece."""
        raise NotImplementedError

    def shift(self) -> int:
        """Return by how much the column indices of a sparse X are too large."""
        return 0

    def state(self) -> dict[str, object]:
        """Return what a stream needs to continue, besides the recipe, as JSON values."""
        return {"layout": None, "truths": None}

    def first_labels(self) -> list[str]:
        """Return the labels at the beginning of a text."""
        return []

    def read_labels(self, piece: Piece) -> Piece:
        """Replace the keys of a stream's piece by labels; DataError on a label of another kind."""
        codes, keys = piece.codes, piece.labels
        self.n_labelled += int((codes >= 0).sum())
        learning = self.request.stream is not None and self.request.labelled
        if self.labels is None and learning and keys:
            self.labels = LabelReader.by_first(keys, self.label_form)
        if self.labels is None:
            return piece
        piece.codes, piece.labels = recode(codes, [self.labels.value(key) for key in keys])
        wrong = np.flatnonzero(piece.codes < 0)
        if learning and len(wrong):
            where = f"{self.source}, row {piece.rows[wrong[0]]}"
            self.labels.refuse(keys[codes[wrong[0]]], where)
        for code, label in enumerate(piece.labels if learning else ()):
            if isinstance(label, int) and abs(label) > MAX_EXACT:
                row = piece.rows[np.argmax(piece.codes == code)]
                raise DataError(
                    f"{self.source}, row {row} has the label {label}: integer labels beyond "
                    "2**53 are not exact as floats; --text-labels reads all labels as text."
                )
        return piece
