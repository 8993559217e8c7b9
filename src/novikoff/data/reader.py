"""The base class of readers, which look at the beginning of a source and yield pieces of rows.

A `Request` says what to read and how, and a `Piece` holds consecutive rows. Text is cut after whole
rows and parsed piece by piece. A stream yields the rows before a bad row, and if it skips bad rows,
also the rows after it.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, Indices
from novikoff.core.validation import MAX_EXACT
from novikoff.data.options import ReadOptions, StreamOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import FILE_FORMATS, Source, find_magic
from novikoff.data.values import LabelForm, LabelReader, recode
from novikoff.errors import BadRowError, DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

AnyArray: TypeAlias = npt.NDArray[np.generic]
Imputed: TypeAlias = tuple[Indices, Indices]  # rows and columns of X


class Position(NamedTuple):
    """A position between two rows of a source.

    ``offset`` is the number of bytes before the position, or the number of rows in binary files.
    ``line`` and ``row`` are the numbers of lines and rows before it. ``dropped`` is the number of
    these rows that were left out.
    """

    offset: int = 0
    line: int = 0
    row: int = 0
    dropped: int = 0


@dataclass
class Piece:
    """Consecutive rows of a source.

    Attributes
    ----------
    X : array or CSR array
        The features.
    codes, labels : array of int64, and sequence
        The label of row k is ``labels[codes[k]]``; a code of -1 means that the row has no label.
    rows : array of int64
        The number of each row in the source, counted from 1. Rows that were left out are counted.
    ids : list of str or None
        The names of the rows, if a column has names.
    begin, end : Position
        The positions before the first row and after the last row.
    rows_of : callable or None
        For text, a function that finds its rows, as `TextRows.rows_of` does.
    rejected : DataError or None
        The error of a bad row that was skipped; then this piece stands for the row and is empty.
    text : bytes
        The text from which the rows were read.
    """

    X: Floats | sp.csr_array
    codes: Indices
    labels: Sequence[Hashable]
    rows: Indices
    ids: list[str] | None
    begin: Position
    end: Position
    rows_of: Callable[[bytes], Iterator[tuple[int, Any, int]]] | None = None
    rejected: DataError | None = None
    text: bytes = b""

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, k: int) -> Position:
        """Return the position after the first k rows."""
        if k == len(self):
            return self.end
        begin, read = self.begin, int(self.rows[k - 1]) - self.begin.row if k else 0
        offset, line, row = begin.offset, begin.line, begin.row + read
        if read and self.rows_of is None:
            offset, line = row, 0
        elif read:
            end = self._ends[read - 1]
            offset, line = offset + end, line + count_lines(self.text[:end])
        return Position(offset, line, row, begin.dropped + read - k)

    @cached_property
    def _ends(self) -> list[int]:
        """The offset in the text after each row, including rows that were left out."""
        return [] if self.rows_of is None else [end for *_, end in self.rows_of(self.text)]


def csr(parts: Sequence[Any], n_rows: int, width: int) -> Any:
    """Return the CSR array of these parts (data, indices, indptr); indices must ascend."""
    import scipy.sparse as sp

    X = sp.csr_array(tuple(parts), shape=(n_rows, width))
    X.has_canonical_format = True  # saves SciPy a check
    return X


@dataclass(frozen=True)
class Request:
    """A source and how to read it: the argument of every reader.

    Parameters
    ----------
    source : Source
        The file or pipe.
    options : ReadOptions
        The user's options.
    recipe : Recipe, optional
        The recipe of a model, whose columns are read.
    labelled : bool
        Whether rows must have labels.
    stream : StreamOptions, optional
        Given if rows are needed as soon as they arrive, up to the first bad row.
    state : mapping, optional
        The state of an earlier stream, which is continued.
    resumed_recipe : Recipe, optional
        The recipe of the rows that this stream has read.
    """

    source: Source
    options: ReadOptions
    recipe: Recipe | None = None
    labelled: bool = True
    stream: StreamOptions | None = None
    state: Mapping[str, Any] | None = None
    resumed_recipe: Recipe | None = None

    @property
    def advice_to_drop(self) -> str:
        """Advice on missing values, for an error message."""
        return f"{self.options.say('missing', 'drop')} leaves out rows with missing values"

    @property
    def skip_bad(self) -> bool:
        """Whether a bad row becomes a piece without rows, and reading continues after it."""
        return self.stream is not None and self.stream.skip_bad

    @property
    def all_at_once(self) -> bool:
        """Whether all rows are read in one piece, because all are needed or the text is short."""
        short = self.source.ended and len(self.source.head) < PIECE_BYTES
        whole_text = short and self.stream is None and not FILE_FORMATS[self.source.format].magics
        return whole_text or self.options.needs_all_rows(self.recipe)


class Reader(ABC):
    """The base class of readers: it yields pieces of rows, and afterwards their recipe.

    When a reader is made, it looks at the beginning of the source.

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
        The decisions of the reader at the beginning of the source, in short sentences.
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

    @abstractmethod
    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """Yield the rows after a position, by default all rows; None while a pipe is silent."""

    @abstractmethod
    def recipe(self, width: int | None = None) -> Recipe:
        """Return how to read other files in the same way; call it after the last piece.

        A stream with numbered columns passes the ``width`` of its model; columns count from 0.
        """

    @abstractmethod
    def final_notes(self) -> list[str]:
        """Return the decisions of the reader as short sentences; call it after the last piece."""

    def first_column(self) -> int:
        """Return the number of the first column of a sparse X, which its indices count from."""
        return 0

    def state(self) -> dict[str, object]:
        """Return, as JSON values, what a stream needs to continue besides the recipe."""
        return {"layout": None, "truths": None}

    def first_labels(self) -> list[str]:
        """Return the labels in the first rows of a text."""
        return []

    def read_labels(self, piece: Piece) -> Piece:
        """Replace the keys of a stream's piece by labels; DataError if a label's kind differs."""
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
            self.labels.reject(keys[codes[wrong[0]]], where, self.request.options)
        for code, label in enumerate(piece.labels if learning else ()):
            if isinstance(label, int) and abs(label) > MAX_EXACT:
                row = piece.rows[np.argmax(piece.codes == code)]
                as_text = self.request.options.say("text_labels", True)
                raise DataError(
                    f"{self.source}, row {row} has the label {label}: integer labels beyond "
                    f"2**53 are not exact as floats; {as_text} reads all labels as text."
                )
        return piece


