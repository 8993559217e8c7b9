"""What has gone by of a stream, remembered in a few numbers, so that it is known again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple
from zlib import crc32

from novikoff.data.errors import DataError

BLOCK: Final = 1 << 16

_ENDS: Final = (b"", b"\r", b"\n")


class ChangedError(DataError):
    """What was learned of a stream is not what is there now."""


class Trail(NamedTuple):
    r"""The checksums of the first block of 64 KiB, of the last whole one, and of what follows it.

    They are the same however the bytes were cut, need none of them to go on, and are compared
    with a file by three reads at most. So a beginning that has changed is noticed, and so are rows
    that were put in or taken out anywhere, since they move all that follows. A change in place
    that keeps the length, more than two blocks back, is not.

    Examples
    --------
    >>> whole = Trail().followed_by(b"1,2\n3,4\n")
    >>> Trail().followed_by(b"1,2").followed_by(b"\n3,4\n") == whole
    True
    """

    size: int = 0
    first: int = 0
    last: int = 0
    rest: int = 0

    def followed_by(self, text: bytes | memoryview) -> Trail:
        """The trail after these bytes, of which no more than three blocks are looked at."""
        size, first, last, rest = self
        view, end = memoryview(text), self.size + len(text)
        if size < BLOCK:
            first = crc32(view[: BLOCK - size], first)
        edge = end - end % BLOCK  # where the last whole block ends
        if edge <= size:
            return Trail(end, first, last, crc32(view, rest))
        start = edge - BLOCK - size
        last = crc32(view[max(start, 0) : edge - size], rest if start <= 0 else 0)
        return Trail(end, first, last, crc32(view[edge - size :]))

    @classmethod
    def found(cls, size: int, read: Callable[[int, int], bytes]) -> Trail:
        """The trail of so many bytes that are there; ``read`` gives those of a range."""
        edge = size - size % BLOCK
        return cls(
            size,
            crc32(read(0, min(size, BLOCK))),
            crc32(read(edge - BLOCK, edge)) if edge else 0,
            crc32(read(edge, size)),
        )


def compare(source: str, line: int, was: Trail, now: Trail) -> None:
    """Raise ChangedError if two trails are not the same; ``line`` comes next."""
    if was == now:
        return
    changed = f"what comes before line {line:,}" if was.first == now.first else "its beginning"
    raise ChangedError(
        f"{source} is not what was learned: {changed} has changed. --force begins anew."
    )


def skipped(
    pieces: Iterator[bytes], source: str, offset: int, line: int, trail: Trail
) -> Iterator[bytes]:
    """The pieces after a place, once what comes before it has turned out to be what it was."""
    found, last = Trail(), b""
    for piece in pieces:
        before = piece[: offset - found.size]
        found, last = found.followed_by(before), before[-1:] or last
        if found.size < offset:
            yield b""
            continue
        compare(source, line + 1, trail, found)
        yield from unbroken([piece[len(before) :]], source, line, last)
        last = b"" if len(piece) > len(before) else last
        break
    if found.size < offset:
        raise ChangedError(f"{source} is shorter than what was learned of it.")
    yield from unbroken(pieces, source, line, last)


def unbroken(pieces: Iterable[bytes], source: str, line: int, last: bytes) -> Iterator[bytes]:
    """The pieces, unless they go on in the middle of a line that was taken for a whole one.

    Parameters
    ----------
    pieces : iterable of bytes
        What comes.
    source : str
        Its name.
    line : int
        The lines that have ended before.
    last : bytes
        The byte before; nothing if it does not matter.
    """
    for piece in pieces:
        if piece and last not in _ENDS and piece[:1] not in _ENDS:
            raise ChangedError(
                f"{source}, line {line + 1:,} was the last one, without an end, when it was "
                "learned, and has gone on since: it was not all there. --force begins anew."
            )
        last = b"" if piece else last
        yield piece
