"""Features known by name: lines of ``label name:value name:value …``.

A name gets its column when it first comes up (row by row, so that it does not matter how a stream
is cut), or by hashing, or it is one that a model knows; names that the model does not know are left
out and counted. Rows are sparse.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from novikoff.data.errors import DataError, counted, listed
from novikoff.data.fields import is_number
from novikoff.data.labels import svmlight_labels
from novikoff.data.options import Indices, Labels, Piece, Position
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.svmlight import PairRows
from novikoff.data.text import Request, lines_of

if TYPE_CHECKING:
    import scipy.sparse as sp

_MOST_REMEMBERED: Final = 1 << 20  # names whose hash is remembered, or that are told apart
_BASIS, _PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1
_QUERY = re.compile(rb"qid:[0-9]+")
_NAMED_ROW: Final = re.compile(
    rb"(?:[ \t]*(?:#[^\r\n]*)?[\r\n]+)*[ \t]*[^\s:,;|#]+(?:[ \t]+[^\s:,;|]+:[-+.0-9eE]+)+"
    rb"[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z)"
)


def feature_hash(name: bytes, bits: int) -> int:
    """The column of a name: FNV-1a of 64 bits, folded to fewer.

    Examples
    --------
    >>> feature_hash(b"price", 18), feature_hash(b"", 31)
    (189384, 331815660)
    """
    h = _BASIS
    for byte in name:
        h = (h ^ byte) * _PRIME & _WORD
    return (h >> bits ^ h) & ((1 << bits) - 1)


def is_named(text: bytes) -> bool:
    r"""Whether a first line is a label and features with names.

    Examples
    --------
    >>> is_named(b"spam free:1 money:2.5\n"), is_named(b"a,b\n1,2\n")
    (True, False)
    """
    return _NAMED_ROW.match(text) is not None


class FeatureColumns:
    """The column of each name.

    Parameters
    ----------
    bits : int, optional
        Names are hashed to 2^bits columns.
    known : sequence of str
        Names that have their columns already.
    fixed : bool
        Whether there are no others: then the column of an unknown name is −1, and it is counted.

    Examples
    --------
    >>> features = FeatureColumns(known=["red"], fixed=True)
    >>> features.column("red"), features.column("blue"), features.notes()
    (0, -1, ['1 feature that the model does not know is left out: "blue"'])
    """

    def __init__(
        self, bits: int | None = None, known: Sequence[str] = (), *, fixed: bool = False
    ) -> None:
        self.bits, self._fixed = bits, fixed
        self._columns = {name: column for column, name in enumerate(known)}
        self._unknown: dict[str, None] = {}

    @property
    def names(self) -> list[str] | None:
        """The names in the order of their columns; None if they are hashed."""
        return None if self.bits is not None else list(self._columns)

    @property
    def width(self) -> int:
        """The number of columns so far."""
        return len(self._columns) if self.bits is None else 1 << self.bits

    def column(self, name: str) -> int:
        """The column of a name, which may be new."""
        column = self._columns.get(name)
        if column is not None:
            return column
        if self.bits is not None:
            if len(self._columns) > _MOST_REMEMBERED:
                self._columns.clear()
            column = feature_hash(name.encode(), self.bits)
        elif self._fixed:
            if len(self._unknown) < _MOST_REMEMBERED:
                self._unknown[name] = None
            return -1
        else:
            column = len(self._columns)
        self._columns[name] = column
        return column

    def notes(self) -> list[str]:
        """How many names were left out."""
        count = len(self._unknown)
        if not count:
            return []
        verb, more = "is" if count == 1 else "are", "over " if count >= _MOST_REMEMBERED else ""
        return [
            f"{more}{counted(count, 'feature')} that the model does not know {verb} left out: "
            f"{listed(list(self._unknown))}"
        ]

    def matrix(
        self, columns: Sequence[int] | Indices, values: Any, lengths: Sequence[int] | Indices
    ) -> sp.csr_array:
        """Rows of so many entries each; −1 is no column, and entries of one column add up."""
        import scipy.sparse as sp

        indices, data = np.array(columns, np.int32), np.array(values, np.float64)
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        if len(indices) and indices.min() < 0:
            kept = indices >= 0
            indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
            indices, data = indices[kept], data[kept]
        shape = (len(indptr) - 1, self.width)
        X = sp.csr_array((data, indices, indptr.astype(np.int32)), shape=shape)
        X.sum_duplicates()
        return X


class NamedRows(PairRows):
    """The pieces of lines ``label name:value name:value …``."""

    numbered = False

    def __init__(self, request: Request, features: FeatureColumns) -> None:
        super().__init__(request, words=True)
        self.features = features

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        texts = [str(key) for key in keys]
        return svmlight_labels(texts) if all(map(is_number, texts)) else np.array(texts, np.str_)

    def recipe(self) -> Recipe:
        """How to read other rows in the same way."""
        names, drop = self.features.names, self.request.options.missing == "drop"
        return Recipe(
            "named",
            label=self.label,
            missing="drop" if drop else "refuse",
            bits=self.features.bits,
            features=None if names is None else tuple(names),
        )

    def final_notes(self) -> list[str]:
        """What was left out."""
        return [*super().final_notes(), *self.features.notes()]

    def parse(self, text: bytes, begin: Position, found: object = None) -> Piece:
        """The rows of a text that begins at a position."""
        scan = self.scan(text, begin)
        # Only now do names get their columns: a text that is refused leaves none behind.
        columns = [self.features.column(key) for key in scan.keys]
        X = self.features.matrix(columns, scan.values, scan.lengths)
        if not np.isfinite(X.data).all():
            raise DataError(
                f"{self.source}, after line {begin.line}: the values of a feature add up beyond "
                "the range of float64."
            )
        return self.piece(X, scan, text, begin)


def may_be_named(source: Source) -> bool:
    """Whether the first line of a source may be a row: pairs, a label, or both."""
    if source.format not in ("svmlight", "csv"):
        return False
    parts = next((content.split() for _, content, _ in lines_of(source.head)), [b":"])
    return b":" in parts[-1] or (len(parts) == 1 and b"," not in parts[0])
