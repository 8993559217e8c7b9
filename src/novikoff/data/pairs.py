"""Rows of pairs: svmlight, whose features have numbers, and rows ``label name:value …``.

A row is ``label [qid:n] key:value key:value … [# comment]``. The indices of svmlight ascend and
count from 0 or from 1. The column of a name is the next free column when the name first appears,
or the hash of the name, or the column that a model has for it. Rows are read in order, so the
columns do not depend on how a stream is cut into pieces.

Python reads lines one by one. A compiled loop parses long svmlight text. If the loop does not
accept the text, Python reads it and reports what is wrong.
"""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from novikoff.core.rows import Indices
from novikoff.data.messages import listed, quoted
from novikoff.data.reader import (
    Piece,
    Position,
    Reader,
    Request,
    check_encoding,
    check_text,
    csr,
    cut_text,
    end_of_lines,
    parse_texts,
)
from novikoff.data.recipe import Recipe
from novikoff.data.roles import reject_columns
from novikoff.data.source import SNIFFED_LINES, Source
from novikoff.data.values import (
    LabelForm,
    inexact,
    is_exact_text,
    is_missing_text,
    is_number_text,
    parse_number,
)
from novikoff.errors import DataError
from novikoff.sentences import counted

if TYPE_CHECKING:
    import scipy.sparse as sp

# Reading a file of this size line by line takes as long as loading the compiled loop.
COMPILED_BYTES: Final = 1 << 22
_MAX_PARSERS: Final = 4  # the compiled loop runs in at most this many threads

MAX_INDEX: Final = 2**31 - 1
# At most this many hashes of names are cached, and at most this many unknown names are counted.
_MAX_REMEMBERED: Final = 1 << 20
_BASIS, _HASH_PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1
_PART, _QUERY = re.compile(rb"[^ \t]+"), re.compile(rb"qid:[0-9]+")
QUERY_ROW: Final = re.compile(rb"(?m)^([ \t]*[^\s:]+[ \t]+)qid:[0-9]+(?=\s|\Z)")
_NAMED_ROW: Final = re.compile(
    # All quantifiers are possessive: the pattern never backtracks.
    rb"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+[ \t]*+[^\s:,;|#]++(?:[ \t]++[^\s:,;|#]++:[-+.0-9eE]++)++"
    rb"[ \t]*+(?:#[^\r\n]*+)?(?:[\r\n]|\Z)"
)


# Parsed rows: a CSR array, the code of each row's label, and the labels.
Pairs: TypeAlias = "tuple[sp.csr_array, Indices, list[str]]"

# One row: its label, or None if it has no label; and its pairs, or None if the row is left out.
Row: TypeAlias = tuple[str | None, list[tuple[str, float]] | None]


@lru_cache(_MAX_REMEMBERED)
def feature_hash(name: bytes, bits: int) -> int:
    """Return the column of a name: its 64-bit FNV-1a hash, folded to fewer bits."""
    h = _BASIS
    for byte in name:
        h = (h ^ byte) * _HASH_PRIME & _WORD
    return (h >> bits ^ h) & ((1 << bits) - 1)


