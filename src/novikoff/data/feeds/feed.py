"""A stream of labelled rows in batches, as they come; each batch knows where its rows end.

`open_feed` looks at the beginning of a file or pipe, decides what it is, and hands out batches
from any place on. What it decided is kept as JSON, so that a stream goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.choices import Choices
from novikoff.data.errors import DataError, quoted
from novikoff.data.feeds.trail import Trail
from novikoff.data.labels import label_values, written_labels
from novikoff.data.values import is_number

if TYPE_CHECKING:
    from novikoff.core.rows import Floats, SparseMatrix

Indices: TypeAlias = npt.NDArray[np.int64]
LabelKind: TypeAlias = Literal["integers", "numbers", "truths", "texts"]
LABEL_KINDS: Final[tuple[LabelKind, ...]] = ("integers", "numbers", "truths", "texts")

_ANYTHING: Final = Choices()
_UNTRODDEN: Final = Trail()
_KINDS: Final[dict[str, LabelKind]] = {"i": "integers", "f": "numbers", "b": "truths", "U": "texts"}


class Mark(NamedTuple):
    """A place between two rows: bytes (or rows, of binary files) and lines before it."""

    offset: int = 0
    line: int = 0
    dropped: int = 0  # rows left out before it
    trail: Trail = _UNTRODDEN  # what the bytes before it were

    def to_json(self) -> list[int]:
        """All of it as numbers."""
        return [self.offset, self.line, self.dropped, *self.trail]

    @classmethod
    def from_json(cls, body: object) -> Mark:
        """The mark that `to_json` wrote; ValueError if it is none."""
        numbers = [n for n in body if type(n) is int and n >= 0] if isinstance(body, list) else []
        if not isinstance(body, list) or not len(body) == len(numbers) == 7:
            raise ValueError("not a mark")
        offset, line, dropped, *trail = numbers
        return cls(offset, line, dropped, Trail(*trail))


@dataclass(frozen=True)
class Wishes:
    """What is asked of a stream, besides what is asked of any reader.

    Parameters
    ----------
    choices : Choices
        As of `novikoff.data.read`.
    bits : int, optional
        Hash the names of features, and text cells, to 2^bits columns.
    names : bool
        Whether the features of svmlight rows are names, even if they look like numbers.
    text_labels : bool
        Whether labels are text, even if they look like numbers.
    """

    choices: Choices = _ANYTHING
    bits: int | None = None
    names: bool = False
    text_labels: bool = False


@dataclass
class Batch:
    """Rows that came together.

    Attributes
    ----------
    X : C-ordered float64 array or CSR array
        The features.
    codes : array of int64
        Each row's label, as its position in ``labels``.
    labels : list of labels
        Those of this batch.
    at : Mark
        Where the batch begins.
    text : bytes
        What it was parsed from.
    ends : array of int64, optional
        Where each row ends in it; by default each row is a line.
    dropped : array of int64, optional
        Rows left out up to the end of each row.
    """

    X: Floats | SparseMatrix
    codes: Indices
    labels: Sequence[Hashable]
    at: Mark
    text: bytes = b""
    ends: Indices | None = None
    dropped: Indices | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def nbytes(self) -> int:
        """The memory that it takes up, its text included."""
        X = self.X
        parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        found = [self.codes, self.ends, self.dropped, *parts]
        return len(self.text) + sum(int(part.nbytes) for part in found if part is not None)

    def mark(self, row: int) -> Mark:
        """The place after so many rows."""
        if row == 0:
            return self.at
        text = self.content()
        if self.ends is None:
            ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == 10) + 1
            end = int(ends[row - 1]) if row <= len(ends) else len(text)
        else:
            end = int(self.ends[row - 1])
        offset, line, dropped, trail = self.at
        dropped += 0 if self.dropped is None else int(self.dropped[row - 1])
        trail = trail.followed_by(memoryview(text)[:end])
        return Mark(offset + end, line + line_ends(text, end), dropped, trail)

    def content(self) -> bytes:
        """What it was parsed from, even if that is not at hand."""
        return self.text


class Feed(Protocol):
    """A stream that was looked at.

    ``width`` columns there are in any case; ``dropped`` rows were left out up to where it has
    been read.
    """

    source: str
    notes: list[str]
    width: int
    dropped: int

    @property
    def regular(self) -> bool:
        """Whether it can be read again."""

    @property
    def steady(self) -> bool:
        """Whether it can be read again, and has not changed since it was opened."""

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns met so far; None where they are numbered."""

    @property
    def start(self) -> Mark:
        """Where the first row begins."""

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on; a pipe begins where it is."""

    def passage(self, begin: int, end: int) -> bytes | None:
        """The text between two places of a plain file; None where that is not to be had."""

    def preprocessing(self, width: int) -> dict[str, object] | None:
        """How other files are read for a model of so many columns; None if that has no recipe."""

    def to_json(self) -> dict[str, object]:
        """What was decided."""

    def go_on(self, at: Mark, *, replay: bool) -> None:
        """Make sure that what comes before a mark is what was learned, then or while reading on.

        With ``replay`` a pipe brings it again, and it is skipped; else a pipe brings what is new.
        """

    def close(self) -> None:
        """Stop reading."""

    def release(self) -> None:
        """Give the file back, when nothing reads it any more."""


class LabelReader:
    """Texts as labels of one kind, settled by the first of them.

    Examples
    --------
    >>> reader = LabelReader.settled(["1", "-1"], "-", numeric=False)
    >>> reader.kind, reader.value("7", 12)
    ('integers', 7)
    >>> reader.value("seven", 13)
    Traceback (most recent call last):
        ...
    novikoff.data.errors.DataError: -, line 13 has the label "seven", but labels were whole ...
    """

    def __init__(self, kind: LabelKind, source: str, *, numeric: bool) -> None:
        self.kind = kind
        self._source = source
        self._numeric = numeric
        self._known: dict[str, Hashable] = {}

    @classmethod
    def settled(cls, texts: Sequence[str], source: str, *, numeric: bool) -> LabelReader:
        """Decide by the first labels; ``numeric`` ones may be written as +1 or 1.0."""
        kind: LabelKind = "texts"
        if texts and numeric and all(map(is_number, texts)):
            kind = _KINDS[written_labels(texts).dtype.kind]
        elif texts:
            kind = _KINDS[label_values(texts).dtype.kind]
        return cls(kind, source, numeric=numeric)

    def value(self, text: str, line: int) -> Hashable:
        """The label that a text on a line stands for."""
        if text not in self._known:
            self._known[text] = self._read(text, line)
        return self._known[text]

    def _read(self, text: str, line: int) -> Hashable:
        if self._numeric and "," in text:
            raise DataError(
                f"{self._source}, line {line} has several labels, {quoted(text)}; one is expected "
                "(--text-labels takes it for one)."
            )
        if self.kind == "texts":
            return text.strip(" \t")
        numeric = self._numeric and is_number(text)
        value = (written_labels([text]) if numeric else label_values([text])).tolist()[0]
        if self.kind == "numbers" and type(value) is int and float(value) == value:
            value = float(value)
        wanted = {"integers": int, "numbers": float, "truths": bool}[self.kind]
        if type(value) is not wanted:
            words = {"integers": "whole", "numbers": "all", "truths": "true or false,"}[self.kind]
            noun = "" if self.kind == "truths" else " numbers"
            raise DataError(
                f"{self._source}, line {line} has the label {quoted(text)}, but labels were "
                f"{words}{noun} so far; --text-labels takes all of them as text."
            )
        return value


def text_reader(source: str) -> LabelReader:
    """Labels that are text, whatever they look like."""
    return LabelReader("texts", source, numeric=False)


def line_ends(text: bytes, end: int) -> int:
    r"""How many lines end before a place: with a newline, a return, or both.

    Examples
    --------
    >>> line_ends(b"a\r\nb\rc\nd", 7)
    3
    """
    from novikoff.data.stretches import as_bytes, count_lines

    before = as_bytes(memoryview(text)[:end])  # of binary data there is no text
    return count_lines(before, len(before))
