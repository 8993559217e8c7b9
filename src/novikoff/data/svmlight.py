"""svmlight: one line for each row, a label and the features that are not zero.

``label [qid:n] index:value index:value … [# comment]``; indices ascend, from 0 or from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.data.choices import Choices, Dataset
from novikoff.data.errors import DataError, quoted
from novikoff.data.labels import written_labels
from novikoff.data.matrices import refuse_columns
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import check_text
from novikoff.data.values import is_number

if TYPE_CHECKING:
    import scipy.sparse as sp

_CHUNK = 1 << 22
_MOST = 2**31 - 1
_NUMBER = rb"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI]nf|[nN]a[nN])"
_PAIRS = rb"(?:[ \t]+[0-9]{1,10}:" + _NUMBER + rb")*+[ \t]*"
_LABELLED = re.compile(rb"[ \t]*" + _NUMBER + rb"(?:[ \t]+qid:[0-9]+)?+" + _PAIRS)
_BARE = re.compile(rb"(?:[ \t]*qid:[0-9]+)?+[ \t]*[0-9]{1,10}:" + _NUMBER + _PAIRS)
_QID = re.compile(rb"qid:[0-9]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class _Lines:
    """What the lines hold, in lists that grow."""

    def __init__(self) -> None:
        self.labels: list[float] = []
        self.texts: dict[bytes, int] = {}  # of the labels, each with its code
        self.codes: list[int] = []
        self.lines: list[int] = []
        self.counts: list[int] = []
        self.indices: list[npt.NDArray[np.int64]] = []
        self.values: list[npt.NDArray[np.float64]] = []
        self.queries = 0


def read_svmlight(
    source: Source, choices: Choices, recipe: Recipe | None, *, labelled: bool
) -> Dataset:
    """Read rows of labels and non-zero features into a CSR array.

    Raises
    ------
    DataError
        If a line is not of the form, or its indices do not ascend, with the line.
    """
    refuse_columns(source.name, choices, "an svmlight file")
    facts = check_text(source)
    found, bare = _collect(source, facts.start, labelled=labelled)
    if not found.lines:
        raise DataError(f"{source.name} is empty: it has no rows.")
    indices = np.concatenate(found.indices)
    values = np.concatenate(found.values)
    pointers = np.concatenate([[0], np.cumsum(np.array(found.counts, np.int64))])
    _check_ascending(source.name, found, indices, pointers)
    zero = bool(len(indices)) and bool((indices == 0).any())
    notes = []
    if found.queries:
        notes.append("query ids (qid) are ignored")
    if recipe is None:
        first = 0 if zero else 1
        notes.append(f"indices count from {first}")
        width = int(indices.max()) + 1 - first if len(indices) else 0
        if width < 1:
            raise DataError(f"{source.name} has no features: all of its rows are empty.")
    else:
        first, width = recipe.first, recipe.width
        if zero and first == 1:
            row = _row_of(pointers, int(np.argmax(indices == 0)))
            raise DataError(
                f"{source.name}, line {found.lines[row]} has the index 0, but the model counts "
                "indices from 1."
            )
    if choices.missing == "mean":
        raise DataError(f"{source.name}: --missing mean is for tables, not for an svmlight file.")
    keep = _check_finite(source.name, found, indices, values, pointers, choices, bare=bare)
    indices, values, pointers = _within(
        source.name, found, indices - first, values, pointers, width
    )
    X = _csr(values, indices, pointers, width)
    y = None
    if not bare:
        y = written_labels([text.decode() for text in found.texts])[found.codes]
    if not keep.all():
        if not keep.any():
            raise DataError(f"{source.name} has no row without missing values.")
        X = X[keep]
        y = None if y is None else y[keep]
        notes.append(f"{int((~keep).sum()):,} rows with missing values dropped")
    rows = np.flatnonzero(keep).astype(np.int64) + 1
    label = None if bare else "label"
    if recipe is None:
        recipe = Recipe("matrix", label=label, missing=choices.missing, width=width, first=first)
    return Dataset(X, y, recipe.names, recipe, source.name, label, notes, None, rows)


def _collect(source: Source, start: int, *, labelled: bool) -> tuple[_Lines, bool]:
    found = _Lines()
    pattern = _LABELLED
    bare = False
    for number, line in _lines(source.view, start):
        text = line.partition(b"#")[0] if b"#" in line else line
        if not text.strip(b" \t"):
            continue
        if not found.lines and not labelled and _BARE.fullmatch(text):
            pattern, bare = _BARE, True
        if not pattern.fullmatch(text):
            _refuse(source.name, number, text.decode(), bare=bare)
        if b"qid" in text:
            text = _QID.sub(b" ", text)
            found.queries += 1
        fields = text.replace(b":", b" ").split()
        if not bare:
            found.labels.append(float(fields[0]))
            found.codes.append(found.texts.setdefault(fields[0], len(found.texts)))
        begin = 0 if bare else 1
        found.lines.append(number)
        found.counts.append((len(fields) - begin) // 2)
        found.indices.append(np.array(list(map(int, fields[begin::2])), np.int64))
        found.values.append(np.array(list(map(float, fields[begin + 1 :: 2])), np.float64))
    return found, bare


def _lines(view: memoryview, start: int) -> Iterator[tuple[int, bytes]]:
    """Number and text of each line, whatever ends it."""
    number, rest = 1, b""
    for offset in range(start, len(view), _CHUNK):
        chunk = rest + bytes(view[offset : offset + _CHUNK])
        last = offset + _CHUNK >= len(view)
        lines = chunk.splitlines(keepends=True)
        rest = b"" if last else lines.pop()  # it may go on, or end in one half of \r\n
        for line in lines:
            yield number, line.rstrip(b"\r\n")
            number += 1


def _refuse(source: str, line: int, text: str, *, bare: bool) -> NoReturn:
    """Say which part of a line is not as it should be."""
    where = f"{source}, line {line}"
    tokens = text.split()
    if not bare:
        label = tokens.pop(0)
        if "," in label:
            raise DataError(f"{where} has several labels, {quoted(label)}; one is expected.")
        if ":" in label:
            raise DataError(f"{where} has no label: it begins with {quoted(label)}.")
        if not is_number(label):
            raise DataError(f"{where} has the label {quoted(label)}, which is not a number.")
    for position, token in enumerate(tokens, start=1):
        index, colon, value = token.partition(":")
        if index == "qid" and position == 1:
            continue
        at = f"{where}, position {position}: {quoted(token)}"
        if not colon:
            raise DataError(f"{at} is not of the form index:value.")
        if not (index.isascii() and index.isdigit()):
            raise DataError(f"{at} has an index that is not a whole number from 0.")
        if len(index) > 10:
            raise DataError(f"{at} has an index above {_MOST}.")
        if not is_number(value):
            raise DataError(f"{at} has a value that is not a number.")
    raise DataError(f"{where} is not of the form label index:value index:value ….")


def _check_ascending(
    source: str, found: _Lines, indices: npt.NDArray[np.int64], pointers: npt.NDArray[np.int64]
) -> None:
    if len(indices) and indices.max() > _MOST:
        at = int(np.argmax(indices > _MOST))
        _refuse_index(source, found, indices, pointers, at, f"above {_MOST}")
    wrong = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    wrong = wrong[~np.isin(wrong, pointers)]  # a new row begins anew
    if len(wrong):
        at = int(wrong[0])
        repeated = indices[at] == indices[at - 1]
        reason = "a second time" if repeated else f"after {indices[at - 1]}; indices must ascend"
        _refuse_index(source, found, indices, pointers, at, reason)


def _refuse_index(
    source: str,
    found: _Lines,
    indices: npt.NDArray[np.int64],
    pointers: npt.NDArray[np.int64],
    at: int,
    reason: str,
) -> NoReturn:
    row = _row_of(pointers, at)
    position = at - int(pointers[row]) + 1
    raise DataError(
        f"{source}, line {found.lines[row]}, position {position} has the index {indices[at]} "
        f"{reason}."
    )


def _check_finite(
    source: str,
    found: _Lines,
    indices: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    pointers: npt.NDArray[np.int64],
    choices: Choices,
    *,
    bare: bool,
) -> npt.NDArray[np.bool_]:
    """Which rows stay; infinity is refused, and NaN unless such rows are dropped."""
    labels = np.array([0.0] * len(found.lines) if bare else found.labels)
    bad_rows = np.isinf(labels) if choices.missing == "drop" else ~np.isfinite(labels)
    if bad_rows.any():
        row = int(np.argmax(bad_rows))
        raise DataError(f"{source}, line {found.lines[row]} has the label {labels[row]}.")
    bad = np.isinf(values) if choices.missing == "drop" else ~np.isfinite(values)
    if bad.any():
        at = int(np.argmax(bad))
        row = _row_of(pointers, at)
        what = "infinite or beyond the range of float64" if np.isinf(values[at]) else "missing"
        raise DataError(
            f'{source}, row {row + 1} (line {found.lines[row]}), column "{indices[at]}" is {what}.'
        )
    keep: npt.NDArray[np.bool_] = np.isfinite(labels)
    for at in np.flatnonzero(np.isnan(values)).tolist():
        keep[_row_of(pointers, at)] = False
    return keep


def _within(
    source: str,
    found: _Lines,
    indices: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    pointers: npt.NDArray[np.int64],
    width: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Leave out columns beyond the model's, which must be empty."""
    beyond = indices >= width
    if not beyond.any():
        return indices, values, pointers
    filled = beyond & (values != 0.0)
    if filled.any():
        row = _row_of(pointers, int(np.argmax(filled)))
        raise DataError(
            f"{source}, line {found.lines[row]} has more features than the model's {width:,}."
        )
    kept = np.concatenate([[0], np.cumsum(~beyond)])
    return indices[~beyond], values[~beyond], kept[pointers]


def _csr(
    values: npt.NDArray[np.float64],
    indices: npt.NDArray[np.int64],
    pointers: npt.NDArray[np.int64],
    width: int,
) -> sp.csr_array:
    import scipy.sparse as sp

    kind = np.int32 if len(indices) < _MOST else np.int64
    return sp.csr_array(
        (values, indices.astype(kind), pointers.astype(kind)), shape=(len(pointers) - 1, width)
    )


def _row_of(pointers: npt.NDArray[np.int64], at: int) -> int:
    return int(np.searchsorted(pointers, at, side="right")) - 1
