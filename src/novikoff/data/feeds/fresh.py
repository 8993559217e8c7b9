"""Rows that are to be predicted, as they come: the features are the model's, the labels anyone's.

They are read as those that the model has learned, but for what it does not ask of them: a row may
have no label, or any, and a feature that the model does not know is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from novikoff.data.errors import DataError, counted, listed
from novikoff.data.feeds.feed import Batch, LabelReader, Mark
from novikoff.data.feeds.pairs import PairFeed, decoded
from novikoff.data.feeds.pipe import Ahead
from novikoff.data.feeds.table import Fields, TableFeed
from novikoff.data.feeds.text import Parsed, Rows
from novikoff.data.scanner import begins_bare
from novikoff.data.text import Record
from novikoff.data.values import BLANKS, is_missing

if TYPE_CHECKING:
    from novikoff.core.rows import Floats, SparseMatrix

_UNKNOWN: Final = -1  # the column of a feature that the model does not know
_MOST: Final = 1_000_000  # of those that are told apart
_SHOWN: Final = 5
_DEPTH: Final = 4  # batches that are read ahead


class Strangers:
    """Counts different names, in a memory that does not grow for ever.

    Examples
    --------
    >>> strangers = Strangers()
    >>> for name in ("red", "blue", "red"):
    ...     strangers.meet(name)
    >>> print(strangers)
    2 features that the model does not know are left out: "red", "blue"
    """

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._first: list[str] = []

    def meet(self, name: str) -> None:
        """Count a name, unless it has come before."""
        mark = hash(name)  # names may be long
        if mark in self._met or len(self._met) > _MOST:
            return
        self._met.add(mark)
        if len(self._first) < _SHOWN:
            self._first.append(name)

    def __len__(self) -> int:
        return len(self._met)

    def __str__(self) -> str:
        number = len(self)
        if number > _MOST:
            return f"over {_MOST:,} features that the model does not know are left out"
        verb = "is" if number == 1 else "are"
        more = [*self._first, *[""] * (number - len(self._first))]
        return (
            f"{counted(number, 'feature')} that the model does not know {verb} left out: "
            f"{listed(more, _SHOWN)}"
        )


@dataclass
class FreshPairs(PairFeed):
    """Rows of pairs, with labels or without."""

    n_features: int = field(kw_only=True)
    strangers: Strangers = field(default_factory=Strangers)

    def __post_init__(self) -> None:
        self.width = self.n_features

    def look(self, text: bytes) -> Rows | None:
        """What the kernel for pairs finds, if all rows have labels, or none has."""
        bare = begins_bare(memoryview(text), bits=self.bits)
        return self._parsed(text, labelled=not bare, words=True)

    def _batch(self, rows: Rows, text: bytes, at: Mark) -> Batch | None:
        return _written(rows, text, at)

    def _entries(self, where: str, pieces: list[bytes]) -> list[tuple[bytes, float]] | None:
        return self._values(where, pieces if b":" in pieces[0] else pieces[1:])

    def _label(self, where: str, piece: bytes, line: int) -> Hashable:
        return None if b":" in piece else _present(decoded(where, piece))

    def _row(self, where: str, entries: list[tuple[bytes, float]]) -> dict[int, float]:
        row = super()._row(where, entries)
        row.pop(_UNKNOWN, None)
        if not all(map(math.isfinite, row.values())):
            raise DataError(f"{where}: the values of a feature add up beyond the range of float64.")
        return row

    def _column(self, where: str, key: bytes) -> int:
        if self.bits is not None:
            return super()._column(where, key)
        name = decoded(where, key)
        column = self.known.get(name, _UNKNOWN)
        if column == _UNKNOWN:
            self.strangers.meet(name)
        return column


@dataclass
class FreshTable(TableFeed):
    """The rows of a table; its header is its own, and the label may be missing, or its column."""

    n_features: int = field(kw_only=True)
    strangers: Strangers = field(default_factory=Strangers)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.width = self.n_features
        self._ids: list[str] = []

    def are_apart(self, text: bytes) -> bool:
        """Whether each line can be read for itself, and no row has a name to be kept."""
        return self.layout.id is None and super().are_apart(text)

    def _batch(self, rows: Rows, text: bytes, at: Mark) -> Batch | None:
        return _written(rows, text, at)

    def read(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Read field by field, up to what is wrong; the batches have ids if the table has."""
        self._ids = []
        found = super().read(text, at, final=final)
        if self.layout.id is None:
            return found
        return found._replace(batches=[_Identified(**vars(b), ids=self._ids) for b in found[0]])

    def _row(self, record: Record, rows: Fields) -> bool:
        if not super()._row(record, rows):
            return False
        rows.entries[-1] = [entry for entry in rows.entries[-1] if entry[0] != _UNKNOWN]
        if self.layout.id is not None:
            self._ids.append(record.fields[self.layout.id].decode())
        return True

    def _needed(self) -> list[int]:
        return self.layout.features

    def _label(self, cells: Sequence[str], where: str, line: int) -> Hashable:
        label = self.layout.label
        return None if label is None else _present(cells[label].strip(BLANKS))

    def _column(self, name: str) -> int:
        if self.layout.bits is not None:
            return super()._column(name)
        column = self.known.get(name, _UNKNOWN)
        if column == _UNKNOWN:
            self.strangers.meet(name)
        return column

    def _advice(self, name: str) -> str:
        return "; the model has learned numbers there"


