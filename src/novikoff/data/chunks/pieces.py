"""A table of text in pieces: each is read as a file of its own, by the recipe of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Choices, Dataset, Labels
from novikoff.data.chunks.lines import Spans
from novikoff.data.delimited import plan_bit_by_bit, read_delimited
from novikoff.data.errors import DataError
from novikoff.data.labels import label_values
from novikoff.data.large import read_large
from novikoff.data.recipe import Column, Recipe
from novikoff.data.source import Source
from novikoff.data.table import assemble
from novikoff.data.text import check_text
from novikoff.data.values import BLANKS

# From this many bytes on, plain numbers are worth a kernel.
_LARGE: Final = 1 << 18
_HEAD: Final = 1 << 20
# So many labels are hardly classes.
_MOST_LABELS: Final = 100_000
_FILLED = re.compile(rb"[^\r\n]")
_PLACES = (r"(, line )(\d+)|(\(line )(\d+)", r"(, row )(\d+)", r"(at position )(\d+)")


@dataclass(frozen=True)
class Piece:
    """Some rows of a file.

    Attributes
    ----------
    X : array or CSR array
        Their features.
    codes : array of int32
        Their labels, numbered as they first came up.
    n_read : int
        How many rows the file has here, those that were left out included.
    dropped : array of int64
        Which of these were left out, counted from 0.
    largest_sq : float
        max‖x_i‖² of the rows that are left, infinite where it is not known.
    """

    X: Floats | SparseMatrix
    codes: npt.NDArray[np.int32]
    n_read: int
    dropped: npt.NDArray[np.int64]
    largest_sq: float = inf


class Pieces(Protocol):
    """A file in pieces, from the beginning each time."""

    name: str
    label: str
    notes: list[str]

    def __iter__(self) -> Iterator[Piece]: ...

    def labels(self) -> Labels:
        """What the numbers of labels stand for, after a pass over all pieces."""

    def recipe(self) -> Recipe:
        """How to read other files in the same way, after a pass over all pieces."""


class Numbering:
    """Texts numbered as they first come up."""

    def __init__(self, source: str, column: str) -> None:
        self.known: dict[str, int] = {}
        self._source, self._column = source, column

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """The numbers of texts, without the blanks around them."""
        known = self.known
        found = [known.setdefault(text.strip(BLANKS), len(known)) for text in texts]
        if len(known) > _MOST_LABELS:
            raise DataError(
                f'{self._source}: column "{self._column}" has over {_MOST_LABELS:,} different '
                "values: it is hardly a class; choose the label with --label."
            )
        return np.array(found, np.int64)


class TextPieces:
    """CSV and its relatives in pieces, with numbers for features and any label.

    Raises
    ------
    DataError
        If the beginning of the file is not that of a table, or asks for what needs all of its
        rows at once.
    """

    def __init__(self, path: str, form: str, choices: Choices, size: int) -> None:
        self._spans = Spans(path, size)
        self.name, self._form = self._spans.name, form
        refuse_whole(self.name, choices)
        head = head_of(self._spans)
        source = Source(self.name, head, form)
        facts = check_text(source)
        look, plan, label = plan_bit_by_bit(source, facts, choices)
        self.label = look.names[label]
        self.notes = [*look.notes, *plan.notes]
        self._numbers = Numbering(self.name, self.label)
        self._recipe = Recipe(
            family="table",
            columns=tuple(Column(look.names[j]) for j in plan.features),
            label=self.label,
            id=None if plan.id is None else look.names[plan.id],
            missing=choices.missing,
            width=len(look.names),
            header=choices.header,
            delimiter=choices.delimiter,
            decimal=None if choices.decimal == "." else choices.decimal,
        )
        self._choices = replace(
            choices,
            label=self.label,
            features=(),
            drop=(),
            header=True,
            delimiter=look.delimiter,
            decimal=look.decimal,
        )
        self._spans.delimiter = look.delimiter.encode()
        self._spans.skip = facts.start
        self._spans.body = look.body if look.header else facts.start
        self._head_lines = look.line - 1 if look.header else 1
        if look.header:
            self._spans.head = bytes(head[facts.start : look.body])
        else:  # every piece gets one, so that all have the columns of the file
            self._spans.head = look.delimiter.join(look.names).encode() + b"\n"
        self._spans.refuse_room(self._spans.head)

    def __iter__(self) -> Iterator[Piece]:
        rows = 0
        for span in self._spans:
            before = self._spans.body - span.offset  # bytes of the header, and before it
            headed = before <= 0
            begin = len(self._spans.head) if headed else min(before, len(span.text))
            if _FILLED.search(span.text, begin) is None:  # blank lines, or a header alone
                continue
            head = (self._head_lines, len(self._spans.head)) if headed else (0, 0)
            with shifting(self.name, span.lines - head[0], rows, span.offset - head[1]):
                data = self._read(Source(self.name, span.text, self._form))
            piece = piece_of(data)
            rows += piece.n_read
            yield piece

    def labels(self) -> Labels:
        """What the numbers of labels stand for."""
        return label_values(list(self._numbers.known))

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        return self._recipe

    def _read(self, source: Source) -> Dataset:
        choices, recipe, typed = self._choices, self._recipe, self._numbers
        found = None
        if len(source.view) >= _LARGE:
            found = read_large(source, choices, recipe, labelled=True, typed=typed)
        if found is None:
            frame = read_delimited(source, choices, recipe, labelled=True)
            found = assemble(frame, choices, recipe, typed=typed, partial=True)
        return found


def refuse_whole(name: str, choices: Choices) -> None:
    """Raise DataError if a choice needs all rows at once."""
    if choices.one_hot:
        raise DataError(f"{name}: --one-hot needs all rows at once, and is not for blocks.")
    if choices.missing == "mean":
        raise DataError(f"{name}: --missing mean needs all rows at once, and is not for blocks.")


def piece_of(data: Dataset) -> Piece:
    """A dataset, whose labels are numbers, as a piece."""
    n_read, codes = len(data.rows) if data.n_read is None else data.n_read, data.labels
    if len(data.rows) == n_read:
        return Piece(data.X, codes.astype(np.int32, copy=False), n_read, np.empty(0, np.int64))
    kept = np.zeros(n_read, np.bool_)
    kept[data.rows - 1] = True
    return Piece(data.X, codes.astype(np.int32), n_read, np.flatnonzero(~kept))


class shifting:  # noqa: N801 — read as a verb: with shifting(…)
    """Errors about a piece say the lines and rows of the whole file."""

    def __init__(self, name: str, lines: int, rows: int, offset: int = 0) -> None:
        self._name, self._shifts = name, (lines, rows, offset)

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, DataError) or not any(self._shifts):
            return
        message = str(error)
        begin = len(self._name) if message.startswith(self._name) else 0
        said = message[begin:]
        for place, by in zip(_PLACES, self._shifts, strict=True):
            said = re.sub(place, partial(_moved, by), said, count=1)
        raise DataError(message[:begin] + said) from None


def _moved(by: int, match: re.Match[str]) -> str:
    before, number = (part for part in match.groups() if part is not None)
    return f"{before}{int(number) + by}"


def head_of(spans: Spans) -> memoryview:
    """The beginning of a file, up to the end of a line."""
    for span in Spans(spans.path, _HEAD):
        return memoryview(bytes(span.text))
    raise DataError(f"{spans.name} is empty.")
