"""The form of every reader: it looks at the beginning of a source, then gives pieces of rows.

Text is checked to be UTF-8, cut after whole records and parsed piece by piece, while a kernel looks
ahead at long text on all cores. Of a text in which a row is wrong, a stream still gets the rows
before it, and if it skips bad rows, those behind it.
"""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from novikoff.core.validation import MAX_EXACT
from novikoff.data.formats import find_magic
from novikoff.data.labels import LabelForm, LabelReader, recode
from novikoff.data.options import Imputed, Piece, Position, ReadOptions, StreamOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.errors import BadRowError, DataError

PIECE_BYTES: Final = 1 << 21

_LARGEST_ROW_BYTES: Final = 1 << 26
_MAX_THREADS: Final = 4
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # and UTF-32 LE


class Request(NamedTuple):
    """A source, and the way it is to be read: what a reader is made from.

    A ``recipe`` is that of a model, whose columns are wanted. ``one_piece`` wants all rows at once;
    with options for a ``stream`` rows are wanted as soon as they are there, up to the first that is
    wrong, and None now and then while a pipe is silent. ``files`` are those of a folder; the source
    is the first. A stream goes on as was decided in its ``state``, with the columns ``so_far``.
    """

    source: Source
    options: ReadOptions
    recipe: Recipe | None = None
    labelled: bool = True
    one_piece: bool = False
    files: Sequence[str] = ()
    stream: StreamOptions | None = None
    state: Mapping[str, Any] | None = None
    so_far: Recipe | None = None

    @property
    def skip_bad(self) -> bool:
        """Whether a row that is wrong becomes a piece of its own."""
        return self.stream is not None and self.stream.skip_bad

    @property
    def whole(self) -> bool:
        """Whether all rows of a text come in one piece."""
        short = self.source.ended and len(self.source.head) < PIECE_BYTES
        return self.one_piece or (short and self.stream is None)