class FeatureColumns:
    """The columns of named features: the hash of the name, or the next free column.

    Parameters
    ----------
    bits : int, optional
        Hash names to 2^bits columns.
    known : sequence of str
        The names of the first columns.
    fixed : bool
        Whether no columns are added: every unknown name gets the column after the last.
    """

    def __init__(
        self, bits: int | None = None, known: Sequence[str] = (), *, fixed: bool = False
    ) -> None:
        self.bits, self._fixed = bits, fixed
        self._columns = {name: column for column, name in enumerate(known)}
        self._unknown: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names in the order of their columns; None if names are hashed."""
        return None if self.bits is not None else tuple(self._columns)

    @property
    def width(self) -> int:
        """The number of columns so far."""
        return len(self._columns) if self.bits is None else 1 << self.bits

    def column(self, name: str) -> int:
        """Return the column of a name, which may be new."""
        column = self._columns.get(name)
        if column is not None:
            return column
        if self.bits is not None:
            return feature_hash(name.encode(), self.bits)
        if self._fixed:
            if len(self._unknown) < _MAX_REMEMBERED:
                self._unknown[name] = None
            return self.width
        return self._columns.setdefault(name, len(self._columns))

    def notes(self) -> list[str]:
        """Return how many unknown names were left out."""
        count = len(self._unknown)
        verb = "is" if count == 1 else "are"
        least = "at least " if count == _MAX_REMEMBERED else ""
        note = f"{least}{counted(count, 'feature')} that the model does not know {verb} left out: "
        return [note + listed(list(self._unknown))] if count else []


class PairRows(Reader):
    """The reader of rows of pairs: svmlight, whose features have numbers, or rows with names.

    Without a recipe, the columns of X are the indices of the svmlight file. Labels are numbers.
    They may be any text in rows with names, or if the labels of the stream or model are text.
    """

    label_form: LabelForm = "free"
    what, allowed = "files of feature:value pairs", tuple[str, ...]()

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.start = Position(check_encoding(request.source))
        self.features = self._find_features()
        named = self.features is not None
        what = self.what if named else "svmlight files"
        reject_columns(self.source, request.options, what, self.allowed)
        first = next((content for _, content, _ in content_lines(self._head())), b"1")
        self._without_labels = not request.labelled and b":" in first.split(maxsplit=1)[0]
        self.label = None if self._without_labels and not named else "label"
        self._queries, self._dropped = False, 0
        self._lowest, self._highest = 1, -1  # the smallest and the largest index so far

    def is_named(self) -> bool:
        """Return whether the features of a new stream are names, not all numbers."""
        stream = self.request.stream
        if stream is None or not self.request.labelled:
            return False
        return (
            stream.hash_bits is not None
            or stream.names
            or not _has_numbered_features(self._first_lines())
        )

    def first_column(self) -> int:
        """Return by how much the column indices of X are too large."""
        as_written = self.features is None and self.request.recipe is None
        return self._lowest if as_written else 0

    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other rows in the same way."""
        missing = self.request.options.missing
        if self.features is not None:
            bits, names = self.features.bits, self.features.names
            return Recipe("named", label=self.label, missing=missing, bits=bits, features=names)
        if self.request.recipe is not None:
            return self.request.recipe
        first = 0
        if width is None:
            first = self.first_column()
            width = self._highest + 1 - first
        if width < 1:
            raise DataError(f"{self.source} has no features: all of its rows are empty.")
        return Recipe("matrix", label=self.label, missing=missing, width=width, first=first)

    def final_notes(self) -> list[str]:
        """Return what was decided while reading; call it after the last piece."""
        notes = ["query ids (qid) are ignored"] if self._queries else []
        if self.features is None and self.request.recipe is None:
            notes.append(f"indices count from {self.first_column()}")
        if self._dropped:
            notes.append(f"{self._dropped:,} rows with missing values dropped")
        return notes + ([] if self.features is None else self.features.notes())

    def first_labels(self) -> list[str]:
        """Return the labels of the first lines, without lines that cannot be learned."""
        labels = list[str]()
        for content in self._first_lines():
            parts = list(_PART.finditer(content))
            key = parts.pop(0)[0].decode(errors="replace")
            has_query = bool(parts) and _QUERY.fullmatch(parts[0][0]) is not None
            with suppress(DataError, UnicodeDecodeError):
                whole = self._pairs("", 0, parts[has_query:]) is not None
                if whole and not ("," in key or is_missing_text(key) or _is_infinite_text(key)):
                    labels.append(key)
        return labels

    def parse(self, text: bytes, begin: Position, pairs: Pairs | None = None) -> Piece:
        """Return the rows of a text; ``pairs`` is the result of the compiled loop, if any."""
        if pairs is None:
            check_text(text, self.request, begin)
            (X, codes, labels), rows, read = self._scan(text, begin)
        else:
            X, codes, labels = pairs
            read = len(codes)
            rows = np.arange(begin.row + 1, begin.row + read + 1)
        if self.features is None:
            X = self._align_columns(X, text, begin)
        else:
            X = self._sum_shared_columns(X, begin, self.features.width)
        end = Position(row=begin.row + read, dropped=begin.dropped + read - len(rows))
        self._dropped += read - len(rows)
        # To look for a single letter first is faster than to look for "qid:".
        has_query = b"q" in text and QUERY_ROW.search(text) is not None
        self._queries = self._queries or has_query
        return self.read_labels(Piece(X, codes, labels, rows, None, begin, end))

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """Yield the rows after a position, by default all rows; None while a pipe is silent."""
        begin = begin or self.start
        return parse_texts(self, self._parsed_ahead(cut_text(self, begin.offset)), begin)

    def _parsed_ahead(self, texts: Iterator[bytes | None]) -> Iterator[tuple[bytes | None, Any]]:
        """Yield each text with the result of the compiled loop, in the order of the texts.

        Long svmlight text is parsed in several threads; other text is left to `parse`.
        """
        source = self.request.source
        cores = min(_MAX_PARSERS, os.cpu_count() or 1)
        size = source.stamp[0] if source.regular else 0
        n_bytes = 0
        pending: deque[tuple[bytes, Future[Any] | None]] = deque()
        with ThreadPoolExecutor(cores) as pool:
            for text in chain(texts, [b""]):
                if text:
                    n_bytes += len(text)
                    large = self.features is None and max(size, n_bytes) >= COMPILED_BYTES
                    plain = large and text.isascii() and b"\0" not in text
                    pending.append((text, pool.submit(self._compiled, text) if plain else None))
                while pending:
                    first, future = pending[0]
                    if text and len(pending) <= cores and future is not None and not future.done():
                        break
                    pending.popleft()
                    yield first, None if future is None else future.result()
                if text is None:
                    yield None, None

    def end_of_rows(self, text: bytes) -> int:
        """Return the offset after the last whole row of a text."""
        return end_of_lines(text)

    def _compiled(self, text: bytes) -> Pairs | None:
        """Return the result of the compiled loop; None if the loop does not accept the text."""
        from novikoff.data.compiled_pairs import parse_pairs

        pairs = parse_pairs(text, labelled=not self._without_labels)
        try:
            for label in [] if pairs is None else pairs[2]:
                if self._label("", label.encode()) is None:
                    return None
                self.check_label(label, "")
        except DataError:  # Python reads the text again and reports the place of the error
            return None
        return pairs

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[tuple[int, bytes, int]]:
        """Yield the number, the content and the end of each line that is a row."""
        return content_lines(text, line_offset)

    def read_row(self, where: str, row: int, content: bytes) -> Row:
        """Return the label and the pairs of a line."""
        parts, label = list(_PART.finditer(content)), None
        if b":" not in parts[0][0]:
            label = self._label(where, parts[0][0], parts[0].start())
            parts.pop(0)
        elif self.request.labelled:
            at, first = f"{where}, column {parts[0].start() + 1}", _quoted_bytes(parts[0][0])
            raise DataError(f"{at} has no label: the line begins with {first}.")
        has_query = bool(parts) and _QUERY.fullmatch(parts[0][0]) is not None
        pairs = self._pairs(where, row, parts[has_query:])
        if label is not None and pairs is not None:  # otherwise the row is left out
            self.check_label(label, where)
        return label, pairs

    def check_label(self, label: str, where: str) -> None:
        """Raise DataError if the kind of a label differs from the kind of the stream's labels."""
        if self.labels and self.request.labelled and self.labels.value(label) is None:
            self.labels.reject(label, where, self.request.options)

    def _find_features(self) -> FeatureColumns | None:
        """Return the columns of a model's or stream's names; None if features are numbers."""
        request = self.request
        known = request.recipe or request.resumed_recipe
        if known is not None:
            if known.family != "named":
                return None
            fixed = request.recipe is not None
            return FeatureColumns(known.bits, known.features or (), fixed=fixed)
        named, stream = self.is_named(), request.stream
        bits = None if stream is None else stream.hash_bits
        if stream is not None and request.labelled:
            note = "features are numbers: the columns of the model, counted from 0"
            if named:
                note = "features are names: each new name gets the next column"
            if bits is not None:
                note = f"features are names, hashed to {1 << bits:,} columns"
            self.notes.append(note)
        return FeatureColumns(bits) if named else None

    def _head(self) -> bytes:
        return self.request.source.head[self.start.offset :]

    def _first_lines(self) -> list[bytes]:
        """Return the first rows; if bad rows are skipped, only those that have names."""
        first = self.request.source.head.splitlines(keepends=True)[:SNIFFED_LINES]
        if self.request.skip_bad and any(map(is_named, first)):
            first = [line for line in first if is_named(line)]
        return [content for _, content, _ in content_lines(b"".join(first))]

    def _sum_shared_columns(self, X: sp.csr_array, begin: Position, width: int) -> sp.csr_array:
        """Drop features without a column, and sum values that share a column."""
        X.has_canonical_format = False
        X.sum_duplicates()
        X = _of_width(X, width)
        if not np.isfinite(X.data).all():
            raise DataError(
                f"{self.source}, after line {begin.line}: the sum of the values of a feature is "
                "beyond the range of float64."
            )
        return X

    def _align_columns(self, X: sp.csr_array, text: bytes, begin: Position) -> sp.csr_array:
        """Return X with the columns of the model, or of the file without a model.

        Values in other columns must be zero.
        """
        recipe = self.request.recipe
        if recipe is None:
            self._lowest = min(self._lowest, int(X.indices.min(initial=1)))
            self._highest = max(self._highest, int(X.indices.max(initial=-1)))
            return X
        X.indices -= np.int32(recipe.first)
        wrong = (X.indices < 0) | ((X.indices >= recipe.width) & (X.data != 0.0))
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(X.indptr, at, side="right")) - 1
            line = next(islice(content_lines(text, begin.line), row, None))[0]
            what = f"more features than the model's {recipe.width:,}"
            if X.indices[at] < 0:
                what = "the index 0, but the model counts indices from 1"
            raise DataError(f"{self.source}, line {line} has {what}.")
        return _of_width(X, recipe.width)

    def _scan(self, text: bytes, begin: Position) -> tuple[Pairs, Indices, int]:
        """Read lines one by one; return their pairs, the row numbers, and the number of rows."""
        labels, rows, codes, row = dict[str, int](), list[int](), list[int](), begin.row
        keys, values, ends = list[str](), list[float](), [0]
        for line, content, _ in self.rows_of(text, begin.line):
            row += 1
            label, pairs = self.read_row(f"{self.source}, line {line}", row, content)
            if pairs is None or (label is None and self.request.labelled):
                continue
            rows.append(row)
            codes.append(-1 if label is None else labels.setdefault(label, len(labels)))
            keys += [key for key, _ in pairs]
            values += [value for _, value in pairs]
            ends.append(len(keys))
        # Names get columns only after the text is read: a text with an error adds no columns.
        column = int if self.features is None else self.features.column
        indices = np.array([column(key) for key in keys], np.int32)
        arrays = np.array(values, np.float64), indices, np.array(ends, np.int32)
        X = csr(arrays, len(rows), int(indices.max(initial=-1)) + 1)
        scanned = X, np.array(codes, np.int64), list(labels)
        return scanned, np.array(rows, np.int64), row - begin.row

    def _label(self, where: str, label: bytes, at: int = 0) -> str | None:
        """Return a label; None if it is missing and labels may be missing.

        DataError is raised if the label is invalid.
        """
        text = label.decode()
        words = self.features is not None or (self.labels and self.labels.kind == "texts")
        if not words and not is_number_text(text):
            where = f"{where}, column {at + 1}"
            if b"," in label:
                raise DataError(
                    f"{where} has several labels, {_quoted_bytes(label)}; one is expected."
                )
            raise DataError(f"{where} has the label {_quoted_bytes(label)}, which is not a number.")
        missing = is_missing_text(text)
        may_be = not self.request.labelled or self.request.options.missing == "drop"
        if (missing and not may_be) or _is_infinite_text(text):
            raise DataError(f"{where} has the label {text}.")
        return None if missing else text

    def _pairs(
        self, where: str, row: int, parts: Sequence[re.Match[bytes]]
    ) -> list[tuple[str, float]] | None:
        """Return the pairs of a row; None if the row is left out."""
        before, pairs, keep = -1, list[tuple[str, float]](), True
        for part in parts:
            at = f"{where}, column {part.start() + 1}"
            key, value = self._pair(at, part[0], before)
            before = int(key) if self.features is None else -1
            if math.isnan(value) and self.request.options.missing == "drop":
                keep = False
            elif not math.isfinite(value):
                what = "missing" if math.isnan(value) else "infinite or beyond the range of float64"
                at = f"{self.source}, row {row} ({where.rpartition(', ')[2]})"
                raise DataError(f"{at}, column {quoted(key)} is {what}.")
            pairs.append((key, value))
        return pairs if keep else None

    def _pair(self, at: str, part: bytes, before: int) -> tuple[str, float]:
        """Return the key and the value of a pair; indices must be larger than ``before``."""
        numbered = self.features is None
        key, colon, value = part.partition(b":") if numbered else part.rpartition(b":")
        flaw = ""
        if not colon or not key:
            form = "index:value" if numbered and not colon else "feature:value"
            flaw = f"is not of the form {form}"
        elif numbered and not key.isdigit():
            flaw = "has an index that is not a whole number from 0"
        elif numbered and (len(key) > 10 or int(key) > MAX_INDEX):
            flaw = f"has an index above {MAX_INDEX}"
        elif numbered and int(key) <= before:
            same = int(key) == before
            flaw = "has an index a second time" if same else f"comes after {before}"
            flaw += "; indices must ascend"
        elif not is_number_text(value.decode()):
            flaw = "has a value that is not a number"
        elif not is_exact_text(value.decode()):
            flaw = inexact(value.decode()).removesuffix(".")
        if flaw:
            raise DataError(f"{at}: {_quoted_bytes(part)} {flaw}.")
        return key.decode(), float(value)


