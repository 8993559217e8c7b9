"""CSV and its relatives as a stream: the kernel for plain numbers, a careful look at the rest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from novikoff.data.errors import DataError, argument, counted, quoted
from novikoff.data.feeds.feed import Batch, Indices, Mark
from novikoff.data.feeds.text import LONGEST_LABEL, Parsed, Rows, TextFeed
from novikoff.data.recipe import Column, Recipe
from novikoff.data.scanner import feature_hash
from novikoff.data.stretches import as_bytes, lines_are_records
from novikoff.data.text import OpenQuoteError, Record, records
from novikoff.data.values import BLANKS, is_missing, is_truth, number


@dataclass(frozen=True)
class Layout:
    """Which columns of a table are what.

    ``texts`` are the features that are always text. With ``spread``, text becomes features of
    its own, ``column=value``; with ``bits`` they are hashed, and text may come up in any column,
    where a number is a number all the same.
    """

    columns: list[str]
    label: int | None  # None in a file of rows that are to be predicted, at most
    features: list[int]
    texts: frozenset[int]
    spread: bool
    bits: int | None
    id: int | None
    delimiter: str
    decimal: str
    missing: str
    header: bool | None  # as it was asked for, and so the next two
    given_delimiter: str | None
    given_decimal: str | None

    @classmethod
    def from_json(cls, body: object) -> Layout:
        """The layout that `to_json` wrote; KeyError or TypeError if it is none."""
        if not isinstance(body, dict) or set(body) != set(cls.__dataclass_fields__):
            raise TypeError("not a layout")
        layout = cls(**{**body, "texts": frozenset(body["texts"])})
        width = len(layout.columns)
        for position in (layout.label, *layout.features, *layout.texts):
            if position is None or not 0 <= position < width:
                raise TypeError("a column that is not there")
        return layout

    def to_json(self) -> dict[str, object]:
        """All of it as JSON values."""
        return {**self.__dict__, "texts": sorted(self.texts)}


@dataclass
class TableFeed(TextFeed):
    """The rows of delimited text."""

    layout: Layout = field(kw_only=True)
    known: dict[str, int] = field(default_factory=dict)  # the columns of features, as they came

    def __post_init__(self) -> None:
        layout = self.layout
        numbers = [layout.columns[j] for j in layout.features if j not in layout.texts]
        for name in numbers:
            self.known.setdefault(name, len(self.known))
        self.width = len(numbers) if layout.bits is None else 1 << layout.bits
        self._cells: dict[str, int] = {}

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns met so far; None if they are hashed."""
        return None if self.layout.bits is not None else list(self.known)

    def preprocessing(self, width: int) -> dict[str, object] | None:
        """The recipe, if all features are columns of the table."""
        layout = self.layout
        if layout.spread:
            return None
        return Recipe(
            family="table",
            columns=tuple(Column(layout.columns[j]) for j in layout.features),
            label=None if layout.label is None else layout.columns[layout.label],
            id=None if layout.id is None else layout.columns[layout.id],
            missing="drop" if layout.missing == "drop" else "refuse",
            width=len(layout.columns),
            header=layout.header,
            delimiter=layout.given_delimiter,
            decimal=layout.given_decimal,
        ).to_json()

    def to_json(self) -> dict[str, object]:
        """What was decided."""
        return {
            "form": "table",
            "layout": self.layout.to_json(),
            "labels": self.reader.kind,
            "body": self.body.to_json(),
            "header": self.repeated.decode(),
        }

    def are_apart(self, text: bytes) -> bool:
        """Whether each line can be read for itself: numbers only, or hashed, and no open quotes."""
        if self.layout.decimal != "." or (self.layout.spread and self.layout.bits is None):
            return False
        if b'"' not in text:
            return True
        content, mark = as_bytes(memoryview(text)), ord(self.layout.delimiter)
        return bool(lines_are_records(content, mark))

    def look(self, text: bytes) -> Rows | None:
        """What a kernel finds: that for plain numbers, or the one that hashes cells."""
        rows = self._hashed(text) if self.layout.spread else self._plain(text)
        return rows if rows is not None and len(rows.codes) > 0 else None

    def _hashed(self, text: bytes) -> Rows | None:
        from novikoff.data.cells import Field, parse_cells

        layout = self.layout
        if layout.bits is None:
            return None
        fields = [Field(layout.columns[j], j in layout.texts) for j in layout.features]
        found = parse_cells(memoryview(text), layout.delimiter, self._places(), fields, layout.bits)
        return None if found is None else Rows(found.X, found.codes, found.labels)

    def _plain(self, text: bytes) -> Rows | None:
        from novikoff.data.plain import parse_plain

        layout = self.layout
        places, width = self._places(), len(layout.features)
        found = parse_plain(memoryview(text), layout.delimiter, places, width, threads=1)
        if found is None or not np.isfinite(found.X).all():
            return None
        return Rows(found.X, found.codes, found.labels)

    def _places(self) -> list[int]:
        """What becomes of each field, for the kernels."""
        from novikoff.data.plain import LABEL, SKIPPED

        places = [SKIPPED] * len(self.layout.columns)
        for feature, position in enumerate(self.layout.features):
            places[position] = feature
        if self.layout.label is not None:
            places[self.layout.label] = LABEL
        return places

    def read(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Read field by field, up to what is wrong."""
        rows, flaw, used = Fields(), None, 0
        view, delimiter, line = memoryview(text), self.layout.delimiter, at.line + 1
        alone = len(self.layout.columns) == 1  # then a blank line is a row where it is missing
        try:
            for record in records(view, 0, delimiter, line=line, blank=alone):
                used = record.end
                if self._row(record, rows):
                    rows.ends.append(record.end)
                    rows.dropped.append(self.dropped - at.dropped)
                else:
                    self.dropped += 1
            used = len(text)
        except OpenQuoteError as quote:
            if final:
                flaw = DataError(
                    f"{self.source}, line {quote.line} opens a quote that is never closed."
                )
        except DataError as error:
            flaw = error
        batches = [rows.batch(self, text, at)] if rows.codes else []
        return Parsed(batches, used, flaw)

    def _row(self, record: Record, rows: Fields) -> bool:
        """Add a row; False if it is left out."""
        where = f"{self.source}, line {record.line}"
        cells = self._cells_of(record, where)
        if self._has_gap(cells, self._needed(), where):
            return False
        label = self._label(cells, where, record.line)
        rows.add([self._entry(j, cells[j], where) for j in self.layout.features], label)
        return True

    def _needed(self) -> list[int]:
        """The columns in which nothing may be missing."""
        label = self.layout.label
        return [*([] if label is None else [label]), *self.layout.features]

    def _label(self, cells: Sequence[str], where: str, line: int) -> Hashable:
        """The label of a row."""
        label = "" if self.layout.label is None else cells[self.layout.label]
        if len(label) > LONGEST_LABEL:
            raise DataError(f"{where} has a label of over {LONGEST_LABEL} characters.")
        return self.reader.value(label, line)

    def _cells_of(self, record: Record, where: str) -> list[str]:
        """The fields of a record as text."""
        width = len(self.layout.columns)
        if len(record.fields) != width:
            raise DataError(
                f"{where} has {counted(len(record.fields), 'field')} where "
                f"{width} {'is' if width == 1 else 'are'} expected."
            )
        try:
            return [content.decode() for content in record.fields]
        except UnicodeDecodeError:
            raise DataError(f"{where} is not UTF-8 text.") from None

    def _has_gap(self, cells: Sequence[str], used: Sequence[int], where: str) -> bool:
        """Whether a cell that is used is missing; DataError, unless such rows are left out."""
        layout = self.layout
        gap = next((j for j in used if is_missing(cells[j])), None)
        if gap is not None and layout.missing != "drop":
            what = ": the label" if gap == layout.label else ""
            raise DataError(
                f"{where}, column {quoted(layout.columns[gap])}{what} is missing; --missing "
                "drop leaves out such rows."
            )
        return gap is not None

    def _entry(self, position: int, cell: str, where: str) -> tuple[int, float]:
        """The column of a cell's feature, and its value."""
        layout = self.layout
        name = layout.columns[position]
        if position not in layout.texts:
            value = number(cell, layout.decimal)
            if value is None and is_truth(cell):
                value = float(cell.strip(BLANKS).lower() == "true")
            if value is not None:
                if not abs(value) < float("inf"):
                    raise DataError(
                        f"{where}, column {quoted(name)} is infinite or beyond the range of "
                        "float64."
                    )
                return self._column(name), value
        if layout.bits is None and position not in layout.texts:
            raise DataError(
                f"{where}, column {quoted(name)} holds {quoted(cell)}, which is not a "
                f"number{self._advice(name)}."
            )
        return self._column(f"{name}={cell.strip(BLANKS)}"), 1.0

    def _advice(self, name: str) -> str:
        """What to do with a column that holds text."""
        return (
            f"; --one-hot {argument(name)} or --hash 18 make text a feature, --drop "
            f"{argument(name)} leaves it out"
        )

    def _column(self, name: str) -> int:
        bits = self.layout.bits
        if bits is None:
            return self.known.setdefault(name, len(self.known))
        column = self._cells.get(name)
        if column is None:
            if len(self._cells) > 1 << 20:  # a memory that does not grow for ever
                self._cells.clear()
            column = self._cells[name] = feature_hash(name.encode(), bits)
        return column


class Fields:
    """Rows that are added one by one."""

    def __init__(self) -> None:
        self.entries: list[list[tuple[int, float]]] = []
        self.codes: list[int] = []
        self.labels: dict[Hashable, int] = {}
        self.ends: list[int] = []
        self.dropped: list[int] = []

    def add(self, entries: list[tuple[int, float]], label: Hashable) -> None:
        """A row and its label."""
        self.entries.append(entries)
        self.codes.append(self.labels.setdefault(label, len(self.labels)))

    def batch(self, feed: TableFeed, text: bytes, at: Mark) -> Batch:
        """All of them; hashed and growing columns are sparse."""
        codes: Indices = np.array(self.codes, np.int64)
        ends, dropped = np.array(self.ends, np.int64), np.array(self.dropped, np.int64)
        values = np.array([value for row in self.entries for _, value in row])
        if not feed.layout.spread:
            X = values.reshape(len(codes), len(feed.layout.features))
            return Batch(X, codes, list(self.labels), at, text, ends, dropped)
        import scipy.sparse as sp

        columns = np.array([column for row in self.entries for column, _ in row], np.int32)
        pointers = np.cumsum([0, *map(len, self.entries)])
        width = max(feed.width, int(columns.max(initial=-1)) + 1)
        sparse = sp.csr_array((values, columns, pointers), shape=(len(codes), width))
        return Batch(sparse, codes, list(self.labels), at, text, ends, dropped)