PIECE_BYTES: Final = 1 << 21
_LARGEST_ROW_BYTES: Final = 1 << 26
_WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


class TextRows(Protocol):
    """A reader of rows of text."""

    request: Request

    def parse(self, text: bytes, begin: Position, parsed: Any = None, /) -> Piece:
        """Return the rows of a text that begins at a position.

        ``parsed`` is the result of parsing the text ahead of time, for formats that do.
        """

    def end_of_rows(self, text: bytes, /) -> int:
        """Return the offset after the last whole row of a text that begins with a row, or 0."""

    def rows_of(self, text: bytes, line_offset: int = 0, /) -> Iterator[tuple[int, Any, int]]:
        """Yield the first line, the content and the end of each row of a text.

        ``line_offset`` is the number of lines before the text.
        """


def cut_text(reader: TextRows, offset: int) -> Iterator[bytes | None]:
    """Yield the text after an offset, cut after whole rows; None while a pipe is silent."""
    request = reader.request
    chunks = list[bytes]()
    size = 0
    flow = request.source.flow(offset, PIECE_BYTES)
    if request.all_at_once:
        yield b"".join(flow)
        return
    for chunk in flow:
        chunks.append(chunk)
        size += len(chunk)
        silent = not chunk and request.stream is not None
        if size < PIECE_BYTES and not silent:
            continue
        text = b"".join(chunks)
        end = reader.end_of_rows(text)
        if not end and size > _LARGEST_ROW_BYTES:
            # If bad rows are skipped, the line that opens the quote is skipped.
            end = text.find(b"\n") + 1 if request.skip_bad else 0
            if not end:
                raise DataError(
                    f"{request.source.name} has a row of more than {_LARGEST_ROW_BYTES:,} bytes; "
                    "perhaps a quote is never closed."
                )
        if end:
            yield text[:end]
        elif silent:
            yield None
        chunks, size = [text[end:]], size - end
    if size:
        yield b"".join(chunks)


