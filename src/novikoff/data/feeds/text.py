"""What all streams of text have in common: pieces of whole lines, and the place of each.

A thread reads and cuts the text, and others run a kernel over what it has cut, all ahead of the
one that hands out the rows in their order. What the kernel declines is halved, down to a few
lines, which are read one by one: an odd row costs no more than itself, and changes no other.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import Batch, Indices, LabelReader, Mark, line_ends
from novikoff.data.feeds.pipe import Ahead, Pipe
from novikoff.data.feeds.trail import Trail, compare, skipped, unbroken
from novikoff.data.stretches import cores
from novikoff.data.values import is_missing

if TYPE_CHECKING:
    from novikoff.core.rows import Floats, SparseMatrix

LINES: Final = 100  # that are looked at
LONGEST_LABEL: Final = 1000

_BEGINNING: Final = Mark()
_BOM: Final = codecs.BOM_UTF8
_LONGEST: Final = 1 << 24  # bytes of a row
_FEW: Final = 32  # lines that are read one by one


class Parsed(NamedTuple):
    """The batches of a text, how much of it was used, and what is wrong after them."""

    batches: list[Batch]
    used: int
    flaw: DataError | None = None


class Rows(NamedTuple):
    """What a kernel finds in whole lines; ``ends`` of the rows if some lines are none."""

    X: Floats | SparseMatrix
    codes: npt.NDArray[np.int64] | npt.NDArray[np.int32]
    labels: list[bytes]
    ends: Indices | None = None


class _Cut(NamedTuple):
    """Whole lines, or the end, and what a kernel finds in them; None if a line does not end."""

    text: bytes
    rows: Future[Rows | None] | None
    final: bool = False


class Doubt(NamedTuple):
    """A pipe was judged by the few lines that had come: what to ask when there are more."""

    seen: bytes
    settle: Callable[[bytes, bool], None]  # what was seen, and whether that is all


@dataclass
class TextFeed(ABC):
    """Lines of text, parsed as they come.

    Parameters
    ----------
    pipe : Pipe
        Where they come from.
    source : str
        Its name.
    head : list of bytes
        What was read of a pipe to look at it; it comes first.
    body : Mark
        Where the first row begins.
    repeated : bytes
        A header that is left out if a pipe, begun anew, brings it again.
    doubt : Doubt, optional
        Whether more lines say the same as the first.
    """

    pipe: Pipe
    source: str
    head: bytes = b""
    body: Mark = _BEGINNING
    repeated: bytes = b""
    notes: list[str] = field(default_factory=list)
    dropped: int = 0  # rows that were left out so far
    flow: Iterator[bytes] | None = None  # what comes next, in place of what the pipe gives
    doubt: Doubt | None = None
    reader: LabelReader = field(kw_only=True)  # of labels

    @property
    def regular(self) -> bool:
        """Whether it can be read again."""
        return self.pipe.regular

    @property
    def steady(self) -> bool:
        """Whether it can be read again, and has not changed since it was opened."""
        return self.pipe.steady

    @property
    def start(self) -> Mark:
        """Where the first row begins."""
        return self.body

    @abstractmethod
    def look(self, text: bytes) -> Rows | None:
        """What a kernel finds in lines, if all of them are plain; in any thread."""

    @abstractmethod
    def are_apart(self, text: bytes) -> bool:
        """Whether each line can be read for itself, by a kernel or else one by one."""

    @abstractmethod
    def read(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Read lines one by one, of which the last may go on unless this is the end."""

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on; a pipe begins where it is."""
        self.dropped = at.dropped
        rest = b""
        with (
            ThreadPoolExecutor(cores()) as pool,
            closing(Ahead(self._cuts(at.offset, pool), 2 * cores())) as cuts,
        ):
            for cut in cuts:
                if cut is None:
                    continue
                if cut.rows is None:
                    raise self._too_long(at)
                text = rest + cut.text
                if text == b"":
                    continue
                rows = self._looked(text) if rest else cut.rows.result()
                found = self._parse(text, at, rows, final=cut.final)
                view, done, trail = memoryview(text), 0, at.trail
                for batch in found.batches:
                    begin = batch.at.offset - at.offset
                    trail, done = trail.followed_by(view[done:begin]), begin
                    batch.at = batch.at._replace(trail=trail)
                    yield batch
                if found.flaw is not None:
                    raise found.flaw
                trail = trail.followed_by(view[done : found.used])
                lines = line_ends(text, found.used)
                at = Mark(at.offset + found.used, at.line + lines, self.dropped, trail)
                rest = text[found.used :]
                if len(rest) > _LONGEST and not cut.final:
                    raise self._too_long(at)

    def _cuts(self, offset: int, pool: ThreadPoolExecutor) -> Iterator[_Cut | None]:
        """The text from a place on, cut after lines; None where there is no line yet."""
        rest = b""
        for piece in self._pieces(offset):
            cut = piece.rfind(b"\n") + 1
            if cut == 0:
                rest += piece
                yield None if len(rest) <= _LONGEST else _Cut(rest, None)
                continue
            text, rest = b"".join((rest, memoryview(piece)[:cut])), piece[cut:]
            yield _Cut(text, pool.submit(self._looked, text))
        yield _Cut(rest, pool.submit(self._looked, rest), final=True)

    def _too_long(self, at: Mark) -> DataError:
        return DataError(
            f"{self.source}, line {at.line + 1} begins a row of more than {_LONGEST:,} bytes; "
            "perhaps a quote is never closed."
        )

    def _looked(self, text: bytes) -> Rows | None:
        return self.look(text) if self.are_apart(text) else None

    def _parse(self, text: bytes, at: Mark, rows: Rows | None, *, final: bool) -> Parsed:
        if rows is None and not self.are_apart(text):
            return self.read(text, at, final=final)
        batch = None if rows is None else self._batch(rows, text, at)
        if batch is not None:
            return Parsed([batch] if len(batch) else [], len(text))
        middle = text.rfind(b"\n", 0, len(text) // 2) + 1
        if middle == 0 or text.count(b"\n") <= _FEW:
            return self.read(text, at, final=True)
        halves = text[:middle], text[middle:]
        first = self._parse(halves[0], at, self._looked(halves[0]), final=True)
        if first.flaw is not None:
            return first
        then = Mark(at.offset + middle, at.line + line_ends(text, middle), self.dropped)
        second = self._parse(halves[1], then, self._looked(halves[1]), final=True)
        return Parsed([*first.batches, *second.batches], len(text), second.flaw)

    def _batch(self, rows: Rows, text: bytes, at: Mark) -> Batch | None:
        """The rows with their labels; None if one is missing or not of the kind."""
        try:  # where a label does not fit, the careful road says where, and keeps what is before
            labels = [label.decode() for label in rows.labels]
            values = [self.reader.value(label, 0) for label in labels]
        except (DataError, UnicodeDecodeError):
            return None
        if any(is_missing(label) or len(label) > LONGEST_LABEL for label in labels):
            return None
        known = {value: code for code, value in enumerate(dict.fromkeys(values))}
        codes: Indices = np.array([known[value] for value in values], np.int64)
        codes = codes[rows.codes] if len(rows.codes) > 0 else codes
        return Batch(rows.X, codes, list(known), at, text, rows.ends)

    def passage(self, begin: int, end: int) -> bytes | None:
        """The text between two places of a plain file; None where that is not to be had."""
        return self.pipe.range(begin, end) if self.regular and not self.pipe.packed else None

    def go_on(self, at: Mark, *, replay: bool) -> None:
        """Make sure that what comes before a mark is what was learned, then or while reading on."""
        if self.regular and not self.pipe.packed:
            compare(self.source, at.line + 1, at.trail, Trail.found(at.offset, self.pipe.range))
            last = self.pipe.range(at.offset - 1, at.offset) if at.offset else b""
            self.flow = unbroken(self.pipe.pieces(at.offset), self.source, at.line, last)
        elif self.regular or replay:
            pieces = self.pipe.pieces()
            self.flow = skipped(pieces, self.source, at.offset, at.line, at.trail)

    def close(self) -> None:
        """Stop reading."""
        self.pipe.close()

    def release(self) -> None:
        """Give the file back, when nothing reads it any more."""
        self.pipe.release()

    def _pieces(self, offset: int) -> Iterator[bytes]:
        flow, self.flow = self.flow, None
        if flow is not None:
            yield from flow
        elif self.regular:
            yield from self.pipe.pieces(offset)
        elif self.repeated and not self.head:
            yield from _without(self.repeated, self.pipe.pieces())
        else:
            head, self.head = self.head, b""
            yield head
            yield from self._doubted(self.pipe.pieces())

    def _doubted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces; when there are lines enough, or no more, it is asked what they say."""
        doubt, self.doubt = self.doubt, None
        if doubt is not None:
            seen, ended = doubt.seen, True
            for piece in pieces:
                yield piece
                seen += piece
                if seen.count(b"\n") > LINES:
                    ended = False
                    break
            doubt.settle(seen, ended)
        yield from pieces


def _without(header: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, without a header at their beginning; blank lines may come before it."""
    found = rows = b""
    for piece in pieces:
        found += piece
        if len(found) < len(_BOM) and _BOM.startswith(found):
            continue
        rows = found.removeprefix(_BOM).lstrip(b"\r\n")
        if len(rows) > len(header) + 1 or not header.startswith(rows[: len(header)]):
            break
    rest = rows.removeprefix(header)
    if len(rest) < len(rows) and rest[:1] in (b"", b"\r", b"\n"):
        yield rest[2:] if rest[:2] == b"\r\n" else rest[1:]
    else:
        yield found.removeprefix(_BOM)
    yield from pieces