class Reader:
    """A source whose beginning has been looked at; it gives pieces, and then their recipe.

    ``label`` is the name of its labels, if it has any, ``notes`` what was decided at the beginning;
    the first row begins at ``start``. ``imputed`` are the rows and columns of X where a mean
    stands. Keys have a ``label_form``, by which they become labels when all are known; those of a
    stream are of the kind of ``labels``. ``written`` rows had a label so far.
    """

    label: str | None = None
    labels: LabelReader | None = None
    label_form: LabelForm = "text"
    start = Position()
    kernel_bytes = 0

    def __init__(self, request: Request) -> None:
        self.request, self.source = request, request.source.name
        self.notes: list[str] = []
        self.imputed: list[Imputed] = []
        self.written = 0

    def pieces(self, begin: Position | None = None) -> Iterator[Piece | None]:
        """The rows from a position on, by default all; those of text are cut and parsed."""
        begin = begin or self.start
        for text, found in _scanned(self, _texts(self, begin.offset)):
            if text is None:
                yield None
                continue
            for piece in _up_to_error(self, text, begin, found):
                begin = piece.end
                yield piece

    def recipe(self, width: int | None = None) -> Recipe:
        """How to read other files in the same way, when all pieces have been read.

        A stream of numbered columns has the ``width`` of its model, counted from 0.
        """
        raise NotImplementedError

    def final_notes(self) -> list[str]:
        """What was decided on the way, when all pieces have been read."""
        raise NotImplementedError

    def shift(self) -> int:
        """What the indices of a sparse X are too large by."""
        return 0

    def state(self) -> dict[str, object]:
        """What a stream needs to go on, beside the recipe, as JSON values."""
        return {"layout": None, "truths": None}

    def first_labels(self) -> list[str]:
        """The labels at the beginning of a text."""
        return []

    def read_labels(self, piece: Piece) -> Piece:
        """The piece; that of a stream has labels for keys, or DataError says that one is none."""
        codes, keys = piece.codes, piece.labels
        self.written += int((codes >= 0).sum())
        learning = self.request.stream is not None and self.request.labelled
        if self.labels is None and learning and keys:
            self.labels = LabelReader.by_first(keys, self.label_form)
        if self.labels is None:
            return piece
        piece.codes, piece.labels = recode(codes, [self.labels.value(key) for key in keys])
        wrong = np.flatnonzero(piece.codes < 0)
        if learning and len(wrong):
            where = f"{self.source}, row {piece.rows[wrong[0]]}"
            self.labels.refuse(keys[codes[wrong[0]]], where)
        for code, label in enumerate(piece.labels if learning else ()):
            if isinstance(label, int) and abs(label) > MAX_EXACT:
                row = piece.rows[np.argmax(piece.codes == code)]
                raise DataError(
                    f"{self.source}, row {row} has the label {label}: integer labels beyond "
                    "2**53 are not exact as floats; --text-labels reads all labels as text."
                )
        return piece

    # What follows is for text.

    def parse(self, text: bytes, begin: Position, found: Any = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        raise NotImplementedError

    def scan(self, text: bytes) -> Any:
        """What a kernel finds, in any thread, once there are ``kernel_bytes``; None if nothing."""

    def end_of_rows(self, text: bytes) -> int:
        """Where the last whole row of a text ends that begins with one; 0 if there is none."""
        return end_of_lines(text)

    def rows_of(self, text: bytes, line_offset: int = 0) -> Iterator[tuple[int, Any, int]]:
        """First line, content and end of each row of a text that begins after some lines."""
        raise NotImplementedError


def _texts(reader: Reader, offset: int) -> Iterator[bytes | None]:
    """The text from an offset on, cut after whole rows; None while a pipe is silent."""
    request = reader.request
    chunks = list[bytes]()
    size = 0
    flow = request.source.flow(offset, PIECE_BYTES)
    if request.whole:
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
            end = text.find(b"\n") + 1 if request.skip_bad else 0  # the line that opens the quote
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


def _scanned(reader: Reader, texts: Iterator[bytes | None]) -> Iterator[tuple[bytes | None, Any]]:
    """Each text, and what the kernel finds in it on all cores; in order, as soon as it is there."""
    source = reader.request.source
    cores = min(_MAX_THREADS, os.cpu_count() or 1)
    size = source.stamp[0] if source.regular else 0
    seen = 0
    pending: deque[tuple[bytes, Future[Any] | None]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for text in chain(texts, [b""]):
            if text:
                seen += len(text)
                large = max(size, seen) >= reader.kernel_bytes
                plain = large and text.isascii() and b"\0" not in text
                pending.append((text, pool.submit(reader.scan, text) if plain else None))
            while pending:
                first, future = pending[0]
                if text and len(pending) <= cores and future is not None and not future.done():
                    break
                pending.popleft()
                yield first, None if future is None else future.result()
            if text is None:
                yield None, None


def _up_to_error(
    reader: Reader, text: bytes, begin: Position, found: Any = None
) -> Iterator[Piece]:
    """The piece of a text; of a stream's text that is wrong, the rows before the error.

    If bad rows are skipped, also the row that is wrong, as a piece that says why, and those behind.
    """
    try:
        piece = reader.parse(text, begin, found)
    except DataError as error:
        if reader.request.stream is None:
            raise
        cut = _middle(reader, text)
        if not cut and not reader.request.skip_bad:
            raise BadRowError(str(error)) from None
        if not cut:
            closed = reader.end_of_rows(text.rstrip(b"\r\n") + b"\n") > 0
            cut = len(text) if closed else text.find(b"\n") + 1 or len(text)  # the quote's line
            line = begin.line + count_lines(text[:cut])
            end = Position(begin.offset + cut, line, begin.row + 1, begin.dropped)
            yield Piece.refusal(error, begin, end, text[:cut])
            parts, begin = [text[cut:]], end
        else:
            parts = [text[:cut], text[cut:]]
        for part in filter(None, parts):
            for piece in _up_to_error(reader, part, begin):
                begin = piece.end
                yield piece
        return

    def position(end: int, row: int) -> Position:
        line = begin.line + count_lines(text[:end])
        return Position(begin.offset + end, line, row, piece.end.dropped)

    ends = cache(lambda: [end for *_, end in reader.rows_of(text)])
    piece.text, piece.end = text, position(len(text), piece.end.row)
    piece.locate = lambda read: position(ends()[read - 1], begin.row + read)
    yield piece


def _middle(reader: Reader, text: bytes) -> int:
    """Where a row ends about the middle of a text; 0 if there is but one row."""
    last = len(text.rstrip(b"\r\n"))
    at = max(text.find(mark, last // 2, last) for mark in (b"\r", b"\n"))
    first = text[: at + 2] if at > 0 else b""  # with a character behind the line's end
    return reader.end_of_rows(first) or reader.end_of_rows(text[:-1])


def end_of_lines(text: bytes) -> int:
    """Where the last whole line of a text ends; a return at the very end may be half an end."""
    return text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, -1) + 1


def count_lines(text: bytes) -> int:
    """How many lines end in a text: with a newline, a return, or both."""
    marks = np.frombuffer(text, np.uint8)
    lines = int(np.count_nonzero(marks == ord("\n")))  # several times quicker than bytes.count
    return lines + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def check_text(text: bytes, source: str, begin: Position) -> None:
    """Raise DataError unless a text is UTF-8 without NUL bytes, with the position."""
    at = text.find(b"\0")
    if at < 0 and text.isascii():
        return
    if at >= 0:
        magic = find_magic(text) if not begin.offset else None
        hint = f"it looks like {magic}: try --from {magic}" if magic else "it is not a file of text"
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
    raise DataError(f"{source} {what} at position {begin.offset + at + 1} (line {line}){advice}.")


def check_encoding(source: Source) -> int:
    """Where the text begins, after a byte order mark; DataError if it is not UTF-8 at all."""
    if source.head.startswith(_WIDE):
        raise DataError(
            f"{source.name} is encoded in UTF-16 or UTF-32, as its byte order mark at position 1 "
            "says: convert it with iconv -f UTF-16 -t UTF-8."
        )
    return len(codecs.BOM_UTF8) if source.head.startswith(codecs.BOM_UTF8) else 0
