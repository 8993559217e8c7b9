r"""Lines of labels and index:value pairs, read one by one: slow, careful, and able to explain.

What a line may be is defined here; the kernel of `novikoff.data.pairs` reads the same lines, and
leaves to this module whatever it stops at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from operator import lt
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, quoted

Indices: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]

MOST = 2**31 - 1  # of an index

_CHUNK = 1 << 22
_NUMBER = rb"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI]nf|[nN]a[nN])"
_QUERY = rb"qid:[0-9]+(?![^ \t])"
_PIECE = re.compile(rb"[^ \t]+")
_NAMED = re.compile(rb"([^ :]+):([^ ]+)")
_IS_NUMBER = re.compile(_NUMBER)
_IS_QUERY = re.compile(rb"qid:[0-9]+")
_BASIS, _PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1


@dataclass(frozen=True)
class Pairs:
    """Rows of index:value pairs, as they are written.

    Attributes
    ----------
    codes : array of int32
        For each row the number of its label; zeros if there are no labels.
    labels : list of bytes
        The labels, each once, in order of appearance.
    indptr, indices : array of int32 or int64
        Where rows begin and end, as in a CSR matrix, and the columns. Both are int32 if there
        are less than 2³¹ values.
    values : array of float64
        The values.
    lowest, highest : int
        The least and the largest index; −1 if there is none.
    n_lines : int
        How many lines there are, blank ones and comments too.
    queries : int
        How many rows have a query id, which is ignored.
    odd_row : int
        The first row with a label or a value that is not finite; −1 if there is none.
    plain : bool
        Whether all comments are ASCII; if they are not, they may be no text at all.
    """

    codes: npt.NDArray[np.int32]
    labels: list[bytes]
    indptr: Indices
    indices: Indices
    values: npt.NDArray[np.float64]
    lowest: int
    highest: int
    n_lines: int
    queries: int
    odd_row: int
    plain: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1


class Row(NamedTuple):
    """A line that holds a row: its number, counted from 1, its label and its pairs."""

    line: int
    label: bytes
    indices: list[int]
    values: list[float]
    query: bool


def feature_hash(name: bytes, bits: int) -> int:
    """The column of a feature that is known by name: FNV-1a of 64 bits, folded to fewer.

    Examples
    --------
    >>> feature_hash(b"price", 18), feature_hash(b"", 31)
    (189384, 331815660)
    """
    h = _BASIS
    for byte in name:
        h = (h ^ byte) * _PRIME & _WORD
    return (h >> bits ^ h) & ((1 << bits) - 1)


def scan_rows(
    name: str,
    text: memoryview,
    line_offset: int = 0,
    *,
    labelled: bool = True,
    words: bool = False,
    bits: int | None = None,
) -> Iterator[Row]:
    r"""Read rows line by line.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    text : memoryview
        Whole lines.
    line_offset : int
        How many lines came before.
    labelled : bool
        Whether each row begins with a label.
    words : bool
        Whether labels may be any text without ``:``, not numbers alone.
    bits : int, optional
        If given, features have names, which are hashed to so many bits.

    Raises
    ------
    DataError
        If a line is not of the form, with its number and the column.

    Examples
    --------
    >>> for row in scan_rows("a.svm", memoryview(b"+1 3:0.5 # first\n\n-1 1:2 7:1e3")):
    ...     print(row.line, row.label, row.indices, row.values)
    1 b'+1' [3] [0.5]
    3 b'-1' [1, 7] [2.0, 1000.0]
    """
    named = bits is not None
    form = _form(labelled=labelled, words=words, named=named)
    for number, content in _filled(text, line_offset):
        if not form.fullmatch(content):
            where = f"{name}, line {number}"
            _refuse(where, content, labelled=labelled, words=words, named=named)
        row = _row(number, content, labelled, bits)
        if bits is None:
            _check_indices(f"{name}, line {number}", content, row, labelled)
        yield row


def scan_pairs(
    name: str,
    text: memoryview,
    line_offset: int = 0,
    *,
    labelled: bool = True,
    words: bool = False,
    bits: int | None = None,
) -> Pairs:
    r"""Read rows as `novikoff.data.pairs.parse_pairs` does, without its kernel.

    It is for short text, where a kernel is not worth its while. Parameters and errors are
    those of `scan_rows`.

    Examples
    --------
    >>> found = scan_pairs("a.svm", memoryview(b"1 1:5\n0 2:7 3:8\n"))
    >>> found.labels, found.indptr.tolist(), found.indices.tolist()
    ([b'1', b'0'], [0, 1, 3], [1, 2, 3])
    """
    known: dict[bytes, int] = {}
    codes, ends, indices, values = [], [0], list[int](), list[float]()
    queries, odd_row = 0, -1
    for row in scan_rows(name, text, line_offset, labelled=labelled, words=words, bits=bits):
        codes.append(known.setdefault(row.label, len(known)))
        indices += row.indices
        values += row.values
        ends.append(len(indices))
        queries += row.query
        if odd_row < 0 and not (is_finite(row.label) and all(map(isfinite, row.values))):
            odd_row = len(codes) - 1
    comments = [line.partition(b"#")[2] for _, line in enumerate_lines(text)]
    return Pairs(
        codes=np.array(codes, np.int32),
        labels=list(known) if labelled else [],
        indptr=fitting(np.array(ends, np.int64), len(indices)),
        indices=fitting(np.array(indices, np.int64), len(indices)),
        values=np.array(values, np.float64),
        lowest=min(indices, default=-1),
        highest=max(indices, default=-1),
        n_lines=len(comments),
        queries=queries,
        odd_row=odd_row,
        plain=all(comment.isascii() and b"\0" not in comment for comment in comments),
    )


def begins_bare(text: memoryview, *, bits: int | None = None) -> bool:
    r"""Whether the first row has features alone, and no label.

    Examples
    --------
    >>> begins_bare(memoryview(b"# no labels\n1:5 2:3\n")), begins_bare(memoryview(b"1 1:5\n"))
    (True, False)
    """
    form = _form(labelled=False, words=False, named=bits is not None)
    return any(form.fullmatch(content) for _, content in islice(_filled(text), 1))


def find_row(text: memoryview, row: int, *, labelled: bool = True) -> Row:
    r"""One row of text that was read before, for a sentence about it.

    Examples
    --------
    >>> find_row(memoryview(b"# rows:\n1 1:5\n\n0 2:7\n"), 1)
    Row(line=4, label=b'0', indices=[2], values=[7.0], query=False)
    """
    number, content = next(islice(_filled(text), row, None))
    return _row(number, content, labelled, None)


def is_label(text: bytes, *, words: bool = False) -> bool:
    """Whether a label is a number, as it should be, infinity and NaN too; or any word.

    Examples
    --------
    >>> is_label(b"+1"), is_label(b"spam"), is_label(b"spam", words=True)
    (True, False, True)
    """
    return b":" not in text if words else _IS_NUMBER.fullmatch(text) is not None


def is_finite(label: bytes) -> bool:
    """Whether a label is no infinity and no NaN.

    Examples
    --------
    >>> is_finite(b"-1"), is_finite(b"spam"), is_finite(b"nan")
    (True, True, False)
    """
    return not is_label(label) or isfinite(float(label))


def fitting(numbers: Indices, size: int) -> Indices:
    """Indices or pointers of so many entries, in int32 if they fit, as SciPy wants them."""
    if size <= MOST:
        return numbers.astype(np.int32, copy=False)
    return numbers.astype(np.int64, copy=False)


def enumerate_lines(text: memoryview, line_offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Number, counted from 1, and text of each line, whatever ends it."""
    number, rest = line_offset + 1, b""
    for offset in range(0, len(text), _CHUNK):
        chunk = rest + bytes(text[offset : offset + _CHUNK])
        last = offset + _CHUNK >= len(text)
        lines = chunk.splitlines(keepends=True)
        rest = b"" if last else lines.pop()  # it may go on, or end in one half of \r\n
        for line in lines:
            yield number, line.rstrip(b"\r\n")
            number += 1


