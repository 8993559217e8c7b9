"""The batches of a file that is gone through again and again: parsed once, as far as they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from novikoff.data.feeds.feed import Batch, Feed, Mark
from novikoff.data.feeds.trail import ChangedError

# Bytes that batches may take.
_MOST: Final = 1 << 28


class Kept:
    """A feed whose first batches are kept for the next pass.

    As long as the file stays what it was when it was opened, they are its rows; what does not fit
    is parsed in every pass. Rows and marks are those of the feed.

    Parameters
    ----------
    feed : Feed
        The rows.
    most : int, optional
        The bytes that batches may take; 0 to keep none.
    """

    def __init__(self, feed: Feed, most: int | None = None) -> None:
        self.feed, self.most = feed, _MOST if most is None else most
        self._batches: list[Batch] = []
        self._size = 0
        self._whole = False  # whether those kept are all

    def batches(self, at: Mark) -> Iterator[Batch]:
        """The rows from a mark on; those from the start on are kept as they go by."""
        feed = self.feed
        if at != feed.start or not feed.steady:
            self._forget()
            yield from feed.batches(at)
            return
        known = list(self._batches)
        yield from known
        if self._whole:
            return
        keeping = True
        for batch in feed.batches(known[-1].mark(len(known[-1])) if known else at):
            light = _lightened(batch, feed) if keeping and self.most > 0 else batch
            keeping = keeping and self._size + light.nbytes <= self.most
            if keeping:
                self._batches.append(light)
                self._size += light.nbytes
            yield batch
        self._whole = keeping and feed.steady

    def _forget(self) -> None:
        self._batches, self._size, self._whole = [], 0, False


@dataclass
class _Light(Batch):
    """A batch without its text, which is in the file if a mark should need it."""

    reread: Callable[[], bytes] = field(kw_only=True)

    def content(self) -> bytes:
        """What it was parsed from, read again."""
        return self.reread()


def _lightened(batch: Batch, feed: Feed) -> Batch:
    """The batch without its text, if that can be read again."""
    begin, end, check = batch.at.offset, batch.at.offset + len(batch.text), crc32(batch.text)
    if not batch.text or feed.passage(begin, begin) is None:
        return batch

    def reread() -> bytes:
        text = feed.passage(begin, end) or b""
        if crc32(text) != check:
            raise ChangedError(
                f"{feed.source} has changed while it was learned. --force begins anew."
            )
        return text

    parts = batch.X, batch.codes, batch.labels, batch.at
    return _Light(*parts, ends=batch.ends, dropped=batch.dropped, reread=reread)
