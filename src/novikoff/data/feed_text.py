"""What all streams of text have in common: pieces of whole lines, and the place of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from novikoff.data.errors import DataError
from novikoff.data.feed import Batch, Mark
from novikoff.data.pipe import Pipe, skipped

HEAD: Final = 1 << 16  # bytes that the digest is about

_BEGINNING: Final = Mark()
_LONGEST: Final = 1 << 24  # bytes of a row


class Parsed(NamedTuple):
    """The batches of a text, how much of it was used, and what is wrong after them."""

    batches: list[Batch]
    used: int
    flaw: DataError | None = None


@dataclass
class TextFeed:
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
    """

    pipe: Pipe
    source: str
    head: bytes = b""
    body: Mark = _BEGINNING
    repeated: bytes = b""
    notes: list[str] = field(default_factory=list)
    dropped: int = 0  # rows that were left out so far
    flow: Iterator[bytes] | None = None  # in place of what the pipe gives
    digests: dict[int, str | None] = field(default_factory=dict)  # the last one, by its size

    @property
    def regular(self) -> bool:
        """Whether it can be read again."""
        return self.pipe.regular

    @property
    def start(self) -> Mark:
        """Where the first row begins."""
        return self.body

    def parse(self, text: bytes, at: Mark, *, final: bool) -> Parsed:
        """Parse whole lines, of which the last may go on unless this is the end."""
        raise NotImplementedError

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
            yield from found.batches
            if found.flaw is not None:
                raise found.flaw
            lines = text.count(b"\n", 0, found.used)
            at = Mark(at.offset + found.used, at.line + lines, self.dropped)
            rest = rest[found.used :]
            if not final and len(rest) > _LONGEST:
                raise DataError(
                    f"{self.source}, line {at.line + 1} begins a row of more than {_LONGEST:,} "
                    "bytes; perhaps a quote is never closed."
                )

    def digest(self, offset: int) -> str | None:
        """The SHA-256 of the beginning, as far as ``offset``; None for a pipe."""
        size = min(offset, HEAD)
        if size not in self.digests:
            head = self.pipe.beginning(size)
            self.digests = {size: None if head is None else hashlib.sha256(head).hexdigest()}
        return self.digests[size]

    def close(self) -> None:
        """Stop reading."""
        self.pipe.close()

    def skip(self, size: int) -> None:
        """Read and forget the first bytes of a pipe, which were learned before."""
        short = f"{self.source} is shorter than what was learned of it."
        self.flow = skipped(self.pipe.pieces(), size, short)

    def _pieces(self, offset: int) -> Iterator[bytes]:
        if self.regular:
            yield from self.pipe.pieces(offset)
            return
        fresh = self.pipe.pieces() if self.flow is None else self.flow
        if self.head:
            head, self.head = self.head, b""
            yield head
        elif self.repeated and self.flow is None:
            yield from _without(self.repeated, fresh)
        yield from fresh


def _without(header: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The first pieces, without a first line that is the header."""
    found = b""
    for piece in pieces:
        found += piece
        line = found.partition(b"\n")[0].rstrip(b"\r")
        if len(found) > len(line) or not header.startswith(line):
            break
    line = found.partition(b"\n")[0].rstrip(b"\r")
    yield found.partition(b"\n")[2] if line == header else found