FreshFeed: TypeAlias = FreshPairs | FreshTable


def _written(rows: Rows, text: bytes, at: Mark) -> Batch | None:
    """The rows with their labels as they are written, whatever they are."""
    try:
        labels = [_present(label.decode().strip(BLANKS)) for label in rows.labels]
    except UnicodeDecodeError:  # the careful road says where
        return None
    return Batch(rows.X, rows.codes.astype(np.int64), labels or [None], at, text, rows.ends)


@dataclass
class _Identified(Batch):
    """Rows that have names."""

    ids: list[str] = field(kw_only=True)


class Fresh(NamedTuple):
    """Some rows to be predicted.

    Attributes
    ----------
    X : CSR array
        Their features, in the columns of the model.
    numbers : list of int
        Their numbers in the file, counted from 1, rows that were left out included.
    ids : list of str or None
        Their names, where a column has them.
    labels : list
        What the model should say; None for rows that have no label it could give.
    written : int
        How many rows have a label of whatever kind.
    """

    X: Floats | SparseMatrix
    numbers: list[int]
    ids: list[str] | None
    labels: list[Hashable]
    written: int


def fresh_rows(feed: FreshFeed) -> Generator[Fresh]:
    """All rows of a feed, some at a time; the feed is closed at the end, whatever comes.

    Raises
    ------
    DataError
        If a row cannot be read, or there is none.
    """
    kept = 0
    ahead = Ahead(feed.batches(feed.start), _DEPTH)
    try:
        for batch in ahead:
            if batch is not None:
                yield _fresh(feed, batch, kept)
                kept += len(batch)
    finally:
        feed.close()
        ahead.close()
        feed.release()
    if not kept:
        what = "row without missing values" if feed.dropped else "rows"
        raise DataError(f"{feed.source} has no {what}.")


def _fresh(feed: FreshFeed, batch: Batch, kept: int) -> Fresh:
    left_out = batch.at.dropped + (0 if batch.dropped is None else batch.dropped)
    numbers = np.arange(kept + 1, kept + len(batch) + 1) + left_out
    codes = batch.codes.tolist()
    reader = LabelReader(feed.reader.kind, feed.source, numeric=isinstance(feed, FreshPairs))
    values = [_possible(label, reader) for label in batch.labels]
    return Fresh(
        batch.X,
        numbers.tolist(),
        batch.ids if isinstance(batch, _Identified) else None,
        [values[code] for code in codes],
        sum(batch.labels[code] is not None for code in codes),
    )


def _present(label: str) -> str | None:
    return None if is_missing(label) else label


def _possible(label: Hashable, reader: LabelReader) -> Hashable:
    """The label that a text stands for, if it is of the kind that the model knows."""
    if not isinstance(label, str) or reader.kind == "texts":
        return label
    try:
        return reader.value(label, 0)
    except DataError:
        return None
