"""The kernels that count and read rows of index:value pairs, and put hashed columns in order.

Positions are unsigned: signed ones would be looked at each time, whether they count from the
end. No byte is read beyond the end of a span.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from numba import njit
from numpy import int32, int64, isfinite, uint8, uint64

from novikoff.core.words import Address, Bytes, Word, address_of, byte_at
from novikoff.data.decimals import BITS, NOT_A_NUMBER, VALUE, Words, digits, number
from novikoff.data.stretches import same

# Why a kernel ends: all is read, a line is not of the form, or there is no room for what it finds.
DONE: Final = 0
BAD: Final = 1
FULL: Final = 2

NEWLINE, RETURN, SPACE, TAB, HASH, COLON = (np.uint64(ord(c)) for c in "\n\r \t#:")
PLUS, MINUS, A, D, F, _I, N, Q = (np.uint64(ord(c)) for c in "+-adfinq")
NOTHING, ONE, NINE, TEN, ZERO, SMALL, WIDE = map(np.uint64, (0, 1, 9, 10, 48, 32, 128))
MOST, HALF, LOW = map(np.uint64, (2**31 - 1, 32, 2**32 - 1))
BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
NEVER = np.uint64(2**64 - 1)
# The same as bytes: those from newline to return count as ends of lines, of which there are fewer.
A_COLON, FIRST_END, ENDS = np.uint8(ord(":")), np.uint8(ord("\n")), np.uint8(3)


@njit(cache=True, nogil=True)
def counts(content: Bytes, begin: int, end: int) -> tuple[int, int]:
    """At most how many rows and pairs are in a span: by its line ends and its colons."""
    rows, pairs, i, stop = 1, 0, uint64(begin), uint64(end)
    while i + WIDE <= stop:
        some_ends, some_colons = uint8(0), uint8(0)  # in bytes: the machine adds many at once
        for k in range(WIDE):
            some_ends = uint8(some_ends + uint8(uint8(content[i + k] - FIRST_END) <= ENDS))
            some_colons = uint8(some_colons + uint8(content[i + k] == A_COLON))
        rows, pairs, i = rows + int(some_ends), pairs + int(some_colons), i + WIDE
    while i < stop:
        rows += int(uint8(content[i] - FIRST_END) <= ENDS)
        pairs += int(content[i] == A_COLON)
        i += ONE
    return rows, pairs


@njit(cache=True, nogil=True)
def parse(
    content: Bytes,
    begin: int,
    end: int,
    bare: bool,
    bits: int,
    powers: Bytes,
    indices: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    words: Words,
    ends: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    labels: npt.NDArray[np.int64],
    table: npt.NDArray[np.int32],
    unsettled: npt.NDArray[np.int64],
) -> tuple[int | np.int64, ...]:
    """Parse the lines of a span, up to one that is not of the form.

    ``words`` are the bits of ``values``, and ``table`` finds labels by their hash. The answer:
    why it ended and the offset of that line; rows, pairs, lines, labels, unsettled numbers,
    queries, whether a comment is not ASCII, the least and the largest index.
    """
    text, scale = address_of(content), address_of(powers)
    i, stop, fold = uint64(begin), uint64(end), uint64(bits)
    n, row, lines, n_labels, n_unsettled, queries = NOTHING, NOTHING, 0, 0, 0, 0
    lowest, highest, odd = NEVER, NOTHING, NOTHING
    why, start = DONE, i
    while i < stop:
        start, first = i, n
        i = _past_blanks(text, i, stop)
        if not _ends(text, i, stop):
            if not bare:
                place, h = i, BASIS
                while not (_ends(text, i, stop) or is_blank(byte_at(text, i))):
                    h = (h ^ byte_at(text, i)) * PRIME
                    i += ONE
                code = find_label(text, place, i, h, labels, table, n_labels)
                if code == n_labels:
                    if n_labels == len(labels):
                        why = FULL
                        break
                    labels[code, 0], labels[code, 1] = int64(place), int64(i)
                    n_labels += 1
                codes[row] = int32(code)
            place = _past_query(text, _past_blanks(text, i, stop), stop)
            if place != NEVER:
                queries += 1
                i = place
            least = NOTHING
            while True:
                place = i
                i = _past_blanks(text, i, stop)
                if _ends(text, i, stop):
                    break
                why = BAD
                if i == place and n > first:
                    break
                place = i
                if fold == NOTHING:
                    i, column = digits(text, i, stop, NOTHING)
                    if i - place > TEN or column > MOST or column < least:
                        break
                    least = column + ONE
                else:
                    i, column = _hashed(text, i, stop, fold)
                if i == place or i >= stop or byte_at(text, i) != COLON:
                    break
                i += ONE
                place = i
                i, value, word, state = number(text, i, stop, scale)
                if state == VALUE:
                    values[n] = value
                elif state == BITS:
                    words[n] = word
                else:
                    if state == NOT_A_NUMBER:
                        i = _past_word(text, place, stop)
                        if i == place:
                            break
                    if n_unsettled == len(unsettled):
                        why = FULL
                        break
                    unsettled[n_unsettled, 0] = int64(n)
                    unsettled[n_unsettled, 1], unsettled[n_unsettled, 2] = int64(place), int64(i)
                    n_unsettled += 1
                indices[n] = int32(column)
                lowest, highest = min(lowest, column), max(highest, column)
                n += ONE
                why = DONE
            if bare and n == first:
                why = max(why, BAD)
            if why != DONE:
                break
            ends[row] = int64(n)
            row += ONE
        while i < stop and byte_at(text, i) != NEWLINE and byte_at(text, i) != RETURN:  # a comment
            odd |= uint64(byte_at(text, i) >= WIDE or byte_at(text, i) == NOTHING)
            i += ONE
        if i < stop:
            i += ONE
            i += uint64(
                byte_at(text, i - ONE) == RETURN and i < stop and byte_at(text, i) == NEWLINE
            )
        lines += 1
    some = n > NOTHING
    return (
        why,
        int64(start),
        int64(row),
        int64(n),
        lines,
        n_labels,
        n_unsettled,
        queries,
        int64(odd),
        int64(lowest) if some else -1,
        int64(highest) if some else -1,
    )


@njit(cache=True, nogil=True)
def fold(
    indices: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    ends: npt.NDArray[np.int64],
    keys: Words,
    old: npt.NDArray[np.float64],
) -> tuple[int | np.int64, ...]:
    """Sort the columns of each row and add up equal ones, in the order in which they came.

    The answer: how many are left, the least and the largest column, and the first row with
    a sum that is not finite.
    """
    n, begin, odd_row = NOTHING, NOTHING, -1
    lowest, highest = NEVER, NOTHING
    for row in range(len(ends)):
        size, first = uint64(ends[row]) - begin, n
        for k in range(size):
            keys[k] = uint64(indices[begin + k]) << HALF | k
            old[k] = values[begin + k]
        keys[:size].sort()
        for k in range(size):
            column, value = keys[k] >> HALF, old[keys[k] & LOW]
            if n > first and uint64(indices[n - ONE]) == column:
                values[n - ONE] += value
            else:
                indices[n], values[n] = int32(column), value
                n += ONE
        for k in range(first, n):
            if odd_row < 0 and not isfinite(values[k]):
                odd_row = row
        if n > first:
            lowest = min(lowest, uint64(indices[first]))
            highest = max(highest, uint64(indices[n - ONE]))
        begin += size
        ends[row] = int64(n)
    some = n > NOTHING
    return int64(n), int64(lowest) if some else -1, int64(highest) if some else -1, odd_row


@njit(cache=True, nogil=True, forceinline=True)
def is_blank(c: Word) -> bool:
    """Whether a byte is a space or a tab."""
    return bool((c == SPACE) | (c == TAB))


@njit(cache=True, nogil=True, forceinline=True)
def _ends(text: Address, i: Word, end: Word) -> bool:
    """Whether nothing more of a line is to be read."""
    if i >= end:
        return True
    c = byte_at(text, i)
    return bool((c == NEWLINE) | (c == RETURN) | (c == HASH))


@njit(cache=True, nogil=True, forceinline=True)
def _past_blanks(text: Address, i: Word, end: Word) -> Word:
    while i < end and is_blank(byte_at(text, i)):
        i += ONE
    return i


@njit(cache=True, nogil=True)
def _past_query(text: Address, i: Word, end: Word) -> Word:
    """Where ``qid:n`` ends, if that is what stands here, or `NEVER`."""
    if not (i + uint64(4) < end and byte_at(text, i) == Q and byte_at(text, i + ONE) == _I):
        return NEVER
    if byte_at(text, i + uint64(2)) != D or byte_at(text, i + uint64(3)) != COLON:
        return NEVER
    first = i + uint64(4)
    i = first
    while i < end and byte_at(text, i) - ZERO <= NINE:
        i += ONE
    if i > first and (_ends(text, i, end) or is_blank(byte_at(text, i))):
        return i
    return NEVER


@njit(cache=True, nogil=True)
def _past_word(text: Address, i: Word, end: Word) -> Word:
    """Where an infinity or a NaN ends; i if none stands here."""
    k = i + uint64(i < end and (byte_at(text, i) == PLUS or byte_at(text, i) == MINUS))
    if k + uint64(3) > end:
        return i
    a, b, c = byte_at(text, k), byte_at(text, k + ONE), byte_at(text, k + uint64(2))
    infinite = a | SMALL == _I and b == N and c == F
    if infinite or (a | SMALL == N and b == A and c | SMALL == N):
        return k + uint64(3)
    return i


@njit(cache=True, nogil=True, forceinline=True)
def _hashed(text: Address, i: Word, end: Word, fold: Word) -> tuple[Word, Word]:
    """Where a name ends, and its column; as `novikoff.data.scanner.feature_hash`."""
    h = BASIS
    while not (_ends(text, i, end) or is_blank(byte_at(text, i)) or byte_at(text, i) == COLON):
        h = (h ^ byte_at(text, i)) * PRIME
        i += ONE
    return i, (h >> fold ^ h) & ((ONE << fold) - ONE)


@njit(cache=True, nogil=True)
def find_label(
    text: Address,
    begin: Word,
    end: Word,
    h: Word,
    labels: npt.NDArray[np.int64],
    table: npt.NDArray[np.int32],
    n_labels: int,
) -> int | np.int64:
    """The number of a label; a new one is given the next number."""
    mask = uint64(len(table) - 1)
    slot = h & mask
    while table[slot] >= 0:
        code = int64(table[slot])
        if same(text, labels[code, 0], labels[code, 1], begin, end):
            return code
        slot = slot + ONE & mask
    table[slot] = int32(n_labels)
    return n_labels
