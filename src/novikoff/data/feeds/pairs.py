"""Lines of ``label feature:value feature:value …`` as a stream.

Features are numbers, as in svmlight, and then number the columns as they are written; or names,
which get the next column when they first come up, or are hashed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np

from novikoff.data.errors import DataError, quoted
from novikoff.data.feeds.feed import Batch, Indices, Mark
from novikoff.data.feeds.text import Parsed, Rows, TextFeed
from novikoff.data.pairs import Stopped, parse_pairs
from novikoff.data.recipe import Recipe
from novikoff.data.scanner import MOST, feature_hash
from novikoff.data.values import is_missing, number

Keys: TypeAlias = Literal["numbers", "names", "hashed"]
KEYS: Final[tuple[Keys, ...]] = ("numbers", "names", "hashed")

_QUERY: Final = re.compile(rb"qid:[0-9]+")
# A row of features that have names; what separates columns of a table is not in it.
_NAMED_ROW: Final = re.compile(
    rb"(?:[ \t]*(?:#[^\r\n]*)?[\r\n]+)*[ \t]*[^\s:,;|#]+(?:[ \t]+[^\s:,;|]+:[-+.0-9eE]+)+"
    rb"[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z)"
)
_NUMBERED: Final = re.compile(rb"[0-9]{1,10}")


def is_named(text: bytes) -> bool:
    r"""Whether a first line is a label and features with names.

    Examples
    --------
    >>> is_named(b"spam free:1 money:2.5\n"), is_named(b"a,b\n1,2\n")
    (True, False)
    """
    return _NAMED_ROW.match(text) is not None


def keys_of(text: bytes) -> Literal["numbers", "names"]:
    r"""What the features of some lines are.

    Examples
    --------
    >>> keys_of(b"1 1:2 3:4\n"), keys_of(b"1 1:2 height:4\n")
    ('numbers', 'names')
    """
    for _, pieces, _ in _rows(text):
        for piece in pieces[1:]:
            key = piece.partition(b":")[0]
            if not _NUMBERED.fullmatch(key) and not _QUERY.fullmatch(piece):
                return "names"
    return "numbers"


def labels_of(text: bytes) -> list[str]:
    """The different labels of some lines, but for missing or infinite ones and lists."""
    found = {pieces[0].decode(errors="replace"): None for _, pieces, _ in _rows(text)}
    odd = (math.inf, -math.inf)
    return [x for x in found if not ("," in x or is_missing(x) or number(x) in odd)]


@dataclass
class PairFeed(TextFeed):
    """Rows of pairs."""

    keys: Keys = field(kw_only=True)
    bits: int | None = field(kw_only=True)
    missing: str = field(kw_only=True)
    known: dict[str, int] = field(default_factory=dict)  # the columns of names, as they came

    def __post_init__(self) -> None:
        self.width = 0 if self.bits is None else 1 << self.bits

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns met so far; None if they are numbers or hashed."""
        return list(self.known) if self.keys == "names" else None

    def preprocessing(self, width: int) -> dict[str, object] | None:
        """The recipe, if features are numbers, which count from 0: one may come at any time."""
        if self.keys != "numbers":
            return None
        missing: Literal["drop", "refuse"] = "drop" if self.missing == "drop" else "refuse"
        recipe = Recipe("matrix", label="label", missing=missing, width=width, first=0)
        return recipe.to_json()

    def to_json(self) -> dict[str, object]:
        """What was decided."""
        return {
            "form": "pairs",
            "keys": self.keys,
            "bits": self.bits,
            "missing": self.missing,
            "labels": self.reader.kind,
            "body": self.body.to_json(),
        }

    def are_apart(self, text: bytes) -> bool:
        """Whether each line can be read for itself: names get their columns one after the other."""
        return self.keys != "names"

    def look(self, text: bytes) -> Rows | None:
        """What the kernel for pairs finds."""
        return self._parsed(text, labelled=True, words=self.reader.kind == "texts")

    def _parsed(self, text: bytes, *, labelled: bool, words: bool) -> Rows | None:
        import scipy.sparse as sp

        view = memoryview(text)
        found = parse_pairs(view, labelled=labelled, words=words, threads=1, bits=self.bits)
        if isinstance(found, Stopped) or found.odd_row >= 0:
            return None
        shape = (len(found.codes), max(self.width, found.highest + 1))
        X = sp.csr_array((found.values, found.indices, found.indptr), shape=shape)
        lines = text.count(b"\n") + (not text.endswith(b"\n"))
        ends: Indices | None = None
        if not lines == found.n_lines == len(found.codes):  # else each row ends with its newline
            ends = np.array([end for *_, end in _rows(text)], np.int64)
        return Rows(X, found.codes, found.labels, ends)

    def read(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Read line by line, up to what is wrong."""
        import scipy.sparse as sp

        rows: list[dict[int, float]] = []
        labels: dict[Hashable, int] = {}
        codes, ends, dropped = list[int](), list[int](), list[int]()
        flaw = None
        try:
            for line, pieces, end in _rows(text, at.line):
                where = f"{self.source}, line {line}"
                entries = self._entries(where, pieces)
                if entries is None:
                    self.dropped += 1
                    continue
                label = self._label(where, pieces[0], line)
                rows.append(self._row(where, entries))  # only now do names get columns
                codes.append(labels.setdefault(label, len(labels)))
                ends.append(end)
                dropped.append(self.dropped - at.dropped)
        except DataError as error:
            flaw = error
        if not rows:
            return Parsed([], len(text), flaw)
        indices = np.array([column for row in rows for column in row], np.int32)
        values = np.array([value for row in rows for value in row.values()], np.float64)
        pointers = np.cumsum([0, *map(len, rows)])
        width = max(self.width, int(indices.max(initial=-1)) + 1)
        X = sp.csr_array((values, indices, pointers), shape=(len(rows), width))
        places = np.array(ends, np.int64), np.array(dropped, np.int64)
        batch = Batch(X, np.array(codes, np.int64), list(labels), at, text, *places)
        return Parsed([batch], len(text), flaw)

    def _entries(self, where: str, pieces: list[bytes]) -> list[tuple[bytes, float]] | None:
        """The features and values of a row; None if it is left out."""
        if b":" in pieces[0]:
            raise DataError(f"{where} has no label: it begins with {_shown(pieces[0])}.")
        label = decoded(where, pieces[0])
        if is_missing(label):
            self._miss(f"{where}: the label, {quoted(label)},")
            return None
        if self.reader.kind != "texts" and number(label) in (math.inf, -math.inf):
            raise DataError(f"{where}: the label, {quoted(label)}, is infinite.")
        return self._values(where, pieces[1:])

    def _label(self, where: str, piece: bytes, line: int) -> Hashable:
        """The label of a row, by its first piece."""
        return self.reader.value(decoded(where, piece), line)

    def _values(self, where: str, pieces: list[bytes]) -> list[tuple[bytes, float]] | None:
        """The features and values of pairs; None if one is missing and the row is left out."""
        found = []
        for position, piece in enumerate(pieces):
            if position == 0 and _QUERY.fullmatch(piece):
                continue
            key, colon, text = piece.rpartition(b":")
            value = number(text.decode(errors="replace"))
            if not colon or not key or value is None:
                raise DataError(f"{where}: {_shown(piece)} is not of the form feature:value.")
            if math.isnan(value):
                self._miss(f"{where}: {_shown(piece)}")
                return None
            if math.isinf(value):
                raise DataError(
                    f"{where}: {_shown(piece)} is infinite or beyond the range of float64."
                )
            found.append((key, value))
        return found

    def _miss(self, what: str) -> None:
        """Raise DataError, unless rows where something is missing are left out."""
        if self.missing != "drop":
            raise DataError(f"{what} is missing; --missing drop leaves out such rows.")

    def _row(self, where: str, entries: list[tuple[bytes, float]]) -> dict[int, float]:
        """The columns and values of a row."""
        row: dict[int, float] = {}
        last = -1
        for key, value in entries:
            column = self._column(where, key)
            if self.keys == "numbers" and column <= last:
                raise DataError(
                    f"{where} has the index {column} after {last}; indices must ascend."
                )
            last = column
            row[column] = row[column] + value if column in row else value
        return {column: row[column] for column in sorted(row)} if self.bits is not None else row

    def _column(self, where: str, key: bytes) -> int:
        if self.bits is not None:
            return feature_hash(key, self.bits)
        if self.keys == "numbers":
            if not _NUMBERED.fullmatch(key):
                raise DataError(
                    f"{where} has the feature {_shown(key)}, but features were numbers so far; "
                    "--names takes all of them as names."
                )
            if int(key) > MOST:
                raise DataError(f"{where} has the index {int(key)}, which is above {MOST}.")
            return int(key)
        return self.known.setdefault(decoded(where, key), len(self.known))


def decoded(where: str, piece: bytes) -> str:
    """A piece of a line as text."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        raise DataError(f"{where} is not UTF-8 text.") from None


def _rows(text: bytes, line: int = 0) -> Iterator[tuple[int, list[bytes], int]]:
    """Number, pieces and end of each line that is not blank."""
    end = 0
    for number_of, content in enumerate(text.splitlines(keepends=True), start=line + 1):
        end += len(content)
        pieces = content.partition(b"#")[0].split()
        if pieces:
            yield number_of, pieces, end


def _shown(piece: bytes) -> str:
    return quoted(piece.decode(errors="replace"))
