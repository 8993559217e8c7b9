"""svmlight: one line for each row, a label and the features that are not zero.

``label [qid:n] index:value index:value … [# comment]``; indices ascend, from 0 or from 1. Short
text is read line by line in Python, without compiling anything; long text by a kernel, and what
the kernel does not take for plain goes back to Python, which explains what is wrong.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, quoted
from novikoff.data.fields import is_exact_text, is_missing
from novikoff.data.labels import svmlight_labels
from novikoff.data.options import Indices, Labels, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import Request, TextReader, check_encoding, check_text, lines_of

if TYPE_CHECKING:
    import scipy.sparse as sp

# A file of this size is read line by line in the time that it takes to load a kernel; in a stream
# the learner's own kernels are loaded anyway.
KERNEL_BYTES: Final = 1 << 22

_MOST_INDEX: Final = 2**31 - 1
_NUMBER = re.compile(rb"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI]nf|[nN]a[nN])")
_PART, _QUERY = re.compile(rb"[^ \t]+"), re.compile(rb"qid:[0-9]+")


@dataclass(frozen=True)
class Found:
    """What an svmlight file turned out to be.

    Attributes
    ----------
    first : {0, 1}
        The index of the first feature: 0 if it occurs anywhere, else 1.
    n_rows, n_features : int
        The shape of the matrix.
    has_qid : bool
        Whether there are query ids, which are ignored.
    notes : tuple of str
        The same in words.
    """

    first: int
    n_rows: int
    n_features: int
    has_qid: bool
    notes: tuple[str, ...]


class Svmlight(NamedTuple):
    """The rows of an svmlight file as a CSR array, their labels, and what was found out."""

    X: sp.csr_array
    y: Labels
    found: Found


class Pairs(NamedTuple):
    """Rows of index:value pairs: CSR arrays, the code of each label, the labels, and qids."""

    indptr: Indices
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    codes: Indices
    labels: list[bytes]
    queries: int


def read_svmlight(path: str | os.PathLike[str] | BinaryIO) -> Svmlight:
    r"""Read an svmlight (libsvm) file into a CSR array and its labels, on all cores.

    Every value is the double nearest to its decimal, as Python's ``float`` has it. Labels are
    integers where they are whole numbers, else text, so that no two become one. Lines may end
    in any way and bear comments; query ids are ignored; gzip is unpacked.

    Parameters
    ----------
    path : path, "-" or binary file
        Where the data is; "-" is the standard input.

    Returns
    -------
    Svmlight
        The triple X, y, found: a matrix of float64 with indices of int32 wherever they fit, the
        labels, and what was detected.

    Raises
    ------
    DataError
        If the file cannot be read, a line is not of the form, or a value is not finite.

    Examples
    --------
    >>> import io
    >>> X, y, found = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2 # one\n-1 2:1e-3\n"))
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1, -1])
    >>> found.first, found.n_features, found.notes
    (1, 3, ('indices count from 1',))
    """
    from novikoff.data.reading import join

    reader = SvmlightRows(Request(Source(path, "svmlight"), ReadOptions()))
    data = join(reader)
    n_rows, width = data.X.shape
    found = Found(data.recipe.first, n_rows, width, reader.queries > 0, tuple(data.notes))
    return Svmlight(cast("sp.csr_array", data.X), data.labels, found)


class Scan(NamedTuple):
    """Lines as they were read one by one; ``read`` counts the rows that were left out, too."""

    read: int
    numbers: list[int]
    codes: list[int]
    labels: list[str]
    keys: list[str]
    values: list[float]
    lengths: list[int]


class PairRows(TextReader):
    """Lines of a label and pairs, of which the keys are indices or, if not ``numbered``, names.

    With ``words`` labels may be any text, not numbers alone.
    """

    label: str | None = "label"
    numbered = True

    def __init__(self, request: Request, *, words: bool, kernel_bytes: int = 1 << 62) -> None:
        body = Position(check_encoding(request.source))
        super().__init__(request, None, body, kernel_bytes)
        what = "an svmlight file" if self.numbered else "a file of feature:value pairs"
        refuse_columns(self.source, request.options, what)
        if request.options.missing == "mean":
            raise DataError(f"{self.source}: --missing mean is for tables, not for {what}.")
        self.words, self.queries, self.dropped = words, 0, 0

    def imputed(self) -> None:
        """No means."""

    def final_notes(self) -> list[str]:
        """What was decided on the way."""
        notes = ["query ids (qid) are ignored"] if self.queries else []
        if self.dropped:
            notes.append(f"{self.dropped:,} rows with missing values dropped")
        return notes

    def scan(self, text: bytes, begin: Position) -> Scan:
        """Read lines one by one; DataError at the first that is not of the form."""
        check_text(text, self.source, begin)
        labels: dict[str, int] = {}
        found = Scan(0, [], [], [], [], [], [])
        read = 0
        for line, content, _ in lines_of(text, begin.line):
            read += 1
            label, pairs = self._row(f"{self.source}, line {line}", content, begin.row + read)
            if pairs is None:
                continue
            found.numbers.append(begin.row + read)
            found.codes.append(-1 if label is None else labels.setdefault(label, len(labels)))
            found.keys.extend([key for key, _ in pairs])
            found.values.extend([value for _, value in pairs])
            found.lengths.append(len(pairs))
        self.dropped += read - len(found.codes)
        return found._replace(read=read, labels=list(labels))

    def piece(self, X: sp.csr_array, scan: Scan, text: bytes, begin: Position) -> Piece:
        """Rows that were scanned, with their features."""
        dropped = begin.dropped + scan.read - len(scan.codes)
        end = Position(0, 0, begin.row + scan.read, dropped)
        rows, codes = np.array(scan.numbers, np.int64), np.array(scan.codes, np.int64)
        return self.finish(Piece(X, codes, scan.labels, rows, None, begin, end), text)

    def is_label(self, label: bytes) -> bool:
        """Whether a label may be one."""
        return self.words or _NUMBER.fullmatch(label) is not None

    def _row(
        self, where: str, content: bytes, row: int
    ) -> tuple[str | None, list[tuple[str, float]] | None]:
        """The label and the pairs of a line; no pairs if the row is left out."""
        parts = list(_PART.finditer(content))
        drop, label = self.request.options.missing == "drop", None
        left_out = False
        if b":" not in parts[0][0]:
            label = self._label(f"{where}, column {parts[0].start() + 1}", parts.pop(0)[0])
            odd = label.lstrip("+-").lower()
            if odd in ("inf", "infinity") or (is_missing(label) and self.request.labelled):
                if not drop or not is_missing(label):
                    raise DataError(f"{where} has the label {label}.")
                left_out = True
            label = None if is_missing(label) else label
        elif self.request.labelled:
            at = f"{where}, column {parts[0].start() + 1}"
            raise DataError(f"{at} has no label: the line begins with {_shown(parts[0][0])}.")
        if parts and _QUERY.fullmatch(parts[0][0]):
            self.queries += 1
            parts.pop(0)
        before, pairs = -1, list[tuple[str, float]]()
        for part in parts:
            at = f"{where}, column {part.start() + 1}"
            key, value = self._pair(at, part[0])
            if self.numbered:
                before = _ascending(at, int(key), before)
            if math.isnan(value) and drop:
                left_out = True
            elif not math.isfinite(value):
                what = "missing" if math.isnan(value) else "infinite or beyond the range of float64"
                at = f"{self.source}, row {row} ({where.rpartition(', ')[2]})"
                raise DataError(f"{at}, column {quoted(key)} is {what}.")
            pairs.append((key, value))
        return label, None if left_out else pairs

    def _label(self, at: str, label: bytes) -> str:
        if not self.is_label(label):
            if b"," in label:
                raise DataError(f"{at} has several labels, {_shown(label)}; one is expected.")
            raise DataError(f"{at} has the label {_shown(label)}, which is not a number.")
        return label.decode()

    def _pair(self, at: str, part: bytes) -> tuple[str, float]:
        """The key and the value of a pair."""
        cut = part.partition if self.numbered else part.rpartition
        key, colon, value = cut(b":")
        at = f"{at}: {_shown(part)}"
        if not colon or not key:
            form = "index:value" if self.numbered and not colon else "feature:value"
            raise DataError(f"{at} is not of the form {form}.")
        if self.numbered and not key.isdigit():
            raise DataError(f"{at} has an index that is not a whole number from 0.")
        if self.numbered and len(key) > 10:
            raise DataError(f"{at} has an index above {_MOST_INDEX}.")
        if not _NUMBER.fullmatch(value):
            raise DataError(f"{at} has a value that is not a number.")
        if len(value) > 15 and not is_exact_text(value.decode()):
            raise DataError(
                f"{at} holds {value.decode()[:40]}, which float64 cannot hold exactly; subtract a "
                "constant from the column."
            )
        return key.decode(), float(value)


class SvmlightRows(PairRows):
    """The pieces of svmlight text; without a recipe X has the indices as they are written.

    ``lowest`` and ``highest`` are the least and the largest index so far, −1 if there is none.
    """

    def __init__(self, request: Request, *, words: bool = False) -> None:
        kernel_bytes = KERNEL_BYTES // 4 if request.as_they_come else KERNEL_BYTES
        super().__init__(request, words=words, kernel_bytes=kernel_bytes)
        first = next(lines_of(request.source.head[self.body.offset :]), (0, b"", 0))[1]
        self._bare = not request.labelled and b":" in first.split(maxsplit=1)[0] if first else False
        self.label = None if self._bare else "label"
        self.lowest = self.highest = -1

    def shift(self) -> int:
        """What the indices of X are too large by."""
        return self.recipe().first if self.request.recipe is None else 0

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return svmlight_labels([str(key) for key in keys])

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self.request.recipe is not None:
            return self.request.recipe
        first = 0 if self.lowest == 0 else 1
        width, missing = self.highest + 1 - first, self.request.options.missing
        if width < 1:
            raise DataError(f"{self.source} has no features: all of its rows are empty.")
        return Recipe("matrix", label=self.label, missing=missing, width=width, first=first)

    def final_notes(self) -> list[str]:
        """What was decided on the way."""
        first, *notes = [*super().final_notes(), ""]
        if self.request.recipe is None:
            notes.insert(0, f"indices count from {0 if self.lowest == 0 else 1}")
        return [note for note in (first, *notes) if note]

    def parse(self, text: bytes, begin: Position, found: Pairs | None = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        if found is not None:
            n, labels = len(found.codes), [label.decode() for label in found.labels]
            numbers = np.arange(begin.row + 1, begin.row + n + 1)
            indptr, indices, values, codes, _, queries = found
            self.queries += queries
            end = Position(0, 0, begin.row + n, begin.dropped)
            X = self._matrix(indptr, indices, values, text, begin)
            return self.finish(Piece(X, codes, labels, numbers, None, begin, end), text)
        scan = self.scan(text, begin)
        indptr = np.cumsum([0, *scan.lengths])
        indices = np.array([int(key) for key in scan.keys], np.int32)
        X = self._matrix(indptr, indices, np.array(scan.values), text, begin)
        return self.piece(X, scan, text, begin)

    def look(self, text: bytes) -> Pairs | None:
        """What the kernel finds in long text, in any thread; else None."""
        from novikoff.data.kernels import parse_pairs

        found = parse_pairs(text, labelled=not self._bare)
        plain = found is not None and all(
            self.is_label(label) and label.isascii() and not is_missing(label.decode())
            for label in found.labels
        )
        return found if plain else None

    def _matrix(
        self,
        indptr: Indices,
        indices: npt.NDArray[np.int32],
        values: npt.NDArray[np.float64],
        text: bytes,
        begin: Position,
    ) -> sp.csr_array:
        """Pairs in the columns as they are written, or in those of a model; others must be zero."""
        import scipy.sparse as sp

        recipe, width = self.request.recipe, int(indices.max(initial=-1)) + 1
        if recipe is None and width:
            lowest = int(indices.min())
            self.lowest = lowest if self.lowest < 0 else min(self.lowest, lowest)
            self.highest = max(self.highest, width - 1)
        elif recipe is not None:
            indices, width = indices - np.int32(recipe.first), recipe.width
            wrong = (indices < 0) | ((indices >= width) & (values != 0.0))
            if wrong.any():
                at = int(np.argmax(wrong))
                row = int(np.searchsorted(indptr, at, side="right")) - 1
                line = next(islice(lines_of(text, begin.line), row, None))[0]
                what = "the index 0, but the model counts indices from 1"
                what = what if indices[at] < 0 else f"more features than the model's {width:,}"
                raise DataError(f"{self.source}, line {line} has {what}.")
            within = indices < width
            if not within.all():
                indptr = np.concatenate([[0], np.cumsum(within)])[indptr]
                indices, values = indices[within], values[within]
        shape = (len(indptr) - 1, width)
        X = sp.csr_array((values, indices, indptr.astype(np.int32)), shape=shape)
        X.has_canonical_format = True  # indices ascend: nobody need look again
        return X


def refuse_columns(source: str, options: ReadOptions, what: str) -> None:
    """Raise DataError if columns are chosen where they have no names."""
    chosen = {
        "--label": options.label is not None,
        "--features": bool(options.features),
        "--drop": bool(options.drop),
        "--id": options.id is not None,
        "--one-hot": bool(options.one_hot),
    }
    for option, given in chosen.items():
        if given:
            raise DataError(f"{source} is {what}, where {option} has nothing to choose from.")


def numbered_features(text: bytes) -> bool:
    r"""Whether the features of all lines are numbers.

    Examples
    --------
    >>> numbered_features(b"1 1:2 3:4\n"), numbered_features(b"1 1:2 height:4\n")
    (True, False)
    """
    pairs = (part for _, content, _ in lines_of(text) for part in content.split()[1:])
    keys = (part.partition(b":")[0] for part in pairs if not _QUERY.fullmatch(part))
    return all(key.isdigit() and len(key) <= 10 for key in keys)


def _ascending(at: str, index: int, before: int) -> int:
    """The index, if it comes after the one before."""
    if before < index <= _MOST_INDEX:
        return index
    reason = f"after {before}; indices must ascend"
    if index > _MOST_INDEX:
        reason = f"above {_MOST_INDEX}"
    elif index == before:
        reason = "a second time"
    raise DataError(f"{at} has the index {index} {reason}.")


def _shown(piece: bytes) -> str:
    return quoted(piece.decode(errors="replace"))
