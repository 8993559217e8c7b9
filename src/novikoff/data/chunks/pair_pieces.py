"""svmlight in pieces: indices from 0 or from 1 and the width are those of the whole file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from novikoff.data.choices import Choices, Labels
from novikoff.data.chunks.lines import Span, Spans
from novikoff.data.chunks.pieces import Numbering, Piece, refuse_whole, shifting
from novikoff.data.errors import DataError
from novikoff.data.labels import written_labels
from novikoff.data.matrices import refuse_columns
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.svmlight import File, matrix_of, notes_on, parsed


class CountsFromZeroError(Exception):
    """An index 0 came up where indices had seemed to count from 1: begin again."""


class PairPieces:
    """The lines of an svmlight file in pieces.

    Until a first pass has seen all of them, indices are taken to count from 1, and a piece is
    as wide as its largest index; `CountsFromZeroError` says that they do not.

    Raises
    ------
    DataError
        If columns are chosen by name, or a line is not of the form.
    """

    def __init__(self, path: str, choices: Choices, size: int) -> None:
        self._spans, self._choices = Spans(path, size), choices
        self.name, self.label = self._spans.name, "label"
        refuse_columns(self.name, choices, "an svmlight file")
        refuse_whole(self.name, choices)
        self.notes: list[str] = []
        self._numbers = Numbering(self.name, self.label)
        self._first, self._width, self._highest = 1, 0, 0

    def __iter__(self) -> Iterator[Piece]:
        rows = 0
        for span in self._spans:
            with shifting(self.name, span.lines, rows, span.offset):
                piece = self._piece(span)
            if piece is not None:
                rows += piece.n_read
                yield piece
        if self._highest < self._first and rows:
            raise DataError(f"{self.name} has no features: all of its rows are empty.")
        self._width = self._highest + 1 - self._first

    def labels(self) -> Labels:
        """What the numbers of labels stand for."""
        return written_labels(list(self._numbers.known))

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        return Recipe(
            "matrix",
            label=self.label,
            missing=self._choices.missing,
            width=self._width,
            first=self._first,
        )

    def _piece(self, span: Span) -> Piece | None:
        file = parsed(Source(self.name, span.text, "svmlight"), labelled=True)
        if not file.pairs.n_rows:
            return None
        if file.pairs.lowest == 0 and self._first == 1:
            self._first, self._highest = 0, 0
            raise CountsFromZeroError
        self._highest = max(self._highest, file.pairs.highest)
        self._note(file)
        width = self._width or max(1, file.pairs.highest + 1 - self._first)
        X, codes, kept = matrix_of(file, self._choices, self._first, width, self._numbers)
        dropped = np.setdiff1d(np.arange(file.pairs.n_rows), kept - 1)
        return Piece(X, codes.astype(np.int32), file.pairs.n_rows, dropped)

    def _note(self, file: File) -> None:
        """Query ids may come late: what is noted of the file is what is true at its end."""
        before = [note for note in self.notes if not note.startswith("indices")]
        now = notes_on(file, self._first)
        self.notes = [*dict.fromkeys([*before, *now])]
