"""Rows of index:value pairs, parsed where they lie, by all cores, to the last bit.

A kernel reads svmlight's lines from the memory map straight into the arrays of a CSR matrix,
which are counted first and then written once. Where a line is not of the form, it stops, and
`explain` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.core.words import Bytes
from novikoff.data.decimals import powers_of_five
from novikoff.data.errors import DataError
from novikoff.data.pairs_kernel import DONE, FULL, counts, fold, parse
from novikoff.data.scanner import Pairs, feature_hash, fitting, is_finite, is_label, scan_rows
from novikoff.data.stretches import as_bytes, cores, count_lines, each, stretches

__all__ = ["Pairs", "Stopped", "explain", "feature_hash", "parse_pairs"]


_LEAST = 1 << 15  # bytes that are worth a thread
_LABELS, _UNSETTLED = 1 << 12, 1 << 15  # that a stretch has room for at first
_PIECE = 1 << 17  # entries that are moved at once


@dataclass(frozen=True)
class Stopped:
    """Where parsing ended: a line that is not of the form.

    Attributes
    ----------
    offset : int
        The byte at which the line begins.
    line : int
        How many lines come before it.
    """

    offset: int
    line: int


def parse_pairs(
    text: memoryview,
    *,
    labelled: bool = True,
    words: bool = False,
    threads: int | None = None,
    bits: int | None = None,
) -> Pairs | Stopped:
    r"""Parse rows of index:value pairs, or say where they end to be of that form.

    Parameters
    ----------
    text : memoryview
        Whole lines: it ends with a line, or with the data.
    labelled : bool
        Whether each row begins with a label; `novikoff.data.scanner.begins_bare` finds it out.
    words : bool
        Whether labels may be any text without ``:``, not numbers alone.
    threads : int, optional
        How many; by default as many as there are cores.
    bits : int, optional
        From 1 to 31. If given, features have names, of any bytes but blanks, ``:`` and ``#``,
        and their columns are `feature_hash` of those. Names may come in any order and more than
        once; the columns of a row ascend all the same, and values of one column are added up.

    Returns
    -------
    Pairs or Stopped

    Examples
    --------
    >>> found = parse_pairs(memoryview(b"+1 3:0.5 # first\n\n-1 qid:4 1:2 7:1e3"))
    >>> found.labels, found.codes.tolist(), found.indptr.tolist()
    ([b'+1', b'-1'], [0, 1], [0, 1, 3])
    >>> found.indices.tolist(), found.values.tolist(), found.n_lines
    ([3, 1, 7], [0.5, 2.0, 1000.0], 3)
    >>> parse_pairs(memoryview(b"1 1:5\n0 x:3\n"))
    Stopped(offset=6, line=1)
    >>> named = parse_pairs(memoryview(b"1 cat:1 dog:2 cat:3\n"), bits=18)
    >>> named.indices.tolist() == sorted(feature_hash(name, 18) for name in (b"cat", b"dog"))
    True
    """
    content = as_bytes(text)
    threads = threads or min(cores(), len(content) // _LEAST + 1)
    spans = stretches(content, len(content), threads)
    most = each(lambda span: counts(content, *span), spans, threads)
    firsts = list(accumulate((pairs for _, pairs in most), initial=0))
    indices, values = np.empty(firsts[-1], np.int32), np.empty(firsts[-1], np.float64)
    parts = [
        _Part(span, rows, indices[first : first + pairs], values[first : first + pairs])
        for span, (rows, pairs), first in zip(spans, most, firsts, strict=False)
    ]
    each(lambda part: part.parse(content, bare=not labelled, bits=bits or 0), parts, threads)
    for part in parts:
        stop = part.settle(text, words=words)
        if stop is not None:
            return Stopped(stop, count_lines(content, stop))
    if bits is not None:
        each(lambda part: part.fold(), parts, threads)
    return _joined(parts, firsts, indices, values)


def explain(
    name: str,
    text: memoryview,
    line_offset: int = 0,
    *,
    stopped: Stopped | None = None,
    labelled: bool = True,
    words: bool = False,
    bits: int | None = None,
) -> NoReturn:
    r"""Raise the DataError of the first line that is not of the form.

    Parameters
    ----------
    name : str
        Of the file.
    text : memoryview
        What `parse_pairs` stopped at.
    line_offset : int
        How many lines of the file came before the text.
    stopped : Stopped, optional
        What `parse_pairs` gave back; without it, the text is read from its beginning.
    labelled, words, bits
        As they were given to `parse_pairs`.

    Examples
    --------
    >>> explain("a.svm", memoryview(b"1 1:5\n0 1:2 3\n"), 100)
    Traceback (most recent call last):
    novikoff.data.errors.DataError: a.svm, line 102, column 7: "3" is not of the form index:value.
    """
    if stopped is not None:
        text, line_offset = text[stopped.offset :], line_offset + stopped.line
    for row in scan_rows(name, text, line_offset, labelled=labelled, words=words, bits=bits):
        if stopped is not None:
            raise DataError(f"{name}, line {row.line} cannot be read, though it seems to be well.")
    raise DataError(f"{name} cannot be read, though all of its lines seem to be well.")


class _Part:
    """What is read of one stretch."""

    def __init__(
        self,
        span: tuple[int, int],
        most_rows: int,
        indices: npt.NDArray[np.int32],
        values: npt.NDArray[np.float64],
    ) -> None:
        self.span, self.indices, self.values = span, indices, values
        self.ends = np.empty(most_rows, np.int64)
        self.codes = np.empty(most_rows, np.int32)
        self.labels: list[bytes] = []
        self.odd_row = -1

    def parse(self, content: Bytes, *, bare: bool, bits: int) -> None:
        """Run the kernel over the span, with little room at first for what is rare."""
        most_labels, most_unsettled = len(self.codes), len(self.values)
        self._parse(content, min(most_labels, _LABELS), min(most_unsettled, _UNSETTLED), bare, bits)
        if self.why == FULL:
            self._parse(content, most_labels, most_unsettled, bare, bits)
        self.ends, self.codes = self.ends[: self.n_rows], self.codes[: self.n_rows]

    def _parse(self, content: Bytes, labels: int, unsettled: int, bare: bool, bits: int) -> None:
        places = np.empty((labels, 2), np.int64)  # begin and end of each label
        rest = np.empty((unsettled, 3), np.int64)  # pair, begin and end
        found = parse(
            content,
            *self.span,
            bare,
            bits,
            powers_of_five(),
            self.indices,
            self.values,
            self.values.view(np.uint64),
            self.ends,
            self.codes,
            places,
            np.full(1 << (2 * labels).bit_length(), -1, np.int32),
            rest,
        )
        self.why, self.start, self.n_rows, self.n_pairs, self.n_lines, *others = map(int, found)
        n_labels, n_unsettled, self.queries, odd, self.lowest, self.highest = others
        self.plain = odd == 0
        self.places, self.unsettled = places[:n_labels].tolist(), rest[:n_unsettled].tolist()

    def settle(self, text: memoryview, *, words: bool) -> int | None:
        """Read what the kernel could not; where a line begins that is not of the form, if any."""
        self.labels = [bytes(text[begin:end]) for begin, end in self.places]
        for label, (begin, _) in zip(self.labels, self.places, strict=True):
            if not is_label(label, words=words):
                return _line_start(text, begin)
        if self.why != DONE:
            return self.start
        odd = np.array([not is_finite(label) for label in self.labels], np.bool_)
        rows = np.flatnonzero(odd[self.codes])[:1].tolist() if odd.any() else []
        for pair, begin, end in self.unsettled:
            self.values[pair] = value = float(bytes(text[begin:end]))
            if not isfinite(value):
                rows.append(int(np.searchsorted(self.ends, pair, side="right")))
        self.odd_row = min(rows, default=-1)
        return None

    def fold(self) -> None:
        """Sort the columns of each row, and add up what has the same."""
        longest = int(np.diff(self.ends, prepend=0).max(initial=0))
        spare = np.empty(longest, np.uint64), np.empty(longest, np.float64)
        found = fold(self.indices, self.values, self.ends, *spare)
        self.n_pairs, self.lowest, self.highest, odd_row = map(int, found)
        self.odd_row = min((row for row in (self.odd_row, odd_row) if row >= 0), default=-1)


def _line_start(text: memoryview, offset: int) -> int:
    """Where the line of a label begins: only blanks come before it."""
    while offset > 0 and text[offset - 1] in b" \t":
        offset -= 1
    return offset


def _joined(
    parts: Sequence[_Part],
    firsts: Sequence[int],
    indices: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
) -> Pairs:
    """One from all parts, without the gaps between them."""
    known: dict[bytes, int] = {}
    ends = [np.zeros(1, np.int64)]
    n_pairs = n_rows = 0
    odd_row = -1
    for part, first in zip(parts, firsts, strict=False):
        own = np.array([known.setdefault(name, len(known)) for name in part.labels], np.int32)
        if len(own):
            part.codes = own[part.codes]
        else:
            part.codes[:] = 0
        ends.append(part.ends + n_pairs)
        if odd_row < 0 <= part.odd_row:
            odd_row = n_rows + part.odd_row
        _slide(indices, first, n_pairs, part.n_pairs)
        _slide(values, first, n_pairs, part.n_pairs)
        n_rows += len(part.ends)
        n_pairs += part.n_pairs
    return Pairs(
        codes=np.concatenate([part.codes for part in parts]),
        labels=list(known),
        indptr=fitting(np.concatenate(ends), n_pairs),
        indices=fitting(indices[:n_pairs], n_pairs),
        values=values[:n_pairs],
        lowest=min((part.lowest for part in parts if part.lowest >= 0), default=-1),
        highest=max(part.highest for part in parts),
        n_lines=sum(part.n_lines for part in parts),
        queries=sum(part.queries for part in parts),
        odd_row=odd_row,
        plain=all(part.plain for part in parts),
    )


def _slide(
    entries: npt.NDArray[np.int32] | npt.NDArray[np.float64], source: int, target: int, size: int
) -> None:
    """Move entries down, in pieces: as a whole they would be copied first."""
    if source > target:
        for k in range(0, size, _PIECE):
            m = min(_PIECE, size - k)
            entries[target + k : target + k + m] = entries[source + k : source + k + m]
