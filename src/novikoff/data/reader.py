"""The form of every reader: it looks at the beginning of a source, then gives pieces of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from novikoff.data.options import Imputed, Piece, Position, ReadOptions, StreamOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import text_pieces
from novikoff.data.values import LabelReader, Labels


class Request(NamedTuple):
    """A source, and the way it is to be read: what a reader is made from.

    ``one_piece`` wants all rows at once; ``as_they_come`` wants rows as soon as they are there,
    up to the first that is wrong, and None now and then while a pipe is silent; with ``skip_bad``
    a wrong one is a piece of its own. ``files`` are those of a folder; the source is the first.
    """

    source: Source
    options: ReadOptions
    recipe: Recipe | None = None
    labelled: bool = True
    one_piece: bool = False
    as_they_come: bool = False
    files: Sequence[str] = ()
    skip_bad: bool = False


class Reader:
    """A source whose beginning has been looked at; it gives pieces, and then their recipe.

    ``label`` is the name of its labels, if it has any, ``notes`` what was decided at the beginning;
    the first row begins at ``start``. ``imputed`` are the rows and columns of X where a mean
    stands. ``typed`` gives the labels that keys stand for, when all are known; those of a stream
    are of the kind of ``labels``, and ``written`` rows had one so far. In text, a ``delimiter``
    splits records of fields; without it lines are rows, and with ``free_numbers`` a label may be
    written as +1 or 1.0.
    """

    label: str | None = None
    labels: LabelReader | None = None
    start = Position()
    delimiter: str | None = None
    free_numbers = False
    kernel_bytes = 0
    typed: Callable[[Sequence[Hashable]], Labels]

    def __init__(self, request: Request) -> None:
        self.request, self.source = request, request.source.name
        self.notes: list[str] = []
        self.imputed: list[Imputed] = []
        self.written = 0

    @classmethod
    def begin(cls, request: Request, options: StreamOptions) -> Self:
        """A reader of text whose form, and kind of labels, the beginning of a stream tells."""
        raise NotImplementedError

    @classmethod
    def resume(cls, request: Request, recipe: Recipe, state: Mapping[str, Any]) -> Self:
        """A reader of text that goes on as was decided before."""
        raise NotImplementedError

    def state(self) -> dict[str, object]:
        """What `resume` needs beside the recipe, as JSON values."""
        return {"layout": None, "truths": None}

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, by default all; those of text are cut and parsed."""
        return text_pieces(self, begin or self.start)

    def parse(self, text: bytes, begin: Position, found: Any = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        raise NotImplementedError

    def look(self, text: bytes) -> Any:
        """What a kernel finds, in any thread, once there are ``kernel_bytes``; None if nothing."""

    def row_ends(self, text: bytes) -> list[int]:
        """Where each row of a text ends."""
        raise NotImplementedError

    def recipe(self, width: int | None = None) -> Recipe:
        """How to read other files in the same way, when all pieces have been read.

        A stream of numbered columns has the ``width`` of its model, counted from 0.
        """
        raise NotImplementedError

    def final_notes(self) -> list[str]:
        """What was decided on the way, when all pieces have been read."""
        raise NotImplementedError

    def read_labels(self, piece: Piece) -> Piece:
        """The piece; that of a stream has labels for keys, or DataError says that one is none."""
        codes, keys = piece.codes, piece.labels
        self.written += int((codes >= 0).sum())
        learning = self.request.as_they_come and self.request.labelled
        if self.labels is None and learning and keys:
            texts = isinstance(keys[0], str)
            self.labels = LabelReader("texts") if texts else LabelReader.settled(keys)
        if self.labels is None:
            return piece
        values = [self.labels.value(key) for key in keys]
        piece.labels = list(dict.fromkeys(value for value in values if value is not None))
        places = {value: code for code, value in enumerate(piece.labels)}
        piece.codes = np.array([*(places.get(v, -1) for v in values), -1], np.int64)[codes]
        wrong = np.flatnonzero(piece.codes < 0)
        if learning and len(wrong):
            where = f"{self.source}, row {piece.rows[wrong[0]]}"
            self.labels.refuse(keys[codes[wrong[0]]], where)
        return piece

    def shift(self) -> int:
        """What the indices of a sparse X are too large by."""
        return 0