def content_lines(text: bytes, line_offset: int = 0) -> Iterator[tuple[int, bytes, int]]:
    """Yield the number, the content without comment, and the end of each line with content."""
    end = 0
    for at, line in enumerate(text.splitlines(keepends=True), start=line_offset + 1):
        end += len(line)
        content = line.rstrip(b"\r\n").partition(b"#")[0]
        if content.strip(b" \t"):
            yield at, content, end


def is_named(text: bytes) -> bool:
    """Return whether the first line has a label and named features: "spam free:1 money:2.5"."""
    return _NAMED_ROW.match(text) is not None


def may_be_pairs(source: Source, *, named: bool) -> bool:
    """Return whether the first line may be a row of pairs; with ``named``, a label suffices."""
    if source.format not in ("svmlight", "csv"):
        return False
    parts = next((content.split() for _, content, _ in content_lines(source.head)), [b":"])
    return b":" in parts[-1] or (named and len(parts) == 1 and b"," not in parts[0])


def _has_numbered_features(lines: Sequence[bytes]) -> bool:
    """Return whether the features of all lines are named by numbers."""
    pairs = (part for content in lines for part in content.split()[1:])
    keys = (part.partition(b":")[0] for part in pairs if not _QUERY.fullmatch(part))
    return all(key.isdigit() and len(key) <= 10 for key in keys)


def _is_infinite_text(text: str) -> bool:
    return math.isinf(parse_number(text) or 0.0)


def _of_width(X: sp.csr_array, width: int) -> sp.csr_array:
    """Return a matrix with this many columns: columns are removed, or empty columns are added."""
    wide = csr((X.data, X.indices, X.indptr), X.shape[0], max(X.shape[1], width))
    return wide if wide.shape[1] == width else wide[:, :width]


def _quoted_bytes(part: bytes) -> str:
    return quoted(part.decode(errors="replace"))