def _filled(text: memoryview, line_offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines that hold more than a comment, without it."""
    for number, line in enumerate_lines(text, line_offset):
        content = line.partition(b"#")[0] if b"#" in line else line
        if content.strip(b" \t"):
            yield number, content


def _form(*, labelled: bool, words: bool, named: bool) -> re.Pattern[bytes]:
    pair = (rb"[^ \t:]+:" if named else rb"[0-9]{1,10}:") + _NUMBER
    pairs = rb"(?:[ \t]+" + pair + rb")*+[ \t]*"
    if labelled:
        label = rb"[^ \t:]++" if words else _NUMBER
        return re.compile(rb"[ \t]*" + label + rb"(?:[ \t]+" + _QUERY + rb")?+" + pairs)
    return re.compile(rb"(?:[ \t]*" + _QUERY + rb")?+[ \t]*" + pair + pairs)


def _row(number: int, content: bytes, labelled: bool, bits: int | None) -> Row:
    label, rest = b"0", content.replace(b"\t", b" ").lstrip(b" ")
    if labelled:
        label, _, rest = rest.partition(b" ")
    first, _, others = rest.lstrip(b" ").partition(b" ")
    query = _IS_QUERY.fullmatch(first) is not None
    if query:
        rest = others
    if bits is None:
        fields = rest.replace(b":", b" ").split()
        indices, values = list(map(int, fields[::2])), list(map(float, fields[1::2]))
        return Row(number, label, indices, values, query)
    sums: dict[int, float] = {}
    for feature, value in _NAMED.findall(rest):
        column = feature_hash(feature, bits)
        sums[column] = sums[column] + float(value) if column in sums else float(value)
    return Row(number, label, sorted(sums), [sums[column] for column in sorted(sums)], query)


def _refuse(where: str, content: bytes, *, labelled: bool, words: bool, named: bool) -> NoReturn:
    """Say which part of a line is not as it should be."""
    pieces = list(_PIECE.finditer(content))
    if labelled:
        label = pieces.pop(0)
        at, text = f"{where}, column {label.start() + 1}", _shown(label[0])
        if b"," in label[0] and not words:
            raise DataError(f"{at} has several labels, {text}; one is expected.")
        if b":" in label[0]:
            raise DataError(f"{at} has no label: the line begins with {text}.")
        if not is_label(label[0], words=words):
            raise DataError(f"{at} has the label {text}, which is not a number.")
    form = "name:value" if named else "index:value"
    for position, piece in enumerate(pieces):
        if position == 0 and _IS_QUERY.fullmatch(piece[0]):
            continue
        index, colon, value = piece[0].partition(b":")
        at = f"{where}, column {piece.start() + 1}: {_shown(piece[0])}"
        if not colon or (named and not index):
            raise DataError(f"{at} is not of the form {form}.")
        if not named and not index.isdigit():
            raise DataError(f"{at} has an index that is not a whole number from 0.")
        if not named and len(index) > 10:
            raise DataError(f"{at} has an index above {MOST}.")
        if not _IS_NUMBER.fullmatch(value):
            raise DataError(f"{at} has a value that is not a number.")
    raise DataError(f"{where} is not of the form label {form} {form} ….")


def _check_indices(where: str, content: bytes, row: Row, labelled: bool) -> None:
    """Raise DataError unless indices ascend and are not too large."""
    before = -1
    if all(map(lt, row.indices, row.indices[1:])) and max(row.indices, default=0) <= MOST:
        return
    for position, index in enumerate(row.indices):
        if index > MOST:
            reason = f"above {MOST}"
        elif index == before:
            reason = "a second time"
        elif index < before:
            reason = f"after {before}; indices must ascend"
        else:
            before = index
            continue
        piece = list(_PIECE.finditer(content))[position + labelled + row.query]
        raise DataError(f"{where}, column {piece.start() + 1} has the index {index} {reason}.")


def _shown(piece: bytes) -> str:
    return quoted(piece.decode(errors="replace"))