def parse_texts(
    reader: TextRows, texts: Iterable[tuple[bytes | None, Any]], begin: Position
) -> Iterator[Piece | None]:
    """Parse texts one after the other; each comes with the result of parsing it ahead of time.

    A stream yields the rows before a bad row, which is found by bisection. If bad rows are skipped,
    a bad row becomes a piece that has the error and no rows, and the rows after it follow.
    """
    for whole, parsed in texts:
        if whole is None:
            yield None
        unread = [] if whole is None else [whole]
        while unread:
            text = unread.pop()
            try:
                piece = reader.parse(text, begin, parsed)
            except DataError as error:
                parsed = None
                if reader.request.stream is None:
                    raise
                cut = _middle(reader, text)
                if cut:
                    unread += [text[cut:], text[:cut]]
                    continue
                if not reader.request.skip_bad:
                    raise BadRowError(str(error)) from None
                closed = reader.end_of_rows(text.rstrip(b"\r\n") + b"\n") > 0
                if not closed:  # a quote is never closed: only its line is skipped
                    cut = text.find(b"\n") + 1 or len(text)
                    unread += [text[cut:]] if text[cut:] else []
                    text = text[:cut]
                none = np.empty(0, np.int64)
                end = Position(row=begin.row + 1, dropped=begin.dropped)
                piece = Piece(np.empty((0, 0)), none, [], none, None, begin, end, rejected=error)
            else:
                piece.rows_of = reader.rows_of
            piece.text = text
            begin = piece.end = piece.end._replace(
                offset=begin.offset + len(text), line=begin.line + count_lines(text)
            )
            yield piece


def _middle(reader: TextRows, text: bytes) -> int:
    """Return the end of a row near the middle of a text; 0 if the text is a single row."""
    last = len(text.rstrip(b"\r\n"))
    at = max(text.find(mark, last // 2, last) for mark in (b"\r", b"\n"))
    first = text[: at + 2] if at > 0 else b""  # includes a character after the end of the line
    return reader.end_of_rows(first) or reader.end_of_rows(text[:-1])


def end_of_lines(text: bytes) -> int:
    """Return the offset after the last whole line of a text.

    A carriage return at the very end of the text does not count, because a newline may follow.
    """
    return text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1


def count_lines(text: bytes) -> int:
    """Return the number of line ends in a text: newlines, carriage returns, or pairs of both."""
    marks = np.frombuffer(text, np.uint8)
    lines = int(np.count_nonzero(marks == ord("\n")))  # several times as fast as bytes.count
    return lines + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def check_text(text: bytes, request: Request, begin: Position) -> None:
    """Raise DataError with the position unless a text is UTF-8 without NUL bytes."""
    at = text.find(b"\0")
    if at < 0 and text.isascii():
        return
    if at >= 0:
        magic = find_magic(text) if not begin.offset else None
        hint = "it is not a file of text"
        if magic:
            hint = f"it looks like {magic}: try {request.options.say('format', magic)}"
        what, advice = "has a NUL byte", f": {hint}"
    else:
        try:
            text.decode()
            return
        except UnicodeDecodeError as error:
            at = error.start
        what = f"is not UTF-8 text: byte 0x{text[at]:02X}"
        advice = " does not belong; if it is Latin-1, convert it with iconv -f LATIN1 -t UTF-8"
    line = begin.line + count_lines(text[:at]) + 1
    at += begin.offset + 1
    raise DataError(f"{request.source.name} {what} at position {at} (line {line}){advice}.")


def check_encoding(source: Source) -> int:
    """Return the offset after a byte order mark; DataError if it marks UTF-16 or UTF-32."""
    if source.head.startswith(_WIDE_MARKS):  # the mark of UTF-32 LE begins with that of UTF-16 LE
        raise DataError(
            f"{source.name} is encoded in UTF-16 or UTF-32, as its byte order mark at position 1 "
            "says: convert it with iconv -f UTF-16 -t UTF-8."
        )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0
