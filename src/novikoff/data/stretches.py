"""Text in stretches, which threads take on in turn: where they begin, and what kernels ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numba import njit
from numpy import int64, uint8, uint64

from novikoff.core.words import Address, Bytes, Word, byte_at

Item = TypeVar("Item")
Result = TypeVar("Result")

_NEWLINE, _RETURN, _QUOTE = (np.uint8(ord(c)) for c in '\n\r"')
_LONG = 1 << 24  # bytes of a stretch, about, where there are more of them than threads
_SIGHT = 1 << 24  # bytes in which a newline is looked for
_NOTHING, _ONE, _MANY = np.uint64(0), np.uint64(1), np.uint64(128)


def cores() -> int:
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0))


def as_bytes(text: memoryview) -> Bytes:
    """Text as an array of bytes that cannot be written, so that kernels have one type of it."""
    content = np.frombuffer(text, dtype=np.uint8)
    content.flags.writeable = False
    return content


def stretches(content: Bytes, end: int, threads: int) -> list[tuple[int, int]]:
    r"""Where each stretch of whole lines begins and ends: one for each thread, or many.

    Where there are many, a thread that other work holds up leaves more of them to the others.

    Examples
    --------
    >>> stretches(as_bytes(memoryview(b"a\nbbb\nc\n")), 8, 2)
    [(0, 6), (6, 8)]
    """
    count = threads if threads == 1 else max(threads, end // _LONG)
    found = [0]
    for k in range(1, count):
        guess = max(found[-1], end * k // count)
        found.append(_next_line(content, guess, min(guess + _SIGHT, end)) or found[-1])
    return list(pairwise([*found, end]))


def _next_line(content: Bytes, begin: int, end: int) -> int | None:
    """Where the next line begins, looking further and further for it."""
    step = 1 << 12
    while begin < end:
        ahead = content[begin : min(begin + step, end)] == _NEWLINE
        if ahead.any():
            return begin + int(np.argmax(ahead)) + 1
        begin, step = begin + step, 4 * step
    return None


def each(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """What is made of each item, in order; so many threads take them on in turn."""
    if threads == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def count(
    content: Bytes, begin: int, end: int, lowest: int | np.uint8, highest: int | np.uint8
) -> int:
    r"""How many bytes of a stretch are in a range.

    Examples
    --------
    >>> count(as_bytes(memoryview(b"1 1:5 2:3\n")), 0, 10, ord(":"), ord(":"))
    2
    """
    end = min(end, len(content))
    return int(_count(content, begin, end, np.uint8(lowest), np.uint8(highest - lowest)))


@njit(cache=True, nogil=True)
def _count(content: Bytes, begin: int, end: int, least: np.uint8, width: np.uint8) -> np.int64:
    total, i, stop = int64(0), uint64(begin), uint64(end)
    while i + _MANY <= stop:  # in bytes, of which the machine adds many at once
        some = uint8(0)
        for k in range(_MANY):
            some = uint8(some + uint8(uint8(content[i + k] - least) <= width))
        total += int64(some)
        i += _MANY
    while i < stop:
        total += int64(uint8(content[i] - least) <= width)
        i += _ONE
    return total


def count_lines(content: Bytes, end: int) -> int:
    r"""How many lines end before a line's beginning: with a newline, a return, or both.

    Examples
    --------
    >>> count_lines(as_bytes(memoryview(b"a\nb\r\nc\r\n\rd")), 10)
    4
    """
    end = min(end, len(content))
    if count(content, 0, end, _RETURN, _RETURN) == 0:
        return count(content, 0, end, _NEWLINE, _NEWLINE)
    return int(_count_lines(content, end))


@njit(cache=True, nogil=True)
def _count_lines(content: Bytes, end: int) -> int:
    total = 0
    for i in range(uint64(1), uint64(end)):
        c = content[i - _ONE]
        total += (c == _NEWLINE) | ((c == _RETURN) & (content[i] != _NEWLINE))
    if end > 0:
        c = content[end - 1]
        split = end < len(content) and content[end] == _NEWLINE
        total += c == _NEWLINE or (c == _RETURN and not split)
    return total


@njit(cache=True, nogil=True, forceinline=True)
def same(text: Address, a: int, a_end: int, b: Word, b_end: Word) -> bool:
    """Whether two stretches hold the same bytes."""
    k, size = _NOTHING, b_end - b
    if uint64(a_end - a) != size:
        return False
    while k < size and byte_at(text, uint64(a) + k) == byte_at(text, b + k):
        k += _ONE
    return bool(k == size)


@njit(cache=True, nogil=True)
def last_record(content: Bytes, mark: int) -> int:
    r"""Where the last whole record of fields ends, 0 if none does.

    A field that begins with a quote goes on to the next one that is not doubled, over the ends
    of lines too; elsewhere quotes are nothing special.

    Examples
    --------
    >>> last_record(as_bytes(memoryview(b'a,b"\n1,"2\n3"\n4,"5\n')), ord(","))
    13
    """
    found, size = 0, len(content)
    begins, quoted = True, False
    i = 0
    while i < size:
        c = content[i]
        if quoted:
            if c == _QUOTE:
                if i + 1 < size and content[i + 1] == _QUOTE:
                    i += 1
                else:
                    quoted = False
        elif c == _QUOTE and begins:
            quoted, begins = True, False
        elif c == _NEWLINE:
            begins, found = True, i + 1
        elif c == _RETURN:
            begins = True
            if i + 1 < size and content[i + 1] != _NEWLINE:
                found = i + 1
        else:
            begins = c == mark
        i += 1
    return found


@njit(cache=True, nogil=True)
def lines_are_records(content: Bytes, mark: int) -> bool:
    r"""Whether no field goes on over the end of a line, as one in quotes may.

    Examples
    --------
    >>> lines_are_records(as_bytes(memoryview(b'a,"b "",c",d"\n"1",2\n')), ord(","))
    True
    >>> lines_are_records(as_bytes(memoryview(b'a,"b\nc"\n')), ord(","))
    False
    """
    begins, quoted = True, False
    i, size = _NOTHING, uint64(len(content))
    while i < size:
        c = content[i]
        ends = (c == _NEWLINE) | (c == _RETURN)
        if quoted:
            if ends:
                return False
            if c == _QUOTE:
                quoted = bool(i + _ONE < size and content[i + _ONE] == _QUOTE)
                i += uint64(quoted)
        elif c == _QUOTE and begins:
            quoted, begins = True, False
        else:
            begins = ends or c == mark
        i += _ONE
    return not quoted
