"""svmlight: one line for each row, a label and the features that are not zero.

``label [qid:n] index:value index:value … [# comment]``; indices ascend, from 0 or from 1. Short
text is read line by line in Python, without compiling anything; long text by a kernel, and what
the kernel does not take for plain goes back to Python, which explains what is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import lt
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, NoReturn, cast

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, quoted
from novikoff.data.fields import is_exact_text
from novikoff.data.labels import svmlight_labels
from novikoff.data.options import Indices, Labels, Piece, Position, ReadOptions
from novikoff.data.recipe import Recipe
from novikoff.data.source import Source
from novikoff.data.text import Request, TextReader, check_encoding, check_text, lines_of

if TYPE_CHECKING:
    import scipy.sparse as sp

# A file of this size is read line by line in the time that it takes to load a kernel.
KERNEL_BYTES: Final = 1 << 22

_MOST_INDEX: Final = 2**31 - 1
_NUMBER = rb"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI]nf|[nN]a[nN])"
_QUERY = rb"qid:[0-9]+(?![^ \t])"
_PIECE = re.compile(rb"[^ \t]+")
_IS_NUMBER = re.compile(_NUMBER)
_IS_QUERY = re.compile(rb"qid:[0-9]+")
_PAIRS = rb"(?:[ \t]+[0-9]{1,10}:" + _NUMBER + rb")*+[ \t]*"
_LABELLED = re.compile(rb"[ \t]*[^ \t:]++(?:[ \t]+" + _QUERY + rb")?+" + _PAIRS)
_BARE = re.compile(rb"(?:[ \t]*" + _QUERY + rb")?+[ \t]*[0-9]{1,10}:" + _NUMBER + _PAIRS)


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


class SvmlightRows(TextReader):
    """The pieces of svmlight text; without a recipe X has the indices as they are written.

    With ``words`` labels may be any text, not numbers alone.

    Attributes
    ----------
    queries : int
        How many rows had a query id so far.
    lowest, highest : int
        The least and the largest index so far; −1 if there is none.
    """

    def __init__(self, request: Request, *, words: bool = False) -> None:
        source, options, self._known, labelled = request[:4]
        super().__init__(request, None, Position(check_encoding(source)), KERNEL_BYTES)
        refuse_columns(source.name, options, "an svmlight file")
        if options.missing == "mean":
            raise DataError(
                f"{source.name}: --missing mean is for tables, not for an svmlight file."
            )
        self._drop, self._words = options.missing == "drop", words
        self.labelled = labelled or not _begins_bare(source.head[self.body.offset :])
        self.label = "label" if self.labelled else None
        self.queries = self._dropped = 0
        self.lowest = self.highest = -1

    def imputed(self) -> None:
        """No means."""

    def shift(self) -> int:
        """What the indices of X are too large by."""
        return self.recipe().first if self._known is None else 0

    def typed(self, keys: Sequence[Hashable]) -> Labels:
        """What the keys of labels stand for."""
        return svmlight_labels([str(key) for key in keys])

    def recipe(self) -> Recipe:
        """How to read other files in the same way."""
        if self._known is not None:
            return self._known
        first = 0 if self.lowest == 0 else 1
        width = self.highest + 1 - first
        if width < 1:
            raise DataError(f"{self.source} has no features: all of its rows are empty.")
        return Recipe(
            "matrix",
            label=self.label,
            missing=self.request.options.missing,
            width=width,
            first=first,
        )

    def final_notes(self) -> list[str]:
        """What was decided on the way."""
        notes = ["query ids (qid) are ignored"] if self.queries else []
        if self._known is None:
            notes.append(f"indices count from {0 if self.lowest == 0 else 1}")
        if self._dropped:
            notes.append(f"{self._dropped:,} rows with missing values dropped")
        return notes

    def parse(self, text: bytes, begin: Position, found: Pairs | None = None) -> Piece:
        """The rows of a text that begins at a position, with what a kernel found in it."""
        import scipy.sparse as sp

        if found is None:
            check_text(text, self.source, begin)
        pairs = found or self._scan(text, begin)
        n_rows = len(pairs.codes)
        keep = self._check_finite(pairs, text, begin)
        first, width = 0, int(pairs.indices.max(initial=-1)) + 1
        if self._known is not None:
            first, width = self._known.first, self._known.width
            pairs = self._within(pairs, text, begin, first, width)
        elif len(pairs.indices):
            lowest = int(pairs.indices.min())
            self.lowest = lowest if self.lowest < 0 else min(self.lowest, lowest)
            self.highest = max(self.highest, width - 1)
        self.queries += pairs.queries
        X = sp.csr_array(
            (pairs.values, pairs.indices, pairs.indptr.astype(np.int32)), shape=(n_rows, width)
        )
        X.has_canonical_format = True  # indices ascend: nobody need look again
        codes, rows = pairs.codes, np.arange(begin.row + 1, begin.row + n_rows + 1)
        if not keep.all():
            X, codes, rows = X[keep], codes[keep], rows[keep]
        self._dropped += n_rows - len(rows)
        end = Position(0, 0, begin.row + n_rows, begin.dropped + n_rows - len(rows))
        labels = [label.decode() for label in pairs.labels]
        return self.finish(Piece(X, codes, labels, rows, None, begin, end), text)

    def look(self, text: bytes) -> Pairs | None:
        """What the kernel finds in long text, in any thread; else None."""
        from novikoff.data.kernels import parse_pairs

        found = parse_pairs(text, labelled=self.labelled)
        if found is None or not all(self._is_label(label) for label in found.labels):
            return None
        return found

    def _is_label(self, label: bytes) -> bool:
        return label.isascii() if self._words else _IS_NUMBER.fullmatch(label) is not None

    def _scan(self, text: bytes, begin: Position) -> Pairs:
        """Read rows line by line."""
        known: dict[bytes, int] = {}
        codes, ends, indices, values = list[int](), [0], list[int](), list[float]()
        queries = 0
        form = _LABELLED if self.labelled else _BARE
        for line, content, _ in lines_of(text, begin.line):
            where = f"{self.source}, line {line}"
            label, rest = b"0", content.replace(b"\t", b" ").lstrip(b" ")
            if self.labelled:
                label, _, rest = rest.partition(b" ")
            if not form.fullmatch(content) or (self.labelled and not self._is_line_label(label)):
                self._refuse(where, content)
            first, _, others = rest.lstrip(b" ").partition(b" ")
            if _IS_QUERY.fullmatch(first):
                queries, rest = queries + 1, others
            fields = rest.replace(b":", b" ").split()
            row = list(map(int, fields[::2]))
            if not all(map(lt, row, row[1:])) or max(row, default=0) > _MOST_INDEX:
                self._refuse_indices(where, content, row)
            for index, written in zip(row, fields[1::2], strict=True):
                if len(written) > 15 and not is_exact_text(written.decode()):
                    raise DataError(
                        f"{where}: the feature {index} holds {written.decode()[:40]}, which "
                        "float64 cannot hold exactly; subtract a constant from the column."
                    )
            indices += row
            values += map(float, fields[1::2])
            ends.append(len(indices))
            codes.append(known.setdefault(label, len(known)))
        return Pairs(
            np.array(ends, np.int64),
            np.array(indices, np.int32),
            np.array(values, np.float64),
            np.array(codes, np.int64) if self.labelled else np.full(len(codes), -1),
            list(known) if self.labelled else [],
            queries,
        )

    def _is_line_label(self, label: bytes) -> bool:
        return self._words or _IS_NUMBER.fullmatch(label) is not None

    def _check_finite(self, pairs: Pairs, text: bytes, begin: Position) -> npt.NDArray[np.bool_]:
        """Which rows stay; infinity is refused, and NaN unless such rows are dropped."""
        keep = np.ones(len(pairs.codes), np.bool_)
        for code, label in enumerate(pairs.labels):
            if label.lstrip(b"+-").lower() not in (b"nan", b"inf") or self._words:
                continue
            row = int(np.argmax(pairs.codes == code))
            if label.lstrip(b"+-").lower() == b"inf" or not self._drop:
                line = _line_of(text, begin, row)
                raise DataError(f"{self.source}, line {line} has the label {label.decode()}.")
            keep[pairs.codes == code] = False
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(pairs.values.sum())  # no NaN and no infinity makes a finite sum
        odd = [] if finite else np.flatnonzero(~np.isfinite(pairs.values)).tolist()
        for at in odd:
            row = int(np.searchsorted(pairs.indptr, at, side="right")) - 1
            infinite = np.isinf(pairs.values[at])
            if infinite or not self._drop:
                line = _line_of(text, begin, row)
                what = "infinite or beyond the range of float64" if infinite else "missing"
                raise DataError(
                    f"{self.source}, row {begin.row + row + 1} (line {line}), column "
                    f'"{pairs.indices[at]}" is {what}.'
                )
            keep[row] = False
        return keep

    def _within(self, pairs: Pairs, text: bytes, begin: Position, first: int, width: int) -> Pairs:
        """The pairs in the columns of a model; those beyond must be zero."""
        indices = pairs.indices - np.int32(first)
        wrong = (indices < 0) | ((indices >= width) & (pairs.values != 0.0))
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(pairs.indptr, at, side="right")) - 1
            where = f"{self.source}, line {_line_of(text, begin, row)}"
            if indices[at] < 0:
                raise DataError(f"{where} has the index 0, but the model counts indices from 1.")
            raise DataError(f"{where} has more features than the model's {width:,}.")
        beyond = indices >= width
        if not beyond.any():
            return pairs._replace(indices=indices)
        kept = np.concatenate([[0], np.cumsum(~beyond)])
        return pairs._replace(
            indices=indices[~beyond], values=pairs.values[~beyond], indptr=kept[pairs.indptr]
        )

    def _refuse(self, where: str, content: bytes) -> NoReturn:
        """Say which part of a line is not as it should be."""
        parts = list(_PIECE.finditer(content))
        if self.labelled:
            label = parts.pop(0)
            at, text = f"{where}, column {label.start() + 1}", _shown(label[0])
            if b"," in label[0] and not self._words:
                raise DataError(f"{at} has several labels, {text}; one is expected.")
            if b":" in label[0]:
                raise DataError(f"{at} has no label: the line begins with {text}.")
            if not self._is_line_label(label[0]):
                raise DataError(f"{at} has the label {text}, which is not a number.")
        for position, part in enumerate(parts):
            if position == 0 and _IS_QUERY.fullmatch(part[0]):
                continue
            index, colon, value = part[0].partition(b":")
            at = f"{where}, column {part.start() + 1}: {_shown(part[0])}"
            if not colon:
                raise DataError(f"{at} is not of the form index:value.")
            if not index.isdigit():
                raise DataError(f"{at} has an index that is not a whole number from 0.")
            if len(index) > 10:
                raise DataError(f"{at} has an index above {_MOST_INDEX}.")
            if not _IS_NUMBER.fullmatch(value):
                raise DataError(f"{at} has a value that is not a number.")
        raise DataError(f"{where} is not of the form label index:value index:value ….")

    def _refuse_indices(self, where: str, content: bytes, indices: Sequence[int]) -> NoReturn:
        """Say which index does not ascend, or is too large."""
        parts = [part for part in _PIECE.finditer(content) if b":" in part[0]]
        parts = [part for part in parts if not _IS_QUERY.fullmatch(part[0])]
        before = -1
        for part, index in zip(parts, indices, strict=True):
            reason = f"after {before}; indices must ascend"
            if index > _MOST_INDEX:
                reason = f"above {_MOST_INDEX}"
            elif index == before:
                reason = "a second time"
            elif index > before:
                before = index
                continue
            raise DataError(f"{where}, column {part.start() + 1} has the index {index} {reason}.")
        raise AssertionError("some index was wrong")


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
    keys = (part.partition(b":")[0] for part in pairs if not _IS_QUERY.fullmatch(part))
    return all(key.isdigit() and len(key) <= 10 for key in keys)


def _line_of(text: bytes, begin: Position, row: int) -> int:
    """The line on which a row of a text stands."""
    return next(line for k, (line, _, _) in enumerate(lines_of(text, begin.line)) if k == row)


def _begins_bare(text: bytes) -> bool:
    r"""Whether the first row has features alone, and no label.

    Examples
    --------
    >>> _begins_bare(b"# no labels\n1:5 2:3\n"), _begins_bare(b"1 1:5\n")
    (True, False)
    """
    first = next(lines_of(text), None)
    return first is not None and _BARE.fullmatch(first[1]) is not None


def _shown(piece: bytes) -> str:
    return quoted(piece.decode(errors="replace"))
