"""What all streams of text have in common: pieces of whole lines, and the place of each."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import Batch, Mark, line_ends
from novikoff.data.feeds.pipe import Pipe
from novikoff.data.feeds.trail import Trail, compare, skipped, unbroken

LINES: Final = 100  # that are looked at

_BEGINNING: Final = Mark()
_BOM: Final = codecs.BOM_UTF8
_LONGEST: Final = 1 << 24  # bytes of a row


class Parsed(NamedTuple):
    """The batches of a text, how much of it was used, and what is wrong after them."""

    batches: list[Batch]
    used: int
    flaw: DataError | None = None


class Doubt(NamedTuple):
    """A pipe was judged by the few lines that had come: what to ask when there are more."""

    seen: bytes
    settle: Callable[[bytes], None]


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

    @property
    def regular(self) -> bool:
        """Whether it can be read again."""
        return self.pipe.regular

    @property
    def start(self) -> Mark:
        """Where the first row begins."""
        return self.body

    @abstractmethod
    def parse(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Parse whole lines, of which the last may go on unless this is the end."""

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on; a pipe begins where it is."""
        self.dropped = at.dropped
        rest, final = b"", False
        pieces = self._pieces(at.offset)
        while not final:
            piece = next(pieces, None)
            final = piece is None
            if piece == b"":
                continue
            rest += piece or b""
            cut = len(rest) if final else rest.rfind(b"\n") + 1
            if cut == 0 and len(rest) <= _LONGEST:
                continue
            text = rest[:cut]
            found = self.parse(text, at, final=final)
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
            rest = rest[found.used :]
            if not final and len(rest) > _LONGEST:
                raise DataError(
                    f"{self.source}, line {at.line + 1} begins a row of more than {_LONGEST:,} "
                    "bytes; perhaps a quote is never closed."
                )

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
            seen = doubt.seen
            for piece in pieces:
                yield piece
                seen += piece
                if seen.count(b"\n") > LINES:
                    break
            doubt.settle(seen)
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
